"""Replace scikit-learn's functions by ours, for code whose imports can't be changed: on, off, or inside a block.

Each global in scikit-learn's modules that refers to one of its functions is set to a stand-in, a separate function with
our code. Other code may have imported our own function, but never the stand-in, so stand-ins can be found and removed
in every module. The module that defines one of scikit-learn's functions keeps that function, so that objects imported
before can still be pickled.
"""

from __future__ import annotations

import os
import sys
import threading
import weakref
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

import fastevals.metrics
from fastevals.metrics._scikit_learn import (
    SCORERS,
    copied,
    differing,
    import_theirs,
    originals,
    refuse_metrics,
    without_positive,
)


@dataclass(frozen=True, slots=True)
class InPlaceReport:
    """Result of `install`: which of scikit-learn's functions have been replaced.

    Attributes
    ----------
    version : str
        Version of scikit-learn.
    replaced : dict of str to tuple of str
        For each replaced function, the modules of scikit-learn that now use ours; predefined scorers use ours too.
    not_replaced : dict of str to str
        For each function of ours that can't replace scikit-learn's in the installed version, the reason.
    imported_before : tuple of str
        Names in other modules that still refer to scikit-learn's functions. References in default arguments,
        attributes and scorers created before `install` can't be found.
    """

    version: str
    replaced: dict[str, tuple[str, ...]]
    not_replaced: dict[str, str]
    imported_before: tuple[str, ...]

    def __str__(self) -> str:
        places = {place for each in self.replaced.values() for place in each}
        lines = [
            f"fastevals.metrics is in place of scikit-learn {self.version}: {len(self.replaced)} functions in "
            f"{len(places)} places ({', '.join(sorted(places))})",
            *(f"not replaced: {name}, {reason}" for name, reason in self.not_replaced.items()),
        ]
        if self.imported_before:
            lines.append(f"not replaced, as imported before: {', '.join(self.imported_before)}")
        return "\n".join(lines)


def install() -> InPlaceReport:
    """Replace scikit-learn's functions by ours in the whole process, until `uninstall`; repeated calls have no effect.

    Scorers, `cross_val_score`, `GridSearchCV`, `estimator.score`, displays and packages imported from now on use our
    functions. Calls that joblib sends to worker processes until `uninstall` also use our functions.

    Returns
    -------
    InPlaceReport
        Which functions are replaced, and which are not; ``python -m fastevals.in_place`` prints this report.

    Raises
    ------
    ModuleNotFoundError
        If scikit-learn is missing.

    Examples
    --------
    >>> import sklearn.metrics
    >>> from fastevals.metrics import install, uninstall
    >>> report = install()
    >>> sklearn.metrics.f1_score.__module__
    'fastevals.metrics.switching'
    >>> uninstall()
    >>> sklearn.metrics.f1_score.__module__
    'sklearn.metrics._classification'
    """
    _switch.enter("install")
    return _switch.report()


def uninstall() -> None:
    """Restore scikit-learn's functions, unless a block of `in_place` is still open; without `install`, do nothing."""
    _switch.leave("install")


@contextmanager
def in_place() -> Iterator[InPlaceReport]:
    """Replace scikit-learn's functions by ours inside a ``with`` block; like `install`, it affects the whole process.

    Blocks may be nested, and open in several threads. When the last one ends, scikit-learn's functions are restored.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.model_selection import cross_val_score
    >>> from fastevals.metrics import in_place
    >>> with in_place() as report:
    ...     cross_val_score(DummyClassifier(), [[0]] * 6, [0, 1] * 3, scoring="roc_auc", cv=3).tolist()
    [0.5, 0.5, 0.5]
    """
    block = object()
    try:
        _switch.enter(block)
        yield _switch.report()
    finally:
        _switch.leave(block)


@cache
def _stand_in(name: str) -> Any:
    ours = getattr(fastevals.metrics, name)
    return copied(ours, ours.__globals__, __name__, ours.__closure__)


def __getattr__(name: str) -> Any:
    """Return the stand-in that a pickle refers to."""
    if name in fastevals.metrics.__all__:
        return _stand_in(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class _Switch:
    """A switch that is on as long as anyone holds it."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.holders: set[Any] = set()
        self.elsewhere: set[tuple[str, str]] = set()  # module and name, of stand-ins found outside scikit-learn
        self.stand_ins: dict[int, tuple[Any, Any]] = {}  # by a function's id: the function, its stand-in
        self.reduce_batch: Any = None

    def enter(self, holder: Any) -> None:
        """Add a holder; switch on if it is the first."""
        import_theirs("fastevals.metrics.install")
        with self.lock:
            if not self.holders:
                self._replace()
            self.holders.add(holder)

    def leave(self, holder: Any) -> None:
        """Remove a holder; switch off if it was the last."""
        with self.lock:
            if holder in self.holders:
                self.holders.remove(holder)
                if not self.holders:
                    self._restore()

    def _replace(self) -> None:
        scorers = sys.modules[SCORERS].__dict__
        pairs = [(theirs, _stand_in(name)) for name, theirs in originals().items()]
        for name, adapt in (("check_scoring", refuse_metrics), ("make_scorer", without_positive)):
            pairs.append((scorers[name], adapt(scorers[name])))
        self.stand_ins = {id(theirs): (theirs, stand_in) for theirs, stand_in in pairs}
        for module, name, value in _globals_among(self.stand_ins):
            used = _is_theirs(module) and module.__name__ != value.__module__
            if used or (module.__name__, name) in self.elsewhere:
                setattr(module, name, self.stand_ins[id(value)][1])
        _set_score_functions(self.stand_ins)
        batches = import_module("joblib.parallel").BatchedCalls
        self.reduce_batch = batches.__reduce__
        batches.__reduce__ = _reduce_batch

    def _restore(self) -> None:
        theirs = {id(stand_in): (stand_in, theirs) for theirs, stand_in in self.stand_ins.values()}
        for module, name, value in _globals_among(theirs):
            setattr(module, name, theirs[id(value)][1])
            if not _is_theirs(module):
                self.elsewhere.add((module.__name__, name))
        _set_score_functions(theirs)
        import_module("joblib.parallel").BatchedCalls.__reduce__ = self.reduce_batch

    def report(self) -> InPlaceReport:
        """Return where stand-ins are now, and which names still refer to scikit-learn's functions."""
        with self.lock:
            places: dict[str, list[str]] = {name: [] for name in originals()}
            for module, name, _ in _globals_among({id(each): each for _, each in self.stand_ins.values()}):
                if _is_theirs(module) and name in places:
                    places[name].append(module.__name__)
            before = [
                f"{module.__name__}.{name}"
                for module, name, _ in _globals_among(self.stand_ins)
                if not _is_theirs(module)
            ]
        version = sys.modules["sklearn"].__dict__["__version__"]
        replaced = {name: tuple(sorted(each)) for name, each in places.items()}
        return InPlaceReport(version, replaced, dict(differing()), tuple(sorted(before)))


_switch = _Switch()
if hasattr(os, "register_at_fork"):  # a child never starts half replaced, or with a lock held by another thread
    os.register_at_fork(
        before=_switch.lock.acquire, after_in_parent=_switch.lock.release, after_in_child=_switch.lock.release
    )


def _is_theirs(module: ModuleType) -> bool:
    return module.__name__.startswith("sklearn.")


def _globals_among(ids: Collection[int]) -> Iterator[tuple[ModuleType, str, Any]]:
    """Yield, from all modules, the globals that refer to the objects with these ids."""
    for module in {id(each): each for each in [*sys.modules.values()]}.values():
        if issubclass(type(module), ModuleType):  # cffi's libraries call themselves modules, but have no names
            names = object.__getattribute__(module, "__dict__")  # read directly, so as not to load a lazy module
            for name, value in [*names.items()]:
                if id(value) in ids:
                    yield module, name, value


def _set_score_functions(others: Mapping[int, tuple[Any, Any]]) -> None:
    """Replace functions in scorers that are predefined in scikit-learn or registered with it."""
    names = sys.modules[SCORERS].__dict__
    for scorer in [*names["_SCORERS"].values(), *names.values()]:
        if isinstance(scorer, names["_BaseScorer"]) and id(scorer._score_func) in others:
            scorer._score_func = others[id(scorer._score_func)][1]


# Worker processes ----------------------------------------------------------------------------------------------------


def _reduce_batch(batch: Any) -> tuple[Any, ...]:
    """Pickle a batch of joblib's calls so that a worker uses our functions while it unpickles and runs the batch."""
    return _Batch, (_Entry(), *_switch.reduce_batch(batch))


class _Entry:
    """Keeps our functions in place from the moment it is unpickled until `leave` is called.

    If the entry's batch is never run, the functions stay in place until the entry is deleted.
    """

    leave: Callable[[], Any]

    def __reduce__(self) -> tuple[Any, ...]:
        return _enter, ()


def _enter() -> _Entry:
    entry, holder = _Entry(), object()
    _switch.enter(holder)
    entry.leave = weakref.finalize(entry, _switch.leave, holder)
    return entry


class _Batch:
    """A batch of calls in a worker; after the calls, scikit-learn's functions are restored."""

    def __init__(self, entry: _Entry, constructor: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        self.entry, self.calls = entry, constructor(*arguments)

    def __call__(self) -> Any:
        try:
            return self.calls()
        finally:
            self.entry.leave()

    def __len__(self) -> int:
        return len(self.calls)
