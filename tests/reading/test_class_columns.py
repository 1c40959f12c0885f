"""Columns of class probabilities: by pattern, by name, and in another order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fastevals.reading.class_columns import ClassColumns

NAMES = ["id", "p_dog", "p_ant", "p_", "y", "q_ant", "p_weight"]


def test_a_pattern_finds_the_columns_and_their_classes() -> None:
    found = ClassColumns.find(NAMES, "p_*", others=("p_weight", "y", None))
    assert found == (("p_dog", "p_ant"), ("dog", "ant"), True)
    assert found.title == "p_dog, p_ant"
    assert ClassColumns.find(["a.p", "b.p", "c.p"], "*.p").title == "a.p ... c.p"
    assert ClassColumns.find(["1", "0"], "*").labels == ("1", "0")


def test_classes_are_matched_by_name() -> None:
    found = ClassColumns.find(NAMES, "p_*", ["ant", "dog"], ("p_weight",))
    assert found == (("p_ant", "p_dog"), ("ant", "dog"), False)
    assert ClassColumns.find(["p_0", "p_1"], "p_*", [1, 0]) == (("p_1", "p_0"), (1, 0), False)
    assert ClassColumns.find(NAMES, {"a": "q_ant", "b": "p_dog"}) == (("q_ant", "p_dog"), ("a", "b"), False)
    assert ClassColumns.find(NAMES, ["q_ant", "p_dog"], "ab") == (("q_ant", "p_dog"), ("a", "b"), False)


@pytest.mark.parametrize(
    ("true", "labels"),
    [
        (np.array(["0", "x"]), ["0", "1"]),
        (np.array([5, 1]), [0, 1]),
        (np.array([0.0, 1.0]), [0, 1]),
        (np.array([True]), [False, True]),
    ],
)
def test_names_are_read_as_the_true_classes(true: Any, labels: list[Any]) -> None:
    found = ClassColumns.find(["p_0", "p_1"], "p_*").labels_for("y", true)
    assert found == labels
    assert [*map(type, found)] == [*map(type, labels)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("p*_*",), r"one \* in a pattern"),
        (("r_*",), "no column matches 'r_\\*'; columns are"),
        (("q_*",), "two or more different columns, got 'q_ant'"),
        (("p_*", ["ant", "dog", "elk"]), "classes has 'elk', but no column is named 'p_elk'"),
        (("p_*", ["ant", "dog"]), "column 'p_weight' is for class 'weight', which classes lacks"),
        ((["p_ant", "p_dog"],), "class of each of 2 columns, got none"),
        ((["p_ant", "p_dog"], ["ant"]), "class of each of 2 columns, got 1"),
        ((["p_ant", "p_ant"], "ab"), "two or more different columns"),
        (({"a": "p_ant", "b": "p_dog"}, "ab"), "not allowed with a mapping"),
    ],
)
def test_other_columns_are_refused(arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ClassColumns.find(NAMES, *arguments)


def test_classes_that_are_no_numbers_are_refused_for_numbers() -> None:
    with pytest.raises(ValueError, match=r"column 'y' must have the classes 'dog', 'ant', .* got 3"):
        ClassColumns.find(NAMES, "p_*", others=("p_weight",)).labels_for("y", np.array([3]))
