"""The error of a learner, from splits of the data into training and test rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from fastevals._options import as_flag, check_choice, listed, show
from fastevals.measure.kinds import MetricSpecs
from fastevals.measure.metric_specs import is_greater_better, metric_bounds, parse_metrics
from fastevals.results import check_confidence_level
from fastevals.split.checks import check_same_rows
from fastevals.split.designs import design_splits
from fastevals.split.estimates.corrections import correct_bootstrap_errors
from fastevals.split.estimates.fits import (
    Fit,
    FitTask,
    SplitCounts,
    describe_fit,
    estimate_from_counts,
    make_fits,
    make_split_metrics,
)
from fastevals.split.estimates.results import ErrorEstimate, ErrorEstimates, SplitVariance, interval_about
from fastevals.split.learners import as_learner, run_fits
from fastevals.split.splitters.bootstrap_split import BootstrapSplit

BootstrapMean = Literal[None, "out-of-bag", ".632", ".632+"]


def estimate_error(
    fit_predict: Any,
    X: Any,
    y: Any,
    splitter: Any,
    metrics: Any,
    *,
    groups: ArrayLike | None = None,
    params: Mapping[str, Any] | None = None,
    pos_label: Any = None,
    labels: ArrayLike | None = None,
    training: bool = False,
    method: BootstrapMean = None,
    confidence_level: float = 0.95,
    n_jobs: int | None = None,
    progress: bool = False,
) -> ErrorEstimates:
    """Estimate how well a learner predicts: fit it to the training rows of each split, measure it on the test rows.

    Predictions are counted as they come, and metrics taken of the counts: of each split, whose mean is the value
    (macro), and of all test sets together (micro).

    Parameters
    ----------
    fit_predict : function or estimator
        Called as ``fit_predict(X_train, y_train, X_test, **params)`` for predictions of the test rows; or an object
        with `fit` and `predict` (and, for scores, `predict_proba` or `decision_function`), of which a copy is fitted.
    X, y : data of n_samples rows
        Arrays, frames, sparse matrices or lists, as the learner takes them.
    splitter : splitter
        One of this package; anything with scikit-learn's ``split(X, y, groups)``; or pairs (train, test) of row
        numbers.
    metrics : str, `metric(...)`, function, a sequence of these, or a mapping of names to them
        What to measure. A function is called with the truth and the predictions of the test rows and gives a number. An
        estimator predicts labels and scores, as the metrics need; a function gives one array, so its metrics must be
        all of labels, all of scores or all of numbers.
    groups : array-like of shape (n_samples,), optional
        Rows that belong together, for the splitter.
    params : mapping, optional
        Parameters of the learner.
    pos_label : label, optional
        The positive one of two classes. By default it is the last of `labels`; without these, 1 among 0/1, -1/1 and
        booleans. Of other classes, metrics that need it are an error without it.
    labels : sequence, optional
        All classes and their order, for metrics of predicted labels; by default those of `y`.
    training : bool
        Measure the fit on its training rows too. (They are predicted in the same call as the test rows.)
    method : {None, "out-of-bag", ".632", ".632+"}
        With a `BootstrapSplit`: the value is the mean over the replicates, each on the rows that it did not draw (None
        is the same); or corrected for their being fewer, with one more fit, to all rows.
    confidence_level : float in (0, 1)
        Of the intervals.
    n_jobs : int, optional
        Workers of joblib, -1 for one a CPU; by default all fits are made here.
    progress : bool
        Show a bar (needs tqdm).

    Returns
    -------
    ErrorEstimates
        A mapping from each metric to its `ErrorEstimate`.

    Raises
    ------
    ValueError
        If an argument is not as described, a split has no test rows or rows in both parts, the learner predicts a label
        that `y` has not, or NaN (which functions are given). An error of the learner is raised with a note that
        says in which fit.

    Warns
    -----
    UndefinedMetricWarning
        If a metric is undefined in some splits (an AUC where a fold has one class): they are counted in `n_undefined`
        and left out of the mean.

    Notes
    -----
    The interval is Student's t of Nadeau and Bengio [1]_: with J splits of variance s^2 the variance of their mean is
    taken to be s^2 (1 / J + n_test / n_train), as training sets overlap. For one fixed predictor under repeated
    hold-out that tends to sigma^2 / n, its variance on n rows. It is conservative for the folds of a cross-validation,
    whose test sets do not overlap. No estimator of the variance is unbiased for all data there [2]_. An interval is
    clipped to what the metric can be.

    What the splits hold fixed they don't vary by. Where they are stratified (a splitter says so; folds and pairs of
    other origin show it), the variance that the shares of the classes give the metric is added, from the counts of all
    test sets: of labels, scores and mean losses; that of numbers, functions and medians is for shares as they are.
    Where all splits test the same rows, the variance of the rows is. Where all splits agree, a share of rows (accuracy,
    recall, ...) has Wilson's interval for as many rows as were tested, and others that of the rows where counts tell
    it; else it is NaN, with a warning.

    A corrected bootstrap's value is Efron's .632 or Efron and Tibshirani's .632+ estimate [3]_, which may be above the
    no-information rate where the out-of-bag error is (see `error_632_plus`). Where greater is better
    it is made of distances from the best value. As they propose (section 5), the interval's width is that of the
    out-of-bag estimate times the ratio of the two errors; of a function, whose direction isn't known, it is the
    out-of-bag estimate's. `standard_deviation` is of the replicates.

    Metrics of scores keep the distinct scores of each test set until the end, for the micro average.

    References
    ----------
    .. [1] Nadeau, C. and Bengio, Y. (2003), "Inference for the Generalization Error", Machine Learning 52, 239-281,
       doi:10.1023/A:1024068626366.
    .. [2] Bengio, Y. and Grandvalet, Y. (2004), "No Unbiased Estimator of the Variance of K-Fold Cross-Validation",
       JMLR 5, 1089-1105.
    .. [3] Efron, B. and Tibshirani, R. (1997), "Improvements on Cross-Validation: The .632+ Bootstrap Method", JASA 92,
       548-560, doi:10.1080/01621459.1997.10474007.

    Examples
    --------
    A learner that predicts the commoner class, of as many rows of each: leaving one out, it is always wrong.

    >>> from fastevals import KFold, LeaveOneOut, estimate_error
    >>> majority = lambda X_train, y_train, X_test: [int(2 * sum(y_train) > len(y_train))] * len(X_test)
    >>> X, y = list(range(100)), [0, 1] * 50
    >>> estimate_error(majority, X, y, LeaveOneOut(), "error_rate")["error_rate"].value
    1.0
    >>> estimate_error(majority, X, y, KFold(10, stratified=True, rng=1), "error_rate")["error_rate"].value
    0.5
    """
    specs = parse_metrics(metrics)
    level, alpha = check_confidence_level(confidence_level)
    check_same_rows(X=X, y=y, groups=groups)
    learner = as_learner("fit_predict", fit_predict, params)
    design = design_splits("splitter", splitter, X, y, groups)
    _check_method(method, isinstance(splitter, BootstrapSplit))
    metric_sets, positive = make_split_metrics(
        specs, "y", y, several=learner.is_estimator, pos_label=pos_label, labels=labels
    )
    if method == ".632+":
        _check_no_information([name for each in metric_sets if not each.knows_no_information for name in each.names])
    task = FitTask(X, y, metric_sets, positive, as_flag("training", training))
    resubstitution = [Fit(learner, None, None, "all rows")] if method in (".632", ".632+") else []
    counted = list(
        run_fits(
            task, chain(make_fits(learner, design), resubstitution), total=design.n_splits + len(resubstitution),
            describe=describe_fit, n_jobs=n_jobs, progress=as_flag("progress", progress),
        )
    )  # fmt: skip
    whole = counted.pop() if resubstitution else None
    sizes = [each.n_train for each in counted], [each.n_test for each in counted]
    estimates, variances = estimate_from_counts(metric_sets, counted, design, specs, alpha, splitter)
    if whole is not None:
        estimates |= _with_corrections(estimates, specs, variances, whole, str(method))
    matrices = metric_sets[0].matrices([each.test[0] for each in counted], design.shape)
    n_train, n_test = (np.reshape(each, design.shape) for each in sizes)
    in_order = {name: estimates[name] for name in specs}
    return ErrorEstimates(
        in_order, n_train, n_test, matrices, splitter, method, level, labels=metric_sets[0].labels, pos_label=positive
    )


def _with_corrections(
    estimates: Mapping[str, ErrorEstimate],
    specs: MetricSpecs,
    variances: Sequence[SplitVariance],
    whole: SplitCounts,
    method: str,
) -> dict[str, ErrorEstimate]:
    """Return the estimates with the .632 or the .632+ value in place of the mean over the replicates."""
    changed = {}
    for variance, counts, predicted in zip(variances, whole.test, whole.predicted or (), strict=True):
        metrics = variance.metrics
        resubstitution = metrics.values([counts])[:, 0].tolist()
        rates = metrics.no_information(predicted).tolist()
        for name, err, rate in zip(metrics.names, resubstitution, rates, strict=True):
            estimate, bounds, greater = estimates[name], metric_bounds(specs[name]), is_greater_better(specs[name])
            best = bounds[1] if greater else None
            parts = correct_bootstrap_errors(err, estimate.value, rate, best)
            value = parts.error_632_plus if method == ".632+" else parts.error_632
            interval = estimate.confidence_interval
            if not np.isnan(interval.low):
                losses = [each if best is None else best - each for each in (value, estimate.value)]
                ratio = abs(losses[0] / losses[1]) if losses[1] and greater is not None else 1.0
                margin = variance.margin(name, estimate.per_split)
                below, above = (margin, margin) if margin else np.abs(np.subtract(interval, estimate.value)).tolist()
                interval = interval_about(value, ratio * below, ratio * above, bounds)
            changed[name] = replace(estimate, value=value, confidence_interval=interval, bootstrap=parts)
    return changed


# Checks ---------------------------------------------------------------------------------------------------------------


def _check_method(method: Any, bootstrap: bool) -> None:
    """Raise unless estimates can be made by this method: all but None go with a bootstrap."""
    if method is not None and not bootstrap:
        legal = listed(get_args(BootstrapMean)[1:])
        raise ValueError(
            f"method goes with a BootstrapSplit ({legal}); with other splitters it must be None, got {show(method)}"
        )
    check_choice("method", method, BootstrapMean)


def _check_no_information(metrics: list[str]) -> None:
    """Raise if there are metrics that have no no-information rate."""
    if metrics:
        raise ValueError(
            "method='.632+' needs what a metric is if predictions say nothing, which isn't known of "
            f"{listed(metrics)}: choose '.632'"
        )
