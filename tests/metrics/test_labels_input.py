"""Metrics of predicted labels: all kinds of input, errors, and deliberate differences from scikit-learn."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from fastevals import UndefinedMetricWarning, metrics

TRUE, PREDICTED = [0, 1, 2, 2, 1, 0, 0], [0, 2, 2, 2, 1, 1, 0]
NUMBERS = {
    "int8": lambda values: np.array(values, dtype=np.int8),
    "uint64": lambda values: np.array(values, dtype=np.uint64),
    "big-endian": lambda values: np.array(values, dtype=">i2"),
    "half": lambda values: np.array(values, dtype=np.float16),
    "strided": lambda values: np.repeat(values, 3)[::3],
    "column": lambda values: np.array(values)[:, None],
    "Int64": lambda values: pd.Series(values, dtype="Int64", index=range(9, 9 + len(values))),
    "Float32": lambda values: pd.Series(values, dtype="Float32"),
    "categories": lambda values: pd.Series(values).astype("category"),
    "polars": pl.Series,
    "arrow": pa.array,
    "tuple": tuple,
}
TEXTS = {
    "objects": lambda values: np.array(values, dtype=object),
    "pandas": pd.Series,
    "string": lambda values: pd.Series(values, dtype="string"),
    "categories": lambda values: pd.Series(values).astype("category"),
    "polars": pl.Series,
    "polars categories": lambda values: pl.Series(values, dtype=pl.Categorical),
    "arrow": pa.array,
    "StringDType": lambda values: np.array(values, dtype=np.dtypes.StringDType()),
    "column": lambda values: np.array(values)[:, None],
}


@pytest.mark.parametrize("kind", NUMBERS)
def test_numbers_of_all_kinds(kind: str) -> None:
    make = NUMBERS[kind]
    expected = metrics.f1_score(TRUE, PREDICTED, average=None).tolist()
    assert metrics.f1_score(make(TRUE), PREDICTED, average=None).tolist() == expected
    assert metrics.f1_score(make(TRUE), make(PREDICTED), average=None).tolist() == expected
    if kind != "column":
        weighted = metrics.accuracy_score(TRUE, PREDICTED, sample_weight=make(PREDICTED))
        assert weighted == metrics.accuracy_score(TRUE, PREDICTED, sample_weight=PREDICTED)


@pytest.mark.parametrize("kind", TEXTS)
def test_text_of_all_kinds(kind: str) -> None:
    true, predicted = ([["cat", "dog", "wolf"][code] for code in codes] for codes in (TRUE, PREDICTED))
    counts = metrics.confusion_matrix(TRUE, PREDICTED).tolist()
    make = TEXTS[kind]
    assert metrics.confusion_matrix(make(true), make(predicted)).tolist() == counts
    assert metrics.confusion_matrix(make(true), predicted).tolist() == counts
    assert metrics.classification_report(make(true), predicted) == metrics.classification_report(true, predicted)


def test_inputs_stay_as_they_are() -> None:
    true, predicted = np.array(TRUE), np.array(PREDICTED)
    weights = np.ones(7)
    for each in (true, predicted, weights):
        each.flags.writeable = False
    metrics.classification_report(true, predicted, sample_weight=weights)
    marks = sp.csr_array(([1, 0, 1], ([0, 1, 1], [0, 1, 1])), shape=(2, 2))
    stored = marks.nnz
    metrics.f1_score(marks, marks, average="macro")
    assert marks.nnz == stored


@pytest.mark.parametrize(
    ("true", "predicted", "options", "message"),
    [
        ([], [], {}, "Found empty input array"),
        ([0, 1], [0], {}, "inconsistent numbers of samples: .2, 1"),
        ([0, 1], ["a", "b"], {}, "Mix of label input types"),
        ([0, 1], [0.5, 1], {}, "mix of binary and continuous targets"),
        ([0.5, 1], [0.5, 1], {}, "continuous is not supported"),
        ([0, 1], [0, math.nan], {}, "Input y_pred contains NaN. There is 1, the first at row 1"),
        ([0, 1, 2], [[0, 1], [1, 0], [1, 1]], {}, "mix of multiclass and multilabel-indicator targets"),
        ([[0, 1], [1, 0]], [[0, 1, 0], [1, 0, 0]], {}, "different numbers of labels"),
        ([[0, 3], [1, 0]], [[0, 1], [1, 0]], {}, "mix of multiclass-multioutput and multilabel-indicator"),
        (["a", None], ["a", "b"], {}, "missing value, the first at row 1"),
        ([0, 1], [0, 1], {"sample_weight": [1, -1]}, "sample_weight must not be negative, got -1.0 at row 1"),
        ([0, 1], [0, 1], {"sample_weight": [0, 0]}, "at least one non-zero number"),
        ([0, 1], [0, 1], {"sample_weight": [1, math.nan]}, "sample_weight contains NaN"),
        (np.array([0, 2**63], dtype=np.uint64), [0, 1], {}, "must fit 64-bit signed integers"),
    ],
)
def test_targets_that_do_not_go_together(true: Any, predicted: Any, options: dict[str, Any], message: str) -> None:
    for array in (np.array(true, dtype=object) if None in true else true,):
        with pytest.raises(ValueError, match=message):
            metrics.accuracy_score(array, predicted, **options)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("f1_score", {}, "Target is multiclass but average='binary'"),
        ("f1_score", {"average": "mean"}, "The 'average' parameter of f1_score must be a str among"),
        ("f1_score", {"average": "samples"}, "Samplewise metrics are not available"),
        ("fbeta_score", {"beta": -1}, "The 'beta' parameter of fbeta_score"),
        ("fbeta_score", {"beta": "1"}, "The 'beta' parameter of fbeta_score"),
        ("f1_score", {"zero_division": 2}, "The 'zero_division' parameter"),
        ("jaccard_score", {"zero_division": math.nan}, "The 'zero_division' parameter"),
        ("f1_score", {"sample_weight": 3}, "The 'sample_weight' parameter"),
        ("confusion_matrix", {"labels": [7]}, "At least one label specified must be in y_true"),
        ("confusion_matrix", {"labels": []}, "'labels' should contain at least one label"),
        ("confusion_matrix", {"normalize": "rows"}, "The 'normalize' parameter"),
        ("cohen_kappa_score", {"weights": "cubic"}, "The 'weights' parameter"),
        ("cohen_kappa_score", {"labels": [7]}, "must be present in `y1`"),
        ("cohen_kappa_score", {"replace_undefined_by": 2}, "The 'replace_undefined_by' parameter"),
        (
            "class_likelihood_ratios",
            {},
            "only supports binary classification problems, got targets of type: multiclass",
        ),
        ("classification_report", {"target_names": ["a"]}, "Number of classes, 3, does not match"),
        ("classification_report", {"digits": -1}, "The 'digits' parameter"),
        ("accuracy_score", {"normalize": "yes"}, "The 'normalize' parameter"),
    ],
)
def test_options_out_of_range(name: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        getattr(metrics, name)(TRUE, PREDICTED, **options)


def test_undefined_is_said_by_our_warning() -> None:
    with pytest.warns(
        UndefinedMetricWarning, match="Recall is ill-defined and being set to 0.0 due to no true samples"
    ):
        assert metrics.recall_score([0, 0], [1, 0]) == 0.0


def test_f_is_computed_from_counts() -> None:
    """scikit-learn #31052, #26965: F is 0 if there are errors, though precision is undefined."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert metrics.f1_score([0, 1], [0, 0], zero_division=math.nan) == 0.0
        assert metrics.f1_score([0, 1], [0, 0]) == 0.0


def test_no_integer_overflows() -> None:
    """scikit-learn #9622; integer weights beyond 2**53 are summed as floats."""
    huge = [2**50, 2**50, 2**50, 2**50 - 2**20]
    true, predicted = [0, 1, 0, 1], [0, 1, 1, 0]
    tn, tp, fp, fn = huge
    expected = (tp * tn - fp * fn) / math.sqrt(Fraction((tp + fp) * (tp + fn)) * (tn + fp) * (tn + fn))
    assert metrics.matthews_corrcoef(true, predicted, sample_weight=huge) == pytest.approx(expected, rel=1e-9)
    positive, _ = metrics.class_likelihood_ratios(true, predicted, sample_weight=huge)
    assert positive == float(Fraction(tp, tp + fn) / Fraction(fp, fp + tn))
    weights = np.full(3, 2**63 - 1)
    assert metrics.confusion_matrix([0, 1, 1], [0, 1, 1], sample_weight=weights).tolist() == [
        [2.0**63, 0],
        [0, 2.0**64],
    ]


def test_weighted_metrics_never_pass_one() -> None:
    """scikit-learn's differences of sums lead to 1.0000000000000002 and negative counts."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        labels, weights = rng.integers(0, 3, 30), rng.random(30)
        assert metrics.accuracy_score(labels, labels, sample_weight=weights) == 1.0
        assert metrics.precision_score(labels, labels, average="micro", sample_weight=weights) == 1.0
        assert metrics.f1_score(labels, labels, average=None, sample_weight=weights).tolist() == [1.0] * 3
        assert (metrics.multilabel_confusion_matrix(labels, labels, sample_weight=weights) >= 0).all()


def test_losses_are_divided_once() -> None:
    assert metrics.zero_one_loss([0] * 10, [1] + [0] * 9) == 0.1


def test_rows_of_no_weight_keep_their_labels() -> None:
    counts = metrics.confusion_matrix([0, 1, 2], [0, 1, 2], sample_weight=[1, 0, 2])
    assert counts.tolist() == [[1, 0, 0], [0, 0, 0], [0, 0, 2]]


def test_many_labels_take_no_matrix() -> None:
    n = 30_000  # a matrix of this size would take 7 GB
    names = np.arange(n).astype(str)
    assert metrics.accuracy_score(names, names[::-1]) == 0.0
    assert metrics.f1_score(names, names, average="macro") == 1.0
    codes = np.arange(n) * 2**20
    assert metrics.confusion_matrix(codes, codes, labels=codes[[5, 3]]).tolist() == [[1, 0], [0, 1]]
    weights = np.arange(1.0, n + 1)
    assert metrics.recall_score(codes, codes, average="weighted", sample_weight=weights) == 1.0


@pytest.mark.parametrize(("option", "value"), [("beta", "x"), ("beta", -1), ("warn_for", 3)])
def test_options_of_all_three_scores_are_checked(option, value):
    with pytest.raises(ValueError, match=f"The '{option}' parameter of precision_recall_fscore_support must be"):
        metrics.precision_recall_fscore_support([0, 1], [0, 1], **{option: value})
