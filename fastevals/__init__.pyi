# Made of the names in __init__.py, and of options, by `python -m tests.snapshots --write`.

from collections.abc import Sequence
from fastevals._choices import McNemarMethod
from fastevals._choices import OnInvalid
from fastevals._choices import PostHoc
from fastevals._choices import Undecided
from fastevals.show.compare.predictions import PredictionsComparison
from fastevals.show.compare.probabilities import ProbabilitiesComparison
from fastevals.show.compare.results import ResultsComparison
from fastevals.show.gate.document import GateResult
from fastevals.show.gate.plan import GatePlan
from fastevals.show.report.document import Report
from fastevals.show.report.queries import QueriesReport
from typing import Any
from fastevals import datasets as datasets
from fastevals import metrics as metrics
from fastevals.show import plots as plots
from fastevals import scale as scale
from fastevals import show as show
from fastevals.many.models import BatchMetric as BatchMetric
from fastevals.many.models import BatchMetrics as BatchMetrics
from fastevals.infer.bayes.comparison import BayesComparison as BayesComparison
from fastevals.infer.selection.bias_corrected import BestConfiguration as BestConfiguration
from fastevals.measure.bias_variance.squared import BiasVariance as BiasVariance
from fastevals.split.training_sets import BiasVarianceCurve as BiasVarianceCurve
from fastevals.measure.bias_variance.bias_variance import BiasVarianceSummary as BiasVarianceSummary
from fastevals.infer.significance.binomial import BinomialResult as BinomialResult
from fastevals.split.estimates.corrections import BootstrapErrors as BootstrapErrors
from fastevals.infer.bootstrap.bootstrap import BootstrapResult as BootstrapResult
from fastevals.split.splitters.bootstrap_split import BootstrapSplit as BootstrapSplit
from fastevals.infer.bayes.bradley_terry import BradleyTerry as BradleyTerry
from fastevals.measure.probability_metrics import BrierDecomposition as BrierDecomposition
from fastevals.infer.calibration.calibrations import Calibration as Calibration
from fastevals.infer.calibration.bins import CalibrationBins as CalibrationBins
from fastevals.infer.calibration.calibrations import CalibrationComparison as CalibrationComparison
from fastevals.measure.curves.calibration import CalibrationCurve as CalibrationCurve
from fastevals.infer.calibration.errors import CalibrationError as CalibrationError
from fastevals.infer.calibration.calibrations import CalibrationEstimate as CalibrationEstimate
from fastevals.infer.calibration.calibrations import CalibrationSegments as CalibrationSegments
from fastevals.infer.costs.class_decisions import ClassCosts as ClassCosts
from fastevals.infer.costs.class_decisions import ClassDecisions as ClassDecisions
from fastevals.infer.delong.classes import ClassDelongResult as ClassDelongResult
from fastevals.many.classes import ClassRankings as ClassRankings
from fastevals.infer.class_thresholds import ClassThresholds as ClassThresholds
from fastevals.infer.significance.cochran import CochranResult as CochranResult
from fastevals.infer.planning.comparisons import ComparisonPlan as ComparisonPlan
from fastevals.many.group_comparison import ComparisonsByGroup as ComparisonsByGroup
from fastevals.infer.bands import ConfidenceBand as ConfidenceBand
from fastevals.infer.confused_pairs import ConfusedPairs as ConfusedPairs
from fastevals.measure.confusion import ConfusionMatrix as ConfusionMatrix
from fastevals.infer.bayes.chains import ConvergenceWarning as ConvergenceWarning
from fastevals.measure.curves.cost import CostCurve as CostCurve
from fastevals.measure.curves.cost import CostDifference as CostDifference
from fastevals.measure.curves.cost import CostEnvelope as CostEnvelope
from fastevals.measure.curves.cost import CostOverPrior as CostOverPrior
from fastevals.infer.costs.decisions import DecisionCost as DecisionCost
from fastevals.measure.curves.decision import DecisionCurve as DecisionCurve
from fastevals.infer.delong.result import DelongResult as DelongResult
from fastevals._options import DependentSplitsWarning as DependentSplitsWarning
from fastevals.measure.curves.roc import DetCurve as DetCurve
from fastevals.infer.comparison import Difference as Difference
from fastevals.many.group_differences import DifferencesByGroup as DifferencesByGroup
from fastevals.measure.bias_variance.zero_one import DomingosDecomposition as DomingosDecomposition
from fastevals.infer.significance.equivalence import EquivalenceResult as EquivalenceResult
from fastevals.split.error_curves import ErrorCurve as ErrorCurve
from fastevals.split.estimates.results import ErrorEstimate as ErrorEstimate
from fastevals.split.estimates.results import ErrorEstimates as ErrorEstimates
from fastevals.infer.bayes.error_rate import ErrorRatePosterior as ErrorRatePosterior
from fastevals.infer.bootstrap.bootstrap import Estimate as Estimate
from fastevals.infer.significance.friedman import FriedmanResult as FriedmanResult
from fastevals.measure.curves.gain import GainCurve as GainCurve
from fastevals.infer.gain_table import GainTable as GainTable
from fastevals.infer.gain_table import GainTables as GainTables
from fastevals.many.group_comparison import GroupComparison as GroupComparison
from fastevals.many.group_differences import GroupDifferences as GroupDifferences
from fastevals.many.group_differences import GroupRange as GroupRange
from fastevals.many.groups import GroupedMetric as GroupedMetric
from fastevals.split.splitters.hold_out import HoldOut as HoldOut
from fastevals.infer.selection.holdout_reuse import HoldoutReuse as HoldoutReuse
from fastevals.results import Interval as Interval
from fastevals.measure.bias_variance.zero_one import JamesDecomposition as JamesDecomposition
from fastevals.split.splitters.k_fold import KFold as KFold
from fastevals.split.splitters.leave_out import LeaveOneOut as LeaveOneOut
from fastevals.split.splitters.leave_out import LeavePOut as LeavePOut
from fastevals.measure.curves.gain import LiftCurve as LiftCurve
from fastevals.infer.significance.mcnemar import McNemarPairs as McNemarPairs
from fastevals.infer.significance.mcnemar import McNemarResult as McNemarResult
from fastevals.infer.significance.pairwise import MeasuredPairs as MeasuredPairs
from fastevals.infer.comparison import MetricComparison as MetricComparison
from fastevals.measure.metric_specs import MetricSpec as MetricSpec
from fastevals.many.groups import MetricsByGroup as MetricsByGroup
from fastevals.many.queries import MetricsByQuery as MetricsByQuery
from fastevals.infer.comparison import ModelComparison as ModelComparison
from fastevals.infer.costs.decisions import ModelCosts as ModelCosts
from fastevals.split.selection_results import ModelSelection as ModelSelection
from fastevals.infer.sequential.records import NightRecord as NightRecord
from fastevals.results import OperatingPoint as OperatingPoint
from fastevals.infer.significance.effects import PairEffects as PairEffects
from fastevals.infer.significance.pairwise import PairwiseResult as PairwiseResult
from fastevals.infer.permutation.permutation import PermutationResult as PermutationResult
from fastevals.measure.curves.precision_recall import PrecisionRecallCurve as PrecisionRecallCurve
from fastevals.many.qrels import Qrels as Qrels
from fastevals.many.queries import QueryMetric as QueryMetric
from fastevals.infer.significance.rank_comparisons import RankComparison as RankComparison
from fastevals.measure.ranking.ranking import Ranking as Ranking
from fastevals.many.folds import RankingFolds as RankingFolds
from fastevals.measure.regression import RegressionMetrics as RegressionMetrics
from fastevals.infer.calibration.bands import ReliabilityBand as ReliabilityBand
from fastevals.measure.curves.reliability import ReliabilityCurve as ReliabilityCurve
from fastevals.infer.learners.results import Results as Results
from fastevals.measure.curves.risk_coverage import RiskCoverageCurve as RiskCoverageCurve
from fastevals.measure.curves.roc import RocCurve as RocCurve
from fastevals.infer.costs.decisions import RowCosts as RowCosts
from fastevals._row_order import RowOrderWarning as RowOrderWarning
from fastevals.infer.costs.class_decisions import RuleCost as RuleCost
from fastevals.infer.planning.planning import SampleSize as SampleSize
from fastevals.measure.isotonic import ScoreDecomposition as ScoreDecomposition
from fastevals.infer.drift.drift import ScoreDrift as ScoreDrift
from fastevals.infer.drift.drift import ScoreDrifts as ScoreDrifts
from fastevals.infer.sequential.sequence import SequenceEstimate as SequenceEstimate
from fastevals.results import SignificanceResult as SignificanceResult
from fastevals.infer.significance.skillings_mack import SkillingsMackResult as SkillingsMackResult
from fastevals.counts import ThresholdCounts as ThresholdCounts
from fastevals._options import UndefinedMetricWarning as UndefinedMetricWarning
from fastevals.infer.bootstrap.unpaired import UnpairedDifference as UnpairedDifference
from fastevals.infer.bootstrap.unpaired import UnpairedResult as UnpairedResult
from fastevals.infer.significance.corrections import adjust_pvalues as adjust_pvalues
from fastevals.many.models import batch_auc as batch_auc
from fastevals.many.models import batch_metrics as batch_metrics
from fastevals.infer.bayes.bradley_terry import bayes_bradley_terry as bayes_bradley_terry
from fastevals.infer.bayes.folds import bayes_correlated_t as bayes_correlated_t
from fastevals.infer.bayes.hierarchical import bayes_hierarchical as bayes_hierarchical
from fastevals.infer.bayes.signed_ranks import bayes_signed_rank as bayes_signed_rank
from fastevals.infer.selection.bias_corrected import bbc_cv as bbc_cv
from fastevals.measure.bias_variance.bias_variance import bias_variance as bias_variance
from fastevals.split.training_sets import bias_variance_curve as bias_variance_curve
from fastevals.split.training_sets import bias_variance_over_training_sets as bias_variance_over_training_sets
from fastevals.infer.significance.binomial import binomial_error_test as binomial_error_test
from fastevals.infer.significance.rank_comparisons import bonferroni_dunn_test as bonferroni_dunn_test
from fastevals.infer.bootstrap.bootstrap import bootstrap as bootstrap
from fastevals.infer.bootstrap.statistics import bootstrap_statistic as bootstrap_statistic
from fastevals.infer.bootstrap.unpaired import bootstrap_unpaired as bootstrap_unpaired
from fastevals.infer.calibration.calibration import calibration as calibration
from fastevals.infer.calibration.comparison import calibration_unpaired as calibration_unpaired
from fastevals.infer.costs.class_costs import class_costs as class_costs
from fastevals.infer.class_thresholds import class_thresholds as class_thresholds
from fastevals.infer.significance.cochran import cochran_q_test as cochran_q_test
from fastevals.many.group_comparison import compare_groups as compare_groups
from fastevals.infer.comparison import compare_predictions as compare_predictions
from fastevals.many.queries import compare_query_metrics as compare_query_metrics
from fastevals.infer.comparison import compare_rankings as compare_rankings
from fastevals.infer.bands import confidence_band as confidence_band
from fastevals.infer.sequential.sequence import confidence_sequence as confidence_sequence
from fastevals.infer.significance.t_tests import corrected_resampled_t_test as corrected_resampled_t_test
from fastevals.measure.cost_sensitive import cost_threshold as cost_threshold
from fastevals.infer.delong.delong import delong as delong
from fastevals.infer.delong.delong import delong_test as delong_test
from fastevals.infer.delong.delong import delong_test_unpaired as delong_test_unpaired
from fastevals.infer.significance.equivalence import equivalence_test as equivalence_test
from fastevals.split.estimates.corrections import error_632 as error_632
from fastevals.split.estimates.corrections import error_632_plus as error_632_plus
from fastevals.infer.bayes.error_rate import error_rate_posterior as error_rate_posterior
from fastevals.infer.significance.t_tests import error_rate_t_test as error_rate_t_test
from fastevals.split.estimates.estimates import estimate_error as estimate_error
from fastevals.split.estimates.fixed_predictions import evaluate_splits as evaluate_splits
from fastevals.infer.significance.five_by_two import five_by_two_cv_f_test as five_by_two_cv_f_test
from fastevals.infer.significance.five_by_two import five_by_two_cv_t_test as five_by_two_cv_t_test
from fastevals.infer.significance.friedman import friedman_test as friedman_test
from fastevals.infer.gain_table import gain_table as gain_table
from fastevals._execution import get_num_threads as get_num_threads
from fastevals.many.group_differences import group_differences as group_differences
from fastevals.many.groups import grouped_auc as grouped_auc
from fastevals.many.groups import grouped_metrics as grouped_metrics
from fastevals.infer.selection.holdout_reuse import holdout_reuse as holdout_reuse
from fastevals.split.error_curves import learning_curve as learning_curve
from fastevals.infer.significance.mcnemar import mcnemar_test as mcnemar_test
from fastevals.infer.significance.mcnemar import mcnemar_test_of_table as mcnemar_test_of_table
from fastevals.measure.metric_specs import metric as metric
from fastevals.measure.cost_sensitive import minimum_cost_predictions as minimum_cost_predictions
from fastevals.infer.confused_pairs import most_confused as most_confused
from fastevals.infer.significance.rank_comparisons import nemenyi_test as nemenyi_test
from fastevals._execution import num_threads as num_threads
from fastevals.infer.permutation.permutation import paired_permutation_test as paired_permutation_test
from fastevals.infer.significance.t_tests import paired_t_test as paired_t_test
from fastevals.infer.significance.mcnemar import pairwise_mcnemar_tests as pairwise_mcnemar_tests
from fastevals.infer.significance.pairwise import pairwise_tests as pairwise_tests
from fastevals.infer.permutation.permutation import permutation_test as permutation_test
from fastevals.infer.planning.comparisons import plan_comparison as plan_comparison
from fastevals.infer.planning.planning import plan_sample_size as plan_sample_size
from fastevals.measure.predicted_quantiles import predicted_intervals as predicted_intervals
from fastevals.measure.predicted_quantiles import predicted_quantiles as predicted_quantiles
from fastevals.infer.proportions import proportion_interval as proportion_interval
from fastevals.many.queries import query_metrics as query_metrics
from fastevals.infer.significance.rank_comparisons import rank_comparison_test as rank_comparison_test
from fastevals.measure.regression import regression_metrics as regression_metrics
from fastevals.infer.calibration.bands import reliability_band as reliability_band
from fastevals.infer.costs.row_costs import row_costs as row_costs
from fastevals.infer.drift.drift import score_drift as score_drift
from fastevals.integrations.sklearn import scorer as scorer
from fastevals.split.selection import select_model as select_model
from fastevals.document.notebook import set_display as set_display
from fastevals._execution import set_num_threads as set_num_threads
from fastevals.infer.significance.signed_ranks import sign_test as sign_test
from fastevals.infer.significance.skillings_mack import skillings_mack_test as skillings_mack_test
from fastevals.split.error_curves import validation_curve as validation_curve
from fastevals.infer.significance.signed_ranks import wilcoxon_test as wilcoxon_test

__version__: str
__all__: list[str]

def compare(
    data: Any = None,
    *,
    dataset: str | Sequence[str] | None = None,
    algorithm: str | Sequence[str] | None = None,
    by: str | None = None,
    lower_is_better: bool = False,
    control: str | None = None,
    posthoc: PostHoc | None = None,
    bibtex: bool = False,
    reference: str | None = None,
    label: str | None = None,
    pred: Sequence[str] | None = None,
    probabilities: Any = None,
    classes: Sequence[Any] | None = None,
    ordered: bool = False,
    normalize: bool = False,
    pos_label: Any = None,
    method: McNemarMethod | None = None,
    groups: str | None = None,
    n_resamples: int | None = None,
    rng: Any = None,
    on_missing_label: OnInvalid = "raise",
    on_invalid: OnInvalid = "raise",
    confidence_level: float = 0.95,
    separator: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    progress: bool = False,
) -> ResultsComparison | PredictionsComparison | ProbabilitiesComparison:
    """Test whether models differ, by results on data sets or by predictions, as ``fastevals compare`` does.

    Parameters
    ----------
    data : path, frame or mapping of str to array-like, optional
        A CSV, Parquet or Arrow file, a frame (pandas, polars, Arrow) or columns by name. Results have one row per data
        set and one column per algorithm; an index without a name names the rows. Or they have one row per result,
        with columns for the data set, the algorithm, the result and possibly the fold: then folds are averaged, and the
        direction of a known metric is that of its column's name. A mapping of names to estimates, as in
        `friedman_test`, also counts as results. Predictions, with `label` and `pred`, have one row per sample, a column
        of the true class and a column of each model's predicted class or, with `probabilities`, its columns of class
        probabilities. By default embedded results.
    dataset : str or sequence of str, optional
        Columns that name data sets, in addition to columns of text.
    algorithm : str or sequence of str, optional
        Columns of algorithms' results; by default all others.
    by : str, optional
        Compare results separately for each value of this column.
    lower_is_better : bool
        Whether results are errors or losses; estimates have the direction of their metric.
    control : str, optional
        Compare the other algorithms only with this one.
    posthoc : str, optional
        The test of pairs, "nemenyi", "bonferroni-dunn", "holm", "hochberg", "shaffer", "finner", "benjamini-hochberg"
        or "wilcoxon": "nemenyi" by default, or "bonferroni-dunn" with `control`.
    bibtex : bool
        Whether the text ends with the BibTeX entries of the works that its paragraph for a paper cites.
    reference : str, optional
        Compare the other models only with this one; differences are another model minus the reference. For results, the
        same as `control`.
    label : str, optional
        Column of the true class; then `data` holds predictions.
    pred : sequence of str
        Columns of the predicted classes of two or more models.
    probabilities : sequence of str, or mapping of str to array-like
        Probabilities of classes instead of predicted classes, one entry per model: a pattern such as ``"forest_*"``,
        whose ``*`` stands for the class in the names of columns; a column of lists; or, by model, arrays of shape
        (n_samples, n_classes) and frames with a column per class.
    classes : sequence of label, optional
        The classes in order, which a column of lists or an array needs if its columns are not in the order of sorted
        labels.
    ordered : bool
        Whether the classes are ordered, which adds the ranked probability score. Columns of an ordered type have their
        own order.
    normalize : bool
        Divide each row's probabilities by their sum; by default sums other than 1 are an error.
    pos_label : label, optional
        The positive class if there are two; 1 among 0/1, -1/1 and booleans.
    method : {"exact", "mid-p", "corrected", "uncorrected"}, optional
        Form of McNemar's test, "exact" by default.
    groups : str, optional
        Column of clusters, such as patients, whose rows are resampled together.
    n_resamples : int, optional
        Bootstrap replicates, 1999 by default.
    rng : int or numpy.random.Generator, optional
        Seed of the replicates, 0 by default.
    on_missing_label : {"raise", "drop"}
        Whether a row without a true class is an error, or is left out and counted.
    on_invalid : {"raise", "drop"}
        Whether a row that lacks a cluster, or a model's predicted class or probabilities, is an error, or is left out
        and counted.
    confidence_level : float in (0, 1)
        Level of intervals; tests are at level 1 - `confidence_level`.
    separator, encoding, header : str, str and bool, optional
        How a CSV file is written; only needed if the file does not show it.
    progress : bool
        Show a progress bar for the bootstrap (needs tqdm).

    Returns
    -------
    ResultsComparison, PredictionsComparison or ProbabilitiesComparison
        It prints itself; ``to_dict()`` is the JSON of the command, ``to_text()`` its text.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.
    ImportError
        If `data` is a file and pyarrow is not installed.

    Examples
    --------
    >>> import fastevals
    >>> results = {"a": [0.9, 0.8, 0.7, 0.9, 0.8], "b": [0.7, 0.7, 0.6, 0.8, 0.6], "c": [0.5, 0.6, 0.4, 0.5, 0.5]}
    >>> block = fastevals.compare(results).to_dict()["blocks"][0]
    >>> block["mean_ranks"], round(block["friedman"]["pvalue"], 4)
    ({'a': 1.0, 'b': 2.0, 'c': 3.0}, 0.0008)
    """
    ...

def gate(
    data: Any,
    rules: str | Sequence[str],
    *,
    reference: Any = None,
    label: str | None = None,
    score: str | Sequence[str] | None = None,
    pred: str | Sequence[str] | None = None,
    probabilities: Any = None,
    classes: Sequence[Any] | None = None,
    normalize: bool = False,
    target: str | None = None,
    model: str | None = None,
    sample_weight: str | None = None,
    frequency_weight: str | None = None,
    groups: str | None = None,
    pos_label: Any = None,
    cost_fp: float | None = None,
    cost_fn: float | None = None,
    cost_fp_column: str | None = None,
    cost_fn_column: str | None = None,
    cost_tp: float | None = None,
    cost_tp_column: str | None = None,
    nightly: Any = None,
    night: str | None = None,
    min_labelled: float | None = None,
    undecided: Undecided = "undecided",
    plan: bool = False,
    n_resamples: int = 9999,
    confidence_level: float = 0.95,
    rng: Any = 0,
    separator: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    memory: int | str | None = None,
    cells: bool = False,
    on_missing_label: OnInvalid = "raise",
    on_invalid: OnInvalid = "raise",
    progress: bool = False,
) -> GateResult | GatePlan:
    """Decide by rules whether a model may ship, as ``fastevals gate`` does: pass, fail or undecided.

    Parameters
    ----------
    data : path, paths, frame, mapping of str to array-like, summary or Ranking
        As for `report`: rows with labels and scores or predictions, or counts.
    rules : str or sequence of str
        Rules such as ``"roc_auc >= 0.80"``, ``"roc_auc not worse than champion by 0.005"``, ``"recall at fpr=0.01
        better than champion"``, ``"brier equivalent to champion within 0.002"`` or ``"predicted/observed within 0.9 ..
        1.1 by region"``. A metric is any that `metric` takes; its options follow "at". The other model is a column of
        scores, or "champion" for `reference`. A margin such as ``2%`` is a share of the other model's metric. With "by
        COLUMN" (or "by A x B") each segment must satisfy the rule.
    reference : str or data, optional
        The champion that rules compare with: another model of the same rows (its column), or the same model on other
        rows (files, a frame, a summary, or a receipt that pins its results). In rules, "champion" means the reference.
    label : str
        Column of the true class. For a `Ranking` or counts, its name in texts, "label" by default.
    score : str or sequence of str
        Columns of scores, one per model, higher for the positive class. For a `Ranking` or counts, the model's name.
    pred : str or sequence of str
        Columns of predictions instead of scores, one per model: classes, or numbers with `target`.
    probabilities : str, sequence of str, array-like, or mapping of str to array-like
        Probabilities of classes instead of scores, one entry per model: a pattern such as ``"forest_*"``, whose ``*``
        stands for the class in the names of columns; a column of lists; or, by model, arrays of shape (n_samples,
        n_classes) and frames with a column per class. An array alone is of a model named "model".
    classes : sequence of label, optional
        The classes in order, which a column of lists or an array needs if its columns are not in the order of sorted
        labels.
    normalize : bool
        Divide each row's probabilities by their sum; by default sums other than 1 are an error.
    target : str
        Column of the true numbers.
    model : str, optional
        The judged model; by default the only model that is neither the reference nor named in a rule.
    sample_weight : str, optional
        Column of row weights; each row is one independent observation.
    frequency_weight : str, optional
        Column of the number of copies of each row, a whole number; the result is the same as with repeated rows. Not
        with `sample_weight`.
    groups : str, optional
        Column of clusters, such as patients, whose rows are resampled together.
    pos_label : label, optional
        The positive class; 1 among 0/1, -1/1 and booleans.
    cost_fp, cost_fn : float, optional
        Costs of a false positive and a false negative that are the same in all rows, if another cost is a column; 1 by
        default.
    cost_fp_column, cost_fn_column : str, optional
        Columns of costs that differ by row, such as amounts, for rules on "mean_cost", "total_cost", "savings",
        "savings_share", "savings_over_all" and "savings_over_all_share", see `row_costs`.
    cost_tp : float, optional
        Cost of a true positive, such as a fee, if another cost differs by row; a benefit is < 0.
    cost_tp_column : str, optional
        Column of each row's cost of a true positive.
    nightly : path, optional
        The state file of a gate that is asked every night. Each run adds the night's estimates to it, and rules are
        decided by confidence sequences over all nights, which hold at every look.
    night : str, optional
        Name of the night in the state file; by default the name of the data's file. If the state file has this night
        already, its record is replaced.
    min_labelled : float in [0, 1], optional
        With ``on_missing_label="drop"``, all rules are undecided if a smaller share of rows has a label. With
        `nightly`, the night is then not recorded: ask again when its labels have arrived.
    undecided : {"undecided", "pass", "fail"}
        What an undecided gate counts as; by default it has its own exit status.
    plan : bool
        Instead of judging, plan how many rows each rule needs, with the data as the pilot. Each rule states the true
        value, or true difference, that it assumes: "roc_auc >= 0.8 assuming 0.83". Without it, a rule with a margin
        assumes that the models are equal.
    n_resamples : int
        Bootstrap replicates.
    confidence_level : float in (0.5, 1)
        Level of the one-sided bound that passes a rule. Bounds that fail rules are simultaneous at this level.
    rng : int or numpy.random.Generator
        Seed; the same integer gives the same decisions.
    separator, encoding, header : str, str and bool, optional
        How a CSV file is written; only needed if the file does not show it.
    memory : int or str, optional
        Bytes of memory for rows, such as ``"2GB"``; by default half of what is free. Larger data of scores are read in
        two or more scans, with the same results.
    cells : bool
        Whether `data` is a table of counts, such as the result of a database's ``GROUP BY``: columns "low" and "high"
        are the lowest and highest score of each range of scores, "positives" and "negatives" its numbers of rows. A
        column "model" is needed only for several models.
    on_missing_label : {"raise", "drop"}
        Whether a row without a true class or target is an error, or is left out and counted.
    on_invalid : {"raise", "drop"}
        Whether a row without a finite score, prediction or weight is an error, or is left out and counted. With "drop",
        None, ?, NA and the like are missing values in CSV files. Rows without a value of `by` are a block of their own.
    progress : bool
        Show a progress bar for the bootstrap (needs tqdm).

    Returns
    -------
    GateResult or GatePlan
        The decisions: ``outcome`` is "pass", "fail" or "undecided", ``to_dict()`` is the receipt, and `print` shows the
        text. With `plan`, a `GatePlan` with the rows that each rule needs.

    Raises
    ------
    ValueError
        If an argument or a rule is not as described; the message names the rule, the place in it and what is meant.

    Notes
    -----
    A rule states the range in which a metric, or a difference, must lie. It passes if the one-sided bounds of the
    metric at `confidence_level` lie in the range: a model that is exactly at the limit passes in about 5 % of samples
    or fewer. This is a non-inferiority test for "not worse than" and two one-sided tests for "equivalent to" [1]_. A
    gate passes only if all rules pass, so each rule is tested at the full level [2]_. A rule fails if both bounds lie
    on the same side of the range. These bounds are simultaneous over all rules and segments (Bonferroni), so a gate
    whose rules all hold fails in about 5 % of samples or fewer. In all other cases the rule is undecided.

    The bounds are for a single look at rows on which no model or threshold was trained or chosen. A gate that is asked
    every night needs `nightly`: the bounds then come from `confidence_sequence`, over all nights in the state file, and
    hold at all looks.

    References
    ----------
    .. [1] Schuirmann, D. J. (1987), "A comparison of the two one-sided tests procedure and the power approach",
       Journal of Pharmacokinetics and Biopharmaceutics 15, 657-680, doi:10.1007/BF01068419.
    .. [2] Berger, R. L. (1982), "Multiparameter hypothesis testing and acceptance sampling", Technometrics 24,
       295-300, doi:10.1080/00401706.1982.10487790.

    Examples
    --------
    >>> import fastevals
    >>> columns = {"y": [0, 1] * 200, "p": [0.2, 0.8, 0.1, 0.9, 0.4, 0.6, 0.7, 0.5] * 50}
    >>> found = fastevals.gate(columns, "roc_auc >= 0.7", label="y", score="p")
    >>> found.outcome, found.exit_status
    ('pass', 0)
    """
    ...

def report(
    data: Any = None,
    *,
    label: str | None = None,
    score: str | Sequence[str] | None = None,
    pred: str | Sequence[str] | None = None,
    probabilities: Any = None,
    classes: Sequence[Any] | None = None,
    ordered: bool = False,
    normalize: bool = False,
    queries: str | None = None,
    qrels: Any = None,
    document: str | None = None,
    metric: Any = None,
    target: str | None = None,
    sample_weight: str | None = None,
    frequency_weight: str | None = None,
    by: str | Sequence[str] | None = None,
    cross: bool = False,
    trend: bool = False,
    min_labelled: float | None = None,
    pos_label: Any = None,
    threshold: float | None = None,
    best: str | None = None,
    cost_fp: float | None = None,
    cost_fn: float | None = None,
    cost_fp_column: str | None = None,
    cost_fn_column: str | None = None,
    cost_tp: float | None = None,
    cost_tp_column: str | None = None,
    prior: float | None = None,
    gain_table: bool = False,
    reference: str | None = None,
    n_resamples: int | None = None,
    confidence_level: float = 0.95,
    rng: Any = 0,
    groups: str | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    memory: int | str | None = None,
    approximate: bool = False,
    cells: bool = False,
    on_missing_label: OnInvalid = "raise",
    on_invalid: OnInvalid = "raise",
    against: Any = None,
    progress: bool = False,
) -> Report | QueriesReport:
    """Report how good models are, how certain that is, and whether they differ, like ``fastevals report``.

    Parameters
    ----------
    data : path, paths, frame, mapping of str to array-like, or counts, optional
        Data with one row per sample: CSV, Parquet or Arrow files, folders or patterns such as ``"scores/*.parquet"``, a
        pyarrow data set or record-batch reader, of any size; a frame (pandas, polars, Arrow), a DuckDB query or another
        object with an Arrow stream; or columns by name. Or one model: a `Ranking`, `RankingSummary` or
        `ThresholdCounts` of its scores, a `ConfusionMatrix` of its predictions, a `ClassScoresSummary` of its class
        probabilities. By default the embedded scores of three classifiers. Predicted classes and numbers are read into
        memory.
    label : str
        Column of the true class. For a `Ranking` or counts, its name in texts, "label" by default.
    score : str or sequence of str
        Columns of scores, one per model, higher for the positive class. For a `Ranking` or counts, the model's name.
    pred : str or sequence of str
        Columns of predictions instead of scores, one per model: classes, or numbers with `target`.
    probabilities : str, sequence of str, array-like, or mapping of str to array-like
        Probabilities of classes instead of scores, one entry per model: a pattern such as ``"forest_*"``, whose ``*``
        stands for the class in the names of columns; a column of lists; or, by model, arrays of shape (n_samples,
        n_classes) and frames with a column per class. An array alone is of a model named "model".
    classes : sequence of label, optional
        The classes in order, which a column of lists or an array needs if its columns are not in the order of sorted
        labels.
    ordered : bool
        Whether the classes are ordered, which adds the ranked probability score. Columns of an ordered type have their
        own order.
    normalize : bool
        Divide each row's probabilities by their sum; by default sums other than 1 are an error.
    queries : str, optional
        Column of queries. The report is then on systems that rank documents for queries, with the mean of each metric
        over queries; `label` is the column of relevance.
    qrels : path, frame, mapping or `Qrels`, optional
        Judgments of documents in a table of their own (query, document, relevance), or in TREC's form. `data` is then a
        run, a mapping of names to runs, or a file for each system; or a table with a column of scores for each system.
        The columns are "query", "document" and "relevance", unless `queries`, `document` and `label` name others.
    document : str, optional
        Column of documents in judgments and runs.
    metric : str, `metric(...)` or a sequence of these, optional
        Metrics of ranked documents, the one that ranks systems first; by default "ndcg@10", "map", "mrr" and
        "recall@10".
    target : str
        Column of the true numbers.
    sample_weight : str, optional
        Column of row weights; each row is one independent observation.
    frequency_weight : str, optional
        Column of the number of copies of each row, a whole number; the result is the same as with repeated rows. Not
        with `sample_weight`.
    by : str or sequence of str, optional
        Report means over this column's values and, if there are at most 100, a block for each value. With several
        models, also report how much each model differs from the first one, or from the `reference`, within each value.
        Several columns are reported one by one.
    cross : bool
        Report on each combination of the values of the columns in `by`, instead of each column.
    trend : bool
        Follow each metric over ordered values, such as days: the values of `by` or, without it, several files, each
        named by its path, in natural order. Each value is compared with the mean of the others; intervals and p-values
        are simultaneous over all values.
    min_labelled : float in [0, 1], optional
        With `trend` and ``on_missing_label="drop"``, a value in which fewer rows have a label is undecided, and not
        compared.
    pos_label : label, optional
        The positive class; 1 among 0/1, -1/1 and booleans.
    threshold : float, optional
        Predict positive where ``score >= threshold``.
    best : str, optional
        Instead use each model's best threshold by this metric: "f1" by default, "expected_cost" with costs.
    cost_fp, cost_fn : float, optional
        Costs of a false positive and a false negative; 1 if only the other cost or the prior is given.
    cost_fp_column, cost_fn_column : str, optional
        Columns of costs that differ by row, such as amounts. One cost may be a constant (`cost_fp` or `cost_fn`) if the
        other is a column. Thresholds then have the lowest total cost, see `row_costs`.
    cost_tp : float, optional
        Cost of a true positive, such as a fee, if another cost differs by row; a benefit is < 0.
    cost_tp_column : str, optional
        Column of each row's cost of a true positive.
    prior : float, optional
        Share of positives where the models are used, to compute costs; by default the block's own.
    gain_table : bool
        Add a table of deciles and top shares for each model, see `fastevals.gain_table`.
    reference : str, optional
        The model to compare the others with, such as the one in use. It is listed first, each difference is another
        model minus the reference, and intervals and p-values of differences are simultaneous over these pairs only. By
        default all pairs of models are compared.
    n_resamples : int, optional
        Bootstrap replicates; 0: no intervals. By default 1999, with a budget of 1 billion draws (rows x models x
        replicates) per report; blocks that are too large for it resample cells of rows.
    confidence_level : float in (0, 1)
        Level of each interval; for differences, joint level of all intervals in a metric.
    rng : int or numpy.random.Generator
        Seed; the same integer gives the same report.
    groups : str, optional
        Column of clusters, such as patients, whose rows are resampled together.
    separator, encoding, header : str, str and bool, optional
        How a CSV file is written; only needed if the file does not show it.
    memory : int or str, optional
        Bytes of memory for rows, such as ``"2GB"``; by default half of what is free. Larger data are read in two or
        more scans, with the same results; probabilities of classes are counted in one scan, as by ``fastevals
        summarize``.
    approximate : bool
        Read rows once, count scores in ranges, and give numbers with guaranteed bounds.
    cells : bool
        Whether `data` is a table of counts, such as the result of a database's ``GROUP BY``: columns "low" and "high"
        are the lowest and highest score of each range of scores, "positives" and "negatives" its numbers of rows. A
        column "model" is needed only for several models.
    on_missing_label : {"raise", "drop"}
        Whether a row without a true class or target is an error, or is left out and counted.
    on_invalid : {"raise", "drop"}
        Whether a row without a finite score, prediction or weight is an error, or is left out and counted. With "drop",
        None, ?, NA and the like are missing values in CSV files. Rows without a value of `by` are a block of their own.
    against : as for `data`, optional
        Other rows, such as yesterday's: files, a frame, a ranking or summaries, whatever `data` is, or rows of
        predictions if `data` has predictions; `label`, `score` and the other options on rows apply to them, too. Each
        model is compared with itself on these rows, and each difference has a separate interval. Values of `by` are
        compared with the same value.
    progress : bool
        Show a progress bar for each block's bootstrap (needs tqdm).

    Returns
    -------
    Report or QueriesReport
        It prints itself; ``to_dict()`` is the JSON of the command, ``to_text()`` its text, ``to_html()`` a page. It
        keeps the data for the pictures of the first 20 blocks. With `queries` or `qrels`, it is on ranked documents.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.
    ImportError
        If `data` is a file and pyarrow is not installed.

    Examples
    --------
    >>> import fastevals
    >>> columns = {"y": [0, 1, 0, 1, 1, 0], "a": [0.1, 0.8, 0.5, 0.6, 0.4, 0.2], "b": [0.3, 0.9, 0.2, 0.7, 0.8, 0.1]}
    >>> report = fastevals.report(columns, label="y", score=["a", "b"], n_resamples=0).to_dict()
    >>> [(model["name"], round(model["metrics"]["roc_auc"], 4)) for model in report["blocks"][0]["models"]]
    [('a', 0.8889), ('b', 1.0)]
    >>> columns = {"y": ["cat", "dog", "owl", "cat"], "p": ["cat", "dog", "cat", "cat"]}
    >>> found = fastevals.report(columns, label="y", pred="p", n_resamples=0).to_dict()["blocks"][0]["models"][0]
    >>> found["metrics"]["accuracy"], found["confusion"]
    (0.75, [[2, 0, 0], [0, 1, 0], [1, 0, 0]])
    >>> columns = {"y": ["cat", "dog", "owl"], "p": [[0.7, 0.2, 0.1], [0.3, 0.4, 0.3], [0.4, 0.4, 0.2]]}
    >>> found = fastevals.report(columns, label="y", probabilities="p", n_resamples=0).to_dict()["blocks"][0]
    >>> round(found["models"][0]["metrics"]["log_loss"], 4)
    0.9608
    >>> columns = {"query": [1, 1, 2, 2], "relevant": [0, 1, 1, 0], "bm25": [2, 1, 3, 1], "dense": [1, 2, 2, 1]}
    >>> found = fastevals.report(
    ...     columns, queries="query", label="relevant", score=["bm25", "dense"], metric="mrr", n_resamples=0
    ... )
    >>> found.means
    {'bm25': {'mrr': 0.75}, 'dense': {'mrr': 1.0}}
    """
    ...
