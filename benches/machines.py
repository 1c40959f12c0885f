"""Simulated memory, and bytes moved, for rows on many machines: the table of `docs/machines.md`.

A partition's counts per range are drawn from a sample's shares; the partition's bytes are the summary's size.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from benches.data import Data
from fastevals.counting.ordering import FLOATS
from fastevals.scale import RankingSummary, ScoreGrid, spark
from fastevals.scale.engines.frame import MOST_THREADS
from fastevals.scale.engines.rankings import MOST_BROADCAST
from fastevals.scale.payload import pack
from fastevals.scale.tasks import MOST_ANSWERS, OPENED

PAGE = Path(__file__).parents[1] / "docs" / "machines.md"
MARK = "<!-- table: python -m benches.machines -->\n"
SAMPLE = 2_000_000  # rows
ROWS = (10**9, 10**11)
PARTITIONS = (10, 100, 1_000, 10_000)
CELL = 32  # bytes of a range while it is counted or merged
MERGED = 6  # summaries that a thread creates while it merges
FIXED = 60e6  # bytes of a worker: waiting rows, a grid and its table
ROW = 17  # bytes of a shuffled row
POSITIVES = 0.001  # share of positives where exact counts are broadcast


@cache
def _grid_and_shares() -> tuple[ScoreGrid, Any]:
    data = Data(SAMPLE)
    grid = ScoreGrid.fit(data.y[: SAMPLE // 4], data.s[: SAMPLE // 4])
    counts = np.zeros((1, 2 * grid.n_cells), dtype=np.int64)
    grid.count(data.s, data.y.astype(np.uint8), None, counts)
    return grid, (counts + 0.1) / (counts + 0.1).sum()


@cache
def summary_bytes(rows: int) -> int:
    """Return the bytes of a summary."""
    grid, shares = _grid_and_shares()
    summary = RankingSummary(grid=grid)
    summary._counts = np.random.default_rng(rows % 2**32).poisson(rows * shares)
    return len(summary.to_bytes())


@cache
def exact_bytes(rows: int, positives: int) -> int:
    """Return the bytes that a partition returns if the positives' scores are broadcast."""
    if positives > MOST_BROADCAST:
        return 0
    rng = np.random.default_rng(rows % 2**32)
    keys = np.sort(FLOATS.encode(rng.random(max(int(rows * POSITIVES), 1))))
    own = {"keys": np.diff(keys, prepend=np.uint64(0)), "positives": np.ones(keys.size, np.int64)}
    between = rng.poisson(rows / positives, positives + 1)
    counts = {"at": np.zeros(positives, np.int64), "between": between}
    return len(pack("positives", {}, own)) + len(pack("negatives", {}, counts))


def bytes_moved(rows: int, n: int) -> float:
    """Return the bytes of n partitions' answers that Spark moves to the merging workers and the driver."""
    moved = 0.0
    while n > MOST_ANSWERS:
        moved += n * summary_bytes(rows // n)
        n = -(-n // spark.FAN)
    return moved + n * summary_bytes(rows // n)


def worker_memory() -> float:
    """Return the bytes that a worker needs for a partition, in addition to its rows."""
    grid, _ = _grid_and_shares()
    return FIXED + 2 * CELL * grid.n_cells


def driver_memory(rows: int, n: int) -> float:
    """Return the bytes that the driver needs to merge the answers of n partitions."""
    grid, _ = _grid_and_shares()
    while n > MOST_ANSWERS:
        n = -(-n // spark.FAN)
    return n * summary_bytes(rows // n) + min(MOST_THREADS, -(-n // OPENED)) * (OPENED + MERGED) * CELL * grid.n_cells


def table() -> list[str]:
    """Return the lines of the table."""
    lines = [
        "| rows | partitions | one summary | total moved | worker's memory | driver's memory | moved if exact |",
        "|---|---|---|---|---|---|---|",
    ]
    for rows in ROWS:
        for n in PARTITIONS:
            positives = int(rows * POSITIVES)
            exact = _shown(n * exact_bytes(rows // n, positives))
            if positives > MOST_BROADCAST:
                exact = f"{_shown(ROW * rows)}, in ranges"
            figures = (summary_bytes(rows // n), bytes_moved(rows, n), worker_memory(), driver_memory(rows, n))
            cells = (f"{rows:.0e}".replace("e+0", "e").replace("e+", "e"), str(n), *map(_shown, figures), exact)
            lines.append(f"| {' | '.join(cells)} |")
    return lines


def _shown(n_bytes: float) -> str:
    """Return bytes in the largest unit, to two digits."""
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if n_bytes >= 0.95 * size:
            return f"{float(f'{n_bytes / size:.2g}'):g} {unit}"
    return f"{float(f'{n_bytes / 1e3:.2g}'):g} kB"


def page() -> str:
    """Return the page with the table."""
    before, _, after = PAGE.read_text().partition(MARK)
    rest = "\n".join(line for line in after.splitlines() if not line.startswith("|")).strip()
    return before + MARK + "\n" + "\n".join(table()) + "\n\n" + rest + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())
