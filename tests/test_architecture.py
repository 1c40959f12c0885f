"""The architecture: layers import in one direction, and a call goes through few files."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import fastevals
from fastevals.measure.registry import METRICS

PACKAGE = Path(fastevals.__file__).parent

# From bottom to top: a file imports from its own layer and the layers before it.
LAYERS = (
    "_choices _files _limits _naming _options _row_order",
    "_compile",
    "_kernels",
    "_execution",
    "_random _memory _text _distinct",
    "_validation",
    "document results",
    "counts",
    "counting",
    "reading",
    "measure",
    "infer",
    "many",
    "split",
    "metrics",
    "in_place",
    "datasets",
    "scale",
    "show",
    "integrations",
    "chapter",
    "__init__ __main__",
)
LAYER_OF = {name: place for place, names in enumerate(LAYERS) for name in names.split()}
# Files that may use everything public import `fastevals` itself; no file below does, even lazily.
ROOF = LAYER_OF["__init__"]
PUBLIC_NAMES = {"__version__", *fastevals.__all__} - LAYER_OF.keys()


def layer(module: str) -> int:
    parts = module.split(".")
    return LAYER_OF[parts[1]] if len(parts) > 1 and parts[1] not in PUBLIC_NAMES else ROOF


FILES = sorted(PACKAGE.rglob("*.py"))


@cache
def nodes(path: Path) -> list[ast.AST]:
    return [*ast.walk(ast.parse(path.read_text()))]


def test_imports_point_down() -> None:
    up = {str(path.relative_to(PACKAGE)): imported_from_above(path) for path in FILES}
    assert {path: names for path, names in up.items() if names} == {}


def imported_from_above(path: Path) -> list[str]:
    own = layer(".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts))
    up = []
    for node in nodes(path):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "fastevals":
            imported = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            imported = [alias.name for alias in node.names if alias.name.split(".")[0] == "fastevals"]
        else:
            continue
        version = ["fastevals.__version__"]
        up += [name for name in imported if layer(name) > own and name not in version]
    if {"show", "integrations", "chapter"} & {*path.parts}:  # these use the public names
        up = [name for name in up if layer(name) < ROOF]
    return up


def test_files_do_not_import_each_other_in_a_circle() -> None:
    modules = {".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts): path for path in FILES}
    graph: dict[str, set[str]] = {}
    for module, path in modules.items():
        imports = {
            name
            for node in nodes(path)
            if isinstance(node, ast.ImportFrom)
            for name in (node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names))
        }
        graph[module] = imports & modules.keys()
    assert len(list(TopologicalSorter(graph).static_order())) == len(modules)  # else a CycleError that names the files


def test_there_are_no_star_imports() -> None:
    stars = [
        path for path in FILES for node in nodes(path) if isinstance(node, ast.ImportFrom) and node.names[0].name == "*"
    ]
    assert stars == []


def test_names_are_listed_only_where_users_import_from() -> None:
    listing = [str(path.relative_to(PACKAGE)) for path in FILES if "\n__all__" in path.read_text()]
    rooms = ["", "chapter/", "datasets/", "metrics/", "scale/", "show/", "show/plots/"]
    engines = [f"scale/{name}.py" for name in ("dask", "duckdb", "parquet", "spark")]
    assert sorted(listing) == sorted([f"{room}__init__.py" for room in rooms] + engines)


def test_no_two_classes_share_a_name() -> None:
    names = [node.name for path in FILES for node in nodes(path) if isinstance(node, ast.ClassDef)]
    assert {name: count for name, count in Counter(names).items() if count > 1} == {}


# The rooms that the second of two calls goes through, with kernels not compiled: those a reader has to enter.
TRIPS = {
    "AUC of a ranking": (8, "fastevals.Ranking(y, s).roc_auc()"),
    "bootstrap of an AUC": (27, "fastevals.bootstrap(fastevals.Ranking(y, s), 'roc_auc', n_resamples=9, rng=0)"),
    "of groups": (29, "fastevals.bootstrap((y, s), 'roc_auc', groups=g, n_resamples=9, rng=0)"),
    "F1 of the drop-in": (9, "metrics.f1_score(y, p)"),
    "a report": (69, "main(['report', FILE, '--label', 'y', '--score', 's', '--resamples', '19', '--quiet'])"),
}
TRIP = """
import contextlib, io, json, sys, tempfile, warnings
import numpy as np
import fastevals
from fastevals import metrics
from fastevals.show.cli import main

warnings.simplefilter("ignore")
y = np.arange(40) % 3 % 2
s = np.round(np.arange(40) * 0.618 % 1, 2)
p, g = (s > 0.5).astype(int), np.arange(40) // 4
with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    FILE = file.name
    file.write("y,s\\n" + "\\n".join(f"{a},{b}" for a, b in zip(y, s)))
    file.flush()
    found = {}
    for name, code in json.loads(sys.argv[1]).items():
        files = set()
        watch = lambda frame, *_: files.add(frame.f_code.co_filename)
        with contextlib.redirect_stdout(io.StringIO()):
            eval(code)
            sys.setprofile(watch)
            eval(code)
            sys.setprofile(None)
        root = fastevals.__path__[0]
        names = (each[len(root) + 1:] for each in files if each.startswith(root))
        found[name] = sorted(each for each in names if each != "_compile/interpreted.py")  # in the compiler's place
print(json.dumps(found))
"""


def trips() -> dict[str, list[str]]:
    """Return the files of the package that each call goes through."""
    codes = json.dumps({name: code for name, (_, code) in TRIPS.items()})
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(
        [sys.executable, "-c", TRIP, codes], env=environment, capture_output=True, text=True, check=True
    )
    return dict(json.loads(done.stdout))


def test_a_call_goes_through_few_files() -> None:
    entered = trips()
    assert {name: files for name, files in entered.items() if len(files) > TRIPS[name][0]} == {}


# A metric's properties are fields of its entry in the registry. Tables by name elsewhere:
TABLES_BY_METRIC = {
    "infer/bootstrap/jackknife.py": 1,  # for the kernel that sweeps replicates
    "measure/class_thresholds.py": 1,  # what thresholds of classes maximise
    "show/report/live.py": 1,  # computed by the page's script
}
CALLS = ("show/warm_up.py", "chapter/", "metrics/")  # as users write them, and scikit-learn's names


def test_what_is_known_of_a_metric_is_in_the_registry() -> None:
    found: Counter[str] = Counter()
    for path in FILES:
        file = path.relative_to(PACKAGE).as_posix()
        for node in nodes(path) if file != "measure/registry.py" and not file.startswith(CALLS) else ():
            items = getattr(node, "keys", None) or getattr(node, "elts", None) or []
            texts = {item.value for item in items if isinstance(item, ast.Constant)}
            found[file] += len(texts & METRICS.keys()) > 2
    assert +found == TABLES_BY_METRIC


# Names of constants that give neither the quantity nor the unit, as `ROWS_PER_BLOCK` does.
VAGUE = re.compile(
    "BATCH|BLOCK|EXACT|FAR|FEW|FEWEST|FINE|FULL|HALF|LARGE|LARGEST|LEAST|LIMIT|LONGEST|MOST|NEAR|ONE|ROUNDING|SAMPLE"
    "|SAMPLED|SCAN|SHARE|SHORT|SHOWN|SMALL|STEP|STRETCH|STRIP|TASK|TILE|USUAL|WHOLE|WORK"
)
SAME = {("SEED", "0")}  # of a script, and of a bootstrap


def test_constants_are_a_noun_and_a_unit_in_one_place() -> None:
    places: dict[tuple[str, str], list[str]] = {}
    for path in FILES:
        module = nodes(path)[0]
        assert isinstance(module, ast.Module)
        for node in module.body:
            if not isinstance(node, ast.Assign):
                continue
            target, value = node.targets[0], node.value
            are_several = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
            for name, its in zip(target.elts, value.elts, strict=True) if are_several else [(target, value)]:
                if ast.unparse(name).isupper() and "TypeVar" not in ast.unparse(its):
                    places.setdefault((ast.unparse(name), ast.unparse(its)), []).append(path.name)
    assert {name: files for (name, _), files in places.items() if VAGUE.fullmatch(name)} == {}
    assert {each: files for each, files in places.items() if len(files) > 1 and each not in SAME} == {}


def test_distinct_values_are_sorted_not_hashed() -> None:
    """NumPy hashes integers to find distinct ones, which takes up to 200 times as long as `_distinct`."""
    hashed = {"union1d", "intersect1d", "setdiff1d", "setxor1d", "unique_values"}
    found = []
    for path in FILES:
        for node in nodes(path):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                continue
            plain = node.func.attr == "unique" and not any("return_" in (each.arg or "") for each in node.keywords)
            if (plain or node.func.attr in hashed) and ast.unparse(node.func.value) == "np":
                found.append(f"{path.relative_to(PACKAGE)}:{node.lineno}: use fastevals._distinct")
    assert found == []


# Tests mirror the rooms -----------------------------------------------------------------------------------------------

TESTS = PACKAGE.parent / "tests"
OWN_FOLDERS = {"benches", "data", "reference"}  # folders of tests that belong to no room
MIRRORED = ("infer", "show")  # rooms whose tests have the same folders as the tested files


def test_folders_of_tests_are_named_as_rooms() -> None:
    folders = {path.parent.relative_to(TESTS) for path in TESTS.rglob("*.py")} - {Path()}
    rooms = {path.parent.relative_to(PACKAGE).as_posix().removeprefix("_") for path in FILES}
    assert [str(each) for each in folders if each.parts[0] not in OWN_FOLDERS and each.as_posix() not in rooms] == []


def test_tests_are_in_the_folder_of_what_they_test() -> None:
    """Move `tests/infer/test_delong.py` to `tests/infer/delong`, where `fastevals/infer/delong` has `delong.py`."""
    assert {str(path.relative_to(TESTS)): [*homes] for room in MIRRORED for path, homes in misplaced(room)} == {}


def misplaced(room: str) -> Iterator[tuple[Path, set[str]]]:
    """Yield test files at the top of a room that are named after a folder or a file in one."""
    top, homes = PACKAGE / room, {}
    for path in top.rglob("*.py"):
        name = path.parent.name if path.stem == "__init__" else path.stem
        homes.setdefault(name, set()).add(path.parent.relative_to(PACKAGE).as_posix())
    for path in (TESTS / room).glob("test_*.py"):
        folders = homes.get(path.stem.removeprefix("test_"), {room})
        if room not in folders:
            yield path, folders


if __name__ == "__main__":
    for name, files in trips().items():
        print(f"{name}: {len(files)} of at most {TRIPS[name][0]}", *files, sep="\n    ")
