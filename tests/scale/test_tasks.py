"""The scripts in docs/tasks: their messages and exit status when files are not as they should be."""

from __future__ import annotations

import importlib.util
import multiprocessing
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fastevals import Ranking
from fastevals.scale import RankingSummary
from tests.parameters import quick

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

SCRIPTS = Path(__file__).parents[2] / "docs" / "tasks"
NO_ALARM, ERROR, ALARM, UNDECIDED = 0, 2, 3, 4
N = 20_000


def load(name: str) -> Any:
    spec: Any = importlib.util.spec_from_file_location(name, SCRIPTS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


nightly = load("nightly")


def day(path: Path, shift: float = 1.2, seed: int = 0, **columns: Any) -> Path:
    """Write a day's scores: two normal distributions, `shift` apart."""
    rng = np.random.default_rng(seed)
    y = rng.random(N) < 0.3
    table = pa.table({"y": y, "p": rng.normal(size=N) + shift * y} | columns)
    parquet.write_table(table, path, compression="none", use_dictionary=False)  # days have the same size
    return path


@pytest.fixture
def days(tmp_path: Path) -> tuple[Path, Path]:
    return day(tmp_path / "24.parquet"), day(tmp_path / "25.parquet", seed=1)


def status(*days: Path) -> int:
    return int(nightly.main([str(day) for day in days]))


def test_days_are_compared_and_counted_once(days: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    assert status(*days) == NO_ALARM
    rows = parquet.read_table(days[1])
    assert nightly.summary_of(days[1]).ranking().roc_auc() == Ranking(rows["y"], rows["p"]).roc_auc()
    monkeypatch.setattr(nightly, "count", None)
    assert status(*days) == NO_ALARM
    days[0].unlink()
    assert status(*days) == NO_ALARM
    assert {path.name for path in days[1].parent.iterdir()} == {"24.summary", "25.parquet", "25.summary"}


def test_a_day_that_is_worse_is_an_alarm(days: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    day(days[1], shift=0.9)
    assert status(*days) == ALARM
    assert "ALARM: the AUC fell by more than 0.02" in capsys.readouterr().out


def rewritten(path: Path, **options: Any) -> None:
    """Write other scores; the file keeps its size and time, like a copy that preserves them."""
    before = path.stat()
    day(path, **options)
    assert path.stat().st_size == before.st_size
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize("rewrite", [day, rewritten])
def test_a_day_that_was_rewritten_is_counted_anew(rewrite: Callable[..., Any], days: tuple[Path, Path]) -> None:
    assert status(*days) == NO_ALARM
    rewrite(days[1], shift=0.1, seed=1)
    assert status(*days) == ALARM


def test_columns_are_part_of_what_a_summary_is_of(days: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    day(days[1], seed=1, q=np.zeros(N))
    assert status(*days) == NO_ALARM
    day(days[0], q=np.arange(N))
    monkeypatch.setattr(nightly, "SCORE", "q")
    assert nightly.summary_of(days[1]).ranking().roc_auc() == 0.5


@pytest.mark.parametrize(
    ("columns", "wanted", "message"),
    [
        ({"y": pa.array([None, *[True, False] * (N // 2 - 1), None])}, UNDECIDED, "2 rows have no label yet"),
        ({"y": np.zeros(N, bool)}, UNDECIDED, f"0 positive and {N} negative rows"),
        ({"p": np.full(N, np.nan)}, ERROR, "y_score must be finite, but has 20000 NaN"),
        ({"y": np.arange(N)}, ERROR, "y_true must"),
    ],
)
def test_rows_that_tell_nothing_are_no_alarm(
    columns: Any, wanted: int, message: str, days: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    day(days[1], **columns)
    assert status(*days) == wanted
    said = "".join(capsys.readouterr())
    assert f"{days[1]}: " in said
    assert message in said
    assert not days[1].with_suffix(".summary").exists()


def test_an_empty_day_and_too_few_rows_are_undecided(
    days: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    table = parquet.read_table(days[1])
    parquet.write_table(table.slice(0, 0), days[1])
    assert status(*days) == UNDECIDED
    assert "0 positive and 0 negative rows" in capsys.readouterr().out
    for n_positives, n_negatives in ((1, 1), (29, 5000), (5000, 29)):  # all replicates of 1 and 1 are equal
        labels = np.repeat([True, False], [n_positives, n_negatives])
        parquet.write_table(pa.table({"y": labels, "p": labels.astype(float)}), days[1])
        assert status(*days) == status(days[1], days[1]) == UNDECIDED
        assert f"{n_positives} positive and {n_negatives} negative rows; at least 30 of each are needed" in str(
            capsys.readouterr().out
        )
    parquet.write_table(table.slice(0, 500), days[1])
    assert status(*days) == UNDECIDED
    assert "UNDECIDED: more rows are needed to decide whether the AUC fell by more than 0.02" in capsys.readouterr().out


def removed(path: Path) -> None:
    path.unlink()


def cut_off(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def without_scores(path: Path) -> None:
    parquet.write_table(parquet.read_table(path, columns=["y"]), path)


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("spoil", [removed, cut_off, without_scores, a_folder])
@pytest.mark.parametrize("which", [0, 1])
def test_files_that_can_not_be_read_are_errors(
    spoil: Callable[[Path], None], which: int, days: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    spoil(days[which])
    assert status(*days) == ERROR
    assert capsys.readouterr().err.startswith(f"ERROR: {days[which]}: ")


@pytest.mark.parametrize("content", quick([b"", b"{}\n", b"[" * 100_000 + b"\n", RankingSummary().to_bytes()], b""))
def test_a_summary_that_says_nothing_is_made_anew(content: bytes, days: tuple[Path, Path]) -> None:
    kept = days[1].with_suffix(".summary")
    assert status(*days) == NO_ALARM
    whole = kept.read_bytes()
    for spoilt in (content, whole[:-1]):
        kept.write_bytes(spoilt)
        assert status(*days) == NO_ALARM
        assert kept.read_bytes() == whole
    kept.write_bytes(content)
    days[1].unlink()
    assert status(*days) == ERROR


def test_a_day_that_is_rewritten_while_it_is_read_is_an_error(
    days: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    counted = nightly.count

    def count(scores: Path) -> Any:
        found = counted(scores)
        day(scores, shift=0.3)
        return found

    monkeypatch.setattr(nightly, "count", count)
    assert status(*days) == ERROR
    assert "it was rewritten while it was read" in capsys.readouterr().err
    assert not days[0].with_suffix(".summary").exists()


def test_a_run_that_crashes_leaves_no_half_of_a_summary(
    days: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(path: Path, content: bytes) -> None:
        with path.open("wb") as file:
            file.write(content[: len(content) // 2])
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "write_bytes", crash)
    with pytest.raises(KeyboardInterrupt):
        status(*days)
    assert sorted(path.name for path in days[0].parent.iterdir()) == ["24.parquet", "25.parquet"]
    monkeypatch.undo()
    assert status(*days) == NO_ALARM


def _again(days: tuple[Path, Path], n: int) -> None:
    for _ in range(n):
        days[1].with_suffix(".summary").unlink(missing_ok=True)
        assert nightly.summary_of(days[1]).n_positives > 0


@pytest.mark.slow
def test_two_runs_at_once_give_the_same(days: tuple[Path, Path]) -> None:
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    runs = [context.Process(target=_again, args=(days, 20)) for _ in range(2)]
    for run in runs:
        run.start()
    for run in runs:
        run.join()
    assert [run.exitcode for run in runs] == [0, 0]
    assert status(*days) == NO_ALARM
    assert len(list(days[0].parent.iterdir())) == 4


def test_the_status_of_the_process_is_that_of_the_comparison(tmp_path: Path) -> None:
    days = [str(tmp_path / "none.parquet")] * 2
    done = subprocess.run([sys.executable, SCRIPTS / "nightly.py", *days], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (ERROR, "")
    assert done.stderr == f"ERROR: {days[0]}: neither the file nor a summary of it exists\n"
    with pytest.raises(SystemExit, match=f"^{ERROR}$"):
        nightly.main([])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "No such file"),
        ("", "y_true"),
        ("label,score\n", "y_true"),
        ("label\n1\n0\n", "'score'"),
        ("label,score\n1,0.5\n0\n", "TypeError"),
        ("label,score\n1,0.5\n0,many\n", "could not convert"),
        ("label,score\n1,0.5\n1,0.2\n", "2 positive and 0 negative rows"),
    ],
)
def test_a_threshold_of_no_scores_is_an_error(
    content: str | None, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    file = tmp_path / "scores.csv"
    if content is not None:
        file.write_text(content)
    monkeypatch.setattr(sys, "argv", ["cost_threshold.py", str(file)])
    with pytest.raises(SystemExit, match=f"^{ERROR}$"):
        load("cost_threshold").main()
    assert message in capsys.readouterr().err
