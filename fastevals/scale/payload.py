"""Bytes of a summary: a head in JSON and arrays of integers, with a version and a checksum; nothing is executed."""

from __future__ import annotations

import hashlib
import json
import math
import struct
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from fastevals._kernels.planes import join_planes

MAGIC = b"fastevals"
VERSION = 1
CHECKSUM = 16  # bytes
LEVEL = 1  # of zlib: more takes longer and gains little
FRAME = struct.Struct("<9sHII")  # magic, version, length of the head, number of arrays
PLANE = struct.Struct("<QQ")  # values, packed bytes
LARGEST_HEAD = 1 << 20


class Summary:
    """What all summaries can: they become bytes and are read from them, are pickled by these, and merge."""

    __slots__ = ()

    KIND: ClassVar[str]

    def _payload(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return head and arrays."""
        raise NotImplementedError

    @classmethod
    def _from_payload(cls, head: dict[str, Any], arrays: dict[str, NDArray[np.uint64]]) -> Self:
        """Check what was read, and build the summary."""
        raise NotImplementedError

    def _merged(self, others: Sequence[Self]) -> Self:
        """Return a summary of the rows of this one and others of the same kind."""
        raise NotImplementedError

    def to_bytes(self) -> bytes:
        """Return the summary as bytes: versioned, with a checksum, and nothing that is executed when read."""
        return pack(self.KIND, *self._payload())

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Return the summary that `to_bytes` gave bytes of.

        Raises
        ------
        ValueError
            If they are damaged, of something else, or of a newer version.
        """
        head, arrays = unpack(data, cls.KIND)
        try:
            return cls._from_payload(head, arrays)
        except (KeyError, TypeError, AttributeError, OverflowError, IndexError) as error:
            raise ValueError(f"data is damaged: {type(error).__name__} {error}") from None
        except ValueError as error:
            message = str(error)
            raise ValueError(message if message.startswith("data ") else f"data is damaged: {message}") from None

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_bytes, (self.to_bytes(),)

    def merge(self, *others: Self) -> Self:
        """Return a summary of the rows of this one and others, which stay as they are.

        Raises
        ------
        ValueError
            If another is of another kind, of other options, or of labels of another type.
        """
        for other in others:
            if not isinstance(other, type(self)):
                raise ValueError(f"others must be {type(self).__name__}, got a {type(other).__name__}")
        return self._merged(others)


def as_json(values: Iterable[Any]) -> list[Any]:
    """Return labels as JSON has them: infinite ones, which it has not, each in a list as text."""
    return [[str(value)] if isinstance(value, float) and math.isinf(value) else value for value in values]


def from_json(values: Sequence[Any]) -> list[Any]:
    """Return the labels that `as_json` gave."""
    return [float(value[0]) if isinstance(value, list) else value for value in values]


def pack(kind: str, head: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Return bytes of a kind of summary: equal ones have equal bytes."""
    text = json.dumps({"kind": kind, **head, "arrays": list(arrays)}, sort_keys=True, allow_nan=False).encode()
    parts = [FRAME.pack(MAGIC, VERSION, len(text), len(arrays)), text]
    for array in arrays.values():
        values = np.ascontiguousarray(array).view(np.uint64)
        planes = np.ascontiguousarray(values.view(np.uint8).reshape(-1, 8).T)  # bytes of one place are alike
        packed = zlib.compress(planes.data, LEVEL)
        parts += [PLANE.pack(values.size, len(packed)), packed]
    content = b"".join(parts)
    return content + hashlib.blake2b(content, digest_size=CHECKSUM).digest()


def unpack(data: Any, kind: str) -> tuple[dict[str, Any], dict[str, NDArray[np.uint64]]]:
    """Return the head and the arrays of bytes that `pack` made; raise ValueError where they are anything else."""
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise ValueError(f"data must be bytes, got a {type(data).__name__}")
    data = bytes(data)
    if len(data) < FRAME.size + CHECKSUM or not data.startswith(MAGIC):
        raise ValueError("data is no summary of fastevals")
    _, version, head_size, n_arrays = FRAME.unpack_from(data)
    if version != VERSION:
        raise ValueError(f"data is of version {version}, which this fastevals can't read: it reads up to {VERSION}")
    content, checksum = data[:-CHECKSUM], data[-CHECKSUM:]
    if hashlib.blake2b(content, digest_size=CHECKSUM).digest() != checksum:
        raise ValueError("data is damaged or cut off: its checksum is another")
    at = FRAME.size + head_size
    if head_size > LARGEST_HEAD or at > len(content):
        raise ValueError("data is damaged: its head is longer than it")
    try:
        head = json.loads(content[FRAME.size : at])
    except ValueError:
        raise ValueError("data is damaged: its head is not JSON") from None
    names = head.pop("arrays", None) if isinstance(head, dict) else None
    if not isinstance(names, list) or len(names) != n_arrays or not all(isinstance(name, str) for name in names):
        raise ValueError("data is damaged: its head names other arrays than it has")
    if head.pop("kind", None) != kind:
        raise ValueError(f"data is of another kind of summary than a {kind}")
    arrays = {}
    for name in names:
        if at + PLANE.size > len(content):
            raise ValueError(f"data is damaged: {name} is missing")
        size, packed = PLANE.unpack_from(content, at)
        at += PLANE.size
        if packed > len(content) - at or size > 2000 * packed + 8:  # zlib packs no more than 1 to 1,032
            raise ValueError(f"data is damaged: {name} is longer than the data")
        arrays[name] = _unpacked(name, content[at : at + packed], size)
        at += packed
    if at != len(content):
        raise ValueError("data is damaged: something follows its arrays")
    return head, arrays


def _unpacked(name: str, packed: bytes, size: int) -> NDArray[np.uint64]:
    """Return an array of so many values; never more memory than they take."""
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
