"""Requests to an engine's frames, and the results made from their answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, Required, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._choices import OnInvalid
from fastevals._options import as_flag, check_choice, check_integer, named_by_base, names_keywords, show
from fastevals.many.groups import GroupedMetric, MetricsByGroup, group_results
from fastevals.measure.kinds import LABELS, QUANTILES, SCORES, TARGETS, array_kind, metric_kinds
from fastevals.measure.metric_specs import parse_metrics
from fastevals.measure.ranking.ranking import Ranking
from fastevals.reading.rows import (
    CountOptions,
    LabelOptions,
    RankingOptions,
    Weights,
    check_names,
    given_columns,
    named_classes,
    score_names,
)
from fastevals.reading.sources import RowRules
from fastevals.reading.values import ascending
from fastevals.results import check_confidence_level
from fastevals.scale.certified import CertifiedRanking
from fastevals.scale.class_scores import ClassScoresSummary
from fastevals.scale.classes import ConfusionSummary
from fastevals.scale.engines.frame import Frame
from fastevals.scale.engines.rankings import FrameSample, count_scores, exact_rankings
from fastevals.scale.grouped import GroupSummary, MergedInterval
from fastevals.scale.parquet import Models, threshold_keys
from fastevals.scale.probabilities import ProbabilitySummary
from fastevals.scale.scores import ScoresSummary
from fastevals.scale.summary import MOST_CELLS, RankingSummary, as_label
from fastevals.scale.targets import TargetSummary
from fastevals.scale.tasks import (
    ArgumentColumns,
    CountClassScores,
    CountGroups,
    CountValues,
    MeasuredGroups,
    MeasureGroups,
    RankingColumns,
    probability_columns,
)

MOST_PARTED = 100  # each worker keeps a summary for up to this many values; more values are treated as groups

AnyRanking = Ranking | CertifiedRanking


class SummaryOptions(RankingOptions, total=False):
    """Options of `summarize`."""

    score: Required[str | Sequence[str]]
    probabilities: bool


class ClassScoresOptions(CountOptions, total=False):
    """Options of `class_scores_summary`."""

    label: Required[str]
    probabilities: Required[str | Sequence[str] | Mapping[Any, str]]
    classes: Sequence[Any] | None
    ordered: bool
    n_bins: int
    cells: int


class Engine:
    """The functions that an engine offers for its frames.

    Parameters
    ----------
    open : callable
        Makes a `Frame` from the engine's own data frame.
    """

    def __init__(self, open: Callable[[Any], Frame]) -> None:
        self.open = open

    # Rankings ---------------------------------------------------------------------------------------------------------

    @overload
    def ranking(
        self, data: Any, *, score: str, by: None = ..., exact: Literal[True], **options: Unpack[RankingOptions]
    ) -> Ranking: ...
    @overload
    def ranking(
        self, data: Any, *, score: str, by: None = ..., exact: bool = ..., **options: Unpack[RankingOptions]
    ) -> AnyRanking: ...
    @overload
    def ranking(
        self, data: Any, *, score: Models, by: None = ..., exact: bool = ..., **options: Unpack[RankingOptions]
    ) -> dict[str, AnyRanking]: ...
    @overload
    def ranking(
        self, data: Any, *, score: str, by: str, exact: bool = ..., **options: Unpack[RankingOptions]
    ) -> Mapping[Any, AnyRanking]: ...
    @overload
    def ranking(
        self, data: Any, *, score: Models, by: str, exact: bool = ..., **options: Unpack[RankingOptions]
    ) -> Mapping[Any, dict[str, AnyRanking]]: ...
    @names_keywords
    def ranking(
        self,
        data: Any,
        *,
        label: str,
        score: str | Sequence[str],
        sample_weight: str | None = None,
        frequency_weight: str | None = None,
        by: str | None = None,
        pos_label: Any = None,
        exact: bool = False,
        cells: int = 2**18,
        at: ArrayLike = (),
        on_missing_label: OnInvalid = "raise",
        on_invalid: OnInvalid = "raise",
    ) -> Any:
        """Return the ranking of all rows of a frame, however many: with certified bounds, or exact.

        Workers count their partitions in ranges of scores that are fitted to a sample of the rows. Each worker returns
        a few hundred kilobytes.

        Parameters
        ----------
        data : DataFrame of Spark or Dask
            A data frame with one row per sample.
        label : str
            Column of the true class.
        score : str or sequence of str
            Column of scores, which must be higher for the positive class. If several columns are given, one per model,
            a dict is returned.
        sample_weight : str, optional
            Column of row weights: each row is one independent observation. Integer weights are counted exactly. With
            `exact=True`, metrics of weighted rows have no intervals.
        frequency_weight : str, optional
            Column with the number of copies of each row: integers. A row with n copies counts like n equal rows. Not
            allowed with `sample_weight`.
        by : str, optional
            Column of values that divide the rows. If given, a mapping from each value to its ranking is returned, with
            None for the rows that lack a value. With more than about a hundred values, all distinct scores are kept (at
            most 20 million), and results are exact; rows without a value then raise an error or are left out (see
            `on_invalid`).
        pos_label : label, optional
            The positive class: by default 1 for labels 0/1, -1/1 and booleans.
        exact : bool
            If true, count rows at and between the distinct scores of the positives, which are sent to every worker.
            Only if there are more than 4 million distinct scores are rows shuffled, into ranges of scores. Weights must
            be integers. Rows are read more than once, and a frame that changes between two passes raises an error: call
            ``persist()`` first if the frame has a random column, or a source that is rewritten.
        cells : int
            Approximate number of score ranges, if the ranking is not exact.
        at : float or array-like, optional
            Thresholds at which counts are always exact. An exact ranking also has exact counts at 0, 0.01, ..., 1 and
            at scores of positives; at other thresholds, counts raise an error or have bounds.
        on_missing_label : {"raise", "drop"}
            Whether rows without a label raise an error or are left out.
        on_invalid : {"raise", "drop"}
            Whether rows without a weight or a finite score raise an error or are left out.

        Returns
        -------
        Ranking or CertifiedRanking, or dicts of them by value and by model
            Objects with the methods of a `Ranking`; numbers that the counts in ranges do not determine are
            `Certified`.

        Raises
        ------
        ValueError
            If an argument is not as described, if a column is missing or has a value that can't be counted (the message
            names the partition and the row), or if `exact` is true and rows change between two
            passes.
        ImportError
            If workers lack fastevals or have another version of it.
        """
        rules = RowRules(on_missing_label, on_invalid)
        columns = _ranking_columns(label, score, Weights(sample_weight, frequency_weight), by, pos_label, rules)
        exact = as_flag("exact", exact)
        sample, cells, thresholds = self._sampled(data, columns, cells, at)
        frame, columns = sample.frame, sample.columns
        found: Mapping[Any, Mapping[str, Any]]
        if sample.n_values > MOST_PARTED:
            groups = frame.do(CountGroups(replace(columns, are_groups=True)))
            by_model = {name: summary.rankings() for name, summary in groups.items()}
            return by_model[score] if isinstance(score, str) else _ByValue(by_model)
        if exact:
            found = exact_rankings(frame, columns, thresholds)
        else:
            summary = count_scores(sample, cells, thresholds)
            found = {
                value: {name: each.ranking() for name, each in block.summaries.items()}
                for value, block in summary.blocks.items()
            }
        return _shaped(found, by, score)

    @overload
    def ranking_summary(
        self, data: Any, *, score: str, by: None = ..., **options: Unpack[RankingOptions]
    ) -> RankingSummary: ...
    @overload
    def ranking_summary(
        self, data: Any, *, score: Models, by: None = ..., **options: Unpack[RankingOptions]
    ) -> dict[str, RankingSummary]: ...
    @overload
    def ranking_summary(
        self, data: Any, *, score: str, by: str, **options: Unpack[RankingOptions]
    ) -> dict[Any, RankingSummary]: ...
    @overload
    def ranking_summary(
        self, data: Any, *, score: Models, by: str, **options: Unpack[RankingOptions]
    ) -> dict[Any, dict[str, RankingSummary]]: ...
    @names_keywords
    def ranking_summary(
        self,
        data: Any,
        *,
        label: str,
        score: str | Sequence[str],
        sample_weight: str | None = None,
        frequency_weight: str | None = None,
        by: str | None = None,
        pos_label: Any = None,
        cells: int = 2**18,
        at: ArrayLike = (),
        on_missing_label: OnInvalid = "raise",
        on_invalid: OnInvalid = "raise",
    ) -> Any:
        """Return the summary behind `ranking`; it can be stored, merged with others, and passed to `bootstrap`.

        Parameters
        ----------
        data, label, score, sample_weight, frequency_weight, by, pos_label, cells, at, on_missing_label, on_invalid
            As for `ranking`; `by` may have at most about a hundred values.

        Returns
        -------
        RankingSummary, or dicts of them by value and by model

        Raises
        ------
        ValueError, ImportError
            As for `ranking`.
        """
        summary = self.summarize(
            data, label=label, score=score, sample_weight=sample_weight, frequency_weight=frequency_weight, by=by,
            pos_label=pos_label, cells=cells, at=at,
            on_missing_label=on_missing_label, on_invalid=on_invalid, probabilities=False,
        )  # fmt: skip
        found = {value: block.summaries for value, block in summary.blocks.items()}
        return _shaped(found, by, score)

    @overload
    def summarize(self, data: Any, *, by: None = ..., **options: Unpack[SummaryOptions]) -> ScoresSummary: ...
    @overload
    def summarize(
        self, data: Any, *, by: str, **options: Unpack[SummaryOptions]
    ) -> ScoresSummary[dict[str, RankingSummary]]: ...
    @names_keywords
    def summarize(
        self,
        data: Any,
        *,
        label: str,
        score: str | Sequence[str],
        sample_weight: str | None = None,
        frequency_weight: str | None = None,
        by: str | None = None,
        pos_label: Any = None,
        cells: int = 2**18,
        at: ArrayLike = (),
        on_missing_label: OnInvalid = "raise",
        on_invalid: OnInvalid = "raise",
        probabilities: bool = True,
    ) -> ScoresSummary[Any]:
        """Return the counts that a report needs; a file with their `to_bytes()` is input for `fastevals report`.

        Parameters
        ----------
        data, label, score, sample_weight, frequency_weight, by, pos_label, cells, at, on_missing_label, on_invalid
            As for `ranking`; `by` may have at most about a hundred values.
        probabilities : bool
            Whether to also keep the counts that Brier score, log loss and calibration need.

        Returns
        -------
        ScoresSummary

        Raises
        ------
        ValueError, ImportError
            As for `ranking`.
        """
        rules = RowRules(on_missing_label, on_invalid)
        columns = _ranking_columns(label, score, Weights(sample_weight, frequency_weight), by, pos_label, rules)
        probabilities = as_flag("probabilities", probabilities)
        sample, cells, thresholds = self._sampled(data, columns, cells, at)
        if sample.n_values > MOST_PARTED:
            raise ValueError(
                f"by must be a column of at most {MOST_PARTED} values, got {sample.n_values} in a sample of "
                f"{by!r}: ranking, group_summary and grouped_auc take any number"
            )
        return count_scores(sample, cells, thresholds, probabilities)

    # Other summaries --------------------------------------------------------------------------------------------------

    @overload
    def confusion_summary(
        self, data: Any, *, pred: str, by: None = ..., **options: Unpack[LabelOptions]
    ) -> ConfusionSummary: ...
    @overload
    def confusion_summary(
        self, data: Any, *, pred: str, by: str, **options: Unpack[LabelOptions]
    ) -> dict[Any, ConfusionSummary]: ...
    @names_keywords
    def confusion_summary(
        self,
        data: Any,
        *,
        label: str,
        pred: str,
        sample_weight: str | None = None,
        frequency_weight: str | None = None,
        by: str | None = None,
        pos_label: Any = None,
        on_missing_label: OnInvalid = "raise",
        on_invalid: OnInvalid = "raise",
    ) -> Any:
        """Count the true and predicted classes of all rows; ``.matrix()`` returns the confusion matrix.

        Parameters
        ----------
        data : DataFrame of Spark or Dask
        label, pred : str
            Columns of the true and the predicted class.
        sample_weight : str, optional
            Column of row weights.
        frequency_weight : str, optional
            Column with the number of copies of each row (integers). Not allowed with `sample_weight`.
        by : str, optional
            Column of at most 1,000 values that divide the rows. If given, a dict by value is returned.
        pos_label : label, optional
            The positive class, if there are two classes: by default 1 for labels 0/1, -1/1 and booleans.
        on_missing_label : {"raise", "drop"}
            Whether rows without a true class raise an error or are left out.
        on_invalid : {"raise", "drop"}
            Whether rows without a predicted class or a weight raise an error or are left out.

        Returns
        -------
        ConfusionSummary, or dict of ConfusionSummary by value

        Raises
        ------
        ValueError, ImportError
            As for `ranking`.
        """
        rules = RowRules(on_missing_label, on_invalid)
        arguments = {"label": label, "pred": pred}
        columns = _argument_columns(
            arguments, ("y_true", "y_pred"), (), Weights(sample_weight, frequency_weight), by, rules
        )
        positive = as_label("pos_label", pos_label)
        largest = self._checked(data, columns).largest_weight(sample_weight, rules)
        return self._summed(data, columns, ConfusionSummary, pos_label=positive, largest_weight=largest)

    @overload
    def target_summary(
        self, data: Any, *, target: str, pred: str, by: None = ..., **options: Unpack[CountOptions]
    ) -> TargetSummary: ...
    @overload
    def target_summary(
        self, data: Any, *, target: str, pred: str, by: str, **options: Unpack[CountOptions]
    ) -> dict[Any, TargetSummary]: ...
    @names_keywords
    def target_summary(
        self,
        data: Any,
        *,
        target: str,
        pred: str,
        sample_weight: str | None = None,
        frequency_weight: str | None = None,
        by: str | None = None,
        on_missing_label: OnInvalid = "raise",
        on_invalid: OnInvalid = "raise",
    ) -> Any:
        """Return sums of the errors of predicted numbers, for metrics of regression and their intervals.

        Parameters
        ----------
        data : DataFrame of Spark or Dask
        target, pred : str
            Columns of true and predicted numbers.
        sample_weight : str, optional
            Column of row weights.
        frequency_weight : str, optional
            Column with the number of copies of each row (integers). Not allowed with `sample_weight`.
        by : str, optional
            Column of at most 1,000 values that divide the rows. If given, a dict by value is returned.
        on_missing_label : {"raise", "drop"}
            Whether rows without a target raise an error or are left out.
        on_invalid : {"raise", "drop"}
            Whether rows without a finite prediction or a weight raise an error or are left out.

        Returns
        -------
        TargetSummary, or dict of TargetSummary by value

        Raises
        ------
        ValueError, ImportError
            As for `ranking`.
        """
        rules = RowRules(on_missing_label, on_invalid)
        arguments = {"target": target, "pred": pred}
        columns = _argument_columns(
            arguments,
            ("y_true", "y_pred"),
            ("y_true", "y_pred"),
            Weights(sample_weight, frequency_weight),
            by,
            rules,
        )
        return self._summed(data, columns, TargetSummary)

    @overload
    def probability_summary(
        self, data: Any, *, score: str, n_bins: int = ..., by: None = ..., **options: Unpack[LabelOptions]
    ) -> ProbabilitySummary: ...
    @overload
    def probability_summary(
        self, data: Any, *, score: str, n_bins: int = ..., by: str, **options: Unpack[LabelOptions]
    ) -> dict[Any, ProbabilitySummary]: ...
    @names_keywords
    def probability_summary(
        self,
        data: Any,
        *,
        label: str,
        score: str,
        sample_weight: str | None = None,
        frequency_weight: str | None = None,
        by: str | None = None,
        pos_label: Any = None,
        n_bins: int = 10,
        on_missing_label: OnInvalid = "raise",
        on_invalid: OnInvalid = "raise",
    ) -> Any:
        """Return exact counts of all rows, for Brier score, log loss and calibration.

        Parameters
        ----------
        data : DataFrame of Spark or Dask
        label, score : str
            Columns of the true class, and of the predicted probability of the positive class.
        sample_weight : str, optional
            Column of row weights: integers.
        frequency_weight : str, optional
            Column with the number of copies of each row (integers). Not allowed with `sample_weight`.
        by : str, optional
            Column of at most 1,000 values that divide the rows. If given, a dict by value is returned.
        pos_label : label, optional
            The positive class: by default 1 for labels 0/1, -1/1 and booleans.
        n_bins : int
            Number of bins of the calibration curve.
        on_missing_label : {"raise", "drop"}
            Whether rows without a label raise an error or are left out.
        on_invalid : {"raise", "drop"}
            Whether rows without a weight or a finite score raise an error or are left out.

        Returns
        -------
        ProbabilitySummary, or dict of ProbabilitySummary by value

        Raises
        ------
        ValueError, ImportError
            As for `ranking`.
        """
        rules = RowRules(on_missing_label, on_invalid)
        arguments = {"label": label, "score": score}
        columns = _argument_columns(
            arguments, ("y_true", "y_score"), ("y_score",), Weights(sample_weight, frequency_weight), by, rules
        )
        positive = as_label("pos_label", pos_label)
        return self._summed(data, columns, ProbabilitySummary, n_bins=n_bins, pos_label=positive)

    @overload
    def class_scores_summary(
        self, data: Any, *, by: None = ..., **options: Unpack[ClassScoresOptions]
    ) -> ClassScoresSummary: ...
    @overload
    def class_scores_summary(
        self, data: Any, *, by: str, **options: Unpack[ClassScoresOptions]
    ) -> dict[Any, ClassScoresSummary]: ...
    @names_keywords
    def class_scores_summary(
        self,
        data: Any,
        *,
        label: str,
        probabilities: str | Sequence[str] | Mapping[Any, str],
        classes: Sequence[Any] | None = None,
        ordered: bool = False,
        sample_weight: str | None = None,
        frequency_weight: str | None = None,
        by: str | None = None,
        n_bins: int = 10,
        cells: int = 2**15,
        on_missing_label: OnInvalid = "raise",
        on_invalid: OnInvalid = "raise",
    ) -> Any:
        """Count the probabilities of several classes, for metrics that are exact or have certified bounds.

        Workers return about 3 MB each for 10 classes, and 12 MB for 100.

        Parameters
        ----------
        data : DataFrame of Spark or Dask
        label : str
            Column of the true class.
        probabilities : str, sequence of str, or mapping of label to str
            Columns of the probability of each class: a pattern such as ``"p_*"``, whose ``*`` matches the name of the
            class; or the columns, in the order of `classes` unless they are named by the classes; or the column
            of each class; or the name of a column of lists, or of vectors such as the ``probability`` of Spark's
            models.
        classes : sequence of label, optional
            The classes in order. For a pattern, the default is the order of the columns; a column of lists requires it.
        ordered : bool
            Whether the classes are ordered.
        sample_weight : str, optional
            Column of row weights: integers.
        frequency_weight : str, optional
            Column with the number of copies of each row (integers). Not allowed with `sample_weight`.
        by : str, optional
            Column of values that divide the rows. If given, a dict by value is returned. Each worker keeps a summary
            per value, of 27 MB for 10 classes.
        n_bins, cells
            As for `ClassScoresSummary`.
        on_missing_label : {"raise", "drop"}
            Whether rows without a true class raise an error or are left out.
        on_invalid : {"raise", "drop"}
            Whether rows without a weight or a finite probability raise an error or are left out.

        Returns
        -------
        ClassScoresSummary, or dict of ClassScoresSummary by value

        Raises
        ------
        ValueError, ImportError
            As for `ranking`.
        """
        frame = self.open(data)
        columns = probability_columns(
            frame.names, label, probabilities, classes, Weights(sample_weight, frequency_weight), by,
            RowRules(on_missing_label, on_invalid),
        )  # fmt: skip
        options: dict[str, Any] = {"ordered": ordered, "n_bins": n_bins, "cells": cells}
        ClassScoresSummary(**options)  # checks the options here
        frame.check_columns(columns.names)
        found = frame.do(CountClassScores(columns, ClassScoresSummary, options))
        if not found:
            raise frame.no_rows(columns.weight)
        return found[None] if by is None else _ascending(found, by)

    # Groups -----------------------------------------------------------------------------------------------------------

    @names_keywords
    def group_summary(
        self,
        data: Any,
        *,
        label: str,
        score: str,
        by: str,
        sample_weight: str | None = None,
        frequency_weight: str | None = None,
        pos_label: Any = None,
        most_scores: int = 20_000_000,
        on_missing_label: OnInvalid = "raise",
        on_invalid: OnInvalid = "raise",
    ) -> GroupSummary:
        """Count all distinct scores in groups, for the ranking and the AUC of each group.

        Parameters
        ----------
        data, label, score, sample_weight, frequency_weight, pos_label, on_missing_label, on_invalid
            As for `ranking`.
        by : str
            Column with the group of each row.
        most_scores : int
            Largest total number of distinct scores over all groups; more raise an error. `grouped_auc` has no limit.

        Returns
        -------
        GroupSummary

        Raises
        ------
        ValueError, ImportError
            As for `ranking`.
        """
        check_names(by=by)
        rules = RowRules(on_missing_label, on_invalid)
        columns = _group_columns(label, score, by, Weights(sample_weight, frequency_weight), pos_label, rules)
        task = CountGroups(columns, check_integer("most_scores", most_scores, low=1))
        frame = self._checked(data, columns)
        (found,) = frame.do(task).values()
        if not found.n_groups:
            raise frame.no_rows(columns.weight)
        return found  # type: ignore[no-any-return]

    @names_keywords
    def grouped_auc(
        self,
        data: Any,
        *,
        label: str,
        score: str,
        by: str | Sequence[str],
        sample_weight: str | None = None,
        frequency_weight: str | None = None,
        pos_label: Any = None,
        interval: MergedInterval = None,
        confidence_level: float = 0.95,
        on_missing_label: OnInvalid = "raise",
        on_invalid: OnInvalid = "raise",
    ) -> GroupedMetric:
        """Return the AUC of each group of rows, like `fastevals.grouped_auc`, for up to millions of groups.

        All rows of a group are sent to one worker.

        Parameters
        ----------
        data, label, score, sample_weight, frequency_weight, pos_label, on_missing_label, on_invalid
            As for `ranking`.
        by : str or sequence of str
            Column with the group of each row, or several: groups are then the combinations of their values.
        interval : {None, "delong"}
            Whether to compute DeLong's intervals for the groups' AUCs and their mean; not available with
            `sample_weight`.
        confidence_level : float in (0, 1)
            Level of the intervals.

        Returns
        -------
        GroupedMetric
            The groups are in ascending order.

        Raises
        ------
        ValueError, ImportError
            As for `ranking`.
        """
        check_choice("interval", interval, MergedInterval)
        _, alpha = check_confidence_level(confidence_level)
        if interval is not None and sample_weight is not None:
            raise ValueError("interval='delong' does not take sample_weight: pass copies of rows as frequency_weight")
        rules = RowRules(on_missing_label, on_invalid)
        columns = _group_columns(label, score, by, Weights(sample_weight, frequency_weight), pos_label, rules)
        task = MeasureGroups(columns, parse_metrics("roc_auc"), interval is not None)
        return self._grouped(data, task, alpha)["roc_auc"]

    @names_keywords
    def grouped_metrics(
        self,
        data: Any,
        metrics: Any,
        *,
        label: str,
        score: str,
        by: str | Sequence[str],
        sample_weight: str | None = None,
        pos_label: Any = None,
        on_missing_label: OnInvalid = "raise",
        on_invalid: OnInvalid = "raise",
    ) -> MetricsByGroup:
        """Return metrics of each group of rows, like `fastevals.grouped_metrics`, for up to millions of groups.

        All rows of a group are sent to one worker.

        Parameters
        ----------
        data, sample_weight, pos_label, on_missing_label, on_invalid
            As for `ranking`.
        metrics : str, `metric(...)`, a sequence of these, or a mapping of names to them
            Metrics to compute: either metrics of scores and probabilities, or metrics of predicted numbers.
        label, score : str
            Columns of the true class and of scores, or of true and predicted numbers.
        by : str or sequence of str
            Column with the group of each row, or several: groups are then the combinations of their values.

        Returns
        -------
        MetricsByGroup
            A mapping from each metric to its `GroupedMetric`.

        Raises
        ------
        ValueError, ImportError
            As for `ranking`.
        """
        specs = parse_metrics(metrics)
        kind = array_kind(metric_kinds(specs)) or SCORES
        if kind in (LABELS, QUANTILES):
            raise ValueError("metrics must be of scores or predicted numbers; for labels use confusion_summary(by=...)")
        columns: RankingColumns | ArgumentColumns
        rules = RowRules(on_missing_label, on_invalid)
        if kind == TARGETS:
            several = _group_names(by)
            arguments = {"label": label, "score": score} | {f"by_{k}": name for k, name in enumerate(several)}
            names = ("y_true", "y_pred", *(f"groups_{k}" for k in range(len(several))))
            columns = _argument_columns(arguments, names, names[:2], Weights(sample_weight), None, rules)
        else:
            columns = _group_columns(label, score, by, Weights(sample_weight), pos_label, rules)
        return self._grouped(data, MeasureGroups(columns, specs))

    # Requests ---------------------------------------------------------------------------------------------------------

    def _checked(self, data: Any, columns: RankingColumns | ArgumentColumns) -> Frame:
        """Open the data as a frame; raise unless it has the columns."""
        frame = self.open(data)
        frame.check_columns(columns.names)
        return frame

    def _sampled(
        self, data: Any, columns: RankingColumns, cells: int, at: ArrayLike
    ) -> tuple[FrameSample, int, NDArray[np.uint64]]:
        """Check the request and sample the rows; return the sample, the cells and the keys of thresholds."""
        thresholds = threshold_keys("at", at)
        cells = check_integer("cells", cells, low=1, high=MOST_CELLS)
        return FrameSample.of(self._checked(data, columns), columns), cells, thresholds

    def _summed(self, data: Any, columns: ArgumentColumns, kind: type[Any], **options: Any) -> Any:
        """Return a summary of type `kind` of the columns' values.

        If `columns.by` is given, return a dict with one summary for each value of that column.
        """
        kind(**options)  # checks the options here
        frame = self._checked(data, columns)
        found = frame.do(CountValues(columns, kind, options))
        if not found:
            raise frame.no_rows(columns.weight)
        return _ascending(found, str(columns.by)) if columns.by is not None else found[None]

    def _grouped(self, data: Any, task: MeasureGroups, alpha: float = 0.05) -> MetricsByGroup:
        """Measure groups; all rows of a group are sent to one worker."""
        columns = task.columns
        if isinstance(columns, RankingColumns):
            by = columns.segments.columns
        else:
            by = tuple(name for argument, name in columns.arguments.items() if argument.startswith("groups"))
        frame = self._checked(data, columns)
        found: MeasuredGroups = frame.by_value(by).do(task)
        if not found.parts:
            raise frame.no_rows(columns.weight)
        positive = named_classes(found.labels).pos_label if isinstance(columns, RankingColumns) else None
        results = group_results(
            task.metrics, found.whole(), alpha=alpha, pos_label=positive, by=by if len(by) > 1 else None
        )
        return MetricsByGroup(results, pos_label=positive)


def _ranking_columns(
    label: str, score: str | Sequence[str], weights: Weights, by: str | None, pos_label: Any, rules: RowRules
) -> RankingColumns:
    rules.check()
    scores = score_names(score)
    check_names(label=label, **weights.given(), **given_columns(by=by))
    return RankingColumns(
        label, scores, weights.column, by, as_label("pos_label", pos_label), rules=rules,
        are_copies=weights.are_copies,
    )  # fmt: skip


def _group_columns(
    label: str, score: str, by: str | Sequence[str], weights: Weights, pos_label: Any, rules: RowRules
) -> RankingColumns:
    check_names(score=score)
    columns, names = _ranking_columns(label, score, weights, None, pos_label, rules), _group_names(by)
    return replace(columns, by=names if len(names) > 1 else names[0], are_groups=True)


def _group_names(by: Any) -> tuple[str, ...]:
    """Return the names of one column of groups or several."""
    names = (by,) if isinstance(by, str) or not isinstance(by, Iterable) else tuple(by)
    check_names(**({"by": by} if len(names) < 2 else {f"by[{k}]": name for k, name in enumerate(names)}))
    if len(set(names)) < len(names) or not names:
        raise ValueError(f"by must name one or more different columns, got {show(list(names))}")
    return names


def _argument_columns(
    columns: dict[str, str], arguments: Sequence[str], numbers: Sequence[str], weights: Weights, by: str | None,
    rules: RowRules,
) -> ArgumentColumns:  # fmt: skip
    """Return the columns for the arguments of a summary's `update`; `arguments` and `columns` have the same order."""
    rules.check()
    check_names(**columns, **weights.given(), **given_columns(by=by))
    given = dict(zip(arguments, columns.values(), strict=True))
    given |= given_columns(sample_weight=weights.sample_weight, frequency_weight=weights.frequency_weight)
    return ArgumentColumns(given, (*numbers, "sample_weight", "frequency_weight"), by, rules)


def _ascending(found: Mapping[Any, Any], by: str) -> dict[Any, Any]:
    """Return results by value of a column, in the order of the values."""
    text = [value for value in found if isinstance(value, str)]
    number = next((value for value in found if not isinstance(value, str) and value is not None), None)
    if text and number is not None:
        raise ValueError(f"column {by!r} must have text or numbers, not both, got {show(text[0])} and {show(number)}")
    return {value: found[value] for value in ascending(found)}


def _shaped(found: Mapping[Any, Mapping[str, Any]], by: str | None, score: str | Sequence[str]) -> Any:
    """Return results by value and model, without the levels that were not requested."""
    each = {value: models[score] if isinstance(score, str) else dict(models) for value, models in found.items()}
    return each[None] if by is None else _ascending(each, by)


@named_by_base
class _ByValue(Mapping[Any, dict[str, Any]]):
    """View of results by model and value that maps each value to its results by model."""

    def __init__(self, by_model: Mapping[str, Mapping[Any, Any]]) -> None:
        self._by_model = by_model
        self._first = next(iter(by_model.values()))

    def __len__(self) -> int:
        return len(self._first)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._first)

    def __getitem__(self, value: Any) -> dict[str, Any]:
        return {name: each[value] for name, each in self._by_model.items()}

    def __repr__(self) -> str:
        return f"rankings of {len(self)} values, by {', '.join(self._by_model)}"
