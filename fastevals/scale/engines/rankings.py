"""Rankings of frames: counted in score ranges fitted to a sample, or exact."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._distinct import sorted_union
from fastevals._validation.labels import Classes
from fastevals.measure.ranking.ranking import Ranking
from fastevals.reading.rows import Rows, joined_checksums, named_classes
from fastevals.reading.sources import RowRules
from fastevals.scale.cells import ScoreCells
from fastevals.scale.certified import CertifiedRanking
from fastevals.scale.engines.frame import Frame
from fastevals.scale.exact.atoms import HUNDREDTHS, AtomCounts, Keys, atoms_beside
from fastevals.scale.exact.ranking import ExactRanking
from fastevals.scale.scores import Counting, ScoresSummary, atoms_by_model, fitted_grids
from fastevals.scale.summary import SAMPLED_ROWS
from fastevals.scale.tasks import (
    MOST_ANSWERS,
    OPENED,
    OTHER_ROWS,
    CountedNegatives,
    CountNegatives,
    CountRanges,
    CountScores,
    Gathered,
    GatherPositives,
    PositiveScores,
    RankingColumns,
    SweepRanges,
    Where,
    changed,
    rows_of,
)

MOST_BROADCAST = 1 << 22  # most scores of positives to send to every worker, where counting takes 100 bytes per score
RANGE_ROWS = 1 << 21  # rows per range of scores


class FrameSample(NamedTuple):
    """Information about a frame's rows from a sample.

    Attributes
    ----------
    frame : Frame
    columns : RankingColumns
        The requested columns, with the labels that were found.
    n_values : int
        Number of values of the column that divides the rows.
    atoms : dict of str to ScoreCells
        Distinct scores by model.
    is_all : bool
        Whether the sample has all rows.
    """

    frame: Frame
    columns: RankingColumns
    n_values: int
    atoms: dict[str, ScoreCells]
    is_all: bool

    @classmethod
    def of(cls, frame: Frame, columns: RankingColumns) -> FrameSample:
        """Sample the rows of a frame; invalid rows are skipped here, since workers report them later."""
        wanted = replace(columns, weight=None, rules=RowRules("drop", "drop"))
        batches, is_all = frame.sample(wanted.names, SAMPLED_ROWS)
        reader = wanted.reader("the sample", iter(batches))
        parts: list[Rows] = []
        with contextlib.suppress(ValueError):
            parts += rows_of(reader)
        columns = replace(columns, labels=reader.labels)
        n_values = len({value for part in parts for value, _ in part.by_segment(reader.segments)})
        return cls(frame, columns, n_values, atoms_by_model(reader, parts) if parts else {}, is_all)


def count_scores(
    sample: FrameSample, cells: int, thresholds: NDArray[np.uint64], with_probabilities: bool = False
) -> ScoresSummary:
    """Count scores in ranges fitted to the sample, or each distinct score if the sample has all rows and few scores."""
    frame, columns = sample.frame, sample.columns
    weight = frame.largest_weight(None if columns.are_copies else columns.weight, columns.rules)
    many = {name: atoms for name, atoms in sample.atoms.items() if not sample.is_all or atoms.low.size > cells}
    grids = fitted_grids(many, cells, thresholds)
    counting = Counting(cells, thresholds, grids, weight, with_probabilities, may_move=not frame.samples_rows)
    most = max(MOST_ANSWERS // (max(sample.n_values, 1) * len(columns.scores)), OPENED)
    summary: ScoresSummary = frame.do(CountScores(columns, counting, most))
    if not summary.n_samples:
        raise frame.no_rows(columns.weight)
    summary.share_labels()
    return summary


def exact_rankings(
    frame: Frame, columns: RankingColumns, thresholds: NDArray[np.uint64]
) -> dict[Any, dict[str, Ranking | CertifiedRanking]]:
    """Return exact rankings by value and model: from counts at and between positive scores, or range by range."""
    answer: Gathered = frame.do(GatherPositives(columns, MOST_BROADCAST))
    gathered, labels, are_too_many, checksums = answer
    if not gathered:
        raise frame.no_rows(columns.weight)
    classes = named_classes(labels)
    columns = replace(columns, labels=labels)
    if are_too_many:
        if columns.by is not None:
            raise ValueError(f"by with exact=True takes at most {MOST_BROADCAST} distinct scores of positives in all")
        return {
            None: {
                name: _ranking_of_ranges(frame, columns, name, gathered[None, name], checksum, classes, thresholds)
                for name, checksum in zip(columns.scores, checksums, strict=True)
            }
        }
    atoms = {
        where: AtomCounts.of_positives([each.keys], [each.units], atoms_beside(thresholds, each.highest), large=True)
        for where, each in gathered.items()
    }
    counting = CountNegatives(columns, {where: each.keys for where, each in atoms.items()})
    counted: CountedNegatives = frame.do(counting)
    found: dict[Any, dict[str, Ranking | CertifiedRanking]] = {}
    for where, negatives in zip(atoms, counted.counts, strict=True):
        each, known = atoms[where], gathered[where]
        whole = AtomCounts(each.keys, each.positives, *negatives)
        _check_same(frame, whole.totals, known.totals, counted.checksums == checksums)
        value, name = where
        recount = partial(_recount, frame, columns, where, [*atoms], checksums)
        found.setdefault(value, {})[name] = ExactRanking(whole, known.rows, classes, recount, columns.weighs_rows)
    return found


def _recount(
    frame: Frame, columns: RankingColumns, where: Where, others: list[Where], checksums: list[int], keys: Keys
) -> AtomCounts:
    """Count the negatives of a value and model at and between the atoms with the ascending `keys`, in one more pass."""
    none = keys[:0]
    counted: CountedNegatives = frame.do(CountNegatives(columns, dict.fromkeys(others, none) | {where: keys}))
    if counted.checksums != checksums:
        raise changed(frame.title, OTHER_ROWS)
    at, between, least = counted.counts[others.index(where)]
    between[[0, -1]] = 0
    return AtomCounts(keys, np.zeros(keys.size, np.int64), at, between, least)


def _check_same(frame: Frame, now: tuple[int, int], before: tuple[int, int], are_same: bool) -> None:
    """Raise if the numbers of rows (`now`, `before`) or the checksums (`are_same`) changed between two passes."""
    if now != before:
        raise changed(
            frame.title, f"it had {sum(before)} rows, {before[0]} positive, and then {sum(now)}, {now[0]} positive"
        )
    if not are_same:
        raise changed(frame.title, OTHER_ROWS)


def _ranking_of_ranges(
    frame: Frame, columns: RankingColumns, score: str, known: PositiveScores, checksum: int, classes: Classes,
    thresholds: NDArray[np.uint64],
) -> CertifiedRanking:  # fmt: skip
    """Return the exact ranking of a score: sort the rows into ranges of scores, and sum up range by range."""
    columns = replace(columns, scores=(score,))
    n_ranges = max(-(-sum(known.totals) // RANGE_ROWS), 2)
    with frame.by_range(score, n_ranges, columns.names) as ranged:
        ranges = sorted(ranged.do(CountRanges(columns)), reverse=True)
        above, tp, fp = {}, 0, 0
        for each in ranges:
            above[each.low] = (tp, fp, each.checksum)
            tp, fp = tp + each.n_positives, fp + each.n_negatives
        if any(below.high >= each.low for each, below in pairwise(ranges)):
            raise ValueError(f"{frame.title} was not sorted into ranges of {score!r} that don't overlap")
        _check_same(frame, (tp, fp), known.totals, joined_checksums([[each.checksum] for each in ranges]) == [checksum])
        sweep = SweepRanges(columns, above, known, sorted_union(thresholds, HUNDREDTHS))
        curve = sweep.whole(ranged.do(sweep))
    return curve.ranking(known.highest, known.rows, classes, columns.weighs_rows)
