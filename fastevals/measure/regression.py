"""Errors of predicted numbers: all metrics of one or many models, from one pass over the rows.

Squared, absolute and relative errors are sums (`RegressionSums`). The median is not: a sample brackets it, the pass
counts the errors outside the bracket and keeps the few inside, among which the median is found exactly.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals import _validation as check
from fastevals._execution import blocks, chunks, run
from fastevals._kernels.regression import (
    collect_errors,
    collect_weighted_errors,
    error_sums,
    find_half,
    merge_moments,
    merge_sums,
    read_rows,
    target_moments,
)
from fastevals.measure.codec import plain_block

__all__ = ["RegressionMetrics", "RegressionSums", "regression_metrics"]

Floats = NDArray[np.float64]
Bracket = tuple[float, float]

SAMPLE = 1 << 15  # rows that bracket the median: the pass then keeps 3 % of all rows
SIGMAS = 5.0  # half the bracket: a random sample misses the median once in two million
SCRATCH = 4096  # floats: of a kernel's sums or errors
EVERYTHING = (-1.0, math.inf)  # brackets every absolute error
DOUBLE = np.dtype(np.float64)
SHOWN = 4  # models in a repr


class RegressionSums(NamedTuple):
    """Sums over the rows, each times its weight: all that the metrics need but the median.

    Attributes
    ----------
    weight : float
        Number of rows or sum of weights.
    scatter : float
        Squared deviations of the targets from their mean.
    square, over, under, relative : ndarray of shape (n_models,)
        Squared errors; prediction less target where it is above, target less prediction where it is below; absolute
        error over absolute target.
    """

    weight: float
    scatter: float
    square: Floats
    over: Floats
    under: Floats
    relative: Floats


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RegressionMetrics:
    """Errors of predictions: floats for one model, arrays of shape (n_models,) for many.

    Attributes
    ----------
    mean_squared_error, root_mean_squared_error : float or ndarray
        Infinite where the squares add up past the largest float (errors of about 1e154).
    mean_absolute_error, median_absolute_error : float or ndarray
        The median is exact: the middle error, or the mean of the middle two. With weights it is the least error up to
        which the rows have more than half the weight; or, where they have exactly half, the mean of it and the next.
    mean_absolute_percentage_error : float or ndarray
        Mean of ``abs(y_true - y_pred) / max(2**-52, abs(y_true))``: a share (0.1 is 10 %), and huge where a target is
        zero.
    r2 : float or ndarray
        ``1 - sum((y_true - y_pred)**2) / sum((y_true - mean(y_true))**2)``; NaN where the targets are constant.
    pinball_loss : float or ndarray
        Mean of ``quantile * (y_true - y_pred)`` where that is positive, else of ``(quantile - 1) * (y_true - y_pred)``.
    n_samples : int
        Rows (of weight above zero).
    quantile : float
        That of `pinball_loss`.
    names : tuple or None
        The models' names in order, where they had any.
    """

    mean_squared_error: Any
    root_mean_squared_error: Any
    mean_absolute_error: Any
    median_absolute_error: Any
    mean_absolute_percentage_error: Any
    r2: Any
    pinball_loss: Any
    n_samples: int
    quantile: float
    names: tuple[Any, ...] | None = None

    def __repr__(self) -> str:
        shown = {"rmse": self.root_mean_squared_error, "mae": self.mean_absolute_error, "r2": self.r2}
        values = ", ".join(f"{name}={_short(value)}" for name, value in shown.items())
        return f"RegressionMetrics({values}, n_samples={self.n_samples})"

    def to_dict(self) -> dict[str, Any]:
        """Give the fields as numbers and lists; `names` only where there are any."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        if self.names is None:
            del values["names"]
        else:
            values["names"] = list(self.names)
        return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in values.items()}


def regression_metrics(
    y_true: ArrayLike, y_pred: Any, *, sample_weight: ArrayLike | None = None, quantile: float = 0.5
) -> RegressionMetrics:
    """Compute the usual errors of predicted numbers in one pass over the rows.

    Values are read as float64: integers past 2**53 and longer floats are rounded first.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Targets: finite numbers.
    y_pred : array-like of shape (n_samples,) or (n_models, n_samples), mapping of name to array-like, or frame
        Predictions of one model, or of many: one a row, an entry or a column.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights, not negative. Rows of weight zero are left out.
    quantile : float, default=0.5
        Of the pinball loss, in [0, 1]. At 0.5 the loss is half the mean absolute error.

    Returns
    -------
    RegressionMetrics

    Raises
    ------
    ValueError
        If inputs are empty, differ in length, do not hold finite real numbers, or `quantile` is outside [0, 1].

    Warns
    -----
    UndefinedMetricWarning
        If `r2` is NaN: all targets are equal, a single one included, or their squared deviations over- or underflow.
        (scikit-learn gives 1.0 for perfect and 0.0 for other predictions of two or more constant targets.)

    Notes
    -----
    Takes memory of some 6 % of the predictions', or as much as the predictions of one model where a sample of every
    so many rows misleads about the median. Results are the same bits at any number of threads.

    References
    ----------
    .. [1] Koenker, R. and Bassett, G. (1978), "Regression Quantiles", Econometrica 46, 33-50, eq. 3.1,
       doi:10.2307/1913643. (The pinball loss.)
    .. [2] Hyndman, R. J. and Fan, Y. (1996), "Sample Quantiles in Statistical Packages", The American Statistician 50,
       361-365, definition 2, doi:10.1080/00031305.1996.10473566. (The median.)

    Examples
    --------
    >>> from fastevals import regression_metrics
    >>> result = regression_metrics([3, -0.5, 2, 7], [2.5, 0.0, 2, 8])
    >>> result.mean_squared_error, result.median_absolute_error
    (0.375, 0.5)
    >>> regression_metrics([3, -0.5, 2, 7], {"a": [2.5, 0.0, 2, 8], "b": [3, 0, 2, 7]}).mean_absolute_error
    array([0.5  , 0.125])
    """
    targets = _as_double("y_true", check.as_scores("y_true", y_true))
    labelled, names, many = check.as_predictions("y_pred", y_pred)
    check.check_same_length(y_true=targets, **labelled)
    quantile = check.check_number("quantile", quantile, low=0, high=1)
    labelled = {label: _as_double(label, values) for label, values in labelled.items()}
    weights = None
    kept = labelled
    if sample_weight is not None:
        weights = check.as_weights("sample_weight", sample_weight)
        check.check_same_length(y_true=targets, sample_weight=weights)
        if not weights.all():
            _check_finite(targets, labelled)  # while the rows are still the user's
            rows = weights != 0
            targets, weights = targets[rows], weights[rows]
            kept = {label: values[rows] for label, values in labelled.items()}
    predictions = list(kept.values())
    brackets = run(lambda values: _bracket(targets, values, weights), predictions)
    sums, collected = _read(targets, predictions, weights, brackets)
    if not np.isfinite(sums.over + sums.under).all():
        _check_finite(targets, kept)
    medians = [
        _median(targets, values, weights, bracket, parts)
        for values, bracket, parts in zip(predictions, brackets, collected, strict=True)
    ]
    values = {**_metrics(sums, quantile), "median_absolute_error": np.array(medians), "r2": _r2(sums, targets)}
    if not many:
        values = {name: value.item() for name, value in values.items()}
    return RegressionMetrics(**values, n_samples=targets.size, quantile=quantile, names=names)


# From sums to metrics ---------------------------------------------------------------------------------------------


def _metrics(sums: RegressionSums, quantile: float) -> dict[str, Any]:
    """Give the metrics that are means."""
    mean_square = sums.square / sums.weight
    # A share of zero leaves its side out, an infinite sum included.
    sides = [share * side for share, side in ((quantile, sums.under), (1 - quantile, sums.over)) if share]
    with np.errstate(over="ignore"):
        return {
            "mean_squared_error": mean_square,
            "root_mean_squared_error": np.sqrt(mean_square),
            "mean_absolute_error": (sums.over + sums.under) / sums.weight,
            "mean_absolute_percentage_error": sums.relative / sums.weight,
            "pinball_loss": sum(sides) / sums.weight,
        }


def _r2(sums: RegressionSums, targets: NDArray[Any]) -> Floats:
    """Give the coefficient of determination, NaN with a warning where it has none."""
    if 0 < sums.scatter < math.inf:
        with np.errstate(over="ignore"):
            return 1 - sums.square / sums.scatter
    if (targets == targets[0]).all():
        check.warn_undefined("r2", f"y_true is constant ({targets[0]:g} in {targets.size} rows)")
    else:
        past = "underflow" if sums.scatter == 0 else "overflow"
        check.warn_undefined("r2", f"the squared deviations of y_true from its mean {past}")
    return np.full(sums.square.size, math.nan)


# The pass ---------------------------------------------------------------------------------------------------------


class _Part(NamedTuple):
    """The errors of a chunk: those within a bracket, and how many are not (or the weights that kernels add up)."""

    outside: NDArray[Any]
    inside: Floats
    weights: Floats | None


class _Space(NamedTuple):
    """Working memory of one thread."""

    scratch: Floats
    inside: Floats
    weights: Floats | None

    @classmethod
    def of(cls, rows: int, weighted: bool) -> _Space:
        return cls(np.empty(SCRATCH), np.empty(rows), np.empty(rows) if weighted else None)


class _Collector:
    """Splits the errors of a chunk at a bracket, block by block."""

    def __init__(self, bracket: Bracket, space: _Space) -> None:
        self.bracket, self.space, self.found = bracket, space, 0
        self.outside = np.zeros(3, dtype=np.int64) if space.weights is None else np.zeros((5, 2))

    def add(self, y: Floats, p: Floats, w: Floats | None) -> None:
        inside, weights = self.space.inside, self.space.weights
        if w is None:
            self.found = collect_errors(y, p, *self.bracket, self.outside, self.space.scratch, inside, self.found)
        else:
            self.found = collect_weighted_errors(y, p, w, *self.bracket, self.outside, inside, weights, self.found)

    def part(self) -> _Part:
        _, inside, weights = self.space
        return _Part(
            self.outside, inside[: self.found].copy(), None if weights is None else weights[: self.found].copy()
        )


def _blocks(part: slice, y: NDArray[Any], p: NDArray[Any], w: Floats | None) -> Iterator[tuple[Any, Any, Any]]:
    """Give targets, predictions and weights as kernels take them, a block at a time."""
    for block in blocks(part):
        yield plain_block(y[block], DOUBLE), plain_block(p[block], DOUBLE), None if w is None else w[block]


def _read(
    targets: NDArray[Any], predictions: Sequence[NDArray[Any]], weights: Floats | None, brackets: Sequence[Bracket]
) -> tuple[RegressionSums, list[list[_Part]]]:
    """Read all rows once; give the sums and, of each model, the parts that `_median` needs."""
    parts = chunks(targets.size)
    sample = np.sort(targets[:: max(targets.size >> 10, 1)])
    origin = float(sample[sample.size // 2])

    def read(item: tuple[int, slice], space: _Space) -> tuple[Floats, Floats, _Part]:
        model, part = item
        sums, moments, collector = np.zeros((4, 2)), np.zeros(3), _Collector(brackets[model], space)
        for y, p, w in _blocks(part, targets, predictions[model], weights):
            if w is None:
                collector.found = read_rows(
                    y,
                    p,
                    origin,
                    model == 0,
                    sums,
                    moments,
                    *brackets[model],
                    collector.outside,
                    *space[:2],
                    collector.found,
                )
                continue
            if model == 0:
                target_moments(y, w, origin, space.scratch, moments)
            error_sums(y, p, w, space.scratch, sums)
            collector.add(y, p, w)
        return sums, moments, collector.part()

    items = [(model, part) for model in range(len(predictions)) for part in parts]
    results = run(read, items, workspace=lambda: _Space.of(parts[0].stop, weights is not None))
    moments = np.zeros(3)
    for _, chunk_moments, _ in results[: len(parts)]:
        merge_moments(moments, *chunk_moments)
    by_model = [results[i : i + len(parts)] for i in range(0, len(results), len(parts))]
    totals = np.zeros((len(predictions), 4, 2))
    for total, group in zip(totals, by_model, strict=True):
        merge_sums(np.array([sums for sums, _, _ in group]), total)
    sums = RegressionSums(float(moments[0]), float(moments[2]), *totals[:, :, 0].T)
    return sums, [[part for _, _, part in group] for group in by_model]


# The median -------------------------------------------------------------------------------------------------------


def _bracket(targets: NDArray[Any], values: NDArray[Any], weights: Floats | None) -> Bracket:
    """Give two absolute errors that have the median between them, most likely."""
    if targets.size < 2 * SAMPLE:
        return EVERYTHING
    rows = slice(None, None, targets.size // SAMPLE)
    with np.errstate(all="ignore"):  # the rows are not yet known to be finite
        errors = np.abs(np.subtract(targets[rows], values[rows], dtype=np.float64))
        if weights is None:
            errors.sort()
            below, spread = np.arange(1.0, errors.size + 1), math.sqrt(errors.size)
        else:
            order = np.argsort(errors)
            errors, sampled = errors[order], weights[rows][order]
            below, spread = np.cumsum(sampled), math.sqrt(np.dot(sampled, sampled))
    # The share of the rows that a sample's median leaves below has a standard deviation of spread / 2 / below[-1].
    first, last = np.searchsorted(below, below[-1] / 2 + SIGMAS / 2 * np.array([-spread, spread]))
    return (
        float(errors[first - 1]) if first else EVERYTHING[0],
        float(errors[last]) if last < errors.size else EVERYTHING[1],
    )


def _median(
    targets: NDArray[Any], values: NDArray[Any], weights: Floats | None, bracket: Bracket, parts: Sequence[_Part]
) -> float:
    """Give the exact median absolute error; read the rows again if it is not within the bracket."""
    low, high = _middle(bracket, parts, targets.size) if weights is None else _weighted_middle(bracket, parts)
    if bracket[0] <= low and high <= bracket[1]:
        total = low + high
        return total / 2 if total < math.inf else low / 2 + high / 2

    def collect(part: slice, space: _Space) -> _Part:
        collector = _Collector(EVERYTHING, space)
        for rows in _blocks(part, targets, values, weights):
            collector.add(*rows)
        return collector.part()

    slices = chunks(targets.size)
    again = run(collect, slices, workspace=lambda: _Space.of(slices[0].stop, weights is not None))
    return _median(targets, values, weights, EVERYTHING, again)


def _middle(bracket: Bracket, parts: Sequence[_Part], n: int) -> Bracket:
    """Give the middle two of n errors (or one twice), or -inf and inf for one outside the bracket."""
    below, at_low, at_high = np.sum([part.outside for part in parts], axis=0).tolist()
    if bracket[0] == bracket[1]:
        at_high = 0  # they are those at low
    inside = np.concatenate([part.inside for part in parts])
    first = below + at_low
    places = [rank - first for rank in ((n - 1) // 2, n // 2)]
    within = [place for place in places if 0 <= place < inside.size]
    if within:
        inside.partition(within)

    def at(place: int) -> float:
        if place < 0:
            return bracket[0] if place >= -at_low else -math.inf
        if place < inside.size:
            return float(inside[place])
        return bracket[1] if place < inside.size + at_high else math.inf

    return at(places[0]), at(places[1])


def _weighted_middle(bracket: Bracket, parts: Sequence[_Part]) -> Bracket:
    """`_middle` by weight: the error at which the weight up to there passes half, or the two between which it is half.

    Weights are added without rounding, as long as they span less than 2**53: half is hit exactly or not.
    """
    totals = [
        sum(map(Fraction, values), Fraction(0)) for values in np.stack([p.outside for p in parts], 1).reshape(5, -1)
    ]
    inside = np.concatenate([part.inside for part in parts])
    weights = np.concatenate([part.weights for part in parts if part.weights is not None])
    order = np.argsort(inside)
    below, at_low, at_high, above, _ = map(_pair, totals)
    errors = np.concatenate(([-math.inf] * 2, [bracket[0]] * 2, inside[order], [bracket[1]] * 2, [math.inf] * 2))
    first, last = find_half(
        errors, np.concatenate((below, at_low, weights[order], at_high, above)), *_pair(sum(totals))
    )
    return float(errors[first]), float(errors[last])


def _pair(total: Fraction | int) -> Bracket:
    """Give a number as a float and the float nearest to the rest."""
    return float(total), float(total - Fraction(float(total)))


# Input ------------------------------------------------------------------------------------------------------------


def _as_double(name: str, values: NDArray[Any]) -> NDArray[Any]:
    """Give an array that blocks of float64 can be made of: itself, unless its floats are longer."""
    if values.dtype.kind != "f" or values.dtype.itemsize <= DOUBLE.itemsize:
        return values
    with np.errstate(over="ignore"):
        rounded = values.astype(DOUBLE)
    check.check_finite(name, rounded)
    return rounded


def _check_finite(targets: NDArray[Any], labelled: dict[str, NDArray[Any]]) -> None:
    """Raise if a target or a prediction is NaN or infinite."""
    for name, values in {"y_true": targets, **labelled}.items():
        check.check_finite(name, values)


def _short(value: Any) -> str:
    """Give a number, or the first of many, in few digits."""
    if not isinstance(value, np.ndarray):
        return f"{value:.4g}"
    shown = ", ".join(f"{one:.4g}" for one in value[:SHOWN])
    return f"[{shown}{', ...' if value.size > SHOWN else ''}]"
