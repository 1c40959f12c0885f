"""The text of a report: what it says first, and that it fits the terminal."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import numpy as np
import pytest

import fastevals
from fastevals._text import format_label
from fastevals.datasets import load_digits_eight
from fastevals.document.document import BAR, Document, Number, Row, Section, Table
from fastevals.document.text import write_text
from fastevals.show import cli
from fastevals.show.report import verdict
from fastevals.show.verdict import with_interval

MODELS = ["logistic", "random_forest"]
N = 120
RNG = np.random.default_rng(0)
Y = RNG.integers(0, 2, N)
LONG = "gradient_boosted_trees_tuned_on_the_whole_history_v{}"
SCORES = {LONG.format(k): (RNG.normal(size=N) + Y * (1 + k / 4)).round(2) for k in range(6)}
CLASSES = {name: np.where(RNG.random(N) < 0.7, Y, 1 - Y) for name in SCORES}
ROWS: dict[str, Any] = {"y": Y, "t": Y + 0.5, "g": np.arange(N) % 2, **SCORES}


def text_at(columns: int, monkeypatch: pytest.MonkeyPatch, capsys: Any, *arguments: str) -> str:
    monkeypatch.setenv("COLUMNS", str(columns))
    assert cli.main(list(arguments)) == 0
    return str(capsys.readouterr().out)


# First ----------------------------------------------------------------------------------------------------------------


def test_the_verdict_is_the_pages_and_one_line_for_each_model_follows() -> None:
    data = {name: column for name, column in load_digits_eight().items() if name in ("label", *MODELS)}
    report = fastevals.report(data, label="label", score=MODELS, n_resamples=99)
    text = report.to_text()
    verdict_part, quoted, facts = text.split("\n\n")[:3]
    said = verdict.verdict(report, report.blocks[0])
    assert " ".join(verdict_part.split()) == f"fastevals report: logistic and random_forest {' '.join(said)}"
    assert said[0].startswith("random_forest's AUC is higher than logistic's by 0.0139 (95 % interval 0.0")
    assert all(sentence in report.to_markdown().replace("*", "") for sentence in said)
    forest = report.to_dict()["blocks"][0]["models"][1]
    low, high = forest["intervals"]["roc_auc"]
    heads, _, row = (" ".join(line.split()) for line in quoted.splitlines())
    assert heads == "model AUC (95 %) Gini AP Brier pred/obs (95 %)"
    ratio = "{:.3f} [{:.3f}, {:.3f}]".format(
        forest["calibration"]["ratio"]["value"], *forest["calibration"]["ratio"]["interval"]
    )
    assert row == f"random_forest 0.9895 [{low:.4f}, {high:.4f}] {forest['metrics']['gini']:.4f} 0.9477 0.0261 {ratio}"
    assert facts.startswith("label ")


def test_without_probabilities_there_is_no_brier_score() -> None:
    text = fastevals.report(
        {"y": [0, 1, 1, 0], "s": [1.0, 2.0, 3.0, 4.0]}, label="y", score="s", n_resamples=0
    ).to_text()
    assert text.split("\n\n")[1].split("\n")[0].split() == ["model", "AUC", "Gini", "AP"]


def test_ginis_interval_is_what_a_bootstrap_of_gini_gives() -> None:
    found = fastevals.bootstrap((Y, SCORES[LONG.format(0)]), ["roc_auc", "gini"], n_resamples=99, rng=0)
    auc, gini = (found[name].confidence_interval for name in ("roc_auc", "gini"))
    assert gini == pytest.approx([2 * end - 1 for end in auc], abs=1e-12)


@pytest.mark.parametrize(("value", "p", "said"), [(0.0139, 0.0305, "p = 0.0305"), (1e-6, 1e-12, "p < 1e-9")])
def test_a_difference_in_words(value: float, p: float, said: str) -> None:
    shown = "0.0139" if value > 0.01 else "1e-06"
    assert with_interval(value, fastevals.Interval(-0.01, 0.02), 0.9, p) == (
        f"{shown} (90 % interval -0.0100 to 0.0200; {said})"
    )


# Width ----------------------------------------------------------------------------------------------------------------

ASKED: dict[str, dict[str, Any]] = {
    "scores": {"label": "y", "score": list(SCORES)},
    "two": {"label": "y", "score": list(SCORES)[:2], "cost_fn": 5},
    "one": {"label": "y", "score": next(iter(SCORES)), "threshold": 0.5},
    "by": {"label": "y", "score": list(SCORES)[:2], "by": "g"},
    "best": {"label": "y", "score": list(SCORES)[:2], "best": "matthews"},
    "labels": {"label": "y", "pred": list(SCORES)[:2]},
    "targets": {"target": "t", "pred": list(SCORES)[:2]},
}


@pytest.mark.cases(3)
@pytest.mark.parametrize("asked", ASKED)
def test_every_line_fits(asked: str) -> None:
    rows = {**ROWS, **CLASSES} if asked == "labels" else ROWS
    report = fastevals.report(rows, **ASKED[asked], n_resamples=39)
    for width in (80, 100, 140):
        lines = write_text(report._document(), width).splitlines()
        assert max(map(len, lines)) <= width
        assert any(line.startswith(LONG.format(0)) for line in lines)  # whole


def test_the_terminals_width_is_used(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    for columns in (80, 140):
        text = text_at(columns, monkeypatch, capsys, "report", "--resamples", "0")
        assert max(map(len, text.splitlines())) <= columns
        assert ("| threshold" in text) == (columns == 140)
    assert max(map(len, text_at(20, monkeypatch, capsys, "compare").splitlines())) <= 60


def test_a_table_is_split_at_its_bar_first_and_long_names_stand_alone() -> None:
    cells = [Number(0.1), Number(0.2), BAR, Number(0.3)]
    table = Table("t", "", ["", "a", "b", BAR, "c"], [Row("n" * 30, cells), Row("m", cells)])
    document, name = Document("", "title", sections=[Section([table])]), "n" * 30
    assert write_text(document, 40) == (
        f"title\n\n{'':16}      a      b\n{name}\n{'':16} 0.1000 0.2000\n{'m':16} 0.1000 0.2000\n\n"
        f"{'':16}      c\n{name}\n{'':16} 0.3000\n{'m':16} 0.3000\n"
    )
    without = table._replace(columns=["", "a", "b"], rows=[Row("n" * 30, cells[:2]), Row("m", cells[:2])])
    assert write_text(document._replace(sections=[Section([without])]), 40) == (
        f"title\n\n{'':26}      a      b\n{name}\n{'':26} 0.1000 0.2000\n{'m':26} 0.1000 0.2000\n"
    )


def test_a_part_without_intervals_has_no_lines_for_their_ends() -> None:
    table = Table("t", "", ["", "a", BAR, "b"], [Row("model", [Number(0.1, interval=(0.05, 0.2)), BAR, Number(0.3)])])
    first, _, second = (
        write_text(Document("", "title", sections=[Section([table])]), 14).partition("\n\n")[2].partition("\n\n")
    )
    assert ([line.split()[0] for line in first.splitlines()], len(second.splitlines())) == (
        ["a", "model", "from", "to"],
        2,
    )


@pytest.mark.parametrize("command", cli.COMMANDS)
def test_help_fits_two_screens(command: str, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    lines = text_at(80, monkeypatch, capsys, command, "--help").splitlines()
    assert len(lines) <= 78
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize(("value", "shown"), [
    ("2026-11-03 00:00:00.000000", "2026-11-03"), ("2026-11-03 00:00:00", "2026-11-03"),
    ("2026-11-03 12:30:00.000000", "2026-11-03 12:30:00"), ("2026-11-03 12:30:00.250000", "2026-11-03 12:30:00.25"),
    ("2024-01-02 00:00:00.000000+0100", "2024-01-02 00:00:00+0100"), (datetime(2026, 11, 3), "2026-11-03"),
    ("at 00:00:00", "at 00:00:00"), (("north", "2026-11-03 00:00:00"), "north, 2026-11-03"),
])  # fmt: skip
def test_times_end_without_zeros(value: Any, shown: str) -> None:
    assert format_label(value) == shown
