"""Markov chains: their streams, and how well they have explored a posterior (R-hat, effective number of draws)."""

from __future__ import annotations

from collections.abc import Callable, Hashable

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import run
from fastevals._kernels.random import stream_key
from fastevals._options import warn_outside

Floats = NDArray[np.float64]

N_CHAINS = 4
LEAST_DRAWS = 400  # of all chains
WARM_UP = 500  # draws of each chain that are left out
TERMS_PER_TASK = 1 << 20  # terms of densities visited by a chain per task: about 0.1 s
LARGEST_R_HAT, LEAST_EFFECTIVE = 1.01, 400.0  # Vehtari et al. (2021)


class ConvergenceWarning(UserWarning):
    """The Markov chains of a posterior disagree, or their draws are too few, so its probabilities are rough."""


def new_streams(key: np.uint64) -> list[NDArray[np.uint64]]:
    """Return a stream of random numbers for each chain, for kernels."""
    return [np.array([stream_key(key, np.uint64(chain)), 0], dtype=np.uint64) for chain in range(N_CHAINS)]


def draw_starts(key: np.uint64, n: int) -> Floats:
    """Return n numbers from -1 to 1 for each chain.

    Chains start far apart: R-hat would not notice that all chains start and stay in one part of the posterior.
    """
    return np.random.default_rng([int(key), n]).uniform(-1, 1, (N_CHAINS, n))


def run_chains(
    advance: Callable[[int, Floats], object], n_draws: int, n_parameters: int, cost: int, compiles: Hashable
) -> Floats:
    """Return draws of all chains, of shape (n_chains, n_draws, n_parameters), without the warm-up.

    Parameters
    ----------
    advance : callable
        Called as ``advance(chain, drawn)`` to continue a chain and write its draws, of shape (n, n_parameters).
    n_draws : int
        Number of draws of all chains, rounded up to a multiple of `N_CHAINS`.
    n_parameters : int
        Number of parameters.
    cost : int
        Terms of the density that a draw visits. This limits the draws per task, because Ctrl-C waits for running tasks.
    compiles : hashable
        As for `run`.
    """
    drawn = np.empty((N_CHAINS, WARM_UP + -(-n_draws // N_CHAINS), n_parameters))
    size = max(1, TERMS_PER_TASK // cost)
    for start in range(0, drawn.shape[1], size):
        part = drawn[:, start : start + size]
        run(lambda chain, part=part: advance(chain, part[chain]), range(N_CHAINS), compiles=compiles)
    return drawn[:, WARM_UP:]


def chain_quality(draws: Floats) -> tuple[float, float]:
    """Return the largest R-hat and the smallest effective number of draws over parameters.

    `draws` has shape (n_chains, n_draws, n_parameters). Both are computed from ranks, R-hat also from distances to the
    median: Vehtari et al. (2021), "Rank-normalization, folding, and localization", doi:10.1214/20-BA1221.
    """
    half = draws.shape[1] // 2
    halves = np.concatenate([draws[:, :half], draws[:, -half:]])
    r_hat, effective = 1.0, np.inf
    for values in np.moveaxis(halves, 2, 0):
        ranks, folded = _normal_scores(values), _normal_scores(np.abs(values - np.median(values)))
        r_hat = max(r_hat, _r_hat(ranks), _r_hat(folded))
        effective = min(effective, _effective_number(ranks))
    return float(r_hat), float(effective)


def warn_if_rough(model: str, r_hat: float, effective: float) -> None:
    """Warn if chains have not converged."""
    if not r_hat <= LARGEST_R_HAT or not effective >= LEAST_EFFECTIVE:
        warn_outside(
            f"the chains of {model} have not converged: R-hat is {r_hat:.3f} (at most {LARGEST_R_HAT} is good) and the "
            f"effective number of draws {effective:.0f} (at least {LEAST_EFFECTIVE:.0f}); use a larger n_draws",
            ConvergenceWarning,
        )


def _normal_scores(values: Floats) -> Floats:
    """Return the normal quantiles of ranks among all values; equal values have their mean rank."""
    from scipy.special import ndtri

    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = np.cumsum(counts) - 0.5 * (counts - 1)
    return np.asarray(ndtri((ranks[places].reshape(values.shape) - 0.375) / (values.size + 0.25)))


def _r_hat(chains: Floats) -> float:
    """Return the root of the total variance over the variance within chains, of shape (n_chains, n_draws)."""
    n = chains.shape[1]
    within, between = chains.var(axis=1, ddof=1).mean(), chains.mean(axis=1).var(ddof=1)
    return float(np.sqrt((n - 1) / n + between / within)) if within else 1.0 if not between else np.inf


def _effective_number(chains: Floats) -> float:
    """Return the number of independent draws whose mean varies as much: Geyer's initial monotone sequence."""
    n = chains.shape[1]
    centred = chains - chains.mean(axis=1, keepdims=True)
    spectrum = np.fft.rfft(centred, 2 * n, axis=1)
    covariances = np.fft.irfft(spectrum * spectrum.conj(), axis=1)[:, :n].mean(axis=0) / n
    within = covariances[0] * n / (n - 1)
    total = covariances[0] + chains.mean(axis=1).var(ddof=1)
    if not total:
        return float(chains.size)
    correlations = 1 - (within - covariances * n / (n - 1)) / total
    correlations[0] = 1.0
    pairs = correlations[: n // 2 * 2].reshape(-1, 2).sum(axis=1)
    negative = np.flatnonzero(pairs < 0)
    kept = np.minimum.accumulate(pairs[: negative[0] if negative.size else pairs.size])
    time = max(2 * kept.sum() - 1, 1 / np.log10(chains.size))
    return float(chains.size / time)
