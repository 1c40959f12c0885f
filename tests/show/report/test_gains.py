"""--gain-table: the gain table of each model in a report."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fastevals
from fastevals.show.cli import main

RNG = np.random.default_rng(8)
N = 500
P = RNG.beta(1, 4, N)
DATA = {"y": (RNG.random(N) < P).astype(int), "new": P, "old": np.round(P, 1)}


def gains(data: Any = None, score: Any = "new", **options: Any) -> Any:
    report = fastevals.report(data or DATA, label="y", score=score, n_resamples=0, gain_table=True, **options)
    return [model["gain_table"] for model in report.to_dict()["blocks"][0]["models"]]


def test_it_is_the_calls_table() -> None:
    assert gains(score=["new", "old"]) == [
        fastevals.gain_table(DATA["y"], DATA[each]).to_dict() for each in ("new", "old")
    ]


@pytest.mark.parametrize("options", [{"sample_weight": "w"}, {"frequency_weight": "n"}, {"groups": "g"}])
def test_weights_copies_and_clusters(options: dict[str, str]) -> None:
    more = {"w": RNG.lognormal(0, 1, N), "n": RNG.integers(1, 4, N), "g": RNG.integers(0, 80, N)}
    ((name, column),) = options.items()
    expected = fastevals.gain_table(DATA["y"], P, **{name: more[column]}).to_dict()
    assert gains(DATA | more, **options) == [expected]


def test_text_page_and_markdown() -> None:
    report = fastevals.report(DATA, label="y", score=["new", "old"], n_resamples=0, gain_table=True)
    for text, said in ((report.to_text(), "new: "), (report.to_markdown(), ""), (report.to_html(), "")):
        assert text.count("top 5 %") >= 2
        assert f"{said}Bin 1 holds 10 % of the rows" in " ".join(text.split())
    assert "top 5 %" not in fastevals.report(DATA, label="y", score="new", n_resamples=0).to_text()


def test_small_blocks_have_fewer_bins() -> None:
    report = fastevals.report(
        DATA | {"part": np.arange(N) < 4}, label="y", score="new", by="part", n_resamples=0, gain_table=True
    )
    assert [block["models"][0]["gain_table"]["n_bins"] for block in report.to_dict()["blocks"]] == [10, 4]


def test_a_ranking_and_a_summary(tmp_path: Any) -> None:
    ranking = fastevals.Ranking(DATA["y"], P)
    report = fastevals.report(ranking, n_resamples=0, gain_table=True)
    assert report.to_dict()["blocks"][0]["models"][0]["gain_table"] == fastevals.gain_table(ranking).to_dict()
    path = tmp_path / "rows.csv"
    path.write_text("y,new\n" + "\n".join(f"{y},{p!r}" for y, p in zip(DATA["y"].tolist(), P.tolist(), strict=True)))
    (found,) = gains(str(path), approximate=True)
    assert found["rows"] == fastevals.gain_table(ranking).to_dict()["rows"]
    with pytest.raises(ValueError, match="gain_table needs the rows in memory or in one scan: give more memory"):
        gains(str(path), memory=2_000)


def test_the_command(capsys: Any) -> None:
    assert main(["report", "--score", "logistic", "--resamples", "0", "--gain-table", "--quiet"]) == 0
    assert "logistic: Bin 1 holds 10 % of the rows" in capsys.readouterr().out


def test_predictions_have_none() -> None:
    with pytest.raises(ValueError, match="gain_table goes with scores"):
        fastevals.report({"y": [0, 1], "p": [0, 1]}, label="y", pred="p", gain_table=True)
