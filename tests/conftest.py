"""Set-up shared by all tests."""

import hashlib
import os
import tempfile
from pathlib import Path

import pytest

# Compiled kernels go to a folder named by their sources: fresh after an edit, warm otherwise.
_KERNELS = Path(__file__).parents[1] / "fastevals" / "_kernels"
_digest = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(_KERNELS.glob("*.py")))).hexdigest()[:16]
os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(tempfile.gettempdir()) / f"fastevals-test-cache-{_digest}"))


def pytest_configure(config: pytest.Config) -> None:
    """Draw more examples where all tests are asked for: strategies.py reads it when tests are collected."""
    if config.option.markexpr == "slow or not slow":
        os.environ.setdefault("FASTEVALS_TEST_EXAMPLES", "240")
