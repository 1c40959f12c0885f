"""The picture of a decomposition: the parts of the expected loss."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fastevals.document.picture import Panel, Picture
from fastevals.measure.bias_variance.decomposition import Decomposition
from fastevals.show.output import BlockPictures
from fastevals.show.pictures import names_of
from fastevals.show.plots import style
from fastevals.show.plots.bias_variance import SIZE, draw_bias_variance
from fastevals.split.training_sets import BiasVarianceCurve


def bias_variance_panels(result: Decomposition | BiasVarianceCurve) -> Iterator[tuple[str, list[Panel]]]:
    """Yield the picture of a decomposition, unless its numbers are too large to draw."""
    if style.is_drawable([*np.ravel(result.expected_loss), *np.ravel(list(result.parts().values()))]):
        picture = Picture()
        draw_bias_variance(picture, result)
        yield "bias_variance", [Panel(None, picture, SIZE)]


def bias_variance_pictures(result: Decomposition | BiasVarianceCurve) -> BlockPictures:
    """Return the pictures of a decomposition for `--out`."""
    return BlockPictures(names_of("bias-variance"), None, (), lambda _: bias_variance_panels(result))
