"""Snapshots that a change of structure must not alter: the public names, and seeded results to the bit.

    python -m tests.snapshots          # compare with tests/data/*.json, to the bit, and list the differences
    python -m tests.snapshots --write  # after an intended change of names or numbers (named in CHANGELOG.md)

Results are `to_dict()`, so keys are compared, too. The bits depend on the machine and its libraries, which are recorded
with them; elsewhere numbers agree to 1e-9.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import json
import math
import os
import platform
import re
import sys
import tempfile
import textwrap
import warnings
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from importlib import metadata
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

import fastevals
from fastevals.measure.curves.registry import CURVES
from fastevals.show.cli import main

DATA = Path(__file__).parent / "data"
STUB = Path(fastevals.__file__).with_suffix(".pyi")
API, SEEDED = DATA / "public_names.json", DATA / "seeded_results.json"
RELATIVE = 1e-9  # relative difference allowed on another machine
LONG = 24  # numbers; longer arrays are kept as their first numbers and the sum

Case = Callable[[], Any]
CASES: dict[str, Case] = {}


def case(function: Case) -> Case:
    """Register a seeded call; its name is the function's."""
    CASES[function.__name__] = function
    return function


# Data -------------------------------------------------------------------------------------------------------------

N = 240


def _uniform(stream: int, n: int = N) -> Any:
    """Return numbers from 0 to 1 that depend on no library's generator: a Weyl sequence, reordered."""
    places = np.arange(1, n + 1) * (stream + 1) * 7919 % 10007
    return np.modf(places * 0.6180339887498949)[0]


Y = (_uniform(0) < 0.4).astype(int)
SCORES = np.round((_uniform(1) + 0.4 * Y) / 1.4, 2)  # with ties
OTHER = np.round((_uniform(2) + 0.6 * Y) / 1.6, 3)
WEIGHTS = np.round(0.5 + _uniform(3), 3)
GROUPS = (_uniform(4) * 30).astype(int)
CLASSES = np.array(["ant", "bee", "cat"])[(_uniform(5) * 3).astype(int)]
GUESSES = np.where(_uniform(6) < 0.6, CLASSES, np.array(["ant", "bee", "cat"])[(_uniform(7) * 3).astype(int)])
OTHER_GUESSES = np.where(_uniform(8) < 0.7, CLASSES, np.roll(CLASSES, 1))
TARGETS = np.round(10 * _uniform(9), 2)
PREDICTED = np.round(TARGETS + _uniform(10) - 0.4, 2)
OTHER_PREDICTED = np.round(0.9 * TARGETS + _uniform(11), 2)
TABLE = np.round(np.stack([_uniform(stream, 12) + stream / 40 for stream in range(20, 24)], axis=1), 3)
X = np.stack([SCORES, OTHER], axis=1)

RANKED = ["roc_auc", "average_precision", "pr_auc", "ks_statistic", "equal_error_rate", "break_even_point", "rank_loss"]
AT_THRESHOLDS = [fastevals.metric("f1", threshold=0.5), fastevals.metric("f1", best="f1")]
OF_SCORES = [
    *(*RANKED, *AT_THRESHOLDS),
    fastevals.metric("precision", recall=0.8),
    fastevals.metric("roc_auc", max_fpr=0.2),
]
OF_LABELS = ["accuracy", fastevals.metric("f1", average="macro"), "matthews", fastevals.metric("recall", average=None)]
OF_TARGETS = ["mean_squared_error", "r2", "median_absolute_error", fastevals.metric("pinball_loss", quantile=0.9)]
SHORT: dict[str, Any] = {"n_resamples": 199, "rng": 7}


def _ranking(**more: Any) -> fastevals.Ranking:
    return fastevals.Ranking(Y, SCORES, **more)


def _matrix() -> fastevals.ConfusionMatrix:
    return fastevals.ConfusionMatrix.from_predictions(CLASSES, GUESSES)


def _nearest(X_train: Any, y_train: Any, X_test: Any) -> Any:
    """Predict the nearest training row's value."""
    far = ((X_test[:, None] - X_train[None]) ** 2).sum(axis=2)
    return y_train[far.argmin(axis=1)]


def _shrunk(X_train: Any, y_train: Any, X_test: Any, *, penalty: float = 1.0) -> Any:
    """Predict with one slope, shrunk by a penalty."""
    x, mean = X_train[:, 1] - X_train[:, 1].mean(), y_train.mean()
    return mean + (X_test[:, 1] - X_train[:, 1].mean()) * (x @ (y_train - mean)) / (x @ x + penalty)


# Measures ---------------------------------------------------------------------------------------------------------


@case
def measures_of_a_ranking() -> Any:
    plain, weighted = _ranking(), _ranking(sample_weight=WEIGHTS)
    return {
        kind: {
            **{name: getattr(each, name)() for name in RANKED},
            "partial": each.roc_auc(max_fpr=0.3, min_tpr=0.4),
            "brier": each.brier_decomposition(),
            "brier in bins": each.brier_decomposition(n_bins=10),
            "log loss": each.log_loss_decomposition(),
            "best": each.best_threshold("f1"),
            "within": each.threshold_for(precision=0.6),
            "cost": each.expected_cost(0.5, cost_fn=3.0),
            "cells": each.confusion_at([0.3, 0.6]),
        }
        for kind, each in (("plain", plain), ("weighted", weighted))
    }


@case
def curves_of_a_ranking() -> Any:
    return {name: entry.of_ranking(_ranking()) for name, entry in CURVES.items() if not entry.made_by}


@case
def a_confusion_matrix() -> Any:
    return _matrix()


@case
def regression() -> Any:
    return fastevals.regression_metrics(TARGETS, PREDICTED, sample_weight=WEIGHTS)


@case
def bias_variance() -> Any:
    models = np.stack([PREDICTED, OTHER_PREDICTED, np.roll(PREDICTED, 1)])
    classes = np.stack([GUESSES, OTHER_GUESSES, np.roll(GUESSES, 1)])
    return {
        "squared": fastevals.bias_variance(TARGETS, models, y_observed=OTHER_PREDICTED, per_sample=True),
        "domingos": fastevals.bias_variance(CLASSES, classes, loss="zero_one"),
        "james": fastevals.bias_variance(CLASSES, classes, loss="zero_one", decomposition="james"),
    }


# Intervals --------------------------------------------------------------------------------------------------------


@case
def bootstrap_of_a_ranking() -> Any:
    return {
        method: fastevals.bootstrap(_ranking(), OF_SCORES, method=method, stratified=method == "basic", **SHORT)
        for method in ("BCa", "percentile", "basic", "normal")
    }


@case
def bootstrap_of_scores_of_groups() -> Any:
    return fastevals.bootstrap((Y, SCORES), OF_SCORES, groups=GROUPS, keep_distribution=True, **SHORT)


@case
def bootstrap_of_weighted_scores() -> Any:
    return fastevals.bootstrap((Y, SCORES), OF_SCORES, sample_weight=WEIGHTS, **SHORT)


@case
def bootstrap_of_a_matrix() -> Any:
    return fastevals.bootstrap(_matrix(), OF_LABELS, keep_distribution=True, **SHORT)


@case
def bootstrap_of_labels_of_groups() -> Any:
    return fastevals.bootstrap((CLASSES, GUESSES), OF_LABELS, groups=GROUPS, sample_weight=WEIGHTS, **SHORT)


@case
def bootstrap_of_targets() -> Any:
    return {
        "rows": fastevals.bootstrap((TARGETS, PREDICTED), OF_TARGETS, **SHORT),
        "groups": fastevals.bootstrap((TARGETS, PREDICTED), OF_TARGETS, groups=GROUPS, **SHORT),
    }


@case
def bands() -> Any:
    ranking = _ranking()
    return {
        f"{curve} {kind}": fastevals.confidence_band(ranking, curve, kind=kind, **SHORT)
        for curve in ("roc", "precision_recall")
        for kind in ("simultaneous", "pointwise")
    }


@case
def proportions() -> Any:
    matrix = fastevals.ConfusionMatrix.from_predictions(Y, SCORES >= 0.5)
    return [
        fastevals.proportion_interval(matrix, "recall", method=method)._asdict()
        for method in ("wilson", "clopper-pearson")
    ]


# Comparisons ------------------------------------------------------------------------------------------------------


@case
def comparison_of_rankings() -> Any:
    scores = {"one": SCORES, "other": OTHER, "mean": np.round((SCORES + OTHER) / 2, 3)}
    return {
        "rows": fastevals.compare_rankings(Y, scores, metrics=OF_SCORES, **SHORT),
        "groups": fastevals.compare_rankings(Y, scores, metrics=["roc_auc"], groups=GROUPS, reference="one", **SHORT),
    }


@case
def comparison_of_predictions() -> Any:
    models = {"one": GUESSES, "other": OTHER_GUESSES}
    return {
        "rows": fastevals.compare_predictions(CLASSES, models, metrics=OF_LABELS, **SHORT),
        "groups": fastevals.compare_predictions(CLASSES, models, metrics=OF_LABELS, groups=GROUPS, **SHORT),
    }


@case
def permutation() -> Any:
    test = fastevals.permutation_test
    return {
        "labels": test(CLASSES, GUESSES, OTHER_GUESSES, fastevals.metric("f1", average="macro"), **SHORT),
        "scores": test(Y, SCORES, OTHER, "roc_auc", keep_distribution=True, **SHORT),
        "threshold": test(Y, SCORES, OTHER, fastevals.metric("f1", threshold=0.5), **SHORT),
        "targets": test(TARGETS, PREDICTED, OTHER_PREDICTED, "r2", **SHORT),
        "median": test(TARGETS, PREDICTED, OTHER_PREDICTED, "median_absolute_error", **SHORT),
        "paired": fastevals.paired_permutation_test(TABLE[:, 0], TABLE[:, 1], **SHORT),
    }


@case
def bootstrap_statistic() -> Any:
    functions = {"line": lambda x, y: np.polyfit(x, y, 1), "mean": lambda x, y: y.mean()}
    return fastevals.bootstrap_statistic((PREDICTED, TARGETS), functions, keep_distribution=True, **SHORT)


@case
def bootstrap_unpaired() -> Any:
    other = fastevals.Ranking(Y, OTHER)
    metrics = ["roc_auc", "ks_statistic", fastevals.metric("f1", threshold=0.5)]
    return fastevals.bootstrap_unpaired(_ranking(), other, metrics, keep_distribution=True, **SHORT)


@case
def delong() -> Any:
    return {
        "auc": fastevals.delong(Y, {"one": SCORES, "other": OTHER}),
        "paired": fastevals.delong_test(Y, SCORES, OTHER),
        "unpaired": fastevals.delong_test_unpaired(_ranking(), fastevals.Ranking(Y, OTHER)),
    }


@case
def significance() -> Any:
    wins, others = GUESSES == CLASSES, OTHER_GUESSES == CLASSES
    halves = np.round(_uniform(30, 10).reshape(5, 2) / 10, 4)
    return {
        "binomial": fastevals.binomial_error_test(int((~wins).sum()), N, 0.3),
        "mcnemar": fastevals.mcnemar_test(CLASSES, GUESSES, OTHER_GUESSES),
        "mcnemar_pairs": fastevals.pairwise_mcnemar_tests(CLASSES, {"a": GUESSES, "b": OTHER_GUESSES, "c": CLASSES}),
        "cochran": fastevals.cochran_q_test(CLASSES, [GUESSES, OTHER_GUESSES, np.where(wins, CLASSES, "bee")]),
        "t": fastevals.paired_t_test(TABLE[:, 0], TABLE[:, 1]),
        "resampled_t": fastevals.corrected_resampled_t_test(TABLE[:, 0], TABLE[:, 1], n_train=90, n_test=10),
        "error_rate_t": fastevals.error_rate_t_test(TABLE[:, 0] / 4, 0.2),
        "five_by_two_t": fastevals.five_by_two_cv_t_test(halves, halves[::-1] / 2),
        "five_by_two_f": fastevals.five_by_two_cv_f_test(halves, halves[::-1] / 2),
        "sign": fastevals.sign_test(wins.astype(float)[:40], others.astype(float)[:40]),
        "wilcoxon": fastevals.wilcoxon_test(TABLE[:, 0], TABLE[:, 2]),
        "friedman": fastevals.friedman_test(TABLE),
        "nemenyi": fastevals.nemenyi_test(TABLE),
        "bonferroni_dunn": fastevals.bonferroni_dunn_test(TABLE, control=0),
        "ranks": fastevals.rank_comparison_test(TABLE),
        "pairs": fastevals.pairwise_tests(TABLE, test="wilcoxon"),
        "adjusted": fastevals.adjust_pvalues([0.01, 0.02, 0.04, 0.5]).tolist(),
    }


# Many at once -----------------------------------------------------------------------------------------------------


@case
def groups() -> Any:
    return {
        "delong": fastevals.grouped_auc(Y, SCORES, GROUPS, interval="delong"),
        "bootstrap": fastevals.grouped_auc(Y, SCORES, GROUPS, interval="bootstrap", **SHORT),
        "weighted": fastevals.grouped_auc(Y, SCORES, GROUPS, sample_weight=WEIGHTS),
        "scores": fastevals.grouped_metrics(Y, SCORES, GROUPS, OF_SCORES),
        "labels": fastevals.grouped_metrics(CLASSES, GUESSES, GROUPS, OF_LABELS[:3]),
    }


@case
def queries() -> Any:
    names = ["ndcg@5", "dcg", "map", "mrr@3", "recall@5", "precision@5", "hit_rate@1", "f1@5", "r_precision"]
    return {
        "values": fastevals.query_metrics(Y, SCORES, GROUPS, names),
        "bootstrap": fastevals.query_metrics(
            2 * Y, SCORES, GROUPS, names[:2], gain="exponential", interval="bootstrap", **SHORT
        ),
        "compared": fastevals.compare_query_metrics(Y, {"one": SCORES, "other": OTHER}, GROUPS, names, **SHORT),
    }


@case
def models() -> Any:
    scores = {"one": SCORES, "other": OTHER}
    return {
        "auc": fastevals.batch_auc(Y, scores, standard_errors=True),
        "scores": fastevals.batch_metrics(Y, scores, OF_SCORES),
        "labels": fastevals.batch_metrics(CLASSES, {"one": GUESSES, "other": OTHER_GUESSES}, OF_LABELS[:3]),
        "targets": fastevals.batch_metrics(TARGETS, {"one": PREDICTED, "other": OTHER_PREDICTED}, OF_TARGETS),
    }


@case
def folds_and_classes() -> Any:
    folds = fastevals.RankingFolds.from_scores(Y, SCORES, GROUPS % 3)
    pooled = folds.pool()
    shares = np.stack([_uniform(k) for k in (12, 13, 14)], axis=1)
    classes = fastevals.ClassRankings(CLASSES, shares / shares.sum(axis=1, keepdims=True))
    return {
        "pooled": {name: getattr(pooled, name)() for name in ("roc_auc", "average_precision")},
        "classes": {name: getattr(classes, name)() for name in ("roc_auc", "average_precision", "hand_till")},
    }


# Splits -----------------------------------------------------------------------------------------------------------


@case
def splits() -> Any:
    def each_splitter(stratified: bool) -> dict[str, Any]:
        return {
            "hold_out": fastevals.HoldOut(0.3, n_repeats=4, stratified=stratified, rng=1),
            "k_fold": fastevals.KFold(5, n_repeats=2, stratified=stratified, rng=2),
            "bootstrap": fastevals.BootstrapSplit(10, rng=3),
        }

    plain = each_splitter(False)
    return {
        name: {
            "rows": [[rows.tolist()[:LONG] for rows in split] for split in list(splitter.split(X, Y))[:3]],
            "labels": fastevals.estimate_error(_nearest, X, Y, splitter, ["error_rate", "f1"]),
            "targets": fastevals.estimate_error(_shrunk, X, TARGETS, plain[name], OF_TARGETS[:2]),
            "fixed": fastevals.evaluate_splits(Y, SCORES, splitter, ["roc_auc", "brier_score"]),
            "fixed_labels": fastevals.evaluate_splits(CLASSES, GUESSES, splitter, OF_LABELS[:3]),
        }
        for name, splitter in each_splitter(True).items()
    }


@case
def corrected_errors() -> Any:
    splitter = fastevals.BootstrapSplit(20, rng=4)
    return {
        method: fastevals.estimate_error(_nearest, X, Y, splitter, "error_rate", method=method)
        for method in (".632", ".632+")
    }


@case
def selection_and_curves() -> Any:
    grid = {"penalty": [0.1, 1.0, 10.0]}
    five = fastevals.KFold(5, rng=5)
    return {
        "selection": fastevals.select_model(_shrunk, X, TARGETS, "mean_squared_error", grid=grid, rng=6),
        "learning": fastevals.learning_curve(_shrunk, X, TARGETS, five, "mean_squared_error", rng=6),
        "validation": fastevals.validation_curve(
            _shrunk, X, TARGETS, five, "mean_squared_error", parameter="penalty", values=grid["penalty"]
        ),
        "training_sets": fastevals.bias_variance_over_training_sets(
            _shrunk, X[:180], TARGETS[:180], X[180:], TARGETS[180:], n_sets=10, rng=8
        ),
    }


# The command line -------------------------------------------------------------------------------------------------


def _command(*arguments: str, **columns: Any) -> Any:
    """Return a command's output, as text and as JSON, for a table of these columns."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "data.csv")
        rows = zip(*columns.values(), strict=True)
        path.write_text("\n".join(",".join(map(str, row)) for row in [tuple(columns), *rows]))
        shown = {}
        for form in ("text", "json"):
            with redirect_stdout(StringIO()) as written:
                main([*arguments[:1], str(path), *arguments[1:], "--format", form])
            shown[form] = written.getvalue().replace(folder, "FOLDER").replace(fastevals.__version__, "VERSION")
    return {"text": shown["text"].split("\n"), "json": json.loads(shown["json"])}


@case
def report() -> Any:
    return {
        "plain": _command("report", "--label", "y", "--score", "s", y=Y, s=SCORES),
        "by": _command("report", "--label", "y", "--score", "s", "--by", "g", y=Y, s=SCORES, g=GROUPS % 3),
        "models": _command("report", "--label", "y", "--score", "s", "--score", "t", y=Y, s=SCORES, t=OTHER),
    }


@case
def compare() -> Any:
    return {
        "results": _command("compare", **{name: TABLE[:, k] for k, name in enumerate("abcd")}),
        "labels": _command(
            "compare", "--label", "y", "--pred", "a", "--pred", "b", y=CLASSES, a=GUESSES, b=OTHER_GUESSES
        ),
    }


# Snapshots --------------------------------------------------------------------------------------------------------


def seeded(name: str) -> Any:
    """Run a case; return its result as JSON for a snapshot."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _shortened(_as_json(CASES[name]()))


def _as_json(value: Any) -> Any:
    if hasattr(value, "to_dict"):
        value = value.to_dict()
    if isinstance(value, dict):
        return {str(key): _as_json(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_as_json(each) for each in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and math.isnan(value) else value


def _shortened(value: Any) -> Any:
    """Return JSON with long arrays of numbers replaced by their first few and the exact sum weighted by position."""
    if isinstance(value, dict):
        return {key: _shortened(each) for key, each in value.items()}
    if not isinstance(value, list):
        return value
    numbers = [each for each in value if isinstance(each, (int, float))]
    if len(value) <= LONG or not numbers or any(isinstance(each, (list, dict)) for each in value):
        return [_shortened(each) for each in value]
    by_place = math.fsum(each * (1 + place % 97) for place, each in enumerate(value) if isinstance(each, (int, float)))
    return {"n": len(value), "first": value[:6], "sum by place": by_place}


def stub() -> str:
    """Return the package's stub for type checkers: an import of each public name, and calls made from options."""
    places = {name: ".".join(["fastevals", *place.split(".")[:-1]]) for name, place in fastevals._MODULES.items()}
    modules = "".join(f"from {place} import {name} as {name}\n" for name, place in places.items())
    calls = {name: inspect.unwrap(getattr(fastevals, name)) for name in fastevals.__all__}
    made = {name: value for name, value in calls.items() if "__signature__" in vars(value)}
    names = "".join(
        f"from {fastevals._HOMES[name]} import {name} as {name}\n" for name in fastevals.__all__ if name not in made
    )
    head = "# Made of the names in __init__.py, and of options, by `python -m tests.snapshots --write`.\n\n"
    imports = "".join(sorted({line for call in made.values() for line in _imports_of(call)}))
    written = "\n".join(map(_as_stub, made.values()))
    return f"{head}{imports}{modules}{names}\n__version__: str\n__all__: list[str]\n\n{written}"


def _as_stub(call: Any) -> str:
    """Return a call in stub form: one parameter per line, and the docstring."""
    signature, lines = inspect.signature(call), []
    for each in signature.parameters.values():
        if each.kind is each.KEYWORD_ONLY and "*" not in lines:
            lines.append("*")
        default = json.dumps(each.default) if isinstance(each.default, str) else repr(each.default)
        lines.append(f"{each.name}: {each.annotation}" + ("" if each.default is each.empty else f" = {default}"))
    head = "".join(f"    {line},\n" for line in lines)
    doc = textwrap.indent(f'"""{call.__doc__}\n"""', "    ")
    return f"def {call.__name__}(\n{head}) -> {signature.return_annotation}:\n{doc}\n    ...\n"


def _imports_of(call: Any) -> Iterator[str]:
    """Yield the imports of the names in a call's signature, as in its file and its options' file."""
    file, known = Path(inspect.getfile(call)), set(re.findall(r"\w+", str(inspect.signature(call))))
    for node in (
        node for each in (file, file.with_name("options.py")) for node in ast.walk(ast.parse(each.read_text()))
    ):
        for alias in node.names if isinstance(node, ast.ImportFrom) else ():
            if alias.name in known:
                yield f"from {node.module} import {alias.name}\n"


def public_names() -> dict[str, Any]:
    """Return what users type: names and signatures, without annotations, of functions, classes and methods."""
    places = [fastevals, fastevals.metrics, fastevals.datasets, fastevals.show.plots]
    found = {}
    for place in places:
        for name in sorted(place.__all__):
            value = getattr(place, name)
            found[f"{place.__name__}.{name}"] = _members(value) if inspect.isclass(value) else _signature(value)
    return found


def _members(kind: type) -> dict[str, Any]:
    found = {"()": _signature(kind)}
    for name in sorted(name for name in dir(kind) if not name.startswith("_")):
        value = inspect.getattr_static(kind, name)
        if isinstance(value, (classmethod, staticmethod)):
            value = value.__func__
        found[name] = _signature(value) if callable(value) else "attribute"
    return found


def _signature(value: Any) -> str:
    try:
        signature = inspect.signature(value)
    except ValueError:
        return "(...)"
    empty = inspect.Parameter.empty
    parameters = [each.replace(annotation=empty) for each in signature.parameters.values()]
    return str(signature.replace(parameters=parameters, return_annotation=inspect.Signature.empty))


def machine() -> dict[str, str]:
    """Return what the bits depend on: the processor, its instructions (which order sums), and versions."""
    listed = Path("/proc/cpuinfo")
    found = re.search(r"^model name\s*:\s*(.*)$", listed.read_text(), re.MULTILINE) if listed.exists() else None
    simd: dict[str, list[str]] = np.show_config(mode="dicts")["SIMD Extensions"]  # type: ignore[assignment, index]
    return {
        "processor": found[1] if found else platform.processor(),
        "instructions": " ".join(simd["found"]),
        "blas": os.environ.get("OPENBLAS_CORETYPE", ""),
        "python": platform.python_version(),
    } | {name: metadata.version(name) for name in ("numpy", "scipy", "numba")}


def differences(now: Any, then: Any, *, relative: float = 0.0, at: str = "") -> Iterator[str]:
    """List the differences between two JSON values; floats may differ by a share of the larger."""
    if isinstance(now, dict) and isinstance(then, dict):
        for key in [*then, *(key for key in now if key not in then)]:
            if key in now and key in then:
                yield from differences(now[key], then[key], relative=relative, at=f"{at}/{key}")
            else:
                yield f"{at}/{key}: {'new' if key in now else 'gone'}"
        if [*now] != [*then] and {*now} == {*then}:
            yield f"{at}: keys in the order {[*now]}, were {[*then]}"
    elif isinstance(now, list) and isinstance(then, list) and len(now) == len(then):
        for place, (one, other) in enumerate(zip(now, then, strict=True)):
            yield from differences(one, other, relative=relative, at=f"{at}/{place}")
    elif isinstance(now, float) and isinstance(then, (int, float)) and relative:
        if not math.isclose(now, then, rel_tol=relative, abs_tol=relative):
            yield f"{at}: {now!r}, was {then!r}"
    elif now != then or type(now) is not type(then):
        yield f"{at}: {now!r}, was {then!r}"


def read(path: Path) -> Any:
    """Return a snapshot."""
    return json.loads(path.read_text())


def _write(path: Path, content: Any) -> None:
    text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)
    on_a_line = re.sub(r"\[\s+([^][{}\"]*?)\s+\]", lambda found: f"[{' '.join(found[1].split())}]", text)
    path.write_text(on_a_line + "\n")
    print(f"written to {path}")


def _main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--write", action="store_true", help="take new snapshots")
    parser.add_argument("cases", nargs="*", help="compare these alone")
    options = parser.parse_args()
    results = {name: seeded(name) for name in options.cases or CASES}
    generated = {STUB: stub()}
    if options.write:
        for path, text in generated.items():
            path.write_text(text)
        _write(API, public_names())
        _write(SEEDED, {"machine": machine(), "results": results})
        return 0
    then = read(SEEDED)
    found = [f"{path.name}: out of date" for path, text in generated.items() if path.read_text() != text]
    found += differences(public_names(), read(API))
    found += differences(results, {name: then["results"][name] for name in results if name in then["results"]})
    if then["machine"] != machine():
        print("Other machine or libraries, where bits may differ:", then["machine"], machine(), sep="\n")
    print(*found, f"{len(found)} differences", sep="\n")
    return bool(found)


if __name__ == "__main__":
    sys.exit(_main())
