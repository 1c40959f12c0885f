"""Dask frames on a cluster of two worker processes: the same answers as in memory, whatever happens to workers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastevals
from fastevals import Ranking
from fastevals.scale import Certified, ClassScoresSummary
from fastevals.scale import dask as ours
from tests.scale.local_frames import check_certified, check_exact, check_groups
from tests.scale.local_frames import rows as made_rows

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")
dask = pytest.importorskip("dask")
frames = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

N = 40_000


@pytest.fixture(scope="module")
def cluster() -> Any:
    """Start two worker processes on loopback."""
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def rows() -> Any:
    return pd.DataFrame(made_rows(N))


@pytest.fixture(scope="module")
def frame(rows: Any) -> Any:
    return frames.from_pandas(rows, npartitions=7)


@pytest.mark.parametrize("scheduler", ["synchronous", "threads", pytest.param("processes", marks=pytest.mark.slow)])
def test_any_scheduler_ranks(frame: Any, rows: Any, scheduler: str) -> None:
    with dask.config.set(scheduler=scheduler, num_workers=2):
        auc = ours.ranking(frame, label="y", score="p", cells=2**10).roc_auc()
    assert isinstance(auc, Certified)
    assert auc.low <= Ranking(rows["y"], rows["p"]).roc_auc() <= auc.high


@pytest.mark.slow
def test_a_cluster_gives_the_numbers_of_the_rows(cluster: Any, frame: Any, rows: Any) -> None:
    check_certified(ours, frame, made_rows(N))
    check_exact(ours, frame, made_rows(N), sample_weight="w")
    summary = ours.ranking_summary(frame, label="y", score="p")
    assert fastevals.delong(summary).standard_error == pytest.approx(
        fastevals.delong(rows["y"], rows["p"]).standard_error, rel=1e-3
    )
    by_day = ours.ranking(frame, label="y", score="p", by="day", exact=True)
    here = rows[rows["day"] == "mon"]
    assert by_day["mon"].roc_auc() == Ranking(here["y"], here["p"]).roc_auc()
    matrices = ours.confusion_summary(frame, label="y", pred="w", by="day")
    assert sum(each.n_samples for each in matrices.values()) == N


@pytest.mark.slow
def test_many_small_partitions_are_counted_exactly(rows: Any) -> None:
    some = rows.iloc[:2000]
    with dask.config.set(scheduler="synchronous"):
        found = ours.ranking(frames.from_pandas(some, npartitions=120), label="y", score="p")
        columns = {"label": "y", "probabilities": {0: "not_p", 1: "p"}}
        classes = ours.class_scores_summary(frames.from_pandas(some, npartitions=20), **columns)
    assert found.roc_auc() == Ranking(some["y"], some["p"]).roc_auc()
    expected = ClassScoresSummary([0, 1])
    expected.update(some["y"], some[["not_p", "p"]])
    assert classes.to_bytes() == expected.to_bytes()


@pytest.mark.slow
def test_text_in_chunks_is_read(cluster: Any, rows: Any) -> None:
    some = rows.iloc[:2000]
    found = ours.grouped_auc(frames.from_pandas(some, npartitions=3), label="y", score="p", by="day")
    np.testing.assert_array_equal(found.values, fastevals.grouped_auc(some["y"], some["p"], some["day"]).values)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::fastevals.UndefinedMetricWarning")
def test_groups_are_brought_together(cluster: Any, frame: Any) -> None:
    check_groups(ours, frame, made_rows(N), "user")


@pytest.mark.slow
def test_ranges_of_scores_are_brought_together(cluster: Any, frame: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("fastevals.scale.engines.rankings.MOST_BROADCAST", 100)
    monkeypatch.setattr("fastevals.scale.engines.rankings.RANGE_ROWS", 10_000)
    check_exact(ours, frame, made_rows(N))


@pytest.mark.slow
def test_a_row_that_can_not_be_counted_is_named(cluster: Any, rows: Any) -> None:
    bad = rows.copy()
    bad.loc[N - 1, "p"] = np.inf
    with pytest.raises(
        ValueError, match=r"column 'p' has 1 NaN or infinite value, the first at row \d+ of partition 6"
    ):
        ours.ranking(frames.from_pandas(bad, npartitions=7), label="y", score="p")
    with pytest.raises(ValueError, match="column 'Q': the frame has no such column"):
        ours.ranking(frames.from_pandas(bad, npartitions=7), label="y", score="Q")
    with pytest.raises(ValueError, match="data must be a DataFrame of Dask, got"):
        ours.ranking(bad, label="y", score="p")


def test_scores_that_are_drawn_anew_in_each_pass_are_an_error(rows: Any) -> None:
    def drawn(part: Any) -> Any:
        return part.assign(p=part["y"] + np.random.default_rng().normal(size=len(part)))

    frame = frames.from_pandas(rows.iloc[:3000], npartitions=3)
    random = frame.map_partitions(drawn, meta=frame._meta)
    with dask.config.set(scheduler="synchronous"):
        with pytest.raises(ValueError, match=r"its scores, labels or weights differ .*: call its persist\(\)"):
            ours.ranking(random, label="y", score="p", exact=True)
        kept = random.persist()
        found, whole = ours.ranking(kept, label="y", score="p", exact=True), kept.compute()
    assert found.roc_auc() == Ranking(whole["y"], whole["p"]).roc_auc()


@pytest.mark.slow
@pytest.mark.parametrize("when", ["killed", "fails once", "straggles"])
def test_workers_that_fail_count_nothing_twice(cluster: Any, rows: Any, tmp_path: Path, when: str) -> None:
    marker = str(tmp_path / "happened")

    def trouble(part: Any, partition_info: Any = None) -> Any:
        if partition_info and partition_info["number"] == 3:
            try:
                os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                return part
            if when == "killed":
                os.kill(os.getpid(), signal.SIGKILL)
            if when == "fails once":
                raise OSError("a disk that is away for a moment")
            time.sleep(2)
        return part

    frame = frames.from_pandas(rows, npartitions=20)  # the fourth partition is not in the sample
    troubled = frame.map_partitions(trouble, meta=frame._meta)
    found = ours.ranking_summary(troubled, label="y", score="p", cells=2**10)
    assert os.path.exists(marker)
    expected = ours.ranking_summary(frame, label="y", score="p", cells=2**10)
    assert found.n_positives + found.n_negatives == N
    assert found.to_bytes() == expected.to_bytes()


@pytest.mark.slow
def test_workers_without_fastevals_are_told(tmp_path: Path) -> None:
    (tmp_path / "run.py").write_text(
        """
import sys
import dask.dataframe as frames
import pandas as pd
from distributed import Client, LocalCluster
from fastevals.scale import dask

def hide():
    sys.modules["fastevals"] = None

if __name__ == "__main__":
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster, Client(cluster) as client:
        client.run(hide)
        frame = frames.from_pandas(pd.DataFrame({"y": [0, 1], "p": [0.1, 0.2]}), npartitions=1)
        try:
            dask.ranking(frame, label="y", score="p")
        except ImportError as error:
            print(error)
"""
    )
    done = subprocess.run([sys.executable, tmp_path / "run.py"], capture_output=True, text=True, timeout=120)
    assert done.stdout.startswith("workers can't import fastevals"), done.stderr[-2000:]
