"""Predicted quantiles and intervals of numbers: one element per row, with a field per level.

A structured array of shape (n_samples,) can be sliced, drawn from and split like predicted numbers, and its dtype holds
the levels.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._distinct import sorted_unique
from fastevals._options import check_number, row_at, show, warn_outside
from fastevals._validation.arrays import (
    FLOAT64,
    as_array,
    as_scores,
    as_vector,
    check_exact_integers,
    check_finite,
    check_same_length,
    named_columns,
)

Floats = NDArray[np.float64]
Predicted = NDArray[np.void]

LEVEL_DIGITS = 12  # decimals of a level; (1 - 0.9) / 2 is 0.05


class QuantileRows(NamedTuple):
    """The levels of predicted quantiles, ascending, and the quantiles, of shape (n_samples, n_levels)."""

    levels: Floats
    values: Floats


def predicted_quantiles(values: Any, levels: ArrayLike | None = None) -> Predicted:
    """Return predicted quantiles of numbers in the form that metrics of quantiles take.

    Parameters
    ----------
    values : array-like of shape (n_samples, n_levels), mapping of level to array-like, or frame
        Finite quantiles; each column or entry has the quantiles of one level. The keys of a mapping and the names of a
        frame's columns are the levels, unless `levels` is given.
    levels : array-like of shape (n_levels,), optional
        The levels in (0, 1), in the order of the columns. 0.9 is the level of the 90 % quantile.

    Returns
    -------
    structured ndarray of shape (n_samples,)
        One element per row, with a field for each level, in ascending order. It shares the memory of `values` if these
        are an array of float64 whose columns have this order.

    Raises
    ------
    ValueError
        If a level is outside (0, 1) or occurs twice, or if quantiles are not finite numbers or differ in length.

    Warns
    -----
    UserWarning
        If quantiles cross: in some rows a quantile is below the quantile of a lower level. Pinball losses are defined
        for such rows, but metrics of intervals are not. Sort the quantiles of each row to uncross them.

    Examples
    --------
    >>> import fastevals
    >>> predicted = fastevals.predicted_quantiles([[1, 2, 4], [0, 3, 5]], levels=[0.1, 0.5, 0.9])
    >>> predicted["0.9"]
    array([4., 5.])
    >>> found = fastevals.batch_metrics([2, 6], [predicted], ["wis", "interval_coverage"])
    >>> found["weighted_interval_score"][0], found["interval_coverage"][0]
    (1.1, 0.5)
    """
    named = named_columns("values", values)
    if named is None:
        table = as_array("values", values)
        if table.ndim != 2 or not table.size:
            raise ValueError(f"values must have shape (n_samples, n_levels), got {table.shape}")
        if levels is None:
            raise ValueError("levels must be given with an array: it names the level of each column")
    shares = _as_levels(
        "levels", list(named or ()) if levels is None else levels, len(table.T if named is None else named)
    )
    labels = [f"the quantiles of level {share:g}" for share in shares]
    if named is not None:
        arrays = {label: _as_double(label, column) for label, column in zip(labels, named.values(), strict=True)}
        check_same_length(**arrays)
        table = np.stack(list(arrays.values()), axis=1)
    else:
        table = _as_double("values", table.reshape(-1)).reshape(table.shape)
    with np.errstate(over="ignore", invalid="ignore"):
        total = table.sum()
    for label, column in zip(labels, table.T, strict=True) if not np.isfinite(total) else ():
        check_finite(label, column)
    order = np.argsort(shares)
    return _pack(shares[order], table if (np.diff(order) > 0).all() else table[:, order])


def predicted_intervals(low: ArrayLike, high: ArrayLike, coverage: float = 0.9) -> Predicted:
    """Return central prediction intervals of numbers in the form that metrics of quantiles and intervals take.

    Parameters
    ----------
    low, high : array-like of shape (n_samples,)
        Finite ends of each row's interval: the quantiles of the levels ``(1 - coverage) / 2`` and
        ``(1 + coverage) / 2``.
    coverage : float in (0, 1)
        Nominal coverage: the probability with which an interval is meant to contain the target.

    Returns
    -------
    structured ndarray of shape (n_samples,)
        The form that `predicted_quantiles` returns.

    Raises
    ------
    ValueError
        If `low` exceeds `high` in a row, if the ends are not finite numbers or differ in length, or if `coverage`
        is outside (0, 1).

    Examples
    --------
    >>> import fastevals
    >>> predicted = fastevals.predicted_intervals([0, 1, 2], [2, 3, 4], coverage=0.8)
    >>> metrics = ["interval_coverage", "interval_width", "interval_score"]
    >>> found = fastevals.batch_metrics([1, 4, 2], [predicted], metrics)
    >>> [round(found[name][0], 4) for name in metrics]
    [0.6667, 2.0, 5.3333]
    """
    share = check_number("coverage", coverage, low=0, high=1, open_low=True, open_high=True)
    ends = {"low": _as_double("low", low), "high": _as_double("high", high)}
    check_same_length(**ends)
    for name, values in ends.items():
        check_finite(name, values)
    check_order("low", "high", *ends.values())
    return _pack(np.round([(1 - share) / 2, (1 + share) / 2], LEVEL_DIGITS), np.stack(list(ends.values()), axis=1))


def as_quantiles(name: str, values: Any) -> Predicted:
    """Return predicted quantiles with packed fields of float64; raise unless they are finite and have levels."""
    array = as_vector(name, values)
    if array.dtype.names is None:
        raise ValueError(
            f"{name} must have quantiles with their levels, as returned by predicted_quantiles or predicted_intervals; "
            f"got dtype {array.dtype}"
        )
    levels = _as_levels(f"{name}: levels", array.dtype.names, len(array.dtype.names))
    if (np.diff(levels) > 0).all() and array.dtype == _type_of(levels) and array.flags.c_contiguous:
        check_finite(name, rows_of(array).values.ravel())
        return array
    return predicted_quantiles({level: array[field] for level, field in zip(levels, array.dtype.names, strict=True)})


def rows_of(predicted: Predicted) -> QuantileRows:
    """Return a view of predicted quantiles as a table."""
    assert predicted.dtype.names is not None
    levels = np.array(predicted.dtype.names, dtype=np.float64)
    return QuantileRows(levels, np.ascontiguousarray(predicted).view(FLOAT64).reshape(predicted.size, levels.size))


def check_order(low_name: str, high_name: str, low: Floats, high: Floats) -> None:
    """Raise if the low end of an interval exceeds its high end."""
    crossed = low > high
    if crossed.any():
        row = int(np.argmax(crossed))
        raise ValueError(
            f"{low_name} must not exceed {high_name}, but it does in {int(crossed.sum())} of {low.size} rows, the "
            f"first at {row_at(row)}: {low[row]:g} > {high[row]:g}"
        )


def _pack(levels: Floats, table: Floats) -> Predicted:
    """Return a table of quantiles by ascending level as a structured array; warn if quantiles cross."""
    crossed = np.zeros(len(table), dtype=np.bool_)
    for low, high in pairwise(table.T):
        crossed |= high < low
    if crossed.any():
        warn_outside(
            f"quantiles cross in {int(crossed.sum())} of {crossed.size} rows, the first at "
            f"{row_at(np.argmax(crossed))}: sort the quantiles of each row to uncross them",
            UserWarning,
        )
    return np.ascontiguousarray(table).view(_type_of(levels)).reshape(crossed.size)


def _type_of(levels: Floats) -> np.dtype[np.void]:
    return np.dtype([(repr(level), FLOAT64) for level in levels.tolist()])


def _as_double(name: str, values: Any) -> Floats:
    array = as_scores(name, values)
    check_exact_integers(name, array)
    with np.errstate(over="ignore"):
        return array.astype(np.float64, copy=False)


def _as_levels(name: str, values: Any, n: int) -> Floats:
    """Return levels as floats, one for each of n columns."""
    try:
        levels = np.array([float(each) for each in np.asarray(values, dtype=object).ravel()])
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be numbers in (0, 1), got {show(values)}") from None
    if levels.size != n or not levels.size:
        raise ValueError(f"{name} must have a level for each of {n} columns, got {levels.size}")
    given, levels = levels, levels.round(LEVEL_DIGITS)
    outside = ~((levels > 0) & (levels < 1))
    if outside.any():
        seen = float(given[np.argmax(outside)])
        raise ValueError(f"{name} must be in (0, 1), got {seen!r} (levels are rounded to {LEVEL_DIGITS} decimals)")
    if sorted_unique(levels).size < n:
        raise ValueError(f"{name} must all differ, got {levels.tolist()}")
    return levels
