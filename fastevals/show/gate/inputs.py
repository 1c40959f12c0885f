"""What identifies the inputs of a gate in its receipt: files by size and hash, arrays by hash."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from fastevals.scale.payload import Summary


class Input(NamedTuple):
    """A file, or the columns of a frame."""

    role: str  # "data" or "reference"
    name: str
    size: int  # bytes
    sha256: str


def input_of_file(role: str, path: str) -> Input:
    """Return a file's identity."""
    with open(path, "rb") as file:
        digest = hashlib.file_digest(file, "sha256")
        return Input(role, os.path.basename(path), file.tell(), digest.hexdigest())


def input_of_summary(role: str, summary: Summary) -> Input:
    """Return the identity of counts in memory."""
    content = summary.to_bytes()
    return Input(role, type(summary).__name__, len(content), hashlib.sha256(content).hexdigest())


def input_of_arrays(role: str, name: str, columns: Iterable[tuple[str, Any]]) -> Input:
    """Return the identity of checked columns: their names, types and bytes."""
    digest, size = hashlib.sha256(), 0
    for column, each in columns:
        values = np.asarray(each)
        digest.update(f"{column}:{values.dtype.str}:".encode(errors="surrogateescape"))
        if values.dtype.kind == "O":
            digest.update(repr(values.tolist()).encode(errors="surrogateescape"))
        else:
            digest.update(np.ascontiguousarray(values).view(np.uint8).data)
        size += values.nbytes
    return Input(role, name, size, digest.hexdigest())
