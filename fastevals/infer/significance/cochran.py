"""Cochran's Q test of whether several models are right equally often on the same rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._execution import run
from fastevals._text import printable
from fastevals._validation.labels import as_models_labels, as_true_labels
from fastevals.infer.significance.agreement import Agreement
from fastevals.infer.significance.decision import Compared, check_alpha, decide
from fastevals.results import Null, SignificanceResult

MODELS_SHOWN = 6  # models printed


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CochranResult(SignificanceResult):
    """Result of `cochran_q_test`: a `SignificanceResult` with the accuracies that it compares.

    Attributes
    ----------
    names : tuple
        Names of the models, in order; numbers if they have none.
    accuracies : ndarray of shape (n_models,)
        Share of rows that each model gets right.

    Examples
    --------
    >>> import fastevals
    >>> result = fastevals.cochran_q_test([0, 1, 1, 0], {"a": [0, 1, 1, 0], "b": [1, 0, 0, 0], "c": [0, 1, 0, 0]})
    >>> result.names, result.accuracies
    (('a', 'b', 'c'), array([1.  , 0.25, 0.75]))
    """

    names: tuple[Any, ...] = field(kw_only=True)
    accuracies: NDArray[np.float64] = field(kw_only=True)

    def _details(self) -> list[tuple[str, str]]:
        shown = [
            f"{printable(str(name))}: {value:.4g}"
            for name, value in zip(self.names[:MODELS_SHOWN], self.accuracies, strict=False)
        ]
        return [("accuracies", ", ".join(shown) + ", ..." * (len(self.names) > MODELS_SHOWN))]


def cochran_q_test(y_true: ArrayLike, predictions: Any, *, confidence_level: float = 0.95) -> CochranResult:
    """Test whether several models are right equally often, on the same rows.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True classes: numbers, booleans or strings.
    predictions : mapping of name to array-like, frame, or array-like of shape (n_models, n_samples)
        Classes predicted by two or more models: one model per entry, column or row.
    confidence_level : float in (0, 1)
        The test is at level ``1 - confidence_level``.

    Returns
    -------
    CochranResult
        `statistic` is Q, with a chi-square null distribution whose `df` is the number of models minus 1. `effect` is
        the range of the accuracies. If all models get the same rows right, Q is 0 and p is 1.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.

    Notes
    -----
    For k models, let R_j be the number of rows that model j gets right, T_i the number of models that get row i right,
    and N the sum of all R_j, which equals the sum of all T_i. Then ``Q = (k - 1) (k sum(R_j**2) - N**2) / (k N -
    sum(T_i**2))``. For two models, this is McNemar's test without correction. The null distribution is accurate if the
    models disagree on many rows. To find which models differ, use `pairwise_mcnemar_tests`.

    References
    ----------
    Cochran (1950), "The Comparison of Percentages in Matched Samples", doi:10.1093/biomet/37.3-4.256.

    Examples
    --------
    >>> import fastevals
    >>> predictions = {"a": [0, 1, 1, 0], "b": [1, 0, 0, 0], "c": [0, 1, 0, 0]}
    >>> fastevals.cochran_q_test([0, 1, 1, 0], predictions)
    CochranResult(statistic=4.667, pvalue=0.09697, effect=0.75, rejected=False)
    """
    alpha = check_alpha(confidence_level, "two-sided")
    true = as_true_labels("y_true", y_true)
    labels, names = as_models_labels("predictions", true, predictions)
    models = Agreement(true, labels)

    def count(part: slice) -> tuple[list[int], int]:
        right = models.right(part)
        models_right = right.sum(axis=0, dtype=np.int32).astype(np.int64)
        return [int(np.count_nonzero(row)) for row in right], int(models_right @ models_right)

    rights_by_part, squares = zip(*run(count, models.parts), strict=True)
    rights = [sum(column) for column in zip(*rights_by_part, strict=True)]
    accuracies = np.array(rights) / models.n_rows
    return decide(
        "Cochran's Q test",
        Compared("", "", f"the accuracies of the {len(names)} models", "range"),
        _cochran_q(rights, sum(squares)),
        Null("chi2", (len(names) - 1,)),
        alpha=alpha,
        effect=float(accuracies.max() - accuracies.min()),
        kind=CochranResult,
        names=names,
        accuracies=accuracies,
    )


def _cochran_q(rights: list[int], squares: int) -> float:
    """Return Q, given the number of rows that each model gets right (R_j), and the sum over rows of T_i**2.

    All steps before the only division use integers.
    """
    k, total = len(rights), sum(rights)
    within = k * total - squares
    if within == 0:
        return 0.0
    return (k - 1) * (k * sum(right * right for right in rights) - total * total) / within
