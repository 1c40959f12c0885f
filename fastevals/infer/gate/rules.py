"""The rules of a gate: short sentences such as "roc_auc not worse than champion by 0.005", parsed and checked."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Literal, NamedTuple, NoReturn

from fastevals._options import did_you_mean, listed, show
from fastevals._text import limit_text
from fastevals.infer.gate.closed import READ_AT_A_PLACE
from fastevals.infer.gate.costs import COST_METRICS, CostMetric
from fastevals.measure.metric_specs import METRIC_ALIASES, MetricSpec, is_greater_better, metric, metric_bounds
from fastevals.measure.registry import METRICS
from fastevals.results import full_name

CHAMPION = "champion"  # the word for the reference, unless a model has this name
Form = Literal["at least", "at most", "within", "better than", "not worse than", "equivalent to"]

# Quantities of calibration that are in no registry, with their best value. `calibration` measures them.
CALIBRATION = {"predicted/observed": 1.0, "calibration_intercept": 0.0, "calibration_slope": 1.0}
CALIBRATION_NAMES = {"calibration_ratio": "predicted/observed"}

TOKEN = re.compile(
    r"""(?P<quoted>"[^"]*"|'[^']*'|`[^`]*`)
      | (?P<sign>>=|<=|≥|≤|>|<|\.\.|[(),=:])
      | (?P<word>(?:[^\s"'`<>≥≤(),=:.]|\.(?!\.))+)""",
    re.VERBOSE,
)
SPACES = re.compile(r"""(?P<quoted>"[^"]*"|'[^']*'|`[^`]*`)|\s+""")
NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?%?", re.IGNORECASE | re.ASCII)
COMPARED: dict[tuple[str, ...], Form] = {
    ("better", "than"): "better than",
    ("not", "worse", "than"): "not worse than",
    ("equivalent", "to"): "equivalent to",
}
SIGNS: dict[str, Form] = {
    ">=": "at least",
    "<=": "at most",
    "≥": "at least",
    "≤": "at most",
    ">": "at least",
    "<": "at most",
}
FIRST_WORDS = (*SIGNS, "within", "between", "better", "not", "equivalent")
DEMANDS = ">=, <=, within, better than, not worse than or equivalent to"
PLACES = ("threshold", *READ_AT_A_PLACE)  # each an operating point
EXAMPLES = "'roc_auc >= 0.8' or 'recall at fpr=0.01 not worse than champion by 0.005'"


class Condition(NamedTuple):
    """A range in which a metric, or a metric minus `factor` times the other model's metric, must lie."""

    low: float
    high: float
    factor: float = 1.0


@dataclass(frozen=True, slots=True)
class GateRule:
    """A rule of a gate.

    Attributes
    ----------
    text : str
        The rule as it was written, with single spaces.
    metric : MetricSpec, CostMetric or str
        The metric with its options, or a quantity of calibration.
    form : str
        What is demanded: "at least", "at most", "within", "better than", "not worse than" or "equivalent to".
    low, high : float
        For the first three forms, the ends of the range; infinite where there is none.
    other : str or None
        The model that the judged model is compared with.
    margin : float
        For comparisons, the margin: at least 0.
    is_relative : bool
        Whether the margin is a share of the other model's metric, written as a percentage.
    by : tuple of str
        Columns whose segments must each satisfy the rule; empty for all rows together.
    assumed : float or None
        The true value, or true difference from the other model, for which rows are planned.
    """

    text: str
    metric: MetricSpec | CostMetric | str
    form: Form
    low: float = -math.inf
    high: float = math.inf
    other: str | None = None
    margin: float = 0.0
    is_relative: bool = False
    by: tuple[str, ...] = ()
    assumed: float | None = None

    @property
    def label(self) -> str:
        """The metric's name, with its options."""
        return str(self.metric)

    @property
    def margin_text(self) -> str:
        """The margin as it was written: a number, or a percentage."""
        return f"{limit_text(100 * self.margin)} %" if self.is_relative else limit_text(self.margin)

    @property
    def greater_is_better(self) -> bool | None:
        """The metric's direction; None if it has none."""
        if isinstance(self.metric, CostMetric):
            return self.metric.entry.greater_is_better
        return is_greater_better(self.metric) if isinstance(self.metric, MetricSpec) else None

    @property
    def is_strict(self) -> bool:
        """Whether the quantity must be beyond the end of its range: a model is not better than an equal one."""
        return self.form == "better than"

    def conditions(self) -> tuple[Condition, ...]:
        """Return the ranges that decide the rule; a relative equivalence has two, one for each end."""
        if self.other is None:
            return (Condition(self.low, self.high),)
        sign = -1.0 if self.greater_is_better is False else 1.0
        margin = -self.margin if self.form == "not worse than" else self.margin
        if self.form == "equivalent to" and self.is_relative:
            return Condition(0.0, math.inf, 1 - margin), Condition(-math.inf, 0.0, 1 + margin)
        if self.form == "equivalent to":
            return (Condition(-margin, margin),)
        factor, end = (1 + sign * margin, 0.0) if self.is_relative else (1.0, sign * margin + 0.0)
        return (Condition(end, math.inf, factor) if sign > 0 else Condition(-math.inf, end, factor),)


def parse_rules(texts: Any, argument: str = "rules") -> tuple[GateRule, ...]:
    """Return the rules of one text or of several; raise with the number of the first that is wrong."""
    if isinstance(texts, (str, GateRule)):
        texts = [texts]
    try:
        given = list(texts)
    except TypeError:
        raise ValueError(f"{argument} must be texts such as {EXAMPLES}, got {show(texts)}") from None
    if not given:
        raise ValueError(f"{argument} is empty: give at least one rule, such as {EXAMPLES}")
    rules = []
    for number, text in enumerate(given, 1):
        called = argument if len(given) == 1 else f"{argument} {number}"
        rules.append(text if isinstance(text, GateRule) else parse_rule(text, called))
    check_consistent(rules, argument)
    return tuple(rules)


def parse_rule(text: Any, argument: str = "rule") -> GateRule:
    """Return the rule that a text states; an error names the place of the first wrong word."""
    if not isinstance(text, str):
        raise ValueError(f"{argument} must be text such as {EXAMPLES}, got {show(text)}")
    return _Parser(argument, text).rule()


class _Token(NamedTuple):
    kind: str  # "quoted", "sign", "word" or "end"
    text: str
    place: int  # from 0

    @property
    def lower(self) -> str:
        return self.text.lower() if self.kind != "quoted" else ""

    @property
    def is_number(self) -> bool:
        return self.kind == "word" and NUMBER.fullmatch(self.text) is not None


class _Parser:
    """A parser of one rule; `at` is the next token."""

    def __init__(self, argument: str, text: str) -> None:
        self.argument, self.text, self.at = argument, text, 0
        self.tokens, place = [], 0
        while place < len(text):
            if text[place].isspace():
                place += 1
                continue
            found = TOKEN.match(text, place)
            if found is None:
                self.fail(f"unexpected {text[place]!r}", _Token("sign", text[place], place))
            self.tokens.append(_Token(str(found.lastgroup), found[0], place))
            place = found.end()
        self.tokens.append(_Token("end", "", len(text)))

    # Tokens ---------------------------------------------------------------------------------------------------------

    @property
    def next(self) -> _Token:
        """The next token."""
        return self.tokens[self.at]

    def take(self) -> _Token:
        """Return the next token and move on."""
        token = self.next
        self.at += token.kind != "end"
        return token

    def takes(self, *words: str) -> bool:
        """Move past words if they come next; return whether they did."""
        coming = tuple(token.lower for token in self.tokens[self.at : self.at + len(words)])
        if coming != words:
            return False
        self.at += len(words)
        return True

    def fail(self, problem: str, token: _Token) -> NoReturn:
        """Raise with the place of a token."""
        where = "at the end" if token.kind == "end" else f"at character {token.place + 1}"
        raise ValueError(f"{self.argument}: {problem} ({where} of {self.text!r})")

    def expect(self, what: str, known: Sequence[str] = ()) -> NoReturn:
        """Raise because the next token is not what must come here."""
        token = self.next
        words = [each for each in known if each.isalpha()]
        hint = did_you_mean(token.lower, words) if token.kind == "word" and token.lower not in words else ""
        self.fail(f"expected {what}, got {'nothing' if token.kind == 'end' else repr(token.text)}{hint}", token)

    def number(self, what: str) -> tuple[float, bool]:
        """Return a number, and whether it is written as a percentage."""
        if not self.next.is_number:
            self.expect(what)
        token = self.take()
        text, value = token.text, float(token.text.rstrip("%"))
        if math.isinf(value):
            self.fail(f"{text} is too large for a number", token)
        if text.endswith("%") or self.takes("%"):
            return value / 100, True
        return value, False

    def name(self, what: str) -> str:
        """Return the name of a model or a column: a word, or any text in quotes."""
        if self.next.kind not in ("word", "quoted"):
            self.expect(what)
        token = self.take()
        return token.text[1:-1] if token.kind == "quoted" else token.text

    # Parts ----------------------------------------------------------------------------------------------------------

    def rule(self) -> GateRule:
        """Return the rule."""
        if self.next.kind == "end":
            self.fail(f"the rule is empty: write {EXAMPLES}", self.next)
        text = SPACES.sub(lambda found: found["quoted"] or " ", self.text).strip()
        place = self.next
        rule = self.demand(GateRule(text, self.metric(), "at least"))
        while self.next.kind != "end":
            if not rule.by and self.takes("by"):
                rule = replace(rule, by=self.columns())
            elif rule.assumed is None and self.takes("assuming"):
                rule = replace(rule, assumed=self.number("the true value that is assumed")[0])
            else:
                self.expect("the end of the rule, 'by' and a column, or 'assuming' and a value", ("by", "assuming"))
        self.check(rule, place)
        return rule

    def columns(self) -> tuple[str, ...]:
        """Return distinct columns, written ``a x b``."""
        found: list[str] = []
        while not found or self.takes("x"):
            token = self.next
            found.append(self.name("a column"))
            if found[-1] in found[:-1]:
                self.fail(f"the column {found[-1]} is given twice", token)
        return tuple(found)

    def metric(self) -> MetricSpec | CostMetric | str:
        """Return the metric: its name, options in parentheses, and options after "at"."""
        first = self.next
        words = []
        while self.next.kind == "word" and self.next.lower not in (*FIRST_WORDS, "at") and not self.next.is_number:
            words.append(self.take().text)
        if not words:
            self.expect("the name of a metric")
        name = "_".join(words).lower().replace("-", "_") if len(words) > 1 else words[0]
        name = CALIBRATION_NAMES.get(name.lower(), name)
        options: dict[str, Any] = {}
        if self.takes("("):
            self.options(options)
            if not self.takes(")"):
                self.expect("')'")
        if self.takes("at"):
            self.options(options)
        if name.lower() in CALIBRATION:
            if options:
                self.fail(f"{name} has no options, got {', '.join(options)}", first)
            return name.lower()
        if len(words) > 1 and not _is_metric(name) and _is_metric(words[0]):
            self.at = self.tokens.index(first) + 1
            self.expect(DEMANDS, FIRST_WORDS)
        try:
            if name.lower() in COST_METRICS:
                return CostMetric.of(name.lower(), options)
            return metric(name, **options)
        except ValueError as error:
            known = [*METRICS, *CALIBRATION, *COST_METRICS]
            if not _is_metric(name):
                self.fail(f"unknown metric {name!r}{did_you_mean(name, known, METRIC_ALIASES)}", first)
            raise ValueError(f"{self.argument}: {error} (in {self.text!r})") from None

    def options(self, options: dict[str, Any]) -> None:
        """Add options such as ``fpr=0.01, cost_fn=50``."""
        while True:
            token = self.next
            name = self.name("the name of an option, such as threshold=0.5 or fpr=0.01")
            if name in options:
                self.fail(f"the option {name} is given twice", token)
            if not self.takes("=") and not self.next.is_number:
                self.expect(f"'=' and the value of {name}")
            options[name] = self.value(name)
            if not self.takes(","):
                return

    def value(self, name: str) -> Any:
        """Return the value of an option: a number, true, false, none or a word."""
        token = self.next
        if token.is_number:
            value, is_share = self.number("a number")
            return int(value) if value.is_integer() and not is_share and token.text.isdigit() else value
        text = self.name(f"the value of {name}")
        return {"true": True, "false": False, "none": None}.get(token.lower, text)

    def demand(self, rule: GateRule) -> GateRule:
        """Return the rule with its form, and its limits or its other model."""
        token = self.next
        if token.kind == "sign" and token.text in SIGNS:
            self.take()
            form = SIGNS[token.text]
            end, _ = self.number(f"a number after {token.text}")
            return replace(rule, form=form, low=end) if form == "at least" else replace(rule, form=form, high=end)
        if self.takes("within") or self.takes("between"):
            low, _ = self.number("the lower end of the range, such as 0.9 in 'within 0.9 .. 1.1'")
            if not any(self.takes(word) for word in ("..", "to", "and")):
                self.expect("'..' and the upper end of the range")
            high, _ = self.number("the upper end of the range")
            if low >= high:
                self.fail(f"the range must be in ascending order, got {limit_text(low)} .. {limit_text(high)}", token)
            return replace(rule, form="within", low=low, high=high)
        for words, form in COMPARED.items():
            if self.takes(*words):
                return self.comparison(replace(rule, form=form))
        for words in COMPARED:  # a word of a known phrase is missing or wrong
            if token.lower == words[0]:
                while self.next.lower in words:
                    self.take()
                self.expect(repr(" ".join(words)), words)
        self.expect(DEMANDS, FIRST_WORDS)

    def comparison(self, rule: GateRule) -> GateRule:
        """Return the rule with the other model and the margin."""
        rule = replace(rule, other=self.name("the name of a model"))
        word = "within" if rule.form == "equivalent to" else "by"
        coming = self.tokens[self.at + 1] if self.next.kind != "end" else self.next
        if self.next.lower == word and coming.is_number:
            self.take()
            place = self.next
            margin, is_relative = self.number("the margin")
            if margin < 0:
                self.fail(
                    f"a margin must be at least 0, whichever direction is better for the metric, got "
                    f"{limit_text(margin)}",
                    place,
                )
            return replace(rule, margin=margin, is_relative=is_relative)
        if rule.form == "better than":
            return rule
        if self.next.lower == word:
            self.take()
            self.expect(f"the margin, a number such as 0.005, after '{word}'")
        self.expect(f"'{word}' and the margin, such as {word} 0.005", (word,))

    # Checks ---------------------------------------------------------------------------------------------------------

    def check(self, rule: GateRule, place: _Token) -> None:
        """Raise if no value could satisfy the rule, or if the metric's direction contradicts it."""
        direction, label = rule.greater_is_better, rule.label
        if isinstance(rule.metric, MetricSpec):
            if METRICS[rule.metric.name].of == "queries":
                self.fail(f"{label} measures ranked documents, which a gate can't judge", place)
            if len(places := [name for name in PLACES if name in rule.metric.options]) > 1:
                self.fail(f"{listed(places)} exclude each other: a metric has one operating point", place)
            low, high = metric_bounds(rule.metric)
            if rule.is_relative:
                is_wide = rule.form == "not worse than" and direction is True and rule.margin >= 1
            else:
                is_wide = rule.other is not None and rule.margin >= high - low
            if is_wide and rule.form != "better than":
                self.fail(f"every model satisfies the rule, because the margin {rule.margin_text} is so wide", place)
            if is_wide or rule.low > high or rule.high < low:
                self.fail(f"no value of {label} can satisfy the rule: {label} lies in [{low:g}, {high:g}]", place)
        if rule.form in ("better than", "not worse than") and direction is None:
            known = rule.metric if isinstance(rule.metric, str) else rule.metric.name
            self.fail(f"neither higher nor lower {known} is better: demand 'within LOW .. HIGH'", place)
        wrong = {"at least": False, "at most": True}
        if rule.form in wrong and direction is wrong[rule.form]:
            better, sign, end = ("lower", "<=", rule.low) if direction is False else ("higher", ">=", rule.high)
            meant = f"{sign} {limit_text(end)}"
            self.fail(f"{label} is better when it is {better}: write {meant}, or 'within LOW .. HIGH'", place)
        if rule.is_relative and _can_be_negative(rule.metric):
            self.fail(f"{label} can be negative, so its margin must be a number, not a percentage", place)


def _can_be_negative(of: MetricSpec | CostMetric | str) -> bool:
    """Return whether a metric can be negative; costs only can if they include benefits, which the data will tell."""
    if isinstance(of, CostMetric):
        return of.entry.greater_is_better
    return isinstance(of, MetricSpec) and metric_bounds(of)[0] < 0


def _is_metric(name: str) -> bool:
    return full_name(name) in METRICS or name.lower() in COST_METRICS


def check_consistent(rules: Sequence[GateRule], argument: str) -> None:
    """Raise if a rule is given twice, or if two rules contradict each other."""
    for k, rule in enumerate(rules):
        for earlier in rules[:k]:
            if (earlier.label, earlier.other, earlier.by) != (rule.label, rule.other, rule.by):
                continue
            if earlier.conditions() == rule.conditions() and earlier.form == rule.form:
                raise ValueError(f"{argument}: {earlier.text!r} and {rule.text!r} are the same rule")
            for one, other in product(earlier.conditions(), rule.conditions()):
                if one.factor == other.factor and max(one.low, other.low) > min(one.high, other.high):
                    raise ValueError(f"{argument}: {earlier.text!r} and {rule.text!r} contradict each other")


def bind_rules(
    rules: Iterable[GateRule], models: Sequence[str], reference: str | None, argument: str
) -> tuple[GateRule, ...]:
    """Return rules that name models of the data; "champion" is the reference, unless a model has this name."""
    bound = []
    for rule in rules:
        other = rule.other
        if other is not None and other not in models:
            if other.lower() != CHAMPION:
                raise ValueError(
                    f"{argument}: no model is called {other!r}{did_you_mean(other, models)}: there are "
                    f"{listed(models)} (in {rule.text!r})"
                )
            other = reference
        bound.append(replace(rule, other=other))
    return tuple(bound)
