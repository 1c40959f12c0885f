"""Models of a picture of many classes: average curves, classes with a colour, and the others as thin grey lines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fastevals._text import format_label
from fastevals.document.picture import COLORS, DASHES, GREY, Look, Picture, ThinLines
from fastevals.many.class_curves import MACROS
from fastevals.many.classes import ClassRankings
from fastevals.measure.curves.registry import CurveEntry
from fastevals.show.plots.models import Enclosed

MOST_COLOURED = 10  # classes: if there are more, only the lowest and the highest have a colour
ENDS = 3  # classes with the lowest values, and as many with the highest
HUES = COLORS[:-1]  # black is for averages
AVERAGE_LOOKS = {"macro": Look("#000000"), "micro": Look("#000000", DASHES[1])}
THIN_COLUMNS = 100  # that a thin line is thinned to
VALUES: dict[str, Callable[[Any], float]] = {  # of curves with an attribute, by which classes are sorted
    "area": lambda curve: curve.area,
    "expected_calibration_error": lambda curve: curve.expected_calibration_error,
    "decomposition": lambda curve: curve.decomposition.miscalibration,
    "net_benefit": lambda curve: float(np.nanmean(curve.net_benefit)),
}


class ClassModels(Enclosed):
    """Average curves and classes with a colour; the other classes, drawn as thin lines; a note for the legend."""

    others: Enclosed
    note: str

    @classmethod
    def of(cls, entry: CurveEntry, classes: ClassRankings, make: Callable[[Any], Any] | None) -> ClassModels:
        """Return the curves of classes; `make` replaces what the registry says."""
        make = make or (lambda ranking: entry.of_counts(ranking.counts))
        names = [format_label(label) for label in classes.labels.tolist()]
        curves = list(zip(names, map(make, classes.rankings), strict=True))
        averages = [("micro", make(classes._as_one()))]
        if entry.macro and all(curve.defined for _, curve in curves):
            averages.insert(0, ("macro", entry.kind(MACROS[entry.macro](classes.rankings))))
        return cls.of_curves(averages, curves)

    @classmethod
    def of_curves(cls, averages: list[tuple[str, Any]], curves: list[tuple[str, Any]]) -> ClassModels:
        """Return average curves, "macro" or "micro", and the curves of classes, each with its name."""
        coloured, others = _ends(curves) if len(curves) > MOST_COLOURED else (curves, curves[:0])
        looks = [Look(HUES[k % len(HUES)], DASHES[k // len(HUES)]) for k in range(len(coloured))]
        models = cls([*averages, *coloured])
        models.looks = [*(AVERAGE_LOOKS[name] for name, _ in averages), *looks]
        models.others = Enclosed(others)
        models.note = f"The {ENDS} highest and the {ENDS} lowest of {len(curves)} classes" if others else ""
        return models

    def add_others(self, picture: Picture, draw: Callable[..., None]) -> None:
        """Add the classes without a colour to an empty picture, below the others."""
        picture.note = self.note
        if self.others:
            scratch = Picture(columns=THIN_COLUMNS)
            draw(scratch, self.others)
            paths = [np.stack((curve.x, curve.y), axis=1) for curve in scratch.curves if curve.x.size]
            picture.add(ThinLines("classes", paths, Look(GREY), 0.7, 0.5))
            picture.add_entry(f"the other {len(self.others)} classes", GREY)


def _ends(curves: list[tuple[str, Any]]) -> tuple[list[tuple[str, Any]], list[tuple[str, Any]]]:
    """Return the curves with the highest and lowest values, descending, and the others; undefined ones are others."""
    value = next(VALUES[name] for name in VALUES if hasattr(curves[0][1], name))
    values = [value(curve) if curve.defined else np.nan for _, curve in curves]
    order = np.argsort(-np.array(values), kind="stable")  # NaN is last
    n_defined = int(np.count_nonzero(~np.isnan(values)))
    shown = [*order[:ENDS], *order[max(n_defined - ENDS, ENDS) : n_defined]]
    return [curves[k] for k in shown], [each for k, each in enumerate(curves) if k not in shown]
