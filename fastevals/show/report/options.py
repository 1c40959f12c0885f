"""The options of a report: the command's, and the arguments of `fastevals.report`, in the order of both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fastevals._choices import OnInvalid
from fastevals.show.commands import parse_number
from fastevals.show.options import (
    CONFIDENCE,
    ENCODING,
    GROUP,
    HEADER,
    LABEL,
    ON_MISSING_LABEL,
    POS_LABEL,
    PROGRESS,
    RESAMPLES,
    SEED,
    SEPARATOR,
    own,
)

SCORES, ROWS = "scores", "columns of rows"  # what some options go with alone


@dataclass(frozen=True, kw_only=True, slots=True)
class ReportOptions:
    """What a report is asked for: a field is an option of the command and an argument of the call."""

    # fmt: off
    label: str | None = LABEL.field(
        doc='str: Column of the true class. Of a `Ranking` or counts what texts call it, "label" by default.')
    score: str | Sequence[str] | None = own(
        "S", "column of a model's scores; repeat for more models",
        """str or sequence of str: Columns of scores, a model each, higher for the positive class. Of a `Ranking` or
        counts the model's name.""", repeats=True, is_column=True)
    pred: str | Sequence[str] | None = own(
        "P", "instead of scores, column of a model's predictions; repeat",
        """str or sequence of str: Instead of scores, columns of what models predict: classes, of two or many, or with
        `target` numbers.""", repeats=True, is_column=True)
    target: str | None = own(
        "T", "column of the true number that --pred predict", "str: Column of the true number.", is_column=True)
    sample_weight: str | None = own(
        "W", "column of row weights", "str, optional: Column of row weights: each row is one independent observation.",
        is_column=True, goes_with=ROWS)
    frequency_weight: str | None = own(
        "N", "column of how many copies of each row there are",
        """str, optional: Column of how many copies of each row there are: whole numbers, the same as repeated rows.
        Not with `sample_weight`.""", is_column=True, goes_with=ROWS)
    by: str | None = own(
        "COLUMN", "means over this column's values, and a block each up to 100 of them",
        "str, optional: Means over this column's values, and a block each up to 100 of them.", is_column=True,
        goes_with=ROWS)
    pos_label: Any = POS_LABEL.field(
        doc="label, optional: The positive class; 1 among 0/1, -1/1 and booleans.", goes_with=ROWS)
    threshold: float | None = own(
        "T", "predict positive where score >= T", "float, optional: Predict positive where ``score >= threshold``.",
        parse_number, goes_with=SCORES)
    best: str | None = own(
        "METRIC", "or at each model's best threshold by f1, matthews, informedness, ...",
        """str, optional: Or at each model's best threshold by this metric: "f1" by default, "expected_cost" with
        costs.""", goes_with=SCORES)
    cost_fp: float | None = own(
        "C", "cost of a false positive; 1 if only --cost-fn is given", "", parse_number, goes_with=SCORES)
    cost_fn: float | None = own(
        "C", "cost of a false negative; 1 if only --cost-fp is given",
        """float, optional: Costs of a false positive and a false negative; 1 where only the other, or the prior, is
        given.""", parse_number, goes_with=SCORES)
    prior: float | None = own(
        "P", "share of positives where the models are used, for costs",
        "float, optional: Share of positives where the models are used, for costs; by default that of each block.",
        parse_number, goes_with=SCORES)
    n_resamples: int | None = RESAMPLES.field(
        help="bootstrap replicates, 1999 by default; 0: no intervals",
        doc="""int, optional: Bootstrap replicates for the intervals; 0: no intervals. By default 1999, within a budget
        of 12,000,000,000 draws (rows x models x replicates) a report: of larger blocks cells of rows are drawn.""")
    confidence_level: float = CONFIDENCE.field(
        0.95, help="level of the intervals, 0.95 by default",
        doc="float in (0, 1): Level of the intervals, and of all differences of a metric at once.")
    rng: Any = SEED.field(0, doc="int or numpy.random.Generator: Of the replicates: the same integer, the same report.")
    groups: str | None = GROUP.field(goes_with=ROWS)
    separator: str | None = SEPARATOR.field()
    encoding: str | None = ENCODING.field()
    header: bool | None = HEADER.field()
    memory: int | str | None = own(
        "BYTES", "that rows may take in memory, such as 2GB; half of what is free by default",
        """int or str, optional: Bytes, such as ``"2GB"``, that rows may take; by default half of what is free. Larger
        data are read in two or more scans, to the same numbers.""", goes_with=SCORES)
    approximate: bool = own(
        "", "read rows once, and give numbers with bounds",
        "bool: Read rows once, count scores in ranges, and give numbers with bounds that hold for certain.",
        default=False, goes_with=SCORES)
    on_missing_label: OnInvalid = ON_MISSING_LABEL.field(
        "raise", doc="""{"raise", "drop"}: Whether a row without a true class, or without a target, is an error, or left
        out and counted.""")
    on_invalid: OnInvalid = own(
        "", "rows without a finite score, prediction or weight: raise, drop",
        """{"raise", "drop"}: Whether a row without a finite score, prediction or weight is an error, or left out and
        counted. With "drop" in CSV files None, ?, NA and the like are missing, too. Rows without a value of `by` are a
        block of their own.""", choices=OnInvalid, default="raise")
    against: Any = own(
        "FILE.fe", "compare with other rows, which `fastevals summarize` has counted",
        """path or paths, optional: Where `data` are files of ``fastevals summarize``: others, of rows that are in none
        of these. Each model's differences from what it was on them have intervals, each by itself.""",
        goes_with=SCORES)
    progress: bool = PROGRESS.field(False, doc="bool: Show a bar for each block's bootstrap (needs tqdm).")
    # fmt: on
