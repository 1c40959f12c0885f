"""What `fastevals report --out` writes: the report's numbers, its text, and a picture for each kind of curve."""

from __future__ import annotations

import os
import re
import tempfile
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Literal, NamedTuple

from fastevals.measure import curves
from fastevals.measure.counts import ThresholdCounts
from fastevals.measure.probability_bins import are_probabilities
from fastevals.show import plots
from fastevals.show.plots import style
from fastevals.show.report import Block, Report
from fastevals.show.tables import printable, to_json_text, to_text

__all__ = ["MOST_PICTURED", "check_folder", "write_report"]

MOST_PICTURED = 20  # blocks with pictures
DOTS_PER_INCH = 125  # 800 pixels wide
LONGEST_VALUE = 40  # characters of a --by value in a folder's name

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


def check_folder(out: str) -> None:
    """Make the folder, and its parents, and see to it that a file can be written there.

    Parameters
    ----------
    out : str
        The folder, as given to --out.

    Raises
    ------
    ValueError
        If it is a file or can't be written to.
    ImportError
        If matplotlib is missing.
    """
    style.require_matplotlib()
    if not out:
        raise ValueError("--out must name a folder, got ''")
    try:
        os.makedirs(out, exist_ok=True)
        with tempfile.TemporaryFile(dir=out):
            pass
    except FileExistsError:
        raise ValueError(f"--out must be a folder, got the file {out!r}") from None
    except OSError as error:
        raise ValueError(f"--out {out!r} can't be written to: {error.strerror or error}") from None


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
        _remove(folder, PICTURES)
    pictured = report.blocks[:MOST_PICTURED]
    drawn = 0
    for k, block in enumerate(pictured):
        inside = folder if by is None else folder / _folder_name(k, by, block.value)
        inside.mkdir(exist_ok=True)
        drawn += _draw_block(block, inside, None if by is None else f"{by} = {block.value}", report.costs)
    pictures = f"{drawn} pictures"
    if by is not None:
        pictures += f" in a folder for each {printable(by)}"
    if len(pictured) < len(report.blocks):
        pictures += f" of the first {len(pictured)} of {len(report.blocks)} only"
    return f"written to {printable(out)}: report.json, report.txt, {pictures}\n"


def _folder_name(k: int, by: str, value: Any) -> str:
    """Name a block's folder: its number, which makes it unique, then what is safe of the --by column and the value."""
    text = f"{by}-{str(value).lower() if isinstance(value, bool) else value}"
    return f"{k:02d}-{re.sub(r'[^A-Za-z0-9._-]+', '_', text)[:LONGEST_VALUE].rstrip('.')}"


def _remove(folder: Path, names: Iterable[str]) -> None:
    """Remove an earlier report's pictures that this one doesn't draw."""
    for name in names:
        (folder / f"{name}.png").unlink(missing_ok=True)


def _draw_block(block: Block, folder: Path, title: str | None, costs: Costs | None) -> int:
    """Draw the pictures of a block; give how many."""
    models = {model.name: model.counts for model in block.models if model.counts is not None}
    given = {"counts": True, "probabilities": all(map(are_probabilities, models.values())), "costs": costs is not None}
    drawn = {name: picture for name, picture in PICTURES.items() if given[picture.needs]}
    _remove(folder, PICTURES.keys() - drawn.keys())
    for name, (curve, plot, size, _) in drawn.items():
        of_models = {model: curve(counts, costs or {}) for model, counts in models.items()}
        _draw(of_models, plot, size, title, folder / f"{name}.png")
    return len(drawn)


def _draw(
    models: dict[str, Any], plot: Callable[..., Any], size: tuple[float, float], title: str | None, file: Path
) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=style.size_for(size, len(models)), dpi=DOTS_PER_INCH, layout="constrained")
    FigureCanvasAgg(figure)
    ax = plot(models, ax=figure.subplots())
    if title is not None:
        ax.set_title(style.named_label(title))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)  # letters are drawn as boxes
        figure.savefig(file, format="png")
