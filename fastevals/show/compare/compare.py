"""`fastevals.compare`, for results on data sets, predicted classes, and probabilities of classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastevals._naming import dropping, option
from fastevals._options import as_direction, check_choice, naming_rows
from fastevals._validation.tables import holds_estimates
from fastevals.datasets import load_psnr
from fastevals.infer.learners.results import Results, as_learner_results
from fastevals.reading.columns import ColumnRoles, NamedColumns, are_summaries, read_columns
from fastevals.reading.csv import CsvForm
from fastevals.reading.sources import UNNAMED, RowRules
from fastevals.show.commands import checked, with_reference_first
from fastevals.show.compare.blocks import ComparisonOptions, measure_results
from fastevals.show.compare.columns import choose_posthoc, compare_result_columns
from fastevals.show.compare.options import CompareOptions, check_options
from fastevals.show.compare.predictions import PredictionsComparison, compare_prediction_columns
from fastevals.show.compare.probabilities import ProbabilitiesComparison, compare_probabilities
from fastevals.show.compare.results import ResultsComparison
from fastevals.show.options import takes
from fastevals.show.report.source import refuse_class_rankings

EMBEDDED = "psnr (embedded)"


@takes(CompareOptions)
def compare(data: Any = None, **options: Any) -> ResultsComparison | PredictionsComparison | ProbabilitiesComparison:
    """Test whether models differ, by results on data sets or by predictions, as ``fastevals compare`` does.

    Parameters
    ----------
    data : path, frame or mapping of str to array-like, optional
        A CSV, Parquet or Arrow file, a frame (pandas, polars, Arrow) or columns by name. Results have one row per data
        set and one column per algorithm; an index without a name names the rows. Or they have one row per result,
        with columns for the data set, the algorithm, the result and possibly the fold: then folds are averaged, and the
        direction of a known metric is that of its column's name. A mapping of names to estimates, as in
        `friedman_test`, also counts as results. Predictions, with `label` and `pred`, have one row per sample, a column
        of the true class and a column of each model's predicted class or, with `probabilities`, its columns of class
        probabilities. By default embedded results.
    {options}

    Returns
    -------
    ResultsComparison, PredictionsComparison or ProbabilitiesComparison
        It prints itself; ``to_dict()`` is the JSON of the command, ``to_text()`` its text.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.
    ImportError
        If `data` is a file and pyarrow is not installed.

    Examples
    --------
    >>> import fastevals
    >>> results = {"a": [0.9, 0.8, 0.7, 0.9, 0.8], "b": [0.7, 0.7, 0.6, 0.8, 0.6], "c": [0.5, 0.6, 0.4, 0.5, 0.5]}
    >>> block = fastevals.compare(results).to_dict()["blocks"][0]
    >>> block["mean_ranks"], round(block["friedman"]["pvalue"], 4)
    ({'a': 1.0, 'b': 2.0, 'c': 3.0}, 0.0008)
    """
    return compare_data(data, CompareOptions(**options))


def compare_data(
    data: Any, options: CompareOptions
) -> ResultsComparison | PredictionsComparison | ProbabilitiesComparison:
    """Test whether models differ, with the given options."""
    refuse_class_rankings(data)
    options = checked(options)
    check_options(data, options)
    form = CsvForm.checked(options.separator, options.encoding, options.header)
    if options.label is None:
        by, lower_is_better = options.by, options.lower_is_better
        datasets, algorithms = tuple(options.dataset or ()), tuple(options.algorithm or ())
        if data is None:
            columns = NamedColumns(load_psnr(), data=EMBEDDED)
            datasets = datasets or tuple(name for name in ("image", "sigma") if name != by)
        else:
            if _holds_results(data):
                return _compare_learners(as_learner_results("data", data), options)
            of_roles = {"dataset": datasets, "algorithm": algorithms, "by": (by,)}
            beside = {
                name: f"{option(role)} {name!r}"
                for role, names in of_roles.items()
                for name in names
                if name is not None
            }
            naming = [name for name in (*datasets, by) if name is not None]
            columns = read_columns(data, None, names=naming, beside=beside, form=form)
        control, named = options.control, "control"
        if options.reference is not None:
            control, named = options.reference, "reference"
        comparison = ComparisonOptions(
            datasets,
            algorithms,
            by,
            control,
            options.posthoc,
            not lower_is_better,
            options.confidence_level,
            options.bibtex,
        )
        with naming_rows(columns.line):
            return compare_result_columns(columns, comparison, columns.data, named)
    if are_summaries(data) or type(data).__name__ == "ClassScoresSummary":
        raise ValueError(
            "data must be rows, which pair the models, got a summary: bootstrap_unpaired compares two summaries"
        )
    if options.probabilities is not None:
        return compare_probabilities(data, options, form)
    models = with_reference_first(options.pred or (), options.reference)
    roles = ColumnRoles(options.label, models, groups=options.groups, kind="labels")
    wanted, rules = roles.message_names(), RowRules(options.on_missing_label, options.on_invalid)
    columns = read_columns(data, wanted, names=wanted, form=form, truth=roles.truth, rules=rules)
    with naming_rows(columns.line, dropping()):
        return compare_prediction_columns(
            columns, roles, method=options.method or "exact",
            n_resamples=1999 if options.n_resamples is None else options.n_resamples, rng=options.rng,
            confidence_level=options.confidence_level, progress=options.progress, pos_label=options.pos_label,
            data=columns.data, reference=options.reference,
        )  # fmt: skip


def _holds_results(data: Any) -> bool:
    """Return whether data are `Results`, or a mapping of learners to estimates."""
    return isinstance(data, Results) or (
        isinstance(data, Mapping) and bool(data) and any(map(holds_estimates, data.values()))
    )


def _compare_learners(results: Results, options: CompareOptions) -> ResultsComparison:
    """Compare the learners of `Results`."""
    for name in ("dataset", "algorithm", "by"):
        if getattr(options, name) is not None:
            raise ValueError(f"{option(name)} names a column, and Results have none: leave it out")
    metric, known = results.metric or "these results", results.greater_is_better
    is_lower = None if known is None else not known
    lower = as_direction(option("lower_is_better"), metric, options.lower_is_better or None, is_lower)
    if lower is None and results.metric is not None:
        raise ValueError(f"{option('lower_is_better')} is needed: the direction of {metric} is unknown")
    control, named = (options.control, "control") if options.reference is None else (options.reference, "reference")
    if control is not None:
        check_choice(option(named), control, results.learners)
    comparison = ComparisonOptions(
        (), (), None, control, options.posthoc, not lower, options.confidence_level, options.bibtex
    )
    comparison = comparison._replace(posthoc=choose_posthoc(results.learners, comparison))
    block = measure_results(results, comparison)
    if block.of_splits:
        comparison = comparison._replace(posthoc=None)
    return ResultsComparison(comparison, (block,), UNNAMED, (), results.notes)
