"""The options of the gate command, which are the arguments of `fastevals.gate`, in order."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fastevals._choices import OnInvalid, Undecided
from fastevals.show.commands import parse_number
from fastevals.show.options import CONFIDENCE, ENCODING, HEADER, PROGRESS, RESAMPLES, SEED, SEPARATOR, own
from fastevals.show.report.options import OF_REPORT, ReportOptions, as_in_report

RESAMPLES_OF_GATE = 9999


@dataclass(frozen=True, kw_only=True, slots=True)
class GateOptions:
    """The options of a gate: each field is an option of the command and an argument of the call."""

    # fmt: off
    reference: Any = own(
        "REF", "champion: a model, other rows' files, or a receipt",
        """str or data, optional: The champion that rules compare with: another model of the same rows (its column), or
        the same model on other rows (files, a frame, a summary, or a receipt that pins its results). In rules,
        "champion" means the reference.""")
    label: str | None = as_in_report("label")
    score: str | Sequence[str] | None = as_in_report("score")
    pred: str | Sequence[str] | None = as_in_report("pred")
    probabilities: Any = as_in_report("probabilities")
    classes: Sequence[Any] | None = as_in_report("classes")
    normalize: bool = as_in_report("normalize")
    target: str | None = as_in_report("target")
    model: str | None = own(
        "MODEL", "the judged model, if several remain",
        """str, optional: The judged model; by default the only model that is neither the reference nor named in a
        rule.""", is_column=True)
    sample_weight: str | None = as_in_report("sample_weight")
    frequency_weight: str | None = as_in_report("frequency_weight")
    groups: str | None = as_in_report("groups")
    pos_label: Any = as_in_report("pos_label")
    cost_fp: float | None = own(
        "C", "cost of a false positive, if another cost is a column", "", parse_number)
    cost_fn: float | None = own(
        "C", "cost of a false negative, if another cost is a column",
        """float, optional: Costs of a false positive and a false negative that are the same in all rows, if another
        cost is a column; 1 by default.""", parse_number)
    cost_fp_column: str | None = as_in_report("cost_fp_column")
    cost_fn_column: str | None = own(
        "C", "column of each row's cost of a false negative",
        """str, optional: Columns of costs that differ by row, such as amounts, for rules on "mean_cost", "total_cost",
        "savings", "savings_share", "savings_over_all" and "savings_over_all_share", see `row_costs`.""",
        is_column=True)
    cost_tp: float | None = as_in_report("cost_tp")
    cost_tp_column: str | None = as_in_report("cost_tp_column")
    nightly: Any = own(
        "STATE", "decide by all nights so far, which this file keeps",
        """path, optional: The state file of a gate that is asked every night. Each run adds the night's estimates to
        it, and rules are decided by confidence sequences over all nights, which hold at every look.""")
    night: str | None = own(
        "NAME", "name of the night (the file's name)",
        """str, optional: Name of the night in the state file; by default the name of the data's file. If the state file
        has this night already, its record is replaced.""")
    min_labelled: float | None = own(
        "SHARE", "be undecided if a smaller share of rows has a label",
        """float in [0, 1], optional: With ``on_missing_label="drop"``, all rules are undecided if a smaller share of
        rows has a label. With `nightly`, the night is then not recorded: ask again when its labels have arrived.""",
        parse_number)
    undecided: Undecided = own(
        "", "count an undecided gate as passed or failed",
        """{"undecided", "pass", "fail"}: What an undecided gate counts as; by default it has its own exit
        status.""", choices=Undecided, default="undecided")
    plan: bool = own(
        "", "plan the rows that rules need ('... assuming VALUE')",
        """bool: Instead of judging, plan how many rows each rule needs, with the data as the pilot. Each rule states
        the true value, or true difference, that it assumes: "roc_auc >= 0.8 assuming 0.83". Without it, a rule with a
        margin assumes that the models are equal.""",
        default=False)
    n_resamples: int = RESAMPLES.field(
        RESAMPLES_OF_GATE, help=f"bootstrap replicates ({RESAMPLES_OF_GATE})", doc="int: Bootstrap replicates.")
    confidence_level: float = CONFIDENCE.field(
        0.95, help="level of each one-sided bound (0.95)",
        doc="""float in (0.5, 1): Level of the one-sided bound that passes a rule. Bounds that fail rules are
        simultaneous at this level.""")
    rng: Any = SEED.field(0, doc="int or numpy.random.Generator: Seed; the same integer gives the same decisions.")
    separator: str | None = SEPARATOR.field()
    encoding: str | None = ENCODING.field()
    header: bool | None = HEADER.field()
    memory: int | str | None = as_in_report(
        "memory",
        doc="""int or str, optional: Bytes of memory for rows, such as ``"2GB"``; by default half of what is free.
        Larger data of scores are read in two or more scans, with the same results.""")
    cells: bool = as_in_report("cells")
    on_missing_label: OnInvalid = as_in_report("on_missing_label")
    on_invalid: OnInvalid = as_in_report("on_invalid")
    progress: bool = PROGRESS.field(False, doc="bool: Show a progress bar for the bootstrap (needs tqdm).")
    # fmt: on


def reading_options(options: GateOptions, by: tuple[str, ...], **changes: Any) -> ReportOptions:
    """Return the report's options that read the same rows, with the segments of the rules."""
    shared = {name for name in OF_REPORT if name in {each.name for each in dataclasses.fields(options)}}
    kept = {
        name: getattr(options, name)
        for name in shared - {"n_resamples", "confidence_level", "reference", "min_labelled"}
    }
    return ReportOptions(**{**kept, "by": by or None, **changes})
