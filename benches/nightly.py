"""A year of looks: how often confidence sequences, and fixed intervals looked at nightly, ever miss the truth.

`python -m benches.nightly` simulates all settings in about 20 minutes and prints a table for `docs/nightly.md`;
`python -m benches.nightly rates` simulates one group of settings. Each path is a year: a first night, then 364 more.
`python -m benches.nightly look` measures instead what a gate's look takes after a year, beyond measuring the night.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path as FilePath
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtri

from fastevals.infer.sequential.boundaries import NARROWEST_RATIO, NormalEvidence, RateEvidence, log_rate_martingale
from fastevals.infer.sequential.sequence import FEWEST_ROWS, NARROWEST_AT

Floats = NDArray[np.float64]
Counts = NDArray[np.intp]

SEED = 20261126
N_PATHS, N_NIGHTS, ALPHA = 2000, 365, 0.05
USUAL = (200, 20, 200)  # positives on the first night, and the fewest and most on a later night
PREVALENCES = (0.5, 0.1, 0.02)
LEVELS, LEVELS_OF_TWO = 50, 16  # distinct scores of a model
CORRELATION = 0.8  # between the scores of two models
SHARE, DIFFERENCE, POSITIVE = (0.0, 1.0), (-1.0, 1.0), (0.0, np.inf)


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


@cache
def cell_shares(aucs: tuple[float, ...]) -> tuple[Floats, Floats]:
    """Return the probability of each score, ascending, among negatives and among positives: an axis per model.

    Scores are normal in both classes and rounded to a few levels. The scores of two models are correlated.
    """
    from scipy.stats import multivariate_normal

    shifts = np.sqrt(2) * ndtri(np.array(aucs))
    n_edges = (LEVELS if len(aucs) == 1 else LEVELS_OF_TWO) + 1
    edges = [np.concatenate([[-9], np.linspace(-2.5, 2.5 + shift, n_edges - 2), [9 + shift]]) for shift in shifts]
    points = np.stack(np.meshgrid(*edges, indexing="ij"), axis=-1)
    covariance = np.full((len(aucs), len(aucs)), CORRELATION) + (1 - CORRELATION) * np.eye(len(aucs))
    found = []
    for means in (np.zeros(len(aucs)), shifts):
        shares = np.atleast_1d(multivariate_normal(means, covariance).cdf(points))
        for axis in range(len(aucs)):
            shares = np.diff(shares, axis=axis)
        shares = np.maximum(shares, 0)
        found.append(shares / shares.sum())
    return found[0], found[1]


def placed(counts: Floats, axis: int) -> Floats:
    """Return the share of rows below each level of one model (ties count half), in counts of nights and levels."""
    others = tuple(each for each in range(1, counts.ndim) if each != axis)
    levels = counts.sum(axis=others)
    below = (np.cumsum(levels, axis=1) - levels / 2) / levels.sum(axis=1, keepdims=True)
    return np.asarray(below.reshape([counts.shape[k] if k in (0, axis) else 1 for k in range(counts.ndim)]))


def delong_of_counts(positives: Floats, negatives: Floats) -> tuple[Floats, Floats]:
    """Return each night's AUC, or difference of AUCs, and its DeLong variance, from counts of nights and levels."""
    signs = (1, -1)[: positives.ndim - 1]
    cells = tuple(range(1, positives.ndim))
    variance = np.zeros(len(positives))
    for own, other in ((negatives, positives), (positives, negatives)):
        below = sum(sign * placed(other, k + 1) for k, sign in enumerate(signs))
        n = own.sum(axis=cells)
        mean = (own * below).sum(axis=cells) / n
        with np.errstate(divide="ignore", invalid="ignore"):
            variance += ((own * below**2).sum(axis=cells) - n * mean**2) / (n - 1) / n
    return mean, variance


def auc_path(
    rng: np.random.Generator, *, prevalence: float, aucs: tuple[float, ...], positives: tuple[int, int, int],
    falls_to: tuple[float, ...] | None = None,
) -> tuple[NormalEvidence, Floats]:  # fmt: skip
    """Return the evidence on an AUC, or on a difference between the AUCs of two models on the same rows.

    With `falls_to`, the scores change evenly over the year.
    """
    n_pos = sizes(rng, *positives)
    n_neg = np.maximum(np.round(n_pos * (1 - prevalence) / prevalence).astype(int), 2)
    shares = [each[np.newaxis] for each in cell_shares(aucs)]
    if falls_to is not None:
        late = np.linspace(0, 1, N_NIGHTS).reshape(-1, *[1] * len(aucs))
        shares = [(1 - late) * each + late * end for each, end in zip(shares, cell_shares(falls_to), strict=True)]
    flat = [each.reshape(len(each), -1) for each in shares]
    shape = (N_NIGHTS, *shares[0].shape[1:])
    negatives, drawn = (rng.multinomial(n, p).reshape(shape) for n, p in zip((n_neg, n_pos), flat, strict=True))
    values, variances = delong_of_counts(drawn.astype(float), negatives.astype(float))
    truths, _ = delong_of_counts(shares[1], shares[0])
    weights = n_pos * n_neg / (n_pos + n_neg)
    bounds = SHARE if len(aucs) == 1 else DIFFERENCE
    return Nights(values, variances, weights, np.minimum(n_pos, n_neg), truths).evidence(bounds)


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


def loss_path(
    rng: np.random.Generator, *, losses: Floats, shares: Floats, positives: tuple[int, int, int],
    prevalence: float, bounds: tuple[float, float],
) -> tuple[NormalEvidence, Any]:  # fmt: skip
    """Return the evidence on a mean loss: rows by label (first axis: negatives, positives) and probability."""
    n = np.round(sizes(rng, *positives) / prevalence).astype(int)
    counts = rng.multinomial(n, shares.ravel())
    mean = counts @ losses.ravel() / n
    variances = (counts @ losses.ravel() ** 2 - n * mean**2) / (n - 1) / n
    n_pos = counts[:, counts.shape[1] // 2 :].sum(axis=1)
    truth = float((losses * shares).sum())
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
    shares = [each[::-1] for each in cell_shares((auc,))]
    truth = float(average_precision(shares[1] * prevalence * 1e9, shares[0] * (1 - prevalence) * 1e9)[0])
    counts = [rng.multinomial(n, share) for n, share in zip((n_pos, n_neg), shares[::-1], strict=True)]
    if not pooled:
        values, variances = average_precision(*counts)
        return Nights(values, variances, n_pos.astype(float), np.minimum(n_pos, n_neg), truth).evidence(SHARE)
    values, variances = average_precision(*(np.cumsum(each, axis=0) for each in counts))
    smaller = np.minimum(np.cumsum(n_pos), np.cumsum(n_neg)).astype(float)
    return started(values, np.sqrt(variances), smaller, SHARE, smaller[0]), truth


# Settings ---------------------------------------------------------------------------------------------------------


def _settings_of_aucs() -> Iterator[Setting]:
    few, small = (200, 2, 10), (20, 20, 40)
    for prevalence in PREVALENCES:
        for auc in (0.8, 0.95, 0.99):
            draw = partial(auc_path, prevalence=prevalence, aucs=(auc,), positives=USUAL)
            yield Setting(f"AUC {auc}", _words(prevalence, USUAL), draw)
    later = (500, 20, 200)
    draw = partial(auc_path, prevalence=0.02, aucs=(0.99,), positives=later)
    yield Setting("AUC 0.99", _words(0.02, later), draw)
    for positives in (few, small):
        draw = partial(auc_path, prevalence=0.5, aucs=(0.95,), positives=positives)
        yield Setting("AUC 0.95", _words(0.5, positives), draw)
    falls = partial(auc_path, prevalence=0.5, aucs=(0.9,), positives=USUAL, falls_to=(0.8,))
    yield Setting("AUC falling from 0.9 to 0.8", _words(0.5, USUAL), falls)


def _settings_of_differences() -> Iterator[Setting]:
    for prevalence in PREVALENCES:
        for aucs in ((0.8, 0.8), (0.945, 0.95)):
            draw = partial(auc_path, prevalence=prevalence, aucs=aucs, positives=USUAL)
            yield Setting(f"AUC {aucs[0]} - AUC {aucs[1]}", _words(prevalence, USUAL), draw)


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

    log_odds = np.linspace(-4.5, 4.5, LEVELS) * 1.3
    weights = np.exp(-((log_odds / 1.3) ** 2) / 2)
    weights /= weights.sum()
    for prevalence in PREVALENCES:

        def excess(center: float, prevalence: float = prevalence) -> float:
            return float(weights @ expit(center + log_odds)) - prevalence

        p = expit(brentq(excess, -20, 20) + log_odds)
        shares = weights * np.stack([1 - p, p])
        for name, losses, bounds in (
            ("Brier score", np.stack([p**2, (1 - p) ** 2]), SHARE),
            ("log loss", -np.log(np.stack([1 - p, p])), POSITIVE),
        ):
            draw = partial(
                loss_path, losses=losses, shares=shares, positives=USUAL, prevalence=prevalence, bounds=bounds
            )
            yield Setting(f"{name} {(losses * shares).sum():.3f}", _words(prevalence, USUAL), draw)
    for name, power in (("squared normal error", 2.0), ("fourth power of a normal error", 4.0)):
        for rows in ((200, 20, 200), (1000, 20, 200)):
            words = f"{rows[0]:,}, then {rows[1]:,} to {rows[2]:,} rows"
            yield Setting(name, words, partial(heavy_path, power=power, rows=rows))


def _settings_of_ap() -> Iterator[Setting]:
    for pooled in (True, False):
        for prevalence, positives in ((0.5, USUAL), (0.1, USUAL), (0.1, (200, 200, 400))):
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


LOOKED_AT = [
    "roc_auc >= 0.7",
    "recall at threshold=0.5 >= 0.6",
    "roc_auc not worse than old by 0.02",
]


def processor_time(call: Callable[[int], object], n: int = 40) -> float:
    """Return the shortest processor time of a call, in milliseconds."""
    times = []
    for k in range(n):
        begun = time.process_time()
        call(k)
        times.append(time.process_time() - begun)
    return 1e3 * min(times)


def time_looks() -> None:
    """Print the processor time of a gate with a year of nights, and of the same gate for a single night."""
    from fastevals import gate

    rng = np.random.default_rng(SEED)

    def night(n: int = 60) -> dict[str, Any]:
        y = rng.random(n) < 0.5
        common = y + rng.normal(size=n)
        return {"y": y, **{model: expit(common + 0.4 * rng.normal(size=n)) for model in ("new", "old")}}

    def look(rules: list[str], k: int, state: FilePath | None = None) -> None:
        nightly: Any = {} if state is None else {"nightly": state, "night": f"night {k}"}
        gate(night(), rules, label="y", score=["new", "old"], reference="old", **nightly)

    with tempfile.TemporaryDirectory() as folder:
        for rules in (LOOKED_AT[:1], LOOKED_AT):
            state = FilePath(folder) / f"{len(rules)}.json"
            for k in range(N_NIGHTS):
                look(rules, -k, state)
            once = processor_time(partial(look, rules))
            of_year = processor_time(partial(look, rules, state=state))
            print(
                f"{len(rules)} rules, {N_NIGHTS} nights: {of_year:.1f} ms; without a state {once:.1f} ms; "
                f"state of {state.stat().st_size / 1000:.0f} kB"
            )


def main(names: list[str]) -> None:
    """Simulate studies and print a table in Markdown."""
    if names == ["look"]:
        time_looks()
        return
    print(f"| metric | nights | {' | '.join(HEADS)} |\n|---|---|{'---|' * len(HEADS)}")
    for name in names or STUDIES:
        for setting in STUDIES[name]():
            found = simulate(setting)
            cells = [f"{100 * share:.1f} %" for share in found[:5]] + [f"{ratio:.2f}" for ratio in found[5:7]]
            print(f"| {setting.metric} | {setting.nights} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
