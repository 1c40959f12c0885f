"""Switching from outside: all of scikit-learn uses fastevals' functions, and none afterwards."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sklearn.ensemble
import sklearn.metrics
from joblib import Parallel, delayed
from joblib.parallel import BatchedCalls
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import r2_score as imported_before
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate

from fastevals import in_place as command
from fastevals import metrics
from fastevals.metrics import _scikit_learn, switching

X = np.random.default_rng(0).normal(size=(60, 2))
Y = (X[:, 0] + np.random.default_rng(1).normal(size=60) > 0).astype(int)
OURS = "fastevals.metrics.switching"


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record the names of the stand-ins that are called."""
    seen: list[str] = []

    def counted(name: str, function: Any) -> Any:
        def call(*args: Any, **options: Any) -> Any:
            seen.append(name)
            return function(*args, **options)

        return _scikit_learn.update_wrapper(call, function)

    stand_in = switching._stand_in
    monkeypatch.setattr(switching, "_stand_in", lambda name: counted(name, stand_in(name)))
    return seen


def snapshot() -> dict[tuple[str, str], int]:
    """Return the identity of each global in scikit-learn's modules and of each scorer's function."""
    found = {
        (name, key): id(value)
        for name, module in sys.modules.items()
        if name.partition(".")[0] == "sklearn"
        for key, value in vars(module).items()
    }
    scorers = sklearn.metrics._scorer._SCORERS.items()
    return found | {("scorer", name): id(each._score_func) for name, each in scorers} | {("", ""): id(reduce_batch())}


def reduce_batch() -> Any:
    return BatchedCalls.__reduce__


def is_ours(function: Any) -> bool:
    return function.__module__ == OURS


@pytest.mark.slow
def test_scorers_and_searches_run_on_ours(calls: list[str]) -> None:
    model, grid = LogisticRegression(), {"C": [0.1, 1.0]}
    scoring = ["roc_auc", "f1", "neg_log_loss"]
    expected = cross_validate(model, X, Y, cv=3, scoring=scoring)
    best = GridSearchCV(model, grid, scoring="average_precision", cv=3).fit(X, Y)
    assert not calls
    with metrics.in_place():
        found = cross_validate(model, X, Y, cv=3, scoring=scoring)
        assert sorted(calls) == sorted(["roc_auc_score", "f1_score", "log_loss"] * 3)
        calls.clear()
        again = GridSearchCV(model, grid, scoring="average_precision", cv=3).fit(X, Y)
        assert calls == ["average_precision_score"] * 6
        calls.clear()
        cross_val_score(model, X, Y, cv=3)
        model.fit(X, Y).score(X, Y)
        sklearn.ensemble.BaggingRegressor(n_estimators=2, oob_score=False).fit(X, X[:, 0]).score(X, X[:, 0])
        assert calls == ["accuracy_score"] * 4 + ["r2_score"]
    calls.clear()
    cross_val_score(model, X, Y, cv=3, scoring="roc_auc")
    assert not calls
    for name in scoring:
        assert np.allclose(found[f"test_{name}"], expected[f"test_{name}"], rtol=1e-12)
    assert np.allclose(again.cv_results_["mean_test_score"], best.cv_results_["mean_test_score"], rtol=1e-12)


def test_displays_run_on_ours(calls: list[str]) -> None:
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot as plt

    with metrics.in_place() as report:
        for name, expected in (
            ("RocCurveDisplay", ["roc_curve", "auc"]),
            ("PrecisionRecallDisplay", ["precision_recall_curve", "average_precision_score"]),
            ("DetCurveDisplay", ["det_curve"]),
            ("ConfusionMatrixDisplay", ["confusion_matrix"]),
        ):
            scores = Y if name == "ConfusionMatrixDisplay" else X[:, 0]
            getattr(sklearn.metrics, name).from_predictions(Y, scores)
            assert calls == [each for each in expected if each not in report.not_replaced]
            calls.clear()
    plt.close("all")


def test_off_is_as_before() -> None:
    before = snapshot()
    with metrics.in_place():
        assert sum(before[key] != now for key, now in snapshot().items()) > len(metrics.__all__)
        assert is_ours(sklearn.metrics.roc_auc_score)
    assert snapshot() == before
    metrics.install()
    metrics.install()
    with metrics.in_place():
        pass
    assert is_ours(sklearn.metrics.roc_auc_score)
    metrics.uninstall()
    assert snapshot() == before
    metrics.uninstall()
    assert snapshot() == before


def test_an_error_inside_puts_it_off() -> None:
    before = snapshot()
    with pytest.raises(KeyError), metrics.in_place():
        raise KeyError
    assert snapshot() == before


def test_uninstall_leaves_open_blocks_alone() -> None:
    with metrics.in_place():
        metrics.install()
        metrics.uninstall()
        metrics.uninstall()
        assert is_ours(sklearn.metrics.f1_score)


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that makes a module as if it were imported now."""

    def make(name: str, code: str) -> types.ModuleType:
        made = types.ModuleType(name)
        monkeypatch.setitem(sys.modules, name, made)
        exec(code, vars(made))
        return made

    return make


def test_what_only_calls_itself_a_module_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    class Library:  # as cffi's
        __slots__ = ()
        __class__ = types.ModuleType  # type: ignore[assignment]

    assert isinstance(Library(), types.ModuleType)
    monkeypatch.setitem(sys.modules, "a_library", Library())
    with metrics.in_place():
        assert is_ours(sklearn.metrics.f1_score)


def test_what_is_imported_in_between(module: Any) -> None:
    original = sklearn.metrics.f1_score
    with metrics.in_place():
        theirs = module("sklearn.imported_late", "from sklearn.metrics import f1_score")
        other = module("imported_late", "from sklearn.metrics import f1_score\nfrom fastevals.metrics import auc")
        assert is_ours(theirs.f1_score)
        assert is_ours(other.f1_score)
    assert theirs.f1_score is other.f1_score is original
    assert other.auc is metrics.auc  # imported on purpose
    with metrics.in_place() as report:
        assert is_ours(other.f1_score)  # it is fastevals' now
    assert other.f1_score is original
    assert "imported_late.f1_score" not in report.imported_before


def test_what_was_imported_before_is_listed_and_left(module: Any) -> None:
    other = module("imported_early", "from sklearn.metrics import f1_score as f1\nfrom fastevals.metrics import auc")
    original = other.f1
    with metrics.in_place() as report:
        assert other.f1 is original
        assert other.auc is metrics.auc
        assert pickle.loads(pickle.dumps(original)) is original
        assert imported_before.__module__ == "sklearn.metrics._regression"
    assert {"imported_early.f1", f"{__name__}.imported_before"} <= {*report.imported_before}
    assert "imported_early.f1" in str(report).splitlines()[-1]


def test_the_report_says_what_is_replaced_where() -> None:
    with metrics.in_place() as report:
        assert report.version == sklearn.__version__
        assert {"sklearn.metrics", "sklearn.metrics._scorer", "sklearn.ensemble._forest"} <= {
            *report.replaced["accuracy_score"]
        }
        assert report.replaced.keys() | report.not_replaced.keys() == {*metrics.__all__}
    first = str(report).splitlines()[0]
    assert f"scikit-learn {sklearn.__version__}" in first
    assert "sklearn.ensemble._forest" in first


@pytest.mark.slow
def test_other_signatures_are_not_replaced() -> None:
    code = """
import sklearn.metrics
del sklearn.metrics.auc
theirs = sklearn.metrics.f1_score = lambda y_true, y_pred: 0
from fastevals import metrics
report = metrics.install()
assert sklearn.metrics.f1_score is theirs and not hasattr(sklearn.metrics, "auc")
assert sklearn.metrics.recall_score.__module__.startswith("fastevals"), sklearn.metrics.recall_score
print(report)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "not replaced: auc, scikit-learn has no such function\n" in done.stdout
    assert "not replaced: f1_score, its signature is (y_true, y_pred)\n" in done.stdout


@pytest.mark.slow
def test_threads_enter_at_once() -> None:
    before, wrong, start = snapshot(), [], threading.Barrier(4)

    def enter() -> None:
        start.wait()
        for _ in range(5):
            with metrics.in_place():
                scorers = sklearn.metrics._scorer._SCORERS
                if not is_ours(sklearn.metrics.f1_score) or not is_ours(scorers["roc_auc"]._score_func):
                    wrong.append(1)

    threads = [threading.Thread(target=enter) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not wrong
    assert snapshot() == before


def where_it_is_from(_: int) -> tuple[str, str]:
    import sklearn.metrics

    scorer = sklearn.metrics.get_scorer("roc_auc")
    return sklearn.metrics.f1_score.__module__, scorer._score_func.__module__


# Tests of workers follow each other and share loky's processes until a failure ends them.
@pytest.mark.slow
@pytest.mark.parametrize("backend", ["loky", "multiprocessing"])
def test_workers_are_in_place_for_what_is_sent_meanwhile(backend: str) -> None:
    original = ("sklearn.metrics._classification", "sklearn.metrics._ranking")
    with Parallel(n_jobs=2, backend=backend) as parallel:
        jobs = [delayed(where_it_is_from)(i) for i in range(4)]
        assert {*parallel(jobs)} == {original}
        with metrics.in_place():
            assert {*parallel(jobs)} == {(OURS, OURS)}
        assert {*parallel(jobs)} == {original}  # in the same processes


@pytest.mark.slow
def test_cross_validation_in_workers() -> None:
    with metrics.in_place():
        found = cross_val_score(DummyClassifier(), X, Y, cv=3, scoring="roc_auc", n_jobs=2)
    assert found.tolist() == [0.5] * 3


@pytest.mark.slow
def test_workers_that_fail_are_as_before() -> None:
    with Parallel(n_jobs=2) as parallel:
        with metrics.in_place(), pytest.raises(ZeroDivisionError):
            parallel([delayed(divmod)(1, 0)])
        assert parallel([delayed(where_it_is_from)(0)])[0][0] == "sklearn.metrics._classification"


def test_batches_that_are_never_run_leave_nothing_in_place() -> None:
    # A pool that ends early reads its unfinished batches in the parent.
    before = snapshot()
    with metrics.in_place():
        saved = pickle.dumps(BatchedCalls([(divmod, (1, 0), {})], "sequential"))
        broken = saved.replace(b"divmod", b"nodmod")
    assert is_ours(pickle.loads(saved).entry and sklearn.metrics.f1_score)
    assert snapshot() == before
    with pytest.raises(AttributeError):
        pickle.loads(broken)
    assert snapshot() == before


def enter_in_fork() -> int:
    """Return the exit status of a forked process that switches on and off."""
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        with metrics.in_place():
            os._exit(0)
    return os.waitpid(child, 0)[1]


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Python 3.12 warns about any fork with threads
def test_a_fork_while_another_thread_enters() -> None:
    entering = threading.Event()
    ended = threading.Event()

    def enter() -> None:
        while not ended.is_set():
            with metrics.in_place():
                entering.set()

    thread = threading.Thread(target=enter)
    thread.start()
    try:
        assert entering.wait(20)
        assert [enter_in_fork() for _ in range(3)] == [0] * 3
    finally:
        ended.set()
        thread.join()


def test_pickles_made_in_place_are_read_later() -> None:
    with metrics.in_place():
        saved = pickle.dumps((sklearn.metrics.f1_score, sklearn.metrics.get_scorer("roc_auc")))
    function, scorer = pickle.loads(saved)
    assert function([0, 1], [0, 1]) == 1
    assert is_ours(scorer._score_func)
    assert scorer(DummyClassifier().fit(X, Y), X, Y) == 0.5


def test_a_metric_is_no_scorer() -> None:
    for scoring in (sklearn.metrics.f1_score, metrics.f1_score):
        with metrics.in_place(), pytest.raises(ValueError, match="looks like it is a metric function"):
            cross_val_score(DummyClassifier(), X, Y, scoring=sklearn.metrics.f1_score)
        with pytest.raises(ValueError, match="looks like it is a metric"):
            metrics.check_scoring(DummyClassifier(), scoring=scoring)
        with pytest.raises(ValueError, match="looks like it is a metric"):
            metrics.check_scoring(DummyClassifier(), scoring={"f1": scoring})


# The command ---------------------------------------------------------------------------------------------------------

SCRIPT = """
import sys
import sklearn.metrics
import beside

if __name__ == "__main__":
    print(sys.argv, sklearn.metrics.f1_score.__module__, beside.f1_score.__module__)
    sys.exit(int(sys.argv[1]))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "script.py").write_text(SCRIPT)
    (tmp_path / "beside.py").write_text("from sklearn.metrics import f1_score")
    return tmp_path


def in_place(
    *arguments: str, cwd: Path, prefix: str = "", flags: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
    root = Path(metrics.__file__).parents[2]
    start = f"import sys; sys.path[1:1] = [{str(root)!r}]; {prefix}"
    start += "import runpy; runpy.run_module('fastevals.in_place', run_name='__main__', alter_sys=True)"
    return subprocess.run([sys.executable, *flags, "-c", start, *arguments], cwd=cwd, capture_output=True, text=True)


@pytest.mark.slow
def test_a_script_runs_on_ours(folder: Path) -> None:
    script = str(folder / "script.py")
    done = in_place(script, "3", "--more", cwd=folder.parent)
    assert done.stdout == f"{[script, '3', '--more']} {OURS} {OURS}\n"
    assert done.stderr.startswith(f"fastevals.metrics is in place of scikit-learn {sklearn.__version__}: ")
    assert done.returncode == 3


NOTHING_IN_PLACE = "import types; sys.modules['fastevals.metrics.switching'] = types.SimpleNamespace(install=str); "


def test_an_error_of_a_script_is_seen(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("raise KeyError('of the script')")
    done = in_place(str(tmp_path / "script.py"), cwd=tmp_path.parent, prefix=NOTHING_IN_PLACE)
    assert done.returncode == 1
    assert "script.py" in done.stderr
    assert done.stderr.endswith("KeyError: 'of the script'\n")


def test_a_safe_path_is_left_as_it_is(folder: Path) -> None:
    (folder / "script.py").write_text("import beside")
    done = in_place(str(folder / "script.py"), cwd=folder.parent, flags=("-P",), prefix=NOTHING_IN_PLACE)
    assert done.stderr.endswith("ModuleNotFoundError: No module named 'beside'\n")


@pytest.mark.slow
def test_a_module_runs_on_ours(folder: Path) -> None:
    done = in_place("-m", "script", "0", cwd=folder)
    assert done.stdout.endswith(f"script.py', '0'] {OURS} {OURS}\n")
    assert done.returncode == 0


@pytest.mark.parametrize("arguments", [[], ["-m"], ["--what"], ["nowhere.py"]])
def test_bad_arguments_end_the_command(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="usage: ") as ended:
        command.main(arguments)
    assert isinstance(ended.value.code, str)  # Python writes it to standard error and exits with 1
    assert ("there is no script 'nowhere.py'" in ended.value.code) == (arguments == ["nowhere.py"])
    assert capsys.readouterr() == ("", "")


def test_help_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    command.main(["--help"])
    printed = capsys.readouterr()
    assert printed.out.startswith("usage: ")
    assert printed.err == ""


def test_bad_use_of_the_command(folder: Path) -> None:
    done = in_place("--what", cwd=folder)
    assert (done.returncode, done.stdout) == (1, "")
    assert "usage: " in done.stderr
    done = in_place("script.py", "0", cwd=folder, prefix="sys.modules['sklearn'] = None; ")
    assert done.returncode == 1
    assert done.stderr == (
        "fastevals.in_place: fastevals.metrics.install needs scikit-learn, which is missing: pip install scikit-learn\n"
    )
