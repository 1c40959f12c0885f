"""The base of all samples: the loop over replicates, leave-out values, and draws of rows by cell."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import blocks, run
from fastevals._kernels.draws import LARGEST_PIECE, draw_binomials, draw_cells
from fastevals._kernels.jackknife import leave_group_out
from fastevals._kernels.random import stream_key

Floats = NDArray[np.float64]
Values = list[Floats]

GROUPS = 160  # if there are more cells, random groups are left out; they add an error of 0.0026 to the acceleration
CELLS_PER_TASK = 1 << 22  # cells drawn per task: about 10 ms
MOST_PER_TASK, SLOW_PER_TASK = 256, 8  # replicates per task, and per task with a metric that has no kernel
DIGITS_OF_DRAWS = 50  # bits of the total weight; a float's other 3 bits are for draws with more rows
LEAVE_OUT = np.uint64(2**63)  # a stream that no replicate uses


class Sample:
    """Base class of samples: rows counted in cells, or units with an identity, that can be drawn and measured.

    Subclasses define how to draw (`draws`) and how to measure a draw (`measure`). This class has the loop over
    replicates and the accelerations.
    """

    sizes: NDArray[Any]  # rows, or clusters of rows, in each cell
    strata: list[slice]  # cells that are drawn separately, keeping their number of rows
    labels: NDArray[Any] | None = None  # the classes of predicted labels, in the order of matrices
    pos_label: Any = None  # the positive class, if there is one
    class_sizes: tuple[int, int] | None = None  # positive and negative rows (of the rarest of several classes)
    unit = "row"  # what is drawn

    # What subclasses define ----------------------------------------------------------------------------

    def estimates(self) -> Values:
        """Return each metric of the original rows."""
        raise NotImplementedError

    def workspace(self) -> Any:
        """Return the working memory of one thread."""
        return None

    def draws(self, key: np.uint64, numbers: range, space: Any) -> Iterable[NDArray[Any]]:
        """Yield the number of rows of each cell in each replicate; arrays may be reused for the next replicate."""
        raise NotImplementedError

    def measure(self, draws: Iterable[NDArray[Any]], n: int, space: Any) -> Values:
        """Return each metric of n draws, of shape (n, ...)."""
        raise NotImplementedError

    def task_size(self) -> int:
        """Return the number of replicates per task, which depends only on the data."""
        return max(1, min(CELLS_PER_TASK // max(self.sizes.size, 1), MOST_PER_TASK))

    def load(self, key: np.uint64) -> None:
        """Load compiled code before threads start: threads that wait for the compiler could hang on Ctrl-C."""
        space = self.workspace()
        self.measure(self.draws(key, range(1), space), 1, space)

    def closed_form_acceleration(self, metric: int) -> NDArray[np.float64] | None:
        """Return the acceleration of a metric whose leave-one-out values have a closed form."""
        return None

    def errors_by_chance(self, key: np.uint64) -> dict[int, Floats]:
        """Return draws of calibration errors that are 0 in truth, by the number of the metric."""
        return {}

    def draw_groups(self, key: np.uint64, part: slice) -> Any:
        """Return the assignment of a stratum's rows to GROUPS random groups, for `without_group`."""
        return key

    def without_group(self, key: Any, number: int, part: slice) -> NDArray[Any]:
        """Return the number of rows in each cell of a stratum, without one group."""
        counts = np.empty_like(self.sizes[part])
        leave_group_out(self.sizes[part], key, GROUPS, number, counts)
        return counts

    # What all samples share ------------------------------------------------------------------------------------------

    @property
    def n_units(self) -> int:
        """Number of rows, or of clusters if these are drawn."""
        return int(self.sizes.sum())

    def replicates(self, n_resamples: int, key: np.uint64, *, progress: bool = False) -> Values:
        """Repeatedly draw as many rows as there are, and measure each draw.

        Returns an array of shape (n_resamples, ...) for each metric, NaN where undefined. The bits do not depend on the
        number of resamples or threads.
        """
        return self._measure_draws(self.draws, 1, n_resamples, key, progress)

    def _measure_draws(
        self, draws: Callable[..., Iterable[NDArray[Any]]], per_replicate: int, n: int, key: np.uint64, progress: bool
    ) -> Values:
        """Measure the draws of n replicates; `draws` yields `per_replicate` arrays for each of them."""
        size = self.task_size()
        self.load(key)

        def measured(start: int, space: Any) -> Values:
            numbers = range(start, min(start + size, n))
            return self.measure(draws(key, numbers, space), per_replicate * len(numbers), space)

        parts = run(measured, range(0, n, size), workspace=self.workspace, progress=progress)
        return [np.concatenate(part) for part in zip(*parts, strict=True)]

    def accelerations(self, key: np.uint64, metrics: Iterable[int]) -> dict[int, NDArray[np.float64]]:
        """Return BCa's acceleration for each metric.

        If there is no closed form, one row of each cell is left out in turn, or random groups of rows if there are many
        cells.
        """
        accelerations = {k: self.closed_form_acceleration(k) for k in metrics}
        if any(each is None for each in accelerations.values()):
            left = self.left_out(key)
            open_form = [k for k, each in accelerations.items() if each is None]
            accelerations.update({k: jackknife_acceleration(*left[k]) for k in open_form})
        return {k: each for k, each in accelerations.items() if each is not None}

    def left_out(self, key: np.uint64) -> list[Jackknife]:
        """Return each metric with rows left out in turn: one of each cell or, with many cells, random groups."""
        strata = sum(self.sizes[part].any() for part in self.strata)
        few = np.count_nonzero(self.sizes) <= GROUPS * strata
        return self._one_left_out() if few else self._groups_left_out(np.uint64(stream_key(key, LEAVE_OUT)))

    def _one_left_out(self) -> list[Jackknife]:
        """Return each metric, leaving out one row of each cell in turn."""

        def without(cell: int) -> NDArray[Any]:
            counts = self.sizes.copy()
            counts[cell] -= 1
            return counts

        cells = np.flatnonzero(self.sizes)
        ends = [np.searchsorted(cells, (part.start, part.stop)).tolist() for part in self.strata]
        strata = [slice(*pair) for pair in ends]
        return [Jackknife(values, self.sizes[cells], strata) for values in self._measured_each(without, cells.tolist())]

    def _groups_left_out(self, key: np.uint64) -> list[Jackknife]:
        """Return each metric, leaving out each of GROUPS random groups per stratum: the delete-a-group jackknife.

        Kott, P. S. (2001), "The Delete-a-Group Jackknife", Journal of Official Statistics 17, 521-526. A group's
        influence is the sum of its rows' influences. So skewness divided by the square root of the number (of groups or
        of rows) is the same for groups and for rows. Unlike rows, groups differ in size, so the linear effect of a
        group's size is subtracted.
        """
        strata = [(k, part) for k, part in enumerate(self.strata) if self.sizes[part].any()]
        left = np.empty((len(strata), GROUPS))
        groups = [self.draw_groups(np.uint64(stream_key(key, np.uint64(k))), part) for k, part in strata]

        def without(number: int) -> NDArray[Any]:
            (k, group), part = divmod(number, GROUPS), strata[number // GROUPS][1]
            counts = self.sizes.copy()
            counts[part] = self.without_group(groups[k], group, part)
            left[k, group] = counts[part].sum(dtype=np.float64)
            return counts

        results = []
        parts = [slice(start, start + GROUPS) for start in range(0, left.size, GROUPS)]
        for values in self._measured_each(without, range(left.size)):
            for part, rows in zip(parts, left, strict=True):
                values[part] -= _linear_part(rows, values[part])
            results.append(Jackknife(values, np.ones(left.size, dtype=np.int64), parts))
        return results

    def _measured_each(self, draw: Callable[[int], NDArray[Any]], numbers: Sequence[int]) -> Values:
        size = self.task_size()

        def measured(start: int, space: Any) -> Values:
            part = numbers[start : start + size]
            return self.measure(map(draw, part), len(part), space)

        parts = run(measured, range(0, len(numbers), size), workspace=self.workspace)
        return [np.concatenate(part) for part in zip(*parts, strict=True)]


class WeightedDraws(Sample):
    """Cells of weighted rows: the number of draws of each row is Poisson with mean 1, and the row keeps its weight.

    From a cell with total weight W and sum of squared weights Q, rows of weight Q / W are drawn; their number is
    Poisson with mean W^2 / Q. The mean and variance of a cell's weight are then right; the distribution is exact if all
    rows of a cell have equal weights. The number of drawn rows equals the number of rows only on average, which does
    not affect metrics that are rates or shares.
    """

    def set_weights(self, weights: Floats, squares: Floats) -> None:
        """Set the sums of weights and squared weights of each cell."""
        units = np.divide(squares, weights, out=np.zeros_like(weights), where=weights > 0)
        # Weights are made multiples of a power of 2, so that sums of draws are exact and an empty class sums to 0.
        power = 2.0 ** (math.frexp(weights.sum())[1] - DIGITS_OF_DRAWS)
        self._units = np.ceil(units / power) * power
        self._rows = np.divide(weights, self._units, out=np.zeros_like(weights), where=self._units > 0)
        self.sizes, self.strata = weights, [slice(0, weights.size)]

    def task_size(self) -> int:
        """Return the number of replicates per task, which depends only on the data."""
        return table_size(self.sizes.size)

    def draws(self, key: np.uint64, numbers: range, space: Any) -> Iterator[NDArray[Any]]:
        """Yield the weight of each cell in each replicate."""
        stream = batch_stream(key, numbers.start // self.task_size())
        for _ in numbers:
            yield stream.poisson(self._rows) * self._units

    def accelerations(self, key: np.uint64, metrics: Iterable[int]) -> dict[int, NDArray[np.float64]]:
        """Return BCa's acceleration for each metric, leaving out random groups of rows."""
        left = self._groups_left_out(np.uint64(stream_key(key, LEAVE_OUT)))
        return {k: jackknife_acceleration(*left[k]) for k in metrics}

    def without_group(self, key: Any, number: int, part: slice) -> NDArray[Any]:
        """Return the weight of each cell, without one random group."""
        rows = batch_stream(key, number).poisson(self._rows[part] / GROUPS)
        return np.asarray(np.maximum(self.sizes[part] - rows * self._units[part], 0.0))


class Jackknife(NamedTuple):
    """Values of a metric with rows left out."""

    values: NDArray[np.float64]  # (n_cells, ...): leaving out one row of each cell, or each group of rows
    times: NDArray[Any]  # (n_cells,): multiplicity of each value
    strata: list[slice]  # the cells of each stratum


def jackknife_acceleration(values: Floats, times: NDArray[Any], strata: Sequence[slice] = (slice(None),)) -> Floats:
    """Return BCa's acceleration: a sixth of the skewness of the jackknife, combined over strata as in SciPy.

    Parameters
    ----------
    values : ndarray of shape (n_cells, ...)
        The metric without one row of each cell in turn; undefined values are dropped.
    times : ndarray of shape (n_cells,)
        Number of rows in each cell; leaving out any of them gives the cell's value.
    strata : sequence of slice
        The cells of each stratum.

    Returns
    -------
    ndarray of shape (...)
        The acceleration; 0 if all values are equal, or differ by less than the smallest normal float.
    """
    columns = values.reshape(values.shape[0], -1).T
    accelerations = [_acceleration(column, times, strata) for column in columns]
    return np.reshape(accelerations, values.shape[1:])


def _acceleration(values: Floats, times: NDArray[Any], strata: Sequence[slice]) -> float:
    influences, unit = [], 0.0
    for part in strata:
        cells = list(_defined_cells(values, times, part))
        n = float(sum(t.sum() for _, t in cells))
        if not cells or min(v.min() for v, _ in cells) == max(v.max() for v, _ in cells):
            continue  # all values are equal: no influence
        mean, share = float(sum((t * v).sum() for v, t in cells)) / n, 1 - 1 / n
        unit = max(unit, *(float(np.abs(v - mean).max()) * share for v, _ in cells))
        influences.append((cells, mean, share))
    if unit < np.finfo(np.float64).tiny:  # too small to divide by, or 0 because there are no influences
        return 0.0
    squares, cubes = 0.0, 0.0
    for cells, mean, share in influences:
        for v, t in cells:
            influence = (mean - v) * (share / unit)  # scaled, so that cubes neither overflow nor underflow
            weighted = t * influence**2
            squares, cubes = squares + float(weighted.sum()), cubes + float((weighted * influence).sum())
    return cubes / (6 * squares**1.5) if squares > 0 else 0.0


def _defined_cells(values: Floats, times: NDArray[Any], part: slice) -> Iterator[tuple[Floats, Floats]]:
    """Yield the defined values of a stratum and their multiplicities, in blocks."""
    start, stop, _ = part.indices(values.size)
    for block in blocks(slice(start, stop)):
        v, t = values[block], times[block]
        defined = (t > 0) & np.isfinite(v)
        if not defined.all():
            v, t = v[defined], t[defined]
        if v.size:
            yield np.ascontiguousarray(v), t.astype(np.float64)


def _linear_part(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the values of a line fitted to points, minus their mean; 0 where y is NaN."""
    x = (x - x.mean()).reshape(-1, *[1] * (y.ndim - 1))
    defined = np.isfinite(y)
    x, y = np.where(defined, x, 0.0), np.where(defined, y, 0.0)
    n = np.maximum(defined.sum(axis=0), 1)
    x, y = np.where(defined, x - x.sum(axis=0) / n, 0.0), np.where(defined, y - y.sum(axis=0) / n, 0.0)
    squares = (x * x).sum(axis=0)
    return x * np.where(squares > 0, (x * y).sum(axis=0) / np.where(squares > 0, squares, 1), 0.0)


# How cells are drawn --------------------------------------------------------------------------------------------------
Counts = NDArray[np.uint16] | NDArray[np.int32] | NDArray[np.int64]


class CellSampler:
    """Draws as many rows as there are, with replacement, and counts them by cell.

    Small cells are drawn in pieces, at a cost that grows with the rows; large cells are drawn as binomials.

    Parameters
    ----------
    sizes : ndarray of int of shape (n_cells,)
        Rows of each cell.
    rate : float, optional
        Mean of a row's Poisson count, below 1; with 0, all rows are drawn one by one. The rate does not change the
        distribution of draws.
    """

    __slots__ = ("_cells", "_guides", "_large", "_shift", "_starts", "_tables", "n", "sizes")

    def __init__(self, sizes: Counts, rate: float | None = None) -> None:
        self.sizes = np.ascontiguousarray(sizes)
        ends = np.cumsum(sizes, dtype=np.int64)
        self.n = int(ends[-1])
        self._large = self.n > MANY_ROWS * np.count_nonzero(sizes)
        if self._large:
            return
        self._tables, self._guides = poisson_tables(usual_rate(self.n) if rate is None else rate)
        self._shift = (self.n * CELLS_PER_BLOCK // sizes.size).bit_length()
        starts = np.arange((self.n >> self._shift) + 1) << self._shift
        self._cells = np.searchsorted(ends, starts, side="right")
        self._starts = np.append(0, ends)[self._cells]

    def draw(self, key: np.uint64, counts: Counts) -> None:
        """Write the number of drawn rows of each cell: exactly multinomial, and determined by the key."""
        if self._large:
            draw_binomials(self.sizes, self.n, key, counts)
            return
        index = self._cells, self._starts, self._shift
        draw_cells(self.sizes, self.n, *index, self._tables, self._guides, key, counts)

    def __repr__(self) -> str:
        return f"CellSampler({self.sizes.size} cells, {self.n} rows)"


MANY_ROWS = 500  # mean rows per cell above which binomials are faster: 50 ns per cell against 0.1 ns per row
TOTAL_SIGMAS = 2.0  # the mean Poisson total is 2 standard deviations below n; the total exceeds n in 2 % of tries
FEWEST_ROWS = 16  # rows; fewer are drawn one by one
CELLS_PER_BLOCK = 16  # cells to scan after an index has found the block of a row's cell


def usual_rate(n: int) -> float:
    """Return the mean Poisson count per row for which draws of n rows are fastest; 0 for few rows."""
    return 1 - TOTAL_SIGMAS / math.sqrt(n) if n >= FEWEST_ROWS else 0.0


@lru_cache(maxsize=8)
def poisson_tables(rate: float) -> tuple[NDArray[np.uint64], NDArray[np.uint8]]:
    """Return cumulative Poisson probabilities and where to start the search in them, by rows of a cell.

    Cells have 0 to `LARGEST_PIECE` rows. Probabilities are in units of 2**-64, minus 1. The second array has, for each
    value of a random number's first 8 bits, the count at which to start the search.

    Given the total, draws depend only on ratios of probabilities, which are exact to 53 bits.
    """
    if not rate:
        return np.empty((0, 0), dtype=np.uint64), np.empty((0, 0), dtype=np.uint8)
    from scipy.special import pdtr

    means = rate * np.arange(LARGEST_PIECE + 1)
    counts = np.arange(LARGEST_PIECE + 12 * math.isqrt(LARGEST_PIECE) + 40)
    cumulative = pdtr(counts, means[:, None])
    tables = np.full(cumulative.shape, 2**64 - 1, dtype=np.uint64)
    below = cumulative < 1
    tables[below] = np.ldexp(cumulative[below], 64).astype(np.uint64) - np.uint64(1)
    starts = np.arange(256, dtype=np.uint64) << np.uint64(56)
    guides = np.stack([np.searchsorted(table, starts) for table in tables])
    return tables, guides.astype(np.uint8)


RARE = 1e-12  # smaller probabilities are drawn as Poisson: NumPy before 2.4 lost them
CELLS_TOGETHER = 1 << 18  # cells drawn in one batch
MOST_TOGETHER = 5000  # replicates drawn in one batch: half of the usual 9,999


def draw_tables(sizes: NDArray[np.int64], strata: Iterable[slice], number: int, key: np.uint64) -> NDArray[np.int64]:
    """Draw from each stratum as many rows as it has, with replacement, and count them by cell.

    Parameters
    ----------
    sizes : ndarray of int64 of shape (n_cells,)
        Rows of each cell.
    strata : iterable of slice
        Cells that are drawn separately.
    number : int
        Number of the batch; each batch has `table_size` replicates, and draws depend on that size.
    key : uint64
        Key of the random stream.

    Returns
    -------
    ndarray of int64 of shape (table_size, n_cells)
        Exactly multinomial counts.
    """
    size = table_size(sizes.size)
    drawn = np.zeros((sizes.size, size), dtype=np.int64)  # so that sums over cells run along replicates
    stream = batch_stream(key, number)
    for part in strata:
        stratum, out = sizes[part], drawn[part]
        left, rows = int(stratum.sum()), np.full(size, stratum.sum())
        # One binomial per cell, rarest first, so that rounding of large shares does not affect small or empty cells.
        for cell in np.argsort(stratum, kind="stable")[np.count_nonzero(stratum == 0) :].tolist():
            n = int(stratum[cell])
            out[cell] = _binomial(stream, rows, n / left) if n < left else rows
            rows, left = rows - out[cell], left - n
    return drawn.T


def table_size(n_cells: int) -> int:
    """Return the number of replicates per batch, which depends on the cells only."""
    return max(1, min(CELLS_TOGETHER // max(n_cells, 1), MOST_TOGETHER))


def leave_out_table(sizes: NDArray[Any], number: int, key: np.uint64, n_groups: int) -> NDArray[Any]:
    """Return the number of rows in each cell, without one of `n_groups` random groups."""
    stream = batch_stream(key, number, 1)
    left_out = stream.binomial(sizes.astype(np.int64), 1 / n_groups)
    return np.asarray(sizes - left_out.astype(sizes.dtype))


def _binomial(stream: np.random.Generator, n: NDArray[np.int64], chance: float) -> NDArray[np.int64]:
    """Draw binomial numbers of successes; tiny probabilities use the Poisson distribution, which is as accurate."""
    return stream.binomial(n, chance) if chance >= RARE else np.minimum(stream.poisson(n * chance), n)


def batch_stream(key: np.uint64, number: int, purpose: int = 0) -> np.random.Generator:
    """Return the generator of a batch."""
    return np.random.Generator(
        np.random.Philox(key=np.array([stream_key(key, np.uint64(number)), purpose], dtype=np.uint64))
    )
