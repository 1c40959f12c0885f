"""Pictures of examples, as plain data: what `fastevals.show.plots` draws, before it is drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fastevals.document.document import Caption
from fastevals.document.picture import Panel, Picture
from fastevals.measure.curves.registry import CURVES
from fastevals.show import pictures as show_pictures
from fastevals.show.plots import style
from fastevals.show.plots.curves import drawing_of
from fastevals.show.plots.models import as_models

CAPTIONS = show_pictures.CAPTIONS | {
    "null": Caption("The test", "its statistic if the hypothesis held, where that is rejected, and what was seen"),
    "estimates": Caption("Estimates", "by the way rows are split, with 95 % intervals"),
    "spread": Caption("Test sets", "the mean of all, and where 95 % of them are"),
    "three_models": Caption("Model", ""),
}

Size = tuple[float, float]


def curves(kind: str, models: Mapping[str, Any], title: str | None = None, **options: Any) -> Panel:
    """Return the picture of a kind of curve, of rankings or curves by name."""
    entry = CURVES[kind]
    named = as_models("models", models, entry.kind, entry.of_ranking)
    drawn = panel(drawing_of(entry), named, style.figure_size(style.SIZES[entry.size], len(models)), title, **options)
    drawn.picture.keyed = True  # no part of the page but the legend names the models
    return drawn


def panel(
    draw: Callable[..., None], result: Any, size: Size = style.WIDE, title: str | None = None, **options: Any
) -> Panel:
    """Return the picture that a function draws of a result."""
    picture = Picture()
    draw(picture, result, **options)
    return Panel(title, picture, size)
