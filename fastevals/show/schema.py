"""The JSON of the commands: keys, types and meanings.

docs/json.md is made from these classes, and a test checks the commands' JSON against them.

Types of parsed JSON: ``found: ScoresReport = json.load(file)``.
"""

# Annotations are evaluated here, for the docs to read: no `from __future__ import annotations`.

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from fastevals import __version__
from fastevals.infer.comparison import MetricComparison
from fastevals.infer.costs.decisions import RowCosts
from fastevals.infer.gain_table import GainTable
from fastevals.infer.planning.planning import SampleSize
from fastevals.infer.significance.cochran import CochranResult
from fastevals.infer.significance.friedman import FriedmanResult
from fastevals.infer.significance.mcnemar import McNemarPairs, McNemarResult
from fastevals.infer.significance.pairwise import PairwiseResult
from fastevals.infer.significance.rank_comparisons import RankComparison
from fastevals.many.group_comparison import GroupComparison
from fastevals.results import SignificanceResult

SCHEMA_VERSION = 1  # goes up by 1 if a key is removed or changes its meaning, not if one is added

Number = float | Literal["Infinity", "-Infinity"] | None  # None where undefined
Ends = Annotated[list[Number], "low, high"] | None
Label = Annotated[str | int | float | bool, "a class"]
Result = dict[str, Any]  # the attributes of the class that is named next to it


def json_head() -> dict[str, Any]:
    """Return the keys that all JSON begins with."""
    return {"fastevals": __version__, "schema_version": SCHEMA_VERSION}


class JsonHead(TypedDict):
    """The keys that all JSON begins with."""

    fastevals: Annotated[str, "version of fastevals"]
    schema_version: Annotated[
        int, "version of these keys; it goes up by 1 when a key is removed or changes its meaning"
    ]


class DroppedRows(TypedDict):
    """Rows left out because a column has no value that can be used."""

    reason: Annotated[str, '"missing label", "missing target", "invalid score", "invalid weight", ...']
    rows: Annotated[int, "number of rows without a usable value in the column"]
    alone: Annotated[int, "number of these rows with usable values in all other columns"]


# fastevals report ---------------------------------------------------------------------------------------------------


class Counts(TypedDict):
    """Counts at a threshold, or sums of weights."""

    tp: Annotated[float, "true positives"]
    fp: Annotated[float, "false positives"]
    fn: Annotated[float, "false negatives"]
    tn: Annotated[float, "true negatives"]


class DifferenceNumbers(TypedDict):
    """The difference between two models in one metric."""

    value: Annotated[Number, "the model's value minus the reference's"]
    interval: Annotated[Ends, "interval of the difference, simultaneous over all compared pairs of models"]
    pvalue: Annotated[Number, "p-value, adjusted for all compared pairs of models"]


class PairOfModels(TypedDict):
    """The differences between two models."""

    model: Annotated[str, "the model"]
    reference: Annotated[str, "the model with which `model` is compared"]
    metrics: Annotated[dict[str, DifferenceNumbers], "by metric"]


class BlockIntervals(TypedDict):
    """How a block's intervals were made."""

    method: Annotated[str | None, '"BCa", "cells", "groups" or "normal"; null if the block has no intervals']
    resamples: NotRequired[
        Annotated[int | None, "for predictions, the number of replicates of this block; null without a bootstrap"]
    ]
    n_groups: Annotated[int | None, "number of clusters that were resampled; null without --group"]
    n_undefined: Annotated[
        dict[str, int], "by metric, the number of replicates that are left out because the metric is undefined"
    ]
    notes: Annotated[list[str], "cautions, in words"]


class CalibrationNumber(TypedDict):
    """A number that says how well a model is calibrated."""

    value: Annotated[Number, "the number"]
    interval: Annotated[Ends, "its interval"]
    pvalue: Annotated[Number, "p-value of the test that the probabilities are calibrated"]


class SpiegelhalterNumbers(TypedDict):
    """Spiegelhalter's test of calibration."""

    z: Annotated[Number, "the statistic, standard normal if the probabilities are calibrated"]
    pvalue: Annotated[Number, "two-sided p-value"]


class CalibrationNumbers(TypedDict):
    """Whether as many rows are positive as a model's probabilities predict."""

    predicted: Annotated[float, "sum of the probabilities, by weight"]
    observed: Annotated[float, "number of positives, or their weight"]
    ratio: Annotated[CalibrationNumber, "predicted / observed"]
    intercept: Annotated[CalibrationNumber, "calibration intercept, fitted with the slope fixed at 1"]
    slope: Annotated[CalibrationNumber, "calibration slope"]
    error: Annotated[CalibrationNumber, "debiased calibration error in 10 bins of equal mass"]
    spiegelhalter: Annotated[SpiegelhalterNumbers, "Spiegelhalter's test"]
    conclusion: Annotated[str, "what follows, in words"]
    cautions: Annotated[list[str], "cautions, in words"]


class ScoresModel(TypedDict):
    """A model's numbers in a block."""

    name: Annotated[str, "column of its scores"]
    threshold: Annotated[Number, "rows with score >= threshold are predicted positive"]
    confusion: Annotated[Counts | None, "counts at the threshold"]
    metrics: Annotated[dict[str, Number], "all metrics of scores, by name"]
    holds: Annotated[
        Ends, "range of priors for which this threshold has the least cost; null if it is not chosen by cost"
    ]
    operating_range: Annotated[
        Ends, "range of priors for which the model costs less than predicting all rows positive or all rows negative"
    ]
    intervals: Annotated[dict[str, Ends] | None, "intervals of the metrics that tables show; null without intervals"]
    calibration: Annotated[CalibrationNumbers | None, "null unless scores are probabilities"]
    gain_table: NotRequired[Annotated[Result, "with --gain-table: deciles, top shares and all rows", GainTable]]
    bounds: NotRequired[Annotated[dict[str, list[Number]], "guaranteed bounds of metrics that are not exact"]]


class ClassNumbers(TypedDict):
    """One metric of each class, in the order of `labels`."""

    values: Annotated[list[Number], "the value for each class"]
    intervals: Annotated[list[Ends] | None, "the interval for each class; null without intervals"]
    wilson: Annotated[
        list[Ends] | None, "Wilson's interval for each class whose interval in `intervals` has no width, otherwise null"
    ]
    bounds: NotRequired[Annotated[list[Ends], "guaranteed bounds for each class, if the metric is not exact"]]


class PredictionsModel(TypedDict):
    """A model's numbers in a block."""

    name: Annotated[str, "column of its predictions, or name of its columns of probabilities"]
    metrics: Annotated[dict[str, Number], "the metrics that tables show, by name"]
    intervals: Annotated[dict[str, Ends] | None, "intervals of the metrics; null without intervals"]
    bounds: NotRequired[Annotated[dict[str, list[Number]], "guaranteed bounds of metrics that are not exact"]]
    confusion: NotRequired[Annotated[list[list[float]] | None, "a row per true class; null for more than 200 classes"]]
    labels: NotRequired[Annotated[list[Label], "the classes, in the order of `confusion`"]]
    classes: NotRequired[Annotated[dict[str, ClassNumbers], "by metric"]]


class AnyBlock(TypedDict):
    """Rows that share a value of the --by column, or all rows; counts are of rows with a weight above zero."""

    by: NotRequired[
        Annotated[str, "column that `value` belongs to; present only with several --by columns without --cross"]
    ]
    value: Annotated[
        Any,
        "value of the --by column; null in the block of rows that have no value, and in a block of all rows; with "
        "--cross, a list of the columns' values",
    ]
    n_samples: Annotated[int, "rows"]
    n_dropped: Annotated[int, "rows of the block that are left out because a value can't be used"]
    dropped: Annotated[dict[str, DroppedRows], "the rows left out, by column"]
    labelled: NotRequired[
        Annotated[float, "with --by, if some rows lack a label: the share of the block's rows that have one"]
    ]
    total_weight: Annotated[float | None, "sum of weights; null without weights"]
    best: Annotated[dict[str, list[str]], "by metric, names of the models with the best value"]
    differences: Annotated[list[PairOfModels], "differences of each compared pair of models"]
    intervals: Annotated[BlockIntervals | None, "how intervals were made; null without intervals"]


class FilesRead(TypedDict):
    """Files of rows, some of which have none."""

    n_files: Annotated[int, "files that were read"]
    without_rows: Annotated[list[str], "files without rows"]


class ComparedRows(TypedDict):
    """The other rows that a block is compared with."""

    n_samples: Annotated[int, "rows"]
    n_positives: Annotated[int | None, "positive rows; null for predictions"]
    why_none: Annotated[str, "why there are no differences; empty if there are"]
    why_fewer: Annotated[str, "why some metrics have no difference; empty if all have one"]


class OtherRows(TypedDict):
    """The rows of --against."""

    data: Annotated[str, "name of these rows"]
    n_samples: Annotated[int, "rows"]
    n_positives: Annotated[int | None, "positive rows; null for predictions"]
    files: Annotated[FilesRead | None, "null unless some files have no rows"]
    n_dropped: Annotated[int, "rows left out because a value can't be used"]
    dropped: Annotated[dict[str, DroppedRows], "by column"]
    only_in_data: Annotated[
        list[Any], "values of --by that only the data has; for several columns, objects with by and value"
    ]
    only_in_against: Annotated[list[Any], "values of --by that only the other rows have"]


class ScoresBlock(AnyBlock):
    """Rows with scores."""

    n_positives: Annotated[int, "positive rows"]
    n_negatives: Annotated[int, "negative rows"]
    models: Annotated[list[ScoresModel], "in the order given; the reference is first"]
    costs: NotRequired[Annotated[Result, "with columns of costs: what decisions cost, and what they save", RowCosts]]
    against: NotRequired[
        Annotated[list[PairOfModels], "with --against: each model compared with itself on the other rows of this value"]
    ]
    compared_with: NotRequired[Annotated[ComparedRows, "with --against: these other rows, if there are any"]]


class PredictionsBlock(AnyBlock):
    """Rows with predicted classes or numbers."""

    models: Annotated[list[PredictionsModel], "in the order given; the reference is first"]
    against: NotRequired[
        Annotated[list[PairOfModels], "with --against: each model compared with itself on the other rows of this value"]
    ]
    compared_with: NotRequired[Annotated[ComparedRows, "with --against: these other rows, if there are any"]]


class Extreme(TypedDict):
    """The lowest or the highest value of a metric."""

    metric: Annotated[float, "the metric's lowest or highest value"]
    value: Annotated[
        Any,
        "value of the --by column where the metric is lowest or highest; if there are several, the value with the most "
        "rows (with --weight, with the largest weight)",
    ]
    n_values: Annotated[int, "number of values of the --by column where the metric is this low or high"]


class OverMetric(TypedDict):
    """A metric of each value of the --by column."""

    mean: Annotated[Number, "mean over the values of the --by column, weighted by their rows or by --weight"]
    interval: Annotated[Ends, "interval of the mean"]
    macro_mean: Annotated[Number, "unweighted mean over the values of the --by column"]
    n_undefined: Annotated[int, "number of values for which the metric is undefined"]
    lowest: Annotated[Extreme | None, "the lowest"]
    highest: Annotated[Extreme | None, "the highest"]
    of_values: Annotated[list[Number], "the metric for each value, in the order of `values`"]
    intervals: NotRequired[Annotated[list[Ends], "interval of the AUC for each value, by DeLong's method"]]


class RatioOfValue(TypedDict):
    """Predicted and observed positives among the rows of one value of the --by column."""

    predicted: Annotated[float, "sum of the probabilities"]
    observed: Annotated[float, "number of positives, or their weight"]
    ratio: Annotated[CalibrationNumber, "predicted / observed"]


class OverModel(TypedDict):
    """A model over the values of the --by column."""

    name: Annotated[str, "the model"]
    metrics: Annotated[dict[str, OverMetric], "by metric"]
    calibration: Annotated[
        list[RatioOfValue | None] | None,
        "for each value, in the order of `values`; null if scores are not probabilities, or if values have no blocks",
    ]


class OverIntervals(TypedDict):
    """How the intervals over the values were made."""

    method: Annotated[str | None, '"DeLong"; null if it does not apply']
    resamples_of_means: Annotated[
        int | None,
        "number of bootstrap replicates of whole values, if the mean AUC's interval is from them; otherwise null",
    ]
    notes: Annotated[list[str], "cautions, in words"]


OF_ALL_ROWS = "all rows as one block; null unless --by divides them into several blocks"
DIFFERENCES = "models minus the first one in each value; null for one model, without intervals, or if not comparable"


class OverScores(TypedDict):
    """Metrics over the values of the --by column."""

    by: NotRequired[Annotated[str, "the --by column; present only if there are several, without --cross"]]
    values: Annotated[list[Any], "the values, ascending"]
    n_samples: Annotated[list[int], "number of rows for each value"]
    n_positives: Annotated[list[int], "number of positive rows for each value"]
    total_weights: Annotated[list[float] | None, "sum of weights for each value; null without --weight"]
    models: Annotated[list[OverModel], "in the order given"]
    intervals: Annotated[OverIntervals | None, "null without intervals"]
    differences: Annotated[Result | None, DIFFERENCES, GroupComparison]


class OverValuesOfModel(TypedDict):
    """One metric of one model, for each value of the --by column."""

    name: Annotated[str, "the model"]
    values: Annotated[list[Number], "the metric for each value"]
    intervals: Annotated[list[Ends], "the metric's interval for each value"]


class OverPredictions(TypedDict):
    """One metric over the values of the --by column."""

    by: NotRequired[Annotated[str, "the --by column; present only if there are several, without --cross"]]
    values: Annotated[list[Any], "the values, ascending"]
    n_samples: Annotated[list[int], "number of rows for each value"]
    metric: Annotated[str, "accuracy, or root_mean_squared_error"]
    models: Annotated[list[OverValuesOfModel], "in the order given"]
    differences: Annotated[Result | None, DIFFERENCES, GroupComparison]


class TrendCompared(TypedDict):
    """Each value minus the mean of the other values; null where a value is not compared."""

    others: Annotated[list[Number], "mean of the other values, weighted by rows"]
    differences: Annotated[list[Number], "the value minus this mean"]
    intervals: Annotated[list[Ends], "intervals of the differences, simultaneous over the values"]
    adjusted_pvalues: Annotated[list[Number], "p-values, simultaneous over the values"]
    is_lower: Annotated[list[bool], "whether a value is significantly lower than the others' mean"]
    is_higher: Annotated[list[bool], "whether a value is significantly higher than the others' mean"]
    pvalue_of_equality: Annotated[Number, "p of Cochran's Q test that all values are equal"]
    share_beyond_chance: Annotated[Number, "share of the values' variation that is beyond chance (I squared)"]


class TrendModel(TypedDict):
    """One metric of one model over the values."""

    name: Annotated[str, "the model"]
    values: Annotated[list[Number], "the metric at each value; null without rows"]
    intervals: Annotated[list[Ends], "the metric's interval at each value"]
    pooled: Annotated[Number, "the metric of all rows"]
    pooled_interval: Annotated[Ends, "its interval"]
    compared: Annotated[TrendCompared | None, "null without intervals"]


class TrendValues(TypedDict):
    """Metrics over ordered values, such as days; arrays are in the order of the values."""

    values: Annotated[list[Any], "the values, in natural order"]
    n_samples: Annotated[list[int], "rows of each value"]
    n_positives: Annotated[list[int] | None, "positive rows of each value; null for predictions"]
    labelled: Annotated[list[Number], "share of rows that have a label; null for a value without rows"]
    pooled_labelled: Annotated[Number, "this share of all rows"]
    min_labelled: Annotated[float | None, "--min-labelled"]
    undecided: Annotated[list[bool], "whether a value is not compared because too few rows have a label"]
    metrics: Annotated[dict[str, list[TrendModel]], "by metric, the models"]


class IntervalSettings(TypedDict):
    """The settings of intervals."""

    confidence: Annotated[float, "--confidence"]
    resamples: Annotated[int, "--resamples"]
    seed: Annotated[int, "--seed; if a generator was given, the number drawn from it"]
    group: Annotated[str | None, "column of --group"]


class ScoresIntervals(IntervalSettings):
    """The settings of intervals, and how they were made."""

    method: Annotated[
        str | None, '"BCa" if the rows of any block are resampled, otherwise "cells"; null if no block has intervals'
    ]
    in_place_of_bca: Annotated[dict[str, str], "by metric, the method that replaces BCa"]
    cells_above: Annotated[
        int | None, "blocks with more rows than this resample cells of rows; null if all blocks resample rows"
    ]
    budget: Annotated[
        int | None, "limit on the draws (rows x models x replicates) of one report; null with --resamples"
    ]
    blocks_drawn: Annotated[int, "number of blocks whose rows are resampled"]
    not_drawn: Annotated[str, "why the rows of the other blocks are not resampled, in words"]


class OperatingPointRule(TypedDict):
    """How thresholds are chosen; one of the two keys is present."""

    best: NotRequired[Annotated[str, "the metric for which each model's threshold is best"]]
    threshold: NotRequired[Annotated[Number, "the threshold that was given"]]


class Costs(TypedDict):
    """Costs and the share of positives."""

    cost_fp: Annotated[float, "cost of a false positive"]
    cost_fn: Annotated[float, "cost of a false negative"]
    prior: NotRequired[Annotated[float, "share of positives where the models are used; absent if it is not given"]]


class AnyReport(JsonHead):
    """Keys of all reports."""

    data: Annotated[str, "name of the data"]
    pos_label: Annotated[Label | None, "the positive class"]
    weight: Annotated[str | None, "column of --weight"]
    frequency_weight: Annotated[str | None, "column of --frequency-weight"]
    by: Annotated[str | list[str] | None, "column of --by, or a list of several"]
    cross: Annotated[bool, "whether blocks are combinations of the values of several columns"]
    files: Annotated[FilesRead | None, "null unless some files have no rows"]
    n_dropped: Annotated[int, "rows left out because a value can't be used"]
    dropped: Annotated[dict[str, DroppedRows], "by column"]
    against: Annotated[OtherRows | None, "the rows of --against; null without it"]
    reference: NotRequired[
        Annotated[str, "with --reference: the model that the others are compared with, which is listed first"]
    ]


class ScoresReport(AnyReport):
    """``fastevals report --score``: scores of models."""

    label: Annotated[str, "column of the true class"]
    operating_point: Annotated[OperatingPointRule, "how thresholds are chosen"]
    costs: Annotated[Costs | None, "costs, if they are given or the threshold is chosen by cost; otherwise null"]
    row_costs: Annotated[
        dict[str, str | float] | None,
        "cost_fp, cost_fn and, if given, cost_tp, each a column's name or a number; null unless costs differ by row",
    ]
    intervals: Annotated[ScoresIntervals | None, "null without intervals"]
    over: Annotated[
        OverScores | list[OverScores] | None,
        "metrics over the values of --by, if two or more; a list for several --by columns without --cross",
    ]
    trend: Annotated[TrendValues | None, "with --trend: each metric over the values"]
    whole: Annotated[ScoresBlock | None, OF_ALL_ROWS]
    blocks: Annotated[list[ScoresBlock], "one per value of --by; empty if there are more than 100 values"]


class PredictionsReport(AnyReport):
    """``fastevals report --pred`` or ``--probabilities``: predicted classes, numbers, or probabilities of classes."""

    predicted: Annotated[Literal["classes", "numbers", "probabilities"], "what is predicted"]
    label: NotRequired[Annotated[str, "column of the true class, unless numbers are predicted"]]
    target: NotRequired[Annotated[str, "column of the true values, if numbers are predicted"]]
    classes: Annotated[
        list[Label] | None, "the classes that occur or, for probabilities, have columns; null for numbers"
    ]
    ordered: NotRequired[Annotated[bool, "for probabilities: whether the classes are ordered"]]
    normalized: NotRequired[Annotated[bool, "for probabilities: whether rows were divided by their sums"]]
    hard: NotRequired[Annotated[list[str], "for probabilities: models that predict only 0 and 1"]]
    not_measured: Annotated[list[str], "what is not measured, and why, in words"]
    intervals: Annotated[IntervalSettings | None, "null without intervals"]
    over: Annotated[
        OverPredictions | list[OverPredictions] | None,
        "one metric over the values of --by, if two or more; a list for several --by columns without --cross",
    ]
    trend: Annotated[TrendValues | None, "with --trend: each metric over the values"]
    whole: Annotated[PredictionsBlock | None, OF_ALL_ROWS]
    blocks: Annotated[list[PredictionsBlock], "one per value of --by; empty if there are more than 100 values"]


# fastevals compare --------------------------------------------------------------------------------------------------


class ComparedBlock(TypedDict):
    """Data sets that share a value of the --by column, or all data sets."""

    value: Annotated[Any, "value of the --by column; null if the block has all data sets"]
    n_datasets: Annotated[int, "data sets"]
    mean_ranks: Annotated[dict[str, float], "by algorithm; rank 1 is best"]
    means: Annotated[dict[str, Number], "by algorithm, the mean of the results"]
    friedman: Annotated[
        Result | None, "Friedman's test; null for two algorithms, and for splits of one data set", FriedmanResult
    ]
    pairs: Annotated[Result | None, "tests of pairs; null for two algorithms", RankComparison]
    groups: Annotated[
        list[list[str]] | None,
        "groups of algorithms without a significant difference; null if the test makes no groups",
    ]
    wilcoxon: Annotated[Result | None, "Wilcoxon's signed-rank test of two algorithms", SignificanceResult]
    sign: Annotated[Result | None, "the sign test of two algorithms", SignificanceResult]
    paragraph: Annotated[str, "what a paper would say of the tests"]
    cited: Annotated[list[str], "keys of the works that the paragraph cites, as in the BibTeX of --bibtex"]


class ResultsOfComparison(JsonHead):
    """``fastevals compare``: results on data sets."""

    data: Annotated[str, "name of the data"]
    compared: Annotated[Literal["results"], "what is compared"]
    dataset: Annotated[list[str], "columns of --dataset"]
    algorithm: Annotated[list[str], "columns of --algorithm"]
    by: Annotated[str | None, "column of --by"]
    control: Annotated[str | None, "the algorithm of --control or --reference"]
    posthoc: Annotated[str | None, "the test of pairs"]
    higher_is_better: Annotated[bool, "false with --lower-is-better"]
    confidence: Annotated[float, "--confidence: tests are at level 1 - confidence"]
    algorithms: Annotated[list[str], "columns that were compared"]
    others: Annotated[list[str], "columns that were not compared"]
    cautions: Annotated[list[str], "cautions on columns that may not be results, in words"]
    blocks: Annotated[list[ComparedBlock], "by value of --by"]


class PredictionsOfComparison(JsonHead):
    """``fastevals compare --label --pred``: predicted classes."""

    data: Annotated[str, "name of the data"]
    compared: Annotated[Literal["predictions"], "what is compared"]
    reference: NotRequired[
        Annotated[str, "with --reference: the model that the others are compared with, which is listed first"]
    ]
    label: Annotated[str, "column of the true class"]
    group: Annotated[str | None, "column of --group"]
    classes: Annotated[list[Label], "the classes that occur"]
    n_samples: Annotated[int, "rows"]
    n_dropped: Annotated[int, "rows left out because a value can't be used"]
    dropped: Annotated[dict[str, DroppedRows], "the rows left out, by column"]
    metrics: Annotated[dict[str, Result], "by metric, the models' values and differences", MetricComparison]
    pos_label: Annotated[Label | None, "the positive class"]
    n_resamples: Annotated[int, "--resamples"]
    confidence_level: Annotated[float, "--confidence"]
    method: Annotated[str, "method of the models' intervals"]
    alternative: Annotated[str, "alternative hypothesis on the differences"]
    cochran: Annotated[Result | None, "Cochran's Q test, for three models or more", CochranResult]
    mcnemar: Annotated[Result, "McNemar's tests of the compared pairs, with adjusted p-values", McNemarPairs]
    mcnemar_tests: Annotated[list[Result], "the test of each pair, with its unadjusted p-value", McNemarResult]


class DelongOfAverage(TypedDict):
    """DeLong's tests of one average of the AUCs of the classes."""

    equality: Annotated[
        Result | None, "the test that all models are equal, for three models or more", SignificanceResult
    ]
    pairs: Annotated[Result, "tests of the compared pairs, with adjusted p-values", PairwiseResult]
    tests: Annotated[list[Result], "the test of each pair, with its unadjusted p-value", SignificanceResult]


class ProbabilitiesOfComparison(JsonHead):
    """``fastevals compare --label --probabilities``: probabilities of classes."""

    data: Annotated[str, "name of the data"]
    compared: Annotated[Literal["probabilities"], "what is compared"]
    reference: NotRequired[
        Annotated[str, "with --reference: the model that the others are compared with, which is listed first"]
    ]
    label: Annotated[str, "column of the true class"]
    group: Annotated[str | None, "column of --group"]
    classes: Annotated[list[Label], "the classes, in the order of columns"]
    ordered: Annotated[bool, "whether the classes are ordered"]
    normalized: Annotated[bool, "whether rows were divided by their sums"]
    hard: Annotated[list[str], "models that predict only 0 and 1"]
    n_samples: Annotated[int, "rows"]
    n_dropped: Annotated[int, "rows left out because a value can't be used"]
    dropped: Annotated[dict[str, DroppedRows], "the rows left out, by column"]
    metrics: Annotated[dict[str, Result], "by metric, the models' values and differences", MetricComparison]
    n_resamples: Annotated[int, "bootstrap replicates"]
    confidence_level: Annotated[float, "--confidence"]
    method: Annotated[str, "method of the models' intervals"]
    alternative: Annotated[str, "alternative hypothesis on the differences"]
    delong: Annotated[
        dict[str, DelongOfAverage],
        'tests of the mean AUC over classes ("macro") and of Hand and Till\'s M ("hand_till"); empty with --group',
    ]
    cautions: Annotated[list[str], "cautions, in words"]


class IntervalsOfQueries(TypedDict):
    """How intervals were made, from replicates of queries."""

    method: Annotated[str, "method of the systems' intervals"]
    resamples: Annotated[int, "bootstrap replicates"]
    confidence: Annotated[float, "--confidence"]


class RankingSystem(TypedDict):
    """A system that ranks documents."""

    name: Annotated[str, "the system"]
    n_documents: Annotated[int, "documents of judged queries"]
    n_judged: Annotated[int | None, "documents with a judgment; null without --qrels"]
    n_queries_without_documents: Annotated[int, "judged queries for which it retrieved nothing; its metrics are 0"]
    n_queries_without_judgments: Annotated[int, "queries that are left out because they have no judgments"]
    metrics: Annotated[dict[str, Number], "by metric, the mean over queries"]
    intervals: Annotated[dict[str, Ends], "by metric, the interval of the mean; empty without intervals"]


class QueriesNeeded(TypedDict):
    """The queries that show a small difference between the two leading systems."""

    effect: Annotated[float, "the true difference that is assumed"]
    power: Annotated[float, "the chance to show it"]
    n_queries: Annotated[int, "queries that are needed, if they are like these"]
    interval: Annotated[Ends, "approximate interval of this number"]


class QueriesReported(JsonHead):
    """``fastevals report --queries`` or ``--qrels``: systems that rank documents for queries."""

    data: Annotated[str, "name of the data"]
    ranked: Annotated[Literal["documents"], "what is ranked"]
    reference: NotRequired[
        Annotated[str, "with --reference: the system that the others are compared with, which is listed first"]
    ]
    n_queries: Annotated[int, "queries"]
    n_undefined: Annotated[int, "queries without relevant documents: left out of means, 0 for precision and DCG"]
    n_relevant: Annotated[int, "relevant documents"]
    intervals: Annotated[IntervalsOfQueries | None, "null without intervals"]
    systems: Annotated[list[RankingSystem], "the systems"]
    differences: Annotated[list[PairOfModels], "differences of each compared pair of systems"]
    planned: Annotated[dict[str, QueriesNeeded], "by metric; empty for one system"]
    cautions: Annotated[list[str], "cautions, in words"]


# fastevals gate -------------------------------------------------------------------------------------------------------


class TonightAlone(TypedDict):
    """What the rows of one night say, with bounds for a single look."""

    value: Annotated[Number, "the metric, or the difference"]
    interval: Annotated[Ends, "its bounds, each one-sided"]
    interval_level: Annotated[float, "level of the interval"]
    method: Annotated[str, "method of the bounds"]
    reason: Annotated[str | None, "why the night alone would be undecided; null if it would not"]


class NightsOfGate(TypedDict):
    """--nightly: the nights that decide together."""

    state: Annotated[str, "the state file"]
    night: Annotated[str, "tonight's name"]
    change: Annotated[
        Literal["added", "replaced", "unchanged", "repeated", "late"],
        'what tonight did to the state; "repeated": another night has the same rows, so tonight is not added; "late": '
        "fewer rows have a label than --min-labelled, so tonight is not added",
    ]
    n_nights: Annotated[int, "nights in the state"]
    n_empty: Annotated[int, "nights without rows"]
    same_as: Annotated[str | None, 'the night with the same rows, if tonight is "repeated"']


class JudgedRule(TypedDict):
    """A rule's decision, in all rows or in one segment."""

    segment: Annotated[Any, "value of the rule's column, or list of the values of crossed columns; null for all rows"]
    outcome: Annotated[Literal["pass", "fail", "undecided"], "the decision"]
    n_samples: Annotated[int, "rows"]
    n_positives: Annotated[int | None, "positive rows; null without a positive class"]
    model_value: Annotated[Number, "the judged model's metric"]
    reference_value: Annotated[Number, "the other model's metric"]
    value: Annotated[Number, "what is judged: the metric, or a difference"]
    interval: Annotated[Ends, "the bounds that decided, each one-sided"]
    interval_level: Annotated[float, "level of the interval: 0.9 if each bound is at 0.95"]
    allowed: Annotated[Ends, "the range in which the rule wants the value"]
    method: Annotated[str, "method of the bounds"]
    reason: Annotated[str | None, "why the rule is undecided"]
    caution: Annotated[str | None, "why the bounds may be wrong"]
    n_nights: Annotated[int | None, "nights that have a value; null without --nightly"]
    tonight: Annotated[TonightAlone | None, "what tonight's rows alone say; null without --nightly"]
    detectable: Annotated[
        Number, "how far inside the range a true value passes in 80 % of samples; null unless undecided"
    ]
    more_rows: Annotated[int | None, "rows that are lacking, with a power of 80 %; null if unknown or infinitely many"]


class RuleOfGate(TypedDict):
    """A rule and its decisions."""

    rule: Annotated[str, "the rule as it was written"]
    outcome: Annotated[Literal["pass", "fail", "undecided"], "its outcome: the worst of its segments"]
    metric: Annotated[str, "the metric with its options"]
    form: Annotated[str, '"at least", "at most", "within", "better than", "not worse than" or "equivalent to"']
    reference: Annotated[str | None, "the other model"]
    margin: Annotated[float | None, "the margin; null without another model"]
    relative: Annotated[bool, "whether the margin is a share of the other model's metric"]
    by: Annotated[list[str], "columns of the segments"]
    judged: Annotated[list[JudgedRule], "the decision in all rows, or in each segment, the worst first"]


class GateInput(TypedDict):
    """A file, or the columns of a frame."""

    role: Annotated[Literal["data", "reference"], "what it is"]
    name: Annotated[str, "its name"]
    size: Annotated[int, "bytes"]
    sha256: Annotated[str, "hash of the bytes"]


class PinnedMetric(TypedDict):
    """A metric of the judged model, for later gates whose reference is this receipt."""

    value: Annotated[Number, "the metric"]
    standard_error: Annotated[Number, "its standard error"]


class GateReceipt(JsonHead):
    """``fastevals gate``: the receipt."""

    outcome: Annotated[Literal["pass", "fail", "undecided"], "the worst outcome of a rule"]
    exit_status: Annotated[int, "0 pass, 3 fail, 4 undecided, after --undecided"]
    undecided: Annotated[str, "--undecided"]
    data: Annotated[str, "name of the data"]
    model: Annotated[str, "the judged model"]
    reference: Annotated[str | None, "the champion"]
    kind: Annotated[
        Literal["scores", "labels", "targets", "probabilities"],
        "scores, predicted classes, predicted numbers or probabilities of classes",
    ]
    label: Annotated[str | None, "column of the true classes or numbers; null without rows"]
    n_samples: Annotated[int, "rows"]
    n_positives: Annotated[int | None, "positive rows"]
    n_negatives: Annotated[int | None, "negative rows"]
    n_dropped: Annotated[int, "rows left out because a value can't be used"]
    dropped: Annotated[dict[str, DroppedRows], "the rows left out, by column"]
    labelled: Annotated[float | None, "share of the rows that have a label; null without rows"]
    min_labelled: Annotated[float | None, "--min-labelled"]
    pos_label: Annotated[Label | None, "the positive class"]
    row_costs: Annotated[
        dict[str, str | float] | None,
        "cost_fp, cost_fn and, if given, cost_tp, each a column's name or a number; null unless costs differ by row",
    ]
    level: Annotated[float, "level of the one-sided bounds that pass a rule"]
    failing_level: Annotated[float, "level of the one-sided bounds that fail a rule"]
    n_comparisons: Annotated[int, "rules, and segments of rules, over which failing is simultaneous"]
    resamples: Annotated[int, "--resamples"]
    seed: Annotated[int, "--seed"]
    versions: Annotated[dict[str, str], "of Python and of the packages that compute"]
    inputs: Annotated[list[GateInput], "the files, or the rows in memory"]
    rules: Annotated[list[RuleOfGate], "the rules in the order given"]
    pinned: Annotated[dict[str, PinnedMetric], "by metric of the rules, the judged model's result"]
    nightly: Annotated[NightsOfGate | None, "the nights that decide together; null without --nightly"]
    cautions: Annotated[list[str], "what limits the decisions"]


class PlannedRule(TypedDict):
    """The rows that a rule needs."""

    rule: Annotated[str, "the rule as it was written"]
    plan: Annotated[Result, "the rows, with assumptions, power and conclusion", SampleSize]


class GatePlanned(JsonHead):
    """``fastevals gate --plan``."""

    data: Annotated[str, "name of the pilot"]
    model: Annotated[str, "the judged model"]
    n_samples: Annotated[int, "rows that all rules need: the most of any rule"]
    rules: Annotated[list[PlannedRule], "the rules in the order given"]


# fastevals bias-variance, summarize ---------------------------------------------------------------------------------


class Decomposed(JsonHead):
    """Keys of all decompositions."""

    data: Annotated[str, "name of the data"]
    loss: Annotated[Literal["squared", "zero_one"], "the loss"]
    decomposition: Annotated[str | None, "--decomposition, which defines the parts of 0-1 loss; null for squared loss"]
    n_models: Annotated[int, "models"]
    n_samples: Annotated[int, "samples"]


class PredictionsDecomposed(Decomposed):
    """``fastevals bias-variance FILE``."""

    decomposed: Annotated[Literal["predictions"], "what is decomposed"]
    models: Annotated[list[str] | None, "columns of the models; null for an array"]
    left_out: Annotated[list[str], "columns that are not models"]
    expected_loss: Annotated[Number, "mean loss over models and samples"]
    parts: Annotated[dict[str, Number], "by name, the parts, whose sum is the loss"]
    beside: Annotated[dict[str, Number], "by name, related figures that are not parts"]
    largest_losses: Annotated[
        list[dict[str, Any]],
        "for each sample with one of the largest losses: `sample` (its row, from 0), `truth`, `main_prediction`, "
        "`expected_loss`, and each part",
    ]


class PolynomialsDecomposed(Decomposed):
    """``fastevals bias-variance`` without a file."""

    decomposed: Annotated[Literal["polynomials"], "what is decomposed"]
    parameter: Annotated[str, "name of the parameter that takes the `values`"]
    values: Annotated[list[float], "degrees"]
    expected_loss: Annotated[list[Number], "mean loss at each value"]
    parts: Annotated[dict[str, list[Number]], "by name, each part at each value"]
    best: Annotated[float, "the value with the least loss"]


class Summarized(JsonHead):
    """``fastevals summarize``."""

    file: Annotated[str, "the file that was written"]
    n_samples: Annotated[int, "rows"]
    n_positives: NotRequired[Annotated[int, "for scores, the positive rows"]]
    classes: NotRequired[Annotated[list[Label], "for probabilities of classes, the classes in order"]]
    files: Annotated[FilesRead | None, "null unless some files have no rows"]
    n_dropped: Annotated[int, "rows left out because a value can't be used"]
    dropped: Annotated[dict[str, DroppedRows], "by column"]
    models: Annotated[list[str], "columns of scores, or names of columns of probabilities"]
    bytes: Annotated[int, "size of the file"]


KINDS: tuple[Any, ...] = (
    *(
        ScoresReport,
        PredictionsReport,
        QueriesReported,
        ResultsOfComparison,
        PredictionsOfComparison,
        ProbabilitiesOfComparison,
    ),
    *(PredictionsDecomposed, PolynomialsDecomposed, Summarized, GateReceipt, GatePlanned),
)
