"""Rank rows with NumPy, so that a process with only few rows neither loads nor compiles kernels.

Importing numba and loading the kernels takes 0.2 s, compiling them 2 s. NumPy ranks 1,000 rows in 50 us, a kernel in 35
us. While the kernels are not on disk, NumPy ranks more rows, since it ranks a million in a tenth of the time that
compiling takes. Results are the same to the bit.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._kernels.partition import FINE_CELLS
from fastevals._kernels.sorting import sort_keys

PROCESS_ROWS = 1 << 16  # rows ranked by a process, above which loading kernels soon pays off
LEAST_ROWS = 1 << 8  # a shorter call counts as this many rows, because it takes as long

UNCOMPILED_ROWS = 1 << 20  # rows ranked by a process while the kernels are not on disk
UNCOMPILED_CALL = (1 << 18) - 1  # rows of one call, above which it waits for the compiler (and keys may be narrow)

_ranked = [0]  # rows ranked so far


def spares_kernels(rows: int) -> bool:
    """Return whether NumPy should rank these rows; if so, add them to the rows ranked so far."""
    total = _ranked[0] + max(rows, LEAST_ROWS)
    if total > PROCESS_ROWS:
        most = UNCOMPILED_ROWS if PROCESS_ROWS and rows <= UNCOMPILED_CALL else 0
        if total > most or sort_keys.is_kept():
            return False
    _ranked[0] = total
    return True


def sort_marked(
    keys: NDArray[np.uint64], flags: NDArray[np.uint8], fit: tuple[Any, ...], n_buckets: int
) -> tuple[NDArray[np.uint64], NDArray[np.int64], list[list[int]]]:
    """Sort keys, each marked with its class, into two slots per bucket, and rank them.

    Parameters
    ----------
    keys, flags : ndarray of shape (n_samples,)
        The rows' keys, and 1 for positives.
    fit, n_buckets : tuple and int
        The map from keys to buckets, as `find_slots` takes it.

    Returns
    -------
    marked : ndarray of shape (n_samples,)
        Keys without their upper bit, ascending within slots, with the class as the lowest bit.
    starts : ndarray of shape (n_slots + 1,)
        Where the slots start; of a bucket, keys whose upper bit is 0 come first.
    ranked : list of three lists of n_slots
        One number per slot in each list: twice the Mann-Whitney U, the distinct keys, the positives.
    """
    upper = keys >> np.uint64(63) == 1
    marked = keys << np.uint64(1) | flags
    halves = np.sort(marked[~upper]), np.sort(marked[upper])
    ordered = [marked >> np.uint64(1) | np.uint64(half << 63) for half, marked in enumerate(halves)]
    slots = [2 * _bucket_of(each, *fit).astype(np.intp) + half for half, each in enumerate(ordered)]
    starts = np.searchsorted(np.concatenate(slots), np.arange(2 * n_buckets + 1))
    marked = np.concatenate(halves)
    ranked = [rank_marked(marked[start:stop]) for start, stop in pairwise(starts.tolist())]
    return marked, starts, [list(each) for each in zip(*ranked, strict=True)]


def _bucket_of(
    keys: NDArray[np.uint64],
    low: np.uint64,
    shift: np.uint64,
    table: NDArray[np.uint8],
    cut: int,
    lows: NDArray[np.uint64],
    shifts: NDArray[np.uint64],
    starts: NDArray[np.uintp],
    fine: NDArray[np.uint8],
) -> NDArray[np.uint8]:
    """Return the bucket of each key, as the kernel `find_slots` does."""
    found: NDArray[np.uint8] = table[np.minimum((np.maximum(keys, low) - low) >> shift, np.uint64(table.size - 1))]
    if not cut:
        return found
    own = lows[found]
    cells = np.minimum((np.maximum(keys, own) - own) >> shifts[found], np.uint64(FINE_CELLS - 1))
    found = fine[starts[found] + cells]
    return found


def sweep_marked(
    marked: NDArray[np.uint64],
    starts: NDArray[np.int64],
    first: int,
    last: int,
    tp: int,
    fp: int,
    flip_below: np.int64,
    flip: np.int64,
    step: int,
    bits: NDArray[np.int64],
    tps: NDArray[np.int64],
    fps: NDArray[np.int64],
) -> None:
    """Do the work of the kernel `sweep_slots` with NumPy."""
    sizes, upper = np.diff(starts[first : last + 1]), np.arange(first, last, dtype=np.uint64) << np.uint64(63)
    marks = marked[starts[first] : starts[last]][::-1]
    keys = (marks >> np.uint64(1) | np.repeat(upper, sizes)[::-1]).view(np.int64)
    rows = np.flatnonzero(np.append(keys[1:] != keys[:-1], True)) if keys.size else np.arange(0)
    positives = np.cumsum(marks & np.uint64(1), dtype=np.int64)[rows]
    values = keys[rows] ^ flip
    bits[::step] = values ^ (values >> np.int64(63) & flip_below)
    tps[::step], fps[::step] = tp + positives, fp + rows + 1 - positives


def fit_cells(
    sample: NDArray[np.uint64], first: int, n_buckets: int, cells: NDArray[np.uint8]
) -> tuple[np.uint64, np.uint64]:
    """Do the work of the kernel `fit_cells` with NumPy."""
    m = sample.size
    low = sample[m // 500]
    shift = np.uint64(max(int(sample[m - 1 - m // 500] - low).bit_length() - (cells.size.bit_length() - 1), 0))
    seen = np.searchsorted((np.maximum(sample, low) - low) >> shift, np.arange(cells.size, dtype=np.uint64))
    cells[:] = first + np.minimum(seen, m - 1) * n_buckets // m
    return low, shift


def fit_buckets(
    sample: NDArray[np.uint64],
    n_buckets: int,
    table: NDArray[np.uint8],
    lows: NDArray[np.uint64],
    shifts: NDArray[np.uint64],
    starts: NDArray[np.uintp],
    fine: NDArray[np.uint8],
) -> tuple[np.uint64, np.uint64, int]:
    """Do the work of the kernel `fit_buckets` with NumPy."""
    low, shift = fit_cells(sample, 0, n_buckets, table)
    lows[:n_buckets], shifts[:n_buckets] = ~np.uint64(0), 0
    starts[:n_buckets] = fine[:n_buckets] = np.arange(n_buckets)
    ends = np.searchsorted((np.maximum(sample, low) - low) >> shift, np.arange(1, table.size + 1, dtype=np.uint64))
    begins = np.append(0, ends[:-1])
    buckets = np.append(table, n_buckets).astype(np.int64)
    entry = n_buckets
    for cell in np.flatnonzero((np.diff(buckets) > 1) & (ends > begins)).tolist():
        table[cell] = entry
        starts[entry] = n_buckets + (entry - n_buckets) * FINE_CELLS
        cells = fine[starts[entry] : starts[entry] + np.uintp(FINE_CELLS)]
        within, bucket = sample[begins[cell] : ends[cell]], int(buckets[cell])
        lows[entry], shifts[entry] = fit_cells(within, bucket, int(buckets[cell + 1]) - bucket, cells)
        entry += 1
    return low, shift, entry - n_buckets


def rank_marked(marked: NDArray[np.uint64]) -> tuple[int, int, int]:
    """Do the work of the kernel `rank_marked` with NumPy, for ascending marked keys."""
    if not marked.size:
        return 0, 0, 0
    last = np.append(np.flatnonzero((marked[1:] ^ marked[:-1]) > 1), marked.size - 1)  # row of each distinct key
    tps = np.cumsum(marked & np.uint64(1), dtype=np.int64)[last]
    fps = last + 1 - tps
    up_to_and_below = fps + np.append(0, fps[:-1])
    return int(np.diff(tps, prepend=0) @ up_to_and_below), last.size, int(tps[-1])
