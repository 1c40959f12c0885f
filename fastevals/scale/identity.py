"""Summaries that are kept next to the file that they count, and are counted anew if the file has changed."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from fastevals._files import check_writable, write_file
from fastevals._options import as_flag, check_integer, show
from fastevals.reading.columns import ColumnRoles, column_name, column_names, row_reader
from fastevals.reading.csv import CsvForm
from fastevals.reading.files import check_file, open_source
from fastevals.reading.form import SUMMARY
from fastevals.reading.sources import RowRules, is_path
from fastevals.results import as_json
from fastevals.scale.parquet import threshold_keys
from fastevals.scale.payload import read_file
from fastevals.scale.scores import ScoresSummary, count_scores
from fastevals.scale.summary import MOST_CELLS

VERSION = 1  # of the stored identity; another one means that the file is counted anew
END_BYTES = 1 << 16  # at either end of a file: a CSV file's header and last rows, the footer of Parquet and Arrow
BYTES_PER_READ = 1 << 22
RACY_NS = 2_000_000_000  # coarsest step of a file system's times: a later change may leave times as they are


@dataclass(frozen=True, slots=True)
class FileIdentity:
    """What identifies the content of a file, and the columns and options with which it was counted.

    Attributes
    ----------
    size : int
        Bytes.
    modified, changed : int
        Times of the last change of the content, and of content or properties, in nanoseconds.
    ends : str
        Hash of the first and the last 64 KiB.
    sha256 : str
        Hash of the whole content.
    is_racy : bool
        Whether the file was changed so shortly before it was read that a later change may not show in its times.
    settings : list
        Columns and options, in JSON's types.
    """

    size: int
    modified: int
    changed: int
    ends: str
    sha256: str
    is_racy: bool
    settings: list[Any]

    @classmethod
    def of(cls, path: str, settings: Sequence[Any] = ()) -> Self:
        """Read the identity of a file."""
        begun = time.time_ns()
        with open(path, "rb") as file:
            state, ends = os.fstat(file.fileno()), _ends(file)
            file.seek(0)
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        is_racy = begun - max(state.st_mtime_ns, state.st_ctime_ns) < RACY_NS
        return cls(state.st_size, state.st_mtime_ns, state.st_ctime_ns, ends, sha256, is_racy, as_json(list(settings)))

    @classmethod
    def of_summary(cls, summary: ScoresSummary) -> Self | None:
        """Return the identity of the file that a kept summary counted; None if it has none."""
        stored = summary.settings
        if len(stored) != 2 or stored[0] != VERSION or not isinstance(stored[1], dict):
            return None
        try:
            return cls(**stored[1])
        except TypeError:
            return None

    def stored(self) -> list[Any]:
        """Return the identity as a summary stores it."""
        return [VERSION, {name: getattr(self, name) for name in self.__slots__}]

    def renewed(self, path: str) -> Self | None:
        """Return the identity with the file's present times; None if the file has other content.

        Times that are the same settle it, unless they are too coarse to show a change. Otherwise the file is read, if
        its size and its ends are the same.
        """
        begun = time.time_ns()
        with open(path, "rb") as file:
            state = os.fstat(file.fileno())
            times = _times(state)
            if state.st_size != self.size or _ends(file) != self.ends:
                return None
            if not self.is_racy and times == (self.modified, self.changed):
                return self
            file.seek(0)
            if hashlib.file_digest(file, "sha256").hexdigest() != self.sha256:
                return None
        return replace(self, modified=times[0], changed=times[1], is_racy=_are_racy(begun, times))


def _times(state: os.stat_result) -> tuple[int, int]:
    """Return the times of the last change of a file's content, and of its content or properties."""
    return state.st_mtime_ns, state.st_ctime_ns


def _are_racy(begun: int, times: tuple[int, int]) -> bool:
    """Return whether a change after `begun` may leave a file's times as they are."""
    return begun - max(times) < RACY_NS


def _ends(file: Any) -> str:
    """Return a hash of the first and the last bytes of an open file."""
    digest = hashlib.sha256(file.read(END_BYTES))
    file.seek(max(os.fstat(file.fileno()).st_size - END_BYTES, 0))
    digest.update(file.read(END_BYTES))
    return digest.hexdigest()


def cached_summary(
    path: str | os.PathLike[str],
    kept: str | os.PathLike[str] | None = None,
    *,
    label: str,
    score: str | Sequence[str],
    sample_weight: str | None = None,
    frequency_weight: str | None = None,
    by: str | Sequence[str] | None = None,
    cross: bool = False,
    pos_label: Any = None,
    cells: int = 2**18,
    at: Sequence[float] = (),
    largest_weight: float | None = None,
    on_missing_label: Any = "raise",
    on_invalid: Any = "raise",
    progress: bool = False,
) -> ScoresSummary:
    """Count the scores of a file once: load the summary that is kept next to it, or count the file anew.

    The kept summary is used if the file is still the one that was counted, and if it was counted with the same columns
    and options. Otherwise the file is counted again and the kept summary is replaced. If the file is gone, the kept
    summary is used. A summary that another command wrote is never replaced.

    Parameters
    ----------
    path : path
        A CSV, Parquet or Arrow file on this machine.
    kept : path, optional
        The file of the summary, which ends with ``.fe``. By default the path with this suffix added, such as
        ``day1.parquet.fe``. `fastevals report` reads it like other summaries.
    label, score : str, or sequence of str
        Columns of the true class, and of the scores of each model.
    sample_weight, frequency_weight, by, cross, pos_label, on_missing_label, on_invalid
        As for `fastevals.report`.
    cells : int
        Approximate number of ranges of each model's scores.
    at : sequence of float
        Thresholds at which counts are exact.
    largest_weight : float, optional
        Largest weight of any file, if weights are not whole numbers and summaries will be merged.
    progress : bool
        Show a progress bar.

    Returns
    -------
    ScoresSummary

    Raises
    ------
    ValueError
        If an argument is not as described, if the rows can't be counted, if the kept summary can't be written or was
        written by another command, or if the file changed while it was read; the kept summary then stays as it is. Also
        if the file is gone and the kept summary is damaged or was counted with other columns or options.

    Notes
    -----
    The identity of a file is its size, its times of change, a hash of its first and last 64 KiB, and a hash of its
    content. If size, times and ends are the same, the content is not read. The whole file is hashed if only the times
    differ, as after a copy, or if it had been changed less than 2 seconds before it was counted. Several processes may
    count a file at the same time: the kept summary is always the whole summary of one of them.

    Examples
    --------
    >>> import os, pathlib, tempfile
    >>> from fastevals.scale import cached_summary
    >>> folder = tempfile.mkdtemp()
    >>> file = os.path.join(folder, "day1.csv")
    >>> _ = pathlib.Path(file).write_text("y,p 0,0.2 1,0.7 1,0.1 0,0.3".replace(" ", os.linesep))
    >>> cached_summary(file, label="y", score="p")["p"].ranking().roc_auc()
    0.5
    >>> os.remove(file)
    >>> cached_summary(file, label="y", score="p").n_samples
    4
    """
    if not is_path(path):
        raise ValueError(f"path must be the path of a file, got {show(path)}")
    given = os.fsdecode(path)
    place = given + SUMMARY if kept is None else os.fsdecode(kept)
    if not place.endswith(SUMMARY) or os.path.realpath(place) == os.path.realpath(given):
        raise ValueError(f"kept must be a file that ends with {SUMMARY} and is not the file to count, got {place!r}")
    columns = column_names("score", score)
    if not columns:
        raise ValueError("score must name a column")
    weights = column_name("sample_weight", sample_weight), column_name("frequency_weight", frequency_weight)
    roles = ColumnRoles.checked(
        str(column_name("label", label)), columns, *weights, by=column_names("by", by), cross=cross
    )
    if as_flag("cross", cross) and len(roles.by) < 2:
        raise ValueError(f"cross needs two or more columns in by, got {list(roles.by)}")
    as_flag("progress", progress)
    called, rules = roles.message_names(), RowRules(on_missing_label, on_invalid)
    rules.check()
    cells = check_integer("cells", cells, low=1, high=MOST_CELLS)
    thresholds = threshold_keys("at", list(at))
    settings = as_json(
        [list(called.values()), roles.are_copies, cross, pos_label, cells, list(map(float, at)), largest_weight, *rules]
    )
    found, damage = _load(place)
    identity = None if found is None else FileIdentity.of_summary(found)
    is_same = identity is not None and identity.settings == settings
    if not os.path.exists(given):
        if found is not None and is_same:
            return replace(found, settings=[])
        why = damage or "it was counted with other columns or options, or without the identity of a file"
        none = (
            "and no summary of it is kept" if found is None and not damage else f"and its kept summary {place!r}: {why}"
        )
        raise ValueError(f"{given!r}: no such file, {none}")
    check_file(given)
    if found is not None and identity is not None and is_same and (now := identity.renewed(given)) is not None:
        if now != identity:  # so that the content is not read again
            found.settings = now.stored()
            with suppress(OSError):
                write_file(Path(place), found.to_bytes(), durable=True)
        return replace(found, settings=[])
    if found is not None and identity is None:
        raise ValueError(
            f"kept must be free or a summary that cached_summary wrote, got {place!r}: another command wrote it, "
            "so name another file or remove it"
        )
    check_writable("kept", place)
    identity = FileIdentity.of(given, settings)
    source = open_source(given, roles.request(rules, CsvForm()))
    summary = count_scores(
        row_reader(source, roles, pos_label, rules), thresholds,
        cells=cells, progress=progress, largest_weight=largest_weight,
    )  # fmt: skip
    if identity.renewed(given) is None:
        raise ValueError(f"{given!r} changed while it was read: count it when it is written completely")
    summary.pieces, summary.settings = {}, identity.stored()
    write_file(Path(place), summary.to_bytes(), durable=True)
    return replace(summary, settings=[])


def _load(place: str) -> tuple[ScoresSummary | None, str]:
    """Return the kept summary, and why it can't be read."""
    try:
        return ScoresSummary.from_bytes(read_file(place)), ""
    except FileNotFoundError:
        return None, ""
    except OSError as error:
        return None, error.strerror or str(error)
    except ValueError as error:
        return None, str(error)
