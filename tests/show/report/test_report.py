"""The command line from end to end: its output and its errors."""

import io
import json
import os
import re
import subprocess
import sys
import zlib
from typing import get_type_hints

import numpy as np
import pytest

from fastevals import Ranking, __version__
from fastevals.datasets import load_digits_eight
from fastevals.measure.curves.registry import CURVES
from fastevals.measure.registry import SCORE_METRICS
from fastevals.show import cli, commands, output, warm_up
from fastevals.show.report import intervals
from fastevals.show.schema import ScoresReport

SMALL = (
    "y,a,b,w,part,name\n0,.1,.5,1,test,x\n1,.9,.5,2,test,y\n0,.3,.2,1,train,x\n1,.2,.8,3,train,y\n1,.8,.9,0,train,z\n"
)
MODELS = ("--label", "y", "--score", "a", "--score", "b")


@pytest.fixture(autouse=True)
def _few_replicates(monkeypatch):
    """Compute intervals quickly; test_intervals.py tests them."""
    monkeypatch.setattr(intervals, "RESAMPLES", 39)


@pytest.fixture
def small(tmp_path):
    return write(tmp_path, "small.csv", SMALL)


def write(folder, name, text):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


def report(capsys, *arguments):
    """Run a report that must succeed; return its output."""
    status = cli.main(["report", *map(str, arguments)])
    out, err = capsys.readouterr()
    assert (status, err) == (0, "")
    return out


def strict_json(text):
    def refuse(word):
        raise AssertionError(f"{word} is no JSON")

    return json.loads(text, parse_constant=refuse)


def report_json(capsys, *arguments):
    return strict_json(report(capsys, *arguments, "--format", "json"))


def error(capsys, *arguments):
    """Run a command that must fail; return its one line."""
    status = cli.main(list(map(str, arguments)))
    err = capsys.readouterr().err
    assert status == 2
    assert err.endswith("\n")
    assert err.count("\n") == 1
    assert err.startswith("fastevals")
    assert ": error: " in err
    assert "Traceback" not in err
    return err


# Numbers ----------------------------------------------------------------------------------------------------------


def test_embedded_data(capsys):
    report_dict = report_json(capsys)
    assert list(report_dict)[:2] == ["fastevals", "schema_version"]
    assert {*report_dict} == {*get_type_hints(ScoresReport)} - {"reference"}
    assert (report_dict["fastevals"], report_dict["data"]) == (__version__, "digits_eight (embedded)")
    assert (report_dict["label"], report_dict["pos_label"], report_dict["weight"], report_dict["by"]) == (
        "label",
        1,
        None,
        None,
    )
    assert (report_dict["operating_point"], report_dict["costs"]) == ({"best": "f1"}, None)
    (block,) = report_dict["blocks"]
    assert (block["value"], block["n_samples"], block["n_positives"], block["n_negatives"]) == (None, 1797, 174, 1623)
    columns = load_digits_eight()
    for model in block["models"]:
        ranking = Ranking(columns["label"], columns[model["name"]])
        metrics = model["metrics"]
        assert list(metrics) == [name for name, entry in SCORE_METRICS.items() if entry.in_reports]
        assert metrics["roc_auc"] == ranking.roc_auc()
        assert metrics["rank_loss"] == ranking.rank_loss()
        assert metrics["average_precision"] == ranking.average_precision()
        assert metrics["pr_auc"] == ranking.pr_auc()
        assert metrics["pr_auc_linear"] == ranking.pr_auc(interpolation="linear")
        assert metrics["equal_error_rate"] == ranking.equal_error_rate().value
        assert metrics["equal_error_rate_on_hull"] == ranking.equal_error_rate(on_hull=True).value
        assert metrics["break_even_point"] == ranking.break_even_point().value
        assert metrics["ks_statistic"] == ranking.ks_statistic().value
        assert (metrics["f1"], model["threshold"]) == tuple(ranking.best_threshold("f1"))
        matrix = ranking.confusion_at(model["threshold"])
        assert model["confusion"] == dict(zip(("tn", "fp", "fn", "tp"), matrix.counts.ravel().tolist(), strict=True))
        assert metrics["matthews"] == pytest.approx(matrix.matthews(), rel=1e-14)
        assert metrics["accuracy"] == matrix.accuracy()
    assert block["best"]["roc_auc"] == ["random_forest"]
    assert block["best"]["recall"] == ["naive_bayes"]


def test_folds(capsys):
    report_dict = report_json(capsys, "--by", "fold", "--score", "naive_bayes", "--threshold", ".5")
    assert (report_dict["by"], report_dict["operating_point"]) == ("fold", {"threshold": 0.5})
    columns = load_digits_eight()
    assert [block["value"] for block in report_dict["blocks"]] == [0, 1, 2, 3, 4]
    for block in report_dict["blocks"]:
        rows = columns["fold"] == block["value"]
        ranking = Ranking(columns["label"][rows], columns["naive_bayes"][rows])
        (model,) = block["models"]
        assert (block["n_samples"], block["n_positives"]) == (ranking.n_samples, ranking.n_positives)
        assert model["threshold"] == 0.5
        assert model["metrics"]["roc_auc"] == ranking.roc_auc()
        assert model["metrics"]["f1"] == ranking.confusion_at(0.5).f_score()


def test_costs(capsys):
    columns = load_digits_eight()
    ranking = Ranking(columns["label"], columns["logistic"])
    report_dict = report_json(capsys, "--cost-fn", "20", "--score", "logistic")
    assert (report_dict["operating_point"], report_dict["costs"]) == (
        {"best": "expected_cost"},
        {"cost_fp": 1, "cost_fn": 20},
    )
    (model,) = report_dict["blocks"][0]["models"]
    point = ranking.best_threshold("expected_cost", cost_fn=20)
    assert (model["metrics"]["expected_cost"], model["threshold"]) == tuple(point)
    report_dict = report_json(capsys, "--cost-fn", "20", "--cost-fp", "2", "--score", "logistic", "--best", "matthews")
    (model,) = report_dict["blocks"][0]["models"]
    assert model["threshold"] == ranking.best_threshold("matthews").threshold
    assert model["metrics"]["expected_cost"] == ranking.expected_cost(model["threshold"], cost_fp=2, cost_fn=20)
    assert report_json(capsys, "--best", "expected_cost")["costs"] == {"cost_fp": 1, "cost_fn": 1}


def test_weights(capsys, small):
    report_dict = report_json(capsys, small, *MODELS, "--weight", "w")
    (block,) = report_dict["blocks"]
    assert (report_dict["weight"], block["n_samples"], block["n_positives"], block["total_weight"]) == ("w", 4, 2, 7.0)
    ranking = Ranking([0, 1, 0, 1], [0.1, 0.9, 0.3, 0.2], sample_weight=[1, 2, 1, 3])
    assert block["models"][0]["metrics"]["roc_auc"] == ranking.roc_auc()
    assert sum(block["models"][0]["confusion"].values()) == 7
    text = report(capsys, small, *MODELS, "--weight", "w")
    assert "4 rows, 2 positive; weight 7 (71.4 %)" in text
    assert "w, 1 row of weight zero left out" in text


def test_blocks_by_weight_leave_out_empty_ones(capsys, small):
    report_dict = report_json(capsys, small, *MODELS, "--weight", "w", "--by", "name")
    assert [block["value"] for block in report_dict["blocks"]] == ["x", "y"]


def test_best_marks_all_ties_but_not_a_single_model(capsys, tmp_path):
    file = write(tmp_path, "ties.csv", "y,a,b\n0,1,2\n1,2,4\n")
    (block,) = report_json(capsys, file, *MODELS)["blocks"]
    assert block["best"]["roc_auc"] == block["best"]["equal_error_rate"] == ["a", "b"]
    assert report(capsys, file, *MODELS).count("1.0000*") == 2 * 5  # not at thresholds, which differ
    assert report(capsys, file, *MODELS, "--threshold", "2").count("1.0000*") == 2 * 5 + 6
    assert "*" not in report(capsys, file, "--label", "y", "--score", "a")


@pytest.mark.parametrize(
    ("labels", "option", "pos_label", "n_positives"),
    [
        ("no yes", "yes", "yes", 2),
        ("true false", "true", True, 1),
        ("true false", "False", False, 2),
        ("true false", None, True, 1),
        ("1 2", "2", 2, 2),
        ("1 2", "2.0", 2, 2),
        ("-1 1", None, 1, 2),
        ("-1 1", "-1", -1, 1),
        ("0.5 1.5", "1.5", 1.5, 2),
        ("0 0", None, 1, 0),
        ("no no", "yes", "yes", 0),
    ],
)
def test_positive_class(capsys, tmp_path, labels, option, pos_label, n_positives):
    first, second = labels.split()
    file = write(tmp_path, "labels.csv", f"y,a\n{first},.3\n{second},.6\n{second},.7\n")
    arguments = () if option is None else ("--pos-label", option)
    report_dict = report_json(capsys, file, "--label", "y", "--score", "a", *arguments)
    assert report_dict["pos_label"] == pos_label
    assert type(report_dict["pos_label"]) is type(pos_label)
    assert report_dict["blocks"][0]["n_positives"] == n_positives


# Text -------------------------------------------------------------------------------------------------------------


def test_text(capsys):
    options = ("--by", "fold", "--score", "logistic", "--score", "random_forest", "--resamples", "0")
    lines = report(capsys, *options).splitlines()
    assert lines[0] == "fastevals report: digits_eight (embedded)"
    assert lines[1:4] == [
        "random_forest has the highest mean AUC over 5 values, 0.9898; logistic has 0.9766.",
        "",
        "label      label, positive class 1",
    ]
    assert "maximises F1 in each block on these same rows" in lines[4]
    start = lines.index("fold = 3: 359 rows, 35 positive (9.75 %)")
    assert lines[start + 1] == "random_forest has the highest AUC, 0.9985; logistic has 0.9837."
    start = lines.index("", lines.index("", start) + 1)
    assert " ".join(lines[start + 1].split()) == (
        "model AUC AP PR AUC EER BEP KS | threshold accuracy precision recall F1 MCC"
    )
    assert lines[start + 2].split()[:3] == ["logistic", "0.9837", "0.9006"]
    assert lines[start + 3].split()[:3] == ["random_forest", "0.9985*", "0.9831*"]
    assert max(map(len, lines)) <= 120
    assert lines.count("") == 40
    start = lines.index("", start + 1)
    assert lines[start + 1].split() == ["model", "Brier", "log", "loss", "ECE"]
    assert [line.split()[0] for line in lines[start + 2 : start + 4]] == ["logistic", "random_forest"]


def test_text_has_a_table_of_probabilities_for_the_scores_that_are_some(capsys, small):
    report_dict = report_json(capsys, small, "--label", "y", "--score", "a", "--score", "w")  # weights are at most 3
    of_a, of_w = (model["metrics"] for model in report_dict["blocks"][0]["models"])
    assert of_a["brier_score"] == pytest.approx((0.1**2 + 0.1**2 + 0.3**2 + 0.8**2 + 0.2**2) / 5)
    assert of_w["brier_score"] is of_w["log_loss"] is of_w["expected_calibration_error"] is None
    text = report(capsys, small, "--label", "y", "--score", "a", "--score", "w", "--resamples", "0")
    (of_probabilities,) = (part for part in text.split("\n\n") if part.startswith("model") and "log loss" in part)
    assert [line.split()[0] for line in of_probabilities.splitlines()] == ["model", "a"]
    assert "Brier" not in report(capsys, small, "--label", "y", "--score", "w")


def test_costs_and_a_prior(capsys):
    options = ("--cost-fn", "20", "--prior", "0.02", "--score", "logistic")
    report_dict = report_json(capsys, *options)
    assert report_dict["costs"] == {"cost_fp": 1, "cost_fn": 20, "prior": 0.02}
    columns = load_digits_eight()
    ranking = Ranking(columns["label"], columns["logistic"])
    (model,) = report_dict["blocks"][0]["models"]
    point = ranking.best_threshold("expected_cost", cost_fn=20, prior=0.02)
    assert (model["metrics"]["expected_cost"], model["threshold"]) == tuple(point)
    over = ranking.cost_curve().over_prior(cost_fn=20)
    assert over.at(0.02).threshold == point.threshold
    assert tuple(model["holds"]) == over.holds(0.02)
    assert tuple(model["operating_range"]) == over.operating_range()
    text = report(capsys, *options)
    assert "costs      1 per false positive, 20 per false negative; prior 0.02" in text
    low, high = over.holds(0.02)
    assert f"{low:.4g} to {high:.4g}" in text
    assert max(map(len, text.splitlines())) <= 120
    report_dict = report_json(capsys, "--prior", "0.5", "--score", "logistic", "--best", "f1")
    assert report_dict["costs"] == {"cost_fp": 1, "cost_fn": 1, "prior": 0.5}
    assert report_dict["blocks"][0]["models"][0]["holds"] is None


def test_priors_of_one_class_are_undefined(capsys, tmp_path):
    file = write(tmp_path, "one.csv", "y,s\n1,0.5\n1,0.75\n")
    (model,) = report_json(capsys, file, "--label", "y", "--score", "s", "--cost-fp", "2")["blocks"][0]["models"]
    assert model["holds"] is model["operating_range"] is None


def test_text_with_costs_fits(capsys):
    text = report(capsys, "--cost-fp", "2", "--threshold", "0.25", "--score", "logistic")
    assert "costs      2 per false positive, 1 per false negative" in text
    assert "threshold  0.25, for every model" in text
    assert max(map(len, text.splitlines())) <= 120


def test_column_of_the_chosen_metric_is_shown(capsys):
    options = ("--score", "logistic", "--resamples", "0")
    assert "kappa" in report(capsys, *options, "--best", "cohen_kappa")
    assert "kappa" not in report(capsys, *options)


@pytest.mark.cases(1)
@pytest.mark.parametrize(
    ("label", "note", "undefined", "defined"),
    [
        ("0", "part test has no positives: AUC", "average_precision", "accuracy"),
        ("1", "part test has no negatives: AUC", "roc_auc", "average_precision"),
    ],
)
def test_block_of_one_class(capsys, tmp_path, label, note, undefined, defined):
    text = SMALL.replace("0,.1,.5,1,test", f"{label},.1,.5,1,test").replace("1,.9,.5,2,test", f"{label},.9,.5,2,test")
    file = write(tmp_path, "one.csv", text)
    first, second = report_json(capsys, file, *MODELS, "--by", "part")["blocks"]
    assert first["models"][0]["metrics"][undefined] is None
    assert first["best"][undefined] == []
    assert first["models"][0]["metrics"][defined] is not None
    assert second["models"][0]["metrics"][undefined] is not None
    assert note in report(capsys, file, *MODELS, "--by", "part")


def test_no_best_threshold(capsys, tmp_path):
    file = write(tmp_path, "negatives.csv", "y,a\n0,1\n0,2\n")
    arguments = (file, "--label", "y", "--score", "a", "--best", "recall")
    (model,) = report_json(capsys, *arguments)["blocks"][0]["models"]
    assert model["threshold"] is model["confusion"] is model["metrics"]["accuracy"] is None
    assert "the data has no positives" in report(capsys, *arguments)


def test_infinite_threshold(capsys, tmp_path):
    file = write(tmp_path, "worst.csv", "y,a\n1,1\n0,2\n0,3\n")
    arguments = (file, "--label", "y", "--score", "a", "--best", "accuracy")
    (model,) = report_json(capsys, *arguments)["blocks"][0]["models"]
    assert model["threshold"] == "Infinity"
    assert model["metrics"]["precision"] is None
    text = report(capsys, *arguments)
    assert "precision of a is undefined (0/0)" in text
    assert "- : threshold none: a predicts no row positive" in text
    assert "threshold  none: predict no row positive\n" in report(capsys, *arguments[:5], "--threshold=inf")
    report_dict = report_json(capsys, *arguments[:5], "--threshold=-inf")
    assert report_dict["operating_point"] == {"threshold": "-Infinity"}


def test_names_that_do_not_print(capsys, tmp_path, monkeypatch):
    file = write(tmp_path, "names.csv", 'y,"a\nb",é\n1,1,1\n0,2,1\n')
    text = report(capsys, file, "--label", "y", "--score", "a\nb", "--score", "é")
    assert "\n'a\\nb' " in text
    assert "\né " in text
    with open(tmp_path / "ascii", "w", encoding="ascii") as out:
        monkeypatch.setattr(sys, "stdout", out)
        assert cli.main(["report", file, "--label", "y", "--score", "é"]) == 0
    assert "\n\\xe9 " in (tmp_path / "ascii").read_text()


# Errors -----------------------------------------------------------------------------------------------------------

BAD_ARGUMENTS = [
    (["--scroe", "a"], "'--scroe', did you mean --score?"),
    (["--best", "auc"], "--best must be one of 'accuracy', "),
    (["--best", "roc_auc"], "--best must be one of 'accuracy', "),
    (["--best", "f1", "--threshold", "1"], "--best and --threshold"),
    (["--threshold", "half"], "--threshold: must be a number, got 'half'"),
    (["--threshold", "nan"], "--threshold must be a number, got nan"),
    (["--threshold", "-1e-3"], "--threshold: expected one argument (one that starts with a dash"),
    (["--cost-fp", "-1"], "--cost-fp must be in [0, inf), got -1.0"),
    (["--cost-fn", "inf"], "--cost-fn must be in [0, inf), got inf"),
    (["--cost-fn", "nan"], "--cost-fn must be in [0, inf), got nan"),
    (["--prior", "1.5"], "--prior must be in [0, 1], got 1.5"),
    (["--prior", "nan"], "--prior must be in [0, 1], got nan"),
    (["--cost-fn", "0", "--cost-fp", "0"], "--cost-fp and --cost-fn must not both be zero"),
    (["--format", "xml"], "--format: invalid choice: 'xml'"),
    (["--label"], "--label: expected one argument"),
    (["--by", "fold", "--by", "label"], "--by 'label' is given already, as --label 'label'; a column has one role"),
    (["--label", "label", "--label", "label"], "--label: must be given only once, got 'label' and 'label'"),
    (["--format", "json", "--format=text"], "--format: must be given only once, got 'json' and 'text'"),
    (["--seed", "1", "--seed", "2"], "--seed: must be given only once, got 1 and 2"),
    (["--no-header"], "--no-header goes with a CSV FILE"),
    (["x.npy", "--label", "y", "--score", "s", "--separator", "xx"], "--separator: must be one character, such as ;"),
    (["--encoding", "rot13"], "--encoding: must be an encoding of text that Python knows, such as utf-8"),
    (["--score", "lr"], "--score 'lr': digits_eight (embedded) has no such column; its columns are 'label', "),
    (["--score", "logistics"], "(did you mean 'logistic'?)"),
    (["--by", "folds"], "--by 'folds'"),
    (["--by", "label"], "--by 'label' is given already, as --label 'label'"),
    (["--score", "logistic", "--score", "logistic"], "--score 'logistic' is given already"),
    (["--score", "label"], "--score 'label' is given already, as --label"),
    (["--weight", "logistic"], "--weight 'logistic' is given already, as --score"),
    (["--label", "fold", "--score", "logistic"], "--label 'fold' must have two classes, got 5 labels: 0, 1, 2"),
    (["--resamples", "-1"], "--resamples must be an integer from 0 to 1000000000, got -1"),
    (["--resamples", "1e3"], "--resamples: must be a whole number, got '1e3'"),
    (["--resamples", "18"], "--resamples must be at least 19 for --confidence 0.95 (or 0, for no intervals), got 18"),
    (["--resamples", "98", "--confidence", "0.99"], "--resamples must be at least 99 for --confidence 0.99"),
    (["--confidence", "95"], "--confidence must be in (0, 1), got 95"),
    (["--confidence", "0"], "--confidence must be in (0, 1), got 0"),
    (["--confidence", "nan"], "--confidence must be in (0, 1), got nan"),
    (["--seed", "-1"], "--seed must be an integer at least 0, got -1"),
    (["--seed", "0.5"], "--seed: must be a whole number, got '0.5'"),
    (["--group", "fould"], "--group 'fould': digits_eight (embedded) has no such column (did you mean 'fold'?)"),
    (["--group", "fold", "--by", "fold"], "--group 'fold' is given already, as --by 'fold'; a column has one role"),
    (["--pos-label", "8"], "--pos-label must be a label of --label 'label' (0, 1), got 8"),
    (["--pos-label", "eight"], "--pos-label must be a label of --label 'label' (0, 1), got 'eight'"),
]


@pytest.mark.parametrize(("arguments", "said"), BAD_ARGUMENTS)
def test_bad_arguments(capsys, arguments, said):
    assert said in error(capsys, "report", *arguments)


def test_options_of_csv_files_with_another_file(capsys, tmp_path):
    path = tmp_path / "x.pq"
    path.write_bytes(b"PAR1")
    said = error(capsys, "report", str(path), "--label", "y", "--score", "s", "--no-header")
    assert "--no-header goes with a CSV file, but " in said
    assert "x.pq' is Parquet" in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--score", "a"], "--label is missing"),
        (["--label", "y"], "--score is missing"),
        (["more.csv", *MODELS], "'more.csv': no such file"),
        (["--label", "Y", "--score", "a"], "has no such column (did you mean 'y'?)"),
        (["--label", "name", "--score", "a"], "--label 'name' must have two classes, got 3 labels: 'x', 'y', 'z'"),
        (["--label", "part", "--score", "a"], "--label 'part' has the labels 'test', 'train': --pos-label must say"),
        (["--label", "part", "--score", "a", "--pos-label", "dev"], "('test', 'train'), got 'dev'"),
        (["--label", "y", "--score", "name"], "--score 'name' must hold numbers, but has type string (with the value"),
        ([*MODELS, "--weight", "part"], "--weight 'part' must hold numbers"),
    ],
)
def test_bad_columns(capsys, small, arguments, said):
    assert said in error(capsys, "report", small, *arguments)


@pytest.mark.parametrize(
    ("arguments", "rows", "said"),
    [
        ([], "0,.1\n1,\n1,NaN\n", "--score 'a' has 2 missing values, the first at line 3"),
        (
            [],
            "0,.1\n,.2\n",
            "--label 'y' has 1 missing value, the first at line 3; --on-missing-label drop leaves such rows out",
        ),
        ([], "0,.1\n1,inf\n", "--score 'a' must be finite, but has 1 infinite value, the first at line 3"),
        ([], "0,.1\n1,x\n", "--score 'a' must hold numbers, but has type string (with the value 'x' at line 3)"),
        (["--pos-label", "n"], "n,.1\n,.1\n", "--label 'y' has 1 missing value, the first at line 3"),
        ([], "", "has no rows"),
        ([], "0,.1,3\n", "bad.csv' can't be read as CSV: line 2 has 3 columns, but line 1 has 2"),
        (["--weight", "w"], "0,.1\n", "--weight 'w'"),
    ],
)
def test_bad_values(capsys, tmp_path, arguments, rows, said):
    file = write(tmp_path, "bad.csv", "y,a\n" + rows)
    assert said in error(capsys, "report", file, "--label", "y", "--score", "a", *arguments)


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ("1 -2", "--weight 'w' must not be negative, got -2.0 at line 3"),
        ("0 0", "--weight 'w' must have a value above zero"),
        ("1 inf", "--weight 'w' must be finite"),
    ],
)
def test_bad_weights(capsys, tmp_path, weights, said):
    first, second = weights.split()
    file = write(tmp_path, "weights.csv", f"y,a,w\n0,.1,{first}\n1,.2,{second}\n")
    assert said in error(capsys, "report", file, "--label", "y", "--score", "a", "--weight", "w")


def test_no_command(capsys):
    assert cli.main([]) == 2
    out, err = capsys.readouterr()
    assert "report" in out
    assert err == "fastevals: error: no command given, try: fastevals report\n"


@pytest.mark.parametrize("arguments", [["rapport"], ["--rapport"]])
def test_unknown_command(capsys, arguments):
    assert "rapport" in error(capsys, *arguments)


@pytest.mark.parametrize(
    ("raised", "status", "said"),
    [
        (KeyboardInterrupt(), 130, "fastevals report: stopped\n"),
        (MemoryError(), 2, "fastevals report: error: not enough memory for this data\n"),
        (PermissionError(13, "Permission denied", "x.csv"), 2, "fastevals report: error: x.csv: Permission denied\n"),
    ],
)
def test_interruptions(capsys, monkeypatch, raised, status, said):
    def fail(_):
        raise raised

    monkeypatch.setattr(cli.report, "run", fail)
    assert cli.main(["report"]) == status
    assert capsys.readouterr().err == said


# Help and processes -----------------------------------------------------------------------------------------------


def test_help_and_version(capsys):
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == f"fastevals {__version__}\n"
    assert cli.main(["--help"]) == 0
    assert "report" in capsys.readouterr().out
    assert cli.main(["report", "--help"]) == 0
    assert "fastevals report --by fold" in capsys.readouterr().out


def run(*arguments, **options):
    command = [sys.executable, "-m", "fastevals", *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=120, **options)


@pytest.mark.slow
def test_process():
    done = run("report", "--format", "json", "--score", "logistic", "--resamples", "0")
    assert (done.returncode, done.stderr) == (0, "")
    assert strict_json(done.stdout)["blocks"][0]["n_samples"] == 1797
    done = run("report", "nowhere.csv", "--label", "y", "--score", "a")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "fastevals report: error: 'nowhere.csv': no such file\n"


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.slow
def test_steps_that_take_long_show_bars_on_a_terminal(capsys, monkeypatch):
    pytest.importorskip("tqdm")
    options = ["report", "--by", "fold", "--score", "logistic", "--score", "naive_bayes"]

    assert "exclude each other" in error(capsys, *options, "--quiet", "--progress")

    def shown(*more, stream=Terminal):
        monkeypatch.setattr(sys, "stderr", stream())
        assert cli.main([*options, *more]) == 0
        return sys.stderr.getvalue()

    assert shown() == ""  # it takes under two seconds
    monkeypatch.setattr(commands, "LONG_STEP", 0.0)
    bars = shown()
    assert re.search("measuring: +[0-9]+%", bars)
    assert bars.rpartition("\r")[2] == ""  # and is removed
    assert shown("--quiet") == shown(stream=io.StringIO) == ""
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    assert shown() == ""


def test_help_imports_nothing_slow():
    code = "import sys; from fastevals.show.cli import main; main(['report', '--help']); " + (
        "sys.exit(any(name in sys.modules for name in ('numba', 'numpy', 'scipy', 'pyarrow')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, capture_output=True).returncode == 0


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")
def test_reader_that_has_seen_enough():
    read_end, write_end = os.pipe()
    os.close(read_end)
    try:
        for arguments in (["report", "--by", "fold"], ["report", "--help"]):
            command = [sys.executable, "-m", "fastevals", *arguments]
            done = subprocess.run(command, check=False, stdout=write_end, stderr=subprocess.PIPE, timeout=120)
            assert (done.returncode, done.stderr) == (0, b"")
    finally:
        os.close(write_end)


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_full_disk():
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "fastevals", "report", "--score", "logistic", "--resamples", "0"]
        done = subprocess.run(command, check=False, stdout=full, stderr=subprocess.PIPE, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (2, "fastevals report: error: output: No space left on device\n")


def test_metrics_do_not_depend_on_row_order(capsys, tmp_path):
    rng = np.random.default_rng(5)
    header, *rows = SMALL.splitlines()
    shuffled = write(tmp_path, "shuffled.csv", "\n".join([header, *rng.permutation(rows)]) + "\n")
    file = write(tmp_path, "small.csv", SMALL)
    first, second = (
        report_json(capsys, path, *MODELS, "--by", "part", "--resamples", "0")["blocks"] for path in (file, shuffled)
    )
    assert first == second


@pytest.mark.parametrize("score", ["logistic", "naive_bayes", "random_forest"])
def test_the_threshold_printed_predicts_the_same_rows(capsys, score):
    best = report(capsys, "--score", score)
    row = next(line for line in best.splitlines() if line.startswith(score) and "|" in line)
    threshold = row.split("|")[1].split()[0]
    again = report(capsys, "--score", score, "--threshold", threshold)
    assert next(line for line in again.splitlines() if line.startswith(score) and "|" in line) == row


def test_large_integers_are_exact_or_refused(capsys, tmp_path):
    path = tmp_path / "big.csv"
    path.write_text(
        "y,s,u,mixed\n0,9007199254740993,18446744073709551615,9007199254740993\n"
        "1,9007199254740992,18446744073709551614,0.5\n0,9007199254740994,3,1\n"
    )
    options = (str(path), "--label", "y", "--format", "json")
    seen = json.loads(report(capsys, *options, "--score", "s", "--threshold", "9007199254740993"))
    assert seen["blocks"][0]["models"][0]["confusion"] == {"tp": 0, "fp": 2, "fn": 1, "tn": 0}
    seen = json.loads(report(capsys, *options, "--score", "u"))
    assert seen["blocks"][0]["models"][0]["metrics"]["roc_auc"] == 0.5
    assert "9007199254740993, which a float rounds" in error(capsys, "report", *options, "--score", "mixed")


def test_a_closed_standard_output_is_no_traceback(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    assert cli.main(["report"]) == 0


# Folders of pictures ----------------------------------------------------------------------------------------------

OF_RANKINGS = {
    "scores",
    "confusion",
    *(name for name, entry in CURVES.items() if entry.needs == "counts" and entry.in_reports),
}
OF_INTERVALS, OF_PAIRS = {"intervals"}, {"differences"}
OF_PROBABILITIES = {name for name, entry in CURVES.items() if entry.needs == "probabilities"}
ALL_PICTURES = OF_RANKINGS | OF_PROBABILITIES | OF_INTERVALS | OF_PAIRS  # of several models


def pictures(folder):
    """Return the names of a folder's pictures: 800 pixels wide, or twice that with panels for models."""
    result = set()
    for path in folder.glob("*.png"):
        content = path.read_bytes()
        assert content.startswith(b"\x89PNG\r\n\x1a\n")
        wide = {"scores": (800, 1600), "confusion": (500, 1000)}.get(path.stem, (800,))
        assert int.from_bytes(content[16:20], "big") in wide
        result.add(path.stem)
    return result


@pytest.mark.slow
def test_out_writes_numbers_text_and_pictures(capsys, tmp_path):
    out, two = tmp_path / "not there" / "yet", ("--score", "logistic", "--score", "naive_bayes", "--resamples", "99")
    text = report(capsys, *two, "--out", out)
    plain = report(capsys, *two)
    assert text == f"{plain}\nwritten to {out}: report.json, report.txt, {len(ALL_PICTURES)} pictures\n"
    assert (out / "report.txt").read_text() == plain
    assert (out / "report.json").read_text() == report(capsys, *two, "--format", "json")
    strict_json((out / "report.json").read_text())
    assert pictures(out) == ALL_PICTURES
    assert len(list(out.iterdir())) == len(ALL_PICTURES) + 2


@pytest.mark.slow
def test_out_over_an_earlier_report_leaves_no_picture_of_that(capsys, tmp_path, small):
    out = tmp_path / "out"
    assert report(capsys, small, *MODELS, "--out", out) == report(capsys, small, *MODELS, "--out", out)
    assert pictures(out) == ALL_PICTURES
    (out / "mine.txt").touch()
    report(capsys, small, "--label", "y", "--score", "w", "--out", out)
    assert pictures(out) == OF_RANKINGS | OF_INTERVALS
    report(capsys, small, *MODELS, "--cost-fn", "3", "--resamples", "0", "--out", out)
    assert pictures(out) == OF_RANKINGS | OF_PROBABILITIES | {"cost_over_prior"}
    report(capsys, small, *MODELS, "--by", "part", "--out", out)
    assert pictures(out) == {"groups"} | ALL_PICTURES  # of all rows
    assert (out / "mine.txt").exists()


@pytest.fixture
def undrawn(monkeypatch):
    """Leave the files of pictures empty, for tests of the other files."""
    monkeypatch.setattr(output, "_drawn", lambda panels, title, form: b"")


@pytest.mark.usefixtures("undrawn")
def test_out_beside_json_leaves_standard_output_to_it(capsys, tmp_path):
    assert cli.main(["report", "--score", "logistic", "--format", "json", "--out", str(tmp_path)]) == 0
    out, err = capsys.readouterr()
    assert strict_json(out)["blocks"]
    assert err == f"written to {tmp_path}: report.json, report.txt, {len(ALL_PICTURES - OF_PAIRS)} pictures\n"


@pytest.mark.slow
def test_out_by_blocks_has_a_safe_folder_each(capsys, tmp_path):
    values = ["a/b", "../up", "a b", "ü" + "x" * 300]
    rows = "".join(f'{k // 4 % 2},{k},"{value}"\n' for k, value in enumerate(values * 3))
    file = write(tmp_path, "blocks.csv", f"y,s,which one\n{rows}")
    out = tmp_path / "out"
    text = report(capsys, file, "--label", "y", "--score", "s", "--by", "which one", "--out", out)
    expected = OF_RANKINGS | OF_INTERVALS  # scores above 1 are not probabilities
    n = len(expected)
    drawn = f"groups.png, {n} pictures of all rows, {4 * n} pictures in a folder for each which one"
    assert text.endswith(f"written to {out}: report.json, report.txt, {drawn}\n")
    folders = sorted(path.name for path in out.iterdir() if path.is_dir())
    assert folders[:3] == ["00-which_one-.._up", "01-which_one-a_b", "02-which_one-a_b"]
    assert len(folders) == 4
    assert max(map(len, folders)) < 50
    assert all(pictures(out / folder) == expected for folder in folders)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["blocks.csv", "out"]


@pytest.mark.slow
def test_out_says_what_it_leaves_out(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(output, "MOST_PICTURED", 2)
    text = report(capsys, "--by", "fold", "--score", "logistic", "--out", tmp_path)
    n = len(ALL_PICTURES - OF_PAIRS)
    drawn = f"groups.png, {n} pictures of all rows, {2 * n} pictures in a folder"
    assert text.endswith(f"{drawn} for each fold of the first 2 of 5 only\n")
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_dir()) == ["00-fold-0", "01-fold-1"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["y", "x"])
def test_out_of_one_class_and_weights(capsys, tmp_path, name):
    header, *rows = SMALL.splitlines()
    file = write(tmp_path, "one.csv", "\n".join([header, *(row for row in rows if row.endswith(name))]) + "\n")
    report(capsys, file, *MODELS, "--pos-label", "1", "--weight", "w", "--out", tmp_path / "a")
    assert pictures(tmp_path / "a") >= OF_RANKINGS | OF_PROBABILITIES


def test_out_that_cannot_be_written_is_told_before_the_data_is_read(capsys, tmp_path, monkeypatch):
    file = write(tmp_path, "file", "x")
    missing = ("report", "missing.csv", "--label", "y", "--score", "s", "--out")
    assert f"--out must be a folder, got the file {file!r}" in error(capsys, *missing, file)
    assert "can't be written to: Not a directory" in error(capsys, *missing, f"{file}/below")
    assert "--out must name a folder, got ''" in error(capsys, *missing, "")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert "pip install matplotlib" in error(capsys, *missing, tmp_path / "new")
    assert not (tmp_path / "new").exists()


@pytest.mark.usefixtures("undrawn")
def test_out_leaves_a_picture_that_no_earlier_run_drew(capsys, tmp_path):
    file = write(tmp_path, "results.csv", "part,a,b\n" + "".join(f"{k // 4},{k % 4},{k % 3}\n" for k in range(12)))
    out = tmp_path / "out"
    out.mkdir()
    (out / "pvalues.png").write_text("the user's")
    assert cli.main(["compare", file, "--by", "part", "--out", str(out)]) == 0
    assert (out / "pvalues.png").read_text() == "the user's"


@pytest.mark.parametrize("command", [["report"], ["compare", "--label", "y", "--pred", "a", "--pred", "b"]])
def test_too_many_replicates_are_told_by_their_option(capsys, tmp_path, command):
    file = [] if command == ["report"] else [write(tmp_path, "labels.csv", "y,a,b\n0,1,0\n1,1,0\n")]
    assert cli.main([*command, *file, "--resamples", "1000000000000"]) == 2
    assert "--resamples must be an integer from" in capsys.readouterr().err


def test_differences_without_width_are_told(capsys, tmp_path):
    file = write(tmp_path, "sure.csv", "y,a,b\n" + "".join(f"{k % 2},{k % 2},{-(k % 2)}\n" for k in range(8)))
    assert cli.main(["report", file, "--label", "y", "--score", "a", "--score", "b", "--resamples", "100"]) == 0
    report_dict = " ".join(capsys.readouterr().out.split())
    assert "disregard the interval and p of the difference a - b in AUC" in report_dict


@pytest.mark.usefixtures("undrawn")
def test_out_with_fewer_blocks_leaves_no_picture_of_more(capsys, tmp_path):
    out = tmp_path / "out"
    file = write(tmp_path, "results.csv", "part,a,b\n" + "".join(f"{k // 4},{k % 4},{k % 3}\n" for k in range(12)))
    kept = write(tmp_path, "kept.csv", "part,a,b\n" + "".join(f"u,{k % 4},{k % 3}\n" for k in range(8)))
    folders = {"00-part-0", "01-part-1", "02-part-2"}
    assert cli.main(["compare", file, "--by", "part", "--out", str(out)]) == 0
    assert {path.name for path in out.iterdir() if path.is_dir()} == folders
    (out / "02-part-2" / "mine.png").touch()
    (out / "03-part-3").mkdir()
    (out / "03-part-3" / "null.png").touch()  # not from an earlier run
    assert cli.main(["compare", kept, "--by", "part", "--out", str(out)]) == 0
    assert {path.name for path in out.iterdir() if path.is_dir()} == {"00-part-u", "02-part-2", "03-part-3"}
    assert [path.name for path in (out / "02-part-2").iterdir()] == ["mine.png"]
    assert [path.name for path in (out / "03-part-3").iterdir()] == ["null.png"]
    (out / "compare.json").write_text('{"by": "part", "blocks": 1}')
    assert cli.main(["compare", kept, "--out", str(out)]) == 0


def test_out_that_is_stopped_or_fails_leaves_whole_files_and_the_text(capsys, tmp_path, monkeypatch):
    resource = pytest.importorskip("resource")
    arguments = ["report", "--score", "logistic", "--resamples", "0"]
    text = report(capsys, *arguments[1:])
    out = tmp_path / "out"
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))  # a disk that is full after the first 1000 bytes
    try:
        status = cli.main([*arguments, "--out", str(out)])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (status, list(out.iterdir())) == (2, [])
    assert capsys.readouterr() == (text, f"fastevals report: error: {out / 'report.json'}: File too large\n")

    def stop(figure, file, **_):
        raise KeyboardInterrupt

    monkeypatch.setattr("matplotlib.figure.Figure.savefig", stop)
    left = out / f".{zlib.crc32(b'report.txt'):08x}-1f.part"  # left by a run that was killed long ago
    left.touch()
    os.utime(left, (0, 0))
    assert cli.main([*arguments, "--out", str(out)]) == 130
    assert capsys.readouterr() == (text, "fastevals report: stopped\n")
    assert sorted(path.name for path in out.iterdir()) == ["report.json", "report.txt"]
    assert (out / "report.txt").read_text() == text


ESCAPE = "\x1b[31m\x9b2J\u202e"


@pytest.mark.usefixtures("undrawn")
def test_what_reaches_a_terminal_is_printable(capsys, tmp_path):
    ragged = write(tmp_path, "ragged.csv", f"y,a\n1,2\n0,1,{ESCAPE}\n")
    named = write(tmp_path, f"{ESCAPE}.csv", f"y,{ESCAPE},part\n1,2,{ESCAPE}\n0,1,{ESCAPE}\n0,3,{ESCAPE}\n")
    out = tmp_path / ESCAPE
    for file, *arguments in (
        (ragged, "--label", "y", "--score", "a"),
        (named, "--label", "y", "--score", "a"),
        (named, "--label", "y", "--score", ESCAPE, "--by", "part"),
        (named, "--label", "y", "--score", ESCAPE, "--out", out),
        (named, "--label", "y", "--score", ESCAPE, "--format", "json", "--out", out),
        (ESCAPE, "--label", "y", "--score", "a"),
        (named, "--label", "y", "--score", ESCAPE, f"--{ESCAPE}"),
        (named, "--label", "y", "--score", ESCAPE, "--threshold", ESCAPE),
    ):
        cli.main(["report", file, *map(str, arguments)])
        for printed in capsys.readouterr():
            assert printed.replace("\n", "").isprintable(), (arguments, printed)
    assert (out / "report.txt").read_text().replace("\n", "").isprintable()
    results = write(tmp_path, "results.csv", f"{ESCAPE},b,c\n" + "".join(f"{k},{k % 3},{2 * k}\n" for k in range(9)))
    cli.main(["compare", results, "--control", ESCAPE, "--posthoc", "wilcoxon"])
    for printed in capsys.readouterr():
        assert printed.replace("\n", "").isprintable()


def test_pictures_are_of_few_thresholds_of_the_first_blocks():
    import fastevals
    from fastevals.show.report.options import ReportOptions
    from fastevals.show.report.source import build_report

    options = ReportOptions(label="label", score=["logistic"], by="fold")

    for kept in (0, 2):
        made = build_report(load_digits_eight(), options, n_pictured=kept)
        assert [block.models[0].counts is not None for block in made.blocks] == [k < kept for k in range(5)]
    rng = np.random.default_rng(1)
    large = fastevals.report(
        {"y": rng.random(300_000) < 0.2, "s": rng.random(300_000)}, label="y", score="s", n_resamples=0
    )
    assert 2000 < large.blocks[0].models[0].counts.thresholds.size < 40_000


@pytest.mark.parametrize("command", [["report"], ["compare"]])
def test_commands_that_are_compiled_beforehand_run(command, capsys):
    warm_up._command(*command)
    assert capsys.readouterr().out
