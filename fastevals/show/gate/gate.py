"""`fastevals.gate`: whether a model may ship, decided by rules."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from fastevals._naming import option
from fastevals._options import check_integer, check_number, did_you_mean, listed
from fastevals._random import seed_number
from fastevals._text import describe_segment, printable
from fastevals.infer.gate.costs import CostMetric
from fastevals.infer.gate.decide import Decision, Levels, decide
from fastevals.infer.gate.evidence import difference
from fastevals.infer.gate.rules import CALIBRATION, CHAMPION, GateRule, bind_rules, check_consistent, parse_rules
from fastevals.reading.csv import CsvForm
from fastevals.reading.rows import LeftOut
from fastevals.results import MAX_RESAMPLES, NOWHERE
from fastevals.show.commands import checked
from fastevals.show.gate.data import Judged, OtherModel, RuleResult, worst_first
from fastevals.show.gate.document import GateResult
from fastevals.show.gate.inputs import Input
from fastevals.show.gate.nightly import judge_nights, late_night, nights_cautions, open_night
from fastevals.show.gate.opened import Champion, model_of, open_champion
from fastevals.show.gate.options import GateOptions
from fastevals.show.gate.plan import GatePlan, plan_gate
from fastevals.show.gate.sides import JudgedSide
from fastevals.show.gate.words import late_text
from fastevals.show.options import takes


@takes(GateOptions)
def gate(data: Any, rules: str | Sequence[str], **options: Any) -> GateResult | GatePlan:
    """Decide by rules whether a model may ship, as ``fastevals gate`` does: pass, fail or undecided.

    Parameters
    ----------
    data : path, paths, frame, mapping of str to array-like, summary or Ranking
        As for `report`: rows with labels and scores or predictions, or counts.
    rules : str or sequence of str
        Rules such as ``"roc_auc >= 0.80"``, ``"roc_auc not worse than champion by 0.005"``, ``"recall at fpr=0.01
        better than champion"``, ``"brier equivalent to champion within 0.002"`` or ``"predicted/observed within 0.9 ..
        1.1 by region"``. A metric is any that `metric` takes; its options follow "at". The other model is a column of
        scores, or "champion" for `reference`. A margin such as ``2%`` is a share of the other model's metric. With "by
        COLUMN" (or "by A x B") each segment must satisfy the rule.
    {options}

    Returns
    -------
    GateResult or GatePlan
        The decisions: ``outcome`` is "pass", "fail" or "undecided", ``to_dict()`` is the receipt, and `print` shows the
        text. With `plan`, a `GatePlan` with the rows that each rule needs.

    Raises
    ------
    ValueError
        If an argument or a rule is not as described; the message names the rule, the place in it and what is meant.

    Notes
    -----
    A rule states the range in which a metric, or a difference, must lie. It passes if the one-sided bounds of the
    metric at `confidence_level` lie in the range: a model that is exactly at the limit passes in about 5 % of samples
    or fewer. This is a non-inferiority test for "not worse than" and two one-sided tests for "equivalent to" [1]_. A
    gate passes only if all rules pass, so each rule is tested at the full level [2]_. A rule fails if both bounds lie
    on the same side of the range. These bounds are simultaneous over all rules and segments (Bonferroni), so a gate
    whose rules all hold fails in about 5 % of samples or fewer. In all other cases the rule is undecided.

    The bounds are for a single look at rows on which no model or threshold was trained or chosen. A gate that is asked
    every night needs `nightly`: the bounds then come from `confidence_sequence`, over all nights in the state file, and
    hold at all looks.

    References
    ----------
    .. [1] Schuirmann, D. J. (1987), "A comparison of the two one-sided tests procedure and the power approach",
       Journal of Pharmacokinetics and Biopharmaceutics 15, 657-680, doi:10.1007/BF01068419.
    .. [2] Berger, R. L. (1982), "Multiparameter hypothesis testing and acceptance sampling", Technometrics 24,
       295-300, doi:10.1080/00401706.1982.10487790.

    Examples
    --------
    >>> import fastevals
    >>> columns = {"y": [0, 1] * 200, "p": [0.2, 0.8, 0.1, 0.9, 0.4, 0.6, 0.7, 0.5] * 50}
    >>> found = fastevals.gate(columns, "roc_auc >= 0.7", label="y", score="p")
    >>> found.outcome, found.exit_status
    ('pass', 0)
    """
    return build_gate(data, rules, GateOptions(**options))


def build_gate(data: Any, rules: Any, options: GateOptions) -> GateResult | GatePlan:
    """Judge the rules with the given options."""
    if data is None:  # a report would describe the embedded data
        raise ValueError(
            "data must be the rows that are judged (files, a frame or a mapping), or their counts, got None"
        )
    form = CsvForm.checked(options.separator, options.encoding, options.header)
    parsed = parse_rules(rules, option("rules"))
    options = checked(options)
    level = check_number(
        option("confidence_level"), options.confidence_level, low=0.5, high=1, open_low=True, open_high=True
    )
    check_integer(option("n_resamples"), options.n_resamples, low=1, high=MAX_RESAMPLES)
    if options.min_labelled is not None:
        check_number(option("min_labelled"), options.min_labelled, low=0, high=1)
        if options.plan:
            raise ValueError(f"{option('plan')} does not go with {option('min_labelled')}: a plan decides nothing")
    options = replace(options, rng=seed_number(option("rng"), options.rng))
    opened, why_empty = open_night(data, options, parsed, form)
    model = _judged_model(opened.models, parsed, options)
    champion = open_champion(options, opened, model, parsed, form)
    own_inputs = opened.inputs()
    _check_other_rows(data, options.reference, champion, model, own_inputs)
    bound = _bound(parsed, opened.models, champion)
    if options.plan:
        return plan_gate(opened, champion, bound, model, options)
    sides = {by: list(opened.sides(by)) for by in dict.fromkeys(rule.by for rule in bound)}
    n_comparisons = sum(len(sides[rule.by]) for rule in bound)
    levels = Levels.of(level, n_comparisons)
    results = []
    for rule in bound:
        other = champion.model if rule.other is not None else None
        if rule.other in opened.models:
            other = OtherModel(str(rule.other))
        judged = [_judge(rule, value, side, champion, model, levels) for value, side in sides[rule.by]]
        results.append(RuleResult(rule, other, worst_first(judged)))
    whole = sides[()][0][1] if () in sides else next(side for _, side in opened.sides(()))
    labels = dict.fromkeys(rule.label for rule in bound)
    pinned = {label: whole.estimate(label, model) for label in labels}
    inputs, facts, nights = (*own_inputs, *champion.inputs), opened.facts(), None
    labelled = _labelled(whole.sizes.n_samples, facts["left_out"], opened.roles.truth)
    if options.min_labelled is not None and labelled < options.min_labelled:
        results = [_undecided(each, late_text(labelled, options.min_labelled)) for each in results]
        nights = late_night(data, options)
    elif options.nightly is not None:
        results, nights = judge_nights(opened, options, results, model, champion, levels, whole, inputs)
    has_costs = facts.get("row_costs") is not None
    cautions = [
        *_same_rows(champion, own_inputs),
        *_cautions(bound, champion, results, has_costs=has_costs),
        *nights_cautions(nights, why_empty),
    ]
    return GateResult(
        opened.title, model, opened.kind, champion.name, tuple(results), levels, n_comparisons, whole.sizes,
        options.undecided, options.n_resamples, options.rng, inputs=inputs, pinned=pinned,
        roles=opened.roles, cautions=tuple(cautions), nights=nights, labelled=labelled,
        min_labelled=options.min_labelled, **facts,
    )  # fmt: skip


def _labelled(n_samples: int, left_out: LeftOut, truth: str) -> float:
    """Return the share of rows that have a label; NaN without rows."""
    n = n_samples + left_out.by_column.get(truth, 0)
    return n_samples / n if n else math.nan


def _undecided(result: RuleResult, reason: str) -> RuleResult:
    """Return a rule's result without a decision."""
    judged = [
        each._replace(
            decision=replace(
                each.decision, outcome="undecided", interval=NOWHERE, method="", reason=reason, detectable=math.nan,
                times_rows=math.nan, assumed=math.nan, caution="", n_replicates=0,
            )
        )
        for each in result.judged
    ]  # fmt: skip
    return replace(result, judged=tuple(judged))


def _bound(rules: Sequence[GateRule], models: Sequence[str], champion: Champion) -> tuple[GateRule, ...]:
    """Return the rules with the names of the models that they compare with."""
    name = option("rules")
    bound = bind_rules(rules, models, champion.name, name)
    for before, rule in zip(rules, bound, strict=True):
        if before.other is not None and rule.other is None:
            raise ValueError(
                f"{name}: {rule.text!r} compares with the champion, but there is none: give {option('reference')}"
            )
        if rule.label in CALIBRATION and rule.other in models:
            raise ValueError(
                f"{name}: {rule.label} of two models on the same rows can't be compared: demand 'within LOW .. HIGH' "
                f"(in {rule.text!r})"
            )
    check_consistent(bound, name)  # "champion" and the champion's name are the same model
    return bound


def _check_other_rows(data: Any, reference: Any, champion: Champion, model: str, inputs: Sequence[Input]) -> None:
    """Raise if the reference has the rows of the data: each model is as good as itself there."""
    same = {each.sha256 for each in champion.inputs} & {each.sha256 for each in inputs}
    if champion.opened is not None and (same or reference is data):
        raise ValueError(
            f"{option('reference')} must have other rows than the data: on the same rows, {model} is compared with "
            "itself"
        )


def _same_rows(champion: Champion, inputs: Sequence[Input]) -> Iterator[str]:
    """Yield a caution if a receipt pins results of the rows that are judged."""
    if champion.pinned_rows & {each.sha256 for each in inputs}:
        yield (
            "The receipt pins results of the same rows, so both results share errors, and the interval of their "
            "difference does not account for it: judge other rows, or compare two models on these rows."
        )


def _judged_model(models: Sequence[str], rules: Sequence[GateRule], options: GateOptions) -> str:
    """Return the model that the rules judge: the only one that is neither the reference nor named in a rule."""
    chosen, reference = options.model, model_of(options.reference, models)
    compared = {rule.other for rule in bind_rules(rules, models, reference or CHAMPION, option("rules"))}
    if chosen is not None:
        if chosen not in models:
            raise ValueError(
                f"{option('model')} must be one of {listed(models)}, got {chosen!r}{did_you_mean(chosen, models)}"
            )
        if chosen == reference:
            raise ValueError(f"{option('model')} and {option('reference')} must be two models, got {chosen!r} as both")
        if chosen in compared:
            raise ValueError(f"{option('rules')} compare {chosen} with itself, because {option('model')} names it")
        return chosen
    left = [model for model in models if model not in {reference, *compared}]
    if len(left) == 1:
        return left[0]
    if not left:
        raise ValueError(
            f"no model is left to judge: {option('reference')} and the rules compare with all of {listed(models)}"
        )
    raise ValueError(
        f"one model is judged, but there are {listed(left)}: name it with {option('model')}"
        + (f", or the champion with {option('reference')}" if options.reference is None else "")
    )


def _judge(rule: GateRule, value: Any, side: JudgedSide, champion: Champion, model: str, levels: Levels) -> Judged:
    """Judge a rule in all rows or in a segment."""
    if rule.other is None:
        own = side.of(rule.label, model)
        return Judged(value, side.sizes, decide(rule, [own], levels), own.value)
    if not champion.is_apart or rule.other != champion.name:
        evidence = [side.between(rule.label, model, rule.other, each.factor) for each in rule.conditions()]
        mine, theirs = (side.estimate(rule.label, each).value for each in (model, rule.other))
        return Judged(value, side.sizes, decide(rule, evidence, levels), mine, theirs)
    own, other = side.of(rule.label, model), champion.side(rule.by, value)
    if other is None:
        missing = describe_segment(rule.by, value)
        decision = Decision(
            "undecided", math.nan, NOWHERE, levels.passing, NOWHERE, "", f"the reference has no rows of {missing}"
        )
        return Judged(value, side.sizes, decision, own.value)
    its = other.of(rule.label, model)
    evidence = [difference(own, its, each.factor) for each in rule.conditions()]
    return Judged(value, side.sizes, decide(rule, evidence, levels), own.value, its.value)


def _cautions(
    rules: Sequence[GateRule], champion: Champion, results: Sequence[RuleResult], *, has_costs: bool
) -> Iterator[str]:
    """Yield what limits the decisions."""
    if champion.name is not None and not any(rule.other == champion.name for rule in rules):
        yield f"No rule compares with the reference, {printable(champion.name)}."
    yield from champion.cautions
    if has_costs and not any(isinstance(rule.metric, CostMetric) for rule in rules):
        yield "No rule judges the costs of the rows."
    judged = [(result.rule.label, each.decision.caution) for result in results for each in result.judged]
    yield from (f"{label}: {caution}" for label, caution in dict.fromkeys(judged) if caution)
