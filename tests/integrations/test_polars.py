from __future__ import annotations

import doctest
import pickle
import warnings
from decimal import Decimal

import numpy as np
import pytest

import fastevals
from fastevals.measure.kinds import LABELS, SCORES, TARGETS, metric_kind
from fastevals.measure.metric_specs import MetricSpec
from fastevals.measure.registry import METRICS

pl = pytest.importorskip("polars", reason="polars is not installed")
polars = pytest.importorskip("fastevals.integrations.polars", exc_type=ImportError)  # refused if too old

pytestmark = pytest.mark.filterwarnings("error")
ENGINES = ("eager", "in-memory", "streaming")
NEEDED = {
    "expected_cost": {"threshold": 0.5},
    "recall_at_k": {"k": 2},
    "precision_at_k": {"k": 2},
    "hit_rate": {"k": 2},
}


def rows(n: int = 600, n_groups: int = 40, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    p = rng.integers(0, 20, n) / 20
    y = (rng.random(n) < p).astype(np.int64)
    columns = {"g": rng.integers(0, n_groups, n), "y": y, "p": p, "w": rng.integers(0, 4, n) / 2}
    return pl.DataFrame(columns | {"called": (p > 0.5).astype(np.int64), "class": rng.integers(0, 3, n)})


def collected(frame: pl.LazyFrame, engine: str) -> pl.DataFrame:
    return frame.collect(engine="streaming" if engine == "streaming" else "in-memory")


def by_group(frame: pl.DataFrame, expression: pl.Expr, engine: str = "eager") -> np.ndarray:
    if engine == "eager":
        return frame.group_by("g").agg(expression.alias("it")).sort("g")["it"].to_numpy()
    return collected(frame.lazy().group_by("g").agg(expression.alias("it")).sort("g"), engine)["it"].to_numpy()


def one_by_one(frame: pl.DataFrame, metric: MetricSpec, y: str, predicted: str, **columns: str) -> np.ndarray:
    """Return the metric of each group, from the public call on that group's rows alone."""
    found = []
    for _, part in frame.sort("g").group_by("g", maintain_order=True):
        arrays = {name: part[column].to_numpy() for name, column in columns.items()}
        given = part[y].to_numpy(), part[predicted].to_numpy(), np.zeros(part.height)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if METRICS[metric.name].of == "queries":
                value = fastevals.query_metrics(*given, {"it": metric}, interval=None)["it"].values
            else:
                value = fastevals.grouped_metrics(*given, {"it": metric}, **arrays)["it"].values
        found.append(value[0])
    return np.array(found)


def metrics_of_one_column() -> list[MetricSpec]:
    found = [fastevals.metric("f1", threshold=0.4), fastevals.metric("recall", fpr=0.2), fastevals.metric("ndcg@3")]
    found += [fastevals.metric("roc_auc", max_fpr=0.3), fastevals.metric("precision", average="macro")]
    for name, entry in METRICS.items():
        spec = MetricSpec(name, {"k": 2} if "k" in entry.options else NEEDED.get(name, {}))
        if entry.of == "queries" or metric_kind(spec) in (SCORES, LABELS, TARGETS):
            found.append(spec)
    return [each for each in found if str(each) != "cost"]  # it needs a matrix of costs


@pytest.mark.cases(16)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("metric", metrics_of_one_column(), ids=str)
def test_a_group_has_the_metric_of_its_rows(metric, weighted) -> None:
    of_queries = METRICS[metric.name].of == "queries"
    kind = None if of_queries else metric_kind(metric)
    if weighted and (of_queries or metric.name in ("median_absolute_error", "debiased_calibration_error")):
        return  # takes no weights
    frame = rows(180, 12)
    columns = {"sample_weight": "w"} if weighted else {}
    predicted = "called" if kind is LABELS else "p"
    if metric.name == "mean_absolute_percentage_error":
        frame = frame.with_columns(pl.col("y") + 1)
    found = by_group(frame, pl.col(predicted).fe.metric(metric, "y", **columns))
    expected = one_by_one(frame, metric, "y", predicted, **columns)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("engine", ENGINES)
def test_every_context_and_engine(engine) -> None:
    frame, auc = rows(), pl.col("p").fe.roc_auc("y")
    expected = fastevals.grouped_auc(frame["y"], frame["p"], frame["g"]).values
    np.testing.assert_array_equal(by_group(frame, auc, engine), expected)
    lazy = frame.lazy()
    assert collected(lazy.select(auc), engine).item() == fastevals.Ranking(frame["y"], frame["p"]).roc_auc()
    over = collected(lazy.select(auc.over("g")), engine)["p"].to_numpy()
    np.testing.assert_array_equal(over, expected[np.searchsorted(np.unique(frame["g"]), frame["g"])])
    filtered = (pl.col("p") - 0.1).filter(pl.col("w") > 0).fe.roc_auc((pl.col("y") == 1).filter(pl.col("w") > 0))
    kept = frame.filter(pl.col("w") > 0)
    assert collected(lazy.select(filtered), engine).item() == fastevals.Ranking(kept["y"], kept["p"]).roc_auc()


def test_all_groups_are_measured_in_one_call(monkeypatch) -> None:
    from fastevals.many import lists

    calls = []
    monkeypatch.setattr(lists, "_measure", lambda spec, y, p, g, *_: calls.append(g) or np.zeros(np.unique(g).size))
    by_group(rows(20_000, 5_000), pl.col("p").fe.roc_auc("y"))
    assert len(calls) == 1


def test_means_over_classes_are_over_a_groups_own_classes() -> None:
    frame = rows(300, 60).with_columns(y=pl.col("class"), called=(pl.col("class") * pl.col("y")) % 3)
    for name in ("f1", "jaccard"):
        for average in ("macro", "weighted", "micro"):
            metric = fastevals.metric(name, average=average)
            found = by_group(frame, pl.col("called").fe.metric(metric, "y"))
            np.testing.assert_allclose(found, one_by_one(frame, metric, "y", "called"), rtol=1e-12)
    metric = fastevals.metric("balanced_accuracy")
    found = by_group(frame, pl.col("called").fe.balanced_accuracy("y"))
    np.testing.assert_allclose(found, one_by_one(frame, metric, "y", "called"), rtol=1e-12)


@pytest.mark.parametrize(
    ("y", "pos_label"),
    [
        (pl.col("y") == 1, None),
        (pl.col("y").cast(pl.UInt8), 1),
        (pl.col("y") * 2 - 1, None),
        (pl.col("y").replace_strict({0: "no", 1: "yes"}), "yes"),
        (pl.col("y").replace_strict({0: "no", 1: "yes"}).cast(pl.Categorical), "yes"),
        (pl.col("y").replace_strict({0: "no", 1: "yes"}).cast(pl.Enum(["no", "yes"])), "yes"),
        (pl.col("y").replace_strict({0: 7, 1: 3}), 3),
    ],
)
@pytest.mark.parametrize("dtype", [pl.Float64, pl.Float32, pl.Int16])
def test_types_of_labels_and_scores(y, pos_label, dtype) -> None:
    frame = rows().with_columns(y2=y, p=(pl.col("p") * 20).cast(dtype))
    found = by_group(frame, pl.col("p").fe.roc_auc("y2", pos_label=pos_label))
    np.testing.assert_array_equal(found, by_group(frame, pl.col("p").fe.roc_auc("y")))


def test_a_group_of_one_class_and_an_empty_frame_give_nan() -> None:
    frame = pl.DataFrame({"g": [1, 1, 2], "y": [0, 1, 1], "p": [0.1, 0.2, 0.3]})
    np.testing.assert_array_equal(by_group(frame, pl.col("p").fe.roc_auc("y")), [1, np.nan])
    assert by_group(frame.clear(), pl.col("p").fe.roc_auc("y")).size == 0
    assert np.isnan(frame.clear().select(pl.col("p").fe.roc_auc("y")).item())
    few = pl.col("p").filter(pl.col("p") < 0.25), pl.col("y").filter(pl.col("p") < 0.25)
    np.testing.assert_array_equal(by_group(frame, few[0].fe.roc_auc(few[1])), [1, np.nan])


def test_the_name_is_that_of_the_scores() -> None:
    frame = rows()
    both = [pl.col(name).fe.roc_auc("y") for name in ("p", "called")]
    assert frame.select(both, third=pl.col("p").fe.gini("y")).columns == ["p", "called", "third"]
    assert frame.select(pl.col("p").fe.auc("y")).item() == frame.select(pl.col("p").fe.roc_auc("y")).item()
    assert {"roc_auc", "f1", "mean_squared_error", "metric"} <= {*dir(pl.col("p").fe)}


@pytest.mark.parametrize(
    ("column", "said"),
    [
        (pl.lit(None, dtype=pl.Float64), "column 'p' has 600 null values: filter such rows first"),
        (pl.lit(float("nan")), r"column 'p' must be finite, but has 600 NaN values, .*\(rows counted group by group\)"),
        (pl.lit("a"), "column 'p' must "),
        (pl.lit(Decimal("0.5")), None),
    ],
)
def test_values_that_are_no_scores(column, said) -> None:
    frame = rows().with_columns(p=column)
    if said is None:
        assert set(by_group(frame, pl.col("p").fe.roc_auc("y"))) == {0.5}
        return
    with pytest.raises((ValueError, pl.exceptions.ComputeError), match=said):
        by_group(frame, pl.col("p").fe.roc_auc("y"))


def test_columns_that_do_not_fit() -> None:
    frame = rows()
    with pytest.raises((ValueError, pl.exceptions.ComputeError), match="column 'y' must have as many rows in each"):
        by_group(frame, pl.col("p").filter(pl.col("p") > 0.5).fe.roc_auc("y"))
    with pytest.raises((ValueError, pl.exceptions.ComputeError), match="column 'class' must have two classes"):
        by_group(frame, pl.col("p").fe.roc_auc("class"))
    with pytest.raises((ValueError, pl.exceptions.ComputeError), match="column 'w' must"):
        by_group(frame, pl.col("p").fe.roc_auc("y", sample_weight=-pl.col("w")))


def test_columns_with_the_names_of_arguments() -> None:
    frame = pl.DataFrame({"y_true": [0.1, None], "y_score": [0, 1]})
    with pytest.raises((ValueError, pl.exceptions.ComputeError), match="column 'y_true' has 1 null value: filter"):
        frame.select(pl.col("y_true").fe.roc_auc("y_score"))


@pytest.mark.parametrize("groups", [1, 2])
def test_groups_without_weight_are_undefined(groups) -> None:
    frame = rows().with_columns(g=pl.int_range(pl.len()) % groups)
    weight = pl.col("g").cast(pl.Float64)
    found = frame.group_by("g", maintain_order=True).agg(pl.col("p").fe.roc_auc("y", sample_weight=weight))
    assert [np.isnan(each) for each in found.sort("g")["p"]] == [True, False][:groups]


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda p: p.fe.roc_acu("y"), "fe has no metric 'roc_acu'"),
        (lambda p: p.fe.metric("roc_acu", "y"), "metric must be one of .* names; got 'roc_acu' .did you mean"),
        (lambda p: p.fe.f1("y", treshold=0.3), "has no option treshold= .did you mean 'threshold'"),
        (lambda p: p.fe.f1("y", average=None), "metric must give one number, and f1.average=None. gives one for each"),
        (lambda p: p.fe.crps("y"), "metric must be computed from one column of predictions, and crps needs"),
        (lambda p: p.fe.ndcg("y", sample_weight="w"), "ndcg measures ranked documents, and takes no sample_weight"),
        (lambda p: p.fe.roc_auc(3), "y_true must be the name of a column or an expression, got a int"),
        (lambda p: pl.all().fe.roc_auc("y"), "y_score must be one column, got .*: write one expression per column"),
        (lambda p: p.fe.roc_auc(pl.col("y", "w")), "y_true must be one column"),
    ],
)
def test_what_is_refused_before_any_row_is_read(make, said) -> None:
    with pytest.raises((ValueError, AttributeError), match=said):
        make(pl.col("p"))


def test_the_examples() -> None:
    assert doctest.testmod(polars).failed == 0


def test_expressions_can_be_pickled() -> None:
    frame, auc = rows(), pl.col("p").fe.roc_auc("y")
    np.testing.assert_array_equal(by_group(frame, pickle.loads(pickle.dumps(auc))), by_group(frame, auc))
