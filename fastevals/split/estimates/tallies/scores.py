"""Scores of the positive class: threshold counts of each test set, or sums of what each row loses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals._kernels.fold_counts import add_terms, count_cells
from fastevals.infer.bootstrap.samples.models import rows_by_step
from fastevals.infer.bootstrap.samples.sweeps import Sweeps
from fastevals.measure.asked import AskedMetric, RankingMetric, of_ranking
from fastevals.measure.counts import ThresholdCounts
from fastevals.measure.ranking import Ranking
from fastevals.measure.registry import METRICS
from fastevals.split.estimates.tallies.base import Floats, Folds, SumTally, Tally, in_test_sets

__all__ = ["LossTally", "RankTally", "is_mean_loss"]

Rows = NDArray[np.intp]

FEW_CELLS = 1 << 22  # of the steps of all test sets of a repetition, counted together: three times as fast by test set
PER_ROW = 2  # the same, for each row: of one fold all are counted together
MOST_EXACT = 2**31  # pairs of rows up to which counts of them are whole numbers


def is_mean_loss(asked: AskedMetric) -> bool:
    """Tell whether a metric of scores is the mean of what each row loses."""
    sweep = of_ranking(asked).sweep
    return sweep is not None and sweep.kernel == "mean_loss"


def _losses(metric: RankingMetric) -> Callable[[Floats], tuple[Floats, ...]]:
    """Give the function from scores to the losses of positives and of negatives, of a metric that is a mean of them."""
    assert metric.sweep is not None
    assert metric.sweep.of_thresholds is not None
    return metric.sweep.of_thresholds


class ScoreTally(Tally):
    """Metrics of scores."""

    kind = "scores"
    knows_no_information = True

    def __init__(self, asked: Mapping[str, AskedMetric], positive: NDArray[np.bool_]) -> None:
        self.names = list(asked)
        self._asked = asked
        self._positive = positive
        self._metrics()  # an option that is none is an error before the first fit
        self._chances = any(
            each.name in METRICS and METRICS[each.name].of == "probabilities" for each in asked.values()
        )

    def _metrics(self) -> list[RankingMetric]:  # anew in each call: closures do not pickle
        return [of_ranking(each) for each in self._asked.values()]

    def checked(self, name: str, predicted: Any, rows: Rows | None = None) -> NDArray[Any]:
        """Give the scores as they are, once they are known to be finite, and probabilities where they must be."""
        scores = check.as_scores(name, predicted)
        check.check_finite(name, scores)
        if self._chances:
            check.check_probabilities(name, scores.min(), scores.max())
        return scores

    def of_counts(self, counted: Sequence[ThresholdCounts]) -> Floats:
        """Give each metric of threshold counts, of shape (n_metrics, n)."""
        return np.array([[metric.of_counts(counts) for counts in counted] for metric in self._metrics()])

    def no_information(self, predicted: NDArray[Any]) -> Floats:
        """Give each metric if each class had the same shares of the scores."""
        whole = Ranking(self._positive, predicted).counts
        rows = whole.tps + whole.fps
        n_pos, n_neg = int(whole.n_pos), int(whole.n_neg)
        n = n_pos + n_neg
        # Shares as counts of pairs: of whole numbers an AUC is 0.5 exactly.
        by = (n_pos, n_neg) if n * n < MOST_EXACT else (n_pos / n, n_neg / n)
        return self.of_counts([ThresholdCounts(whole.thresholds, rows * by[0], rows * by[1])])[:, 0]


class LossTally(ScoreTally, SumTally):
    """Metrics that are means of what each row loses: the Brier score, the log loss."""

    def rows_of(self, predicted: NDArray[Any], rows: Rows | None) -> NDArray[Any]:
        """Give the loss of each row by each metric."""
        positive = self._positive if rows is None else self._positive[rows]
        losses = [_losses(metric)(predicted.astype(np.float64)) for metric in self._metrics()]
        return np.stack([np.where(positive, own, other) for own, other in losses], axis=1)

    def totals(self, prepared: NDArray[Any], folds: Folds, n_folds: int) -> NDArray[Any]:
        """Add up the losses of each test set."""
        found = np.zeros((len(folds), n_folds, 1 + len(self.names)))
        add_terms(folds, prepared, found)
        return found

    def of_totals(self, totals: NDArray[Any]) -> Floats:
        """Give the means."""
        return np.asarray((totals[:, 1:] / totals[:, :1]).T)


class Sorted(NamedTuple):
    """Scores from the highest down.

    Attributes
    ----------
    rows : ndarray of intp
        The rows in this order.
    positive : ndarray of bool
        Their classes.
    ranks : ndarray of intp
        The number of each one's threshold.
    thresholds : ndarray
        All distinct scores, descending.
    """

    rows: Rows
    positive: NDArray[np.bool_]
    ranks: Rows
    thresholds: NDArray[Any]

    @classmethod
    def of(cls, whole: ThresholdCounts, scores: NDArray[Any], positive: NDArray[np.bool_]) -> Sorted:
        """Sort them; `whole` are the counts of all."""
        rows = np.argsort(scores, kind="stable")[::-1]
        ordered = scores[rows]
        ranks = np.concatenate(([0], np.cumsum(ordered[1:] != ordered[:-1])))
        return cls(rows, positive[rows], ranks, whole.thresholds[1:])

    def counts(self, places: Rows) -> ThresholdCounts:
        """Give the threshold counts of some rows, by their places in this order."""
        ranks = self.ranks[places]
        last = np.append(np.flatnonzero(ranks[1:] != ranks[:-1]), ranks.size - 1)
        tps = np.cumsum(self.positive[places])[last]
        return _from_none(self.thresholds[ranks[last]], tps, last + 1 - tps)


class Stepped(NamedTuple):
    """Scores as the steps of one ranking, whose rows are counted for each test set.

    Attributes
    ----------
    sweeps : Sweeps
        The steps, and metrics of counts of them.
    cells : ndarray of int32
        The cell of each row: its class and step.
    """

    sweeps: Sweeps
    cells: NDArray[np.int32]

    @classmethod
    def of(
        cls, whole: ThresholdCounts, scores: NDArray[Any], negative: NDArray[np.bool_], metrics: Sequence[RankingMetric]
    ) -> Stepped:
        """Sort them; `whole` are the counts of all."""
        sweeps, rows, ordered = rows_by_step(whole, scores, negative, metrics)
        cells = np.empty(rows.size, dtype=np.int32)
        cells[rows] = ordered
        return cls(sweeps, cells)

    def values(self, folds: Folds, n_folds: int) -> Floats:
        """Give each metric of all test sets, of shape (n_metrics, n_repeats, n_folds)."""
        sizes = self.sweeps.steps.sizes
        counts, space = np.empty((n_folds, *sizes.shape), dtype=sizes.dtype), self.sweeps.workspace()
        raw = np.empty((len(folds), n_folds, self.sweeps.n_raw))
        for of_rows, of_repeat in zip(folds, raw, strict=True):
            counts[:] = 0
            count_cells(of_rows[None], self.cells, counts.reshape(1, n_folds, -1))
            for of_fold, row in zip(counts, of_repeat, strict=True):
                self.sweeps.sweep(of_fold, space, row)
        values = self.sweeps.values(raw.reshape(-1, self.sweeps.n_raw))
        return np.stack(values).reshape(-1, len(folds), n_folds)


class RankTally(ScoreTally):
    """Metrics of threshold counts: scores are sorted once, and test sets stay sorted."""

    asks_tested = True

    def of_rows(self, rows: Rows, predicted: NDArray[Any]) -> ThresholdCounts:
        """Give the threshold counts of a test set."""
        return Ranking(self._positive[rows], predicted).counts

    def values(self, counted: Sequence[ThresholdCounts]) -> Floats:
        """Give each metric of each test set."""
        return self.of_counts(counted)

    def micro(self, counted: Sequence[ThresholdCounts]) -> Floats:
        """Give each metric of the counts of all at each threshold of any."""
        return self._of_steps(
            np.concatenate([each.thresholds[1:] for each in counted]),
            *(np.concatenate([np.diff(getattr(each, name)) for each in counted]) for name in ("tps", "fps")),
        )

    def _of_steps(self, scores: NDArray[Any], positives: NDArray[Any], negatives: NDArray[Any]) -> Floats:
        """Give each metric of rows of both classes, so many of each score; scores may come again."""
        thresholds, number = np.unique(scores, return_inverse=True)
        sums = np.zeros((2, thresholds.size), dtype=np.int64)
        for of_class, rows in zip(sums, (positives, negatives), strict=True):
            np.add.at(of_class, number, rows)
        return self.of_counts([_from_none(thresholds[::-1], *np.cumsum(sums[:, ::-1], axis=1))])[:, 0]

    def prepared(self, predicted: NDArray[Any], n_folds: int) -> Stepped | Sorted:
        """Sort the scores."""
        whole = Ranking(self._positive, predicted).counts
        if n_folds * whole.thresholds.size <= max(FEW_CELLS, PER_ROW * self._positive.size):
            return Stepped.of(whole, predicted, ~self._positive, self._metrics())
        return Sorted.of(whole, predicted, self._positive)

    def of_folds(self, prepared: Any, folds: Folds, n_folds: int, *, keep: bool) -> tuple[Floats, Any]:
        """Give each metric of all test sets."""
        if isinstance(prepared, Stepped):
            return prepared.values(folds, n_folds), None
        return self._one_by_one(prepared, folds, n_folds), None

    def _one_by_one(self, ordered: Sorted, folds: Folds, n_folds: int) -> Floats:
        """Give the metrics of many test sets: each one's thresholds are looked at alone."""
        found = np.empty((len(self.names), len(folds), n_folds))
        metrics = self._metrics()
        for repeat, of_rows in enumerate(folds):
            places, starts = in_test_sets(of_rows[ordered.rows], n_folds)
            for fold in range(n_folds):
                counts = ordered.counts(places[starts[fold] : starts[fold + 1]])
                found[:, repeat, fold] = [metric.of_counts(counts) for metric in metrics]
        return found

    def micro_of(self, parts: Sequence[Any], predicted: NDArray[Any], tested: NDArray[Any]) -> Floats:
        """Give each metric of all rows, each as often as it is tested."""
        there = tested > 0
        times, positive = tested[there], np.broadcast_to(self._positive, predicted.shape)[there]
        return self._of_steps(predicted[there], times * positive, times * ~positive)


def _from_none(thresholds: NDArray[Any], tps: NDArray[np.int64], fps: NDArray[np.int64]) -> ThresholdCounts:
    """Give the counts with those of no row, at +inf, before them."""
    if thresholds.dtype.kind in "iu":
        thresholds = thresholds.astype(np.longdouble)  # float64 would round some
    return ThresholdCounts(*(np.concatenate(([first], each)) for first, each in
                             ((np.inf, thresholds), (0, tps), (0, fps))))  # fmt: skip
