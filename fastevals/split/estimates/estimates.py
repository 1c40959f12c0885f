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

    Predictions are counted as they come, and metrics are computed from the counts: for each split, with their mean as
    the value (macro), and for all test sets pooled (micro).

    Parameters
    ----------
    fit_predict : function or estimator
        Called as ``fit_predict(X_train, y_train, X_test, **params)`` for predictions of the test rows; or an object
        with `fit` and `predict` (and, for scores, `predict_proba` or `decision_function`), whose copies are fitted.
    X, y : data of n_samples rows
        Arrays, frames, sparse matrices or lists, as the learner takes them.
    splitter : splitter
        A splitter of this package; any object with scikit-learn's ``split(X, y, groups)``; or pairs (train, test) of
        row numbers.
    metrics : str, `metric(...)`, function, a sequence of these, or a mapping of names to them
        Metrics to compute. A function is called with the truth and the predictions of the test rows and returns a
        number. An estimator predicts labels and scores, as the metrics need; a function `fit_predict` returns one
        array, so its metrics must be all of labels, all of scores or all of numbers.
    groups : array-like of shape (n_samples,), optional
        The group of each row, for clustered rows; the splitter uses it.
    params : mapping, optional
        Parameters of the learner.
    pos_label : label, optional
        The positive one of two classes. By default it is the last of `labels` or, without these, 1 for labels 0/1,
        -1/1 and booleans. For other classes, metrics that need it raise an error without it.
    labels : sequence, optional
        All classes and their order, for metrics of predicted labels; by default those of `y`.
    training : bool
        Measure the fit on its training rows too. (They are predicted in the same call as the test rows.)
    method : {None, "out-of-bag", ".632", ".632+"}
        With a `BootstrapSplit`: "out-of-bag" (as None) is the mean over the replicates, each on the rows that it did
        not draw. The others correct it for the fewer distinct training rows, with one more fit, to all rows.
    confidence_level : float in (0, 1)
        Level of the intervals.
    n_jobs : int, optional
        Number of joblib workers, -1 for one per CPU; by default all fits run in this process.
    progress : bool
        Show a bar (needs tqdm).

    Returns
    -------
    ErrorEstimates
        A mapping from each metric to its `ErrorEstimate`.

    Raises
    ------
    ValueError
        If an argument is not as described, a split has no test rows or rows in both parts, or the learner predicts a
        label that `y` lacks, or NaN (which only functions take). An error of the learner is raised with a note that
        says in which fit.

    Warns
    -----
    UndefinedMetricWarning
        If a metric is undefined in some splits (an AUC where a fold has one class): they are counted in `n_undefined`
        and left out of the mean.

    Notes
    -----
    The interval is Nadeau and Bengio's version of Student's t [1]_. With J splits of variance s^2, the variance of
    their mean is taken to be s^2 (1 / J + n_test / n_train), because training sets overlap. For one fixed predictor
    under repeated hold-out it tends to sigma^2 / n, its variance on n rows. For the folds of a cross-validation, whose
    test sets do not overlap, it is conservative; no estimator of their variance is unbiased for all data [2]_.
    Intervals are clipped to the range of the metric.

    Splits don't vary by what they hold fixed, so this variance is added from the counts of all test sets. For
    stratified splits (a splitter says so; folds and pairs of other origin show it), it is the variance due to the class
    shares, for metrics of labels and scores and mean losses; intervals of metrics of numbers, functions and medians are
    conditional on the shares. If all splits test the same rows, it is the variance of the rows. If all splits agree, a
    share of rows (accuracy, recall, ...) has Wilson's interval for the number of tested rows, and other metrics use the
    variance of the rows if counts give it; otherwise the interval is NaN, with a warning.

    The value of a corrected bootstrap is Efron's .632 or Efron and Tibshirani's .632+ estimate [3]_, which may exceed
    the no-information rate where the out-of-bag error does (see `error_632_plus`). If greater is better, it is computed
    from distances to the best value. As they propose (section 5), the width of the interval is the out-of-bag
    estimate's, times the ratio of the two errors; for a function, whose direction isn't known, it is the out-of-bag
    estimate's. `standard_deviation` describes the replicates.

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
    A learner that predicts the more frequent class is always wrong in leave-one-out if both classes have as many rows:

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
    """Return the estimates with the .632 or .632+ value instead of the mean over the replicates."""
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
    """Raise unless this method can make estimates: all methods but None need a bootstrap."""
    if method is not None and not bootstrap:
        legal = listed(get_args(BootstrapMean)[1:])
        raise ValueError(
            f"method goes with a BootstrapSplit ({legal}); with other splitters it must be None, got {show(method)}"
        )
    check_choice("method", method, BootstrapMean)


def _check_no_information(metrics: list[str]) -> None:
    """Raise if metrics have no no-information rate."""
    if metrics:
        raise ValueError(
            "method='.632+' needs the value of a metric without information, which isn't known for "
            f"{listed(metrics)}: choose '.632'"
        )
