from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import fastevals
from fastevals import pairwise_tests
from tests.infer.significance.test_pairwise import OPTIONS, TEN, one_by_one
from tests.reference.significance import effects_of
from tests.strategies import FEWER

RATHER_EQUAL = hnp.arrays(np.int64, st.tuples(st.integers(2, 14), st.just(3)), elements=st.integers(0, 6))


@FEWER
@given(table=RATHER_EQUAL)
def test_effects_are_those_by_definition(table: Any) -> None:
    found = pairwise_tests(table / 10, test="paired-t", correction="none").effects
    for k, (i, j) in enumerate([(0, 1), (0, 2), (1, 2)]):
        expected = effects_of([each / 10 for each in (table[:, i] - table[:, j]).tolist()])
        for name, value in expected.items():
            measured = getattr(found, name)
            measured = [end[k] for end in measured] if name == "median_interval" else measured[k]
            assert measured == pytest.approx(value, abs=1e-12), name


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
@pytest.mark.parametrize("test", ["paired-t", "corrected-resampled-t", "5x2cv-t", "wilcoxon", "sign", "permutation"])
def test_intervals_are_those_of_the_test_of_two(test: Any, alternative: Any) -> None:
    table = np.round(TEN, 3)
    table[:, 3] = table[:, 0]
    options = OPTIONS.get(test, {})
    found = pairwise_tests(table, test=test, alternative=alternative, correction="none", **options)
    for k, (i, j) in enumerate(found.pairs):
        alone = one_by_one(test, table[:, i], table[:, j], alternative)
        if alone.confidence_interval is None:
            assert found[k].confidence_interval is None
            assert np.isnan(found.confidence_interval.low[k])
            continue
        assert found[k].confidence_interval == pytest.approx(alone.confidence_interval, rel=1e-12)
        assert found.confidence_interval.high[k] == pytest.approx(alone.confidence_interval.high, rel=1e-12)


@pytest.mark.parametrize("options", [{"zeros": "pratt"}, {"method": "normal", "continuity_correction": True}])
def test_intervals_of_wilcoxon_take_its_options(options: dict[str, Any]) -> None:
    table = np.random.default_rng(2).integers(0, 9, (30, 4)) / 10
    found = pairwise_tests(table, correction="none", **options)
    for k, (i, j) in enumerate(found.pairs):
        alone = fastevals.wilcoxon_test(table[:, i], table[:, j], **options)
        assert found[k].confidence_interval == pytest.approx(alone.confidence_interval, abs=1e-12)
        assert found[k].conclusion == alone.conclusion.replace("a and b", f"{i} and {j}")


def test_one_sign_everywhere() -> None:
    table = {"low": TEN[:, 0] - 1, "high": TEN[:, 1]}
    for test in ("paired-t", "wilcoxon", "sign", "permutation"):
        found = pairwise_tests(table, test=test, **OPTIONS.get(test, {}))
        effects = found.effects
        assert found.effect[0] < found.value
        assert effects.mean_difference[0] < 0 > effects.median_difference[0]
        assert effects.rank_biserial[0] == -1
        assert effects.vargha_delaney_a[0] == 0
        assert (effects.higher[0], effects.tied[0], effects.lower[0]) == (0, 0, 10)
        turned = pairwise_tests(dict(reversed(table.items())), test=test, **OPTIONS.get(test, {})).effects
        assert turned.mean_difference == pytest.approx(-effects.mean_difference)
        assert turned.mean_interval.low == pytest.approx(-effects.mean_interval.high)
        assert turned.median_interval.low == pytest.approx(-effects.median_interval.high)
        assert turned.rank_biserial == -effects.rank_biserial


def test_splits_of_one_data_set_have_the_corrected_interval_and_no_interval_of_the_median() -> None:
    found = pairwise_tests(TEN, test="corrected-resampled-t", n_train=90, n_test=10)
    assert found.effects.mean_interval.low == pytest.approx(found.confidence_interval.low)
    assert np.isnan(found.effects.median_interval.low).all()
    halves = pairwise_tests(TEN, test="5x2cv-f").effects
    expected = fastevals.corrected_resampled_t_test(TEN[:, 0], TEN[:, 1], n_train=50, n_test=50).confidence_interval
    assert (halves.mean_interval.low[0], halves.mean_interval.high[0]) == pytest.approx(expected)
    assert np.isnan(halves.median_interval.high).all()


def test_frame_and_text_and_copies_have_effects() -> None:
    found = pairwise_tests(TEN, test="paired-t")
    frame = found.to_frame()
    for name in ("low", "high", "higher", "tied", "lower", "mean_difference", "mean_low", "median_high"):
        assert name in frame
    assert frame["rank_biserial"].to_numpy() == pytest.approx(found.effects.rank_biserial)
    assert "higher/tied/lower" in str(found)
    assert "95 % interval" in str(found)
    assert "unadjusted 95 % interval" in found[0].conclusion
    again = pickle.loads(pickle.dumps(found))
    assert (again.effects.higher == found.effects.higher).all()
    assert found.to_dict()["effects"]["tied"] == [0] * 6
    assert found.effects.to_frame().shape[0] == 6


def test_chunks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = pairwise_tests(TEN).effects
    monkeypatch.setattr("fastevals.infer.significance.pairwise.DIFFERENCES_PER_TASK", 20)  # two pairs per task
    assert pairwise_tests(TEN).effects.to_dict() == expected.to_dict()


def test_too_few_rows_for_an_interval() -> None:
    found = pairwise_tests(TEN[:5])
    assert np.isinf(found.confidence_interval.low).all()
    assert found[0].conclusion.endswith("With so few differences, no outcome would be significant.")
    assert np.isinf(found.effects.median_interval.high).all()


def test_median_intervals_hold() -> None:
    # 12 skewed differences with ties; coverage of the median 0 in 4,000 tables: at least 95 % - 3.5 standard errors.
    rng = np.random.default_rng(4)
    d = np.round(rng.exponential(size=(12, 4000)) - np.log(2), 2)
    table = np.concatenate([d, np.zeros((12, 1))], axis=1)
    found = pairwise_tests(table, test="paired-t", reference=4000, correction="none").effects
    covered = (found.median_interval.low <= 0) & (found.median_interval.high >= 0)
    assert covered.mean() > 0.95 - 3.5 * np.sqrt(0.05 * 0.95 / 4000)
