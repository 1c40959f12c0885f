"""Intervals of proportions against SciPy and the tails that define them; huge counts; bad input."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, get_args

import numpy as np
import pytest
from scipy import stats

from fastevals import ConfusionMatrix, Interval, Ranking, UndefinedMetricWarning, bootstrap, proportion_interval
from fastevals.counts import Cells
from fastevals.infer.proportions import METHODS, SHARES, _check_counts, outcomes
from fastevals.measure import cells
from fastevals.results import Alternative
from tests.parameters import IS_PRECISE

ALTERNATIVES = get_args(Alternative)

OF_SCIPY = {"wilson": "wilson", "clopper-pearson": "exact"}
BINARY = ConfusionMatrix([[85, 5], [2, 8]])
THREE = ConfusionMatrix([[5, 2, 0], [1, 7, 3], [0, 4, 9]])
OF_A_CLASS = [name for name in SHARES if name not in ("accuracy", "error_rate")]


def of_shares(k: Any, n: Any, **options: Any) -> Interval:
    """Return intervals for k of n, as accuracies of a stack of matrices."""
    k, n = np.broadcast_arrays(np.asarray(k, dtype=np.int64), np.asarray(n, dtype=np.int64))
    return proportion_interval(
        ConfusionMatrix(np.stack([k, n - k, 0 * k, 0 * k], axis=-1).reshape(*k.shape, 2, 2)), "accuracy", **options
    )


# Against SciPy --------------------------------------------------------------------------------------------------------


@pytest.mark.cases(2)
@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("method", METHODS)
def test_against_scipy(method: Any, alternative: Any) -> None:
    sizes = [*range(1, 7), 12, 40, 333, 1000, 12_345]
    pairs = [(k, n) for n in sizes for k in sorted({*range(min(n, 12) + 1), n // 3, n // 2, n - 2, n - 1, n}) if k >= 0]
    theirs = [stats.binomtest(k, n, alternative=alternative) for k, n in pairs]
    for level in (0.95, 0.2):
        low, high = of_shares(*zip(*pairs, strict=True), method=method, alternative=alternative, confidence_level=level)
        found = np.stack([low, high], axis=-1)
        expected = [each.proportion_ci(level, OF_SCIPY[method]) for each in theirs]
        # SciPy's exact ends are roots found to 2e-12.
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 if method == "wilson" else 4e-12)


# Against the definitions ----------------------------------------------------------------------------------------------


def tails(k: int, n: int, p: float) -> tuple[float, float]:
    """Return the probabilities of k or more successes, and of k or fewer."""
    share = Fraction(p)
    chances = [math.comb(n, j) * share**j * (1 - share) ** (n - j) for j in range(n + 1)]
    return float(sum(chances[k:])), float(sum(chances[: k + 1]))


@pytest.mark.parametrize("level", [0.8, 0.95, 1 - 1e-9])
@pytest.mark.parametrize("n", [1, 2, 7, 30])
def test_clopper_pearson_ends_have_their_tails(n: int, level: float) -> None:
    low, high = of_shares(np.arange(n + 1), n, method="clopper-pearson", confidence_level=level)
    half = (1 - level) / 2
    for k in range(1, n):
        assert tails(k, n, low[k])[0] == pytest.approx(half, rel=1e-6)
        if high[k] < 1 - 1e-8:  # closer to 1, floats have too few digits
            assert tails(k, n, high[k])[1] == pytest.approx(half, rel=1e-6)
    assert (low[0], high[n]) == (0.0, 1.0)
    assert low[n] == pytest.approx(half ** (1 / n), rel=1e-6)
    np.testing.assert_allclose(1 - high, low[::-1], rtol=0, atol=1e-15)


@pytest.mark.parametrize("n", [1, 2, 7, 1000, 10**13])
def test_wilson_ends_are_z_errors_away(n: int) -> None:
    k = np.unique([0, 1, n // 7, n // 2, n - 1, n])
    z = Fraction(stats.norm.ppf(0.975))
    for share, ends in zip(k, np.transpose(of_shares(k, n)), strict=True):
        for end in map(Fraction, ends):
            distance = (end - Fraction(int(share), n)) ** 2 * n
            assert float(distance - z * z * end * (1 - end)) == pytest.approx(0, abs=1e-14 * n**0.5)


@pytest.mark.parametrize("method", METHODS)
def test_rare_events_keep_their_digits(method: Any) -> None:
    k = np.array([1, 2, 20])
    for n in (10**10, 10**13, 2**60):
        low, high = of_shares(k, n, method=method)
        if method == "clopper-pearson":  # Poisson's limits (Garwood 1936, doi:10.2307/2333958)
            expected = [stats.chi2.ppf(0.025, 2 * k) / 2, stats.chi2.ppf(0.975, 2 * k + 2) / 2]
        else:
            z = stats.norm.ppf(0.975)
            root = z * np.sqrt(z * z / 4 + k)
            expected = [k * k / (k + z * z / 2 + root), k + z * z / 2 + root]
        np.testing.assert_allclose([low * n, high * n], expected, rtol=1e-8)


# Huge counts ----------------------------------------------------------------------------------------------------------


def bell_tails(a: float, b: float, x: float) -> tuple[float, float]:
    """Return a beta distribution's tails below and above x, for large parameters, by Simpson's rule around the mode."""

    def beyond_linear(t: np.ndarray) -> np.ndarray:  # log(1 + t) - t
        near = np.where(np.abs(t) < 1e-2, t, 0)
        series = near**2 * np.polyval([(-1) ** (j + 1) / j for j in range(14, 1, -1)], near)
        return np.where(np.abs(t) < 1e-2, series, np.log1p(t) - t)

    def mass(start: float, end: float) -> float:
        at = np.linspace(start, end, 4001)
        density = np.exp((a - 1) * beyond_linear(at / mode) + (b - 1) * beyond_linear(-at / (1 - mode)))
        weights = np.tile([2.0, 4.0], 2001)[:4001]
        weights[[0, -1]] = 1
        return float((end - start) * (weights @ density))

    mode = (a - 1) / (a + b - 2)
    error = math.sqrt(mode * (1 - mode) / (a + b))
    below, above = mass(-15 * error, x - mode), mass(x - mode, 15 * error)
    return below / (below + above), above / (below + above)


@pytest.mark.parametrize("level", [0.95, 0.9999999])
@pytest.mark.parametrize("n", [3 * 10**7, 10**9, 10**12, 10**13])
def test_huge_counts_have_their_tails(n: int, level: float) -> None:
    shares = np.array([10**5, 10**6 - 1, 10**6, 2 * 10**6, 10**7 - 1, 10**7, 10**7 + 1, n // 3, n // 2, n - n // 10])
    low, high = of_shares(shares, n, method="clopper-pearson", confidence_level=level)
    off = 1e-4 if IS_PRECISE else 3e-4
    for k, below, above in zip(shares.astype(float), low, high, strict=True):
        assert bell_tails(k, n - k + 1, below)[0] == pytest.approx((1 - level) / 2, rel=off)
        assert bell_tails(k + 1, n - k, above)[1] == pytest.approx((1 - level) / 2, rel=off)
    np.testing.assert_allclose((low, high), of_shares(shares, n, confidence_level=level), rtol=1e-4)


def test_a_thousand_where_scipy_is_off() -> None:
    """SciPy 1.17's betaincinv returns 1490116 for the first."""
    n = 10**14
    low, high = of_shares(1000, n, method="clopper-pearson", confidence_level=0.2)
    expected = stats.gamma.ppf([0.4, 0.6], [1000, 1001])
    np.testing.assert_allclose([low * n, high * n], expected, rtol=1e-9)


def test_counts_near_the_limit_of_64_bits() -> None:
    n = 2**62
    for k in (0, 1, 1000, n // 3, n - n // 10, n - 1000, n - 1, n):
        low, high = of_shares(k, n, method="wilson")
        assert low <= k / n <= high
        assert high - low < 1e-8
        if 1000 <= k <= n - n // 10:
            assert high - low == pytest.approx(3.92 * math.sqrt(k / n * (n - k) / n / n), rel=0.02)


# What is counted ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", SHARES)
def test_successes_over_trials_are_the_metric(metric: str) -> None:
    at = Cells(*np.random.default_rng(0).integers(0, 9, (4, 200)))
    successes, failures = outcomes(metric, at)
    np.testing.assert_array_equal(cells.ratio(successes, successes + failures), getattr(cells, metric)(at))


@pytest.mark.parametrize("average", ["binary", None, "micro"])
@pytest.mark.parametrize("metric", OF_A_CLASS)
def test_the_interval_is_of_the_metric_that_the_matrix_gives(metric: str, average: Any) -> None:
    stack = ConfusionMatrix(np.random.default_rng(1).integers(1, 50, (4, 3, 2, 2)))
    low, high = proportion_interval(stack, metric, average=average, confidence_level=1e-9)
    value = stack._values(getattr(cells, metric), average)
    assert low.shape == high.shape == value.shape
    np.testing.assert_allclose([low, high], [value, value], rtol=1e-8)


def test_many_classes() -> None:
    right = THREE.accuracy()
    for metric, value in (("accuracy", right), ("error_rate", 1 - right)):
        assert proportion_interval(THREE, metric, confidence_level=1e-9) == pytest.approx((value, value), rel=1e-8)
    assert proportion_interval(THREE, "recall", average="micro") == proportion_interval(THREE, "accuracy")
    each = proportion_interval(THREE, "precision", average=None)
    for c in range(3):
        one = ConfusionMatrix(np.reshape([cell[c] for cell in THREE._one_vs_rest()], (2, 2))[[1, 0]][:, [1, 0]].T)
        assert one.precision() == THREE.precision(average=None)[c]
        assert proportion_interval(one, "precision") == tuple(end[c] for end in each)


def test_a_stack_is_its_matrices() -> None:
    stack = Ranking([0, 1, 0, 1, 1, 0], [0.1, 0.4, 0.35, 0.8, 0.3, 0.2]).confusion_at([0.15, 0.33, 0.5])
    low, high = proportion_interval(stack, "recall", method="clopper-pearson")
    ones = [proportion_interval(ConfusionMatrix(each), "recall", method="clopper-pearson") for each in stack.counts]
    assert [*zip(low, high, strict=True)] == ones
    assert all(isinstance(end, float) for end in ones[0])


def test_complements_mirror_each_other() -> None:
    for method in METHODS:
        low, high = proportion_interval(BINARY, "recall", method=method)
        assert proportion_interval(BINARY, "false_negative_rate", method=method) == pytest.approx((1 - high, 1 - low))


def test_whole_floats_are_counts() -> None:
    assert proportion_interval(ConfusionMatrix(BINARY.counts * 1.0), "recall") == proportion_interval(BINARY, "recall")


# No trials, ends and extreme levels -----------------------------------------------------------------------------------


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("method", METHODS)
def test_no_trials(method: Any, alternative: Any) -> None:
    stack = ConfusionMatrix([[[3, 0], [2, 0]], [[3, 1], [2, 4]]])
    with pytest.warns(
        UndefinedMetricWarning, match="the interval of precision is undefined .* 1 of 2 values"
    ) as caught:
        low, high = proportion_interval(stack, "precision", method=method, alternative=alternative)
    assert len(caught) == 1
    assert np.isnan([low[0], high[0]]).all()
    assert np.isfinite([low[1], high[1]]).all()
    with pytest.warns(UndefinedMetricWarning, match="zero denominator"):
        assert np.isnan(proportion_interval(ConfusionMatrix(stack.counts[0]), "precision")).all()


def test_an_empty_stack() -> None:
    low, high = proportion_interval(ConfusionMatrix(np.zeros((0, 2, 2))), "recall", method="clopper-pearson")
    assert low.shape == high.shape == (0,)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("level", [5e-324, 1e-20, 0.3, 0.5, 0.95, 1 - 2**-53])
def test_ends_are_exact_and_within_bounds(method: Any, alternative: Any, level: float) -> None:
    for n in (1, 3, 10, 10**6, 10**9):
        k = np.unique([0, 1, n // 2, n - 1, n])
        low, high = of_shares(k, n, method=method, alternative=alternative, confidence_level=level)
        assert low[0] == 0.0
        assert high[-1] == 1.0
        assert np.all((low >= 0) & (low <= 1) & (high >= 0) & (high <= 1))
        assert np.all(np.diff(low) >= 0)
        assert np.all(np.diff(high) >= 0)
        if alternative == "two-sided":
            assert np.all(low <= high)


# Bad input ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("matrix", "metric", "options", "message"),
    [
        ([[1, 2], [3, 4]], "recall", {}, "matrix must be ConfusionMatrix, got list"),
        (BINARY, "f1", {}, "metric must be one of 'accuracy', .*'prediction_rate'; got 'f1'"),
        (BINARY, "recall", {"method": "wald"}, "method must be one of 'wilson', 'clopper-pearson'; got 'wald'"),
        (BINARY, "recall", {"alternative": "both"}, "alternative must be one of 'two-sided', 'less', 'greater'; got"),
        (BINARY, "recall", {"confidence_level": 95}, r"confidence_level must be in \(0, 1\), got 95"),
        (BINARY, "recall", {"average": "mean"}, "average must be one of 'binary', None, 'micro'; got 'mean'"),
        (BINARY, "recall", {"average": "macro"}, "average='macro' is a mean of proportions, not .* use bootstrap"),
        (THREE, "accuracy", {"average": "weighted"}, "average='weighted' is a mean .* not .* use bootstrap"),
        (THREE, "accuracy", {"average": None}, "average applies only to metrics of a class, not to accuracy; got None"),
        (THREE, "recall", {}, "average='binary' needs 2 classes, got 3; choose one of None, 'micro'"),
        (THREE, "specificity", {"average": "micro"}, "average='micro' of specificity counts a row up to 2 times"),
        (ConfusionMatrix([[1, 0.5], [2, 3]]), "recall", {}, "matrix must count rows, but has weights"),
        (ConfusionMatrix([[1.0, 2.0**54], [2, 3]]), "recall", {}, "matrix must count rows, but has weights"),
        (
            ConfusionMatrix([BINARY.counts, BINARY.counts]).macro(),
            "recall",
            {},
            r"matrix must not be averaged by macro\(\), got ConfusionMatrix\(2 of 2x2.* use bootstrap for its interval",
        ),
    ],
)
def test_bad_input(matrix: Any, metric: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        proportion_interval(matrix, metric, **options)


def test_bootstrap_gives_what_is_no_proportion() -> None:
    stack = ConfusionMatrix([BINARY.counts, BINARY.counts]).macro()
    with pytest.raises(ValueError, match="bootstrap"):
        _check_counts(stack)
    found = bootstrap(stack, "recall", n_resamples=99, rng=0)["recall"].confidence_interval
    assert np.isfinite([found.low, found.high]).all()
