"""A year of looks: how often confidence sequences, and fixed intervals looked at nightly, ever miss the truth.

`python -m benches.nightly` simulates all settings in about 25 minutes and prints a table for `docs/nightly.md`;
`python -m benches.nightly rates` simulates one group of settings. Each path is a year: a first night, then 364 more.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtr, ndtri

from fastevals.infer.sequential.boundaries import NARROWEST_RATIO, NormalEvidence, RateEvidence, log_rate_martingale
from fastevals.infer.sequential.sequence import FEWEST_ROWS, NARROWEST_AT

Floats = NDArray[np.float64]
Counts = NDArray[np.intp]

SEED = 20261126
N_PATHS, N_NIGHTS, ALPHA = 2000, 365, 0.05
CELLS = 100  # distinct scores in simulations of average precision
NO_BOUNDS, SHARE, DIFFERENCE, POSITIVE = (-np.inf, np.inf), (0.0, 1.0), (-1.0, 1.0), (0.0, np.inf)


class Nights(NamedTuple):
    """One path: an estimate and its variance for each night, with its weight and its rows of the rarer class."""

    values: Floats
    variances: Floats
    weights: Floats
    counts: Floats
    truths: Floats | float  # of each night

    def evidence(self, bounds: tuple[float, float]) -> tuple[NormalEvidence, Floats]:
        """Return the evidence after each night, as `confidence_sequence` would, and the truth after each night."""
        total = np.cumsum(self.weights)
        values = np.cumsum(self.weights * self.values) / total
        errors = np.sqrt(np.cumsum(self.weights**2 * self.variances)) / total
        truths = np.cumsum(self.weights * self.truths) / total
        return started(values, errors, np.cumsum(self.counts), bounds, self.counts[0]), truths


def started(
    values: Floats, errors: Floats, counts: Floats, bounds: tuple[float, float], first: float
) -> NormalEvidence:
    """Return the evidence at the looks from the fewest rows on."""
    at = counts >= FEWEST_ROWS
    ratios = NARROWEST_RATIO * counts / (NARROWEST_AT * max(FEWEST_ROWS, first))
    return NormalEvidence(values[at], errors[at], ratios[at], bounds)


Path = Callable[[np.random.Generator], "tuple[NormalEvidence | RateEvidence, Any]"]


@dataclass(frozen=True, slots=True)
class Setting:
    """A metric, in words, the nights, in words, and a function that draws a path."""

    metric: str
    nights: str
    draw: Path


def missed(evidence: NormalEvidence | RateEvidence, truth: Any) -> list[Any]:
    """Return what a path shows: see `HEADS`."""
    truth = np.broadcast_to(truth, N_NIGHTS)[-evidence.values.size :]
    if isinstance(evidence, RateEvidence):  # faster than to compute the ends at each look
        outcomes, limit = (evidence.successes, evidence.failures), -np.log(ALPHA)
        outside = log_rate_martingale(truth, *outcomes, evidence.prior, one_sided=False) >= limit
        above = log_rate_martingale(truth, *outcomes, evidence.prior, one_sided=True) >= limit
        below = log_rate_martingale(1 - truth, *outcomes[::-1], evidence.prior, one_sided=True) >= limit
    else:
        outside = evidence.low(ALPHA, one_sided=False) > truth
        outside |= evidence.high(ALPHA, one_sided=False) < truth
        above = evidence.low(ALPHA, one_sided=True) > truth
        below = evidence.high(ALPHA, one_sided=True) < truth
    once_low, once_high = evidence.fixed(ALPHA / 2)
    once = (once_low > truth) | (once_high < truth)
    ratios = []
    for place in (slice(-1, None), slice(0, 1)):
        look = evidence.at(place)
        width = look.high(ALPHA, one_sided=False) - look.low(ALPHA, one_sided=False)
        ratios.append((width / (once_high - once_low)[place]).item())
    return [outside.any(), above.any(), below.any(), once.any(), once[-1], *ratios]


HEADS = ["sequence", "low end", "high end", "fixed, nightly", "fixed, once", "width, last", "width, first"]


# Draws ------------------------------------------------------------------------------------------------------------


def sizes(rng: np.random.Generator, first: int, low: int, high: int) -> Counts:
    """Return the numbers of positives of each night: `first`, then any number from `low` to `high`."""
    return np.concatenate([[first], rng.integers(low, high + 1, N_NIGHTS - 1)])


def by_night(values: Floats, numbers: Counts) -> Floats:
    """Add up values by night."""
    return np.asarray(np.add.reduceat(values, np.concatenate([[0], np.cumsum(numbers)[:-1]])))


def placements(own: Floats, sorted_other: Floats, nights: Counts, others: Counts) -> Floats:
    """Return the number of the other class's rows of the same night below each row; scores are in (0, 1)."""
    return np.searchsorted(sorted_other, own) - (np.cumsum(others) - others)[nights]


def auc_path(
    rng: np.random.Generator, *, prevalence: float, aucs: tuple[float, ...], positives: tuple[int, int, int],
    drift: float = 0.0, correlation: float = 0.8,
) -> tuple[NormalEvidence, Floats]:  # fmt: skip
    """Return the evidence on an AUC, or on a difference between the AUCs of two models on the same rows.

    Scores are normal in both classes. The scores of two models are correlated. Over the year the AUC falls by `drift`.
    """
    n_pos = sizes(rng, *positives)
    n_neg = np.maximum(np.round(n_pos * (1 - prevalence) / prevalence).astype(int), 2)
    nights = [np.repeat(np.arange(n.size), n) for n in (n_neg, n_pos)]
    common = [rng.standard_normal(each.size) for each in nights]
    own_part, common_part = np.sqrt(1 - correlation), np.sqrt(correlation)
    truths: list[Floats] = []
    of_class: list[list[Floats]] = [[], []]
    for auc in aucs:
        truth = auc - drift * np.linspace(0, 1, N_NIGHTS)
        truths.append(truth)
        shift = np.sqrt(2) * ndtri(truth)
        z = [part * common_part + own_part * rng.standard_normal(part.size) for part in common]
        z[1] += shift[nights[1]]
        keys = [each + 0.999 * ndtr(score) for each, score in zip(nights, z, strict=True)]
        of_class[1].append(placements(keys[1], np.sort(keys[0]), nights[1], n_neg) / n_neg[nights[1]])
        of_class[0].append(1 - placements(keys[0], np.sort(keys[1]), nights[0], n_pos) / n_pos[nights[0]])
    variances = np.zeros(N_NIGHTS)
    for each, n in zip(of_class, (n_neg, n_pos), strict=True):
        placed = each[0] if len(each) == 1 else each[0] - each[1]
        mean = by_night(placed, n) / n
        with np.errstate(divide="ignore", invalid="ignore"):
            variances += (by_night(placed**2, n) - n * mean**2) / (n - 1) / n
    value = mean
    truth = truths[0] if len(aucs) == 1 else truths[0] - truths[1]
    weights = n_pos * n_neg / (n_pos + n_neg)
    bounds = SHARE if len(aucs) == 1 else DIFFERENCE
    return Nights(value, variances, weights, np.minimum(n_pos, n_neg), truth).evidence(bounds)


def rate_path(
    rng: np.random.Generator, *, rate: float, trials: tuple[int, int, int], drift: float = 0.0
) -> tuple[RateEvidence, Any]:
    """Return the evidence on a rate; over the year it falls by `drift`."""
    n = sizes(rng, *trials)
    truths = rate - drift * np.linspace(0, 1, N_NIGHTS)
    successes, total = np.cumsum(rng.binomial(n, truths)), np.cumsum(n)
    prior = NARROWEST_AT * max(FEWEST_ROWS, int(n[0])) / NARROWEST_RATIO
    evidence = RateEvidence(successes.astype(float), (total - successes).astype(float), prior)
    return evidence, np.cumsum(n * truths) / total


def brier(p: Floats, y: NDArray[np.bool_]) -> Floats:
    """Return squared errors."""
    return np.asarray((p - y) ** 2)


def log_loss(p: Floats, y: NDArray[np.bool_]) -> Floats:
    """Return logarithmic losses."""
    return np.asarray(-np.log(np.where(y, p, 1 - p)))


def draw_probabilities(rng: np.random.Generator, n: int, center: float) -> Floats:
    """Return probabilities with normal log-odds."""
    return np.asarray(expit(center + 1.3 * rng.standard_normal(n)))


def loss_path(
    rng: np.random.Generator, *, loss: Any, center: float, truth: float, positives: tuple[int, int, int],
    prevalence: float, bounds: tuple[float, float],
) -> tuple[NormalEvidence, Floats]:  # fmt: skip
    """Return the evidence on the mean loss of calibrated probabilities."""
    n = np.round(sizes(rng, *positives) / prevalence).astype(int)
    p = draw_probabilities(rng, int(n.sum()), center)
    y = rng.random(p.size) < p
    losses = loss(p, y)
    mean = by_night(losses, n) / n
    variances = (by_night(losses**2, n) - n * mean**2) / (n - 1) / n
    n_pos = by_night(y.astype(float), n)
    return Nights(mean, variances, n.astype(float), np.minimum(n_pos, n - n_pos), truth).evidence(bounds)


def heavy_path(rng: np.random.Generator, *, power: float, rows: tuple[int, int, int]) -> tuple[NormalEvidence, Floats]:
    """Return the evidence on the mean of losses with a long tail, |Z| ** power for normal Z."""
    from scipy.special import gamma

    n = sizes(rng, *rows)
    losses = np.abs(rng.standard_normal(int(n.sum()))) ** power
    mean = by_night(losses, n) / n
    variances = (by_night(losses**2, n) - n * mean**2) / (n - 1) / n
    truth = float(2 ** (power / 2) * gamma((power + 1) / 2) / np.sqrt(np.pi))
    return Nights(mean, variances, n.astype(float), n.astype(float), truth).evidence(POSITIVE)


def average_precision(positives: Any, negatives: Any) -> tuple[Floats, Floats]:
    """Return APs and their variances from counts by score (descending, last axis), by the influence of a row.

    The numbers of positives and negatives are fixed.
    """
    tp, fp = np.cumsum(positives, axis=-1), np.cumsum(negatives, axis=-1)
    total, called = tp[..., -1:], np.maximum(tp + fp, 1)
    precision = tp / called
    value = (positives * precision).sum(axis=-1) / total[..., 0]
    share = positives / total / called**2
    later = [np.cumsum((share * each)[..., ::-1], axis=-1)[..., ::-1] for each in (fp, tp)]
    variance = np.zeros(value.shape)
    for counts, influence in ((positives, precision / total + later[0]), (negatives, -later[1])):
        n = counts.sum(axis=-1)
        variance += (counts * influence**2).sum(axis=-1) - (counts * influence).sum(axis=-1) ** 2 / n
    return value, variance


def ap_path(
    rng: np.random.Generator, *, auc: float, prevalence: float, positives: tuple[int, int, int], pooled: bool
) -> tuple[NormalEvidence, Any]:
    """Return the evidence on AP: from nightly APs, or from the AP of all rows so far."""
    n_pos = sizes(rng, *positives)
    n_neg = np.round(n_pos * (1 - prevalence) / prevalence).astype(int)
    shares = _cell_shares(auc)
    truth = float(average_precision(shares[1] * prevalence * 1e9, shares[0] * (1 - prevalence) * 1e9)[0])
    counts = [rng.multinomial(n, share) for n, share in zip((n_pos, n_neg), shares[::-1], strict=True)]
    if not pooled:
        values, variances = average_precision(*counts)
        return Nights(values, variances, n_pos.astype(float), np.minimum(n_pos, n_neg), truth).evidence(SHARE)
    values, variances = average_precision(*(np.cumsum(each, axis=0) for each in counts))
    smaller = np.minimum(np.cumsum(n_pos), np.cumsum(n_neg)).astype(float)
    return started(values, np.sqrt(variances), smaller, SHARE, smaller[0]), truth


def _cell_shares(auc: float) -> tuple[Floats, Floats]:
    """Return the probability of each score, descending, among negatives and positives."""
    shift = np.sqrt(2) * ndtri(auc)
    edges = np.concatenate([[-np.inf], np.linspace(-3.5, 3.5 + shift, CELLS - 1), [np.inf]])
    return np.diff(ndtr(edges))[::-1], np.diff(ndtr(edges - shift))[::-1]


# Settings ---------------------------------------------------------------------------------------------------------


def _settings_of_aucs() -> Iterator[Setting]:
    usual = (200, 20, 200)
    for prevalence, aucs in ((0.5, (0.8, 0.95, 0.99)), (0.1, (0.8, 0.95)), (0.02, (0.8, 0.95))):
        positives = (200, 20, 40) if prevalence == 0.02 else usual
        for auc in aucs:
            draw = partial(auc_path, prevalence=prevalence, aucs=(auc,), positives=positives)
            yield Setting(f"AUC {auc}", _words(prevalence, positives), draw)
    few = (200, 2, 10)
    yield Setting("AUC 0.95", _words(0.5, few), partial(auc_path, prevalence=0.5, aucs=(0.95,), positives=few))
    small = (20, 20, 40)
    yield Setting("AUC 0.95", _words(0.5, small), partial(auc_path, prevalence=0.5, aucs=(0.95,), positives=small))
    falls = partial(auc_path, prevalence=0.5, aucs=(0.9,), positives=usual, drift=0.1)
    yield Setting("AUC falling from 0.9 to 0.8", _words(0.5, usual), falls)


def _settings_of_differences() -> Iterator[Setting]:
    usual = (200, 20, 200)
    for prevalence, aucs in ((0.5, (0.8, 0.8)), (0.5, (0.945, 0.95)), (0.1, (0.795, 0.8)), (0.02, (0.8, 0.8))):
        positives = (200, 20, 40) if prevalence == 0.02 else usual
        draw = partial(auc_path, prevalence=prevalence, aucs=aucs, positives=positives)
        yield Setting(f"AUC {aucs[0]} - AUC {aucs[1]}", _words(prevalence, positives), draw)


def _settings_of_rates() -> Iterator[Setting]:
    for rate, trials in (
        (0.5, (200, 20, 200)), (0.9, (200, 20, 200)), (0.99, (200, 20, 200)), (0.9, (10, 10, 20)),
        (0.01, (1800, 180, 1800)), (0.001, (9800, 980, 9800)),
    ):  # fmt: skip
        words = f"{trials[0]:,}, then {trials[1]:,} to {trials[2]:,} trials"
        yield Setting(f"rate {rate:g}", words, partial(rate_path, rate=rate, trials=trials))
    draw = partial(rate_path, rate=0.9, trials=(200, 20, 200), drift=0.2)
    yield Setting("rate falling from 0.9 to 0.7", "200, then 20 to 200 trials", draw)


def _settings_of_losses() -> Iterator[Setting]:
    from scipy.optimize import brentq

    points, weights = np.polynomial.hermite_e.hermegauss(80)
    weights = weights / weights.sum()
    for prevalence, positives in ((0.5, (200, 20, 200)), (0.1, (200, 20, 200)), (0.02, (200, 10, 30))):

        def excess(center: float, prevalence: float = prevalence) -> float:
            return float(weights @ expit(center + 1.3 * points)) - prevalence

        center = brentq(excess, -20, 20)
        p = expit(center + 1.3 * points)
        for name, loss, bounds in (("Brier score", brier, SHARE), ("log loss", log_loss, POSITIVE)):
            truth = float(weights @ (p * loss(p, np.ones(80, bool)) + (1 - p) * loss(p, np.zeros(80, bool))))
            draw = partial(
                loss_path, loss=loss, center=center, truth=truth, positives=positives, prevalence=prevalence,
                bounds=bounds,
            )  # fmt: skip
            yield Setting(f"{name} {truth:.3f}", _words(prevalence, positives), draw)
    for name, power in (("squared normal error", 2.0), ("fourth power of a normal error", 4.0)):
        for rows in ((200, 20, 200), (1000, 20, 200)):
            words = f"{rows[0]:,}, then {rows[1]:,} to {rows[2]:,} rows"
            yield Setting(name, words, partial(heavy_path, power=power, rows=rows))


def _settings_of_ap() -> Iterator[Setting]:
    for pooled in (False, True):
        for prevalence, positives in ((0.5, (200, 20, 200)), (0.1, (200, 20, 200)), (0.1, (200, 200, 400))):
            draw = partial(ap_path, auc=0.8, prevalence=prevalence, positives=positives, pooled=pooled)
            yield Setting(f"AP, {'all rows so far' if pooled else 'nightly'}", _words(prevalence, positives), draw)


def _words(prevalence: float, positives: tuple[int, int, int]) -> str:
    return f"{positives[0]}, then {positives[1]} to {positives[2]} positives ({100 * prevalence:g} % of rows)"


STUDIES: dict[str, Callable[[], Iterator[Setting]]] = {
    "aucs": _settings_of_aucs,
    "differences": _settings_of_differences,
    "rates": _settings_of_rates,
    "losses": _settings_of_losses,
    "ap": _settings_of_ap,
}


def simulate(setting: Setting, n_paths: int = N_PATHS) -> Floats:
    """Return the means over paths of what `missed` returns."""
    return np.asarray(
        np.mean([missed(*setting.draw(np.random.default_rng([SEED, k]))) for k in range(n_paths)], axis=0)
    )


def main(names: list[str]) -> None:
    """Simulate studies and print a table in Markdown."""
    print(f"| metric | nights | {' | '.join(HEADS)} |\n|---|---|{'---|' * len(HEADS)}")
    for name in names or STUDIES:
        for setting in STUDIES[name]():
            found = simulate(setting)
            cells = [f"{100 * share:.1f} %" for share in found[:5]] + [f"{ratio:.2f}" for ratio in found[5:7]]
            print(f"| {setting.metric} | {setting.nights} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
