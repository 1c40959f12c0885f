"""How large calibration errors of classes are by chance: the errors of a calibrated model with the same probabilities.

An error is a sum of absolute values, and exceeds its true value by more the more bins it has. With several classes this
excess is often larger than the spread of the replicates. So the interval of an error reaches down to 0 unless the error
is larger than a calibrated model's (consistency resampling: Broecker and Smith 2007, doi:10.1175/WAF993.1).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
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
DRAWS_PER_TASK = 8
ROWS_DRAWN = 1 << 27  # rows of all models and draws: about 4 seconds of CPU
CHANCE = np.uint64(LEAVE_OUT + np.uint64(1))  # a stream that no replicate uses


def errors_by_chance(models: Sequence[ClassScores], specs: Errors, key: np.uint64) -> dict[int, Floats]:
    """Return draws of each calibration error, of shape (n_draws, n_models, ...), by its place among all metrics.

    Only errors in bins of equal width are drawn.
    """
    found: dict[int, Floats] = {}
    for n_bins in sorted({spec.options.get("n_bins", 10) for _, spec, _ in specs}):
        n_draws = int(np.clip(ROWS_DRAWN // sum(each.n_rows for each in models), FEWEST_DRAWS, MOST_DRAWS))
        drawn = [_draw(scores, n_bins, n_draws, key) for scores in models]
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


Errors = Sequence[tuple[int, MetricSpec, ClassMetric]]


def drawn_errors(specs: Iterable[Any], metrics: Sequence[ClassMetric]) -> Errors:
    """Return the calibration errors that a calibrated model has by chance, with their places among all metrics."""
    names = ("expected_calibration_error", "top_label_calibration_error")
    return [
        (k, spec, metrics[k])
        for k, spec in enumerate(specs)
        if isinstance(spec, MetricSpec) and spec.name in names and spec.options.get("strategy", "uniform") == "uniform"
    ]


def _draw(scores: ClassScores, n_bins: int, n_draws: int, key: np.uint64) -> tuple[Floats, Floats, Floats]:
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
    stream = np.uint64(stream_key(key, CHANCE))

    def draw(numbers: range) -> Iterator[Any]:
        keys = np.array([stream_key(stream, np.uint64(number)) for number in numbers], dtype=np.uint64)
        off = np.empty((len(numbers), k + 1, n_bins))
        draw_bins(columns, bins, likeliest, predicted, keys, np.empty(k), off)
        for each in off:
            errors = np.abs(each).sum(axis=1) / n
            yield errors[:-1], errors[-1], np.abs(each[:-1].sum(axis=0)).sum() / (n * k)

    tasks = [range(start, min(start + DRAWS_PER_TASK, n_draws)) for start in range(0, n_draws, DRAWS_PER_TASK)]
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
