from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module, metadata
from pathlib import Path

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
    assert getattr(home, name) is value
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


def test_an_unknown_name() -> None:
    with pytest.raises(AttributeError, match="module 'fastevals' has no attribute 'Rankin'"):
        _ = fastevals.Rankin
    assert not hasattr(fastevals, "numba")


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
