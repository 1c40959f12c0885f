"""Comparison of models, by their results on data sets or by the classes that they predict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fastevals._choices import McNemarMethod
from fastevals._naming import option
from fastevals._options import as_direction, as_flag, check_choice, naming_rows
from fastevals._validation.tables import as_estimates, warn_if_dependent
from fastevals.datasets import load_psnr
from fastevals.infer.significance.friedman import OF_SPLITS
from fastevals.reading.columns import NamedColumns, column_name, column_names, columns_by_role, data_name, read_data
from fastevals.reading.form import CsvForm
from fastevals.show.compare.options import PostHoc, check_options
from fastevals.show.compare.predictions import PredictionsComparison, compare_prediction_columns
from fastevals.show.compare.results import ComparisonOptions, ResultsComparison, compare_result_columns

EMBEDDED = "psnr (embedded)"


def compare(
    data: Any = None,
    *,
    dataset: str | Sequence[str] | None = None,
    algorithm: str | Sequence[str] | None = None,
    by: str | None = None,
    lower_is_better: bool = False,
    control: str | None = None,
    posthoc: PostHoc | None = None,
    label: str | None = None,
    pred: Sequence[str] | None = None,
    pos_label: Any = None,
    method: McNemarMethod | None = None,
    groups: str | None = None,
    n_resamples: int | None = None,
    rng: Any = None,
    confidence_level: float = 0.95,
    separator: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    progress: bool = False,
) -> ResultsComparison | PredictionsComparison:
    """Test whether models differ, by results on data sets or by predictions, as ``fastevals compare`` does.

    Parameters
    ----------
    data : path, frame or mapping of str to array-like, optional
        A CSV, Parquet or Arrow file, a frame (pandas, polars, Arrow) or columns by name. Results: a row for each data
        set, a column for each algorithm; an index without a name names rows. Or a mapping of names to estimates, as
        for `friedman_test`. Predictions, with `label` and `pred`: a row a sample, a column of the true class and one of
        each model's predicted class. By default embedded results.
    dataset : str or sequence of str, optional
        Columns that name data sets, beside those of text, and are no algorithms.
    algorithm : str or sequence of str, optional
        Columns of algorithms' results; by default all others.
    by : str, optional
        A comparison of results for each value of this column.
    lower_is_better : bool
        Results are errors or losses; estimates know it of their metric.
    control : str, optional
        Compare each other algorithm with this one.
    posthoc : {"nemenyi", "bonferroni-dunn", "holm", "hochberg", "benjamini-hochberg", "wilcoxon"}, optional
        The test of pairs: "nemenyi" by default, with `control` "bonferroni-dunn".
    label : str, optional
        Column of the true class; then `data` holds predictions.
    pred : sequence of str
        Columns of two models' predicted classes or more.
    pos_label : label, optional
        The positive one of two classes; 1 among 0/1, -1/1 and booleans.
    method : {"exact", "mid-p", "corrected", "uncorrected"}, optional
        Of McNemar's test, "exact" by default.
    groups : str, optional
        Column of which rows are drawn together, such as a patient.
    n_resamples : int, optional
        Bootstrap replicates, 1999 by default.
    rng : int or numpy.random.Generator, optional
        Of the replicates, 0 by default.
    confidence_level : float in (0, 1)
        Level of intervals; tests are at 1 less it.
    separator, encoding, header : str, str and bool, optional
        Of a CSV file, where they are not to be seen from it.
    progress : bool
        Show a bar for the bootstrap (needs tqdm).

    Returns
    -------
    ResultsComparison or PredictionsComparison
        It prints itself; ``to_dict()`` is the JSON of the command, ``to_text()`` its text.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.
    ImportError
        For a file without pyarrow.

    Examples
    --------
    >>> import fastevals
    >>> results = {"a": [0.9, 0.8, 0.7, 0.9, 0.8], "b": [0.7, 0.7, 0.6, 0.8, 0.6], "c": [0.5, 0.6, 0.4, 0.5, 0.5]}
    >>> block = fastevals.compare(results).to_dict()["blocks"][0]
    >>> block["mean_ranks"], round(block["friedman"]["pvalue"], 4)
    ({'a': 1.0, 'b': 2.0, 'c': 3.0}, 0.0008)
    """
    label, by, control, groups = (
        column_name(role, name)
        for role, name in {"label": label, "by": by, "control": control, "groups": groups}.items()
    )
    datasets, algorithms = column_names("dataset", dataset), column_names("algorithm", algorithm)
    models = column_names("pred", pred)
    lower_is_better = as_flag(option("lower_is_better"), lower_is_better)
    named = {"pred": models or None, "dataset": datasets or None, "algorithm": algorithms or None}
    check_options(data, locals() | named)
    for name, value, choices in (("posthoc", posthoc, PostHoc), ("method", method, McNemarMethod)):
        if value is not None:
            check_choice(option(name), value, choices)
    form = CsvForm.checked(separator, encoding, header)
    if label is None:
        if data is None:
            columns = NamedColumns(load_psnr())
            datasets = datasets or tuple(name for name in ("image", "sigma") if name != by)
        else:
            data, lower_is_better = _without_estimates(data, lower_is_better)
            roles = {"dataset": datasets, "algorithm": algorithms, "by": (by,)}
            beside = {
                name: f"{option(role)} {name!r}" for role, names in roles.items() for name in names if name is not None
            }
            naming = [name for name in (*datasets, by) if name is not None]
            columns = read_data(data, None, names=naming, beside=beside, form=form)
        comparison = ComparisonOptions(
            datasets, algorithms, by, control, posthoc, not lower_is_better, confidence_level
        )
        with naming_rows(columns.line):
            return compare_result_columns(columns, comparison, EMBEDDED if data is None else data_name(data))
    wanted = columns_by_role(
        [(option("label"), label), *((option("pred"), name) for name in models), (option("groups"), groups)]
    )
    columns = read_data(data, wanted, names=wanted, form=form)
    with naming_rows(columns.line):
        return compare_prediction_columns(
            columns, label, models, groups=groups, method=method or "exact",
            n_resamples=1999 if n_resamples is None else n_resamples, rng=rng, confidence_level=confidence_level,
            progress=progress, pos_label=pos_label, data=data_name(data),
        )  # fmt: skip


def _without_estimates(data: Any, lower_is_better: bool) -> tuple[Any, bool]:
    """Return the values of estimates in their place, and the direction of their metric; other data as they are."""
    measured = as_estimates("data", data) if isinstance(data, Mapping) else {}
    if not measured:
        return data, lower_is_better
    first = next(iter(measured.values()))
    known = None if first.greater_is_better is None else not first.greater_is_better
    lower = as_direction(option("lower_is_better"), str(first.metric), lower_is_better or None, known)
    warn_if_dependent("compare", [first], OF_SPLITS)
    return {name: each.values for name, each in measured.items()}, bool(lower)
