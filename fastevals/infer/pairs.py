"""Which models are compared."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check

__all__ = ["pairs_of"]


def pairs_of(names: tuple[Any, ...], reference: Any = None, *, argument: str = "reference") -> NDArray[np.intp]:
    """Give all pairs of models, or each other model's with the reference, as places in `names`."""
    if reference is None:
        return np.stack(np.triu_indices(len(names), 1), axis=1)
    place = check.find_name(argument, reference, names)
    return np.array([(k, place) for k in range(len(names)) if k != place], dtype=np.intp)
