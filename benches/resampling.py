"""Cases that compare intervals: entries as in `benches.peers`.

Libraries draw different resamples, so all sides of a case return the value on the rows themselves. The tests check that
replicates have the right distribution.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import fastevals
from benches.data import Data
from benches.peers import Call, Cases, Setup, installed
from fastevals.show.report.intervals import CELLS_COLUMNS, PROBABILITY_COLUMNS, RANKING_COLUMNS, RESAMPLES

REPLICATES = 1000
LOOPS = 2  # replicates of a plain loop; each takes 0.2 s
CLUSTERS = 10_000
CELL_REPLICATES = 10_000
SIX = ("roc_auc", "average_precision", "ks_statistic", "equal_error_rate", "cost_area")
LARGEST_F1 = fastevals.metric("f1", best="f1")
OF_REPORT = (
    *RANKING_COLUMNS,
    *PROBABILITY_COLUMNS,
    *(fastevals.metric(name, best="f1") for name in CELLS_COLUMNS),
)
OF_CELLS = ("precision", "recall", "f_score", "matthews")


def _bootstrap(metrics: Sequence[Any], n_resamples: int, *, threads: int | None = None, **options: Any) -> Setup:
    """Bootstrap a ranking that has been swept; return the value of the first metric."""

    def set_up(data: Data) -> Call:
        ranking = fastevals.Ranking(data.y, data.chances)
        assert len(ranking.counts.thresholds)

        def call() -> Any:
            with fastevals.num_threads(threads or fastevals.get_num_threads()):
                found = fastevals.bootstrap(ranking, metrics, n_resamples=n_resamples, rng=1, **options)
            return found[metrics[0]].value

        return call

    return set_up


def _alone(metric: str, other: str, n_resamples: int) -> Setup:
    """Bootstrap a metric; return the value of the other metric, which it is timed against."""

    def set_up(data: Data) -> Call:
        value = float(fastevals.batch_metrics(data.y, data.chances[None], other)[other].values[0])
        call = _bootstrap([metric], n_resamples, method="percentile")(data)

        def both() -> float:
            call()
            return value

        return both

    return set_up


def _replicates_of(make: Callable[[Data, Any], list[Any]]) -> Setup:
    """Draw replicates of samples that are made beforehand, to time replicates without sorting."""

    def set_up(data: Data) -> Call:
        samples = make(data, data.second)

        def call() -> tuple[float, ...]:
            for sample in samples:
                sample.replicates(REPLICATES // 4, np.uint64(1))
            return tuple(float(value) for sample in samples for value in np.ravel(sample.estimates()[0]))

        return call

    return set_up


def _paired(data: Data, second: Any) -> list[Any]:
    from fastevals.infer.bootstrap.subjects import SamplingDesign, make_score_sample
    from fastevals.measure.metric_specs import parse_metrics

    return [make_score_sample(data.y, {"first": data.s, "second": second}, parse_metrics("roc_auc"), SamplingDesign())]


def _unpaired(data: Data, second: Any) -> list[Any]:
    from fastevals.infer.bootstrap.subjects import SamplingDesign, make_sample
    from fastevals.measure.metric_specs import parse_metrics

    return [make_sample((data.y, scores), parse_metrics("roc_auc"), SamplingDesign()) for scores in (data.s, second)]


def _delong_test(data: Data) -> Call:
    second = data.second
    return lambda: fastevals.delong_test(data.y, data.s, second).effect


def _clustered_delong_test(data: Data) -> Call:
    second, clusters = data.second, data.groups(CLUSTERS)
    return lambda: fastevals.delong_test(data.y, data.s, second, groups=clusters).effect


def _predictions(data: Data) -> Any:
    return (data.s > 1.5).astype(np.int64)


def _cells(data: Data) -> Call:
    matrix = fastevals.ConfusionMatrix.from_predictions(data.y, _predictions(data))
    return lambda: fastevals.bootstrap(matrix, OF_CELLS, n_resamples=CELL_REPLICATES, rng=1)["precision"].value


def _from_predictions(data: Data) -> Call:
    predictions = _predictions(data)
    return lambda: fastevals.ConfusionMatrix.from_predictions(data.y, predictions).precision()


def _loop(data: Data) -> Call:
    """Draw rows and call scikit-learn on them, in a plain loop."""
    from sklearn.metrics import roc_auc_score

    value = roc_auc_score(data.y, data.s)

    def call() -> float:
        rng = np.random.default_rng(1)
        for _ in range(LOOPS):
            rows = rng.integers(data.rows, size=data.rows)
            roc_auc_score(data.y[rows], data.s[rows])
        return float(value)

    return call


RESAMPLING: Cases = installed(
    {
        "bootstrap_auc": {
            "fastevals": _bootstrap(["roc_auc"], REPLICATES),
            "one thread": _bootstrap(["roc_auc"], REPLICATES, threads=1),
            "scikit-learn": _loop,
        },
        "bootstrap_six": {
            "fastevals": _bootstrap([*SIX, LARGEST_F1], REPLICATES // 2, method="percentile"),
            "AUC alone": _bootstrap(["roc_auc"], REPLICATES // 2, method="percentile"),
        },
        "bootstrap_bca": {
            "fastevals": _bootstrap(["roc_auc", "average_precision"], REPLICATES),
            "percentile": _bootstrap(["roc_auc", "average_precision"], REPLICATES, method="percentile"),
        },
        "bootstrap_report": {
            "fastevals": _bootstrap(OF_REPORT, RESAMPLES, method="percentile"),
            "AUC alone": _bootstrap(["roc_auc"], RESAMPLES, method="percentile"),
        },
        "bootstrap_report_bca": {
            "fastevals": _bootstrap(OF_REPORT, RESAMPLES),
            "percentile": _bootstrap(OF_REPORT, RESAMPLES, method="percentile"),
        },
        **{
            f"bootstrap_{name}": {
                "fastevals": _bootstrap([name], REPLICATES // 5, method="percentile"),
                "AUC alone": _alone("roc_auc", name, REPLICATES // 5),
            }
            for name in PROBABILITY_COLUMNS
        },
        "bootstrap_cells": {"fastevals": _cells, "from_predictions": _from_predictions},
        "paired_replicate": {"fastevals": _replicates_of(_paired), "two unpaired": _replicates_of(_unpaired)},
        "delong_test": {"fastevals": _delong_test},
        "delong_test_clustered": {"fastevals": _clustered_delong_test, "rows": _delong_test},
    }
)
