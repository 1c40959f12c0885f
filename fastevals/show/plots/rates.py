"""Plot curves whose axes are functions of counts, from their registry entries."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastevals.counts import ThresholdCounts
from fastevals.document.picture import AxisScale, Look, Picture, ThinLines
from fastevals.many.classes import ClassRankings
from fastevals.measure.curves.numbers import PARTS, number_of
from fastevals.measure.curves.registry import CURVES, CurveEntry, Line
from fastevals.measure.registry import METRICS
from fastevals.show.plots import style, thinning
from fastevals.show.plots.classes import ClassModels
from fastevals.show.plots.drawing import picture_on, show
from fastevals.show.plots.models import (
    Bands,
    Models,
    add_band,
    add_band_entries,
    as_bands,
    as_models,
    common_share,
    label_models,
    label_of,
    number,
    styled_models,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

HULL = "#333333"  # the colour of no model, visible on any curve
UNIT = (-0.02, 1.02)  # limits of an axis from 0 to 1


def plot_models(
    name: str,
    curve: Any,
    ax: Axes | None,
    title: str | None,
    label: str | None,
    color: Any,
    draw: Callable[..., None] | None = None,
    *,
    band: Any = None,
    make: Callable[[Any], Any] | None = None,
    **options: Any,
) -> Axes:
    """Draw the given curves, or curves of rankings; `make` and `draw` replace what their registry entry says."""
    entry = CURVES[name]
    draw = draw or partial(draw_rates, entry)
    models: Models
    if entry.of_top_label:
        curve = (
            {key: _top_label(each) for key, each in curve.items()} if isinstance(curve, Mapping) else _top_label(curve)
        )
    if isinstance(curve, ClassRankings):
        models = label_models(label, ClassModels.of(entry, curve, make), several=True)
        options |= {"marks": False} if "marks" in options else {}
    else:
        models = as_models("curve", curve, entry.kind, make or entry.of_ranking, label)
    if band is not None:
        options["bands"] = as_bands(band, models, name, label)
    n_more = 2 if isinstance(models, ClassModels) and models.others else 0  # entries for the other classes and the note
    ax = style.get_axes(ax, style.SIZES[entry.size], len(models) + n_more)
    picture = picture_on(ax)
    if isinstance(models, ClassModels):
        models.add_others(picture, draw)
    draw(picture, models, color, **options)
    return show(picture, ax, title)


def _top_label(curve: Any) -> Any:
    """Return the ranking of the most probable class if a curve is given by several classes."""
    return curve.top_label() if isinstance(curve, ClassRankings) else curve


def draw_rates(
    entry: CurveEntry,
    picture: Picture,
    models: Models,
    color: Any = None,
    *,
    hull: bool = False,
    marks: bool = True,
    bands: Bands = MappingProxyType({}),
) -> None:
    """Add curves to a picture, with the lines, marked points and axes of their registry entry."""
    marked, lines = entry.marked if marks else None, list(entry.lines)
    is_unit = entry.y.number in METRICS and METRICS[entry.y.number].bounds == (0.0, 1.0)
    heights = [y for line in lines for y in line.y if not isinstance(y, str)]
    top = picture.y.high if picture.has_curves else 1.1 * max(heights, default=0.0)
    bottom = picture.y.low if picture.has_curves else 0.0
    for name, each, look in styled_models(picture, models, color):
        values = [number(entry.area, picture.number(name, entry.area_metric, each.area))]
        add_band(picture, bands.get(name), look)
        if marked is not None:
            at = picture.number(name, marked.metric, METRICS[marked.metric](each.counts))
            values.append(number(marked.name, at))
        x, y = points_of(entry, each.counts, picture.columns)
        picture.add_curve(x, y, label_of(name, *values), look)
        if hull:
            path = np.stack(points_of(entry, each.hull().counts, picture.columns), axis=1)
            picture.add(ThinLines("hull", [path], Look(HULL), 0.9))
        if marked is not None:
            picture.add_ring(at, at if marked.line.y[0] == 0 else 1 - at, look)
        top = max(top, 1.05 * float(y.max()))
        bottom = min(bottom, 1.05 * float(y.min()))
    if top == bottom:  # no curve is defined
        top = 1.0
    if hull:
        picture.add_entry("convex hull", HULL)
    add_band_entries(picture, bands.values())
    for line in [*lines, *([marked.line] if marked is not None else [])]:
        _add_line(picture, line, models)
    picture.x = AxisScale(entry.x.label, *UNIT)
    picture.y = AxisScale(entry.y.label, *(UNIT if is_unit else (min(bottom, -0.02 * top), top)))
    picture.equal, picture.legend = is_unit, entry.legend


def _add_line(picture: Picture, line: Line, models: Models) -> None:
    if "positives" not in (*line.x, *line.y):
        picture.add_reference(line.x, line.y, line.label, dotted=line.dotted)
        return
    share = common_share(models)
    x, y = ([share if each == "positives" else each for each in ends] for ends in (line.x, line.y))
    picture.add_shared_reference(None if share is None else (x, y), line.label, dotted=line.dotted)


def points_of(entry: CurveEntry, counts: ThresholdCounts, columns: int) -> tuple[Floats, Floats]:
    """Return points that draw a curve of counts, with extra points where it bends between rows."""
    part, drawn_y = PARTS[entry.x.number], number_of(entry.y.number, counts)
    total = part.total(counts)

    def drawn(tp: Any, fp: Any) -> tuple[Floats, Floats]:
        return part.counted(tp, fp) / total, drawn_y(tp, fp)

    is_straight = entry.y.number in PARTS
    extremes = None if is_straight else lambda rows: drawn_y(counts.tps[rows], counts.fps[rows])
    rows = thinning.rows_along(counts, columns, part.counted, total, extremes)
    tp, fp = counts.tps[rows], counts.fps[rows]
    if is_straight:
        return drawn(tp, fp)
    tp, fp = tp.astype(np.float64), fp.astype(np.float64)
    high = float(drawn(tp, fp)[1].max()) or 1.0
    return drawn(*thinning.refined(tp, fp, drawn, (4 / columns, 4 * high / columns)))
