"""McNemar's tests against twins, SciPy and published figures; consistent intervals; many pairs; odd input."""

from __future__ import annotations

import json
import math
import pickle
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from fastevals import cochran_q_test, num_threads
from fastevals.infer.significance import agreement
from fastevals.infer.significance.mcnemar import (
    MCNEMAR_METHODS,
    mcnemar_statistics,
    mcnemar_test,
    mcnemar_test_of_table,
    pairwise_mcnemar_tests,
)
from fastevals.results import Alternative, Interval
from tests.parameters import IS_PRECISE
from tests.reference import mcnemar as twin
from tests.strategies import BOUNDED

ALTERNATIVES = get_args(Alternative)

PUBLISHED = json.loads((Path(__file__).parents[2] / "data" / "cases.json").read_text())["mcnemar"]["rows"]
KINDS = [
    (method, alternative)
    for method in MCNEMAR_METHODS
    for alternative in (ALTERNATIVES if method in ("exact", "mid-p") else ALTERNATIVES[:1])
]
counts = st.integers(0, 40)


def of_counts(b: int, c: int, **options: Any) -> Any:
    return mcnemar_test_of_table([[7, b], [c, 5]], **options)


# Published figures ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", PUBLISHED)
def test_published(row: Any) -> None:
    close = 1e-3 if "note" in row else 1e-12  # the notes print four decimals
    for method, key in (("exact", "exact_p"), ("mid-p", "mid_p")):
        if key in row:
            assert of_counts(row["b"], row["c"], method=method).pvalue == pytest.approx(row[key], rel=close)
    for method in ("corrected", "uncorrected"):
        if method in row:
            assert tuple(of_counts(row["b"], row["c"], method=method)) == pytest.approx(row[method], rel=close)


def test_fagerland_lydersen_laake() -> None:
    # Airway hyper-responsiveness before and after stem cell transplantation: (2013), doi:10.1186/1471-2288-13-91,
    # and of the interval (2014), doi:10.1002/sim.6148.
    table = [[1, 1], [7, 12]]
    found = {method: mcnemar_test_of_table(table, method=method) for method in MCNEMAR_METHODS}
    assert {method: round(each.pvalue, 4) for method, each in found.items()} == {
        "exact": 0.0703, "mid-p": 0.0391, "corrected": 0.0771, "uncorrected": 0.0339
    }  # fmt: skip
    assert found["exact"].difference_interval == pytest.approx((-0.507, -0.026), abs=5e-4)


# Against twins and SciPy ----------------------------------------------------------------------------------------------


@pytest.mark.cases(5)
@pytest.mark.parametrize(("method", "alternative"), KINDS)
def test_equals_the_twin(method: str, alternative: str) -> None:
    for b in range(13):
        for c in {0, 1, b, 5, 12}:
            found = of_counts(b, c, method=method, alternative=alternative)
            assert found.statistic == pytest.approx(float(twin.statistic(b, c, method)), rel=1e-15)
            assert found.pvalue == pytest.approx(twin.pvalue(b, c, method, alternative), rel=1e-12)
            assert 0 <= found.pvalue <= 1
            assert found.effect == pytest.approx(b / c if c else math.inf if b else math.nan, nan_ok=True)


@BOUNDED
@given(st.integers(0, 10**6), st.integers(0, 10**6), st.sampled_from(ALTERNATIVES))
def test_exact_equals_scipy(b: int, c: int, alternative: str) -> None:
    found = of_counts(b, c, alternative=alternative)
    if b + c:
        theirs = stats.binomtest(b, b + c, alternative=alternative)
        assert found.pvalue == pytest.approx(theirs.pvalue, rel=1e-9)


@BOUNDED
@given(st.lists(counts, min_size=4, max_size=4).filter(any), st.sampled_from([0.2, 0.9, 0.95]))
def test_difference_interval_equals_the_twin(cells: list[int], level: float) -> None:
    table, tail = [cells[:2], cells[2:]], (1 - level) / 2
    low, high = twin.newcombe(table, stats.norm.isf(tail))
    close = {"abs": 1e-7}  # square roots of differences
    two = mcnemar_test_of_table(table, confidence_level=level)
    greater, less = (
        mcnemar_test_of_table(table, alternative=side, confidence_level=1 - tail) for side in ("greater", "less")
    )
    assert two.difference == pytest.approx((cells[1] - cells[2]) / sum(cells))
    assert two.difference_interval == pytest.approx((low, high), **close)
    assert greater.difference_interval == pytest.approx((low, 1.0), **close)
    assert less.difference_interval == pytest.approx((-1.0, high), **close)
    assert -1 <= two.difference_interval.low <= two.difference <= two.difference_interval.high <= 1


# The parts of a result agree ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "alternative"), KINDS)
@pytest.mark.parametrize("level", [0.95, 0.3])
def test_critical_value_and_interval_agree_with_the_decision(method: str, alternative: str, level: float) -> None:
    for b, c in [*((b, m - b) for m in (0, 1, 2, 3, 6, 10) for b in range(m + 1)), (60, 41), (63, 38), (900, 1000)]:
        found = of_counts(b, c, method=method, alternative=alternative, confidence_level=level)
        critical, interval = found.critical_value, found.confidence_interval
        if isinstance(critical, Interval):
            assert found.rejected == (not critical.low <= b <= critical.high)
        elif alternative == "less":
            assert found.rejected == (b < critical)
        else:
            assert found.rejected == (found.statistic > critical)
        assert found.rejected == (not interval.low <= 1 <= interval.high), (b, c, found, interval)
        if level >= 0.5 and b + c:
            assert interval.low <= found.effect <= interval.high


@BOUNDED
@given(st.integers(0, 3000), st.integers(0, 3000), st.sampled_from(KINDS), st.sampled_from([0.9, 0.95, 0.99]))
def test_rejected_where_the_interval_leaves_out_one(b: int, c: int, kind: tuple[str, str], level: float) -> None:
    found = of_counts(b, c, method=kind[0], alternative=kind[1], confidence_level=level)
    low, high = found.confidence_interval
    assert found.rejected == (not low <= 1 <= high)


@pytest.mark.cases(4)
@pytest.mark.parametrize(("method", "alternative"), KINDS)
def test_a_p_that_is_alpha_does_not_reject(method: str, alternative: str) -> None:
    """At levels where few rows' p-values equal alpha exactly, the interval ends at 1."""
    for m in (1, 2, 3, 5, 8, 12):
        for b, exponent in product({0, 1, m - 1, m}, range(max(m - 2, 1), m + 3)):
            options = {"method": method, "alternative": alternative, "confidence_level": 1 - 2.0**-exponent}
            found = of_counts(b, m - b, **options)
            low, high = found.confidence_interval
            assert found.rejected == (not low <= 1 <= high), found


@pytest.mark.parametrize("method", ["exact", "mid-p"])
def test_ends_of_the_odds_have_their_tails(method: str) -> None:
    mid = method == "mid-p"
    for b, c in ((1, 1), (5, 2), (0, 6), (6, 0), (3, 30), (29, 1)):
        low, high = of_counts(b, c, method=method).confidence_interval
        if b:
            share = Fraction(low) / (1 + Fraction(low))
            assert float(twin.at_least(b, b + c, share, mid=mid)) == pytest.approx(0.025, rel=1e-9)
        if c:
            share = Fraction(high) / (1 + Fraction(high))
            assert float(twin.at_most(b, b + c, share, mid=mid)) == pytest.approx(0.025, rel=1e-9)
        assert (low == 0, high == math.inf) == (b == 0, c == 0)


@pytest.mark.parametrize("method", MCNEMAR_METHODS)
def test_swapping_the_models(method: str) -> None:
    for b, c in ((8, 1), (0, 4), (5, 5), (0, 0), (400, 333), (10**12, 10**12 - 10**6)):
        found, swapped = of_counts(b, c, method=method), of_counts(c, b, method=method)
        assert found.pvalue == swapped.pvalue
        assert found.difference == -swapped.difference
        low, high = swapped.confidence_interval
        mirrored = (1 / high, 1 / low if low else math.inf)
        assert found.confidence_interval == pytest.approx(mirrored, rel=1e-12)
        if method in ("exact", "mid-p"):
            greater, less = (
                of_counts(*pair, method=method, alternative=side).pvalue
                for pair, side in (((b, c), "greater"), ((c, b), "less"))
            )
            assert greater == less


@pytest.mark.parametrize(("method", "alternative"), KINDS)
def test_models_that_are_right_on_the_same_rows(method: str, alternative: str) -> None:
    found = of_counts(0, 0, method=method, alternative=alternative)
    assert (*found, found.rejected, found.difference) == (0.0, 1.0, False, 0.0)
    assert math.isnan(found.effect)
    assert found.confidence_interval == (0.0, math.inf)


@pytest.mark.parametrize("method", MCNEMAR_METHODS)
def test_huge_counts(method: str) -> None:
    b, c = 10**12, 10**12 - 4 * 10**6
    found = of_counts(b, c, method=method)
    z = (b - c) / math.sqrt(b + c)
    off = 1e-5 if IS_PRECISE else 3e-5
    assert found.pvalue == pytest.approx(2 * stats.norm.sf(z), rel=off)
    expected = [math.exp(math.log(b / c) + side * 1.959964 * math.sqrt(1 / b + 1 / c)) for side in (-1, 1)]
    np.testing.assert_allclose(np.subtract(found.confidence_interval, 1), np.subtract(expected, 1), rtol=off)
    one = of_counts(10**12, 1, method=method)  # by Poisson probabilities of c
    if method == "exact":
        ends = [1e12 / (stats.chi2.isf(0.025, 4) / 2), 1e12 / (stats.chi2.ppf(0.025, 2) / 2)]
        assert one.confidence_interval == pytest.approx(ends, rel=1e-9)
    assert one.rejected


def test_a_conclusion_that_is_no_proof_of_equality() -> None:
    conclusion = of_counts(25, 15).conclusion
    assert conclusion == (
        "No significant difference between the accuracies of model a and model b: odds ratio 1.67 (95 % interval 0.845 "
        "to 3.4; McNemar's exact test, p = 0.154)."
    )
    rejected = of_counts(11, 1, alternative="greater", names=("the new", "the old"))
    assert rejected.conclusion == (
        "The new alone is right significantly more often than the old alone: odds ratio 11 (95 % interval 1.95 to inf; "
        "McNemar's exact test, one-sided p = 0.00317)."
    )
    none = of_counts(0, 0).conclusion
    assert none.startswith("No significant difference between the accuracies of model a and model b (95 % interval 0 ")


def test_result_can_be_kept() -> None:
    found = of_counts(11, 1)
    copy = pickle.loads(pickle.dumps(found))
    assert copy.to_dict() == found.to_dict()
    assert found.to_dict()["table"] == [[7, 11], [1, 5]]
    assert not found.table.flags.writeable


# From predictions -----------------------------------------------------------------------------------------------------

LABELS = {
    "int8": np.array([-3, 0, 7], np.int8),
    "uint8": np.array([0, 200, 255], np.uint8),
    "int64": np.array([-(2**63), 2**53 + 1, 5]),
    "bool": np.array([False, True, True]),
    "float32": np.array([-1, 0, 1], np.float32),
    "big-endian": np.array([1, 2, 300], ">i4"),
    "str": np.array(["a", "bc", "d"]),
    "bytes": np.array([b"a", b"bc", b"d"]),
    "object": np.array(["a", "bc", "d"], dtype=object),
}


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("n", [1, 63, 64, 65, 300])
def test_from_predictions(kind: str, n: int) -> None:
    rng = np.random.default_rng(n)
    true, a, b = LABELS[kind][rng.integers(0, 3, (3, n))]
    found = mcnemar_test(true, a, b)
    table = twin.table(true.tolist(), a.tolist(), b.tolist())
    assert found.table.tolist() == table
    assert tuple(found) == tuple(mcnemar_test_of_table(table))


def test_classes_are_compared_by_value() -> None:
    def right(true: Any, predicted: Any) -> list[bool]:
        rows = [mcnemar_test(true[i : i + 1], predicted[i : i + 1], predicted[i : i + 1]) for i in range(len(true))]
        return [each.table[0, 0] == 1 for each in rows]

    assert right(np.array([-1, 255, 256, 3]), np.array([255, 255, 0, 3], np.uint8)) == [False, True, False, True]
    assert right(np.array([255, 3], np.uint8), np.array([-1, 3], np.int8)) == [False, True]
    assert right(np.array([2**53 + 1, 4]), np.array([2.0**53, 4.0])) == [False, True]
    assert right(np.array([2, 1, 0]), np.array([True, True, False])) == [False, True, True]
    assert right(np.array([1.0, 0.0]), np.array([True, True])) == [True, False]
    assert right(np.array(["a", "b"]), np.array([b"a", b"c"])) == [True, False]
    assert right(np.array(["abc", "ab"]), np.array(["ab", "ab"])) == [False, True]


def test_rows_in_many_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    true, a, b = rng.integers(0, 3, (3, 10_000)).astype(np.int8)
    whole = mcnemar_test(true, a, b).table.tolist()
    order = rng.permutation(true.size)
    monkeypatch.setattr(agreement, "MOST_ROWS", 1 << 9)
    assert mcnemar_test(true, a, b).table.tolist() == whole == twin.table(true.tolist(), a.tolist(), b.tolist())
    assert mcnemar_test(true[order], a[order], b[order]).table.tolist() == whole


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (([0, 1], [0, 1, 1], [0, 1]), "pred_a has 3 rows, but y_true has 2"),
        (([0, 1], [0, 1], ["a", "b"]), "labels must be of one type, .*pred_b has strings"),
        (([0, 1], [0, 1], [0.0, math.nan]), "pred_b must hold class labels.*nan at row 1"),
        (([0, 1], [0.5, 1], [0, 1]), "pred_a must hold class labels.*0.5 at row 0"),
        (([0, math.inf], [0, 1], [0, 1]), "y_true must hold class labels.*inf at row 1"),
        (([], [], []), "y_true is empty"),
        (([[0, 1]], [0], [0]), "y_true must be 1-D"),
    ],
)
def test_bad_predictions(given: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        mcnemar_test(*given)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([[1, 2, 3], [4, 5, 6], [7, 8, 9]], r"table must have shape \(2, 2\), .*got \(3, 3\)"),
        ([1, 2, 3, 4], "got \\(4,\\)"),
        ([[1, -2], [3, 4]], "table must hold counts.*got -2"),
        ([[1, 2.5], [3, 4]], "table must hold counts.*got 2.5"),
        ([[1, math.nan], [3, 4]], "table must hold counts.*got nan"),
        ([[1, 2**60], [3, 4]], "table must hold counts"),
        ([[0, 0], [0, 0]], r"table must count from 1 to 2\*\*53 rows in all, got 0"),
        ([[True, False], [True, True]], "table must hold numbers, got dtype bool"),
        ([["1", "2"], ["3", "4"]], "table must hold numbers"),
    ],
)
def test_bad_table(table: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        mcnemar_test_of_table(table)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "chi2"}, "method must be one of 'exact', 'mid-p', 'corrected', 'uncorrected'; got 'chi2'"),
        ({"alternative": "more"}, "alternative must be one of"),
        ({"method": "corrected", "alternative": "less"}, "alternative='less' requires method='exact' or 'mid-p'"),
        ({"confidence_level": 1}, "confidence_level must be in"),
    ],
)
def test_bad_options(options: Any, message: str) -> None:
    for call in (lambda: of_counts(3, 4, **options), lambda: pairwise_mcnemar_tests([0], [[0], [1]], **options)):
        with pytest.raises(ValueError, match=message):
            call()


# Many pairs -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "alternative"), KINDS)
def test_pairs_equal_single_tests(method: str, alternative: str) -> None:
    rng = np.random.default_rng(3)
    true = rng.integers(0, 3, 70)
    models = np.where(rng.random((5, 70)) < 0.6, true, rng.integers(0, 3, (5, 70)))
    models[4] = models[0]
    options: Any = {"method": method, "alternative": alternative}
    found = pairwise_mcnemar_tests(true, models, correction="none", **options)
    assert len(found) == 10
    for (i, j), each in zip(found.pairs, found, strict=True):
        single = mcnemar_test(true, models[i], models[j], **options)
        assert tuple(each) == tuple(single)
        assert each.effect == single.difference
    holm = pairwise_mcnemar_tests(true, models, **options)
    assert (holm.pvalue >= found.pvalue).all()
    assert (holm.unadjusted_pvalue == found.pvalue).all()
    against = pairwise_mcnemar_tests(true, models, reference=2, **options)
    assert against.pairs.tolist() == [[0, 2], [1, 2], [3, 2], [4, 2]]


def test_inputs_of_many_models() -> None:
    rng = np.random.default_rng(4)
    true, *models = rng.integers(0, 3, (5, 200)).astype(np.int8)
    array = np.stack(models)
    expected = pairwise_mcnemar_tests(true, array).unadjusted_pvalue
    names = np.array(["x", "y", "z"])
    given: list[Any] = [
        array.tolist(), array.astype(np.float64), array.astype(">i4"), np.asfortranarray(array),
        array[:, ::-1].copy()[:, ::-1], dict(zip("abcd", models, strict=True)),
        pd.DataFrame(array.T, columns=[*"abcd"]),
        {"a": models[0], "b": models[1].tolist(), "c": models[2].astype(np.float32), "d": pd.Series(models[3])},
    ]  # fmt: skip
    for each in given:
        assert (pairwise_mcnemar_tests(true, each).unadjusted_pvalue == expected).all()
        assert (pairwise_mcnemar_tests(true.astype(np.int64), each).unadjusted_pvalue == expected).all()
    for labels in (names, names.astype(object), names.astype("S")):
        assert (pairwise_mcnemar_tests(labels[true], labels[array]).unadjusted_pvalue == expected).all()
        assert (pairwise_mcnemar_tests(labels[true], [*labels[array]]).unadjusted_pvalue == expected).all()
    categories = [pd.Series(names[model], dtype="category") for model in models]
    assert (pairwise_mcnemar_tests(names[true], categories).unadjusted_pvalue == expected).all()
    with pytest.raises(ValueError, match="two"):
        pairwise_mcnemar_tests(names[true], categories[:1])
    assert pairwise_mcnemar_tests(true, given[-1], reference="b").between("b", "d").pvalue <= 1


def test_same_counts_at_any_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    true, *models = rng.integers(0, 2, (8, 3000)).astype(np.int8)
    monkeypatch.setattr(agreement, "MOST_ROWS", 1 << 8)
    found = []
    for threads in (1, 2, 5):
        with num_threads(threads):
            found.append(pairwise_mcnemar_tests(true, np.stack(models)).statistic.tolist())
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize(
    ("predictions", "message"),
    [
        ([[0, 1]], "predictions must have two models or more to compare, got 1"),
        ([0, 1], r"predictions must be 2-D, \(models x rows\), or a mapping or frame of models; got shape \(2,\)"),
        ({"a": [0, 1], "b": [0]}, r"predictions\['b'\] has 1 rows, but y_true has 2"),
        ([[0, 1, 1], [0, 1, 1]], r"predictions\[0\] has 3 rows, but y_true has 2"),
        ([["a", "b"], ["a", "b"]], r"labels must be of one type, .*predictions\[0\] has strings"),
        ([[0, 1], [0, math.nan]], r"predictions\[1\] must hold class labels.*nan at row 1"),
        (np.array([[0, 1], [0, 2**63]], np.uint64), "predictions must fit 64-bit signed integers"),
        ({"a": [0, 1], "b": [0.5, 1]}, r"predictions\['b'\] must hold class labels.*0.5 at row 0"),
        ({}, "predictions must have two models"),
    ],
)
def test_bad_models(predictions: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pairwise_mcnemar_tests([0, 1], predictions)
    with pytest.raises(ValueError, match="reference must be one of"):
        pairwise_mcnemar_tests([0, 1], [[0, 1], [0, 1]], reference="a")


# Under the hypothesis -------------------------------------------------------------------------------------------------


@pytest.mark.cases(2)
@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2])
def test_size(alpha: float) -> None:
    """Test 20,000 pairs of equally good models on 60 rows; on half of the rows exactly one model is right.

    The number of p-values below alpha is binomial: off by 5 standard errors with a probability of 6e-7, four times
    per alpha.
    """
    n, rng = 20_000, np.random.default_rng(6)
    m = rng.binomial(60, 0.5, n)
    b = rng.binomial(m, 0.5)
    size = {}
    for method in MCNEMAR_METHODS:
        expected = 0.0
        for each in range(61):
            counts = np.arange(each + 1)
            below = mcnemar_statistics(counts, each - counts, method, "two-sided")[1] < alpha
            of_each = stats.binom.pmf(counts, each, 0.5) @ below
            assert of_each <= alpha + 1e-12 or method not in ("exact", "corrected")
            expected += stats.binom.pmf(each, 60, 0.5) * of_each
        size[method] = np.mean(mcnemar_statistics(b, m - b, method, "two-sided")[1] < alpha)
        assert abs(size[method] - expected) < 5 * math.sqrt(alpha * (1 - alpha) / n)
        assert 0.75 * alpha < expected < 1.25 * alpha or method in ("exact", "corrected")
    assert size["exact"] < 0.8 * alpha  # conservative; mid-p is about right


def test_tables_of_pairs_are_those_of_two() -> None:
    rng = np.random.default_rng(2)
    true, predicted = rng.integers(0, 3, 70), rng.integers(0, 3, (4, 70))
    found = pairwise_mcnemar_tests(true, predicted)
    for (i, j), table, result in zip(found.pairs, found.tables, found, strict=True):
        alone = mcnemar_test(true, predicted[i], predicted[j])
        assert (table == alone.table).all()
        assert result.statistic == alone.statistic


@pytest.mark.parametrize("names", ["a b c d", "d b a c"])
def test_text_is_compared_as_numbers_are(names):
    rng = np.random.default_rng(0)
    true, *predicted = rng.integers(0, 3, (4, 9000))  # several parts
    predicted[1][rng.random(9000) < 0.1] = 3  # a label that only this model predicts
    words = np.array(names.split())
    expected = pairwise_mcnemar_tests(true, np.array(predicted)).tables
    text = words[np.array(predicted)]
    for models in (text, dict(zip("xyz", text, strict=True))):
        assert np.array_equal(pairwise_mcnemar_tests(words[true], models).tables, expected)
        found = cochran_q_test(words[true], models)
        assert found.pvalue == cochran_q_test(true, predicted).pvalue
