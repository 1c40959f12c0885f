"""The direction and the range of a metric that is known by its name only."""

from __future__ import annotations

import re
from typing import Any

from fastevals.measure.registry import METRICS
from fastevals.results import full_name

AVERAGED = re.compile(r"_(macro|micro|weighted|samples|binary|ovr|ovo|ovr_weighted|ovo_weighted)")
UNIT = re.compile(r"\s*(\[%\]|\(%\)|%|\(.*\))$")
UNBOUNDED = float("-inf"), float("inf")
OTHER_METRICS = {  # whether a greater value is better, for scikit-learn's scorers that are no metrics here
    "explained_variance": True, "max_error": False, "d2_absolute_error_score": True, "d2_log_loss_score": True,
    "d2_brier_score": True, "adjusted_rand_score": True, "rand_score": True, "adjusted_mutual_info_score": True,
    "normalized_mutual_info_score": True, "mutual_info_score": True, "completeness_score": True,
    "homogeneity_score": True, "v_measure_score": True, "fowlkes_mallows_score": True, "mean_squared_log_error": False,
    "mean_poisson_deviance": False, "mean_gamma_deviance": False, "mean_tweedie_deviance": False, "error": False,
    "test_error": False, "fit_time": False, "score_time": False, "loss": False,
}  # fmt: skip


def find_direction(metric: str | None) -> bool | None:
    """Return whether greater values of a metric are better; None if unknown.

    Names of metrics and of scikit-learn's scorers are known; scorers whose names begin with ``neg_`` are negative
    losses.
    """
    if metric is None:
        return None
    plain = metric.strip().casefold().replace("-", "_").replace(" ", "_")
    if plain.startswith("neg_"):
        return True
    entry = _entry(metric)
    return OTHER_METRICS.get(plain) if entry is None else entry.greater_is_better


def find_bounds(metric: str | None) -> tuple[float, float]:
    """Return the lowest and the highest value of a metric; infinite if unknown."""
    entry = None if metric is None else _entry(metric)
    return UNBOUNDED if entry is None else entry.bounds


def _entry(metric: str) -> Any:
    """Return a metric's entry in the registry, or None."""
    bare = UNIT.sub("", metric.strip())
    for name in (metric, bare, AVERAGED.sub("", bare.casefold())):
        if (entry := METRICS.get(full_name(name))) is not None:
            return entry
    return None
