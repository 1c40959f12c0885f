"""Rankings of Dask frames: `ranking` and related functions, as described in `fastevals.scale.engines`.

>>> from fastevals.scale import dask
>>> ranking = dask.ranking(frame, label="y", score="p")  # doctest: +SKIP
>>> ranking.roc_auc()  # doctest: +SKIP
Certified(0.80194, exact value in [0.801939, 0.801943])
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
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

MISSING = "frames of Dask need dask: pip install 'dask[dataframe,distributed]'"
FAN = 8  # answers that a worker merges at a time
SAMPLED_PARTITIONS = 8  # partitions in a sample, if they are large
RETRIES = 3  # after failures on a cluster; invalid rows are an answer, not a failure


class DaskFrame(Frame):
    """A Dask data frame, on any scheduler.

    Parameters
    ----------
    frame : dask.dataframe.DataFrame
    """

    samples_rows = False

    def __init__(self, frame: Any) -> None:
        self.dask = import_optional("dask", MISSING)
        if not hasattr(frame, "to_delayed") or not hasattr(frame, "columns"):
            raise ValueError(f"data must be a DataFrame of Dask, got {show(frame)}")
        self.frame = frame
        self.names = list(frame.columns)

    def sample(self, columns: Sequence[str], n_rows: int) -> tuple[list[Any], bool]:
        """Return record batches from some partitions (more if they are small), and whether all rows are included."""
        parts = self.frame[list(columns)].to_delayed()
        most = -(-n_rows // min(SAMPLED_PARTITIONS, len(parts)))

        def some(frame: Any) -> Any:
            return frame.iloc[:: max(len(frame) // most, 1)]

        frames: dict[int, Any] = {}
        wanted = SAMPLED_PARTITIONS
        while True:
            numbers = sorted({k * len(parts) // wanted for k in range(wanted)} - frames.keys())
            found = self.dask.compute(*(self.dask.delayed(some)(parts[k]) for k in numbers), retries=RETRIES)
            frames |= zip(numbers, found, strict=True)
            rows = max(sum(map(len, frames.values())), 1)
            if wanted >= len(parts) or 2 * rows >= n_rows:
                is_all = len(frames) == len(parts) and all(len(frame) < most for frame in frames.values())
                return [batch for frame in frames.values() for batch in _as_batches(frame)], is_all
            wanted = min(n_rows * len(frames) // rows + 1, len(parts))

    def answers(self, task: Task) -> list[Answer]:
        """Return the answers of all partitions to a task, merged by workers."""
        from cloudpickle import dumps

        count, join = shipped(__version__)

        def counted(sent: bytes, frame: Any, number: int) -> Answer:
            def batches() -> Iterator[Any]:  # like `_as_batches`, which workers without fastevals lack
                import pyarrow as pa

                yield from pa.Table.from_pandas(frame, preserve_index=False).to_batches()

            return count(sent, batches(), number)

        delayed = self.dask.delayed
        client: Any = getattr(self.dask.base.get_scheduler(), "__self__", None)
        on_cluster = hasattr(client, "who_has")
        sent = client.persist(delayed(dumps(task))) if on_cluster else delayed(dumps(task))
        parts = self.frame[task.columns.names].to_delayed()
        answers = [delayed(counted)(sent, part, number) for number, part in enumerate(parts)]

        def merged(some: list[Any]) -> Any:
            return delayed(join)(sent, some)

        if on_cluster:
            return _merged_where_they_are(client, answers, merged, task.most_answers)
        return list(self.dask.compute(*_in_tree(answers, merged, 1)))

    def by_value(self, columns: Sequence[str]) -> Frame:
        """Return the same rows, with all rows that share the values of columns in one partition."""
        return DaskFrame(self.frame.shuffle(on=list(columns)))

    @contextmanager
    def by_range(self, column: str, n_ranges: int, columns: Sequence[str]) -> Iterator[Frame]:
        """Return the same rows, with one range of scores per partition; rows are kept while the context lasts."""
        yield DaskFrame(self.frame[list(columns)].sort_values(column, npartitions=n_ranges).persist())


def _in_tree(answers: list[Any], join: Callable[[list[Any]], Any], most: int) -> list[Any]:
    """Return at most `most` merged answers, in the order of the partitions."""
    while len(answers) > most:
        answers = [join(answers[start : start + FAN]) for start in range(0, len(answers), FAN)]
    return answers


def _merged_where_they_are(
    client: Any, answers: list[Any], join: Callable[[list[Any]], Any], most: int
) -> list[Answer]:
    """Compute answers on a cluster, merge those on the same worker, and return at most `most`.

    It isn't known beforehand which worker counts which partition. If answers were merged in a fixed tree, half of them
    would therefore move to another worker.
    """
    from distributed import as_completed

    def joined(some: list[Any], where: Any = ()) -> Any:
        if len(some) == 1:
            return some[0]
        return client.compute(join(some), retries=RETRIES, workers=where or None, allow_other_workers=bool(where))

    waiting: dict[Any, list[Any]] = {}  # by the workers that hold the answers
    done = as_completed(client.compute(answers, retries=RETRIES))
    for batch in done.batches():
        places = client.who_has(batch)
        for future in batch:
            where = places[future.key]
            waiting.setdefault(where, []).append(future)
            if len(waiting[where]) == FAN:
                done.add(joined(waiting.pop(where), where))
    left = [joined(some, where) for where, some in waiting.items()]
    answers = client.gather(_in_tree(left, joined, most))
    return list(answers)


def _as_batches(frame: Any) -> Any:
    import pyarrow as pa

    return pa.Table.from_pandas(frame, preserve_index=False).to_batches()


_ENGINE = Engine(DaskFrame)

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
