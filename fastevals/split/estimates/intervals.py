"""Intervals of estimates from splits: what the splits vary by, and what of the rows' variance they hold fixed.

Splits of one data set tell how far a mean over test sets is from that over all rows there could be, as far as these
sets differ as new rows would. Stratified ones never differ in their shares of the classes, and predictions that are
measured on the same rows each time not in the rows at all. What is missing then is known from the counts of all test
sets: the variance of what a row of each class, or each row, adds to the metric.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals.infer.proportions import share_interval
from fastevals.infer.results import Null
from fastevals.infer.significance.decision import critical_value
from fastevals.infer.significance.t_tests import corrected_t_margin
from fastevals.measure.results import Interval
from fastevals.split.estimates.tallies.base import Tally
from fastevals.split.plans import Held

__all__ = ["SplitVariance", "interval_about"]

Floats = NDArray[np.float64]

NOWHERE = Interval(math.nan, math.nan)


@dataclass(frozen=True, slots=True, eq=False)
class SplitVariance:
    """How metrics of one tally vary over the test sets of splits.

    Attributes
    ----------
    tally : Tally
        The metrics.
    pooled : object
        The tally's counts of all test sets together.
    held : Held
        What is the same in all test sets.
    n_train, n_test : array-like of int
        Rows of each split.
    alpha : float
        One less the level.
    """

    tally: Tally
    pooled: Any
    held: Held
    n_train: Any
    n_test: Any
    alpha: float

    def interval(self, name: str, value: float, per_split: Floats, bounds: tuple[float, float]) -> Interval:
        """Return the interval of a metric's mean over splits, within what the metric can be.

        It is NaN, with a warning that says why, where the splits don't tell.
        """
        margin = self.margin(name, per_split)
        if margin > 0:
            return interval_about(value, margin, margin, bounds)
        number = int(np.count_nonzero(~np.isnan(per_split)))
        if margin == 0:
            outcomes = self.tally.outcomes(name, self.pooled)
            if outcomes is not None:
                successes, failures = (each * self._tested for each in outcomes)
                ends = share_interval(successes, failures, "wilson", self.alpha, "two-sided")
                return Interval(*map(float, ends))
            because = f"it is the same in all {number} splits, which doesn't say how near it is to that of other rows"
        else:
            because = f"all {number} splits test the same rows, so they don't say what it is on others"
        check.warn_undefined(f"the interval of {name}", f"{because}; bootstrap draws rows")
        return NOWHERE

    def margin(self, name: str, per_split: Floats) -> float:
        """Compute half the width of the interval: 0 if nothing varies, NaN if what is held fixed isn't known.

        Nadeau and Bengio's variance and that which is held fixed add up, and degrees of freedom are Welch's.
        """
        values = per_split[~np.isnan(per_split)]
        n_train, n_test = (float(np.sum(each)) for each in (self.n_train, self.n_test))
        # Test sets of all rows have no rest to train on: the variance is that of a mean.
        margin = corrected_t_margin(values, n_test / n_train if n_train else 0.0, self.alpha)
        missing = self._missing(name, same=margin == 0)
        if not missing > 0:
            return math.nan if math.isnan(missing) and self.held.what == "rows" and margin else margin
        df, rows_df = values.size - 1, self.held.n_rows - 1
        error, more = margin / self._critical(df), math.sqrt(missing / rows_df)
        both = math.hypot(error, more)
        share = (error / both) ** 2
        return self._critical(1 / (share**2 / df + (1 - share) ** 2 / rows_df)) * both

    def _missing(self, name: str, same: bool) -> float:
        """Compute the variance, of a row, that the splits don't show: that of all rows where splits are the `same`."""
        held = self.held.what
        if (held is None and not same) or self.held.n_rows < 2:
            return 0.0
        if same and self.tally.outcomes(name, self.pooled) is not None:
            return 0.0  # a share of rows has an interval of its own
        of_rows = self.tally.row_variance(name, self.pooled) if same or held == "rows" else math.nan
        if held != "classes" or not math.isnan(of_rows):
            return of_rows
        return self.held.share * self.tally.class_variance(name, self.pooled)

    def _critical(self, df: float) -> float:
        return critical_value(Null("t", (df,)), "two-sided", self.alpha)

    @property
    def _tested(self) -> float:
        """Rows that are in any test set, as far as sizes tell, for each time that one is."""
        times = float(np.sum(self.n_test))
        return min(times, self.held.n_rows) / times


def interval_about(value: float, below: float, above: float, bounds: tuple[float, float]) -> Interval:
    """Return an interval about a value that reaches so far, clipped to what the metric can be."""
    low, high = (float(np.clip(end, *bounds)) for end in (value - below, value + above))
    return Interval(low, high)
