"""The table of results by data set and learner, as part of a document."""

from __future__ import annotations

from typing import Any

import numpy as np

from fastevals._text import format_column, printable
from fastevals.document.document import GAP, Cell, Part, Row, Sentence, Table


def results_table(results: Any) -> list[Part]:
    """Return a table with a row for each data set and a column for each learner, and what was done to the data."""
    means = results.means
    texts = np.array(format_column(means.ravel().tolist()), dtype=object).reshape(means.shape)
    rows = [
        Row(printable(str(dataset)), [Cell(text, repr(value)) for text, value in zip(cells, values, strict=True)])
        for dataset, cells, values in zip(results.datasets, texts.tolist(), means.tolist(), strict=True)
    ]
    head = ["data set", *(printable(str(learner)) for learner in results.learners)]
    table = Table("results", "", head, lambda: iter(rows), n_rows=len(rows))
    notes: list[Part] = [Sentence(note, "caution") for note in results.notes]
    return [table, *([GAP, *notes] if notes else [])]
