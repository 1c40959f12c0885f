"""Rules on costs that differ by row: metrics, the evidence of `row_costs`, and why there are no bounds."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest

from benches import gate_evidence
from benches import row_costs as bench
from fastevals import row_costs
from fastevals.infer.bootstrap.bootstrap import BootstrapSettings
from fastevals.infer.costs.decisions import BEST, FIXED, PER_ROW
from fastevals.infer.costs.measured import CostedRows, CostEstimates
from fastevals.infer.gate.costs import COST_METRICS, CostEvidence, CostMetric
from fastevals.infer.gate.decide import Levels, decide
from fastevals.infer.gate.rules import parse_rule
from fastevals.infer.means import skewed_interval
from fastevals.measure.row_costs import RowAmounts
from tests.reference import row_costs as reference

SETTINGS = BootstrapSettings.checked(199, 0.95, "BCa", "two-sided", 3)
RNG = np.random.default_rng(5)
N = 400
Y = RNG.random(N) < 0.3
SCORES = {name: 1 / (1 + np.exp(1 - d * Y - RNG.normal(size=N))) for name, d in (("a", 2.5), ("b", 1.0))}
AMOUNTS = RNG.lognormal(3, 0.7, N)
COSTS = RowAmounts(4.0, AMOUNTS)
ROWS = CostedRows(Y, SCORES, COSTS)
AT = {"threshold": 0.4}
PLACES = {BEST: {}, FIXED: AT, PER_ROW: {"per_row_rule": True}}


def evidence(*metrics, rows=ROWS, settings=SETTINGS, budget=10**9):
    return CostEvidence(rows, {str(each): each for each in metrics}, settings, budget)


def bounds(found, level=0.95):
    return found.bound(level, "low"), found.bound(level, "high")


@cache
def expected(level):
    return row_costs(
        Y, SCORES, cost_fp=4, cost_fn=AMOUNTS, threshold=0.4, n_resamples=199, confidence_level=level, rng=3
    )


# Metrics ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "metric", "label"),
    [
        ("mean_cost <= 3", CostMetric("mean_cost"), "mean_cost"),
        ("mean cost at threshold=0.4 <= 3", CostMetric("mean_cost", 0.4), "mean_cost(threshold=0.4)"),
        ("Savings at per_row_rule=true >= 0", CostMetric("savings", None, True), "savings(per_row_rule=True)"),
        ("total_cost(best=cost) <= 9", CostMetric("total_cost"), "total_cost"),
        ("savings_share at best=expected_cost >= 0.1", CostMetric("savings_share"), "savings_share"),
    ],
)
def test_rules_name_quantities_of_row_costs(text, metric, label):
    rule = parse_rule(text)
    assert (rule.metric, rule.label) == (metric, label)
    assert rule.greater_is_better is ("savings" in metric.name)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mean_cost at fpr=0.1 <= 3", r"mean_cost has no option fpr=; it takes threshold, per_row_rule, best"),
        ("mean_cost at best=f1 <= 3", r"best must be expected_cost, .* got 'f1' \(in "),
        ("mean_cost at threshold=x <= 3", r"threshold must hold numbers"),
        ("mean_cost at per_row_rule=1 <= 3", r"per_row_rule must be True or False, got 1"),
        ("mean_cost at threshold=1, per_row_rule=true <= 3", r"threshold and per_row_rule exclude each other"),
        ("mean_cost >= 3", r"mean_cost is better when it is lower: write <= 3"),
        ("savings <= 3", r"savings is better when it is higher: write >= 3"),
        ("savings better than b by 2%", r"savings can be negative, so its margin must be a number"),
        ("mean_costs <= 3", r"unknown metric 'mean_costs' \(did you mean 'mean_cost'\?\)"),
    ],
)
def test_wrong_rules_are_refused(text, message):
    with pytest.raises(ValueError, match=message):
        parse_rule(text)


# Evidence ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", COST_METRICS)
@pytest.mark.parametrize("rule", PLACES)
def test_bounds_of_a_model_are_the_interval_of_row_costs(name, rule):
    metric = CostMetric(name, **PLACES[rule])
    found = evidence(metric).of(str(metric), "a")
    model = expected(0.9)["a"]
    decision = {BEST: model.best, FIXED: model.fixed, PER_ROW: model.per_row}[rule]
    estimate = getattr(decision, {"mean_cost": "mean", "total_cost": "total"}.get(name, name))
    assert found.value == pytest.approx(estimate.value)
    assert bounds(found) == pytest.approx(tuple(estimate.confidence_interval))
    assert found.standard_error == pytest.approx(estimate.standard_error)
    assert found.method == estimate.method
    assert found.n_replicates == (199 if rule == BEST else 0)
    assert found.is_sum is (name in ("total_cost", "savings", "savings_over_all"))


@pytest.mark.parametrize("rule", PLACES)
def test_bounds_of_a_difference_contain_the_interval_of_row_costs(rule):
    metrics = [CostMetric(name, **PLACES[rule]) for name in ("total_cost", "mean_cost", "savings")]
    total, mean, savings = (evidence(*metrics).between(str(each), "a", "b", 1.0) for each in metrics)
    (pair,) = expected(0.9).differences[rule]
    low, high = bounds(total)
    assert total.value == pytest.approx(pair.value)
    assert low <= pair.confidence_interval.low + 1e-9
    assert high >= pair.confidence_interval.high - 1e-9
    assert (low, high) == pytest.approx(tuple(pair.confidence_interval), abs=0.3 * (high - low))
    assert bounds(mean) == pytest.approx((low / N, high / N))
    assert bounds(savings) == pytest.approx((-high, -low))
    assert total.method == "wider of max-T and Hall"


@pytest.mark.parametrize("name", ["mean_cost", "savings_share", "savings_over_all_share"])
@pytest.mark.parametrize(
    ("factor", "groups"),
    [
        (1.0, None),
        (1.05, np.arange(N) // 4),
        pytest.param(1.05, None, marks=pytest.mark.slow),
        pytest.param(1.0, np.arange(N) // 4, marks=pytest.mark.slow),
    ],
    ids=["rows", "clusters, factor", "rows, factor", "clusters"],
)
def test_the_spread_of_a_difference_is_that_of_leaving_units_out(name, factor, groups):
    rows = ROWS._replace(groups=groups)
    found = CostEstimates(rows, SETTINGS._replace(n_resamples=0), np.asarray(0.4), None, (FIXED,))
    spread = found._spread_of_difference(COST_METRICS[name].of, FIXED, ("a", "b"), factor)
    costs = np.full(N, 4.0), AMOUNTS, np.zeros(N)

    def value(kept):
        y = Y[kept]
        some = [each[kept] for each in costs]
        ones = np.ones(len(kept))
        none, every = (reference.total_cost(y, [each] * len(kept), some, ones) for each in (False, True))
        totals = [reference.total_cost(y, SCORES[model][kept] >= 0.4, some, ones) for model in "ab"]
        if name == "mean_cost":
            values = [each / len(kept) * N for each in totals]
        else:
            values = [1 - each / (none if name == "savings_share" else every) for each in totals]
        return values[0] - factor * values[1]

    left = np.array(reference.leave_each_out(value, list(range(N)) if groups is None else groups.tolist()))
    deviations, n = left.mean() - left, left.size
    assert spread.error == pytest.approx(math.sqrt((n - 1) / n * (deviations**2).sum()), rel=0.03)
    skewness = (deviations**3).sum() / (deviations**2).sum() ** 1.5
    assert spread.skewness == pytest.approx(skewness, abs=0.05)
    assert spread.wider > spread.error


def test_a_relative_margin_judges_the_difference_from_a_multiple():
    metric = CostMetric("mean_cost", **AT)
    found = evidence(metric)
    own, other = (found.of(str(metric), model).value for model in "ab")
    half = found.between(str(metric), "a", "b", 1.5)
    assert half.value == pytest.approx(own - 1.5 * other)
    assert half.bound(0.95, "low") < half.value < half.bound(0.95, "high")


def test_equal_scores_are_certain_and_equal_decisions_are_not():
    metric = CostMetric("mean_cost", **AT)
    rows = ROWS._replace(scores={"a": SCORES["a"], "b": SCORES["a"], "c": np.where(SCORES["a"] > 0.4, 0.9, 0.1)})
    found = evidence(metric, rows=rows)
    assert bounds(found.between(str(metric), "a", "b", 1.0)) == (0, 0)
    low, high = bounds(found.between(str(metric), "a", "c", 1.0))
    assert low < 0 < high


def test_weights_and_copies_scale_means():
    weights = RNG.integers(1, 3, N).astype(float)
    metric = CostMetric("mean_cost", **AT)
    found = evidence(metric, rows=ROWS._replace(weights=weights)).of(str(metric), "a")
    total = reference.total_cost(Y, SCORES["a"] >= 0.4, (np.full(N, 4.0), AMOUNTS, np.zeros(N)), weights)
    assert found.value == pytest.approx(total / weights.sum())


def test_the_same_seed_gives_the_same_bits():
    metric = CostMetric("mean_cost")
    one, other = (evidence(metric).between("mean_cost", "a", "b", 1.0) for _ in range(2))
    assert bounds(one) == bounds(other)


# No bounds --------------------------------------------------------------------------------------------------------


def test_few_rows_of_a_class_give_no_bounds():
    kept = np.flatnonzero(~Y | (np.cumsum(Y) <= 40))
    metric = CostMetric("mean_cost", **AT)
    found = evidence(metric, rows=ROWS.take(kept))
    for each in (found.of(str(metric), "a"), found.between(str(metric), "a", "b", 1.0)):
        assert each.why_none == "only 40 positives: bounds need at least 50"
        assert math.isnan(each.bound(0.95, "low"))


def test_costs_that_reveal_the_label_are_no_rule_for_rows():
    metric = CostMetric("mean_cost", per_row_rule=True)
    rows = ROWS._replace(amounts=RowAmounts(4.0, np.where(Y, AMOUNTS, 0.0)))
    found = evidence(metric, rows=rows).of(str(metric), "a")
    assert "cost_fn is 0 in all negative rows and not in all others, so it reveals the label" in found.why_none
    with pytest.raises(ValueError, match=r"needs probabilities: scores of a are outside \[0, 1\]"):
        evidence(metric, rows=ROWS._replace(scores={"a": 3 * SCORES["a"]})).of(str(metric), "a")


def test_rows_without_an_amount_at_stake_are_undecided():
    rows = ROWS._replace(amounts=RowAmounts(0.0, np.zeros(N), np.zeros(N)))
    found = evidence(CostMetric("mean_cost"), rows=rows)
    for each in (found.of("mean_cost", "a"), found.between("mean_cost", "a", "b", 1.0)):
        assert each.why_none.startswith("cost_fp and cost_fn must make some prediction cost more than the other")
    nothing = evidence(share := CostMetric("savings_share", 2.0), rows=ROWS._replace(amounts=RowAmounts(4.0, 0.0)))
    assert nothing.of(str(share), "a").why_none == "the metric is undefined"


def test_large_data_have_fewer_replicates_and_the_method_says_so():
    many = SETTINGS._replace(n_resamples=999)
    found = evidence(CostMetric("mean_cost"), settings=many, budget=300 * 2 * N).between("mean_cost", "a", "b", 1.0)
    assert (found.n_replicates, found.method) == (300, "wider of max-T and Hall, 300 replicates")
    least = evidence(CostMetric("mean_cost"), settings=many, budget=0).of("mean_cost", "a")
    assert least.n_replicates == 199


def test_too_few_replicates_for_a_level_give_infinite_bounds():
    metric = CostMetric("mean_cost", **AT)
    found = evidence(metric, settings=SETTINGS._replace(n_resamples=5)).between(str(metric), "a", "b", 1.0)
    assert bounds(found) == (-math.inf, math.inf)
    assert (
        found.why_unbounded(0.95)
        == "5 replicates are too few for bounds at this level: n_resamples must be at least 19"
    )


def test_sums_are_not_decided_by_more_rows():
    metrics = [CostMetric(name, **AT) for name in ("mean_cost", "total_cost")]
    mean, total = (evidence(each).of(str(each), "a") for each in metrics)
    for found, name in ((mean, "mean_cost"), (total, "total_cost")):
        rule = parse_rule(f"{name} at threshold=0.4 <= {1.01 * found.value}")
        decided = decide(rule, [found], Levels.of(0.95, 1))
        assert decided.outcome == "undecided"
        assert math.isnan(decided.times_rows) is (name == "total_cost")
        assert decided.detectable > 0


def test_skewed_differences_have_a_caution():
    amounts = np.where(np.arange(N) == np.flatnonzero(Y & (SCORES["a"] > 0.4) & (SCORES["b"] < 0.4))[0], 1e5, 1.0)
    metric = CostMetric("mean_cost", **AT)
    found = evidence(metric, rows=ROWS._replace(amounts=RowAmounts(4.0, amounts)))
    assert found.between(str(metric), "a", "b", 1.0).caution.startswith("few rows carry most of the amount")


# False passes -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("prevalence", [0.1, 0.5])
def test_rules_on_differences_of_costs_pass_rarely_at_their_margin(prevalence):
    n_sets = 400
    found = gate_evidence.simulate_costs(bench.Design(1000, prevalence, 1.0), n_sets)
    slack = 100 * 2.5 * math.sqrt(0.05 * 0.95 / n_sets)
    assert all(max(each[2], each[3]) <= 6 + slack for each in found.values())


def test_simulated_costs_judge_the_true_mean_cost():
    found = gate_evidence.simulate_costs(bench.Design(1000, 0.5, 0.5), 2)
    assert list(found) == ["fixed", "best", "per-row"]
    assert all(each.max() <= 50 for each in found.values())


def test_halls_interval_of_a_difference_is_used_where_it_is_wider():
    settings = SETTINGS._replace(confidence_level=0.9)
    found = CostEstimates(ROWS, settings, np.asarray(0.4), None, (FIXED,))
    made = found.difference("total", FIXED, ("a", "b"), 1.0, settings)
    spread = found._spread_of_difference("total", FIXED, ("a", "b"), 1.0)
    hall = skewed_interval(made.value, spread.wider, spread.skewness, spread.degrees, 0.9)
    ends = found.compared("total", FIXED, ["a", "b"], np.array([[0, 1]]), settings)[0][1]
    assert made.confidence_interval == (min(hall.low, ends.low), max(hall.high, ends.high))
