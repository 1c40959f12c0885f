"""Cautions for few rows, clusters or rows of a class: in differences of models, and in what is decided by them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import fastevals
from fastevals import (
    bootstrap,
    bootstrap_unpaired,
    class_costs,
    compare_predictions,
    compare_rankings,
    metric,
    row_costs,
)

FEW: dict[str, Any] = {"n_resamples": 99, "rng": 0}
ROWS = "there are only {} rows, and with fewer than 50, intervals are too narrow and p-values too small: use more rows"
OF_A_CLASS = "one class has only {} rows, and with fewer than 50, such intervals cover the true value too rarely"
QUIET = pytest.mark.filterwarnings("ignore::fastevals.UndefinedMetricWarning")


def classes(*sizes: int, seed: int = 0) -> tuple[Any, dict[str, Any]]:
    rng, y = np.random.default_rng(seed), np.repeat(np.arange(len(sizes)), sizes)
    return y, {name: rng.dirichlet(np.ones(len(sizes)), y.size) for name in "ab"}


def caution(found: Any, name: str) -> str:
    (difference,) = found[name].differences
    return str(difference.caution)


@QUIET
def test_one_row_decides_nothing_without_a_caution() -> None:
    one = "there is only 1 row, and with fewer than 50"
    y, models = classes(1, 0, 0)
    costs = class_costs(y, models, labels=[0, 1, 2], **FEW)
    for each in (costs["a"].gain, costs["a"].gain_over_constant, *costs.differences):
        assert each is not None
        assert each.caution.startswith(one)
    assert " ".join(costs.to_text().split()).count(one) == 1
    labels = compare_predictions([0], {"a": [0], "b": [1]}, **FEW)
    assert caution(labels, "accuracy").startswith(one)
    assert one in " ".join(str(labels).split())
    assert caution(compare_predictions([1.0], {"a": [0.0], "b": [1]}, metrics="r2", **FEW), "r2").startswith(one)


@QUIET
@pytest.mark.parametrize("n", [2, 49, 50])
def test_rows_of_all_classes(n: int) -> None:
    y, models = classes(n - n // 2, n // 2, 0)
    found = compare_rankings(y, models, metrics=["log_loss", "top_k_accuracy"], labels=[0, 1, 2], **FEW)
    expected = ROWS.format(n) if n < 50 else ""
    assert caution(found, "log_loss") == caution(found, "top_k_accuracy") == expected
    two = compare_rankings(y, {name: p[:, 1] for name, p in models.items()}, metrics="brier_score", **FEW)
    assert caution(two, "brier_score") == expected
    assert found["log_loss"].differences[0].to_dict()["caution"] == expected


@QUIET
def test_rows_of_a_class_matter_for_averages_over_classes_only() -> None:
    asked = ["log_loss", "accuracy", "roc_auc", "hand_till", "f1", "top_label_calibration_error"]
    y, models = classes(80, 70, 10)
    found = compare_rankings(y, models, metrics=asked, **FEW)
    for name in asked:
        assert caution(found, name).startswith(OF_A_CLASS.format(10)) == (name in ("roc_auc", "hand_till", "f1")), name
    assert ("! " + OF_A_CLASS.format(10)) in " ".join(str(found).split())
    two = compare_rankings(
        y == 2, {name: p[:, 2] for name, p in models.items()}, metrics=["roc_auc", "log_loss"], **FEW
    )
    assert caution(two, "roc_auc").startswith(OF_A_CLASS.format(10))
    assert caution(two, "log_loss") == ""
    enough = compare_rankings(*classes(80, 70, 50), metrics=asked, **FEW)
    assert not any(caution(enough, name) for name in asked)


@QUIET
def test_clusters_count_not_their_rows() -> None:
    y, models = classes(60, 60, 60)
    found = compare_rankings(y, models, metrics="log_loss", groups=np.arange(180) // 6, **FEW)
    assert caution(found, "log_loss").startswith("there are only 30 clusters")
    assert caution(found, "log_loss").endswith("use more clusters")
    costs = class_costs(y, models, groups=np.arange(180) // 6, **FEW)
    assert costs.differences[0].caution == caution(found, "log_loss")


@QUIET
def test_maxima_of_a_rare_class_have_their_caution() -> None:
    y, models = classes(80, 70, 10)
    asked = ["ks_statistic", "expected_calibration_error", "top_label_calibration_error", "roc_auc"]
    found = bootstrap((y, models["a"]), asked, **FEW)
    has = [OF_A_CLASS.format(10) in found[name].caution for name in asked]
    assert has == [True, True, False, False]
    unpaired = bootstrap_unpaired((y, models["a"]), (y, models["b"]), "ks_statistic", **FEW)["ks_statistic"]
    assert OF_A_CLASS.format(10) in unpaired.caution
    rows_may_have_many = fastevals.ClassRankings(np.eye(3, dtype=int)[y], models["a"])
    assert OF_A_CLASS.format(10) in bootstrap(rows_may_have_many, "ks_statistic", **FEW)["ks_statistic"].caution


@QUIET
def test_gates_of_classes() -> None:
    y, models = classes(80, 70, 10)
    frame = pd.DataFrame({"y": y, **{f"{name}_{k}": p[:, k] for name, p in models.items() for k in range(3)}})
    rules = ["log_loss <= 9", "hand_till >= 0.1", "roc_auc not worse than b by 0.9", "accuracy >= 0.01"]
    found = fastevals.gate(frame, rules, label="y", probabilities=["a_*", "b_*"], reference="b", n_resamples=999)
    cautions = {rule["rule"]: rule["judged"][0]["caution"] for rule in found.to_dict()["rules"]}
    assert [OF_A_CLASS.format(10) in (each or "") for each in cautions.values()] == [False, True, True, False]
    assert ("hand_till: " + OF_A_CLASS.format(10)) in " ".join(found.to_text().split())


@QUIET
def test_costs_of_rows() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(100) < 20
    scores = {"a": rng.random(100), "b": rng.random(100)}
    found = row_costs(y, scores, cost_fp=1.0, cost_fn=rng.random(100), **FEW)
    differences = [each for of_rule in found.differences.values() for each in of_rule]
    assert differences
    assert all(each.caution.startswith(OF_A_CLASS.format(20)) for each in differences)


def test_functions_and_chosen_thresholds_depend_on_classes() -> None:
    y, models = classes(80, 70, 10)
    one = {name: p[:, 2] for name, p in models.items()}
    asked = {"auc": lambda counts: counts.tps[-1] / counts.fps[-1], "best": metric("accuracy", best="f1")}
    of_functions = compare_rankings(y == 2, one, metrics=asked, **FEW)
    assert caution(of_functions, "auc").startswith(OF_A_CLASS.format(10))
    assert caution(of_functions, "best").startswith(OF_A_CLASS.format(10))
    fixed = compare_rankings(y == 2, one, metrics=metric("accuracy", threshold=0.5), **FEW)
    assert caution(fixed, "accuracy(threshold=0.5)") == ""
