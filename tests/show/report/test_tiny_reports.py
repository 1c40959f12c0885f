"""Reports of one to six rows, from any source, return numbers or an error that names an argument."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import fastevals
from tests.strategies import BOUNDED

pytest.importorskip("jinja2")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

pytestmark = pytest.mark.filterwarnings("ignore::fastevals.UndefinedMetricWarning", "ignore:n_resamples")
SCORES = ([0, 1], [0.0, 0.4, 1.0], [-3, -2, -1, 0, 1, 2, 3], [0.0, 2.0**60, -1e300])


@st.composite
def reports(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    """Draw columns and the options of a report on them."""
    n, names = draw(st.integers(1, 6)), ["a", "b", "c"][: draw(st.integers(1, 3))]
    kind = draw(st.sampled_from(["score", "score", "score", "pred", "target"]))
    choices = draw(st.sampled_from(SCORES if kind != "pred" else (["x", "y", "z"], [0, 1])))

    def column(values: list[Any]) -> list[Any]:
        return draw(st.lists(st.sampled_from(values), min_size=n, max_size=n))

    data = {"y": column([0, 1] if kind == "score" else choices)} | {name: column(choices) for name in names}
    options: dict[str, Any] = {"target" if kind == "target" else "label": "y"}
    options["score" if kind == "score" else "pred"] = names
    weights = draw(st.sampled_from([None, [1, 2, 3], [0.5, 0.1, 1.0]]))
    parts = draw(st.sampled_from(["", "by", "groups"]))
    if weights is not None:
        data["w"], options["sample_weight"] = column(weights), "w"
    if parts:
        data["g"], options[parts] = column(["u", "v"]), "g"
    if kind == "score":
        options["pos_label"] = 1
        best = draw(st.sampled_from(["f1", "accuracy", "matthews", "recall", "expected_cost", None]))
        options |= {"threshold": 0.3} if best is None else {"best": best}
    return data, options | {"n_resamples": draw(st.sampled_from([0, 20]))}


MEMORY = st.one_of(st.none(), st.integers(8, 110))


@pytest.mark.slow
@BOUNDED
@given(reports(), MEMORY)
@example(({"y": [1], "a": [3.0], "b": [3.0]}, {"label": "y", "score": ["a", "b"], "n_resamples": 50}), None)
@example(
    (
        {"y": [0], "a": [0.0], "b": [0.4], "w": [3]},
        {"label": "y", "score": ["a", "b"], "sample_weight": "w", "threshold": 0.3, "n_resamples": 20},
    ),
    None,
)
@example(
    (
        {"y": [1, 1, 1, 1, 0], "a": [0, 0, 3, 1, -2], "b": [-2, 4, 0, 3, -3]},
        {"label": "y", "score": ["a", "b"], "best": "accuracy", "n_resamples": 20},
    ),
    60,
)
def test_a_tiny_report_ends_in_numbers(drawn: tuple[dict[str, Any], dict[str, Any]], memory: int | None) -> None:
    data, options = drawn
    if "groups" in options and len(set(data["g"])) < 2:
        with pytest.raises(ValueError, match="groups 'g' must have at least two groups to resample"):
            fastevals.report(data, **options)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = fastevals.report(data, **options)
    found.to_text(), found.to_html(), found.to_json(), found._columns()
    if memory is None or "score" not in options:
        return
    with tempfile.TemporaryDirectory() as folder:
        pq.write_table(pa.table(data), Path(folder) / "rows.parquet", row_group_size=2)
        streamed = fastevals.report(Path(folder) / "rows.parquet", **options, memory=memory)
    streamed.to_text(), streamed.to_html()
    if "w" in data and not all(float(weight).is_integer() for weight in data["w"]):
        return  # the numbers are bounds
    for mine, theirs in zip(streamed.blocks, found.blocks, strict=True):
        for model, other in zip(mine.models, theirs.models, strict=True):
            assert (model.threshold, model.cells) == (other.threshold, other.cells) or np.isnan(model.threshold)
            assert model.metrics == pytest.approx(other.metrics, nan_ok=True, rel=1e-12)


def test_a_draw_without_rows_has_no_metric_and_is_left_out() -> None:
    """With one row BCa's jackknife leaves none: the interval has no width, and no error is raised."""
    found = fastevals.report({"y": [1], "a": [3.0], "b": [3.0]}, label="y", score=["a", "b"], n_resamples=50).to_dict()
    (block,) = found["blocks"]
    assert block["models"][0]["metrics"]["recall"] == 1.0
    assert block["differences"][0]["metrics"]["recall"]["value"] == 0.0


def test_a_difference_that_all_replicates_have_is_certain() -> None:
    """The Brier scores 0 and 0.16 of one row are 0.16 apart in every draw, whatever is rounded on the way."""
    data = {"y": [0], "a": [0.0], "b": [0.4], "w": [3]}
    options: dict[str, Any] = {
        "label": "y",
        "score": ["b", "a"],
        "sample_weight": "w",
        "threshold": 0.3,
        "n_resamples": 20,
    }
    (block,) = fastevals.report(data, **options).to_dict()["blocks"]
    assert block["differences"][0]["metrics"]["brier_score"] == {
        "value": pytest.approx(0.16), "interval": pytest.approx([0.16, 0.16]), "pvalue": pytest.approx(1 / 21),
    }  # fmt: skip


def test_a_difference_less_than_a_normal_float_is_none() -> None:
    """Calibration errors are 0 and the least float: neither jackknife nor standard error can be a divisor."""
    data = {"y": [0, 0, 0, 1], "a": [0.0, 5e-324, 0.0, 1.0], "b": [0.0, 0.0, 0.0, 1.0]}
    (block,) = fastevals.report(data, label="y", score=["a", "b"], n_resamples=199).to_dict()["blocks"]
    for metric in ("brier_score", "expected_calibration_error"):
        assert block["differences"][0]["metrics"][metric]["interval"] == [0.0, 0.0]


def test_negatives_below_a_range_with_all_positives_are_counted() -> None:
    """The only negative is below all positives of b: both AUCs are 1, and the difference is known to be 0."""
    data = {"y": [1, 1, 1, 1, 0], "a": [0, 0, 3, 1, -2], "b": [-2, 4, 0, 3, -3]}
    with tempfile.TemporaryDirectory() as folder:
        pq.write_table(pa.table(data), Path(folder) / "rows.parquet")
        found = fastevals.report(
            Path(folder) / "rows.parquet", label="y", score=["a", "b"], best="accuracy", n_resamples=20, memory=60
        )
    assert found.blocks[0].intervals is not None
    assert found.blocks[0].intervals.differences[0].metrics["roc_auc"].value == 0.0
