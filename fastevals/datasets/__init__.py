"""Small embedded data, each file beside the script that made it."""

from __future__ import annotations

import csv
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["load_digits_eight"]

_COUNTED = ("label", "fold")  # columns of whole numbers


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
    text = resources.files(__name__).joinpath("digits_eight.csv").read_text(encoding="utf-8")
    names, *rows = csv.reader(text.splitlines())
    columns = zip(*rows, strict=True)
    return {
        name: np.array(column, dtype=np.float64).astype(np.int64 if name in _COUNTED else np.float64)
        for name, column in zip(names, columns, strict=True)
    }
