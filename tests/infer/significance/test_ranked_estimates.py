"""Rank tests that accept estimates: one list per learner over data sets, or the splits of one data set."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fastevals import (
    DependentSplitsWarning,
    ErrorEstimates,
    KFold,
    bonferroni_dunn_test,
    evaluate_splits,
    friedman_test,
    nemenyi_test,
    rank_comparison_test,
)

TESTS: list[Callable[..., Any]] = [
    lambda results, **options: friedman_test(results, statistic="chi-square", **options),
    nemenyi_test,
    rank_comparison_test,
    lambda results, **options: bonferroni_dunn_test(results, "bad", **options),
]
SPLITS = KFold(5, rng=0)
RIGHT = {"bad": 0.6, "fair": 0.75, "good": 0.9}


def estimates(metric: Any, n_datasets: int = 6) -> dict[str, list[ErrorEstimates]]:
    """Return each learner's estimates over data sets; a better learner has a larger share right."""
    found: dict[str, list[ErrorEstimates]] = {name: [] for name in RIGHT}
    for seed in range(n_datasets):
        luck = np.random.default_rng(seed)
        y, drawn = luck.integers(0, 2, 100), luck.random(100)
        for name, share in RIGHT.items():
            found[name].append(evaluate_splits(y, np.where(drawn < share, y, 1 - y), SPLITS, metric))
    return found


def errors(y_true: Any, y_pred: Any) -> float:
    return float(np.mean(y_true != y_pred))


@pytest.mark.parametrize("test", TESTS)
def test_estimates_say_which_is_better(test: Callable[..., Any]) -> None:
    for metric in ("error_rate", "accuracy"):
        given = estimates(metric)
        values = {name: [each[metric].value for each in found] for name, found in given.items()}
        ranked = test(given)
        expected = test(values, higher_is_better=metric == "accuracy")
        np.testing.assert_array_equal(ranked.mean_ranks, expected.mean_ranks)
        assert ranked.mean_ranks.tolist() == [3, 2, 1]
        np.testing.assert_array_equal(ranked.pvalue, expected.pvalue)
        assert ranked.n_datasets == 6
        right = metric == "accuracy"
        assert test(given, higher_is_better=right).mean_ranks.tolist() == [3, 2, 1]
        with pytest.raises(
            ValueError, match=f"higher_is_better must be {right} or left out for {metric}, got {not right}"
        ):
            test(given, higher_is_better=not right)


def test_a_functions_direction_must_be_given() -> None:
    given = estimates({"errors": errors})
    with pytest.raises(ValueError, match="higher_is_better must be given, True or False, for results of a function"):
        nemenyi_test(given)
    assert nemenyi_test(given, higher_is_better=False).mean_ranks.tolist() == [3, 2, 1]


@pytest.mark.parametrize("test", TESTS)
def test_splits_of_one_data_set_are_rows_with_a_warning(test: Callable[..., Any]) -> None:
    one = {name: found[0] for name, found in estimates("error_rate", 1).items()}
    with pytest.warns(DependentSplitsWarning, match=r"_test assumes independent .* 1 x 5 splits of one data") as seen:
        ranked = test(one)
    assert len(seen) == 1
    assert "Use pairwise_tests(results, test='corrected-resampled-t'), or give each learner a list" in str(
        seen[0].message
    )
    by_split = {name: each["error_rate"].per_split[0] for name, each in one.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        expected = test(by_split, higher_is_better=False)
    np.testing.assert_array_equal(ranked.mean_ranks, expected.mean_ranks)


def test_estimates_that_do_not_go_together() -> None:
    right, wrong = estimates("accuracy"), estimates("error_rate")
    with pytest.raises(ValueError, match=r"results\['bad'\] and results\['good'\] must be of the same metric"):
        friedman_test(right | {"good": wrong["good"]})
    with pytest.raises(ValueError, match=r"results\['good'\] has 5 rows, but results\['bad'\] has 6"):
        friedman_test(right | {"good": right["good"][1:]})
