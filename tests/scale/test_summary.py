"""Summaries of parts, merged in any order, equal the summary of all rows: to the bit, or within certificates."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from fastevals import Ranking, UndefinedMetricWarning, metric
from fastevals.scale import RankingSummary, ScoreGrid
from fastevals.scale.certified import Certified, CertifiedRanking

NUMBERS = ("roc_auc", "average_precision", "pr_auc", "rank_loss")


def rows_of(n: int, seed: int = 0, *, decimals: int | None = None) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Draw labels, a fifth of them positive, and scores."""
    rng = np.random.default_rng(seed)
    labels = (rng.random(n) < 0.2).astype(np.int64)
    labels[:2] = 0, 1
    scores = rng.normal(size=n) + labels
    return labels, scores if decimals is None else scores.round(decimals)


def merged(rng: np.random.Generator, summaries: list[RankingSummary]) -> RankingSummary:
    """Merge summaries pair by pair, in a random tree."""
    while len(summaries) > 1:
        first, *others = (
            summaries.pop(int(rng.integers(len(summaries))))
            for _ in range(min(len(summaries), int(rng.integers(2, 4))))
        )
        summaries.append(first.merge(*others))
    return summaries[0]


def parts_of(rng: np.random.Generator, n: int) -> list[NDArray[np.intp]]:
    """Split rows into random parts; some are empty."""
    return np.array_split(rng.permutation(n), np.sort(rng.integers(0, n, int(rng.integers(1, 8)))))


def assert_counts_equal(found: Any, expected: Any) -> None:
    for name in ("thresholds", "tps", "fps"):
        np.testing.assert_array_equal(getattr(found.counts, name), getattr(expected.counts, name))


def assert_within(summary: RankingSummary, expected: Ranking, names: tuple[str, ...] = NUMBERS) -> None:
    ranking = summary.ranking()
    for name in names:
        found, value = getattr(ranking, name)(), getattr(expected, name)()
        if isinstance(found, Certified):
            assert found.low <= value <= found.high, name
        else:
            assert found == value, name


# Exact ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(25))
def test_few_distinct_scores_are_exact_in_any_parts_and_order(seed: int) -> None:
    rng = np.random.default_rng(seed)
    y, s = rows_of(int(rng.integers(2, 400)), seed, decimals=1)
    weights = rng.integers(0, 4, y.size) if seed % 2 else None
    summaries = []
    for rows in parts_of(rng, y.size):
        summary = RankingSummary(cells=128)
        for some in np.array_split(rows, 2):
            summary.update(y[some], s[some], sample_weight=None if weights is None else weights[some])
        summaries.append(summary)
    whole = merged(rng, summaries)
    assert whole.is_exact
    assert_counts_equal(whole.ranking(), Ranking(y, s, sample_weight=weights))


@pytest.mark.parametrize("seed", range(10))
def test_one_grid_gives_the_same_bits_in_any_parts_and_order(seed: int) -> None:
    rng = np.random.default_rng(seed)
    y, s = rows_of(3000, seed)
    grid = ScoreGrid.fit(y[::3], s[::3], n_cells=50) if seed % 2 else ScoreGrid(rng.normal(size=20))
    whole = RankingSummary(grid=grid)
    whole.update(y, s)
    summaries = []
    for rows in parts_of(rng, y.size):
        summaries.append(RankingSummary(grid=ScoreGrid(grid_scores(grid))))  # another object with the same cuts
        summaries[-1].update(y[rows], s[rows])
    together = merged(rng, summaries)
    for name in ("low", "high", "counts"):
        np.testing.assert_array_equal(getattr(together.cells, name), getattr(whole.cells, name))
    assert together.to_bytes()[-40:] == whole.to_bytes()[-40:] or together._n_cells == whole._n_cells
    assert_within(together, Ranking(y, s))
    cells = np.searchsorted(grid_scores(grid), s, side="right")
    assert together.cells.counts.sum(axis=1).tolist() == np.bincount(cells)[np.unique(cells)].tolist()


def grid_scores(grid: ScoreGrid) -> NDArray[np.float64]:
    """Return the cuts of a grid as scores."""
    from fastevals.counting.ordering import FLOATS

    return np.asarray(FLOATS.decode(grid.cuts))


def test_atoms_at_the_scores_of_the_rarer_class_make_the_auc_exact() -> None:
    y, s = rows_of(5000)
    summary = RankingSummary(grid=ScoreGrid.exact(s[y == 1]))
    summary.update(y, s)
    ranking = summary.ranking()
    assert isinstance(ranking, CertifiedRanking)
    assert ranking.roc_auc() == Ranking(y, s).roc_auc()
    assert ranking.average_precision() == pytest.approx(Ranking(y, s).average_precision(), rel=1e-14)


# Certified ------------------------------------------------------------------------------------------------------------

ORDERS: dict[str, Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]]] = {
    "as they come": lambda y, s: np.arange(y.size),
    "by score": lambda y, s: np.argsort(s),
    "by score, descending": lambda y, s: np.argsort(-s),
    "by label": lambda y, s: np.argsort(y, kind="stable"),
}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("n_parts", [1, 7])
def test_certificates_hold_and_are_narrow(order: str, n_parts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fastevals.scale.summary.CHUNK", 4096)
    monkeypatch.setattr("fastevals.scale.summary.SAMPLED_ROWS", 2048)
    y, s = rows_of(60_000)
    s[::5] += np.linspace(0, 3, s[::5].size)  # a drift
    s[-20_000::4] = 1.25  # a late atom
    rows = ORDERS[order](y, s)
    summaries = []
    for part in np.array_split(rows, n_parts):
        summaries.append(RankingSummary(cells=512))
        for some in np.array_split(part, 9):
            summaries[-1].update(y[some], s[some])
    whole = summaries[0].merge(*summaries[1:])
    assert_within(whole, Ranking(y, s))
    auc = whole.ranking().roc_auc()
    assert isinstance(auc, Certified)
    assert auc.width < 10 / 512


def test_a_merged_summary_stays_small() -> None:
    y, s = rows_of(60_000)
    whole = RankingSummary(cells=16)
    for rows in np.array_split(np.argsort(s), 40):  # each part has its own cells
        part = RankingSummary(cells=16)
        part.update(y[rows], s[rows])
        whole = whole.merge(part)
        assert whole.cells.low.size <= 4 * 16
    assert_within(whole, Ranking(y, s))


def test_thresholds_named_beforehand_stay_exact() -> None:
    y, s = rows_of(5000)
    summaries = [RankingSummary(cells=16, at=(0.5, -0.25)) for _ in range(2)]
    summaries[0].update(y[:2000], s[:2000])
    summaries[1].update(y[2000:], s[2000:])
    for summary in (
        summaries[0].merge(summaries[1]),
        RankingSummary.from_bytes(summaries[0].merge(summaries[1]).to_bytes()),
    ):
        ranking = summary.ranking()
        for at in (0.5, -0.25):
            found, expected = ranking.confusion_at(at), Ranking(y, s).confusion_at(at)
            np.testing.assert_array_equal(found.counts, expected.counts)
    for asked in (0.1, [0.5, 0.1], [0.1, -0.25, np.inf]):
        with pytest.raises(ValueError, match=r"counts at the threshold 0.1\d* are not exact: the nearest cuts are"):
            ranking.confusion_at(asked)
    fewest, most = ranking.confusion_at(0.1, bounds=True)
    assert fewest.counts[1, 1] <= Ranking(y, s).confusion_at(0.1).counts[1, 1] <= most.counts[1, 1]


POINTS: dict[str, Callable[[Any], Any]] = {
    "best F1": lambda ranking: ranking.best_threshold("f1"),
    "least cost": lambda ranking: ranking.best_threshold("expected_cost", cost_fn=5.0),
    "most recall": lambda ranking: ranking.threshold_for(precision=0.5),
    "most TPR": lambda ranking: ranking.threshold_for(fpr=0.1),
    "KS": lambda ranking: ranking.ks_statistic(),
    "EER": lambda ranking: ranking.equal_error_rate(),
    "BEP": lambda ranking: ranking.break_even_point(),
}


@pytest.mark.parametrize("kind", POINTS)
def test_values_at_the_best_cut_are_certified(kind: str) -> None:
    y, s = rows_of(20_000)
    summary = RankingSummary(cells=256)
    summary.update(y, s)
    found, expected = POINTS[kind](summary.ranking()), POINTS[kind](Ranking(y, s))
    assert isinstance(found.value, Certified)
    assert found.value.low <= expected.value <= found.value.high
    assert found.value.width < 0.05


def test_curves_enclose_that_of_the_rows() -> None:
    y, s = rows_of(20_000)
    summary = RankingSummary(cells=256)
    summary.update(y, s)
    curve, expected, x = summary.ranking().roc_curve(), Ranking(y, s).roc_curve(), np.linspace(0, 1, 301)
    worst, true, best = (np.interp(x, each.fpr, each.tpr) for each in (curve.worst, expected, curve.best))
    assert (worst <= true + 1e-12).all()
    assert (true <= best + 1e-12).all()
    counts = Ranking(y, s).counts
    on_it = zip(counts.fps / counts.n_neg, counts.tps / counts.n_pos, strict=True)
    assert {*zip(curve.points.fpr, curve.points.tpr, strict=True)} <= {*on_it}
    assert curve.area.low <= expected.area <= curve.area.high


@pytest.mark.parametrize("cells", [8, 5000])
def test_weights_of_any_size_are_within(cells: int) -> None:
    y, s = rows_of(1500)
    weights = np.random.default_rng(4).random(y.size) + 0.01
    summary = RankingSummary(cells=cells, largest_weight=2.0)
    summary.update(y, s, sample_weight=weights)
    assert not summary.is_exact
    assert_within(summary, Ranking(y, s, sample_weight=weights))
    assert float(summary.ranking().roc_auc().width) < (1e-4 if cells == 5000 else 0.5)  # type: ignore[union-attr]


# What is left alone ---------------------------------------------------------------------------------------------------


def state_of(summary: RankingSummary) -> bytes:
    return summary.to_bytes()


def test_neither_update_nor_merge_changes_others() -> None:
    y, s = rows_of(300)
    first, second = RankingSummary(cells=16), RankingSummary(cells=16)
    first.update(y, s)
    second.update(y[:50], s[:50])
    before = state_of(first), state_of(second)
    both = first.merge(second)
    both.update(y, s)
    assert (state_of(first), state_of(second)) == before
    y[:], s[:] = 1 - y, 0.0  # waiting rows were copied
    assert (state_of(first), state_of(second)) == before
    first.update(y, s)
    assert both.n_positives + both.n_negatives == 650
    assert state_of(second) == before[1]


@pytest.mark.parametrize(
    ("labels", "scores", "options", "message"),
    [
        ([0, 1], [0.5, np.nan], {}, "y_score.*1 NaN value.*row 1"),
        ([0, 1], [0.5, np.inf], {}, "y_score.*infinite"),
        ([0, 2], [0.5, 0.1], {}, r"y_true must have the labels 0 and 1, got 2 in 1 rows, the first at row 1"),
        (["a", "b"], [0.5, 0.1], {}, "y_true must have labels like 1, as before"),
        ([0, 1], [0.5], {}, "y_score has 1 rows, but y_true has 2|y_true has 2 rows"),
        ([0, 1], [2**53 + 1, 0], {}, "float64 holds exactly|rounds"),
        ([0, 1], [0.5, 0.1], {"sample_weight": [1, -1]}, "sample_weight"),
        ([0, 1], [0.5, 0.1], {"sample_weight": [1, 0.5]}, "sample_weight must hold whole numbers.*0.5 at row 1"),
        ([0, 1], [0.5, 0.1], {"sample_weight": [1]}, "sample_weight"),
    ],
)
def test_an_update_that_fails_changes_nothing(labels: Any, scores: Any, options: Any, message: str) -> None:
    y, s = rows_of(100)
    summary = RankingSummary(cells=16)
    summary.update(y, s)
    before = state_of(summary)
    with pytest.raises(ValueError, match=message):
        summary.update(labels, scores, **options)
    assert state_of(summary) == before


def test_one_class_and_no_rows() -> None:
    empty, summary = RankingSummary(), RankingSummary()
    empty.update([], [])
    summary.update([1, 1, 1], [0.1, 0.2, 0.2])
    assert repr(summary.merge(empty)) == "RankingSummary(3 rows, 3 positives, exact)"
    with pytest.warns(UndefinedMetricWarning, match="no negatives"):
        assert np.isnan(summary.ranking().roc_auc())
    summary.update([0], [0.15])
    assert summary.ranking().roc_auc() == 2 / 3
    assert empty.merge().cells.low.size == 0


def test_labels_of_other_names() -> None:
    first, second = RankingSummary(pos_label="spam"), RankingSummary(pos_label="spam")
    first.update(["spam", "ham"], [0.9, 0.1])
    second.update(["ham", "ham"], [0.3, 0.95])
    assert (
        first.merge(second).ranking().roc_auc()
        == Ranking(["spam", "ham", "ham", "ham"], [0.9, 0.1, 0.3, 0.95], pos_label="spam").roc_auc()
    )
    other = RankingSummary(pos_label="fraud")
    other.update(["fraud", "fine"], [0.9, 0.1])
    with pytest.raises(ValueError, match="summaries must have the same labels, got 'spam' and 'fraud'"):
        first.merge(other)
    with pytest.raises(ValueError, match="others must be RankingSummary, got a int"):
        first.merge(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"same largest_weight, got None and 2\.0"):
        first.merge(RankingSummary(largest_weight=2.0))


# Bytes and cells ------------------------------------------------------------------------------------------------------


def examples() -> list[RankingSummary]:
    y, s = rows_of(2000)
    made = [
        RankingSummary(),
        RankingSummary(cells=32, at=0.5),
        RankingSummary(largest_weight=3.0),
        RankingSummary(pos_label="b"),
    ]
    made[1].update(y, s)
    made[2].update(y, s, sample_weight=np.full(y.size, 0.3))
    made[3].update(np.array(["a", "b"])[y], s.round(1))
    return made


@pytest.mark.parametrize("kind", range(4))
def test_bytes_give_the_summary_back(kind: int) -> None:
    summary = examples()[kind]
    data = summary.to_bytes()
    for again in (
        RankingSummary.from_bytes(data),
        pickle.loads(pickle.dumps(summary)),
        RankingSummary.from_bytes(memoryview(data)),
    ):
        assert again.to_bytes() == data
        assert repr(again) == repr(summary)
    if kind:
        assert str(again.ranking().roc_auc()) == str(summary.ranking().roc_auc())


def mutated(rng: np.random.Generator, data: bytes) -> bytes:
    """Change, cut or repeat some bytes; half the time recompute the checksum."""
    from hashlib import blake2b

    changed = bytearray(data)
    at = int(rng.integers(len(data)))
    match rng.integers(4):
        case 0:
            changed[at] = int(rng.integers(256))
        case 1:
            del changed[at:]
        case 2:
            changed[at : at + 8] = rng.bytes(8)
        case _:
            changed[at:at] = changed[at : at + int(rng.integers(1, 30))]
    if rng.random() < 0.5 and len(changed) > 16:
        changed[-16:] = blake2b(changed[:-16], digest_size=16).digest()
    return bytes(changed)


@pytest.mark.parametrize("n", [600, pytest.param(100_000, marks=pytest.mark.slow)])
def test_damaged_bytes_are_an_error_or_a_summary(n: int) -> None:
    rng, payloads = np.random.default_rng(5), [each.to_bytes() for each in examples()]
    read = 0
    for trial in range(n):
        data = mutated(rng, payloads[trial % 4])
        try:
            summary = RankingSummary.from_bytes(data)
        except ValueError as error:
            message = str(error)
        else:
            message, read = "data", read + 1
            assert summary.n_positives >= 0
        assert message.startswith("data"), message
    assert read < n / 4


def test_bytes_of_something_else() -> None:
    data = RankingSummary().to_bytes()
    for wrong, message in (
        ("text", "data must be bytes, got a str"), (b"", "not a summary of fastevals"), (b"PK" + data, "not a summary"),
        (data[:9] + b"\x07\x00" + data[11:], "of version 7, which this fastevals can't read: it reads up to 2"),
        (data[:-1], "damaged or cut off"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            RankingSummary.from_bytes(wrong)  # type: ignore[arg-type]


def test_cells_counted_elsewhere() -> None:
    y, s = rows_of(4000)
    bucket = np.floor(s * 64)
    keys = np.unique(bucket)
    rows = [bucket == key for key in keys]
    low, high = (np.array([function(s[each]) for each in rows]) for function in (np.min, np.max))
    positives, negatives = (np.array([np.count_nonzero(y[each] == label) for each in rows]) for label in (1, 0))
    summary = RankingSummary.from_cells(low, high, positives, negatives)
    assert (summary.n_positives, summary.n_negatives) == (y.sum(), 4000 - y.sum())
    assert_within(summary, Ranking(y, s))
    summary.update([0, 1], [0.0, 1.0])
    assert_within(summary, Ranking(np.append(y, [0, 1]), np.append(s, [0.0, 1.0])))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"low": [0.5, 0.3]}, r"low must not be above high, got .*0.5.* and .*0.4.* at row 0"),
        ({"low": [np.nan, 0.3]}, "low.*NaN"),
        ({"positives": [-1, 2]}, "positives"),
        ({"positives": [0.5, 2]}, "positives must hold whole numbers, got 0.5 at row 0"),
        ({"high": [0.4]}, "high has 1 rows|has 2 rows"),
        ({"negatives": [2**63 - 1, 2**63 - 1]}, "negatives"),
    ],
)
def test_cells_that_can_not_be(change: dict[str, Any], message: str) -> None:
    given = {"low": [0.1, 0.3], "high": [0.4, 0.9], "positives": [1, 2], "negatives": [2, 3]} | change
    with pytest.raises(ValueError, match=message):
        RankingSummary.from_cells(**given)  # type: ignore[arg-type]


# Odd input ------------------------------------------------------------------------------------------------------------


def test_names_of_classes_are_kept() -> None:
    for cells in (2, 100):
        summary = RankingSummary(pos_label=np.str_("spam"), cells=cells)
        summary.update(["spam", "ham"] * 3, [1, 2, 3, 4, 5, 6])
        matrix = pickle.loads(pickle.dumps(summary)).ranking().confusion_at(np.inf)
        assert (matrix.labels.tolist(), matrix.pos_label) == (["ham", "spam"], "spam")
    for label in (np.int64(1), np.True_, np.float64(1)):
        summary = RankingSummary(pos_label=label)
        summary.update([0, 1], [0.1, 0.9])
        assert RankingSummary.from_bytes(summary.to_bytes()).ranking().roc_auc() == 1
    for wrong in (np.nan, [1], b"x", np.datetime64("2020-01-01")):
        with pytest.raises(ValueError, match="pos_label must be a number, a boolean or a string, got"):
            RankingSummary(pos_label=wrong)


@pytest.mark.filterwarnings("ignore::fastevals.UndefinedMetricWarning")
@pytest.mark.parametrize("options", [{}, {"largest_weight": 1.0}, {"at": 0.5}])
def test_no_rows_are_fine_until_read(options: Any) -> None:
    summary = RankingSummary.from_bytes(RankingSummary(**options).to_bytes())
    ranking = summary.ranking()
    assert all(np.isnan(getattr(ranking, name)()) for name in NUMBERS)
    assert np.isnan(ranking.expected_cost(0.5))
    assert ranking.confusion_at(0.5).counts.sum() == 0
    assert RankingSummary.from_cells([], [], [], []).ranking().confusion_at(0.5).counts.sum() == 0


@pytest.mark.parametrize("label", [0, 1])
def test_of_one_class_what_is_certain_is_exact(label: int) -> None:
    _, s = rows_of(500)
    summary, rows = RankingSummary(cells=16, pos_label=1), np.full(500, label)
    summary.update(rows, s)
    ranking, expected = summary.ranking(), Ranking(rows, s, pos_label=1)
    assert not summary.is_exact
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        for name in NUMBERS:
            np.testing.assert_equal(getattr(ranking, name)(), getattr(expected, name)())


def test_weights_past_what_is_counted() -> None:
    summary = RankingSummary()
    with pytest.raises(ValueError, match=r"sample_weight must be at most 2\*\*53, got 1e\+300 at row 0"):
        summary.update([0, 1], [0.1, 0.2], sample_weight=[1e300, 1.0])
    big = RankingSummary.from_cells([0.1], [0.2], [2**61], [2**61 - 2**52])
    with pytest.raises(ValueError, match=r"summaries must add up to at most 2\*\*62 rows"):
        big.merge(big)
    with pytest.raises(ValueError, match=r"sample_weight of all rows must add up to at most 2\*\*62 rows"):
        big.update([1], [0.5], sample_weight=[2**53])
    assert big.n_positives == 2**61
    with pytest.raises(ValueError, match=r"largest_weight must be in \[.*got 1e-320"):
        RankingSummary(largest_weight=1e-320)
    with pytest.raises(ValueError, match="at must be scores that float64 holds exactly"):
        RankingSummary(at=[2**53 + 1])


def test_weighted_rows_are_told_as_rows_and_their_weight_by_the_counts() -> None:
    summary = RankingSummary(largest_weight=1.0, cells=8)
    summary.update([0, 1, 1], [0.1, 0.2, 0.3], sample_weight=[0.5, 0.25, 1.0])
    assert repr(summary) == "RankingSummary(3 rows, 2 positives, weighted, exact)"
    assert (summary.n_positives, summary.n_negatives) == (2, 1)
    assert (summary.ranking().counts.n_pos, summary.ranking().counts.n_neg) == (1.25, 0.5)


def test_a_limit_that_rounding_of_weights_may_cross_is_within() -> None:
    """Precision equals the limit for the rows, but is slightly less for the units they were counted in."""
    weights, limit = np.array([0.3, 0.3, 0.6 + 3e-9]), 0.6 / (1.2 + 3e-9)
    summary = RankingSummary(largest_weight=1.0)
    summary.update([1, 1, 0], [0.5, 0.5, 0.5], sample_weight=weights)
    for constraint in (limit - 1e-9, limit, limit + 1e-9):
        found = summary.ranking().metric(metric("recall", precision=constraint))  # type: ignore[union-attr]
        assert (found.low, found.high) == (0, 1)


def test_decision_curves_of_probabilities() -> None:
    y, s = rows_of(4000)
    p = 1 / (1 + np.exp(-s))
    summary = RankingSummary(cells=64)
    summary.update(y, p)
    found, expected = summary.ranking().net_benefit(0.3), Ranking(y, p).net_benefit(0.3)
    assert found.low <= expected <= found.high
    assert summary.ranking().decision_curve() is not None


def test_certified_numbers_are_formatted_and_stored() -> None:
    summary = RankingSummary(cells=8)
    summary.update(*rows_of(400))
    auc = summary.ranking().roc_auc()
    assert f"{auc:.3f}" == f"{float(auc):.3f}"
    assert f"{auc}" == repr(auc)
    again = pickle.loads(pickle.dumps(summary.ranking()))
    assert again.roc_auc() == auc
    assert RankingSummary.from_cells([1, 2], [5, 3], [3, 1], [4, 0]).ranking().roc_auc().low >= 0  # type: ignore[union-attr]
