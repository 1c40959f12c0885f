"""Rankings of DuckDB's tables, files and queries: DuckDB counts the rows of each class in ranges of scores.

>>> import duckdb
>>> from fastevals.scale import duckdb as fastevals_duckdb
>>> rows = duckdb.sql("SELECT i % 3 = 0 AS y, sin(i) AS p FROM range(1000) AS t(i)")
>>> fastevals_duckdb.ranking(rows, label="y", score="p").roc_auc()
0.5000224775673877
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, NamedTuple, Required, TypedDict, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._choices import OnInvalid
from fastevals._naming import dropping, naming_columns
from fastevals._options import check_choice, check_integer, did_you_mean, import_optional, listed, names_keywords, show
from fastevals._validation.arrays import EXACT_INTEGER
from fastevals._validation.labels import binary_labels
from fastevals.counting.ordering import FLOATS
from fastevals.measure.ranking.ranking import Ranking
from fastevals.reading.rows import check_names, given_columns, score_names
from fastevals.scale.certified import CertifiedRanking
from fastevals.scale.parquet import Models, threshold_keys
from fastevals.scale.summary import MOST_CELLS, RankingSummary

__all__ = ["ranking", "ranking_summary"]

MISSING = "rankings of DuckDB's rows need duckdb: pip install duckdb"
NUMBERS = re.compile(r"(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|BOOLEAN|DECIMAL\(.*\))")
TABLE = re.compile(r"""(\w+|"[^"]+")([.](\w+|"[^"]+"))*""")
WIDE_INTEGERS = ("BIGINT", "UBIGINT", "HUGEINT", "UHUGEINT")
MOST_LABELS = 1_000  # that are listed before the rows are counted
# If an AUC's bounds are wider than WIDTH / cells, ranges with CROWDED times their share of the rows are split in PARTS
# or more by another scan. Rows of a range that was not split are not known to later scans.
WIDTH, CROWDED, PARTS, MOST_SPLIT, SCANS = 3, 4, 16, 4_096, 8
LARGEST_FACTOR = 1e300
VIEW = "rows_of_fastevals"  # the name of the relation in queries


class RowOptions(TypedDict, total=False):
    """Options for the rows of a relation, and for the ranges of their scores."""

    label: Required[str]
    frequency_weight: str | None
    pos_label: Any
    con: Any
    cells: int
    at: ArrayLike
    on_missing_label: OnInvalid
    on_invalid: OnInvalid


@overload
def ranking(data: Any, *, score: str, **options: Unpack[RowOptions]) -> Ranking | CertifiedRanking: ...
@overload
def ranking(data: Any, *, score: Models, **options: Unpack[RowOptions]) -> dict[str, Ranking | CertifiedRanking]: ...
@names_keywords
def ranking(
    data: Any,
    *,
    label: str,
    score: str | Sequence[str],
    frequency_weight: str | None = None,
    pos_label: Any = None,
    con: Any = None,
    cells: int = 2**18,
    at: ArrayLike = (),
    on_missing_label: OnInvalid = "raise",
    on_invalid: OnInvalid = "raise",
) -> Any:
    """Return the ranking of all rows, however many: exact if there are few distinct scores, else with certified bounds.

    Only counts leave DuckDB: ``GROUP BY`` returns the number of rows of each class, and the extreme scores, in each
    range of scores. For weighted rows, pass DuckDB's stream of record batches to `fastevals.scale.parquet.ranking`.

    Parameters
    ----------
    data : duckdb.DuckDBPyRelation or str
        A relation, such as ``duckdb.sql("FROM 'scores/*.parquet'")``; the name of a table; or a query. Pass a relation
        if a query reads variables of Python, such as frames.
    label : str
        Column of the true class.
    score : str or sequence of str
        Column of finite scores, which must be higher for the positive class. If several columns are given, one per
        model, a dict is returned.
    frequency_weight : str, optional
        Column with the number of copies of each row: integers.
    pos_label : label, optional
        The positive class: by default 1 for labels 0/1, -1/1 and booleans.
    con : duckdb.DuckDBPyConnection, optional
        The connection of a table or query; by default DuckDB's own.
    cells : int
        Approximate number of score ranges. They have equal widths at first. If the bounds of an AUC would be wider than
        3 / cells, more scans (at most seven) split the ranges with the most rows.
    at : float or array-like, optional
        Thresholds at which counts are exact.
    on_missing_label, on_invalid : {"raise", "drop"}
        Whether rows without a label (NULL or NaN), and rows without a finite score or a number of copies, raise an
        error or are left out (for all models).

    Returns
    -------
    Ranking or CertifiedRanking, or a dict of them by model

    Raises
    ------
    ValueError
        If an argument is not as described; if a column is missing or holds other values; or if the rows change between
        scans.
    ImportError
        If duckdb is missing.

    Examples
    --------
    >>> import duckdb
    >>> from fastevals.scale import duckdb as fastevals_duckdb
    >>> rows = "FROM (VALUES (0, 0.1), (0, 0.4), (1, 0.35), (1, 0.8)) AS t(y, p)"
    >>> fastevals_duckdb.ranking(rows, label="y", score="p").roc_auc()
    0.75
    """
    found = _summaries(
        data, label, score, frequency_weight, pos_label, con, cells, at,
        {"on_missing_label": on_missing_label, "on_invalid": on_invalid},
    )  # fmt: skip
    rankings = {name: each.ranking() for name, each in found.items()}
    return rankings[score] if isinstance(score, str) else rankings


@overload
def ranking_summary(data: Any, *, score: str, **options: Unpack[RowOptions]) -> RankingSummary: ...
@overload
def ranking_summary(data: Any, *, score: Models, **options: Unpack[RowOptions]) -> dict[str, RankingSummary]: ...
@names_keywords
def ranking_summary(
    data: Any,
    *,
    label: str,
    score: str | Sequence[str],
    frequency_weight: str | None = None,
    pos_label: Any = None,
    con: Any = None,
    cells: int = 2**18,
    at: ArrayLike = (),
    on_missing_label: OnInvalid = "raise",
    on_invalid: OnInvalid = "raise",
) -> Any:
    """Summarize all rows; the summary can be stored, merged with others, and resampled.

    Parameters
    ----------
    data, label, score, frequency_weight, pos_label, con, cells, at, on_missing_label, on_invalid
        As for `ranking`.

    Returns
    -------
    RankingSummary, or a dict of them by model

    Raises
    ------
    ValueError, ImportError
        As for `ranking`.

    Examples
    --------
    >>> import duckdb, fastevals
    >>> from fastevals.scale import duckdb as fastevals_duckdb
    >>> rows = "FROM (VALUES (0, 0.1), (0, 0.4), (1, 0.35), (1, 0.8)) AS t(y, p)"
    >>> summary = fastevals_duckdb.ranking_summary(rows, label="y", score="p")
    >>> summary, fastevals.delong(summary).aucs
    (RankingSummary(4 rows, 2 positives, exact), array([0.75]))
    """
    found = _summaries(
        data, label, score, frequency_weight, pos_label, con, cells, at,
        {"on_missing_label": on_missing_label, "on_invalid": on_invalid},
    )  # fmt: skip
    return found[score] if isinstance(score, str) else found


def _summaries(
    data: Any, label: str, score: Any, copies: str | None, pos_label: Any, con: Any, cells: int, at: ArrayLike,
    rules: dict[str, OnInvalid],
) -> dict[str, RankingSummary]:  # fmt: skip
    """Return the summary of each model."""
    names = score_names(score)
    check_names(label=label, **given_columns(frequency_weight=copies))
    for name, each in rules.items():
        check_choice(name, each, OnInvalid)
    cells = check_integer("cells", cells, low=1, high=MOST_CELLS)
    thresholds = FLOATS.decode(threshold_keys("at", at)).tolist()
    relation = _relation(data, con)
    rows, found = RelationRows(relation, label, names, copies), {}
    try:
        known = rows.check(pos_label, rules)
        for k, name in enumerate(names):
            counted = RowRanges(rows, known, k, cells, thresholds).count()
            found[name] = RankingSummary.from_cells(*counted, cells=cells, at=at, pos_label=known.positive)
    finally:
        relation.query(VIEW, f"DROP VIEW IF EXISTS {VIEW}")  # which DuckDB before 2.0 leaves behind
    return found


def _relation(data: Any, con: Any) -> Any:
    """Return a relation for a user's relation, table or query."""
    duckdb = import_optional("duckdb", MISSING)
    if isinstance(data, str):
        source = duckdb if con is None else con
        if not hasattr(source, "sql"):
            raise ValueError(f"con must be a connection, such as duckdb.connect(), got {show(con)}")
        relation = source.table(data) if TABLE.fullmatch(data) else source.sql(data)
        if relation is None:
            raise ValueError(f"data must be the name of a table, or a query that returns rows, got {show(data)}")
        return relation
    if not isinstance(data, duckdb.DuckDBPyRelation):
        raise ValueError(f"data must be a relation of DuckDB, the name of a table or a query, got {show(data)}")
    if con is not None:
        raise ValueError("con goes with the name of a table or a query: a relation has its own connection")
    return data


class KnownRows(NamedTuple):
    """What is known of the rows before they are counted.

    Attributes
    ----------
    positive : label
        The positive class.
    is_positive : str
        The condition, in SQL, that a row is positive.
    ends : list of (float, float)
        The lowest and the highest score of each model; (inf, -inf) if there are no rows.
    """

    positive: Any
    is_positive: str
    ends: list[tuple[float, float]]


class RelationRows:
    """Rows of a relation, as a query that has them with plain names: label, score0, score1, ..., copies."""

    def __init__(self, relation: Any, label: str, scores: Sequence[str], copies: str | None) -> None:
        self.relation, self.label, self.scores, self.copies = relation, label, scores, copies
        types = dict(zip(relation.columns, map(str, relation.types), strict=True))
        roles = {"label": label, "frequency_weight": copies}
        for role, name in (*roles.items(), *(("score", each) for each in scores)):
            if name is not None and name not in types:
                raise ValueError(f"{role} {name!r} is not a column of data{did_you_mean(name, types)}: {listed(types)}")
        for name in (*scores, *([] if copies is None else [copies])):
            if not NUMBERS.fullmatch(types[name]):
                raise ValueError(f"column {name!r} must hold numbers, got {types[name]}")
        self.wide = {name: types[name] in WIDE_INTEGERS for name in scores}
        label_is_missing = " OR isnan(label)" if types[label] in ("FLOAT", "DOUBLE") else ""
        self.lacks_label = f"(label IS NULL{label_is_missing})"
        self.invalid = {
            name: f"(NOT coalesce(isfinite(score{k}), false))" for k, name in enumerate(scores)
        }  # NULL, NaN or infinite
        if copies is not None:
            self.invalid[copies] = "(NOT coalesce(isfinite(copies), false))"
        columns = {"label": _quoted(label)}
        columns |= {f"score{k}": f"CAST({_quoted(name)} AS DOUBLE)" for k, name in enumerate(scores)}
        columns |= {f"given{k}": _quoted(name) for k, name in enumerate(scores) if self.wide[name]}
        columns |= {} if copies is None else {"copies": f"CAST({_quoted(copies)} AS DOUBLE)"}
        self.query = f"SELECT {', '.join(f'{column} AS {name}' for name, column in columns.items())} FROM {VIEW}"
        self.kept = f"NOT ({' OR '.join([self.lacks_label, *self.invalid.values()])})"
        if copies is not None:
            self.kept += " AND copies > 0"

    def run(self, query: str) -> list[NDArray[Any]]:
        """Return the columns of a query's result."""
        return list(self.relation.query(VIEW, query).fetchnumpy().values())

    def check(self, pos_label: Any, rules: dict[str, OnInvalid]) -> KnownRows:
        """Return the positive class and the extreme scores, in one scan; raise if some rows can't be counted."""
        counted = [f"count(*) FILTER ({self.lacks_label})"]
        counted += [f"count(*) FILTER ({each})" for each in self.invalid.values()]
        wrong_copies = "copies < 0 OR copies != floor(copies)"
        counted += [] if self.copies is None else [f"count(*) FILTER ({wrong_copies})"]
        ends = [
            f"{end}({'given' if self.wide[name] else 'score'}{k}) FILTER ({self.kept})"
            for k, name in enumerate(self.scores)
            for end in ("min", "max")
        ]
        query = f"SELECT label, {', '.join([*counted, *ends])} FROM ({self.query}) GROUP BY label LIMIT {MOST_LABELS}"
        by_label = self.relation.query(VIEW, query).fetchall()
        n_missing = [sum(row[1 + k] for row in by_label) for k in range(len(counted))]
        if n_missing[0] and rules["on_missing_label"] == "raise":
            raise ValueError(
                f"column {self.label!r} is NULL or NaN in {n_missing[0]} row{'s' * (n_missing[0] != 1)}"
                f"{dropping(is_label=True)}"
            )
        for name, n in zip(self.invalid, n_missing[1:], strict=False):
            if n and rules["on_invalid"] == "raise":
                raise ValueError(f"column {name!r} is NULL, NaN or infinite in {n} row{'s' * (n != 1)}{dropping()}")
        if self.copies is not None and n_missing[-1]:
            raise ValueError(
                f"column {self.copies!r} must hold numbers of copies, whole and at least 0: {n_missing[-1]} rows do not"
            )
        labels = sorted(row[0] for row in by_label if row[0] is not None and row[0] == row[0])
        positive, is_positive = self._classes(labels, pos_label)
        at = 1 + len(counted)
        extremes = []
        for k, name in enumerate(self.scores):
            found = [each for row in by_label for each in row[at + 2 * k : at + 2 * k + 2] if each is not None]
            largest = max(found, key=abs, default=0)
            if self.wide[name] and abs(largest) > EXACT_INTEGER:
                raise ValueError(f"column {name!r} must hold numbers that float64 holds exactly, got {largest}")
            extremes.append((float(min(found, default=math.inf)), float(max(found, default=-math.inf))))
        return KnownRows(positive, is_positive, extremes)

    def _classes(self, labels: list[Any], pos_label: Any) -> tuple[Any, str]:
        """Return the positive class, and the condition that a row is positive."""
        if not labels:
            return 1 if pos_label is None else pos_label, "false"
        values = [float(each) if isinstance(each, Decimal) else each for each in labels]
        with naming_columns({"y_true": self.label}):
            array, positive, _ = binary_labels("y_true", np.array(values), pos_label)
            if len(labels) > 2:
                raise ValueError(f"y_true must have two classes, got {len(labels)} labels: {listed(array.tolist())}")
        place = next((k for k, each in enumerate(values) if each == positive), None)
        return positive, "false" if place is None else f"label = {_literal(labels[place])}"


class RowRanges:
    """Ranges of one model's scores, counted by DuckDB.

    Attributes
    ----------
    query : str
        The rows (is_positive, score, copies) that are to be counted, with the range of each.
    """

    def __init__(self, rows: RelationRows, known: KnownRows, k: int, cells: int, thresholds: list[float]) -> None:
        self.rows, self.cells = rows, cells
        self.name, self.ends = rows.scores[k], known.ends[k]
        low, high = self.ends
        columns = f"{known.is_positive} AS is_positive, score{k} AS score"
        columns += "" if rows.copies is None else ", copies"
        above = " + ".join(["0", *(f"CAST(score >= {_literal(each)} AS BIGINT)" for each in thresholds)])
        part = _part("score", _literal(low / 2), _literal(_factor(low, high, cells)), str(cells - 1))
        inner = f"SELECT {columns} FROM ({rows.query}) WHERE {rows.kept}"
        self.query = f"SELECT *, {part} + {cells} * ({above}) AS cell FROM ({inner})"
        self.n_numbers = cells * (len(thresholds) + 1)

    def count(self) -> tuple[NDArray[Any], ...]:
        """Return the lowest and highest score, and the numbers of positives and negatives, of each range."""
        if self.ends[0] > self.ends[1]:
            return tuple(np.empty((4, 0)))
        ranges = split = self._ranges()
        for _ in range(1, SCANS):
            crowded = self._crowded(ranges, split)
            if not crowded.any():
                break
            before = ranges[:, crowded]
            self._split(before)
            split = self._ranges()
            if not np.array_equal(split[3:].sum(axis=1), before[3:].sum(axis=1)):
                raise ValueError(
                    "data has other rows in another scan, as if it were random or being written: save it in a table"
                )
            ranges = np.concatenate([ranges[:, ~crowded], split], axis=1)
        return tuple(ranges[1:])

    def _ranges(self) -> NDArray[np.float64]:
        """Return columns (number, low, high, positives, negatives), one per range that has rows."""
        n = "count(*)" if self.rows.copies is None else "sum(copies)"
        counted = [f"coalesce({n} FILTER ({each}), 0)" for each in ("is_positive", "NOT is_positive")]
        query = f"SELECT cell, min(score), max(score), {', '.join(counted)} FROM ({self.query}) GROUP BY cell"
        ranges = np.array(self.rows.run(query), dtype=np.float64)
        if ranges[3:].sum() > EXACT_INTEGER:
            raise ValueError(f"column {self.rows.copies!r} must add up to at most 2**53, got {ranges[3:].sum():g}")
        return ranges

    def _crowded(self, ranges: NDArray[np.float64], split: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return a mask of the ranges to be split: of those that the last scan counted, the ones with the most rows."""
        shares = ranges[3:] / np.maximum(ranges[3:].sum(axis=1, keepdims=True), 1)
        is_wide = ranges[1] < ranges[2]
        if (shares[:, is_wide].prod(axis=0)).sum() <= WIDTH / self.cells:
            return np.zeros(is_wide.size, dtype=np.bool_)
        most = shares.max(axis=0)
        crowded = is_wide & (most > CROWDED / self.cells) & (np.arange(is_wide.size) >= is_wide.size - split.shape[1])
        if np.count_nonzero(crowded) > MOST_SPLIT:
            crowded &= most >= np.sort(most[crowded])[-MOST_SPLIT]
        return np.asarray(crowded)

    def _split(self, ranges: NDArray[np.float64]) -> None:
        """Restrict the query to some ranges, and split each in parts of equal width."""
        counts = ranges[3:].sum(axis=0)
        parts = np.minimum(PARTS * np.ceil(counts / counts.sum() * self.cells / PARTS), self.cells)
        parts = np.maximum(parts, PARTS)
        firsts = self.n_numbers + np.cumsum(parts) - parts
        self.n_numbers += int(parts.sum())
        factors = [_factor(*each) for each in zip(ranges[1], ranges[2], parts, strict=True)]
        columns = {"cell": ranges[0], "first": firsts, "last": parts - 1, "half": ranges[1] / 2, "factor": factors}
        lists = [f"unnest({_list(*column)}) AS {column[0]}" for column in columns.items()]
        part = _part("score", "half", "factor", "last")
        self.query = (
            f"SELECT rows.* EXCLUDE (cell), ranges.first + {part} AS cell FROM ({self.query}) AS rows "
            f"JOIN (SELECT {', '.join(lists)}) AS ranges ON rows.cell = ranges.cell"
        )


def _factor(low: float, high: float, n_parts: float) -> float:
    """Return the number of parts per half unit of score, for parts of equal width from the lowest to the highest."""
    width = float(high / 2 - low / 2)  # which is finite
    return min(float(n_parts) / width, LARGEST_FACTOR) if width > 0 else 0.0


def _part(score: str, half: str, factor: str, last: str) -> str:
    """Return the number of a score's part as SQL; it never falls as the score rises, however it is rounded."""
    return f"CAST(least(floor(({score} / 2 - {half}) * {factor}), {last}) AS BIGINT)"


def _literal(value: Any) -> str:
    """Return a label or number as SQL; floats in a form that DuckDB doesn't read as decimals."""
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.17e}" if isinstance(value, float) else str(value)


def _list(name: str, numbers: Sequence[float]) -> str:
    """Return a list of numbers as SQL, in one text, which is planned much faster than thousands of literals."""
    kind = "DOUBLE" if name in ("half", "factor") else "BIGINT"
    return f"CAST('[{', '.join(f'{each:.17g}' for each in numbers)}]' AS {kind}[])"


def _quoted(name: str) -> str:
    """Quote a column's name."""
    return '"' + name.replace('"', '""') + '"'
