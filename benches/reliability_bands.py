"""Coverage of reliability bands, for whole curves; ``python -m benches.reliability_bands`` prints the table.

Probabilities are beta(1/2, 19/2) with mean 5 %, or beta(3/2, 3/2) with mean 50 %. If they are miscalibrated, the true
log-odds are a shift plus 0.7 times the log-odds of the probability. Each of 25 draws of probabilities has 40 draws of
labels.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from itertools import product

import numpy as np
from numpy.typing import NDArray

import fastevals
from fastevals.infer.calibration.bands import DRAWN_CELLS, ForecastCells, drawn_fits, simultaneous_edges

Floats = NDArray[np.float64]

BETAS = {0.05: (0.5, 9.5), 0.5: (1.5, 1.5)}
SHIFTS = {0.05: -0.9, 0.5: -0.3}
ROWS, N_DRAWS, N_RESAMPLES = (300, 3000, 30_000), 25, 1000


def true_curve(mean: float, calibrated: bool) -> Callable[[Floats], Floats]:
    """Return the share of positives as a function of the probability."""

    def miscalibrated(p: Floats) -> Floats:
        odds = np.divide(p, 1 - p, out=np.full(p.shape, np.inf), where=p < 1)
        scaled = np.exp(SHIFTS[mean]) * odds**0.7
        return np.where(np.isinf(scaled), 1.0, scaled / (1 + np.minimum(scaled, 1e300)))

    return (lambda p: p) if calibrated else miscalibrated


def shares(mean: float, calibrated: bool, n: int, n_data_sets: int) -> tuple[float, ...]:
    """Return the mean number of positives, and over data sets of n rows, how often and how wide the bands are.

    The shares are of data sets whose confidence band contains the true curve, of those whose confidence band shows
    miscalibration, and of those whose curve is within the consistency band; the last number is the confidence band's
    mean width over rows.
    """
    true, rng = true_curve(mean, calibrated), np.random.default_rng([n, int(100 * mean), calibrated])
    found = []
    for _ in range(N_DRAWS):
        p = np.sort(np.clip(rng.beta(*BETAS[mean], n), 1e-9, 1 - 1e-9))
        edges = None
        for _ in range(n_data_sets // N_DRAWS):
            ranking = fastevals.Ranking(rng.random(n) < true(p), p, pos_label=True)
            band = fastevals.reliability_band(ranking)
            at = true(band.x)  # the edges are constant between pairs of x, and the true curve ascends
            covers = (band.low[::2] <= at[::2] + 1e-12).all() and (band.high[1::2] >= at[1::2] - 1e-12).all()
            cells = ForecastCells.of_equal_mass(ranking.counts, DRAWN_CELLS, fine_ends=True)
            if edges is None:  # it depends on the probabilities alone
                edges = simultaneous_edges(drawn_fits(cells, N_RESAMPLES, np.uint64(rng.integers(2**62))), 0.05)
            fitted = cells.fitted()
            within = ((fitted >= edges[0]) & (fitted <= edges[1])).all()
            width = (np.interp(p, band.x, band.high) - np.interp(p, band.x, band.low)).mean()
            shows = bool(band.too_low.size + band.too_high.size)
            found.append((ranking.n_positives, covers, shows, within, width))
    return tuple(np.array(found, dtype=np.float64).mean(axis=0).tolist())


def table(n_data_sets: int) -> Iterator[str]:
    """Yield the lines of the table."""
    yield "| rows | positives | probabilities | confidence covers | its width | it shows miscalibration | consistency |"
    yield "|---|---|---|---|---|---|---|"
    for mean, calibrated, n in product(BETAS, (True, False), ROWS):
        positives, covers, shows, within, width = shares(mean, calibrated, n, n_data_sets)
        kind = "calibrated" if calibrated else "miscalibrated"
        numbers = f"{100 * covers:.1f} | {width:.3f} | {100 * shows:.1f} | {100 * within:.1f}"
        yield f"| {n:,} | {positives:,.0f} | {kind} | {numbers} |"


if __name__ == "__main__":
    for line in table(int(sys.argv[1]) if len(sys.argv) > 1 else 1000):
        print(line, flush=True)
