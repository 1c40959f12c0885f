"""A gate that is asked every night: tonight's records go into a state file, and all nights decide the rules."""

from __future__ import annotations

import glob
import hashlib
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from fastevals._naming import option
from fastevals._options import show
from fastevals.infer.gate.decide import Levels, decide
from fastevals.infer.gate.nights import LARGEST_DOUBT, minus_fixed, night_record, nights_evidence, why_not_nightly
from fastevals.infer.gate.rules import GateRule
from fastevals.infer.sequential.records import NightRecord, NightTable
from fastevals.infer.sequential.state import NightlyState, read_state, updating_state
from fastevals.measure.metric_specs import MetricSpec
from fastevals.reading.csv import CsvForm
from fastevals.reading.files import STDIN
from fastevals.reading.rows import NoRowsError
from fastevals.reading.sources import is_path
from fastevals.show.gate.data import Judged, Nights, RuleResult, Sizes
from fastevals.show.gate.inputs import Input
from fastevals.show.gate.opened import Champion, EmptySource, Opened, open_rows
from fastevals.show.gate.options import GateOptions
from fastevals.show.gate.sides import JudgedSide


def open_night(data: Any, options: GateOptions, rules: Sequence[GateRule], form: CsvForm) -> tuple[Opened, str]:
    """Open the rows; return them and, if there are none, the reason.

    There may be no rows only if an earlier night had some, or if their labels are late.
    """
    identity: Mapping[str, Any] = {}
    if options.nightly is not None:
        _check(options, rules)
        _night_name(data, options)
        identity = read_state(_state_path(options), None).identity
    elif options.night is not None:
        raise ValueError(f"{option('night')} needs {option('nightly')}, the file that keeps the nights")
    try:
        return open_rows(data, options, rules, form, "data"), ""
    except NoRowsError as error:
        truth, models = options.label or options.target, options.score or options.pred
        waits = options.min_labelled is not None and truth in error.left_out.by_column and models
        if not identity and not waits:
            raise
        kind = "scores" if options.score else "labels" if options.target is None else "targets"
        identity = identity or {"kind": kind, "pos_label": options.pos_label}
        return EmptySource(data, options, identity, error.left_out), str(error)


def _check(options: GateOptions, rules: Sequence[GateRule]) -> None:
    """Raise if a rule, weights or clusters can't be combined over nights."""
    nightly = option("nightly")
    if options.plan:
        raise ValueError(f"{option('plan')} does not go with {nightly}: a plan is for a single look")
    for name in ("sample_weight", "groups"):
        if getattr(options, name) is not None:
            raise ValueError(
                f"{option(name)} does not go with {nightly}: confidence sequences need independent rows of equal weight"
            )
    for rule in rules:
        if rule.by:
            raise ValueError(
                f"{nightly} judges all rows of a night, not segments: leave out 'by {' x '.join(rule.by)}' in "
                f"{rule.text!r}, or judge each segment's rows with a state of its own"
            )
        if why := why_not_nightly(rule.metric):
            raise ValueError(
                f"{nightly} judges AUC, rates at a fixed threshold and means of losses: {rule.label} {why} (in "
                f"{rule.text!r})"
            )


def _state_path(options: GateOptions) -> Path:
    if not is_path(options.nightly) or not os.fspath(options.nightly):
        raise ValueError(f"{option('nightly')} must be the path of a state file, got {show(options.nightly)}")
    return Path(os.fsdecode(options.nightly))


def _paths(data: Any) -> list[Any]:
    paths = list(data) if isinstance(data, (list, tuple)) else [data]
    return paths if all(map(is_path, paths)) else []


def _night_name(data: Any, options: GateOptions) -> str:
    """Return the name of tonight: what the user says, or the name of the file."""
    if options.night is not None:
        if not isinstance(options.night, str) or not options.night.strip():
            raise ValueError(f"{option('night')} must be a text such as a date, got {show(options.night)}")
        return options.night
    paths = [os.fsdecode(each) for each in _paths(data)]
    if len(paths) == 1 and paths[0] != STDIN and (os.path.exists(paths[0]) or not glob.has_magic(paths[0])):
        return os.path.basename(os.path.abspath(paths[0]))
    raise ValueError(f"{option('night')} must name the night, because the data are not one file")


def judge_nights(
    opened: Opened,
    options: GateOptions,
    tonight: Sequence[RuleResult],
    model: str,
    champion: Champion,
    levels: Levels,
    side: JudgedSide,
    inputs: Sequence[Input],
) -> tuple[list[RuleResult], Nights]:
    """Add tonight's records to the state, and judge the rules by all nights."""
    rules = [each.rule for each in tonight]
    path, night = _state_path(options), _night_name(opened.data, options)
    identity = _identity(opened, options, rules, model, champion)
    read_state(path, identity)  # another model's state is refused before anything else can go wrong
    fingerprint = _fingerprint([each for each in inputs if each.role == "data"])
    records: dict[str, NightRecord] = {}
    for rule in rules:
        for key, factor in _keys(rule, champion):
            if key not in records:
                records[key] = _record(night, fingerprint, rule, factor, side, model)
    with updating_state(path, identity, records) as (state, outcome):
        results = [_judge(each, state, champion, model, levels) for each in tonight]
        nights = Nights(str(options.nightly), night, outcome, len(state.nights), _n_empty(state))
        if outcome == "repeated":
            nights = nights._replace(same_as=state.night_of_rows(fingerprint))
    return results, nights


def late_night(data: Any, options: GateOptions) -> Nights | None:
    """Return the nights of the state, to which a night with too few labels is not added; None without a state."""
    if options.nightly is None:
        return None
    state = read_state(_state_path(options), None)
    n_empty = _n_empty(state) if state.rules else 0
    return Nights(str(options.nightly), _night_name(data, options), "late", len(state.nights), n_empty)


def _identity(
    opened: Opened, options: GateOptions, rules: Sequence[GateRule], model: str, champion: Champion
) -> dict[str, Any]:
    """Return what a state is about."""
    facts, reference = opened.facts(), [each.sha256 for each in champion.inputs]
    if champion.pinned is not None and not reference:  # a receipt in memory
        reference = [hashlib.sha256(repr(sorted(champion.pinned.pinned.items())).encode()).hexdigest()]
    return {
        "model": model,
        "rules": [rule.text for rule in rules],
        "label": opened.roles.truth,
        "models": list(opened.models),
        "kind": opened.kind,
        "pos_label": _label_text(facts["pos_label"]),
        "reference": champion.name,
        "reference_sha256": reference,
        "frequency_weight": options.frequency_weight,
    }


def _label_text(label: Any) -> str | None:
    """Return a label as text; 1.0 is 1, because missing labels make a column of integers one of floats."""
    if isinstance(label, (float, np.floating)) and label == int(label):
        label = int(label)
    return None if label is None else str(label)


def _fingerprint(inputs: Sequence[Input]) -> str:
    """Return what identifies tonight's rows; empty for counts in memory."""
    if len(inputs) <= 1:
        return inputs[0].sha256 if inputs else ""
    return hashlib.sha256(" ".join(sorted(each.sha256 for each in inputs)).encode()).hexdigest()


def _keys(rule: GateRule, champion: Champion) -> list[tuple[str, float | None]]:
    """Return the names of the quantities whose records decide a rule, and the factors of the other model in them."""
    if not _is_paired(rule, champion):
        return [(rule.label, None)]
    return [
        (f"{rule.label} - {'' if factor == 1 else f'{factor!r} x '}{rule.other}", factor)
        for _, _, factor in rule.conditions()
    ]


def _is_paired(rule: GateRule, champion: Champion) -> bool:
    return rule.other is not None and not (champion.is_apart and rule.other == champion.name)


def _record(
    night: str, fingerprint: str, rule: GateRule, factor: float | None, side: JudgedSide, model: str
) -> NightRecord:
    """Return tonight's record of a quantity."""
    spec, label = cast("MetricSpec", rule.metric), rule.label
    share = None
    if factor is None:
        evidence, share = side.of(label, model), side.share(label, model)
    else:
        assert rule.other is not None
        evidence = side.between(label, model, rule.other, factor)
    if math.isinf(evidence.value):
        raise ValueError(f"{label} of {model} is infinite, so nights have no mean")
    if evidence.doubt > (0 if share is not None else LARGEST_DOUBT * evidence.standard_error):
        raise ValueError(
            f"{label} of {model} may be off by {evidence.doubt:.2g}, because the summary counts scores in ranges: "
            "summarize with more ranges (--cells), or with this threshold (--at)"
        )
    return night_record(night, fingerprint, spec, evidence, share, side.sizes)


def _judge(tonight: RuleResult, state: NightlyState, champion: Champion, model: str, levels: Levels) -> RuleResult:
    """Judge a rule by all nights."""
    rule = tonight.rule
    spec = cast("MetricSpec", rule.metric)
    keys = _keys(rule, champion)
    records = state.rules[keys[0][0]]
    evidence = [nights_evidence(state.rules[key], spec, factor) for key, factor in keys]
    own = evidence[0].value if keys[0][1] is None else math.nan
    its = math.nan
    if rule.other is not None and not _is_paired(rule, champion):
        side = champion.side((), None)
        assert side is not None
        fixed = side.of(rule.label, model)
        its = fixed.value
        evidence = [minus_fixed(evidence[0], fixed, each.factor) for each in rule.conditions()]
    used = ~np.isnan(records.numbers("value"))
    judged = Judged(
        None, _sizes(records, used), decide(rule, evidence, levels), own, its, n_nights=int(np.count_nonzero(used)),
        tonight=tonight.worst.decision,
    )  # fmt: skip
    return RuleResult(rule, tonight.other, (judged,))


def _sizes(records: NightTable, used: NDArray[np.bool_]) -> Sizes:
    """Return the numbers of rows of the nights that are used."""
    n, *by_class = (records.numbers(name)[used].sum() for name in ("n_samples", "n_positives", "n_negatives"))
    return Sizes(int(n), *(None if np.isnan(each) else int(each) for each in by_class))


def _n_empty(state: NightlyState) -> int:
    return sum(not each for each in next(iter(state.rules.values())).column("n_samples"))


def nights_cautions(nights: Nights | None, why_empty: str) -> Iterator[str]:
    """Yield what a user must know of tonight's record."""
    if nights is None:
        return
    if why_empty and nights.change != "late":
        yield f"{why_empty}: the night is counted and changes nothing."
    if nights.change == "replaced":
        yield (
            f"Night {nights.night!r} was recorded with other rows or results, and its record is replaced. If this is "
            f"another night, give it another name: {option('night')}."
        )
    if nights.change == "repeated":
        yield f"These rows are recorded as night {nights.same_as!r} already, so they are not counted again."
