"""Kept summaries: used while the file is the same, made anew when it changed, and never damaged."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastevals
from fastevals.scale import ScoresSummary, cached_summary, identity
from fastevals.scale.identity import FileIdentity

pa = pytest.importorskip("pyarrow")
from pyarrow import parquet  # noqa: E402

ROLES: dict[str, Any] = {"label": "y", "score": "p"}
OLD = 1_700_000_000 * 10**9  # a time of change, long ago


def rows(seed: int, n: int = 200) -> Any:
    rng = np.random.default_rng(seed)
    return pa.table({"y": rng.integers(0, 2, n), "p": rng.random(n).round(3), "q": rng.random(n)})


def write(path: Path, seed: int = 0, n: int = 200) -> Path:
    if path.suffix == ".csv":
        lines = [f"{row['y']},{row['p']:.3f},{row['q']:.3f}" for row in rows(seed, n).to_pylist()]
        path.write_text("\n".join(["y,p,q", *lines]) + "\n")
    else:
        parquet.write_table(rows(seed, n), path)
    return path


def age(path: Path) -> Path:
    """Give a file old times, and the identity of its summary as if it had been counted long after they were set."""
    os.utime(path, ns=(OLD, OLD))
    return path


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the titles of the files that are counted."""
    done: list[str] = []
    count = identity.count_scores

    def counting(reader: Any, *arguments: Any, **options: Any) -> Any:
        done.append(reader.files.title)
        return count(reader, *arguments, **options)

    monkeypatch.setattr(identity, "count_scores", counting)
    return done


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_file_is_counted_once(suffix: str, tmp_path: Path, counted: list[str]) -> None:
    file = write(tmp_path / f"a{suffix}")
    found = [cached_summary(file, **ROLES) for _ in range(3)]
    assert len(counted) == 1
    assert found[0].to_bytes() == found[1].to_bytes() == found[2].to_bytes()
    kept = tmp_path / f"a{suffix}.fe"
    assert sorted(tmp_path.iterdir()) == [file, kept]
    table = rows(0)
    expected = fastevals.Ranking(table["y"].to_numpy(), table["p"].to_numpy()).roc_auc()
    assert found[2]["p"].ranking().roc_auc() == expected
    assert fastevals.report(kept, n_resamples=0).to_dict()["blocks"][0]["n_samples"] == 200


def test_a_kept_summary_has_the_bytes_of_summarize_apart_from_the_identity(tmp_path: Path) -> None:
    from fastevals.show import cli

    file = write(tmp_path / "a.parquet")
    command = ["summarize", str(file), "--label", "y", "--score", "p", "--out", str(tmp_path / "b.fe")]
    assert cli.main(command) == 0
    assert cached_summary(file, **ROLES).to_bytes() == (tmp_path / "b.fe").read_bytes()
    assert FileIdentity.of_summary(ScoresSummary.from_bytes((tmp_path / "b.fe").read_bytes())) is None


def test_a_summary_of_another_command_is_not_replaced(tmp_path: Path) -> None:
    from fastevals.show import cli

    file, place = write(tmp_path / "a.csv"), tmp_path / "b.fe"
    assert cli.main(["summarize", str(file), "--label", "y", "--score", "p", "--out", str(place)]) == 0
    before = place.read_bytes()
    with pytest.raises(ValueError, match=r"kept must be free or a summary that cached_summary wrote, got .*b\.fe"):
        cached_summary(file, place, label="y", score="p")
    assert place.read_bytes() == before


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_file_rewritten_in_the_same_second_with_the_same_size_is_counted_anew(
    suffix: str, tmp_path: Path, counted: list[str]
) -> None:
    file = write(tmp_path / f"a{suffix}")
    state = file.stat()
    before = cached_summary(file, **ROLES)
    content = bytearray(file.read_bytes())
    other = write(tmp_path / f"b{suffix}", 1).read_bytes()
    if len(other) != len(content):  # Parquet packs other values in another size: swap two bytes of the data instead
        at = content.index(rows(0)["q"][7].as_py().hex().encode()[:0] or np.float64(rows(0)["q"][7].as_py()).tobytes())
        content[at] ^= 1
        other = bytes(content)
    file.write_bytes(other)
    os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert file.stat().st_size == state.st_size
    after = cached_summary(file, label="y", score=["p"])
    assert len(counted) == 2
    assert suffix != ".csv" or before.to_bytes() != after.to_bytes()


def test_times_of_a_coarse_file_system_do_not_hide_a_change(
    tmp_path: Path, counted: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """All times are the same, and the change lies between the ends that are hashed first."""
    monkeypatch.setattr(identity, "END_BYTES", 16)
    second = time.time_ns() // 10**9 * 10**9
    monkeypatch.setattr(identity, "_times", lambda _: (second, second))
    monkeypatch.setattr(identity, "RACY_NS", 10**11)
    file = write(tmp_path / "a.csv")
    cached_summary(file, **ROLES)
    text = file.read_text()
    middle = text.index("\n0,", 1000) + 1
    file.write_text(text[:middle] + "1" + text[middle + 1 :])
    assert cached_summary(file, **ROLES).n_positives == int(rows(0)["y"].to_numpy().sum()) + 1
    assert len(counted) == 2


def test_a_copy_with_other_times_is_the_same_file(tmp_path: Path, counted: list[str]) -> None:
    file = write(tmp_path / "a.csv")
    cached_summary(file, **ROLES)
    content = file.read_bytes()
    file.unlink()
    file.write_bytes(content)
    age(file)
    cached_summary(file, **ROLES)
    kept = FileIdentity.of_summary(ScoresSummary.from_bytes((tmp_path / "a.csv.fe").read_bytes()))
    assert kept is not None
    assert kept.modified == OLD  # so that the content is not read again
    assert len(counted) == 1


def test_an_old_file_is_known_by_its_times_without_reading_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identity, "RACY_NS", 0)
    file = age(write(tmp_path / "a.csv"))
    cached_summary(file, **ROLES)
    monkeypatch.setattr(identity.hashlib, "file_digest", lambda *_: pytest.fail("the content was read"))
    assert cached_summary(file, **ROLES).n_samples == 200


@pytest.mark.parametrize("damage", [b"", b"something else", "half", "one byte"])
def test_a_damaged_kept_summary_is_made_anew(damage: Any, tmp_path: Path, counted: list[str]) -> None:
    file, kept = write(tmp_path / "a.csv"), tmp_path / "a.csv.fe"
    cached_summary(file, **ROLES)
    whole = kept.read_bytes()
    middle = len(whole) // 2
    parts = {"half": whole[:middle], "one byte": whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :]}
    kept.write_bytes(parts.get(damage, damage))
    cached_summary(file, **ROLES)
    assert len(counted) == 2
    assert kept.read_bytes() == whole
    kept.write_bytes(parts.get(damage, damage))
    file.unlink()
    with pytest.raises(ValueError, match=r"no such file, and its kept summary '.*a.csv.fe': "):
        cached_summary(file, **ROLES)


def test_other_columns_or_options_are_counted_anew(tmp_path: Path, counted: list[str]) -> None:
    file = write(tmp_path / "a.csv")
    for number, options in enumerate(
        (ROLES, ROLES | {"score": ["p", "q"]}, ROLES | {"pos_label": 0}, ROLES | {"at": [0.5]}, ROLES | {"cells": 64}),
        1,
    ):
        for _ in range(2):
            cached_summary(file, **options)
            assert len(counted) == number
    file.unlink()
    assert cached_summary(file, **ROLES | {"cells": 64}).n_samples == 200
    with pytest.raises(ValueError, match="it was counted with other columns or options"):
        cached_summary(file, **ROLES)


def test_a_file_that_is_gone_has_its_kept_summary(tmp_path: Path) -> None:
    file = write(tmp_path / "a.csv")
    with pytest.raises(ValueError, match=r"gone.csv': no such file, and no summary of it is kept"):
        cached_summary(tmp_path / "gone.csv", **ROLES)
    before = cached_summary(file, tmp_path / "kept.fe", **ROLES)
    file.unlink()
    assert cached_summary(file, tmp_path / "kept.fe", **ROLES).to_bytes() == before.to_bytes()


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, kept = write(tmp_path / "a.csv"), tmp_path / "a.csv.fe"
    cached_summary(file, **ROLES)
    before, count = kept.read_bytes(), identity.count_scores

    def changing(*arguments: Any, **options: Any) -> Any:
        found = count(*arguments, **options)
        write(file, 3)
        return found

    monkeypatch.setattr(identity, "count_scores", changing)
    write(file, 2)
    with pytest.raises(ValueError, match=r"a.csv' changed while it was read: count it when it is written completely"):
        cached_summary(file, **ROLES)
    assert kept.read_bytes() == before
    assert sorted(tmp_path.iterdir()) == [file, kept]


def test_what_is_wrong_with_the_arguments(tmp_path: Path) -> None:
    file = write(tmp_path / "a.csv")
    wrong: list[tuple[Any, dict[str, Any], str]] = [
        (file, {"kept": tmp_path / "none" / "x.fe"}, "kept '.*x.fe' can't be written: No such file or directory"),
        (file, {"kept": file / "x.fe"}, "kept '.*x.fe' can't be written: Not a directory"),
        (file, {"kept": "x.csv"}, "kept must be a file that ends with .fe and is not the file to count, got 'x.csv'"),
        (5, {}, "path must be the path of a file, got 5"),
        (tmp_path, {}, "is a directory; give one file"),
        (file, {"score": "z"}, "score 'z': '.*a.csv' has no such column"),
        (file, {"score": []}, "score must name a column"),
        (file, {"cross": True, "by": "q"}, r"cross needs two or more columns in by, got \['q'\]"),
        (file, {"cross": "yes"}, "cross must be"),
        (file, {"cells": 0}, "cells must be an integer from 1 to 67108864, got 0"),
        (file, {"on_invalid": "keep"}, "on_invalid must be one of 'raise', 'drop'; got 'keep'"),
    ]
    for path, options, message in wrong:
        with pytest.raises((ValueError, OSError), match=message):
            cached_summary(path, **ROLES | options)
    assert [each.name for each in tmp_path.iterdir()] == ["a.csv"]


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_is_read_only(tmp_path: Path) -> None:
    file = write(tmp_path / "a.csv")
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(ValueError, match=r"a.csv.fe' can't be written: Permission denied"):
            cached_summary(file, **ROLES)
    finally:
        tmp_path.chmod(0o700)


def test_a_kept_summary_is_read_where_nothing_can_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write(tmp_path / "a.csv")
    cached_summary(file, **ROLES)

    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(identity, "write_file", refuse)
    age(file)
    assert cached_summary(file, **ROLES).n_samples == 200


@pytest.mark.slow
def test_processes_that_count_at_once_leave_a_whole_summary(tmp_path: Path) -> None:
    file = write(tmp_path / "a.csv", n=5000)
    code = (
        "import sys, pathlib; from fastevals.scale import cached_summary\n"
        "for _ in range(5):\n"
        "    print(cached_summary(sys.argv[1], label='y', score='p').n_samples)\n"
        "    pathlib.Path(sys.argv[1] + '.fe').unlink(missing_ok=True)\n"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", code, str(file)], stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    assert [each.communicate()[0].split() for each in running] == [["5000"] * 5] * 2
    assert [each.returncode for each in running] == [0, 0]
    cached_summary(file, **ROLES)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.csv", "a.csv.fe"]
