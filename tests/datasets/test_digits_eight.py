import csv
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from fastevals import datasets

FILE = Path(datasets.__file__).with_name("digits_eight.csv")


def test_columns_are_the_file():
    columns = datasets.load_digits_eight()
    lines = [",".join(map(repr, row)) for row in zip(*(column.tolist() for column in columns.values()), strict=True)]
    assert FILE.read_text(encoding="utf-8") == "\n".join([",".join(columns), *lines, ""])
    assert {name: column.dtype.kind for name, column in columns.items()} == {
        "label": "i", "fold": "i", "logistic": "f", "naive_bayes": "f", "random_forest": "f"
    }  # fmt: skip
    assert np.bincount(columns["fold"]).tolist() == [360, 360, 359, 359, 359]


def test_ties_are_as_described():
    columns = datasets.load_digits_eight()
    assert int((columns["naive_bayes"] == 1).sum()) == 764
    assert np.unique(columns["random_forest"]).size == 26
    assert np.unique(columns["logistic"]).size == 1797


@pytest.mark.slow
def test_script_makes_the_file(tmp_path):
    pytest.importorskip("sklearn")
    file = tmp_path / "made.csv"
    subprocess.run([sys.executable, "-m", "fastevals.datasets.make_digits_eight", str(file)], check=True)
    names, *rows = csv.reader(file.read_text(encoding="utf-8").splitlines())
    made = dict(zip(names, np.array(rows, dtype=float).T, strict=True))
    columns = datasets.load_digits_eight()
    assert list(columns) == names
    for name in ("label", "fold", "random_forest"):
        np.testing.assert_array_equal(made[name], columns[name])
    for name in ("logistic", "naive_bayes"):  # their last digits depend on the BLAS and the processor
        np.testing.assert_allclose(made[name], columns[name], rtol=1e-6)
