"""Measure today's scores, compare them with yesterday's, and report whether the model got worse: a nightly batch job.

    python nightly.py scores/2026-11-24.parquet scores/2026-11-25.parquet   # yesterday's, today's

Exit status: 0 no alarm, 3 alarm, 4 undecided, 2 error. 1 is a crash of this script.

A day is counted once. Its summary, some hundred kilobytes, is kept next to the scores with a fingerprint of the file,
and is made again if the file has changed. If the file of a day is gone, its summary is used.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import sys
import uuid
from pathlib import Path

from pyarrow import ArrowException
from pyarrow.parquet import ParquetFile

from fastevals import Interval, bootstrap_unpaired
from fastevals.scale import RankingSummary

LABEL, SCORE = "y", "p"  # columns
METRICS = ["roc_auc", "average_precision"]
TOLERATED = (
    0.02  # loss of AUC per day that raises no alarm; the interval should be narrower
)
FEWEST = (
    30  # rows of each class; with fewer, the bootstrap interval of an AUC is unreliable
)
NO_ALARM, ERROR, ALARM, UNDECIDED = 0, 2, 3, 4
END = (
    1 << 16
)  # bytes; they contain a Parquet file's footer: the offsets, sizes and extremes of its columns


class UndecidedError(Exception):
    """A day does not have enough rows or labels yet."""


def origin(scores: Path) -> bytes | None:
    """Return a fingerprint of a file: size, time of change and checksum of its end; None if there is no file."""
    try:
        with scores.open("rb") as file:
            status = os.fstat(file.fileno())
            file.seek(max(status.st_size - END, 0))
            end = hashlib.blake2b(file.read(), digest_size=16).hexdigest()
    except FileNotFoundError:
        return None
    found = {
        "columns": [LABEL, SCORE],
        "size": status.st_size,
        "changed": status.st_mtime_ns,
        "end": end,
    }
    return json.dumps(found).encode()


def count(scores: Path) -> RankingSummary:
    """Return the summary of the rows of a file."""
    summary, n_late = RankingSummary(), 0
    with ParquetFile(scores, page_checksum_verification=True) as file:
        for name in (LABEL, SCORE):
            if name not in file.schema_arrow.names:
                raise ValueError(f"there is no column {name!r}")
        for batch in file.iter_batches(columns=[LABEL, SCORE]):
            n_late += batch[LABEL].null_count
            if not n_late:
                summary.update(batch[LABEL], batch[SCORE])
    if n_late:
        raise UndecidedError(f"{n_late} rows have no label yet")
    if min(summary.n_positives, summary.n_negatives) < FEWEST:
        counted = (
            f"{summary.n_positives} positive and {summary.n_negatives} negative rows"
        )
        raise UndecidedError(f"{counted}; at least {FEWEST} of each are needed")
    return summary


def summary_of(scores: Path) -> RankingSummary:
    """Return the summary of a day: the one that is kept, or a new one if the file has changed."""
    kept, now = scores.with_suffix(".summary"), origin(scores)
    with contextlib.suppress(
        FileNotFoundError, ValueError
    ):  # no summary is kept, or it is damaged
        head, data = kept.read_bytes().split(b"\n", 1)
        if now in (None, head):
            return RankingSummary.from_bytes(data)
    if now is None:
        raise ValueError("neither the file nor a summary of it exists")
    summary = count(scores)
    if origin(scores) != now:
        raise ValueError("it was rewritten while it was read")
    write_whole(kept, now + b"\n" + summary.to_bytes())
    return summary


def write_whole(file: Path, content: bytes) -> None:
    """Write a file whole or not at all, even if another process writes it too."""
    part = file.with_name(f".{file.name}.{uuid.uuid4().hex}")
    try:
        part.write_bytes(content)
        part.replace(file)
    finally:
        part.unlink(missing_ok=True)


def judge(yesterday: RankingSummary, today: RankingSummary) -> int:
    """Print what changed and return the exit status: did the AUC fall by more than is tolerated?"""
    changed = bootstrap_unpaired(today, yesterday, METRICS, n_resamples=1999, rng=0)
    for name, difference in changed.items():
        low, high = difference.confidence_interval
        print(
            f"{name}: {difference.value:+.4f} [{low:+.4f}, {high:+.4f}], p {difference.pvalue:.3f}"
        )
    interval: Interval = changed["roc_auc"].confidence_interval
    if interval.high < -TOLERATED:
        print(f"ALARM: the AUC fell by more than {TOLERATED}")
        return ALARM
    if interval.low >= -TOLERATED:
        print(f"no alarm: the AUC did not fall by more than {TOLERATED}")
        return NO_ALARM
    print(
        f"UNDECIDED: more rows are needed to decide whether the AUC fell by more than {TOLERATED}"
    )
    return UNDECIDED


def main(arguments: list[str] | None = None) -> int:
    """Compare two days and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "days",
        nargs=2,
        type=Path,
        metavar="FILE",
        help="Parquet: yesterday's scores, then today's",
    )
    summaries = []
    for day in parser.parse_args(arguments).days:
        try:
            summaries.append(summary_of(day))
        except UndecidedError as reason:
            print(f"UNDECIDED: {day}: {reason}")
            return UNDECIDED
        except (OSError, ValueError, ArrowException) as error:
            print(f"ERROR: {day}: {error}", file=sys.stderr)
            return ERROR
    return judge(*summaries)


if __name__ == "__main__":
    sys.exit(main())
