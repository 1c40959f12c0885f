"""Algorithms compared by their results on data sets."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals import __version__
from fastevals._execution import progressed
from fastevals._text import (
    format_label,
    format_number,
    format_pvalue,
    format_tables,
    printable,
    select_pairs,
    shorten_names,
    wrap_text,
)
from fastevals._validation.arrays import as_scores, check_finite
from fastevals._validation.options import UndefinedMetricWarning, check_choice, check_number
from fastevals.infer.significance.friedman import FriedmanResult, friedman_test
from fastevals.infer.significance.pairwise import PairwiseResult, pairwise_tests
from fastevals.infer.significance.rank_comparisons import (
    RankComparison,
    bonferroni_dunn_test,
    nemenyi_test,
    rank_comparison_test,
)
from fastevals.infer.significance.signed_ranks import sign_test, wilcoxon_test
from fastevals.results import SignificanceResult, as_json
from fastevals.show.columns import check_columns, columns_by_role, split_by_value
from fastevals.show.commands import TextResult, option

MOST_COMPARED = 500_000  # of algorithms: 1,000 of them in each block's text and JSON
NEMENYI = "nemenyi"
NUMBERED = re.compile(r"(.*[\W_])?(id|ids|idx|index|key|no|nr|num|number|row|fold|seed|run|unnamed: 0)", re.IGNORECASE)
FEW = 3  # rows: as many may be numbered, or ranked, by chance
ROUGH = 5  # data sets: with so few there are 7 % false alarms and more at level 5 %

MOST_NAMED = 12  # columns in the head
LONGEST_NAME = 45  # of an algorithm, so that a table has no more than 120 characters


class ComparisonOptions(NamedTuple):
    """What is asked for, as the options of the command."""

    dataset: tuple[str, ...]
    algorithm: tuple[str, ...]
    by: str | None
    control: str | None
    posthoc: str | None
    higher_is_better: bool
    confidence: float


@dataclass(frozen=True, slots=True)
class ResultsBlock:
    """Data sets that share a value of the --by column, or all.

    Attributes
    ----------
    value : int, float, bool, str or None
        The value; None for all.
    friedman : FriedmanResult
        Mean ranks; of three algorithms or more, whether they differ at all.
    pairs : PairwiseResult or None
        Which of these do: none where `friedman` doesn't reject. None of two algorithms, or where that is undefined.
    of_two : tuple of SignificanceResult, or None
        Wilcoxon's signed-rank test and the sign test of two algorithms.
    order : tuple of str
        The algorithms, the control last.
    means : ndarray of shape (n_algorithms,)
        Of the results.
    repeated : tuple of str and int, or None
        A column that names data sets with values that occur again, and how many it has.
    """

    value: Any
    friedman: FriedmanResult
    pairs: PairwiseResult | None
    of_two: tuple[SignificanceResult, SignificanceResult] | None
    order: tuple[str, ...]
    means: NDArray[np.float64]
    repeated: tuple[str, int] | None


@dataclass(frozen=True, slots=True, repr=False)
class ResultsComparison(TextResult):
    """All blocks, and what was asked for.

    Attributes
    ----------
    choice : Choice
        The options; of `posthoc` what is done.
    blocks : tuple of Block
        At least one.
    data : str
        Where the columns are from.
    others : tuple of str
        Columns that were not taken for algorithms.
    cautions : tuple of str
        What may have been taken for what it isn't.
    """

    choice: ComparisonOptions
    blocks: tuple[ResultsBlock, ...]
    data: str
    others: tuple[str, ...] = ()
    cautions: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as strict JSON: NaN is None, what is infinite "Infinity"."""
        values = {"fastevals": __version__, "data": self.data, "compared": "results", **self.choice._asdict()}
        values |= {"algorithms": self.blocks[0].friedman.names, "others": self.others, "cautions": self.cautions}
        values["blocks"] = [
            {
                "value": block.value,
                "n_datasets": block.friedman.n_datasets,
                "mean_ranks": dict(zip(block.friedman.names, block.friedman.mean_ranks.tolist(), strict=True)),
                "means": dict(zip(block.friedman.names, block.means.tolist(), strict=True)),
                "friedman": None if block.of_two else block.friedman.to_dict(),
                "pairs": None if block.pairs is None else block.pairs.to_dict(),
                "groups": _groups(block.pairs),
                "wilcoxon": block.of_two[0].to_dict() if block.of_two else None,
                "sign": block.of_two[1].to_dict() if block.of_two else None,
            }
            for block in self.blocks
        ]
        return {name: as_json(value) for name, value in values.items()}

    def to_text(self) -> str:
        """Return the comparison as text to read, the last line with a line end."""
        first = self.blocks[0].friedman
        better = "higher" if self.choice.higher_is_better else "lower"
        n = sum(block.friedman.n_datasets for block in self.blocks)
        lines = [
            f"fastevals compare: {printable(self.data)}",
            f"{_sets(n)}, {len(first.names)} algorithms, {better} is better",
        ]
        if not self.choice.algorithm:
            others = f"; {_listed(self.others)} {'is' if len(self.others) == 1 else 'are'} not" if self.others else ""
            lines += wrap_text(f"taken for algorithms: {_listed(first.names)}{others}")
        for caution in self.cautions:
            lines += wrap_text(f"! : {caution}")
        for block in self.blocks:
            lines.append("")
            if self.choice.by is not None:
                where = f"{printable(self.choice.by)} = {format_label(block.value)}"
                lines += wrap_text(f"{where}: {_sets(block.friedman.n_datasets)}")
            lines += _text(block)
        return "\n".join(lines) + "\n"


def compare_results(columns: Mapping[str, NDArray[Any]], choice: ComparisonOptions, data: str) -> ResultsComparison:
    """Compare the algorithms whose results are columns.

    Parameters
    ----------
    columns : mapping of str to ndarray of shape (n_datasets,)
        Those of text name data sets.
    choice : Choice
        What is asked for.
    data : str
        Where the columns are from.

    Returns
    -------
    ResultsComparison
        As text and JSON.

    Raises
    ------
    ValueError
        If a column is missing or has no numbers, or the options don't go together.
    """
    check_number(option("confidence"), choice.confidence, low=0, high=1, open_low=True, open_high=True)
    roles = {"dataset": choice.dataset, "algorithm": choice.algorithm, "by": (choice.by,)}
    given = columns_by_role((option(role), name) for role, names in roles.items() for name in names)
    check_columns("the data", list(columns), given)
    algorithms = list(choice.algorithm) or [
        name for name, column in columns.items() if column.dtype.kind in "fiub" and name not in given
    ]
    if choice.control is not None:
        check_choice(option("control"), choice.control, algorithms)
    if len(algorithms) < 2:
        raise ValueError(
            f"results must have a column of numbers for each of two algorithms or more, got {len(algorithms)}: "
            f"{', '.join(map(repr, algorithms)) or 'none'}"
        )
    k = len(algorithms)
    pairs = k * (k - 1) // 2 if choice.control is None else k - 1
    if pairs > MOST_COMPARED:
        raise ValueError(
            f"{k} algorithms have {pairs} pairs, and at most {MOST_COMPARED} are compared: {option('algorithm')} names "
            f"those to compare, {option('control')} one that each other is compared with"
        )
    posthoc = choice.posthoc or (NEMENYI if choice.control is None else "bonferroni-dunn")
    if k == 2:
        if choice.posthoc not in (None, "wilcoxon"):
            raise ValueError(
                f"{option('posthoc', choice.posthoc)} goes with three algorithms or more, got {_listed(algorithms)}: "
                "two are compared by Wilcoxon's signed-rank test"
            )
        posthoc = "wilcoxon"
    choice = choice._replace(posthoc=posthoc)
    for name in algorithms:
        shown = given.get(name, f"column {name!r}")
        check_finite(shown, as_scores(shown, columns[name]))
    parts: list[tuple[Any, Any]] = [(None, slice(None))]
    if choice.by is not None:
        parts = split_by_value(given[choice.by], columns[choice.by])
    text = (name for name, column in columns.items() if column.dtype.kind in "OU" and name not in given)
    naming = next(iter((*choice.dataset, *text)), None)
    blocks = []
    for value, rows in progressed(parts, "comparing"):
        repeated = None if naming is None else _repeated(naming, columns[naming][rows])
        blocks.append(_block(value, {name: columns[name][rows] for name in algorithms}, repeated, choice))
    others = tuple(name for name in columns if name not in algorithms)
    taken = {name: columns[name] for name in algorithms}
    return ResultsComparison(choice, tuple(blocks), data, others, tuple(_cautions(taken, given, choice)))


def _cautions(taken: Mapping[str, NDArray[Any]], given: Mapping[str, str], choice: ComparisonOptions) -> Iterator[str]:
    """Yield which of the columns look like no results, and whether they look like ranks."""
    alone = sum(column.dtype.kind == "f" for column in taken.values()) == len(taken) - 1
    for name, column in taken.items():
        if name not in given and _numbers_rows(name, column, alone):
            hint = f"leave it out by {option('dataset', name)}"
            yield f"{printable(name)} looks like numbers of the rows, not results: if so, {hint}"
    if choice.higher_is_better and _are_ranks(list(taken.values())):
        ranks = "rows hold ranks, of which the highest was taken for the best: where 1 is best give "
        yield ranks + option("lower_is_better", True)


def _numbers_rows(name: str, column: NDArray[Any], alone: bool) -> bool:
    """Return whether a column holds whole numbers, all different, and counts, is named so, or is `alone` whole."""
    if column.dtype.kind not in "iu" or np.unique(column).size < column.size:
        return False
    counts = column.size > ROUGH and bool((np.diff(column) == 1).all())
    return counts or (alone and column.size >= FEW) or NUMBERED.fullmatch(name) is not None


def _are_ranks(columns: list[NDArray[Any]]) -> bool:
    """Return whether each row ranks the algorithms, those that are tied by their mean rank."""
    n, k = columns[0].size, len(columns)
    if n < FEW or not all(each.min() >= 1 and each.max() <= k and (2 * each % 1 == 0).all() for each in columns):
        return False
    differ = any((each != columns[0]).any() for each in columns)
    return differ and bool((np.sum(columns, axis=0, dtype=np.float64) == k * (k + 1) / 2).all())


def _repeated(name: str, column: NDArray[Any]) -> tuple[str, int] | None:
    distinct = np.unique(column).size
    return (name, distinct) if distinct < column.size else None


def _block(
    value: Any, table: dict[str, NDArray[Any]], repeated: tuple[str, int] | None, choice: ComparisonOptions
) -> ResultsBlock:
    better: dict[str, Any] = {"higher_is_better": choice.higher_is_better, "confidence_level": choice.confidence}
    order = tuple(sorted(table, key=lambda name: name == choice.control))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)  # the text says what is undefined
        friedman = friedman_test(table, **better)
        pairs: PairwiseResult | None = None
        of_two = None
        if len(table) == 2:
            how: dict[str, Any] = {"names": order, "confidence_level": choice.confidence}
            pair = [table[name] for name in order]
            of_two = wilcoxon_test(*pair, **how), sign_test(*pair, **how)
        elif math.isnan(friedman.pvalue):
            pass  # nothing follows of pairs, either
        elif choice.posthoc == NEMENYI:
            pairs = nemenyi_test(table, **better)
        elif choice.posthoc == "bonferroni-dunn":
            pairs = bonferroni_dunn_test(table, choice.control, **better)
        elif choice.posthoc == "wilcoxon":
            pairs = pairwise_tests(table, reference=choice.control, confidence_level=choice.confidence)
        else:
            pairs = rank_comparison_test(table, control=choice.control, correction=str(choice.posthoc), **better)
    if pairs is not None and not friedman.rejected:
        pairs = replace(pairs, rejected=np.zeros_like(pairs.rejected))
        if isinstance(pairs, RankComparison):
            pairs = replace(pairs, critical_difference=math.nan)  # no difference is large enough
    means = np.array([np.mean(column, dtype=np.float64) for column in table.values()])
    return ResultsBlock(value, friedman, pairs, of_two, order, means, repeated)


def _groups(pairs: PairwiseResult | None) -> list[list[Any]] | None:
    """Return the names in each set of algorithms that are not shown to differ, where ranks are compared."""
    if not isinstance(pairs, RankComparison) or pairs.control is not None:
        return None
    return [[pairs.names[place] for place in group] for group in pairs.groups()]


def _listed(names: Iterable[Any]) -> str:
    """Name columns, the first of many."""
    every = [printable(str(name)) for name in names]
    more = f", ... ({len(every)} in all)" if len(every) > MOST_NAMED else ""
    return ", ".join(every[:MOST_NAMED]) + more


def _sets(n: int) -> str:
    return f"{n} data set{'s' * (n != 1)}"


def _text(block: ResultsBlock) -> list[str]:
    names = dict(zip(block.friedman.names, shorten_names(block.friedman.names, LONGEST_NAME), strict=True))
    lines = [*_rank_lines(block, names), ""]
    if block.of_two is not None:
        lines += _lines_of_two(*block.of_two, block.friedman.n_datasets, [names[name] for name in block.order])
    else:
        lines += _friedman_lines(block.friedman)
    if block.pairs is not None:
        lines += ["", *_pair_lines(block.pairs, names, block.friedman.rejected)]
    for group in _groups(block.pairs) or []:
        lines += wrap_text(f"not shown to differ: {', '.join(names[name] for name in group)}")
    if block.pairs is not None and block.friedman.n_datasets <= ROUGH:
        lines += wrap_text(
            "! : Friedman's p is rough on so few data sets: there are more false alarms than the level says"
        )
    if block.repeated is not None:
        name, distinct = block.repeated
        lines += wrap_text(
            f"! : {block.friedman.n_datasets} rows of {distinct} {printable(name)} values: "
            "the tests take each row for a data set of its own"
        )
    return lines


def _rank_lines(block: ResultsBlock, names: Mapping[Any, str]) -> list[str]:
    rows = [["algorithm", "mean rank", "mean"]]
    for k in np.argsort(block.friedman.mean_ranks, kind="stable"):
        name = names[block.friedman.names[k]]
        rows.append([name, format_number(block.friedman.mean_ranks[k]), format_number(block.means[k])])
    return format_tables([rows])[0]


def _friedman_lines(friedman: FriedmanResult) -> list[str]:
    n, k = friedman.n_datasets, len(friedman.names)
    return [
        *wrap_text(
            f"Friedman's test: F({k - 1}, {(k - 1) * (n - 1)}) = {format_number(friedman.f_statistic)}, "
            f"p {format_pvalue(friedman.pvalue)}; chi-square({k - 1}) = {format_number(friedman.chi_square)}, "
            f"Kendall's W = {format_number(friedman.effect or 0.0)}"
        ),
        *wrap_text(friedman.conclusion),
    ]


def _lines_of_two(wilcoxon: SignificanceResult, sign: SignificanceResult, n: int, names: Sequence[str]) -> list[str]:
    differ = int(sign.null.parameters[0]) if sign.null else 0
    higher = round(sign.statistic)
    said = f"{names[0]} is higher on {higher}, {names[1]} on {differ - higher} of {_sets(n)}"
    return [
        *wrap_text(
            f"{wilcoxon.test}: W+ = {format_number(wilcoxon.statistic)}, p {format_pvalue(wilcoxon.pvalue)}; "
            f"pseudomedian of {names[0]} less {names[1]} {format_number(wilcoxon.effect or 0.0)}"
        ),
        *wrap_text(wilcoxon.conclusion),
        *wrap_text(f"{said}: by {sign.test}, which doesn't look at sizes, p {format_pvalue(sign.pvalue)}"),
    ]


def _pair_lines(pairs: PairwiseResult, names: Mapping[Any, str], first_rejected: bool) -> list[str]:
    critical = getattr(pairs, "critical_difference", np.nan)
    title = f"{pairs.test[0].upper()}{pairs.test[1:]}"
    title += "" if np.isnan(critical) else f": critical difference {critical:.4f}"
    title += "" if pairs.correction == "none" else f" (p adjusted: {pairs.correction})"
    rows = [["", "rank difference" if isinstance(pairs, RankComparison) else "pseudomedian", "p", ""]]
    shown, more = select_pairs(pairs.pvalue, pairs.unadjusted_pvalue)
    for k in shown:
        first, second = (names[pairs.names[place]] for place in pairs.pairs[k])
        star = "*" if pairs.rejected[k] else ""
        rows.append([f"{first} - {second}", format_number(pairs.effect[k]), format_pvalue(pairs.pvalue[k]), star])
    said = f"* differs at level {pairs.alpha:g}; of the others it is not shown"
    if not first_rejected:
        said = "no pair is said to differ, whatever its own p: Friedman's test doesn't reject"
    return [*wrap_text(title), *format_tables([rows])[0], *more, said]
