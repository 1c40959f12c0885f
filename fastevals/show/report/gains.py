"""The gain tables of a report's models, with --gain-table."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

from fastevals._options import UndefinedMetricWarning
from fastevals._text import LONGEST_NAME, printable, shorten_name
from fastevals.document.document import GAP, TEXT, Part, Sentence, Table
from fastevals.infer.gain_table import GainTable, gain_table
from fastevals.measure.ranking.ranking import Ranking
from fastevals.show.report.intervals import IntervalPlan, ScoredRows

DECILES = 10


def gains_of_rows(ranking: Ranking, rows: ScoredRows, model: str, plan: IntervalPlan | None) -> GainTable:
    """Return the gain table of a model's rows."""
    if rows.ranking is not None or (rows.groups is None and not rows.weighs_rows):
        return gains_of_counts(ranking, ranking.n_samples, plan)
    return _made(plan, rows.n_samples, rows.positive, rows.scores[model], groups=rows.groups, **rows.weight_options)


def gains_of_counts(ranking: Any, n_samples: int, plan: IntervalPlan | None) -> GainTable:
    """Return the gain table of a ranking or summary."""
    return _made(plan, n_samples, ranking)


def _made(plan: IntervalPlan | None, n_samples: int, *data: Any, **options: Any) -> GainTable:
    level = {} if plan is None else {"confidence_level": plan.confidence_level}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)  # the table has a dash
        return gain_table(*data, n_bins=min(DECILES, n_samples), **options, **level)  # type: ignore[no-any-return,call-overload]


def gain_parts(model: str, gains: GainTable) -> Iterator[Part]:
    """Yield a model's gain table, with its conclusion and caution."""
    name = shorten_name(printable(model), LONGEST_NAME)
    for part in gains._parts():
        if isinstance(part, Table):
            yield part._replace(title=f"Gain table of {name}", note=gains.conclusion, aligned="gain")
        elif isinstance(part, Sentence) and part.role == "verdict":
            yield from (GAP, Sentence(f"{name}: {gains.conclusion}", "", TEXT))
        elif isinstance(part, Sentence) and part.role == "caution":
            yield part._replace(text=f"{name}: {part.text}")
        else:
            yield part
