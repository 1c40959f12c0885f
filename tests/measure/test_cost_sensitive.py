from __future__ import annotations

import math
import tracemalloc
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import fastevals
from fastevals import ConfusionMatrix, Ranking, UndefinedMetricWarning, cost_threshold, minimum_cost_predictions
from fastevals.measure import cost_sensitive
from tests.reference import confusion as twin
from tests.strategies import BOUNDED
from tests.test_validation import ODD_ARRAYS, ODD_SCALARS, complaint

THIRDS = [1 / 3, 1 / 3, 1 / 3]


# Slow, obvious twins ------------------------------------------------------------------------------------------------


def expected_costs(row: Sequence[float], costs: Any, ratios: Sequence[Fraction] | None = None) -> list[Fraction]:
    """Return each action's expected cost, exactly, with the probabilities corrected and made to sum to 1."""
    p = [Fraction(float(value)) for value in row]
    if ratios is not None:
        p = [a * b for a, b in zip(p, ratios, strict=True)]
    p = [value / sum(p) for value in p]
    matrix = [[Fraction(float(cost)) for cost in line] for line in costs]
    return [sum((a * line[j] for a, line in zip(p, matrix, strict=True)), Fraction(0)) for j in range(len(matrix[0]))]


def cheapest(row: Sequence[float], costs: Any, ratios: Sequence[Fraction] | None = None) -> tuple[int, bool]:
    """Return the first cheapest action, and whether another cost is so close that rounding may decide."""
    values = expected_costs(row, costs, ratios)
    least = min(values)
    scale = max(abs(Fraction(float(cost))) for line in costs for cost in line) or Fraction(1)
    near = sum(value - least <= scale * Fraction(1, 10**12) for value in values) > 1
    return values.index(least), near


def in_floats(row: Sequence[float], costs: Any) -> int:
    """Return the first action of least cost, summed in the order of the classes."""
    totals = []
    for column in zip(*costs, strict=True):
        total = 0.0
        for p, cost in zip(row, column, strict=True):
            total += float(p) * float(cost)
        totals.append(total)
    return totals.index(min(totals))


def fractions_of(priors: Sequence[float]) -> list[Fraction]:
    return [Fraction(float(value)) for value in priors]


# What the tests draw ------------------------------------------------------------------------------------------------


@st.composite
def shares(draw: st.DrawFn, k: int, *, low: int = 0) -> list[float]:
    """Draw simple fractions as shares of k classes, with zeros unless `low` is positive."""
    parts = draw(st.lists(st.integers(low, 5), min_size=k, max_size=k).filter(any))
    return [part / sum(parts) for part in parts]


@st.composite
def problems(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """Draw probabilities, and costs of shape (K, A), with many ties."""
    k, actions, n = draw(st.integers(1, 9)), draw(st.integers(1, 5)), draw(st.integers(1, 6))
    rows = [draw(shares(k)) for _ in range(n)]
    cost = st.sampled_from([0.0, 1.0, 1.0, 2.0, -1.0, 0.1, 10.0, 1e6])
    costs = draw(st.lists(st.lists(cost, min_size=actions, max_size=actions), min_size=k, max_size=k))
    return np.array(rows), np.array(costs)


# Decisions against twins --------------------------------------------------------------------------------------------


@BOUNDED
@given(problems())
def test_decisions_are_those_of_fractions_but_for_ties(problem: Any) -> None:
    y_prob, costs = problem
    for row, seen in zip(y_prob, minimum_cost_predictions(y_prob, costs), strict=True):
        action, near = cheapest(row, costs)
        assert near or seen == action


@pytest.mark.slow
@BOUNDED
@given(problems())
def test_decisions_are_those_of_float_sums_bit_for_bit(problem: Any) -> None:
    y_prob, costs = problem
    assert minimum_cost_predictions(y_prob, costs).tolist() == [in_floats(row, costs) for row in y_prob]


@pytest.mark.parametrize("k", [2, 3, 4, 5, 8, 11, 40])
def test_many_rows_and_blocks(k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cost_sensitive, "ROWS_PER_BLOCK", 64)
    monkeypatch.setattr(cost_sensitive, "FEWEST_ROWS", 7)
    rng = np.random.default_rng(k)
    y_prob, costs = rng.dirichlet(np.ones(k), 700), rng.integers(5, 9, (k, k)) * (1.0 - np.eye(k))
    expected = [in_floats(row, costs) for row in y_prob]
    assert len(set(expected)) > 1
    for threads in (1, 3):
        with fastevals.num_threads(threads):
            assert minimum_cost_predictions(y_prob, costs).tolist() == expected


def test_a_row_is_decided_alike_wherever_it_stands() -> None:
    rng = np.random.default_rng(0)
    y_prob = rng.integers(1, 4, (1500, 7)) / 3.0
    y_prob /= y_prob.sum(axis=1, keepdims=True)
    costs = 1 - np.eye(7)
    order = rng.permutation(1500)
    together = minimum_cost_predictions(y_prob, costs)
    assert np.array_equal(minimum_cost_predictions(y_prob[order], costs), together[order])
    assert [minimum_cost_predictions(row[None], costs)[0] for row in y_prob[:200]] == together[:200].tolist()


def test_zero_one_costs_give_the_most_probable_class() -> None:
    y_prob = np.random.default_rng(1).dirichlet(np.ones(4), 500)
    assert np.array_equal(minimum_cost_predictions(y_prob, 1 - np.eye(4)), y_prob.argmax(axis=1))


def test_equal_costs_take_the_first_action() -> None:
    assert minimum_cost_predictions([0.5, 0.0, 1.0], [[0, 1], [1, 0]]).tolist() == [0, 0, 1]
    assert minimum_cost_predictions([0.3, 0.7], [[2, 2, 2], [2, 2, 2]]).tolist() == [0, 0]
    assert minimum_cost_predictions([0.3, 0.7], np.zeros((2, 2))).tolist() == [0, 0]
    assert minimum_cost_predictions([THIRDS], [[5, 1, 1]] * 3).tolist() == [1]


def test_cost_rows_are_true_classes() -> None:
    assert minimum_cost_predictions([0.2], [[0, 1], [10, 0]]).tolist() == [1]
    assert minimum_cost_predictions([0.2], [[0, 10], [1, 0]]).tolist() == [0]


def test_probabilities_of_the_positive_class_are_two_columns() -> None:
    p = np.random.default_rng(2).random(1000)
    costs = [[0, 3, 1], [7, 0, 1]]
    seen = minimum_cost_predictions(p, costs, labels=["no", "yes", "ask"])
    assert np.array_equal(
        seen, minimum_cost_predictions(np.column_stack((1 - p, p)), costs, labels=["no", "yes", "ask"])
    )
    assert set(seen.tolist()) == {"no", "yes", "ask"}


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (None, [0, 1]),
        (["b", "a"], ["b", "a"]),
        ([5, -1], [5, -1]),
        ([False, True], [False, True]),
        (np.array([2.0, 1.0]), [2.0, 1.0]),
    ],
)
def test_labels_name_the_actions(labels: Any, expected: list[Any]) -> None:
    seen = minimum_cost_predictions([0.1, 0.9], [[0, 1], [1, 0]], labels=labels)
    assert seen.tolist() == expected
    assert seen.flags.writeable


@pytest.mark.parametrize("factor", [1e-300, 1e300, 2.0**-1070])
def test_extreme_costs_neither_overflow_nor_vanish(factor: float) -> None:
    y_prob = np.random.default_rng(3).dirichlet(np.ones(3), 200)
    costs = np.array([[0, 4, 8], [16, 0, 2], [1, 32, 0]])
    expected = minimum_cost_predictions(y_prob, costs)
    assert np.array_equal(minimum_cost_predictions(y_prob, costs * factor), expected)


def test_the_largest_costs_add_up() -> None:
    top = np.finfo(float).max
    assert minimum_cost_predictions([THIRDS], [[top, top, 0]] * 3).tolist() == [2]


# Inputs -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.longdouble, ">f8", "float64"])
def test_types_and_layouts_give_the_same_decisions(dtype: Any) -> None:
    y_prob = np.random.default_rng(4).multinomial(16, [0.5, 0.3, 0.2], 300) / 16  # exact in each type
    costs = np.array([[0, 4, 8], [16, 0, 2], [1, 32, 0]])
    expected = minimum_cost_predictions(y_prob, costs)
    cast = y_prob.astype(dtype)
    frozen = cast.copy()
    frozen.flags.writeable = False
    for given_as in (cast, np.asfortranarray(cast), np.repeat(cast, 2, axis=0)[::2], frozen):
        assert np.array_equal(minimum_cost_predictions(given_as, costs), expected)
    assert np.array_equal(minimum_cost_predictions(pd.DataFrame(y_prob), costs), expected)
    assert np.array_equal(minimum_cost_predictions(y_prob.tolist(), costs), expected)


def test_whole_and_boolean_probabilities() -> None:
    assert minimum_cost_predictions([0, 1], [[0, 1], [1, 0]]).tolist() == [0, 1]
    assert minimum_cost_predictions(np.eye(2, dtype=bool), [[0, 1], [1, 0]]).tolist() == [0, 1]


def test_inputs_stay_as_they_are() -> None:
    y_prob, costs, labels = np.array([[0.2, 0.8]]), np.array([[0.0, 1.0], [1.0, 0.0]]), np.array(["a", "b"])
    before = [array.copy() for array in (y_prob, costs, labels)]
    minimum_cost_predictions(y_prob, costs, labels=labels, prior=[0.5, 0.5], fitted_prior=[0.1, 0.9])
    for now, then in zip((y_prob, costs, labels), before, strict=True):
        assert np.array_equal(now, then)


def test_softmax_in_float32_is_accepted() -> None:
    logits = np.random.default_rng(5).normal(size=(50, 1000)).astype(np.float32)
    y_prob = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    costs = (1 - np.eye(1000)).astype(float)
    assert np.array_equal(minimum_cost_predictions(y_prob, costs), y_prob.argmax(axis=1))


def test_memory_beyond_input_and_result_is_small() -> None:
    y_prob = np.full((500_000, 4), 0.25)
    minimum_cost_predictions(y_prob[:10], 1 - np.eye(4))  # compiles
    tracemalloc.start()
    result = minimum_cost_predictions(y_prob, 1 - np.eye(4))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < result.nbytes + 4e6 + 1e6 * fastevals.get_num_threads()


@pytest.mark.parametrize(
    ("y_prob", "message"),
    [
        ([[0.5, 0.4], [0.1, 0.9]], r"each row of y_prob must sum to 1, but row 0 sums to 0.9$"),
        ([[0.1, 0.9], [0.5, 0.500002]], r"each row of y_prob must sum to 1, but row 1 sums to 1.00000199"),
        ([[0.1, 0.9], [-0.5, 1.5]], r"y_prob must be in \[0, 1\], got -0.5 at row 1, column 0$"),
        ([[0.1, 0.9], [0.0, math.inf]], r"y_prob must be in \[0, 1\], got inf at row 1, column 1$"),
        ([[0.1, 0.9], [math.nan, 1], [0, math.nan]], "y_prob must not be NaN, but has 2 rows .*, the first at row 1$"),
        ([0.1, -0.1], r"y_prob must be in \[0, 1\], got -0.1 at row 1$"),
        ([0.1, 1.0000001], r"y_prob must be in \[0, 1\], got 1.0000001 at row 1$"),
        ([0.1, math.nan], "y_prob must not be NaN, but has 1 row with NaN, the first at row 1$"),
        ([], r"y_prob must have shape \(rows,\) or \(rows, classes\), none of them 0, got \(0,\)"),
        (np.zeros((2, 2, 2)), r"y_prob must have shape .*, got \(2, 2, 2\)"),
        (["a"], "y_prob must hold numbers, got dtype"),
        ([[0.2], [0.3]], r"cost_matrix must hold numbers of shape \(1, actions\)"),
    ],
)
def test_bad_probabilities(y_prob: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        minimum_cost_predictions(y_prob, [[0, 1], [1, 0]])


@pytest.mark.parametrize("value", [-1e-9, 2.0, math.nan])
@pytest.mark.parametrize("row", [0, 40_000, 199_999])
def test_a_bad_row_is_found_in_any_block(value: float, row: int) -> None:
    y_prob = np.full(200_000, 0.5)
    y_prob[row] = value
    with pytest.raises(ValueError, match=f"y_prob must .*at row {row}$"):
        minimum_cost_predictions(y_prob, [[0, 1], [1, 0]])


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ([[0, 1]], r"cost_matrix must hold numbers of shape \(2, actions\), got int64 of shape \(1, 2\)"),
        ([[], []], r"cost_matrix must hold numbers of shape \(2, actions\)"),
        ([0, 1], r"cost_matrix must hold numbers of shape \(2, actions\)"),
        ([["a", "b"], ["c", "d"]], r"cost_matrix must hold numbers of shape \(2, actions\)"),
        ([[0, math.nan], [1, 0]], "cost_matrix must be finite"),
        ([[0, math.inf], [1, 0]], "cost_matrix must be finite"),
    ],
)
def test_bad_costs(costs: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        minimum_cost_predictions([0.5], costs)


@pytest.mark.parametrize("labels", [["a"], ["a", "b", "c"], ["a", "a"]])
def test_bad_labels(labels: Any) -> None:
    with pytest.raises(ValueError, match="labels must"):
        minimum_cost_predictions([0.5], [[0, 1], [1, 0]], labels=labels)


# A shifted prior ----------------------------------------------------------------------------------------------------


@BOUNDED
@given(problems(), st.data())
def test_a_shifted_prior_corrects_the_probabilities(problem: Any, data: st.DataObject) -> None:
    y_prob, costs = problem
    k = y_prob.shape[1]
    prior, fitted = data.draw(shares(k)), data.draw(shares(k, low=1))
    ratios = [new / old for new, old in zip(fractions_of(prior), fractions_of(fitted), strict=True)]
    assume(all(any(p * r for p, r in zip(fractions_of(row), ratios, strict=True)) for row in y_prob))
    seen = minimum_cost_predictions(y_prob, costs, prior=prior, fitted_prior=fitted)
    for row, action in zip(y_prob, seen, strict=True):
        best, near = cheapest(row, costs, ratios)
        assert near or action == best


def test_the_same_prior_changes_nothing() -> None:
    y_prob = np.random.default_rng(6).multinomial(6, THIRDS, 200) / 6
    costs = 1 - np.eye(3)
    seen = minimum_cost_predictions(y_prob, costs, prior=THIRDS, fitted_prior=THIRDS)
    assert np.array_equal(seen, minimum_cost_predictions(y_prob, costs))


def test_bayes_rule_under_both_priors() -> None:
    """Posteriors under one prior, corrected to another, decide like posteriors under the other prior."""
    rng = np.random.default_rng(7)
    likelihood = rng.random((400, 3))
    prior, fitted = np.array([0.05, 0.15, 0.8]), np.array([0.6, 0.3, 0.1])
    under = [likelihood * p / (likelihood * p).sum(axis=1, keepdims=True) for p in (prior, fitted)]
    costs = np.array([[0, 4, 8], [16, 0, 2], [1, 32, 0]])
    expected = minimum_cost_predictions(under[0], costs)
    assert np.array_equal(minimum_cost_predictions(under[1], costs, prior=prior, fitted_prior=fitted), expected)
    assert not np.array_equal(minimum_cost_predictions(under[1], costs), expected)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prior": [0.5, 0.5]}, "prior and fitted_prior must be given together, got prior without fitted_prior"),
        ({"fitted_prior": [0.5, 0.5]}, "prior and fitted_prior must be given together, got fitted_prior without prior"),
        ({"prior": [0.5, 0.4], "fitted_prior": [0.5, 0.5]}, "prior must sum to 1, but its sum is 0.9"),
        ({"prior": [0.5, 0.5], "fitted_prior": [1.5, -0.5]}, "fitted_prior must not be negative, got -0.5"),
        ({"prior": [1.0], "fitted_prior": [0.5, 0.5]}, r"prior must hold numbers of shape \(2,\), got .* \(1,\)"),
        ({"prior": 0.5, "fitted_prior": 0.5}, r"prior must hold numbers of shape \(2,\)"),
        ({"prior": [math.nan, 1], "fitted_prior": [0.5, 0.5]}, "prior must be finite, but has 1 NaN"),
        ({"prior": [0.5, 0.5], "fitted_prior": [1, 0]}, "fitted_prior must be above zero .* class 1 it is 0.0"),
        ({"prior": [1, 0], "fitted_prior": [0.5, 0.5]}, "y_prob must not be 0 for all classes .* in row 1"),
    ],
)
def test_bad_priors(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        minimum_cost_predictions([0.5, 1.0], [[0, 1], [1, 0]], **options)


def test_a_class_that_neither_has_is_left_out() -> None:
    seen = minimum_cost_predictions([[0.4, 0.6, 0.0]], 1 - np.eye(3), prior=[0.9, 0.1, 0], fitted_prior=[0.5, 0.5, 0])
    assert seen.tolist() == [0]


# Thresholds ---------------------------------------------------------------------------------------------------------

COSTS = st.sampled_from([0.0, 5e-324, 1e-9, 0.1, 1.0, 3.0, 9.0, 1e9, 1.7e308])
PRIORS = st.sampled_from([0.0, 1e-9, 0.1, 0.25, 0.5, 0.9, 1.0])


@BOUNDED
@given(COSTS, COSTS, PRIORS, PRIORS.filter(lambda p: 0 < p < 1))
def test_the_threshold_is_where_both_decisions_cost_the_same(fp: float, fn: float, prior: float, fitted: float) -> None:
    """Solve for the corrected posterior p': positive if fp (1 - p') <= fn p'; its odds are p's times the shift."""
    assume(fp or fn)
    assert cost_threshold(cost_fp=fp, cost_fn=fn) == float(Fraction(fp) / (Fraction(fp) + Fraction(fn)))
    new, old = Fraction(prior), Fraction(fitted)
    a, b = Fraction(fp) * (1 - new) / (1 - old), Fraction(fn) * new / old  # costs per unit of 1 - p and of p
    assume(a + b)
    seen = cost_threshold(cost_fp=fp, cost_fn=fn, prior=prior, fitted_prior=fitted)
    assert seen == float(a / (a + b))


@BOUNDED
@given(COSTS, COSTS, st.one_of(st.none(), st.tuples(PRIORS, PRIORS.filter(lambda p: 0 < p < 1))))
def test_the_threshold_decides_as_the_costs_do(fp: float, fn: float, shift: tuple[float, float] | None) -> None:
    assume(fp or fn)
    scalar: dict[str, Any] = {}
    vector: dict[str, Any] = {}
    if shift is not None:
        assume(0 < shift[0] < 1)
        scalar = dict(zip(("prior", "fitted_prior"), shift, strict=True))
        vector = {name: [1 - p, p] for name, p in scalar.items()}
    threshold = cost_threshold(cost_fp=fp, cost_fn=fn, **scalar)
    p = np.linspace(0, 1, 41)
    p = p[np.abs(p - threshold) > 1e-9]
    seen = minimum_cost_predictions(p, [[0.0, fp], [fn, 0.0]], **vector)
    # Floats lose a cost of 5e-324 next to one of 1e9; both decisions are then practically free.
    lost = min(fp, fn) and min(fp, fn) < 1e-300 * max(fp, fn)
    assert lost or np.array_equal(seen, (p >= threshold).astype(int))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, 0.5),
        ({"cost_fp": 0}, 0.0),
        ({"cost_fn": 0}, 1.0),
        ({"cost_fp": 1, "cost_fn": 3}, 0.25),
        ({"cost_fp": 1.7e308, "cost_fn": 1.7e308}, 0.5),
        ({"prior": 0, "fitted_prior": 0.5}, 1.0),
        ({"prior": 1, "fitted_prior": 0.5}, 0.0),
        ({"prior": 0.3, "fitted_prior": 0.3}, 0.5),
        ({"prior": 0.1, "fitted_prior": 0.5, "cost_fn": 9}, 0.5),
        ({"cost_matrix": [[0, 1], [3, 0]]}, 0.25),
        ({"cost_matrix": [[-1, 0], [3, 0]]}, 0.25),
        ({"cost_matrix": [[0, 5], [1, -94]]}, 0.05),
        ({"cost_matrix": [[2, 2], [3, 0]]}, 0.0),
        ({"cost_matrix": [[0, 1], [3, 3]]}, 1.0),
        ({"cost_matrix": [[0, 1], [9, 0]], "prior": 0.25, "fitted_prior": 0.5}, 0.25),
    ],
)
def test_thresholds(options: dict[str, Any], expected: float) -> None:
    seen = cost_threshold(**options)
    assert type(seen) is float
    assert seen == pytest.approx(expected, rel=1e-15)


def test_the_threshold_of_a_cost_matrix_decides_as_it_does() -> None:
    rng = np.random.default_rng(8)
    p = rng.random(300)
    for _ in range(50):
        costs = rng.integers(-9, 9, (2, 2)).astype(float)
        costs[0, 1] += 20
        costs[1, 0] += 20
        expected = (p >= cost_threshold(cost_matrix=costs)).astype(int)
        assert np.array_equal(minimum_cost_predictions(p, costs), expected)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cost_fp": -1}, r"cost_fp must be in \[0, inf\), got -1"),
        ({"cost_fn": math.nan}, r"cost_fn must be in \[0, inf\), got nan"),
        ({"cost_fn": math.inf}, r"cost_fn must be in \[0, inf\), got inf"),
        ({"cost_fp": 0, "cost_fn": 0.0}, "cost_fp and cost_fn must not both be zero"),
        ({"prior": 0.5}, "prior and fitted_prior must be given together, got prior without fitted_prior"),
        ({"fitted_prior": 0.5}, "prior and fitted_prior must be given together, got fitted_prior without prior"),
        ({"prior": 1.1, "fitted_prior": 0.5}, r"prior must be in \[0, 1\], got 1.1"),
        ({"prior": [0.5, 0.5], "fitted_prior": 0.5}, "prior must be a number"),
        ({"prior": 0.5, "fitted_prior": 0}, r"fitted_prior must be in \(0, 1\), got 0"),
        ({"prior": 0.5, "fitted_prior": 1.0}, r"fitted_prior must be in \(0, 1\), got 1.0"),
        ({"cost_fp": 0, "prior": 0.0, "fitted_prior": 0.5}, "prior must be above zero for .* anything, got 0.0"),
        ({"cost_fn": 0, "prior": 1, "fitted_prior": 0.5}, "prior must be above zero for .* anything, got 1"),
        ({"cost_matrix": [[0, 1], [2, 0]], "cost_fn": 2}, "cost_matrix excludes cost_fp and cost_fn, got 1.0 and"),
        ({"cost_matrix": [[0, -1], [2, 0]]}, "class 0 costs -1 if predicted as 1 and 0 if predicted as 0"),
        ({"cost_matrix": [[0, 1], [2, 3]]}, "class 1 costs 2 if predicted as 0 and 3 if predicted as 1"),
        ({"cost_matrix": [[1, 1], [2, 2]]}, "cost_matrix must make a wrong prediction cost more"),
        ({"cost_matrix": np.zeros((3, 3))}, r"cost_matrix must hold numbers of shape \(2, 2\)"),
        ({"cost_matrix": [[0, math.nan], [1, 0]]}, "cost_matrix must be finite"),
    ],
)
def test_bad_thresholds(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        cost_threshold(**options)


# Costs under a prior ------------------------------------------------------------------------------------------------


def cost_under(matrix: Any, costs: Any, prior: Sequence[float]) -> Fraction | None:
    """Return prior times rate times cost, in fractions; None if a class in the prior has no rows."""
    total = Fraction(0)
    for row, prices, share in zip(twin.fractions(matrix), twin.fractions(costs), fractions_of(prior), strict=True):
        if share and not sum(row):
            return None
        total += sum((share * n / sum(row) * c for n, c in zip(row, prices, strict=True) if share), Fraction(0))
    return total


@BOUNDED
@given(st.data())
def test_cost_under_a_prior_against_fractions(data: st.DataObject) -> None:
    k = data.draw(st.integers(1, 4))
    counts = np.array(data.draw(st.lists(st.sampled_from([0, 0, 1, 3, 2**60 // 16]), min_size=k * k, max_size=k * k)))
    costs = np.array(data.draw(st.lists(st.sampled_from([-3, 0, 1, 0.1, 7]), min_size=k * k, max_size=k * k)))
    prior = data.draw(shares(k))
    counts, costs = counts.reshape(k, k), costs.reshape(k, k)
    expected = cost_under(counts.tolist(), costs.tolist(), prior)
    if expected is None:
        with pytest.warns(UndefinedMetricWarning, match="cost is undefined"):
            assert math.isnan(ConfusionMatrix(counts).cost(costs, prior=prior))
    else:
        assert ConfusionMatrix(counts).cost(costs, prior=prior) == pytest.approx(float(expected), rel=1e-13, abs=1e-14)


def test_cost_under_a_prior_is_the_cost_of_reweighted_rows() -> None:
    rng = np.random.default_rng(9)
    true, predicted = rng.integers(0, 3, 400), rng.integers(0, 3, 400)
    costs, prior = rng.integers(-2, 9, (3, 3)), np.array([0.7, 0.2, 0.1])
    weights = (prior / np.bincount(true))[true]
    reweighted = ConfusionMatrix.from_predictions(true, predicted, sample_weight=weights).cost(costs)
    matrix = ConfusionMatrix.from_predictions(true, predicted)
    assert matrix.cost(costs, prior=prior) == pytest.approx(reweighted, rel=1e-12)
    assert matrix.cost(costs, prior=np.bincount(true) / 400) == pytest.approx(matrix.cost(costs), rel=1e-12)
    assert matrix.cost(costs, prior=prior) != pytest.approx(matrix.cost(costs), rel=1e-3)


def test_cost_under_a_prior_is_the_expected_cost_of_a_ranking() -> None:
    rng = np.random.default_rng(10)
    y, s = rng.integers(0, 2, 200), rng.random(200)
    ranking = fastevals.Ranking(y, s)
    seen = ranking.confusion_at([0.2, 0.5]).cost([[0, 2], [7, 0]], prior=[0.9, 0.1])
    expected = [ranking.expected_cost(t, cost_fp=2, cost_fn=7, prior=0.1) for t in (0.2, 0.5)]
    np.testing.assert_allclose(seen, expected, rtol=1e-13)


def test_cost_under_a_prior_keeps_leading_axes_and_macro() -> None:
    stack = ConfusionMatrix(np.random.default_rng(11).integers(1, 50, (2, 3, 3, 3)))
    costs, prior = np.arange(9).reshape(3, 3), [0.5, 0.25, 0.25]
    values = stack.cost(costs, prior=prior)
    single = [[ConfusionMatrix(one).cost(costs, prior=prior) for one in row] for row in stack.counts]
    assert np.array_equal(values, single)
    np.testing.assert_allclose(stack.macro(1).cost(costs, prior=prior), values.mean(axis=1), rtol=1e-14)


def test_an_empty_class_of_prior_zero_costs_nothing() -> None:
    matrix = ConfusionMatrix([[3, 1], [0, 0]])
    assert matrix.cost([[0, 4], [9, 9]], prior=[1, 0]) == 1.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prior": [0.5, 0.6]}, "prior must sum to 1, but its sum is 1.1"),
        ({"prior": [1.5, -0.5]}, "prior must not be negative, got -0.5"),
        ({"prior": [1]}, r"prior must hold numbers of shape \(2,\), got int64 of shape \(1,\)"),
        ({"prior": [math.nan, 0.5]}, "prior must be finite"),
        ({"prior": [0.5, 0.5], "normalize": False}, "prior requires normalize=True, got normalize=False"),
    ],
)
def test_bad_prior_of_a_cost(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ConfusionMatrix([[1, 2], [3, 4]]).cost([[0, 1], [1, 0]], **options)


# Odd input ----------------------------------------------------------------------------------------------------------

ZERO_ONE = [[0, 1], [1, 0]]
HALVES = [0.5, 0.5]
TAKE_ARRAYS = {
    "y_prob": lambda v: minimum_cost_predictions(v, ZERO_ONE),
    "cost_matrix": lambda v: minimum_cost_predictions([0.5], v),
    "labels": lambda v: minimum_cost_predictions([0.5], ZERO_ONE, labels=v),
    "prior": lambda v: minimum_cost_predictions([0.5], ZERO_ONE, prior=v, fitted_prior=HALVES),
    "fitted_prior": lambda v: minimum_cost_predictions([0.5], ZERO_ONE, prior=HALVES, fitted_prior=v),
    "cost(prior)": lambda v: ConfusionMatrix([[1, 2], [3, 4]]).cost(ZERO_ONE, prior=v),
    "cost_threshold(cost_matrix)": lambda v: cost_threshold(cost_matrix=v),
}
TAKE_SCALARS = {
    "cost_fp": lambda v: cost_threshold(cost_fp=v),
    "cost_fn": lambda v: cost_threshold(cost_fn=v),
    "prior": lambda v: cost_threshold(prior=v, fitted_prior=0.5),
    "fitted_prior": lambda v: cost_threshold(prior=0.5, fitted_prior=v),
}


@pytest.mark.parametrize("entry", TAKE_ARRAYS)
def test_odd_arrays_work_or_raise_one_clear_line(entry: str) -> None:
    found = {name: complaint(TAKE_ARRAYS[entry], value) for name, value in ODD_ARRAYS.items()}
    assert {name: text for name, text in found.items() if text} == {}


@pytest.mark.parametrize("entry", TAKE_SCALARS)
def test_odd_scalars_work_or_raise_one_clear_line(entry: str) -> None:
    found = {name: complaint(TAKE_SCALARS[entry], value) for name, value in ODD_SCALARS.items()}
    assert {name: text for name, text in found.items() if text} == {}


@pytest.mark.parametrize("prior", [0, 1, 0.5])
def test_the_least_cost_at_a_prior_that_is_a_whole_number(prior):
    ranking = Ranking([0, 1, 0, 1, 1, 0, 1], [1, 1, 2, 2, 3, 3, 4])
    value, threshold = ranking.best_threshold("expected_cost", prior=prior, cost_fp=2, cost_fn=3)
    costs = {at: ranking.expected_cost(at, prior=prior, cost_fp=2, cost_fn=3) for at in (math.inf, 4, 3, 2, 1)}
    assert value == min(costs.values())
    assert threshold == max(at for at, cost in costs.items() if cost == value)


NAMES = ["ant", "bee", "cat"]
COSTS = np.array([[0, 1, 4], [2, 0, 1], [20, 5, 0]])
TABLE = pd.DataFrame(COSTS, index=NAMES, columns=NAMES)
OTHER = TABLE.loc[["cat", "ant", "bee"], ["bee", "cat", "ant"]]


def named_data(n: int = 200) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    return np.array(NAMES)[rng.integers(0, 3, n)], rng.dirichlet([1, 1, 1], n)


def test_the_cost_of_a_matrix_takes_a_frame_by_name() -> None:
    y, p = named_data()
    matrix = fastevals.ConfusionMatrix.from_predictions(y, np.array(NAMES)[p.argmax(axis=1)], labels=NAMES)
    expected = matrix.cost(COSTS)
    columns = OTHER.loc[NAMES]  # without an index, rows are in the order of the classes
    for each in (TABLE, OTHER, columns.reset_index(drop=True), pl.from_pandas(columns), pd.DataFrame(COSTS)):
        assert matrix.cost(each) == expected
        assert matrix.cost(each, prior=[0.2, 0.3, 0.5]) == matrix.cost(COSTS, prior=[0.2, 0.3, 0.5])
    turned = fastevals.ConfusionMatrix(matrix.counts[::-1, ::-1], labels=NAMES[::-1])
    assert turned.cost(TABLE) == expected
    for each, what in (
        (TABLE.rename(index={"ant": "emu"}), "index"),
        (TABLE.rename(columns={"ant": "emu"}), "columns"),
    ):
        with pytest.raises(ValueError, match=f"cost_matrix must name each class once in its {what}, got"):
            matrix.cost(each)
    with pytest.raises(ValueError, match=r"cost_matrix must hold numbers of shape \(3, 3\)"):
        matrix.cost(TABLE.assign(human=1))
    assert matrix.cost(TABLE.set_axis(["x", "y", "z"], axis=1)) == expected  # names of other things


def test_decisions_take_a_frame_of_costs_by_name() -> None:
    p = named_data()[1]
    expected = fastevals.minimum_cost_predictions(p, COSTS, labels=NAMES).tolist()
    for costs in (TABLE, OTHER, OTHER.loc[NAMES].reset_index(drop=True), pd.DataFrame(COSTS)):
        assert fastevals.minimum_cost_predictions(p, costs, labels=NAMES).tolist() == expected
    for names in (NAMES, [f"p_{each}" for each in NAMES]):
        frame = pd.DataFrame(p, columns=names)
        for data, costs in ((frame, OTHER), (frame[names[::-1]], OTHER), (frame[names[::-1]], TABLE)):
            assert fastevals.minimum_cost_predictions(data, costs, labels=NAMES).tolist() == expected
        numbers = fastevals.minimum_cost_predictions(frame, OTHER)  # of the columns of costs
        assert OTHER.columns[numbers].tolist() == expected
    more = OTHER.assign(human=0.3)
    with_human = fastevals.minimum_cost_predictions(
        p, np.column_stack([COSTS, np.full(3, 0.3)]), labels=[*NAMES, "human"]
    )
    assert fastevals.minimum_cost_predictions(p, more, labels=[*NAMES, "human"]).tolist() == with_human.tolist()
    with pytest.raises(ValueError, match="cost_matrix must name each class once in its columns"):
        fastevals.minimum_cost_predictions(p, OTHER.reset_index(drop=True), labels=["ant", "bee", "emu"])
    with pytest.raises(ValueError, match="cost_matrix must name each class once in its index"):
        fastevals.minimum_cost_predictions(pd.DataFrame(p, columns=["ant", "bee", "emu"]), OTHER)
    unnamed = pd.DataFrame(COSTS, index=["truly ant", "truly bee", "truly cat"])
    assert fastevals.minimum_cost_predictions(p, unnamed, labels=NAMES).tolist() == expected
