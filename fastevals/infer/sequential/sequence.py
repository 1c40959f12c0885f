"""Confidence sequences from the records of nights: intervals that hold at every look."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._options import as_flag, check_choice, check_integer, check_number, did_you_mean, show
from fastevals._text import count_of
from fastevals._validation.arrays import as_array, named_columns
from fastevals.document.frames import Columns, or_nan, spread
from fastevals.infer.sequential.boundaries import LAST, NARROWEST_RATIO, NormalEvidence, RateEvidence
from fastevals.infer.sequential.records import NAMES, NightRecord, NightTable
from fastevals.results import (
    NOWHERE,
    Alternative,
    Frozen,
    Interval,
    check_confidence_level,
    format_estimate,
    tail_probability,
)

Floats = NDArray[np.float64]
AddUp = Callable[[NDArray[Any]], NDArray[Any]]  # from the numbers of each night to numbers after each night

FEWEST_ROWS = 200  # of the rarer class, from which simulated levels hold (docs/nightly.md)
FEWEST_NIGHTS = 30  # nights without a variance that are enough to estimate it from their distances to the mean
LARGEST_SHARE = 0.1  # of the squared weights: fewer nights without a variance may have at most this share
NARROWEST_AT = 10.0  # times the rows of the first look
RATE = "beta-binomial mixture"
ESTIMATE = "normal mixture"


def confidence_sequence(
    records: Any,
    *,
    confidence_level: float = 0.95,
    alternative: Alternative = "two-sided",
    bounds: tuple[float, float] = (-math.inf, math.inf),
    min_count: int = FEWEST_ROWS,
    narrowest_at: float | None = None,
    cumulative: bool = False,
) -> SequenceEstimate:
    """Compute the interval of a metric after every night, so that all intervals hold simultaneously.

    A fixed 95 % interval misses the truth in 5 % of data sets if you look once. If you look every night for a year, it
    misses the truth on some night in about 45 % of data sets. All intervals of a confidence sequence contain the truth
    in at least 95 % of data sets, however many nights there are. You may therefore act on the first night that decides,
    and stop or go on at will.

    Parameters
    ----------
    records : sequence of NightRecord, frame, or mapping of name to array-like
        One record per night, in the order of the nights; or columns with the names of `NightRecord`'s parameters and
        one row per night. `night` may be missing from columns.
    confidence_level : float in (0, 1)
        Probability that all intervals contain the truth.
    alternative : {"two-sided", "less", "greater"}
        "greater" returns only lower ends, "less" only upper ends. A one-sided sequence is narrower on its side.
    bounds : (float, float)
        Smallest and largest possible value of the metric: (0, 1) for an AUC or a Brier score, (-1, 1) for a difference
        of AUCs, (0, inf) for a log loss. With bounds, intervals allow for the skewness of estimates near a bound. A
        rate is always in (0, 1).
    min_count : int
        Number of rows from which there is an interval: in the rarer class if records have the numbers by class, else
        of all rows. Rates have an interval from the first trial.
    narrowest_at : float, optional
        Number of rows, counted as for `min_count`, or of trials, at which the interval is narrowest relative to a
        fixed interval. By default 10 times `min_count` or 10 times the first night, whichever is larger. Keep it the
        same at all looks.
    cumulative : bool
        Whether each record is of all rows up to its night, instead of the night's rows. Use it for metrics that are
        biased in small samples, such as average precision, and for metrics that are not a mean, such as F1.

    Returns
    -------
    SequenceEstimate
        Value and interval after the last night, with a fixed interval next to it. `looks` has all nights.

    Raises
    ------
    ValueError
        If an argument is not as described, a night occurs twice, or some records are of rates and others are not.

    Notes
    -----
    The value is the mean of the nightly estimates, weighted by the records' weights; the interval is for the same mean
    of the true nightly values. If the true value is the same every night, this is the true value. Weights must not
    depend on the estimates: nights with a small estimated variance often have an extreme estimate, so weights by
    variance bias the mean. For an AUC the weight ``n_positives * n_negatives / n_samples`` is nearly optimal.

    Rates use a mixture of binomial likelihood ratios [2]_, which holds for any number of trials if the rate is
    constant. Other metrics use a mixture of normal likelihood ratios [1]_, which holds as the number of rows grows
    [3]_; for U-statistics such as AUC see [4]_. In simulations with 200 positives on the first night and 365 looks,
    at most 5 % of two-sided 95 % sequences ever missed the truth (docs, "Asked every night"). Start one-sided bounds of
    AUCs near 1 at 500 positives (`min_count`), and losses with a long tail at more than 1,000 rows.

    A night without a value, such as an empty night, is counted and changes nothing. The mean of nightly estimates that
    are biased in small samples, such as average precision or the best F1, keeps the bias of one night's rows, however
    many nights there are: compute these metrics from all rows so far, for example from merged summaries, and pass
    ``cumulative=True``.

    References
    ----------
    .. [1] Robbins, H. (1970), "Statistical Methods Related to the Law of the Iterated Logarithm", Annals of
       Mathematical Statistics 41, 1397-1409, doi:10.1214/aoms/1177696786.
    .. [2] Howard, S. R., Ramdas, A., McAuliffe, J. and Sekhon, J. (2021), "Time-uniform, Nonparametric, Nonasymptotic
       Confidence Sequences", Annals of Statistics 49, 1055-1080, doi:10.1214/20-AOS1991.
    .. [3] Waudby-Smith, I., Arbour, D., Sinha, R., Kennedy, E. H. and Ramdas, A. (2024), "Time-uniform Central Limit
       Theory and Asymptotic Confidence Sequences", Annals of Statistics 52, 2613-2640, arXiv:2103.06476.
    .. [4] Cai, L., Hu, Q. and Li, W. (2026), "Asymptotic Anytime-Valid Inference for U-statistics", arXiv:2605.14692.

    Examples
    --------
    >>> import fastevals
    >>> nights = [fastevals.NightRecord.of_rate(f"2026-11-{day}", 45, 50) for day in range(20, 27)]
    >>> found = fastevals.confidence_sequence(nights)
    >>> low, high = found.confidence_interval
    >>> found.value, round(low, 3), round(high, 3)
    (0.9, 0.836, 0.945)
    >>> low, high = found.fixed_interval
    >>> round(low, 3), round(high, 3)
    (0.864, 0.927)
    """
    nights = as_records(records)
    level, _ = check_confidence_level(confidence_level)
    check_choice("alternative", alternative, Alternative)
    min_count = check_integer("min_count", min_count, low=1)
    limits = _as_bounds(bounds)
    if narrowest_at is not None:
        narrowest_at = check_number("narrowest_at", narrowest_at, low=0, open_low=True, open_high=True)
    is_used = _are_used(nights)
    used = _Used(nights, is_used)
    of_rate = used.has("trials")
    values = used.numbers("value")
    beyond = np.flatnonzero((values < limits[0]) | (values > limits[1]))
    if not of_rate and beyond.size:
        k = beyond[0]
        raise ValueError(f"bounds must contain all values, got {limits} and {values[k]:g} on {used.night(k)!r}")
    add_up = _as_they_are if as_flag("cumulative", cumulative) else np.cumsum
    counts = _Counts.of(used, add_up)
    caution = "" if used.n else f"There is no interval yet: none of {count_of(len(nights), 'night')} has a value."
    size = narrowest_at or NARROWEST_AT * max(min_count, counts.first)
    evidence: NormalEvidence | RateEvidence
    if of_rate:
        evidence = _rate_evidence(used, size, add_up)
    else:
        evidence, why_none = _normal_evidence(used, counts, size, min_count, limits, add_up)
        caution = caution or why_none
    return SequenceEstimate(
        value=_last(evidence.values),
        standard_error=_last(evidence.errors),
        n_samples=counts.n_samples,
        n_positives=counts.n_positives,
        n_negatives=counts.n_negatives,
        n_nights=len(nights),
        n_nights_used=used.n,
        confidence_level=level,
        alternative=alternative,
        method=RATE if of_rate else ESTIMATE,
        caution=caution,
        _evidence=evidence,
        _places=np.cumsum(is_used, dtype=np.intp) - 1,
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SequenceEstimate(Frozen):
    """A metric after a number of nights, with an interval that holds at every look.

    Attributes
    ----------
    value : float
        Weighted mean of the nightly estimates; NaN if no night has one.
    confidence_interval : Interval
        Interval of the confidence sequence after the last night; NaN while there is none.
    standard_error : float
        Standard error of `value`.
    fixed_interval : Interval
        Interval of the same level and side for a single look at all these rows: it does not hold if you look more
        often.
    n_samples : int
        Number of rows of the nights that are used.
    n_positives, n_negatives : int or None
        Numbers of rows by class; None if records have none.
    n_nights, n_nights_used : int
        Number of nights, and of nights that have a value.
    confidence_level : float
        Probability that the intervals of all looks contain the truth.
    alternative : {"two-sided", "less", "greater"}
        Side of the intervals.
    method : {"beta-binomial mixture", "normal mixture"}
        The first is for rates and holds for any number of trials; the second holds as the number of rows grows.
    caution : str
        Why there is no interval; empty if there is one.
    conclusion : str
        Value and interval as a sentence.

    Examples
    --------
    >>> import fastevals
    >>> nights = {"n_samples": [1000, 400, 400], "value": [0.21, 0.19, 0.2], "variance": [1e-4, 2e-4, 2e-4]}
    >>> found = fastevals.confidence_sequence(nights, bounds=(0, 1))
    >>> print(found.conclusion)
    0.2033, 95 % confidence sequence 0.1802 to 0.2286, after 3 nights.
    >>> round(found.low(0.95), 4)  # a one-sided bound that holds at every look
    0.1825
    """

    value: float
    standard_error: float
    n_samples: int
    n_positives: int | None
    n_negatives: int | None
    n_nights: int
    n_nights_used: int
    confidence_level: float
    alternative: Alternative
    method: str
    caution: str
    _evidence: NormalEvidence | RateEvidence
    _places: NDArray[np.intp]  # of each night's look among the looks of nights that are used; -1 before the first

    @property
    def confidence_interval(self) -> Interval:
        """Return the interval of the confidence sequence after the last night."""
        if self.caution:
            return NOWHERE
        return Interval(*map(_last, self._ends(self._evidence.at(LAST))))

    @property
    def fixed_interval(self) -> Interval:
        """Return the interval for a single look."""
        if not self.n_nights_used or not (self._is_rate or self.standard_error > 0):
            return NOWHERE
        _, alpha = check_confidence_level(self.confidence_level)
        last = self._evidence.at(LAST)
        return Interval(*map(_last, self._on_side(*last.fixed(tail_probability(alpha, self.alternative)))))

    @property
    def conclusion(self) -> str:
        """Return value and interval as a sentence."""
        if self.caution:
            return self.caution
        _, alpha = check_confidence_level(self.confidence_level)
        estimate = format_estimate(self.value, self.confidence_interval, alpha)
        return f"{estimate.replace('interval', 'confidence sequence')}, after {count_of(self.n_nights, 'night')}."

    def low(self, confidence_level: float) -> float:
        """Return the one-sided lower bound of another level; it holds at every look.

        Parameters
        ----------
        confidence_level : float in (0, 1)
            Probability that the lower bounds of all looks are below the truth.

        Returns
        -------
        float
            NaN while there is no interval.
        """
        _, alpha = check_confidence_level(confidence_level)
        return math.nan if self.caution else _last(self._evidence.at(LAST).low(alpha, one_sided=True))

    def high(self, confidence_level: float) -> float:
        """Return the one-sided upper bound of another level; it holds at every look.

        Parameters
        ----------
        confidence_level : float in (0, 1)
            Probability that the upper bounds of all looks are above the truth.

        Returns
        -------
        float
            NaN while there is no interval.
        """
        _, alpha = check_confidence_level(confidence_level)
        return math.nan if self.caution else _last(self._evidence.at(LAST).high(alpha, one_sided=True))

    def bounds(self, confidence_level: float) -> Interval:
        """Return both one-sided bounds of another level, in less time than `low` and `high` one by one.

        Parameters
        ----------
        confidence_level : float in (0, 1)
            Probability that the lower bounds of all looks are below the truth; the same for the upper bounds.

        Returns
        -------
        Interval
            NaN while there is no interval.
        """
        _, alpha = check_confidence_level(confidence_level)
        return NOWHERE if self.caution else Interval(*map(_last, self._evidence.at(LAST).ends(alpha, one_sided=True)))

    def looks(self) -> tuple[Floats, Floats, Floats]:
        """Return values, lower ends and upper ends after each night.

        Returns
        -------
        tuple of ndarray of shape (n_nights,)
            NaN where there is no value or no interval yet.
        """
        if not self.n_nights_used:
            return np.full(self.n_nights, math.nan), np.full(self.n_nights, math.nan), np.full(self.n_nights, math.nan)
        low, high = self._ends(self._evidence)
        return self._by_night(self._evidence.values), self._by_night(low), self._by_night(high)

    def _by_night(self, values: Floats) -> Floats:
        """Return values of looks after used nights as values after all nights."""
        return np.where(self._places < 0, math.nan, values[self._places])

    @property
    def _is_rate(self) -> bool:
        return isinstance(self._evidence, RateEvidence)

    def _ends(self, evidence: NormalEvidence | RateEvidence) -> tuple[Floats, Floats]:
        """Return the ends of all looks' intervals; NaN where there is no interval yet."""
        _, alpha = check_confidence_level(self.confidence_level)
        one_sided = self.alternative != "two-sided"
        return self._on_side(*evidence.ends(alpha, one_sided=one_sided))

    def _on_side(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Return the ends; the bound of the metric replaces the end that a one-sided interval does not have."""
        if self.alternative == "less":
            low = np.where(np.isnan(low), math.nan, self._evidence.bounds[0])
        if self.alternative == "greater":
            high = np.where(np.isnan(high), math.nan, self._evidence.bounds[1])
        return low, high

    def _title(self) -> str:
        return "Confidence sequence"

    def _columns(self) -> Columns:
        low, high = self.confidence_interval
        fixed_low, fixed_high = self.fixed_interval
        return spread(
            value=self.value, low=low, high=high, standard_error=self.standard_error, fixed_low=fixed_low,
            fixed_high=fixed_high, n_samples=self.n_samples, n_positives=or_nan(self.n_positives),
            n_negatives=or_nan(self.n_negatives), n_nights=self.n_nights, n_nights_used=self.n_nights_used,
        )  # fmt: skip


class _Used:
    """The columns of the nights that are used."""

    def __init__(self, nights: NightTable, is_used: NDArray[np.bool_]) -> None:
        self._nights, self._is_used, self.n = nights, is_used, int(np.count_nonzero(is_used))
        for what, field in (("trials", "trials"), ("numbers by class", "n_positives")):
            having = ~np.isnan(self.numbers(field))
            if having.any() and not having.all():
                with_, without = self.night(np.argmax(having)), self.night(np.argmin(having))
                raise ValueError(
                    f"either all records or none must have {what}, got {show(with_)} with and {show(without)} without"
                )

    def numbers(self, name: str) -> Floats:
        """Return a column; NaN where a value is missing."""
        return np.asarray(self._nights.numbers(name)[self._is_used])

    def has(self, name: str) -> bool:
        """Return whether the nights have values of a column."""
        return bool(self.n) and not bool(np.isnan(self.numbers(name)).any())

    def night(self, k: Any) -> str:
        """Return the name of the k-th night that is used."""
        return str(self._nights.column("night")[np.flatnonzero(self._is_used)[k]])


class _Counts(NamedTuple):
    """Cumulated numbers of rows that decide when a sequence starts: of the rarer class, or of all rows."""

    each: Floats  # after each night that is used
    first: float
    n_samples: int
    n_positives: int | None
    n_negatives: int | None
    what: str

    @classmethod
    def of(cls, used: _Used, add_up: AddUp) -> _Counts:
        """Count the rows of nights."""
        if not used.n:
            return cls(np.zeros(0), 0.0, 0, None, None, "")
        samples = add_up(used.numbers("n_samples"))
        positives, negatives = (
            add_up(used.numbers(name)) if used.has(name) else None for name in ("n_positives", "n_negatives")
        )
        what, each = "rows", samples
        if used.has("trials"):
            what, each = "trials", add_up(used.numbers("trials"))
        elif positives is not None and negatives is not None:
            what = "positive rows" if positives[-1] <= negatives[-1] else "negative rows"
            each = np.minimum(positives, negatives)
        n_positives, n_negatives = (None if counted is None else int(counted[-1]) for counted in (positives, negatives))
        return cls(each, float(each[0]), int(samples[-1]), n_positives, n_negatives, what)


def _as_they_are(numbers: NDArray[Any]) -> NDArray[Any]:
    return numbers


def _rate_evidence(used: _Used, size: float, add_up: AddUp) -> RateEvidence:
    """Return the successes and failures after each night; `size` is the number of trials at the narrowest."""
    successes, trials = (add_up(used.numbers(name)) for name in ("successes", "trials"))
    return RateEvidence(successes, trials - successes, size / NARROWEST_RATIO)


def _normal_evidence(
    used: _Used,
    counts: _Counts,
    size: float,
    min_count: int,
    bounds: tuple[float, float],
    add_up: AddUp,
) -> tuple[NormalEvidence, str]:
    """Return the estimate after each night, and why there is no interval after the last, if there is none."""
    weights, values, variances = (used.numbers(name) for name in ("weight", "value", "variance"))
    if add_up is _as_they_are:
        means, errors, known = values, np.sqrt(variances), np.isfinite(variances)
    else:
        means, errors = _weighted_means(weights, values, variances)
        known = _is_known(weights, np.isnan(variances))
    started = (counts.each >= min_count) & (errors > 0) & known
    ratios = np.where(started, NARROWEST_RATIO * counts.each / size, math.nan)
    caution = ""
    if used.n and not started[-1]:
        caution = "There is no interval yet: "
        if counts.each[-1] < min_count:
            caution += f"there are {counts.each[-1]:,.0f} {counts.what}, and {min_count:,} are needed."
        else:
            caution += f"the estimated variance is {'0' if known[-1] else 'unknown'}."
    return NormalEvidence(means, errors, ratios, bounds), caution


def _weighted_means(weights: Floats, values: Floats, variances: Floats) -> tuple[Floats, Floats]:
    """Return the weighted means of the first nights, for each number of nights, and their standard errors."""
    total = np.cumsum(weights)
    means = np.cumsum(weights * values) / total
    alone = np.isnan(variances)  # their squared distance from the mean takes the place of a variance
    spreads = np.cumsum(weights**2 * np.where(alone, 0.0, variances))
    if alone.any():
        squares, distances, shift = np.where(alone, weights**2, 0.0), values - means[-1], means - means[-1]
        moments = np.cumsum([squares, squares * distances, squares * distances**2], axis=1)
        spreads += np.maximum(moments[2] - 2 * shift * moments[1] + shift**2 * moments[0], 0.0)
    return means, np.sqrt(spreads) / total


def _is_known(weights: Floats, alone: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return whether the nights without a variance are many enough for an estimate, or of little weight."""
    share = np.cumsum(np.where(alone, weights, 0.0) ** 2) / np.cumsum(weights**2)
    return np.asarray((np.cumsum(alone) >= FEWEST_NIGHTS) | (share <= LARGEST_SHARE))


def as_records(records: Any) -> NightTable:
    """Return the records of nights, from records or from columns; no night may occur twice."""
    if isinstance(records, NightTable):
        return records
    columns = named_columns("records", records)
    if columns is not None:
        found = _of_columns(columns)
    elif isinstance(records, (list, tuple)):
        found = list(records)
        for each in found:
            if not isinstance(each, NightRecord):
                raise ValueError(f"records must be NightRecords, got {show(each)}")
    else:
        raise ValueError(f"records must be a list of NightRecords, a frame or a mapping, got {show(records)}")
    seen = set[str]()
    for each in found:
        if each.night in seen:
            raise ValueError(f"records must have each night once, got {show(each.night)} several times")
        seen.add(each.night)
    return NightTable.of(found)


def _of_columns(columns: Mapping[Any, Any]) -> list[NightRecord]:
    """Return records from columns with the names of their fields."""
    for name in columns:
        if name not in NAMES:
            raise ValueError(
                f"records must have columns named {', '.join(NAMES)}; got {show(name)}{did_you_mean(name, NAMES)}"
            )
    arrays = {name: as_array(name, values).tolist() for name, values in columns.items()}
    if "n_samples" not in arrays:
        raise ValueError(f"records must have a column 'n_samples', got {', '.join(map(str, columns))}")
    lengths = {name: len(values) for name, values in arrays.items()}
    if len({*lengths.values()}) > 1:
        raise ValueError(f"records must have columns of one length, got {lengths}")
    nights = arrays.pop("night", range(1, lengths["n_samples"] + 1))
    rows = [dict(zip(arrays, row, strict=True)) for row in zip(*arrays.values(), strict=True)]
    return [NightRecord(night=str(night), **row) for night, row in zip(nights, rows, strict=True)]


def _are_used(nights: NightTable) -> NDArray[np.bool_]:
    """Return which nights have a value and a weight."""
    return np.asarray(~np.isnan(nights.numbers("value")) & (nights.numbers("weight") > 0))


def _as_bounds(bounds: Any) -> tuple[float, float]:
    if not isinstance(bounds, (tuple, list)) or len(bounds) != 2:
        raise ValueError(f"bounds must be a pair of numbers, got {show(bounds)}")
    low, high = (check_number("bounds", each) for each in bounds)
    if not low < high:
        raise ValueError(f"bounds must be in ascending order, got {show(bounds)}")
    return low, high


def _last(values: Floats) -> float:
    return float(values[-1]) if values.size else math.nan
