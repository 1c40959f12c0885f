"""Checks of pandas indexes: columns are matched by position, whatever their indexes are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fastevals._options import warn_outside

# Public names of arguments that have one value per row, or hold such columns.
ROWS = frozenset(
    {
        "y_true",
        "y_pred",
        "y_score",
        "scores",
        "predictions",
        "y_observed",
        "y_prob",
        "sample_weight",
        "frequency_weight",
        "cost_fp",
        "cost_fn",
        "cost_tp",
        "groups",
        "queries",
        "folds",
        "X",
        "y",
        "score_a",
        "score_b",
        "pred_a",
        "pred_b",
        "a",
        "b",
        "results",
        "subject",
        "data",
    }
)


class RowOrderWarning(UserWarning):
    """Two pandas columns are matched by position although their indexes differ."""


def warn_other_order(arguments: Mapping[str, Any]) -> None:
    """Warn if columns among the arguments have different indexes.

    If one index is the default (0, 1, 2, ...) and the other has other labels, there is no warning: predictions for a
    test set often have a default index. Runs are matched with `Qrels` by their ids.
    """
    if type(arguments.get("y_true")).__name__ == "Qrels" or arguments.get("qrels") is not None:
        return
    columns = [each for name, value in arguments.items() if name in ROWS for each in _columns_of(name, value)]
    for name, column in columns[1:]:
        first_name, first = columns[0]
        if len(column) == len(first) and _differ(first.index, column.index):
            warn_outside(
                f"{name} is matched with {first_name} by position, but their indexes differ: align them with "
                f"{name}.loc[{first_name}.index], or pass {name}.to_numpy() if rows should be matched by position",
                RowOrderWarning,
            )
            return


def _columns_of(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the name and value of each pandas object in an argument: the argument, or entries of a mapping or list."""
    if _has_index(value):
        yield name, value
    elif isinstance(value, Mapping):
        yield from ((f"{name}[{key!r}]", each) for key, each in value.items() if _has_index(each))
    elif isinstance(value, (list, tuple)) and len(value) and _has_index(value[0]):
        yield from ((f"{name}[{k}]", each) for k, each in enumerate(value) if _has_index(each))


def _has_index(value: Any) -> bool:
    return type(value).__module__.partition(".")[0] == "pandas" and type(value).__name__ in ("Series", "DataFrame")


def _differ(first: Any, second: Any) -> bool:
    """Return whether two indexes have different labels, or the same labels in another order."""
    if first is second or first.equals(second):
        return False
    is_fresh = any(
        type(each).__name__ == "RangeIndex" and (each.start, each.step) == (0, 1) for each in (first, second)
    )
    return not is_fresh or _same_labels(first, second)


def _same_labels(first: Any, second: Any) -> bool:
    try:
        return bool(first.sort_values().equals(second.sort_values()))
    except TypeError:  # labels of several types can't be sorted
        return False
