"""The sums and points that a ranking's metrics need, collected without keeping all points."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cached_property
from operator import add
from typing import Any

import numpy as np

from fastevals._kernels import areas
from fastevals._validation.arrays import power_of_two
from fastevals._validation.labels import Classes
from fastevals.counting.ordering import FLOATS
from fastevals.counting.sweeps import sum_steps
from fastevals.counts import ThresholdCounts
from fastevals.infer.delong.placements import PlacementMoments, sum_placements
from fastevals.measure.ranking_metrics import hull
from fastevals.measure.registry import AREAS, OF_PAIRS, SCORE_METRICS
from fastevals.scale.cells import ScoreCells
from fastevals.scale.certified import CertifiedRanking
from fastevals.scale.exact.atoms import NO_KEYS, AtomCounts, Keys, joined_points
from fastevals.scale.squares import RowSums

MOST_POINTS = 1 << 22  # atoms: 200 MB of points
POINTS_PER_CLASS = 50_000  # points kept between the others, per class


class ExactCurve:
    """The sums and points that a ranking's metrics need, collected block by block from the highest score down.

    Areas are sums over all points. Everything else is read at a vertex of the hull, at the best value of a metric, or
    where the curve crosses a line. These points are kept, and also some points between them, for pictures.

    Parameters
    ----------
    n_pos, n_neg : int
        Total numbers of positives and negatives, or their units of weight.
    keep : callable, optional
        Called with each block's counts, followed by a last row with the counts of all rows; returns the index of one
        more row to keep, or None.
    at : ndarray of uint64
        Keys of thresholds at which counts are kept.
    above : tuple of int
        Numbers of positives and negatives that score higher than all rows to be added.
    """

    def __init__(
        self,
        n_pos: int,
        n_neg: int,
        keep: Callable[[ThresholdCounts], int | None] | None = None,
        at: Keys = NO_KEYS,
        above: tuple[int, int] = (0, 0),
    ) -> None:
        self.n_pos, self.n_neg, self.keep = n_pos, n_neg, keep
        self._at = FLOATS.decode(at)
        self._placements = (0, 0, 0)
        self.scales = {"fp": power_of_two(n_neg), "tp": power_of_two(n_pos)}
        self.sums = dict.fromkeys(("roc_auc", *AREAS), Fraction(0))
        self._kept: list[ThresholdCounts] = []
        self._squares: list[ThresholdCounts] = []  # squared weights at the same thresholds, if atoms have them
        self._last = above

    def append(self, other: ExactCurve) -> None:
        """Add the results for the next lower range of scores of the same data."""
        self.sums = {name: total + other.sums[name] for name, total in self.sums.items()}
        self._placements = tuple(map(add, self._placements, other._placements))
        self._kept += other._kept
        self._squares += other._squares
        self._last = other._last

    def add(self, atoms: AtomCounts) -> None:
        """Add the points of the next lower range."""
        above = self._squares[-1] if self._squares else joined_points([])
        for piece in atoms.points(*self._last):
            self.sums["roc_auc"] += sum_steps(areas.roc_area, piece, self.scales["fp"], self.scales["tp"])
            for name, area in AREAS.items():
                self.sums[name] += sum_steps(area.kernel, piece, self.scales["tp"])
            placed = sum_placements(piece.tps, piece.fps, self.n_pos, self.n_neg)
            self._placements = tuple(map(add, self._placements, placed))
            rows = {0, piece.tps.size - 1, *self._of_hull(piece), *self._where_crossed(piece), *self._regular(piece)}
            rows.update(piece.rows_at_least(self._at).tolist())
            best = None if self.keep is None else self.keep(self._with_totals(piece))
            rows.update(() if best is None else (min(best, piece.tps.size - 1),))
            self._kept.append(piece.take(np.array(sorted(rows))))
            self._last = int(piece.tps[-1]), int(piece.fps[-1])
            if atoms.squares is not None:
                found = atoms.squares.at_thresholds(self._kept[-1].thresholds)
                tps, fps = found.tps + above.n_pos, found.fps + above.n_neg
                self._squares.append(ThresholdCounts._unchecked(found.thresholds, tps, fps))

    def _with_totals(self, piece: ThresholdCounts) -> ThresholdCounts:
        """Return counts with a last entry that counts all rows; the threshold of this entry does not matter."""
        last = np.nextafter(piece.thresholds[-1], -np.inf)
        return ThresholdCounts._unchecked(
            np.append(piece.thresholds, last), np.append(piece.tps, self.n_pos), np.append(piece.fps, self.n_neg)
        )

    def _of_hull(self, piece: ThresholdCounts) -> Iterator[int]:
        """Yield the rows on the upper hull, and the rows around the points farthest below and above the diagonal."""
        vertices = hull(piece)
        yield from np.searchsorted(-piece.thresholds, -vertices.thresholds).tolist()
        above = piece.tps * float(self.n_neg) - piece.fps * float(self.n_pos)
        for extreme in (above.argmin(), above.argmax()):
            yield from range(max(int(extreme) - 1, 0), min(int(extreme) + 2, above.size))

    def _where_crossed(self, piece: ThresholdCounts) -> Iterator[int]:
        """Yield the rows around the points where precision equals recall, and where FPR equals FNR."""
        predicted = piece.tps + piece.fps
        rates = piece.fps * float(self.n_pos) + piece.tps * float(self.n_neg)
        for values, goal in ((predicted, self.n_pos), (rates, float(self.n_pos) * self.n_neg)):
            row = int(np.searchsorted(values, goal))
            if 0 < row < values.size or (row == 0 and values[0] == goal):
                yield from range(max(row - 3, 0), min(row + 4, values.size))

    def _regular(self, piece: ThresholdCounts) -> Iterator[int]:
        """Yield rows of `piece` that are about 1 / `POINTS_PER_CLASS` of a class apart."""
        place = piece.tps / max(self.n_pos, 1) + piece.fps / max(self.n_neg, 1)
        steps = np.floor(place * POINTS_PER_CLASS).astype(np.int64)
        yield from (np.flatnonzero(steps[1:] != steps[:-1]) + 1).tolist()

    def all_points(self, atoms: AtomCounts) -> ThresholdCounts | None:
        """Return all points if the atoms are complete; None if they are not, or if there would be too many points."""
        if atoms.keys.size > MOST_POINTS or atoms.totals != (self.n_pos, self.n_neg):
            return None
        return joined_points(list(atoms.points(0, 0)))

    @cached_property
    def counts(self) -> ThresholdCounts:
        """The points that are kept."""
        return joined_points(self._kept)

    @cached_property
    def squares(self) -> ThresholdCounts | None:
        """Sums of squared weights at the kept points; None if they are not known."""
        return joined_points(self._squares) if self._squares else None

    def cells(self, highest: int) -> ScoreCells:
        """Return one cell per interval between kept points and thresholds."""
        points, at = self.counts, self._at[::-1]
        rows = points.rows_at_least(at)
        new = (points.thresholds[rows] > at) & (at < FLOATS.decode(np.array([highest], np.uint64)))
        rows, at = rows[new], at[new]

        def cut(points: ThresholdCounts | None) -> Any:
            if points is None:
                return None
            both = (np.insert(each, rows + 1, each[rows]) for each in (points.tps, points.fps))
            return ThresholdCounts._unchecked(np.insert(points.thresholds, rows + 1, at), *both)

        return ScoreCells.between(cut(points), highest, cut(self.squares))

    def ranking(
        self, highest: int, rows: tuple[int, int], classes: Classes, weighs_rows: bool, sums: RowSums | None = None
    ) -> CertifiedRanking:
        """Return a `CertifiedRanking` from the kept points; `rows` has the numbers of positive and negative rows."""
        unit, moments = (1.0, None) if weighs_rows else (None, self.moments)
        cells = self.cells(highest)
        return CertifiedRanking(cells, classes, rows=rows, unit=unit, known=self.metrics, moments=moments, sums=sums)

    @cached_property
    def moments(self) -> PlacementMoments:
        """DeLong's moments."""
        return PlacementMoments.from_placements(self.n_pos, self.n_neg, self._placements)

    @cached_property
    def metrics(self) -> dict[str, float]:
        """All metrics of rankings that the kept points and the areas determine exactly."""
        values = dict.fromkeys((*AREAS, *OF_PAIRS), math.nan)
        if self.n_pos:
            gained = Fraction(self.n_pos * self.scales["tp"])
            values |= {name: area.of_sum(self.sums[name] / gained) for name, area in AREAS.items()}
        if self.n_pos and self.n_neg:
            pairs = 2 * Fraction(self.n_neg * self.scales["fp"]) * Fraction(self.n_pos * self.scales["tp"])
            won = min(self.sums["roc_auc"], pairs)
            values |= {name: float(share(won, pairs) / pairs) for name, share in OF_PAIRS.items()}
        vertices = hull(self.counts)
        for metric in SCORE_METRICS.values():
            if metric.of == "ranking" and metric.name not in values:
                values[metric.name] = metric(vertices if metric.on_hull else self.counts)
        return values
