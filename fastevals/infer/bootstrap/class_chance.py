"""How large calibration errors of classes are by chance: the errors of a calibrated model with the same probabilities.

An error is a sum of absolute values, and exceeds its true value by more the more bins it has. With several classes this
excess is often larger than the spread of the replicates. So the interval of an error reaches down to 0 unless the error
is larger than a calibrated model's (consistency resampling: Broecker and Smith 2007, doi:10.1175/WAF993.1).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import run
from fastevals._kernels.class_chance import draw_bins
from fastevals._kernels.random import stream_key
from fastevals.infer.bootstrap.samples import LEAVE_OUT, Floats
from fastevals.measure.class_losses import predicted_classes, readable
from fastevals.measure.class_scores import ClassScores
from fastevals.measure.class_specs import ClassMetric
from fastevals.measure.metric_specs import MetricSpec

MOST_DRAWS, FEWEST_DRAWS = 400, 40
STEPS = 1 << 31  # classes passed in all draws, about: a few seconds
CHANCE = np.uint64(LEAVE_OUT + np.uint64(1))  # a stream that no replicate uses


def errors_by_chance(
    models: Sequence[ClassScores], specs: Sequence[tuple[int, MetricSpec, ClassMetric]], key: np.uint64
) -> dict[int, Floats]:
    """Return draws of each calibration error, of shape (n_draws, n_models, ...), by its place among all metrics.

    Only errors in bins of equal width are drawn.
    """
    found: dict[int, Floats] = {}
    for n_bins in sorted({spec.options.get("n_bins", 10) for _, spec, _ in specs}):
        drawn = [_draw(scores, n_bins, key) for scores in models]
        support = np.array([each.support() for each in models], dtype=np.float64)
        for k, spec, metric in specs:
            if spec.options.get("n_bins", 10) != n_bins:
                continue
            if metric.source == "one vs. rest":
                found[k] = metric.averaged(np.stack([each[0] for each in drawn], axis=1), support)
            else:
                place = 1 if metric.source == "top label" else 2
                found[k] = np.stack([each[place] for each in drawn], axis=1)
    return found


def are_drawn(spec: MetricSpec) -> bool:
    """Return whether the error of a calibrated model can be drawn."""
    names = ("expected_calibration_error", "top_label_calibration_error")
    return spec.name in names and spec.options.get("strategy", "uniform") == "uniform"


def _draw(scores: ClassScores, n_bins: int, key: np.uint64) -> tuple[Floats, Floats, Floats]:
    """Return draws of the error of each class, of the top label, and of all classes' columns together."""
    columns = readable(scores.columns)
    likeliest, highest = predicted_classes(columns)
    edges = np.arange(1, n_bins) / n_bins
    k, n = columns.shape
    bins = np.empty((k + 1, n), dtype=np.min_scalar_type(n_bins))
    predicted = np.empty((k + 1, n_bins))
    for place, column in enumerate((*columns, highest)):
        bins[place] = np.searchsorted(edges, column, side="left")
        predicted[place] = np.bincount(bins[place], column.astype(np.float64), minlength=n_bins)
    n_draws = int(np.clip(2 * STEPS // columns.size, FEWEST_DRAWS, MOST_DRAWS))
    stream = np.uint64(stream_key(key, CHANCE))

    def draw(numbers: range) -> Iterator[Any]:
        off = np.empty((k + 1, n_bins))
        for number in numbers:
            draw_bins(columns, bins, likeliest, predicted, np.uint64(stream_key(stream, np.uint64(number))), off)
            errors = np.abs(off).sum(axis=1) / n
            yield errors[:-1], errors[-1], np.abs(off[:-1].sum(axis=0)).sum() / (n * k)

    tasks = [range(start, min(start + 4, n_draws)) for start in range(0, n_draws, 4)]
    parts = run(lambda numbers: list(draw(numbers)), tasks, compiles=(draw_bins, columns.dtype, bins.dtype))
    by_class, top, together = zip(*(each for part in parts for each in part), strict=True)
    return np.array(by_class), np.array(top), np.array(together)


def chance_limit(drawn: NDArray[Any], tail: float) -> Floats:
    """Return the error that a calibrated model exceeds with probability `tail`, from its draws.

    The quantile is normal, corrected for skewness (Cornish and Fisher 1938), so that few draws suffice.
    """
    from scipy.special import ndtri

    mean, spread = drawn.mean(axis=0), drawn.std(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        skewness = np.where(spread > 0, ((drawn - mean) ** 3).mean(axis=0) / spread**3, 0.0)
    z = -float(ndtri(tail))
    return np.asarray(mean + spread * (z + skewness * (z * z - 1) / 6))
