"""Reports on costs that differ by row: thresholds, totals, words, and all forms of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import fastevals
from fastevals import row_costs
from fastevals.show.cli import main

RNG = np.random.default_rng(5)
Y = RNG.random(400) < 0.3
DATA = pd.DataFrame(
    {
        "y": Y.astype(int),
        "good": np.round(1 / (1 + np.exp(1 - 2.5 * Y - RNG.normal(size=400))), 3),
        "poor": np.round(1 / (1 + np.exp(1 - 0.5 * Y - RNG.normal(size=400))), 3),
        "amount": np.round(RNG.lognormal(3, 0.5, 400), 2),
        "fee": RNG.integers(2, 6, 400),
        "day": np.arange(400) % 2,
        "customer": np.arange(400) // 2,
        "w": RNG.integers(1, 4, 400),
    }
)
MODELS: dict[str, Any] = {"label": "y", "score": ["good", "poor"]}
FEW: dict[str, Any] = {"n_resamples": 39, "rng": 0}


def reported(**options: Any) -> Any:
    return fastevals.report(DATA, **{**MODELS, "cost_fp": 4, "cost_fn_column": "amount", **FEW, **options})


def expected(rows: Any = slice(None), **options: Any) -> Any:
    some = DATA[rows]
    scores = {name: some[name].to_numpy() for name in MODELS["score"]}
    costs = {"cost_fp": 4, "cost_fn": some["amount"].to_numpy(), **options}
    return row_costs(some["y"].to_numpy(), scores, **{**costs, **FEW})


def without_label(costs: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in costs.items() if name != "pos_label"}


def test_a_block_has_the_costs_of_its_rows() -> None:
    found = reported().to_dict()
    assert found["row_costs"] == {"cost_fp": 4.0, "cost_fn": "amount"}
    assert found["operating_point"] == {"best": "expected_cost"}
    (block,) = found["blocks"]
    assert without_label(block["costs"]) == without_label(expected().to_dict())
    for model in block["models"]:
        best = expected()[model["name"]].best
        assert model["threshold"] == best.threshold
        assert model["metrics"]["expected_cost"] == best.mean.value
        assert model["intervals"]["roc_auc"] is not None
        assert model["intervals"]["precision"] is None  # its threshold is chosen by amounts


def test_each_value_of_by_has_its_own_costs() -> None:
    found = reported(by="day", n_resamples=0).to_dict()
    for block in found["blocks"]:
        costs = expected(DATA["day"] == block["value"], n_resamples=0)
        assert block["costs"]["models"]["good"]["best"]["threshold"] == costs["good"].best.threshold
        assert block["costs"]["none"]["total"]["value"] == pytest.approx(costs.none.total.value)


def test_a_threshold_fixed_beforehand_is_costed_too() -> None:
    found = reported(threshold=0.5, cost_fp=None, cost_fp_column="fee").to_dict()["blocks"][0]
    costs = expected(threshold=0.5, cost_fp=DATA["fee"].to_numpy())
    assert without_label(found["costs"]) == without_label(costs.to_dict())
    model = found["models"][0]
    assert model["threshold"] == 0.5
    assert model["metrics"]["expected_cost"] == costs["good"].fixed.mean.value
    assert model["intervals"]["precision"] is not None


@pytest.mark.parametrize(
    ("option", "argument"),
    [("groups", "groups"), ("sample_weight", "sample_weight"), ("frequency_weight", "frequency_weight")],
)
def test_clusters_weights_and_copies_are_those_of_the_call(option: str, argument: str) -> None:
    column = "customer" if option == "groups" else "w"
    found = reported(**{option: column}).to_dict()["blocks"][0]["costs"]
    assert without_label(found) == without_label(expected(**{argument: DATA[column].to_numpy()}).to_dict())


def test_the_verdict_is_on_costs_first() -> None:
    report = reported()
    words = " ".join(report.to_text().split())
    assert words.startswith("fastevals report: good and poor good has the lowest total cost at its best threshold, ")
    assert "costs 4 per false positive, amount per false negative; metrics at the thresholds have no intervals" in words
    rows = [line.split()[:3] for line in report.to_text().splitlines() if line.startswith(("predict ", "good: "))]
    assert ["good:", "best", "threshold"] in rows
    assert ["predict", "none", "inf"] in rows
    markdown = report.to_markdown()
    assert "**Costs of decisions**" in markdown
    assert "Costs of decisions" in report.to_latex()


def test_a_page_draws_the_cost_curve_by_amount(tmp_path: Path) -> None:
    page = reported(n_resamples=0).to_html()
    assert "Cost curve by amount" in page
    assert "Costs of decisions" in page


def test_frames_have_totals_and_savings_by_rule() -> None:
    frame = reported().to_frame("pandas").set_index(["model", "reference", "metric"])
    costs = expected()
    row = frame.loc[("good", None, "total_cost(best threshold)")]
    assert row["value"].item() == costs["good"].best.total.value
    difference = frame.loc[("good", "poor", "total_cost(per-row rule)")]
    assert difference["pvalue"].item() == costs.differences["per-row rule"][0].pvalue


def test_a_cost_that_reveals_the_label_is_a_caution() -> None:
    data = DATA.assign(amount=DATA["amount"] * DATA["y"])
    report = fastevals.report(data, **MODELS, cost_fp=4, cost_fn_column="amount", n_resamples=0)
    assert "! : cost_fn is 0 in all negative rows and not in all other rows: it reveals" in report.to_text()


def test_rows_with_an_invalid_cost_are_left_out_if_asked() -> None:
    data = DATA.assign(amount=DATA["amount"].where(DATA.index != 7))
    options: dict[str, Any] = {**MODELS, "cost_fn_column": "amount", "n_resamples": 0}
    with pytest.raises(ValueError, match="cost_fn_column 'amount' must be finite, but has 1 NaN value, the first at"):
        fastevals.report(data, **options)
    found = fastevals.report(data, **options, on_invalid="drop").to_dict()
    assert found["dropped"] == {"amount": {"reason": "invalid cost", "rows": 1, "alone": 1}}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cost_fn": 3}, "cost_fn and cost_fn_column exclude each other"),
        ({"prior": 0.1}, "prior goes with constant costs, not with cost_fn_column"),
        ({"best": "f1"}, "best and cost_fn_column exclude each other: thresholds have the lowest total cost"),
        ({"cost_fp": -3}, r"cost_fp must be in \[0, inf\), got -3"),
        ({"cost_fn_column": "good"}, "cost_fn_column 'good' is given already, as score 'good'"),
        ({"cost_fn_column": "nope"}, "cost_fn_column 'nope'"),
        ({"cost_tp": float("inf")}, r"cost_tp must be in \(-inf, inf\), got inf"),
        ({"cost_tp": 3, "cost_tp_column": "fee"}, "cost_tp and cost_tp_column exclude each other"),
        ({"cost_tp": 3, "cost_fn_column": None}, "cost_tp goes with cost_fp_column, cost_fn_column or cost_tp_column"),
        ({"memory": 10}, "cost_fn_column needs the rows of .* in memory: raise memory, or take a sample"),
    ],
)
def test_what_does_not_go_together_is_named(options: Any, message: str, tmp_path: Path) -> None:
    DATA.to_csv(tmp_path / "rows.csv", index=False)
    data: Any = tmp_path / "rows.csv" if "memory" in options else DATA
    with pytest.raises(ValueError, match=message):
        fastevals.report(data, **{**MODELS, "cost_fn_column": "amount", "n_resamples": 0, **options})


def test_true_positives_may_cost_a_fee_or_bring_a_benefit() -> None:
    with_fee = reported(cost_tp_column="fee").to_dict()
    assert with_fee["row_costs"] == {"cost_fp": 4.0, "cost_fn": "amount", "cost_tp": "fee"}
    of_call = expected(cost_tp=DATA["fee"].to_numpy())
    assert without_label(with_fee["blocks"][0]["costs"]) == without_label(of_call.to_dict())
    benefit = reported(cost_fn_column=None, cost_fp_column="fee", cost_fp=None, cost_fn=0, cost_tp=-9)
    assert "fee per false positive, 0 per false negative, -9 per true positive" in benefit.to_text()
    of_call = expected(cost_fp=DATA["fee"].to_numpy(), cost_fn=0, cost_tp=-9)
    assert benefit.to_dict()["blocks"][0]["costs"]["models"] == of_call.to_dict()["models"]


def test_predictions_and_counts_have_no_costs_by_row() -> None:
    with pytest.raises(ValueError, match="cost_fp_column goes with scores, and these are predictions"):
        fastevals.report(DATA, label="y", pred="day", cost_fp_column="fee")
    with pytest.raises(ValueError, match="cost_fp_column goes with columns of rows, but data is a Ranking"):
        fastevals.report(fastevals.Ranking(DATA["y"], DATA["good"]), cost_fp_column="fee")


def test_the_command_takes_a_constant_and_a_column(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "rows.csv"
    DATA.to_csv(path, index=False)
    options = ["--label", "y", "--score", "good", "--score", "poor", "--cost-fp", "4", "--cost-fn-column", "amount"]
    assert main(["report", str(path), *options, "--resamples", "39", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert without_label(found["blocks"][0]["costs"]) == without_label(reported().to_dict()["blocks"][0]["costs"])
