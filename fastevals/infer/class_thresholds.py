"""Choose a threshold for each class, and estimate on other rows what the thresholds gain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._execution import run
from fastevals._options import check_choice, check_integer, listed
from fastevals._random import random_order
from fastevals.document.document import Document, Section, Sentence
from fastevals.document.frames import Columns, make_columns
from fastevals.infer.bootstrap.bootstrap import BootstrapMethod, BootstrapSettings, Estimate
from fastevals.infer.bootstrap.row_samples import SamplingUnits
from fastevals.infer.bootstrap.subjects import SamplingDesign, make_prediction_sample
from fastevals.infer.class_rows import ClassRows, read_class_rows
from fastevals.infer.comparison import Difference, compare_models
from fastevals.infer.costs.class_decisions import BY_PROBABILITY
from fastevals.infer.significance.paired import compared_pairs
from fastevals.measure.class_losses import predicted_classes
from fastevals.measure.class_scores import read_class_scores
from fastevals.measure.class_thresholds import ThresholdGoal, ThresholdSearch, classes_by_factors
from fastevals.measure.metric_specs import MetricSpec
from fastevals.results import Alternative, Frozen

Floats = NDArray[np.float64]

BY_THRESHOLD = "thresholds"
STREAM_OF_FOLDS = 2**62  # a stream that no replicate uses


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ClassThresholds(Frozen):
    """Result of `class_thresholds`: a threshold for each class, and what the thresholds gain on other rows.

    Attributes
    ----------
    labels : ndarray of shape (n_classes,)
        The classes.
    thresholds : ndarray of shape (n_classes,)
        The class with the largest probability / threshold is predicted. Thresholds add up to 1; if all are equal, the
        most probable class is predicted. For two classes, the second one is predicted at or above its threshold.
    fold_thresholds : ndarray of shape (n_folds, n_classes)
        The thresholds chosen without each fold; if they differ much from fold to fold, there are too few rows.
    metric : str
        The metric that is maximised.
    value : float
        The metric with `thresholds` on the rows that chose them, which is optimistic.
    estimate : Estimate
        The metric of rows that are predicted with the thresholds chosen without their fold.
    most_probable : Estimate
        The metric of the most probable class.
    difference : Difference
        `estimate` minus `most_probable`, paired.
    n_samples : int
        Number of rows with weight above zero.
    confidence_level : float
        Level of the intervals.
    conclusion : str
        The gain in words.

    Examples
    --------
    >>> import fastevals
    >>> y_true = ["a", "a", "b", "b", "b", "a"] * 10
    >>> y_prob = [[0.9, 0.1], [0.7, 0.3], [0.8, 0.2], [0.6, 0.4], [0.5, 0.5], [0.9, 0.1]] * 10
    >>> found = fastevals.class_thresholds(y_true, y_prob, n_resamples=99, rng=0)
    >>> round(found.value, 3), round(found.most_probable.value, 3)
    (0.829, 0.333)
    >>> found.predict([[0.62, 0.38], [0.95, 0.05]]).tolist()
    ['b', 'a']
    """

    labels: NDArray[Any]
    thresholds: Floats
    fold_thresholds: Floats
    metric: str
    value: float
    estimate: Estimate
    most_probable: Estimate
    difference: Difference
    n_samples: int
    confidence_level: float

    def predict(self, y_prob: ArrayLike) -> NDArray[Any]:
        """Predict the class with the largest probability / threshold.

        Parameters
        ----------
        y_prob : array-like of shape (n_samples, n_classes)
            Probabilities of the classes, in the order of `labels`.

        Returns
        -------
        ndarray of shape (n_samples,)
            A label for each row; among equal quotients the first class.

        Raises
        ------
        ValueError
            If `y_prob` has another number of columns, or values that are not finite.
        """
        n = len(np.asarray(y_prob))
        scores = read_class_scores(np.repeat(self.labels[:1], n), y_prob, self.labels, None, name="y_prob")[1]
        return np.asarray(self.labels[classes_by_factors(scores.columns, 1 / self.thresholds)])

    def __repr__(self) -> str:
        return self.to_text().rstrip()

    def _title(self) -> str:
        rows = f"{self.n_samples:,} row{'s' * (self.n_samples != 1)}"
        return f"Thresholds of {self.labels.size} classes by {self.metric}: {rows}, {len(self.fold_thresholds)} folds"

    def _columns(self) -> Columns:
        low, high = self.fold_thresholds.min(axis=0), self.fold_thresholds.max(axis=0)
        return make_columns({"label": self.labels, "threshold": self.thresholds, "lowest": low, "highest": high})

    @property
    def conclusion(self) -> str:
        """The gain in words."""
        (low, high), gain = self.difference.confidence_interval, self.difference.value
        sure = f"{100 * self.confidence_level:.6g} % interval {low:.4g} to {high:.4g}; p = {self.difference.pvalue:.4f}"
        what = f"{self.metric} is {self.estimate.value:.4g} with thresholds chosen on other rows, and "
        what += f"{self.most_probable.value:.4g} for the most probable class. "
        if low > 0 or high < 0:
            return f"{what}Thresholds {'raise' if gain > 0 else 'lower'} it by {abs(gain):.4g} ({sure})."
        return f"{what}No significant difference ({gain:.4g}, {sure})."

    def _document(self) -> Document:
        document = Frozen._document(self)
        note = f"With the thresholds on the rows that chose them, it is {self.value:.4g}, which is optimistic."
        parts = [*document.sections[0].parts, Sentence(note, "caution")]
        return document._replace(sections=[Section(parts)])


def class_thresholds(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    metric: ThresholdGoal = "f1",
    *,
    labels: ArrayLike | None = None,
    n_folds: int = 5,
    n_resamples: int = 1999,
    confidence_level: float = 0.95,
    method: BootstrapMethod = "BCa",
    alternative: Alternative = "two-sided",
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    rng: Any = None,
    progress: bool = False,
) -> ClassThresholds:
    """Choose a threshold for each class that maximises a metric of predicted classes, and estimate the gain.

    The class with the largest probability divided by its threshold is predicted, instead of the most probable class.
    A rare class with a low threshold is predicted more often.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels: integers, booleans, strings, or floats without a fraction. Each class must have rows.
    y_prob : array-like of shape (n_samples, n_classes)
        Probabilities: one column per class. Rows add up to 1.
    metric : {"f1", "balanced_accuracy", "accuracy"}
        What to maximise: the mean of the classes' F1 scores (macro-F1), the mean of their recall, or the share of right
        predictions. For costs, see `class_costs`.
    labels : sequence of n_classes labels, optional
        The class of each column, in order; by default the labels that occur, sorted.
    n_folds : int
        Number of folds, at least 2: each fold is predicted with thresholds chosen on the others.
    n_resamples : int
        Number of bootstrap replicates.
    confidence_level : float in (0, 1)
        Confidence level of the intervals.
    method : {"BCa", "percentile", "basic", "normal"}
        Method of the intervals, as for `bootstrap`.
    alternative : {"two-sided", "less", "greater"}
        Whether intervals have two ends or a single end, and the claim to test about the difference.
    groups : array-like of shape (n_samples,), optional
        The cluster of each row, such as a patient. Clusters are kept together in folds, and drawn together.
    sample_weight : array-like of shape (n_samples,), optional
        Nonnegative row weights. Rows of weight zero are dropped.
    rng : None, int, sequence of int, SeedSequence, BitGenerator or Generator
        The seed of the folds and of the replicates.
    progress : bool
        Show a bar (needs tqdm).

    Returns
    -------
    ClassThresholds
        The thresholds, the metric on other rows with its interval, and the paired difference from the most probable
        class.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.

    Notes
    -----
    The thresholds are chosen by coordinate ascent: given the thresholds of the other classes, a sweep over the rows
    finds the best threshold of one class exactly, and the classes take turns until a pass over all of them improves
    the metric by less than 0.01 %. The ascent starts from equal thresholds and from thresholds that are proportional to
    the classes' shares, which are best for the balanced accuracy of calibrated probabilities. The result is never worse
    than the most probable class on these rows, but it may be a local maximum. A threshold lies halfway (on the scale of
    logarithms) between the two values at which a prediction would change.

    A metric of the rows that chose the thresholds is optimistic. So `estimate` is cross-fitted: each fold is predicted
    with thresholds chosen on the other folds. Its interval resamples the rows with these predictions. It estimates
    thresholds chosen on (n_folds - 1) / n_folds of the rows, so it is slightly pessimistic. How the thresholds vary
    between samples is not included. In simulations with three classes, 95 % intervals contained the true macro-F1 of
    the chosen thresholds in 95 % of data sets, and the true gain in 89 % (500 rows, 50 of the rarest class) or 93 %
    (2,500 rows); most misses were too low.

    References
    ----------
    Lipton, Elkan and Naryanaswamy (2014), "Optimal Thresholding of Classifiers to Maximize F1 Measure",
    doi:10.1007/978-3-662-44851-9_15; Narasimhan et al. (2015), "Consistent Multiclass Algorithms for Complex
    Performance Measures", PMLR 37, 2398-2407.

    Examples
    --------
    >>> import fastevals
    >>> y_true = ["a", "a", "b", "b", "b", "a"] * 10
    >>> y_prob = [[0.9, 0.1], [0.7, 0.3], [0.8, 0.2], [0.6, 0.4], [0.5, 0.5], [0.9, 0.1]] * 10
    >>> fastevals.class_thresholds(y_true, y_prob, n_resamples=99, rng=0).thresholds.round(3)
    array([0.857, 0.143])
    """
    check_choice("metric", metric, ThresholdGoal)
    folds = check_integer("n_folds", n_folds, low=2)
    settings = BootstrapSettings.checked(n_resamples, confidence_level, method, alternative, rng)
    rows = read_class_rows(y_true, y_prob, labels, sample_weight, groups)
    (columns,) = rows.columns.values()
    n_by_class = np.bincount(rows.codes, minlength=rows.labels.size)
    if not n_by_class.all():
        missing = rows.labels[n_by_class == 0]
        raise ValueError(f"y_true must have rows of each class, but has none of {listed(list(missing))}")
    of_fold, predicted = _fold_numbers(rows, folds, settings.key), np.empty(rows.codes.size, dtype=np.int64)

    def choose(fold: int) -> Floats:
        if fold == folds:
            return search.best()
        inside = of_fold == fold
        others = np.flatnonzero(~inside)
        weights = None if rows.weights is None else rows.weights[others]
        chosen = ThresholdSearch(columns[:, others], rows.codes[others], weights, metric).best()
        predicted[inside] = classes_by_factors(columns[:, inside], 1 / chosen)
        return chosen

    search = ThresholdSearch(columns, rows.codes, rows.weights, metric)
    *of_folds, thresholds = run(choose, range(folds + 1), compiles="ThresholdSearch")
    spec = MetricSpec(metric, {"average": "macro"} if metric == "f1" else {})
    models = {BY_THRESHOLD: predicted, BY_PROBABILITY: predicted_classes(columns)[0]}
    design = SamplingDesign(rows.groups, rows.weights)
    specs, predictions = {str(spec): spec}, {name: each.astype(rows.codes.dtype) for name, each in models.items()}
    sample = make_prediction_sample(rows.codes, predictions, specs, design)
    pairs = compared_pairs((BY_THRESHOLD, BY_PROBABILITY))
    compared = compare_models(sample, specs, list(models), pairs, settings, False, progress)[str(spec)]
    on_all = search.value(1 / thresholds) / (rows.labels.size if metric == "f1" else 1)
    return ClassThresholds(
        rows.labels, thresholds, np.array(of_folds), str(spec),
        on_all, compared.estimates[BY_THRESHOLD], compared.estimates[BY_PROBABILITY], compared.differences[0],
        rows.codes.size, settings.confidence_level,
    )  # fmt: skip


def _fold_numbers(rows: ClassRows, n_folds: int, key: np.uint64) -> NDArray[np.intp]:
    """Return the fold of each row: clusters are dealt in random order, or the rows of each class."""
    units = SamplingUnits.number(rows.codes.size, rows.groups, None if rows.groups is not None else rows.codes)
    of_unit, stop = np.empty(units.n, dtype=np.intp), 0
    for k, n in enumerate(units.strata):
        of_unit[stop + random_order(key, STREAM_OF_FOLDS + k, n)] = (np.arange(n) + stop) % n_folds
        stop += n
    if units.n < n_folds:
        raise ValueError(f"n_folds must be at most the number of rows or groups, {units.n}, got {n_folds}")
    return np.asarray(of_unit[units.unit_by_row])
