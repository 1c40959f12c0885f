"""Types of results for type checkers: for each call here, and for the documents' examples."""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.documents import DOCS, ROOT, blocks

IMPORTS = """
import fastevals as fe
import numpy as np
from fastevals import scale
from fastevals.scale import dask, parquet, spark
r = fe.Ranking([0, 1], [0.1, 0.2])
s = np.array([0.1, 0.2])
m = fe.ConfusionMatrix([[1, 0], [0, 1]])
c = fe.ClassRankings([0, 1], [[0.9, 0.1], [0.1, 0.9]])
"""
ARRAY = "ndarray[tuple[Any, ...], dtype[float64]]"
KNOWN = {
    'fe.bootstrap(r, "roc_auc")["roc_auc"].value': "float",
    'fe.bootstrap(r, "roc_auc")["roc_auc"].confidence_interval.low': "float",
    'fe.bootstrap_unpaired(r, r, "roc_auc")["roc_auc"].pvalue': "float",
    'fe.compare_rankings([0, 1], {"a": [0, 1], "b": [1, 0]})["roc_auc"].differences[0].value': "float",
    'fe.grouped_metrics([0, 1], [0, 1], [0, 0], "roc_auc")["roc_auc"]': "GroupedMetric",
    'fe.query_metrics([0, 1], [0, 1], [0, 0])["ndcg"]': "QueryMetric",
    'fe.batch_metrics([0, 1], [[0, 1]], "roc_auc")["roc_auc"]': "BatchMetric",
    "fe.delong(r).value": "float",
    "fe.delong([0, 1], s).confidence_interval().low": "float",
    "fe.delong([0, 1], [s, s]).standard_error": ARRAY,
    'fe.delong([0, 1], {"a": s}).confidence_interval().low': ARRAY,
    "r.roc_auc()": "float",
    "r.counts": "ThresholdCounts",
    "r.net_benefit(0.5)": "float",
    "r.confusion_at(0.5).f_score()": "float",
    "r.confusion_at([0.5, 0.6]).f_score()": ARRAY,
    "r.roc_curve().at(0.5)": "float",
    "r.roc_curve().at(threshold=s)": f"tuple[{ARRAY}, {ARRAY}]",
    "m.accuracy()": "float",
    "m.recall(average=None)": ARRAY,
    "m.pool()": "ConfusionMatrix[float]",
    "c.roc_auc()": "float",
    "c.roc_auc(average=None)": ARRAY,
    'c.roc_curve(average="macro")': "RocCurve",
    "c.roc_curve()[1]": "RocCurve",
    'c.metric("log_loss")': "float",
    'c.metric(fe.metric("roc_auc", average=None))': f"float | {ARRAY}",
    "c.best_thresholds()": ARRAY,
    "fe.regression_metrics(s, s).r2": "float",
    'fe.regression_metrics(s, {"a": s}).r2': ARRAY,
    "fe.bias_variance(s, [s, s]).bias_squared": "float",
    'fe.bias_variance(s, [s, s], loss="zero_one").net_variance': "float",
    "fe.error_632(0.1, 0.2)": "float",
    "fe.RankingFolds([r, r]).pool()": "Ranking",
    "r.roc_curve()": "RocCurve",
    'r.best_threshold("f1")': "OperatingPoint",
    "fe.metrics.roc_auc_score([0, 1], s)": "float",
    "fe.metrics.f1_score([0, 1], [0, 1], average=None)": ARRAY,
    "fe.metrics.r2_score(s, s)": "float",
    'fe.metrics.r2_score(s, s, multioutput="raw_values")': ARRAY,
    'parquet.ranking("f", label="y", score="p", exact=True)': "Ranking",
    'parquet.ranking("f", label="y", score=["p"], exact=True)': "dict[str, Ranking | CertifiedRanking]",
    'parquet.ranking("f", label="y", score="p").roc_auc()': "float | Certified",
    'parquet.ranking_summary("f", label="y", score="p").ranking()': "Ranking | CertifiedRanking",
    'dask.ranking(1, label="y", score="p", exact=True)': "Ranking",
    'spark.ranking(1, label="y", score="p").roc_curve()': "RocCurve | CertifiedCurve[RocCurve]",
    'spark.ranking(1, label="y", score=["p"], by="day")["mon"]["p"]': "Ranking | CertifiedRanking",
    'spark.ranking_summary(1, label="y", score="p")': "RankingSummary",
    'spark.target_summary(1, target="t", pred="p", by="day")["mon"]': "TargetSummary",
    'spark.class_scores_summary(1, label="y", probabilities="p_*").metric("hand_till")': "float | Certified",
    'spark.summarize(1, label="y", score="p")["p"]': "RankingSummary",
    'spark.summarize(1, label="y", score="p", by="day")["mon"]["p"]': "RankingSummary",
    'scale.ScoresSummary.from_bytes(b"")["p"]': "RankingSummary",
}
REVEALED = {
    "mypy": re.compile(r'(\w+)\.py:(\d+): note: Revealed type is "(.+)"'),
    "pyright": re.compile(r'(\w+)\.py:(\d+):\d+ - information: Type of "(?:.+)" is "(.+)"'),
}


@pytest.fixture(params=REVEALED)
def checker(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not installed")
    return name


def revealed(checker: str, folder: Path) -> tuple[dict[tuple[str, int], str], str]:
    """Return the short types at `reveal_type`, by script and line, and the entire output."""
    (folder / "pyrightconfig.json").write_text(json.dumps({"extraPaths": [str(ROOT)]}))
    options = {
        "mypy": [
            "--strict",
            "--allow-redefinition",
            "--no-incremental",
            "--config-file=",
            *map(str, folder.glob("*.py")),
        ],
        "pyright": ["--pythonpath", sys.executable, "-p", str(folder)],
    }
    command = [sys.executable, "-m", checker, *options[checker]]
    environment = {**os.environ, "MYPYPATH": str(ROOT)}
    told = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment)
    found = REVEALED[checker].findall(told.stdout)
    short = {(name, int(line)): re.sub(r"\w+\.(?=\w)", "", kind).replace("builtins.", "") for name, line, kind in found}
    return short, told.stdout + told.stderr


@pytest.mark.slow
def test_results_have_types(checker: str, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(IMPORTS + "".join(f"reveal_type({each})\n" for each in KNOWN))
    found, told = revealed(checker, tmp_path)
    assert dict(zip(KNOWN, (found[key] for key in sorted(found)), strict=True)) == KNOWN, told


def root(value: ast.expr) -> str | None:
    """Return the name that an expression starts with."""
    while isinstance(value, (ast.Call, ast.Attribute, ast.Subscript)):
        value = value.func if isinstance(value, ast.Call) else value.value
    return value.id if isinstance(value, ast.Name) else None


def asking(code: str) -> Iterator[str]:
    """Yield the statements, with a `reveal_type` for each value that comes from fastevals."""
    ours = set()
    for statement in ast.parse(code).body:
        text = ast.unparse(statement)
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            for each in statement.names:
                if (getattr(statement, "module", None) or each.name).partition(".")[0] == "fastevals":
                    ours.add(each.asname or each.name.partition(".")[0])
        elif isinstance(statement, (ast.Assign, ast.Expr)) and root(statement.value) in ours:
            if isinstance(statement, ast.Expr):
                text = f"reveal_type({text})"
            else:
                names = [
                    each.id for target in statement.targets for each in ast.walk(target) if isinstance(each, ast.Name)
                ]
                ours.update(names)
                text += "".join(f"\nreveal_type({name})" for name in names)
        yield text


# Intended types with Any: numpy's names for shapes and dtypes, and users' labels and names. On some lines: JSON, and
# pandas frames, which are untyped without pandas-stubs.
OTHERS = re.compile(r"ndarray\[tuple\[Any, \.\.\.\], dtype\[\w+\]\]|(?<=\[)Any(?=, )|^tuple\[Any, \.\.\.\]$")


@pytest.mark.slow
def test_results_in_the_documents_have_types(checker: str, tmp_path: Path) -> None:
    for page in [ROOT / "README.md", *DOCS.glob("*.md")]:
        code = "\n".join(block.code for block in blocks(page.read_text()) if block.language == "python")
        if code:  # skip pages without code: a module named json would hide another
            (tmp_path / f"{page.stem}.py").write_text("\n".join(asking(code)) + "\n")
    found, told = revealed(checker, tmp_path)
    assert len(found) > 100, told
    lines = {path.stem: path.read_text().splitlines() for path in tmp_path.glob("*.py")}
    unknown = [
        f"{name}: {lines[name][line - 1]}: {kind}"
        for (name, line), kind in found.items()
        if re.search(r"\b(Any|Unknown)\b", OTHERS.sub("", kind))
        and not re.search(r"to_dict\(\)|to_frame\('pandas'\)", lines[name][line - 1])
    ]
    assert unknown == []
