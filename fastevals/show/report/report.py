"""`fastevals.report`: of scores, or of predicted classes or numbers; source.py reads and measures both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastevals._choices import OnInvalid
from fastevals.show.report.source import PredictionReport, Report, build_report


def report(
    data: Any = None,
    *,
    label: str | None = None,
    score: str | Sequence[str] | None = None,
    pred: str | Sequence[str] | None = None,
    target: str | None = None,
    sample_weight: str | None = None,
    frequency_weight: str | None = None,
    by: str | None = None,
    pos_label: Any = None,
    threshold: float | None = None,
    best: str | None = None,
    cost_fp: float | None = None,
    cost_fn: float | None = None,
    prior: float | None = None,
    n_resamples: int | None = None,
    confidence_level: float = 0.95,
    rng: Any = 0,
    groups: str | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    memory: int | str | None = None,
    approximate: bool = False,
    on_invalid: OnInvalid = "raise",
    against: Any = None,
    progress: bool = False,
) -> Report | PredictionReport:
    """Report how good models are, how sure that is, and how they differ, as ``fastevals report`` does.

    Parameters
    ----------
    data : path, paths, frame, mapping of str to array-like, or what was counted, optional
        CSV, Parquet or Arrow files, folders or patterns such as ``"scores/*.parquet"``, a data set or record-batch
        reader of pyarrow, of any size; a frame (pandas, polars, Arrow) or columns by name, with a row a sample; a
        `Ranking`, `RankingSummary` or `ThresholdCounts` of one model's scores, a `ConfusionMatrix` of its predictions.
        By default the embedded scores of three classifiers. Predictions are read from one file.
    label : str
        Column of the true class. Of a `Ranking` or counts what texts call it, "label" by default.
    score : str or sequence of str
        Columns of scores, a model each, higher for the positive class. Of a `Ranking` or counts the model's name.
    pred : str or sequence of str
        Instead of scores, columns of what models predict: classes, of two or many, or with `target` numbers.
    target : str
        Column of the true number.
    sample_weight : str, optional
        Column of row weights: each row is one independent observation.
    frequency_weight : str, optional
        Column of how many copies of each row there are: whole numbers, the same as repeated rows. Not with
        `sample_weight`.
    by : str, optional
        Means over this column's values, and a block each up to 100 of them.
    pos_label : label, optional
        The positive class; 1 among 0/1, -1/1 and booleans.
    threshold : float, optional
        Predict positive where ``score >= threshold``.
    best : str, optional
        Or at each model's best threshold by this metric: "f1" by default, "expected_cost" with costs.
    cost_fp, cost_fn : float, optional
        Costs of a false positive and a false negative; 1 where only the other, or the prior, is given.
    prior : float, optional
        Share of positives where the models are used, for costs; by default that of each block.
    n_resamples : int, optional
        Bootstrap replicates for the intervals; 0: no intervals. By default 1999, within a budget of 12,000,000,000
        draws (rows x models x replicates) a report: of larger blocks cells of rows are drawn.
    confidence_level : float in (0, 1)
        Level of the intervals, and of all differences of a metric at once.
    rng : int or numpy.random.Generator
        Of the replicates: the same integer, the same report.
    groups : str, optional
        Column of which rows are drawn together, such as a patient.
    separator, encoding, header : str, str and bool, optional
        Of a CSV file, where they are not to be seen from it.
    memory : int or str, optional
        Bytes, such as ``"2GB"``, that the rows of files may take; by default half of what is free. Larger files are
        read in two or more scans, to the same numbers.
    approximate : bool
        Read files once, count scores in ranges, and give numbers with bounds that hold for certain.
    on_invalid : {"raise", "drop"}
        Whether a row of files without a value in one of its columns, or without a finite score, prediction, target or
        weight, is an error or left out and counted. With "drop" None, ?, NA and the like are missing, too.
    against : path or paths, optional
        Where `data` are files of ``fastevals summarize``: others, of rows that are in none of these. Each model's
        differences from what it was on them have intervals, each by itself.
    progress : bool
        Show a bar for each block's bootstrap (needs tqdm).

    Returns
    -------
    Report or PredictionReport
        It prints itself; ``to_dict()`` is the JSON of the command, ``to_text()`` its text, ``to_html()`` a page. Of the
        data it holds what pictures of the first 20 blocks are drawn from.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.
    ImportError
        For a file without pyarrow.

    Examples
    --------
    >>> import fastevals
    >>> columns = {"y": [0, 1, 0, 1, 1, 0], "a": [0.1, 0.8, 0.5, 0.6, 0.4, 0.2], "b": [0.3, 0.9, 0.2, 0.7, 0.8, 0.1]}
    >>> report = fastevals.report(columns, label="y", score=["a", "b"], n_resamples=0).to_dict()
    >>> [(model["name"], round(model["metrics"]["roc_auc"], 4)) for model in report["blocks"][0]["models"]]
    [('a', 0.8889), ('b', 1.0)]
    >>> columns = {"y": ["cat", "dog", "owl", "cat"], "p": ["cat", "dog", "cat", "cat"]}
    >>> found = fastevals.report(columns, label="y", pred="p", n_resamples=0).to_dict()["blocks"][0]["models"][0]
    >>> found["metrics"]["accuracy"], found["confusion"]
    (0.75, [[2, 0, 0], [0, 1, 0], [1, 0, 0]])
    """
    return build_report(**locals())  # the arguments: nothing else is local here
