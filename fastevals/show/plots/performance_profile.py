"""Plot on what share of the data sets each learner is close to the best."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastevals._options import check_choice
from fastevals._validation.tables import as_result_table
from fastevals.document.picture import GREY, AxisScale, Look, Picture, ThinLines
from fastevals.infer.learners.profiles import Profile, ProfileBy, areas_above, distances_to_best, profiles_of
from fastevals.infer.learners.results import Results
from fastevals.show.plots import style
from fastevals.show.plots.drawing import show
from fastevals.show.plots.models import label_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

MOST_COLORED = 10  # learners: with more, only the best have a colour
DECADES = 10.0  # a ratio from which the axis is logarithmic
LARGEST_LOG = 345.0  # of ratios on the axis, as matplotlib can draw
ROOM = 0.04  # share of the axis beyond the largest distance


def plot_performance_profile(
    results: Any,
    *,
    by: ProfileBy = "ratio",
    higher_is_better: bool | None = None,
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """Draw performance profiles: the share of data sets on which each learner is within a factor of the best.

    Parameters
    ----------
    results : Results, array-like, mapping or frame
        Results of learners on several data sets, as for `friedman_test`.
    by : {"ratio", "difference"}
        Whether a result is compared with the best one of its data set by their ratio, which is 1 for the best, or by
        their difference, which is 0. Ratios need positive results.
    higher_is_better : bool, optional
        As for `friedman_test`.
    ax : Axes, optional
        Axes to draw on; by default new pyplot axes.
    title : str, optional
        Title above the axes.

    Returns
    -------
    Axes
        The axes: one step function per learner, sorted by the area above it, the smallest first. At its left end is the
        share of data sets on which the learner is the best or one of the best. With more than ten learners, only the
        first ten have a colour.

    Raises
    ------
    ValueError
        If an argument has the wrong type, or a result is not positive and `by` is "ratio".
    ImportError
        If matplotlib is not installed.

    References
    ----------
    Dolan and Moré (2002), "Benchmarking Optimization Software with Performance Profiles",
    doi:10.1007/s101070100263.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> errors = {"a": [0.1, 0.2, 0.1, 0.3], "b": [0.2, 0.2, 0.3, 0.2]}
    >>> ax = plot_performance_profile(errors, higher_is_better=False, ax=Figure().subplots())
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['a: best on 75 %', 'b: best on 50 %']
    """
    check_choice("by", by, ProfileBy)
    table = as_result_table("results", results, keep_missing=isinstance(results, Results)).without_empty_rows()
    style.check_drawable("results", np.nan_to_num(table.values))
    picture = Picture()
    draw_performance_profile(picture, table.values, table.algorithms, table.higher_is_better(higher_is_better), by)
    return show(picture, style.get_axes(ax, style.WIDE, min(len(table.algorithms), MOST_COLORED + 1)), title)


def draw_performance_profile(
    picture: Picture, values: Floats, names: tuple[Any, ...], higher_is_better: bool, by: ProfileBy = "ratio"
) -> None:
    """Add the profiles of learners (columns of `values`) to an empty picture."""
    distances = distances_to_best("results", values, higher_is_better, by)
    profiles, start = profiles_of(distances, by), float(by == "ratio")
    farthest = float(distances[np.isfinite(distances)].max(initial=start))
    kind, what = "linear", "Difference from the best result of a data set"
    if by == "ratio":
        what = "Best result of a data set over result" if higher_is_better else "Result over the best of a data set"
        kind = "log" if farthest > DECADES else "linear"
    end = farthest + ROOM * (farthest - start)
    if kind == "log":
        end = math.exp(min((1 + ROOM) * math.log(farthest), LARGEST_LOG))
    end = end if end > start else start + 1.0
    order = np.argsort(areas_above(profiles, end), kind="stable").tolist()
    n_colored = min(len(order), MOST_COLORED)
    others = [np.column_stack(_steps(profiles[place], end)) for place in order[n_colored:]]
    if others:
        picture.add(ThinLines("profile", others, Look(GREY), 0.7, 0.6))
    for place in order[:n_colored]:
        share = f"best on {100 * profiles[place].shares[0]:.0f} %"
        picture.add_curve(*_steps(profiles[place], end), label_of(str(names[place]), share), picture.next_look())
    if others:
        picture.add_entry(f"{len(others)} other learner{'s' * (len(others) != 1)}", GREY)
    picture.x = AxisScale(what, start, end, "log" if kind == "log" else "linear")
    picture.y = AxisScale("Share of data sets", 0.0, 1.02)
    picture.legend, picture.keyed = "lower right", True


def _steps(profile: Profile, end: float) -> tuple[Floats, Floats]:
    """Return the corners of a step function up to the end of the axis."""
    return np.append(np.repeat(profile.distances, 2)[1:], end), np.repeat(profile.shares, 2)
