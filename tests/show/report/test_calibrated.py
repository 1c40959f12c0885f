"""The calibration of a report's models: text, page, JSON, frame; rows, weights, clusters, counts, files."""

from __future__ import annotations

import html
import math
import pickle
import re
from typing import Any

import numpy as np
import pytest

import fastevals
from fastevals.show.report.calibrated import COLUMNS

RNG = np.random.default_rng(19)
N = 4000
P = RNG.beta(1, 8, N)
Y = (RNG.random(N) < 1.3 * P).astype(int)  # a quarter more positives than `P` expects
DATA = {"y": Y, "credit": P}


def measured(data: Any = None, **options: Any) -> Any:
    return fastevals.report(data or DATA, **{"label": "y", "score": "credit", "n_resamples": 0, **options})


def calibration_of(report: Any) -> Any:
    return report.to_dict()["blocks"][0]["models"][0]["calibration"]


def assert_equal(found: Any, expected: Any, rel: float = 1e-9) -> None:
    """Assert that JSON has the numbers of a `fastevals.Calibration`."""
    assert found["predicted"] == pytest.approx(expected.predicted, rel=rel)
    assert found["observed"] == pytest.approx(expected.observed, rel=rel)
    for name in ("ratio", "intercept", "slope"):
        each = getattr(expected, name)
        assert found[name]["value"] == pytest.approx(each.value, rel=rel)
        assert found[name]["interval"] == pytest.approx([*each.confidence_interval], rel=rel)
    assert found["error"]["value"] == pytest.approx(expected.error.value, rel=20 * rel)  # cells move the edges of bins
    assert found["spiegelhalter"]["z"] == pytest.approx(expected.spiegelhalter.statistic, rel=rel)


def test_json_has_what_the_call_gives() -> None:
    expected = fastevals.calibration(Y, {"credit": P})["credit"]
    found = calibration_of(measured())
    assert_equal(found, expected)
    assert found["conclusion"] == expected.conclusion


def test_the_caveat_says_how_many_are_expected_and_how_many_happened() -> None:
    report = measured()
    expected = fastevals.calibration(Y, P)
    said = f"credit expects {expected.predicted:.0f} positives; {Y.sum()} happened ("
    text = " ".join(report.to_text().split())
    assert f"! : {said}" in text
    assert said in html.unescape(report.to_html())
    assert said in report.to_markdown()


def test_a_calibrated_model_has_no_caveat() -> None:
    y = np.random.default_rng(3).random(N) < P
    assert "expects" not in measured({"y": y, "credit": P}).to_text()


def test_a_small_but_significant_deviation_is_no_caveat() -> None:
    p = np.tile([0.25, 0.5, 0.75], 200_000)
    y = np.random.default_rng(4).random(p.size) < 1.01 * p
    report = measured({"y": y, "credit": p})
    assert calibration_of(report)["ratio"]["pvalue"] < 0.001
    assert "! : credit expects" not in report.to_text()


def test_text_quotes_the_ratio_and_has_a_table() -> None:
    expected = fastevals.calibration(Y, P)
    blocks = measured(n_resamples=19).to_text().split("\n\n")
    heads, row = next(each for each in blocks if each.startswith("model") and "pred/obs" in each).splitlines()
    ends = expected.ratio.confidence_interval
    assert "pred/obs (95 %)" in heads
    assert row.endswith(f"{expected.ratio.value:.3f} [{ends.low:.3f}, {ends.high:.3f}]")
    table = next(each for each in blocks if "predicted observed" in each).splitlines()
    assert re.split(r"\s{2,}|(?<=predicted)\s|(?<=observed)\s", table[0].strip())[0] == "model"
    assert f"{expected.slope.value:.4f}" in table[1]
    assert f"{expected.slope.confidence_interval.low:.4f}" in table[2]


def test_without_replicates_there_are_no_ends() -> None:
    text = measured().to_text()
    assert f"{fastevals.calibration(Y, P).ratio.value:.3f}\n" in text
    assert "95 % from" not in text


def test_page_and_markdown_have_the_table() -> None:
    report = measured(n_resamples=19)
    page, markdown = report.to_html(), report.to_markdown()
    assert all(f">{column}" in page for column in COLUMNS[:5])
    assert "predicted | observed | ratio" in markdown
    assert 'data-figure="calibration"' in page


def test_the_frame_has_the_numbers() -> None:
    frame = measured().to_frame()
    rows = frame[frame["metric"] == "calibration_slope"]
    expected = fastevals.calibration(Y, P).slope
    assert rows[["value", "low", "high", "pvalue"]].to_numpy()[0] == pytest.approx(
        [expected.value, *expected.confidence_interval, expected.pvalue]
    )


def test_other_scores_have_no_calibration() -> None:
    report = measured({"y": Y, "credit": 10 * P})
    assert calibration_of(report) is None
    assert "pred/obs" not in report.to_text()


def test_only_some_models_are_probabilities() -> None:
    report = measured({"y": Y, "credit": P, "raw": 10 * P}, score=["credit", "raw"])
    text = report.to_text()
    assert [each["calibration"] is None for each in report.to_dict()["blocks"][0]["models"]] == [False, True]
    assert re.search(r"^raw +.* -$", text, re.MULTILINE)
    assert "credit,raw" not in text


@pytest.mark.parametrize("options", [{"sample_weight": "w"}, {"groups": "g"}, {"sample_weight": "w", "groups": "g"}])
def test_weights_and_clusters(options: dict[str, str]) -> None:
    more = {"w": RNG.lognormal(0, 1, N), "g": RNG.integers(0, 300, N)}
    expected = fastevals.calibration(Y, P, **{name: more[column] for name, column in options.items()})
    assert_equal(calibration_of(measured(DATA | more, **options)), expected)


def test_copies() -> None:
    copies = RNG.integers(1, 4, N)
    expected = fastevals.calibration(np.repeat(Y, copies), np.repeat(P, copies))
    assert_equal(calibration_of(measured(DATA | {"n": copies}, frequency_weight="n")), expected)


def test_each_block() -> None:
    parts = np.arange(N) % 3
    report = measured(DATA | {"part": parts}, by="part")
    for block in report.to_dict()["blocks"]:
        here = parts == block["value"]
        assert_equal(block["models"][0]["calibration"], fastevals.calibration(Y[here], P[here]))


def test_counts_give_the_same() -> None:
    expected = fastevals.calibration(Y, P)
    assert_equal(calibration_of(fastevals.report(fastevals.Ranking(Y, P), n_resamples=0)), expected)


def test_files_larger_than_memory_give_nearly_the_same(tmp_path: Any) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("y,credit\n" + "\n".join(f"{y},{p!r}" for y, p in zip(Y.tolist(), P.tolist(), strict=True)))
    expected = fastevals.calibration(Y, P)
    whole = measured(str(path))
    assert_equal(calibration_of(whole), expected)
    for options in ({"memory": 20_000, "n_resamples": 19}, {"approximate": True}):
        assert_equal(calibration_of(measured(str(path), **options)), expected, 1e-3)


def test_why_a_slope_is_undefined() -> None:
    p = np.where(np.arange(N) < 3, 1.0, P)
    y = np.where(np.arange(N) < 3, 0, Y)
    report = measured({"y": y, "credit": p})
    found = calibration_of(report)
    assert found["slope"] == {"value": None, "interval": None, "pvalue": None}
    text = " ".join(report.to_text().split())
    assert "- : calibration intercept and slope of credit are undefined (3 rows with probability 0 or 1" in text


@pytest.mark.parametrize("y", [[0, 0, 0], [1, 1, 1]])
def test_one_class(y: list[int]) -> None:
    report = measured({"y": y, "credit": [0.1, 0.2, 0.4]}, pos_label=1)
    assert calibration_of(report)["predicted"] == pytest.approx(0.7)
    assert math.isfinite(calibration_of(report)["spiegelhalter"]["z"])
    assert "predicted" in report.to_text()


def test_a_report_that_was_pickled_prints_the_same() -> None:
    report = measured(n_resamples=19)
    assert pickle.loads(pickle.dumps(report)).to_html() == report.to_html()
