"""Tests of all pairs of models, and their joint conclusion."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from fastevals._execution import run
from fastevals._options import as_flag, check_choice, check_number, check_options, show, warn_degenerate
from fastevals._text import MOST_PAIRS, count_of, format_column, format_pvalue, format_tables, shorten_names, wrap_text
from fastevals._validation.tables import (
    ResultTable,
    as_result_table,
    check_one_dataset,
    find_name,
    test_to_train_ratio,
    warn_if_dependent,
)
from fastevals.document.frames import Columns, as_column, make_columns
from fastevals.infer.permutation.signs import pairwise_permutation, permutation_among, permutation_options
from fastevals.infer.significance.corrections import Correction, adjust_pvalues, check_correction
from fastevals.infer.significance.decision import (
    USUAL_ALPHA,
    Compared,
    as_sentence,
    build_result,
    check_alpha,
    compare_two,
    pvalue_text,
)
from fastevals.infer.significance.effects import PairEffects, join_effects, pair_effects
from fastevals.infer.significance.five_by_two import (
    Numerator,
    pairwise_five_by_two_f,
    pairwise_five_by_two_t,
    pairwise_five_by_two_t_interval,
)
from fastevals.infer.significance.paired import SAME_DIFFERENCES, as_decimals, compared_pairs
from fastevals.infer.significance.signed_ranks import (
    TOO_FEW_DIFFERENCES,
    pairwise_sign,
    pairwise_sign_interval,
    pairwise_wilcoxon,
    pairwise_wilcoxon_interval,
    wilcoxon_options,
)
from fastevals.infer.significance.t_tests import pairwise_t, pairwise_t_interval
from fastevals.results import Alternative, Frozen, Interval, SignificanceResult

Floats = NDArray[np.float64]
Pairs = NDArray[np.intp]
Core = Callable[..., tuple[Floats, Floats, Floats]]

FIVE_BY_TWO = (5, 2)
DIFFERENCES_PER_TASK = 1 << 18  # differences per task
PAIRS_SHOWN = 6  # number of pairs named in a conclusion
OF_RANGE = "studentized-range"  # the correction that is part of Nemenyi's test


def adjustment_text(correction: str) -> str:
    """Return how p-values are adjusted, to follow a test's name; empty if the test itself does so, or nothing."""
    return "" if correction in ("none", OF_RANGE) else f", {correction.title()}-adjusted"


PairValues = Literal["pvalue", "unadjusted_pvalue", "statistic", "effect", "rejected"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PairwiseResult(Frozen, Sequence[SignificanceResult]):
    """Tests of pairs of models, with p-values adjusted for the number of pairs; a sequence of `SignificanceResult`.

    Printing shows a table of the pairs by ascending p, and the conclusion.

    Attributes
    ----------
    test : str
        Name of the test of a pair.
    names : tuple
        Names of the models, in order; numbers if they have none.
    pairs : ndarray of int of shape (n_pairs, 2)
        Indices into `names`: the first model of each pair is compared with the second.
    statistic : ndarray of shape (n_pairs,)
        Value of the test statistic for each pair; NaN where the test is undefined.
    pvalue : ndarray of shape (n_pairs,)
        Adjusted p-values: pairs below `alpha` are rejected.
    unadjusted_pvalue : ndarray of shape (n_pairs,)
        p-values as if each pair were the only one.
    effect : ndarray of shape (n_pairs,)
        First model minus second (or their ratio), in the unit of the measurements.
    rejected : ndarray of bool of shape (n_pairs,)
        Whether ``pvalue < alpha``.
    correction : str
        How p-values are adjusted.
    alternative : {"two-sided", "less", "greater"}
        Alternative of each hypothesis.
    alpha : float
        Joint significance level of all pairs.
    what : str
        Description of `effect`.
    value : float
        The effect under the null hypothesis.
    notes : tuple of str
        What was recognised, left out or replaced in the results.
    conclusion : str
        Which pairs differ, in words.

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
    alternative: Alternative
    alpha: float
    what: str
    value: float
    notes: tuple[str, ...] = field(default=(), kw_only=True)

    def __len__(self) -> int:
        return len(self.pairs)

    def __getitem__(self, k: Any) -> Any:
        if isinstance(k, slice):
            return [self[i] for i in range(*k.indices(len(self)))]
        first, second = self.pairs[k]
        interval = self._interval(k)
        too_few = interval is not None and interval == (-math.inf, math.inf)
        return build_result(
            SignificanceResult,
            self._adjusted_test(),
            self._compared(first, second)._replace(alone=self.correction != "none" and len(self) > 1),
            float(self.statistic[k]),
            float(self.pvalue[k]),
            math.nan,
            alternative=self.alternative,
            alpha=self.alpha,
            effect=float(self.effect[k]),
            value=self.value,
            caution=TOO_FEW_DIFFERENCES if too_few else self._caution(),
            interval=interval,
        )

    def between(self, first: Any, second: Any) -> SignificanceResult:
        """Return the test of two models, given their names in the order in which they were compared.

        Raises
        ------
        ValueError
            If a model does not exist, or the two were not compared.
        """
        places = {find_name(name, each, self.names) for name, each in (("first", first), ("second", second))}
        for k, pair in enumerate(self.pairs):
            if {*pair.tolist()} == places:
                return self[k]  # type: ignore[no-any-return]
        raise ValueError(
            f"first and second must be two models that were compared, got {show(first)} and {show(second)}"
        )

    def matrix(self, values: PairValues = "pvalue") -> Floats:
        """Return p-values, or another attribute of pairs, as a matrix of shape (n_models, n_models).

        Pairs that were not compared are NaN; the diagonal is 1 for p-values and 0 otherwise. Values that depend on the
        order of a pair (`statistic`, `effect`, and all values of a one-sided test) are only at [first, second]; other
        values are at [second, first] too.
        """
        check_choice("values", values, PairValues)
        table = np.full((len(self.names), len(self.names)), np.nan)
        np.fill_diagonal(table, 1.0 if values.endswith("pvalue") else 0.0)
        first, second = self.pairs.T
        table[first, second] = getattr(self, values)
        if values not in ("statistic", "effect") and self.alternative == "two-sided":
            table[second, first] = getattr(self, values)
        return table

    @property
    def conclusion(self) -> str:
        """Which pairs differ, in words."""
        if len(self) == 1:
            return " ".join([self[0].conclusion, *self.notes])
        side = {"less": -1, "greater": 1, "two-sided": 0}[self.alternative]
        compared, test = compare_two(self.what, "the first", "the second"), self._adjusted_test().removeprefix("the ")
        n, n_rejected, n_undefined = len(self), int(self.rejected.sum()), int(np.isnan(self.pvalue).sum())
        others, what = n - n_rejected - n_undefined, "evidence" if side else "difference"
        said = []
        if n_rejected:
            shown = [f"{self.names[i]} and {self.names[j]}" for i, j in self.pairs[self.rejected][:PAIRS_SHOWN]]
            shown += [f"{n_rejected - PAIRS_SHOWN} more"] if n_rejected > PAIRS_SHOWN else []
            differ = f"differ{'s' * (n_rejected == 1)} significantly"
            count = f"{n_rejected} of {n} pairs"
            claim = f"in {count} {compared.claim(side)}" if side else f"{count} {differ}"
            said.append(as_sentence(f"{claim} ({test}): {', '.join(shown)}", self.alpha))
            said += (
                [f"No significant {what} in the other {'pair' if others == 1 else f'{others} pairs'}."]
                if others
                else []
            )
        elif others:
            lowest = float(np.nanmin(self.pvalue))
            smallest = f", smallest {pvalue_text(lowest, self.alternative)}" if lowest >= self.alpha else ""
            nothing = compared.no_claim(side) if side else "no significant difference"
            said.append(as_sentence(f"{nothing} in any of the {n} pairs ({test}{smallest})", self.alpha))
        if n_undefined:
            said.append(as_sentence(f"{self.test} is undefined for {n_undefined} of {n} pairs", USUAL_ALPHA))
        return " ".join([*said, *filter(None, [self._caution(), *self.notes])])

    def _compared(self, first: int, second: int) -> Compared:
        """Return the words for a pair, given as indices into `names`."""
        return compare_two(self.what, self.names[first], self.names[second])

    def _interval(self, k: int) -> Interval | None:
        """Return the interval of a pair's effect, for that pair alone; None without one."""
        return None

    def _adjusted_test(self) -> str:
        """Return the name of the test, and how p is adjusted if that is not part of the test."""
        return f"{self.test}{adjustment_text(self.correction)}"

    def _caution(self) -> str:
        """Return a sentence on what the conclusions depend on."""
        return ""

    def _columns(self) -> Columns:
        """Return a row for each pair."""
        first, second = as_column(self.names)[self.pairs.T]
        names = ("effect", "statistic", "pvalue", "unadjusted_pvalue", "rejected")
        return {"first": first, "second": second, **make_columns({name: getattr(self, name) for name in names})}

    def __str__(self) -> str:
        short = shorten_names(self.names)
        shown = pairs_by_pvalue(self)[:MOST_PAIRS]
        columns: dict[str, Iterable[str]] = {
            "  pair": (f"  {short[first]}, {short[second]}" for first, second in self.pairs[shown].tolist()),
            **self._shown_effects(shown),
            "p": map(format_pvalue, self.pvalue[shown].tolist()),
            "rejected": ("yes" if each else "no" for each in self.rejected[shown]),
        }
        rows = [list(columns), *map(list, zip(*columns.values(), strict=True))]
        more = len(self) - len(shown)
        others = [f"  ... {more} more pairs, with equal or larger p"] if more else []
        title = f"{self.test[0].upper()}{self.test[1:]}, {self._settings()}"
        return "\n".join([title, *format_tables([rows])[0], *others, *wrap_text(self.conclusion, indent="")])

    def _shown_effects(self, shown: list[int]) -> dict[str, Iterable[str]]:
        """Return the printed columns of effects of some pairs."""
        names = ("effect", "statistic")
        return {name: format_column(getattr(self, name)[shown].tolist()) for name in names}

    def _settings(self) -> str:
        """Return the correction, for the first printed line."""
        return (
            "p not adjusted"
            if self.correction == "none"
            else f"p adjusted for {count_of(len(self), 'pair')} ({self.correction})"
        )

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.test}, {len(self.names)} models, {len(self)} pairs, "
            f"{int(self.rejected.sum())} rejected at {self.alpha:g}, correction={self.correction!r})"
        )


Kept = TypeVar("Kept")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MeasuredPairs(PairwiseResult):
    """Tests of pairs of models by their measurements: a `PairwiseResult` that also has effect sizes and intervals.

    They are computed when first asked for. Each `SignificanceResult` of the sequence has its interval, and frames have
    a column for each effect size. Intervals are for each pair alone, not adjusted for the number of pairs.

    Attributes
    ----------
    confidence_interval : Interval of ndarray
        Interval of `effect` for each pair, with the confidence level of the tests; NaN for tests without an interval.
    effects : PairEffects
        Wins, ties and losses; mean and median differences with intervals; rank-biserial correlations; and Vargha and
        Delaney's A.
    equivalence_margin : float or None
        Models that differ by less than this are equivalent; None if this was not asked.
    equivalence_pvalue : ndarray of shape (n_pairs,) or None
        p-values of `equivalence_test` for each pair, adjusted like `pvalue` (by Holm's correction instead of
        Shaffer's, because equivalence is not transitive): pairs below `alpha` are equivalent.

    Examples
    --------
    >>> import fastevals
    >>> accuracy = {"a": [0.8, 0.7, 0.9, 0.8, 0.6], "b": [0.7, 0.5, 0.8, 0.6, 0.5], "c": [0.8, 0.6, 0.9, 0.7, 0.7]}
    >>> found = fastevals.pairwise_tests(accuracy, test="paired-t", reference="b")
    >>> found.confidence_interval.low.round(3), found.effects.higher
    (array([0.072, 0.064]), array([5, 5]))
    """

    _values: Floats  # of shape (n_models, n_rows)
    _test: str
    _options: Mapping[str, Any]
    _test_to_train: float  # 0 for independent rows
    _kept: dict[str, Any] = field(default_factory=dict)
    equivalence_margin: float | None = field(default=None, kw_only=True)

    @property
    def equivalence_pvalue(self) -> Floats | None:
        """p-values of equivalence for each pair, adjusted for the number of pairs; None without a margin."""
        if self.equivalence_margin is None:
            return None
        return self._once("equivalence_pvalue", self._equivalence)

    def _equivalence(self) -> Floats:
        plain, higher = as_decimals(self._values, self.equivalence_margin or 0.0)

        sides = one_sided_pvalues(self._test, plain, higher, self.pairs, self._options)
        pvalues = np.maximum(*(each.pvalue for each in sides))
        return adjust_pvalues(pvalues, correction="holm" if self.correction == "shaffer" else self.correction)  # type: ignore[arg-type]

    @property
    def confidence_interval(self) -> Interval[Floats]:
        """Interval of `effect` for each pair, not adjusted for the number of pairs; NaN for tests without one."""
        return self._once("confidence_interval", self._intervals)

    @property
    def effects(self) -> PairEffects:
        """Effect sizes of the pairs."""

        def measured(a: Floats, b: Floats) -> PairEffects:
            conservative = self._options.get("conservative", False)
            return pair_effects(a, b, self.alternative, self.alpha, self._test_to_train, conservative)

        return self._once("effects", lambda: join_effects(self._of_pairs(measured)))

    def _intervals(self) -> Interval[Floats]:
        interval = TESTS[self._test].interval
        if interval is None:
            return Interval(np.full(len(self), math.nan), np.full(len(self), math.nan))

        def measured(a: Floats, b: Floats) -> Interval[Floats]:
            return interval(a, b, self.alternative, self.alpha, **self._options)

        low, high = map(np.concatenate, zip(*self._of_pairs(measured), strict=True))
        kept = ~(self.unadjusted_pvalue < self.alpha)  # in case rounding has left the null value outside
        return Interval(
            np.where(kept, np.minimum(low, self.value), low), np.where(kept, np.maximum(high, self.value), high)
        )

    def _of_pairs(self, measured: Callable[[Floats, Floats], Kept]) -> list[Kept]:
        """Return what a function makes of the measurements of the first and second models, part by part."""
        values, pairs = self._values, self.pairs
        size = TESTS[self._test].pairs_per_task(values.shape[1], self._options)

        def part(start: int) -> Kept:
            first, second = pairs[start : start + size].T
            return measured(values[first], values[second])

        return run(part, range(0, len(pairs), size), compiles=True)

    def _once(self, name: str, make: Callable[[], Kept]) -> Kept:
        """Return the object kept under a name; the first call makes it."""
        if name not in self._kept:
            self._kept[name] = make()
        return self._kept[name]  # type: ignore[no-any-return]

    def _interval(self, k: int) -> Interval | None:
        if TESTS[self._test].interval is None:
            return None
        low, high = self.confidence_interval
        return Interval(float(low[k]), float(high[k]))

    def _shown_effects(self, shown: list[int]) -> dict[str, Iterable[str]]:
        columns = PairwiseResult._shown_effects(self, shown)
        if TESTS[self._test].interval is not None:
            low, high = (format_column(each[shown].tolist()) for each in self.confidence_interval)
            columns |= {f"{100 * (1 - self.alpha):.6g} % interval": map(" to ".join, zip(low, high, strict=True))}
        counts = (getattr(self.effects, name)[shown].tolist() for name in ("higher", "tied", "lower"))
        columns["higher/tied/lower"] = ["/".join(map(str, each)) for each in zip(*counts, strict=True)]
        if self.equivalence_pvalue is not None:
            columns["p of equivalence"] = map(format_pvalue, self.equivalence_pvalue[shown].tolist())
        return columns

    def _columns(self) -> Columns:
        low, high = self.confidence_interval
        ends = make_columns({"low": low, "high": high})
        asked = {} if self.equivalence_margin is None else make_columns({"equivalence_pvalue": self.equivalence_pvalue})
        return {**PairwiseResult._columns(self), **ends, **self.effects._columns(), **asked}


Result = TypeVar("Result", bound=PairwiseResult)


def build_pairwise_result(
    kind: type[Result],
    test: str,
    names: tuple[Any, ...],
    pairs: Pairs,
    tested: tuple[Floats, Floats, Floats],
    *,
    what: str,
    value: float = 0.0,
    correction: Correction,
    alternative: Alternative,
    alpha: float,
    **more: Any,
) -> Result:
    """Return a result from the statistics, p-values and effects of pairs."""
    statistic, unadjusted, effect = tested
    k = len(names) if correction == "shaffer" else None
    pvalue = adjust_pvalues(unadjusted, correction=correction, n_learners=k)
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


class _PairTest(NamedTuple):
    """A test that can be run on many pairs: its name, its effect in words, its function (`core`) and its options.

    `core` is called with the measurements of the first and of the second models, each of shape (n_pairs, n), the
    alternative and the checked options. It returns statistics, p-values and effects. `cost` returns how many
    differences the test of a pair visits; this limits the pairs per task, because Ctrl-C waits for running tasks.
    `among`, if given, is called in place of `core`, for all pairs: with two tables of models and pairs of their rows.
    """

    title: str
    what: str
    core: Core
    options: Callable[..., Mapping[str, Any]] = lambda: {}
    least: int = 1
    only: int | None = None
    value: float = 0.0
    independent: bool = False  # whether it assumes independent rows
    two_sided_alone: bool = False
    interval: Callable[..., Interval[Floats]] | None = None  # as `core`, with alpha after the alternative
    cost: Callable[..., float] = lambda n, **options: n
    among: Core | None = None

    def pairs_per_task(self, n: int, options: Mapping[str, Any]) -> int:
        """Return how many pairs of n rows a task tests."""
        return max(1, int(DIFFERENCES_PER_TASK / self.cost(n, **options)))


def _resampled(*, n_train: Any, n_test: Any, conservative: bool = False) -> dict[str, Any]:
    return {
        "test_to_train": test_to_train_ratio(n_train, n_test),
        "conservative": as_flag("conservative", conservative),
    }


def _numerator(*, numerator: Numerator = "first") -> dict[str, Any]:
    check_choice("numerator", numerator, Numerator)
    return {"numerator": numerator}


PairTest = Literal["paired-t", "corrected-resampled-t", "5x2cv-t", "5x2cv-f", "wilcoxon", "sign", "permutation"]
TESTS = {
    "paired-t": _PairTest(
        "the paired t-test",
        "difference in means",
        pairwise_t,
        least=2,
        independent=True,
        interval=pairwise_t_interval,
    ),
    "corrected-resampled-t": _PairTest(
        "the corrected resampled t-test",
        "difference in means",
        pairwise_t,
        _resampled,
        least=2,
        interval=pairwise_t_interval,
    ),
    "5x2cv-t": _PairTest(
        "the 5x2cv t-test",
        "difference",
        pairwise_five_by_two_t,
        _numerator,
        only=10,
        interval=pairwise_five_by_two_t_interval,
    ),
    "5x2cv-f": _PairTest(
        "the combined 5x2cv F-test",
        "difference in means",
        pairwise_five_by_two_f,
        only=10,
        two_sided_alone=True,
    ),
    "wilcoxon": _PairTest(
        "Wilcoxon's signed-rank test",
        "pseudomedian of the differences",
        pairwise_wilcoxon,
        wilcoxon_options,
        independent=True,
        interval=pairwise_wilcoxon_interval,
        cost=lambda n, method, **options: n**3 / 16 if method == "exact" else 16 * n,
    ),
    "sign": _PairTest(
        "the sign test",
        "share of wins",
        pairwise_sign,
        value=0.5,
        independent=True,
        interval=pairwise_sign_interval,
    ),
    "permutation": _PairTest(
        "the permutation test",
        "difference in means",
        pairwise_permutation,
        permutation_options,
        independent=True,
        cost=lambda n, n_resamples, **options: n * n_resamples / 16,
        among=permutation_among,
    ),
}


def pairwise_tests(
    results: Any,
    *,
    test: PairTest = "wilcoxon",
    reference: Any = None,
    correction: Correction = "holm",
    alternative: Alternative = "two-sided",
    confidence_level: float = 0.95,
    equivalence_margin: float | None = None,
    **options: Any,
) -> MeasuredPairs:
    """Test each pair of models, or each model against a reference, with p-values adjusted for the number of pairs.

    Parameters
    ----------
    results : array-like of shape (n_rows, n_models), mapping of name to array-like, or frame
        Results of models (columns) on the same data sets or folds (rows); a frame's first column may name the rows.
        "5x2cv-t" and "5x2cv-f" require ten rows: two folds of the first repetition, two of the second, and so on.
        Instead of numbers, a mapping may have estimates: per model, one estimate by `estimate_error` (of one metric, on
        the same splits for all models), or a list with one estimate per data set.
    test : str
        "wilcoxon", "sign", "paired-t", "corrected-resampled-t" (with ``n_train=`` and ``n_test=``, unless results are
        estimates, and ``conservative=``), "5x2cv-t" (with ``numerator=``), "5x2cv-f" or "permutation" (with
        ``n_resamples=`` and ``rng=``; all pairs share the same signs). Each name stands for the function that tests two
        models, such as "wilcoxon" for `wilcoxon_test`.
    reference : name or int, optional
        The model to compare the others with; by default all pairs are compared.
    correction : str
        As for `adjust_pvalues`.
    alternative : {"two-sided", "less", "greater"}
        The claim to test about the first model minus the second (with a reference: another model minus the reference).
    confidence_level : float in (0, 1)
        All tests jointly are at level ``1 - confidence_level``.
    equivalence_margin : float, optional
        Also test whether the models of each pair differ by less than this, as in `equivalence_test`.
    **options
        Options of the chosen test.

    Returns
    -------
    MeasuredPairs
        A sequence of the results of the pairs, with arrays over all pairs. `effects` has the effect sizes: wins, ties
        and losses, mean and median differences, rank-biserial correlations, and Vargha and Delaney's A.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.

    Warns
    -----
    UndefinedMetricWarning
        If the differences of a pair have no variance, so that t is infinite.
    DependentSplitsWarning
        If the results come from splits of one data set and the test assumes independence ("wilcoxon", "sign",
        "paired-t", "permutation"): use "corrected-resampled-t".

    References
    ----------
    Demsar (2006), "Statistical Comparisons of Classifiers over Multiple Data Sets", JMLR 7, 1-30.

    Examples
    --------
    >>> import fastevals
    >>> accuracy = {"a": [0.8, 0.7, 0.9, 0.8, 0.6], "b": [0.7, 0.5, 0.8, 0.6, 0.5], "c": [0.8, 0.6, 0.9, 0.7, 0.7]}
    >>> fastevals.pairwise_tests(accuracy, test="paired-t", reference="b")
    MeasuredPairs(the paired t-test, 3 models, 2 pairs, 2 rejected at 0.05, correction='holm')
    """
    check_choice("test", test, PairTest)
    alpha = check_alpha(confidence_level, alternative)
    check_correction(correction, reference=reference, alternative=alternative)
    pair_test = TESTS[test]
    if equivalence_margin is not None:
        check_number("equivalence_margin", equivalence_margin, low=0, open_low=True, open_high=True)
        if pair_test.two_sided_alone:
            raise ValueError(f"equivalence_margin needs a test with one-sided alternatives, got test={test!r}")
    if pair_test.two_sided_alone:
        check_choice(f"alternative of {test}", alternative, ("two-sided",))
    table = as_result_table("results", results, least_rows=pair_test.least)
    measured = table.measured
    if measured is not None and not pair_test.independent:
        check_one_dataset(f"test={test!r}", measured)
    splits = measured.splits if measured else None
    if (
        splits is not None
        and splits.n_train is not None
        and test == "corrected-resampled-t"
        and options.keys() <= {"conservative"}
    ):  # estimates have these sizes
        options |= {"n_train": int(np.sum(splits.n_train)), "n_test": int(np.sum(splits.n_test))}
    check_options(f"test={test!r}", pair_test.options, options)
    checked = pair_test.options(**options)
    _check_row_number("results", table, pair_test.only, f"test={test!r}")
    if pair_test.only and measured and splits is not None and (shape := measured.shape) != FIVE_BY_TWO:
        raise ValueError(
            f"results must be of five times two folds for test={test!r}, got {shape[0]} x {shape[1]} splits"
        )
    if pair_test.independent:
        warn_if_dependent(f"test={test!r}", [measured], "test='corrected-resampled-t'")
    pairs = compared_pairs(table.algorithms, reference)
    columns = np.ascontiguousarray(table.values.T)
    statistic, pvalue, effect = _run_test(pair_test, columns, columns, pairs, alternative, checked)
    infinite = int(np.isinf(statistic).sum())
    if infinite:
        warn_degenerate(
            f"{pair_test.title} of {infinite} of {len(pairs)} pairs",
            SAME_DIFFERENCES,
        )
    return build_pairwise_result(
        MeasuredPairs, pair_test.title, table.algorithms, pairs, (statistic, pvalue, effect),
        what=pair_test.what, value=pair_test.value, correction=correction, alternative=alternative, alpha=alpha,
        _values=columns, _test=test, _options=checked, _test_to_train=_test_to_train(table, test, checked),
        notes=table.notes, equivalence_margin=equivalence_margin,
    )  # fmt: skip


def _run_test(
    test: _PairTest, a: Floats, b: Floats, pairs: Pairs, alternative: Alternative, options: Mapping[str, Any]
) -> tuple[Floats, Floats, Floats]:
    """Return statistics, p-values and effects for pairs of rows of `a` and of `b`."""
    if test.among is not None:
        return test.among(a, b, pairs, alternative, **options)
    size = test.pairs_per_task(a.shape[1], options)

    def tested(start: int) -> tuple[Floats, Floats, Floats]:
        first, second = pairs[start : start + size].T
        return test.core(a[first], b[second], alternative, **options)

    parts = run(tested, range(0, len(pairs), size), compiles=True)
    return tuple(np.concatenate(part) for part in zip(*parts, strict=True))  # type: ignore[return-value]


def _test_to_train(table: ResultTable, test: str, options: Mapping[str, Any]) -> float:
    """Return the ratio of test rows to training rows for splits of one data set: NaN if unknown, 0 for other rows."""
    splits = None if table.measured is None else table.measured.splits
    if splits is not None and splits.n_train is not None:
        return test_to_train_ratio(None, None, table.measured)  # type: ignore[arg-type]
    unknown = 1.0 if TESTS[test].only == math.prod(FIVE_BY_TWO) else 0.0 if splits is None else math.nan
    return float(options.get("test_to_train", unknown))


class OneSided(NamedTuple):
    """Statistics and p-values of one-sided tests of pairs."""

    statistic: Floats
    pvalue: Floats


def one_sided_pvalues(
    test: str, plain: Floats, higher: Floats, pairs: Pairs, options: Mapping[str, Any]
) -> tuple[OneSided, OneSided]:
    """Test whether differences are at most minus a margin, or at least the margin, for pairs of rows of `plain`.

    `higher` is `plain` plus the margin.
    """
    above = _run_test(TESTS[test], higher, plain, pairs, "greater", options)
    below = _run_test(TESTS[test], plain, higher, pairs, "less", options)
    return OneSided(*above[:2]), OneSided(*below[:2])


# Checks ---------------------------------------------------------------------------------------------------------------
def _check_row_number(name: str, table: ResultTable, only: int | None, option: str) -> None:
    """Raise unless a table has the number of rows that the test requires, if any."""
    if only is not None and len(table.values) != only:
        raise ValueError(f"{name} must have {only} rows for {option}, got {len(table.values)}")


def pairs_by_pvalue(pairs: PairwiseResult) -> list[int]:
    """Return the indices of the pairs by ascending adjusted p; unadjusted p-values break ties."""
    return np.lexsort((pairs.unadjusted_pvalue, pairs.pvalue)).tolist()  # type: ignore[no-any-return]
