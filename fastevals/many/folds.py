"""Pool the rankings of a data set's folds, or average the folds' curves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._distinct import sorted_unique
from fastevals._kernels.lines import both_sides
from fastevals._options import check_choice, named_by_base, show
from fastevals._text import first_lines
from fastevals._validation.arrays import as_scores, as_weights, check_finite, check_same_length, counts_rows
from fastevals._validation.labels import as_labels, binary_labels, raise_not_binary
from fastevals._validation.text import unique_inverse
from fastevals.counting.labels import rows_by_code
from fastevals.counts import Cells, ThresholdCounts, rows_at_each
from fastevals.document.frames import Columns, make_columns
from fastevals.document.result import Result
from fastevals.measure import cells
from fastevals.measure.curves.base import Curve, Polyline, Values
from fastevals.measure.curves.cost import CostCurve
from fastevals.measure.curves.gain import GainCurve, LiftCurve
from fastevals.measure.curves.precision_recall import PrecisionRecallCurve
from fastevals.measure.curves.registry import entry_of
from fastevals.measure.curves.roc import DetCurve, RocCurve, corners
from fastevals.measure.ranking.ranking import Ranking
from fastevals.results import as_json

MOST_FOLDS = 10_000
FoldAverage = Literal["micro", "macro"]
RateAverage = Literal[FoldAverage, "vertical"]
C = TypeVar("C", bound=Curve)


class RankingFolds(Result):
    """The rankings of several folds, and averages of their curves.

    "micro" adds up the folds' counts at each threshold and computes rates from the sums. "macro" averages the folds'
    rates at each threshold (threshold averaging). Both ways compare scores of different folds, so all scores must
    be on the same scale. "vertical" averages the folds' TPR at each FPR instead, whatever the thresholds.

    Parameters
    ----------
    rankings : sequence or mapping of Ranking
        One ranking per fold, or a mapping from the folds' names. Each ranking must have both classes.

    Attributes
    ----------
    names : tuple
        Names of the folds; 0, 1, 2, ... for a sequence.
    rankings : tuple of Ranking
        The rankings, in the order of `names`.

    Raises
    ------
    ValueError
        If there is no fold, or if a fold is not a ranking or has rows of only one class; the message names the fold.

    References
    ----------
    Fawcett (2006), section 8, doi:10.1016/j.patrec.2005.10.010; Zhou, *Machine Learning*, (2.12) to (2.17).

    Examples
    --------
    >>> import fastevals
    >>> y, s, folds = [0, 1, 0, 1, 1, 0], [0.1, 0.9, 0.6, 0.4, 0.8, 0.3], [1, 1, 1, 2, 2, 2]
    >>> both = fastevals.RankingFolds.from_scores(y, s, folds)
    >>> both.roc_curve(average="micro").area, both.roc_curve(average="vertical").area
    (0.8888888888888888, 1.0)

    From the course's homework, macro and micro curves of handwritten digits:

    >>> from fastevals.datasets import load_digits_eight
    >>> digits = load_digits_eight()
    >>> folds = fastevals.RankingFolds.from_scores(digits["label"], digits["logistic"], digits["fold"])
    >>> [round(folds.roc_curve(average=average).area, 4) for average in ("micro", "macro")]
    [0.9756, 0.9757]
    >>> [round(folds.cost_curve(average=average).area, 4) for average in ("micro", "macro")]
    [0.0589, 0.0587]
    """

    __slots__ = ("_are_apart", "names", "rankings")

    names: tuple[Any, ...]
    rankings: tuple[Ranking, ...]
    _are_apart: bool  # whether no row is in two folds

    def __init__(self, rankings: Sequence[Ranking] | Mapping[Any, Ranking]) -> None:
        named = dict(rankings) if isinstance(rankings, Mapping) else dict(enumerate(_as_list("rankings", rankings)))
        _check_folds("rankings", named, Ranking)
        self.names, self.rankings, self._are_apart = tuple(named), tuple(named.values()), False

    @classmethod
    def from_scores(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        folds: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
    ) -> RankingFolds:
        """Rank the rows of each fold.

        Parameters
        ----------
        y_true, y_score, sample_weight, pos_label
            As for `Ranking`, with the rows of all folds.
        folds : array-like of shape (n_samples,)
            The fold of each row: numbers or strings.

        Returns
        -------
        RankingFolds
            One ranking per fold, named by the distinct values of `folds` in ascending order.

        Raises
        ------
        ValueError
            If an argument is not as described, or a fold has only one class.
        """
        labels, positive, _ = binary_labels("y_true", y_true, pos_label)
        scores = as_scores("y_score", y_score)
        fold = as_labels("folds", folds)
        check_same_length(y_true=labels, y_score=scores, folds=fold)
        check_finite("y_score", scores)
        check_finite("folds", fold)
        weights = None
        if sample_weight is not None:
            weights = as_weights("sample_weight", sample_weight)
            check_same_length(y_true=labels, sample_weight=weights)
        names, codes = unique_inverse(fold)
        _check_fold_number("folds", names)
        _check_two_labels("y_true", labels, positive)
        rankings = {}
        for name, rows in zip(names.tolist(), rows_by_code(codes, names.size), strict=True):
            fold_weights = None if weights is None else weights[rows]
            _check_fold_weight(name, fold_weights)
            rankings[name] = Ranking(labels[rows], scores[rows], sample_weight=fold_weights, pos_label=positive)
        folds_of_rows = cls(rankings)
        folds_of_rows._are_apart = True
        return folds_of_rows

    def __len__(self) -> int:
        return len(self.rankings)

    def __iter__(self) -> Iterator[Ranking]:
        return iter(self.rankings)

    def __repr__(self) -> str:
        n_pos, n_neg = self._class_sizes
        return f"RankingFolds({len(self)} folds, n_positives={n_pos}, n_negatives={n_neg})"

    def __str__(self) -> str:
        named = zip(self.names, self.rankings, strict=True)
        return repr(self) + first_lines(f"{show(name)}: {fold!r}" for name, fold in named)

    def to_dict(self) -> dict[str, Any]:
        """Return the table as strict JSON, one list per column."""
        return as_json(self._columns())  # type: ignore[no-any-return]

    def _columns(self) -> Columns:
        sizes = {name: [getattr(fold, name) for fold in self] for name in ("n_positives", "n_negatives")}
        return make_columns({"fold": self.names, **sizes})

    @property
    def _class_sizes(self) -> tuple[int, int]:
        return sum(fold.n_positives for fold in self), sum(fold.n_negatives for fold in self)

    def pool(self) -> Ranking:
        """Add up the folds' counts at each threshold (micro-averaging).

        Returns
        -------
        Ranking
            The ranking of all folds' rows. Intervals and tests of this ranking are available only if no row can be in
            two folds, as with folds made by `from_scores`.

        Raises
        ------
        ValueError
            If the total weight of all folds overflows.
        """
        first, *others = (fold.pos_label for fold in self)
        are_alike = all(each == first for each in others)
        pool = Ranking.__new__(Ranking)
        pool._set_parts(
            pooled_counts(self.rankings), *self._class_sizes,
            first if are_alike else 1, self.rankings[0]._neg_label if are_alike else None,
            rows_repeat=not getattr(self, "_are_apart", False),  # unknown if pickled by 0.3
        )  # fmt: skip
        return pool

    def roc_curve(self, *, average: RateAverage = "micro") -> RocCurve:
        """Average the folds' ROC curves.

        Parameters
        ----------
        average : {"micro", "macro", "vertical"}
            How to average, as described for `RankingFolds`. A vertical average has no thresholds (NaN), and its area is
            the mean of the folds' AUCs.

        Returns
        -------
        RocCurve
            The average, with the thresholds of all folds.

        Raises
        ------
        ValueError
            If `average` has another value.
        """
        return self._averaged(RocCurve, average, RateAverage)

    def det_curve(self, *, average: RateAverage = "micro") -> DetCurve:
        """Average the folds' DET curves: FPR and FNR.

        Parameters
        ----------
        average : {"micro", "macro", "vertical"}
            As for `roc_curve`.

        Returns
        -------
        DetCurve
            The average, with the thresholds of all folds.

        Raises
        ------
        ValueError
            If `average` has another value.
        """
        return self._averaged(DetCurve, average, RateAverage)

    def cost_curve(self, *, average: FoldAverage = "micro") -> CostCurve:
        """Average the folds' cost curves.

        Parameters
        ----------
        average : {"micro", "macro"}
            The rates of each threshold's line: the rates of the pooled counts ("micro"), or the averages of the folds'
            FPR and FNR ("macro").

        Returns
        -------
        CostCurve
            The average, with the thresholds of all folds. Each threshold applies to every fold, so no fold
            is judged at a threshold chosen for that fold alone.

        Raises
        ------
        ValueError
            If `average` has another value.
        """
        return self._averaged(CostCurve, average)

    def precision_recall_curve(self, *, average: FoldAverage = "micro") -> PrecisionRecallCurve:
        """Average the folds' P-R curves.

        Parameters
        ----------
        average : {"micro", "macro"}
            "micro" uses precision and recall of the pooled counts, "macro" the averages of the folds' values at each
            threshold. A fold that predicts no row positive at a threshold has no precision there and is left out of the
            average. (There is no vertical average: a mean of precisions is not the precision of any counts, so no
            threshold would attain the curve between two recalls.)

        Returns
        -------
        PrecisionRecallCurve
            The average, with the thresholds of all folds. Between two points of a macro curve, the counts that have
            these precisions and recalls are interpolated linearly.

        Raises
        ------
        ValueError
            If `average` has another value.
        """
        return self._averaged(PrecisionRecallCurve, average)

    def gain_curve(self, *, average: FoldAverage = "micro") -> GainCurve:
        """Average the folds' gain curves: the share of rows and the share of positives found.

        Parameters
        ----------
        average : {"micro", "macro"}
            "micro" uses shares of the pooled counts, "macro" the averages of the folds' shares at each threshold.

        Returns
        -------
        GainCurve
            The average, with the thresholds of all folds.

        Raises
        ------
        ValueError
            If `average` has another value.
        """
        return self._averaged(GainCurve, average)

    def lift_curve(self, *, average: FoldAverage = "micro") -> LiftCurve:
        """Average the folds' gain curves as `gain_curve` does, and divide the gain by the share of rows.

        Parameters
        ----------
        average : {"micro", "macro"}
            As for `gain_curve`.

        Returns
        -------
        LiftCurve
            The average, with the thresholds of all folds.

        Raises
        ------
        ValueError
            If `average` has another value.
        """
        return self._averaged(LiftCurve, average)

    def _averaged(self, kind: type[C], average: RateAverage, averages: Any = FoldAverage) -> C:
        """Make a curve from the pooled counts, or from counts whose rates are the folds' averages."""
        check_choice("average", average, averages)
        if average == "micro":
            return kind(self.pool().counts)
        mean = mean_at_each_fpr if average == "vertical" else MEANS[entry_of(kind).averaged]
        return kind(mean(self.rankings))


PooledRanking = Ranking  # `pool` returned this class until 0.4: old pickles name it


# Sums and averages -------------------------------------------------------------------------------------------------


def pooled_counts(rankings: Sequence[Ranking]) -> ThresholdCounts:
    """Add up the counts at each threshold."""
    _check_pooled("rankings", sum(float(each.counts.n_pos) + float(each.counts.n_neg) for each in rankings))
    return ThresholdCounts.merge(each.counts for each in rankings)


@named_by_base
class AveragedCounts(ThresholdCounts):
    """Averages over folds or classes in place of counts, for curves only; averages may break the rules of counts.

    Averages can't be added. The thresholds of a vertical average are NaN after the first; in an average of P-R curves,
    `fps` may decrease.
    """

    __slots__ = ()


def mean_rates(rankings: Sequence[Ranking]) -> AveragedCounts:
    """Average TPR and FPR at each threshold."""
    thresholds, tpr, fpr = _over_thresholds(rankings, lambda at: (cells.recall(at), cells.false_positive_rate(at)))
    return AveragedCounts._unchecked(thresholds, tpr / len(rankings), fpr / len(rankings))


def mean_precision_and_recall(rankings: Sequence[Ranking]) -> AveragedCounts:
    """Return counts, with one positive row in total, that have the average precision and recall at each threshold."""
    thresholds, recall, false, precision, defined = _over_thresholds(rankings, _recall_and_precision)
    recall, precision = recall / len(rankings), cells.ratio(precision, defined)
    # Where recall is 0, use the average of false positives.
    attained = recall > 0
    false = np.where(attained, recall * (1 / np.where(attained, precision, 1.0) - 1), false / len(rankings))
    return AveragedCounts._unchecked(thresholds, recall, false)


def mean_shares(rankings: Sequence[Ranking]) -> AveragedCounts:
    """Return counts, with one positive row in total, whose shares of rows and of positives found are the averages."""
    thresholds, gain, share = _over_thresholds(rankings, lambda at: (cells.recall(at), _share_predicted(at)))
    # Any number of rows would do. With the number of the fold with the lowest share of positives, no count is negative.
    n_rows = max(1 + each.counts.n_neg / each.counts.n_pos for each in rankings)
    recall = gain / len(rankings)
    return AveragedCounts._unchecked(thresholds, recall, np.maximum(share / len(rankings) * n_rows - recall, 0.0))


def mean_at_each_fpr(rankings: Sequence[Ranking]) -> AveragedCounts:
    """Average the TPR at each FPR; jumps remain jumps, so the polyline through the points of all folds is exact."""
    lines = []
    for each in rankings:
        at = corners(each.counts).cells()
        lines.append(Polyline(cells.false_positive_rate(at), cells.recall(at)))
    fpr, tpr = mean_line(lines)
    return without_thresholds(tpr, fpr)


def mean_line(lines: Sequence[Polyline], y_at: Callable[[Values, Values], Values] = lambda x, y: y) -> Polyline:
    """Average lines at each x of any of them; where lines jump, so does the mean.

    The lines have the same first and last x. `y_at(x, y)` is averaged instead of y.
    """
    x = sorted_unique(np.concatenate([line.x for line in lines]))
    sides, sums = np.empty((2, x.size)), np.zeros((2, x.size))
    for line in lines:
        both_sides(x, *line, *sides)
        sums += y_at(x, sides)
    x, y = np.repeat(x, 2), (sums / len(lines)).T.ravel()
    kept = np.append(True, (np.diff(x) != 0) | (np.diff(y) != 0))
    return Polyline(x[kept], y[kept])


def without_thresholds(tps: Values, fps: Values) -> AveragedCounts:
    """Return averages whose points have no thresholds."""
    thresholds = np.full(tps.size, np.nan)
    thresholds[0] = np.inf
    return AveragedCounts._unchecked(thresholds, tps, fps)


MEANS: dict[str, Callable[[Sequence[Ranking]], ThresholdCounts]] = {  # by their names in the entries of curves
    "rates": mean_rates,
    "shares": mean_shares,
    "precision_and_recall": mean_precision_and_recall,
}


def _over_thresholds(rankings: Sequence[Ranking], terms: Callable[[Cells], tuple[Any, ...]]) -> list[NDArray[Any]]:
    """Return the thresholds of all rankings, descending; at each threshold, add up `terms(cells)` over rankings."""
    counts = [each.counts for each in rankings]
    thresholds = ThresholdCounts.merge(counts).thresholds
    sums: list[Any] = []
    for each in counts:
        rows = rows_at_each(each, thresholds)
        values = terms(each.cells(rows))
        sums = list(values) if not sums else [a + b for a, b in zip(sums, values, strict=True)]
    return [thresholds, *sums]


def _recall_and_precision(at: Cells) -> tuple[Any, ...]:
    """Return recall, false positives per positive row, precision (0 where undefined) and whether it is defined."""
    predicted = at.tp + at.fp > 0
    precision = np.where(predicted, cells.precision(at), 0.0)
    return cells.recall(at), cells.ratio(at.fp, at.tp + at.fn), precision, predicted.astype(np.int64)


def _share_predicted(at: Cells) -> Any:
    return cells.ratio(at.tp + at.fp, at.tp + at.fp + at.fn + at.tn)


# Checks ------------------------------------------------------------------------------------------------------------


def _as_list(name: str, values: Any) -> list[Any]:
    """Return a sequence as a list."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise ValueError(f"{name} must be a sequence or a mapping, got {show(values)}")
    return list(values)


def _check_folds(name: str, rankings: Mapping[Any, Any], kind: Any) -> None:
    """Raise unless there are folds, all of one kind, each with both classes."""
    if not rankings:
        raise ValueError(f"{name} is empty: it must have at least one fold")
    ranking: Any
    for fold, ranking in rankings.items():
        if not isinstance(ranking, kind):
            hint = ": merge summaries, and take the ranking of all rows" if counts_rows(ranking) else ""
            raise ValueError(
                f"{name} must hold {kind.__name__}s, but fold {show(fold)} is a {type(ranking).__name__}{hint}"
            )
        for side, rows in (("positives", ranking.n_positives), ("negatives", ranking.n_negatives)):
            if not rows:
                raise ValueError(f"each fold must have both classes, but fold {show(fold)} has no {side}")


def _check_fold_number(name: str, distinct: NDArray[Any]) -> None:
    """Raise if there are more distinct values than folds are allowed."""
    if distinct.size > MOST_FOLDS:
        raise ValueError(f"{name} must have at most {MOST_FOLDS} distinct values, got {distinct.size}")


def _check_fold_weight(fold: Any, weights: NDArray[np.float64] | None) -> None:
    """Raise if all rows of a fold have weight zero."""
    if weights is not None and not weights.any():
        raise ValueError(f"each fold must have a row of weight above zero, but fold {show(fold)} has none")


def _check_two_labels(name: str, labels: NDArray[Any], positive: Any) -> None:
    """Raise if there is a third label."""
    others = labels[labels != positive]
    if others.size and (others != others[0]).any():
        raise_not_binary(name, labels)


def _check_pooled(name: str, total: Any) -> None:
    """Raise if the folds' total weight overflows."""
    if not np.isfinite(total):
        raise ValueError(f"{name} must have weights of a finite sum, but pooled they overflow")
