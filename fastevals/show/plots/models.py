"""Models in a picture: their names, looks and legend entries."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np

from fastevals._distinct import sorted_unique
from fastevals._options import check_choice, show
from fastevals._text import printable, shorten_name
from fastevals._validation.curves import as_named
from fastevals.counts import ThresholdCounts
from fastevals.document.picture import Look, Picture, Shade, as_rate
from fastevals.infer.bands import ConfidenceBand
from fastevals.infer.calibration.bands import ReliabilityBand
from fastevals.many.classes import ClassRankings
from fastevals.measure.curves.registry import entry_of
from fastevals.measure.ranking.base import BaseRanking
from fastevals.measure.ranking.ranking import as_ranking
from fastevals.scale.certified import CertifiedCurve
from fastevals.show.plots.thinning import thinned

BAND_METHODS = {"kolmogorov": "Kolmogorov", "clopper-pearson": "Clopper-Pearson"}  # names in legends, where different
LONGEST_NAME = 40  # characters of a name in a legend

Models = Sequence[tuple[str | None, Any]]  # curves by name, one alone without
Band: TypeAlias = ConfidenceBand | ReliabilityBand
Bands = Mapping[str | None, Band]
C = TypeVar("C")
Ranked: TypeAlias = BaseRanking | ClassRankings
Drawn: TypeAlias = C | Ranked | Mapping[str, C | Ranked]  # the argument of `plot_...` for a kind of curve


class Enclosed(list[tuple[str | None, Any]]):
    """Models whose curves may be known only up to bounds: `within` has each model's bounds, or None.

    `looks` has each model's look, if it is not the next one of the picture.
    """

    within: Sequence[CertifiedCurve[Any] | None] = ()
    looks: Sequence[Look] = ()


def as_models(name: str, curves: Any, kind: type, make: Callable[[Any], Any], label: str | None = None) -> Models:
    """Return the given curves by name, and compute curves from rankings; `label` names a single curve.

    If a curve is known only at some of its points, it is drawn through these. Rankings of classes give their macro
    curve, or their micro curve if there is no macro curve of the kind.
    """
    within: list[CertifiedCurve[Any] | None] = []

    def as_curve(value: Any) -> Any:
        if isinstance(value, ClassRankings):
            entry = entry_of(kind)
            value = getattr(value, entry.method)(average="macro") if entry.macro else value._as_one()
        value = as_ranking(name, value)
        value = make(value) if isinstance(value, BaseRanking) else value
        within.append(value if isinstance(value, CertifiedCurve) else None)
        return value.points if isinstance(value, CertifiedCurve) else value

    several = isinstance(curves, Mapping)
    curves = {key: as_curve(value) for key, value in curves.items()} if several else as_curve(curves)
    models = Enclosed(label_models(label, as_named(name, curves, kind, "Ranking"), several))
    models.within = within
    return models


def label_models(label: str | None, models: Models, several: bool) -> Models:
    """Name a single unnamed model by `label`."""
    if label is None:
        return models
    if several or not isinstance(label, str):
        raise ValueError(f"label must be the name of a single curve, and a mapping has names, got {show(label)}")
    return [(label, each) for _, each in models]


def styled_models(picture: Picture, models: Models, color: Any = None) -> Iterator[tuple[str | None, Any, Look]]:
    """Yield each defined model with its look, in `color` or the next colour; list the others as undefined."""
    colors = _colors_for(color, models)
    enclosed = models if isinstance(models, Enclosed) else Enclosed(models)
    within = enclosed.within or [None] * len(models)
    looks: Sequence[Look | None] = enclosed.looks if enclosed.looks else [None] * len(models)
    for (name, each), bounds, own in zip(models, within, looks, strict=True):
        look = picture.next_look(colors.get(name)) if own is None else own._replace(color=colors.get(name, own.color))
        if each.defined:
            if bounds is not None:
                _add_bounds(picture, bounds, look)
            yield name, each, look
        else:
            picture.add_curve([], [], label_of(name, "undefined"), look)


def _add_bounds(picture: Picture, bounds: CertifiedCurve[Any], look: Look) -> None:
    """Shade the region that certainly contains a curve."""
    evenly = np.linspace(0, 1, picture.columns, endpoint=False)
    x = sorted_unique(np.concatenate((evenly, as_rate(8 * evenly[1:] - 4))))  # evenly in rates and in their deviates
    ends = bounds._ends_at(x)
    known = np.isfinite(ends).all(axis=0)
    low, high = ends[:, known]
    picture.add(Shade(x[known], low, high, look))
    picture.add_entry("where the curve may be", marker="shade")


def _colors_for(color: Any, models: Models) -> dict[str | None, Any]:
    """Return colours by model name."""
    if color is None:
        return {}
    from matplotlib.colors import is_color_like

    names = [name for name, _ in models]
    if not isinstance(color, Mapping):
        if len(names) > 1:
            raise ValueError(f"color must be a mapping of names to colours if there are several models, got {color!r}")
        color = {names[0]: color}
    for name, each in color.items():
        check_choice("each name in color", name, names)
        if not is_color_like(each):
            raise ValueError(f"color must be one that matplotlib knows ('#0072B2', 'red'), got {show(each)}")
    return dict(color)


# In the legend --------------------------------------------------------------------------------------------------------


def label_of(name: str | None, *values: str) -> str:
    """Return a legend entry: the name and some values."""
    text = ", ".join(value for value in values if value)
    if not name:
        return text
    short = shorten_name(printable(name), LONGEST_NAME)
    return f"{short}: {text}" if text else short


def number(name: str, value: float) -> str:
    """Return a value with its name; nothing if it is undefined."""
    return "" if math.isnan(value) else f"{name} {value:.3f}" if abs(value) < 1e6 else f"{name} {value:.3g}"


# Bands ----------------------------------------------------------------------------------------------------------------


def as_bands(band: Any, models: Models, curve: str, label: str | None = None) -> dict[str | None, Band]:
    """Return bands by model name; raise unless they are for the kind of curve that is drawn."""
    if band is None:
        return {}
    kind = ReliabilityBand if curve == "reliability" else ConfidenceBand
    bands = dict(as_named("band", band, kind))
    names = [None] if label is not None else [name for name, _ in models]
    for name, each in bands.items():
        if name is None and names != [None]:
            raise ValueError(
                "band must be a mapping of the models' names to bands if curve is a mapping, got a single band"
            )
        if name is not None and names == [None]:
            raise ValueError(f"band must be a single {kind.__name__} if curve is a single curve, got a mapping")
        check_choice("each name in band", name, names)
        check_choice("band.curve" if name is None else f"band[{name!r}].curve", each.curve, [curve])
    return {label if name is None else name: each for name, each in bands.items()}


def add_band(picture: Picture, band: Band | None, look: Look) -> None:
    """Add a model's band, if it has one."""
    if band is not None:
        x, low = thinned(band.x, band.low, picture.columns)
        _, high = thinned(band.x, band.high, picture.columns)
        picture.add(Shade(x, low, high, look))


def add_band_entries(picture: Picture, bands: Iterable[Band]) -> None:
    """Explain each kind of shading once in the legend."""
    for band in bands:
        method = BAND_METHODS.get(band.method, band.method)
        picture.add_entry(f"{100 * band.confidence_level:g} % {band.kind} band ({method})", marker="shade")


# What models share ----------------------------------------------------------------------------------------------------


def common_share(models: Iterable[tuple[Any, Any]]) -> float | None:
    """Return the share of positives if it is the same for all models whose curve is defined, else None."""
    shares = (share_of_positives(each.counts) for _, each in models if each.defined)
    return cast("float | None", common_value(shares))


def share_of_positives(counts: ThresholdCounts) -> float:
    """Return the share of positives; there must be at least one row."""
    return counts.n_pos / (counts.n_pos + counts.n_neg)


def common_value(values: Iterable[Any]) -> Any:
    """Return the common value; None if the values differ or there are none."""
    first, *others = list(values) or [None]
    return first if all(np.array_equal(first, other) for other in others) else None
