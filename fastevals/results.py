"""What results share: strict JSON, intervals, operating points, values by metric, and test results."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from fastevals._options import check_number, plain_name, python_number, show
from fastevals._text import ROWS_SHOWN, format_column, format_pvalue, object_text, printable, wrap_text
from fastevals.document.document import TEXT, Document, Section, Sentence, Table
from fastevals.document.frames import Columns, as_column, make_columns, spread, stack
from fastevals.document.result import Result
from fastevals.document.scalars import Scalar, scalars_of_models

if TYPE_CHECKING:
    from typing_extensions import TypeVar as TypeVarWithDefault

    V = TypeVarWithDefault("V", bound=float | NDArray[Any], covariant=True, default=float)
else:
    V = TypeVar("V")  # a number; an array in results of several models, matrices or places

PairNames = Sequence[str] | None  # the two learners' names in conclusions

Alternative = Literal["two-sided", "less", "greater"]
EXTREMENESS: dict[str, Any] = {"two-sided": np.abs, "less": np.negative, "greater": np.positive}
TIE_TOLERANCE = 1e-9  # relative tolerance: statistics are differences of rounded resampled values
MAX_RESAMPLES = 1_000_000_000
LARGEST_ALPHA = float(np.nextafter(1.0, 0.0))  # for confidence levels so small that alpha rounds to 1


@cache
def _field_names(kind: type[Any]) -> list[str]:
    return [each.name for each in fields(kind)]


class Frozen(Result):
    """A dataclass that is shown as rows and, by `to_dict`, as strict JSON; its arrays are read-only, also in copies."""

    __slots__ = ()

    def __post_init__(self) -> None:
        for name in _field_names(type(self)):  # type: ignore[arg-type]
            value = getattr(self, name)
            if isinstance(value, np.ndarray):
                view = value.view()
                view.flags.writeable = False
                object.__setattr__(self, name, view)

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), {each.name: getattr(self, each.name) for each in fields(self) if each.init})  # type: ignore[arg-type]

    def to_dict(self) -> dict[str, Any]:
        """Return every public attribute as strict JSON: arrays as lists, other results as dicts, NaN as None."""
        return {name: as_json(value) for name, value in self._attributes()}

    def _attributes(self) -> Iterator[tuple[str, Any]]:
        for name in _public_attributes(type(self)):  # type: ignore[arg-type]
            yield name, getattr(self, name)


class Interval(NamedTuple, Generic[V]):
    """An interval from `low` to `high`; both are NaN if there is no interval."""

    low: V
    high: V


NOWHERE = Interval(math.nan, math.nan)


@dataclass(frozen=True, slots=True)
class OperatingPoint(Frozen):
    """A value and the threshold that attains it; unpacks as ``value, threshold`` and converts with ``float()``.

    Attributes
    ----------
    value : float
        The metric's value, NaN where it is undefined.
    threshold : float or int
        Rows with ``score >= threshold`` are predicted positive; +inf predicts none, NaN means that there is no such
        threshold. The threshold is an int if a float would round it, as for integer scores past 2**53.

    Examples
    --------
    >>> import fastevals
    >>> point = fastevals.Ranking([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8]).best_threshold("f1")
    >>> point
    OperatingPoint(value=0.8, threshold=0.3)
    >>> value, threshold = point
    """

    value: float
    threshold: float

    def __iter__(self) -> Iterator[float]:
        return iter((self.value, self.threshold))

    def __float__(self) -> float:
        return float(self.value)

    def _title(self) -> str:
        return type(self).__name__

    def _columns(self) -> Columns:
        return spread(value=self.value, threshold=self.threshold)


UNDEFINED_POINT = OperatingPoint(math.nan, math.nan)


@dataclass(frozen=True, slots=True, repr=False)
class SignificanceResult(Frozen):
    """Result of a hypothesis test; unpacks as ``statistic, pvalue`` and prints its numbers and conclusion.

    Attributes
    ----------
    statistic : float
        Value of the test statistic; NaN where the test is undefined.
    pvalue : float
        Probability, under the null hypothesis, of a statistic at least as extreme as the observed one.
    critical_value : float or Interval
        The null hypothesis is rejected at level `alpha` if the statistic, or its absolute value in a two-sided test, is
        beyond this value. For an asymmetric two-sided test it is an interval, outside of which the test rejects.
    df : int, float, tuple of two int, or None
        Degrees of freedom; None if the statistic has none. An F statistic has two. In Welch's test they are not whole.
    alternative : {"two-sided", "less", "greater"}
        The alternative hypothesis.
    effect : float or None
        Estimate of the tested quantity, in its own unit.
    confidence_interval : Interval or None
        Interval of the effect, with level ``1 - alpha``; one-sided if the alternative is one-sided.
    rejected : bool
        Whether ``pvalue < alpha``.
    conclusion : str
        The verdict, as a sentence.
    alpha : float
        Significance level.
    test : str
        Name of the test.
    null : Null or None
        Distribution of the statistic under the null hypothesis; None if it has no name in `scipy.stats`.

    Examples
    --------
    >>> import fastevals
    >>> result = fastevals.delong_test([0, 0, 0, 1, 1, 1], [1, 2, 3, 2, 3, 4], [2, 3, 2, 1, 3, 2])
    >>> result
    SignificanceResult(statistic=1.373, pvalue=0.1698, effect=0.3889, rejected=False)
    >>> statistic, pvalue = result
    >>> print(result)
    DeLong's test
      effect     0.3889, 95 % interval -0.1663 to 0.9441
      statistic  1.373
      p          0.1698
    No significant difference between the AUCs of score_a and score_b: 0.389 (95 % interval -0.166 to
    0.944; DeLong's test, p = 0.17).
    """

    statistic: float
    pvalue: float
    critical_value: float | Interval
    df: float | tuple[int, float] | None
    alternative: Alternative
    effect: float | None
    confidence_interval: Interval | None
    rejected: bool
    conclusion: str
    alpha: float
    test: str = ""
    null: Null | None = None

    def __iter__(self) -> Iterator[float]:
        return iter((self.statistic, self.pvalue))

    def __repr__(self) -> str:
        effect = "" if self.effect is None else f", effect={self.effect:.4g}"
        return (
            f"{type(self).__name__}(statistic={self.statistic:.4g}, pvalue={self.pvalue:.4g}{effect}, "
            f"rejected={self.rejected})"
        )

    def __str__(self) -> str:
        return format_test(self._title(), self._rows(), self.conclusion)

    def _title(self) -> str:
        return self.test[:1].upper() + self.test[1:] or type(self).__name__

    def _columns(self) -> Columns:
        low, high = self.confidence_interval or NOWHERE
        return make_columns(
            {
                "test": self.test,
                "statistic": self.statistic,
                "pvalue": self.pvalue,
                "effect": math.nan if self.effect is None else self.effect,
                "low": low,
                "high": high,
                "alternative": self.alternative,
                "alpha": self.alpha,
                "rejected": self.rejected,
            }
        )

    def _rows(self) -> list[tuple[str, str]]:
        """Return the printed rows: names and texts."""
        rows = [("statistic", f"{self.statistic:.4g}{self._df_text()}"), ("p", self._pvalue_text()), *self._details()]
        if self.effect is not None:
            rows.insert(0, ("effect", format_estimate(self.effect, self.confidence_interval, self.alpha)))
        return rows

    def _df_text(self) -> str:
        if self.df is None:
            return ""
        return f" (df {', '.join(f'{each:.4g}' for each in np.atleast_1d(self.df))})"

    def _pvalue_text(self) -> str:
        side = "" if self.alternative == "two-sided" else f" (one-sided: {self.alternative})"
        return format_pvalue(self.pvalue) + side

    def _details(self) -> list[tuple[str, str]]:
        """Return the rows that a subclass prints after the numbers of the test: names and texts."""
        return []


class Null(NamedTuple):
    """Distribution of a statistic under the null hypothesis: a name in `scipy.stats`, and parameters."""

    name: str
    parameters: tuple[float, ...] = ()

    def frozen(self) -> Any:
        """Return SciPy's frozen distribution, with ``pdf``, ``support`` and so on."""
        return self._distribution(*self.parameters)

    # Freezing a distribution takes SciPy ten times as long as one of these calls.

    def cdf(self, values: Any) -> Any:
        """Return the probability that the statistic is at most each value."""
        return self._distribution.cdf(values, *self.parameters)

    def sf(self, values: Any) -> Any:
        """Return the probability that the statistic exceeds each value."""
        return self._distribution.sf(values, *self.parameters)

    def ppf(self, chances: Any) -> Any:
        """Return the values at which `cdf` equals `chances`."""
        return self._distribution.ppf(chances, *self.parameters)

    def isf(self, chances: Any) -> Any:
        """Return the values at which `sf` equals `chances`."""
        return self._distribution.isf(chances, *self.parameters)

    @property
    def _distribution(self) -> Any:
        from scipy import stats

        return getattr(stats, self.name)


R = TypeVar("R", bound=Frozen)  # a metric's result
FULL_NAMES: dict[str, str] = {}  # metric names by accepted name, in lower case; the registry fills it


def full_name(name: Any) -> Any:
    """Return the metric's name for any of its accepted names; return any other value unchanged."""
    return FULL_NAMES.get(plain_name(name), name) if isinstance(name, str) else name


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ByModel(Frozen, Mapping[Any, R], Generic[R]):
    """Results of several models: a mapping from a model's name to its result.

    Attributes
    ----------
    models : dict of name to result
        The mapping's items.
    """

    models: dict[Any, R]
    _what: ClassVar[str]

    def __getitem__(self, model: Any) -> R:
        return self.models[model]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.models)

    def __len__(self) -> int:
        return len(self.models)

    def _title(self) -> str:
        return f"{self._what} of {len(self)} model{'s' * (len(self) != 1)}"

    def _columns(self) -> Columns:
        return stack(({"model": name}, each._columns()) for name, each in self.models.items())

    def _shown_columns(self) -> Columns:
        return stack(({"model": name}, each._shown_columns()) for name, each in self.models.items())

    def _scalars(self) -> Iterator[Scalar]:
        return scalars_of_models(self.models)

    def _document(self) -> Document:
        sections = []
        for name, each in self.models.items():
            head = Sentence(f"{printable(str(name))}\n{each._title()}", "line", TEXT)
            parts = [part for section in each._document().sections for part in section.parts]
            aligned = [part._replace(aligned=part.kind) if isinstance(part, Table) else part for part in parts]
            sections.append(Section([head, *aligned], str(name)))
        return Document("", self._short_title(), sections=sections, numbers=self.to_dict)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ByMetric(Frozen, Mapping[str, R], Generic[R]):
    """Results by metric: a mapping in the order in which metrics were requested.

    Attributes
    ----------
    metrics : dict of str to result
        The mapping's items.
    labels : ndarray of shape (n_classes,) or None
        The classes of predicted labels, in the order of the values of a metric that has one value per class.
    pos_label : label or None
        The positive class; None if there is none or if it is unknown.
    """

    metrics: dict[str, R]
    labels: NDArray[Any] | None = field(default=None, kw_only=True)
    pos_label: Any = field(default=None, kw_only=True)

    def __getitem__(self, metric: Any) -> R:
        name = str(metric)
        name = name if name in self.metrics else full_name(name)
        if name not in self.metrics:
            raise KeyError(f"{metric}: the metrics are {', '.join(self.metrics)}")
        return self.metrics[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.metrics)

    def __len__(self) -> int:
        return len(self.metrics)

    def __repr__(self) -> str:
        shown = "".join(f"\n  {printable(name)}: {each!r}" for name, each in self.metrics.items())
        return f"{self._title()[:-1]}{shown})"

    def _title(self) -> str:
        positive = "" if self.pos_label is None else f", pos_label={show(self.pos_label)}"
        return f"{type(self).__name__}({self._settings()}{positive})"

    def _columns(self) -> Columns:
        return stack(({"metric": name}, self._with_labels(each._columns())) for name, each in self.metrics.items())

    def _key_names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for each in self.metrics.values() for name in each._key_names()))

    def _with_labels(self, columns: Columns) -> Columns:
        """Return a metric's columns; if it has one value per class, the class of each value comes first."""
        places = columns.get("place")
        if places is None or self.labels is None or places.dtype == object or places.max() + 1 != self.labels.size:
            return columns
        others = {name: each for name, each in columns.items() if name != "place"}
        return {"label": as_column(self.labels)[places], **others}

    def _settings(self) -> str:
        """Return in a few words how the results were made."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ResampledByMetric(ByMetric[R]):
    """Results by metric from bootstrap replicates.

    Attributes
    ----------
    metrics : dict of str to result
        The mapping's items.
    n_resamples : int
        Number of bootstrap replicates.
    confidence_level : float
        Level of the intervals.
    method : str
        Method for the intervals of estimates.
    alternative : str
        Side of the intervals and of tests: "two-sided", "less" or "greater".
    """

    n_resamples: int
    confidence_level: float
    method: str
    alternative: Alternative

    def _settings(self) -> str:
        return f"{self.method}, {self.confidence_level:g}, {self.alternative}, n_resamples={self.n_resamples}"


def format_test(title: str, rows: Sequence[tuple[str, str]], conclusion: str = "") -> str:
    """Return the lines of a printed test: its title, its numbers by name, and its conclusion."""
    width = max(len(name) for name, _ in rows)
    numbers = [f"  {name:<{width}}  {text}".rstrip() for name, text in rows]
    return "\n".join([title[0].upper() + title[1:], *numbers, *wrap_text(conclusion, indent="")])


def format_estimate(estimate: float, interval: Interval | None, alpha: float) -> str:
    """Return an estimate and its interval, if any, with as many digits as they need."""
    if interval is None:
        return format_column([estimate])[0]
    value, low, high = format_column([estimate, *interval])
    return f"{value}, {100 * (1 - alpha):.6g} % interval {low} to {high}"


def format_estimates(values: NDArray[Any], interval: Interval[Any]) -> str:
    """Return the first few of an array of estimates, each with its interval."""
    ends = (np.broadcast_to(each, values.shape).ravel() for each in (values, *interval))
    shown = [f"{value:.4g} [{low:.4g}, {high:.4g}]" for value, low, high in islice(zip(*ends, strict=True), ROWS_SHOWN)]
    return ", ".join([*shown, *([f"... {values.size} values"] if values.size > ROWS_SHOWN else [])])


def check_confidence_level(confidence_level: float) -> tuple[float, float]:
    """Check a confidence level; return it and its alpha, rounded as it would be written: 0.05 for 0.95."""
    level = check_number("confidence_level", confidence_level, low=0, high=1, open_low=True, open_high=True)
    return level, float(1 - Fraction(repr(level)))


def tail_probability(alpha: float, alternative: Alternative) -> float:
    """Return the probability of each tail that a test uses; it is below 1 even if alpha rounds to 1."""
    return alpha / 2 if alternative == "two-sided" else min(alpha, LARGEST_ALPHA)


def number_or_array(values: Any) -> Any:
    """Return a 0-d array as a number, any other array unchanged."""
    values = np.asarray(values)
    return values if values.ndim else python_number(values)


def as_json(value: Any) -> Any:
    """Convert a value to strict JSON: NaN becomes None, infinities become "Infinity" and "-Infinity".

    Arrays, intervals and tuples become lists; named tuples and results become dicts; keys and dates become text. A
    value without a JSON type becomes text.
    """
    kind = type(value)  # the most frequent kinds first
    if value is None or kind in (str, int, bool) or (kind is float and math.isfinite(value)):
        return value
    if kind is list:
        return [as_json(each) for each in value]
    if isinstance(value, np.longdouble):
        number = python_number(value)
        return number if isinstance(number, int) else as_json(float(number))
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return str(value)
    if isinstance(value, np.generic):
        item = value.item()
        return repr(item) if isinstance(item, np.generic) else as_json(item)
    if isinstance(value, float):
        if math.isinf(value):
            return "Infinity" if value > 0 else "-Infinity"
        return None if math.isnan(value) else float(value)
    if isinstance(value, np.ndarray):
        return _array_as_json(value)
    if isinstance(value, (str, int)):
        return value
    if isinstance(value, Decimal):
        return as_json(float(value))
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if hasattr(value, "_asdict") and not isinstance(value, Interval):
        value = value._asdict()
    if isinstance(value, Mapping):
        return {key if isinstance(key, str) else str(as_json(key)): as_json(each) for key, each in value.items()}
    return [as_json(each) for each in value] if isinstance(value, (list, tuple)) else object_text(value)


def _array_as_json(array: NDArray[Any]) -> Any:
    kind = array.dtype.kind
    if not array.ndim:
        return as_json(array[()])
    if kind not in "biuf" or array.dtype == np.longdouble:
        return [as_json(each) for each in array]
    odd = ~np.isfinite(array) if kind == "f" else np.zeros(array.shape, dtype=bool)
    if odd.any():
        numbers, array = array, array.astype(object)
        array[odd] = [as_json(each) for each in numbers[odd].tolist()]
    return array.tolist()


@cache
def _public_attributes(kind: type[Any]) -> list[str]:
    """Return the names of a result's fields and properties."""
    names = dict.fromkeys(each.name for each in fields(kind))
    for each in reversed(kind.__mro__):
        names |= dict.fromkeys(name for name, value in vars(each).items() if isinstance(value, property))
    return [name for name in names if not name.startswith("_")]


def _rebuild(kind: type[Frozen], values: dict[str, Any]) -> Frozen:
    return kind(**values)
