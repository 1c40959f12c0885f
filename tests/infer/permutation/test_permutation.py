"""Permutation tests against all swaps, SciPy, McNemar and Fisher; their draws and level; odd input."""

from __future__ import annotations

import itertools
import json
import math
import pickle
import warnings
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

import fastevals
from fastevals import MetricSpec, UndefinedMetricWarning, metric, num_threads
from fastevals._kernels.random import bits, stream_key
from fastevals._random import seed_key
from fastevals.infer.permutation.distribution import PermutationPlan
from fastevals.infer.permutation.labels import FairBinomials, count_label_triples, fair_binomial_probabilities
from fastevals.infer.permutation.permutation import PermutationResult, paired_permutation_test, permutation_test
from fastevals.infer.permutation.scores import RowSwaps
from fastevals.infer.permutation.signs import pairwise_permutation, permutation_among, permutation_options
from fastevals.measure.metric_specs import parse_metrics, ranking_metric
from fastevals.results import Alternative
from tests.reference import permutation as twin
from tests.strategies import BOUNDED, FEWER

ALTERNATIVES = get_args(Alternative)

MACRO_F1 = metric("f_score", average="macro")
OF_LABELS = ["accuracy", "matthews", "cohen_kappa", "f1", "precision"]
OF_SCORES = ["roc_auc", "average_precision"]
OF_TARGETS = [
    "mean_squared_error",
    "root_mean_squared_error",
    "mean_absolute_error",
    "median_absolute_error",
    "mean_absolute_percentage_error",
    "pinball_loss",
    "r2",
]
OF_ALL = [
    ("f1", "labels"),
    (MACRO_F1, "labels"),
    ("roc_auc", "scores"),
    (metric("f1", best="f1"), "scores"),
    ("log_loss", "scores"),
    ("mean_squared_error", "targets"),
    ("median_absolute_error", "targets"),
]
KEY = np.uint64(7)
alternatives = st.sampled_from(ALTERNATIVES)


def outputs(kind: str, n: int = 200, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the truth and two models' outputs, the first slightly better."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.4).astype(int)
    y[:2] = 0, 1
    noise = rng.normal(size=(2, n)) * [[1.0], [1.3]]
    if kind == "targets":
        return y + noise[0], y * 1.0, y + noise[1]
    scores = 1 / (1 + np.exp(-np.round(y - 0.5 + noise, 1)))
    return (y, *scores) if kind == "scores" else (y, *(scores > 0.5).astype(int))


def assert_same_values(found: PermutationResult, values: list[Any]) -> None:
    """Compare an exact distribution with the values of all swaps."""
    values = sorted(float(value) for value in values if value is not None)
    order = np.argsort(found.null_distribution)
    times = np.ones(order.size) if found.null_chances is None else found.null_chances[order]
    ends = np.cumsum(times) / times.sum()
    places = np.minimum(np.searchsorted(ends, (np.arange(len(values)) + 0.5) / len(values)), order.size - 1)
    np.testing.assert_allclose(found.null_distribution[order][places], values, rtol=1e-10, atol=1e-13)


def check_against_all_swaps(asked: Any, name: str, y: Any, a: Any, b: Any, alternative: str) -> None:
    values = twin.swap_differences(name, y, a, b)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        found = permutation_test(y, a, b, asked, alternative=alternative, keep_distribution=True, n_resamples=1)
    assert found.exact
    if values[0] is None:
        assert math.isnan(found.statistic)
        assert math.isnan(found.pvalue)
        return
    np.testing.assert_allclose(found.statistic, float(values[0]), rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(found.pvalue, twin.exact_pvalue(values, alternative), rtol=1e-10)
    assert_same_values(found, values)


# Against all swaps ------------------------------------------------------------------------------------------------

labels_of = {k: st.lists(st.tuples(*[st.integers(0, k - 1)] * 3), min_size=1, max_size=5) for k in (2, 3)}
score = st.sampled_from([0.0, 0.25, 0.5, 1.0, 3.0])
scored = st.lists(st.tuples(st.integers(0, 1), score, score), min_size=2, max_size=5)
number = st.sampled_from([-2.0, 0.0, 0.1, 0.3, 1.0, 7.5])
numbered = st.lists(st.tuples(number, number, number), min_size=1, max_size=5)


@pytest.mark.parametrize("name", OF_LABELS)
@FEWER
@given(rows=labels_of[2], alternative=alternatives)
def test_labels_against_all_swaps(name, rows, alternative):
    y, a, b = map(list, zip(*rows, strict=True))
    assume(len({*y, *a, *b}) == 2)
    check_against_all_swaps(name, name, y, a, b, alternative)


@FEWER
@given(rows=labels_of[3], alternative=alternatives)
def test_macro_f_against_all_swaps(rows, alternative):
    y, a, b = map(list, zip(*rows, strict=True))
    check_against_all_swaps(MACRO_F1, "macro_f1", y, a, b, alternative)


@pytest.mark.parametrize("name", OF_SCORES)
@FEWER
@given(rows=scored, alternative=alternatives)
def test_scores_against_all_swaps(name, rows, alternative):
    y, a, b = map(list, zip(*rows, strict=True))
    assume(len(set(y)) == 2)
    check_against_all_swaps(name, name, y, a, b, alternative)


@pytest.mark.parametrize("name", OF_TARGETS)
@FEWER
@given(rows=numbered, alternative=alternatives)
def test_targets_against_all_swaps(name, rows, alternative):
    y, a, b = map(list, zip(*rows, strict=True))
    assume(name != "mean_absolute_percentage_error" or 0 not in y)  # 1e15 rounds the twin's difference
    if name == "r2" and len(set(y)) == 1:
        with pytest.warns(UndefinedMetricWarning, match="the test of r2 is undefined"):
            assert math.isnan(permutation_test(y, a, b, "r2").pvalue)
        return
    check_against_all_swaps(name, name, y, a, b, alternative)


@BOUNDED
@given(rows=st.lists(st.tuples(number, number), min_size=1, max_size=8), alternative=alternatives)
def test_signs_against_all_flips(rows, alternative):
    a, b = map(list, zip(*rows, strict=True))
    values = twin.sign_flips(a, b)
    found = paired_permutation_test(a, b, alternative=alternative, keep_distribution=True)
    np.testing.assert_allclose(found.statistic, float(values[0]), rtol=1e-12, atol=1e-15)
    # Floats hold 0.1 and 0.3 inexactly, so mathematically equal values differ by 2^-54.
    np.testing.assert_allclose(found.pvalue, twin.exact_pvalue([float(v) for v in values], alternative), rtol=1e-12)
    assert_same_values(found, values)


# Against others ---------------------------------------------------------------------------------------------------


def test_accuracy_is_mcnemar():
    y, a, b = outputs("labels", 150)
    only_a, only_b = np.sum((a == y) & (b != y)), np.sum((a != y) & (b == y))
    for alternative in ALTERNATIVES:
        found = permutation_test(y, a, b, alternative=alternative)
        assert found.exact
        expected = stats.binomtest(int(only_a), int(only_a + only_b), alternative=alternative).pvalue
        np.testing.assert_allclose(found.pvalue, expected, rtol=1e-9)


def test_fishers_figure_of_darwins_maize():
    # Fisher (1935), The Design of Experiments, section 21: 863 of 32,768 sums are as large.
    differences = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
    found = paired_permutation_test(differences, np.zeros(15), alternative="greater")
    assert found.exact
    assert found.pvalue == 863 / 32768
    assert paired_permutation_test(differences, np.zeros(15)).pvalue == 2 * 863 / 32768


@pytest.mark.parametrize(
    "alternative", ["two-sided", *(pytest.param(each, marks=pytest.mark.slow) for each in ("less", "greater"))]
)
def test_scipy_agrees(alternative):
    rng = np.random.default_rng(3)
    a, b = rng.normal(0.4, 1, 12).round(1), rng.normal(0, 1, 12).round(1)
    expected = stats.permutation_test(
        (a, b), lambda x, y: np.mean(x - y), permutation_type="samples", alternative=alternative, n_resamples=np.inf
    )
    found = paired_permutation_test(a, b, alternative=alternative, keep_distribution=True)
    np.testing.assert_allclose(found.statistic, expected.statistic, rtol=1e-12)
    np.testing.assert_allclose(found.pvalue, expected.pvalue, rtol=1e-12)
    y = np.repeat([0, 1], 5)
    scores = rng.normal(size=(2, 10)) + y
    expected = stats.permutation_test(
        tuple(scores),
        lambda s, t: fastevals.Ranking(y, s).roc_auc() - fastevals.Ranking(y, t).roc_auc(),
        permutation_type="samples",
        vectorized=False,
        alternative=alternative,
        n_resamples=np.inf,
    )
    found = permutation_test(y, *scores, "roc_auc", alternative=alternative)
    np.testing.assert_allclose((found.statistic, found.pvalue), (expected.statistic, expected.pvalue), rtol=1e-9)


@pytest.mark.parametrize("name", ["accuracy", "f1"])
def test_draws_agree_with_the_exact_test(name):
    y, a, b = outputs("labels", 120, seed=4)
    exact = permutation_test(y, a, b, name, n_resamples=10**6, keep_distribution=True)
    drawn = permutation_test(*(np.tile(each, 30) for each in (y, a, b)), name, keep_distribution=True, rng=1)
    assert exact.exact
    assert not drawn.exact
    # 30 times the rows have a thirtieth of the variance: 9999 draws are within 6 standard errors (2 in 10^9).
    variance = np.sum(exact.null_chances * exact.null_distribution**2) / 30
    np.testing.assert_allclose(np.mean(drawn.null_distribution**2), variance, rtol=6 * math.sqrt(2 / 9999) + 0.01)


# What is drawn ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 7, 64, 1001, 200_000])
def test_counts_are_binomial(n):
    low = max(0, n // 2 - round(2 * math.sqrt(n)))
    drawn = FairBinomials(np.array([n, 3, n])).draw(KEY, range(20_000))
    assert drawn.min() >= 0
    expected = stats.binom(n, 0.5)
    for row in drawn[[0, 2]]:
        edges = np.unique(np.linspace(low, n - low, 12).astype(int))
        seen = np.bincount(np.searchsorted(edges, row), minlength=edges.size + 1)
        shares = np.diff(np.concatenate(([0.0], expected.cdf(edges), [1.0])))
        there = shares > 1e-4
        assert stats.chisquare(seen[there], shares[there] / shares[there].sum() * seen[there].sum()).pvalue > 1e-6
    assert n < 64 or abs(np.corrcoef(drawn)[0, 2]) < 6 / math.sqrt(20_000)


@pytest.mark.parametrize("n", [1, 2, 9, 500, 3001])
def test_chances_of_half(n):
    np.testing.assert_allclose(
        fair_binomial_probabilities(n), stats.binom(n, 0.5).pmf(np.arange(n + 1)), rtol=1e-10, atol=1e-300
    )


def test_signs_are_bits_of_streams():
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=(2, 300))
    found = paired_permutation_test(a, b, rng=3, n_resamples=20, keep_distribution=True)
    key = seed_key("rng", 3)
    words = [[int(bits(np.uint64(stream_key(key, np.uint64(i))), np.uint64(w))) for w in range(5)] for i in range(20)]
    signs = np.array([[1 if row[k // 64] >> (k % 64) & 1 else -1 for k in range(300)] for row in words])
    np.testing.assert_allclose(found.null_distribution, signs @ (a - b) / 300, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(("n_bits", "n_resamples", "n"), [
    (13, 1, 2**13), (14, 2**14 - 2, 2**14 - 2), (14, 2**14 - 1, 2**14), (14, 2**15, 2**14), (80, 5, 5), (0, 5, 1),
])  # fmt: skip
def test_all_swaps_are_gone_through_where_they_are_no_more_than_drawn_or_few(n_bits, n_resamples, n):
    swaps = RowSwaps(np.arange(100) < n_bits, PermutationPlan.check(n_resamples, 0))
    assert sum(map(len, swaps.tasks(1000))) == n
    assert swaps.distribution([np.zeros(n)]).exact == (n == 2**n_bits)


@pytest.mark.parametrize("asked", ["roc_auc", "average_precision", metric("recall", fpr=0.2), "brier_score"])
def test_scores_are_swapped_as_the_bits_say(asked):
    y, a, b = outputs("scores", 150)
    (named,) = parse_metrics(asked).values()
    found = permutation_test(y, a, b, asked, rng=2, n_resamples=15, keep_distribution=True)
    swaps = RowSwaps(a != b, PermutationPlan.check(15, 2))
    swapped = swaps.places(np.arange(150))
    for i, value in enumerate(found.null_distribution):
        words = swaps.words(i)
        kept = np.array([int(words[p // 128]) >> (p // 2 % 64) & 1 for p in swapped.tolist()], dtype=bool)
        pairs = np.where(kept, a, b), np.where(kept, b, a)
        first, second = (ranking_metric(named).of_counts(fastevals.Ranking(y, s).counts) for s in pairs)
        np.testing.assert_allclose(value, first - second, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("at", [0.5, 1.5])
def test_scores_at_a_threshold_are_labels(at):
    y, a, b = outputs("scores", 300)
    for name in ("accuracy", "f1", "matthews", "recall"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMetricWarning)  # matthews with none predicted positive
            found = permutation_test(y, a, b, metric(name, threshold=at), rng=1)
        if at < 1:
            expected = permutation_test(y, a >= at, b >= at, name, rng=1)
            assert (found.statistic, found.pvalue) == (expected.statistic, expected.pvalue)
        else:
            assert found.pvalue == 1 or name == "matthews"
    with pytest.raises(ValueError, match="y_true must have two classes, got 3"):
        permutation_test([0, 1, 2], [0, 1, 1], [1, 0, 1], metric("f1", threshold=1))


@pytest.mark.cases(3)
@pytest.mark.parametrize(("asked", "kind"), OF_ALL, ids=str)
def test_same_bits(asked, kind):
    data = outputs(kind, 2000 if kind == "labels" else 200)
    options = {"n_resamples": 700, "rng": 5, "keep_distribution": True}
    with num_threads(1):
        one = permutation_test(*data, asked, **options)
    with num_threads(2):
        two = permutation_test(*data, asked, **options)
    np.testing.assert_array_equal(one.null_distribution, two.null_distribution)
    assert not one.exact
    more = permutation_test(*data, asked, **{**options, "n_resamples": 900})
    np.testing.assert_array_equal(more.null_distribution[:700], one.null_distribution)
    other = permutation_test(*data, asked, **{**options, "rng": 6})
    assert (other.null_distribution != one.null_distribution).any()
    assert one.pvalue == (1 + np.sum(np.abs(one.null_distribution) >= abs(one.statistic) - 1e-12)) / 701


@pytest.mark.parametrize("name", ["accuracy", "f1", "matthews"])
def test_same_bits_however_the_work_is_cut(monkeypatch, name):
    data, options = outputs("labels", 2000), {"n_resamples": 50, "rng": 5, "keep_distribution": True}
    whole = permutation_test(*data, name, **options)
    monkeypatch.setattr("fastevals.infer.permutation.labels.CELLS_PER_TASK", 1)
    np.testing.assert_array_equal(permutation_test(*data, name, **options).null_distribution, whole.null_distribution)


def test_same_bits_of_signs():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 70))
    with num_threads(1):
        one = paired_permutation_test(a, b, rng=1, n_resamples=9000, keep_distribution=True)
    with num_threads(2):
        two = paired_permutation_test(a, b, rng=1, n_resamples=9000, keep_distribution=True)
    np.testing.assert_array_equal(one.null_distribution, two.null_distribution)


# Levels -----------------------------------------------------------------------------------------------------------


def test_pvalues_are_uniform_if_learners_are_alike():
    # (1 + k) / 200 with k uniform over 0 ... 199; the chi-square of ten classes is above its limit once in 10,000.
    rng = np.random.default_rng(11)
    pvalues = [paired_permutation_test(*rng.normal(size=(2, 40)), n_resamples=199, rng=i).pvalue for i in range(600)]
    seen = np.bincount(((np.array(pvalues) * 200 - 0.5) // 20).astype(int), minlength=10)
    assert stats.chisquare(seen).pvalue > 1e-4


@pytest.mark.slow
@pytest.mark.parametrize(("asked", "kind"), [("f1", "labels"), ("roc_auc", "scores")])
def test_level_is_held(asked, kind):
    rng = np.random.default_rng(12)
    rejected = 0
    for i in range(200):
        y = (rng.random(60) < 0.4).astype(int)
        scores = np.round(rng.normal(size=(2, 60)) + y, 1)
        data = (y, *scores) if kind == "scores" else (y, *(scores > 0.5).astype(int))
        rejected += permutation_test(*data, asked, n_resamples=199, rng=i).pvalue <= 0.05
    assert stats.binom(200, 0.05).sf(rejected - 1) > 1e-4  # exceeded once in 10,000 at the nominal level


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize(("asked", "kind"), [("f1", "labels"), ("roc_auc", "scores"), ("r2", "targets")])
def test_rejected_is_beyond_the_critical_value(asked, kind, alternative):
    for seed in range(12):
        for n in (20, 80):
            found = permutation_test(
                *outputs(kind, n, seed), asked, n_resamples=99, alternative=alternative, confidence_level=0.8, rng=seed
            )
            reach = abs(found.statistic) if alternative == "two-sided" else found.statistic
            beyond = reach < found.critical_value if alternative == "less" else reach > found.critical_value
            assert found.rejected == (found.pvalue < found.alpha)
            assert found.rejected == (beyond and not math.isclose(reach, found.critical_value, rel_tol=1e-9))


def test_no_value_is_rejected_by_too_few_permutations():
    found = paired_permutation_test(np.arange(1.0, 41), np.zeros(40), n_resamples=19, rng=0)
    assert found.pvalue == 0.05
    assert found.critical_value == math.inf
    assert not found.rejected


# Invariances ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("asked", "kind"), OF_ALL, ids=str)
def test_swapping_the_models_and_permuting_rows(asked, kind):
    y, a, b = outputs(kind, 40, seed=2)
    rows = np.random.default_rng(0).permutation(40)
    first = permutation_test(y, a, b, asked, n_resamples=400, rng=1)
    second = permutation_test(y, b, a, asked, n_resamples=400, rng=1)
    np.testing.assert_allclose(first.statistic, -second.statistic, rtol=1e-12)
    if kind != "scores":  # bits are drawn by row, so this is the mirror image
        np.testing.assert_allclose(first.pvalue, second.pvalue, rtol=1e-9)
    moved = permutation_test(y[rows], a[rows], b[rows], asked, n_resamples=400, rng=1)
    np.testing.assert_allclose(moved.statistic, first.statistic, rtol=1e-10)
    if kind == "labels":
        assert moved.pvalue == first.pvalue


@pytest.mark.parametrize("exponent", [600, -600])
def test_scaling(exponent):
    rng = np.random.default_rng(1)
    y, a, b = rng.normal(size=(3, 50))
    scale = 2.0**exponent
    for n in (8, 50):
        plain = paired_permutation_test(a[:n], b[:n], rng=1, keep_distribution=True)
        scaled = paired_permutation_test(a[:n] * scale, b[:n] * scale, rng=1, keep_distribution=True)
        assert scaled.pvalue == plain.pvalue
        assert scaled.statistic == plain.statistic * scale
        assert scaled.critical_value == plain.critical_value * scale
        np.testing.assert_array_equal(scaled.null_distribution, plain.null_distribution * scale)
    for name in ("root_mean_squared_error", "mean_absolute_error", "median_absolute_error", "r2"):
        plain = permutation_test(y, a, b, name, n_resamples=300, rng=1)
        scaled = permutation_test(y * scale, a * scale, b * scale, name, n_resamples=300, rng=1)
        assert scaled.pvalue == plain.pvalue
        np.testing.assert_allclose(scaled.statistic, plain.statistic * (1 if name == "r2" else scale), rtol=1e-12)


@pytest.mark.parametrize("name", OF_TARGETS)
def test_value_is_that_of_regression_metrics(name):
    y, a, b = outputs("targets")
    values = fastevals.regression_metrics(y, np.stack((a, b)))
    found = permutation_test(y, a, b, name, n_resamples=9, rng=0)
    np.testing.assert_allclose(found.statistic, -np.diff(getattr(values, name))[0], rtol=1e-10)


def test_zero_differences_change_nothing():
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=(2, 30))
    some = paired_permutation_test(a, b, rng=1)
    same = np.full(50, 0.3)
    more = paired_permutation_test(np.r_[a, same], np.r_[b, same + 2**-54], rng=1)
    assert more.pvalue == some.pvalue
    np.testing.assert_allclose(more.statistic * 80, some.statistic * 30, rtol=1e-12)


def test_many_pairs_are_as_one_by_one():
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(2, 6, 25)).round(1)
    a[1] = b[1]
    a[2, :20] = b[2, :20]
    options = permutation_options(n_resamples=500, rng=4)
    for alternative in ALTERNATIVES:
        statistic, pvalue, effect = pairwise_permutation(a, b, alternative, **options)
        for k in range(6):
            one = paired_permutation_test(a[k], b[k], alternative=alternative, n_resamples=500, rng=4)
            assert (one.statistic, one.pvalue, one.effect) == (statistic[k], pvalue[k], effect[k])


TABLES = {
    "any": lambda values, rng: values,
    "ties": lambda values, rng: values.round(1),
    "far from 0": lambda values, rng: values.round(2) + 1e6,
    "one far away": lambda values, rng: np.where(np.arange(12)[:, np.newaxis] == 3, 1e12, values.round(2)),
    "all sizes": lambda values, rng: values * 10.0 ** rng.integers(-300, 300, (12, 1)),
    "few differences": lambda values, rng: np.where(rng.random(values.shape) < 0.7, 0.5, values.round(1)),
}


@pytest.mark.cases(10)
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_pairs_that_share_signs_are_as_one_by_one(table, alternative):
    rng = np.random.default_rng(0)
    values = TABLES[table](rng.normal(size=(12, 40)), rng)
    pairs = np.array(list(itertools.permutations(range(12), 2)))
    options = permutation_options(n_resamples=1500, rng=1)  # three parts
    for other in (values, values + 0.05):
        found = permutation_among(values, other, pairs, alternative, **options)
        expected = pairwise_permutation(values[pairs[:, 0]], other[pairs[:, 1]], alternative, **options)
        np.testing.assert_array_equal(found, expected)


# Labels of all kinds ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "names",
    [
        np.array([0, 1, 2]),
        np.array(["a", "b", "c"]),
        np.array([-5.0, 0.0, 7.0]),
        np.array([0, 15, 16]),
        np.array([-(2**40), 0, 2**40]),
        np.array([1, 200, 255], dtype=np.uint8),
        np.array(["a", "b", "c"], dtype=object),
    ],
    ids=str,
)
def test_labels_of_any_kind(names):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, (3, 200))
    expected = permutation_test(*codes, MACRO_F1, n_resamples=300, rng=1)
    found = permutation_test(*names[codes], MACRO_F1, n_resamples=300, rng=1)
    assert (found.statistic, found.pvalue) == (expected.statistic, expected.pvalue)


def test_label_that_a_sample_misses():
    codes = np.zeros((3, 200_000), dtype=int)
    codes[:, 1::2] = 1
    codes[2, 12_345] = 9
    cells, rows, classes = count_label_triples(*codes)
    assert classes.labels.tolist() == [0, 1, 9]
    assert rows.sum() == 200_000
    assert rows[(cells == np.array([[1], [1], [2]])).all(axis=0)].tolist() == [1]


def test_function_of_a_stack():
    data = outputs("labels")
    found = permutation_test(*data, lambda matrices: matrices.accuracy(), rng=1)
    assert found.pvalue == permutation_test(*data, rng=1).pvalue


# Undefined, alike and odd -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("asked", "kind"), [*OF_ALL, ("roc_auc", "labels")], ids=str)
def test_models_that_are_alike(asked, kind):
    y, a, _ = outputs(kind)
    found = permutation_test(y, a, a, asked)
    assert (found.statistic, found.pvalue, found.exact) == (0.0, 1.0, True)
    assert not found.rejected
    assert found.conclusion.startswith("No significant difference between ")


def test_models_that_differ_but_not_in_the_metric():
    y, a, b = [1] * 7 + [0], [1, 1, 1, 0, 0, 0, 1, 0], [0, 0, 0, 1, 1, 1, 1, 0]
    for name in ("accuracy", "f1", "matthews"):
        found = permutation_test(y, a, b, name)
        assert (found.statistic, found.pvalue) == (0.0, 1.0)


def test_measurements_that_are_alike():
    found = paired_permutation_test([0.3, 0.1], [0.1 + 0.2, 0.1])
    assert (found.statistic, found.pvalue) == (0.0, 1.0)


def test_undefined_permutations_are_left_out():
    y, a, b = [0, 1, 1, 0], [1, 1, 0, 0], [0, 0, 0, 1]
    with pytest.warns(UndefinedMetricWarning, match="precision is undefined .* in 2 of 6 permutations"):
        found = permutation_test(y, a, b, "precision", keep_distribution=True)
    values = twin.swap_differences("precision", y, a, b)
    assert (found.n_resamples, found.n_undefined, values.count(None)) == (6, 2, 4)
    assert found.null_distribution.size == found.n_resamples - 2
    np.testing.assert_allclose(found.pvalue, twin.exact_pvalue(values, "two-sided"))
    np.testing.assert_allclose(found.null_chances.sum(), 1)


def test_undefined_metric():
    with pytest.warns(UndefinedMetricWarning, match="the test of roc_auc is undefined"):
        found = permutation_test([1, 1, 1], [0.1, 0.2, 0.3], [0.3, 0.1, 0.5], "roc_auc")
    assert math.isnan(found.statistic)
    assert math.isnan(found.pvalue)
    assert not found.rejected
    assert found.conclusion == (
        "The paired permutation test is undefined on these data, so nothing follows about roc_auc of pred_a and pred_b."
    )


def test_infinite_loss():
    found = permutation_test([0, 1, 1], [0.1, 0.9, 0.8], [0.1, 0.0, 0.8], "log_loss", keep_distribution=True)
    assert found.statistic == -math.inf
    assert found.pvalue == 1.0


ODD = [
    ({"pred_a": [0, 1]}, "pred_a has 2 rows, but y_true has 4"),
    ({"pred_b": [0, math.nan, 1, 1]}, "pred_b must hold class labels"),
    ({"pred_b": ["a", "b", "a", "b"]}, "labels must be of one type"),
    ({"pred_b": [0.5, 0.1, 0.2, 0.3]}, "pred_b must hold class labels"),
    ({"y_true": []}, "y_true is empty"),
    ({"metric": "roc"}, "metric must be one of"),
    ({"metric": ["accuracy", "f1"]}, "metric must be a name"),
    ({"metric": MetricSpec("f1", {"beta": 2})}, "has no option beta="),
    ({"metric": metric("f_score", average=None)}, "metric must return one number"),
    ({"metric": "f1", "pos_label": 7}, "pos_label must be a label of the data"),
    ({"metric": "r2", "pos_label": 1}, "pos_label applies only to metrics of classes"),
    ({"metric": "expected_cost"}, "needs one threshold"),
    ({"metric": "r2", "pred_a": [1, 2, math.inf, 0]}, "pred_a must be finite"),
    ({"metric": "roc_auc", "pred_b": [1, 2, math.nan, 0]}, "pred_b must be finite, but has 1 NaN value, .* row 2"),
    ({"metric": "roc_auc", "y_true": [0, 1, 2, 1]}, "y_true"),
    ({"n_resamples": 0}, "n_resamples must be an integer from 1"),
    ({"alternative": "more"}, "alternative must be one of"),
    ({"confidence_level": 1}, "confidence_level must be in"),
    ({"rng": "seed"}, "rng must be None"),
    ({"keep_distribution": 1}, "keep_distribution must be True or False"),
]


@pytest.mark.parametrize(("change", "message"), ODD, ids=[message for _, message in ODD])
def test_odd_input(change, message):
    given = {"y_true": [0, 1, 0, 1], "pred_a": [0, 1, 1, 1], "pred_b": [0, 0, 1, 1], **change}
    with pytest.raises(ValueError, match=message):
        permutation_test(**given)


def test_odd_measurements():
    with pytest.raises(ValueError, match="a must be finite, but has 1 NaN value, the first at row 1"):
        paired_permutation_test([1, math.nan], [1, 2])
    with pytest.raises(ValueError, match="b has 3 rows, but a has 2"):
        paired_permutation_test([1, 2], [1, 2, 3])
    with pytest.raises(ValueError, match="n_resamples must be an integer"):
        permutation_options(n_resamples=1.5)


def test_positive_class():
    y, a, b = outputs("scores", 60)
    named = np.array(["no", "yes"])[y]
    plain = permutation_test(y, a, b, "roc_auc", rng=1, n_resamples=99)
    found = permutation_test(named, a, b, "roc_auc", pos_label="yes", rng=1, n_resamples=99)
    assert (found.statistic, found.pvalue) == (plain.statistic, plain.pvalue)


def test_result():
    found = permutation_test(*outputs("labels"), "f1", rng=1, keep_distribution=True)
    statistic, pvalue = found
    assert (statistic, pvalue) == (found.statistic, found.pvalue)
    assert found.confidence_interval is None
    copy = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(copy.null_distribution, found.null_distribution)
    assert not copy.null_distribution.flags.writeable
    assert json.loads(json.dumps(found.to_dict()))["metric"] == "f1"
    assert permutation_test(*outputs("labels"), "f1", rng=1).null_distribution is None
    assert repr(found).startswith("PermutationResult(statistic=")
