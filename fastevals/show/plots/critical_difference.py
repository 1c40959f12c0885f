"""The pictures of mean ranks and of the difference between them that a test can show."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from fastevals._options import check_choice
from fastevals._validation.curves import check_kind
from fastevals._validation.tables import find_name
from fastevals.infer.significance.rank_comparisons import RankComparison
from fastevals.show.plots import style
from fastevals.show.plots.picture import COLORS

if TYPE_CHECKING:
    from matplotlib.axes import Axes


Span = tuple[float, float]

INK, BAR, CONTROL = "#000000", COLORS[0], COLORS[1]
ROW = 0.21  # inches, of a name
FONT = 10.0  # points, where there is room
NAMES = 0.3  # of the width, at most, for the names on a side
SLACK = 1.04  # of a text's width, which is another by a few per cent at another resolution
GAP = 8.0  # points, from a name to its line and to the edge
LEVEL = 0.45  # rows between bars
OVERHANG = 0.01  # of the axis, of a bar beyond the ranks it joins


def plot_critical_difference(
    result: RankComparison, *, form: str = "axis", ax: Axes | None = None, title: str | None = None
) -> Axes:
    """Draw mean ranks, and which of their differences are shown.

    Parameters
    ----------
    result : RankComparison
        Of `nemenyi_test`, `bonferroni_dunn_test` or `rank_comparison_test`.
    form : {"axis", "ranges"}
        "axis" is Demsar's diagram: an axis of mean ranks that runs to 1, the best, at the right; bars below it join
        algorithms whose differences are not shown, or reach one critical difference to either side of a control.
        "ranges" lists the algorithms, the best at the top, each with a bar of the length of the critical difference
        around its mean rank: a difference is shown where two bars don't overlap (one of them the control's, if
        there is a control).
    ax : Axes, optional
        Where to draw; by default a new figure of pyplot's. Names are as large as the axes have room for.
    title : str, optional
        Above the axes.

    Returns
    -------
    Axes
        What was drawn on.

    Raises
    ------
    ValueError
        If an argument is of another kind, or form="ranges" and the result has no critical difference.
    ImportError
        If matplotlib is missing.

    References
    ----------
    Demsar (2006), Statistical Comparisons of Classifiers over Multiple Data Sets, JMLR 7, 1-30, figure 1,
    https://www.jmlr.org/papers/v7/demsar06a.html. Zhou, *Machine Learning*, figure 2.8.

    Examples
    --------
    >>> import fastevals
    >>> from matplotlib.figure import Figure
    >>> errors = {"a": [1, 1, 2, 1], "b": [2, 3, 1, 2], "c": [3, 2, 3, 3]}
    >>> ax = plot_critical_difference(fastevals.nemenyi_test(errors, higher_is_better=False), ax=Figure().subplots())
    >>> sorted(text.get_text() for text in ax.texts)[-3:]
    ['a: 1.25', 'b: 2.00', 'c: 2.75']
    """
    check_kind("result", result, RankComparison)
    check_choice("form", form, ("axis", "ranges"))
    cd = None if math.isnan(result.critical_difference) else float(result.critical_difference)
    if form == "axis":
        ax = _Diagram(result, cd).draw(ax)
        style.set_title(ax, title)
        return ax
    if cd is None:
        raise ValueError(
            f"form='ranges' needs a critical difference, and there is none for correction={result.correction!r}: "
            "what it takes to be rejected differs between pairs"
        )
    return _draw_ranges(result, cd, ax, title)


class _Diagram:
    """Demsar's diagram. x is the mean rank; y counts rows of text, from the axis at 0 down."""

    def __init__(self, result: RankComparison, cd: float | None) -> None:
        self.result, self.cd = result, cd
        self.ranks = np.asarray(result.mean_ranks, dtype=np.float64)
        self.k = self.ranks.size
        self.control = None if result.control is None else find_name("control", result.control, result.names)
        self.labels = [
            style.legend_label(str(name), f"{rank:.2f}") for name, rank in zip(result.names, self.ranks, strict=True)
        ]
        self.end = self.k - max(self.k - 1.0, cd or 0.0)  # of the lines at the right: the ruler may be past the axis
        self.bars = list(_stack_spans(self._bar_spans()))
        self.top = 2.3 if cd is None else 3.8
        self.first_row = 1.1 + LEVEL * (1 + max((level for level, _ in self.bars), default=-1))
        self.height = self.top + self.first_row + (self.k + 1) // 2 + 0.9

    def _bar_spans(self) -> list[Span]:
        """Return the first and the last mean rank of each bar."""
        overhang = OVERHANG * (self.k - 1)
        if self.control is None:
            joined = [self.ranks[list(group)] for group in self.result.groups() if len(group) > 1]
        else:
            control = self.ranks[self.control]
            if self.cd is not None:
                return [(max(1.0, control - self.cd), min(self.k, control + self.cd))]
            joined = [np.append(self.ranks[self.result.pairs[~self.result.rejected]], control)]
        return [(float(ranks.min()) - overhang, float(ranks.max()) + overhang) for ranks in joined]

    def draw(self, ax: Axes | None) -> Axes:
        longest = max(len(label) for label in self.labels)
        ax = style.get_axes(ax, (7.0 + 0.08 * longest, ROW * self.height), 1)
        ax.set_axis_off()
        ax.set_ylim(self.top - self.height, self.top)
        width, height = style.size_in_points(ax)
        row = height / self.height
        size = self._draw_names(ax, width, row)
        self._draw_axis(ax, width, size)
        self._draw_note(ax, width, 0.9 * size)
        for level, span in self.bars:
            y = -(0.65 + LEVEL * level)
            ax.plot(span, [y, y], color=BAR, linewidth=min(4.5, 0.3 * row), solid_capstyle="butt", label="_joined")
        for text in ax.texts:
            text.set_in_layout(False)  # there is room for them in the axes
        return ax

    def _draw_names(self, ax: Axes, width: float, row: float) -> float:
        """Write the names, the better half at the right, with lines from their mean ranks; return their size."""
        order = np.argsort(self.ranks, kind="stable").tolist()
        half = (self.k + 1) // 2
        texts: dict[str, list[Any]] = {}
        for side, algorithms, end in (("left", order[:half], self.end), ("right", order[half:][::-1], self.k)):
            offset = GAP / 2 if side == "left" else -GAP / 2
            for row_number, place in enumerate(algorithms):
                rank, y = self.ranks[place], -self.first_row - row_number
                ax.plot([rank, rank, end], [0, y, y], color=INK, linewidth=0.9, label="_name")
                text = ax.annotate(
                    self.labels[place], (end, y), (offset, 0), textcoords="offset points", annotation_clip=False,
                    ha=side, va="center_baseline", weight="bold" if place == self.control else "normal",
                )  # fmt: skip
                texts.setdefault(side, []).append(text)
        largest = min(FONT, 0.72 * row)
        size = largest * min(1.0, NAMES * width / max(_text_width(each, largest) for each in texts.values()))
        left, right = (_text_width(texts[side], size) + GAP for side in ("right", "left"))
        unit = (self.k - self.end) / max(width - left - right, 1.0)
        ax.set_xlim(self.k + left * unit, self.end - right * unit)
        return size

    def _draw_axis(self, ax: Axes, width: float, size: float) -> None:
        ax.plot([self.k, 1], [0, 0], color=INK, linewidth=1.2, label="_axis")
        numbers = [ax.text(rank, 0.35, str(rank), ha="center", va="bottom") for rank in range(1, self.k + 1)]
        unit = width / abs(np.subtract(*ax.get_xlim()))
        step = math.ceil(1.3 * _text_width(numbers, size) / unit)
        for number in numbers:
            rank = number.get_position()[0]
            named = (rank - 1) % step == 0
            number.set_visible(named)
            ax.plot([rank, rank], [0, 0.25 if named else 0.15], color=INK, linewidth=1.0, label="_tick")
        ax.text((self.k + 1) / 2, 1.3, "Mean rank (1 is best)", ha="center", va="bottom", fontsize=size)
        if self.cd is not None:
            ends = [self.k, self.k - self.cd]
            ax.plot(ends, [2.6, 2.6], color=INK, linewidth=1.2, marker="|", markersize=0.7 * size, label="_cd")
            ax.text(sum(ends) / 2, 2.8, f"CD = {self.cd:.3f}", ha="center", va="bottom", fontsize=size)

    def _draw_note(self, ax: Axes, width: float, size: float) -> None:
        """Write below what the bars are."""
        explanation = "a bar joins algorithms whose differences are not shown"
        if self.control is not None:
            explanation = "within the bar, a difference from the control (bold) is not shown"
        explanation = f"{_test_title(self.result)}: {explanation}"
        note = ax.text(0.5, 0.0, explanation, transform=ax.transAxes, ha="center", va="bottom", color="#404040")
        note.set_fontsize(size * min(1.0, width / _text_width([note], size)))


def _text_width(texts: list[Any], size: float) -> float:
    """Set the size of texts; return the largest width in points."""
    for text in texts:
        text.set_fontsize(size)
    return SLACK * max(float(text.get_window_extent().width * 72 / text.figure.figure.dpi) for text in texts)


def _test_title(result: RankComparison) -> str:
    return f"{result.test[:1].upper()}{result.test[1:]}, level {result.alpha:g}"


def _stack_spans(spans: Iterable[Span]) -> Iterable[tuple[int, Span]]:
    """Return each span with the first level at which it meets none before it."""
    ends: list[float] = []  # of the last span of each level
    for low, high in sorted(spans):
        level = next((k for k, end in enumerate(ends) if low > end), len(ends))
        ends[level : level + 1] = [high]
        yield level, (low, high)


def _draw_ranges(result: RankComparison, cd: float, ax: Axes | None, title: str | None) -> Axes:
    ranks = np.asarray(result.mean_ranks, dtype=np.float64)
    order = np.argsort(ranks, kind="stable")
    x, y = ranks[order], np.arange(ranks.size)
    names = [style.legend_label(str(result.names[place])) for place in order]
    ax = style.get_axes(ax, (style.WIDE[0] + 0.06 * max(map(len, names)), 2.0 + 0.26 * ranks.size), 1)
    colors = np.full(ranks.size, BAR, dtype=object)
    rule = "two bars don't overlap"
    if result.control is not None:
        control = order == find_name("control", result.control, result.names)
        colors[control] = CONTROL
        middle = float(x[control][0])
        ends = middle - cd / 2, middle + cd / 2
        ax.axvspan(*ends, color=CONTROL, alpha=style.SHADE, linewidth=0, label="the control's bar")
        rule = "a bar and the control's don't overlap"
    ax.hlines(y, x - cd / 2, x + cd / 2, colors=colors.tolist(), linewidth=2.2, label=f"bar of length CD = {cd:.3f}")
    ax.scatter(x, y, c=colors.tolist(), s=34, zorder=3, label="mean rank")
    ax.set_yticks(y, names)
    ax.set_ylim(ranks.size - 0.4, -0.6)
    style.finish(ax, "Mean rank (1 is best)", "", style.BELOW, title)
    legend: Any = ax.get_legend()
    legend.set(title=f"{_test_title(result)}:\na difference is shown where {rule}", alignment="left")
    ax.tick_params("y", labelsize=min(FONT, 0.72 * style.size_in_points(ax)[1] / ranks.size))
    return ax
