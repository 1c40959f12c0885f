"""Gates of counts: summaries, scanned files and rankings decide as their rows do, or leave more open."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fastevals
from fastevals.scale import RankingSummary

N = 6000
RNG = np.random.default_rng(5)
Y = np.arange(N) % 2 == 0
SCORES = np.round(1 / (1 + np.exp(-(Y + RNG.normal(size=N)))), 4)
SCORES[[1, 3, 5]] = 0.9995  # a few false positives above 0.999
SCORES[(SCORES > 0.97) & (SCORES < 0.9995)] = 0.97
COLUMNS = {"y": Y.astype(int), "new": SCORES}
ROLES = {"label": "y", "score": "new", "n_resamples": 499}
BETWEEN = 0.61237  # a threshold that is no cut between ranges of scores


def decision(data, rule, **options):
    return fastevals.gate(data, rule, **options).results[0].worst.decision


def summary(cells):
    found = RankingSummary(cells=cells, at=0.999)
    found.update(Y, SCORES)
    return found


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("scores") / "scores.parquet"
    pq.write_table(pa.table(COLUMNS), path, row_group_size=N // 4)
    return str(path)


@pytest.mark.parametrize(
    "rule",
    [
        "specificity at threshold=0.999 >= 0.5",
        "recall at threshold=0.999 within 0 .. 0.5",
        "accuracy at threshold=0.5 >= 0.1",
        "precision at threshold=0.5 >= 0.1",
        "f1 at threshold=0.5 >= 0.1",
        "roc_auc >= 0.5",
        "gini >= 0.1",
    ],
)  # fmt: skip
def test_counts_of_all_scores_have_the_exact_bounds_of_their_rows(path, rule):
    rows = decision(COLUMNS, rule, **ROLES)
    for counted in (
        decision(fastevals.Ranking(Y, SCORES), rule, n_resamples=499),
        decision(summary(10**6), rule, n_resamples=499),
        decision(path, rule, memory=1, **ROLES),
    ):
        assert counted.method == rows.method
        assert counted.interval == pytest.approx(rows.interval, abs=1e-12)


@pytest.mark.parametrize("threshold", [0.1, BETWEEN, 0.9, 0.9991])
@pytest.mark.parametrize("metric", ["recall", "specificity", "accuracy", "error_rate", "precision", "f1"])
def test_a_threshold_within_a_range_of_scores_leaves_the_rate_open(metric, threshold):
    rule = f"{metric} at threshold={threshold} within 0 .. 0.9999999"
    rows = decision(COLUMNS, rule, **ROLES)
    ranges = decision(summary(16), rule, n_resamples=499)
    if math.isnan(ranges.interval.low):
        assert (metric, threshold, ranges.outcome) == ("precision", 0.9991, "undecided")
        return
    slack = 0.01 if metric in ("precision", "f1") else 1e-12  # of replicates; other metrics have exact bounds
    assert ranges.interval.low <= rows.interval.low + slack
    assert ranges.interval.high >= rows.interval.high - slack


def test_nights_refuse_rates_that_ranges_of_scores_leave_open(tmp_path):
    rule = f"recall at threshold={BETWEEN} >= 0.1"
    with pytest.raises(ValueError, match=r"may be off by .* because the summary counts scores in ranges"):
        fastevals.gate(summary(16), rule, nightly=tmp_path / "state.json", night="1", n_resamples=499)


@pytest.mark.cases(1)
@pytest.mark.parametrize("rule", ["ks >= 0.1", "f1 at best=f1 >= 0.1", "precision at recall=0.5 >= 0.1"])
def test_maxima_of_counts_are_resampled(path, rule):
    rows = decision(COLUMNS, rule, **ROLES)
    for counted in (decision(summary(10**6), rule, n_resamples=499), decision(path, rule, memory=1, **ROLES)):
        assert counted.outcome == rows.outcome == "pass"
        assert counted.interval == pytest.approx(rows.interval, abs=0.005)


@pytest.mark.cases(2)
@pytest.mark.parametrize("metric", ["recall", "accuracy", "precision", "f1"])
def test_differences_from_other_counts_include_what_ranges_leave_open(metric):
    other, options = fastevals.Ranking(Y, np.roll(SCORES, 1)), {"n_resamples": 199, "threshold": BETWEEN}
    exact, ranges = (
        fastevals.report(data, against=other, **options).to_dict()["blocks"][0]["against"][0]["metrics"][metric]
        for data in (fastevals.Ranking(Y, SCORES), summary(16))
    )
    assert ranges["interval"][0] < exact["interval"][0]
    assert ranges["interval"][1] > exact["interval"][1]


def test_no_data_are_no_embedded_data():
    with pytest.raises(ValueError, match=r"data must be the rows that are judged .*, got None"):
        fastevals.gate(None, "roc_auc >= 0.8", label="label", score="logistic")
