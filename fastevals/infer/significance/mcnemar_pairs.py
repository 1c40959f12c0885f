"""McNemar's test of many pairs of models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals import _validation as check
from fastevals._execution import run
from fastevals.infer.pairs import pairs_of
from fastevals.infer.significance.agreement import Agreement
from fastevals.infer.significance.corrections import CORRECTIONS
from fastevals.infer.significance.mcnemar import MCNEMAR_METHODS, checked_alpha, mcnemar_statistics
from fastevals.infer.significance.pairwise import PairwiseResult, paired_up

__all__ = ["McNemarPairs", "pairwise_mcnemar_tests"]

BLOCK = 1 << 11  # pairs tested together


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class McNemarPairs(PairwiseResult):
    """What `pairwise_mcnemar_tests` gives: a `PairwiseResult`, and the counts that it is made of.

    Attributes
    ----------
    tables : ndarray of int of shape (n_pairs, 2, 2)
        Rows that both models of a pair get right, that only the first does; that only the second does, that neither
        does: what `mcnemar_test_of_table` takes.
    """

    tables: NDArray[np.int64]


def pairwise_mcnemar_tests(
    y_true: ArrayLike,
    predictions: Any,
    *,
    method: str = "exact",
    reference: Any = None,
    correction: str = "holm",
    alternative: str = "two-sided",
    confidence_level: float = 0.95,
) -> McNemarPairs:
    """Test of each pair of models, or of each with a reference, whether they are right equally often.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True classes: numbers, booleans or strings.
    predictions : mapping of name to array-like, frame, or array-like of shape (n_models, n_samples)
        Classes that the models predict: one an entry, a column or a row.
    method : {"exact", "mid-p", "corrected", "uncorrected"}
        As of `mcnemar_test`.
    reference : name, optional
        Compare each other model with this one alone (of an array, its row's number).
    correction : str
        How p-values are adjusted for the number of pairs, as in `adjust_pvalues`.
    alternative : {"two-sided", "less", "greater"}
        What to show of the first of a pair: that it differs, or is right less or more often; one-sided with "exact"
        and "mid-p" alone.
    confidence_level : float in (0, 1)
        The tests together are at level ``1 - confidence_level``.

    Returns
    -------
    McNemarPairs
        `effect` is the accuracy of the first less that of the second, `statistic` as of `mcnemar_test`.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.

    Notes
    -----
    Which rows a model gets right is a bit a row, and of a pair the bits that both have are counted: for each of many
    pairs that is 1/64 of a pass over the rows. Memory is 8 bytes a pair and thread beyond the result.

    References
    ----------
    McNemar (1947), doi:10.1007/BF02295996.

    Examples
    --------
    >>> import fastevals
    >>> y_true = [0, 1, 2, 0, 1, 2, 0, 1]
    >>> predictions = {"a": y_true, "b": [0, 1, 2, 0, 1, 2, 0, 0], "c": [1, 0, 1, 1, 0, 0, 1, 1]}
    >>> found = fastevals.pairwise_mcnemar_tests(y_true, predictions)
    >>> found.effect, found.between("a", "c").pvalue
    (array([0.125, 0.875, 0.75 ]), 0.046875)
    """
    alpha = checked_alpha(method, alternative, confidence_level)
    check.check_choice("correction", correction, CORRECTIONS)
    true = check.as_true_labels("y_true", y_true)
    labels, names = check.as_models_labels("predictions", true, predictions)
    pairs = pairs_of(names, reference)
    models = Agreement(true, labels)
    each = np.arange(len(names))
    common = models.count_common(np.concatenate([np.stack([each, each], axis=1), pairs]))
    first, second = (common[: len(names)][column] for column in pairs.T)
    both = common[len(names) :]
    b, c = first - both, second - both

    parts = [slice(start, start + BLOCK) for start in range(0, len(pairs), BLOCK)]
    blocks = run(lambda part: mcnemar_statistics(b[part], c[part], method, alternative), parts)
    statistic, pvalue = (np.concatenate(column) for column in zip(*blocks, strict=True))
    return paired_up(
        McNemarPairs,
        MCNEMAR_METHODS[method],
        names,
        pairs,
        (statistic, pvalue, (b - c) / models.n_rows),
        what="the difference of the accuracies",
        correction=correction,
        alternative=alternative,
        alpha=alpha,
        tables=np.stack([both, b, c, models.n_rows - both - b - c], axis=-1).reshape(-1, 2, 2),
    )
