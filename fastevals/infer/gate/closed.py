"""Metrics with bounds that need no resampling: rates of independent rows, F1 and Jaccard, and AUC."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from fastevals._validation.arrays import as_thresholds
from fastevals.counts import Cells, ThresholdCounts
from fastevals.infer.delong.score import PlacementBounds, RowPlacements
from fastevals.infer.paired_shares import PairedCounts, score_interval
from fastevals.infer.proportions import SHARES, outcomes, share_interval
from fastevals.measure.metric_specs import MetricSpec
from fastevals.measure.registry import METRICS
from fastevals.results import Interval

Flags = NDArray[np.bool_]
Specs = Mapping[str, MetricSpec]

ALIKE = ("positives", "negatives", "rows", "rows by class")  # trials that do not depend on the predictions
READ_AT_A_PLACE = ("best", "precision", "recall", "fpr", "tpr", "n_predicted")  # options that choose a threshold
ONE_SHARE = {"f1": lambda share: 2 * share / (1 + share), "jaccard": lambda share: share}  # of tp / (tp + fp + fn)


def has_exact_bounds(spec: MetricSpec, is_paired: bool) -> bool:
    """Return whether a metric, or a difference, of unweighted rows has bounds for any number of rows."""
    is_fixed = METRICS[spec.name].of == "cells" and spec.options.keys().isdisjoint(READ_AT_A_PLACE)
    is_fixed = is_fixed and spec.options.get("average", "binary") == "binary"
    is_share = spec.name in SHARES and (not is_paired or SHARES[spec.name].trials in ALIKE)
    return is_fixed and (is_share or (spec.name in ONE_SHARE and not is_paired))


class Closed(NamedTuple):
    """An estimate with bounds in closed form."""

    value: float
    standard_error: float
    method: str
    interval: Callable[[float], Interval]  # given a level, the interval whose ends are one-sided bounds at it
    is_exact: bool = True  # whether the bounds also hold for few rows of a class
    doubt: float = 0.0  # how far the value may be off, which the interval includes


class ClosedForms(Protocol):
    """The closed forms of metrics of models on the same rows."""

    def of(self, label: str, model: str) -> Closed | None:
        """Return a model's metric; None if it has no closed form."""

    def between(self, label: str, model: str, other: str, factor: float) -> Closed | None:
        """Return a model's metric minus `factor` times another's; None if the difference has no closed form."""


class ClosedCounts:
    """The closed forms of metrics of one model, from unweighted counts of independent rows."""

    def __init__(self, counts: ThresholdCounts, specs: Specs) -> None:
        self.counts, self.specs = counts, specs

    def of(self, label: str, model: str) -> Closed | None:
        """Return the model's metric; None if it has no closed form."""
        spec, counts = self.specs[label], self.counts
        if _is_auc(spec) and min(counts.n_pos, counts.n_neg) > 1:
            return _of_auc(spec, PlacementBounds.of_counts(counts))
        if METRICS[spec.name].of != "cells" or "threshold" not in spec.options:
            return None
        threshold = as_thresholds("threshold", spec.options["threshold"], scalar=True)
        return _of_cells(spec, counts.cells(counts.rows_at_least(threshold)))

    def within(self, label: str, low: float, high: float) -> Closed | None:
        """Return a share of rows that is only known to lie in a range; None if its trials depend on the decisions."""
        name, share = self.specs[label].name, self.share(label)
        if share is None or SHARES[name].trials not in ALIKE:
            return None
        least, most = (_share(round(end * share[1]), share[1] - round(end * share[1])) for end in (low, high))
        if least is None or most is None:
            return None
        return least._replace(
            value=(low + high) / 2, standard_error=max(least.standard_error, most.standard_error),
            method=f"{least.method} (ranges of scores)",
            interval=lambda level: Interval(least.interval(level).low, most.interval(level).high),
            doubt=(high - low) / 2,
        )  # fmt: skip

    def share(self, label: str) -> tuple[int, int] | None:
        """Return the successes and trials of a metric that is a share of rows at a fixed threshold."""
        spec, counts = self.specs[label], self.counts
        if spec.name not in SHARES or "threshold" not in spec.options:
            return None
        threshold = as_thresholds("threshold", spec.options["threshold"], scalar=True)
        return _trials(spec, counts.cells(counts.rows_at_least(threshold)))

    def between(self, label: str, model: str, other: str, factor: float) -> Closed | None:
        """Return None: counts do not pair models."""
        return None


class ClosedRows:
    """The closed forms of metrics of models on the same independent, unweighted rows.

    Parameters
    ----------
    positive : ndarray of bool of shape (n_rows,) or None
        Whether a row is positive; None if there is no positive class.
    specs : mapping of str to MetricSpec
    decide : callable
        Given a spec and a model, returns whether each row is predicted positive (if there is no positive class, whether
        it is predicted right); None if the spec has no such fixed decision.
    scores : mapping of str to ndarray, optional
        Scores by model; none for predicted classes.
    """

    def __init__(
        self,
        positive: Flags | None,
        specs: Specs,
        decide: Callable[[MetricSpec, str], Flags | None],
        scores: Mapping[str, NDArray[Any]] | None = None,
    ) -> None:
        self.positive, self.specs, self.decide, self.scores = positive, specs, decide, scores or {}
        self._placements = cache(self._placements_of)
        self._areas = cache(self._areas_of)

    @classmethod
    def of_scores(cls, positive: Flags, scores: Mapping[str, NDArray[Any]], specs: Specs) -> ClosedRows:
        """Return the closed forms of models' scores."""

        def decide(spec: MetricSpec, model: str) -> Flags | None:
            if "threshold" not in spec.options:
                return None
            return np.asarray(scores[model] >= np.asarray(as_thresholds("threshold", spec.options["threshold"])))

        return cls(positive, specs, decide, scores)

    @classmethod
    def of_labels(
        cls, true: NDArray[Any], predicted: Mapping[str, NDArray[Any]], specs: Specs, pos_label: Any
    ) -> ClosedRows:
        """Return the closed forms of models' predicted classes."""

        def decide(spec: MetricSpec, model: str) -> Flags | None:
            if spec.options.get("average", "binary") != "binary":
                return None
            if pos_label is None:
                return np.asarray(predicted[model] == true)
            return np.asarray(predicted[model] == pos_label)

        return cls(None if pos_label is None else true == pos_label, specs, decide)

    def covers(self, label: str, models: Sequence[str]) -> bool:
        """Return whether a metric of all models, and its differences, have closed forms."""
        if self._has_auc(self.specs[label]):
            return True
        return all(self.of(label, model) is not None for model in models) and all(
            self.between(label, one, two, 1.0) is not None for one, two in pairwise(models)
        )

    def of(self, label: str, model: str) -> Closed | None:
        """Return a model's metric; None if it has no closed form."""
        spec = self.specs[label]
        if self._has_auc(spec):
            return _of_auc(spec, self._areas(model))
        decided = self._decided(spec, model)
        return None if decided is None else _of_cells(spec, self._cells(decided))

    def between(self, label: str, model: str, other: str, factor: float) -> Closed | None:
        """Return a model's metric minus `factor` times another's; None if the difference has no closed form."""
        spec = self.specs[label]
        if self._has_auc(spec):
            return _of_auc(spec, self._areas(model, other, factor), 1 - factor, ", paired")
        if spec.name not in SHARES or SHARES[spec.name].trials not in ALIKE:
            return None
        one, two = self._decided(spec, model), self._decided(spec, other)
        if one is None or two is None:
            return None
        counts = self._paired(spec, one, two)
        n = sum(counts)
        if not n:
            return None
        value = counts.difference(factor)
        first, second, both = counts.both + counts.first, counts.both + counts.second, counts.both
        squares = first - 2 * factor * both + factor**2 * second
        error = math.sqrt(max(squares / n - value**2, 0.0) / n)
        return Closed(value, error, "Tango score" if factor == 1 else "paired score", _at_z(counts, factor))

    def share(self, label: str, model: str) -> tuple[int, int] | None:
        """Return the successes and trials of a metric that is a share of rows with fixed decisions."""
        spec = self.specs[label]
        decided = self._decided(spec, model) if spec.name in SHARES else None
        return None if decided is None else _trials(spec, self._cells(decided))

    def _has_auc(self, spec: MetricSpec) -> bool:
        if not _is_auc(spec) or not self.scores or self.positive is None:
            return False
        n_positives = int(np.count_nonzero(self.positive))
        return min(n_positives, self.positive.size - n_positives) > 1

    def _placements_of(self, model: str) -> RowPlacements:
        assert self.positive is not None
        return RowPlacements.of(self.positive, self.scores[model])

    def _areas_of(self, model: str, other: str | None = None, factor: float = 1.0) -> PlacementBounds:
        return PlacementBounds.of_rows(
            self._placements(model), None if other is None else self._placements(other), factor
        )

    def _decided(self, spec: MetricSpec, model: str) -> Flags | None:
        """Return the decisions that a metric judges: positive or not, or right or not for metrics of all classes."""
        entry = METRICS[spec.name]
        needs_class = entry.trials != "rows"
        if entry.of != "cells" or (needs_class and self.positive is None):
            return None
        return self.decide(spec, model)

    def _cells(self, decided: Flags) -> Cells:
        """Count rows; without a positive class, right decisions are true positives, and wrong ones are missed."""
        positive = np.ones(decided.size, np.bool_) if self.positive is None else self.positive
        tp, predicted = int(np.count_nonzero(decided & positive)), int(np.count_nonzero(decided))
        n_pos = int(np.count_nonzero(positive))
        return Cells(tp, predicted - tp, n_pos - tp, decided.size - n_pos - predicted + tp)

    def _paired(self, spec: MetricSpec, one: Flags, two: Flags) -> PairedCounts:
        """Count trials by the outcomes of both models."""
        positive = np.ones(one.size, np.bool_) if self.positive is None else self.positive
        number = np.bincount(4 * positive + 2 * one + two, minlength=8)
        found = [0, 0, 0, 0]  # both, first, second, neither
        for code, count in enumerate(number.tolist()):
            own, first, second = code >> 2, code >> 1 & 1, code & 1
            won = [_outcome(spec.name, own, decided) for decided in (first, second)]
            if None not in won:
                found[2 * (not won[0]) + (not won[1])] += count
        return PairedCounts(*found)


def _outcome(name: str, positive: int, decided: int) -> bool | None:
    """Return whether a row is a success of a metric; None if it is no trial."""
    cell = Cells(*(int(each == (positive, decided)) for each in ((1, 1), (0, 1), (1, 0), (0, 0))))
    successes, failures = outcomes(name, cell)
    return bool(successes) if successes + failures else None


def _trials(spec: MetricSpec, cells: Cells) -> tuple[int, int]:
    """Return the successes and trials of a share."""
    successes, failures = outcomes(spec.name, cells)
    return int(successes), int(successes + failures)


def _share(successes: Any, failures: Any, transform: Callable[[float], float] = lambda share: share) -> Closed | None:
    """Return the exact interval of a share, or of an increasing function of it."""
    n = int(successes + failures)
    if not n:
        return None
    share = int(successes) / n
    slope = (transform(min(share + 1e-6, 1.0)) - transform(max(share - 1e-6, 0.0))) / (
        min(share + 1e-6, 1.0) - max(share - 1e-6, 0.0)
    )

    def interval(level: float) -> Interval:
        low, high = share_interval(successes, failures, "clopper-pearson", 2 * (1 - level), "two-sided")
        return Interval(transform(float(low)), transform(float(high)))

    return Closed(transform(share), abs(slope) * math.sqrt(share * (1 - share) / n), "Clopper-Pearson", interval)


def _at_z(counts: PairedCounts, factor: float) -> Callable[[float], Interval]:
    def interval(level: float) -> Interval:
        from scipy.special import ndtri

        return score_interval(counts, abs(float(ndtri(level))), factor)

    return interval


def _is_auc(spec: MetricSpec) -> bool:
    """Return whether a metric is a linear function of the AUC."""
    return METRICS[spec.name].of_pairs is not None and not spec.options


def _of_auc(spec: MetricSpec, bounds: PlacementBounds, n_constants: float = 1.0, paired: str = "") -> Closed:
    """Return a linear function of an AUC, or of a difference of AUCs, which has `n_constants` times its constant."""
    of_pairs = METRICS[spec.name].of_pairs
    assert of_pairs is not None
    constant = float(of_pairs(0.0, 1.0))
    slope, offset = float(of_pairs(1.0, 1.0)) - constant, n_constants * constant

    def interval(level: float) -> Interval:
        ends = sorted(offset + slope * end for end in bounds.interval(level))
        return Interval(*ends)

    value, error = offset + slope * bounds.value, abs(slope) * bounds.standard_error
    return Closed(value, error, f"score and DeLong{paired}", interval, is_exact=False)


def _of_cells(spec: MetricSpec, cells: Cells) -> Closed | None:
    """Return a metric of cells that is a share of rows, or an increasing function of one."""
    if spec.name in ONE_SHARE:
        return _share(cells.tp, cells.fp + cells.fn, ONE_SHARE[spec.name])
    return _share(*outcomes(spec.name, cells)) if spec.name in SHARES else None
