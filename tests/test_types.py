"""What type checkers know of results."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

KNOWN = {
    'fe.bootstrap(r, "roc_auc")["roc_auc"]': "Estimate",
    'fe.bootstrap_unpaired(r, r, "roc_auc")["roc_auc"]': "UnpairedDifference",
    'fe.compare_rankings([0, 1], {"a": [0, 1], "b": [1, 0]})["roc_auc"]': "MetricComparison",
    'fe.grouped_metrics([0, 1], [0, 1], [0, 0], "roc_auc")["roc_auc"]': "GroupedMetric",
    'fe.query_metrics([0, 1], [0, 1], [0, 0])["ndcg"]': "QueryMetric",
    'fe.batch_metrics([0, 1], [[0, 1]], "roc_auc")["roc_auc"]': "BatchMetric",
    "fe.delong(r).value": "float",
    "fe.delong([0, 1], [0.1, 0.2]).confidence_interval().low": "float",
    "r.roc_auc()": "float",
    "r.counts": "ThresholdCounts",
    "fe.RankingFolds([r, r]).pool()": "Ranking",
    "r.roc_curve()": "RocCurve",
    'r.best_threshold("f1")': "OperatingPoint",
    'parquet.ranking("f", label="y", score="p", exact=True)': "Ranking",
    'parquet.ranking("f", label="y", score=["p"], exact=True)': "dict[str, Ranking | CertifiedRanking]",
    'parquet.ranking("f", label="y", score="p").roc_auc()': "float | Certified",
    'parquet.ranking_summary("f", label="y", score="p").ranking()': "Ranking | CertifiedRanking",
    'dask.ranking(1, label="y", score="p", exact=True)': "Ranking",
    'spark.ranking(1, label="y", score="p").roc_curve()': "RocCurve | CertifiedCurve[RocCurve]",
    'spark.ranking(1, label="y", score=["p"], by="day")["mon"]["p"]': "Ranking | CertifiedRanking",
    'spark.ranking_summary(1, label="y", score="p")': "RankingSummary",
    'spark.target_summary(1, target="t", pred="p", by="day")["mon"]': "TargetSummary",
    'spark.summarize(1, label="y", score="p")["p"]': "RankingSummary",
    'spark.summarize(1, label="y", score="p", by="day")["mon"]["p"]': "RankingSummary",
    'scale.ScoresSummary.from_bytes(b"")["p"]': "RankingSummary",
}


@pytest.mark.slow
def test_results_have_types(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    script = tmp_path / "script.py"
    lines = [
        "import fastevals as fe",
        "from fastevals import scale",
        "from fastevals.scale import dask, parquet, spark",
        "r = fe.Ranking([0, 1], [0.1, 0.2])",
        *(f"reveal_type({each})" for each in KNOWN),
    ]
    script.write_text("\n".join(lines) + "\n")
    command = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", str(script)]
    told = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[1])
    found = [re.sub(r"[\w.]*\.(?=\w)", "", each) for each in re.findall(r'Revealed type is "(.+)"', told.stdout)]
    assert found == list(KNOWN.values()), told.stdout + told.stderr
