"""Columns are matched with classes by one set of rules, whichever call reads them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastevals
from fastevals._validation.class_order import class_order, order_of_columns
from fastevals.scale import parquet

ABC = ["a", "b", "c"]
MESSAGE = "must have columns named by the labels, or by none of them; its columns are"
# Names of columns, labels, whether the user gave the labels in the order of the columns, and the order: None if columns
# are refused.
RULES: list[tuple[list[Any], list[Any], bool, Any]] = [
    (["a", "b", "c"], ABC, False, [0, 1, 2]),
    (["c", "a", "b"], ABC, False, [1, 2, 0]),
    (["c", "a", "b"], ABC, True, [1, 2, 0]),
    (["p_c", "p_a", "p_b"], ABC, False, [1, 2, 0]),
    (["p(c)", "p(a)", "p(b)"], ABC, True, [1, 2, 0]),
    (["c.p", "a.p", "b.p"], ABC, False, [1, 2, 0]),
    (["p_ab", "p_a"], ["a", "ab"], False, [1, 0]),
    (["p_bab", "p_bb"], ["b", "ba"], False, [1, 0]),  # "b" is a suffix
    (["aa", "a"], ["a", "aa"], False, [1, 0]),
    (["2", "10", "1"], [1, 2, 10], False, [2, 0, 1]),
    ([2, 10, 1], [1, 2, 10], False, [2, 0, 1]),
    ([2.0, 10.0, 1.0], [1, 2, 10], False, [2, 0, 1]),
    (["2", "10", "1"], [1.0, 2.0, 10.0], False, [2, 0, 1]),
    (["p_2.0", "p_10.0", "p_1.0"], [1, 2, 10], False, [2, 0, 1]),
    (["p_2.0", "p_10.0", "p_1.0"], [1.0, 2.0, 10.0], False, [2, 0, 1]),
    (["p-1", "p1", "p0"], [-1, 0, 1], False, [0, 2, 1]),
    (["p_10", "p_12", "p_11"], [10, 11, 12], False, [0, 2, 1]),
    (["p_10", "p_12", "p_11"], [0, 1, 2], False, None),  # no prefix cuts a number
    (["True", "False"], [False, True], False, [1, 0]),
    (["p_true", "p_false"], [False, True], False, [1, 0]),
    (["p_1", "p_0"], [False, True], False, [1, 0]),
    ([0, 1, 2], [0, 1, 2], False, [0, 1, 2]),
    ([0, 1, 2], [1, 2, 0], True, [0, 1, 2]),
    (["0", "1", "2"], ["x", "y", "z"], False, [0, 1, 2]),
    (["column_0", "column_1", "column_2"], [0, 2, 1], True, [0, 1, 2]),
    (["x", "z", "y"], ABC, False, [0, 1, 2]),
    (["x", "z", "y"], ABC, True, [0, 1, 2]),
    (["a", "b", "d"], ABC, True, [0, 1, 2]),
    (["a", "b", "d"], ABC, False, None),
    (["b", "a", "d"], ABC, True, None),
    (["a", "b", "b"], ABC, False, None),
    (["p_a", "p_b", "p_d"], ABC, False, None),
    (["p_b", "p_a", "p_d"], ABC, True, None),
    (["p(ant)", "p(arc)", "p(ape)"], ["ant", "arc", "bee"], False, None),
    (["p_1", "p_2", "p_3"], [0, 1, 2], False, None),
    (["1.0", "2.0", "3.0"], [0, 1, 2], False, None),
    (["P_C", "P_A", "P_B"], ABC, False, [1, 2, 0]),  # another case
    (["C", "A", "b"], ABC, True, [1, 2, 0]),
    (["c", "a", "b"], ["A", "B", "C"], False, [1, 2, 0]),
    (["TRUE", "FALSE"], [False, True], False, [1, 0]),
    (["b", "a", "B"], ["a", "b", "B"], False, [1, 0, 2]),
    (["A", "B", "D"], ABC, False, None),
    (["B", "A", "D"], ABC, True, None),
]


@pytest.mark.parametrize(("names", "labels", "are_given", "expected"), RULES)
def test_rules(names: list[Any], labels: list[Any], are_given: bool, expected: list[int] | None) -> None:
    if expected is not None:
        assert order_of_columns("p", names, labels, are_given=are_given) == expected
        return
    with pytest.raises(ValueError, match=MESSAGE):
        order_of_columns("p", names, labels, are_given=are_given)


@given(
    st.lists(st.text("ab1_", min_size=1, max_size=3), min_size=2, max_size=5, unique=True),
    st.text("ab_(", max_size=2),
    st.text("ab_)", max_size=2),
    st.randoms(use_true_random=False),
)
def test_labels_between_a_prefix_and_a_suffix_are_found(labels: list[str], before: str, after: str, rng: Any) -> None:
    order = rng.sample(range(len(labels)), len(labels))
    names = [f"{before}{labels[k]}{after}" for k in order]
    assert class_order(names, labels) == [order.index(k) for k in range(len(labels))]


# Calls that match a frame's columns with labels ----------------------------------------------------------------------

Y = np.array(ABC * 4)
P = np.random.default_rng(0).dirichlet([1, 1, 1], Y.size)  # columns in the order of ABC
MOVED = [2, 0, 1]


def in_a_summary(names: list[str], probabilities: Any) -> float:
    columns = {"y": Y, **dict(zip(names, P[:, MOVED].T, strict=True))}
    data = pa.table(columns)
    summary = parquet.class_scores_summary(data, label="y", probabilities=probabilities, classes=ABC)
    return float(summary.metric("log_loss"))


def in_a_report(names: list[str], **options: Any) -> float:
    found = fastevals.report(
        {"y": Y}, label="y", probabilities={"m": pd.DataFrame(P[:, MOVED], columns=names)}, n_resamples=0, **options
    )
    return float(found.blocks[0].models[0].metrics["log_loss"])


@pytest.mark.parametrize("name", ["{}", "p_{}", "p({})"])
def test_every_call_has_the_same_order(name: str) -> None:
    names = [name.format(ABC[k]) for k in MOVED]
    expected = fastevals.ClassRankings(Y, P).log_loss()
    frame = pd.DataFrame(P[:, MOVED], columns=names)
    assert fastevals.ClassRankings(Y, frame).log_loss() == expected
    assert fastevals.bootstrap((Y, frame), "log_loss", n_resamples=9)["log_loss"].value == pytest.approx(expected)
    for found in (in_a_report(names), in_a_report(names, classes=ABC)):
        assert found == pytest.approx(expected)
    for given_names in (names, name.format("*")):
        assert in_a_summary(names, given_names) == pytest.approx(expected)


def test_no_call_takes_columns_of_other_classes_by_place() -> None:
    names = ["b", "a", "d"]
    frame = pd.DataFrame(P, columns=names)
    with pytest.raises(ValueError, match=MESSAGE):
        fastevals.ClassRankings(Y, frame)
    with pytest.raises(ValueError, match=MESSAGE):
        in_a_summary(names, names)
    with pytest.raises(ValueError, match=r"m.* has no column of class 'c'; its classes are 'b', 'a', 'd'"):
        in_a_report(names, classes=ABC)


@pytest.mark.parametrize("names", [[0, 1, 2], ["0", "1", "2"], ["column_0", "column_1", "column_2"]])
def test_default_names_in_a_report_follow_the_given_classes(names: list[Any]) -> None:
    y = np.append([0, 1, 2], np.random.default_rng(1).integers(0, 3, 57))
    p = 0.8 * np.eye(3)[y] + 0.1
    p /= p.sum(axis=1, keepdims=True)
    given = pd.DataFrame(p[:, [1, 2, 0]], columns=names)
    found = fastevals.report({"y": y}, label="y", probabilities={"m": given}, classes=[1, 2, 0], n_resamples=0)
    assert found.to_dict()["blocks"][0]["models"][0]["metrics"]["accuracy"] == 1


def test_a_pattern_is_no_array() -> None:
    with pytest.raises(ValueError, match=r"must map a model to its array, got 'p_\*' for 'p'; patterns of columns go"):
        fastevals.report({"y": [0, 1], "p_0": [1, 0], "p_1": [0, 1]}, label="y", probabilities={"p": "p_*"})
