"""What a bootstrap gives."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals.infer.bootstrap.intervals import TIE, confidence_interval, share_below
from fastevals.infer.bootstrap.plan import Plan
from fastevals.infer.bootstrap.samples.base import Sample, Values
from fastevals.infer.bootstrap.subjects import Asked
from fastevals.infer.results import ResampledByMetric
from fastevals.measure.asked import AskedMetric
from fastevals.measure.metric_kinds import best_of, bounds_of
from fastevals.measure.results import Frozen, Interval, number_or_array

__all__ = ["BootstrapResult", "Estimate", "accelerations_of", "estimate_of"]

Floats = NDArray[np.float64]

FEW = 50  # rows of a class with fewer of which intervals of a best value cover too seldom
BEYOND = 0.75  # share of replicates beyond a best value from which it may be the best by chance alone


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Estimate(Frozen):
    """A metric and how sure it is: floats, or arrays where the metric gives an array.

    Attributes
    ----------
    value : float or ndarray
        Of the data.
    confidence_interval : Interval
        `low` and `high`.
    standard_error : float or ndarray
        Standard deviation of the replicates.
    bias : float or ndarray
        Mean of the replicates less the value.
    n_undefined : int or ndarray
        Replicates in which the metric is undefined (one class, a zero denominator): they are left out.
    bootstrap_distribution : ndarray of shape (n_resamples, ...) or None
        All replicates, NaN where undefined; None unless asked for.
    caution : str
        Why the interval may hold the true value more seldom than its level says; empty where there is no such reason
        known. Said of metrics that are the best of many, such as KS (see `bootstrap`).

    Examples
    --------
    >>> import fastevals
    >>> ranking = fastevals.Ranking([0, 0, 1, 0, 1, 1], [0.1, 0.4, 0.3, 0.2, 0.6, 0.8])
    >>> fastevals.bootstrap(ranking, "roc_auc", stratified=True, rng=1)["roc_auc"].value
    0.8888888888888888
    """

    value: Any
    confidence_interval: Interval
    standard_error: Any
    bias: Any
    n_undefined: Any
    bootstrap_distribution: Floats | None = None
    caution: str = ""

    def __repr__(self) -> str:
        if isinstance(self.value, np.ndarray):
            return f"Estimate({self.value.shape} values)"
        low, high = self.confidence_interval
        undefined = f", n_undefined={self.n_undefined}" if self.n_undefined else ""
        caution = f", caution={self.caution!r}" if self.caution else ""
        return (
            f"Estimate({self.value:.4g}, [{low:.4g}, {high:.4g}], standard_error={self.standard_error:.3g}"
            f"{undefined}{caution})"
        )


class BootstrapResult(ResampledByMetric):
    """What `bootstrap` gives: a mapping from each metric to its `Estimate`.

    Examples
    --------
    >>> import fastevals
    >>> result = fastevals.bootstrap(fastevals.ConfusionMatrix([[40, 10], [5, 45]]), ["accuracy", "recall"], rng=0)
    >>> list(result), result["accuracy"].value
    (['accuracy', 'recall'], 0.85)
    """

    __slots__ = ()


def accelerations_of(sample: Sample, values: Values, asked: Asked, plan: Plan) -> dict[int, Any]:
    """Compute BCa's accelerations, by the numbers of the metrics that have use for one."""
    if plan.method != "BCa":
        return {}
    used = [k for k, each in enumerate(asked.values()) if best_of(each) is None and not np.isnan(values[k]).all()]
    return sample.accelerations(plan.key, used)


def estimate_of(
    label: str,
    asked: AskedMetric | Callable[..., Any],
    value: Any,
    replicates: Floats,
    acceleration: Any,
    plan: Plan,
    keep: bool,
    class_sizes: tuple[int, int] | None,
) -> Estimate:
    """Make the estimate of a metric from its replicates, of shape (n_resamples, ...); warn of what is not as usual."""
    values = np.asarray(value, dtype=np.float64)
    columns = replicates.reshape(replicates.shape[0], -1)
    each = zip(columns.T, values.ravel(), np.broadcast_to(acceleration, values.shape).ravel(), strict=True)
    limits = bounds_of(asked), best_of(asked)
    found = [_column(column, float(one), float(a), plan, *limits) for column, one, a in each]
    low, high, error, bias = (np.reshape(each, values.shape) for each in np.array(found).reshape(-1, 4).T)
    undefined = np.isnan(columns).sum(axis=0).reshape(values.shape)
    _warn(label, values, columns, low, undefined, plan.method)
    return Estimate(
        number_or_array(values),
        Interval(number_or_array(low), number_or_array(high)),
        number_or_array(error),
        number_or_array(bias),
        undefined if undefined.ndim else int(undefined),
        replicates if keep else None,
        "" if limits[1] is None or np.isnan(low).all() else _caution(columns, values, plan, class_sizes),
    )


def _caution(columns: Floats, values: Floats, plan: Plan, class_sizes: tuple[int, int] | None) -> str:
    """Say why the interval of a value that is the best over thresholds may cover too seldom."""
    if plan.method != "BCa":
        return (
            f"replicates lie beyond a best value as it lies beyond the true one: {plan.method!r} takes that for width"
        )
    said = []
    if class_sizes is not None and min(class_sizes) < FEW:
        rows = f"{min(class_sizes)} row{'s' * (min(class_sizes) != 1)} of a class"
        said.append(f"{rows}: with fewer than {FEW} such intervals cover too seldom")
    for column, value in zip(columns.T, values.ravel(), strict=True):
        defined = column[~np.isnan(column)]
        below = share_below(defined, float(value), TIE * abs(float(value))) if defined.size else 0.5
        if max(below, 1 - below) >= BEYOND:
            said.append(f"{max(below, 1 - below):.0%} of replicates lie beyond the value: it may be so by chance alone")
    return "; ".join(said)


def _column(
    replicates: Floats,
    value: float,
    acceleration: float,
    plan: Plan,
    bounds: tuple[float, float],
    best_of: tuple[float, float] | None,
) -> Any:
    """Give the ends of the interval, the standard error and the bias of one number."""
    defined = replicates
    if not np.isfinite(replicates.sum()):
        defined = replicates[~np.isnan(replicates)]
        if not np.isfinite(defined).all():  # an infinite loss: nothing is known of its spread
            return (math.nan,) * 4
    interval = confidence_interval(
        plan.method,
        defined,
        value,
        confidence_level=plan.confidence_level,
        alternative=plan.alternative,
        acceleration=acceleration,
        bounds=bounds,
        best_of=best_of,
    )
    with np.errstate(over="ignore"):
        error = float(defined.std(ddof=1)) if defined.size > 1 else math.nan
    return *interval, error, float(defined.mean()) - value if defined.size else math.nan


def _warn(label: str, values: Floats, columns: Floats, low: Floats, undefined: NDArray[Any], method: str) -> None:
    """Say which replicates are undefined, and what intervals have no width or aren't there."""
    n = columns.shape[0]
    if undefined.any():
        check.warn_left_out(label, int(undefined.max()), n)
    there = ~np.isnan(values).ravel()
    if (there & np.isinf(columns).any(axis=0)).any():
        check.warn_undefined(f"the interval of {label}", "the metric is infinite in some replicates")
        return
    with np.errstate(invalid="ignore"):
        width = np.nanmax(columns, axis=0, initial=-math.inf) - np.nanmin(columns, axis=0, initial=math.inf)
    if (there & (width >= 0) & (width <= TIE * np.abs(values).ravel())).any():
        check.warn_degenerate(
            f"the interval of {label}", "all its replicates are equal, which says nothing of how sure it is"
        )
    elif (there & np.isnan(low).ravel()).any():
        because = f"{method} finds none in {n} replicates (all on one side of the value, or fewer than two)"
        check.warn_undefined(f"the interval of {label}", because)
