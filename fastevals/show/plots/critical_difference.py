"""Plot mean ranks with the critical difference between them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from fastevals._options import check_choice
from fastevals._validation.curves import check_kind
from fastevals._validation.tables import find_name
from fastevals.document.picture import COLORS, AxisScale, Box, Look, Picture, Range, Span, Text, ThinLines, widened
from fastevals.infer.learners.results import Results
from fastevals.infer.significance.pairwise import PairwiseResult, adjustment_text
from fastevals.infer.significance.rank_comparisons import RankComparison, nemenyi_test, with_mean_ranks
from fastevals.show.plots import style
from fastevals.show.plots.drawing import show
from fastevals.show.plots.models import label_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


Floats = NDArray[np.float64]

INK, BAR, CONTROL = Look(COLORS[6]), Look(COLORS[0]), Look(COLORS[1])
RankForm = Literal["axis", "ranges"]
ROW = 0.21  # inches per name
LEVEL = 0.45  # rows between bars
OVERHANG = 0.01  # share of the axis by which a bar extends beyond its ranks
LABEL = "Mean rank (1 is best)"


def plot_critical_difference(
    result: PairwiseResult | Results,
    *,
    results: Any = None,
    higher_is_better: bool | None = None,
    form: RankForm = "axis",
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """Draw mean ranks and mark which algorithms differ significantly.

    Parameters
    ----------
    result : PairwiseResult or Results
        Result of `nemenyi_test`, `bonferroni_dunn_test` or `rank_comparison_test`; or of `pairwise_tests` for all
        pairs, such as Wilcoxon's test with Holm's correction [1]_, together with `results`. `Results` are compared by
        Nemenyi's test.
    results : Results, array-like, mapping or frame, optional
        The results that `pairwise_tests` compared, for their mean ranks.
    higher_is_better : bool, optional
        As for `friedman_test`, with `results`.
    form : {"axis", "ranges"}
        "axis" is Demsar's diagram: an axis of mean ranks with the best, rank 1, at the right. Bars below the
        axis join algorithms without a significant difference, or extend one critical difference to each side of a
        control.
        "ranges" lists the algorithms, the best at the top, each with a bar around its mean rank, as long as the
        critical difference. A difference is significant where two bars do not overlap (one of them the control's,
        if there is a control).
    ax : Axes, optional
        Axes to draw on; by default new pyplot axes. Names shrink to fit the axes.
    title : str, optional
        Title above the axes.

    Returns
    -------
    Axes
        The axes.

    Raises
    ------
    ValueError
        If an argument has the wrong type, if `results` is missing or has other algorithms, if `pairwise_tests` did not
        compare all pairs, or if form="ranges" and the result has no critical difference.
    ImportError
        If matplotlib is not installed.

    Notes
    -----
    A bar joins algorithms of adjacent mean ranks if no two of them differ significantly. Tests other than those of mean
    ranks may find no difference between two algorithms, but a difference between one of them and a third with a rank in
    between. No bar joins such a pair; the note below the diagram counts these pairs.

    References
    ----------
    Demsar (2006), Statistical Comparisons of Classifiers over Multiple Data Sets, JMLR 7, 1-30, figure 1,
    https://www.jmlr.org/papers/v7/demsar06a.html. Zhou, *Machine Learning*, figure 2.8.

    .. [1] Benavoli, A., Corani, G. and Mangili, F. (2016), "Should We Really Use Post-Hoc Tests Based on Mean-Ranks?",
       JMLR 17(5), 1-10.

    Examples
    --------
    >>> import fastevals
    >>> from matplotlib.figure import Figure
    >>> errors = {"a": [1, 1, 2, 1], "b": [2, 3, 1, 2], "c": [3, 2, 3, 3]}
    >>> ax = plot_critical_difference(fastevals.nemenyi_test(errors, higher_is_better=False), ax=Figure().subplots())
    >>> sorted(text.get_text() for text in ax.texts)[-3:]
    ['a: 1.25', 'b: 2.00', 'c: 2.75']
    """
    if isinstance(result, Results):
        result = nemenyi_test(result)
    check_kind("result", result, PairwiseResult)
    check_choice("form", form, RankForm)
    if not isinstance(result, RankComparison):
        if results is None:
            raise ValueError("results must be given for a result of pairwise_tests: mean ranks are computed from them")
        result = with_mean_ranks(result, results, higher_is_better)
    elif results is not None or higher_is_better is not None:
        raise ValueError("results and higher_is_better go with a result of pairwise_tests: this one has mean ranks")
    picture = Picture()
    draw_critical_difference(picture, result, form)
    return show(picture, style.get_axes(ax, critical_difference_size(picture), 1), title)


def critical_difference_size(picture: Picture) -> tuple[float, float]:
    """Return the figure's size in inches for the names and rows of its picture."""
    if picture.diagram:
        longest = max(len(mark.words) for mark in picture.marks if isinstance(mark, Text))
        return 7.0 + 0.08 * longest, ROW * (picture.y.high - picture.y.low + 1.4)
    names = picture.y.tick_labels or ()
    return style.WIDE[0] + 0.06 * max(map(len, names)), 2.0 + 0.26 * len(names)


def draw_critical_difference(picture: Picture, result: RankComparison, form: RankForm = "axis") -> None:
    """Add mean ranks and their significant differences to an empty picture."""
    cd = None if math.isnan(result.critical_difference) else float(result.critical_difference)
    control = None if result.control is None else find_name("control", result.control, result.names)
    if form == "axis":
        _draw_diagram(picture, result, cd, control)
    elif cd is None:
        raise ValueError(
            f"form='ranges' needs a critical difference, and there is none for correction={result.correction!r}: "
            "the difference at which a pair is rejected varies between pairs"
        )
    else:
        _draw_ranges(picture, result, cd, control)


def _test_title(result: RankComparison) -> str:
    title = f"{result.test[:1].upper()}{result.test[1:]}{adjustment_text(result.correction)}"
    return f"{title}, level {result.alpha:g}"


# Demsar's diagram -----------------------------------------------------------------------------------------------------


def _draw_diagram(picture: Picture, result: RankComparison, cd: float | None, control: int | None) -> None:
    """Draw Demsar's diagram: the better half is named at the right, with lines from the mean ranks."""
    ranks = np.asarray(result.mean_ranks, dtype=np.float64)
    k, half = ranks.size, (ranks.size + 1) // 2
    end = k - max(k - 1.0, cd or 0.0)  # where lines end at the right: the ruler may extend past the axis
    bars = list(_stack_spans(_bar_spans(result, ranks, cd, control)))
    first_row = 1.1 + LEVEL * (1 + max((level for level, _ in bars), default=-1))
    order = np.argsort(ranks, kind="stable").tolist()
    lines = []
    for is_better, algorithms in ((True, order[:half]), (False, order[half:][::-1])):
        x = end if is_better else float(k)
        for row, place in enumerate(algorithms):
            rank, y = float(ranks[place]), -(first_row + row)
            lines.append(np.array([(rank, 0.0), (rank, y), (x, y)]))
            words = label_of(str(result.names[place]), f"{rank:.2f}")
            picture.add(Text(x, y, words, "left" if is_better else "right", bold=place == control))
    picture.add(ThinLines("name", lines, INK, 0.9))
    picture.add(ThinLines("joined", [np.array([(x, -0.65 - LEVEL * n) for x in span]) for n, span in bars], BAR, 4.5))
    if cd is not None:
        ends = np.array([(k, 2.45), (k, 2.75), (k, 2.6), (k - cd, 2.6), (k - cd, 2.75), (k - cd, 2.45)])
        picture.add(ThinLines("ruler", [ends], INK, 1.2))
        picture.add(Text(k - cd / 2, 3.0, f"CD = {cd:.3f}"))
    picture.x = AxisScale(LABEL, float(k), end, ticks=range(1, k + 1))
    picture.y = AxisScale("", 0.5 - first_row - half, 2.3 if cd is None else 3.8)
    rule = "a bar joins algorithms without a significant difference"
    if control is not None:
        rule = "no significant difference from the control (bold) within the bar"
    elif n := result.n_unjoined():
        rule += f"; {n} more such pair{'s' * (n != 1)} without a bar"
    picture.diagram, picture.note = True, f"{_test_title(result)}: {rule}"


def _bar_spans(result: RankComparison, ranks: Floats, cd: float | None, control: int | None) -> list[Range]:
    """Return the first and the last mean rank of each bar."""
    overhang = OVERHANG * (ranks.size - 1)
    if control is None:
        joined = [ranks[list(group)] for group in result.groups() if len(group) > 1]
    elif cd is not None:
        return [(max(1.0, float(ranks[control]) - cd), min(float(ranks.size), float(ranks[control]) + cd))]
    else:
        joined = [np.append(ranks[result.pairs[~result.rejected]], ranks[control])]
    return [(float(each.min()) - overhang, float(each.max()) + overhang) for each in joined]


def _stack_spans(spans: Iterable[Range]) -> Iterable[tuple[int, Range]]:
    """Return each span with the first level at which it overlaps no earlier span."""
    ends: list[float] = []  # of the last span on each level
    for low, high in sorted(spans):
        level = next((k for k, end in enumerate(ends) if low > end), len(ends))
        ends[level : level + 1] = [high]
        yield level, (low, high)


# Ranges ---------------------------------------------------------------------------------------------------------------


def _draw_ranges(picture: Picture, result: RankComparison, cd: float, control: int | None) -> None:
    ranks = np.asarray(result.mean_ranks, dtype=np.float64)
    order = np.argsort(ranks, kind="stable").tolist()
    names = [label_of(str(result.names[place])) for place in order]
    picture.x = AxisScale(LABEL)
    picture.x.low, picture.x.high = widened(picture.x, np.append(ranks - cd / 2, ranks + cd / 2), 0.05)
    picture.y = AxisScale("", len(order) - 0.4, -0.6, ticks=range(len(order)), tick_labels=names)
    rule = "two bars do not overlap"
    if control is not None:
        middle = float(ranks[control])
        picture.add(Box((middle - cd / 2, middle + cd / 2), (picture.y.low, picture.y.high), CONTROL, style.SHADE))
        picture.add_entry("the control's bar", CONTROL.color, "shade")
        rule = "a bar and the control's do not overlap"
    for k, place in enumerate(order):
        rank = float(ranks[place])
        picture.add(Span(rank, rank - cd / 2, rank + cd / 2, float(k), CONTROL if place == control else BAR))
    picture.add_entry(f"mean rank, in a bar of length CD = {cd:.3f}", BAR.color, "o")
    picture.legend, picture.keyed = style.BELOW, True
    picture.note = f"{_test_title(result)}:\na difference is significant where {rule}"
