from __future__ import annotations

import ast
import contextlib
import dataclasses
import inspect
import pickle
import re
import subprocess
import sys
import warnings
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

import pytest

import fastevals
from fastevals.measure.registry import METRICS

PACKAGE = Path(fastevals.__file__).parent


def modules_after(code: str) -> set[str]:
    # -X importtime would list them, too, but this needs no parsing. One of SciPy's packages is listed separately.
    code += "\nimport sys; print(*{name if name == 'scipy.stats' else name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


HEAVY = {"numba", "llvmlite", "scipy", "pandas", "sklearn", "polars", "pyarrow", "torch", "matplotlib", "tqdm"}


def test_the_import_loads_nothing_heavy() -> None:
    assert not modules_after("import fastevals; dir(fastevals); fastevals.__version__") & {*HEAVY, "numpy"}


def test_help_comes_without_numpy() -> None:
    parsers = "from fastevals.show.cli import COMMANDS, _parsers; [_parsers([name]) for name in COMMANDS]"
    assert not modules_after(parsers) & {*HEAVY, "numpy"}


def test_settings_compile_nothing() -> None:
    assert not modules_after("import fastevals; fastevals.set_num_threads(2); fastevals.UndefinedMetricWarning") & HEAVY


def test_numba_is_loaded_when_a_kernel_is_called() -> None:
    before = "import fastevals.many.groups, fastevals.infer.bootstrap.bootstrap, fastevals.metrics, fastevals.split"
    assert not modules_after(before) & {"numba", "llvmlite"}
    kernel = "from fastevals._kernels.compensated import two_sum"
    assert not modules_after(kernel) & {"numba", "llvmlite"}
    assert modules_after(f"{kernel}; two_sum(1.0, 2.0)") >= {"numba", "llvmlite"}


def test_a_ranking_loads_no_peer() -> None:
    few = "import fastevals; fastevals.Ranking([0, 1], [0.1, 0.2]).roc_auc()"
    assert not modules_after(few) & HEAVY
    many = "import fastevals; ranking = fastevals.Ranking([0, 1] * 40_000, [0.1, 0.2] * 40_000)"
    loaded = modules_after(
        f"{many}; ranking.roc_auc(); ranking.roc_curve(); fastevals.Ranking([0, 1], [0.1, 0.2]).roc_curve()"
    )
    assert "numba" in loaded
    assert not loaded & {*HEAVY - {"numba", "llvmlite", "scipy"}, "scipy.stats"}


@pytest.mark.parametrize("name", fastevals.__all__)
def test_public_names(name: str) -> None:
    value = getattr(fastevals, name)
    assert value.__name__ == name
    assert name in dir(fastevals)
    assert value.__doc__
    home = import_module(fastevals._HOMES[name])
    here = getattr(home, name)
    assert here in (value, getattr(value, "__wrapped__", None))
    assert here.__module__ in (home.__name__, "fastevals")  # where it is defined, not where it is re-exported
    assert pickle.loads(pickle.dumps(value)) is value


CLASSES = [value for name in fastevals.__all__ if isinstance(value := getattr(fastevals, name), type)]
EQUAL = ["BinomialResult", "BootstrapSplit", "BrierDecomposition", "HoldOut", "KFold", "LeaveOneOut", "LeavePOut"]
EQUAL += [
    "NightRecord",
    "OperatingPoint",
    "ScoreDecomposition",
    "SignificanceResult",
]  # contain no arrays, whose comparison is not a single bool


def test_results_and_splitters_are_frozen_slotted_dataclasses() -> None:
    kinds = [kind for kind in CLASSES if dataclasses.is_dataclass(kind)]
    assert len(kinds) > 40
    for kind in kinds:
        assert kind.__dataclass_params__.frozen, kind  # type: ignore[attr-defined]
        assert kind.__dictoffset__ == 0, kind
        assert kind.__repr__ is not object.__repr__, kind
    assert [kind.__name__ for kind in kinds if kind.__dataclass_params__.eq] == EQUAL  # type: ignore[attr-defined]


def test_the_stub_is_the_list_of_public_names() -> None:
    """The stub imports the public names, one line each, in order, and the public modules.

    It defines calls made from options itself, with the signature that users see.
    """
    tree = ast.parse((PACKAGE / "__init__.pyi").read_text())
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    assert all(len(node.names) == 1 and node.names[0].asname in (None, node.names[0].name) for node in imports)
    imported = {node.names[0].name: node.module for node in imports if node.names[0].asname}
    calls = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert [call.name for call in calls] == ["compare", "gate", "report"]
    for call in calls:
        public = getattr(fastevals, call.name)
        keywords = inspect.signature(public).parameters
        assert [each.arg for each in (*call.args.args, *call.args.kwonlyargs)] == [*keywords]
        defaults = [ast.literal_eval(each) for each in (*call.args.defaults, *call.args.kw_defaults) if each]
        assert defaults == [each.default for each in keywords.values() if each.default is not each.empty]
        assert ast.get_docstring(call) == inspect.getdoc(public)
        imported[call.name] = fastevals._HOMES[call.name]
    modules = {name: f"{imported[name]}.{name}".removeprefix("fastevals.") for name in fastevals._MODULES}
    assert modules == fastevals._MODULES
    assert {name: module for name, module in imported.items() if name not in modules} == fastevals._HOMES
    names = fastevals.__all__
    assert names == sorted(names, key=lambda name: (not name[0].isupper(), name))
    declared = {
        node.target.id for node in tree.body if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }
    assert declared == {"__version__", "__all__"}


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


def test_a_module_that_is_not_imported_yet_is_asked_for_at_no_cost() -> None:
    assert not modules_after("import fastevals; hasattr(fastevals, 'split'); hasattr(fastevals, '_memory')") & HEAVY


def test_dir_holds_public_names_alone() -> None:
    assert dir(fastevals) == sorted([*fastevals.__all__, "__version__", *fastevals._MODULES])
    for name in ("datasets", "show", "show.plots"):  # metrics: tests/metrics/test_handed_over.py
        module = import_module(f"fastevals.{name}")
        assert dir(module) == sorted(module.__all__), name
    after = "import fastevals; fastevals.datasets.load_psnr, fastevals.metrics.auc, fastevals.show.plots.plot_roc"
    assert "numpy" in modules_after(after)  # names listed by dir exist


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
        (lambda **given: fastevals.compare_predictions([], {}, **given), "y_pred", "predictions"),
        (lambda **given: fastevals.compare_predictions([], {}, **given), "labels", "pos_label"),
        (lambda **given: fastevals.bootstrap(None, None, **given), "positive_label", "pos_label"),
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


def test_all_of_each_module_resolves() -> None:
    for path in sorted({*PACKAGE.rglob("*.py")} - {*PACKAGE.rglob("__main__.py")} - {*PACKAGE.rglob("torch.py")}):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        module = import_module(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
        assert module.__doc__, path
        for name in getattr(module, "__all__", []):
            assert hasattr(module, name), (path, name)


def test_no_module_asserts_about_input() -> None:
    """`python -O` drops assertions, so only assertions that narrow a type are allowed."""
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text()
        found = ast.walk(ast.parse(text)) if "assert" in text else ()
        tests = [node.test for node in found if isinstance(node, ast.Assert)]
        assert all(ast.unparse(test).endswith(" is not None") for test in tests), path


# Docstrings ---------------------------------------------------------------------------------------------------------


def documented() -> dict[str, Any]:
    """Return the public functions and classes, and the classes' members, by name."""
    found: dict[str, Any] = {}
    for module in (fastevals, import_module("fastevals.metrics"), import_module("fastevals.show.plots")):
        for name in module.__all__:
            found[f"{module.__name__}.{name}"] = value = getattr(module, name)
            if inspect.isclass(value):
                members = inspect.getmembers(value, lambda each: callable(each) or isinstance(each, property))
                found |= {f"{module.__name__}.{name}.{key}": each for key, each in members if key[0] != "_"}
    return found


PUBLIC = documented()
METRIC = r'metric\("\w+"[^`]*?\)'


def options() -> tuple[set[str], dict[str, set[str]]]:
    """Return the names of all options, and the choices that docstrings list as ``{"a", "b"}``."""
    names: set[str] = {"precision", "n_predicted"}  # `Ranking.threshold_for` takes one of several
    choices: dict[str, set[str]] = {}
    for value in PUBLIC.values():
        if not callable(value):
            continue
        with contextlib.suppress(TypeError, ValueError):
            names |= set(inspect.signature(value).parameters)
        for of, listed in re.findall(r"^(\w+(?:, \w+)*) : .*?\{(.*)\}", inspect.getdoc(value) or "", re.MULTILINE):
            for name in of.split(", "):
                choices.setdefault(name, set()).update(re.findall(r'"([^"]+)"', listed))
    return names, choices


def literals(pattern: str) -> list[tuple[str, str]]:
    """Find the literals between backticks in docstrings and the README."""
    texts = {name: inspect.getdoc(value) or "" for name, value in PUBLIC.items()}
    texts["README"] = (PACKAGE.parent / "README.md").read_text()
    return [(name, each) for name, text in texts.items() for each in re.findall(f"`+({pattern})`+", text)]


def test_options_that_docstrings_name_are_options() -> None:
    names, choices = options()
    named = [(where, *pair) for where, text in literals(r"[^`\n]+") for pair in re.findall(r'\b(\w+)=("[^"]*"|)', text)]
    assert len(named) > 40
    of_text = [(where, option, value) for where, option, value in named if not where.startswith("README")]
    assert [each for each in of_text if each[1] not in names] == []
    chosen = [each for each in of_text if each[2] and not each[0].endswith(".metric")]
    assert [each for each in chosen if each[1] in choices and each[2].strip('"') not in choices[each[1]]] == []
    # The other options belong to a metric, which is tried below.
    left = {each[1] for each in chosen if each[1] not in choices}
    assert left <= {"best", "average", "correction", "multi_class", "loss"}, left


@pytest.mark.parametrize("text", sorted({text for _, text in literals(METRIC)}))
def test_metrics_that_docstrings_name_are_metrics(text: str) -> None:
    asked = eval(text, {"metric": fastevals.metric})
    y, scores = [0, 1, 0, 1, 1, 0], [0.1, 0.4, 0.35, 0.8, 0.7, 0.5]
    subject: Any = fastevals.Ranking(y, scores)
    if "average" in asked.options and METRICS[asked.name].of_scores and not METRICS[asked.name].of_labels:
        subject = fastevals.ClassRankings([0, 1, 2, 0, 1, 2], [[3, 1, 2], [1, 2, 0], [2, 1, 3]] * 2)
    elif "average" in asked.options:
        subject = fastevals.ConfusionMatrix.from_predictions(y, [score > 0.4 for score in scores])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fastevals.UndefinedMetricWarning)
        if METRICS[asked.name].of == "queries":
            found: Any = fastevals.query_metrics(y, scores, list("aaabbb"), asked)
        else:
            found = fastevals.bootstrap(subject, asked, n_resamples=19, rng=0)
    assert list(found) == [str(asked)]


def test_hints_name_the_dependency() -> None:
    """On an index, an extra of this name is another project's."""
    texts = [*PACKAGE.rglob("*.py"), *(PACKAGE.parent / "docs").rglob("*.md"), PACKAGE.parent / "README.md"]
    assert [path.name for path in texts if re.search(r"fastevals\[\w", path.read_text(encoding="utf-8"))] == []
