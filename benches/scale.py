"""Cases of summaries and of rankings from files: entries as in `benches.peers`.

Files are written to a temporary folder when they are needed. Figures with too many rows for a default run need
`FASTEVALS_BENCH_LARGE=1` (200M rows: 4 GB).
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
import zlib
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import fastevals
from benches.data import Data
from benches.peers import Call, Cases, Setup, installed
from benches.processes import COMMAND, LINUX, MOST, _python
from fastevals.scale import Certified, ClassScoresSummary, RankingSummary, parquet

REPLICATES = 10_000
MOST_IN_DOUBT = 1e-5  # of an AUC
LARGE = 1_000_000_000  # rows of a summary whose counts are simulated
GROUP = 1_000_000  # rows of a row group
LABEL, MODELS, FOLD = "y", ("a", "b"), "fold"


# Summaries ------------------------------------------------------------------------------------------------------------


def _summary(data: Data) -> RankingSummary:
    summary = RankingSummary()
    summary.update(data.y, data.s)
    return summary


def _update(data: Data) -> Call:
    """Count all rows; check that the bounds contain the exact AUC and are no wider than allowed."""
    auc, expected = _summary(data).ranking().roc_auc(), fastevals.Ranking(data.y, data.s).roc_auc()
    if isinstance(auc, Certified):
        assert auc.low <= expected <= auc.high
        assert auc.width <= MOST_IN_DOUBT
    else:
        assert auc == expected
    return lambda: _summary(data)


def _class_summary(data: Data) -> ClassScoresSummary:
    summary = ClassScoresSummary(range(10))
    summary.update(data.k, data.probabilities)
    return summary


def _update_classes(data: Data) -> Call:
    """Count all rows; check a loss, and that the bounds of Hand and Till's M contain the exact value."""
    summary, classes = _class_summary(data), fastevals.ClassRankings(data.k, data.probabilities)
    area, loss = summary.metric("hand_till"), -np.log(data.probabilities[np.arange(data.rows), data.k]).mean()
    assert isinstance(area, Certified)
    assert area.low <= classes.hand_till() <= area.high
    np.testing.assert_allclose(float(summary.metric("log_loss")), loss, rtol=1e-12)
    return lambda: float(_class_summary(data).metric("log_loss"))


def _sort_columns(data: Data) -> Call:
    """Sort all columns; there is nothing to compare but the loss."""
    columns = np.ascontiguousarray(data.probabilities.T)
    loss = float(-np.log(data.probabilities[np.arange(data.rows), data.k]).mean())

    def call() -> float:
        np.sort(columns, axis=1)
        return loss

    return call


def _bootstrap(data: Data) -> Call:
    """Draw replicates of a summary; check the standard error against DeLong's on the rows."""
    metrics = ["roc_auc", "average_precision", "ks_statistic"]
    summary = _summary(data)
    found = fastevals.bootstrap(summary, metrics, n_resamples=1000, rng=1)["roc_auc"].standard_error
    np.testing.assert_allclose(found, fastevals.delong(data.y, data.s).standard_error, rtol=0.1)
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
    """Return the bytes of a summary whose counts are simulated from a hundredth of the rows."""
    sample = _summary(Data(data.rows // 100))
    drawn = sample.cells
    rows = np.random.default_rng(1).poisson(100 * drawn.counts)
    low, high = (each.view(np.uint64) for each in (drawn.low, drawn.high))
    from fastevals.counting.ordering import FLOATS

    whole = RankingSummary.from_cells(FLOATS.decode(low), FLOATS.decode(high), rows[:, 1], rows[:, 0])
    assert abs(whole.n_positives / (100 * sample.n_positives) - 1) < 0.01
    return lambda: float(len(whole.to_bytes()))


# Files ----------------------------------------------------------------------------------------------------------------


def write_rows(path: Path, rows: int) -> None:
    """Write a Parquet file: a label (10 % positive), two models' scores and a fold, in groups of a million rows."""
    import pyarrow as pa
    from pyarrow import parquet as files

    rng = np.random.default_rng(zlib.crc32(path.name.encode()))
    types = [pa.int8(), pa.float64(), pa.float64(), pa.int8()]
    schema = pa.schema(list(zip([LABEL, *MODELS, FOLD], types, strict=True)))
    with files.ParquetWriter(path, schema, compression="snappy") as writer:
        for start in range(0, rows, GROUP):
            size = min(GROUP, rows - start)
            y, noise = (rng.random(size) < 0.1).astype(np.int8), rng.normal(size=(2, size))
            logits = 1.5 * y + noise[0] - 2, 1.5 * y + 0.7 * noise.sum(axis=0) - 2
            columns = [y, *(1 / (1 + np.exp(-each)) for each in logits), rng.integers(0, 5, size).astype(np.int8)]
            writer.write_table(pa.table(columns, schema=schema))


@cache
def _folder() -> Path:
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


@cache
def files_of(rows: int, n_files: int = 1) -> str:
    """Write rows as one file, or as a folder of several; return the path."""
    path = _folder() / f"{rows}-{n_files}.parquet"
    if n_files == 1:
        write_rows(path, rows)
    else:
        path.mkdir()
        for k in range(n_files):
            write_rows(path / f"{k:05}.parquet", rows // n_files)
    return str(path)


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


@cache
def _peak(code: str, rows: int) -> float:
    """Return the peak memory of a process, in bytes."""
    return float(_python("-c", "import sys\n" + code + MOST, files_of(rows)).stderr.split()[-1])


def _scan(data: Data) -> Call:
    from pyarrow import parquet as files

    def call() -> int:
        batches = files.ParquetFile(files_of(data.rows)).iter_batches(GROUP, columns=[LABEL, MODELS[0]])
        return sum(batch.num_rows for batch in batches)

    return call


def _rank(*, exact: bool) -> Setup:
    """Rank a model's rows; return their number, as the scan does."""

    def set_up(data: Data) -> Call:
        def call() -> int:
            ranking: Any = parquet.ranking(files_of(data.rows), label=LABEL, score=MODELS[0], exact=exact)
            auc = ranking.roc_auc()
            assert not isinstance(auc, Certified) or auc.width <= MOST_IN_DOUBT
            return int(ranking.n_positives + ranking.n_negatives)

        return call

    return set_up


def _report_memory(data: Data) -> Call:
    columns = ["--label", LABEL, *(each for model in MODELS for each in ("--score", model)), "--quiet"]
    return lambda: float(_python("-c", COMMAND + MOST, "report", files_of(data.rows), *columns).stderr.split()[-1])


def _report(data: Data) -> Call:
    columns = ["--label", LABEL, *(each for model in MODELS for each in ("--score", model)), "--quiet"]
    return lambda: _python("-c", COMMAND, "report", files_of(data.rows), *columns).stdout


RULES = (
    "roc_auc >= 0.6",
    f"roc_auc not worse than {MODELS[1]} by 0.05",
    f"average_precision not worse than {MODELS[1]} by 0.05",
    "predicted/observed within 0.5 .. 2",
)


def _gate(*arguments: str) -> int:
    """Run a gate in a process of its own; return its exit status."""
    made = _python("-c", "import sys\nfrom fastevals.show.cli import main\nprint(main(sys.argv[1:]))", *arguments)
    return int(made.stdout.split()[-1])


def _files_gate(data: Data) -> Call:
    options = [*(f"--score={model}" for model in MODELS), *(f"--rule={rule}" for rule in RULES), "--quiet"]
    return lambda: _decided(_gate("gate", files_of(data.rows), f"--label={LABEL}", *options), data)


def _reported(data: Data) -> Call:
    report = _report(data)
    return lambda: data.rows if report() else 0


def _summaries_gate(data: Data) -> Call:
    days = [str(_folder() / f"{data.rows}-{day}.fe") for day in ("today", "yesterday")]
    for day, rows in zip(days, (data.rows, data.rows // 2), strict=True):
        _gate("summarize", files_of(rows), f"--label={LABEL}", f"--score={MODELS[0]}", f"--out={day}")
    rules = [rule.replace(f"than {MODELS[1]} ", "than champion ") for rule in RULES]
    return lambda: _decided(fastevals.gate(days[0], rules, reference=days[1]).exit_status, data)


def _decided(status: int, data: Data) -> int:
    """Return the number of rows if a gate decided: it passed, failed or is undecided."""
    assert status in (0, 3, 4), status
    return data.rows


def _beyond_a_scan(data: Data) -> Call:
    return lambda: _peak(RANK.format(exact=False), data.rows) - _peak(SCAN, data.rows)


def _exact_memory(data: Data) -> Call:
    return lambda: _peak(RANK.format(exact=True), data.rows)


def of_linux(entries: dict[str, Setup]) -> dict[str, Setup]:
    """Leave out figures that need Linux's memory accounting."""
    return entries if LINUX else {}


SCALE: Cases = installed(
    {
        "summary_update": {"fastevals": _update},
        "class_summary_update": {"fastevals": _update_classes, "np.sort of columns": _sort_columns},
        "summary_bootstrap": {"fastevals": _bootstrap},
        "summary_merge": {"fastevals": _merge},
        "summary_bytes": {"fastevals": _to_bytes},
        "summary_size": {"fastevals": _size},
        "files_certified": {"fastevals": _rank(exact=False), "iter_batches": _scan},
        "files_exact": {"fastevals": _rank(exact=True), "iter_batches": _scan},
        "files_report": {"fastevals": _report},
        "files_gate": {"fastevals": _files_gate, "report": _reported},
        "summaries_gate": {"fastevals": _summaries_gate},
        "files_certified_memory": of_linux({"fastevals": _beyond_a_scan}),
        "files_exact_memory": of_linux({"fastevals": _exact_memory}),
        "files_report_memory": of_linux({"fastevals": _report_memory}),
    }
)
