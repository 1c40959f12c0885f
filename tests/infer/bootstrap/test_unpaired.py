"""Two sets of distinct rows: differences of metrics from independent draws of each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import fastevals
from fastevals import (
    ConfusionMatrix,
    Ranking,
    bootstrap,
    bootstrap_unpaired,
    delong_test_unpaired,
    metric,
    num_threads,
)
from fastevals._random import seed_key
from fastevals.infer.bootstrap.bootstrap import Limits, confidence_interval
from fastevals.infer.bootstrap.row_samples import SamplingUnits, UnitSample
from fastevals.scale import RankingSummary

METRICS = ["roc_auc", "average_precision", metric("f1", threshold=0.5), metric("recall", fpr=0.1)]


def rows(n: int, seed: int, shift: float = 1.0, decimals: int | None = None) -> tuple[NDArray[Any], NDArray[Any]]:
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.3).astype(int)
    s = rng.normal(size=n) + shift * y
    return y, s if decimals is None else s.round(decimals)


def summary_of(y: Any, s: Any, cells: int = 64) -> RankingSummary:
    summary = RankingSummary(cells=cells)
    summary.update(y, s)
    return summary


TODAY, YESTERDAY = Ranking(*rows(400, 1, 1.3)), Ranking(*rows(300, 2))


def test_replicates_are_those_of_each_drawn_by_itself() -> None:
    found = bootstrap_unpaired(TODAY, YESTERDAY, METRICS, n_resamples=199, rng=5, keep_distribution=True)
    alone = bootstrap(TODAY, METRICS, n_resamples=199, rng=5, keep_distribution=True)
    for name, each in found.items():
        assert each.value == each.subject.value - each.reference.value
        assert each.subject.value == alone[name].value
        np.testing.assert_array_equal(each.subject.bootstrap_distribution, alone[name].bootstrap_distribution)
        drawn = each.subject.bootstrap_distribution - each.reference.bootstrap_distribution
        np.testing.assert_array_equal(each.bootstrap_distribution, drawn)
        assert each.standard_error == pytest.approx(drawn.std(ddof=1))
        assert each.bias == pytest.approx(drawn.mean() - each.value)
        assert each.pvalue == (1 + np.count_nonzero(np.abs(drawn - each.value) >= abs(each.value))) / 200
        correlation = np.corrcoef(each.subject.bootstrap_distribution, each.reference.bootstrap_distribution)[0, 1]
        assert abs(correlation) < 0.3


def test_the_two_are_drawn_apart_even_where_they_are_alike() -> None:
    found = bootstrap_unpaired(TODAY, TODAY, "roc_auc", n_resamples=199, rng=5)["roc_auc"]
    assert found.value == 0
    assert found.pvalue == 1
    assert found.standard_error == pytest.approx(np.sqrt(2) * found.subject.standard_error, rel=0.25)


@pytest.mark.parametrize("method", ["BCa", "percentile", pytest.param("basic", marks=pytest.mark.slow), "normal"])
def test_swapped_it_is_the_same_the_other_way_round(method: str) -> None:
    """Only the draws differ."""
    options: Any = {"n_resamples": 999, "method": method, "rng": 3}
    one, other = (bootstrap_unpaired(*pair, METRICS, **options) for pair in ((TODAY, YESTERDAY), (YESTERDAY, TODAY)))
    for name in one:
        (low, high), (other_low, other_high) = one[name].confidence_interval, other[name].confidence_interval
        np.testing.assert_allclose([low, high], [-other_high, -other_low], atol=0.35 * one[name].standard_error)
        assert one[name].value == -other[name].value


def test_intervals_of_aucs_are_about_delongs() -> None:
    found = bootstrap_unpaired(TODAY, YESTERDAY, "roc_auc", n_resamples=4999, rng=1)["roc_auc"]
    expected = delong_test_unpaired(TODAY, YESTERDAY, method="normal")
    np.testing.assert_allclose(found.confidence_interval, expected.confidence_interval, atol=0.006)
    assert found.pvalue == pytest.approx(expected.pvalue, abs=0.02)


def test_the_same_bits_at_any_number_of_threads() -> None:
    one, many = [], []
    for threads, found in ((1, one), (2, many)):
        with num_threads(threads):
            found.append(bootstrap_unpaired(TODAY, YESTERDAY, METRICS, n_resamples=99, rng=5).to_dict())
    assert one == many


def test_one_side_leaves_the_other_open() -> None:
    less, greater = (
        bootstrap_unpaired(TODAY, YESTERDAY, "roc_auc", n_resamples=499, rng=5, alternative=each)["roc_auc"]
        for each in ("less", "greater")
    )
    assert less.confidence_interval.low == -1
    assert greater.confidence_interval.high == 1
    assert greater.pvalue < 0.5 < less.pvalue


def test_any_two_subjects() -> None:
    y, s = rows(300, 2)
    pairs = ((y, s), YESTERDAY, YESTERDAY.counts, summary_of(y, s, cells=1000))
    asked = ["roc_auc", "average_precision"]  # the summary is drawn as finely as the second metric needs
    values = [bootstrap_unpaired(TODAY, each, asked, n_resamples=99, rng=1)["roc_auc"] for each in pairs]
    assert len({each.value for each in values}) == 1
    assert len({each.confidence_interval for each in values[1:]}) == 1
    names = np.array(["no", "yes"])[y]
    assert (
        bootstrap_unpaired((names, s), TODAY, "roc_auc", pos_label="yes", n_resamples=9, method="normal", rng=1)
        .metrics["roc_auc"]
        .subject.value
        == YESTERDAY.roc_auc()
    )
    matrices = ConfusionMatrix([[40, 10], [5, 45]]), ConfusionMatrix([[30, 20], [5, 35]])
    found = bootstrap_unpaired(*matrices, ["accuracy", metric("recall", average=None)], n_resamples=99, rng=1)
    assert found["accuracy"].value == pytest.approx(0.85 - 65 / 90)
    each = found["recall(average=None)"]
    assert each.value.shape == each.pvalue.shape == each.confidence_interval.low.shape == (2,)
    assert repr(each).startswith("UnpairedDifference(0.2 [")
    assert repr(found["accuracy"]).startswith("UnpairedDifference(0.1278, [")


def test_the_best_of_many_is_no_surer_than_its_draws() -> None:
    """The KS of a small reference overestimates the true KS by more than the KS of many rows does."""
    few = Ranking(*rows(80, 4))
    found = bootstrap_unpaired(Ranking(*rows(3000, 5)), few, ["ks_statistic"], n_resamples=999, rng=1)["ks_statistic"]
    plain = bootstrap_unpaired(
        Ranking(*rows(3000, 5)), few, ["ks_statistic"], n_resamples=999, rng=1, method="percentile"
    )["ks_statistic"]
    assert found.bias < 0  # the reference's replicates exceed its value
    assert found.confidence_interval.high > plain.confidence_interval.high
    assert found.confidence_interval.low > plain.confidence_interval.low


def clustered(n: int, shared: int, seed: int) -> list[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]]:
    """Return labels, scores and clusters of two sets of n clusters, some of which are in both."""
    rng = np.random.default_rng(seed)
    effects = rng.normal(size=2 * n)
    sets = []
    for first in (0, n - shared):
        groups = np.repeat(np.arange(first, first + n), rng.integers(1, 5, n))
        y = (rng.random(groups.size) < 0.5).astype(int)
        sets.append((y, y * (1 + effects[groups]) + rng.normal(size=y.size), groups))
    return sets


THIS, LAST = clustered(12, 8, 6)


def test_shared_clusters_are_drawn_alike() -> None:
    """Repeat rows as often as their cluster is drawn, and leave out one cluster of both sets at a time."""
    found = bootstrap_unpaired(
        THIS[:2], LAST[:2], "roc_auc", groups=(THIS[2], LAST[2]), n_resamples=49, rng=5, keep_distribution=True
    )["roc_auc"]
    units = SamplingUnits.number_shared({"this": THIS[2], "last": LAST[2]})
    assert [each.strata for each in units] == [(16,), (16,)]
    sample = UnitSample(units[0], 1)
    draws = np.array([each[:16].copy() for each in sample.draws(seed_key("rng", 5), range(49), [sample.times()])])
    left_out = 1 - np.eye(16, dtype=int)

    def aucs(times: NDArray[Any]) -> list[NDArray[Any]]:
        both = []
        for y, s, groups in (THIS, LAST):
            rows = [np.repeat(np.arange(y.size), each[groups]) for each in times]
            both.append(np.array([Ranking(y[each], s[each]).roc_auc() for each in rows]))
        return both

    for side, expected in zip((found.subject, found.reference), aucs(draws), strict=True):
        np.testing.assert_allclose(side.bootstrap_distribution, expected)
    subject, reference = aucs(left_out)
    influences = (subject - reference).mean() - (subject - reference)
    acceleration = (influences**3).sum() / (6 * (influences**2).sum() ** 1.5)
    assert abs(acceleration) > 0.005
    expected = confidence_interval(
        "BCa", found.bootstrap_distribution, found.value, confidence_level=0.95, acceleration=acceleration,
        alternative="two-sided", limits=Limits((-1, 1)),
    )  # fmt: skip
    np.testing.assert_allclose(found.confidence_interval, expected)


@pytest.mark.parametrize("n", [12, 200])
def test_the_same_clusters_twice_do_not_differ(n: int) -> None:
    y, s, groups = clustered(n, n, 1)[0]
    names = [f"patient {each}" for each in groups]
    for subject, asked in (((y, s), "roc_auc"), ((y, y[::-1]), "accuracy"), ((s, y), "rmse")):
        with pytest.warns(fastevals.UndefinedMetricWarning, match="no width"):
            found = bootstrap_unpaired(subject, subject, asked, groups=(names, names), n_resamples=29, rng=1)
        assert {each.standard_error for each in found.values()} == {0}


def test_shared_clusters_make_the_difference_more_certain() -> None:
    this, last = ((np.zeros(each[1].size), each[2] % 50 + 0.01 * each[1], each[2]) for each in clustered(100, 80, 2))
    errors = [
        bootstrap_unpaired(this[:2], last[:2], "mae", groups=(this[2], last[2] + far), n_resamples=299, rng=1)["mae"]
        for far in (0, 1000)
    ]
    assert errors[0].standard_error < 0.7 * errors[1].standard_error


def test_groups_of_any_kind_draw_alike() -> None:
    options: Any = {"n_resamples": 29, "rng": 1}
    found = [
        bootstrap_unpaired(THIS[:2], LAST[:2], "roc_auc", groups=groups, **options).to_dict()
        for groups in (
            (THIS[2], LAST[2]),
            (THIS[2].astype(np.uint64), LAST[2].astype(float)),
            ([f"{each:03}" for each in THIS[2]], [f"{each:03}" for each in LAST[2]]),
        )
    ]
    with num_threads(1):
        found.append(bootstrap_unpaired(THIS[:2], LAST[:2], "roc_auc", groups=(THIS[2], LAST[2]), **options).to_dict())
    assert all(each == found[0] for each in found)


def test_weights_of_either_side_are_those_of_the_bootstrap() -> None:
    weights = [np.random.default_rng(k).random(each[0].size) + 0.1 for k, each in enumerate((THIS, LAST))]
    options: dict[str, Any] = {"n_resamples": 99, "rng": 3, "keep_distribution": True}
    for given in (weights, (weights[0], None), (None, weights[1])):
        found = bootstrap_unpaired(THIS[:2], LAST[:2], METRICS, sample_weight=given, **options)
        alone = bootstrap(THIS[:2], METRICS, sample_weight=given[0], **options)
        other = bootstrap(LAST[:2], METRICS, sample_weight=given[1], **options)
        for name, each in found.items():
            assert each.subject.value == alone[name].value
            assert each.reference.value == other[name].value
            drawn = alone[name].bootstrap_distribution
            np.testing.assert_array_equal(each.subject.bootstrap_distribution, drawn)
    clustered = bootstrap_unpaired(
        THIS[:2], LAST[:2], "roc_auc", sample_weight=weights, groups=(THIS[2], LAST[2]), **options
    )["roc_auc"]
    assert clustered.value == bootstrap_unpaired(THIS[:2], LAST[:2], "roc_auc", sample_weight=weights)["roc_auc"].value


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"sample_weight": np.ones(3)}, "sample_weight must be a pair"),
        ({"sample_weight": (None, None, None)}, "sample_weight must be a pair"),
        ({"sample_weight": (np.ones(5), None)}, "sample_weight has 5 rows, but y_true has"),
        ({"sample_weight": (np.ones(400), None), "subject": TODAY}, "sample_weight requires rows: subject must be a"),
        ({"groups": (THIS[2],)}, "groups must be a pair"),
        ({"groups": THIS[2]}, "groups must be a pair"),
        ({"groups": (THIS[2][:5], LAST[2])}, "groups has 5 rows, but y_true has"),
        ({"groups": (THIS[2] * 0, LAST[2])}, r"groups\[0\] must have at least two groups to resample"),
        ({"groups": (THIS[2], LAST[2].astype(str))}, "labels must be of one type"),
        ({"groups": (THIS[2], LAST[2]), "stratified": True}, "stratified must be False with groups"),
        ({"groups": (THIS[2], LAST[2]), "subject": TODAY}, "groups requires rows: subject must be a pair"),
    ],
)
def test_bad_groups_and_weights(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        bootstrap_unpaired(
            **{"subject": THIS[:2], "reference": LAST[:2], "metrics": "roc_auc", "n_resamples": 9, **given}
        )


@pytest.mark.slow
def test_intervals_cover() -> None:
    """Test differences of AUCs, and of KS between few rows and many."""
    true = {name: [] for name in ("roc_auc", "ks_statistic")}
    big = Ranking(*rows(2_000_000, 9)).roc_auc(), float(Ranking(*rows(2_000_000, 9)).ks_statistic())
    other = Ranking(*rows(2_000_000, 8, 1.3)).roc_auc(), float(Ranking(*rows(2_000_000, 8, 1.3)).ks_statistic())
    for trial in range(300):
        pair = Ranking(*rows(400, 100 + trial, 1.3)), Ranking(*rows(1000, 5000 + trial))
        found = bootstrap_unpaired(*pair, list(true), n_resamples=999, rng=trial)
        for name, difference in zip(true, np.subtract(other, big), strict=True):
            low, high = found[name].confidence_interval
            true[name].append(low <= difference <= high)
    assert {name: 0.915 < np.mean(covered) <= 0.995 for name, covered in true.items()} == dict.fromkeys(true, True)


# Summaries ------------------------------------------------------------------------------------------------------------


def test_doubts_of_both_widen_intervals() -> None:
    data = rows(6000, 1, 1.2), rows(4000, 2)
    exact = bootstrap_unpaired(*(Ranking(*each) for each in data), METRICS[:2], n_resamples=999, rng=1)
    fine, coarse = (
        bootstrap_unpaired(*(summary_of(*each, cells=cells) for each in data), METRICS[:2], n_resamples=999, rng=1)
        for cells in (2**14, 64)
    )
    for name, expected in exact.items():
        assert fine[name].value == expected.value
        width, wider = (np.diff(each[name].confidence_interval)[0] for each in (fine, coarse))
        doubts = [
            summary.ranking()._counts_and_doubts({name: metric(name)})[1][name] for summary in map(summary_64, data)
        ]
        assert wider == pytest.approx(width + sum(map(sum, doubts)), rel=0.05)
        assert coarse[name].pvalue >= expected.pvalue


def summary_64(data: Any) -> RankingSummary:
    return summary_of(*data)


def test_a_difference_within_the_doubt_shows_nothing() -> None:
    pair = [summary_of(*rows(300_000, seed, 1 + seed / 80), cells=8) for seed in (1, 2)]
    found = bootstrap_unpaired(*pair, "roc_auc", n_resamples=199, rng=1)["roc_auc"]
    assert found.pvalue == 1
    low, high = found.confidence_interval
    assert low < 0 < high
    test = delong_test_unpaired(*pair)
    assert (test.statistic, test.pvalue, test.rejected) == (0, 1, False)


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
@pytest.mark.parametrize("cells", [8, 4096])
def test_delongs_test_of_summaries(cells: int, alternative: str) -> None:
    data = rows(30_000, 1, 1.2), rows(20_000, 2)
    expected = delong_test_unpaired(*(Ranking(*each) for each in data), alternative=alternative)
    found = delong_test_unpaired(*(summary_of(*each, cells=cells) for each in data), alternative=alternative)
    assert found.confidence_interval is not None
    assert expected.confidence_interval is not None
    assert found.confidence_interval.low <= expected.confidence_interval.low + 1e-9
    assert found.confidence_interval.high >= expected.confidence_interval.high - 1e-9
    assert found.pvalue >= expected.pvalue * 0.999
    if cells > 64:
        np.testing.assert_allclose(found.confidence_interval, expected.confidence_interval, atol=1e-3)
    zero_out = found.confidence_interval.low > 0 or found.confidence_interval.high < 0
    assert found.rejected == zero_out


def test_delongs_test_of_any_number_of_rows() -> None:
    few = (
        Ranking.from_counts([1, 2, 3], [10, 20, 40], [50, 20, 10]),
        Ranking.from_counts([1, 2, 3], [9, 9, 9], [9, 9, 9]),
    )
    many = [
        Ranking.from_counts(
            each.counts.thresholds[1:], np.diff(each.counts.tps) * 10**9, np.diff(each.counts.fps) * 10**9
        )
        for each in few
    ]
    found = delong_test_unpaired(*many, method="normal")
    assert found.effect == delong_test_unpaired(*few).effect
    assert found.statistic == pytest.approx(delong_test_unpaired(*few).statistic * 10**4.5, rel=0.05)
    assert delong_test_unpaired(few[0].counts, few[1]).pvalue == delong_test_unpaired(*few).pvalue


PAIRED = {
    "compare_rankings": lambda y, a: fastevals.compare_rankings(y, {"a": a, "b": a}),
    "delong": lambda y, a: fastevals.delong({"a": a, "b": a}),
    "delong of labels": lambda y, a: fastevals.delong(y, [a, a]),
    "delong_test": lambda y, a: fastevals.delong_test(y, a, a),
    "delong_test of two": lambda y, a: fastevals.delong_test(a, y, y),
    "permutation_test": lambda y, a: fastevals.permutation_test(y, a, a, "roc_auc"),
    "batch_auc": lambda y, a: fastevals.batch_auc(y, [a, a]),
}


@pytest.mark.parametrize("call", PAIRED)
def test_what_is_paired_says_that_summaries_are_not(call: str) -> None:
    y, s = rows(40, 1)
    with pytest.raises(ValueError, match=r"got a RankingSummary, which does not say which rows.*bootstrap_unpaired"):
        PAIRED[call](y, summary_of(y, s))


@pytest.mark.parametrize(
    ("subject", "reference", "metrics", "options", "message"),
    [
        (TODAY, 3, "roc_auc", {}, "reference must be a Ranking, ThresholdCounts, a ConfusionMatrix or a pair .* got 3"),
        ("x", TODAY, "roc_auc", {}, "subject must be a Ranking"),
        (TODAY, YESTERDAY, "accuracy", {}, "accuracy of scores needs one threshold"),
        (TODAY, YESTERDAY, "roc_auc", {"pos_label": 1}, "pos_label requires rows"),
        (TODAY, YESTERDAY, "roc_auc", {"method": "bca"}, "method must be one of"),
        (TODAY, RankingSummary(), "roc_auc", {}, "reference has no rows to draw from"),
        (
            ConfusionMatrix([[4, 1], [2, 3]]), ConfusionMatrix(np.eye(3, dtype=int)), "accuracy", {},
            "reference must have the classes of subject in the same order, 0, 1, got 0, 1, 2",
        ),
        (
            ConfusionMatrix([[4, 1], [2, 3]]), ConfusionMatrix([[[4, 1], [2, 3]]]), "accuracy", {},
            r"reference must have as many values of accuracy as subject, \(\), got \(1,\)",
        ),
    ],
)  # fmt: skip
def test_bad_input(subject: Any, reference: Any, metrics: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        bootstrap_unpaired(subject, reference, metrics, n_resamples=9, **options)
