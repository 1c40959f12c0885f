"""Modern arrays: decimals, short floats, identifiers, intervals, periods, times; equal from every source."""

from __future__ import annotations

import datetime
import re
import uuid
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import coo_array, csr_array

import fastevals
from fastevals import metrics
from fastevals._validation.arrays import as_array

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

LABELS = [0, 1, 0, 1, 1, 0, 1, 0]
SCORES = [0.1, 0.8, 0.3, 0.6, 0.4, 0.5, 0.9, 0.2]
DECIMALS = [Decimal(str(each)) for each in SCORES]
AUC = 15 / 16


def auc(data: Any) -> float:
    report = fastevals.report(data, label="y", score="s", n_resamples=0).to_dict()
    return float(report["blocks"][0]["models"][0]["metrics"]["roc_auc"])


@pytest.mark.parametrize(
    "scores",
    [
        DECIMALS,
        np.array(DECIMALS),
        pd.Series(DECIMALS),
        pd.Series(DECIMALS, dtype=pd.ArrowDtype(pa.decimal128(3, 1))),
        pl.Series(SCORES).cast(pl.Decimal(3, 1)),
        pa.chunked_array([DECIMALS[:3], DECIMALS[3:]]),
    ],
    ids=["list", "array", "pandas", "pandas of Arrow", "polars", "Arrow"],
)
def test_decimals_are_the_nearest_floats(scores: Any) -> None:
    assert fastevals.Ranking(LABELS, scores).roc_auc() == metrics.roc_auc_score(LABELS, scores) == AUC
    assert auc({"y": LABELS, "s": scores}) == AUC
    assert fastevals.Ranking([Decimal(each) for each in LABELS], scores).pos_label == 1


@pytest.mark.parametrize("data", [pd.DataFrame, pl.DataFrame, pa.table])
def test_decimals_of_frames(data: Any) -> None:
    assert auc(data({"y": LABELS, "s": DECIMALS})) == AUC
    with pytest.raises(ValueError, match=r"score 's' (must hold numbers|has 1 missing value)"):
        auc(data({"y": LABELS, "s": [None, *DECIMALS[1:]]}))


class Exchanged:
    """An array of another package, with DLPack's methods alone."""

    def __init__(self, values: Any, device: tuple[int, int] = (1, 0)) -> None:
        self.values, self.device = np.array(values), device

    def __dlpack__(self, **options: Any) -> Any:
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device


def test_arrays_of_dlpack_are_read_from_memory_only() -> None:
    read = as_array("y_score", scores := Exchanged(SCORES))
    assert np.shares_memory(read, scores.values)
    assert fastevals.Ranking(Exchanged(LABELS), scores).roc_auc() == AUC
    said = "y_score must be in the memory of the CPU, got a Exchanged on a device (DLPack device 2:0)"
    with pytest.raises(ValueError, match=re.escape(said)):
        fastevals.Ranking(LABELS, Exchanged(SCORES, (2, 0)))
    with pytest.raises(ValueError, match="y_score can't be read by __dlpack__: "):  # which has no objects
        fastevals.Ranking(LABELS, Exchanged(np.array(SCORES, object)))


class ShortTensor:
    """A tensor of bfloat16 as torch has it: NumPy can't read it."""

    dtype = "torch.bfloat16"

    def __init__(self, on_gpu: bool = False) -> None:
        self.on_gpu = on_gpu

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError("Got unsupported ScalarType BFloat16")

    def float(self) -> Any:
        return self if self.on_gpu else np.array(SCORES, np.float32)


def test_a_tensor_of_bfloat16_is_read_as_float32() -> None:
    assert fastevals.Ranking(LABELS, ShortTensor()).roc_auc() == AUC
    assert as_array("y_score", ShortTensor()).dtype == np.float32
    with pytest.raises(ValueError, match="y_score can't be read as an array: Got unsupported ScalarType BFloat16"):
        fastevals.Ranking(LABELS, ShortTensor(on_gpu=True))


def test_floats_of_16_bits_of_other_packages() -> None:
    short = np.array(SCORES).astype(pytest.importorskip("ml_dtypes").bfloat16)
    assert fastevals.Ranking(LABELS, short).roc_auc() == metrics.roc_auc_score(LABELS, short) == AUC
    assert auc({"y": LABELS, "s": short}) == AUC
    assert fastevals.Ranking(LABELS, short).counts.thresholds[1] == np.float32(short.max())


def test_a_table_of_one_column_is_told_which_to_pass() -> None:
    column = np.array(SCORES)[:, np.newaxis]
    with pytest.raises(ValueError, match=r"got shape \(8, 1\); pass one column, for instance y_score\[:, 0\]$"):
        fastevals.Ranking(LABELS, column)
    with pytest.raises(ValueError, match=r"got shape \(8, 1\); pass one column, for instance scores\['a'\]\[:, 0\]$"):
        fastevals.delong(LABELS, {"a": column})
    with pytest.raises(ValueError, match=r"score 's' must be 1-D, got shape \(8, 1\); pass .* its column \[:, 0\]$"):
        auc({"y": LABELS, "s": column})


def test_sparse_labels() -> None:
    sparse = pd.arrays.SparseArray(LABELS)
    assert fastevals.Ranking(sparse, SCORES).roc_auc() == auc(pd.DataFrame({"y": sparse, "s": SCORES})) == AUC
    column = np.array(LABELS)[:, np.newaxis]
    for form in (csr_array(column), coo_array(column)):
        for options in ({}, {"on_invalid": "drop"}):
            with pytest.raises(ValueError, match=r"'y' must be a dense array, got a sparse one \(c.._array\)"):
                fastevals.report({"y": form, "s": SCORES}, label="y", score="s", **options)


IDS = [uuid.UUID(int=k // 2) for k in range(8)]
MOMENTS = [datetime.datetime(2024, 1, 1 + k // 2, 12) for k in range(8)]
ZONED = pd.date_range("2024-01-01", periods=4, tz="Europe/Paris").repeat(2)
NAMES = {
    "identifier": (IDS, "00000000-0000-0000-0000-000000000001"),
    "interval": (pd.cut([18, 20, 25, 40, 41, 44, 50, 33], [0, 30, 60]), "(30, 60]"),
    "period": (pd.period_range("2024-01", periods=4, freq="M").repeat(2), "2024-02"),
    "date": ([each.date() for each in MOMENTS], "2024-01-02"),
    "time": (MOMENTS, "2024-01-02 12:00:00.000000"),
    "zoned time": (ZONED, "2024-01-02 00:00:00.000000+0100"),
}


@pytest.mark.cases(2)
@pytest.mark.parametrize("kind", NAMES)
def test_values_that_have_a_name_are_it_by_every_door(kind: str, tmp_path: Path) -> None:
    values, second = NAMES[kind]
    frame = pd.DataFrame({"y": [0, 1] * 4, "s": SCORES, "g": pd.Series(values)})
    doors: list[Any] = [frame, {name: list(frame[name]) for name in frame}]
    if kind != "interval" and (kind != "identifier" or hasattr(pa, "uuid")):  # Arrow cannot write these to files
        doors += [pa.Table.from_pandas(frame, preserve_index=False), str(tmp_path / "rows.parquet")]
        pq.write_table(doors[2], doors[3])
    found = [fastevals.report(data, label="y", score="s", by="g", n_resamples=0).to_dict()["blocks"] for data in doors]
    for blocks in found:  # pandas before 3 uses nanoseconds
        for block in blocks:
            block["value"] = re.sub(r"\.0{9}", ".000000", str(block["value"]))
    assert found[0][1]["value"] == second
    assert all(each == found[0] for each in found)
    drawn = [fastevals.report(data, label="y", score="s", groups="g", n_resamples=19).to_dict() for data in doors]
    assert all(each["blocks"] == drawn[0]["blocks"] for each in drawn)
    assert len(fastevals.grouped_auc([0, 1] * 4, SCORES, values)) == len(found[0])


def test_values_without_a_name_are_refused_by_every_door() -> None:
    spans = pd.DataFrame({"y": LABELS, "s": SCORES, "g": pd.to_timedelta(np.arange(8) // 2, unit="D")})
    for data in (spans, pl.from_pandas(spans), pa.Table.from_pandas(spans)):
        with pytest.raises(ValueError, match=r"by 'g' must hold numbers, booleans or strings, .*(timedelta|duration)"):
            fastevals.report(data, label="y", score="s", by="g")
    data = {"y": LABELS, "s": SCORES, "g": [*IDS[:2], None, *IDS[3:]]}
    found = fastevals.report(data, label="y", score="s", by="g", n_resamples=0).to_dict()["blocks"][-1]
    assert (found["value"], found["n_samples"]) == (None, 1)


@pytest.mark.parametrize("memory", [None, "60"], ids=["whole", "scans"])
@pytest.mark.parametrize("kind", ["decimal", "bfloat16"])
def test_decimals_and_short_floats_that_are_not_finite_are_invalid(kind: str, memory: str | None) -> None:
    scores: Any = [Decimal("NaN"), *map(Decimal, (".8", ".5", ".6", ".4", ".2", "Infinity"))]
    if kind == "bfloat16":
        scores = np.array([float(each) for each in scores]).astype(pytest.importorskip("ml_dtypes").bfloat16)
    data = {"y": [0, 1, 0, 1, 1, 0, 1], "s": scores}
    with pytest.raises(ValueError, match=r"score 's' .*; on_invalid='drop' leaves such rows out"):
        fastevals.report(data, label="y", score="s", n_resamples=0, memory=memory)
    found = fastevals.report(data, label="y", score="s", n_resamples=0, memory=memory, on_invalid="drop").to_dict()
    assert found["dropped"]["s"]["rows"] == 2
    data = {"y": [0, 1] * 3, "s": np.arange(6) / 6, "g": [Decimal(1)] * 2 + [Decimal(2)] * 2 + [Decimal("NaN")] * 2}
    found = fastevals.report(data, label="y", score="s", by="g", n_resamples=0, memory=memory).to_dict()
    assert [(block["value"], block["n_samples"]) for block in found["blocks"]] == [(1.0, 2), (2.0, 2), (None, 2)]
