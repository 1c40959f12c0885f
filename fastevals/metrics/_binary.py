"""Rankings of one column of scores, and the sense of what stands in their way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fastevals._validation import default_pos_label
from fastevals._validation import drop_in as check
from fastevals.measure.ranking import Ranking

__all__ = ["greater_label_ranking", "pos_label_ranking", "two_class_ranking"]


def two_class_ranking(rows: check.ScoredRows, choose: Callable[[list[Any]], Any]) -> tuple[Ranking | None, str]:
    """Rank rows of two classes by the label that `choose` takes of the labels found, and say what the labels are.

    There is no ranking where it takes None or there are more than two labels. Raises if the rows can't be ranked by any
    label. Nothing is looked at twice where there is a ranking.
    """
    try:
        found = check.first_labels(rows.labels)
        positive = choose(found)
        if positive is not None and rows.labels.dtype == object and all(isinstance(label, str) for label in found):
            flags = rows.labels == positive  # Python's strings are compared faster than made an array of text
            others = [rows.labels == label for label in found if label != positive]
            if np.logical_or.reduce([flags, *others]).all():
                return Ranking(flags, rows.scores, sample_weight=rows.weights, pos_label=True), "binary"
        if positive is not None:
            return Ranking(rows.labels, rows.scores, sample_weight=rows.weights, pos_label=positive), "binary"
    except ValueError:
        kind = check.check_row_kind(rows)
        if kind == "binary":
            raise
        return None, kind
    return None, check.check_row_kind(rows)


def pos_label_ranking(rows: check.ScoredRows, pos_label: Any) -> Ranking:
    """Rank rows by `pos_label` against whatever else there is; by 1 among 0/1 and -1/1 if it is None."""

    def choose(found: list[Any]) -> Any:
        if pos_label is None:
            return default_pos_label(found)
        return pos_label if pos_label in found else None

    ranking, kind = two_class_ranking(rows, choose)
    if ranking is not None:
        return ranking
    if pos_label is None:
        check.raise_no_pos_label(kind, rows.labels)
    return Ranking(rows.labels == pos_label, rows.scores, sample_weight=rows.weights, pos_label=True)


def greater_label_ranking(rows: check.ScoredRows) -> tuple[Ranking | None, str]:
    """Rank rows of two classes by the greater label; see `two_class_ranking`."""
    return two_class_ranking(rows, lambda found: max(found, default=None))
