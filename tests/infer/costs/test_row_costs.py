"""Costs of decisions by row: totals, thresholds and savings against loops over rows, and their intervals."""

from __future__ import annotations

import math
import re
import warnings
from itertools import product
from typing import Any

import numpy as np
import pytest

import fastevals
from fastevals import Ranking, RowCosts, UndefinedMetricWarning, row_costs
from fastevals.infer.costs.moments import CostColumns, SkewedSpread
from fastevals.infer.means import skewed_interval
from fastevals.measure.row_costs import RowAmounts
from tests.parameters import quick
from tests.reference import row_costs as reference


def made(seed: int, n: int = 60, decimals: int = 2) -> tuple[Any, Any, tuple[Any, Any, Any], Any]:
    """Return labels, probabilities with ties, costs of fp, fn and tp (some of them 0), and weights."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.4
    p = np.round(1 / (1 + np.exp(-(2 * y - 1 + rng.normal(size=n)))), decimals)
    costs = (rng.exponential(3, n) * (rng.random(n) < 0.8), rng.lognormal(1, 1, n), rng.exponential(1, n))
    return y, p, costs, rng.integers(1, 5, n) / 2


def measured(y: Any, p: Any, costs: Any, **options: Any) -> RowCosts:
    fp, fn, tp = costs
    return row_costs(y, p, cost_fp=fp, cost_fn=fn, cost_tp=tp, rng=0, **{"n_resamples": 0, **options})


@pytest.mark.parametrize("seed", range(8))
def test_totals_and_best_thresholds_are_those_of_loops_over_rows(seed: int) -> None:
    y, p, costs, weights = made(seed)
    found = measured(y, p, costs, sample_weight=weights, threshold=0.4)
    model, n = found["y_score"], len(y)
    cost, threshold = reference.best_threshold(y, p, costs, weights)
    assert model.best.total.value == pytest.approx(cost)
    assert model.best.threshold == threshold
    assert model.best.n_predicted == np.count_nonzero(p >= threshold)
    none, all_ = (reference.total_cost(y, [each] * n, costs, weights) for each in (False, True))
    assert (found.none.total.value, found.all.total.value) == pytest.approx((none, all_))
    assert model.fixed is not None
    assert model.per_row is not None
    for decision, decided in ((model.fixed, p >= 0.4), (model.per_row, reference.rule(p, costs))):
        total = reference.total_cost(y, decided, costs, weights)
        assert decision.total.value == pytest.approx(total)
        assert decision.mean.value == pytest.approx(total / weights.sum())
        assert (decision.savings.value, decision.savings_over_all.value) == pytest.approx((none - total, all_ - total))
        shares = decision.savings_share.value, decision.savings_over_all_share.value
        assert shares == pytest.approx((1 - total / none, 1 - total / all_))
        assert decision.n_predicted == np.count_nonzero(decided)


def test_equal_costs_give_the_expected_cost_of_a_ranking() -> None:
    y, p, _, _ = made(3)
    found = row_costs(y, p, cost_fp=2.0, cost_fn=np.full(len(y), 7.0), n_resamples=0)["y_score"]
    point = Ranking(y, p).best_threshold("expected_cost", cost_fp=2.0, cost_fn=7.0)
    assert found.best.mean.value == pytest.approx(point.value)
    assert found.best.threshold == point.threshold


def test_constants_and_columns_go_together() -> None:
    y, p, (_, fn, _), _ = made(1)
    mixed, columns = (row_costs(y, p, cost_fp=fp, cost_fn=fn, n_resamples=0) for fp in (5, np.full(len(y), 5)))
    assert mixed.to_dict() == columns.to_dict()


def test_copies_are_repeated_rows() -> None:
    y, p, costs, _ = made(2)
    copies = np.arange(len(y)) % 3
    rows = np.repeat(np.arange(len(y)), copies)
    repeated = measured(y[rows], p[rows], [each[rows] for each in costs], n_resamples=19)
    assert measured(y, p, costs, frequency_weight=copies, n_resamples=19).to_dict() == repeated.to_dict()


def test_a_row_of_weight_zero_does_not_count() -> None:
    y, p, costs, weights = made(5)
    weights[::4] = 0
    kept = weights > 0
    alone = measured(y[kept], p[kept], [each[kept] for each in costs], sample_weight=weights[kept], n_resamples=19)
    assert measured(y, p, costs, sample_weight=weights, n_resamples=19).to_dict() == alone.to_dict()


QUANTITIES = "total", "savings", "savings_share", "savings_over_all", "savings_over_all_share"


@pytest.mark.cases(1)
@pytest.mark.parametrize("case", quick(product(QUANTITIES, [False, True]), ("total", False), ("savings_share", True)))
def test_standard_errors_are_those_of_a_jackknife(case: tuple[str, bool]) -> None:
    name, is_clustered = case
    y, p, costs, weights = made(4, n=600)
    clusters = np.arange(600) // 3 if is_clustered else np.arange(600)
    options: dict[str, Any] = {"sample_weight": weights, "groups": clusters} if is_clustered else {}
    weights = weights if is_clustered else np.ones(600)
    found = getattr(measured(y, p, costs, threshold=0.5, **options)["y_score"].fixed, name)

    def value(rows: list[int]) -> float:
        some = [each[rows] for each in costs]
        total, none, all_ = (
            reference.total_cost(y[rows], decided, some, weights[rows])
            for decided in (p[rows] >= 0.5, [False] * len(rows), [True] * len(rows))
        )
        below = {"savings_share": none, "savings_over_all_share": all_}.get(name, weights[rows].sum() / weights.sum())
        return float({"total": total}.get(name, (all_ if "all" in name else none) - total) / below)

    left = np.array(reference.leave_each_out(value, clusters.tolist()))
    n = left.size
    assert found.standard_error == pytest.approx(math.sqrt((n - 1) / n * ((left - left.mean()) ** 2).sum()), rel=0.02)
    assert found.method == "Hall"


def test_replicates_choose_their_thresholds_anew() -> None:
    y, p, costs, _ = made(6, n=40)
    found = measured(y, {"a": p, "b": np.roll(p, 1)}, costs, n_resamples=99)
    rng = np.random.default_rng(1)
    replicates = []
    for _ in range(400):
        rows = rng.integers(0, 40, 40)
        replicates.append(reference.best_threshold(y[rows], p[rows], [each[rows] for each in costs], np.ones(40))[0])
    estimate = found["a"].best.total
    assert estimate.standard_error == pytest.approx(np.std(replicates), rel=0.25)
    assert estimate.bias == pytest.approx(np.mean(replicates) - estimate.value, abs=0.4 * np.std(replicates))
    assert estimate.method == "wider of Hall and debiased percentile"


def test_differences_of_equal_models_are_zero_and_of_pairs_simultaneous() -> None:
    y, p, costs, _ = made(7, n=200)
    found = measured(y, {"a": p, "b": p, "c": 1 - p}, costs, n_resamples=99)
    by_pair = {(each.model, each.reference): each for each in found.differences["best threshold"]}
    same = by_pair["a", "b"]
    assert (same.value, same.pvalue, *same.confidence_interval) == (0.0, 1.0, 0.0, 0.0)
    worse = by_pair["a", "c"]
    assert worse.value == pytest.approx(found["a"].best.total.value - found["c"].best.total.value)
    assert worse.confidence_interval.high < 0
    assert set(found.differences) == {"best threshold", "per-row rule"}


def test_the_same_seed_gives_the_same_bits_at_any_number_of_threads() -> None:
    y, p, costs, _ = made(8, n=20_000, decimals=5)
    found = []
    for n_threads in (1, 3):
        with fastevals.num_threads(n_threads):
            found.append(measured(y, {"a": p, "b": p**2}, costs, n_resamples=39).to_dict())
    assert found[0] == found[1]


@pytest.mark.parametrize("unit", [2.0**-900, 2.0**900])
def test_intervals_scale_with_the_unit_of_money(unit: float) -> None:
    y, p, costs, _ = made(9, n=300)
    plain, scaled = (measured(y, p, [factor * each for each in costs], n_resamples=39) for factor in (1.0, unit))
    for rule in ("best", "per_row"):
        one, other = getattr(plain["y_score"], rule), getattr(scaled["y_score"], rule)
        assert other.threshold == one.threshold or rule == "per_row"
        assert other.savings_share.value == pytest.approx(one.savings_share.value)
        ends = np.array(other.total.confidence_interval) / unit
        np.testing.assert_allclose(ends, one.total.confidence_interval, rtol=1e-9)
        assert other.total.caution == one.total.caution


def test_a_fee_above_the_amount_makes_a_positive_not_worth_finding() -> None:
    found = row_costs([1, 1, 0], [0.9, 0.8, 0.1], cost_fp=5, cost_fn=[3, 50, 3], cost_tp=5, n_resamples=0)["y_score"]
    assert found.best.threshold == 0.8
    assert found.best.total.value == 10  # two fees: the first row must be looked at to find the second
    assert found.per_row is not None
    assert found.per_row.total.value == 8  # one fee, and the loss of 3


def test_a_benefit_may_make_the_total_negative() -> None:
    found = row_costs([1, 0, 1], [0.9, 0.1, 0.4], cost_fp=5, cost_fn=0, cost_tp=[-30, -30, -2], n_resamples=0)
    assert found["y_score"].best.total.value == -32
    assert found["y_score"].best.savings.value == 32


# The interval of a skewed total ---------------------------------------------------------------------------------------


def test_powers_are_those_of_linear_forms_in_the_columns() -> None:
    none, gains, weights = np.random.default_rng(0).lognormal(size=(3, 20_000))
    decided = gains > 1
    saved = np.where(decided, gains, 0)
    forms = np.array([[1.0, 0, 0, -1], [2, -1, 0.5, 3]])
    for saved_by in (decided, saved):
        columns = CostColumns(none, gains, weights, {("a", "best threshold"): saved_by})
        (powers,) = columns.powers({("a", "best threshold"): forms}).values()
        values = forms @ [none, gains, weights, saved]
        np.testing.assert_allclose(powers, [[(each**p).sum() for p in (2, 3, 4)] for each in values], rtol=1e-10)
        (sums,), largest = columns.sums()[0].values(), columns.sums()[1]
        np.testing.assert_allclose(sums, [each.sum() for each in (none, gains, weights, saved)])
        np.testing.assert_array_equal(largest, [each.max() for each in (none, gains, weights, gains)])


def test_a_heavy_tail_has_fewer_degrees_of_freedom_and_typical_rows_widen() -> None:
    even, one_large = np.tile([1.0, -1.0], 50), np.append(99.0, np.full(99, -1.0))
    of_powers = [np.array([(each**p).sum() for p in (2, 3, 4)]) for each in (even, one_large)]
    no_rows = np.array([0.0])
    spreads = [SkewedSpread.of(100, 2.0, powers, no_rows) for powers in of_powers]
    assert [each.degrees for each in spreads] == pytest.approx([99, 200 / 97.0102], rel=1e-3)
    assert spreads[0] == (pytest.approx(2 * 100 / 99**0.5), pytest.approx(2 * 100 / 99**0.5), 0.0, 99)
    more = SkewedSpread.of(100, 1.0, of_powers[0], np.array([10.0, 0.0]))
    assert (more.error, more.wider) == pytest.approx(((100 / 0.99) ** 0.5, (150 / 0.99) ** 0.5))
    assert more.skewness == pytest.approx(500 / 150**1.5)


def test_typical_rows_have_the_root_mean_squares_of_their_class() -> None:
    y, _, (fp, fn, tp), _ = made(1)
    stakes = RowAmounts(fp, fn, tp).stakes(y)
    expected = [
        [math.sqrt((fn[y] ** 2).mean()), math.sqrt(((fn - tp)[y] ** 2).mean())],
        [0, -math.sqrt((fp[~y] ** 2).mean())],
    ]
    np.testing.assert_allclose(stakes.typical(y, stakes.size()), expected, atol=1e-15)
    assert stakes.size() == pytest.approx(fn[y].sum() + np.abs(fn - tp)[y].sum() + fp[~y].sum())
    of_negatives = RowAmounts(fp, fn, tp).stakes(np.zeros_like(y))
    assert of_negatives.typical(np.zeros_like(y), 1.0).shape == (1, 2)


def test_an_interval_without_skewness_is_a_t_interval() -> None:
    interval = skewed_interval(10.0, 1.0, 0.0, 4, 0.95)
    assert interval == pytest.approx((10 - 2.7764451052, 10 + 2.7764451052))
    assert skewed_interval(10.0, 1.0, 0.0, 4, 0.95, "less") == (-math.inf, pytest.approx(10 + 2.1318467863))
    assert all(map(math.isnan, skewed_interval(10.0, math.nan, 0.0, 0, 0.95)))


def test_an_interval_inverts_halls_transformation() -> None:
    k, error = 3.0 / 4.0**1.5, 2.0
    low, high = skewed_interval(10.0, error, k, 999, 0.9)
    transformed = [x + k * x**2 / 3 + k**2 * x**3 / 27 + k / 6 for x in ((10 - end) / error for end in (low, high))]
    assert transformed == pytest.approx([1.6463803, -1.6463803], rel=1e-6)  # quantiles of t
    assert high - 10 > 10 - low


def test_no_mistake_seen_is_no_cost_of_zero() -> None:
    found = row_costs(np.arange(100) > 49, np.arange(100.0), cost_fn=np.full(100, 7.0), threshold=50, n_resamples=0)
    fixed = found["y_score"].fixed
    assert fixed is not None
    assert fixed.total.value == fixed.total.confidence_interval.low == 0
    assert fixed.total.confidence_interval.high > 7
    assert found.none.savings.confidence_interval == (0, 0)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "prevalence", "spread"), [(3000, 0.05, 1.0), (300, 0.5, 0.5), (300, 0.5, 1.5)])
def test_intervals_of_skewed_totals_cover(n: int, prevalence: float, spread: float) -> None:
    """Count how often intervals contain the true value; docs/coverage.md has more settings."""
    rng, hits = np.random.default_rng(0), {"fixed": 0, "best": 0}
    at, sets = (1.125 - math.log(5 * prevalence / (1 - prevalence))) / 1.5, 300  # the threshold of the least cost
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        for seed in range(sets):
            y = rng.random(n) < prevalence
            amounts = rng.lognormal(math.log(100) - spread**2 / 2, spread, n)
            score = 1.5 * y + rng.normal(size=n)
            found = row_costs(y, score, cost_fp=20, cost_fn=amounts, threshold=at, n_resamples=199, rng=seed)["y_score"]
            for name in hits:
                low, high = getattr(found, name).mean.confidence_interval
                hits[name] += low <= least_cost(prevalence) <= high
    assert min(hits.values()) >= 0.92 * sets


def least_cost(prevalence: float) -> float:
    """Return the lowest expected cost over thresholds of normal scores at distance 1.5."""
    from scipy.special import ndtr

    at = np.linspace(-4, 6, 100_001)
    return float((100 * prevalence * ndtr(at - 1.5) + 20 * (1 - prevalence) * ndtr(-at)).min())


# What may mislead -----------------------------------------------------------------------------------------------------


def test_a_cost_that_reveals_the_label_is_said_and_not_used() -> None:
    y, p, (_, fn, _), _ = made(1, n=400)
    leaking = row_costs(y, p, cost_fp=5, cost_fn=np.where(y, fn, 0), n_resamples=0)
    assert leaking["y_score"].per_row is None
    assert (
        leaking["y_score"].best.total.value
        == row_costs(y, p, cost_fp=5, cost_fn=fn, n_resamples=0)["y_score"].best.total.value
    )
    assert leaking.cautions[0].startswith("cost_fn is 0 in all negative rows and not in all other rows: it reveals")
    asked = row_costs(y, p, cost_fp=np.where(y, 0, 3), cost_fn=fn, per_row_rule=True, n_resamples=0)
    assert asked.cautions[0].startswith("cost_fp is 0 in all positive rows")
    assert "the per-row rule's cost is too low" in asked.cautions[0]
    assert asked["y_score"].per_row is not None
    known = row_costs(y, p, cost_fp=5, cost_fn=np.where(y | (p > 0.5), fn, 0), n_resamples=0).cautions
    assert not any("reveals the label" in each for each in known)


def test_few_rows_with_most_of_the_amount_are_said() -> None:
    y, p, _, _ = made(1, n=4000, decimals=5)
    amounts = np.full(4000, 10.0)
    even = row_costs(y, p, cost_fp=5, cost_fn=amounts, threshold=0.5, n_resamples=0)["y_score"].fixed
    amounts[np.flatnonzero(y & (p < 0.5))[0]] = 100_000
    uneven = row_costs(y, p, cost_fp=5, cost_fn=amounts, threshold=0.5, n_resamples=0)
    assert even is not None
    assert even.total.caution == ""
    fixed = uneven["y_score"].fixed
    assert fixed is not None
    assert fixed.total.caution.startswith("few rows carry most of the amount: the estimate is as skewed as a sum of 1 ")
    assert uneven.cautions[0].startswith("few rows carry most of the amount: intervals of the total cost of y_score")


def test_scores_outside_0_and_1_have_no_per_row_rule() -> None:
    y, p, costs, _ = made(0)
    assert measured(y, 2 * p, costs)["y_score"].per_row is None
    with pytest.raises(ValueError, match=r"y_score must hold probabilities, in \[0, 1\], got -?\d"):
        measured(y, 2 * p, costs, per_row_rule=True)
    assert measured(y, p, costs, per_row_rule=False)["y_score"].per_row is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cost_fp": -1}, r"cost_fp must be in \[0, inf\), got -1"),
        ({"cost_fn": [1, -2, 3, 1]}, "cost_fn must not be negative, got -2.0 at row 1"),
        ({"cost_fn": [1, 2, math.nan, 1]}, "cost_fn must be finite, but has 1 NaN value, the first at row 2"),
        ({"cost_fp": [1, 2, math.inf, 1]}, "cost_fp must be finite, but has 1 infinite value, the first at row 2"),
        ({"cost_fn": [1, 2, 3]}, "cost_fn has 3 rows, but y_true has 4"),
        ({"cost_fn": ["a"] * 4}, "cost_fn must hold numbers"),
        ({"cost_fp": 0, "cost_fn": [0] * 4}, "cost_fp and cost_fn must have a value above zero, but all are zero"),
        ({"cost_fp": 0, "cost_fn": [3, 3, 0, 0]}, "cost_fp and cost_fn must make some prediction cost more"),
        ({"cost_fn": [1e308] * 4}, "cost_fp and cost_fn must have a finite sum, but it overflows"),
        ({"cost_tp": math.inf}, r"cost_tp must be in \(-inf, inf\), got inf"),
        ({"threshold": math.nan}, "threshold must not be NaN"),
        ({"reference": "b"}, "reference"),
    ],
)
def test_wrong_input_is_named(options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        row_costs([0, 0, 1, 1], [0.1, 0.2, 0.3, 0.4], n_resamples=0, **options)


@pytest.mark.parametrize("label", [0, 1])
def test_one_class_has_costs(label: int) -> None:
    found = row_costs([label] * 3, [0.1, 0.2, 0.3], cost_fp=2, cost_fn=[3, 4, 5], pos_label=1, n_resamples=0)
    assert found["y_score"].best.total.value == 0
    assert (found.none.total.value, found.all.total.value) == ((12, 0) if label else (0, 6))
    assert math.isnan(found["y_score"].best.savings_share.value) == (not label)


def test_one_row_has_no_interval_and_tiny_and_huge_amounts_have_words() -> None:
    one = row_costs([1], [0.3], cost_fp=1, cost_fn=[4.0], n_resamples=19, rng=0)["y_score"]
    assert math.isnan(one.best.total.confidence_interval.high)
    y, p, (_, fn, _), _ = made(1)
    assert row_costs(y, p, cost_fp=1e-320, cost_fn=fn * 1e-320, n_resamples=0)["y_score"].best.total.value < 1e-315
    assert "e+300" in row_costs(y, p, cost_fp=1e299, cost_fn=fn * 1e299, n_resamples=0).conclusion


def test_the_text_has_the_numbers_that_people_quote() -> None:
    y, p, (_, fn, _), _ = made(1, n=400)
    text = row_costs(y, {"a": p, "b": 1 - p}, cost_fp=5, cost_fn=5 + fn, n_resamples=99, rng=0).to_text()
    words = " ".join(text.split())
    assert words.startswith("Costs of decisions: 400 rows, 170 positive a has the lowest total cost at its best ")
    assert "which saves" in words
    assert re.search(r"That is [\d,.]+ less than b's \(95 % interval", words)
    assert [line.split()[:2] for line in text.splitlines() if line.startswith("predict")] == [
        ["predict", "none"], ["predict", "all"],
    ]  # fmt: skip


def test_the_curve_weighs_rows_by_their_amounts() -> None:
    y, p, (fp, fn, _), _ = made(2)
    found = row_costs(y, p, cost_fp=fp, cost_fn=fn, n_resamples=0)
    model = found["y_score"]
    positive, negative = fn[y].sum(), fp[~y].sum()
    at = model.cost_curve().at(positive / (positive + negative))
    assert at.threshold == model.best.threshold
    assert at.value * (positive + negative) == pytest.approx(model.best.total.value)
