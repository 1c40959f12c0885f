"""Spark frames on two worker processes: the same answers as in memory, whatever happens to workers."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastevals
from fastevals import Ranking
from fastevals.scale import ClassScoresSummary, parquet
from fastevals.scale import spark as ours
from tests.scale.local_frames import check_certified, check_exact, check_groups
from tests.scale.local_frames import rows as made_rows
from tests.scale.spark_cluster import ROOT, session, standalone

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")
parquet_file = pytest.importorskip("pyarrow.parquet")
pyspark = pytest.importorskip("pyspark", reason="pyspark is not installed: pip install pyspark pandas pyarrow")
if shutil.which("java") is None:
    pytest.skip("Spark needs a Java runtime, such as Debian's openjdk-17-jre-headless", allow_module_level=True)

# Spark 3.5 leaves sockets to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore:Exception ignored in. <socket:pytest.PytestUnraisableExceptionWarning")
N = 20_000


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    """Start two worker processes with one core each."""
    with standalone(2) as master:
        made = session(master)
        yield made
        made.stop()


@pytest.fixture(scope="module")
def rows() -> Any:
    return pd.DataFrame(made_rows(N))


def frame(spark: Any, rows: Any, path: Path) -> Any:
    parquet_file.write_table(pa.Table.from_pandas(rows), path)
    return spark.read.parquet(str(path))


@pytest.fixture(scope="module")
def df(spark: Any, rows: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    return frame(spark, rows, tmp_path_factory.mktemp("rows") / "rows.parquet").repartition(5).persist()


def test_rankings_are_those_of_the_rows(df: Any, rows: Any) -> None:
    columns = made_rows(N)
    check_certified(ours, df, columns)
    check_exact(ours, df, columns, sample_weight="w")
    by_day = ours.ranking(df, label="y", score="p", by="day", exact=True)
    assert list(by_day) == ["mon", "tue", "wed"]
    here = rows[rows["day"] == "tue"]
    assert by_day["tue"].roc_auc() == Ranking(here["y"], here["p"]).roc_auc()
    by_user = ours.ranking(df, label="y", score=["p", "q"], by="user")
    here = rows[rows["user"] == 17]
    assert by_user[17]["p"].roc_auc() == Ranking(here["y"], here["p"]).roc_auc()


def test_many_partitions_are_merged_by_workers(df: Any, rows: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("fastevals.scale.engines.rankings.MOST_ANSWERS", 1)
    one = ours.ranking_summary(df.coalesce(1), label="y", score="q")
    many = ours.ranking_summary(df.repartition(80), label="y", score="q")
    assert many.to_bytes() == one.to_bytes()


def test_scores_beyond_what_is_broadcast_are_shuffled_by_range(df: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("fastevals.scale.engines.rankings.MOST_BROADCAST", 100)
    monkeypatch.setattr("fastevals.scale.engines.rankings.RANGE_ROWS", 5_000)
    check_exact(ours, df, made_rows(N))


def test_names_are_no_expressions(df: Any, rows: Any) -> None:
    odd = df.select("y", "p", "day").toDF("a.b", 'p `q` "r"', "day of week")
    names = {"label": "a.b", "score": 'p `q` "r"'}
    for exact in (False, True):
        assert ours.ranking(odd, **names, exact=exact).n_positives == rows["y"].sum()
    assert len(ours.grouped_auc(odd, **names, by="day of week")) == 3


def test_other_summaries_are_those_of_the_rows(df: Any, rows: Any) -> None:
    matrix = ours.confusion_summary(df, label="y", pred="w").matrix()
    expected = fastevals.ConfusionMatrix.from_predictions(rows["y"], rows["w"])
    np.testing.assert_array_equal(matrix.counts, expected.counts)
    errors = ours.target_summary(df, target="target", pred="fitted")
    assert errors.metric("r2") == pytest.approx(fastevals.metrics.r2_score(rows["target"], rows["fitted"]), rel=1e-12)
    brier = ours.probability_summary(df, label="y", score="p").brier_score()
    assert brier == Ranking(rows["y"], rows["p"]).brier_score()
    asked = {"label": "y", "probabilities": {0: "not_p", 1: "p"}}
    expected = ClassScoresSummary([0, 1])
    expected.update(rows["y"], np.stack((rows["not_p"], rows["p"]), axis=1))
    assert ours.class_scores_summary(df, **asked).to_bytes() == expected.to_bytes()
    from pyspark.ml.feature import VectorAssembler

    vectors = (
        VectorAssembler(inputCols=["not_p", "p"], outputCol="probability").transform(df).select("y", "probability")
    )
    lists = ours.class_scores_summary(vectors, label="y", probabilities="probability", classes=[0, 1])
    assert lists.to_bytes() == expected.to_bytes()


@pytest.mark.filterwarnings("ignore::fastevals.UndefinedMetricWarning")
def test_groups_are_brought_together(df: Any, rows: Any) -> None:
    check_groups(ours, df, made_rows(N), "user", "w")
    errors = ours.grouped_metrics(df, "mean_absolute_error", label="target", score="fitted", by="user")
    wanted = fastevals.grouped_metrics(rows["target"], rows["fitted"], rows["user"], "mean_absolute_error")
    for name, each in wanted.items():
        np.testing.assert_allclose(errors[name].values, each.values, rtol=1e-12)


def test_probabilities_of_its_models_are_scores(spark: Any, df: Any) -> None:
    from pyspark.ml.classification import LogisticRegression
    from pyspark.ml.evaluation import BinaryClassificationEvaluator
    from pyspark.ml.feature import VectorAssembler

    data = VectorAssembler(inputCols=["p", "target"], outputCol="features").transform(df)
    predicted = LogisticRegression(labelCol="y", maxIter=3).fit(data).transform(data).persist()
    theirs = BinaryClassificationEvaluator(labelCol="y", rawPredictionCol="probability", numBins=0).evaluate(predicted)
    found = ours.ranking(predicted, label="y", score="probability", exact=True).roc_auc()
    assert found == pytest.approx(theirs, rel=1e-12)


# What is wrong --------------------------------------------------------------------------------------------------------


def test_scores_that_are_drawn_anew_in_each_pass_are_an_error(df: Any) -> None:
    def drawn(parts: Any) -> Any:
        for part in parts:
            yield part.assign(p=part["y"] + np.random.default_rng().normal(size=len(part)))

    random = df.select("y", "p").mapInPandas(drawn, "y long, p double")
    with pytest.raises(ValueError, match=r"its scores, labels or weights differ .*: call .* cache\(\)\) first"):
        ours.ranking(random, label="y", score="p", exact=True)
    kept = random.cache()
    found, whole = ours.ranking(kept, label="y", score="p", exact=True), zip(*kept.collect(), strict=True)
    assert found.roc_auc() == Ranking(*whole).roc_auc()


def test_rows_that_can_not_be_counted_are_named(spark: Any, rows: Any, tmp_path: Path) -> None:
    bad = rows.copy()
    bad.loc[N - 1, "p"] = np.nan
    df = frame(spark, bad[["y", "p", "user"]], tmp_path / "bad.parquet").coalesce(2)
    for call in (ours.ranking, ours.summarize, ours.probability_summary, ours.group_summary):
        options = {"by": "user"} if call is ours.group_summary else {}
        with pytest.raises(ValueError, match=r"^column 'p' has 1 missing value, the first at row \d+ of part"):
            call(df, label="y", score="p", **options)
    found = ours.ranking(df, label="y", score="p", on_invalid="drop")
    assert found.n_positives + found.n_negatives == N - 1
    with pytest.raises(ValueError, match="column 'P': the frame has no such column"):
        ours.ranking(df, label="y", score="P")
    with pytest.raises(ValueError, match="data must be a DataFrame of Spark, got"):
        ours.ranking(rows, label="y", score="p")
    with pytest.raises(ValueError, match="the frame has no rows"):
        ours.ranking(df.filter("p > 2"), label="y", score="p")
    for call in (fastevals.report, parquet.ranking):  # these would bring all rows here
        with pytest.raises(ValueError, match=r"data must hold rows, got a DataFrame of Spark: fastevals\.scale\.spark"):
            call(df, label="y", score="p")
    with pytest.raises(ValueError, match=r"y_true must hold rows, got a Column of Spark: fastevals\.scale\.spark"):
        Ranking(df.y, df.p)


@pytest.mark.parametrize("when", ["worker killed", "executor killed", "fails once", "straggles"])
def test_workers_that_fail_count_nothing_twice(df: Any, rows: Any, tmp_path: Path, when: str) -> None:
    marker = str(tmp_path / "happened")

    def trouble(batches: Any) -> Any:
        from pyspark import TaskContext

        yield from batches
        if TaskContext.get().partitionId() == 1:
            for job in ("size", "sample", "count", "again"):  # the first two pass, and the repeated job
                with contextlib.suppress(FileExistsError):
                    os.close(os.open(f"{marker}-{job}", os.O_CREAT | os.O_EXCL))
                    break
            if job != "count":
                return
            if when == "worker killed":
                os.kill(os.getpid(), signal.SIGKILL)
            if when == "executor killed":
                daemon = os.getppid()
                with open(f"/proc/{daemon}/stat") as stat:
                    os.kill(int(stat.read().rpartition(")")[2].split()[1]), signal.SIGKILL)
                time.sleep(60)
            if when == "fails once":
                raise OSError("a disk that is away for a moment")
            time.sleep(30)  # another worker starts meanwhile

    some = df.select("y", "p")
    expected = ours.ranking_summary(some, label="y", score="p", cells=2**10)
    start = time.monotonic()
    found = ours.ranking_summary(some.mapInArrow(trouble, some.schema), label="y", score="p", cells=2**10)
    assert os.path.exists(f"{marker}-again")
    assert time.monotonic() - start < 25  # no longer than the other worker takes
    assert found.to_bytes() == expected.to_bytes()


def test_executors_without_fastevals_are_told_and_sql_counts_there(tmp_path: Path) -> None:
    """Workers with another Python or fastevals raise an error that says so; GROUP BY works without fastevals."""
    bare = tmp_path / "bare"
    venv.create(bare, symlinks=True)
    other = tmp_path / "other" / "fastevals"
    other.mkdir(parents=True)
    (other / "__init__.py").write_text("__version__ = '0.0.1'\n")
    done = subprocess.run(
        [sys.executable, Path(__file__).with_name("spark_without.py"), bare / "bin" / "python", tmp_path / "other"],
        capture_output=True, text=True, timeout=300, env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    said = done.stdout.splitlines()
    assert said[0].startswith("workers run another Python (No module named 'pyarrow'): set PYSPARK_PYTHON"), said[0]
    assert said[1].startswith("workers have fastevals 0.0.1, and this is"), done.stderr[-3000:]
    assert said[2] == "counted"
