"""What pictures of a comparison show: ranks, p-values, and what the first test's statistic would be."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from fastevals.infer.significance.pairwise import PairwiseResult
from fastevals.infer.significance.rank_comparisons import RankComparison
from fastevals.results import SignificanceResult
from fastevals.show import plots
from fastevals.show.compare.predictions import PredictionsComparison
from fastevals.show.compare.results import ResultsBlock, ResultsComparison
from fastevals.show.output import BlockPictures, Panel, Plot
from fastevals.show.plots import style
from fastevals.show.report.intervals import Intervals
from fastevals.show.report.pictures import difference_panels, interval_panels, plot_of

ROW, HIGHEST = 0.17, 20.0  # inches: for a name where they are many, and in all
NAMES = ("critical_difference", "critical_difference_ranges", "pvalues", "null", "intervals", "differences")


def comparison_pictures(comparison: ResultsComparison | PredictionsComparison) -> BlockPictures:
    """Return pictures of ranks, p-values and the first test's null distribution, as far as a comparison has them."""
    if isinstance(comparison, PredictionsComparison):
        return BlockPictures(NAMES, None, (), lambda _: _prediction_pictures(comparison))
    blocks = comparison.blocks
    values = [block.value for block in blocks]
    return BlockPictures(NAMES, comparison.options.by, values, lambda k: _results_pictures(blocks[k]))


def _prediction_pictures(comparison: PredictionsComparison) -> Iterator[tuple[str, Plot]]:
    yield from ((name, plot_of(panels)) for name, panels in prediction_panels(comparison))
    yield from _pair_pictures(comparison.pairs, comparison.cochran or comparison.tests[0])


class _Measured(NamedTuple):
    """A model's metrics, as reports have them."""

    name: str
    metrics: dict[str, float]


class _Compared(NamedTuple):
    """Models with intervals, as a block of a report has them."""

    models: list[_Measured]
    best: dict[str, list[str]]
    intervals: Intervals


def prediction_panels(comparison: PredictionsComparison) -> Iterator[tuple[str, list[Panel]]]:
    """Yield the pictures of intervals and differences."""
    values = comparison.values()
    metrics = [name for name in ("accuracy", "f1", "F1 (macro)") if name in comparison.models]
    best = {name: [max(values, key=lambda model: values[model][name])] for name in metrics}
    block = _Compared([_Measured(*each) for each in values.items()], best, comparison.intervals)
    yield from interval_panels(block, metrics)
    yield from difference_panels(block, metrics)


def _results_pictures(block: ResultsBlock) -> Iterator[tuple[str, Plot]]:
    if block.pairs is not None:
        yield from _pair_pictures(block.pairs, block.friedman)
    elif block.two_tests is not None:
        yield from _null_picture(next((test for test in block.two_tests if test.null is not None), block.two_tests[0]))


def _pair_pictures(pairs: PairwiseResult, first: SignificanceResult) -> Iterator[tuple[str, Plot]]:
    high = min(ROW * len(pairs.names), HIGHEST)
    if isinstance(pairs, RankComparison):
        size = (style.WIDE[0], max(style.WIDE[1], high))
        yield "critical_difference", Plot([partial(plots.plot_critical_difference, pairs)], size)
        if not np.isnan(pairs.critical_difference):
            ranges = Plot([partial(plots.plot_critical_difference, pairs, form="ranges")], size)
            yield "critical_difference_ranges", ranges
    if len(pairs.names) > 2:
        yield "pvalues", Plot([partial(plots.plot_pvalues, pairs)], (max(style.SQUARE[0], high),) * 2)
    yield from _null_picture(first)


def _null_picture(first: SignificanceResult) -> Iterator[tuple[str, Plot]]:
    if first.null is not None:
        yield "null", Plot([partial(plots.plot_null, first)], style.WIDE)
