"""The data that tests and benches pass to every library."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

N_CLASSES = 10
DOCUMENTS = 100  # per query, on average

Floats = NDArray[np.float64]


def _near_one(scores: Floats) -> Floats:
    """Move nine in ten scores to within 1e-7 of 1, like the scores of a confident model."""
    moved = 1 - 1e-7 / (1 + np.exp(scores))
    moved[::10] = scores[::10]
    return moved


def _two_clusters(scores: Floats) -> Floats:
    """Move every other score to a million."""
    moved = 1e-3 * scores
    moved[::2] += 1e6
    return moved


def _half_of_one(scores: Floats) -> Floats:
    """Return probabilities; a random half of them are equal."""
    same = np.random.default_rng(scores.size).random(scores.size) < 0.5
    return np.where(same, 0.5, 1 / (1 + np.exp(-scores)))


# How each kind of data transforms the scores.
SCORES: dict[str, Callable[[Floats], NDArray[Any]]] = {
    "scores of 2 decimals": lambda scores: scores.round(2),
    "scores of 3 decimals": lambda scores: (1 / (1 + np.exp(-scores))).round(3),
    "half of one score": _half_of_one,
    "scores in tight clusters": lambda scores: np.where(scores > 1, 1e6, 0.0) + 1e-3 * scores,
    "uniform scores": lambda scores: 1 / (1 + np.exp(-1.7 * scores)),
    "scores of 1 decimal": lambda scores: scores.round(1),
    "whole scores": np.round,
    "scores near 1": _near_one,
    "scores in two clusters": _two_clusters,
    "scores of all sizes": lambda scores: np.exp(30 * scores),
    "ascending scores": np.sort,
    "constant scores": np.ones_like,
    "float32 scores": lambda scores: scores.astype(np.float32),
    "int32 scores": lambda scores: (1e8 * scores).astype(np.int32),
}


def _names(codes: NDArray[Any]) -> NDArray[np.str_]:
    """Return the name of each number up to the largest, in the same order."""
    return np.array([f"name_{code:06}" for code in range(int(codes.max()) + 1)])


def _dictionary(codes: NDArray[Any]) -> Any:
    arrow = import_module("pyarrow")
    return arrow.DictionaryArray.from_arrays(codes.astype(np.int32), _names(codes))


# How each kind of data represents labels, groups and predictions: names that sort as the codes do.
LABELS: dict[str, Callable[[NDArray[Any]], Any]] = {
    "strings": lambda codes: _names(codes)[codes],
    "strings as objects": lambda codes: _names(codes).astype(object)[codes],
    "categories": lambda codes: import_module("pandas").Categorical.from_codes(codes, _names(codes)),
    "Arrow dictionaries": _dictionary,
    "Arrow strings": lambda codes: import_module("pyarrow").array(_names(codes)[codes]),
}
NEEDED = {"categories": "pandas", "Arrow dictionaries": "pyarrow", "Arrow strings": "pyarrow"}


def can_make(kind: str) -> bool:
    """Return whether this machine has the library that a kind of data needs."""
    return kind not in NEEDED or find_spec(NEEDED[kind]) is not None


@dataclass(frozen=True)
class Data:
    """Rows made from a seed, each column on first use.

    Attributes
    ----------
    rows : int
        Number of rows.
    kind : str
        Distribution of the scores, or type of the labels: one of `SCORES` or `LABELS`. Plain data have normal scores
        and integer labels.
    """

    rows: int
    kind: str = ""

    def _random(self, column: int) -> np.random.Generator:
        return np.random.default_rng([self.rows, column])

    @cached_property
    def y(self) -> NDArray[np.int64]:
        """Labels, 10 % positive."""
        labels: NDArray[np.int64] = (self._random(0).random(self.rows) < 0.1).astype(np.int64)
        labels[:2] = 0, 1
        return labels

    @cached_property
    def s(self) -> NDArray[Any]:
        """Scores, normal in each class with the positives' mean one higher, transformed by the kind."""
        scores = self._random(1).standard_normal(self.rows)
        scores += self.y
        made: NDArray[Any] = SCORES.get(self.kind, np.asarray)(scores)
        return made

    @cached_property
    def second(self) -> NDArray[np.float64]:
        """Scores of a second model: the first model's with noise."""
        noise = np.random.default_rng(self.rows).standard_normal(self.rows)
        return np.asarray(self.s + 0.5 * noise)

    @cached_property
    def chances(self) -> NDArray[np.float64]:
        """Scores that are probabilities."""
        chances: Floats = 1 / (1 + np.exp(2 - self.s))
        return chances

    @cached_property
    def w(self) -> NDArray[np.float64]:
        """Weights from 0.5 to 1.5."""
        return self._random(2).random(self.rows) + 0.5

    @cached_property
    def k(self) -> NDArray[np.int64]:
        """Labels of ten classes."""
        labels: NDArray[np.int64] = self._random(3).integers(0, N_CLASSES, self.rows)
        labels[-N_CLASSES:] = np.arange(N_CLASSES)
        return labels

    @cached_property
    def p(self) -> NDArray[np.int64]:
        """Predicted classes; four in five are right."""
        random = self._random(4)
        other: NDArray[np.int64] = random.integers(0, N_CLASSES, self.rows)
        return np.where(random.random(self.rows) < 0.78, self.k, other)

    @cached_property
    def t(self) -> NDArray[np.float64]:
        """Targets of a regression, normal around 10."""
        return self._random(5).normal(10.0, 3.0, self.rows)

    @cached_property
    def q(self) -> NDArray[np.float64]:
        """Predictions of the targets, with normal errors."""
        return self.t + self._random(6).standard_normal(self.rows)

    @cached_property
    def probabilities(self) -> NDArray[np.float64]:
        """Probabilities of the ten classes, shape (rows, 10); each row sums to 1."""
        scores = self._random(7).exponential(size=(self.rows, N_CLASSES))
        scores[np.arange(self.rows), self.k] += 1.0
        scores /= scores.sum(axis=1, keepdims=True)
        return scores

    @cached_property
    def marks(self) -> NDArray[np.int64]:
        """Indicators of ten labels, shape (rows, 10); each row has about a third of them."""
        return (self.probabilities > 0.12).astype(np.int64)

    def groups(self, n_groups: int) -> NDArray[np.int64]:
        """Return the number of each row's group, shuffled; each group has at least five rows."""
        groups = np.arange(self.rows) % max(min(n_groups, self.rows // 5), 1)
        self._random(12).shuffle(groups)
        return groups

    @cached_property
    def queries(self) -> NDArray[np.int64]:
        """The query of each row, shuffled; some queries have many documents, others few."""
        shares = np.random.default_rng([self.rows, 16]).beta(2, 2, self.rows)
        numbers: NDArray[np.int64] = (self.rows // DOCUMENTS * shares).astype(np.int64)
        return numbers

    def named(self, codes: NDArray[Any]) -> Any:
        """Return labels as the kind represents them: names, or the numbers themselves."""
        return LABELS.get(self.kind, np.asarray)(codes)

    def __getitem__(self, column: str) -> NDArray[Any]:
        values: NDArray[Any] = getattr(self, column)
        return values
