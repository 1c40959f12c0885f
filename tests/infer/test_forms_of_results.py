"""Test results: copies of any kind, and distributions queried without freezing them."""

from __future__ import annotations

import copy
import json
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fastevals
from fastevals.results import Interval, Null, OperatingPoint, as_json, tail_probability

Y, A, B = [0, 1, 1, 0, 1, 0], [0, 1, 1, 1, 1, 1], [0, 1, 0, 0, 0, 1]
TABLE = [[0.1, 0.2, 0.4], [0.3, 0.1, 0.5], [0.2, 0.3, 0.1], [0.4, 0.6, 0.5]]

RESULTS: dict[str, Callable[[], Any]] = {
    "SignificanceResult": lambda: fastevals.paired_t_test(A, B),
    "BinomialResult": lambda: fastevals.binomial_error_test(5, 10, 0.3),
    "McNemarResult": lambda: fastevals.mcnemar_test(Y, A, B),
    "CochranResult": lambda: fastevals.cochran_q_test(Y, [A, B]),
    "FriedmanResult": lambda: fastevals.friedman_test(TABLE),
    "RankComparison": lambda: fastevals.nemenyi_test(TABLE),
    "MeasuredPairs": lambda: fastevals.pairwise_tests(TABLE),
    "PermutationResult": lambda: fastevals.permutation_test(Y, A, B, keep_distribution=True),
    "DelongResult": lambda: fastevals.delong(Y, [A, B]),
}


@pytest.mark.parametrize("name", RESULTS)
@pytest.mark.parametrize("made_again", [lambda x: pickle.loads(pickle.dumps(x)), copy.copy, copy.deepcopy])
def test_copies(name: str, made_again: Callable[[Any], Any]) -> None:
    result = RESULTS[name]()
    again = made_again(result)
    assert type(again).__name__ == name
    assert repr(again) == repr(result)
    for field in type(result).__dataclass_fields__:
        value, other = getattr(result, field), getattr(again, field)
        assert isinstance(value, type(other))
        if isinstance(value, np.ndarray):
            np.testing.assert_array_equal(value, other)
            assert not other.flags.writeable
            assert np.shares_memory(value, other) == (made_again is copy.copy)


@pytest.mark.parametrize("name", ["BinomialResult", "McNemarResult", "CochranResult", "FriedmanResult"])
def test_a_result_has_all_that_it_is_made_of(name: str) -> None:
    result = RESULTS[name]()
    fields = fastevals.SignificanceResult.__dataclass_fields__
    with pytest.raises(TypeError, match="missing"):
        type(result)(**{field: getattr(result, field) for field in fields})


@pytest.mark.parametrize("name", sorted(set(RESULTS) - {"DelongResult"}))
def test_a_printed_result_says_what_was_tested_and_what_follows(name: str) -> None:
    result = RESULTS[name]()
    first, *numbers = str(result).splitlines()
    assert first.lower().startswith(result.test.lower())
    assert " ".join(" ".join(numbers).split()).endswith(" ".join(result.conclusion.split()))
    assert "\n" not in repr(result)


def test_printed_numbers() -> None:
    result = fastevals.paired_t_test([0.20, 0.31, 0.12, 0.22], [0.25, 0.36, 0.13, 0.29], alternative="less")
    assert str(result).splitlines() == [
        "The paired t-test",
        "  effect     -0.04500, 95 % interval -inf to -0.01539",
        "  statistic  -3.576 (df 3)",
        "  p          0.0187 (one-sided: less)",
        "The mean of a is significantly lower than the mean of b: difference -0.045 (95 %",
        "interval -inf to -0.0154; paired t-test, one-sided p = 0.0187).",
    ]
    with pytest.warns(fastevals.UndefinedMetricWarning):
        undefined = fastevals.permutation_test([0, 0], [0, 0], [1, 0], "recall", pos_label=1)
    assert "  p          -\n" in str(undefined)


def test_printed_details() -> None:
    assert "  errors     5 of 10 rows" in str(fastevals.binomial_error_test(5, 10, 0.3))
    assert "  rows right  both 1, only the first 2, only the second 3, neither 4" in str(
        fastevals.mcnemar_test_of_table([[1, 2], [3, 4]])
    )
    assert "  accuracies  0: 0.6667, 1: 0.5" in str(fastevals.cochran_q_test(Y, [A, B]))
    assert "mean ranks 0: 2.5, 1: 1.75, 2: 1.75" in str(fastevals.friedman_test(TABLE))
    assert "  null       all 6 outcomes" in str(fastevals.permutation_test(Y, A, B))


def test_printed_pairs() -> None:
    many = np.random.default_rng(0).random((8, 12))
    first, *lines = str(fastevals.pairwise_tests(many, correction="none")).splitlines()
    assert first == "Wilcoxon's signed-rank test, p not adjusted"
    assert lines[0].split() == [
        "pair",
        "effect",
        "statistic",
        "95",
        "%",
        "interval",
        "higher/tied/lower",
        "p",
        "rejected",
    ]
    assert lines[46] == "  ... 21 more pairs, with equal or larger p"
    ranks = str(fastevals.nemenyi_test(TABLE)).splitlines()
    assert ranks[0] == "The Nemenyi test, p adjusted for 3 pairs (studentized-range)"
    assert ranks[2] == "  critical difference 1.657"


def test_printed_delong() -> None:
    y, scores = [0, 0, 0, 1, 1, 1], {"new": [1, 2, 3, 2, 3, 4], "old": [2, 3, 2, 1, 3, 2]}
    two = fastevals.delong(y, scores)
    test = fastevals.delong_test(y, *scores.values(), names=("new", "old"))
    title, *effect = str(test).splitlines()
    low, high = two.confidence_interval()
    assert str(two).splitlines() == [
        title,
        f"  AUC of new  0.7778, 95 % interval {low[0]:.4f} to {high[0]:.4f}",
        f"  AUC of old  0.3889, 95 % interval {low[1]:.4f} to {high[1]:.4f}",
        "  rows        3 positive, 3 negative",
        *(line[:13].rstrip().ljust(14) + line[13:] if line[:2] == "  " else line for line in effect),
    ]
    one = str(fastevals.delong(y, scores["new"])).splitlines()
    assert one[0] == "DeLong's interval"
    assert one[1].startswith("  AUC of model  0.7778, 95 % interval")
    many = fastevals.delong(np.arange(99) % 2, np.random.default_rng(0).random((22, 99)))
    first, *lines = str(many).splitlines()
    assert first == "DeLong's test of equal AUCs"
    assert lines[20] == "  ... 2 more"
    assert " ".join(str(many).split()).endswith(many.equality_test().conclusion)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # printing does not warn
        perfect = str(fastevals.delong([0, 0, 1, 1], {"a": [1, 2, 3, 4], "b": [4, 3, 2, 1]}))
    assert "p < 1e-300" in " ".join(perfect.split())


def test_printed_comparisons_and_bands() -> None:
    y, scores = [0, 0, 0, 1, 1, 1], {"a": [1, 2, 3, 2, 3, 4], "b": [2, 3, 2, 1, 3, 2]}
    found = fastevals.compare_rankings(y, scores, stratified=True, n_resamples=99, rng=0)
    header, a, b, difference, *caution = str(found).splitlines()[2:]
    assert header.split() == ["roc_auc", "value", "low", "high", "p"]
    assert a.split()[:2] == ["a", "0.7778"]
    assert b.split()[:2] == ["b", "0.3889"]
    assert difference.split()[:4] == ["a", "-", "b", "0.3889"]
    assert str(found["roc_auc"]).splitlines()[1:] == [a, b, difference, *caution]
    assert [line.strip()[:18] for line in caution] == ["! there are only 6", "p-values too small"]
    many = fastevals.compare_rankings(
        y, np.random.default_rng(0).random((9, 6)), stratified=True, n_resamples=99, rng=0
    )
    assert len(str(many["roc_auc"]).splitlines()) == 1 + 45 + len(caution)
    many = fastevals.compare_rankings(
        y, np.random.default_rng(0).random((12, 6)), stratified=True, n_resamples=99, rng=0
    )
    assert str(many["roc_auc"]).splitlines()[-1 - len(caution)] == f"    ... {12 + 66 - 45} more"
    band = fastevals.confidence_band(fastevals.Ranking(y, scores["a"]), at=[0.0, 0.5, 1.0], n_resamples=99, rng=0)
    first, *points = str(band).splitlines()
    assert first == repr(band)
    assert points == [f"  {x:.4f}: {low:.4f} to {high:.4f}" for x, low, high in zip(*band, strict=True)]


@pytest.mark.parametrize(
    "null",
    [
        Null("norm"),
        Null("t", (3,)),
        Null("f", (2, 7)),
        Null("chi2", (4,)),
        Null("binom", (9, 0.3)),
    ],
)
def test_a_distribution_is_scipys(null: Null) -> None:
    values, chances = np.array([-1.0, 0.0, 0.5, 2.0, 30.0, np.nan]), np.array([0.0, 0.01, 0.5, 1.0])
    for method, given in (("cdf", values), ("sf", values), ("ppf", chances), ("isf", chances)):
        np.testing.assert_array_equal(getattr(null, method)(given), getattr(null.frozen(), method)(given))


def test_tails() -> None:
    assert [tail_probability(0.05, each) for each in ("two-sided", "less", "greater")] == [0.025, 0.05, 0.05]
    assert tail_probability(1.0, "less") < 1


def test_values_of_results_as_json_has_them():
    odd = {
        ("a", 1): np.array([np.int64(2), "b", None], dtype=object),
        np.int64(3): (np.longdouble(2.5), np.datetime64("2026-01-02"), Interval(-np.inf, np.nan)),
        "of": [OperatingPoint(1.0, 0.5), np.array([[1, 2]], dtype=np.uint8), b"raw"],
    }
    assert as_json(odd) == {
        "['a', 1]": [2, "b", None],
        "3": [2.5, "2026-01-02", ["-Infinity", None]],
        "of": [{"value": 1.0, "threshold": 0.5}, [[1, 2]], "b'raw'"],
    }
    assert json.loads(json.dumps(as_json(odd), allow_nan=False)) == as_json(odd)


def test_arrays_as_json_has_them():
    assert as_json(np.array([[1.5, np.nan], [np.inf, -np.inf]], dtype=np.float32)) == [
        [1.5, None],
        ["Infinity", "-Infinity"],
    ]
    assert as_json(np.array(["2026-01-02", "NaT"], dtype="M8[D]")) == ["2026-01-02", "NaT"]
    assert as_json(np.array(2.0)) == 2.0
    assert as_json(np.array([2.0**64, np.nan], dtype=np.longdouble)) == [2**64, None]
