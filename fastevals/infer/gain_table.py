"""Gain tables: positives, rates, lift and KS by decile of the score, from the highest score down."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._options import check_integer, check_number, show, warn_undefined
from fastevals._text import format_number
from fastevals._validation.arrays import (
    Models,
    OneModel,
    as_predictions,
)
from fastevals.counts import ThresholdCounts
from fastevals.document.document import GAP, Count, Document, Number, Part, Row, Section, Sentence, Table
from fastevals.document.frames import Columns, make_columns
from fastevals.infer.gain_intervals import GainClusters, GainRows, SquaredShares, effective_rows, possible_rates
from fastevals.infer.proportions import share_interval
from fastevals.measure.cells import ratio
from fastevals.measure.kinds import SCORES
from fastevals.measure.ranking.base import BaseRanking
from fastevals.measure.ranking.ranking import Ranking, as_ranking
from fastevals.measure.share_cuts import ShareCuts
from fastevals.results import ByModel, Frozen, check_confidence_level

Floats = NDArray[np.float64]

MOST_GAIN_BINS = 10_000
LARGE_WEIGHT = 100  # of all rows, from which weights are shown with two decimals
HEADS = {  # of columns: in the text and on pages
    "bin": "Bin", "rows": "Rows", "pos.": "Positives", "rate": "Rate", "low": "Low", "high": "High", "gain": "Gain",
    "lift": "Lift", "cum.": "Cumulative lift", "KS": "KS", "mean": "Mean predicted", "lowest": "Lowest score",
}  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GainTable(Frozen):
    """Positives by bin of the score, from the highest score down: the deciles, top shares and a total row.

    Each array has one entry per row of the table: the `n_bins` bins, then one per top share, then all rows.

    Attributes
    ----------
    bins : tuple of str
        Name of each row: "1" is the bin with the highest scores, "top 1 %" a top share, and "all" the total.
    rows, positives : ndarray of shape (n_rows,)
        Rows and positives, or their weight. Positives are fractions where a cut divides rows with equal scores.
    rates, low, high : ndarray of shape (n_rows,)
        Share of positives, and its confidence interval; the ends are NaN if they are unknown (see `caution`).
    gains : ndarray of shape (n_rows,)
        Cumulative share of all positives that are captured from the highest score down to the end of the bin.
    lifts, cumulative_lifts : ndarray of shape (n_rows,)
        Rate of the bin, and of all rows down to the end of the bin, divided by the rate of all rows.
    ks : ndarray of shape (n_rows,)
        Cumulative share of the positives minus cumulative share of the negatives at the end of the bin.
    mean_predicted : ndarray of shape (n_rows,)
        Mean predicted probability; NaN if scores are not probabilities or are known only in ranges.
    thresholds : ndarray of shape (n_rows,)
        Lowest score in the bin; NaN where it is unknown.
    n_bins : int
        Number of bins.
    n_divided : int
        Number of cuts that divide a group of rows with equal scores (or the weight of a row).
    confidence_level : float
        Level of each interval.
    caution : str
        What to know before using the table; empty if there is nothing.
    largest_ks : int
        Index of the bin at the end of which KS is largest; -1 if a class is missing.
    conclusion : str
        The result for the first bin, and the largest KS, as sentences.

    Examples
    --------
    >>> import fastevals
    >>> y_true, y_score = [1, 1, 0, 1, 0, 0, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.3, 0.2, 0.1]
    >>> table = fastevals.gain_table(y_true, y_score, n_bins=4, shares=())
    >>> table.gains.round(4).tolist(), table.lifts.round(4).tolist()
    ([0.6667, 1.0, 1.0, 1.0, 1.0], [2.6667, 1.3333, 0.0, 0.0, 1.0])
    """

    bins: tuple[str, ...]
    rows: NDArray[Any]
    positives: NDArray[Any]
    rates: Floats
    low: Floats
    high: Floats
    gains: Floats
    lifts: Floats
    cumulative_lifts: Floats
    ks: Floats
    mean_predicted: Floats
    thresholds: NDArray[Any]
    n_bins: int
    n_divided: int
    confidence_level: float
    caution: str = ""

    @property
    def largest_ks(self) -> int:
        """Return the index of the bin at the end of which KS is largest; -1 if a class is missing."""
        ks = self.ks[: self.n_bins]
        return -1 if np.isnan(ks).any() else int(np.argmax(ks))

    @property
    def conclusion(self) -> str:
        """Return the result for the first bin, and the largest KS, as sentences."""
        if math.isnan(self.gains[0]):
            return "There are no positives, so gain, lift and KS are undefined."
        rate, low, high = (format_number(each[0]) for each in (self.rates, self.low, self.high))
        interval = "" if math.isnan(self.low[0]) else f" ({100 * self.confidence_level:.6g} % interval {low} to {high})"
        first = (
            f"Bin 1 holds {100 * self.rows[0] / self.rows[-1]:.3g} % of the rows and {100 * self.gains[0]:.1f} % of "
            f"the positives: rate {rate}{interval}, lift {self.lifts[0]:.2f}."
        )
        if self.largest_ks < 0:
            return f"{first} There are no negatives, so KS is undefined."
        if not self.ks.max() > 0:
            return f"{first} KS is not above 0 at the end of any bin."
        return f"{first} KS is largest at the end of bin {self.largest_ks + 1}: {format_number(self.ks.max())}."

    def _title(self) -> str:
        total, positives = (f"{each[-1].item():,.12g}" for each in (self.rows, self.positives))
        unit = "rows" if self.rows.dtype.kind == "i" else "weight"
        return f"Gain table: {self.n_bins} bins, {total} {unit}, {positives} positives"

    def _columns(self) -> Columns:
        return make_columns(
            {
                "bin": self.bins,
                "rows": self.rows,
                "positives": self.positives,
                "rate": self.rates,
                "low": self.low,
                "high": self.high,
                "gain": self.gains,
                "lift": self.lifts,
                "cumulative_lift": self.cumulative_lifts,
                "ks": self.ks,
                "mean_predicted": self.mean_predicted,
                "threshold": self.thresholds,
            }
        )

    def _shown_columns(self) -> Columns:
        columns = {**self._columns(), **make_columns(self._texts())}
        if np.isnan(self.mean_predicted).all():
            del columns["mean_predicted"]
        return columns

    def _texts(self) -> dict[str, list[str]]:
        """Return the columns that are easier to read with two decimals: lifts, and fractions of many rows."""
        columns = {"lift": self.lifts, "cumulative_lift": self.cumulative_lifts}
        if self.rows[-1] >= LARGE_WEIGHT:
            columns |= {name: getattr(self, name) for name in ("rows", "positives")}
        return {
            name: ["-" if math.isnan(value) else f"{value:.2f}" for value in values]
            for name, values in columns.items()
            if values.dtype.kind == "f"
        }

    def _document(self) -> Document:
        return Document("", self._short_title(), sections=[Section(self._parts())], numbers=self.to_dict)

    def _parts(self) -> list[Part]:
        """Return the parts of the document: conclusion, rows and caution."""
        caution = [GAP, Sentence(self.caution, "caution")] if self.caution else []
        heads = [head for head in HEADS if head != "mean" or "mean_predicted" in self._shown_columns()]
        table = Table("gain", "Gain table", [HEADS[head] for head in heads], self._rows, heads=heads)
        return [Sentence(self.conclusion, "verdict"), GAP, table, *caution]

    def _rows(self) -> Iterator[Row]:
        numbers, texts, largest = self._columns(), self._texts(), self.largest_ks
        columns = [name for name in self._shown_columns() if name != "bin"]

        def cell(name: str, k: int) -> Number | Count:
            value = numbers[name][k].item()
            if name in ("rows", "positives") and name not in texts:
                return Count(value)
            best = name == "ks" and k == largest
            return Number(
                float(value), emphasis="best" if best else "", written=texts[name][k] if name in texts else ""
            )

        for k, bin_name in enumerate(self.bins):
            yield Row(bin_name, [cell(name, k) for name in columns])


class GainTables(ByModel[GainTable]):
    """Gain tables of several models: a mapping from a model's name to its `GainTable`.

    Attributes
    ----------
    models : dict of name to GainTable
        The mapping's items.
    """

    __slots__ = ()
    _what = "Gain tables"


@overload
def gain_table(
    y_true: Any,
    y_score: Models,
    n_bins: int = ...,
    *,
    shares: Sequence[float] = ...,
    pos_label: Any = ...,
    sample_weight: ArrayLike | None = ...,
    frequency_weight: ArrayLike | None = ...,
    groups: ArrayLike | None = ...,
    confidence_level: float = ...,
) -> GainTables: ...
@overload
def gain_table(
    y_true: Any,
    y_score: OneModel | None = ...,
    n_bins: int = ...,
    *,
    shares: Sequence[float] = ...,
    pos_label: Any = ...,
    sample_weight: ArrayLike | None = ...,
    frequency_weight: ArrayLike | None = ...,
    groups: ArrayLike | None = ...,
    confidence_level: float = ...,
) -> GainTable: ...
def gain_table(
    y_true: Any,
    y_score: Any = None,
    n_bins: int = 10,
    *,
    shares: Sequence[float] = (0.01, 0.05),
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
    frequency_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    confidence_level: float = 0.95,
) -> GainTable | GainTables:
    """Count positives by bin of the score, from the highest score down: deciles, gain, lift and KS.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,), or Ranking, RankingSummary or ThresholdCounts
        Labels of two classes: numbers, booleans or strings. Alternatively, pass a ranking, or a mapping from model
        names to rankings (such as a file of `fastevals summarize`), and no `y_score`.
    y_score : array-like of shape (n_samples,) or (n_models, n_samples), mapping of name to array-like, or frame
        Finite scores of one model, or of several: one row, entry or column per model.
    n_bins : int
        Number of bins with equally many rows (or equal weight): 10 for deciles. From 1 to 10,000, and at most the
        number of rows.
    shares : sequence of float in (0, 1)
        Top shares with a row of their own, such as 0.01 for the 1 % of the rows with the highest scores.
    pos_label : label, optional
        The positive class; 1 for labels 0/1, -1/1 and booleans, and required for other labels.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights, at least 0. Each row is one independent observation.
    frequency_weight : array-like of shape (n_samples,), optional
        Number of copies of each row. Not allowed with `sample_weight`.
    groups : array-like of shape (n_samples,), optional
        Cluster of each row, such as the customer: intervals then allow for correlation inside clusters.
    confidence_level : float in (0, 1)
        Level of the interval of each rate (not simultaneous).

    Returns
    -------
    GainTable, or GainTables
        A mapping from model names to tables if there can be several models.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names the argument, the rule and the value.

    Warns
    -----
    UndefinedMetricWarning
        If a class is missing: rates are defined, but gain and lift need positives, and KS needs both classes.

    Notes
    -----
    Bins are cut at whole rows: the first k bins hold k / n_bins of the rows, rounded up. If a cut falls among rows with
    equal scores, their positives are divided in proportion, which is the expected value if these rows are put in a
    random order. `n_divided` counts such cuts. With `sample_weight`, bins have equal weight, and a cut may divide the
    weight of a row.

    Intervals of rates are Wilson's. They treat the boundaries of bins as fixed, although these are quantiles of the
    same rows. With weights or clusters, the variance is linearised, and Wilson's interval is computed for the effective
    number of rows (Korn and Graubard 1998), with a t quantile for the number of clusters in the bin. The variance is
    never below the variance for independent rows whose relative weights vary equally in both classes; a relative weight
    is a weight divided by the mean weight of its class. If rows were counted in ranges of scores, positives are
    expected values, and intervals are widened to include all values that the ranges allow.

    References
    ----------
    Korn and Graubard (1998), "Confidence Intervals for Proportions with Small Expected Number of Positive Counts
    Estimated from Survey Data", Survey Methodology 24, 193-201. Wilson (1927), doi:10.1080/01621459.1927.10502953.

    Examples
    --------
    >>> import fastevals
    >>> from fastevals.datasets import load_digits_eight
    >>> data = load_digits_eight()
    >>> print(fastevals.gain_table(data["label"], data["logistic"], n_bins=4, shares=[0.05]))
    Gain table: 4 bins, 1,797 rows, 174 positives
    <BLANKLINE>
    Bin 1 holds 25 % of the rows and 96.6 % of the positives: rate 0.3733 (95 % interval
        0.3299 to 0.4189), lift 3.86. KS is largest at the end of bin 1: 0.7918.
    <BLANKLINE>
    bin     rows pos.   rate    low   high   gain  lift  cum.     KS   mean lowest
    1        450  168 0.3733 0.3299 0.4189 0.9655  3.86  3.86 0.7918 0.3535 0.0472
    2        449    5 0.0111 0.0048 0.0258 0.9943  0.12  1.99 0.5469 0.0217 0.0093
    3        449    1 0.0022 0.0004 0.0125 1.0000  0.02  1.33 0.2766 0.0050 0.0021
    4        449    0 0.0000 0.0000 0.0085 1.0000  0.00  1.00 0.0000 0.0009 0.0000
    top 5 %   90   88 0.9778 0.9226 0.9939 0.5057 10.10 10.10 0.5045 0.9106 0.7577
    all     1797  174 0.0968 0.0840 0.1114 1.0000  1.00  1.00 0.0000 0.0954 0.0000
    """
    n_bins = check_integer("n_bins", n_bins, low=1, high=MOST_GAIN_BINS)
    plan = _Plan(n_bins, _as_shares(shares), *check_confidence_level(confidence_level))
    if y_score is None:
        design = {
            "pos_label": pos_label, "sample_weight": sample_weight, "frequency_weight": frequency_weight,
            "groups": groups,
        }  # fmt: skip
        for name, value in design.items():
            if value is not None:
                raise ValueError(f"{name} requires y_true and y_score; got it with a {type(y_true).__name__}")
        if isinstance(y_true, Mapping):
            if not y_true:
                raise ValueError("y_true is empty: it must have at least one model")
            tables = {name: _of_ranking(f"y_true[{name!r}]", each, plan) for name, each in y_true.items()}
            return GainTables(tables)
        return _of_ranking("y_true", y_true, plan)
    labelled, names, several = as_predictions("y_score", y_score)
    labels, scores = SCORES.read(y_true, labelled, pos_label)
    rows = GainRows.of(labels, sample_weight, frequency_weight, groups)
    made = []
    for each in scores.values():
        ranking, clusters = rows.ranking(each), rows.clusters(each)
        squares = None if clusters else rows.squares(each, ranking)
        made.append(_make_table(ranking.counts, plan, squares=squares, clusters=clusters))
    return GainTables(dict(zip(names or range(len(made)), made, strict=True))) if several else made[0]


def _as_shares(shares: Any) -> list[Fraction]:
    """Return the top shares as exact fractions: 0.1 is 1/10."""
    if isinstance(shares, (str, Mapping)) or not isinstance(shares, (Sequence, np.ndarray)):
        raise ValueError(f"shares must be a sequence of numbers, got {show(shares)}")
    numbers = [
        check_number(f"shares[{k}]", share, low=0, high=1, open_low=True, open_high=True)
        for k, share in enumerate(shares)
    ]
    return [Fraction(repr(share)) for share in numbers]


class _Plan(NamedTuple):
    """The rows of a table: bins, top shares, and the total."""

    n_bins: int
    shares: list[Fraction]
    level: float
    alpha: float

    def ends(self) -> tuple[list[Fraction], list[int], list[int]]:
        """Return all cuts as ascending shares, and the indices of the first and the last cut of each row."""
        cuts = [Fraction(k, self.n_bins) for k in range(self.n_bins + 1)]
        bounds = [*pairwise(cuts), *((cuts[0], each) for each in self.shares), (cuts[0], cuts[-1])]
        every = sorted({*cuts, *self.shares})
        place = {share: k for k, share in enumerate(every)}
        return every, [place[start] for start, _ in bounds], [place[stop] for _, stop in bounds]

    def names(self) -> tuple[str, ...]:
        """Return the name of each row."""
        tops = (f"top {float(100 * share):.6g} %" for share in self.shares)
        return (*map(str, range(1, self.n_bins + 1)), *tops, "all")


def _of_ranking(name: str, subject: Any, plan: _Plan) -> GainTable:
    """Return the table of a ranking, of counts, or of a summary."""
    ranking = as_ranking(name, subject)
    if not isinstance(ranking, BaseRanking):
        raise ValueError(
            f"{name} must be a Ranking, RankingSummary or ThresholdCounts if there is no y_score, got {show(subject)}"
        )
    drawn, _ = ranking._counts_and_doubts({})
    in_ranges = None if isinstance(ranking, Ranking) else ranking
    counts, squares = drawn.counts, drawn._squares
    if squares is None:
        return _make_table(counts, plan, in_ranges=in_ranges)
    shares = squares.in_weight(1 / float(counts.n_pos + counts.n_neg) ** 2)
    return _make_table(counts, plan, squares=SquaredShares(shares, squares.rows[::-1]), in_ranges=in_ranges)


def _make_table(
    counts: ThresholdCounts,
    plan: _Plan,
    *,
    squares: SquaredShares | None = None,
    clusters: GainClusters | None = None,
    in_ranges: BaseRanking | None = None,
) -> GainTable:
    """Return the table of counted rows.

    Intervals of weighted rows need the squares of weights, or clusters. If rows were counted in ranges of scores,
    `in_ranges` is their ranking, and all rows of a range are counted at its middle.
    """
    shares, first, last = plan.ends()
    cuts = ShareCuts.at(counts, shares)
    captured, n_pos, n_neg, n = cuts.above(counts.tps), counts.n_pos, counts.n_neg, cuts.amounts[-1]
    if isinstance(n, int) and plan.n_bins > n:
        raise ValueError(f"n_bins must be at most the number of rows, {n}, got {plan.n_bins}")
    rows, positives = (
        [above[b] - above[a] for a, b in zip(first, last, strict=True)] for above in (cuts.amounts, captured)
    )
    rates, base = _quotients(positives, rows), float(ratio(n_pos, n))
    gains = _quotients([captured[b] for b in last], n_pos)
    taken = _quotients([cuts.amounts[b] for b in last], n)
    others = _quotients([cuts.amounts[b] - captured[b] for b in last], n_neg)
    if not (n_pos and n_neg):
        missing = "negatives" if n_pos else "positives"
        warn_undefined("KS" if n_pos else "gain, lift and KS", f"y_true has no {missing}")
    possible, cautions = [rates, rates], []
    if in_ranges is not None:
        possible = possible_rates(in_ranges, cuts, first, last, rates)
        open_positives = float(
            np.max((possible[1] - possible[0])[: plan.n_bins] * np.array(rows, float)[: plan.n_bins])
        )
        cautions.append(
            "Rows were counted in ranges of scores: positives are expected values, and a threshold is the middle of a "
            f"range. Intervals are widened for positives whose bin is unknown (at most {open_positives:.3g} per bin)."
        )
    else:
        cautions += _divisions(cuts)
    effective, caution = effective_rows(cuts, first, last, rates, plan.alpha, squares=squares, clusters=clusters)
    low, high = (
        share_interval(effective * rate, effective * (1 - rate), "wilson", plan.alpha, "two-sided")[k]
        for k, rate in enumerate(possible)
    )
    sums = None if in_ranges is not None else cuts.sums_between()
    return GainTable(
        bins=plan.names(),
        rows=_plain(rows),
        positives=_plain(positives),
        rates=rates,
        low=low,
        high=high,
        gains=gains,
        lifts=ratio(rates, base),
        cumulative_lifts=ratio(gains, taken),
        ks=gains - others,
        mean_predicted=np.full(len(rows), np.nan) if sums is None else _means(sums, first, last, rows),
        thresholds=cuts.lowest_scores[last],
        n_bins=plan.n_bins,
        n_divided=int(cuts.is_divided.sum()),
        confidence_level=plan.level,
        caution=" ".join([*cautions, *caution]),
    )


def _quotients(numerators: Sequence[Any], denominators: Any) -> Floats:
    """Return quotients, each rounded once if both numbers are exact; 0 / 0 gives NaN."""
    each = denominators if isinstance(denominators, list) else [denominators] * len(numerators)
    return np.array(
        [
            float(a / b if isinstance(b, float) else Fraction(a, b)) if b else math.nan
            for a, b in zip(numerators, each, strict=True)
        ]
    )


def _plain(values: Sequence[Any]) -> NDArray[Any]:
    """Return exact numbers as integers if all are whole, and as floats otherwise."""
    is_whole = all(not isinstance(value, float) and Fraction(value).denominator == 1 for value in values)
    return np.array([int(value) if is_whole else float(value) for value in values])


def _means(sums: Floats, first: list[int], last: list[int], rows: list[Any]) -> Floats:
    """Return the mean probability of the rows between two cuts, from the sums between neighbouring cuts."""
    return np.array([math.fsum(sums[a:b]) / n if n else math.nan for a, b, n in zip(first, last, rows, strict=True)])


def _divisions(cuts: ShareCuts) -> list[str]:
    """Return cautions about cuts that divide rows with equal scores, or that lie at an unknown score."""
    n_divided, n_unknown = int(cuts.is_divided.sum()), int(np.isnan(cuts.lowest_scores[1:]).sum())
    of_cuts, cautions = f"of {len(cuts.parts) - 2} cuts", []
    if n_divided and cuts.counts.tps.dtype.kind == "f":
        cautions.append(
            f"{n_divided} {of_cuts} divide the weight of a row, or of rows with equal scores, in proportion."
        )
    elif n_divided:
        cautions.append(
            f"{n_divided} {of_cuts} fall among rows with equal scores, whose positives are divided in proportion. A "
            "threshold takes all of these rows or none: use confusion_at for the counts at a threshold."
        )
    if n_unknown:
        cautions.append(
            f"At {n_unknown} {of_cuts} the lowest score is unknown, because the scores of negatives are not kept: "
            "compute the table from rows in memory."
        )
    return cautions
