"""Keys of groups: ordered objects of any door, and combinations of several columns, against plain Python."""

import datetime
import decimal
import enum
import uuid
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastevals import grouped_auc
from fastevals.counting.groups import code_groups
from fastevals.counting.keys import as_group_keys
from tests.strategies import BOUNDED


class Grade(enum.Enum):
    """Members in an order that neither their names nor their values have."""

    LOW = "m"
    MIDDLE = 1
    HIGH = "a"


BERLIN = ZoneInfo("Europe/Berlin")
HOURS = [datetime.datetime(2024, 10, 27, hour, 30, tzinfo=datetime.UTC).astimezone(BERLIN) for hour in (0, 1, 2)]
ZONED = pd.Series(pd.to_datetime(HOURS, utc=True)).dt.tz_convert("Europe/Berlin").dt.as_unit("us")
BANDS = pd.arrays.IntervalArray.from_tuples([(2, 10), (10, 100), (100, 1000)])  # as text, 2 would come last
# Half past two comes twice that night, and Python takes both for one moment, unless their zones are offsets.
MOMENTS = [each.replace(tzinfo=datetime.timezone(each.utcoffset() or datetime.timedelta())) for each in HOURS]
MONTHS = pd.period_range("2024-09", periods=3, freq="M")
IDS = [uuid.UUID(int=k) for k in (5, 2**100, 2**127)]
AMOUNTS = [decimal.Decimal(each) for each in ("2.5", "10.50", "100")]
KINDS: dict[str, tuple[Any, list[Any]]] = {
    "cut": (pd.Series(pd.cut([5, 50, 500], [2, 10, 100, 1000])), list(BANDS)),
    "interval": (pd.Series(BANDS), list(BANDS)),
    "interval objects": (list(BANDS), list(BANDS)),
    "period": (pd.Series(MONTHS), list(MONTHS)),
    "zoned": (ZONED, list(ZONED)),
    "zoned, polars": (pl.from_pandas(ZONED), MOMENTS),
    "zoned, Arrow": (pa.array(ZONED), MOMENTS),
    "zoned, Arrow in pandas": (ZONED.astype(pd.ArrowDtype(pa.timestamp("us", "Europe/Berlin"))), MOMENTS),
    "datetime": (HOURS, MOMENTS),
    "identifier": (np.array(IDS), IDS),
    "decimal": (AMOUNTS, AMOUNTS),
    "decimal, polars": (pl.Series(AMOUNTS), AMOUNTS),
    "decimal, Arrow": (pa.chunked_array([AMOUNTS[:1], AMOUNTS[1:]], pa.decimal128(9, 2)), AMOUNTS),
    "member": (list(Grade), list(Grade)),
    "tuple": ([("a", 2), ("a", 10), ("b", 1)], [("a", 2), ("a", 10), ("b", 1)]),
}


def taken(column: Any, rows: list[int]) -> Any:
    if isinstance(column, list):
        return [column[row] for row in rows]
    return column.iloc[rows] if hasattr(column, "iloc") else column.take(rows) if is_arrow(column) else column[rows]


def is_arrow(column: Any) -> bool:
    return isinstance(column, (pa.Array, pa.ChunkedArray))


@pytest.mark.parametrize("kind", KINDS)
def test_ordered_objects_are_keys_in_their_own_order(kind: str) -> None:
    column, expected = KINDS[kind]
    rows = [2, 0, 1, 1, 0, 2, 0]
    keys = as_group_keys("groups", taken(column, rows))
    codes = code_groups(keys)
    assert codes.block(slice(None)).tolist() == rows
    assert codes.keys(np.arange(3)).tolist() == expected
    assert "datetime" not in kind or codes.keys(np.array([2]))[0].tzinfo is BERLIN
    found = grouped_auc([0, 1, 1, 0, 1, 1, 0], [1, 2, 3, 4, 5, 6, 7], taken(column, rows))
    assert [found[key] for key in expected] == found.values.tolist()
    with pytest.raises(KeyError, match="no group has the key"):
        found["another"]


def test_frames_have_the_types_of_keys() -> None:
    for column, dtype in (("interval", "interval[int64, right]"), ("period", "period[M]")):
        found = grouped_auc([0, 1] * 3, range(6), taken(KINDS[column][0], [0, 0, 1, 1, 2, 2]))
        assert found.to_frame("pandas")["group"].dtype == dtype
    zoned = grouped_auc([0, 1] * 3, range(6), ZONED.repeat(2))
    assert zoned.to_frame("pandas")["group"].tolist() == list(ZONED)
    assert zoned.to_frame("polars")["group"].to_list() == [
        "2024-10-27 02:30:00.000000+0200",
        "2024-10-27 02:30:00.000000+0100",
        "2024-10-27 03:30:00.000000+0100",
    ]
    bands = grouped_auc([0, 1] * 3, range(6), pd.Series(BANDS).repeat(2))
    assert bands.to_dict()["groups"] == ["(2, 10]", "(10, 100]", "(100, 1000]"]
    assert "\n(10, 100] " in bands.to_text()
    assert "(10, 100]: 1" in str(bands)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([*IDS, None], "g has 1 missing value, the first at row 3"),
        (pd.Series([MONTHS[0], pd.NaT, pd.NaT]), "g has 2 missing values, the first at row 1"),
        ([decimal.Decimal(1), decimal.Decimal("NaN")], "g has 1 missing value, the first at row 1"),
        ([IDS[0], 5], "g must have values of one type, got UUID.* and 5 at row 1"),
        ([HOURS[0], HOURS[0].replace(tzinfo=None)], "g must hold dates or times of one type"),
        ([("a", 1), (1, "a")], "g must have values that have an order"),
        ([("a", []), ("b", [])], "g must have values that are hashable"),
        ({"a": [1, 2], "b": [1, 2, 3]}, r"g\['b'\] has 3 rows, but g\['a'\] has 2"),
        (pd.DataFrame({"a": [1, 2], "b": ["x", None]}), r"g\['b'\] has 1 missing value, the first at row 1"),
        (pd.DataFrame(index=range(3)), "g must have a column or more, got none"),
        ({"a": []}, r"g\['a'\] is empty"),
    ],
)
def test_keys_that_are_refused(values: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        as_group_keys("g", values)


COLUMN = st.sampled_from(
    [["b", "a", "c"], [3, -7, 10**15], [0.5, -1.0, 1e300], [True, False, True], AMOUNTS, list(Grade)]
)


@BOUNDED
@given(st.lists(COLUMN, min_size=2, max_size=4), st.data())
def test_several_columns_are_tuples_in_order(columns: list[list[Any]], data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 30))
    drawn = [[data.draw(st.sampled_from(values)) for _ in range(n)] for values in columns]
    codes = code_groups(as_group_keys("groups", drawn))
    rows = list(zip(*drawn, strict=True))
    order = {each: k for k, each in enumerate(Grade)}
    expected = sorted(
        set(rows), key=lambda row: [order.get(each, each) if isinstance(each, Grade) else each for each in row]
    )
    assert codes.keys(np.arange(codes.width)).tolist() == expected
    assert [expected[code] for code in codes.block(slice(None)).tolist()] == rows


def test_combinations_beyond_a_table_are_numbered_by_hash() -> None:
    rng = np.random.default_rng(0)
    columns = rng.integers(-(2**62), 2**62, (3, 400))[:, rng.integers(0, 400, 1000)]
    codes = code_groups(as_group_keys("groups", columns.T))
    expected = sorted(set(zip(*columns.tolist(), strict=True)))
    assert codes.keys(np.arange(codes.width)).tolist() == expected
    assert np.array_equal(np.array(expected)[codes.block(slice(None))], columns.T)
