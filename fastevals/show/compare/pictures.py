"""What `fastevals compare --out` writes: the comparison's numbers, its text and pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from fastevals.infer.results import SignificanceResult
from fastevals.infer.significance.pairwise import PairwiseResult
from fastevals.infer.significance.rank_comparisons import RankComparison
from fastevals.show.compare.predictions import PredictionsComparison
from fastevals.show.compare.results import ResultsComparison
from fastevals.show.output import block_folder, remove_pictures, save_picture
from fastevals.show.plots import plot_critical_difference, plot_null, plot_pvalues, style
from fastevals.show.words import label, printable

__all__ = ["write_comparison"]

MOST_PICTURED = 20  # blocks with pictures
PICTURES = ("critical_difference", "critical_difference_ranges", "pvalues", "null")


def write_comparison(made: ResultsComparison | PredictionsComparison, data: str, out: str) -> str:
    """Write compare.json, compare.txt and the pictures.

    Parameters
    ----------
    made : ResultsComparison or PredictionsComparison
        What to show.
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
    (folder / "compare.json").write_text(made.to_json(data), encoding="utf-8")
    (folder / "compare.txt").write_text(made.to_text(data), encoding="utf-8", errors="backslashreplace")
    if isinstance(made, PredictionsComparison):
        drawn = _draw(folder, None, made.pairs, made.cochran or made.tests[0])
        where = ""
    elif made.choice.by is None:
        drawn = _draw(folder, None, made.blocks[0].pairs, made.blocks[0].friedman)
        where = ""
    else:
        remove_pictures(folder, PICTURES)
        by, drawn = made.choice.by, 0
        for k, block in enumerate(made.blocks[:MOST_PICTURED]):
            title = f"{by} = {label(block.value)}"
            drawn += _draw(block_folder(folder, k, by, block.value), title, block.pairs, block.friedman)
        where = f" in a folder for each {printable(by)}"
        if len(made.blocks) > MOST_PICTURED:
            where += f" of the first {MOST_PICTURED} of {len(made.blocks)} only"
    return f"written to {printable(out)}: compare.json, compare.txt, {drawn} pictures{where}\n"


def _draw(folder: Path, title: str | None, pairs: PairwiseResult, first: SignificanceResult) -> int:
    """Draw what there is to draw; give how many pictures."""
    wanted: dict[str, tuple[Any, Any, tuple[float, float], dict[str, Any]]] = {}
    k = len(pairs.names)
    if isinstance(pairs, RankComparison):
        wanted["critical_difference"] = (plot_critical_difference, pairs, style.WIDE, {"form": "axis"})
        if not np.isnan(pairs.critical_difference):
            wanted["critical_difference_ranges"] = (plot_critical_difference, pairs, style.WIDE, {"form": "ranges"})
    if k > 2:
        wanted["pvalues"] = (plot_pvalues, pairs, style.SQUARE, {})
    if first.null is not None:
        wanted["null"] = (plot_null, first, style.WIDE, {})
    remove_pictures(folder, PICTURES)
    for name, (plot, result, size, options) in wanted.items():
        save_picture(plot, result, size=size, title=title, file=folder / f"{name}.png", **options)
    return len(wanted)
