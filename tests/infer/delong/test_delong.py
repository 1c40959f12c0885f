"""DeLong against fractions over all pairs and published figures; contrasts, degenerate cases, bad input."""

from __future__ import annotations

import json
import math
import pickle
import re
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from fastevals import (
    DelongResult,
    Interval,
    Ranking,
    SignificanceResult,
    UndefinedMetricWarning,
    delong,
    delong_test,
    delong_test_unpaired,
    num_threads,
)
from fastevals._kernels.placements import add_products
from tests.reference import delong as reference
from tests.strategies import BOUNDED, EXTREME, ORDINARY, Case, unweighted

FAWCETT = json.loads((Path(__file__).parents[2] / "data" / "cases.json").read_text())["fawcett20"]
Y = [0, 0, 0, 1, 1, 1]
A, B = [1.0, 2, 3, 2, 3, 4], [2.0, 3, 2, 1, 3, 2]
LARGE = 150_000  # rows; several chunks and buckets
NORMAL = NormalDist()
degenerate = pytest.mark.filterwarnings("ignore::fastevals.UndefinedMetricWarning")


@st.composite
def models(draw: st.DrawFn) -> tuple[list[int], list[list[float]]]:
    """Draw labels with at least two rows of each class, and scores of one to four models."""
    n = draw(st.integers(4, 14))
    labels = [0, 0, 1, 1, *draw(st.lists(st.integers(0, 1), min_size=n - 4, max_size=n - 4))]
    pool = draw(st.sampled_from([ORDINARY, EXTREME, ORDINARY[:2], tuple(range(-50, 50))]))
    scores = st.lists(st.sampled_from(pool), min_size=n, max_size=n)
    return labels, draw(st.lists(scores, min_size=1, max_size=4))


def random_case(n: int = LARGE, k: int = 2, share: float = 0.1, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < share).astype(np.int64)
    return y, y + rng.normal(size=n) + rng.normal(size=(k, n))


def slow_placements(y: Any, scores: Any) -> tuple[Any, Any]:
    """Return placements of positives and of negatives by midranks (Sun and Xu 2014)."""
    m, n = int(y.sum()), int((1 - y).sum())
    ranks = stats.rankdata(scores)
    return (
        (ranks[y == 1] - stats.rankdata(scores[y == 1])) / n,
        1 - (ranks[y == 0] - stats.rankdata(scores[y == 0])) / m,
    )


# Values -----------------------------------------------------------------------------------------------------------


def test_fawcett() -> None:
    y, scores = FAWCETT["y_true"], FAWCETT["y_score"]
    aucs, covariance = delong(y, scores)
    assert aucs.tolist() == [0.68]
    assert covariance.tolist() == [[FAWCETT["expected"]["delong_variance"]]]


@BOUNDED
@given(models())
def test_is_the_definition_rounded_once(case: tuple[list[int], list[list[float]]]) -> None:
    y, scores = case
    aucs, covariance = reference.delong(y, scores)
    assert covariance is not None
    result = delong(y, np.array(scores))
    assert result.aucs.tolist() == [float(auc) for auc in aucs]
    assert result.covariance.tolist() == [[float(value) for value in row] for row in covariance]
    assert (result.n_positives, result.n_negatives) == (sum(y), len(y) - sum(y))


@BOUNDED
@given(unweighted)
@degenerate
def test_small_classes(case: Case) -> None:
    aucs, covariance = reference.delong(case.y_true, [case.y_score])
    result = delong(case.y_true, case.y_score)
    assert result.aucs[0] == float(aucs[0]) == Ranking(case.y_true, case.y_score).roc_auc()
    assert math.isnan(result.covariance[0, 0]) == (covariance is None)


@pytest.mark.parametrize("decimals", [1, 3, 17])
@pytest.mark.parametrize(
    "share", [0.001, pytest.param(0.1, marks=pytest.mark.slow), pytest.param(0.9, marks=pytest.mark.slow)]
)
def test_many_rows(decimals: int, share: float) -> None:
    y, scores = random_case(k=3, share=share)
    scores = scores.round(decimals)
    scores[2] = np.exp(5 * scores[2])  # skewed: most keys share few cells
    parts = [slow_placements(y, model) for model in scores]
    expected = sum(np.cov([part[which] for part in parts]) / parts[0][which].size for which in (0, 1))
    result = delong(y, scores)
    np.testing.assert_allclose(result.covariance, expected, rtol=1e-10)
    assert result.aucs.tolist() == [Ranking(y, model).roc_auc() for model in scores]


def test_outliers_share_a_step_of_the_index() -> None:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 30_000)
    scores = rng.integers(0, 5000, y.size) + 1000 * y
    scores[:200] = rng.integers(-(2**62), 2**62, 200)
    parts = slow_placements(y, scores)
    expected = sum(np.var(part, ddof=1) / part.size for part in parts)
    np.testing.assert_allclose(delong(y, scores).covariance[0, 0], expected, rtol=1e-10)


def test_sums_of_products_are_exact_to_the_limit() -> None:
    largest = 2**31 - 2  # a doubled placement
    placements = np.full((2, 3), largest, dtype=np.int32)
    for weights, total in ((None, 3), (np.array([1, 2**28, 2**29]), 1 + 2**28 + 2**29)):
        sums = np.zeros((2, 2, 2), dtype=np.int64)
        add_products(placements, 3, weights, sums)
        assert (int(sums[1, 0, 0]) << 32) + int(sums[1, 0, 1]) == largest**2 * total


def test_nothing_cancels() -> None:
    y, scores = random_case()
    near = scores[0].copy()
    order = np.argsort(near)
    swapped = next(i for i in range(LARGE // 2, LARGE) if y[order[i]] and not y[order[i + 1]])
    near[order[swapped : swapped + 2]] = near[order[swapped : swapped + 2]][::-1]
    result = delong_test(y, near, scores[0])
    m, n = int(y.sum()), int(LARGE - y.sum())
    assert result.effect == 1 / (m * n)
    # One positive's placement is 1 / n higher, one negative's 1 / m; all other differences are zero.
    variance = 1 / n**2 / m**2 + 1 / m**2 / n**2
    assert result.statistic == pytest.approx(result.effect / math.sqrt(variance), rel=1e-14)


def test_one_pair_wrong_near_an_auc_of_one() -> None:
    n = 40_000
    y, scores = np.repeat([0, 1], n), np.arange(2.0 * n)
    scores[n - 1 : n + 1] = scores[n - 1 : n + 1][::-1]
    result = delong(y, scores)
    assert result.aucs[0] == 1 - 1 / n**2
    assert result.covariance[0, 0] == 2 / n**4


# Invariants -------------------------------------------------------------------------------------------------------


@BOUNDED
@given(models())
@degenerate
def test_swapped_models_and_pairs(case: tuple[list[int], list[list[float]]]) -> None:
    y, scores = case
    together = delong(y, np.array(scores))
    a, b = scores[0], scores[-1]
    pair = delong(y, {"a": a, "b": b})
    assert pair.names == ("a", "b")
    ends = np.ix_([0, -1], [0, -1])
    assert pair.covariance.tolist() == together.covariance[ends].tolist()
    forth, back = delong_test(y, a, b), delong_test(y, b, a)
    assert forth.statistic == -back.statistic
    assert forth.pvalue == back.pvalue
    if len(scores) > 1:
        ends_apart = together.contrast([1] + [0] * (len(scores) - 2) + [-1])
        assert tuple(ends_apart) == tuple(forth)


@BOUNDED
@given(models())
def test_negated_scores_and_swapped_classes(case: tuple[list[int], list[list[float]]]) -> None:
    y, scores = case
    result, negated = delong(y, np.array(scores)), delong(y, -np.array(scores))
    swapped = delong(y, np.array(scores), pos_label=0)
    assert negated.aucs.tolist() == swapped.aucs.tolist()
    np.testing.assert_allclose(negated.aucs, 1 - result.aucs, rtol=0, atol=2**-53)
    assert negated.covariance.tolist() == result.covariance.tolist() == swapped.covariance.tolist()


@BOUNDED
@given(models())
def test_monotone_maps_and_order_of_rows(case: tuple[list[int], list[list[float]]]) -> None:
    y, scores = np.array(case[0]), np.array(case[1])
    ranks = np.array([stats.rankdata(model) for model in scores])
    expected = delong(y, scores)
    for labels, values in ((y, ranks), (y, np.exp(ranks)), (y[::-1], scores[:, ::-1]), (y, ranks.astype(np.float32))):
        assert delong(labels, values).covariance.tolist() == expected.covariance.tolist()


@BOUNDED
@given(models(), st.data())
def test_weights_are_repeated_rows(case: tuple[list[int], list[list[float]]], data: st.DataObject) -> None:
    y, scores = np.array(case[0]), np.array(case[1])
    weights = np.array(data.draw(st.lists(st.integers(0, 3), min_size=y.size, max_size=y.size)))
    weights[:4] = np.maximum(weights[:4], 1)
    ours = delong(y, scores, frequency_weight=weights)
    theirs = delong(np.repeat(y, weights), np.repeat(scores, weights, axis=1))
    assert ours.aucs.tolist() == theirs.aucs.tolist()
    assert ours.covariance.tolist() == theirs.covariance.tolist()
    assert (ours.n_positives, ours.n_negatives) == (theirs.n_positives, theirs.n_negatives)


def test_threads_make_no_difference() -> None:
    y, scores = random_case(k=3)
    with num_threads(1):
        one = delong(y, scores)
    with num_threads(4):
        four = delong(y, scores)
    assert one.aucs.tobytes() == four.aucs.tobytes()
    assert one.covariance.tobytes() == four.covariance.tobytes()
    assert one.moments == four.moments


def test_integers_past_the_float_range_are_not_tied() -> None:
    y = [0, 1, 0, 1]
    scores = np.array([2**53, 2**53 + 1, 2**53 + 2, 2**53 + 3])
    small = delong(y, [0, 1, 2, 3])
    for values in (scores, scores.astype(np.uint64), scores.astype(np.longdouble)):
        for weights in (None, [1, 1, 1, 1]):
            result = delong(y, values, frequency_weight=weights)
            assert result.aucs.tolist() == small.aucs.tolist() == [0.75]
            assert result.covariance.tolist() == small.covariance.tolist()


@pytest.mark.parametrize(
    "scores",
    [
        [A, B],
        (np.array([A, B])).astype(">f4"),
        np.asfortranarray([A, B]),
        np.array([A, B], dtype=np.int8),
        np.repeat([A, B], 2, axis=1)[:, ::2],
        pd.DataFrame({"a": A, "b": B}),
        pl.DataFrame({"a": A, "b": B}),
        {"a": pl.Series(A), "b": pd.Series(B, index=range(6, 0, -1))},
    ],
    ids=["list", "big-endian", "fortran", "int8", "strided", "pandas", "polars", "mapping"],
)
def test_kinds_of_input(scores: Any) -> None:
    expected = delong(Y, np.array([A, B]))
    for y in (Y, np.array(Y, dtype=bool), pd.Series(Y), pl.Series(Y)):
        result = delong(y, scores)
        assert result.covariance.tolist() == expected.covariance.tolist()
    labels = np.where(np.array(Y) == 1, "yes", "no")
    assert delong(labels, scores, pos_label="yes").aucs.tolist() == expected.aucs.tolist()
    assert result.names in (None, ("a", "b"))


def test_later_changes_change_nothing() -> None:
    y, scores = np.array(Y), np.array([A, B])
    result = delong(y, scores)
    before = result.contrast([1, -1])
    scores[:] = 0
    assert result.contrast([1, -1]) == before
    with pytest.raises(ValueError, match="read-only"):
        result.aucs[0] = 1


# Intervals and tests ----------------------------------------------------------------------------------------------


def test_delong_interval() -> None:
    result = delong(Y, [A, B])
    errors = np.sqrt(np.diagonal(result.covariance))
    assert result.standard_error.tolist() == errors.tolist()
    z = NORMAL.inv_cdf(0.95)
    low, high = result.confidence_interval(0.9)
    np.testing.assert_allclose(low, np.maximum(result.aucs - z * errors, 0), rtol=1e-12)
    np.testing.assert_allclose(high, np.minimum(result.aucs + z * errors, 1), rtol=1e-12)
    assert result.confidence_interval(0.999)[1].max() == 1


def test_logit_interval() -> None:
    result = delong(Y, [A, B])
    auc, error = result.aucs, result.standard_error
    centre, half = np.log(auc / (1 - auc)), NORMAL.inv_cdf(0.975) * error / (auc * (1 - auc))
    interval = result.confidence_interval(method="logit")
    np.testing.assert_allclose(interval.low, 1 / (1 + np.exp(half - centre)), rtol=1e-12)
    np.testing.assert_allclose(interval.high, 1 / (1 + np.exp(-half - centre)), rtol=1e-12)


@pytest.mark.parametrize("method", ["delong", "logit"])
def test_one_sided_intervals_are_halves_of_two_sided_ones(method: str) -> None:
    result = delong(Y, [A, B])
    low, high = result.confidence_interval(0.9, method)
    greater = result.confidence_interval(0.95, method, "greater")
    less = result.confidence_interval(0.95, method, "less")
    np.testing.assert_allclose(greater.low, low, rtol=1e-14)
    np.testing.assert_allclose(less.high, high, rtol=1e-14)
    assert greater.high.tolist() == [1, 1]
    assert less.low.tolist() == [0, 0]


@pytest.mark.parametrize("method", ["delong", "logit"])
@pytest.mark.parametrize(("scores", "auc"), [([1, 2, 3, 4], 1.0), ([4, 3, 2, 1], 0.0), ([1, 1, 1, 1], 0.5)])
def test_without_variance_an_interval_is_the_auc_with_a_warning(method: str, scores: list[int], auc: float) -> None:
    result = delong([0, 0, 1, 1], scores)
    assert result.covariance.tolist() == [[0]]
    for alternative, low, high in (("two-sided", auc, auc), ("greater", auc, 1), ("less", 0, auc)):
        with pytest.warns(
            UndefinedMetricWarning, match=rf"interval of AUC {auc:g} is degenerate: its .* variance is 0"
        ):
            interval = result.confidence_interval(0.95, method, alternative)
        assert interval == (low, high)


def test_one_model_has_floats() -> None:
    one, many = delong(Y, A), delong(Y, {"a": A})
    for subject in (one, delong(Ranking(Y, A))):
        numbers = [subject.value, subject.standard_error, *subject.confidence_interval()]
        assert [type(each) for each in numbers] == [float] * 4
        assert numbers == [*many.value, *many.standard_error, *np.ravel(many.confidence_interval())]
    assert one.to_dict()["value"] == one.value == one.aucs[0]
    assert pickle.loads(pickle.dumps(one)).value == one.value


def test_the_test_by_hand() -> None:
    result = delong_test(Y, A, B)
    aucs, covariance = delong(Y, [A, B])
    difference = aucs[0] - aucs[1]
    error = math.sqrt(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])
    assert result.effect == pytest.approx(difference)
    assert result.statistic == pytest.approx(difference / error)
    assert result.pvalue == pytest.approx(2 * NORMAL.cdf(-difference / error))
    assert result.critical_value == pytest.approx(1.959963984540054)
    assert result.alpha == 0.05
    assert result.df is None
    margin = 1.959963984540054 * error
    assert result.confidence_interval == pytest.approx((difference - margin, difference + margin))
    assert not result.rejected


def test_sides() -> None:
    two, less, greater = (delong_test(Y, A, B, alternative=side) for side in ("two-sided", "less", "greater"))
    assert greater.pvalue == pytest.approx(two.pvalue / 2)
    assert less.pvalue == pytest.approx(1 - two.pvalue / 2)
    assert (less.critical_value, greater.critical_value) == pytest.approx((-1.6448536269514722, 1.6448536269514722))
    assert less.confidence_interval.low == -1  # type: ignore[union-attr]
    assert greater.confidence_interval.high == 1  # type: ignore[union-attr]
    assert two.conclusion.startswith("No significant difference between the AUCs of score_a and score_b: 0.389 (95 %")
    for result, relation in ((less, "lower"), (greater, "higher")):
        claim = f"the AUC of score_a is {relation} than the AUC of score_b: difference 0.389 (95 % interval "
        assert result.conclusion.startswith(f"No significant evidence that {claim}")
        assert result.conclusion.endswith(f"; DeLong's test, one-sided p = {result.pvalue:.3g}).")


@pytest.mark.parametrize("side", ["two-sided", "less", "greater"])
def test_rejection_agrees_with_the_critical_value_and_the_interval(side: str) -> None:
    for seed in range(30):
        y, scores = random_case(200, share=0.5, seed=seed)
        result = delong_test(y, scores[0] + 0.3 * y, scores[1], alternative=side, confidence_level=0.8)
        z, critical, interval = result.statistic, result.critical_value, result.confidence_interval
        assert interval is not None
        beyond = {"two-sided": abs(z) > critical, "less": z < critical, "greater": z > critical}[side]
        assert result.rejected == beyond == (not interval.low <= 0 <= interval.high)
        assert result.rejected == result.conclusion.startswith("At level 0.2, the AUC of score_a is significantly ")


@BOUNDED
@given(models(), st.data())
@degenerate
def test_contrast_is_l_s_l(case: tuple[list[int], list[list[float]]], data: st.DataObject) -> None:
    y, scores = case
    k = len(scores)
    weights = data.draw(st.lists(st.sampled_from([-1.0, -0.5, 0.1, 1 / 3, 2.0]), min_size=k, max_size=k))
    aucs, covariance = delong(y, np.array(scores))
    result = delong(y, np.array(scores)).contrast(weights)
    line = np.array(weights)
    assert result.effect == pytest.approx(line @ aucs, abs=1e-12)
    variance = line @ covariance @ line
    if variance > 1e-10:
        assert result.statistic == pytest.approx(line @ aucs / math.sqrt(variance), abs=1e-6)


def test_thirds_add_up() -> None:
    result = delong(Y, [A, A, A, A]).contrast([1 / 3, 1 / 3, 1 / 3, -1])
    assert (result.statistic, result.pvalue, result.effect) == (0, 1, 0)


def test_models_that_rank_alike() -> None:
    result = delong_test(Y, A, np.exp(A))
    assert tuple(result) == (0, 1)
    assert (result.effect, result.confidence_interval, result.rejected) == (0, Interval(0, 0), False)
    assert "equal" not in result.conclusion
    assert result.conclusion == (
        "No significant difference between the AUCs of score_a and score_b: 0 (DeLong's test, p = 1). "
        "The estimated variance is 0, so the interval has no width."
    )


def test_a_difference_without_variance() -> None:
    with pytest.warns(UndefinedMetricWarning, match="the estimated variance is 0, but the estimate is not"):
        result = delong_test([0, 0, 1, 1], [1, 2, 3, 4], [4, 3, 2, 1], alternative="greater")
    assert tuple(result) == (math.inf, 0)
    assert result.effect == 1
    with pytest.warns(UndefinedMetricWarning, match="variance is 0"):
        assert tuple(delong_test([0, 0, 1, 1], [4, 3, 2, 1], [1, 2, 3, 4])) == (-math.inf, 0)


def test_equality_of_two_is_the_square_of_z() -> None:
    result = delong(Y, [A, B])
    square, z = result.equality_test(), result.contrast([1, -1])
    assert square.statistic == pytest.approx(z.statistic**2)
    assert square.pvalue == pytest.approx(z.pvalue)
    assert square.critical_value == pytest.approx(1.959963984540054**2)
    assert square.df == 1
    assert square.effect == pytest.approx(abs(z.effect))  # type: ignore[arg-type]
    assert square.confidence_interval is None
    assert square.conclusion.startswith("No significant difference among the AUCs: range 0.389 (DeLong's test ")


def test_equality_of_many() -> None:
    y, scores = random_case(2000, k=4, share=0.3)
    scores[2] += y
    result = delong(y, scores)
    lines = np.array([[1, -1, 0, 0], [0, 1, -1, 0], [0, 0, 1, -1]])
    differences = lines @ result.aucs
    expected = differences @ np.linalg.solve(lines @ result.covariance @ lines.T, differences)
    test = result.equality_test()
    assert test.statistic == pytest.approx(expected)
    assert test.pvalue == pytest.approx(stats.chi2.sf(expected, 3))
    assert test.critical_value == pytest.approx(stats.chi2.isf(0.05, 3))
    assert test.df == 3
    assert test.rejected
    assert test.conclusion.startswith("The AUCs differ significantly: range ")


def test_equality_with_repeated_models() -> None:
    y, scores = random_case(2000, k=3, share=0.3)
    once = delong(y, scores).equality_test()
    for order in ([0, 1, 2, 0], [0, 1, 2, 1], [1, 1, 0, 2, 2, 0]):
        repeated = delong(y, scores[order]).equality_test()
        assert repeated.df == once.df == 2
        assert repeated.statistic == pytest.approx(once.statistic)
    alike = delong(y, scores[[1, 1, 1]]).equality_test()
    assert (alike.statistic, alike.pvalue, alike.df, alike.rejected) == (0, 1, 0, False)


@pytest.mark.parametrize("most_exact", [50, 1])
def test_equality_without_variance(monkeypatch, most_exact) -> None:
    monkeypatch.setattr("fastevals.infer.delong.result.MOST_EXACT", most_exact)
    y = [0, 0, 1, 1]
    result = delong(y, [[1, 2, 3, 4], [4, 3, 2, 1], [1, 3, 2, 4]])
    with pytest.warns(UndefinedMetricWarning, match="of AUCs has an estimated variance of 0"):
        assert tuple(result.equality_test()) == (math.inf, 0)
    # The last two models' placements have the same sum in each row, but their AUCs do not sum to twice the first.
    result = delong(y, [[1, 1, 1, 1], [1, 3, 2, 4], [3, 1, 4, 2]])
    with pytest.warns(UndefinedMetricWarning, match="a contrast of AUCs has an estimated variance of 0"):
        assert tuple(result.equality_test()) == (math.inf, 0)


def test_unpaired() -> None:
    y, scores = random_case(3000, share=0.3)
    halves = [(y[:1000], scores[0, :1000]), (y[1000:], scores[1, 1000:].round(1))]
    result = delong_test_unpaired(*(Ranking(*half) for half in halves))
    one, other = (delong(*half) for half in halves)
    assert result.effect == pytest.approx(one.aucs[0] - other.aucs[0])
    error = math.sqrt(one.covariance[0, 0] + other.covariance[0, 0])
    assert result.statistic == pytest.approx(result.effect / error, rel=1e-12)  # type: ignore[operator]
    normal = delong_test_unpaired(*(Ranking(*half) for half in halves), method="normal")
    assert normal.pvalue == pytest.approx(2 * NORMAL.cdf(-abs(normal.statistic)))
    assert normal.pvalue < result.pvalue
    assert "ranking_a" in result.conclusion


# The aSAH data of pROC, ranked: wfns as counts of each grade, ndka as an order of cases (+) and controls (-), ties in
# brackets. pROC's own tests (tests/testthat/test-roc.test.R) have D and p.
WFNS = [2, 12, 1, 8, 18], [37, 20, 3, 8, 4]
NDKA = (
    "-+--+++---------+------++--+-(--)-+(+-)----+--+------+++-+--+-----+-(+-)--+--++-++--(+-)++---+----++++--+---++++--"
    "+-+-+-+"
)


def _rows(positives: list[int], negatives: list[int]) -> tuple[Any, Any]:
    """Return labels and scores, with the given numbers of rows at each score, positives first."""
    scores = [np.repeat(np.arange(len(each)), each) for each in (positives, negatives)]
    return np.repeat([1, 0], [each.size for each in scores]), np.concatenate(scores)


def test_unpaired_as_proc() -> None:
    groups = re.findall(r"\(.*?\)|.", NDKA)
    rows = _rows(*WFNS), _rows(*([group.count(sign) for group in groups] for sign in "+-"))
    pair = [Ranking(*each) for each in rows]
    found = delong_test_unpaired(*pair, names=("wfns", "ndka"))
    assert found.statistic == pytest.approx(3.10125096778969, rel=1e-13)
    assert found.pvalue == pytest.approx(0.00220950791756457, rel=1e-12)
    assert found.conclusion == (
        "The AUC of wfns is significantly higher than the AUC of ndka: difference 0.212 (95 % interval 0.0771 to "
        "0.346; DeLong's unpaired test, p = 0.00221)."
    )
    normal = delong_test_unpaired(*pair, method="normal")
    assert (normal.pvalue, normal.df) == (pytest.approx(0.001927, rel=1e-4), None)
    parts = [delong(*each).covariance[0, 0] for each in rows]
    assert found.df == pytest.approx(sum(parts) ** 2 / sum(each**2 / 112 for each in parts), rel=1e-12)
    for alternative in ("less", "greater"):
        one, null = delong_test_unpaired(*pair, alternative=alternative), stats.t(found.df)
        assert one.pvalue == pytest.approx(
            null.sf(one.statistic) if alternative == "greater" else null.cdf(one.statistic)
        )
    error = found.effect / found.statistic  # type: ignore[operator]
    reach = stats.t(found.df).ppf(0.975) * error
    assert found.confidence_interval == pytest.approx((found.effect - reach, found.effect + reach))  # type: ignore[operator]


def test_unpaired_where_one_has_no_variance() -> None:
    perfect = Ranking([0, 0, 0, 1, 1, 1], [1, 2, 3, 4, 5, 6])
    found = delong_test_unpaired(perfect, Ranking(*_rows(*WFNS)))
    assert found.df == pytest.approx(112, rel=1e-12)  # the other sample has all the variance
    assert delong_test_unpaired(perfect, perfect).pvalue == 1


# Undefined, and bad input -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("y", [[0, 0, 0, 1], [0, 1, 1, 1]])
def test_one_row_of_a_class(y: list[int]) -> None:
    with pytest.warns(UndefinedMetricWarning, match=r"covariance is undefined \(NaN\): y_true has . positive and"):
        result = delong(y, [[1, 2, 3, 4], [2, 1, 4, 3]])
    assert np.isfinite(result.aucs).all()
    assert np.isnan(result.covariance).all()
    for test in (result.contrast([1, -1]), result.equality_test()):
        assert math.isnan(test.statistic)
        assert math.isnan(test.pvalue)
        assert not test.rejected
        assert test.conclusion.startswith("DeLong's test")
        assert " is undefined on these data, so nothing follows about the " in test.conclusion
    for alternative in ("two-sided", "less", "greater"):
        for method in ("delong", "logit"):
            assert np.isnan(result.confidence_interval(0.95, method, alternative)).all()
    with pytest.warns(UndefinedMetricWarning, match="ranking_b has . positive"):
        test = delong_test_unpaired(Ranking(Y, A), Ranking(y, [1, 2, 3, 4]))
    assert math.isnan(test.pvalue)


@pytest.mark.parametrize("weights", [None, [1, 2, 1]])
@pytest.mark.parametrize("label", [0, 1])
def test_one_class(label: int, weights: Any) -> None:
    with pytest.warns(UndefinedMetricWarning, match="roc_auc is undefined"):
        result = delong([label] * 3, [1, 2, 3], frequency_weight=weights)
    assert math.isnan(result.aucs[0])
    assert math.isnan(result.covariance[0, 0])
    with pytest.warns(UndefinedMetricWarning, match="roc_auc is undefined"):
        assert math.isnan(delong_test([label] * 3, [1, 2, 3], [2, 1, 3]).pvalue)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: delong([0, 1, 1], [1, 2]), "scores has 2 rows, but y_true has 3"),
        (lambda: delong([0, 1, 2], [1, 2, 3], pos_label=1), "y_true must have two classes, got 3 labels"),
        (lambda: delong([0, 1, 2, 1], [1, 2, 3, 4], pos_label=1, sample_weight=[1] * 4), "must have two classes"),
        (lambda: delong(["a", "b"], [1, 2]), "pos_label must say which"),
        (lambda: delong(Y, [A, [math.nan, *A[1:]]]), r"scores\[1\] must be finite, but has 1 NaN value, the first at"),
        (lambda: delong(Y, {"x": [math.inf, *A[1:]]}), r"scores\['x'\] must be finite, but has 1 infinite value"),
        (lambda: delong(Y, {}), "scores is empty"),
        (lambda: delong(Y, np.zeros((0, 6))), "scores is empty"),
        (lambda: delong(Y, np.zeros((2, 2, 2, 6))), "scores must be 1-D, or 2-D"),
        (lambda: delong(Y, ["a"] * 6), "scores must hold numbers, got dtype <U1"),
        (lambda: delong(Y, A, frequency_weight=[1, 1, 0.5, 1, 1, 1]), "whole numbers.*copies.* got 0.5 at row 2"),
        (lambda: delong(Y, A, frequency_weight=[1, 1, -1, 1, 1, 1]), "frequency_weight must not be negative, got -1"),
        (lambda: delong(Y, A, frequency_weight=[1, 1]), "frequency_weight has 2 rows, but y_true has 6"),
        (lambda: delong(Y, A, frequency_weight=[2**30, 1, 1, 1, 1, 1]), "y_true must have fewer than 1073741824 rows"),
        (lambda: delong(Y, A, frequency_weight=[2**53] * 6), r"frequency_weight must add up to at most 2\*\*53"),
        (lambda: delong_test(Y, A, B[:3]), "score_b has 3 rows, but y_true has 6"),
        (lambda: delong_test(Y, [math.nan, math.nan, *A[2:]], B), "score_a must be finite, but has 2 NaN values"),
        (lambda: delong_test(Y, [A, B], B), "score_a must be 1-D, got shape"),
        (lambda: delong_test(Y, A, B, alternative="more"), "alternative must be one of 'two-sided', 'less'"),
        (lambda: delong_test(Y, A, B, confidence_level=1), r"confidence_level must be in \(0, 1\), got 1"),
        (lambda: delong_test(Y, A, B, confidence_level=math.nan), r"confidence_level must be in \(0, 1\), got nan"),
        (lambda: delong(Y, A).confidence_interval(95), r"confidence_level must be in \(0, 1\), got 95"),
        (lambda: delong(Y, A).confidence_interval(method="wald"), "method must be one of 'delong', 'logit'; got 'wa"),
        (lambda: delong(Y, A).confidence_interval(alternative="up"), "alternative must be one of .* got 'up'"),
        (lambda: delong(Y, [A, B]).contrast([1]), "weights must have 2 values, one for each model, got 1"),
        (lambda: delong(Y, [A, B]).contrast([0, 0]), r"weights must not be all zero, got \[0, 0\]"),
        (lambda: delong(Y, [A, B]).contrast([1, math.inf]), "weights must be finite"),
        (lambda: delong(Y, [A, B]).contrast([1, -1], alternative=None), "alternative must be one of .* got None"),  # type: ignore[arg-type]
        (lambda: delong(Y, A).equality_test(), "the number of models must be an integer at least 2, got 1"),
        (lambda: delong(Y, [A, B]).equality_test(confidence_level=0), r"confidence_level must be in \(0, 1\), got 0"),
        (lambda: delong_test_unpaired(Ranking(Y, A), (Y, B)), "ranking_b must be a Ranking, Rank.*, got .* "),  # type: ignore[arg-type]
        (
            lambda: delong_test_unpaired(Ranking(Y, A, sample_weight=[1] * 6), Ranking(Y, B)),
            "ranking_a must count rows, but has weights",
        ),
        (lambda: delong_test_unpaired(Ranking(Y, A), Ranking(Y, B), alternative="x"), "alternative must be one of"),
    ],
)  # fmt: skip
def test_bad_input(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


# Results ----------------------------------------------------------------------------------------------------------


def test_results_read_unpack_and_pickle() -> None:
    result = delong(Y, {"a": A, "b": B})
    test = result.contrast([1, -1])
    assert isinstance(test, SignificanceResult)
    assert repr(test) == "SignificanceResult(statistic=1.373, pvalue=0.1698, effect=0.3889, rejected=False)"
    assert repr(result).startswith("DelongResult(aucs=[0.7778, 0.3889], standard_errors=[0.2079, ")
    assert list(test.to_dict()) == [
        "statistic", "pvalue", "critical_value", "df", "alternative", "effect", "confidence_interval", "rejected",
        "conclusion", "alpha", "test", "null",
    ]  # fmt: skip
    assert set(result.to_dict()) == {
        "aucs",
        "caution",
        "n_clusters",
        "n_effective_clusters",
        "covariance",
        "names",
        "n_positives",
        "n_negatives",
        "moments",
        "pos_label",
        "standard_error",
        "value",
        "doubt",
    }
    json.dumps([test.to_dict(), result.to_dict()])
    again = pickle.loads(pickle.dumps(result))
    assert isinstance(again, DelongResult)
    assert again.contrast([1, -1]) == test


# Found by attack --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("swaps", [1, 3, 20])
def test_the_test_of_equality_does_not_depend_on_the_order_of_near_duplicates(swaps):
    rng = np.random.default_rng(0)
    n = 100_000
    y, a, b = rng.integers(0, 2, n), rng.normal(size=n), rng.permutation(n).astype(float)
    c, order = b.copy(), np.argsort(b)
    near = np.flatnonzero((y[order[:-1]] == 0) & (y[order[1:]] == 1))[: 100 * swaps : 100]
    c[order[near]], c[order[near + 1]] = b[order[near + 1]], b[order[near]]
    results = [delong(y, models).equality_test() for models in ((a, b, c), (b, a, c), (c, a, b))]
    assert {result.df for result in results} == {2}
    for result in results[1:]:
        assert result.statistic == results[0].statistic
    assert 0 < results[0].pvalue < 1


def test_few_and_many_models_have_the_same_chi_square(monkeypatch):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 300)
    result = delong(y, rng.normal(size=(6, 300)) + 0.3 * y)
    exact = result.equality_test()
    monkeypatch.setattr("fastevals.infer.delong.result.MOST_EXACT", 1)
    assert result.equality_test().statistic == pytest.approx(exact.statistic, rel=1e-10)
    assert result.equality_test().df == exact.df == 5


@pytest.mark.parametrize("scale", [1e-308, 1e-200, 1e-50, 1e50, 1e160, 8e307])
def test_the_scale_of_a_contrast_does_not_matter(scale):
    result = delong([0, 0, 0, 1, 1, 1], [[1, 2, 3, 2, 3, 4], [2, 3, 2, 1, 3, 2]])
    expected, found = result.contrast([1, -1]), result.contrast([scale, -scale])
    assert found.statistic == pytest.approx(expected.statistic, rel=1e-12)
    assert found.pvalue == pytest.approx(expected.pvalue, rel=1e-12)
    assert found.effect == pytest.approx(expected.effect * scale, rel=1e-12)
    np.testing.assert_allclose(found.confidence_interval, np.multiply(expected.confidence_interval, scale), rtol=1e-12)
    assert f"estimate {found.effect:.3g} (95 % interval {found.confidence_interval.low:.3g} to " in found.conclusion


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_of_models_that_rank_alike_no_value_is_said_to_agree(alternative):
    conclusion = delong_test([0, 1, 0, 1], [1, 2, 3, 4], [1, 2, 3, 4], alternative=alternative).conclusion
    assert conclusion.endswith("The estimated variance is 0, so the interval has no width.")


def test_names_that_look_the_same():
    with pytest.raises(ValueError, match="scores must have distinguishable names"):
        delong([0, 1, 0, 1], {float("nan"): [1, 2, 3, 4], float("nan"): [4, 3, 2, 1]})
