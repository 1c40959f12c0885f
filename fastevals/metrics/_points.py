"""From a ranking to the arrays of a curve: as scikit-learn orders, thins and types them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import BLOCK
from fastevals.counting.sweeps import select_rows
from fastevals.measure.cells import ratio
from fastevals.measure.ranking.ranking import Ranking, pr_points, roc_points

Floats = NDArray[np.float64]

FLOAT = np.dtype(np.float64)
ROUNDING = 4 * np.finfo(np.float64).eps  # relative: what a second difference of rounded sums can be off


class Totals(NamedTuple):
    """Thresholds, descending from +inf, and the rows at or above each: those of threshold counts, or some of them."""

    thresholds: NDArray[Any]
    tps: NDArray[Any]
    fps: NDArray[Any]

    @classmethod
    def of(cls, ranking: Ranking) -> Totals:
        """Take those of a ranking."""
        counts = ranking.counts
        return cls(counts.thresholds, counts.tps, counts.fps)

    def take(self, rows: Any) -> Totals:
        """Keep some of the rows."""
        return Totals(self.thresholds[rows], self.tps[rows], self.fps[rows])


def roc_arrays(ranking: Ranking, drop_intermediate: bool, weighted: bool) -> tuple[Floats, Floats, Floats]:
    """Return FPR, TPR and thresholds, from +inf down; NaN rates of a class without rows."""
    if drop_intermediate and weighted:
        totals = _thinned(Totals.of(ranking), 1, _bends)
        return _shares(totals.fps), _shares(totals.tps), _typed(totals.thresholds, FLOAT)
    fpr, tpr, thresholds = roc_points(ranking, drop_intermediate=drop_intermediate)
    return fpr, tpr, _typed(thresholds, FLOAT)


def precision_recall_arrays(
    ranking: Ranking, drop_intermediate: bool, dtype: np.dtype[Any]
) -> tuple[Floats, Floats, NDArray[Any]]:
    """Return precision, recall and thresholds, from the lowest threshold up; recall is one without positives."""
    if drop_intermediate:
        thresholds, tps, fps = _thinned(Totals.of(ranking), 1, _moves).take(slice(None, 0, -1))
        precision, recall = np.append(tps / (tps + fps), 1.0), np.append(tps / (tps[0] or 1), 0.0)
    else:
        precision, recall, thresholds = pr_points(ranking)
    if not ranking.n_positives:
        recall[:-1], recall[-1] = 1.0, 0.0
    return precision, recall, _typed(thresholds, dtype)


def det_arrays(ranking: Ranking, drop_intermediate: bool) -> tuple[Floats, Floats, Floats]:
    """Return FPR, FNR and thresholds from the lowest up, of those where there are false positives and negatives."""
    totals = Totals.of(ranking)
    if drop_intermediate:
        totals = _thinned(totals, 0, _moves)
    n_pos, n_neg = totals.tps[-1], totals.fps[-1]
    first = int(np.searchsorted(totals.fps, 0, side="right")) - 1
    last = int(np.searchsorted(totals.tps, n_pos))
    thresholds, tps, fps = totals.take(slice(first, last + 1)).take(slice(None, None, -1))
    return ratio(fps, n_neg), ratio(n_pos - tps, n_pos), thresholds.astype(FLOAT)


def threshold_arrays(ranking: Ranking, dtype: np.dtype[Any]) -> tuple[Floats, Floats, Floats, Floats, NDArray[Any]]:
    """Return true negatives, false positives, false negatives, true positives and thresholds, from the highest down."""
    thresholds, tps, fps = Totals.of(ranking).take(slice(1, None))
    tn, fp, fn, tp = (cell.astype(FLOAT) for cell in (fps[-1] - fps, fps, tps[-1] - tps, tps))
    return tn, fp, fn, tp, thresholds.astype(dtype.newbyteorder("="))


def _shares(totals: NDArray[Any]) -> Floats:
    """Divide by the last; NaN where that is zero."""
    return totals / totals[-1] if totals[-1] else np.full(totals.size, np.nan)


def _typed(values: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return values as a type that holds them, of native byte order."""
    return np.ascontiguousarray(values, dtype=dtype.newbyteorder("="))


# Points left out --------------------------------------------------------------------------------------------------


def _thinned(totals: Totals, first: int, matters: Callable[[Totals], NDArray[np.bool_]]) -> Totals:
    """Keep the rows up to `first`, the last, and of others those that matter between their neighbours."""
    n = totals.thresholds.size

    def keep(rows: slice) -> NDArray[np.bool_]:
        kept = np.ones(rows.stop - rows.start, dtype=np.bool_)
        inner = slice(max(rows.start, first + 1), min(rows.stop, n - 1))
        if inner.start < inner.stop:
            ends = totals.take(slice(inner.start - 1, inner.stop + 1))
            kept[inner.start - rows.start : inner.stop - rows.start] = matters(ends)
        return kept

    return totals.take(select_rows(n, keep) if n > BLOCK else keep(slice(0, n)))


def _bends(totals: Totals) -> NDArray[np.bool_]:
    """Tell which inner rows are not half way between their neighbours in ROC space, whatever the scale of weights."""
    bends = np.zeros(totals.tps.size - 2, dtype=np.bool_)
    for cells in (totals.fps, totals.tps):
        bends |= np.abs((cells[2:] - cells[1:-1]) - (cells[1:-1] - cells[:-2])) > ROUNDING * cells[2:]
    return bends


def _moves(totals: Totals) -> NDArray[np.bool_]:
    """Tell at which inner rows recall changes, from the row before or to the one after."""
    changes = totals.tps[1:] != totals.tps[:-1]
    return changes[1:] | changes[:-1]  # type: ignore[no-any-return]
