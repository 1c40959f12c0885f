from __future__ import annotations

import ast
import pickle
import subprocess
import sys
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

import pytest

import fastevals

PACKAGE = Path(fastevals.__file__).parent
TREE = ast.parse((PACKAGE / "__init__.py").read_text())


def value_of(name: str) -> object:
    for node in TREE.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", None) == name:
            return ast.literal_eval(node.value)
    raise AssertionError(f"no {name} in __init__.py")


def modules_after(code: str) -> set[str]:
    # -X importtime would list them too, but this needs no parsing.
    code += "\nimport sys; print(*{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


HEAVY = {"numba", "llvmlite", "scipy", "pandas", "sklearn", "polars", "pyarrow", "torch", "matplotlib", "tqdm"}


def test_the_import_loads_nothing_heavy() -> None:
    assert not modules_after("import fastevals; dir(fastevals); fastevals.__version__") & {*HEAVY, "numpy"}


def test_settings_compile_nothing() -> None:
    assert not modules_after("import fastevals; fastevals.set_num_threads(2); fastevals.UndefinedMetricWarning") & HEAVY


def test_a_ranking_loads_no_peer() -> None:
    loaded = modules_after("import fastevals; fastevals.Ranking([0, 1], [0.1, 0.2]).roc_auc()")
    assert "numba" in loaded
    assert not loaded & (HEAVY - {"numba", "llvmlite", "scipy"})


def test_a_ranking_loads_no_scipy_stats() -> None:
    code = """
import sys, fastevals
fastevals.Ranking([0, 1], [0.1, 0.2]).roc_auc()
sys.exit("scipy.stats" in sys.modules)
"""
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


@pytest.mark.parametrize("name", fastevals.__all__)
def test_public_names(name: str) -> None:
    value = getattr(fastevals, name)
    assert value.__name__ == name
    assert name in dir(fastevals)
    assert value.__doc__
    home = import_module(f"fastevals.{fastevals._HOMES[name]}")
    assert getattr(home, name) in (value, getattr(value, "__wrapped__", None))
    assert pickle.loads(pickle.dumps(value)) is value
    assert name in getattr(home, "__all__", [name])


def test_the_three_lists_of_public_names_agree() -> None:
    homes, names = value_of("_HOMES"), value_of("__all__")
    assert isinstance(homes, dict)
    assert isinstance(names, list)
    assert names == sorted(names, key=lambda name: (not name[0].isupper(), name))
    assert sorted(homes) == sorted(names)
    block = next(node for node in TREE.body if isinstance(node, ast.If))
    assert getattr(block.test, "id", None) == "TYPE_CHECKING"
    imported = {
        alias.name: node.module
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname is None
    }
    assert imported == {name: f"fastevals.{home}" for name, home in homes.items()}


def test_a_star_import_gives_all() -> None:
    names: dict[str, object] = {}
    exec("from fastevals import *", names)
    assert set(fastevals.__all__) <= set(names)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("Rankin", "'Ranking'"),
        ("auc", r"Ranking\(y_true, y_score\)\.roc_auc\(\)"),
        ("average_precision", r"Ranking\(y_true, y_score\)\.average_precision\(\)"),
        ("mcc", r"ConfusionMatrix\.from_predictions\(y_true, y_pred\)\.matthews\(\)"),
        ("youden", r"metric\('informedness'\)"),
        ("f2", r"metric\('f_score', beta=2\)"),
        ("roc_auc_score", r"fastevals\.metrics\.roc_auc_score"),
    ],
)
def test_an_unknown_name_is_answered_by_the_one_meant(name: str, meant: str) -> None:
    with pytest.raises(
        AttributeError, match=rf"^module 'fastevals' has no attribute '{name}' \(did you mean {meant}\?\)$"
    ):
        getattr(fastevals, name)


def test_an_unknown_name_that_is_like_none() -> None:
    assert not hasattr(fastevals, "numba")
    with pytest.raises(AttributeError, match=r"^module 'fastevals' has no attribute 'numba'$"):
        _ = fastevals.numba


def test_dir_holds_public_names_alone() -> None:
    assert dir(fastevals) == sorted([*fastevals.__all__, "__version__", "datasets", "metrics", "show"])
    for name in ("datasets", "metrics", "show", "show.plots"):
        module = import_module(f"fastevals.{name}")
        assert dir(module) == sorted(module.__all__), name
    after = "import fastevals; fastevals.datasets.load_psnr, fastevals.metrics.auc, fastevals.show.plots.plot_roc"
    assert "numba" in modules_after(after)  # what dir names is there


@pytest.mark.parametrize(
    ("call", "option", "meant"),
    [
        (lambda **given: fastevals.bootstrap(None, None, **given), "random_state", "rng"),
        (lambda **given: fastevals.bootstrap(None, None, **given), "n_bootstrap", "n_resamples"),
        (lambda **given: fastevals.bootstrap(None, None, **given), "n_resample", "n_resamples"),
        (lambda **given: fastevals.delong_test([], [], [], **given), "alpha", "confidence_level"),
        (lambda **given: fastevals.select_model(None, [], [], "f1", **given), "param_grid", "grid"),
        (lambda **given: fastevals.Ranking([], [], **given), "weights", "sample_weight"),
        (lambda **given: fastevals.ConfusionMatrix.from_predictions([], [], **given), "weights", "sample_weight"),
        (lambda **given: fastevals.KFold(**given), "random_state", "rng"),
    ],
)
def test_an_unknown_keyword_is_answered_by_the_one_meant(call: Any, option: str, meant: str) -> None:
    with pytest.raises(
        TypeError, match=rf"got an unexpected keyword argument '{option}' \(did you mean '{meant}'\?\)$"
    ):
        call(**{option: 1})


def test_an_unknown_keyword_that_is_like_none() -> None:
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'xyz'; it takes test_size, train_size, .*, rng$"):
        fastevals.HoldOut(xyz=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"missing 1 required positional argument: 'metrics'$"):
        fastevals.bootstrap(None)  # type: ignore[call-arg]


def test_the_version_is_the_installed_one() -> None:
    assert fastevals.__version__ == metadata.version("fastevals")


def test_the_package_is_typed() -> None:
    assert (PACKAGE / "py.typed").is_file()


@pytest.mark.parametrize(
    "path",
    sorted({*PACKAGE.rglob("*.py")} - {*PACKAGE.rglob("__main__.py")}),
    ids=lambda path: str(path.relative_to(PACKAGE)),
)
def test_all_of_each_module_resolves(path: Path) -> None:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    module = import_module(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    assert module.__doc__
    for name in getattr(module, "__all__", []):
        assert hasattr(module, name), name


def test_no_module_asserts_about_input() -> None:
    """`python -O` drops assertions; only those that narrow a type may be dropped."""
    for path in PACKAGE.rglob("*.py"):
        tests = [node.test for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Assert)]
        assert all(ast.unparse(test).endswith(" is not None") for test in tests), path
