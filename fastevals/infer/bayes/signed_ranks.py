"""The Bayesian signed-rank test: two learners over several data sets."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import run
from fastevals._options import check_choice, check_number
from fastevals._random import seed_key
from fastevals._validation.tables import as_result_table, warn_if_dependent
from fastevals.infer.bayes.comparison import BayesComparison
from fastevals.infer.bayes.pairs import check_draws, read_options
from fastevals.infer.bootstrap.samples import batch_stream
from fastevals.infer.significance.paired import in_own_unit, scale_to_unit
from fastevals.results import TIE_TOLERANCE

Floats = NDArray[np.float64]

WEIGHTS_PER_TASK = 1 << 20

PriorPlace = Literal["rope", "a", "b"]


def bayes_signed_rank(
    results: Any,
    a: Any = None,
    b: Any = None,
    *,
    rope: float,
    prior_strength: float = 0.5,
    prior_place: PriorPlace = "rope",
    higher_is_better: bool | None = None,
    confidence_level: float = 0.95,
    n_draws: int = 50_000,
    rng: Any = None,
) -> BayesComparison:
    """Compute how probable it is that one learner is better than another, from their results on several data sets.

    The Bayesian counterpart of `wilcoxon_test` ([1]_, [2]_). It uses one result per data set, and knows nothing about
    their precision; `bayes_hierarchical` uses the folds.

    Parameters
    ----------
    results : Results, array-like of shape (n_datasets, n_learners), mapping of name to array-like, or frame
        Results of learners (columns) on data sets (rows). For `Results` with folds, their means are used.
    a, b : name, optional
        The two learners; not needed if there are only two.
    rope : float
        Half the width of the region of practical equivalence, in the unit of the metric. With 0, there is no region.
    prior_strength : float
        Weight of the prior, in data sets. The prior is one more data set at `prior_place`.
    prior_place : {"rope", "a", "b"}
        Where the prior puts its weight: on no difference, or on one of the learners being better than the other by far.
    higher_is_better : bool, optional
        Whether higher results are better; needed if the metric is unknown.
    confidence_level : float in (0, 1)
        Posterior probability of the interval.
    n_draws : int
        Number of draws from the posterior. With 50,000, a probability has a standard error of at most 0.0023.
    rng : None, int, sequence of int, SeedSequence, BitGenerator or Generator
        The seed.

    Returns
    -------
    BayesComparison
        The probabilities and draws. `effect` is the mean difference over data sets, without the prior's data set.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.

    Warns
    -----
    DependentSplitsWarning
        If the results come from splits of one data set: use `bayes_correlated_t`.

    Notes
    -----
    The differences z_1, ..., z_n of the data sets and the prior's z_0 get random weights w from a Dirichlet
    distribution, with parameters 1 for data sets and `prior_strength` for the prior. A draw's share above the rope is
    the sum of w_i w_j over all pairs i, j with z_i + z_j > 2 rope; pairs at exactly 2 rope count half. Shares below and
    within the rope are computed alike. `a_better` is the probability that the share for a is the largest of the three.

    Time and memory grow with ``n_datasets * n_draws``.

    References
    ----------
    .. [1] Benavoli, A., Corani, G., Mangili, F., Zaffalon, M. and Ruggeri, F. (2014), "A Bayesian Wilcoxon signed-rank
       test based on the Dirichlet process", ICML, PMLR 32, 1026-1034.
    .. [2] Benavoli, A., Corani, G., Demsar, J. and Zaffalon, M. (2017), "Time for a Change: a Tutorial for Comparing
       Multiple Classifiers Through Bayesian Analysis", JMLR 18(77), 1-36.

    Examples
    --------
    >>> import fastevals
    >>> accuracy = {"new": [0.84, 0.78, 0.93, 0.66, 0.75, 0.88], "old": [0.82, 0.75, 0.93, 0.63, 0.72, 0.87]}
    >>> found = fastevals.bayes_signed_rank(accuracy, rope=0.01, higher_is_better=True, rng=0)
    >>> found.a_better > 0.9, found.b_better < 0.01
    (True, True)
    """
    table = as_result_table("results", results)
    measured = table.measured
    asked = read_options(
        table.algorithms, a, b, metric=measured and measured.metric, known=measured and measured.greater_is_better,
        higher_is_better=higher_is_better, rope=rope, confidence_level=confidence_level,
    )  # fmt: skip
    strength = check_number("prior_strength", prior_strength, low=0, high=math.inf, open_low=True, open_high=True)
    check_choice("prior_place", prior_place, PriorPlace)
    n_draws, key = check_draws(n_draws), seed_key("rng", rng)
    warn_if_dependent("bayes_signed_rank", [measured], "bayes_correlated_t")
    first, second = (table.values[:, place] for place in asked.places)
    prior = 0.0 if prior_place == "rope" else math.inf if (prior_place == "a") == asked.greater_is_better else -math.inf
    (first, second), exponent = scale_to_unit(first, second)  # differences don't overflow
    rope = math.ldexp(asked.rope, -int(exponent[0]))
    draws, means = draw_signed_ranks(first - second, prior, strength, rope, n_draws, key, TIE_TOLERANCE)
    return asked.answer_from_draws("signed-rank test", draws, in_own_unit(means, exponent), len(first))


def draw_signed_ranks(
    values: Floats, prior: float, strength: float, rope: float, n_draws: int, key: np.uint64, slack: float
) -> tuple[Floats, Floats]:
    """Return draws of the shares above, within and below the rope, of shape (n_draws, 3), and of the mean of values.

    Sums that differ from 2 * rope by at most `slack` count as equal to it.
    """
    order = np.argsort(np.append(values, prior), kind="stable")
    ordered = np.append(values, prior)[order]
    own = int(np.flatnonzero(order == values.size)[0])  # the place of the prior
    finite = np.where(np.isfinite(ordered), ordered, 0.0)

    def weight_below(limit: float, cumulative: Floats) -> Floats:
        """Return the weight of all partners j of each i with z_i + z_j below the limit; at the limit, half of it."""
        low = np.searchsorted(ordered, limit - ordered - slack, "left")
        high = np.searchsorted(ordered, limit - ordered + slack, "right")
        return np.asarray(0.5 * (cumulative[:, low] + cumulative[:, high]))

    def task(rows: slice) -> tuple[Floats, Floats]:
        stream = batch_stream(key, rows.start)
        weights = stream.standard_exponential((rows.stop - rows.start, ordered.size))
        weights[:, own] = 0.0
        means = weights @ finite / weights.sum(axis=1)
        weights[:, own] = stream.standard_gamma(strength, len(weights))
        weights /= weights.sum(axis=1, keepdims=True)
        cumulative = np.concatenate([np.zeros((len(weights), 1)), np.cumsum(weights, axis=1)], axis=1)
        below = (weights * weight_below(-2 * rope, cumulative)).sum(axis=1)
        above = 1 - (weights * weight_below(2 * rope, cumulative)).sum(axis=1)
        within = np.maximum(1 - above - below, 0.0) if rope else np.zeros(len(weights))
        return np.stack([above, within, below], axis=1), means

    size = max(1, WEIGHTS_PER_TASK // ordered.size)
    parts = run(task, [slice(start, min(start + size, n_draws)) for start in range(0, n_draws, size)])
    draws, differences = (np.concatenate(part) for part in zip(*parts, strict=True))
    return draws, differences
