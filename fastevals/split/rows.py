"""Some rows of data, of whatever kind a learner takes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["take_rows"]


def take_rows(data: Any, rows: NDArray[np.intp] | None) -> Any:
    """Give the rows, repeated ones too, in the kind of the data; None gives all."""
    if rows is None or data is None:
        return data
    if hasattr(data, "iloc"):  # pandas, whose own brackets take labels
        return data.iloc[rows]
    if type(data).__module__.partition(".")[0] == "pyarrow":  # whose brackets take one number, or a column's name
        return data.take(rows)
    if isinstance(data, (list, tuple)):
        return [data[row] for row in rows.tolist()]
    if hasattr(data, "tocsr"):  # not all sparse formats can be indexed
        return data.tocsr()[rows]
    return data[rows]
