"""Names in letters that matplotlib's font lacks: an installed font draws them, or a hint says so."""

from __future__ import annotations

import dataclasses
import io
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from matplotlib import font_manager, rcParams
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from fastevals import Ranking
from fastevals.chapter.pictures import curves
from fastevals.show import cli
from fastevals.show.output import _drawn
from fastevals.show.plots import plot_estimates, plot_roc
from fastevals.show.plots.fonts import fonts_for

Y, SCORES = [0, 1, 1, 0], [0.1, 0.9, 0.4, 0.5]
LETTERS = "\u6a21\u578b"  # "model"


@pytest.fixture
def chinese(tmp_path: Path) -> Iterator[str]:
    """Install a font with two Chinese letters, for matplotlib alone."""
    from fontTools.fontBuilder import FontBuilder
    from fontTools.pens.ttGlyphPen import TTGlyphPen

    builder = FontBuilder(1000, isTTF=True)
    glyphs = [".notdef", "first", "second"]
    builder.setupGlyphOrder(glyphs)
    builder.setupCharacterMap(dict(zip(map(ord, LETTERS), glyphs[1:], strict=True)))
    pen = TTGlyphPen(None)
    pen.moveTo((0, 0))
    pen.lineTo((900, 0))
    pen.lineTo((0, 900))
    pen.closePath()
    builder.setupGlyf(dict.fromkeys(glyphs, pen.glyph()))
    builder.setupHorizontalMetrics(dict.fromkeys(glyphs, (1000, 0)))
    builder.setupHorizontalHeader(ascent=900, descent=0)
    builder.setupNameTable({"familyName": "Two Letters", "styleName": "Regular"})
    builder.setupOS2()
    builder.setupPost()
    path = tmp_path / "two.ttf"
    builder.save(path)
    before = [*font_manager.fontManager.ttflist]
    font_manager.fontManager.addfont(path)
    yield "Two Letters"
    font_manager.fontManager.ttflist[:] = before


def axes():
    figure = Figure(layout="constrained")
    FigureCanvasAgg(figure)
    return figure.subplots()


def rendered(ax) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ax.figure.savefig(io.BytesIO())


def test_names_are_drawn_in_a_font_that_has_their_letters(chinese: str) -> None:
    ax = plot_roc({LETTERS: Ranking(Y, SCORES), "b": Ranking(Y, SCORES[::-1])}, ax=axes(), title=f"ROC {LETTERS}")
    rendered(ax)
    written = {text.get_text().strip(): text.get_fontfamily() for text in ax.findobj(Text)}
    named = {words: families for words, families in written.items() if LETTERS in words}
    assert len(named) == 2  # title and legend
    assert all(families[-1] == chinese for families in named.values())


def test_names_on_an_axis_are_too(chinese: str) -> None:
    ax = plot_estimates({LETTERS: [0.1, 0.2, 0.3], "b": [0.2, 0.2, 0.4]}, ax=axes())
    rendered(ax)
    assert LETTERS in {label.get_text().partition("\n")[0] for label in [*ax.get_xticklabels(), *ax.get_yticklabels()]}


def test_letters_that_no_font_has_are_named_once() -> None:
    with pytest.warns(UserWarning, match="no installed font") as seen:
        plot_roc({"\U00013000 a": Ranking(Y, SCORES)}, ax=axes())
    assert len(seen) == 1
    assert seen[0].filename == __file__
    assert str(seen[0].message) == (
        "no installed font has the letters '\U00013000', so pictures show boxes: install one that does, such as "
        "Noto Sans CJK, or set matplotlib.rcParams['font.family'] to a list that ends with one"
    )


def test_a_font_that_is_added_later_is_found(request) -> None:
    with pytest.warns(UserWarning, match="no installed font"):
        plot_roc({LETTERS: Ranking(Y, SCORES)}, ax=axes())
    request.getfixturevalue("chinese")
    rendered(plot_roc({LETTERS: Ranking(Y, SCORES)}, ax=axes()))


def test_fonts_that_are_gone_or_broken_are_passed_over(chinese: str, tmp_path: Path) -> None:
    (tmp_path / "broken.ttf").write_bytes(b"no font")
    listed = font_manager.fontManager.ttflist
    for name in ("broken", "gone"):
        listed.append(dataclasses.replace(listed[0], fname=str(tmp_path / f"{name}.ttf"), name=f"A {name} font"))
    rendered(plot_roc({LETTERS: Ranking(Y, SCORES)}, ax=axes()))


def test_texts_that_are_there_keep_their_font(chinese: str) -> None:
    ax = axes()
    note = ax.text(0, 0, "note", fontfamily="DejaVu Serif")
    for _ in range(2):
        plot_roc({LETTERS: Ranking(Y, SCORES)}, ax=ax)
    assert note.get_fontfamily() == ["DejaVu Serif", chinese]


def test_threads_leave_the_settings_as_they_were(chinese: str) -> None:
    before = [*rcParams["font.family"]]
    inside, entered, left = threading.Event(), [], threading.Event()

    def first() -> None:
        with fonts_for(LETTERS):
            inside.set()
            left.wait(0.1)

    def second() -> None:
        inside.wait(1)
        with fonts_for(LETTERS):
            entered.append([*rcParams["font.family"]])
            while threads[0].is_alive():
                threads[0].join()

    threads = [threading.Thread(target=each) for each in (first, second)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert entered == [[*before, chinese]]
    assert rcParams["font.family"] == before


def test_letters_of_the_usual_font_need_no_other() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rendered(plot_roc({"\u03b1\u03b2 \u00e9": Ranking(Y, SCORES)}, ax=axes()))


def test_panels_of_a_file_have_one_hint() -> None:
    names = "\U00013000", "b"
    panels = [curves("roc", {name: Ranking(Y, SCORES)}, name) for name in names]
    with pytest.warns(UserWarning, match="no installed|Glyph") as seen:
        _drawn(panels, None, "png")
    assert len(seen) == 1


@pytest.mark.slow
@pytest.mark.parametrize("form", ["png", "svg", "pdf"])
def test_pictures_have_the_format_that_is_asked_for(form: str, tmp_path: Path, capsys) -> None:
    data = tmp_path / "data.csv"
    data.write_text("y,p\n0,.1\n1,.8\n0,.4\n1,.35\n")
    asked = ["report", str(data), "--label=y", "--score=p", "--resamples=0", f"--out={tmp_path}/found"]
    assert cli.main([*asked, f"--picture-format={form}"]) == 0
    assert "pictures" in capsys.readouterr().out
    content = (tmp_path / "found" / f"roc.{form}").read_bytes()
    assert content.startswith({"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[form])
    if form == "pdf":
        assert b"/Type0" in content  # TrueType letters
        assert b"/Type3" not in content
    if form == "svg":
        assert cli.main([*asked, "--picture-format=svg"]) == 0
        assert (tmp_path / "found" / "roc.svg").read_bytes() == content
    assert cli.main(asked) == 0  # a later run leaves no picture of another format
    assert {path.suffix for path in (tmp_path / "found").iterdir()} == {".png", ".json", ".txt"}
