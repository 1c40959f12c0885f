"""Set-up shared by all tests."""

import hashlib
import os
import tempfile
from pathlib import Path

# Compiled kernels go to a folder named by their sources: fresh after an edit, warm otherwise.
_KERNELS = Path(__file__).parents[1] / "fastevals" / "_kernels"
_digest = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(_KERNELS.glob("*.py")))).hexdigest()[:16]
os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(tempfile.gettempdir()) / f"fastevals-test-cache-{_digest}"))
