"""Rules for parameters, and the types of errors and warnings that code written for scikit-learn catches and filters."""

from __future__ import annotations

import inspect
import math
import numbers
import sys
from collections.abc import Callable, Sequence
from functools import cache, wraps
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

from fastevals._options import UndefinedMetricWarning, warn_outside


class InvalidParameterError(ValueError, TypeError):
    """A parameter's type or value is not allowed; like scikit-learn's error, it is a `ValueError` and a `TypeError`."""


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Issue a warning that points to the first line outside this package."""
    warn_outside(message, category)


def warn_ill_defined(message: str) -> None:
    """Warn that a metric is undefined; if scikit-learn is loaded, filters for its warning also apply."""
    warn_outside(message, _ill_defined())


def _ill_defined() -> type[Warning]:
    theirs = sys.modules.get("sklearn.exceptions")
    return UndefinedMetricWarning if theirs is None else _both(theirs.UndefinedMetricWarning)


@cache
def _both(theirs: type[Warning]) -> type[Warning]:
    def reduce(warning: Warning) -> tuple[Any, ...]:  # a worker process pickles it if warnings are errors
        return _made, warning.args

    members = {"__doc__": UndefinedMetricWarning.__doc__, "__reduce__": reduce}
    return type("UndefinedMetricWarning", (UndefinedMetricWarning, theirs), members)


def _made(*args: Any) -> Warning:
    return _ill_defined()(*args)


F = TypeVar("F", bound=Callable[..., Any])


class Rule(NamedTuple):
    """Allowed values of a parameter: a description, and a function that tests a value."""

    text: str
    allows: Callable[[Any], bool]


def any_of(*options: Any) -> Rule:
    """Return a rule that allows some strings, and None if it is among the options."""
    texts = sorted(repr(each) for each in options if each is not None)
    text = f"a str among {{{', '.join(texts)}}}" + (" or None" if None in options else "")
    known = frozenset(each for each in options if each is not None)
    return Rule(text, lambda value: value in known if isinstance(value, str) else value is None and None in options)


def check_parameters(function: str, **parameters: tuple[Any, Rule]) -> None:
    """Raise unless each parameter of a function follows its rule."""
    for name, (value, rule) in parameters.items():
        if not rule.allows(value):
            raise InvalidParameterError(
                f"The {name!r} parameter of {function} must be {rule.text}. Got {value!r} instead."
            )


def named_options(function: F) -> F:
    """Accept positional options after the first two arguments, with a warning that they should be named."""
    names = [*inspect.signature(function).parameters][2:]

    @wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        if 2 < len(args) <= 2 + len(names):
            named = dict(zip(names, args[2:], strict=False))
            warn(
                f"Pass {', '.join(f'{name}={value}' for name, value in named.items())} as keyword args. From version "
                "1.11 passing these as positional arguments will result in an error",
                FutureWarning,
            )
            return function(*args[:2], **named, **options)
        return function(*args, **options)

    return cast(F, call)


def is_array_like(value: Any) -> bool:
    """Return whether a value is an array or a sequence, but not a scalar, text or an unordered collection."""
    if hasattr(value, "__array__"):
        return getattr(value, "ndim", 1) != 0
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def _is_zero_division(value: Any) -> bool:
    if isinstance(value, numbers.Real):
        return value in (0, 1) or (not isinstance(value, numbers.Integral) and math.isnan(value))
    return isinstance(value, str) and value == "warn"


FLAG = Rule("an instance of 'bool' or an instance of 'numpy.bool'", lambda value: isinstance(value, (bool, np.bool_)))
ARRAY_OR_NONE = Rule("an array-like or None", lambda value: value is None or is_array_like(value))
POS_LABEL = Rule(
    "an instance of 'float', an instance of 'int', an instance of 'bool', an instance of 'str' or None",
    lambda value: value is None or isinstance(value, (numbers.Real, str, np.bool_)),
)
ZERO_DIVISION = Rule("a float among {0.0, 1.0} or numpy.nan or a str among {'warn'}", _is_zero_division)
