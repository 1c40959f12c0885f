"""The scripts in docs/tasks: their messages and exit status when files are not as they should be."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats

import fastevals
from fastevals.infer.sequential.state import read_state
from fastevals.scale import RankingSummary
from fastevals.scale.scores import ScoresSummary
from tests.parameters import quick

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

SCRIPTS = Path(__file__).parents[2] / "docs" / "tasks"
PASS, ERROR, ALARM, UNDECIDED = 0, 2, 3, 4
N = 4000


def load(name: str) -> Any:
    spec: Any = importlib.util.spec_from_file_location(name, SCRIPTS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


nightly = load("nightly")


def day(path: Path, shift: float = 1.2, seed: int = 0, labelled: float = 1.0, **columns: Any) -> str:
    """Write a day's scores: two normal distributions, `shift` apart; some rows have no label yet."""
    rng = np.random.default_rng(seed)
    y = rng.random(N) < 0.3
    labels = pa.array(y, mask=rng.random(N) >= labelled)
    table = pa.table({"y": labels, "p": rng.normal(size=N) + shift * y} | columns)
    parquet.write_table(table, path, compression="none", use_dictionary=False)  # days have the same size
    return str(path)


class Job:
    """The nightly job in a folder, with the receipt of a release."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self.state, self.receipt = folder, folder / "nights.json", folder / "release.json"
        self.capsys = capsys
        columns = {"y": np.arange(40_000) % 4 == 0}
        columns["p"] = np.random.default_rng(99).normal(size=40_000) + 1.2 * columns["y"]
        found = fastevals.gate(columns, "roc_auc >= 0.7", label="y", score="p")
        self.receipt.write_text(json.dumps(found.to_dict()))

    def file(self, name: str) -> Path:
        return self.folder / f"{name}.parquet"

    def status(self, name: str) -> int:
        """Run the job for a day; keep what it says."""
        arguments = [str(self.file(name)), "--reference", str(self.receipt), "--state", str(self.state)]
        status = int(nightly.main(arguments))
        self.out, self.err = self.capsys.readouterr()
        self.said = " ".join(self.out.split())
        return status

    def run(self, name: str, **options: Any) -> int:
        """Write a day and run the job."""
        day(self.file(name), **options)
        return self.status(name)

    def records(self) -> Any:
        return read_state(self.state, None).rules["roc_auc"]


@pytest.fixture
def job(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Job:
    return Job(tmp_path, capsys)


def test_good_days_pass_and_a_bad_one_is_an_alarm(job: Job) -> None:
    assert job.run("24") == UNDECIDED
    assert "1 night, 4,000 rows" in job.said
    assert [job.run(str(k), seed=k) for k in range(25, 29)][-1] == PASS
    assert "PASS: p may ship." in job.said
    rows = parquet.read_table(job.file("24"))
    assert job.records()[0].value == pytest.approx(fastevals.Ranking(rows["y"], rows["p"]).roc_auc(), abs=1e-12)
    assert job.run("29", shift=0.2) == ALARM
    assert "FAIL: p may not ship." in job.said


def test_a_slide_of_less_than_the_margin_a_night_is_caught(job: Job) -> None:
    shifts = [1.2 - 0.05 * k for k in range(12)]
    found = [job.run(f"{k:02}", shift=shift, seed=k) for k, shift in enumerate(shifts)]
    assert found[-1] == ALARM
    assert PASS not in found[found.index(ALARM) :]
    aucs = scipy.stats.norm.cdf(np.array(shifts) / np.sqrt(2))
    assert np.all(-np.diff(aucs) < 0.02)  # so that a reference of yesterday would let each night pass
    assert min(each.value for each in job.records()) < aucs[0] - 5 * 0.02


def test_a_day_is_counted_once_and_its_summary_serves_when_its_file_is_gone(
    job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    job.run("24")
    before = job.state.read_bytes()
    monkeypatch.setattr("fastevals.scale.identity.count_scores", None)
    assert job.status("24") == UNDECIDED
    job.file("24").unlink()
    assert job.status("24") == UNDECIDED
    assert "is recorded already, with the same rows" in job.said
    assert job.state.read_bytes() == before
    names = {"24.parquet.fe", "nights.json", ".nights.json.lock", "release.json"}
    assert {path.name for path in job.folder.iterdir()} == names


def rewritten(path: Path, **options: Any) -> None:
    """Write other scores; the file keeps its size and time, like a copy that preserves them."""
    before = path.stat()
    day(path, **options)
    assert path.stat().st_size == before.st_size
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize("rewrite", [day, rewritten])
def test_a_day_that_was_rewritten_is_counted_anew(rewrite: Callable[..., Any], job: Job) -> None:
    job.run("24")
    job.run("25", seed=1)
    rewrite(job.file("25"), shift=0.1, seed=1)
    assert job.status("25") == ALARM
    assert "'25.parquet' replaces its record" in job.said
    first, second = job.records()
    assert first.value - second.value > 0.1
    assert second.n_samples == N


def test_a_copy_of_a_day_is_not_counted_again(job: Job) -> None:
    job.run("24")
    before = job.state.read_bytes()
    assert job.run("25") == UNDECIDED
    assert "is not added, because '24.parquet' has the same rows" in job.said
    assert job.state.read_bytes() == before


def test_a_day_is_undecided_until_its_labels_have_arrived(job: Job) -> None:
    for labelled in (0.0, 0.7):  # also on the first night
        assert job.run("24", labelled=labelled) == UNDECIDED
        assert "'24.parquet' is not recorded, because its labels are late" in job.said
        assert "of the rows have a label, 95 % are needed." in job.said
        assert not job.state.exists()
    for k in range(25, 30):
        job.run(str(k), seed=k)
    before = job.state.read_bytes()
    for labelled in (0.94, 0.0):
        assert job.run("30", shift=0.2, labelled=labelled) == UNDECIDED
        assert job.state.read_bytes() == before
    assert job.run("30", shift=0.2, labelled=0.97) == ALARM
    assert "'30.parquet' is added" in job.said
    assert job.run("30", shift=0.2) == ALARM
    assert "'30.parquet' replaces its record" in job.said
    assert len(job.records()) == 6


def test_an_empty_day_is_counted_and_changes_nothing(job: Job) -> None:
    empty = pa.table({"y": pa.array([], pa.bool_()), "p": pa.array([], pa.float64())})
    parquet.write_table(empty, job.file("23"))
    assert job.status("23") == ERROR  # the first night needs rows
    assert job.err == f"ERROR: {str(job.file('23'))!r} has no rows\n"
    for k in range(24, 29):
        last = job.run(str(k), seed=k)
    parquet.write_table(empty, job.file("29"))
    assert job.status("29") == last == PASS
    assert "6 in" in job.said
    assert "1 without rows; '29.parquet' is added" in job.said
    assert job.run("29", seed=29) == PASS
    assert "'29.parquet' replaces its record" in job.said


def test_days_with_too_few_rows_are_undecided_and_add_up(job: Job) -> None:
    rows = parquet.read_table(day(job.file("all")))
    for k in range(4):
        parquet.write_table(rows.slice(40 * k, 40), job.file(str(k)))
        assert job.status(str(k)) == UNDECIDED
    assert "positive rows, and 200 are needed" in job.said
    assert len(job.records()) == 4


def removed(path: Path) -> None:
    path.unlink()


def cut_off(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def without_scores(path: Path) -> None:
    parquet.write_table(parquet.read_table(path, columns=["y"]), path)


def with_nan(path: Path) -> None:
    day(path, p=np.full(N, np.nan))


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("spoil", [removed, cut_off, without_scores, with_nan, a_folder])
def test_days_that_can_not_be_read_are_errors(spoil: Callable[[Path], None], job: Job) -> None:
    job.run("24")
    before = job.state.read_bytes()
    day(job.file("25"))
    spoil(job.file("25"))
    assert job.status("25") == ERROR
    assert (job.out, job.err.count("\n")) == ("", 1)
    assert job.err.startswith("ERROR: ")
    assert "25.parquet" in job.err or "p must be finite" in job.err
    assert job.state.read_bytes() == before


@pytest.mark.parametrize("content", quick([b"", b"{}\n", RankingSummary().to_bytes()], b""))
def test_a_damaged_summary_is_made_anew(content: bytes, job: Job) -> None:
    kept = job.folder / "24.parquet.fe"
    job.run("24")
    whole, before = kept.read_bytes(), job.state.read_bytes()
    for spoilt in (content, whole[:-1], whole[:60] + b"?" + whole[61:]):
        kept.write_bytes(spoilt)
        assert job.status("24") == UNDECIDED
        assert "is recorded already, with the same rows" in job.said
        assert ScoresSummary.from_bytes(kept.read_bytes()).n_samples == N
    assert job.state.read_bytes() == before
    kept.write_bytes(content)
    job.file("24").unlink()
    assert job.status("24") == ERROR


@pytest.mark.parametrize("change", [lambda text: text[:-20], lambda text: text.replace("4000", "5000"), lambda _: ""])
def test_a_damaged_state_is_an_error_and_stays(change: Callable[[str], str], job: Job) -> None:
    job.run("24")
    job.state.write_text(change(job.state.read_text()))
    before = job.state.read_bytes()
    assert job.run("25", seed=1) == ERROR
    assert job.err.startswith(f"ERROR: state file {str(job.state)!r} is ")
    assert job.state.read_bytes() == before


def test_another_receipt_or_rule_needs_another_state(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    job.run("24")
    before = job.state.read_bytes()
    monkeypatch.setattr(nightly, "RULES", ["roc_auc not worse than champion by 0.2"])
    assert job.run("25", seed=1) == ERROR
    assert "has 1 night with the rules" in job.err
    monkeypatch.undo()
    job.receipt.write_text(job.receipt.read_text() + " ")
    assert job.status("25") == ERROR
    assert "nights.json' has 1 night with" in job.err
    assert "use another file" in job.err
    job.receipt.unlink()
    assert job.status("25") == ERROR
    assert "release.json" in job.err
    assert job.state.read_bytes() == before


def test_a_run_that_crashes_adds_nothing(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    job.run("24")
    before = job.state.read_bytes()
    day(job.file("25"), seed=1)

    def crash(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", crash)  # in the middle of a write
    with pytest.raises(KeyboardInterrupt):
        job.status("25")
    monkeypatch.undo()
    assert job.state.read_bytes() == before
    assert not list(job.folder.glob(".*.part"))
    job.status("25")
    assert "'25.parquet' is added" in job.said


@pytest.mark.slow
def test_runs_at_once_lose_no_day(job: Job) -> None:
    names = [str(k) for k in range(24, 28)]
    for name in [*names, "24"]:
        day(job.file(name), seed=int(name))
    script = [sys.executable, str(SCRIPTS / "nightly.py")]
    where = ["--reference", str(job.receipt), "--state", str(job.state)]
    runs = [subprocess.Popen([*script, str(job.file(name)), *where]) for name in [*names, "24"]]
    assert {run.wait() for run in runs} <= {PASS, UNDECIDED}
    assert sorted(read_state(job.state, None).nights) == [f"{name}.parquet" for name in names]
    assert len(list(job.folder.glob("*.fe"))) == 4


def test_the_status_of_the_process_is_that_of_the_gate(tmp_path: Path) -> None:
    missing = str(tmp_path / "none.parquet")
    arguments = [missing, "--reference", "none.json", "--state", str(tmp_path / "state.json")]
    done = subprocess.run([sys.executable, SCRIPTS / "nightly.py", *arguments], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (ERROR, "")
    assert done.stderr == f"ERROR: {missing!r}: no such file\n"
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
