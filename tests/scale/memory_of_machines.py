"""The additional bytes that a worker needs to count a partition, and a driver to merge answers."""

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from benches import machines
from benches.data import Data
from fastevals.scale import RankingSummary
from fastevals.scale.engines.frame import merged
from fastevals.scale.scores import CountedBlock, Counting, ScoresSummary
from fastevals.scale.tasks import CountScores, RankingColumns

ROWS, PARTS = 3_000_000, 40
LABELS = (1, 0)
NO_KEYS = np.empty(0, np.uint64)


def kilobytes(name: str) -> int:
    with open("/proc/self/status") as status:
        return int(status.read().split(name + ":")[1].split()[0])


def peak(call: Callable[[], Any]) -> int:
    """Return the peak memory of a call."""
    before = kilobytes("VmRSS")
    with open("/proc/self/clear_refs", "w") as peaks:
        peaks.write("5")
    call()
    return 1000 * (kilobytes("VmHWM") - before)


def main() -> None:
    grid, shares = machines._grid_and_shares()
    task = CountScores(RankingColumns("y", ("s",), labels=LABELS), Counting(2**18, NO_KEYS, {"s": grid}, None, False))
    data = Data(ROWS)
    batches = pa.table({"y": data.y, "s": data.s}).to_batches(max_chunksize=100_000)
    task.answer_of(iter(batches[:1]), "compiles")
    print(peak(lambda: pickle.dumps(task.answer_of(iter(batches), "partition 0"))))
    answers = []
    for k in range(PARTS):
        summary = RankingSummary(grid=grid)
        summary._counts, summary._labels = np.random.default_rng(k).poisson(ROWS * shares), LABELS
        block = CountedBlock(int(summary._counts.sum()), int(summary._counts[0, 1::2].sum()), {"s": summary}, {})
        answers.append(pickle.dumps(ScoresSummary("y", ("s",), labels=LABELS, blocks={None: block})))
    merged(task, answers[:2])
    print(sum(map(len, answers)) + peak(lambda: merged(task, answers)))


if __name__ == "__main__":
    main()
