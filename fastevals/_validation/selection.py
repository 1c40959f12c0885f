"""What models are selected among, and along which a learner's error is drawn."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._validation.estimates import is_splitter
from fastevals._validation.options import _warn, as_flag, check_integer, listed, show
from fastevals._validation.rows import check_learner

__all__ = [
    "as_direction",
    "as_grids",
    "as_named_learners",
    "as_values",
    "check_direction",
    "check_distinct_rows",
    "check_folds_or_splitter",
    "check_one_split",
    "check_parameter",
    "check_parameter_name",
    "check_sizes_differ",
    "check_some_defined",
    "check_varies_only",
    "naming",
    "warn_outer_splits",
]


def as_values(name: str, values: Any) -> list[Any]:
    """Give the values of a parameter, of which there must be some, as Python's where NumPy has them."""
    if isinstance(values, (str, bytes, Mapping, set, frozenset)) or not isinstance(values, Iterable):
        raise ValueError(f"{name} must be a list of values, got {show(values)}")
    shape = getattr(values, "shape", (0,))
    if len(shape) != 1:
        raise ValueError(f"{name} must be a list of values, got shape {shape}")
    found = values.tolist() if isinstance(values, np.ndarray) else list(values)
    if not found:
        raise ValueError(f"{name} is empty: it must have at least one value")
    return [each.item() if isinstance(each, np.generic) else each for each in found]


def as_grids(name: str, grid: Any) -> list[dict[str, list[Any]]]:
    """Give the grids of a learner, one or a list of them; None is one without parameters."""
    if grid is None:
        return [{}]
    grids = [grid] if isinstance(grid, Mapping) else grid
    if not isinstance(grids, (list, tuple)):
        raise ValueError(
            f"{name} must be a mapping of parameters to lists of values, or a list of them; got {show(grid)}"
        )
    if not grids:
        raise ValueError(f"{name} is empty: it must have at least one parameter with values")
    found = []
    for each in grids:
        if not isinstance(each, Mapping):
            raise ValueError(f"{name} must hold mappings of parameters to lists of values, got {show(each)}")
        if not each:
            raise ValueError(f"{name} is empty: it must have at least one parameter with values")
        for parameter in each:
            if not isinstance(parameter, str):
                raise ValueError(f"{name} must name parameters by strings, got {show(parameter)}")
        found.append({parameter: as_values(f"{name}[{parameter!r}]", values) for parameter, values in each.items()})
    return found


def as_named_learners(name: str, candidates: Any, grid: Any) -> dict[str, tuple[Any, Any]]:
    """Give learners with their grids by name: of one learner, or of a mapping of names to learners, or pairs."""
    if not isinstance(candidates, Mapping):
        check_learner(name, candidates)
        return {getattr(candidates, "__name__", type(candidates).__name__): (candidates, grid)}
    if not candidates:
        raise ValueError(f"{name} is an empty mapping: there is nothing to select")
    if grid is not None:
        raise ValueError(f"grid goes with one learner; a mapping has pairs (learner, grid), got grid={show(grid)}")
    found = {}
    for key, value in candidates.items():
        if not isinstance(key, str):
            raise ValueError(f"{name} must have strings as names, got {show(key)}")
        if isinstance(value, tuple) and len(value) != 2:
            raise ValueError(f"{name}[{key!r}] must be a learner or a pair (learner, grid), got {show(value)}")
        found[key] = value if isinstance(value, tuple) else (value, None)
        check_learner(f"{name}[{key!r}]", found[key][0])
    return found


def check_folds_or_splitter(name: str, value: Any, n: int) -> int | None:
    """Give a number of folds of n rows, or None of a splitter."""
    if is_splitter(value):
        return None
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise ValueError(f"{name} must be a number of folds or a splitter, got {show(value)}")
    return check_integer(name, value, low=2, high=n)


def check_one_split(name: str, n_splits: int) -> None:
    """Raise unless a splitter gives one split."""
    if n_splits != 1:
        raise ValueError(f"{name} must give one split, the test part, but gives {n_splits}")


def check_parameter(name: str, parameter: Any, varied: Collection[str]) -> None:
    """Raise unless a parameter has several values among the candidates."""
    if parameter not in varied:
        raise ValueError(
            f"{name} must be a parameter with several values: {listed(varied) or 'none has'}; got {show(parameter)}"
        )


def check_sizes_differ(name: str, values: Sequence[Any], sizes: Sequence[int], of: str) -> None:
    """Raise unless sizes were given as shares of all or as counts, not both, and differ."""
    if len({isinstance(each, float) for each in values}) > 1:
        raise ValueError(f"{name} must all be shares (floats) or all counts (integers), got {show(values)}")
    if len(set(sizes)) < len(sizes):
        raise ValueError(f"{name} must differ; of {of} they are {listed(sizes)}")


def check_parameter_name(name: str, value: Any) -> None:
    """Raise unless a parameter is named by a string."""
    if not isinstance(value, str):
        raise ValueError(f"{name} must be the name of a parameter, got {show(value)}")


def check_varies_only(name: str, params: Mapping[str, Any], other: str, parameter: str) -> None:
    """Raise if a parameter that varies has a value among those that do not."""
    if parameter in params:
        raise ValueError(
            f"{name} must not have {parameter!r}, as it is the {other} that varies; got {show(params[parameter])}"
        )


@contextmanager
def naming(name: str, of: str) -> Iterator[None]:
    """Put the user's argument before an error about what was made of it, and what it was applied to after."""
    try:
        yield
    except ValueError as error:
        if str(error).startswith((f"{name} ", f"{name}[")):
            raise
        raise ValueError(f"{name}: {error} ({of})") from error


def warn_outer_splits(metric: str, missing: int, n: int, failed: str) -> None:
    """Warn of outer splits in which no candidate was measured."""
    why = f"; {failed}" if failed else ""
    _warn(f"{metric} has no value in {missing} of {n} outer splits, which are left out (n_undefined){why}")


def check_some_defined(metric: str, place: int | None, n: int, what: str) -> int:
    """Give the place of the best of n candidates or values; raise if none has an estimate."""
    if place is None:
        raise ValueError(f"{metric} is undefined (NaN) for all {n} {what}: none is the best")
    return place


def check_distinct_rows(name: str, rows: NDArray[np.intp]) -> None:
    """Raise if a row is more than once among those that are to be split further: it would be on both sides."""
    if np.unique(rows).size < rows.size:
        raise ValueError(
            f"{name} must have each training row once, as these are split further; got {rows.size} rows of which "
            f"{np.unique(rows).size} differ"
        )


def as_direction(name: str, metric: str, maximize: Any, known: bool | None) -> bool | None:
    """Give whether a greater value is better: what is `known` of the metric, or else what the user says."""
    if maximize is None:
        return known
    given = as_flag(name, maximize)
    if known is not None and given != known:
        raise ValueError(f"{name} must be {known} or left out for {metric}, got {given}")
    return given


def check_direction(name: str, metric: str, maximize: bool | None) -> bool:
    """Raise unless it is known whether a greater value is better."""
    if maximize is None:
        raise ValueError(f"{name} must be given, True or False, for the function {metric}, whose direction isn't known")
    return maximize
