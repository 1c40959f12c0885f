"""Summaries of any number of rows, and rankings of files larger than memory: entries as in `benches.peers`.

Files are made by `python -m benches.scale FILE` (200M rows, 4 GB), and found by `FASTEVALS_BENCH_FILE=FILE`: without it
their figures are left out.
"""

from __future__ import annotations

import os
import sys
import zlib
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import fastevals
from benches.data import Data
from benches.peers import Call, Cases, Setup, installed
from benches.processes import COMMAND, LINUX, MOST, _python
from fastevals.scale import Certified, RankingSummary, parquet

REPLICATES = 10_000
MOST_IN_DOUBT = 1e-5  # of an AUC
LARGE = 1_000_000_000  # rows of a summary whose counts are simulated
FILE = os.environ.get("FASTEVALS_BENCH_FILE")
FILE_ROWS = 200_000_000
GROUP = 1_000_000  # rows of a row group
LABEL, MODELS, FOLD = "y", ("a", "b"), "fold"


# Summaries ------------------------------------------------------------------------------------------------------------


def _summary(data: Data) -> RankingSummary:
    summary = RankingSummary()
    summary.update(data.y, data.s)
    return summary


def _update(data: Data) -> Call:
    """Count all rows; what is counted holds what is true, and no AUC is in doubt by more than it may be."""
    auc, expected = _summary(data).ranking().roc_auc(), fastevals.Ranking(data.y, data.s).roc_auc()
    if isinstance(auc, Certified):
        assert auc.low <= expected <= auc.high
        assert auc.width <= MOST_IN_DOUBT
    else:
        assert auc == expected
    return lambda: _summary(data)


def _bootstrap(data: Data) -> Call:
    """Draw replicates of a summary; its errors are those of the rows."""
    metrics = ["roc_auc", "average_precision", "ks_statistic"]
    summary = _summary(data)
    found = fastevals.bootstrap(summary, metrics, n_resamples=1000, rng=1)["roc_auc"].standard_error
    np.testing.assert_allclose(found, fastevals.delong(data.y, data.s).standard_error[0], rtol=0.1)
    return lambda: fastevals.bootstrap(summary, metrics, n_resamples=REPLICATES, rng=1)


def _merge(data: Data) -> Call:
    one, other = _summary(data), _summary(data)
    assert one.merge(other).n_positives == 2 * one.n_positives
    return lambda: one.merge(other)


def _to_bytes(data: Data) -> Call:
    summary = _summary(data)
    assert RankingSummary.from_bytes(summary.to_bytes()).ranking().roc_auc() == summary.ranking().roc_auc()
    return summary.to_bytes


def _size(data: Data) -> Call:
    """Give the bytes of a summary of so many rows, of which a sample of a hundredth is drawn."""
    sample = _summary(Data(data.rows // 100))
    drawn = sample.cells
    rows = np.random.default_rng(1).poisson(100 * drawn.counts)
    low, high = (each.view(np.uint64) for each in (drawn.low, drawn.high))
    from fastevals.counting.ordering import FLOATS

    whole = RankingSummary.from_cells(FLOATS.decode(low), FLOATS.decode(high), rows[:, 1], rows[:, 0])
    assert abs(whole.n_positives / (100 * sample.n_positives) - 1) < 0.01
    return lambda: float(len(whole.to_bytes()))


# Files ----------------------------------------------------------------------------------------------------------------


def write_rows(path: str, n_groups: int = FILE_ROWS // GROUP, rows: int | None = None) -> None:
    """Write a Parquet file: a label, 10 % positive, the scores of two models, and a fold; a million rows a group."""
    import pyarrow as pa
    from pyarrow import parquet as files

    rng = np.random.default_rng(zlib.crc32(Path(path).name.encode()))
    types = [pa.int8(), pa.float64(), pa.float64(), pa.int8()]
    schema = pa.schema(list(zip([LABEL, *MODELS, FOLD], types, strict=True)))
    with files.ParquetWriter(path, schema, compression="snappy") as writer:
        size = GROUP if rows is None else rows // n_groups
        for _ in range(n_groups):
            y, noise = (rng.random(size) < 0.1).astype(np.int8), rng.normal(size=(2, size))
            logits = 1.5 * y + noise[0] - 2, 1.5 * y + 0.7 * noise.sum(axis=0) - 2
            columns = [y, *(1 / (1 + np.exp(-each)) for each in logits), rng.integers(0, 5, size).astype(np.int8)]
            writer.write_table(pa.table(columns, schema=schema))


SCAN = """
import sys
import pyarrow.parquet as files
rows = 0
for batch in files.ParquetFile(sys.argv[1]).iter_batches(1_000_000, columns=["y", "a"]):
    rows += batch.num_rows
"""
RANK = """
import sys
from fastevals.scale import parquet
auc = parquet.ranking(sys.argv[1], label="y", score="a", exact={exact}).roc_auc()
"""


def _path() -> str:
    assert FILE is not None
    return FILE


@cache
def _peak(code: str, *arguments: str) -> float:
    """Return the most bytes that a process takes."""
    return float(_python("-c", "import sys\n" + code + MOST, _path(), *arguments).stderr.split()[-1])


def _scan(data: Data) -> Call:
    from pyarrow import parquet as files

    def call() -> int:
        batches = files.ParquetFile(_path()).iter_batches(GROUP, columns=[LABEL, MODELS[0]])
        return sum(batch.num_rows for batch in batches)

    return call


def _rank(*, exact: bool) -> Setup:
    """Rank a model's rows; give their number, as the scan does."""

    def set_up(data: Data) -> Call:
        def call() -> int:
            ranking: Any = parquet.ranking(_path(), label=LABEL, score=MODELS[0], exact=exact)
            auc = ranking.roc_auc()
            assert exact or auc.width <= MOST_IN_DOUBT
            return int(ranking.n_positives + ranking.n_negatives)

        return call

    return set_up


def _report_memory(data: Data) -> Call:
    columns = ["--label", LABEL, *(each for model in MODELS for each in ("--score", model)), "--quiet"]
    return lambda: float(_python("-c", COMMAND + MOST, "report", _path(), *columns).stderr.split()[-1])


def _report(data: Data) -> Call:
    columns = ["--label", LABEL, *(each for model in MODELS for each in ("--score", model)), "--quiet"]
    return lambda: _python("-c", COMMAND, "report", _path(), *columns).stdout


def _beyond_a_scan(data: Data) -> Call:
    return lambda: _peak(RANK.format(exact=False)) - _peak(SCAN)


def of_files(entries: dict[str, Setup]) -> dict[str, Setup]:
    """Leave out what has no file to be taken of; memory is the kernel's account."""
    return entries if LINUX and FILE and Path(FILE).exists() else {}


SCALE: Cases = installed(
    {
        "summary_update": {"fastevals": _update},
        "summary_bootstrap": {"fastevals": _bootstrap},
        "summary_merge": {"fastevals": _merge},
        "summary_bytes": {"fastevals": _to_bytes},
        "summary_size": {"fastevals": _size},
        "files_certified": of_files({"fastevals": _rank(exact=False), "iter_batches": _scan}),
        "files_exact": of_files({"fastevals": _rank(exact=True), "iter_batches": _scan}),
        "files_report": of_files({"fastevals": _report}),
        "files_certified_memory": of_files({"fastevals": _beyond_a_scan}),
        "files_exact_memory": of_files({"fastevals": lambda data: lambda: _peak(RANK.format(exact=True))}),
        "files_report_memory": of_files({"fastevals": _report_memory}),
    }
)

if __name__ == "__main__":
    write_rows(sys.argv[1])
