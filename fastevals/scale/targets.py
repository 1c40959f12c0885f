"""Summaries of predicted numbers, as sums of their errors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._kernels.regression import sum_terms
from fastevals._options import check_choice, check_number, warn_undefined
from fastevals._row_order import warn_other_order
from fastevals._validation.arrays import (
    as_frequencies,
    as_scores,
    as_weights,
    check_exact_integers,
    check_finite,
    check_one_weight,
    check_same_length,
    refuse_weighted,
)
from fastevals.counting.ordering import FLOATS
from fastevals.infer.significance.decision import normal_margins
from fastevals.measure.error_metrics import MEDIAN, RegressionSums
from fastevals.measure.metric_specs import MetricSpec, metric
from fastevals.measure.registry import METRICS
from fastevals.results import Interval, check_confidence_level
from fastevals.scale.certified import Certified
from fastevals.scale.fields import Fields, is_hex
from fastevals.scale.payload import SQUARES, Summary, weighted_head
from fastevals.scale.summary import NO_BOUNDS, RankingSummary, Units

Floats = NDArray[np.float64]

TERMS = 7  # terms of a row; see `sum_terms`
DEVIATION = 5  # the first term whose sums may be negative, by rounding after a merge
ERROR_CELLS = 2**14  # ranges of absolute errors
LARGEST_TARGET = 2.0**240  # bound of targets and predictions: sums of larger fourth powers overflow


class TargetSummary(Summary):
    """Summary of any number of rows for metrics of predicted numbers: sums of errors, and of their products.

    Sums are exact fractions, added from pairs of floats. So metrics agree with those of all rows in memory to a few
    units in the last digit, for any order of rows. The median absolute error has bounds, since errors are counted in
    ranges.

    Examples
    --------
    >>> from fastevals.scale import TargetSummary
    >>> summary = TargetSummary()
    >>> summary.update([3.0, -0.5, 2.0], [2.5, 0.0, 2.0])
    >>> summary.update([7.0], [8.0])
    >>> summary.metric("mean_squared_error"), summary.metric("r2").__round__(4)
    (0.375, 0.9486)
    """

    KIND = "target"

    __slots__ = ("_errors", "_origin", "_products", "_squares", "_sums", "is_weighted", "n_samples")

    def __init__(self) -> None:
        self.n_samples = 0  # rows of weight above zero
        self.is_weighted = False  # whether rows have weights
        self._origin: float | None = None  # the first target; deviations are measured from it
        self._sums = [Fraction(0)] * TERMS
        self._products: Floats = np.zeros((TERMS, TERMS))
        self._squares: Floats | None = None  # products with squared weights, if rows have weights and squares are known
        self._errors = RankingSummary(cells=ERROR_CELLS)  # absolute errors, as scores of one class

    def update(
        self,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        frequency_weight: ArrayLike | None = None,
    ) -> None:
        """Add more rows. If a row can't be added, raise an error and add none of them.

        Parameters
        ----------
        y_true, y_pred : array-like of shape (n_samples,)
            Targets and predictions: finite numbers below 2**240 in absolute value.
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative row weights. The median absolute error is available only for integer weights.
        frequency_weight : array-like of shape (n_samples,), optional
            Number of copies of each row: integers. A row with n copies counts like n equal rows. Not allowed with
            `sample_weight`.

        Raises
        ------
        ValueError
            If an argument is not as described; the message names it, the rule and the value seen.
        """
        row_weights = {"sample_weight": sample_weight, "frequency_weight": frequency_weight}
        warn_other_order({"y_true": y_true, "y_pred": y_pred, **row_weights})
        arrays = {}
        for name, column in (("y_true", y_true), ("y_pred", y_pred)):
            if not np.size(column):
                arrays[name] = np.empty(0)
                continue
            array = as_scores(name, column)
            check_exact_integers(name, array)
            check_finite(name, array)
            arrays[name] = np.ascontiguousarray(array, dtype=np.float64)
            if np.abs(arrays[name]).max() >= LARGEST_TARGET:
                raise ValueError(f"{name} must be below 2**240, got {float(np.abs(arrays[name]).max()):g}")
        weights = np.empty(0)
        check_one_weight(sample_weight, frequency_weight)
        name = "sample_weight" if frequency_weight is None else "frequency_weight"
        given = row_weights[name]
        if given is not None and (np.size(given) or arrays["y_true"].size):
            weights = as_scores(name, given)
            check = as_weights if frequency_weight is None else as_frequencies
            weights = (check(name, weights) if weights.any() else weights).astype(np.float64)
            check_same_length(**arrays, **{name: weights})
            kept = weights > 0
            arrays = {name: array[kept] for name, array in arrays.items()}
            weights = weights[kept]
        check_same_length(**arrays)
        y, p = arrays.values()
        if not y.size:
            return
        origin = float(y[0]) if self._origin is None else self._origin
        pairs, products = np.zeros((TERMS, 2)), np.zeros((TERMS, TERMS))
        sum_terms(y, p, weights, origin, pairs, products)
        check_sums(pairs, products)
        own = _symmetric(products)
        squares = self._known_squares()
        if sample_weight is not None and squares is not None:
            squared = np.zeros((TERMS, TERMS))
            with np.errstate(over="ignore"):  # squares that overflow are unknown
                sum_terms(y, p, weights * weights, origin, np.zeros((TERMS, 2)), squared)
            squares = squares + _symmetric(squared)
        elif squares is not None:
            squares = squares + own
        products = self._products + own
        check_sums(products)
        units = None
        if weights.size:
            with np.errstate(invalid="ignore"):  # some weights may be larger than the largest integer
                units = Units(weights.astype(np.int64), frequency_weight is None)
            if (units.counts != weights).any():
                self._errors = RankingSummary(cells=1)  # errors are not counted from now on
                self._errors._labels = (None, NO_BOUNDS)
        if self._errors._labels[1] is None:
            self._errors._count_rows(np.zeros(y.size, dtype=np.uint8), np.abs(y - p), units)
            if sample_weight is not None:
                self._errors._weigh(None)  # the squares are not needed
        more = [Fraction(high) + Fraction(low) for high, low in pairs.tolist()]
        self._sums = [a + b for a, b in zip(self._sums, more, strict=True)]
        self._origin, self._products = origin, products
        self.is_weighted = self.is_weighted or sample_weight is not None
        self._squares = _finite(squares) if self.is_weighted else None
        self.n_samples += y.size if frequency_weight is None else int(weights.sum())

    def _known_squares(self) -> Floats | None:
        """Return the products with squared weights; None if they are not known."""
        return self._squares if self.is_weighted else self._products

    # Reading ----------------------------------------------------------------------------------------------------------

    @property
    def _regression_sums(self) -> RegressionSums:
        weight, square, over, under, relative, first, second = self._sums
        scatter = max(second - first * first / weight, Fraction(0)) if weight else Fraction(0)
        errors = [np.array([float(total)]) for total in (square, over, under, relative)]
        return RegressionSums(float(weight), float(scatter), errors[0], errors[1], errors[2], errors[3])

    def metric(self, name: str | MetricSpec) -> float | Certified:
        """Return a metric of targets, given by its name or by `fastevals.metric(...)`; NaN where undefined.

        Returns
        -------
        float or Certified
            The median absolute error is a `Certified` (a value with bounds) if it is not exact; all else is a float.

        Raises
        ------
        ValueError
            If `name` is not a metric of targets, or is the median absolute error while weights were not integers.
        """
        spec = metric(name) if isinstance(name, str) else name
        if not isinstance(spec, MetricSpec) or METRICS[spec.name].of != "targets":
            check_choice("name", str(name), [each for each, entry in METRICS.items() if entry.of == "targets"])
        if not self.n_samples:
            warn_undefined(str(spec), "there are no rows")
            return math.nan
        if spec.name == MEDIAN:
            return self._median()
        value = float(np.asarray(METRICS[spec.name].function(self._regression_sums, **spec.options))[0])
        if math.isnan(value):
            warn_undefined(str(spec), "all targets are equal")
        return value

    def _median(self) -> float | Certified:
        """Return the middle absolute error, or the mean of the middle two; with bounds if ranges don't determine it."""
        if self._errors._labels[1] is not None:
            raise ValueError(f"a summary has no {MEDIAN} for weights that are not whole numbers")
        cells = self._errors.cells
        ends = []
        for keys in (cells.low, cells.high):
            order = np.argsort(keys, kind="stable")
            rows = np.cumsum(cells.counts[order, 0])
            middle = [int(np.searchsorted(rows, rank, side="right")) for rank in ((rows[-1] - 1) // 2, rows[-1] // 2)]
            ends.append(float(FLOATS.decode(keys[order[middle]]).mean()))
        low, high = ends
        return low if low == high else Certified((low + high) / 2, low, high)

    def standard_error(self, name: str | MetricSpec) -> float:
        """Return a metric's standard error, to first order, from the variances of the sums behind the metric.

        Rows are assumed to be independent; the variance of a mean uses squared weights. The median has no standard
        error.
        """
        squares = self._known_squares()
        if squares is None:
            refuse_weighted("the summary", self)
        spec = metric(name) if isinstance(name, str) else name
        value = self.metric(spec)
        loss = METRICS[spec.name].loss
        if loss is None:
            raise ValueError(f"{spec} has no standard error of sums")
        weight = float(self._sums[0])
        if (self.n_samples if self.is_weighted else weight) < 2 or not math.isfinite(float(value)):
            return math.nan
        means = np.array([float(total / self._sums[0]) for total in self._sums])
        slopes = np.zeros(TERMS)
        slopes[1:5] = loss.of_sums(**spec.options)
        if spec.name == "root_mean_squared_error":
            slopes *= 0.5 / float(value) if value else 0.0
        elif spec.name == "r2":  # r2 also depends on the targets' deviation and its square
            variance = means[6] - means[5] ** 2
            slopes[[1, 5, 6]] = -1 / variance, -2 * means[5] * means[1] / variance**2, means[1] / variance**2
        with np.errstate(over="ignore", invalid="ignore"):  # an error that overflows is unknown
            if self.is_weighted:
                off = np.outer(squares[0], means)
                covariance = (squares - off - off.T + squares[0, 0] * np.outer(means, means)) / weight
            else:
                covariance = squares / weight - np.outer(means, means)
            variance = float(slopes @ covariance @ slopes)
        return math.sqrt(max(variance, 0.0) / weight)

    def confidence_interval(self, name: str | MetricSpec, confidence_level: float = 0.95) -> Interval:
        """Return a metric's confidence interval, from its standard error, clipped to the metric's bounds."""
        spec = metric(name) if isinstance(name, str) else name
        _, alpha = check_confidence_level(check_number("confidence_level", confidence_level, low=0, high=1))
        margin = normal_margins(alpha, "two-sided")[0] * self.standard_error(spec)
        low, high = METRICS[spec.name].bounds
        value = float(self.metric(spec))
        return Interval(max(value - margin, low), min(value + margin, high))

    def __repr__(self) -> str:
        return f"TargetSummary({self.n_samples} rows)"

    # Merging and storing ----------------------------------------------------------------------------------------------

    def _merged(self, others: Sequence[TargetSummary]) -> TargetSummary:
        merged = TargetSummary()
        merged._origin = next((each._origin for each in (self, *others) if each._origin is not None), None)
        told = all(each._errors._labels[1] is None for each in (self, *others))
        for other in (self, *others):
            if other._origin is None or merged._origin is None:
                continue
            shift = Fraction(other._origin) - Fraction(merged._origin)
            weight, *errors, first, second = other._sums
            moved = [weight, *errors, first + shift * weight, second + 2 * shift * first + shift * shift * weight]
            merged._sums = [a + b for a, b in zip(merged._sums, moved, strict=True)]
            moves = np.eye(TERMS)
            moves[5, 0] = float(shift)
            moves[6, 0], moves[6, 5] = float(shift * shift), float(2 * shift)
            both = merged._known_squares(), other._known_squares()
            known = [each for each in both if each is not None]
            merged._products = merged._products + moves @ other._products @ moves.T
            merged.is_weighted = merged.is_weighted or other.is_weighted
            if merged.is_weighted:
                merged._squares = _finite(known[0] + moves @ known[1] @ moves.T) if len(known) == 2 else None
            check_sums(merged._products)
            merged.n_samples += other.n_samples
        merged._errors = self._errors.merge(*(other._errors for other in others)) if told else RankingSummary(cells=1)
        if not told:
            merged._errors._labels = (None, NO_BOUNDS)
        return merged

    def _payload(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        errors = self._errors.to_bytes()
        head = {
            "n_samples": self.n_samples,
            "origin": None if self._origin is None else self._origin.hex(),
            "sums": [[hex(total.numerator), hex(total.denominator)] for total in self._sums],
            "size": len(errors),
            **weighted_head(self.is_weighted),
        }
        whole = np.frombuffer(errors + bytes(-len(errors) % 8), np.uint64)
        squares = {} if self._squares is None else {SQUARES: self._squares.ravel()}
        return head, {"products": self._products.ravel(), **squares, "errors": whole}

    @classmethod
    def _from_payload(cls, fields: Fields) -> Self:
        """Check every field that was read, and build the summary."""
        summary = cls()
        summary.is_weighted = fields.is_weighted()
        summary.n_samples, summary._origin = fields.integer("n_samples"), fields.number("origin")
        summary._sums = [_sum_of(pair) for pair in fields.many("sums", "pairs of integers", _is_sum, TERMS)]
        summary._products = fields.floats("products", TERMS**2).reshape(TERMS, TERMS).copy()
        check_sums(summary._products)
        weight = summary._sums[0]
        if SQUARES in fields:
            squares = fields.floats(SQUARES, TERMS**2).reshape(TERMS, TERMS).copy()
            summary._squares = _finite(squares)
            total, rounding = float(weight), 1 + 2.0**-40
            fits = total**2 <= summary.n_samples * squares[0, 0] * rounding and squares[0, 0] <= total**2 * rounding
            if not summary.is_weighted or summary._squares is None or not fits:
                raise ValueError("its squares are not those of its weights")
        if any(total < 0 for total in summary._sums[:DEVIATION]):
            raise ValueError("its sums must not be negative")
        if len({summary.n_samples == 0, summary._origin is None, weight == 0}) > 1:
            raise ValueError("its sums do not fit its number of rows")
        if weight and not all(_is_finite(total) and _is_finite(total / weight) for total in summary._sums):
            raise ValueError("its sums must be finite")
        if summary._origin is not None and abs(summary._origin) >= LARGEST_TARGET:
            raise ValueError(f"origin must be below 2**240, got {summary._origin:g}")
        size = fields.integer("size")
        summary._errors = RankingSummary._unpack(fields.content("errors", size), fields.room)
        negatives, positives = summary._errors.cells.totals.tolist()
        told = {(None, None): summary.n_samples, (None, NO_BOUNDS): 0}.get(summary._errors._labels)
        if told is None or positives or (negatives < told) or bool(negatives) != bool(told) or summary._errors._unit:
            raise ValueError("its errors do not fit its number of rows")
        return summary


def _is_sum(pair: Any) -> bool:
    """Return whether a value is the numerator and the denominator of a sum of floats, in base 16."""
    if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(each, str) for each in pair):
        return False
    return is_hex(pair[0].removeprefix("-")) and is_hex(pair[1]) and int(pair[1], 16).bit_count() == 1


def _sum_of(pair: list[str]) -> Fraction:
    return Fraction(int(pair[0], 16), int(pair[1], 16))


def _is_finite(total: Fraction) -> bool:
    try:
        return math.isfinite(total)
    except OverflowError:
        return False


def _symmetric(products: Floats) -> Floats:
    """Return the full matrix of products from its upper half."""
    return np.asarray(np.triu(products) + np.triu(products, 1).T)


def _finite(squares: Floats | None) -> Floats | None:
    """Return products of squared weights; None if they are unknown, if one is not finite, or if the first is zero."""
    return squares if squares is not None and np.isfinite(squares).all() and squares[0, 0] > 0 else None


def check_sums(*sums: Floats) -> None:
    """Raise if sums overflow."""
    if not all(np.isfinite(each).all() for each in sums):
        raise ValueError(
            "sums of sample_weight times powers of the errors (such as their squares) must be finite, but they "
            "overflow: scale the weights or the numbers down"
        )
