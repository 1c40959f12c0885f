"""Isotonic recalibration of probabilities, and the parts of proper scores that it defines (CORP).

The isotonic regression of labels on probabilities (pool adjacent violators, PAV) is the convex hull of the ROC curve
(Fawcett and Niculescu-Mizil 2007, doi:10.1007/s10994-007-5011-0): each edge of the hull is a block of pooled
probabilities, and its slope follows from the block's share of positives. So counts give the fit in one linear pass.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals.counts import ThresholdCounts
from fastevals.document.frames import Columns, make_columns
from fastevals.measure.cells import ratio
from fastevals.measure.probability_metrics import brier_score, log_loss, require_probabilities
from fastevals.measure.ranking_metrics import hull_rows
from fastevals.results import Frozen

ProperScore = Literal["brier_score", "log_loss"]
HIGHEST_SHARE = 1 - 2.0**-53  # of a block with negatives: a share rounded to 1 would give them an infinite log loss
SCORES = {"brier_score": brier_score, "log_loss": log_loss}


class Blocks(NamedTuple):
    """Blocks of pooled probabilities, descending.

    Attributes
    ----------
    rows : ndarray of shape (n_blocks + 1,)
        Rows of the counts: block k has the counts at row ``rows[k + 1]`` minus the counts at row ``rows[k]``.
    share : ndarray of shape (n_blocks,)
        Share of positives in each block: its calibrated probability.
    """

    rows: NDArray[np.intp]
    share: NDArray[np.float64]


def isotonic_blocks(counts: ThresholdCounts) -> Blocks:
    """Fit the labels by a non-decreasing function of the probability, with least squared error."""
    require_probabilities(counts)
    counts._require_each_score("isotonic calibration")
    return _pooled(counts, hull_rows(counts))


def _pooled(counts: ThresholdCounts, rows: NDArray[np.intp]) -> Blocks:
    """Pool the counts between each two consecutive `rows` into a block."""
    sides = np.diff([counts.tps[rows], counts.fps[rows]]).astype(np.float64)
    positives, negatives = np.ldexp(sides, -np.frexp(sides.max(axis=0))[1])  # weights may be far apart
    share = ratio(positives, positives + negatives)
    return Blocks(rows, np.where(negatives > 0, np.minimum(share, HIGHEST_SHARE), share))


def recalibrated(counts: ThresholdCounts, blocks: Blocks) -> ThresholdCounts:
    """Return the counts with each row at the calibrated probability of its block."""
    thresholds = np.append(np.inf, blocks.share)
    return ThresholdCounts._unchecked(thresholds, counts.tps[blocks.rows], counts.fps[blocks.rows])


@dataclass(frozen=True, slots=True)
class ScoreDecomposition(Frozen):
    """Parts of a proper score: ``score = miscalibration - discrimination + uncertainty``.

    Unlike the parts in bins (`BrierDecomposition`), these need no choice of bins: the isotonic fit chooses the blocks
    of probabilities that are compared with their share of positives.

    Attributes
    ----------
    metric : {"brier_score", "log_loss"}
        The score.
    score : float
        Mean score of the probabilities.
    miscalibration : float
        How much the score improves if the probabilities are recalibrated by isotonic regression on these rows: 0 if
        each block's share of positives is its probability. Chance alone makes it positive.
    discrimination : float
        How much better the recalibrated probabilities are than the share of positives in all rows; higher is better.
    uncertainty : float
        Score if the predicted probability of every row is the share of positives in all rows.

    References
    ----------
    Dimitriadis, Gneiting and Jordan (2021), doi:10.1073/pnas.2016191118, who call the three MCB, DSC and UNC.

    Examples
    --------
    >>> import fastevals
    >>> parts = fastevals.Ranking([0, 1, 0, 1], [0.25, 0.5, 0.5, 1.0]).brier_decomposition()
    >>> parts.score, parts.miscalibration, parts.discrimination, parts.uncertainty
    (0.140625, 0.015625, 0.125, 0.25)
    """

    metric: ProperScore
    score: float
    miscalibration: float
    discrimination: float
    uncertainty: float

    def _title(self) -> str:
        return type(self).__name__

    def _columns(self) -> Columns:
        return make_columns({each.name: getattr(self, each.name) for each in fields(self)})


def decompose(
    counts: ThresholdCounts, metric: ProperScore, blocks: Blocks | None = None, *, score: float | None = None
) -> ScoreDecomposition:
    """Split a score by the isotonic fit; `blocks`, and the score of all rows, are computed unless given.

    Parts are differences of mean scores; without weights, each mean is rounded once.
    """
    last = counts.thresholds.size - 1
    one_block = _pooled(counts, np.array([0, last])[: last + 1])  # none without rows
    forecasts = recalibrated(counts, blocks or isotonic_blocks(counts)), recalibrated(counts, one_block)
    best, uncertainty = map(SCORES[metric], forecasts)
    score = SCORES[metric](counts) if score is None else score
    # The fit is optimal, so both parts are at least 0; rounding may make them negative.
    miscalibration, discrimination = (float(np.maximum(each - best, 0.0)) for each in (score, uncertainty))
    return ScoreDecomposition(metric, score, miscalibration, discrimination, uncertainty)
