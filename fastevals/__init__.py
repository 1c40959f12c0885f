"""Evaluate models: measure a learner, put an interval on the measure, and decide whether one beats another."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.3.0"


def _homes() -> dict[str, str]:
    """Return the module of each public name, as the stub beside this file lists them for type checkers and editors."""
    with open(f"{__path__[0]}/__init__.pyi") as stub:
        imports = [line.split() for line in stub if line.startswith("from fastevals.")]
    return {name: module for _, module, _, name, *_ in imports}


# Imported when first used (PEP 562), so `import fastevals` loads no numba or SciPy.
_HOMES = _homes()

__all__ = [*_HOMES]

_MODULES = ("datasets", "metrics", "show")  # public, beside the names


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{_meant(name)}")
    from fastevals._validation.options import names_keywords

    here = getattr(import_module(_HOMES[name]), name)
    value = names_keywords(here)
    if value is not here:
        value.__module__ = __name__  # where pickle finds it
    globals()[name] = value
    return value


def _meant(name: str) -> str:
    """Return what is asked after a name that is not here: one like it, or where a metric is."""
    from importlib.util import find_spec

    if name.startswith("_") or find_spec(f"{__name__}.{name}"):  # a module that is about to be imported
        return ""
    from fastevals import metrics
    from fastevals._validation.options import did_you_mean
    from fastevals.measure.confusion import ConfusionMatrix
    from fastevals.measure.metric_specs import METRIC_ALIASES
    from fastevals.measure.ranking.ranking import Ranking
    from fastevals.measure.registry import METRICS

    def written(known: str) -> str:
        if hasattr(Ranking, known):
            return f"Ranking(y_true, y_score).{known}()"
        matrix = f"ConfusionMatrix.from_predictions(y_true, y_pred).{known}()"
        return matrix if hasattr(ConfusionMatrix, known) else f"metric({known!r})"

    other = {known: repr(known) for known in METRICS} | METRIC_ALIASES
    elsewhere = {each: known if "(" in known else written(known.strip("'")) for each, known in other.items()}
    drop_in = {each: f"fastevals.metrics.{each}" for each in metrics.__all__ if each != "auc"}  # which takes points
    return did_you_mean(name, __all__, elsewhere | drop_in)


def __dir__() -> list[str]:
    return sorted([*__all__, *_MODULES, "__version__"])
