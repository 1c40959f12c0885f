"""Fits of learners, one after another or over joblib's workers: a learner is the user's code, no kernel of ours."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from fastevals import _validation as check
from fastevals._execution import progress_bar

__all__ = ["Failure", "run_fits"]


class Failure(NamedTuple):
    """A fit that raised.

    Attributes
    ----------
    error : Exception
        What it raised.
    """

    error: Exception

    def __str__(self) -> str:
        text = " ".join(str(self.error).split())
        return f"{type(self.error).__name__}: {text}" if text else type(self.error).__name__


def run_fits(
    task: Callable[[Any], Any],
    items: Sequence[Any],
    *,
    describe: Callable[[Any], str],
    keep_failures: bool = False,
    n_jobs: int | None = None,
    progress: bool = False,
) -> Iterator[Any]:
    """Call `task` on each item and give the results in order, each as soon as it is there.

    Parameters
    ----------
    task : callable
        Fits and predicts; with workers, it and its results are pickled.
    items : sequence
        What to call it on.
    describe : callable
        Says what an item is, for errors.
    keep_failures : bool
        Give a `Failure` where a fit raises, and go on. Otherwise its error is raised, with a note of the item.
    n_jobs : int, optional
        Joblib's workers, -1 for one a CPU. By default all is done here, and joblib isn't needed.
    progress : bool
        Show a bar (needs tqdm).
    """
    jobs = 1 if n_jobs is None else check.check_integer("n_jobs", n_jobs, low=-1024, high=1024)
    if not jobs:
        raise ValueError("n_jobs must not be 0")
    calls = _Attempt(task)
    with progress_bar(len(items), progress) as show:
        results = map(calls, items) if jobs == 1 else _parallel(calls, items, jobs)
        for number, (item, result) in enumerate(zip(items, results, strict=True), 1):
            if isinstance(result, Failure) and not keep_failures:
                result.error.add_note(f"in the fit of {describe(item)}")
                raise result.error
            show(number)
            yield result


@dataclass(frozen=True, slots=True)
class _Attempt:
    """A task whose errors are results."""

    task: Callable[[Any], Any]

    def __call__(self, item: Any) -> Any:
        try:
            return self.task(item)
        except Exception as error:
            return Failure(error)


def _parallel(calls: _Attempt, items: Sequence[Any], jobs: int) -> Iterator[Any]:
    try:
        from joblib import Parallel, delayed
    except ImportError as error:
        raise ImportError("n_jobs needs joblib: pip install 'fastevals[parallel]' (or joblib)") from error
    found: Iterator[Any] = Parallel(n_jobs=jobs, return_as="generator")(delayed(calls)(item) for item in items)
    return found
