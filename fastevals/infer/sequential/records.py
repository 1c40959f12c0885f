"""Records of nights: what the rows of one night say about one metric, in a few numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from fastevals._options import check_integer, check_number, did_you_mean, show
from fastevals.document.frames import Columns, make_columns, or_nan
from fastevals.results import Frozen

LARGEST_ROUNDING = 1e-9  # of a sum of squares, relative


@dataclass(frozen=True, slots=True)
class NightRecord(Frozen):
    """What one night's rows say about a metric, for `confidence_sequence`.

    Rows of different nights must be independent. `of_rate`, `of_mean` and `of_auc` make records from the numbers that
    are at hand; use the constructor for any other estimate with a standard error.

    Parameters
    ----------
    night : str
        Name of the night, such as its date.
    n_samples : int
        Number of rows with labels; 0 for an empty night.
    value : float
        Estimate from the night's rows; NaN if it is undefined.
    variance : float
        Squared standard error of `value`; NaN if it is unknown, as with one positive row. The squared distance of
        `value` from the estimate of all nights then takes its place. For this, the nights without a variance must be 30
        or more, or have little weight.
    weight : float, optional
        Weight of the night, `n_samples` by default. It must not depend on `value` or `variance`.
    n_positives, n_negatives : int, optional
        Numbers of rows by class, if the metric depends on both classes.
    successes, trials : int, optional
        Numbers whose ratio is `value`, if the metric is a rate.
    fingerprint : str
        Identifies the night's data: if it changes, the night was rewritten.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.

    Examples
    --------
    >>> import fastevals
    >>> fastevals.NightRecord.of_rate("2026-11-25", 45, 50).value
    0.9
    >>> record = fastevals.NightRecord("2026-11-26", 400, value=0.81, variance=0.02**2, weight=100)
    >>> record == fastevals.NightRecord.from_dict(record.to_dict())
    True
    """

    night: str
    n_samples: int
    value: float = math.nan
    variance: float = math.nan
    weight: float | None = None
    n_positives: int | None = None
    n_negatives: int | None = None
    successes: int | None = None
    trials: int | None = None
    fingerprint: str = ""

    def __post_init__(self) -> None:
        for name in ("night", "fingerprint"):
            text = getattr(self, name)
            if not isinstance(text, str) or (name == "night" and not text):
                raise ValueError(f"{name} must be {'text' if name != 'night' else 'non-empty text'}, got {show(text)}")
        whole = {name: _as_count(name, getattr(self, name)) for name in COUNTS}
        n_samples = whole["n_samples"] = check_integer("n_samples", self.n_samples, low=0)
        for pair in (("n_positives", "n_negatives"), ("successes", "trials")):
            given = [name for name in pair if whole[name] is not None]
            if len(given) == 1:
                raise ValueError(f"{pair[0]} and {pair[1]} must be given together, got only {given[0]}")
        _check_at_most("n_positives + n_negatives", whole["n_positives"], whole["n_negatives"], n_samples)
        value, variance = (_as_number(name, getattr(self, name)) for name in ("value", "variance"))
        if variance < 0:
            raise ValueError(f"variance must be at least 0, got {show(self.variance)}")
        trials, successes = whole["trials"], whole["successes"]
        weight = n_samples if self.weight is None else check_number("weight", self.weight, low=0, open_high=True)
        if trials is not None and successes is not None:
            if successes > trials:
                raise ValueError(f"successes must be at most trials={trials}, got {successes}")
            rate = successes / trials if trials else math.nan
            if value == value and value != rate:
                raise ValueError(f"value must be successes / trials = {rate:g}, got {show(self.value)}")
            value, weight = rate, trials
            variance = value * (1 - value) / trials if trials else math.nan
        numbers = {"value": value, "variance": variance, "weight": float(weight)}
        for name, number in {**whole, **numbers}.items():
            object.__setattr__(self, name, number)

    @classmethod
    def of_rate(
        cls, night: str, successes: int, trials: int, *, n_samples: int | None = None, **more: Any
    ) -> NightRecord:
        """Return the record of a rate, such as recall: successes among trials.

        Parameters
        ----------
        night : str
            Name of the night.
        successes, trials : int
            For recall: the positives that were predicted positive, and all positives.
        n_samples : int, optional
            Number of rows; `trials` by default.
        **more
            Further arguments of `NightRecord`.

        Returns
        -------
        NightRecord
        """
        return cls(night, trials if n_samples is None else n_samples, successes=successes, trials=trials, **more)

    @classmethod
    def of_mean(cls, night: str, n_samples: int, total: float, total_of_squares: float, **more: Any) -> NightRecord:
        """Return the record of a mean over rows, such as a Brier score, or a difference in losses of two models.

        Parameters
        ----------
        night : str
            Name of the night.
        n_samples : int
            Number of rows.
        total, total_of_squares : float
            Sums over the rows of the loss and of its square.
        **more
            Further arguments of `NightRecord`.

        Returns
        -------
        NightRecord
        """
        n = check_integer("n_samples", n_samples, low=0)
        total, squares = _as_number("total", total), _as_number("total_of_squares", total_of_squares)
        mean = total / n if n else math.nan
        if n and squares < total * mean * (1 - LARGEST_ROUNDING):
            raise ValueError(
                f"total_of_squares must be at least total**2 / n_samples, {total * mean:g}, like a sum of squares, "
                f"got {squares:g}"
            )
        variance = max(squares - total * mean, 0.0) / (n * (n - 1)) if n > 1 else math.nan
        return cls(night, n, mean, variance, **more)

    @classmethod
    def of_auc(
        cls, night: str, value: float, variance: float, n_positives: int, n_negatives: int, **more: Any
    ) -> NightRecord:
        """Return the record of an AUC, or of a difference between the AUCs of two models on the same rows.

        Parameters
        ----------
        night : str
            Name of the night.
        value, variance : float
            The AUC, or the difference, and its DeLong variance.
        n_positives, n_negatives : int
            Numbers of rows by class. The night's weight is ``n_positives * n_negatives / (n_positives + n_negatives)``.
        **more
            Further arguments of `NightRecord`.

        Returns
        -------
        NightRecord
        """
        positives = check_integer("n_positives", n_positives, low=0)
        negatives = check_integer("n_negatives", n_negatives, low=0)
        both = positives + negatives
        beside = {"n_samples": both, "weight": positives * negatives / both if both else 0.0, **more}
        return cls(
            night, value=value, variance=variance, n_positives=positives, n_negatives=negatives, **beside
        )  # fmt: skip

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> NightRecord:
        """Return the record that `to_dict` returned as a dict.

        Parameters
        ----------
        values : mapping
            Values by the name of an argument; None for NaN.

        Returns
        -------
        NightRecord

        Raises
        ------
        ValueError
            If a name is unknown or missing, or a value is not as described.
        """
        if not isinstance(values, Mapping):
            raise ValueError(f"a record must be a mapping, got {show(values)}")
        for name in values:
            if name not in NAMES:
                raise ValueError(f"a record has no {name!r}{did_you_mean(name, NAMES)}")
        for name in NAMES[:2]:
            if name not in values:
                raise ValueError(f"a record must have {name!r}, got {show(dict(values))}")
        numbers = {name: math.nan for name in ("value", "variance") if values.get(name) is None}
        return cls(**{**values, **numbers})

    @classmethod
    def _of_known(cls, values: Mapping[str, Any]) -> NightRecord:
        """Return the record whose `to_dict` returned these values, which are not checked again; others are missing."""
        record = object.__new__(cls)
        for name, default, put in _FIELDS:
            value = values.get(name)
            put(record, default if value is None else value)
        return record

    def _title(self) -> str:
        return f"Record of {self.night}"

    def _columns(self) -> Columns:
        columns = dict(zip(NAMES, _VALUES(self), strict=True))
        return make_columns({name: or_nan(each) if name in COUNTS else each for name, each in columns.items()})


NAMES = tuple(each.name for each in fields(NightRecord))
_VALUES = attrgetter(*NAMES)
_FIELDS = [(each.name, each.default, NightRecord.__dict__[each.name].__set__) for each in fields(NightRecord)]
COUNTS = ("n_positives", "n_negatives", "successes", "trials")


class NightTable(Sequence[NightRecord]):
    """The records of several nights by column, so that a year of them is read and added up in a millisecond.

    Parameters
    ----------
    columns : mapping of str to sequence
        The values of each field of `NightRecord`, which are not checked again; None for NaN and for missing values.
        Columns without a value may be missing.
    """

    __slots__ = ("_columns", "_numbers")

    def __init__(self, columns: Mapping[str, Sequence[Any]]) -> None:
        self._columns = columns
        self._numbers: dict[str, NDArray[np.float64]] = {}

    @classmethod
    def of(cls, records: Iterable[NightRecord]) -> NightTable:
        """Return a table of records."""
        rows = [_known_values(each) for each in records]
        return cls(dict(zip(NAMES, zip(*rows, strict=True), strict=True)) if rows else {})

    def __len__(self) -> int:
        return len(self._columns.get("night", ()))

    @overload
    def __getitem__(self, place: int) -> NightRecord: ...
    @overload
    def __getitem__(self, place: slice) -> list[NightRecord]: ...
    def __getitem__(self, place: Any) -> Any:
        """Return a record, or a list of records."""
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(len(self)))]
        return NightRecord._of_known({name: column[place] for name, column in self._columns.items()})

    def column(self, name: str) -> Sequence[Any]:
        """Return the values of a field; None for NaN and for missing values."""
        return self._columns.get(name) or (None,) * len(self)

    def numbers(self, name: str) -> NDArray[np.float64]:
        """Return the values of a field as numbers; NaN for missing values."""
        if name not in self._numbers:
            numbers = np.array(self.column(name), dtype=np.float64)
            numbers.flags.writeable = False
            self._numbers[name] = numbers
        return self._numbers[name]

    def with_record(self, record: NightRecord) -> NightTable:
        """Return the table with a record, in the place of the same night's record or at the end."""
        nights, values = list(self.column("night")), dict(zip(NAMES, _known_values(record), strict=True))
        place = nights.index(record.night) if record.night in nights else len(nights)
        parted = {name: (self.column(name)[:place], self.column(name)[place + 1 :]) for name in NAMES}
        return NightTable({name: [*before, values[name], *after] for name, (before, after) in parted.items()})


def _known_values(record: NightRecord) -> tuple[Any, ...]:
    return tuple([None if value != value else value for value in _VALUES(record)])


def _as_count(name: str, value: Any) -> int | None:
    return None if value is None else check_integer(name, value, low=0)


def _as_number(name: str, value: Any) -> float:
    """Return a finite number or NaN as a float."""
    number = value if isinstance(value, float) and math.isnan(value) else check_number(name, value)
    if math.isinf(number):
        raise ValueError(f"{name} must be finite, got {show(value)}")
    return math.nan if math.isnan(number) else number


def _check_at_most(name: str, first: int | None, second: int | None, n_samples: int) -> None:
    if first is not None and second is not None and first + second > n_samples:
        raise ValueError(f"{name} must be at most n_samples={n_samples}, got {first + second}")
