"""The options of the report command, which are the arguments of `fastevals.report`, in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fastevals._choices import OnInvalid
from fastevals.show.commands import Option, fields_of, parse_classes, parse_number
from fastevals.show.options import (
    CONFIDENCE,
    ENCODING,
    GROUP,
    HEADER,
    LABEL,
    ON_MISSING_LABEL,
    POS_LABEL,
    PROGRESS,
    REFERENCE,
    RESAMPLES,
    SEED,
    SEPARATOR,
    own,
)

SCORES, ROWS = "scores", "columns of rows"  # the only data that some options go with
PROBABILITIES = "probabilities of classes"
QUERIES = "ranked documents (queries or qrels)"
COUNTED = "scores or probabilities of classes"  # which files beyond memory may have


@dataclass(frozen=True, kw_only=True, slots=True)
class ReportOptions:
    """The options of a report: each field is an option of the command and an argument of the call."""

    # fmt: off
    label: str | None = LABEL.field(
        doc='str: Column of the true class. For a `Ranking` or counts, its name in texts, "label" by default.')
    score: str | Sequence[str] | None = own(
        "S", "column of a model's scores; repeat for more models",
        """str or sequence of str: Columns of scores, one per model, higher for the positive class. For a `Ranking` or
        counts, the model's name.""", repeats=True, is_column=True)
    pred: str | Sequence[str] | None = own(
        "P", "column of a model's predictions; repeat for more",
        """str or sequence of str: Columns of predictions instead of scores, one per model: classes, or numbers with
        `target`.""", repeats=True, is_column=True)
    probabilities: Any = own(
        "P", "a model's columns of class probabilities, 'p_*'",
        """str, sequence of str, array-like, or mapping of str to array-like: Probabilities of classes instead of
        scores, one entry per model: a pattern such as ``"forest_*"``, whose ``*`` stands for the class in the names of
        columns; a column of lists; or, by model, arrays of shape (n_samples, n_classes) and frames with a column per
        class. An array alone is of a model named "model".""",
        repeats=True)
    classes: Sequence[Any] | None = own(
        "LABELS", "classes of --probabilities in order: low,middle,high",
        """sequence of label, optional: The classes in order, which a column of lists or an array needs if its columns
        are not in the order of sorted labels.""", parse=parse_classes, goes_with=PROBABILITIES)
    ordered: bool = own(
        "", "the classes are ordered: add the RPS",
        """bool: Whether the classes are ordered, which adds the ranked probability score. Columns of an ordered type
        have their own order.""", default=False, goes_with=PROBABILITIES)
    normalize: bool = own(
        "", "divide each row's probabilities by their sum",
        "bool: Divide each row's probabilities by their sum; by default sums other than 1 are an error.",
        default=False, goes_with=PROBABILITIES)
    queries: str | None = own(
        "COLUMN", "column of queries: documents ranked by --score",
        """str, optional: Column of queries. The report is then on systems that rank documents for queries, with the
        mean of each metric over queries; `label` is the column of relevance.""", is_column=True)
    qrels: Any = own(
        "FILE", "judgments in a table of their own; FILEs are runs",
        """path, frame, mapping or `Qrels`, optional: Judgments of documents in a table of their own (query, document,
        relevance), or in TREC's form. `data` is then a run, a mapping of names to runs, or a file for each system; or
        a table with a column of scores for each system. The columns are "query", "document" and "relevance", unless
        `queries`, `document` and `label` name others.""")
    document: str | None = own(
        "COLUMN", "column of documents, with --qrels",
        "str, optional: Column of documents in judgments and runs.", is_column=True, goes_with=QUERIES)
    metric: Any = own(
        "M", "with --queries: ndcg@10, map, ...; repeat for more",
        """str, `metric(...)` or a sequence of these, optional: Metrics of ranked documents, the one that ranks systems
        first; by default "ndcg@10", "map", "mrr" and "recall@10".""", repeats=True, goes_with=QUERIES)
    target: str | None = own(
        "T", "column of the true numbers, with --pred", "str: Column of the true numbers.", is_column=True)
    sample_weight: str | None = own(
        "W", "column of row weights", "str, optional: Column of row weights; each row is one independent observation.",
        is_column=True, goes_with=ROWS)
    frequency_weight: str | None = own(
        "N", "column of the number of copies of each row",
        """str, optional: Column of the number of copies of each row, a whole number; the result is the same as with
        repeated rows. Not with `sample_weight`.""", is_column=True, goes_with=ROWS)
    by: str | Sequence[str] | None = own(
        "COLUMN", "report on each value of this column, and means; repeat",
        """str or sequence of str, optional: Report means over this column's values and, if there are at most 100, a
        block for each value. With several models, also report how much each model differs from the first one, or from
        the `reference`, within each value. Several columns are reported one by one.""",
        repeats=True, is_column=True, goes_with=ROWS)
    cross: bool = own(
        "", "report on combinations of the values of several --by",
        "bool: Report on each combination of the values of the columns in `by`, instead of each column.",
        default=False)
    trend: bool = own(
        "", "follow metrics over files, or over values of --by",
        """bool: Follow each metric over ordered values, such as days: the values of `by` or, without it, several files,
        each named by its path, in natural order. Each value is compared with the mean of the others; intervals and
        p-values are simultaneous over all values.""", default=False)
    min_labelled: float | None = own(
        "SHARE", "--trend compares values with so many labels: 0.9",
        """float in [0, 1], optional: With `trend` and ``on_missing_label="drop"``, a value in which fewer rows have a
        label is undecided, and not compared.""", parse_number)
    pos_label: Any = POS_LABEL.field(
        doc="label, optional: The positive class; 1 among 0/1, -1/1 and booleans.", goes_with=ROWS)
    threshold: float | None = own(
        "T", "predict positive where score >= T", "float, optional: Predict positive where ``score >= threshold``.",
        parse_number, goes_with=SCORES)
    best: str | None = own(
        "METRIC", "use each model's best threshold by f1, matthews, ...",
        """str, optional: Instead use each model's best threshold by this metric: "f1" by default, "expected_cost"
        with costs.""", goes_with=SCORES)
    cost_fp: float | None = own(
        "C", "cost of a false positive; 1 if only --cost-fn is given", "", parse_number, goes_with=SCORES)
    cost_fn: float | None = own(
        "C", "cost of a false negative; 1 if only --cost-fp is given",
        """float, optional: Costs of a false positive and a false negative; 1 if only the other cost or the prior is
        given.""", parse_number, goes_with=SCORES)
    cost_fp_column: str | None = own(
        "C", "column of each row's cost of a false positive", "", is_column=True, goes_with=ROWS)
    cost_fn_column: str | None = own(
        "C", "column of each row's cost of a false negative",
        """str, optional: Columns of costs that differ by row, such as amounts. One cost may be a constant (`cost_fp` or
        `cost_fn`) if the other is a column. Thresholds then have the lowest total cost, see `row_costs`.""",
        is_column=True, goes_with=ROWS)
    cost_tp: float | None = own(
        "C", "cost of a true positive, if another cost is a column",
        "float, optional: Cost of a true positive, such as a fee, if another cost differs by row; a benefit is < 0.",
        parse_number, goes_with=SCORES)
    cost_tp_column: str | None = own(
        "C", "column of each row's cost of a true positive",
        "str, optional: Column of each row's cost of a true positive.", is_column=True, goes_with=ROWS)
    prior: float | None = own(
        "P", "share of positives in use, to compute costs",
        "float, optional: Share of positives where the models are used, to compute costs; by default the block's own.",
        parse_number, goes_with=SCORES)
    gain_table: bool = own(
        "", "add tables of deciles: rates, gain, lift, KS",
        "bool: Add a table of deciles and top shares for each model, see `fastevals.gain_table`.",
        default=False, goes_with=SCORES)
    reference: str | None = REFERENCE.field(
        doc="""str, optional: The model to compare the others with, such as the one in use. It is listed first, each
        difference is another model minus the reference, and intervals and p-values of differences are simultaneous over
        these pairs only. By default all pairs of models are compared.""")
    n_resamples: int | None = RESAMPLES.field(
        help="bootstrap replicates (1999); 0: no intervals",
        doc="""int, optional: Bootstrap replicates; 0: no intervals. By default 1999, with a budget of 1 billion draws
        (rows x models x replicates) per report; blocks that are too large for it resample cells of rows.""")
    confidence_level: float = CONFIDENCE.field(
        0.95, help="level of the intervals (0.95)",
        doc="float in (0, 1): Level of each interval; for differences, joint level of all intervals in a metric.")
    rng: Any = SEED.field(0, doc="int or numpy.random.Generator: Seed; the same integer gives the same report.")
    groups: str | None = GROUP.field(goes_with=ROWS)
    separator: str | None = SEPARATOR.field()
    encoding: str | None = ENCODING.field()
    header: bool | None = HEADER.field()
    memory: int | str | None = own(
        "BYTES", "memory for rows, such as 2GB (half of what is free)",
        """int or str, optional: Bytes of memory for rows, such as ``"2GB"``; by default half of what is free. Larger
        data are read in two or more scans, with the same results; probabilities of classes are counted in one scan, as
        by ``fastevals summarize``.""", goes_with=COUNTED)
    approximate: bool = own(
        "", "read files once; numbers have guaranteed bounds",
        "bool: Read rows once, count scores in ranges, and give numbers with guaranteed bounds.",
        default=False, goes_with=COUNTED)
    cells: bool = own(
        "", "FILE has counts: low, high, positives, negatives",
        """bool: Whether `data` is a table of counts, such as the result of a database's ``GROUP BY``: columns "low" and
        "high" are the lowest and highest score of each range of scores, "positives" and "negatives" its numbers of
        rows. A column "model" is needed only for several models.""",
        default=False)
    on_missing_label: OnInvalid = ON_MISSING_LABEL.field(
        "raise", metavar="R", help="rows without a label: raise (default) or drop",
        doc="""{"raise", "drop"}: Whether a row without a true class or target is an error, or is left out and
        counted.""")
    on_invalid: OnInvalid = own(
        "RULE", "rows without a finite score: raise (default), drop",
        """{"raise", "drop"}: Whether a row without a finite score, prediction or weight is an error, or is left out and
        counted. With "drop", None, ?, NA and the like are missing values in CSV files. Rows without a value of `by` are
        a block of their own.""", choices=OnInvalid, default="raise")
    against: Any = own(
        "FILE", "compare with other files, or summaries; repeat",
        """as for `data`, optional: Other rows, such as yesterday's: files, a frame, a ranking or summaries, whatever
        `data` is, or rows of predictions if `data` has predictions; `label`, `score` and the other options on rows
        apply to them, too. Each model is compared with itself on these rows, and each difference has a separate
        interval. Values of `by` are compared with the same value.""",
        repeats=True)
    progress: bool = PROGRESS.field(False, doc="bool: Show a progress bar for each block's bootstrap (needs tqdm).")
    # fmt: on


OF_REPORT: dict[str, tuple[Option, Any]] = {
    name: (shown, field.default) for name, shown, field in fields_of(ReportOptions)
}


def as_in_report(name: str, goes_with: str | None = None, **changes: Any) -> Any:
    """Return the field of an option that the report has, too, with some changes."""
    shown, default = OF_REPORT[name]
    return shown.field(default, goes_with=goes_with, **changes)
