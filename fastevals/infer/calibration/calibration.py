"""Measure whether predicted probabilities match what happens: the call, from arrays or counts to results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._execution import run
from fastevals._options import show, warn_undefined
from fastevals._validation.arrays import (
    Floats,
    Models,
    OneModel,
    as_frequencies,
    as_predictions,
    as_weights,
    check_finite,
    check_one_weight,
    check_probabilities,
    check_same_length,
    is_summary,
    refuse_weighted,
)
from fastevals._validation.labels import binary_labels
from fastevals.counting.groups import code_groups
from fastevals.counting.keys import as_group_keys, as_list, key_columns, key_names
from fastevals.counting.ordering import BinaryLabels
from fastevals.infer.calibration.calibrations import Calibration, CalibrationComparison, CalibrationSegments
from fastevals.infer.calibration.comparison import compare_paired
from fastevals.infer.calibration.estimates import Settings, measure
from fastevals.infer.calibration.forecasts import CountedForecasts, Forecasts, RowForecasts
from fastevals.infer.significance.corrections import adjust_pvalues
from fastevals.infer.significance.paired import compared_pairs
from fastevals.measure.metric_specs import metric
from fastevals.measure.probability_metrics import Strategy, checked_bins, require_probabilities
from fastevals.measure.ranking.ranking import ranking_of_rows
from fastevals.results import check_confidence_level

SEGMENT = "segment"  # name of the column of keys if `by` has none


@overload
def calibration(
    y_true: Any,
    y_prob: Models,
    *,
    by: Any = ...,
    groups: ArrayLike | None = ...,
    sample_weight: ArrayLike | None = ...,
    frequency_weight: ArrayLike | None = ...,
    pos_label: Any = ...,
    reference: Any = ...,
    confidence_level: float = ...,
    n_bins: int = ...,
    strategy: Strategy = ...,
) -> CalibrationComparison: ...
@overload
def calibration(
    y_true: Any,
    y_prob: OneModel | None = ...,
    *,
    by: Any = ...,
    groups: ArrayLike | None = ...,
    sample_weight: ArrayLike | None = ...,
    frequency_weight: ArrayLike | None = ...,
    pos_label: Any = ...,
    reference: Any = ...,
    confidence_level: float = ...,
    n_bins: int = ...,
    strategy: Strategy = ...,
) -> Calibration: ...
def calibration(
    y_true: Any,
    y_prob: Any = None,
    *,
    by: Any = None,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    frequency_weight: ArrayLike | None = None,
    pos_label: Any = None,
    reference: Any = None,
    confidence_level: float = 0.95,
    n_bins: int = 10,
    strategy: Strategy = "quantile",
) -> Calibration | CalibrationComparison:
    """Measure whether predicted probabilities match what happens, with intervals, tests and words.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,), or Ranking, ThresholdCounts, RankingSummary or ProbabilitySummary
        Labels of two classes: numbers, booleans or strings. Alternatively, pass the counts of one model, and no
        `y_prob`.
    y_prob : array-like of shape (n_samples,) or (n_models, n_samples), mapping of name to array-like, or frame
        Probabilities of the positive class, in [0, 1], of one model or of several: one row, entry or column per model.
    by : array-like of shape (n_samples,), or mapping of name to array-like, or frame, optional
        Segment of each row, such as a product or a month; the same numbers are computed for each segment. With several
        columns, each combination of values that occurs is a segment.
    groups : array-like of shape (n_samples,), optional
        Cluster of each row, such as a customer: rows of a cluster may depend on each other, but clusters must be
        independent.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights, not negative. Each row is one observation. Rows of weight zero are left out.
    frequency_weight : array-like of shape (n_samples,), optional
        Number of copies of each row: integers. Not allowed with `sample_weight`.
    pos_label : label, optional
        The positive class: by default 1 for labels 0/1, -1/1 and booleans; required for other labels.
    reference : name or int, optional
        The model to compare the others with; by default all pairs are compared.
    confidence_level : float in (0, 1)
        Level of the intervals; conclusions are at level ``1 - confidence_level``.
    n_bins : int
        Number of bins of `Calibration.bins`.
    strategy : {"quantile", "uniform"}
        Bins of equal mass or of equal width.

    Returns
    -------
    Calibration or CalibrationComparison
        A `Calibration` for one model; for a mapping, frame or 2-D array, a mapping from model to `Calibration` with
        the differences between models.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen. Also if a summary knows
        scores only in ranges.

    Warns
    -----
    UndefinedMetricWarning
        If the ratio, the intercept or the slope is undefined: with one class, with equal probabilities, if a threshold
        separates the classes, or if a row contradicts a probability of 0 or 1. Segments do not warn: their cautions
        say why.

    Notes
    -----
    - The ratio is the sum of probabilities divided by the number of positives, and its interval is symmetric on the log
      scale. It describes new rows from the same population, so both sums vary.
    - Intercept and slope are maximum-likelihood fits of the log-odds of a positive to the log-odds of the probability.
      Rows with probability 0 or 1 add nothing if the outcome agrees.
    - Standard errors come from the one-step jackknife over rows or clusters, so they hold for weights, for clusters and
      for miscalibrated models. Quantiles are Student's t. The degrees of freedom are the number of rows or clusters
      minus 1. For the slope, they are also at most the number of rows of the rarer class whose probability is neither 0
      nor 1, minus 1. With unequal weights there are fewer degrees of freedom, because Kish's effective number of rows
      is used.
    - Spiegelhalter's z is ``sum(w (y - p) (1 - 2 p))`` divided by its standard deviation under calibration,
      ``sqrt(sum(w**2 (1 - 2 p)**2 p (1 - p)))`` for weights w; with clusters, by the root of the sum of squares of the
      clusters' sums. It is above 0 if the Brier score is higher than the probabilities imply.
    - The intervals are rough with fewer than 50 rows of the rarer class (an effective number, for weights), and
      Spiegelhalter's test rejects too often with fewer than 50 clusters; `cautions` then says so. The coverage page has
      the simulations.

    The time is linear in the number of rows after sorting. For one model without weights, clusters and segments, the
    call needs about 40 bytes per row beyond the input; the result keeps 24 bytes per distinct probability for its bins.
    Otherwise rows are not sorted until bins are requested. The call then needs about 10 bytes per row, plus 8 for each
    further model, 8 for weights and 4 for clusters (the result keeps all of these), and 80 bytes per cluster and model.
    `by` takes 60 bytes per row.

    References
    ----------
    .. [1] Cox, D. R. (1958), "Two Further Applications of a Model for Binary Regression", Biometrika 45, 562-565,
       doi:10.1093/biomet/45.3-4.562. (Intercept and slope.)
    .. [2] Spiegelhalter, D. J. (1986), "Probabilistic Prediction in Patient Management and Clinical Trials", Statistics
       in Medicine 5, 421-433, doi:10.1002/sim.4780050506.
    .. [3] Van Calster, B. et al. (2019), "Calibration: the Achilles Heel of Predictive Analytics", BMC Medicine 17,
       230, doi:10.1186/s12916-019-1466-7.
    .. [4] Bell, R. M. and McCaffrey, D. F. (2002), "Bias Reduction in Standard Errors for Linear Regression with
       Multi-Stage Samples", Survey Methodology 28, 169-181. (The jackknife over clusters.)

    Examples
    --------
    >>> import fastevals
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> p = rng.beta(1, 9, 5000)
    >>> y = rng.random(5000) < 1.3 * p
    >>> found = fastevals.calibration(y, {"credit": p})["credit"]
    >>> found.ratio
    CalibrationEstimate(0.7751, [0.7243, 0.8295], standard_error=0.0268, p=2.07e-13)
    >>> found.conclusion.partition(";")[0]
    'credit expects 497 positives'
    """
    bins = checked_bins(n_bins, strategy)
    settings = Settings(check_confidence_level(confidence_level)[0], (bins["n_bins"], bins["strategy"]), None)
    options = {
        "by": by, "groups": groups, "sample_weight": sample_weight, "frequency_weight": frequency_weight,
        "pos_label": pos_label, "reference": reference,
    }  # fmt: skip
    if y_prob is None:
        for name, value in options.items():
            if value is not None:
                raise ValueError(f"{name} requires y_true and y_prob; got it with a {type(y_true).__name__}")
        counted, positive = _of_subject(y_true)
        (found,), _ = measure(counted, [None], settings._replace(pos_label=positive))
        _warn_undefined(found)
        return found
    labels = BinaryLabels(*binary_labels("y_true", y_true, pos_label))
    labelled, names, several = as_predictions("y_prob", y_prob)
    if names is None and several and len(labelled) == labels.values.shape[0] and labelled["y_prob[0]"].size == 2:
        raise ValueError(
            "y_prob must have one probability per row, got the 2 columns of predict_proba: pass y_prob[:, 1]"
        )
    if not several and reference is not None:
        raise ValueError(f"reference requires several models, got {show(reference)} and the probabilities of one")
    check_same_length(y_true=labels.values, **labelled)
    for name, values in labelled.items():
        check_finite(name, values)
        check_probabilities(name, values.min(), values.max())
    settings = settings._replace(pos_label=labels.positive)
    models: list[Any] = list(range(len(labelled)) if names is None else names) if several else [None]
    pairs = compared_pairs(tuple(models), reference) if several else np.empty((0, 2), dtype=np.intp)
    segments = None if by is None else Segments.of(by, labels.values)
    rows, kept = _rows_of(labels, list(labelled.values()), groups, sample_weight, frequency_weight)
    forecasts = rows if several or segments is not None else rows.reduced()
    if forecasts is rows:  # the result keeps the rows, whatever the caller does to the arrays
        forecasts = rows = replace(rows, p=tuple(map(np.copy, rows.p)))
    results, spread = measure(forecasts, models, settings)
    for each in results:
        _warn_undefined(each)
    if segments is not None:
        results = _by_segment(results, rows, segments.take(kept), models, settings)
    if not several:
        return results[0]
    differences = compare_paired(results, spread, models, pairs, settings.confidence_level)
    return CalibrationComparison(dict(zip(models, results, strict=True)), differences)


# Reading ----------------------------------------------------------------------------------------------------------


def _of_subject(subject: Any) -> tuple[Forecasts, Any]:
    """Return the forecasts counted in a ranking, in counts or in a summary, and the positive class."""
    if is_summary(subject) and hasattr(subject, "are_probabilities"):
        counts, positive = subject._pooled(), subject._labels[0]
        forecasts = CountedForecasts.of(counts, subject._pooled_squares())
    else:
        ranking, _ = ranking_of_rows("y_true", subject, {"calibration": metric("brier_score")}, takes_weights=True)
        counts, positive = ranking.counts, ranking.pos_label
        forecasts = CountedForecasts.of(counts, ranking._squares)
    if forecasts is None:
        refuse_weighted("y_true", subject)
    require_probabilities(counts)
    if not counts.n_pos + counts.n_neg:
        raise ValueError("y_true has no rows")
    return forecasts, positive


def _rows_of(
    labels: BinaryLabels,
    probabilities: list[NDArray[Any]],
    groups: Any,
    sample_weight: Any,
    frequency_weight: Any,
) -> tuple[RowForecasts, NDArray[np.bool_] | None]:
    """Return the forecasts of rows of weight above zero, and which rows these are (None if all)."""
    check_one_weight(sample_weight, frequency_weight)
    positive = labels.flags().view(np.bool_)
    clusters = None
    if groups is not None:
        keys = as_group_keys("groups", groups)
        check_same_length(y_true=positive, groups=keys)
        clusters = code_groups(keys).block(slice(None))
    if sample_weight is not None:
        sample_weight = as_weights("sample_weight", sample_weight)
        check_same_length(y_true=positive, sample_weight=sample_weight)
    if frequency_weight is not None:
        frequency_weight = as_frequencies("frequency_weight", frequency_weight)
        check_same_length(y_true=positive, frequency_weight=frequency_weight)
    return RowForecasts.of(
        probabilities, positive, clusters=clusters, sample_weight=sample_weight, frequency_weight=frequency_weight
    )


class Segments(NamedTuple):
    """The segment of each row.

    Attributes
    ----------
    columns : tuple of str
        Names of the columns.
    keys : list
        Keys of the segments, ascending; some may have no rows. Tuples if there are several columns.
    codes : ndarray of int of shape (n_rows,)
        Each row's place in `keys`.
    """

    columns: tuple[str, ...]
    keys: list[Any]
    codes: NDArray[Any]

    @classmethod
    def of(cls, by: Any, y_true: NDArray[Any]) -> Segments:
        """Read a user's `by`, and number the values, or combinations of values, of its columns."""
        columns, coded = key_columns("by", by), code_groups(keys := as_group_keys("by", by))
        check_same_length(**{"y_true": y_true, f"by[{next(iter(columns))!r}]" if columns else "by": keys})
        names = key_names("by", by) or tuple(map(str, columns or [SEGMENT]))
        return cls(names, as_list(coded.keys(np.arange(coded.width))), coded.block(slice(None)))

    def take(self, kept: NDArray[np.bool_] | None) -> Segments:
        """Return the segments of some rows."""
        return self if kept is None else self._replace(codes=self.codes[kept])


def _by_segment(
    found: list[Calibration], rows: RowForecasts, segments: Segments, models: list[Any], settings: Settings
) -> list[Calibration]:
    """Return the models' results, each with the results of its segments."""
    order = np.argsort(segments.codes, kind="stable")
    ends = np.searchsorted(segments.codes[order], np.arange(len(segments.keys) + 1))
    spans = [
        each for each in zip(segments.keys, ends[:-1].tolist(), ends[1:].tolist(), strict=True) if each[1] < each[2]
    ]

    def measure_span(span: tuple[Any, int, int]) -> list[Calibration]:
        return measure(rows.take(order[span[1] : span[2]]), models, settings)[0]

    measured = run(measure_span, spans)
    parts = [{span[0]: each[k] for span, each in zip(spans, measured, strict=True)} for k in range(len(found))]
    return [
        replace(whole, segments=CalibrationSegments(segments.columns, part, *_adjusted(part)))
        for whole, part in zip(found, parts, strict=True)
    ]


def _adjusted(parts: Mapping[Any, Calibration]) -> tuple[Floats, Floats]:
    """Return the p-values of the ratio and of Spiegelhalter's test, adjusted for the number of segments."""
    ratio = adjust_pvalues([each.ratio.pvalue for each in parts.values()])
    return ratio, adjust_pvalues([each.spiegelhalter.pvalue for each in parts.values()])


def _warn_undefined(found: Calibration) -> None:
    """Warn about estimates without a value, once for each reason."""
    of = "" if found.name is None else f" of {show(found.name)}"
    for reason, names in found._undefined().items():
        warn_undefined(f"calibration{of} ({', '.join(names)})", reason)
