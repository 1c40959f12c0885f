"""What `fastevals compare --out` draws: ranks, p-values, and the first test's distribution."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fastevals.infer.significance.pairwise import PairwiseResult
from fastevals.infer.significance.rank_comparisons import RankComparison
from fastevals.results import SignificanceResult
from fastevals.show.compare.predictions import PredictionsComparison
from fastevals.show.compare.results import ResultsBlock, ResultsComparison
from fastevals.show.output import BlockPictures, Picture
from fastevals.show.plots import plot_critical_difference, plot_null, plot_pvalues, style

ROW, HIGHEST = 0.17, 20.0  # inches: for a name where they are many, and in all
PICTURES = ("critical_difference", "critical_difference_ranges", "pvalues", "null")


def comparison_pictures(made: ResultsComparison | PredictionsComparison) -> BlockPictures:
    """Return what a comparison can be drawn as."""
    if isinstance(made, PredictionsComparison):
        first = made.cochran or made.tests[0]
        return BlockPictures(PICTURES, None, (), lambda _: _pictures(made.pairs, first))
    blocks = made.blocks
    values = [block.value for block in blocks]
    return BlockPictures(PICTURES, made.choice.by, values, lambda k: _of_block(blocks[k]))


def _of_block(block: ResultsBlock) -> Iterator[tuple[str, Picture]]:
    if block.pairs is not None:
        yield from _pictures(block.pairs, block.friedman)
    elif block.of_two is not None:
        yield from _null(next((test for test in block.of_two if test.null is not None), block.of_two[0]))


def _pictures(pairs: PairwiseResult, first: SignificanceResult) -> Iterator[tuple[str, Picture]]:
    high = min(ROW * len(pairs.names), HIGHEST)
    if isinstance(pairs, RankComparison):
        size = (style.WIDE[0], max(style.WIDE[1], high))
        yield "critical_difference", Picture(plot_critical_difference, pairs, size)
        if not np.isnan(pairs.critical_difference):
            ranges = Picture(plot_critical_difference, pairs, size, {"form": "ranges"})
            yield "critical_difference_ranges", ranges
    if len(pairs.names) > 2:
        yield "pvalues", Picture(plot_pvalues, pairs, (max(style.SQUARE[0], high),) * 2)
    yield from _null(first)


def _null(first: SignificanceResult) -> Iterator[tuple[str, Picture]]:
    if first.null is not None:
        yield "null", Picture(plot_null, first, style.WIDE)
