"""Metrics of a class against the rest."""

from __future__ import annotations

from typing import Any

import numpy as np

from fastevals import _validation as check
from fastevals.measure import cells
from fastevals.measure.confusion.base import MatrixBase

__all__ = ["PerClass"]

MACRO_F = ("mean-of-f", "of-means")


class PerClass(MatrixBase):
    """Methods that give a number for each class, or their average."""

    __slots__ = ()

    def precision(self, *, average: str | None = "binary") -> Any:
        """Share of the rows predicted as a class that belong to it (2.8).

        Parameters
        ----------
        average : {"binary", None, "micro", "macro", "weighted"}
            The positive one of two classes (`pos_label`); each class; all classes' counts together; the mean over
            classes; the mean by true rows.

        Returns
        -------
        float or ndarray
            Of the stack's shape; with None one axis longer, over the classes.

        Raises
        ------
        ValueError
            If `average` is none of these, or "binary" with other than two classes, or two of which nobody said which is
            positive.

        Examples
        --------
        >>> import fastevals
        >>> matrix = fastevals.ConfusionMatrix([[4, 1], [2, 3]])
        >>> matrix.precision(), matrix.precision(average="macro")
        (0.75, 0.7083333333333333)
        """
        return self._averaged("precision", cells.precision, average)

    def recall(self, *, average: str | None = "binary") -> Any:
        """Share of the rows of a class that are predicted as it (2.9); `average` as in `precision`.

        Returns
        -------
        float or ndarray
            Of the stack's shape; NaN where the denominator is zero.

        Examples
        --------
        >>> import fastevals
        >>> matrix = fastevals.ConfusionMatrix([[4, 1], [2, 3]])
        >>> matrix.recall(average=None)
        array([0.8, 0.6])
        """
        return self._averaged("recall", cells.recall, average)

    def specificity(self, *, average: str | None = "binary") -> Any:
        """Share of the rows outside a class that are not predicted as it; `average` as in `precision`.

        Returns
        -------
        float or ndarray
            Of the stack's shape; NaN where the denominator is zero.

        Examples
        --------
        >>> import fastevals
        >>> matrix = fastevals.ConfusionMatrix([[4, 1], [2, 3]])
        >>> matrix.specificity()
        0.8
        """
        return self._averaged("specificity", cells.specificity, average)

    def jaccard(self, *, average: str | None = "binary") -> Any:
        """Intersection over union of a class's predicted and true rows; `average` as in `precision`.

        Returns
        -------
        float or ndarray
            Of the stack's shape; NaN where the denominator is zero.

        Examples
        --------
        >>> import fastevals
        >>> matrix = fastevals.ConfusionMatrix([[4, 1], [2, 3]])
        >>> matrix.jaccard()
        0.5
        """
        return self._averaged("jaccard", cells.jaccard, average)

    def f_score(self, beta: float = 1.0, *, average: str | None = "binary", macro: str = "mean-of-f") -> Any:
        """Weighted harmonic mean of precision and recall (2.10 to 2.17), computed from counts.

        Parameters
        ----------
        beta : float
            Weight of recall against precision, above zero.
        average : {"binary", None, "micro", "macro", "weighted"}
            As in `precision`.
        macro : {"mean-of-f", "of-means"}
            Where something is averaged (classes by `average`, a stack by `macro()`): the mean of the F-scores, or the
            F-score of mean precision and mean recall, which is not smaller where both are defined for all.

        Returns
        -------
        float or ndarray
            In [0, 1]; 0 where nothing was found but there was something to find or something found wrongly.

        Raises
        ------
        ValueError
            If an option is out of range.

        References
        ----------
        The two macro-F1s: Opitz and Burst (2019), arXiv:1911.03347. Zhou, *Machine Learning*, (2.14) is "of-means".

        Examples
        --------
        >>> import fastevals
        >>> matrix = fastevals.ConfusionMatrix([[4, 1], [2, 3]])
        >>> matrix.f_score(average="macro"), matrix.f_score(average="macro", macro="of-means")
        (0.696969696969697, 0.7041420118343195)
        """
        beta = check.check_number("beta", beta, low=0, open_low=True, high=1e100)
        check.check_choice("macro", macro, MACRO_F)
        if macro == "mean-of-f" or not (self._mean_axes or average in ("macro", "weighted")):
            return self._averaged("f_score", lambda at: cells.f_score(at, beta), average)
        p, r = (self._mean(self._values(rate, average, "f_score")) for rate in (cells.precision, cells.recall))
        b = beta * beta
        return self._warned("f_score", np.where(p + r == 0, 0.0, cells.ratio((1 + b) * p * r, b * p + r)))
