"""Drift of scores between two samples: PSI, the Kolmogorov-Smirnov distance and the Wasserstein distance.

A sample is reduced to its counts. Both samples are then one set of threshold counts, with today's rows in place of
positives and yesterday's rows in place of negatives.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._distinct import sorted_unique
from fastevals._kernels.distances import area_between
from fastevals._options import check_integer, check_number, show, warn_undefined
from fastevals._text import format_pvalue, printable
from fastevals._validation.arrays import as_scores, check_finite, named_columns
from fastevals.counts import ThresholdCounts, last_row, read_only_as
from fastevals.document.document import GAP, TEXT, Document, Number, Part, PValue, Row, Section, Sentence, Table
from fastevals.document.frames import Columns, format_cells, make_columns, stack
from fastevals.measure import ranking_metrics
from fastevals.measure.probability_metrics import WEIGHT_ROUNDING
from fastevals.measure.ranking.base import BaseRanking
from fastevals.measure.ranking.ranking import Ranking, as_ranking
from fastevals.results import Frozen

Floats = NDArray[np.float64]

MODERATE_PSI, LARGE_PSI = 0.1, 0.25  # conventional limits, whatever the number of rows
N_DRAWS = 9_999
SMALL_SAMPLE_ROWS = 500  # harmonic size, up to which PSI's null distribution is simulated
MOST_EXACT_PAIRS = 1_000_000  # pairs of rows, up to which the null distribution of KS is exact


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ScoreDrift(Frozen):
    """How far scores have shifted between two samples, and whether chance explains it.

    Attributes
    ----------
    psi : float
        Population stability index: the sum over bins of ``(today - yesterday) * log(today / yesterday)``, in shares of
        rows. By convention a PSI below 0.1 is small and above 0.25 large, whatever the number of rows.
    psi_standard_error : float
        By the delta method; valid if the scores have clearly shifted, and too small if they have not.
    psi_pvalue : float
        Probability of a PSI at least as large if both samples come from one distribution.
    noticeable_psi : float
        Smallest PSI that is significant at level `alpha` with these numbers of rows.
    ks, ks_threshold, ks_pvalue : float
        Largest distance between the distribution functions, the highest score at which it is attained, and its p-value.
        Ties make the p-value conservative.
    wasserstein, wasserstein_standard_error : float
        Area between the distribution functions, in units of the score, as in `scipy.stats.wasserstein_distance`. The
        standard error is valid if the scores have clearly shifted.
    n_today, n_yesterday : int or float
        Rows of each sample, or their weight.
    lower_edges, upper_edges : ndarray of shape (n_bins,)
        Bin k has the scores ``lower_edges[k] < score <= upper_edges[k]``. The outermost edges are infinite.
    yesterday, today : ndarray of shape (n_bins,)
        Share of each sample's rows in each bin.
    contributions : ndarray of shape (n_bins,)
        Term of each bin in the PSI.
    alpha : float
        Significance level.
    significant : bool
        Whether the scores have shifted significantly: the smaller of the p-values of PSI and KS is below ``alpha / 2``.
    caution : str
        What to know before using the result; empty if there is nothing.
    conclusion : str
        Size and significance, as a sentence.

    Examples
    --------
    >>> import fastevals
    >>> drift = fastevals.score_drift([0.1, 0.4, 0.6, 0.9], [0.1, 0.2, 0.3, 0.6], n_bins=2)
    >>> drift.today.tolist(), drift.ks, drift.significant
    ([0.25, 0.75], 0.5, False)
    """

    psi: float
    psi_standard_error: float
    psi_pvalue: float
    noticeable_psi: float
    ks: float
    ks_threshold: float
    ks_pvalue: float
    wasserstein: float
    wasserstein_standard_error: float
    n_today: float
    n_yesterday: float
    lower_edges: NDArray[Any]
    upper_edges: NDArray[Any]
    yesterday: Floats
    today: Floats
    contributions: Floats
    alpha: float
    caution: str = ""

    @property
    def significant(self) -> bool:
        """Return whether the scores have shifted significantly, by PSI or KS (Bonferroni)."""
        return bool(np.fmin(self.psi_pvalue, self.ks_pvalue) < self.alpha / 2)

    @property
    def conclusion(self) -> str:
        """Return size and significance as a sentence."""
        psi = f"PSI {self.psi:.3g} ({_size(self.psi)}{_with_p(self.psi_pvalue)})"
        ks = f"KS distance {self.ks:.3g}{_with_p(self.ks_pvalue, ' (', ')')}"
        if math.isnan(self.ks_pvalue):
            return f"{psi}, {ks}. Significance is unknown."
        if self.significant:
            return f"The scores have shifted significantly: {psi}, {ks}."
        rows = f"{self.n_today:,} rows today and {self.n_yesterday:,} yesterday"
        least = (
            ""
            if math.isnan(self.psi_pvalue)
            else f" With {rows}, only a PSI above {self.noticeable_psi:.3g} is significant."
        )
        return f"No significant drift: {psi}, {ks}.{least}"

    def _title(self) -> str:
        return f"Score drift: {self.n_today:,.12g} rows today, {self.n_yesterday:,.12g} yesterday"

    def _columns(self) -> Columns:
        return make_columns(
            {
                "lower_edge": self.lower_edges,
                "upper_edge": self.upper_edges,
                "yesterday": self.yesterday,
                "today": self.today,
                "contribution": self.contributions,
            }
        )

    def _document(self) -> Document:
        return Document("", self._short_title(), sections=[Section(self._parts())], numbers=self.to_dict)

    def _parts(self) -> list[Part]:
        """Return the parts of the document: conclusion, measures, bins and caution."""
        measures = [
            Row("PSI", [Number(self.psi), Number(self.psi_standard_error), PValue(self.psi_pvalue)]),
            Row("KS distance", [Number(self.ks), "", PValue(self.ks_pvalue)]),
            Row("Wasserstein distance", [Number(self.wasserstein), Number(self.wasserstein_standard_error), ""]),
        ]
        of_measures = Table("drift", "Drift", ["Measure", "Value", "Std. error", "p"], measures)
        heads = ["Bin", "Above", "Up to", "Yesterday", "Today", "Contribution"]
        of_bins = Table("drift_bins", "Shares by bin", heads, self._rows)
        caution = [GAP, Sentence(self.caution, "caution")] if self.caution else []
        return [Sentence(self.conclusion, "verdict"), GAP, of_measures, GAP, of_bins, *caution]

    def _rows(self) -> Iterator[Row]:
        columns = self._columns()
        for k, texts in enumerate(zip(*format_cells(columns), strict=True)):
            numbers = zip(columns.values(), texts, strict=True)
            yield Row(str(k + 1), [Number(float(column[k]), written=text) for column, text in numbers])


def _size(psi: float) -> str:
    """Return a PSI's conventional size."""
    if math.isnan(psi):
        return "undefined"
    if psi > LARGE_PSI:
        return f"large: above {LARGE_PSI} by convention"
    return (
        f"moderate: {MODERATE_PSI} to {LARGE_PSI} by convention"
        if psi >= MODERATE_PSI
        else f"small: below {MODERATE_PSI} by convention"
    )


def _with_p(pvalue: float, before: str = "; ", after: str = "") -> str:
    """Return a p-value for a sentence; nothing if it is undefined."""
    if math.isnan(pvalue):
        return ""
    return f"{before}p < 0.0001{after}" if pvalue < 0.0001 else f"{before}p = {format_pvalue(pvalue)}{after}"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ScoreDrifts(Frozen, Mapping[Any, ScoreDrift]):
    """Drift of several models' scores: a mapping from a model's name to its `ScoreDrift`.

    Attributes
    ----------
    models : dict of name to ScoreDrift
        The mapping's items.
    """

    models: dict[Any, ScoreDrift]

    def __getitem__(self, model: Any) -> ScoreDrift:
        return self.models[model]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.models)

    def __len__(self) -> int:
        return len(self.models)

    def _title(self) -> str:
        return f"Score drift of {len(self)} model{'s' * (len(self) != 1)}"

    def _columns(self) -> Columns:
        return stack(({"model": name}, each._columns()) for name, each in self.models.items())

    def _document(self) -> Document:
        sections = [
            Section([Sentence(f"{printable(str(name))}\n{each._title()}", "line", TEXT), *each._parts()], str(name))
            for name, each in self.models.items()
        ]
        return Document("", self._short_title(), sections=sections, numbers=self.to_dict)


def score_drift(
    today: Any, yesterday: Any, *, n_bins: int = 10, edges: ArrayLike | None = None, alpha: float = 0.05
) -> ScoreDrift | ScoreDrifts:
    """Measure how far scores have shifted from one sample to another, and test whether chance explains it.

    Labels are not used, so today's rows need none.

    Parameters
    ----------
    today, yesterday : array-like of shape (n_rows,), Ranking, ThresholdCounts, RankingSummary, mapping or frame
        Finite scores of two samples of independent rows, or their counts. A mapping or frame has one entry or column
        per model, and both must have the same names.
    n_bins : int
        Number of bins of the PSI, cut at quantiles of yesterday's scores: from 1 to 10,000, and at most yesterday's
        rows. Rows with equal scores are in one bin, so there may be fewer bins.
    edges : array-like of shape (n_bins - 1,), optional
        Inner edges of the bins, strictly ascending, in place of quantiles: an edge belongs to the bin below it.
    alpha : float in (0, 1)
        Significance level.

    Returns
    -------
    ScoreDrift, or ScoreDrifts
        A mapping from model names to results if the samples are mappings or frames.

    Raises
    ------
    ValueError
        If an argument is not as described, or if a row's score is unknown; the message names the argument, the rule
        and the value.

    Warns
    -----
    UndefinedMetricWarning
        If PSI is NaN, because all of yesterday's rows are in one bin.

    Notes
    -----
    If a sample has no rows in a bin, it counts as half a row there, and `caution` says so. Other packages use a share
    such as 0.0001, which makes the PSI larger.

    If both samples come from one distribution, the PSI is distributed like ``(1 / n_today + 1 / n_yesterday)`` times
    chi-square with ``n_bins - 1`` degrees of freedom [1]_. For small samples, 9,999 draws with a fixed seed replace
    this approximation. With bins at yesterday's quantiles, the draws are Dirichlet-multinomial counts, whose
    distribution does not depend on the scores. With given edges, the rows of both samples are pooled, and today's rows
    are drawn from them.

    The p-value of KS is exact for up to a million pairs of rows; for more, it is the p-value of a one-sample test with
    ``n_today * n_yesterday / (n_today + n_yesterday)`` rows [2]_. If rows have weights, p-values are NaN. If rows are
    clustered, such as several rows per customer, p-values are too small: pass one row per cluster.

    References
    ----------
    .. [1] Yurdakul (2018), "Statistical Properties of Population Stability Index", dissertation, Western Michigan
       University.
    .. [2] Simard and L'Ecuyer (2011), "Computing the Two-Sided Kolmogorov-Smirnov Distribution", Journal of Statistical
       Software 39(11), doi:10.18637/jss.v039.i11.

    Examples
    --------
    >>> import fastevals
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> drift = fastevals.score_drift(rng.beta(2, 4, 500), rng.beta(2, 5, 2000))
    >>> round(drift.psi, 4), drift.psi_pvalue < 0.001, drift.ks, drift.significant
    (0.0752, True, 0.13, True)
    """
    n_bins = check_integer("n_bins", n_bins, low=1, high=10_000)
    alpha = check_number("alpha", alpha, low=0, high=1, open_low=True, open_high=True)
    inner = None if edges is None else _as_edges(edges)
    models = [named_columns(name, each) for name, each in (("today", today), ("yesterday", yesterday))]
    if models[0] is None and models[1] is None:
        return _drift(_Sample.of("today", today), _Sample.of("yesterday", yesterday), n_bins, inner, alpha)
    if models[0] is None or models[1] is None or set(models[0]) != set(models[1]) or not models[0]:
        seen = " and ".join("one sample" if each is None else show(list(each)) for each in models)
        raise ValueError(f"today and yesterday must have the same models, got {seen}")
    return ScoreDrifts(
        {
            name: _drift(
                _Sample.of(f"today[{name!r}]", scores),
                _Sample.of(f"yesterday[{name!r}]", models[1][name]),
                n_bins,
                inner,
                alpha,
            )
            for name, scores in models[0].items()
        }
    )


def _as_edges(edges: Any) -> NDArray[Any]:
    array = as_scores("edges", edges)
    check_finite("edges", array)
    falls = np.flatnonzero(array[1:] <= array[:-1])
    if falls.size:
        k = int(falls[0])
        raise ValueError(f"edges must be strictly ascending, got {show(array[k + 1])} after {show(array[k])}")
    return array


# Samples --------------------------------------------------------------------------------------------------------------


class _Sample(NamedTuple):
    """A sample: its scores, or counts of rows with any label."""

    scores: NDArray[Any] | None
    counts: ThresholdCounts | None
    doubt: float = 0.0  # by how much a share of rows above a score may be off, if scores are known in ranges

    @classmethod
    def of(cls, name: str, value: Any) -> _Sample:
        """Check a user's scores, or take the counts of a ranking or summary."""
        ranking = as_ranking(name, value)
        if not isinstance(ranking, BaseRanking):
            scores = as_scores(name, value)
            check_finite(name, scores)
            return cls(scores, None)
        drawn, _ = ranking._counts_and_doubts({})
        counts, sizes = drawn.counts, np.zeros(0)
        if not isinstance(ranking, Ranking):  # rows were counted in ranges of scores
            cells: Any = ranking.cells  # type: ignore[attr-defined]
            sizes = cells.counts[cells.low < cells.high, :2].sum(axis=1) / cells.totals.sum()
        elif not counts._has_each_score:  # negatives between two scores of positives
            sizes = np.diff(counts.fps)[np.diff(counts.tps) == 0] / (counts.n_pos + counts.n_neg)
        return cls(None, counts, float(sizes.max(initial=0.0)))

    def as_class(self, *, positive: bool) -> ThresholdCounts:
        """Return counts with all rows in one class."""
        counts = self.counts
        if counts is None:
            counts = Ranking(np.ones(len(self.scores), dtype=np.bool_), self.scores, pos_label=True).counts  # type: ignore[arg-type]
        totals = counts.tps + counts.fps
        none = np.zeros_like(totals)
        return ThresholdCounts._unchecked(counts.thresholds, *((totals, none) if positive else (none, totals)))


def _pooled(today: _Sample, yesterday: _Sample) -> ThresholdCounts:
    """Return counts with today's rows as positives and yesterday's rows as negatives."""
    one, other = today.scores, yesterday.scores
    if one is None or other is None or one.dtype != other.dtype:
        return ThresholdCounts.merge([today.as_class(positive=True), yesterday.as_class(positive=False)])
    return Ranking(np.arange(one.size + other.size) < one.size, np.concatenate((one, other))).counts  # one sort


# Measures -------------------------------------------------------------------------------------------------------------


def _drift(today: _Sample, yesterday: _Sample, n_bins: int, edges: NDArray[Any] | None, alpha: float) -> ScoreDrift:
    counts = _pooled(today, yesterday)
    n, m = counts.n_pos, counts.n_neg
    weighted = counts.tps.dtype.kind == "f"
    if edges is None and not weighted and n_bins > m:
        raise ValueError(f"n_bins must be at most yesterday's rows, {m}, got {n_bins}")
    starts, inner = _cut(counts, n_bins) if edges is None else _cut_at(counts, edges)
    rows = np.diff(counts.tps[starts])[::-1], np.diff(counts.fps[starts])[::-1]
    cautions = []
    doubt = today.doubt + yesterday.doubt
    psi = _Psi.of(*rows)
    pvalue = noticeable = math.nan
    if rows[0].size < 2:
        warn_undefined("PSI", "all of yesterday's rows are in one bin")
        psi = _Psi(math.nan, math.nan, np.full(1, math.nan), 0)
        cautions.append("PSI is undefined, because all of yesterday's rows are in one bin: use KS, or pass edges=.")
    elif not weighted:
        pvalue, noticeable = _significance(psi.value, rows, alpha, at_quantiles=edges is None)
    if psi.n_empty:
        cautions.append(
            f"{psi.n_empty} of {2 * rows[0].size} counts by bin are 0 and count as half a row: use fewer bins."
        )
    if weighted:
        cautions.append("P-values are unknown, because rows have weights: pass independent rows without weights.")
    if doubt:
        cautions.append(
            f"Rows were counted in ranges of scores: KS and shares by bin may be off by up to {doubt:.2g}, which the "
            "p-value of KS allows for. For the Wasserstein distance, pass the scores."
        )
    ks, threshold = ranking_metrics.ks_statistic(counts)
    length, error = (math.nan, math.nan) if doubt else _wasserstein(counts)
    return ScoreDrift(
        psi=psi.value,
        psi_standard_error=psi.standard_error,
        psi_pvalue=pvalue,
        noticeable_psi=noticeable,
        ks=ks,
        ks_threshold=threshold,
        ks_pvalue=math.nan if weighted else _ks_pvalue(counts, ks, doubt),
        wasserstein=length,
        wasserstein_standard_error=math.nan if weighted else error,
        n_today=n,
        n_yesterday=m,
        lower_edges=np.concatenate(([-np.inf], inner)),
        upper_edges=np.concatenate((inner, [np.inf])),
        yesterday=rows[1] / m,
        today=rows[0] / n,
        contributions=psi.contributions,
        alpha=alpha,
        caution=" ".join(cautions),
    )


def _cut(counts: ThresholdCounts, n_bins: int) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Cut counts into bins with equally many of yesterday's rows; return the row at each cut, and the inner edges."""
    m = counts.n_neg
    enough: Any = [k * m // n_bins if isinstance(m, int) else k * m / n_bins for k in range(1, n_bins)]
    enough = np.array(enough) if isinstance(m, int) else np.array(enough) * (1 + WEIGHT_ROUNDING)
    rows = sorted_unique(last_row(counts.thresholds.size, enough.shape, lambda at: counts.fps[at] <= enough))
    rows = rows[counts.fps[rows] > 0]  # no bin above yesterday's highest score
    return np.concatenate(([0], rows, [counts.thresholds.size - 1])), counts.thresholds[rows + 1][::-1]


def _cut_at(counts: ThresholdCounts, edges: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Cut counts into bins with given inner edges; return the row at each cut, and the inner edges."""
    rows = counts.thresholds.size - np.searchsorted(counts.thresholds[::-1], edges[::-1], side="right") - 1
    return np.concatenate(([0], rows, [counts.thresholds.size - 1])), edges


class _Psi(NamedTuple):
    value: float
    standard_error: float
    contributions: Floats
    n_empty: int  # counts that are 0

    @classmethod
    def of(cls, today: NDArray[Any], yesterday: NDArray[Any]) -> _Psi:
        """Return the PSI, given each sample's rows by bin, with its standard error by the delta method."""
        n, m = today.sum(), yesterday.sum()
        p, q = (np.where(each == 0, 0.5, each) / each.sum() for each in (today, yesterday))
        terms = (p - q) * np.log(p / q)
        slopes = np.log(p / q) + 1 - q / p, np.log(q / p) + 1 - p / q
        variances = (
            float(share @ slope**2 - (share @ slope) ** 2) for share, slope in zip((p, q), slopes, strict=True)
        )
        error = math.sqrt(max(sum(each / size for each, size in zip(variances, (n, m), strict=True)), 0.0))
        return cls(float(terms.sum()), error, terms, int((today == 0).sum() + (yesterday == 0).sum()))


def _significance(
    psi: float, rows: tuple[NDArray[Any], NDArray[Any]], alpha: float, *, at_quantiles: bool
) -> tuple[float, float]:
    """Return the p-value of a PSI, and the smallest PSI that is significant."""
    from scipy.stats import chi2

    today, yesterday = rows
    n, m = int(today.sum()), int(yesterday.sum())
    scale, df = 1 / n + 1 / m, today.size - 1
    if 1 / scale >= SMALL_SAMPLE_ROWS:
        return float(chi2.sf(psi / scale, df)), scale * float(chi2.isf(alpha, df))
    rng = np.random.default_rng(0)
    if at_quantiles:
        gaps = yesterday + (np.arange(yesterday.size) == yesterday.size - 1)  # between scores: one more than rows
        drawn = rng.multinomial(n, rng.dirichlet(gaps, N_DRAWS))
        others = np.broadcast_to(yesterday, drawn.shape)
    else:
        drawn = rng.multivariate_hypergeometric(today + yesterday, n, N_DRAWS)
        others = today + yesterday - drawn
    p, q = np.where(drawn == 0, 0.5, drawn) / n, np.where(others == 0, 0.5, others) / m
    values = np.sort(((p - q) * np.log(p / q)).sum(axis=1))
    n_above = N_DRAWS - int(np.searchsorted(values, psi * (1 - 1e-12)))
    return (1 + n_above) / (1 + N_DRAWS), float(values[min(math.ceil((1 - alpha) * (N_DRAWS + 1)), N_DRAWS) - 1])


def _ks_pvalue(counts: ThresholdCounts, distance: float, doubt: float) -> float:
    """Return the p-value of the two-sample KS distance; if the distance has bounds, use the lower bound."""
    from scipy import stats

    n, m = int(counts.n_pos), int(counts.n_neg)
    if n * m <= MOST_EXACT_PAIRS and not doubt:
        ranks = np.arange(counts.thresholds.size - 1)
        samples = (np.repeat(ranks, np.diff(column)) for column in (counts.tps, counts.fps))
        return float(stats.ks_2samp(*samples, method="exact").pvalue)
    return float(stats.kstwo.sf(max(distance - doubt, 0.0), max(round(n * m / (n + m)), 1)))


def _wasserstein(counts: ThresholdCounts) -> tuple[float, float]:
    """Return the area between the distribution functions, and its standard error (that of its influence function)."""
    sums = np.empty(5)
    area_between(read_only_as(counts.thresholds, np.dtype(np.float64)), counts.tps, counts.fps, sums)
    area, *moments = sums.tolist()
    variances = (
        max(square - mean**2, 0.0) / size
        for mean, square, size in zip(moments[:2], moments[2:], (counts.n_pos, counts.n_neg), strict=True)
    )
    return area, math.sqrt(sum(variances))
