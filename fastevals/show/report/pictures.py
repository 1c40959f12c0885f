"""What `fastevals report --out` draws: a picture for each kind of curve."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple

from fastevals._text import printable
from fastevals.counts import ThresholdCounts
from fastevals.measure.curves.calibration import CalibrationCurve
from fastevals.measure.curves.cost import CostCurve, CostOverPrior
from fastevals.measure.curves.decision import DecisionCurve
from fastevals.measure.curves.gain import GainCurve, LiftCurve
from fastevals.measure.curves.precision_recall import PrecisionRecallCurve
from fastevals.measure.curves.roc import DetCurve, RocCurve
from fastevals.measure.probability_metrics import are_probabilities
from fastevals.show import plots
from fastevals.show.output import BlockPictures, Picture
from fastevals.show.plots import style
from fastevals.show.report.report import Report, ReportBlock

Costs = dict[str, float]


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
    instead = "" if blocks else f"no pictures (more values of {printable(str(by))} than have a block each)"
    values = [block.value for block in blocks]
    return BlockPictures(tuple(CURVES), by, values, lambda k: _pictures(blocks[k], report.costs), instead)


def _pictures(block: ReportBlock, costs: Costs | None) -> Iterator[tuple[str, Picture]]:
    models = {model.name: model.counts for model in block.models if model.counts is not None}
    given = {"counts": True, "probabilities": all(map(are_probabilities, models.values())), "costs": costs is not None}
    for name, (curve, plot, size, needs) in CURVES.items():
        if given[needs]:
            of_models = {model: curve(counts, costs or {}) for model, counts in models.items()}
            yield name, Picture(plot, of_models, style.size_for(size, len(models)))
