"""Summaries with forged bytes and a valid checksum: a clear error, or a readable summary."""

from __future__ import annotations

import copy
import hashlib
import os
import pickle
import pickletools
import re
import struct
import threading
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import fastevals
from fastevals._kernels.probabilities import CELLS
from fastevals.reading.rows import LeftOut
from fastevals.scale import (
    ClassScoresSummary,
    ConfusionSummary,
    GroupSummary,
    ProbabilitySummary,
    RankingSummary,
    TargetSummary,
)
from fastevals.scale.fields import Room
from fastevals.scale.payload import pack, unpack
from fastevals.scale.scores import CountedBlock, ScoresSummary
from fastevals.show import cli
from tests.scale.test_summaries import KINDS, example

Head, Arrays = dict[str, Any], dict[str, NDArray[np.uint64]]


def scores_summary(weight: str | None = None) -> ScoresSummary:
    """Return a summary as by `fastevals summarize`, of two models by a column with three values."""
    rng = np.random.default_rng(1)
    blocks = {}
    for value in ("a", "b", "c"):
        y = (rng.random(30) < 0.5).astype(np.int64)
        summaries, probabilities = {}, {}
        for name in ("p", "q"):
            summaries[name], probabilities[name] = RankingSummary(cells=16, at=[0.5]), ProbabilitySummary()
            for each in (summaries[name], probabilities[name]):
                each.update(y, np.round(rng.random(30), 1 + (name == "q") * 3))
        blocks[value] = CountedBlock(30, int(y.sum()), summaries, probabilities)
    left_out = LeftOut(3, {"p": 2, "q": 2}, {"p": 1, "q": 1})
    return ScoresSummary("y", ("p", "q"), weight, "day", (1, 0), blocks, left_out, 0, {"row group 0": 90}, ["x", None])


EXAMPLES: dict[str, Callable[[], Any]] = {
    **{name: lambda name=name: example(name) for name in KINDS},
    "weights": lambda: RankingSummary.from_cells([0.1, 0.3], [0.2, 0.3], [2, 1], [5, 0], at=[0.3]),
    "numbers of groups": lambda: _grouped(np.array([3.5, -1.0, 2.0])),
    "scores": scores_summary,
    "squares": lambda: weighted_rows(),
    "squares in units": lambda: weighted_rows(largest_weight=4.0),
    "squares of probabilities": lambda: weighted_probabilities(),
    "squares of targets": lambda: weighted_targets(),
    "squares of classes": lambda: weighted_classes(),
}


def weighted_probabilities() -> ProbabilitySummary:
    """Return a small summary of weighted rows."""
    summary = ProbabilitySummary()
    summary.update(np.arange(20) % 2, np.arange(20) / 20, sample_weight=np.arange(20) % 3)
    return summary


def weighted_classes() -> ClassScoresSummary:
    """Return a small summary of weighted rows."""
    summary = ClassScoresSummary(cells=256, n_bins=3)
    p = np.random.default_rng(7).multinomial(16, np.full(3, 1 / 3), 20) / 16
    summary.update(np.arange(20) % 3, p, sample_weight=np.arange(20) % 4)
    return summary


def weighted_targets() -> TargetSummary:
    """Return a small summary of weighted rows."""
    summary = TargetSummary()
    summary.update(np.arange(20.0), np.arange(20.0) ** 1.1, sample_weight=np.arange(20) % 3)
    return summary


def weighted_rows(**options: Any) -> RankingSummary:
    """Return a small summary of weighted rows."""
    summary = RankingSummary(cells=16, at=[0.5], **options)
    rng = np.random.default_rng(5)
    summary.update(np.arange(20) % 2, np.round(rng.random(20), 1), sample_weight=rng.integers(1, 5, 20))
    return summary


def _grouped(groups: NDArray[Any]) -> GroupSummary:
    summary = GroupSummary(most_scores=100)
    summary.update([0, 1, 1, 0, 1, 0], [0.1, 0.2, 0.3, 0.1, 0.4, 0.2], np.repeat(groups, 2), sample_weight=[1, 2] * 3)
    return summary


def parts_of(data: bytes, kind: str) -> tuple[Head, Arrays]:
    fields = unpack(data, kind)
    return fields._head, fields._arrays


# What is forged -------------------------------------------------------------------------------------------------------

VALUES: list[Any] = [
    None, True, False, 0, -1, 1, 7, 2**31, 2**63, -(2**70), 10**40, 0.5, -0.0, 1e308, "", "x", "0x1p-1074", "nan",
    "inf", "-0x1", "0x" + "f" * 300, "0x1p+1023", "g1", "\0", "\ud800", [], [1], ["inf"], [[[]]], {}, {"a": 1},
]  # fmt: skip
NUMBERS = [0, 1, 2, 3, 2**16, 2**31, 2**32, 2**53, 2**62, 2**63 - 1, 2**63, 2**64 - 1, 0x7FF8 << 48, 0x7FF0 << 48,
           0xFFF0 << 48, 0x3FE0 << 48, 0xBFF0 << 48]  # fmt: skip


def forge_item(rng: np.random.Generator, item: Any) -> Any:
    """Return a replacement for an item of the head, or for one of its own items."""
    if isinstance(item, (list, dict)) and item and rng.random() < 0.8:
        item = copy.copy(item)
        keys = list(item) if isinstance(item, dict) else list(range(len(item)))
        key = keys[int(rng.integers(len(keys)))]
        match int(rng.integers(6)) if isinstance(item, list) else 0:
            case 1:
                del item[key]
            case 2:
                item.append(copy.deepcopy(item[key]))
            case 3:
                item.reverse()
            case 4:
                item[key], item[0] = item[0], item[key]
            case _:
                item[key] = forge_item(rng, item[key])
        return item
    if isinstance(item, int) and rng.random() < 0.5:
        return item + int(rng.choice([-1, 1, 2, 100]))
    if isinstance(item, str) and item and rng.random() < 0.3:
        return item[:-1] if rng.random() < 0.5 else item + item[-1] * int(rng.choice([1, 900, 5000]))
    return copy.deepcopy(VALUES[int(rng.integers(len(VALUES)))])


def forge_array(rng: np.random.Generator, array: NDArray[np.uint64]) -> NDArray[np.uint64]:
    array = array.copy()
    n = int(rng.integers(array.size)) if array.size else 0
    match int(rng.integers(9)):
        case 0 | 1 | 2 if array.size:
            array[n] = np.uint64(NUMBERS[int(rng.integers(len(NUMBERS)))])
        case 3 if array.size:
            array[n] = array[int(rng.integers(array.size))]
        case 4 if array.size:
            array[n] ^= np.uint64(1)
        case 5:
            array = array[:n]
        case 6:
            array = np.append(array, rng.integers(0, 2**64, int(rng.integers(1, 3)), dtype=np.uint64))
        case 7:
            array = array[::-1].copy()
        case _:
            array[:] = np.uint64(NUMBERS[int(rng.integers(len(NUMBERS)))])
    return array


def forged(rng: np.random.Generator, data: bytes, kind: str) -> bytes:
    """Return bytes with some fields changed and a valid checksum."""
    head, arrays = parts_of(data, kind)
    for _ in range(int(rng.integers(1, 3))):
        names, tables = list(head), list(arrays)
        name, table = names[int(rng.integers(len(names)))], tables[int(rng.integers(len(tables)))]
        match int(rng.integers(8)):
            case 0:
                del head[name]
                if not head:
                    return pack(kind, head, arrays)
            case 1:
                other = names[int(rng.integers(len(names)))]
                head[name], head[other] = head[other], head[name]
            case 2:
                other = tables[int(rng.integers(len(tables)))]
                arrays[table], arrays[other] = arrays[other], arrays[table]
            case 3:
                head["more"] = 1
            case 4 | 5:
                arrays[table] = forge_array(rng, arrays[table])
            case _:
                head[name] = forge_item(rng, head[name])
    if rng.random() < 0.5:
        forge_inside(rng, kind, head, arrays)
    return pack(kind, head, arrays)


def forge_inside(rng: np.random.Generator, kind: str, head: Head, arrays: Arrays) -> None:
    """Forge a summary within a summary."""
    name, sizes = {"target": ("errors", [head.get("size")]), "scores": ("summaries", head.get("sizes"))}.get(
        kind, ("", None)
    )
    if name not in arrays or not sizes or not isinstance(sizes, list) or {type(size) for size in sizes} != {int}:
        return
    content, parts = arrays[name].tobytes(), []
    for size in sizes:
        parts, content = [*parts, content[:size]], content[size:]
    k = int(rng.integers(len(parts)))
    inner = "ranking" if b'"ranking"' in parts[k][:200] else "probability"
    try:
        parts[k] = forged(rng, parts[k], inner)
    except ValueError:  # no longer a summary
        return
    if kind == "target":
        head["size"] = len(parts[0])
    else:
        head["sizes"] = [len(part) for part in parts]
    content = b"".join(parts)
    arrays[name] = np.frombuffer(content + bytes(-len(content) % 8), np.uint64)


# What is read ---------------------------------------------------------------------------------------------------------

OTHERS = (
    "TypeError|AttributeError|IndexError|KeyError|NoneType|object|invalid literal|int\\(\\)|cannot|broadcast|unpack "
)


def read_all(summary: Any, kind: str) -> list[Callable[[], Any]]:
    """Return everything that a summary can answer."""
    calls: list[Callable[[], Any]] = [summary.to_bytes, lambda: repr(summary), lambda: summary.merge(summary)]
    calls.append(lambda: pickle.loads(pickle.dumps(summary)).to_bytes())
    if kind in KINDS:
        calls.append(lambda: KINDS[kind].read(summary))
    if isinstance(summary, RankingSummary):
        ranking = summary.ranking()
        calls += [ranking.roc_auc, ranking.average_precision, ranking.roc_curve, lambda: ranking.best_threshold("f1")]
        calls += [lambda: ranking.confusion_at(0.5), lambda: ranking.threshold_for(recall=0.5)]
        calls.append(lambda: fastevals.bootstrap(summary, "roc_auc", n_resamples=9, rng=0))
        calls.append(lambda: fastevals.delong(summary))
        calls.append(lambda: summary.update([0, 1], [0.1, 0.9]))
    elif isinstance(summary, ProbabilitySummary):
        calls += [
            summary.calibration_curve,
            summary.log_loss,
            summary.squares,
            lambda: summary.update([0, 1], [0.1, 0.9]),
        ]
    elif isinstance(summary, ConfusionSummary):
        calls += [lambda: summary.matrix().accuracy(), lambda: summary.matrix().cohen_kappa()]
        calls += [lambda: fastevals.bootstrap(summary, "accuracy", n_resamples=9, rng=0)]
    elif isinstance(summary, ClassScoresSummary):
        calls += [summary.rankings, summary.calibration_curve, summary.micro_ranking, summary.top_label_curve]
        calls += [lambda: fastevals.bootstrap(summary, "accuracy", n_resamples=9, rng=0)]
        calls += [lambda: summary.confidence_interval("log_loss"), lambda: summary.metric("f1")]
        calls += [lambda: summary.update(["ant", "bee"], [[0.5, 0.25, 0.25]] * 2)]
    elif isinstance(summary, GroupSummary):
        calls += [
            lambda: [each.roc_auc() for each in summary.rankings().values() if each.n_positives + each.n_negatives]
        ]
        calls += [lambda: summary.update([0, 1], [0.1, 0.9], ["x", "x"])]
    elif isinstance(summary, ScoresSummary):
        calls.append(lambda: fastevals.report(summary, n_resamples=0).to_dict())
    else:
        calls += [lambda: summary.confidence_interval("r2"), lambda: summary.update([1.0], [2.0])]
    return calls


def assert_ours(call: Callable[[], Any], said: str = "") -> Any:
    """Call; only a ValueError with fastevals' message may be raised, then return None."""
    try:
        return call()
    except ValueError as error:
        message = str(error)
    assert message.startswith(said)
    assert not re.search(OTHERS, re.sub("'.*'", "", message)), message
    return None


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::fastevals.UndefinedMetricWarning")
@pytest.mark.parametrize("n", [121, 2000])
@pytest.mark.parametrize("name", EXAMPLES)
def test_forged_bytes_are_an_error_or_can_be_read(name: str, n: int) -> None:
    whole = EXAMPLES[name]()
    data, rng, read = whole.to_bytes(), np.random.default_rng(3), 0
    for _ in range(n):
        changed = forged(rng, data, whole.KIND)
        summary = assert_ours(lambda changed=changed: type(whole).from_bytes(changed), "data is ")
        if summary is None:
            continue
        read += 1
        for call in read_all(summary, whole.KIND):
            assert_ours(call)
    assert read < n / 2


@pytest.mark.parametrize(
    ("labels", "counts", "message"),
    [
        (["ant", 5], [1, 0, 0, 1], "its labels are of two types"),
        ([True, 2], [1, 0, 0, 1], "its labels are of two types"),
        (["b", "a"], [1, 0, 0, 1], "its labels are not in order"),
        ([3, 3], [1, 0, 0, 1], "its labels are not in order"),
        ([None, None], [1, 0, 0, 1], "labels must be a list of labels, got a list"),
        ([["a"], ["b"]], [1, 0, 0, 1], "labels must be a list of labels, got a list"),
        ("ab", [1, 0, 0, 1], "labels must be a list of labels, got 'ab'"),
        ([2**63, 2**64], [1, 0, 0, 1], "labels must be a list of labels, got a list"),
        ([-1, 2**63], [1, 0, 0, 1], "its integer labels must fit in 64 bits"),
        (["a", "b"], [1, 0, 0], "counts must have 4 values, got 3"),
        (["a"], [0], "its rows must add up to 1 at least"),
        (["a", "b"], [2**62, 0, 0, 2**62], "its rows must add up to 1 at least, and to"),
        (["a", "b"], [2**63, 0, 0, 0], "counts must be integers up to"),
    ],
)  # fmt: skip
def test_forged_labels(labels: Any, counts: list[int], message: str) -> None:
    head = {"labels": labels, "pos_label": None, "largest_weight": None}
    data = pack("confusion", head, {"counts": np.array(counts, np.uint64)})
    with pytest.raises(ValueError, match=f"^data is damaged: {message}"):
        ConfusionSummary.from_bytes(data)


@pytest.mark.parametrize(
    ("name", "places", "change", "message"),
    [
        ("squares", [0], -1000, "squares must be integers up to|its squares are not those"),
        ("squares", [0], 1000, "its squares are not those"),  # exceeds the squared weight of the cell
        ("squares", slice(None), 2**40, "its squares are not those"),  # the lower limbs are too large
        ("rows", None, ["0x1", "0x1"], "its rows, squares and cubes are not those"),  # W**2 > n Q
        ("rows", None, ["0x0", "0xa"], "its rows, squares and cubes are not those"),
        ("rows", None, ["0xa", "0xff"], "its rows, squares and cubes are not those"),  # exceeds their weight
        ("cubes", None, ["0x1", "0x1"], "its rows, squares and cubes are not those"),
        ("cubes", None, ["0xffffff", "0xffffff"], "its rows, squares and cubes are not those"),
        ("rows", None, [10, 10], "rows must be a list of 2 integers in base 16"),
    ],
)  # fmt: skip
def test_forged_squares(name: str, places: Any, change: Any, message: str) -> None:
    head, arrays = parts_of(weighted_rows().to_bytes(), "ranking")
    if places is None:
        head[name] = change
    else:
        arrays[name] = arrays[name].copy()
        arrays[name].view(np.int64)[places] += change
    with pytest.raises(ValueError, match=f"^data is damaged: {message}"):
        RankingSummary.from_bytes(pack("ranking", head, arrays))


# Bytes that are no summary, or far more than they seem ----------------------------------------------------------------


@pytest.mark.parametrize("pair", [[1, "0x1"], ["0x1", 1], ["0x1"], ["0x1", "0x3"], "0x1"])
def test_forged_sums(pair: Any) -> None:
    head, arrays = parts_of(example("target").to_bytes(), "target")
    data = pack("target", {**head, "sums": [pair, *head["sums"][1:]]}, arrays)
    with pytest.raises(ValueError, match=r"^data is .*sums must be a list of .* pairs of integers"):
        TargetSummary.from_bytes(data)


def test_forged_places() -> None:
    summary = ProbabilitySummary()
    summary.update([0, 1], [0.3, 0.5])  # 1/2 is in the last cell
    head, arrays = parts_of(summary.to_bytes(), "probability")
    assert ProbabilitySummary.from_bytes(pack("probability", head, arrays)).metrics() == summary.metrics()
    past = pack("probability", head, arrays | {"places": np.array([arrays["places"][0], 8 * CELLS], np.uint64)})
    with pytest.raises(ValueError, match="places must be integers up to"):
        ProbabilitySummary.from_bytes(past)


def sealed(content: bytes) -> bytes:
    return content + hashlib.blake2b(content, digest_size=16).digest()


def with_packed(size: int, packed: bytes) -> bytes:
    """Return a summary's bytes with an array that claims to have `size` values."""
    data = pack("x", {}, {"a": np.empty(0, np.uint64)})[: -16 - len(zlib.compress(b"", 1)) - 16]
    return sealed(data + struct.pack("<QQ", size, len(packed)) + packed)


def test_an_array_has_as_many_values_as_it_says() -> None:
    planes = np.arange(10, dtype=np.uint64).view(np.uint8).reshape(-1, 8).T.tobytes()
    packed = zlib.compress(planes, 1)
    assert pack("x", {}, {"a": np.arange(10)}) == with_packed(10, packed)
    assert unpack(with_packed(10, packed), "x").array("a").tolist() == list(range(10))
    for size, wrong in (
        (9, packed),
        (11, packed),
        (10, packed[:-1]),
        (10, packed + b"\0"),
        (10, packed[:20]),
        (0, b""),
    ):
        with pytest.raises(ValueError, match="data is damaged: a has another length than it says"):
            unpack(with_packed(size, wrong), "x")
    with pytest.raises(ValueError, match="data is damaged: a can't be unpacked"):
        unpack(with_packed(10, b"no zlib at all"), "x")
    with pytest.raises(ValueError, match="data is damaged: a is longer than the data"):
        unpack(with_packed(10**9, packed), "x")


def test_an_array_is_unpacked_as_far_as_it_says() -> None:
    data = with_packed(0, zlib.compress(bytes(1 << 24)))
    tracemalloc.start()
    with pytest.raises(ValueError, match="data is damaged: a has another length than it says"):
        unpack(data, "x")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1 << 20


@pytest.mark.parametrize(
    "head", [b"[" * 100_000, b"NaN", b'{"kind": "x", "arrays": [], "b": Infinity}', b'{"a": "\xff"}']
)
def test_a_head_is_json(head: bytes) -> None:
    data = sealed(struct.pack("<9sHII", b"fastevals", 1, len(head), 0) + head)
    with pytest.raises(ValueError, match="data is damaged: its head is not JSON"):
        unpack(data, "x")


def bomb(n: int) -> bytes:
    """Return the bytes of a summary with a model of many cells, which are compressed twice."""
    deltas = np.ones(n, np.uint64)
    deltas[0] = 2**62
    none = np.zeros(n, np.uint64)
    head = {"cells": 2**26, "labels": [1, 0], "least": 1, "largest_weight": None}
    arrays = {"at": none[:0], "low": deltas, "width": none, "negatives": deltas // deltas, "positives": none}
    inner = pack("ranking", head, arrays)
    outer, _ = parts_of(ScoresSummary("y", ("p",)).to_bytes(), "scores")
    outer |= {"labels": [1, 0], "values": [None], "rows": [[n, 0]], "sizes": [len(inner)], "has_probabilities": False}
    content = np.frombuffer(inner + bytes(-len(inner) % 8), np.uint64)
    return pack("scores", outer, {"summaries": content})


@pytest.mark.parametrize("n", [2**16, pytest.param(2**23, marks=pytest.mark.slow)])
def test_bytes_unpack_to_no_more_than_they_may(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    data = bomb(n)
    if n == 2**16:
        assert ScoresSummary.from_bytes(data).n_samples == n
        monkeypatch.setattr("fastevals.scale.fields.ROOM", 1 << 20)
    assert len(data) < 20_000
    tracemalloc.start()
    with pytest.raises(ValueError, match=rf"^data is damaged: {len(data)} bytes must unpack to at most \d+$"):
        ScoresSummary.from_bytes(data)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < (8 << 20 if n == 2**16 else 4 << 27)


def test_there_is_room_for_what_zlib_packs() -> None:
    for stored, most in ((10, 2**27), (10**6, 1032 * 10**6)):
        room = Room(stored)
        room.take(most - 8)
        room.take(8)
        with pytest.raises(ValueError, match=f"^{stored} bytes must unpack to at most {most}$"):
            room.take(1)


@pytest.mark.slow
def test_pickles_of_summaries_name_them_alone() -> None:
    for make in EXAMPLES.values():
        summary = make()
        stream = pickle.dumps(summary, protocol=2)  # with names as text
        named = {argument for code, argument, _ in pickletools.genops(stream) if code.name == "GLOBAL"}
        kind = type(summary)
        assert named <= {"__builtin__ getattr", f"{kind.__module__} {kind.__name__}", "_codecs encode"}


# Files ----------------------------------------------------------------------------------------------------------------


def run_within(seconds: float, *arguments: str) -> int:
    """Return a command's exit status; fail if it hangs."""
    status: list[int] = []
    thread = threading.Thread(target=lambda: status.append(cli.main(list(arguments))), daemon=True)
    thread.start()
    thread.join(seconds)
    assert status, "it hangs"
    return status[0]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_a_pipe_is_no_summary(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(tmp_path / "x.fe")
    assert run_within(20, "report", str(tmp_path / "x.fe")) == 2
    assert "x.fe': it is not a regular file" in capsys.readouterr().err
    (tmp_path / "rows.csv").write_text("y,p\n0,0.1\n1,0.9\n")
    os.mkfifo(tmp_path / "out.fe.part")
    arguments = [str(tmp_path / "rows.csv"), "--label", "y", "--score", "p", "--out", str(tmp_path / "out.fe")]
    assert run_within(20, "summarize", *arguments) == 2
    assert f"--out must name a file, got {str(tmp_path / 'out.fe.part')!r}" in capsys.readouterr().err
    os.mkfifo(tmp_path / "report.json")  # replaces an earlier run's numbers
    report = ["report", *arguments[:-2], "--resamples", "0", "--out", str(tmp_path)]
    assert run_within(60, *report) == 2
    assert "report.json" in capsys.readouterr().err


def test_a_file_is_as_long_as_it_says_before_it_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, data = tmp_path / "x.fe", scores_summary().to_bytes()
    path.write_bytes(data)
    assert cli.main(["report", str(path), "--resamples", "0"]) == 0
    capsys.readouterr()
    os.truncate(path, 10 << 30)  # the disk holds only the first bytes
    tracemalloc.start()
    assert cli.main(["report", str(path)]) == 2
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert f"it should have {len(data)} bytes, but has {10 << 30}" in capsys.readouterr().err
    assert peak < 20 << 20
    for start in (b"", b"fastevals", data[:11] + b"\xff" * 8, data[:19], data[:200]):
        path.write_bytes(start)
        assert cli.main(["report", str(path)]) == 2
        assert capsys.readouterr().err.count("x.fe': data is ") == 1


def test_a_file_larger_than_memory_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x.fe").write_bytes(scores_summary().to_bytes())
    monkeypatch.setattr("fastevals.scale.payload.free_bytes", lambda share: 1000)
    assert cli.main(["report", str(tmp_path / "x.fe")]) == 2
    assert "bytes are more than 1000, half of the memory that is free" in capsys.readouterr().err
