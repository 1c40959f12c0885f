"""Differences in calibration between models."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fastevals import UndefinedMetricWarning, calibration, calibration_unpaired


def models(n: int = 500) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    rng = np.random.default_rng(0)
    x = rng.normal(-1, 1, n)
    y = rng.random(n) < 1 / (1 + np.exp(-x))
    noise = rng.normal(0, 0.3, (3, n))
    return y, {name: 1 / (1 + np.exp(-x - each)) for name, each in zip("abc", noise, strict=True)}


def leave_one_out(y: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return the log ratio without each row."""
    return np.log((p.sum() - p) / (y.sum() - y))


def test_paired_differences_have_the_jackknife_error_of_the_difference() -> None:
    y, two = models()
    found = calibration(y, {name: two[name] for name in "ab"})
    (difference,) = found.differences["log_ratio"]
    moved = leave_one_out(y, two["a"]) - leave_one_out(y, two["b"])
    value = math.log(found["a"].ratio.value / found["b"].ratio.value)
    n = y.size
    assert difference.value == pytest.approx(value, rel=1e-9)
    assert difference.standard_error == pytest.approx(math.sqrt((n - 1) / n * ((moved - value) ** 2).sum()), rel=1e-9)
    assert difference.pvalue == difference.unadjusted_pvalue
    alone = calibration(y, two["a"])
    assert found["a"].ratio.to_dict() == alone.ratio.to_dict()
    assert found["a"].slope.confidence_interval == pytest.approx(alone.slope.confidence_interval, rel=1e-9)


def test_several_pairs_are_simultaneous() -> None:
    y, three = models()
    found = calibration(y, three)
    two = calibration(y, {name: three[name] for name in "ab"})
    for quantity in ("log_ratio", "intercept", "slope"):
        first, alone = found.differences[quantity][0], two.differences[quantity][0]
        assert (first.model, first.reference, first.value) == ("a", "b", pytest.approx(alone.value, rel=1e-9))
        assert first.standard_error == pytest.approx(alone.standard_error, rel=1e-9)
        ratio = np.diff(first.confidence_interval)[0] / np.diff(alone.confidence_interval)[0]
        assert 1.1 < ratio < 2.41 / 1.96 + 0.02  # between one pair and Bonferroni for three
        assert alone.pvalue <= first.pvalue <= 3 * alone.pvalue + 1e-12
        assert first.unadjusted_pvalue == pytest.approx(alone.pvalue, rel=1e-9)
    assert [each.reference for each in calibration(y, three, reference="c").differences["slope"]] == ["c", "c"]


def test_equal_models_do_not_differ() -> None:
    y, three = models()
    found = calibration(y, [three["a"], three["a"], three["b"]], groups=np.arange(y.size) // 5)
    for differences in found.differences.values():
        same = differences[0]
        assert (same.model, same.reference, same.value, same.pvalue) == (0, 1, 0.0, 1.0)
        assert same.confidence_interval == (0.0, 0.0)
        assert 0 < differences[1].pvalue <= 1


def test_unpaired_differences_add_up_variances() -> None:
    y, three = models()
    a, b = calibration(y[:200], three["a"][:200]), calibration(y[200:], three["a"][200:])
    found = calibration_unpaired(a, b, names=("june", "may"))
    (difference,) = found.differences["slope"]
    assert difference.value == a.slope.value - b.slope.value
    assert difference.standard_error == pytest.approx(math.hypot(a.slope.standard_error, b.slope.standard_error))
    assert list(found) == ["june", "may"]
    assert found["june"].conclusion.replace(" of june", "").replace("june", "the model") == a.conclusion
    (difference,) = found.differences["log_ratio"]
    assert difference.value == pytest.approx(math.log(a.ratio.value / b.ratio.value))
    with pytest.raises(ValueError, match="reference must be a Calibration of one model"):
        calibration_unpaired(a, y)


def test_one_row_leaves_nothing_to_compare() -> None:
    y, three = models()
    with pytest.warns(match="there are no"):
        one = calibration(y[:1], three["a"][:1])
    for (difference,) in calibration_unpaired(calibration(y, three["a"]), one).differences.values():
        assert math.isnan(difference.pvalue)
    with pytest.warns(match="separates the classes") as warned:  # and about nothing else
        two = calibration([0, 1], {"a": [0.3, 0.7], "b": [0.2, 0.4]})
    assert {each.category for each in warned} == {UndefinedMetricWarning}
    assert math.isnan(two.differences["log_ratio"][0].pvalue)


def test_a_model_without_a_slope_leaves_the_others_compared() -> None:
    y, three = models()
    with pytest.warns(match="all rows have the same probability"):
        found = calibration(y, three | {"flat": np.full(y.size, 0.3)})
    defined = {(each.model, each.reference): math.isnan(each.value) for each in found.differences["slope"]}
    assert {pair for pair, nan in defined.items() if nan} == {("a", "flat"), ("b", "flat"), ("c", "flat")}
    assert not any(math.isnan(each.value) for each in found.differences["log_ratio"])
