"""What a permutation test gives."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals.infer.results import SignificanceResult
from fastevals.infer.significance.decision import result_of
from fastevals.infer.significance.permutation.outcomes import Tested

__all__ = ["PermutationResult", "decided"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PermutationResult(SignificanceResult):
    """A `SignificanceResult` of a permutation test: `statistic` and `effect` are the difference itself.

    Attributes
    ----------
    metric : str
        What is compared.
    n_resamples : int
        Permutations, those left out included; of an exact test, the outcomes there are.
    exact : bool
        Whether all permutations were gone through: the p-value is exact, and the same for any seed.
    n_undefined : int
        Permutations in which a metric is undefined: they are left out.
    null_distribution : ndarray of shape (n_resamples - n_undefined,) or None
        The difference in each, where it was asked for.
    null_chances : ndarray of the same shape or None
        Of these values, in an exact test of counts; elsewhere they are equally likely.
    pos_label : label or None
        The positive class; None where there is none, or nobody said which it is.

    Examples
    --------
    >>> import fastevals
    >>> fastevals.permutation_test([0, 0, 1, 1, 1], [0, 0, 1, 1, 1], [1, 0, 0, 0, 1])
    PermutationResult(statistic=0.6, pvalue=0.25, effect=0.6, rejected=False)
    """

    metric: str = field(kw_only=True)
    n_resamples: int = field(kw_only=True)
    exact: bool = field(kw_only=True)
    n_undefined: int = field(kw_only=True)
    null_distribution: NDArray[np.float64] | None = field(kw_only=True)
    null_chances: NDArray[np.float64] | None = field(kw_only=True)
    pos_label: Any = field(default=None, kw_only=True)


def decided(
    test: str, metric: str, what: str, tested: Tested, *, alternative: str, alpha: float, keep_distribution: bool
) -> PermutationResult:
    """Decide whether `what`, a difference of a metric, is 0, and say what of the permutations is left out."""
    statistic, in_unit = tested.statistic, tested.in_unit
    outcomes = tested.outcomes.defined()
    n, left = tested.outcomes.values.size, outcomes.values.size
    pvalue = critical = math.nan
    if math.isnan(statistic):
        check.warn_undefined(f"the test of {metric}", "the metric of a model is, on these rows, or the difference")
    elif left == 0:
        check.warn_undefined(f"the test of {metric}", f"the metric is, in all of {n} permutations")
    else:
        if left < n:
            check.warn_undefined(metric, f"in {n - left} of {n} permutations, which are left out (n_undefined)")
        pvalue = outcomes.pvalue(statistic, tested.slack, alternative)
        critical = outcomes.critical_value(alpha, alternative)
        critical = float(in_unit(critical)) if math.isfinite(critical) else critical
    difference = float(in_unit(statistic))
    return result_of(
        PermutationResult,
        test,
        what,
        difference,
        pvalue,
        critical,
        alternative=alternative,
        alpha=alpha,
        effect=difference,
        metric=metric,
        n_resamples=n,
        exact=outcomes.exact,
        n_undefined=n - left,
        null_distribution=np.asarray(in_unit(outcomes.values)) if keep_distribution else None,
        null_chances=outcomes.chances if keep_distribution else None,
        pos_label=tested.pos_label,
    )
