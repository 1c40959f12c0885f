"""The counts of class probabilities that a report needs: of each model and value, as files of summaries hold them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from numpy.typing import NDArray

from fastevals._execution import progress_bar
from fastevals._limits import free_bytes
from fastevals._naming import option
from fastevals._options import listed
from fastevals.reading.rows import RowReader, Rows
from fastevals.reading.sources import Piece
from fastevals.scale.class_scores import ClassScoresSummary
from fastevals.scale.fields import Fields
from fastevals.scale.scores import CountedBlock, ScoresSummary, add_rows, columns_of, told

CLASS_CELLS = 2**15  # ranges of each class's probabilities, by default
COUNTS_SHARE = 1 / 2  # of free memory, for the counts of all values


class ClassBlock(CountedBlock):
    """Rows that share a value, with a `ClassScoresSummary` for each model."""

    def add(self, rows: Rows, *, are_copies: bool = False) -> None:
        """Count rows, whose flags are the places of their classes, and whose scores are matrices."""
        self.n_samples += rows.counted(are_copies)[0]
        weights = {"frequency_weight" if are_copies else "sample_weight": rows.weights}
        for summary, matrix in zip(self.summaries.values(), rows.scores, strict=True):
            summary.update(summary._require_rows()[rows.flags], matrix, **weights)


@dataclass(repr=False)
class SummarizedClasses(ScoresSummary[ClassScoresSummary]):
    """Class probabilities of several models: the output of `fastevals summarize --probabilities`.

    Attributes
    ----------
    is_normalized : bool
        Whether each row's probabilities were divided by their sum.
    """

    KIND = "models of classes"
    PARTS: ClassVar[tuple[type[Any], ...]] = (ClassScoresSummary,)
    OPTION: ClassVar[str] = "probabilities"

    is_normalized: bool = False

    @classmethod
    def of_summary(cls, summary: ClassScoresSummary, label: str = "label", model: str = "p") -> Self:
        """Return a summary of one model as all that was counted."""
        block = ClassBlock(summary.n_samples, 0, {model: summary}, {})
        return cls(label, (model,), "weight" if summary.is_weighted else None, blocks={None: block})

    @property
    def first(self) -> ClassScoresSummary:
        """A summary of one of the blocks; all have the same classes and options."""
        found: ClassScoresSummary = next(iter(next(iter(self.blocks.values())).summaries.values()))
        return found

    @property
    def classes(self) -> NDArray[Any]:
        """The classes, in the order of columns."""
        return self.first._require_rows()

    @property
    def are_ordered(self) -> bool:
        """Whether the classes are ordered."""
        return self.first.is_ordered

    @property
    def hard_models(self) -> tuple[str, ...]:
        """The models whose probabilities are all 0 or 1."""
        blocks = self.blocks.values()
        return tuple(name for name in self.models if all(block.summaries[name]._is_hard for block in blocks))

    def _merged(self, others: Sequence[Self]) -> Self:
        for other in others:
            if other.KIND == self.KIND and other.is_normalized != self.is_normalized:
                raise ValueError(f"summaries must all be made with {option('normalize', True)}, or all without it")
        merged = super()._merged(others)
        merged.is_normalized = self.is_normalized
        labels = None if not merged.blocks else merged.classes
        for block in merged.blocks.values():  # those of one side only may have another order
            block.summaries = {
                name: each._in_order_of(labels, self.are_ordered) for name, each in block.summaries.items()
            }
        return merged

    def _payload(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        head, arrays = super()._payload()
        return {**head, "normalized": self.is_normalized}, arrays

    @classmethod
    def _from_payload(cls, fields: Fields) -> Self:
        summary = super()._from_payload(fields)
        summary.is_normalized = fields.flag("normalized")
        if not summary.blocks:
            raise ValueError("values must not be empty")
        return summary

    def _read_blocks(self, values: list[Any], fields: Fields) -> None:
        super()._read_blocks(values, fields)
        self.blocks = {key: ClassBlock(*vars(block).values()) for key, block in self.blocks.items()}

    def _check_block(self, block: CountedBlock) -> None:
        """Raise unless a block's summaries have the same rows as the block, and the classes of the first block."""
        first = self.first
        for summary in block.summaries.values():
            if summary.labels is None or summary.n_samples != block.n_samples:
                raise ValueError("its summaries must have the rows of their blocks")
            if summary._options() != first._options() or summary.is_weighted != first.is_weighted:
                raise ValueError("its summaries must have the same options")
            if summary._in_order_of(first._require_rows(), True) is not summary:
                raise ValueError("its summaries must have the same classes in the same order")


class ClassReader(RowReader):
    """Reads rows whose `flags` are the places of their classes, with a matrix of probabilities for each model."""

    class_names: list[Any] | None  # known after the first rows
    are_ordered: bool
    is_normalized: bool


def count_classes(reader: ClassReader, pieces: Sequence[Piece], *, cells: int, progress: bool) -> SummarizedClasses:
    """Count the rows of pieces, one after the other, because each block takes some megabytes."""
    blocks: dict[Any, CountedBlock] = {}
    most = free_bytes(COUNTS_SHARE)

    def new_block() -> CountedBlock:
        options: dict[str, Any] = {"ordered": reader.are_ordered, "cells": cells}
        made = {name: ClassScoresSummary(reader.class_names, **options) for name in reader.models}
        n_bytes = sum(summary._n_bytes for summary in made.values()) * (len(blocks) + 1)
        if most is not None and n_bytes > most:
            raise ValueError(_too_many(reader, len(blocks), n_bytes))
        return ClassBlock(0, 0, made, {})

    with progress_bar(len(pieces), progress) as show_bar:
        for n, piece in enumerate(pieces):
            add_rows(reader, piece, blocks, new_block)
            show_bar(n + 1)
    columns = columns_of(reader)
    return told(SummarizedClasses(**columns, blocks=blocks, is_normalized=reader.is_normalized), reader, pieces)


def _too_many(reader: RowReader, n_blocks: int, n_bytes: int) -> str:
    """Say that the counts of another value don't fit in memory."""
    by = listed([reader.names[name] for name in reader.segments.columns])
    of_values = f" of {n_blocks + 1:,} values of {by}" if by else ""
    return (
        f"the counts{of_values} need {n_bytes / 1e6:,.0f} MB, more than half of the memory that is free: lower "
        f"{option('cells')}, or count files separately"
    )
