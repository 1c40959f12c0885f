"""Plot a confusion matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastevals._text import format_label
from fastevals._validation.curves import check_kind
from fastevals.document.picture import AxisScale, Picture, Squares
from fastevals.measure.confusion import ConfusionMatrix
from fastevals.show.plots import style
from fastevals.show.plots.drawing import picture_on, show
from fastevals.show.plots.models import label_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_CLASSES = 60  # at most, so that cells can be seen
MOST_WRITTEN = 12  # classes at most for cells with room for numbers


def plot_confusion_matrix(matrix: ConfusionMatrix[Any], *, ax: Axes | None = None, title: str | None = None) -> Axes:
    r"""Draw a confusion matrix: counts and shares of the true class, with darker cells for larger shares.

    Parameters
    ----------
    matrix : ConfusionMatrix
        A single matrix with at most 60 classes.
    ax : Axes, optional
        Axes to draw on; by default new pyplot axes.
    title : str, optional
        Title above the axes.

    Returns
    -------
    Axes
        The axes. With up to 12 classes, cells contain counts and shares.

    Raises
    ------
    ValueError
        If an argument has the wrong type, or has too many classes.
    ImportError
        If matplotlib is not installed.

    Examples
    --------
    >>> import fastevals
    >>> from matplotlib.figure import Figure
    >>> matrix = fastevals.ConfusionMatrix([[3, 1], [0, 4]], labels=["no", "yes"])
    >>> ax = plot_confusion_matrix(matrix, ax=Figure().subplots())
    >>> [text.get_text() for text in ax.texts]
    ['3\n75.0 %', '1\n25.0 %', '0\n0.0 %', '4\n100.0 %']
    """
    check_kind("matrix", matrix, ConfusionMatrix)
    counts = np.asarray(matrix.counts)
    if counts.ndim != 2:
        raise ValueError(f"matrix must be a single matrix, not a stack, got counts of shape {counts.shape}")
    if counts.shape[0] > MOST_CLASSES:
        raise ValueError(f"matrix must have at most {MOST_CLASSES} classes to be drawn, got {counts.shape[0]}")
    ax = style.get_axes(ax, style.SQUARE, 1)
    picture = picture_on(ax)
    draw_confusion(picture, counts, [format_label(label) for label in matrix.labels.tolist()])
    return show(picture, ax, title)


def draw_confusion(picture: Picture, counts: Any, names: list[str]) -> None:
    """Add the counts of a matrix to an empty picture."""
    k = counts.shape[0]
    totals = counts.sum(axis=1, keepdims=True, dtype=np.float64)
    shares = np.divide(counts, totals, out=np.zeros(counts.shape), where=totals > 0)
    lines = [[_lines(counts[row, column], shares[row, column], k) for column in range(k)] for row in range(k)]
    picture.add(Squares(shares, lines))
    labels = [label_of(name) for name in names]
    picture.x = AxisScale("Predicted class", -0.5, k - 0.5, ticks=range(k), tick_labels=labels)
    picture.y = AxisScale("True class", k - 0.5, -0.5, ticks=range(k), tick_labels=labels)
    picture.equal = True


def _lines(count: Any, share: float, k: int) -> tuple[str, ...]:
    written = f"{count:,.6g}" if isinstance(count, np.floating) else f"{count:,}"
    return (written, f"{100 * share:.1f} %") if k <= MOST_WRITTEN else ()
