"""`to_scalars` of every result: legal names, finite numbers, and no number that the result does not have."""

from __future__ import annotations

import math
import posixpath
import re

import numpy as np
import pytest

import fastevals
from fastevals import ConfusionMatrix, Ranking
from fastevals.datasets import load_digits_eight
from fastevals.document.scalars import CHARACTERS_OF_NAME, CHARACTERS_OF_PART, legal
from tests.test_results import GROUPS, MAKE, A, B, Y, made

MLFLOW = re.compile(r"[/\w.\-: ]{1,250}")
TENSORBOARD = re.compile(r"[-/\w.]+")
DIGITS = load_digits_eight()


def numbers_in(value) -> set[float]:
    """Return every number of a dict, at any depth."""
    if isinstance(value, dict):
        return set().union(*map(numbers_in, value.values()), *[set()])
    if isinstance(value, list):
        return set().union(*map(numbers_in, value), *[set()])
    return {float(value)} if isinstance(value, (int, float)) and not isinstance(value, bool) else set()


def numbers_of(result) -> set[float]:
    columns = [column for column in result._columns().values() if column.dtype.kind in "iuf"]
    return numbers_in(result.to_dict()) | set(np.concatenate([np.zeros(0), *columns]).tolist())


@pytest.mark.filterwarnings("ignore::fastevals.UndefinedMetricWarning")
@pytest.mark.parametrize("name", MAKE)
def test_names_are_legal_and_numbers_are_of_the_result(name) -> None:
    result = made(name)
    found = result.to_scalars("test/")
    for key, value in found.items():
        assert MLFLOW.fullmatch(key), key
        assert TENSORBOARD.fullmatch(key), key
        assert posixpath.normpath(key) == key
        assert key.startswith("test/")
        assert type(value) is float
        assert math.isfinite(value)
    assert set(found.values()) <= numbers_of(result)
    assert {f"test/{key}": value for key, value in result.to_scalars().items()} == found


def test_results_that_have_finite_numbers_give_some() -> None:
    empty = {name for name in MAKE if not made(name).to_scalars()}
    assert empty == {
        "certified values", "cost of one class", "decision", "delong of one class", "effects", "estimate",
        "reliability", "roc of one class", "undefined point",
    }  # fmt: skip


def test_a_metric_with_its_interval() -> None:
    ranking = Ranking(DIGITS["label"], DIGITS["logistic"])
    found = fastevals.bootstrap(ranking, ["roc_auc", "average_precision"], n_resamples=99, rng=0)
    scalars, auc, ap = found.to_scalars(), found["roc_auc"], found["average_precision"]
    assert scalars == {
        "roc_auc": auc.value,
        "roc_auc_ci_lower": auc.confidence_interval.low,
        "roc_auc_ci_upper": auc.confidence_interval.high,
        "roc_auc_standard_error": auc.standard_error,
        "roc_auc_bias": auc.bias,
        "average_precision": ap.value,
        "average_precision_ci_lower": ap.confidence_interval.low,
        "average_precision_ci_upper": ap.confidence_interval.high,
        "average_precision_standard_error": ap.standard_error,
        "average_precision_bias": ap.bias,
    }


def test_classes_that_are_floats() -> None:
    def names(dtype: type) -> list[str]:
        columns = {"y": np.array([0, 1, 1, 0] * 5, dtype), "p": np.array([0, 1, 0, 0] * 5, dtype)}
        return [*fastevals.report(columns, label="y", pred="p", n_resamples=0).to_scalars()]

    assert names(float)[:2] == names(int)[:2] == ["accuracy", "balanced_accuracy"]
    assert [name.replace(".0", "") for name in names(float)] == names(int)


def test_several_models_and_their_difference() -> None:
    scores = {"new": DIGITS["random_forest"], "old": DIGITS["logistic"]}
    found = fastevals.compare_rankings(DIGITS["label"], scores, n_resamples=99, rng=0)
    scalars, difference = found.to_scalars(), found["roc_auc"].differences[0]
    assert scalars["new/roc_auc"] == found["roc_auc"].estimates["new"].value
    assert scalars["old/roc_auc_ci_upper"] == found["roc_auc"].estimates["old"].confidence_interval.high
    assert scalars["new_vs_old/roc_auc_difference"] == difference.value
    assert scalars["new_vs_old/roc_auc_difference_ci_lower"] == difference.confidence_interval.low
    assert scalars["new_vs_old/roc_auc_difference_pvalue"] == difference.pvalue


def test_a_test_a_curve_groups_and_a_matrix() -> None:
    test = fastevals.delong_test(Y, A, B)
    assert test.to_scalars() == {
        "statistic": test.statistic,
        "pvalue": test.pvalue,
        "effect": test.effect,
        "effect_ci_lower": test.confidence_interval.low,
        "effect_ci_upper": test.confidence_interval.high,
    }
    assert Ranking(Y, A).roc_curve().to_scalars() == {"area": Ranking(Y, A).roc_auc()}
    grouped = fastevals.grouped_metrics(Y, A, GROUPS, ["roc_auc"])
    assert grouped.to_scalars() == {
        f"{key}/roc_auc": value for key, value in zip("uvw", grouped["roc_auc"].values, strict=True)
    }
    assert grouped["roc_auc"].to_scalars() == grouped.to_scalars()
    by_number = fastevals.grouped_metrics(Y, A, np.repeat([1.5, 2.5], 4), "roc_auc")
    assert by_number.to_scalars().keys() == {"group_1.5/roc_auc", "group_2.5/roc_auc"}
    matrix = ConfusionMatrix([[3, 1], [0, 2]], ["no", "yes"])
    assert matrix.to_scalars()["true_no/predicted_yes/count"] == 1
    queries = fastevals.query_metrics([1, 0, 2, 0, 1, 0, 1, 0], A, GROUPS, "ndcg@2")
    assert queries.to_scalars()["ndcg_at_2"] == queries["ndcg@2"].mean
    assert queries.to_scalars()["ndcg_at_2_ci_lower"] == queries["ndcg@2"].confidence_interval.low


def test_a_report() -> None:
    report = fastevals.report(DIGITS, label="label", score="logistic", n_resamples=99)
    scalars, rows = report.to_scalars(), report.to_frame("pandas").set_index("metric")
    assert scalars["roc_auc"] == rows.value["roc_auc"] == Ranking(DIGITS["label"], DIGITS["logistic"]).roc_auc()
    assert scalars["roc_auc_ci_lower"] == rows.low["roc_auc"]
    assert scalars["roc_auc_ci_upper"] == rows.high["roc_auc"]
    assert scalars["calibration_ratio_pvalue"] == rows.pvalue["calibration_ratio"]
    assert len(scalars) == np.isfinite(rows[["value", "low", "high", "bound_low", "bound_high", "pvalue"]]).sum().sum()


@pytest.mark.cases(2)
@pytest.mark.parametrize(
    ("by", "options", "where"),
    [
        ("fold", {}, "fold_3"),
        ("side", {}, "left"),
        (["fold", "side"], {}, "fold_3"),
        (["fold", "side"], {"cross": True}, "fold_3_side_left"),
    ],
)
def test_segments_of_a_report(by, options, where) -> None:
    data = {**DIGITS, "side": np.array(["left", "right"])[np.arange(DIGITS["label"].size) % 2]}
    report = fastevals.report(data, label="label", score=["logistic", "random_forest"], by=by, n_resamples=0, **options)
    found = report.to_scalars()
    rows = {"fold_3": data["fold"] == 3, "left": data["side"] == "left"}
    rows["fold_3_side_left"] = rows["fold_3"] & rows["left"]
    expected = Ranking(data["label"][rows[where]], data["logistic"][rows[where]]).roc_auc()
    assert found[f"{where}/logistic/roc_auc"] == expected
    assert not any(re.search(r"_\d+$", name.removeprefix(where)) for name in found if not name.startswith("fold_"))
    report = fastevals.report(data, label="label", score="logistic", by=by, n_resamples=0, **options)
    assert report.to_scalars()[f"{where}/roc_auc"] == expected


def test_a_report_of_queries_has_means() -> None:
    rng = np.random.default_rng(0)
    columns = {"y": np.arange(60) % 2, "a": rng.random(60), "b": rng.random(60), "query": np.arange(60) // 6}
    options = {"label": "y", "queries": "query", "metric": "map"}
    found = fastevals.report(columns, score=["a", "b"], n_resamples=99, **options)
    scalars = found.to_scalars()
    difference = found.comparison["map"].differences[0]
    assert (
        scalars["a/map"] == fastevals.query_metrics(*(columns[each] for each in ("y", "a", "query")), "map")["map"].mean
    )
    assert scalars["a_vs_b/map_difference_ci_lower"] == difference.confidence_interval.low
    assert {name.partition("_")[0].partition("/")[0] for name in scalars} == {"a", "b"}
    one = fastevals.report(columns, score="a", n_resamples=0, **options).to_scalars()
    assert one == {"map": scalars["a/map"]}


def test_a_gate() -> None:
    found = fastevals.gate(
        DIGITS, ["roc_auc >= 0.9", "roc_auc >= 0.9 by fold", "brier not worse than champion by 1%"],
        label="label", score=["random_forest", "logistic"], reference="logistic", n_resamples=99,
    )  # fmt: skip
    scalars, decision = found.to_scalars("gate/"), found.results[0].worst.decision
    assert scalars["gate/roc_auc_at_least_0.9"] == decision.value
    assert scalars["gate/roc_auc_at_least_0.9_ci_lower"] == decision.interval.low
    assert f"gate/fold_0/{legal('roc_auc >= 0.9 by fold')}" in scalars
    assert "gate/brier_not_worse_than_champion_by_1_percent_reference_value" in scalars


def compared(**options):
    data = {**DIGITS, "a": DIGITS["logistic"] > 0.5, "b": DIGITS["random_forest"] > 0.5}
    return fastevals.compare(data, label="label", pred=["a", "b"], n_resamples=99, **options)


RESULTS = {"m": [0.1, 0.2, 0.3, 0.4], "n": [0.2, 0.3, 0.35, 0.5], "o": [0.2, 0.3, 0.4, 0.55]}
SHOWN = {
    "plan": (
        lambda: fastevals.gate(
            DIGITS, "roc_auc >= 0.98 assuming 0.985", label="label", score="logistic", plan=True
        ),
        "roc_auc_at_least_0.98_assuming_0.985/roc_auc_n_samples",
    ),
    "compare": (compared, "a_vs_b/accuracy_difference_ci_lower"),
    "compare with a reference": (lambda: compared(reference="a"), "b_vs_a/accuracy_difference_pvalue"),
    "results": (lambda: fastevals.compare(RESULTS), "m/mean_rank"),
    "folds": (
        lambda: fastevals.RankingFolds.from_scores(DIGITS["label"], DIGITS["logistic"], DIGITS["fold"]),
        "fold_0/n_positives",
    ),
    "classes": (lambda: fastevals.ClassRankings(list("abc"), np.eye(3)), "a/support"),
    "bias and variance": (
        lambda: fastevals.bias_variance({"y": [1.0, 2.0], "p": [1.0, 3.0], "q": [2.0, 2.0]}["y"], [[1, 3], [2, 2]]),
        "bias_squared",
    ),
    "classes predicted": (
        lambda: fastevals.report({"y": list("abcab"), "p": list("abbab")}, label="y", pred="p", n_resamples=0),
        "c/recall",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SHOWN)
def test_results_of_calls_that_commands_make(name) -> None:
    make, expected = SHOWN[name]
    result = make()
    found = result.to_scalars()
    assert expected in found
    assert all(TENSORBOARD.fullmatch(key) and math.isfinite(value) for key, value in found.items())
    assert set(found.values()) <= numbers_of(result)
    assert not [key for key in found if re.search(r"[a-z]_2$", key)]  # of names that are equal


def test_bounds_of_counts_are_no_confidence_intervals() -> None:
    summary = fastevals.scale.RankingSummary(cells=64)
    summary.update(DIGITS["label"], DIGITS["logistic"])
    found = fastevals.report(summary, n_resamples=0).to_scalars()
    assert found["roc_auc_bound_lower"] < Ranking(DIGITS["label"], DIGITS["logistic"]).roc_auc()
    assert not [name for name in found if name.startswith("roc_auc_ci")]
    certified = summary.ranking().roc_auc()
    assert certified.to_scalars() == {
        "value": certified.value,
        "value_bound_lower": certified.low,
        "value_bound_upper": certified.high,
    }


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("roc_auc >= 0.8", "roc_auc_at_least_0.8"),
        ("roc_auc <= 0.8", "roc_auc_at_most_0.8"),
        ("ndcg@10", "ndcg_at_10"),
        ("recall(fpr=0.01)", "recall_fpr_0.01"),
        ("predicted/observed", "predicted_observed"),
        ("ratio within 0.9 .. 1.1", "ratio_within_0.9_to_1.1"),
        ("..", "_"),
        ("", "_"),
        ("\x1b[31m\n", "31m"),
        ("größe", "größe"),
        ("☃", "_"),
        ("-0.5", "-0.5"),
    ],
)
def test_what_names_become(text, name) -> None:
    assert legal(text) == name


def test_long_and_equal_names() -> None:
    assert len(legal("x" * 1000)) == CHARACTERS_OF_PART
    assert legal("x" * 1000) != legal("x" * 1001)
    scores = {"a b": A, "a/b": A, "☃": A, "☂": A, "y" * 300: A}
    found = fastevals.batch_metrics(Y, scores, "roc_auc").to_scalars("x" * 180 + "/")
    assert len(found) == len(scores)
    assert max(map(len, found)) <= CHARACTERS_OF_NAME
    names = [name.removeprefix("x" * 180 + "/") for name in found]
    assert names[:4] == ["a_b/roc_auc", "a_b/roc_auc_2", "_/roc_auc", "_/roc_auc_2"]


@pytest.mark.parametrize("prefix", ["../", "/a", "a//", "a b\n", "a=", None, 3, ["x"]])
def test_a_prefix_that_is_not_legal(prefix) -> None:
    with pytest.raises(ValueError, match="prefix must"):
        made("bootstrap").to_scalars(prefix)


@pytest.mark.parametrize("prefix", ["", "val_", "test/", "a.b-c: ", "größe/"])
def test_a_legal_prefix(prefix) -> None:
    assert made("bootstrap").to_scalars(prefix)[f"{prefix}roc_auc"] == made("bootstrap")["roc_auc"].value
