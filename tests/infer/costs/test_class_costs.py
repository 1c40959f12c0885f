"""Costs of decisions among several classes."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastevals import ClassCosts, class_costs, minimum_cost_predictions, num_threads
from fastevals.infer.comparison import Difference
from fastevals.infer.costs.class_decisions import _compared
from fastevals.results import Interval
from tests.reference import class_decisions as reference
from tests.strategies import BOUNDED

COSTS = [[0.0, 1.0, 4.0], [2.0, 0.0, 1.0], [9.0, 3.0, 0.0]]
FEW = {"n_resamples": 99, "rng": 0}


def data(n: int, k: int = 3, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return labels and calibrated probabilities."""
    rng = np.random.default_rng(seed)
    p = np.exp(rng.normal(size=(n, k)))
    p /= p.sum(axis=1, keepdims=True)
    return (p.cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1), p


@BOUNDED
@given(st.integers(0, 10**6), st.booleans())
def test_costs_are_those_of_the_definition(seed: int, weighted: bool) -> None:
    rng = np.random.default_rng(seed)
    y, p = data(int(rng.integers(3, 15)), 3, seed)
    p = np.round(p * 4) / 4  # ties
    p[:, 0] += 1 - p.sum(axis=1)
    p = np.clip(p, 0, 1)
    p /= p.sum(axis=1, keepdims=True)
    y[:3] = 0, 1, 2
    costs = rng.integers(-2, 5, (3, 4)).astype(float)
    weights = rng.integers(0, 4, y.size).astype(float) if weighted else np.ones(y.size)
    weights[:3] = 1
    found = class_costs(y, p, costs, sample_weight=weights if weighted else None, n_resamples=0)
    kept = weights > 0
    actions = reference.least_cost_actions(p[kept], costs)
    each = found["y_prob"]
    assert each.decisions.tolist() == [[0, 1, 2, "abstain"][a] for a in actions]
    rows = y[kept].tolist(), actions, costs, weights[kept].tolist()
    assert each.least_cost.mean.value == pytest.approx(reference.mean_cost(*rows), rel=1e-12, abs=1e-14)
    top = [int(np.argmax(row)) for row in p[kept]]
    assert each.most_probable.mean.value == pytest.approx(
        reference.mean_cost(y[kept].tolist(), top, costs, weights[kept].tolist()), rel=1e-12, abs=1e-14
    )
    constants = [
        reference.mean_cost(y[kept].tolist(), [a] * len(actions), costs, weights[kept].tolist()) for a in range(4)
    ]
    assert [*found.constants.values()] == pytest.approx(constants, rel=1e-12, abs=1e-14)
    assert found.best_constant.mean.value == pytest.approx(min(constants), rel=1e-12, abs=1e-14)
    for k in range(3):
        of = [i for i, code in enumerate(y[kept].tolist()) if code == k]
        expected = reference.mean_cost([k] * len(of), [actions[i] for i in of], costs, weights[kept][of].tolist())
        assert each.least_cost.by_class.value[k] == pytest.approx(expected, rel=1e-12, abs=1e-14)


def test_decisions_are_those_of_minimum_cost_predictions() -> None:
    y, p = data(500)
    found = class_costs(y, p, COSTS, n_resamples=0)
    np.testing.assert_array_equal(found["y_prob"].decisions, minimum_cost_predictions(p, COSTS))


def test_chows_rule() -> None:
    """Abstain where the highest probability is below 1 - cost, Chow (1970)."""
    y, p = data(400)
    found = class_costs(y, p, abstain_cost=0.4, n_resamples=0)
    each = found["y_prob"]
    abstained = np.array([a == "abstain" for a in each.decisions])
    np.testing.assert_array_equal(abstained, p.max(axis=1) < 0.6)
    errors = (p.argmax(axis=1) != y) & ~abstained
    assert each.least_cost.mean.value == pytest.approx((errors.sum() + 0.4 * abstained.sum()) / 400)
    assert each.least_cost.shares[-1] == abstained.mean()
    assert found.actions == (0, 1, 2, "abstain")
    without = class_costs(y, p, n_resamples=0)["y_prob"]
    assert without.least_cost.mean.value == np.mean(p.argmax(axis=1) != y)


def test_by_hand() -> None:
    """Rows cost 0, 0, 1 (b decided as c) and 0 by least expected cost."""
    p = [[0.8, 0.2, 0.0], [0.5, 0.4, 0.1], [0.1, 0.7, 0.2], [0.2, 0.4, 0.4]]
    found = class_costs(["a", "a", "b", "c"], p, [[0, 1, 1], [1, 0, 1], [5, 5, 0]], **FEW)
    each = found["y_prob"]
    assert each.decisions.tolist() == ["a", "a", "c", "c"]
    assert each.least_cost.mean.value == 0.25
    assert each.least_cost.by_class.value.tolist() == [0, 1, 0]
    assert each.most_probable.mean.value == 1.25  # the last row is decided as b
    assert found.constants == {"a": 1.5, "b": 1.75, "c": 0.75}
    assert found.best_action == "c"
    assert each.gain is not None
    assert each.gain.value == -1.0
    assert each.gain_over_constant is not None
    assert each.gain_over_constant.value == -0.5


def test_weights_are_copies_up_to_intervals() -> None:
    y, p = data(60)
    copies = np.arange(60) % 3
    y[:3] = 0, 1, 2
    weighted = class_costs(y, p, COSTS, sample_weight=copies, n_resamples=0)["y_prob"]
    repeated = class_costs(np.repeat(y, copies), np.repeat(p, copies, axis=0), COSTS, n_resamples=0)["y_prob"]
    assert weighted.least_cost.mean.value == pytest.approx(repeated.least_cost.mean.value, rel=1e-13)
    assert weighted.least_cost.expected == pytest.approx(repeated.least_cost.expected, rel=1e-13)
    np.testing.assert_allclose(weighted.least_cost.shares, repeated.least_cost.shares, rtol=1e-13)


def test_clusters_widen_intervals() -> None:
    y, p = data(200)
    twice = np.repeat(y, 4), np.repeat(p, 4, axis=0)
    rows, clusters = (class_costs(*twice, COSTS, groups=g, **FEW)["y_prob"] for g in (None, np.arange(800) // 4))
    once = class_costs(y, p, COSTS, **FEW)["y_prob"]
    assert clusters.least_cost.mean.standard_error > 1.8 * rows.least_cost.mean.standard_error
    assert clusters.least_cost.mean.standard_error == pytest.approx(once.least_cost.mean.standard_error, rel=0.01)
    assert clusters.gain.standard_error > 1.6 * rows.gain.standard_error


def test_models_are_compared_and_the_seed_decides() -> None:
    y, p = data(300)
    rng = np.random.default_rng(1)
    q = rng.dirichlet(np.ones(3), 300)
    found = class_costs(y, {"p": p, "q": q}, COSTS, reference="q", **FEW)
    with num_threads(1):
        again = class_costs(y, {"p": p, "q": q}, COSTS, reference="q", **FEW)
    assert found.to_json() == again.to_json()
    (difference,) = found.differences
    assert (difference.model, difference.reference) == ("p", "q")
    expected = found["p"].least_cost.mean.value - found["q"].least_cost.mean.value
    assert difference.value == pytest.approx(expected, rel=1e-12)
    assert difference.pvalue == 0.01
    assert "less than q's decisions" in found.conclusion


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ">f8"])
def test_dtypes_strides_and_read_only_arrays(dtype: str) -> None:
    y, p = data(40)
    p = (np.round(p * 8) / 8).clip(0, 1)
    p[:, 0] = 1 - p[:, 1:].sum(axis=1)
    y, p = y[(p >= 0).all(axis=1)], p[(p >= 0).all(axis=1)]
    y[:3] = 0, 1, 2
    expected = class_costs(y, p, COSTS, **FEW).to_json()
    wide = np.zeros((len(p), 6), dtype=dtype)
    wide[:, ::2] = p
    strided = wide[:, ::2]
    strided.flags.writeable = False
    assert class_costs(y, strided, COSTS, **FEW).to_json() == expected
    assert class_costs(y, np.asfortranarray(p), COSTS, **FEW).to_json() == expected


def test_a_class_without_rows_has_no_costs_of_its_own() -> None:
    _, p = data(20)
    found = class_costs([0, 2] * 10, p, COSTS, labels=[0, 1, 2], **FEW)
    assert np.isnan(found["y_prob"].least_cost.by_class.value).tolist() == [False, True, False]
    assert math.isfinite(found["y_prob"].least_cost.mean.confidence_interval.low)


def test_an_interval_has_a_width_without_errors() -> None:
    y = np.arange(30) % 3
    p = np.eye(3)[y]
    low, high = class_costs(y, p, **FEW)["y_prob"].least_cost.mean.confidence_interval
    assert low == 0.0
    assert 0.01 < high < 0.3


def test_costs_of_a_frame_are_matched_by_name() -> None:
    y, p = data(60)
    names, order = np.array(["ant", "bee", "cat"]), [2, 0, 1]
    table = pd.DataFrame(COSTS, index=names, columns=names)
    expected = class_costs(names[y], p, COSTS, **FEW).to_json()
    other = table.iloc[order[::-1], order]
    for each in (table, other, table.reset_index(drop=True)[["cat", "bee", "ant"]], pd.DataFrame(COSTS)):
        assert class_costs(names[y], p, each, **FEW).to_json() == expected
    columns = {names[k]: np.array(COSTS)[:, k] for k in order}
    for each in (pl.DataFrame(columns), pa.table(columns)):
        assert class_costs(names[y], p, each, **FEW).to_json() == expected
    more = class_costs(names[y], p, other.assign(human=0.5), abstain_cost=0.7, **FEW)
    assert more.actions == (*names, "human", "abstain")
    numbers = pd.DataFrame(COSTS, index=[5.0, 3.0, 4.0], columns=["5", "3", "4"])
    by_place = class_costs(y + 3, p, numbers.to_numpy()[np.ix_([1, 2, 0], [1, 2, 0])], **FEW)
    assert class_costs(y + 3, p, numbers, **FEW).to_json() == by_place.to_json()
    for each, what in ((other.rename(index={"ant": "emu"}), "index"), (other.drop(columns="bee"), "columns")):
        with pytest.raises(ValueError, match=f"cost_matrix must name each class once in its {what}, got 'cat'|'bee'"):
            class_costs(names[y], p, each)


def test_the_words_and_their_intervals_have_one_direction() -> None:
    words = Difference("a", "b", -2.0, Interval(-3.0, -1.0), 0.5, 0.01, 0.01)
    assert _compared(words, "b", "95 %") == "That is 2 less than b (95 % 1 to 3; p = 0.0100)."
    assert _compared(words, "a", "95 %", -1) == "That is 2 more than a (95 % 1 to 3; p = 0.0100)."
    words = replace(words, confidence_interval=Interval(-5.0, 1.0), pvalue=0.2)
    assert _compared(words, "b", "95 %") == "No significant difference from b (-2, 95 % -5 to 1; p = 0.2000)."
    assert _compared(words, "a", "95 %", -1) == "No significant difference from a (2, 95 % -1 to 5; p = 0.2000)."


BAD = {
    "a row that does not add up": (
        lambda y, p: class_costs(y, p * 0.9, COSTS), r"y_prob must have rows that add up to 1, got the sum 0\.[89]"
    ),
    "negative": (lambda y, p: class_costs(y, p - 0.5, COSTS), r"y_prob must hold probabilities, in \[0, 1\]"),
    "NaN": (lambda y, p: class_costs(y, p * np.nan, COSTS), r"y_prob\[:, 0\] .*NaN"),
    "named": (lambda y, p: class_costs(y, {"m": p * 0.9}, COSTS), r"y_prob\['m'\] must have rows"),
    "no models": (lambda y, p: class_costs(y, {}, COSTS), "y_prob is empty"),
    "few columns": (lambda y, p: class_costs(y, p, [[0, 1], [1, 0], [1, 1]]), "must have a column for each of 3"),
    "rows of costs": (lambda y, p: class_costs(y, p, [[0, 1, 1]]), r"cost_matrix must hold numbers of shape \(3, "),
    "infinite cost": (lambda y, p: class_costs(y, p, np.full((3, 3), np.inf)), "cost_matrix must be finite"),
    "no names": (lambda y, p: class_costs(y, p, np.ones((3, 5))), "actions must name the 2 columns"),
    "too many names": (lambda y, p: class_costs(y, p, COSTS, actions=["x"]), "actions must name 0 classes, got 1"),
    "abstain": (lambda y, p: class_costs(y, p, abstain_cost=np.inf), "abstain_cost must be in"),
    "indicator": (lambda y, p: class_costs(np.eye(3)[y], p, COSTS), "y_true must be 1-D, one label per row"),
    "groups": (lambda y, p: class_costs(y, p, groups=[1, 2]), "groups has 2"),
    "reference": (lambda y, p: class_costs(y, {"a": p, "b": p}, reference="c"), "reference"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_said(name: str) -> None:
    call, said = BAD[name]
    with pytest.raises(ValueError, match=said):
        call(*data(12))


def test_forms() -> None:
    y, p = data(50)
    found = class_costs(y, {"a": p, "b": p[:, [1, 0, 2]]}, COSTS, abstain_cost=1.0, **FEW)
    assert isinstance(found, ClassCosts)
    assert list(found) == ["a", "b"]
    assert len(found) == 2
    assert "least expected cost" in found.to_text()
    assert "<table" in found.to_html()
    assert found.to_frame("pandas").shape[0] == 5
    assert len(found["a"].to_frame("pandas")) == 2
    assert len(found["a"].least_cost.to_frame("pandas")) == 1
    assert "RuleCost('least expected cost'" in repr(found["a"])
    assert class_costs(y, p, n_resamples=0).differences == ()
