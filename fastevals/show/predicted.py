"""Read predictions that are not scores: classes, numbers, and probabilities of classes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from fastevals._distinct import sorted_unique
from fastevals._naming import dropping, option
from fastevals._options import listed, naming_rows, show
from fastevals._text import count_of
from fastevals._validation.arrays import as_scores, check_finite, plain_text
from fastevals._validation.class_order import class_order
from fastevals._validation.labels import Classes, as_class_numbers, as_classes, as_predicted_labels, as_true_labels
from fastevals._validation.text import unique_inverse
from fastevals.measure.class_scores import check_row_sums, check_unit_range, sum_tolerance
from fastevals.measure.metric_specs import MetricSpec, metric
from fastevals.measure.registry import columns_of
from fastevals.reading.columns import NamedColumns
from fastevals.reading.model_columns import ModelColumns
from fastevals.reading.values import class_columns, parse_label

# Metrics of predictions in tables, by title.
NUMBER_METRICS = {name: metric(name) for name in columns_of("numbers")}
POSITIVE_METRICS = {name: metric(name) for name in columns_of("labels")}  # if one of two classes is positive
EACH_CLASS = {name: metric(name, average=None) for name in columns_of("classes")}
CLASS_METRICS = {
    "F1 (macro)" if name == "f1" else name: metric("f1", average="macro") if name == "f1" else spec
    for name, spec in POSITIVE_METRICS.items()
    if name == "f1" or name not in EACH_CLASS
}


def class_metrics(classes: Classes) -> dict[str, MetricSpec]:
    """Return the metrics of predicted classes."""
    return CLASS_METRICS if classes.pos_label is None else POSITIVE_METRICS


class PredictedClasses(NamedTuple):
    """True and predicted classes, arrays of shape (n_rows,), and the classes that occur."""

    true: NDArray[Any]
    predicted: dict[str, NDArray[Any]]  # by model
    classes: Classes
    pos_label: Any  # as given, for other readers of the same rows


def read_classes(columns: NamedColumns, label: str, models: Sequence[str], pos_label: Any = None) -> PredictedClasses:
    """Return the columns of true and predicted classes, checked; raise if a column doesn't hold classes."""
    name = f"{option('label')} {label!r}"
    found: Mapping[str, Any] = {name: columns[label]} | {
        f"{option('pred')} {model!r}": columns[model] for model in models
    }
    if label in columns.as_written:
        found = class_columns(found)
    with naming_rows(columns.line, dropping(is_label=True)):
        true = as_true_labels(name, found[name])
    predicted = as_predicted_labels(
        true, {shown: column for shown, column in found.items() if shown != name}, true_name=name
    )
    for shown, column in predicted.items():
        as_class_numbers(shown, column, f"scores go with {option('score')}")
    labels = sorted_unique(np.concatenate([unique_inverse(column)[0] for column in (true, *predicted.values())]))
    wanted = parse_label(pos_label, labels.tolist()) if isinstance(pos_label, str) else pos_label
    classes = as_classes(name, labels, None, wanted, option=option("pos_label"))
    return PredictedClasses(true, dict(zip(models, predicted.values(), strict=True)), classes, wanted)


def read_targets(
    columns: NamedColumns, target: str, models: Sequence[str]
) -> tuple[NDArray[Any], dict[str, NDArray[Any]]]:
    """Return the columns of true and predicted numbers, checked; raise if a column doesn't hold finite numbers."""
    arrays = {}
    for role, name in (("target", target), *(("pred", model) for model in models)):
        shown = f"{option(role)} {name!r}"
        with naming_rows(columns.line, dropping(is_label=role == "target")):
            arrays[name] = as_scores(shown, columns[name])
            check_finite(shown, arrays[name])
    return arrays.pop(target), arrays


# Probabilities of classes ---------------------------------------------------------------------------------------------


class ClassProbabilities(NamedTuple):
    """True classes and each model's probabilities, with columns in the order of `labels`."""

    true: NDArray[np.intp]  # the place of each row's class among `labels`, shape (n_samples,)
    predicted: dict[str, NDArray[Any]]  # by model, shape (n_samples, n_classes)
    labels: list[Any]
    are_ordered: bool  # whether the order of the classes has a meaning
    hard: tuple[str, ...]  # models whose probabilities are all 0 or 1


class DataClasses(list[Any]):
    """The classes of the data, in order, by which other rows are read."""


def read_probabilities(
    columns: NamedColumns,
    label: str,
    models: Sequence[ModelColumns],
    *,
    classes: Sequence[Any] | None = None,
    ordered: bool = False,
    normalize: bool = False,
) -> ClassProbabilities:
    """Return the true classes and the models' probabilities, checked.

    Parameters
    ----------
    columns : NamedColumns
    label : str
        Column of the true class.
    models : sequence of ModelColumns
        Each model's columns, matched with the classes by name if they have names, and by place otherwise.
    classes : sequence of label, optional
        The classes in order. By default the categories of `label` if its type orders them, the order of the first
        named columns, or the sorted labels. Required if this order is not sorted and a model's columns have no names.
    ordered : bool
        Whether the classes are ordered. Categories of an ordered type are.
    normalize : bool
        Whether to divide the probabilities of each row by their sum.

    Raises
    ------
    ValueError
        If a label has no column, models have different classes, or probabilities are not in [0, 1] or don't add up to
        1 in each row; the message names columns and rows.
    """
    name = f"{option('label')} {label!r}"
    found: Mapping[str, Any] = {name: columns[label]}
    if label in columns.as_written:
        found = class_columns(found)
    with naming_rows(columns.line, dropping(is_label=True)):
        true = as_true_labels(name, found[name])
    distinct, codes = unique_inverse(true)
    present = distinct.tolist()
    categories = columns.categories.get(label)
    if isinstance(classes, DataClasses) and isinstance(classes[0], str) != isinstance(present[0], str):
        raise ValueError(f"{name} has the classes {listed(present)}, and the data has {listed(classes)}")
    given = None if classes is None else _as_classes(option("classes"), classes, present, name)
    named = [
        each._replace(classes=_classes_of(each, given or categories or present, present, name))
        for each in models
        if each.classes is not None
    ]
    labels = _labels_in_order(name, present, models, named, given, categories)
    places = {value: k for k, value in enumerate(labels)}
    if classes is None and labels != sorted(labels):
        _refuse_unnamed(models, labels)
    orders = {each.model: _columns_in_order(each, labels) for each in named}
    lacking = [k for k, value in enumerate(present) if value not in places]
    if lacking:
        _refuse_label(name, present, codes, lacking[0], labels, models[0].shown, columns.line)
    true_codes = np.array([places[value] for value in present], np.intp)[codes]
    with naming_rows(columns.line, dropping()):
        matrices = {
            each.model: _as_matrix(columns, each, orders.get(each.model, each.columns), normalize) for each in models
        }
    hard = tuple(model for model, matrix in matrices.items() if ((matrix == 0) | (matrix == 1)).all())
    return ClassProbabilities(true_codes, matrices, labels, bool(ordered or categories), hard)


def _classes_of(model: ModelColumns, wanted: list[Any], present: list[Any], name: str) -> tuple[Any, ...]:
    """Return the class of each column in the type of the labels: of `wanted` if names match, or the names alone."""
    assert model.classes is not None
    order = class_order(model.classes, wanted)
    if order is None:
        return tuple(_as_classes(model.shown, model.classes, present, name))
    return tuple(wanted[order.index(k)] for k in range(len(order)))


def _as_classes(shown: str, given: Iterable[Any], present: list[Any], name: str) -> list[Any]:
    """Return classes in the type of the labels; text is parsed as on the command line."""
    classes = [parse_label(each, present) if isinstance(each, str) else plain_text(each) for each in given]
    is_words = isinstance(present[0], str)
    odd = next((each for each in classes if isinstance(each, str) != is_words), None)
    if odd is not None:
        kind = "text" if is_words else "numbers"
        raise ValueError(f"{shown} must name classes that are {kind}, as {name} has, got {show(odd)}")
    twice = next((each for k, each in enumerate(classes) if each in classes[:k]), None)
    if twice is not None:
        raise ValueError(f"{shown} must name each class once, got {show(twice)} twice")
    return classes


def _labels_in_order(
    name: str,
    present: list[Any],
    models: Sequence[ModelColumns],
    named: Sequence[ModelColumns],
    given: list[Any] | None,
    categories: list[Any] | None,
) -> list[Any]:
    """Return the classes in order; raise if the models' columns don't agree with them."""
    of_first = list(named[0].classes or ()) if named else None
    if given is not None:
        labels = given
    elif categories is not None:
        labels = [each for each in categories if each in present or of_first is None or each in of_first]
        strange = next((each for each in of_first or () if each not in categories), None)
        if strange is not None:
            raise ValueError(
                f"{named[0].shown} has the class {show(strange)}, which is not among the ordered categories of {name} "
                f"({listed(categories)}); {option('classes')} gives another order"
            )
    else:
        labels = of_first if of_first is not None else present
    for each in models:
        if len(each.columns) != len(labels):
            n, are_labels = len(each.columns), given is None and of_first is None
            what = f"labels in {name}" if are_labels else "classes"
            hint = f"; {option('classes')} names classes without rows, too" if are_labels and n > len(labels) else ""
            raise ValueError(
                f"{each.shown} has {count_of(n, 'column')}, but there are {len(labels)} {what}: {listed(labels)}{hint}"
            )
    return labels


def _columns_in_order(model: ModelColumns, labels: list[Any]) -> tuple[str, ...]:
    """Return a model's columns in the order of the classes; raise if a class has none."""
    classes = list(model.classes or ())
    order = class_order(classes, labels)
    if order is None:
        lacking = next(each for each in labels if each not in classes)
        raise ValueError(f"{model.shown} has no column of class {show(lacking)}; its classes are {listed(classes)}")
    return tuple(model.columns[place] for place in order)


def _refuse_unnamed(models: Sequence[ModelColumns], labels: list[Any]) -> None:
    """Raise if a model's columns have no names: they may follow the sorted labels or the given classes."""
    for each in models:
        if each.classes is None:
            raise ValueError(
                f"{each.shown} does not name the classes of its columns, and the classes are not sorted here: "
                f"{listed(labels)}; {option('classes')} gives the order of the columns"
            )


def _refuse_label(
    name: str, present: list[Any], codes: NDArray[np.intp], k: int, labels: list[Any], shown: str, line: Any
) -> NoReturn:
    rows = np.flatnonzero(codes == k)
    raise ValueError(
        f"{name} has {rows.size:,} row{'s' * (rows.size != 1)} of class {show(present[k])}, the first at "
        f"{line(int(rows[0]))}, without a column of {shown}; its classes are {listed(labels)}"
    )


def _as_matrix(columns: NamedColumns, model: ModelColumns, names: Sequence[str], normalize: bool) -> NDArray[Any]:
    """Return a model's probabilities of shape (n_samples, n_classes); raise unless they are probabilities."""
    titles = [f"{option('probabilities')} {name!r}" for name in names]
    parts = [as_scores(title, columns.pop(name)) for title, name in zip(titles, names, strict=True)]
    for title, part in zip(titles, parts, strict=True):
        check_finite(title, part)
    check_unit_range(titles, parts, most=np.inf if normalize else 1.0)
    dtype = np.result_type(*parts)
    if normalize or dtype.kind != "f":
        dtype = np.result_type(dtype, np.float32)
    matrix, sums = np.empty((parts[0].size, len(parts)), dtype), np.zeros(parts[0].size)
    for k, part in enumerate(parts):
        matrix[:, k] = part
        sums += part
    if normalize:
        if not sums.all():
            row = int(np.argmin(sums))
            raise ValueError(f"{model.shown} must not be zero for all classes, as at {columns.line(row)}")
        matrix /= sums[:, np.newaxis]
    else:
        hint = f"{option('normalize', True)} divides each row by its sum"
        check_row_sums(model.shown, sums, sum_tolerance(*(part.dtype for part in parts)), hint=hint)
    return matrix
