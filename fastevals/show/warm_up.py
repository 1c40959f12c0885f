"""The warm-up command: run commands and calls once on a few rows, so that their kernels are compiled and kept."""

from __future__ import annotations

import argparse
import contextlib
import io
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property, partial
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, get_args

from fastevals.measure.curves.registry import CURVES
from fastevals.show.commands import Parser, print_error, print_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


HELP = "compile all kernels beforehand, such as when an image is built"
USAGE = "%(prog)s [options]"
DESCRIPTION = """\
Compile what the commands and common calls need, and keep the machine code on
disk so that no later process waits for it. Print where it is and how large.
Kernels that are already there are not compiled again.
"""
EPILOG = """\
The code is kept in a folder named "fastevals", in the first of these places
that is writable: NUMBA_CACHE_DIR, next to the package, the user's cache folder.
To share it between all users of an image, run the command as root:

  RUN pip install ./fastevals && fastevals warm-up --quiet

The code is for this version of fastevals, Python, NumPy and numba and for this
kind of processor; elsewhere the kernels are compiled again.

exit status: 0; 2 after an error, with one line on stderr; 130 after Ctrl-C, and
the kernels compiled until then are kept.
"""
FEW_ROWS, MANY_ROWS = 400, 300_000  # rows; several threads share many rows, which are sorted in another way
REPLICATES = 50  # replicates


def add_options(parser: Parser) -> None:
    """Add the command's options."""
    parser.repeated = "it takes no file"
    parser.add_argument("--quiet", action="store_true", help="no progress on stderr")


def check_together(arguments: argparse.Namespace, parser: Parser) -> None:
    """Check nothing: there is only one option."""


def run(arguments: argparse.Namespace) -> None:
    """Compile, and print where the machine code is."""
    from numba import config

    from fastevals._compile import cache
    from fastevals._execution import bars_after

    if config.DISABLE_JIT:
        raise ValueError("NUMBA_DISABLE_JIT is set: nothing is compiled")
    folder = cache.folder_to_fill()
    before = len(list(cache.sizes([folder])))
    steps = list(_steps())
    for number, (name, step) in enumerate(steps, 1):
        begin = time.perf_counter()
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()), bars_after(None):
            warnings.simplefilter("ignore")
            step()
        if cache.unkept:
            raise ValueError(cache.unkept[0])
        if not arguments.quiet:
            print_error(f"{number}/{len(steps)} {name}: {time.perf_counter() - begin:.1f} s")
    sizes = list(cache.sizes([folder]))
    print_text(f"{len(sizes)} files of {sum(sizes) / 1e6:.1f} MB in {folder}, {len(sizes) - before} of them new\n")


class _Data:
    """Made-up labels, scores and predictions."""

    def __init__(self, rows: int) -> None:
        import numpy as np

        rng = np.random.default_rng(0)
        self.rows = rows
        self.y = rng.integers(0, 2, rows)
        self.scores = 1 / (1 + np.exp(-(self.y + rng.normal(size=rows))))
        self.other = 1 / (1 + np.exp(-(self.y + rng.normal(size=rows))))
        self.ties = self.scores.round(1)
        self.weights = rng.integers(1, 4, rows) / 2
        self.classes = rng.integers(0, 4, rows)
        self.predicted = np.where(rng.random(rows) < 0.7, self.classes, 0)
        self.groups = np.arange(rows) % (rows // 20)
        self.places = np.arange(rows) // (rows // 20)
        self.targets = rng.normal(size=rows)
        self.fitted = self.targets + rng.normal(size=rows) / 4

    @cached_property
    def probabilities(self) -> NDArray[np.float64]:
        import numpy as np

        shares = np.random.default_rng(1).random((self.rows, 4)) + np.eye(4)[self.classes]
        probabilities: NDArray[np.float64] = shares / shares.sum(axis=1, keepdims=True)
        return probabilities


def _steps() -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield a name and a function for each step; from now on, this process compiles each kernel on its first call."""
    from fastevals._compile import interpreted
    from fastevals.counting import few_rows

    interpreted.ITEMS_PER_KERNEL = few_rows.PROCESS_ROWS = 0
    for command in (
        ["report"],
        ["report", "--by", "fold", "--cost-fp", "1", "--cost-fn", "5", "--prior", "0.1"],
        ["compare"],
        ["compare", "--by", "sigma"],
        ["bias-variance"],
    ):
        yield f"fastevals {' '.join(command)}", partial(_command, *command)
    small, large = _Data(FEW_ROWS), _Data(MANY_ROWS)
    several = [_rankings, _labels, _bootstraps, _comparisons, _groups, _queries, _classes, _regressions, _drop_in]
    several += [_calibrations, _folds, _summaries, *([_files] if find_spec("pyarrow") else [])]
    for calls in several:
        name = calls.__name__.strip("_").replace("_", "-")
        yield f"{name}, few rows", partial(calls, small)
        yield f"{name}, many rows", partial(calls, large)
    yield "cells, many rows", partial(_cells, large)
    yield "class-decisions", partial(_class_decisions, small)
    yield "splits", partial(_splits, small)
    yield "tests", partial(_tests, small)


def _command(name: str, *options: str) -> None:
    command = import_module(f"fastevals.show.{name.replace('-', '_')}.command")
    parser = Parser()
    command.add_options(parser)
    arguments = parser.parse_args(options, argparse.Namespace(command=name))
    command.check_together(arguments, parser)
    command.run(arguments)


def _rankings(data: _Data) -> None:
    import numpy as np

    from fastevals import Ranking

    for labels in (data.y, data.y == 1, data.y.astype(float)):
        Ranking(labels, data.scores).roc_auc()
    for scores in (data.scores.astype(np.float32), data.ties, (data.ties * 10).astype(np.int64)):
        for weights in (None, data.weights):
            _every_curve_and_area(Ranking(data.y, scores, sample_weight=weights))
    for weights in (None, data.weights):
        ranking = Ranking(data.y, data.scores, sample_weight=weights)
        _every_curve_and_area(ranking)
        ranking.net_benefit(0.2)
        for entry in CURVES.values():
            entry.of_ranking(ranking)
    curve, other = Ranking(data.y, data.scores).roc_curve(), Ranking(data.y, data.other).roc_curve()
    curve.dominates(other), curve.crossings(other)


def _every_curve_and_area(ranking: Any) -> None:
    from fastevals.measure.registry import METRICS

    ranking.roc_auc(), ranking.roc_auc(max_fpr=0.1), ranking.average_precision(), ranking.pr_auc()
    ranking.pr_auc(interpolation="linear"), ranking.rank_loss(), ranking.ks_statistic(), ranking.equal_error_rate()
    ranking.equal_error_rate(on_hull=True), ranking.break_even_point(), ranking.best_threshold("f1")
    ranking.threshold_for(recall=0.9), ranking.confusion_at([0.25, 0.5]), ranking.expected_cost(0.5)
    curves = {entry.name: entry.of_ranking(ranking) for entry in CURVES.values() if entry.needs != "probabilities"}
    curve, costs = curves["roc"], curves["cost"]
    for entry in METRICS.values():
        if entry.of == "ranking":
            entry(ranking.counts)
    curves["gain"].at(share=0.1), curves["lift"].at(share=0.1), curves["lift"].area
    curve.hull(), curve.at(fpr=0.1), costs.area, costs.at(prior=0.2), costs.over_prior(cost_fp=1, cost_fn=2).area


def _cells(data: _Data) -> None:
    from fastevals import Ranking
    from fastevals.infer.bootstrap.bootstrap import BootstrapSettings, make_estimates
    from fastevals.infer.bootstrap.few_cells import FewCells, FewCellSample
    from fastevals.measure.probability_cells import probability_cells
    from fastevals.scale.paired import JointSums
    from fastevals.show.report.intervals import PROBABILITY_COLUMNS, column_metrics

    specs = column_metrics("f1", None, None)
    settings = BootstrapSettings.checked(REPLICATES, 0.9, "BCa", "two-sided", 0)
    models = {"a": data.scores, "b": data.other}
    rankings = {name: Ranking(data.y, each) for name, each in models.items()}
    cells = {
        name: FewCells.reduce(each.counts, specs, probability_cells(each.counts)) for name, each in rankings.items()
    }
    values = dict.fromkeys(specs, 0.5)
    for each in cells.values():
        weighed = replace(each, counts=each.counts.in_weight(), squares=each.counts)
        if each.probabilities is not None:
            p = each.probabilities
            weighed = replace(weighed, probabilities=p.in_weight(), probability_squares=p)
        for some in (each, weighed):
            make_estimates(FewCellSample(some, specs, values), specs, settings)
    joint = JointSums(cells, {label: specs[label] for label in ("roc_auc", *PROBABILITY_COLUMNS, "f1")})
    joint.add_all(data.y == 1, models)


def _labels(data: _Data) -> None:
    from fastevals import ConfusionMatrix

    strings = data.classes.astype(str), data.predicted.astype(str)
    for true, predicted in ((data.classes, data.predicted), strings, [each.astype(object) for each in strings]):
        for weights in (None, data.weights):
            matrix = ConfusionMatrix.from_predictions(true, predicted, sample_weight=weights)
            matrix.f_score(average="macro"), matrix.matthews(), matrix.cohen_kappa()
    ConfusionMatrix.from_predictions(data.y, data.ties > 0.5, labels=[0, 1])
    ConfusionMatrix.from_groups(data.classes, data.predicted, data.groups)


def _bootstraps(data: _Data) -> None:
    from fastevals import ConfusionMatrix, Ranking, bootstrap, confidence_band, delong, metric, proportion_interval

    metrics = ["roc_auc", "average_precision", "ks_statistic", "equal_error_rate", metric("f1", best="f1")]
    metrics += [metric("f1", threshold=0.5), "break_even_point", "pr_auc"]
    limits = {"recall": 0.9, "precision": 0.5, "fpr": 0.1, "tpr": 0.9, "n_predicted": 20}
    metrics += [metric("f1", **{name: value}) for name, value in limits.items()]
    metrics += [metric("roc_auc", max_fpr=0.1)]
    for scores in (data.scores, data.ties):
        ranking = Ranking(data.y, scores)
        for stratified in (False, True):
            bootstrap(ranking, metrics, n_resamples=REPLICATES, stratified=stratified, rng=0)
    bootstrap((data.y, data.scores), ["brier_score", "expected_calibration_error"], n_resamples=REPLICATES, rng=0)
    bootstrap((data.y, data.scores), metrics, n_resamples=REPLICATES, groups=data.groups, rng=0)
    bootstrap((data.y, data.scores), metrics, n_resamples=REPLICATES, sample_weight=data.weights, rng=0)
    matrix = ConfusionMatrix.from_predictions(data.classes, data.predicted)
    bootstrap(matrix, metric("f1", average="macro"), n_resamples=REPLICATES, rng=0)
    proportion_interval(matrix, "accuracy")
    for curve in ("roc", "precision_recall"):
        for kind in ("simultaneous", "pointwise"):
            confidence_band(ranking, curve, kind=kind, n_resamples=REPLICATES, rng=0)
    delong(data.y, {"a": data.scores, "b": data.other}).confidence_interval()


def report_intervals(part: int, parts: int) -> None:
    """Compile the kernels for a report's intervals, starting with those that the report needs last.

    Of several processes, each starts with other metrics. A report computes BCa's acceleration of an area after all
    replicates are drawn; if its rows are few, it needs no kernels for that.
    """
    from fastevals._compile import interpreted
    from fastevals.infer.bootstrap.subjects import SamplingDesign, make_score_sample
    from fastevals.show.report.intervals import CELLS_COLUMNS, PROBABILITY_COLUMNS, RANKING_COLUMNS, column_metrics

    data = _Data(FEW_ROWS)
    scores = {"a": data.scores, "b": data.other}
    asked = column_metrics("f1", None, None)
    names = [*PROBABILITY_COLUMNS, *reversed(CELLS_COLUMNS), *reversed(RANKING_COLUMNS)]
    samples, design = [], SamplingDesign()
    for name in [*names[part::parts], *names]:
        sample = make_score_sample(data.y, scores, {name: asked[name]}, design)
        sample.measure([sample.sizes], 1, sample.workspace())  # each row once, since the report compiles the draws
        samples.append(sample)
    interpreted.ITEMS_PER_KERNEL = 0
    for sample in samples:
        sample.closed_form_acceleration(0)


def _comparisons(data: _Data) -> None:
    from fastevals import compare_predictions, compare_rankings, delong_test, metric, row_costs, score_drift

    score_drift(data.scores, data.other)
    metrics = ["roc_auc", "average_precision", metric("f1", best="f1")]
    scores = {"a": data.scores, "b": data.other, "c": data.ties}
    compare_rankings(data.y, scores, metrics=metrics, n_resamples=REPLICATES, rng=0)
    predictions = {"a": data.predicted, "b": data.predicted[::-1], "c": data.classes}
    compare_predictions(data.classes, predictions, n_resamples=REPLICATES, rng=0)
    compare_predictions(
        data.targets, {"a": data.fitted, "b": data.fitted[::-1]}, metrics="r2", n_resamples=REPLICATES, rng=0
    )
    delong_test(data.y, data.scores, data.other)
    for weights, groups in ((None, None), (data.weights, data.groups)):
        row_costs(
            data.y, scores, cost_fn=data.targets**2, groups=groups, sample_weight=weights, n_resamples=REPLICATES, rng=0
        )


def _groups(data: _Data) -> None:
    import numpy as np

    from fastevals import (
        batch_auc,
        batch_metrics,
        compare_groups,
        grouped_auc,
        grouped_metrics,
        metric,
    )

    names = np.array([str(group) for group in range(data.rows)], dtype=object)
    best, fixed = metric("f1", best="f1"), metric("f1", threshold=0.5)
    metrics = ["average_precision", "ks_statistic", "equal_error_rate", "brier_score", best, fixed]
    grouped_metrics(data.targets, data.fitted, data.groups, ["mean_squared_error", "median_absolute_error"])
    for weights in (None, data.weights):
        grouped_auc(data.y, data.scores, names[data.groups], sample_weight=weights)
        grouped_auc(data.y, data.scores, data.groups, sample_weight=weights)
        grouped_metrics(data.y, data.scores, data.groups, metrics, sample_weight=weights)
        batch_auc(data.y, [data.scores, data.other, data.ties], sample_weight=weights)
    grouped_auc(data.y, data.scores, data.groups, interval="delong")
    grouped_auc(data.y, data.scores, data.groups, interval="bootstrap", n_resamples=REPLICATES, rng=0)
    compare_groups(data.y, [data.scores, data.other], data.groups)
    batch_auc(data.y, [data.scores, data.other], standard_errors=True)
    batch_metrics(data.y, [data.scores, data.other], ["roc_auc", "average_precision"])
    batch_metrics(data.classes, [data.predicted, data.classes], ["accuracy", metric("f1", average="macro")])


def _queries(data: _Data) -> None:
    from fastevals import Qrels, compare_query_metrics, query_metrics, report
    from fastevals.many.queries import USUAL_METRICS

    query_metrics(data.y, data.scores, data.groups)
    compare_query_metrics(data.y, [data.scores, data.other], data.groups, n_resamples=REPLICATES, rng=0)
    metrics = [*USUAL_METRICS, "f1@10", "r_precision"]
    for query in (data.groups, data.groups.astype(str)):
        rows = {"query": query, "document": data.places, "relevance": data.classes, "a": data.scores, "b": data.other}
        qrels = Qrels(rows)
        query_metrics(qrels, {**rows, "score": data.scores}, metrics=metrics)
        for judged in ({"qrels": qrels}, {"queries": "query", "label": "relevance"}):
            report(rows, **judged, score=["a", "b"], metric=metrics, n_resamples=REPLICATES).to_html()


def _classes(data: _Data) -> None:
    from fastevals import ClassRankings

    for weights in (None, data.weights):
        classes = ClassRankings(data.classes, data.probabilities, sample_weight=weights)
        classes.roc_auc(), classes.roc_auc(multi_class="ovo"), classes.average_precision(average="micro")
        classes.roc_curve(average="macro")


def _class_decisions(data: _Data) -> None:
    import numpy as np

    from fastevals import (
        ClassRankings,
        ConfusionMatrix,
        bootstrap,
        class_costs,
        class_thresholds,
        compare_rankings,
        confidence_band,
        metric,
        minimum_cost_predictions,
        most_confused,
        permutation_test,
    )
    from fastevals.infer.bands import ClassAverage
    from fastevals.measure.registry import METRICS

    rows = data.classes, data.probabilities
    classes = ClassRankings(*rows)
    names = ["roc_auc", metric("roc_auc", multi_class="ovo"), "average_precision", metric("f1", average="macro")]
    names += [name for name, entry in METRICS.items() if entry.of == "classes" and entry.classes != "label sets"]
    bootstrap(rows, names, n_resamples=REPLICATES, rng=0)
    compare_rankings(data.classes, {"a": rows[1], "b": rows[1] ** 2}, metrics=names[:2], n_resamples=REPLICATES, rng=0)
    for curve in ("roc", "precision_recall"):
        for average in get_args(ClassAverage):
            confidence_band(classes, curve, average=average, kind="pointwise", n_resamples=REPLICATES, rng=0)
    permutation_test(*rows, rows[1] ** 2, "hand_till", n_resamples=REPLICATES, rng=0)
    for average in get_args(ClassAverage):
        classes.gain_curve(average=average), classes.precision_recall_curve(average=average)
    labels = data.probabilities > 0.4
    of_labels = ["roc_auc", metric("f1", threshold=0.4, average="samples")]
    of_labels += [name for name, entry in METRICS.items() if entry.classes == "label sets"]
    bootstrap((labels, data.probabilities), of_labels, n_resamples=REPLICATES, rng=0)
    ClassRankings(labels, data.probabilities).best_thresholds("f1")
    answers = classes.top_label()
    of_answers = [name for name in METRICS if "coverage" in name and METRICS[name].of == "ranking"]
    bootstrap(answers, of_answers, n_resamples=REPLICATES, rng=0)
    for goal in ("f1", "accuracy", "balanced_accuracy"):
        class_thresholds(*rows, goal, n_resamples=REPLICATES, rng=0)
    costs = 1 - np.eye(4)
    class_costs(*rows, costs, n_resamples=REPLICATES, rng=0)
    class_costs(*rows, abstain_cost=0.2, n_resamples=REPLICATES, rng=0)
    for layout in (np.asarray, np.asfortranarray):
        minimum_cost_predictions(layout(rows[1]), costs)
    minimum_cost_predictions(rows[1][::2, ::-1], costs)
    most_confused(ConfusionMatrix.from_predictions(data.classes, data.predicted))


def _calibrations(data: _Data) -> None:
    from fastevals import Ranking, calibration, gain_table, reliability_band
    from fastevals.infer.calibration.bands import ReliabilityBandKind

    for weights in (None, data.weights):
        calibration(data.y, {"a": data.scores, "b": data.other}, sample_weight=weights)
        gain_table(data.y, {"a": data.scores, "b": data.other}, sample_weight=weights)
    ranking = Ranking(data.y, data.scores)
    for kind in get_args(ReliabilityBandKind):
        reliability_band(ranking, kind=kind, n_resamples=100, rng=0)


def _folds(data: _Data) -> None:
    from fastevals import RankingFolds
    from fastevals.many.folds import FoldAverage, RateAverage

    for scores in (data.scores, data.ties):
        for weights in (None, data.weights):
            folds = RankingFolds.from_scores(data.y, scores, data.groups % 3, sample_weight=weights)
            _every_curve_and_area(folds.pool())
            for of_rates in get_args(RateAverage):
                folds.roc_curve(average=of_rates)
            for average in get_args(FoldAverage):
                for entry in CURVES.values():
                    if entry.averaged:
                        getattr(folds, entry.method)(average=average)


def _summaries(data: _Data) -> None:
    from fastevals import bootstrap, delong
    from fastevals.scale import (
        ClassScoresSummary,
        ConfusionSummary,
        GroupSummary,
        ProbabilitySummary,
        RankingSummary,
        ScoreGrid,
        TargetSummary,
    )
    from fastevals.scale.fixed_grid import GridCounts

    labels = data.classes.astype(str), data.predicted.astype(str)
    whole = (data.weights * 2).astype(int)
    for weights in ({}, {"frequency_weight": whole}, {"sample_weight": whole}):
        for options in ({}, {"cells": 16}, {"grid": ScoreGrid([0.2, 0.5])}, {"at": 0.5}):
            scores = data.scores.round(3) if "at" in options else data.scores
            summary = _summed(RankingSummary(**options), data.y, scores, **weights)
            ranking = summary.ranking()
            ranking.roc_auc(), ranking.average_precision(), ranking.ks_statistic(), ranking.roc_curve()
            delong(summary)
            bootstrap(summary, ["roc_auc", "average_precision", "ks_statistic"], n_resamples=REPLICATES, rng=0)
        _summed(ProbabilitySummary(), data.y, data.scores, **weights).metrics()
        _summed(ConfusionSummary(), *labels, **weights).matrix()
        for cells in (256, 2**15):
            classes = _summed(
                ClassScoresSummary(range(4), ordered=True, cells=cells), data.classes, data.probabilities, **weights
            )
            for name in ("hand_till", "roc_auc", "average_precision", "ranked_probability_score"):
                classes.metric(name)
        _summed(TargetSummary(), data.targets, data.fitted, **weights).metric("r2")
        groups = _summed(GroupSummary(), data.y, data.scores, data.groups, **weights)
        groups.auc(interval=None if "sample_weight" in weights else "delong"), groups.rankings()[0].roc_auc()
    for cells in (16, 2**18):
        parts = RankingSummary(cells=cells, largest_weight=2)
        _summed(parts, data.y, data.scores, sample_weight=data.weights).ranking().roc_auc()
    counts = GridCounts.of_any_scores()
    counts.add(data.y, data.scores)
    counts.summary().ranking().roc_auc()


def _summed(summary: Any, *columns: Any, **weights: Any) -> Any:
    """Return a summary that was merged with itself, updated by read-only arrays, and read from bytes."""
    summary.update(*columns, **weights)
    merged = summary.merge(summary)
    fixed = [each.copy() for each in columns]
    for each in fixed:
        each.flags.writeable = False
    merged.update(*fixed, **weights)
    return type(summary).from_bytes(merged.to_bytes())


def _files(data: _Data) -> None:
    import pyarrow as pa
    from pyarrow.parquet import write_table

    from fastevals import report
    from fastevals.scale import parquet

    whole = (data.weights * 2).astype(int)
    columns = {"y": data.y, "p": data.scores, "q": data.ties, "w": whole, "v": data.weights, "g": data.groups % 3}
    with tempfile.TemporaryDirectory() as folder:
        file = f"{folder}/rows.parquet"
        asked: dict[str, Any] = {"label": "y", "score": ["p", "q"]}
        write_table(pa.table(columns), file)
        weights: list[dict[str, Any]] = [{}, {"frequency_weight": "w"}, {"sample_weight": "w"}, {"sample_weight": "v"}]
        for weight in weights:
            for exact in (None, False):
                for ranking in parquet.ranking(file, **asked, **weight, exact=exact).values():
                    ranking.roc_auc(), ranking.average_precision(), ranking.ks_statistic(), ranking.roc_curve()
        options: dict[str, Any]
        for options in (
            {}, {"by": "g"}, {"sample_weight": "w"}, {"frequency_weight": "w"}, {"groups": "g"}, {"approximate": True},
            {"memory": "200KB"},
        ):  # fmt: skip
            report(file, **asked, **options, n_resamples=REPLICATES)


def _regressions(data: _Data) -> None:
    from fastevals import batch_metrics, bias_variance, predicted_intervals, regression_metrics

    for weights in (None, data.weights):
        regression_metrics(data.targets, {"a": data.fitted, "b": data.targets}, sample_weight=weights)
    batch_metrics(data.targets, [predicted_intervals(data.fitted - 1, data.fitted + 1)], "weighted_interval_score")
    bias_variance(data.targets, [data.fitted, data.fitted[::-1], data.targets])
    for dtype in (int, str):
        classes, predicted = data.classes.astype(dtype), data.predicted.astype(dtype)
        bias_variance(classes, [predicted, predicted[::-1], classes], loss="zero_one")


def _drop_in(data: _Data) -> None:
    from fastevals import metrics

    score_functions = "roc_auc_score average_precision_score roc_curve precision_recall_curve det_curve log_loss"
    label_functions = "accuracy_score confusion_matrix balanced_accuracy_score classification_report cohen_kappa_score"
    averaged_functions = "f1_score precision_score recall_score"
    target_functions = "mean_squared_error mean_absolute_error r2_score median_absolute_error mean_pinball_loss"
    positive_functions = "mean_squared_log_error mean_poisson_deviance mean_gamma_deviance"
    for weights in (None, data.weights):
        for name in score_functions.split():
            getattr(metrics, name)(data.y, data.scores, sample_weight=weights)
        for name in label_functions.split():
            getattr(metrics, name)(data.classes, data.predicted, sample_weight=weights)
        for name in averaged_functions.split():
            getattr(metrics, name)(data.classes, data.predicted, average="macro", sample_weight=weights)
        for name in target_functions.split():
            getattr(metrics, name)(data.targets, data.fitted, sample_weight=weights)
        metrics.mean_absolute_percentage_error(data.targets, data.fitted, sample_weight=weights)
        for name in positive_functions.split():
            getattr(metrics, name)(abs(data.targets), abs(data.fitted), sample_weight=weights)
        for power in (1.3, 1.5, 3):
            metrics.mean_tweedie_deviance(abs(data.targets), abs(data.fitted), power=power, sample_weight=weights)
    metrics.max_error(data.targets, data.fitted)
    for multi_class in ("ovr", "ovo"):
        metrics.roc_auc_score(data.classes, data.probabilities, multi_class=multi_class)
    for name in ["d2_brier_score", "hinge_loss", "top_k_accuracy_score"]:
        getattr(metrics, name)(data.classes, data.probabilities)
    for name in ["coverage_error", "label_ranking_average_precision_score", "label_ranking_loss", "ndcg_score"]:
        getattr(metrics, name)(data.probabilities > 0.25, data.probabilities)


def _splits(data: _Data) -> None:
    import numpy as np

    from fastevals import (
        BootstrapSplit,
        HoldOut,
        KFold,
        LeaveOneOut,
        estimate_error,
        evaluate_splits,
        learning_curve,
        metric,
    )

    def learner(x_train: Any, y_train: Any, x_test: Any) -> Any:
        return x_test[:, 0] > 0.5

    def mean(x_train: Any, y_train: Any, x_test: Any) -> Any:
        return np.full(len(x_test), y_train.mean())

    x = data.scores[:, None]
    [*KFold(3, stratified=True, rng=0).split(x, data.y, data.groups)]
    plain = [HoldOut(0.2, n_repeats=3, rng=0), KFold(3, rng=0), BootstrapSplit(3, rng=0), LeaveOneOut()]
    stratified = [HoldOut(0.2, n_repeats=3, stratified=True, rng=0), KFold(3, stratified=True, rng=0)]
    for split in plain + stratified:
        estimate_error(learner, x, data.y == 1, split, "error_rate")
        evaluate_splits(data.classes, data.predicted, split, "error_rate")
    for split in plain:
        evaluate_splits(data.targets, data.fitted, split, ["mean_squared_error", "r2"])
        evaluate_splits(data.classes, data.predicted, split, ["accuracy", metric("f1", average="macro"), "matthews"])
        evaluate_splits(data.y, data.scores, split, ["roc_auc", "brier_score"])
    learning_curve(mean, x, data.targets, KFold(3, rng=0), "mean_squared_error", train_sizes=[0.5], rng=0)


def _tests(data: _Data) -> None:
    import numpy as np

    from fastevals import (
        bayes_bradley_terry,
        bayes_hierarchical,
        cochran_q_test,
        friedman_test,
        mcnemar_test,
        metric,
        nemenyi_test,
        paired_permutation_test,
        pairwise_mcnemar_tests,
        pairwise_tests,
        permutation_test,
        sign_test,
        wilcoxon_test,
    )

    models = {"a": data.predicted, "b": data.predicted[::-1], "c": data.classes}
    mcnemar_test(data.classes, models["a"], models["b"])
    cochran_q_test(data.classes, models)
    pairwise_mcnemar_tests(data.classes, models)
    results = np.random.default_rng(0).random((12, 3)).round(1)
    friedman_test(results)
    nemenyi_test(results)
    bayes_bradley_terry(results, higher_is_better=True, n_draws=REPLICATES * 10, rng=0)
    folds = np.random.default_rng(0).random((3, 2, 5))
    bayes_hierarchical(folds, rope=0.1, n_train=4, n_test=1, higher_is_better=True, n_draws=REPLICATES * 10, rng=0)
    for test in ("wilcoxon", "sign"):
        _ = pairwise_tests(results, test=test).effects
    wilcoxon_test(results[:, 0], results[:, 1])
    sign_test(results[:, 0], results[:, 1])
    for pair in (data.targets[:12], data.fitted[:12]), (data.targets, data.fitted):
        paired_permutation_test(*pair, n_resamples=REPLICATES, rng=0)
    for label_metric in ("accuracy", metric("f1", average="macro")):
        permutation_test(data.classes, models["a"], models["b"], label_metric, n_resamples=REPLICATES, rng=0)
    for score_metric in ("roc_auc", "average_precision"):
        permutation_test(data.y, data.scores, data.other, score_metric, n_resamples=REPLICATES, rng=0)
