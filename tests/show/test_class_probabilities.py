"""Reading class probabilities: columns by pattern, columns of lists, arrays and frames; the order of the classes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

import fastevals
from fastevals.reading.columns import ColumnRoles, join_columns
from fastevals.reading.csv import CsvForm
from fastevals.reading.files import open_source
from fastevals.reading.model_columns import add_arrays, model_columns
from fastevals.reading.sources import RowRules
from fastevals.show.predicted import ClassProbabilities, read_probabilities

CLASSES = ["owl", "cat", "dog"]  # not in alphabetical order
Y = ["cat", "dog", "owl", "cat", "dog", "owl"]
P = np.random.default_rng(0).dirichlet([1, 1, 1], 6)  # columns in the order of CLASSES
FRAME = pd.DataFrame({"y": Y} | {f"forest_{label}": P[:, k] for k, label in enumerate(CLASSES)})
PLACES = [CLASSES.index(label) for label in Y]


RAISES = RowRules()


def read(
    data: Any, given: Any = ("forest_*",), rules: RowRules = RAISES, **options: Any
) -> tuple[ClassProbabilities, Any]:
    if isinstance(given, dict):
        data, given = add_arrays(data, given)
    roles = ColumnRoles("y", (), kind="probabilities")
    classes = options.get("classes")
    source = open_source(data, roles.request(rules, CsvForm()))
    n_classes = None if classes is None else len(classes)
    source, found = model_columns(source, given, roles.message_names(), n_classes)
    roles = replace(roles, models=tuple(each.model for each in found), class_columns=tuple(found))
    columns = join_columns(
        source, roles.message_names(), roles.numeric, truth="y", rules=rules, together=roles.together
    )
    return read_probabilities(columns, "y", found, **options), columns


def test_columns_are_named_by_their_class(tmp_path: Path) -> None:
    FRAME.to_csv(tmp_path / "p.csv", index=False)
    for data in (FRAME, pl.from_pandas(FRAME), str(tmp_path / "p.csv"), dict(FRAME.items())):
        found, _ = read(data)
        assert found.labels == CLASSES
        np.testing.assert_allclose(found.predicted["forest"], P)
        np.testing.assert_array_equal(found.true, PLACES)


@pytest.mark.parametrize(
    "data",
    [
        {"y": Y, "forest": P},
        {"y": Y, "forest": P.tolist()},
        pd.DataFrame({"y": Y, "forest": list(P)}),
        pl.DataFrame({"y": Y, "forest": P.tolist()}),
        pl.DataFrame({"y": Y, "forest": P}, schema={"y": pl.String, "forest": pl.Array(pl.Float64, 3)}),
        pa.table({"y": Y, "forest": P.tolist()}),
        pa.table({"y": Y, "forest": pa.FixedSizeListArray.from_arrays(P.ravel(), 3)}),
    ],
)
def test_a_column_of_lists_has_the_sorted_labels_or_the_given_ones(data: Any) -> None:
    found, _ = read(data, ["forest"])
    assert found.labels == sorted(CLASSES)
    np.testing.assert_array_equal(found.predicted["forest"], P)
    found, _ = read(data, ["forest"], classes=CLASSES)
    assert found.labels == CLASSES
    np.testing.assert_array_equal(found.true, PLACES)


def test_lists_in_files_and_float32_stay_as_they_are(tmp_path: Path) -> None:
    table = pa.table({"y": Y, "forest": pa.array(P.astype(np.float32).tolist(), pa.list_(pa.float32()))})
    parquet.write_table(table, tmp_path / "p.parquet", row_group_size=4)
    found, _ = read(str(tmp_path / "p.parquet"), ["forest"], classes=CLASSES)
    assert found.predicted["forest"].dtype == np.float32
    np.testing.assert_array_equal(found.predicted["forest"], P.astype(np.float32))


def test_classes_in_another_order_are_matched_by_name() -> None:
    other = pd.DataFrame(P[:, [2, 0, 1]], columns=["dog", "owl", "cat"])
    found, _ = read(FRAME, {"xgb": other})
    assert found.labels == ["dog", "owl", "cat"]
    data = dict(FRAME.items())
    data |= {f"xgb_{label}": column for label, column in other.items()}
    found, _ = read(data, ["forest_*", "xgb_*"])
    assert found.labels == CLASSES
    np.testing.assert_array_equal(found.predicted["xgb"], found.predicted["forest"])


def test_columns_without_names_go_with_sorted_classes_only() -> None:
    named = pd.DataFrame(P[:, [2, 0, 1]], columns=["dog", "owl", "cat"])
    message = "'b' does not name the classes of its columns, and the classes are not sorted here: 'dog', 'owl', 'cat'"
    for given in ({"a": named, "b": P}, {"b": P, "a": named}):
        with pytest.raises(ValueError, match=message):
            read({"y": Y}, given)
        found, _ = read({"y": Y}, given, classes=CLASSES)
        np.testing.assert_array_equal(found.predicted["a"], found.predicted["b"])
    ordered = pd.DataFrame({"y": pd.Categorical(Y, categories=["dog", "owl", "cat"], ordered=True)})
    with pytest.raises(ValueError, match=f"{message}; classes gives the order of the columns"):
        read(ordered, {"b": P})
    in_order = pd.DataFrame(P[:, [1, 2, 0]], columns=sorted(CLASSES))
    found, _ = read({"y": Y}, {"a": in_order, "b": P[:, [1, 2, 0]]})
    np.testing.assert_array_equal(found.predicted["a"], found.predicted["b"])


def test_half_precision_has_sums_of_its_own_precision() -> None:
    half = np.random.default_rng(1).dirichlet([1, 1, 1], 60).astype(np.float16)
    assert np.abs(half.sum(axis=1, dtype=np.float64) - 1).max() > 1e-4
    found, _ = read({"y": Y * 10}, {"m": half})
    np.testing.assert_array_equal(found.predicted["m"], half)
    found, _ = read({"y": Y * 10}, {"m": half}, normalize=True)
    np.testing.assert_allclose(found.predicted["m"].sum(axis=1), 1, atol=1e-6)
    with pytest.raises(ValueError, match=r"got the sum 0\.8.* off by more than 0\.00098\); normalize=True divides"):
        read({"y": Y * 10}, {"m": (half * 0.9).astype(np.float16)})


def test_the_longest_pattern_takes_a_column_and_names_are_kept_apart() -> None:
    data = {"y": Y} | {f"p_{label}": P[:, k] for k, label in enumerate(CLASSES)}
    data |= {f"p_new_{label}": P[:, k] for k, label in enumerate(CLASSES)}
    found, _ = read(data, ["p_*", "p_new_*"])
    assert list(found.predicted) == ["p", "p_new"]
    data = {"y": Y} | {f"y_{label}": P[:, k] for k, label in enumerate(CLASSES)}
    assert list(read(data, ["y_*"])[0].predicted) == ["y_*"]
    assert list(read({"y": Y} | dict(zip(CLASSES, P.T, strict=True)), ["*"])[0].predicted) == ["p"]


@pytest.mark.parametrize("labels", [[0, 1, 2], [1.0, 2.0, 5.0], ["10", "20", "7"], [-1, 0, 1]])
def test_classes_in_names_have_the_type_of_the_labels(labels: list[Any], tmp_path: Path) -> None:
    frame = pd.DataFrame({"y": [labels[k] for k in PLACES]})
    frame = frame.assign(
        **{f"p_{label:g}" if label != str(label) else f"p_{label}": P[:, k] for k, label in enumerate(labels)}
    )
    found, _ = read(frame, ["p_*"])
    assert found.labels == labels
    np.testing.assert_array_equal(found.true, PLACES)
    frame.to_csv(tmp_path / "p.csv", index=False)
    found, _ = read(str(tmp_path / "p.csv"), ["p_*"])
    assert [str(each) for each in found.labels] == [str(int(label)) for label in map(float, labels)]


def test_ordered_categories_keep_their_order(tmp_path: Path) -> None:
    order = ["dog", "owl", "cat"]
    categories = pd.Categorical(Y, categories=[*order, "yak"], ordered=True)
    frame = FRAME.assign(y=categories)
    enum = pl.from_pandas(FRAME).with_columns(pl.col("y").cast(pl.Enum(order)))
    frame.to_parquet(tmp_path / "pandas.parquet")
    enum.write_parquet(tmp_path / "polars.parquet")
    for data in (frame, enum, str(tmp_path / "pandas.parquet"), str(tmp_path / "polars.parquet")):
        found, _ = read(data)
        assert found.labels == order
        assert found.are_ordered
    assert not read(FRAME.assign(y=pd.Categorical(Y)))[0].are_ordered
    assert read(frame, classes=CLASSES)[0].labels == CLASSES  # what is given has precedence


def test_rows_without_probabilities_are_left_out_and_counted_once() -> None:
    gaps = FRAME.copy()
    gaps.loc[0, ["forest_cat", "forest_dog"]] = np.nan
    gaps.loc[1, "y"] = None
    found, columns = read(gaps, rules=RowRules("drop", "drop"))
    np.testing.assert_array_equal(found.predicted["forest"], P[2:])
    assert columns.left_out.by_column == {"y": 1, "forest": 1}
    assert columns.left_out.alone == {"y": 1, "forest": 1}
    listed = {"y": Y, "forest": [None, *P.tolist()[1:]]}
    found, columns = read(pa.table(listed), ["forest"], rules=RowRules("drop", "drop"))
    assert found.true.size == 5
    with pytest.raises(ValueError, match=r"1 NaN value, the first at row 0; on_invalid='drop'"):
        read(pa.table(listed), ["forest"])


def test_rows_are_divided_by_their_sums_on_request() -> None:
    found, _ = read(FRAME.assign(forest_cat=0.9), normalize=True)
    np.testing.assert_allclose(found.predicted["forest"].sum(axis=1), 1)
    with pytest.raises(ValueError, match=r"zero for all classes, as at row 2"):
        read({"y": Y, "forest": np.where(np.arange(6)[:, None] == 2, 0, P)}, ["forest"], normalize=True)


def test_hard_labels_are_recognised() -> None:
    assert read({"y": Y}, {"m": np.eye(3, dtype=int)[PLACES]})[0].hard == ("m",)
    assert read({"y": Y}, {"m": P})[0].hard == ()


WRONG = [
    (FRAME, ["q_*"], {}, "no column matches 'q_\\*'"),
    (FRAME, ["forest_c*"], {}, "two or more different columns, got 'forest_cat'"),
    (FRAME, ["y"], {}, "is given already, as label 'y'"),
    (FRAME, ["forest"], {}, "has no such column"),
    (FRAME, ["forest_cat"], {}, "must be a column of lists with a probability for each class"),
    (FRAME, ["forest_*", "forest_*"], {}, "'forest_\\*' twice"),
    (FRAME.rename(columns={"forest_owl": "forest_yak"}), ["forest_*"], {}, "2 rows of class 'owl', the first at row 2"),
    (FRAME.assign(forest_cat=P[:, 1] + 0.25), ["forest_*"], {}, r"got the sum 1\.25 in row \d \(6 of 6 rows are off"),
    (FRAME.assign(forest_cat=-0.5), ["forest_*"], {}, "got -0.5 at row 0; logits become probabilities by a softmax"),
    (FRAME, ["forest_*"], {"classes": ["cat", "dog"]}, "3 columns, but there are 2 classes: 'cat', 'dog'"),
    (FRAME, ["forest_*"], {"classes": ["cat", "dog", "emu"]}, "has no column of class 'emu'"),
    (FRAME, ["forest_*"], {"classes": ["cat", "dog", "cat"]}, "classes must name each class once"),
    ({"y": Y, "m": P[:, :2]}, ["m"], {}, "has 2 columns, but there are 3 labels in label 'y'"),
    ({"y": PLACES} | {f"p_{k}": P[:, k] for k in range(2)} | {"p_c": P[:, 2]}, ["p_*"], {}, "classes that are numbers"),
    (
        pa.table({"y": Y, "m": [[0.5, 0.5], [0.2, 0.3, 0.5]] * 3}),
        ["m"],
        {},
        "2 probabilities per row, .* got 3 at row 1",
    ),
]


@pytest.mark.parametrize(("data", "given", "options", "message"), WRONG)
def test_what_is_wrong_is_named(data: Any, given: list[str], options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read(data, given, **options)


def test_arrays_go_with_data_in_memory(tmp_path: Path) -> None:
    FRAME.to_csv(tmp_path / "p.csv", index=False)
    for data in (str(tmp_path / "p.csv"), [str(tmp_path / "p.csv")]):
        with pytest.raises(ValueError, match="arrays, which go with data in memory"):
            read(data, {"m": P})


@pytest.mark.cases(1)
@pytest.mark.parametrize("form", [np.asarray, pd.DataFrame, lambda p: p.tolist()])
def test_an_array_alone_is_of_one_model(form: Any) -> None:
    y = np.arange(60) % 3
    p = 0.2 + 0.4 * np.eye(3)[y]
    options: dict[str, Any] = {"label": "y", "n_resamples": 99}
    found = fastevals.report({"y": y}, probabilities=form(p), **options)
    named = fastevals.report({"y": y}, probabilities={"model": p}, **options)
    assert found.to_dict()["blocks"] == named.to_dict()["blocks"]
    assert fastevals.gate({"y": y}, label="y", probabilities=form(p), rules=["accuracy >= 0.5"]).to_dict()["rules"]
