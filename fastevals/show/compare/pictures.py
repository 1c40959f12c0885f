"""Pictures of a comparison: ranks, p-values, and the null distribution of the first test."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from fastevals.document.picture import Panel, Picture
from fastevals.infer.learners.profiles import ProfileBy
from fastevals.infer.significance.pairwise import MeasuredPairs, PairwiseResult, pairwise_tests
from fastevals.infer.significance.rank_comparisons import RankComparison, with_mean_ranks
from fastevals.results import SignificanceResult
from fastevals.show.compare.blocks import ResultsBlock
from fastevals.show.plots import style
from fastevals.show.plots.comparison_matrix import draw_comparison_matrix
from fastevals.show.plots.critical_difference import draw_critical_difference
from fastevals.show.plots.null_distribution import draw_null
from fastevals.show.plots.performance_profile import draw_performance_profile
from fastevals.show.plots.pvalues import draw_pvalues
from fastevals.show.plots.rank_distribution import draw_rank_distribution
from fastevals.show.report.intervals import Intervals
from fastevals.show.report.pictures import difference_panels, interval_panels

Panels = Iterator[tuple[str, list[Panel]]]

ROW, HIGHEST = 0.17, 20.0  # inches per name, and in total


MOST_DRAWN = 60  # algorithms whose pairs and profiles are drawn


def results_panels(block: ResultsBlock, *, is_alone: bool = True) -> Panels:
    """Yield a block's pictures: ranks, p-values and the first test's null distribution, if it has them.

    The only block also has pictures of all pairs, profiles and ranks.
    """
    if block.pairs is not None:
        yield from pair_panels(block.pairs, None if block.of_splits else block.friedman)
        if is_alone and len(block.friedman.names) <= MOST_DRAWN:
            yield from _learner_panels(block, block.pairs)
    elif block.two_tests is not None:
        yield from _null_panel(next((test for test in block.two_tests if test.null is not None), block.two_tests[0]))


class _Measured(NamedTuple):
    """A model's metrics, in the form of a report."""

    name: str
    metrics: dict[str, float]


class _Compared(NamedTuple):
    """Models with intervals, in the form of a report's block."""

    models: list[_Measured]
    best: dict[str, list[str]]
    intervals: Any


def prediction_panels(
    values: Mapping[str, Mapping[str, float]], intervals: Intervals, pairs: PairwiseResult, first: SignificanceResult
) -> Panels:
    """Yield the pictures of intervals, differences and p-values; `values` are metrics by model."""
    models = [_Measured(name, dict(metrics)) for name, metrics in values.items()]
    metrics: list[str] = [name for name in ("accuracy", "f1", "F1 (macro)") if name in models[0].metrics]
    best: dict[str, list[str]] = {name: [max(values, key=lambda model: values[model][name])] for name in metrics}
    block = _Compared(models, best, intervals)
    yield from interval_panels(block, metrics)
    yield from difference_panels(block, metrics)
    yield from pair_panels(pairs, first)


def _learner_panels(block: ResultsBlock, pairs: PairwiseResult) -> Panels:
    """Yield the diagram of Wilcoxon's test, and pictures of all pairs, profiles and ranks."""
    names, higher = block.friedman.names, block.higher_is_better
    high = min(ROW * len(names), HIGHEST)
    if not block.of_splits and len(pairs) == len(names) * (len(names) - 1) // 2:
        if not isinstance(pairs, MeasuredPairs):
            pairs = _wilcoxon_pairs(block, 1 - pairs.alpha)
        ranked = with_mean_ranks(pairs, dict(zip(names, block.rows.T, strict=True)), higher)
        size = (style.WIDE[0], max(style.WIDE[1], high))
        yield "critical_difference_wilcoxon", [_panel(size, draw_critical_difference, ranked)]
    if isinstance(pairs, MeasuredPairs):
        size = (max(style.SQUARE[0], 2.5 * high),) * 2
        yield "comparison_matrix", [_panel(size, draw_comparison_matrix, block.rows, names, pairs, higher)]
    if not block.of_splits and len(block.rows) > 1:
        by: ProfileBy = "ratio" if (block.rows > 0).all() else "difference"
        yield "performance_profile", [_panel(style.WIDE, draw_performance_profile, block.rows, names, higher, by)]
        size = (style.WIDE[0], max(style.WIDE[1], 2 * high))
        yield "rank_distribution", [_panel(size, draw_rank_distribution, block.rows, names, higher)]


def _wilcoxon_pairs(block: ResultsBlock, confidence_level: float) -> MeasuredPairs:
    """Test all pairs by Wilcoxon's test with Holm's correction; none differs if Friedman's test is not significant."""
    table = dict(zip(block.friedman.names, block.rows.T, strict=True))
    pairs = pairwise_tests(table, confidence_level=confidence_level)
    return pairs if block.friedman.rejected else replace(pairs, rejected=np.zeros_like(pairs.rejected))


def pair_panels(pairs: PairwiseResult, first: SignificanceResult | None) -> Panels:
    """Yield the pictures of tests of pairs, and of the first test."""
    high = min(ROW * len(pairs.names), HIGHEST)
    if isinstance(pairs, RankComparison):
        size = (style.WIDE[0], max(style.WIDE[1], high))
        yield "critical_difference", [_panel(size, draw_critical_difference, pairs)]
        if not np.isnan(pairs.critical_difference):
            yield "critical_difference_ranges", [_panel(size, draw_critical_difference, pairs, form="ranges")]
    if len(pairs.names) > 2:
        yield "pvalues", [_panel((max(style.SQUARE[0], high),) * 2, draw_pvalues, pairs)]
    if first is not None:
        yield from _null_panel(first)


def _null_panel(first: SignificanceResult) -> Panels:
    if first.null is not None:
        yield "null", [_panel(style.WIDE, draw_null, first)]


def _panel(size: tuple[float, float], draw: Any, *results: Any, **options: Any) -> Panel:
    picture = Picture()
    draw(picture, *results, **options)
    return Panel(None, picture, size)
