"""All tests of two learners name the learners in the conclusion, and accept estimates from splits."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastevals
from fastevals import (
    BootstrapSplit,
    DependentSplitsWarning,
    HoldOut,
    KFold,
    LeaveOneOut,
    SignificanceResult,
    estimate_error,
    evaluate_splits,
)
from fastevals.infer import significance
from fastevals.infer.significance.pairwise import TESTS

Y, A, B = [0, 1, 1, 0, 1, 0], [0, 1, 1, 1, 1, 0], [0, 1, 0, 0, 0, 1]
X, Z = [0.1, 0.4, 0.35, 0.8, 0.7, 0.3], [0.2, 0.1, 0.3, 0.7, 0.6, 0.8]
TEN = np.array([0.22, 0.24, 0.23, 0.21, 0.25, 0.22, 0.20, 0.23, 0.24, 0.22]).reshape(5, 2)
RANKINGS = fastevals.Ranking(Y, X), fastevals.Ranking(Y, Z)
Named = Callable[..., SignificanceResult]

NAMED: dict[str, tuple[Named, str]] = {
    "delong": (lambda **k: fastevals.delong_test(Y, X, Z, **k), "DeLong's test"),
    "unpaired": (lambda **k: fastevals.delong_test_unpaired(*RANKINGS, **k), "DeLong's unpaired test"),
    "mcnemar": (lambda **k: fastevals.mcnemar_test(Y, A, B, **k), "McNemar's exact test"),
    "table": (
        lambda **k: fastevals.mcnemar_test_of_table([[9, 4], [1, 5]], method="mid-p", **k),
        "McNemar's mid-p test",
    ),
    "permutation": (lambda **k: fastevals.permutation_test(Y, A, B, "f1", **k), "the paired permutation test"),
    "means": (lambda **k: fastevals.paired_permutation_test(X, Z, **k), "the paired permutation test"),
    "t": (lambda **k: fastevals.paired_t_test(X, Z, **k), "the paired t-test"),
    "resampled": (
        lambda **k: fastevals.corrected_resampled_t_test(X, Z, n_train=9, n_test=1, **k),
        "the corrected resampled t-test",
    ),
    "5x2cv t": (lambda **k: fastevals.five_by_two_cv_t_test(TEN, 2 * TEN[::-1], **k), "the 5x2cv t-test"),
    "5x2cv F": (lambda **k: fastevals.five_by_two_cv_f_test(TEN, 2 * TEN[::-1], **k), "the combined 5x2cv F-test"),
    "wilcoxon": (lambda **k: fastevals.wilcoxon_test(X, Z, **k), "Wilcoxon's signed-rank test"),
    "sign": (lambda **k: fastevals.sign_test(X, Z, **k), "the sign test"),
    "equivalence": (lambda **k: fastevals.equivalence_test(X, Z, margin=0.1, **k), "two one-sided signed-rank tests"),
}


@pytest.mark.parametrize("name", NAMED)
def test_the_conclusion_names_the_learners_and_the_test(name: str) -> None:
    test, title = NAMED[name]
    found, plain = test(names=("the old", "the new")), test()
    first, second = (found.conclusion.lower().index(each) for each in ("the old", "the new"))
    assert first < second
    assert f"{title.removeprefix('the ')}, p = " in found.conclusion
    assert "the old" not in plain.conclusion
    assert tuple(found) == tuple(plain)
    for names in ("ab", ("a",), ("a", "a"), ("a", ""), (1, 2), 3, {"a": 1, "b": 2}):
        with pytest.raises(ValueError, match=r"names must be two different strings, such as .* got "):
            test(names=names)


def test_the_conclusion_gives_the_interval_of_every_test_that_has_one() -> None:
    without = []
    for name, (test, _) in NAMED.items():
        found = test()
        if found.confidence_interval is None:
            without.append(name)
        else:
            assert (" % interval " in found.conclusion) != ("so few differences" in found.conclusion)
    assert without == ["permutation", "means", "5x2cv F"]  # docs/tests.md says so


def test_every_test_of_two_learners_takes_names() -> None:
    one = {"binomial_error_test", "error_rate_t_test"}
    many = {"bonferroni_dunn_test", "cochran_q_test", "friedman_test", "nemenyi_test", "rank_comparison_test"}
    many |= {"skillings_mack_test"}
    tests = {name for name in fastevals.__all__ if "_test" in name and not name.startswith("pairwise")} - one - many
    takes = {name for name in tests if "names" in inspect.signature(getattr(fastevals, name)).parameters}
    assert takes == tests
    assert len(NAMED) == len(tests)


def test_which_test_lists_every_test() -> None:
    section = (Path(fastevals.__file__).parents[1] / "docs" / "tests.md").read_text(encoding="utf-8")
    tests = [name for name in fastevals.__all__ if "_test" in name]
    assert [name for name in tests if f"`{name}`" not in section] == []
    assert [name for name in tests if f"`{name}`" not in (significance.__doc__ or "")] == []
    assert [name for name in TESTS if f'"{name}"' not in (fastevals.pairwise_tests.__doc__ or "")] == []


def test_conclusions_of_auc_contrasts_name_the_models() -> None:
    found = fastevals.delong(Y, {"old": X, "new": Z, "newest": B})
    assert "of the AUCs of 'old', 'new', 'newest' and 0: estimate" in found.contrast([1, -1, 0]).conclusion
    assert "the AUCs of 'old', 'new', 'newest'" in found.equality_test().conclusion
    assert "of the AUCs and 0: estimate" in fastevals.delong(Y, [X, Z]).contrast([1, -1]).conclusion


# Estimates ----------------------------------------------------------------------------------------------------------

RNG = np.random.default_rng(3)
TRUE = RNG.integers(0, 2, 40)
OLD, NEW = (np.where(RNG.random(40) < share, TRUE, 1 - TRUE) for share in (0.6, 0.8))


def _both(splits: Any, metrics: Any = "error_rate") -> tuple[Any, Any]:
    found = [evaluate_splits(TRUE, each, splits, metrics) for each in (OLD, NEW)]
    return found[0], found[1]


@pytest.mark.filterwarnings("ignore::fastevals.DependentSplitsWarning")
@pytest.mark.parametrize(
    "splits", [KFold(10, rng=1), KFold(4, n_repeats=3, rng=1), HoldOut(0.3, n_repeats=9, rng=1), np.arange(40) % 10]
)
def test_estimates_are_taken_as_they_are(splits: Any) -> None:
    pair = _both(splits)
    one, other = (each["error_rate"] for each in pair)
    values = one.per_split.ravel(), other.per_split.ravel()
    sizes = {"n_train": int(pair[0].n_train.sum()), "n_test": int(pair[0].n_test.sum())}
    for test in (fastevals.paired_t_test, fastevals.wilcoxon_test, fastevals.sign_test):
        assert tuple(test(one, other)) == tuple(test(*pair)) == tuple(test(*values))
    corrected = fastevals.corrected_resampled_t_test(one, other)
    assert tuple(corrected) == tuple(fastevals.corrected_resampled_t_test(*values, **sizes))
    assert corrected.pvalue >= fastevals.paired_t_test(one, other).pvalue
    rate = fastevals.error_rate_t_test(other, 0.4)
    assert tuple(rate) == tuple(fastevals.error_rate_t_test(values[1], 0.4, **sizes))


def test_ten_folds_of_one_repetition_are_ten_values() -> None:
    one, other = (each["error_rate"].per_split for each in _both(KFold(10, rng=1)))
    assert one.shape == (1, 10)
    for test in (fastevals.paired_t_test, fastevals.wilcoxon_test, fastevals.paired_permutation_test):
        assert tuple(test(one, other)) == tuple(test(one[0], other[0]))


def test_five_by_two_takes_the_estimates_of_its_splits() -> None:
    one, other = _both(KFold(2, n_repeats=5, rng=1))
    per_split = one["error_rate"].per_split, other["error_rate"].per_split
    for test in (fastevals.five_by_two_cv_t_test, fastevals.five_by_two_cv_f_test):
        assert tuple(test(one, other)) == tuple(test(*per_split))
        with pytest.raises(ValueError, match=r"a must have shape \(5, 2\), one row per repetition, got \(1, 10\)"):
            test(*_both(KFold(10, rng=1)))


def test_estimates_of_learners_that_are_fitted() -> None:
    def rule(X_train: Any, y_train: Any, X_test: Any, *, top: float) -> Any:
        return (np.asarray(X_test)[:, 0] > top).astype(int)

    X = RNG.normal(size=(40, 1))
    splits = BootstrapSplit(10, rng=1)
    found = [estimate_error(rule, X, TRUE, splits, "error_rate", params={"top": top}) for top in (0.0, 0.5)]
    sizes = {"n_train": found[0].n_train.sum(), "n_test": found[0].n_test.sum()}
    values = [each["error_rate"].per_split.ravel() for each in found]
    expected = fastevals.corrected_resampled_t_test(*values, **sizes)
    assert tuple(fastevals.corrected_resampled_t_test(*found)) == tuple(expected)


ASSUME_INDEPENDENCE = [
    fastevals.wilcoxon_test, fastevals.sign_test, fastevals.paired_t_test, fastevals.paired_permutation_test
]  # fmt: skip


@pytest.mark.parametrize("test", ASSUME_INDEPENDENCE)
@pytest.mark.parametrize("splits", [KFold(10, n_repeats=2, rng=1), KFold(5, rng=1), HoldOut(0.3, n_repeats=9, rng=1)])
def test_splits_of_one_data_set_are_not_taken_as_independent_without_a_word(test: Any, splits: Any) -> None:
    one, other = (each["error_rate"] for each in _both(splits))
    rows = r"assumes independent measurements, but \d+ x \d+ splits of one data set share rows, .*"
    with pytest.warns(DependentSplitsWarning, match=f"{test.__name__} {rows} Use corrected_resampled_t_test") as seen:
        test(one, other)
    assert len(seen) == 1
    assert Path(seen[0].filename) == Path(__file__)
    test(one.per_split.ravel(), other.per_split.ravel())  # arrays do not say where they come from, so no warning
    fastevals.corrected_resampled_t_test(one, other)


def test_estimates_of_several_data_sets_are_independent() -> None:
    several = [HoldOut(0.3, n_repeats=9, rng=1), KFold(4, rng=1), KFold(5, rng=1)]
    old, new = ([_both(splits)[k] for splits in several] for k in (0, 1))
    values = [[each["error_rate"].value for each in found] for found in (old, new)]
    for test in ASSUME_INDEPENDENCE:
        assert tuple(test(old, new)) == tuple(test(*values))
        assert tuple(test(values[0], [each["error_rate"] for each in new])) == tuple(test(*values))
    with pytest.raises(ValueError, match=r"a must hold only estimates, one per data set, got 0\.5 at 2"):
        fastevals.sign_test([*old[:2], 0.5], new)
    with pytest.raises(ValueError, match="a must be of one metric, got 'error_rate', 'accuracy'"):
        fastevals.sign_test([*old[:2], _both(several[0], "accuracy")[0]], new)
    with pytest.raises(ValueError, match="a and b must be of the same metric, got error_rate and accuracy"):
        fastevals.sign_test(old, [_both(each, "accuracy")[1] for each in several])


@pytest.mark.slow
def test_ten_by_ten_folds_tell_equally_good_learners_apart_where_they_are_taken_as_independent() -> None:
    def cut_at_the_middle(column: int) -> Any:
        def learner(X: Any, y: Any, X_new: Any) -> Any:
            low, high = (X[y == label, column].mean() for label in (0, 1))
            return ((X_new[:, column] - (low + high) / 2) * (high - low) > 0).astype(int)

        return learner

    rng, y, n = np.random.default_rng(0), np.arange(100) % 2, 150
    tests = [*ASSUME_INDEPENDENCE, fastevals.corrected_resampled_t_test]
    rejected = np.zeros(len(tests))
    for number in range(n):
        X = rng.normal(size=(100, 2)) + y[:, np.newaxis]  # both columns are equally informative
        folds = KFold(10, n_repeats=10, rng=number)
        pair = [estimate_error(cut_at_the_middle(k), X, y, folds, "error_rate") for k in (0, 1)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DependentSplitsWarning)
            rejected += [test(*pair).rejected for test in tests]
    assert (rejected[:-1] / n > 0.3).all()  # 51, 41, 51, 51 %
    assert rejected[-1] / n < 0.1  # 4 %


def _estimate(splits: Any) -> Any:
    return evaluate_splits(TRUE, OLD, splits, "error_rate")


@pytest.mark.filterwarnings("ignore::fastevals.UndefinedMetricWarning")
@pytest.mark.parametrize(
    ("a", "b", "options", "message"),
    [
        (KFold(5, rng=1), KFold(4, rng=1), {}, "a and b must be of the same splits, got 1 x 5 splits and 1 x 4 splits"),
        (KFold(5, rng=1), KFold(5, rng=2), {}, r"a and b must be of the same splits and seeds, got KFold\("),
        (
            HoldOut(8, n_repeats=5, rng=1),
            HoldOut(9, n_repeats=5, rng=1),
            {},
            "of the same splits, but n_train of split 0 is 32 and 31",
        ),
        (
            KFold(5, rng=1),
            KFold(5, rng=1),
            {"n_train": 32, "n_test": 8},
            "n_train and n_test apply only to arrays: estimates",
        ),
    ],
)
def test_estimates_of_other_splits(a: Any, b: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fastevals.corrected_resampled_t_test(_estimate(a), _estimate(b), **options)


@pytest.mark.filterwarnings("ignore::fastevals.DependentSplitsWarning")
def test_pairs_of_rows_are_compared_by_their_rows() -> None:
    pairs = [(np.arange(20), np.arange(20, 40)), (np.arange(10, 40), np.arange(10))]
    turned = [(train[::-1].tolist(), test[::-1]) for train, test in pairs]
    other = [pairs[0], (np.arange(10, 40), np.arange(1, 11) % 10)], [pairs[0], (np.arange(5, 35), np.arange(40)[-5:])]
    for same in (pairs, turned, other[0]):
        assert fastevals.sign_test(_estimate(pairs), _estimate(same)).pvalue == 1
    with pytest.raises(ValueError, match="a and b must be of the same splits"):
        fastevals.sign_test(_estimate(pairs), _estimate(other[1]))


@pytest.mark.filterwarnings("ignore::fastevals.DependentSplitsWarning")
def test_estimates_of_other_metrics_and_folds() -> None:
    folds = np.arange(40) % 4
    found = evaluate_splits(TRUE, OLD, folds, ["error_rate", "accuracy"])
    with pytest.raises(ValueError, match="a and b must be of the same metric, got error_rate and accuracy"):
        fastevals.paired_t_test(found["error_rate"], found["accuracy"])
    with pytest.raises(ValueError, match="of the same splits, but their rows are in different folds"):
        fastevals.wilcoxon_test(_estimate(folds), _estimate(folds[::-1]))
    for one, other in ((folds, folds.tolist()), (folds, folds)):
        assert fastevals.wilcoxon_test(_estimate(one), _estimate(other)).pvalue == 1


def test_estimates_that_do_not_tell() -> None:
    with pytest.raises(
        ValueError, match=r"a must be of one metric, got 'accuracy', 'f1': pass one, such as a\['accuracy'\]"
    ):
        fastevals.paired_t_test(*_both(KFold(4, rng=1), ["accuracy", "f1"]))
    with pytest.raises(ValueError, match="n_train and n_test must be given for arrays: only estimates have their own"):
        fastevals.corrected_resampled_t_test(X, Z)
    with pytest.warns(fastevals.UndefinedMetricWarning, match="recall is undefined"):
        pair = _both(LeaveOneOut(), "recall")
    with pytest.raises(ValueError, match=r"a must be defined in all splits, but is NaN in .* of 40"):
        fastevals.paired_t_test(*pair)
