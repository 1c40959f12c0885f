"""Frames whose partitions are Arrow tables in this process: an engine without machines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

import fastevals
from fastevals import OperatingPoint, Ranking, __version__
from fastevals.scale import parquet
from fastevals.scale.certified import CertifiedRanking
from fastevals.scale.engines.engine import Engine
from fastevals.scale.engines.frame import Answer, Frame, shipped
from fastevals.scale.tasks import OPENED, Task

CALLS = ("roc_auc", "average_precision", "pr_auc", "ks_statistic", "equal_error_rate", "break_even_point")


def rows(n: int, seed: int = 0) -> dict[str, Any]:
    """Return columns: labels, two models' scores, 1 - the first, weights, values, groups, classes and numbers."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.2).astype(np.int64)
    p = 1 / (1 + np.exp(2 - 1.5 * y - rng.normal(size=n)))
    target = rng.normal(size=n)
    return {
        "y": y, "p": p, "not_p": 1 - p, "q": p.round(2), "w": rng.integers(0, 4, n), "v": rng.random(n) + 0.5,
        "day": rng.choice(["wed", "mon", "tue"], n), "user": rng.integers(0, 400, n),
        "class": rng.choice(["cat", "dog", "owl"], n), "guess": rng.choice(["cat", "dog", "owl"], n),
        "target": target, "fitted": target + rng.normal(size=n),
    }  # fmt: skip


def check_exact(engine: Any, frame: Any, columns: dict[str, Any], **options: Any) -> None:
    """Check that exact rankings, and counts at thresholds, equal those of the same rows in a file."""
    import pyarrow as pa

    at = [0.25, 0.5, float(np.median(columns["p"]))]
    scores = {"label": "y", "score": ["p", "q"], "exact": True, "at": at} | options
    found, expected = engine.ranking(frame, **scores), parquet.ranking(pa.table(columns), **scores)
    for model in ("p", "q"):
        for name in ("n_positives", "n_negatives"):
            assert getattr(found[model], name) == getattr(expected[model], name), name
        for call in CALLS:
            value, exact = getattr(found[model], call)(), getattr(expected[model], call)()
            if isinstance(found[model], CertifiedRanking) and isinstance(exact, OperatingPoint):
                assert value.value == exact.value, call
                assert value.threshold <= exact.threshold, call  # at the next cut
            else:
                assert value == exact, call
        np.testing.assert_array_equal(found[model].confusion_at(at).counts, expected[model].confusion_at(at).counts)


def check_certified(engine: Any, frame: Any, columns: dict[str, Any]) -> None:
    """Check that few cells' bounds contain the rows' value, and equal it with fewer scores than cells."""
    found = engine.ranking(frame, label="y", score=["p", "q"], cells=2**10)
    auc = found["p"].roc_auc()
    assert 0 < auc.width < 0.1
    assert auc.low <= Ranking(columns["y"], columns["p"]).roc_auc() <= auc.high
    assert found["q"].roc_auc() == Ranking(columns["y"], columns["q"]).roc_auc()


def check_groups(engine: Any, frame: Any, columns: dict[str, Any], by: str, weight: str | None = None) -> None:
    """Check that AUC by group, with intervals, and metrics equal those of all rows."""
    weights = None if weight is None else columns[weight]
    y, p, groups = columns["y"], columns["p"], columns[by]
    expected = fastevals.grouped_auc(y, p, groups, frequency_weight=weights, interval="delong")
    found = engine.grouped_auc(frame, label="y", score="p", by=by, frequency_weight=weight, interval="delong")
    for name in ("groups", "values", "n_samples", "n_positives", "n_negatives", "weights"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)
    np.testing.assert_allclose(found.confidence_intervals, expected.confidence_intervals, rtol=1e-12)
    assert (found.mean, found.macro_mean, found.pos_label) == (expected.mean, expected.macro_mean, 1)


class LocalFrame(Frame):
    """Tables as partitions; answers arrive and are merged in `order`."""

    samples_rows = True

    def __init__(self, tables: list[Any], order: Sequence[int] | None = None, fan: int = OPENED) -> None:
        self.tables, self.fan = tables, fan
        self.order = range(len(tables)) if order is None else order
        self.names = tables[0].column_names
        self.version, self.sample_is_all = __version__, False

    def sample(self, columns: Sequence[str], n_rows: int) -> tuple[list[Any], bool]:
        return [batch for table in self.tables for batch in table.select(columns).to_batches()], self.sample_is_all

    def answers(self, task: Task) -> list[Answer]:
        from cloudpickle import dumps

        sent = dumps(task)
        count, join = shipped(self.version)
        found = [
            count(sent, iter(self.tables[k].select(task.columns.names).to_batches(max_chunksize=1000)), k)
            for k in self.order
        ]
        while len(found) > self.fan:
            found = [join(sent, found[start : start + self.fan]) for start in range(0, len(found), self.fan)]
        return [(problem, dumps(answer)) for problem, answer in found]

    def by_value(self, columns: Sequence[str]) -> Frame:
        import pyarrow as pa

        whole = pa.concat_tables(self.tables)
        codes = whole.column(columns[0]).combine_chunks().dictionary_encode("encode").indices.to_numpy() % 3
        return LocalFrame([whole.filter(pa.array(codes == k)) for k in range(3)])

    @contextmanager
    def by_range(self, column: str, n_ranges: int, columns: Sequence[str]) -> Iterator[Frame]:
        import pyarrow as pa

        whole = pa.concat_tables(self.tables).select(columns)
        scores = whole.column(column).to_numpy()
        places = np.searchsorted(np.quantile(scores, np.arange(1, n_ranges) / n_ranges), scores, side="right")
        yield LocalFrame([whole.filter(pa.array(places == k)) for k in range(n_ranges)])


LOCAL = Engine(lambda frame: frame)
