from __future__ import annotations

import subprocess
import sys
import tomllib
import types
from pathlib import Path

import numpy as np
import pytest

import fastevals
from fastevals.integrations import _packages
from fastevals.integrations._metric import OneMetric

Y, S = np.array([0, 1, 1, 0, 1]), np.array([0.2, 0.3, 0.8, 0.3, 0.1])
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", ["roc_auc", "average_precision", "brier_score", fastevals.metric("f1", threshold=0.3)])
@pytest.mark.parametrize("weights", [None, np.array([1, 2, 0.5, 1, 3])])
def test_a_metric_of_scores_is_that_of_the_registry(name, weights) -> None:
    found = OneMetric.read(name).value(Y, S[:, None], sample_weight=weights)
    assert found == fastevals.batch_metrics(Y, [S], {"it": name}, sample_weight=weights)["it"][0]


def test_a_metric_of_classes_of_targets_and_of_queries() -> None:
    matrix = np.array([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.3, 0.4, 0.3]])
    assert OneMetric.read("accuracy").value([0, 1, 2], matrix) == 2 / 3
    assert OneMetric.read("log_loss").value([0, 1, 2], matrix) == pytest.approx(
        -np.log([0.6, 0.5, 0.3]).mean(), rel=1e-15
    )
    assert OneMetric.read("mse").value([0.0, 1.0], [1.0, 3.0]) == 2.5
    assert OneMetric.read("mrr").value([0, 1, 1, 0], [4, 3, 2, 1], queries=[5, 5, 6, 6]) == 0.75


@pytest.mark.parametrize(
    ("name", "greater", "of_queries", "of_labels"),
    [
        ("roc_auc", True, False, False),
        ("log_loss", False, False, False),
        ("ndcg@10", True, True, False),
        ("accuracy", True, False, True),
        ("mean_predicted", None, False, False),
    ],
)
def test_what_a_tool_asks_of_a_metric(name, greater, of_queries, of_labels) -> None:
    read = OneMetric.read(name, name="mine")
    assert (read.name, read.greater_is_better, read.is_of_queries, read.is_of_labels) == (
        "mine", greater, of_queries, of_labels,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("metric", "rule"),
    [
        (None, "metric must be a name or metric(...), got None"),
        (len, "metric must be a name or metric(...), got <built-in function len>"),
        (["roc_auc"], "metric must be a name or metric(...), got ['roc_auc']"),
        ("roc_acu", "metric must be one of 81 names; got 'roc_acu'"),
    ],
)
def test_what_is_no_metric(metric, rule) -> None:
    with pytest.raises(ValueError, match="metric must") as caught:
        OneMetric.read(metric)
    assert str(caught.value).startswith(rule)


def test_messages_name_the_predictions() -> None:
    with pytest.raises(ValueError, match=r"^predictions must be finite, but has 1 NaN value"):
        OneMetric.read("roc_auc").value([0, 1], [0.1, np.nan])
    said = r"roc_auc is undefined \(NaN\): it has no value for these labels and predictions"
    with pytest.warns(fastevals.UndefinedMetricWarning, match=said):
        assert np.isnan(OneMetric.read("roc_auc").value([1, 1], [0.1, 0.2]))


def test_a_metric_that_lacks_what_it_needs() -> None:
    with pytest.raises(ValueError, match="map measures ranked documents: it needs the query of each row"):
        OneMetric.read("map").value(Y, S)
    with pytest.raises(ValueError, match="takes no weights of rows"):
        OneMetric.read("map").value(Y, S, queries=Y, sample_weight=S)
    with pytest.raises(ValueError, match="must give one number, and f1\\(average=None\\) gives one for each class"):
        OneMetric.read(fastevals.metric("f1", average=None)).value([0, 1, 2], np.eye(3))
    with pytest.raises(ValueError, match="mean_predicted has no direction, so no model is best by it"):
        OneMetric.read("mean_predicted").direction()


def versioned(monkeypatch, version: str | None) -> None:
    module = types.ModuleType("xgboost")
    if version is not None:
        module.__version__ = version
    monkeypatch.setitem(sys.modules, "xgboost", module)
    monkeypatch.setattr(_packages, "_warned", set())


@pytest.mark.parametrize("version", ["2.1.0", "3.2.0", "3.99rc1", None])
def test_a_version_that_is_tested(monkeypatch, version) -> None:
    versioned(monkeypatch, version)
    assert _packages.load("xgboost", "this") is sys.modules["xgboost"]


def test_a_version_that_is_too_old_is_refused(monkeypatch) -> None:
    versioned(monkeypatch, "1.7.6")
    said = r"this is tested with xgboost 2\.1 to \S+, and 1\.7\.6 is installed: pip install 'xgboost>=2\.1'"
    with pytest.raises(ImportError, match=said):
        _packages.load("xgboost", "this")


def test_a_newer_major_version_is_said_once(monkeypatch) -> None:
    versioned(monkeypatch, "99.1")
    with pytest.warns(UserWarning, match=r"this is tested with xgboost 2\.1 to \S+, and 99\.1 is installed"):
        _packages.load("xgboost", "this")
    _packages.load("xgboost", "this")


def test_a_missing_package_is_named(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "xgboost", None)
    with pytest.raises(ModuleNotFoundError, match="this needs xgboost: pip install xgboost"):
        _packages.load("xgboost", "this")


def test_extras_start_at_the_oldest_version_that_is_tested() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for package, (oldest, _, install) in _packages.TESTED.items():
        if package in extras:
            assert [line for line in extras[package] if line.startswith(f"{install}>={oldest}")], package


# The import of torch's defines a torchmetrics.Metric, that of Polars' registers a namespace.
FILES = {path.stem for path in (ROOT / "fastevals/integrations").glob("[a-z]*.py")}
ALONE = sorted(FILES - {"polars", "torch"})


@pytest.mark.parametrize("name", ALONE)
def test_importing_an_integration_loads_nothing_else(name: str) -> None:
    code = f"""
import sys
before = {{*sys.modules}}
import fastevals.integrations.{name}
print(*sorted({{name.partition(".")[0] for name in sys.modules.keys() - before}} - sys.stdlib_module_names))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["fastevals"]


@pytest.mark.cases(1)
@pytest.mark.parametrize("name", ["polars", "torch"])
def test_an_integration_that_loads_its_tool_says_how_to_install_it(name: str) -> None:
    code = f"import sys; sys.modules[{name!r}] = None; import fastevals.integrations.{name}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr.endswith(f"fastevals.integrations.{name} needs {name}: pip install {name}\n")
