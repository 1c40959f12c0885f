"""Permutation tests of scores of several classes, against rows that are swapped one by one."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import fastevals
from fastevals import metric, permutation_test
from fastevals.infer.bootstrap.subjects import SamplingDesign, make_class_sample
from fastevals.measure.kinds import CLASSES
from fastevals.measure.metric_specs import parse_metrics

METRICS = [
    "roc_auc", metric("roc_auc", average="micro"), "hand_till", "average_precision", "log_loss", "brier_score",
    "ranked_probability_score", metric("top_k_accuracy", k=2), "top_label_calibration_error", "accuracy", "f1",
    "expected_calibration_error",
]  # fmt: skip


def models(n: int, seed: int = 0) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    a, b = (rng.dirichlet(np.ones(3), size=n) for _ in range(2))
    a[np.arange(n), y] += 1
    return y, a / 2, np.round(b, 1)


def value(y: Any, p: Any, spec: Any) -> float:
    specs = CLASSES.specs(parse_metrics(spec))
    found = make_class_sample(y, {"p": p}, specs, SamplingDesign(labels=range(3)), one_model=True).estimates()[0]
    return float(found)


@pytest.mark.cases(3)
@pytest.mark.filterwarnings("ignore::fastevals.UndefinedMetricWarning")
@pytest.mark.parametrize("spec", METRICS, ids=str)
def test_all_swaps_are_enumerated(spec):
    y, a, b = models(6)
    b[:, 2] = 1 - b[:, 0] - b[:, 1]
    found = permutation_test(y, a, b, spec, keep_distribution=True)
    assert found.exact
    differences = []
    for swapped in product([False, True], repeat=6):
        flip = np.array(swapped)[:, None]
        differences.append(value(y, np.where(flip, b, a), spec) - value(y, np.where(flip, a, b), spec))
    observed = differences[0]
    assert found.statistic == pytest.approx(observed, abs=1e-12)
    np.testing.assert_allclose(np.sort(found.null_distribution), np.sort(differences), atol=1e-12)
    extreme = np.mean(np.abs(differences) >= abs(observed) - 1e-9)
    assert found.pvalue == pytest.approx(extreme)


def test_drawn_swaps_keep_their_bits_and_labels_name_columns():
    y, a, b = models(200)
    names = np.array(["x", "y", "z"])[y]
    few: dict[str, Any] = {"n_resamples": 199, "rng": 0, "keep_distribution": True}
    found = permutation_test(names, a, b, "hand_till", **few)
    turned = permutation_test(names, a[:, ::-1], b[:, ::-1], "hand_till", labels=["z", "y", "x"], **few)
    np.testing.assert_allclose(found.null_distribution, turned.null_distribution, atol=1e-14)
    with fastevals.num_threads(1):
        again = permutation_test(names, a, b, "hand_till", **few)
    np.testing.assert_array_equal(found.null_distribution, again.null_distribution)
    assert found.pvalue < 0.05
    same = permutation_test(names, a, a, "hand_till", n_resamples=99, rng=0)
    assert (same.statistic, same.pvalue) == (0, 1)


def test_bad_input():
    y, a, b = models(12)
    with pytest.raises(ValueError, match="takes metrics that return one number"):
        permutation_test(y, a, b, metric("roc_auc", average=None))
    with pytest.raises(ValueError, match=r"pred_b must have rows that add up to 1"):
        permutation_test(y, a, a / 2, "log_loss")
    with pytest.raises(ValueError, match="pos_label"):
        permutation_test(y, a, b, "roc_auc", pos_label=1)
    with pytest.raises(ValueError, match="pred_b must be 2-D"):
        permutation_test(y, a, b[:, 0], "roc_auc")
    with pytest.raises(ValueError, match="labels"):
        permutation_test(y > 0, a[:, 0], b[:, 0], "roc_auc", labels=[0, 1])
