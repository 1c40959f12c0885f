"""Names of files as values of a trend."""

from __future__ import annotations

import pytest

from fastevals.reading.named_files import names_of_files, natural_key


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["a/day-2.csv", "a/day-10.csv"], [2, 10]),
        (["day-2026-11-01.fe", "day-2026-11-02.fe"], ["2026-11-01", "2026-11-02"]),
        (["day=1/part.parquet", "day=2/part.parquet"], [1, 2]),
        (["mon.csv", "tue.csv"], ["mon", "tue"]),
        (["v1-eu.csv.gz", "v2-eu.csv.gz"], [1, 2]),
        (["x-01.csv", "x-02.csv"], ["01", "02"]),
    ],
)
def test_names_are_what_differs(paths: list[str], names: list[object]) -> None:
    assert names_of_files(paths) == names


def test_one_file_or_equal_names_are_refused() -> None:
    with pytest.raises(ValueError, match="trend needs two files or more"):
        names_of_files(["a.csv"])
    with pytest.raises(ValueError, match="files with different names, got 'a/x' twice"):
        names_of_files(["a/x.csv", "a/x.parquet"])


def test_text_is_in_natural_order() -> None:
    assert sorted(["d10b", "d2a", "d2b"], key=natural_key) == ["d2a", "d2b", "d10b"]
