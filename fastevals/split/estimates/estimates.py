"""Estimate the error of a learner from splits of the data into training and test rows."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from fastevals._choices import OnError
from fastevals._options import as_flag, check_choice, listed, show
from fastevals.measure.kinds import MetricSpecs
from fastevals.measure.metric_specs import is_greater_better, metric_bounds, parse_metrics
from fastevals.results import check_confidence_level
from fastevals.split.checks import check_same_rows, n_rows
from fastevals.split.designs import design_splits
from fastevals.split.estimates.corrections import correct_bootstrap_errors
from fastevals.split.estimates.fits import (
    Fit,
    FitTask,
    SplitCounts,
    describe_fit,
    estimate_from_counts,
    failed_splits,
    make_fits,
    make_split_metrics,
    split_sizes,
)
from fastevals.split.estimates.intervals import Data, ErrorInterval, prepare_interval
from fastevals.split.estimates.results import ErrorEstimate, ErrorEstimates, SplitVariance, interval_about
from fastevals.split.learners import Failure, as_learner, run_fits
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
    interval: ErrorInterval = "corrected-t",
    on_error: OnError = "missing",
    confidence_level: float = 0.95,
    n_jobs: int | None = None,
    progress: bool = False,
) -> ErrorEstimates:
    """Estimate a learner's error by fitting it to the training rows of each split and measuring it on the test rows.

    Each metric is computed for each split, with the mean over splits as its value (macro), and for all test sets pooled
    (micro). Only counts of predictions are kept, not the predictions.

    Parameters
    ----------
    fit_predict : function or estimator
        A function called as ``fit_predict(X_train, y_train, X_test, **params)``, which returns predictions of the test
        rows. Or an object with `fit` and `predict` (for scores, also `predict_proba` or `decision_function`); only
        copies of it are fitted.
    X, y : data of n_samples rows
        Arrays, frames, sparse matrices or lists, in the form that the learner accepts.
    splitter : splitter
        A splitter of this package; any object with a method ``split(X, y, groups)`` like scikit-learn's; or pairs
        (train, test) of row numbers.
    metrics : str, `metric(...)`, function, a sequence of these, or a mapping of names to them
        Metrics to compute. A function is called with the truth and the predictions of the test rows, and must return a
        number. An estimator predicts both labels and scores if the metrics need both. A function `fit_predict` returns
        only one array, so its metrics must all be for labels, all for scores or all for numbers.
    groups : array-like of shape (n_samples,), optional
        The group of each row, if rows are clustered; passed to the splitter.
    params : mapping, optional
        Parameters of the learner.
    pos_label : label, optional
        The positive class, if there are two. By default it is the last of `labels` or, if these are not given, 1 for
        labels 0/1, -1/1 and booleans. For other classes, metrics that need a positive class raise an error without it.
    labels : sequence, optional
        All classes in order, for metrics of predicted labels; by default the classes in `y`.
    training : bool
        Whether to measure each fit on its training rows too. (They are predicted in the same call as the test rows.)
    method : {None, "out-of-bag", ".632", ".632+"}
        Method of the estimate with a `BootstrapSplit`. "out-of-bag" (or None) is the mean over replicates, each
        measured on the rows that it did not draw. ".632" and ".632+" correct this mean for the smaller number of
        distinct training rows, with one more fit to all rows.
    interval : {"corrected-t", "conservative-z", "nested-cv", "infinitesimal-jackknife", "cv-wald"}
        Method of the intervals; see Notes for what they cover. "corrected-t" takes any splits. "conservative-z" takes a
        `HoldOut` that tests less than half of the rows, and makes 20 more fits per hold-out. "nested-cv" takes a
        `KFold` with K folds, and makes K (K - 1) / 2 more fits per repetition (choose 10 or more repetitions).
        "infinitesimal-jackknife" takes a `BootstrapSplit`. "cv-wald" takes splits that test each row once per
        repetition, such as `KFold` and `LeaveOneOut`. The last three need metrics that are means over rows,
        independent rows (no `groups`) and, except for "cv-wald", splits that are not stratified.
    on_error : {"missing", "raise"}
        What to do if the learner raises an error. "missing" leaves out the split, with a warning, and goes on; the
        result has NaN for it in `per_split`, and the error in `errors`. If all fits fail, the first error is raised.
        So is any error if `interval` is not "corrected-t", because the other methods need all fits.
    confidence_level : float in (0, 1)
        Confidence level of the intervals.
    n_jobs : int, optional
        Number of joblib workers, or -1 for one per CPU. By default all fits run in this process.
    progress : bool
        Whether to show a progress bar (needs tqdm).

    Returns
    -------
    ErrorEstimates
        A mapping from each metric to its `ErrorEstimate`.

    Raises
    ------
    ValueError
        If an argument is not as described; if a split has no test rows, or a row in both parts; or if the learner
        predicts a label that `y` lacks, or NaN (allowed if all metrics are functions). An error of the learner, if
        raised, gets a note that names the fit.

    Warns
    -----
    UndefinedMetricWarning
        If a metric is undefined in some splits, like the AUC of a fold with only one class, or if fits failed. These
        splits are left out of the mean and counted in `n_undefined`.

    Notes
    -----
    The usual interval is Nadeau and Bengio's version of Student's t [1]_. With J splits of variance s^2, the variance
    of their mean is taken to be s^2 (1 / J + n_test / n_train), because training sets overlap. For one fixed predictor
    under repeated hold-out, this variance tends to sigma^2 / n, the variance of the predictor's metric on n rows. For
    the folds of a cross-validation, whose test sets do not overlap, this variance is conservative; no estimator of the
    variance of cross-validation is unbiased for all data [2]_. Intervals are clipped to the range of the metric.

    Some variance does not show between splits, because the splits hold its source fixed. This hidden variance is
    computed from the counts of all test sets and added. For stratified splits, it is the variance due to the class
    shares. It is computed for metrics of labels, metrics of scores, and mean losses. For all others (metrics of
    numbers, medians, functions), the interval is conditional on the class shares. (Splits not made by our splitters
    count as stratified if their class shares are more alike than chance explains.) If all splits test the same rows,
    the hidden variance is the variance due to rows. If all splits have the same value, the interval of a share of rows
    (accuracy, recall, ...) is Wilson's for the number of tested rows. The interval of any other metric then uses the
    variance due to rows if counts determine this variance; otherwise the interval is NaN, with a warning.

    The value of a corrected bootstrap is Efron's .632 or Efron and Tibshirani's .632+ estimate [3]_, which may exceed
    the no-information rate if the out-of-bag error does (see `error_632_plus`). If greater is better, the estimate is
    computed from distances to the best value of the metric. As in section 5 of [3]_, the interval's width is the width
    of the out-of-bag estimate's interval times the ratio of the corrected error to the out-of-bag error. For a
    function, whose direction is unknown, the interval has the same width as the out-of-bag estimate's interval.
    `standard_deviation` is over the replicates.

    The other intervals are normal. "conservative-z" [1]_ halves the rows 10 times at random, and measures the learner
    on each half with the same number of hold-outs and test rows. Two halves share no rows, so the differences between
    them show the variance, although for half as many rows. "nested-cv" [4]_ compares the error in each fold with the
    cross-validated error within the other folds. From the differences, it estimates the mean squared error of
    cross-validation, and also the bias due to the smaller training sets; the bias is subtracted from `value`. "cv-wald"
    [5]_ uses the variance of the metric over all test rows, divided by their number. "infinitesimal-jackknife" [3]_
    computes the variance of the out-of-bag mean from how the mean changes with the weights of rows, for which the
    number of drawn copies suffices; for .632 and .632+ the width is scaled as above. The variance is noisy unless there
    are several replicates per row.

    A learner has two errors: the error of the fit to these rows, and its mean over training sets of this size.
    "corrected-t" and "conservative-z" are for the latter, because their variance includes the training sets'; "cv-wald"
    is for the mean error of the K fits themselves; "nested-cv" is for either. All methods but "nested-cv" and ".632"
    estimate the error for the number of rows in a training part, not for all rows. In simulations with 100 rows, 95 %
    intervals contained the mean error in 98 % of data sets with "corrected-t" and 10 folds, 97 % with "conservative-z",
    95 % with "nested-cv" and 10 repetitions, 92 % with "cv-wald" and 10 repetitions, and 91 % with the jackknife. See
    "Coverage" in the documentation.

    For the micro average, metrics of scores keep the distinct scores of each test set in memory until the end.

    References
    ----------
    .. [1] Nadeau, C. and Bengio, Y. (2003), "Inference for the Generalization Error", Machine Learning 52, 239-281,
       doi:10.1023/A:1024068626366.
    .. [2] Bengio, Y. and Grandvalet, Y. (2004), "No Unbiased Estimator of the Variance of K-Fold Cross-Validation",
       JMLR 5, 1089-1105.
    .. [3] Efron, B. and Tibshirani, R. (1997), "Improvements on Cross-Validation: The .632+ Bootstrap Method", JASA 92,
       548-560, doi:10.1080/01621459.1997.10474007.
    .. [4] Bates, S., Hastie, T. and Tibshirani, R. (2024), "Cross-Validation: What Does It Estimate and How Well Does
       It Do It?", JASA 119, 1434-1445, doi:10.1080/01621459.2023.2197686.
    .. [5] Bayle, P., Bayle, A., Janson, L. and Mackey, L. (2020), "Cross-Validation Confidence Intervals for Test
       Error", NeurIPS 33, 16339-16350.

    Examples
    --------
    If two classes have equally many rows, a learner that predicts the most frequent class is always wrong in
    leave-one-out:

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
    check_choice("on_error", on_error, OnError)
    design = design_splits("splitter", splitter, X, y, groups)
    _check_method(method, isinstance(splitter, BootstrapSplit))
    metric_sets, positive = make_split_metrics(
        specs, "y", y, several=learner.is_estimator, pos_label=pos_label, labels=labels
    )
    if method == ".632+":
        _check_no_information([name for each in metric_sets if not each.knows_no_information for name in each.names])
    intervals = prepare_interval(interval, splitter, design, metric_sets, Data(y, groups, n_rows("X", X)))
    task = FitTask(
        X, y, metric_sets, positive, as_flag("training", training), intervals is not None and intervals.needs_row_values
    )
    resubstitution = [Fit(learner, None, None, "all rows")] if method in (".632", ".632+") else []
    more = () if intervals is None else intervals.fits(learner)
    kept: Any = "of learners" if on_error == "missing" and intervals is None else False
    results = run_fits(
        task, chain(make_fits(learner, design), resubstitution, more),
        total=design.n_splits + len(resubstitution) + (0 if intervals is None else intervals.n_fits),
        describe=describe_fit, keep_failures=kept, n_jobs=n_jobs, progress=as_flag("progress", progress),
    )  # fmt: skip
    of_splits = islice(results, design.n_splits)
    counted = list(of_splits if intervals is None else map(intervals.reduce, of_splits))
    whole = next(results) if resubstitution else None
    given = None if intervals is None else intervals.errors(counted, results)
    deque(results, maxlen=0)  # lets the progress bar finish
    failures = failed_splits(counted, design)
    if isinstance(whole, Failure):
        raise whole.noted()
    sizes = split_sizes(counted, design)
    estimates, variances = estimate_from_counts(metric_sets, counted, design, specs, alpha, splitter, given, sizes)
    if whole is not None:
        estimates |= _with_corrections(estimates, specs, variances, whole, str(method))
    matrices = None if failures else metric_sets[0].matrices([each.test[0] for each in counted], design.shape)
    in_order = {name: estimates[name] for name in specs}
    return ErrorEstimates(
        in_order, *sizes, matrices, splitter, method, level, interval, labels=metric_sets[0].labels,
        pos_label=positive, errors={split: each.message for split, each in failures.items()},
    )  # fmt: skip


def _with_corrections(
    estimates: Mapping[str, ErrorEstimate],
    specs: MetricSpecs,
    variances: Sequence[SplitVariance],
    whole: SplitCounts,
    method: str,
) -> dict[str, ErrorEstimate]:
    """Return the estimates with the .632 or .632+ value in place of the mean over the replicates."""
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
    """Raise if a method is given but the splitter is not a `BootstrapSplit`."""
    if method is not None and not bootstrap:
        legal = listed(get_args(BootstrapMean)[1:])
        raise ValueError(
            f"method goes with a BootstrapSplit ({legal}); with other splitters it must be None, got {show(method)}"
        )
    check_choice("method", method, BootstrapMean)


def _check_no_information(metrics: list[str]) -> None:
    """Raise if the no-information rate of a metric is unknown."""
    if metrics:
        raise ValueError(
            "method='.632+' needs the value of a metric without information, which isn't known for "
            f"{listed(metrics)}: choose '.632'"
        )
