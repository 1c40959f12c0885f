"""Columns of class probabilities: which columns hold them, and which class each column is for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

from numpy.typing import NDArray

from fastevals._naming import option
from fastevals._options import listed, show
from fastevals._validation.arrays import as_texts
from fastevals._validation.class_order import class_order, order_of_columns
from fastevals._validation.text import is_text
from fastevals.reading.values import parse_label

ANY = "*"  # what it matches in a column's name is the name of a class


class ClassColumns(NamedTuple):
    """Columns of probabilities, and the class of each.

    Attributes
    ----------
    columns : tuple of str
    labels : tuple of label
        The classes, in the order of the columns.
    are_parsed : bool
        Whether labels are parts of the columns' names, so that they are text even if the true classes are numbers.
    """

    columns: tuple[str, ...]
    labels: tuple[Any, ...]
    are_parsed: bool

    @classmethod
    def find(
        cls,
        names: Sequence[str],
        probabilities: str | Sequence[str] | Mapping[Any, str],
        classes: Iterable[Any] | None = None,
        others: Iterable[str | None] = (),
    ) -> ClassColumns:
        """Find the columns of probabilities.

        Parameters
        ----------
        names : sequence of str
            All columns.
        probabilities : str, sequence of str, or mapping of label to str
            A pattern such as ``"p_*"``, whose ``*`` matches the name of each class; or the columns, which are matched
            with `classes` by name if they have the names of classes, and by place otherwise; or the column of each
            class.
        classes : iterable of label, optional
            The classes in order. Required for a sequence of columns. For a pattern, the default is the order of the
            columns.
        others : iterable of str or None
            Columns with another role, which the pattern does not match.

        Raises
        ------
        ValueError
            If there are fewer than two columns, a class has no column or several, or a column has no class.
        """
        order = None if classes is None else list(classes)
        if isinstance(probabilities, Mapping):
            if order is not None:
                raise ValueError("classes is not allowed with a mapping of classes to columns, which has their order")
            found, labels, parsed = list(probabilities.values()), list(probabilities), False
        elif isinstance(probabilities, str):
            found, labels, parsed = _matches(names, probabilities, order, set(others))
        else:
            found, labels, parsed = list(probabilities), order, False  # type: ignore[assignment]
            if order is None or len(order) != len(found):
                n = "none" if order is None else len(order)
                raise ValueError(f"classes must name the class of each of {len(found)} columns, got {n}")
            found = [found[place] for place in order_of_columns("probabilities", found, order, are_given=True)]
        if len(found) < 2 or len(set(found)) < len(found) or not all(isinstance(name, str) for name in found):
            raise ValueError(f"{option('probabilities')} must name two or more different columns, got {listed(found)}")
        return cls(tuple(found), tuple(labels), parsed)

    @property
    def title(self) -> str:
        """The columns in messages."""
        first, *_, last = self.columns
        return f"{first} ... {last}" if len(self.columns) > 2 else ", ".join(self.columns)

    def labels_for(self, name: str, true: NDArray[Any]) -> list[Any]:
        """Return the classes in the type of the true labels in column `name`; raise if they have no such type."""
        if not self.are_parsed or is_text(true):
            return list(self.labels)
        labels = [parse_label(text, true[:1].tolist()) for text in self.labels]
        if any(isinstance(label, str) for label in labels):
            raise ValueError(
                f"column {name!r} must have the classes {listed(list(self.labels))}, as in the names of the columns of "
                f"probabilities, got {show(true[0])}"
            )
        return labels


def _matches(
    names: Sequence[str], pattern: str, order: list[Any] | None, others: set[str | None]
) -> tuple[list[str], list[Any], bool]:
    """Return the columns that match a pattern, their classes, and whether these are parts of names."""
    if pattern.count(ANY) != 1:
        raise ValueError(f"{option('probabilities')} must have one {ANY} in a pattern, such as 'p_*', got {pattern!r}")
    before, after = pattern.split(ANY)
    n = len(before) + len(after)
    texts = {
        name[len(before) : len(name) - len(after)]: name
        for name in names
        if name not in others and name.startswith(before) and name.endswith(after) and len(name) > n
    }
    if not texts:
        raise ValueError(f"{option('probabilities')}: no column matches {pattern!r}; columns are {listed(list(names))}")
    if order is None:
        return list(texts.values()), list(texts), True
    places = class_order(list(texts), order)
    if places is None:
        _refuse_classes(texts, order, before, after)
    return [list(texts.values())[place] for place in places], order, False


def _refuse_classes(texts: Mapping[str, str], order: list[Any], before: str, after: str) -> NoReturn:
    """Raise for a class without a column, or for a column without a class."""
    wanted = as_texts(order)
    for text, label in zip(wanted, order, strict=True):
        if text not in texts:
            raise ValueError(f"classes has {show(label)}, but no column is named {before + text + after!r}")
    for text, name in texts.items():
        if text not in wanted:
            raise ValueError(f"column {name!r} is for class {text!r}, which classes lacks: {listed(order)}")
    raise ValueError(f"classes must name each class once, got {listed(order)}")
