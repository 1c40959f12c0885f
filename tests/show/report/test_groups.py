"""The part of a report over the values of --by: means, extremes, and the output for many values."""

import math

import numpy as np
import pytest

from fastevals import Ranking, delong, grouped_auc, grouped_metrics
from fastevals import report as report_of
from fastevals.counting.labels import rows_by_code
from fastevals.datasets import load_digits_eight
from fastevals.reading.columns import encode_values
from fastevals.show.report import intervals, over_values
from fastevals.show.report import measure as report_module
from tests.show.report.test_intervals import quietly, table
from tests.show.report.test_report import report, report_json, strict_json, write

MODELS = ("logistic", "naive_bayes", "random_forest")
RANKING = ["roc_auc", "average_precision", "pr_auc", "equal_error_rate", "break_even_point", "ks_statistic"]
TWO = ("--label", "y", "--score", "a", "--score", "b")


@pytest.fixture(autouse=True)
def _no_bootstrap(monkeypatch):
    """Skip the intervals of blocks, which test_intervals.py tests."""
    monkeypatch.setattr(report_module, "make_intervals", lambda *_, **__: intervals.Intervals())


@pytest.fixture
def many(monkeypatch):
    """Make the five folds of the embedded data count as many."""
    monkeypatch.setattr(over_values, "MOST_BLOCKS", 4)


def users(n_users=150, n_rows=1500, seed=0):
    """Return shuffled rows of users; some users have one class, or one row."""
    rng = np.random.default_rng(seed)
    user = np.minimum(rng.integers(0, n_users, n_rows), rng.integers(0, n_users, n_rows))
    y = (rng.random(n_rows) < 0.4).astype(int)
    a, b = (np.round(rng.normal(size=n_rows) + shift * y, 1) for shift in (1, 0.5))
    return {"y": y, "a": a, "b": b, "w": rng.integers(0, 4, n_rows), "user": np.array([f"u{k:03d}" for k in user])}


def csv(folder, columns):
    rows = "".join(",".join(map(str, row)) + "\n" for row in zip(*columns.values(), strict=True))
    return write(folder, "rows.csv", ",".join(columns) + "\n" + rows)


def over(capsys, *arguments):
    return report_json(capsys, *arguments)["over"]


def words(text):
    return " ".join(text.split())


# Few values -------------------------------------------------------------------------------------------------------


def test_means_are_those_of_the_calls_by_group(capsys):
    columns = load_digits_eight()
    output = report_json(capsys, "--by", "fold", "--confidence", "0.9")
    result = output["over"]
    assert result["values"] == [0, 1, 2, 3, 4]
    (note,) = result["intervals"].pop("notes")
    assert note.startswith("differences by fold need care: fewer than 10 degrees of freedom (3, 1, 4, 2 and 1 more)")
    assert result["intervals"] == {"method": "DeLong", "resamples_of_means": None}
    assert result["n_samples"] == [block["n_samples"] for block in output["blocks"]]
    assert result["n_positives"] == [block["n_positives"] for block in output["blocks"]]
    assert result["total_weights"] is None
    assert [model["name"] for model in result["models"]] == list(MODELS)
    for k, model in enumerate(result["models"]):
        given = (columns["label"], columns[model["name"]], columns["fold"])
        expected = {**grouped_metrics(*given, RANKING)}
        auc = expected["roc_auc"] = grouped_auc(*given, interval="delong", confidence_level=0.9)
        assert list(model["metrics"]) == RANKING
        for name, metric in model["metrics"].items():
            assert (metric["mean"], metric["macro_mean"]) == (expected[name].mean, expected[name].macro_mean)
            of_blocks = [block["models"][k]["metrics"][name] for block in output["blocks"]]
            assert metric["of_values"] == pytest.approx(of_blocks, rel=0 if name == "roc_auc" else 1e-14)
            assert metric["n_undefined"] == 0
            best = max(metric["of_values"])
            places = [k for k, value in enumerate(metric["of_values"]) if value == best]
            assert (metric["highest"]["metric"], metric["highest"]["n_values"]) == (best, len(places))
            assert metric["highest"]["value"] in places
            assert metric["interval"] == (list(auc.mean_confidence_interval) if name == "roc_auc" else None)
        assert model["metrics"]["roc_auc"]["intervals"] == auc.confidence_intervals.tolist()


def test_frames_have_the_numbers_of_each_block():
    data = users(n_users=2)
    names = {"y": data["y"], "a": data["a"] > 0, "user": data["user"]}
    for found in (
        report_of(data, label="y", score=["a", "b"], by="user"),
        report_of(names, label="y", pred="a", by="user"),
    ):
        frame = found.to_frame()
        for block in found.blocks:
            for model in block.models:
                rows = frame[(frame["by"] == block.value) & (frame["model"] == model.name)]
                assert dict(zip(rows["metric"], rows["value"], strict=True)).keys() >= model.metrics.keys()


def test_text_begins_with_the_means(capsys):
    lines = report(capsys, "--by", "fold").splitlines()
    start = lines.index("over 5 values of fold: means weighted by rows; DeLong's intervals, for these values only")
    assert start < lines.index("fold = 0: 360 rows, 35 positive (9.72 %)")
    rows = [line.split() for line in lines[start + 1 : start + 11]]
    assert rows[0] == ["mean", "AUC", "AP", "PR", "AUC", "EER", "BEP", "KS"]
    columns = load_digits_eight()
    auc = grouped_auc(columns["label"], columns["random_forest"], columns["fold"], interval="delong")
    assert rows[7][:2] == ["random_forest", f"{auc.mean:.4f}*"]
    ends = [f"{end:.4f}" for end in auc.mean_confidence_interval]
    assert rows[8:10] == [["95", "%", "from", ends[0]], ["to", ends[1]]]
    (row,) = (line.split() for line in table("\n".join(lines), "AUC  ") if line.startswith("random_forest"))
    low, high = auc.values.min(), auc.values.max()
    assert row == [
        "random_forest", f"{auc.macro_mean:.4f}", "0", f"{low:.4f}", str(auc.values.argmin()),
        f"{high:.4f}", str(auc.values.argmax()),
    ]  # fmt: skip
    assert max(map(len, lines)) <= 120


def test_one_value_has_no_mean(capsys, tmp_path):
    file = write(tmp_path, "one.csv", "y,a,b,w,g\n0,1,2,1,x\n1,2,1,1,x\n1,2,1,0,z\n0,2,1,0,z\n")
    assert over(capsys, file, *TWO, "--by", "g", "--weight", "w") is None
    assert "over " not in report(capsys, file, *TWO, "--by", "g", "--weight", "w").split("\n\n", 1)[1]
    assert over(capsys, file, *TWO) is None
    assert over(capsys, file, *TWO, "--by", "g")["values"] == ["x", "z"]


def test_the_means_of_one_model_have_no_mark(capsys):
    rows = table(report(capsys, "--by", "fold", "--score", "logistic"), "mean")
    assert [cell for row in rows for cell in row.split() if "*" in cell] == []


@pytest.mark.parametrize(("n_values", "n_blocks"), [(100, 100), (101, 0)])
def test_up_to_a_hundred_values_have_blocks(capsys, tmp_path, n_values, n_blocks):
    rows = {"y": [0, 1] * n_values, "a": [0.0, 1.0] * n_values, "g": np.repeat(np.arange(n_values), 2)}
    output = report_json(capsys, csv(tmp_path, rows), "--label", "y", "--score", "a", "--by", "g", "--resamples", "0")
    assert len(output["blocks"]) == n_blocks
    assert len(output["over"]["values"]) == n_values


def test_equal_extremes_are_counted(capsys, tmp_path):
    rows = "".join(f"{k % 2},{k % 2},0,{k // part}\n" for part in (10,) for k in range(44))
    file = write(tmp_path, "same.csv", "y,a,b,g\n" + rows)
    auc = over(capsys, file, *TWO, "--by", "g")["models"][0]["metrics"]["roc_auc"]
    assert auc["lowest"] == auc["highest"] == {"metric": 1.0, "value": 0, "n_values": 5}
    text = report(capsys, file, *TWO, "--by", "g")
    assert "0 and 4 more" in text
    assert "the AUC's interval has zero width for up to 5 values of g per model" in words(text)


def test_without_intervals(capsys):
    text = report(capsys, "--by", "fold", "--resamples", "0")
    assert "over 5 values of fold: means weighted by rows\n" in text
    assert "95 %" not in words(text).replace(", 95 % interval", "")  # of calibration, which needs no replicates
    result = over(capsys, "--by", "fold", "--resamples", "0")
    assert result["intervals"] is None
    assert result["models"][0]["metrics"]["roc_auc"]["interval"] is None


# Weights and groups -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_users", [6, 120])
def test_copies_are_repeated_rows(capsys, tmp_path, n_users):
    columns = users(n_users=n_users)
    weighted = over(capsys, csv(tmp_path, columns), *TWO, "--by", "user", "--frequency-weight", "w")
    again = {name: np.repeat(each, columns["w"]) for name, each in columns.items()}
    repeated = over(capsys, csv(tmp_path, again), *TWO, "--by", "user")
    assert weighted["n_samples"] == repeated["n_samples"]
    assert weighted["total_weights"] is None
    assert weighted["models"] == repeated["models"]


@pytest.mark.cases(2)
@pytest.mark.parametrize(
    ("option", "n_users", "why"),
    [
        (("--weight", "half"), 20, "weighted"),
        (("--weight", "w"), 20, "weighted"),
        (("--group", "w"), 20, "clustered"),
        (("--group", "w"), 120, "clustered"),
    ],
)
def test_no_intervals_where_delongs_do_not_hold(capsys, tmp_path, option, n_users, why):
    columns = users(n_users=n_users)
    columns["half"] = columns["w"] + 0.5
    arguments = (csv(tmp_path, columns), *TWO, "--by", "user", *option)
    text = report(capsys, *arguments)
    assert f"! : no interval over values of user: DeLong's intervals are not valid for {why} rows" in words(text)
    assert "95 %" not in text.partition("label      y")[2]  # below the differences, which allow for clusters
    result = over(capsys, *arguments)
    first, second = result["intervals"].pop("notes")
    assert first == f"no interval over values of user: DeLong's intervals are not valid for {why} rows"
    assert second.startswith("models are not compared" if why == "weighted" else "differences by user need care: ")
    assert (result["differences"] is None) == (why == "weighted")
    assert result["intervals"] == {"method": None, "resamples_of_means": None}
    assert result["models"][0]["metrics"]["roc_auc"]["interval"] is None
    assert "intervals" not in result["models"][0]["metrics"]["roc_auc"]


# Many values ------------------------------------------------------------------------------------------------------


@pytest.mark.cases(1)
@pytest.mark.parametrize("weight", [None, "w"])
def test_many_values_one_by_one(capsys, tmp_path, weight):
    columns = users()
    output = report_json(
        capsys, csv(tmp_path, columns), *TWO, "--by", "user", *(() if weight is None else ("--weight", weight))
    )
    kept = np.ones(columns["y"].size, dtype=bool) if weight is None else columns["w"] > 0
    weights = np.ones(kept.size) if weight is None else columns["w"]
    result = output["over"]
    assert output["blocks"] == []
    assert result["values"] == np.unique(columns["user"][kept]).tolist()
    for model in result["models"]:
        auc, precision = (model["metrics"][name] for name in ("roc_auc", "average_precision"))
        total = of_all = 0.0
        for k, user in enumerate(result["values"]):
            rows = kept & (columns["user"] == user)
            given = columns["y"][rows], columns[model["name"]][rows]
            ranking = Ranking(*given, sample_weight=weights[rows])
            assert (result["n_samples"][k], result["n_positives"][k]) == (ranking.n_samples, ranking.n_positives)
            if not 0 < ranking.n_positives < ranking.n_samples:
                assert auc["of_values"][k] is None
                assert weight is not None or auc["intervals"][k] is None
                continue
            assert auc["of_values"][k] == pytest.approx(ranking.roc_auc(), rel=1e-14)
            assert precision["of_values"][k] == pytest.approx(ranking.average_precision(), rel=1e-14)
            total += weights[rows].sum()
            of_all += weights[rows].sum() * ranking.roc_auc()
            if weight is None and auc["intervals"][k] is not None:
                ends = quietly(quietly(delong, *given).confidence_interval)
                assert auc["intervals"][k] == pytest.approx(list(ends), abs=1e-12)
        assert auc["mean"] == pytest.approx(of_all / total, rel=1e-12)
        defined = [value for value in auc["of_values"] if value is not None]
        assert auc["n_undefined"] == len(auc["of_values"]) - len(defined)
        assert (auc["lowest"]["metric"], auc["highest"]["metric"]) == (min(defined), max(defined))
        given = columns["y"][kept], columns[model["name"]][kept], columns["user"][kept]
        of_weights = {} if weight is None else {"sample_weight": weights[kept]}
        drawn = quietly(grouped_auc, *given, **of_weights, interval="bootstrap", n_resamples=1999, rng=0)
        assert auc["interval"] == list(drawn.mean_confidence_interval)
    (note, *_) = result["intervals"]["notes"]
    if weight is not None:
        assert "DeLong's intervals are not valid for weighted rows" in note
        return
    assert note.startswith("no interval for the AUC of ")
    assert note.endswith(": DeLong's variance needs at least two rows of each class")


def test_mean_of_many_values_is_of_whole_values_drawn(capsys, tmp_path):
    columns = users()
    columns["half"] = columns["w"] + 0.5
    arguments = (csv(tmp_path, columns), *TWO, "--by", "user", "--confidence", "0.9", "--resamples", "300")
    of_means = "the mean AUC's interval is from 300 replicates of whole values of user"
    for option in ((), ("--weight", "half")):
        text, result = report(capsys, *arguments, *option), over(capsys, *arguments, *option)
        assert of_means + ("" if option else ", other intervals are DeLong's") in words(text)
        assert result["intervals"]["resamples_of_means"] == 300
        ends = [f"{end:.4f}" for end in result["models"][0]["metrics"]["roc_auc"]["interval"]]
        rows = [line.split() for line in table(text, "mean  ")]
        assert [rows[2], rows[3]] == [["90", "%", "from", ends[0]], ["to", ends[1]]]
    assert "other intervals DeLong's" not in text
    assert (
        "! : no interval for the AUC of single values of user: DeLong's intervals are not valid for weighted rows"
        in words(text)
    )
    other = over(capsys, *arguments, "--seed", "1")["models"][0]["metrics"]["roc_auc"]["interval"]
    assert other != over(capsys, *arguments)["models"][0]["metrics"]["roc_auc"]["interval"]


def test_mean_of_many_equal_values(capsys, tmp_path):
    rows = "".join(f"{k % 2},{k % 2},0,{k // 2}\n" for k in range(220))
    text = report(capsys, write(tmp_path, "same.csv", "y,a,b,g\n" + rows), *TWO, "--by", "g")
    assert (
        "the interval of the mean AUC has zero width, because all values' AUCs are equal, so it says nothing about "
        "the uncertainty" in words(text)
    )


def test_lowest_and_highest(capsys, tmp_path):
    columns = users()
    arguments = (csv(tmp_path, columns), *TWO, "--by", "user")
    text, result = report(capsys, *arguments), over(capsys, *arguments)
    assert "threshold" not in text
    assert "\nin all     1500 rows, " in text
    aucs = result["models"][0]["metrics"]["roc_auc"]["of_values"]
    known = {user: auc for user, auc in zip(result["values"], aucs, strict=True) if auc is not None}
    for end, expected in (("lowest", sorted(known.values())), ("highest", sorted(known.values(), reverse=True))):
        heading, *rows = (line.split() for line in table(text, f"user, {end}"))
        assert " ".join(heading) == f"user, {end} rows positive AUC of a 95 % from to AUC of b"
        assert [row[3] for row in rows] == [f"{auc:.4f}" for auc in expected[:10]]
        for user, n_rows, n_positives, auc, low, high, _ in rows:
            place = result["values"].index(user)
            assert (int(n_rows), int(n_positives)) == (result["n_samples"][place], result["n_positives"][place])
            assert auc == f"{known[user]:.4f}"
            ends = result["models"][0]["metrics"]["roc_auc"]["intervals"][place] or [math.nan] * 2
            assert [low, high] == ["-" if math.isnan(each) else f"{each:.4f}" for each in ends]


@pytest.mark.parametrize("n_defined", [0, 1, 9, 10, 12, 25])
def test_few_that_are_defined_are_listed_once(capsys, tmp_path, n_defined):
    rows = "".join(f"{row if k < n_defined else 1},{row * k % 7},{k},u{k}\n" for k in range(101) for row in (0, 1))
    text = report(capsys, write(tmp_path, "few.csv", "y,a,b,g\n" + rows), *TWO, "--by", "g")
    listed = []
    for end in ("lowest", "highest"):
        if f"\ng, {end}" in text:
            listed += [line.split()[0] for line in table(text, f"g, {end}")[1:]]
    assert len(listed) == len(set(listed)) == min(n_defined, 20)
    undefined = f"AUC for {101 - n_defined}"
    assert undefined in words(text)


def test_all_of_one_class(capsys, tmp_path):
    file = write(tmp_path, "one.csv", "y,a,b,g\n" + "".join(f"1,{k},0,{k % 120}\n" for k in range(300)))
    auc = over(capsys, file, *TWO, "--by", "g")["models"][0]["metrics"]["roc_auc"]
    assert auc["mean"] is auc["macro_mean"] is auc["interval"] is auc["lowest"] is auc["highest"] is None
    assert auc["n_undefined"] == 120
    text = report(capsys, file, *TWO, "--by", "g")
    assert "- : undefined and left out of means: AUC for 120 of 120 values, which lack a class\n" in text
    assert "lowest" in text
    assert "g, lowest" not in text


def test_as_many_models_as_there_is_room_for(capsys, tmp_path):
    columns = users()
    y, scores = columns["y"], {f"model number {k}": columns["a"] + k for k in range(9)}
    value = {"user": np.array([f"{user} whose name is {'long ' * 20}{user}" for user in columns["user"]])}
    file = csv(tmp_path, {"y": y, **scores, **value})
    models = [part for name in scores for part in ("--score", name)]
    text = report(capsys, file, "--label", "y", *models, "--by", "user")
    assert max(map(len, text.splitlines())) <= 120
    assert "AUC of model number 1" in text
    assert "AUC of model number 8" not in text


@pytest.mark.slow
@pytest.mark.usefixtures("many")
def test_above_the_limit_there_are_no_blocks(capsys, tmp_path):
    output = report_json(capsys, "--by", "fold")
    assert output["blocks"] == []
    assert list(output["over"]["models"][0]["metrics"]) == RANKING[:2]
    for name in ("report.json", "roc.png"):  # from an earlier run
        (tmp_path / name).touch()
    text = report(capsys, "--by", "fold", "--out", tmp_path)
    assert text.endswith("report.json, report.txt, groups.png (more values of fold than have a block each)\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["groups.png", "report.json", "report.txt"]
    written = (tmp_path / "report.json").read_text()
    assert strict_json(written) == output
    assert written.count("\n") == 1  # with indents, arrays over many values would have a line per number
    assert len(table(text, "fold, lowest")) == 6


@pytest.mark.cases(3)
@pytest.mark.parametrize("kind", ["int", "float", "bool", "str"])
def test_values_of_any_type(capsys, tmp_path, monkeypatch, kind):
    monkeypatch.setattr(over_values, "MOST_BLOCKS", 1)
    of_kind = {"int": [-5, 3], "float": [-0.5, 2.5], "bool": ["false", "true"], "str": ["a\tb", "é"]}[kind]
    columns = users(n_users=1, n_rows=40)
    columns["by"] = np.array(of_kind * 20, dtype=object)
    file = csv(tmp_path, columns)
    result = over(capsys, file, *TWO, "--by", "by")
    assert result["values"] == ([False, True] if kind == "bool" else of_kind)
    shown = ["'a\\tb'", "é"] if kind == "str" else list(map(str, of_kind))
    rows = table(report(capsys, file, *TWO, "--by", "by"), "by, lowest")[1:]
    assert {row.split()[0] for row in rows} == set(shown)


def test_row_order_does_not_matter(capsys, tmp_path):
    columns = users()
    order = np.random.default_rng(1).permutation(columns["y"].size)
    arguments = (*TWO, "--by", "user", "--weight", "w")
    first = report(capsys, csv(tmp_path, columns), *arguments)
    assert first == report(capsys, csv(tmp_path, {name: each[order] for name, each in columns.items()}), *arguments)


@pytest.mark.parametrize(
    "column",
    [
        np.arange(300)[::-1] % 7 - 3,
        np.arange(300) * 2**53,
        np.array([True, False, True]),
        np.array([5], dtype=">i2"),
        np.array([2**64 - 1, 0, 2**64 - 1], dtype=np.uint64),
        np.array([0.5, -0.0, 0.0, 2.0]),
        np.array(["b", "a", "b"], dtype=object),
    ],
    ids=lambda column: f"{column.dtype}-{column.size}",
)
def test_rows_are_found_by_the_value_of_a_column(column):
    values, codes = encode_values("--by 'g'", column)
    assert values == sorted(set(column.tolist()))
    assert [type(value) for value in values] == [type(column.tolist()[0])] * len(values)
    places = rows_by_code(codes, len(values))
    assert [part.tolist() for part in places] == [np.flatnonzero(column == value).tolist() for value in values]
