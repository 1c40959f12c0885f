"""Find which rows each model gets right, one part of the rows at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import run
from fastevals._kernels.agreement import count_common
from fastevals._validation.labels import as_class_numbers
from fastevals._validation.text import TextLabels, share_names

WORD = 64
CELLS_PER_PART = 1 << 21  # so that a part's bits stay in cache while pairs are counted, and calls are few
FEWEST_ROWS, MOST_ROWS = 1 << 12, 1 << 16  # rows per part


class Agreement:
    """Predicted classes of models, compared with the true classes.

    The parts depend only on the numbers of models and rows, so any number of threads gives the same counts.

    Attributes
    ----------
    n_models, n_rows : int
        Numbers of models and rows.
    parts : list of slice
        Ranges of rows; each is processed as a whole.
    """

    def __init__(self, true: NDArray[Any], models: dict[str, NDArray[Any]]) -> None:
        if isinstance(true, TextLabels):
            _, (true, *codes) = share_names([true, *models.values()])
            models = dict(zip(models, codes, strict=True))
        self._models = models
        self._true_as = {dtype: _narrowed(true, dtype) for dtype in {labels.dtype for labels in models.values()}}
        self.n_models = sum(len(np.atleast_2d(labels)) for labels in models.values())
        self.n_rows = true.size
        size = min(max(CELLS_PER_PART // self.n_models // WORD * WORD, FEWEST_ROWS), MOST_ROWS)
        self.parts = [slice(start, min(start + size, self.n_rows)) for start in range(0, self.n_rows, size)]

    def right(self, part: slice) -> NDArray[np.bool_]:
        """Return which rows of a part each model gets right; columns are padded with False to whole words."""
        n = part.stop - part.start
        right = np.zeros((self.n_models, -(-n // WORD) * WORD), dtype=np.bool_)
        done = 0
        for name, labels in self._models.items():
            block = np.atleast_2d(_as_integers(name, labels, part))
            np.equal(block, self._true_as[labels.dtype][part], out=right[done : done + len(block), :n])
            done += len(block)
        return right

    def count_common(self, pairs: NDArray[np.intp]) -> NDArray[np.int64]:
        """Count the rows that both models of each pair get right; a pair may repeat a model.

        Each thread counts into a table of its own. `run` would drop the tables, so they are kept here and added up at
        the end: there is one table per thread, not one per part.
        """
        first, second = np.ascontiguousarray(pairs.T)
        tables: list[NDArray[np.int64]] = []

        def table() -> NDArray[np.int64]:
            tables.append(np.zeros(len(pairs), dtype=np.int64))
            return tables[-1]

        def count(part: slice, counts: NDArray[np.int64]) -> None:
            bits = np.packbits(self.right(part), axis=1).view(np.uint64)
            count_common(bits, first, second, counts)

        run(count, self.parts, workspace=table, compiles=count_common)
        return np.sum(tables, axis=0)  # type: ignore[no-any-return]


def _narrowed(true: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return the true classes in the dtype of the predictions if they fit, so that comparing them converts nothing."""
    narrow = true.astype(np.int64 if dtype.kind == "f" else dtype)
    return narrow if (narrow == true).all() else true


def _as_integers(name: str, labels: NDArray[Any], part: slice) -> NDArray[Any]:
    """Return a part of the predicted classes, with floats converted to integers."""
    block = labels[..., part]
    if block.dtype.kind != "f":
        return block
    with np.errstate(invalid="ignore"):
        whole = block.astype(np.int64)
    odd = whole != block
    if labels.ndim == 2 and odd.any():
        model = int(np.argmax(odd.any(axis=1)))
        name, labels, odd = f"{name}[{model}]", labels[model], odd[model]
    if odd.any():
        as_class_numbers(name, labels)  # raises an error with the position
    return whole
