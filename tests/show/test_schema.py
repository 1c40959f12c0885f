"""The JSON of the commands: docs/json.md describes each key with its type, and no other key."""

from __future__ import annotations

import contextlib
import io
import json
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin, is_typeddict

import numpy as np
import pytest

from fastevals.show import cli, schema
from fastevals.show.report import intervals
from tests import json_page, snapshots

Seen = set[tuple[str, str]]
N = 240
COLUMNS: dict[str, Any] = {
    "y": snapshots.Y, "z": snapshots.Y, "s": snapshots.SCORES, "t": snapshots.OTHER, "w": snapshots.WEIGHTS,
    "k": snapshots.GROUPS % 2, "g": snapshots.GROUPS, "r": (snapshots.SCORES > 0.5).astype(int),
    "f": 1 + snapshots.GROUPS % 3, "v": np.arange(N) // 2,
    "c": snapshots.CLASSES, "a": snapshots.GUESSES, "b": snapshots.OTHER_GUESSES, "d": np.roll(snapshots.CLASSES, 1),
    **{f"u_{name}": (name == snapshots.GUESSES).astype(int) for name in ("ant", "bee", "cat")},
    **{f"x_{name}": 0.1 + (name == snapshots.OTHER_GUESSES) for name in ("ant", "bee", "cat")},
    **{f"z_{name}": 0.2 + (name == np.roll(snapshots.CLASSES, 1)) for name in ("ant", "bee", "cat")},
    **{f"i_{name}": 0.2 + np.roll(snapshots.SCORES, k) for k, name in enumerate(("ant", "bee", "cat"))},
    "n": snapshots.TARGETS, "p": snapshots.PREDICTED, "q": snapshots.OTHER_PREDICTED,
}  # fmt: skip


def problems(value: Any, kind: Any, at: str, seen: Seen) -> Iterator[str]:
    """Yield the places where a value is not as described; record the keys of objects that have a value."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        yield from problems(value, arguments[0], at, seen)
        for each in kind.__metadata__:
            if isinstance(each, type):
                yield from problems_of_results(value, each, at)
    elif is_typeddict(kind) and isinstance(value, dict):
        known = json_page.keys(kind)
        yield from (f"{at}.{key}: not described by {kind.__name__}" for key in value.keys() - known.keys())
        yield from (f"{at}: lacks {key} of {kind.__name__}" for key in kind.__required_keys__ - value.keys())
        seen |= {(kind.__name__, key) for key in value if value[key] is not None}
        for key in known.keys() & value.keys():
            yield from problems(value[key], known[key], f"{at}.{key}", seen)
    elif origin in (Union, types.UnionType):
        tried = []
        for each in arguments:
            of_this: Seen = set()
            tried.append([*problems(value, each, at, of_this)])
            if not tried[-1]:
                seen |= of_this
                return
        yield from max(tried, key=lambda found: max(map(len, found)))  # the problem found deepest
    elif origin is list and isinstance(value, list):
        yield from (said for k, each in enumerate(value) for said in problems(each, arguments[0], f"{at}[{k}]", seen))
    elif origin is dict and isinstance(value, dict):
        yield from (said for key, each in value.items() for said in problems(each, arguments[1], f"{at}.{key}", seen))
    elif kind is not Any and not is_one(value, kind):
        yield f"{at}: {value!r} is not {json_page.name_of(kind)}"


def is_one(value: Any, kind: Any) -> bool:
    if get_origin(kind) is Literal:
        return value in get_args(kind)
    if is_typeddict(kind) or get_origin(kind):
        return False
    kinds = (int, float) if kind is float else kind
    return isinstance(value, kinds) and (kind is bool or not isinstance(value, bool))


def problems_of_results(value: Any, kind: type, at: str) -> Iterator[str]:
    """Yield the keys of a result (or of results in a list or dict) that are not attributes of its class."""
    known = json_page.attributes(kind)
    if isinstance(value, list):
        yield from (said for each in value for said in problems_of_results(each, kind, at))
    elif isinstance(value, dict) and not value.keys() & known.keys():
        yield from (said for key, each in value.items() for said in problems_of_results(each, kind, f"{at}.{key}"))
    elif isinstance(value, dict):
        yield from (f"{at}: {key} of {kind.__name__}" for key in value.keys() ^ known.keys())
        for key, (told, _) in known.items():
            for each in json_page.named_in(told):
                yield from problems_of_results(value.get(key), each, f"{at}.{key}")


def of_report(*flags: str, resamples: str = "19", file: str = "rows.csv") -> Callable[[], Any]:
    return lambda: printed("report", file, *flags, *(["--resamples", resamples] if resamples else []))


def printed(*arguments: str) -> Any:
    with contextlib.redirect_stdout(io.StringIO()) as text:
        assert cli.main([*arguments, "--quiet", "--format", "json"]) in (0, 3, 4)
    return json.loads(text.getvalue())


def summarized() -> Any:
    options = ["gaps*.csv", "--label", "y", "--score", "s", "--cells", "9", *DROP, "--out"]
    printed("summarize", *options, "other.fe")
    return printed("summarize", *options, "rows.fe")


def summarized_classes() -> Any:
    options = ["--label", "c", "--probabilities", "i_*", "--normalize", "--cells", "256", "--out", "classes.fe"]
    return printed("summarize", "rows.csv", *options)


SCORES = ["--label", "y", "--score", "s", "--score", "t"]
LABELS = ["--label", "c", "--pred", "a", "--pred", "b"]
TARGETS = ["--target", "n", "--pred", "p", "--pred", "q"]
DROP = ["--on-invalid", "drop"]
LATE = ["--on-missing-label", "drop"]
BY_ROW = ["--cost-fp", "2", "--cost-fn-column", "f"]
GATE = ["gate", "rows.csv", *SCORES, "--resamples", "99"]
NIGHTLY = ["--rule", "auc better than t", "--rule", "auc >= 0.84", "--nightly", "state.json"]
COMPARED = ["compare", "rows.csv", "--label", "c", "--pred", "a", "--pred", "b", "--pred", "d", "--resamples", "19"]
PROBABLE = ["--label", "c", "--probabilities", "u_*", "--probabilities", "x_*", "--normalize", "--resamples", "19"]
OUTPUTS: dict[Any, list[Callable[[], Any]]] = {
    schema.ScoresReport: [
        of_report(*SCORES, "--by", "k", "--cost-fp", "1", "--prior", "0.2"),
        of_report(*SCORES, "--by", "k", "--by", "c", resamples="0"),
        of_report(*SCORES, "--by", "k", "--weight", "w", "--threshold", "0.5"),
        of_report(*SCORES, "--by", "v", "--frequency-weight", "f", *DROP, file="gaps.csv"),
        of_report(*SCORES, "--by", "k", "--trend", "--min-labelled", "0.1"),
        of_report(*SCORES, "--by", "k", *LATE, resamples="0", file="late.csv"),
        of_report(*SCORES, "--group", "g", resamples=""),
        of_report("--label", "y", "--score", "s", "--gain-table", resamples="0"),
        of_report("--label", "y", "--score", "s", "--against", "rows*.csv", file="rows*.csv"),
        of_report(*SCORES, *BY_ROW, "--reference", "t"),
        lambda: [summarized(), printed("report", "rows.fe", "--against", "other.fe", "--resamples", "19")][1],
    ],
    schema.GateReceipt: [
        lambda: printed(*GATE, "--rule", "auc better than t", "--rule", "auc >= 0.9 by k", "--undecided", "fail"),
        lambda: printed(*GATE, "--rule", "brier equivalent to t within 0.1", "--model", "s", *DROP, "--reference", "t"),
        lambda: printed("gate", "gaps.csv", *LABELS, *DROP, "--rule", "accuracy not worse than b by 0.3"),
        lambda: printed(*GATE, *LATE, "--rule", "auc >= 0.1", "--model", "s", "--min-labelled", "1"),
        lambda: printed(*GATE, "--rule", "mean_cost <= 1 by k", "--model", "s", *BY_ROW),
        lambda: printed(*GATE, *NIGHTLY, "--night", "monday"),
        lambda: printed(*GATE, *NIGHTLY, "--night", "tuesday"),
    ],
    schema.GatePlanned: [lambda: printed(*GATE, "--plan", "--reference", "t", "--rule", "auc not worse than t by 0.1")],
    schema.PredictionsReport: [
        of_report(*TARGETS, "--by", "k", *LATE, resamples="0", file="late.csv"),
        of_report(*LABELS, "--by", "k", "--by", "n", resamples="0", file="rows*.csv"),
        of_report(*LABELS, "--by", "k", "--weight", "w", *DROP, file="gaps.csv"),
        of_report(*LABELS, "--by", "k", "--against", "rows*.csv", *DROP),
        of_report(*LABELS, "--by", "k", "--trend", "--min-labelled", "0.1"),
        of_report(*LABELS, "--group", "g", "--frequency-weight", "f", "--reference", "b"),
        of_report("--label", "c", "--probabilities", "u_*", "--normalize"),
        lambda: [summarized_classes(), printed("report", "classes.fe", "--resamples", "19")][1],
        of_report("--label", "y", "--pred", "r", "--pred", "z", "--pos-label", "1"),
        of_report(*TARGETS, "--by", "k", "--weight", "w", *DROP, file="gaps.csv"),
        of_report(*TARGETS, "--group", "g", "--frequency-weight", "f"),
    ],
    schema.QueriesReported: [
        of_report("--label", "y", "--score", "s", "--score", "t", "--queries", "g", "--reference", "t"),
        lambda: printed("report", "run.txt", "--qrels", "qrels.txt", "--metric", "mrr", "--resamples", "0"),
    ],
    schema.ResultsOfComparison: [
        lambda: printed("compare", "results.csv", "--dataset", "set", "--by", "part"),
        lambda: printed("compare", "results.csv", "--control", "a", *(f"--algorithm={name}" for name in "abc")),
        lambda: printed("compare", "results.csv", "--algorithm", "a", "--algorithm", "b"),
    ],
    schema.PredictionsOfComparison: [
        lambda: printed(*COMPARED, "--group", "g", "--reference", "d"),
        lambda: printed("compare", "gaps.csv", *LABELS, *DROP, "--resamples", "19"),
        lambda: printed("compare", "rows.csv", "--label", "y", "--pred", "r", "--pred", "k", "--resamples", "19"),
    ],
    schema.ProbabilitiesOfComparison: [
        lambda: printed("compare", "rows.csv", *PROBABLE, "--reference", "x", "--group", "g"),
        lambda: printed("compare", "gaps.csv", *PROBABLE, "--probabilities", "z_*", "--on-invalid", "drop"),
    ],
    schema.PredictionsDecomposed: [
        lambda: printed("bias-variance", "rows.csv", "--truth", "n", "--pred", "p", "--pred", "q", "--observed", "s"),
        lambda: printed("bias-variance", "rows.csv", "--truth", "c", *LABELS[2:], "--loss", "zero-one"),
    ],
    schema.PolynomialsDecomposed: [lambda: printed("bias-variance")],
    schema.Summarized: [summarized, summarized_classes],
}  # fmt: skip
OF_SCORES = ("TrendValues", "OtherRows", "ComparedRows")
# Keys that are null or absent in these outputs.
ALWAYS_NULL = {
    schema.ScoresReport: {("BlockIntervals", "resamples")},  # reports of predictions have it
    schema.PredictionsReport: {(each, "n_positives") for each in OF_SCORES},
    schema.PolynomialsDecomposed: {("PolynomialsDecomposed", "decomposition")},
}


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(intervals, "BUDGET", 100 * 1999)
    monkeypatch.setattr(intervals, "ROWS_ALWAYS_DRAWN", 0)
    write("rows.csv", COLUMNS)
    with_gaps = {name: values.astype("U20") for name, values in COLUMNS.items()}
    for name in ("s", "a", "p", "x_ant"):
        with_gaps[name][0] = "NA"
    write("gaps.csv", with_gaps)
    late = {name: values.astype("U20") for name, values in COLUMNS.items()}
    late["y"][0] = late["n"][0] = ""
    write("late.csv", late)
    for name in ("rows", "gaps"):
        write(f"{name}-none.csv", {name: values[:0] for name, values in COLUMNS.items()})
    table = {name: snapshots.TABLE[:, k] for k, name in enumerate("abc")}
    Path("qrels.txt").write_text("q1 0 d1 1\nq2 0 d1 1\nq3 0 d1 0\n")
    Path("run.txt").write_text("q1 Q0 d1 1 2.0 run\nq2 Q0 d2 1 1.0 run\nq9 Q0 d2 1 1.0 run\n")
    write("results.csv", {"set": np.arange(12) % 6, "part": np.arange(12) // 6, **table})


def write(path: str, columns: dict[str, Any]) -> None:
    rows = zip(*(values.tolist() for values in columns.values()), strict=True)
    Path(path).write_text("\n".join(",".join(map(str, row)) for row in [tuple(columns), *rows]) + "\n")


def test_each_kind_has_outputs() -> None:
    assert {*OUTPUTS} == {*schema.KINDS}


@pytest.mark.cases(4)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", OUTPUTS, ids=lambda kind: kind.__name__)
def test_json_is_as_the_page_says(kind: Any) -> None:
    """Each key is described and has a value of the described type, and each described key occurs."""
    seen: Seen = set()
    for output in OUTPUTS[kind]:
        found = output()
        assert [*found][:2] == ["fastevals", "schema_version"]
        assert found["schema_version"] == schema.SCHEMA_VERSION == 1
        assert [*problems(found, kind, kind.__name__, seen)] == []
    described = {(each.__name__, key) for each in (kind, *json_page.nested(kind)) for key in json_page.keys(each)}
    assert described - seen == ALWAYS_NULL.get(kind, set())
