"""A gate's decisions in words: what holds, by how much, and what would decide a rule that is undecided."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from fastevals._text import count_of, describe_segment, limit_text, one_line, printable
from fastevals.infer.gate.costs import CostMetric
from fastevals.infer.gate.decide import INCLUDES, POWER, Decision, Outcome
from fastevals.infer.gate.rules import GateRule
from fastevals.measure.metric_specs import MetricSpec
from fastevals.measure.registry import METRICS
from fastevals.results import Interval
from fastevals.show.gate.data import GateData, Judged, Nights, OtherModel, RuleResult, Sizes
from fastevals.show.verdict import listed

VERBS: dict[Outcome, tuple[str, str]] = {
    "fail": ("fails", "fail"),
    "undecided": ("is undecided", "are undecided"),
    "pass": ("passes", "pass"),
}
COUNTS_AS = {"pass": "passed", "fail": "failed"}
WORD = {"pass": "PASS", "fail": "FAIL", "undecided": "UNDECIDED"}
DECIMALS, DIGITS = range(4, 13), range(4, 16)
MOST_ROUNDED = 0.25  # of the distance from a limit, by which a number may be rounded
MOST_SEGMENTS = 3  # the text says what the first segments lack; the JSON says it of all


def metric_words(rule: GateRule) -> str:
    """Return the metric's title, with its options."""
    if isinstance(rule.metric, CostMetric):
        return rule.metric.title
    if not isinstance(rule.metric, MetricSpec):
        return rule.metric.replace("_", " ")
    title = METRICS[rule.metric.name].title
    options = ", ".join(f"{name}={value}" for name, value in rule.metric.options.items())
    return f"{title} at {options}" if options else title


def end_texts(interval: Interval, allowed: Interval) -> tuple[str, str]:
    """Return the ends of an interval with as many decimals as show on which side of the allowed ends they lie."""
    limits = [end for end in allowed if math.isfinite(end)]

    def text(end: float) -> str:
        if math.isnan(end):
            return "-"
        if math.isinf(end):
            return "inf" if end > 0 else "-inf"
        for decimals in DECIMALS:
            shown = f"{end:z.{decimals}f}"
            if all(_is_near(float(shown), end, limit) for limit in limits):
                return shown
        return repr(end)

    return text(interval.low), text(interval.high)


def _is_near(shown: float, end: float, limit: float) -> bool:
    """Return whether a rounded number lies on the same side of a limit, at nearly the same distance."""
    return (
        (shown > limit) == (end > limit)
        and (shown < limit) == (end < limit)
        and (abs(shown - end) <= MOST_ROUNDED * abs(end - limit))
    )


def _near(value: float, *limits: float) -> str:
    """Return a number with four digits, or more if it would look nearer to a limit, or further away."""
    finite = [limit for limit in limits if math.isfinite(limit)]
    for digits in DIGITS:
        shown = f"{value:.{digits}g}"
        if all(_is_near(float(shown), value, limit) for limit in finite):
            break
    return shown


def possessive(other: OtherModel) -> str:
    """Return "old's", or "new's in monday.parquet"."""
    return f"{printable(other.name)}'s {printable(other.place)}".rstrip()


def claim(rule: GateRule, model: str, other: OtherModel | None, outcome: Outcome) -> str:
    """Return what is true of a rule that passes or fails, or the question that is undecided."""
    name, title = f"{printable(model)}'s", metric_words(rule)
    than, fails = "" if other is None else possessive(other), outcome == "fail"
    higher, lower = ("lower", "higher") if rule.greater_is_better is False else ("higher", "lower")
    by = f" by more than {rule.margin_text}" if rule.margin else ""
    if rule.form == "at least":
        said = f"{name} {title} is {'below' if fails else 'at least'} {limit_text(rule.low)}"
    elif rule.form == "at most":
        said = f"{name} {title} is {'above' if fails else 'at most'} {limit_text(rule.high)}"
    elif rule.form == "within":
        said = f"{name} {title} is {'outside' if fails else 'within'} {limit_text(rule.low)} to {limit_text(rule.high)}"
    elif rule.form == "better than":
        said = f"{name} {title} is {'not ' if fails else ''}{higher} than {than}{by}"
    elif rule.form == "not worse than":
        said = f"{name} {title} is {'' if fails else 'not '}{lower} than {than}{by}"
    else:
        size = "more" if fails else "less"
        said = f"{name} {title} differs from {than} by {size} than {rule.margin_text}"
    return f"it is undecided whether {said}" if outcome == "undecided" else said


def numbers_text(rule: GateRule, decision: Decision) -> str:
    """Return the judged quantity with the interval that decided."""
    what = "" if rule.other is None else "difference "
    if decision.factor != 1:
        what = f"{_quantity(rule, decision)}: "
    low, high = end_texts(decision.interval, decision.allowed)
    value = end_texts(Interval(decision.value, decision.value), decision.allowed)[0]
    if math.isnan(decision.interval.low):
        return f"{what}{'undefined' if math.isnan(decision.value) else value}"
    return f"{what}{value}, {level_text(decision.level)} interval {low} to {high}"


def level_text(level: float) -> str:
    """Return the level of a two-sided interval whose ends are one-sided at a level."""
    outside = 200 * (1 - level)
    decimals = 1 - math.floor(math.log10(outside)) if outside < 0.1 else 2
    return f"{100 - outside:.{decimals}f}".rstrip("0").rstrip(".") + " %"


def rule_sentence(found: GateData, result: RuleResult) -> str:
    """Return what was found for a rule; for segments, in which of them."""
    rule, worst = result.rule, result.worst
    said = claim(rule, found.model, result.other, result.outcome)
    said = said[0].upper() + said[1:] if said.startswith("it ") else said
    numbers = numbers_text(rule, worst.decision)
    if not rule.by:
        return f"{said} ({numbers})."
    alike = [each for each in result.judged if each.decision.outcome == result.outcome]
    n, total = len(alike), len(result.judged)
    first = describe_segment(rule.by, worst.value)
    if total == 1:
        return f"{said} in the only segment ({first}; {numbers})."
    if result.outcome == "pass":
        return f"{said} in each of {total} segments (closest to the limit: {first}; {numbers})."
    which = "furthest from the limit" if result.outcome == "fail" else "closest to failing"
    which = "among them" if math.isnan(worst.decision.value) else which
    return f"{said} in {n} of {total} segments ({which}: {first}; {numbers})."


def needs(result: RuleResult) -> list[str]:
    """Return what would decide an undecided rule: the detectable difference, and the rows that are lacking.

    A rule on segments names the first undecided segments.
    """
    if result.outcome != "undecided":
        return []
    undecided = [each for each in result.judged if each.decision.outcome == "undecided"]
    said: list[str] = []
    for each in undecided[:MOST_SEGMENTS]:
        where = f"In {describe_segment(result.rule.by, each.value)}: " if result.rule.by else ""
        said += [where + text if where else text[:1].upper() + text[1:] for text in _needs(result.rule, each)]
    if len(undecided) > MOST_SEGMENTS:
        n_more = len(undecided) - MOST_SEGMENTS
        said.append(
            f"{count_of(n_more, 'more segment')} {'are' if n_more > 1 else 'is'} undecided: the JSON has the reasons."
        )
    return said


def _needs(rule: GateRule, each: Judged) -> Iterator[str]:
    """Yield what would decide a rule in all rows, or in a segment."""
    decision = each.decision
    if decision.reason and not decision.reason.startswith(INCLUDES):
        yield f"{decision.reason}."
    if decision.detectable > 0:
        yield _detectable(rule, decision)
    if not math.isnan(decision.times_rows):
        yield _lacking(rule, decision, each.sizes)


def share_text(share: float) -> str:
    """Return a share in percent, rounded down so that it does not look larger than it is."""
    return f"{math.floor(1000 * share + 1e-9) / 10:g} %"


def late_text(share: float, least: float) -> str:
    """Return why a gate is undecided whose labels are late."""
    return f"{share_text(share)} of the rows have a label, {100 * least:g} % are needed"


def nights_text(nights: Nights) -> str:
    """Return how many nights a state has, and what tonight changed."""
    empty = f", {nights.n_empty} without rows" if nights.n_empty else ""
    changed = {
        "added": "is added",
        "replaced": "replaces its record",
        "unchanged": "is recorded already, with the same rows",
        "late": "is not recorded, because its labels are late",
        "repeated": f"is not added, because {nights.same_as!r} has the same rows",
    }
    return f"{nights.n_nights:,} in {printable(nights.state)}{empty}; {nights.night!r} {changed[nights.change]}"


def nights_notes(found: GateData, result: RuleResult) -> list[str]:
    """Return how many nights decided a rule, and what tonight's rows alone say."""
    each = result.worst
    if found.nights is None or each.tonight is None:
        return []
    used = f"{count_of(found.nights.n_nights, 'night')}, {each.sizes.n_samples:,} rows"
    if each.n_nights != found.nights.n_nights:
        used = (
            f"{count_of(found.nights.n_nights, 'night')} ({each.n_nights} with a value), {each.sizes.n_samples:,} rows"
        )
    alone = f"tonight alone: {numbers_text(result.rule, each.tonight)}"
    if math.isnan(each.tonight.interval.low):
        return [f"{used}; {alone} ({each.tonight.reason})."]
    return [f"{used}; {alone}, for a single look."]


def _detectable(rule: GateRule, decision: Decision) -> str:
    low, high = decision.allowed
    passes, what = f"the rule passes in {100 * POWER:g} % of samples", _quantity(rule, decision)
    if math.isinf(high):
        return f"with these rows, {passes} if the true {what} is at least {_near(low + decision.detectable, low)}."
    if math.isinf(low):
        return f"with these rows, {passes} if the true {what} is at most {_near(high - decision.detectable, high)}."
    least, most = low + decision.detectable, high - decision.detectable
    if least > most:
        return (
            f"these rows are too few: whatever the true {what} is, the rule passes in less than {100 * POWER:g} % of "
            "samples."
        )
    return f"with these rows, {passes} if the true {what} is within {_near(least, low)} to {_near(most, high)}."


def _quantity(rule: GateRule, decision: Decision) -> str:
    """Return the name of what is judged."""
    if decision.factor != 1:
        return f"value minus {limit_text(100 * decision.factor)} % of the other's"
    return "value" if rule.other is None else "difference"


def _lacking(rule: GateRule, decision: Decision, sizes: Sizes) -> str:
    allowed, assumed = decision.allowed, decision.assumed
    outcome: Outcome = "pass" if allowed.low <= assumed <= allowed.high else "fail"
    share, condition = f"in {100 * POWER:g} % of samples", _assumed(rule, decision)
    if math.isinf(decision.times_rows):
        why = "" if assumed in allowed else ", because the reference is too uncertain"
        return f"no number of rows is enough for the rule to {outcome} {share} {condition}{why}."
    decided = f"the rule {VERBS[outcome][0]} {share} {condition}"
    if decision.times_rows <= 1:
        return f"with {sizes.n_samples:,} new rows, {decided}."
    rows, of_class = more_rows(decision, sizes.n_samples), ""
    if sizes.n_positives is not None and sizes.n_negatives is not None:
        n, which = min((sizes.n_positives, "positive"), (sizes.n_negatives, "negative"))
        of_class = f" ({_about(more_rows(decision, n))} of them {which})"
    return f"with about {_about(rows)} more rows{of_class}, {decided}."


def more_rows(decision: Decision, n: int) -> int:
    """Return how many more rows decide, given the number of rows that did not."""
    return max(math.ceil((decision.times_rows - 1) * n), 0)


def _about(n: int) -> str:
    """Return a number to two digits."""
    digits = 10 ** max(len(str(n)) - 2, 0)
    return f"{-(-n // digits) * digits:,}"


def _assumed(rule: GateRule, decision: Decision) -> str:
    if rule.assumed is not None and decision.assumed == rule.assumed:
        return f"if the true {_quantity(rule, decision)} is {limit_text(rule.assumed)}"
    if rule.other is not None and decision.assumed == 0:
        return "if the models are equal"
    return f"if the true {_quantity(rule, decision)} is the estimate, {_near(decision.value, *decision.allowed)}"


def verdict(found: GateData) -> list[str]:
    """Return the gate's verdict in words, the outcome first."""
    counts, n = found.count(), len(found.results)
    model = printable(found.model)
    if found.outcome == "pass":
        all_pass = "The rule passes" if n == 1 else "Both rules pass" if n == 2 else f"All {n} rules pass"
        head = f"PASS: {model} may ship. {all_pass}."
    else:
        which = "The rule" if n == 1 else "{k} of {n} rules"
        parts = [
            f"{which.format(k=k, n=n)} {VERBS[outcome][k > 1]}" for outcome, k in counts.items() if outcome != "pass"
        ]
        may = "may not ship" if found.outcome == "fail" else "can't be judged yet"
        head = f"{WORD[found.outcome]}: {model} {may}. {listed(parts)}."
        if found.outcome == "undecided" and found.undecided in COUNTS_AS:
            head += f" An undecided gate counts as {COUNTS_AS[found.undecided]} here."
    return [head]


def allowed_text(rule: GateRule) -> str:
    """Return the range in which the rule wants the judged quantity."""
    texts = []
    for low, high, factor in rule.conditions():
        what = "" if factor == 1 else f"value - {limit_text(factor)} x the other's "
        if math.isinf(high):
            texts.append(f"{what}{'>' if rule.is_strict else '>='} {limit_text(low)}")
        elif math.isinf(low):
            texts.append(f"{what}{'<' if rule.is_strict else '<='} {limit_text(high)}")
        else:
            texts.append(f"{limit_text(low)} to {limit_text(high)}")
    return ", ".join(texts)


def github_lines(found: GateData) -> Sequence[str]:
    """Return GitHub's annotations: an error for each rule that fails, a warning for each that is undecided."""
    kinds = {"fail": "error", "undecided": "warning"}
    lines = []
    for result in found.results:
        if result.outcome in kinds:
            text = one_line(f"{result.rule.text}: {rule_sentence(found, result)}").replace("%", "%25")
            lines.append(f"::{kinds[result.outcome]} title=fastevals gate::{text}")
    return lines
