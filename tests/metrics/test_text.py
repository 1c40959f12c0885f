"""Text in every storage as numbers and names, against NumPy's distinct values."""

from __future__ import annotations

import enum
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from fastevals import (
    ClassRankings,
    ConfusionMatrix,
    KFold,
    Ranking,
    bias_variance,
    delong,
    friedman_test,
    grouped_auc,
    mcnemar_test,
    metrics,
    query_metrics,
    report,
)
from fastevals._execution import ROWS_PER_BLOCK
from fastevals._validation.labels import as_labels
from fastevals._validation.text import TextLabels, share_names, unique_inverse
from fastevals.scale import GroupSummary

NAMES = ["b", "", "long name", "a", "ä"]
UNUSED = ["zz", *NAMES, "0"]


def as_chunks(text: list[str], *, dictionary: bool) -> Any:
    parts = [pa.array(part, pa.string()) for part in (text[: len(text) // 3], text[len(text) // 3 :])]
    return pa.chunked_array([part.dictionary_encode() if dictionary else part for part in parts])


KINDS: dict[str, Callable[[list[str]], Any]] = {
    "list": list,
    "fixed width": np.array,
    "another byte order": lambda text: np.array(text).astype(">U12")[::-1][::-1],
    "bytes": lambda text: np.array([each.encode("latin-1") for each in text]),
    "strings": lambda text: np.array(text, dtype=np.dtypes.StringDType()),
    "objects": lambda text: np.array(text, dtype=object),
    "objects of their own": lambda text: np.array([f"{each} "[:-1] for each in text], dtype=object),
    "every other object": lambda text: np.repeat(np.array(text, dtype=object), 2)[::2],
    "pandas": lambda text: pd.Series(text, dtype="str"),
    "pandas, objects": lambda text: pd.Series(text, dtype=object, index=range(7, 7 + len(text))),
    "pandas, Arrow": lambda text: pd.Series(text, dtype=pd.ArrowDtype(pa.string())),
    "categories": lambda text: pd.Series(pd.Categorical(text, categories=UNUSED)),
    "a categorical index": lambda text: pd.CategoricalIndex(text),
    "Arrow": lambda text: pa.array(text, pa.large_string()),
    "Arrow chunks": lambda text: as_chunks(text, dictionary=False),
    "Arrow dictionary": lambda text: pa.array(text).dictionary_encode(),
    "chunks of other dictionaries": lambda text: as_chunks(text, dictionary=True),
    "polars": pl.Series,
    "polars categories": lambda text: pl.Series(["more", *text], dtype=pl.Categorical)[1:],
    "polars enum": lambda text: pl.Series(text, dtype=pl.Enum(UNUSED)),
}


@pytest.mark.cases(8)
@pytest.mark.parametrize("n", [1, 2, 9, 2 * ROWS_PER_BLOCK + 5])
@pytest.mark.parametrize("kind", KINDS)
def test_any_storage_is_read_as_the_same_labels(kind: str, n: int) -> None:
    codes = np.random.default_rng(n).integers(0, len(NAMES), n)
    text = [NAMES[code] for code in codes.tolist()]
    labels = as_labels("y", KINDS[kind](text))
    assert isinstance(labels, TextLabels)
    names, places = unique_inverse(labels)
    expected, expected_places = np.unique(np.array(text), return_inverse=True)
    assert names.tolist() == expected.tolist()
    assert np.array_equal(places, expected_places)
    assert (labels.names[1:] > labels.names[:-1]).all()
    assert np.asarray(labels[: n // 2 + 1]).tolist() == text[: n // 2 + 1]
    assert labels[n - 1] == text[-1]


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_measured_of_it_is_what_is_of_numbers(kind: str) -> None:
    rng = np.random.default_rng(3)
    true, predicted, groups = rng.integers(0, len(NAMES), (3, 300))
    score, order = rng.random(300).round(1), np.argsort(NAMES)
    y, p, g = (KINDS[kind]([NAMES[code] for code in order[codes].tolist()]) for codes in (true, predicted, groups))
    matrix = ConfusionMatrix.from_predictions(true, predicted)
    assert np.array_equal(ConfusionMatrix.from_predictions(y, p).counts, matrix.counts)
    assert ConfusionMatrix.from_predictions(y, p).labels.tolist() == sorted(NAMES)
    assert np.array_equal(
        ConfusionMatrix.from_groups(y, p, g)[1].counts, ConfusionMatrix.from_groups(true, predicted, groups)[1].counts
    )
    found = grouped_auc(true % 2, score, g)
    assert found.groups.tolist() == sorted(NAMES)
    assert np.array_equal(found.values, grouped_auc(true % 2, score, groups).values)
    two = KINDS[kind](["b" if code % 2 else "a" for code in true.tolist()])
    assert Ranking(two, score, pos_label="b").roc_auc() == Ranking(true % 2, score).roc_auc()
    assert (
        bias_variance(y, [p, y], loss="zero_one").bias == bias_variance(true, [predicted, true], loss="zero_one").bias
    )
    if kind != "bytes":  # scikit-learn refuses these
        assert metrics.accuracy_score(y, p) == metrics.accuracy_score(true, predicted)
        assert np.array_equal(metrics.confusion_matrix(y, p), matrix.counts)


@pytest.mark.parametrize("n", [4, ROWS_PER_BLOCK + 4])
@pytest.mark.parametrize(
    "make",
    [
        lambda text: np.array(text, dtype=object),
        lambda text: pd.Series(text, dtype="str"),
        lambda text: pd.Series(text, dtype="category"),
        lambda text: pa.array(text).dictionary_encode(),
        lambda text: pl.Series(text, dtype=pl.Categorical),
    ],
)
def test_missing_text_is_counted(make: Callable[[list[str | None]], Any], n: int) -> None:
    text: list[str | None] = ["a", "b"] * (n // 2)
    text[3] = None
    with pytest.raises(ValueError, match="y has 1 missing value, the first at row 3"):
        as_labels("y", make(text))


@pytest.mark.parametrize("make", [lambda text: np.array(text, dtype=object), pd.Categorical, pa.array, pl.Series])
def test_text_that_numpy_would_cut_is_an_error(make: Callable[[list[str]], Any]) -> None:
    with pytest.raises(ValueError, match=r"y must hold text that does not end with a NUL, .*: got 'a\\x00'"):
        as_labels("y", make(["a", "a\0", "b"]))


def test_categories_that_are_numbers_are_numbers() -> None:
    labels = as_labels("y", pd.Categorical([3, 1, 3]))
    assert labels.dtype == np.int64
    assert labels.tolist() == [3, 1, 3]


def test_objects_that_are_equal_are_one_label() -> None:
    many = [f"id {i}" for i in range(3000)]  # more than the first table holds
    rows = np.random.default_rng(0).integers(0, 3000, ROWS_PER_BLOCK + 9)
    labels = as_labels(
        "y", np.array(many + [f"{each}" for each in many] + [b"id 7", np.str_("id 8")], dtype=object)[rows]
    )
    assert np.asarray(labels).tolist() == [many[row] for row in rows.tolist()]
    both = as_labels("y", np.array(["id 7", b"id 7", np.str_("id 7")], dtype=object))
    assert unique_inverse(both)[0].tolist() == ["id 7"]


def test_comparisons() -> None:
    first, second = as_labels("y", ["a", "b", "c"]), as_labels("y", ["a", "c", "c"])
    assert (first == second).tolist() == [True, False, True]
    assert (first != second).tolist() == [False, True, False]
    assert (first == "b").tolist() == [False, True, False]
    assert (first == "bb").tolist() == [False] * 3
    assert (first == np.array(["a", "x", "c"])).tolist() == [True, False, True]
    assert list(first) == first.copy().tolist() == ["a", "b", "c"]
    names, codes = share_names([first, second])
    assert names.tolist() == ["a", "b", "c"]
    assert [each.tolist() for each in codes] == [[0, 1, 2], [0, 2, 2]]


def test_missing_text_is_said_to_be_in_the_target_that_lacks_it() -> None:
    text = np.array(["a", None, "b"], dtype=object)
    with pytest.raises(ValueError, match=r"^y_pred has 1 missing value, the first at row 1"):
        metrics.accuracy_score(["a", "b", "b"], text)


# Text of a type of its own ------------------------------------------------------------------------------------------


class Mood(str, enum.Enum):  # noqa: UP042 (NumPy cuts what str makes of a member, "Mood.NEG", to "Moo")
    NEG = "neg"
    POS = "pos"


class Shout(str):  # equal to nothing but itself, and without a hash
    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = None  # type: ignore[assignment]


HOLD: dict[str, Callable[[list[Any]], Any]] = {
    "list": list,
    "tuple": tuple,
    "objects": lambda text: np.array(text, dtype=object),
    "pandas, objects": lambda text: pd.Series(text, dtype=object),
    "categories": pd.Categorical,
}
MEMBERS = [Mood.NEG, Mood.POS, Mood.POS]
OTHER = [Mood.POS, Mood.NEG, Mood.POS]  # one of three is right


@pytest.mark.parametrize("hold", HOLD.values(), ids=HOLD)
def test_members_of_an_enum_are_the_text_that_they_hold(hold: Callable[[list[Any]], Any]) -> None:
    y, p, score = hold(MEMBERS), hold(OTHER), [0.1, 0.4, 0.9]
    matrix = ConfusionMatrix.from_predictions(y, p)
    assert (matrix.labels.tolist(), matrix.counts.tolist()) == (["neg", "pos"], [[0, 1], [1, 1]])
    assert ConfusionMatrix.from_predictions(y, p, labels=hold([Mood.POS, Mood.NEG])).counts.tolist() == [[1, 1], [1, 0]]
    assert ConfusionMatrix.from_groups(y, p, p)[0].tolist() == ["neg", "pos"]
    assert mcnemar_test(y, p, y).table.tolist() == [[1, 0], [2, 0]]
    assert "p      0.3333" in str(report({"y": y, "p": p}, label="y", pred="p", n_resamples=0))
    for positive in ("pos", Mood.POS):
        assert Ranking(y, score, pos_label=positive).roc_auc() == 1
        assert grouped_auc(y, score, [1, 1, 1], pos_label=positive).values.tolist() == [1]
    assert grouped_auc([0, 1, 1, 0], [1, 2, 3, 4], hold([*OTHER, Mood.NEG])).groups.tolist() == ["neg", "pos"]
    assert ClassRankings(hold([Mood.NEG, Mood.POS]), [[0.9, 0.1], [0.2, 0.8]]).labels.tolist() == ["neg", "pos"]
    assert bias_variance(y, [p, p], loss="zero_one").bias == 2 / 3
    folds = [test.tolist() for _, test in KFold(2, stratified=True, rng=0).split(np.zeros(6), hold(MEMBERS + OTHER))]
    assert all(len({(MEMBERS + OTHER)[row] for row in fold}) == 2 for fold in folds)


@pytest.mark.parametrize("hold", HOLD.values(), ids=HOLD)
def test_members_of_an_enum_are_text_in_place_of_scikit_learn(hold: Callable[[list[Any]], Any]) -> None:
    y, p, score = hold(MEMBERS), hold(OTHER), [0.1, 0.4, 0.9]
    assert metrics.accuracy_score(y, p) == 1 / 3
    assert metrics.confusion_matrix(y, p, labels=hold([Mood.POS, Mood.NEG])).tolist() == [[1, 1], [1, 0]]
    assert metrics.classification_report(y, p, output_dict=True)["pos"]["recall"] == 0.5
    for positive in ("pos", Mood.POS):
        assert metrics.recall_score(y, p, pos_label=positive) == 0.5
        assert metrics.average_precision_score(y, score, pos_label=positive) == 1
        assert metrics.brier_score_loss(y, score, pos_label=positive) == pytest.approx((0.01 + 0.36 + 0.01) / 3)
        assert metrics.auc(*metrics.roc_curve(y, score, pos_label=positive)[:2]) == 1
    assert metrics.roc_auc_score(y, score) == 1


@pytest.mark.parametrize("text", [["neg", "pos"], np.array(["neg", "pos"]), np.array(["neg", "pos"], dtype=object)])
def test_a_member_of_an_enum_is_the_positive_one_of_text(text: Any) -> None:
    for score in (metrics.f1_score, metrics.precision_score, metrics.recall_score, metrics.jaccard_score):
        assert score(text, text, pos_label=Mood.POS) == 1
    fpr, tpr, _ = metrics.roc_curve([*text, "x"], [0.1, 0.9, 0.2], pos_label=Mood.POS)  # three labels
    assert metrics.auc(fpr, tpr) == 1
    assert ConfusionMatrix.from_predictions(text, text, pos_label=Mood.NEG).labels.tolist() == ["pos", "neg"]
    assert ConfusionMatrix.from_predictions(text[:1], text[:1], pos_label=Mood.POS).labels.tolist() == ["neg", "pos"]


def test_models_and_data_sets_are_called_by_the_text_of_an_enum() -> None:
    results = {Mood.NEG: [0.1, 0.2, 0.3], Mood.POS: [0.2, 0.4, 0.5], "x": [0.1, 0.3, 0.6]}
    assert "neg: 2.833, pos: 1.333, x: 1.833" in str(friedman_test(results))
    assert "AUC of neg " in str(delong([0, 1, 1, 0], {Mood.NEG: [0, 1, 1, 1], Mood.POS: [0, 1, 1, 0]}))


def test_text_that_compares_by_itself_is_told_apart_by_its_characters() -> None:
    text = [Shout("a"), Shout("a"), Shout("b"), np.str_("b"), "a"]
    for held in (text, np.array(text, dtype=object)):
        assert np.asarray(as_labels("y", held)).tolist() == ["a", "a", "b", "b", "a"]


# One long text -------------------------------------------------------------------------------------------------------


@pytest.mark.cases(1)
@pytest.mark.parametrize("hold", [list, np.array, pd.Series], ids=["list", "objects", "pandas"])
def test_a_long_text_among_many_takes_room_for_itself_alone(hold: Callable[..., Any]) -> None:
    n, long = 20_000, "x" * 5000  # with one width for all, 400 MB
    names = [f"g{k}" for k in range(n // 2)]
    short = np.array([*names, *names], dtype=object)
    names[7] = long
    keys = [*names, *names] if hold is list else hold([*names, *names], dtype=object)
    y, score = np.arange(n) < n // 2, np.arange(n) % 7
    tracemalloc.start()
    found, expected = grouped_auc(y, score, keys), grouped_auc(y, score, short)
    label = ["A"] * (n - 1) + [long]
    matrix = ConfusionMatrix.from_predictions(label, ["A"] * n)
    by_query = query_metrics(y, score, keys, "mrr")
    accuracy = metrics.accuracy_score(label, ["A"] * n)
    frame = found.to_frame()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 150e6  # in case something is compiled
    order = np.argsort(np.array(names, dtype=object))
    assert found.groups.tolist() == sorted(names)
    place = {name: k for k, name in enumerate(expected.groups.tolist())}
    of_short = [f"g{k}" for k in order.tolist()]
    assert np.array_equal(found.values, expected.values[[place[name] for name in of_short]], equal_nan=True)
    assert matrix.counts.tolist() == [[n - 1, 0], [1, 0]]
    assert accuracy == 1 - 1 / n
    assert len(frame) == by_query["mrr"].values.size == n // 2
    summary = GroupSummary()
    summary.update(y, score, keys)
    assert list(GroupSummary.from_bytes(summary.to_bytes()).rankings()) == found.groups.tolist()


# Times of a zone ------------------------------------------------------------------------------------------------------

PARIS = pd.Series(pd.to_datetime(["2024-01-01", "2024-07-02"] * 4).tz_localize("Europe/Paris")).dt.as_unit("us")
MIDNIGHTS = PARIS.dt.to_pydatetime().tolist()[:2]  # the day before in UTC


@pytest.mark.parametrize(
    "column",
    [
        PARIS,
        pd.DatetimeIndex(PARIS),
        PARIS.array,
        PARIS.astype(pd.ArrowDtype(pa.timestamp("us", "Europe/Paris"))),
        pl.from_pandas(PARIS),
        pa.array(PARIS),
        pa.chunked_array([pa.array(PARIS[:3]), pa.array(PARIS[3:])]),
        PARIS.dt.to_pydatetime(),
        PARIS.dt.to_pydatetime().tolist(),
    ],
    ids=["Series", "Index", "pandas array", "Arrow in pandas", "polars", "Arrow", "chunks", "objects", "list"],
)
def test_times_keep_their_zone_as_groups(column: Any) -> None:
    y, score = [0, 0, 1, 1] * 2, [1, 2, 3, 4, 4, 3, 2, 1]
    assert grouped_auc(y, score, column).groups.tolist() == MIDNIGHTS
    assert list(query_metrics(y, score, column, "mrr")["mrr"].queries) == MIDNIGHTS
    assert ConfusionMatrix.from_groups(y, y, column)[0].tolist() == MIDNIGHTS
    if not isinstance(column, list) and getattr(column, "dtype", None) != np.dtype(object):
        shown = report({"y": y, "s": score, "day": column}, label="y", score="s", by="day", n_resamples=0)
        assert [block.value for block in shown.blocks] == MIDNIGHTS


def test_times_in_utc_end_with_a_z() -> None:
    utc = pd.Series(pd.date_range("2024-01-01", periods=2, tz="UTC", unit="us"))
    for column in (utc, pl.from_pandas(utc), pa.array(utc)):
        found = as_labels("groups", column)
        assert np.asarray(found).tolist() == ["2024-01-01 00:00:00.000000Z", "2024-01-02 00:00:00.000000Z"]
