"""All summaries: parts in any order and tree equal one update with all rows, and errors change nothing."""

from __future__ import annotations

import hashlib
import math
import pickle
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

import fastevals
from fastevals import ConfusionMatrix, Ranking, grouped_auc
from fastevals.scale import (
    Certified,
    ClassScoresSummary,
    ConfusionSummary,
    GroupSummary,
    ProbabilitySummary,
    RankingSummary,
    ScoreGrid,
    TargetSummary,
)

PAYLOADS = Path(__file__).parent / "payloads"


class Kind(NamedTuple):
    """A kind of summary: how to make it, its rows, and the results read from it."""

    make: Callable[[], Any]
    columns: Callable[[np.random.Generator, int], list[NDArray[Any]]]
    read: Callable[[Any], list[Any]]
    exact: bool = True


def binary(rng: np.random.Generator, n: int) -> list[NDArray[Any]]:
    y = rng.integers(0, 2, n)
    y[:2] = 0, 1
    return [y, np.round(rng.random(n), int(rng.integers(1, 4)))]


def grouped(rng: np.random.Generator, n: int) -> list[NDArray[Any]]:
    return [*binary(rng, n), np.array([f"g{k}" for k in rng.integers(0, max(n // 8, 1), n)])]


def numbers(rng: np.random.Generator, n: int) -> list[NDArray[Any]]:
    y = rng.normal(size=n) * 3 + 100
    return [y, y + rng.normal(size=n)]


def classes(rng: np.random.Generator, n: int) -> list[NDArray[Any]]:
    names = np.array(["ant", "bee", "cow", "dog", "eel"])
    return [names[rng.integers(0, 5, n)], names[rng.integers(0, 5, n)]]


def probabilities(rng: np.random.Generator, n: int) -> list[NDArray[Any]]:
    names = np.array(["ant", "bee", "cow"])
    return [names[rng.integers(0, 3, n)], rng.multinomial(64, rng.dirichlet(np.ones(3), n)) / 64]


def of_classes(summary: ClassScoresSummary) -> list[Any]:
    names = ("log_loss", "brier_score", "ranked_probability_score", "hand_till", "roc_auc", "accuracy")
    return [summary.to_bytes(), *map(summary.metric, names), *map(summary.standard_error, names[:3])]


def of_targets(summary: TargetSummary) -> list[Any]:
    names = (
        "mean_squared_error",
        "mean_absolute_error",
        "r2",
        "mean_absolute_percentage_error",
        "median_absolute_error",
    )
    return [*map(summary.metric, names), *map(summary.standard_error, names[:4])]


def of_groups(summary: GroupSummary) -> list[Any]:
    found = summary.auc(interval="delong")
    return [found.groups.tolist(), found.values, found.n_samples, found.standard_errors, found.mean]


KINDS = {
    "ranking": Kind(RankingSummary, binary, lambda s: [s.ranking().roc_auc(), s.ranking().average_precision()]),
    "grid": Kind(lambda: RankingSummary(grid=ScoreGrid([0.2, 0.5])), binary, lambda s: [s.to_bytes()]),
    "probability": Kind(ProbabilitySummary, binary, lambda s: [*s.metrics().values(), s.counts().thresholds]),
    "confusion": Kind(ConfusionSummary, classes, lambda s: [s.matrix().counts, s.matrix().labels.tolist()]),
    "group": Kind(GroupSummary, grouped, of_groups),
    "classes": Kind(
        lambda: ClassScoresSummary(["ant", "bee", "cow"], ordered=True, n_bins=3, cells=256), probabilities, of_classes
    ),
    "target": Kind(TargetSummary, numbers, of_targets, exact=False),
}


def assert_same(kind: Kind, found: Any, expected: Any) -> None:
    for one, other in zip(kind.read(found), kind.read(expected), strict=True):
        if kind.exact:
            np.testing.assert_array_equal(one, other)
        else:
            np.testing.assert_allclose(np.array([float(one)]), np.array([float(other)]), rtol=1e-9)


@pytest.mark.filterwarnings("ignore::fastevals.UndefinedMetricWarning")
@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 60))])
@pytest.mark.parametrize("name", KINDS)
def test_parts_in_any_order_are_the_whole(name: str, seed: int) -> None:
    kind, rng = KINDS[name], np.random.default_rng(seed)
    n = int(rng.integers(3, 200))
    columns = kind.columns(rng, n)
    weights = rng.integers(0, 4, n) if seed % 2 else None

    def summary(rows: NDArray[np.intp]) -> Any:
        made = kind.make()
        for some in np.array_split(rows, 2):
            given = {} if weights is None else {"frequency_weight": weights[some]}
            made.update(*(column[some] for column in columns), **given)
        return made

    whole = summary(np.arange(n))
    parts = [summary(rows) for rows in np.array_split(rng.permutation(n), np.sort(rng.integers(0, n, 5)))]
    before = [part.to_bytes() for part in parts]
    parts = [type(part).from_bytes(part.to_bytes()) if rng.random() < 0.5 else part for part in parts]
    left = list(parts)
    while len(left) > 1:
        n_taken = min(len(left), int(rng.integers(2, 4)))
        taken = [left.pop(int(rng.integers(len(left)))) for _ in range(n_taken)]
        left.append(taken[0].merge(*taken[1:]))
    assert_same(kind, left[0], whole)
    assert [part.to_bytes() for part in parts] == before  # the parts are unchanged
    left[0].merge(whole)
    assert_same(kind, pickle.loads(pickle.dumps(left[0])), whole)


@pytest.mark.parametrize("name", KINDS)
def test_no_rows_are_stored(name: str) -> None:
    empty = KINDS[name].make().to_bytes()
    kept = type(KINDS[name].make()).from_bytes(empty)
    assert kept.to_bytes() == empty
    assert kept.merge(example(name)).to_bytes() == KINDS[name].make().merge(example(name)).to_bytes()


@pytest.mark.parametrize("name", KINDS)
def test_an_update_that_fails_changes_nothing(name: str) -> None:
    kind, rng = KINDS[name], np.random.default_rng(0)
    summary, columns = kind.make(), kind.columns(rng, 20)
    summary.update(*columns)
    before = summary.to_bytes()
    bad = {
        "another length": [columns[0][:-1], *columns[1:]],
        "other types": [np.arange(20) if columns[0].dtype.kind == "U" else np.array(["a", "b"] * 10), *columns[1:]],
    }
    if columns[1].dtype.kind == "f":
        bad["NaN"] = [columns[0], columns[1].copy(), *columns[2:]]
        bad["NaN"][1][3] = np.nan
    for what, wrong in bad.items():
        with pytest.raises(ValueError, match=r"y_|labels|scores"):
            summary.update(*wrong)
        assert summary.to_bytes() == before, what
    for weights in (
        {"sample_weight": -np.ones(20)}, {"sample_weight": np.empty(0)}, {"frequency_weight": np.empty(0, int)}
    ):  # fmt: skip
        with pytest.raises(ValueError, match=next(iter(weights))):
            summary.update(*columns, **weights)
    assert summary.to_bytes() == before
    summary.update(*(column[:0] for column in columns))  # no rows
    assert summary.to_bytes() == before
    with pytest.raises(ValueError, match="others must be"):
        summary.merge("something else")


# Against rows in memory -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_losses_are_those_of_memory_to_the_bit(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 5000))
    y = rng.integers(0, 2, n)
    p = [rng.random(n), rng.beta(0.05, 0.05, n).clip(1e-12, 1 - 1e-12), np.round(rng.random(n), 1)][seed]
    weights = [None, rng.integers(0, 5, n) + 1, None][seed]
    summary, ranking = ProbabilitySummary(), Ranking(y, p, sample_weight=weights, pos_label=1)
    for rows in np.array_split(rng.permutation(n), 3):
        summary.update(y[rows], p[rows], sample_weight=None if weights is None else weights[rows])
    assert summary.brier_score() == ranking.brier_score()
    assert summary.log_loss() == ranking.log_loss()
    curve, expected = summary.calibration_curve(), ranking.calibration_curve()
    np.testing.assert_array_equal(curve.mean_predicted, expected.mean_predicted)
    np.testing.assert_array_equal(curve.fraction_of_positives, expected.fraction_of_positives)
    assert summary.expected_calibration_error() == expected.expected_calibration_error
    cells = summary.counts()
    assert (cells.n_pos, cells.n_neg) == (ranking.counts.n_pos, ranking.counts.n_neg)
    assert ((cells.thresholds[1:] >= 0) & (cells.thresholds[1:] <= 1)).all()


@pytest.mark.parametrize("p", [1e-300, 5e-324, 1e-20, 3e-150, 1e-10, 0.0])
def test_losses_that_are_nearly_none(p: float) -> None:
    one, other = ProbabilitySummary(), ProbabilitySummary()
    one.update([0, 0], [p, p / 2])
    other.update([0, 1], [p / 4, 1.0])
    merged = ProbabilitySummary.from_bytes(one.merge(other).to_bytes())
    values = [Fraction(each) for each in (p, p / 2, p / 4, 0.0)]
    assert merged.log_loss() == pytest.approx(
        float(sum(Fraction(-math.log1p(-each)) for each in values) / 4), rel=1e-15
    )
    ranking = Ranking([0, 0, 0, 1], [p, p / 2, p / 4, 1.0])
    assert (merged.log_loss(), merged.brier_score()) == (ranking.log_loss(), ranking.brier_score())
    squares = sum(Fraction(float(each) ** 2) for each in values) / 4
    assert merged.brier_score() == float(squares)
    merged.update([1], [0.25])  # now they no longer count
    assert merged.brier_score() == Ranking([0, 0, 0, 1, 1], [p, p / 2, p / 4, 1.0, 0.25]).brier_score()


def test_losses_without_end_and_scores_that_are_no_probabilities() -> None:
    summary = ProbabilitySummary()
    summary.update([0, 1, 1], [1.0, 0.0, 0.5])
    assert summary.log_loss() == np.inf
    summary.update([0, 1], [0.2, 1.5])
    with pytest.warns(fastevals.UndefinedMetricWarning):
        assert np.isnan(summary.brier_score())
    with pytest.raises(ValueError, match=r"within \[0, 1\]"):
        summary.calibration_curve()
    with pytest.warns(fastevals.UndefinedMetricWarning):
        assert np.isnan(ProbabilitySummary().log_loss())


def test_rows_of_weight_zero_are_no_probabilities_either() -> None:
    summary = ProbabilitySummary()
    summary.update([0, 1, 1], [0.2, 0.7, 1.5], sample_weight=[1, 1, 0])
    assert summary.brier_score() == Ranking([0, 1], [0.2, 0.7]).brier_score()


def test_auc_of_groups_with_large_weights() -> None:
    summary, large = GroupSummary(), 2**45
    summary.update([0, 1, 1], [0.1, 0.2, 0.05], ["a"] * 3, sample_weight=[large, 3 * large, large])
    assert GroupSummary.from_bytes(summary.to_bytes()).auc()["a"] == 0.75


def test_a_matrix_is_that_of_memory() -> None:
    rng = np.random.default_rng(0)
    true, predicted = classes(rng, 500)
    summary = ConfusionSummary()
    for rows in np.array_split(np.argsort(true), 7):  # classes come one after the other
        summary.update(true[rows], predicted[rows])
    expected = ConfusionMatrix.from_predictions(true, predicted)
    np.testing.assert_array_equal(summary.matrix().counts, expected.counts)
    assert summary.matrix().cohen_kappa() == expected.cohen_kappa()
    weights = rng.random(500)
    weighted = ConfusionSummary(largest_weight=1.0)
    weighted.update(true, predicted, sample_weight=weights)
    weighed = ConfusionMatrix.from_predictions(true, predicted, sample_weight=weights)
    np.testing.assert_allclose(weighted.matrix().counts, weighed.counts, rtol=1e-5)
    with pytest.raises(ValueError, match=r"summaries must have the same largest_weight, got 1\.0 and 2\.5"):
        weighted.merge(ConfusionSummary(largest_weight=2.5))
    with pytest.raises(ValueError, match="has no rows"):
        ConfusionSummary().matrix()
    drawn = [fastevals.bootstrap(each, "accuracy", n_resamples=50, rng=0) for each in (summary, summary.matrix())]
    assert drawn[0]["accuracy"].confidence_interval == drawn[1]["accuracy"].confidence_interval
    assert drawn[0]["accuracy"].value == expected.accuracy()


def test_errors_are_those_of_memory() -> None:
    rng = np.random.default_rng(0)
    y, p = numbers(rng, 3000)
    weights = rng.random(3000)
    for w in (None, weights):
        summary = TargetSummary()
        for rows in np.array_split(rng.permutation(3000), 4):
            summary.update(y[rows], p[rows], sample_weight=None if w is None else w[rows])
        square = np.average((y - p) ** 2, weights=w)
        assert summary.metric("mean_squared_error") == pytest.approx(square, rel=1e-14)
        assert summary.metric("mean_absolute_error") == pytest.approx(np.average(np.abs(y - p), weights=w), rel=1e-14)
        scatter = np.average((y - np.average(y, weights=w)) ** 2, weights=w)
        assert summary.metric("r2") == pytest.approx(1 - square / scatter, rel=1e-12)
    exact = TargetSummary()
    exact.update(y, p)
    middle = exact.metric("median_absolute_error")
    assert float(middle) == np.median(np.abs(y - p))
    many = TargetSummary()
    for _ in range(8):
        many.update(y, y + rng.normal(size=3000))
    found = many.metric("median_absolute_error")
    assert isinstance(found, Certified)
    assert found.width < 1e-2
    with pytest.raises(ValueError, match="a summary has no median_absolute_error"):
        summary.metric("median_absolute_error")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mean_squared_error", "root_mean_squared_error", "mean_absolute_error", "r2"])
def test_standard_errors_are_those_of_a_bootstrap(name: str) -> None:
    y, p = numbers(np.random.default_rng(0), 20_000)
    summary = TargetSummary()
    summary.update(y, p)
    found = fastevals.bootstrap((y, p), name, n_resamples=4000, rng=0)[name]
    assert summary.standard_error(name) == pytest.approx(found.standard_error, rel=0.04)
    assert summary.confidence_interval(name) == pytest.approx(tuple(found.confidence_interval), rel=0.01)


@pytest.mark.filterwarnings("ignore::fastevals.UndefinedMetricWarning")
def test_groups_are_those_of_memory() -> None:
    rng = np.random.default_rng(0)
    y, s, g = grouped(rng, 2000)
    summary = GroupSummary()
    for rows in np.array_split(rng.permutation(2000), 5):
        summary.update(y[rows], s[rows], g[rows])
    found, expected = summary.auc(interval="delong"), grouped_auc(y, s, g, interval="delong")
    assert found.groups.tolist() == expected.groups.tolist()
    np.testing.assert_allclose(found.values, expected.values, rtol=1e-14)
    np.testing.assert_allclose(found.standard_errors, expected.standard_errors, rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(found.n_positives, expected.n_positives)
    assert found.mean == pytest.approx(expected.mean, rel=1e-13)
    np.testing.assert_allclose(found.mean_confidence_interval, expected.mean_confidence_interval, rtol=1e-10)


def test_a_group_without_weight_has_an_undefined_ranking() -> None:
    summary = GroupSummary()
    summary.update([0, 1, 1, 0], [0.1, 0.2, 0.3, 0.4], ["a", "a", "b", "b"], sample_weight=[1, 1, 0, 0])
    for each in (summary, GroupSummary.from_bytes(summary.to_bytes()), summary.merge(GroupSummary())):
        rankings = each.rankings()
        assert list(rankings) == ["a", "b"]
        assert rankings["a"].roc_auc() == 1
        assert (rankings["b"].n_positives, rankings["b"].n_negatives) == (0, 0)
        assert rankings["b"].confusion_at(0.3).counts.tolist() == [[0, 0], [0, 0]]
        with pytest.warns(fastevals.UndefinedMetricWarning):
            assert np.isnan(rankings["b"].roc_auc())
        with pytest.warns(fastevals.UndefinedMetricWarning):
            assert np.isnan(each.auc().values[1])


@pytest.mark.parametrize("bad", [[2.0**62, 1.0], [1e300, 1e300]])
def test_weights_that_overflow_change_nothing(bad: list[float]) -> None:
    summary = TargetSummary()
    summary.update([1.0, 2.0], [1.0, 3.0])
    before = summary.to_bytes()
    with pytest.raises(ValueError, match="sample_weight"):
        summary.update([1e10, -1e10], [-1e10, 1e10], sample_weight=bad)
    assert summary.to_bytes() == before


def test_large_numbers_are_summed_or_an_error() -> None:
    large, other = TargetSummary(), TargetSummary()
    large.update([2.0**239, -(2.0**239), 1.0], [-(2.0**239), 2.0**239, 0.0])
    other.update([-(2.0**239), 3.0], [0.0, 2.0**239])
    merged = large.merge(other)
    again = TargetSummary.from_bytes(merged.to_bytes())
    assert again.metric("mean_squared_error") == pytest.approx((2 * 2.0**480 + 2 * 2.0**478) / 5)
    assert again.standard_error("r2") == merged.standard_error("r2")
    with pytest.raises(ValueError, match=r"y_pred must be below 2\*\*240"):
        large.update([1.0], [1e73])


def test_probabilities_count_large_weights_exactly_or_not_at_all() -> None:
    y, p = binary(np.random.default_rng(0), 500)
    one, many = ProbabilitySummary(), ProbabilitySummary()
    one.update(y, p)
    many.update(y, p, sample_weight=np.full(500, 2**28))
    assert many.metrics() == one.metrics()
    np.testing.assert_array_equal(many.counts().thresholds, one.counts().thresholds)
    before = many.to_bytes()
    with pytest.raises(ValueError, match=r"at most 2\*\*37"):
        many.update(y, p, sample_weight=np.full(500, 2**24))
    with pytest.raises(ValueError, match=r"at most 2\*\*37"):
        many.merge(many)
    assert many.to_bytes() == before


@pytest.mark.filterwarnings("ignore::fastevals.UndefinedMetricWarning")
@pytest.mark.parametrize(
    "names",
    [["a\0b", "c", "a"], ["", "a", "\ud800"], [True, False, True], [-0.0, 0.0, 1.5], [2**60, 2**60 + 1, 3]],
    ids=["nul", "surrogate", "booleans", "zeros", "integers"],
)
def test_groups_of_any_name_are_stored(names: list[Any]) -> None:
    summary = GroupSummary()
    summary.update([0, 1, 1], [0.1, 0.2, 0.3], names)
    again = GroupSummary.from_bytes(summary.to_bytes())
    assert again.auc().groups.tolist() == sorted(set(names))
    assert again.merge(summary).n_groups == len(set(names))


@pytest.mark.filterwarnings("ignore::fastevals.UndefinedMetricWarning")
def test_groups_of_two_kinds_of_numbers_are_exact_or_an_error() -> None:
    whole, parts = GroupSummary(), GroupSummary()
    whole.update([0, 1], [0.1, 0.2], [1, 2])
    parts.update([0, 1], [0.1, 0.2], [1.5, 2.0])
    for merged in (whole.merge(parts), parts.merge(whole)):
        assert GroupSummary.from_bytes(merged.to_bytes()).auc().groups.tolist() == [1.0, 1.5, 2.0]
    whole.update([0, 1], [0.1, 0.2], [2**53, 2**53 + 1])
    before = whole.to_bytes()
    with pytest.raises(ValueError, match=r"at most 2\*\*53 where some have a fraction"):
        whole.update([0], [0.1], [0.5])
    with pytest.raises(ValueError, match=r"at most 2\*\*53 where some have a fraction"):
        parts.merge(whole)
    with pytest.raises(ValueError, match="64-bit signed integers"):
        whole.update([0], [0.1], np.array([2**63], dtype=np.uint64))
    assert whole.to_bytes() == before


def test_groups_have_bounded_memory() -> None:
    summary = GroupSummary(most_scores=5)
    summary.update([0, 1, 1], [0.1, 0.2, 0.3], [1, 1, 2])
    summary.update([0, 1, 1], [0.1, 0.2, 0.3], [1, 1, 2])
    before = summary.to_bytes()
    with pytest.raises(ValueError, match="groups must have at most most_scores = 5 distinct scores, got 6"):
        summary.update([0, 1, 0], [0.4, 0.5, 0.6], [1, 2, 3])
    assert summary.to_bytes() == before
    with pytest.raises(ValueError, match="groups must be like 1, as before, got 'a'"):
        summary.update([0], [0.1], ["a"])


# Bytes ----------------------------------------------------------------------------------------------------------------


def example(name: str) -> Any:
    """Return a small summary that stays the same between versions."""
    kind = KINDS[name]
    summary = kind.make()
    summary.update(*kind.columns(np.random.default_rng(7), 24))
    return summary


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.filterwarnings("ignore::fastevals.UndefinedMetricWarning")
def test_bytes_of_version_1_are_read_for_ever(name: str) -> None:
    kept = (PAYLOADS / f"{name}.1.fe").read_bytes()
    assert len(kept) < 2500
    kind = KINDS[name]
    assert_same(kind, type(example(name)).from_bytes(kept), example(name))


@pytest.mark.parametrize("n", [60, pytest.param(20_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", KINDS)
def test_bytes_that_are_damaged_are_an_error(name: str, n: int) -> None:
    data, kind = bytearray(example(name).to_bytes()), type(example(name))
    rng = np.random.default_rng(0)
    for number in range(n):
        changed = bytearray(data)
        for _ in range(int(rng.integers(1, 4))):
            changed[int(rng.integers(len(changed)))] = int(rng.integers(256))
        if rng.random() < 0.2:
            changed = changed[: int(rng.integers(len(changed)))]
        if number % 2:  # recompute the checksum
            changed = changed[:-16] + hashlib.blake2b(bytes(changed[:-16]), digest_size=16).digest()
        try:
            found = kind.from_bytes(bytes(changed))
        except ValueError:  # the only error allowed
            continue
        found.to_bytes()


@pytest.mark.parametrize("weighted", [False, True])
def test_isotonic_parts_of_cells_are_nearly_those_of_rows(weighted: bool) -> None:
    rng = np.random.default_rng(4)
    p = rng.beta(1, 3, 20_000)
    y = (rng.random(p.size) < p**1.3).astype(int)
    options = {"sample_weight": rng.integers(0, 4, p.size)} if weighted else {}
    ranking = Ranking(y, p, **options)
    parts = [ProbabilitySummary(), ProbabilitySummary()]
    for part, rows in zip(parts, (slice(0, 7000), slice(7000, None)), strict=True):
        part.update(y[rows], p[rows], **{name: weights[rows] for name, weights in options.items()})
    summary = parts[0].merge(parts[1])
    for name in ("brier_decomposition", "log_loss_decomposition"):
        cells, exact = getattr(summary, name)(), getattr(ranking, name)()
        assert cells.score == pytest.approx(exact.score, rel=1e-14)
        assert cells.uncertainty == pytest.approx(exact.uncertainty, rel=1e-14)
        assert 0.8 * exact.miscalibration < cells.miscalibration <= exact.miscalibration
        assert 0.98 * exact.discrimination < cells.discrimination <= exact.discrimination
    curve, own = summary.reliability_curve(), ranking.reliability_curve()
    assert curve.decomposition == summary.brier_decomposition()
    at = np.linspace(0.02, 0.9, 50)
    np.testing.assert_allclose(curve.at(at), own.at(at), atol=0.06)
    assert fastevals.calibration(summary).isotonic.calibrated.tolist() == curve.calibrated.tolist()
    other = ProbabilitySummary()
    other.update([0, 1], [1, 7])
    for call in (other.reliability_curve, other.brier_decomposition, other.log_loss_decomposition):
        with pytest.raises(ValueError, match=r"y_score must be probabilities, within \[0, 1\], got"):
            call()
