"""What `fastevals report --out` writes: the report's numbers, its text, and a picture for each kind of curve."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, NamedTuple

from fastevals.measure import curves
from fastevals.measure.counts import ThresholdCounts
from fastevals.measure.probability_bins import are_probabilities
from fastevals.show import plots
from fastevals.show.output import block_folder, remove_pictures, save_picture
from fastevals.show.plots import style
from fastevals.show.report.parts import Block, Report
from fastevals.show.report.tables import to_json_text, to_text
from fastevals.show.words import printable

__all__ = ["MOST_PICTURED", "write_report"]

MOST_PICTURED = 20  # blocks with pictures

Costs = dict[str, float]


class _Picture(NamedTuple):
    """What makes a curve of counts (and costs), what draws it, its size in inches, and what it needs to be drawn."""

    curve: Callable[[ThresholdCounts, Costs], Any]
    plot: Callable[..., Any]
    size: tuple[float, float]
    needs: Literal["counts", "probabilities", "costs"] = "counts"


def _over_prior(counts: ThresholdCounts, costs: Costs) -> curves.CostOverPrior:
    return curves.CostCurve(counts).over_prior(cost_fp=costs["cost_fp"], cost_fn=costs["cost_fn"])


PICTURES = {
    "roc": _Picture(lambda counts, _: curves.RocCurve(counts), plots.plot_roc, style.SQUARE),
    "precision_recall": _Picture(
        lambda counts, _: curves.PrecisionRecallCurve(counts), plots.plot_precision_recall, style.SQUARE
    ),
    "det": _Picture(lambda counts, _: curves.DetCurve(counts), plots.plot_det, style.SQUARE),
    "gain": _Picture(lambda counts, _: curves.GainCurve(counts), plots.plot_gain, style.SQUARE),
    "lift": _Picture(lambda counts, _: curves.LiftCurve(counts), plots.plot_lift, style.WIDE),
    "cost": _Picture(lambda counts, _: curves.CostCurve(counts), plots.plot_cost, style.WIDE),
    "cost_over_prior": _Picture(_over_prior, plots.plot_cost_over_prior, style.WIDE, "costs"),
    "calibration": _Picture(
        lambda counts, _: curves.CalibrationCurve.from_counts(counts),
        plots.plot_calibration,
        style.TALL,
        "probabilities",
    ),
    "decision": _Picture(
        lambda counts, _: curves.DecisionCurve.from_counts(counts), plots.plot_decision, style.WIDE, "probabilities"
    ),
}


def write_report(report: Report, data: str, out: str) -> str:
    """Write report.json, report.txt and the pictures.

    Parameters
    ----------
    report : Report
        Whose first `MOST_PICTURED` blocks have the counts of their models.
    data : str
        Where the columns are from.
    out : str
        A folder.

    Returns
    -------
    str
        A line that says what is where.

    Raises
    ------
    OSError
        If a file can't be written.
    """
    folder = Path(out)
    (folder / "report.json").write_text(to_json_text(report, data), encoding="utf-8")
    (folder / "report.txt").write_text(to_text(report, data), encoding="utf-8", errors="backslashreplace")
    by = report.roles.by
    if by is not None:
        remove_pictures(folder, PICTURES)
    pictured = report.blocks[:MOST_PICTURED]
    drawn = 0
    for k, block in enumerate(pictured):
        inside = folder if by is None else block_folder(folder, k, by, block.value)
        drawn += _draw_block(block, inside, None if by is None else f"{by} = {block.value}", report.costs)
    pictures = f"{drawn} pictures"
    if by is not None:
        pictures += f" in a folder for each {printable(by)}"
    if len(pictured) < len(report.blocks):
        pictures += f" of the first {len(pictured)} of {len(report.blocks)} only"
    return f"written to {printable(out)}: report.json, report.txt, {pictures}\n"


def _draw_block(block: Block, folder: Path, title: str | None, costs: Costs | None) -> int:
    """Draw the pictures of a block; give how many."""
    models = {model.name: model.counts for model in block.models if model.counts is not None}
    given = {"counts": True, "probabilities": all(map(are_probabilities, models.values())), "costs": costs is not None}
    drawn = {name: picture for name, picture in PICTURES.items() if given[picture.needs]}
    remove_pictures(folder, PICTURES.keys() - drawn.keys())
    for name, (curve, plot, size, _) in drawn.items():
        of_models = {model: curve(counts, costs or {}) for model, counts in models.items()}
        save_picture(plot, of_models, size=style.size_for(size, len(models)), title=title, file=folder / f"{name}.png")
    return len(drawn)
