"""How often to draw, and what intervals to make: the settings that all bootstraps share."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fastevals import _validation as check
from fastevals._random import seed_key
from fastevals.infer.bootstrap.intervals import METHODS
from fastevals.infer.results import ALTERNATIVES, MOST_RESAMPLES, level_of

__all__ = ["Plan"]


class Plan(NamedTuple):
    """Checked settings.

    Attributes
    ----------
    n_resamples : int
        Replicates.
    confidence_level : float
        Of the intervals.
    method, alternative : str
        Of the intervals.
    key : uint64
        Of the random stream.
    """

    n_resamples: int
    confidence_level: float
    method: str
    alternative: str
    key: np.uint64

    @classmethod
    def of(cls, n_resamples: Any, confidence_level: Any, method: Any, alternative: Any, rng: Any) -> Plan:
        """Check what a user gives."""
        check.check_choice("method", method, METHODS)
        check.check_choice("alternative", alternative, ALTERNATIVES)
        return cls(
            check.check_integer("n_resamples", n_resamples, low=1, high=MOST_RESAMPLES),
            level_of(confidence_level)[0],
            method,
            alternative,
            seed_key("rng", rng),
        )
