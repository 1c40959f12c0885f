"""Summaries as bytes: a JSON head and integer arrays, with a version and a checksum. Reading executes no code."""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import stat
import struct
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from fastevals._kernels.planes import join_planes
from fastevals._limits import free_bytes
from fastevals._options import show
from fastevals.scale.fields import TIMES, Fields, Room

MAGIC = b"fastevals"
VERSIONS = range(1, 3)
SQUARES = "squares"  # of weights; summaries with squares have version 2, all others version 1
CHECKSUM_BYTES = 16
LEVEL = 1  # zlib's level; higher levels take longer and save little
FRAME = struct.Struct("<9sHII")  # magic, version, length of the head, number of arrays
PLANE = struct.Struct("<QQ")  # numbers of values and of packed bytes
MOST_ARRAYS = 64
FILE_SHARE = 1 / 2  # share of free memory that a file may take


class Summary:
    """Base class of summaries, which can be converted to bytes and back, pickled, and merged."""

    __slots__ = ()

    KIND: ClassVar[str]

    def _payload(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the head and the arrays."""
        raise NotImplementedError

    @classmethod
    def _from_payload(cls, fields: Fields) -> Self:
        """Check every field that was read, and build the summary."""
        raise NotImplementedError

    def _merged(self, others: Sequence[Self]) -> Self:
        """Return a summary of the rows of this summary and of others of its kind."""
        raise NotImplementedError

    def to_bytes(self) -> bytes:
        """Return the summary as bytes, with a version and a checksum; reading them executes no code."""
        return pack(self.KIND, *self._payload())

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Return the summary from the bytes that `to_bytes` returned.

        Raises
        ------
        ValueError
            If the bytes are damaged, are not a summary of this kind, or have a newer version.
        """
        return cls._unpack(data)

    @classmethod
    def _unpack(cls, data: bytes, room: Room | None = None) -> Self:
        """Return the summary from bytes; bytes inside another summary share its `room`."""
        fields = unpack(data, cls.KIND, room)
        try:
            summary = cls._from_payload(fields)
            fields.check_all_read()
        except ValueError as error:
            message = str(error)
            raise ValueError(message if message.startswith("data ") else f"data is damaged: {message}") from None
        return summary

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_bytes, (self.to_bytes(),)

    def merge(self, *others: Self) -> Self:
        """Return a summary of the rows of this summary and of others; these summaries do not change.

        Raises
        ------
        ValueError
            If the summaries differ in kind, options or type of labels.
        """
        for other in others:
            if not isinstance(other, type(self)):
                raise ValueError(f"others must be {type(self).__name__}, got a {type(other).__name__}")
        return self._merged(others)


def weighted_head(is_weighted: bool) -> dict[str, Any]:
    """Return the head's field about weights, which earlier versions lack; empty if rows have no weights."""
    return {"weighted": True} if is_weighted else {}


def as_json(values: Iterable[Any]) -> list[Any]:
    """Return labels as JSON values; infinite labels, which JSON lacks, become text inside a list."""
    return [[str(value)] if isinstance(value, float) and math.isinf(value) else value for value in values]


def from_json(values: Sequence[Any]) -> list[Any]:
    """Return the labels that were given to `as_json`."""
    return [float(value[0]) if isinstance(value, list) else value for value in values]


def pack(kind: str, head: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Return a summary's bytes; equal summaries have equal bytes."""
    text = json.dumps({"kind": kind, **head, "arrays": list(arrays)}, sort_keys=True, allow_nan=False).encode()
    parts = [FRAME.pack(MAGIC, VERSIONS[SQUARES in arrays], len(text), len(arrays)), text]
    for array in arrays.values():
        values = np.ascontiguousarray(array).view(np.uint64)
        planes = np.ascontiguousarray(values.view(np.uint8).reshape(-1, 8).T)  # similar bytes come together
        packed = zlib.compress(planes.data, LEVEL)
        parts += [PLANE.pack(values.size, len(packed)), packed]
    content = b"".join(parts)
    return content + hashlib.blake2b(content, digest_size=CHECKSUM_BYTES).digest()


def unpack(data: Any, kind: str, room: Room | None = None) -> Fields:
    """Return the fields of bytes made by `pack`; raise ValueError for any other bytes."""
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise ValueError(f"data must be bytes, got a {type(data).__name__}")
    data = bytes(data)
    head_size, n_arrays = _frame(data)
    content, checksum = data[:-CHECKSUM_BYTES], data[-CHECKSUM_BYTES:]
    if hashlib.blake2b(content, digest_size=CHECKSUM_BYTES).digest() != checksum:
        raise ValueError("data is damaged or cut off: its checksum differs")
    at = FRAME.size + head_size
    if at > len(content):
        raise ValueError("data is damaged: its head is longer than the data")
    try:
        head = json.loads(content[FRAME.size : at], parse_constant=_no_json)
    except (ValueError, RecursionError):
        raise ValueError("data is damaged: its head is not JSON") from None
    names = head.pop("arrays", None) if isinstance(head, dict) else None
    if not isinstance(names, list) or len(names) != n_arrays or not all(isinstance(name, str) for name in names):
        raise ValueError(f"data is damaged: its head must name each of its {n_arrays} arrays")
    seen = head.pop("kind", None)
    if seen != kind:
        raise ValueError(f"data is not a summary of kind {kind!r}, but of kind {show(seen)}")
    arrays = {}
    room = Room(len(data)) if room is None else room
    for name in names:
        if at + PLANE.size > len(content):
            raise ValueError(f"data is damaged: {name} is missing")
        size, packed = PLANE.unpack_from(content, at)
        at += PLANE.size
        if packed > len(content) - at or 8 * size > TIMES * packed:
            raise ValueError(f"data is damaged: {name} is longer than the data")
        try:
            room.take(8 * size)
        except ValueError as error:
            raise ValueError(f"data is damaged: {error}") from None
        arrays[name] = _unpacked(name, content[at : at + packed], size)
        at += packed
    if at != len(content):
        raise ValueError("data is damaged: something follows its arrays")
    return Fields(head, arrays, room)


def stored_kind(data: Any) -> Any:
    """Return the kind that a summary's bytes name, from their head alone; None if they are no summary."""
    with contextlib.suppress(ValueError, RecursionError, TypeError, AttributeError):
        head_size, _ = _frame(bytes(data[: FRAME.size]))
        return json.loads(bytes(data[FRAME.size : FRAME.size + head_size])).get("kind")
    return None


def kind_of_file(path: str) -> Any:
    """Return the kind of the summary in a file; None if it holds no summary."""
    with contextlib.suppress(OSError), open(path, "rb", opener=_open_without_waiting) as file:
        start = file.read(FRAME.size)
        with contextlib.suppress(ValueError):
            return stored_kind(start + file.read(_frame(start)[0]))
    return None


def _frame(data: bytes) -> tuple[int, int]:
    """Return the length of the head, and the number of arrays."""
    if len(data) < FRAME.size or not data.startswith(MAGIC):
        raise ValueError("data is not a summary of fastevals")
    _, version, head_size, n_arrays = FRAME.unpack_from(data)
    if version not in VERSIONS:
        most = VERSIONS[-1]
        raise ValueError(f"data is of version {version}, which this fastevals can't read: it reads up to {most}")
    if n_arrays > MOST_ARRAYS:
        raise ValueError(f"data is damaged: it claims {n_arrays} arrays, but a summary has at most {MOST_ARRAYS}")
    return head_size, n_arrays


def read_file(path: str) -> bytes:
    """Return the bytes of a summary's file; if a file is no summary, raise ValueError before reading all of it."""
    with open(path, "rb", opener=_open_without_waiting) as file:
        state = os.fstat(file.fileno())
        if not stat.S_ISREG(state.st_mode):
            raise ValueError("it is not a regular file")
        head_size, n_arrays = _frame(file.read(FRAME.size))
        size = FRAME.size + head_size
        for _ in range(n_arrays):
            file.seek(min(size, state.st_size))
            plane = file.read(PLANE.size).ljust(PLANE.size, b"\0")  # in case the file ends earlier
            size += PLANE.size + PLANE.unpack(plane)[1]
        size += CHECKSUM_BYTES
        if size != state.st_size:
            raise ValueError(f"data is damaged or cut off: it should have {size} bytes, but has {state.st_size}")
        most = free_bytes(FILE_SHARE)
        if most is not None and size > most:
            raise ValueError(f"its {size} bytes are more than {most}, half of the memory that is free")
        file.seek(0)
        return file.read()


def _open_without_waiting(path: str, flags: int) -> int:
    """Open a file without waiting, even if it is a pipe that nobody writes to."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _no_json(text: str) -> None:
    raise ValueError(f"{text} is no JSON")


def _unpacked(name: str, packed: bytes, size: int) -> NDArray[np.uint64]:
    """Unpack an array of `size` values without ever using more memory than they need."""
    inflate = zlib.decompressobj()
    try:
        planes = inflate.decompress(packed, 8 * size + 1)
    except zlib.error:
        raise ValueError(f"data is damaged: {name} can't be unpacked") from None
    if len(planes) != 8 * size or not inflate.eof or inflate.unused_data:
        raise ValueError(f"data is damaged: {name} has another length than it says")
    values = np.empty(size, np.uint64)
    join_planes(np.frombuffer(planes, np.uint8), values)
    return values
