"""The one decorator every kernel wears, and the cache of compiled code behind it.

numba's own disk cache raises where no folder is writable or a file is damaged, does not see an edit in an
imported kernel file, and can hand one process the machine code that another compiled for other types
(numba #4032, #4807, #5566). Here a compiled kernel is one file, named by everything it depends on and replaced
atomically; whatever goes wrong with it, the kernel is compiled anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import FunctionCache

__all__ = ["kernel", "sum_kernel"]

CHECKSUM = 32  # bytes before the payload of a file


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile `function` on its first call: serial, without the GIL, with IEEE division, cached on disk."""
    return _compiled(function)


def sum_kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """As `kernel`, but additions may be regrouped: a sum over rows is then several at once, in a vector register.

    Where it is called from makes no difference to the bits, the width of the machine's registers does. Sum nothing
    that relies on rounding (a compensated sum, a small difference of large terms): that is for `kernel`.
    """
    return _compiled(function, fastmath={"reassoc"})


def _compiled(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    compiled = numba.njit(nogil=True, error_model="numpy", **options)(function)
    # RuntimeError: numba found no folder it may write to. AttributeError: the JIT is switched off.
    with contextlib.suppress(RuntimeError, AttributeError):
        compiled._cache = _KernelCache(compiled.py_func)
    return compiled  # type: ignore[no-any-return]


@cache
def _fingerprint() -> bytes:
    """Hash what compiled code depends on beyond its signature: numba's version and every kernel's source."""
    digest = hashlib.sha256(numba.__version__.encode())
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.digest()


class _KernelCache(FunctionCache):  # type: ignore[misc]
    """A file for each function, signature and machine; no index for processes to race over."""

    def _file(self, signature: Any, codegen: Any) -> Path:
        digest = hashlib.sha256(_fingerprint() + repr(self._index_key(signature, codegen)).encode())
        return Path(self.cache_path) / f"{self._impl.filename_base}-{digest.hexdigest()[:24]}.nbc"

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        target_context.refresh()
        try:
            stored = self._file(sig, target_context.codegen()).read_bytes()
            checksum, payload = stored[:CHECKSUM], stored[CHECKSUM:]
            if hashlib.sha256(payload).digest() != checksum:  # damaged machine code would end the process
                return None
            return self._impl.rebuild(target_context, pickle.loads(payload))
        except Exception:  # missing, unreadable, damaged: whatever it is, compiling mends it
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        temporary = None
        try:
            if not self._impl.check_cachable(data):
                return
            path = self._file(sig, data.codegen)
            path.parent.mkdir(parents=True, exist_ok=True)
            payload = pickle.dumps(self._impl.reduce(data), protocol=pickle.HIGHEST_PROTOCOL)
            with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
                temporary = file.name
                file.write(hashlib.sha256(payload).digest() + payload)
            os.replace(temporary, path)
        except Exception:  # disk full, folder gone: the compiled code in memory serves
            if temporary is not None:
                with contextlib.suppress(OSError):
                    os.unlink(temporary)
