"""Rankings of any number of rows, read from Parquet and Arrow files, data sets or streams of record batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._choices import OnInvalid
from fastevals._distinct import sorted_union, sorted_unique
from fastevals._execution import run
from fastevals._limits import free_bytes
from fastevals._options import as_bytes, as_flag, check_integer, names_keywords
from fastevals._validation.arrays import as_thresholds, check_finite, exact_floats
from fastevals.counting.ordering import FLOATS
from fastevals.measure.ranking.ranking import Ranking
from fastevals.reading.files import open_source
from fastevals.reading.rows import RankingOptions, RowReader, Weights, check_names, score_names
from fastevals.reading.sources import RowRules
from fastevals.scale.certified import CertifiedRanking
from fastevals.scale.class_scores import ClassScoresSummary
from fastevals.scale.exact.atoms import HUNDREDTHS, AtomCounts
from fastevals.scale.exact.curve import ExactCurve
from fastevals.scale.exact.ranking import ExactRanking
from fastevals.scale.exact.scans import BlockRows, ExactScans, NotWholeError
from fastevals.scale.scores import count_scores
from fastevals.scale.summary import MOST_CELLS, RankingSummary
from fastevals.scale.tasks import CountClassScores, probability_columns

__all__ = ["class_scores_summary", "ranking", "ranking_summary"]

ROWS_HELD = 1 << 26  # most rows that are held in memory to be read only once
HELD_BYTES = 18  # memory per row and model while rows are held and sorted
POSITIVES_SHARE = 1 / 4  # share of free memory for the scores of positives, by default


class FileOptions(RankingOptions, total=False):
    """Options for counting the rows of files."""

    filesystem: Any
    progress: bool


class ExactOptions(FileOptions, total=False):
    """Options for exact rankings: the memory for the scores of positives."""

    memory: int | str | None


Models = list[str] | tuple[str, ...]


@overload
def ranking(data: Any, *, score: str, exact: Literal[True], **options: Unpack[ExactOptions]) -> Ranking: ...
@overload
def ranking(
    data: Any, *, score: str, exact: bool | None = ..., **options: Unpack[ExactOptions]
) -> Ranking | CertifiedRanking: ...
@overload
def ranking(
    data: Any,
    *,
    score: Models,
    exact: bool | None = ...,
    memory: int | str | None = ...,
    **options: Unpack[FileOptions],
) -> dict[str, Ranking | CertifiedRanking]: ...
@names_keywords
def ranking(
    data: Any,
    *,
    label: str,
    score: str | Sequence[str],
    sample_weight: str | None = None,
    frequency_weight: str | None = None,
    pos_label: Any = None,
    exact: bool | None = None,
    cells: int = 2**18,
    at: ArrayLike = (),
    memory: int | str | None = None,
    on_missing_label: OnInvalid = "raise",
    on_invalid: OnInvalid = "raise",
    filesystem: Any = None,
    progress: bool = False,
) -> Any:
    """Return the ranking of all rows in files, however many: exact, or with certified bounds.

    Parameters
    ----------
    data : path, sequence of paths, or anything that pyarrow reads
        Parquet, Arrow or CSV files, folders, patterns such as ``"scores/*.parquet"``, addresses such as ``s3://...``; a
        data set or table of pyarrow; a record-batch reader, or another object with an Arrow stream; a frame, or a
        mapping of names to columns. Hive partitions (``day=1/``) become columns.
    label : str
        Column of the true class.
    score : str or sequence of str
        Column of scores, which must be higher for the positive class. If several columns are given, one per model, a
        dict is returned.
    sample_weight : str, optional
        Column of row weights: each row is one independent observation. Integer weights are counted exactly. Intervals
        need the squared weights, which are kept for weights below 2**30.
    frequency_weight : str, optional
        Column with the number of copies of each row: integers. A row with n copies counts like n equal rows. Not
        allowed with `sample_weight`.
    pos_label : label, optional
        The positive class: by default 1 for labels 0/1, -1/1 and booleans.
    exact : bool, optional
        If true, all numbers equal those computed in memory: rows are held in memory, or read twice. If false, read a
        sample and scan once; numbers are `Certified` if there are more distinct scores than cells. By default true if
        data can be read repeatedly and weights are integers.
    cells : int
        Approximate number of score ranges, if the ranking is not exact.
    at : float or array-like, optional
        Thresholds at which counts are always exact. If rows are not held, an exact ranking also has exact counts at 0,
        0.01, ..., 1 and, if all scores of positives fit in memory, at these scores; at other thresholds, counts raise
        an error or have bounds.
    memory : int or str, optional
        Bytes, such as ``"1GB"``, for rows or scores, by default a quarter of the free memory. Up to 67 million rows
        without weights are held and read once if they fit, at 18 bytes each per model and if their number is known
        (Parquet files, tables and frames). Otherwise only the scores of positives are held, at 44 bytes each. If these
        need more, rows are counted in several ranges of scores, with one scan each.
    on_missing_label : {"raise", "drop"}
        Whether rows without a label raise an error or are left out.
    on_invalid : {"raise", "drop"}
        Whether rows without a weight or a finite score raise an error or are left out.
    filesystem : pyarrow.fs.FileSystem, optional
        The file system of the paths.
    progress : bool
        Show bars (needs tqdm).

    Returns
    -------
    Ranking or CertifiedRanking, or a dict of them by model
        Objects with the methods of a `Ranking`. If rows were not held, `break_even_point`, `equal_error_rate` and
        `threshold_for` with a quota of an exact ranking may scan again, to find a threshold between two adjacent
        positive scores; copies and pickled rankings can't scan. Metrics of probabilities are then available if at most
        one negative lies between any two scores with known counts.

    Raises
    ------
    ValueError
        If an argument is not as described; if a column is missing, has different types in different files, or has a
        value that can't be counted (the message names the file, the row group and the row); if a row group can't be
        read; or if a file changes in the meantime.
    ImportError
        If pyarrow is missing.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from fastevals.scale import parquet
    >>> table = pa.table({"y": [0, 0, 1, 1], "p": [0.1, 0.4, 0.35, 0.8]})
    >>> parquet.ranking(table, label="y", score="p").roc_auc()
    0.75
    """
    reader = _open(
        data,
        label,
        score,
        Weights(sample_weight, frequency_weight),
        pos_label,
        RowRules(on_missing_label, on_invalid),
        filesystem,
    )
    thresholds = threshold_keys("at", at)
    cells = check_integer("cells", cells, low=1, high=MOST_CELLS)
    wanted = None if exact is None else as_flag("exact", exact)
    most = free_bytes(POSITIVES_SHARE) if memory is None else as_bytes("memory", memory)
    if wanted and not reader.files.can_repeat:
        raise ValueError(
            f"exact=True reads rows twice, but {reader.files.title} can be read only once: write it to a file"
        )
    if wanted or (wanted is None and reader.files.can_repeat):
        try:
            found = exact_rankings(reader, thresholds, memory=most, progress=progress)
        except NotWholeError:
            if wanted:
                raise
            found = certified_rankings(reader, thresholds, cells=cells, progress=progress)
    else:
        found = certified_rankings(reader, thresholds, cells=cells, progress=progress)
    return found[score] if isinstance(score, str) else found


@overload
def ranking_summary(data: Any, *, score: str, **options: Unpack[FileOptions]) -> RankingSummary: ...
@overload
def ranking_summary(data: Any, *, score: Models, **options: Unpack[FileOptions]) -> dict[str, RankingSummary]: ...
@names_keywords
def ranking_summary(
    data: Any,
    *,
    label: str,
    score: str | Sequence[str],
    sample_weight: str | None = None,
    frequency_weight: str | None = None,
    pos_label: Any = None,
    cells: int = 2**18,
    at: ArrayLike = (),
    on_missing_label: OnInvalid = "raise",
    on_invalid: OnInvalid = "raise",
    filesystem: Any = None,
    progress: bool = False,
) -> Any:
    """Summarize all rows of files in one scan; the summary can be stored, merged with others, and resampled.

    Parameters
    ----------
    data, label, score, sample_weight, frequency_weight, pos_label, cells, at, on_missing_label, on_invalid, filesystem,
    progress
        As for `ranking`.

    Returns
    -------
    RankingSummary, or a dict of them by model

    Raises
    ------
    ValueError, ImportError
        As for `ranking`.

    Examples
    --------
    >>> import fastevals, pyarrow as pa
    >>> from fastevals.scale import parquet
    >>> table = pa.table({"y": [0, 0, 1, 1], "p": [0.1, 0.4, 0.35, 0.8]})
    >>> summary = parquet.ranking_summary(table, label="y", score="p")
    >>> summary, fastevals.delong(summary).aucs
    (RankingSummary(4 rows, 2 positives, exact), array([0.75]))
    """
    reader = _open(
        data,
        label,
        score,
        Weights(sample_weight, frequency_weight),
        pos_label,
        RowRules(on_missing_label, on_invalid),
        filesystem,
    )
    cells = check_integer("cells", cells, low=1, high=MOST_CELLS)
    found = summaries(reader, threshold_keys("at", at), cells=cells, progress=progress)
    return found[score] if isinstance(score, str) else found


@names_keywords
def class_scores_summary(
    data: Any,
    *,
    label: str,
    probabilities: str | Sequence[str] | Mapping[Any, str],
    classes: Sequence[Any] | None = None,
    ordered: bool = False,
    sample_weight: str | None = None,
    frequency_weight: str | None = None,
    n_bins: int = 10,
    cells: int = 2**15,
    on_missing_label: OnInvalid = "raise",
    on_invalid: OnInvalid = "raise",
    filesystem: Any = None,
    progress: bool = False,
) -> ClassScoresSummary:
    """Summarize the probabilities of several classes of all rows in files, in one scan.

    Parameters
    ----------
    data, label, on_missing_label, on_invalid, filesystem, progress
        As for `ranking`.
    probabilities : str, sequence of str, or mapping of label to str
        Columns of the probability of each class: a pattern such as ``"p_*"``, whose ``*`` matches the name of the
        class; or the columns, in the order of `classes` unless they are named by the classes; or the column of
        each class; or the name of a column of lists.
    classes : sequence of label, optional
        The classes in order. For a pattern, the default is the order of the columns; a column of lists requires it.
    ordered : bool
        Whether the classes are ordered.
    sample_weight : str, optional
        Column of row weights: integers.
    frequency_weight : str, optional
        Column with the number of copies of each row (integers). Not allowed with `sample_weight`.
    n_bins, cells
        As for `ClassScoresSummary`.

    Returns
    -------
    ClassScoresSummary

    Raises
    ------
    ValueError, ImportError
        As for `ranking`.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from fastevals.scale import parquet
    >>> columns = {"p_ant": [0.7, 0.3, 0.1], "p_bee": [0.2, 0.4, 0.3], "p_cow": [0.1, 0.3, 0.6]}
    >>> table = pa.table({"y": ["ant", "bee", "cow"], **columns})
    >>> summary = parquet.class_scores_summary(table, label="y", probabilities="p_*")
    >>> summary.metric("hand_till"), summary.metric("accuracy")
    (1.0, 1.0)
    """
    source = open_source(data, filesystem=filesystem)
    columns = probability_columns(
        source.names, label, probabilities, classes, Weights(sample_weight, frequency_weight), None,
        RowRules(on_missing_label, on_invalid),
    )  # fmt: skip
    options: dict[str, Any] = {"ordered": ordered, "n_bins": n_bins, "cells": cells}
    ClassScoresSummary(**options)  # checks the options here
    reader = columns.reader_of(source)
    found = CountClassScores(columns, ClassScoresSummary, options).answer(reader, progress=progress)
    if not found:
        raise ValueError(f"{source.title} has no rows that can be counted")
    return found[None]  # type: ignore[no-any-return]


def _open(
    data: Any,
    label: str,
    score: str | Sequence[str],
    weights: Weights,
    pos_label: Any,
    rules: RowRules,
    filesystem: Any,
) -> RowReader:
    names = score_names(score)
    check_names(label=label, **weights.given())
    return RowReader(
        open_source(data, filesystem=filesystem), label, names, weight=weights.column, are_copies=weights.are_copies,
        pos_label=pos_label, rules=rules,
    )  # fmt: skip


def threshold_keys(name: str, at: ArrayLike) -> NDArray[np.uint64]:
    """Return the keys of thresholds, ascending."""
    thresholds = exact_floats(name, np.atleast_1d(as_thresholds(name, at)).ravel() + 0.0)
    check_finite(name, thresholds)
    return sorted_unique(FLOATS.encode(thresholds))


# Exact ----------------------------------------------------------------------------------------------------------------


def exact_rankings(
    reader: RowReader, thresholds: NDArray[np.uint64], *, memory: int | None, progress: bool
) -> dict[str, Ranking | CertifiedRanking]:
    """Return the exact ranking of each model."""
    if (rankings := held_rankings(reader, memory=memory, progress=progress)) is not None:
        return {**rankings}
    scans = ExactScans(reader, thresholds, memory, progress)
    (block,) = scans.first()
    rows = block.n_positives, block.n_negatives
    models = dict(enumerate(reader.scores))
    found: dict[str, Ranking | CertifiedRanking] = {}
    curves: dict[int, ExactCurve] = {}
    if scans.n_ranges > 1:  # too many points to keep: they are summed up range by range
        at = sorted_union(thresholds, HUNDREDTHS)
        curves = {k: ExactCurve(*block.weight, at=at) for k in models}

    def done(block: BlockRows, k: int, atoms: AtomCounts) -> None:
        if curves:
            curves[k].add(atoms)
        else:
            recount = partial(scans.recount, block, k)
            found[models[k]] = ExactRanking(atoms, rows, reader.classes, recount, reader.weighs_rows, block.known_sums)

    scans.count([block], done)
    for k, curve in curves.items():
        found[models[k]] = curve.ranking(block.highest[k], rows, reader.classes, reader.weighs_rows, block.known_sums)
    return found


def held_rankings(reader: RowReader, *, memory: int | None, progress: bool) -> dict[str, Ranking] | None:
    """Read rows once and rank them; None if they have weights, or if they may need more than `memory`."""
    pieces, n_rows, models = reader.files.pieces, reader.files.n_rows, range(len(reader.scores))
    if n_rows is None or n_rows > ROWS_HELD or reader.weight is not None:
        return None
    if memory is not None and HELD_BYTES * n_rows * len(models) > memory:
        return None
    reader.learn()
    flags, scores = np.empty(n_rows, np.uint8), [np.empty(n_rows) for _ in models]
    starts = np.cumsum([0, *(piece.n_rows or 0 for piece in pieces)]).tolist()

    def read(number: int) -> int:
        stop: int = starts[number]
        for rows in reader.rows(pieces[number]):
            start, stop = stop, stop + rows.flags.size
            flags[start:stop] = rows.flags
            for k in models:
                scores[k][start:stop] = rows.scores[k]
        return stop

    reader.reads_again = False
    reader.files.check_unchanged()
    stops = run(read, range(len(pieces)), progress=progress)
    reader.files.check_unchanged()
    if sum(reader.n_rows.values()) < n_rows:  # some rows are left out
        kept = np.concatenate([np.arange(*ends) for ends in zip(starts, stops, strict=False)] or [np.arange(0)])
        flags = flags[kept]
        scores = [each[kept] for each in scores]
    if not flags.size:
        raise reader.no_rows()
    found = {}
    for name in reader.scores:
        found[name] = Ranking._of_flags(flags, scores.pop(0), reader.classes)
    return found


# With a certificate ---------------------------------------------------------------------------------------------------


def certified_rankings(
    reader: RowReader, thresholds: NDArray[np.uint64], *, cells: int, progress: bool
) -> dict[str, Ranking | CertifiedRanking]:
    """Return the ranking of each model, from one scan and a sample."""
    found = summaries(reader, thresholds, cells=cells, progress=progress)
    return {name: summary.ranking() for name, summary in found.items()}


def summaries(
    reader: RowReader, thresholds: NDArray[np.uint64], *, cells: int, progress: bool
) -> dict[str, RankingSummary]:
    """Return the summary of each model, from one scan and a sample."""
    counted = count_scores(reader, thresholds, cells=cells, progress=progress, with_probabilities=False)
    (block,) = counted.blocks.values()
    return block.summaries
