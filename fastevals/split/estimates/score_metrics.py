"""Metrics of scores on test sets, computed from threshold counts or from sums of row losses."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._kernels.fold_counts import add_terms, count_cells
from fastevals._validation.arrays import check_finite, check_probabilities
from fastevals.counting.ordering import count_by_score
from fastevals.counts import ThresholdCounts
from fastevals.infer.bootstrap.ranking_samples import RankingSweep, sort_rows_by_step
from fastevals.measure.kinds import SCORES
from fastevals.measure.metric_specs import MetricSpec, RankingMetric
from fastevals.measure.ranking.ranking import Ranking
from fastevals.measure.registry import SCORE_METRICS
from fastevals.split.estimates.split_metrics import (
    AdditiveMetrics,
    Floats,
    Folds,
    SplitMetrics,
    gain_variance,
    rows_by_test_set,
)
from fastevals.split.splitters.base import Rows

FEW_CELLS = 1 << 22  # up to this many steps in a repetition's test sets, one pass counts all sets (3 times as fast)
VARIES = 1e-12  # relative to the mean square; a smaller variance is a rounding error
PER_ROW = 2  # one pass also counts all sets up to this many steps per row; a single fold never has more
MOST_EXACT = 2**31  # with fewer pairs of rows, pairs are counted as integers


class ScoreMetrics(SplitMetrics):
    """Metrics of scores of the positive class; `MeanLossMetrics` don't need thresholds, `ThresholdMetrics` do."""

    kind = "scores"
    knows_no_information = True

    def __init__(self, specs: Mapping[str, MetricSpec], positive: NDArray[np.bool_]) -> None:
        self.names = list(specs)
        self._specs = specs
        self._positive = positive
        self._metrics()  # raises before the first fit if an option is invalid
        self._probabilities = any(
            each.name in SCORE_METRICS and SCORE_METRICS[each.name].of == "probabilities" for each in specs.values()
        )

    def _metrics(self) -> list[RankingMetric]:  # made anew in each call, because closures can't be pickled
        return SCORES.metrics(self._specs)

    def check_predictions(self, name: str, predicted: Any, rows: Rows | None = None) -> NDArray[Any]:
        """Return the scores unchanged; raise unless they are finite and, if a metric needs it, probabilities."""
        scores = SCORES.as_array(name, predicted)
        check_finite(name, scores)
        if self._probabilities:
            check_probabilities(name, scores.min(), scores.max())
        return scores

    def evaluate_counts(self, counted: Sequence[ThresholdCounts]) -> Floats:
        """Return the metrics of n threshold counts, of shape (n_metrics, n)."""
        return SCORES.evaluate(counted, self._metrics())

    def no_information(self, predicted: NDArray[Any]) -> Floats:
        """Return the values that metrics would have if scores had the same distribution in both classes."""
        whole = Ranking(self._positive, predicted).counts
        rows = whole.tps + whole.fps
        n_pos, n_neg = int(whole.n_pos), int(whole.n_neg)
        n = n_pos + n_neg
        # Counting pairs as integers makes the AUC exactly 0.5.
        by = (n_pos, n_neg) if n * n < MOST_EXACT else (n_pos / n, n_neg / n)
        return self.evaluate_counts([ThresholdCounts._unchecked(whole.thresholds, rows * by[0], rows * by[1])])[:, 0]


class ThresholdMetrics(ScoreMetrics):
    """Metrics of threshold counts; scores are sorted once, and all test sets use this order."""

    needs_times_tested = True

    def count_split(self, rows: Rows, predicted: NDArray[Any]) -> ThresholdCounts:
        """Return the threshold counts of a test set."""
        return Ranking(self._positive[rows], predicted).counts

    def values(self, counted: Sequence[ThresholdCounts]) -> Floats:
        """Return each metric of each test set."""
        return self.evaluate_counts(counted)

    def pool(self, counted: Sequence[ThresholdCounts]) -> ThresholdCounts:
        """Return the pooled counts, at the thresholds of all test sets."""
        return count_by_score(
            np.concatenate([each.thresholds[1:] for each in counted]),
            *(np.concatenate([np.diff(getattr(each, name)) for each in counted]) for name in ("tps", "fps")),
        )

    def micro(self, pooled: ThresholdCounts) -> Floats:
        """Return each metric of the pooled counts."""
        return self.evaluate_counts([pooled])[:, 0]

    def class_variance(self, name: str, pooled: ThresholdCounts) -> float:
        """Compute the variance, over classes, of a metric's gain from one more row of the class.

        The new row is divided over scores in the same proportions as the rows of its class.
        """
        n_pos, n_neg = float(pooled.n_pos), float(pooled.n_neg)
        if not (n_pos and n_neg):
            return math.nan
        metric = SCORES.metric(self._specs[name])
        thresholds, tps, fps = pooled.thresholds, pooled.tps.astype(np.float64), pooled.fps.astype(np.float64)
        more = [
            ThresholdCounts._unchecked(thresholds, tps * (1 + positive / n_pos), fps * (1 + negative / n_neg))
            for negative, positive in ((0, 0), (1, 0), (0, 1))
        ]
        (values,) = SCORES.evaluate(more, [metric])
        return gain_variance(values[0], values[1:], np.array([n_neg, n_pos]))

    def prepare(self, predicted: NDArray[Any], n_folds: int) -> SteppedScores | SortedScores:
        """Sort the scores, and choose how to count test sets."""
        whole = Ranking(self._positive, predicted).counts
        if n_folds * whole.thresholds.size <= max(FEW_CELLS, PER_ROW * self._positive.size):
            return SteppedScores.from_scores(whole, predicted, ~self._positive, self._metrics())
        return SortedScores.from_scores(whole, predicted, self._positive)

    def measure_folds(self, prepared: Any, folds: Folds, n_folds: int, *, keep: bool) -> tuple[Floats, Any]:
        """Return each metric of all test sets."""
        if isinstance(prepared, SteppedScores):
            return prepared.values(folds, n_folds), None
        return self._one_by_one(prepared, folds, n_folds), None

    def _one_by_one(self, ordered: SortedScores, folds: Folds, n_folds: int) -> Floats:
        """Return the metrics of many test sets, computed one by one, each with its own thresholds."""
        results = np.empty((len(self.names), len(folds), n_folds))
        metrics = self._metrics()
        for repeat, row_folds in enumerate(folds):
            places, starts = rows_by_test_set(row_folds[ordered.rows], n_folds)
            for fold in range(n_folds):
                counts = ordered.counts(places[starts[fold] : starts[fold + 1]])
                results[:, repeat, fold] = [metric.of_counts(counts) for metric in metrics]
        return results

    def pool_folds(self, parts: Sequence[Any], predicted: NDArray[Any], tested: NDArray[Any]) -> ThresholdCounts:
        """Return the counts of all test sets, where each row counts as often as it is tested."""
        some = tested > 0
        times, positive = tested[some], np.broadcast_to(self._positive, predicted.shape)[some]
        return count_by_score(predicted[some], times * positive, times * ~positive)


class SortedScores(NamedTuple):
    """Scores in descending order; test sets keep this order."""

    rows: Rows  # row numbers in this order
    positive: NDArray[np.bool_]  # whether each of these rows is positive
    ranks: Rows  # index of each row's score in `thresholds`
    thresholds: NDArray[Any]  # all distinct scores, descending

    @classmethod
    def from_scores(cls, whole: ThresholdCounts, scores: NDArray[Any], positive: NDArray[np.bool_]) -> SortedScores:
        """Sort the scores; `whole` contains the threshold counts of all rows."""
        rows = np.argsort(scores, kind="stable")[::-1]
        ordered = scores[rows]
        ranks = np.concatenate(([0], np.cumsum(ordered[1:] != ordered[:-1])))
        return cls(rows, positive[rows], ranks, whole.thresholds[1:])

    def counts(self, places: Rows) -> ThresholdCounts:
        """Return the threshold counts of the rows at some positions in this order."""
        ranks = self.ranks[places]
        last = np.append(np.flatnonzero(ranks[1:] != ranks[:-1]), ranks.size - 1)
        tps = np.cumsum(self.positive[places])[last]
        from_none = ((np.inf, self.thresholds[ranks[last]]), (0, tps), (0, last + 1 - tps))
        return ThresholdCounts._unchecked(*map(np.concatenate, [([first], rest) for first, rest in from_none]))


class SteppedScores(NamedTuple):
    """Scores as steps of one ranking of all rows; each test set counts its rows per step."""

    sweeps: RankingSweep  # the steps, and the metrics of counts per step
    cells: NDArray[np.int32]  # the cell of each row, numbered by class and step

    @classmethod
    def from_scores(
        cls, whole: ThresholdCounts, scores: NDArray[Any], negative: NDArray[np.bool_], metrics: Sequence[RankingMetric]
    ) -> SteppedScores:
        """Sort the scores; `whole` contains the threshold counts of all rows."""
        sweeps, rows, ordered = sort_rows_by_step(whole, scores, negative, metrics)
        cells = np.empty(rows.size, dtype=np.int32)
        cells[rows] = ordered
        return cls(sweeps, cells)

    def values(self, folds: Folds, n_folds: int) -> Floats:
        """Return each metric of all test sets, of shape (n_metrics, n_repeats, n_folds)."""
        sizes = self.sweeps.steps.sizes
        counts, space = np.empty((n_folds, *sizes.shape), dtype=sizes.dtype), self.sweeps.workspace()
        raw = np.empty((len(folds), n_folds, self.sweeps.n_raw))
        for row_folds, repeat_raw in zip(folds, raw, strict=True):
            counts[:] = 0
            count_cells(row_folds[None], self.cells, counts.reshape(1, n_folds, -1))
            for fold_counts, row in zip(counts, repeat_raw, strict=True):
                self.sweeps.sweep(fold_counts, space, row)
        values = self.sweeps.values(raw.reshape(-1, self.sweeps.n_raw))
        return np.stack(values).reshape(-1, len(folds), n_folds)


class MeanLossMetrics(ScoreMetrics, AdditiveMetrics):
    """Metrics that are means of row losses, such as the Brier score and the log loss."""

    def is_row_mean(self, name: str) -> bool:
        """Return True."""
        return True

    def row_terms(self, predicted: NDArray[Any], rows: Rows | None) -> NDArray[Any]:
        """Return the loss of each row for each metric."""
        positive = self._positive if rows is None else self._positive[rows]
        losses = [_losses(metric)(predicted.astype(np.float64)) for metric in self._metrics()]
        return np.stack([np.where(positive, own, other) for own, other in losses], axis=1)

    def sum_by_fold(self, prepared: NDArray[Any], folds: Folds, n_folds: int) -> NDArray[Any]:
        """Add up the losses of each test set."""
        totals = np.zeros((len(folds), n_folds, 1 + len(self.names)))
        add_terms(folds, prepared, totals)
        return totals

    def evaluate_totals(self, totals: NDArray[Any]) -> Floats:
        """Return the mean losses."""
        return np.asarray((totals[:, 1 : 1 + len(self.names)] / totals[:, :1]).T)

    def count_split(self, rows: Rows, predicted: NDArray[Any]) -> NDArray[Any]:
        """Return the sums of losses over a test set, in total and by class."""
        by_class = self._by_class(predicted[None], self._positive[rows][None], np.ones((1, rows.size), dtype=np.int64))
        return np.concatenate((AdditiveMetrics.count_split(self, rows, predicted), by_class.ravel()))

    def pool(self, counted: Sequence[Any]) -> LossTotals:
        """Return the sums over all test sets, in total and, if the test sets have sums by class, by class."""
        totals = AdditiveMetrics.pool(self, counted)
        m = len(self.names)
        return LossTotals(totals[: 1 + m], totals[1 + m :].reshape(2, -1) if totals.size > 1 + m else None)

    def pool_folds(self, parts: Sequence[Any], predicted: NDArray[Any], tested: NDArray[Any]) -> LossTotals:
        """Return the sums over all test sets; also by class, if `tested` shows how often each row is tested."""
        pooled = self.pool(parts)
        if not tested.any():
            return pooled
        predicted = np.atleast_2d(predicted)
        positive = np.broadcast_to(self._positive, predicted.shape)
        return pooled._replace(by_class=self._by_class(predicted, positive, np.reshape(tested, predicted.shape)))

    def _by_class(self, predicted: NDArray[Any], positive: NDArray[np.bool_], times: NDArray[Any]) -> Floats:
        """Add up losses and their squares by class.

        `predicted`, `positive` and `times` have shape (n, n_rows); each prediction is counted as often as `times` says.
        """
        sums = np.zeros((2, 1 + 2 * len(self.names)))
        for scores, truth, number in zip(predicted, positive, times, strict=True):
            scores, truth, number = scores[number > 0], truth[number > 0], number[number > 0].astype(np.float64)
            losses = [np.where(truth, *_losses(metric)(scores.astype(np.float64))) for metric in self._metrics()]
            terms = np.stack([np.ones(scores.size), *losses, *np.square(losses)]) * number
            sums += [terms[:, truth == each].sum(axis=1) for each in (False, True)]
        return sums

    def micro(self, pooled: LossTotals) -> Floats:
        """Return the mean losses over all test sets."""
        return np.asarray(self.evaluate_totals(pooled.totals[None])[:, 0])

    def class_variance(self, name: str, pooled: LossTotals) -> float:
        """Compute the variance, over rows, of the mean loss in a row's own class."""
        if pooled.by_class is None or not pooled.by_class[:, 0].all():
            return math.nan
        n, sums = pooled.by_class[:, 0], pooled.by_class[:, 1 + self.names.index(name)]
        negative, positive = sums / n
        with np.errstate(invalid="ignore"):
            return float(n[0] * n[1] / n.sum() ** 2 * (positive - negative) ** 2)

    def row_variance(self, name: str, pooled: LossTotals) -> float:
        """Compute the variance of the losses."""
        if pooled.by_class is None:
            return math.nan
        totals, m = pooled.by_class.sum(axis=0), self.names.index(name)
        mean, square = totals[1 + m] / totals[0], totals[1 + len(self.names) + m] / totals[0]
        with np.errstate(invalid="ignore"):
            variance = float(square - mean**2)
        return variance if variance > VARIES * square else 0.0


class LossTotals(NamedTuple):
    """Sums of losses over all test sets, in total and, if computed, by class."""

    totals: Floats  # number of rows, then the sum of losses for each metric: (1 + n_metrics,)
    by_class: Floats | None  # for negatives and positives; also sums of squared losses: (2, 1 + 2 n_metrics)


def is_mean_loss(spec: MetricSpec) -> bool:
    """Return whether a metric of scores is a mean of row losses."""
    sweep = SCORES.metric(spec).sweep
    return sweep is not None and sweep.of_thresholds is not None and not sweep.n_bins


def _losses(metric: RankingMetric) -> Callable[[Floats], tuple[Floats, ...]]:
    """Return the function that converts scores to losses of positives and of negatives, for a mean-loss metric."""
    assert metric.sweep is not None
    assert metric.sweep.of_thresholds is not None
    return metric.sweep.of_thresholds
