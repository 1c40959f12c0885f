"""Plot a confusion matrix."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fastevals._options import check_choice
from fastevals._text import format_label
from fastevals._validation.curves import check_kind
from fastevals.document.picture import AxisScale, Picture, Squares
from fastevals.measure.confused_classes import class_shares, most_frequent_errors, order_of_similar_classes
from fastevals.measure.confusion import ConfusionMatrix
from fastevals.show.plots import style
from fastevals.show.plots.drawing import picture_on, show
from fastevals.show.plots.models import label_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_CLASSES = 150  # at most, so that cells can be seen
MOST_WRITTEN = 12  # classes at most for cells with room for numbers
MOST_PLAIN = 20  # classes at most for a matrix without the order, the scale and the pairs of large ones
MOST_NAMED = 50  # classes with a name along each axis
MOST_LISTED = 8  # errors below a large matrix
MARKED_SHARES = (0.01, 0.05, 0.2, 0.5, 1.0)  # on the scale of a large matrix
SCALE = AxisScale(
    "Share of the true class", 0.0, 1.0, ticks=[share**0.5 for share in MARKED_SHARES],
    tick_labels=[f"{100 * share:.0f} %" for share in MARKED_SHARES],
)  # fmt: skip
ClassOrder = Literal["labels", "confusion"]


def plot_confusion_matrix(
    matrix: ConfusionMatrix[Any], *, ax: Axes | None = None, title: str | None = None, order: ClassOrder | None = None
) -> Axes:
    r"""Draw a confusion matrix: counts and shares of the true class, with darker cells for larger shares.

    Parameters
    ----------
    matrix : ConfusionMatrix
        A single matrix with at most 150 classes.
    ax : Axes, optional
        Axes to draw on; by default new pyplot axes.
    title : str, optional
        Title above the axes.
    order : {"labels", "confusion"}, optional
        Order of the classes: as in the matrix, or as `ConfusionMatrix.sorted_by_confusion` sorts them, which draws
        classes that are confused with each other as blocks on the diagonal. By default "labels" up to 20 classes, and
        "confusion" for more.

    Returns
    -------
    Axes
        The axes. With up to 12 classes, cells contain counts and shares. With more than 20, darkness is linear in the
        square root of the share, so that rare errors are seen, and the most frequent errors are listed below; with more
        than 50, only some classes are named along the axes.

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
    if order is not None:
        check_choice("order", order, ClassOrder)
    counts = np.asarray(matrix.counts)
    if counts.ndim != 2:
        raise ValueError(f"matrix must be a single matrix, not a stack, got counts of shape {counts.shape}")
    if counts.shape[0] > MOST_CLASSES:
        raise ValueError(f"matrix must have at most {MOST_CLASSES} classes to be drawn, got {counts.shape[0]}")
    ax = style.get_axes(ax, confusion_size(counts.shape[0]), 1)
    picture = picture_on(ax)
    draw_confusion(picture, counts, [format_label(label) for label in matrix.labels.tolist()], order)
    return show(picture, ax, title)


def confusion_size(n_classes: int) -> tuple[float, float]:
    """Return the size of a matrix's figure in inches."""
    if n_classes <= MOST_PLAIN:
        return style.SQUARE
    side = min(4.0 + 0.12 * n_classes, 10.0)
    return side + 0.8, side + style.LEGEND_ROW * (MOST_LISTED + 1)


def draw_confusion(
    picture: Picture, counts: Any, names: list[str], order: ClassOrder | None = None, similar: Any = None
) -> None:
    """Add the counts of a matrix to an empty picture; `similar` are counts that similar classes are found in."""
    k = counts.shape[0]
    is_large = k > MOST_PLAIN
    if order == "confusion" or (order is None and is_large):
        places = order_of_similar_classes(counts if similar is None else similar)
        counts, names = counts[np.ix_(places, places)], [names[place] for place in places]
    shares = class_shares(counts)
    lines = [[_lines(counts[row, column], shares[row, column], k) for column in range(k)] for row in range(k)]
    labels = [label_of(name) for name in names]
    if is_large:
        picture.add(Squares(np.sqrt(shares), lines, scale=SCALE))
        _list_errors(picture, counts, labels)
    else:
        picture.add(Squares(shares, lines))
    named = slice(0, k, math.ceil(k / MOST_NAMED))
    ticks, tick_labels = range(k)[named], labels[named]
    picture.x = AxisScale("Predicted class", -0.5, k - 0.5, ticks=ticks, tick_labels=tick_labels)
    picture.y = AxisScale("True class", k - 0.5, -0.5, ticks=ticks, tick_labels=tick_labels)
    picture.equal = True


def _list_errors(picture: Picture, counts: Any, labels: list[str]) -> None:
    """List the most frequent errors in the legend."""
    errors = most_frequent_errors(counts, MOST_LISTED)
    for true, predicted, count, share in zip(*(each.tolist() for each in errors[:4]), strict=True):
        of_class = f"{100 * share:.1f} % of {labels[true]}"
        picture.add_entry(f"{labels[true]} as {labels[predicted]}: {_written(count)}, {of_class}", marker="none")
    if errors.n_pairs:
        share = errors.counts.sum() / (counts.sum() - np.trace(counts))
        picture.note = f"Most frequent errors, true class as predicted class ({100 * share:.0f} % of all errors)"
    picture.legend, picture.keyed = style.BELOW, True


def _lines(count: Any, share: float, k: int) -> tuple[str, ...]:
    return (_written(count), f"{100 * share:.1f} %") if k <= MOST_WRITTEN else ()


def _written(count: Any) -> str:
    return f"{count:,.6g}" if isinstance(count, float) else f"{count:,}"
