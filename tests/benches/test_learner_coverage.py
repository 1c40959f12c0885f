"""The bench of intervals for a learner's error computes the intervals of `estimate_error`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from benches import learner_coverage as bench
from fastevals import BootstrapSplit, HoldOut, KFold, LeaveOneOut, estimate_error

N, SEED = 60, 3
NAMES = {"error rate": "error_rate", "squared error": "mean_squared_error"}
FOLDS = KFold(bench.K, n_repeats=bench.N_REPEATS, rng=SEED)
HOLD_OUTS = HoldOut(0.1, n_repeats=bench.N_HOLD_OUTS, rng=SEED)
REPLICATES = BootstrapSplit(bench.N_REPLICATES, rng=SEED)
CALLS: dict[str, tuple[Any, dict[str, Any]]] = {
    "10-fold, corrected t": (KFold(bench.K, rng=SEED), {}),
    "10 x 10-fold, corrected t": (FOLDS, {}),
    "15 hold-outs, corrected t": (HOLD_OUTS, {}),
    "15 hold-outs, conservative z": (HOLD_OUTS, {"interval": "conservative-z"}),
    "10-fold, Wald": (KFold(bench.K, rng=SEED), {"interval": "cv-wald"}),
    "10 x 10-fold, Wald": (FOLDS, {"interval": "cv-wald"}),
    "leave-one-out, Wald": (LeaveOneOut(), {"interval": "cv-wald"}),
    "10 x 10-fold, nested": (FOLDS, {"interval": "nested-cv"}),
    "200 out-of-bag, corrected t": (REPLICATES, {}),
    "200 out-of-bag, jackknife": (REPLICATES, {"interval": "infinitesimal-jackknife"}),
    ".632+, corrected t": (REPLICATES, {"method": ".632+"}),
    ".632+, jackknife": (REPLICATES, {"method": ".632+", "interval": "infinitesimal-jackknife"}),
}


@pytest.mark.slow
@pytest.mark.parametrize("learner", bench.LEARNERS)
@pytest.mark.parametrize("distribution", ["logistic, 20 features", "Friedman 1"])
def test_intervals_are_those_of_estimate_error(distribution: str, learner: str) -> None:
    X, y = bench.DISTRIBUTIONS[distribution](np.random.default_rng(0), N)
    splits, predict = bench.Splits.draw(N, SEED), bench.LEARNERS[learner]
    predicted = predict(X, y, splits.weights(N), X[:0])
    loss = "error rate" if bench.is_labels(y) else "squared error"
    none = bench.no_information(y, predicted[0])[loss]
    found = bench.intervals(splits, splits.tested(N), bench.losses_of(y, predicted)[loss], none)

    def fitted(rows: Any, _: Any, new: Any) -> Any:
        own = predict(X, y, np.bincount(rows, minlength=N)[None].astype(float), X[:0])[0, new]
        return (own > 0.5).astype(float) if bench.is_labels(y) else own

    assert found.keys() == CALLS.keys()
    for name, (splitter, options) in CALLS.items():
        (expected,) = estimate_error(fitted, np.arange(N), y, splitter, NAMES[loss], **options).values()
        value, margin = found[name]
        low, high = (max(0.0, end) for end in (value - margin, value + margin))
        assert_allclose((expected.value, *expected.confidence_interval), (max(value, 0), low, high), rtol=1e-6)
