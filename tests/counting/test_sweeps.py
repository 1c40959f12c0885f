"""Sums as pairs of floats, against fractions."""

from fractions import Fraction

import hypothesis
from hypothesis import given
from hypothesis import strategies as st

from fastevals.counting.sweeps import as_pair, sum_as_pair
from tests.strategies import BOUNDED

FLOATS = st.one_of(
    st.sampled_from([-0.0, 0.0, 5e-324, 2.0**-60, 1.0, 1.0 + 2**-52, 2.0**53, 1e300]), st.floats(-1e300, 1e300)
)


@BOUNDED
@given(st.lists(FLOATS, max_size=8))
@hypothesis.example([2.0**53, 1.0, 2.0**-60])
@hypothesis.example([1e300, 1.0, -1e300])
@hypothesis.example([-0.0])
def test_a_sum_as_a_pair_is_that_of_fractions(values: list[float]) -> None:
    expected = as_pair(sum(map(Fraction, values), Fraction(0)))
    assert [each.hex() for each in sum_as_pair(values)] == [each.hex() for each in expected]
