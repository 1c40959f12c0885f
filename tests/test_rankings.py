"""Every call accepts a ranking from every source: sources of rankings against calls that take one."""

from __future__ import annotations

import copy
import math
import pickle
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from enum import IntEnum
from functools import cache
from typing import Any

import numpy as np
import pytest

import fastevals as fe
from fastevals.measure.curves import registry
from fastevals.measure.ranking.base import BaseRanking
from fastevals.scale import Certified, RankingSummary, ScoresSummary
from fastevals.scale.scores import CountedBlock

N = 900
FEW = {"n_resamples": 40, "rng": 0}
CURVES = [name for name, entry in registry.CURVES.items() if not entry.made_by]


class Known(IntEnum):
    """Knowledge about the rows' scores, from least to most."""

    RANGES = 0
    POSITIVES = 1  # each positive's score, and the negatives between adjacent ones
    EACH = 2


@cache
def rows() -> tuple[Any, Any, Any]:
    """Return labels, scores with 2 decimals, and distinct scores."""
    rng = np.random.default_rng(0)
    y = (rng.random(N) < 0.3).astype(int)
    fine = 1 / (1 + np.exp(-(rng.normal(size=N) + y - 0.5)))
    return y, np.round(fine, 2), fine


def summary(scores: Any, cells: int) -> RankingSummary:
    made = RankingSummary(cells=cells)
    made.update(rows()[0], scores)
    return made


@contextmanager
def nothing_held() -> Iterator[None]:
    """Read even few rows of files in two scans."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fastevals.scale.parquet.ROWS_HELD", -1)
        yield


def by_parquet(*, held: bool = False, **options: Any) -> Any:
    from fastevals.scale import parquet

    pa = pytest.importorskip("pyarrow")
    y, p, q = rows()
    with nullcontext() if held else nothing_held():
        return parquet.ranking(pa.table({"y": y, "p": p, "q": q}), label="y", **options)


def by_engine(**options: Any) -> Any:
    pa = pytest.importorskip("pyarrow")
    pytest.importorskip("cloudpickle")
    from tests.scale.local_frames import LOCAL, LocalFrame

    y, p, q = rows()
    table = pa.table({"y": y, "p": p, "q": q})
    return LOCAL.ranking(LocalFrame([table.slice(0, 300), table.slice(300)]), label="y", **options)


def model_of_file() -> Any:
    y, p, _ = rows()
    block = CountedBlock(N, int(y.sum()), {"p": summary(p, 2**10)}, {})
    stored = ScoresSummary("y", ("p",), labels=(1, 0), blocks={None: block}).to_bytes()
    return ScoresSummary.from_bytes(stored).blocks[None].summaries["p"]


def pool() -> Any:
    y, p, _ = rows()
    return fe.RankingFolds.from_scores(y, p, np.arange(N) % 3).pool()


def pool_of_rankings() -> Any:
    y, p, _ = rows()
    return fe.RankingFolds([fe.Ranking(y[k::3], p[k::3]) for k in range(3)]).pool()


def member_of_classes() -> Any:
    y, p, _ = rows()
    return fe.ClassRankings(y, np.column_stack([1 - p, p])).rankings[1]


SUBJECTS: dict[str, tuple[Callable[[], Any], Known]] = {
    "Ranking": (lambda: fe.Ranking(*rows()[:2]), Known.EACH),
    "ThresholdCounts": (lambda: fe.Ranking(*rows()[:2]).counts, Known.EACH),
    "RankingSummary": (lambda: summary(rows()[1], 2**10), Known.EACH),
    "RankingSummary, ranges": (lambda: summary(rows()[2], 64), Known.RANGES),
    "pool": (pool, Known.EACH),
    "pool of rankings": (pool_of_rankings, Known.EACH),
    "member of ClassRankings": (member_of_classes, Known.EACH),
    "summary.ranking()": (lambda: summary(rows()[1], 2**10).ranking(), Known.EACH),
    "summary.ranking(), ranges": (lambda: summary(rows()[2], 64).ranking(), Known.RANGES),
    "parquet.ranking, held rows": (lambda: by_parquet(score="p", held=True), Known.EACH),
    "parquet.ranking": (lambda: by_parquet(score="q"), Known.POSITIVES),
    "parquet.ranking, few scores": (lambda: by_parquet(score="p"), Known.EACH),
    "parquet.ranking, several scans": (lambda: by_parquet(score="p", memory="4KB"), Known.RANGES),
    "parquet.ranking, ranges": (lambda: by_parquet(score="q", exact=False, cells=64), Known.RANGES),
    "engine.ranking": (lambda: by_engine(score="q", exact=True), Known.POSITIVES),
    "engine.ranking, ranges": (lambda: by_engine(score="q", cells=64), Known.RANGES),
    "model of a .fe file": (model_of_file, Known.EACH),
}


def has_few_scores(name: str) -> bool:
    """Return whether a subject is made from scores with 2 decimals."""
    return "ranges" not in name and name not in ("parquet.ranking", "engine.ranking")


@cache
def subject_of(name: str) -> Any:
    return SUBJECTS[name][0]()


def as_ranking(subject: Any) -> Any:
    """Return an object with a ranking's methods; counts and summaries convert to one."""
    if isinstance(subject, fe.ThresholdCounts):
        return fe.Ranking.from_threshold_counts(subject)
    return subject.ranking() if isinstance(subject, RankingSummary) else subject


def plotted(kind: str) -> Callable[[Any], Any]:
    def call(subject: Any) -> Any:
        pytest.importorskip("matplotlib")
        from matplotlib.figure import Figure

        import fastevals.show.plots as plots

        return getattr(plots, f"plot_{kind}")(subject, ax=Figure().subplots())

    return call


def method(name: str, *given: Any, **options: Any) -> Callable[[Any], Any]:
    return lambda subject: getattr(as_ranking(subject), name)(*given, **options)


def same(made: Any, subject: Any) -> None:
    assert as_ranking(made).roc_auc() == as_ranking(subject).roc_auc()


LEAST = {name: Known.EACH if registry.CURVES[name].detail == "THRESHOLDS" else Known.RANGES for name in CURVES}
# Inference calls, and the least knowledge of scores that each needs.
INFERRED: dict[str, tuple[Callable[[Any], Any], Known]] = {
    "bootstrap": (lambda s: fe.bootstrap(s, ["roc_auc", "average_precision", "ks_statistic"], **FEW), Known.RANGES),
    "bootstrap, brier_score": (lambda s: fe.bootstrap(s, "brier_score", **FEW), Known.EACH),
    "bootstrap_unpaired": (lambda s: fe.bootstrap_unpaired(s, s, "roc_auc", **FEW), Known.RANGES),
    "calibration": (lambda s: fe.calibration(s), Known.EACH),
    "confidence_band": (lambda s: fe.confidence_band(s, n_resamples=40), Known.POSITIVES),
    "confidence_band, pointwise": (lambda s: fe.confidence_band(s, kind="pointwise", **FEW), Known.POSITIVES),
    "delong": (lambda s: fe.delong(s), Known.RANGES),
    "delong_test_unpaired": (lambda s: fe.delong_test_unpaired(s, s), Known.RANGES),
    "score_drift": (lambda s: fe.score_drift(s, s), Known.RANGES),
    "gain_table": (lambda s: fe.gain_table(s), Known.RANGES),
    "reliability_band": (lambda s: fe.reliability_band(s), Known.EACH),
    "reliability_band, consistency": (
        lambda s: fe.reliability_band(s, kind="consistency", n_resamples=100, rng=0),
        Known.EACH,
    ),
    "report": (lambda s: fe.report(s, n_resamples=40), Known.RANGES),
}
READ: dict[str, tuple[Callable[[Any], Any], Known]] = {
    **{f"plot_{kind}": (plotted(kind), known) for kind, known in LEAST.items()},
    **{f"{kind}_curve": (method(f"{kind}_curve"), known) for kind, known in LEAST.items()},
    "plot_cost_over_prior": (plotted("cost_over_prior"), Known.RANGES),
    "plot_score_histogram": (plotted("score_histogram"), Known.EACH),
    "report without intervals": (lambda s: fe.report(s, n_resamples=0), Known.RANGES),
    "roc_auc": (method("roc_auc"), Known.RANGES),
    "partial roc_auc": (method("roc_auc", max_fpr=0.2), Known.RANGES),
    "rank_loss": (method("rank_loss"), Known.RANGES),
    "gini": (method("gini"), Known.RANGES),
    "expected_calibration_error": (method("expected_calibration_error", 5), Known.EACH),
    "smooth_calibration_error": (method("smooth_calibration_error"), Known.EACH),
    "average_precision": (method("average_precision"), Known.RANGES),
    "pr_auc": (method("pr_auc"), Known.RANGES),
    "ks_statistic": (method("ks_statistic"), Known.RANGES),
    "break_even_point": (method("break_even_point"), Known.RANGES),
    "equal_error_rate": (method("equal_error_rate"), Known.RANGES),
    "equal_error_rate_on_hull": (method("equal_error_rate", on_hull=True), Known.RANGES),
    "brier_score": (method("brier_score"), Known.EACH),
    "brier_decomposition": (method("brier_decomposition"), Known.EACH),
    "log_loss": (method("log_loss"), Known.EACH),
    "log_loss_decomposition": (method("log_loss_decomposition"), Known.EACH),
    "confusion_at": (method("confusion_at", 0.5), Known.RANGES),
    "best_threshold": (method("best_threshold", "f1"), Known.RANGES),
    "threshold_for": (method("threshold_for", recall=0.9), Known.RANGES),
    "quota": (method("threshold_for", n_predicted=100), Known.RANGES),
    "expected_cost": (method("expected_cost", 0.5), Known.RANGES),
    "net_benefit": (method("net_benefit", 0.5), Known.RANGES),
    "pickle": (lambda s: same(pickle.loads(pickle.dumps(s)), s), Known.RANGES),
    "deepcopy": (lambda s: same(copy.deepcopy(s), s), Known.RANGES),
}
WHY = {
    Known.POSITIVES: "needs the scores of negatives, which are not kept: .* rows in memory, .* ProbabilitySummary",
    Known.RANGES: "ranges of scores.* ProbabilitySummary|(for|of|has) ranges of scores|not exact|with bounds",
}


PAIRS = [(name, consumer) for name in SUBJECTS for consumer in (*INFERRED, *READ)]
DRAWN = ("RankingSummary", "parquet.ranking", "engine.ranking, ranges")  # in every run; the others with the slow tests


@pytest.mark.parametrize(
    ("name", "consumer"),
    [
        pytest.param(*pair, marks=pytest.mark.slow if pair[1].startswith("plot_") and pair[0] not in DRAWN else ())
        for pair in PAIRS
    ],
)
def test_every_call_takes_every_ranking(name: str, consumer: str) -> None:
    call, needed = {**INFERRED, **READ}[consumer]
    known = SUBJECTS[name][1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if name == "pool of rankings" and consumer in INFERRED:
            with pytest.raises(ValueError, match=r"^rows of Ranking\(.*several of the pooled folds.* groups="):
                call(subject_of(name))
        elif known < needed:
            with pytest.raises(ValueError, match=WHY[known]):
                call(subject_of(name))
        else:
            call(subject_of(name))


@pytest.mark.parametrize("name", SUBJECTS)
def test_each_has_the_rows_classes_and_numbers(name: str) -> None:
    y, p, q = rows()
    known = SUBJECTS[name][1]
    ranking, expected = as_ranking(subject_of(name)), fe.Ranking(y, p if has_few_scores(name) else q)
    assert isinstance(ranking, BaseRanking)
    assert not ranking.is_weighted
    assert (ranking.n_samples, ranking.n_positives, ranking.n_negatives) == (N, y.sum(), N - y.sum())
    assert (ranking.pos_label, repr(ranking)) == (1, repr(expected))
    np.testing.assert_array_equal(ranking.confusion_at(0.5 if known else math.inf).labels, [0, 1])
    for metric in ("roc_auc", "gini", "average_precision", "pr_auc"):
        value, true = getattr(ranking, metric)(), getattr(expected, metric)()
        if isinstance(value, Certified):
            assert value.low <= true <= value.high
        else:
            assert value == pytest.approx(true, rel=1e-12)


@pytest.mark.parametrize("name", [name for name, (_, known) in SUBJECTS.items() if known and "of rankings" not in name])
def test_delong_of_the_same_rows_is_the_same(name: str) -> None:
    y, p, q = rows()
    ranking = fe.Ranking(y, p if has_few_scores(name) else q)
    found, expected = fe.delong(subject_of(name)), fe.delong(ranking)
    assert (found.aucs[0], found.covariance[0, 0]) == (expected.aucs[0], expected.covariance[0, 0])
    band, other = (fe.confidence_band(s, method="kolmogorov") for s in (subject_of(name), ranking))
    at = np.linspace(0, 1, 50)
    np.testing.assert_allclose(np.interp(at, band.x, band.low), np.interp(at, other.x, other.low), atol=1e-12)


def test_what_is_pooled_of_rows_apart_is_drawn_as_one_ranking() -> None:
    ranking = fe.Ranking(*rows()[:2])
    one, other = (fe.bootstrap(each, ["roc_auc"], **FEW)["roc_auc"] for each in (pool(), ranking))
    assert (one.value, one.confidence_interval) == (other.value, other.confidence_interval)


def test_pools_pickled_by_0_3_are_rankings() -> None:
    """Restore the state of a former PooledRanking, with and without names."""
    from fastevals.many import folds

    with pytest.warns(FutureWarning, match="PooledRanking is now called fastevals.Ranking; the old name"):
        assert fe.PooledRanking is folds.PooledRanking is fe.Ranking
    with pytest.raises(TypeError, match=r"^[^?]*\(did you mean 'sample_weight'\?\)$"):  # said only once
        fe.Ranking([0, 1], [0, 1], weights=[1, 1])
    expected = fe.Ranking(*rows()[:2])
    state = {"_counts": expected.counts, "n_positives": expected.n_positives, "n_negatives": expected.n_negatives}
    ranking = fe.Ranking.__new__(fe.Ranking)
    ranking.__setstate__((None, {**state, "_names": None}))
    assert (ranking.roc_auc(), ranking.pos_label) == (expected.roc_auc(), 1)
    fe.delong(ranking)


def test_counts_of_many_scores_are_drawn_as_their_ranking() -> None:
    """They agree bit by bit: scores of rows in memory are never joined, however many there are."""
    rng = np.random.default_rng(3)
    y, s = rng.random(20_000) < 0.3, rng.normal(size=20_000)
    ranking = fe.Ranking(y, s)
    one, other = (fe.bootstrap(each, "roc_auc", **FEW)["roc_auc"] for each in (ranking, ranking.counts))
    assert one.confidence_interval == other.confidence_interval


def test_what_no_ranking_is_made_of_is_named() -> None:
    exact = subject_of("parquet.ranking")
    with pytest.raises(ValueError, match="merging counts needs the scores of negatives, which are not kept"):
        fe.RankingFolds([exact, exact]).pool()
    with pytest.raises(ValueError, match=r"^data has no rows$"):
        fe.report(RankingSummary())
    with pytest.raises(ValueError, match=r"^subject has no rows to draw from$"):
        fe.bootstrap(RankingSummary(), "roc_auc")
    for subject in (fe.Ranking, RankingSummary, fe.scale.parquet, None):
        with pytest.raises(ValueError, match=r"^subject must be a Ranking, ThresholdCounts"):
            fe.bootstrap(subject, "roc_auc")


def test_a_pool_has_the_labels_of_its_folds() -> None:
    y, p, _ = rows()
    names = np.where(y == 1, "yes", "no")
    pooled = fe.RankingFolds.from_scores(names, p, np.arange(N) % 3, pos_label="yes").pool()
    assert (pooled.pos_label, pooled.confusion_at(0.5).labels.tolist()) == ("yes", ["no", "yes"])


# The same numbers by every door ---------------------------------------------------------------------------------------


def ranked(y: Any, s: Any, *, weight: Any = None, **options: Any) -> Any:
    """Return `parquet.ranking` of rows in memory."""
    pa = pytest.importorskip("pyarrow")
    columns = {"y": y, "s": s} | ({} if weight is None else {"w": weight})
    given = {} if weight is None else {"sample_weight": "w"}
    with nothing_held():
        return fe.scale.parquet.ranking(pa.table(columns), label="y", score="s", **given, **options)


def test_rows_are_counted_with_any_weights() -> None:
    """Every source that sees rows counts them; sums of weights count as one row each."""
    from tests.scale.local_frames import LOCAL, LocalFrame

    pa = pytest.importorskip("pyarrow")
    y, p, q = rows()
    w = np.random.default_rng(1).integers(0, 4, N)
    expected = int((w[y == 1] > 0).sum()), int((w[y == 0] > 0).sum())
    frame = LocalFrame([pa.table({"y": y, "s": q, "w": w})])
    weighed = RankingSummary()
    weighed.update(y, q, sample_weight=w)
    assert (weighed.n_positives, weighed.n_negatives) == expected
    assert repr(weighed) == f"RankingSummary({sum(expected)} rows, {expected[0]} positives, weighted, exact)"
    for ranking in (
        fe.Ranking(y, q, sample_weight=w),
        ranked(y, q, weight=w),
        ranked(y, q, weight=w, memory="4KB"),
        LOCAL.ranking(frame, label="y", score="s", sample_weight="w", exact=True),
        LOCAL.ranking(frame, label="y", score="s", sample_weight="w", cells=64),
        weighed.ranking(),
    ):
        assert ((ranking.n_positives, ranking.n_negatives), ranking.is_weighted) == (expected, True)
        assert repr(ranking) == f"Ranking(n_positives={expected[0]}, n_negatives={expected[1]}, weighted)"
    counts = fe.Ranking(y, p, sample_weight=w).counts
    sums = [int(np.count_nonzero(np.diff(each))) for each in (counts.tps, counts.fps)]
    alike = fe.Ranking.from_threshold_counts(counts)
    assert [alike.n_positives, alike.n_negatives] == sums


def test_what_several_scans_know_is_not_in_doubt() -> None:
    y, _, q = rows()
    ranking, several = fe.Ranking(y, q), ranked(y, q, memory="4KB")
    metrics = ["roc_auc", "average_precision", "ks_statistic"]
    found, other = (fe.bootstrap(each, metrics, **FEW) for each in (several, ranked(y, q)))
    for name in metrics:
        assert found[name].value == fe.bootstrap(ranking, name, **FEW)[name].value
        assert found[name].confidence_interval == pytest.approx(other[name].confidence_interval, rel=1e-12)
    delong, expected = fe.delong(several), fe.delong(ranking)
    assert (delong.aucs[0], delong.covariance[0, 0], delong.doubt) == (expected.aucs[0], expected.covariance[0, 0], 0)


def test_what_is_known_moves_an_interval_and_does_not_widen_it() -> None:
    """If cells know less, the interval keeps their width but is centred on the known value."""
    from fastevals.scale.certified import CertifiedRanking

    y, _, q = rows()
    cells = summary(q, 64).ranking()
    known = CertifiedRanking(cells.cells, cells._classes(), known={"roc_auc": fe.Ranking(y, q).roc_auc()})
    drawn = fe.bootstrap(fe.Ranking.from_threshold_counts(cells.cells.middle), "roc_auc", **FEW)["roc_auc"]
    estimate = fe.bootstrap(known, "roc_auc", **FEW)["roc_auc"]
    assert estimate.value == fe.Ranking(y, q).roc_auc() != drawn.value
    assert np.diff(estimate.confidence_interval) == pytest.approx(np.diff(drawn.confidence_interval), rel=1e-9)


def test_exact_rankings_of_files_draw_the_rows_own_quota() -> None:
    rng = np.random.default_rng(0)
    y, s = (rng.random(2_000) < 0.05).astype(int), rng.random(2_000)
    spec = fe.metric("accuracy", n_predicted=50)
    one, other = (fe.bootstrap(each, spec, **FEW)[str(spec)].value for each in (ranked(y, s), fe.Ranking(y, s)))
    assert one == other
    fe.bootstrap(ranked(y, s), fe.metric("f_score", threshold=0.5, beta=2), **FEW)
    with pytest.raises(ValueError, match=r"metrics must be one of .*got 'mean_squared_error'"):
        fe.bootstrap(ranked(y, s), "mean_squared_error", **FEW)


def test_what_depends_on_scores_of_negatives_is_right_or_refused() -> None:
    rng = np.random.default_rng(4)
    s = np.round(rng.normal(size=400), 1)
    y = (rng.random(400) < 1 / (1 + np.exp(-s))).astype(int)
    s[y == 1] = np.maximum(s[y == 1], -2.0)  # only negatives have the lowest scores
    ranking, exact = fe.Ranking(y, s), ranked(y, s)
    worst = ranking.best_threshold("mcc", maximize=False)
    assert exact.best_threshold("mcc", maximize=False) == worst
    with pytest.raises(ValueError, match="best_threshold by a function needs the scores of negatives"):
        exact.best_threshold(lambda tp, fp, fn, tn: -abs(fp - 3.0))
    with pytest.raises(ValueError, match="y_score must hold probabilities"):
        exact.brier_score()
    with pytest.raises(ValueError, match=r"a ranking of subject alone needs .* not kept: pass the ranking"):
        fe.bootstrap(exact.counts, "roc_auc", **FEW)
    assert repr(exact.counts).startswith("ThresholdCounts(")


def test_probabilities_of_files_have_losses_if_no_two_negatives_share_a_gap() -> None:
    y, p, _ = rows()
    ranking, exact = fe.Ranking(y, p), subject_of("parquet.ranking, few scores")
    assert (exact.log_loss(), exact.brier_score()) == (ranking.log_loss(), ranking.brier_score())
    assert exact.calibration_curve(5).to_dict() == ranking.calibration_curve(5).to_dict()
    assert fe.RankingFolds([exact, exact]).roc_curve(average="macro").area == ranking.roc_auc()


def test_ranges_of_scores_say_what_they_do_not_know() -> None:
    ones = RankingSummary(cells=7)
    ones.update(np.ones(25, int), np.linspace(0.01, 0.99, 25))
    with pytest.raises(ValueError, match=r"accuracy\(recall=0.6\) is not exact"):
        ones.ranking().metric(fe.metric("accuracy", recall=0.6))
    assert ones.ranking().average_precision() == 1.0
    y, _, q = rows()
    logits = RankingSummary(cells=7)
    logits.update(y, np.log(q / (1 - q)))
    for call in (lambda r: r.net_benefit(0.5), lambda r: r.decision_curve()):
        with pytest.raises(ValueError, match="y_score must hold probabilities"):
            call(logits.ranking())
    best = logits.ranking().best_threshold(lambda tp, fp, fn, tn: -abs(fp - 3.0)).value
    assert (best.high, "inf" in repr(best)) == (math.inf, True)


def test_folds_and_ranges_pickled_by_0_3_are_read() -> None:
    from fastevals.scale.certified import CertifiedRanking

    folds = fe.RankingFolds([fe.Ranking(*rows()[:2])])
    del folds._are_apart
    assert folds.pool().roc_auc() == fe.Ranking(*rows()[:2]).roc_auc()
    cells = summary(rows()[2], 64).ranking()
    state = {"cells": cells.cells, "_classes": cells._classes(), "_known": {}, "_unit": None, "_rounding": 0.0}
    read = CertifiedRanking.__new__(CertifiedRanking)
    read.__setstate__((None, state))
    assert (read.roc_auc(), read.n_positives) == (cells.roc_auc(), cells.n_positives)
    with pytest.raises(ValueError, match=r"the bounds are wrong, because version 0\.3 rounded the weights"):
        read.__setstate__((None, state | {"_rounding": 1e-6}))
    for name in ("_moments", "_sums"):  # 0.4 did not have these
        delattr(cells, name)
    read = pickle.loads(pickle.dumps(cells))
    assert fe.bootstrap(read, "roc_auc", n_resamples=9, rng=0)["roc_auc"].value == read.roc_auc().value


def test_curves_in_doubt_are_read_between_bounds_and_drawn_with_them() -> None:
    from fastevals.document.picture import Picture, Shade
    from fastevals.show.plots.models import as_models, styled_models

    y, _, q = rows()
    doubtful, ranking = summary(q, 64).ranking(), fe.Ranking(y, q)
    places = np.linspace(0, 0.99, 25)
    for kind in (kind for kind, known in LEAST.items() if known is Known.RANGES):
        curve, true = (getattr(each, f"{kind}_curve")() for each in (doubtful, ranking))
        low, high = curve.at(places)
        own = true.at(places)
        own = own.value if isinstance(own, fe.OperatingPoint) else own
        assert ((low - 1e-12 <= own) & (own <= high + 1e-12) | np.isnan(own)).all()
        assert (low < high).any()
        at = curve.at(0.5)
        assert at.low <= at.value <= at.high
        picture = Picture()
        models = as_models("curve", {"mine": doubtful}, type(true), lambda r, k=kind: getattr(r, f"{k}_curve")())
        assert [name for name, _, _ in styled_models(picture, models)] == ["mine"]
        (shade,) = (mark for mark in picture.marks if isinstance(mark, Shade))
        assert ((shade.low <= shade.high).all(), shade.x.size > 4000) == (True, True)
    assert (
        doubtful.roc_curve().hull().area.low <= ranking.roc_curve().hull().area <= doubtful.roc_curve().hull().area.high
    )
    with pytest.raises(AttributeError, match="dominates is not known for a curve with bounds: use its points"):
        doubtful.roc_curve().dominates(ranking.roc_curve())
    with pytest.raises(ValueError, match="got CertifiedCurve: pass its points, its worst or its best"):
        ranking.roc_curve().crossings(doubtful.roc_curve())
    with pytest.raises(ValueError, match="a curve with bounds has no point at a threshold: use confusion_at"):
        doubtful.roc_curve().at(threshold=0.5)


def test_a_report_asks_each_summary_for_its_ranking_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    ranking = RankingSummary.ranking
    monkeypatch.setattr(RankingSummary, "ranking", lambda self: asked.append(self) or ranking(self))
    block = CountedBlock(N, int(rows()[0].sum()), {name: summary(rows()[2], 64) for name in "ab"}, {})
    fe.report(ScoresSummary("y", ("a", "b"), labels=(1, 0), blocks={None: block}), n_resamples=20)
    assert len(asked) == 2


def test_what_needs_rows_says_so() -> None:
    y, p, q = rows()
    ranking = fe.Ranking(y, p)
    for counted in (ranking, ranking.counts, summary(p, 64)):
        for call in (
            lambda c: fe.compare_rankings(y, {"a": c, "b": c}),
            lambda c: fe.delong_test(y, c, c),
            lambda c: fe.permutation_test(y, c, c),
        ):
            with pytest.raises(ValueError, match=r"must have a value for each row, got a .* bootstrap_unpaired"):
                call(counted)
    with pytest.raises(ValueError, match="fold 0 is a CertifiedRanking: merge summaries, and take the ranking of all"):
        fe.RankingFolds([summary(q, 64).ranking()])
