"""`fastevals.report`, for scores and for predictions; source.py reads and measures them."""

from __future__ import annotations

from typing import Any

from fastevals.show.options import takes
from fastevals.show.report.document import Report
from fastevals.show.report.options import ReportOptions
from fastevals.show.report.queries import QueriesReport, report_queries
from fastevals.show.report.source import build_report


@takes(ReportOptions)
def report(data: Any = None, **options: Any) -> Report | QueriesReport:
    """Report how good models are, how certain that is, and whether they differ, like ``fastevals report``.

    Parameters
    ----------
    data : path, paths, frame, mapping of str to array-like, or counts, optional
        Data with one row per sample: CSV, Parquet or Arrow files, folders or patterns such as ``"scores/*.parquet"``, a
        pyarrow data set or record-batch reader, of any size; a frame (pandas, polars, Arrow), a DuckDB query or another
        object with an Arrow stream; or columns by name. Or one model: a `Ranking`, `RankingSummary` or
        `ThresholdCounts` of its scores, a `ConfusionMatrix` of its predictions, a `ClassScoresSummary` of its class
        probabilities. By default the embedded scores of three classifiers. Predicted classes and numbers are read into
        memory.
    {options}

    Returns
    -------
    Report or QueriesReport
        It prints itself; ``to_dict()`` is the JSON of the command, ``to_text()`` its text, ``to_html()`` a page. It
        keeps the data for the pictures of the first 20 blocks. With `queries` or `qrels`, it is on ranked documents.

    Raises
    ------
    ValueError
        If an argument is not as described; the message names it, the rule and the value seen.
    ImportError
        If `data` is a file and pyarrow is not installed.

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
    >>> columns = {"y": ["cat", "dog", "owl"], "p": [[0.7, 0.2, 0.1], [0.3, 0.4, 0.3], [0.4, 0.4, 0.2]]}
    >>> found = fastevals.report(columns, label="y", probabilities="p", n_resamples=0).to_dict()["blocks"][0]
    >>> round(found["models"][0]["metrics"]["log_loss"], 4)
    0.9608
    >>> columns = {"query": [1, 1, 2, 2], "relevant": [0, 1, 1, 0], "bm25": [2, 1, 3, 1], "dense": [1, 2, 2, 1]}
    >>> found = fastevals.report(
    ...     columns, queries="query", label="relevant", score=["bm25", "dense"], metric="mrr", n_resamples=0
    ... )
    >>> found.means
    {'bm25': {'mrr': 0.75}, 'dense': {'mrr': 1.0}}
    """
    chosen = ReportOptions(**options)
    if chosen.queries is None and chosen.qrels is None:
        return build_report(data, chosen)
    return report_queries(data, chosen)
