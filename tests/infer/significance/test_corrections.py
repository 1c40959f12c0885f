from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import fastevals
from fastevals import adjust_pvalues
from fastevals.infer.significance.corrections import CORRECTIONS, PER_TEST_ALPHA, equal_pairs
from tests.reference.significance import adjusted, possible_equal_pairs, shaffer
from tests.strategies import FEWER

pvalues = st.lists(st.one_of(st.sampled_from([0.0, 0.01, 0.04, 0.5, 1.0]), st.floats(0, 1)), min_size=1, max_size=9)


@pytest.mark.parametrize("correction", CORRECTIONS)
@FEWER
@given(p=pvalues)
def test_is_what_the_procedure_rejects(correction: str, p: list[float]) -> None:
    found = adjust_pvalues(p, correction=correction)
    assert found == pytest.approx(adjusted(p, correction), rel=1e-9, abs=1e-12)
    assert (found >= np.array(p)).all()
    assert (found <= 1).all()
    order = np.argsort(p, kind="stable")
    assert (np.diff(found[order]) >= 0).all()


def test_agrees_with_scipy() -> None:
    p = np.random.default_rng(0).uniform(size=50) ** 3
    assert adjust_pvalues(p, correction="benjamini-hochberg") == pytest.approx(
        stats.false_discovery_control(p), rel=1e-12
    )
    peer = stats.false_discovery_control(p, method="by")
    assert adjust_pvalues(p, correction="benjamini-yekutieli") == pytest.approx(peer, rel=1e-12)


@pytest.mark.parametrize("correction", PER_TEST_ALPHA)
@pytest.mark.parametrize("m", [1, 2, 20])
@pytest.mark.parametrize("alpha", [0.05, 0.5, 1.0])
def test_levels_are_those_of_the_pvalues(correction: str, m: int, alpha: float) -> None:
    level = PER_TEST_ALPHA[correction](alpha, m)
    assert adjust_pvalues([level] * m, correction=correction)[0] == pytest.approx(alpha, rel=1e-12)
    if m == 1:
        assert level == alpha


# The five classifiers of Garcia and Herrera (2008, JMLR 9, 2677-2694) on 30 data sets, by aligned ranks: unadjusted p,
# and p by adjustShaffer, as printed in scmamp's vignette "Statistical assessment of the differences" (version 0.2.55).
# Order of pairs: C4.5, 1-NN, naive Bayes, kernel, CN2; (0, 1), (0, 2), ..., (3, 4).
SCMAMP = [
    (1.174850e-03, 0.007049103), (3.341698e-01, 6.683396e-01), (2.843421e-10, 2.843421e-09),
    (1.845167e-02, 0.0738066768), (2.265711e-02, 9.062842e-02), (2.197407e-03, 1.318444e-02),
    (3.742777e-01, 0.6683396134), (9.226472e-08, 5.535883e-07), (1.643229e-01, 0.4929687992),
    (7.793722e-05, 0.0004676233),
]  # fmt: skip


def test_shaffer_is_the_published_table() -> None:
    p, published = map(np.array, zip(*SCMAMP, strict=True))
    assert adjust_pvalues(p, correction="shaffer") == pytest.approx(published, rel=5e-7)
    assert adjust_pvalues(p, correction="shaffer", n_learners=5) == pytest.approx(published, rel=5e-7)


@pytest.mark.parametrize("k", range(2, 8))
def test_numbers_of_equal_pairs_are_those_of_all_partitions(k: int) -> None:
    assert equal_pairs(k).tolist() == possible_equal_pairs(k)


@pytest.mark.parametrize("k", [2, 3, 4, 5, 6])
@FEWER
@given(data=st.data())
def test_shaffer_is_what_the_procedure_rejects(k: int, data: Any) -> None:
    p = data.draw(st.lists(pvalues.map(lambda each: each[0]), min_size=k * (k - 1) // 2, max_size=k * (k - 1) // 2))
    found = adjust_pvalues(p, correction="shaffer")
    assert found == pytest.approx(shaffer(p, k), rel=1e-12)
    assert (found <= adjust_pvalues(p, correction="holm")).all()


def test_shaffer_without_undefined_tests() -> None:
    p = [0.001, np.nan, 0.002, 0.03, 0.04, 0.05]
    found = adjust_pvalues(p, correction="shaffer")  # of 6 pairs of 4 learners, at most 3 are equal if one is not
    assert found[[0, 2, 3, 4, 5]] == pytest.approx([0.005, 0.006, 0.09, 0.09, 0.09])
    assert np.isnan(found[1])
    assert adjust_pvalues([], correction="shaffer", n_learners=None).size == 0


def test_shaffer_keeps_its_level_where_equality_is_transitive() -> None:
    # Five learners with means 0, 0, 1, 1, 1 and 20 results each: 4 true hypotheses. False alarms in 2,000 experiments
    # at 5 %: more than 6.9 % has probability 1e-4.
    rng, n, k = np.random.default_rng(3), 2000, 5
    means, pairs = np.array([0, 0, 3, 3, 3.0]), np.array(list(combinations(range(k), 2)))
    z = rng.normal(size=(n, k)) + means
    p = 2 * stats.norm.sf(np.abs(z[:, pairs[:, 0]] - z[:, pairs[:, 1]]) / np.sqrt(2))
    true = means[pairs[:, 0]] == means[pairs[:, 1]]
    wrong = [(adjust_pvalues(each, correction="shaffer")[true] < 0.05).any() for each in p]
    assert np.mean(wrong) < 0.069


def test_finner_keeps_its_level_only_if_none_differ() -> None:
    # Ten independent tests; more than 6.9 % of 2,000 has probability 1e-4 at 5 %, fewer than 11.4 % at 14.3 %.
    p = np.random.default_rng(5).uniform(size=(2000, 10))
    none = [(adjust_pvalues(each, correction="finner") < 0.05).any() for each in p]
    assert np.mean(none) < 0.069
    p[:, :5] = 0
    half = [(adjust_pvalues(each, correction="finner")[5:] < 0.05).any() for each in p]
    assert 0.114 < np.mean(half) < 0.175


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: adjust_pvalues([0.1] * 4, correction="shaffer"), "pvalues must be for all pairs of learners .* got 4"),
        (
            lambda: adjust_pvalues([0.1] * 4, correction="shaffer", n_learners=4),
            "pvalues must be for all 6 pairs of 4 learners, got 4",
        ),
        (lambda: adjust_pvalues([0.1], correction="shaffer", n_learners=1), "n_learners must be an integer from 2 to"),
        (
            lambda: adjust_pvalues([0.1], n_learners=2),
            "n_learners applies only to correction='shaffer', got correction='holm'",
        ),
        (
            lambda: fastevals.pairwise_tests(np.eye(4), reference=1, correction="shaffer"),
            "correction='shaffer' is for all pairs, not for pairs with one reference, got reference=1: use 'holm'",
        ),
        (
            lambda: fastevals.rank_comparison_test(np.eye(4), control=0, correction="shaffer"),
            "not for pairs with one control, got control=0",
        ),
        (
            lambda: fastevals.pairwise_tests(np.eye(4), alternative="less", correction="shaffer"),
            "correction='shaffer' is for two-sided tests, got alternative='less'",
        ),
        (
            lambda: fastevals.pairwise_mcnemar_tests([0, 1], [[0, 1], [1, 1]], reference=0, correction="shaffer"),
            "correction='shaffer' is for all pairs",
        ),
    ],
)
def test_shaffer_is_refused_where_it_does_not_apply(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("correction", ["shaffer", "finner"])
def test_tests_of_pairs_take_the_correction(correction: Any) -> None:
    table = np.random.default_rng(1).normal(size=(12, 5)) + np.arange(5)
    for found in (
        fastevals.pairwise_tests(table, correction=correction),
        fastevals.rank_comparison_test(table, correction=correction),
    ):
        assert found.pvalue == pytest.approx(adjust_pvalues(found.unadjusted_pvalue, correction=correction))
        assert f"{correction.title()}-adjusted" in found.conclusion


def test_undefined_tests_do_not_count() -> None:
    found = adjust_pvalues([[0.01, np.nan], [0.04, np.nan]], correction="bonferroni")
    assert found.tolist()[0][0] == 0.02
    assert np.isnan(found[:, 1]).all()
    assert adjust_pvalues([], correction="holm").size == 0


def test_tiny_pvalues_keep_their_digits() -> None:
    assert adjust_pvalues([1e-300, 0.5], correction="sidak")[0] == pytest.approx(2e-300)
    assert adjust_pvalues([1e-300, 1.0], correction="holm").tolist() == [2e-300, 1.0]


@pytest.mark.parametrize(
    ("values", "correction", "message"),
    [
        ([0.1, 1.2], "holm", r"pvalues must be in \[0, 1\], got 1.2"),
        ([-0.1], "holm", "pvalues must be in"),
        (["a"], "holm", "pvalues must hold numbers"),
        ([0.1], "tukey", "correction must be one of 'holm', 'hochberg'"),
    ],
)
def test_bad_input(values: Any, correction: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        adjust_pvalues(values, correction=correction)
