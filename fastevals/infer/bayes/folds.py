"""The Bayesian correlated t-test: two learners on one data set."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastevals._options import show, warn_degenerate
from fastevals._validation.tables import (
    Measurements,
    as_measurements,
    as_result_table,
    find_name,
    test_to_train_ratio,
)
from fastevals.infer.bayes.comparison import BayesComparison, StudentPosterior
from fastevals.infer.bayes.pairs import read_options
from fastevals.infer.learners.results import Results
from fastevals.infer.significance.paired import SAME_DIFFERENCES, scaled_differences
from fastevals.infer.significance.t_tests import t_statistic


def bayes_correlated_t(
    results: Any,
    a: Any = None,
    b: Any = None,
    *,
    rope: float,
    dataset: Any = None,
    n_train: int | None = None,
    n_test: int | None = None,
    higher_is_better: bool | None = None,
    confidence_level: float = 0.95,
) -> BayesComparison:
    """Compute how probable it is that one learner is better than another on one data set, from its folds.

    Folds share training rows, so their differences are correlated. The correlation is taken to be the test rows' share
    of all rows, as in the corrected resampled t-test ([1]_, [2]_).

    Parameters
    ----------
    results : Results, mapping of name to array-like or estimate, frame, or array-like of shape (n_splits, n_learners)
        Results of learners (columns) on the same splits (rows) of one data set. `Results` may have several data sets.
    a, b : name, optional
        The two learners; not needed if there are only two.
    rope : float
        Half the width of the region of practical equivalence, in the unit of the metric: differences from -rope to
        rope do not matter in practice. For accuracies, 0.01 is common. With 0, there is no such region.
    dataset : name, optional
        The data set, for `Results` of several.
    n_train, n_test : int, optional
        Numbers of rows in each training and test set, for results without them; only their ratio matters. For ten
        folds, it is 9 to 1.
    higher_is_better : bool, optional
        Whether higher results are better; needed if the metric is unknown.
    confidence_level : float in (0, 1)
        Posterior probability of the interval.

    Returns
    -------
    BayesComparison
        The probabilities, with the posterior distribution.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.

    Warns
    -----
    UndefinedMetricWarning
        If all differences are the same, so that the posterior has no width.

    Notes
    -----
    With a flat prior for the mean and the logarithm of the variance, the posterior of the mean difference is a Student
    distribution with n - 1 degrees of freedom around the mean of the n differences. Its scale is
    ``sqrt((1 / n + n_test / n_train) s**2)``, where s is their standard deviation: the standard error of
    `corrected_resampled_t_test`, so the credible interval equals the confidence interval of that test.

    References
    ----------
    .. [1] Corani, G. and Benavoli, A. (2015), "A Bayesian approach for comparing cross-validated algorithms on multiple
       data sets", Machine Learning 100, 285-304, doi:10.1007/s10994-015-5486-z.
    .. [2] Benavoli, A., Corani, G., Demsar, J. and Zaffalon, M. (2017), "Time for a Change: a Tutorial for Comparing
       Multiple Classifiers Through Bayesian Analysis", JMLR 18(77), 1-36.

    Examples
    --------
    >>> import fastevals
    >>> accuracy = {"new": [0.84, 0.88, 0.83, 0.86, 0.85], "old": [0.82, 0.85, 0.83, 0.83, 0.82]}
    >>> fastevals.bayes_correlated_t(accuracy, rope=0.01, n_train=4, n_test=1, higher_is_better=True)
    BayesComparison('new' better: 0.8790, equivalent: 0.1102, 'old' better: 0.0108, rope=0.01)
    """
    learners, measured = _read_splits(results, dataset)
    first = measured(0)
    asked = read_options(
        learners, a, b, metric=first.metric, known=first.greater_is_better, higher_is_better=higher_is_better,
        rope=rope, confidence_level=confidence_level,
    )  # fmt: skip
    pair = tuple(measured(place) for place in asked.places)
    n = pair[0].values.size
    if n < 2:
        raise ValueError(f"results must have at least 2 splits of the data set, got {n}")
    factor = 1 / n + test_to_train_ratio(n_train, n_test, *pair)
    _, mean, error = t_statistic(scaled_differences(*(each.values for each in pair)), factor)
    posterior = StudentPosterior(n - 1, float(mean), float(error))
    if not posterior.scale:
        warn_degenerate(f"the posterior of the difference between {asked.a} and {asked.b}", SAME_DIFFERENCES)
    return asked.answer_from_posterior("correlated t-test", posterior)


def _read_splits(results: Any, dataset: Any) -> tuple[tuple[Any, ...], Callable[[int], Measurements]]:
    """Return the names of the learners, and a function that returns a learner's measurements on the splits."""
    if isinstance(results, Results):
        if dataset is None and len(results.datasets) > 1:
            raise ValueError(f"dataset must name one of the {len(results.datasets)} data sets, got {show(dataset)}")
        k = 0 if dataset is None else find_name("dataset", dataset, results.datasets)

        def of_dataset(place: int) -> Measurements:
            learner = results.learners[place]
            own = results.of(learner)
            return as_measurements(f"results of {show(learner)}", own[k] if isinstance(own, list) else own)

        return results.learners, of_dataset
    if dataset is not None:
        raise ValueError(f"dataset applies only to Results, so leave it out; got {show(dataset)}")
    table = as_result_table("results", results)
    measured = table.measured
    if measured is not None and measured.splits is None:
        raise ValueError("results must be of the splits of one data set, got a list of estimates, one per data set")

    def of_rows(place: int) -> Measurements:
        values = table.values[:, place]
        return Measurements(values, values.shape) if measured is None else measured._replace(values=values)

    return table.algorithms, of_rows
