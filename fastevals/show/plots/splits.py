"""The picture of a splitter: which rows each split trains on and tests."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._distinct import sorted_unique
from fastevals._text import format_label
from fastevals._validation.labels import as_groups
from fastevals._validation.text import unique_rows
from fastevals.document.picture import COLORS, AxisScale, Look, Picture, Shade
from fastevals.show.plots import style
from fastevals.show.plots.drawing import show
from fastevals.show.plots.models import label_of
from fastevals.split.checks import check_same_rows
from fastevals.split.designs import resolve_splits
from fastevals.split.splitters.hold_out import HoldOut

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Codes = NDArray[np.integer[Any]]

MOST_ROWS, MOST_SPLITS = 2000, 30
ROW, MARGIN = 0.22, 2.2  # inches: of a split, of the axis and the legend
HALF_ROW = 0.4  # of the height of a split, above and below its middle
UNUSED, TRAINED, REPEATED, TESTED, VALIDATED = range(5)
ROLES = {
    TRAINED: ("training", COLORS[5]),
    REPEATED: ("training, drawn more than once", COLORS[0]),
    TESTED: ("test", COLORS[1]),
    VALIDATED: ("validation", COLORS[4]),
}
STRIP_COLORS = COLORS[2], COLORS[3], COLORS[6], COLORS[4]  # of classes and groups, in turn


class SplitRoles(NamedTuple):
    """The role of each row in each split that is drawn, and the classes and groups of the rows."""

    roles: list[Codes]
    n_splits: int  # of which the first are drawn
    strips: dict[
        str, tuple[Codes, list[str]]
    ]  # by name: the code of each row's class or group, and what the codes stand for


def plot_splits(
    splitter: Any,
    X: Any = None,
    y: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    *,
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """Draw how a splitter deals rows to training and test sets, one line per split.

    Parameters
    ----------
    splitter : splitter, or sequence of (train, test)
        A splitter of this package or with scikit-learn's interface, or pairs of row numbers.
    X, y, groups
        The data, as for the splitter's `split`: at most 2,000 rows.
    ax : Axes, optional
        Axes to draw on; by default new pyplot axes.
    title : str, optional
        Title above the axes.

    Returns
    -------
    Axes
        The axes: rows from left to right in their order, the first 30 splits from top to bottom. Rows that a
        split does not use are blank. The classes `y` and the `groups` are strips below, whose colours repeat after
        four.

    Raises
    ------
    ValueError
        If the data have more rows than can be drawn, or the splitter rejects the data.
    ImportError
        If matplotlib is not installed.

    Examples
    --------
    >>> from fastevals import KFold
    >>> from matplotlib.figure import Figure
    >>> ax = plot_splits(KFold(3, stratified=True, rng=0), y=[0] * 6 + [1] * 3, ax=Figure().subplots())
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['1', '2', '3', 'class']
    """
    found = read_splits(splitter, X, y, groups)
    ax = style.get_axes(ax, splits_size(found), 1)
    picture = Picture()
    draw_splits(picture, found)
    return show(picture, ax, title)


def read_splits(splitter: Any, X: Any = None, y: Any = None, groups: Any = None) -> SplitRoles:
    """Return the splits of some data, ready to be drawn; arguments as for `plot_splits`."""
    n = check_same_rows(X=X, y=y, groups=groups)
    _check_row_number("X" if X is not None else "y" if y is not None else "groups", n)
    splits = resolve_splits("splitter", splitter, np.arange(n) if X is None else X, y, groups)
    roles = list(_roles(splits.pairs(), n))
    if isinstance(splitter, HoldOut):
        for role, parts in zip(roles, splitter.parts(X, y, groups), strict=False):
            role[parts.validation] = VALIDATED
    strips = {"class": y, "group": groups}
    return SplitRoles(
        roles, math.prod(splits.shape), {key: _number(key, each) for key, each in strips.items() if each is not None}
    )


def _roles(pairs: Iterator[Any], n: int) -> Iterator[Codes]:
    for train, test in islice(pairs, MOST_SPLITS):
        role = np.minimum(np.bincount(train, minlength=n), REPEATED)
        role[test] = TESTED
        yield role


def _number(name: str, values: Any) -> tuple[Codes, list[str]]:
    """Number classes or groups in the order of their first rows; return the number for each row, and all names."""
    names, first, codes = unique_rows(as_groups({"class": "y", "group": "groups"}[name], values))
    order = np.argsort(first)
    return np.argsort(order)[codes], [f"{name} {format_label(each)}" for each in np.asarray(names)[order].tolist()]


def splits_size(found: SplitRoles) -> tuple[float, float]:
    """Return a figure's size in inches."""
    return style.WIDE[0], MARGIN + ROW * (len(found.roles) + 2 * len(found.strips))


def draw_splits(picture: Picture, found: SplitRoles) -> None:
    """Add splits to an empty picture."""
    ticks, labels = [*range(len(found.roles))], [str(k + 1) for k in range(len(found.roles))]
    for k, role in enumerate(found.roles):
        _add_row(picture, float(k), role, {code: color for code, (_, color) in ROLES.items()})
    seen = sorted_unique(np.concatenate(found.roles))
    for code, (name, color) in ROLES.items():
        if code in seen:
            picture.add_entry(name, color, "solid")
    if UNUSED in seen:
        picture.add_entry("(blank: not used)", marker="none")
    for name, (codes, names) in found.strips.items():
        at = len(found.roles) + 0.6 + 1.4 * (len(ticks) - len(found.roles))
        ticks, labels = [*ticks, at], [*labels, name]
        _add_row(picture, at, codes % len(STRIP_COLORS), dict(enumerate(STRIP_COLORS)))
        for each, color in zip(names, STRIP_COLORS, strict=False) if len(names) <= len(STRIP_COLORS) else ():
            picture.add_entry(label_of(each), color, "solid")
    n, shown = found.n_splits, len(found.roles)
    picture.x = AxisScale("Row", -0.5, found.roles[0].size - 0.5, whole=True)
    y_label = "Split" if shown == n else f"Split (the first {shown} of {n:,})"
    picture.y = AxisScale(y_label, max(ticks) + 0.7, -0.7, ticks=ticks, tick_labels=labels)
    picture.legend, picture.keyed = style.BELOW, True


def _add_row(picture: Picture, y: float, codes: Codes, colors: dict[int, str]) -> None:
    """Add a strip of rows: one mark per code, with full height at the rows with that code and height 0 elsewhere."""
    edges = np.repeat(np.arange(codes.size + 1) - 0.5, 2)[1:-1]
    for code, color in colors.items():
        if (codes == code).any():
            high = np.where(np.repeat(codes == code, 2), y + HALF_ROW, y - HALF_ROW)
            picture.add(Shade(edges, np.full(edges.size, y - HALF_ROW), high, Look(color), solid=True))


# Checks ---------------------------------------------------------------------------------------------------------------


def _check_row_number(name: str, n: int) -> None:
    """Raise if there are more rows than a picture can show."""
    if n > MOST_ROWS:
        raise ValueError(f"{name} must have at most {MOST_ROWS} rows to be drawn, got {n}: pass some of them")
