"""Points that draw curves of the positives found: precision, gain and lift."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from fastevals.counts import ThresholdCounts
from fastevals.show.plots import style, thinning

Points = tuple[NDArray[np.float64], NDArray[np.float64]]


def common_share(models: Iterable[tuple[Any, Any]]) -> float | None:
    """Return the share of positives that all models' rows have; None where they differ, or none is defined."""
    shares = (share_of_positives(each.counts) for _, each in models if each.defined)
    return cast("float | None", style.common(shares))


def share_of_positives(counts: ThresholdCounts) -> float:
    """Return it, of counts that have rows."""
    return counts.n_pos / (counts.n_pos + counts.n_neg)


def rows_along(
    counts: ThresholdCounts, columns: int, x: Callable[[Any, Any], Any], total: float, y: Any = None
) -> NDArray[np.intp]:
    """Choose the rows that draw a curve over x, a function of true and false positives that ends at a total."""
    edges = np.arange(1, columns) / columns * total
    return thinning.rows_to_draw(counts, lambda rows: x(counts.tps[rows], counts.fps[rows]), edges, y)


def hyperbolas(
    counts: ThresholdCounts, columns: int, x: Callable[[Any, Any], Any], total: float, scale: float
) -> Points:
    """Return points of precision (times a scale) against what is taken or found, curved where tie groups are large."""

    def precision(rows: slice) -> NDArray[np.float64]:
        tp, fp = counts.tps[rows], counts.fps[rows]
        return tp / (tp + fp)  # type: ignore[no-any-return]

    rows = rows_along(counts, columns, x, total, precision)
    first = float(precision(slice(1, 2))[0])

    def drawn(tp: Any, fp: Any) -> Points:
        predicted = tp + fp
        nothing = predicted == 0  # as the first rows taken; a share of a tie group has its precision
        return x(tp, fp) / total, scale * np.where(nothing, first, tp / np.where(nothing, 1, predicted))

    tp, fp = (each[rows].astype(np.float64) for each in (counts.tps, counts.fps))
    height = float(drawn(tp, fp)[1].max()) or 1.0
    return drawn(*thinning.refined(tp, fp, drawn, (4 / columns, 4 * height / columns)))
