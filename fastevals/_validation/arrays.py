"""Turn array-likes, and columns with names, into clean arrays of numbers."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, MappingView, Sequence
from typing import Any, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from fastevals._options import hint_on_rows, listed, row_at, show

FLOAT64, INT64 = np.dtype(np.float64), np.dtype(np.int64)
EXACT_INTEGER = 2**53  # up to here every integer is a float64
SHORT_CHARACTERS = 1 << 6  # characters, up to which text always has a fixed width
WIDE_CHARACTERS = 1 << 22  # characters in an array, up to which longer text has a fixed width, too
IN_MEMORY = 1, 3  # DLPack's devices: memory, and memory that is pinned for CUDA
USUAL_WEIGHT = 2.0**64  # weights at least this large, or as small as its inverse, are rescaled


def is_masked(values: Any) -> bool:
    """Return whether a value is a masked array; if `numpy.ma` has not been imported, there are none."""
    return "numpy.ma" in sys.modules and isinstance(values, np.ma.MaskedArray)


def as_array(name: str, values: Any) -> NDArray[Any]:
    """Return an array-like as an array, without a copy if possible."""
    if is_masked(values):
        masked = np.flatnonzero(np.ma.getmaskarray(values).ravel())
        if masked.size:
            count = f"{masked.size} masked value{'s' * (masked.size > 1)}"
            raise ValueError(f"{name} has {count}, the first at {row_at(masked[0])}; fill or drop them")
        values = values.data
    refuse_summaries(name, values)
    if isinstance(values, (set, frozenset, dict, Iterator, MappingView)):
        hint = f": pass list({name})" if isinstance(values, (Iterator, MappingView)) and name.isidentifier() else ""
        raise ValueError(f"{name} must be an array or sequence, got a {type(values).__name__}{hint}")
    if hasattr(values, "toarray") and hasattr(values, "nnz"):
        refuse_engines(name, values)  # Spark's columns seem to have every attribute
        raise ValueError(
            f"{name} must be a dense array, got a sparse one ({type(values).__name__}): pass its .toarray()"
        )
    try:  # as objects first: at a fixed width all texts would be as long as the longest
        array = np.array(values, dtype=object) if begins_with_text(values) else np.asarray(values)
    except Exception as error:  # other packages' array-likes raise anything (a tensor on a GPU, a ragged list)
        short = short_floats(values)
        if short is None:
            raise ValueError(f"{name} can't be read as an array: {error}") from error
        array = short
    if array is not values and array.ndim == 0 and array.dtype.kind == "O" and hasattr(values, "__dlpack__"):
        try:
            refuse_devices(name, values)
            array = np.from_dlpack(values)
        except (AttributeError, BufferError, RuntimeError, TypeError) as error:  # a dtype of bfloat16, say
            raise ValueError(f"{name} can't be read by __dlpack__: {error}") from error
    array = plain_numbers(array)
    if isinstance(values, (list, tuple)) and array.dtype == np.float64 and (np.abs(array) >= EXACT_INTEGER).any():
        for value in np.array(values, dtype=object).ravel():
            if isinstance(value, int) and float(value) != value:
                raise ValueError(f"{name} has {value}, which a float64 rounds; pass an array of an integer type")
    if begins_with_text(values):
        check_all_strings(name, array.ravel())
        bytes_too = any(isinstance(each, bytes) for each in array.flat)
        return np.asarray(values) if bytes_too else text_array(array.flat).reshape(array.shape)
    if isinstance(values, (list, tuple)) and array.dtype.kind in "US":
        check_all_strings(name, np.array(values, dtype=object).ravel())  # NumPy has turned [0, "a"] into ["0", "a"]
    return array


def refuse_devices(name: str, values: Any) -> None:
    """Raise for an array with `__dlpack__` that is not in the memory of the CPU."""
    kind, number = values.__dlpack_device__()
    if kind not in IN_MEMORY:
        raise ValueError(
            f"{name} must be in the memory of the CPU, got a {type(values).__name__} on a device (DLPack device "
            f"{int(kind)}:{number}): copy it to the CPU first, such as with .cpu() or numpy.asarray"
        )


def short_floats(values: Any) -> NDArray[Any] | None:
    """Return a tensor of bfloat16, which NumPy can't read, as float32; None for anything else."""
    if "bfloat16" not in str(getattr(values, "dtype", "")) or not callable(getattr(values, "float", None)):
        return None
    try:
        return np.asarray(values.float())
    except Exception:  # it is on a GPU, or requires a gradient, as the first error says
        return None


def plain_numbers(array: NDArray[Any]) -> NDArray[Any]:
    """Return Python's decimals as the nearest floats, and other packages' floats of up to 16 bits as float32."""
    kind = array.dtype.type
    if array.dtype.kind == "O" and array.size:
        kind = type(array.flat[0])
        is_decimal = kind.__name__ == "Decimal" and all(type(each) is kind for each in array.flat)
        return array.astype(np.float64) if is_decimal and not any(each.is_snan() for each in array.flat) else array
    return array.astype(np.float32) if kind.__module__.startswith("ml_dtypes") else array


def begins_with_text(values: Any) -> bool:
    """Return whether the first item of a list, or of nested lists, is text."""
    first = values
    while isinstance(first, (list, tuple)) and len(first):
        first = first[0]
    return first is not values and isinstance(first, (str, bytes))


def plain_text(value: Any) -> Any:
    """Return text of a subclass (a member of an Enum, say) as a plain str, any other value unchanged.

    NumPy would convert an Enum's member by `str` ("Mood.NEG") and cut the result to the length of the member's text.
    """
    return str.__str__(value) if isinstance(value, str) and type(value) is not str else value


def text_array(texts: Iterable[Any]) -> NDArray[Any]:
    """Return texts as an array of fixed width or, if a long text would make that far too large, of variable width."""
    plain = [plain_text(each) for each in texts]
    width = max(map(len, plain), default=0)
    wide = width > SHORT_CHARACTERS and width * len(plain) > WIDE_CHARACTERS
    return np.array(plain, dtype=np.dtypes.StringDType() if wide else np.str_)


def is_summary(value: Any) -> bool:
    """Return whether a value is a summary, which counts rows part by part and no longer has the rows."""
    return all(hasattr(type(value), name) for name in ("update", "merge", "from_bytes"))


def counts_rows(value: Any) -> bool:
    """Return whether a value is a summary, a ranking or threshold counts, which have counts but not the rows."""
    return is_summary(value) or any(hasattr(type(value), name) for name in ("_counts_and_doubts", "rows_at_least"))


def refuse_summaries(name: str, values: Any) -> None:
    """Raise if summaries, rankings or counts are given instead of rows, alone or in a list or mapping."""
    found = values
    if isinstance(values, (list, tuple, Mapping)) and len(values):
        found = next(iter(values.values() if isinstance(values, Mapping) else values))
    if all(hasattr(type(found), each) for each in ("top_label", "rankings")):
        raise ValueError(
            f"{name} must hold rows, got a {type(found).__name__}: pass the matrix of scores that it was made from, "
            "with a column for each class"
        )
    if counts_rows(found):
        raise ValueError(
            f"{name} must have a value for each row, got a {type(found).__name__}, which does not say which rows two "
            "models have in common. For different rows (yesterday's and today's) use delong_test_unpaired or "
            "bootstrap_unpaired; for models on the same rows pass their scores, or their files to fastevals.report"
        )


def check_all_strings(name: str, values: Collection[Any]) -> None:
    """Raise unless each value is a string; the message distinguishes missing values from mixed types."""
    odd = [(row, value) for row, value in enumerate(values) if not isinstance(value, (str, bytes))]
    if not odd:
        return
    missing = [row for row, value in odd if is_missing(value)]
    if missing:
        count = f"{len(missing)} missing value{'s' * (len(missing) > 1)}"
        raise ValueError(f"{name} has {count}, the first at {row_at(missing[0])}")
    row, value = odd[0]
    raise ValueError(
        f"{name} must have a dtype of numbers or booleans, or hold only strings, not Python objects or a mixture: "
        f"got {show(value)} ({type(value).__name__}) at {row_at(row)}"
    )


def is_missing(value: Any) -> bool:
    """Return whether a value is None, a float NaN, or pandas' NA or NaT."""
    nan = isinstance(value, float) and value != value
    return nan or value is None or type(value).__name__ in ("NAType", "NaTType")


def as_vector(name: str, values: Any) -> NDArray[Any]:
    """Return an array-like as a non-empty 1-D array, without a copy if possible."""
    array = as_array(name, values)
    if array.ndim == 0 and array.dtype.kind in "OSU":
        raise ValueError(f"{name} must be 1-D, an array or sequence, got a {type(values).__name__}")
    if array.ndim != 1:
        raise ValueError(f"{name} must be 1-D, got shape {array.shape}{_column_hint(name, values, array)}")
    if array.size == 0:
        raise ValueError(f"{name} is empty: it must have at least one row")
    return array


def _column_hint(name: str, values: Any, array: NDArray[Any]) -> str:
    """Return a hint to take one column of a table: the second (usually the scores of class 1), or the only one."""
    if array.ndim != 2 or not array.shape[1]:
        return ""
    place = min(1, array.shape[1] - 1)
    column = f"[{frame_names(values)[place]!r}]" if is_frame(values) else f"[:, {place}]"
    is_expression = name.partition("[")[0].isidentifier()
    return f"; pass one column, for instance {name if is_expression else 'its column '}{column}"


def read_only(name: str, values: Any) -> NDArray[Any]:
    """Return an array as a read-only view; the caller's array stays writable."""
    view = as_vector(name, values).view()
    view.flags.writeable = False
    return view


def check_same_length(**arrays: NDArray[Any]) -> None:
    """Raise unless all arrays have as many rows as the first."""
    (first, reference), *others = arrays.items()
    for name, array in others:
        if array.shape[0] != reference.shape[0]:
            hint = transposed_hint(name, (len(others), array.shape[0]), reference.shape[0])
            raise ValueError(f"{name} has {array.shape[0]} rows, but {first} has {reference.shape[0]}{hint}")


def transposed_hint(name: str, shape: tuple[int, ...], n_rows: int) -> str:
    """Return a hint if the rows of a table seem to be the data's rows instead of models (`name` is the first model)."""
    table, is_row, _ = name.partition("[0]")
    if not is_row or shape[0] != n_rows:
        return ""
    return f": rows of {table} are models; pass {table}{'[:, 0]' if shape[1] == 1 else '.T'}"


def as_scores(name: str, values: Any) -> NDArray[Any]:
    """Return scores as a 1-D array of a real dtype; their values are not checked."""
    array = as_vector(name, values)
    if array.dtype.kind not in "fiub":
        seen = f"first value {show(array[0])}"
        row = next((row for row, value in enumerate(array) if not isinstance(value, (bool, int, float, np.number))), 0)
        if row and array.dtype.kind == "O":  # the items before this row are numbers
            seen = f"{show(array[row])} at {row_at(row)}"
        raise ValueError(f"{name} must hold numbers, got dtype {array.dtype} ({seen})")
    return array


def as_thresholds(name: str, values: Any, *, scalar: bool = False) -> NDArray[Any]:
    """Return thresholds as an array of any shape: real numbers, infinities included, but no NaN."""
    array = as_array(name, values)
    if scalar and array.ndim:
        raise ValueError(f"{name} must be one number, got shape {array.shape}")
    if array.dtype.kind not in "fiub":
        seen = "" if scalar or not array.size else "first value "
        seen += show(array.flat[0]) if array.size else "empty"
        raise ValueError(f"{name} must hold numbers, got dtype {array.dtype} ({seen})")
    if np.isnan(array).any():
        raise ValueError(f"{name} must not be NaN, got {np.count_nonzero(np.isnan(array))} NaN values")
    return array


def as_weights(name: str, values: Any) -> NDArray[np.float64]:
    """Return row weights as float64: finite, none negative, not all zero, with a finite sum."""
    array = as_scores(name, values)
    if array.dtype.kind in "iu" and int(array.max()) > EXACT_INTEGER:
        raise ValueError(f"{name} must be at most 2**53 for integers, got {array.max()}")
    with np.errstate(over="ignore"):  # longer floats may overflow
        weights = np.ascontiguousarray(array, dtype=np.float64)
    smallest, largest = weights.min(), weights.max()
    if not (math.isfinite(smallest) and math.isfinite(largest)):
        raise_not_finite(name, weights)
    if smallest < 0:
        row = int(np.argmax(weights < 0))
        raise ValueError(f"{name} must not be negative, got {show(weights[row])} at {row_at(row)}")
    if largest == 0:
        raise ValueError(f"{name} must have a value above zero, but all {weights.size} are zero")
    with np.errstate(over="ignore"):
        if not math.isfinite(weights.sum()):
            raise ValueError(f"{name} must have a finite sum, but it overflows (largest value {largest:g})")
    return weights


def is_matrix(values: Any) -> bool:
    """Return whether values are a table of rows and columns: a 2-D array, a frame, or a sequence of sequences.

    A table of one column is no matrix: it is one score per row, in a form that needs the hint to pass the column.
    """
    shape = getattr(values, "shape", None)
    if isinstance(shape, tuple) and len(shape) != 1:
        return len(shape) == 2 and shape[1] != 1
    if not isinstance(values, (list, tuple)):
        return holds_lists(values)
    return len(values) > 0 and not isinstance(values[0], str) and hasattr(values[0], "__len__")


def holds_lists(values: Any) -> bool:
    """Return whether a column of pandas, polars or Arrow, or an array of objects, has a list of values in each row."""
    dtype = str(getattr(values, "dtype", getattr(values, "type", ""))).lower()
    if dtype.startswith(("list", "array(", "large_list", "fixed_size_list")):
        return True
    if dtype != "object" or getattr(values, "ndim", 1) != 1:
        return False
    first = next((each for each in values if each is not None), None)
    return isinstance(first, (list, tuple, np.ndarray))


def check_only_of_classes(**options: Any) -> None:
    """Raise if options that apply to scores of several classes are given with one score per row."""
    for name, value in options.items():
        if value is not None:
            raise ValueError(
                f"{name} applies only to scores of several classes, in one column per class; got {show(value)}"
            )


def are_matrices(values: Any) -> bool:
    """Return whether values are tables of several models: a mapping of tables, a 3-D array, or a sequence of tables."""
    if isinstance(values, Mapping):
        return bool(values) and all(map(is_matrix, values.values()))
    shape = getattr(values, "shape", None)
    if isinstance(shape, tuple):
        return len(shape) == 3
    return isinstance(values, (list, tuple)) and len(values) > 0 and is_matrix(values[0])


def as_matrices(name: str, values: Any) -> tuple[dict[str, Any], tuple[Any, ...]]:
    """Return the tables of models, keyed by their names in errors, and the models' names: numbers if they have none."""
    if isinstance(values, Mapping):
        named = named_columns(name, values) or {}
        return {f"{name}[{key!r}]": each for key, each in named.items()}, tuple(named)
    labelled = {f"{name}[{i}]": each for i, each in enumerate(values)}
    return labelled, tuple(range(len(labelled)))


def power_of_two(total: float) -> float:
    """Return the power of two that scales a total to about 1, so that products of weights don't over- or underflow."""
    return math.ldexp(1.0, -max(math.frexp(total)[1], -1000))


def in_usual_unit(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return weights times `usual_unit`, which leaves ratios of their sums unchanged."""
    unit = usual_unit(weights)
    return weights if unit == 1 else weights * unit


def usual_unit(weights: NDArray[np.float64], positive: NDArray[np.bool_] | None = None) -> float:
    """Return the power of two by which to scale weights if products of their sums might over- or underflow, else 1.

    If `positive` is given, the products are of the two classes' sums; one may be small and the other large.
    """
    largest = float(weights.max())
    if 1 / USUAL_WEIGHT < largest < USUAL_WEIGHT:
        return 1.0
    if positive is not None and positive.any() and not positive.all():
        sides = float(weights[positive].max()), float(weights[~positive].max())
        largest = max(math.sqrt(sides[0]) * math.sqrt(sides[1]), max(sides) / 2.0**1000)
    return power_of_two(largest)


def as_frequencies(name: str, values: Any) -> NDArray[np.int64]:
    """Return the number of copies of each row: integers with a sum of at most 2**53."""
    weights = as_weights(name, values)
    odd = weights != np.trunc(weights)
    if odd.any():
        row = int(np.argmax(odd))
        raise ValueError(
            f"{name} must hold whole numbers, the number of copies of each row, got {show(weights[row])} at "
            f"{row_at(row)}; sample_weight takes any weights"
        )
    if weights.sum() > EXACT_INTEGER:
        raise ValueError(f"{name} must add up to at most 2**53, got {weights.sum():g}")
    return weights.astype(np.int64)


def check_one_weight(
    sample_weight: Any, frequency_weight: Any, names: tuple[str, str] = ("sample_weight", "frequency_weight")
) -> None:
    """Raise if rows have both a weight and a number of copies."""
    if sample_weight is not None and frequency_weight is not None:
        raise ValueError(
            "{} and {} exclude each other: if rows have weights and copies, repeat each row and its weight".format(
                *names
            )
        )


def refuse_weighted(name: str, value: Any) -> NoReturn:
    """Raise an error, because weighted counts lack what intervals and tests need; the message says what to use."""
    raise ValueError(
        f"{name} must count rows, but has weights: {show(value)}. Intervals and tests need the sums of squared "
        "weights, which such counts, and summaries made before 0.5, don't hold: pass the rows with sample_weight= "
        "to bootstrap or delong, or count the rows again, in a RankingSummary, ConfusionSummary or TargetSummary, "
        "which keep squares (if the weights are numbers of copies, give them as frequency_weight=)"
    )


def exceeds_floats(array: NDArray[Any]) -> bool:
    """Return whether there are integers beyond 2**53, which a float64 may round."""
    if array.dtype.kind not in "iu" or array.dtype.itemsize < 8 or not array.size:
        return False
    return max(int(array.max()), -int(array.min())) > EXACT_INTEGER


def exact_floats(name: str, scores: NDArray[Any]) -> NDArray[Any]:
    """Return scores unchanged, or converted to float64 without rounding; raise if float64 would round one."""
    if exceeds_floats(scores):
        largest = max(abs(int(scores.min())), abs(int(scores.max())))
        raise ValueError(f"{name} must be scores that float64 holds exactly, got {largest}")
    elif scores.dtype.kind == "f" and scores.dtype.itemsize > 8:
        rounded = scores.astype(np.float64)
        differs = np.flatnonzero((rounded != scores) & ~np.isnan(scores))
        if differs.size:
            raise ValueError(f"{name} must be scores that float64 holds exactly, got {scores[differs[0]]!r}")
        return rounded
    return scores


def check_exact_integers(name: str, array: NDArray[Any]) -> None:
    """Raise if a float64 would round an integer."""
    if exceeds_floats(array):
        rounded = next((row for row, value in enumerate(array.tolist()) if float(value) != value), None)
        if rounded is not None:
            raise ValueError(
                f"{name} must hold integers that a float64 represents exactly, got {array[rounded]} at "
                f"{row_at(rounded)}: beyond 2**53 subtract a common offset"
            )


def check_finite(name: str, array: NDArray[Any]) -> None:
    """Raise if a value is NaN or infinite."""
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise_not_finite(name, array)


def raise_not_finite(name: str, array: NDArray[Any]) -> NoReturn:
    """Raise an error with the number of NaN or infinite values and the row of the first."""
    nan, infinite = np.isnan(array), np.isinf(array)
    kind, mask = ("NaN", nan) if nan.any() else ("infinite", infinite)
    count = int(np.count_nonzero(mask))
    raise ValueError(
        f"{name} must be finite, but has {count} {kind} value{'s' * (count > 1)}, "
        f"the first at {row_at(np.argmax(mask))}{hint_on_rows()}"
    )


# Probabilities ----------------------------------------------------------------------------------------------------
def check_probabilities(name: str, lowest: Any, highest: Any) -> None:
    """Raise unless the lowest and the highest value are within [0, 1]."""
    for value in (lowest, highest):
        if not 0 <= value <= 1:
            raise ValueError(f"{name} must hold probabilities, in [0, 1], got {show(value)}")


# Predictions of numbers -------------------------------------------------------------------------------------------
class SupportsArray(Protocol):
    """An array, or a column of a frame."""

    def __array__(self) -> NDArray[Any]: ...


class SupportsColumns(Protocol):
    """A frame."""

    @property
    def columns(self) -> Any: ...


OneModel = Sequence[float] | SupportsArray  # also 2-D arrays, which have the same type
Floats = NDArray[np.float64]
Places = Sequence[Any] | SupportsArray
Models = Mapping[Any, Any] | Sequence[Sequence[float] | SupportsArray] | SupportsColumns


def as_predictions(
    name: str, values: Any, read: Callable[[str, Any], NDArray[Any]] | None = None
) -> tuple[dict[str, NDArray[Any]], tuple[Any, ...] | None, bool]:
    """Return the predictions of one or many models: 1-D arrays, keyed by the names used in errors.

    Each is read by `read`; by default it has a real dtype.

    Models are the rows of a 2-D array, the entries of a mapping or the columns of a frame. Also returns the models'
    own names (for a mapping or frame), and whether `values` can hold several models.
    """
    read = read or as_scores
    columns = named_columns(name, values)
    if columns is not None:
        if not columns:
            raise ValueError(f"{name} is empty: it must have at least one model")
        labelled = {f"{name}[{key!r}]": value for key, value in columns.items()}
        return {label: read(label, value) for label, value in labelled.items()}, tuple(columns), True
    array = as_array(name, values)
    if array.ndim == 2 and not array.shape[0]:
        raise ValueError(f"{name} is empty: it must have at least one model, got shape {array.shape}")
    if array.ndim == 2:
        return {f"{name}[{i}]": read(f"{name}[{i}]", row) for i, row in enumerate(array)}, None, True
    if array.ndim != 1:
        raise ValueError(f"{name} must be 1-D, or 2-D with a row for each model, got shape {array.shape}")
    return {name: read(name, array)}, None, False


ENGINES = {"pyspark": "spark", "dask": "dask", "dask_expr": "dask"}  # by module; their frames are distributed


def refuse_engines(name: str, values: Any) -> None:
    """Raise for a frame of Spark or Dask, or a Spark column: reading it would bring all rows to this process."""
    engine = ENGINES.get(type(values).__module__.partition(".")[0])
    if engine is not None and is_frame(values):
        raise ValueError(
            f"{name} must hold rows, got a {type(values).__name__} of {engine.title()}: fastevals.scale.{engine}."
            "summarize counts rows where they are, and its result can be passed to report (for calls that take a "
            f"ranking, use ranking instead); {'toPandas()' if engine == 'spark' else 'compute()'} brings all rows here"
        )


def named_columns(name: str, values: Any) -> dict[Any, Any] | None:
    """Return the columns of a frame or the entries of a mapping by name, or None for anything else."""
    refuse_engines(name, values)
    if hasattr(values, "collect") and not hasattr(values, "__len__"):  # a lazy polars query
        raise ValueError(f"{name} must hold rows, got a {type(values).__name__}: pass {name}.collect()")
    if is_frame(values):
        names = frame_names(values)
        if len(set(names)) < len(names):
            raise ValueError(f"{name} must have columns of different names, got {listed(names)}")
        return {plain_text(each): values[each] for each in names}
    if not isinstance(values, Mapping):
        return None
    if len({repr(plain_text(each)) for each in values}) < len(values):  # names must also differ in messages
        raise ValueError(f"{name} must have distinguishable names, got {show(list(values))}")
    return {plain_text(each): value for each, value in values.items()}


def is_frame(values: Any) -> bool:
    """Return whether values are a frame (of pandas, polars, Arrow, ...)."""
    return hasattr(values, "columns")


def frame_names(frame: Any) -> list[Any]:
    """Return the names of a frame's columns."""
    return list(getattr(frame, "column_names", frame.columns))  # Arrow's `columns` are not names


def as_texts(names: list[Any]) -> list[str]:
    """Return names as texts, with whole floats as integers."""
    return [str(int(each)) if isinstance(each, float) and each.is_integer() else str(each) for each in names]


def row_labels(frame: Any) -> tuple[Any, ...] | None:
    """Return the index of a pandas frame unless it is 0, 1, 2, ...; None for other frames, which have no index."""
    kind = type(getattr(frame, "index", None)).__name__
    return (
        None
        if kind in ("NoneType", "RangeIndex", "method")
        else tuple(each if isinstance(each, (int, float, str)) else str(each) for each in frame.index)
    )


# Columns of Arrow, and of frames -------------------------------------------------------------------------------------


def is_arrow(column: Any) -> bool:
    """Return whether a column is an Arrow array."""
    return type(column).__module__.partition(".")[0] == "pyarrow"


def missing_rows(column: Any) -> NDArray[np.bool_] | None:
    """Return which values of a column, or of its dictionary, are missing; None if no value is missing."""
    if is_arrow(column):
        from pyarrow import types

        if types.is_dictionary(column.type) and column.dictionary.null_count:
            column = column.dictionary_decode()
        return column.is_null().to_numpy(zero_copy_only=False) if column.null_count else None
    if isinstance(getattr(column, "dtype", None), np.dtype) and column.dtype.kind == "f":  # NaN is a number there
        return None
    if isinstance(column, (list, tuple)):
        column = np.fromiter(column, object, len(column))
    own = getattr(column, "isna", getattr(column, "is_null", None))  # pandas has isna, polars has is_null
    if own is not None:
        missing = np.asarray(own())
    elif isinstance(column, np.ndarray) and column.dtype.kind in "MO":
        missing = np.isnat(column) if column.dtype.kind == "M" else np.fromiter(map(is_missing, column), np.bool_)
    else:
        return None
    return missing if missing.any() else None


def numbers_of(column: Any) -> NDArray[Any]:
    """Return an Arrow array without missing values as a NumPy array; Arrow's `to_numpy` would import pandas (0.3 s)."""
    from pyarrow import types, uint8

    is_boolean = types.is_boolean(column.type)
    values = np.from_dlpack(column.cast(uint8()) if is_boolean else column)
    return values.view(np.bool_) if is_boolean else values


def nearest_floats(decimals: Any) -> Any:
    """Return Arrow's decimals as the nearest floats; Arrow's own cast is off by a digit or two."""
    import pyarrow as pa

    return decimals.cast(pa.string()).cast(pa.float64())


def holds_numbers(dtype: Any) -> bool:
    """Return whether columns of a pyarrow type hold numbers or booleans."""
    from pyarrow import types

    dtype = dtype.value_type if types.is_dictionary(dtype) else dtype
    kinds = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
    return any(is_kind(dtype) for is_kind in kinds)


def is_number(text: Any) -> bool:
    """Return whether a value is a number, or the text of one."""
    try:
        float(text)
    except (TypeError, ValueError):
        return False
    except OverflowError:  # an integer beyond the largest float
        return True
    return True


def first_text(values: Iterable[Any], decimal: str = ".") -> int | None:
    """Return the row of the first value that is neither missing nor a number; None if there is none."""
    sign = str.maketrans(f".{decimal}", "?.")
    if decimal != ".":
        values = (value.translate(sign) if isinstance(value, str) else value for value in values)
    return next((row for row, value in enumerate(values) if value is not None and not is_number(value)), None)
