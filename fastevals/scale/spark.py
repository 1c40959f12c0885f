"""Rankings of Spark frames: `ranking` and related functions, as described in `fastevals.scale.engines`.

>>> from fastevals.scale import spark
>>> ranking = spark.ranking(df, label="y", score="p")  # doctest: +SKIP
>>> ranking.roc_auc()  # doctest: +SKIP
Certified(0.80194, exact value in [0.801939, 0.801943])
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from fastevals import __version__
from fastevals._options import import_optional, show
from fastevals.scale.engines.engine import Engine
from fastevals.scale.engines.frame import Answer, Frame, shipped
from fastevals.scale.tasks import Task

__all__ = [
    "class_scores_summary",
    "confusion_summary",
    "group_summary",
    "grouped_auc",
    "grouped_metrics",
    "probability_summary",
    "ranking",
    "ranking_summary",
    "summarize",
    "target_summary",
]

FAN = 32  # answers that a worker merges at a time
MISSING = "frames of Spark need pyspark: pip install pyspark pandas pyarrow"
SHUFFLED, MOST_SHUFFLED = 1 << 20, 2_000  # rows per partition of `by_value`, and its most partitions
MOST_ROWS = 1 << 24  # the most rows of a partition
SPARE = 1.2  # rows requested per row wanted, because a random sample may have fewer


class SparkFrame(Frame):
    """A Spark data frame, classic or Connect.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
    """

    samples_rows = True

    def __init__(self, df: Any) -> None:
        import_optional("pyspark", MISSING)
        if not hasattr(df, "mapInArrow"):
            raise ValueError(f"data must be a DataFrame of Spark, got {show(df)}")
        self.df = df
        self.names = list(df.columns)

    def select(self, columns: Sequence[str], lists: Collection[str] = ()) -> Any:
        """Return a data frame of some columns; vectors of Spark's models become their last entries, or lists."""
        from pyspark.sql import functions

        selected = []
        for name in columns:
            column = functions.col(_quoted(name))
            if self.df.schema[name].dataType.typeName() == "vectorudt":
                from pyspark.ml.functions import vector_to_array

                column = vector_to_array(column)
                column = (column if name in lists else functions.element_at(column, -1)).alias(name)
            selected.append(column)
        return self.df.select(*selected)

    def sample(self, columns: Sequence[str], n_rows: int) -> tuple[list[Any], bool]:
        """Return record batches of rows from all partitions, and whether all rows are included."""
        selected, (n, _) = self.select(columns), self.size
        share = n_rows * SPARE / max(n, 1)
        if share < 1:
            selected = selected.sample(fraction=share, seed=0)
        return _collected(selected).to_batches(), share >= 1

    def answers(self, task: Task) -> list[Answer]:
        """Return the answers of all partitions to a task; if they are many, workers merge them."""
        from pyspark import cloudpickle

        sent = cloudpickle.dumps(task)
        count, join = shipped(__version__)

        def stored(problem: Any, answer: Any) -> Any:
            import pickle

            import pyarrow as pa

            row = [None if problem is None else pickle.dumps(problem), pickle.dumps(answer)]
            return pa.RecordBatch.from_arrays([pa.array([each], pa.binary()) for each in row], ["problem", "answer"])

        def counted(batches: Iterator[Any]) -> Iterator[Any]:
            import pyarrow as pa
            from pyspark import TaskContext

            named = (pa.RecordBatch.from_arrays(batch.columns, columns) for batch in batches)
            yield stored(*count(sent, named, TaskContext.get().partitionId()))

        def joined(batches: Iterator[Any]) -> Iterator[Any]:
            answers = [each for batch in batches for each in read(batch)]
            if answers:
                yield stored(*join(sent, answers))

        def read(rows: Any) -> list[Any]:
            import pickle

            problems, answers = (column.to_pylist() for column in rows.columns)
            return list(zip((each and pickle.loads(each) for each in problems), answers, strict=True))

        schema, columns = "problem binary, answer binary", task.columns.names
        plain = [f"c{k}" for k in range(len(columns))]  # mapInArrow reads names as expressions
        found = self.select(columns, getattr(task.columns, "lists", ())).toDF(*plain).mapInArrow(counted, schema)
        _, n = self.size
        while n > task.most_answers:
            n = -(-n // FAN)
            found = found.repartition(n).mapInArrow(joined, schema)
        return read(_collected(found))

    @cached_property
    def size(self) -> tuple[int, int]:
        """Numbers of rows and partitions."""
        from pyspark.sql import functions

        numbers = self.df.select(functions.spark_partition_id().alias("number"))
        found = _collected(numbers.agg(functions.count("*"), functions.max("number")))
        n_rows, last = (column[0].as_py() for column in found.columns)
        return n_rows, 1 + (last or 0)

    def by_value(self, columns: Sequence[str]) -> Frame:
        """Return the same rows, with all rows that share the values of columns in one partition."""
        n_rows, _ = self.size
        n = max(min(-(-n_rows // SHUFFLED), MOST_SHUFFLED), -(-n_rows // MOST_ROWS), 1)
        frame = SparkFrame(self.df.repartition(n, *map(_quoted, columns)))
        frame.size = n_rows, n
        return frame

    @contextmanager
    def by_range(self, column: str, n_ranges: int, columns: Sequence[str]) -> Iterator[Frame]:
        """Return the same rows, with one range of scores per partition; rows stay on disk while the context lasts."""
        from pyspark import StorageLevel

        kept = self.select(columns).repartitionByRange(n_ranges, _quoted(column)).persist(StorageLevel.DISK_ONLY)
        try:
            yield SparkFrame(kept)
        finally:
            kept.unpersist()


def _collected(df: Any) -> Any:
    """Return a data frame as an Arrow table."""
    from pyspark.errors import PythonException

    try:
        return df.toArrow() if hasattr(df, "toArrow") else _collected_as_bytes(df)
    except PythonException as error:
        wrong = re.search(r"No module named 'pyarrow'|Python in worker has .* driver: [\d.]+", str(error))
        if wrong is None:
            raise
        raise ImportError(
            f"workers run another Python ({wrong[0]}): set PYSPARK_PYTHON to one that has fastevals, pyspark, pandas "
            "and pyarrow, before the session starts"
        ) from None


def _collected_as_bytes(df: Any) -> Any:
    """Return a data frame of Spark 3.5, whose frames have no `toArrow`, as an Arrow table."""
    import pyarrow as pa
    from pyspark.sql.pandas.types import to_arrow_schema

    def written(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            with pa.BufferOutputStream() as out:
                with pa.ipc.new_stream(out, batch.schema) as stream:
                    stream.write_batch(batch)
                data = out.getvalue().to_pybytes()
            yield pa.RecordBatch.from_arrays([pa.array([data], pa.binary())], ["rows"])

    plain = [f"c{k}" for k in range(len(df.columns))]
    found = df.toDF(*plain).mapInArrow(written, "rows binary").collect()
    tables = [pa.ipc.open_stream(bytes(each.rows)).read_all() for each in found]
    table = pa.concat_tables(tables) if tables else to_arrow_schema(df.schema).empty_table()
    return table.rename_columns(df.columns)


def _quoted(name: str) -> str:
    """Quote a column's name for Spark's expressions."""
    return "`" + name.replace("`", "``") + "`"


_ENGINE = Engine(SparkFrame)

ranking = _ENGINE.ranking
ranking_summary = _ENGINE.ranking_summary
summarize = _ENGINE.summarize
class_scores_summary = _ENGINE.class_scores_summary
confusion_summary = _ENGINE.confusion_summary
target_summary = _ENGINE.target_summary
probability_summary = _ENGINE.probability_summary
group_summary = _ENGINE.group_summary
grouped_auc = _ENGINE.grouped_auc
grouped_metrics = _ENGINE.grouped_metrics
