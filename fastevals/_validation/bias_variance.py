"""Predictions of many models beside what is true, and beside what was observed."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._validation.arrays import as_array, as_scores, check_finite
from fastevals._validation.labels import as_class_numbers, check_comparable_labels
from fastevals._validation.named import named_columns
from fastevals._validation.options import listed, row_at, show
from fastevals._validation.predicted_labels import as_predicted_labels

__all__ = [
    "ModelTables",
    "as_model_labels",
    "as_model_scores",
    "as_named_alike",
    "check_drawable",
    "check_known_classes",
    "check_models_finite",
    "check_one_row",
    "check_only_zero_one",
    "check_pairs_given",
    "check_same_pairs",
    "check_same_truth",
    "check_some_models",
    "check_sound",
    "check_totals",
    "is_drawable",
    "is_one_row",
]


LARGEST = 1e150  # of numbers that are drawn: squares are no longer finite


class ModelTables(NamedTuple):
    """Predictions of models: one table of shape (n_models, n_samples), or for each a table of one row.

    `names` are what errors call the models, where they are not numbered rows of `name`.
    """

    name: str
    tables: list[NDArray[Any]]
    names: list[str] | None

    @property
    def n_models(self) -> int:
        """How many there are."""
        return sum(table.shape[0] for table in self.tables)

    def model(self, i: int) -> tuple[str, NDArray[Any]]:
        """Give what errors call a model, and its predictions."""
        label = f"{self.name}[{i}]" if self.names is None else self.names[i]
        return label, self.tables[0][i] if len(self.tables) == 1 else self.tables[i][0]


def as_model_scores(name: str, values: Any, n_samples: int, *, one: bool = False) -> ModelTables:
    """Give the numbers that models predict; with `one`, those of a single model may be 1-D."""
    columns = _columns(name, values)
    if columns is not None:
        arrays = {label: as_scores(label, each) for label, each in columns.items()}
        _check_lengths(arrays, n_samples)
        return ModelTables(name, [each[np.newaxis] for each in arrays.values()], list(arrays))
    table, names = _as_table(name, values, n_samples, one)
    if table.dtype.kind not in "fiub":
        raise ValueError(f"{name} must hold numbers, got dtype {table.dtype} (first value {show(table.flat[0])})")
    return ModelTables(name, [table], names)


def as_model_labels(name: str, y_true: NDArray[Any], values: Any, *, one: bool = False) -> ModelTables:
    """Give the classes that models predict, which can be compared with the true ones."""
    columns = _columns(name, values)
    if columns is None:
        table, names = _as_table(name, values, y_true.size, one)
        label = f"{name}[0]" if names is None else names[0]
        if table.dtype.kind in "fiubU":
            as_predicted_labels(y_true, {label: table[0]})  # what is wrong with one row is with all
            check_comparable_labels(y_true=y_true, **{name: table})
            return ModelTables(name, [table], names)
        columns = {f"{name}[{i}]" if names is None else names[i]: row for i, row in enumerate(table)}
    models = as_predicted_labels(y_true, columns)
    return ModelTables(name, [each[np.newaxis] for each in models.values()], list(models))


def _columns(name: str, values: Any) -> dict[str, Any] | None:
    """Give the models of a mapping or frame by what errors call them."""
    columns = named_columns(name, values)
    if columns is not None and not columns:
        raise ValueError(f"{name} is empty: it must have at least one model")
    return None if columns is None else {f"{name}[{key!r}]": each for key, each in columns.items()}


def _check_lengths(arrays: dict[str, NDArray[Any]], n_samples: int) -> None:
    for label, each in arrays.items():
        if each.size != n_samples:
            raise ValueError(f"{label} has {each.size} rows, but y_true has {n_samples}")


def _as_table(name: str, values: Any, n_samples: int, one: bool) -> tuple[NDArray[Any], list[str] | None]:
    """Give an array of shape (n_models, n_samples), and what a model that is alone is called."""
    array = as_array(name, values)
    if one and array.ndim == 1:
        if array.size != n_samples:
            raise ValueError(f"{name} has {array.size} rows, but y_true has {n_samples}")
        return array[np.newaxis], [name]
    if array.ndim != 2:
        single = "1-D, or " if one else ""
        raise ValueError(
            f"{name} must be {single}2-D, (models x samples), or a mapping or frame of models; got shape {array.shape}"
        )
    models, samples = array.shape
    if samples != n_samples:
        hint = f"; pass {name}.T" if models == n_samples else ""
        raise ValueError(
            f"{name} must have a row for each model and a column for each sample, but has shape {array.shape} where "
            f"y_true has {n_samples} samples{hint}"
        )
    if not models:
        raise ValueError(f"{name} is empty: it must have at least one model, got shape {array.shape}")
    return array, None


def is_one_row(values: Any) -> bool:
    """Tell whether something is not 2-D, nor a mapping or frame."""
    return named_columns("y_observed", values) is None and as_array("y_observed", values).ndim != 2


def check_one_row(name: str, values: Any) -> None:
    """Raise if there are labels for each model where they must be the same for all."""
    if values is not None:
        raise ValueError(f"{name} must be 1-D, the same for all models; pass each model's own to update")


def check_pairs_given(given: bool, before: bool | None, same_for_all: bool) -> None:
    """Raise unless observed labels come with all models or with none."""
    if given and same_for_all:
        raise ValueError("y_observed was given already, the same for all models")
    if before is not None and given != before:
        had, have = ("had", "has not") if before else ("had not", "has")
        raise ValueError(f"y_observed must come with all models or none: those before {had} it, this {have}")


def check_only_zero_one(decomposition: str, labels: Any) -> None:
    """Raise if an option of 0-1 loss was given for another."""
    for name, given in (("decomposition", decomposition != "domingos"), ("labels", labels is not None)):
        if given:
            raise ValueError(f"{name}= goes with loss='zero_one', got it with loss='squared'")


def as_named_alike(name: str, values: Any, like: str, named: Any) -> Any:
    """Give what belongs to models in their order, where both have names, which must be the same."""
    ours, theirs = named_columns(name, values), named_columns(like, named)
    if ours is None or theirs is None:
        return values
    for where, there, other, elsewhere in ((name, ours, like, theirs), (like, theirs, name, ours)):
        alone = [key for key in there if key not in elsewhere]
        if alone:
            raise ValueError(
                f"{name} must have the names of {like}, but {listed(alone)} in {where} "
                f"{'are' if len(alone) > 1 else 'is'} not in {other}"
            )
    return {key: ours[key] for key in theirs}


def check_same_pairs(predictions: ModelTables, observed: ModelTables) -> None:
    """Raise unless there are observed labels for each model."""
    if predictions.n_models != observed.n_models:
        raise ValueError(
            f"{observed.name} must be 1-D, or have a row for each of the {predictions.n_models} models; "
            f"got {observed.n_models}"
        )


def check_some_models(n_models: int) -> None:
    """Raise if there are none yet."""
    if not n_models:
        raise ValueError("there must be a model to decompose the loss of: call update first")


def check_sound(name: str, sound: bool) -> None:
    """Raise if a summary has added models to some of its samples only."""
    if not sound:
        raise ValueError(f"{name} was interrupted in an update: make it anew")


def check_same_truth(what: str, ours: Any, theirs: Any) -> None:
    """Raise unless two summaries have the same of something."""
    if not np.array_equal(ours, theirs):
        shown = f", got {show(ours)} and {show(theirs)}" if isinstance(ours, str) else ""
        raise ValueError(f"summaries must have the same {what} to be merged{shown}")


def check_models_finite(models: ModelTables) -> None:
    """Raise, and say which model has a NaN or infinite value, and where, if one has."""
    for i in range(models.n_models):
        check_finite(*models.model(i))


def check_known_classes(models: ModelTables, labels: NDArray[Any]) -> None:
    """Raise, and say which model has a label that is not among the known ones, and where, if one has."""
    known = labels.astype(np.int64) if labels.dtype.kind == "b" else labels
    for i in range(models.n_models):
        label, row = models.model(i)
        unknown = ~np.isin(as_class_numbers(label, row), known)
        if unknown.any():
            at = int(np.argmax(unknown))
            raise ValueError(
                f"{label} has the label {show(row[at])} at {row_at(at)}, which is not among the classes: "
                f"{listed(list(labels))}; labels= can name more"
            )


def check_totals(name: str, value: Any) -> None:
    """Raise if a decomposition is that of each sample."""
    if np.ndim(value.expected_loss):
        raise ValueError(f"{name} must be a decomposition of all samples, not its per_sample, whose numbers are arrays")


def is_drawable(values: Any) -> bool:
    """Tell whether all numbers are small enough for an axis."""
    return bool((np.abs(values) < LARGEST).all())


def check_drawable(name: str, values: Any) -> None:
    """Raise unless numbers are small enough for an axis."""
    if not is_drawable(values):
        raise ValueError(f"{name} must be below {LARGEST:g} in size to be drawn, got {np.max(np.abs(values)):g}")
