"""Wilcoxon's signed-rank test and the sign test, against all signs, SciPy and published figures; invariances."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from fastevals._kernels import ranks
from fastevals._kernels.ranks import sum_at
from fastevals.infer.significance.mcnemar import mcnemar_test_of_table
from fastevals.infer.significance.pairwise import pairwise_tests
from fastevals.infer.significance.signed_ranks import (
    pairwise_sign,
    pairwise_wilcoxon,
    sign_test,
    wilcoxon_options,
    wilcoxon_test,
)
from fastevals.results import Alternative, Interval, SignificanceResult
from tests.reference import rank_tests as reference
from tests.strategies import BOUNDED, FEWER, LARGEST

ALTERNATIVES = get_args(Alternative)

TIED = (-2.0, -1.0, -0.5, 0.0, 0.0, 0.5, 1.0, 2.0)
ZEROS = ("drop", "pratt")
# Largest rejected W, two-sided at .05: Wilcoxon's table, in Siegel (1956), table G.
TABLE = dict(zip(range(6, 21), (0, 2, 3, 5, 8, 10, 13, 17, 21, 25, 29, 34, 40, 46, 52), strict=True))

differences = st.one_of(
    st.lists(st.sampled_from(TIED), min_size=1, max_size=8),
    st.lists(st.sampled_from([*range(-40, 41)]).map(float), min_size=1, max_size=8),
)


def of(values: Any, **options: Any) -> SignificanceResult:
    return wilcoxon_test(values, np.zeros(len(values)), **options)


def is_beyond(value: float, critical: float | Interval, alternative: str) -> bool:
    if isinstance(critical, Interval):
        return value < critical.low or value > critical.high
    return value < critical if alternative == "less" else value > critical


def check_decision(result: SignificanceResult, null_value: float = 0.0) -> None:
    """Assert that p-value, critical value and interval agree."""
    assert result.rejected == is_beyond(result.statistic, result.critical_value, result.alternative)
    low, high = result.confidence_interval  # type: ignore[misc]
    assert low <= high
    if result.rejected:  # 0 may be an end if differences are tied
        assert not low < null_value < high
    else:
        assert low <= null_value <= high
    assert result.conclusion.lower().count("no significant ") == (not result.rejected)


# Wilcoxon ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("zeros", ZEROS)
@given(values=differences, alternative=st.sampled_from(ALTERNATIVES), level=st.sampled_from([0.5, 0.8, 0.95, 0.99]))
@BOUNDED
def test_matches_all_signs_enumerated(values: list[float], zeros: str, alternative: str, level: float) -> None:
    result = of(values, zeros=zeros, alternative=alternative, confidence_level=level)
    statistic, pvalue = reference.wilcoxon(values, zeros, alternative)
    assert tuple(result) == (statistic, pvalue)  # equal to the last bit
    assert result.effect == reference.pseudomedian(values, zeros)
    check_decision(result)


@given(
    values=differences, zeros=st.sampled_from(ZEROS), alternative=st.sampled_from(ALTERNATIVES), corrected=st.booleans()
)
@FEWER
def test_normal_decisions_agree(values: list[float], zeros: str, alternative: str, corrected: bool) -> None:
    result = of(
        values * 3, zeros=zeros, alternative=alternative, method="normal", continuity_correction=corrected,
        confidence_level=0.9,
    )  # fmt: skip
    check_decision(result)


@pytest.mark.parametrize("n", [5, 12, 50, 200])
@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_matches_scipy_exact_without_ties(n: int, alternative: str) -> None:
    values = np.random.default_rng(n).normal(0.3, 1, n)
    result = of(values, alternative=alternative, method="exact")
    theirs = stats.wilcoxon(values, alternative=alternative, method="exact")
    np.testing.assert_allclose(result.pvalue, theirs.pvalue, rtol=1e-12)


@pytest.mark.parametrize("n", [60, 2000])
@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("corrected", [False, True])
@pytest.mark.parametrize(("zeros", "theirs"), [("drop", "wilcox"), ("pratt", "pratt")])
def test_matches_scipy_normal_with_ties_and_zeros(
    n: int, alternative: str, corrected: bool, zeros: str, theirs: str
) -> None:
    values = np.random.default_rng(n).normal(0.05, 1, n).round(1)
    result = of(values, alternative=alternative, method="normal", zeros=zeros, continuity_correction=corrected)
    their_result = stats.wilcoxon(
        values, alternative=alternative, zero_method=theirs, correction=corrected, method="approx"
    )
    np.testing.assert_allclose(result.pvalue, their_result.pvalue, rtol=1e-10)


def test_hollander_and_wolfe() -> None:
    """Depression scores in R's help for wilcox.test: V = 40, p = 0.01953."""
    x = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30]
    y = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29]
    result = wilcoxon_test(x, y, alternative="greater")
    assert (result.statistic, round(result.pvalue, 5)) == (40, 0.01953)
    assert result.rejected
    assert result.confidence_interval.low > 0  # type: ignore[union-attr]


def test_sleep() -> None:
    """Student's sleep data, with ties and a zero. R's normal test with correction: V = 45, p = 0.009091."""
    values = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4]
    result = of(values, method="normal", continuity_correction=True)
    assert (result.statistic, round(result.pvalue, 6)) == (45, 0.009091)
    assert of(values).pvalue == 2 * 2**-9  # the most extreme signs of nine values


@pytest.mark.parametrize(("n", "table"), TABLE.items())
def test_published_critical_values(n: int, table: int) -> None:
    critical = of(np.arange(1.0, n + 1)).critical_value
    assert critical == (table + 1, n * (n + 1) / 2 - table - 1)


def test_interval_without_ties_is_of_walsh_means() -> None:
    """With n = 10 the table rejects 8, so the ends are the ninth means from each side."""
    values = np.random.default_rng(3).normal(1, 1, 10)
    sums = reference.walsh_sums(values.tolist())
    assert of(values).confidence_interval == (sums[8] / 2, sums[-9] / 2)
    assert of(values, alternative="greater").confidence_interval == (sums[10] / 2, math.inf)


def distinct(ascending: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    values, ends = np.empty(ascending.size), np.empty(ascending.size + 1, dtype=np.int64)
    n = ranks.distinct_values(ascending, values, ends)
    return values[:n], ends[: n + 1]


@given(values=st.lists(st.sampled_from([*TIED, 1e300, -1e-300, 3.1]), min_size=1, max_size=12))
@FEWER
def test_sum_at_every_place(values: list[float]) -> None:
    ascending = np.sort(values)
    expected = reference.walsh_sums(ascending.tolist())
    assert [sum_at(*distinct(ascending), place) for place in range(len(expected))] == expected


SPREADS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "ties": lambda rng, n: np.round(rng.normal(size=n), 1),
    "outliers": lambda rng, n: rng.standard_cauchy(n) ** 3,
    "many magnitudes": lambda rng, n: 10 ** rng.uniform(-300, 300, n) * rng.choice([-1, 1], n),
    "clusters": lambda rng, n: rng.choice([0, 1e9], n) + rng.random(n),
    "one": lambda rng, n: np.full(n, 3.0),
}


@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("n", [30, 700])
def test_sum_at_some_places(spread: str, n: int) -> None:
    ascending = np.sort(SPREADS[spread](np.random.default_rng(n), n))
    expected = np.sort(np.add.outer(ascending, ascending)[np.triu_indices(n)])
    places = [0, 1, *np.linspace(2, expected.size - 1, 50, dtype=int).tolist()]
    assert [sum_at(*distinct(ascending), place) for place in places] == expected[places].tolist()


@pytest.mark.parametrize("spread", [1.0, 12.0])
def test_sum_at_of_more_values_than_are_sampled(spread: float) -> None:
    """Integers make a sum minus a value exact, so sums can be counted value by value."""
    n = 20 * ranks.SAMPLED_VALUES
    ascending = np.sort(np.trunc(2.0**40 * np.random.default_rng(2).random(n) ** spread))
    assert np.unique(ascending).size > 16 * ranks.SAMPLED_VALUES
    whole = n * (n + 1) // 2
    for place in (0, whole // 5, whole // 2, int(0.501 * whole), whole - 1):
        found = sum_at(*distinct(ascending), place)
        before, up_to = (
            (np.searchsorted(ascending, found - ascending, side) - np.arange(n)).clip(0).sum()
            for side in ("left", "right")
        )
        assert before <= place < up_to


@pytest.mark.parametrize("method", ["auto", "exact", "normal"])
@pytest.mark.parametrize("zeros", ZEROS)
@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_learners_that_do_not_differ(method: str, zeros: str, alternative: str) -> None:
    a = [0.1, 0.5, 0.3]
    result = wilcoxon_test(a, a, method=method, zeros=zeros, alternative=alternative)
    assert (*result, result.effect) == (0, 1, 0)
    assert result.confidence_interval == (-math.inf, math.inf)
    assert not result.rejected


def test_too_few_to_reject() -> None:
    result = of([1.0, 2.0, 3.0, 4.0, 5.0])
    assert result.pvalue == 2 * 2**-5
    assert result.critical_value == (0, 15)
    assert result.confidence_interval == (-math.inf, math.inf)
    assert result.conclusion.endswith("p = 0.0625). With so few differences, no outcome would be significant.")
    one_sided = of([1.0, 2.0, 3.0, 4.0, 5.0], alternative="greater")
    assert one_sided.rejected
    assert "so few" not in one_sided.conclusion


@pytest.mark.parametrize("method", ["exact", "normal"])
def test_invariances(method: str) -> None:
    random = np.random.default_rng(5)
    a, b = random.normal(1.6, 4, (2, 20)).round() / 4  # exact in any unit
    result = wilcoxon_test(a, b, method=method)
    order = random.permutation(20)
    assert wilcoxon_test(a[order], b[order], method=method) == result
    swapped = wilcoxon_test(b, a, method=method)
    np.testing.assert_allclose(swapped.pvalue, result.pvalue, rtol=1e-12)
    assert swapped.effect == -result.effect  # type: ignore[operator]
    assert swapped.confidence_interval == tuple(-end for end in reversed(result.confidence_interval))  # type: ignore[arg-type]
    for factor in (2.0**600, 2.0**-600):
        scaled = wilcoxon_test(a * factor, b * factor, method=method)
        assert tuple(scaled) == tuple(result)
        assert (scaled.effect, *scaled.confidence_interval) == tuple(  # type: ignore[misc]
            end * factor
            for end in (result.effect, *result.confidence_interval)  # type: ignore[misc]
        )


def test_extremes_do_not_overflow() -> None:
    a, b = [LARGEST, -LARGEST, LARGEST, 0.0], [-LARGEST, LARGEST, 0.0, 1e-300]
    result = wilcoxon_test(a, b, confidence_level=0.2)
    assert tuple(result) == tuple(of([4.0, -4.0, 2.0, -1.0]))
    assert result.effect is not None
    assert of([5e-324, 1e-323]).statistic == 3


HUNDREDTHS = [97, 74, 84, 72, 56, 68, 87, 88], [93, 72, 84, 75, 58, 73, 92, 93]


def test_decimals_are_compared_as_decimals() -> None:
    by_hundredths = wilcoxon_test(*HUNDREDTHS)
    assert by_hundredths.pvalue == 5 / 32
    for scale, dtype in (
        (100, np.float64),
        (100, np.float32),
        (1e4, np.float64),
        (1e15, np.float64),
        (0.1, np.float64),
    ):
        a, b = (np.array([float(Fraction(each) / Fraction(scale)) for each in column]) for column in HUNDREDTHS)
        result = wilcoxon_test(a.astype(dtype), b.astype(dtype))
        assert tuple(result) == tuple(by_hundredths)
        assert result.effect == by_hundredths.effect / scale  # type: ignore[operator]
        assert result.confidence_interval == tuple(end / scale for end in by_hundredths.confidence_interval)  # type: ignore[union-attr]
    table = np.transpose([*HUNDREDTHS, np.sqrt(HUNDREDTHS[0])]) / 100
    pairs = pairwise_tests(table, correction="none")
    assert pairs.pvalue[0] == 5 / 32
    assert pairs[1].pvalue == wilcoxon_test(table[:, 0], table[:, 2]).pvalue


@FEWER
@given(
    st.lists(st.tuples(*[st.integers(-999, 999)] * 2), min_size=1, max_size=8), st.integers(0, 12), st.integers(0, 9)
)
def test_decimals_are_as_integers(pairs: list[tuple[int, int]], places: int, more: int) -> None:
    a, b = np.transpose(pairs)
    text = [[float(f"{value}e-{places}") for value in column + 1000 * more] for column in (a, b)]
    for zeros in ZEROS:
        given_text, whole = wilcoxon_test(*text, zeros=zeros), wilcoxon_test(a, b, zeros=zeros)
        assert tuple(given_text) == tuple(whole)
        assert given_text.effect == float(Fraction(whole.effect) / 10**places)  # type: ignore[arg-type]


def test_ties_of_other_floats_are_exact_equality() -> None:
    whole = np.array([[2, 40], [1, 41]])
    a, b = whole / 81
    assert a[0] - b[0] != b[1] - a[1]
    assert wilcoxon_test(a, b).statistic in (1, 2)
    assert wilcoxon_test(*whole).statistic == 1.5
    assert wilcoxon_test([0.9, 0.7, 1 / 3], [0.8, 0.8, 1 / 3]).statistic == 1  # not all are decimal fractions


def test_many_differences() -> None:
    values = np.random.default_rng(1).normal(0.01, 1, 100_000)
    result = of(values)
    theirs = stats.wilcoxon(values, method="approx")
    np.testing.assert_allclose(result.pvalue, theirs.pvalue, rtol=1e-9)
    low, high = result.confidence_interval  # type: ignore[misc]
    assert low < result.effect < high  # type: ignore[operator]
    assert abs((high - low) / (2 * 1.96 * math.sqrt(math.pi / 3 / 100_000)) - 1) < 0.02  # efficiency 3 / pi
    assert result.null.name == "norm"  # type: ignore[union-attr]


@pytest.mark.parametrize("values", [[1.0], [1.0, -2.0, 3.0], [0.0, 0.0, 1.0, 1.0, -2.0]])
@pytest.mark.parametrize("zeros", ZEROS)
def test_the_critical_value_has_room_for_all_sums(monkeypatch, values, zeros) -> None:
    """Compiled code does not check bounds; the interval's end is the smallest W+ not rejected."""
    found = []

    def spread_signs(ranks, scratch):
        assert scratch.shape[0] >= 2
        assert scratch.shape[1] > ranks.sum()
        found.append(spread(ranks, scratch))
        return found[-1]

    expected = of(values, zeros=zeros)  # compiles the kernels that call it
    spread = ranks.spread_signs
    monkeypatch.setattr(ranks, "spread_signs", spread_signs)
    assert of(values, zeros=zeros).confidence_interval == expected.confidence_interval
    (chances,) = found
    assert chances.sum() == 1
    assert chances[0] == chances[-1]


@pytest.mark.parametrize(
    "values", [[0, 0, 1, 2, -3, 4, 5, 6.5], [0, 0, 0, 1, 2.5, -0.5, 3, 7, 8], [1, 2, -3, 4, 5, 5, 9]]
)
@pytest.mark.parametrize("zeros", ZEROS)
@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_the_interval_is_of_the_shifts_that_are_kept(values, zeros, alternative) -> None:
    """W+ at a shift counts the Walsh means above it; means of zeros count half."""
    low, high = of(values, zeros=zeros, alternative=alternative, confidence_level=0.8).confidence_interval
    kept = reference.ranked_differences(values, zeros)
    sums = sorted(reference.rank_sum(kept, signs, zeros) for signs in product((-1, 1), repeat=len(kept)))
    least = sums[math.ceil(len(sums) * (0.1 if alternative == "two-sided" else 0.2)) - 1]
    means = [each / 2 for each in reference.walsh_sums(kept)]
    needed = math.ceil(least + Fraction(kept.count(0) * (kept.count(0) + 1), 4))
    assert low == (-math.inf if alternative == "less" else means[needed - 1])
    assert high == (math.inf if alternative == "greater" else means[-needed])


def test_few_differences_among_many_zeros() -> None:
    values = np.append(np.zeros(20_000), [1.0, 2.0, 3.0, -4.0, 5.0, 6.0, 7.0])
    exact, dropped = (of(values, zeros=zeros) for zeros in ("pratt", "drop"))
    assert dropped.pvalue == reference.wilcoxon(values[-7:].tolist(), "drop", "two-sided")[1]
    assert exact.null is None
    assert exact.pvalue == 2 * 5 * 2**-7  # ranks are nearly equal: no sign is negative, or one of the four smallest
    assert of(np.append(np.zeros(3_000_000), [1.0, 2.0]), zeros="pratt").null is not None


@pytest.mark.parametrize("zeros", ZEROS)
def test_exact_among_zeros(zeros: str) -> None:
    """Zeros have no sign, so they do not enlarge the distribution beyond the available time."""
    values = np.append(np.zeros(3_000), [1.0, 2.0, -3.0])
    result = of(values, method="exact", zeros=zeros)
    assert tuple(result) == tuple(of(values, zeros=zeros))
    assert result.null is None


def test_false_alarms_of_the_normal() -> None:
    """145 to 258 of 4000 tests at level .05 reject, also with ties; outside by chance: 5e-5."""
    a = np.random.default_rng(11).normal(size=(4000, 60)).round(1)
    _, pvalue, _ = pairwise_wilcoxon(a, np.zeros_like(a), "two-sided")
    rejected = np.count_nonzero(pvalue < 0.05)
    assert stats.binom.interval(1 - 5e-5, 4000, 0.05)[0] <= rejected <= stats.binom.interval(1 - 5e-5, 4000, 0.05)[1]


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("method", ["auto", "exact", "normal"])
@pytest.mark.parametrize("zeros", ZEROS)
def test_many_pairs_are_each(alternative: str, method: str, zeros: str) -> None:
    random = np.random.default_rng(2)
    a, b = random.integers(0, 6, (2, 6, 52)).astype(float)
    a[1], a[2, 3:] = b[1], b[2, 3:]
    a[4] += random.normal(size=52)
    options = {"method": method, "zeros": zeros}
    statistic, pvalue, effect = pairwise_wilcoxon(a, b, alternative, **wilcoxon_options(**options))
    for pair in range(6):
        one = wilcoxon_test(a[pair], b[pair], alternative=alternative, **options)  # type: ignore[arg-type]
        assert (*one, one.effect) == (statistic[pair], pvalue[pair], effect[pair])


def test_inputs() -> None:
    a, b = np.array([5, 3, 4, 2], dtype=">i4"), (1.0, 1.0, 5.0, 1.0)
    before = a.copy()
    assert wilcoxon_test(a, b) == wilcoxon_test([5.0, 3.0, 4.0, 2.0], b)
    assert wilcoxon_test(a, b).to_dict()["statistic"] == 8.5
    np.testing.assert_array_equal(a, before)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([1, 2], [1]), {}, "b has 1 rows, but a has 2|shape"),
        (([1, math.nan], [1, 2]), {}, "a must be finite, but has 1 NaN value, the first at row 1"),
        (([1, 2], [1, math.inf]), {}, "b must be finite"),
        (([], []), {}, "a is empty"),
        (([1], [2]), {"method": "approx"}, "method must be one of 'auto', 'exact', 'normal'; got 'approx'"),
        (([1], [2]), {"zeros": "zsplit"}, "zeros must be one of"),
        (([1], [2]), {"continuity_correction": 1}, "continuity_correction must be True or False"),
        (([1], [2]), {"alternative": "both"}, "alternative must be one of"),
        (([1], [2]), {"confidence_level": 1}, "confidence_level"),
        (
            (np.arange(1002), np.zeros(1002)),
            {"method": "exact"},
            "method='exact' is for up to 1000 nonzero differences .*, got 1001$",
        ),
        (
            (np.append(np.zeros(3_000), np.arange(1, 1001)), np.zeros(4_000)),
            {"method": "exact", "zeros": "pratt"},
            "1000 nonzero differences .fewer if zeros are ranked., got 1000, and 3000 ranked zeros$",
        ),
    ],
)  # fmt: skip
def test_what_is_refused(arguments: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        wilcoxon_test(*arguments, **options)


# Sign test --------------------------------------------------------------------------------------------------------


@pytest.mark.cases(5)
@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_sign_test_matches_scipy(alternative: str, level: float) -> None:
    for wins, losses in product((0, 1, 4, 9, 30), (0, 2, 5, 6, 14)):
        if not wins + losses:
            continue
        a = np.array([1.0] * wins + [-1.0] * losses + [0.0] * 3)
        result = sign_test(a, np.zeros_like(a), alternative=alternative, confidence_level=level)
        theirs = stats.binomtest(wins, wins + losses, alternative=alternative)
        np.testing.assert_allclose(result.pvalue, theirs.pvalue, rtol=1e-12)
        np.testing.assert_allclose(result.confidence_interval, theirs.proportion_ci(level), rtol=1e-10)
        assert (result.statistic, result.effect) == (wins, wins / (wins + losses))
        check_decision(result, 0.5)


@given(
    wins=st.integers(0, 30), losses=st.integers(0, 30), alternative=st.sampled_from(ALTERNATIVES),
    level=st.sampled_from([0.3, 0.8, 0.95, 1 - 2**-6]),
)  # fmt: skip
@BOUNDED
def test_sign_test_is_mcnemars_exact_test(wins: int, losses: int, alternative: str, level: float) -> None:
    a = np.array([1.0] * wins + [-1.0] * losses + [0.0])
    options: Any = {"alternative": alternative, "confidence_level": level}
    signs, counts = (
        sign_test(a, np.zeros_like(a), **options),
        mcnemar_test_of_table([[1, wins], [losses, 0]], **options),
    )
    assert (*signs, signs.critical_value, signs.null) == (*counts, counts.critical_value, counts.null)


def test_sign_test_of_learners_that_do_not_differ() -> None:
    result = sign_test([1, 2, 3], [1, 2, 3])
    assert (*result, result.effect) == (0, 1, 0.5)
    assert result.confidence_interval == (0, 1)
    assert result.conclusion == (
        "No significant difference between the wins of a and b: share won by a 0.5 (sign test, p = 1). "
        "With so few differences, no outcome would be significant."
    )


def test_sign_test_of_many_pairs_is_each() -> None:
    a, b = np.random.default_rng(4).integers(0, 3, (2, 5, 9)).astype(float)
    a[0] = b[0]
    statistic, pvalue, effect = pairwise_sign(a, b, "greater")
    for pair in range(5):
        one = sign_test(a[pair], b[pair], alternative="greater")
        assert (*one, one.effect) == (statistic[pair], pvalue[pair], effect[pair])


def test_sign_test_is_unchanged_by_what_keeps_signs() -> None:
    a, b = np.random.default_rng(6).normal(size=(2, 15))
    result = sign_test(a, b)
    assert sign_test(a * 2.0**600, b * 2.0**600) == result
    assert sign_test(np.exp(a), np.exp(b)) == result
    swapped = sign_test(b, a)
    assert swapped.pvalue == result.pvalue
    assert swapped.statistic == 15 - result.statistic
