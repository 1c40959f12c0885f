"""Reports that compare all models with a reference: pairs, order, words and errors, on every path of the data."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtr

import fastevals
from fastevals import compare_groups, compare_predictions, compare_rankings, metric, report, row_costs
from fastevals.results import Interval
from fastevals.show.cli import main
from fastevals.show.plots.forest import forest_size
from fastevals.show.report import intervals
from fastevals.show.report.intervals import Intervals, ModelDifference, ModelPair
from fastevals.show.report.pictures import difference_panels
from fastevals.show.verdict import (
    MOST_AGAINST,
    ComparedModels,
    level_sentence,
    next_sentence,
    reference_sentences,
)
from tests.parameters import quick

RNG = np.random.default_rng(3)
N = 240
Y = (RNG.random(N) < 0.3).astype(int)
BASE = RNG.normal(size=N) + 1.5 * Y


def scored(noise: float) -> Any:
    return (1 / (1 + np.exp(0.7 - BASE - noise * RNG.normal(size=N)))).clip(0.01, 0.99).round(3)


ROWS = pd.DataFrame(
    {
        "y": Y,
        "new": scored(0.2),
        "third": scored(3.0),
        "old": scored(1.0),
        "day": np.arange(N) % 2,
        "patient": np.arange(N) // 2,
        "w": RNG.integers(1, 4, N),
        "amount": np.round(RNG.lognormal(3, 0.5, N), 2),
    }
)
NAMES = ["new", "third", "old"]
SCORES: dict[str, Any] = {"label": "y", "score": NAMES, "reference": "old", "n_resamples": 39}
PREDICTED = ROWS.assign(**{name: (ROWS[name] > 0.4).astype(int) for name in NAMES})


def columns(data: pd.DataFrame = ROWS) -> dict[str, Any]:
    return {name: data[name].to_numpy() for name in ("old", "new", "third")}


def pairs_of(block: Any) -> list[tuple[str, str]]:
    return [(pair["model"], pair["reference"]) for pair in block["differences"]]


WITH_OLD = [("new", "old"), ("third", "old")]


def same_differences(pairs: Any, expected: Any) -> None:
    """Check that a report's pairs have the numbers of `compare_rankings` or `compare_predictions`."""
    for k, pair in enumerate(pairs):
        for name, each in pair.metrics.items():
            other = expected[name].differences[k]
            assert (pair.model, pair.reference) == (other.model, other.reference)
            np.testing.assert_array_equal(
                [each.value, *each.interval, each.pvalue], [other.value, *other.confidence_interval, other.pvalue]
            )


# Pairs and order ------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::fastevals.UndefinedMetricWarning")
@pytest.mark.parametrize("options", quick([{}, {"groups": "patient"}, {"sample_weight": "w"}], {}))
def test_differences_are_those_of_compare_rankings_with_the_reference(options: dict[str, Any]) -> None:
    found = report(ROWS, **SCORES, **options)
    (block,) = found.blocks
    assert [model.name for model in block.models] == ["old", "new", "third"]
    its = {name: ROWS[column].to_numpy() for name, column in options.items()}
    specs = {name: name for name in ("roc_auc", "average_precision", "brier_score")}
    expected = compare_rankings(Y, columns(), metrics=specs, reference="old", n_resamples=39, rng=0, **its)
    assert block.intervals is not None
    assert [pair[:2] for pair in block.intervals.differences] == WITH_OLD
    kept = [pair._replace(metrics={n: pair.metrics[n] for n in specs}) for pair in block.intervals.differences]
    same_differences(kept, expected)
    listed_first = report(ROWS, **SCORES | {"reference": None, "score": [*columns()]}, **options).blocks[0].intervals
    assert listed_first is not None
    assert listed_first.models == block.intervals.models


@pytest.mark.parametrize("options", quick([{}, {"by": "day"}, {"groups": "patient"}, {"frequency_weight": "w"}], {}))
def test_files_in_scans_have_the_same_numbers(tmp_path: Path, options: dict[str, Any]) -> None:
    paths = [str(tmp_path / f"{k}.parquet") for k in range(2)]
    for k, path in enumerate(paths):
        ROWS[k::2].to_parquet(path)
    data = pd.concat([ROWS[k::2] for k in range(2)])
    found, scanned = (report(each, **SCORES, **options).to_dict() for each in (data, paths))
    small = report(paths, **SCORES, **options, memory=4000).to_dict()
    for each in (scanned, small):
        for block, other in zip(each["blocks"], found["blocks"], strict=True):
            assert pairs_of(block) == pairs_of(other) == WITH_OLD
            assert block["differences"] == other["differences"]
        assert each["reference"] == "old"
    if "by" in options:
        its = found["over"]["differences"]
        assert its["reference"] == "old"
        assert {*its["models"]} == {"new", "third"}
        for name in ("differences", "adjusted_pvalues"):
            assert small["over"]["differences"][name] == pytest.approx(its[name], rel=1e-9)


@pytest.mark.slow
def test_cells_compare_with_the_reference_only(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(intervals, "ROWS_ALWAYS_DRAWN", 0)
    monkeypatch.setattr(intervals, "BUDGET", 1)
    monkeypatch.setattr(intervals, "RESAMPLES", 99)
    options = {name: value for name, value in SCORES.items() if name != "n_resamples"}
    (block,) = report(ROWS, **options).blocks
    assert block.intervals is not None
    assert block.intervals.method == "cells"
    assert [pair[:2] for pair in block.intervals.differences] == WITH_OLD
    (plain,) = report(ROWS, **options | {"reference": None, "score": ["old", "new", "third"]}).blocks
    assert plain.intervals is not None
    for pair, every in zip(block.intervals.differences, plain.intervals.differences, strict=False):
        assert (every.reference, every.model) == pair[:2]
        for name, each in pair.metrics.items():
            other = every.metrics[name].negated()
            assert each.value == pytest.approx(other.value, abs=1e-12), name
            width, its = each.interval.high - each.interval.low, other.interval.high - other.interval.low
            assert width <= its * (1 + 1e-9), name
    path = str(tmp_path / "rows.parquet")
    ROWS.to_parquet(path)
    streamed = report(path, **options, memory=4000).to_dict()["blocks"][0]
    assert pairs_of(streamed) == WITH_OLD


def test_two_models_have_the_negated_difference_of_cells() -> None:
    rows = intervals.ScoredRows(Y == 1, {"old": columns()["old"], "new": columns()["new"]}, None, None)
    metrics = intervals.column_metrics(None, 0.4, None)
    rankings = {name: rows.ranking_of(name) for name in rows.scores}
    values = {
        name: {label: intervals.SCORE_METRICS[label](each.counts) for label in ("roc_auc", "brier_score")}
        for name, each in rankings.items()
    }
    metrics = {label: metrics[label] for label in ("roc_auc", "brier_score")}
    cells = {name: intervals.few_cells_of_rows(each, rows, name, metrics) for name, each in rankings.items()}
    plan = intervals.IntervalPlan(0.95, 99, 1, 0, most_drawn=1)
    joint = intervals.JointSums(cells, metrics)
    joint.add_all(rows.positive, rows.scores)
    (plain,), (found,) = (
        intervals.cell_intervals(each, metrics, values, cells, joint).differences
        for each in (plan, intervals.replace(plan, reference="old"))
    )
    assert (found.model, found.reference) == (plain.reference, plain.model) == ("new", "old")
    for label, each in found.metrics.items():
        negated = plain.metrics[label].negated()
        assert [each.value, *each.interval, each.pvalue] == pytest.approx(
            [negated.value, *negated.interval, negated.pvalue], rel=1e-12
        )


@pytest.mark.parametrize("target", quick([False, True], False))
def test_predictions_are_compared_with_the_reference(target: bool) -> None:
    metrics = ["mean_absolute_error", "root_mean_squared_error"] if target else ["accuracy", "recall"]
    truth = {"target": "y"} if target else {"label": "y"}
    found = report(PREDICTED, **truth, pred=NAMES, reference="old", by="day", n_resamples=39)
    for day, block in enumerate(found.blocks):
        assert block.intervals is not None
        part = PREDICTED[PREDICTED["day"] == day]
        expected = compare_predictions(
            part["y"], columns(part), metrics=metrics, reference="old", n_resamples=39, rng=0
        )
        kept = [pair._replace(metrics={n: pair.metrics[n] for n in metrics}) for pair in block.intervals.differences]
        same_differences(kept, expected)
        assert [pair[:2] for pair in block.intervals.differences] == WITH_OLD
    assert found.over is not None
    assert found.over.differences is not None
    assert found.over.differences.reference == "old"


def test_values_of_by_are_compared_with_the_reference() -> None:
    found = report(ROWS, **SCORES, by="day")
    expected = compare_groups(Y, columns(), ROWS["day"].to_numpy(), reference="old")["roc_auc"]
    assert found.over is not None
    assert found.over.differences is not None
    np.testing.assert_array_equal(found.over.differences.differences, expected.differences)
    assert "new, third minus old, the strongest evidence of a worse model" in " ".join(found.to_text().split())
    assert found.to_text().split("\n", 1)[1].startswith("old has a mean AUC over 2 values of ")


def test_costs_are_compared_with_the_reference() -> None:
    found = report(ROWS, **SCORES, cost_fp=4, cost_fn_column="amount")
    costs = found.blocks[0].costs
    assert costs is not None
    expected = row_costs(
        Y, columns(), cost_fp=4, cost_fn=ROWS["amount"].to_numpy(), reference="old", n_resamples=39, rng=0
    )
    for rule, pairs in costs.differences.items():
        assert [(each.model, each.reference) for each in pairs] == WITH_OLD
        for each, other in zip(pairs, expected.differences[rule], strict=True):
            assert each.to_dict() == other.to_dict()
    text = " ".join(found.to_text().split())
    third = costs.differences["best threshold"][1]
    assert third.confidence_interval.low > 0
    assert f"third's total cost is {third.value:.4g} more than old's (95 % interval" in text
    assert "No significant difference between the total costs of new and old (" in text


@pytest.mark.slow
@pytest.mark.parametrize("path", ["rows", "cells"])
def test_intervals_cover_all_differences_from_the_reference(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 100 data sets, 88 or more have all three true differences in their intervals (99.8 % if coverage is 95 %)."""
    if path == "cells":
        monkeypatch.setattr(intervals, "ROWS_ALWAYS_DRAWN", 0)
    shifts = {"old": 1.2, "a": 1.2, "b": 1.35, "c": 1.0}
    truth = {name: ndtr(shift / np.sqrt(2)) - ndtr(1.2 / np.sqrt(2)) for name, shift in shifts.items()}
    metrics = {"roc_auc": metric("roc_auc")}
    covered = 0
    for seed in range(100):
        rng = np.random.default_rng([7, seed])
        y, common = rng.random(300) < 0.3, np.sqrt(0.8) * rng.normal(size=300)
        scores = {name: d * y + common + np.sqrt(0.2) * rng.normal(size=300) for name, d in shifts.items()}
        rows = intervals.ScoredRows(y, scores, None, None)
        most = 0 if path == "cells" else None
        plan = intervals.IntervalPlan(0.95, 199 if path == "rows" else 19, None, seed, most, "old")
        rankings = {name: rows.ranking_of(name) for name in scores}
        values = {name: {"roc_auc": each.roc_auc()} for name, each in rankings.items()}
        cells = {name: intervals.few_cells_of_rows(each, rows, name, metrics) for name, each in rankings.items()}
        found = intervals.make_intervals(plan, metrics, rows, values, cells, progress=False)
        assert (found.method, len(found.differences)) == ("cells" if path == "cells" else "BCa", 3)
        ends = {pair.model: pair.metrics["roc_auc"].interval for pair in found.differences}
        covered += all(low <= truth[name] <= high for name, (low, high) in ends.items())
    assert covered >= 88


# Every form -----------------------------------------------------------------------------------------------------------


def test_every_form_has_the_reference() -> None:
    found = report(ROWS, **SCORES)
    text, page = " ".join(found.to_text().split()), found.to_html()
    assert "reference old; each difference is another model minus old" in text
    assert "simultaneous over the pairs with old (max-T)" in text
    assert "simultaneous over the 2 pairs with old (max-T), metric by metric." in text
    lines = [line.split()[0] for line in found.to_text().splitlines() if line.split()[:1] and " - old" in line[:20]]
    assert lines == ["new", "third"]
    for form in (page, found.to_markdown(), found.to_latex()):
        assert form.index("new - old") < form.index("third - old")
        assert "old - new" not in form
        assert "new - third" not in form
    frame = found.to_frame()
    differences = frame[frame["reference"].notna()]
    assert {*differences["reference"]} == {"old"}
    assert [*dict.fromkeys(frame["model"])] == ["old", "new", "third"]
    assert found.to_dict()["reference"] == "old"
    assert "reference" not in report(ROWS, **SCORES | {"reference": None}).to_dict()


def test_pictures_of_differences_have_the_pairs_with_the_reference() -> None:
    metrics = {"roc_auc": ModelDifference(0.01, Interval(0.0, 0.02), 0.04)}
    models = tuple(ModelPair(f"m{k}", "old", metrics) for k in range(60))

    block = SimpleNamespace(best={"roc_auc": ("m3",)}, intervals=Intervals(differences=models))
    ((name, (panel,)),) = difference_panels(block, ["roc_auc"])
    assert name == "differences"
    assert panel.size == forest_size(60)


# Words ----------------------------------------------------------------------------------------------------------------


def against(**metrics: dict[str, tuple[float, ModelDifference | None]]) -> ComparedModels:
    """Return models compared with "old", whose metrics are 0.8, given each model's value and difference by metric."""
    values = {"old": dict.fromkeys(next(iter(metrics.values())), 0.8)}
    pairs = []
    for name, found in metrics.items():
        values[name] = {metric: value for metric, (value, _) in found.items()}
        pairs.append(ModelPair(name, "old", {metric: each for metric, (_, each) in found.items() if each is not None}))
    models = {"old": {"roc_auc": Interval(0.79, 0.81)}}
    return ComparedModels(values, Intervals("BCa", "", models, tuple(pairs)), 0.95, "old")


HIGHER = ModelDifference(0.0116, Interval(0.004, 0.019), 0.01)
SAME = ModelDifference(0.0016, Interval(-0.0003, 0.0035), 0.2)


def test_each_model_is_said_against_the_reference() -> None:
    models = against(b={"roc_auc": (0.8016, SAME)}, a={"roc_auc": (0.8116, HIGHER)}, c={"roc_auc": (0.7, None)})
    assert reference_sentences(models, "roc_auc") == [
        "old's AUC is 0.8000 (95 % interval 0.7900 to 0.8100).",
        "a's AUC is 0.8116; it is higher than old's by 0.0116 (95 % interval 0.0040 to 0.0190; p = 0.0100).",
        "b's AUC is 0.8016; no significant difference from old (0.0016, 95 % interval -0.0003 to 0.0035; p = 0.2000).",
        "c's AUC is 0.7000.",
    ]
    loss = against(a={"log_loss": (0.7, HIGHER.negated())})
    assert reference_sentences(loss, "log_loss")[1] == (
        "a's log loss is 0.7000; it is lower than old's by 0.0116 (95 % interval 0.0040 to 0.0190; p = 0.0100)."
    )
    assert level_sentence(models.intervals, "old") == (
        "Intervals and p-values of differences are simultaneous over the 3 pairs with old (max-T), metric by metric."
    )


def test_other_metrics_are_of_the_best_other_model() -> None:
    models = against(
        b={"roc_auc": (0.7, SAME), "recall": (0.9, HIGHER)}, a={"roc_auc": (0.75, SAME), "recall": (0.7, SAME)}
    )
    said = next_sentence(models, "roc_auc", ["recall"], "At the chosen thresholds")
    assert said == (
        "At the chosen thresholds, no significant difference between a and old in recall (0.0016, 95 % interval "
        "-0.0003 to 0.0035; p = 0.2000)."
    )


def test_undefined_and_many_models_are_said() -> None:
    alone = against(a={"roc_auc": (np.nan, None)})
    assert reference_sentences(alone, "roc_auc")[-1] == "No other model has one."
    alone.values["old"]["roc_auc"] = np.nan  # type: ignore[index]
    assert reference_sentences(alone, "roc_auc")[0] == "old's AUC is undefined."
    many = against(**{f"m{k}": {"roc_auc": (0.5 + k / 100, SAME)} for k in range(MOST_AGAINST + 2)})
    said = reference_sentences(many, "roc_auc")
    assert len(said) == MOST_AGAINST + 2
    assert said[1].startswith("m5's AUC is 0.5500;")
    assert said[-1] == "2 more models: see the tables."


# Errors ---------------------------------------------------------------------------------------------------------------


def test_bad_references_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match=r"^reference must be one of 'new', 'third', 'old'; got 'odl' \(did you mean"):
        report(ROWS, **SCORES | {"reference": "odl"})
    with pytest.raises(ValueError, match=r"^reference must be one of two models or more, got 'new', but the only"):
        report(ROWS, label="y", score="new", reference="new")
    with pytest.raises(ValueError, match=r"^reference must be one of two models or more, got 'm', but the only model"):
        report(fastevals.Ranking(Y, ROWS["new"]), reference="m")
    with pytest.raises(ValueError, match=r"^reference must be one of two models or more"):
        report(fastevals.ConfusionMatrix.from_predictions(Y, PREDICTED["new"]), reference="pred")
    with pytest.raises(ValueError, match=r"^pred is missing"):
        report(PREDICTED, label=None, target="y", reference="old")
    with pytest.raises(ValueError, match=r"^reference must be "):
        report(ROWS, **SCORES | {"reference": ["old"]})
    with pytest.raises(ValueError, match="new"):  # named twice
        report(ROWS, **SCORES | {"score": ["new", "new", "old"], "reference": "new"})
    ROWS.to_csv(tmp_path / "rows.csv")
    flags = ["--label", "y", "--score", "new", "--score", "old", "--reference", "older"]
    assert main(["report", str(tmp_path / "rows.csv"), *flags]) == 2
    assert "--reference must be one of 'new', 'old'; got 'older' (did you mean 'old'?)" in capsys.readouterr().err


def test_summaries_keep_their_own_comparison(tmp_path: Path) -> None:
    paths = []
    for k in range(2):
        paths.append(str(tmp_path / f"{k}.fe"))
        part = tmp_path / f"{k}.csv"
        ROWS[k::2].to_csv(part, index=False)
        scores = [f"--score={name}" for name in NAMES]
        assert main(["summarize", str(part), "--label", "y", *scores, "--out", paths[-1], "--quiet"]) == 0
    plain, found = (
        report(paths[0], against=paths[1], n_resamples=39, reference=each).to_dict()["blocks"][0]
        for each in (None, "old")
    )
    assert [model["name"] for model in found["models"]] == ["old", "new", "third"]
    against_itself = {pair["model"]: pair for pair in found["against"]}
    assert against_itself == {pair["model"]: pair for pair in plain["against"]}
    assert found["differences"] == []
