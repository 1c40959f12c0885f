"""Coverage: how often intervals of an AUC hold the true one, in simulations where that is known.

Scores are binormal: normal in each class, with a shift of sqrt(2) ndtri(AUC) between them. All methods see the same
data sets, and those of the bootstrap the same replicates.
"""

from __future__ import annotations

import json
import math
import multiprocessing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import islice, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

import fastevals
from benches.history import FOLDER
from fastevals._random import seed_key
from fastevals.infer.bootstrap import intervals
from fastevals.infer.bootstrap.samples.ranking import RankingSample
from fastevals.infer.delong import DelongResult
from fastevals.infer.delong.placements import moments_of_ranking
from fastevals.measure.asked import as_asked, of_ranking

__all__ = ["LEVEL", "METHODS", "PATH", "SETTINGS", "Setting", "draw", "entry_of", "intervals_of", "saved", "simulate"]

Floats = NDArray[np.float64]

PATH = FOLDER / "coverage.json"
SEED = 20250217
N_DATA_SETS, N_RESAMPLES, LEVEL = 2000, 999, 0.95
TASK = 50  # data sets that a process takes at a time
DELONG = {"DeLong": "delong", "DeLong, logit": "logit"}
METHODS = (*intervals.METHODS, *DELONG)
ASKED = as_asked("roc_auc")


@dataclass(frozen=True, slots=True)
class Setting:
    """Where data sets are drawn from, and how the bootstrap draws from them.

    Attributes
    ----------
    scheme : {"plain", "stratified"}
        Labels drawn by the prevalence, and rows by the bootstrap; or class sizes fixed for both.
    prevalence : float
        Chance of a positive.
    n : int
        Rows.
    auc : float
        The true one.
    """

    scheme: str
    prevalence: float
    n: int
    auc: float

    @property
    def stratified(self) -> bool:
        """Whether class sizes are fixed."""
        return self.scheme == "stratified"

    @property
    def sizes(self) -> tuple[float, float]:
        """Mean numbers of positives and negatives."""
        n_pos = self.n * self.prevalence
        n_pos = round(n_pos) if self.stratified else n_pos
        return n_pos, self.n - n_pos


SETTINGS = tuple(
    Setting(*each) for each in product(("plain", "stratified"), (0.05, 0.5), (50, 200, 2000), (0.7, 0.9, 0.95))
)


def draw(setting: Setting, number: int) -> tuple[NDArray[np.bool_], Floats, np.random.Generator]:
    """Give the labels and scores of a numbered data set, and what is left of its random bits, for the bootstrap."""
    from scipy.special import ndtri

    shares = (round(1000 * share) for share in (setting.prevalence, setting.auc))
    rng = np.random.default_rng([SEED, setting.stratified, setting.n, *shares, number])
    y = np.arange(setting.n) < setting.sizes[0] if setting.stratified else rng.random(setting.n) < setting.prevalence
    return y, rng.standard_normal(setting.n) + y * (math.sqrt(2) * float(ndtri(setting.auc))), rng


def intervals_of(setting: Setting, number: int, n_resamples: int) -> Floats:
    """Give the interval of each method on a numbered data set, of shape (n_methods, 2); NaN where it has none."""
    y, s, rng = draw(setting, number)
    found = np.full((len(METHODS), 2), math.nan)
    if y.all() or not y.any():
        return found
    ranking = fastevals.Ranking(y, s)
    found[: -len(DELONG)] = _bootstrap(ranking, setting.stratified, seed_key("rng", rng), n_resamples)
    found[-len(DELONG) :] = _delong(ranking)
    return found


def _bootstrap(ranking: fastevals.Ranking, stratified: bool, key: np.uint64, n_resamples: int) -> list[Any]:
    """Do what `bootstrap` does, for all methods at once and without its warnings."""
    sample = RankingSample(ranking.counts, [of_ranking(each) for each in ASKED.values()], stratified=stratified)
    replicates = sample.replicates(n_resamples, key)[0]
    replicates = replicates[~np.isnan(replicates)]
    value, acceleration = float(sample.estimates()[0]), float(sample.accelerations(key, [0])[0])
    return [
        intervals.confidence_interval(
            method,
            replicates,
            value,
            confidence_level=LEVEL,
            alternative="two-sided",
            acceleration=acceleration,
            bounds=(0.0, 1.0),
        )
        for method in intervals.METHODS
    ]


def _delong(ranking: fastevals.Ranking) -> Floats:
    """Do what `delong` does, without its warnings."""
    moments = moments_of_ranking(ranking)
    aucs, covariance = moments.aucs(), moments.covariance()
    if not covariance.all():  # both give the AUC itself
        return np.full((len(DELONG), 2), aucs[0])
    result = DelongResult(aucs, covariance, None, moments.n_pos, moments.n_neg, moments)
    return np.array([np.ravel(result.confidence_interval(LEVEL, method)) for method in DELONG.values()])


def simulate(
    settings: Iterable[Setting] = SETTINGS, n_data_sets: int = N_DATA_SETS, n_resamples: int = N_RESAMPLES
) -> Iterator[dict[str, Any]]:
    """Give what the intervals of each setting's data sets came to, a setting at a time.

    One process for each thread that fastevals may use: a draw of few rows takes microseconds, and between draws threads
    wait for the interpreter, so that two of them take 1.6 times as long as one.
    """
    settings = list(settings)
    parts = [range(start, min(start + TASK, n_data_sets)) for start in range(0, n_data_sets, TASK)]
    tasks = [(setting, part, n_resamples) for setting in settings for part in parts]
    with _mapping(min(fastevals.get_num_threads(), len(tasks))) as mapped:
        results = iter(mapped(_task, tasks))
        for setting in settings:
            yield _summary(setting, np.concatenate(list(islice(results, len(parts)))))


@contextmanager
def _mapping(processes: int) -> Iterator[Callable[..., Iterable[Any]]]:
    """Give a `map` over processes."""
    if processes == 1:
        yield map
        return
    context = multiprocessing.get_context("spawn")  # "fork" copies locks that other threads may hold
    with ProcessPoolExecutor(processes, context) as pool:
        try:
            yield pool.map
        finally:
            pool.shutdown(cancel_futures=True)  # of which some are left after an error or Ctrl-C


def _task(task: tuple[Setting, range, int]) -> Floats:
    setting, numbers, n_resamples = task
    with fastevals.num_threads(1):
        return np.stack([intervals_of(setting, number, n_resamples) for number in numbers])


def _summary(setting: Setting, found: Floats) -> dict[str, Any]:
    """Count what covers, misses and isn't there; widths are means over what is there."""
    low, high = np.moveaxis(found, -1, 0)
    undefined = np.isnan(low)
    shares = {
        "coverage": (low <= setting.auc) & (setting.auc <= high),
        "too_low": high < setting.auc,
        "too_high": low > setting.auc,
        "undefined": undefined,
        "without_width": low == high,
    }
    means = {name: marked.mean(axis=0) for name, marked in shares.items()}
    there = len(found) - undefined.sum(axis=0)
    means["mean_width"] = np.where(undefined, 0.0, high - low).sum(axis=0) / np.maximum(there, 1)
    methods = {
        method: {name: round(float(values[k]), 5) for name, values in means.items()} for k, method in enumerate(METHODS)
    }
    return {**asdict(setting), "n_positives": setting.sizes[0], "n_negatives": setting.sizes[1], "methods": methods}


def entry_of(
    rows: Sequence[Mapping[str, Any]], n_data_sets: int = N_DATA_SETS, n_resamples: int = N_RESAMPLES
) -> dict[str, Any]:
    """Make what is saved of the settings' results."""
    return {
        "version": fastevals.__version__,
        "seed": SEED,
        "n_data_sets": n_data_sets,
        "n_resamples": n_resamples,
        "confidence_level": LEVEL,
        "settings": list(rows),
    }


def saved() -> dict[str, Any]:
    """Read what was saved last."""
    if not PATH.exists():
        raise FileNotFoundError(f"{PATH} is not there: make it with 'python -m benches coverage'")
    entry: dict[str, Any] = json.loads(PATH.read_text())
    return entry
