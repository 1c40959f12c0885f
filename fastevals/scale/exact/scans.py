"""Scans that count rows of files exactly: first the scores of positives, then the negatives at and between these."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._distinct import sorted_unique
from fastevals._execution import run
from fastevals._options import listed, show
from fastevals._validation.arrays import EXACT_INTEGER
from fastevals.counting.ordering import FLOATS
from fastevals.counts import MOST_ROWS, check_total
from fastevals.reading.rows import RowReader, Rows
from fastevals.reading.sources import Piece
from fastevals.scale.cells import HIGHEST, LOWEST
from fastevals.scale.exact.atoms import AtomCounts, Ints, KeyRange, Keys, atoms_beside, joined
from fastevals.scale.squares import MAX_WEIGHT_IN_64_BITS, RowSums, exact_sum

KEYS_PER_SORT = 1 << 20  # keys of negatives sorted and counted together; larger sorts step over fewer atoms
POSITIVE_BYTES = 44  # memory per positive while its score is gathered, sorted and counted
MOST_RANGES = 100  # most ranges of scores; each takes one scan
KEYS_A_SAMPLE = 256  # if there are too many keys, a sample of one in this many is kept
MOST_BLOCKS = 10_000

Place = tuple[int, int]  # where a batch is: its piece's number, and the batch's number within the piece


@dataclass
class BlockRows:
    """Counts of the rows that share a value, for each model.

    Attributes
    ----------
    value : label or None
        The value in the --by column.
    n_samples, n_positives, n_negatives : int
        Numbers of rows.
    weight : tuple of int
        Units of weight of positives and negatives; numbers of rows if there are no weights.
    lowest, highest : list of int
        Keys of the lowest and the highest score of each model.
    squared : int
        Sum of the rows' squared weights.
    row_sums : RowSums
        Numbers of rows and sums of cubed weights.
    """

    value: Any = None
    n_samples: int = 0
    n_positives: int = 0
    weight: tuple[int, int] = (0, 0)
    lowest: list[int] = field(default_factory=list)
    highest: list[int] = field(default_factory=list)
    keys: list[list[Keys]] = field(default_factory=list)
    units: list[list[Ints]] = field(default_factory=list)
    squared: int = 0
    row_sums: RowSums = field(default_factory=RowSums)

    @property
    def n_negatives(self) -> int:
        """Number of negative rows."""
        return self.n_samples - self.n_positives

    @property
    def known_sums(self) -> RowSums | None:
        """The `row_sums` if squared weights fit in 64 bits; None if they don't, or if there are no weights."""
        return self.row_sums if 0 < self.squared <= MOST_ROWS else None


class ExactScans:
    """Scans that count rows exactly, by value of a column.

    Parameters
    ----------
    reader : RowReader
    also : ndarray of uint64
        Keys of further thresholds at which counts are needed.
    memory : int or None
        Bytes that the scores of positives may take.
    progress : bool
    """

    def __init__(self, reader: RowReader, also: Keys, memory: int | None, progress: bool) -> None:
        self.reader, self.also, self.memory, self.progress = reader, also, memory, progress
        self.blocks: dict[Any, BlockRows] = {}
        self.n_ranges = 1
        self._lock = threading.Lock()
        self._n_bytes = 0
        self._sampled = False  # whether only a sample is kept, as there are too many keys

    # The first scan: the rows, and the scores of positives ------------------------------------------------------------

    def first(self) -> list[BlockRows]:
        """Count rows by value and gather the scores of positives; return the blocks of values, ascending."""
        self.reader.learn()
        self.scan(self._gather_all)
        blocks = [self.blocks[key] for key in self.reader.segments.ascending(self.blocks, self.reader.names)]
        if not blocks:
            raise self.reader.no_rows()
        for block in blocks:
            check_total("sample_weight", *block.weight)
        if self._sampled:
            n_positives = sum(block.n_positives for block in blocks)
            needed = POSITIVE_BYTES * n_positives * len(self.reader.scores)
            self.n_ranges = -(-needed // (self.memory or 1))
            if self.n_ranges > MOST_RANGES:
                raise ValueError(
                    f"memory must be at least {-(-needed // MOST_RANGES)} bytes for the scores of {n_positives} "
                    f"positives, got {self.memory}"
                )
        return blocks

    def _gather_all(self, rows: Rows, block: BlockRows, _: Place) -> None:
        flags = rows.flags.view(np.bool_)
        units = None if rows.weights is None else exact_units(rows.weights, self.reader)
        n_samples, n_positives = rows.counted(self.reader.are_copies)
        parts = [(FLOATS.encode(scores[flags] + 0.0), ends(scores)) for scores in rows.scores]
        squared, sums = 0, RowSums()
        if units is not None and self.reader.weighs_rows:
            fits = int(units.max(initial=0)) < MAX_WEIGHT_IN_64_BITS
            squared, sums = (exact_sum(units * units), RowSums.of(units, flags)) if fits else (MOST_ROWS + 1, sums)
        with self._lock:
            block.n_samples += n_samples
            block.n_positives += n_positives
            weights = (n_positives, n_samples - n_positives)
            if units is not None:
                weights = (int(units[flags].sum()), int(units[~flags].sum()))
            block.squared += squared
            block.row_sums = block.row_sums.plus(sums)
            block.weight = (block.weight[0] + weights[0], block.weight[1] + weights[1])
            for k, (keys, (low, high)) in enumerate(parts):
                block.lowest[k], block.highest[k] = min(block.lowest[k], low), max(block.highest[k], high)
                self._keep(block.keys[k], keys)
                if units is not None:
                    self._keep(block.units[k], units[flags])

    def _keep(self, gathered: list[Any], keys: NDArray[Any]) -> None:
        """Keep keys, or a sample of them if all would exceed the memory."""
        gathered.append(keys[::KEYS_A_SAMPLE].copy() if self._sampled else keys)
        self._n_bytes += keys.nbytes
        if self.memory is not None and not self._sampled and self._n_bytes * (POSITIVE_BYTES / 8) > self.memory:
            self._sampled = True
            for block in self.blocks.values():
                for lists in (block.keys, block.units):
                    for parts in lists:
                        parts[:] = [part[::KEYS_A_SAMPLE].copy() for part in parts]

    # The other scans: negatives at and between these scores -----------------------------------------------------------

    def count(
        self,
        wanted: Sequence[BlockRows],
        done: Callable[[BlockRows, int, AtomCounts], None],
        beside: Callable[[Rows, BlockRows, Place], None] | None = None,
    ) -> None:
        """Count the negatives of blocks; call `done` with the counts of each model, from the highest range down.

        If `beside` is given, it is called with all rows, batch by batch, during one of the scans.
        """
        large = sum(block.n_samples for block in self.blocks.values()) >= 2**32
        models = range(len(self.reader.scores))
        ranges = {id(block): [self._ranges(block, k) for k in models] for block in wanted}
        if self._sampled:
            self._gather([(block, [each[0] for each in ranges[id(block)]]) for block in wanted])
        for number in range(self.n_ranges):
            counts: dict[int, list[AtomCounts]] = {}
            for block in wanted:
                counts[id(block)] = []
                for k in models:
                    also = ranges[id(block)][k][number].take(atoms_beside(self.also, block.highest[k]), None)[0]
                    units = block.units[k] if self.reader.weight is not None else None
                    squared = block.known_sums is not None
                    atoms = AtomCounts.of_positives(block.keys[k], units, also, large=large, squared=squared)
                    counts[id(block)].append(atoms)
            following = None
            if number + 1 < self.n_ranges:
                following = [(block, [each[number + 1] for each in ranges[id(block)]]) for block in wanted]
            within = {key: [each[number] for each in value] for key, value in ranges.items()}
            self._count(counts, within, following, beside if number == 0 else None)
            for block in wanted:
                for k in models:
                    done(block, k, counts[id(block)][k])
                    counts[id(block)][k] = None  # type: ignore[call-overload]

    def _ranges(self, block: BlockRows, k: int) -> list[KeyRange]:
        """Return ranges with about equal numbers of positives, highest first."""
        if not self._sampled:
            return [KeyRange()]
        sample = np.sort(np.concatenate(block.keys[k])) if block.keys[k] else np.empty(0, np.uint64)
        block.keys[k], block.units[k] = [], []
        if not sample.size:
            return [KeyRange(), *[KeyRange(1, 0)] * (self.n_ranges - 1)]
        places = np.arange(1, self.n_ranges) * sample.size // self.n_ranges
        edges = sorted_unique(sample[places])
        lows = [LOWEST, *map(int, edges)]
        highs = [*(int(edge) - 1 for edge in edges), HIGHEST]
        found = [KeyRange(low, high) for low, high in zip(lows, highs, strict=True)][::-1]
        return found + [KeyRange(1, 0)] * (self.n_ranges - len(found))

    def _gather(self, ranges: list[tuple[BlockRows, list[KeyRange]]]) -> None:
        by_block = {id(block): each for block, each in ranges}
        self.scan(lambda rows, block, _: self._gather_range(rows, block, by_block.get(id(block))))

    def _gather_range(self, rows: Rows, block: BlockRows, ranges: list[KeyRange] | None) -> None:
        if ranges is None:
            return
        flags = rows.flags.view(np.bool_)
        units = None if rows.weights is None else exact_units(rows.weights, self.reader)[flags]
        for k, scores in enumerate(rows.scores):
            keys, of_keys = ranges[k].take(FLOATS.encode(scores[flags] + 0.0), units)
            with self._lock:
                block.keys[k].append(keys)
                if of_keys is not None:
                    block.units[k].append(of_keys)

    def _count(
        self,
        counts: dict[int, list[AtomCounts]],
        within: dict[int, list[KeyRange]],
        following: list[tuple[BlockRows, list[KeyRange]]] | None,
        beside: Callable[[Rows, BlockRows, Place], None] | None,
    ) -> None:
        """Scan once: count negatives, and gather the positives of the next range."""
        gather = {id(block): each for block, each in following or ()}
        made: list[dict[tuple[int, int], WaitingKeys]] = []

        def buffers() -> dict[tuple[int, int], WaitingKeys]:
            made.append({})
            return made[-1]

        def visit(rows: Rows, block: BlockRows, place: Place, space: dict[tuple[int, int], WaitingKeys]) -> None:
            if id(block) in counts:
                negative = ~rows.flags.view(np.bool_)
                units = None if rows.weights is None else exact_units(rows.weights, self.reader)[negative]
                for k, scores in enumerate(rows.scores):
                    buffer = space.setdefault((id(block), k), WaitingKeys())
                    buffer.add(*within[id(block)][k].take(FLOATS.encode(scores[negative] + 0.0), units))
                    if buffer.n >= KEYS_PER_SORT:
                        counts[id(block)][k].count(*buffer.empty())
            self._gather_range(rows, block, gather.get(id(block)))
            if beside is not None:
                beside(rows, block, place)

        self.scan(visit, buffers)
        left = [(key, buffer) for space in made for key, buffer in space.items() if buffer.n]
        run(lambda each: counts[each[0][0]][each[0][1]].count(*each[1].empty()), left)

    def recount(self, block: BlockRows, k: int, keys: Keys) -> AtomCounts:
        """Count model `k`'s negatives at and between the atoms with the ascending `keys`, in one more scan."""
        none = np.zeros(keys.size, np.int64)
        atoms = AtomCounts.uncounted(keys, none, None if block.known_sums is None else none)
        within = KeyRange(int(keys[0]), int(keys[-1]))

        def visit(rows: Rows, its: BlockRows, _: Place) -> None:
            if its is block:
                negative = ~rows.flags.view(np.bool_)
                units = None if rows.weights is None else exact_units(rows.weights, self.reader)[negative]
                atoms.count(*within.take(FLOATS.encode(rows.scores[k][negative] + 0.0), units))

        self.scan(visit)
        return atoms

    # Scanning ---------------------------------------------------------------------------------------------------------

    def scan(self, visit: Callable[..., None], workspace: Callable[[], Any] | None = None) -> None:
        """For each block in each batch, call `visit` with the rows, the block, and the batch's place."""
        self.reader.files.check_unchanged()

        def read(numbered: tuple[int, Piece], *space: Any) -> None:
            number, piece = numbered
            for batch, rows in enumerate(self.reader.rows(piece)):
                for value, part in rows.by_segment(self.reader.segments):
                    visit(part, self._block(value), (number, batch), *space)

        run(read, list(enumerate(self.reader.files.pieces)), workspace=workspace, progress=self.progress)
        self.reader.files.check_unchanged()

    def _block(self, value: Any) -> BlockRows:
        block = self.blocks.get(value)
        if block is None:
            n = len(self.reader.scores)
            with self._lock:
                if len(self.blocks) >= MOST_BLOCKS and value not in self.blocks:
                    by = listed(self.reader.segments.columns)
                    raise ValueError(f"the values of {by} must be at most {MOST_BLOCKS}, got more")
                new = BlockRows(
                    value, 0, 0, (0, 0), [HIGHEST] * n, [LOWEST] * n, [[] for _ in range(n)], [[] for _ in range(n)]
                )
                block = self.blocks.setdefault(value, new)
        return block


class WaitingKeys:
    """Keys that wait until there are enough to sort."""

    def __init__(self) -> None:
        self.keys: list[Keys] = []
        self.units: list[Ints] = []
        self.n = 0

    def add(self, keys: Keys, units: Ints | None) -> None:
        """Add keys."""
        self.keys.append(keys)
        self.n += keys.size
        if units is not None:
            self.units.append(units)

    def empty(self) -> tuple[Keys, Ints | None]:
        """Return all keys, and forget them."""
        self.n = 0
        return joined(self.keys), joined(self.units) if self.units else None


class NotWholeError(ValueError):
    """Raised if weights are not integers."""


def exact_units(weights: NDArray[np.float64], reader: RowReader) -> Ints:
    """Return weights as integers; raise if a weight has a fraction, or is above 2**53, where floats skip integers."""
    name = reader.names[str(reader.weight)]
    odd = weights != np.trunc(weights)
    if odd.any():
        raise NotWholeError(f"{name} must hold whole numbers, got {show(weights[int(np.argmax(odd))])}")
    if weights.max(initial=0) > EXACT_INTEGER:
        raise ValueError(f"{name} must be at most 2**53, got {show(weights.max())}")
    return weights.astype(np.int64)


def ends(scores: NDArray[Any]) -> tuple[int, int]:
    """Return the keys of the lowest and the highest score."""
    low, high = FLOATS.encode(np.array([scores.min(), scores.max()], np.float64) + 0.0)
    return int(low), int(high)
