"""Rankings: labels and scores, sorted once and counted; and the points of their curves as arrays."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from numbers import Real
from operator import mul
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._execution import run
from fastevals._kernels import rates as kernels
from fastevals._memory import lend
from fastevals._options import show
from fastevals._validation.arrays import (
    as_frequencies,
    as_scores,
    as_weights,
    check_finite,
    check_one_weight,
    check_same_length,
    is_summary,
    refuse_weighted,
)
from fastevals._validation.labels import Classes, binary_labels, both_classes
from fastevals.counting.ordering import (
    BinaryLabels,
    ClassSplit,
    SlotSpan,
    count_by_score,
    count_ties,
    split_by_class,
    weighted_threshold_counts,
)
from fastevals.counts import ThresholdCounts, as_counts, check_total, what_instead
from fastevals.measure.ranking.base import BaseRanking, Doubt
from fastevals.measure.ranking.squares import SquaredWeights
from fastevals.results import Alternative

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Points = tuple[Floats, Floats, NDArray[Any]]


class Ranking(BaseRanking):
    """Binary labels ranked by a score.

    The scores are sorted once; every method sweeps the sorted scores or the counts made from them. Changing the
    arrays afterwards has no effect. A row is predicted positive when ``score >= threshold``. Only equal scores are tied
    (``-0.0 == 0.0``); scores that differ are not, however close they are.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes: numbers, booleans or strings.
    y_score : array-like of shape (n_samples,)
        Finite scores of any real dtype, higher for the positive class. Integers of any size are compared exactly.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights, at least 0. Rows of weight zero are left out. A weighted ranking has values and curves but no
        intervals: pass the rows and their weights to `bootstrap` or `delong`.
    frequency_weight : array-like of shape (n_samples,), optional
        Number of copies of each row: whole numbers, with the same result as repeating the rows. Excludes
        `sample_weight`.
    pos_label : label, optional
        The positive class. By default 1 for labels 0/1, -1/1 and booleans; required for other labels.

    Attributes
    ----------
    n_samples, n_positives, n_negatives : int
        Rows of weight above zero, in total and per class. If only sums of weights are known, each sum counts as one
        row; `counts.n_pos` and `counts.n_neg` are the classes' weights.
    counts : ThresholdCounts
        Counts, or sums of weights, at or above each distinct score. Computed on first use.
    pos_label : label
        The positive class.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names the argument, the rule and the value.

    Warns
    -----
    UndefinedMetricWarning
        From methods whose value is NaN because a class is missing.

    Notes
    -----
    Building takes about 9 bytes per row. The ranking then holds 8 bytes per row until `counts` are computed, which take
    24 bytes per distinct score. `counts` are computed immediately if there are few distinct scores, or if rows have
    weights. With weights, building takes at least about 41 bytes per row. Up to 128 MiB of deleted rankings' memory is
    kept for new rankings.

    Examples
    --------
    >>> import fastevals
    >>> ranking = fastevals.Ranking([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8])
    >>> ranking.roc_auc()
    0.75
    >>> ranking.threshold_for(recall=1.0)
    OperatingPoint(value=0.6666666666666666, threshold=0.3)
    """

    __slots__ = (
        "_counts", "_doubled_u", "_neg_label", "_rows_repeat", "_split", "_squared", "n_negatives", "n_positives",
        "pos_label",
    )  # fmt: skip

    _counts: ThresholdCounts | None
    _split: ClassSplit | None  # None once there are counts
    _squared: SquaredWeights | None  # None unless rows had weights
    _doubled_u: int | None  # twice the Mann-Whitney U; None with weights, or if rows came as counts
    _rows_repeat: bool  # whether a row may occur several times
    n_positives: int
    n_negatives: int
    pos_label: Any
    _neg_label: Any

    def __init__(
        self,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        frequency_weight: ArrayLike | None = None,
        pos_label: Any = None,
    ) -> None:
        labels = BinaryLabels(*binary_labels("y_true", y_true, pos_label))
        scores = as_scores("y_score", y_score)
        check_same_length(y_true=labels.values, y_score=scores)
        self.pos_label, self._neg_label, self._rows_repeat = labels.positive, labels.negative, False
        self._squared = None
        check_one_weight(sample_weight, frequency_weight)
        if frequency_weight is not None:
            check_finite("y_score", scores)
            copies = as_frequencies("frequency_weight", frequency_weight)
            check_same_length(y_true=labels.values, frequency_weight=copies)
            positive = labels.values == labels.positive
            self._set_counts(count_by_score(scores, np.where(positive, copies, 0), np.where(positive, 0, copies)))
            return
        if sample_weight is None:
            self._rank(labels, scores)
            return
        weights = as_weights("sample_weight", sample_weight)
        check_same_length(y_true=labels.values, sample_weight=weights)
        if not weights.all():
            check_finite("y_score", scores)  # before rows are dropped: errors number the user's rows
            kept = weights != 0
            labels, scores, weights = labels.take(kept), scores[kept], weights[kept]
        self._split, self._doubled_u = None, None
        self._counts, self.n_positives = weighted_threshold_counts(labels, scores, weights)
        self.n_negatives = scores.size - self.n_positives

    @classmethod
    def _of_flags(cls, flags: NDArray[np.uint8], scores: NDArray[Any], classes: Classes) -> Ranking:
        """Rank rows of two named classes, whose flags are 1 for positives and 0 for negatives."""
        ranking = cls.__new__(cls)
        ranking.pos_label, ranking._neg_label = classes.pos_label, classes.labels[0]
        ranking._rows_repeat, ranking._squared = False, None
        ranking._rank(BinaryLabels(flags, 1, 0), scores)
        return ranking

    def _rank(self, labels: BinaryLabels, scores: NDArray[Any]) -> None:
        counts = count_ties(labels, scores)
        if counts is None:
            split = split_by_class(labels, scores)
            self._split, self._counts, self._doubled_u = split, None, split.doubled_u
            self.n_positives, self.n_negatives = split.n_pos, split.n_neg
        else:
            self._set_counts(counts)

    def _set_counts(self, counts: ThresholdCounts) -> None:
        self._split, self._counts, self._doubled_u = None, counts, _doubled_u_of(counts)
        self.n_positives, self.n_negatives = _rows_of(counts)

    @classmethod
    def from_counts(
        cls, scores: ArrayLike, positives: ArrayLike, negatives: ArrayLike, *, pos_label: Any = None
    ) -> Self:
        """Rank rows that were counted elsewhere, for example by a database's ``GROUP BY score``.

        Parameters
        ----------
        scores : array-like of shape (n_scores,)
            Finite scores of any real dtype, in any order. Counts of a repeated score are added up.
        positives, negatives : array-like of shape (n_scores,)
            Rows of each class with this score, at least 0. Integers count rows; if either array holds floats, both are
            sums of weights.
        pos_label : label, optional
            Name of the positive class; 1 by default.

        Returns
        -------
        Ranking
            The same ranking as `Ranking` makes from the rows that were counted. A sum of weights counts as one row of
            its class, because the number of its rows is unknown.

        Raises
        ------
        ValueError
            If an argument is not as described, or no row is counted.

        Examples
        --------
        >>> import fastevals
        >>> ranking = fastevals.Ranking.from_counts([0.4, 0.1, 0.9, 0.4], [2, 0, 3, 1], [1, 5, 0, 0])
        >>> ranking, ranking.roc_auc()
        (Ranking(n_positives=6, n_negatives=6), 0.9583333333333334)
        """
        values = as_scores("scores", scores)
        positive_counts, negative_counts = as_counts(positives=positives, negatives=negatives)
        check_same_length(scores=values, positives=positive_counts, negatives=negative_counts)
        check_finite("scores", values)
        with np.errstate(over="ignore"):
            totals = positive_counts.sum(dtype=np.float64), negative_counts.sum(dtype=np.float64)
        check_total(
            "positives and negatives", *(total if positive_counts.dtype.kind == "f" else int(total) for total in totals)
        )
        if not sum(totals):
            raise ValueError(
                f"positives and negatives must count at least one row, but all {values.size} of both are zero"
            )
        if positive_counts.dtype.kind == "f":
            rows = np.concatenate((np.flatnonzero(positive_counts), np.flatnonzero(negative_counts)))
            flags = (np.arange(rows.size) < np.count_nonzero(positive_counts)).astype(np.int64)
            weights = np.concatenate((positive_counts[positive_counts > 0], negative_counts[negative_counts > 0]))
            counts, n_positives = weighted_threshold_counts(BinaryLabels(flags, 1, 0), values[rows], weights)
            return cls._from_checked_counts(counts, pos_label, (n_positives, rows.size - n_positives))
        return cls._from_checked_counts(count_by_score(values, positive_counts, negative_counts), pos_label)

    @classmethod
    def from_threshold_counts(cls, counts: ThresholdCounts, *, pos_label: Any = None) -> Self:
        """Rank the rows behind threshold counts, for example the merged counts of several parts.

        Parameters
        ----------
        counts : ThresholdCounts
            Thresholds that count no row are left out.
        pos_label : label, optional
            Name of the positive class; 1 by default.

        Returns
        -------
        Ranking
            The same ranking as from the rows; sums of weights are treated as in `from_counts`.

        Raises
        ------
        ValueError
            If an argument is not as described, or no row is counted.

        Examples
        --------
        >>> import fastevals
        >>> parts = [fastevals.Ranking([0, 1], scores).counts for scores in ([0.1, 0.4], [0.4, 0.3])]
        >>> fastevals.Ranking.from_threshold_counts(parts[0] + parts[1]).roc_auc()
        0.625
        """
        return cls._of_threshold_counts("counts", counts, pos_label)

    @classmethod
    def _of_threshold_counts(cls, name: str, counts: ThresholdCounts, pos_label: Any = None) -> Self:
        if isinstance(counts, ThresholdCounts):
            counts._require_each_score(f"a ranking of {name} alone", "pass the ranking that has these counts")
        if type(counts) is not ThresholdCounts:
            raise ValueError(f"{name} must be ThresholdCounts, got {what_instead(counts)}")
        kept = (np.diff(counts.tps) != 0) | (np.diff(counts.fps) != 0)
        if not kept.any():
            raise ValueError(f"{name} must count at least one row, but n_pos and n_neg are 0")
        if not kept.all():
            counts = counts.take(np.flatnonzero(np.append(True, kept)))
        return cls._from_checked_counts(counts, pos_label)

    @classmethod
    def _from_checked_counts(cls, counts: ThresholdCounts, pos_label: Any, rows: tuple[int, int] | None = None) -> Self:
        if not isinstance(pos_label, (str, Real, np.bool_, type(None))) or pos_label != pos_label:
            raise ValueError(f"pos_label must be a number or a string, got {show(pos_label)}")
        ranking = cls.__new__(cls)
        ranking._set_parts(counts, *(rows or _rows_of(counts)), 1 if pos_label is None else pos_label)
        return ranking

    @classmethod
    def _of_classes(
        cls,
        counts: ThresholdCounts,
        classes: Classes,
        rows: tuple[int, int] | None = None,
        squares: SquaredWeights | None = None,
    ) -> Ranking:
        """Rank counted rows of two named classes; for sums of weights, `rows` is the number of rows per class."""
        ranking = cls.__new__(cls)
        ranking._set_parts(counts, *(rows or _rows_of(counts)), classes.pos_label, classes.labels[0])
        ranking._squared = squares
        return ranking

    def _set_parts(
        self,
        counts: ThresholdCounts | None,
        n_positives: int,
        n_negatives: int,
        pos_label: Any,
        neg_label: Any = None,
        *,
        rows_repeat: bool = False,
    ) -> None:
        self._split, self._counts, self._doubled_u = None, counts, None
        self.n_positives, self.n_negatives = n_positives, n_negatives
        self.pos_label, self._neg_label, self._rows_repeat = pos_label, neg_label, rows_repeat
        self._squared = None

    def __setstate__(self, state: tuple[None, dict[str, Any]]) -> None:
        """Restore a pickle; a pickle from version 0.3 may hold the two classes as one object, `_names`."""
        slots = {"_split": None, "_doubled_u": None, "_rows_repeat": False, "_squared": None, **state[1]}
        if "_names" in slots:
            names = slots.pop("_names") or Classes(both_classes(1), 1)
            slots |= {"pos_label": names.pos_label, "_neg_label": names.labels[0]}
        for name, value in slots.items():
            setattr(self, name, value)

    @property
    def counts(self) -> ThresholdCounts:
        """Counts at or above each distinct score, computed on first use."""
        split, counts = self._split, self._counts  # in this order: another thread sets `_counts` first
        if counts is None:
            assert split is not None
            counts = self._counts = split.threshold_counts()
            self._split = None  # no longer needed; another thread in here keeps its own reference
        return counts

    @property
    def is_weighted(self) -> bool:
        """Whether counts are sums of weights."""
        return self._counts is not None and self._counts.tps.dtype.kind == "f"  # with weights they exist from the start

    @property
    def _squares(self) -> SquaredWeights | None:
        """Sums of squared weights at the thresholds of the counts; None without weights, or if the sums are unknown."""
        return self._squared

    def _counts_and_doubts(self, specs: Mapping[str, Any]) -> tuple[BaseRanking, dict[str, Doubt]]:
        """Return the ranking itself, whose metrics are exact; raise if a row may occur several times."""
        if self._rows_repeat:
            raise ValueError(
                f"rows of {show(self)} may be in several of the pooled folds, and repeated rows make intervals too "
                "narrow and p-values too small: pass all rows to bootstrap, with the row's number as groups="
            )
        return self, {}

    def _doubled_u_and_pairs(self) -> tuple[int, int] | None:
        pairs = self.n_positives * self.n_negatives
        return None if self._doubled_u is None or not pairs else (self._doubled_u, pairs)

    def _classes(self) -> Classes:
        return Classes(both_classes(self.pos_label, self._neg_label), self.pos_label)

    def _counts_or_split(self) -> ThresholdCounts | ClassSplit:
        """Return the counts or, until they are first used, the sorted scores, which give some results faster."""
        split = self._split
        return self.counts if split is None else split

    def _sum_of_precision(self) -> Fraction | None:
        split = self._split
        return None if split is None else split.sum_precision()


def _rows_of(counts: ThresholdCounts) -> tuple[int, int]:
    """Return the number of positive and of negative rows; each sum of weights counts as one row."""
    if counts.tps.dtype.kind == "f":
        return int(np.count_nonzero(np.diff(counts.tps))), int(np.count_nonzero(np.diff(counts.fps)))
    return int(counts.n_pos), int(counts.n_neg)


def _doubled_u_of(counts: ThresholdCounts) -> int:
    """Return twice the Mann-Whitney U from counts of rows: a pair ranked right adds 2, a tie adds 1."""
    gained = np.diff(counts.tps).tolist()
    below = 2 * int(counts.n_neg) - (counts.fps[1:] + counts.fps[:-1])
    return sum(map(mul, gained, below.tolist()))


def as_ranking(name: str, value: Any) -> Any:
    """Return the ranking of threshold counts or of a summary of scores; return any other value unchanged."""
    if isinstance(value, ThresholdCounts):
        return Ranking._of_threshold_counts(name, value)
    return value.ranking() if is_summary(value) and hasattr(value, "ranking") else value


def ranking_of_rows(
    name: str, subject: Any, specs: Mapping[str, Any], *, takes_weights: bool = False
) -> tuple[BaseRanking, dict[str, Doubt]]:
    """Return the ranking that inference starts from, and how far its metrics may be off; raise if there is none."""
    ranking, doubts, _ = without_doubt(name, subject, specs, takes_weights=takes_weights)
    if not isinstance(ranking, BaseRanking):
        raise ValueError(
            f"{name} must be a Ranking, RankingSummary or ThresholdCounts, got {show(subject)} "
            f"({type(subject).__name__})"
        )
    return ranking, doubts


class Drawn(NamedTuple):
    """The source of a subject's replicates (rows or counted cells), and how far metrics of it may be off."""

    subject: Any
    doubts: dict[str, Doubt]  # by metric, if the value is not exact
    coarse: bool  # whether few cells are drawn instead of rows


def without_doubt(name: str, subject: Any, specs: Mapping[str, Any], *, takes_weights: bool = False) -> Drawn:
    """Return the source of a subject's replicates (rows or counted cells), and how far metrics of it may be off.

    Weights are refused unless `takes_weights` is set and the sums of their squares are known.
    """
    ranking = as_ranking(name, subject)
    if isinstance(ranking, BaseRanking) and ranking.is_weighted and (not takes_weights or ranking._squares is None):
        refuse_weighted(name, subject)
    knows = isinstance(ranking, BaseRanking) or (is_summary(ranking) and hasattr(ranking, "_counts_and_doubts"))
    counts, doubts = ranking._counts_and_doubts(specs) if knows else (ranking, {})
    is_counted = isinstance(counts, BaseRanking) and counts._squares is not None
    return Drawn(counts, doubts, is_counted or counts is not ranking or is_summary(subject))


def settled(value: Any, doubt: Doubt) -> Any:
    """Return a value, corrected if its error is known exactly."""
    return value + doubt[1] if doubt[0] == -doubt[1] else value


def doubt_of_difference(first: Doubt, second: Doubt) -> Doubt:
    """Return how far the difference over all rows may lie below and above the computed difference."""
    return first[0] + second[1], first[1] + second[0]


def least_extreme(effect: float, doubt: Doubt, alternative: Alternative) -> float:
    """Return the possible value of an effect that is least extreme under the null hypothesis of 0."""
    low, high = effect - doubt[0], effect + doubt[1]
    if alternative != "two-sided":
        return low if alternative == "greater" else high
    return math.nan if math.isnan(effect) else low if low > 0 else high if high < 0 else 0.0


# Points of curves, as arrays ------------------------------------------------------------------------------------------
#
# Until the counts of an unweighted ranking are first used, its sorted scores are swept into these arrays span by span.
# Going through counts of all rows (24 bytes per row, on fresh pages) takes about twice as long.


def roc_points(ranking: Ranking, *, drop_intermediate: bool = True) -> Points:
    """Return FPR, TPR and thresholds, from the highest threshold (+inf) down.

    With `drop_intermediate` the points between two equal steps are left out, as in scikit-learn; `RocCurve` leaves out
    all points inside horizontal and vertical segments. The rates of a missing class are NaN. Thresholds are float64, or
    longer floats if scores are longer floats or integers past 2**53.
    """
    counts = ranking._counts_or_split()
    if isinstance(counts, ClassSplit):
        return _split_roc(counts, drop_intermediate)
    if drop_intermediate and counts.thresholds.size > 3:
        bends = (np.diff(counts.fps[1:], 2) != 0) | (np.diff(counts.tps[1:], 2) != 0)
        counts = counts.take(np.flatnonzero(np.concatenate(([True, True], bends, [True]))))
    fpr, tpr = np.empty((2, counts.thresholds.size))
    kernels.divide(counts.fps, counts.n_neg, fpr)
    kernels.divide(counts.tps, counts.n_pos, tpr)
    return fpr, tpr, counts.thresholds.copy()


def _split_roc(split: ClassSplit, drop_intermediate: bool) -> Points:
    """Sweep each span and write its points from the start of its range; then close the gaps left by dropped points."""

    def points(size: int) -> Points:
        return lend(size, np.float64), lend(size, np.float64), lend(size, split.threshold_dtype)

    fpr, tpr, thresholds = all_points = points(split.n_thresholds + 1)
    thresholds[0] = np.inf
    fpr[0], tpr[0] = (0.0 if total else np.nan for total in (split.n_neg, split.n_pos))

    def write(span: SlotSpan, bits: Ints, tps: Ints, fps: Ints) -> slice:
        if drop_intermediate:
            size = split.sweep_bends(span, bits, tps, fps)
        else:
            split.sweep(span, bits[:-2], tps[:-2], fps[:-2])
            size = span.groups
        here = slice(1 + span.groups_above, 1 + span.groups_above + size)
        kernels.divide(_read_only(fps[:size]), split.n_neg, fpr[here])
        kernels.divide(_read_only(tps[:size]), split.n_pos, tpr[here])
        thresholds[here] = split.codec.values(bits[:size])
        return here

    kept = [slice(0, 1), *reversed(split.map_spans(write, rows=2))]
    stops = np.cumsum([rows.stop - rows.start for rows in kept]).tolist()
    if stops[-1] == thresholds.size:
        return all_points
    kept_points = points(stops[-1])

    def move(i: int) -> None:
        rows, stop = kept[i], stops[i]
        for source, out in zip(all_points, kept_points, strict=True):
            out[stop - (rows.stop - rows.start) : stop] = source[rows]

    run(move, range(len(kept)))
    return kept_points


def pr_points(ranking: Ranking) -> Points:
    """Return precision, recall and thresholds, from the lowest threshold up; the last point (1, 0) has no threshold.

    Recall is NaN without positives. Thresholds have the same dtype as in `roc_points`.
    """
    counts = ranking._counts_or_split()
    if isinstance(counts, ClassSplit):
        return _split_pr(counts)
    precision, recall = np.empty((2, counts.thresholds.size))
    kernels.precision(counts.tps, counts.fps, 1.0, precision)
    kernels.divide(counts.tps, counts.n_pos, recall)
    return precision[::-1].copy(), recall[::-1].copy(), counts.thresholds[:0:-1].copy()


def _split_pr(split: ClassSplit) -> Points:
    thresholds = lend(split.n_thresholds, split.threshold_dtype)
    precision, recall = lend(thresholds.size + 1, np.float64), lend(thresholds.size + 1, np.float64)
    precision[-1], recall[-1] = 1.0, 0.0 if split.n_pos else np.nan

    def write(span: SlotSpan, bits: Ints, tps: Ints, fps: Ints) -> None:
        split.sweep(span, bits, tps, fps, ascending=True)
        stop = thresholds.size - span.groups_above
        here = slice(stop - span.groups, stop)
        kernels.precision(_read_only(tps), _read_only(fps), 1.0, precision[here])
        kernels.divide(_read_only(tps), split.n_pos, recall[here])
        thresholds[here] = split.codec.values(bits)

    split.map_spans(write)
    return precision, recall, thresholds


def _read_only(totals: Ints) -> Ints:
    """Return a read-only view, like arrays of counts, so that kernels are not compiled again for writable arrays."""
    view = totals[:]
    view.flags.writeable = False
    return view
