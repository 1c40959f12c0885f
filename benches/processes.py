"""Cases that need a fresh interpreter: start-up, the first call ever, memory. Entries as in `benches.peers`."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benches.data import Data
from benches.peers import Call, Setup, installed

ROOT = Path(__file__).parents[1]
LINUX = Path("/proc/self/clear_refs").exists()
SMALL = "import numpy as np\ny, s = np.arange(1000) % 10 == 0, np.arange(1000) * 0.618 % 1\n"
OURS = SMALL + "import fastevals\nprint(fastevals.Ranking(y, s).roc_auc())"
THEIRS = SMALL + "from sklearn.metrics import roc_auc_score\nprint(roc_auc_score(y, s))"

# The kernel's own account of peak memory: growth during a call beyond what was there. One small call first, so that
# imports and compiled code are.
MEMORY = """
import sys
from pathlib import Path
import fastevals
from benches.data import Data

def status(field):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(field + ":"))

def there(data):
    {there}

def call(made):
    {call}

call(there(Data(1000)))
made = there(Data(int(sys.argv[1])))
before = status("VmRSS")
Path("/proc/self/clear_refs").write_text("5")
call(made)
print((status("VmHWM") - before) / {share})
"""
AUC_MEMORY = MEMORY.format(
    there="return data.y, data.s",
    call="fastevals.Ranking(*made).roc_auc()",
    share="1",
)
BOOTSTRAP_MEMORY = MEMORY.format(
    there="ranking = fastevals.Ranking(data.y, data.s); ranking.counts; return ranking",
    call="fastevals.bootstrap(made, ['roc_auc', 'average_precision'], n_resamples=20)",
    share="fastevals.get_num_threads()",
)
DECOMPOSITION_MEMORY = MEMORY.format(
    there="from benches.bias_variance import predictions; return data.t, predictions(data)",
    call="from fastevals import bias_variance; bias_variance(*made)",
    share="1",
)


def _python(*arguments: str, cache: str | None = None) -> str:
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache} if cache else None
    made = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    if made.returncode:
        raise RuntimeError(f"{arguments} failed:\n{made.stderr}")
    return made.stdout


def _number(code: str) -> Setup:
    return lambda data: lambda: float(_python("-c", code, str(data.rows)))


def _cold(*arguments: str) -> Setup:
    def set_up(data: Data) -> Call:
        def call() -> str:
            with tempfile.TemporaryDirectory() as cache:
                return _python(*arguments, cache=cache)

        return call

    return set_up


PROCESSES = installed(
    {
        "import": {
            "fastevals": _number("import fastevals\nprint(0)"),
            "numpy": _number("import numpy\nprint(0)"),
        },
        "first_auc": {"fastevals": _number(OURS), "scikit-learn": _number(THEIRS)},
        "cold_auc": {"fastevals": _cold("-c", OURS)},
        "cold_report": {"fastevals": _cold("-m", "fastevals", "report")},
        "memory": {"fastevals": _number(AUC_MEMORY)} if LINUX else {},
        "bootstrap_memory": {"fastevals": _number(BOOTSTRAP_MEMORY)} if LINUX else {},
        "bias_variance_memory": {"fastevals": _number(DECOMPOSITION_MEMORY)} if LINUX else {},
    }
)
