"""Metrics of predicted labels against scikit-learn's: values, types, warnings and errors."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sklearn.metrics

import fastevals.metrics
from tests.strategies import EXAMPLES

SEEDS = range(EXAMPLES * 9 // 16)  # each kind of names once
AVERAGES = (None, "micro", "macro", "weighted")
NAMES: dict[str, Callable[[Any], Any]] = {
    "integers": lambda codes: codes * 3 - 2,
    "far apart": lambda codes: codes * 10**15,
    "int8": lambda codes: codes.astype(np.int8),
    "big-endian": lambda codes: codes.astype(">i4"),
    "floats": lambda codes: codes.astype(np.float32),
    "text": lambda codes: np.array(["b", "aa", "ccc", "", "ä", "b "])[codes],
    "objects": lambda codes: np.array(["b", "aa", "ccc", "", "ä", "b "], dtype=object)[codes],
    "list": lambda codes: codes.tolist(),
    "list of text": lambda codes: [f"class {code}" for code in codes.tolist()],
}


def outcome(module: Any, name: str, *args: Any, **options: Any) -> tuple[Any, list[str]]:
    """Return a call's result, or its error's type, and the beginnings of its warnings."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            value = getattr(module, name)(*args, **options)
        except ValueError:
            value = ValueError
    texts = {str(each.message)[:40] for each in seen if not issubclass(each.category, (RuntimeWarning, FutureWarning))}
    return value, sorted(texts)


def same(mine: Any, theirs: Any) -> None:
    assert type(mine) is type(theirs), (mine, theirs)
    if isinstance(theirs, dict):
        assert list(mine) == list(theirs)
        for key, value in theirs.items():
            same(mine[key], value)
    elif isinstance(theirs, tuple):
        assert len(mine) == len(theirs)
        for one, other in zip(mine, theirs, strict=True):
            same(one, other)
    elif isinstance(theirs, (str, type)) or theirs is None:
        assert mine == theirs
    else:
        if isinstance(theirs, np.ndarray):
            assert mine.dtype == theirs.dtype
            assert mine.shape == theirs.shape
        np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-12)


def compare(name: str, *args: Any, **options: Any) -> None:
    mine, heard = outcome(fastevals.metrics, name, *args, **options)
    theirs, expected = outcome(sklearn.metrics, name, *args, **options)
    same(mine, theirs)
    assert heard == expected, (name, options)


def draw(seed: int, **limits: Any) -> tuple[np.random.Generator, Any, Any, dict[str, Any]]:
    """Draw two targets with some kind of names, and perhaps weights."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(1, 25)), int(limits.get("k") or rng.integers(1, 6))
    kinds = list(NAMES)
    label = NAMES[kinds[seed % len(kinds)]]
    first = rng.permutation(6)[:k]
    second = first if "k" in limits else rng.permutation(6)[:k]
    true, predicted = (label(codes[rng.integers(0, k, n)]) for codes in (first, second))
    # Dyadic, so sums are exact: scikit-learn adds in another order (float32 in float32), and reports show all digits.
    dyadic = rng.integers(0, 99, n) / 64
    weights = [None, dyadic, rng.integers(0, 3, n) + (rng.random() < 0.5), dyadic.astype(np.float32)]
    weight = weights[rng.integers(4)]
    if weight is not None and not weight.any():
        weight = None
    return rng, true, predicted, {} if weight is None else {"sample_weight": weight}


def asked_labels(rng: np.random.Generator, *targets: Any) -> Any:
    """Draw values for `labels`: some of them, in any order."""
    known = np.unique(np.concatenate([np.asarray(each) for each in targets]))
    return rng.permutation(known)[: rng.integers(1, known.size + 1)]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", ["accuracy_score", "zero_one_loss", "hamming_loss", "matthews_corrcoef"])
def test_of_all_labels(name: str, seed: int) -> None:
    _, true, predicted, options = draw(seed)
    compare(name, true, predicted, **options)
    if name in ("accuracy_score", "zero_one_loss"):
        mine = getattr(fastevals.metrics, name)(true, predicted, normalize=False, **options)
        assert mine == pytest.approx(getattr(sklearn.metrics, name)(true, predicted, normalize=False, **options))


@pytest.mark.parametrize("seed", SEEDS)
def test_balanced_accuracy(seed: int) -> None:
    _, true, predicted, options = draw(seed)
    for adjusted in (False, True):
        compare("balanced_accuracy_score", true, predicted, adjusted=adjusted, **options)


@pytest.mark.parametrize("seed", SEEDS)
def test_matrices(seed: int) -> None:
    rng, true, predicted, options = draw(seed)
    for labels in (None, asked_labels(rng, true, predicted)):
        for normalize in (None, ("true", "pred", "all")[seed % 3]):
            compare("confusion_matrix", true, predicted, labels=labels, normalize=normalize, **options)
        compare("multilabel_confusion_matrix", true, predicted, labels=labels, **options)


@pytest.mark.parametrize("seed", SEEDS)
def test_kappa(seed: int) -> None:
    rng, true, predicted, options = draw(seed)
    for labels in (None, asked_labels(rng, true, predicted)):
        for weights in (None, "linear", "quadratic"):
            compare("cohen_kappa_score", true, predicted, labels=labels, weights=weights, **options)
            options["replace_undefined_by"] = 0.5


@pytest.mark.parametrize("seed", SEEDS)
def test_likelihood_ratios(seed: int) -> None:
    _, true, predicted, options = draw(seed, k=2)
    known = np.unique(np.concatenate([np.asarray(true), np.asarray(predicted)]))
    for replaced in (np.nan, 1.0, {"LR+": np.inf, "LR-": 0.5}):
        compare("class_likelihood_ratios", true, predicted, replace_undefined_by=replaced, **options)
        compare(
            "class_likelihood_ratios", true, predicted, labels=known[::-1], replace_undefined_by=replaced, **options
        )


@pytest.mark.parametrize("seed", SEEDS)
def test_per_class(seed: int) -> None:
    rng, true, predicted, options = draw(seed)
    labels = asked_labels(rng, true, predicted)
    for average in AVERAGES:
        zero_division = ("warn", 0, 1.0, np.nan)[rng.integers(4)]
        given = {"average": average, "zero_division": zero_division, **options}
        if rng.random() < 0.5:
            given["labels"] = labels
        beta = float(rng.choice([0.0, 0.5, 1.0, 2.0, np.inf]))
        compare("precision_recall_fscore_support", true, predicted, beta=beta, **given)
        compare("fbeta_score", true, predicted, beta=beta, **given)
        name = str(rng.choice(["precision_score", "recall_score", "f1_score", "jaccard_score"]))
        if name != "jaccard_score" or zero_division == zero_division:
            compare(name, true, predicted, **given)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", ["precision_score", "recall_score", "f1_score", "jaccard_score"])
def test_of_the_positive_class(name: str, seed: int) -> None:
    rng, true, predicted, options = draw(seed, k=2)
    for pos_label in [*asked_labels(rng, true, predicted), 7]:
        compare(name, true, predicted, pos_label=pos_label, **options)


@pytest.mark.cases(5)
@pytest.mark.parametrize("seed", SEEDS)
def test_report(seed: int) -> None:
    rng, true, predicted, options = draw(seed)
    labels = asked_labels(rng, true, predicted)
    names = [f"name of {label!s:>{seed}}" for label in labels]
    for asked in ({}, {"labels": labels}, {"labels": labels, "target_names": names, "digits": seed % 5}):
        for output_dict in (False, True):
            compare("classification_report", true, predicted, output_dict=output_dict, **asked, **options)
    json.dumps(fastevals.metrics.classification_report(true, predicted, output_dict=True, zero_division=0.0))


SHAPES: dict[str, Callable[[Any], Any]] = {
    "array": lambda marks: marks,
    "bool": lambda marks: marks.astype(bool),
    "list": lambda marks: marks.tolist(),
    "float": lambda marks: marks.astype(np.float64),
    "csr": lambda marks: __import__("scipy.sparse").sparse.csr_array(marks),
    "csc": lambda marks: __import__("scipy.sparse").sparse.csc_matrix(marks),
}


@pytest.mark.parametrize("seed", SEEDS)
def test_indicators(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(2, 9)), int(rng.integers(2, 5))
    shape = SHAPES[list(SHAPES)[seed % len(SHAPES)]]
    true, predicted = (shape(rng.integers(0, 2, (n, k)) * rng.integers(0, 2, (n, 1))) for _ in range(2))
    options: dict[str, Any] = {"sample_weight": rng.integers(1, 9, n) / 4} if seed % 3 else {}
    for name in ("accuracy_score", "zero_one_loss", "hamming_loss"):
        compare(name, true, predicted, **options)
    asked = {"labels": rng.permutation(k)[: rng.integers(1, k + 1)]} if seed % 2 else {}
    for samplewise in (False, True):
        compare("multilabel_confusion_matrix", true, predicted, samplewise=samplewise, **asked, **options)
    zero_division = ("warn", 0.0, 1.0, np.nan)[seed % 4]
    for average in (*AVERAGES, "samples"):
        given = {"average": average, **asked, **options}
        compare("precision_recall_fscore_support", true, predicted, zero_division=zero_division, **given)
        compare("jaccard_score", true, predicted, **given)
    for output_dict in (False, True):
        compare("classification_report", true, predicted, output_dict=output_dict, **asked, **options)


def test_a_perfect_label_has_no_rounding_for_errors():
    counts = fastevals.metrics.multilabel_confusion_matrix(
        [0, 1, 2, 1], [0, 1, 2, 2], sample_weight=[0.1, 0.2, 0.3, 0.7]
    )
    assert counts[0, 0, 1] == counts[0, 1, 0] == counts[1, 0, 1] == counts[2, 1, 0] == 0
