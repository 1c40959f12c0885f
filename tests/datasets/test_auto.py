import csv
from pathlib import Path

import numpy as np
import pytest

from fastevals import datasets

FILE = Path(datasets.__file__).with_name("auto.csv")


def test_columns_are_the_file():
    columns = datasets.load_auto()
    names, *rows = csv.reader(FILE.read_text(encoding="utf-8").splitlines())
    assert list(columns) == names
    assert "".join(column.dtype.kind for column in columns.values()) == "fifiifiiU"
    for name, read in zip(names, zip(*rows, strict=True), strict=True):
        kind = type(columns[name].tolist()[0])
        assert columns[name].tolist() == list(map(kind, read))


def test_the_file_is_the_one_that_reference_figures_are_of():
    assert FILE.read_bytes() == (Path(__file__).parents[1] / "data" / "auto.csv").read_bytes()


def test_published_fits():
    """Check coefficients and R squared of mpg on horsepower: James et al., table 3.10 and exercise 3.8."""
    cars = datasets.load_auto()
    x, y = cars["horsepower"], cars["mpg"]
    assert (x.size, np.unique(cars["name"]).size) == (392, 301)
    assert np.polyfit(x, y, 2).tolist() == pytest.approx([0.0012, -0.4662, 56.9001], abs=5e-5)
    slope, constant = np.polyfit(x, y, 1)
    assert (constant, slope) == pytest.approx((39.936, -0.1578), abs=5e-4)
    assert np.corrcoef(x, y)[0, 1] ** 2 == pytest.approx(0.606, abs=5e-4)
