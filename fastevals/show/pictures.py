"""What `report --out` and `compare --out` draw; output.py writes it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple

import numpy as np

from fastevals._text import printable
from fastevals.counts import ThresholdCounts
from fastevals.infer.significance.pairwise import PairwiseResult
from fastevals.infer.significance.rank_comparisons import RankComparison
from fastevals.measure.curves.calibration import CalibrationCurve
from fastevals.measure.curves.cost import CostCurve, CostOverPrior
from fastevals.measure.curves.decision import DecisionCurve
from fastevals.measure.curves.gain import GainCurve, LiftCurve
from fastevals.measure.curves.precision_recall import PrecisionRecallCurve
from fastevals.measure.curves.roc import DetCurve, RocCurve
from fastevals.measure.probability_metrics import are_probabilities
from fastevals.results import SignificanceResult
from fastevals.show import plots
from fastevals.show.compare.predictions import PredictionsComparison
from fastevals.show.compare.results import ResultsBlock, ResultsComparison
from fastevals.show.output import BlockPictures, Plot
from fastevals.show.plots import style
from fastevals.show.report.report import Report, ReportBlock

Costs = dict[str, float]

ROW, HIGHEST = 0.17, 20.0  # inches: for a name where they are many, and in all
COMPARISON_PICTURES = ("critical_difference", "critical_difference_ranges", "pvalues", "null")


# Of a report: a picture for each kind of curve, a line a model -----------------------------------------------------


class _Curve(NamedTuple):
    """What makes a curve of counts (and costs), what draws it, its size in inches, and what it needs to be drawn."""

    curve: Callable[[ThresholdCounts, Costs], Any]
    plot: Callable[..., Any]
    size: tuple[float, float]
    needs: Literal["counts", "probabilities", "costs"] = "counts"


def _over_prior(counts: ThresholdCounts, costs: Costs) -> CostOverPrior:
    return CostCurve(counts).over_prior(cost_fp=costs["cost_fp"], cost_fn=costs["cost_fn"])


CURVES = {
    "roc": _Curve(lambda counts, _: RocCurve(counts), plots.plot_roc, style.SQUARE),
    "precision_recall": _Curve(
        lambda counts, _: PrecisionRecallCurve(counts), plots.plot_precision_recall, style.SQUARE
    ),
    "det": _Curve(lambda counts, _: DetCurve(counts), plots.plot_det, style.SQUARE),
    "gain": _Curve(lambda counts, _: GainCurve(counts), plots.plot_gain, style.SQUARE),
    "lift": _Curve(lambda counts, _: LiftCurve(counts), plots.plot_lift, style.WIDE),
    "cost": _Curve(lambda counts, _: CostCurve(counts), plots.plot_cost, style.WIDE),
    "cost_over_prior": _Curve(_over_prior, plots.plot_cost_over_prior, style.WIDE, "costs"),
    "calibration": _Curve(
        lambda counts, _: CalibrationCurve.from_counts(counts),
        plots.plot_calibration,
        style.TALL,
        "probabilities",
    ),
    "decision": _Curve(
        lambda counts, _: DecisionCurve.from_counts(counts), plots.plot_decision, style.WIDE, "probabilities"
    ),
}


def report_pictures(report: Report) -> BlockPictures:
    """Return the curves of a report's models, whose first `MOST_PICTURED` blocks have the counts of their models."""
    by, blocks = report.roles.by, report.blocks
    reason = "" if blocks else f"no pictures (more values of {printable(str(by))} than have a block each)"
    values = [block.value for block in blocks]
    return BlockPictures(tuple(CURVES), by, values, lambda k: _curve_pictures(blocks[k], report.costs), reason)


def _curve_pictures(block: ReportBlock, costs: Costs | None) -> Iterator[tuple[str, Plot]]:
    models = {model.name: model.counts for model in block.models if model.counts is not None}
    available = {
        "counts": True,
        "probabilities": all(map(are_probabilities, models.values())),
        "costs": costs is not None,
    }
    for name, (curve, plot, size, needs) in CURVES.items():
        if available[needs]:
            curves = {model: curve(counts, costs or {}) for model, counts in models.items()}
            yield name, Plot(plot, curves, style.figure_size(size, len(models)))


# Of a comparison -----------------------------------------------------------------------------------------------------


def comparison_pictures(comparison: ResultsComparison | PredictionsComparison) -> BlockPictures:
    """Return pictures of ranks, p-values and the first test's null distribution, as far as a comparison has them."""
    if isinstance(comparison, PredictionsComparison):
        first = comparison.cochran or comparison.tests[0]
        return BlockPictures(COMPARISON_PICTURES, None, (), lambda _: _pair_pictures(comparison.pairs, first))
    blocks = comparison.blocks
    values = [block.value for block in blocks]
    return BlockPictures(COMPARISON_PICTURES, comparison.options.by, values, lambda k: _results_pictures(blocks[k]))


def _results_pictures(block: ResultsBlock) -> Iterator[tuple[str, Plot]]:
    if block.pairs is not None:
        yield from _pair_pictures(block.pairs, block.friedman)
    elif block.two_tests is not None:
        yield from _null_picture(next((test for test in block.two_tests if test.null is not None), block.two_tests[0]))


def _pair_pictures(pairs: PairwiseResult, first: SignificanceResult) -> Iterator[tuple[str, Plot]]:
    high = min(ROW * len(pairs.names), HIGHEST)
    if isinstance(pairs, RankComparison):
        size = (style.WIDE[0], max(style.WIDE[1], high))
        yield "critical_difference", Plot(plots.plot_critical_difference, pairs, size)
        if not np.isnan(pairs.critical_difference):
            ranges = Plot(plots.plot_critical_difference, pairs, size, {"form": "ranges"})
            yield "critical_difference_ranges", ranges
    if len(pairs.names) > 2:
        yield "pvalues", Plot(plots.plot_pvalues, pairs, (max(style.SQUARE[0], high),) * 2)
    yield from _null_picture(first)


def _null_picture(first: SignificanceResult) -> Iterator[tuple[str, Plot]]:
    if first.null is not None:
        yield "null", Plot(plots.plot_null, first, style.WIDE)
