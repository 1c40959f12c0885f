"""Spark, Dask, and the merging of many partitions' answers: entries as in `benches.peers`.

Figures of an engine that is not installed, or of Spark without Java, are left out.
"""

from __future__ import annotations

import atexit
import os
import pickle
import shutil
import sys
import warnings
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np

import fastevals
from benches.data import Data
from benches.peers import Call, Cases, Setup, installed
from benches.scale import LABEL, MODELS, files_of
from fastevals.scale import Certified, RankingSummary, ScoreGrid, parquet
from fastevals.scale.engines.frame import merged
from fastevals.scale.scores import CountedBlock, Counting, ScoresSummary
from fastevals.scale.tasks import CountScores, RankingColumns

GROUP_ROWS = 20  # rows per group
PARTS = 64  # partitions of a Dask frame
SCORE = MODELS[0]
METRICS = ("roc_auc", "average_precision", "ks_statistic", fastevals.metric("f1", best="f1"))
REPLICATES = 999


# Spark ----------------------------------------------------------------------------------------------------------------


@cache
def _session() -> Any:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "4g",
        "spark.sql.shuffle.partitions": "8",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",
    }
    builder = SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def _spark_ranking(read: Callable[[RankingSummary, Any], Any]) -> Setup:
    """Rank rows, with intervals of four metrics; check that the certified bounds contain the exact AUC."""

    def set_up(data: Data) -> Call:
        from fastevals.scale import spark

        frame = _session().read.parquet(files_of(data.rows))
        auc = spark.ranking(frame, label=LABEL, score=SCORE).roc_auc()
        exact = float(parquet.ranking(files_of(data.rows), label=LABEL, score=SCORE).roc_auc())
        assert auc.low <= exact <= auc.high if isinstance(auc, Certified) else auc == exact

        def call() -> Any:
            summary = spark.ranking_summary(frame, label=LABEL, score=SCORE)
            return read(summary, fastevals.bootstrap(summary, METRICS, n_resamples=REPLICATES, rng=0))

        call()
        return call

    return set_up


_spark_auc = _spark_ranking(lambda summary, result: round(result["roc_auc"].value, 3))
_spark_rows = _spark_ranking(lambda summary, result: summary.n_positives + summary.n_negatives)


def _mllib(data: Data) -> Call:
    from pyspark.ml.evaluation import BinaryClassificationEvaluator

    frame = _session().read.parquet(files_of(data.rows))
    evaluator = BinaryClassificationEvaluator(labelCol=LABEL, rawPredictionCol=SCORE)
    evaluator.evaluate(frame)
    return lambda: round(evaluator.evaluate(frame), 3)


def _spark_sums(data: Data) -> Call:
    from pyspark.sql import functions

    frame = _session().read.parquet(files_of(data.rows))

    def call() -> int:  # a frame caches its answers, so each call makes a new one
        (row,) = frame.agg(functions.sum(LABEL), functions.sum(SCORE), functions.count(SCORE)).collect()
        return int(row[2])

    call()
    return call


def _spark_hand_over(data: Data) -> Call:
    """Pass the two columns to Python, which only counts rows: the least time that any counting in Python takes."""
    frame = _session().read.parquet(files_of(data.rows)).select(LABEL, SCORE)

    def nothing(batches: Any) -> Any:
        import pyarrow as pa

        yield pa.RecordBatch.from_pydict({"n": [sum(batch.num_rows for batch in batches)]})

    def call() -> int:
        return sum(row[0] for row in frame.mapInArrow(nothing, "n long").collect())

    call()
    return call


def _grouped_frame(data: Data) -> Any:
    from pyspark.sql import functions

    frame = _session().read.parquet(files_of(data.rows))
    return frame.withColumn("user", functions.pmod(functions.hash(SCORE), functions.lit(data.rows // GROUP_ROWS)))


def _spark_groups(data: Data) -> Call:
    from fastevals.scale import spark

    frame = _grouped_frame(data)
    warnings.simplefilter("ignore", fastevals.UndefinedMetricWarning)

    def call() -> int:
        return len(spark.grouped_auc(frame, label=LABEL, score=SCORE, by="user", interval="delong"))

    call()
    return call


def _spark_group_sums(data: Data) -> Call:
    from pyspark.sql import functions

    frame = _grouped_frame(data)

    def call() -> int:
        return int(frame.groupBy("user").agg(functions.sum(LABEL), functions.sum(SCORE)).toArrow().num_rows)

    call()
    return call


# Dask -----------------------------------------------------------------------------------------------------------------


@cache
def _workers(n: int) -> Any:
    from distributed import LocalCluster

    cluster = LocalCluster(n_workers=n, threads_per_worker=1, dashboard_address=":0")
    atexit.register(cluster.close)
    return cluster


def _dask(n_workers: int) -> Setup:
    def set_up(data: Data) -> Call:
        import dask.dataframe as frames
        from distributed import Client

        from fastevals.scale import dask

        frame = frames.read_parquet(files_of(data.rows, PARTS))

        def call() -> Any:
            with Client(_workers(n_workers)):
                auc = dask.ranking(frame, label=LABEL, score=SCORE).roc_auc()
            return round(float(auc), 3)

        call()
        return call

    return set_up


def _one_process(data: Data) -> Call:
    def call() -> Any:
        ranking = parquet.ranking(files_of(data.rows, PARTS), label=LABEL, score=SCORE, exact=False)
        return round(float(ranking.roc_auc()), 3)

    call()
    return call


# Many partitions ------------------------------------------------------------------------------------------------------


def _merge_parts(data: Data) -> Call:
    """Merge the answers of partitions of 10,000 rows."""
    grid = ScoreGrid.fit(data.y, data.s)
    task = CountScores(RankingColumns(LABEL, (SCORE,)), Counting(2**18, np.empty(0, np.uint64), {}))
    answers = []
    for k in range(max(data.rows // 10_000, 1)):
        summary = RankingSummary(grid=grid)
        part = slice(10_000 * k, 10_000 * (k + 1))
        summary.update(data.y[part], data.s[part])
        block = CountedBlock(data.y[part].size, int(data.y[part].sum()), {SCORE: summary}, {})
        answers.append(pickle.dumps(ScoresSummary(LABEL, (SCORE,), labels=(1, 0), blocks={None: block})))
    answers *= 100  # as many as a hundred times the rows would give
    return lambda: merged(task, answers).n_samples


def of_engines(module: str, entries: dict[str, Setup]) -> dict[str, Setup]:
    """Leave out engines that are not installed."""
    java = module != "pyspark" or shutil.which("java") is not None
    return entries if find_spec(module) is not None and java else {}


ENGINES: Cases = installed(
    {
        "spark_ranking": of_engines("pyspark", {"fastevals": _spark_auc, "MLlib": _mllib}),
        "spark_scan": of_engines("pyspark", {"fastevals": _spark_rows, "sums": _spark_sums}),
        "spark_hand_over": of_engines("pyspark", {"fastevals": _spark_rows, "mapInArrow": _spark_hand_over}),
        "spark_groups": of_engines("pyspark", {"fastevals": _spark_groups, "groupBy": _spark_group_sums}),
        "dask_workers": of_engines("distributed", {"fastevals": _dask(2), "one worker": _dask(1)}),
        "dask_files": of_engines("distributed", {"fastevals": _dask(2), "parquet.ranking": _one_process}),
        "merge_parts": {"fastevals": _merge_parts},
    }
)
