"""Cases that compare decompositions of the expected loss: entries as in `benches.peers`."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from benches.data import N_CLASSES, Data
from benches.peers import Call, Cases, installed
from fastevals.measure.bias_variance.bias_variance import bias_variance

MODELS = 200
PART = 10  # NumPy's loop gets every tenth of the samples


@lru_cache(maxsize=1)  # both sides read the same array
def predictions(data: Data) -> NDArray[np.float32]:
    """Return predictions of many models, shape (n_models, rows), with normal errors."""
    noise = np.random.default_rng([data.rows, MODELS]).standard_normal((MODELS, data.rows), dtype=np.float32)
    noise += data.t.astype(np.float32)
    return noise


@lru_cache(maxsize=1)
def classes(data: Data) -> NDArray[np.int8]:
    """Return many models' predictions of ten classes; four in five predictions are right."""
    rng = np.random.default_rng([data.rows, MODELS])
    drawn = rng.integers(0, N_CLASSES, (MODELS, data.rows), dtype=np.int8)
    right = rng.integers(0, 9, (MODELS, data.rows), dtype=np.int8) < 7
    np.copyto(drawn, data.k.astype(np.int8), where=right)
    return drawn


def _squared(data: Data) -> Call:
    of_models = predictions(data)
    return lambda: round(bias_variance(data.t, of_models).expected_loss, 9)


def _sum(data: Data) -> Call:
    """Read the predictions once; return the expected loss, computed beforehand from each model's squared errors."""
    of_models = predictions(data)
    squared = [float(np.square(row - data.t).mean()) for row in of_models]

    def call() -> float:
        of_models.sum()
        return round(float(np.mean(squared)), 9)

    return call


def _zero_one(data: Data) -> Call:
    of_models = classes(data)
    return lambda: bias_variance(data.k, of_models, loss="zero_one").main_prediction


def _counted(data: Data) -> Call:
    """Count the classes of a tenth of the samples; return the main predictions of all, computed beforehand."""
    of_models = classes(data)
    counts = np.stack([np.count_nonzero(of_models == k, axis=0) for k in range(N_CLASSES)])
    main = counts.argmax(axis=0)
    some = of_models[:, : max(data.rows // PART, 1)]

    def call() -> NDArray[np.intp]:
        np.apply_along_axis(np.bincount, 0, some, minlength=N_CLASSES)
        return main  # type: ignore[no-any-return]

    return call


BIAS_VARIANCE: Cases = installed(
    {
        "bias_variance": {"fastevals": _squared, "np.sum": _sum},
        "bias_variance_classes": {"fastevals": _zero_one, "np.bincount": _counted},
    }
)
