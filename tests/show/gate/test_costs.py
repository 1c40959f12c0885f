"""`fastevals gate` on costs that differ by row: every door, champions, segments, and what is refused."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fastevals
from fastevals.show.cli import main

N = 1200
RNG = np.random.default_rng(1)
Y = RNG.random(N) < 0.25


def probabilities(d):
    return 1 / (1 + np.exp(1.1 - d * (d * Y + RNG.normal(size=N) - d / 2)))


COLUMNS = {
    "y": Y.astype(int), "new": probabilities(1.6), "old": probabilities(0.7), "amount": RNG.lognormal(4, 0.6, N),
    "fee": RNG.integers(2, 6, N), "region": np.array(["north", "south"])[np.arange(N) % 2],
    "customer": np.arange(N) // 3, "w": RNG.integers(1, 4, N),
}  # fmt: skip
COSTS = {"cost_fp": 20, "cost_fn_column": "amount"}
ROLES = {"label": "y", "score": ["new", "old"], "reference": "old", "n_resamples": 199, **COSTS}
ALONE = {**ROLES, "score": "new", "reference": None}
HALVES = [{name: each[part] for name, each in COLUMNS.items()} for part in (slice(N // 2, None), slice(N // 2))]
RULES = ["mean_cost <= 12.5", "mean_cost not worse than champion by 0.3", "savings better than champion"]


@pytest.fixture
def files(tmp_path):
    table = pa.table(COLUMNS)
    pq.write_table(table, tmp_path / "scores.parquet")
    pq.write_table(table.slice(0, N // 2), tmp_path / "monday.parquet")
    pq.write_table(table.slice(N // 2), tmp_path / "tuesday.parquet")
    return tmp_path


def decision(found, k=0):
    return found.results[k].worst.decision


def measured(columns=COLUMNS, models=("new", "old"), **options):
    scores = {name: columns[name] for name in models}
    options = {"cost_fp": 20, "n_resamples": 199, "confidence_level": 0.9, "rng": 0, **options}
    return fastevals.row_costs(columns["y"], scores, cost_fn=columns["amount"], **options)


def test_floors_margins_and_improvements():
    found = fastevals.gate(COLUMNS, RULES, **ROLES)
    costs = measured()
    assert found.outcome == "pass"
    assert decision(found).interval == pytest.approx(tuple(costs["new"].best.mean.confidence_interval))
    (pair,) = costs.differences["best threshold"]
    assert decision(found, 1).value == pytest.approx(pair.value / N)
    assert decision(found, 2).value == pytest.approx(-pair.value)
    judged = found.results[2].worst
    assert judged.of_model - judged.of_other == pytest.approx(-pair.value)
    strict = fastevals.gate(COLUMNS, ["mean_cost at threshold=0.3 <= 1", "mean_cost <= 6.3"], **ALONE)
    assert [each.outcome for each in strict.results] == ["fail", "undecided"]


def test_segments_weights_clusters_and_copies():
    rule = "mean_cost at per_row_rule=true not worse than old by 1 by region"
    found = fastevals.gate(COLUMNS, rule, **ROLES)
    parts = [COLUMNS["region"] == name for name in ("north", "south")]
    values = {
        each.value: measured({name: column[part] for name, column in COLUMNS.items()})
        for part, each in zip(parts, sorted(found.results[0].judged, key=lambda each: each.value), strict=True)
    }
    for each in found.results[0].judged:
        (pair,) = values[each.value].differences["per-row rule"]
        assert each.decision.value == pytest.approx(pair.value / (N // 2))
    clustered = fastevals.gate(COLUMNS, "mean_cost at threshold=0.3 <= 20", groups="customer", **ALONE)
    fixed = measured(models=("new",), groups=COLUMNS["customer"], threshold=0.3)["new"].fixed
    assert decision(clustered).interval == pytest.approx(tuple(fixed.mean.confidence_interval))
    weighted = fastevals.gate(COLUMNS, "mean_cost at threshold=0.3 <= 20", sample_weight="w", **ALONE)
    fixed = measured(models=("new",), sample_weight=COLUMNS["w"], threshold=0.3)["new"].fixed
    assert decision(weighted).interval == pytest.approx(tuple(fixed.mean.confidence_interval))
    copies = fastevals.gate(COLUMNS, "total_cost at threshold=0.3 <= 9e9", frequency_weight="w", **ALONE)
    assert decision(copies).value == pytest.approx(
        measured(threshold=0.3, frequency_weight=COLUMNS["w"])["new"].fixed.total.value
    )


def test_other_rows_are_compared_by_means_and_shares(files):
    rules = ["mean_cost not worse than champion by 4", "savings_share at threshold=0.3 not worse than champion by 0.3"]
    found = fastevals.gate(HALVES[0], rules, **{**ALONE, "reference": HALVES[1]})
    own, other = (measured(half, ("new",))["new"].best.mean for half in HALVES)
    assert found.outcome == "pass"
    assert decision(found).value == pytest.approx(own.value - other.value)
    low = own.value - own.confidence_interval.low, other.confidence_interval.high - other.value
    assert decision(found).interval.low == pytest.approx(decision(found).value - np.hypot(*low))
    arguments = [
        "--label",
        "y",
        "--score",
        "new",
        "--cost-fp",
        "20",
        "--cost-fn-column",
        "amount",
        "--resamples",
        "199",
    ]
    rules = [word for rule in rules for word in ("--rule", rule)]
    tuesday, monday = (str(files / f"{day}.parquet") for day in ("tuesday", "monday"))
    assert main(["gate", tuesday, "--reference", monday, *arguments, *rules]) == 0
    with pytest.raises(
        ValueError, match="total_cost depends on the number of rows, so it can't be compared with other"
    ):
        fastevals.gate(HALVES[0], "total_cost not worse than champion by 4", **{**ALONE, "reference": HALVES[1]})
    without = {name: column for name, column in HALVES[1].items() if name != "amount"}
    rules = ["roc_auc not worse than champion by 0.1", "mean_cost <= 30"]
    assert fastevals.gate(HALVES[0], rules, **{**ALONE, "reference": without}).outcome == "pass"
    with pytest.raises(ValueError, match="amount"):
        fastevals.gate(HALVES[0], "mean_cost not worse than champion by 4", **{**ALONE, "reference": without})


def test_a_receipt_pins_costs():
    pinned = fastevals.gate(HALVES[1], "mean_cost <= 30", **ALONE)
    assert pinned.to_dict()["row_costs"] == {"cost_fp": 20.0, "cost_fn": "amount"}
    found = fastevals.gate(HALVES[0], "mean_cost not worse than champion by 4", **{**ALONE, "reference": pinned})
    assert found.outcome == "pass"
    other = {**ALONE, "cost_fp": 30, "reference": pinned}
    with pytest.raises(ValueError, match=r"its costs are 20 per false positive.*, and the data's are 30 per false"):
        fastevals.gate(HALVES[0], "mean_cost not worse than champion by 4", **other)


def test_every_door_has_the_costs(files, capsys):
    found = fastevals.gate(COLUMNS, RULES, **ROLES)
    assert "costs 20 per false positive, amount per false negative" in " ".join(found.to_text().split())
    assert "new's amount saved at its best threshold is higher than old's" in " ".join(found.to_text().split())
    assert "mean cost at its best threshold" in found.to_markdown()
    assert "amount per false negative" in found.to_html()
    assert found.to_frame()["rule"].tolist() == RULES
    (files / "gate.toml").write_text(
        'label = "y"\nscore = ["new", "old"]\nreference = "old"\ncost_fp = 20.0\ncost_fn_column = "amount"\n'
        f"rules = {RULES}\n"
    )
    arguments = [str(files / "scores.parquet"), "--rules", str(files / "gate.toml"), "--resamples", "199"]
    assert main(["gate", *arguments, "--format", "json"]) == 0
    receipt = json.loads(capsys.readouterr().out)
    assert receipt["rules"] == found.to_dict()["rules"]
    assert receipt["row_costs"] == {"cost_fp": 20.0, "cost_fn": "amount"}


def test_the_hash_of_rows_in_memory_has_their_costs():
    one = fastevals.gate(COLUMNS, RULES[0], **ALONE).inputs
    other = fastevals.gate({**COLUMNS, "amount": COLUMNS["amount"] + 1}, RULES[0], **ALONE).inputs
    assert one != other


def test_unused_costs_are_said():
    found = fastevals.gate(COLUMNS, "roc_auc >= 0.5", **ALONE)
    assert found.cautions == ("No rule judges the costs of the rows.",)


def test_benefits_have_no_relative_margins():
    benefits = {**ROLES, "cost_tp": -3}
    assert fastevals.gate(COLUMNS, RULES[1], **benefits).outcome == "pass"
    with pytest.raises(ValueError, match=r"mean_cost can be negative, because the cost of a true positive is below 0"):
        fastevals.gate(COLUMNS, "mean_cost not worse than old by 2%", **benefits)
    assert fastevals.gate(COLUMNS, "mean_cost not worse than old by 2%", **ROLES).outcome == "pass"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"cost_fn_column": None},
            "mean_cost needs a column of costs .*: 'expected_cost at threshold=0.5, cost_fn=50'",
        ),
        ({"cost_fn": 5}, "cost_fn and cost_fn_column exclude each other"),
        ({"cost_fn_column": "nothing"}, "nothing"),
        ({"cost_fn_column": "region"}, "region"),
        ({"plan": True}, "rows for mean_cost can't be planned: a pilot may lack the largest amounts"),
        ({"nightly": "state.json", "night": "x"}, "mean_cost has costs that differ by row"),
        ({"score": None, "pred": "new"}, "mean_cost needs scores, given by score"),
    ],
    ids=str,
)
def test_what_costs_do_not_go_with_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        fastevals.gate(COLUMNS, RULES[0], **{**ALONE, **change})


def test_costs_need_columns_and_rows_in_memory(files, capsys):
    with pytest.raises(ValueError, match="cost_fp goes with a column of other costs"):
        fastevals.gate(COLUMNS, "roc_auc >= 0.5", label="y", score="new", cost_fp=3)
    with pytest.raises(ValueError, match="cost_fn_column goes with scores, and these are predictions"):
        fastevals.gate({**COLUMNS, "c": Y.astype(int)}, "accuracy >= 0.5", label="y", pred="c", cost_fn_column="amount")
    columns = ["--label", "y", "--score", "new"]
    costs = ["--cost-fn-column", "amount", "--rule", "mean_cost <= 3"]
    path = str(files / "scores.parquet")
    assert main(["gate", path, *columns, *costs, "--memory", "1kB"]) == 2
    assert "--cost-fn-column needs the rows of" in (error := capsys.readouterr().err)
    assert "raise --memory, or take a sample of the rows" in error
    assert main(["summarize", path, *columns, "--out", str(files / "all.fe")]) == 0
    assert main(["gate", str(files / "all.fe"), *costs]) == 2
    assert "--cost-fn-column" in capsys.readouterr().err


def test_a_segment_without_amounts_is_undecided():
    columns = {**COLUMNS, "amount": np.where(COLUMNS["region"] == "north", 0.0, COLUMNS["amount"])}
    options = {**ALONE, "cost_fp": None, "cost_fp_column": "none"}
    found = fastevals.gate({**columns, "none": np.zeros(N)}, "mean_cost <= 90 by region", **options)
    assert [(each.value, each.decision.outcome) for each in found.results[0].judged] == [
        ("north", "undecided"), ("south", "pass"),
    ]  # fmt: skip
    assert "none does" in found.results[0].worst.decision.reason
