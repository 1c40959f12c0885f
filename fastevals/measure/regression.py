"""Metrics of predicted numbers: sums from one pass over the rows, and the median.

Metrics of squared, absolute and relative errors are computed from sums (`RegressionSums`). For the median see
`exact_median`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, Generic, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._execution import blocks, chunks, get_num_threads, num_threads, run
from fastevals._kernels.median import find_half
from fastevals._kernels.regression import STRETCH_ROWS, SUMS, merge_sums, read_rows
from fastevals._options import check_number, warn_undefined
from fastevals._validation.arrays import (
    FLOAT64,
    USUAL_WEIGHT,
    Models,
    OneModel,
    as_predictions,
    as_scores,
    as_weights,
    check_exact_integers,
    check_finite,
    check_same_length,
    in_usual_unit,
)
from fastevals.counting.ordering import plain_block
from fastevals.counting.sweeps import sum_as_pair
from fastevals.document.frames import Columns, make_columns
from fastevals.measure.error_metrics import OF_SQUARES, OF_SUMS, RegressionSums, pinball_loss
from fastevals.results import Frozen, V

Floats = NDArray[np.float64]
Bracket = tuple[float, float]

SAMPLED_ROWS = 1 << 15  # rows that bracket the median; the pass then keeps about 2 % of all rows
BRACKET_SIGMAS = 4.0  # half the width of the bracket: a random sample misses the median once in 16,000
EVERYTHING = (-1.0, math.inf)  # a bracket with every absolute error
NOTHING = (math.inf, -math.inf)  # a bracket without errors: the median is not computed


class ErrorsAroundMedian(NamedTuple):
    """Errors of a chunk: the number (or weight) of errors outside a bracket, the errors inside, and their weights."""

    outside: NDArray[Any]
    inside: Floats
    weights: Floats | None


def empty_outside(weighted: bool) -> NDArray[Any]:
    """Return zeros to which a kernel adds the numbers, or weights, of the errors outside a bracket.

    Both have two dimensions, because a kernel compiles its branches for numbers and for weights with either array.
    """
    return np.zeros((5, 2)) if weighted else np.zeros((3, 1), dtype=np.int64)


def bracket_median(targets: NDArray[Any], values: NDArray[Any], weights: Floats | None) -> Bracket:
    """Return two absolute errors between which the median very likely lies."""
    if targets.size < 2 * SAMPLED_ROWS:
        return EVERYTHING
    rows = slice(None, None, targets.size // SAMPLED_ROWS)
    with np.errstate(all="ignore"):  # the rows may not be finite
        errors = np.abs(np.subtract(targets[rows], values[rows], dtype=np.float64))
    # The share of the rows below a sample's median has a standard deviation of spread / 2 / total.
    if weights is None:
        total, spread = errors.size, math.sqrt(errors.size)
        first, last = (math.ceil(total / 2 + BRACKET_SIGMAS / 2 * side * spread) - 1 for side in (-1, 1))
        errors.partition((first - 1, last))
    else:
        order = np.argsort(errors)
        errors, sampled = errors[order], weights[rows][order]
        below, spread = np.cumsum(sampled), math.sqrt(np.dot(sampled, sampled))
        first, last = np.searchsorted(below, below[-1] / 2 + BRACKET_SIGMAS / 2 * np.array([-spread, spread]))
    return (
        float(errors[first - 1]) if first else EVERYTHING[0],
        float(errors[last]) if last < errors.size else EVERYTHING[1],
    )


def exact_median(bracket: Bracket, parts: Sequence[ErrorsAroundMedian], n: int) -> float | None:
    """Return the median of the n errors in all parts, or None if it is outside the bracket."""
    unweighted = parts[0].weights is None
    low, high = _central_errors(bracket, parts, n) if unweighted else _weighted_central_errors(bracket, parts)
    if not bracket[0] <= low <= high <= bracket[1]:
        return None
    total = low + high
    return total / 2 if total < math.inf else low / 2 + high / 2


def _central_errors(bracket: Bracket, parts: Sequence[ErrorsAroundMedian], n: int) -> Bracket:
    """Return the middle two of n errors (twice the same if n is odd); -inf or inf for one outside the bracket."""
    before, at_low, at_high = np.sum([part.outside for part in parts], axis=(0, 2)).tolist()
    if bracket[0] == bracket[1]:
        at_high = 0  # the same errors as at the low end
    inside = np.concatenate([part.inside for part in parts])
    places = [rank - before for rank in ((n - 1) // 2, n // 2)]
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


def _weighted_central_errors(bracket: Bracket, parts: Sequence[ErrorsAroundMedian]) -> Bracket:
    """Return the two middle errors, which differ only if the cumulative weight at the first one is exactly half.

    Weights that span less than 2**53 are added without rounding, so that rounding cannot hide an exact half.
    """
    outside = np.stack([part.outside for part in parts], axis=1).reshape(5, -1)
    inside = np.concatenate([part.inside for part in parts])
    weights = np.concatenate([part.weights for part in parts if part.weights is not None])
    order = np.argsort(inside)
    below, at_low, at_high, above, _ = map(sum_as_pair, outside.tolist())
    errors = np.concatenate(([-math.inf] * 2, [bracket[0]] * 2, inside[order], [bracket[1]] * 2, [math.inf] * 2))
    first, last = find_half(
        errors, np.concatenate((below, at_low, weights[order], at_high, above)), *sum_as_pair(outside.ravel().tolist())
    )
    return float(errors[first]), float(errors[last])


TARGETS = 4  # index of the first sum of targets among those of `read_rows`
ORIGIN_SAMPLE = 1024  # targets that are sampled for the origin
LEAST_SQUARES = 2.0**-900  # smaller sums of squares may have lost digits
FAR_SHARE = 0.75  # largest share of squared deviations from the origin that may be due to its distance from the mean
MOST_SHOWN = 4  # models in a repr


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RegressionMetrics(Frozen, Generic[V]):
    """Errors of predictions: floats for one model, arrays of shape (n_models,) for several.

    Attributes
    ----------
    mean_squared_error, root_mean_squared_error : float or ndarray
        Infinite if the sum of squares exceeds the largest float (errors of about 1e154).
    mean_absolute_error, median_absolute_error : float or ndarray
        The median is exact: the middle error, or the mean of the middle two. With weights it is the lowest error at
        which the cumulative weight exceeds half the total; but if the cumulative weight at an error is exactly half, it
        is the mean of this error and the next.
    mean_absolute_percentage_error : float or ndarray
        Mean of ``abs(y_true - y_pred) / max(2**-52, abs(y_true))``, as a share (0.1 is 10 %); huge if a target is zero.
    r2 : float or ndarray
        ``1 - sum((y_true - y_pred)**2) / sum((y_true - mean(y_true))**2)``; NaN if the targets are constant.
    pinball_loss : float or ndarray
        Mean of ``quantile * (y_true - y_pred)`` where this is positive, else of ``(quantile - 1) * (y_true - y_pred)``.
    mean_error : float or ndarray
        Mean of ``y_pred - y_true``, the signed bias: above 0 if predictions are too high on average.
    n_samples : int
        Rows of weight above zero.
    quantile : float
        Quantile level of `pinball_loss`.
    names : tuple or None
        The models' names in order, if they have names.

    Examples
    --------
    >>> from fastevals import regression_metrics
    >>> regression_metrics([3, -0.5, 2, 7], [2.5, 0.0, 2, 8])
    RegressionMetrics(rmse=0.6124, mae=0.5, r2=0.9486, n_samples=4)
    """

    mean_squared_error: V
    root_mean_squared_error: V
    mean_absolute_error: V
    median_absolute_error: V
    mean_absolute_percentage_error: V
    r2: V
    pinball_loss: V
    mean_error: V
    n_samples: int
    quantile: float
    names: tuple[Any, ...] | None = None

    def __repr__(self) -> str:
        shown = {"rmse": self.root_mean_squared_error, "mae": self.mean_absolute_error, "r2": self.r2}
        values = ", ".join(f"{name}={_format(value)}" for name, value in shown.items())
        return f"RegressionMetrics({values}, n_samples={self.n_samples})"

    def _columns(self) -> Columns:
        names = [each.name for each in fields(self) if each.name != "names"]
        models = range(len(self.r2)) if isinstance(self.r2, np.ndarray) and self.names is None else self.names
        return make_columns({"model": models, **{name: getattr(self, name) for name in names}})


@overload
def regression_metrics(
    y_true: ArrayLike, y_pred: Models, *, sample_weight: ArrayLike | None = ..., quantile: float = ...
) -> RegressionMetrics[Floats]: ...
@overload
def regression_metrics(
    y_true: ArrayLike, y_pred: OneModel, *, sample_weight: ArrayLike | None = ..., quantile: float = ...
) -> RegressionMetrics: ...
def regression_metrics(
    y_true: ArrayLike, y_pred: Any, *, sample_weight: ArrayLike | None = None, quantile: float = 0.5
) -> RegressionMetrics[Any]:
    """Compute the usual errors of predicted numbers in one pass over the rows.

    Values are read as float64: longer floats are rounded first, and integers that would be rounded are refused.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Targets: finite numbers.
    y_pred : array-like of shape (n_samples,) or (n_models, n_samples), mapping of name to array-like, or frame
        Predictions of one model, or of several: each row, entry or column then holds the predictions of one model.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights, at least 0. Rows of weight zero are left out.
    quantile : float, default=0.5
        Quantile level of the pinball loss, in [0, 1]. At 0.5 the loss is half the mean absolute error.

    Returns
    -------
    RegressionMetrics

    Raises
    ------
    ValueError
        If inputs are empty, differ in length or do not hold finite real numbers, or if `quantile` is outside [0, 1].

    Warns
    -----
    UndefinedMetricWarning
        If `r2` is NaN because all targets are equal (or there is only one), or because errors exceed the largest float.
        (For two or more equal targets scikit-learn returns 1.0 if predictions are perfect, and 0.0 otherwise.)

    Notes
    -----
    This takes about 6 % of the predictions' memory, or as much as one model's predictions if the median is not where a
    regular sample of rows suggests. Results are the same to the bit with any number of threads.

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
    targets = as_double("y_true", as_scores("y_true", y_true))
    labelled, names, many = as_predictions("y_pred", y_pred)
    check_same_length(y_true=targets, **labelled)
    quantile = check_number("quantile", quantile, low=0, high=1)
    labelled = {label: as_double(label, values) for label, values in labelled.items()}
    weights = None
    kept = labelled
    if sample_weight is not None:
        weights = as_weights("sample_weight", sample_weight)
        check_same_length(y_true=targets, sample_weight=weights)
        if not weights.all():
            _check_finite(targets, labelled)  # before rows are dropped: errors number the user's rows
            rows = weights != 0
            targets, weights = targets[rows], weights[rows]
            kept = {label: values[rows] for label, values in labelled.items()}
    sums, exact = sum_errors(targets, list(kept.values()), weights, lambda: _check_finite(targets, kept))
    values: dict[str, Any] = {function.__name__: function(sums) for function in OF_SUMS}
    values |= {"pinball_loss": pinball_loss(sums, quantile), **exact}
    if np.isnan(values["r2"]).any():
        _warn_no_r2(targets)
    if not many:
        values = {name: value.item() for name, value in values.items()}
    return RegressionMetrics(**values, n_samples=targets.size, quantile=quantile, names=names)


def sum_errors(
    targets: NDArray[Any],
    predictions: Sequence[NDArray[Any]],
    weights: Floats | None,
    if_not_finite: Callable[[], None],
    *,
    median: bool = True,
) -> tuple[RegressionSums, dict[str, Floats]]:
    """Return each model's sums over rows with positive weights, and the metrics that sums do not determine.

    These are the median absolute error, and metrics of squared errors if the squares over- or underflow.
    """
    if weights is not None:
        weights = in_usual_unit(weights)  # otherwise products with errors over- or underflow before errors do
    brackets = [NOTHING] * len(predictions)
    if median:
        brackets = run(lambda values: bracket_median(targets, values, weights), predictions)
    origin = choose_origin(targets)
    totals, errors_around = _read_rows(targets, predictions, weights, brackets, origin)
    if not np.isfinite(totals[:, 1:3]).all():
        if_not_finite()
    weight, first, second = totals[0, TARGETS:].tolist()
    if first * (first / weight) > FAR_SHARE * second:
        totals[:1], _ = _read_rows(targets, predictions[:1], weights, brackets[:1], origin + first / weight)
    sums = _as_sums(totals)
    exact = _exact_squares(sums, targets, predictions, weights)
    if median:
        models = list(zip(predictions, brackets, errors_around, strict=True))
        exact["median_absolute_error"] = np.array(run(lambda model: _median(targets, weights, *model), models))
    return sums, exact


def sum_drawn_errors(
    targets: NDArray[Any],
    predictions: Sequence[NDArray[Any]],
    weights: NDArray[Any],
    origin: float,
    *,
    scatter: bool = True,
) -> tuple[RegressionSums, NDArray[np.bool_]]:
    """Return each model's sums over rows whose weights, or numbers of draws, may be zero.

    Rows are read in order, without a copy. Also returns which models' sums may have lost digits or be NaN: for these
    call `sum_errors` on the drawn rows. Deviations of targets are measured from `origin`.
    """
    totals, _ = _read_rows(targets, predictions, weights, [NOTHING] * len(predictions), origin)
    weight, first, second = totals[0, TARGETS:].tolist()
    if not weight > 1 / USUAL_WEIGHT:  # no row, or weights that need `in_usual_unit`
        return _as_sums(np.full_like(totals, np.nan)), np.ones(len(predictions), dtype=np.bool_)
    sums = _as_sums(totals)
    lost = ~np.isfinite(totals[:, :TARGETS]).all(axis=1)
    lost |= ~in_range(sums.square) & (sums.over + sums.under > 0)
    lost |= scatter and (not in_range(sums.scatter) or first * (first / weight) > FAR_SHARE * second)
    return sums, lost


def _as_sums(totals: Floats) -> RegressionSums:
    """Convert the sums of `_read_rows` to `RegressionSums`."""
    weight, first, second = totals[0, TARGETS:].tolist()
    return RegressionSums(weight, max(second - first * (first / weight), 0.0), *totals[:, :TARGETS].T)


def in_range(sums: Any) -> Any:
    """Return which sums of squares have certainly lost no digits: those neither near zero nor infinite."""
    return (np.asarray(sums) > LEAST_SQUARES) & np.isfinite(sums)


def _exact_squares(
    sums: RegressionSums, targets: NDArray[Any], predictions: Sequence[NDArray[Any]], weights: Floats | None
) -> dict[str, Floats]:
    """Return the metrics of squares if some over- or underflow, recomputed in suitable units."""
    lost = ~in_range(sums.square) & (sums.over + sums.under > 0)
    lost_targets = not in_range(sums.scatter) and not (targets == targets[0]).all()
    if not (lost_targets or lost.any()):
        return {}
    values = {function.__name__: function(sums) for function in OF_SQUARES}
    spread, places = sums.scatter / sums.weight, 0
    if lost_targets:
        exponent = -math.frexp(float(np.abs(targets).max()))[1]
        scaled = np.ldexp(targets.astype(np.float64), exponent)
        spread, places = mean_square(scaled, np.average(scaled, weights=weights), weights)
        places += exponent
    with np.errstate(over="ignore"):
        for k in np.flatnonzero(lost | lost_targets).tolist():
            square, exponent = mean_square(targets, predictions[k], weights)
            if lost[k]:
                values["mean_squared_error"][k] = np.ldexp(square, -2 * exponent)
                values["root_mean_squared_error"][k] = np.ldexp(math.sqrt(square), -exponent)
            if spread > 0:
                values["r2"][k] = 1 - np.ldexp(square / spread, 2 * (places - exponent))
    return values


def mean_square(values: Any, others: Any, weights: Floats | None) -> tuple[float, int]:
    """Scale differences by 2**exponent, so that the largest is below 1; return their mean square and the exponent."""
    with np.errstate(over="ignore"):
        differences, half = np.subtract(values, others, dtype=np.float64), 0
    if not np.isfinite(differences).all():
        differences, half = np.multiply(values, 0.5) - np.multiply(others, 0.5), -1
    exponent = -math.frexp(float(np.abs(differences).max()))[1]
    return float(np.average(np.square(np.ldexp(differences, exponent)), weights=weights)), exponent + half


def _warn_no_r2(targets: NDArray[Any]) -> None:
    if (targets == targets[0]).all():
        warn_undefined("r2", f"y_true is constant ({targets[0]:g} in {targets.size} rows)")
    else:
        warn_undefined("r2", "the squared errors exceed the largest float")


# The pass ---------------------------------------------------------------------------------------------------------


class _Space(NamedTuple):
    """Working memory of one thread: a stretch's errors, and the errors kept from a chunk with their weights."""

    errors: Floats
    inside: Floats
    weights: Floats | None

    @classmethod
    def of(cls, rows: int, weighted: bool) -> _Space:
        return cls(np.empty(STRETCH_ROWS), np.empty(rows), np.empty(rows) if weighted else None)


def _read_rows(
    targets: NDArray[Any],
    predictions: Sequence[NDArray[Any]],
    weights: Floats | None,
    brackets: Sequence[Bracket],
    origin: float,
) -> tuple[Floats, list[list[ErrorsAroundMedian]]]:
    """Read all rows; return each model's sums (the first's include the targets') and errors around each median."""
    parts = chunks(targets.size)

    def read(item: tuple[int, slice], space: _Space) -> tuple[Floats, ErrorsAroundMedian]:
        model, part = item
        bracket, (errors, inside, kept) = brackets[model], space
        sums, outside, n_inside = np.zeros((SUMS, 2)), empty_outside(weights is not None), 0
        for rows in blocks(part):
            y, p = plain_block(targets[rows], FLOAT64), plain_block(predictions[model][rows], FLOAT64)
            w = None if weights is None else weights[rows]
            n_inside = read_rows(y, p, w, origin, model == 0, sums, errors, *bracket, outside, inside, kept, n_inside)
        inside_weights = None if kept is None else kept[:n_inside].copy()
        return sums, ErrorsAroundMedian(outside, inside[:n_inside].copy(), inside_weights)

    items = [(model, part) for part in parts for model in range(len(predictions))]  # in this order, targets stay cached
    with num_threads(get_num_threads() if len(parts) > 1 else 1):  # a thread for few rows takes longer than they do
        results = run(read, items, workspace=lambda: _Space.of(parts[0].stop, weights is not None))
    by_model = [results[i :: len(predictions)] for i in range(len(predictions))]
    totals = np.zeros((len(predictions), SUMS, 2))
    for total, group in zip(totals, by_model, strict=True):
        merge_sums(np.array([sums for sums, _ in group]), total)
    return totals[:, :, 0], [[errors for _, errors in group] for group in by_model]


def choose_origin(targets: NDArray[Any]) -> float:
    """Return a target near the middle as the origin of deviations, because means far from zero are less precise."""
    sample = np.sort(targets[:: max(targets.size // ORIGIN_SAMPLE, 1)])
    return float(sample[sample.size // 2])


def _median(
    targets: NDArray[Any],
    weights: Floats | None,
    values: NDArray[Any],
    bracket: Bracket,
    parts: Sequence[ErrorsAroundMedian],
) -> float:
    """Return the exact median absolute error; read the rows again if it is outside the bracket."""
    median = exact_median(bracket, parts, targets.size)
    if median is not None:
        return median
    _, (parts,) = _read_rows(targets, [values], weights, [EVERYTHING], 0.0)
    return _median(targets, weights, values, EVERYTHING, parts)


# Input ------------------------------------------------------------------------------------------------------------


def as_double(name: str, values: NDArray[Any]) -> NDArray[Any]:
    """Return an array from which blocks of float64 can be made: unchanged, unless its floats are longer.

    Raise if float64 would round an integer, since differences may depend on the lost digits.
    """
    check_exact_integers(name, values)
    if values.dtype.kind != "f" or values.dtype.itemsize <= FLOAT64.itemsize:
        return values
    with np.errstate(over="ignore"):
        rounded = values.astype(FLOAT64)
    check_finite(name, rounded)
    return rounded


def _check_finite(targets: NDArray[Any], labelled: dict[str, NDArray[Any]]) -> None:
    """Raise if a target or a prediction is NaN or infinite."""
    for name, values in {"y_true": targets, **labelled}.items():
        check_finite(name, values)


def _format(value: Any) -> str:
    """Return a number, or the first few of several, as text with few digits."""
    if not isinstance(value, np.ndarray):
        return f"{value:.4g}"
    shown = ", ".join(f"{each:.4g}" for each in value[:MOST_SHOWN])
    return f"[{shown}{', ...' if value.size > MOST_SHOWN else ''}]"
