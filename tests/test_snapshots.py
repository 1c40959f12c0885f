from __future__ import annotations

import pytest

from tests import snapshots


def test_the_stub_has_the_public_names() -> None:
    assert snapshots.STUB.read_text() == snapshots.stub()


def test_public_names() -> None:
    assert list(snapshots.differences(snapshots.public_names(), snapshots.read(snapshots.API))) == []


THEN = snapshots.read(snapshots.SEEDED)
SAME = THEN["machine"] == snapshots.machine()


@pytest.mark.parametrize("name", snapshots.CASES)
def test_seeded_results(name: str) -> None:
    """Results agree to the bit on the snapshot's machine; elsewhere libraries round differently."""
    relative = 0.0 if SAME else snapshots.RELATIVE
    assert list(snapshots.differences(snapshots.seeded(name), THEN["results"][name], relative=relative)) == []


def test_differences_are_seen() -> None:
    then = {"a": [1.0, 2.0], "b": None}
    assert list(snapshots.differences({"a": [1.0, 2.0], "b": None}, then)) == []
    assert list(snapshots.differences({"a": [1.0, 2.0000001], "b": None}, then)) == ["/a/1: 2.0000001, was 2.0"]
    assert list(snapshots.differences({"a": [1.0, 2.0000001], "b": None}, then, relative=1e-6)) == []
    assert list(snapshots.differences({"a": [1, 2.0], "b": None}, then)) == ["/a/0: 1, was 1.0"]
    assert list(snapshots.differences({"a": [1.0, 2.0]}, then)) == ["/b: gone"]
    assert list(snapshots.differences({"b": None, "a": [1.0, 2.0]}, then)) == [
        "/: keys in the order ['b', 'a'], were ['a', 'b']".replace("/:", ":")
    ]
