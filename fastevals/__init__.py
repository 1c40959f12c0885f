"""Evaluate models: measure a learner, put an interval on the measure, and decide whether one beats another."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fastevals._execution import get_num_threads, num_threads, set_num_threads
    from fastevals._validation import UndefinedMetricWarning
    from fastevals.measure.confusion import ConfusionMatrix
    from fastevals.measure.counts import ThresholdCounts
    from fastevals.measure.curves import PrecisionRecallCurve, RocCurve
    from fastevals.measure.ranking import Ranking
    from fastevals.measure.results import OperatingPoint

__version__ = "0.1.0"

# Where each public name lives: imported when first used (PEP 562), so `import fastevals` loads no numba or SciPy.
_HOMES = {
    "ConfusionMatrix": "measure.confusion",
    "OperatingPoint": "measure.results",
    "PrecisionRecallCurve": "measure.curves",
    "Ranking": "measure.ranking",
    "RocCurve": "measure.curves",
    "ThresholdCounts": "measure.counts",
    "UndefinedMetricWarning": "_validation",
    "get_num_threads": "_execution",
    "num_threads": "_execution",
    "set_num_threads": "_execution",
}

__all__ = [
    "ConfusionMatrix",
    "OperatingPoint",
    "PrecisionRecallCurve",
    "Ranking",
    "RocCurve",
    "ThresholdCounts",
    "UndefinedMetricWarning",
    "get_num_threads",
    "num_threads",
    "set_num_threads",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
