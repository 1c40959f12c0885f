"""The decision curve: the net benefit of acting on predictions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._options import check_number, show
from fastevals._validation.arrays import Floats, Places, as_thresholds, as_vector
from fastevals.counting.sweeps import COUNT_ROUNDING
from fastevals.counts import ThresholdCounts
from fastevals.document.frames import Columns, make_columns
from fastevals.measure.cells import ratio
from fastevals.measure.probability_metrics import require_probabilities
from fastevals.results import Frozen, Interval, number_or_array


def net_benefit(counts: ThresholdCounts, threshold_probability: ArrayLike, *, prior: float | None = None) -> Any:
    """Return the net benefit of treating everyone at or above a predicted probability.

    It is ``tp / n - fp / n * pt / (1 - pt)`` with the counts at ``score >= pt``, in true positives per row; treating
    no one has net benefit 0. Treating at probability pt implies that a false positive costs pt / (1 - pt) times the
    gain of a true positive.

    Parameters
    ----------
    counts : ThresholdCounts
        Counts of rows by probability.
    threshold_probability : float or array-like
        The probability pt, in [0, 1).
    prior : float in [0, 1], optional
        Share of positives in the population on which the model will be used; by default the share in these rows. With a
        prior the net benefit is ``prior * tpr - (1 - prior) * fpr * pt / (1 - pt)``; the probabilities are not adjusted
        to the prior.

    Returns
    -------
    float or ndarray
        Same shape as `threshold_probability`; NaN if `prior` is given and a class is missing.

    Raises
    ------
    ValueError
        If a score is not a probability, or an argument is out of range.

    References
    ----------
    Vickers and Elkin (2006), doi:10.1177/0272989X06295361.

    Examples
    --------
    >>> import fastevals
    >>> net_benefit(fastevals.Ranking([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.8]).counts, [0.2, 0.5])
    array([0.4375, 0.    ])
    """
    require_probabilities(counts)
    points = _as_threshold_probabilities("threshold_probability", threshold_probability)
    cells = counts.cells(counts.rows_at_least(points))
    return number_or_array(_net_benefit(counts, cells.tp, cells.fp, points, _as_prior(prior)))


def _as_prior(prior: Any) -> float | None:
    return None if prior is None else check_number("prior", prior, low=0, high=1)


def _net_benefit(
    counts: ThresholdCounts, tp: Any, fp: Any, points: NDArray[np.float64], prior: float | None
) -> NDArray[np.float64]:
    odds = points / (1 - points)
    if prior is None:
        n = counts.n_pos + counts.n_neg
        return ratio(tp, n) - ratio(fp, n) * odds
    return prior * ratio(tp, counts.n_pos) - (1 - prior) * ratio(fp, counts.n_neg) * odds


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DecisionCurve(Frozen):
    """Net benefit of acting on the predictions at each threshold probability, compared with treating all.

    Treating no one has net benefit 0. Unpacks as ``threshold_probability, net_benefit, treat_all``.

    Attributes
    ----------
    threshold_probability : ndarray of shape (n_points,)
        In [0, 1), in the given order.
    net_benefit : ndarray of shape (n_points,)
        Net benefit of treating rows with ``score >= threshold_probability``, in true positives per row.
    treat_all : ndarray of shape (n_points,)
        Net benefit of treating everyone.
    counts : ThresholdCounts
        The counts that the curve is computed from.
    prior : float or None
        Share of positives for which the curve is computed; None means the share in the counts.

    References
    ----------
    Vickers and Elkin (2006), doi:10.1177/0272989X06295361.

    Examples
    --------
    >>> import fastevals
    >>> ranking = fastevals.Ranking([0, 0, 0, 1, 1], [0.1, 0.2, 0.6, 0.4, 0.8])
    >>> curve = DecisionCurve.from_counts(ranking.counts, [0.05, 0.2, 0.3, 0.5, 0.7])
    >>> curve.useful_ranges
    [Interval(low=0.2, high=0.3), Interval(low=0.7, high=0.7)]
    """

    threshold_probability: NDArray[np.float64]
    net_benefit: NDArray[np.float64]
    treat_all: NDArray[np.float64]
    counts: ThresholdCounts
    prior: float | None = None

    def __iter__(self) -> Iterator[NDArray[np.float64]]:
        return iter((self.threshold_probability, self.net_benefit, self.treat_all))

    def __len__(self) -> int:
        return self.threshold_probability.size

    def __repr__(self) -> str:
        points = f"{len(self)} point{'s' * (len(self) != 1)}"
        ranges = ", ".join(f"{low:g} to {high:g}" for low, high in self.useful_ranges[:4])
        more = ", ..." * (len(self.useful_ranges) > 4)
        return f"DecisionCurve({points}, useful: {ranges or 'nowhere'}{more})"

    def _columns(self) -> Columns:
        names = ("threshold_probability", "net_benefit", "treat_all")
        return make_columns(dict(zip(names, self, strict=True)))

    @property
    def defined(self) -> bool:
        """Return whether the curve has a value anywhere."""
        return not bool(np.isnan(self.net_benefit).all())

    @classmethod
    def from_counts(
        cls, counts: ThresholdCounts, threshold_probability: ArrayLike | None = None, *, prior: float | None = None
    ) -> DecisionCurve:
        """Make the curve from threshold counts.

        Parameters
        ----------
        counts : ThresholdCounts
            Counts of rows by probability.
        threshold_probability : array-like of shape (n_points,), optional
            Where to compute the curve, in [0, 1); by default at 0.01, 0.02, ..., 0.99.
        prior : float in [0, 1], optional
            Share of positives in the population on which the model will be used; see `net_benefit`.

        Returns
        -------
        DecisionCurve
            Its values are NaN if `prior` is given and a class is missing.

        Raises
        ------
        ValueError
            If a score is not a probability, or an argument is out of range.
        """
        values = np.arange(1, 100) / 100 if threshold_probability is None else threshold_probability
        points = _as_threshold_probabilities("threshold_probability", as_vector("threshold_probability", values))
        benefit = net_benefit(counts, points, prior=prior)
        prior = _as_prior(prior)
        return cls(points, benefit, _net_benefit(counts, counts.n_pos, counts.n_neg, points, prior), counts, prior)

    @overload
    def at(self, threshold_probability: float) -> float: ...
    @overload
    def at(self, threshold_probability: Places) -> Floats: ...
    def at(self, threshold_probability: ArrayLike) -> Any:
        """Return the net benefit at any threshold probability, computed from counts at this threshold.

        Parameters
        ----------
        threshold_probability : float or array-like
            The threshold probability, in [0, 1).

        Returns
        -------
        float or ndarray
            Same shape as `threshold_probability`.

        Raises
        ------
        ValueError
            If a threshold probability is out of range.
        """
        return net_benefit(self.counts, threshold_probability, prior=self.prior)

    @property
    def useful_ranges(self) -> list[Interval]:
        """Ranges in which the model beats treating all and treating none, by more than rounding.

        Each range extends from the first to the last of consecutive points at which the model is better. Values between
        points are not evaluated; a single point is a range of width 0.
        """
        order = np.argsort(self.threshold_probability, kind="stable")
        points, benefit, treat_all = (array[order] for array in self)
        slack = COUNT_ROUNDING * (1 + np.abs(benefit) + np.abs(treat_all))
        useful = benefit - np.maximum(treat_all, 0) > slack
        ends = np.flatnonzero(np.diff(np.concatenate(([False], useful, [False])))).tolist()
        values = points.tolist()
        return [Interval(values[i], values[j - 1]) for i, j in zip(ends[::2], ends[1::2], strict=True)]


# Checks ---------------------------------------------------------------------------------------------------------------


def _as_threshold_probabilities(name: str, values: Any) -> NDArray[np.float64]:
    """Return threshold probabilities as float64 of any shape, in [0, 1), because the odds are infinite at 1."""
    array = as_thresholds(name, values).astype(np.float64)
    outside = array[~((array >= 0) & (array < 1))]
    if outside.size:
        raise ValueError(f"{name} must be in [0, 1), got {show(outside.flat[0])}")
    return array
