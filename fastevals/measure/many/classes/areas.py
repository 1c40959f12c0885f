"""Areas of classes and of pairs of classes, and their averages."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals.measure.many.classes.base import LACK, ByClass
from fastevals.measure.many.classes.values import class_values, pair_aucs

__all__ = ["Areas"]

AVERAGES = ("macro", "micro", "weighted", None)


class Areas(ByClass):
    """Methods that give areas."""

    __slots__ = ()

    def roc_auc(self, *, average: str | None = "macro", multi_class: str = "ovr", max_fpr: float | None = None) -> Any:
        """Areas under the ROC curves of classes against the rest, or of pairs of classes, and their averages.

        Parameters
        ----------
        average : {"macro", "micro", "weighted", None}
            The mean over classes or pairs; the area of all classes' columns ranked as one (ovr only); the mean by
            `support`, of a pair the sum of both; or each value.
        multi_class : {"ovr", "ovo"}
            Each class against the rest; or each pair of classes, one label a row: of the rows of classes j and k, the
            mean of A(j | k), ranked by column j, and A(k | j), ranked by column k.
        max_fpr : float in (0, 1], optional
            Only the area where FPR is at most this, scaled so that chance is 0.5 (ovr only).

        Returns
        -------
        float or ndarray
            With ``average=None`` of shape (n_classes,), or of pairs (n_classes, n_classes): A(j | k) in row j and
            column k, the chance that column j has a higher score for a row of class j than for one of class k.
            Without weights each is the ratio of two integers, rounded once. NaN where undefined, and where j = k.

        Raises
        ------
        ValueError
            If an option is none of these, or "ovo" goes with "micro", `max_fpr` or an indicator matrix.

        References
        ----------
        Hand and Till (2001), doi:10.1023/A:1010920819831; by support: Ferri, Hernandez-Orallo and Modroiu (2009),
        doi:10.1016/j.patrec.2008.08.010.

        Examples
        --------
        >>> import fastevals
        >>> scores = [[0.7, 0.2, 0.1], [0.3, 0.4, 0.3], [0.4, 0.5, 0.1], [0.1, 0.3, 0.6]]
        >>> classes = fastevals.ClassRankings(["a", "a", "b", "c"], scores)
        >>> classes.roc_auc(average="weighted"), classes.roc_auc(average="micro")
        (0.875, 0.90625)
        >>> classes.roc_auc(multi_class="ovo", average="weighted")
        0.90625
        """
        check.check_choice("average", average, AVERAGES)
        check.check_choice("multi_class", multi_class, ("ovr", "ovo"))
        if multi_class == "ovo":
            check.check_one_vs_one(self.is_multilabel, average, max_fpr)
            return self._averaged_pairs(average)
        if average == "micro":
            return self._as_one().roc_auc(max_fpr=max_fpr)
        options = {} if max_fpr is None else {"max_fpr": max_fpr}
        return self._averaged("roc_auc", class_values(self._scores, "roc_auc", **options), average, self.support)

    def hand_till(self) -> float:
        """Hand and Till's M: the mean over pairs of classes of (A(j | k) + A(k | j)) / 2.

        It does not depend on how frequent the classes are; with two classes whose scores add up to 1 it is the AUC.

        Returns
        -------
        float
            In [0, 1]; NaN if a class has no rows.

        Raises
        ------
        ValueError
            If `y_true` is an indicator matrix.

        References
        ----------
        Hand and Till (2001), doi:10.1023/A:1010920819831.

        Examples
        --------
        >>> import fastevals
        >>> fastevals.ClassRankings([0, 1, 2], [[3, 1, 1], [1, 2, 1], [2, 2, 1]]).hand_till()
        0.75
        """
        check.check_one_vs_one(self.is_multilabel, "macro", None)
        return float(self._averaged_pairs("macro"))

    def average_precision(self, *, average: str | None = "macro") -> Any:
        """Average precision of each class against the rest, and its averages.

        Parameters
        ----------
        average : {"macro", "micro", "weighted", None}
            The mean over classes; that of all classes' columns ranked as one; the mean by `support`; or each value.

        Returns
        -------
        float or ndarray
            With None of shape (n_classes,). NaN of a class without rows.

        Raises
        ------
        ValueError
            If `average` is none of these.

        Examples
        --------
        >>> import fastevals
        >>> fastevals.ClassRankings([[1, 0], [1, 1], [0, 1]], [[3, 1], [1, 2], [2, 3]]).average_precision(average=None)
        array([0.83333333, 1.        ])
        """
        check.check_choice("average", average, AVERAGES)
        if average == "micro":
            return self._as_one().average_precision()
        return self._averaged(
            "average_precision", class_values(self._scores, "average_precision"), average, self.support
        )

    def _averaged_pairs(self, average: str | None) -> Any:
        by_pair, support = pair_aucs(self._scores), self.support
        first, second = np.triu_indices(support.size, 1)
        means = (by_pair[first, second] + by_pair[second, first]) / 2
        averaged = self._averaged("roc_auc", means, average, support[first] + support[second], "pairs of classes")
        return by_pair if average is None else averaged

    def _averaged(
        self, name: str, values: NDArray[np.float64], average: str | None, support: NDArray[Any], what: str = "classes"
    ) -> Any:
        """Average values, with a warning where one that counts is undefined."""
        averaged: Any = values
        if average == "macro":
            averaged = float(values.mean())
        elif average == "weighted":
            averaged = float(np.where(support > 0, values * support, 0.0).sum() / support.sum())
        if np.isnan(averaged).any():
            check.warn_undefined(name, f"{np.isnan(values).sum()} of {values.size} {what} {LACK}")
        return averaged
