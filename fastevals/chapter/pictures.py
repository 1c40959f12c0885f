"""Pictures of examples, as plain data: what `fastevals.show.plots` draws, before it is drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import methodcaller
from typing import Any, NamedTuple

from fastevals.document.page import page
from fastevals.document.picture import Panel, Picture
from fastevals.measure.curves.cost import CostCurve, CostOverPrior
from fastevals.measure.curves.precision_recall import PrecisionRecallCurve
from fastevals.measure.curves.roc import RocCurve
from fastevals.show.plots import style
from fastevals.show.plots.cost import draw_cost, draw_cost_over_prior
from fastevals.show.plots.models import as_models
from fastevals.show.plots.precision_recall import draw_precision_recall
from fastevals.show.plots.roc import draw_roc

CAPTIONS = page.CAPTIONS | {
    "null": ("The test", "its statistic if the hypothesis held, where that is rejected, and what was seen"),
    "estimates": ("Estimates", "by the way rows are split, with 95 % intervals"),
    "spread": ("Test sets", "the mean of all, and where 95 % of them are"),
    "three_models": ("Model", ""),
}

Size = tuple[float, float]


class _CurveKind(NamedTuple):
    curve: type
    make: Callable[[Any], Any]  # of a ranking
    draw: Callable[..., None]
    size: Size


CURVES = {
    "roc": _CurveKind(RocCurve, methodcaller("roc_curve"), draw_roc, style.SQUARE),
    "precision_recall": _CurveKind(
        PrecisionRecallCurve, methodcaller("precision_recall_curve"), draw_precision_recall, style.SQUARE
    ),
    "cost": _CurveKind(CostCurve, methodcaller("cost_curve"), draw_cost, style.WIDE),
    "cost_over_prior": _CurveKind(
        CostOverPrior, lambda ranking: ranking.cost_curve().over_prior(), draw_cost_over_prior, style.WIDE
    ),
}


def curves(kind: str, models: Mapping[str, Any], title: str | None = None, **options: Any) -> Panel:
    """Return the picture of a kind of curve, of rankings or curves by name."""
    curve, make, draw, size = CURVES[kind]
    named = as_models("models", models, curve, make)
    drawn = panel(draw, named, style.figure_size(size, len(models)), title, **options)
    drawn.picture.keyed = True  # no part of the page but the legend names the models
    return drawn


def panel(
    draw: Callable[..., None], result: Any, size: Size = style.WIDE, title: str | None = None, **options: Any
) -> Panel:
    """Return the picture that a function draws of a result."""
    picture = Picture()
    draw(picture, result, **options)
    return Panel(title, picture, size)
