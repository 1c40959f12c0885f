"""Every test with odd arrays and options either works or raises one clear line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import fastevals
from tests.test_validation import ODD_ARRAYS, ODD_SCALARS, complaint

Y, A, B = [0, 1, 1, 0], [0, 1, 1, 1], [0, 1, 0, 0]
X, Z = [0.1, 0.4, 0.35, 0.8], [0.2, 0.1, 0.3, 0.7]
TABLE = [[0.1, 0.2, 0.4], [0.3, 0.1, 0.5], [0.2, 0.3, 0.1], [0.4, 0.6, 0.5]]
FEW: dict[str, Any] = {"n_resamples": 9, "rng": 0}

ARRAYS: dict[str, Callable[[Any], Any]] = {
    "paired_t_test(a)": lambda v: fastevals.paired_t_test(v, X),
    "corrected_resampled_t_test(b)": lambda v: fastevals.corrected_resampled_t_test(X, v, n_train=9, n_test=1),
    "error_rate_t_test(error_rates)": lambda v: fastevals.error_rate_t_test(v, 0.3),
    "five_by_two_cv_t_test(a)": lambda v: fastevals.five_by_two_cv_t_test(v, v),
    "five_by_two_cv_f_test(a)": lambda v: fastevals.five_by_two_cv_f_test(v, v),
    "binomial_error_test(n_errors)": lambda v: fastevals.binomial_error_test(v, 10, 0.3),
    "binomial_error_test(n_samples)": lambda v: fastevals.binomial_error_test(1, v, 0.3),
    "mcnemar_test(y_true)": lambda v: fastevals.mcnemar_test(v, A, B),
    "mcnemar_test(pred_a)": lambda v: fastevals.mcnemar_test(Y, v, B),
    "mcnemar_test_of_table(table)": fastevals.mcnemar_test_of_table,
    "pairwise_mcnemar_tests(predictions)": lambda v: fastevals.pairwise_mcnemar_tests(Y, v),
    "pairwise_mcnemar_tests(a prediction)": lambda v: fastevals.pairwise_mcnemar_tests(Y, {"a": A, "b": v}),
    "cochran_q_test(y_true)": lambda v: fastevals.cochran_q_test(v, [A, B]),
    "cochran_q_test(predictions)": lambda v: fastevals.cochran_q_test(Y, v),
    "wilcoxon_test(a)": lambda v: fastevals.wilcoxon_test(v, X),
    "sign_test(b)": lambda v: fastevals.sign_test(X, v),
    "friedman_test(results)": fastevals.friedman_test,
    "friedman_test(a column)": lambda v: fastevals.friedman_test({"a": X, "b": v}),
    "nemenyi_test(results)": fastevals.nemenyi_test,
    "bonferroni_dunn_test(results)": lambda v: fastevals.bonferroni_dunn_test(v, "a"),
    "rank_comparison_test(results)": fastevals.rank_comparison_test,
    "pairwise_tests(results)": fastevals.pairwise_tests,
    "adjust_pvalues(pvalues)": fastevals.adjust_pvalues,
    "permutation_test(y_true)": lambda v: fastevals.permutation_test(v, A, B, **FEW),
    "permutation_test(pred_b)": lambda v: fastevals.permutation_test(Y, A, v, **FEW),
    "permutation_test(a score)": lambda v: fastevals.permutation_test(Y, X, v, "roc_auc", **FEW),
    "permutation_test(numbers)": lambda v: fastevals.permutation_test(X, Z, v, "r2", **FEW),
    "paired_permutation_test(a)": lambda v: fastevals.paired_permutation_test(v, X, **FEW),
    "compare_predictions(y_true)": lambda v: fastevals.compare_predictions(v, [A, B], **FEW),
    "compare_predictions(predictions)": lambda v: fastevals.compare_predictions(Y, v, **FEW),
    "compare_predictions(a prediction)": lambda v: fastevals.compare_predictions(Y, {"a": A, "b": v}, **FEW),
    "compare_predictions(groups)": lambda v: fastevals.compare_predictions(Y, [A, B], groups=v, **FEW),
}

SCALARS: dict[str, Callable[[Any], Any]] = {
    "paired_t_test(alternative)": lambda v: fastevals.paired_t_test(X, Z, alternative=v),
    "paired_t_test(confidence_level)": lambda v: fastevals.paired_t_test(X, Z, confidence_level=v),
    "corrected_resampled_t_test(n_train)": lambda v: fastevals.corrected_resampled_t_test(X, Z, n_train=v, n_test=1),
    "error_rate_t_test(rate)": lambda v: fastevals.error_rate_t_test(X, v),
    "five_by_two_cv_t_test(numerator)": lambda v: fastevals.five_by_two_cv_t_test(
        [[0, 1]] * 5, [[1, 1]] * 5, numerator=v
    ),
    "binomial_error_test(n_errors)": lambda v: fastevals.binomial_error_test(v, 10, 0.3),
    "binomial_error_test(rate)": lambda v: fastevals.binomial_error_test(1, 10, v),
    "binomial_error_test(alternative)": lambda v: fastevals.binomial_error_test(1, 10, 0.3, alternative=v),
    "mcnemar_test(method)": lambda v: fastevals.mcnemar_test(Y, A, B, method=v),
    "mcnemar_test(confidence_level)": lambda v: fastevals.mcnemar_test(Y, A, B, confidence_level=v),
    "pairwise_mcnemar_tests(reference)": lambda v: fastevals.pairwise_mcnemar_tests(Y, [A, B], reference=v),
    "pairwise_mcnemar_tests(correction)": lambda v: fastevals.pairwise_mcnemar_tests(Y, [A, B], correction=v),
    "wilcoxon_test(method)": lambda v: fastevals.wilcoxon_test(X, Z, method=v),
    "wilcoxon_test(zeros)": lambda v: fastevals.wilcoxon_test(X, Z, zeros=v),
    "sign_test(alternative)": lambda v: fastevals.sign_test(X, Z, alternative=v),
    "friedman_test(statistic)": lambda v: fastevals.friedman_test(TABLE, statistic=v),
    "friedman_test(tie_correction)": lambda v: fastevals.friedman_test(TABLE, tie_correction=v),
    "nemenyi_test(higher_is_better)": lambda v: fastevals.nemenyi_test(TABLE, higher_is_better=v),
    "bonferroni_dunn_test(control)": lambda v: fastevals.bonferroni_dunn_test(TABLE, v),
    "rank_comparison_test(control)": lambda v: fastevals.rank_comparison_test(TABLE, control=v),
    "rank_comparison_test(correction)": lambda v: fastevals.rank_comparison_test(TABLE, correction=v),
    "pairwise_tests(test)": lambda v: fastevals.pairwise_tests(TABLE, test=v),
    "pairwise_tests(n_resamples)": lambda v: fastevals.pairwise_tests(TABLE, test="permutation", n_resamples=v),
    "between(first)": lambda v: fastevals.pairwise_tests(TABLE).between(v, 1),
    "matrix(values)": lambda v: fastevals.pairwise_tests(TABLE).matrix(v),
    "permutation_test(metric)": lambda v: fastevals.permutation_test(Y, A, B, v, **FEW),
    "permutation_test(n_resamples)": lambda v: fastevals.permutation_test(Y, A, B, n_resamples=v),
    "permutation_test(rng)": lambda v: fastevals.permutation_test(Y, A, B, n_resamples=9, rng=v),
    "permutation_test(pos_label)": lambda v: fastevals.permutation_test(Y, X, Z, "roc_auc", pos_label=v, **FEW),
    "paired_permutation_test(n_resamples)": lambda v: fastevals.paired_permutation_test(X, Z, n_resamples=v),
    "compare_predictions(reference)": lambda v: fastevals.compare_predictions(Y, [A, B], reference=v, **FEW),
}


@pytest.mark.parametrize("entry", ARRAYS)
def test_odd_arrays_work_or_raise_one_clear_line(entry: str) -> None:
    found = {name: complaint(ARRAYS[entry], value) for name, value in ODD_ARRAYS.items()}
    assert {name: text for name, text in found.items() if text} == {}


@pytest.mark.parametrize("entry", SCALARS)
def test_odd_scalars_work_or_raise_one_clear_line(entry: str) -> None:
    odd = dict(ODD_SCALARS)
    if entry == "permutation_test(metric)":
        for own in [name for name in odd if name.startswith(("function", "object"))]:
            odd.pop(own)  # the user's own error
        for name in ("string", "numpy string"):
            odd.pop(name)  # the message lists all metrics
    found = {name: complaint(SCALARS[entry], value) for name, value in odd.items()}
    assert {name: text for name, text in found.items() if text} == {}


# Columns that have names ------------------------------------------------------------------------------------------

NAMED: dict[str, Callable[[Any], Any]] = {
    "compare_rankings": lambda v: fastevals.compare_rankings(Y, v, **FEW),
    "delong": lambda v: fastevals.delong(Y, v),
    "regression_metrics": lambda v: fastevals.regression_metrics(Y, v),
    "compare_predictions": lambda v: fastevals.compare_predictions(Y, v, **FEW),
    "pairwise_mcnemar_tests": lambda v: fastevals.pairwise_mcnemar_tests(Y, v),
    "cochran_q_test": lambda v: fastevals.cochran_q_test(Y, v),
    "friedman_test": fastevals.friedman_test,
    "nemenyi_test": fastevals.nemenyi_test,
    "bonferroni_dunn_test": lambda v: fastevals.bonferroni_dunn_test(v, "a"),
    "rank_comparison_test": fastevals.rank_comparison_test,
    "pairwise_tests": fastevals.pairwise_tests,
}


class Alike:
    """Objects with equal representations."""

    def __repr__(self) -> str:
        return "alike"


@pytest.mark.parametrize("entry", NAMED)
def test_names_that_are_not_unique(entry: str) -> None:
    frame = pd.DataFrame(zip(Y, A, B, strict=True), columns=["a", "b", "a"])
    table = pa.Table.from_arrays([pa.array(Y), pa.array(A), pa.array(B)], names=["a", "b", "a"])
    for doubled in (frame, table):
        with pytest.raises(ValueError, match="must have columns of different names, got 'a', 'b', 'a'"):
            NAMED[entry](doubled)
    with pytest.raises(ValueError, match=r"must have distinguishable names, got \[alike, alike\]"):
        NAMED[entry]({Alike(): A, Alike(): B})
