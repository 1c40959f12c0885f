"""The pages of comparisons: what they come to in words, tables, and pictures."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from fastevals._naming import option
from fastevals._text import format_label, format_number, format_pvalue, printable
from fastevals.document.page.page import Block, Cell, Page, Table, TableRow, count, figures, number
from fastevals.infer.significance.mcnemar import MCNEMAR_METHODS
from fastevals.infer.significance.pairwise import PairwiseResult
from fastevals.infer.significance.rank_comparisons import RankComparison
from fastevals.results import Interval, SignificanceResult
from fastevals.show.compare.pictures import prediction_panels, results_panels
from fastevals.show.compare.predictions import CORRECTION, PredictionsComparison
from fastevals.show.compare.results import ResultsBlock, ResultsComparison, block_cautions
from fastevals.show.report.intervals import metric_title
from fastevals.show.tables import difference_rows
from fastevals.show.verdict import INDEPENDENT, ComparedModels, best_sentence, level_sentence, listed, next_sentence

# Results on data sets -------------------------------------------------------------------------------------------------


def results_page(comparison: ResultsComparison) -> Page:
    """Return what the page of a comparison by results shows."""
    options, first = comparison.options, comparison.blocks[0].friedman
    facts = {
        "algorithms": ", ".join(printable(str(name)) for name in first.names),
        "better": "higher" if options.higher_is_better else "lower",
        "level": f"{1 - options.confidence_level:.6g}",
        "other columns": ", ".join(map(printable, comparison.others)),
        "control": "" if options.control is None else printable(options.control),
    }
    facts = {name: text for name, text in facts.items() if text}
    blocks = [_results_block(comparison, block, k) for k, block in enumerate(comparison.blocks)]
    return Page("compare", comparison.data, facts, (), blocks, comparison.to_dict())


def _results_block(comparison: ResultsComparison, block: ResultsBlock, k: int) -> Block:
    by, n = comparison.options.by, block.friedman.n_datasets
    tables = [_rank_table(block), *_test_tables(block)]
    if block.pairs is not None:
        tables.append(_pair_table(block.pairs))
    return Block(
        "" if by is None else f"{printable(by)} {format_label(block.value)}",
        f"{n:,} data set{'s' * (n != 1)}",
        results_verdict(block, higher_is_better=comparison.options.higher_is_better),
        [*comparison.cautions, *block_cautions(block)],
        list(figures(results_panels(block), f"b{k}")),
        tables,
    )


def results_verdict(block: ResultsBlock, *, higher_is_better: bool) -> list[str]:
    """Return sentences on which algorithms are shown to be better than which."""
    if block.two_tests is not None:
        return _two_sentences(block, block.two_tests, higher_is_better)
    friedman, pairs = block.friedman, block.pairs
    if math.isnan(friedman.pvalue):
        return ["No algorithm is shown to be better than another: nothing differs.", friedman.conclusion]
    if pairs is None or not friedman.rejected:
        return ["No algorithm is shown to be better than another.", friedman.conclusion]
    ranks = dict(zip(friedman.names, friedman.mean_ranks.tolist(), strict=True))
    control = _control(block)
    subject = min(ranks, key=ranks.__getitem__) if control is None else control
    better, worse, same = _sorted_by(pairs, subject, higher_is_better)
    name = printable(str(subject))
    ranked = f"{name} has {'the best' if control is None else 'a'} mean rank of {ranks[subject]:.2f}"
    said = [f"better than {listed(better)}"] if better else []
    said += [f"worse than {listed(worse)}"] if worse else []
    sentence = f"{ranked} and is shown to be {' and '.join(said)}" if said else ranked
    if same:
        sentence += f"{';' if said else ', and'} no difference from {listed(same)} is shown"
    adjusted = "" if pairs.correction == "none" else f", p adjusted ({pairs.correction})"
    n_pairs = len(pairs.pairs)
    of_pairs = "the pair" if n_pairs == 1 else f"all {n_pairs} pairs together"
    test = f"{pairs.test[:1].upper()}{pairs.test[1:]} is at level {pairs.alpha:g} for {of_pairs}{adjusted}."
    return [f"{sentence}.", test, friedman.conclusion]


def _control(block: ResultsBlock) -> Any:
    """Return the algorithm that each other is compared with, or None where all pairs are."""
    if block.pairs is None:
        return None
    n, pairs = len(block.pairs.names), block.pairs.pairs
    if len(pairs) == n * (n - 1) // 2 and n > 2:
        return None
    return block.order[-1]


def _sorted_by(pairs: PairwiseResult, subject: Any, higher_is_better: bool) -> tuple[list[str], list[str], list[str]]:
    """Return the algorithms that one is better than, those it is worse than, and those of which neither is shown."""
    greater_wins = higher_is_better and not isinstance(pairs, RankComparison)  # a smaller rank is better
    found: tuple[list[str], list[str], list[str]] = [], [], []
    for (i, j), effect, is_rejected in zip(pairs.pairs.tolist(), pairs.effect, pairs.rejected, strict=True):
        one, other = pairs.names[i], pairs.names[j]
        if subject not in (one, other):
            continue
        first_wins = (effect > 0) == greater_wins
        wins = first_wins == (one == subject)
        place = 2 if not is_rejected else 0 if wins else 1
        found[place].append(printable(str(other if one == subject else one)))
    return found


def _two_sentences(
    block: ResultsBlock, tests: tuple[SignificanceResult, SignificanceResult], higher_is_better: bool
) -> list[str]:
    wilcoxon, sign = tests
    names = [printable(str(name)) for name in block.order]
    effect = wilcoxon.effect or 0.0
    if not wilcoxon.rejected:
        first = f"No difference of {names[0]} and {names[1]} is shown."
    else:
        better, worse = names if (effect > 0) == higher_is_better else reversed(names)
        first = f"{better} is shown to be better than {worse}, by {abs(effect):.4g} (pseudomedian of the differences)."
    signs = f"By {sign.test}, which doesn't look at sizes, p is {format_pvalue(sign.pvalue)}."
    return [first, wilcoxon.conclusion, signs]


def _rank_table(block: ResultsBlock) -> Table:
    rows = []
    for k in np.argsort(block.friedman.mean_ranks, kind="stable").tolist():
        cells = [number(float(block.friedman.mean_ranks[k])), number(float(block.means[k]))]
        rows.append(TableRow(str(block.friedman.names[k]), cells))
    return Table("ranks", "Mean ranks", ["Algorithm", "mean rank (1 is best)", "mean"], rows)


def _test_tables(block: ResultsBlock) -> Iterator[Table]:
    tests: Sequence[SignificanceResult] = block.two_tests or (block.friedman,)
    names = [f"{test.test[:1].upper()}{test.test[1:]}" for test in tests]
    rows = [TableRow(name, [number(test.statistic), _p(test.pvalue)]) for name, test in zip(names, tests, strict=True)]
    yield Table("tests", "Tests", ["Test", "statistic", "p"], rows)


def _pair_table(pairs: PairwiseResult) -> Table:
    effect = "rank difference" if isinstance(pairs, RankComparison) else "pseudomedian"
    rows = []
    for k in np.lexsort((pairs.unadjusted_pvalue, pairs.pvalue)).tolist():
        emphasis = "shown" if pairs.rejected[k] else ""
        value = float(pairs.effect[k])
        cells = [Cell(format_number(value), repr(value), (), emphasis), _p(float(pairs.pvalue[k]), emphasis)]
        rows.append(TableRow(" - ".join(str(pairs.names[place]) for place in pairs.pairs[k]), cells))
    adjusted = "" if pairs.correction == "none" else f" (adjusted: {pairs.correction})"
    return Table("pairs", "Pairs", ["Algorithms", effect, f"p{adjusted}"], rows)


def _p(pvalue: float, emphasis: str = "") -> Cell:
    if math.isnan(pvalue):
        return Cell("-")
    return Cell(format_pvalue(pvalue), repr(float(pvalue)), (), emphasis)


# Predictions ----------------------------------------------------------------------------------------------------------


def predictions_page(comparison: PredictionsComparison) -> Page:
    """Return what the page of a comparison by predictions shows."""
    facts = {
        "label": f"{printable(comparison.label)}, {comparison.describe_classes()}",
        "intervals": comparison.describe_intervals(),
    }
    names = list(map(str, comparison.pairs.names))
    metrics = list(comparison.models)
    titles = list(map(metric_title, metrics))
    pairs = comparison.intervals.differences
    tables = [
        Table("metrics", "Metrics", ["Model", *titles], _metric_rows(comparison, names, metrics)),
        Table("differences", "Differences of models", ["Models", *titles], difference_rows(pairs, metrics)),
        _mcnemar_table(comparison),
    ]
    rows = f"{comparison.n_rows:,} row{'s' * (comparison.n_rows != 1)}"
    verdict, notes = predictions_verdict(comparison), predictions_cautions(comparison)
    block = Block("", rows, verdict, notes, list(figures(prediction_panels(comparison), "b0")), tables)
    return Page("compare", comparison.data, facts, names, [block], comparison.to_dict())


def predictions_verdict(comparison: PredictionsComparison) -> list[str]:
    """Return sentences on which model is best, and what McNemar's test shows."""
    models = ComparedModels(comparison.values(), comparison.intervals)
    others = [metric for metric in comparison.models if metric != "accuracy"]
    return [
        best_sentence(models, "accuracy"),
        *filter(None, [next_sentence(models, "accuracy", others)]),
        level_sentence(comparison.intervals, comparison.models.confidence_level),
        _mcnemar_sentence(comparison.pairs, MCNEMAR_METHODS[comparison.tests[0].method]),
        *([] if comparison.cochran is None else [comparison.cochran.conclusion]),
    ]


def _mcnemar_sentence(pairs: PairwiseResult, method: str) -> str:
    differ = [
        " and ".join(printable(str(pairs.names[place])) for place in pair)
        for pair, is_rejected in zip(pairs.pairs, pairs.rejected, strict=True)
        if is_rejected
    ]
    many = f" (p adjusted by {CORRECTION.title()} for {len(pairs.pairs)} pairs)" if len(pairs.pairs) > 1 else ""
    found = f"the accuracies of {listed(differ, 3)} differ" if differ else "no accuracies are shown to differ"
    return f"By {method[:1].lower() if method.startswith('The') else method[:1]}{method[1:]}{many} {found}."


def predictions_cautions(comparison: PredictionsComparison) -> list[str]:
    """Return what may mislead."""
    notes = comparison.cautions()
    return notes if comparison.groups is not None else [INDEPENDENT.format(option("groups")), *notes]


def _metric_rows(comparison: PredictionsComparison, names: Sequence[str], metrics: Sequence[str]) -> list[TableRow]:
    best = {
        metric: max((each.value for each in comparison.models[metric].estimates.values()), default=math.nan)
        for metric in metrics
    }
    rows = []
    for place, name in enumerate(names):
        cells = []
        for metric in metrics:
            each = comparison.models[metric].estimates[comparison.pairs.names[place]]
            mark = "best" if each.value == best[metric] else ""
            cells.append(number(float(each.value), each.confidence_interval, mark))
        rows.append(TableRow(name, cells, place))
    return rows


def _mcnemar_table(comparison: PredictionsComparison) -> Table:
    pairs, rows = comparison.pairs, []
    for k, test in enumerate(comparison.tests):
        emphasis = "shown" if pairs.rejected[k] else ""
        odds = Cell("-") if test.effect is None or math.isnan(test.effect) else number(test.effect)
        odds = odds._replace(notes=_ratio_ends(test.confidence_interval))
        cells = [count(int(test.table[0, 1])), count(int(test.table[1, 0])), odds, _p(float(pairs.pvalue[k]), emphasis)]
        rows.append(TableRow(", ".join(str(pairs.names[place]) for place in pairs.pairs[k]), cells))
    adjusted = f" (adjusted: {CORRECTION})" if len(rows) > 1 else ""
    title = f"{MCNEMAR_METHODS[comparison.tests[0].method]}: rows that one of two models gets right"
    return Table("mcnemar", title, ["Models", "first alone", "second alone", "odds ratio", f"p{adjusted}"], rows)


def _ratio_ends(interval: Interval | None) -> tuple[str, ...]:
    if interval is None or math.isnan(interval.low):
        return ()
    return (f"{interval.low:.4g} to {interval.high:.4g}",)
