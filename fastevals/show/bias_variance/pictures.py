"""What `fastevals bias-variance --out` draws."""

from __future__ import annotations

from pathlib import Path

from fastevals.measure.bias_variance import Decomposition
from fastevals.show.output import Picture, draw_blocks
from fastevals.show.plots.bias_variance import SIZE, plot_bias_variance
from fastevals.split.training_sets import BiasVarianceCurve

__all__ = ["draw_decomposition"]

NAME = "bias_variance"


def draw_decomposition(result: Decomposition | BiasVarianceCurve, folder: Path) -> str:
    """Draw a decomposition, or several over a parameter, and say how many pictures that is."""
    picture = Picture(plot_bias_variance, result, SIZE)
    return draw_blocks(folder, (NAME,), None, (), lambda _: [(NAME, picture)])
