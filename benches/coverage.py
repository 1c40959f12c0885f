"""Coverage: how often intervals and bands contain the truth, in simulations where the truth is known.

Scores are binormal: normal in each class, with a shift of sqrt(2) ndtri(AUC) between the classes. All methods of a
study see the same data sets, and all bootstrap methods the same replicates.
"""

from __future__ import annotations

import json
import math
import multiprocessing
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import islice, product
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

import fastevals
from benches.history import FOLDER
from fastevals._random import seed_key
from fastevals.counts import Cells
from fastevals.infer import bands
from fastevals.infer.bootstrap.bootstrap import METHODS as INTERVALS
from fastevals.infer.bootstrap.bootstrap import Limits, confidence_interval
from fastevals.infer.bootstrap.ranking_samples import RankingSample
from fastevals.infer.delong.placements import compute_ranking_moments
from fastevals.infer.delong.result import DelongResult
from fastevals.infer.tubes import Tube, studentised_edges
from fastevals.measure.metric_specs import parse_metrics, ranking_metric
from fastevals.measure.registry import SCORE_METRICS

Floats = NDArray[np.float64]
Drawn = tuple[NDArray[np.bool_], Floats, np.random.Generator]

PATH = FOLDER / "coverage.json"
SEED = 20250217
N_DATA_SETS, N_RESAMPLES, LEVEL = 2000, 999, 0.95
TASK = 20  # data sets per task of a process


@dataclass(frozen=True, slots=True)
class Setting:
    """The distribution of data sets, and how the bootstrap resamples them.

    Attributes
    ----------
    scheme : {"plain", "stratified"}
        "plain" draws labels by the prevalence and resamples all rows; "stratified" fixes class sizes in both.
    prevalence : float
        Probability of a positive.
    n : int
        Number of rows.
    auc : float
        True AUC of the unrounded scores.
    decimals : int or None
        Decimals that scores are rounded to.
    """

    scheme: str
    prevalence: float
    n: int
    auc: float
    decimals: int | None = None

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


class Study(NamedTuple):
    """One simulation, which becomes one table.

    Attributes
    ----------
    title : str
        Title of the table.
    settings : tuple of Setting
        Rows of the table.
    methods : tuple of str
        Columns of the table.
    measure : callable
        Maps a setting, a data set's number and a number of replicates to an array of shape (n_methods, 3): whether
        each method's interval or band lies below the truth anywhere, whether it lies above, and its width. A method
        without an interval gets NaN.
    beside : dict of str to pair of str
        Additional columns: the mean width of one method as a share of another's.
    undefined : dict of str to str
        Additional columns: how often a method has no interval.
    n_resamples : int
        Replicates per data set.
    """

    title: str
    settings: tuple[Setting, ...]
    methods: tuple[str, ...]
    measure: Callable[[Setting, int, int], Floats]
    beside: Mapping[str, tuple[str, str]] = {}
    undefined: Mapping[str, str] = {}
    n_resamples: int = N_RESAMPLES


def draw(setting: Setting, number: int) -> Drawn:
    """Return the labels and scores of a numbered data set, and its generator, for the bootstrap."""
    shares = (round(1000 * share) for share in (setting.prevalence, setting.auc))
    rng = np.random.default_rng([SEED, setting.stratified, setting.n, *shares, number])
    y = np.arange(setting.n) < setting.sizes[0] if setting.stratified else rng.random(setting.n) < setting.prevalence
    scores = rng.standard_normal(setting.n) + y * _shift(setting.auc)
    if setting.decimals is not None:
        scores = np.asarray(np.round(scores, setting.decimals))
    return y, scores, rng


def _shift(auc: float) -> float:
    from scipy.special import ndtri

    return math.sqrt(2) * float(ndtri(auc))


def _against(truth: Floats | float, ends: Floats) -> Floats:
    """Compare intervals, shape (n, 2), with the truth, and compute their widths."""
    low, high = ends.T
    found = np.stack([high < truth, low > truth, high - low], axis=1).astype(np.float64)
    found[np.isnan(low)] = math.nan
    return found


# AUC --------------------------------------------------------------------------------------------------------------

DELONG: dict[str, Literal["delong", "logit"]] = {"DeLong": "delong", "DeLong, logit": "logit"}
METHODS = (*INTERVALS, *DELONG)
ASKED = parse_metrics("roc_auc")


def intervals_of(setting: Setting, number: int, n_resamples: int) -> Floats:
    """Return each method's interval on a numbered data set, shape (n_methods, 2); NaN if it has none."""
    y, s, rng = draw(setting, number)
    found = np.full((len(METHODS), 2), math.nan)
    if y.all() or not y.any():
        return found
    ranking = fastevals.Ranking(y, s)
    found[: -len(DELONG)] = _bootstrap(ranking, setting.stratified, seed_key("rng", rng), n_resamples)
    found[-len(DELONG) :] = _delong(ranking)
    return found


def _bootstrap(ranking: fastevals.Ranking, stratified: bool, key: np.uint64, n_resamples: int) -> list[Any]:
    """Compute `bootstrap`'s intervals for all methods in one call, without warnings."""
    sample = RankingSample(ranking.counts, [ranking_metric(each) for each in ASKED.values()], stratified=stratified)
    replicates = sample.replicates(n_resamples, key)[0]
    replicates = replicates[~np.isnan(replicates)]
    value, acceleration = float(sample.estimates()[0]), float(sample.accelerations(key, [0])[0])
    return [
        confidence_interval(
            method,
            replicates,
            value,
            confidence_level=LEVEL,
            alternative="two-sided",
            acceleration=acceleration,
            limits=Limits((0.0, 1.0)),
        )
        for method in INTERVALS
    ]


def _delong(ranking: fastevals.Ranking) -> Floats:
    """Compute `delong`'s intervals without warnings."""
    moments = compute_ranking_moments(ranking.counts)
    aucs, covariance = moments.aucs(), moments.covariance()
    if not covariance.all():  # both intervals are the AUC itself
        return np.full((len(DELONG), 2), aucs[0])
    result = DelongResult(aucs, covariance, None, moments.n_pos, moments.n_neg, moments)
    return np.array([np.ravel(result.confidence_interval(LEVEL, method)) for method in DELONG.values()])


# Other metrics, and paired differences --------------------------------------------------------------------------

METRICS: dict[str, Any] = {
    "AUC": "roc_auc",
    "AP": "average_precision",
    "KS": "ks_statistic",
    "EER": "equal_error_rate",
    "BEP": "break_even_point",
    "best F1": fastevals.metric("f1", best="f1"),
}
CHOSEN = ("f1", "accuracy", "precision", "recall", "matthews")  # at the threshold of the best F1
METRIC_COLUMNS = (*METRICS, *(f"Δ {name}" for name in METRICS))
LESS = 0.05  # the first model's AUC minus the other's
SHARED = 0.5  # correlation of the models' scores within a class


@lru_cache(maxsize=64)
def truth_of(auc: float, prevalence: float) -> dict[str, float]:
    """Compute the population's metrics from their definitions."""
    from scipy.special import ndtr

    shift = _shift(auc)
    thresholds = np.linspace(shift + 9, -9, 400_001)
    fpr, tpr = ndtr(-thresholds), ndtr(shift - thresholds)
    found = prevalence * tpr
    predicted = found + (1 - prevalence) * fpr
    precision = found / predicted
    f1 = 2 * found / (prevalence + predicted)
    best = int(f1.argmax())
    tp, fp = found[best], predicted[best] - found[best]
    at = Cells(tp, fp, prevalence - tp, 1 - prevalence - fp)
    even = np.searchsorted(predicted, prevalence)
    return {
        "AUC": auc,
        "AP": float(((precision[1:] + precision[:-1]) / 2 * np.diff(tpr)).sum()),
        "KS": float((tpr - fpr).max()),
        "EER": float(ndtr(-shift / 2)),
        "BEP": float(precision[even]),
        "best F1": float(f1[best]),
        **{f"best F1: {name}": float(SCORE_METRICS[name](at)) for name in CHOSEN},
    }


def differences_of(setting: Setting, number: int, n_resamples: int) -> Floats:
    """Compare BCa intervals with the truth, for a model's metrics and for the differences between two models."""
    y, s, rng = draw(setting, number)
    if y.all() or not y.any():
        return np.full((2 * len(METRICS), 3), math.nan)
    own, less = _shift(setting.auc), setting.auc - LESS
    noise = SHARED * (s - y * own) + math.sqrt(1 - SHARED**2) * rng.standard_normal(setting.n)
    scores = {"a": s, "b": noise + y * _shift(less)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fastevals.UndefinedMetricWarning)
        found = fastevals.compare_rankings(
            y, scores, metrics=METRICS, n_resamples=n_resamples, confidence_level=LEVEL, rng=rng,
            stratified=setting.stratified,
        )  # fmt: skip
    truths = (truth_of(auc, setting.prevalence) for auc in (setting.auc, less))
    a, b = (np.array([truth[name] for name in METRICS]) for truth in truths)
    ends = [found[name].estimates["a"].confidence_interval for name in METRICS]
    apart = [found[name].differences[0].confidence_interval for name in METRICS]
    return _against(np.concatenate([a, a - b]), np.array([*ends, *apart], dtype=np.float64))


# Bands ------------------------------------------------------------------------------------------------------------

CURVES = {"ROC": "roc", "P-R": "precision_recall"}
BANDS = tuple(f"{curve}, {method}" for curve in CURVES for method in ("studentised", "kolmogorov"))


def chosen_of(setting: Setting, number: int, n_resamples: int) -> Floats:
    """Compare BCa intervals with the truth, for metrics at the threshold of the best F1 (chosen in each replicate)."""
    y, s, rng = draw(setting, number)
    if y.all() or not y.any():
        return np.full((len(CHOSEN), 3), math.nan)
    asked = [fastevals.metric(name, best="f1") for name in CHOSEN]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fastevals.UndefinedMetricWarning)
        found = fastevals.bootstrap((y, s), asked, n_resamples=n_resamples, rng=rng)
    truth = truth_of(setting.auc, setting.prevalence)
    ends = np.array([found[str(each)].confidence_interval for each in asked])
    return _against(np.array([truth[f"best F1: {name}"] for name in CHOSEN]), ends)


def bands_of(setting: Setting, number: int, n_resamples: int) -> Floats:
    """Compare simultaneous bands with the true curves; both curves' bands use the same replicates."""
    y, s, rng = draw(setting, number)
    counts = fastevals.Ranking(y, s).counts
    tube = Tube.estimate(counts, LEVEL, n_resamples, seed_key("rng", rng))
    found = []
    for curve in CURVES.values():
        studentised = studentised_edges(counts, curve, None, tube)
        kolmogorov = bands.kolmogorov_edges(counts, curve, LEVEL, studentised[0])
        found += [_of_band(setting, curve, *each) for each in (studentised, kolmogorov)]
    return np.array(found)


def _of_band(setting: Setting, curve: str, x: Floats, low: Floats, high: Floats) -> tuple[float, float, float]:
    """Return whether a band is anywhere below the true curve, whether it is anywhere above, and its mean width."""
    axis = int(curve != "roc")
    at = np.union1d(x, _true_curve(setting)[axis])
    at, true = at[axis:], _true_at(setting, at, axis)[axis:]  # precision is 0 / 0 at a recall of 0
    if axis:
        n_pos, n_neg = setting.sizes
        true = at * n_pos / (at * n_pos + true * n_neg)
    below, above = (np.interp(at, x, high) < true - 1e-12).any(), (np.interp(at, x, low) > true + 1e-12).any()
    return bool(below), bool(above), float(np.trapezoid(high - low, x))


@lru_cache(maxsize=64)
def _true_curve(setting: Setting) -> tuple[Floats, Floats]:
    """Compute the population's FPR and TPR: at all corners if scores are rounded, else at 2,401 thresholds."""
    from scipy.special import ndtr

    step = 0.01 if setting.decimals is None else 10.0**-setting.decimals
    thresholds = np.arange(15, -9, -step) - step / 2
    rates = (ndtr(shift - thresholds) for shift in (0.0, _shift(setting.auc)))
    fpr, tpr = (np.concatenate([[0.0], each, [1.0]]) for each in rates)
    return fpr, tpr


def _true_at(setting: Setting, at: Floats, axis: int) -> Floats:
    """Compute the population's TPR at false positive rates or, on axis 1, its FPR at true positive rates."""
    from scipy.special import ndtr, ndtri

    if setting.decimals is None:
        return np.asarray(ndtr(ndtri(at) + _shift(setting.auc) * (1 - 2 * axis)))
    curve = _true_curve(setting)
    return np.interp(at, curve[axis], curve[1 - axis])


# All --------------------------------------------------------------------------------------------------------------


def _aucs(setting: Setting, number: int, n_resamples: int) -> Floats:
    return _against(setting.auc, intervals_of(setting, number, n_resamples))


def _settings(schemes: Any, prevalences: Any, rows: Any, aucs: Any, decimals: Any = (None,)) -> tuple[Setting, ...]:
    return tuple(Setting(*each) for each in product(schemes, prevalences, rows, aucs, decimals))


STUDIES = {
    "auc": Study(
        "Intervals of AUC",
        _settings(("plain", "stratified"), (0.05, 0.5), (50, 200, 2000), (0.7, 0.9, 0.95)),
        METHODS,
        _aucs,
        undefined={"no BCa": "BCa", "no DeLong": "DeLong"},
    ),
    "metrics": Study(
        "BCa intervals of metrics, and of differences (Δ) between two models",
        _settings(("plain",), (0.05, 0.2, 0.5), (300,), (0.7, 0.9, 0.95))
        + _settings(("plain",), (0.05,), (2000,), (0.7, 0.9, 0.95)),
        METRIC_COLUMNS,
        differences_of,
        n_resamples=499,
    ),
    "chosen": Study(
        "BCa intervals of metrics at the threshold of the best F1, chosen on the same rows",
        _settings(("plain",), (0.2, 0.5), (400,), (0.8, 0.9)) + _settings(("plain",), (0.05,), (2000,), (0.8, 0.9)),
        CHOSEN,
        chosen_of,
        n_resamples=499,
    ),
    "bands": Study(
        "Simultaneous bands, and their mean width as a share of Kolmogorov's",
        _settings(("stratified",), (0.05, 0.5), (200, 2000, 20_000), (0.7, 0.9, 0.99), (None, 1)),
        BANDS,
        bands_of,
        {f"width, {curve}": (f"{curve}, studentised", f"{curve}, kolmogorov") for curve in CURVES},
        n_resamples=499,
    ),
}


def simulate(
    study: Study,
    settings: Iterable[Setting] | None = None,
    n_data_sets: int = N_DATA_SETS,
    n_resamples: int | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield the methods' results on each setting's data sets, one setting at a time.

    One process runs per thread that fastevals may use. Threads would not help: a draw of few rows takes microseconds,
    and between draws threads wait for the interpreter, so two threads take 1.6 times as long as one.
    """
    n_resamples = n_resamples or study.n_resamples
    settings = list(study.settings if settings is None else settings)
    parts = [range(start, min(start + TASK, n_data_sets)) for start in range(0, n_data_sets, TASK)]
    tasks = [(study.measure, setting, part, n_resamples) for setting in settings for part in parts]
    with _mapping(min(fastevals.get_num_threads(), len(tasks))) as mapped:
        results = iter(mapped(_task, tasks))
        for setting in settings:
            yield _summary(study, setting, np.concatenate(list(islice(results, len(parts)))))


@contextmanager
def _mapping(processes: int) -> Iterator[Callable[..., Iterable[Any]]]:
    """Yield a `map` that runs in processes."""
    if processes == 1:
        yield map
        return
    context = multiprocessing.get_context("spawn")  # "fork" copies locks that other threads may hold
    with ProcessPoolExecutor(processes, context) as pool:
        try:
            yield pool.map
        finally:
            pool.shutdown(cancel_futures=True)  # some tasks are left after an error or Ctrl-C


def _task(task: tuple[Callable[[Setting, int, int], Floats], Setting, range, int]) -> Floats:
    measure, setting, numbers, n_resamples = task
    with fastevals.num_threads(1):
        return np.stack([measure(setting, number, n_resamples) for number in numbers])


def _summary(study: Study, setting: Setting, found: Floats) -> dict[str, Any]:
    """Compute the shares that cover, miss and are undefined; mean widths exclude the undefined."""
    low, high, width = np.moveaxis(found, -1, 0)
    undefined = np.isnan(width)
    shares = {
        "coverage": (low == 0) & (high == 0),
        "too_low": low == 1,
        "too_high": high == 1,
        "undefined": undefined,
        "without_width": width == 0,
    }
    means = {name: marked.mean(axis=0) for name, marked in shares.items()}
    there = len(found) - undefined.sum(axis=0)
    means["mean_width"] = np.where(undefined, 0.0, width).sum(axis=0) / np.maximum(there, 1)
    methods = {
        method: {name: round(float(values[k]), 5) for name, values in means.items()}
        for k, method in enumerate(study.methods)
    }
    return {**asdict(setting), "n_positives": setting.sizes[0], "n_negatives": setting.sizes[1], "methods": methods}


def entry_of(studies: Mapping[str, Sequence[Mapping[str, Any]]], n_data_sets: int = N_DATA_SETS) -> dict[str, Any]:
    """Return the entry to save, with each study's results by setting."""
    return {
        "version": fastevals.__version__,
        "seed": SEED,
        "n_data_sets": n_data_sets,
        "confidence_level": LEVEL,
        "studies": {
            name: {"n_resamples": STUDIES[name].n_resamples, "settings": list(studies[name])}
            for name in STUDIES
            if name in studies
        },
    }


def saved() -> dict[str, Any]:
    """Read the saved entry."""
    if not PATH.exists():
        raise FileNotFoundError(f"{PATH} does not exist: make it with 'python -m benches coverage'")
    entry: dict[str, Any] = json.loads(PATH.read_text())
    return entry
