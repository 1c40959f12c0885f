"""Summaries of the probabilities of several classes: losses and calibration are exact, areas have certified bounds."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from fractions import Fraction
from functools import partial
from typing import Any, Literal, Self, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._distinct import sorted_unique
from fastevals._execution import run
from fastevals._kernels import class_rows
from fastevals._kernels.compensated import LIMBS
from fastevals._options import as_flag, check_choice, check_integer, check_number, listed, warn_undefined
from fastevals._row_order import warn_other_order
from fastevals._validation.arrays import text_array
from fastevals._validation.labels import Classes, as_class_names
from fastevals.infer.bootstrap.label_samples import WeightedMatrix
from fastevals.infer.proportions import share_interval
from fastevals.infer.significance.decision import normal_margins
from fastevals.measure.class_losses import predicted_classes, readable
from fastevals.measure.class_scores import ClassScores, as_score_matrix, read_class_scores
from fastevals.measure.class_specs import ClassMetric, class_metric_of, spec_of_classes
from fastevals.measure.confusion import ConfusionMatrix
from fastevals.measure.curves.calibration import CalibrationCurve
from fastevals.measure.kinds import LABELS, MetricSpecs
from fastevals.measure.metric_specs import MetricSpec, metric
from fastevals.measure.probability_metrics import FRACTION, sum_exactly
from fastevals.measure.ranking.base import Doubt
from fastevals.measure.ranking.ranking import Ranking
from fastevals.measure.registry import METRICS
from fastevals.results import Interval, check_confidence_level
from fastevals.scale.cells import ScoreCells
from fastevals.scale.certified import Certified, CertifiedRanking, CertifiedValues, certify, widened
from fastevals.scale.class_bins import ProbabilityBins
from fastevals.scale.class_ranges import LEAST_RANGES, ProbabilityRanges, RangeTable
from fastevals.scale.fields import Fields, is_hex, is_label
from fastevals.scale.payload import Summary, weighted_head
from fastevals.scale.probabilities import HIGHEST_LOSS
from fastevals.scale.summary import MOST_CELLS, Units, read_units

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Value = float | Floats | Certified | CertifiedValues

PAIR_BYTES, REST_BYTES = 1 << 26, 1 << 27  # memory of the counts by pair of classes, and of each class and the rest
MOST_BINS = 1 << 20  # of all classes
MOST_UNITS = 2**36  # rows, or their total weight
MOST_WEIGHT = 2**26  # weights below it have squares that add up to less than 2^62
# Metrics that are means of losses over rows, by name.
LOSSES = {name: entry.function for name, entry in METRICS.items() if entry.classes == "rows" and not entry.options}
OF_ORDERED = "ranked_probability_score"  # the loss that depends on the order of classes
MOMENTS = 4  # weight of infinite losses, and sums of weighted losses; then of losses and squares in squared weight
AVERAGING = ("average", "multi_class")  # options that are not a ranking's
RATES = ("accuracy", "error_rate")


class ClassScoresSummary(Summary):
    """Summary of any number of rows with a probability per class, for metrics of several classes.

    Losses (log loss, Brier score, ranked probability score), top-k accuracy, the matrix of predicted classes and
    calibration in bins are exact. Areas (AUC, average precision, Hand and Till's M) have certified bounds, because
    probabilities are counted in ranges; they are exact if no range has two different probabilities. Ranges are the same
    for all summaries, and all sums are integers, so results do not depend on the order of rows, on their division into
    parts, or on the order of merging.

    Parameters
    ----------
    labels : sequence of n_classes labels, optional
        The class of each column, in order. By default the labels of the first update, sorted; they must then include
        all classes.
    ordered : bool
        Whether the classes are ordered. Then the ranked probability score is available, and all parts must have the
        same order.
    n_bins : int
        Number of equal-width bins for calibration.
    cells : int
        The largest number of ranges of each class's probabilities; fewer if there are more than 17 classes (see Notes).

    Notes
    -----
    Ranges from 2^-6 to 1 - 2^-6 have equal width, and shorter ones follow towards 0 and 1. By default this width is
    2^-14; bounds of an AUC are then typically 1e-5 to 1e-4 apart. Counts by range and true class take 8 n^2 bytes per
    range for n classes (22 MB for 10 classes). They are limited to 64 MiB, so there are fewer ranges for more than 17
    classes (width 2^-8 for 100 classes, where bounds of M can be 0.02 apart), and more than 244 classes have no metrics
    of pairs of classes. Areas of each class against the rest use separate counts of 32 n bytes per range (at most
    128 MiB), which are finer. The matrix of predicted classes takes 24 n^2 bytes.

    Integer weights are counted exactly. The total weight must be at most 2^36.

    Examples
    --------
    >>> from fastevals.scale import ClassScoresSummary
    >>> monday, tuesday = ClassScoresSummary(["ant", "bee", "cow"]), ClassScoresSummary(["ant", "bee", "cow"])
    >>> monday.update(["ant", "bee"], [[0.7, 0.2, 0.1], [0.3, 0.4, 0.3]])
    >>> tuesday.update(["bee", "cow"], [[0.4, 0.5, 0.1], [0.1, 0.3, 0.6]])
    >>> week = monday.merge(tuesday)
    >>> week, week.metric("hand_till"), round(week.metric("log_loss"), 4)
    (ClassScoresSummary(4 rows of 3 classes), 1.0, 0.6192)
    """

    KIND = "classes"

    __slots__ = (
        "_bins", "_labels", "_losses", "_matrix", "_most_cells", "_n_bins", "_pairs", "_ranks",
        "_rest", "_top", "is_ordered", "is_weighted",
    )  # fmt: skip

    def __init__(
        self, labels: ArrayLike | None = None, *, ordered: bool = False, n_bins: int = 10, cells: int = 2**15
    ) -> None:
        self.is_ordered = as_flag("ordered", ordered)
        self.is_weighted = False  # whether rows have weights
        self._n_bins = check_integer("n_bins", n_bins, low=1, high=MOST_BINS)
        self._most_cells = check_integer("cells", cells, low=LEAST_RANGES, high=MOST_CELLS)
        self._labels: NDArray[Any] | None = None
        self._losses = {name: [0] * MOMENTS for name in LOSSES if ordered or name != OF_ORDERED}
        names = as_class_names("labels", labels, None)
        if names is not None:
            if names.size < 2:
                raise ValueError(f"labels must name two classes or more, got {listed(list(names))}")
            self._start(names)

    def _start(self, labels: NDArray[Any]) -> None:
        """Allocate the counts."""
        n = labels.size
        pairs, rest = _ranges_for(n, self._most_cells)
        if rest is None or n * self._n_bins > MOST_BINS:
            raise ValueError(
                f"labels must be fewer for the memory of a summary, got {n} classes and {self._n_bins} bins"
            )
        self._labels = labels
        self._matrix = np.zeros((3, n, n), np.int64)  # weight, squared weight and rows by true and predicted class
        self._ranks = np.zeros((2, n), np.int64)  # weight and squared weight by the rank of the true class
        self._bins = ProbabilityBins(n + 1, self._n_bins)  # of each class; then of the most probable class
        self._pairs = None if pairs is None else RangeTable(pairs, n, are_classes=True)
        self._rest = None if pairs is rest else RangeTable(rest, n, are_classes=False)
        self._top = RangeTable(rest, 1, are_classes=False)  # highest probabilities: of rows whose class has it, or not

    # Counting ---------------------------------------------------------------------------------------------------------

    def update(
        self,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        frequency_weight: ArrayLike | None = None,
    ) -> None:
        """Count more rows. If a row can't be counted, raise an error and count none of them.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels: integers, booleans, strings, or floats without a fraction.
        y_score : array-like of shape (n_samples, n_classes)
            Probabilities, one column per class in the order of the labels; each row adds up to 1. The columns of a
            frame are matched by name if they are named by the labels.
        sample_weight : array-like of shape (n_samples,), optional
            Row weights: integers from 0 to 2**26 - 1. Rows of weight zero are left out. Each row is one independent
            observation.
        frequency_weight : array-like of shape (n_samples,), optional
            Number of copies of each row: integers. A row with n copies counts like n equal rows. Not allowed with
            `sample_weight`.

        Raises
        ------
        ValueError
            If an argument is not as described; the message names it, the rule and the value seen.
        """
        given = {"y_true": y_true, "y_score": y_score}
        weights = {"sample_weight": sample_weight, "frequency_weight": frequency_weight}
        if not any(np.size(each) for each in (*given.values(), *weights.values()) if each is not None):
            return
        warn_other_order(given | weights)
        n = len(as_score_matrix("y_score", y_score))
        units = read_units(sample_weight, frequency_weight, n, None)
        counts = None
        if units is not None:
            _check_units(units)
            counts = units.counts if units.counts.any() else np.ones_like(units.counts)  # to check the other arguments
        labels, scores = read_class_scores(y_true, y_score, self._labels, counts)
        if scores.codes is None:
            raise ValueError("y_true must be 1-D, one label per row, got an indicator matrix")
        scores.require_probabilities("y_score")
        scores.columns = readable(scores.columns)
        if units is not None and not units.counts.any():
            return
        times = None if scores.weights is None else scores.weights.astype(np.int64)
        squared = times if times is None or not units.are_weights else times * times  # type: ignore[union-attr]
        n_units = self.n_units + (scores.codes.size if times is None else int(times.sum()))
        if n_units > MOST_UNITS:
            raise ValueError(f"rows, or their weight, must add up to at most 2**36, got {n_units}")
        if self._labels is None:
            self._start(labels)
        self.is_weighted = self.is_weighted or (units is not None and units.are_weights)
        is_copies = units is not None and not units.are_weights
        self._count_columns(scores, times)
        self._count_rows(scores, times, squared, times if is_copies else None)

    def _count_columns(self, scores: ClassScores, times: Ints | None) -> None:
        """Count the probabilities of each class."""
        codes = scores.codes
        assert codes is not None

        def count(k: int) -> None:
            column = scores.columns[k]
            if self._pairs is not None:
                self._pairs.add(k, column, codes, times)
            if self._rest is not None:
                self._rest.add(k, column, scores.flags(k), times)
            self._bins.add(k, column, codes, k, times)

        run(count, range(len(scores.columns)), compiles=("class ranges", codes.dtype, times is None))

    def _count_rows(self, scores: ClassScores, times: Ints | None, squared: Ints | None, copies: Ints | None) -> None:
        """Count losses, ranks and predicted classes of rows; rows may have weights, squared weights and copies."""
        columns, codes = scores.columns, scores.codes
        assert codes is not None
        n = len(columns)
        own, ranks = np.empty(codes.size, columns.dtype), np.empty(codes.size, np.int32)
        class_rows.scores_of_true(columns, codes, 0, own)
        class_rows.ranks_of_true(columns, codes, 0, own, ranks)
        predicted, highest = predicted_classes(columns)
        pairs = codes.astype(np.int64) * n + predicted
        for k, amounts in enumerate((times, squared)):
            self._ranks[k] += _bincount(ranks, amounts, n)
        for k, amounts in enumerate((times, squared, copies)):
            self._matrix[k] += _bincount(pairs, amounts, n * n).reshape(n, n)
        hits = (codes == predicted).view(np.uint8)
        self._bins.add(n, highest, hits, 1, times)
        self._top.add(0, highest, hits, times)
        whole, whole_squared = (np.ones(codes.size, np.int64) if each is None else each for each in (times, squared))
        for name, sums in self._losses.items():
            losses = LOSSES[name](columns, codes)
            infinite = np.isinf(losses)
            if infinite.any():
                losses = np.where(infinite, 0.0, losses)
            total = sum_exactly(losses, whole)
            again = total if squared is times else sum_exactly(losses, whole_squared)
            more = int(whole[infinite].sum()), total, again, sum_exactly(losses * losses, whole_squared)
            self._losses[name] = [before + each for before, each in zip(sums, more, strict=True)]

    # Reading ----------------------------------------------------------------------------------------------------------

    @property
    def labels(self) -> NDArray[Any] | None:
        """Names of the classes, in the order of columns; None if they are not known yet."""
        return None if self._labels is None else self._labels.copy()

    @property
    def n_units(self) -> int:
        """Number of rows, or their total weight."""
        return 0 if self._labels is None else int(self._ranks[0].sum())

    @property
    def n_samples(self) -> int:
        """Number of rows of weight above zero."""
        return 0 if self._labels is None else int(self._matrix[2].sum())

    @property
    def support(self) -> Ints:
        """Number of rows of each class, or their total weight."""
        self._require_rows()
        return np.asarray(self._matrix[0].sum(axis=1))

    @property
    def _n_bytes(self) -> int:
        """Memory of the counts."""
        tables = [each for table in self._tables.values() for each in (table.counts, table.low, table.high)]
        own = () if self._labels is None else (self._matrix, self._ranks, self._bins.rows, self._bins.limbs)
        return sum(array.nbytes for array in (*tables, *own))

    @property
    def _effective_rows(self) -> float:
        """Number of rows; if they have weights, of rows that would give the same standard errors (Kish)."""
        weight, squared = self._ranks.sum(axis=1).tolist()
        return weight * weight / squared if squared else 0.0

    @property
    def _has_no_pairs(self) -> bool:
        """Whether there are too many classes for counts of each pair."""
        return self._labels is not None and self._pairs is None

    @property
    def _is_hard(self) -> bool:
        """Whether all probabilities are 0 or 1, which are predicted classes."""
        return bool(self._top.low.min(initial=math.inf) == 1)

    def __repr__(self) -> str:
        n = 0 if self._labels is None else self._labels.size
        weighted = ", weighted" if self.is_weighted else ""
        return f"ClassScoresSummary({self.n_samples} rows of {n} classes{weighted})"

    def _require_rows(self) -> NDArray[Any]:
        if self._labels is None:
            raise ValueError("the summary has no rows")
        return self._labels

    def matrix(self) -> ConfusionMatrix:
        """Return the confusion matrix of true and most probable classes; of equal probabilities, the first counts.

        Raises
        ------
        ValueError
            If there are no rows.
        """
        labels = self._require_rows()
        if not self.n_units:
            raise ValueError("the summary has no rows")
        counts = self._matrix[0].astype(np.float64) if self.is_weighted else self._matrix[0].copy()
        return ConfusionMatrix._from_counts(counts, Classes(labels))

    def _drawn_specs(self, specs: MetricSpecs) -> MetricSpecs:
        """Return the specs of metrics of predicted classes, which a bootstrap can draw; raise for other metrics."""
        found: dict[str, Any] = {label: class_metric_of(spec).of_labels for label, spec in specs.items()}
        for label, spec in found.items():
            if spec is None:
                raise ValueError(
                    f"{label} has no bootstrap from a summary of class probabilities, which does not know which "
                    "probabilities belong to one row: use its confidence_interval for means over rows, bootstrap of "
                    "its rankings() for areas of one class, and rows for averages over classes"
                )
        return found

    def _counts_and_doubts(self, _: object) -> tuple[ConfusionMatrix | WeightedMatrix, dict[str, Doubt]]:
        """Return the counts that a bootstrap draws from: the matrix of predicted classes."""
        matrix = self.matrix()
        return (WeightedMatrix(matrix, self._matrix[1].astype(np.float64)) if self.is_weighted else matrix), {}

    def rankings(self) -> dict[Any, Ranking | CertifiedRanking]:
        """Return the ranking of each class against the rest, by the probability of the class.

        Returns
        -------
        dict of Ranking or CertifiedRanking by label
            Objects with the methods of a `Ranking` (curves, thresholds, areas), with labels True and False. If the
            ranges of probabilities do not determine a number, it is `Certified`.

        Raises
        ------
        ValueError
            If there are no rows.
        """
        labels, n_positives = self._require_rows().tolist(), self._matrix[2].sum(axis=1).tolist()
        return {
            label: self._ranking(self._cells(k), (n_positives[k], self.n_samples - n_positives[k]))
            for k, label in enumerate(labels)
        }

    def micro_ranking(self) -> Ranking | CertifiedRanking:
        """Return the ranking of all classes' columns as one: each row counts once per class, as in "micro" averages.

        Raises
        ------
        ValueError
            If there are no rows.
        """
        n = self._require_rows().size - 1
        return self._ranking(self._cells(None), (self.n_samples, n * self.n_samples))

    def top_label_ranking(self) -> Ranking | CertifiedRanking:
        """Return the ranking of rows by their highest probability; a row is positive if this class is right.

        It is the ranking of `ClassRankings.top_label`: its risk-coverage curve shows how abstaining reduces errors.

        Raises
        ------
        ValueError
            If there are no rows.
        """
        self._require_rows()
        hits = int(self._matrix[2].trace())
        return self._ranking(self._top.cells(0, self._top.counts[0]), (hits, self.n_samples - hits))

    def _ranking(self, cells: ScoreCells, rows: tuple[int, int]) -> Ranking | CertifiedRanking:
        classes = Classes(np.array([False, True]), True)
        if cells.are_atoms:
            counts = cells.middle.in_weight(1.0) if self.is_weighted else cells.middle
            return Ranking._of_classes(counts, classes, rows)
        return CertifiedRanking(cells, classes, unit=1.0 if self.is_weighted else None, rows=rows)

    def _cells(self, k: int | None) -> ScoreCells:
        """Return the cells of a class against the rest; of all columns as one if `k` is None."""
        table = self._pairs if self._rest is None else self._rest
        assert table is not None
        if k is None:
            return table.all_cells(np.sum([table.against_rest(each) for each in range(len(table.low))], axis=0))
        return table.cells(k, table.against_rest(k))

    def calibration_curve(self, *, average: Literal[None, "micro"] = None) -> Any:
        """Return the calibration curve of each class against the rest, or one for all classes, in the summary's bins.

        Parameters
        ----------
        average : {None, "micro"}
            None returns each class's curve, and "micro" the curve of all classes' columns together.

        Returns
        -------
        dict of CalibrationCurve by label, or CalibrationCurve

        Raises
        ------
        ValueError
            If `average` has another value, or there are no rows.
        """
        check_choice("average", average, Literal[None, "micro"])
        labels = self._require_rows().tolist()
        if average == "micro":
            return self._bins.curve(slice(0, len(labels)))
        return {label: self._bins.curve(slice(k, k + 1)) for k, label in enumerate(labels)}

    def top_label_curve(self) -> CalibrationCurve:
        """Return the calibration curve of the highest probability: how often the most probable class is right."""
        return self._bins.curve(slice(self._require_rows().size, None))

    @overload
    def metric(self, name: str) -> float | Certified: ...
    @overload
    def metric(self, name: MetricSpec) -> Value: ...
    def metric(self, name: str | MetricSpec) -> Value:
        """Return a metric of class probabilities, given by its name or by `fastevals.metric(...)`; NaN where undefined.

        Parameters
        ----------
        name : str or `metric(...)`
            Any metric that `bootstrap` takes for probabilities of several classes, such as "roc_auc", "hand_till",
            "log_loss", "brier_score", ``metric("top_k_accuracy", k=3)``, "accuracy" or
            ``metric("roc_auc", average=None)``. Calibration errors use the summary's bins.

        Returns
        -------
        float, ndarray, Certified or CertifiedValues
            With ``average=None``, a value per class, or per pair of classes j < k with ``multi_class="ovo"``. A number
            that the ranges of probabilities do not determine has bounds.

        Raises
        ------
        ValueError
            If the metric is not one of class probabilities, or needs counts that the summary does not have.
        """
        spec = metric(name) if isinstance(name, str) else name
        found = class_metric_of(spec, "name")
        labels = self._require_rows()
        if not self.n_units:
            raise ValueError("the summary has no rows")
        own = MetricSpec(spec.name, {key: value for key, value in spec.options.items() if key not in AVERAGING})
        match found.source:
            case "labels":
                return self._of_labels(found, str(spec))
            case "rows":
                moments = self._moments(spec)
                return math.inf if moments is None else float(moments[2] / moments[0])
            case "pairs":
                return self._of_pairs(found, str(spec))
            case "top label":
                if METRICS[spec.name].of == "classes":
                    return self._error_of("expected_calibration_error", spec, slice(labels.size, None))
                return certify(self._top.cells(0, self._top.counts[0]), spec)
            case "label sets" | "cells":
                counted = "several thresholds" if found.source == "cells" else "a row's labels"
                raise ValueError(f"{spec} needs the rows: a summary of class probabilities does not count {counted}")
            case "micro" if METRICS[spec.name].of == "probabilities":
                return self._error_of(spec.name, spec, slice(0, labels.size))
            case "micro":
                return certify(self._cells(None), own)
        if METRICS[spec.name].of == "probabilities":
            values: list[Any] = [self._error_of(spec.name, spec, slice(k, k + 1)) for k in range(labels.size)]
        else:
            values = [certify(self._cells(k), own) for k in range(labels.size)]
        ends = np.array([[float(getattr(each, end, each)) for each in values] for end in ("value", "low", "high")])
        return self._averaged(str(spec), found, ends, self.support, METRICS[spec.name].bounds)

    def _of_labels(self, found: ClassMetric, name: str) -> Value:
        assert found.of_labels is not None
        value = np.asarray(LABELS.metric(found.of_labels, "name")(self.matrix()))
        if np.isnan(value).any():
            warn_undefined(name, "it is 0 / 0")
        return value if value.ndim else float(value)

    def _of_pairs(self, found: ClassMetric, name: str) -> Value:
        if self._pairs is None:
            raise ValueError(
                f"{name} needs counts for each pair of classes, which a summary of {self._require_rows().size} classes "
                "does not have: they would take too much memory"
            )
        support = self.support
        wins = np.array([self._pairs.doubled_wins(j) for j in range(support.size)]).transpose(1, 0, 2)
        pairs = 2 * np.outer(support.astype(object), support) * ~np.eye(support.size, dtype=np.bool_)
        ends = np.array(
            [[[a / b if b else math.nan for a, b in zip(*each, strict=True)] for each in zip(one, pairs, strict=True)]
             for one in wins.tolist()]
        )  # fmt: skip
        low, value, high = np.array([found.of_pairs(end, support) for end in ends])
        return self._with_bounds(name, np.stack((value, low, high)), (0.0, 1.0), "pairs of classes have no rows")

    def _averaged(
        self, name: str, found: ClassMetric, ends: Floats, support: Ints, bounds: tuple[float, float]
    ) -> Value:
        values = np.stack([found.averaged(each, support) for each in ends])
        return self._with_bounds(name, values, bounds, "classes have no rows, or all rows")

    def _with_bounds(self, name: str, ends: Floats, bounds: tuple[float, float], lacking: str) -> Value:
        """Return values with bounds unless these are equal; warn if some are undefined."""
        value, low, high = ends
        if np.isnan(value).any():
            warn_undefined(name, f"some {lacking}")
        if np.array_equal(low, high, equal_nan=True):
            return value if value.ndim else float(value)
        if not value.ndim:
            return Certified(float(value), *widened(float(low), float(high), 0.0, bounds))
        wide = [widened(a, b, 0.0, bounds) if a < b else (a, b) for a, b in zip(low.flat, high.flat, strict=True)]
        low, high = np.array(wide).T.reshape(2, *value.shape)
        return CertifiedValues(value, low, high)

    def _error_of(self, name: str, spec: MetricSpec, columns: slice) -> float:
        """Return the mean probability of some columns, or their calibration error in the summary's bins."""
        options = {name: value for name, value in spec.options.items() if name != "average"}
        kept = {"n_bins": self._n_bins, "strategy": "uniform"}
        if name == "mean_predicted":
            return self._bins.mean(columns)
        curve = self._bins.curve(columns)
        if not hasattr(curve, name):
            raise ValueError(
                f"{spec} needs the rows: of each class against the rest, a summary has errors in bins only"
            )
        if any(kept[key] != value for key, value in options.items()):
            raise ValueError(
                f"{spec} is not known from a summary, which has calibration errors in {self._n_bins} bins of equal "
                "width: ClassScoresSummary(n_bins=...) keeps others"
            )
        return float(getattr(curve, name))

    # Intervals --------------------------------------------------------------------------------------------------------

    def _moments(self, spec: MetricSpec) -> list[Any] | None:
        """Return the weight of all rows, its squares, and the `MOMENTS` of a loss or rate; None if a loss is infinite.

        Raise ValueError if the metric is not a mean over rows.
        """
        spec, n = spec_of_classes(spec), self._require_rows().size
        totals = self._ranks.sum(axis=1).tolist()
        if spec.name in self._losses:
            infinite, *sums = self._losses[spec.name]
            return None if infinite else [*totals, *(Fraction(total, 1 << FRACTION) for total in sums)]
        if spec.name == OF_ORDERED and not self.is_ordered:
            raise ValueError(f"{spec} needs ordered classes: ClassScoresSummary(labels, ordered=True)")
        if spec.name in LOSSES:
            raise ValueError(f"{spec} is not known, because an earlier version of fastevals counted some of the rows")
        if spec.name == "top_k_accuracy":
            k = METRICS[spec.name].own_options(spec.options).get("k", 3)
            hits = self._ranks[:, : min(k, n)].sum(axis=1).tolist()
        elif spec.name in RATES and not spec.options:
            hits = self._matrix[:2].trace(axis1=1, axis2=2).tolist()
            hits = hits if spec.name == "accuracy" else [total - hit for total, hit in zip(totals, hits, strict=True)]
        else:
            raise ValueError(
                f"{spec} is not a mean over rows, so a summary has no standard error of it: use bootstrap of the "
                "summary for metrics of predicted classes, and of rankings() for areas of one class"
            )
        return [*totals, Fraction(hits[0]), Fraction(hits[1]), Fraction(hits[1])]

    def standard_error(self, name: str | MetricSpec) -> float:
        """Return the standard error of a metric that is a mean over rows: a loss, top-k accuracy, accuracy, error rate.

        Rows are assumed to be independent; squared weights are used. NaN for fewer than two rows or an infinite mean.

        Raises
        ------
        ValueError
            If the metric is not a mean over rows.
        """
        moments = self._moments(metric(name) if isinstance(name, str) else name)
        if moments is None or self.n_samples < 2:
            return math.nan
        weight, squared, total, first, second = moments
        mean = total / weight
        return math.sqrt(max(second - 2 * mean * first + mean * mean * squared, Fraction(0)) / weight**2)

    def confidence_interval(self, name: str | MetricSpec, confidence_level: float = 0.95) -> Interval:
        """Return the confidence interval of a metric that is a mean over rows.

        Losses have a normal interval, and rates Wilson's. If rows have weights, Wilson's interval is for as many rows
        as would give the same standard error (Kish's effective number).

        Raises
        ------
        ValueError
            If the metric is not a mean over rows.
        """
        spec = metric(name) if isinstance(name, str) else name
        _, alpha = check_confidence_level(check_number("confidence_level", confidence_level, low=0, high=1))
        moments = self._moments(spec)
        if moments is None or not self.n_units:
            return Interval(math.nan, math.nan)
        weight, squared, total, *_ = moments
        if spec_of_classes(spec).name not in LOSSES:
            rate, n = float(total / weight), weight * weight / squared
            return Interval(*map(float, share_interval(rate * n, (1 - rate) * n, "wilson", alpha, "two-sided")))
        margin = normal_margins(alpha, "two-sided")[0] * self.standard_error(spec)
        value, (low, high) = float(total / weight), METRICS[spec_of_classes(spec).name].bounds
        return Interval(max(value - margin, low), min(value + margin, high))

    # Merging and storing ----------------------------------------------------------------------------------------------

    def _merged(self, others: Sequence[ClassScoresSummary]) -> ClassScoresSummary:
        merged = self
        for other in others:
            merged = merged._plus(other)
        return merged if others else self._plus(ClassScoresSummary(**self._options()))

    def _options(self) -> dict[str, Any]:
        return {"ordered": self.is_ordered, "n_bins": self._n_bins, "cells": self._most_cells}

    def _plus(self, other: ClassScoresSummary) -> ClassScoresSummary:
        """Return the summary of the rows of two summaries."""
        for name, mine in self._options().items():
            its = other._options()[name]
            if its != mine:
                raise ValueError(f"summaries must have the same {name}, got {mine} and {its}")
        total = ClassScoresSummary(**self._options())
        total.is_weighted = self.is_weighted or other.is_weighted
        first, second = (other, self) if self._labels is None else (self, other)
        if first._labels is None:
            return total
        total._start(first._labels)
        parts = [first] if second._labels is None else [first, second._in_order_of(first._labels, self.is_ordered)]
        if sum(part.n_units for part in parts) > MOST_UNITS:
            raise ValueError("rows, or their weight, must add up to at most 2**36")
        total._matrix, total._ranks = (sum(getattr(part, name) for part in parts) for name in ("_matrix", "_ranks"))
        for name in ("_bins", "_pairs", "_rest", "_top"):
            mine, *its = (getattr(part, name) for part in parts)
            setattr(total, name, None if mine is None else mine.merge(*its))
        total._losses = {
            name: [sum(each) for each in zip(*(part._losses[name] for part in parts), strict=True)]
            for name in total._losses
            if all(name in part._losses for part in parts)
        }
        return total

    def _in_order_of(self, labels: NDArray[Any], ordered: bool) -> ClassScoresSummary:
        """Return this summary with the classes in another order; raise unless they are the same."""
        own, wanted = self._require_rows().tolist(), labels.tolist()
        if own == wanted and [*map(type, own)] == [*map(type, wanted)]:
            return self
        same = {(isinstance(label, str), label) for label in own} == {
            (isinstance(label, str), label) for label in wanted
        }
        if ordered or not same:
            rule = "the same classes" + " in the same order" * (ordered and same)
            raise ValueError(f"summaries must have {rule}, got {listed(wanted)} and {listed(own)}")
        order = np.array([own.index(label) for label in wanted])
        columns = np.append(order, len(own))  # the top labels come last
        moved = ClassScoresSummary(**self._options())
        moved._labels, moved._losses, moved._top = labels, self._losses, self._top
        moved._matrix, moved._ranks = self._matrix[:, order[:, None], order], self._ranks
        moved._bins = self._bins.in_order(columns)
        moved._pairs, moved._rest = (
            None if each is None else each.in_order(order) for each in (self._pairs, self._rest)
        )
        return moved

    def _payload(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        head: dict[str, Any] = {
            "labels": None if self._labels is None else self._labels.tolist(),
            "ordered": self.is_ordered,
            "bins": self._n_bins,
            "cells": self._most_cells,
            **weighted_head(self.is_weighted),
        }
        if self._labels is None:
            return head, {}
        head["losses"] = {name: [hex(each) for each in sums] for name, sums in self._losses.items()}
        arrays = {"matrix": self._matrix.ravel(), "ranks": self._ranks.ravel(), **self._bins.arrays()}
        for name, table in self._tables.items():
            arrays |= {f"{name}_{key}": array for key, array in table.arrays().items()}
        return head, arrays

    @classmethod
    def _from_payload(cls, fields: Fields) -> Self:
        """Check every field that was read, and build the summary."""
        labels = fields.item("labels", "labels or none", lambda each: each is None or _are_labels(each))
        summary = cls(
            ordered=fields.flag("ordered"),
            n_bins=fields.integer("bins", 1, MOST_BINS),
            cells=fields.integer("cells", LEAST_RANGES, MOST_CELLS),
        )
        summary.is_weighted = fields.is_weighted()
        if labels is None:
            return summary
        n = len(labels)
        names = text_array(labels) if isinstance(labels[0], str) else np.array(labels)
        if n < 2 or sorted_unique(names).size != n or (isinstance(labels[0], int) and names.dtype.kind in "fO"):
            raise ValueError("its labels must be two or more, all different, and integers must fit in 64 bits")
        for ranges, n_codes in zip(_ranges_for(n, summary._most_cells), (n, 2), strict=True):
            if ranges is not None:
                fields.room.take(ranges.size * n * (8 * n_codes + 16))
        fields.room.take(8 * (n + 1) * summary._n_bins * (LIMBS + 2))
        summary._start(names)
        losses = fields.item("losses", f"{MOMENTS} integers in base 16 per loss", partial(_are_losses, summary._losses))
        summary._losses = {name: [int(each, 16) for each in losses[name]] for name in summary._losses if name in losses}
        for name in ("matrix", "ranks"):
            own = getattr(summary, f"_{name}")
            setattr(summary, f"_{name}", fields.counts(name, own.size).reshape(own.shape).copy())
        summary._bins.fill(fields)
        for name, table in summary._tables.items():
            table.fill(partial(_prefixed, fields, name))
        summary._check()
        return summary

    def _check(self) -> None:
        """Raise unless the counts that were read belong to the same rows."""
        (weight, squared), n = self._ranks.sum(axis=1, dtype=np.float64), self._ranks.shape[1]
        if weight > MOST_UNITS or squared > 2.0**62:
            raise ValueError("its rows must add up to at most 2**36")
        by_class = self._matrix[0].sum(axis=1)
        of_class = self._bins.rows[:n, :, 1].sum(axis=1)
        hits = int(self._matrix[0].trace()), int(self._bins.rows[n, :, 1].sum())
        alike = [
            (self._matrix[0].sum(dtype=np.float64), weight), (self._matrix[1].sum(dtype=np.float64), squared),
            (of_class, by_class), (self._bins.rows.sum(axis=(1, 2), dtype=np.float64), weight), hits,
        ]  # fmt: skip
        for table in self._tables.values():
            alike.append((table.counts.sum(axis=(1, 2), dtype=np.float64), weight))
            found = table.counts.sum(axis=1)
            alike.append((found if table.are_classes else found[:, 1], hits[0] if table is self._top else by_class))
        if not all(np.all(np.equal(*each)) for each in alike):
            raise ValueError("its counts must be of the same rows")
        weights, squares, rows = self._matrix
        fewest = (rows <= weights) & (weights <= squares) & ((rows > 0) == (weights > 0))
        if not fewest.all() or (not self.is_weighted and (self._matrix != weights).any()):
            raise ValueError("its squares are not those of its weights")
        if (self._ranks[0] > self._ranks[1]).any() or (squares > weights.astype(np.float64) ** 2).any():
            raise ValueError("its squares are not those of its weights")
        total, squared_total = self._ranks.sum(axis=1).tolist()
        for name, (infinite, first, second, third) in self._losses.items():
            most = int(min(METRICS[name].bounds[1], HIGHEST_LOSS)) << FRACTION
            ends = (total, most * total, most * squared_total, (most * most >> FRACTION) * squared_total)
            if any(each > end for each, end in zip((infinite, first, second, third), ends, strict=True)):
                raise ValueError("its losses must be those of its rows")

    @property
    def _tables(self) -> dict[str, RangeTable]:
        tables = {"pairs": self._pairs, "rest": self._rest, "top": self._top}
        return {name: table for name, table in tables.items() if table is not None}


def _ranges_for(n: int, most: int) -> tuple[ProbabilityRanges | None, ProbabilityRanges | None]:
    """Return the ranges by pair of classes and of each class against the rest; the same if one table is enough."""
    pairs = ProbabilityRanges.at_most(min(most, PAIR_BYTES // (8 * n * n)))
    return pairs, ProbabilityRanges.at_most(min(most, REST_BYTES // (32 * n)))


def _are_labels(values: Any) -> bool:
    is_list = isinstance(values, list) and bool(values) and len({*map(type, values)}) == 1
    return is_list and all(label is not None and is_label(label) for label in values)


def _are_losses(known: Collection[str], values: Any) -> bool:
    """Return whether a value that was read has the sums of known losses."""
    lists = list(values.values()) if isinstance(values, dict) and values.keys() <= set(known) else [None]
    return all(isinstance(each, list) and len(each) == MOMENTS and all(map(is_hex, each)) for each in lists)


def _prefixed(fields: Fields, table: str, name: str, size: int | None = None) -> Ints:
    """Return one of the arrays of a table."""
    return fields.counts(f"{table}_{name}", size)


def _check_units(units: Units) -> None:
    if units.are_weights and units.counts.max(initial=0) >= MOST_WEIGHT:
        raise ValueError(f"sample_weight must be below 2**26, got {int(units.counts.max())}")


def _bincount(places: NDArray[Any], amounts: Ints | None, n: int) -> Ints:
    """Count rows by place, each once or as often as `amounts` says; exact for any integers."""
    if amounts is None:
        return np.bincount(places, minlength=n)
    sums = np.zeros(n, np.int64)
    np.add.at(sums, places, amounts)
    return sums
