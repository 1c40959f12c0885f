"""Small embedded data; a file that was computed is beside the script that made it."""

from __future__ import annotations

import csv
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["load_digits_eight", "load_psnr"]

_KINDS: dict[str, type] = {"label": np.int64, "fold": np.int64, "sigma": np.int64, "image": np.str_}  # else float64


def load_digits_eight() -> dict[str, NDArray[Any]]:
    """Load scores of three classifiers for "the digit is an 8", on scikit-learn's handwritten digits.

    Each row's scores come from classifiers fitted to the four folds it is not in (5-fold cross-validation). Made by
    `make_digits_eight.py` beside the file.

    Returns
    -------
    dict of str to ndarray of shape (1797,)
        ``label`` (int64): 1 for an 8 (174 rows), 0 for another digit. ``fold`` (int64): 0 to 4. ``logistic``,
        ``naive_bayes``, ``random_forest`` (float64 in [0, 1]): chance of an 8 by logistic regression (no ties), by
        Gaussian naive Bayes (764 rows at 1), and share of 25 trees that vote for it (26 distinct values).

    References
    ----------
    Alpaydin and Kaynak (1998), *Optical Recognition of Handwritten Digits*, doi:10.24432/C50P49.

    Examples
    --------
    >>> from fastevals.datasets import load_digits_eight
    >>> columns = load_digits_eight()
    >>> list(columns)
    ['label', 'fold', 'logistic', 'naive_bayes', 'random_forest']
    >>> int(columns["label"].sum()), columns["label"].size
    (174, 1797)
    """
    return _columns("digits_eight.csv")


def load_psnr() -> dict[str, NDArray[Any]]:
    """Load how well four methods remove noise from five images, at nine levels of noise.

    From the homework on tests between learners of a machine learning course. Peak signal-to-noise ratio in dB: higher
    is better. The nine rows of an image are not independent, so a test that takes all 45 as blocks is too sure of
    itself: take one row an image, or an image's mean.

    Returns
    -------
    dict of str to ndarray of shape (45,)
        ``image`` (str): Lena, Barbara, Boat, Cameraman or Peppers256. ``sigma`` (int64): standard deviation of the
        noise, 20 to 100. ``K-SVD``, ``K-SVD-N``, ``NLM``, ``K-SVD-N-NL`` (float64): PSNR of each method in dB.

    Examples
    --------
    >>> from fastevals.datasets import load_psnr
    >>> columns = load_psnr()
    >>> list(columns)
    ['image', 'sigma', 'K-SVD', 'K-SVD-N', 'NLM', 'K-SVD-N-NL']
    >>> columns["NLM"][columns["sigma"] == 20]
    array([30.61, 29.26, 28.5 , 28.75, 28.95])
    """
    return _columns("psnr.csv")


def _columns(file: str) -> dict[str, NDArray[Any]]:
    names, *rows = csv.reader(resources.files(__name__).joinpath(file).read_text(encoding="utf-8").splitlines())
    columns = zip(*rows, strict=True)
    return {
        name: np.array(column).astype(_KINDS.get(name, np.float64)) for name, column in zip(names, columns, strict=True)
    }
