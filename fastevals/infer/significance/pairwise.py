"""What a test of many pairs of models gives."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fastevals import _validation as check
from fastevals.infer.results import SignificanceResult
from fastevals.infer.significance.corrections import adjust_pvalues
from fastevals.infer.significance.decision import result_of
from fastevals.measure.results import Frozen

__all__ = ["PairwiseResult", "paired_up"]

Floats = NDArray[np.float64]
Pairs = NDArray[np.intp]

SHOWN = 6  # pairs named in a repr


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PairwiseResult(Frozen, Sequence[SignificanceResult]):
    """Tests of pairs of models, their p-values adjusted for the number of pairs; a sequence of `SignificanceResult`.

    Attributes
    ----------
    test : str
        What the test of a pair is called.
    names : tuple
        The models', in order; numbers where they have none.
    pairs : ndarray of int of shape (n_pairs, 2)
        Places in `names`: of each pair the first is compared with the second.
    statistic : ndarray of shape (n_pairs,)
        Value of the test statistic; NaN where the test is undefined.
    pvalue : ndarray of shape (n_pairs,)
        Adjusted: rejected where below `alpha`.
    unadjusted_pvalue : ndarray of shape (n_pairs,)
        As if each pair were the only one.
    effect : ndarray of shape (n_pairs,)
        What is compared, of the first less of the second (or their ratio), in its own unit.
    rejected : ndarray of bool of shape (n_pairs,)
        Whether ``pvalue < alpha``.
    correction : str
        How p-values are adjusted.
    alternative : {"two-sided", "less", "greater"}
        What the hypotheses are tested against.
    alpha : float
        Significance level, of all pairs together.
    what : str
        What `effect` is, in words.
    value : float
        Of the effect, if the hypothesis holds.

    Examples
    --------
    >>> import fastevals
    >>> errors = {"a": [0.2, 0.3, 0.1, 0.2], "b": [0.3, 0.5, 0.2, 0.4], "c": [0.2, 0.4, 0.2, 0.3]}
    >>> found = fastevals.pairwise_tests(errors, test="paired-t", correction="holm")
    >>> len(found), found.between("b", "a").pvalue < 0.05
    (3, True)
    """

    test: str
    names: tuple[Any, ...]
    pairs: Pairs
    statistic: Floats
    pvalue: Floats
    unadjusted_pvalue: Floats
    effect: Floats
    rejected: NDArray[np.bool_]
    correction: str
    alternative: str
    alpha: float
    what: str
    value: float

    def __len__(self) -> int:
        return len(self.pairs)

    def __getitem__(self, k: Any) -> Any:
        if isinstance(k, slice):
            return [self[i] for i in range(*k.indices(len(self)))]
        first, second = self.pairs[k]
        return result_of(
            SignificanceResult,
            self.test if self.correction == "none" else f"{self.test}, p adjusted ({self.correction})",
            f"{self.what} of {self.names[first]} and {self.names[second]}",
            float(self.statistic[k]),
            float(self.pvalue[k]),
            math.nan,
            alternative=self.alternative,
            alpha=self.alpha,
            effect=float(self.effect[k]),
            value=self.value,
        )

    def between(self, first: Any, second: Any) -> SignificanceResult:
        """Give the test of two models by name, in the order in which they were compared.

        Raises
        ------
        ValueError
            If there is no such model, or the two were not compared.
        """
        wanted = {check.find_name(name, each, self.names) for name, each in (("first", first), ("second", second))}
        for k, pair in enumerate(self.pairs):
            if {*pair.tolist()} == wanted:
                return self[k]  # type: ignore[no-any-return]
        raise ValueError(
            f"first and second must be two models that were compared, got {check.show(first)} and {check.show(second)}"
        )

    def matrix(self, values: str = "pvalue") -> Floats:
        """Give p-values, or another attribute of pairs, as a matrix of shape (n_models, n_models).

        NaN where a pair was not compared; on the diagonal 1 for p-values, else 0. What has a direction, `statistic`,
        `effect` and all of a one-sided test, is in the place [first, second] alone, the rest in both.
        """
        check.check_choice("values", values, ("pvalue", "unadjusted_pvalue", "statistic", "effect", "rejected"))
        found = np.full((len(self.names), len(self.names)), np.nan)
        np.fill_diagonal(found, 1.0 if values.endswith("pvalue") else 0.0)
        first, second = self.pairs.T
        found[first, second] = getattr(self, values)
        if values not in ("statistic", "effect") and self.alternative == "two-sided":
            found[second, first] = getattr(self, values)
        return found

    @property
    def conclusion(self) -> str:
        """What follows, in a sentence: which pairs differ."""
        level, found = f"At level {self.alpha:g}, by {self.test}", int(self.rejected.sum())
        two_sided = self.alternative == "two-sided"
        undefined = int(np.isnan(self.pvalue).sum())
        and_undefined = f"; of {undefined} pairs the test is undefined" if undefined else ""
        if not found:
            none = f"no difference is shown between any of the {len(self)} pairs compared"
            if not two_sided:
                none = f"of none of the {len(self)} pairs compared it is shown that {self.what} is {self._claim()}"
            return f"{level}, {none}{and_undefined}."
        shown = [f"{self.names[i]} and {self.names[j]}" for i, j in self.pairs[self.rejected][:SHOWN]]
        more = f" and {found - SHOWN} more" if found > SHOWN else ""
        others = "; of the other pairs it is not shown" if found + undefined < len(self) else ""
        what = "these differ" if two_sided else f"{self.what} is {self._claim()}"
        return f"{level}, {what}: {', '.join(shown)}{more}{others}{and_undefined}."

    def _claim(self) -> str:
        """Say what a one-sided test is to show of the first of a pair and the second."""
        return f"{'below' if self.alternative == 'less' else 'above'} {self.value:g}"

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.test}, {len(self.names)} models, {len(self)} pairs, "
            f"{int(self.rejected.sum())} rejected at {self.alpha:g}, correction={self.correction!r})"
        )


Result = TypeVar("Result", bound=PairwiseResult)


def paired_up(
    kind: type[Result],
    test: str,
    names: tuple[Any, ...],
    pairs: Pairs,
    tested: tuple[Floats, Floats, Floats],
    *,
    what: str,
    value: float = 0.0,
    correction: str,
    alternative: str,
    alpha: float,
    **more: Any,
) -> Result:
    """Give the result of statistics, p-values and effects of pairs."""
    statistic, unadjusted, effect = tested
    pvalue = adjust_pvalues(unadjusted, correction=correction)
    return kind(
        test=test,
        names=names,
        pairs=pairs,
        statistic=statistic,
        pvalue=pvalue,
        unadjusted_pvalue=unadjusted,
        effect=effect,
        rejected=pvalue < alpha,
        correction=correction,
        alternative=alternative,
        alpha=alpha,
        what=what,
        value=value,
        **more,
    )
