"""The plot of a metric over days: lines, bands, gaps, marked and undecided days."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from fastevals.many.trends import Trend, TrendLine
from fastevals.many.values_compared import compare_with_others
from fastevals.results import Interval
from fastevals.show.plots import plot_trend

GAPS, LATE, ODD = (2, 4), (8, 9), {6: -0.06}
NO_SHIFTS: Mapping[int, float] = {}


def made_trend(
    n: int = 10,
    models: Collection[str] = ("old", "new"),
    gaps: Collection[int] = GAPS,
    late: Collection[int] = LATE,
    odd: Mapping[int, float] = ODD,
    *,
    has_intervals: bool = True,
    values: Any = None,
) -> Trend:
    """Return a trend of n days, of which some have no rows, labels for few rows, or another AUC of the first model."""
    rng = np.random.default_rng(0)
    rows, is_late = np.full(n, 1000), np.isin(np.arange(n), [*late])
    rows[[*gaps]] = 0
    lines = {}
    for k, model in enumerate(models):
        aucs, errors = rng.normal(0.8 + 0.05 * k, 0.01, n), np.full(n, 0.01)
        for day, shift in odd.items() if k == 0 else ():
            aucs[day] += shift
        aucs[[*gaps]] = errors[[*gaps]] = np.nan
        compared = compare_with_others(aucs, np.where(is_late, np.nan, errors), rows * 0.3, rows * 1.0, 0.05)
        intervals = np.stack([aucs - 0.02, aucs + 0.02], axis=1) if has_intervals else np.full((n, 2), np.nan)
        lines[model] = TrendLine(aucs, intervals, 0.8, Interval(0.79, 0.81), compared if has_intervals else None)
    labelled = np.where(rows == 0, 0.0, np.where(is_late, 0.5, 1.0))
    values = [f"2025-01-{day + 1:02}" for day in range(n)] if values is None else values
    return Trend(
        "day", values, rows, rows // 3, labelled, 0.9, 0.8 if late else None, {"roc_auc": lines, "brier_score": lines},
        0.95 if has_intervals else None, undecided=is_late,
    )  # fmt: skip


def drawn(trend: Trend, **options: Any) -> Any:
    return plot_trend(trend, ax=Figure().subplots(), **options)


def entries(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_lines_have_gaps_and_a_value_between_gaps_has_a_width() -> None:
    trend = made_trend()
    ax = drawn(trend, title="days")
    for model, line in zip(
        trend.lines["roc_auc"].values(), (each for each in ax.lines if len(each.get_xdata()) > 1), strict=True
    ):
        x, y = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
        assert x[np.isfinite(x)].tolist() == [0, 1, 2.7, 3.3, 5, 6, 7, 8, 9]
        assert np.isnan(y).tolist() == np.isnan(x).tolist()
        assert y[np.isfinite(y)].tolist() == model.values[[0, 1, 3, 3, 5, 6, 7, 8, 9]].tolist()
    assert (ax.get_title(), ax.get_xlabel(), ax.get_ylabel()) == ("days", "day", "AUC")


def test_days_that_differ_have_dots_and_undecided_days_a_background() -> None:
    trend = made_trend()
    ax = drawn(trend)
    dots = [(line.get_xdata()[0], line.get_ydata()[0]) for line in ax.lines if len(line.get_xdata()) == 1]
    assert dots == [(6.0, trend.lines["roc_auc"]["old"].values[6])]
    (box,) = ax.patches
    assert (box.get_x(), box.get_x() + box.get_width()) == (7.5, 9.5)
    assert (box.get_y(), box.get_y() + box.get_height()) == pytest.approx(ax.get_ylim())
    assert entries(ax) == ["old", "new", "all rows", "differs from the other values", "undecided: too few labels"]


def test_bands_are_the_intervals() -> None:
    ax = drawn(made_trend(models=["m"]))
    bands = [each for each in ax.collections if each.get_label() == "_band"]
    assert [len({*band.get_paths()[0].vertices[:, 0]}) for band in bands] == [2, 2, 5]


def test_without_intervals_only_lines_are_drawn() -> None:
    ax = drawn(made_trend(late=(), has_intervals=False))
    assert entries(ax) == ["old", "new", "all rows"]
    assert not [each for each in ax.collections if each.get_label() == "_band"]


def test_the_metric_is_named_as_in_other_calls() -> None:
    assert drawn(made_trend(), metric="brier_score").get_ylabel() == "Brier"
    assert drawn(made_trend(), metric="auc").get_ylabel() == "AUC"


@pytest.mark.parametrize("values", [["$x$", "_y", "z" * 300], [1, 2.5, None]])
def test_values_of_any_kind_have_names(values: list[Any]) -> None:
    trend = made_trend(3, gaps=(), late=(), odd=NO_SHIFTS, values=values)
    ax = plot_trend(trend, ax=Figure(layout="constrained").subplots())
    assert len(ax.get_xticklabels()) == 3
    ax.figure.draw_without_rendering()


def test_a_year_has_as_many_names_as_fit() -> None:
    ax = drawn(made_trend(365, gaps=(), values=range(365)))
    assert 10 < len(ax.get_xticklabels()) < 60
    assert len(ax.lines[0].get_xdata()) == 365


def test_errors() -> None:
    trend = made_trend()
    with pytest.raises(ValueError, match="trend must be Trend, got NoneType"):
        plot_trend(None)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="metric must be one of 'roc_auc', 'brier_score'; got 'recall'"):
        plot_trend(trend, metric="recall")
    none = Trend("day", [1], *[np.zeros(1)] * 3, 1.0, None, {}, 0.95)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="trend has no metric that is defined at a value of day"):
        plot_trend(none)
    huge = made_trend()
    huge.lines["roc_auc"]["old"].values[0] = 1e200
    with pytest.raises(ValueError, match="trend must be below 1e"):
        drawn(huge)
