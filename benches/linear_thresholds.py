"""AUC of a rare class at thresholds evenly spaced over [0, 1], and as a mean over machines.

Predicted probabilities of clicks, fraud or failures are about 1e-4. Nearly all lie between the first two of 200
thresholds.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals import Ranking, grouped_auc
from fastevals.scale import RankingSummary

N, PREVALENCE, N_MACHINES = 1_000_000, 0.001, 32
TITLE = (
    f"{N:,} rows, {100 * PREVALENCE} % positive, probabilities about 1e-4, from {N_MACHINES} machines whose "
    "probabilities differ"
)

Rows = tuple[NDArray[np.bool_], NDArray[np.float64], NDArray[np.int64]]


def rows() -> Rows:
    """Return labels, probabilities and machines of the rows; each machine predicts lower than the one before."""
    rng = np.random.default_rng(0)
    y = rng.random(N) < PREVALENCE
    machine = rng.integers(0, N_MACHINES, N)
    log_odds = -9.5 + 1.25 * rng.normal(size=N) + 3.3 * y - 1.6 * (machine / N_MACHINES - 0.5)
    return y, 1 / (1 + np.exp(-log_odds)), machine


def linear(n_thresholds: int) -> Callable[[Rows], float]:
    """Return a call that sums trapezoids between thresholds evenly spaced over [0, 1], as Keras and torcheval do."""

    def auc(of: Rows) -> float:
        y, scores, _ = of
        # Number of thresholds that a score reaches; the highest is above all scores.
        reached = np.floor(scores * (n_thresholds - 1)).astype(np.int64)
        tps, fps = (np.bincount(reached[each], minlength=n_thresholds)[::-1].cumsum() for each in (y, ~y))
        return float(np.trapezoid(np.r_[0, tps] / tps[-1], np.r_[0, fps] / fps[-1]))

    return auc


def _certified(of: Rows) -> Any:
    summary = RankingSummary()
    summary.update(*of[:2])
    return summary.ranking().roc_auc()


CALLS: dict[str, Callable[[Rows], Any]] = {
    "exact: fastevals, scikit-learn": lambda of: Ranking(*of[:2]).roc_auc(),
    "summary of 2^18 ranges: fastevals.scale": _certified,
    "200 thresholds: `keras.metrics.AUC()`, torcheval's `BinaryBinnedAUROC()`": linear(200),
    "10 thresholds: `river.metrics.ROCAUC()`": linear(10),
    "10,000 thresholds": linear(10_000),
    "mean of the machines' AUCs, as XGBoost computes it on a cluster": lambda of: grouped_auc(*of).mean,
}


def table() -> list[list[str]]:
    """Return the table, heading first."""
    of = rows()
    found = {name: call(of) for name, call in CALLS.items()}
    true = found["exact: fastevals, scikit-learn"]
    lines = [[TITLE, "AUC", "error"]]
    for name, value in found.items():
        certificate = f" [{value.low:.5f}, {value.high:.5f}]" if hasattr(value, "low") else ""
        error = float(value) - true
        lines.append([name, f"{float(value):.4f}{certificate}", f"{error:+.4f}" if abs(error) > 5e-5 else "0"])
    return lines


def check_peers() -> list[str]:
    """Raise unless the installed libraries return the table's AUCs; return their names."""
    y, scores, machine = of = rows()
    checked = []
    if find_spec("keras"):
        auc = import_module("keras").metrics.AUC()
        auc.update_state(y.astype(np.float32), scores.astype(np.float32))
        np.testing.assert_allclose(float(auc.result()), linear(200)(of), atol=1e-5)
        checked.append("keras")
    if find_spec("river"):
        auc, n = import_module("river.metrics").ROCAUC(), N // 10
        first = y[:n], scores[:n], machine[:n]
        for label, score in zip(first[0].tolist(), first[1].tolist(), strict=True):
            auc.update(label, score)
        np.testing.assert_allclose(auc.get(), linear(10)(first), atol=1e-5)
        checked.append("river")
    return checked
