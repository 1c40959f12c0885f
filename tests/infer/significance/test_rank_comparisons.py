"""Nemenyi, Bonferroni-Dunn and stepwise tests of mean ranks: published figures, SciPy, p against CD, groups."""

from __future__ import annotations

import json
import math
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from fastevals.infer.significance.corrections import CORRECTIONS
from fastevals.infer.significance.rank_comparisons import (
    DEPENDS_ON_OTHERS,
    RankComparison,
    bonferroni_dunn_test,
    nemenyi_test,
    rank_comparison_test,
)
from tests.infer.significance.test_friedman import CASES, PSNR, ZHOU, psnr
from tests.reference import rank_tests as reference
from tests.strategies import BOUNDED, FEWER

# Names of algorithms, shuffled so that column order differs from rank order.
NAMES = ("d", "a", "e", "b", "c", "f")


def table_of(seed: int, n: int = 20, k: int = 6, spread: float = 0.5, decimals: int = 1) -> NDArray[np.float64]:
    random = np.random.default_rng(seed)
    return (random.normal(size=(n, k)) + spread * random.permutation(k)).round(decimals)


def differing(result: RankComparison) -> list[list[Any]]:
    return [[result.names[place] for place in pair] for pair in result.pairs[result.rejected]]


# Published figures ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("level", "column"), [(0.95, "q05"), (0.90, "q10")])
def test_nemenyi_q(level: float, column: str) -> None:
    """Check q of table 2.7, by CD = q sqrt(k (k + 1) / 6 N)."""
    for k, q in enumerate(CASES["nemenyi_q"][column], start=2):
        result = nemenyi_test(table_of(k, k=k), confidence_level=level)
        np.testing.assert_allclose(result.critical_difference, q * math.sqrt(k * (k + 1) / 120), atol=5e-7)


def test_zhou_table_2_5() -> None:
    expected = ZHOU["expected"]
    columns = dict(zip("ABC", np.transpose(ZHOU["ranks"]), strict=True))
    result = nemenyi_test(columns, higher_is_better=False)
    np.testing.assert_allclose(result.critical_difference, expected["CD_05"], atol=5e-7)
    assert differing(result) == expected["different"]
    assert result.groups() == [(0, 1), (1, 2)]
    assert result.mean_ranks.tolist() == expected["mean_ranks"]


def test_psnr_at_sigma_20() -> None:
    expected = PSNR["expected"]["sigma_20"]
    result = nemenyi_test(psnr(slice(0, 1)))
    np.testing.assert_allclose(result.critical_difference, expected["CD_05"], atol=5e-4)
    assert differing(result) == expected["different"]


def test_demsar() -> None:
    """Demsar (2006), section 3.2.2: 4 algorithms on 14 data sets, q = 2.291, 2.569 (Nemenyi) and 2.128."""
    table = table_of(0, n=14, k=4)
    assert round(nemenyi_test(table, confidence_level=0.9).critical_difference, 2) == 1.12
    assert round(nemenyi_test(table, confidence_level=0.95).critical_difference, 2) == 1.25
    assert round(bonferroni_dunn_test(table, 0, confidence_level=0.9).critical_difference, 2) == 1.04


# P-values ---------------------------------------------------------------------------------------------------------


@given(seed=st.integers(0, 10**6), k=st.integers(2, 6), level=st.sampled_from([0.5, 0.9, 0.95, 0.999]))
@FEWER
def test_pvalues_agree_with_the_critical_difference(seed: int, k: int, level: float) -> None:
    table = table_of(seed, k=k, n=7)
    found = [nemenyi_test(table, confidence_level=level), bonferroni_dunn_test(table, 0, confidence_level=level)]
    found += [rank_comparison_test(table, correction=each, confidence_level=level) for each in ("none", "sidak")]
    for result in found:
        size = np.abs(result.effect)
        clear = np.abs(size - result.critical_difference) > 1e-9
        np.testing.assert_array_equal(result.rejected[clear], (size > result.critical_difference)[clear])
        assert (result.pvalue >= result.unadjusted_pvalue).all()


def test_pvalues_from_scipy_one_by_one() -> None:
    table = table_of(3, n=9, k=5)
    result = nemenyi_test(table)
    ranks = stats.rankdata(-table, axis=1).mean(axis=0)
    np.testing.assert_allclose(result.mean_ranks, ranks, rtol=1e-14)
    for (i, j), statistic, pvalue in zip(result.pairs, result.statistic, result.pvalue, strict=True):
        z = (ranks[i] - ranks[j]) / math.sqrt(5 * 6 / (6 * 9))
        np.testing.assert_allclose(statistic, z, rtol=1e-12, atol=1e-13)
        expected = stats.studentized_range.sf(abs(z) * math.sqrt(2), 5, math.inf)
        np.testing.assert_allclose(pvalue, expected, rtol=1e-9)


def test_two_algorithms_are_a_normal_test() -> None:
    table = table_of(4, n=11, k=2)
    result = nemenyi_test(table)
    np.testing.assert_allclose(result.pvalue, 2 * stats.norm.sf(np.abs(result.statistic)), rtol=1e-12)
    plain = rank_comparison_test(table, correction="none")
    np.testing.assert_allclose(result.critical_difference, plain.critical_difference, rtol=1e-12)


def test_small_pvalues_have_digits() -> None:
    """SciPy's tail of the studentized range is 0, or a few 1e-16, at these values."""
    table = np.arange(4.0) + np.zeros((200, 1))
    result = nemenyi_test(table)
    assert (result.pvalue > 0).all()
    assert (result.pvalue <= 6 * result.unadjusted_pvalue).all()
    assert result.between(0, 3).pvalue < 1e-100


def test_control() -> None:
    columns = dict(zip(NAMES, table_of(5).T, strict=True))
    result = bonferroni_dunn_test(columns, "b")
    assert [result.names[first] for first, _ in result.pairs] == ["d", "a", "e", "c", "f"]
    assert (result.pairs[:, 1] == 3).all()
    np.testing.assert_allclose(result.pvalue, np.minimum(5 * result.unadjusted_pvalue, 1))
    assert rank_comparison_test(columns, control="b", correction="bonferroni").pvalue.tolist() == result.pvalue.tolist()
    assert result.control == "b"
    np.testing.assert_allclose(
        result.critical_difference, stats.norm.isf(0.05 / 10) * math.sqrt(6 * 7 / (6 * 20)), rtol=1e-12
    )


def test_stepwise_corrections_reject_more() -> None:
    table = table_of(6, n=30)
    found = {each: rank_comparison_test(table, control=0, correction=each) for each in CORRECTIONS}
    for weaker, stronger in (("bonferroni", "holm"), ("holm", "hochberg"), ("hochberg", "benjamini-hochberg")):
        assert (found[weaker].pvalue >= found[stronger].pvalue).all()
    single = {each for each, result in found.items() if not math.isnan(result.critical_difference)}
    assert single == {"none", "bonferroni", "sidak"}


@pytest.mark.slow
@pytest.mark.parametrize("make", [nemenyi_test, lambda table: bonferroni_dunn_test(table, 0), rank_comparison_test])
def test_false_alarms_together(make: Any) -> None:
    """At level .05, any of six pairs is rejected in at most 31 of 300 tables; more by chance: 1e-4."""
    random = np.random.default_rng(13)
    alarms = sum(bool(make(random.normal(size=(25, 4))).rejected.any()) for _ in range(300))
    assert alarms <= stats.binom.isf(1e-4, 300, 0.05)


# Groups -----------------------------------------------------------------------------------------------------------


@given(seed=st.integers(0, 10**6), n=st.integers(1, 40), k=st.integers(2, 6), spread=st.sampled_from([0.0, 0.5, 1.5]))
@BOUNDED
def test_groups_match_the_twin(seed: int, n: int, k: int, spread: float) -> None:
    table = table_of(seed, n=n, k=k, spread=spread, decimals=0)
    for result in (nemenyi_test(table), rank_comparison_test(table, correction="benjamini-hochberg")):
        groups = result.groups()
        expected = reference.groups(result.mean_ranks.tolist(), result.matrix("rejected") == 1)
        assert {frozenset(group) for group in groups} == expected
        assert len(groups) == len(expected)
        for group in groups:
            assert sorted(result.mean_ranks[list(group)]) == result.mean_ranks[list(group)].tolist()
        best = [result.mean_ranks[group[0]] for group in groups]
        assert best == sorted(best)


def test_groups_of_tied_and_of_separate_algorithms() -> None:
    assert nemenyi_test(np.ones((5, 3))).groups() == [(0, 1, 2)]
    apart = np.array([2.0, 0.0, 1.0]) + np.zeros((30, 1))
    assert nemenyi_test(apart).groups() == []
    twins = np.array([2.0, 0.0, 2.0, 0.0]) + np.zeros((30, 1))
    assert nemenyi_test(twins).groups() == [(0, 2), (1, 3)]


def test_groups_are_of_all_pairs() -> None:
    with pytest.raises(ValueError, match="groups need all pairs, but each algorithm was compared with 'b' only"):
        bonferroni_dunn_test(dict(zip(NAMES, table_of(5).T, strict=True)), "b").groups()


# Invariances, results, input --------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [nemenyi_test, rank_comparison_test, lambda t, **o: bonferroni_dunn_test(t, 2, **o)])
def test_invariances(make: Any) -> None:
    random = np.random.default_rng(7)
    table = table_of(7)
    result = make(table)
    for other in (table[random.permutation(20)], table * 2.0**600, table * 2.0**-600, np.exp(table)):
        assert make(other).pvalue.tolist() == result.pvalue.tolist()
    negated = make(-table, higher_is_better=False)
    assert negated.pvalue.tolist() == result.pvalue.tolist()
    assert negated.effect.tolist() == result.effect.tolist()
    worst_first = make(table, higher_is_better=False)
    np.testing.assert_allclose(worst_first.effect, -result.effect, atol=1e-14)


def test_result() -> None:
    columns = dict(zip(NAMES, table_of(5, spread=1.0).T, strict=True))
    result = nemenyi_test(columns)
    assert repr(result).startswith("RankComparison(the Nemenyi test, 20 data sets x 6 algorithms, mean ranks d: ")
    assert f"CD {result.critical_difference:.4g}, {result.rejected.sum()} of 15 pairs rejected at 0.05" in repr(result)
    first = result[0]
    assert (first.statistic, first.pvalue) == (result.statistic[0], result.pvalue[0])
    assert first.conclusion == (
        f"No significant difference between the mean ranks of d and a: {result.mean_ranks[0]:.4g} and "
        f"{result.mean_ranks[1]:.4g} (critical difference {result.critical_difference:.4g}; Nemenyi test, "
        f"p = {first.pvalue:.3g}). {DEPENDS_ON_OTHERS}"
    )
    assert result.conclusion.endswith(DEPENDS_ON_OTHERS)
    assert json.loads(json.dumps(result.to_dict()))["n_datasets"] == 20
    assert pickle.loads(pickle.dumps(result)).groups() == result.groups()
    assert not result.mean_ranks.flags.writeable
    assert "CD" not in repr(rank_comparison_test(columns))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda t: bonferroni_dunn_test(t, 6), "control must be one of 0, 1, 2, 3, 4, 5; got 6"),
        (lambda t: bonferroni_dunn_test(t, None), "control must be the algorithm to compare the others with, got None"),
        (lambda t: rank_comparison_test(t, control="x"), "control must be one of"),
        (lambda t: rank_comparison_test(t, correction="tukey"), "correction must be one of"),
        (lambda t: nemenyi_test(t, higher_is_better=1), "higher_is_better must be True or False"),
        (lambda t: nemenyi_test(t, confidence_level=2), "confidence_level"),
        (lambda t: nemenyi_test(t[:, :1]), "two algorithms"),
    ],
)
def test_what_is_refused(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call(table_of(1))
