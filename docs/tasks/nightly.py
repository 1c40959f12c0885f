"""A nightly batch job: measure today's scores, compare with yesterday's, and fail if the model got worse.

    python nightly.py scores/2026-11-24.parquet scores/2026-11-25.parquet   # yesterday's, today's

Yesterday's file need not be kept: its summary is, some hundred kilobytes beside the scores.
"""

from __future__ import annotations

import sys
from pathlib import Path

from pyarrow.parquet import ParquetFile

from fastevals import Interval, bootstrap_unpaired
from fastevals.scale import RankingSummary

METRICS = ["roc_auc", "average_precision"]
TOLERATED = 0.01  # AUC that a day may lose before somebody is woken


def summary_of(scores: Path) -> RankingSummary:
    """Return a day's summary, which is counted once."""
    kept = scores.with_suffix(".summary")
    if not kept.exists():
        summary = RankingSummary()
        for batch in ParquetFile(scores).iter_batches(columns=["y", "p"]):
            summary.update(batch["y"], batch["p"])
        kept.write_bytes(summary.to_bytes())
    return RankingSummary.from_bytes(kept.read_bytes())


def main(yesterday: Path, today: Path) -> int:
    """Print what changed, and return 1 where the AUC is lower by more than is tolerated, for certain enough."""
    changed = bootstrap_unpaired(summary_of(today), summary_of(yesterday), METRICS, n_resamples=1999, rng=0)
    for name, difference in changed.items():
        low, high = difference.confidence_interval
        print(f"{name}: {difference.value:+.4f} [{low:+.4f}, {high:+.4f}], p {difference.pvalue:.3f}")
    interval: Interval = changed["roc_auc"].confidence_interval
    worse = interval.high < -TOLERATED
    print("WORSE than yesterday" if worse else "no alarm")
    return int(worse)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
