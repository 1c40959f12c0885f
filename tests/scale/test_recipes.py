"""The code of `docs/machines.md` runs unchanged, each block in its own process."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benches import machines
from fastevals import Ranking
from fastevals.scale import RankingSummary
from tests.scale import memory_of_machines

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

ROOT = Path(__file__).parents[2]
BLOCKS = re.findall(r"<!-- (\w+) -->\n```python\n(.*?)```", machines.PAGE.read_text(), flags=re.DOTALL)
RECIPES = [
    pytest.param(
        kind,
        block,
        id=f"{kind} {k}",
        marks=[pytest.mark.slow] * (kind in ("dask", "joblib") or (kind == "spark" and k)),
    )
    for k, (kind, block) in enumerate(BLOCKS)  # blocks that start processes: one each in test_dask.py, test_spark.py
]
N = 9000


@pytest.fixture(scope="module")
def folder(tmp_path_factory: Any) -> tuple[Path, float]:
    """A folder with the files that the recipes read, and the AUC of their rows."""
    folder, rng = tmp_path_factory.mktemp("recipes"), np.random.default_rng(0)
    y = (rng.random(N) < 0.2).astype(int)
    p = 1 / (1 + np.exp(2 - 1.5 * y - rng.normal(size=N)))
    names = np.array(["cat", "dog"])
    table = pa.table(
        {
            "y": y, "p": p, "q": p.round(2), "w": rng.integers(1, 3, N), "day": np.array(["mon", "tue"])[y ^ (p > 0.5)],
            "user": rng.integers(0, 90, N), "class": names[y], "guess": names[(p > 0.5).astype(int)], "t": p,
            "f": p + y, "p_cat": 1 - p, "p_dog": p,
        }
    )  # fmt: skip
    (folder / "scores").mkdir()
    for k in range(3):
        parquet.write_table(table.slice(3000 * k, 3000), folder / "scores" / f"{k}.parquet")
    with sqlite3.connect(folder / "scores.db") as database:
        database.execute("CREATE TABLE scores (y INTEGER, p REAL)")
        database.executemany("INSERT INTO scores VALUES (?, ?)", zip(y.tolist(), p.tolist(), strict=True))
        database.executemany("INSERT INTO scores VALUES (?, ?)", [(None, 0.1), (None, 2.0), (1, None)] * N)
    return folder, Ranking(y, p).roc_auc()


def run(block: str, folder: tuple[Path, float]) -> None:
    """Run a block; the AUCs that it prints must contain the rows' AUC."""
    where, true = folder
    (where / "block.py").write_text(block)
    command = [sys.executable, "-W", "ignore", where / "block.py"]
    own = os.environ | {"PYSPARK_PYTHON": sys.executable}
    done = subprocess.run(command, cwd=where, capture_output=True, text=True, timeout=300, env=own)
    assert done.returncode == 0, done.stderr[-3000:]
    said = done.stdout.splitlines()
    assert len(said) == block.count("print(")
    for line in said:
        low, high = map(float, re.findall(r"\[(.*), (.*)\]", line)[0] if "[" in line else (line, line))
        assert low - 1e-15 <= true <= high + 1e-15
        assert high - low < 1e-3


@pytest.mark.cases(2)
@pytest.mark.parametrize(("kind", "block"), RECIPES)
def test_a_recipe_gives_what_it_says(kind: str, block: str, folder: tuple[Path, float]) -> None:
    needed = {"spark": "pyspark", "sql": "sqlite3"}.get(kind, kind)
    if find_spec(needed) is None:
        pytest.skip(f"{needed} is not installed")
    if kind == "spark":
        if shutil.which("java") is None:
            pytest.skip("Spark needs a Java runtime, such as Debian's openjdk-17-jre-headless")
        from tests.scale.spark_cluster import standalone

        if "spark://master:7077" in block:
            with standalone(2) as address:
                block = block.replace("spark://master:7077", address).replace(
                    ".getOrCreate()", '.config("spark.driver.host", "127.0.0.1").getOrCreate()'
                )
                run(block, folder)
            return
    if kind == "dask" and "tcp://scheduler:8786" in block:
        distributed = pytest.importorskip("distributed")
        with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
            run(block.replace("tcp://scheduler:8786", cluster.scheduler_address), folder)
        return
    run(block, folder)


def test_all_code_is_run() -> None:
    assert len(BLOCKS) == machines.PAGE.read_text().count("```python")


# What it takes --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_table_is_that_of_the_simulation() -> None:
    assert machines.page() == machines.PAGE.read_text()


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="peaks are read from /proc")
def test_memory_is_no_more_than_the_table_says() -> None:
    command = [sys.executable, "-m", "tests.scale.memory_of_machines"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=300)
    worker, driver = map(int, done.stdout.split())
    assert worker < machines.worker_memory() < 5 * worker
    rows, parts = memory_of_machines.ROWS, memory_of_machines.PARTS
    assert driver < machines.driver_memory(rows * parts, parts) < 5 * driver


@pytest.mark.parametrize("rows", [10_000, 100_000, 1_000_000])
def test_simulated_summaries_are_as_large_as_real_ones(rows: int) -> None:
    data = machines.Data(rows)
    grid, _ = machines._grid_and_shares()
    summary = RankingSummary(grid=grid)
    summary.update(data.y, data.s)
    assert machines.summary_bytes(rows) == pytest.approx(len(summary.to_bytes()), rel=0.1)
