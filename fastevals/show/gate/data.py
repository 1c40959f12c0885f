"""What a gate found: plain data."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from fastevals.infer.gate.decide import OUTCOMES, Decision, Levels, Outcome, worst_outcome
from fastevals.infer.gate.rules import GateRule
from fastevals.infer.sequential.state import Outcome as StateChange
from fastevals.reading.rows import LeftOut
from fastevals.show.gate.inputs import Input

NightChange = StateChange | Literal["late"]  # "late": too few labels, so the night is not recorded
EXIT_STATUS: dict[Outcome, int] = {"pass": 0, "fail": 3, "undecided": 4}


class OtherModel(NamedTuple):
    """The model that a rule compares with."""

    name: str
    place: str = ""  # of its rows, such as "in monday.parquet"; empty if they are the judged model's

    def __str__(self) -> str:
        return f"{self.name} {self.place}".rstrip()


class Sizes(NamedTuple):
    """Rows, and rows by class where there are two classes."""

    n_samples: int
    n_positives: int | None = None
    n_negatives: int | None = None


class Judged(NamedTuple):
    """A rule's decision in all rows or in one segment."""

    value: Any  # of the columns of the rule's `by`; None for all rows
    sizes: Sizes
    decision: Decision
    of_model: float  # the judged model's metric
    of_other: float = math.nan  # the other model's
    n_nights: int | None = None  # nights that have a value; None without `nightly`
    tonight: Decision | None = None  # by tonight's rows alone, with bounds for a single look


class Nights(NamedTuple):
    """The nights of a state file, and what tonight changed."""

    state: str  # the file
    night: str  # tonight's name
    change: NightChange
    n_nights: int
    n_empty: int  # nights without rows
    same_as: str | None = None  # the night that has the same rows, if tonight's are "repeated"


@dataclass(frozen=True, slots=True)
class RuleResult:
    """A rule with its decision in all rows, or in each segment."""

    rule: GateRule
    other: OtherModel | None  # that the rule compares with
    judged: tuple[Judged, ...]  # of segments: the worst first

    @property
    def outcome(self) -> Outcome:
        """The rule's outcome: a rule on segments passes if each segment passes."""
        return worst_outcome([each.decision.outcome for each in self.judged])

    @property
    def worst(self) -> Judged:
        """The decision that decides the rule."""
        return self.judged[0]


class Pinned(NamedTuple):
    """A metric of the judged model, for later comparisons with a receipt."""

    value: float
    standard_error: float


@dataclass(frozen=True, slots=True, repr=False)
class GateData:
    """The fields of a gate's result."""

    data: str
    model: str
    kind: str  # "scores", "labels", "targets" or "probabilities"
    reference: str | None  # the champion, in words
    results: tuple[RuleResult, ...]
    levels: Levels
    n_comparisons: int
    sizes: Sizes
    undecided: str  # what an undecided gate counts as
    n_resamples: int
    seed: int
    inputs: tuple[Input, ...] = ()
    pinned: Mapping[str, Pinned] = field(default_factory=dict)
    roles: Any = None
    pos_label: Any = None
    left_out: LeftOut = field(default_factory=LeftOut)
    n_weightless: int = 0
    cautions: tuple[str, ...] = ()
    nights: Nights | None = None
    row_costs: Mapping[str, Any] | None = None  # the column or cost of each outcome, if costs differ by row
    labelled: float = math.nan  # share of the rows that have a label; NaN without rows
    min_labelled: float | None = None

    @property
    def outcome(self) -> Outcome:
        """The gate's outcome, which is the worst of its rules."""
        return worst_outcome([each.outcome for each in self.results])

    @property
    def exit_status(self) -> int:
        """Exit status of the command: 0 pass, 3 fail, 4 undecided."""
        outcome = self.outcome
        if outcome == "undecided" and self.undecided in EXIT_STATUS:
            return EXIT_STATUS[self.undecided]
        return EXIT_STATUS[outcome]

    def count(self) -> dict[Outcome, int]:
        """Return how many rules have each outcome, the worst first."""
        found = [each.outcome for each in self.results]
        return {outcome: found.count(outcome) for outcome in OUTCOMES if outcome in found}


def worst_first(judged: Sequence[Judged]) -> tuple[Judged, ...]:
    """Return decisions on segments in order: failed, undecided, passed; the one closest to failing first in each."""

    def rank(each: Judged) -> tuple[int, float]:
        decision = each.decision
        distances = [decision.value - decision.allowed.low, decision.allowed.high - decision.value]
        distance = min((gap for gap in distances if math.isfinite(gap)), default=math.inf)
        return OUTCOMES.index(decision.outcome), distance

    return tuple(sorted(judged, key=rank))
