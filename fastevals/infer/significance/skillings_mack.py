"""Test whether several learners do equally well on several data sets, some without results (Skillings and Mack)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fastevals._options import as_flag, check_choice, check_integer, listed
from fastevals._random import seed_key
from fastevals._text import count_of, printable
from fastevals._validation.tables import as_result_table, warn_if_dependent
from fastevals.infer.significance.decision import Compared, check_alpha, decide
from fastevals.infer.significance.friedman import ALGORITHMS_SHOWN, OF_SPLITS
from fastevals.results import MAX_RESAMPLES, TIE_TOLERANCE, Null, SignificanceResult

Floats = NDArray[np.float64]

SkillingsMackMethod = Literal["chi-square", "permutation"]
NUMBERS_PER_CHUNK = 1 << 22  # permuted ranks at a time


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SkillingsMackResult(SignificanceResult):
    """Result of `skillings_mack_test`: a `SignificanceResult` with the sums of ranks that it compares.

    Attributes
    ----------
    names : tuple
        Names of the learners, in order; numbers if they have none.
    n_datasets : int
        Number of data sets with results of two learners or more.
    n_missing : int
        Number of missing results on these data sets.
    rank_sums : ndarray of shape (n_learners,)
        Sums of weighted ranks minus their means: a negative sum is better than average. Rank 1 is the best.

    Examples
    --------
    >>> import fastevals
    >>> accuracy = [[0.9, 0.8, 0.7], [0.8, 0.7, float("nan")], [0.9, 0.8, 0.8], [float("nan"), 0.7, 0.6]]
    >>> found = fastevals.skillings_mack_test(accuracy)
    >>> found.n_missing, found.rank_sums.round(2)
    (2, array([-4.46,  0.87,  3.6 ]))
    """

    names: tuple[Any, ...] = field(kw_only=True)
    n_datasets: int = field(kw_only=True)
    n_missing: int = field(kw_only=True)
    rank_sums: Floats = field(kw_only=True)

    def _details(self) -> list[tuple[str, str]]:
        shown = zip(self.names[:ALGORITHMS_SHOWN], self.rank_sums, strict=False)
        sums = ", ".join(f"{printable(str(name))}: {value:.4g}" for name, value in shown)
        missing = count_of(self.n_missing, "result")
        sets = f"{count_of(self.n_datasets, 'data set')} x {len(self.names)} algorithms, {missing} missing"
        return [("ranks", f"{sets}; sums {sums}{', ...' * (len(self.names) > ALGORITHMS_SHOWN)}")]


def skillings_mack_test(
    results: Any,
    *,
    method: SkillingsMackMethod = "chi-square",
    tie_correction: bool = True,
    higher_is_better: bool | None = None,
    n_resamples: int = 9999,
    confidence_level: float = 0.95,
    rng: Any = None,
) -> SkillingsMackResult:
    """Test whether all learners do equally well on several data sets, some of which lack results of some learners.

    Without missing results, this is Friedman's test with the chi-square statistic.

    Parameters
    ----------
    results : Results, array-like of shape (n_datasets, n_learners), mapping of name to array-like, or frame
        As for `friedman_test`; NaN is a missing result (in `Results`, with ``missing="keep"``).
    method : {"chi-square", "permutation"}
        The null distribution: chi-square with one degree of freedom less than there are learners, or permutations of
        the results within each data set, which suit few data sets.
    tie_correction : bool
        Whether the variance of the ranks allows for ties.
    higher_is_better : bool, optional
        As for `friedman_test`.
    n_resamples : int
        Number of permutations, with "permutation".
    confidence_level : float in (0, 1)
        The test is at level ``1 - confidence_level``.
    rng : None, int, sequence of int, SeedSequence, BitGenerator or Generator
        The seed of permutations.

    Returns
    -------
    SkillingsMackResult
        `statistic` is SM. If all results are tied, SM is 0 and p is 1. Data sets with fewer than two results are
        left out.

    Raises
    ------
    ValueError
        If an argument is not as described; if there is no data set with two results; or if some learners share no data
        set, even indirectly, with others.

    Warns
    -----
    DependentSplitsWarning
        If the results come from splits of one data set, which are not independent.

    Notes
    -----
    Let data set i have k_i results with midranks r_ij. Then ``A_j = sum_i sqrt(12 / (k_i + 1)) (r_ij - (k_i + 1) /
    2)``, where missing results contribute 0, and ``SM = A' V^- A``, with V the covariance matrix of A under
    permutations within each data set. Without ties, V_jl is minus the number of data sets with results of both. Which
    results are missing must not depend on how good they would have been: a learner that times out where it would do
    badly looks too good. For such data, ``Results(missing="worst")`` is the cautious choice.

    References
    ----------
    Skillings and Mack (1981), "On the Use of a Friedman-Type Statistic in Balanced and Unbalanced Block Designs",
    Technometrics 23, 171-177, doi:10.1080/00401706.1981.10486261.

    Examples
    --------
    >>> import fastevals
    >>> accuracy = [[0.9, 0.8, 0.7], [0.8, 0.7, float("nan")], [0.9, 0.8, 0.8], [float("nan"), 0.7, 0.6]]
    >>> fastevals.skillings_mack_test(accuracy)
    SkillingsMackResult(statistic=5.336, pvalue=0.06938, rejected=False)
    """
    check_choice("method", method, SkillingsMackMethod)
    corrected = as_flag("tie_correction", tie_correction)
    alpha = check_alpha(confidence_level, "two-sided")
    n_resamples = check_integer("n_resamples", n_resamples, low=1, high=MAX_RESAMPLES)
    key = seed_key("rng", rng)
    table = as_result_table("results", results, keep_missing=True)
    better = table.higher_is_better(higher_is_better)
    warn_if_dependent("skillings_mack_test", [table.measured], OF_SPLITS)
    values = -table.values if better else table.values
    values = values[np.count_nonzero(~np.isnan(values), axis=1) > 1]
    _check_connected(values, table.algorithms)
    scores, covariance = _weighted_ranks(values, corrected)
    sums, inverse = scores.sum(axis=0), np.asarray(np.linalg.pinv(covariance, hermitian=True), dtype=np.float64)
    statistic = float(sums @ inverse @ sums)
    null = Null("chi2", (len(sums) - 1,))
    pvalue = None if sums.any() else 1.0
    if method == "permutation" and pvalue is None:
        permuted = _permuted(scores, np.isnan(values), inverse, n_resamples, np.random.default_rng(int(key)))
        as_large = int(np.count_nonzero(permuted >= statistic * (1 - TIE_TOLERANCE)))
        pvalue = (1 + as_large) / (1 + n_resamples)
    return decide(
        "the Skillings-Mack test",
        Compared("", "", f"the ranks of the {len(sums)} algorithms"),
        statistic,
        null,
        alpha=alpha,
        pvalue=pvalue,
        kind=SkillingsMackResult,
        names=table.algorithms,
        n_datasets=len(values),
        n_missing=int(np.isnan(values).sum()),
        rank_sums=sums,
    )


def _weighted_ranks(values: Floats, tie_correction: bool) -> tuple[Floats, Floats]:
    """Return the weighted, centred midranks (0 where missing), and the covariance matrix of their sums."""
    from scipy.stats import rankdata

    present = ~np.isnan(values)
    k = np.count_nonzero(present, axis=1)
    ranks = rankdata(values, axis=1, nan_policy="omit")
    centred = np.where(present, ranks - (k[:, None] + 1) / 2, 0.0)
    scores = np.sqrt(12 / (k + 1))[:, None] * centred
    squares = np.square(centred).sum(axis=1)
    # Without ties squares are k (k^2 - 1) / 12; a data set then adds 1 to -V_jl, and less with ties.
    weight = 12 * squares / (k * (k**2 - 1)) if tie_correction else np.ones(len(k))
    shared = present.T.astype(np.float64) @ (present * weight[:, None])
    covariance = -shared
    np.fill_diagonal(covariance, 0.0)
    np.fill_diagonal(covariance, -covariance.sum(axis=1))
    return scores, covariance


def _permuted(scores: Floats, missing: NDArray[np.bool_], inverse: Floats, n: int, rng: np.random.Generator) -> Floats:
    """Return statistics of n tables with each data set's ranks permuted."""
    found = []
    size = max(1, NUMBERS_PER_CHUNK // scores.size)
    for start in range(0, n, size):
        sums = np.zeros((min(size, n - start), scores.shape[1]))
        for row, gone in zip(scores, missing, strict=True):
            drawn = np.broadcast_to(row[~gone], (len(sums), int(np.count_nonzero(~gone))))
            sums[:, ~gone] += rng.permuted(drawn, axis=1)
        found.append(np.einsum("nj,jl,nl->n", sums, inverse, sums, optimize=True))
    return np.concatenate(found)


# Checks ---------------------------------------------------------------------------------------------------------------


def _check_connected(values: Floats, names: tuple[Any, ...]) -> None:
    """Raise unless data sets connect all learners: directly, or by way of other learners."""
    present = ~np.isnan(values)
    if not len(values):
        raise ValueError("results must have a data set with results of two learners or more, got none")
    reached = np.zeros(values.shape[1], dtype=np.bool_)
    reached[np.argmax(present[0])] = True
    for _ in range(values.shape[1]):
        reached |= present[present[:, reached].any(axis=1)].any(axis=0)
    if not reached.all():
        others = [name for name, each in zip(names, reached, strict=True) if not each]
        raise ValueError(
            f"results must connect all learners by common data sets, but {listed(others)} share none with the others: "
            "test the groups separately"
        )
