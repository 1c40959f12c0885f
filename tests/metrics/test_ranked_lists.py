"""Cumulative gains of ranked documents against scikit-learn's."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastevals import metrics
from tests.metrics.test_scores import beside, complaint
from tests.strategies import BOUNDED

NAMES = ("ndcg_score", "dcg_score")


@st.composite
def tables(draw: Any) -> tuple[Any, Any, Any]:
    """Draw gains, scores with ties, and weights for a few rows."""
    shape = draw(st.integers(1, 4)), draw(st.integers(2, 9))
    seed, levels = draw(st.integers(0, 2**16)), draw(st.integers(1, 9))
    rng = np.random.default_rng([seed, *shape])
    return (
        rng.integers(0, 4, shape) * rng.integers(0, 2, shape),
        rng.integers(0, levels, shape) / 8,
        rng.random(shape[0]),
    )


@BOUNDED
@given(tables(), st.sampled_from([None, 1, 2, 5, 40]), st.booleans(), st.booleans())
def test_tables(table, k, ignore_ties, weighted):
    gains, scores, weights = table
    if ignore_ties:  # the order of ties depends on NumPy's sort on this processor
        scores = np.argsort(np.argsort(scores, axis=1), axis=1)
    options = {"k": k, "ignore_ties": ignore_ties, "sample_weight": weights + 0.1 if weighted else None}
    for name in NAMES:
        beside(name, gains, scores, **options)
    beside("dcg_score", gains - 1.5, scores, **options, log_base=10)


@pytest.mark.parametrize("n_documents", [17, 300, 1000])
@pytest.mark.parametrize("ignore_ties", [False, True])
def test_long_rows(n_documents, ignore_ties):
    """NumPy orders ties in long rows in its own way, so rows without ties are compared."""
    rng = np.random.default_rng(n_documents)
    gains, scores = rng.random((20, n_documents)), rng.random((20, n_documents))
    for name in NAMES:
        for k in (None, 10):
            beside(name, gains, scores if ignore_ties else scores.round(2), k=k, ignore_ties=ignore_ties)


@pytest.mark.parametrize("n_documents", [100, 1000])
def test_of_ignored_ties_the_last_ranks_first(n_documents):
    gains, scores = np.random.default_rng(0).random((5, n_documents)), np.tile(np.arange(n_documents) % 7, (5, 1))
    order = np.argsort(scores, axis=1, kind="stable")[:, ::-1]
    ranked = np.take_along_axis(gains, order, axis=1)
    places = np.arange(n_documents)[::-1]
    expected = metrics.dcg_score(ranked, np.tile(places, (5, 1)))
    assert metrics.dcg_score(gains, scores, ignore_ties=True) == pytest.approx(expected, rel=1e-13)


def test_kinds_of_tables():
    gains, scores = [[0, 1, 2], [3, 0, 0]], [[0.5, 0.5, 0.1], [0.2, 0.9, 0.1]]
    for name in NAMES:
        beside(name, gains, scores)
        beside(name, pd.DataFrame(gains), pd.DataFrame(scores))
        beside(name, np.asfortranarray(gains), np.asfortranarray(scores))
        beside(name, np.array(gains, dtype=np.int8), np.array(scores, dtype=np.float32))
        beside(name, np.array(gains) > 0, np.array(scores).astype(">f8"))
        beside(name, np.zeros((2, 3)), scores)
        beside(name, gains, np.array([[2**53, 2**53 + 1, 0], [1, 2, 3]]))


@pytest.mark.parametrize(
    ("arguments", "options", "said"),
    [
        (([0, 1, 1], [0.1, 0.2, 0.3]), {}, "formats are supported. Got binary instead"),
        (([0, 1, 2], [0.1, 0.2, 0.3]), {}, "formats are supported. Got multiclass instead"),
        (([0.5, 1, 2], [0.1, 0.2, 0.3]), {}, "formats are supported. Got continuous instead"),
        (([[0, 1]], [[0.1, 0.2], [0.1, 0.2]]), {}, "inconsistent numbers of samples: [1, 2]"),
        (([[0, 1]], [[0.1, float("nan")]]), {}, "contains NaN"),
        (([[0, float("inf")]], [[0.1, 1]]), {}, "contains infinity or a value too large for dtype('float64')"),
        (([[0, 1]], [[0.1, 1]]), {"k": 0}, "must be an int in the range [1, inf) or None. Got 0 instead."),
        (([[0, 1]], [[0.1, 1]]), {"k": 1.5}, "must be an int in the range [1, inf) or None. Got 1.5 instead."),
        (([[0, 1]], [[0.1, 1]]), {"ignore_ties": 1}, "or an instance of 'numpy.bool'. Got 1 instead."),
        (([[0, 1]], [[0.1, 1]]), {"sample_weight": [1, 2]}, "inconsistent numbers of samples: [1, 1, 2]"),
        (("ab", [[0.1, 1]]), {}, "must be an array-like. Got 'ab' instead."),
    ],
)
def test_bad_input(arguments, options, said):
    for name in NAMES:
        assert complaint(name, *arguments, **options).count(said) == 2


def test_bad_input_of_one_function():
    assert "Got 1 instead." in complaint("ndcg_score", [[1]], [[1]])
    assert "negative y_true values" in complaint("ndcg_score", [[1, -1]], [[1, 2]])
    for base in (0, -1, "2", math.inf):
        assert "'log_base' parameter of dcg_score must be a" in complaint(
            "dcg_score", [[1, 2]], [[1, 2]], log_base=base
        )
    with pytest.raises(ValueError, match=r"y_score must have the shape of y_true, \(1, 2\), got \(1, 3\)"):
        metrics.dcg_score([[1, 2]], [[1, 2, 3]])
