"""Bias and variance: bad input, odd input, arrays larger than the memory allowed."""

from __future__ import annotations

import math
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fastevals import num_threads
from fastevals.measure.bias_variance.bias_variance import BiasVarianceSummary, bias_variance
from tests.test_validation import ODD_ARRAYS, ODD_SCALARS, complaint

Y, P = [0, 1, 1], [[0, 1, 1], [1, 1, 0]]
CLASSES: dict[str, Any] = {"loss": "zero_one"}

# Shapes, values, options ------------------------------------------------------------------------------------------

BAD: dict[str, tuple[Callable[[], Any], str]] = {
    "transposed": (
        lambda: bias_variance(Y, np.zeros((3, 2))),
        r"predictions must have a row for each model and a column for each sample, but has shape \(3, 2\) where y_true "
        r"has 3 samples; pass predictions.T$",
    ),
    "neither way": (lambda: bias_variance(Y, np.zeros((2, 5))), r"shape \(2, 5\) where y_true has 3 samples$"),
    "one model": (lambda: bias_variance(Y, Y), r"predictions must be 2-D, \(models x samples\), or a mapping"),
    "no models": (lambda: bias_variance(Y, np.zeros((0, 3))), "predictions is empty: it must have at least one model"),
    "no models, mapping": (lambda: bias_variance(Y, {}), "predictions is empty: it must have at least one model"),
    "mapping of odd lengths": (
        lambda: bias_variance(Y, {"a": Y, "b": [1, 2]}),
        r"predictions\['b'\] has 2 rows, but y_true has 3",
    ),
    "classes, transposed": (lambda: bias_variance(Y, np.zeros((3, 2)), **CLASSES), "pass predictions.T$"),
    "classes of odd lengths": (
        lambda: bias_variance(Y, {"a": Y, "b": [1, 2]}, **CLASSES),
        r"predictions\['b'\] has 2 rows, but y_true has 3",
    ),
    "NaN": (
        lambda: bias_variance(Y, [[0, 1, 1], [1, math.nan, 0]]),
        r"predictions\[1\] must be finite, but has 1 NaN value, the first at row 1",
    ),
    "NaN, weight of zero": (
        lambda: bias_variance(Y, [[0, 1, 1], [1, math.nan, 0]], sample_weight=[1, 0, 1]),
        r"predictions\[1\] must be finite",
    ),
    "NaN, mapping": (
        lambda: bias_variance(Y, {"a": [math.inf, 1, 1], "b": Y}),
        r"predictions\['a'\] must be finite, but has 1 infinite value, the first at row 0",
    ),
    "NaN, truth": (lambda: bias_variance([0, math.nan, 1], P), "y_true must be finite"),
    "NaN, observed": (lambda: bias_variance(Y, P, y_observed=[0, math.nan, 1]), "y_observed must be finite"),
    "NaN, each observed": (
        lambda: bias_variance(Y, P, y_observed=[[0, 1, 1], [math.nan, 1, 1]]),
        r"y_observed\[1\] must be finite, but has 1 NaN value, the first at row 0",
    ),
    "NaN among classes": (
        lambda: bias_variance(Y, [[0, 1, math.nan]], **CLASSES),
        r"predictions\[0\] must hold class labels.*nan at row 2",
    ),
    "unknown class": (
        lambda: bias_variance(Y, [[0, 1, 1], [1, 7, 0]], **CLASSES),
        r"predictions\[1\] has the label 7 at row 1, which is not among the classes: 0, 1; labels= can name more",
    ),
    "unknown class, bytes": (
        lambda: bias_variance(Y, np.array([[0, 1, 1]] * 9 + [[1, 7, 0]], dtype=np.int8), **CLASSES),
        r"predictions\[9\] has the label 7 at row 1, which is not among the classes: 0, 1",
    ),
    "unknown class, given": (
        lambda: bias_variance(["a"], {"m": ["c"]}, labels=["a", "b"], **CLASSES),
        r"predictions\['m'\] has the label 'c' at row 0, which is not among the classes: 'a', 'b'",
    ),
    "unknown class, truth": (
        lambda: bias_variance(Y, P, labels=[1, 2], **CLASSES),
        "y_true has the label 0 at row 0, which is not among the classes: 1, 2",
    ),
    "unknown class, observed": (
        lambda: bias_variance(Y, P, y_observed=[0, 1, 5], **CLASSES),
        "y_observed has the label 5 at row 2",
    ),
    "unknown class, each observed": (
        lambda: bias_variance(Y, P, y_observed=[Y, [0, 5, 1]], **CLASSES),
        r"y_observed\[1\] has the label 5 at row 1",
    ),
    "strings beside numbers": (
        lambda: bias_variance(Y, [["a", "b", "b"]], **CLASSES),
        "labels must be of one type, but y_true has numbers and predictions.* has strings",
    ),
    "fractions": (lambda: bias_variance([0.5, 1, 1], P, **CLASSES), "y_true must hold class labels.*0.5 at row 0"),
    "too few observed": (
        lambda: bias_variance(Y, P, y_observed=[Y]),
        "y_observed must be 1-D, or have a row for each of the 2 models; got 1",
    ),
    "observed of others": (
        lambda: bias_variance(Y, {"a": Y, "b": Y}, y_observed={"a": Y, "c": Y}),
        "y_observed must have the names of predictions, but 'c' in y_observed is not in predictions",
    ),
    "observed of fewer, update": (
        lambda: BiasVarianceSummary(Y).update({"a": Y, "b": Y, "c": Y}, y_observed={"a": Y}),
        "y_observed must have the names of predictions, but 'b', 'c' in predictions are not in y_observed",
    ),
    "observed, transposed": (lambda: bias_variance(Y, P, y_observed=np.zeros((3, 2))), "pass y_observed.T"),
    "weights": (lambda: bias_variance(Y, P, sample_weight=[1, 2]), "sample_weight has 2 rows, but y_true has 3"),
    "loss": (lambda: bias_variance(Y, P, loss="0-1"), "loss must be one of 'squared', 'zero_one'; got '0-1'"),
    "decomposition": (
        lambda: bias_variance(Y, P, decomposition="geman", **CLASSES),
        "decomposition must be one of 'domingos', 'kohavi-wolpert', 'james'; got 'geman'",
    ),
    "decomposition of squares": (
        lambda: bias_variance(Y, P, decomposition="james"),
        "decomposition= requires loss='zero_one', got loss='squared'",
    ),
    "labels of squares": (lambda: bias_variance(Y, P, labels=[0, 1]), "labels= requires loss='zero_one'"),
    "nothing yet": (lambda: BiasVarianceSummary(Y).result(), "there are no models .* call update first"),
    "observed of each at the start": (
        lambda: BiasVarianceSummary(Y, y_observed=P),
        r"y_observed must be 1-D: observed values that all models share.* update\(predictions, y_observed=\.\.\.\)",
    ),
    "observed twice": (
        lambda: BiasVarianceSummary(Y, y_observed=Y).update(Y, y_observed=Y),
        "y_observed was given already",
    ),
    "observed of some": (
        lambda: BiasVarianceSummary(Y).update(Y, y_observed=Y).update(Y),
        "y_observed must be given for all models or none: earlier models have it, new ones do not",
    ),
    "merging some observed": (
        lambda: BiasVarianceSummary(Y).update(Y).merge(BiasVarianceSummary(Y).update(Y, y_observed=Y)),
        "earlier models do not have it, new ones do",
    ),
    "merging another truth": (
        lambda: BiasVarianceSummary(Y).merge(BiasVarianceSummary([0, 1, 2])),
        "summaries must have the same y_true to be merged$",
    ),
    "merging another loss": (
        lambda: BiasVarianceSummary(Y).merge(BiasVarianceSummary(Y, **CLASSES)),
        "summaries must have the same loss to be merged, got 'squared' and 'zero_one'",
    ),
    "merging other weights": (
        lambda: BiasVarianceSummary(Y).merge(BiasVarianceSummary(Y, sample_weight=[1, 2, 3])),
        "summaries must have the same sample_weight",
    ),
    "merging other labels": (
        lambda: BiasVarianceSummary(Y, **CLASSES).merge(BiasVarianceSummary(Y, labels=[0, 1, 2], **CLASSES)),
        "summaries must have the same labels",
    ),
    "merging something else": (lambda: BiasVarianceSummary(Y).merge(3), "other must be BiasVarianceSummary, got int"),  # type: ignore[arg-type]
    "a short update": (lambda: BiasVarianceSummary(Y).update([1, 2]), "predictions has 2 rows, but y_true has 3"),
    "a cube": (
        lambda: BiasVarianceSummary(Y).update(np.zeros((1, 2, 3))),
        r"predictions must be 1-D, or 2-D, \(models x samples\)",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input(case: str) -> None:
    call, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        call()


ARRAYS: dict[str, Callable[[Any], Any]] = {
    "y_true": lambda v: bias_variance(v, P),
    "classes": lambda v: bias_variance(v, P, **CLASSES),
    "predictions": lambda v: bias_variance(Y, v),
    "predicted classes": lambda v: bias_variance(Y, v, **CLASSES),
    "a model": lambda v: bias_variance(Y, {"a": v}),
    "a model's classes": lambda v: bias_variance(Y, {"a": v}, **CLASSES),
    "y_observed": lambda v: bias_variance(Y, P, y_observed=v),
    "observed classes": lambda v: bias_variance(Y, P, y_observed=v, **CLASSES),
    "sample_weight": lambda v: bias_variance(Y, P, sample_weight=v),
    "labels": lambda v: bias_variance(Y, P, labels=v, **CLASSES),
    "all": lambda v: bias_variance(v, [v, v], y_observed=v, **CLASSES),
    "update": lambda v: BiasVarianceSummary(Y).update(v),
    "update of classes": lambda v: BiasVarianceSummary(Y, **CLASSES).update(v, y_observed=v),
}
SCALARS: dict[str, Callable[[Any], Any]] = {
    "loss": lambda v: bias_variance(Y, P, loss=v),
    "decomposition": lambda v: bias_variance(Y, P, decomposition=v, **CLASSES),
    "per_sample": lambda v: bias_variance(Y, P, per_sample=v),
    "merge": lambda v: BiasVarianceSummary(Y).merge(v),
    "result": lambda v: BiasVarianceSummary(Y).update(Y).result(per_sample=v),
}


@pytest.mark.parametrize("entry", ARRAYS)
@pytest.mark.parametrize("rows", [3, 4])
def test_odd_arrays_work_or_raise_one_clear_line(entry: str, rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if rows == 4:  # as many as the odd arrays have
        monkeypatch.setattr("tests.measure.test_bias_variance_input.Y", [0, 1, 1, 0])
        monkeypatch.setattr("tests.measure.test_bias_variance_input.P", [[0, 1, 1, 1], [1, 1, 0, 0]])
    found = {name: complaint(ARRAYS[entry], value) for name, value in ODD_ARRAYS.items()}
    assert {name: text for name, text in found.items() if text} == {}


@pytest.mark.parametrize("entry", SCALARS)
def test_odd_scalars_work_or_raise_one_clear_line(entry: str) -> None:
    found = {name: complaint(SCALARS[entry], value) for name, value in ODD_SCALARS.items()}
    assert {name: text for name, text in found.items() if text} == {}


# Memory -----------------------------------------------------------------------------------------------------------


def peak(call: Callable[[], Any]) -> int:
    """Return the peak of allocated bytes."""
    call()  # compilation and imports do not count
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@contextmanager
def on_disk(folder: Path, shape: tuple[int, int], loss: str) -> Iterator[Any]:
    """Return a read-only memory-mapped array, written row by row."""
    path, dtype = folder / "predictions.npy", np.float32 if loss == "squared" else np.int8
    table = np.lib.format.open_memmap(path, mode="w+", dtype=dtype, shape=shape)
    rng = np.random.default_rng(0)
    for row in table:
        row[:] = rng.integers(0, 10, shape[1])
    table.flush()
    del table
    try:
        yield np.load(path, mmap_mode="r")
    finally:
        path.unlink()


@pytest.mark.cases(2)
@pytest.mark.parametrize("loss", ["squared", "zero_one"])
@pytest.mark.parametrize("m", [4, 40])
def test_memory_beyond_the_input_does_not_depend_on_the_number_of_models(loss: str, m: int, tmp_path: Path) -> None:
    y = np.arange(300_000) % 10
    with num_threads(1), on_disk(tmp_path, (m, y.size), loss) as table:
        assert peak(lambda: bias_variance(y, table, loss=loss)) < 40 * y.size


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["squared", "zero_one"])
def test_a_file_far_larger_than_what_is_allocated(loss: str, tmp_path: Path) -> None:
    y, rows = np.arange(500_000) % 10, slice(0, 1000)
    with on_disk(tmp_path, (500 if loss == "squared" else 1000, y.size), loss) as table:
        assert peak(lambda: bias_variance(y, table, loss=loss)) < 40 * y.size < table.nbytes / 20
        result = bias_variance(y, table, loss=loss, per_sample=True).per_sample
        part = np.asarray(table[:, rows])
    lost = (part - y[rows]) ** 2.0 if loss == "squared" else part != y[rows]
    np.testing.assert_allclose(result.expected_loss[rows], lost.mean(axis=0), rtol=1e-13)
