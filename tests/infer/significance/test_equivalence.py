from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

import fastevals
from fastevals import equivalence_test, pairwise_tests
from tests.infer.significance.test_pairwise import OPTIONS

RNG = np.random.default_rng(20)
B = np.round(RNG.normal(0.8, 0.05, 12), 3)
A = np.round(B + RNG.normal(0.001, 0.006, 12), 3)
TESTS = ["wilcoxon", "sign", "paired-t", "corrected-resampled-t", "5x2cv-t", "permutation"]


def arrays(test: str, a: Any = A, b: Any = B) -> tuple[Any, Any]:
    return (a[:10].reshape(5, 2), b[:10].reshape(5, 2)) if test == "5x2cv-t" else (a, b)


@pytest.mark.parametrize("test", TESTS)
def test_is_the_larger_of_two_one_sided_tests(test: Any) -> None:
    options, margin = OPTIONS.get(test, {}), 0.004
    a, b = arrays(test)
    found = equivalence_test(a, b, margin=margin, test=test, **options)
    calls: dict[str, Any] = {
        "wilcoxon": fastevals.wilcoxon_test, "sign": fastevals.sign_test, "paired-t": fastevals.paired_t_test,
        "corrected-resampled-t": fastevals.corrected_resampled_t_test, "5x2cv-t": fastevals.five_by_two_cv_t_test,
        "permutation": fastevals.paired_permutation_test,
    }  # fmt: skip
    low = calls[test](np.round(a + margin, 3), b, alternative="greater", **options)
    high = calls[test](a, np.round(b + margin, 3), alternative="less", **options)
    assert found.low_pvalue == pytest.approx(low.pvalue, rel=1e-9)
    assert found.high_pvalue == pytest.approx(high.pvalue, rel=1e-9)
    assert found.pvalue == max(found.low_pvalue, found.high_pvalue)
    assert found.rejected == (found.pvalue < 0.05)


@pytest.mark.parametrize("test", ["wilcoxon", "paired-t", "corrected-resampled-t", "5x2cv-t", "permutation"])
def test_rejects_if_the_interval_is_within_the_margin(test: Any) -> None:
    a, b = arrays(test, A + 1e-4 * RNG.normal(size=12))
    options = OPTIONS.get(test, {})
    for margin in (0.002, 0.004, 0.006, 0.01, 0.02, 0.05):
        found = equivalence_test(a, b, margin=margin, test=test, **options)
        low, high = found.confidence_interval
        assert found.rejected == (-margin < low and high < margin)
        assert low <= found.effect <= high


def test_interval_of_permutations_is_that_of_all_signs() -> None:
    d = (A - B)[:8]
    found = equivalence_test(A[:8], B[:8], margin=0.1, test="permutation").confidence_interval
    signs = np.array(np.meshgrid(*[[0, 1]] * 8)).reshape(8, -1).T.astype(bool)
    means = np.sort([d[each].mean() for each in signs if each.any()])
    assert found == pytest.approx((means[11], means[-12]))  # 13 of 256 is the smallest share of 5 % or more


def test_interval_of_wilcoxon_includes_equal_results() -> None:
    b = np.round(np.linspace(0.6, 0.9, 24), 3)
    a = b.copy()
    a[:3] = np.round(a[:3] + np.array([0.05, -0.04, 0.03]), 3)
    found = equivalence_test(a, b, margin=0.01)
    assert found.rejected
    assert (found.effect, *found.confidence_interval) == (0, 0, 0)
    assert equivalence_test(b, b, margin=0.01).confidence_interval == (0, 0)
    d = np.array([0.0, 0.001, 0.0025, 0.004, -0.003, 0.002, 0.008, -0.0015, 0.006, 0.005])
    found = equivalence_test(d, np.zeros(10), margin=0.01)
    means = np.sort([(d[i] + d[j]) / 2 for i in range(10) for j in range(i + 1)])
    assert found.effect == pytest.approx(np.median(means))
    assert found.confidence_interval == pytest.approx((means[10], means[-11]))  # W+ <= 10 has p = 43 / 1024


@pytest.mark.parametrize("test", ["paired-t", "corrected-resampled-t"])
def test_differences_without_variance_are_said(test: Any) -> None:
    with pytest.warns(fastevals.UndefinedMetricWarning, match="the equivalence test of a and b .* variance is 0"):
        found = equivalence_test(np.round(B + 0.002, 3), B, margin=0.01, test=test, **OPTIONS.get(test, {}))
    assert found.conclusion.endswith("The estimated variance is 0, so the interval has no width.")


@pytest.mark.parametrize("test", ["wilcoxon", "sign", "paired-t", "permutation"])
@pytest.mark.parametrize("scale", [2.0**-1000, 2.0**1015])
def test_scale_does_not_matter(test: Any, scale: float) -> None:
    a, b = np.arange(12.0) ** 2, np.arange(12.0) ** 2 + [3, 1, -2, 4, 0, -1, 2, -3, 1, 2, 0, 1]
    found, same = (equivalence_test(a * s, b * s, margin=2 * s, test=test) for s in (scale, 1))
    assert found.pvalue == pytest.approx(same.pvalue)
    assert np.array(found.confidence_interval) / scale == pytest.approx(same.confidence_interval)


def test_sums_beyond_the_largest_float() -> None:
    with pytest.raises(ValueError, match=r"must be finite, got 1\.5e\+308 plus 1e\+308"):
        equivalence_test([1.5e308, 1], [1, 2], margin=1e308)


def test_no_interval_below_half_confidence() -> None:
    found = equivalence_test(A, B, margin=0.01, confidence_level=0.4)
    assert found.confidence_interval is None
    assert "interval" not in found.conclusion
    assert "interval" not in str(found)


def test_one_row() -> None:
    assert equivalence_test([0.1], [0.2], margin=0.3, test="sign").pvalue == 0.5
    effects = pairwise_tests([[0.1, 0.2]]).effects
    assert np.isnan(effects.mean_interval.low).all()


def test_decimals_stay_tied() -> None:
    a, b = [0.7, 0.8, 0.9, 0.3, 0.5], [0.6, 0.7, 0.8, 0.2, 0.4]  # differences of 0.1
    found = equivalence_test(a, b, margin=0.1)
    assert found.high_pvalue == 1  # all differences minus the margin are 0
    assert equivalence_test(np.float32(a), np.float32(b), margin=0.1).high_pvalue == 1


def test_conclusions() -> None:
    found = equivalence_test(A, B, margin=0.01, test="paired-t", names=("old", "new"))
    low, high = found.confidence_interval
    assert found.conclusion == (
        f"old and new are equivalent within 0.01: difference {found.effect:.3g} (90 % interval {low:.3g} to "
        f"{high:.3g}; two one-sided paired t-tests, p = {found.pvalue:.3g})."
    )
    assert "90 % interval" in str(found)
    assert "margin" in str(found)
    other = equivalence_test(A, B, margin=0.001, confidence_level=0.9)
    assert other.conclusion.startswith("At level 0.1, no significant evidence that a and b are equivalent within 0.001")
    assert "80 % interval" in other.conclusion


@pytest.mark.parametrize("test", ["wilcoxon", "sign", "paired-t", "permutation"])
@pytest.mark.parametrize(("n", "most"), [(500, 0.088), pytest.param(2000, 0.069, marks=pytest.mark.slow)])
def test_level_at_the_margin(test: Any, n: int, most: float) -> None:
    # n pairs whose difference is exactly the margin; more than this share has probability 1e-4 at 5 %.
    rng = np.random.default_rng(6)
    d = np.round(rng.normal(0.02, 0.02, (12, n)), 3)
    table = np.concatenate([np.zeros((12, 1)), d], axis=1)
    options = {"n_resamples": 99} if test == "permutation" else {}
    found = pairwise_tests(table, reference=0, test=test, correction="none", equivalence_margin=0.02, **options)
    assert np.mean(found.equivalence_pvalue < 0.05) < most


@pytest.mark.parametrize("test", ["wilcoxon", "sign", "paired-t", "corrected-resampled-t", "5x2cv-t", "permutation"])
def test_pairs_are_as_single_tests(test: Any) -> None:
    table = np.stack([A, B, np.round(B[::-1] + 0.003, 3)], axis=1)[:10]
    options = OPTIONS.get(test, {})
    found = pairwise_tests(table, test=test, correction="shaffer", equivalence_margin=0.01, **options)
    alone = []
    for i, j in found.pairs:
        pair = arrays(test, table[:, i], table[:, j])
        alone.append(equivalence_test(*pair, margin=0.01, test=test, **options).pvalue)
    assert found.equivalence_pvalue == pytest.approx(fastevals.adjust_pvalues(alone))
    assert found.to_frame()["equivalence_pvalue"].to_numpy() == pytest.approx(found.equivalence_pvalue)
    assert "p of equivalence" in str(found)
    assert pairwise_tests(table, test=test, **options).equivalence_pvalue is None


def test_paired_t_is_as_in_scipy() -> None:
    found = equivalence_test(A, B, margin=0.005, test="paired-t")
    low = stats.ttest_1samp(A - B, -0.005, alternative="greater").pvalue
    high = stats.ttest_1samp(A - B, 0.005, alternative="less").pvalue
    assert (found.low_pvalue, found.high_pvalue) == pytest.approx((low, high), rel=1e-9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"margin": 0}, r"margin must be in \(0, inf\)"),
        ({"margin": -0.1}, r"margin must be in \(0, inf\)"),
        ({"margin": float("nan")}, "margin must be"),
        ({"margin": 0.1, "test": "5x2cv-f"}, "test must be one of 'wilcoxon'"),
        ({"margin": 0.1, "test": "corrected-resampled-t"}, "n_train and n_test must be given for arrays"),
        ({"margin": 0.1, "n_train": 3}, "test='wilcoxon' has no option 'n_train'|n_train"),
        ({"margin": 0.1, "test": "5x2cv-t"}, r"a must have shape \(5, 2\)"),
    ],
)
def test_bad_input(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        equivalence_test(A, B, **options)


def test_pairs_refuse_a_margin_without_one_sided_tests() -> None:
    with pytest.raises(ValueError, match="needs a test with one-sided alternatives, got test='5x2cv-f'"):
        pairwise_tests(np.ones((10, 2)), test="5x2cv-f", equivalence_margin=0.1)
    with pytest.raises(ValueError, match="equivalence_margin must be in"):
        pairwise_tests(np.ones((10, 2)), equivalence_margin=0)
