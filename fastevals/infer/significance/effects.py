"""Effect sizes of pairs of learners, from their measurements on the same data sets or folds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._text import count_of
from fastevals.document.frames import Columns, make_columns
from fastevals.infer.significance.binomial import fair_least_kept
from fastevals.infer.significance.paired import ranked_differences
from fastevals.infer.significance.t_tests import pairwise_t, pairwise_t_interval
from fastevals.results import Alternative, Frozen, Interval

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PairEffects(Frozen):
    """Effect sizes of pairs of learners; all have the sign of the first minus the second.

    Intervals have the confidence level of the tests and the side of their alternative. They are for each pair alone:
    they are not adjusted for the number of pairs.

    Attributes
    ----------
    higher, tied, lower : ndarray of int of shape (n_pairs,)
        Numbers of rows (data sets or folds) in which the first learner's measurement is higher than the second's, equal
        to it, or lower. For an accuracy these are the first learner's wins, ties and losses; for an error rate, `lower`
        counts its wins.
    mean_difference : ndarray of shape (n_pairs,)
        Mean difference, in the unit of the measurements.
    mean_interval : Interval of ndarray
        Its t interval. For splits of one data set, it is Nadeau and Bengio's corrected interval.
    median_difference : ndarray of shape (n_pairs,)
        Median difference.
    median_interval : Interval of ndarray
        Its interval, between two of the ordered differences, from the sign test; infinite with too few rows. NaN for
        splits of one data set, whose differences are not independent.
    rank_biserial : ndarray of shape (n_pairs,)
        Matched-pairs rank-biserial correlation: the sum of the ranks of positive differences minus the sum for negative
        ones, divided by the sum of all ranks. Zeros are dropped. It is 1 if the first learner is higher wherever the
        two differ, and 0 if the ranks are balanced.
    vargha_delaney_a : ndarray of shape (n_pairs,)
        Vargha and Delaney's A for paired data: the share of rows in which the first learner is higher, where a tie
        counts half. It is 1/2 if the learners win equally often. (A for independent samples would compare each row of
        one learner with all rows of the other.)

    Examples
    --------
    >>> import fastevals
    >>> accuracy = {"a": [0.8, 0.7, 0.9, 0.8, 0.6], "b": [0.7, 0.5, 0.8, 0.6, 0.5], "c": [0.8, 0.6, 0.9, 0.7, 0.7]}
    >>> effects = fastevals.pairwise_tests(accuracy, test="paired-t").effects
    >>> effects.mean_difference.round(3), effects.higher, effects.tied, effects.vargha_delaney_a
    (array([ 0.14,  0.02, -0.12]), array([5, 2, 0]), array([0, 2, 0]), array([1. , 0.6, 0. ]))
    """

    higher: Ints
    tied: Ints
    lower: Ints
    mean_difference: Floats
    mean_interval: Interval[Floats]
    median_difference: Floats
    median_interval: Interval[Floats]
    rank_biserial: Floats
    vargha_delaney_a: Floats

    def __repr__(self) -> str:
        return f"PairEffects({count_of(len(self.higher), 'pair')})"

    def _columns(self) -> Columns:
        names = ("higher", "tied", "lower", "mean_difference", "mean_interval", "median_difference", "median_interval")
        columns: dict[str, Any] = {}
        for name in (*names, "rank_biserial", "vargha_delaney_a"):
            value = getattr(self, name)
            if isinstance(value, Interval):
                part = name.removesuffix("_interval")
                columns |= {f"{part}_low": value.low, f"{part}_high": value.high}
            else:
                columns[name] = value
        return make_columns(columns)


def pair_effects(
    a: Floats, b: Floats, alternative: Alternative, alpha: float, test_to_train: float, conservative: bool = False
) -> PairEffects:
    """Return the effect sizes of many pairs, with measurements along the last axis.

    `test_to_train` is the ratio of test rows to training rows for splits of one data set, and 0 for independent rows.
    """
    from fastevals._kernels.ranks import rank_balances

    n = a.shape[-1]
    differences, scale = ranked_differences(a, b)
    ascending = np.sort(differences, axis=-1)
    tied = np.count_nonzero(ascending == 0, axis=-1)
    higher = np.count_nonzero(ascending > 0, axis=-1)
    balances = np.empty(len(ascending))
    rank_balances(ascending, balances)
    middle = ascending[:, (n - 1) // 2] / 2 + ascending[:, n // 2] / 2
    low = fair_least_kept(n, alternative, alpha)
    open_end = np.full(len(ascending), math.inf)
    ends = (-open_end, open_end)
    if low > 0 and not test_to_train:
        ends = (
            -open_end if alternative == "less" else ascending[:, low - 1] / scale,
            open_end if alternative == "greater" else ascending[:, n - low] / scale,
        )
    _, _, mean = pairwise_t(a, b, alternative, test_to_train)
    return PairEffects(
        higher,
        tied,
        n - higher - tied,
        mean,
        pairwise_t_interval(a, b, alternative, alpha, test_to_train, conservative),
        middle / scale,
        Interval(*(np.full(len(a), math.nan) for _ in ends)) if test_to_train else Interval(*ends),
        balances,
        (higher + tied / 2) / n,
    )


def join_effects(parts: list[PairEffects]) -> PairEffects:
    """Return the effect sizes of several parts of the pairs as one."""
    joined = [np.concatenate([getattr(each, name) for each in parts], axis=-1) for name in PairEffects.__slots__]
    fields: list[Any] = [Interval(*each) if each.ndim == 2 else each for each in joined]
    return PairEffects(*fields)
