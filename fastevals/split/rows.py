"""Some rows of data, of whatever kind a learner takes."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._validation import n_rows

__all__ = ["take_rows"]


def take_rows(data: Any, rows: NDArray[np.intp] | None) -> Any:
    """Give a copy of the rows, repeated ones too, in the kind of the data; None gives all."""
    if data is None:
        return None
    if rows is None:  # a learner may work in place
        rows = np.arange(n_rows("X", data))
    if hasattr(data, "iloc"):  # pandas, whose own brackets take labels
        return data.iloc[rows]
    if type(data).__module__.partition(".")[0] == "pyarrow":  # whose brackets take one number, or a column's name
        return data.take(rows)
    if isinstance(data, Sequence):
        return [copy.copy(data[row]) for row in rows.tolist()]
    if hasattr(data, "tocsr"):  # not all sparse formats can be indexed
        return data.tocsr()[rows]
    return data[rows]
