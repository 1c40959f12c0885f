"""True and predicted class labels, and keys of groups."""

from __future__ import annotations

import datetime
import numbers
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from fastevals._distinct import sorted_unique
from fastevals._options import hint_on_rows, listed, row_at, show
from fastevals._text import object_text
from fastevals._validation.arrays import (
    as_array,
    as_scores,
    as_vector,
    check_same_length,
    holds_numbers,
    is_arrow,
    named_columns,
    nearest_floats,
    numbers_of,
    plain_text,
    read_only,
    text_array,
    transposed_hint,
)
from fastevals._validation.keys import check_zones
from fastevals._validation.text import (
    TextLabels,
    as_text,
    distinct_labels,
    encode_column,
    encode_text,
    is_text,
    share_names,
)

NAMED_EXTENSIONS = ("arrow.uuid", "pandas.interval", "pandas.period")  # Arrow types whose text is a name
ROWS_PER_SCAN = 1 << 16  # rows compared in one step
MOST_CLASSES = 10_000  # a matrix of this size fits into memory
MOST_CELLS = 2**31


def as_labels(name: str, values: Any) -> NDArray[Any]:
    """Return class labels as a 1-D array of numbers or booleans, or as `TextLabels`, which behave like an array."""
    coded = None if isinstance(values, np.ndarray) else encode_column(name, values)
    if coded is not None:
        return coded  # type: ignore[return-value]
    array = as_vector(name, values)
    if array.dtype.kind in "OTUS":
        return encode_text(name, array)  # type: ignore[return-value]
    if array.dtype.kind not in "fiub":
        raise ValueError(f"{name} must hold numbers, booleans or strings, got dtype {array.dtype}")
    return array


def as_column(shown: str, column: Any, *, numeric: bool = False) -> NDArray[Any]:
    """Return a column without missing values as numbers, booleans or text; times become text, as in files."""
    if is_arrow(column):
        return _arrow_values(shown, column, numeric)
    if numeric:
        return as_scores(shown, column)
    if (coded := encode_column(shown, column)) is not None:
        return coded  # type: ignore[return-value]
    array = as_array(shown, column)
    if array.dtype.kind == "O" and array.size and isinstance(array.flat[0], datetime.date):
        array = as_dates(shown, array)
    if array.dtype.kind != "M":
        return as_labels(shown, array)
    missing = np.flatnonzero(np.isnat(array))
    if missing.size:
        count = f"{missing.size} missing value{'s' * (missing.size > 1)}"
        raise ValueError(f"{shown} has {count}, the first at {row_at(int(missing[0]))}")
    return as_labels(shown, np.char.replace(np.datetime_as_string(array), "T", " "))


def _arrow_values(shown: str, column: Any, numeric: bool) -> NDArray[Any]:
    import pyarrow as pa
    from pyarrow import types

    dtype = column.type
    named = getattr(dtype, "value_type", dtype)
    if isinstance(named, pa.BaseExtensionType):
        if named.extension_name not in NAMED_EXTENSIONS:
            raise ValueError(f"{shown} must hold numbers, booleans or strings, but has type {dtype}")
        column = column.dictionary_decode() if types.is_dictionary(dtype) else column
        values = column.to_pylist() if named.extension_name == "arrow.uuid" else column.to_pandas()
        return as_labels(shown, list(map(str, values)))
    if types.is_dictionary(dtype) and (numeric or not types.is_string(dtype.value_type)):
        column = column.cast(dtype.value_type)
    if types.is_decimal(column.type):
        column = nearest_floats(column)
    if holds_numbers(column.type):
        return numbers_of(column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column)
    try:
        if types.is_duration(column.type):
            raise pa.ArrowInvalid("no text")
        text = column if types.is_dictionary(column.type) else column.cast(pa.string())
    except pa.ArrowException:
        raise ValueError(f"{shown} must hold numbers, booleans or strings, but has type {dtype}") from None
    return encode_column(shown, text)  # type: ignore[return-value]


def binary_labels(
    name: str, values: Any, pos_label: Any, *, option: str = "pos_label"
) -> tuple[NDArray[Any], Any, Any]:
    """Return labels as an array, and the positive and the negative label; a third label is not searched for.

    The negative label is None if all rows have the positive one. Without `pos_label`, 1 is positive among {0, 1},
    {-1, 1} and {False, True}; for other labels, raise.
    """
    array = as_labels(name, values)
    distinct = distinct_pair(array)
    if any(label != label for label in distinct):
        raise_not_binary(name, array)
    if pos_label is None:
        positive = default_pos_label(distinct)
        if positive is None:
            if len(distinct) > 1 and distinct_labels(array).size > 2:
                raise_not_binary(name, array)
            raise ValueError(
                f"{name} has the label{'s' * (len(distinct) > 1)} {listed(distinct)}: {option} must say which is "
                "positive (it can be left out for 0/1, -1/1 and booleans)"
            )
    else:
        positive = matching_label(name, array, pos_label, option)
    others = [label for label in distinct if label != positive]
    return array, positive, others[0] if others else None


def default_pos_label(distinct: list[Any]) -> Any:
    """Return 1 if the labels are 0/1, -1/1 or booleans, else None."""
    among_numbers = not any(isinstance(label, str) for label in distinct)
    return 1 if among_numbers and (set(distinct) <= {0, 1} or set(distinct) <= {-1, 1}) else None


def matching_label(name: str, array: NDArray[Any], pos_label: Any, option: str = "pos_label") -> Any:
    """Return the label that `pos_label` means: one of the two or, if only one label occurs, any label of that type."""
    distinct = distinct_pair(array)
    like = (str, bytes) if is_text(array) else (numbers.Real, np.bool_)
    if isinstance(pos_label, like):
        for label in distinct:
            if label == as_text(pos_label):
                return label
        if len(distinct) == 1:
            return as_text(pos_label)  # all rows have the other class
    if len(distinct) == 2 and distinct_labels(array).size > 2:
        raise_not_binary(name, array)
    raise ValueError(f"{option} must be a label of {name} ({listed(distinct)}), got {show(pos_label)}")


def distinct_pair(array: NDArray[Any]) -> list[Any]:
    """Return the first label and the first different one."""
    first = plain_text(array[0])
    for start in range(0, array.size, ROWS_PER_SCAN):
        differs = array[start : start + ROWS_PER_SCAN] != first
        row = int(differs.argmax())
        if differs[row]:
            return [_plain(first), _plain(array[start + row])]
    return [_plain(first)]


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) and label.dtype != np.longdouble else plain_text(label)


def raise_not_binary(name: str, array: NDArray[Any]) -> NoReturn:
    """Raise an error that shows the labels, because they are not of two classes."""
    if array.dtype.kind == "f" and np.isnan(array).any():
        missing = np.isnan(array)
        count = int(np.count_nonzero(missing))
        first = row_at(np.argmax(missing))
        raise ValueError(f"{name} has {count} NaN value{'s' * (count > 1)}, the first at {first}{hint_on_rows()}")
    distinct = distinct_labels(as_labels(name, array))
    raise ValueError(f"{name} must have two classes, got {distinct.size} labels: {listed(list(distinct))}")


# Predicted classes ------------------------------------------------------------------------------------------------
class Classes(NamedTuple):
    """The classes of confusion matrices, in the order of their rows and columns.

    Attributes
    ----------
    labels : ndarray of shape (n_classes,)
        The distinct names.
    pos_label : label or None
        The positive class, which is the last of two; None if it is unknown or there are not two classes.
    """

    labels: NDArray[Any]
    pos_label: Any = None


def as_classes(
    name: str, present: NDArray[Any], labels: Any = None, pos_label: Any = None, *, option: str = "pos_label"
) -> Classes:
    """Return the classes of predictions; if there are two, the positive one is last.

    Without `labels`, classes are the present labels in order, and the positive one is `pos_label`, or 1 among 0/1, -1/1
    and booleans. With `labels`, the last of two is positive, and `pos_label` must agree. No other function
    chooses the positive class.
    """
    check_class_number(name, present)
    classes = present
    if labels is not None:
        classes = as_class_names("labels", labels, None)
        check_comparable_labels(**{name: present, "labels": classes})
        check_known_labels(present, classes)
        name = "labels"
    if pos_label is not None:
        if classes.size > 2:
            raise ValueError(f"{option} needs two classes, but {name} has {classes.size}: {listed(list(classes))}")
        positive = matching_label(name, classes, pos_label, option)
        if labels is not None and positive != classes[-1]:
            raise ValueError(
                f"{option} must be the last of labels if both are given, got {show(pos_label)} and "
                f"{listed(list(classes))}"
            )
        if positive not in classes:  # no row has the positive class
            as_class_numbers(option, as_labels(option, [positive]))
        classes = np.append(classes[classes != positive], positive)
        if classes.size < 2:  # all rows have the positive class
            classes = both_classes(positive)
    stated = labels is not None or pos_label is not None or default_pos_label(classes[:2].tolist()) is not None
    return Classes(read_only("labels", classes), _plain(classes[-1]) if classes.size == 2 and stated else None)


def both_classes(positive: Any, negative: Any = None) -> NDArray[Any]:
    """Return the names of two classes, the positive one last; a missing negative name is made up."""
    if negative is None:
        negative = f"not {positive}" if isinstance(positive, str) else type(positive)(not positive)
    names = text_array([negative, positive]) if isinstance(positive, str) else np.array([negative, positive])
    return read_only("labels", names)


def check_positive_known(metric: str, classes: Classes) -> None:
    """Raise unless the positive class of two is known."""
    if classes.pos_label is None:
        raise ValueError(
            f"{metric} needs a positive class, but it is unknown which of {listed(list(classes.labels))} it is: give "
            "pos_label, or labels with the positive class last (it can be left out for 0/1, -1/1 and booleans)"
        )


# Many classes -----------------------------------------------------------------------------------------------------
def as_class_names(name: str, values: Any, n_classes: int | None) -> Any:
    """Return the names of classes, all different; by default 0 to K - 1, or None if K is unknown."""
    if values is None:
        return None if n_classes is None else np.arange(n_classes)
    names = np.array(as_labels(name, values))
    names.flags.writeable = False
    check_class_number(name, names)
    if n_classes is not None and names.size != n_classes:
        raise ValueError(f"{name} must name {n_classes} classes, got {names.size}: {listed(list(names))}")
    if sorted_unique(names).size != names.size:
        raise ValueError(f"{name} must all differ, got {listed(list(names))}")
    return names


def check_comparable_labels(**arrays: NDArray[Any]) -> None:
    """Raise unless the labels of all arrays are numbers or all are strings."""
    kinds = {name: "numbers" if array.dtype.kind in "fiub" else "strings" for name, array in arrays.items()}
    if len(set(kinds.values())) > 1:
        raise ValueError("labels must be of one type, but " + " and ".join(f"{n} has {k}" for n, k in kinds.items()))
    for name, array in arrays.items():
        if array.dtype.kind == "u" and int(array.max()) > np.iinfo(np.int64).max:
            raise ValueError(f"{name} must fit 64-bit signed integers, got {show(array.max())}")


def as_class_numbers(name: str, array: NDArray[Any], hint: str = "for scores use Ranking") -> NDArray[Any]:
    """Return labels of any integer dtype except uint64 unchanged, others as int64.

    Raise if a label has a fraction or exceeds 64 bits; `hint` says where scores belong.
    """
    if array.dtype.kind == "u" and array.itemsize == 8:
        check_comparable_labels(**{name: array})
        return array.astype(np.int64)
    if array.dtype.kind != "f":
        return array
    odd = ~((np.abs(array) < np.float64(2**63)) & (np.trunc(array) == array))
    if odd.any():
        row = int(np.argmax(odd))
        raise ValueError(
            f"{name} must hold class labels, whole numbers within 64 bits, but has {show(array[row])} at {row_at(row)}"
            f"; {hint}"
        )
    return array.astype(np.int64)


def check_class_number(name: str, distinct: NDArray[Any], names: NDArray[Any] | None = None) -> None:
    """Raise if there are too many labels for a matrix; if the labels are codes, `names` has their names."""
    if distinct.size > MOST_CLASSES:
        distinct = distinct if names is None else names[distinct]
        raise ValueError(f"{name} must have at most {MOST_CLASSES} labels, got {listed(list(distinct))}")


def check_known_labels(distinct: NDArray[Any], labels: NDArray[Any]) -> NDArray[np.intp]:
    """Return each present label's position among the given labels; raise if a present label is not among them."""
    if np.array_equal(distinct, labels):
        return np.arange(labels.size)
    places = [np.flatnonzero(labels == label) for label in distinct]
    unknown = [label for label, place in zip(distinct, places, strict=True) if not place.size]
    if unknown:
        raise ValueError(f"labels must hold every label that occurs; missing: {listed(unknown)}")
    return np.array([place[0] for place in places], dtype=np.intp)


def check_two_classes(option: str, n_classes: int, choices: Collection[Any] = ()) -> None:
    """Raise unless there are two classes, and list the alternatives."""
    if n_classes != 2:
        alternatives = ", ".join(repr(choice) for choice in choices if choice != "binary")
        suggestion = "give pos_label, or " if n_classes == 1 else ""
        hint = f"; {suggestion}choose one of {alternatives}" if alternatives else ""
        raise ValueError(f"{option} needs 2 classes, got {n_classes}{hint}")


# Rows, models and groups ------------------------------------------------------------------------------------------
def check_class_sizes(name: str, limit: int, *sizes: int) -> None:
    """Raise unless each class has fewer rows than `limit`."""
    if max(sizes) >= limit:
        raise ValueError(f"{name} must have fewer than {limit} rows of a class, counting weights, got {max(sizes)}")


def check_resampled_rows(name: str, n_rows: int) -> None:
    """Raise unless there are fewer than 2**32 rows to draw from."""
    if not 0 < n_rows < 2**32:
        raise ValueError(f"{name} must have from 1 to 2**32 - 1 rows to be resampled, got {n_rows}")


def as_groups(name: str, values: Any) -> NDArray[Any]:
    """Return the groups of rows as `as_labels` does; none may be missing."""
    array = as_labels(name, values)
    if array.dtype.kind == "f" and np.isnan(array).any():
        missing = np.isnan(array)
        raise ValueError(
            f"{name} must not be NaN, got {missing.sum()} NaN values, the first at {row_at(np.argmax(missing))}"
        )
    return array


def check_two_models(name: str, models: Collection[Any]) -> None:
    """Raise unless there are at least two models to compare."""
    if len(models) < 2:
        raise ValueError(f"{name} must have two models or more to compare, got {len(models)}")


def check_several_groups(name: str, values: NDArray[Any]) -> None:
    """Raise if there is only one group."""
    if values.size < 2:
        raise ValueError(f"{name} must have at least two groups to resample, got one: {show(values[0])}")


def check_groups_of_one_class(name: str, groups: NDArray[Any], classes: NDArray[Any], expected: NDArray[Any]) -> None:
    """Raise unless every row has the class that is expected for its group."""
    mixed = classes != expected
    if mixed.any():
        group = show(groups[int(np.argmax(mixed))])
        raise ValueError(
            f"{name} must each be of one class to be drawn with stratified=True, but {group} has rows of two"
        )


def as_true_labels(name: str, values: Any) -> NDArray[Any]:
    """Return true classes as a 1-D array of integers, booleans or strings."""
    labels = as_labels(name, values)
    return labels if is_text(labels) else as_class_numbers(name, labels)


def as_predicted_labels(
    y_true: NDArray[Any], labelled: Mapping[str, Any], *, true_name: str = "y_true"
) -> dict[str, NDArray[Any]]:
    """Return predicted classes as 1-D arrays that can be compared with the true ones; keys are names for errors.

    Floats are not checked for being whole.
    """
    models = {label: as_labels(label, value) for label, value in labelled.items()}
    check_same_length(**{true_name: y_true}, **models)
    check_comparable_labels(**{true_name: y_true}, **models)
    return models


def text_rows(name: str, values: Any) -> dict[str, Any] | None:
    """Return the labels of a list of text columns, keyed by their names in errors; None if an item is not text."""
    rows = {f"{name}[{i}]": row for i, row in enumerate(values)} if isinstance(values, (list, tuple)) else {}
    columns = {shown: _text_column(shown, row) for shown, row in rows.items()}
    return None if not columns or any(column is None for column in columns.values()) else columns


def _text_column(name: str, values: Any) -> Any:
    """Return a text column as `as_labels` takes it, or None for anything else."""
    coded = None if isinstance(values, np.ndarray) else encode_column(name, values)
    is_text = coded is None and getattr(values, "ndim", 0) == 1 and getattr(values.dtype, "kind", "") in "OTUS"
    return np.asarray(values) if is_text else coded


def as_models_labels(name: str, y_true: NDArray[Any], values: Any) -> tuple[dict[str, NDArray[Any]], tuple[Any, ...]]:
    """Return the predicted classes of two or more models, as `as_predicted_labels` does, and the models' names.

    Models are the entries of a mapping, the columns of a frame, or the rows of a 2-D array, named by numbers. An
    array is kept whole, with shape (n_models, n_samples).
    """
    columns = named_columns(name, values)
    if columns is not None:
        check_two_models(name, columns)
        return as_predicted_labels(y_true, {f"{name}[{key!r}]": each for key, each in columns.items()}), tuple(columns)
    rows = text_rows(name, values)
    if rows is not None:
        check_two_models(name, rows)
        return as_predicted_labels(y_true, rows), tuple(range(len(rows)))
    array = as_array(name, values)
    if array.ndim != 2:
        raise ValueError(
            f"{name} must be 2-D, (models x rows), or a mapping or frame of models; got shape {array.shape}"
        )
    check_two_models(name, array)
    if array.shape[1] != y_true.shape[0]:
        hint = transposed_hint(f"{name}[0]", array.shape, y_true.shape[0])
        raise ValueError(f"{name}[0] has {array.shape[1]} rows, but y_true has {y_true.shape[0]}{hint}")
    first = as_predicted_labels(y_true, {f"{name}[0]": array[0]})  # errors about the dtype show in any row
    if array.dtype.kind in "OTUS":
        names, codes = share_names([as_labels(f"{name}[{i}]", row) for i, row in enumerate(array)])
        array = TextLabels(names, np.stack(codes))  # type: ignore[assignment]
    models = {name: array}
    check_comparable_labels(**first, **models)
    return models, tuple(range(array.shape[0]))


def as_dates(name: str, array: NDArray[Any]) -> NDArray[Any]:
    """Return Python's dates, and times without a time zone, as NumPy's; return times with a time zone as text."""
    check_zones(name, array)
    kind = type(array[0])
    if getattr(array[0], "tzinfo", None) is not None:
        return np.array([object_text(value) for value in array], dtype=object)
    return array.astype("M8[us]" if issubclass(kind, datetime.datetime) else "M8[D]")


def check_group_cells(name: str, n_groups: int, n_labels: int) -> None:
    """Raise if the matrices of all groups would not fit into memory."""
    if n_groups * n_labels**2 > MOST_CELLS:
        raise ValueError(
            f"{name}: {n_groups} matrices of {n_labels} labels would have more than 2**31 cells; pass fewer groups"
        )
