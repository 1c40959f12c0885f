"""The registry of curves: each curve has an entry, whose names exist. Failures say what to add, and where."""

from __future__ import annotations

import math
import re
import warnings
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import pytest
from matplotlib.figure import Figure

import fastevals
from fastevals import Ranking, RankingFolds
from fastevals.document.page import page
from fastevals.many.folds import MEANS
from fastevals.measure import curves
from fastevals.measure.curves.base import Curve
from fastevals.measure.curves.numbers import PARTS, is_of_counts
from fastevals.measure.curves.registry import CURVES, CurveEntry
from fastevals.measure.ranking.base import BaseRanking
from fastevals.measure.registry import METRICS, Detail
from fastevals.show import plots
from fastevals.show.plots.curves import DRAWINGS, plot_function
from fastevals.show.report.pictures import numbers_at
from tests.reference.curves import RATES, TWINS

every_entry = pytest.mark.parametrize("entry", CURVES.values(), ids=CURVES)
BOTH = Ranking([0, 1, 0, 1, 1], [0.1, 0.3, 0.4, 0.5, 0.9])


def test_every_curve_has_an_entry() -> None:
    for module in iter_modules(curves.__path__):
        import_module(f"{curves.__name__}.{module.name}")
    kinds, found = set(), [Curve]
    while found:
        found = [each for kind in found for each in kind.__subclasses__()]
        kinds |= {kind.__name__ for kind in found if not kind.__name__.startswith("_")}
    assert kinds - {entry.kind_name for entry in CURVES.values()} == set(), "add their entries to registry.py"


@every_entry
def test_a_ranking_has_the_curve(entry: CurveEntry) -> None:
    if not entry.made_by:
        assert hasattr(BaseRanking, entry.method), "add the method to measure/ranking/base.py"
    assert isinstance(entry.of_ranking(BOTH), entry.kind)
    of_counts = entry.of_counts(BOTH.counts)
    assert isinstance(of_counts, entry.kind)
    assert getattr(of_counts, "area", 0) == getattr(entry.of_ranking(BOTH), "area", 0)
    assert getattr(fastevals, entry.kind_name).__name__ == entry.kind.__name__


@every_entry
def test_it_is_undefined_without_the_classes_that_are_said(entry: CurveEntry) -> None:
    for missing, label in (("positives", 0), ("negatives", 1)):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            curve = entry.of_ranking(Ranking([label] * 2, [0.2, 0.4]))
        assert curve.defined == (missing not in entry.undefined_without), f"undefined_without: {missing}"
        assert entry.made_by or len(told) == (not curve.defined)


@every_entry
def test_it_has_a_slow_twin(entry: CurveEntry) -> None:
    if issubclass(entry.kind, Curve):
        assert entry.name in TWINS, "add it to TWINS of tests/reference/curves.py"
        rates = {*entry.kind.ARRAYS} - {"thresholds", "lift"}
        assert not entry.averaged or rates <= RATES.keys(), "add them to RATES of tests/reference/curves.py"


@every_entry
def test_folds_average_what_is_said(entry: CurveEntry) -> None:
    assert hasattr(RankingFolds, entry.method) == bool(entry.averaged), "add the method to many/folds.py, or `averaged`"
    assert entry.averaged in {*MEANS, ""}
    assert entry.detail in {*Detail.__members__, ""}


@every_entry
def test_it_is_drawn(entry: CurveEntry) -> None:
    """Numbers along the axes, or a function, draw each curve."""
    drawn_by_numbers = is_of_counts(entry) and entry.x.number in PARTS
    assert drawn_by_numbers or entry.name in DRAWINGS, "add what draws it to show/plots/curves.py"
    assert not entry.marked or METRICS[entry.marked.metric].of == "ranking"
    assert not entry.area_metric or METRICS[entry.area_metric](BOTH.counts) == entry.of_ranking(BOTH).area


@every_entry
def test_it_is_plotted_by_name(entry: CurveEntry) -> None:
    """Without a function of that name, one made from the entry plots the curve."""
    own, made = getattr(plots, f"plot_{entry.name}"), plot_function(entry)
    assert made.__name__ == own.__name__
    curve = entry.of_ranking(BOTH)  # a ranking's calibration is drawn in bins with intervals
    drawn = [[line.get_xydata().tolist() for line in plot(curve, ax=Figure().subplots()).lines] for plot in (own, made)]
    assert drawn[0] == drawn[1]


@every_entry
def test_its_mark_is_placed_by_reports_and_moved_by_their_pages(entry: CurveEntry) -> None:
    script = (Path(page.__file__).parent / "page.js").read_text()
    numbers = re.search(r"const numbersAt = .*?return \{(.*?)\n    \};", script, re.DOTALL)
    assert numbers is not None
    moved = {
        *re.findall(r"^      (\w+):", numbers[1], re.MULTILINE),
        *re.findall(r"\b(\w+),", numbers[1].split("\n")[1]),
    }
    placed = numbers_at(_model(), {})
    if not entry.in_reports:
        return
    for axis in (entry.x, entry.y):
        if axis.number:
            assert math.isfinite(placed[axis.number]), "add it to numbers_at of show/report/pictures.py"
            assert axis.number in moved, "add it to numbersAt of document/page/page.js"


def _model() -> Any:
    """Return a report's model at its threshold."""
    data = {"y": [0, 1, 0, 1, 1], "s": [0.1, 0.3, 0.4, 0.5, 0.9]}
    return fastevals.report(data, label="y", score="s", threshold=0.35, n_resamples=0).blocks[0].models[0]
