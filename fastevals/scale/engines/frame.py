"""Frames of an engine: they hold rows in partitions, send tasks to workers and merge the answers."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from fastevals._execution import get_num_threads, run
from fastevals.reading.sources import RowRules, check_columns
from fastevals.scale.tasks import OPENED, ArgumentColumns, LargestWeight, Task, opened

MOST_THREADS = 4  # threads that merge answers here; each holds a few unpickled answers

# A problem with a partition (its number, whether its rows are the cause, and a message) or None; and the counts of the
# partition, possibly pickled.
Answer = tuple[tuple[int, bool, str] | None, Any]


def shipped(version: str) -> tuple[Callable[..., Answer], Callable[[bytes, list[Answer]], Answer]]:
    """Return two functions that workers can unpickle without fastevals: one counts a partition, one merges answers.

    They are pickled by value. The task, `sent` as bytes, is unpickled only once the worker is known to have the same
    version of fastevals as the driver. Each function uses one thread, because engines run as many tasks at a time as
    there are cores. Problems with rows are returned as answers, because engines would retry after an exception and
    print a traceback.
    """
    advice = f"install fastevals {version} there"

    def safely(sent: bytes, call: Callable[[Any], Any], number: int) -> Answer:
        try:
            from fastevals import __version__ as own
        except ImportError as error:
            return (number, False, f"workers can't import fastevals ({error}): {advice}"), None
        if own != version:
            return (number, False, f"workers have fastevals {own}, and this is {version}: {advice}"), None
        try:
            from fastevals._execution import num_threads
            from fastevals.scale.tasks import task_of

            with num_threads(1):
                return None, call(task_of(sent))
        except ImportError as error:
            return (number, False, str(error)), None
        except ValueError as error:
            return (number, True, str(error)), None

    def count(sent: bytes, batches: Any, number: int) -> Answer:
        return safely(sent, lambda task: task.answer_of(batches, f"partition {number}"), number)

    def join(sent: bytes, answers: list[Answer]) -> Answer:
        def merged(task: Any) -> Any:
            from fastevals.scale.tasks import opened

            return task.merge(opened(answer for _, answer in answers))

        wrong = [problem for problem, _ in answers if problem is not None]
        return (min(wrong), None) if wrong else safely(sent, merged, -1)

    return count, join


def merged(task: Task, answers: Sequence[Any]) -> Any:
    """Merge all answers into one; several threads merge a few answers at a time."""
    while len(answers) > 1:
        size = max(-(-len(answers) // min(get_num_threads(), MOST_THREADS)), OPENED)
        chunks = [answers[start : start + size] for start in range(0, len(answers), size)]
        answers = run(lambda chunk: task.merge(opened(chunk)), chunks)
    return next(opened(answers))


class Frame(ABC):
    """Rows of an engine, in partitions.

    Attributes
    ----------
    names : list of str
        Names of the columns.
    samples_rows : bool
        Whether a sample has rows of all partitions.
    """

    title = "the frame"  # its name in messages
    names: list[str]
    samples_rows: bool

    @abstractmethod
    def sample(self, columns: Sequence[str], n_rows: int) -> tuple[list[Any], bool]:
        """Return record batches of about `n_rows` sampled rows, and whether all rows are included."""

    @abstractmethod
    def answers(self, task: Task) -> list[Answer]:
        """Return the answers of all partitions to a task, some of them merged."""

    @abstractmethod
    def by_value(self, columns: Sequence[str]) -> Frame:
        """Return the same rows, with all rows that share the values of columns in one partition."""

    @abstractmethod
    def by_range(self, column: str, n_ranges: int, columns: Sequence[str]) -> contextlib.AbstractContextManager[Frame]:
        """Return the same rows, with one range of scores per partition; rows are kept while the context lasts."""

    def do(self, task: Task) -> Any:
        """Run a task and return the answer for all rows; raise if it failed."""
        answers = self.answers(task)
        wrong = [problem for problem, _ in answers if problem is not None]
        if wrong:
            _, of_rows, message = min(wrong)
            raise (ValueError if of_rows else ImportError)(message)
        if not answers:
            raise self.no_rows(task.columns.weight)
        return merged(task, [answer for _, answer in answers])

    def largest_weight(self, weight: str | None, rules: RowRules) -> float | None:
        """Return the largest weight; None if all weights are integers, or there are no weights."""
        if weight is None:
            return None
        columns = ArgumentColumns({"sample_weight": weight}, ("sample_weight",), None, rules)
        largest, are_whole = self.do(LargestWeight(columns))
        return None if are_whole else float(largest)

    def no_rows(self, weight: str | None) -> ValueError:
        """Return the error for a frame with no rows to count."""
        weighed = "" if weight is None else f": column {weight!r} must have a value above zero"
        return ValueError(f"{self.title} has no rows that can be counted{weighed}")

    def check_columns(self, columns: Sequence[str]) -> None:
        """Raise unless the columns exist."""
        check_columns(self.title, self.names, {name: f"column {name!r}" for name in columns})
