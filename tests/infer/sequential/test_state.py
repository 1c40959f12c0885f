"""The file of nightly records: what is added, replaced and refused, damage, and several writers at once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from fastevals._files import locked, write_file
from fastevals.infer.sequential.records import NightRecord
from fastevals.infer.sequential.sequence import confidence_sequence
from fastevals.infer.sequential.state import NightlyState, read_state, update_state

IDENTITY = {"models": ["champion", "challenger"], "rules": ["roc_auc >= 0.8", "recall >= 0.7"], "pos_label": 1}


def night(name: str, successes: int = 40, fingerprint: str = "") -> dict[str, NightRecord]:
    return {
        "roc_auc >= 0.8": NightRecord.of_auc(name, 0.8 + successes / 1000, 0.01, 50, 70, fingerprint=fingerprint),
        "recall >= 0.7": NightRecord.of_rate(name, successes, 50, fingerprint=fingerprint),
    }


def empty(name: str) -> dict[str, NightRecord]:
    return {rule: NightRecord(name, 0, fingerprint="none") for rule in night(name)}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "state.json"
    for name in ("mon", "tue"):
        update_state(path, IDENTITY, night(name, fingerprint=f"hash of {name}"))
    return path


# Nights ---------------------------------------------------------------------------------------------------------------


def test_a_state_is_read_as_it_was_written(file: Path) -> None:
    state = read_state(file, IDENTITY)
    assert (state.identity, state.nights) == (IDENTITY, ("mon", "tue"))
    assert list(state.rules) == IDENTITY["rules"]
    assert state.rules["recall >= 0.7"][1] == NightRecord.of_rate("tue", 40, 50, fingerprint="hash of tue")
    assert state.to_json() == file.read_text()
    assert confidence_sequence(state.rules["recall >= 0.7"]).value == 0.8
    assert read_state(file.with_name("none.json"), IDENTITY).nights == ()


def test_a_night_is_counted_once_and_replaced_if_it_was_rewritten(file: Path) -> None:
    before = file.read_bytes()
    state, outcome = update_state(file, IDENTITY, night("tue", fingerprint="hash of tue"))
    assert (outcome, state.nights, file.read_bytes()) == ("unchanged", ("mon", "tue"), before)
    state, outcome = update_state(file, IDENTITY, night("tuesday", fingerprint="hash of tue"))
    assert (outcome, state.nights, file.read_bytes()) == ("repeated", ("mon", "tue"), before)
    state, outcome = update_state(file, IDENTITY, night("mon", 30, fingerprint="another"))
    assert (outcome, state.nights) == ("replaced", ("mon", "tue"))
    assert [each.successes for each in read_state(file, IDENTITY).rules["recall >= 0.7"]] == [30, 40]
    fresh, _ = NightlyState(IDENTITY).with_night(night("mon", 30, fingerprint="another"))
    fresh, _ = fresh.with_night(night("tue", fingerprint="hash of tue"))
    assert fresh.to_json() == file.read_text()


def test_empty_nights_are_counted(file: Path) -> None:
    assert update_state(file, IDENTITY, empty("wed"))[1] == "added"
    state, outcome = update_state(file, IDENTITY, empty("thu"))  # no rows, so nothing is repeated
    assert (outcome, len(state.nights)) == ("added", 4)
    found = confidence_sequence(state.rules["recall >= 0.7"])
    assert (found.n_nights, found.n_nights_used, found.value) == (4, 2, 0.8)
    assert update_state(file, IDENTITY, night("wed", fingerprint="late"))[1] == "replaced"
    assert update_state(file, IDENTITY, empty("wed"))[1] == "replaced"


def test_nights_without_fingerprints_are_known_by_name(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    assert [update_state(path, {}, night(name))[1] for name in ("a", "b", "a")] == ["added", "added", "unchanged"]


def test_records_that_do_not_fit(file: Path) -> None:
    before = file.read_bytes()
    one = {"recall >= 0.7": NightRecord.of_rate("wed", 1, 2)}
    with pytest.raises(
        ValueError, match=r"records must be of the rules 'roc_auc >= 0.8', 'recall >= 0.7', got 'recall"
    ):
        update_state(file, IDENTITY, one)
    mixed = {**night("wed"), **{"recall >= 0.7": NightRecord.of_rate("thu", 1, 2)}}
    with pytest.raises(ValueError, match="records must be of one night and fingerprint, got 'thu', 'wed'"):
        update_state(file, IDENTITY, mixed)
    with pytest.raises(ValueError, match="records must have one record or more, got none"):
        update_state(file, IDENTITY, {})
    assert file.read_bytes() == before


# Other identities and damage ------------------------------------------------------------------------------------------


def test_a_file_of_another_identity_is_refused_and_stays(file: Path) -> None:
    before = file.read_bytes()
    others: dict[str, Any] = {
        "models": ["champion", "other"], "rules": ["roc_auc >= 0.9"], "pos_label": "yes", "label": "y",
    }  # fmt: skip
    for name, value in others.items():
        with pytest.raises(
            ValueError, match=f"state.json' has 2 nights with the {name} .*, and not .*: use another file"
        ):
            update_state(file, {**IDENTITY, name: value}, night("wed"))
    with pytest.raises(ValueError, match="the pos_label 1, and not 'nothing'"):
        read_state(file, {name: value for name, value in IDENTITY.items() if name != "pos_label"})
    assert file.read_bytes() == before


DAMAGES: dict[str, tuple[Callable[[str], str], str]] = {
    "cut": (lambda text: text[:-40], "is not JSON"),
    "empty": (lambda _: "", "is not JSON"),
    "edited": (lambda text: text.replace('"successes":[40', '"successes":[41', 1), "is damaged: its checksum does not"),
    "another file": (lambda _: '{"a": 1}', "is not a fastevals nightly state"),
    "a list": (lambda _: "[1]", "is not a fastevals nightly state"),
    "earlier": (lambda text: text.replace('"schema_version":1', '"schema_version":0'), "has schema version 0; this"),
    "later": (lambda text: text.replace('"schema_version":1', '"schema_version":9'), "has schema version 9; this"),
    "bytes": (lambda text: "\ufffd\x00" + text, "is not JSON"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_refused_and_stays(file: Path, damage: str) -> None:
    change, message = DAMAGES[damage]
    file.write_text(change(file.read_text()))
    before = file.read_bytes()
    with pytest.raises(
        ValueError, match=f"state file '.*state.json' {message}.*; restore it from a copy, or remove it"
    ):
        update_state(file, IDENTITY, night("wed"))
    assert file.read_bytes() == before


def test_white_space_and_order_do_not_matter(file: Path) -> None:
    file.write_text(json.dumps(dict(reversed(json.loads(file.read_text()).items())), indent=3))
    assert read_state(file, IDENTITY).nights == ("mon", "tue")


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"No such file or directory: '.*state.json'"):
        update_state(tmp_path / "nowhere" / "state.json", IDENTITY, night("mon"))
    with pytest.raises(OSError, match=r"Is a directory|Permission denied"):
        update_state(tmp_path, IDENTITY, night("mon"))


def test_a_crash_while_writing_leaves_the_old_file(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = file.read_bytes()

    def fail(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space left on device"):
        update_state(file, IDENTITY, night("wed"))
    assert file.read_bytes() == before
    assert sorted(each.name for each in file.parent.iterdir()) == [".state.json.lock", "state.json"]


# Several writers ------------------------------------------------------------------------------------------------------


def test_threads_lose_no_night(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    names = [f"night {k}" for k in range(24)]
    with ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(lambda name: update_state(path, IDENTITY, night(name))[1], names))
    assert outcomes == ["added"] * 24
    assert sorted(read_state(path, IDENTITY).nights) == sorted(names)


WRITER = """
import sys
from pathlib import Path
from fastevals.infer.sequential.records import NightRecord
from fastevals.infer.sequential.state import update_state

for k in range(10):
    record = NightRecord.of_rate(f"{sys.argv[2]}-{k}", 1, 2)
    assert update_state(Path(sys.argv[1]), {}, {"recall": record})[1] == "added"
"""


@pytest.mark.slow
def test_processes_lose_no_night(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(path), str(k)]) for k in range(3)]
    assert [each.wait() for each in writers] == [0, 0, 0]
    assert sorted(read_state(path, {}).nights) == sorted(f"{k}-{number}" for k in range(3) for number in range(10))


def test_a_lock_is_waited_for_and_released(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    waits = pytest.raises(TimeoutError, match=r"another process has locked it for 0.05 s: '.*state.json'")
    with locked(path), waits, locked(path, seconds=0.05):
        pass
    with pytest.raises(KeyError), locked(path):
        raise KeyError
    with locked(path, seconds=0):
        write_file(path, b"x", durable=True)
    assert path.read_bytes() == b"x"
