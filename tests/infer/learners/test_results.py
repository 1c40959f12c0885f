"""`Results` from every form of data, and every test and picture of them."""

from __future__ import annotations

import pickle
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from pyarrow import parquet

import fastevals
from fastevals import DependentSplitsWarning, KFold, Results, plots
from fastevals.infer.learners.metrics import find_bounds, find_direction
from fastevals.infer.learners.results import as_learner_results

matplotlib.use("agg")
RNG = np.random.default_rng(5)
VALUES = np.round(RNG.uniform(0.5, 1, (6, 3, 2, 5)), 3)
DATASETS, LEARNERS = ("u", "v", "w", "x", "y", "z"), ("svm", "tree", "knn")
ROWS = [
    (dataset, learner, repeat, fold, float(VALUES[d, a, repeat, fold]))
    for d, dataset in enumerate(DATASETS)
    for a, learner in enumerate(LEARNERS)
    for repeat in range(2)
    for fold in range(5)
]
LONG: dict[str, list[Any]] = {
    name: [row[k] for row in ROWS] for k, name in enumerate(("dataset", "learner", "repeat", "fold", "accuracy"))
}
FRAME = pd.DataFrame(LONG)
WIDE = FRAME.pivot(index=["dataset", "repeat", "fold"], columns="learner", values="accuracy")[list(LEARNERS)]


def renamed() -> pd.DataFrame:
    frame = FRAME.rename(columns={"dataset": "where", "learner": "who", "repeat": "r", "fold": "f", "accuracy": "x"})
    return frame.assign(when=1.5, why="because")


def in_file(folder: Path, kind: str) -> str:
    path = folder / f"results.{kind}"
    if kind == "csv":
        FRAME.to_csv(path)  # with its index, which has no name
    else:
        parquet.write_table(pa.table(LONG), path)
    return str(path)


FORMS: dict[str, Callable[[Path], Any]] = {
    "array": lambda _: Results(VALUES, dataset=DATASETS, learner=LEARNERS, metric="accuracy"),
    "pandas": lambda _: Results(FRAME),
    "polars": lambda _: Results(pl.DataFrame(LONG)),
    "Arrow": lambda _: Results(pa.table(LONG)),
    "columns": lambda _: Results(LONG),
    "CSV": lambda folder: Results(in_file(folder, "csv")),
    "Parquet": lambda folder: Results(in_file(folder, "parquet")),
    "named columns": lambda _: Results(
        renamed(), dataset="where", learner="who", repeat="r", fold="f", value="x", metric="accuracy"
    ),
    "wide": lambda _: Results(WIDE.reset_index(), metric="accuracy"),
    "wide, by its index": lambda _: Results(WIDE, metric="accuracy"),
    "series": lambda _: Results(FRAME.set_index(["dataset", "learner", "repeat", "fold"])["accuracy"]),
    "metrics in rows": lambda _: Results(
        pd.concat(
            [
                FRAME.rename(columns={"accuracy": "value"}).assign(metric="accuracy"),
                FRAME.rename(columns={"accuracy": "value"}).assign(metric="f1"),
            ]
        ),
        metric="accuracy",
    ),
    "metrics in columns": lambda _: Results(FRAME.assign(f1=0.5), metric="accuracy"),
    "nested": lambda _: Results(
        {d: {a: VALUES[i, j].tolist() for j, a in enumerate(LEARNERS)} for i, d in enumerate(DATASETS)},
        metric="accuracy",
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_has_the_same_results(form: str, tmp_path: Path) -> None:
    results = FORMS[form](tmp_path)
    assert (results.datasets, results.learners) == (DATASETS, LEARNERS)
    assert (results.metric, results.greater_is_better) == ("accuracy", True)
    assert_array_equal(results.values, VALUES)
    assert results.errors == {}
    assert (results.notes != ()) == (form == "named columns")  # columns that are not used
    assert repr(results) == "Results(6 data sets x 3 learners x 2 x 5 splits, accuracy, higher is better)"


def test_the_order_of_rows_only_orders_the_names() -> None:
    shuffled = Results(FRAME.sample(frac=1, random_state=0))
    order = [shuffled.datasets.index(each) for each in DATASETS], [shuffled.learners.index(each) for each in LEARNERS]
    assert_array_equal(shuffled.values[np.ix_(*order)], VALUES)


def test_columns_of_two_levels() -> None:
    values = {(a, m): [0.1 * (j + k), 0.2] for j, a in enumerate(LEARNERS) for k, m in enumerate(("accuracy", "f1"))}
    frame = pd.DataFrame(values, index=["u", "v"])
    results = Results(frame, metric="f1")
    assert (results.datasets, results.learners) == (("u", "v"), LEARNERS)
    assert results.means.tolist() == [[0.1, 0.2, 0.1 * 3], [0.2] * 3]
    with pytest.raises(ValueError, match="metric must choose one of the data's metrics, 'accuracy', 'f1'"):
        Results(frame)


@pytest.mark.parametrize("kind", ["csv", "parquet", "arrow"])
def test_missing_cells_of_files(tmp_path: Path, kind: str) -> None:
    table = pa.table({"dataset": ["u", "v", "w"], "a": [0.9, None, 0.7], "b": ["0.8±0.1", "timeout", "0.5"]})
    path = tmp_path / f"results.{kind}"
    if kind == "csv":
        table.to_pandas().to_csv(path, index=False)
    elif kind == "parquet":
        parquet.write_table(table, path)
    else:
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table)
    kept = Results(path, missing="keep")
    assert_array_equal(kept.means, [[0.9, 0.8], [np.nan, np.nan], [0.7, 0.5]])
    assert kept.errors == {("v", "b", 0, 0): "timeout"}
    with pytest.raises(ValueError, match=r"lack 2 of 6: a on v; b on v \(timeout\)"):
        Results(path)
    path = tmp_path / "odd.csv"
    path.write_text("dataset,a,b\nu,0.9,0.8\nv,good,0.7\nw,0.8,0.6\n")
    with pytest.raises(ValueError, match="column 'a' must hold numbers, but has 'good' at line 3"):
        Results(path)
    with pytest.raises(ValueError, match="no such file"):
        Results(tmp_path / "none.csv")


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_of_results_are_read_again(library: Any) -> None:
    results = Results(LONG)
    again = Results(results.to_frame(library), metric="accuracy")
    assert_array_equal(again.values, results.values)
    assert again.to_dict() == results.to_dict()
    copy = pickle.loads(pickle.dumps(results))
    assert copy.to_dict() == results.to_dict()
    assert not copy.values.flags.writeable


# Every caller ---------------------------------------------------------------------------------------------------------

MEANS = VALUES.mean(axis=(2, 3))
OF_DATASETS: dict[str, Callable[[Any], Any]] = {
    "friedman": lambda table: fastevals.friedman_test(table),
    "nemenyi": lambda table: fastevals.nemenyi_test(table),
    "bonferroni-dunn": lambda table: fastevals.bonferroni_dunn_test(table, "svm"),
    "holm": lambda table: fastevals.rank_comparison_test(table),
    "t": lambda table: fastevals.pairwise_tests(table, test="paired-t"),
    "sign": lambda table: fastevals.pairwise_tests(table, test="sign"),
    "wilcoxon": lambda table: fastevals.pairwise_tests(table, test="wilcoxon"),
}
FURTHER = ("skillings_mack_test",)  # of other rooms
OF_DATASETS |= {
    name: lambda table, name=name: getattr(fastevals, name)(table) for name in FURTHER if name in fastevals.__all__
}
PICTURES = ("plot_critical_difference", "plot_comparison_matrix", "plot_performance_profile", "plot_rank_distribution")
OF_PAIRS: dict[str, Callable[[Any, Any], Any]] = {
    "paired t": lambda a, b: fastevals.paired_t_test(a, b),
    "wilcoxon": lambda a, b: fastevals.wilcoxon_test(a, b),
    "sign": lambda a, b: fastevals.sign_test(a, b),
    "permutation": lambda a, b: fastevals.paired_permutation_test(a, b, n_resamples=99, rng=0),
}


@pytest.mark.parametrize("name", OF_DATASETS)
def test_tests_over_data_sets_take_results(name: str) -> None:
    test, plain = OF_DATASETS[name], {learner: MEANS[:, k] for k, learner in enumerate(LEARNERS)}
    found, expected = test(Results(LONG)), test(plain)
    assert_array_equal(found.pvalue, expected.pvalue)
    assert_array_equal(found.statistic, expected.statistic)
    assert found.names == LEARNERS


@pytest.mark.parametrize("name", OF_PAIRS)
def test_tests_of_two_learners_take_those_of_results(name: str) -> None:
    results = Results(LONG)
    found = OF_PAIRS[name](results.of("svm"), results.of("tree"))
    expected = OF_PAIRS[name](MEANS[:, 0], MEANS[:, 1])
    assert (found.pvalue, found.effect) == (expected.pvalue, expected.effect)
    with pytest.raises(ValueError, match="learner must be one of 'svm', 'tree', 'knn'; got 'forest'"):
        results.of("forest")


@pytest.mark.parametrize("name", [each for each in PICTURES if each in plots.__all__])
def test_pictures_take_results(name: str) -> None:
    from matplotlib import pyplot

    results = Results(LONG)
    subject = fastevals.nemenyi_test(results) if name == "plot_critical_difference" else results
    assert getattr(plots, name)(subject) is not None
    pyplot.close("all")


def test_one_data_set_has_its_splits() -> None:
    one = Results(FRAME[FRAME["dataset"] == "u"], n_train=80, n_test=20)
    assert one.test_to_train == pytest.approx(0.25)
    expected = fastevals.corrected_resampled_t_test(*VALUES[0, :2].reshape(2, -1), n_train=80, n_test=20)
    assert fastevals.corrected_resampled_t_test(one.of("svm"), one.of("tree")).pvalue == expected.pvalue
    pairs = fastevals.pairwise_tests(one, test="corrected-resampled-t")
    assert pairs.between("svm", "tree").effect == expected.effect
    for test in (fastevals.friedman_test, fastevals.nemenyi_test, fastevals.pairwise_tests):
        with pytest.warns(DependentSplitsWarning):
            test(one)
    with pytest.warns(DependentSplitsWarning):
        fastevals.wilcoxon_test(one.of("svm"), one.of("tree"))
    unknown = Results(FRAME[FRAME["dataset"] == "u"])
    assert unknown.test_to_train is None
    with pytest.raises(ValueError, match="n_train"):
        fastevals.pairwise_tests(unknown, test="corrected-resampled-t")
    given = fastevals.corrected_resampled_t_test(unknown.of("svm"), unknown.of("tree"), n_train=80, n_test=20)
    assert given.pvalue == expected.pvalue
    five = Results(VALUES[:1, :, :, :2].repeat(5, axis=2)[:, :, :5] + RNG.normal(0, 0.01, (1, 3, 5, 2)))
    with warnings.catch_warnings():
        warnings.simplefilter("error", DependentSplitsWarning)
        assert len(fastevals.pairwise_tests(five, test="5x2cv-f")) == 3


# Estimates, and scikit-learn's results --------------------------------------------------------------------------------


def majority(X_train: Any, y_train: Any, X_test: Any) -> Any:
    return np.full(len(X_test), int(2 * np.sum(y_train) > len(y_train)))


def constant(X_train: Any, y_train: Any, X_test: Any) -> Any:
    return np.ones(len(X_test), dtype=int)


def estimates(seed: int, metrics: Any = ("accuracy", "f1")) -> dict[str, Any]:
    X, y = np.arange(60), np.random.default_rng(seed).integers(0, 2, 60)
    learners = {"majority": majority, "constant": constant}
    splitter = KFold(5, n_repeats=2, rng=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {
            name: fastevals.estimate_error(learner, X, y, splitter, list(metrics)) for name, learner in learners.items()
        }


def test_estimates_of_one_data_set() -> None:
    found = estimates(0)
    results = Results(found, metric="accuracy", dataset="iris")
    assert (results.datasets, results.learners) == (("iris",), ("majority", "constant"))
    assert_array_equal(results.values[0, 0], found["majority"]["accuracy"].per_split)
    assert results.test_to_train == pytest.approx(12 / 48)
    alone = {name: each["accuracy"] for name, each in found.items()}
    assert_array_equal(Results(alone).values, results.values)
    test = fastevals.pairwise_tests(results, test="corrected-resampled-t")
    assert test.pvalue == fastevals.pairwise_tests(alone, test="corrected-resampled-t").pvalue
    with pytest.raises(ValueError, match="metric must choose one of the data's metrics, 'accuracy', 'f1'"):
        Results(found)
    with pytest.raises(ValueError, match="metric must be one of 'accuracy', 'f1'; got 'auc'"):
        Results(found, metric="auc")
    with pytest.raises(ValueError, match="metric must be 'accuracy' or left out, as the data have no other metric"):
        Results(alone, metric="f1")
    with pytest.raises(ValueError, match="n_train and n_test apply only to numbers: estimates have their own"):
        Results(alone, n_train=48, n_test=12)
    by_metric = Results.by_metric(found, missing="keep")
    assert [*by_metric] == ["accuracy", "f1"]
    assert by_metric["f1"].metric == "f1"


def test_estimates_of_several_data_sets() -> None:
    found = {name: estimates(seed, ["accuracy"]) for seed, name in enumerate(("iris", "wine", "zoo"))}
    nested = Results(found)
    assert nested.datasets == ("iris", "wine", "zoo")
    lists = {name: [found[each][name] for each in found] for name in ("majority", "constant")}
    listed = Results(lists, dataset=tuple(found))
    assert_array_equal(listed.values, nested.values)
    assert_array_equal(nested.means[:, 0], [each["majority"]["accuracy"].value for each in found.values()])
    assert nested.test_to_train == pytest.approx([0.25] * 3)
    other = fastevals.estimate_error(constant, np.arange(60), np.arange(60) % 2, KFold(3, rng=0), "accuracy")
    with pytest.raises(ValueError, match="'majority' and 'constant' on 'iris' must be of the same splits"):
        Results({"iris": {"majority": found["iris"]["majority"], "constant": other}})


def test_dictionaries_of_cross_validate() -> None:
    from sklearn.datasets import load_iris
    from sklearn.model_selection import cross_validate
    from sklearn.tree import DecisionTreeClassifier

    X, y = load_iris(return_X_y=True)
    trees = {f"depth {k}": DecisionTreeClassifier(max_depth=k, random_state=0) for k in (1, 2, 3)}
    plain = {name: cross_validate(tree, X, y, cv=5) for name, tree in trees.items()}
    results = Results(plain, higher_is_better=True)
    assert results.values.shape == (1, 3, 1, 5)
    assert_array_equal(results.values[0, 2, 0], plain["depth 3"]["test_score"])
    scoring = ["accuracy", "neg_log_loss", "f1_macro"]
    several = {name: cross_validate(tree, X, y, cv=5, scoring=scoring) for name, tree in trees.items()}
    nested = Results({"iris": several, "again": several}, metric="neg_log_loss")
    assert (nested.metric, nested.greater_is_better) == ("neg_log_loss", True)
    assert_array_equal(nested.values[1, 0, 0], several["depth 1"]["test_neg_log_loss"])
    assert [*Results.by_metric(several)] == scoring
    sized = {name: cross_validate(tree, X, y, cv=5, return_indices=True) for name, tree in trees.items()}
    assert Results(sized).test_to_train == pytest.approx(30 / 120)
    with pytest.raises(ValueError, match=r"data must be a mapping of learners' names to results of cross_validate"):
        Results(plain["depth 1"])


# Missing cells --------------------------------------------------------------------------------------------------------

HOLES: dict[str, list[Any]] = {
    "dataset": ["u", "v", "w", "x"],
    "svm": [0.9, "timeout", 0.7, 0.8],
    "tree": [0.8, 0.6, None, 0.7],
    "knn": [0.7, 0.5, 0.6, 0.9],
}


def test_missing_cells_are_refused_by_name() -> None:
    message = r"lack 2 of 12: svm on v \(timeout\); tree on w\. To go on without"
    with pytest.raises(ValueError, match=message):
        Results(HOLES)
    with pytest.raises(ValueError, match="missing must be one of 'raise', 'drop-dataset', 'worst', 'keep'"):
        Results(HOLES, missing="drop")  # type: ignore[arg-type]


def test_data_sets_with_missing_cells_are_left_out() -> None:
    results = Results(HOLES, missing="drop-dataset")
    assert results.datasets == ("u", "x")
    note = "2 of 12 results are missing (svm on v (timeout); tree on w): 2 data sets are left out, 'v', 'w'."
    assert results.notes == (note,)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert fastevals.pairwise_tests(results, test="sign").conclusion.endswith(note)
    with pytest.raises(ValueError, match="missing='drop-dataset' leaves no data set"):
        Results({"u": {"a": [1, None], "b": [1, 2]}}, missing="drop-dataset")


def test_missing_cells_count_as_the_worst_value() -> None:
    known = Results(HOLES, missing="worst", metric="accuracy")
    assert known.means[1, 0] == known.means[2, 1] == 0
    assert known.notes[-1].endswith("count as 0, the worst value.")
    unbounded = Results(HOLES, missing="worst", metric="rmse")
    assert (unbounded.means[1, 0], unbounded.means[2, 1]) == (0.6, 0.7)
    assert unbounded.notes[-1].endswith("count as the worst result on the data set.")
    percent = {
        name: [100 * each if isinstance(each, float) else each for each in column] for name, column in HOLES.items()
    }
    assert Results(percent, missing="worst", metric="error_rate").means[1, 0] == 60  # beyond the range of shares
    with pytest.raises(ValueError, match="higher_is_better must be given, True or False, for missing='worst'"):
        Results(HOLES, missing="worst")
    friedman = fastevals.friedman_test(known)
    assert friedman.mean_ranks.tolist() == fastevals.friedman_test(known.means).mean_ranks.tolist()
    assert friedman.conclusion.endswith(known.notes[-1])


def test_missing_cells_are_kept() -> None:
    kept = Results(HOLES, missing="keep", higher_is_better=True)
    assert np.isnan(kept.means).sum() == 2
    assert kept.errors == {("v", "svm", 0, 0): "timeout"}
    assert kept.to_dict()["errors"] == [{"dataset": "v", "learner": "svm", "repeat": 0, "fold": 0, "error": "timeout"}]
    for test in (fastevals.friedman_test, fastevals.pairwise_tests):
        with pytest.raises(ValueError, match=r"results must have all results for this test, but lack svm on v"):
            test(kept)


def test_folds_that_no_learner_has_are_not_missing() -> None:
    ragged = Results({"u": {"a": [1, 2, 3], "b": [2, 2, 2]}, "v": {"a": [4, 5], "b": [5, 5]}})
    assert ragged.means.tolist() == [[2, 2], [4.5, 5]]
    assert len(ragged.to_frame("pandas")) == 10
    with pytest.raises(ValueError, match="lack 1 of 10: b on v, fold 1"):
        Results({"u": {"a": [1, 2, 3], "b": [2, 2, 2]}, "v": {"a": [4, 5], "b": [5]}})


# Tables as people have them -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "values", "note"),
    [
        (["0.91±0.02", "0.8 +/- .1", "0.7 (3)"], [0.91, 0.8, 0.7], "is left out, as in '0.91±0.02'."),
        ([r"$0.91 \pm 0.02$", "0.8 [0.7, 0.9]", "0.7"], [0.91, 0.8, 0.7], "is left out, as in '$0.91"),
        (["91 %", "80%", r"70\%"], [91, 80, 70], "Results are in percent, as in '91 %'."),
        (["**0.91**", r"\textbf{0.8}", "<b>0.7</b>"], [0.91, 0.8, 0.7], "Marks around numbers are left out, as in"),
        (["0,91", "0,8", "0,725"], [0.91, 0.8, 0.725], "A comma is read as the decimal point, as in '0,91'."),
        (["1e-3", "\N{MINUS SIGN}0.5", " 2 "], [0.001, -0.5, 2], None),
    ],
)
def test_text_around_numbers(cells: list[str], values: list[float], note: str | None) -> None:
    results = Results({"dataset": ["u", "v", "w"], "a": cells, "b": cells[::-1]})
    assert results.means.T.tolist() == [values, values[::-1]]
    assert any(note in each for each in results.notes) if note else results.notes == ()


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (["0.9", "good", "0.8"], r"column 'a' must hold numbers, but has 'good' at row 1"),
        (["91 %", "0.9", "0.8"], r"must be in percent everywhere or nowhere, got '91 %' at row 0 and '0.9' at row 1"),
        (["1,234", "2,345", "3,456"], r"the comma of '1,234' at row 0 may separate thousands or decimals"),
        (["0,91", "0.8", "0.7"], r"must have one decimal sign, got '0,91' at row 0 and '0.8' at row 1"),
        ([0.9, float("inf"), 0.8], r"must be finite, but has inf at row 1"),
        ([0.9, [1], 0.8], r"must hold numbers, but has \[1\] \(list\) at row 1"),
    ],
)
def test_ambiguous_cells_are_refused(cells: list[Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Results({"dataset": ["u", "v", "w"], "a": cells, "b": [0.5, 0.6, 0.7]})


def test_rows_of_means_index_columns_and_transposed_tables() -> None:
    frame = pd.DataFrame({"Unnamed: 0": [0, 1, 2], "set": ["u", "v", "Mean"], "a": [1, 2, 1.5], "b": [2, 3, 2.5]})
    results = Results(frame)
    assert (results.datasets, results.means.tolist()) == (("u", "v"), [[1, 2], [2, 3]])
    assert results.notes == ("Rows that summarise other data sets are left out: 'Mean'.",)
    indexed = Results(pd.DataFrame({"a": [1, 2, 1.5], "b": [2, 3, 2.5]}, index=["u", "v", "average"]))
    assert indexed.datasets == ("u", "v")
    turned = Results({"model": ["a", "b"], "u": [1, 2], "v": [2, 3]})
    assert (turned.datasets, turned.learners) == (("u", "v"), ("a", "b"))
    assert_array_equal(turned.values, results.values)
    assert turned.notes == ("Rows are learners (column 'model'), and columns are data sets.",)
    numbers = Results({"a": [1, 2], "b": [2, 3]})
    assert (numbers.datasets, numbers.learners) == ((0, 1), ("a", "b"))
    named = Results({"share": ["10 %", "20 %"], "a": [1, 2], "b": [2, 3]})
    assert named.datasets == ("10 %", "20 %")
    two = Results({"image": ["p", "q"], "sigma": ["1", "2"], "a": [1, 2], "b": [2, 3]}, dataset=["image", "sigma"])
    assert two.datasets == ("p, 1", "q, 2")


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (FRAME.drop(columns="repeat"), {}, r"'svm' on 'u', fold 0 has 2, at row 0 and row 5"),
        (
            {"set": ["u", "u"], "a": [1, 2], "b": [2, 3]},
            {},
            r"'a' on 'u' has 2, at row 0 and row 1: if they are splits",
        ),
        (FRAME, {"fold": "cv"}, "fold must name a column of the data, one of 'dataset', .*; got 'cv'"),
        (FRAME, {"metric": 3}, "metric must be a metric's name, got 3"),
        (FRAME, {"higher_is_better": False}, "higher_is_better must be True or left out for accuracy, got False"),
        (FRAME, {"n_train": 90}, "n_train and n_test must be given together, and n_test is left out"),
        (FRAME, {"n_train": [90, 80], "n_test": 10}, "n_train must be one number, or one for each of 6 data sets"),
        (VALUES, {"fold": "x"}, "fold names a column of a frame or file, and data are an array: leave it out"),
        (VALUES, {"learner": ["a", "b"]}, "learner must be 3 different names for data without names, got 'a', 'b'"),
        (VALUES[0, 0, 0], {}, r"data must be an array of data sets x learners.*got shape \(5,\)"),
        ([["a", "b"], ["c", "d"]], {}, "data must hold numbers"),
        ({}, {}, "data is empty"),
        (Results(VALUES), {}, "data must be in another form, got Results"),
        ({"set": ["u", "v"]}, {}, "data must have a column of numbers, got columns 'set'"),
        ({"u": {"a": 1, "b": 2}, "v": [1, 2]}, {}, r"data\['v'\] must be a mapping of learners' names"),
        ({"u": {"a": {"b": 1}}}, {}, r"data\['u'\]\['a'\] must be results: numbers, an estimate"),
        ({"dataset": ["u", None], "a": [1, 2], "b": [2, 3]}, {}, "must name the dataset of each row, but has none at"),
    ],
)
def test_bad_input(data: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Results(data, **options)


def test_an_unknown_direction_is_asked_for() -> None:
    results = Results({"a": [1, 2, 3], "b": [2, 3, 1], "c": [2, 1, 3]}, metric="wow")
    with pytest.raises(ValueError, match="higher_is_better must be given, True or False, for results of wow"):
        fastevals.friedman_test(results)
    lower = fastevals.friedman_test(results, higher_is_better=False)
    assert (
        lower.mean_ranks.tolist() == fastevals.friedman_test(results.means, higher_is_better=False).mean_ranks.tolist()
    )


@pytest.mark.parametrize(
    ("metric", "direction"),
    [
        ("accuracy", True), ("ACC", True), ("Accuracy (%)", True), ("f1_macro", True), ("roc_auc_ovr_weighted", True),
        ("neg_mean_squared_error", True), ("mean_squared_error", False), ("RMSE", False), ("error_rate", False),
        ("error", False), ("explained_variance", True), ("f_score(beta=2)", True), ("wow", None), (None, None),
        ("prevalence", None), ("fit_time", False),
    ],
)  # fmt: skip
def test_directions(metric: str | None, direction: bool | None) -> None:
    assert find_direction(metric) is direction
    assert find_bounds("wow") == (-np.inf, np.inf)
    assert find_bounds("f1_macro") == (0, 1)


def test_callers_name_their_argument() -> None:
    results = Results(LONG)
    assert as_learner_results("results", results) is results
    assert as_learner_results("results", LONG).learners == LEARNERS
    with pytest.raises(ValueError, match=r"^results is empty"):
        as_learner_results("results", {})
    with pytest.raises(ValueError, match=r"^results must have a result in each cell"):
        as_learner_results("results", HOLES)


def test_means_of_the_same_folds_in_another_order_are_tied() -> None:
    rng = np.random.default_rng(0)
    folds = rng.integers(0, 40, (50, 10)) / 40
    values = np.stack(
        [folds, rng.permuted(folds, axis=1), folds + np.where(np.arange(50) % 2, 1e-9, -1e-9)[:, None]], axis=1
    )
    results = Results(values[:, :, None], metric="accuracy")
    means = results.means
    assert_array_equal(means[:, 0], means[:, 1])
    assert (np.sign(means[:, 2] - means[:, 1]) == np.where(np.arange(50) % 2, 1, -1)).all()
    assert_allclose(means, values.mean(axis=2), rtol=1e-15)
    assert_array_equal(fastevals.friedman_test(results).mean_ranks, [2, 2, 2])
    assert_array_equal(Results(values[:, :, 0]).means, values[:, :, 0])  # single results stay as they are


def test_conclusions_of_two_learners_have_their_names() -> None:
    folds = np.random.default_rng(0).normal(size=(1, 2, 2, 5))
    several = Results(folds[0, :, 0].T, learner=["LDA", "tree"])
    one = Results(folds, learner=["LDA", "tree"], n_train=80, n_test=20)
    for results, test in (
        (several, fastevals.wilcoxon_test), (several, fastevals.sign_test), (several, fastevals.paired_t_test),
        (several, fastevals.paired_permutation_test), (one, fastevals.corrected_resampled_t_test),
    ):  # fmt: skip
        pair = results.of("LDA"), results.of("tree")
        assert re.search(r"\bLDA and tree\b|\btree and LDA\b", test(*pair).conclusion), test(*pair).conclusion
        assert "old" in test(*pair, names=("old", "new")).conclusion
    found = fastevals.equivalence_test(several.of("LDA"), several.of("tree"), margin=0.1)
    assert "LDA" in found.conclusion


def test_messages_on_arrays_name_the_place() -> None:
    with pytest.raises(ValueError, match=r"^data must be finite, but has inf at place \(1, 0\)$"):
        Results([[1.0, 2.0], [np.inf, 3.0]])
    with pytest.raises(ValueError, match=r"^learner must be 2 different names"):
        Results([[1.0, 2.0]], learner=[1, "1"])


def test_repeats_of_different_lengths() -> None:
    rows = [(learner, r, f, 0.5 + 0.01 * ("ab".index(learner) * (f - 1) + r)) for learner in "ab" for r in range(2)
            for f in range(3) if (r, f) != (1, 2)]  # fmt: skip
    data = pd.DataFrame(rows, columns=["model", "repeat", "fold", "score"])
    results = Results(data, metric="accuracy", n_train=90, n_test=10)
    a, b = results.of("a"), results.of("b")
    assert a.per_split.shape == (1, 5)
    found = fastevals.corrected_resampled_t_test(a, b)
    plain = fastevals.corrected_resampled_t_test(a.per_split[0], b.per_split[0], n_train=90, n_test=10)
    assert found.pvalue == pytest.approx(plain.pvalue)
    assert fastevals.pairwise_tests(results, test="corrected-resampled-t").pvalue == pytest.approx(plain.pvalue)
    assert results.table(reference="a").pairs.pvalue == pytest.approx(plain.pvalue)
    assert "5 splits of one data set" in str(fastevals.compare(results))


def test_datasets_with_different_numbers_of_folds() -> None:
    data = {name: {learner: list(0.1 * k * np.arange(n)) for k, learner in enumerate("ab")}
            for name, n in (("iris", 2), ("wine", 3))}  # fmt: skip
    results = Results(data, higher_is_better=True, n_train=2, n_test=1)
    assert [each.per_split.shape for each in results.of("a")] == [(1, 2), (1, 3)]
    assert [each._splits.n_train.shape for each in results.of("a")] == [(1, 2), (1, 3)]
    found = fastevals.bayes_correlated_t(results, dataset="iris", rope=0.1)
    iris = Results({"iris": data["iris"]}, higher_is_better=True, n_train=2, n_test=1)
    assert found.effect == fastevals.bayes_correlated_t(iris, rope=0.1).effect == pytest.approx(-0.05)


def test_tests_of_splits_refuse_several_data_sets() -> None:
    """Each mean would be taken for a fold of one data set."""
    results = Results(np.random.default_rng(0).random((10, 2, 5)), learner=["a", "b"], n_train=80, n_test=20)
    said = r"compares splits of one data set, got results on 10 data sets: use Wilcoxon's test, or take one data set"
    for test in ("corrected-resampled-t", "5x2cv-t", "5x2cv-f"):
        with pytest.raises(ValueError, match=f"test='{test}' {said}"):
            fastevals.pairwise_tests(results, test=test)  # type: ignore[arg-type]
    pair = results.of("a"), results.of("b")
    for sizes in ({}, {"n_train": 80, "n_test": 20}):
        with pytest.raises(ValueError, match=f"the corrected resampled t-test {said}"):
            fastevals.corrected_resampled_t_test(*pair, **sizes)
        with pytest.raises(ValueError, match=f"the corrected resampled t-test {said}"):
            fastevals.equivalence_test(*pair, margin=0.1, test="corrected-resampled-t", **sizes)


def test_numbered_learners_and_melted_metrics() -> None:
    frame = {"task": [*"wwxx"], "model": [0, 1, 0, 1], "accuracy": [0.5, 0.6, 0.7, 0.8]}
    assert Results(frame).learners == (0, 1)
    alone = Results({"model": [0, 1, 2], "accuracy": [0.5, 0.6, 0.7]})
    assert (alone.learners, alone.datasets, alone.metric) == ((0, 1, 2), (0,), "accuracy")
    counts = Results({"task": ["w", "x"], "model": [3, 4], "other": [5, 6]})  # numbers of errors
    assert counts.learners == ("model", "other")
    wide = pd.DataFrame({**frame, "rmse": [3.0, 2.0, 1.0, 0.5]})
    melted = Results.by_metric(wide.melt(id_vars=["task", "model"]))
    assert list(melted) == ["accuracy", "rmse"]
    assert_array_equal(melted["rmse"].means, [[3, 2], [1, 0.5]])
    assert Results(pd.DataFrame({"task": ["w", "x"], "a": [1.0, 2], "b": [3.0, 4]}).melt("task")).learners == ("a", "b")


def test_dates_and_complex_numbers_are_no_results() -> None:
    for column in (np.array(["2020-01-01"] * 2, dtype="M8[s]"), np.array([5, 6], dtype="m8[s]"), np.array([1j, 2j])):
        for make in (dict, pd.DataFrame):
            with pytest.raises(ValueError, match=r"column 'b' must hold numbers"):
                Results(make({"dataset": ["w", "x"], "a": [1.0, 2.0], "b": column}))


def test_scalars_are_means_of_data_sets() -> None:
    values = np.random.default_rng(0).random((2, 3, 4))
    named = Results(values, dataset=["w", "x"], learner=["a", "b", "c"], metric="accuracy")
    means = values.mean(axis=2)
    expected = {f"{d}/{a}/accuracy": means[k, j] for k, d in enumerate("wx") for j, a in enumerate("abc")}
    assert named.to_scalars() == pytest.approx(expected)
    assert len(Results(values).to_scalars()) == 6


def test_a_learner_may_have_the_name_of_a_column() -> None:
    data = {"u": {"dataset": 0.1, 1: 0.2, "1": 0.3}, "v": {"dataset": 0.3, 1: 0.4, "1": 0.5}}
    frame = Results(data).table().to_frame()
    assert [*frame.columns] == ["dataset", "learner dataset", "1", "'1'"]
    assert_array_equal(frame.to_numpy()[:, 1:].astype(float), [[0.1, 0.2, 0.3], [0.3, 0.4, 0.5]])
