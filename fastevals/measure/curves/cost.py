"""Cost curves: expected cost plotted against a combination of prior and costs; lower envelopes and differences."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._distinct import sorted_union
from fastevals._kernels.areas import excess_of_log
from fastevals._options import as_flag, check_costs, check_exactly_one, check_number
from fastevals._validation.arrays import as_thresholds, power_of_two
from fastevals._validation.curves import as_shares, check_has_thresholds
from fastevals.counts import ThresholdCounts
from fastevals.document.frames import Columns, make_columns
from fastevals.measure import cells, ranking_metrics
from fastevals.measure.cells import ratio
from fastevals.measure.curves import rates
from fastevals.measure.curves.base import SHARE_ROUNDING, Curve, Polyline, limits
from fastevals.results import Frozen, Interval, OperatingPoint, number_or_array

ROUNDING_OF_PLACE = 8 * np.finfo(np.float64).eps  # largest relative error of PC(+) computed from a prior and costs


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CostCurve(Curve):
    """Normalised expected cost as a function of PC(+), one line per threshold; unpacks as ``fpr, fnr, thresholds``.

    PC(+) = p cost_fn / (p cost_fn + (1 - p) cost_fp), where the prior p is the share of positives in the population
    on which the classifier will be used. A single axis thus covers every prior and every ratio of costs. The cost of a
    threshold is a straight line from its FPR at PC(+) = 0 to its FNR at 1; predicting every row wrong costs 1. The
    curve itself is the lower envelope of the lines, including "predict all" and "predict none".

    Parameters
    ----------
    counts : ThresholdCounts
        Counts at each threshold.

    Attributes
    ----------
    fpr, fnr : ndarray of shape (n_thresholds + 1,)
        Cost of each line at PC(+) = 0 and at 1. `fpr` is NaN without negatives, and `fnr` without positives.
    thresholds : ndarray of shape (n_thresholds + 1,)
        Descending from +inf.
    lines : ndarray of shape (n_thresholds + 1, 2)
        One line per row: its cost at PC(+) = 0 and at 1.
    lower_envelope : CostEnvelope
        The lowest cost at each PC(+), and the thresholds that attain it.
    area : float
        Area under the lower envelope: the expected cost if all PC(+) are equally likely. At most 0.25; lower is better.

    References
    ----------
    Drummond and Holte (2006), "Cost curves: an improved method for visualizing classifier performance",
    doi:10.1007/s10994-006-8199-5; Zhou, *Machine Learning*, (2.23) to (2.25).

    Examples
    --------
    >>> import fastevals
    >>> curve = fastevals.Ranking([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8]).cost_curve()
    >>> curve.at(prior=0.5, cost_fn=3.0)
    OperatingPoint(value=0.125, threshold=0.3)
    >>> curve.area, curve.operating_range()
    (0.125, Interval(low=0.0, high=1.0))
    """

    ARRAYS: ClassVar[tuple[str, ...]] = ("fpr", "fnr", "thresholds")

    @property
    def fpr(self) -> NDArray[np.float64]:
        """Cost of each line at PC(+) = 0."""
        return self._rates(rates.false_positive_rate)

    @property
    def fnr(self) -> NDArray[np.float64]:
        """Cost of each line at PC(+) = 1."""
        return self._rates(rates.false_negative_rate)

    @property
    def lines(self) -> NDArray[np.float64]:
        """Cost of each line at PC(+) = 0 and at 1."""
        return np.stack((self.fpr, self.fnr), axis=1)

    @property
    def lower_envelope(self) -> CostEnvelope:
        """The lowest cost at each PC(+), and the thresholds that attain it."""
        return self._cached(CostEnvelope.from_counts)

    @property
    def area(self) -> float:
        """Area under the lower envelope."""
        return self.lower_envelope.area

    def at(
        self,
        probability_cost: ArrayLike | None = None,
        *,
        prior: ArrayLike | None = None,
        cost_fp: float = 1.0,
        cost_fn: float = 1.0,
        threshold: float | None = None,
    ) -> OperatingPoint:
        """Find the lowest cost and the threshold that attains it, or the cost of a given threshold.

        Parameters
        ----------
        probability_cost : float or array-like in [0, 1], optional
            PC(+).
        prior : float or array-like in [0, 1], optional
            Share of positives in the population on which the classifier will be used; replaces
            `probability_cost`.
        cost_fp, cost_fn : float
            Used with `prior`: cost of a false positive and of a false negative; at least 0, and not both 0.
        threshold : float, optional
            Return the cost of this threshold, a point on its straight line, instead of the lowest cost.

        Returns
        -------
        OperatingPoint
            The normalised cost and the highest threshold that attains it, or the given threshold; arrays if
            `probability_cost` or `prior` is an array. Multiply the normalised cost by ``p * cost_fn + (1 - p) *
            cost_fp`` to get the cost per row in units of the costs.

        Raises
        ------
        ValueError
            If not exactly one of `probability_cost` and `prior` is given, or if an argument is out of range.
        """
        name, values = check_exactly_one({"probability_cost": probability_cost, "prior": prior})
        cost_fp, cost_fn, _ = check_costs(cost_fp, cost_fn)
        place, rounding = as_shares(name, values), 0.0
        if name == "prior":
            place, rounding = compute_probability_cost(place, cost_fp, cost_fn), ROUNDING_OF_PLACE
        else:
            _check_default_costs(name, cost_fp, cost_fn)
        if threshold is None:
            return self.lower_envelope.least_at(place, rounding)
        fpr, fnr = self._error_rates_at(threshold)
        return OperatingPoint(number_or_array((1 - place) * fpr + place * fnr), float(threshold))

    def _error_rates_at(self, threshold: float) -> tuple[float, float]:
        """Return FPR and FNR when rows with ``score >= threshold`` are predicted positive."""
        check_has_thresholds(self.thresholds)
        at = self.counts.cells(self.counts.rows_at_least(as_thresholds("threshold", threshold, scalar=True)))
        return float(cells.false_positive_rate(at)), float(cells.false_negative_rate(at))

    def operating_range(self, threshold: float | None = None) -> Interval:
        """Return the range of PC(+) in which the classifier is cheaper than predicting all or no rows positive.

        Parameters
        ----------
        threshold : float, optional
            Consider only this threshold; by default the lower envelope of all thresholds.

        Returns
        -------
        Interval
            ``low, high``; both NaN if there is no such PC(+).

        Raises
        ------
        ValueError
            If `threshold` is not a number, or if the curve has no thresholds.
        """
        if threshold is None:
            return self.lower_envelope.operating_range()
        fpr, fnr = self._error_rates_at(threshold)
        if not fpr + fnr < 1:
            return Interval(math.nan, math.nan)
        return Interval(fpr / (1 - fnr + fpr), (1 - fpr) / (1 - fpr + fnr))

    def over_prior(self, *, cost_fp: float = 1.0, cost_fn: float = 1.0, normalize: bool = True) -> CostOverPrior:
        """Express the curve as a function of the prior, for fixed costs; its shape then depends on the costs.

        Parameters
        ----------
        cost_fp, cost_fn : float
            Cost of a false positive and of a false negative; at least 0, and not both 0.
        normalize : bool
            Divide the cost at each prior by the cost of predicting every row wrong. If False, costs are per row, in
            units of the costs.

        Returns
        -------
        CostOverPrior
            Cost and threshold at each prior.

        Raises
        ------
        ValueError
            If the costs are out of range.
        """
        normalize = as_flag("normalize", normalize)
        cost_fp, cost_fn, _ = check_costs(cost_fp, cost_fn)
        return CostOverPrior.of_envelope(self.lower_envelope, cost_fp, cost_fn, normalize)

    def difference(self, other: CostCurve) -> CostDifference:
        """Compare the lowest costs of two classifiers over PC(+).

        Parameters
        ----------
        other : CostCurve
            The curve of another classifier.

        Returns
        -------
        CostDifference
            The saving, and the ranges in which each classifier has the lower cost.

        Raises
        ------
        ValueError
            If `other` is not a cost curve, or if a curve is undefined because a class is missing.
        """
        mine, others = self._comparable_lines(other)
        x = sorted_union(mine.x, others.x)
        saving = limits(mine, x)[0] - limits(others, x)[0]  # y is minus the cost
        saving[np.abs(saving) <= SHARE_ROUNDING] = 0.0
        return CostDifference(x, saving)

    def _linear_points(self) -> Polyline:
        return Polyline(self.lower_envelope.probability_cost, -self.lower_envelope.cost)

    def _on_axes(self, points: Polyline) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return points.x, -points.y


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CostEnvelope(Frozen):
    """The lowest cost at each PC(+), in straight pieces; on each piece a single threshold is best.

    Attributes
    ----------
    probability_cost : ndarray of shape (n_pieces + 1,)
        Where the pieces start and end, ascending from 0 to 1.
    cost : ndarray of shape (n_pieces + 1,)
        The cost at the ends of the pieces.
    thresholds : ndarray of shape (n_pieces,)
        The best threshold on each piece, descending; +inf predicts no row positive, and the lowest score predicts every
        row positive.
    fpr, fnr : ndarray of shape (n_pieces,)
        The error rates at these thresholds: the cost of each threshold's line at PC(+) = 0 and at 1.

    Examples
    --------
    >>> import fastevals
    >>> envelope = fastevals.Ranking([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8]).cost_curve().lower_envelope
    >>> envelope.thresholds, envelope.at(0.5)
    (array([0.8, 0.3]), OperatingPoint(value=0.25, threshold=0.8))
    """

    probability_cost: NDArray[np.float64]
    cost: NDArray[np.float64]
    thresholds: NDArray[Any]
    fpr: NDArray[np.float64]
    fnr: NDArray[np.float64]

    def __repr__(self) -> str:
        return f"CostEnvelope({self.thresholds.size} pieces, area={self.area:.6g})"

    def _columns(self) -> Columns:
        pieces = _piece_columns(self.probability_cost, self.cost, self.thresholds)
        return make_columns({**pieces, "fpr": self.fpr, "fnr": self.fnr})

    @classmethod
    def from_counts(cls, counts: ThresholdCounts) -> CostEnvelope:
        """Build the envelope from the ROC hull.

        Each vertex gives a line, and the slope between two vertices gives the PC(+) at which their lines meet.
        """
        hull = ranking_metrics.hull(counts)
        at = hull.cells()
        fpr, tpr, fnr = (rate(at) for rate in (cells.false_positive_rate, cells.recall, cells.false_negative_rate))
        if math.isnan(fpr[-1]) or math.isnan(tpr[-1]):
            undefined = np.full(2, np.nan)
            return cls(np.array([0.0, 1.0]), undefined, undefined[:1], undefined[:1], undefined[:1])
        # Computed from counts, not rates: if counts are whole, these are the floats nearest to the exact values.
        n_pos, n_neg = (total * power_of_two(total) for total in (hull.n_pos, hull.n_neg))
        right = np.diff(hull.fps) * power_of_two(hull.n_neg) * n_pos
        up = np.diff(hull.tps) * power_of_two(hull.n_pos) * n_neg
        edges = np.concatenate(([0.0], np.maximum.accumulate(right / (right + up)), [1.0]))
        kept = np.diff(edges) > 0  # a line that is lowest only at one point is not a piece
        fpr, fnr = fpr[kept], fnr[kept]
        starts = np.append(edges[:-1][kept], 1.0)
        cost = (1 - starts) * np.append(fpr, 1.0) + starts * np.append(fnr, fnr[-1])
        return cls(starts, cost, hull.thresholds[kept], fpr, fnr)

    @property
    def area(self) -> float:
        """Mean lowest cost over PC(+)."""
        return _area_under(self.probability_cost, self.cost)

    def operating_range(self) -> Interval:
        """Return the range of PC(+) where the envelope is below "predict all" and "predict none"; NaN if nowhere."""
        useful = np.flatnonzero((self.fpr < 1) & (self.fnr < 1))  # not NaN
        if not useful.size:
            return Interval(math.nan, math.nan)
        edges = self.probability_cost
        return Interval(float(edges[useful[0]]), float(edges[useful[-1] + 1]))

    def at(self, probability_cost: ArrayLike) -> OperatingPoint:
        """Return the lowest cost at PC(+), and the highest threshold that attains it.

        Parameters
        ----------
        probability_cost : float or array-like in [0, 1]
            PC(+).

        Returns
        -------
        OperatingPoint
            Numbers, or arrays of the shape of `probability_cost`.

        Raises
        ------
        ValueError
            If a value is out of range.
        """
        return self.least_at(as_shares("probability_cost", probability_cost))

    def least_at(self, place: NDArray[np.float64], rounding: float = 0.0) -> OperatingPoint:
        """Do what `at` does, for values that are already checked, or are NaN."""
        fpr, fnr, threshold = self.lines_at(place, rounding)
        return OperatingPoint(number_or_array((1 - place) * fpr + place * fnr), number_or_array(threshold))

    def lines_at(self, place: NDArray[np.float64], rounding: float = 0.0) -> tuple[NDArray[Any], ...]:
        """Return FPR, FNR and threshold of the lowest line at each PC(+), choosing the higher threshold if two tie.

        `place` may have a relative error of `rounding`; lines tie within this distance of the point where they meet.
        """
        piece = np.searchsorted(self.probability_cost[1:-1], place * (1 - rounding), side="left")
        # At PC(+) = 0, or where no row can cost anything, "predict none" is free.
        threshold = np.where((place > 0) | np.isnan(self.cost[0]), self.thresholds[piece], np.inf)
        return self.fpr[piece], self.fnr[piece], threshold


def _area_under(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    """Return the area under the polyline."""
    return math.fsum(np.diff(x) * (y[1:] + y[:-1]) / 2)


def cost_area(counts: ThresholdCounts) -> float:
    """Return the area under the cost curve's lower envelope: the mean lowest cost over PC(+)."""
    return CostEnvelope.from_counts(counts).area


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CostOverPrior(Frozen):
    """The lowest expected cost as a function of the prior, for fixed costs; on each piece one threshold is best.

    Attributes
    ----------
    prior : ndarray of shape (n_pieces + 1,)
        Where the pieces start and end, ascending from 0 to 1.
    cost : ndarray of shape (n_pieces + 1,)
        The cost at the ends of the pieces. In between, the cost per row is linear; the normalised cost is linear
        only if both costs are equal.
    thresholds : ndarray of shape (n_pieces,)
        The threshold that attains the lowest cost in each piece.
    cost_fp, cost_fn : float
        Cost of a false positive and of a false negative.
    normalize : bool
        Whether costs are divided by the cost of predicting every row wrong.
    envelope : CostEnvelope
        The lowest cost over PC(+), from which this curve is computed.
    area : float
        Mean cost over all priors.

    Examples
    --------
    >>> import fastevals
    >>> curve = fastevals.Ranking([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8]).cost_curve()
    >>> over = curve.over_prior(cost_fn=3.0)
    >>> over.at(0.5), over.holds(0.5)
    (OperatingPoint(value=0.125, threshold=0.3), Interval(low=0.25, high=1.0))
    """

    prior: NDArray[np.float64]
    cost: NDArray[np.float64]
    thresholds: NDArray[Any]
    cost_fp: float
    cost_fn: float
    normalize: bool
    envelope: CostEnvelope

    @property
    def defined(self) -> bool:
        """Return whether the curve has a value anywhere."""
        return not math.isnan(self.cost[0])

    @classmethod
    def from_counts(cls, counts: ThresholdCounts, *, cost_fp: float = 1.0, cost_fn: float = 1.0) -> CostOverPrior:
        """Make the normalised curve from threshold counts; costs are as in `CostCurve.over_prior`."""
        return CostCurve(counts).over_prior(cost_fp=cost_fp, cost_fn=cost_fn)

    @classmethod
    def of_envelope(cls, envelope: CostEnvelope, cost_fp: float, cost_fn: float, normalize: bool) -> CostOverPrior:
        """Map the pieces of an envelope over PC(+) to the prior."""
        fields = cost_fp, cost_fn, normalize, envelope
        if normalize:
            cost_fp, cost_fn = _scale_costs(cost_fp, cost_fn)
        if not (cost_fp and cost_fn):  # one kind of error is free, so PC(+) is 0 or 1 at every prior and the cost is 0
            only = envelope.least_at(np.array([1.0 if cost_fn else 0.0]))
            cost, threshold = np.repeat(only.value, 2), np.asarray(only.threshold)
            return cls(np.array([0.0, 1.0]), cost, threshold, *fields)
        prior = compute_probability_cost(envelope.probability_cost, cost_fn, cost_fp)  # swapped costs invert the map
        prior[[0, -1]] = 0.0, 1.0  # also if one cost is negligible compared with the other
        kept = np.append(np.diff(prior) > 0, True)
        fpr, fnr = envelope.fpr[kept[:-1]], envelope.fnr[kept[:-1]]
        prior = prior[kept]
        cost = prior * cost_fn * np.append(fnr, fnr[-1]) + (1 - prior) * cost_fp * np.append(fpr, fpr[-1])
        if normalize:
            cost /= worst_cost(prior, cost_fp, cost_fn)
        return cls(prior, cost, envelope.thresholds[kept[:-1]], *fields)

    def __repr__(self) -> str:
        costs = f"cost_fp={self.cost_fp:g}, cost_fn={self.cost_fn:g}"
        return f"CostOverPrior({self.thresholds.size} pieces, {costs}, area={self.area:.6g})"

    def _columns(self) -> Columns:
        return make_columns(_piece_columns(self.prior, self.cost, self.thresholds))

    @property
    def area(self) -> float:
        """Mean cost over all priors."""
        costs = _scale_costs(self.cost_fp, self.cost_fn)
        if not (self.normalize and all(costs)):
            return _area_under(self.prior, self.cost)
        worst = worst_cost(self.prior, *costs)
        ends = (self.cost * worst, worst)
        sides = [values.tolist() for line in ends for values in (line[:-1], line[1:])]
        return math.fsum(map(_piece_area, np.diff(self.prior).tolist(), *sides))

    def operating_range(self) -> Interval:
        """Return the range of priors in which the classifier is cheaper than predicting all or no rows positive.

        Returns
        -------
        Interval
            ``low, high``; both NaN if there is no such prior, for example if one kind of error is free.
        """
        return invert_probability_cost(self.envelope.operating_range(), self.cost_fp, self.cost_fn)

    def at(self, prior: ArrayLike) -> OperatingPoint:
        """Return the lowest cost at a prior, and the highest threshold that attains it.

        Parameters
        ----------
        prior : float or array-like in [0, 1]
            Share of positives in the population on which the classifier will be used.

        Returns
        -------
        OperatingPoint
            Numbers, or arrays of the shape of `prior`. A normalised cost is NaN where no row can cost anything.

        Raises
        ------
        ValueError
            If a prior is out of range.
        """
        place = as_shares("prior", prior)
        probability_cost = compute_probability_cost(place, self.cost_fp, self.cost_fn)
        fpr, fnr, threshold = self.envelope.lines_at(probability_cost, ROUNDING_OF_PLACE)
        cost_fp, cost_fn = _scale_costs(self.cost_fp, self.cost_fn) if self.normalize else (self.cost_fp, self.cost_fn)
        cost = place * cost_fn * fnr + (1 - place) * cost_fp * fpr
        if self.normalize:
            # One cost may be negligible compared with the other at a prior of 0 or 1.
            worst = worst_cost(place, cost_fp, cost_fn)
            cost = np.where(worst > 0, ratio(cost, worst), self.envelope.least_at(probability_cost).value)
        return OperatingPoint(number_or_array(cost), number_or_array(threshold))

    def holds(self, prior: float) -> Interval:
        """Return the range of priors in which the threshold that is best at `prior` stays best.

        Parameters
        ----------
        prior : float in [0, 1]
            Share of positives in the population on which the classifier will be used.

        Returns
        -------
        Interval
            ``low, high``; both NaN if the curve is undefined.

        Raises
        ------
        ValueError
            If the prior is out of range.
        """
        prior = check_number("prior", prior, low=0, high=1)
        return self._where_best(self.at(prior).threshold, prior)

    def _where_best(self, threshold: Any, prior: float) -> Interval:
        """Return the range of priors in which a threshold that is best at one prior stays best."""
        if not self.defined:
            return Interval(math.nan, math.nan)
        piece = int(np.count_nonzero(self.thresholds > threshold))
        low = high = float(self.prior[piece])
        if piece < self.thresholds.size and self.thresholds[piece] == threshold:  # else it is best at one point only
            high = float(self.prior[piece + 1])
        return Interval(min(low, prior), max(high, prior))  # rounding may put an end on the wrong side of the prior


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CostDifference(Frozen):
    """Difference of two cost curves: the other curve's lowest cost minus this curve's.

    Attributes
    ----------
    probability_cost : ndarray of shape (n_points,)
        Ascending from 0 to 1.
    saving : ndarray of shape (n_points,)
        The difference at each point, linear in between; positive where this curve has the lower cost.

    Examples
    --------
    >>> import fastevals
    >>> one, other = (fastevals.Ranking([0, 1, 0, 1], scores).cost_curve() for scores in ([1, 2, 3, 4], [1, 2, 4, 3]))
    >>> difference = one.difference(other)
    >>> difference.wins, difference.over_prior(cost_fn=3)
    ([Interval(low=0.0, high=0.5)], ([Interval(low=0.0, high=0.25)], []))
    """

    probability_cost: NDArray[np.float64]
    saving: NDArray[np.float64]

    def __repr__(self) -> str:
        ranges = f"wins={_format_ranges(self.wins)}, losses={_format_ranges(self.losses)}"
        return f"CostDifference({ranges}, mean_saving={self.mean_saving:.6g})"

    def _columns(self) -> Columns:
        return make_columns({"probability_cost": self.probability_cost, "saving": self.saving})

    @property
    def defined(self) -> bool:
        """Always True: undefined curves can't be compared."""
        return True

    def over_prior(self, *, cost_fp: float = 1.0, cost_fn: float = 1.0) -> tuple[list[Interval], list[Interval]]:
        """Return the ranges of priors in which this curve has the lower cost, and in which the other curve has it.

        Parameters
        ----------
        cost_fp, cost_fn : float
            Cost of a false positive and of a false negative; at least 0, and not both 0.

        Returns
        -------
        wins, losses : list of Interval
            Empty if one kind of error is free, because all costs are then 0.

        Raises
        ------
        ValueError
            If the costs are out of range.
        """
        cost_fp, cost_fn, _ = check_costs(cost_fp, cost_fn)
        if not (cost_fp and cost_fn):
            return [], []
        invert = partial(invert_probability_cost, cost_fp=cost_fp, cost_fn=cost_fn)
        return [*map(invert, self.wins)], [*map(invert, self.losses)]

    @property
    def mean_saving(self) -> float:
        """Mean saving over PC(+), which equals the difference of the areas."""
        return _area_under(self.probability_cost, self.saving)

    @property
    def wins(self) -> list[Interval]:
        """Ranges of PC(+) in which this curve has the lower cost."""
        return self._ranges(1)

    @property
    def losses(self) -> list[Interval]:
        """Ranges of PC(+) in which the other curve has the lower cost."""
        return self._ranges(-1)

    def _ranges(self, sign: int) -> list[Interval]:
        """Return the ranges in which the saving has the given sign (1 or -1); adjacent pieces are joined."""
        ranges: list[Interval] = []
        x, saving = self.probability_cost, sign * self.saving
        for i in np.flatnonzero((saving[:-1] > 0) | (saving[1:] > 0)):
            low, high = x[i], x[i + 1]
            if saving[i] < 0 or saving[i + 1] < 0:
                zero = low + (high - low) * saving[i] / (saving[i] - saving[i + 1])
                low, high = (zero, high) if saving[i] < 0 else (low, zero)
            if ranges and ranges[-1].high == low and saving[i] > 0:
                low = ranges.pop().low
            ranges.append(Interval(float(low), float(high)))
        return ranges


def _piece_columns(edges: NDArray[np.float64], cost: NDArray[np.float64], thresholds: NDArray[Any]) -> dict[str, Any]:
    """Return the columns of straight pieces: start, end, the costs at both, and the threshold."""
    return {
        "low": edges[:-1], "high": edges[1:], "cost_at_low": cost[:-1], "cost_at_high": cost[1:],
        "threshold": thresholds,
    }  # fmt: skip


def _format_ranges(ranges: list[Interval]) -> str:
    return "[" + ", ".join(f"({low:.4g}, {high:.4g})" for low, high in ranges) + "]"


# Costs, priors and PC(+) ----------------------------------------------------------------------------------------------


def compute_probability_cost(prior: NDArray[np.float64], cost_fp: float, cost_fn: float) -> NDArray[np.float64]:
    """Return PC(+) for a prior and costs (2.24); NaN where no row can cost anything."""
    largest = max(cost_fp, cost_fn)
    positive = prior * (cost_fn / largest)
    place = ratio(positive, positive + (1 - prior) * (cost_fp / largest))
    # At a prior of 0 or 1 only one class's cost counts, even if it is negligible compared with the other.
    return np.where((prior == 0) & (cost_fp > 0), 0.0, np.where((prior == 1) & (cost_fn > 0), 1.0, place))


def invert_probability_cost(places: Interval, cost_fp: float, cost_fn: float) -> Interval:
    """Return the range of priors for a range of PC(+); NaN if one kind of error is free (PC(+) is constant)."""
    if not (cost_fp and cost_fn):
        return Interval(math.nan, math.nan)
    return Interval(*compute_probability_cost(np.array(places), cost_fn, cost_fp).tolist())  # swapped costs


def worst_cost(prior: NDArray[np.float64], cost_fp: float, cost_fn: float) -> NDArray[np.float64]:
    """Return the expected cost per row if every row is predicted wrong, which normalises costs."""
    return prior * cost_fn + (1 - prior) * cost_fp


def _scale_costs(cost_fp: float, cost_fn: float) -> tuple[float, float]:
    """Divide costs by the larger one, so that no product of them underflows."""
    largest = max(cost_fp, cost_fn)
    return cost_fp / largest, cost_fn / largest


def _piece_area(width: float, n0: float, n1: float, d0: float, d1: float) -> float:
    """Integrate, in closed form, the ratio of two straight lines: n0 / d0 at the start and n1 / d1 at the end."""
    if n0 == n1 == 0:
        return 0.0
    if d0 < d1:  # start at the larger end, so that u is in [-1, 0]
        n0, n1, d0, d1 = n1, n0, d1, d0
    u = (d1 - d0) / d0
    if u == 0:
        return width * (n0 + n1) / 2 / d0
    if u < -0.1:
        log = math.log(d1) - math.log(d0)  # log(1 + u), where 1 + u may round to 0
        excess = u - log
    else:
        log, excess = math.log1p(u), excess_of_log(u)
    return float(width * (n0 * log / u + (n1 - n0) * excess / u**2) / d0)


# Checks ---------------------------------------------------------------------------------------------------------------


def _check_default_costs(name: str, cost_fp: float, cost_fn: float) -> None:
    """Raise if costs are passed with PC(+), which includes them."""
    if (cost_fp, cost_fn) != (1.0, 1.0):
        raise ValueError(f"cost_fp and cost_fn require prior; {name} includes the costs, got {cost_fp}, {cost_fn}")
