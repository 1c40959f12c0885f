"""Flip the signs of paired differences."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import run
from fastevals._kernels.permutation import GROUP, WORD, fill_keys, flip_signs
from fastevals.infer.permutation.distribution import PermutationDistribution, PermutationPlan, PermutedStatistic
from fastevals.infer.significance.paired import VARIANCE_ROUNDING, scale_to_unit
from fastevals.results import TIE_TOLERANCE, Alternative, Interval

Floats = NDArray[np.float64]

FEW_VECTORS = 1 << 16  # up to this many sign vectors, all are enumerated, even if fewer are asked for
SIGNS_PER_TASK = 1 << 30  # signs per task: about 0.1 s
FEWEST_PERMUTATIONS, MOST_PERMUTATIONS = 512, 4096  # permutations per task: enough to make up for building the tables


class NonZeroDifferences(NamedTuple):
    """Nonzero differences, in units of 2**exponent."""

    values: Floats
    exponent: int


def nonzero_differences(a: Floats, b: Floats) -> NonZeroDifferences:
    """Return a - b where they differ by more than rounding."""
    (a, b), exponent = scale_to_unit(a, b)
    values = a - b
    return NonZeroDifferences(
        values[np.abs(values) > VARIANCE_ROUNDING * np.maximum(np.abs(a), np.abs(b))], int(exponent[0])
    )


def permute_signs(values: Floats, plan: PermutationPlan) -> PermutedStatistic:
    """Return the sum of the differences, and its values under random signs, or under all signs if these are few."""
    statistic, slack = float(values.sum()), TIE_TOLERANCE * float(np.abs(values).sum())
    if values.size < 31 and 1 << values.size <= plan.max_outcomes(FEW_VECTORS):
        sums = np.zeros(1)
        for each in values:
            sums = np.concatenate((sums - each, sums + each))
        return PermutedStatistic(statistic, PermutationDistribution(sums, exact=True), slack)
    padded = np.zeros(-(-values.size // (GROUP * WORD)) * GROUP * WORD)
    padded[: values.size] = values
    size = min(max(SIGNS_PER_TASK // padded.size, FEWEST_PERMUTATIONS), MOST_PERMUTATIONS)

    def task(start: int, sums: Floats) -> Floats:
        keys, words = np.empty((2, min(size, plan.n_resamples - start)), dtype=np.uint64)
        fill_keys(plan.key, start, keys)
        totals = np.empty(keys.size)
        flip_signs(padded, keys, words, sums, totals)
        return totals

    def tables() -> Floats:
        return np.empty((WORD, 1 << GROUP))

    parts = run(task, range(0, plan.n_resamples, size), workspace=tables, progress=plan.progress, compiles=flip_signs)
    return PermutedStatistic(statistic, PermutationDistribution(np.concatenate(parts), exact=False), slack)


def permutation_interval(a: Floats, b: Floats, plan: PermutationPlan, alpha: float) -> Interval:
    """Return the shifts of the differences that the permutation test, with the same signs, does not reject.

    The sum of the differences minus a shift, after some signs are flipped, is at least the unflipped sum if the mean of
    the flipped differences is at most the shift. So the ends are ordered means of subsets of the differences (Hartigan
    1969, doi:10.1080/01621459.1969.10501057).
    """
    (a, b), exponent = scale_to_unit(a, b)
    differences = a - b
    sums, signs = (permute_signs(each, plan) for each in (differences, np.ones_like(differences)))
    flipped = (differences.size - signs.distribution.values) / 2
    kept = flipped > 0.5
    others = 0 if sums.distribution.exact else 1
    means = np.sort((differences.sum() - sums.distribution.values[kept]) / 2 / flipped[kept])
    unflipped = int(np.count_nonzero(~kept)) + others  # as extreme as the data for every shift
    place = math.ceil(alpha / 2 * (flipped.size + others) * (1 - TIE_TOLERANCE)) - unflipped - 1
    if place < 0:
        return Interval(-math.inf, math.inf)
    ends = means[[min(place, means.size - 1), max(means.size - 1 - place, 0)]]
    return Interval(*(float(each) for each in scaled_mean(ends, 1, int(exponent[0]))))


def permutation_options(*, n_resamples: int = 9999, rng: Any = None) -> dict[str, Any]:
    """Check a user's options of `pairwise_permutation`."""
    plan = PermutationPlan.check(n_resamples, rng)
    return {"n_resamples": plan.n_resamples, "key": plan.key}


def pairwise_permutation(
    a: Floats, b: Floats, alternative: Alternative, *, n_resamples: int, key: np.uint64
) -> tuple[Floats, Floats, Floats]:
    """Return statistics, p-values and effects for many pairs of learners; statistic and effect are the mean difference.

    Parameters
    ----------
    a, b : ndarray of float64 of shape (n_pairs, n)
        Finite measurements.
    alternative : str
        As for `paired_permutation_test`, which computes the same statistic, p-value and effect for a single pair.
    n_resamples : int
        Number of permutations.
    key : uint64
        Key of the random stream, the same for all pairs.

    Returns
    -------
    statistic, pvalue, effect : ndarray of shape (n_pairs,)
    """
    plan = PermutationPlan(n_resamples, key)

    def test(pair: int) -> tuple[float, float]:
        differences = nonzero_differences(a[pair], b[pair])
        tested = permute_signs(differences.values, plan)
        return scaled_mean(tested.statistic, a.shape[1], differences.exponent), tested.distribution.pvalue(
            tested.statistic, tested.slack, alternative
        )

    means, pvalues = np.array(run(test, range(len(a)), compiles=True)).reshape(-1, 2).T.copy()
    return means, pvalues, means


def scaled_mean(sums: Floats | float, n: float, exponent: int) -> Any:
    """Return sums / n, converted from units of 2**exponent; infinite beyond the largest float."""
    with np.errstate(over="ignore", under="ignore"):
        return np.ldexp(np.divide(sums, n), exponent)
