"""Bias and variance: exact arithmetic, theoretical identities, and equal numbers from any form of input."""

from __future__ import annotations

import copy
import math
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastevals import num_threads
from fastevals.measure.bias_variance.bias_variance import BiasVarianceSummary, bias_variance
from fastevals.measure.bias_variance.decomposition import Decomposition
from fastevals.measure.bias_variance.squared import BiasVariance
from fastevals.measure.bias_variance.zero_one import DomingosDecomposition, JamesDecomposition
from tests.reference import bias_variance as reference
from tests.strategies import BOUNDED, DYADIC_WEIGHTS, FLOAT_WEIGHTS

DECOMPOSITIONS = ("domingos", "kohavi-wolpert", "james")
ZERO_ONE = [{"loss": "zero_one", "decomposition": name} for name in DECOMPOSITIONS]
ALL: list[dict[str, Any]] = [{"loss": "squared"}, *ZERO_ONE]
VALUES = (-1e6, -3.0, -0.1, 0.0, 0.1, 0.3, 1.0, 1.5, 2.0, 1e-20, 1e6)
OFFSETS = (0.0, 1e8, -1e8)


@st.composite
def cases(draw: st.DrawFn, values: tuple[Any, ...]) -> tuple[list[Any], list[list[Any]], Any, list[float] | None]:
    """Draw true labels, models' predictions, observed labels (by model, one row, or None), and weights."""
    n, m = draw(st.integers(1, 6)), draw(st.integers(1, 9))
    row = st.lists(st.sampled_from(values), min_size=n, max_size=n)
    y, predictions = draw(row), draw(st.lists(row, min_size=m, max_size=m))
    observed = draw(st.one_of(st.none(), row, st.lists(row, min_size=m, max_size=m)))
    weights = None
    pool = draw(st.sampled_from([None, DYADIC_WEIGHTS, FLOAT_WEIGHTS, (0.0, 1.0, 2.0, 3.0)]))
    if pool is not None:
        weights = draw(st.lists(st.sampled_from(pool), min_size=n, max_size=n))
        weights[0] = weights[0] or 1.0
    return y, predictions, observed, weights


def rows_of(observed: Any, m: int) -> Any:
    """Return the observed labels as one row per model."""
    return [observed] * m if observed is not None and not isinstance(observed[0], list) else observed


def random_case(loss: str, m: int = 70, n: int = 3000, seed: int = 0) -> tuple[Any, Any, Any, Any]:
    """Return labels, predictions, observed labels of each model and weights."""
    rng = np.random.default_rng(seed)
    if loss == "squared":
        y = np.round(rng.normal(5, 2, n) * 64) / 64
        return y, *(np.round((y + rng.normal(size=(m, n))) * 64) / 64 for _ in range(2)), rng.random(n) + 0.1
    y = rng.integers(0, 5, n)
    predictions, observed = (np.where(rng.random((m, n)) < 0.6, y, rng.integers(0, 5, (m, n))) for _ in range(2))
    return y, predictions, observed, rng.random(n) + 0.1


def assert_same_bits(ours: Decomposition, theirs: Decomposition) -> None:
    assert type(ours) is type(theirs)
    np.testing.assert_array_equal(ours.main_prediction, theirs.main_prediction)
    for name in ours.numbers():
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name), err_msg=name)
    if ours.per_sample is not None and theirs.per_sample is not None:
        assert_same_bits(ours.per_sample, theirs.per_sample)


def assert_close(ours: Decomposition, theirs: Any, tolerance: float = 1e-12) -> None:
    """Compare numbers; the tolerance is a share of the largest, whose terms may have either sign."""
    expected = theirs if isinstance(theirs, dict) else {name: getattr(theirs, name) for name in theirs.numbers()}
    scale = max(abs(float(expected[name])) for name in ours.numbers())
    for name in ours.numbers():
        assert getattr(ours, name) == pytest.approx(float(expected[name]), abs=tolerance * scale, rel=tolerance), name


def assert_adds_up(result: Decomposition) -> None:
    parts = result.parts()
    scale = max(map(abs, parts.values()))
    assert math.fsum(parts.values()) == pytest.approx(result.expected_loss, rel=1e-12, abs=1e-12 * scale)


# Squared loss -----------------------------------------------------------------------------------------------------


@given(cases(VALUES), st.sampled_from(OFFSETS))
@BOUNDED
def test_squared_loss_agrees_with_exact_arithmetic(case: Any, offset: float) -> None:
    y, predictions, observed, weights = case
    y, predictions = [v + offset for v in y], [[v + offset for v in row] for row in predictions]
    observed = None if observed is None else (np.array(observed) + offset).tolist()
    result = bias_variance(y, predictions, y_observed=observed, sample_weight=weights, per_sample=True)
    expected = reference.squared(y, predictions, rows_of(observed, len(predictions)), weights)
    assert_close(result, expected)
    assert_adds_up(result)
    largest = max(abs(v) for row in predictions for v in row)
    main = [float(v) for v in expected["main_prediction"]]
    np.testing.assert_allclose(result.main_prediction, main, rtol=1e-15, atol=1e-15 * largest)
    for name in result.numbers():
        exact = [float(v) for v in expected["per_sample"][name]]
        scale = max(abs(float(v)) for values in expected["per_sample"].values() for v in values)
        np.testing.assert_allclose(getattr(result.per_sample, name), exact, rtol=1e-12, atol=1e-12 * scale)


@pytest.mark.parametrize("m", [1, 2, 63, 64, 65, 130])
def test_panels_of_models_are_merged(m: int) -> None:
    y, predictions, observed, weights = random_case("squared", m, 5)
    for beside in (None, observed[0], observed):
        rows = rows_of(beside if beside is None else beside.tolist(), m)
        expected = reference.squared(y.tolist(), predictions.tolist(), rows, weights.tolist())
        assert_close(bias_variance(y, predictions, y_observed=beside, sample_weight=weights), expected, 1e-13)


def test_parts_without_observed_labels_add_up_exactly_for_each_sample() -> None:
    y, predictions, *_ = random_case("squared")
    each = bias_variance(y, predictions, per_sample=True).per_sample
    np.testing.assert_array_equal(each.expected_loss, each.bias_squared + each.variance)
    assert not each.noise.any()
    assert not each.cross_term.any()


@pytest.mark.parametrize("offset", [1e8, -1e12, 1e15])
@pytest.mark.parametrize("dtype", [np.float64, np.int64])
def test_small_errors_far_from_zero_keep_their_digits(offset: float, dtype: Any) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 1000, 12) + int(offset)
    predictions = y + rng.integers(-3, 4, (90, 12)) + 1
    result = bias_variance(y.astype(dtype), predictions.astype(dtype))
    expected = reference.squared(y.tolist(), predictions.tolist())
    assert_close(result, expected, 1e-13)
    summary = BiasVarianceSummary(y)
    for row in predictions:
        summary.update(row)
    merged = BiasVarianceSummary(y).merge(BiasVarianceSummary(y).update(predictions[:50]))
    merged.merge(BiasVarianceSummary(y).update(predictions[50]).update(predictions[51:]))
    for result in (summary.result(), merged.result()):
        assert_close(result, expected)


def test_a_target_far_from_predictions_does_not_blur_their_variance() -> None:
    rng = np.random.default_rng(0)
    predictions = rng.normal(size=(100, 7)) * 1e-3
    expected = reference.squared([1e9] * 7, predictions.tolist())
    whole = bias_variance([1e9] * 7, predictions)
    summary = BiasVarianceSummary([1e9] * 7)
    for row in predictions:
        summary.update(row)
    for result in (whole, summary.result()):
        assert result.variance == pytest.approx(float(expected["variance"]), rel=1e-13)
        assert result.bias_squared == pytest.approx(float(expected["bias_squared"]), rel=1e-13)


def test_an_odd_first_model_does_not_blur_the_variance_of_the_others() -> None:
    predictions = np.random.default_rng(0).normal(size=(64, 5))
    predictions[0] = 1e7
    expected = reference.squared([0.0] * 5, predictions.tolist())
    assert bias_variance([0.0] * 5, predictions).variance == pytest.approx(float(expected["variance"]), rel=1e-13)


@pytest.mark.parametrize("scale", [2.0**-500, 2.0**500])
def test_scaling_by_a_power_of_two_scales_exactly(scale: float) -> None:
    y, predictions, observed, weights = random_case("squared", 9, 40)
    plain = bias_variance(y, predictions, y_observed=observed, sample_weight=weights)
    scaled = bias_variance(y * scale, predictions * scale, y_observed=observed * scale, sample_weight=weights)
    for name in plain.numbers():
        assert getattr(scaled, name) == getattr(plain, name) * scale * scale, name


@pytest.mark.parametrize(("scale", "unit"), [(2.0**-1000, 2.0**-40), (2.0**1018, 2.0**40)])
def test_the_unit_of_weights_does_not_matter(scale: float, unit: float) -> None:
    """Weighted losses would underflow or overflow in these units."""
    y, predictions, _, weights = random_case("squared", 9, 40)
    y, predictions = y * unit, predictions * unit
    assert_same_bits(
        bias_variance(y, predictions, sample_weight=weights),
        bias_variance(y, predictions, sample_weight=weights * scale),
    )


def test_overflow_is_infinite() -> None:
    result = bias_variance([0.0, 1.0], [[1e200, 1.0], [-1e200, 2.0]], per_sample=True)
    assert result.variance == result.expected_loss == math.inf
    assert result.main_prediction.tolist() == [0.0, 1.5]
    np.testing.assert_array_equal(result.per_sample.variance, [math.inf, 0.25])
    largest = float(np.finfo(float).max)
    assert bias_variance([0.0], [[largest], [-largest], [largest]]).expected_loss == math.inf
    assert bias_variance([0.0], [[1e200]], sample_weight=[2]).bias_squared == math.inf
    left_out = bias_variance([0.0, 1.0], [[1e200, 3.0]], sample_weight=[0, 2])
    assert left_out.expected_loss == 4.0


# 0-1 loss ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", DECOMPOSITIONS)
@given(case=cases((0, 1, 2)) | cases((0, 1)) | cases(("a", "b", "cc")), more=st.booleans())
@BOUNDED
def test_zero_one_loss_agrees_with_exact_arithmetic(name: str, case: Any, more: bool) -> None:
    y, predictions, observed, weights = case
    flat = [v for row in [*predictions, *([] if observed is None else rows_of(observed, 1))] for v in row]
    labels = sorted({*y, *flat}, reverse=True)
    options = {"labels": labels} if more or labels != sorted(set(y), reverse=True) else {}
    if weights is None:
        assert_exact(name, y, predictions, observed, options)
    result = bias_variance(
        y, predictions, y_observed=observed, loss="zero_one", decomposition=name, sample_weight=weights, **options
    )
    expected = reference.zero_one(name, y, predictions, rows_of(observed, len(predictions)), weights, labels)
    assert_close(result, expected, 1e-15)
    assert_adds_up(result)
    assert result.main_prediction.tolist() == expected["main_prediction"]


def assert_exact(name: str, y: Any, predictions: Any, observed: Any, options: Any) -> None:
    """Assert that each number is the exact value, rounded once."""
    result = bias_variance(
        y, predictions, y_observed=observed, loss="zero_one", decomposition=name, per_sample=True, **options
    )
    expected = reference.zero_one(name, y, predictions, rows_of(observed, len(predictions)), None, **options)
    for each in result.numbers():
        assert getattr(result, each) == float(expected[each]), each
        assert getattr(result.per_sample, each).tolist() == [float(v) for v in expected["per_sample"][each]], each


def test_zero_one_loss_is_not_bias_plus_variance() -> None:
    result = bias_variance([0, 0], [[1, 0], [1, 0], [0, 1]], loss="zero_one", labels=[0, 1])
    assert isinstance(result, DomingosDecomposition)
    assert (result.bias, result.variance) == (0.5, 1 / 3)
    assert result.expected_loss == 0.5  # the misclassified sample gains what the other loses
    assert (result.unbiased_variance, result.biased_variance, result.net_variance) == (1 / 6, 1 / 6, 0.0)
    assert result.beside() == {"variance": 1 / 3, "unbiased_variance": 1 / 6, "biased_variance": 1 / 6}


@given(cases((0, 1)))
@BOUNDED
def test_of_two_classes_variance_is_either_unbiased_or_biased(case: Any) -> None:
    y, predictions, *_ = case
    n, each = (
        len(predictions),
        bias_variance(y, predictions, loss="zero_one", labels=[0, 1], per_sample=True).per_sample,
    )

    def counts(values: Any) -> Any:
        whole = np.rint(values * n)
        np.testing.assert_array_equal(values, whole / n)
        return whole.astype(int)

    bias, variance = counts(each.bias), counts(each.variance)
    unbiased, biased = counts(each.unbiased_variance), counts(each.biased_variance)
    np.testing.assert_array_equal(counts(each.expected_loss), bias + unbiased - biased)
    np.testing.assert_array_equal(variance, unbiased + biased)
    np.testing.assert_array_equal(counts(each.net_variance), np.where(bias == 0, variance, -variance))


@given(cases((0, 1)))
@BOUNDED
def test_of_two_classes_noise_adds_what_domingos_says(case: Any) -> None:
    y, predictions, observed, _ = case
    if observed is None or isinstance(observed[0], list):
        observed = [1 - v for v in y[:1]] + y[1:]
    options: Any = {"loss": "zero_one", "labels": [0, 1], "per_sample": True}
    each = bias_variance(y, predictions, y_observed=observed, **options).per_sample
    hits = (np.array(predictions) == np.array(y)).mean(axis=0)
    np.testing.assert_allclose(each.noise_effect, (2 * hits - 1) * each.noise, atol=1e-15)


def test_kohavi_and_wolpert_add_up_without_a_cross_term_where_models_and_labels_are_independent() -> None:
    predictions = np.repeat([0, 1, 1, 2], 6)[:, None]  # every prediction with every observation
    observed = np.tile([0, 0, 1, 2, 2, 2], 4)[:, None]
    result = bias_variance(
        [2], predictions, y_observed=observed, loss="zero_one", decomposition="kohavi-wolpert", labels=[0, 1, 2]
    )
    assert isinstance(result, BiasVariance)
    assert result.cross_term == 0.0
    assert result.noise == float((1 - Fraction(4 + 1 + 9, 36)) / 2)
    assert result.expected_loss == pytest.approx(result.bias_squared + result.variance + result.noise, rel=1e-15)


def test_james_effects() -> None:
    y, predictions, observed, _ = random_case("zero_one")
    options: Any = {"loss": "zero_one", "decomposition": "james"}
    clean = bias_variance(y, predictions, **options)
    assert isinstance(clean, JamesDecomposition)
    assert clean.systematic_effect == clean.bias  # without noise the systematic effect is the bias
    assert clean.noise == 0.0
    assert list(clean.parts()) == ["systematic_effect", "variance_effect"]
    noisy = bias_variance(y, predictions, y_observed=observed, **options)
    assert list(clean.beside()) == list(noisy.beside()) == ["bias", "variance"]
    main = (observed != noisy.main_prediction).mean()
    assert noisy.systematic_effect == pytest.approx(main - (observed != y).mean(), abs=1e-15)


def test_the_first_of_tied_classes_is_the_main_one() -> None:
    assert bias_variance([2, 1], [[1, 2], [2, 1]], loss="zero_one").main_prediction.tolist() == [1, 1]
    for labels in (["b", "a"], ["a", "b"]):
        result = bias_variance(["b"], [["a"], ["b"]], loss="zero_one", labels=labels)
        assert result.main_prediction.tolist() == ["a"]


@pytest.mark.parametrize("n_models", [7, 8, 17])
def test_samples_are_summed_a_strip_at_a_time(n_models: int) -> None:
    rng = np.random.default_rng(n_models)
    y, p = rng.normal(size=5000), rng.normal(size=(n_models, 5000))
    found = bias_variance(y, p, per_sample=True).per_sample
    np.testing.assert_allclose(found.variance, p.var(axis=0), rtol=1e-12)
    np.testing.assert_allclose(found.bias_squared, (p.mean(axis=0) - y) ** 2, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("options", ZERO_ONE)
@pytest.mark.parametrize("n_classes", [2, 33, 300, 5000])
def test_many_classes(options: dict[str, Any], n_classes: int) -> None:
    rng = np.random.default_rng(0)
    y = np.append(rng.integers(0, n_classes, 20), np.arange(n_classes))
    predictions = np.where(rng.random((20, y.size)) < 0.6, y, rng.integers(0, n_classes, (20, y.size)))
    expected = bias_variance(y, predictions, **options)
    assert expected.expected_loss == pytest.approx((predictions != y).mean(), rel=1e-15)
    assert_adds_up(expected)
    far = bias_variance(y * 10**9, predictions * 10**9, **options)
    np.testing.assert_array_equal(far.main_prediction, expected.main_prediction * 10**9)
    assert far.parts() == expected.parts()
    if n_classes <= 200:
        assert_same_bits(expected, bias_variance(y, predictions.astype(np.uint8), **options))


@pytest.mark.parametrize("m", [300, 600])
def test_more_models_than_a_byte_counts(m: int) -> None:
    y = np.arange(40, dtype=np.uint8) % 3
    result = bias_variance(y, np.tile(y, (m, 1)), loss="zero_one", per_sample=True)
    np.testing.assert_array_equal(result.main_prediction, y)
    assert not result.per_sample.expected_loss.any()


# The same from any form of input ----------------------------------------------------------------------------------


@pytest.mark.cases(5)
@pytest.mark.parametrize("observed", ["none", "each model's"])
@pytest.mark.parametrize("options", ALL)
def test_any_number_of_threads_gives_the_same_bits(options: dict[str, Any], observed: str) -> None:
    rng = np.random.default_rng(0)
    y, (predictions, beside) = rng.integers(0, 3, 140_000), rng.integers(0, 3, (2, 3, 140_000)).astype(np.int8)
    own = beside if observed == "each model's" else None
    options = {**options, "y_observed": own, "per_sample": True}
    weights = rng.random(y.size)
    results = []
    for n in (1, 2, 5):
        with num_threads(n):
            results.append(bias_variance(y, predictions, sample_weight=weights, **options))
    assert_same_bits(results[0], results[1])
    assert_same_bits(results[0], results[2])

    last = slice(139_000, None)
    options["y_observed"] = None if own is None else own[:, last]
    alone = bias_variance(y[last], predictions[:, last], **options).per_sample
    for name in alone.numbers():
        np.testing.assert_array_equal(getattr(results[0].per_sample, name)[last], getattr(alone, name), err_msg=name)


@pytest.mark.parametrize("observed", ["none", "one row", "each model's"])
@pytest.mark.parametrize("options", ALL)
def test_invariances(options: dict[str, Any], observed: str) -> None:
    y, predictions, beside, _ = random_case(options["loss"], 20, 200)
    beside = {"none": None, "one row": beside[0], "each model's": beside}[observed]
    plain = bias_variance(y, predictions, y_observed=beside, **options)
    tolerance = 1e-13 if options["loss"] == "squared" else 1e-15

    rng = np.random.default_rng(1)
    models, samples = rng.permutation(20), rng.permutation(200)
    own = beside[models] if observed == "each model's" else beside
    assert_close(bias_variance(y, predictions[models], y_observed=own, **options), plain, tolerance)
    shuffled = None if beside is None else beside[..., samples]
    assert_close(bias_variance(y[samples], predictions[:, samples], y_observed=shuffled, **options), plain, tolerance)

    weights = rng.integers(0, 4, 200)
    repeated = None if beside is None else beside.repeat(weights, axis=-1)
    assert_close(
        bias_variance(y, predictions, y_observed=beside, sample_weight=weights, **options),
        bias_variance(y.repeat(weights), predictions.repeat(weights, axis=1), y_observed=repeated, **options),
        tolerance,
    )
    ones = np.ones(200)
    assert_close(bias_variance(y, predictions, y_observed=beside, sample_weight=ones, **options), plain, tolerance)
    thrice = np.tile(predictions, (3, 1))
    own = np.tile(beside, (3, 1)) if observed == "each model's" else beside
    assert_close(bias_variance(y, thrice, y_observed=own, **options), plain, tolerance)


FORMS: dict[str, Any] = {
    "list": lambda p: p.tolist(),
    "Fortran order": np.asfortranarray,
    "strided": lambda p: np.repeat(np.repeat(p, 2, axis=0), 3, axis=1)[::2, ::3],
    "backwards": lambda p: p[::-1, ::-1].copy()[::-1, ::-1],
    "read-only": lambda p: np.frombuffer(p.tobytes(), dtype=p.dtype).reshape(p.shape),
    "big-endian": lambda p: p.astype(p.dtype.newbyteorder(">")),
    "mapping": lambda p: {f"model {i}": row for i, row in enumerate(p)},
    "mapping of many types": lambda p: dict(enumerate([p[0].astype(">f8"), pd.Series(p[1]), list(p[2]), *p[3:]])),
    "pandas": lambda p: pd.DataFrame(p.T),
    "polars": lambda p: pl.DataFrame({f"model {i}": row for i, row in enumerate(p)}),
    "float32": lambda p: p.astype(np.float32),
    "float16": lambda p: p.astype(np.float16),
    "longdouble": lambda p: p.astype(np.longdouble),
}
CLASS_FORMS: dict[str, Any] = {
    **FORMS,
    "int8": lambda p: p.astype(np.int8),
    "uint8": lambda p: p.astype(np.uint8),
    "int8, Fortran order": lambda p: np.asfortranarray(p.astype(np.int8)),
    "uint64": lambda p: p.astype(np.uint64),
    "float": lambda p: p.astype(float),
}


@pytest.mark.cases(16)
@pytest.mark.parametrize(
    ("options", "form"), [(options, form) for options in ALL for form in (FORMS if options is ALL[0] else CLASS_FORMS)]
)
def test_forms_of_predictions_give_the_same_bits(options: dict[str, Any], form: str) -> None:
    y, predictions, observed, _ = random_case(options["loss"], 70, 1500)
    if form == "float16":
        predictions, observed = (each.astype(np.float16).astype(float) for each in (predictions, observed))
    options = {**options, "per_sample": True}
    formed = CLASS_FORMS[form](predictions)
    copy = formed.copy() if isinstance(formed, np.ndarray) else None
    expected = bias_variance(y, predictions, **options)
    assert_same_bits(bias_variance(y, formed, **options), expected)
    if copy is not None:
        np.testing.assert_array_equal(formed, copy)
    paired = bias_variance(y, predictions, y_observed=observed, **options)
    assert_same_bits(bias_variance(y, formed, y_observed=observed, **options), paired)
    assert_same_bits(bias_variance(y, predictions, y_observed=CLASS_FORMS[form](observed), **options), paired)


NAMES: dict[str, Any] = {
    "strings": np.array(["ant", "bee", "cat", "dog", "eel"]),
    "bytes": np.array([b"ant", b"bee", b"cat", b"dog", b"eel"]),
    "objects": np.array(["ant", "bee", "cat", "dog", "eel"], dtype=object),
    "negative": np.array([-128, -2, -1, 0, 127], dtype=np.int8),
    "far apart": np.array([-(2**63), -1, 0, 2**40, 2**63 - 1]),
    "least": np.array([-(2**63), 1 - 2**63, 2 - 2**63, 3 - 2**63, 4 - 2**63]),
    "floats": np.array([-3.0, -1.0, 0.0, 2.0, 2.0**53]),
}


@pytest.mark.parametrize("options", ZERO_ONE)
@pytest.mark.parametrize("names", NAMES)
def test_names_of_classes_do_not_matter(options: dict[str, Any], names: str) -> None:
    y, predictions, observed, _ = random_case("zero_one", 9, 400)
    named = NAMES[names]
    for beside in (None, observed[0], observed):
        of_names = None if beside is None else named[beside]
        expected = bias_variance(y, predictions, y_observed=beside, **options)
        result = bias_variance(named[y], named[predictions], y_observed=of_names, **options)
        for each in expected.numbers():
            assert getattr(result, each) == getattr(expected, each), each
        wanted = named[expected.main_prediction].tolist()
        assert result.main_prediction.tolist() == ([v.decode() for v in wanted] if names == "bytes" else wanted)


@pytest.mark.parametrize("storage", [None, "category", "string[pyarrow]"])
def test_models_of_a_list_may_be_columns_of_text(storage: Any) -> None:
    text = np.array(["ant", "bee", "cat", "bee"], dtype=object)
    column, other = (each if storage is None else pd.Series(each, dtype=storage) for each in (text, [*text[:3], "fly"]))
    result = bias_variance(column, [column, column], y_observed=(column, column), loss="zero_one")
    assert (result.expected_loss, result.main_prediction.tolist()) == (0.0, text.tolist())
    with pytest.raises(ValueError, match=r"predictions\[1\] has 3"):
        bias_variance(column, [column, column[:3]], loss="zero_one")
    with pytest.raises(ValueError, match=r"predictions\[1\] has the label 'fly' at row 3, which is not among"):
        bias_variance(column, [column, other], loss="zero_one")


def test_booleans_are_zero_and_one() -> None:
    y, predictions = np.array([True, False, True]), np.array([[True, True, False], [False, False, True]])
    result = bias_variance(y, predictions, loss="zero_one")
    assert result.main_prediction.dtype == bool
    for mixed in (
        bias_variance(y, predictions.astype(int), loss="zero_one"),
        bias_variance(y * 1, predictions, loss="zero_one"),
    ):
        np.testing.assert_array_equal(mixed.main_prediction, result.main_prediction)
        assert mixed.expected_loss == result.expected_loss


# Streaming --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("observed", ["none", "one row", "each model's"])
@pytest.mark.parametrize("options", ALL)
@pytest.mark.parametrize("weighted", [False, True])
def test_a_summary_gives_what_the_array_gives(options: dict[str, Any], observed: str, weighted: bool) -> None:
    y, predictions, beside, weights = random_case(options["loss"], 90, 300)
    same = {**options, "sample_weight": weights if weighted else None}
    own = observed == "each model's"
    if observed == "one row":
        same["y_observed"] = beside[0]
    expected = bias_variance(y, predictions, **{**same, "per_sample": True, **({"y_observed": beside} if own else {})})

    def updated(*portions: Any) -> BiasVarianceSummary:
        summary = BiasVarianceSummary(y, **same)
        for models in portions:
            extra = {"y_observed": beside[models]} if own else {}
            assert summary.update(predictions[models], **extra) is summary
        return summary

    single = updated(*range(90))
    portions = updated(slice(0, 1), 1, slice(2, 70), slice(70, 90))
    merged = updated(slice(0, 30)).merge(updated(30, slice(31, 80)).merge(updated(slice(80, 90))))
    empty = BiasVarianceSummary(y, **same).merge(updated(slice(0, 90))).merge(BiasVarianceSummary(y, **same))
    pickled = pickle.loads(pickle.dumps(updated(slice(0, 89))))
    pickled.update(predictions[89], **({"y_observed": beside[89]} if own else {}))
    for summary in (single, portions, merged, empty, pickled):
        result = summary.result(per_sample=True)
        assert (summary.n_models, result.n_models, result.n_samples) == (90, 90, 300)
        if options["loss"] == "zero_one":
            assert_same_bits(result, expected)
        else:
            assert_close(result, expected)
            np.testing.assert_allclose(result.main_prediction, expected.main_prediction, rtol=1e-15)
            for name in result.numbers():
                np.testing.assert_allclose(
                    getattr(result.per_sample, name), getattr(expected.per_sample, name), rtol=1e-12, atol=1e-12
                )


def test_a_summary_merged_with_itself_has_each_model_twice() -> None:
    y, predictions, *_ = random_case("squared", 5, 30)
    summary = BiasVarianceSummary(y).update(predictions)
    assert_close(summary.merge(summary).result(), bias_variance(y, predictions), 1e-14)
    assert summary.n_models == 10


def test_a_summary_keeps_copies() -> None:
    y, weights = np.array([1.0, 2.0]), np.array([1.0, 3.0])
    summary = BiasVarianceSummary(y, sample_weight=weights)
    summary.update({"a": [1.0, 4.0], "b": [3.0, 2.0]})
    before = summary.result()
    y[:], weights[:] = 0.0, 1.0
    assert summary.result().expected_loss == before.expected_loss == 2.0
    summary.update([9.0, 9.0])
    assert before.main_prediction.tolist() == [2.0, 3.0]
    assert repr(summary) == "BiasVarianceSummary(n_models=3, n_samples=2)"


@pytest.mark.parametrize(
    ("loss", "bad", "message"),
    [
        (
            "squared",
            [[1.0, 2.0], [0.0, math.nan]],
            r"predictions\[1\] must be finite, but has 1 NaN value, .* at row 1",
        ),
        ("squared", [math.inf, 1.0], "predictions must be finite, but has 1 infinite value, the first at row 0"),
        (
            "zero_one",
            [[1, 2], [3, 1]],
            r"predictions\[1\] has the label 3 at row 0, which is not among the classes",
        ),
        ("zero_one", [1.0, 1.5], "predictions must hold class labels.*1.5 at row 1"),
    ],
)
def test_a_refused_update_changes_nothing(loss: str, bad: Any, message: str) -> None:
    summary = BiasVarianceSummary([1, 2], loss=loss).update([1, 1])
    before = summary.result()
    with pytest.raises(ValueError, match=message):
        summary.update(bad)
    assert_same_bits(summary.result(), before)


def interrupted(call: Any) -> None:
    with pytest.raises(KeyboardInterrupt):
        call()


@pytest.mark.parametrize("loss", ["squared", "zero_one"])
def test_a_summary_interrupted_in_an_update_says_so(loss: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    summary, sound = (BiasVarianceSummary([1, 2], loss=loss).update([1, 1]) for _ in range(2))
    with monkeypatch.context() as patched:
        patched.setattr(type(summary._problem.loss), "add", stop)
        interrupted(lambda: summary.update([2, 2]))
    merged = BiasVarianceSummary([1, 2], loss=loss).update([1, 1])
    with monkeypatch.context() as patched:
        patched.setattr(type(merged._state), "merge", stop)
        interrupted(lambda: merged.merge(sound))
    for broken in (summary, merged):
        for call in (broken.result, lambda each=broken: each.update([1, 1]), lambda each=broken: each.merge(sound)):
            with pytest.raises(ValueError, match="this summary was interrupted during an update: make a new one"):
                call()
        with pytest.raises(ValueError, match="other was interrupted during an update: make a new one"):
            sound.merge(broken)
    assert sound.result().n_models == 1


@pytest.mark.parametrize("loss", ["squared", "zero_one"])
def test_a_copy_is_apart(loss: str) -> None:
    summary = BiasVarianceSummary([1, 2], loss=loss).update([1, 1])
    before = summary.result()
    copied = copy.copy(summary).update([2, 2])
    assert_same_bits(summary.result(), before)
    assert_same_bits(copied.result(), bias_variance([1, 2], [[1, 1], [2, 2]], loss=loss))


@pytest.mark.parametrize("options", ALL)
def test_observed_labels_go_with_the_models_of_their_names(options: dict[str, Any]) -> None:
    y, predictions, observed = [1, 2, 1], {"a": [1, 2, 2], "b": [2, 1, 1]}, {"b": [2, 2, 1], "a": [1, 2, 2]}
    rows = [observed["a"], observed["b"]]
    expected = bias_variance(y, [*predictions.values()], y_observed=rows, **options)
    for frame in (dict, pd.DataFrame, pl.DataFrame):
        assert_same_bits(bias_variance(y, predictions, y_observed=frame(observed), **options), expected)
    summary = BiasVarianceSummary(y, **options).update(predictions, y_observed=observed)
    assert summary.result().expected_loss == pytest.approx(expected.expected_loss, rel=1e-12)
    by_place = bias_variance(y, predictions, y_observed=rows, **options)
    assert_same_bits(by_place, expected)


# Results ----------------------------------------------------------------------------------------------------------


def test_results() -> None:
    y, predictions, observed, _ = random_case("squared", 4, 3)
    result = bias_variance(y, predictions, y_observed=observed, per_sample=True)
    assert list(result.parts()) == ["bias_squared", "variance", "noise", "cross_term"]
    assert result.beside() == {}
    assert repr(result).startswith("BiasVariance(expected_loss=")
    assert repr(result.per_sample).endswith("cross_term of each sample, n_models=4, n_samples=3)")
    values = result.to_dict()
    assert values["main_prediction"] == result.main_prediction.tolist()
    assert values["per_sample"]["noise"] == result.per_sample.noise.tolist()
    assert bias_variance(y, predictions).to_dict()["per_sample"] is None
    with pytest.raises(ValueError, match="read-only"):
        result.main_prediction[0] = 0.0
    with pytest.raises(ValueError, match="read-only"):
        result.per_sample.noise[0] = 0.0
    assert_same_bits(pickle.loads(pickle.dumps(result)), result)
    assert not hasattr(result, "__dict__")
