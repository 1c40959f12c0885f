"""Each class against the rest for pages: counts at a few thresholds, and predicted against observed shares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fastevals._distinct import sorted_unique
from fastevals.counts import Cells, ThresholdCounts
from fastevals.document.page.paths import kept_within, segment_distances
from fastevals.measure.curves.calibration import CalibrationCurve
from fastevals.measure.curves.numbers import number_of
from fastevals.measure.curves.registry import CURVES
from fastevals.measure.ranking.ranking import Ranking
from fastevals.measure.registry import SCORE_METRICS
from fastevals.show.report.data import ModelNumbers
from fastevals.show.report.measure import format_threshold

CLASS_CURVES = ("roc", "precision_recall", "gain")  # pages draw them from counts, with straight lines between these
BEST = "f1"  # at its highest value each model's threshold is, in each class
MOST_LISTED = 50  # classes to choose from: of more, those with the lowest AUC
LOWEST_LISTED = 20
THRESHOLDS_IN_ALL = 6000  # of all models and classes on a page
FEWEST_THRESHOLDS, MOST_THRESHOLDS = 40, 400  # of a model and class
PIXELS = 340  # of an axis
TOLERANCES = (4.0, 2.0, 1.0, 0.5, 0.25)  # pixels: the last one that leaves few enough thresholds is used


def listed_classes(aucs: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the places of the classes to choose from, given each model's AUCs, of shape (n_models, n_classes).

    They are all classes with an AUC, or, if these are many, those with the lowest mean AUC, the lowest first.
    """
    means = aucs.mean(axis=0)
    order = np.argsort(means, kind="stable")  # NaN is last
    defined = order[: int(np.count_nonzero(~np.isnan(means)))]
    return np.sort(defined) if defined.size <= MOST_LISTED else defined[:LOWEST_LISTED]


class RankedClasses(Protocol):
    """The rankings of classes against the rest, by place."""

    @property
    def rankings(self) -> Sequence[Ranking]:
        """The rankings."""


def measure_each_class(
    name: str,
    classes: RankedClasses,
    listed: Sequence[int],
    aucs: NDArray[np.float64],
    n_models: int,
    calibrations: Sequence[CalibrationCurve] | None = None,
) -> dict[int, ModelNumbers]:
    """Return a model's numbers, counts and calibration for each listed class against the rest, by place.

    By default the calibration is computed from the counts, which must then have a row for each distinct score.
    """
    most = int(np.clip(THRESHOLDS_IN_ALL // (n_models * max(len(listed), 1)), FEWEST_THRESHOLDS, MOST_THRESHOLDS))
    found = {}
    for k in listed:
        curve = None if calibrations is None else calibrations[k]
        found[k] = _measure_class(name, classes.rankings[k], float(aucs[k]), most, curve)
    return found


def _measure_class(name: str, ranking: Ranking, auc: float, most: int, curve: CalibrationCurve | None) -> ModelNumbers:
    counts, threshold = ranking.counts, ranking.best_threshold(BEST).threshold
    row = counts.rows_at_least(np.asarray(threshold))
    cells = Cells(*(np.asarray(cell).item() for cell in counts.cells(row)))
    metrics = {"roc_auc": auc, "pr_auc": float(SCORE_METRICS["pr_auc"](counts))}
    at_threshold = (each for each in SCORE_METRICS.values() if each.in_reports and each.of == "cells")
    metrics |= {each.name: float(each(cells)) for each in at_threshold}
    rows = few_rows(counts, most, threshold)
    below = np.append(counts.thresholds[1:], -np.inf)[rows]
    return ModelNumbers(
        name, metrics, threshold=float(threshold), threshold_shown=format_threshold(float(threshold), counts),
        cells=cells, counts=counts.take(rows), below=below,
        curves={"calibration": CURVES["calibration"].of_counts(counts) if curve is None else curve},
    )  # fmt: skip


def few_rows(counts: ThresholdCounts, most: int, threshold: float) -> NDArray[np.intp]:
    """Return the rows of about `most` thresholds: straight lines between them draw `CLASS_CURVES`."""
    last = counts.thresholds.size - 1
    if last < most:
        return np.arange(last + 1)
    always = np.array([0, 1, last, int(counts.rows_at_least(np.asarray(threshold)))], dtype=np.intp)
    steps = np.arange(1, PIXELS) / PIXELS
    along = (counts.tps, counts.fps, counts.tps + counts.fps)
    rows = sorted_unique(np.concatenate([always, *(np.searchsorted(each, steps * each[-1]) for each in along)]))
    pictures = [_in_pixels(name, counts.take(rows)) for name in CLASS_CURVES]

    def distance(inner: Any, before: Any, after: Any) -> NDArray[np.float64]:
        return np.max([segment_distances(points, inner, before, after) for points in pictures], axis=0)  # type: ignore[no-any-return]

    kept = np.isin(rows, always)
    for tolerance in TOLERANCES:
        more = kept.copy()
        more[kept_within(more, distance, tolerance)] = True
        if np.count_nonzero(more) > most:
            break
        kept = more
    left = most - int(np.count_nonzero(kept))
    kept[np.linspace(0, rows.size - 1, left).astype(np.intp)] = True  # to keep steps of a threshold small
    return rows[kept]


def _in_pixels(name: str, counts: ThresholdCounts) -> NDArray[np.float64]:
    """Return the points of a curve; the undefined first point of a precision-recall curve is at its second one."""
    axes = (CURVES[name].x, CURVES[name].y)
    points = np.stack([number_of(axis.number, counts)(counts.tps, counts.fps) for axis in axes], axis=1)
    points[0] = np.where(np.isnan(points[0]), points[1], points[0])
    scaled: NDArray[np.float64] = PIXELS * points
    return scaled
