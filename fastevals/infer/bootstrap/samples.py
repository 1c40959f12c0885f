"""What can be resampled: the one loop over replicates, values with rows left out, and draws of rows by the cell."""

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

GROUPS = 160  # that rows are left out by, where there are more cells: of the acceleration's error it makes 0.0026
CELLS_PER_TASK = 1 << 22  # cells that one task draws: about 10 ms
MOST_PER_TASK, SLOW_PER_TASK = 256, 8  # replicates of one task, and of one with a metric that has no kernel
DIGITS_OF_DRAWS = 50  # of weights: 3 bits are left for a draw of more than the rows
LEAVE_OUT = np.uint64(2**63)  # a stream that no replicate has


class Sample:
    """Rows in cells, or units with names, and metrics of a draw of them: the base of all samples.

    A kind of sample says how to draw (`draws`) and how to measure a draw (`measure`); the loop over replicates and the
    accelerations follow.
    """

    sizes: NDArray[Any]  # rows, or groups of rows, of each cell
    strata: list[slice]  # cells of which as many rows as they have are drawn by themselves
    labels: NDArray[Any] | None = None  # the classes of predicted labels, in the order of matrices
    pos_label: Any = None  # the positive class, where there is one
    class_sizes: tuple[int, int] | None = None  # positive and negative rows, where the sample is of scores

    # What each kind of sample defines ----------------------------------------------------------------------------

    def estimates(self) -> Values:
        """Return each metric of the rows themselves."""
        raise NotImplementedError

    def workspace(self) -> Any:
        """Return the working memory of one thread."""
        return None

    def draws(self, key: np.uint64, numbers: range, space: Any) -> Iterable[NDArray[Any]]:
        """Return how many rows of each cell each replicate has; an array may be written anew for the next."""
        raise NotImplementedError

    def measure(self, draws: Iterable[NDArray[Any]], n: int, space: Any) -> Values:
        """Return each metric of n draws, of shape (n, ...)."""
        raise NotImplementedError

    def task_size(self) -> int:
        """Return the replicates of one task, by the data alone."""
        return max(1, min(CELLS_PER_TASK // max(self.sizes.size, 1), MOST_PER_TASK))

    def load(self, key: np.uint64) -> None:
        """Load what replicates need: if Ctrl-C came while threads wait for the compiler, they might wait for ever."""
        space = self.workspace()
        self.measure(self.draws(key, range(1), space), 1, space)

    def closed_form_acceleration(self, metric: int) -> NDArray[np.float64] | None:
        """Return the acceleration of a metric whose values without one row have a closed form."""
        return None

    def draw_groups(self, key: np.uint64, part: slice) -> Any:
        """Return what tells `without_group` which of GROUPS random groups the rows of a stratum are in."""
        return key

    def without_group(self, key: Any, number: int, part: slice) -> NDArray[Any]:
        """Return the rows of each cell of a stratum without a group of them."""
        counts = np.empty_like(self.sizes[part])
        leave_group_out(self.sizes[part], key, GROUPS, number, counts)
        return counts

    # What all share ----------------------------------------------------------------------------------------------

    def replicates(self, n_resamples: int, key: np.uint64, *, progress: bool = False) -> Values:
        """Draw as many rows as there are, again and again, and measure each draw.

        Returns an array of shape (n_resamples, ...) for each metric, NaN where undefined: the same bits whatever the
        number of resamples and threads.
        """
        size = self.task_size()
        self.load(key)

        def measured(start: int, space: Any) -> Values:
            numbers = range(start, min(start + size, n_resamples))
            return self.measure(self.draws(key, numbers, space), len(numbers), space)

        parts = run(measured, range(0, n_resamples, size), workspace=self.workspace, progress=progress)
        return [np.concatenate(part) for part in zip(*parts, strict=True)]

    def accelerations(self, key: np.uint64, metrics: Iterable[int]) -> dict[int, NDArray[np.float64]]:
        """Return BCa's acceleration of metrics.

        Where there is no closed form, one row of each cell is left out, or random groups of rows where cells are many.
        """
        accelerations = {k: self.closed_form_acceleration(k) for k in metrics}
        if any(each is None for each in accelerations.values()):
            strata = sum(self.sizes[part].any() for part in self.strata)
            few = np.count_nonzero(self.sizes) <= GROUPS * strata
            left = self._one_left_out() if few else self._groups_left_out(np.uint64(stream_key(key, LEAVE_OUT)))
            open_form = [k for k, each in accelerations.items() if each is None]
            accelerations.update({k: jackknife_acceleration(*left[k]) for k in open_form})
        return {k: each for k, each in accelerations.items() if each is not None}

    def _one_left_out(self) -> list[Jackknife]:
        """Return each metric without one row of each cell."""

        def without(cell: int) -> NDArray[Any]:
            counts = self.sizes.copy()
            counts[cell] -= 1
            return counts

        cells = np.flatnonzero(self.sizes)
        ends = [np.searchsorted(cells, (part.start, part.stop)).tolist() for part in self.strata]
        strata = [slice(*pair) for pair in ends]
        return [Jackknife(values, self.sizes[cells], strata) for values in self._measured_each(without, cells.tolist())]

    def _groups_left_out(self, key: np.uint64) -> list[Jackknife]:
        """Return each metric without each of GROUPS random groups of each stratum's rows: the delete-a-group jackknife.

        Kott, P. S. (2001), "The Delete-a-Group Jackknife", Journal of Official Statistics 17, 521-526. A group's
        influence is the sum of its rows', so their skewness over the root of their number is that of rows. What a
        metric owes to a group's size alone, a straight line in it, is taken off: rows have all the same.
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
    """Cells of weighted rows: each row is drawn a Poisson number of times, of mean 1, and keeps its weight.

    A cell of weight W whose squares add up to Q is drawn as a Poisson number of W^2 / Q rows of weight Q / W: right in
    mean and variance, and exact where its rows weigh the same. That a draw has as many rows as there are only on
    average is told by no metric of rates or shares.
    """

    def set_weights(self, weights: Floats, squares: Floats) -> None:
        """Take the sums of weights, and of their squares, of each cell."""
        units = np.divide(squares, weights, out=np.zeros_like(weights), where=weights > 0)
        # Multiples of a power of 2, of which draws have exact sums: no class has a rest of rounding for a row.
        power = 2.0 ** (math.frexp(weights.sum())[1] - DIGITS_OF_DRAWS)
        self._units = np.ceil(units / power) * power
        self._rows = np.divide(weights, self._units, out=np.zeros_like(weights), where=self._units > 0)
        self.sizes, self.strata = weights, [slice(0, weights.size)]

    def task_size(self) -> int:
        """Return the replicates of one task, by the data alone."""
        return table_size(self.sizes.size)

    def draws(self, key: np.uint64, numbers: range, space: Any) -> Iterator[NDArray[Any]]:
        """Return the weight of each cell in each replicate."""
        stream = batch_stream(key, numbers.start // self.task_size())
        for _ in numbers:
            yield stream.poisson(self._rows) * self._units

    def accelerations(self, key: np.uint64, metrics: Iterable[int]) -> dict[int, NDArray[np.float64]]:
        """Return BCa's acceleration of metrics: random groups of rows are left out."""
        left = self._groups_left_out(np.uint64(stream_key(key, LEAVE_OUT)))
        return {k: jackknife_acceleration(*left[k]) for k in metrics}

    def without_group(self, key: Any, number: int, part: slice) -> NDArray[Any]:
        """Return the weight of each cell without a random group."""
        rows = batch_stream(key, number).poisson(self._rows[part] / GROUPS)
        return np.asarray(np.maximum(self.sizes[part] - rows * self._units[part], 0.0))


class Jackknife(NamedTuple):
    """A metric with rows left out."""

    values: NDArray[np.float64]  # (n_cells, ...): without one row of each cell, or without each group of rows
    times: NDArray[Any]  # (n_cells,): how often each value counts
    strata: list[slice]  # the cells of each stratum


def jackknife_acceleration(values: Floats, times: NDArray[Any], strata: Sequence[slice] = (slice(None),)) -> Floats:
    """Return BCa's acceleration: a sixth of the skewness of the jackknife, over strata as SciPy adds them up.

    Parameters
    ----------
    values : ndarray of shape (n_cells, ...)
        The metric without one row of each cell; what is undefined is left out.
    times : ndarray of shape (n_cells,)
        Rows of the cells: each has that value.
    strata : sequence of slice
        The cells of each stratum.

    Returns
    -------
    ndarray of shape (...)
        0 if all values are equal, up to what is less than a normal float.
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
            continue  # of values that are all equal, no influence
        mean, share = float(sum((t * v).sum() for v, t in cells)) / n, 1 - 1 / n
        unit = max(unit, *(float(np.abs(v - mean).max()) * share for v, _ in cells))
        influences.append((cells, mean, share))
    if unit < np.finfo(np.float64).tiny:  # which can't be divided by; also without influences
        return 0.0
    squares, cubes = 0.0, 0.0
    for cells, mean, share in influences:
        for v, t in cells:
            influence = (mean - v) * (share / unit)  # in a unit, so that cubes neither over- nor underflow
            weighted = t * influence**2
            squares, cubes = squares + float(weighted.sum()), cubes + float((weighted * influence).sum())
    return cubes / (6 * squares**1.5) if squares > 0 else 0.0


def _defined_cells(values: Floats, times: NDArray[Any], part: slice) -> Iterator[tuple[Floats, Floats]]:
    """Return values and times of a stratum, where it has any, in blocks."""
    start, stop, _ = part.indices(values.size)
    for block in blocks(slice(start, stop)):
        v, t = values[block], times[block]
        defined = (t > 0) & np.isfinite(v)
        if not defined.all():
            v, t = v[defined], t[defined]
        if v.size:
            yield np.ascontiguousarray(v), t.astype(np.float64)


def _linear_part(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the straight line through points, in its deviation from the mean; 0 where y is NaN."""
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
    """Rows in cells; a draw takes as many rows as there are, with replacement, and counts them by cell.

    Cells of few rows are drawn by pieces of them, at a cost that grows with rows; cells of many a binomial each.

    Parameters
    ----------
    sizes : ndarray of int of shape (n_cells,)
        Rows of each cell.
    rate : float, optional
        Mean of a row's Poisson count, below 1; 0 draws all rows one by one. What is drawn has the same distribution.
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
        """Write how many rows of each cell a draw takes: exactly multinomial, the same for the same key."""
        if self._large:
            draw_binomials(self.sizes, self.n, key, counts)
            return
        index = self._cells, self._starts, self._shift
        draw_cells(self.sizes, self.n, *index, self._tables, self._guides, key, counts)

    def __repr__(self) -> str:
        return f"CellSampler({self.sizes.size} cells, {self.n} rows)"


MANY_ROWS = 500  # of a cell on average, from which a binomial each is faster: 50 ns; of pieces it is 0.1 a row
TOTAL_SIGMAS = (
    2.0  # a Poisson total is above n in 2 % of tries, and leaves 2 standard deviations of rows to draw one by one
)
FEWEST_ROWS = 16  # rows; fewer are drawn one by one
CELLS_PER_BLOCK = 16  # that the index from a row to its cell leaves to be walked through


def usual_rate(n: int) -> float:
    """Return the mean of a row's Poisson count that makes draws of n rows the fastest; 0 for few rows."""
    return 1 - TOTAL_SIGMAS / math.sqrt(n) if n >= FEWEST_ROWS else 0.0


@lru_cache(maxsize=8)
def poisson_tables(rate: float) -> tuple[NDArray[np.uint64], NDArray[np.uint8]]:
    """Return, for cells of 0 up to `LARGEST_PIECE` rows, cumulative probabilities (of 2**-64, less one) and guides.

    Only ratios of probabilities matter for what is drawn, given the total: 53 bits of them are exact.
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


RARE = 1e-12  # chances below it are drawn as Poisson's, for NumPy before 2.4 lost them beside 1: no one could tell
CELLS_TOGETHER = 1 << 18  # cells drawn together
MOST_TOGETHER = 5000  # replicates drawn together, half the usual number


def draw_tables(sizes: NDArray[np.int64], strata: Iterable[slice], number: int, key: np.uint64) -> NDArray[np.int64]:
    """Draw from each stratum as many rows as it has, with replacement, and count them anew.

    Parameters
    ----------
    sizes : ndarray of int64 of shape (n_cells,)
        Rows of each cell.
    strata : iterable of slice
        Cells that are drawn from by themselves.
    number : int
        Of the batch of `table_size` replicates: what is drawn depends on that size.
    key : uint64
        Of the stream.

    Returns
    -------
    ndarray of int64 of shape (table_size, n_cells)
        Exactly multinomial.
    """
    size = table_size(sizes.size)
    drawn = np.zeros((sizes.size, size), dtype=np.int64)  # sums over cells then run along replicates
    stream = batch_stream(key, number)
    for part in strata:
        stratum, out = sizes[part], drawn[part]
        left, rows = int(stratum.sum()), np.full(size, stratum.sum())
        # A binomial a cell, the rarest first: no rounding of a large share falls on a small one, or on an empty cell.
        for cell in np.argsort(stratum, kind="stable")[np.count_nonzero(stratum == 0) :].tolist():
            n = int(stratum[cell])
            out[cell] = _binomial(stream, rows, n / left) if n < left else rows
            rows, left = rows - out[cell], left - n
    return drawn.T


def table_size(n_cells: int) -> int:
    """Return the number of replicates that are drawn together, by the cells alone."""
    return max(1, min(CELLS_TOGETHER // max(n_cells, 1), MOST_TOGETHER))


def leave_out_table(sizes: NDArray[Any], number: int, key: np.uint64, n_groups: int) -> NDArray[Any]:
    """Return the rows of each cell without a random group of them, one of so many."""
    stream = batch_stream(key, number, 1)
    left_out = stream.binomial(sizes.astype(np.int64), 1 / n_groups)
    return np.asarray(sizes - left_out.astype(sizes.dtype))


def _binomial(stream: np.random.Generator, n: NDArray[np.int64], chance: float) -> NDArray[np.int64]:
    """Draw numbers of successes, of a chance that may be tiny: Poisson's distribution is within it of the binomial."""
    return stream.binomial(n, chance) if chance >= RARE else np.minimum(stream.poisson(n * chance), n)


def batch_stream(key: np.uint64, number: int, purpose: int = 0) -> np.random.Generator:
    """Return the generator of a batch."""
    return np.random.Generator(
        np.random.Philox(key=np.array([stream_key(key, np.uint64(number)), purpose], dtype=np.uint64))
    )
