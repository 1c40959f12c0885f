"""The paragraph that a paper would have on a comparison of learners: tests, why these, numbers and citations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from fastevals._text import count_of, format_ends, format_number, printable
from fastevals.document.references import cite
from fastevals.infer.learners.ranks import head_to_head
from fastevals.infer.learners.results import KEPT_MISSING
from fastevals.infer.significance.pairwise import OF_RANGE, MeasuredPairs, PairwiseResult, pairs_by_pvalue
from fastevals.infer.significance.rank_comparisons import RankComparison
from fastevals.results import SignificanceResult
from fastevals.show.compare.blocks import ResultsBlock
from fastevals.show.verdict import listed, pvalue_text

NUMBERS = ("No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten", "Eleven", "Twelve")
RANKS_NAMED = 12  # learners whose mean ranks are listed
PAIRS_NAMED = 6  # pairs whose numbers are given
CORRECTIONS = {  # how p-values are adjusted, and the work that says how
    "holm": ("Holm's procedure", "holm1979"), "hochberg": ("Hochberg's procedure", "hochberg1988"),
    "shaffer": ("Shaffer's static procedure", "shaffer1986"), "finner": ("Finner's procedure", "finner1993"),
    "benjamini-hochberg": ("the procedure of Benjamini and Hochberg", "benjamini1995"),
    "bonferroni": ("Bonferroni's correction", "dunn1961"),
}  # fmt: skip


class Paragraph(NamedTuple):
    """Sentences, and the keys of the works that they cite."""

    text: str
    cited: tuple[str, ...]


class _Writer:
    """Collects sentences and the works that they cite."""

    def __init__(self) -> None:
        self.sentences: list[str] = []
        self.keys: list[str] = []

    def cite(self, *keys: str) -> str:
        """Return a citation, and keep its keys."""
        self.keys += keys
        return cite(*keys)

    def add(self, sentence: str) -> None:
        """Add a sentence that ends in a full stop."""
        self.sentences.append(sentence)


def write_paragraph(block: ResultsBlock, confidence_level: float) -> Paragraph:
    """Return the paragraph on a block of results."""
    writer = _Writer()
    _describe_data(writer, block)
    if block.of_splits:
        _describe_split_tests(writer, block)
    elif block.two_tests is not None:
        _describe_two(writer, block, block.two_tests)
    else:
        _describe_friedman(writer, block)
        if block.pairs is not None:
            _describe_rank_tests(writer, block, block.pairs)
    if not math.isnan(block.friedman.pvalue):
        _describe_level(writer, block, 1 - confidence_level)
    return Paragraph(" ".join(writer.sentences), tuple(dict.fromkeys(writer.keys)))


def _describe_level(writer: _Writer, block: ResultsBlock, alpha: float) -> None:
    pairs = block.pairs
    level = f"The level is {alpha:.6g}"
    if pairs is not None and len(pairs) > 1 and (block.of_splits or block.friedman.rejected):
        rate = "the false discovery rate" if pairs.correction == "benjamini-hochberg" else "all pairs jointly"
        level += f", for {rate}" + (" if no learners differ" if pairs.correction == "finner" else "")
    if block.two_tests is not None or block.of_splits or block.friedman.rejected:
        level += "; tests of pairs are two-sided"
    writer.add(f"{level}. Tests were computed with fastevals.")


# Parts ----------------------------------------------------------------------------------------------------------------


def _describe_data(writer: _Writer, block: ResultsBlock) -> None:
    results, n = block.results, block.friedman.n_datasets
    names = [printable(str(name)) for name in block.friedman.names]
    better = "higher" if block.higher_is_better else "lower"
    metric = results.metric.replace("_", " ") if results.metric else "their results"
    by, n_splits = f"{metric} ({better} is better)", results.values.shape[2] * results.values.shape[3]
    who = f"Two learners, {names[0]} and {names[1]}," if len(names) == 2 else f"{_counted(len(names))} learners"
    splits = _splits_text(*results.values.shape[2:])
    if block.of_splits:
        where = f"on one data set by {by} on {splits}"
    else:
        where = f"on {block.size} by {by}" + (f", averaged over {splits} of each" if n_splits > 1 else "")
    writer.add(f"{who} were compared {where}.")
    if block.are_splits:
        writer.add("The tests treat the splits as independent; because splits share rows, they reject too often.")
    left_out = 0 if block.of_splits else len(results.datasets) - n
    for note in results.notes:
        if "missing" in note:
            writer.add(note.replace(KEPT_MISSING, ".") if left_out else note)
    if left_out:
        writer.add(f"Data sets without a result of every learner were left out ({left_out} of {n + left_out}).")
    means = dict(zip(names, block.means.tolist(), strict=True))
    if len(names) == 2:
        writer.add(f"The means are {_listed([f'{format_number(mean)} for {name}' for name, mean in means.items()])}.")
        return
    best = (max if block.higher_is_better else min)(means.values())
    who = _listed([name for name, mean in means.items() if mean == best][:RANKS_NAMED])
    writer.add(f"The best mean is {format_number(best)}, of {who}.")


def _counted(n: int) -> str:
    """Return a number as it opens a sentence."""
    return NUMBERS[n] if n < len(NUMBERS) else str(n)


def _splits_text(repeats: int, folds: int) -> str:
    return f"{repeats} x {folds} splits" if repeats > 1 else count_of(folds, "split")


def _describe_friedman(writer: _Writer, block: ResultsBlock) -> None:
    friedman = block.friedman
    n, k = friedman.n_datasets, len(friedman.names)
    test = f"Friedman's test with the F statistic of Iman and Davenport {writer.cite('friedman1937', 'iman1980')}"
    if math.isnan(friedman.pvalue):
        writer.add(f"{test} is undefined for {count_of(n, 'data set')}, so no test was made.")
        return
    value = f"F({k - 1}, {(k - 1) * (n - 1)}) = {friedman.f_statistic:.2f}"
    if math.isinf(friedman.f_statistic):
        value = f"F is infinite because all {'splits' if block.are_splits else 'data sets'} rank the learners alike"
    finds = "finds that mean ranks differ" if friedman.rejected else "finds no significant difference in mean rank"
    numbers = f"{value}, {pvalue_text(friedman.pvalue)}, Kendall's W = {friedman.effect or 0.0:.2f}"
    writer.add(f"{test}{_reason(writer, block, 'several learners')} {finds} ({numbers}).")
    ranks = sorted(zip(friedman.mean_ranks.tolist(), map(str, friedman.names), strict=True), key=lambda pair: pair[0])
    shown = [f"{printable(name)} {rank:.2f}" for rank, name in ranks]
    if len(shown) <= RANKS_NAMED:
        writer.add(f"The mean ranks, 1 being the best, are {_listed(shown)}.")
    else:
        writer.add(
            f"The best mean ranks, 1 being the best, are {_listed(shown[:RANKS_NAMED])}; the last is {shown[-1]}."
        )


def _describe_rank_tests(writer: _Writer, block: ResultsBlock, pairs: PairwiseResult) -> None:
    if not block.friedman.rejected:
        writer.add(
            "Because Friedman's test is not significant, no pair was declared different; this is no evidence that the "
            "learners are equally good."
        )
        return
    control = block.order[-1] if _has_control(pairs) else None
    whom = "All pairs were" if control is None else f"Each other learner was compared with {printable(str(control))}"
    whom += " then compared by" if control is None else " by"
    if pairs.correction == OF_RANGE:
        how = f"Nemenyi's test {writer.cite('nemenyi1963')}"
    elif isinstance(pairs, RankComparison):
        how = f"the z-test of mean ranks {writer.cite('demsar2006')}, {_adjusted(writer, pairs)}"
    else:
        how = (
            f"Wilcoxon's signed-rank test {writer.cite('wilcoxon1945')}, which judges a pair by its own results and "
            f"not by those of other learners {writer.cite('benavoli2016')}, {_adjusted(writer, pairs)}"
        )
    critical = getattr(pairs, "critical_difference", math.nan)
    limit = "" if math.isnan(critical) else f"; the critical difference of mean ranks is {critical:.3f}"
    writer.add(f"{whom} {how}{limit}.")
    _describe_pairs(writer, block, pairs)


def _describe_split_tests(writer: _Writer, block: ResultsBlock) -> None:
    pairs = block.pairs
    assert pairs is not None
    several = f", {_adjusted(writer, pairs)}" if len(pairs) > 1 else ""
    whom = f"pairs with {printable(str(block.order[-1]))}" if _has_control(pairs) else "pairs"
    whom = whom if len(pairs) > 1 else "the two"
    repeated = block.results is not None and block.results.values.shape[2] > 1
    counted = ", in its conservative form, which counts repetitions as one" if repeated else ""
    writer.add(
        f"Splits of one data set share rows, so their results are not independent; {whom} were compared by the "
        f"corrected resampled t-test, which allows for this {writer.cite('nadeau2003')}{counted}{several}."
    )
    _describe_pairs(writer, block, pairs)


def _adjusted(writer: _Writer, pairs: PairwiseResult) -> str:
    how, key = CORRECTIONS[pairs.correction]
    return f"with p-values adjusted for {count_of(len(pairs), 'pair')} by {how} {writer.cite(key)}"


def _has_control(pairs: PairwiseResult) -> bool:
    n = len(pairs.names)
    return n > 2 and len(pairs) < n * (n - 1) // 2


def _describe_pairs(writer: _Writer, block: ResultsBlock, pairs: PairwiseResult) -> None:
    """Say which pairs differ significantly, with their numbers, and how many don't."""
    order = [k for k in pairs_by_pvalue(pairs) if pairs.rejected[k]]
    n, n_rejected = len(pairs), len(order)
    same = n - n_rejected - int(np.isnan(pairs.pvalue).sum())
    if order:
        more = "" if n_rejected <= PAIRS_NAMED else f", among them the {PAIRS_NAMED} with the smallest p"
        claims = [_claim(block, pairs, k) for k in order[:PAIRS_NAMED]]
        count = f"Of {n} pairs, {n_rejected} {'differs' if n_rejected == 1 else 'differ'}"
        if n == n_rejected:
            count = "The pair differs" if n == 1 else f"All {n} pairs differ"
        writer.add(f"{count} significantly{more}: {'; '.join(claims)}.")
        if isinstance(pairs, MeasuredPairs):
            unadjusted = " and not adjusted for the number of pairs" if n > 1 else ""
            writer.add(
                f"Intervals are for the mean difference{unadjusted}; r is the matched-pairs rank-biserial correlation "
                f"in favour of the better learner {writer.cite('kerby2014')}."
            )
    if same:
        none = f"None of the {n} pairs differs" if n > 1 else "They do not differ"
        others = f"The other {same} pairs do not differ" if same > 1 else "The other pair does not differ"
        which = others if same < n else none
        writer.add(f"{which} significantly, which is no evidence that the learners are equally good.")
    if undefined := int(np.isnan(pairs.pvalue).sum()):
        writer.add(f"The test is undefined for {count_of(undefined, 'pair')}.")


def _claim(block: ResultsBlock, pairs: PairwiseResult, k: int) -> str:
    """Return which learner of a pair is better, with the numbers of the pair."""
    places = pairs.pairs[k].tolist()
    lower_is_better = isinstance(pairs, RankComparison) or not block.higher_is_better
    sign = 1 if (pairs.effect[k] < 0) == lower_is_better else -1  # whether the first is better
    better, worse = places[::sign]
    found = head_to_head(block.rows[:, [better, worse]], block.higher_is_better)
    counts = f"wins/ties/losses {found.wins[0, 1]}/{found.ties[0, 1]}/{found.wins[1, 0]}"
    if isinstance(pairs, MeasuredPairs):
        effects = pairs.effects
        ends = [sign * float(end[k]) for end in effects.mean_interval][::sign]
        level = f"{100 * (1 - pairs.alpha):.6g} % interval"
        toward = sign * (1 if block.higher_is_better else -1)
        r = toward * float(effects.rank_biserial[k])
        numbers = (
            f"mean difference {format_number(sign * float(effects.mean_difference[k]))}, {level} "
            f"{' to '.join(format_ends((ends[0], ends[1])))}, {counts}, r = {r:.2f}"
        )
    else:
        numbers = f"difference in mean rank {abs(float(pairs.effect[k])):.2f}, {counts}"
    names = [printable(str(pairs.names[place])) for place in (better, worse)]
    return f"{names[0]} is better than {names[1]} ({numbers}, {pvalue_text(float(pairs.pvalue[k]))})"


def _describe_two(writer: _Writer, block: ResultsBlock, tests: tuple[SignificanceResult, SignificanceResult]) -> None:
    wilcoxon, sign = tests
    one, other = (printable(str(name)) for name in block.order)
    test = f"Wilcoxon's signed-rank test {writer.cite('wilcoxon1945')}{_reason(writer, block, 'two learners')}"
    if math.isnan(wilcoxon.pvalue):
        writer.add(f"{test} is undefined.")
        return
    if wilcoxon.rejected:
        first_better = ((wilcoxon.effect or 0.0) > 0) == block.higher_is_better
        finds = f"finds that {one if first_better else other} is better than {other if first_better else one}"
    else:
        finds = "finds no significant difference, which is no evidence that the two are equally good"
    interval = wilcoxon.confidence_interval
    between = ""
    if interval is not None and all(map(math.isfinite, interval)):
        between = (
            f", {100 * (1 - wilcoxon.alpha):.6g} % interval {' to '.join(format_ends((interval[0], interval[1])))}"
        )
    writer.add(
        f"{test} {finds} (W+ = {wilcoxon.statistic:g}, {pvalue_text(wilcoxon.pvalue)}; pseudomedian of {one} minus "
        f"{other} {format_number(wilcoxon.effect or 0.0)}{between})."
    )
    places = [block.friedman.names.index(name) for name in block.order]
    found = head_to_head(block.rows[:, places], block.higher_is_better)
    wins, ties, losses = int(found.wins[0, 1]), int(found.ties[0, 1]), int(found.wins[1, 0])
    writer.add(
        f"Of {block.size}, {one} is better on {wins}, {other} on {losses}, and "
        f"they tie on {ties} (sign test, {pvalue_text(sign.pvalue)})."
    )


def _reason(writer: _Writer, block: ResultsBlock, learners: str) -> str:
    """Return why a test was chosen, between commas."""
    if block.are_splits:
        return ""
    return f", as recommended for {learners} on several data sets {writer.cite('demsar2006')},"


def _listed(texts: Sequence[Any]) -> str:
    return listed([str(text) for text in texts], len(texts))
