"""The rest of `sklearn.metrics`: scikit-learn's own objects, with scorers and displays changed to use our functions."""

from __future__ import annotations

import copy
import inspect
import sys
from collections.abc import Callable, Mapping
from functools import cache, update_wrapper, wraps
from importlib.util import find_spec
from types import CellType, FunctionType
from typing import Any

import fastevals.metrics
from fastevals._options import import_optional

SCORING = ("check_scoring", "get_scorer", "get_scorer_names", "make_scorer")
DISPLAYS = (
    "ConfusionMatrixDisplay",
    "DetCurveDisplay",
    "PrecisionRecallDisplay",
    "PredictionErrorDisplay",
    "RocCurveDisplay",
)
AS_THEY_ARE = (
    *("DistanceMetric", "adjusted_mutual_info_score", "adjusted_rand_score", "calinski_harabasz_score", "cluster"),
    *("completeness_score", "consensus_score", "davies_bouldin_score", "euclidean_distances", "fowlkes_mallows_score"),
    *("homogeneity_completeness_v_measure", "homogeneity_score", "mutual_info_score", "nan_euclidean_distances"),
    *("normalized_mutual_info_score", "pair_confusion_matrix", "pairwise", "pairwise_distances"),
    *("pairwise_distances_argmin", "pairwise_distances_argmin_min", "pairwise_distances_chunked", "pairwise_kernels"),
    *("rand_score", "silhouette_samples", "silhouette_score", "v_measure_score"),
)
HANDED_OVER = (*SCORING, *DISPLAYS, *AS_THEY_ARE)
SCORERS = "sklearn.metrics._scorer"


def is_installed() -> bool:
    """Return whether scikit-learn can be imported, without importing it."""
    if "sklearn" in sys.modules:
        return sys.modules["sklearn"] is not None
    return find_spec("sklearn") is not None


def hand_over(name: str) -> Any:
    """Return scikit-learn's object of this name; scorers and displays use our functions, all else is unchanged."""
    if name not in HANDED_OVER and not is_installed():
        raise AttributeError(f"module 'fastevals.metrics' has no attribute {name!r}")
    theirs = import_theirs(f"fastevals.metrics.{name}")
    if not hasattr(theirs, name):
        raise AttributeError(f"neither 'fastevals.metrics' nor 'sklearn.metrics' has an attribute {name!r}")
    if name in SCORING:
        return _on_ours(SCORERS)[name]
    return _display(name) if name in DISPLAYS else getattr(theirs, name)


def import_theirs(asked: str) -> Any:
    """Import `sklearn.metrics`; if scikit-learn is missing, raise an error that names the requested object."""
    return import_optional("sklearn.metrics", f"{asked} needs scikit-learn, which is missing: pip install scikit-learn")


def __getattr__(name: str) -> Any:
    """Return the functions and classes that pickled scorers and displays refer to."""
    if not name.startswith("_") and is_installed():
        if name in DISPLAYS:
            return _display(name)
        import_theirs(name)
        if name in (namespace := _on_ours(SCORERS)):
            return namespace[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


# Theirs and ours -----------------------------------------------------------------------------------------------------


@cache
def originals() -> dict[str, Any]:
    """Return scikit-learn's functions that ours can replace; the first call must come before any replacement."""
    return {name: getattr(import_theirs(name), name) for name in fastevals.metrics.__all__ if name not in differing()}


@cache
def differing() -> dict[str, str]:
    """Return the names of our functions that can't replace the installed scikit-learn's, with the reason for each."""
    theirs = import_theirs("fastevals.metrics.install")
    reasons = {}
    for name in fastevals.metrics.__all__:
        if not hasattr(theirs, name):
            reasons[name] = "scikit-learn has no such function"
        elif _parameters(getattr(theirs, name)) != _parameters(getattr(fastevals.metrics, name)):
            reasons[name] = f"its signature is {inspect.signature(getattr(theirs, name))}"
    return reasons


def _parameters(function: Any) -> list[tuple[str, Any, str]]:
    return [(each.name, each.kind, repr(each.default)) for each in inspect.signature(function).parameters.values()]


def refuse_metrics(check_scoring: Callable[..., Any]) -> Callable[..., Any]:
    """Make scikit-learn's `check_scoring` refuse our metrics as scorers, as it refuses scikit-learn's metrics."""

    @wraps(check_scoring)
    def check(estimator: Any = None, scoring: Any = None, **options: Any) -> Any:
        for each in scoring.values() if isinstance(scoring, Mapping) else [scoring]:
            if inspect.isfunction(each) and each.__module__.startswith("fastevals.metrics."):
                raise ValueError(
                    f"scoring value {each!r} looks like it is a metric function rather than a scorer. A scorer should "
                    "require an estimator as its first parameter. Please use `make_scorer` to convert a metric to a "
                    "scorer."
                )
        return check_scoring(estimator, scoring, **options)

    return check


def without_positive(make_scorer: Callable[..., Any]) -> Callable[..., Any]:
    """Make scikit-learn's `make_scorer` pass no positive label for averages over labels; by default it passes 1."""

    @wraps(make_scorer)
    def make(score_func: Any, **options: Any) -> Any:
        if options.get("average", "binary") != "binary":
            parameters = inspect.signature(score_func).parameters
            if "pos_label" in parameters and "average" in parameters and parameters["average"].default == "binary":
                options = {**options, "pos_label": options.get("pos_label")}
        return make_scorer(score_func, **options)

    return make


# Copies of scikit-learn's code that call our functions -----------------------------------------------------


@cache
def _on_ours(module: str) -> dict[str, Any]:
    """Return the namespace of one of scikit-learn's modules, with functions changed to call ours."""
    theirs = vars(sys.modules[module])
    namespace = theirs | {name: getattr(fastevals.metrics, name) for name in originals() if name in theirs}
    for name, value in theirs.items():
        if inspect.isfunction(value) and value.__module__ == module:
            namespace[name] = _copied(value, theirs, namespace)
    if module == SCORERS:
        namespace["check_scoring"] = refuse_metrics(namespace["check_scoring"])
        namespace["make_scorer"] = without_positive(namespace["make_scorer"])
        namespace["_SCORERS"] = {name: _scorer(each, namespace) for name, each in theirs["_SCORERS"].items()}
    return namespace


def _copied(function: FunctionType, theirs: dict[str, Any], namespace: dict[str, Any]) -> FunctionType:
    """Return a copy of a function and of functions that it wraps, with `namespace` in place of the globals `theirs`."""
    cells = [
        CellType(_copied(cell.cell_contents, theirs, namespace)) if _wraps(function, cell) else cell
        for cell in function.__closure__ or ()
    ]
    globals_ = namespace if function.__globals__ is theirs else function.__globals__
    return copied(function, globals_, __name__, tuple(cells) or None)


def _wraps(function: FunctionType, cell: CellType) -> bool:
    inner = cell.cell_contents
    return inspect.isfunction(inner) and inner.__module__ == function.__module__


def copied(
    function: FunctionType, globals_: dict[str, Any], module: str, cells: tuple[CellType, ...] | None
) -> FunctionType:
    """Return a new function with the same code, whose `__module__` is `module`."""
    result = FunctionType(function.__code__, globals_, function.__name__, function.__defaults__, cells)
    update_wrapper(result, function)
    result.__kwdefaults__ = function.__kwdefaults__
    result.__module__ = module
    return result


def _scorer(scorer: Any, namespace: dict[str, Any]) -> Any:
    """Return a copy of a scorer; the copy calls the function of the same name from a namespace."""
    result = copy.deepcopy(scorer)
    result._score_func = namespace.get(scorer._score_func.__name__, scorer._score_func)
    return result


@cache
def _display(name: str) -> type:
    """Return a subclass of one of scikit-learn's displays whose methods call our functions."""
    theirs = getattr(import_theirs(name), name)
    its_globals, namespace = vars(sys.modules[theirs.__module__]), _on_ours(theirs.__module__)
    members: dict[str, Any] = {"__module__": __name__, "__doc__": theirs.__doc__}
    for key, value in vars(theirs).items():
        if inspect.isfunction(value):
            members[key] = _copied(value, its_globals, namespace)
        elif isinstance(value, (classmethod, staticmethod)):
            members[key] = type(value)(_copied(value.__func__, its_globals, namespace))  # type: ignore[arg-type]
    return type(name, (theirs,), members)
