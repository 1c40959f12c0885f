"""A comparison of algorithms by their results on data sets: its JSON, its rows and its document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from fastevals._naming import OPTION_NAMES
from fastevals._text import MOST_PAIRS, format_label, format_number, format_pvalue, more_pairs, printable, shorten_names
from fastevals._validation.wide_tables import is_unnamed
from fastevals.document.document import (
    GAP,
    PAGE,
    RICH,
    TEXT,
    Document,
    Fact,
    Figures,
    Later,
    Number,
    Part,
    PValue,
    Row,
    Section,
    Sentence,
    Table,
)
from fastevals.document.frames import Columns, make_columns, stack
from fastevals.document.references import REFERENCES, write_bibtex
from fastevals.document.result import Result
from fastevals.infer.learners.table import make_table
from fastevals.infer.significance.pairwise import PairwiseResult, pairs_by_pvalue
from fastevals.infer.significance.rank_comparisons import RankComparison
from fastevals.results import SignificanceResult, as_json
from fastevals.show.compare.blocks import ComparisonOptions, ResultsBlock, block_cautions
from fastevals.show.compare.paragraph import Paragraph, write_paragraph
from fastevals.show.compare.pictures import results_panels
from fastevals.show.compare.verdict import results_verdict
from fastevals.show.output import BlockPictures
from fastevals.show.pictures import CAPTIONS, names_of
from fastevals.show.report.notes import title_of
from fastevals.show.schema import json_head

MOST_PARAGRAPHS = 20  # blocks whose paragraphs pages have; JSON has all
MOST_NAMED = 12  # columns in the head
LONGEST_NAME = 45  # characters of an algorithm's name, so that a line has 120 at most


@dataclass(frozen=True, slots=True, repr=False)
class ResultsComparison(Result):
    """A comparison of algorithms by their results, which prints itself as text.

    Attributes
    ----------
    options : ComparisonOptions
        The given options; `posthoc` is the test that was made.
    blocks : tuple of ResultsBlock
        One block for each value of the --by column; a single block without --by.
    data : str
        Name of the data.
    others : tuple of str
        Columns that were not compared.
    cautions : tuple of str
        Cautions on columns that may not be results.
    """

    options: ComparisonOptions
    blocks: tuple[ResultsBlock, ...]
    data: str
    others: tuple[str, ...] = ()
    cautions: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as strict JSON: NaN becomes None; infinite values become "Infinity" or "-Infinity"."""
        values: dict[str, Any] = {**json_head(), "data": self.data, "compared": "results"}
        options = {name: value for name, value in self.options._asdict().items() if name != "bibtex"}  # of the text
        values |= {OPTION_NAMES.get(name, name): value for name, value in options.items()}
        values |= {"algorithms": self.blocks[0].friedman.names, "others": self.others, "cautions": self.cautions}
        values["blocks"] = [
            {
                "value": block.value,
                "n_datasets": block.friedman.n_datasets,
                "mean_ranks": dict(zip(block.friedman.names, block.friedman.mean_ranks.tolist(), strict=True)),
                "means": dict(zip(block.friedman.names, block.means.tolist(), strict=True)),
                "friedman": None if block.two_tests or block.of_splits else block.friedman.to_dict(),
                "pairs": None if block.pairs is None else block.pairs.to_dict(),
                "groups": _groups(block.pairs),
                "wilcoxon": block.two_tests[0].to_dict() if block.two_tests else None,
                "sign": block.two_tests[1].to_dict() if block.two_tests else None,
                "paragraph": paragraph.text,
                "cited": list(paragraph.cited),
            }
            for block, paragraph in zip(self.blocks, self._paragraphs(), strict=True)
        ]
        return {name: as_json(value) for name, value in values.items()}

    def _paragraphs(self) -> list[Paragraph]:
        return [write_paragraph(block, self.options.confidence_level) for block in self.blocks]

    def to_paragraph(self) -> str:
        """Return the paragraph that a paper would have: the tests and why these, numbers and citations.

        A comparison by the values of a column has one paragraph for each value.
        """
        return "\n\n".join(each.text for each in self._paragraphs()) + "\n"

    def to_bibtex(self) -> str:
        """Return the works that the paragraph cites as BibTeX entries."""
        return write_bibtex(key for each in self._paragraphs() for key in each.cited)

    def _columns(self) -> Columns:
        """Return a row for each algorithm of each block."""
        return stack(
            (
                {"by": block.value},
                make_columns(
                    {"algorithm": block.friedman.names, "mean": block.means, "mean_rank": block.friedman.mean_ranks}
                ),
            )
            for block in self.blocks
        )

    def _document(self) -> Document:
        first, options = self.blocks[0].friedman, self.options
        better = "higher" if options.higher_is_better else "lower"
        n = sum(block.friedman.n_datasets for block in self.blocks)
        size = self.blocks[0].size if len(self.blocks) == 1 else _count_datasets(n)
        head = [Sentence(f"{size}, {len(first.names)} algorithms, {better} is better", "line")]
        if not options.algorithm:
            beside = [
                f"{name or 'the unnamed column'} (names of rows)" if is_unnamed(name) else name for name in self.others
            ]
            others = f"; not used: {list_names(beside)}" if beside else ""
            head.append(Sentence(f"columns compared: {list_names(first.names)}{others}"))
        facts = {
            "algorithms": ", ".join(printable(str(name)) for name in first.names),
            "better": better,
            "level": f"{1 - options.confidence_level:.6g}",
            "other columns": ", ".join(map(printable, self.others)),
            "control": "" if options.control is None else printable(options.control),
        }
        return Document(
            "compare",
            title_of(self.data, first.names),
            [Fact(name, text, RICH) for name, text in facts.items() if text],
            [*(_section(self, block) for block in self.blocks), *self._paper_sections()],
            [*head, *(Sentence(caution, "caution") for caution in self.cautions)],
            numbers=self.to_dict,
        )

    def _paper_sections(self) -> Iterator[Section]:
        """Yield a section with the paragraph of each block, for the first few blocks on pages, and the works cited."""
        is_alone = len(self.blocks) == 1
        for block in self.blocks[:MOST_PARAGRAPHS]:
            heading = "For a paper" + ("" if is_alone else f": {format_label(block.value)}")
            parts = Later(partial(self._paper, block), () if is_alone else RICH)
            yield Section([parts], heading, is_block=False)

    def _paper(self, block: ResultsBlock) -> Iterator[Part]:
        paragraph = write_paragraph(block, self.options.confidence_level)
        yield Sentence("for a paper:", "line", TEXT)
        yield Sentence(paragraph.text)
        works = "; ".join(REFERENCES[key].text() for key in paragraph.cited)
        yield Sentence(f"References: {works}", only=RICH)
        if self.options.bibtex:
            yield GAP
            for line in write_bibtex(paragraph.cited).splitlines():
                yield Sentence(line, "line", TEXT) if line else GAP

    def pictures(self) -> BlockPictures:
        """Return the pictures for `--out`."""
        values = [block.value for block in self.blocks]
        by = self.options.by
        segments = [] if by is None else [((by,), value) for value in values]
        return BlockPictures(
            names_of("compare"), by, segments, lambda k: results_panels(self.blocks[k], is_alone=by is None)
        )


def _groups(pairs: PairwiseResult | None) -> list[list[Any]] | None:
    """Return the sets of algorithms without a significant difference; None unless ranks of all pairs are compared."""
    if not isinstance(pairs, RankComparison) or pairs.control is not None:
        return None
    return [[pairs.names[place] for place in group] for group in pairs.groups()]


def list_names(names: Iterable[Any]) -> str:
    """Join names of columns by commas; if there are more than `MOST_NAMED`, list the first ones and say how many."""
    shown = [printable(str(name)) for name in names]
    more = f", ... ({len(shown)} in all)" if len(shown) > MOST_NAMED else ""
    return ", ".join(shown[:MOST_NAMED]) + more


def _count_datasets(n: int) -> str:
    return f"{n} data set{'s' * (n != 1)}"


# The document ---------------------------------------------------------------------------------------------------------


def _section(comparison: ResultsComparison, block: ResultsBlock) -> Section:
    by, size, heading = comparison.options.by, block.size, ""
    parts: list[Part] = []
    if by is not None:
        heading = f"{printable(by)} {format_label(block.value)}"
        parts.append(Sentence(f"{printable(by)} = {format_label(block.value)}: {size}", only=TEXT))
    verdict = results_verdict(block, higher_is_better=comparison.options.higher_is_better)
    parts += [*(Sentence(each, "verdict") for each in verdict), GAP]
    parts += [Sentence(caution, "caution", PAGE) for caution in comparison.cautions]
    names = dict(zip(block.friedman.names, shorten_names(block.friedman.names, LONGEST_NAME), strict=True))
    parts += [_rank_table(block, names), GAP]
    if not block.of_splits:
        parts += [Sentence(_test_sentence(block, names), only=TEXT), _test_table(block)]
    if block.pairs is not None:
        parts += [GAP, *_pair_parts(block.pairs, names, block.of_splits or block.friedman.rejected)]
    for group in _groups(block.pairs) or []:
        parts.append(Sentence(f"no significant difference among {', '.join(names[name] for name in group)}", only=TEXT))
    parts += [Sentence(caution, "caution") for caution in block_cautions(block)]
    parts.append(Later(lambda: (part._replace(only=RICH) for part in _learner_table(block)), RICH))
    return Section(
        [*parts, Figures(lambda: results_panels(block, is_alone=len(comparison.blocks) == 1), CAPTIONS)], heading, size
    )


def _learner_table(block: ResultsBlock) -> Iterator[Table]:
    """Yield the results by data set."""
    parts = make_table(block.results)._parts()
    yield from (part for part in parts if isinstance(part, Table))


def _rank_table(block: ResultsBlock, names: Mapping[Any, str]) -> Table:
    def rows() -> Iterator[Row]:
        friedman = block.friedman
        for k in np.argsort(friedman.mean_ranks, kind="stable").tolist():
            name = friedman.names[k]
            cells = [Number(float(friedman.mean_ranks[k])), Number(float(block.means[k]))]
            yield Row(str(name), cells[1:] if block.of_splits else cells, short=names[name])

    columns, heads = ["Algorithm", "mean rank (1 is best)", "mean"], ["algorithm", "mean rank", "mean"]
    if block.of_splits:  # ranks on splits, which are not independent, say little
        return Table("ranks", "Means", [columns[0], "mean"], rows, heads=[heads[0], "mean"])
    return Table("ranks", "Mean ranks", columns, rows, heads=heads)


def _test_sentence(block: ResultsBlock, names: Mapping[Any, str]) -> str:
    """Return the statistics of the first tests, as the text gives them."""
    friedman = block.friedman
    n, k = friedman.n_datasets, len(friedman.names)
    if block.two_tests is None:
        return (
            f"Friedman's test: F({k - 1}, {(k - 1) * (n - 1)}) = {format_number(friedman.f_statistic)}, "
            f"p {format_pvalue(friedman.pvalue)}; chi-square({k - 1}) = {format_number(friedman.chi_square)}, "
            f"Kendall's W = {format_number(friedman.effect or 0.0)}"
        )
    wilcoxon, sign = block.two_tests
    one, other = (names[name] for name in block.order)
    differ = int(sign.null.parameters[0]) if sign.null else 0
    higher = round(sign.statistic)
    return (
        f"{wilcoxon.test}: W+ = {format_number(wilcoxon.statistic)}, p {format_pvalue(wilcoxon.pvalue)}; pseudomedian "
        f"of {one} minus {other} {format_number(wilcoxon.effect or 0.0)}; {one} is higher on {higher}, {other} on "
        f"{differ - higher} of {block.size}"
    )


def _test_table(block: ResultsBlock) -> Table:
    tests: Sequence[SignificanceResult] = block.two_tests or (block.friedman,)
    names = [f"{test.test[:1].upper()}{test.test[1:]}" for test in tests]
    rows = [Row(name, [Number(test.statistic), PValue(test.pvalue)]) for name, test in zip(names, tests, strict=True)]
    return Table("tests", "Tests", ["Test", "statistic", "p"], rows, only=RICH)


def _pair_parts(pairs: PairwiseResult, names: Mapping[Any, str], first_rejected: bool) -> list[Part]:
    critical = getattr(pairs, "critical_difference", np.nan)
    title = f"{pairs.test[0].upper()}{pairs.test[1:]}"
    title += "" if np.isnan(critical) else f": critical difference {critical:.4f}"
    title += "" if pairs.correction == "none" else f" (p adjusted: {pairs.correction})"
    legend = f"* significant difference at level {pairs.alpha:g}"
    if not first_rejected:
        legend = "no pair differs significantly, whatever its p, because Friedman's test is not significant"
    return [Sentence(title, only=TEXT), _pair_table(pairs, names), Sentence(legend, "line", TEXT)]


def _pair_table(pairs: PairwiseResult, names: Mapping[Any, str]) -> Table:
    def rows() -> Iterator[Row]:
        for k in pairs_by_pvalue(pairs):
            one, other = (pairs.names[place] for place in pairs.pairs[k])
            emphasis = "shown" if pairs.rejected[k] else ""
            effect, p = Number(float(pairs.effect[k]), None, emphasis), PValue(float(pairs.pvalue[k]), emphasis)
            yield Row(f"{one} - {other}", [effect, p], short=f"{names[one]} - {names[other]}")

    what = "rank difference" if isinstance(pairs, RankComparison) else "pseudomedian"
    what = "mean difference" if pairs.what.startswith("difference in means") else what
    adjusted = "" if pairs.correction == "none" else f" (adjusted: {pairs.correction})"
    columns, heads = ["Algorithms", what, f"p{adjusted}"], ["", what, "p"]
    return Table(
        "pairs",
        "Pairs",
        columns,
        rows,
        n_shown=MOST_PAIRS,
        more=more_pairs(len(pairs.pairs)),
        heads=heads,
        starred=True,
    )
