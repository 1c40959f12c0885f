"""The rows of every result: in pandas, polars and Arrow frames, and the first of them in notebooks."""

from __future__ import annotations

import contextlib
import itertools
import math
import subprocess
import sys
import warnings
from html.parser import HTMLParser
from importlib import import_module
from itertools import chain
from pkgutil import walk_packages
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import fastevals
from fastevals import ConfusionMatrix, KFold, UndefinedMetricWarning, metric
from fastevals.chapter import solve
from fastevals.document.document import Document, Row, Section, Table
from fastevals.document.frames import as_column, from_rows, stack
from fastevals.document.notebook import COLUMNS_SHOWN, ROWS_SHOWN, write_notebook
from fastevals.document.result import Result
from fastevals.results import ByMetric
from fastevals.scale.certified import Certified, CertifiedValues
from fastevals.split.estimates.corrections import BootstrapErrors
from tests.parameters import quick
from tests.test_results import CURVES, GROUPS, MAKE, A, B, X, Y, constant
from tests.test_results import made as made_result

TABLE = {"y": Y, "a": A, "b": B, "day": GROUPS, "p": Y[::-1], "q": [0] * 8, "t": A}
MORE = {
    "classes": lambda: fastevals.ClassRankings(["a", "b", "b", "c"], [[3, 1, 1], [1, 2, 1], [2, 2, 1], [1, 1, 2]]),
    "folds": lambda: fastevals.RankingFolds.from_scores(Y, A, ["u", "v"] * 2 + ["u", "v", "v", "u"]),
    "stack": lambda: ConfusionMatrix(np.arange(24).reshape(2, 3, 2, 2), [5, 7]),
    "of classes": lambda: fastevals.bootstrap(
        (list("aabbcc"), list("abbbca")), {"recalls": metric("recall", average=None), "accuracy": "accuracy"},
        n_resamples=9, rng=0,
    ),
    "certified": lambda: Certified(0.8, 0.7, 0.9),
    "certified values": lambda: CertifiedValues(*np.array([[0.8, np.nan], [0.7, np.nan], [0.9, np.nan]])),
    "per sample": lambda: made_result("bias and variance").per_sample,
    "sequence": lambda: CURVES.cost_curve().at(prior=[0.2, 0.4]),
    "report": lambda: fastevals.report(TABLE, label="y", score=["a", "b"], by="day", n_resamples=0),
    "report with intervals": lambda: fastevals.report(TABLE, label="y", score=["a", "b"], n_resamples=19),
    "report of classes": lambda: fastevals.report(TABLE, label="y", pred=["p", "q"], n_resamples=19),
    "report of numbers": lambda: fastevals.report(TABLE, target="t", pred=["a", "b"], n_resamples=19),
    "compared systems": lambda: fastevals.report(TABLE, label="y", score=["a", "b"], queries="day", n_resamples=19),
    "gate report": lambda: fastevals.gate(
        TABLE, ["roc_auc >= 0.1", "roc_auc better than b by day"], label="y", score=["a", "b"], n_resamples=99
    ),
    "gate report of planned rows": lambda: fastevals.gate(
        TABLE, "roc_auc not worse than b by 0.3", label="y", score=["a", "b"], n_resamples=99, plan=True
    ),
    "compared predictions": lambda: fastevals.compare(TABLE, label="y", pred=["p", "q"], n_resamples=19),
    "compared probabilities": lambda: fastevals.compare(
        {"y": Y}, label="y", probabilities={"p": [[0.5, 0.5]] * 8, "q": [[0.3, 0.7], [0.8, 0.2]] * 4}, n_resamples=19
    ),
    "compared figures": lambda: solve("mcnemar"),
    "compared results": lambda: fastevals.compare({"data": list("abcd"), "u": A[:4], "v": B[:4], "w": A[4:]}),
}  # fmt: skip
NAMES = [*MAKE, *MORE]
REPORTS = [name for name in MORE if "report" in name or "compared" in name]
MADE: dict[str, Any] = {}


def made(name: str) -> Any:
    if name in MAKE:
        return made_result(name)
    if name not in MADE:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            MADE[name] = MORE[name]()
    return MADE[name]


def plain(value: Any) -> Any:
    """Return a value that is equal across libraries; missing values and NaN become None."""
    if isinstance(value, pd.Timestamp):
        value = value.to_pydatetime()
    if hasattr(value, "date"):
        value = value.date()
    return None if value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value)) else value


def columns(frame: Any) -> dict[str, list[Any]]:
    return {name: [plain(value) for value in frame[name].to_list()] for name in frame.columns}


@pytest.mark.parametrize("name", quick(NAMES, *(name for name in NAMES if name != "by query")))
def test_the_frames_of_all_libraries_have_the_same_rows(name: str) -> None:
    result = made(name)
    theirs, others, arrow = result.to_frame("pandas"), result.to_frame("polars"), pl.from_arrow(pa.table(result))
    assert isinstance(theirs, pd.DataFrame)
    assert isinstance(arrow, pl.DataFrame)
    assert len(theirs)
    assert arrow.equals(others)
    expected = columns(theirs)
    for column, values in expected.items():
        if theirs[column].dtype == object and len({type(value) for value in values if value is not None}) > 1:
            expected[column] = [value if value is None else str(value) for value in values]  # a column has one type
    assert columns(others) == expected
    assert not [column for column in others.columns if others[column].dtype in (pl.Object, pl.Null)]
    for column in others.columns:  # an undefined number is NaN, not missing
        assert not others[column].dtype.is_float() or others[column].null_count() == 0


def pairs_of(result: Any) -> dict[str, Any]:
    first, second = zip(*([result.names[k] for k in pair] for pair in result.pairs), strict=True)
    return {"first": first, "second": second}


EFFECTS = ("higher", "tied", "lower", "mean_difference", "median_difference", "rank_biserial", "vargha_delaney_a")


def effects_of_pairs(result: Any) -> dict[str, Any]:
    ends = {
        f"{name}_{end}": getattr(getattr(result, f"{name}_interval"), end)
        for name in ("mean", "median")
        for end in ("low", "high")
    }
    return {name: getattr(result, name) for name in EFFECTS} | ends


def pieces_of(edges: Any, result: Any) -> dict[str, Any]:
    ends = {"cost_at_low": result.cost[:-1], "cost_at_high": result.cost[1:]}
    return {"low": edges[:-1], "high": edges[1:], **ends}


def line_of(line: Any, prefix: str = "", names: str = "value standard_deviation low high") -> dict[str, Any]:
    return {prefix + name: getattr(line, "values" if name == "value" else name) for name in names.split()}


def estimate_of(result: Any) -> dict[str, Any]:
    names = ("value", "standard_deviation", "micro", "n_undefined")
    ends = dict(zip(("low", "high"), result.confidence_interval, strict=True))
    return ends | {name: getattr(result, name) for name in names} | {"training": math.nan, **parts_of(result)}


def parts_of(result: Any) -> dict[str, float]:
    no_parts = dict.fromkeys(BootstrapErrors._fields, math.nan)
    return no_parts if result.bootstrap is None else result.bootstrap._asdict()


def cells_of(matrix: Any) -> dict[str, Any]:
    cells = list(np.ndindex(matrix.counts.shape))
    axes = {f"axis_{k}": [cell[k] for cell in cells] for k in range(matrix.counts.ndim - 2)}
    true, predicted = ([matrix.labels[cell[k]].item() for cell in cells] for k in (-2, -1))
    return {**axes, "true": true, "predicted": predicted, "count": [matrix.counts[cell] for cell in cells]}


QUANTITIES = ("predicted", "observed", "spiegelhalter", "ratio", "intercept", "slope", "slope_intercept")


def rows_of_calibration(result: Any) -> dict[str, list[Any]]:
    z, estimates = result.spiegelhalter, [getattr(result, name) for name in QUANTITIES[3:]]
    ends = {
        end: [math.nan] * 3 + [getattr(each.confidence_interval, end) for each in estimates] for end in ("low", "high")
    }
    return {
        "quantity": list(QUANTITIES),
        "value": [result.predicted, result.observed, z.statistic, *(each.value for each in estimates)],
        "pvalue": [math.nan, math.nan, z.pvalue, *(each.pvalue for each in estimates)],
        "standard_error": [math.nan] * 3 + [each.standard_error for each in estimates],
        "caution": [""] * 3 + [each.caution for each in estimates],
        **ends,
    }


def rows_of_models(result: Any) -> dict[str, list[Any]]:
    differences = [(name, each) for name, several in result.differences.items() for each in several]
    models = [(name, rows_of_calibration(each)) for name, each in result.items()]
    own: dict[str, list[Any]] = {
        "model": [name for name, rows in models for _ in rows["value"]] + [each.model for _, each in differences],
        "reference": [None] * 7 * len(models) + [each.reference for _, each in differences],
        "quantity": [each for _, rows in models for each in rows["quantity"]] + [name for name, _ in differences],
        "caution": [each for _, rows in models for each in rows["caution"]] + [None] * len(differences),
    }
    for name in ("value", "pvalue", "standard_error", "unadjusted_pvalue", "low", "high"):
        place = ("low", "high").index(name) if name in ("low", "high") else None
        own[name] = [each for _, rows in models for each in rows.get(name, [math.nan] * 7)]
        own[name] += [
            getattr(each, name) if place is None else each.confidence_interval[place] for _, each in differences
        ]
    return own


def rows_of_segments(result: Any) -> dict[str, Any]:
    own: dict[str, Any] = {name: [key[k] for key in result] for k, name in enumerate(result.columns)}
    calibrations = list(result.values())
    for name in ("n_samples", "n_positives", "predicted", "observed"):
        own[name] = [getattr(each, name) for each in calibrations]
    for name in ("ratio", "intercept", "slope"):
        estimates = [getattr(each, name) for each in calibrations]
        own[name], own[f"{name}_pvalue"] = [each.value for each in estimates], [each.pvalue for each in estimates]
        own[f"{name}_low"], own[f"{name}_high"] = zip(*(each.confidence_interval for each in estimates), strict=True)
    own["spiegelhalter"] = [each.spiegelhalter.statistic for each in calibrations]
    own["spiegelhalter_pvalue"] = [each.spiegelhalter.pvalue for each in calibrations]
    own["ratio_adjusted_pvalue"] = result.ratio_pvalues
    return own | {"spiegelhalter_adjusted_pvalue": result.spiegelhalter_pvalues}


def costs_of(*decisions: Any) -> dict[str, Any]:
    names = ("total", "savings", "savings_share", "savings_over_all", "savings_over_all_share")
    ends = {f"{name}_{end}": (name, k) for name in names for k, end in enumerate(("low", "high"))}
    return {
        **{name: [getattr(each, name) for each in decisions] for name in ("rule", "threshold", "n_predicted")},
        **{name: [getattr(each, name).value for each in decisions] for name in (*names, "mean")},
        **{key: [getattr(each, name).confidence_interval[k] for each in decisions] for key, (name, k) in ends.items()},
    }


def costs_of_rules(*rules: Any) -> dict[str, Any]:
    means = [each.mean for each in rules]
    return {
        **{name: [getattr(each, name) for each in rules] for name in ("rule", "expected")},
        "mean": [each.value for each in means], "standard_error": [each.standard_error for each in means],
        **{f"mean_{end}": [getattr(each.confidence_interval, end) for each in means] for end in ("low", "high")},
    }  # fmt: skip


# By class, the values of columns that are not an attribute of the same name or its plural.
def tables_of(result: Any, models: list[Any]) -> dict[str, Any]:
    """Return the columns of tables by model."""
    columns = [each._columns() for each in result.values()]
    return {"model": models, **{name: [*chain.from_iterable(each[name] for each in columns)] for name in columns[0]}}


def cells_of_results(result: Any) -> dict[str, Any]:
    places = list(np.ndindex(result.values.shape))
    return {
        "dataset": [result.datasets[place[0]] for place in places],
        "learner": [result.learners[place[1]] for place in places],
        "repeat": [place[2] for place in places],
        "fold": [place[3] for place in places],
        "value": result.values.ravel(),
    }


def pairs_by_strength(result: Any) -> dict[str, Any]:
    """Return the columns of strengths of learners: pairs, with the stronger one first."""
    order = sorted(range(len(result.learners)), key=lambda k: -result.strength[k])
    first, second = zip(*itertools.combinations(order, 2), strict=True)
    ahead, behind = (first, second), (second, first)
    return {
        "first": [result.learners[k] for k in first],
        "second": [result.learners[k] for k in second],
        "wins": result.wins[ahead],
        "ties": result.ties[ahead],
        "losses": result.wins[behind],
        "win_probability": result.win_probability[ahead],
        "first_better": result.better[ahead],
        "equivalent": result.equivalent[ahead],
        "second_better": result.better[behind],
    }


OWN: dict[str, Any] = {
    "GainTables": lambda result: tables_of(result, [name for name, each in result.items() for _ in each.bins]),
    "ScoreDrifts": lambda result: tables_of(result, [name for name, each in result.items() for _ in each.today]),
    "SampleSize": lambda result: {"model": [result.model]},
    "CostEnvelope": lambda result: pieces_of(result.probability_cost, result),
    "CostOverPrior": lambda result: pieces_of(result.prior, result),
    "CalibrationCurve": lambda result: {"lower_edge": result.edges[:-1], "upper_edge": result.edges[1:]},
    "ConfusionMatrix": cells_of,
    "PairwiseResult": pairs_of,
    "MeasuredPairs": lambda result: (
        pairs_of(result)
        | dict(zip(("low", "high"), result.confidence_interval, strict=True))
        | effects_of_pairs(result.effects)
        | ({} if result.equivalence_margin is None else {"equivalence_pvalue": result.equivalence_pvalue})
    ),
    "PairEffects": effects_of_pairs,
    "Results": cells_of_results,
    "BayesComparison": lambda result: {
        "first": [result.a],
        "second": [result.b],
        "first_better": [result.a_better],
        "second_better": [result.b_better],
        **dict(zip(("low", "high"), result.credible_interval, strict=True)),
    },
    "BradleyTerry": pairs_by_strength,
    "ErrorRatePosterior": lambda result: dict(zip(("low", "high"), result.credible_interval, strict=True)),
    "McNemarPairs": lambda result: pairs_of(result) | {
        f"{name}_right": table
        for name, table in zip(
            ("both", "only_first", "only_second", "neither"), result.tables.reshape(-1, 4).T, strict=True
        )
    },
    "GroupComparison": lambda result: {
        "model": result.models,
        **dict(zip(("low", "high"), result.confidence_intervals.T, strict=True)),
    },
    "GroupDifferences": lambda result: {
        **dict(zip(("low", "high"), result.difference_intervals.T, strict=True)),
        **dict(zip(("ratio_low", "ratio_high"), result.ratio_intervals.T, strict=True)),
    },
    "SequenceEstimate": lambda result: {
        **dict(zip(("low", "high"), result.confidence_interval, strict=True)),
        **dict(zip(("fixed_low", "fixed_high"), result.fixed_interval, strict=True)),
    },
    "GroupRange": lambda result: {
        "measure": ["difference", "ratio"],
        "value": [result.difference, result.ratio],
        "low": [result.difference_interval.low, result.ratio_interval.low],
        "high": [result.difference_interval.high, result.ratio_interval.high],
    },
    "RankComparison": lambda result: pairs_of(result) | {
        f"{name}_mean_rank": [result.mean_ranks[pair[k]] for pair in result.pairs]
        for k, name in enumerate(("first", "second"))
    },
    "CalibrationBins": lambda result: {"lower_edge": result.edges[:-1], "upper_edge": result.edges[1:]},
    "CalibrationError": lambda result: {
        "squared_low": result.squared_interval.low, "squared_high": result.squared_interval.high
    },
    "Calibration": rows_of_calibration,
    "CalibrationComparison": rows_of_models,
    "CalibrationSegments": rows_of_segments,
    "DelongResult": lambda result: {
        "model": range(len(result.aucs)) if result.names is None else result.names,
        **dict(zip(("low", "high"), result.confidence_interval(), strict=True)),
    },
    "ClassDelongResult": lambda result: {
        "model": range(len(result.aucs)) if result.names is None else result.names,
        **dict(zip(("low", "high"), result.confidence_interval(), strict=True)),
    },
    "BiasVarianceCurve": lambda result: {"param_shift": result.values, **result.parts()},
    "ErrorCurve": lambda result: {
        "train_size": result.values,
        "fit": None,
        "failure": [result.failures.get(k) for k in range(len(result.values))],
        **line_of(result.test, "test_"),
        **line_of(result.training, "training_", "value standard_deviation"),
    },
    "ErrorEstimate": parts_of,
    "CandidateResult": lambda result: {"param_shift": result.params["shift"], **estimate_of(result.estimate)},
    "ModelSelection": lambda result: {
        "name": [each.name for each in result.candidates],
        "param_shift": [each.params["shift"] for each in result.candidates],
        "chosen": [each is result.best for each in result.candidates],
        "failure": [each.failure for each in result.candidates],
        **{
            name: [estimate_of(each.estimate)[name] for each in result.candidates]
            for name in estimate_of(result.best.estimate)
        },
    },
    "NestedEstimate": lambda result: {
        "split": range(2), "value": result.estimate.per_split.ravel(), "chosen": map(str, result.chosen)
    },
    "Sensitivity": lambda result: {
        "param_shift": result.values,
        **line_of(result.as_chosen, "as_chosen_"),
        **line_of(result.at_best, "at_best_"),
        "chosen": [k == result.chosen for k in range(len(result.values))],
    },
    "RankingFolds": lambda result: {
        "fold": result.names,
        **{name: [getattr(each, name) for each in result] for name in ("n_positives", "n_negatives")},
    },
    "DecisionCost": lambda result: costs_of(result),
    "ModelCosts": lambda result: costs_of(*result._decisions()),
    "RowCosts": lambda result: {
        "model": [model for model, costs in result.items() for _ in costs._decisions()] + [None] * 2,
        **costs_of(*(each for costs in result.values() for each in costs._decisions()), result.none, result.all),
    },
    "RuleCost": lambda result: costs_of_rules(result),
    "ClassDecisions": lambda result: costs_of_rules(result.least_cost, result.most_probable),
    "ClassCosts": lambda result: {
        "model": [model for model in result for _ in range(2)] + [None],
        **costs_of_rules(
            *(each for costs in result.values() for each in (costs.least_cost, costs.most_probable)),
            result.best_constant,
        ),
    },
    "ClassThresholds": lambda result: {
        "threshold": result.thresholds, "lowest": result.fold_thresholds.min(axis=0),
        "highest": result.fold_thresholds.max(axis=0),
    },
    "ClassRankings": lambda result: {"support": result.support},
    "BestConfiguration": lambda result: {
        "configuration": result.names, "value": result.values, "best": [each == result.best for each in result.names],
    },
}  # fmt: skip


def attribute(result: Any, column: str) -> Any:
    """Return the attribute that a column comes from."""
    if column in ("low", "high") and not hasattr(result, column):
        k = ("low", "high").index(column)
        if isinstance(result, fastevals.GroupedMetric):
            return math.nan if result.confidence_intervals is None else result.confidence_intervals[:, k]
        return math.nan if result.confidence_interval is None else result.confidence_interval[k]
    plural = {"model": "names", "query": "queries"}.get(column, f"{column}s")
    value = getattr(result, column if hasattr(result, column) else plural)
    if isinstance(value, fastevals.ErrorEstimate | fastevals.Estimate):  # an estimate in a row of several
        value = value.value
    return range(np.size(result.r2)) if column == "model" and value is None and np.ndim(result.r2) else value


def check_columns(frame: dict[str, list[Any]], result: Any) -> None:
    own = OWN.get(type(result).__name__, dict)(*([result] if type(result).__name__ in OWN else []))
    assert set(own) <= set(frame)
    for column, values in frame.items():
        own.setdefault("place", range(len(values)))  # of arrays
        expected = own[column] if column in own else attribute(result, column)
        if not isinstance(expected, str) and hasattr(expected, "__iter__"):
            expected = expected.tolist() if isinstance(expected, np.ndarray) else list(expected)
        else:
            expected = [expected] * len(values)
        assert [*map(plain, expected)] == values, column


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("ignore::fastevals.UndefinedMetricWarning")
def test_columns_are_the_attributes(name: str) -> None:
    result = made(name)
    frame = result.to_frame("pandas")
    if not isinstance(result, ByMetric):
        if name not in REPORTS:
            check_columns(columns(frame), result)
        return
    assert [*dict.fromkeys(frame["metric"])] == list(result)
    for metric_name, each in result.items():
        rows = columns(frame[frame["metric"] == metric_name])
        if isinstance(each, fastevals.MetricComparison):
            check_comparison(rows, each)
            continue
        alone = columns(each.to_frame("pandas"))
        if "place" not in alone:
            check_columns(alone, each)
        elif result.labels is not None:
            assert rows["label"] == result.labels.tolist()
            assert alone.pop("place") == [0, 1, 2]
        assert {column: rows[column] for column in alone} == alone


def check_comparison(rows: dict[str, list[Any]], comparison: Any) -> None:
    n_models = len(comparison.estimates)
    assert rows["model"] == [*comparison.estimates, *(each.model for each in comparison.differences)]
    assert rows["reference"] == [None] * n_models + [each.reference for each in comparison.differences]
    assert rows["value"] == [each.value for each in (*comparison.estimates.values(), *comparison.differences)]
    assert rows["pvalue"] == [None] * n_models + [each.pvalue for each in comparison.differences]
    assert rows["low"][n_models:] == [each.confidence_interval.low for each in comparison.differences]


# Reports and comparisons ----------------------------------------------------------------------------------------------


def test_a_report_has_a_row_for_each_number() -> None:
    report = made("report with intervals")
    block, frame = report.blocks[0], report.to_frame("polars")
    own, differences = frame.filter(pl.col("reference").is_null()), frame.filter(pl.col("reference").is_not_null())
    values = {(row["model"], row["metric"]): row for row in own.to_dicts()}
    for model in block.models:
        for name, value in model.metrics.items():
            assert plain(values[model.name, name]["value"]) == plain(value)
            ends = block.intervals.models[model.name].get(name, (math.nan, math.nan))
            assert [plain(values[model.name, name][end]) for end in ("low", "high")] == [*map(plain, ends)]
    (pair,) = block.intervals.differences
    assert differences.select("model", "reference").unique().row(0) == (pair.model, pair.reference)
    assert dict(differences.select("metric", "pvalue").rows()) == {n: each.pvalue for n, each in pair.metrics.items()}
    assert own.height + differences.height == frame.height


def test_a_report_says_which_value_rows_are_of() -> None:
    report = made("report")
    frame = report.to_frame("pandas")
    assert [*frame["by"].dropna().unique()] == ["u", "v", "w"]
    frame = frame[~frame["metric"].str.startswith(("predicted", "observed", "calibration_", "spiegelhalter"))]
    frame = frame[frame["by"].notna()]
    assert len(frame) == sum(len(model.metrics) for block in report.blocks for model in block.models)
    days = [k for k in range(101) for _ in range(2)]
    many = {"y": [0, 1] * 101, "s": np.linspace(0, 1, 202), "t": np.linspace(0, 1, 202), "model": days}
    for given in ({"label": "y", "score": "s"}, {"target": "t", "pred": "s"}):
        report = fastevals.report(many, by="model", n_resamples=0, **given)
        assert not report.blocks
        frame = report.to_frame("pandas")
        assert len(frame) == 101 * frame["metric"].nunique()
        assert frame["by"].tolist()[:101] == list(range(101))


def test_a_report_of_classes_has_theirs() -> None:
    report = made("report of classes")
    frame = report.to_frame("pandas")
    of_classes = frame[frame["label"].notna()]
    model = report.blocks[0].models[0]
    for name, values in model.classes.metrics.items():
        rows = of_classes[(of_classes["model"] == model.name) & (of_classes["metric"] == name)]
        assert rows["value"].tolist() == values.tolist()
        assert rows["label"].tolist() == model.classes.matrix.labels.tolist()
        assert rows["low"].tolist() == model.classes.intervals[name].low.tolist()


def test_all_reports_have_the_same_columns() -> None:
    many = {"y": [0, 1] * 101, "s": np.linspace(0, 1, 202), "day": [k for k in range(101) for _ in range(2)]}
    names = [name for name in MORE if name.startswith("report")]
    found = [made(name) for name in names] + [fastevals.report(many, label="y", score="s", by="day", n_resamples=0)]
    frames = [report.to_frame("polars") for report in found]
    expected = [
        "by",
        "model",
        "reference",
        "metric",
        "label",
        "value",
        "low",
        "high",
        "bound_low",
        "bound_high",
        "pvalue",
        "n_samples",
        "whole",
    ]
    assert [frame.columns for frame in frames] == [expected] * len(frames)
    assert pl.concat(frames[1:4:2])["by"].dtype == pl.String  # though no row has a value
    assert frames[1]["n_samples"].unique().to_list() == [8]
    assert "bound_low" not in found[1]._repr_html_()


def test_compared_results_have_a_row_for_each_algorithm() -> None:
    result = made("compared results")
    frame = result.to_frame("pandas")
    friedman = result.blocks[0].friedman
    assert frame["algorithm"].tolist() == list(friedman.names)
    assert frame["mean_rank"].tolist() == friedman.mean_ranks.tolist()
    assert made("compared predictions").to_frame().equals(made("compared predictions").models.to_frame())
    by = fastevals.compare({"half": list("aabbaabb"), "u": A, "v": B, "w": A[::-1]}, by="half").to_frame("pandas")
    assert by["by"].tolist() == list("aaabbb")


# All classes ----------------------------------------------------------------------------------------------------------


def test_no_result_was_forgotten() -> None:
    for module in walk_packages(fastevals.__path__, "fastevals."):
        if "__main__" not in module.name and ".make_" not in module.name:
            with contextlib.suppress(*[ModuleNotFoundError] * (".integrations." in module.name)):  # without the tool
                import_module(module.name)
    found, kinds = [Result], set()
    while found:
        found = [each for kind in found for each in kind.__subclasses__() if each.__module__.startswith("fastevals")]
        kinds |= set(found)
    bases = {"Frozen", "KeyedCalibrations", "ValuesByKey"}
    assert {kind.__name__ for kind in kinds if kind._columns is Result._columns} == bases
    public = {kind for name in fastevals.__all__ if isinstance(kind := getattr(fastevals, name), type)}
    assert {kind.__name__ for kind in public if hasattr(kind, "to_dict") and kind not in kinds} == set()
    covered = {base.__name__ for name in NAMES for base in type(made(name)).__mro__}
    of_others = {"MetricComparison", "Difference", "UnpairedDifference", "ErrorLine", "ResultsTable"}
    of_others |= {"PlacementMoments", "WeightedMoments"}
    below = {"DecomposedPredictions", "DecomposedCurve", "ResultsTable"}
    assert {each.__name__ for each in kinds if "_columns" in vars(each)} - covered == of_others | below


class Page(HTMLParser):
    """Check that tags are closed; keep cells by row, words and attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.rows: list[list[str]] = []
        self.tags: set[str] = set()
        self.styles: set[str] = set()
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag != "br":
            self.open.append(tag)
        self.tags.add(tag)
        self.styles |= {str(value) for name, value in attrs if name == "style"}
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data
        elif data.strip():
            self.words.append(data)


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_shows_the_first_rows(name: str) -> None:
    result = made(name)
    text = result._repr_html_()
    page = Page(text)
    assert page.tags == {"div", "strong", "table", "thead", "tbody", "tr", "th", "td"} | ({"p", "br", "u"} & page.tags)
    assert page.words[0].strip()
    assert len(text) < 40_000
    assert all(style.split(":")[0] in ("text-align", "font-variant-numeric") for style in page.styles)  # no colours
    if type(result)._document is not Result._document:
        return
    head, *rows = page.rows
    shown = result._shown_columns()
    assert head == list(shown)
    n_rows = len(shown[head[0]])
    assert len(rows) == min(n_rows, ROWS_SHOWN)
    assert all(len(row) == len(head) for row in rows)
    assert any(f"The first 20 of {n_rows:,} rows" in each for each in page.words) == (n_rows > ROWS_SHOWN)


def test_a_comparison_shows_its_verdict_its_tests_and_their_p_in_a_notebook() -> None:
    page = Page(made("compared predictions")._repr_html_())
    document = made("compared predictions").to_markdown()
    verdict = [each for each in page.words if each in document or f"**{each}**" in document]
    assert verdict
    assert any("McNemar's exact test" in each for each in page.words)
    assert [row[-1] for row in page.rows if row[0] == "Models"][-1].startswith("p")
    assert [row for row in page.rows if row[0] == "p - q" or row[0] == "p, q"]


def test_a_notebook_says_at_which_threshold_a_table_is() -> None:
    table = Table("metrics", "Metrics", ["Model", "F1"], [Row("a", ["0.5"])], note="at threshold 0.4")
    assert "Metrics</strong> at threshold 0.4</p>" in write_notebook(
        Document("", "report", sections=[Section([table])])
    )


def test_a_notebook_shows_as_many_rows_as_asked() -> None:
    matrix = ConfusionMatrix(np.ones((30, 30), dtype=int))  # shown by its 20 most frequent errors
    try:
        fastevals.set_display(max_rows=7)
        page = Page(matrix._repr_html_())
        assert len(page.rows) == 8
        assert page.words[1].startswith("The first 7 of 20 rows; fastevals.set_display(max_rows=...)")
        fastevals.set_display(max_rows=30)
        assert len(Page(matrix._repr_html_()).rows) == 21
    finally:
        fastevals.set_display(max_rows=ROWS_SHOWN)
    for wrong in (0, 2.5, None, True):
        with pytest.raises(ValueError, match="max_rows must be an integer"):
            fastevals.set_display(max_rows=wrong)


BAD = "<script>alert('$x$')</script>\x1b\u202e"


@pytest.mark.slow
def test_names_do_nothing_in_a_notebook() -> None:
    results = [
        fastevals.delong(Y, {BAD: A, "b": B}),
        fastevals.compare_rankings(Y, {BAD: A, "b": B}, n_resamples=19, rng=0),
        fastevals.friedman_test({BAD: [1, 2, 4], "b": [2, 3, 3], "c": [3, 1, 2]}),
        fastevals.pairwise_tests({BAD: A, "b": B}),
        fastevals.report({BAD: Y, "<b>": A}, label=BAD, score="<b>", n_resamples=0),
        ConfusionMatrix([[3, 1], [0, 2]], [BAD, "b"]),
        fastevals.validation_curve(
            lambda x, y, x_new, **given: constant(x, y, x_new), X, X, KFold(3, rng=0), "mean_squared_error",
            parameter=BAD, values=[BAD, "b"],
        ),
    ]  # fmt: skip
    for result in results:
        text = result._repr_html_()
        assert Page(text).tags <= {"div", "strong", "table", "thead", "tbody", "tr", "th", "td", "p", "br", "u"}
        assert "<script" not in text
        assert text.replace("\n", "").isprintable()
        assert "mathjax_ignore" in text


def test_numbers_are_written_as_prints_have_them() -> None:
    test = fastevals.delong_test(Y, A, B)
    page = Page(test._repr_html_())
    assert page.words == ["DeLong's test", test.conclusion]
    shown = dict(zip(*page.rows, strict=True))
    assert (shown["effect"], shown["pvalue"], shown["rejected"]) == ("0.3750", "0.0662", "no")
    assert (shown["low"], shown["high"]) == ("-0.0251", "0.7751")
    page = Page(ConfusionMatrix([[3, 1], [0, 2]], ["no", "yes"])._repr_html_())
    assert page.rows == [["true \\ predicted", "no", "yes"], ["no", "3", "1"], ["yes", "0", "2"]]
    assert Page(CURVES.roc_curve()._repr_html_()).rows[1] == ["0.0000", "0.0000", "inf"]
    assert Page(made("undefined point")._repr_html_()).rows[1] == ["-", "-"]
    table = Table("rows", "", [f"{k}" for k in range(100)], [Row("a", ["1"] * 99)] * 99, n_rows=99)
    many = Page(write_notebook(Document("", "many", sections=[Section([table])])))
    assert {*map(len, many.rows)} == {COLUMNS_SHOWN}
    assert [each.partition(";")[0] for each in many.words[1:]] == [
        "The first 20 of 99 rows",
        "The first 24 of 100 columns",
    ]
    assert "2026-01-01" in Page(made("grouped by day")._repr_html_()).rows[1]


# Libraries ------------------------------------------------------------------------------------------------------------


def test_a_library_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    curve = CURVES.roc_curve()
    assert isinstance(curve.to_frame(), pd.DataFrame)  # both are imported
    with pytest.raises(ValueError, match="library must be one of 'pandas', 'polars'; got 'Pandas'"):
        curve.to_frame("Pandas")
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert isinstance(curve.to_frame(), pl.DataFrame)
    with pytest.raises(ImportError, match="a frame of pandas needs pandas: pip install pandas"):
        curve.to_frame("pandas")
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ImportError, match="a frame needs pandas or polars: pip install pandas, or pip install polars"):
        curve.to_frame()
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match="an Arrow stream needs pyarrow: pip install pyarrow"):
        curve.__arrow_c_stream__()
    assert curve._repr_html_()


@pytest.mark.slow
@pytest.mark.parametrize(("before", "made"), [
    ("", "pandas"), pytest.param("import polars", "polars", marks=pytest.mark.slow),
    pytest.param("import pandas", "pandas", marks=pytest.mark.slow),
])  # fmt: skip
def test_the_library_is_the_one_that_is_imported(before: str, made: str) -> None:
    code = f"""
{before}
import sys, fastevals
point = fastevals.Ranking([0, 1], [0.1, 0.2]).best_threshold("f1")
assert point._repr_html_() and not {{"pandas", "polars", "pyarrow"}} & sys.modules.keys() - {{{made!r}, "pyarrow"}}
assert type(point.to_frame()).__module__.startswith({made!r})
"""
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


def test_duckdb_and_arrow_take_results() -> None:
    duckdb = pytest.importorskip("duckdb")
    curve = CURVES.roc_curve()
    assert duckdb.sql("select max(tpr) from curve").fetchall() == [(1.0,)]
    schema = pa.schema([("fpr", pa.float64()), ("tpr", pa.float64()), ("threshold", pa.float64())])
    assert pa.table(curve, schema=schema).schema == schema


# Columns --------------------------------------------------------------------------------------------------------------


class Model:
    def __repr__(self) -> str:
        return "Model()"


@pytest.mark.parametrize(
    ("values", "dtype", "of_one_type"),
    [
        ([1, 2], pl.Int64, [1, 2]),
        ([True, False], pl.Boolean, [True, False]),
        ([1, 0.5], pl.Float64, [1.0, 0.5]),
        ([None, 0.5], pl.Float64, [math.nan, 0.5]),
        ([None, 5], pl.Int64, [None, 5]),
        ([None, "a"], pl.String, [None, "a"]),
        ([1, True], pl.String, ["1", "True"]),
        ([1, "1"], pl.String, ["1", "1"]),
        ([(1, 2), (3, 4)], pl.String, ["(1, 2)", "(3, 4)"]),
        ([2**53 + 1, 0.5], pl.String, ["9007199254740993", "0.5"]),
        ([2**70, 1], pl.String, [str(2**70), "1"]),
        ([Model()], pl.String, ["Model()"]),
        ([np.datetime64("2026-01-01"), None], pl.String, ["2026-01-01", None]),
        (np.array([1, 2], dtype=">i2"), pl.Int16, [1, 2]),
        (np.array(["a", "b"]), pl.String, ["a", "b"]),
        (np.array([0.1, np.nan], dtype=np.longdouble), pl.Float64, [0.1, math.nan]),
        (np.array([np.inf, 2**53 + 1], dtype=np.longdouble), pl.String, ["inf", "9007199254740993"]),
        (np.array(["2026-01", "NaT"], dtype="M8[M]"), pl.Date, None),
        (np.array(["2026-01-01T05", "2026-01-01"], dtype="M8[h]"), pl.Datetime("ms"), None),
        (np.array([3, 4], dtype="m8[D]"), pl.Duration("ms"), None),
        (np.array([3, 4], dtype="m8[M]"), pl.String, ["3 months", "4 months"]),
        (np.array([1], dtype="M8[ps]"), pl.String, ["1970-01-01T00:00:00.000000000001"]),
    ],
)  # fmt: skip
def test_columns_have_the_type_of_their_values(values: Any, dtype: Any, of_one_type: list[Any] | None) -> None:
    class Rows(Result):
        def _columns(self) -> dict[str, Any]:
            return {"value": as_column(values)}

    rows = Rows()
    for frame in (rows.to_frame("polars"), pl.from_arrow(pa.table(rows))):
        assert frame["value"].dtype == dtype
        if of_one_type is not None:
            assert [*map(plain, frame["value"].to_list())] == [*map(plain, of_one_type)]
    kept = rows.to_frame("pandas")["value"].tolist()
    if isinstance(values, list) and not isinstance(values[0], np.datetime64):
        assert [*map(plain, kept)] == [*map(plain, values)]


def test_tables_are_stacked_with_what_they_lack() -> None:
    tables = [({"k": "a"}, {"x": as_column([1, 2])}), ({"k": 1}, {"x": as_column([True]), "y": as_column([0.5])})]
    stacked = stack(tables)
    assert {name: column.tolist() for name, column in stacked.items() if name != "y"} == {
        "k": ["a", "a", 1],
        "x": [1, 2, True],
    }
    assert stacked["x"].tolist()[2] is True
    np.testing.assert_array_equal(stacked["y"], [np.nan, np.nan, 0.5])
    assert from_rows([]) == stack([]) == {}
    assert from_rows([{"a": 1}, {"b": "x"}])["b"].tolist() == [None, "x"]


def test_a_parameter_with_a_column_s_name_has_its_own() -> None:
    found = fastevals.select_model(
        lambda x, y, x_new, value, low: np.full(len(x_new), value), X, X, "mean_squared_error",
        grid={"value": [0.0, 1], "low": [None, "a"]}, splitter=3, rng=0,
    )  # fmt: skip
    frame = found.to_frame("pandas")
    assert frame["param_value"].tolist() == [0.0, 0.0, 1, 1]
    assert columns(frame)["param_low"] == [None, "a"] * 2
    assert frame["value"].tolist() == [each.value for each in found.candidates]


def test_no_rows_are_a_frame_without_rows() -> None:
    empty = ConfusionMatrix(np.zeros((0, 2, 2), dtype=int), ["a", "b"])
    for library in ("pandas", "polars"):
        assert empty.to_frame(library).shape == (0, 4)
    assert pa.table(empty).num_rows == 0
    assert not Page(empty._repr_html_()).rows


def test_frames_of_arrays_copy_no_value_to_python() -> None:
    """A curve's columns are its arrays: Arrow shares their memory, and pandas' columns are writable."""
    curve = CURVES.roc_curve()
    assert curve._columns()["tpr"] is curve.tpr
    frame = curve.to_frame("pandas")
    frame.loc[0, "tpr"] = 5.0
    assert curve.tpr[0] == 0
    assert pa.table(curve)["tpr"].chunk(0).buffers()[1].address == curve.tpr.ctypes.data


def test_the_command_of_bias_and_variance_has_rows() -> None:
    from fastevals.show.bias_variance.embedded import DecomposedCurve
    from fastevals.show.bias_variance.predictions import DecomposedPredictions

    curve, parts = made("bias over a parameter"), made("bias and variance")
    assert DecomposedCurve(curve).to_frame("pandas").equals(curve.to_frame("pandas"))
    decomposed = DecomposedPredictions(parts, np.array(Y), None, [], {"--truth": "y"}, "file")
    assert decomposed.to_frame("pandas").equals(parts.to_frame("pandas"))
    assert Page(decomposed._repr_html_()).words[0] == "fastevals bias-variance: file"


# Columns that don't depend on settings --------------------------------------------------------------------------------

SETTINGS: dict[str, list[Any]] = {
    "intervals of groups": [
        lambda: fastevals.grouped_auc(Y, A, GROUPS),
        lambda: fastevals.grouped_auc(Y, A, GROUPS, interval="delong"),
    ],
    "standard errors of models": [
        lambda: fastevals.batch_auc([Y, Y], [A, B]),
        lambda: fastevals.batch_auc([Y, Y], [A, B], standard_errors=True),
    ],
    "errors on training rows, and of a bootstrap": [
        lambda: fastevals.estimate_error(constant, X, X, KFold(3, rng=0), "r2")["r2"],
        lambda: fastevals.estimate_error(constant, X, X, KFold(3, rng=0), "r2", training=True)["r2"],
        lambda: made("bootstrap errors"),
    ],
    "one model or several": [
        lambda: fastevals.regression_metrics(Y, A),
        lambda: fastevals.regression_metrics(Y, {"a": A, "b": B}),
    ],
    "by": [
        lambda: fastevals.compare({"u": A, "v": B, "day": GROUPS}),
        lambda: fastevals.compare({"u": A, "v": B, "day": GROUPS}, by="day"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", quick(SETTINGS, *(name for name in SETTINGS if name != "by")))
@pytest.mark.filterwarnings("ignore::fastevals.UndefinedMetricWarning")
def test_columns_are_the_same_whatever_the_settings(name: str) -> None:
    results = [make() for make in SETTINGS[name]]
    frames = [each.to_frame("polars") for each in results]
    assert all(frame.columns == frames[0].columns for frame in frames)
    joined = pl.concat(frames, how="vertical_relaxed")  # types agree, too
    assert len(joined) == sum(map(len, frames))
    unused = [column for column in frames[0].columns if column not in results[0]._shown_columns()]
    for column in unused:
        values = frames[0][column]
        assert values.is_nan().all() if values.dtype.is_float() else values.is_null().all()
    assert len(unused) > 0
