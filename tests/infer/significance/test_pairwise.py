from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import fastevals
from fastevals import SignificanceResult, UndefinedMetricWarning, adjust_pvalues, num_threads, pairwise_tests
from fastevals.infer.significance.pairwise import TESTS

RNG = np.random.default_rng(9)
TEN = RNG.normal(0.8, 0.05, (10, 4)) + np.array([0.0, 0.02, -0.05, 0.01])
OPTIONS: dict[str, dict[str, Any]] = {
    "corrected-resampled-t": {"n_train": 90, "n_test": 10},
    "permutation": {"n_resamples": 999, "rng": 3},
}


def one_by_one(test: str, a: Any, b: Any, alternative: str) -> SignificanceResult:
    """Test two models by the function for two."""
    folds = a.reshape(5, 2), b.reshape(5, 2)
    return {
        "paired-t": lambda: fastevals.paired_t_test(a, b, alternative=alternative),
        "corrected-resampled-t": lambda: fastevals.corrected_resampled_t_test(
            a, b, n_train=90, n_test=10, alternative=alternative
        ),
        "5x2cv-t": lambda: fastevals.five_by_two_cv_t_test(*folds, alternative=alternative),
        "5x2cv-f": lambda: fastevals.five_by_two_cv_f_test(*folds),
        "wilcoxon": lambda: fastevals.wilcoxon_test(a, b, alternative=alternative),
        "sign": lambda: fastevals.sign_test(a, b, alternative=alternative),
        "permutation": lambda: fastevals.paired_permutation_test(a, b, n_resamples=999, rng=3, alternative=alternative),
    }[test]()


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
@pytest.mark.parametrize("test", TESTS)
def test_each_pair_is_as_the_test_of_two(test: str, alternative: str) -> None:
    if test == "5x2cv-f" and alternative != "two-sided":
        with pytest.raises(ValueError, match="alternative of 5x2cv-f must be one of 'two-sided'"):
            pairwise_tests(TEN, test=test, alternative=alternative)
        return
    found = pairwise_tests(TEN, test=test, alternative=alternative, correction="none", **OPTIONS.get(test, {}))
    assert len(found) == 6
    for k, (i, j) in enumerate(found.pairs):
        alone = one_by_one(test, TEN[:, i], TEN[:, j], alternative)
        assert found.unadjusted_pvalue[k] == pytest.approx(alone.pvalue, rel=1e-12)
        assert found[k].statistic == pytest.approx(alone.statistic, rel=1e-12)
        if test != "wilcoxon":
            assert found[k].effect == pytest.approx(alone.effect, rel=1e-12)
    assert (found.pvalue == found.unadjusted_pvalue).all()


@pytest.mark.parametrize("test", TESTS)
def test_pairs_and_chunks_and_threads_change_nothing(test: str, monkeypatch: pytest.MonkeyPatch) -> None:
    options = OPTIONS.get(test, {})
    expected = pairwise_tests(TEN, test=test, **options)
    monkeypatch.setattr("fastevals.infer.significance.pairwise.DIFFERENCES_PER_TASK", 20)  # two pairs per task
    with num_threads(1):
        again = pairwise_tests(TEN, test=test, **options)
    assert (again.statistic == expected.statistic).all()
    assert (again.pvalue == expected.pvalue).all()


@pytest.mark.parametrize("test", ["paired-t", "wilcoxon", "sign", "5x2cv-f", "permutation"])
def test_scaling_by_powers_of_two(test: str) -> None:
    options = OPTIONS.get(test, {})
    plain = pairwise_tests(TEN, test=test, **options)
    for exponent in (600, -600):
        scaled = pairwise_tests(np.ldexp(TEN, exponent), test=test, **options)
        assert (scaled.pvalue == plain.pvalue).all()


def test_pvalues_are_adjusted_for_all_pairs() -> None:
    for correction in ("holm", "benjamini-hochberg"):
        found = pairwise_tests(TEN, test="paired-t", correction=correction)
        assert (found.pvalue == adjust_pvalues(found.unadjusted_pvalue, correction=correction)).all()
        assert (found.rejected == (found.pvalue < 0.05)).all()


def test_a_reference_is_compared_with_each_other() -> None:
    named = {name: TEN[:, k] for k, name in enumerate("abcd")}
    found = pairwise_tests(named, test="paired-t", reference="c")
    assert [(found.names[i], found.names[j]) for i, j in found.pairs] == [("a", "c"), ("b", "c"), ("d", "c")]
    assert found.between("c", "b").statistic == found.between("b", "c").statistic == found[1].statistic
    with pytest.raises(ValueError, match="two models that were compared, got 'a' and 'b'"):
        found.between("a", "b")
    with pytest.raises(ValueError, match="first must be one of 'a', 'b', 'c', 'd'; got 'e'"):
        found.between("e", "b")


def test_tables_of_any_kind_give_the_same() -> None:
    names = list("abcd")
    frame = pd.DataFrame(TEN, columns=names, index=[f"set {i}" for i in range(10)])
    expected = pairwise_tests({name: TEN[:, k].tolist() for k, name in enumerate(names)}, test="wilcoxon")
    assert expected.names == tuple(names)
    named = frame.reset_index(names="data set")
    for table in (frame, named, pl.from_pandas(named), pl.from_pandas(frame).to_arrow()):
        found = pairwise_tests(table, test="wilcoxon")
        assert found.names == expected.names
        assert (found.pvalue == expected.pvalue).all()
    assert pairwise_tests(np.asfortranarray(TEN), test="wilcoxon").names == (0, 1, 2, 3)


def test_results_are_a_sequence_with_arrays_and_matrices() -> None:
    found = pairwise_tests(TEN, test="paired-t", confidence_level=0.9)
    assert [tuple(each) for each in found] == list(zip(found.statistic, found.pvalue, strict=True))
    assert len(found[1:3]) == 2
    matrix = found.matrix()
    assert (matrix == matrix.T).all()
    assert (np.diag(matrix) == 1).all()
    effects = found.matrix("effect")
    assert effects[0, 1] == found.effect[0]
    assert np.isnan(effects[1, 0])
    assert found[0].alpha == pytest.approx(0.1)
    assert "4 models, 6 pairs" in repr(found)
    values = json.loads(json.dumps(found.to_dict()))
    assert values["names"] == [0, 1, 2, 3]
    assert values["conclusion"] == found.conclusion
    with pytest.raises(ValueError, match="read-only"):
        found.pvalue[0] = 0


def test_conclusions_do_not_claim_equality() -> None:
    alike = pairwise_tests(np.repeat(TEN[:, :1], 3, axis=1), test="wilcoxon")
    assert (alike.pvalue == 1).all()
    assert alike.conclusion == (
        "No significant difference in any of the 3 pairs (Wilcoxon's signed-rank test, Holm-adjusted, smallest p = 1)."
    )
    some = pairwise_tests(TEN, test="paired-t", correction="none", confidence_level=0.5)
    assert some.conclusion.startswith("At level 0.5, 5 of 6 pairs differ significantly (paired t-test): ")
    assert some.conclusion.endswith(". No significant difference in the other pair.")
    assert "equal" not in some.conclusion + alike.conclusion


def test_one_sided_tests_keep_their_direction() -> None:
    found = pairwise_tests(TEN, test="paired-t", alternative="greater", correction="none", confidence_level=0.6)
    matrix = found.matrix()
    assert matrix[0, 2] == found.pvalue[1]
    assert np.isnan(matrix[2, 0])
    assert found.conclusion.startswith(
        "At level 0.4, in 2 of 6 pairs the mean of the first is significantly higher than the mean of the second ("
    )
    assert "0 and 2" in found.conclusion
    none = pairwise_tests(TEN[:, [2, 0]], test="paired-t", alternative="greater")
    assert none.conclusion == (
        "No significant evidence that the mean of 0 is higher than the mean of 1: difference -0.0609 (95 % interval "
        "-0.0855 to inf; paired t-test, Holm-adjusted, one-sided p = 0.999)."
    )
    assert found[0].test == "the paired t-test"
    assert pairwise_tests(TEN, test="paired-t")[0].test == "the paired t-test, Holm-adjusted"


def test_names_of_any_kind_can_be_asked_for() -> None:
    numbers = {np.int64(1000 + k): TEN[:, k] for k in range(4)}
    for reference in (1002, np.int64(1002)):
        assert len(pairwise_tests(numbers, test="sign", reference=reference)) == 3
    found = pairwise_tests(numbers, test="sign")
    assert found.between(1001, np.int64(1003)).pvalue == found.matrix()[1, 3]
    assert json.loads(json.dumps(found.to_dict()))["names"] == [1000, 1001, 1002, 1003]
    assert json.loads(json.dumps(fastevals.friedman_test(numbers).to_dict()))["names"] == [1000, 1001, 1002, 1003]


def test_thousands_of_pairs_at_once() -> None:
    table = np.random.default_rng(1).normal(size=(30, 120))
    found = pairwise_tests(table, test="wilcoxon", correction="none")
    assert len(found) == 7140
    assert np.mean(found.pvalue < 0.05) < 0.08  # the hypotheses are true; pairs are not independent


def test_a_constant_difference_is_told() -> None:
    table = np.stack([TEN[:, 0], TEN[:, 0] + 0.5, TEN[:, 1]], axis=1)
    with pytest.warns(UndefinedMetricWarning, match="of 1 of 3 pairs is degenerate"):
        found = pairwise_tests(table, test="paired-t")
    assert found.pvalue[0] == 0
    assert found.statistic[0] == -np.inf


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        ([[1, 2], [3, np.nan]], {}, r"results must be finite, but has nan at row 1, column 1 \(1\)"),
        (pd.DataFrame({"set": ["x", "y"], "a": [1, np.inf], "b": [np.nan, 1]}), {},
         r"has nan at row 0 \('x'\), column 1 \('b'\); 2 such cells in all"),
        ({"a": [1, 2], "b": [1]}, {}, r"results\['b'\] has 1 rows, but results\['a'\] has 2"),
        ([1, 2, 3], {}, r"results must be 2-D, \(data sets x algorithms\), and not empty; got shape \(3,\)"),
        ([[1], [2]], {}, r"results must have two algorithms \(columns\) or more, got 1 \(and 2 data sets\)"),
        ({}, {}, "results is empty"),
        ([["a", "b"]], {}, "results must hold numbers"),
        (np.array([[2**60, 2**60 + 1]]), {}, r"results must be within 2\*\*53 for integers, got 1152921504606846977"),
        ([[1, 2]], {"test": "paired-t"}, r"results must have at least 2 data sets \(rows\), got 1"),
        (TEN[:9], {"test": "5x2cv-t"}, "results must have 10 rows for test='5x2cv-t', got 9"),
        (TEN, {"test": "t"}, "test must be one of 'paired-t'"),
        (TEN, {"reference": 4}, "reference must be one of 0, 1, 2, 3; got 4"),
        (TEN, {"reference": True}, "reference must be one of"),
        (TEN, {"correction": "tukey"}, "correction must be one of"),
        (TEN, {"n_train": 3}, "test='wilcoxon' has no option n_train="),
        (TEN, {"test": "corrected-resampled-t"}, "test='corrected-resampled-t' needs n_train=, n_test="),
        (TEN, {"test": "5x2cv-t", "numerator": "both"}, "numerator must be one of"),
        (TEN, {"test": "permutation", "n_resamples": 0}, "n_resamples must be an integer"),
        (TEN, {"alternative": "more"}, "alternative must be one of"),
    ],
)  # fmt: skip
def test_bad_input(table: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pairwise_tests(table, **options)


@pytest.mark.filterwarnings("ignore::fastevals.DependentSplitsWarning")
def test_estimates_are_taken_as_they_are() -> None:
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 60)
    predicted = {
        name: np.where(rng.random(60) < share, y, 1 - y) for name, share in zip("abc", (0.6, 0.7, 0.9), strict=True)
    }

    def estimates(splits: Any, metrics: Any = "error_rate") -> dict[str, Any]:
        return {name: fastevals.evaluate_splits(y, each, splits, metrics) for name, each in predicted.items()}

    folds = fastevals.KFold(10, n_repeats=2, rng=1)
    whole = estimates(folds)
    by_metric = {name: each["error_rate"] for name, each in whole.items()}
    arrays = {name: each.per_split.ravel() for name, each in by_metric.items()}
    sizes = {"n_train": 54, "n_test": 6}
    for test, options in (("corrected-resampled-t", sizes), ("paired-t", {}), ("wilcoxon", {})):
        expected = fastevals.pairwise_tests(arrays, test=test, **options)
        for given in (whole, by_metric):
            found = fastevals.pairwise_tests(given, test=test)
            np.testing.assert_array_equal(found.pvalue, expected.pvalue)
            assert found.names == ("a", "b", "c")
    pair = fastevals.corrected_resampled_t_test(by_metric["a"], by_metric["b"])
    assert fastevals.pairwise_tests(whole, test="corrected-resampled-t")[0].statistic == pair.statistic
    halves = estimates(fastevals.KFold(2, n_repeats=5, rng=1))
    pair = fastevals.five_by_two_cv_f_test(halves["a"], halves["c"])
    assert fastevals.pairwise_tests(halves, test="5x2cv-f")[1].statistic == pair.statistic

    with pytest.raises(
        ValueError, match="results must be of five times two folds for test='5x2cv-t', got 1 x 10 splits"
    ):
        fastevals.pairwise_tests(estimates(fastevals.KFold(10, rng=1)), test="5x2cv-t")
    other = fastevals.evaluate_splits(y, predicted["b"], fastevals.KFold(10, n_repeats=2, rng=2), "error_rate")
    with pytest.raises(ValueError, match=r"results\['a'\] and results\['b'\] must be of the same splits"):
        fastevals.pairwise_tests(whole | {"b": other}, test="paired-t")
    with pytest.raises(ValueError, match=r"results\['a'\] must be of one metric"):
        fastevals.pairwise_tests(estimates(folds, ["error_rate", "accuracy"]), test="paired-t")
    mixed = whole | {"c": fastevals.evaluate_splits(y, predicted["c"], folds, "accuracy")}
    with pytest.raises(ValueError, match=r"results\['a'\] and results\['c'\] must be of the same metric"):
        fastevals.pairwise_tests(mixed, test="paired-t")
