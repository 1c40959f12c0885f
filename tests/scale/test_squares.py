"""Sums of squared weights in summaries equal the rows' sums, in any parts; and inference from them."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from fastevals import Ranking, bootstrap, delong, delong_test_unpaired, metric, report
from fastevals.counts import ThresholdCounts
from fastevals.scale import ConfusionSummary, ProbabilitySummary, RankingSummary, ScoreGrid, TargetSummary, parquet
from fastevals.scale.certified import CertifiedRanking
from fastevals.scale.squares import LIMB_BITS, RowSums

Rows = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]

SUMMARIES: dict[str, dict[str, Any]] = {
    "atoms": {},
    "fitted": {"cells": 16},
    "grid": {"grid": ScoreGrid(np.linspace(0, 1, 20))},
    "units": {"largest_weight": 9.0},
}


def rows(seed: int, n: int = 700, *, whole: bool = True) -> Rows:
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.4).astype(np.int64)
    y[:4] = 0, 1, 0, 1
    s = np.round(np.clip(rng.normal(0.4 + 0.15 * y, 0.2), 0, 1), 2)
    w = rng.integers(0, 10, n) if whole else rng.uniform(0.5, 9, n)
    w[:4] = 3
    return y, s, w


def summary_of(data: Rows, **options: Any) -> RankingSummary:
    made = RankingSummary(**options)
    made.update(data[0], data[1], sample_weight=data[2])
    return made


def counted(summary: RankingSummary) -> tuple[ThresholdCounts, Any]:
    """Return the counts used for inference, and the squares at their thresholds."""
    ranking, _ = summary.ranking()._counts_and_doubts({})
    return ranking.counts, ranking._squares


@pytest.mark.parametrize("kind", SUMMARIES)
def test_squares_are_those_of_the_rows_whatever_parts_they_come_in(kind: str) -> None:
    y, s, w = data = rows(1, whole=kind != "units")
    parts = np.array_split(np.random.default_rng(2).permutation(y.size), 4)
    first, *more = (summary_of((y[part], s[part], w[part]), **SUMMARIES[kind]) for part in parts)
    whole, merged = summary_of(data, **SUMMARIES[kind]), first.merge(*more)
    for summary in (whole, merged, RankingSummary.from_bytes(merged.to_bytes())):
        counts, squares = counted(summary)
        for flag, sums, weights in ((1, squares.tps, counts.tps), (0, squares.fps, counts.fps)):
            of = w[y == flag]
            assert squares.rows[flag] == np.count_nonzero(of)
            assert squares.cubes[flag] == pytest.approx((of**3).sum(), rel=1e-6)
            assert sums[-1] == pytest.approx((of**2).sum(), rel=1e-6)
            assert (np.diff(sums) <= np.diff(weights) ** 2 * (1 + 1e-12)).all()
            assert ((np.diff(sums) > 0) == (np.diff(weights) > 0)).all()
            if summary.is_exact or kind == "units":  # one cell per score
                at = [((s >= t) & (y == flag)) for t in counts.thresholds]
                np.testing.assert_allclose(sums, [(w[each] ** 2).sum() for each in at], rtol=1e-6)
    if kind in ("atoms", "grid"):
        assert merged.to_bytes() == whole.to_bytes()


def test_large_weights_are_squared_exactly() -> None:
    w = np.array([2**LIMB_BITS - 1, 2**LIMB_BITS - 2, 2**31, 2**20 + 1, 3] * 40)
    y = np.arange(w.size) % 2
    summary = summary_of((y, np.zeros(w.size), w))
    exact = [sum(int(each) ** 2 for each in w[y == flag]) for flag in (0, 1)]
    lower, upper = summary.cells.counts[0, 2:4].tolist(), summary.cells.counts[0, 4:].tolist()
    assert [(high << LIMB_BITS) + low for low, high in zip(lower, upper, strict=True)] == exact
    assert summary._row_sums == RowSums((100, 100), tuple(sum(int(each) ** 3 for each in w[y == k]) for k in (0, 1)))
    heavier = summary.merge(summary_of((y[:1], np.zeros(1), np.array([2**LIMB_BITS]))))  # its square overflows
    assert counted(heavier)[1] is None


def test_rows_without_weights_and_copies_weigh_one_each() -> None:
    y, s, w = rows(3)
    copies, plain = RankingSummary(), RankingSummary()
    copies.update(y, s, frequency_weight=w)
    plain.update(y, s)
    weighted = summary_of((y, s, w))
    before = [each.to_bytes() for each in (copies, plain, weighted)]
    merged = copies.merge(plain, weighted)
    mixed = RankingSummary()
    mixed.update(y, s, frequency_weight=w)
    mixed.update(y, s, sample_weight=w)
    mixed.update(y, s)
    assert mixed.to_bytes() == merged.to_bytes()
    assert [each.to_bytes() for each in (copies, plain, weighted)] == before
    squares = counted(merged)[1]
    for flag, total in ((1, squares.tps[-1]), (0, squares.fps[-1])):
        of = w[y == flag]
        assert total == of.sum() + of.size + (of**2).sum()
        assert squares.rows[flag] == of.sum() + of.size + np.count_nonzero(of)


def test_versions_of_the_format(monkeypatch: Any) -> None:
    y, s, w = data = rows(4)
    assert summary_of(data).to_bytes()[9:11] == b"\2\0"
    plain = RankingSummary()
    plain.update(y, s)
    assert plain.to_bytes()[9:11] == b"\1\0"  # unchanged, to the byte
    with monkeypatch.context() as patch:  # as in earlier versions
        patch.setattr("fastevals.scale.summary.MAX_WEIGHT_IN_LIMBS", 0)
        earlier = summary_of(data).to_bytes()
    assert earlier[9:11] == b"\1\0"
    old = RankingSummary.from_bytes(earlier)
    for without in (old, old.merge(summary_of(data)), summary_of(data).merge(old)):
        assert without.is_weighted
        assert without.ranking().roc_auc() == pytest.approx(Ranking(y, s, sample_weight=w).roc_auc())
        with pytest.raises(ValueError, match=r"has weights: Ranking.*squared weights.*count the rows again"):
            delong(without)
    old.update(y, s, sample_weight=w)
    assert counted(old)[1] is None


# Inference ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("whole", [True, False])
def test_delong_of_a_summary_is_that_of_its_rows(whole: bool) -> None:
    y, s, w = data = rows(5, whole=whole)
    summary = summary_of(data, largest_weight=None if whole else 9.0)
    expected = delong(y, s, sample_weight=w)
    for subject in (summary, summary.ranking()):
        found = delong(subject)
        assert found.aucs[0] == pytest.approx(expected.aucs[0], rel=1e-6)
        assert found.covariance[0, 0] == pytest.approx(expected.covariance[0, 0], rel=1e-6)
        assert (found.n_positives, found.n_negatives) == (expected.n_positives, expected.n_negatives)
        assert found.doubt < 1e-5 * (not whole) + 1e-300
    if whole:
        assert found.covariance[0, 0] == pytest.approx(expected.covariance[0, 0], rel=1e-12)
        scaled = delong(summary_of((y, s, 9 * w)))
        assert scaled.covariance[0, 0] == pytest.approx(expected.covariance[0, 0], rel=1e-12)


def test_delong_of_weights_in_doubt_is_wider_by_the_doubt() -> None:
    y, s, w = data = rows(6, 5000)
    exact, found = delong(y, s, sample_weight=w), delong(summary_of(data, cells=16))
    assert found.doubt > 0.005
    assert found.covariance[0, 0] == pytest.approx(exact.covariance[0, 0], rel=0.05)
    (low, high), own = found.confidence_interval(), exact.confidence_interval()
    assert low < own.low
    assert high > own.high


def test_unpaired_tests_take_weighted_summaries() -> None:
    first, second = rows(7), rows(8)
    found = delong_test_unpaired(summary_of(first), summary_of(second), method="normal")
    own = [delong(each[0], each[1], sample_weight=each[2]) for each in (first, second)]
    effect, variance = own[0].aucs[0] - own[1].aucs[0], own[0].covariance[0, 0] + own[1].covariance[0, 0]
    assert found.effect == pytest.approx(effect)
    assert found.statistic == pytest.approx(effect / np.sqrt(variance))


def test_files_of_0_4_are_read() -> None:
    for path in (Path(__file__).parent / "payloads").glob("*.1.fe"):
        assert path.read_bytes()[9:11] == b"\1\0"


@pytest.mark.parametrize("few", [pytest.param(True, marks=pytest.mark.slow), False])
def test_reports_of_weighted_summaries_have_intervals(few: bool, monkeypatch: Any) -> None:
    y, s, w = data = rows(11, 2000)
    monkeypatch.setattr("fastevals.show.report.intervals.ROWS_ALWAYS_DRAWN", 20_000 if few else 0)
    monkeypatch.setattr("fastevals.show.report.intervals.BUDGET", 10)
    expected = bootstrap((y, s), "roc_auc", sample_weight=w, n_resamples=3999, rng=0)["roc_auc"]
    width = np.diff(expected.confidence_interval)[0]
    summary = summary_of(data)
    for subject in (summary, summary.ranking()):
        block = report(subject).to_dict()["blocks"][0]
        found = block["models"][0]["intervals"]["roc_auc"]
        np.testing.assert_allclose(found, expected.confidence_interval, atol=0.06 * width)
    assert report(Ranking(y, s, sample_weight=w)).to_dict()["blocks"][0]["models"][0]["intervals"]["roc_auc"] is None


@pytest.mark.slow
def test_bootstrap_of_a_weighted_summary_is_that_of_its_rows() -> None:
    y, s, w = rows(12, 3000)
    w = w % 3 + 1
    expected = bootstrap((y, s), "roc_auc", sample_weight=w, n_resamples=9999, rng=0)["roc_auc"].confidence_interval
    found = bootstrap(summary_of((y, s, w)), "roc_auc", n_resamples=9999, rng=1)["roc_auc"].confidence_interval
    np.testing.assert_allclose(found, expected, atol=0.03 * np.diff(expected)[0])


# Files ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("memory", [None, "9kB"])
def test_exact_rankings_of_files_have_squares(memory: str | None, tmp_path: Path, monkeypatch: Any) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr("fastevals.scale.exact.atoms.ATOMS_PER_BLOCK", 50)
    rng = np.random.default_rng(9)
    y, _, w = rows(9, 2000)
    s = np.round(rng.random(2000) + 0.3 * y, 3)
    pq.write_table(pa.table({"y": y, "s": s, "w": w}), tmp_path / "rows.parquet", row_group_size=300)
    found = parquet.ranking(tmp_path / "rows.parquet", label="y", score="s", sample_weight="w", memory=memory)
    assert isinstance(found, CertifiedRanking) == (memory is not None)
    expected = delong(y, s, sample_weight=w)
    for ranking in (found, pickle.loads(pickle.dumps(found))):
        counts, squares = ranking._counts_and_doubts({})[0].counts, ranking._squares
        if memory is None:
            at = [[(s >= t) & (y == flag) for t in counts.thresholds] for flag in (1, 0)]
            for sums, sets in ((squares.tps, at[0]), (squares.fps, at[1])):
                np.testing.assert_array_equal(sums, [(w[each] ** 2).sum() for each in sets])
        assert squares.rows == (np.count_nonzero(w[y == 0]), np.count_nonzero(w[y == 1]))
        assert (squares.fps[-1], squares.tps[-1]) == ((w[y == 0] ** 2).sum(), (w[y == 1] ** 2).sum())
        one = delong(ranking)
        assert one.aucs[0] == pytest.approx(expected.aucs[0], abs=1e-4)
        assert one.covariance[0, 0] == pytest.approx(expected.covariance[0, 0], rel=1e-12 if memory is None else 1e-3)
    if memory is None:
        found.threshold_for(n_predicted=123.0)  # counts negatives in further scans
        counts, squares = found.counts, found._squares
        assert squares.fps[-1] == (w[y == 0] ** 2).sum()
        assert squares.thresholds is counts.thresholds or (squares.thresholds == counts.thresholds).all()


def test_squares_past_64_bits_are_not_kept(tmp_path: Path) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    y, s = np.arange(40) % 2, np.arange(40) / 40
    for weight, kept in ((2**30 - 1, True), (2**30, False), (2**29, True)):
        pq.write_table(pa.table({"y": y[:3], "s": s[:3], "w": np.full(3, weight)}), tmp_path / "rows.parquet")
        ranking = parquet.ranking(tmp_path / "rows.parquet", label="y", score="s", sample_weight="w")
        assert (ranking._squares is not None) == kept
    pq.write_table(pa.table({"y": y, "s": s, "w": np.full(40, 2**29)}), tmp_path / "rows.parquet")
    ranking = parquet.ranking(tmp_path / "rows.parquet", label="y", score="s", sample_weight="w")
    assert ranking._squares is None
    with pytest.raises(ValueError, match="squared weights"):
        delong(ranking)


# Probabilities --------------------------------------------------------------------------------------------------------


def test_probabilities_keep_squares_by_cell() -> None:
    y, s, w = rows(10, 3000)
    parts = np.array_split(np.random.default_rng(2).permutation(y.size), 3)

    def summary_of_part(part: Any) -> ProbabilitySummary:
        summary = ProbabilitySummary()
        summary.update(y[part], s[part], sample_weight=w[part])
        return summary

    first, *more = map(summary_of_part, parts)
    whole, merged = summary_of_part(slice(None)), first.merge(*more)
    assert merged.to_bytes() == whole.to_bytes()
    for summary in (whole, ProbabilitySummary.from_bytes(merged.to_bytes())):
        counts, squares = summary.counts(), summary.squares()
        np.testing.assert_array_equal(counts.thresholds, squares.thresholds)
        for flag, sums in ((1, squares.tps), (0, squares.fps)):
            last = np.append(np.diff(counts.thresholds) < -1e-9, True)  # per score, with separate classes
            at = [(s >= t - 1e-9) & (y == flag) for t in counts.thresholds[last]]
            np.testing.assert_array_equal(sums[last], [(w[each] ** 2).sum() for each in at])
    plain = ProbabilitySummary()
    plain.update(y, s)
    assert plain.squares() is None
    both = plain.merge(whole)
    both.update(y, s, frequency_weight=w)
    assert both.squares().n_pos == (y == 1).sum() + (w[y == 1] ** 2).sum() + w[y == 1].sum()
    heavy = ProbabilitySummary()
    heavy.update([0, 1], [0.2, 0.4], sample_weight=[1, 2**30])
    for without in (heavy, heavy.merge(whole), ProbabilitySummary.from_bytes(heavy.to_bytes()).merge(whole)):
        assert without.is_weighted
        assert without.squares() is None


# Targets --------------------------------------------------------------------------------------------------------------


def targets_of(y: Any, p: Any, w: Any = None) -> TargetSummary:
    summary = TargetSummary()
    summary.update(y, p, sample_weight=w)
    return summary


@pytest.mark.cases(1)
@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e80])
def test_standard_errors_of_weighted_targets_are_of_squared_weights(scale: float) -> None:
    rng = np.random.default_rng(4)
    y = rng.normal(100, 3, 900)
    p, w = y + rng.normal(size=900), rng.lognormal(size=900) * scale
    whole = targets_of(y, p, w)
    parts = [targets_of(y[part], p[part], w[part]) for part in np.array_split(np.arange(900), 3)]
    merged = parts[0].merge(*parts[1:])
    twins = {"mean_squared_error": (y - p) ** 2, "mean_absolute_error": np.abs(y - p)}
    for summary in (whole, merged, TargetSummary.from_bytes(merged.to_bytes())):
        for name, errors in twins.items():
            off = w * (errors - np.average(errors, weights=w))
            assert summary.standard_error(name) == pytest.approx(np.sqrt((off**2).sum()) / w.sum(), rel=1e-8)
    r2 = bootstrap((y, p), "r2", sample_weight=w, n_resamples=2000, rng=0)["r2"]
    assert whole.standard_error("r2") == pytest.approx(r2.standard_error, rel=0.07)
    assert whole.confidence_interval("r2") == pytest.approx(tuple(r2.confidence_interval), rel=0.01)


def test_targets_whose_weights_are_alike_have_the_errors_of_rows() -> None:
    rng = np.random.default_rng(4)
    y = rng.normal(size=300)
    p = y + rng.normal(size=300)
    plain, nines = targets_of(y, p), targets_of(y, p, np.full(300, 9.0))
    for name in ("mean_squared_error", "root_mean_squared_error", "mean_absolute_error", "r2"):
        assert nines.standard_error(name) == pytest.approx(plain.standard_error(name), rel=1e-9)
    mixed = plain.merge(nines)
    w = np.repeat([1.0, 9.0], 300)
    off = w * (np.tile((y - p) ** 2, 2) - ((y - p) ** 2).mean())
    assert mixed.standard_error("mean_squared_error") == pytest.approx(np.sqrt((off**2).sum()) / w.sum(), rel=1e-9)
    lost = targets_of(y, p, np.full(300, 1e200))  # squares overflow a float
    for without in (lost, lost.merge(plain), TargetSummary.from_bytes(lost.to_bytes())):
        assert without.metric("mean_squared_error") == pytest.approx(((y - p) ** 2).mean())
        with pytest.raises(ValueError, match=r"has weights: TargetSummary.*squared weights"):
            without.standard_error("r2")


@pytest.mark.parametrize("largest", [None, 64.0])
def test_weighted_predictions_have_the_intervals_of_their_rows(largest: float | None) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 8000)
    p = np.where(rng.random(y.size) < 0.7, y, rng.integers(0, 3, y.size))
    weights = rng.integers(1, 30, y.size) if largest is None else rng.lognormal(0, 0.8, y.size).clip(0.01, 60)
    parts = [ConfusionSummary(largest_weight=largest) for _ in range(3)]
    for part, rows in zip(parts, (slice(None), slice(0, 2500), slice(2500, None)), strict=True):
        part.update(y[rows], p[rows], sample_weight=weights[rows])
    whole, first, second = parts
    assert second.merge(first).to_bytes() == whole.to_bytes()
    asked = ["accuracy", metric("f1", average="macro")]
    found = bootstrap(ConfusionSummary.from_bytes(whole.to_bytes()), asked, n_resamples=1999, rng=1)
    expected = bootstrap((y, p), asked, sample_weight=weights, n_resamples=1999, rng=1)
    for name, each in expected.items():
        assert found[name].value == pytest.approx(each.value, abs=1e-12)
        assert found[name].standard_error == pytest.approx(each.standard_error, rel=0.07)
    with pytest.raises(ValueError, match="stratified draws of weighted rows need the rows"):
        bootstrap(whole, "accuracy", stratified=True, n_resamples=9)


def test_squares_of_predictions_are_exact_sums_whatever_comes_first() -> None:
    rng = np.random.default_rng(1)
    y, p = rng.integers(0, 2, (2, 500))
    weights = rng.integers(0, 2**35, 500)
    weighted, plain = ConfusionSummary(), ConfusionSummary()
    weighted.update(y, p, sample_weight=weights)
    plain.update(y, p)
    plain.update(["0", "1"][:0], ["1"][:0])
    plain.update([5], [1], frequency_weight=[3])
    both = plain.merge(weighted)
    plain.update(y, p, sample_weight=weights)
    assert both.to_bytes() == plain.to_bytes()
    lower, upper = (each.astype(object) for each in plain._squares)
    squares = dict.fromkeys(np.ndindex(lower.shape), 0)
    for a, b, weight in zip(y.tolist(), p.tolist(), weights.tolist(), strict=True):
        squares[a, b] += 1 + weight**2
    squares[2, 1] += 3
    assert (upper * 2**40 + lower).tolist() == [[squares[a, b] for b in range(3)] for a in range(3)]


def test_squares_of_predictions_that_can_not_be_are_refused() -> None:
    summary = ConfusionSummary()
    summary.update([0, 1, 1], [0, 1, 0], sample_weight=[2, 3, 1])
    summary._squares[0, 0, 0] = 5  # for a weight of 2
    with pytest.raises(ValueError, match="its squares are not those of its weights"):
        ConfusionSummary.from_bytes(summary.to_bytes())
    large = ConfusionSummary()
    large.update([0, 1], [0, 1], sample_weight=[2**41, 1])
    with pytest.raises(ValueError, match="Intervals and tests need the sums of squared weights"):
        bootstrap(large, "accuracy", n_resamples=9)
