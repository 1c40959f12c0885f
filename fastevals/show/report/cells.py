"""Read ranges of scores that a database has counted, for reports and gates: a table of cells, one per row."""

from __future__ import annotations

from typing import Any

import numpy as np

from fastevals._options import listed, naming_rows
from fastevals.reading.columns import join_columns
from fastevals.reading.csv import CsvForm, Request
from fastevals.reading.files import open_source
from fastevals.scale.scores import CountedBlock, ScoresSummary
from fastevals.scale.summary import RankingSummary

CELL_COLUMNS = ("low", "high", "positives", "negatives")
MODEL = "model"  # an optional column


def read_cells(data: Any, label: str | None, score: Any, form: CsvForm) -> ScoresSummary:
    """Return the summary of a table with the lowest and highest score, and the numbers of rows, of each cell.

    Parameters
    ----------
    data : path, frame, mapping, ...
        Anything that `open_source` opens, with columns "low", "high", "positives" and "negatives". A column "model"
        tells several models apart. Cells may overlap, as those of several days do.
    label : str or None
        The name of the true class in texts.
    score : sequence of str or None
        The name of the only model, unless there is a column "model".
    form : CsvForm
        Separator, encoding and header of a CSV file, as far as they are known.

    Returns
    -------
    ScoresSummary

    Raises
    ------
    ValueError
        If a column is missing or has other values, or if models have different numbers of rows.
    """
    source = open_source(data, Request(None, (MODEL,), CELL_COLUMNS, form=form))
    named = (*CELL_COLUMNS, MODEL) if MODEL in source.names else CELL_COLUMNS
    wanted = {name: f"column {name!r}" for name in named}
    columns = join_columns(source, wanted, CELL_COLUMNS)
    if MODEL not in columns and score and len(score) > 1:
        raise ValueError(
            f"{source.title} is the table of one model, as it has no column {MODEL!r}, got {listed(score)}"
        )
    models, codes = [(score or ("score",))[0]], np.zeros(columns["low"].size, np.intp)
    if MODEL in columns:
        models, codes = columns.encode_values(wanted[MODEL], MODEL)
    summaries = {}
    with naming_rows(columns.line):
        RankingSummary.from_cells(*(columns[name] for name in CELL_COLUMNS))  # so that errors name the table's rows
        for k, name in enumerate(models):
            summaries[str(name)] = RankingSummary.from_cells(*(columns[each][codes == k] for each in CELL_COLUMNS))
    rows = {name: (each.n_positives, each.n_negatives) for name, each in summaries.items()}
    if not any(map(any, rows.values())):
        raise ValueError(f"{source.title} has no rows: positives and negatives are all 0")
    (first, (n_positives, n_negatives)), *others = rows.items()
    for name, each in others:
        if each != (n_positives, n_negatives):
            raise ValueError(
                f"{source.title}: all models must have the same rows, but {first} has {n_positives} positives and "
                f"{n_negatives} negatives, and {name} has {each[0]} and {each[1]}"
            )
    block = CountedBlock(n_positives + n_negatives, n_positives, summaries, {})
    return ScoresSummary(label or "label", tuple(summaries), labels=(1, None), blocks={None: block}, title=source.name)
