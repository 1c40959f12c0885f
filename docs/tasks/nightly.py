"""Decide every night whether a model is as good as on the day of its release: a nightly batch job.

    python nightly.py scores/2026-11-25.parquet --reference release.json --state nights.json

Exit status: 0 pass, 3 fail (alarm), 4 undecided, 2 error. 1 is a crash of this script.

The file of a day is counted once. Its summary, some hundred kilobytes, is kept next to the file as FILE.fe. It is made
again if the file has changed, and is used if the file is gone.
"""

import argparse
import sys
from pathlib import Path

from fastevals import gate
from fastevals.scale import cached_summary

COLUMNS = {"label": "y", "score": "p", "on_missing_label": "drop"}
RULES = ["roc_auc not worse than champion by 0.02"]  # the champion is the reference
MIN_LABELLED = (
    0.95  # with a smaller share of labels, a day is undecided and not recorded
)
ERROR = 2


def judge(day: str, reference: str, state: str) -> int:
    """Add a day to the state, print what all days decide, and return the exit status."""
    try:
        data, columns = cached_summary(day, **COLUMNS), {}
    except ValueError:  # no row can be counted, or the gate says what is wrong
        data, columns = day, COLUMNS
    found = gate(
        data,
        RULES,
        reference=reference,
        nightly=state,
        night=Path(day).name,
        min_labelled=MIN_LABELLED,
        **columns,
    )
    print(found)
    return found.exit_status


def main(arguments: list[str] | None = None) -> int:
    """Judge a day and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("day", help="the day's scores: Parquet, CSV or Arrow")
    parser.add_argument(
        "--reference",
        required=True,
        help="the receipt that pins the results at release",
    )
    parser.add_argument("--state", required=True, help="the file that keeps the nights")
    try:
        return judge(**vars(parser.parse_args(arguments)))
    except (OSError, ValueError) as error:
        print(f"ERROR: {error}", file=sys.stderr)
        return ERROR


if __name__ == "__main__":
    sys.exit(main())
