"""What a report is made of: a tree of plain values that text, JSON and pictures are written from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from fastevals.measure.counts import Cells, ThresholdCounts
from fastevals.measure.results import Interval
from fastevals.show.files import check_one_role
from fastevals.show.report.intervals import Intervals, Plan
from fastevals.show.report.values import OverValues

__all__ = ["Block", "Model", "Report", "Roles"]


@dataclass(frozen=True, slots=True)
class Roles:
    """Which column is what.

    Attributes
    ----------
    label : str
        The true class.
    scores : tuple of str
        A model each.
    weight, by, group : str, optional
        Row weights; the column whose values make the blocks; that of which rows a bootstrap draws together.
    """

    label: str
    scores: tuple[str, ...]
    weight: str | None = None
    by: str | None = None
    group: str | None = None

    def shown(self) -> dict[str, str]:
        """Give each column as messages call it: the option and the name; raise if one has two roles."""
        given = [("--label", self.label), *(("--score", score) for score in self.scores)]
        others = (("--weight", self.weight), ("--by", self.by), ("--group", self.group))
        given += [(option, name) for option, name in others if name is not None]
        shown: dict[str, str] = {}
        for option, name in given:
            check_one_role(shown, option, name)
        return shown

    @property
    def numeric(self) -> tuple[str, ...]:
        """Columns that must hold numbers."""
        return self.scores if self.weight is None else (*self.scores, self.weight)


@dataclass(frozen=True, slots=True)
class Model:
    """One model's numbers in a block.

    Attributes
    ----------
    name : str
        Column of its scores.
    threshold : float
        Rows with ``score >= threshold`` are predicted positive; NaN where no threshold is best.
    threshold_shown : str
        The threshold with as few digits, from 6 up, as predict the same rows.
    cells : Cells or None
        Counts (or weights) there.
    metrics : dict of str to float
        By name, as in the registry; NaN where undefined.
    holds, operating_range : Interval or None
        Where the threshold is that of least cost: the priors for which it stays that, and those for which the model is
        cheaper than predicting all or none.
    counts : ThresholdCounts or None
        What pictures are drawn from, where it was asked for.
    """

    name: str
    threshold: float
    threshold_shown: str
    cells: Cells | None
    metrics: dict[str, float]
    holds: Interval | None = None
    operating_range: Interval | None = None
    counts: ThresholdCounts | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Block:
    """Rows that share a value of the --by column, or all.

    Attributes
    ----------
    value : int, float, bool, str or None
        The value; None for all rows.
    n_samples, n_positives, n_negatives : int
        Rows (of weight above zero).
    total_weight : float or None
        Their weight.
    positive_share : float
        Share of positives, by weight.
    models : tuple of Model
        In the order given.
    best : dict of str to tuple of str
        By metric, the models with the best value.
    intervals : Intervals or None
        Of what tables show, unless none are wanted.
    """

    value: Any
    n_samples: int
    n_positives: int
    n_negatives: int
    total_weight: float | None
    positive_share: float
    models: tuple[Model, ...]
    best: dict[str, tuple[str, ...]]
    intervals: Intervals | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """All of it.

    Attributes
    ----------
    roles : Roles
        The columns.
    pos_label : int, float, bool or str
        The positive class.
    best : str or None
        The metric by which each model's threshold is chosen in each block; None where `threshold` is given.
    threshold : float or None
        The threshold of all.
    costs : dict of str to float, or None
        ``cost_fp`` and ``cost_fn``, where given or used, and ``prior`` where given.
    n_weightless : int
        Rows of weight zero, left out.
    blocks : tuple of Block
        By ascending value; none where there are too many.
    plan : Plan or None
        How their intervals were made; None where none are wanted.
    over : OverValues or None
        What there is over the values of the --by column, where it has two or more.
    """

    roles: Roles
    pos_label: Any
    best: str | None
    threshold: float | None
    costs: dict[str, float] | None
    n_weightless: int
    blocks: tuple[Block, ...]
    plan: Plan | None = None
    over: OverValues | None = field(default=None, compare=False)

    def to_text(self, data: str) -> str:
        """Give the report as text to read; `data` says where the columns are from."""
        from fastevals.show.report.tables import to_text  # which is made of these parts

        return to_text(self, data)

    def to_json(self, data: str) -> str:
        """Give the report as strict JSON; `data` says where the columns are from."""
        from fastevals.show.report.json_values import to_json

        return to_json(self, data)
