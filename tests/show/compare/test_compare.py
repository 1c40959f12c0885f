"""`fastevals compare` from end to end: its output, its files, and its errors."""

import json
import shlex
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

import fastevals
from fastevals import (
    KFold,
    compare_predictions,
    evaluate_splits,
    friedman_test,
    mcnemar_test,
    nemenyi_test,
    pairwise_mcnemar_tests,
    pairwise_tests,
    wilcoxon_test,
)
from fastevals._text import format_pvalue, shorten_names
from fastevals.datasets import load_psnr
from fastevals.show import cli
from fastevals.show.compare import columns
from tests.infer.significance.cases import CASES

PSNR = CASES["psnr"]["expected"]
TABLE = "set,a,b,c\nx,1,2,3\ny,2,1,3\nz,3,1,2\nu,1,2,4\n"
FOUR = ["K-SVD", "K-SVD-N", "NLM", "K-SVD-N-NL"]


def write(folder, text, name="results.csv"):
    (folder / name).write_text(text)
    return str(folder / name)


def compare(capsys, *arguments):
    """Run a comparison that must succeed; return its output."""
    status = cli.main(["compare", *map(str, arguments)])
    out, err = capsys.readouterr()
    assert (status, err) == (0, "")
    return out


def compare_json(capsys, *arguments):
    def refuse(word):
        raise AssertionError(f"{word} is no JSON")

    return json.loads(compare(capsys, *arguments, "--format", "json"), parse_constant=refuse)


def error(capsys, *arguments):
    """Run a command that must fail; return its one line."""
    status = cli.main(["compare", *map(str, arguments)])
    out, err = capsys.readouterr()
    assert (status, out) == (2, "")
    assert err.startswith("fastevals compare: error: ")
    assert err.count("\n") == 1
    return err


@pytest.fixture(scope="module")
def predictions(tmp_path_factory):
    """Return three models on 300 rows of three classes, and a column of groups."""
    rng = np.random.default_rng(8)
    y = rng.integers(0, 3, 300)
    table = {"y": y, "patient": np.arange(300) // 3}
    for name, share in (("good", 0.9), ("fair", 0.8), ("poor", 0.6)):
        table[name] = np.where(rng.random(300) < share, y, rng.integers(0, 3, 300))
    path = tmp_path_factory.mktemp("compare") / "predictions.parquet"
    parquet.write_table(pa.table(table), path)
    return str(path), table


# Results ----------------------------------------------------------------------------------------------------------


def test_embedded_results_are_the_published_ones(capsys):
    result = compare_json(capsys)
    (block,) = result["blocks"]
    expected = PSNR["all_45_blocks"]
    assert block["friedman"]["names"] == FOUR
    assert block["friedman"]["mean_ranks"] == pytest.approx(expected["mean_ranks"], abs=5e-4)
    assert block["friedman"]["chi_square"] == pytest.approx(expected["chi2"], abs=5e-3)
    assert block["groups"] == [["K-SVD-N", "NLM"]]
    blocks = compare_json(capsys, "--by", "sigma")["blocks"]
    assert [block["value"] for block in blocks] == CASES["psnr"]["sigma"]
    first, expected = blocks[0], PSNR["sigma_20"]
    assert dict(zip(FOUR, first["friedman"]["mean_ranks"], strict=True)) == expected["mean_ranks"]
    assert first["friedman"]["f_statistic"] == pytest.approx(expected["F"], abs=5e-4)
    assert first["friedman"]["pvalue"] == pytest.approx(expected["F_p"], abs=5e-6)
    assert first["pairs"]["critical_difference"] == pytest.approx(expected["CD_05"], abs=5e-4)
    rejected = [k for k, each in enumerate(first["pairs"]["rejected"]) if each]
    assert [[FOUR[i] for i in first["pairs"]["pairs"][k]] for k in rejected] == expected["different"]


def test_text_of_embedded_results(capsys):
    text = compare(capsys)
    assert text.startswith("fastevals compare: psnr (embedded)\n45 data sets, 4 algorithms, higher is better\n")
    assert "columns compared: K-SVD, K-SVD-N, NLM, K-SVD-N-NL; not used: image, sigma\n" in text
    assert "! : " not in text.replace("! : image has only 5", "")
    words = " ".join(text.split())
    test = "Friedman's test: F(3, 132) = 145.2523, p <1e-9; chi-square(3) = 103.6133, Kendall's W = 0.7675 "
    assert test in words
    assert "critical difference 0.6992" in text
    assert "image has only 5 distinct values in 45 rows, but the tests treat each row as an independent" in words
    assert "no significant difference among K-SVD-N, NLM\n" in text
    assert max(map(len, text.splitlines())) <= 120
    assert "distinct values" not in compare(capsys, "--by", "sigma")


def test_a_file_of_results(capsys, tmp_path):
    file = write(tmp_path, TABLE)
    columns = {"a": [1, 2, 3, 1], "b": [2, 1, 1, 2], "c": [3, 3, 2, 4]}
    block = compare_json(capsys, file)["blocks"][0]
    expected = friedman_test(columns)
    assert block["friedman"]["statistic"] == expected.statistic
    assert block["means"] == {"a": 1.75, "b": 1.5, "c": 3.0}
    assert block["pairs"]["pvalue"] == nemenyi_test(columns).pvalue.tolist()
    text = compare(capsys, file)
    assert "independent data set" not in text
    lower = compare_json(capsys, file, "--lower-is-better")["blocks"][0]
    assert lower["friedman"]["mean_ranks"] == (4 - expected.mean_ranks).tolist()


@pytest.mark.parametrize("posthoc", ["nemenyi", "holm", "hochberg", "benjamini-hochberg", "wilcoxon"])
def test_posthoc(capsys, tmp_path, posthoc):
    file = write(tmp_path, TABLE)
    block = compare_json(capsys, file, "--posthoc", posthoc, "--confidence", "0.9")["blocks"][0]
    assert len(block["pairs"]["pvalue"]) == 3
    assert block["pairs"]["alpha"] == pytest.approx(0.1)
    assert (block["groups"] is None) == (posthoc == "wilcoxon")
    text = compare(capsys, file, "--posthoc", posthoc, "--confidence", "0.5")
    assert ("critical difference" in text) == (posthoc == "nemenyi")
    (title,) = (line for line in text.splitlines() if "p adjusted" in line)
    adjusted = {"nemenyi": "studentized-range", "wilcoxon": "holm"}.get(posthoc, posthoc)
    assert title.endswith(f" (p adjusted: {adjusted})")
    if posthoc == "wilcoxon":
        expected = pairwise_tests({"a": [1, 2, 3, 1], "b": [2, 1, 1, 2], "c": [3, 3, 2, 4]})
        assert block["pairs"]["pvalue"] == expected.pvalue.tolist()
    if posthoc != "nemenyi":
        against = compare_json(capsys, file, "--posthoc", posthoc, "--control", "b")["blocks"][0]
        assert against["pairs"]["pairs"] == [[0, 1], [2, 1]]


def test_a_control_and_columns_by_name(capsys, tmp_path):
    file = write(tmp_path, "n,part,a,b,c\n1,p,1,2,3\n2,q,2,1,3\n3,p,3,1,2\n4,q,1,2,4\n")
    block = compare_json(capsys, file, "--dataset", "n", "--control", "a")["blocks"][0]
    assert block["pairs"]["control"] == "a"
    assert block["friedman"]["names"] == ["a", "b", "c"]
    assert "Bonferroni-Dunn" in compare(capsys, file, "--dataset", "n", "--control", "a")
    as_reference = compare_json(capsys, file, "--dataset", "n", "--reference", "a")
    assert as_reference["control"] == "a"
    assert as_reference["blocks"] == [block]
    some = compare_json(capsys, file, "--algorithm", "c", "--algorithm", "a", "--by", "part")
    assert [block["value"] for block in some["blocks"]] == ["p", "q"]
    assert (some["algorithms"], some["posthoc"]) == (["c", "a"], "wilcoxon")


def test_many_algorithms_show_the_pairs_of_smallest_p(capsys, tmp_path):
    rng = np.random.default_rng(0)
    rows = [",".join(f"m{k}" for k in range(12))]
    rows += [",".join(map(str, row)) for row in (rng.normal(size=(20, 12)) + np.arange(12)).round(3)]
    text = compare(capsys, write(tmp_path, "\n".join(rows))).partition("\n")[2]
    assert "... 21 more pairs, with equal or larger p: JSON has all" in text
    assert max(map(len, text.splitlines())) <= 120
    shown = [line for line in text.splitlines() if " - " in line]
    result = compare_json(capsys, tmp_path / "results.csv")["blocks"][0]["pairs"]
    first = min(zip(result["pvalue"], result["pairs"], strict=True))[1]
    assert len(shown) == 45
    assert shown[0].startswith(f"m{first[0]} - m{first[1]} ")


LONG = "a name with spaces, of sixty characters, and one more: ünï {}"


@pytest.mark.parametrize("posthoc", ["nemenyi", "wilcoxon"])
def test_long_names_lose_their_middle(capsys, tmp_path, posthoc):
    names = [LONG.format(k) for k in range(4)]
    rows = ["\t".join(names), *("\t".join(map(str, row)) for row in np.random.default_rng(1).random((9, 4)))]
    file = write(tmp_path, "\n".join(rows), "results.tsv")
    text = compare(capsys, file, "--posthoc", posthoc).partition("\n")[2]
    assert max(map(len, text.splitlines())) <= 120
    assert "a name with spaces, o..., and one more: ünï 3" in text
    assert compare_json(capsys, file)["blocks"][0]["friedman"]["names"] == names


def test_names_that_look_the_same_lose_their_start_or_have_numbers():
    names = ["x" * 30 + middle + "y" * 30 for middle in "ab"]
    assert shorten_names([*names, "c"], 20) == ["...ayyyyyy...yyyyyyy", "...byyyyyy...yyyyyyy", "c"]
    ends = ["x" * 30 + end for end in ("_seed_1_version_1", "_seed_2_version_1")]
    assert shorten_names(ends, 20) == ["..._seed_1_version_1", "..._seed_2_version_1"]
    assert shorten_names([names[0]] * 2, 20) == ["xxxxxxx...yyyyyyy #1", "xxxxxxx...yyyyyyy #2"]


TWO = "set,a,b\n" + "".join(f"s{k},{0.5 + k / 99:.3f},{0.5 + k / 99 + 0.01 * (k + 1):.3f}\n" for k in range(5))
UNLIKE = "a,b,c,d\n.2,.3,.5,.7\n.3,.6,.4,.1\n.2,.4,.7,.4\n.4,.3,.6,.8\n.8,.4,.8,.3\n.6,.4,.8,.9\n"
UNLIKE += ".2,.6,.9,.2\n.4,.9,.6,.5\n"


def test_two_algorithms_are_compared_by_tests_of_two(capsys, tmp_path):
    # Friedman's p is 0.0625 here, Nemenyi's 0.0253: two answers to one question.
    file = write(tmp_path, TWO)
    columns = np.loadtxt(file, delimiter=",", skiprows=1, usecols=(1, 2)).T
    expected = wilcoxon_test(*columns, names=("a", "b"))
    text = compare(capsys, file)
    assert "Nemenyi" not in text
    assert "Friedman" not in text
    assert "*" not in text
    assert expected.pvalue == 0.0625
    assert expected.conclusion in text.replace("\n    ", " ")
    text = " ".join(text.split())
    assert "a is higher on 0, b on 5 of 5 data sets" in text
    assert "The sign test ignores sizes: p = 0.0625." in text
    (block,) = compare_json(capsys, file)["blocks"]
    assert (block["friedman"], block["pairs"], block["groups"]) == (None, None, None)
    assert block["wilcoxon"]["pvalue"] == expected.pvalue
    assert block["sign"]["pvalue"] == 0.0625
    assert block["mean_ranks"] == {"a": 2.0, "b": 1.0}
    (block,) = compare_json(capsys, file, "--control", "a", "--posthoc", "wilcoxon")["blocks"]
    assert block["wilcoxon"]["effect"] == -expected.effect
    message = "--posthoc holm goes with three algorithms or more, got a, b: two are compared by Wilcoxon's"
    assert message in error(capsys, file, "--posthoc", "holm")
    assert compare(capsys, file, "--out", tmp_path / "out").endswith("1 picture\n")


@pytest.mark.parametrize("posthoc", ["nemenyi", "holm", "wilcoxon"])
def test_no_pair_differs_where_friedmans_test_does_not_reject(capsys, tmp_path, posthoc):
    # At level 0.095 Friedman's p (0.0971) is too large; the smallest p of the pairs (0.0732 to 0.0938) are not.
    options = (write(tmp_path, UNLIKE), "--posthoc", posthoc, "--confidence", "0.905")
    (block,) = compare_json(capsys, *options)["blocks"]
    assert not block["friedman"]["rejected"]
    assert min(block["pairs"]["pvalue"]) < block["pairs"]["alpha"]
    assert not any(block["pairs"]["rejected"])
    assert block["groups"] in (None, [["c", "d", "b", "a"]])
    text = compare(capsys, *options)
    assert "*" not in text
    assert "no pair differs significantly, whatever its p, because Friedman's test is not significant\n" in text
    assert "critical difference" not in text


def test_nothing_follows_an_undefined_test(capsys, tmp_path):
    file = write(tmp_path, "a,b,c\n.1,.2,.3\n")
    text = compare(capsys, file)
    assert "The Friedman test is undefined on these data, so nothing follows about the mean ranks of\n" in text
    (block,) = compare_json(capsys, file)["blocks"]
    assert (block["pairs"], block["groups"], block["friedman"]["pvalue"]) == (None, None, None)
    assert compare(capsys, file, "--out", tmp_path / "out").endswith("compare.txt, 0 pictures\n")


@pytest.mark.parametrize(
    ("first", "values"),
    [("id", [7, 3, 5, 9]), ("row", [4, 1, 2, 3]), ("key_no", [1, 2, 3, 5]), ("x", range(6)), ("x", [90, 7, 12])],
)
def test_a_column_that_numbers_the_rows_is_said(capsys, tmp_path, first, values):
    rows = "".join(f"{value},0.{k},0.{k + 2}\n" for k, value in enumerate(values))
    file = write(tmp_path, f"{first},a,b\n{rows}")
    message = f"{first} looks like row numbers, not results: if so, leave it out by --dataset {shlex.quote(first)}"
    text = compare(capsys, file).replace("\n    ", " ")
    assert f"columns compared: {first}, a, b\n! : {message}\n" in text
    assert compare_json(capsys, file)["cautions"] == [message]
    for options in (("--dataset", first), ("--algorithm", first, "--algorithm", "a")):
        assert "looks like" not in compare(capsys, file, *options)


INDEX = "{},A,B,C\n0,4,7,6\n1,6,8,9\n2,3,6,7\n3,5,7,8\n4,4,9,8\n5,5,6,9\n"


@pytest.mark.parametrize(
    ("name", "shown"), [("", "the unnamed column"), ('""', "the unnamed column"), ("Unnamed: 0", "Unnamed: 0")]
)
def test_an_index_without_a_name_is_no_algorithm(capsys, tmp_path, name, shown):
    file = write(tmp_path, INDEX.format(name))
    text = compare(capsys, file)
    assert f"columns compared: A, B, C; not used: {shown} (names of rows)\n" in text
    assert "Friedman's test: F(2, 10) = 17.5000, p 0.0005" in text
    found = compare_json(capsys, file)
    assert (found["algorithms"], found["others"], found["cautions"]) == (["A", "B", "C"], [name.strip('"')], [])
    moved = file, "--algorithm", name.strip('"') or "A", "--algorithm", "B"
    assert compare_json(capsys, *moved)["algorithms"] == [name.strip('"') or "A", "B"]  # unless it is named


def test_a_column_without_a_name_that_is_no_index_is_refused(capsys, tmp_path):
    file = write(tmp_path, INDEX.format("").replace("\n3,", "\n2.5,"))
    message = "column '' has no name: if it names rows, give --dataset ''; otherwise name it"
    assert message in error(capsys, file)
    assert compare_json(capsys, file, "--dataset", "")["algorithms"] == ["A", "B", "C"]
    text = write(tmp_path, ",A,B\nx,1,2\ny,2,1\n")
    assert compare_json(capsys, text)["others"] == [""]


@pytest.mark.cases(7)
@pytest.mark.parametrize("name", ["Mean", "average", "AVG", "Median", "mean rank", "Avg. rank", "std", "mean ± sd"])
def test_a_row_of_means_is_no_data_set(capsys, tmp_path, name):
    file = write(tmp_path, f"{TABLE}{name},1.75,1.5,3\n")
    whole = compare_json(capsys, write(tmp_path, TABLE, "whole.csv"))
    for options in ((), ("--dataset", "set")):
        found = compare_json(capsys, file, *options)
        assert found["blocks"] == whole["blocks"]
        assert found["cautions"] == [f"rows that summarise other data sets are left out: '{name}'"]
    assert "4 data sets" in compare(capsys, file)
    kinds = "kind,a,b\nmean,1,2\nmedian,2,3\nmax,3,1\n"  # all rows are summaries, so they are compared
    assert "3 data sets" in compare(capsys, write(tmp_path, kinds))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("set,A,B\nx,.9,.8\ny,.9 or so,.9\nz,.8,.7\n", "column 'A' must hold numbers, but has '.9 or so' at line 3"),
        ("A,B\n91%,92\n93%,94\n", "must be in percent everywhere or nowhere, got '91%', but numbers without % in 'B'"),
        ("A,B\n91%,92%\n.93,94%\n", "percent everywhere or nowhere, got '91%' at line 2 and '.93' at line 3"),
        ("set,A,B,C\nx,1,2,.9\ny,2,1,.8\nz,1,3,-\n", "'C' must have a result in each row, but has '-' at line 4"),
        ("A,B,C\n1,2,0.9 (0.1)\n2,1,0.8\n1,2,good\n", "(if it names data sets: --dataset C)"),
    ],
)
def test_cells_that_are_no_numbers_are_named(capsys, tmp_path, text, message):
    file = write(tmp_path, text)
    assert message in error(capsys, file)


@pytest.mark.parametrize(
    ("cells", "note"),
    [
        (["0.91±0.02", ".8 ± .1", "0.7 (3)"], "deviation, or other text after it, is left out, as in '0.91±0.02'"),
        (["91 %", "80%", "70%"], "results are in percent, as in '91 %'"),
        (["**0.91**", "0.8*", r"\textbf{0.7}"], "marks around numbers are left out, as in '**0.91**'"),
    ],
)
def test_text_around_numbers_is_recognised(capsys, tmp_path, cells, note):
    scale = 100 if "%" in cells[0] else 1
    columns = {"A": cells, "B": ["80%", "70%", "90%"] if scale == 100 else ["0.8", "0.7", "0.9"]}
    rows = "".join(f"{name},{a},{b}\n" for name, a, b in zip("xyz", *columns.values(), strict=True))
    found = compare_json(capsys, write(tmp_path, f"set,A,B\n{rows}"))
    assert [each["means"] for each in found["blocks"]] == [
        {"A": pytest.approx(0.80333 * scale, rel=1e-4), "B": pytest.approx(0.8 * scale)}
    ]
    assert [note in each for each in found["cautions"]] == [True]


def test_numbers_as_text_are_no_names_beside_results():
    numbers, text = [0.9, 0.8], ["0.7", "0.6"]
    found = fastevals.compare({"a": numbers, "b": numbers[::-1], "c": text}).to_dict()
    assert found["algorithms"] == ["a", "b", "c"]
    assert found["blocks"][0]["means"]["c"] == pytest.approx(0.65)
    assert fastevals.compare({"a": text, "b": text}).to_dict()["algorithms"] == ["a", "b"]
    assert fastevals.compare({"set": text, "a": numbers, "b": numbers[::-1]}).others == ("set",)


def test_names_that_look_like_numbers_are_names(capsys, tmp_path):
    for names in (("10%", "20%", "30%"), ("3-class", "20news", "5d"), ("2020-01-02", "2020-01-03", "2020-01-04")):
        rows = "".join(f"{name},{k},2\n" for k, name in enumerate(names))
        assert compare_json(capsys, write(tmp_path, f"set,a,b\n{rows}"))["algorithms"] == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "on", "table"),
    [
        (
            "dataset,algorithm,score\nx,a,1\nx,b,2\ny,a,3\ny,b,1\n",
            "'algorithm'",
            {"dataset": ["x", "y"], "a": [1, 3], "b": [2, 1]},
        ),
        (
            "dataset,model,fold,acc\nx,a,0,.5\nx,b,0,.6\nx,a,1,.5\nx,b,1,.7\n",
            "'model'",
            {"a": [0.5] * 2, "b": [0.6, 0.7]},
        ),
        (
            "problem,who,acc\nx,a,.5\ny,a,.6\nz,a,.5\nx,b,.5\ny,b,.7\nz,b,.1\n",
            "'who'",
            {"problem": list("xyz"), "a": [0.5, 0.6, 0.5], "b": [0.5, 0.7, 0.1]},
        ),
    ],
)
def test_a_long_table_is_read(capsys, tmp_path, text, on, table):
    found, wide = compare_json(capsys, write(tmp_path, text)), fastevals.compare(table).to_dict()
    for blocks in (found["blocks"], wide["blocks"]):
        assert blocks[0].pop("paragraph")  # of a long table of one data set, it says that rows are splits
        assert blocks[0].pop("cited")
    assert found["blocks"] == wide["blocks"]
    assert found["cautions"][0] == f"the data have one row per result: column {on} names the algorithms"


def test_a_long_table_of_several_metrics_is_said(capsys, tmp_path):
    table = "dataset,method,{}\nx,a,.5,.4\nx,b,.6,.3\ny,a,.5,.7\ny,b,.2,.6\n"
    (caution,) = compare_json(capsys, write(tmp_path, table.format("p,q")))["cautions"]
    assert caution.startswith(
        "if p, q are metrics, the data have one row for each combination of 'dataset' and 'method'"
    )
    file = write(tmp_path, table.format("acc,f1"))
    message = "the data must have one metric, got acc, f1: leave one of these columns, or choose one in Python by"
    assert f"{message} fastevals.Results(data, metric='acc')" in error(capsys, file)
    assert compare_json(capsys, file, "--algorithm", "acc", "--algorithm", "f1")["cautions"] == []


def test_rows_that_are_splits_or_algorithms_are_no_data_sets(capsys, tmp_path):
    values = np.random.default_rng(0).random((4, 3, 2, 2)).round(3)  # data sets, algorithms, seeds and folds
    of = [f"d{d},{f},{s},{','.join(map(str, values[d, :, s, f]))}" for f, d, s in np.ndindex(2, 4, 2)]
    splits = compare_json(capsys, write(tmp_path, "\n".join(["set,fold,seed,a,b,c", *of])))
    means = values.mean(axis=(2, 3))
    wide = [f"d{d},{','.join(map(repr, row))}" for d, row in enumerate(means.tolist())]
    plain = compare_json(capsys, write(tmp_path, "\n".join(["set,a,b,c", *wide])))
    turned = [f"{name},{','.join(map(repr, row))}" for name, row in zip("abc", means.T.tolist(), strict=True)]
    rows = compare_json(capsys, write(tmp_path, "\n".join(["model,d0,d1,d2,d3", *turned])))
    for found in (splits, rows):
        assert found["algorithms"] == plain["algorithms"] == ["a", "b", "c"]
        assert found["blocks"][0]["mean_ranks"] == plain["blocks"][0]["mean_ranks"]
        assert found["blocks"][0]["paragraph"] == plain["blocks"][0]["paragraph"]
    assert splits["cautions"] == [
        "the data have one row per split of a data set: results are averaged over up to 4 splits of each"
    ]
    assert rows["cautions"] == ["rows are learners (column 'model'), and columns are data sets"]
    one = compare(capsys, write(tmp_path, "fold,a,b,c\n0,.5,.6,.7\n1,.6,.5,.8\n2,.7,.6,.9\n"))
    assert "3 splits of one data set, 3 algorithms" in one
    assert "rows are splits of one data set, which share rows" in one


def test_results_of_two_decimals_are_compared_as_decimals(capsys, tmp_path):
    a, b = (".97 .74 .84 .72 .56 .68 .87 .88", ".93 .72 .84 .75 .58 .73 .92 .93")
    rows = "\n".join(map(",".join, zip(a.split(), b.split(), strict=True)))
    for text in (f"A,B\n{rows}\n", f"A;B\n{rows}\n".replace(",", ";").replace(".", "0,")):
        (block,) = compare_json(capsys, write(tmp_path, text))["blocks"]
        assert block["wilcoxon"]["pvalue"] == 5 / 32


def test_estimates_are_results(capsys):
    y, luck = np.arange(100) % 2, np.random.default_rng(0).random(100)
    several = {}
    for name, share in (("bad", 0.6), ("fair", 0.8), ("good", 0.95)):
        predicted = np.where(luck < share, y, 1 - y)
        several[name] = [evaluate_splits(y, predicted, KFold(4, rng=k), "error_rate") for k in range(6)]
    found = fastevals.compare(several)
    expected = {name: [each["error_rate"].value for each in estimates] for name, estimates in several.items()}
    of_numbers = fastevals.compare(expected, lower_is_better=True).to_dict()
    of_estimates = found.to_dict()
    paragraph = of_estimates["blocks"][0].pop("paragraph")
    assert "by error rate (lower is better), averaged over 4 splits of each" in paragraph
    assert "by their results (lower is better)." in of_numbers["blocks"][0].pop("paragraph")
    assert of_estimates == of_numbers
    assert found.to_dict()["blocks"][0]["mean_ranks"] == {"bad": 3, "fair": 2, "good": 1}
    (block,) = fastevals.compare({name: each[0] for name, each in several.items()}).to_dict()["blocks"]
    assert block["friedman"] is None
    assert block["pairs"]["test"] == "the corrected resampled t-test"
    better = [evaluate_splits(y, y, KFold(4, rng=k), "accuracy") for k in range(6)]
    with pytest.raises(ValueError, match="lower_is_better must be False or left out for accuracy, got True"):
        fastevals.compare({"a": better, "b": better}, lower_is_better=True)


@pytest.mark.parametrize("rows", ["1,2,3\n1,3,2\n2,1,3\n", "1,2.5,2.5\n3,1.5,1.5\n2,2,2\n1,2,3\n"])
def test_ranks_without_lower_is_better_are_said(capsys, tmp_path, rows):
    file = write(tmp_path, f"a,b,c\n{rows}")
    message = (
        "! : rows look like ranks, and the highest rank was treated as the best: if rank 1 is best, give "
        "--lower-is-better"
    )
    assert message in compare(capsys, file).replace("\n    ", " ")
    assert "rows hold ranks" not in compare(capsys, file, "--lower-is-better")
    assert "rows hold ranks" not in compare(capsys, write(tmp_path, f"a,b,c\n{rows}1,2,4\n"))


# Predictions ------------------------------------------------------------------------------------------------------


def test_predictions(capsys, predictions):
    file, table = predictions
    result = compare_json(capsys, file, "--label", "y", "--pred", "good", "--pred", "poor", "--resamples", "199")
    models = {name: table[name] for name in ("good", "poor")}
    expected = compare_predictions(table["y"], models, metrics="accuracy", n_resamples=199, rng=0)["accuracy"]
    accuracy = result["metrics"]["accuracy"]
    assert accuracy["estimates"]["good"]["value"] == expected.estimates["good"].value
    assert accuracy["differences"][0]["confidence_interval"] == list(expected.differences[0].confidence_interval)
    assert set(result["metrics"]) == {"accuracy", "balanced_accuracy", "F1 (macro)", "matthews", "cohen_kappa"}
    test = mcnemar_test(table["y"], models["good"], models["poor"])
    assert result["mcnemar"]["pvalue"] == [test.pvalue]
    assert result["mcnemar_tests"][0]["table"] == test.table.tolist()
    assert result["mcnemar_tests"][0]["difference_interval"] == list(test.difference_interval)
    assert result["cochran"] is None
    assert result["classes"] == [0, 1, 2]


def test_predictions_are_compared_with_a_reference(capsys, predictions):
    file, table = predictions
    names = ["good", "fair", "poor"]
    arguments = [file, "--label", "y", *(f"--pred={name}" for name in names), "--reference", "fair"]
    result = compare_json(capsys, *arguments, "--resamples", "99")
    models = {name: table[name] for name in ("fair", "good", "poor")}
    expected = compare_predictions(table["y"], models, metrics="accuracy", reference="fair", n_resamples=99, rng=0)[
        "accuracy"
    ]
    found = result["metrics"]["accuracy"]["differences"]
    assert [(each["model"], each["reference"]) for each in found] == [("good", "fair"), ("poor", "fair")]
    for each, other in zip(found, expected.differences, strict=True):
        assert (each["value"], each["pvalue"]) == (other.value, other.pvalue)
        assert each["confidence_interval"] == list(other.confidence_interval)
    tests = pairwise_mcnemar_tests(table["y"], models, reference="fair")
    assert result["reference"] == "fair"
    assert result["mcnemar"]["pvalue"] == tests.pvalue.tolist()
    assert len(result["mcnemar_tests"]) == 2
    text = compare(capsys, *arguments, "--resamples", "99")
    joined = " ".join(text.split())
    assert "reference fair; each difference is another model minus fair" in joined
    fair, poor = result["metrics"]["accuracy"]["estimates"]["fair"], result["metrics"]["accuracy"]["estimates"]["poor"]
    by = f"it is lower than fair's by {fair['value'] - poor['value']:.4f} (95 % interval"
    assert f"poor's accuracy is {poor['value']:.4f}; {by}" in joined
    assert "simultaneous over the 2 pairs with fair (max-T), metric by metric." in joined
    assert {line.split(" - ")[1].split()[0] for line in text.splitlines() if " - " in line} == {"fair"}
    markdown = compare(capsys, *arguments, "--resamples", "99", "--format", "markdown")
    assert "good - poor" not in markdown
    assert "good - fair" in markdown


def test_rows_without_a_label_or_a_prediction(capsys, tmp_path):
    rows = {"y": list("aba" * 20), "p": list("abb" * 20), "q": list("bba" * 20)}
    for name, row in (("y", 3), ("p", 5), ("p", 8), ("q", 8)):
        rows[name][row] = None
    with pytest.raises(ValueError, match=r"^label 'y' has 1 missing .* row 3 .*; on_missing_label='drop' leaves such"):
        fastevals.compare(rows, label="y", pred=["p", "q"], on_invalid="drop")
    with pytest.raises(
        ValueError, match=r"^pred 'p' has 2 missing .* row 5 .*; on_invalid='drop' leaves such rows out$"
    ):
        fastevals.compare(rows, label="y", pred=["p", "q"], on_missing_label="drop")
    file = tmp_path / "rows.csv"
    lines = [",".join(each or "" for each in row) for row in zip(*rows.values(), strict=True)]
    file.write_text("\n".join(["y,p,q", *lines]) + "\n")
    drop = ("--on-missing-label", "drop", "--on-invalid", "drop", "--resamples", "19")
    found = compare_json(capsys, str(file), "--label", "y", "--pred", "p", "--pred", "q", *drop)
    assert (found["n_samples"], found["n_dropped"]) == (57, 3)
    assert found["dropped"] == {
        "p": {"reason": "invalid prediction", "rows": 2, "alone": 1},
        "q": {"reason": "invalid prediction", "rows": 1, "alone": 0},
        "y": {"reason": "missing label", "rows": 1, "alone": 1},
    }
    text = compare(capsys, str(file), "--label", "y", "--pred", "p", "--pred", "q", *drop).replace("\n    ", " ")
    assert "dropped 3 rows: 2 without a prediction of p, 1 without a prediction of q, 1 without a label" in text
    assert "! : 1 row that lacks a prediction of p only is left out for all models: report on" in text


def test_text_of_predictions(capsys, predictions):
    file, _ = predictions
    models = ("--label", "y", "--pred", "good", "--pred", "fair", "--pred", "poor", "--resamples", "99")
    text = compare(capsys, file, *models)
    for message in (
        "300 rows, 3 classes",
        "good - fair",
        "fair - poor",
        "Cochran's Q",
        "McNemar's exact test",
        "adjusted: holm",
        "\n* significant difference at level 0.05\n",
    ):
        assert message in text
    assert "positive class" not in text
    assert max(map(len, text.splitlines())) <= 120
    grouped = compare(capsys, file, *models, "--group", "patient", "--method", "corrected", "--seed", "3")
    assert "99 bootstrap replicates of clusters of patient" in grouped
    assert "McNemar's test treats rows as independent" in grouped
    assert "continuity correction" in grouped
    assert compare(capsys, file, *models) == text


def test_many_models_show_the_pairs_of_smallest_p(capsys, tmp_path):
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 200)
    columns = {LONG.format(k): np.where(rng.random(200) < 0.5 + k / 30, y, 1 - y) for k in range(11)}
    file = tmp_path / "predictions.parquet"
    parquet.write_table(pa.table({"y": y, **columns}), file)
    models = ("--label", "y", *(word for name in columns for word in ("--pred", name)), "--resamples", "1099")
    text = compare(capsys, file, *models).partition("\n")[2]
    assert text.count("... 10 more pairs, with equal or larger p: JSON has all\n") == 2
    assert max(map(len, text.splitlines())) <= 120
    text = text[text.index("\nMcNemar's exact test: rows") :] + text[text.index("\nmodel ") :].partition("\nMcNemar")[0]
    pvalues = compare_json(capsys, file, *models)["mcnemar"]["pvalue"]
    shown = [line.split()[-2 if line.endswith("*") else -1] for line in text.splitlines() if ", a name" in line]
    assert len(shown) == sum(" - a name" in line for line in text.splitlines()) == 45
    assert shown == [format_pvalue(p) for p in sorted(pvalues)[:45]]


def test_two_classes_of_text(capsys, tmp_path):
    file = write(tmp_path, "y,a,b\n" + "yes,yes,no\nno,no,no\nyes,yes,yes\nno,yes,no\n" * 5)
    options = ("--label", "y", "--pred", "a", "--pred", "b", "--resamples", "99")
    text = compare(capsys, file, *options, "--pos-label", "no")
    assert "2 classes, positive class no" in text
    assert "precision" in text
    output = compare_json(capsys, file, *options, "--pos-label", "no")
    assert (output["classes"], output["pos_label"]) == (["yes", "no"], "no")
    assert output["metrics"]["recall"]["estimates"]["a"]["value"] == 0.5
    other = compare_json(capsys, file, *options, "--pos-label", "yes")
    assert (other["pos_label"], other["metrics"]["recall"]["estimates"]["a"]["value"]) == ("yes", 1.0)


def test_two_classes_of_text_of_which_none_is_said_to_be_positive(capsys, tmp_path):
    file = write(tmp_path, "y,a,b\n" + "yes,yes,no\nno,no,no\nyes,yes,yes\nno,yes,no\n" * 5)
    options = ("--label", "y", "--pred", "a", "--pred", "b", "--resamples", "99")
    assert "2 classes, no and yes; name the positive class with --pos-label" in " ".join(
        compare(capsys, file, *options).split()
    )
    output = compare_json(capsys, file, *options)
    assert (output["classes"], output["pos_label"]) == (["no", "yes"], None)
    assert list(output["metrics"]) == ["accuracy", "balanced_accuracy", "F1 (macro)", "matthews", "cohen_kappa"]
    assert "--pos-label must be a label of --label 'y' ('no', 'yes'), got 'maybe'" in error(
        capsys, file, *options, "--pos-label", "maybe"
    )


def test_the_positive_class_goes_with_two(capsys, predictions):
    options = (predictions[0], "--label", "y", "--pred", "good", "--pred", "fair", "--pos-label", "1")
    assert "--pos-label needs two classes, but --label 'y' has 3: 0, 1, 2" in error(capsys, *options)


def test_models_that_predict_alike(capsys, tmp_path):
    file = write(tmp_path, "y,a,b\n" + "1,1,1\n0,1,1\n" * 5)
    result = compare_json(capsys, file, "--label", "y", "--pred", "a", "--pred", "b", "--resamples", "99")
    assert result["mcnemar"]["pvalue"] == [1]
    assert result["metrics"]["accuracy"]["differences"][0]["pvalue"] == 1
    assert result["mcnemar_tests"][0]["effect"] is None  # 0 / 0


# Files ------------------------------------------------------------------------------------------------------------


def written(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.mark.slow
def test_out_of_results(capsys, tmp_path):
    out = tmp_path / "out"
    text = compare(capsys, "--out", out)
    assert text.endswith(f"written to {out}: compare.json, compare.txt, 8 pictures\n")
    names = ["comparison_matrix", "critical_difference", "critical_difference_ranges", "critical_difference_wilcoxon"]
    names += ["null", "performance_profile", "pvalues", "rank_distribution"]
    pictures = [f"{name}.png" for name in names]
    assert written(out) == ["compare.json", "compare.txt", *pictures]
    assert (out / "compare.txt").read_text() == compare(capsys)
    assert json.loads((out / "compare.json").read_text()) == compare_json(capsys)


@pytest.mark.slow
def test_out_over_an_earlier_run_leaves_no_picture_of_that(capsys, tmp_path):
    out = tmp_path / "out"
    assert compare(capsys, "--out", out).endswith("8 pictures\n")
    again = compare(capsys, "--out", out, "--posthoc", "holm")
    assert again.endswith("7 pictures\n")
    assert "critical_difference_ranges.png" not in written(out)
    by = compare(capsys, "--out", out, "--by", "image")
    assert by.endswith("20 pictures in a folder for each image\n")
    assert "00-image-Barbara/pvalues.png" in written(out)
    assert "pvalues.png" not in written(out)


@pytest.mark.slow
def test_out_of_predictions(capsys, tmp_path, predictions):
    file, _ = predictions
    out = tmp_path / "out"
    two = ("--label", "y", "--pred", "good", "--pred", "fair", "--resamples", "99")
    assert compare(capsys, file, *two, "--out", out).endswith("3 pictures\n")
    assert written(out) == ["compare.json", "compare.txt", "differences.png", "intervals.png", "null.png"]
    status = cli.main(["compare", file, *two, "--pred", "poor", "--out", str(out), "--format", "json"])
    printed, message = capsys.readouterr()
    assert (status, json.loads(printed)["n_samples"]) == (0, 300)
    assert message.endswith("4 pictures\n")


def test_out_needs_matplotlib(capsys, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert "pip install matplotlib" in error(capsys, "--out", tmp_path)


# Errors -----------------------------------------------------------------------------------------------------------

PAIR = ("--pred", "a", "--pred", "b")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["F", "--control", "q"], "--control must be one of 'a', 'b', 'c'; got 'q'"),
        (["F", "--control", "a", "--posthoc", "nemenyi"], "--posthoc nemenyi compares all pairs; with --control use"),
        (["F", "--reference", "a", "--posthoc", "nemenyi"], "--posthoc nemenyi compares all pairs; with --reference"),
        (["F", "--reference", "q"], "--reference must be one of 'a', 'b', 'c'; got 'q'"),
        (["F", "--reference", "a", "--control", "a"], "--control and --reference exclude each other"),
        (
            ["F", "--label", "c", *PAIR, "--reference", "bb"],
            "--reference must be one of 'a', 'b'; got 'bb'",
        ),
        (["F", "--posthoc", "bonferroni-dunn"], "--posthoc bonferroni-dunn needs --control"),
        (["F", "--posthoc", "tukey"], "invalid choice: 'tukey'"),
        (["F", *PAIR], "--pred goes with predictions, which need --label"),
        (["F", "--resamples", "9"], "--resamples goes with predictions"),
        (["F", "--pos-label", "9"], "--pos-label goes with predictions"),
        (["F", "--label", "a", "--pred", "b"], "--pred must be given twice or more"),
        (["F", "--label", "c", *PAIR, "--by", "set"], "--by goes with results"),
        (["F", "--label", "c", *PAIR, "--lower-is-better"], "--lower-is-better goes with results"),
        (["F", "--label", "q", *PAIR], "--label 'q': 'F' has no such column"),
        (
            ["F", "--label", "set", *PAIR],
            "labels must be of one type, but --label 'set' has strings and --pred 'a' has numbers",
        ),
        (["F", "--label", "a", *PAIR], "--pred 'a' is given already, as --label 'a'"),
        (["F", "--label", "c", *PAIR, "--resamples", "0"], "--resamples must be an integer from 1 to 1000000000, got"),
        (["F", "--label", "c", *PAIR, "--confidence", "95"], "--confidence must be in (0, 1), got 95"),
        (["F", "--label", "c", *PAIR, "--seed", "-1"], "--seed must be an integer at least 0, got -1"),
        (["--label", "y", *PAIR], "--label goes with a FILE of predictions"),
        (["F", "--algorithm", "a", "--algorithm", "set"], "--algorithm 'set' must hold numbers"),
        (["F", "--algorithm", "a", "--algorithm", "a"], "--algorithm 'a' is given already"),
        (["F", "--algorithm", "a"], "results must have a column of numbers for each of two algorithms or more, got 1"),
        (["F", "--by", "q"], "--by 'q': 'F' has no such column"),
        (["F", "--dataset", "sets"], "did you mean 'set'?"),
        (["F", "--confidence", "1"], "--confidence must be in (0, 1), got 1"),
        (["F", "G"], "unexpected argument 'G'"),
        (["F", "--algoritm", "a"], "did you mean --algorithm?"),
        (["no.csv"], "no such file"),
    ],
)
def test_errors(capsys, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, TABLE, "F.csv")
    given = ["F.csv" if each == "F" else each for each in arguments]
    assert message.replace("'F'", "'F.csv'") in error(capsys, *given)


def test_missing_results_are_named(capsys, tmp_path):
    assert "column 'b' has 1 missing value, the first at line 3" in error(capsys, write(tmp_path, "a,b\n1,2\n3,\n"))
    file = tmp_path / "nan.parquet"
    parquet.write_table(pa.table({"set": ["x", "y"], "a": [1.0, 2.0], "b": [1.0, float("nan")]}), file)
    assert "row 1" in error(capsys, file)
    assert "'b'" in error(capsys, file)


def test_columns_of_blocks_and_groups_are_named(capsys, tmp_path):
    file = tmp_path / "odd.parquet"
    table = {"g": [1.0, float("nan"), 2.0], "one": ["x"] * 3, "y": [0, 1, 1], "a": [1, 1, 0], "b": [0, 1, 0]}
    parquet.write_table(pa.table(table), file)
    message = "--by 'g' must be finite, but has 1 NaN value, the first at row 1"
    assert message in error(capsys, file, "--by", "g", "--algorithm", "a", "--algorithm", "b")
    models = ("--label", "y", *PAIR, "--group")
    assert "--group 'g' must not be NaN" in error(capsys, file, *models, "g")
    assert "--group 'one' must have at least two groups to resample" in error(capsys, file, *models, "one")


def test_the_most_blocks(capsys, tmp_path):
    file = write(tmp_path, "g,a,b\n" + "".join(f"{k},1,2\n" for k in range(1001)))
    assert "--by 'g' has 1001 values; a block each is made for at most 1000" in error(capsys, file, "--by", "g")


@pytest.mark.slow
def test_many_algorithms_have_a_higher_picture(capsys, tmp_path):
    header, rows = ",".join(f"m{k}" for k in range(40)), np.random.default_rng(0).random((3, 40)).round(3)
    file = write(tmp_path, "\n".join([header, *(",".join(map(str, row)) for row in rows)]))
    compare(capsys, file, "--posthoc", "holm", "--out", tmp_path)
    content = (tmp_path / "pvalues.png").read_bytes()
    assert int.from_bytes(content[16:20], "big") == int.from_bytes(content[20:24], "big") == 850


def test_the_embedded_data_is_what_is_documented():
    assert list(load_psnr()) == ["image", "sigma", *FOUR]


def test_words_of_caution(capsys, tmp_path):
    few = compare(capsys, write(tmp_path, "a,b,c\n1,2,3\n4,5,6\n7,8,9\n"))
    said = "with 3 data sets of 3 algorithms, Friedman's test at level 0.05 has 19 % false alarms: use more data sets"
    assert said in " ".join(few.split())
    assert "Mean ranks depend on which algorithms are compared: adding" in " ".join(few.split())
    assert "p 0.0278" in few  # 1 / 3!^2, not 0
    many = "\n".join(f"{k},{k % 3},{(k * 7) % 5}" for k in range(8))
    text = compare(capsys, write(tmp_path, f"id,a,b\n{many}\n"))
    assert "false alarms" not in text
    assert "! : id looks like row numbers" in text
    two = compare(capsys, write(tmp_path, f"id,a,b\n{many}\n"), "--dataset", "id")
    assert "looks" not in two
    assert "Mean ranks depend" not in two
    one = write(tmp_path, "y,a,b\n1,1,0\n")
    text = compare(capsys, one, "--label", "y", "--pred", "a", "--pred", "b", "--resamples", "99")
    assert "a difference is the same in all replicates" in text


def test_pairs_are_bounded(capsys, tmp_path, monkeypatch):
    file = write(tmp_path, "a,b,c,d\n1,2,3,4\n2,3,4,5\n2,1,1,0\n")
    monkeypatch.setattr(columns, "MOST_COMPARED", 5)
    assert "4 algorithms have 6 pairs, and at most 5 are compared: --algorithm names" in error(capsys, file)
    assert cli.main(["compare", file, "--control", "a"]) == 0


def test_groups_are_drawn_alike_from_a_file(tmp_path):
    rng = np.random.default_rng(0)
    columns = {name: rng.integers(0, 2, 60).tolist() for name in ("y", "a", "b")} | {"h": [k // 5 for k in range(60)]}
    pd.DataFrame(columns).to_csv(tmp_path / "rows.csv", index=False)
    options = {"label": "y", "pred": ["a", "b"], "groups": "h", "n_resamples": 20, "rng": 0}
    made, read = (fastevals.compare(each, **options).to_dict() for each in (columns, tmp_path / "rows.csv"))
    assert {**made, "data": ""} == {**read, "data": ""}


def test_a_long_table_has_numbered_data_sets_and_the_direction_of_its_metric(capsys, tmp_path):
    rows = [f"{k * k},{name},{value + k / 99}" for k in range(6) for name, value in zip("abc", (1, 2, 3), strict=True)]
    found = compare_json(capsys, write(tmp_path, "\n".join(["dataset,model,rmse", *rows])))
    assert found["blocks"][0]["mean_ranks"] == {"a": 1, "b": 2, "c": 3}
    assert not found["higher_is_better"]
    assert "on 6 data sets by rmse (lower is better)" in found["blocks"][0]["paragraph"]
    table = {"dataset": [*"xxyy"], "model": [*"abab"], "accuracy": [0.1, 0.2, 0.3, 0.4], "kind": [*"uuvv"]}
    with pytest.raises(ValueError, match=r"^by needs one row per data set, but the data have one row for each"):
        fastevals.compare(table, by="kind")
    with pytest.raises(ValueError, match=r"^lower_is_better must be False or left out for accuracy, got True"):
        fastevals.compare(table, lower_is_better=True)
