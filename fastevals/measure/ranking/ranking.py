"""Rankings: labels and scores sorted once, every number and curve one sweep."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from numpy.typing import ArrayLike

from fastevals import _validation as check
from fastevals.measure.class_split import ClassSplit
from fastevals.measure.counts import ThresholdCounts
from fastevals.measure.ordering import BinaryLabels, split_by_class, weighted_threshold_counts
from fastevals.measure.ranking.curves import Curves
from fastevals.measure.ranking.numbers import Numbers
from fastevals.measure.ranking.thresholds import Thresholds

__all__ = ["Ranking"]


class Ranking(Numbers, Curves, Thresholds):
    """Binary labels ranked by a score.

    The scores are sorted here, once; every method is a sweep over the sorted scores or the counts made from them. Later
    changes to the arrays change nothing. A row is predicted positive when ``score >= threshold``; scores are tied
    when they are equal (``-0.0 == 0.0``), however near others are.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes: numbers, booleans or strings.
    y_score : array-like of shape (n_samples,)
        Finite scores of any real dtype, higher for the positive class. Integers of any size are compared exactly.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights, not negative. Rows of weight zero are left out.
    pos_label : label, optional
        The positive class; 1 among 0/1, -1/1 and booleans, and must be given for other labels.

    Attributes
    ----------
    n_samples, n_positives, n_negatives : int
        Rows (of weight above zero), in all and of each class.
    counts : ThresholdCounts
        Counts, or sums of weights, at or above each distinct score. Made when first asked for.
    pos_label : label
        The positive class.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.

    Warns
    -----
    UndefinedMetricWarning
        From methods whose value is undefined for want of a class, and NaN.

    Notes
    -----
    Takes about 9 bytes a row to build and 8 to keep until `counts` are made, which take 24 for each distinct score.
    With weights they are made at once, from about 41 bytes a row. Up to 128 MiB of rankings that are gone
    are kept for the next.

    Examples
    --------
    >>> import fastevals
    >>> ranking = fastevals.Ranking([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8])
    >>> ranking.roc_auc()
    0.75
    >>> ranking.threshold_for(recall=1.0)
    OperatingPoint(value=0.6666666666666666, threshold=0.3)
    """

    __slots__ = ("_counts", "_doubled_u", "_neg_label", "_split", "n_negatives", "n_positives", "pos_label")

    _counts: ThresholdCounts | None
    _split: ClassSplit | None  # until there are counts
    _doubled_u: int | None  # twice the Mann-Whitney U; None with weights
    n_positives: int
    n_negatives: int
    pos_label: Any
    _neg_label: Any

    def __init__(
        self, y_true: ArrayLike, y_score: ArrayLike, *, sample_weight: ArrayLike | None = None, pos_label: Any = None
    ) -> None:
        labels = BinaryLabels(*check.binary_labels("y_true", y_true, pos_label))
        scores = check.as_scores("y_score", y_score)
        check.check_same_length(y_true=labels.values, y_score=scores)
        self.pos_label, self._neg_label = labels.positive, labels.negative
        if sample_weight is None:
            split = split_by_class(labels, scores)
            self._split, self._counts, self._doubled_u = split, None, split.doubled_u
            self.n_positives, self.n_negatives = split.n_pos, split.n_neg
            return
        weights = check.as_weights("sample_weight", sample_weight)
        check.check_same_length(y_true=labels.values, sample_weight=weights)
        if not weights.all():
            check.check_finite("y_score", scores)  # while its rows are still the user's
            kept = weights != 0
            labels, scores, weights = labels.take(kept), scores[kept], weights[kept]
        self._split, self._doubled_u = None, None
        self._counts, self.n_positives = weighted_threshold_counts(labels, scores, weights)
        self.n_negatives = scores.size - self.n_positives

    def __repr__(self) -> str:
        weighted = ", weighted" if self._doubled_u is None else ""
        return f"Ranking(n_positives={self.n_positives}, n_negatives={self.n_negatives}{weighted})"

    @property
    def counts(self) -> ThresholdCounts:
        """Counts at or above each distinct score, made when first asked for."""
        split, counts = self._split, self._counts  # in this order: another thread sets them in the other
        if counts is None:
            assert split is not None
            counts = self._counts = split.threshold_counts()
            self._split = None  # the sorted scores have served; another thread in here keeps its own reference
        return counts

    def _doubled_u_and_pairs(self) -> tuple[int, int] | None:
        pairs = self.n_positives * self.n_negatives
        return None if self._doubled_u is None or not pairs else (self._doubled_u, pairs)

    def _classes(self) -> check.Classes:
        return check.Classes(check.both_classes(self.pos_label, self._neg_label), self.pos_label)

    def _swept(self) -> ThresholdCounts | ClassSplit:
        """Give the counts; while nobody has asked for them the sorted scores, which give some things sooner."""
        split = self._split
        return self.counts if split is None else split

    def _sum_of_precision(self) -> Fraction | None:
        swept = self._swept()
        return swept.sum_precision() if isinstance(swept, ClassSplit) else None
