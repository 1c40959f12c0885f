"""`fastevals gate`: sources, champions, rule files, receipts and exit statuses."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.stats import binom

import fastevals
from fastevals.infer.gate.evidence import RarerClass
from fastevals.show.cli import main
from fastevals.show.gate.words import github_lines, level_text

N = 2000
RNG = np.random.default_rng(0)
Y = RNG.random(N) < 0.3
LATENT = np.where(Y, 1.5, 0) + RNG.normal(size=N)


def probabilities(noise):
    return 1 / (1 + np.exp(-(LATENT + noise * RNG.normal(size=N) - 1.5)))


COLUMNS = {
    "y": Y.astype(int), "new": probabilities(0.1), "old": probabilities(0.4), "other": probabilities(0.2),
    "region": np.array(["north", "south"])[np.arange(N) % 2], "product": np.arange(N) // 2 % 2,
    "patient": np.arange(N) // 4, "weight": 1 + np.arange(N) % 3, "copies": 1 + np.arange(N) % 2,
}  # fmt: skip
FAST = {"n_resamples": 499}
ROLES = {"label": "y", "score": ["new", "old"], **FAST}


@pytest.fixture
def files(tmp_path):
    table = pa.table(COLUMNS)
    pq.write_table(table, tmp_path / "scores.parquet")
    pq.write_table(table.slice(0, N // 2), tmp_path / "monday.parquet")
    pq.write_table(table.slice(N // 2), tmp_path / "tuesday.parquet")
    return tmp_path


def decision(found, k=0):
    return found.results[k].worst.decision


def run(*arguments):
    return main(["gate", *map(str, arguments), "--resamples", "499"])


# Decisions --------------------------------------------------------------------------------------------------------


def test_paired_differences_and_floors():
    rules = ["roc_auc better than champion", "roc_auc >= 0.7", "roc_auc >= 0.97", "brier better than old by 0.1"]
    found = fastevals.gate(COLUMNS, rules, reference="old", **ROLES)
    assert [each.outcome for each in found.results] == ["pass", "pass", "fail", "fail"]
    assert (found.outcome, found.exit_status, found.model, found.reference) == ("fail", 3, "new", "old")
    aucs = {name: float(fastevals.Ranking(Y, COLUMNS[name]).roc_auc()) for name in ("new", "old")}
    assert decision(found).value == pytest.approx(aucs["new"] - aucs["old"])
    assert decision(found, 1).value == pytest.approx(aucs["new"])
    assert found.n_comparisons == 4
    assert decision(found, 2).level == pytest.approx(1 - 0.05 / 4)


def test_the_interval_that_is_printed_is_the_one_that_was_used():
    found = fastevals.gate(COLUMNS, "roc_auc >= 0.8", label="y", score="new", **FAST)
    low, high = decision(found).interval
    estimate = fastevals.bootstrap((Y, COLUMNS["new"]), "roc_auc", confidence_level=0.9, n_resamples=499, rng=0)
    assert (low, high) == pytest.approx(tuple(estimate["roc_auc"].confidence_interval), abs=2e-3)
    assert found.outcome == "pass"
    assert f"90 % interval {low:.4f} to {high:.4f}" in found.to_text()


def test_limits_have_all_digits_of_the_rule():
    """Six digits would say that 0.815715 is demanded."""
    found = fastevals.gate(COLUMNS, ["roc_auc >= 0.71571454", "brier <= 0.2857145"], label="y", score="new", **FAST)
    text = found.to_text()
    assert "at least 0.71571454 (" in text
    assert ">= 0.71571454 " in text
    assert "<= 0.2857145 " in text
    plan = fastevals.gate(COLUMNS, "roc_auc >= 0.71571454 assuming 0.8000001", label="y", score="new", plan=True)
    text = " ".join(plan.to_text().split())
    assert "is above 0.71571454, if its true value is 0.8000001" in text


def test_numbers_near_a_limit_have_more_decimals():
    """Four decimals would print 1.0000 for a value, its bounds and the limit."""
    columns = {"y": [0] * 200_000 + [1] * 100, "p": [1.0] * 5 + [0.0] * 199_995 + [1.0] * 100}
    found = fastevals.gate(columns, "specificity at threshold=0.5 >= 0.99995", label="y", score="p", **FAST)
    text = " ".join(found.to_text().split())
    assert "(0.99997, 90 % interval 0.999947 to 1.0000)" in text
    assert "if the true value is at least 0.99998" in text
    assert "is the estimate, 0.99997" in text


@pytest.mark.parametrize("name", ["predicted/observed within 0.1 .. 10", "calibration_slope within -9 .. 9"])
@pytest.mark.parametrize("more", [{}, {"groups": "patient"}, {"sample_weight": "weight"}])
def test_calibration_needs_50_rows_of_the_rarer_class(name, more):
    kept = np.sort(np.concatenate([np.flatnonzero(Y)[:49], np.flatnonzero(~Y)]))
    few = {column: values[kept] for column, values in COLUMNS.items()}
    found = fastevals.gate(few, name, label="y", score="new", **more, **FAST)
    assert found.outcome == "undecided"
    assert decision(found).reason.startswith("only ")


@pytest.mark.parametrize(
    ("n", "noun", "said"),
    [
        (1, "positives", "only 1 positive: bounds"),
        (1, "clusters with positives", "only 1 cluster with positives: bounds"),
        (49.99, "effective negatives", "only 49.9 effective negatives: bounds"),
        (50, "rows", ""),
    ],
)
def test_few_rows_are_counted_in_words(n, noun, said):
    assert RarerClass(n, noun).why_few.startswith(said)
    assert bool(RarerClass(n, noun).why_few) == bool(said)


def test_the_champion_by_name_and_by_word_is_one_model():
    rules = ["roc_auc better than champion by 0.1", "roc_auc better than old by 0.1"]
    with pytest.raises(ValueError, match="are the same rule"):
        fastevals.gate(COLUMNS, rules, reference="old", **ROLES)
    rules[1] = "roc_auc equivalent to old within 0.05"
    with pytest.raises(ValueError, match="contradict each other"):
        fastevals.gate(COLUMNS, rules, reference="old", **ROLES)


def test_the_reference_has_other_rows_than_the_data(files):
    rule, path = "roc_auc not worse than champion by 0.1", str(files / "monday.parquet")
    (files / "again.parquet").write_bytes((files / "monday.parquet").read_bytes())
    for data, reference in ((path, path), (path, str(files / "again.parquet")), (COLUMNS, COLUMNS)):
        with pytest.raises(ValueError, match="must have other rows than the data: on the same rows, new is compared"):
            fastevals.gate(data, rule, label="y", score="new", reference=reference, **FAST)


def test_undefined_values_are_called_so():
    found = fastevals.gate({"y": [1] * 60, "p": [0.5] * 60}, "roc_auc >= 0.8", label="y", score="p", **FAST)
    assert "is at least 0.8 (undefined)." in found.to_text()


def test_control_characters_are_escaped_in_every_form():
    columns = {"y": COLUMNS["y"], "new": COLUMNS["new"], "\x1b[31mred": COLUMNS["old"]}
    roles = {"label": "y", "score": ["new", "\x1b[31mred"], **FAST}
    found = fastevals.gate(columns, "roc_auc better than '\x1b[31mred' by 0.2", **roles)
    plan = fastevals.gate(columns, "roc_auc better than '\x1b[31mred' assuming 0.05", plan=True, **roles)
    assert found.outcome == "fail"
    texts = [each.to_text() + each.to_html() + each.to_markdown() + each.to_latex() for each in (found, plan)]
    assert "\x1b" not in "".join([*texts, *github_lines(found)])


def test_segments_each_must_pass_and_are_named():
    columns = {**COLUMNS, "new": np.where(COLUMNS["region"] == "south", RNG.random(N), COLUMNS["new"])}
    found = fastevals.gate(columns, "roc_auc >= 0.7 by region", label="y", score="new", **FAST)
    (result,) = found.results
    assert (found.outcome, found.n_comparisons) == ("fail", 2)
    assert [(each.value, each.decision.outcome) for each in result.judged] == [("south", "fail"), ("north", "pass")]
    assert "in 1 of 2 segments (furthest from the limit: region = south" in " ".join(found.to_text().split())
    crossed = fastevals.gate(COLUMNS, "roc_auc >= 0.7 by region x product", label="y", score="new", **FAST)
    assert len(crossed.results[0].judged) == 4


def test_the_first_undecided_segments_say_what_they_lack():
    place = np.arange(N) % 100  # five small segments and a large one
    columns = {**COLUMNS, "place": np.where(place < 5, place, 99)}
    found = fastevals.gate(columns, ["roc_auc >= 0.6 by place"], label="y", score="new", **FAST)
    notes = [line for line in found.to_text().splitlines() if line.startswith("- : ")]
    assert [each.decision.outcome for each in found.results[0].judged] == ["undecided"] * 5 + ["pass"]
    assert [note.startswith("- : In place = ") for note in notes] == [True, True, True, False]
    assert notes[3] == "- : 2 more segments are undecided: the JSON has the reasons."


@pytest.mark.parametrize("undecided", ["undecided", "pass", "fail"])
def test_undecided_gates_count_as_asked(undecided):
    floor = float(fastevals.Ranking(Y, COLUMNS["new"]).roc_auc())
    found = fastevals.gate(COLUMNS, f"roc_auc >= {floor:.4f}", label="y", score="new", undecided=undecided, **FAST)
    assert found.outcome == "undecided"
    assert found.exit_status == {"undecided": 4, "pass": 0, "fail": 3}[undecided]
    assert "the rule passes in 80 % of samples if the true value is at least" in " ".join(found.to_text().split())


def test_predicted_classes_and_numbers():
    right = RNG.random(N) < 0.8
    columns = {"c": COLUMNS["region"], "p": np.where(right, COLUMNS["region"], "south")}
    found = fastevals.gate(columns, "accuracy >= 0.8", label="c", pred="p", **FAST)
    assert (found.outcome, found.kind) == ("pass", "labels")
    numbers = {"t": LATENT, "a": LATENT + 0.1 * RNG.normal(size=N), "b": LATENT + 0.2 * RNG.normal(size=N)}
    rules = ["rmse better than b by 10%", "mean_error within -0.02 .. 0.02", "mae <= 0.05"]
    found = fastevals.gate(numbers, rules, target="t", pred=["a", "b"], **FAST)
    assert [each.outcome for each in found.results] == ["pass", "pass", "fail"]


@pytest.mark.parametrize(
    "more", [{"sample_weight": "weight"}, {"frequency_weight": "copies"}, {"groups": "patient"}], ids=str
)
def test_weights_and_clusters(more):
    rules = [
        "roc_auc not worse than old by 0.02",
        "predicted/observed within 0.7 .. 1.4",
        "recall at threshold=0.5 >= 0.1",
    ]
    found = fastevals.gate(COLUMNS, rules, **ROLES, **more)
    assert [each.outcome for each in found.results] == ["pass"] * 3
    if "frequency_weight" in more:
        rows = np.repeat(np.arange(N), COLUMNS["copies"])
        same = fastevals.gate({name: each[rows] for name, each in COLUMNS.items()}, rules, **ROLES)
        assert decision(found).value == pytest.approx(decision(same).value, rel=1e-12)


def test_large_data_resample_cells_with_nearly_the_same_bounds(monkeypatch):
    rules = ["roc_auc not worse than old by 0.02", "roc_auc >= 0.8", "recall at fpr=0.1 >= 0.2", "brier <= 0.3"]
    rows = fastevals.gate(COLUMNS, rules, **ROLES)
    monkeypatch.setattr("fastevals.show.gate.sides.BUDGET", 0)
    monkeypatch.setattr("fastevals.show.gate.sides.ROWS_ALWAYS_DRAWN", 0)
    monkeypatch.setattr("fastevals.show.report.intervals.ROWS_ALWAYS_DRAWN", 0)
    cells = fastevals.gate(COLUMNS, rules, **ROLES)
    for k in range(len(rules)):
        one, other = decision(rows, k), decision(cells, k)
        assert one.value == pytest.approx(other.value, abs=1e-12)
        width = one.interval.high - one.interval.low
        assert np.subtract(one.interval, other.interval) == pytest.approx([0, 0], abs=0.15 * width)


# Champions --------------------------------------------------------------------------------------------------------


def test_other_rows_are_a_champion(files):
    rule = "roc_auc not worse than champion by 0.1"
    roles = {"label": "y", "score": "new", **FAST}
    found = fastevals.gate(files / "tuesday.parquet", rule, reference=files / "monday.parquet", **roles)
    assert found.outcome == "pass"
    today, yesterday = (
        float(fastevals.Ranking(Y[part], COLUMNS["new"][part]).roc_auc())
        for part in (slice(N // 2, None), slice(N // 2))
    )
    assert decision(found).value == pytest.approx(today - yesterday)
    halves = [{name: each[part] for name, each in COLUMNS.items()} for part in (slice(N // 2, None), slice(N // 2))]
    same = fastevals.gate(halves[0], rule, reference=halves[1], **roles)
    assert decision(same).interval == decision(found).interval


def test_summaries_on_either_side(files, capsys):
    for day in ("monday", "tuesday"):
        arguments = ["summarize", str(files / f"{day}.parquet"), "--label", "y", "--score", "new", "--out"]
        assert main([*arguments, str(files / f"{day}.fe")]) == 0
    rules = ["--rule", "roc_auc not worse than champion by 0.1", "--rule", "predicted/observed within .5 .. 2"]
    assert run(files / "tuesday.fe", "--reference", files / "monday.fe", *rules) == 0
    columns = ["--label", "y", "--score", "new"]
    assert run(files / "tuesday.parquet", *columns, "--reference", files / "monday.fe", *rules) == 0
    assert run(files / "tuesday.fe", "--reference", files / "monday.parquet", *rules) == 0
    assert "new in monday.parquet" in capsys.readouterr().out


def test_a_summary_does_not_pair_models(files, capsys):
    arguments = ["summarize", str(files / "scores.parquet"), "--label", "y", "--score", "new", "--score", "old"]
    assert main([*arguments, "--out", str(files / "both.fe")]) == 0
    assert run(files / "both.fe", "--rule", "roc_auc not worse than old by 0.1") == 2
    assert "a summary does not pair the models' rows" in capsys.readouterr().err


def test_a_receipt_pins_the_champion(files, capsys):
    columns = [files / "monday.parquet", "--label", "y", "--score", "new"]
    assert run(*columns, "--rule", "roc_auc >= 0.8", "--format", "json") == 0
    receipt = json.loads(capsys.readouterr().out)
    (files / "pin.json").write_text(json.dumps(receipt))
    rule, other = (["--rule", f"{name} not worse than champion by 0.1"] for name in ("roc_auc", "brier"))
    assert run(files / "tuesday.parquet", *columns[1:], "--reference", files / "pin.json", *rule) == 0
    assert "new in monday.parquet (pinned by pin.json)" in " ".join(capsys.readouterr().out.split())
    assert run(files / "tuesday.parquet", *columns[1:], "--reference", files / "pin.json", *other) == 2
    assert "has no brier_score: it pins 'roc_auc'" in capsys.readouterr().err
    for content in ("{", "[]", '{"pinned": 3}', '{"pinned": {"roc_auc": {"value": "x"}}}'):
        (files / "pin.json").write_text(content)
        assert run(files / "tuesday.parquet", *columns[1:], "--reference", files / "pin.json", *rule) == 2
        assert "is not " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"pos_label": 0}, "its positive class is 0, and the data's is 1"),
        ({"schema_version": 9}, "has schema_version 9, and this version of fastevals reads 1"),
        ({"kind": "labels"}, "is of labels, and the data are scores"),
        ({"pinned": {"roc_auc": {"value": 0.8}}}, "damaged numbers"),
        ({"pinned": {"roc_auc": {"value": 0.8, "standard_error": -1}}}, "damaged numbers"),
        ({"pinned": {"roc_auc": {"value": True, "standard_error": 0.1}}}, "damaged numbers"),
        ({"n_samples": None}, "damaged numbers"),
    ],
    ids=str,
)
def test_a_receipt_of_other_results_is_refused(tmp_path, change, message):
    receipt = fastevals.gate(COLUMNS, "roc_auc >= 0.8", label="y", score="new", **FAST).to_dict()
    (tmp_path / "pin.json").write_text(json.dumps({**receipt, **change}))
    with pytest.raises(ValueError, match=message):
        fastevals.gate(
            COLUMNS, "roc_auc not worse than champion by 0.1", label="y", score="new", reference=tmp_path / "pin.json"
        )


def test_a_receipt_of_the_same_rows_or_of_another_label_is_mentioned():
    rule, roles = "roc_auc not worse than champion by 0.1", {"score": "new", **FAST}
    columns = {name: COLUMNS[name] for name in ("y", "new")}
    pinned = fastevals.gate(columns, "roc_auc >= 0.8", label="y", **roles)
    assert pinned.to_dict()["label"] == "y"
    same = fastevals.gate(columns, rule, label="y", reference=pinned, **roles)
    assert [each.split(":")[0] for each in same.cautions] == [
        "The receipt pins results of the same rows, so both results share errors, and the interval of their difference "
        "does not account for it"
    ]
    half = {"default": columns["y"][: N // 2], "new": columns["new"][: N // 2]}
    other = fastevals.gate(half, rule, label="default", reference=pinned, **roles)
    assert other.cautions == ("The receipt's label is 'y', and the data's is 'default': are they the same?",)


def test_a_receipt_without_usable_errors_decides_nothing(tmp_path):
    rule, roles = "roc_auc not worse than champion by 0.1", {"label": "y", "score": "new", **FAST}
    receipt = fastevals.gate(COLUMNS, "roc_auc >= 0.8", **roles).to_dict()
    sure = {**receipt, "pinned": {"roc_auc": {"value": 0.8, "standard_error": 0.0}}}
    for change, reason in ((sure, "no usable standard error of roc_auc"), ({"n_positives": 20}, "20 positives")):
        (tmp_path / "pin.json").write_text(json.dumps({**receipt, **change}))
        found = fastevals.gate(COLUMNS, rule, reference=str(tmp_path / "pin.json"), **roles)
        assert found.outcome == "undecided"
        assert reason in decision(found).reason


def test_a_result_is_a_receipt_of_all_rows():
    roles = {"label": "y", "score": "new", **FAST}
    pinned = fastevals.gate(COLUMNS, "roc_auc >= 0.8", **roles)
    found = fastevals.gate(COLUMNS, "roc_auc not worse than champion by 0.1", reference=pinned, **roles)
    assert found.outcome == "pass"
    assert decision(found).value == 0
    with pytest.raises(ValueError, match="a receipt pins results of all rows, so rules on segments can't compare"):
        fastevals.gate(COLUMNS, "roc_auc better than champion by region", reference=pinned, **roles)


def test_other_rows_need_only_the_judged_model():
    other = {name: COLUMNS[name] for name in ("y", "new")}
    rule = "roc_auc not worse than champion by 0.1"
    found = fastevals.gate(COLUMNS, rule, model="new", reference=other, **ROLES)
    assert found.reference == "new in data from Python"
    assert "new's AUC is not lower than new's in data from Python by more than 0.1" in " ".join(found.to_text().split())


@pytest.mark.cases(1)
@pytest.mark.parametrize("memory", ["1MB", "100MB"])
def test_several_files_that_are_scanned_decide_as_rows_in_memory(files, memory):
    rules = [
        "roc_auc not worse than old by 0.02",
        "brier <= 0.2",
        "recall at fpr=0.1 >= 0.2",
        "roc_auc >= 0.6 by region",
    ]
    rows = fastevals.gate(COLUMNS, rules, **ROLES)
    parts = [str(files / "monday.parquet"), str(files / "tuesday.parquet")]
    found = fastevals.gate(parts, rules, memory=memory, **ROLES)
    assert [each.outcome for each in found.results] == [each.outcome for each in rows.results]
    for k in range(len(rules)):
        assert decision(found, k).value == pytest.approx(decision(rows, k).value, abs=1e-12)
        assert decision(found, k).interval == pytest.approx(decision(rows, k).interval, abs=0.004)


@pytest.mark.slow
def test_standard_input_is_read_once():
    text = "y,new,old\n" + "\n".join(
        f"{y},{new},{old}" for y, new, old in zip(*(COLUMNS[name] for name in ("y", "new", "old")), strict=True)
    )
    command = [sys.executable, "-m", "fastevals", "gate", "-", "--label", "y", "--score", "new", "--resamples", "99"]

    def run_on(*more):
        return subprocess.run([*command, *more], input=text, capture_output=True, text=True, check=False)

    assert run_on("--rule", "roc_auc >= 0.7").returncode == 0
    refused = run_on("--score", "old", "--rule", "roc_auc not worse than old by 0.1")
    assert (refused.returncode, "neither does standard input: give files" in refused.stderr) == (2, True)


def test_many_rows_have_no_differences_at_a_number_of_rows(files):
    parts = [str(files / "monday.parquet"), str(files / "tuesday.parquet")]
    alone = fastevals.gate(parts, "precision at n_predicted=200 >= 0.1", model="new", memory=1, **ROLES)
    assert alone.outcome == "pass"
    with pytest.raises(ValueError, match="need resampled rows, and there are too many"):
        fastevals.gate(parts, "precision at n_predicted=200 not worse than old by 0.1", memory=1, **ROLES)


@pytest.mark.parametrize("metric", ["recall at fpr=0.1", "precision at fpr=0.1", "false_positive_rate at tpr=0.7"])
def test_differences_at_a_limit_are_nearly_the_same_from_joint_sums(metric, monkeypatch):
    """The slope of the curve at the limit belongs to a row's contribution; without it widths would be half."""
    rule = f"{metric} equivalent to old within 0.9"
    rows = decision(fastevals.gate(COLUMNS, rule, **ROLES)).interval
    monkeypatch.setattr("fastevals.show.gate.sides.BUDGET", 0)
    monkeypatch.setattr("fastevals.show.gate.sides.ROWS_ALWAYS_DRAWN", 0)
    monkeypatch.setattr("fastevals.show.report.intervals.ROWS_ALWAYS_DRAWN", 0)
    joint = decision(fastevals.gate(COLUMNS, rule, **ROLES)).interval
    assert (joint.high - joint.low) / (rows.high - rows.low) == pytest.approx(1, abs=0.25)


def test_counts_have_no_segments():
    with pytest.raises(ValueError, match=r"'roc_auc >= 0\.8 by region' needs rows, because counts have no columns"):
        fastevals.gate(fastevals.Ranking(Y, COLUMNS["new"]), "roc_auc >= 0.8 by region")


def test_undefined_calibration_is_undecided_without_a_warning():
    columns = {"y": np.zeros(100, int), "p": np.linspace(0.1, 0.9, 100)}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = fastevals.gate(columns, "predicted/observed within 0.5 .. 2", label="y", score="p")
    assert found.outcome == "undecided"


# Words ------------------------------------------------------------------------------------------------------------


def test_too_few_replicates_for_a_level_are_the_reason():
    roles = {"label": "y", "score": "new", "n_resamples": 199}
    found = fastevals.gate(COLUMNS, "brier <= 0.2", confidence_level=0.999, **roles)
    assert decision(found).reason.endswith("n_resamples must be at least 999")
    found = fastevals.gate(COLUMNS, ["brier <= 0.1", "roc_auc >= 0.7", "log_loss <= 2"], confidence_level=0.99, **roles)
    assert decision(found).reason.startswith(
        "the rule would fail on its own, but not at the level that is simultaneous"
    )
    assert decision(found).reason.endswith("n_resamples must be at least 299")
    found = fastevals.gate(COLUMNS, "brier <= 0.2", label="y", score="new", n_resamples=1)
    assert decision(found).reason == "n_resamples=1 is too few replicates"


def test_a_percentage_is_of_the_other_model():
    found = fastevals.gate(COLUMNS, "roc_auc not worse than old by 1%", **ROLES)
    value = f"(value minus 99 % of the other's: {decision(found).value:.4f}, 90 % interval"
    assert value in " ".join(found.to_text().split())


@pytest.mark.parametrize(
    ("level", "text"), [(0.95, "90 %"), (1 - 0.05 / 6, "98.33 %"), (0.999999, "99.9998 %"), (1 - 5e-6, "99.999 %")]
)
def test_levels_near_one_are_not_100_percent(level, text):
    assert level_text(level) == text


# Forms ------------------------------------------------------------------------------------------------------------


def test_the_receipt_names_inputs_methods_and_versions(files, capsys):
    columns = [files / "scores.parquet", "--label", "y", "--score", "new", "--seed", "5"]
    assert run(*columns, "--rule", "roc_auc >= 0.8", "--format", "json") == 0
    text = capsys.readouterr().out
    receipt = json.loads(text)
    assert (receipt["seed"], receipt["resamples"], receipt["level"], receipt["exit_status"]) == (5, 499, 0.95, 0)
    (source,) = receipt["inputs"]
    sha = subprocess.run(["sha256sum", files / "scores.parquet"], capture_output=True, text=True, check=True)
    assert (source["name"], source["sha256"]) == ("scores.parquet", sha.stdout.split()[0])
    assert receipt["versions"]["numpy"] == np.__version__
    assert run(*columns, "--rule", "roc_auc >= 0.8", "--format", "json") == 0
    assert capsys.readouterr().out == text


def test_forms(tmp_path):
    found = fastevals.gate(COLUMNS, ["roc_auc >= 0.8", "roc_auc >= 0.97 by region"], label="y", score="new", **FAST)
    assert found.to_markdown().splitlines()[2].startswith("**FAIL: new may not ship.")
    assert "may not ship" in found.to_html()
    assert found.to_frame("pandas")["outcome"].tolist() == ["pass", "fail", "fail"]
    for name in ("a.html", "a.md", "a.json", "a.tex", "a.txt"):
        found.save(tmp_path / name)
    assert repr(found) == found.to_text().rstrip("\n")


def test_a_folder_holds_the_receipt_and_the_text(files, capsys):
    folder = files / "out"
    assert (
        run(files / "scores.parquet", "--label", "y", "--score", "new", "--rule", "roc_auc >= 0.8", "--out", folder)
        == 0
    )
    text = capsys.readouterr().out
    assert text.endswith(f"\nwritten to {folder}: gate.json, gate.txt\n")
    assert sorted(each.name for each in folder.iterdir()) == ["gate.json", "gate.txt"]
    assert text.startswith((folder / "gate.txt").read_text())


def test_notes_stand_below_their_rule_on_the_page():
    found = fastevals.gate(COLUMNS, ["roc_auc >= 0.86"], label="y", score="new", **FAST)
    notes = [text for text in found.to_html().splitlines() if text.startswith('<p class="note">')]
    assert decision(found).outcome == "undecided"
    assert notes[0].startswith('<p class="note">With these rows, the rule passes in 80 % of samples')


def test_ci_lines(files, capsys, monkeypatch):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    columns = [files / "scores.parquet", "--label", "y", "--score", "new"]
    assert run(*columns, "--rule", "roc_auc >= 0.97") == 3
    assert "\n::error title=fastevals gate::roc_auc >= 0.97: new's AUC is below 0.97 (0." in capsys.readouterr().out
    assert run(*columns, "--rule", "roc_auc >= 0.97", "--format", "json") == 3
    captured = capsys.readouterr()
    assert json.loads(captured.out)["outcome"] == "fail"
    assert captured.err.startswith("::error ")


def test_rule_files(files, capsys):
    toml = files / "gate.toml"
    toml.write_text(
        'label = "y"\nscore = ["new", "old"]\nreference = "old"\n'
        'n_resamples = 99\nrules = ["roc_auc better than champion"]\n'
    )
    assert run(files / "scores.parquet", "--rules", toml) == 0
    assert "replicates" not in capsys.readouterr().out  # AUCs need none
    assert run(files / "scores.parquet", "--rules", toml, "--rule", "brier <= 0.9") == 0
    assert "499 replicates" in capsys.readouterr().out
    assert run(files / "scores.parquet", "--rules", toml, "--rule", "roc_auc >= 0.97") == 3
    toml.write_bytes(b'\xef\xbb\xbfrules = "roc_auc >= 0.8"\nconfidence_level = 0.9\nlabel = "y"\nscore = "new"')
    capsys.readouterr()
    assert run(files / "scores.parquet", "--rules", toml) == 0
    assert "80 % interval" in capsys.readouterr().out
    assert run(files / "scores.parquet", "--rules", toml, "--confidence", "0.95") == 0
    assert "90 % interval" in capsys.readouterr().out
    assert run(files / "scores.parquet", "--rules", "") == 2
    assert "--rules must name a file, got ''" in capsys.readouterr().err
    for content, message in (
        ("rules = 3", "rules must be a text or a list of texts, got 3"),
        ('label = "y"', "has no rules: write rules = "),
        ('lable = "y"', "has no option 'lable' (did you mean 'label'?)"),
        ("rules = [", "is not TOML"),
        ('rules = ["auc >> 1"]', "rules: expected a number after >"),
    ):
        toml.write_text(content)
        assert run(files / "scores.parquet", "--rules", toml) == 2
        assert message in capsys.readouterr().err


# Plans ---------------------------------------------------------------------------------------------------------------


def test_rows_are_planned_for_what_each_rule_assumes():
    rules = ["roc_auc not worse than old by 0.01", "recall at threshold=0.5 >= 0.3 assuming 0.4"]
    plan = fastevals.gate(COLUMNS, rules, plan=True, **ROLES)
    one, two = plan.rules.values()
    pilot = (Y, {name: COLUMNS[name] for name in ("new", "old")})
    spec = fastevals.metric("recall", threshold=0.5)
    assert (
        one.n_samples == fastevals.plan_sample_size(pilot, "roc_auc", reference="old", effect=0, margin=0.01).n_samples
    )
    assert two.n_samples == fastevals.plan_sample_size((Y, COLUMNS["new"]), spec, value=0.4, bound=0.3).n_samples
    assert plan.n_samples == max(one.n_samples, two.n_samples)
    assert f"{plan.n_samples:,} rows let each rule pass in 80 % of samples" in " ".join(plan.to_text().split())
    assert plan.to_dict()["rules"][1]["plan"]["n_samples"] == two.n_samples
    assert len(plan.to_frame()) == 2


def test_plans_have_the_rows_with_which_a_gate_decides():
    rules = ["roc_auc >= 0.6 assuming 0.95", "recall at threshold=0.5 >= 0.3 assuming 0.9"]
    plan = fastevals.gate(COLUMNS, rules, plan=True, model="new", **ROLES)
    auc, recall = plan.rules.values()
    assert auc.n_positives < 50
    assert plan.fewest[rules[1]] == 0
    assert plan.n_samples == plan.to_dict()["n_samples"] == plan.fewest[rules[0]] > recall.n_samples
    assert binom.sf(49, plan.n_samples, auc.prevalence) >= 0.8 > binom.sf(49, plan.n_samples - 1, auc.prevalence)
    text = " ".join(plan.to_text().split())
    assert f"{plan.n_samples:,} rows let each rule pass" in text
    assert f"{auc.n_samples:,} rows would give this power, but a gate leaves a rule undecided" in text


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("roc_auc >= 0.8", "state the true value that is assumed, such as 'roc_auc >= 0.8 assuming 0.83'"),
        ("roc_auc >= 0.8 assuming 0.7", "no number of rows can show a rule that does not hold"),
        ("roc_auc better than old", "state the true difference that is assumed"),
        ("predicted/observed within 0.9 .. 1.1", "can't be planned"),
        ("roc_auc >= 0.8 by region assuming 0.9", "segments can't be planned together"),
    ],
)
def test_plans_that_lack_an_assumption(rule, message):
    with pytest.raises(ValueError, match=message):
        fastevals.gate(COLUMNS, rule, plan=True, model="new", **ROLES)


# Errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rules", "options", "message"),
    [
        ("roc_auc better than champion", {}, "compares with the champion, but there is none: give reference"),
        ("roc_auc better than odl", {"score": ["new", "old"]}, r"no model is called 'odl' \(did you mean 'old'\?\)"),
        ("roc_auc >= 0.8", {"score": ["new", "old"]}, "one model is judged, but there are 'new', 'old'"),
        ("roc_auc >= 0.8", {"score": ["new", "old"], "model": "odl"}, r"model must be one of .*, got 'odl'"),
        ("roc_auc better than new", {"score": ["new", "old"], "model": "new"}, "compare new with itself"),
        ("roc_auc >= 0.8", {"score": ["new", "old"], "model": "old", "reference": "old"}, "got 'old' as both"),
        ("predicted/observed equivalent to old within 0.1", {"score": ["new", "old"]}, "on the same rows can't be"),
        ("roc_auc >= 0.8", {"reference": "nobody"}, "reference must be one of the models .*, got 'nobody'"),
        ("recall >= 0.8", {}, "recall of scores needs an operating point, such as 'recall at threshold=0.5'"),
        ("rmse <= 0.8", {}, "root_mean_squared_error can't be computed from scores"),
        ("recall at fpr=2 >= 0.8", {}, r"rules: fpr must be in \[0, 1\], got 2 \(in recall\(fpr=2\)\)"),
        ("roc_auc >= 0.8 by nothing", {}, "nothing"),
        ("roc_auc >= 0.8", {"confidence_level": 0.4}, r"confidence_level must be in \(0.5, 1\), got 0.4"),
        ("roc_auc >= 0.8", {"undecided": "maybe"}, "undecided must be"),
        ("roc_auc >= 0.8", {"n_resamples": 0}, "n_resamples must be an integer"),
        ([], {}, "rules is empty"),
        ("roc_auc >= 0.8", {"pred": "new"}, "score and pred exclude each other"),
    ],
)  # fmt: skip
def test_wrong_arguments(rules, options, message):
    with pytest.raises(ValueError, match=message):
        fastevals.gate(COLUMNS, rules, **{"label": "y", "score": "new", **FAST, **options})


def test_errors_on_the_command_line(files, capsys):
    assert main(["gate", str(files / "scores.parquet"), "--label", "y", "--score", "new"]) == 2
    assert "no rule is given" in capsys.readouterr().err
    assert main(["gate", "--rule", "roc_auc >= 0.8"]) == 2
    assert "FILE is missing" in capsys.readouterr().err
    assert run(files / "scores.parquet", "--label", "y", "--score", "new", "--rule", "roc_acu >= 0.8") == 2
    assert "--rules: unknown metric 'roc_acu' (did you mean 'roc_auc'?) (at character 1" in capsys.readouterr().err
    assert run(files / "nothing.parquet", "--label", "y", "--score", "new", "--rule", "roc_auc >= 0.8") == 2


def test_a_crash_has_another_exit_status_than_a_decision():
    code = (
        "import fastevals.show.gate.gate as g, fastevals.show.cli as c; g.build_gate = lambda *a: 1 / 0\n"
        "c.main(['gate', 'x.csv', '--label', 'y', '--score', 's', '--rule', 'roc_auc >= 0.8'])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 1
