"""Random draws for chains, the slice sampler's step, and diagnostics."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from fastevals._compile.jit import kernel
from fastevals._kernels.chains import (
    draw_gamma,
    draw_gamma_above,
    draw_normal,
    draw_normal_within,
    draw_uniform,
    slice_step_of,
)
from fastevals.infer.bayes.chains import chain_quality

N = 4000
GAMMAS_ABOVE = [(0.5, 0.1), (0.5, 4.0), (1.0, 3.0), (4.5, 1.0), (4.5, 6.0), (50.0, 40.0)]
CHANCE = 1e-4  # of a false alarm, per test


def new_stream() -> np.ndarray:
    return np.array([7, 0], dtype=np.uint64)


@kernel
def log_gamma_density(x, shape):
    """Return the log density of the log of a gamma variable."""
    return shape * x - math.exp(x)


slice_step = slice_step_of(log_gamma_density)


def test_draws_have_their_distributions() -> None:
    stream = new_stream()
    draws = {
        "uniform": ([draw_uniform(stream) for _ in range(N)], stats.uniform()),
        "normal": ([draw_normal(stream) for _ in range(N)], stats.norm()),
        **{
            f"gamma({shape})": ([draw_gamma(shape, stream) for _ in range(N)], stats.gamma(shape))
            for shape in (0.2, 0.5, 1.0, 3.5, 50.0)
        },
        **{
            f"gamma({shape}) above {least}": (
                [draw_gamma_above(shape, 2.0, least, stream) for _ in range(N)],
                stats.uniform(),
            )
            for shape, least in GAMMAS_ABOVE
        },
        **{
            f"normal({mean}, {deviation}) within 2": (
                [draw_normal_within(mean, deviation, 2.0, stream) for _ in range(N)],
                stats.truncnorm((-2 - mean) / deviation, (2 - mean) / deviation, mean, deviation),
            )
            for mean, deviation in ((0.0, 1.0), (1.9, 1.5), (-1.0, 2.5), (0.5, 100.0))
        },
    }
    for shape, least in GAMMAS_ABOVE:
        drawn, known = draws[f"gamma({shape}) above {least}"][0], stats.gamma(shape, scale=0.5)
        draws[f"gamma({shape}) above {least}"] = (1 - known.sf(drawn) / known.sf(least), stats.uniform())
    for name, (drawn, known) in draws.items():
        assert stats.kstest(drawn, known.cdf).pvalue > CHANCE, name
    assert stream[0] == 7
    assert stream[1] > N


@pytest.mark.parametrize(("low", "high"), [(-np.inf, np.inf), (0.0, 1.0)])
@pytest.mark.parametrize("width", [0.3, 10.0])
def test_the_slice_sampler_keeps_the_distribution(low: float, high: float, width: float) -> None:
    stream, x, drawn = new_stream(), 0.5, []
    for k in range(10 * N):
        x = slice_step(x, low, high, width, stream, 2.0)
        if k % 10 == 0:
            drawn.append(x)
    known = stats.loggamma(2.0)
    ends = known.cdf([low, high])
    assert stats.kstest((known.cdf(drawn) - ends[0]) / (ends[1] - ends[0]), "uniform").pvalue > CHANCE


def test_the_quality_of_known_chains() -> None:
    rng = np.random.default_rng(0)
    independent = rng.normal(size=(4, 5000, 1))
    r_hat, effective = chain_quality(independent)
    assert r_hat < 1.002
    assert effective == pytest.approx(20_000, rel=0.05)
    slow = independent.copy()
    for k in range(1, 5000):
        slow[:, k] = 0.9 * slow[:, k - 1] + math.sqrt(1 - 0.81) * independent[:, k]
    assert chain_quality(slow)[1] == pytest.approx(20_000 * 0.1 / 1.9, rel=0.15)
    # the worst of several parameters counts
    assert chain_quality(np.concatenate([independent, slow], axis=2))[1] == chain_quality(slow)[1]
    apart = independent + np.arange(4)[:, None, None]
    assert chain_quality(apart)[0] > 1.3
    assert chain_quality(apart)[1] < 20
    wider = independent * np.array([1, 1, 1, 5])[:, None, None]  # equal means: only folded ranks notice
    assert chain_quality(wider)[0] > 1.1
    drifting = independent + np.linspace(0, 2, 5000)[None, :, None]  # only halves notice
    assert chain_quality(drifting)[0] > 1.05


def test_the_quality_of_constant_chains() -> None:
    assert chain_quality(np.ones((4, 100, 1))) == (1.0, 400.0)
    assert chain_quality(np.ones((4, 100, 1)) * np.arange(4)[:, None, None])[0] > 1e6
