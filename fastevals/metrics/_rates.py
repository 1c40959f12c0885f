"""Precision, recall, F and Jaccard scores of counted labels, averaged over labels or rows."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals.counts import Cells
from fastevals.measure import cells
from fastevals.metrics._counted import Pairs
from fastevals.metrics._indicators import Indicators
from fastevals.metrics._parameters import warn_ill_defined

ALL = ("precision", "recall", "f-score")
MODIFIERS = {
    "precision": "predicted",
    "recall": "true",
    "f-score": "true nor predicted",
    "jaccard": "true or predicted",
}


def at_labels(counted: Pairs | Indicators, labels: Any, average: str | None) -> Cells:
    """Return the cells that rates are made of: of each label or row, or of all labels together."""
    at = counted.cells(labels, samplewise=average == "samples")
    if average != "micro":
        return at
    return cells.added_up(Cells(*map(np.asarray, at)), keepdims=True)


def rate_of(
    metric: str,
    at: Cells,
    function: Callable[[Cells], NDArray[np.float64]],
    average: str | None,
    zero_division: Any,
    warned: bool = True,
) -> NDArray[np.float64]:
    """Compute a rate, with what stands for 0 / 0 in its place."""
    values = function(at)
    undefined = np.isnan(values)
    if not undefined.any():
        return values
    if isinstance(zero_division, str):
        if warned:
            _warn_zero_division(metric, MODIFIERS[metric], average, values.size)
        zero_division = 0.0
    values[undefined] = zero_division
    return values


def mean(values: NDArray[np.float64], weights: NDArray[Any] | None) -> float:
    """Average the values that are not NaN; without weights where these have all none."""
    kept = ~np.isnan(values)
    if not kept.all():
        values, weights = values[kept], None if weights is None else weights[kept]
    if not values.size:
        return math.nan
    if weights is None:
        return float(values.mean())
    weights = np.ldexp(weights, cells.shift_of(weights.max())) if weights.dtype.kind == "f" else weights
    total = weights.sum()
    return float((values * weights).sum() / total) if total else float(values.mean())


def prf(
    counted: Pairs | Indicators,
    wanted: Collection[str],
    *,
    labels: Any,
    average: str | None,
    beta: float = 1.0,
    zero_division: Any = "warn",
    warn_for: Collection[str] = ALL,
) -> dict[str, Any]:
    """Compute the rates that are wanted, each a number, or with no average an array over labels; and the support."""
    at, beta = at_labels(counted, labels, average), float(min(beta, sys.float_info.max))  # an integer may be longer
    functions: dict[str, Callable[[Cells], NDArray[np.float64]]] = {
        "precision": cells.precision,
        "recall": cells.recall,
        "f-score": lambda at: cells.f_score(at, beta),
        "jaccard": cells.jaccard,
    }
    aliases = {}
    if beta == 0 or math.isinf(beta * beta):
        aliases["f-score"] = "precision" if beta == 0 else "recall"
    rates: dict[str, Any] = {}
    for metric in wanted:
        source = aliases.get(metric, metric)
        warned = source in warn_for and (source == metric or source not in wanted)
        rates[metric] = rate_of(source, at, functions[source], average, zero_division, warned)
    if average is None:
        return {**rates, "support": at.tp + at.fn}
    weights = None
    if average == "weighted":
        weights = at.tp + at.fn
    elif average == "samples":
        weights = counted.weights
    return {metric: mean(values, weights) for metric, values in rates.items()} | {"support": None}


# Checks ---------------------------------------------------------------------------------------------------------------


def _warn_zero_division(metric: str, modifier: str, average: str | None, n_values: int) -> None:
    """Warn that some of a metric's values have a zero denominator."""
    of, within = ("label", "samples") if average == "samples" else ("sample", "labels")
    where = "due to" if n_values == 1 else f"in {within} with"
    warn_ill_defined(
        f"{metric.capitalize()} is ill-defined and being set to 0.0 {where} no {modifier} {of}s. Use `zero_division` "
        "parameter to control this behavior."
    )
