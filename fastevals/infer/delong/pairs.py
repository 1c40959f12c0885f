"""DeLong's tests of pairs of models, from the covariance of their AUCs."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals._options import UndefinedMetricWarning
from fastevals.infer.delong.result import DelongResult, contrast_test
from fastevals.infer.significance.corrections import Correction
from fastevals.infer.significance.decision import check_alpha, compare_two
from fastevals.infer.significance.pairwise import PairwiseResult, build_pairwise_result
from fastevals.results import SignificanceResult


def pairwise_delong(
    result: DelongResult[Any],
    pairs: NDArray[np.intp],
    *,
    correction: Correction = "holm",
    confidence_level: float = 0.95,
) -> tuple[PairwiseResult, tuple[SignificanceResult, ...]]:
    """Test whether models have the same AUC, or the same average of AUCs.

    Parameters
    ----------
    result : DelongResult
        The models' AUCs, with names.
    pairs : ndarray of int of shape (n_pairs, 2)
        Places of the models among the names: the first of each pair minus the second is tested.
    correction : str
        How p-values are adjusted for the number of pairs.
    confidence_level : float in (0, 1)
        Level of the intervals; all tests jointly are at level ``1 - confidence_level``.

    Returns
    -------
    PairwiseResult
        The tests, with adjusted p-values.
    tuple of SignificanceResult
        The test of each pair, with its unadjusted p-value and an interval.
    """
    assert result.names is not None
    what, names = f"difference in {result._what}", result.names
    tests = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)  # the conclusion says that there is no variance
        for first, second in pairs.tolist():
            weights = np.zeros(len(names))
            weights[[first, second]] = 1, -1
            compared = compare_two(what, str(names[first]), str(names[second]))
            tests.append(
                contrast_test(
                    result.moments, weights.tolist(), compared, alternative="two-sided",
                    confidence_level=confidence_level, clusters=result._clusters,
                )
            )  # fmt: skip
    statistic, pvalue, effect = (
        np.array([getattr(test, name) for test in tests], dtype=np.float64)
        for name in ("statistic", "pvalue", "effect")
    )
    of_pairs = build_pairwise_result(
        PairwiseResult, "DeLong's test", names, pairs, (statistic, pvalue, effect), what=what, correction=correction,
        alternative="two-sided", alpha=check_alpha(confidence_level, "two-sided"),
    )  # fmt: skip
    return of_pairs, tuple(tests)
