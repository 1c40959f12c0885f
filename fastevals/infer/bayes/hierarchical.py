"""The Bayesian hierarchical model: two learners over several data sets, from their folds."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._options import show
from fastevals._random import seed_key
from fastevals.infer.bayes.chains import LEAST_DRAWS, chain_quality, draw_starts, new_streams, run_chains, warn_if_rough
from fastevals.infer.bayes.comparison import BayesComparison
from fastevals.infer.bayes.pairs import Asked, check_draws, correlation_of_folds, read_options
from fastevals.infer.learners.results import Results, as_learner_results
from fastevals.infer.significance.paired import in_own_unit, scaled_differences

Floats = NDArray[np.float64]

TERMS_PER_DATASET = 10
SPREADS_ALLOWED = 1000.0  # largest deviations within and between data sets, as multiples of the observed ones
DATASETS_NAMED = 3  # in a note
SHAPES, RATES = (1.0, 2.0), (0.01, 0.1)  # ends of the uniform priors for the degrees of freedom minus 1


def bayes_hierarchical(
    results: Any,
    a: Any = None,
    b: Any = None,
    *,
    rope: float,
    n_train: int | None = None,
    n_test: int | None = None,
    higher_is_better: bool | None = None,
    confidence_level: float = 0.95,
    n_draws: int = 50_000,
    rng: Any = None,
) -> BayesComparison:
    """Compute how probable it is that one learner is better than another on a new data set, from folds on several.

    The model knows how precise each data set's folds are, and how much data sets differ ([1]_). It answers more
    precisely than `bayes_signed_rank`, which takes one result per data set.

    Parameters
    ----------
    results : Results, or data for `Results`
        Results of learners on the folds of two or more data sets, such as an array of shape (n_datasets, n_learners,
        n_folds) or a frame with a column for folds. Data sets may have different numbers of folds.
    a, b : name, optional
        The two learners; not needed if there are only two.
    rope : float
        Half the width of the region of practical equivalence, in the unit of the metric. With 0, there is no region.
    n_train, n_test : int, optional
        Numbers of rows in each training and test set, for results without them; only their ratio matters. For ten
        folds, it is 9 to 1.
    higher_is_better : bool, optional
        Whether higher results are better; needed if the metric is unknown.
    confidence_level : float in (0, 1)
        Posterior probability of the interval.
    n_draws : int
        Number of draws from the posterior, at least 400, shared by four chains.
    rng : None, int, sequence of int, SeedSequence, BitGenerator or Generator
        The seed.

    Returns
    -------
    BayesComparison
        The probabilities and draws, with R-hat and the effective number of draws. `effect` is the mean difference over
        data sets.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.

    Warns
    -----
    ConvergenceWarning
        If R-hat is above 1.01, or the effective number of draws below 400.

    Notes
    -----
    The differences of a data set's folds are normal with mean d_i, standard deviation s_i and correlation rho, the test
    rows' share of all rows. The d_i have a Student distribution around the mean difference, with a scale and degrees of
    freedom. Priors are those of [1]_ and of baycomp: uniform for the mean (within the largest absolute difference), the
    scale and the s_i (up to 1000 times the deviations in the data); the degrees of freedom minus 1 have a gamma
    distribution, whose shape and rate are uniform on [1, 2] and [0.01, 0.1].

    In each draw, the shares above, within and below the rope are probabilities of this Student distribution: of the
    difference on a new data set. `a_better` is the probability that the share for a is the largest of the three.

    Chains are sampled by Gibbs steps and by slice steps. They mix well because the d_i are integrated out for mean and
    scale, and the Student distribution's weights for its degrees of freedom. R-hat and the effective number are
    computed from ranks ([2]_).

    A data set whose differences are all the same gets the deviation of a uniform distribution on the rope, and a note
    says so; baycomp also replaces its differences by noise.

    References
    ----------
    .. [1] Corani, G., Benavoli, A., Demsar, J., Mangili, F. and Zaffalon, M. (2017), "Statistical comparison of
       classifiers through Bayesian hierarchical modelling", Machine Learning 106, 1817-1837,
       doi:10.1007/s10994-017-5641-9.
    .. [2] Vehtari, A., Gelman, A., Simpson, D., Carpenter, B. and Burkner, P.-C. (2021), "Rank-normalization, folding,
       and localization: an improved R-hat", Bayesian Analysis 16, 667-718, doi:10.1214/20-BA1221.

    Examples
    --------
    >>> import numpy as np
    >>> import fastevals
    >>> rng = np.random.default_rng(0)
    >>> folds = 0.8 + np.stack([rng.normal(0.03, 0.02, (6, 10)), rng.normal(0, 0.02, (6, 10))], axis=1)
    >>> results = fastevals.Results(folds, learner=["new", "old"], metric="accuracy", n_train=90, n_test=10)
    >>> found = fastevals.bayes_hierarchical(results, rope=0.01, rng=0)
    >>> found.a_better > 0.9
    True
    """
    given = as_learner_results("results", results)
    asked = read_options(
        given.learners, a, b, metric=given.metric, known=given.greater_is_better, higher_is_better=higher_is_better,
        rope=rope, confidence_level=confidence_level,
    )  # fmt: skip
    n_draws, key = check_draws(n_draws, LEAST_DRAWS), seed_key("rng", rng)
    data = _read_folds(given, asked, correlation_of_folds(given, n_train, n_test))
    drawn = _sample(data, n_draws, key)
    r_hat, effective = chain_quality(drawn)
    warn_if_rough("the hierarchical model", r_hat, effective)
    mean, spread, df = drawn.reshape(-1, 3)[:n_draws].T
    draws = _shares(mean, spread, df, asked.rope / data.unit)
    return asked.answer_from_draws(
        "hierarchical model", draws, mean * data.unit, len(given.datasets), r_hat=r_hat, n_effective=effective,
        notes=(*given.notes, *data.notes),
    )  # fmt: skip


class _FoldSums(NamedTuple):
    """What the likelihood depends on, for each data set: in units of the mean deviation within data sets."""

    means: Floats
    squares: Floats  # sums of squared deviations from the mean, over 1 - rho
    sizes: Floats
    factors: Floats  # variance of the mean in variances of a fold
    largest: float  # absolute difference
    among: float  # deviation of the means
    unit: float
    notes: tuple[str, ...]


def _read_folds(results: Results, asked: Asked, rho: Floats) -> _FoldSums:
    """Return the means and sums of squares of the differences on each data set."""
    n_datasets = len(results.datasets)
    if n_datasets < 2:
        raise ValueError(
            f"results must have at least 2 data sets, got {n_datasets}; use bayes_correlated_t for one data set"
        )
    differences = []
    for dataset, values in zip(results.datasets, results.values, strict=True):
        first, second = (values[place].ravel() for place in asked.places)
        both = ~(np.isnan(first) | np.isnan(second))
        if np.count_nonzero(both) < 2:
            raise ValueError(
                f"results must have at least 2 folds of both learners on each data set, got {np.count_nonzero(both)} "
                f"on {show(dataset)}; use bayes_signed_rank for one result per data set, or Results with "
                "missing='drop-dataset' to leave out data sets without results"
            )
        scaled = scaled_differences(first[both], second[both])
        differences.append(np.asarray(in_own_unit(scaled.values, scaled.exponent)))
    largest = max(float(np.abs(each).max()) for each in differences) or asked.rope
    if not largest:
        raise ValueError("rope must be above 0 if all differences are 0")
    rope, differences = asked.rope / largest, [each / largest for each in differences]
    sizes = np.array([each.size for each in differences], dtype=np.float64)
    means = np.array([each.mean() for each in differences])
    squares = np.array([((each - mean) ** 2).sum() for each, mean in zip(differences, means, strict=True)])
    constant = np.array([(each == each[0]).all() for each in differences])
    notes: tuple[str, ...] = ()
    if constant.any():
        names = ", ".join(show(results.datasets[k]) for k in np.flatnonzero(constant)[:DATASETS_NAMED])
        if not rope:
            raise ValueError(f"rope must be above 0 if the differences of a data set are all the same, as on {names}")
        squares[constant] = sizes[constant] * rope**2 / 3
        notes = (
            f"All differences are the same on {np.count_nonzero(constant)} of {n_datasets} data sets ({names}): their "
            "deviation is taken from a uniform distribution on the rope.",
        )
    deviations = np.sqrt(squares / sizes)
    unit = float(deviations.mean())
    return _FoldSums(
        means / unit, squares / unit**2 / (1 - rho), sizes, (1 + (sizes - 1) * rho) / sizes, 1 / unit,
        float(means.std()) / unit or 1.0, largest * unit, notes,
    )  # fmt: skip


def _sample(data: _FoldSums, n_draws: int, key: np.uint64) -> Floats:
    """Return draws of mean, spread and degrees of freedom, of shape (n_chains, n_draws, 3)."""
    from fastevals._kernels.hierarchical import sample_hierarchical

    limits = np.array([data.largest, SPREADS_ALLOWED * data.among, SPREADS_ALLOWED**-2.0])
    priors, streams, states = np.array([*SHAPES, *RATES]), new_streams(key), []
    for away in draw_starts(key, 3):
        mean = np.clip(data.means.mean() + away[0] * data.among, -0.9 * data.largest, 0.9 * data.largest)
        spread, df = data.among * 4 ** away[1], 1 + 10 ** (1 + away[2])
        states.append(np.array([mean, spread, df, np.mean(SHAPES), np.mean(RATES)]))
    latent = np.stack([data.sizes / data.squares, np.ones(data.means.size)])
    latents = [latent.copy() for _ in states]

    def advance(chain: int, drawn: Floats) -> None:
        sample_hierarchical(
            data.means, data.squares, data.sizes, data.factors, limits, priors, states[chain], latents[chain],
            streams[chain], drawn,
        )  # fmt: skip

    return run_chains(advance, n_draws, 3, TERMS_PER_DATASET * data.means.size, sample_hierarchical)


def _shares(mean: Floats, spread: Floats, df: Floats, rope: float) -> Floats:
    """Return each draw's shares of data sets above, within and below the rope."""
    from scipy.special import stdtr

    above, below = stdtr(df, (mean - rope) / spread), stdtr(df, (-rope - mean) / spread)
    within = np.maximum(1 - above - below, 0.0) if rope else np.zeros(mean.size)
    return np.stack([above, within, below], axis=1)
