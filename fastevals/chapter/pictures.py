"""Pictures of examples as plain data, which `fastevals.show.plots` can draw."""

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
    "null": Caption(
        "Test", "distribution of the statistic under the null hypothesis, rejection region and observed value"
    ),
    "estimates": Caption("Estimates", "by splitting scheme, with 95 % intervals"),
    "spread": Caption("Test sets", "mean, and the range of the middle 95 %"),
    "folds": Caption("Splits", "how each scheme divides rows into training and test sets"),
    "fits": Caption("Fits", "over the data, with the truth"),
    "tenfold": Caption("Curves", "with the original negatives and with ten times as many"),
    "three_models": Caption("Model", ""),
}

Size = tuple[float, float]


def curves(kind: str, models: Mapping[str, Any], title: str | None = None, **options: Any) -> Panel:
    """Return a picture of curves of one kind; `models` maps names to rankings or curves."""
    entry = CURVES[kind]
    named = as_models("models", models, entry.kind, entry.of_ranking)
    drawn = panel(drawing_of(entry), named, style.figure_size(style.SIZES[entry.size], len(models)), title, **options)
    drawn.picture.keyed = True  # only the legend names the models
    return drawn


def panel(
    draw: Callable[..., None], result: Any, size: Size = style.WIDE, title: str | None = None, **options: Any
) -> Panel:
    """Return the picture that `draw` makes of a result."""
    picture = Picture()
    draw(picture, result, **options)
    return Panel(title, picture, size)
