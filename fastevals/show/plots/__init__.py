"""Pictures of curves: results in, matplotlib Axes out.

Every function takes one result or a mapping of names to results, and draws on the axes given. With ``ax=None`` it
makes a figure by `matplotlib.pyplot`, which keeps it until it is closed; a server gives axes of a
`matplotlib.figure.Figure` of its own, and pyplot is never imported. Further calls with the same axes add models.

A curve of millions of points is thinned to a few thousand that draw the same line, at least four to a pixel of the axes
as they are when it is drawn.
"""

from fastevals.show.plots.calibration import plot_calibration
from fastevals.show.plots.cost import plot_cost, plot_cost_difference, plot_cost_over_prior
from fastevals.show.plots.decision import plot_decision
from fastevals.show.plots.gain import plot_gain, plot_lift
from fastevals.show.plots.precision_recall import plot_precision_recall
from fastevals.show.plots.roc import plot_det, plot_roc

__all__ = [
    "plot_calibration",
    "plot_cost",
    "plot_cost_difference",
    "plot_cost_over_prior",
    "plot_decision",
    "plot_det",
    "plot_gain",
    "plot_lift",
    "plot_precision_recall",
    "plot_roc",
]
