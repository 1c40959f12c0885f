"""Pictures of curves and of tests: results in, matplotlib Axes out.

Every function takes a result and draws on the given axes. Functions for curves also take a mapping of names to results,
and rankings, whose curves they compute. With ``ax=None`` a function makes a figure with `matplotlib.pyplot`, and pyplot
keeps the figure until you close it. A server passes axes of its own `matplotlib.figure.Figure`, so pyplot is never
imported. Further calls with the same axes add curves. A legend that would hide a curve goes below the axes; in a grid
of axes, make the figure with ``layout="constrained"`` to leave room for it.

`ClassRankings` are drawn class by class, with the macro and micro average in black. If there are more than ten classes,
the three highest and the three lowest have a colour, and the others are thin grey lines. In a mapping of names to
models, such rankings are drawn as their macro curve (or micro curve, if there is no macro curve of the kind).

A curve with millions of points is thinned to a few thousand that draw the same line, at least four per pixel of the
axes at their current size.
"""

from fastevals.measure.curves.registry import CURVES
from fastevals.show.plots.bias_variance import plot_bias_variance
from fastevals.show.plots.calibration import plot_calibration, plot_reliability
from fastevals.show.plots.comparison_matrix import plot_comparison_matrix
from fastevals.show.plots.confusion import plot_confusion_matrix
from fastevals.show.plots.cost import plot_cost, plot_cost_difference, plot_cost_over_prior
from fastevals.show.plots.critical_difference import plot_critical_difference
from fastevals.show.plots.curves import plot_function, plot_gain, plot_lift, plot_precision_recall, plot_roc
from fastevals.show.plots.decision import plot_decision
from fastevals.show.plots.det import plot_det
from fastevals.show.plots.error_curve import plot_error_curve
from fastevals.show.plots.estimates import plot_estimates
from fastevals.show.plots.fits import plot_fits
from fastevals.show.plots.forest import plot_forest
from fastevals.show.plots.histogram import plot_score_histogram
from fastevals.show.plots.null_distribution import plot_null
from fastevals.show.plots.performance_profile import plot_performance_profile
from fastevals.show.plots.posterior import plot_posterior
from fastevals.show.plots.pvalues import plot_pvalues
from fastevals.show.plots.rank_distribution import plot_rank_distribution
from fastevals.show.plots.saving import save_figure
from fastevals.show.plots.sensitivity import plot_sensitivity
from fastevals.show.plots.splits import plot_splits
from fastevals.show.plots.trend import plot_trend

__all__ = [
    "plot_bias_variance",
    "plot_calibration",
    "plot_comparison_matrix",
    "plot_confusion_matrix",
    "plot_cost",
    "plot_cost_difference",
    "plot_cost_over_prior",
    "plot_critical_difference",
    "plot_decision",
    "plot_det",
    "plot_error_curve",
    "plot_estimates",
    "plot_fits",
    "plot_forest",
    "plot_gain",
    "plot_lift",
    "plot_null",
    "plot_performance_profile",
    "plot_posterior",
    "plot_precision_recall",
    "plot_pvalues",
    "plot_rank_distribution",
    "plot_reliability",
    "plot_roc",
    "plot_score_histogram",
    "plot_sensitivity",
    "plot_splits",
    "plot_trend",
    "save_figure",
]
_OTHERS = {f"plot_{name}": entry for name, entry in CURVES.items() if f"plot_{name}" not in __all__}
__all__ += _OTHERS
globals().update({name: plot_function(entry) for name, entry in _OTHERS.items()})


def __dir__() -> list[str]:
    return [*__all__]
