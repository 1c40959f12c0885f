"""Results of `calibration` and their conclusions in words: for one model, segments of rows, and several models."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fastevals._options import as_flag, show
from fastevals._text import count_of, first_lines, format_column, printable
from fastevals.document.document import GAP, Document, Number, Part, PValue, Row, Section, Sentence, Table
from fastevals.document.frames import Columns, as_column, from_rows, make_columns, stack
from fastevals.infer.bootstrap.bootstrap import FEW_ROWS
from fastevals.infer.calibration.bins import BinOptions, CalibrationBins, make_bins
from fastevals.infer.calibration.errors import CalibrationError, make_error
from fastevals.infer.calibration.forecasts import Forecasts
from fastevals.infer.comparison import Difference
from fastevals.infer.significance.corrections import adjust_pvalues
from fastevals.infer.significance.decision import Compared, decide, pvalue_text
from fastevals.measure.curves.reliability import ReliabilityCurve
from fastevals.measure.probability_metrics import Strategy, checked_bins
from fastevals.results import NOWHERE, Frozen, Interval, Null, SignificanceResult, check_confidence_level

Floats = NDArray[np.float64]
T = TypeVar("T")

FEW_CLUSTERS = 50
LARGEST_LOG = math.log(sys.float_info.max)
MOST_DIGITS = 1e15  # sums of weights from here on are written with an exponent
WITH_DECIMALS = 0.01, 1e6  # range of numbers with a fixed number of decimals; others have three digits
TWICE = 2.0  # a ratio from here on, or below its inverse, is said as a multiple
ENOUGH_EXPECTED = 5  # positives and negatives of a bin, for chi-square to be close (Cochran 1954)
FEW_BINS_RARE = 0.2  # share of bins that may expect fewer
SEGMENTS_WRITTEN = 100  # in text and Markdown
QUANTITIES = ("ratio", "intercept", "slope", "slope_intercept")
WORDS = {
    "ratio": "ratio", "intercept": "intercept (slope 1)", "slope": "slope", "slope_intercept": "intercept of slope",
}  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CalibrationEstimate(Frozen):
    """An estimate with its interval, and the p-value of the test that the probabilities are calibrated.

    Attributes
    ----------
    value : float
        The estimate; NaN if undefined.
    confidence_interval : Interval
        `low` and `high`.
    standard_error : float
        Standard error of the estimate, by the jackknife.
    pvalue : float
        Two-sided p-value for the value that calibrated probabilities have: 1 for the ratio and the slope, 0 for
        intercepts.
    caution : str
        Why the estimate or its interval is undefined; empty if both are defined.

    Examples
    --------
    >>> import fastevals
    >>> fastevals.calibration([0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.6, 0.8, 0.9]).ratio
    CalibrationEstimate(0.9667, [0.3828, 2.441], standard_error=0.348, p=0.929)
    """

    value: float
    confidence_interval: Interval
    standard_error: float
    pvalue: float
    caution: str = ""

    def __float__(self) -> float:
        return float(self.value)

    def __repr__(self) -> str:
        low, high = self.confidence_interval
        caution = f", caution={self.caution!r}" if self.caution else ""
        return (
            f"CalibrationEstimate({self.value:.4g}, [{low:.4g}, {high:.4g}], standard_error={self.standard_error:.3g}, "
            f"p={self.pvalue:.3g}{caution})"
        )

    def _columns(self) -> Columns:
        low, high = self.confidence_interval
        return make_columns(
            {
                "value": self.value, "low": low, "high": high, "standard_error": self.standard_error,
                "pvalue": self.pvalue, "caution": self.caution,
            }
        )  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Calibration(Frozen):
    """Calibration of one model: whether as many rows are positive as its probabilities predict.

    Printing shows the conclusion, the numbers and the cautions.

    Attributes
    ----------
    name : str or None
        The model's name.
    n_samples, n_positives, n_negatives : int
        Rows of weight above zero, with copies.
    n_clusters : int or None
        Number of clusters; None if rows are independent.
    is_weighted : bool
        Whether rows have weights; `predicted` and `observed` are then sums of weights.
    predicted, observed : float
        Sum of the probabilities, and number of positives.
    ratio : CalibrationEstimate
        ``predicted / observed``: 0.82 if 18 % too few positives are expected.
    intercept : CalibrationEstimate
        Calibration intercept: the log-odds of a positive minus the log-odds of the probability, for a line of slope 1.
        Above 0 if probabilities are too low.
    slope : CalibrationEstimate
        Calibration slope: the slope of the log-odds of a positive against the log-odds of the probability. Below 1 if
        probabilities are too extreme.
    slope_intercept : CalibrationEstimate
        Intercept of the line with this slope.
    spiegelhalter : SignificanceResult
        Spiegelhalter's test: `statistic` is z, `effect` is the Brier score minus its expectation if calibrated.
    confidence_level : float
        Level of the intervals.
    pos_label : label
        The positive class.
    conclusion : str
        What follows, in words.
    cautions : tuple of str
        Caveats, one sentence each.
    segments : CalibrationSegments or None
        Calibration of each segment; None without `by`.

    Examples
    --------
    >>> import fastevals
    >>> found = fastevals.calibration([0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.6, 0.8, 0.9])
    >>> found.predicted.__round__(3), found.observed
    (2.9, 3.0)
    >>> found.slope.value.__round__(3)
    1.11
    """

    name: Any
    n_samples: int
    n_positives: int
    n_negatives: int
    n_clusters: int | None
    is_weighted: bool
    predicted: float
    observed: float
    ratio: CalibrationEstimate
    intercept: CalibrationEstimate
    slope: CalibrationEstimate
    slope_intercept: CalibrationEstimate
    spiegelhalter: SignificanceResult
    confidence_level: float
    pos_label: Any
    segments: CalibrationSegments | None
    _forecasts: Forecasts | None  # None without rows
    _bins: BinOptions
    _degrees: Floats
    _effective: Floats  # number of negatives and of positives, Kish's for weights
    _kept: dict[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        who = "" if self.name is None else f"{printable(str(self.name))}: "
        values = ", ".join(f"{name}={getattr(self, name).value:.4g}" for name in ("ratio", "intercept", "slope"))
        return (
            f"Calibration({who}predicted={self.predicted:.6g}, observed={self.observed:.6g}, {values}, "
            f"z={self.spiegelhalter.statistic:.4g})"
        )

    def __str__(self) -> str:
        return self.to_text().rstrip()

    def _interval_at(self, quantity: str, level: float) -> Interval:
        """Return the interval of a quantity at another level."""
        found, df = getattr(self, quantity), float(self._degrees[QUANTITIES.index(quantity)])
        if math.isnan(found.standard_error):
            return NOWHERE
        if quantity == "ratio":
            if not 0 < found.value < math.inf:
                return NOWHERE
            return log_limits(math.log(found.value), found.standard_error / found.value, df, level)
        return limits(found.value, found.standard_error, df, level)

    @property
    def miscalibrated(self) -> tuple[str, ...]:
        """Which of "ratio", "slope" and "spiegelhalter" show miscalibration; p-values are adjusted for all three."""
        alpha = 1 - self.confidence_level
        return tuple(name for name, p in self._adjusted_pvalues().items() if p < alpha)

    def _adjusted_pvalues(self) -> dict[str, float]:
        """Return the p-values of the conclusion's three tests, adjusted by Holm's method."""
        tests = {name: getattr(self, name).pvalue for name in ("ratio", "slope", "spiegelhalter")}
        return dict(zip(tests, adjust_pvalues(list(tests.values())).tolist(), strict=True))

    @property
    def conclusion(self) -> str:
        """What follows: which of ratio, slope and Spiegelhalter's test show miscalibration, in words."""
        adjusted, off = self._adjusted_pvalues(), self.miscalibrated
        sums = self._sums_written()
        if not off:
            defined = [p for p in adjusted.values() if not math.isnan(p)]
            if not defined:
                return f"{sums}. Nothing follows about the calibration{self._of}, because no test is defined."
            first, statistic = sums[0].lower() if self.name is None else sums[0], self.spiegelhalter.statistic
            written = "undefined" if math.isnan(statistic) else f"= {_z_written(statistic, 2)}"
            return (
                f"No significant miscalibration{self._of}: {first}{sums[1:]} (ratio {self._in_words(self.ratio)}; "
                f"slope {self._in_words(self.slope)}; Spiegelhalter's z {written}; smallest "
                f"{_p(min(defined))}, adjusted for {count_of(len(defined), 'test')})."
            )
        sentences = [f"{sums} ({self._ratio_written()})."] if "ratio" in off else []
        if "slope" in off:
            way = "are too extreme" if self.slope.value < 1 else "are too moderate"
            if self.slope.confidence_interval.high < 0:
                way = "rank rows in the wrong order"
            sentences.append(f"The probabilities{self._of} {way}: calibration slope {self._in_words(self.slope)}.")
        if "spiegelhalter" in off:
            z = self.spiegelhalter
            way = "higher" if z.statistic > 0 else "lower"
            sentences.append(
                f"Spiegelhalter's test rejects the calibration{self._of} (z = {_z_written(z.statistic, 1)}, "
                f"{_p(z.pvalue)}): the Brier score is {way} than the probabilities imply."
            )
        if "ratio" not in off:
            sentences.append(f"{sums}, not significantly different (ratio {self._in_words(self.ratio)}).")
        return " ".join(sentences)

    @property
    def cautions(self) -> tuple[str, ...]:
        """The cautions, each as one sentence that says what to do."""
        sentences = []
        n_negatives, n_positives = self._effective.round().astype(int).tolist()
        rarer, n = min(("positive", n_positives), ("negative", n_negatives), key=lambda side: side[1])
        if n < FEW_ROWS:
            rows = count_of(n, f"{rarer} row")
            few = (
                f"With these weights, rows are worth only {rows} of equal weight"
                if self.is_weighted
                else f"Only {rows}"
            )
            sentences.append(f"{few}: intervals and tests of calibration are rough below {FEW_ROWS}; collect more.")
        if self.n_clusters is not None and 1 < self.n_clusters < FEW_CLUSTERS:
            few = count_of(self.n_clusters, "cluster")
            sentences.append(
                f"Only {few}: Spiegelhalter's test rejects too often below {FEW_CLUSTERS}; rely on the intervals."
            )
        reasons: dict[tuple[str, tuple[str, str, str]], list[str]] = {}
        for name in ("ratio", "intercept", "slope"):
            each = getattr(self, name)
            if each.caution:
                lacking = ("is", "are", "undefined") if math.isnan(each.value) else ("has", "have", "no interval")
                reasons.setdefault((each.caution, lacking), []).append(name)
        for (reason, (one, many, what)), names in reasons.items():
            subject = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
            sentences.append(f"The {subject} {one if len(names) == 1 else many} {what}: {reason}.")
        return tuple(sentences)

    def _undefined(self, quantities: Iterable[str] = ("ratio", "intercept", "slope")) -> dict[str, list[str]]:
        """Return the reasons why quantities have no value, each with the names of its quantities."""
        reasons: dict[str, list[str]] = {}
        for name in quantities:
            each = getattr(self, name)
            if math.isnan(each.value):
                reasons.setdefault(each.caution, []).append(name)
        return reasons

    def _sums_written(self) -> str:
        """Return how many positives are expected and how many happened: "credit expects 7 positives; 9 happened"."""
        who = "The model" if self.name is None else printable(str(self.name))
        predicted, observed = describe_count(self.predicted), describe_count(self.observed)
        if self.is_weighted:
            return f"{who} expects positives of weight {predicted}; weight {observed} happened"
        return f"{who} expects {predicted} positive{'s' * (predicted != '1')}; {observed} happened"

    def _ratio_written(self) -> str:
        """Return how far the sum is off, and the ratio with its interval: "18 % too few; ratio 0.818, ..."."""
        ratio = self.ratio.value
        if math.isnan(ratio):
            return _p(self.ratio.pvalue)
        if 1 / TWICE < ratio < TWICE:
            share = 100 * abs(ratio - 1)
            percent = f"{share:.0f} %" if share >= 10 else f"{share:.2g} %"
            off = f"{percent} too {'few' if ratio < 1 else 'many'}" if share >= 0.05 else "as many as happened"
        else:
            off = f"{ratio:.3g} times as many as happened"
        return f"{off}; ratio {self._in_words(self.ratio)}"

    def _in_words(self, estimate: CalibrationEstimate) -> str:
        """Return an estimate and its interval in words."""
        if math.isnan(estimate.value):
            return "undefined"
        low, high = estimate.confidence_interval
        level = f"{100 * self.confidence_level:.6g} %"
        interval = "" if math.isnan(low) else f", {level} interval {_written(low)} to {_written(high)}"
        return f"{_written(estimate.value)}{interval}"

    @property
    def _of(self) -> str:
        return "" if self.name is None else f" of {printable(str(self.name))}"

    def without_rows(self, kept: Iterable[str] = ("bins", "error")) -> Calibration:
        """Return the result without its rows.

        Parameters
        ----------
        kept : sequence of {"bins", "error", "isotonic"}
            What to compute first. The result has only these; the others raise ValueError.
        """
        return replace(self, _forecasts=None, _kept={name: getattr(self, name) for name in kept})

    @property
    def bins(self) -> CalibrationBins:
        """Predicted and observed rates in the bins that were asked for."""
        return self._once("bins", lambda: make_bins(self._rows(), self._bins, self.confidence_level))

    @property
    def error(self) -> CalibrationError:
        """Debiased calibration error in the bins that were asked for, with an interval."""
        return self._once("error", lambda: make_error(self._rows(), self._bins, self.confidence_level))

    @property
    def isotonic(self) -> ReliabilityCurve:
        """Reliability curve: calibrated against predicted probability by isotonic regression, without bins."""
        return self._once("isotonic", lambda: ReliabilityCurve.from_counts(self._rows().isotonic_counts()))

    def _once(self, name: str, make: Callable[[], T]) -> T:
        """Return the object kept under a name; the first call makes it."""
        if name not in self._kept:
            self._kept[name] = make()
        return self._kept[name]  # type: ignore[no-any-return]

    def hosmer_lemeshow(
        self, n_bins: int = 10, *, strategy: Strategy = "quantile", fitted: bool = False
    ) -> SignificanceResult:
        """Test calibration by comparing predicted and observed numbers of positives in bins (Hosmer and Lemeshow).

        Prefer `spiegelhalter`, `ratio` and `slope`. This test is known for four faults. Its p-value depends on the
        number of bins and on how ties are binned. Its power grows with the number of rows: it misses gross errors in a
        few hundred rows and rejects harmless ones in a million. It rejects too often if bins expect few positives: in
        10 % of data sets of 300 rows with 5 % positives. And it does not say in which way probabilities are off.

        Parameters
        ----------
        n_bins : int
            Number of bins.
        strategy : {"quantile", "uniform"}
            Bins of equal mass (the statistic C) or of equal width (H).
        fitted : bool
            Whether the model was fitted on these rows. A fitted model has g - 2 degrees of freedom for g bins with
            rows; on new rows, as here by default, the statistic has g.

        Returns
        -------
        SignificanceResult
            `statistic` is chi-square: the sum over bins of ``(O - E)**2 / (n q (1 - q))`` for n rows with mean
            probability q, where E = n q positives are expected and O are observed. It is infinite if a bin contradicts
            a mean probability of 0 or 1.

        Raises
        ------
        ValueError
            If rows have weights or clusters, which this test does not allow for, or an option is out of range.

        References
        ----------
        Hosmer and Lemeshow (1980), doi:10.1080/03610928008827941. Hosmer et al. (1997),
        doi:10.1002/(SICI)1097-0258(19970515)16:9<965::AID-SIM509>3.0.CO;2-O (the faults).

        Examples
        --------
        >>> import fastevals
        >>> found = fastevals.calibration([0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.6, 0.8, 0.9])
        >>> found.hosmer_lemeshow(2)
        SignificanceResult(statistic=0.501, pvalue=0.7784, rejected=False)
        """
        for what, have in (("weights", self.is_weighted), ("clusters", self.n_clusters is not None)):
            if have:
                raise ValueError(
                    f"hosmer_lemeshow needs independent rows of equal weight, got {what}: use spiegelhalter"
                )
        fitted, options = as_flag("fitted", fitted), checked_bins(n_bins, strategy)
        bins = make_bins(self._rows(), (options["n_bins"], options["strategy"]), self.confidence_level)
        n, q, rate = (each[bins.counts > 0] for each in (bins.counts, bins.mean_predicted, bins.fraction_of_positives))
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            terms = np.where(rate == q, 0.0, n * np.square(rate - q) / (q * (1 - q)))
        df = n.size - 2 if fitted else n.size
        if df < 1:
            raise ValueError(f"n_bins must leave a degree of freedom, got {n.size} bins for a fitted model")
        rare = n * np.minimum(q, 1 - q) < ENOUGH_EXPECTED
        caution = (
            f"{rare.sum()} of {n.size} bins expect fewer than {ENOUGH_EXPECTED} positives or negatives, so the p-value "
            "is rough: use fewer bins, or spiegelhalter."
            if rare.mean() > FEW_BINS_RARE
            else ""
        )
        compared = Compared("the predicted", f"the observed numbers of positives in {n.size} bins")
        return decide(
            "the Hosmer-Lemeshow test", compared, float(terms.sum()), Null("chi2", (df,)),
            alpha=check_confidence_level(self.confidence_level)[1], caution=caution,
        )  # fmt: skip

    def _rows(self) -> Forecasts:
        if self._forecasts is None:
            raise ValueError("this result was made without its rows: call calibration with the rows")
        return self._forecasts

    def _log_ratio(self) -> tuple[float, float]:
        """Return the log ratio and its standard error; NaN if the ratio over- or underflows."""
        ratio = self.ratio.value
        return (math.log(ratio), self.ratio.standard_error / ratio) if 0 < ratio < math.inf else (math.nan, math.nan)

    def _value_and_variance(self, quantity: str) -> tuple[float, float]:
        """Return the log ratio, the intercept or the slope, and its variance."""
        if quantity == "log_ratio":
            value, error = self._log_ratio()
            return value, error**2
        estimate = getattr(self, quantity)
        return estimate.value, estimate.standard_error**2

    def _columns(self) -> Columns:
        estimates = [({"quantity": name}, getattr(self, name)._columns()) for name in QUANTITIES]
        z = self.spiegelhalter
        rows = stack(estimates)
        more = make_columns(
            {
                "quantity": ["predicted", "observed", "spiegelhalter"],
                "value": [self.predicted, self.observed, z.statistic],
                "pvalue": [math.nan, math.nan, z.pvalue],
                "caution": "",
            }
        )
        nothing = np.full(3, math.nan)
        return {name: np.concatenate((more.get(name, nothing), column)) for name, column in rows.items()}

    def _document(self) -> Document:
        parts: list[Part] = [Sentence(self.conclusion, "verdict"), GAP, self._table(), GAP]
        parts += [Sentence(each, "caution") for each in self.cautions]
        sections = [Section(parts)]
        if self.segments is not None:
            sections.append(Section([GAP, *self.segments._parts()], "Segments"))
        return Document("", self._short_title(), sections=sections, numbers=self.to_dict)

    def _table(self) -> Table:
        """Return the table of the numbers."""
        z = self.spiegelhalter

        def rows() -> Iterator[Row]:
            for name in QUANTITIES:
                each = getattr(self, name)
                yield Row(WORDS[name], [Number(each.value), *_ends(each), PValue(each.pvalue)])
            yield Row("Spiegelhalter's z", [Number(z.statistic), "", "", PValue(z.pvalue)])

        return Table("numbers", "", ["quantity", "value", "low", "high", "p"], rows)

    def _row(self) -> dict[str, Any]:
        """Return the numbers as one row of a frame."""
        row: dict[str, Any] = {
            "n_samples": self.n_samples, "n_positives": self.n_positives, "predicted": self.predicted,
            "observed": self.observed,
        }  # fmt: skip
        for name in ("ratio", "intercept", "slope"):
            each = getattr(self, name)
            row |= {name: each.value, f"{name}_low": each.confidence_interval.low}
            row |= {f"{name}_high": each.confidence_interval.high, f"{name}_pvalue": each.pvalue}
        return row | {"spiegelhalter": self.spiegelhalter.statistic, "spiegelhalter_pvalue": self.spiegelhalter.pvalue}


def limits(value: float, error: float, df: float, level: float) -> Interval:
    """Return an interval by Student's t."""
    from scipy.special import stdtrit

    margin = -float(stdtrit(df, check_confidence_level(level)[1] / 2)) * error
    return Interval(value - margin, value + margin)


def log_limits(value: float, error: float, df: float, level: float) -> Interval:
    """Return an interval by Student's t, given the logarithm of an estimate and its standard error."""
    return Interval(*map(finite_exp, limits(value, error, df, level)))


def finite_exp(value: float) -> float:
    """Return an exponential, which is infinite if it is too large."""
    return math.exp(value) if value < LARGEST_LOG else math.inf


def describe_count(value: float) -> str:
    """Return a number of positives: whole, or with three digits if it is small."""
    is_whole = value >= 100 or value == round(value)
    return f"{value:,.0f}" if is_whole and value < MOST_DIGITS else f"{value:.3g}"


def _p(value: float) -> str:
    return pvalue_text(value, "two-sided")


def _z_written(z: float, digits: int) -> str:
    return f"{z:z.{digits}f}" if abs(z) < WITH_DECIMALS[1] else f"{z:.3g}"


def _written(value: float) -> str:
    return f"{value:.3f}" if value == 0 or WITH_DECIMALS[0] <= abs(value) < WITH_DECIMALS[1] else f"{value:.3g}"


def _ends(estimate: CalibrationEstimate) -> list[str]:
    return format_column([*estimate.confidence_interval])


class KeyedCalibrations(Frozen, Mapping[Any, Calibration]):
    """A mapping from keys to calibrations."""

    __slots__ = ()
    calibrations: dict[Any, Calibration]

    def __getitem__(self, key: Any) -> Calibration:
        if key not in self.calibrations:
            raise KeyError(f"{show(key)}: the keys are {', '.join(map(show, list(self.calibrations)[:8]))}")
        return self.calibrations[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.calibrations)

    def __len__(self) -> int:
        return len(self.calibrations)

    def __str__(self) -> str:
        return self.to_text().rstrip()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CalibrationSegments(KeyedCalibrations):
    """Calibration of each segment of rows: a mapping from segment to `Calibration`, in ascending order.

    Attributes
    ----------
    columns : tuple of str
        Names of the columns whose values name a segment; the key is a tuple of values if there are several.
    calibrations : dict of key to Calibration
        The mapping's items.
    ratio_pvalues, spiegelhalter_pvalues : ndarray of shape (n_segments,)
        p-values of the ratio and of Spiegelhalter's test, adjusted for the number of segments by Holm's method.
    """

    columns: tuple[str, ...]
    calibrations: dict[Any, Calibration]
    ratio_pvalues: Floats
    spiegelhalter_pvalues: Floats

    def __repr__(self) -> str:
        lines = (f"{show(key)}: {each!r}" for key, each in self.calibrations.items())
        return f"CalibrationSegments({len(self)} segments)" + first_lines(lines)

    def worst_first(self) -> CalibrationSegments:
        """Return the segments in ascending order of their smaller adjusted p-value, undefined ones last."""
        smaller = np.fmin(self.ratio_pvalues, self.spiegelhalter_pvalues)
        off = np.array([abs(each.spiegelhalter.statistic) for each in self.calibrations.values()])
        order = np.lexsort((-np.nan_to_num(off), np.nan_to_num(smaller, nan=2.0)))
        keys = list(self.calibrations)
        return CalibrationSegments(
            self.columns, {keys[k]: self.calibrations[keys[k]] for k in order.tolist()}, self.ratio_pvalues[order],
            self.spiegelhalter_pvalues[order],
        )  # fmt: skip

    def _columns(self) -> Columns:
        keys = [key if len(self.columns) > 1 else (key,) for key in self.calibrations]
        named = {name: as_column([key[k] for key in keys]) for k, name in enumerate(self.columns)}
        numbers = from_rows([each._row() for each in self.calibrations.values()])
        adjusted = {
            "ratio_adjusted_pvalue": self.ratio_pvalues, "spiegelhalter_adjusted_pvalue": self.spiegelhalter_pvalues
        }  # fmt: skip
        return {**named, **numbers, **adjusted}

    def _key_names(self) -> tuple[str, ...]:
        return self.columns

    def _document(self) -> Document:
        return Document("", self._short_title(), sections=[Section(self._parts())], numbers=self.to_dict)

    def _parts(self) -> list[Part]:
        """Return the table of the segments, the worst first."""
        worst = self.worst_first()

        def rows() -> Iterator[Row]:
            both = zip(worst.ratio_pvalues.tolist(), worst.spiegelhalter_pvalues.tolist(), strict=True)
            for (key, each), (ratio_pvalue, z_pvalue) in zip(worst.calibrations.items(), both, strict=True):
                name = ", ".join(map(str, key)) if isinstance(key, tuple) else str(key)
                yield Row(
                    printable(name),
                    [
                        f"{each.n_samples:,}", f"{each.predicted:,.1f}", f"{each.observed:,.6g}",
                        Number(each.ratio.value), *_ends(each.ratio),
                        PValue(ratio_pvalue), Number(each.slope.value), Number(each.spiegelhalter.statistic),
                        PValue(z_pvalue),
                    ],
                )  # fmt: skip

        columns = ["rows", "predicted", "observed", "ratio", "low", "high", "p", "slope", "z", "p of z"]
        n = count_of(len(self), "segment")
        note = Sentence(f"Segments with the smallest p-value first; p-values are adjusted for {n} (Holm).", "note")
        hidden = len(self) - SEGMENTS_WRITTEN
        more = f"... {hidden:,} more of {len(self):,} segments" if hidden > 0 else ""
        table = Table(
            "segments",
            "",
            [", ".join(self.columns), *columns],
            rows,
            n_shown=SEGMENTS_WRITTEN,
            more=more,
            n_rows=len(self),
        )
        return [table, GAP, note]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CalibrationComparison(KeyedCalibrations):
    """Calibration of several models: a mapping from model to `Calibration`, with the differences between models.

    Attributes
    ----------
    calibrations : dict of model to Calibration
        The mapping's items.
    differences : dict of str to tuple of Difference
        Differences in "log_ratio", "intercept" and "slope", with intervals and p-values that are simultaneous over all
        pairs of models. The exponential of a difference in log_ratio is the ratio of two ratios.
    """

    calibrations: dict[Any, Calibration]
    differences: dict[str, tuple[Difference, ...]]

    def __repr__(self) -> str:
        lines = (f"{printable(str(name))}: {each!r}" for name, each in self.calibrations.items())
        return f"CalibrationComparison({len(self)} models)" + first_lines(lines)

    @property
    def conclusion(self) -> str:
        """The conclusions of all models, in words."""
        return " ".join(each.conclusion for each in self.calibrations.values())

    @property
    def cautions(self) -> tuple[str, ...]:
        """The cautions of all models, each once."""
        return tuple(dict.fromkeys(caution for each in self.calibrations.values() for caution in each.cautions))

    def _columns(self) -> Columns:
        models = [({"model": name, "reference": None}, each._columns()) for name, each in self.calibrations.items()]
        pairs = [
            (
                {"model": each.model, "reference": each.reference},
                {"quantity": as_column([quantity]), **each._numbers()},
            )
            for quantity, differences in self.differences.items()
            for each in differences
        ]
        return stack([*models, *pairs])

    def _document(self) -> Document:
        parts: list[Part] = []
        for name, each in self.calibrations.items():
            parts += [
                Sentence(each.conclusion, "verdict"),
                GAP,
                each._table()._replace(title=printable(str(name))),
                GAP,
            ]
        parts += [Sentence(each, "caution") for each in self.cautions]

        def rows() -> Iterator[Row]:
            for quantity, differences in self.differences.items():
                for each in differences:
                    pair = f"{quantity.replace('_', ' ')} of {each.model} - {each.reference}"
                    ends = format_column([*each.confidence_interval])
                    yield Row(printable(pair), [Number(each.value), *ends, PValue(each.pvalue)])

        columns = ["difference", "value", "low", "high", "p"]
        sections = [Section(parts), Section([GAP, Table("differences", "", columns, rows)], "Differences")]
        return Document("", self._short_title(), sections=sections, numbers=self.to_dict)
