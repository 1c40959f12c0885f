"""Flip the signs of paired differences."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import run
from fastevals._kernels.permutation import GROUP, WORD, count_reached, fill_keys, flip_signs
from fastevals.infer.permutation.distribution import PermutationDistribution, PermutationPlan, PermutedStatistic
from fastevals.infer.significance.paired import VARIANCE_ROUNDING, scale_to_unit
from fastevals.results import EXTREMENESS, TIE_TOLERANCE, Alternative, Interval

Floats = NDArray[np.float64]

EPSILON = float(np.finfo(np.float64).eps)
FEW_VECTORS = 1 << 16  # up to this many sign vectors, all are enumerated, even if fewer are asked for
SIGNS_PER_TASK = 1 << 30  # signs per task: about 0.1 s
VALUES_PER_TASK = 1 << 18  # differences per task, before any signs are flipped
FEWEST_PERMUTATIONS, MOST_PERMUTATIONS = 512, 4096  # permutations per task: enough to make up for building the tables


class PairedDifferences(NamedTuple):
    """Differences of the measurements of the same rows, in units of 2**exponent.

    Attributes
    ----------
    values : ndarray of float64 of shape (..., n)
        Differences; 0 where they are within rounding.
    exponent : ndarray of int of shape (...)
        Exponent of the unit.
    dropped : ndarray of float64 of shape (...)
        Sum of the absolute differences that were set to 0.
    """

    values: Floats
    exponent: Any
    dropped: Any


def paired_differences(a: Floats, b: Floats) -> PairedDifferences:
    """Return a - b, with 0 for differences within rounding."""
    (a, b), exponent = scale_to_unit(a, b)
    values = a - b
    absolute = np.abs(values)
    kept = absolute > VARIANCE_ROUNDING * np.maximum(np.abs(a), np.abs(b))
    dropped = absolute.sum(axis=-1, where=~kept)
    return PairedDifferences(np.where(kept, values, 0.0), exponent[..., 0], dropped)


def permute_signs(values: Floats, plan: PermutationPlan) -> PermutedStatistic:
    """Return the sum of the differences, and its values under random signs, or under all signs if these are few."""
    statistic, slack = float(values.sum()), TIE_TOLERANCE * float(np.abs(values).sum())
    if values.size <= most_enumerated(plan):
        sums = np.zeros(1)
        for each in values:
            sums = np.concatenate((sums - each, sums + each))
        return PermutedStatistic(statistic, PermutationDistribution(sums, exact=True), slack)
    padded = pad_words(values)
    size = permutations_per_task(padded.size)
    parts = run(
        lambda start, sums: flipped_sums(padded, plan, start, size, sums),
        range(0, plan.n_resamples, size),
        workspace=sign_tables,
        progress=plan.progress,
        compiles=flip_signs,
    )
    return PermutedStatistic(statistic, PermutationDistribution(np.concatenate(parts), exact=False), slack)


def most_enumerated(plan: PermutationPlan) -> int:
    """Return the largest number of differences whose signs are all enumerated."""
    return min(plan.max_outcomes(FEW_VECTORS).bit_length() - 1, 30)


def permute_rows(differences: Floats, plan: PermutationPlan) -> PermutedStatistic:
    """Return `permute_signs`: of all differences, so that a row has the same signs for all pairs of learners.

    If the nonzero differences are few enough, their signs are enumerated.
    """
    nonzero = differences[differences != 0]
    return permute_signs(nonzero if nonzero.size <= most_enumerated(plan) else differences, plan)


def pad_words(values: Floats) -> Floats:
    """Append zeros up to a whole number of words along the last axis."""
    n = values.shape[-1]
    padded = np.zeros((*values.shape[:-1], -(-n // (GROUP * WORD)) * GROUP * WORD))
    padded[..., :n] = values
    return padded


def permutations_per_task(n: int) -> int:
    """Return how many permutations of n differences a task draws."""
    return min(max(SIGNS_PER_TASK // n, FEWEST_PERMUTATIONS), MOST_PERMUTATIONS)


def sign_tables() -> Floats:
    """Return a thread's working memory for `flipped_sums`."""
    return np.empty((WORD, 1 << GROUP))


def flipped_sums(padded: Floats, plan: PermutationPlan, start: int, size: int, sums: Floats) -> Floats:
    """Return the sums of values under the random signs of up to `size` permutations from number `start`."""
    keys, words = np.empty((2, min(size, plan.n_resamples - start)), dtype=np.uint64)
    fill_keys(plan.key, start, keys)
    totals = np.empty(keys.size)
    flip_signs(padded, keys, words, sums, totals)
    return totals


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
    tested = run(lambda pair: _test_signs(a[pair], b[pair], plan, alternative), range(len(a)), compiles=True)
    means, pvalues = np.array(tested).reshape(-1, 2).T.copy()
    return means, pvalues, means


def _test_signs(a: Floats, b: Floats, plan: PermutationPlan, alternative: Alternative) -> tuple[float, float]:
    """Return the mean difference of two learners and its p-value."""
    differences = paired_differences(a, b)
    tested = permute_rows(differences.values, plan)
    return scaled_mean(tested.statistic, a.size, differences.exponent), tested.distribution.pvalue(
        tested.statistic, tested.slack, alternative
    )


def permutation_among(
    a: Floats, b: Floats, pairs: NDArray[np.intp], alternative: Alternative, *, n_resamples: int, key: np.uint64
) -> tuple[Floats, Floats, Floats]:
    """Return what `pairwise_permutation` returns, for pairs of rows of two tables; much faster if pairs are many.

    All pairs have the same random signs. So the sum of two learners' signed differences is the difference of the two
    learners' signed sums, and these are computed once per learner. A pair is tested by itself if rounding could change
    its p-value, or if all its signs are enumerated.

    Parameters
    ----------
    a, b : ndarray of float64 of shape (n_learners, n)
        Finite measurements.
    pairs : ndarray of shape (n_pairs, 2)
        Rows of `a` and of `b`.
    alternative, n_resamples, key
        As for `pairwise_permutation`.
    """
    plan, n = PermutationPlan(n_resamples, key), a.shape[1]
    (values,), (unit,) = scale_to_unit((a if a is b else np.concatenate((a, b))).ravel())
    values = values.reshape(-1, n)
    values = pad_words(values - np.median(values, axis=0))  # so that rounding errors are small
    sizes = np.abs(values).sum(axis=1)
    rows = pairs + np.array([0, 0 if a is b else len(a)])
    rounding = (values.shape[1] / (GROUP * WORD) + 4 * GROUP) * EPSILON
    size = max(1, VALUES_PER_TASK // n)  # pairs per task

    def measure(start: int) -> tuple[Floats, Floats, Floats]:
        part = slice(start, start + size)
        values, exponent, dropped = paired_differences(a[pairs[part, 0]], b[pairs[part, 1]])
        sums, absolute = values.sum(axis=1), np.abs(values).sum(axis=1)
        limits = np.ldexp(EXTREMENESS[alternative](sums) - TIE_TOLERANCE * absolute, exponent - unit)
        errors = rounding * sizes[rows[part]].sum(axis=1) + np.ldexp(rounding * absolute + dropped, exponent - unit)
        few = np.count_nonzero(values, axis=1) <= most_enumerated(plan)
        errors = np.where(few, math.inf, errors + np.finfo(np.float64).tiny)
        return scaled_mean(sums, n, exponent), limits - errors, limits + errors

    parts = run(measure, range(0, len(pairs), size), compiles=True)
    means, least, most = (np.concatenate(part) for part in zip(*parts, strict=True))
    shared = np.flatnonzero(np.isfinite(most))
    if shared.size <= len(values):
        return pairwise_permutation(a[pairs[:, 0]], b[pairs[:, 1]], alternative, n_resamples=n_resamples, key=key)
    order = -1 if alternative == "less" else 1
    tested, bounds = np.ascontiguousarray(rows[shared, ::order]), np.stack((least, most), axis=1)[shared]
    spaces: list[tuple[Floats, NDArray[np.int64]]] = []

    def space() -> tuple[Floats, NDArray[np.int64]]:
        spaces.append((sign_tables(), np.zeros(bounds.shape, dtype=np.int64)))
        return spaces[-1]

    def count(start: int, space: tuple[Floats, NDArray[np.int64]]) -> None:
        sums = np.stack([flipped_sums(each, plan, start, FEWEST_PERMUTATIONS, space[0]) for each in values])
        count_reached(sums, tested, bounds, alternative == "two-sided", space[1])

    run(count, range(0, n_resamples, FEWEST_PERMUTATIONS), workspace=space, compiles=count_reached)
    counts = np.sum([counts for _, counts in spaces], axis=0)
    pvalues = np.full(len(pairs), math.nan)
    pvalues[shared] = np.where(counts[:, 0] == counts[:, 1], (1 + counts[:, 0]) / (1 + n_resamples), math.nan)
    alone = np.flatnonzero(np.isnan(pvalues))
    first, second = a[pairs[alone, 0]], b[pairs[alone, 1]]
    found = pairwise_permutation(first, second, alternative, n_resamples=n_resamples, key=key)
    means[alone], pvalues[alone] = found[:2]
    return means, pvalues, means


def scaled_mean(sums: Floats | float, n: float, exponent: int) -> Any:
    """Return sums / n, converted from units of 2**exponent; infinite beyond the largest float."""
    with np.errstate(over="ignore", under="ignore"):
        return np.ldexp(np.divide(sums, n), exponent)
