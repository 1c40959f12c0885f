"""Every result in every format: text, page, Markdown, LaTeX, JSON, and files of these."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastevals
from fastevals._text import format_column, format_number
from fastevals.document.document import (
    BAR,
    GAP,
    PAGE,
    RICH,
    TEXT,
    Count,
    DifferenceCell,
    Document,
    Fact,
    Figures,
    Number,
    Only,
    PValue,
    Range,
    Row,
    Section,
    Sentence,
    Table,
)
from fastevals.document.frames import format_cells
from fastevals.document.latex import write_latex
from fastevals.document.markdown import write_markdown
from fastevals.document.page.page import write_page
from fastevals.document.text import write_text
from fastevals.results import Interval
from fastevals.show.cli import main
from fastevals.show.verdict import with_interval
from tests.document.test_frames import NAMES, REPORTS, made
from tests.test_results import MAKE

HOSTILE = ["a|b", "new\nline", '100 % & _x_ $1 #2 {a} \\b ~c ^d [e] <f> `g` *h* "i" --']


def table(name: str = "m", interval: Any = (0.8, 0.95), **options: Any) -> Table:
    cells = [Number(0.9123, interval, "best"), BAR, "0.5", Count(1200), PValue(1e-12), Range(0.1, 0.25)]
    columns = ["Model", "AUC", BAR, "threshold", "rows", "p", "priors"]
    return Table("metrics", "Metrics", columns, lambda: [Row(name, cells)], **options)


def document(*parts: Any, **options: Any) -> Document:
    return Document("report", "data.csv", sections=[Section(parts)], **options)


# Numbers --------------------------------------------------------------------------------------------------------------


def test_zero_has_no_sign():
    assert [format_number(value) for value in (-0.0, -4e-5, -6e-5)] == ["0.0000", "0.0000", "-0.0001"]
    assert format_column([0.02, -1e-9]) == ["0.02000", "0.00000"]


def test_an_interval_excludes_zero_as_written_where_it_does() -> None:
    cell = DifferenceCell(0.0124, Interval(0.00001239, 0.0249), 0.03)
    assert cell.on_page().notes == ("0.0000123 to 0.0249", "p 0.0300")
    assert cell._replace(interval=Interval(-0.0249, -0.00001231)).on_page().notes[0] == "-0.0249 to -0.0000123"
    text = write_text(document(Table("differences", "", ["d", "AUC"], [Row("a - b", [cell])])))
    assert re.findall(r"[\d.]+$", text, re.MULTILINE) == ["0.0124", "0.0000123", "0.0249", "0.0300"]
    assert with_interval(0.0124, Interval(0.00001239, 0.0249), 0.95) == "0.0124 (95 % interval 0.0000123 to 0.0249)"
    assert with_interval(0.0124, Interval(-0.00001231, 0.1), 0.9) == "0.0124 (90 % interval -0.0000124 to 0.1000)"


# Every result ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_every_result_is_text_with_all_its_numbers(name: str) -> None:
    result = made(name)
    text = result.to_text()
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    has_own_tables = name in REPORTS or name.startswith(
        ("calibration of", "results with", "best of many", "looks", "strengths", "comparison plan")
    )  # whose rows have names in words
    shown = {} if has_own_tables else result._shown_columns()
    for cells in format_cells(shown):
        assert set(" ".join(cells).split()) <= set(re.sub(r"(?<=\d)[*_](?!\S)", " ", text).split())  # without marks


@pytest.mark.parametrize("name", NAMES)
def test_every_result_is_a_page_and_markdown_and_latex_and_json(name: str) -> None:
    result = made(name)
    page, markdown, latex = result.to_html(), result.to_markdown(), result.to_latex()
    assert page.count("<section") == page.count("</section>")
    assert markdown.startswith("## ")
    widths = {line.count(" | ") for line in re.findall(r"^\| .*$", markdown, re.MULTILINE)[:2]}
    assert len(widths) == 1
    assert latex.count(r"\begin{tabular}") == latex.count(r"\end{tabular}") > 0
    assert json.loads(result.to_json()) == json.loads(json.dumps(result.to_dict()))


@pytest.mark.parametrize("name", list(MAKE)[:8])
def test_the_numbers_of_a_result_are_in_markdown_and_latex(name: str) -> None:
    result = made(name)
    cells = [cell for column in format_cells(result._shown_columns()) for cell in column if cell]
    markdown, latex = result.to_markdown().replace("\\", ""), result.to_latex().replace("$-$", "-").replace("\\", "")
    assert all(cell in markdown and cell in latex for cell in cells)


def test_a_test_says_its_conclusion_first() -> None:
    result = fastevals.delong_test([0, 0, 0, 1, 1, 1], [1, 2, 3, 2, 3, 4], [2, 3, 2, 1, 3, 2])
    title, verdict, *_ = result.to_markdown().split("\n\n")
    assert title == "## DeLong's test"
    assert verdict == f"**{result.conclusion}**"
    assert result.conclusion.split("(")[0] in result.to_html()


# Files ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", [".html", ".md", ".json", ".tex", ".txt", ".HTML"])
def test_the_end_of_a_name_says_what_is_saved(end: str, tmp_path: Path) -> None:
    result, file = made("delong's test"), tmp_path / f"page{end}"
    result.save(file)
    forms = {
        ".html": result.to_html(), ".md": result.to_markdown(), ".json": result.to_json(), ".tex": result.to_latex(),
        ".txt": result.to_text(),
    }  # fmt: skip
    assert file.read_text() == forms[end.lower()]
    result.save(str(file))
    assert [each.name for each in tmp_path.iterdir()] == [file.name]


@pytest.mark.parametrize("name", ["page", "page.pdf", "page.html.gz", ".md"])
def test_an_unknown_end_is_an_error_that_lists_those_there_are(name: str, tmp_path: Path) -> None:
    with pytest.raises(
        ValueError, match=r"must be a name that ends with one of \.html, \.md, \.json, \.tex, \.txt, got"
    ):
        made("delong's test").save(tmp_path / name)
    with pytest.raises(ValueError, match=r"path must be a name .* got None"):
        made("delong's test").save(None)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="nowhere") as error:
        made("delong's test").save(tmp_path / "nowhere" / "page.md")
    assert error.value.filename.endswith("page.md")


@pytest.mark.parametrize(
    "command",
    ["compare --by sigma", "bias-variance", "report --resamples 0", "compare {file} --label y --pred a --pred b"],
)
def test_commands_print_markdown(command: str, tmp_path: Path, capsys: Any) -> None:
    file = tmp_path / "predictions.csv"
    file.write_text("y,a,b\n0,0,1\n1,1,1\n0,1,0\n1,1,0\n")
    assert main([*command.format(file=file).split(), "--format", "markdown"]) == 0
    printed, _ = capsys.readouterr()
    assert printed.startswith(f"## fastevals {command.split()[0]}: ")
    assert "\n| --- | --: |" in printed


def test_summarize_prints_markdown(tmp_path: Path, capsys: Any) -> None:
    file = tmp_path / "scores.csv"
    file.write_text("y,s\n0,0.1\n1,0.5\n,0.3\n")
    arguments = [str(file), "--label", "y", "--score", "s", "--out", str(tmp_path / "s.fe"), "--on-missing-label=drop"]
    assert main(["summarize", *arguments, "--format", "markdown"]) == 0
    title, written, dropped = capsys.readouterr()[0].split("\n\n")
    assert title.startswith("## fastevals summarize: ")
    assert "2 rows, 1 positive" in written
    assert dropped.startswith("- dropped 1 row: 1 without")


# Text -----------------------------------------------------------------------------------------------------------------


def test_text_has_intervals_in_rows_below_and_bars_between_columns() -> None:
    columns = ["model", "AUC ", BAR, "threshold", "rows", "p", "priors"]
    text = write_text(document(table(heads=columns, marked=True, ends=(" 95 % from", "to", "p"))))
    assert text.splitlines() == [
        "fastevals report: data.csv",
        "",
        "model         AUC  | threshold rows     p      priors",
        "m          0.9123* |       0.5 1200 <1e-9 0.1 to 0.25",
        " 95 % from 0.8000  |",
        "to         0.9500  |",
    ]


def test_text_of_differences_has_a_row_of_p() -> None:
    rows = [Row("a - b", [DifferenceCell(-0.2, (-0.3, -0.1), 0.004), ""])]
    text = write_text(document(Table("differences", "Differences", ["", "AUC", "F1"], rows)))
    assert text.splitlines()[2:] == [
        "           AUC F1",
        "a - b  -0.2000",
        "  from -0.3000",
        "  to   -0.1000",
        "  p     0.0040",
    ]


def test_gaps_stand_before_what_follows_only() -> None:
    empty = Table("none", "None", ["a", "b"], [])
    text = write_text(document(GAP, Sentence("one"), GAP, empty, GAP, Sentence("two", "note"), empty, GAP))
    assert text.splitlines() == ["fastevals report: data.csv", "", "one", "", "- : two"]


def test_tables_of_one_name_have_columns_of_the_same_widths() -> None:
    parts = [
        Table("t", "", ["", "v"], [Row(name, [Number(value)])], aligned="t")
        for name, value in {"a": 1, "long": 10}.items()
    ]
    text = write_text(document(*parts))
    assert text.splitlines()[2:] == ["           v", "a     1.0000", "           v", "long 10.0000"]


def test_chinese_letters_take_two_columns() -> None:
    rows = [Row("\u6a21\u578b", ["1.0"]), Row("a", ["\u6a21"]), Row("e\u0301b", ["x"])]
    text = write_text(Document("", "names", sections=[Section([Table("t", "", ["", "value"], rows)])]))
    assert text.splitlines()[-3:] == ["\u6a21\u578b   1.0", "a       \u6a21", "e\u0301b       x"]


def test_text_and_markdown_have_the_first_rows_of_many_and_the_page_all() -> None:
    many = Table(
        "t", "Many", ["n", "v"], lambda: (Row(f"row{k}", [Count(k)]) for k in range(30)), n_shown=2, more="28 more"
    )
    made_of = document(many)
    for text in (write_text(made_of), write_markdown(made_of), write_latex(made_of)):
        assert "row1" in text
        assert "row2" not in text
        assert "28 more" in text
    assert "row29" in write_page(made_of)


def test_a_part_is_for_the_renderers_that_it_names() -> None:
    words: dict[str, Only] = {"Both": (), "Texts": TEXT, "Rich": RICH, "Pages": PAGE}
    made_of = document(*(Sentence(word, only=only) for word, only in words.items()))

    def found(written: str) -> list[str]:
        return [word for word in words if word in written]

    assert found(write_text(made_of)) == ["Both", "Texts"]
    assert found(write_markdown(made_of)) == ["Both", "Rich"]
    assert found(write_page(made_of)) == ["Both", "Rich", "Pages"]


def test_rows_and_pictures_are_made_when_they_are_rendered() -> None:
    def never() -> Any:
        raise AssertionError

    made_of = document(table(only=RICH), Figures(never, {}), Table("t", "", ["a"], never, only=PAGE))
    assert write_text(made_of) == "fastevals report: data.csv\n"
    assert "0.9123" in write_markdown(made_of)


# Markdown -------------------------------------------------------------------------------------------------------------


def test_markdown_has_the_verdict_first_then_tables_cautions_and_facts() -> None:
    parts = [
        table(),
        Sentence("few rows", "caution"),
        Sentence("m is best.", "verdict"),
        Sentence("By far.", "verdict"),
    ]
    assert write_markdown(document(*parts, facts=[Fact("label", "y")])).split("\n\n") == [
        "## fastevals report: data.csv",
        "**m is best.** By far.",
        "**Metrics**",
        "| Model | AUC | threshold | rows | p | priors |\n"
        "| --- | --: | --: | --: | --: | --: |\n"
        "| m | **0.9123** (0.8000 to 0.9500) | 0.5 | 1,200 | &lt;1e-9 | 0.1 to 0.25 |",
        "- few rows",
        "<details><summary>How this was made</summary>",
        "- label: y",
        "</details>\n",
    ]


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_words_in_markdown(name: str) -> None:
    row = next(line for line in write_markdown(document(table(name))).splitlines() if "0.9123" in line)
    assert len(re.findall(r"(?<!\\)\|", row)) == 7
    assert not re.search(r"(?<!\\)[*`\[\]$<>](?!\*?0\.9|\* \()", row.replace("**", ""))


@pytest.mark.parametrize("start", ["# a", "- a", "1. a", "+ a", "=== a"])
def test_a_sentence_starts_no_heading_or_list(start: str) -> None:
    paragraph = write_markdown(document(Sentence(start))).split("\n\n")[1]
    assert re.match(r"\d*\\[-#.+=]", paragraph)


# LaTeX ----------------------------------------------------------------------------------------------------------------


def test_latex_is_a_booktabs_tabular_with_the_best_in_bold() -> None:
    assert write_latex(document(table())).splitlines() == [
        r"% needs \usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        r"\caption{Metrics; data.csv.}",
        r"\label{tab:metrics}",
        r"\begin{tabular}{lrrrrr}",
        r"\toprule",
        r"Model & AUC & threshold & rows & p & priors \\",
        r"\midrule",
        r"m & \textbf{0.9123} & 0.5 & 1,200 & \textless{}1e-9 & 0.1 to 0.25 \\",
        r" & \footnotesize 0.8000 to 0.9500 &  &  &  &  \\",
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]


@pytest.mark.parametrize("name", HOSTILE)
def test_every_special_character_is_escaped_in_latex(name: str) -> None:
    row = next(line for line in write_latex(document(table(name))).splitlines() if "0.9123" in line)
    words = re.sub(r"\\(text[a-z]+|char34)(\{\})?|\\[{}$&#_%]|\\\\$", "", row.replace(r"\textbf{0.9123}", ""))
    assert words.count("&") == 5
    assert not re.search(r"[$#_%\\~^<>|\"`]", words)


def test_labels_of_several_blocks_differ_and_minus_signs_are_signs() -> None:
    sections = [Section([table(f"m{k}", (-0.1, 0.2))], f"g {k}") for k in range(2)]
    latex = write_latex(Document("report", "d", sections=sections))
    assert re.findall(r"\\label\{(.*)\}", latex) == ["tab:metrics", "tab:metrics-2"]
    assert re.findall(r"\\caption\{(.*)\}", latex) == ["Metrics; g 0; d.", "Metrics; g 1; d."]
    assert r"$-$0.1000 to 0.2000" in latex


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs LaTeX")
def test_latex_compiles(tmp_path: Path) -> None:
    tables = [write_latex(document(table(name))) for name in HOSTILE]
    tables += [made(name).to_latex() for name in NAMES]
    lines = [r"\documentclass{article}", r"\usepackage{booktabs}", r"\begin{document}"]
    (tmp_path / "all.tex").write_text(
        "\n".join([*lines, *(f"{each}\n\\clearpage" for each in tables), r"\end{document}"])
    )
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-2000:]


def test_numbers_of_models_are_the_results() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    data = {"y": y, "a": y ^ (rng.random(60) < 0.2), "b": y ^ (rng.random(60) < 0.4)}
    compared = fastevals.compare(data, label="y", pred=["a", "b"], n_resamples=49)
    for text in (compared.to_text(), compared.to_markdown(), compared.to_html(), compared.to_latex()):
        for metric in compared.models.values():
            for each in metric.estimates.values():
                assert format_number(float(each.value)) in text


def test_of_very_many_rows_the_first_are_written() -> None:
    y, score = np.arange(5000) % 2, np.arange(5000) % 4999
    curve = fastevals.Ranking(y, score).roc_curve(drop_intermediate=False)
    n = len(curve.to_frame("pandas"))
    assert n > 4900
    text, page = curve.to_text(), curve.to_html()
    assert len(text.splitlines()) == 104
    assert text.endswith(f"... {n - 100:,} more of {n:,} rows\n")
    assert page.count("<tr") == 2001
    assert f"The first 2,000 of {n:,} rows; the JSON has all" in page
