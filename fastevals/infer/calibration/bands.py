"""Bands of the reliability curve: where the true curve may be, and where the estimated one is under calibration."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._distinct import sorted_unique
from fastevals._execution import run
from fastevals._kernels.isotonic import draw_fits
from fastevals._options import check_choice, check_integer
from fastevals._random import seed_key
from fastevals.counts import ThresholdCounts, last_row
from fastevals.document.frames import Columns, make_columns
from fastevals.measure.isotonic import isotonic_blocks
from fastevals.measure.metric_specs import metric
from fastevals.measure.probability_metrics import Groups, require_probabilities, sum_bins
from fastevals.measure.ranking.ranking import ranking_of_rows
from fastevals.results import Frozen, check_confidence_level

Floats = NDArray[np.float64]
ReliabilityBandKind = Literal["confidence", "consistency"]
FEWEST_RESAMPLES, MOST_RESAMPLES = 100, 10_000
RESAMPLES_PER_TASK = 25
DRAWN_CELLS = 2048  # largest number of cells of equal mass in which labels are drawn
END_CELLS = 32  # near both ends of the probabilities, a cell has at most one row per so many rows beyond it
TESTED_CELLS = 100  # largest number of cells, all intervals of which have a Clopper-Pearson limit


def reliability_band(
    ranking: Any,
    *,
    kind: ReliabilityBandKind = "confidence",
    confidence_level: float = 0.95,
    n_resamples: int = 1000,
    rng: Any = None,
    progress: bool = False,
) -> ReliabilityBand:
    """Compute a band for the reliability curve: for the whole curve, not just for each probability.

    A confidence band contains the entire true curve (the share of positives given the probability). Where the diagonal
    leaves this band, the probabilities are miscalibrated. A consistency band is drawn around the diagonal: it contains
    the entire estimated curve if the model is calibrated. Where the curve leaves this band, calibration is rejected.

    Parameters
    ----------
    ranking : Ranking or ThresholdCounts
        The probabilities and labels of one model, without row weights.
    kind : {"confidence", "consistency"}
        The confidence band is valid for any number of rows, whatever the true curve, provided that it never decreases.
        It is conservative. The consistency band is narrower, but it must be simulated.
    confidence_level : float in (0, 1)
        Level for the whole curve.
    n_resamples : int
        Number of draws of all labels for a consistency band, from 100 to 10,000.
    rng : None, int, sequence of int, SeedSequence, BitGenerator or Generator
        The seed of the draws. The same seed gives the same bits at any number of threads.
    progress : bool
        Show a bar (needs tqdm) while labels are drawn.

    Returns
    -------
    ReliabilityBand
        The band, and the probabilities that it shows to be too low or too high.

    Raises
    ------
    ValueError
        If a score is not a probability, the ranking has row weights or ranges of scores, or an option is out of range.

    Notes
    -----
    The confidence band combines Clopper-Pearson limits for all intervals of adjacent probabilities (Bonferroni). At p,
    a curve that never decreases is at least its mean over any interval below p [1]_. With more than 100 distinct
    probabilities, the intervals are made of 100 cells of equal mass. The cells depend on the probabilities alone, so
    the level holds. Rows must be independent: there are no such bands for clusters.

    For the consistency band, labels are drawn with the predicted probabilities, and the isotonic fit is repeated [2]_.
    On the scale of the arcsine of the square root, the band has the same width everywhere, in units of the spread of
    the fits at each probability. With more than 2,048 distinct probabilities, labels are drawn in cells with 1 / 2,048
    of the rows each (fewer near both ends), and the band is compared with the fit in these cells.

    Drawing rows with replacement (the bootstrap) gives no valid band here: it is inconsistent for isotonic fits [3]_.

    References
    ----------
    .. [1] Dimitriadis, T., Duembgen, L., Henzi, A., Puke, M. and Ziegel, J. (2023), "Honest Calibration Assessment for
       Binary Outcome Predictions", Biometrika 110, 663-680, doi:10.1093/biomet/asac068.
    .. [2] Dimitriadis, T., Gneiting, T. and Jordan, A. I. (2021), "Stable Reliability Diagrams for Probabilistic
       Classifiers", PNAS 118 e2016191118, doi:10.1073/pnas.2016191118.
    .. [3] Sen, B., Banerjee, M. and Woodroofe, M. (2010), "Inconsistency of Bootstrap: The Grenander Estimator", Annals
       of Statistics 38, 1953-1977, doi:10.1214/09-AOS777.

    Examples
    --------
    >>> import fastevals
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> p = rng.beta(2, 3, 5000)
    >>> ranking = fastevals.Ranking(rng.random(5000) < p**1.5, p)
    >>> band = fastevals.reliability_band(ranking)
    >>> band
    ReliabilityBand(confidence, level=0.95)
    """
    check_choice("kind", kind, ReliabilityBandKind)
    level, alpha = check_confidence_level(confidence_level)
    n_resamples = check_integer("n_resamples", n_resamples, low=FEWEST_RESAMPLES, high=MOST_RESAMPLES)
    key = seed_key("rng", rng)
    counts = ranking_of_rows("ranking", ranking, {"brier_score": metric("brier_score")})[0].counts
    require_probabilities(counts)
    counts._require_each_score("a reliability band")
    if kind == "confidence":
        return _confidence_band(counts, level, alpha)
    return _consistency_band(counts, level, alpha, n_resamples, key, progress=progress)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ReliabilityBand(Frozen):
    """A band of the reliability curve; unpacks as ``x, low, high``.

    Attributes
    ----------
    x : ndarray of shape (n_points,)
        Probabilities, ascending. Where the band jumps, x is repeated: first with the edges to its left, then with those
        to its right.
    low, high : ndarray of shape (n_points,)
        Lower and upper edge of the band at each x, as calibrated probabilities; both ascending.
    too_low, too_high : ndarray of shape (n_ranges, 2)
        Ranges of probabilities, ascending, that are significantly too low and too high: adjacent probabilities (or
        cells) at which the diagonal leaves the confidence band, or the curve leaves the consistency band.
    kind : {"confidence", "consistency"}
        What the band contains: the true curve ("confidence"), or the estimated curve of a calibrated model
        ("consistency").
    curve : {"reliability"}
        The curve.
    method : {"clopper-pearson", "simulated"}
        How a band of this kind is computed.
    confidence_level : float
        Level for the whole curve.
    conclusion : str
        The verdict, as a sentence.

    Examples
    --------
    >>> import fastevals
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> p = rng.beta(2, 3, 5000)
    >>> band = fastevals.reliability_band(fastevals.Ranking(rng.random(5000) < p, p), kind="consistency", rng=0)
    >>> band.conclusion
    'The reliability curve stays within the 95 % consistency band: no significant miscalibration.'
    """

    x: Floats
    low: Floats
    high: Floats
    too_low: Floats
    too_high: Floats
    kind: ReliabilityBandKind
    confidence_level: float

    def __iter__(self) -> Iterator[Floats]:
        return iter((self.x, self.low, self.high))

    def __repr__(self) -> str:
        return f"ReliabilityBand({self.kind}, level={self.confidence_level:g})"

    def _columns(self) -> Columns:
        return make_columns({"x": self.x, "low": self.low, "high": self.high})

    @property
    def curve(self) -> Literal["reliability"]:
        """The curve."""
        return "reliability"

    @property
    def method(self) -> Literal["clopper-pearson", "simulated"]:
        """How a band of this kind is computed."""
        return "clopper-pearson" if self.kind == "confidence" else "simulated"

    @property
    def conclusion(self) -> str:
        """The verdict, as a sentence."""
        band = f"the {100 * self.confidence_level:.6g} % {self.kind} band"
        said = [
            f"{_widest(ranges)} are too {name}"
            for name, ranges in (("low", self.too_low), ("high", self.too_high))
            if ranges.size
        ]
        if (self.low > self.high).any():
            return f"Higher probabilities go with fewer positives: no curve that never decreases lies within {band}."
        if said:
            leaves = "the diagonal leaves" if self.kind == "confidence" else "the reliability curve leaves"
            return f"Probabilities {'; those '.join(said)}: {leaves} {band}."
        if self.kind == "confidence":
            return f"T{band[1:]} contains the diagonal: no significant miscalibration."
        return f"The reliability curve stays within {band}: no significant miscalibration."


def _widest(ranges: Floats) -> str:
    """Return the widest range as text, and how many others there are."""
    low, high = (f"{each:.3g}" for each in ranges[np.argmax(np.diff(ranges, axis=1))].tolist())
    more = len(ranges) - 1
    widest = f"of {low}" if low == high else f"from {low} to {high}"
    return widest + f" (and {more} more range{'s' * (more > 1)})" * bool(more)


class ForecastCells(NamedTuple):
    """Rows in cells of adjacent probabilities, ascending.

    Attributes
    ----------
    low, high, mean : ndarray of shape (n_cells,)
        Lowest, highest and mean probability in each cell.
    positives, rows : ndarray of int of shape (n_cells,)
        Positives, and all rows.
    """

    low: Floats
    high: Floats
    mean: Floats
    positives: NDArray[np.int64]
    rows: NDArray[np.int64]

    @classmethod
    def cut(cls, counts: ThresholdCounts, places: NDArray[np.int64]) -> ForecastCells:
        """Cut rows, ordered by probability, at places; if a place is within a tie, the tie is a cell of its own."""
        last = counts.thresholds.size - 1
        before = last_row(last + 1, places.shape, lambda rows: counts.tps[rows] + counts.fps[rows] <= places)
        inside = before[counts.tps[before] + counts.fps[before] < places]
        starts = sorted_unique(np.concatenate(([0], before, inside + 1, [last])))

        def terms(groups: Groups, _: Any) -> list[Floats]:
            weight = groups.positives + groups.negatives
            return [weight * groups.p, weight]

        sums, weights = sum_bins(counts, starts, terms)
        tps, fps = counts.tps[starts].astype(np.int64), counts.fps[starts].astype(np.int64)
        low, high = (counts.thresholds[each].astype(np.float64) for each in (starts[1:], starts[:-1] + 1))
        mean = np.clip(sums / weights, low, high)
        # From descending to ascending probabilities.
        return cls(low[::-1], high[::-1], mean[::-1].copy(), np.diff(tps)[::-1], np.diff(tps + fps)[::-1].copy())

    @classmethod
    def of_equal_mass(cls, counts: ThresholdCounts, most: int, *, fine_ends: bool = False) -> ForecastCells:
        """Make a cell of each probability; if there are more than `most`, make about `most` cells of equal mass."""
        n = int(counts.n_pos + counts.n_neg)
        if counts.thresholds.size - 1 <= most:
            return cls.cut(counts, (counts.tps + counts.fps).astype(np.int64))
        if not fine_ends:
            return cls.cut(counts, (np.arange(1, most) * (n / most)).astype(np.int64))
        places = [0]
        while 2 * places[-1] < n:
            places.append(places[-1] + max(1, min(places[-1] // END_CELLS, n // most)))
        low = np.array(places[:-1])
        return cls.cut(counts, np.concatenate((low, n - low)))

    def fitted(self) -> Floats:
        """Return the isotonic fit in each cell."""
        tps, fps = (np.append(0, np.cumsum(each[::-1])) for each in (self.positives, self.rows - self.positives))
        thresholds = np.append(np.inf, self.mean[::-1])
        blocks = isotonic_blocks(ThresholdCounts._unchecked(thresholds, tps, fps))
        return np.repeat(blocks.share, np.diff(blocks.rows))[::-1]


# The confidence band --------------------------------------------------------------------------------------------------


def _confidence_band(counts: ThresholdCounts, level: float, alpha: float) -> ReliabilityBand:
    cells = ForecastCells.of_equal_mass(counts, TESTED_CELLS)
    low, high = clopper_pearson_limits(cells.positives, cells.rows, alpha)
    # From the end of a cell on, the curve is at least `low`; up to the start of a cell, it is at most `high`.
    jumps = sorted_unique(np.concatenate(([0.0], cells.low, cells.high, [1.0])))
    at_least = np.append(0.0, low)[np.searchsorted(cells.high, jumps[:-1], side="right")]
    at_most = np.append(high, 1.0)[np.searchsorted(cells.low, jumps[1:], side="left")]
    x, floor, ceiling = np.repeat(jumps, 2)[1:-1], np.repeat(at_least, 2), np.repeat(at_most, 2)
    too_low = _ranges(low > cells.high, cells.high, cells.high)
    too_high = _ranges(high < cells.low, cells.low, cells.low)
    return ReliabilityBand(x, floor, ceiling, too_low, too_high, "confidence", level)


def clopper_pearson_limits(positives: NDArray[Any], rows: NDArray[Any], alpha: float) -> tuple[Floats, Floats]:
    """Return simultaneous limits of a curve that never decreases, at the end and at the start of each cell.

    Each of the n (n + 1) / 2 intervals of cells has a lower and an upper limit at level alpha / (n (n + 1)). The result
    has the highest lower limit of the intervals up to each cell, and the lowest upper limit of the intervals from each
    cell on.
    """
    from scipy.special import betaincinv

    n = rows.size
    hits, all_rows = (np.append(0, np.cumsum(each)).astype(np.float64) for each in (positives, rows))
    first, last = np.triu_indices(n)
    yes, total = hits[last + 1] - hits[first], all_rows[last + 1] - all_rows[first]
    low, high = np.zeros(n), np.ones(n)
    for ends, successes, limits in ((last, yes, low), (first, total - yes, high)):
        some = successes > 0
        limit = np.zeros(ends.size)
        limit[some] = betaincinv(successes[some], total[some] - successes[some] + 1, alpha / (n * (n + 1)))
        if limits is low:
            np.maximum.at(low, ends, limit)
        else:
            np.minimum.at(high, ends, 1 - limit)
    return np.maximum.accumulate(low), np.minimum.accumulate(high[::-1])[::-1]


def _ranges(off: NDArray[np.bool_], low: Floats, high: Floats) -> Floats:
    """Return, for each run of adjacent cells that are off, `low` of the first and `high` of the last."""
    edges = np.diff(np.concatenate(([False], off, [False])).astype(np.int8))
    return np.stack([low[edges[:-1] == 1], high[edges[1:] == -1]], axis=1)


# The consistency band -------------------------------------------------------------------------------------------------


def _consistency_band(
    counts: ThresholdCounts, level: float, alpha: float, n_resamples: int, key: np.uint64, *, progress: bool
) -> ReliabilityBand:
    cells = ForecastCells.of_equal_mass(counts, DRAWN_CELLS, fine_ends=True)
    low, high = simultaneous_edges(drawn_fits(cells, n_resamples, key, progress=progress), alpha)
    fitted = cells.fitted()
    too_low, too_high = (_ranges(off, cells.low, cells.high) for off in (fitted > high, fitted < low))
    x = np.stack([cells.low, cells.high], axis=1).ravel()
    return ReliabilityBand(x, np.repeat(low, 2), np.repeat(high, 2), too_low, too_high, "consistency", level)


def drawn_fits(cells: ForecastCells, n_resamples: int, key: np.uint64, *, progress: bool = False) -> Floats:
    """Return isotonic fits to labels drawn with the cells' probabilities, of shape (n_resamples, n_cells)."""
    fits = np.empty((n_resamples, cells.rows.size))

    def draw(start: int, space: tuple[Floats, NDArray[np.int64]]) -> None:
        draw_fits(cells.rows, cells.mean, key, start, *space, fits[start : start + RESAMPLES_PER_TASK])

    starts = range(0, n_resamples, RESAMPLES_PER_TASK)
    n = cells.rows.size
    run(
        draw, starts, workspace=lambda: (np.empty((n, 2)), np.empty(n, dtype=np.int64)), progress=progress,
        compiles="draw_fits",
    )  # fmt: skip
    return fits


def simultaneous_edges(fits: Floats, alpha: float) -> tuple[Floats, Floats]:
    """Return a band that contains the share 1 - alpha of fits entirely.

    On the scale of the arcsine of the root, each side is a multiple of the fits' spread on that side.
    """
    fits = np.arcsin(np.sqrt(fits))
    centre, spread = fits.mean(axis=0), fits.std(axis=0)
    outer = np.quantile(fits, [alpha / 2, 1 - alpha / 2], axis=0)
    edges = []
    for side, limit in ((-1.0, outer[0]), (1.0, outer[1])):
        unit = np.maximum(side * (limit - centre), spread)
        largest = (side * (fits - centre) / np.where(unit > 0, unit, math.inf)).max(axis=1)
        edge = centre + side * np.quantile(largest, 1 - alpha / 2) * unit
        edges.append(np.sin(np.clip(edge, 0.0, math.pi / 2)) ** 2)
    return np.maximum.accumulate(edges[0]), np.minimum.accumulate(edges[1][::-1])[::-1]
