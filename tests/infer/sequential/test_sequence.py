"""Confidence sequences: identities, the twin in fractions, frames, and bad input."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastevals
from benches import nightly
from fastevals import ConfusionMatrix, NightRecord, SequenceEstimate, confidence_sequence
from fastevals.infer.sequential.boundaries import NARROWEST_RATIO, normal_limit
from tests.reference import sequences as reference
from tests.strategies import BOUNDED

AUCS = [
    NightRecord.of_auc("mon", 0.81, 0.02**2, 200, 300),
    NightRecord.of_auc("tue", 0.79, 0.04**2, 60, 50),
    NightRecord.of_auc("wed", 0.84, 0.05**2, 30, 90),
    NightRecord.of_auc("thu", 0.70, math.nan, 1, 9),
]
RATES = [NightRecord.of_rate("mon", 45, 50), NightRecord.of_rate("tue", 12, 20), NightRecord.of_rate("wed", 30, 30)]
EMPTY = NightRecord("sun", 0)


def ends(found: SequenceEstimate) -> tuple[float, ...]:
    return (found.value, found.standard_error, *found.confidence_interval, *found.fixed_interval)


# What is computed -----------------------------------------------------------------------------------------------------


def test_one_night_has_its_own_estimate_and_the_limit_of_its_number_of_rows() -> None:
    found = confidence_sequence([NightRecord("mon", 500, value=0.3, variance=1e-4)], min_count=500)
    reach = float(normal_limit(NARROWEST_RATIO / 10, 0.05, one_sided=False)) * 0.01
    assert (found.value, found.standard_error) == (0.3, 0.01)
    assert found.confidence_interval == pytest.approx((0.3 - reach, 0.3 + reach))
    assert found.fixed_interval == pytest.approx((0.3 - 0.01959963984540054, 0.3 + 0.01959963984540054))
    assert (found.n_samples, found.n_nights, found.n_nights_used, found.caution) == (500, 1, 1, "")


def test_the_fixed_interval_is_delongs_or_wilsons() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(600) % 3 == 0
    scores = rng.standard_normal(600) + y
    delong = fastevals.delong(y, scores)
    night = NightRecord.of_auc("mon", float(delong.value), float(delong.standard_error) ** 2, 200, 400)
    found = confidence_sequence([night], bounds=(0, 1))
    assert found.fixed_interval == pytest.approx(delong.confidence_interval(method="logit"))
    rate = confidence_sequence(RATES)
    low, high = fastevals.proportion_interval(ConfusionMatrix([[1, 0], [13, 87]]), "recall")
    assert rate.fixed_interval == pytest.approx((low, high))
    assert rate.value == 0.87


@BOUNDED
@given(st.data())
def test_values_and_errors_equal_the_twin(data: st.DataObject) -> None:
    shares, variances = st.sampled_from([0.0, 0.1, 0.5, 0.9]), st.sampled_from([0.0, 0.01, 0.3, math.nan])
    night = st.tuples(st.sampled_from([0.5, 1.0, 3.0, 100.0]), shares, variances)
    nights = data.draw(st.lists(night, min_size=1, max_size=8))
    records = [
        NightRecord(str(k), 100, value=value, variance=variance, weight=weight)
        for k, (weight, value, variance) in enumerate(nights)
    ]
    found = confidence_sequence(records)
    mean, variance = reference.weighted_mean(nights)
    assert found.value == pytest.approx(float(mean), rel=1e-12)
    assert found.standard_error == pytest.approx(math.sqrt(variance), rel=1e-9, abs=1e-12)


def test_means_of_nights_are_the_mean_of_all_rows() -> None:
    losses = np.random.default_rng(1).random(700) ** 2
    parts = [losses[:400], losses[400:403], losses[403:404], losses[404:]]
    records = [
        NightRecord.of_mean(str(k), part.size, float(part.sum()), float((part**2).sum()))
        for k, part in enumerate(parts)
    ]
    found = confidence_sequence(records)
    assert found.value == pytest.approx(losses.mean())
    within = sum(part.size * part.var(ddof=1) for part in parts if part.size > 1) + (parts[2][0] - found.value) ** 2
    assert found.standard_error == pytest.approx(math.sqrt(within) / 700)
    assert (records[2].value, math.isnan(records[2].variance)) == (parts[2][0], True)


def test_nights_of_a_rate_are_added_up() -> None:
    whole = confidence_sequence([NightRecord.of_rate("all", 87, 100)], narrowest_at=2000)
    assert ends(confidence_sequence(RATES, narrowest_at=2000)) == pytest.approx(ends(whole))


@pytest.mark.parametrize("records", [AUCS, RATES], ids=["AUC", "rate"])
def test_the_order_of_nights_does_not_change_the_last_look(records: list[NightRecord]) -> None:
    found = confidence_sequence(records, narrowest_at=1000)
    assert ends(confidence_sequence(records[::-1], narrowest_at=1000)) == pytest.approx(ends(found))
    others = [records[0], *records[:0:-1]]  # the first night sets the scale
    assert ends(confidence_sequence(others)) == pytest.approx(ends(confidence_sequence(records)))


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
@pytest.mark.parametrize("records", [[EMPTY, *AUCS], [*RATES[:1], EMPTY, *RATES[1:]]], ids=["AUC", "rate"])
def test_looks_are_the_intervals_of_the_first_nights(records: list[NightRecord], alternative: Any) -> None:
    options: Any = {"alternative": alternative, "narrowest_at": 500, "bounds": (0, 1)}
    looks = np.transpose(confidence_sequence(records, **options).looks())
    for k in range(len(records)):
        found = confidence_sequence(records[: k + 1], **options)
        assert tuple(looks[k]) == pytest.approx((found.value, *found.confidence_interval), nan_ok=True)


def test_one_sided_intervals_are_the_bounds_of_their_level() -> None:
    for records, bounds in ((AUCS, (0.0, 1.0)), (RATES, (0.0, 1.0)), (AUCS, (-math.inf, math.inf))):
        both = confidence_sequence(records, bounds=bounds)
        for level in (0.5, 0.9, 0.99):
            greater = confidence_sequence(records, bounds=bounds, alternative="greater", confidence_level=level)
            less = confidence_sequence(records, bounds=bounds, alternative="less", confidence_level=level)
            assert greater.confidence_interval == pytest.approx((both.low(level), bounds[1]))
            assert less.confidence_interval == pytest.approx((bounds[0], both.high(level)))
        assert both.low(0.99) < both.low(0.9) < both.value < both.high(0.9) < both.high(0.99)
        assert both.confidence_interval.low < both.low(0.95) < both.fixed_interval.low
        assert both.bounds(0.95) == pytest.approx((both.low(0.95), both.high(0.95)), rel=1e-12)


def test_intervals_shrink_with_equal_nights() -> None:
    records = [NightRecord.of_auc(str(k), 0.8, 0.03**2, 200, 200) for k in range(400)]
    _, low, high = confidence_sequence(records, bounds=(0, 1)).looks()
    assert (np.diff(high - low) < 0).all()
    once = np.array([np.subtract(*confidence_sequence(records[:k]).fixed_interval[::-1]) for k in (1, 10, 100, 400)])
    ratios = (high - low)[[0, 9, 99, 399]] / once
    assert (ratios < 2).all()
    assert ratios.argmin() == 1  # ten times the first night


def test_a_rewritten_night_takes_the_place_of_the_old_one() -> None:
    again = NightRecord.of_auc("tue", 0.75, 0.03**2, 80, 60)
    found = confidence_sequence([AUCS[0], again, *AUCS[2:]])
    assert found.value == pytest.approx(reference_value([AUCS[0], again, *AUCS[2:]]))


def reference_value(records: list[NightRecord]) -> float:
    return float(reference.weighted_mean([(each.weight or 0.0, each.value, each.variance) for each in records])[0])


# Nights without an estimate, and the first look -----------------------------------------------------------------------


def test_nights_without_a_value_are_counted_and_change_nothing() -> None:
    without = [EMPTY, NightRecord.of_auc("sat", math.nan, math.nan, 3, 0)]
    found, whole = confidence_sequence([*AUCS[:2], *without, *AUCS[2:]]), confidence_sequence(AUCS)
    assert ends(found) == ends(whole)
    assert (found.n_samples, found.n_positives, found.n_negatives) == (740, 291, 449)
    assert (found.n_nights, found.n_nights_used, whole.n_nights) == (6, 4, 4)
    nothing = confidence_sequence(without)
    assert nothing.conclusion == "There is no interval yet: none of 2 nights has a value."
    assert np.isnan([*ends(nothing), nothing.low(0.9), nothing.high(0.9), *np.ravel(nothing.looks())]).all()
    assert confidence_sequence([]).n_nights == 0


def test_there_is_no_interval_below_the_fewest_rows() -> None:
    few = [NightRecord.of_auc("mon", 0.8, 0.01, 150, 900), NightRecord.of_auc("tue", 0.8, 0.01, 60, 900)]
    first, second = confidence_sequence(few[:1]), confidence_sequence(few)
    assert first.conclusion == "There is no interval yet: there are 150 positive rows, and 200 are needed."
    assert np.isnan([*first.confidence_interval, first.low(0.95), first.high(0.5), *first.bounds(0.9)]).all()
    assert not np.isnan(first.fixed_interval).any()
    assert second.caution == ""
    assert np.isnan(second.looks()[1]).tolist() == [True, False]
    assert not np.isnan(confidence_sequence(few[:1], min_count=150).confidence_interval).any()
    rows = confidence_sequence([NightRecord("mon", 199, value=0.1, variance=0.1)])
    assert rows.caution == "There is no interval yet: there are 199 rows, and 200 are needed."
    assert confidence_sequence([NightRecord.of_rate("mon", 50, 100)]).confidence_interval.high < 1


def test_without_variance_there_is_no_interval() -> None:
    perfect = confidence_sequence([NightRecord.of_auc("mon", 1.0, 0.0, 300, 300)], bounds=(0, 1))
    assert perfect.caution == "There is no interval yet: the estimated variance is 0."
    assert np.isnan([*perfect.confidence_interval, *perfect.fixed_interval]).all()
    unknown = confidence_sequence([NightRecord("mon", 300, value=1.0)], cumulative=True)
    assert unknown.caution == "There is no interval yet: the estimated variance is unknown."


def test_nights_without_a_variance_are_many_or_light() -> None:
    heavy = [NightRecord(str(k), 300, value=k % 2 / 10) for k in range(40)]
    _, low, _ = confidence_sequence(heavy).looks()
    assert np.isnan(low).tolist() == [True] * 29 + [False] * 11
    assert confidence_sequence(heavy[:29]).caution == "There is no interval yet: the estimated variance is unknown."
    light = [NightRecord("x", 300, value=0.1, variance=1e-4), NightRecord("y", 50, value=0.3)]
    assert confidence_sequence(light).caution == ""


def test_cumulative_records_are_taken_as_they_are() -> None:
    looks = [NightRecord("mon", 300, value=0.5, variance=4e-4), NightRecord("tue", 500, value=0.6, variance=1e-4)]
    found = confidence_sequence(looks, cumulative=True)
    reach = float(normal_limit(NARROWEST_RATIO * 500 / 3000, 0.05, one_sided=False)) * 0.01
    assert (found.value, found.n_samples) == (0.6, 500)
    assert found.confidence_interval == pytest.approx((0.6 - reach, 0.6 + reach))
    rates = confidence_sequence([RATES[0], NightRecord.of_rate("tue", 87, 100)], cumulative=True, narrowest_at=2000)
    assert ends(rates) == pytest.approx(ends(confidence_sequence(RATES, narrowest_at=2000)))


# Input ----------------------------------------------------------------------------------------------------------------


def test_columns_and_frames() -> None:
    columns = {"n_samples": [300, 100], "value": [0.2, 0.3], "variance": [4e-4, math.nan]}
    expected = confidence_sequence(
        [NightRecord(str(k + 1), n, v, s) for k, (n, v, s) in enumerate(zip(*columns.values(), strict=True))]
    )
    for given_columns in (columns, {name: np.array(each) for name, each in columns.items()}, pd.DataFrame(columns)):
        assert ends(confidence_sequence(given_columns)) == ends(expected)
    rates = pd.DataFrame({"night": pd.to_datetime(["2026-01-01", "2026-01-02"]), "n_samples": [50, 20]})
    rates = rates.assign(successes=[45, 12], trials=[50, 20])
    assert ends(confidence_sequence(rates)) == ends(confidence_sequence(RATES[:2]))


def test_records_as_dicts() -> None:
    for each in (*AUCS, *RATES, EMPTY, NightRecord("x", 3, 0.5, 0.1, fingerprint="ab")):
        assert NightRecord.from_dict(each.to_dict()).to_dict() == each.to_dict()
        assert NightRecord._of_known(each.to_dict()).to_frame().equals(each.to_frame())
    assert NightRecord.of_rate("mon", 0, 0).weight == 0


sequence: Any = confidence_sequence
record: Any = NightRecord
BAD: dict[str, Any] = {
    "records must be a list of NightRecords, a frame or a mapping, got 3": lambda: sequence(3),
    "records must be NightRecords, got 0.5": lambda: sequence([0.5]),
    "records must have each night once, got 'mon' several times": lambda: sequence([AUCS[0], AUCS[0]]),
    "either all records or none must have trials, got 'mon' with and 'tue' without": (
        lambda: sequence([RATES[0], AUCS[1]])
    ),
    "either all records or none must have numbers by class, got 'tue' with and 'mon' without": (
        lambda: sequence([record("mon", 9, 0.5, 0.1), AUCS[1]])
    ),
    "bounds must contain all values, got (0.0, 0.8) and 0.81 on 'mon'": (lambda: sequence(AUCS, bounds=(0, 0.8))),
    "bounds must be a pair of numbers, got 1": lambda: sequence(AUCS, bounds=1),
    "bounds must be in ascending order, got (1, 0)": lambda: sequence(AUCS, bounds=(1, 0)),
    "min_count must be an integer at least 1, got 0": lambda: sequence(AUCS, min_count=0),
    "narrowest_at must be in (0, inf), got 0": lambda: sequence(AUCS, narrowest_at=0),
    "cumulative must be True or False, got 'no'": lambda: sequence(AUCS, cumulative="no"),
    "confidence_level must be in (0, 1), got 95": lambda: sequence(AUCS, confidence_level=95),
    "confidence_level must be in (0, 1), got 1": lambda: sequence(AUCS).low(1),
    "(did you mean 'greater'?)": lambda: sequence(AUCS, alternative="greter"),
    "got 'values' (did you mean 'value'?)": lambda: sequence({"n_samples": [1], "values": [2]}),
    "records must have a column 'n_samples', got value": lambda: sequence({"value": [2]}),
    "records must have columns of one length": lambda: sequence({"n_samples": [2], "value": [0.1, 0.2]}),
    "night must be non-empty text, got ''": lambda: record("", 3),
    "fingerprint must be text, got 3": lambda: record("mon", 3, fingerprint=3),
    "n_samples must be an integer at least 0, got -1": lambda: record("mon", -1),
    "value must be finite, got inf": lambda: record("mon", 3, math.inf),
    "variance must be at least 0, got -1.0": lambda: record("mon", 3, 0.5, -1.0),
    "weight must be in [0, inf), got -2": lambda: record("mon", 3, 0.5, 0.1, weight=-2),
    "n_positives and n_negatives must be given together, got only n_positives": lambda: record("m", 3, n_positives=1),
    "n_positives + n_negatives must be at most n_samples=3, got 4": (
        lambda: record("mon", 3, n_positives=2, n_negatives=2)
    ),
    "successes must be at most trials=3, got 4": lambda: record.of_rate("mon", 4, 3),
    "value must be successes / trials = 0.5, got 0.4": lambda: record("m", 4, 0.4, successes=1, trials=2),
    "a record has no 'valu' (did you mean 'value'?)": lambda: record.from_dict({"night": "a", "valu": 1}),
    "a record must have 'n_samples'": lambda: record.from_dict({"night": "a"}),
    "a record must be a mapping, got 3": lambda: record.from_dict(3),
}


@pytest.mark.parametrize("message", BAD)
def test_bad_input(message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        BAD[message]()


# Simulations ----------------------------------------------------------------------------------------------------------


def test_simulated_paths_are_those_of_records() -> None:
    """The simulation behind docs/nightly.md computes the same intervals as `confidence_sequence`."""
    setting = next(iter(nightly.STUDIES["aucs"]()))
    evidence, truths = setting.draw(np.random.default_rng(1))
    rng = np.random.default_rng(1)
    n_pos = nightly.sizes(rng, 200, 20, 200)
    assert truths[0] == pytest.approx(0.8, abs=0.001)
    assert evidence.values.size == nightly.N_NIGHTS
    weights = n_pos / 2
    nights = np.diff(evidence.values * np.cumsum(weights), prepend=0) / weights
    variances = np.diff((evidence.errors * np.cumsum(weights)) ** 2, prepend=0) / weights**2
    records = [
        NightRecord.of_auc(str(k), value, max(variance, 0.0), n, n)
        for k, (value, variance, n) in enumerate(zip(nights.tolist(), variances.tolist(), n_pos.tolist(), strict=True))
    ]
    found = confidence_sequence(records, bounds=(0, 1))
    _, low, high = found.looks()
    assert low == pytest.approx(evidence.low(0.05, one_sided=False), rel=1e-9)
    assert high == pytest.approx(evidence.high(0.05, one_sided=False), rel=1e-9)
    assert nightly.missed(evidence, truths)[4] in (True, False)


def test_simulated_aucs_are_delongs() -> None:
    rng = np.random.default_rng(3)
    y, a, b = rng.random(60) < 0.4, rng.integers(0, 4, 60), rng.integers(0, 3, 60)
    one: Any = [np.bincount(a[y == label], minlength=4)[np.newaxis].astype(float) for label in (True, False)]
    both: Any = [
        np.bincount(a[y == each] * 3 + b[y == each], minlength=12).reshape(1, 4, 3) * 1.0 for each in (True, False)
    ]
    expected = fastevals.delong(y, np.stack([a, b]))
    contrast = np.array([1, -1])
    assert np.ravel(nightly.delong_of_counts(*one)) == pytest.approx([expected.aucs[0], expected.covariance[0, 0]])
    assert np.ravel(nightly.delong_of_counts(*both)) == pytest.approx(
        [contrast @ expected.aucs, contrast @ expected.covariance @ contrast]
    )


@pytest.mark.slow
@pytest.mark.parametrize("study", nightly.STUDIES)
def test_sequences_seldom_miss_the_truth(study: str) -> None:
    setting = next(iter(nightly.STUDIES[study]()))
    found = nightly.simulate(setting, 100)
    assert found[0] < 0.1
    assert found[3] > 0.25  # fixed intervals, looked at nightly
    assert found[5] < 2


def test_impossible_sums_are_refused():
    """A variance taken for the sum of squares would make the night certain."""
    with pytest.raises(ValueError, match=r"total_of_squares must be at least total\*\*2 / n_samples, 250, .*got 1"):
        NightRecord.of_mean("monday", 10, 50, 1)
    assert NightRecord.of_mean("monday", 3, 0.3, 3 * 0.1**2).variance == pytest.approx(0, abs=1e-15)
