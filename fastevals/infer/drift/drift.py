"""Drift of scores between two samples: PSI, the Kolmogorov-Smirnov distance and the Wasserstein distance."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._execution import run
from fastevals._options import check_integer, check_number, show, warn_undefined
from fastevals._text import format_pvalue
from fastevals._validation.arrays import as_scores, check_finite, named_columns
from fastevals.document.document import GAP, Document, Number, Part, PValue, Row, Section, Sentence, Table
from fastevals.document.frames import Columns, format_cells, make_columns
from fastevals.infer.drift import significance
from fastevals.infer.drift.measures import Psi, distances, standard_error
from fastevals.infer.drift.samples import SampleRows, ScoreSample
from fastevals.results import ByModel, Frozen

Floats = NDArray[np.float64]

MODERATE_PSI, LARGE_PSI = 0.1, 0.25  # conventional limits, whatever the number of rows
FEW_EFFECTIVE_ROWS = 100  # of weighted rows, below which p-values are rough


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
    n_clusters : int or None
        Clusters of both samples together; None if rows are independent.
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
    n_clusters: int | None = None
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
        if math.isnan(self.psi_pvalue):
            return f"No significant drift: {psi}, {ks}."
        sizes = "these weights" if self._is_weighted else self._sizes(" and ")
        least = f"only a PSI above {self.noticeable_psi:.3g} is significant"
        return f"No significant drift: {psi}, {ks}. With {sizes}, {least}."

    @property
    def _is_weighted(self) -> bool:
        return isinstance(self.n_today, float) or isinstance(self.n_yesterday, float)

    def _sizes(self, between: str = ", ") -> str:
        """Return the sizes of the samples in words."""
        clusters = "" if self.n_clusters is None else f" in {self.n_clusters:,} clusters"
        if self._is_weighted:
            return f"weight {self.n_today:,.6g} today{between}{self.n_yesterday:,.6g} yesterday{clusters}"
        plural = "s" * (self.n_today != 1)
        return f"{self.n_today:,} row{plural} today{between}{self.n_yesterday:,} yesterday{clusters}"

    def _title(self) -> str:
        return f"Score drift: {self._sizes()}"

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


class ScoreDrifts(ByModel[ScoreDrift]):
    """Drift of several models' scores: a mapping from a model's name to its `ScoreDrift`.

    Attributes
    ----------
    models : dict of name to ScoreDrift
        The mapping's items.
    """

    __slots__ = ()
    _what = "Score drift"


def score_drift(
    today: Any,
    yesterday: Any,
    *,
    n_bins: int = 10,
    edges: ArrayLike | None = None,
    sample_weight: tuple[ArrayLike | None, ArrayLike | None] | None = None,
    groups: tuple[ArrayLike, ArrayLike] | None = None,
    alpha: float = 0.05,
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
        Inner edges of the bins, strictly ascending, instead of quantiles: an edge belongs to the bin below it.
    sample_weight : pair of array-like, optional
        Weights of today's rows and of yesterday's rows; None for a day without weights. Both samples must be scores.
    groups : pair of array-like, optional
        Clusters of today's rows and of yesterday's rows, such as customers with several rows. A customer may have rows
        on both days. Both samples must be scores.
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
    An empty bin of a sample counts as half a row of that sample, and `caution` says so. Other packages use a share such
    as 0.0001, which makes the PSI larger.

    If both samples come from one distribution, the PSI is distributed like ``(1 / n_today + 1 / n_yesterday)`` times
    chi-square with ``n_bins - 1`` degrees of freedom [1]_. For small samples, 9,999 draws with a fixed seed replace
    this approximation. With bins at yesterday's quantiles, the draws are Dirichlet-multinomial counts, whose
    distribution does not depend on the scores. With given edges, the rows of both samples are pooled, and today's rows
    are drawn from them.

    The p-value of KS is exact for up to a million pairs of rows; for more, it is the p-value of a one-sample test with
    ``n_today * n_yesterday / (n_today + n_yesterday)`` rows [2]_.

    With weights or clusters, the p-values of PSI and KS are approximate. Without drift, the difference between the two
    distribution functions is nearly a Gaussian process. Its covariance is estimated from the contribution of each row
    or cluster, and 9,999 draws with a fixed seed give the p-values. With few rows or clusters, p-values tend to be too
    large. Rows of weight zero are left out.

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
    rows = SampleRows(sample_weight, groups)
    models = [named_columns(name, each) for name, each in (("today", today), ("yesterday", yesterday))]
    if models[0] is None and models[1] is None:
        return _drift(rows, [("today", today), ("yesterday", yesterday)], n_bins, inner, alpha)
    if models[0] is None or models[1] is None or set(models[0]) != set(models[1]) or not models[0]:
        seen = " and ".join("one sample" if each is None else show(list(each)) for each in models)
        raise ValueError(f"today and yesterday must have the same models, got {seen}")
    named = {
        name: [(f"today[{name!r}]", scores), (f"yesterday[{name!r}]", models[1][name])]
        for name, scores in models[0].items()
    }
    return ScoreDrifts({name: _drift(rows, each, n_bins, inner, alpha) for name, each in named.items()})


def _as_edges(edges: Any) -> NDArray[Any]:
    array = as_scores("edges", edges)
    check_finite("edges", array)
    falls = np.flatnonzero(array[1:] <= array[:-1])
    if falls.size:
        k = int(falls[0])
        raise ValueError(f"edges must be strictly ascending, got {show(array[k + 1])} after {show(array[k])}")
    return array


def _drift(
    rows: SampleRows, given: Sequence[tuple[str, Any]], n_bins: int, edges: NDArray[Any] | None, alpha: float
) -> ScoreDrift:
    """Return the drift of one model."""
    today, yesterday = run(ScoreSample.sorted, [rows.sample(day, *each) for day, each in enumerate(given)])
    samples = today, yesterday
    is_weighted = any(each.is_weighted for each in samples)
    if edges is None and not yesterday.is_weighted and n_bins > yesterday.total:
        raise ValueError(f"n_bins must be at most yesterday's rows, {yesterday.total}, got {n_bins}")
    inner = yesterday.quantiles(n_bins) if edges is None else edges
    binned = today.binned(inner), yesterday.binned(inner)
    psi = Psi.of(binned)
    if not inner.size:
        warn_undefined("PSI", "all of yesterday's rows are in one bin")
        psi = psi._replace(value=math.nan, terms=np.full(1, math.nan), n_empty=0)
    measured = distances(samples)
    found = significance.Significance()
    if not (is_weighted or rows.n_clusters):
        found = significance.of_rows(samples, psi, measured.ks, binned, alpha, at_quantiles=edges is None)
    elif not any(math.isnan(each.effective_rows) for each in samples):
        found = significance.of_process(samples, inner, psi, alpha)
    return ScoreDrift(
        psi=psi.value,
        psi_standard_error=standard_error(samples, inner, psi.slopes) if inner.size else math.nan,
        psi_pvalue=found.psi_pvalue,
        noticeable_psi=found.noticeable_psi,
        ks=measured.ks,
        ks_threshold=measured.ks_threshold,
        ks_pvalue=found.ks_pvalue,
        wasserstein=measured.wasserstein,
        wasserstein_standard_error=measured.wasserstein_standard_error,
        n_today=today.total,
        n_yesterday=yesterday.total,
        lower_edges=np.concatenate(([-np.inf], inner)),
        upper_edges=np.concatenate((inner, [np.inf])),
        yesterday=binned[1].shares,
        today=binned[0].shares,
        contributions=psi.terms,
        alpha=alpha,
        n_clusters=rows.n_clusters,
        caution=" ".join(_cautions(today, yesterday, psi)),
    )


def _cautions(today: ScoreSample, yesterday: ScoreSample, psi: Psi) -> Iterator[str]:
    """Yield what to know before using the result."""
    if math.isnan(psi.value):
        yield "PSI is undefined, because all of yesterday's rows are in one bin: use KS, or pass edges=."
    if psi.n_empty:
        yield f"{psi.n_empty} of {2 * psi.terms.size} counts by bin are 0 and count as half a row: use fewer bins."
    effective = [each.effective_rows for each in (today, yesterday) if each.is_weighted]
    if np.isnan(effective).any():
        yield "P-values are unknown, because sums of squared weights are unknown: pass scores and sample_weight=."
    elif min(effective, default=FEW_EFFECTIVE_ROWS) < FEW_EFFECTIVE_ROWS:
        yield (
            f"P-values are rough, because the weights leave only {min(effective):.0f} effective rows: use samples with "
            f"at least {FEW_EFFECTIVE_ROWS}."
        )
    doubt = today.doubt + yesterday.doubt
    if doubt:
        yield (
            f"Rows were counted in ranges of scores: KS and shares by bin may be off by up to {doubt:.2g}, which the "
            "p-value of KS allows for. For the Wasserstein distance, pass the scores."
        )
