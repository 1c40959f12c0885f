"""Small data sets that come with the package. A file that was computed is in the same folder as its script."""

from __future__ import annotations

import csv
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["load_auto", "load_digits_eight", "load_psnr"]

_WHOLE = ("label", "fold", "sigma", "cylinders", "horsepower", "weight", "year", "origin")
_TEXT = ("image", "name")
_KINDS: dict[str, type] = dict.fromkeys(_WHOLE, np.int64) | dict.fromkeys(_TEXT, np.str_)  # else float64


def load_auto() -> dict[str, NDArray[Any]]:
    """Load the Auto data: miles per gallon and other properties of 392 cars of the years 1970 to 1982.

    This is the UCI data set Auto MPG as in *An Introduction to Statistical Learning* (the R package ISLR), without the
    six cars whose horsepower is missing. Rows are sorted by year.

    Returns
    -------
    dict of str to ndarray of shape (392,)
        ``mpg`` (float64): miles per gallon. ``cylinders`` (int64). ``displacement`` (float64): cubic inches.
        ``horsepower``, ``weight`` (int64; pounds). ``acceleration`` (float64): seconds to 60 miles per hour. ``year``
        (int64): model year minus 1900. ``origin`` (int64): 1 American, 2 European, 3 Japanese. ``name`` (str): name of
        the car (301 distinct names).

    References
    ----------
    Quinlan (1993), *Auto MPG*, UCI Machine Learning Repository, doi:10.24432/C5859H.

    James, Witten, Hastie and Tibshirani (2013), *An Introduction to Statistical Learning*,
    doi:10.1007/978-1-4614-7138-7.

    Examples
    --------
    >>> from fastevals.datasets import load_auto
    >>> cars = load_auto()
    >>> cars["mpg"].size, str(cars["name"][0]), int(cars["horsepower"][0])
    (392, 'chevrolet chevelle malibu', 130)
    """
    return _columns("auto.csv")


def load_digits_eight() -> dict[str, NDArray[Any]]:
    """Load scores of three classifiers for "the digit is an 8", on scikit-learn's handwritten digits.

    Each row is scored by classifiers fitted to the other four folds (5-fold cross-validation). The script
    `make_digits_eight.py` in the same folder made the file.

    Returns
    -------
    dict of str to ndarray of shape (1797,)
        ``label`` (int64): 1 for an 8 (174 rows), 0 for another digit. ``fold`` (int64): 0 to 4. ``logistic``,
        ``naive_bayes``, ``random_forest`` (float64 in [0, 1]): probability of an 8 by logistic regression (no ties),
        probability of an 8 by Gaussian naive Bayes (764 rows at 1), and the share of the forest's 25 trees that vote
        for an 8 (26 distinct values).

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
    """Load the results of four methods that remove noise from five images, at nine noise levels.

    The data come from a machine learning course's homework on tests between learners. Results are peak signal-to-noise
    ratios in dB; higher is better. The nine rows of an image are not independent, so a test on all 45 rows as blocks
    overstates significance: use one row per image, or each image's mean.

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


def __dir__() -> list[str]:
    return [*__all__]
