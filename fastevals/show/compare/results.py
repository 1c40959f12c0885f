"""Algorithms compared by their results on data sets."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from fastevals import __version__
from fastevals._choices import PostHoc
from fastevals._distinct import sorted_unique
from fastevals._execution import progressed
from fastevals._naming import OPTION_NAMES, option
from fastevals._options import UndefinedMetricWarning, check_choice, check_number
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
from fastevals._validation.arrays import check_finite
from fastevals._validation.wide_tables import (
    HINT,
    NUMBERED,
    as_results,
    check_no_summaries,
    find_long_form,
    holds_results,
    holds_text,
    is_unnamed,
    tells_rows_apart,
)
from fastevals.counting.labels import rows_by_code
from fastevals.document.frames import Columns, make_columns, stack
from fastevals.infer.significance.corrections import Correction
from fastevals.infer.significance.friedman import FriedmanResult, friedman_test
from fastevals.infer.significance.pairwise import PairwiseResult, pairwise_tests
from fastevals.infer.significance.rank_comparisons import (
    RankComparison,
    bonferroni_dunn_test,
    nemenyi_test,
    rank_comparison_test,
)
from fastevals.infer.significance.signed_ranks import sign_test, wilcoxon_test
from fastevals.reading.columns import NamedColumns, check_columns, columns_by_role
from fastevals.results import SignificanceResult, as_json
from fastevals.show.text_result import TextResult

if TYPE_CHECKING:
    from fastevals.document.page.page import Page

MOST_BLOCKS = 1000
MOST_COMPARED = 500_000  # of algorithms: 1,000 of them in each block's text and JSON
FEW_ROWS = 3  # rows: as many may be numbered, or ranked, by chance
ROUGH = 5  # data sets: with so few there are 7 % false alarms and more at level 5 %

MOST_NAMED = 12  # columns in the head
LONGEST_NAME = 45  # of an algorithm, so that a table has no more than 120 characters


class ComparisonOptions(NamedTuple):
    """The options of the command, or the arguments of the call, on results."""

    dataset: tuple[str, ...]
    algorithm: tuple[str, ...]
    by: str | None
    control: str | None
    posthoc: PostHoc | None
    higher_is_better: bool
    confidence_level: float


@dataclass(frozen=True, slots=True)
class ResultsBlock:
    """Data sets that share a value of the --by column, or all."""

    value: Any  # of the --by column; None for all
    friedman: FriedmanResult  # mean ranks; of three algorithms or more, whether they differ at all
    # Which of them differ: none where `friedman` doesn't reject. None of two algorithms, or where that is undefined.
    pairs: PairwiseResult | None
    two_tests: tuple[SignificanceResult, SignificanceResult] | None  # of two algorithms: Wilcoxon's and the sign test
    order: tuple[str, ...]  # the algorithms, the control last
    means: NDArray[np.float64]  # of the results, shape (n_algorithms,)
    repeated: tuple[str, int] | None  # a column that names data sets, with values that occur again: how many it has


@dataclass(frozen=True, slots=True, repr=False)
class ResultsComparison(TextResult):
    """A comparison of algorithms by their results, which prints itself as text.

    Attributes
    ----------
    options : ComparisonOptions
        As given; `posthoc` is the test that was made.
    blocks : tuple of ResultsBlock
        At least one.
    data : str
        Where the columns are from.
    others : tuple of str
        Columns that were not taken for algorithms.
    cautions : tuple of str
        Columns that may have been mistaken for results.
    """

    options: ComparisonOptions
    blocks: tuple[ResultsBlock, ...]
    data: str
    others: tuple[str, ...] = ()
    cautions: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as strict JSON: NaN is None, what is infinite "Infinity"."""
        values: dict[str, Any] = {"fastevals": __version__, "data": self.data, "compared": "results"}
        values |= {OPTION_NAMES.get(name, name): value for name, value in self.options._asdict().items()}
        values |= {"algorithms": self.blocks[0].friedman.names, "others": self.others, "cautions": self.cautions}
        values["blocks"] = [
            {
                "value": block.value,
                "n_datasets": block.friedman.n_datasets,
                "mean_ranks": dict(zip(block.friedman.names, block.friedman.mean_ranks.tolist(), strict=True)),
                "means": dict(zip(block.friedman.names, block.means.tolist(), strict=True)),
                "friedman": None if block.two_tests else block.friedman.to_dict(),
                "pairs": None if block.pairs is None else block.pairs.to_dict(),
                "groups": _groups(block.pairs),
                "wilcoxon": block.two_tests[0].to_dict() if block.two_tests else None,
                "sign": block.two_tests[1].to_dict() if block.two_tests else None,
            }
            for block in self.blocks
        ]
        return {name: as_json(value) for name, value in values.items()}

    def to_text(self) -> str:
        """Return the comparison as text to read, the last line with a line end."""
        first = self.blocks[0].friedman
        better = "higher" if self.options.higher_is_better else "lower"
        n = sum(block.friedman.n_datasets for block in self.blocks)
        lines = [
            f"fastevals compare: {printable(self.data)}",
            f"{_count_datasets(n)}, {len(first.names)} algorithms, {better} is better",
        ]
        if not self.options.algorithm:
            beside = [
                f"{name or 'the unnamed column'} (names of rows)" if is_unnamed(name) else name for name in self.others
            ]
            others = f"; {_list_names(beside)} {'is' if len(beside) == 1 else 'are'} not" if beside else ""
            lines += wrap_text(f"taken for algorithms: {_list_names(first.names)}{others}")
        for caution in self.cautions:
            lines += wrap_text(f"! : {caution}")
        for block in self.blocks:
            lines.append("")
            if self.options.by is not None:
                value = f"{printable(self.options.by)} = {format_label(block.value)}"
                lines += wrap_text(f"{value}: {_count_datasets(block.friedman.n_datasets)}")
            lines += _block_lines(block)
        return "\n".join(lines) + "\n"

    def _columns(self) -> Columns:
        """Return a row for each algorithm of each block."""
        return stack(
            (
                {} if self.options.by is None else {"by": block.value},
                make_columns(
                    {"algorithm": block.friedman.names, "mean": block.means, "mean_rank": block.friedman.mean_ranks}
                ),
            )
            for block in self.blocks
        )

    def to_page(self) -> Page:
        """Return what the comparison's page shows."""
        from fastevals.show.compare.page import results_page

        return results_page(self)


def compare_result_columns(columns: NamedColumns, options: ComparisonOptions, data: str) -> ResultsComparison:
    """Compare the algorithms whose results are columns; those of text name data sets. `data` is where they are from.

    Raise if a column is missing or has no numbers, or the options don't go together.
    """
    check_number(option("confidence_level"), options.confidence_level, low=0, high=1, open_low=True, open_high=True)
    roles = {"dataset": options.dataset, "algorithm": options.algorithm, "by": (options.by,)}
    called = columns_by_role((option(role), name) for role, names in roles.items() for name in names)
    check_columns("the data", list(columns), called)
    texts = [name for name, column in columns.items() if holds_text(column) and name not in called]
    algorithms = _choose_algorithms(columns, called, options)
    options = options._replace(posthoc=_choose_posthoc(algorithms, options))
    for name in algorithms:
        shown = called.get(name, f"column {name!r}")
        check_finite(shown, as_results(shown, columns[name]))
    for name in [*options.dataset, *texts]:
        if holds_text(columns[name]):
            check_no_summaries(called.get(name, f"column {name!r}"), columns[name])
    parts: list[tuple[Any, Any]] = [(None, slice(None))]  # each block's value and rows
    if options.by is not None:
        parts = _split_by_value(called[options.by], columns, options.by)
    dataset_names = next(iter((*options.dataset, *texts)), None)
    blocks = []
    for value, rows in progressed(parts, "comparing"):
        repeated = None if dataset_names is None else _repeated_values(dataset_names, columns[dataset_names][rows])
        blocks.append(_block(value, {name: columns[name][rows] for name in algorithms}, repeated, options))
    others = tuple(name for name in columns if name not in algorithms)
    cautions = tuple(_cautions(columns, algorithms, called, options))
    return ResultsComparison(options, tuple(blocks), data, others, cautions)


def _choose_algorithms(
    columns: Mapping[str, NDArray[Any]], called: Mapping[str, str], options: ComparisonOptions
) -> list[str]:
    """Return the columns to compare: the named ones, or all numeric ones without another role or an unnamed index."""
    algorithms = list(options.algorithm)
    if not algorithms:
        free = {name: column for name, column in columns.items() if name not in called}
        algorithms = [name for name, column in free.items() if not (holds_text(column) or _is_index(name, column))]
        long = find_long_form(columns)
        if long is not None and len(long.results) == 1:
            raise ValueError(f"the data have {long.explain()}")
        for name, column in free.items():
            if holds_text(column) and holds_results(column, len(algorithms) > 1 and name == next(iter(columns))):
                hint = f"{HINT} (if it names data sets: {option('dataset', name)})"
                as_results(f"column {name!r}", column, hint)
    if options.control is not None:
        check_choice(option("control"), options.control, algorithms)
    k = len(algorithms)
    if k < 2:
        raise ValueError(
            f"results must have a column of numbers for each of two algorithms or more, got {k}: "
            f"{', '.join(map(repr, algorithms)) or 'none'}"
        )
    n_pairs = k * (k - 1) // 2 if options.control is None else k - 1
    if n_pairs > MOST_COMPARED:
        raise ValueError(
            f"{k} algorithms have {n_pairs} pairs, and at most {MOST_COMPARED} are compared: {option('algorithm')} "
            f"names those to compare, {option('control')} one that each other is compared with"
        )
    return algorithms


def _is_index(name: str, column: NDArray[Any]) -> bool:
    """Return whether a column without a name is an index; raise if it may as well hold results."""
    if not is_unnamed(name):
        return False
    if not tells_rows_apart(column):
        raise ValueError(
            f"column {name!r} has no name: give {option('dataset', name)} if it names rows, a name if it holds results"
        )
    return True


def _choose_posthoc(algorithms: Sequence[str], options: ComparisonOptions) -> PostHoc:
    """Return the test of pairs; two algorithms have Wilcoxon's alone."""
    if len(algorithms) > 2:
        return options.posthoc or ("nemenyi" if options.control is None else "bonferroni-dunn")
    if options.posthoc not in (None, "wilcoxon"):
        raise ValueError(
            f"{option('posthoc', options.posthoc)} goes with three algorithms or more, "
            f"got {_list_names(algorithms)}: two are compared by Wilcoxon's signed-rank test"
        )
    return "wilcoxon"


def _cautions(
    columns: Mapping[str, NDArray[Any]],
    algorithms: Sequence[str],
    called: Mapping[str, str],
    options: ComparisonOptions,
) -> Iterator[str]:
    """Yield the columns that don't look like results, and whether they look like ranks or metrics."""
    results = {name: columns[name] for name in algorithms}
    long = find_long_form({name: column for name, column in columns.items() if name not in called})
    if long is not None and not options.algorithm:
        yield f"if {_list_names(long.results)} are metrics, the data have {long.explain()}"
    alone = sum(column.dtype.kind == "f" for column in results.values()) == len(results) - 1
    for name, column in results.items():
        if name not in called and _numbers_rows(name, column, alone):
            hint = f"leave it out by {option('dataset', name)}"
            yield f"{printable(name)} looks like numbers of the rows, not results: if so, {hint}"
    if options.higher_is_better and _are_ranks(list(results.values())):
        hint = option("lower_is_better", True)
        yield f"rows hold ranks, of which the highest was taken for the best: where 1 is best give {hint}"


def _numbers_rows(name: str, column: NDArray[Any], alone: bool) -> bool:
    """Return whether a column holds whole numbers, all different, and counts, is named so, or is `alone` whole."""
    if column.dtype.kind not in "iu" or sorted_unique(column).size < column.size:
        return False
    counts = column.size > ROUGH and bool((np.diff(column) == 1).all())
    return counts or (alone and column.size >= FEW_ROWS) or NUMBERED.fullmatch(name) is not None


def _are_ranks(columns: list[NDArray[Any]]) -> bool:
    """Return whether each row ranks the algorithms, those that are tied by their mean rank."""
    n, k = columns[0].size, len(columns)
    if n < FEW_ROWS or not all(rank.min() >= 1 and rank.max() <= k and (2 * rank % 1 == 0).all() for rank in columns):
        return False
    differ = any((rank != columns[0]).any() for rank in columns)
    return differ and bool((np.sum(columns, axis=0, dtype=np.float64) == k * (k + 1) / 2).all())


def _split_by_value(shown: str, columns: NamedColumns, name: str) -> list[tuple[Any, NDArray[np.intp]]]:
    """Return each value of a column, ascending, and its rows; messages call the column `shown`."""
    values, codes = columns.encode_values(shown, name)
    if len(values) > MOST_BLOCKS:
        raise ValueError(f"{shown} has {len(values)} values; a block each is made for at most {MOST_BLOCKS}")
    return list(zip(values, rows_by_code(codes, len(values)), strict=True))


def _repeated_values(name: str, column: NDArray[Any]) -> tuple[str, int] | None:
    distinct = sorted_unique(column).size
    return (name, distinct) if distinct < column.size else None


def _block(
    value: Any, table: dict[str, NDArray[Any]], repeated: tuple[str, int] | None, options: ComparisonOptions
) -> ResultsBlock:
    better: dict[str, Any] = {
        "higher_is_better": options.higher_is_better,
        "confidence_level": options.confidence_level,
    }
    order = tuple(sorted(table, key=lambda name: name == options.control))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)  # the text says what is undefined
        friedman = friedman_test(table, **better)
        pairs: PairwiseResult | None = None
        two_tests = None
        if len(table) == 2:
            pair = [table[name] for name in order]
            settings: dict[str, Any] = {"names": order, "confidence_level": options.confidence_level}
            two_tests = wilcoxon_test(*pair, **settings), sign_test(*pair, **settings)
        elif math.isnan(friedman.pvalue):
            pass  # nothing follows of pairs, either
        elif options.posthoc == "nemenyi":
            pairs = nemenyi_test(table, **better)
        elif options.posthoc == "bonferroni-dunn":
            pairs = bonferroni_dunn_test(table, options.control, **better)
        elif options.posthoc == "wilcoxon":
            pairs = pairwise_tests(table, reference=options.control, confidence_level=options.confidence_level)
        else:
            correction = cast(Correction, options.posthoc)
            pairs = rank_comparison_test(table, control=options.control, correction=correction, **better)
    if pairs is not None and not friedman.rejected:
        pairs = replace(pairs, rejected=np.zeros_like(pairs.rejected))
        if isinstance(pairs, RankComparison):
            pairs = replace(pairs, critical_difference=math.nan)  # no difference is large enough
    means = np.array([np.mean(column, dtype=np.float64) for column in table.values()])
    return ResultsBlock(value, friedman, pairs, two_tests, order, means, repeated)


def _groups(pairs: PairwiseResult | None) -> list[list[Any]] | None:
    """Return the names in each set of algorithms that are not shown to differ, where ranks are compared."""
    if not isinstance(pairs, RankComparison) or pairs.control is not None:
        return None
    return [[pairs.names[place] for place in group] for group in pairs.groups()]


def _list_names(names: Iterable[Any]) -> str:
    """Name columns, the first of many."""
    shown = [printable(str(name)) for name in names]
    more = f", ... ({len(shown)} in all)" if len(shown) > MOST_NAMED else ""
    return ", ".join(shown[:MOST_NAMED]) + more


def _count_datasets(n: int) -> str:
    return f"{n} data set{'s' * (n != 1)}"


def _block_lines(block: ResultsBlock) -> list[str]:
    names = dict(zip(block.friedman.names, shorten_names(block.friedman.names, LONGEST_NAME), strict=True))
    lines = [*_rank_lines(block, names), ""]
    if block.two_tests is not None:
        lines += _two_test_lines(*block.two_tests, block.friedman.n_datasets, [names[name] for name in block.order])
    else:
        lines += _friedman_lines(block.friedman)
    if block.pairs is not None:
        lines += ["", *_pair_lines(block.pairs, names, block.friedman.rejected)]
    for group in _groups(block.pairs) or []:
        lines += wrap_text(f"not shown to differ: {', '.join(names[name] for name in group)}")
    for caution in block_cautions(block):
        lines += wrap_text(f"! : {caution}")
    return lines


def block_cautions(block: ResultsBlock) -> list[str]:
    """Return what may mislead."""
    notes = []
    if block.pairs is not None and block.friedman.n_datasets <= ROUGH:
        notes.append("Friedman's p is rough on so few data sets: there are more false alarms than the level says")
    if block.repeated is not None:
        name, distinct = block.repeated
        rows = f"{block.friedman.n_datasets} rows of {distinct} {printable(name)} values"
        notes.append(f"{rows}: the tests take each row for a data set of its own")
    return notes


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


def _two_test_lines(wilcoxon: SignificanceResult, sign: SignificanceResult, n: int, names: Sequence[str]) -> list[str]:
    differ = int(sign.null.parameters[0]) if sign.null else 0
    higher = round(sign.statistic)
    counts = f"{names[0]} is higher on {higher}, {names[1]} on {differ - higher} of {_count_datasets(n)}"
    return [
        *wrap_text(
            f"{wilcoxon.test}: W+ = {format_number(wilcoxon.statistic)}, p {format_pvalue(wilcoxon.pvalue)}; "
            f"pseudomedian of {names[0]} less {names[1]} {format_number(wilcoxon.effect or 0.0)}"
        ),
        *wrap_text(wilcoxon.conclusion),
        *wrap_text(f"{counts}: by {sign.test}, which doesn't look at sizes, p {format_pvalue(sign.pvalue)}"),
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
    legend = f"* differs at level {pairs.alpha:g}; of the others it is not shown"
    if not first_rejected:
        legend = "no pair is said to differ, whatever its own p: Friedman's test doesn't reject"
    return [*wrap_text(title), *format_tables([rows])[0], *more, legend]
