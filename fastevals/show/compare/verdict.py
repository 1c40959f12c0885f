"""The verdict on results on data sets: which algorithms are significantly better than which."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastevals._text import format_number, printable
from fastevals.infer.significance.pairwise import PairwiseResult
from fastevals.infer.significance.rank_comparisons import RankComparison
from fastevals.results import SignificanceResult
from fastevals.show.compare.blocks import ResultsBlock
from fastevals.show.verdict import listed, pvalue_text


def results_verdict(block: ResultsBlock, *, higher_is_better: bool) -> list[str]:
    """Return sentences on which algorithms are significantly better than which."""
    if block.two_tests is not None:
        return _two_sentences(block, block.two_tests, higher_is_better)
    friedman, pairs = block.friedman, block.pairs
    if pairs is not None and block.of_splits:
        return _splits_sentences(block, pairs)
    if pairs is None or not friedman.rejected:
        return [friedman.conclusion]
    ranks = dict(zip(friedman.names, friedman.mean_ranks.tolist(), strict=True))
    control = _control(block)
    subject = min(ranks, key=ranks.__getitem__) if control is None else control
    rank = f"{'the best' if control is None else 'a'} mean rank of {ranks[subject]:.2f}"
    values = {name: f"{each:.2f}" for name, each in ranks.items()}
    return [_subject_sentence(pairs, subject, rank, values, higher_is_better), pairs.conclusion, friedman.conclusion]


def _splits_sentences(block: ResultsBlock, pairs: PairwiseResult) -> list[str]:
    """Return sentences on learners that were compared by the splits of one data set."""
    means, control = dict(zip(block.friedman.names, block.means.tolist(), strict=True)), _control(block)
    best = (max if block.higher_is_better else min)(means, key=means.__getitem__)
    subject = best if control is None else control
    mean = f"{'the best' if control is None else 'a'} mean of {format_number(means[subject])}"
    values = {name: format_number(each) for name, each in means.items()}
    return [_subject_sentence(pairs, subject, mean, values, block.higher_is_better), pairs.conclusion]


def _subject_sentence(
    pairs: PairwiseResult, subject: Any, has: str, values: Mapping[Any, str], higher_is_better: bool
) -> str:
    """Say what an algorithm has, which others it is significantly better or worse than, and from which it isn't."""
    found = _sorted_by(pairs, subject, higher_is_better)
    better, worse, same = ([f"{printable(str(name))} ({values[name]})" for name in names] for names in found)
    said = [f"better than {listed(better)}"] if better else []
    said += [f"worse than {listed(worse)}"] if worse else []
    sentence = f"{printable(str(subject))} has {has}" + (f" and is significantly {' and '.join(said)}" if said else "")
    return sentence + (f"; no significant difference from {listed(same)}." if same else ".")


def _control(block: ResultsBlock) -> Any:
    """Return the algorithm that all others are compared with; None if all pairs are compared."""
    if block.pairs is None:
        return None
    n, pairs = len(block.pairs.names), block.pairs.pairs
    if len(pairs) == n * (n - 1) // 2 and n > 2:
        return None
    return block.order[-1]


def _sorted_by(pairs: PairwiseResult, subject: Any, higher_is_better: bool) -> tuple[list[Any], list[Any], list[Any]]:
    """Return the algorithms that are significantly worse than `subject`, those significantly better, and the others."""
    greater_wins = higher_is_better and not isinstance(pairs, RankComparison)  # a smaller rank is better
    found: tuple[list[Any], list[Any], list[Any]] = [], [], []
    for (i, j), effect, is_rejected in zip(pairs.pairs.tolist(), pairs.effect, pairs.rejected, strict=True):
        one, other = pairs.names[i], pairs.names[j]
        if subject not in (one, other):
            continue
        first_wins = (effect > 0) == greater_wins
        wins = first_wins == (one == subject)
        place = 2 if not is_rejected else 0 if wins else 1
        found[place].append(other if one == subject else one)
    return found


def _two_sentences(
    block: ResultsBlock, tests: tuple[SignificanceResult, SignificanceResult], higher_is_better: bool
) -> list[str]:
    wilcoxon, sign = tests
    said = []
    if wilcoxon.rejected:
        names = [printable(str(name)) for name in block.order]
        better, worse = names if ((wilcoxon.effect or 0.0) > 0) == higher_is_better else reversed(names)
        said.append(f"{better} is significantly better than {worse}.")
    return [
        *said,
        wilcoxon.conclusion,
        f"{sign.test[0].upper()}{sign.test[1:]} ignores sizes: {pvalue_text(sign.pvalue)}.",
    ]
