"""Tests of algorithms on all data sets, or on the data sets that share a value of the --by column."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from fastevals._choices import PostHoc
from fastevals._options import DependentSplitsWarning, UndefinedMetricWarning
from fastevals._text import count_of, printable
from fastevals._validation.tables import as_result_table
from fastevals.infer.learners.results import Results
from fastevals.infer.significance.corrections import Correction
from fastevals.infer.significance.friedman import FriedmanResult, friedman_test
from fastevals.infer.significance.pairwise import PairwiseResult, pairwise_tests
from fastevals.infer.significance.rank_comparisons import (
    RankComparison,
    bonferroni_dunn_test,
    nemenyi_test,
    rank_comparison_test,
)
from fastevals.infer.significance.signed_ranks import sign_test, wilcoxon_test
from fastevals.results import SignificanceResult

# False alarms of Friedman's F at level 5 %, in percent (see `friedman_test`), by numbers of data sets and algorithms.
FALSE_ALARMS = {(3, 3): 19, (4, 3): 7, (3, 4): 7, (4, 4): 7, (5, 4): 7}  # 4 to 6 % for all others


class ComparisonOptions(NamedTuple):
    """The options of the command, or the arguments of the call, on results."""

    dataset: tuple[str, ...]
    algorithm: tuple[str, ...]
    by: str | None
    control: str | None
    posthoc: PostHoc | None
    higher_is_better: bool
    confidence_level: float
    bibtex: bool = False


@dataclass(frozen=True, slots=True)
class ResultsBlock:
    """Data sets that share a value of the --by column, or all data sets."""

    value: Any  # of the --by column; None for all
    friedman: FriedmanResult  # mean ranks; for three algorithms or more, whether they differ at all
    # Which algorithms differ: none if `friedman` doesn't reject; None for two algorithms, or if p is undefined.
    pairs: PairwiseResult | None
    two_tests: tuple[SignificanceResult, SignificanceResult] | None  # for two algorithms: Wilcoxon's and the sign test
    order: tuple[str, ...]  # the algorithms, the control last
    means: NDArray[np.float64]  # of the results, shape (n_algorithms,)
    repeated: tuple[str, int] | None  # a column of data sets with repeated values, and how many distinct ones
    rows: NDArray[np.float64]  # the results that were tested, shape (n_datasets, n_algorithms); a row for each split
    results: Results  # the table's rows are its data sets without missing results
    higher_is_better: bool
    of_splits: bool = False  # whether the rows are splits of one data set, so that `pairs` is by a corrected t-test
    are_splits: bool = False  # whether tests treat splits of one data set as data sets: their sizes are unknown

    @property
    def size(self) -> str:
        """Number of data sets, or of splits, in words."""
        if not (self.of_splits or self.are_splits):
            return count_of(self.friedman.n_datasets, "data set")
        return f"{count_of(self.friedman.n_datasets, 'split')} of one data set"


def measure_block(
    value: Any,
    table: Mapping[Any, NDArray[Any]],
    repeated: tuple[str, int] | None,
    options: ComparisonOptions,
    *,
    datasets: Sequence[Any] | None = None,
    results: Results | None = None,
    are_splits: bool = False,
    metric: str | None = None,
) -> ResultsBlock:
    """Test the algorithms of a table of results; `datasets` names its rows, and `results` has what they are from."""
    better: dict[str, Any] = {
        "higher_is_better": options.higher_is_better,
        "confidence_level": options.confidence_level,
    }
    order = tuple(sorted(table, key=lambda name: name == options.control))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)  # the text says what is undefined
        friedman = friedman_test(table, **better)
        pairs: PairwiseResult | None = None
        two_tests = None
        if len(table) == 2:
            pair = [table[name] for name in order]
            settings: dict[str, Any] = {"names": order, "confidence_level": options.confidence_level}
            two_tests = wilcoxon_test(*pair, **settings), sign_test(*pair, **settings)
        elif math.isnan(friedman.pvalue):
            pass  # nothing follows about pairs, either
        elif options.posthoc == "nemenyi":
            pairs = nemenyi_test(table, **better)
        elif options.posthoc == "bonferroni-dunn":
            pairs = bonferroni_dunn_test(table, options.control, **better)
        elif options.posthoc == "wilcoxon":
            pairs = pairwise_tests(table, reference=options.control, confidence_level=options.confidence_level)
        else:
            correction = cast(Correction, options.posthoc)
            pairs = rank_comparison_test(table, control=options.control, correction=correction, **better)
    if pairs is not None and not friedman.rejected:
        pairs = replace(pairs, rejected=np.zeros_like(pairs.rejected))
        if isinstance(pairs, RankComparison):
            pairs = replace(pairs, critical_difference=math.nan)  # no difference is large enough
    rows = np.stack([np.asarray(column, dtype=np.float64) for column in table.values()], axis=1)
    if results is None:
        named = None if datasets is None or len(set(datasets)) < len(rows) else list(datasets)
        higher = options.higher_is_better
        results = Results(rows, dataset=named, learner=list(table), metric=metric, higher_is_better=higher)
    means, higher = np.mean(rows, axis=0), options.higher_is_better
    return ResultsBlock(
        value, friedman, pairs, two_tests, order, means, repeated, rows, results, higher, are_splits=are_splits
    )  # fmt: skip


def measure_results(results: Results, options: ComparisonOptions) -> ResultsBlock:
    """Test the learners of results on several data sets by their means, or on one data set by its splits."""
    if len(results.datasets) > 1:
        complete = ~np.isnan(results.means).any(axis=1)
        if not complete.any():
            raise ValueError("data must have a data set with a result of every learner, but have none")
        table = dict(zip(results.learners, results.means[complete].T, strict=True))
        return measure_block(None, table, None, options, results=results)
    if results.test_to_train is None:
        raise ValueError(
            "data have splits of one data set, which share rows: give Results(..., n_train=, n_test=) the numbers of "
            "training and test rows of a split, or results on several data sets"
        )
    better: dict[str, Any] = {"higher_is_better": options.higher_is_better}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        warnings.simplefilter("ignore", DependentSplitsWarning)  # only mean ranks are used
        friedman = friedman_test(results, confidence_level=options.confidence_level, **better)
        pairs = pairwise_tests(  # not conservative, it rejects too often for some learners on repeated folds
            results, test="corrected-resampled-t", conservative=True, reference=options.control,
            confidence_level=options.confidence_level,
        )  # fmt: skip
    rows = as_result_table("data", results).values
    order = tuple(sorted(results.learners, key=lambda name: name == options.control))
    return ResultsBlock(
        None, friedman, pairs, None, order, np.mean(rows, axis=0), None, rows, results, options.higher_is_better, True
    )


def block_cautions(block: ResultsBlock) -> list[str]:
    """Return caveats."""
    notes = []
    n_datasets, n_algorithms = block.friedman.n_datasets, len(block.friedman.names)
    if block.pairs is not None and not block.of_splits and (percent := FALSE_ALARMS.get((n_datasets, n_algorithms))):
        notes.append(
            f"with {n_datasets} data sets of {n_algorithms} algorithms, Friedman's test at level 0.05 has {percent} % "
            "false alarms: use more data sets, or treat p near the level as not significant"
        )
    if block.repeated is not None:
        name, distinct = block.repeated
        values = f"{printable(name)} has only {count_of(distinct, 'distinct value')} in {n_datasets} rows"
        each = f"average the rows of each {printable(name)} first"
        notes.append(f"{values}, but the tests treat each row as an independent data set: {each}")
    return notes
