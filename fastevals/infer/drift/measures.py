"""PSI, the Kolmogorov-Smirnov distance and the Wasserstein distance of two samples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._distinct import sorted_union
from fastevals._execution import chunks, run
from fastevals._kernels.distances import sweep_distances
from fastevals._options import python_number
from fastevals.counts import read_only_as
from fastevals.infer.drift.samples import ScoreSample

Floats = NDArray[np.float64]
Pair = tuple[ScoreSample, ScoreSample]

ROUNDED_SHARE = 1e-12  # a smaller difference of sums of weights is a rounding error
FEW_SCORES = 1 << 13  # of both samples, up to which NumPy takes less time than loading a kernel


class Psi(NamedTuple):
    """The population stability index, with its terms and its slopes with respect to the shares of rows in each bin."""

    value: float
    terms: Floats
    slopes: tuple[Floats, Floats]
    n_empty: int  # counts that are 0

    @classmethod
    def of(cls, binned: Pair) -> Psi:
        """Return the PSI of two samples with one score per bin; an empty bin counts as half a row."""
        today, yesterday = (each.shares for each in binned)
        p, q = (_filled(share, each) for share, each in zip((today, yesterday), binned, strict=True))
        terms, ratios = (p - q) * np.log(p / q), np.log(p / q)
        slopes = ratios + 1 - q / p, 1 - p / q - ratios
        return cls(float(terms.sum()), terms, slopes, int((today == 0).sum() + (yesterday == 0).sum()))


def _filled(shares: Floats, sample: ScoreSample) -> Floats:
    rows = sample.effective_rows
    return np.where(shares == 0, 0.5 / (shares.size if math.isnan(rows) else rows), shares)


class Distances(NamedTuple):
    """The two distances of the distribution functions."""

    ks: float
    ks_threshold: Any
    wasserstein: float
    wasserstein_standard_error: float


def distances(samples: Pair) -> Distances:
    """Return the distances of two samples; the Wasserstein distance is NaN if scores are known in ranges."""
    is_plain = all(
        each.clusters is None and not each.is_weighted and each.scores.dtype == np.float64 for each in samples
    )
    are_many = sum(each.scores.size for each in samples) > FEW_SCORES
    found = (_distances_of_rows if is_plain and are_many else _distances_of_bins)(samples)
    if any(each.doubt for each in samples):
        return found._replace(wasserstein=math.nan, wasserstein_standard_error=math.nan)
    return found


def _distances_of_rows(samples: Pair) -> Distances:
    """Merge the two samples in a kernel; rows are independent and have no weights."""
    x, y = samples
    totals = np.array([float(x.total), float(y.total)])
    columns = [read_only_as(each, np.dtype(np.float64)) for each in (x.scores, _rows(x), y.scores, _rows(y))]
    wide = max(samples, key=lambda each: each.scores.size).scores
    starts = wide[[part.start for part in chunks(wide.size)][1:]]
    places = np.stack([np.concatenate(([0], np.searchsorted(s.scores, starts), [s.scores.size])) for s in samples])
    rows = np.stack([each.up_to(at) for each, at in zip(samples, places, strict=True)]).astype(np.float64)
    lowest = min(x.scores[0], y.scores[0])

    def sweep(k: int) -> list[float]:
        ends = places[:, k : k + 2].ravel()
        before = [each.scores[at - 1] for each, at in zip(samples, places[:, k].tolist(), strict=True) if at]
        sums = np.empty(8)
        sweep_distances(*columns, ends, rows[:, k].copy(), totals, max(before, default=lowest), sums)
        return sums.tolist()

    parts = run(sweep, range(places.shape[1] - 1), compiles="drift")
    largest = max(part[0] for part in parts)
    threshold = max(part[1] for part in parts if part[0] == largest)
    offset, moments = 0.0, np.zeros((2, 2))  # of signed distances from the lowest score
    with np.errstate(over="ignore", invalid="ignore"):  # scores near the largest float
        for (_, _, _, signed, *sums), n in zip(parts, np.diff(rows, axis=1).T, strict=True):
            first, second = np.reshape(sums, (2, 2)).T
            moments += first + offset * n, second + offset * (2 * first + offset * n)
            offset += signed
        means, squares = moments / totals
        error = math.sqrt(np.sum(np.maximum(squares - means**2, 0.0) / totals))
    return Distances(largest / math.prod(totals.tolist()), threshold, math.fsum(part[2] for part in parts), error)


def _rows(sample: ScoreSample) -> NDArray[Any]:
    return np.empty(0) if sample.masses is None else sample.masses


def _distances_of_bins(samples: Pair) -> Distances:
    """Count the rows of both samples at each distinct score, and return the distances."""
    scores = sorted_union(*(each.scores for each in samples))
    binned = [each.binned(scores[:-1]) for each in samples]
    up_to_x, up_to_y = (np.cumsum(each.rows)[:-1] for each in binned)
    n, m = (float(each.total) for each in binned)
    if any(each.is_weighted for each in samples):
        gaps = up_to_x / n - up_to_y / m
        gaps[np.abs(gaps) < ROUNDED_SHARE] = 0.0
    else:
        gaps = (up_to_x * m - up_to_y * n) / (n * m)  # exact up to 2**53 pairs of rows
    largest = float(np.abs(gaps).max(initial=0.0))
    threshold = scores[1:][np.abs(gaps) == largest][-1] if largest else np.array(np.inf)
    with np.errstate(over="ignore", invalid="ignore"):  # scores near the largest float
        lengths = np.diff(scores)
        signed = np.concatenate(([0.0], np.cumsum(np.sign(gaps) * lengths))).astype(np.float64)
        error = standard_error(samples, scores[:-1], (signed, -signed))
    return Distances(largest, python_number(threshold), float(np.abs(gaps) @ lengths), error)


def standard_error(samples: Pair, edges: NDArray[Any], influences: Sequence[Floats]) -> float:
    """Return the standard error of a function of the shares of rows in bins, from the influence of each share."""
    binned = [each.binned(edges) for each in samples]
    centred = [each - sample.shares @ each for sample, each in zip(binned, influences, strict=True)]
    if samples[0].clusters is None:
        return math.sqrt(sum(sample.squared_shares @ each**2 for sample, each in zip(binned, centred, strict=True)))
    codes = np.concatenate([each.clusters for each in samples])
    bins = (np.searchsorted(edges, each.scores) for each in samples)
    parts = [each.shares * slope[at] for each, slope, at in zip(samples, centred, bins, strict=True)]
    sums = np.bincount(codes, np.concatenate(parts))
    n = np.count_nonzero(np.bincount(codes))  # clusters; others may have weight 0
    return math.sqrt(sums @ sums * n / (n - 1)) if n > 1 else math.nan
