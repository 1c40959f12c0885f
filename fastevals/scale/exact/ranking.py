"""Exact rankings of rows in files: areas are known, and points are made when they are needed."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fastevals._options import check_exactly_one, named_by_base
from fastevals._validation.labels import Classes
from fastevals.counting.ordering import FLOATS
from fastevals.counts import ThresholdCounts
from fastevals.infer.delong.placements import PlacementMoments, sum_placements
from fastevals.measure.metric_specs import MetricSpec
from fastevals.measure.ranking.base import BaseRanking, Doubt
from fastevals.measure.ranking.ranking import Ranking
from fastevals.measure.ranking.squares import SquaredWeights
from fastevals.measure.registry import METRICS
from fastevals.measure.thresholds import QUOTA, checked_limit
from fastevals.results import OperatingPoint, full_name
from fastevals.scale.exact.atoms import AtomCounts, Keys, joined_points
from fastevals.scale.squares import RowSums, squared_points

RANGES_PER_GAP = 1 << 18  # ranges into which a gap is divided if the threshold is the score of one of its negatives


@named_by_base
class AtomPoints(ThresholdCounts):
    """Counts at atoms, and at the lowest negative between two atoms; scores of other negatives are unknown."""

    __slots__ = ("atoms",)

    atoms: AtomCounts

    @classmethod
    def of(cls, atoms: AtomCounts) -> ThresholdCounts:
        """Return the points of all atoms, as plain counts if at most one negative lies between any two atoms."""
        points = joined_points(list(atoms.points(0, 0)))
        if (atoms.between <= 1).all():
            return points
        return _atom_points(points.thresholds, points.tps, points.fps, atoms)

    def __reduce__(self) -> tuple[Any, ...]:
        return _atom_points, (self.thresholds, self.tps, self.fps, self.atoms)

    def in_weight(self, unit: float = 1.0) -> Self:
        """Return sums of weights, as floats, instead of numbers of units."""
        return _atom_points(self.thresholds, self.tps * unit, self.fps * unit, self.atoms)  # type: ignore[return-value]

    def take(self, rows: NDArray[np.intp]) -> ThresholdCounts:  # type: ignore[override]
        """Return some of the points as plain counts."""
        return ThresholdCounts._unchecked(self.thresholds[rows], self.tps[rows], self.fps[rows])

    def rows_at_least(self, thresholds: NDArray[Any]) -> NDArray[np.intp]:
        """Return the row with the counts at each threshold; raise if counts there are unknown."""
        rows, keys = super().rows_at_least(thresholds), FLOATS.encode(thresholds.astype(np.float64).ravel() + 0.0)
        gaps = np.searchsorted(self.atoms.keys, keys)
        is_atom = np.searchsorted(self.atoms.keys, keys, side="right") > gaps
        doubtful = ~is_atom & (self.atoms.between[gaps] > 1) & (keys > self.atoms.least[gaps])
        if doubtful.any():
            place = int(np.argmax(doubtful))
            row = int(rows.ravel()[place])
            raise ValueError(
                f"counts at the threshold {thresholds.ravel()[place]:.17g} are not known: "
                f"{self.atoms.between[gaps[place]]:,} negatives lie between the nearest known ones, "
                f"{self.thresholds[row + 1]:.17g} and {self.thresholds[row]:.17g}. Pass it beforehand (at=)"
            )
        return rows

    @property
    def _has_each_score(self) -> bool:
        """Whether each distinct score of the rows is a threshold: false, as scores of negatives are unknown."""
        return False


def _atom_points(thresholds: Any, tps: Any, fps: Any, atoms: AtomCounts) -> AtomPoints:
    counts = AtomPoints._unchecked(thresholds, tps, fps)
    object.__setattr__(counts, "atoms", atoms)
    return counts


@named_by_base
class ExactRanking(Ranking):
    """A ranking of rows in files: areas are known; points are made when needed, at 48 bytes per positive.

    Negatives are counted at and between the scores of positives, requested thresholds, and hundredths from 0 to 1. So
    all curves, areas and best values are exact, and so are counts at these scores. If the threshold of a break-even
    point, an equal error rate or a quota lies between two of these scores, further scans find it. Counts at other
    thresholds, metrics of probabilities, and the best threshold by a function raise an error, unless at most one
    negative lies between any two of these scores, so that each row's score is known.

    Parameters
    ----------
    atoms : AtomCounts
    rows : tuple of int
        Numbers of positives and negatives.
    classes : Classes
    recount : callable
        Called with the keys of atoms; returns the counts of negatives at and between these atoms, without negatives
        below the first atom or above the last. Copies and pickled rankings lack this function.
    is_weighted : bool
        Whether the counts are sums of row weights.
    sums : RowSums, optional
        Numbers of rows and sums of cubed weights, if atoms have squares.
    """

    __slots__ = ("_atoms", "_doubled_u", "_is_weighted", "_recount", "_sums", "_totals")

    def __init__(
        self,
        atoms: AtomCounts,
        rows: tuple[int, int],
        classes: Classes,
        recount: Callable[[Keys], AtomCounts] | None = None,
        is_weighted: bool = False,
        sums: RowSums | None = None,
    ) -> None:
        self._atoms, self._recount, self._is_weighted, self._sums = atoms, recount, is_weighted, sums
        self._totals = atoms.totals
        self._doubled_u: int | None = None
        self._set_parts(None, *rows, classes.pos_label, classes.labels[0])

    def __reduce__(self) -> tuple[Any, ...]:
        counted = self._atoms, (self.n_positives, self.n_negatives)
        return ExactRanking, (*counted, self._classes(), None, self._is_weighted, self._sums)

    @property
    def counts(self) -> ThresholdCounts:
        """Counts at each distinct score of a positive, at other atoms, and at the lowest negative between two atoms."""
        if self._counts is None:
            counts = AtomPoints.of(self._atoms)
            self._counts = counts.in_weight() if self._is_weighted else counts
        return self._counts

    @property
    def is_weighted(self) -> bool:
        """Whether counts are sums of weights."""
        return self._is_weighted

    @property
    def _squares(self) -> SquaredWeights | None:
        """Sums of squared weights at the points."""
        if self._atoms.squares is None or self._sums is None:
            return None
        return squared_points(self._atoms.squares.at_thresholds(self.counts.thresholds), self._sums)

    def _counts_and_doubts(self, specs: Mapping[str, Any]) -> tuple[BaseRanking, dict[str, Doubt]]:
        """Find the threshold of each quota; return a ranking of the points. Raise if a metric needs all scores."""
        for label, spec in specs.items():
            if not isinstance(spec, MetricSpec) or METRICS[spec.name].of == "probabilities":
                self.counts._require_each_score(label)
            elif QUOTA in spec.options:
                self.threshold_for(n_predicted=spec.options[QUOTA])
        rows = self.n_positives, self.n_negatives
        return Ranking._of_classes(self.counts, self._classes(), rows, self._squares), {}

    @property
    def _moments(self) -> Any:
        if self._is_weighted:
            return None
        sums = [sum_placements(each.tps, each.fps, *self._totals) for each in self._atoms.points(0, 0)]
        total = [sum(each) for each in zip((0, 0, 0), *sums, strict=True)]
        return PlacementMoments.from_placements(*self._totals, (total[0], total[1], total[2]))

    def _doubled_u_and_pairs(self) -> tuple[int, int] | None:
        """Return twice the Mann-Whitney U, and the number of pairs of a positive and a negative, as exact integers."""
        n_pos, n_neg = self._totals
        if not n_pos or not n_neg:
            return None
        if self._doubled_u is None:
            self._doubled_u = self._atoms.doubled_u()
        return self._doubled_u, n_pos * n_neg

    def best_threshold(
        self, metric: str | Callable[..., Any], *, maximize: bool | None = None, **costs: Any
    ) -> OperatingPoint:
        """Find the best threshold, like `Ranking.best_threshold`."""
        if callable(metric):
            self.counts._require_each_score("best_threshold by a function")
        elif maximize is False and full_name(metric) == "matthews":  # undefined if all rows are predicted positive
            self._tell_apart(lambda tp, fp: tp + fp >= sum(self._totals))
        return super().best_threshold(metric, maximize=maximize, **costs)

    def break_even_point(self) -> OperatingPoint:
        """Return the break-even point, like `Ranking.break_even_point`."""
        self._tell_apart(lambda tp, fp: tp + fp >= self._totals[0])
        return super().break_even_point()

    def equal_error_rate(self, *, on_hull: bool = False) -> OperatingPoint:
        """Return the equal error rate, like `Ranking.equal_error_rate`."""
        n_pos, n_neg = self._totals
        if not on_hull:  # the hull's vertices are at scores of positives
            self._tell_apart(lambda tp, fp: tp * n_neg + fp * n_pos >= n_pos * n_neg)
        return super().equal_error_rate(on_hull=on_hull)

    def threshold_for(self, *, n_predicted: float | None = None, **others: float | None) -> OperatingPoint:
        """Find the best threshold under a constraint, like `Ranking.threshold_for`."""
        name, limit = check_exactly_one({**others, QUOTA: n_predicted})
        if name == QUOTA:
            most = checked_limit(name, limit)
            self._tell_apart(lambda tp, fp: tp + fp > most)
        return super().threshold_for(**{name: limit})

    def _tell_apart(self, is_reached: Callable[[int, int], bool]) -> None:
        """Count negatives in finer ranges until it is known at which score the counts of positives meet a condition.

        `is_reached`, called with the numbers of true and false positives, returns whether they meet the condition. If
        it is met at one threshold, it must be met at all lower thresholds.
        """
        while True:
            counts, atoms = self.counts, self._atoms

            def is_reached_at(row: int, counts: ThresholdCounts = counts) -> bool:
                return is_reached(int(counts.tps[row]), int(counts.fps[row]))

            row = bisect_left(range(counts.thresholds.size), True, key=is_reached_at)
            key = FLOATS.encode(counts.thresholds[row : row + 1])
            gap = int(np.searchsorted(atoms.keys, key)[0]) if key.size else atoms.keys.size
            if gap == atoms.keys.size or atoms.keys[gap] == key or atoms.between[gap] <= 1:
                return
            if self._recount is None:
                raise ValueError(
                    f"the threshold is the score of one of {atoms.between[gap]:,} negatives, which a copy can't count: "
                    "ask the original ranking first, or rank the rows again"
                )
            low, high = int(atoms.least[gap]), int(atoms.keys[gap]) - 1
            step = -(-(high - low + 1) // RANGES_PER_GAP)
            finer = np.append(np.arange(low, high, step, dtype=np.uint64), np.uint64(high))
            self._atoms, self._counts = atoms.refined(gap, self._recount(finer)), None
