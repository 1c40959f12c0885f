"""Compiled kernels on disk: the names of files, and the folders that may hold them.

numba's own cache uses the source of one file, read at the first call. It does not see an edit in an imported kernel
file, and it stores old code under the new source's name if a package is replaced under a running process. It raises if
no folder is writable or a file is damaged, and without a home folder it runs what it finds in the working folder (numba
#4032, #4807, #5566). Here a file's name is a hash of bytecode in memory: the bytecode of the kernel and of all
kernels that it calls, with the constants that they read. No source is read, so kernels in a zip file or without sources
are cached, too. If anything is wrong with a file, the kernel is compiled again. A file holds machine code, to be called
from Python, or (with a tilde in its name) LLVM code, which kernels link that call this one.
"""

from __future__ import annotations

import builtins
import contextlib
import hashlib
import os
import pickle
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from functools import cache
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import llvmlite
import numba
import numpy as np
from llvmlite.binding import parse_bitcode
from numba.core import config
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult, compile_result
from numba.core.runtime.nrt import rtsys

from fastevals._compile.ahead import start_wanted
from fastevals._compile.notice import note_missing
from fastevals._options import warn_outside

CHECKSUM_BYTES = 32  # bytes before a file's payload
FILE_BYTES = 1 << 26  # largest file in bytes; the largest kernel takes less than 1 MiB
DAY_SECONDS = 86_400
UNUSED_SECONDS = 30 * DAY_SECONDS  # after this time an unused file is removed, mostly one of an old version
ABANDONED_SECONDS = 3600  # after this time a temporary file is removed
SETTINGS = ("OPT", "BOUNDSCHECK", "LOOP_VECTORIZE", "SLP_VECTORIZE", "DEBUGINFO_DEFAULT")  # numba's code settings
VERSIONS = (sys.implementation.cache_tag, numba.__version__, llvmlite.__version__, np.__version__)
KNOWN = ("builtins", "math", "numpy")  # modules whose contents VERSIONS determines
CONSTANTS = (type(None), bool, int, float, complex, str, bytes, type(...), slice)

Kernel = Any  # numba's dispatcher


# What machine code depends on ---------------------------------------------------------------------------------------


def _describe(value: Any, called: list[Kernel]) -> str:
    """Return text that differs whenever compiled code would differ; append kernels that `value` uses to `called`."""
    if isinstance(value, CONSTANTS):
        return f"{type(value).__name__} {value!r}"
    if isinstance(value, np.ndarray | np.generic):
        return f"{value.dtype.str} {value.shape} {value.tobytes().hex()}"
    if isinstance(value, tuple):
        return f"({', '.join(_describe(item, called) for item in value)})"
    if isinstance(value, Set):
        return f"{{{', '.join(sorted(_describe(item, called) for item in value))}}}"
    if isinstance(value, Mapping):
        return _describe(tuple(sorted(value.items())), called)
    if isinstance(value, CodeType):
        return _describe_code(value, called)
    kept = getattr(value, "_cache", None)
    if isinstance(kept, KernelCache):
        called.append(kept._kernel)
        return f"kernel {_name(value.py_func)}"
    if isinstance(value, ModuleType) and value.__name__ in KNOWN:
        return f"module {value.__name__}"
    if isinstance(value, type | BuiltinFunctionType) and value.__module__ in KNOWN:
        return f"{type(value).__name__} {_name(value)}"
    raise TypeError(f"no name for the compiled code of {value!r}")


def _describe_code(code: CodeType, called: list[Kernel]) -> str:
    names = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
    counts = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags
    return _describe((code.co_code, code.co_exceptiontable, code.co_consts, *names, *counts), called)


def _name(value: Any) -> str:
    return f"{getattr(value, '__module__', None)}.{getattr(value, '__qualname__', value.__name__)}"


def _names_read(code: CodeType) -> Iterator[str]:
    """Yield the names that a function and its inner functions read from outside: globals, builtins and attributes."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names_read(constant)


def _read_by(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield everything that a function's bytecode reads besides its arguments."""
    for name in sorted(set(_names_read(function.__code__))):
        for names in (function.__globals__, vars(builtins)):
            if name in names:
                yield name, names[name]
                break
    yield "its defaults", (function.__defaults__, tuple(sorted((function.__kwdefaults__ or {}).items())))
    yield "its closure", tuple(cell.cell_contents for cell in function.__closure__ or ())


def _fingerprint(kernel: Kernel) -> tuple[str, list[Kernel]]:
    """Return a hash of a kernel's own bytecode, constants and options; also return the kernels that it calls."""
    called: list[Kernel] = []
    function = kernel.py_func
    parts = _name(function), function.__code__, kernel.targetoptions, tuple(_read_by(function))
    return hashlib.sha256(_describe(parts, called).encode()).hexdigest(), called


# Folders ------------------------------------------------------------------------------------------------------------


def _not_ours(status: os.stat_result) -> str | None:
    """Return how users other than this one and root can write a file or folder; None if they can't."""
    if not hasattr(os, "geteuid"):  # Windows: these bits don't say who may write to a user's folder
        return None
    if status.st_uid not in (0, os.geteuid()):
        return "owned by another user"
    return "others may write to it" if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH) else None


def _mode(folder: bool) -> int:
    """Return permissions for a new file or folder: readable by its owner only, or by all users if root makes it.

    In a container image, for example, root makes the cache, and another user may read it.
    """
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    return (0o755 if folder else 0o644) if root else (0o700 if folder else 0o600)


def _user_caches() -> str:
    """Return this user's folder for caches; it is relative if there is no home folder."""
    if sys.platform == "win32":
        return os.environ.get("LOCALAPPDATA", "")
    if sys.platform == "darwin":
        return os.path.expanduser("~/Library/Caches")
    return os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")


def _candidates() -> list[Path]:
    """Return possible cache folders, first choice first: numba's setting, a folder next to the kernels, the user's."""
    places = (config.CACHE_DIR, Path(__file__).parents[1] / "_kernels" / "__pycache__", _user_caches())
    return [Path(place, "fastevals") for place in places if place]


def _refusal(folder: Path) -> str | None:
    """Return why a folder, created if missing, can't be used; None if it can."""
    if not folder.is_absolute():
        return "not an absolute path"
    try:
        if not os.path.lexists(folder):
            folder.parent.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(FileExistsError):  # another process was faster
                folder.mkdir(mode=0o700)
                folder.chmod(_mode(folder=True))
        status = os.lstat(folder)
    except OSError as error:
        return error.strerror or str(error)
    if not stat.S_ISDIR(status.st_mode):
        return "not a folder"
    return _not_ours(status)


@cache
def _folders() -> tuple[tuple[Path, ...], dict[Path, str]]:
    """Return the folders to load from, and the reason for each folder that can't be used, or can't be written to."""
    found: list[Path] = []
    refused: dict[Path, str] = {}
    for folder in _candidates():
        why = _refusal(folder)
        if why is None:
            found.append(folder)
            if os.access(folder, os.W_OK | os.X_OK):
                break
            why = "not writable"
        refused[folder] = why
    return tuple(found), refused


def folders() -> tuple[Path, ...]:
    """Return the folders that compiled kernels are loaded from; new kernels go to the last one, if writable."""
    return _folders()[0]


def folder_to_fill() -> Path:
    """Return the folder for newly compiled kernels.

    Raises
    ------
    ValueError
        If there is no such folder; the message says why, and what to do.
    """
    found, refused = _folders()
    if not found or found[-1] in refused:
        raise ValueError(_unkept("; ".join(f"{folder}: {why}" for folder, why in refused.items())))
    return found[-1]


def _unkept(why: str) -> str:
    return (
        f"compiled kernels can't be kept, so each process compiles its own, which takes seconds ({why}); set"
        " NUMBA_CACHE_DIR to the absolute path of a folder that this user may write to, or run `fastevals warm-up` as"
        " root when an image is built"
    )


unkept: list[str] = []  # the text of the only warning


def _warn_once(message: str) -> None:
    if not unkept:
        unkept.append(message)
        warn_outside(message, RuntimeWarning)


# Files --------------------------------------------------------------------------------------------------------------


def _read(path: Path) -> bytes | None:
    """Return a file's payload; None if there is no file or it can't be trusted."""
    flags = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"))
    try:
        with open(os.open(path, flags), "rb") as file:  # O_NONBLOCK: don't wait for a pipe that nobody writes to
            status = os.fstat(file.fileno())
            if (
                not stat.S_ISREG(status.st_mode)
                or not CHECKSUM_BYTES < status.st_size <= FILE_BYTES
                or _not_ours(status)
            ):
                return None
            stored = file.read(status.st_size)
    except OSError:
        return None
    checksum, payload = stored[:CHECKSUM_BYTES], stored[CHECKSUM_BYTES:]
    if hashlib.sha256(payload).digest() != checksum:  # damaged machine code would crash the process
        return None
    if time.time() - status.st_mtime > DAY_SECONDS:
        with contextlib.suppress(OSError):
            os.utime(path)  # marks it as used, so that it is not removed
    return payload


def _stored(name: str) -> bytes | None:
    """Return the payload of the first file of this name; None if there is none."""
    return next(filter(None, (_read(folder / name) for folder in folders())), None)


def _write(path: Path, payload: bytes) -> None:
    """Replace a file atomically, so that concurrent readers see all of it or nothing."""
    why = _refusal(path.parent)  # recreates the folder if it is gone
    if why is not None:
        raise OSError(f"{path.parent}: {why}")
    with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".tmp", delete=False) as file:
        try:
            file.write(hashlib.sha256(payload).digest() + payload)
            file.flush()
            os.chmod(file.name, _mode(folder=False))
            file.close()
            os.replace(file.name, path)
        except BaseException:
            file.close()
            with contextlib.suppress(OSError):
                os.unlink(file.name)
            raise


@cache
def _clean(folder: Path) -> None:
    """Remove files that have not been used for a long time, once per process."""
    now = time.time()
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            longest = {".nbc": UNUSED_SECONDS, ".tmp": ABANDONED_SECONDS}.get(os.path.splitext(entry.name)[1])
            with contextlib.suppress(OSError):
                if longest is not None and now - entry.stat(follow_symlinks=False).st_mtime > longest:
                    os.unlink(entry.path)


class KernelCache(NullCache):  # type: ignore[misc]
    """One file per kernel, signature and machine; there is no shared index that processes could overwrite."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._own: tuple[str, list[Kernel]] | None = None

    @property
    def cache_path(self) -> str | None:
        """Return where compiled code is stored, as text."""
        return str(folders()[-1]) if folders() else None

    def _fingerprints(self, *, again: bool = False) -> list[str]:
        """Return the fingerprints of the kernel and all kernels it calls: as first computed, or anew if `again`."""
        found: dict[Kernel, str] = {}
        todo = [self._kernel]
        while todo:
            kernel = todo.pop()
            if kernel not in found:
                if kernel._cache._own is None:
                    kernel._cache._own = _fingerprint(kernel)
                found[kernel], called = _fingerprint(kernel) if again else kernel._cache._own
                todo.extend(called)
        return sorted(found.values())

    def _file(self, signature: Any, codegen: Any, *, linked: bool = False) -> str:
        settings = [getattr(config, name, None) for name in SETTINGS]
        key = VERSIONS, settings, codegen.magic_tuple(), signature, self._fingerprints()
        function = self._kernel.py_func
        readable = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"
        return f"{readable}{'~' if linked else '-'}{hashlib.sha256(repr(key).encode()).hexdigest()[:32]}.nbc"

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Load the code compiled for a signature; None if it must be compiled."""
        rtsys.initialize(target_context)  # the rest of numba's compiler is loaded only to compile, which takes 0.2 s
        try:
            payload = _stored(self._file(sig, target_context.codegen()))
            if payload:
                return CompileResult._rebuild(target_context, *pickle.loads(payload))
        except Exception:  # compiling again repairs anything
            return None
        with contextlib.suppress(ValueError):
            folder = folder_to_fill()
            start_wanted()
            note_missing(lambda: sum(1 for _ in sizes([folder])))
        return None

    def load_linked(self, arguments: Any, target_context: Any) -> Any:
        """Load the LLVM code that calling kernels link; None if it must be compiled."""
        codegen = target_context.codegen()
        try:
            name, code, described, signature = pickle.loads(_stored(self._file(arguments, codegen, linked=True)) or b"")
            library = codegen.create_library(name)
            library._final_module = parse_bitcode(code)
        except Exception:
            return None
        library._finalized = True
        return compile_result(
            library=library, fndesc=described, signature=signature, entry_point=object(), objectmode=False
        )

    def save_overload(self, sig: Any, data: Any) -> None:
        """Store the code compiled for a signature, unless a kernel's bytecode or constants have changed since."""
        self._save(data, lambda: self._file(sig, data.codegen), data._reduce)

    def save_linked(self, arguments: Any, data: Any) -> None:
        """Store the LLVM code for calling kernels."""

        def contents() -> tuple[Any, ...]:
            data.fndesc.typemap = data.fndesc.calltypes = None  # may not be picklable, as in CompileResult._reduce
            return data.library.name, data.library._get_module_for_linking().as_bitcode(), data.fndesc, data.signature

        self._save(data, lambda: self._file(arguments, data.library.codegen, linked=True), contents)

    def _save(self, data: Any, file: Callable[[], str], contents: Callable[[], Any]) -> None:
        try:
            if data.library.has_dynamic_globals or self._fingerprints() != self._fingerprints(again=True):
                return
            name = file()
            payload = pickle.dumps(contents(), protocol=pickle.HIGHEST_PROTOCOL)
        except Exception:  # the compiled code in memory still works
            return
        try:
            path = folder_to_fill() / name
            _write(path, payload)
            _clean(path.parent)
        except ValueError as error:
            _warn_once(str(error))
        except OSError as error:
            if not path.exists():  # Windows can't replace a file that another process has just written and still reads
                _warn_once(_unkept(str(error)))


@cache
def kept_kernels() -> frozenset[str]:
    """Return the kernels, as module.name, with files in the folders when this is first called."""
    names: set[str] = set()
    for place in folders():
        with contextlib.suppress(OSError):
            names.update(name.rpartition("-")[0] for name in os.listdir(place))
    return frozenset(names)


def start_if_missing(kernel: str) -> None:
    """Start the processes of `compiled_ahead` at once if a kernel, as module.name, is not on disk and will be."""
    found, refused = _folders()
    if not config.DISABLE_JIT and found and found[-1] not in refused and kernel not in kept_kernels():
        start_wanted()


def sizes(places: Iterable[Path]) -> Iterator[int]:
    """Yield the sizes of the files of compiled kernels in some folders."""
    for place in places:
        with contextlib.suppress(OSError), os.scandir(place) as entries:
            yield from (entry.stat().st_size for entry in entries if entry.name.endswith(".nbc"))
