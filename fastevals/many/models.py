"""Metrics of many models in one call, and DeLong's standard errors of their AUCs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._distinct import sorted_unique
from fastevals._execution import num_threads, run
from fastevals._kernels.columns import square_placements
from fastevals._kernels.sweep import rank_marked
from fastevals._options import as_flag, check_not_given, check_one_number, listed, show, warn_undefined
from fastevals._text import printable
from fastevals._validation.arrays import (
    as_array,
    as_frequencies,
    as_weights,
    check_finite,
    check_one_weight,
    named_columns,
    transposed_hint,
)
from fastevals._validation.labels import (
    as_class_numbers,
    as_classes,
    binary_labels,
    check_class_number,
    check_class_sizes,
    check_comparable_labels,
)
from fastevals._validation.text import TextLabels, share_names
from fastevals.counting.groups import count_label_pairs, expand_to_labels, spans
from fastevals.counting.ordering import CLASS_ROWS, BinaryLabels, Keys
from fastevals.document.frames import Columns, make_columns, or_nan
from fastevals.infer.delong.placements import PlacementMoments, compute_moments, compute_ranking_moments
from fastevals.many.columns import ROWS_TOGETHER, Flags, ScoreColumns, are_many_and_short, column_metrics, map_columns
from fastevals.many.group_errors import grouped_errors
from fastevals.measure.kinds import (
    LABELS,
    MEAN_LOSS,
    QUANTILES,
    SCORES,
    TARGETS,
    MatrixMetric,
    MetricSpecs,
    QuantileMetric,
    TargetMetric,
    array_kind,
    check_needed_probabilities,
    check_one_kind,
    metric_kinds,
)
from fastevals.measure.metric_specs import RankingMetric, parse_metrics
from fastevals.measure.ranking.ranking import Ranking
from fastevals.results import ByMetric, Frozen

MODELS_SHOWN = 4  # models in a repr
Array = NDArray[Any]
Read = Callable[[str, Any], Array]  # takes a name for errors and an array-like, returns a 1-D array
Arrays = Mapping[str, Array]  # keys are the names in errors


def batch_auc(
    y_true: Any,
    scores: Any,
    *,
    sample_weight: Any = None,
    frequency_weight: Any = None,
    pos_label: Any = None,
    standard_errors: bool = False,
) -> BatchMetric:
    """Compute the AUCs of many models in one batch.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_models, n_samples), or mapping of name to array-like
        Labels of two classes: numbers, booleans or strings. One array for all models, or one row or entry per model;
        entries may differ in length.
    scores : array-like of shape (n_models, n_samples), sequence of arrays, mapping of name to array-like, or frame
        Finite scores: one row, array, entry or column per model, in any memory order and real dtype.
    sample_weight : as `y_true`, optional
        Row weights, not negative. Rows of weight zero are left out. Cannot be combined with `standard_errors`.
    frequency_weight : as `y_true`, optional
        Number of copies of each row: integers, equivalent to repeating the rows. Not with `sample_weight`.
    pos_label : label, optional
        The positive class: by default 1 for labels 0/1, -1/1 and booleans; required for other labels.
    standard_errors : bool
        Whether to return DeLong's standard error of each AUC. For weighted rows, and for covariances of models, see
        `delong`.

    Returns
    -------
    BatchMetric
        The values of `Ranking.roc_auc` for each model, to the last bit.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.

    Warns
    -----
    UndefinedMetricWarning
        Once if some models lack a class, so that their AUC is NaN; with standard errors, also if a class has fewer than
        2 rows.

    Notes
    -----
    Labels that all models share are read once. Each thread works on its own column and needs 17 bytes per row beyond
    the input. Scores that are not float64 take 8 bytes per row more; columns interleaved in memory take copies of 8
    columns. If columns are few and long, all threads work on one column at a time.

    References
    ----------
    DeLong et al. (1988), doi:10.2307/2531595.

    Examples
    --------
    >>> import fastevals
    >>> scores = {"a": [0.1, 0.4, 0.3, 0.8], "b": [0.4, 0.1, 0.3, 0.8]}
    >>> fastevals.batch_auc([0, 0, 1, 1], scores, standard_errors=True).standard_errors
    array([0.35355339, 0.35355339])
    """
    models, names = as_models("scores", scores, SCORES.as_array)
    errors = as_flag("standard_errors", standard_errors)
    check_one_weight(sample_weight, frequency_weight)
    if errors and sample_weight is not None:
        raise ValueError(
            "standard_errors=True does not take sample_weight: use delong, or pass the number of copies of each row as "
            "frequency_weight"
        )
    given = sample_weight if frequency_weight is None else frequency_weight
    read_weights = as_weights if frequency_weight is None else as_frequencies
    name = "sample_weight" if frequency_weight is None else "frequency_weight"
    labels, weights = _read_beside(y_true, models, names, given, SCORES.as_truth, read_weights, name)
    if not errors and frequency_weight is None:
        specs = parse_metrics("roc_auc")
        results = _measure_scores(specs, SCORES.metrics(specs), names, labels, models, weights, pos_label)
        return results.metrics["roc_auc"]
    columns = score_columns(labels, pos_label, models, weights)
    moments = _placement_moments(columns)
    values = np.concatenate([each.aucs() for each in moments])
    deviations = None
    if errors:
        deviations = np.sqrt(np.concatenate([each.covariance()[0] for each in moments]))
    n_pos, n_neg = _one_size([each.n_pos for each in moments]), _one_size([each.n_neg for each in moments])
    _warn_undefined_models("roc_auc", values, names, "y_true has one class")
    if deviations is not None and np.isnan(deviations).sum() > np.isnan(values).sum():
        _warn_undefined_models("the standard error", deviations, names, "two rows of each class are needed")
    return BatchMetric(values, names, n_pos, n_neg, deviations, columns.pos_label)


def batch_metrics(
    y_true: Any, predictions: Any, metrics: Any, *, sample_weight: Any = None, pos_label: Any = None
) -> BatchMetrics:
    """Compute metrics of many models in one batch, from scores, predicted labels or predicted numbers.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_models, n_samples), or mapping of name to array-like
        Labels or targets. One array for all models, or one row or entry per model; entries may differ in length.
    predictions : array-like of shape (n_models, n_samples), sequence of arrays, mapping of name to array-like, or frame
        The predictions of each model: one row, array, entry or column per model.
    metrics : str, `metric(...)`, a sequence of these, or a mapping of names to them
        All metrics must be of one kind: for scores ("roc_auc", "average_precision", ``metric("f1", threshold=0.5)``),
        for predicted labels ("accuracy", ``metric("f_score", average="macro")``), or for predicted numbers
        ("mean_squared_error"). Functions can accompany the first two kinds; they take threshold counts or a stack of
        confusion matrices, respectively.
    sample_weight : as `y_true`, optional
        Row weights, not negative. Rows of weight zero are left out.
    pos_label : label, optional
        The positive class: by default 1 for labels 0/1, -1/1 and booleans. With other labels it is
        required for scores, and for those metrics of predicted labels that depend on a positive class.

    Returns
    -------
    BatchMetrics
        A mapping from each metric to its `BatchMetric`.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.

    Warns
    -----
    UndefinedMetricWarning
        Once for each metric that is NaN for some models.

    Notes
    -----
    Matrices of predicted labels cover the labels of all models, so macro averages are over the same classes.

    Examples
    --------
    >>> import fastevals
    >>> found = fastevals.batch_metrics([0, 0, 1, 1], [[0, 1, 1, 1], [0, 0, 1, 1]], ["accuracy", "f1"])
    >>> found["accuracy"].values, found["f1"][0]
    (array([0.75, 1.  ]), 0.8)
    """
    specs = parse_metrics(metrics)
    kinds = metric_kinds(specs)
    check_one_kind("metrics", kinds, several=False)
    kind = array_kind(kinds)
    if kind is None:
        raise ValueError("metrics must include a metric with a name, which determines what the functions take")
    metrics = kind.metrics(specs)
    models, names = as_models("predictions", predictions, kind.as_array)
    truth, weights = _read_beside(y_true, models, names, sample_weight, kind.as_truth, as_weights)
    measure: Any = {
        SCORES: _measure_scores, LABELS: _measure_labels, TARGETS: _measure_targets, QUANTILES: _measure_quantiles
    }[kind]  # fmt: skip
    results: BatchMetrics = measure(specs, metrics, names, truth, models, weights, pos_label)
    return results


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BatchMetric(Frozen):
    """A metric of many models: a sequence of floats that can also be indexed by a model's name.

    Attributes
    ----------
    values : ndarray of shape (n_models,)
        The value of each model; NaN where undefined.
    names : tuple
        Names of the models in order; 0, 1, 2, ... if they have none.
    n_positives, n_negatives : int, ndarray of shape (n_models,) or None
        Rows (of weight above zero) of each class: one number if it is the same for all models; None for metrics of
        predicted labels or numbers. With standard errors, a row counts as many times as its frequency weight.
    standard_errors : ndarray of shape (n_models,) or None
        Standard errors of the values, if requested.
    pos_label : label or None
        The positive class; None if there is none, or if it was not named.

    Examples
    --------
    >>> import fastevals
    >>> aucs = fastevals.batch_auc([0, 0, 1, 1], {"a": [0.1, 0.4, 0.3, 0.8], "b": [1, 2, 3, 4]})
    >>> aucs
    BatchMetric(a=0.75, b=1.0)
    >>> aucs["a"], list(aucs), len(aucs)
    (0.75, [0.75, 1.0], 2)
    """

    values: NDArray[np.float64]
    names: tuple[Any, ...]
    n_positives: int | NDArray[np.int64] | None = None
    n_negatives: int | NDArray[np.int64] | None = None
    standard_errors: NDArray[np.float64] | None = None
    pos_label: Any = None

    @property
    def n_undefined(self) -> int:
        """Number of models whose metric is NaN."""
        return int(np.isnan(self.values).sum())

    def __len__(self) -> int:
        return self.values.size

    def __iter__(self) -> Iterator[float]:
        return iter(self.values.tolist())

    def __getitem__(self, name: Any) -> float:
        if name not in self.names:
            raise KeyError(f"{show(name)}: the models are {listed(self.names)}")
        return float(self.values[self.names.index(name)])

    def _columns(self) -> Columns:
        return make_columns(
            {
                "model": self.names,
                "value": self.values,
                "standard_error": or_nan(self.standard_errors),
                "n_positives": or_nan(self.n_positives),
                "n_negatives": or_nan(self.n_negatives),
            }
        )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.values, dtype=dtype, copy=copy)

    def __repr__(self) -> str:
        pairs = list(zip(self.names, self, strict=True))[:MODELS_SHOWN]
        named = not all(isinstance(name, int) for name, _ in pairs)
        shown = [f"{printable(str(name))}={value:.4}" if named else f"{value:.4}" for name, value in pairs]
        more = [f"... {len(self)} models"] if len(self) > MODELS_SHOWN else []
        undefined = [f"n_undefined={self.n_undefined}"] if self.n_undefined else []
        return f"{type(self).__name__}({', '.join([*shown, *more, *undefined])})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BatchMetrics(ByMetric[BatchMetric]):
    """Metrics of many models: a mapping from each metric to its `BatchMetric`.

    Attributes
    ----------
    metrics : dict of str to BatchMetric
        The results, by metric.
    """

    def _settings(self) -> str:
        n = len(next(iter(self.metrics.values())))
        return f"{n} model{'s' * (n > 1)}"


# Scores ------------------------------------------------------------------------------------------------------------


def _measure_scores(
    specs: MetricSpecs,
    metrics: list[RankingMetric],
    names: tuple[Any, ...],
    y_true: Arrays,
    models: Arrays,
    weights: Arrays | None,
    pos_label: Any,
) -> BatchMetrics:
    columns = score_columns(y_true, pos_label, models, weights)
    measured = column_metrics(columns, metrics)
    weighted = list(models.values())
    if weights is not None:
        kept = [each != 0 for each in weights.values()]
        weighted = [values[_shared_or_own(kept, i)] for i, values in enumerate(weighted)]
    check_needed_probabilities(specs, dict(zip(models, weighted, strict=True)))
    sizes = _one_size([each.n_positives for each in measured]), _one_size([each.n_negatives for each in measured])
    values = np.array([each.values for each in measured], dtype=np.float64).T
    return _results(specs, names, list(values), sizes=sizes, pos_label=columns.pos_label)


def score_columns(y_true: Arrays, pos_label: Any, scores: Arrays, weights: Arrays | None) -> ScoreColumns:
    """Return scores, labels and weights as columns; labels that models share are read once."""
    labels = [BinaryLabels(*binary_labels(name, each, pos_label)) for name, each in y_true.items()]
    names = list(y_true)
    flags = [labels[0].flags(names[0])] if len(labels) == 1 else None

    def column_flags(i: int) -> Flags:
        return labels[i].flags(names[i]) if flags is None else flags[0]

    beside = None if weights is None else list(weights.values())
    column_weights = None if beside is None else lambda i: _shared_or_own(beside, i)
    return ScoreColumns(list(scores.values()), column_flags, list(scores), column_weights, labels[0].positive)


def _placement_moments(columns: ScoreColumns) -> list[PlacementMoments]:
    """Return each model's own placement moments; time and memory grow with the number of models, not of pairs."""
    weights = columns.weights
    if weights is not None:

        def counted(i: int) -> PlacementMoments:
            check_finite(columns.names[i], columns.scores[i])
            return compute_moments(BinaryLabels(columns.flags(i), 1, 0), [columns.scores[i]], weights(i))

        return run(counted, range(len(columns.scores)), compiles="counted moments")

    def from_rows(rows: Keys) -> PlacementMoments:
        doubled_u, _, n_pos = rank_marked(rows)
        sums = np.zeros((2, 1, 1, 2), dtype=np.int64)
        sums[:, 0, 0, 1] = square_placements(rows)
        return PlacementMoments.from_sums(n_pos, rows.size - n_pos, [doubled_u], sums)

    def from_ranking(ranking: Ranking) -> PlacementMoments:
        check_class_sizes("y_true", CLASS_ROWS, ranking.n_positives, ranking.n_negatives)
        return compute_ranking_moments(ranking.counts)

    return map_columns(columns, from_ranking, from_rows, compiles="moments")


# Predicted labels --------------------------------------------------------------------------------------------------


def _measure_labels(
    specs: MetricSpecs,
    metrics: list[MatrixMetric],
    names: tuple[Any, ...],
    y_true: Arrays,
    models: Arrays,
    weights: Arrays | None,
    pos_label: Any,
) -> BatchMetrics:
    stack, labels = count_models(y_true, models, weights)
    classes = as_classes("the data", labels, None, pos_label)
    values = LABELS.evaluate(expand_to_labels(stack, labels, classes.labels), classes, metrics)
    for label, each in zip(specs, values, strict=True):
        check_one_number(label, each.shape[1:], "model")
    return _results(specs, names, values, labels=classes.labels, pos_label=classes.pos_label)


def count_models(y_true: Arrays, predicted: Arrays, weights: Arrays | None) -> tuple[Array, Array]:
    """Count true against predicted labels for each model; return the stacked matrices and all labels in order."""
    names, true = list(y_true), list(y_true.values())
    for i, (label, each) in enumerate(predicted.items()):
        truths = {names[0]: true[0], _shared_or_own(names, i): _shared_or_own(true, i)}
        check_comparable_labels(**truths, **{label: each})  # the matrices cover the labels of all models
    models, beside = list(predicted.items()), [None] if weights is None else list(weights.values())
    if isinstance(true[0], TextLabels):
        texts, codes = share_names([*true, *predicted.values()])
        shared = [TextLabels(texts, each) for each in codes]
        true, models = shared[: len(true)], list(zip(predicted, shared[len(true) :], strict=True))

    def count(i: int) -> tuple[Array, Array]:
        these, weight, (label, those) = _shared_or_own(true, i), _shared_or_own(beside, i), models[i]
        those = as_class_numbers(label, those)
        if weight is not None and not weight.all():
            kept = weight != 0
            these, those, weight = these[kept], those[kept], weight[kept]
        with num_threads(1):
            return count_label_pairs(these, those, weight)

    counted = run(count, range(len(models)), compiles=("count_models", weights is None))
    labels = sorted_unique(np.concatenate([each for _, each in counted]))
    check_class_number("the models' labels", labels)
    stack = np.zeros((len(models), labels.size, labels.size), dtype=counted[0][0].dtype)
    for matrix, (counts, own) in zip(stack, counted, strict=True):
        places = np.searchsorted(labels, own)
        matrix[np.ix_(places, places)] = counts
    return stack, labels


# Predicted numbers -------------------------------------------------------------------------------------------------


def _measure_targets(
    specs: MetricSpecs,
    metrics: list[TargetMetric],
    names: tuple[Any, ...],
    y_true: Arrays,
    models: Arrays,
    weights: Arrays | None,
    pos_label: Any,
) -> BatchMetrics:
    """Return error metrics."""
    check_not_given("pos_label", pos_label, "metrics of classes")
    return _results(specs, names, _errors(metrics, y_true, models, weights))


def _measure_quantiles(
    specs: MetricSpecs,
    metrics: list[QuantileMetric],
    names: tuple[Any, ...],
    y_true: Arrays,
    models: Arrays,
    weights: Arrays | None,
    pos_label: Any,
) -> BatchMetrics:
    """Return metrics of quantiles, which are means of losses.

    A loss is treated as a number predicted for a target of 0, so the mean error is the mean loss.
    """
    check_not_given("pos_label", pos_label, "metrics of classes")
    targets = list(y_true.values())
    origin = {name: np.zeros(each.size) for name, each in y_true.items()}
    values = []
    for metric in metrics:
        losses = {
            name: metric.losses(_shared_or_own(targets, i), each) for i, (name, each) in enumerate(models.items())
        }
        values += _errors([MEAN_LOSS], origin, losses, weights)
    return _results(specs, names, values)


def _errors(
    metrics: Sequence[TargetMetric], y_true: Arrays, models: Arrays, weights: Arrays | None
) -> list[NDArray[np.float64]]:
    """Return each metric of models; those on the same rows are measured together."""
    shared = len(y_true) == 1 and (weights is None or len(weights) == 1)
    if not shared and are_many_and_short(list(models.values())):
        return _errors_of_groups(metrics, y_true, models, weights)
    groups = [list(models.items())] if shared else [[model] for model in models.items()]
    values = []
    for i, group in enumerate(groups):
        name, targets = _shared_or_own(list(y_true.items()), i)
        weight = None if weights is None else _shared_or_own(list(weights.values()), i)
        values.append(_errors_of_same_rows(metrics, name, targets, dict(group), weight))
    return [np.concatenate(parts) for parts in zip(*values, strict=True)]


def _errors_of_groups(
    metrics: Sequence[TargetMetric], y_true: Arrays, models: Arrays, weights: Arrays | None
) -> list[NDArray[np.float64]]:
    """Return each metric of models, treating each model as a group of rows, a few million rows at a time."""
    for name, values in {**y_true, **models}.items():
        check_finite(name, values)
    starts, parts = np.cumsum([0, *(each.size for each in models.values())]), []
    for first, last in spans(starts, ROWS_TOGETHER):

        def rows(arrays: Arrays, numbers: range = range(first, last)) -> Array:
            each = list(arrays.values())
            return np.concatenate([_shared_or_own(each, i) for i in numbers])

        groups = np.repeat(np.arange(last - first), np.diff(starts[first : last + 1]))
        row_weights = None if weights is None else rows(weights)
        parts.append(grouped_errors(metrics, rows(y_true), rows(models), groups, row_weights).values)
    return [np.concatenate(each) for each in zip(*parts, strict=True)]


def _errors_of_same_rows(
    metrics: Sequence[TargetMetric], name: str, targets: Array, models: Arrays, weights: NDArray[np.float64] | None
) -> list[NDArray[np.float64]]:
    """Return each metric of models on the same rows; `name` is the targets' name in error messages."""

    def check_all_finite() -> None:
        for each, values in {name: targets, **models}.items():
            check_finite(each, values)

    if weights is None or weights.all():
        return TARGETS.evaluate_rows(targets, list(models.values()), weights, metrics, check_all_finite)
    check_all_finite()  # before rows are dropped, so that errors give the user's row numbers
    kept = weights != 0
    return TARGETS.evaluate_rows(targets[kept], [each[kept] for each in models.values()], weights[kept], metrics)


# What kinds share --------------------------------------------------------------------------------------------------


def _read_beside(
    y_true: Any,
    models: Arrays,
    names: tuple[Any, ...],
    sample_weight: Any,
    read: Any,
    read_weights: Any,
    name: str = "sample_weight",
) -> tuple[dict[str, NDArray[Any]], dict[str, NDArray[Any]] | None]:
    """Return the true labels or targets and the weights, checked to have as many rows as the models."""
    truth = _as_shared_or_own("y_true", y_true, names, read)
    check_lengths_of_models(models, truth)
    if sample_weight is None:
        return truth, None
    weights = _as_shared_or_own(name, sample_weight, names, read_weights)
    check_lengths_of_models(models, weights)
    return truth, weights


def _shared_or_own(arrays: Sequence[Any], i: int) -> Any:
    """Return the item for model i: the shared one, or its own."""
    return arrays[i if len(arrays) > 1 else 0]


def _one_size(sizes: list[int]) -> int | NDArray[np.int64]:
    """Return the numbers of rows of a class; a single number if it is the same for all models."""
    return sizes[0] if len(set(sizes)) == 1 else np.array(sizes)


def _results(
    specs: MetricSpecs,
    names: tuple[Any, ...],
    values: list[NDArray[np.float64]],
    *,
    sizes: tuple[Any, Any] = (None, None),
    labels: Any = None,
    pos_label: Any = None,
) -> BatchMetrics:
    for label, each in zip(specs, values, strict=True):
        _warn_undefined_models(label, each, names)
    results = {
        label: BatchMetric(each, names, *sizes, pos_label=pos_label) for label, each in zip(specs, values, strict=True)
    }
    return BatchMetrics(results, labels=labels, pos_label=pos_label)


# Checks ------------------------------------------------------------------------------------------------------------


def as_models(name: str, values: Any, read: Read) -> tuple[dict[str, Array], tuple[Any, ...]]:
    """Return the models' predictions, keyed by their names in error messages, and the names of all models.

    Models are the entries of a mapping, the columns of a frame, the rows of a 2-D array or the arrays of a sequence;
    rows and arrays are named by number. A single vector is one model.
    """
    columns = named_columns(name, values)
    if columns is None and _is_list_of_vectors(values):
        columns, rows = None, list(values)
    elif columns is None:
        array = as_array(name, values)
        if array.ndim not in (1, 2):
            raise ValueError(f"{name} must be 1-D, or 2-D with a row for each model, got shape {array.shape}")
        if array.ndim == 1:
            return {name: read(name, array)}, (0,)
        rows = list(array)
    parts = dict(enumerate(rows)) if columns is None else columns
    if not parts:
        raise ValueError(f"{name} is empty: it must have at least one model")
    labelled = {f"{name}[{key!r}]": each for key, each in parts.items()}
    return {label: read(label, each) for label, each in labelled.items()}, tuple(parts)


def _is_list_of_vectors(values: Any) -> bool:
    """Return whether values are a list of vectors, which need not be copied into one array."""
    return isinstance(values, (list, tuple)) and bool(values) and all(getattr(one, "ndim", 0) == 1 for one in values)


def _as_shared_or_own(name: str, values: Any, models: tuple[Any, ...], read: Read) -> dict[str, Array]:
    """Return one array that all models share, or one per model in their order.

    Keys are the names in error messages. For a single model, the result has one entry in either case.
    """
    columns = named_columns(name, values)
    if columns is None and not _is_list_of_vectors(values):
        values = as_array(name, values)
        if values.ndim != 2:
            return {name: read(name, values)}
    if columns is None:
        columns = dict(enumerate(values))
        if len(columns) != len(models):
            raise ValueError(f"{name} must have a row for each of the {len(models)} models, got {len(columns)}")
        return {f"{name}[{i}]": read(f"{name}[{i}]", each) for i, each in columns.items()}
    if set(columns) != set(models):
        odd = [each for each in models if each not in columns] or [each for each in columns if each not in models]
        verb = "lacks" if len(columns.keys() & set(models)) < len(models) else "also has"
        raise ValueError(f"{name} must have the names of the models, but {verb} {listed(odd)}")
    return {f"{name}[{key!r}]": read(f"{name}[{key!r}]", columns[key]) for key in models}


def check_lengths_of_models(models: Mapping[str, Array], beside: Mapping[str, Array]) -> None:
    """Raise unless each model has as many rows as its labels or weights."""
    names = list(beside)
    for i, (label, predicted) in enumerate(models.items()):
        name = names[i if len(names) > 1 else 0]
        if predicted.size != beside[name].size:
            hint = transposed_hint(label, (len(models), predicted.size), beside[name].size)
            raise ValueError(f"{label} has {predicted.size} rows, but {name} has {beside[name].size}{hint}")


def _warn_undefined_models(metric: str, values: NDArray[np.float64], names: tuple[Any, ...], because: str = "") -> None:
    """Warn, once for all models, if a metric is NaN for some."""
    undefined = np.flatnonzero(np.isnan(values))
    if undefined.size:
        if values.size == 1:
            reason = because or "it has no value for these labels and predictions"
        else:
            which = f"in {undefined.size} of {values.size} models, the first {names[undefined[0]]!r}"
            reason = f"{which}{because and ': '}{because}"
        warn_undefined(metric, reason)
