"""A frame of an engine: rows in partitions, and how its workers are sent tasks and answer them."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from fastevals._execution import get_num_threads, run
from fastevals.reading.sources import RowRules, check_columns
from fastevals.scale.tasks import OPENED, ArgumentColumns, LargestWeight, Task, opened

MOST_THREADS = 4  # that merge answers here, since each holds some of them opened

# What is wrong with a partition (its number, whether that is its rows, and a message) or None, and what was counted of
# it, which may be pickled.
Answer = tuple[tuple[int, bool, str] | None, Any]


def shipped(version: str) -> tuple[Callable[..., Answer], Callable[[bytes, list[Answer]], Answer]]:
    """Return what counts a partition, and what merges answers: functions that need no fastevals to be sent.

    They are pickled by value, and the task, which is `sent` as bytes, is unpickled once fastevals is known to be the
    same on both sides. Each uses one thread: engines have as many tasks at once as there are cores. What is wrong with
    the rows comes back as an answer too: otherwise engines would try again, and print where it was noticed.
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
    """Return what answers say together: some threads merge them, a few at once."""
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
        Columns.
    samples_rows : bool
        Whether a sample is of rows of all partitions.
    """

    title = "the frame"  # as messages call it
    names: list[str]
    samples_rows: bool

    @abstractmethod
    def sample(self, columns: Sequence[str], n_rows: int) -> tuple[list[Any], bool]:
        """Return record batches of about so many rows from here and there, and whether these are all."""

    @abstractmethod
    def answers(self, task: Task) -> list[Answer]:
        """Return the answers of all partitions to a task, some of them merged."""

    @abstractmethod
    def by_value(self, column: str) -> Frame:
        """Return the same rows, those of a value in one partition."""

    @abstractmethod
    def by_range(self, column: str, n_ranges: int, columns: Sequence[str]) -> contextlib.AbstractContextManager[Frame]:
        """Return the same rows, those of a range of scores in each partition; kept while the context lasts."""

    def do(self, task: Task) -> Any:
        """Do a task, and return the answer of all rows; raise what went wrong."""
        answers = self.answers(task)
        wrong = [problem for problem, _ in answers if problem is not None]
        if wrong:
            _, of_rows, message = min(wrong)
            raise (ValueError if of_rows else ImportError)(message)
        if not answers:
            raise self.no_rows(task.columns.weight)
        return merged(task, [answer for _, answer in answers])

    def largest_weight(self, weight: str | None, rules: RowRules) -> float | None:
        """Return the largest weight; None where all are whole numbers, or there are none."""
        if weight is None:
            return None
        columns = ArgumentColumns({"sample_weight": weight}, ("sample_weight",), None, rules)
        largest, are_whole = self.do(LargestWeight(columns))
        return None if are_whole else float(largest)

    def no_rows(self, weight: str | None) -> ValueError:
        """Return the error that there is nothing to count."""
        weighed = "" if weight is None else f": column {weight!r} must have a value above zero"
        return ValueError(f"{self.title} has no rows that can be counted{weighed}")

    def check_columns(self, columns: Sequence[str]) -> None:
        """Raise unless there are such columns."""
        check_columns(self.title, self.names, {name: f"column {name!r}" for name in columns})
