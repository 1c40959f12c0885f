"""What a comparison by results comes to, in sentences: which algorithms are shown to be better than which."""

from __future__ import annotations

import math
from typing import Any

from fastevals._text import format_pvalue, printable
from fastevals.infer.significance.pairwise import PairwiseResult
from fastevals.infer.significance.rank_comparisons import RankComparison
from fastevals.results import SignificanceResult
from fastevals.show.compare.blocks import ResultsBlock
from fastevals.show.verdict import listed


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
