import json
from pathlib import Path

import numpy as np

from fastevals.datasets import load_psnr

CASE = json.loads((Path(__file__).parents[1] / "data" / "cases.json").read_text())["psnr"]


def test_every_number_is_the_tables():
    columns = load_psnr()
    methods = list(CASE["data"]["Lena"])
    assert list(columns) == ["image", "sigma", *methods]
    assert [columns[name].dtype.kind for name in columns] == ["U", "i", *"ffff"]
    assert columns["sigma"].dtype == np.int64
    rows = {
        (image, sigma): values
        for image, sigma, *values in zip(*(column.tolist() for column in columns.values()), strict=True)
    }
    wanted = {
        (image, sigma): [float(table[method][k]) for method in methods]
        for image, table in CASE["data"].items()
        for k, sigma in enumerate(CASE["sigma"])
    }
    assert list(rows.items()) == list(wanted.items())
    assert columns["image"].shape == (45,)


def test_each_call_gives_arrays_of_its_own():
    load_psnr()["NLM"][:] = 0
    assert load_psnr()["NLM"].min() > 0
