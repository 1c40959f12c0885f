"""Cases that need a fresh interpreter: start-up, first calls, memory, commands. Entries as in `benches.peers`."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import fastevals
from benches.data import Data
from benches.peers import Call, Setup, installed

ROOT = Path(__file__).parents[1]
LINUX = Path("/proc/self/clear_refs").exists()
SMALL = "import numpy as np\ny, s = np.arange(1000) % 10 == 0, np.arange(1000) * 0.618 % 1\n"
OURS = SMALL + "import fastevals\nprint(fastevals.Ranking(y, s).roc_auc())"
THEIRS = SMALL + "from sklearn.metrics import roc_auc_score\nprint(roc_auc_score(y, s))"

# Peak of the memory that a call allocates; paging does not count. A first call, with enough rows for the kernels, loads
# imports and compiled code, so they do not count either.
MEMORY = """
import sys, tracemalloc
import fastevals
from benches.data import Data
from fastevals import _memory

def there(data):
    {there}

def call(made):
    {call}

call(there(Data(50_000)))
made = there(Data(int(sys.argv[1])))
_memory._kept.clear()
tracemalloc.start()
call(made)
print(tracemalloc.get_traced_memory()[1] / {share})
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
CLASSES_MEMORY = MEMORY.format(
    there="from benches.classes import N_CLASSES, N_MODELS, probabilities; "
    "y, made = probabilities(data.rows, N_CLASSES, N_MODELS); return y, dict(enumerate(made))",
    call="from benches.classes import COMPARED; "
    "fastevals.compare_rankings(*made, metrics=COMPARED, n_resamples=20, method='percentile')",
    share="(8 * 10 * 3)",
)


@cache
def _folder() -> Any:
    """Make a folder for files that is removed when the process ends."""
    return tempfile.TemporaryDirectory()


def _python(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run Python to its end; sources are compiled to bytecode once, as in an installed package."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment = {**kept, "PYTHONPYCACHEPREFIX": str(Path(_folder().name) / "bytecode"), **environment}
    made = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    if made.returncode:
        raise RuntimeError(f"{arguments} failed:\n{made.stderr}")
    return made


def _number(code: str) -> Setup:
    return lambda data: lambda: float(_python("-c", code, str(data.rows)).stdout)


def _cold(*arguments: str) -> Setup:
    def set_up(data: Data) -> Call:
        def call() -> str:
            with tempfile.TemporaryDirectory() as cache:
                return _python(*arguments, NUMBA_CACHE_DIR=cache).stdout

        return call

    return set_up


# Commands on a file: a label, three models' scores, and the fold of each row.
LABEL, MODELS, FOLD = "label", ("first", "second", "third"), "fold"
FOLDS = 10
MOST = """
if sys.platform == "linux":  # the peak by `resource` would include the parent's
    with open("/proc/self/status") as lines:
        print(next(1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM:")), file=sys.stderr)
"""
COMMAND = """
import sys
from fastevals.show.cli import main
main(sys.argv[1:])
"""
READ = """
import sys
import pyarrow.parquet as parquet
path, *columns = sys.argv[1:]
table = parquet.read_table(path, columns=columns)
arrays = [table[column].to_numpy() for column in columns]
print({column: array.size for column, array in zip(columns, arrays)})
"""


def _columns(data: Data) -> dict[str, Any]:
    """Return the columns of a report."""
    rng = np.random.default_rng([data.rows, 16])
    chances = (1 / (1 + np.exp(2 - data.s + noise * rng.standard_normal(data.rows))) for noise in (0, 0.3, 0.6))
    return {LABEL: data.y, **dict(zip(MODELS, chances, strict=True)), FOLD: rng.integers(0, FOLDS, data.rows)}


def _file(data: Data) -> str:
    """Write the rows to a Parquet file."""
    import pyarrow
    from pyarrow import parquet

    path = Path(_folder().name) / f"{data.rows}.parquet"
    if not path.exists():
        parquet.write_table(pyarrow.table(_columns(data)), path)
    return str(path)


def _command(code: str, *arguments: str, memory: bool) -> Setup:
    """Run code with the file and more arguments; return its process's peak memory in bytes, or the number of rows."""

    def set_up(data: Data) -> Call:
        path = _file(data)

        def call() -> Any:
            made = _python("-c", code + MOST, *(path if argument == "FILE" else argument for argument in arguments))
            return float(made.stderr.split()[-1]) if memory else data.rows

        return call

    return set_up


def _report(*options: str, memory: bool = False) -> Setup:
    columns = ["--label", LABEL, *(argument for model in MODELS for argument in ("--score", model))]
    return _command(COMMAND, "report", "FILE", *columns, *options, memory=memory)


def _read(*, memory: bool = False) -> Setup:
    return _command(READ, "FILE", LABEL, *MODELS, memory=memory)


def _page(data: Data) -> Callable[[], float]:
    """Write a report's page; return its bytes."""
    report = fastevals.report(_columns(data), label=LABEL, score=MODELS, n_resamples=0)
    return lambda: float(len(report.to_html().encode()))


PROCESSES = installed(
    {
        "import": {
            "fastevals": _number("import fastevals\nprint(0)"),
            "numpy": _number("import numpy\nprint(0)"),
        },
        "first_auc": {"fastevals": _number(OURS), "scikit-learn": _number(THEIRS)},
        "cold_auc": {"fastevals": _cold("-c", OURS)},
        "report": {"fastevals": _report()},
        "report_by": {"fastevals": _report("--by", FOLD)},
        "report_values": {"fastevals": _report("--resamples", "0"), "pyarrow": _read()},
        "report_page": {"fastevals": _page},
        "report_page_size": {"fastevals": _page},
        "report_memory": (
            {"fastevals": _report("--resamples", "0", memory=True), "pyarrow": _read(memory=True)} if LINUX else {}
        ),
        "cold_report": {"fastevals": _cold("-m", "fastevals", "report")},
        "memory": {"fastevals": _number(AUC_MEMORY)} if LINUX else {},
        "bootstrap_memory": {"fastevals": _number(BOOTSTRAP_MEMORY)} if LINUX else {},
        "class_comparison_memory": {"fastevals": _number(CLASSES_MEMORY)} if LINUX else {},
        "bias_variance_memory": {"fastevals": _number(DECOMPOSITION_MEMORY)} if LINUX else {},
    }
)
