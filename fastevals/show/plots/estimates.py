"""Plot estimates of an error: the spread of the splits' values, one row per scheme."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._options import check_choice, show
from fastevals._validation.arrays import as_array
from fastevals.document.picture import COLORS
from fastevals.results import Interval
from fastevals.show.plots import style
from fastevals.show.plots.fonts import fonts_for
from fastevals.split.estimates.results import ErrorEstimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

Of = Literal["splits", "repetitions"]
ROW, MARGIN = 0.85, 1.7  # inches: per scheme, and for axis and legend
HEIGHT = 0.62  # of a row's height: the histogram
MEAN_Y = -0.16  # place of the mean in a row, under the histogram
FEW_VALUES = 30  # values: fewer are drawn as strokes
MOST_BINS = 60
SPREAD_ROUNDING = 1e-12  # relative to the largest value: values that are closer count as equal
HIDDEN_SHARE = 0.005  # share of a scheme's values on each side that is not drawn
BLACK = COLORS[6]


def plot_estimates(
    estimates: Mapping[str, ErrorEstimate | ArrayLike],
    *,
    of: Of = "splits",
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """Draw the spread of error estimates under several schemes, one below the other.

    Parameters
    ----------
    estimates : mapping of str to ErrorEstimate, or to array-like of shape (n_repeats, n_folds) or (n_repeats,)
        For each scheme, the result of `estimate_error` or the values of the splits. NaN values are left out.
    of : {"splits", "repetitions"}
        Values to draw: one per split, or one per repetition (the mean over its defined folds).
    ax : Axes, optional
        Axes to draw on; by default new pyplot axes.
    title : str, optional
        Title above the axes.

    Returns
    -------
    Axes
        The axes: for each scheme a histogram of its values (strokes for fewer than 30), and below it a thin line from
        one standard deviation below the mean to one above. All histograms are equally high. A ring marks the estimate
        (the mean, unless it was corrected as in .632), and a bar shows its confidence interval.

    Raises
    ------
    ValueError
        If an argument has the wrong type, or a scheme has no values, or values of 1e150 or more.
    ImportError
        If matplotlib is not installed.

    Examples
    --------
    >>> import numpy as np
    >>> from matplotlib.figure import Figure
    >>> values = np.random.default_rng(0).normal(24, 3, size=(100, 5))
    >>> ax = plot_estimates({"5 folds": values, "hold-out": values[:, 0]}, ax=Figure().subplots())
    >>> [label.get_text().split(chr(10))[0] for label in ax.get_yticklabels()]
    ['5 folds', 'hold-out']
    """
    check_choice("of", of, Of)
    schemes = _schemes(_as_split_values("estimates", estimates, ErrorEstimate), of)
    ax = style.get_axes(ax, (style.WIDE[0], MARGIN + ROW * len(schemes)), 1)
    with fonts_for([[scheme.name for scheme in schemes], title], ax):
        _draw(ax, schemes, of, title)
    return ax


def _draw(ax: Axes, schemes: list[_Scheme], of: Of, title: str | None) -> None:
    """Draw the schemes one below another."""
    for row, scheme in enumerate(schemes):
        color = COLORS[row % (len(COLORS) - 1)]
        _draw_values(ax, -row, scheme.values, color)
        ax.plot(
            [scheme.mean - scheme.deviation, scheme.mean + scheme.deviation], [MEAN_Y - row] * 2, color=BLACK,
            linewidth=1.1, marker="|", markersize=7, label="_deviation", zorder=2.5,
        )  # fmt: skip
        if scheme.interval is not None:
            ax.plot(scheme.interval, [MEAN_Y - row] * 2, color=BLACK, linewidth=4, solid_capstyle="butt", zorder=2.6)
        ax.plot(
            [scheme.value], [MEAN_Y - row], marker="o", markersize=6, markerfacecolor="white", markeredgecolor=BLACK,
            markeredgewidth=1.5, linestyle="none", zorder=3, label="_estimate",
        )  # fmt: skip
    ax.set_yticks([-float(row) for row in range(len(schemes))], [_scheme_label(each) for each in schemes])
    ax.tick_params(axis="y", length=0)
    ax.set(ylim=(-len(schemes) + 0.55, 0.8), xlim=_choose_x_limits(schemes))
    _add_legend_entries(ax, schemes)
    style.finish(ax, "Value of a split" if of == "splits" else "Mean of a repetition's folds", "", style.BELOW, title)
    ax.grid(False, axis="y")
    ax.spines["left"].set_visible(False)


class _Scheme(NamedTuple):
    """One row of the picture."""

    name: str
    values: Floats  # the defined ones
    n_undefined: int
    mean: float
    deviation: float
    value: float  # the estimate: the mean, unless a bootstrap correction applies
    interval: Interval | None


def _schemes(values_by_name: dict[str, tuple[Floats, Any]], of: Of) -> list[_Scheme]:
    """Summarise the values of each scheme, by split or repetition."""
    schemes = []
    for name, (table, estimate) in values_by_name.items():
        values = table.ravel() if of == "splits" else np.ma.masked_invalid(table).mean(axis=1).filled(np.nan)
        defined = values[~np.isnan(values)]
        _check_some_split("estimates", name, defined.size, values.size)
        style.check_drawable(f"estimates[{name!r}]", defined)
        mean, deviation = float(defined.mean()), float(defined.std(ddof=1)) if defined.size > 1 else math.nan
        value, interval = mean, None
        if estimate is not None and (of == "splits" or estimate.bootstrap is not None):
            value = estimate.value
        if estimate is not None and np.isfinite(estimate.confidence_interval).all():
            interval = estimate.confidence_interval
        schemes.append(_Scheme(name, defined, values.size - defined.size, mean, deviation, value, interval))
    return schemes


def _draw_values(ax: Axes, foot: float, values: Floats, color: Any) -> None:
    """Draw values in a row, as a histogram or as strokes."""
    ax.plot([values.min(), values.max()], [foot, foot], color=color, linewidth=0.9, label="_foot")
    if values.size < FEW_VALUES or np.ptp(values) <= SPREAD_ROUNDING * np.abs(values).max():
        ax.vlines(values, foot, foot + 0.6 * HEIGHT, color=color, linewidth=1.3)
        return
    low, high = _central_range(values)
    inside = values[(values >= low) & (values <= high)]
    edges = np.linspace(low, high, _n_bins(inside) + 1)
    counts = np.histogram(inside, edges)[0]
    heights = foot + HEIGHT * counts / counts.max()
    ax.stairs(heights, edges, baseline=foot, fill=True, color=color, alpha=0.35, linewidth=0)
    ax.stairs(heights, edges, baseline=foot, color=color, linewidth=1.1)


def _n_bins(values: Floats) -> int:
    """Return NumPy's "auto" number of bins, at most `MOST_BINS`: many nearly equal values would give billions."""
    iqr = float(np.subtract(*np.quantile(values, [0.75, 0.25])))
    sturges = math.log2(values.size) + 1
    width = 2 * iqr / values.size ** (1 / 3)
    return math.ceil(min(MOST_BINS, max(sturges, np.ptp(values) / width if width else 0.0)))


def _central_range(values: Floats) -> tuple[float, float]:
    """Return the range to draw for many values: all but the most extreme."""
    low, high = np.quantile(values, [HIDDEN_SHARE, 1 - HIDDEN_SHARE])
    return (float(low), float(high)) if low < high else (float(values.min()), float(values.max()))


def _choose_x_limits(schemes: list[_Scheme]) -> tuple[float, float]:
    ends = []
    for each in schemes:
        ends += [*_central_range(each.values), each.value, each.mean - each.deviation, each.mean + each.deviation]
        ends += [] if each.interval is None else list(each.interval)
    low, high = np.nanmin(ends), np.nanmax(ends)
    margin = 0.03 * (high - low) or 0.05 * abs(high) or 0.5
    return low - margin, high + margin


def _scheme_label(scheme: _Scheme) -> str:
    """Return a scheme's name, with its numbers on further lines."""
    deviation = "" if np.isnan(scheme.deviation) else f", sd {scheme.deviation:.3g}"
    undefined = f", {scheme.n_undefined:,} undefined" if scheme.n_undefined else ""
    corrected = "" if scheme.value == scheme.mean else f"estimate {scheme.value:.4g}\n"
    numbers = f"{corrected}mean {scheme.mean:.4g}{deviation}, n {scheme.values.size:,}{undefined}"
    return f"{style.legend_label(scheme.name)}\n{numbers}"


def _add_legend_entries(ax: Axes, schemes: list[_Scheme]) -> None:
    ax.plot(
        [], [], color=BLACK, linewidth=1.1, marker="|", markersize=7, label="mean ± standard deviation of the values"
    )
    if any(each.interval is not None for each in schemes):
        ax.plot([], [], color=BLACK, linewidth=4, label="confidence interval of the estimate")


# Checks ---------------------------------------------------------------------------------------------------------------


def _as_split_values(name: str, values: Any, kind: type) -> dict[str, tuple[NDArray[np.float64], Any]]:
    """Return, by name, values of splits of shape (n_repeats, n_folds), and the estimate that holds them, or None."""
    if not isinstance(values, Mapping):
        raise ValueError(f"{name} must be a mapping of names to {kind.__name__} or arrays, got {type(values).__name__}")
    if not values:
        raise ValueError(f"{name} is an empty mapping: there is nothing to draw")
    values_by_name = {}
    for key, each in values.items():
        estimate = each if isinstance(each, kind) else None
        table = as_array(f"{name}[{key!r}]", each if estimate is None else each.per_split)
        if table.dtype.kind not in "fiub" or table.ndim not in (1, 2) or np.isinf(table).any():
            raise ValueError(
                f"{name}[{key!r}] must be {kind.__name__} or hold finite numbers, NaN where undefined, in shape "
                f"(n_repeats, n_folds) or (n_repeats,); got {show(each)}"
            )
        if str(key) in values_by_name:
            raise ValueError(f"{name} must have names that can be told apart, got {show(list(values))}")
        table = table.astype(np.float64)
        values_by_name[str(key)] = (table[:, np.newaxis] if table.ndim == 1 else table), estimate
    return values_by_name


def _check_some_split(name: str, key: str, n_defined: int, n: int) -> None:
    """Raise if no split has a value."""
    if not n_defined:
        raise ValueError(f"{name}[{key!r}] must have a value that is not NaN, but all of its {n} are")
