from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from fastevals import adjust_pvalues
from fastevals.infer.significance.corrections import CORRECTIONS, PER_TEST_ALPHA
from tests.reference.significance import adjusted
from tests.strategies import FEWER

pvalues = st.lists(st.one_of(st.sampled_from([0.0, 0.01, 0.04, 0.5, 1.0]), st.floats(0, 1)), min_size=1, max_size=9)


@pytest.mark.parametrize("correction", CORRECTIONS)
@FEWER
@given(p=pvalues)
def test_is_what_the_procedure_rejects(correction: str, p: list[float]) -> None:
    found = adjust_pvalues(p, correction=correction)
    assert found == pytest.approx(adjusted(p, correction), rel=1e-9, abs=1e-12)
    assert (found >= np.array(p)).all()
    assert (found <= 1).all()
    order = np.argsort(p, kind="stable")
    assert (np.diff(found[order]) >= 0).all()


def test_agrees_with_scipy() -> None:
    p = np.random.default_rng(0).uniform(size=50) ** 3
    assert adjust_pvalues(p, correction="benjamini-hochberg") == pytest.approx(
        stats.false_discovery_control(p), rel=1e-12
    )
    peer = stats.false_discovery_control(p, method="by")
    assert adjust_pvalues(p, correction="benjamini-yekutieli") == pytest.approx(peer, rel=1e-12)


@pytest.mark.parametrize("correction", PER_TEST_ALPHA)
@pytest.mark.parametrize("m", [1, 2, 20])
@pytest.mark.parametrize("alpha", [0.05, 0.5, 1.0])
def test_levels_are_those_of_the_pvalues(correction: str, m: int, alpha: float) -> None:
    level = PER_TEST_ALPHA[correction](alpha, m)
    assert adjust_pvalues([level] * m, correction=correction)[0] == pytest.approx(alpha, rel=1e-12)
    if m == 1:
        assert level == alpha


def test_undefined_tests_do_not_count() -> None:
    found = adjust_pvalues([[0.01, np.nan], [0.04, np.nan]], correction="bonferroni")
    assert found.tolist()[0][0] == 0.02
    assert np.isnan(found[:, 1]).all()
    assert adjust_pvalues([], correction="holm").size == 0


def test_tiny_pvalues_keep_their_digits() -> None:
    assert adjust_pvalues([1e-300, 0.5], correction="sidak")[0] == pytest.approx(2e-300)
    assert adjust_pvalues([1e-300, 1.0], correction="holm").tolist() == [2e-300, 1.0]


@pytest.mark.parametrize(
    ("values", "correction", "message"),
    [
        ([0.1, 1.2], "holm", r"pvalues must be in \[0, 1\], got 1.2"),
        ([-0.1], "holm", "pvalues must be in"),
        (["a"], "holm", "pvalues must hold numbers"),
        ([0.1], "tukey", "correction must be one of 'holm', 'hochberg'"),
    ],
)
def test_bad_input(values: Any, correction: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        adjust_pvalues(values, correction=correction)
