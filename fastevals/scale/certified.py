"""Inexact results of summaries: numbers with certified bounds, and pairs of curves that enclose the exact curve."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from operator import methodcaller
from types import MappingProxyType
from typing import Any, Generic, Literal, NoReturn, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._distinct import sorted_unique
from fastevals._options import as_flag, check_choice, check_costs, check_exactly_one, show, warn_undefined
from fastevals._validation.arrays import Floats, Places, as_thresholds, check_probabilities
from fastevals._validation.labels import Classes
from fastevals.counting.ordering import FLOATS
from fastevals.counts import Cells, ThresholdCounts
from fastevals.document.frames import Columns, make_columns
from fastevals.document.scalars import Scalar, scalars_of_attributes
from fastevals.measure import ranking_metrics
from fastevals.measure import thresholds as at_thresholds
from fastevals.measure.confusion import ConfusionMatrix
from fastevals.measure.curves.cost import CostCurve
from fastevals.measure.curves.decision import DecisionCurve, net_benefit
from fastevals.measure.curves.gain import GainCurve, LiftCurve
from fastevals.measure.curves.precision_recall import PrecisionRecallCurve
from fastevals.measure.curves.registry import entry_of
from fastevals.measure.curves.risk_coverage import RiskCoverageCurve
from fastevals.measure.curves.roc import DetCurve, RocCurve
from fastevals.measure.metric_specs import MetricSpec, RankingMetric, ranking_metric
from fastevals.measure.ranking.base import BaseRanking, Doubt
from fastevals.measure.ranking.ranking import Ranking
from fastevals.measure.ranking.squares import SquaredWeights
from fastevals.measure.registry import METRICS, Detail, find_criterion
from fastevals.results import Frozen, OperatingPoint
from fastevals.scale.cells import ScoreCells
from fastevals.scale.rounding import BETTER, WORSE, LooseCounts, Spare, moved, moved_cells, moved_curve
from fastevals.scale.squares import RowSums

LARGEST_SCORE = float(np.finfo(np.float64).max)
NOTHING: Mapping[str, float] = MappingProxyType({})
SUM_ROUNDING = 2.0**-46  # relative error, larger than the rounding of sums over all cells
NO_SPARE = Spare()


@dataclass(frozen=True, slots=True, repr=False)
class Certified(Frozen):
    """A number with bounds that always contain the exact value; the bounds are not a confidence interval.

    ``float()`` returns the value.

    Attributes
    ----------
    value : float
        The value that results if all rows of each cell have the same score.
    low, high : float
        Certified bounds: the exact value lies between `low` and `high`.

    Examples
    --------
    >>> from fastevals.scale.certified import Certified
    >>> Certified(0.8, 0.799, 0.801)
    Certified(0.8, exact value in [0.799, 0.801])
    """

    value: float
    low: float
    high: float

    def __float__(self) -> float:
        return float(self.value)

    def __format__(self, spec: str) -> str:
        return format(self.value, spec) if spec else repr(self)

    def _columns(self) -> Columns:
        return make_columns({"value": self.value, "low": self.low, "high": self.high})

    def _scalars(self) -> Iterable[Scalar]:
        numbers = {"value": self.value, "value_bound_lower": self.low, "value_bound_upper": self.high}
        return scalars_of_attributes(numbers.items())

    @property
    def width(self) -> float:
        """The distance between the bounds."""
        return self.high - self.low

    def __repr__(self) -> str:
        digits = 6
        if 0 < self.width < math.inf:  # enough digits to distinguish the bounds
            digits = max(digits, 2 - math.floor(math.log10(self.width)))
        numbers = (f"{number:.{min(digits, 17)}g}" for number in (self.value, self.low, self.high))
        return "Certified({}, exact value in [{}, {}])".format(*numbers)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CertifiedValues(Frozen):
    """Numbers with bounds that always contain the exact values, like `Certified`; an array is made from the values.

    Attributes
    ----------
    value, low, high : ndarray
        The values, and certified bounds of the exact values; NaN where undefined.

    Examples
    --------
    >>> from fastevals.scale.certified import CertifiedValues
    >>> import numpy as np
    >>> CertifiedValues(np.array([0.8, 0.9]), np.array([0.79, 0.9]), np.array([0.81, 0.9]))
    CertifiedValues([0.8, 0.9], bounds at most 0.02 apart)
    """

    value: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]

    def __array__(self, *arguments: Any, **options: Any) -> NDArray[Any]:
        return np.array(self.value, *arguments, **options)

    def __len__(self) -> int:
        return len(self.value)

    @property
    def width(self) -> NDArray[np.float64]:
        """The distance between the bounds of each value."""
        return self.high - self.low

    def _columns(self) -> Columns:
        return make_columns({name: getattr(self, name).ravel() for name in ("value", "low", "high")})

    def __repr__(self) -> str:
        values = np.array2string(self.value, precision=6, separator=", ", threshold=20)
        return f"CertifiedValues({values}, bounds at most {np.nanmax(self.width):.2g} apart)"


C = TypeVar("C")


def certify(cells: ScoreCells, spec: MetricSpec, spare: Spare = NO_SPARE, unit: float = 1.0) -> float | Certified:
    """Return a metric: a float if all data sets that the cells describe have the same value, otherwise a `Certified`.

    A weight of 1 counts as `unit` units, and the total weight of each class may be up to `spare` units more or less.
    Raise ValueError if the metric is not exact and has no known bounds.
    """
    metric = ranking_metric(spec, unit=unit)
    entry, is_certain = METRICS[spec.name], cells.detail >= metric.detail
    if metric.threshold is not None:
        is_certain = (
            len({counts.cells(counts.rows_at_least(metric.threshold)) for counts in (cells.worst, cells.best)}) == 1
        )
    elif not cells.totals.all() and {"recall", "tpr"} & spec.options.keys():  # not certain even with one class
        is_certain = cells.are_atoms
    if is_certain and spare.is_none:
        return float(metric.of_counts(cells.middle))
    value = metric.of_counts(cells.middle)
    own = _OWN_BOUNDS.get(entry.certificate) if not spec.options else None
    if own is not None:
        low, high = own(cells, spare)
    elif at_thresholds.QUOTA in spec.options and entry.monotone:
        assert metric.of_cells is not None
        (limit,) = metric.parameters
        ends = _cells_within_quota(cells, limit, spare)
        low, high = _ends_of(*(metric.of_cells(at) for at in ends))
    elif is_monotone(spec) or (
        metric.threshold is not None and (entry.monotone or (is_certain and entry.certificate == "thresholds"))
    ):
        move = LooseCounts.of if entry.of == "cells" else moved_curve
        low, high = sorted(
            metric.of_counts(move(counts, spare, side)) for counts, side in ((cells.worst, WORSE), (cells.best, BETTER))
        )
    elif metric.threshold is not None and entry.certificate == "corners":
        low, high = _ends_of(*_values_at_corners(cells, metric, spare))
    elif entry.of == "probabilities":
        raise_untold(str(spec))
    else:
        raise ValueError(
            f"{spec} is not exact: rows were counted in ranges of scores, and no bounds are known for it. "
            "Compute it from exact counts, or at a cut"
        )
    if math.isnan(low) and math.isnan(high) and math.isnan(value):  # undefined in all data sets that fit the cells
        return math.nan
    if math.isnan(high):  # the best case is undefined, and so is every case better than the worst
        high = low
    elif math.isnan(low):  # the worst case is undefined
        low = entry.bounds[0]
    if not math.isnan(value):
        low, high = _ends_of(low, high, value)
    return Certified(value, *widened(low, high, spare.share(cells.middle), metric.bounds))


def widened(low: float, high: float, share: float, bounds: tuple[float, float]) -> tuple[float, float]:
    """Widen bounds by the rounding of sums, but not beyond the bounds of the metric itself.

    `share` is the largest relative error of a mean over rows. Both its sum and its total weight may be off.
    """
    spare = (SUM_ROUNDING + share) * max(abs(low), abs(high)) if math.isfinite(low) and math.isfinite(high) else 0.0
    return max(low - spare, bounds[0]), min(high + spare, bounds[1])


def is_monotone(spec: MetricSpec) -> bool:
    """Return whether a metric never gets worse when a positive moves up or a negative down."""
    entry, where = METRICS[spec.name], [name for name in spec.options if name in ("best", *at_thresholds.CONSTRAINTS)]
    if entry.of != "cells":
        return entry.monotone
    if where == ["best"]:  # monotone if the metric is monotone at each threshold
        return entry.monotone and spec.options["best"] == spec.name
    # The best rate under a constraint is monotone if the constrained rate does not get worse either.
    return (
        len(where) == 1
        and where[0] != at_thresholds.QUOTA
        and at_thresholds.CONSTRAINTS[where[0]].best is entry.function
    )


def _cells_within_quota(cells: ScoreCells, limit: float, spare: Spare) -> tuple[Cells, Cells]:
    """Return the worst and the best possible confusion matrix cells if at most `limit` units are predicted positive.

    The limit admits all rows above some cut, and possibly some of the rows between that cut and the next lower one. If
    weights were rounded, the limit may admit slightly fewer or more units; then confusion matrix cells are returned for
    each cut that is possible.
    """
    cuts, limits = cells.at_cuts, _limits_of_quota(cells, limit, spare)
    first, last = (at_thresholds.row_within(cuts, at_thresholds.QUOTA, each) for each in limits)
    assert first is not None
    assert last is not None
    rows = np.arange(first, last + 1)
    tp, fp, fn, tn = cuts.cells(rows)
    after = np.minimum(rows + 1, cuts.thresholds.size - 1)
    bottom, top = np.searchsorted(cells.low, FLOATS.encode(cuts.thresholds[np.stack((after, rows))]))
    tied = (top - bottom == 1) & (cells.low[bottom] == cells.high[bottom])  # rows with one score are predicted alike
    left = np.where(tied, 0, np.floor(limits[1] - tp - fp))
    more_tp, more_fp = (
        np.minimum(sums[after] - at, left).astype(np.int64) for sums, at in ((cuts.tps, tp), (cuts.fps, fp))
    )
    worst, best = Cells(tp, fp + more_fp, fn, tn - more_fp), Cells(tp + more_tp, fp, fn - more_tp, tn)
    return moved_cells(worst, spare, WORSE), moved_cells(best, spare, BETTER)


def _values_at_corners(cells: ScoreCells, metric: RankingMetric, spare: Spare) -> Iterator[Any]:
    """Yield a metric of cells at a threshold for all combinations of extreme counts, each moved by rounding."""
    assert metric.of_cells is not None
    ends = [counts.cells(counts.rows_at_least(metric.threshold)) for counts in (cells.worst, cells.best)]
    off = spare.positives, spare.negatives, spare.positives, spare.negatives
    for positives, negatives, *sides in product(ends, ends, *[(WORSE, BETTER)] * 4):
        at = positives.tp, negatives.fp, positives.fn, negatives.tn
        yield metric.of_cells(Cells(*map(moved, at, off, sides)))


def _limits_of_quota(cells: ScoreCells, limit: float, spare: Spare) -> tuple[float, float]:
    """Return the fewest and the most units that may fill a quota, given the possible error of sums of weights."""
    limit = min(limit, float(cells.totals.sum()))
    off = 2 * sum(spare) + SUM_ROUNDING * limit
    return max(limit - off, 0.0), limit + off


def _ends_of(*values: Any) -> tuple[float, float]:
    """Return the smallest and the largest value, ignoring NaN; NaN if there is no other value."""
    every = np.concatenate([np.atleast_1d(each) for each in values])
    return float(np.fmin.reduce(every)), float(np.fmax.reduce(every))


# Metrics with bounds of their own -----------------------------------------------------------------------------------


def _average_precision_bounds(cells: ScoreCells, spare: Spare) -> tuple[float, float]:
    """Return bounds on average precision, summed cell by cell.

    The value is largest if all positives of a cell are tied at its top, and as few negatives as possible score that
    high or higher. The value is smallest if the positives come one by one at the cell's bottom. With T positives and F
    negatives above, the j-th positive then has precision (T + j) / (T + j + F), which is concave in j, so the trapezoid
    over j is at most the sum. If weights were rounded, a row weighs at least half a unit, and the weight of each
    precision in the average may be off too.
    """
    positives = cells.counts[:, 1].astype(np.float64)
    held = positives > 0
    if not held.any():
        return math.nan, math.nan
    low, high, gained = cells.low[held], cells.high[held], positives[held]
    best, worst = cells.best, cells.worst
    keys_best, keys_worst = (FLOATS.encode(counts.thresholds[:0:-1]) for counts in (best, worst))

    def at_least(counts: NDArray[Any], keys: NDArray[np.uint64], limit: NDArray[np.uint64]) -> NDArray[np.float64]:
        """Return the count of rows at or above each limit; `counts` is by descending threshold, `keys` ascends."""
        return counts[keys.size - np.searchsorted(keys, limit)].astype(np.float64)

    most_positives = at_least(best.tps, keys_best, low)
    fewest_negatives = at_least(best.fps, keys_best, high)
    most_positives = moved(most_positives, spare.positives, BETTER)
    fewest_negatives = moved(fewest_negatives, spare.negatives, WORSE)
    most = float((gained * (most_positives / (most_positives + fewest_negatives))).sum())
    fewest_positives = at_least(worst.tps, keys_worst, high)  # includes positives of an atom, but not of a wider cell
    most_negatives = at_least(worst.fps, keys_worst, low)
    atom = low == high
    fewest_positives = moved(fewest_positives, spare.positives, WORSE)
    most_negatives = moved(most_negatives, spare.negatives, BETTER)
    start = fewest_positives + (1.0 if spare.is_none else 0.5)
    stop = fewest_positives + np.where(atom, 0, moved(gained, spare.positives, WORSE))
    ends = (start / (start + most_negatives), stop / np.maximum(stop + most_negatives, 1))
    least = float((gained * np.where(atom, ends[1], (ends[0] + ends[1]) / 2)).sum())
    total = float(positives.sum())
    elsewhere = min(spare.positives / max(total - spare.positives, total / 2), 1.0)
    return least / total - elsewhere, most / total + elsewhere


def _ks_bounds(cells: ScoreCells, spare: Spare) -> tuple[float, float]:
    """Return bounds on KS, the larger of the two one-sided distances."""
    ends = []
    for counts in (moved_curve(cells.worst, spare, WORSE), moved_curve(cells.best, spare, BETTER)):
        with np.errstate(invalid="ignore"):  # if a class has no rows
            distance = counts.tps / counts.n_pos - counts.fps / counts.n_neg
        ends.append((float(distance.max()), float(-distance.min())))
    (above_worst, below_worst), (above_best, below_best) = ends
    low, high = max(above_worst, below_best), max(above_best, below_worst)
    return low, high


_OWN_BOUNDS: dict[str, Callable[[ScoreCells, Spare], tuple[float, float]]] = {
    "steps": _average_precision_bounds,
    "distances": _ks_bounds,
}


# Rankings -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, repr=False)
class CertifiedCurve(Generic[C]):
    """Two curves that enclose the rows' own curve, and points that lie exactly on the rows' own curve.

    Attributes
    ----------
    worst, best : curve
        Curves of the worst and the best possible rows. The rows' own curve lies between these two everywhere.
    points : curve
        The curve through the points at cuts, where counts are exact.
    """

    worst: C
    best: C
    points: C

    def __repr__(self) -> str:
        return f"CertifiedCurve({self.points!r}, between two others)"

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(
            f"{name} is not known for a curve with bounds: use its points, which are exact, or its worst and best"
        )

    @property
    def area(self) -> Certified:
        """The area below the curve."""
        curves: tuple[Any, ...] = self.worst, self.best, self.points
        *ends, value = (float(each.area) for each in curves)
        low, high = sorted(ends)
        return Certified(min(max(value, low), high), low, high)

    def at(self, *place: ArrayLike, **places: Any) -> Any:
        """Return the curve's `at` with bounds; for an array, return the smallest and the largest values."""
        if places.get("threshold") is not None:
            raise ValueError("a curve with bounds has no point at a threshold: use confusion_at with bounds=True")
        low, high = self._ends_at(*place, **places)
        if low.ndim:
            return low, high
        value = float(np.asarray(_value_of(self.points.at(*place, **places))))  # type: ignore[attr-defined]
        return Certified(min(max(value, float(low)), float(high)), float(low), float(high))

    def hull(self) -> CertifiedCurve[C]:
        """Return the hulls of the curves."""
        return self._each(methodcaller("hull"))

    def over_prior(self, **costs: Any) -> CertifiedCurve[Any]:
        """For cost curves, return the costs as functions of the prior."""
        return self._each(methodcaller("over_prior", **costs))

    def _each(self, make: Callable[[Any], Any]) -> CertifiedCurve[Any]:
        return CertifiedCurve(*map(make, (self.worst, self.best, self.points)))

    def _ends_at(self, *place: Any, **places: Any) -> NDArray[np.float64]:
        """Call `at` on the worst and the best curve; return the smaller and the larger value."""
        curves: tuple[Any, ...] = self.worst, self.best
        return np.sort([_value_of(curve.at(*place, **places)) for curve in curves], axis=0)


def _value_of(found: Any) -> Any:
    return found.value if isinstance(found, OperatingPoint) else found


class CertifiedRanking(BaseRanking):
    """A ranking of rows that were counted in ranges of scores, with the methods of a `Ranking`.

    Numbers that the counts in ranges determine are floats; others are `Certified`. Confusion matrices and best
    thresholds are computed at cuts, where counts are exact. Metrics that need more than cells, such as the Brier score,
    raise an error.

    Parameters
    ----------
    cells : ScoreCells
        The rows.
    classes : Classes
        The names of the classes.
    unit : float, optional
        The unit in which the cells count weights.
    spare : Spare
        Units by which the total weight of each class may differ from the counted weight.
    rows : tuple of int, optional
        Numbers of positive and negative rows, if cells count units of weight.
    known : mapping of str to float, optional
        Known values of metrics by name, computed elsewhere.
    moments : PlacementMoments, optional
        DeLong's moments, if known.
    sums : RowSums, optional
        Numbers of rows and sums of cubed weights, if the cells have squared weights.
    """

    __slots__ = ("_known", "_moments", "_names", "_spare", "_sums", "_unit", "cells", "n_negatives", "n_positives")

    def __init__(
        self,
        cells: ScoreCells,
        classes: Classes,
        *,
        unit: float | None = None,
        spare: Spare = NO_SPARE,
        rows: tuple[int, int] | None = None,
        known: Mapping[str, float] = NOTHING,
        moments: Any = None,
        sums: RowSums | None = None,
    ) -> None:
        self.cells, self._names, self._unit, self._spare = cells, classes, unit, spare
        self._known, self._moments, self._sums = dict(known), moments, sums
        if rows is None:
            n_negatives, n_positives = cells.count_rows(sums, weighted=unit is not None)
        else:
            n_positives, n_negatives = rows
        self.n_positives, self.n_negatives = n_positives, n_negatives

    def __setstate__(self, state: tuple[None, dict[str, Any]]) -> None:
        """Restore a pickled state, including states from versions 0.3 and 0.4."""
        slots = state[1]
        if slots.get("_rounding"):
            raise ValueError(
                "the bounds are wrong, because version 0.3 rounded the weights: count the rows of the pickled "
                "ranking again"
            )
        if "_classes" in slots:
            CertifiedRanking.__init__(
                self, slots["cells"], slots["_classes"], unit=slots["_unit"], known=slots["_known"]
            )
        else:
            for name, value in {"_moments": None, "_sums": None, **slots}.items():
                setattr(self, name, value)

    def _classes(self) -> Classes:
        return self._names

    @property
    def counts(self) -> ThresholdCounts:
        """Raise ValueError: counts at each score are unknown for ranges of scores."""
        raise ValueError(
            "counts at each score are not known for ranges of scores: `at_cuts` has the counts between ranges"
        )

    @property
    def is_weighted(self) -> bool:
        """Whether counts are sums of weights."""
        return self._unit is not None

    def _counts_and_doubts(self, specs: Mapping[str, Any]) -> tuple[BaseRanking, dict[str, Doubt]]:
        """Return the ranking in which all rows of a range tie, and by how much its metrics may be off."""
        counts = self.cells.middle if self._unit is None else self.cells.middle.in_weight(self._unit)
        ranking = Ranking._of_threshold_counts("a ranking", counts, self.pos_label)
        ranking._squared = self._squares
        doubts = {}
        for label, spec in specs.items():
            if not isinstance(spec, MetricSpec):
                raise ValueError(f"metrics of a ranking that is not exact must have names, got {show(spec)}")
            known = self._known_value(spec)
            if known is not None:
                drawn = ranking_metric(spec).of_counts(ranking.counts)
                doubts[label] = drawn - known, known - drawn
                continue
            found = certify(self.cells, spec, self._spare, 1 / (self._unit or 1.0))
            if isinstance(found, Certified):
                doubts[label] = found.value - found.low, found.high - found.value
        return ranking, doubts

    @property
    def _squares(self) -> SquaredWeights | None:
        """Sums of squared weights with all rows of a range tied."""
        return self.cells.squares_at(self.cells.middle, self.cells.middle_keys, self._unit, self._sums)

    @property
    def squares_at_cuts(self) -> SquaredWeights | None:
        """Sums of squared weights at the thresholds of `at_cuts`."""
        return self.cells.squares_at(self.cells.at_cuts, self.cells.low, self._unit, self._sums)

    @property
    def at_cuts(self) -> ThresholdCounts:
        """Counts, or sums of weights, at thresholds between cells."""
        counts = self.cells.at_cuts
        return counts if self._unit is None else counts.in_weight(self._unit)

    def _known_value(self, spec: MetricSpec) -> float | None:
        return None if spec.options else self._known.get(spec.name)

    def _in_weight(self, units: Any) -> Any:
        return units if self._unit is None else units * self._unit

    # Numbers ----------------------------------------------------------------------------------------------------------

    def metric(self, spec: MetricSpec) -> float | Certified:
        """Return any metric of scores with its certificate; warn if it is undefined."""
        known = self._known_value(spec)
        value = certify(self.cells, spec, self._spare, 1 / (self._unit or 1.0)) if known is None else known
        if math.isnan(float(value)):
            missing = [side for side, n in (("positives", self.n_positives), ("negatives", self.n_negatives)) if not n]
            warn_undefined(str(spec), f"y_true has no {missing[0]}" if missing else "it is 0 / 0")
        return value

    def roc_auc(  # type: ignore[override]
        self, *, max_fpr: float | None = None, min_tpr: float | None = None, standardize: bool = True
    ) -> float | Certified:
        """Return `Ranking.roc_auc`, with bounds unless it is exact."""
        limits = {name: value for name, value in (("max_fpr", max_fpr), ("min_tpr", min_tpr)) if value is not None}
        standardize = as_flag("standardize", standardize)
        return self.metric(MetricSpec("roc_auc", {**limits, "standardize": standardize} if limits else {}))

    def rank_loss(self) -> float | Certified:  # type: ignore[override]
        """Return `Ranking.rank_loss`, with bounds unless it is exact."""
        return self.metric(MetricSpec("rank_loss", {}))

    def gini(self) -> float | Certified:  # type: ignore[override]
        """Return `Ranking.gini`, with bounds unless it is exact."""
        return self.metric(MetricSpec("gini", {}))

    def average_precision(self) -> float | Certified:  # type: ignore[override]
        """Return `Ranking.average_precision`, with bounds unless it is exact."""
        return self.metric(MetricSpec("average_precision", {}))

    def pr_auc(  # type: ignore[override]
        self, *, interpolation: ranking_metrics.Interpolation = "davis-goadrich"
    ) -> float | Certified:
        """Return `Ranking.pr_auc`, with bounds unless it is exact; no bounds are known for "linear"."""
        check_choice("interpolation", interpolation, ranking_metrics.Interpolation)
        return self.metric(MetricSpec("pr_auc" if interpolation == "davis-goadrich" else "pr_auc_linear", {}))

    def ks_statistic(self) -> OperatingPoint:
        """Return `Ranking.ks_statistic`; the threshold is the best cut."""
        return self._point("ks_statistic", ranking_metrics.ks_statistic)

    def break_even_point(self) -> OperatingPoint:
        """Return `Ranking.break_even_point`; the threshold is the cut at that point or just past it."""
        return self._point("break_even_point", ranking_metrics.break_even_point)

    def equal_error_rate(self, *, on_hull: bool = False) -> OperatingPoint:
        """Return `Ranking.equal_error_rate`; the threshold is the cut at that point or just past it."""
        name = "equal_error_rate_on_hull" if as_flag("on_hull", on_hull) else "equal_error_rate"
        return self._point(name, lambda counts: ranking_metrics.equal_error_rate(counts, on_hull))

    def _point(self, name: str, function: Callable[[ThresholdCounts], OperatingPoint]) -> OperatingPoint:
        value: Any = self.metric(MetricSpec(name, {}))
        return OperatingPoint(value, function(self.cells.at_cuts).threshold)

    # Thresholds -------------------------------------------------------------------------------------------------------

    @overload
    def confusion_at(self, thresholds: float, *, bounds: Literal[False] = ...) -> ConfusionMatrix: ...
    @overload
    def confusion_at(self, thresholds: Places, *, bounds: Literal[False] = ...) -> ConfusionMatrix[Floats]: ...
    @overload
    def confusion_at(
        self, thresholds: ArrayLike, *, bounds: Literal[True]
    ) -> tuple[ConfusionMatrix, ConfusionMatrix]: ...
    def confusion_at(
        self, thresholds: ArrayLike, *, bounds: bool = False
    ) -> ConfusionMatrix[Any] | tuple[ConfusionMatrix[Any], ConfusionMatrix[Any]]:
        """Count the confusion matrix at a threshold, or at each threshold of an array.

        Parameters
        ----------
        thresholds : float or array-like
            Thresholds. They must be cuts, where counts are exact, unless `bounds` is true.
        bounds : bool
            If true, return two matrices, with the smallest and the largest possible numbers of correct predictions.

        Returns
        -------
        ConfusionMatrix, or a pair of them

        Raises
        ------
        ValueError
            If `bounds` is false, and either weights were rounded, or rows of one cell may be on both sides of a
            threshold (the message names the nearest cuts).
        """
        values = as_thresholds("thresholds", thresholds)
        if as_flag("bounds", bounds):
            fewest, most = (self._matrix(counts, values) for counts in self._loose())
            return fewest, most
        self._check_cuts(values)
        if not self._spare.is_none:
            raise ValueError(
                "counts at thresholds are not exact: weights were rounded to parts of largest_weight, by up to "
                f"{self._in_weight(sum(self._spare)):.2g}. Pass bounds=True"
            )
        return self._matrix(self.cells.at_cuts, values)

    def _loose(self) -> tuple[ThresholdCounts, ThresholdCounts]:
        """Return two sets of counts: the worst and the best possible confusion matrix cells at each threshold."""
        ends = ((self.cells.worst, WORSE), (self.cells.best, BETTER))
        worst, best = (LooseCounts.of(counts, self._spare, side) for counts, side in ends)
        return worst, best

    def _matrix(self, counts: ThresholdCounts, thresholds: NDArray[Any]) -> ConfusionMatrix[Any]:
        matrices = at_thresholds.confusion_counts(counts, thresholds)
        return ConfusionMatrix._from_counts(self._in_weight(matrices), self._names)

    def _check_cuts(self, thresholds: NDArray[Any]) -> None:
        """Raise unless counts at thresholds are exact."""
        finite = sorted_unique(thresholds[np.isfinite(thresholds)]).astype(np.float64) + 0.0
        keys = FLOATS.encode(finite)
        doubtful = self.cells.reach[np.searchsorted(self.cells.low, keys)] >= keys
        if doubtful.any():
            threshold = finite[np.argmax(doubtful)]
            cuts = self.cells.at_cuts.thresholds
            row = int(self.cells.at_cuts.rows_at_least(np.asarray(threshold)))
            below = cuts[row + 1] if row + 1 < cuts.size else -np.inf
            raise ValueError(
                f"counts at the threshold {threshold:.17g} are not exact: the nearest cuts are {below:.17g} and "
                f"{cuts[row]:.17g}. Pass it beforehand (at=), or pass bounds=True"
            )

    def best_threshold(
        self,
        metric: str | Callable[..., Any],
        *,
        maximize: bool | None = None,
        cost_fp: float = 1.0,
        cost_fn: float = 1.0,
        prior: float | None = None,
    ) -> OperatingPoint:
        """Find the best cut by a metric of the confusion matrix; arguments as for `Ranking.best_threshold`.

        The value is attained at that cut; its bounds show how much better the value may be at thresholds between cuts.
        """
        costs = check_costs(cost_fp, cost_fn, prior)
        value, threshold = at_thresholds.best_threshold(self.cells.at_cuts, metric, maximize, costs)
        bounds, greater, certificate, neutral = (-math.inf, math.inf), maximize is not False, "", None
        if not callable(metric):
            entry = find_criterion("metric", metric)
            metric, certificate, neutral = entry.name, entry.certificate, entry.neutral
            bounds, greater = entry.bounds, bool(entry.greater_is_better if maximize is None else maximize)
        best, least = bounds[int(greater)], value if self._spare.is_none else bounds[int(not greater)]
        if math.isnan(value):  # with one class, NaN everywhere; otherwise perhaps only at cuts
            best, least = (value, value) if ranking_metrics.one_class(self.cells.middle) else bounds
        monotone = certificate == "ends"
        if monotone and greater == entry.greater_is_better:
            best = float(at_thresholds.best_threshold(self._loose()[1], metric, maximize, costs))
            if not self._spare.is_none:
                cuts = LooseCounts.of(self.cells.at_cuts, self._spare, WORSE)
                least = float(at_thresholds.best_threshold(cuts, metric, maximize, costs))
        # The best is at a corner of the ROC polyline; for some metrics, only if it is better than a neutral value.
        at_corners = monotone or certificate == "thresholds"
        if neutral is not None:
            at_corners &= value > neutral if greater else value < neutral
        exact = self._is_exact and (at_corners or self.cells.are_atoms)
        return self._attained(value, threshold, (least, best), bounds, exact=exact)

    @property
    def _is_exact(self) -> bool:
        """Whether the best value over all thresholds is exact."""
        return self.cells.detail >= Detail.POLYLINE and self._spare.is_none

    def _attained(
        self, value: float, threshold: float, ends: tuple[float, float], bounds: tuple[float, float], *, exact: bool
    ) -> OperatingPoint:
        """Return the best value at a cut, with bounds for rounding and for better values between cuts."""
        undefined = math.isnan(value) and math.isnan(ends[1])
        if exact or undefined or ends == (value, value):
            return OperatingPoint(value, threshold)
        low, high = float(np.fmin.reduce((value, *ends))), float(np.fmax.reduce((value, *ends)))
        certified: Any = Certified(value, *widened(low, high, self._spare.share(self.cells.middle), bounds))
        return OperatingPoint(certified, threshold)

    def threshold_for(
        self,
        *,
        precision: float | None = None,
        recall: float | None = None,
        fpr: float | None = None,
        tpr: float | None = None,
        n_predicted: float | None = None,
    ) -> OperatingPoint:
        """Find the best cut that satisfies a constraint; arguments as for `Ranking.threshold_for`."""
        constraints = {"precision": precision, "recall": recall, "fpr": fpr, "tpr": tpr, "n_predicted": n_predicted}
        name, limit = check_exactly_one(constraints)
        if name == at_thresholds.QUOTA:
            limit = at_thresholds.checked_limit(name, limit) / (self._unit or 1.0)
        value, threshold = at_thresholds.threshold_for(self.cells.at_cuts, name, limit)
        worst, best = (0.0, 1.0)[:: at_thresholds.CONSTRAINTS[name].sign]
        least, fewest = value, limit
        if name == at_thresholds.QUOTA:
            fewest, _ = _limits_of_quota(self.cells, limit, self._spare)
            best = _ends_of(METRICS["recall"](_cells_within_quota(self.cells, limit, self._spare)[1]))[1]
        else:
            best = float(at_thresholds.threshold_for(self._loose()[1], name, limit))
        if not self._spare.is_none:
            cuts = LooseCounts.of(self.cells.at_cuts, self._spare, WORSE)
            least = float(at_thresholds.threshold_for(cuts, name, fewest))
        least = worst if math.isnan(least) else least  # perhaps no cut satisfies the limit once weights are exact
        exact = best == value and self._spare.is_none if name == at_thresholds.QUOTA else self._is_exact
        return self._attained(value, threshold, (least, best), (0.0, 1.0), exact=exact)

    def expected_cost(  # type: ignore[override]
        self, threshold: float, *, cost_fp: float = 1.0, cost_fn: float = 1.0, prior: float | None = None
    ) -> float | Certified:
        """Return `Ranking.expected_cost`, with bounds unless it is exact."""
        costs = check_costs(cost_fp, cost_fn, prior)
        at = as_thresholds("threshold", threshold, scalar=True)
        worst, best = (at_thresholds.expected_cost(counts, at, *costs) for counts in self._loose())
        return self._between(best, worst, METRICS["expected_cost"].bounds)

    @overload  # type: ignore[override]
    def net_benefit(self, threshold_probability: float, *, prior: float | None = ...) -> float | Certified: ...
    @overload
    def net_benefit(self, threshold_probability: Places, *, prior: float | None = ...) -> tuple[Floats, Floats]: ...
    def net_benefit(self, threshold_probability: ArrayLike, *, prior: float | None = None) -> Any:
        """Return `Ranking.net_benefit` with bounds; for an array, return the smallest and largest possible values."""
        ends = [
            net_benefit(
                moved_curve(_within_probabilities(counts), self._spare, side), threshold_probability, prior=prior
            )
            for counts, side in ((self.cells.worst, WORSE), (self.cells.best, BETTER))
        ]
        if np.ndim(ends[0]):
            return tuple(ends)
        low, high = ends
        return self._between(low, high, (-math.inf, 1.0))

    def _between(self, low: float, high: float, bounds: tuple[float, float]) -> float | Certified:
        if math.isnan(low):
            return math.nan
        if low == high and self._spare.is_none:
            return low
        return Certified((low + high) / 2, *widened(low, high, self._spare.share(self.cells.middle), bounds))

    # Curves -----------------------------------------------------------------------------------------------------------

    def roc_curve(  # type: ignore[override]
        self, *, drop_intermediate: bool = True
    ) -> RocCurve | CertifiedCurve[RocCurve]:
        """Return `Ranking.roc_curve`, or curves that enclose it."""
        return self._make_curve(RocCurve, as_flag("drop_intermediate", drop_intermediate))

    def det_curve(  # type: ignore[override]
        self, *, drop_intermediate: bool = True
    ) -> DetCurve | CertifiedCurve[DetCurve]:
        """Return `Ranking.det_curve`, or curves that enclose it."""
        return self._make_curve(DetCurve, as_flag("drop_intermediate", drop_intermediate))

    def precision_recall_curve(  # type: ignore[override]
        self,
    ) -> PrecisionRecallCurve | CertifiedCurve[PrecisionRecallCurve]:
        """Return `Ranking.precision_recall_curve`, or curves that enclose it."""
        return self._make_curve(PrecisionRecallCurve)

    def gain_curve(  # type: ignore[override]
        self,
    ) -> GainCurve | CertifiedCurve[GainCurve]:
        """Return `Ranking.gain_curve`, or curves that enclose it."""
        return self._make_curve(GainCurve)

    def lift_curve(  # type: ignore[override]
        self,
    ) -> LiftCurve | CertifiedCurve[LiftCurve]:
        """Return `Ranking.lift_curve`, or curves that enclose it."""
        return self._make_curve(LiftCurve)

    def risk_coverage_curve(  # type: ignore[override]
        self,
    ) -> RiskCoverageCurve | CertifiedCurve[RiskCoverageCurve]:
        """Return `Ranking.risk_coverage_curve`, or curves that enclose it."""
        return self._make_curve(RiskCoverageCurve)

    def cost_curve(  # type: ignore[override]
        self,
    ) -> CostCurve | CertifiedCurve[CostCurve]:
        """Return `Ranking.cost_curve`, or curves that enclose it."""
        return self._make_curve(CostCurve)

    def decision_curve(  # type: ignore[override]
        self, threshold_probability: ArrayLike | None = None, *, prior: float | None = None
    ) -> DecisionCurve | CertifiedCurve[DecisionCurve]:
        """Return two curves that enclose `Ranking.decision_curve`, and its points at cuts."""
        return self._make_curve(DecisionCurve, threshold_probability, prior=prior)

    def _make_curve(self, kind: type[C], *options: Any, **more: Any) -> C | CertifiedCurve[C]:  # type: ignore[override]
        """Return the rows' curve if the counts at cuts determine it, otherwise curves that enclose it."""
        entry = entry_of(kind)

        def make(counts: ThresholdCounts) -> C:
            counts = _within_probabilities(counts) if entry.needs == "probabilities" else counts
            return entry.of_counts(counts, *options, **more)  # type: ignore[no-any-return]

        points = make(self.cells.at_cuts)
        if entry.detail and self.cells.detail >= Detail[entry.detail] and self._spare.is_none:
            return points
        ends = (self.cells.worst, WORSE), (self.cells.best, BETTER)
        over_share = entry.x.number == "share" and entry.y.number != "risk"  # fewer positives: more risk at any share
        worst, best = (moved_curve(counts, self._spare, side, over_share=over_share) for counts, side in ends)
        return CertifiedCurve(make(worst), make(best), points)

    # Metrics that need more detail ------------------------------------------------------------------------------------

    def brier_score(self) -> NoReturn:
        """Raise ValueError, because ranges of scores do not determine the result."""
        raise_untold("the Brier score")

    def brier_decomposition(self, *bins: Any, **options: Any) -> NoReturn:
        """Raise ValueError, because ranges of scores do not determine the result."""
        raise_untold("the Brier score")

    def log_loss_decomposition(self) -> NoReturn:
        """Raise ValueError, because ranges of scores do not determine the result."""
        raise_untold("the log loss")

    def log_loss(self) -> NoReturn:
        """Raise ValueError, because ranges of scores do not determine the result."""
        raise_untold("the log loss")

    def mean_predicted(self) -> NoReturn:
        """Raise ValueError, because ranges of scores do not determine the result."""
        raise_untold("the mean predicted probability")

    def calibration_curve(self, *bins: Any, **options: Any) -> NoReturn:
        """Raise ValueError, because ranges of scores do not determine the result."""
        raise_untold("calibration")

    def reliability_curve(self) -> NoReturn:
        """Raise ValueError, because ranges of scores do not determine the result."""
        raise_untold("calibration")


def _within_probabilities(counts: ThresholdCounts) -> ThresholdCounts:
    """Return counts with probabilities 0 and 1 in place of the lowest and the highest float as thresholds."""
    thresholds = counts.thresholds.copy()
    known = thresholds[np.abs(thresholds) < LARGEST_SCORE]
    if known.size:
        check_probabilities("y_score", known[-1], known[0])
    for end, limit in ((thresholds == -LARGEST_SCORE, 0.0), (thresholds == LARGEST_SCORE, 1.0)):
        thresholds[end] = limit
    return ThresholdCounts._unchecked(thresholds, counts.tps, counts.fps)


def raise_untold(what: str) -> NoReturn:
    """Raise ValueError, recommending the summary that keeps sums of probabilities."""
    raise ValueError(f"ranges of scores are not enough for {what}: also count rows with a ProbabilitySummary")
