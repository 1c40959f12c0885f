"""Fits of learners, one after another or over joblib's workers: a learner is the user's code, no kernel of ours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sized
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from fastevals import _validation as check
from fastevals._execution import progress_bar

__all__ = ["Failure", "run_fits"]


class Failure(NamedTuple):
    """A fit that raised.

    Attributes
    ----------
    error : Exception
        What it raised.
    where : str
        Which fit it was.
    """

    error: Exception
    where: str

    def __str__(self) -> str:
        text = " ".join(str(self.error).split())
        said = f"{type(self.error).__name__}: {text}" if text else type(self.error).__name__
        return f"{said} ({self.where})"

    def noted(self, of: str = "", more: str = "") -> Exception:
        """Give the error to raise, with a note of where it was; `of` and `more` go before and after that."""
        self.error.add_note(f"in the fit of {of}{self.where}{more}")
        return self.error


def run_fits(
    task: Callable[[Any], Any],
    items: Iterable[Any],
    *,
    describe: Callable[[Any], str],
    total: int | None = None,
    keep_failures: bool = False,
    n_jobs: int | None = None,
    progress: bool = False,
) -> Iterator[Any]:
    """Call `task` on each item and give the results in order, each as soon as it is there.

    Parameters
    ----------
    task : callable
        Fits and predicts; with workers, it and its results are pickled.
    items : iterable
        What to call it on; they are taken when their turn comes.
    describe : callable
        Says what an item is, for errors; with workers, it is pickled.
    total : int, optional
        The number of items; by default their length.
    keep_failures : bool
        Give a `Failure` where a fit raises, and go on. Otherwise its error is raised, with a note of the item.
    n_jobs : int, optional
        Joblib's workers, -1 for one a CPU. By default all is done here, and joblib isn't needed.
    progress : bool
        Show a bar (needs tqdm).
    """
    jobs = check.check_jobs("n_jobs", n_jobs)
    calls = _Attempt(task, describe, keep_failures)
    with progress_bar(len(cast("Sized", items)) if total is None else total, progress) as show:
        results = (calls(item) for item in items) if jobs == 1 else _parallel(calls, items, jobs)
        for number, result in enumerate(results, 1):
            show(number)
            yield result


@dataclass(frozen=True, slots=True)
class _Attempt:
    """A task whose errors say where they are from, and may be its results.

    Raised in the worker, joblib stops the others itself; results that nobody takes after an error leave it in a state
    in which a later call may wait for ever.
    """

    task: Callable[[Any], Any]
    describe: Callable[[Any], str]
    keep_failures: bool

    def __call__(self, item: Any) -> Any:
        try:
            return self.task(item)
        except Exception as error:
            failure = Failure(error, self.describe(item))
            if self.keep_failures:
                return failure
            failure.noted()
            raise


def _parallel(calls: _Attempt, items: Iterable[Any], jobs: int) -> Iterator[Any]:
    joblib = check.import_optional("joblib", "n_jobs needs joblib: pip install 'fastevals[parallel]' (or joblib)")
    todo = (joblib.delayed(calls)(item) for item in items)
    found: Iterator[Any] = joblib.Parallel(n_jobs=jobs, return_as="generator")(todo)
    return found
