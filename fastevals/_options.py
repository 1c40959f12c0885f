"""Checks of numbers and options, and the wording that messages share."""

from __future__ import annotations

import difflib
import functools
import importlib
import inspect
import math
import numbers
import operator
import re
import sys
import unicodedata
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType, MappingProxyType, ModuleType
from typing import Any, SupportsInt, TypeVar, cast, get_args

import numpy as np

LABELS_SHOWN = 8  # labels named in a message
MOST_CHOICES = 20  # choices named in a message if none is similar
NO_OTHERS: Mapping[str, str] = MappingProxyType({})
OTHER_KEYWORDS = {  # other libraries' keywords, in lower case
    "rng": "random_state seed random_seed generator rs",
    "n_resamples": "n_bootstrap n_bootstraps n_boot n_boots n_bootstrap_samples n_permutations n_iter n_iterations "
    "n_samples num_samples n_replicates b r",
    "sample_weight": "weights weight sample_weights w",
    "frequency_weight": "freq_weight freq_weights fweights frequencies frequency counts",
    "confidence_level": "level conf_level conf confidence ci alpha",
    "pos_label": "pos_class positive positive_class positive_label labels classes",
    "y_score": "scores y_prob y_proba y_pred probs probas_pred",
    "y_pred": "predictions y_hat y_score",
    "predictions": "y_pred y_preds preds models",
    "y_true": "y truth",
    "groups": "group group_ids clusters cluster_id",
    "queries": "query query_id query_ids qid qids groups group indexes",
    "n_jobs": "n_workers workers n_threads num_workers",
    "progress": "verbose progress_bar show_progress",
    "stratified": "stratify",
    "test_size": "test_fraction",
    "n_splits": "k n_folds folds cv",
    "splitter": "cv splits",
    "splits": "cv splitter",
    "grid": "param_grid parameters params",
    "n_repeats": "repeats repetitions n_bootstraps n_iter",
    "correction": "adjust p_adjust method",
    "higher_is_better": "greater_is_better lower_is_better",
}
_DRAWS = {"resamples": "n_resamples", "confidence": "confidence_level", "seed": "rng", "group": "groups"}
FORMER_KEYWORDS = {  # by public call, or class of calls: old names of keywords, to be removed in 0.6
    "report": {**_DRAWS, "weight": "sample_weight"},
    "compare": _DRAWS,
    "plot_score_histogram": {"bins": "n_bins"},
    "ranking": {"weight": "sample_weight"},
    "ranking_summary": {"weight": "sample_weight"},
    "Engine": {"weight": "sample_weight", "predicted": "pred"},
}
LONGEST_TEXT = 80  # characters of a value shown in a message


T = TypeVar("T")


class UndefinedMetricWarning(UserWarning):
    """A metric is undefined on this data (one class, an empty denominator) and is NaN, or its interval has no width."""


class DependentSplitsWarning(UserWarning):
    """A test that assumes independent measurements got measurements on splits of one data set, which share rows."""


def warn_undefined(metric: str, reason: str) -> None:
    """Warn that `metric` is NaN; the warning points to the first line outside the package."""
    _warn(f"{metric} is undefined (NaN): {reason}")


def warn_degenerate(result: str, reason: str) -> None:
    """Warn that an interval or test is more certain than the data allow."""
    _warn(f"{result} is degenerate: {reason}")


def warn_left_out(metric: str, undefined: int, n: int) -> None:
    """Warn that a metric is undefined in some replicates."""
    _warn(f"{metric} is undefined in {undefined} of {n} bootstrap replicates, which are left out (n_undefined)")


def warn_too_few(name: str, value: int, level: float) -> None:
    """Warn that there are too few replicates for an interval at a confidence level."""
    _warn(
        f"{name}={value} is too few for a confidence level of {level:g}: intervals cover every possible value; use more"
    )


def _warn(message: str) -> None:
    warn_outside(message, UndefinedMetricWarning)


def warn_outside(message: str, category: type[Warning]) -> None:
    """Warn; the warning points to the first line outside the package, the compiler and `contextlib`."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(
        ("fastevals.", "numba.", "contextlib")
    ):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def listed(labels: Collection[Any], most: int = LABELS_SHOWN) -> str:
    """Return the first `most` labels as text, and the number of labels if there are more."""
    shown = [show(label) for label in list(labels)[:most]]
    return ", ".join(shown) + (f", ... ({len(labels)} in all)" if len(labels) > most else "")


def show(value: Any) -> str:
    """Return a value as the user would write it (1.5 instead of np.float64(1.5))."""
    if isinstance(value, np.longdouble):  # its item() is another longdouble
        return str(value)
    try:
        text = repr(value.item() if isinstance(value, np.generic) else value)
    except ValueError:  # an integer with more than 4,300 digits
        text = f"{type(value).__name__} with too many digits to be shown"
    return " ".join(text.split()) if len(text) <= LONGEST_TEXT else f"{' '.join(text[:LONGEST_TEXT].split())}..."


def named_by_base(internal: type[T]) -> type[T]:
    """Give an internal class the name of its public base, for messages; pickles still use the internal name."""
    internal.__name__ = internal.__bases__[0].__name__
    return internal


def python_number(value: Any) -> Any:
    """Return an array's number as a float, or as an int if a float would round it."""
    value = value.item()
    if not isinstance(value, np.longdouble) or float(value) == value or not np.isfinite(value):
        return float(value)
    return int(value) if value == np.trunc(value) else value


def check_choice(name: str, value: Any, choices: Any, also: Mapping[str, str] | None = NO_OTHERS) -> None:
    """Raise unless `value` is one of `choices`; the message lists them, or only the one probably meant.

    Parameters
    ----------
    name : str
        Name of the argument.
    value : object
        The given value.
    choices : Literal or iterable
        The legal values.
    also : mapping of str to str, optional
        Passed to `did_you_mean`; None if the value is legal elsewhere, so that no similar choice is suggested.
    """
    legal = list(get_args(choices) or choices)
    if not any(value is choice or (isinstance(value, str) and value == choice) for choice in legal):
        hint = "" if also is None else did_you_mean(value, legal, also)
        listing = f"{len(legal)} names" if hint and len(legal) > LABELS_SHOWN else listed(legal, MOST_CHOICES)
        raise ValueError(f"{name} must be one of {listing}; got {show(value)}{hint}")


def nearest(name: str, known: Iterable[Any]) -> Any:
    """Return the most similar known name, ignoring case, or None."""
    folded = {str(each).casefold(): each for each in known}
    matches = difflib.get_close_matches(name.casefold(), folded, n=1)
    return folded[matches[0]] if matches else None


def did_you_mean(name: Any, known: Iterable[Any], also: Mapping[str, str] = NO_OTHERS) -> str:
    """Return the "did you mean" part of a message about an unknown name; empty if no known name is similar.

    `also` maps other names, in lower case, to what should be written; these take precedence.
    """
    if not isinstance(name, str):
        return ""
    known = list(known)
    same = next((each for each in known if isinstance(each, str) and _composed(each) == _composed(name) != each), None)
    if same is not None:
        return f" (did you mean {same!r}, encoded as {same!a} instead of {name!a}?)"
    match = nearest(name, known)
    written = also.get(plain_name(name), None if match is None else repr(match))
    return "" if written is None else f" (did you mean {written}?)"


def plain_name(name: str) -> str:
    """Return a name in this package's spelling: in lower case, words joined by underscores."""
    return name.casefold().replace("-", "_").replace(" ", "_")


def _composed(text: str) -> str:
    """Return text whose accented letters are single characters."""
    return unicodedata.normalize("NFC", text)


def _other_keywords(legal: Collection[str]) -> dict[str, str]:
    """Return other libraries' names for some keywords."""
    return {other: repr(name) for name in legal for other in OTHER_KEYWORDS.get(name, "").split()}


_row_name: ContextVar[Callable[[int], str]] = ContextVar("fastevals_row_name", default="row {}".format)
_row_hint: ContextVar[str] = ContextVar("fastevals_row_hint", default="")


def row_at(row: SupportsInt) -> str:
    """Return a row's name in messages: its number from 0, or its line in a file."""
    return _row_name.get()(int(row))


def hint_on_rows() -> str:
    """Return the end of messages on unusable rows: the option that drops them, if there is one."""
    return _row_hint.get()


@contextmanager
def naming_rows(name: Callable[[int], str], hint: str = "") -> Iterator[None]:
    """Name rows differently in messages inside a ``with`` block; `hint` says how to drop them."""
    tokens = _row_name.set(name), _row_hint.set(hint)
    try:
        yield
    finally:
        _row_name.reset(tokens[0])
        _row_hint.reset(tokens[1])


def check_name(path: str) -> None:
    """Raise if the name of a file is not valid UTF-8, as Arrow can't open such files."""
    try:
        path.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{path!r} can't be read: its name is not UTF-8, rename it") from None


def import_optional(module: str, missing: str) -> ModuleType:
    """Import a module of an optional package. If it is missing, raise with `missing`; if its import fails, say why."""
    package = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ImportError as error:
        if isinstance(error, ModuleNotFoundError) and (error.name or "").partition(".")[0] == package:
            raise ModuleNotFoundError(missing, name=package) from None
        raise ImportError(f"{package} is installed, but can't be imported: {error}", name=package) from error


def check_integer(name: str, value: Any, *, low: int, high: int | None = None) -> int:
    """Return `value` as an int within [low, high]."""
    if isinstance(value, np.bool_):
        value = bool(value)  # old NumPy would accept it as an index, with a warning
    try:
        number = operator.index(value)
    except TypeError:
        raise ValueError(f"{name} must be an integer, got {show(value)}") from None
    if isinstance(value, bool) or number < low or (high is not None and number > high):
        bounds = f"at least {low}" if high is None else f"from {low} to {high}"
        raise ValueError(f"{name} must be an integer {bounds}, got {show(value)}")
    return number


def as_bytes(name: str, value: Any) -> int:
    """Return a number of bytes, given as an integer or as text such as "500MB" or "1.5 GiB"."""
    if isinstance(value, str):
        match = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*([kmgt]?)(i?)(b?)\s*", value.lower())
        if match is None or (match[3] and not match[2]):
            raise ValueError(f"{name} must be a number of bytes, such as 500MB or 2GB, got {value!r}")
        base = 1024 if match[3] else 1000
        value = int(float(match[1]) * base ** " kmgt".index(match[2] or " "))
    return check_integer(name, value, low=1)


def check_number(
    name: str,
    value: Any,
    *,
    low: float = -math.inf,
    high: float = math.inf,
    open_low: bool = False,
    open_high: bool = False,
) -> float:
    """Return `value` as a float within [low, high], excluding open ends; NaN is never within."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (numbers.Real, np.integer, np.floating)):
        raise ValueError(f"{name} must be a number, got {show(value)}")
    try:
        number = float(value)
    except OverflowError:
        raise ValueError(f"{name} must be a number that a float can hold, got {show(value)}") from None
    if not low <= number <= high or (open_low and number == low) or (open_high and number == high):
        interval = f"{'(' if open_low else '['}{low:g}, {high:g}{')' if open_high else ']'}"
        raise ValueError(f"{name} must be in {interval}, got {show(value)}")
    return number


def check_costs(
    cost_fp: Any, cost_fn: Any, prior: Any = None, *, names: tuple[str, str] = ("cost_fp", "cost_fn")
) -> tuple[float, float, float | None]:
    """Return misclassification costs and the prior of the positive class as floats."""
    costs = [check_number(n, cost, low=0, open_high=True) for n, cost in zip(names, (cost_fp, cost_fn), strict=True)]
    if not any(costs):
        raise ValueError(f"{names[0]} and {names[1]} must not both be zero")
    return costs[0], costs[1], None if prior is None else check_number("prior", prior, low=0, high=1)


def check_no_options(
    metric: str, given: Iterable[str], legal: Iterable[str], also: Mapping[str, str] = NO_OTHERS
) -> None:
    """Raise if a metric gets an option that it does not take; `also` as in `did_you_mean`."""
    legal = list(legal)
    for name in given:
        if name not in legal:
            hint = did_you_mean(name, legal, {**_other_keywords(legal), **also})
            listing = "" if hint and len(legal) > LABELS_SHOWN else f"; it takes {', '.join(legal) or 'none'}"
            raise ValueError(f"{metric} has no option {name}={hint}{listing}")


def check_options(call: str, function: Callable[..., Any], given: Collection[str], place: str = "") -> None:
    """Raise unless a function takes all given options, and all options that it requires are given."""
    parameters = keyword_parameters(function)
    check_no_options(call, given, parameters)
    missing = [name for name, each in parameters.items() if each.default is each.empty and name not in given]
    if missing:
        raise ValueError(f"{call} needs {', '.join(f'{name}=' for name in missing)}{place}")


@functools.cache
def keyword_parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Return a function's parameters, without self or cls."""
    return {name: each for name, each in inspect.signature(function).parameters.items() if name not in ("self", "cls")}


def as_flag(name: str, value: Any) -> bool:
    """Return True or False as a plain bool; raise for anything else."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be True or False, got {show(value)}")
    return bool(value)


def as_direction(name: str, metric: str, value: Any, known: bool | None) -> bool | None:
    """Return whether a greater value is better: `known` if the metric has a direction, else the argument's value.

    Raise if the two disagree.
    """
    if value is None:
        return known
    direction = as_flag(name, value)
    if known is not None and direction != known:
        raise ValueError(f"{name} must be {known} or left out for {metric}, got {direction}")
    return direction


def check_exactly_one(options: dict[str, Any]) -> tuple[str, Any]:
    """Return the name and value of the only option that is not None."""
    given = [(name, value) for name, value in options.items() if value is not None]
    if len(given) != 1:
        names = " and ".join(name for name, _ in given) or "none"
        raise ValueError(f"exactly one of {', '.join(options)} must be given, got {names}")
    return given[0]


def check_not_given(name: str, value: Any, metrics: str) -> None:
    """Raise if an option is given for metrics that do not use it."""
    if value is not None:
        raise ValueError(f"{name} applies only to {metrics}, and no such metric is requested; got {show(value)}")


def check_one_number(name: str, shape: tuple[int, ...], each: str = "test set") -> None:
    """Raise if a metric returns more than one number for a test set, a model or a group."""
    if shape:
        raise ValueError(f"metric {name} must give one number for each {each}, got an array of shape {shape}")


# Splits -----------------------------------------------------------------------------------------------------------


def is_splitter(value: Any) -> bool:
    """Return whether a value is a splitter, ours or one like scikit-learn's, or a class of splitters."""
    other = isinstance(value, (str, bytes)) or hasattr(value, "__array__")  # torch's arrays have their own split
    return callable(getattr(value, "split", None)) and not other


def holds_pairs(splits: Any) -> bool:
    """Return whether a list's first entry is a pair (train, test) of row numbers, and not a fold number."""
    first = next(iter(splits), None) if isinstance(splits, (list, tuple)) else None
    return isinstance(first, (list, tuple)) and len(first) == 2 and all(isinstance(part, Sized) for part in first)


def check_instance(name: str, value: Any) -> None:
    """Raise for a class if an instance is expected."""
    if isinstance(value, type):
        raise ValueError(f"{name} must be a splitter, got the class {value.__name__}: pass an instance")


# Public names -----------------------------------------------------------------------------------------------------


def names_keywords(public: T, look_at: Callable[[Mapping[str, Any]], None] | None = None) -> T:
    """Wrap a public function, or a class's constructors: if a keyword is unknown, the error suggests a similar one.

    Former names are accepted with a warning. Switches must be True or False. If pandas is loaded, and the caller is the
    user, `look_at` is called first, with the arguments by name.

    A class is changed in place; a function that accepts any keyword checks its own keywords.
    """
    if isinstance(public, type):
        for name, each in list(vars(public).items()):
            if isinstance(each, classmethod) and not name.startswith("_"):
                setattr(public, name, classmethod(names_keywords(each.__func__, look_at)))
        if "__init__" in vars(public):
            public.__init__ = names_keywords(public.__init__, look_at)  # type: ignore[misc]
        return public
    if not inspect.isfunction(public) or any(
        each.kind is each.VAR_KEYWORD for each in keyword_parameters(public).values()
    ):
        return public

    parameters = inspect.signature(public).parameters
    names, former = tuple(parameters), FORMER_KEYWORDS.get(public.__qualname__.partition(".")[0], {})
    may_be_none = {
        name: each.annotation == "bool | None" or each.default is None
        for name, each in parameters.items()
        if each.annotation in ("bool", "bool | None")
    }

    @functools.wraps(public)
    def call(*args: Any, **given: Any) -> Any:
        for old in [each for each in given if each in former and former[each] in parameters]:
            _take_former(public.__name__, old, former[old], given)
        if look_at and "pandas" in sys.modules and not _is_ours(sys._getframe(1)):
            look_at({**dict(zip(names, args, strict=False)), **given})
        for name in may_be_none.keys() & given.keys():
            if not (given[name] is None and may_be_none[name]):
                as_flag(name, given[name])
        try:
            return public(*args, **given)
        except TypeError:
            legal = keyword_parameters(public)
            unknown = next((each for each in given if each not in legal), None)
            if unknown is None:
                raise
            hint = did_you_mean(unknown, legal, _other_keywords(legal))
            listing = "" if hint else f"; it takes {', '.join(legal)}"
            said = f"{public.__qualname__}() got an unexpected keyword argument {unknown!r}"
            raise TypeError(f"{said}{hint}{listing}") from None

    return cast("T", call)


def _is_ours(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__", "")).startswith("fastevals.")


def _take_former(call: str, old: str, new: str, given: dict[str, Any]) -> None:
    """Replace a former keyword by its new name, with a warning."""
    if new in given:
        raise TypeError(f"{call}() got both {new}= and its former name {old}=: pass {new}= only")
    warn_outside(f"{old}= of {call}() is now called {new}=; the old name will be removed in 0.6", FutureWarning)
    given[new] = given.pop(old)
