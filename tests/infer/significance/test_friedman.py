"""Friedman's test: the chapter's figures, a twin in fractions, SciPy, invariances, odd tables."""

from __future__ import annotations

import json
import math
import pickle
import warnings
from itertools import permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import fastevals
from fastevals import UndefinedMetricWarning
from fastevals.infer.significance import friedman
from fastevals.infer.significance.friedman import FriedmanResult, friedman_test
from tests.reference import rank_tests as reference
from tests.strategies import BOUNDED

CASES = json.loads((Path(__file__).parents[2] / "data" / "cases.json").read_text())
ZHOU = CASES["zhou_table_2_5"]
PSNR = CASES["psnr"]
BOTH = ("F", "chi-square")

VALUES = (-1.0, 0.0, 0.0, 0.5, 1.0, 1e300)


@st.composite
def tables(draw: st.DrawFn) -> list[list[float]]:
    n, k = draw(st.integers(2, 6)), draw(st.integers(2, 5))
    return [draw(st.lists(st.sampled_from(VALUES), min_size=k, max_size=k)) for _ in range(n)]


def psnr(at: slice) -> dict[str, list[float]]:
    """Return results over images and the chosen noise levels, one column per algorithm."""
    algorithms = next(iter(PSNR["data"].values()))
    return {name: [value for image in PSNR["data"].values() for value in image[name][at]] for name in algorithms}


# Published figures ------------------------------------------------------------------------------------------------


def test_zhou_table_2_5() -> None:
    expected = ZHOU["expected"]
    plain = friedman_test(ZHOU["ranks"], tie_correction=False, higher_is_better=False)
    np.testing.assert_array_equal(plain.mean_ranks, expected["mean_ranks"])
    assert (plain.chi_square, plain.statistic) == (expected["chi2"], expected["F"])
    np.testing.assert_allclose(plain.critical_value, expected["F_critical_05"], atol=5e-4)
    assert plain.df == (2, 6)
    tied = friedman_test(ZHOU["ranks"], statistic="chi-square", higher_is_better=False)
    assert (tied.statistic, tied.f_statistic) == (expected["chi2_tie_corrected"], expected["F_tie_corrected"])
    np.testing.assert_allclose(tied.pvalue, expected["p_tie_corrected"], rtol=1e-12)
    assert tied.df == 2
    assert tied.effect == 7.6 / 8


def test_psnr_at_sigma_20() -> None:
    expected = PSNR["expected"]["sigma_20"]
    result = friedman_test(psnr(slice(0, 1)))
    assert dict(zip(result.names, result.mean_ranks.tolist(), strict=True)) == expected["mean_ranks"]
    np.testing.assert_allclose(result.chi_square, expected["chi2"], rtol=1e-12)
    np.testing.assert_allclose(result.statistic, expected["F"], atol=5e-4)
    np.testing.assert_allclose(result.pvalue, expected["F_p"], atol=5e-6)
    assert round(friedman_test(psnr(slice(0, 1)), statistic="chi-square").pvalue, 4) == expected["p"]


def test_psnr_of_all_blocks() -> None:
    result = friedman_test(psnr(slice(None)), statistic="chi-square", tie_correction=False)
    expected = PSNR["expected"]["all_45_blocks"]
    np.testing.assert_array_equal(result.mean_ranks.round(3), expected["mean_ranks"])
    np.testing.assert_allclose(result.statistic, expected["chi2"], atol=5e-3)


@pytest.mark.parametrize(
    ("n", "k", "critical"), [(4, 2, 10.128), (4, 3, 5.143), (5, 4, 3.490), (10, 3, 3.555), (14, 4, 2.845)]
)
def test_critical_values_of_table_2_6(n: int, k: int, critical: float) -> None:
    """The chapter's table 2.6 holds these critical values of F at .05."""
    np.testing.assert_allclose(friedman_test(np.ones((n, k))).critical_value, critical, atol=5e-4)


def test_demsar() -> None:
    """Demsar (2006), section 3.2.2: mean ranks 3.143, 2.000, 2.893, 1.964 on 14 data sets yield 9.28 and 3.69."""
    mean_ranks = np.array([44, 28, 40.5, 27.5]) / 14
    found = friedman.RankSums((28 * mean_ranks).round().astype(int), 0, mean_ranks)
    chi_square, f_statistic, _ = friedman._statistics(found, 14, False)
    np.testing.assert_allclose((chi_square, f_statistic), (9.28, 3.69), atol=5e-3)


# Twins and peers --------------------------------------------------------------------------------------------------


@given(table=tables(), corrected=st.booleans(), higher=st.booleans())
@BOUNDED
@pytest.mark.filterwarnings("ignore::fastevals.UndefinedMetricWarning")
def test_matches_the_twin(table: list[list[float]], corrected: bool, higher: bool) -> None:
    result = friedman_test(table, tie_correction=corrected, higher_is_better=higher)
    means, chi_square, f_statistic = reference.friedman(table, corrected, higher)
    np.testing.assert_array_equal(result.mean_ranks, [float(mean) for mean in means])
    assert result.effect is not None
    assert 0 <= result.effect <= 1
    if chi_square is None:
        assert (result.chi_square, *result) == (0, 0, 1)
        return
    assert result.chi_square == float(chi_square)
    assert result.effect == float(chi_square / (len(table) * (len(table[0]) - 1)))
    assert result.statistic == result.f_statistic == (math.inf if f_statistic is None else float(f_statistic))
    assert result.rejected == (result.statistic > result.critical_value)


@pytest.mark.parametrize("decimals", [0, 1, 8])
def test_matches_scipy(decimals: int) -> None:
    table = np.random.default_rng(decimals).normal(size=(40, 6)).round(decimals)
    result = friedman_test(table, statistic="chi-square")
    np.testing.assert_allclose(tuple(result), stats.friedmanchisquare(*table.T), rtol=1e-11)


def test_two_algorithms_are_the_sign_test_squared() -> None:
    a, b = np.random.default_rng(1).normal(size=(2, 20))
    wins = np.count_nonzero(a > b)
    assert friedman_test({"a": a, "b": b}, statistic="chi-square").statistic == (2 * wins - 20) ** 2 / 20


# Odd tables -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("statistic", BOTH)
def test_all_tied(statistic: str) -> None:
    result = friedman_test(np.ones((3, 4)), statistic=statistic)
    assert (*result, result.effect) == (0, 1, 0)
    assert result.mean_ranks.tolist() == [2.5] * 4
    assert result.conclusion == (
        "No significant difference among the mean ranks of the 4 algorithms: Kendall's W 0 (Friedman test, p = 1)."
    )


def test_same_ranks_everywhere() -> None:
    table = np.arange(5.0) + np.zeros((4, 1))
    with pytest.warns(UndefinedMetricWarning, match="Friedman's F is degenerate: the ranks are the same"):
        result = friedman_test(table)
    assert (result.statistic, result.effect) == (math.inf, 1)
    assert result.pvalue == pytest.approx(1 / math.factorial(5) ** 3)  # its probability
    assert result.rejected
    with pytest.warns(UndefinedMetricWarning):
        two = friedman_test([[1, 2], [3, 4]])
    assert (two.statistic, two.pvalue, two.rejected, two.critical_value) == (math.inf, 0.5, False, math.inf)
    with pytest.warns(UndefinedMetricWarning):
        tied = friedman_test([[1, 2, 2], [3, 4, 4], [1, 7, 7]])
    assert tied.pvalue == pytest.approx(1 / 9)


@pytest.mark.parametrize(("n", "rejected"), [(3, 7), (4, 15)])
def test_false_alarms_on_few_data_sets(n: int, rejected: int) -> None:
    orders = list(permutations(range(3)))  # equally likely rankings; the first data set's is fixed
    tables = [[orders[0], *others] for others in product(orders, repeat=n - 1)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        found = sum(friedman_test(table).rejected for table in tables)
    assert found == rejected
    assert f"{100 * found / len(tables):.0f} % with {n}" in (friedman_test.__doc__ or "")


def test_one_data_set() -> None:
    with pytest.warns(UndefinedMetricWarning, match="F is undefined"):
        result = friedman_test([[1.0, 2.0, 3.0]])
    assert math.isnan(result.statistic)
    assert math.isnan(result.pvalue)
    assert not result.rejected
    assert result.conclusion == (
        "The Friedman test is undefined on these data, so nothing follows about the mean ranks of the 3 algorithms."
    )
    assert friedman_test([[1.0, 2.0, 3.0]], statistic="chi-square").statistic == 2


@pytest.mark.parametrize("statistic", BOTH)
def test_invariances(statistic: str) -> None:
    random = np.random.default_rng(8)
    table = random.normal(size=(12, 5)).round(1) + np.arange(5) / 4
    result = friedman_test(table, statistic=statistic)
    same = [
        table[random.permutation(12)],
        table * 2.0**600,
        table * 2.0**-600,
        np.exp(table) + random.normal(size=(12, 1)).round(),
        np.asfortranarray(table),
        table.astype(">f8"),
        table.tolist(),
    ]
    for other in same:
        found = friedman_test(other, statistic=statistic)
        assert tuple(found) == tuple(result)
        np.testing.assert_array_equal(found.mean_ranks, result.mean_ranks)
    negated = friedman_test(-table, statistic=statistic, higher_is_better=False)
    assert tuple(negated) == tuple(result)
    np.testing.assert_array_equal(negated.mean_ranks, result.mean_ranks)
    order = random.permutation(5)
    np.testing.assert_array_equal(friedman_test(table[:, order]).mean_ranks, result.mean_ranks[order])


def test_threads_and_chunks_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    table = np.random.default_rng(9).integers(0, 9, (500, 7)).astype(float)
    whole = friedman_test(table)
    monkeypatch.setattr(friedman, "COMPARISONS_PER_TASK", 500)
    for threads in (1, 3):
        with fastevals.num_threads(threads):
            assert tuple(friedman_test(table)) == tuple(whole)


def test_false_alarms() -> None:
    """3 to 32 of 300 tests at level .05 reject; outside by chance: 1e-4."""
    random = np.random.default_rng(12)
    rejected = sum(friedman_test(random.normal(size=(30, 4))).rejected for _ in range(300))
    assert stats.binom.interval(1 - 1e-4, 300, 0.05)[0] <= rejected <= stats.binom.interval(1 - 1e-4, 300, 0.05)[1]


# Results and input ------------------------------------------------------------------------------------------------


def test_names_of_axes() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {"data": ["w", "x", "y", "z"], "A": [1, 1, 1, 1], "B": [2, 2.5, 2, 2], "C": [3, 2.5, 3, 3]}
    )
    result = friedman_test(frame, higher_is_better=False)
    assert (result.names, result.datasets, result.n_datasets) == (("A", "B", "C"), ("w", "x", "y", "z"), 4)
    assert "4 data sets x 3 algorithms, mean ranks A: 1, B: 2.125, C: 2.875" in repr(result)
    assert json.loads(json.dumps(result.to_dict()))["mean_ranks"] == [1, 2.125, 2.875]
    assert repr(pickle.loads(pickle.dumps(result))) == repr(result)
    assert isinstance(result, FriedmanResult)
    assert not result.mean_ranks.flags.writeable
    assert "7 algorithms, mean ranks 0: " in repr(friedman_test(np.random.default_rng(0).normal(size=(4, 7))))


FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "Arrow": pa.table}


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
def test_frames_as_people_keep_them(make: Any) -> None:
    columns = {"A": [4, 6, 3, 5], "B": [7, 8, 6, 7], "C": [6, 9, 7, 8]}
    names = {"Unnamed: 0": [0, 1, 2, 3], "set": ["w", "x", "y", "z"]}
    plain = friedman_test(columns)
    for before in (names, {"Unnamed: 0": [3, 0, 7, 1]}, {"__index_level_0__": [5, 6, 7, 9]}, {"": [1, 2, 3, 4]}):
        found = friedman_test(make(before | columns))
        assert (tuple(found), found.names) == (tuple(plain), ("A", "B", "C"))
        assert found.datasets == tuple(list(before.values())[-1])
    found = friedman_test(make({"set": ["w", "x", "y", "Mean"], **columns}))
    assert (found.datasets, tuple(found)) == (
        ("w", "x", "y"),
        tuple(friedman_test({k: v[:3] for k, v in columns.items()})),
    )
    cells = make({**names, **columns, "D": ["0.5", "0.7±0.1", "1", "2"]})
    for test in (friedman_test, fastevals.nemenyi_test, fastevals.pairwise_tests):
        found, whole = test(cells), test({**columns, "D": [0.5, 0.7, 1, 2]})
        note = "A number's deviation, or other text after it, is left out, as in '0.7±0.1'."
        assert found.conclusion == f"{whole.conclusion} {note}"
    with pytest.raises(ValueError, match=r"results\['D'\] must hold numbers, but has 'good' at row 1"):
        friedman_test(make({**names, **columns, "D": ["0.5", "good", "1", "2"]}))
    long = make({"data": ["w", "w", "x", "x"], "learner": ["a", "b", "a", "b"], "score": [0.5, 0.6, 0.4, 0.7]})
    for test in (friedman_test, fastevals.nemenyi_test, fastevals.pairwise_tests):
        with pytest.raises(
            ValueError, match=r"one row for each combination of 'data' and 'learner', .*\.pivot\(index='data'"
        ):
            test(long)
    folds = make(
        {"set": ["w", "w", "x", "x"], "Fold": [0, 1, 0, 1], "a": [0.5, 0.6, 0.4, 0.7], "b": [0.1, 0.2, 0.3, 0.4]}
    )
    with pytest.raises(
        ValueError, match=r"one row for each data set, but column 'Fold' numbers splits: average .*Results"
    ):
        friedman_test(folds)
    with pytest.raises(
        ValueError, match=r"one column for each algorithm, but column 'model' names the rows: transpose"
    ):
        friedman_test(make({"model": ["a", "b"], "w": [0.5, 0.6], "x": [0.4, 0.7]}))


def test_pandas_index_with_a_mean() -> None:
    frame = pd.DataFrame({"A": [1, 2, 3, 2], "B": [2, 3, 1, 2]}, index=["x", "y", "z", "mean"])
    found, without = friedman_test(frame), friedman_test(frame[:3])
    assert found.statistic == without.statistic
    assert found.conclusion == f"{without.conclusion} Rows that summarise other data sets are left out: 'mean'."


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        (np.array([[1.0, "0.9*"], [2.0, 1.0]], dtype=object), {}, r"got dtype object \('0.9\*' at row 0, column 1\)"),
        ([[1.0], [2.0]], {}, "two algorithms"),
        ([1.0, 2.0], {}, r"\(data sets x algorithms\)"),
        ([[1.0, math.nan], [1.0, 2.0]], {}, "row 0, column 1"),
        ([[1.0, 2.0]], {"statistic": "f"}, "statistic must be one of 'F', 'chi-square'; got 'f'"),
        ([[1.0, 2.0]], {"tie_correction": "yes"}, "tie_correction must be True or False"),
        ([[1.0, 2.0]], {"higher_is_better": 1}, "higher_is_better must be True or False"),
        ([[1.0, 2.0]], {"confidence_level": 0}, "confidence_level"),
    ],
)
def test_what_is_refused(table: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        friedman_test(table, **options)
