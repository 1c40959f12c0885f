"""Count rows with class probabilities in one scan, however many there are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._naming import option
from fastevals._options import check_integer, listed, show
from fastevals.reading.columns import ColumnRoles, NamedColumns
from fastevals.reading.rows import Batch, Rows
from fastevals.reading.sources import Piece, Source
from fastevals.reading.values import ordered_categories
from fastevals.scale.class_ranges import LEAST_RANGES
from fastevals.scale.scores import count_in_rounds
from fastevals.scale.summarized_classes import CLASS_CELLS, ClassReader, SummarizedClasses, count_classes
from fastevals.scale.summary import MOST_CELLS
from fastevals.show.predicted import read_probabilities
from fastevals.show.report.options import ReportOptions
from fastevals.show.report.read_scores import row_rules


class ClassRowReader(ClassReader):
    """Reads a source as rows of classes, by their places, and a matrix of probabilities for each model."""

    def __init__(self, source: Source, roles: ColumnRoles, options: ReportOptions) -> None:
        super().__init__(
            source, roles.truth, roles.model_columns, weight=roles.weight, segments=roles.segments,
            are_copies=roles.are_copies, rules=row_rules(options), names=roles.message_names(),
        )  # fmt: skip
        self._together = roles.together
        self._roles, self._options = roles, options
        self.class_names = None if options.classes is None else list(options.classes)
        self.are_ordered, self.is_normalized = options.ordered, options.normalize
        self.has_begun = False  # whether earlier rows have settled the order of the classes
        unnamed = next((each for each in roles.class_columns if each.classes is None), None)
        if unnamed is not None and self.class_names is None:
            raise ValueError(
                f"{option('classes')} is missing: it names the classes of the lists in {unnamed.shown}, in order"
            )

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the models."""
        return self._roles.models

    @property
    def identity(self) -> list[Any]:
        """The columns, files and classes that are read."""
        options = self._options
        return [*super().identity, options.classes, options.ordered, options.normalize]

    def rows(self, piece: Piece) -> Iterator[Rows]:
        """Yield the rows of a piece."""
        n_kept = n_weightless = 0
        for place, arrays in self.checked(piece):
            columns = {name: self._values(name, arrays[name]) for name in (self.label, *self.scores)}
            order = ordered_categories(arrays[self.label])
            if self.has_begun:
                self._check_order(order, place.row(0))
            read = read_probabilities(
                NamedColumns(columns, place.row, categories={} if order is None else {self.label: order}),
                self.label, self._roles.class_columns, classes=self.class_names, ordered=self.are_ordered,
                normalize=self.is_normalized,
            )  # fmt: skip
            self.class_names, self.are_ordered, self.has_begun = read.labels, read.are_ordered, True
            weights = None if self.weight is None else self._weights(arrays[self.weight], place)
            values = tuple(self._values(name, arrays[name]) for name in self.segments.columns)
            matrices = tuple(read.predicted[name] for name in self.models)
            rows = Rows(read.true, matrices, weights, values, None)  # type: ignore[arg-type]
            if weights is not None and not weights.all():
                rows = rows.take(np.flatnonzero(weights))
                n_weightless += read.true.size - rows.flags.size
            n_kept += rows.flags.size
            if rows.flags.size:
                yield rows
        self.n_rows[piece.name], self._weightless[piece.name] = n_kept, n_weightless

    def _check_order(self, order: list[Any] | None, where: str) -> None:
        """Raise unless ordered categories, or None, order the classes as earlier rows did."""
        known, options = self.class_names or [], self._options
        is_same = order is None or options.classes is not None or [each for each in order if each in known] == known
        if is_same and bool(options.ordered or order) == self.are_ordered:
            return
        raise ValueError(
            f"{self.names[self.label]} must have the same ordered categories in all rows, got "
            f"{_listed_order(known if self.are_ordered else None)} in what was read first and {_listed_order(order)} "
            f"at {where}; {option('classes')} and {option('ordered', True)} give an order"
        )

    def _weights(self, array: Any, place: Batch) -> NDArray[np.float64]:
        weights = super()._weights(array, place)
        odd = weights != np.trunc(weights)
        if odd.any():
            row = int(odd.argmax())
            raise ValueError(
                f"{self.names[str(self.weight)]} must hold whole numbers, because rows are counted, got "
                f"{show(weights[row])} at {place.row(row)}: multiply them by a constant and round"
            )
        return weights


def _listed_order(order: list[Any] | None) -> str:
    return listed(order) if order else "none"


def count_probabilities(
    reader: ClassRowReader,
    *,
    cells: int | None = None,
    progress: bool = False,
    before: SummarizedClasses | None = None,
    store: Callable[[SummarizedClasses], None] | None = None,
) -> SummarizedClasses:
    """Count all rows of a reader in one scan.

    Parameters
    ----------
    reader : ClassRowReader
    cells : int, optional
        The largest number of ranges of each class's probabilities.
    progress : bool
    before : SummarizedClasses, optional
        Counts from an earlier run.
    store : callable, optional
        Called now and then with the counts so far.
    """
    cells = CLASS_CELLS if cells is None else check_integer(option("cells"), cells, low=LEAST_RANGES, high=MOST_CELLS)
    if before is not None:
        reader.class_names, reader.are_ordered = before.classes.tolist(), before.are_ordered
        reader.has_begun = True
    return count_in_rounds(reader, partial(count_classes, reader, cells=cells, progress=progress), before, store)
