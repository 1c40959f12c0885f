"""Posteriors by sums over grids and exact moments, without random draws."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.special import expit, gammaln

Floats = NDArray[np.float64]


def signed_rank_shares(values: Any, rope: float, strength: float = 0.5, prior: float = 0.0) -> Floats:
    """Return the expected shares above, within and below the rope, from the moments of Dirichlet weights."""
    points, concentration = [prior, *values], [strength, *np.ones(len(values))]
    total = sum(concentration)
    shares = np.zeros(3)
    for i, (first, c) in enumerate(zip(points, concentration, strict=True)):
        for j, (second, d) in enumerate(zip(points, concentration, strict=True)):
            weight = (c * (c + 1) if i == j else c * d) / (total * (total + 1))
            sum_ = first + second
            above = 0.5 if math.isclose(sum_, 2 * rope, abs_tol=1e-12) else float(sum_ > 2 * rope)
            below = 0.5 if math.isclose(sum_, -2 * rope, abs_tol=1e-12) else float(sum_ < -2 * rope)
            shares += weight * np.array([above, 1 - above - below, below])
    return shares


def hierarchical_posterior(differences: Any, rho: float, rope: float, levels: Any) -> dict[str, Floats]:
    """Return figures of the hierarchical model's posterior, by sums over a grid of mean, spread and df.

    Parameters
    ----------
    differences : list of arrays
        Differences of the folds of each data set.
    rho : float
        Correlation of folds.
    rope : float
        Half the width of the region of practical equivalence.
    levels : array-like
        Levels of the quantiles of the mean.
    """
    within = float(np.mean([np.std(each) for each in differences]))
    among = float(np.std([np.mean(each) for each in differences])) or within
    largest = max(float(np.abs(each).max()) for each in differences)
    centres = largest * np.linspace(-1, 1, 82)[1:-1]
    spreads = among * np.geomspace(0.01, 1000, 36)
    dfs = 1 + np.geomspace(0.1, 1000, 10)
    # p(df - 1), over uniform shape and rate; per step of the logarithm
    shapes, rates = np.meshgrid(np.linspace(1, 2, 41), np.linspace(0.01, 0.1, 41))
    prior = [stats.gamma.pdf(df - 1, shapes, scale=1 / rates).mean() * (df - 1) for df in dfs]
    log_posterior = np.log(prior)[None, None, :] + np.log(spreads)[None, :, None] + np.zeros((centres.size, 1, 1))
    for each in differences:
        n, mean = len(each), float(np.mean(each))
        squares, factor = float(((each - mean) ** 2).sum()) / (1 - rho), (1 + (n - 1) * rho) / n
        width = math.sqrt(squares * factor / (n - 1))
        places = np.linspace(-6, 6, 121)
        d, steps = mean + width * np.sinh(places), width * np.cosh(places)  # fine at the mean, and far out
        likelihood = steps * (squares + (d - mean) ** 2 / factor) ** (-(n - 1) / 2)  # sigma integrated out
        likelihood /= likelihood.max()
        z2 = ((d - centres[:, None, None]) / spreads[:, None]) ** 2
        for k, df in enumerate(dfs):
            density = (1 + z2 / df) ** (-(df + 1) / 2) @ likelihood
            constant = gammaln((df + 1) / 2) - gammaln(df / 2) - 0.5 * math.log(df)
            log_posterior[:, :, k] += np.log(density) + constant - np.log(spreads)
    posterior = np.exp(log_posterior - log_posterior.max())
    posterior /= posterior.sum()
    z = centres[:, None, None]
    above = stats.t.sf((rope - z) / spreads[None, :, None], dfs)
    below = stats.t.cdf((-rope - z) / spreads[None, :, None], dfs)
    shares = np.stack([above, 1 - above - below, below])
    largest_share = shares == shares.max(axis=0)
    cumulative = np.cumsum(posterior.sum(axis=(1, 2)))
    return {
        "probabilities": (largest_share * posterior).sum(axis=(1, 2, 3)),
        "shares": (shares * posterior).sum(axis=(1, 2, 3)),
        "quantiles": np.interp(levels, cumulative - 0.5 * np.diff(cumulative, prepend=0), centres),
    }


def count_wins(values: Floats, local_rope: float, higher_is_better: bool) -> tuple[Floats, Floats]:
    """Return wins and ties of learners, data set by data set; values are (n_datasets, n_learners, n_folds)."""
    n = values.shape[1]
    wins, ties = np.zeros((n, n)), np.zeros((n, n))
    for dataset in values:
        for i in range(n):
            for j in range(n):
                differences = dataset[i] - dataset[j]
                differences = differences[~np.isnan(differences)] * (1 if higher_is_better else -1)
                if i == j or not differences.size:
                    continue
                limit = local_rope * differences.std(ddof=1) if differences.size > 1 else 0.0
                wins[i, j] += differences.mean() > limit + 1e-12
                ties[i, j] += abs(differences.mean()) <= limit + 1e-12
    return wins, ties


def bradley_terry_posterior(wins: Any, rope: float) -> dict[str, Floats]:
    """Return figures of the posterior of three learners, by sums over a grid of two differences and the spread."""
    wins = np.asarray(wins, dtype=np.float64)
    ahead = np.linspace(-8, 8, 161)
    first, second = np.meshgrid(ahead, ahead, indexing="ij")  # of learners 0 and 1, over learner 2
    logs = np.zeros(first.shape)
    for i, j, difference in ((0, 1, first - second), (0, 2, first), (1, 2, second)):
        logs += wins[i, j] * np.log(expit(difference)) + wins[j, i] * np.log(expit(-difference))
    spreads = np.geomspace(0.02, 20, 60)
    prior = np.zeros(first.shape)
    for spread in spreads:
        covariance = spread**2 * np.array([[2, 1], [1, 2]])
        density = stats.multivariate_normal.pdf(np.stack([first, second], axis=-1), cov=covariance)
        prior += density * stats.norm.pdf(math.log(spread), 0, 0.5)
    posterior = np.exp(logs - logs.max()) * prior
    posterior /= posterior.sum()
    limit = math.log((0.5 + rope) / (0.5 - rope))
    figures: dict[str, Any] = {"win_probability": np.full((3, 3), 0.5), "better": np.zeros((3, 3))}
    for i, j, difference in ((0, 1, first - second), (0, 2, first), (1, 2, second)):
        for a, b, sign in ((i, j, 1), (j, i, -1)):
            figures["win_probability"][a, b] = (posterior * expit(sign * difference)).sum()
            beyond = np.clip((sign * difference - limit) / (ahead[1] - ahead[0]) + 0.5, 0, 1)
            figures["better"][a, b] = (posterior * beyond).sum()
    return figures
