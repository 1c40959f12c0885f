"""P-values of PSI and the Kolmogorov-Smirnov distance."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._distinct import sorted_unique
from fastevals.infer.drift.measures import Pair, Psi

Floats = NDArray[np.float64]

N_DRAWS = 9_999
SMALL_SAMPLE_ROWS = 500  # harmonic size, up to which PSI's null distribution is simulated
MOST_EXACT_PAIRS = 1_000_000  # pairs of rows, up to which the null distribution of KS is exact
LEAST_DF = 0.5  # degrees of freedom if one row or cluster contributes nearly everything
GRID_CELLS = 64  # quantiles of each sample at which the difference of distribution functions is simulated


class Significance(NamedTuple):
    """P-values, and the smallest PSI that is significant."""

    psi_pvalue: float = math.nan
    noticeable_psi: float = math.nan
    ks_pvalue: float = math.nan


def of_rows(samples: Pair, psi: Psi, ks: float, binned: Pair, alpha: float, *, at_quantiles: bool) -> Significance:
    """Return the p-values for independent rows without weights."""
    doubt = samples[0].doubt + samples[1].doubt
    by_psi = (math.nan, math.nan)
    if not math.isnan(psi.value):
        by_psi = _of_psi(psi.value, (binned[0].rows, binned[1].rows), alpha, at_quantiles=at_quantiles)
    return Significance(*by_psi, _of_ks(samples, ks, doubt))


def _of_psi(
    psi: float, rows: tuple[NDArray[Any], NDArray[Any]], alpha: float, *, at_quantiles: bool
) -> tuple[float, float]:
    """Return the p-value of a PSI, and the smallest PSI that is significant."""
    from scipy.stats import chi2

    today, yesterday = rows
    n, m = int(today.sum()), int(yesterday.sum())
    scale, df = 1 / n + 1 / m, today.size - 1
    if 1 / scale >= SMALL_SAMPLE_ROWS:
        return float(chi2.sf(psi / scale, df)), scale * float(chi2.isf(alpha, df))
    rng = np.random.default_rng(0)
    if at_quantiles:
        gaps = yesterday + (np.arange(yesterday.size) == yesterday.size - 1)  # between scores: one more than rows
        drawn = rng.multinomial(n, rng.dirichlet(gaps, N_DRAWS))
        others = np.broadcast_to(yesterday, drawn.shape)
    else:
        drawn = rng.multivariate_hypergeometric(today + yesterday, n, N_DRAWS)
        others = today + yesterday - drawn
    p, q = np.where(drawn == 0, 0.5, drawn) / n, np.where(others == 0, 0.5, others) / m
    return _among(((p - q) * np.log(p / q)).sum(axis=1), psi, alpha)


def _among(draws: Floats, value: float, alpha: float) -> tuple[float, float]:
    """Return the share of draws that are at least as large as a value, and the smallest significant value."""
    values = np.sort(draws)
    n_above = values.size - int(np.searchsorted(values, value * (1 - 1e-12)))
    place = min(math.ceil((1 - alpha) * (values.size + 1)), values.size) - 1
    return (1 + n_above) / (1 + values.size), float(values[place])


def _of_ks(samples: Pair, distance: float, doubt: float) -> float:
    """Return the p-value of the two-sample KS distance; if the distance has bounds, use the lower bound."""
    from scipy import stats

    n, m = (int(each.total) for each in samples)
    if (distance - doubt) * max(n, m) < 1 + 1e-9:  # the first of all rows in order makes the distance at least as large
        return 1.0
    if n * m <= MOST_EXACT_PAIRS and not doubt:
        rows = (each.scores if each.masses is None else np.repeat(each.scores, each.masses) for each in samples)
        return float(stats.ks_2samp(*rows, method="exact").pvalue)
    return float(stats.kstwo.sf(distance - doubt, max(round(n * m / (n + m)), 1)))


# Weights and clusters -------------------------------------------------------------------------------------------------


def of_process(samples: Pair, edges: NDArray[Any], psi: Psi, alpha: float) -> Significance:
    """Return the p-values for weighted or clustered rows.

    The difference of the two distribution functions is a sum over independent rows or clusters. Without drift it is
    therefore nearly a Gaussian process with mean 0, whose covariance is the sum of the squared contributions of these
    rows or clusters. The process is drawn at quantiles of both samples, and the distances in the draws are compared
    with the observed distance at these quantiles. The covariance is an estimate, so draws are divided by the root of a
    mean of squares, as in Student's t.
    """
    quantiles = [np.append(each.quantiles(GRID_CELLS), each.scores[-1]) for each in samples]
    grid = sorted_unique(np.concatenate([edges, *quantiles]))
    binned = [each.binned(grid) for each in samples]
    sizes = [each.effective_rows for each in samples]
    pooled = np.average([each.shares for each in binned], axis=0, weights=sizes)
    rng = np.random.default_rng(0)
    if samples[0].clusters is None:
        moments, df = np.diag(np.sum([each.squared_shares for each in binned], axis=0)), min(sizes) - 1
    else:
        moments, df = _cluster_moments(samples, grid, pooled)
    df = max(df, LEAST_DF)
    centre = np.eye(pooled.size) - pooled[:, np.newaxis]
    values, vectors = np.linalg.eigh(centre @ moments @ centre.T)
    draws = rng.standard_normal((N_DRAWS, pooled.size)) @ (vectors * np.sqrt(np.maximum(values, 0.0))).T
    draws *= np.sqrt(df / rng.chisquare(df, (N_DRAWS, 1)))
    observed = binned[0].shares - binned[1].shares
    distance = np.abs(np.cumsum(observed)[:-1]).max(initial=0.0) - samples[0].doubt - samples[1].doubt
    of_ks, _ = _among(np.abs(np.cumsum(draws, axis=1)[:, :-1]).max(axis=1, initial=0.0), max(distance, 0.0), alpha)
    if math.isnan(psi.value):
        return Significance(ks_pvalue=of_ks)
    starts = np.concatenate(([0], np.searchsorted(grid, edges, side="right")))
    shifts, shares = np.add.reduceat(draws, starts, axis=1), np.maximum(np.add.reduceat(pooled, starts), 1e-300)
    return Significance(*_among((shifts**2 / shares).sum(axis=1), psi.value, alpha), of_ks)


def _cluster_moments(samples: Pair, grid: NDArray[Any], pooled: Floats) -> tuple[Floats, float]:
    """Return, for each pair of cells, the sum over clusters of products of contributions, and degrees of freedom."""
    from scipy.sparse import csr_array

    codes = np.unique(np.concatenate([each.clusters for each in samples]), return_inverse=True)[1]
    cells = np.concatenate([np.searchsorted(grid, each.scores) for each in samples])
    shares = np.concatenate((samples[0].shares, -samples[1].shares))
    by_cluster = csr_array((shares, (codes, cells)), shape=(codes.max() + 1, pooled.size))
    totals, n = by_cluster.sum(axis=1), by_cluster.shape[0]
    spread = by_cluster.power(2).sum(axis=1) - 2 * totals * (by_cluster @ pooled) + totals**2 * (pooled @ pooled)
    df = spread.sum() ** 2 / (spread @ spread) - 1  # number of clusters - 1 if all contribute equally
    return (by_cluster.T @ by_cluster).toarray() * n / (n - 1), float(df)
