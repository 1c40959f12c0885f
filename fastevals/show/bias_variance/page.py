"""The pages of bias-variance: which part of the loss is most of it, a picture, and tables."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from fastevals._text import LOSSES, format_value, printable
from fastevals.document.document import AnyCell, Cell, Number, Row, Table
from fastevals.document.page.page import Block, Page, figures
from fastevals.document.picture import Panel, Picture
from fastevals.measure.bias_variance.decomposition import Decomposition
from fastevals.show.bias_variance.embedded import HOW, TRUTH, DecomposedCurve
from fastevals.show.bias_variance.predictions import (
    AUTHORS,
    DecomposedPredictions,
    count_of,
    format_entry,
    list_first,
    what_dominates,
)
from fastevals.show.plots import style
from fastevals.show.plots.bias_variance import SIZE, draw_bias_variance
from fastevals.split.training_sets import BiasVarianceCurve

NAME = "bias_variance"


def predictions_page(decomposed: DecomposedPredictions) -> Page:
    """Return what the page of the decomposition of predictions shows."""
    result = decomposed.result
    facts = {
        "models": "" if decomposed.names is None else list_first(decomposed.names),
        **{name.lstrip("-"): printable(shown) for name, shown in decomposed.shown.items()},
        "left out": list_first(decomposed.left_out),
        "loss": LOSSES[result.loss],
        "parts of": AUTHORS.get(str(result.decomposition), ""),
    }
    facts = {name: text for name, text in facts.items() if text}
    size = f"{count_of(result.n_models, 'model')}, {count_of(result.n_samples, 'sample')}"
    verdict = [f"{sentence}." for sentence in what_dominates(result).rstrip(".").split(". ")]
    tables = [_part_table(result), _sample_table(decomposed)]
    block = Block("", size, verdict, (), list(figures(bias_variance_panels(result), "b0")), tables)
    return Page("bias-variance", decomposed.data, facts, (), [block], decomposed.to_dict())


def curve_page(decomposed: DecomposedCurve) -> Page:
    """Return what the page of the decomposition over a parameter shows."""
    curve = decomposed.result
    best = curve.best()
    parameter = printable(str(curve.parameter))
    verdict = [f"The expected loss is least at {parameter} {format_value(best)}.", *decomposed.sides()]
    rows = []
    for k, value in enumerate(curve.values):
        cells: list[AnyCell] = [Number(float(curve.expected_loss[k]), emphasis="best" if value == best else "")]
        cells += [Number(float(part[k])) for part in curve.parts().values()]
        rows.append(Row(format_value(value), [*cells, Cell(curve.fits[k])]))
    parts = [name.replace("_", " ") for name in curve.parts()]
    table = Table("parts", "Parts of the loss", [parameter, "expected loss", *parts, "fit"], rows)
    pictures = list(figures(bias_variance_panels(curve), "b0"))
    first = curve.results[0]
    size = f"{count_of(first.n_models, 'model')} a value, {count_of(first.n_samples, 'sample')}"
    block = Block("", size, verdict, [TRUTH.removeprefix("! : ")], pictures, [table])
    return Page("bias-variance", decomposed.data, {"how": HOW}, (), [block], decomposed.to_dict())


def bias_variance_panels(result: Decomposition | BiasVarianceCurve) -> Iterator[tuple[str, list[Panel]]]:
    """Yield the picture of a decomposition, unless its numbers are too large to be drawn."""
    if style.is_drawable([*np.ravel(result.expected_loss), *np.ravel(list(result.parts().values()))]):
        picture = Picture()
        draw_bias_variance(picture, result)
        yield NAME, [Panel(None, picture, SIZE)]


def _part_table(result: Decomposition) -> Table:
    loss = result.expected_loss
    rows = [Row("expected loss", [Number(loss), Cell("")])]
    for name, value in result.parts().items():
        share = value / loss if loss and math.isfinite(loss) else math.nan
        cell = Cell("-") if math.isnan(share) else Cell(f"{100 * share:.1f} %", repr(share))
        rows.append(Row(name.replace("_", " "), [Number(value), cell]))
    for name, value in result.beside().items():
        rows.append(Row(f"({name.replace('_', ' ')})", [Number(value), Cell("")]))
    return Table("parts", "Parts of the loss", ["Part", "value", "share"], rows)


def _sample_table(decomposed: DecomposedPredictions) -> Table:
    samples = decomposed.largest_losses()
    rows = []
    for sample in samples:
        row, truth, main, *numbers = sample.values()
        entries = [format_entry(truth), format_entry(main)]
        rows.append(Row(str(row), [*entries, *(Number(float(value)) for value in numbers)]))
    columns = [name.replace("_", " ") for name in samples[0]]
    return Table("samples", "Samples of the largest expected loss, counted from 0", columns, rows)
