"""Rankings of rows in files: Parquet, Arrow, data sets and streams of record batches, of any number of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._execution import run
from fastevals._limits import free_bytes
from fastevals._options import as_bytes, as_flag
from fastevals._validation.arrays import as_thresholds, check_finite
from fastevals.counting.ordering import FLOATS
from fastevals.many.folds import PooledRanking
from fastevals.scale.cells import ScoreCells
from fastevals.scale.certified import CertifiedRanking
from fastevals.scale.exact import AtomCounts, BlockRows, ExactCurve, ExactRanking, ExactScans, NotWholeError
from fastevals.scale.files import BATCH, Piece, open_rows
from fastevals.scale.grid import ScoreGrid, atoms_of_rows, exact_floats, fit_grid
from fastevals.scale.rows import RowReader, Rows
from fastevals.scale.summary import SAMPLE, RankingSummary

SHARE = 1 / 4  # of the free memory that the scores of positives may take, unless it is said
SAMPLED_PIECES = 16  # that a grid is fitted to
MOST_VALUES = 1000  # of a column, each with summaries of its own
FEW = 4  # rows of a sample for each distinct score, from which all rows may have few


def ranking(
    data: Any,
    *,
    label: str,
    score: str | Sequence[str],
    weight: str | None = None,
    pos_label: Any = None,
    exact: bool | None = None,
    cells: int = 2**18,
    at: ArrayLike = (),
    memory: int | str | None = None,
    on_invalid: str = "raise",
    filesystem: Any = None,
    progress: bool = False,
) -> Any:
    """Return the ranking of all rows of files, however many: exact, or with a certificate.

    Parameters
    ----------
    data : path, sequence of paths, or what pyarrow reads
        Parquet or Arrow files, folders, patterns such as ``"scores/*.parquet"``, addresses such as ``s3://...``; a data
        set or table of pyarrow; a record-batch reader, or another object with an Arrow stream. Columns of hive
        partitions (``day=1/``) are columns.
    label : str
        Column of the true class.
    score : str or sequence of str
        Column of scores, higher for the positive class; of several, a model each, a dict is returned.
    weight : str, optional
        Column of row weights. Those that are whole numbers are counted exactly.
    pos_label : label, optional
        The positive class; 1 among 0/1, -1/1 and booleans.
    exact : bool, optional
        True: two scans, and all numbers are those of the rows in memory. False: one scan (and a sample), and numbers
        are `Certified` where there are more distinct scores than cells. By default exact, where data can be read again
        and weights are whole numbers.
    cells : int
        Ranges of scores, about, where it is not exact.
    at : float or array-like, optional
        Thresholds at which confusion matrices are exact in any case.
    memory : int or str, optional
        Bytes, such as ``"1GB"``, that the scores of positives may take, 36 for each: where they are more they are
        counted in several ranges, by a scan each. By default a quarter of what is free.
    on_invalid : {"raise", "drop"}
        Whether a row without a label, a weight or a finite score is an error, or left out.
    filesystem : pyarrow.fs.FileSystem, optional
        That paths are of.
    progress : bool
        Show bars (needs tqdm).

    Returns
    -------
    PooledRanking or CertifiedRanking, or a dict of them by model
        With the methods of a `Ranking`.

    Raises
    ------
    ValueError
        If an argument is not as described, a column is missing, of other types in other files, or has a value that
        can't be counted (the message names the file, the row group and the row), if a row group can't be read, or
        if a file changes meanwhile.
    ImportError
        Without pyarrow.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from fastevals.scale import parquet
    >>> table = pa.table({"y": [0, 0, 1, 1], "p": [0.1, 0.4, 0.35, 0.8]})
    >>> parquet.ranking(table, label="y", score="p").roc_auc()
    0.75
    """
    names = [score] if isinstance(score, str) else list(score)
    reader = RowReader(
        open_rows(data, filesystem=filesystem), label, names, weight=weight, pos_label=pos_label, on_invalid=on_invalid
    )
    thresholds = _threshold_keys(at)
    wanted = None if exact is None else as_flag("exact", exact)
    most = free_bytes(SHARE) if memory is None else as_bytes("memory", memory)
    if wanted and not reader.files.can_repeat:
        raise ValueError(f"exact=True reads rows twice, but {reader.files.title} can be read once: write it to a file")
    if wanted or (wanted is None and reader.files.can_repeat):
        try:
            found = exact_rankings(
                reader,
                thresholds,
                memory=most,
                progress=progress,
            )
        except NotWholeError:
            if wanted:
                raise
            found = certified_rankings(reader, thresholds, cells=cells, progress=progress)
    else:
        found = certified_rankings(reader, thresholds, cells=cells, progress=progress)
    return found[names[0]] if isinstance(score, str) else found


def _threshold_keys(at: ArrayLike) -> NDArray[np.uint64]:
    thresholds = exact_floats("at", np.atleast_1d(as_thresholds("at", at)).ravel() + 0.0)
    check_finite("at", thresholds)
    return np.unique(FLOATS.encode(thresholds))


# Exact ----------------------------------------------------------------------------------------------------------------


def exact_rankings(
    reader: RowReader, thresholds: NDArray[np.uint64], *, memory: int | None, progress: bool
) -> dict[str, PooledRanking | CertifiedRanking]:
    """Return the exact ranking of each model."""
    scans = ExactScans(reader, thresholds, memory, progress)
    (block,) = scans.first()
    found: dict[str, PooledRanking | CertifiedRanking] = {}
    curves = {k: ExactCurve(*block.weight, block.lowest[k]) for k in range(len(reader.scores))}

    def done(block: BlockRows, k: int, atoms: AtomCounts) -> None:
        curves[k].add(atoms)
        if scans.n_ranges == 1:
            found[reader.scores[k]] = ExactRanking(atoms, curves[k], *block.weight, reader.classes)

    scans.count([block], done)
    for k, name in enumerate(reader.scores):
        if scans.n_ranges > 1:  # all points would be too many: what they tell is known
            cells = ScoreCells.between(curves[k].counts, block.highest[k])
            found[name] = CertifiedRanking(cells, reader.classes, known=curves[k].metrics)
    return found


# With a certificate ---------------------------------------------------------------------------------------------------


def certified_rankings(
    reader: RowReader, thresholds: NDArray[np.uint64], *, cells: int, progress: bool
) -> dict[str, PooledRanking | CertifiedRanking]:
    """Return the ranking of each model, from one scan and a sample."""
    (block,) = count_summaries(reader, thresholds, cells=cells, progress=progress).values()
    return {name: summary.ranking() for name, summary in block.summaries.items()}


@dataclass
class CountedBlock:
    """Rows that share a value, counted in ranges of scores.

    Attributes
    ----------
    n_samples, n_positives : int
        Rows.
    summaries : dict of str to RankingSummary
        By model.
    """

    n_samples: int
    n_positives: int
    summaries: dict[str, RankingSummary]

    @property
    def n_negatives(self) -> int:
        """Negative rows."""
        return self.n_samples - self.n_positives

    def merge(self, others: Sequence[CountedBlock]) -> CountedBlock:
        """Return the rows of this one and others."""
        summaries = {
            name: summary.merge(*(other.summaries[name] for other in others))
            for name, summary in self.summaries.items()
        }
        n_samples = self.n_samples + sum(other.n_samples for other in others)
        return CountedBlock(n_samples, self.n_positives + sum(other.n_positives for other in others), summaries)


def count_summaries(
    reader: RowReader, thresholds: NDArray[np.uint64], *, cells: int, progress: bool
) -> dict[Any, CountedBlock]:
    """Return what is counted of each value of the reader's `by`, ascending."""
    settings: dict[str, Any] = {"cells": cells, "at": FLOATS.decode(thresholds)}
    if reader.weight is not None:
        settings["largest_weight"] = _largest_weight(reader)
    samples = _samples(reader) if reader.files.can_repeat else {}
    grids = {name: _fitted_grid(sample, cells, thresholds) for name, sample in samples.items()}
    made: list[dict[Any, CountedBlock]] = []

    def blocks() -> dict[Any, CountedBlock]:
        made.append({})
        return made[-1]

    def new() -> CountedBlock:
        return CountedBlock(0, 0, {name: RankingSummary(grid=grids.get(name), **settings) for name in reader.scores})

    def read(piece: Piece, space: dict[Any, CountedBlock]) -> None:
        for rows in reader.rows(piece):
            for value, part in rows.by_value():
                if value not in space:
                    if len(space) == MOST_VALUES:
                        raise ValueError(f"{reader.names[str(reader.by)]} must have at most {MOST_VALUES} values")
                    space[value] = new()
                block = space[value]
                block.n_samples += part.flags.size
                block.n_positives += int(np.count_nonzero(part.flags))
                for name, scores in zip(reader.scores, part.scores, strict=True):
                    summary = block.summaries[name]
                    units = None if part.weights is None else summary._whole_units(part.weights, scores.size)
                    summary._count_rows(part.flags, scores, units)

    reader.files.check_unchanged()
    run(read, reader.files.pieces, workspace=blocks, progress=progress)
    reader.files.check_unchanged()
    if not sum(reader.n_rows.values()):
        raise ValueError(f"{reader.files.title} has no rows" + (" that can be counted" if reader.n_dropped else ""))
    found = {}
    for value in sorted({value for space in made for value in space}):
        first, *others = (space[value] for space in made if value in space)
        found[value] = first.merge(others)
        for summary in found[value].summaries.values():
            summary._labels = reader.labels
    return found


def _samples(reader: RowReader) -> dict[str, ScoreCells]:
    """Return the atoms of some rows of pieces that lie evenly among all, by model."""
    pieces = reader.files.pieces
    taken = [pieces[k] for k in sorted({i * len(pieces) // SAMPLED_PIECES for i in range(SAMPLED_PIECES)})]

    def read(piece: Piece) -> list[Rows]:
        step = max((piece.n_rows or BATCH) * len(taken) // SAMPLE, 1)
        found = []
        for rows in reader.rows(piece):
            found.append(rows.take(slice(None, None, step)))
            if piece.n_rows is None and sum(each.flags.size for each in found) >= SAMPLE // len(taken):
                break  # of a file whose rows are not known beforehand, the first
        return found

    parts = [rows for part in run(read, taken) for rows in part]
    if not parts:
        return {}
    flags = np.concatenate([rows.flags for rows in parts])
    scores = {name: np.concatenate([rows.scores[k] for rows in parts]) for k, name in enumerate(reader.scores)}
    return {name: atoms_of_rows(FLOATS.encode(values + 0.0), flags) for name, values in scores.items()}


def _fitted_grid(sample: ScoreCells, cells: int, thresholds: NDArray[np.uint64]) -> ScoreGrid | None:
    """Return a grid for all rows; None where distinct scores may be so few that each can have a cell."""
    if sample.low.size <= min(cells, int(sample.totals.sum()) // FEW):
        return None
    grid = fit_grid(sample, cells)
    return ScoreGrid.from_keys(np.union1d(grid.cuts, thresholds)) if thresholds.size else grid


def _largest_weight(reader: RowReader) -> float | None:
    """Return the largest weight; None where all are whole numbers."""
    if not reader.files.can_repeat:
        return None

    def read(piece: Piece) -> tuple[float, bool]:
        found = [
            (float(rows.weights.max()), bool((rows.weights == np.trunc(rows.weights)).all()))
            for rows in reader.rows(piece)
            if rows.weights is not None and rows.weights.size
        ]
        return max((largest for largest, _ in found), default=0.0), all(whole for _, whole in found)

    found = run(read, reader.files.pieces)
    return None if all(whole for _, whole in found) else max(largest for largest, _ in found)
