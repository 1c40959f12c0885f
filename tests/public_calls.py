"""Public calls of summaries, folds, files and engines, with few and many rows, of `tests.snapshots` and of documents.

    python -m tests.public_calls            # after warm-up's steps: which kernels each call would compile, as JSON
    python -m tests.public_calls documents  # the same of README and the documents

Signatures that kernels are compiled for stay in the process, so finding what warm-up lacks needs no empty cache.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import json
import os
import pickle
import re
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import fastevals
from fastevals.scale import CertifiedRanking, ClassScoresSummary, RankingSummary
from fastevals.show import warm_up
from fastevals.show.cli import main
from tests import compiled_kernels, documents, snapshots
from tests.scale.test_summaries import KINDS

ARGUMENTS: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "best_threshold": (("f1",), {}),
    "confidence_interval": (("mean_squared_error",), {}),
    "confusion_at": (([0.25, 0.5],), {}),
    "expected_cost": ((0.5,), {}),
    "metric": (("mean_squared_error",), {}),
    "net_benefit": ((0.2,), {}),
    "standard_error": (("mean_squared_error",), {}),
    "threshold_for": ((), {"recall": 0.9}),
}
MEANS_OF_CLASSES: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "confidence_interval": (("log_loss",), {}),
    "metric": (("log_loss",), {}),
    "standard_error": (("log_loss",), {}),
}
APART = {
    "counts",
    "from_bytes",
    "from_cells",
    "from_counts",
    "from_scores",
    "from_threshold_counts",
    "merge",
    "to_frame",
    "update",
}
OF_PROBABILITIES = frozenset(
    {
        "brier_decomposition",
        "brier_score",
        "calibration_curve",
        "expected_calibration_error",
        "log_loss",
        "log_loss_decomposition",
        "mean_predicted",
        "reliability_curve",
        "smooth_calibration_error",
    }
)
AT_THRESHOLDS = frozenset({"confusion_at", "decision_curve", "expected_cost", "metric", "net_benefit"})
APART_OF_SUMMARIES = frozenset({"ranking", "rankings"})
PACKAGE = Path(fastevals.__file__).parent
KERNEL = re.compile(r"\w+\.(\w+)\(")
SIZES = (warm_up.FEW_ROWS, warm_up.MANY_ROWS)


def read_all(found: Any, *, without: frozenset[str] = frozenset()) -> None:
    """Read each public property, and call each public method, with `ARGUMENTS` if it needs any."""
    given = ARGUMENTS | MEANS_OF_CLASSES if isinstance(found, ClassScoresSummary) else ARGUMENTS
    for name in sorted(set(dir(found)) - APART - without):
        if not name.startswith("_") and not name.isupper():
            value = getattr(found, name)
            if callable(value):
                arguments, options = given.get(name, ((), {}))
                value(*arguments, **options)


def read_ranking(ranking: Any) -> None:
    """Read all of a ranking except metrics of probabilities and values in doubt at a threshold."""
    in_doubt = isinstance(ranking, CertifiedRanking)
    read_all(ranking, without=OF_PROBABILITIES | (AT_THRESHOLDS if in_doubt else frozenset()))
    if in_doubt:
        ranking.confusion_at([0.25, 0.5], bounds=True)


def of_summaries(n: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield updates, merges, bytes and readings of each kind of summary."""

    def call(name: str, given: dict[str, Any], options: dict[str, Any]) -> None:
        kind, rng = KINDS[name], np.random.default_rng(0)
        made, columns = kind.make() if not options else RankingSummary(**options), kind.columns(rng, n)
        made.update(*columns, **given)
        half = [column[: n // 2] for column in columns]
        other = pickle.loads(pickle.dumps(made)).merge(made)
        other.update(*half, **{key: each[: n // 2] for key, each in given.items()})
        for summary in (made, other, type(made).from_bytes(other.to_bytes())):
            read_all(summary, without=APART_OF_SUMMARIES)
            if isinstance(summary, RankingSummary):
                read_ranking(summary.ranking())
                fastevals.delong(summary)
                fastevals.bootstrap(summary, ["roc_auc", "average_precision", "ks_statistic"], n_resamples=50)
            if name == "confusion" and "sample_weight" not in given:
                fastevals.bootstrap(summary, "accuracy", n_resamples=50)
        if name == "group":
            read_all(next(iter(made.rankings().values())))

    rng = np.random.default_rng(1)
    whole, parts = rng.integers(0, 3, n), rng.random(n) + 0.5
    for name in KINDS:
        for given in ({}, {"frequency_weight": whole}, {"sample_weight": whole}):
            yield f"summary {name} {list(given)}", partial(call, name, given, {})
    for cells in (2**18, 16):
        for given, options in (({}, {}), ({"sample_weight": parts}, {"largest_weight": 2})):
            yield f"summary of {cells} cells {options}", partial(call, "ranking", given, {"cells": cells} | options)
    yield "summary of cells", lambda: read_all(RankingSummary.from_cells([0.1, 0.5], [0.2, 0.6], [3, 4], [5, 1]))


def of_folds(n: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield curves and areas of folds, with each average."""
    rng = np.random.default_rng(0)
    y, s, folds = rng.integers(0, 2, n), rng.random(n), np.arange(n) % 5

    def call(scores: Any, weights: Any) -> None:
        made = fastevals.RankingFolds.from_scores(y, scores, folds, sample_weight=weights)
        read_all(made.pool())
        for name in dir(made):
            if name.endswith("_curve"):
                for average in ("micro", "macro", "vertical"):
                    with contextlib.suppress(ValueError):  # not every curve has all
                        getattr(made, name)(average=average)

    for scores in (s, s.round(2), s.astype(np.float32)):
        for weights in (None, rng.random(n)):
            yield f"folds of {scores.dtype}", partial(call, scores, weights)


def of_files(n: int, folder: Path) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield rankings and reports of files, of their summaries, and of an engine's partitions."""
    import pyarrow as pa
    from pyarrow.parquet import write_table

    from fastevals.scale import parquet
    from tests.scale.local_frames import LOCAL, LocalFrame, rows

    columns = rows(n)
    table = pa.table(columns)
    file, out = str(folder / f"{n}.parquet"), str(folder / f"{n}.fe")
    write_table(table, file, row_group_size=max(n // 3, 1))
    both: dict[str, Any] = {"label": "y", "score": ["p", "q"]}
    for options in (
        {}, {"exact": False}, {"exact": False, "cells": 64}, {"sample_weight": "w"}, {"sample_weight": "v"},
        {"frequency_weight": "w"}, {"memory": 36 * n // 50}, {"memory": 36 * n // 50, "sample_weight": "w"},
    ):  # fmt: skip

        def call(options: dict[str, Any] = options) -> None:
            for ranking in parquet.ranking(file, **both, **options).values():
                read_ranking(ranking)

        yield f"ranking of a file {options}", call
    given = ["--label", "y", "--score", "p", "--score", "q"]
    ask = [*given, "--resamples", "60"]
    for more in (
        [], ["--by", "day"], ["--weight", "w"], ["--frequency-weight", "w"], ["--approximate"], ["--group", "user"],
        ["--memory", "200KB"],
    ):  # fmt: skip
        yield f"report {' '.join(more)}", partial(command, "report", file, *ask, *more)
    for more in (["--weight", "v"], ["--by", "day", "--weight", "w"], ["--frequency-weight", "w"], []):
        yield f"summarize {' '.join(more)}", partial(command, "summarize", file, *given, *more, "--out", out)
        yield f"report of what was summarized {' '.join(more)}", partial(command, "report", out, "--resamples", "60")
    yield "report against a summary", partial(command, "report", out, "--against", out, "--resamples", "60")
    frame = LocalFrame([table.slice(0, n // 2), table.slice(n // 2)])
    for weight in ({}, {"sample_weight": "w"}, {"frequency_weight": "w"}):
        calls: dict[str, dict[str, Any]] = {
            "ranking": both, "ranking_summary": both, "summarize": both,
            "class_scores_summary": {"label": "y", "probabilities": {0: "not_p", 1: "p"}},
            "confusion_summary": {"label": "class", "predicted": "guess"},
            "target_summary": {"target": "target", "predicted": "fitted"},
            "probability_summary": {"label": "y", "score": "p"},
            "group_summary": {"label": "y", "score": "p", "by": "user"},
            "grouped_auc": {"label": "y", "score": "p", "by": "user", "interval": "delong"},
            "grouped_metrics": {"metrics": "average_precision", "label": "y", "score": "p", "by": "user"},
        }  # fmt: skip
        public = {name for name, _ in inspect.getmembers(LOCAL, inspect.ismethod) if not name.startswith("_")}
        assert set(calls) == public
        for name, options in calls.items():
            taken = inspect.signature(getattr(LOCAL, name)).parameters  # metrics by group accept no copies
            asked = options | {key: column for key, column in weight.items() if key in taken}
            if "sample_weight" in weight and "interval" in options:
                asked["interval"] = None
            yield f"frames: {name} {weight}", partial(getattr(LOCAL, name), frame, **asked)
        yield f"frames: exact {weight}", partial(LOCAL.ranking, frame, **weight, exact=True, by="day", **both)


def command(*arguments: str) -> None:
    """Run a command that must succeed."""
    assert main([*arguments]) == 0, arguments


def all_calls(folder: Path) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield all calls, with their names."""
    for name, case in snapshots.CASES.items():
        yield f"snapshots: {name}", case
    for n in SIZES:
        for calls in (of_summaries(n), of_folds(n), of_files(n, folder)):
            for name, call in calls:
                yield f"{name}, {n} rows", call


def of_documents(_: Path) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield the code of each page."""
    for page in documents.PAGES:

        def call(page: Path = page) -> None:
            with tempfile.TemporaryDirectory() as folder:
                documents.rewritten(page, Path(folder))

        yield page.name, call


def missing(calls: Callable[[Path], Iterator[tuple[str, Callable[[], Any]]]]) -> dict[str, list[str]]:
    """Return the signatures that calls compile but warm-up does not, by call.

    Kernels that only other kernels call are left out: they are not seen if their callers are loaded from disk.
    """
    found: dict[str, list[str]] = {}
    files = (path for path in PACKAGE.rglob("*.py") if "_kernels" not in path.parts)
    words = {word for path in files for word in re.findall(r"\w+", path.read_text(encoding="utf-8"))}
    with contextlib.ExitStack() as stack:
        folder, processes = (Path(stack.enter_context(tempfile.TemporaryDirectory())) for _ in range(2))
        stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
        stack.enter_context(warnings.catch_warnings())
        stack.enter_context(mock.patch.dict(os.environ, compiled_kernels.follow(processes, documents.ROOT)))
        warnings.simplefilter("ignore")
        for _, step in warm_up._steps():
            step()
        known = compiled_kernels.here()
        for name, call in calls(folder):
            call()
            more = (compiled_kernels.here() | compiled_kernels.kept(processes)) - known
            known |= more
            if called := sorted(each for each in more if KERNEL.match(each)[1] in words):
                found[name] = called
    return found


if __name__ == "__main__":
    json.dump(missing(of_documents if sys.argv[1:] == ["documents"] else all_calls), sys.stdout, indent=1)
