"""The bootstrap of any statistic of rows: a mean, a correlation, the coefficients of a regression."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._kernels.draws import take_drawn
from fastevals._options import show
from fastevals._validation.arrays import as_array, check_same_length
from fastevals._validation.labels import as_groups, check_resampled_rows
from fastevals.infer.bootstrap.bootstrap import BootstrapMethod, BootstrapResult, BootstrapSettings, make_estimates
from fastevals.infer.bootstrap.row_samples import SamplingUnits, UnitSample, zero_bytes
from fastevals.infer.bootstrap.samples import SLOW_PER_TASK, Floats, Values
from fastevals.results import Alternative

Statistic = Callable[..., Any]


def bootstrap_statistic(
    data: Any,
    statistic: Statistic | Mapping[str, Statistic],
    *,
    n_resamples: int = 9999,
    confidence_level: float = 0.95,
    method: BootstrapMethod = "BCa",
    alternative: Alternative = "two-sided",
    groups: ArrayLike | None = None,
    rng: Any = None,
    keep_distribution: bool = False,
    progress: bool = False,
) -> BootstrapResult:
    """Compute intervals and standard errors of any statistic of rows by resampling the rows.

    For metrics of predictions, `bootstrap` is faster because it never copies rows.

    Parameters
    ----------
    data : array-like of shape (n_rows, ...), or tuple of such arrays
        The rows. The arrays of a tuple are resampled together.
    statistic : function, or mapping of str to function
        A function is called with the rows of a resample, one argument per array. It returns a number, or an array of
        numbers that always has the same shape. Several threads may call it at the same time. All functions are called
        with the same resamples.
    n_resamples, confidence_level, method, alternative
        As for `bootstrap`.
    groups : array-like of shape (n_rows,), optional
        The cluster of each row, such as a patient with several visits; whole clusters are resampled.
    rng, keep_distribution, progress
        As for `bootstrap`.

    Returns
    -------
    BootstrapResult
        A mapping from each function's name to its `Estimate`.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.

    Warns
    -----
    UndefinedMetricWarning
        In the cases listed for `bootstrap`. Replicates that are NaN are counted in `n_undefined` and left out.

    Notes
    -----
    For BCa's acceleration, one row (or cluster) at a time is left out if there are at most 160 rows (or clusters).
    Otherwise, rows (or clusters) are divided into 160 random groups, and one group at a time is left out.

    References
    ----------
    Efron, B. and Tibshirani, R. J. (1993), *An Introduction to the Bootstrap*, Chapman & Hall.

    Examples
    --------
    >>> import numpy as np
    >>> from fastevals import bootstrap_statistic
    >>> from fastevals.datasets import load_auto
    >>> cars = load_auto()
    >>> def line(x, y):
    ...     return np.polyfit(x, y, 1)
    >>> found = bootstrap_statistic((cars["horsepower"], cars["mpg"]), line, n_resamples=999, rng=0)["line"]
    >>> found.value.round(3), found.standard_error.round(3)  # slope and intercept
    (array([-0.158, 39.936]), array([0.007, 0.847]))
    """
    settings = BootstrapSettings.checked(n_resamples, confidence_level, method, alternative, rng)
    arrays = _as_rows("data", data)
    functions = _as_functions("statistic", statistic)
    sample = StatisticSample(arrays, functions, None if groups is None else as_groups("groups", groups))
    estimates = make_estimates(sample, functions, settings, keep=keep_distribution, progress=progress)
    return BootstrapResult(
        estimates, settings.n_resamples, settings.confidence_level, settings.method, settings.alternative
    )


class StatisticSample(UnitSample):
    """Rows, or clusters of rows, whose resamples are passed to functions as copies."""

    def __init__(self, arrays: list[NDArray[Any]], functions: Mapping[str, Statistic], groups: Any) -> None:
        self._arrays, self._functions = arrays, functions
        if groups is not None:
            check_same_length(data=arrays[0], groups=groups)
        units = SamplingUnits.number(len(arrays[0]), groups, None)
        self._unit_by_row = units.unit_by_row if units.grouped else None
        super().__init__(units, len(arrays[0]))
        self._values = self._call(np.arange(len(arrays[0])))

    def estimates(self) -> Values:
        """Return each statistic of the rows themselves."""
        return self._values

    def workspace(self) -> Any:
        """Return arrays for how often each unit, and each row of a cluster, is drawn."""
        n = len(self._arrays[0])
        return self.times(), None if self._unit_by_row is None else zero_bytes(n)[:n]

    def task_size(self) -> int:
        """Return the number of replicates per task."""
        return SLOW_PER_TASK

    def measure(self, draws: Iterable[NDArray[Any]], n: int, space: Any) -> Values:
        """Return each statistic of n draws."""
        results = [np.empty((n, *each.shape)) for each in self._values]
        numbers = np.arange(len(self._arrays[0]))
        for k, times in enumerate(draws):
            drawn = times[: numbers.size]
            if self._unit_by_row is not None:
                drawn = space[1]
                take_drawn(times, self._unit_by_row, drawn)
            rows = np.repeat(numbers, drawn)
            for result, value in zip(results, self._call(rows), strict=True):
                result[k] = value
        return results

    def _call(self, rows: NDArray[Any]) -> list[Floats]:
        """Return each statistic of these rows; each function has its own copies, which it may change."""
        values = [
            _as_value(f"statistic {name!r}", function(*(each[rows] for each in self._arrays)))
            for name, function in self._functions.items()
        ]
        for name, value, first in zip(self._functions, values, getattr(self, "_values", values), strict=True):
            if value.shape != first.shape:
                raise ValueError(
                    f"statistic {name!r} must return the same shape for each resample, got {value.shape} after "
                    f"{first.shape}"
                )
        return values


# Checks ---------------------------------------------------------------------------------------------------------------


def _as_rows(name: str, data: Any) -> list[NDArray[Any]]:
    """Return the arrays whose rows are resampled."""
    named = {f"{name}[{k}]": each for k, each in enumerate(data)} if isinstance(data, tuple) else {name: data}
    if not named:
        raise ValueError(f"{name} is empty: it must hold at least one array")
    arrays = {key: as_array(key, each) for key, each in named.items()}
    for key, each in arrays.items():
        if not each.ndim:
            raise ValueError(f"{key} must be an array with rows, got {show(each.tolist())}")
    check_same_length(**arrays)
    found = list(arrays.values())
    check_resampled_rows(name, len(found[0]))
    if len(found[0]) < 2:
        raise ValueError(f"{name} must have at least two rows to resample, got one")
    return found


def _as_functions(name: str, statistic: Any) -> dict[str, Statistic]:
    """Return the functions, keyed by their names in results."""
    named = statistic if isinstance(statistic, Mapping) else {getattr(statistic, "__name__", "statistic"): statistic}
    for each in named.values():
        if not callable(each):
            raise ValueError(f"{name} must be a function or a mapping of names to functions, got {show(each)}")
    if not named:
        raise ValueError(f"{name} is empty: it must hold at least one function")
    return {str(key): each for key, each in named.items()}


def _as_value(name: str, given: Any) -> Floats:
    value = np.asarray(given)
    if value.dtype.kind not in "fiub":
        raise ValueError(f"{name} must return a number or an array of numbers, got {show(given)}")
    return value.astype(np.float64)
