"""Losses of probabilities against scikit-learn's."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
import sklearn.metrics

from fastevals import metrics
from fastevals.metrics import brier_score_loss, d2_brier_score, d2_log_loss_score, log_loss
from tests.metrics.test_scores import beside, complaint
from tests.strategies import EXAMPLES

LOSSES = ("log_loss", "brier_score_loss")
SKILLS = ("d2_log_loss_score", "d2_brier_score")
OF_PROBABILITIES = LOSSES + SKILLS
SEEDS = range(EXAMPLES // 4)
TEXT = np.array(["d", "aa", "c", "b", "e"])


def rows(seed, k, n=50):
    """Draw classes (all occur), a probability for each, and weights."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, k, n)
    codes[:k] = range(k)
    return codes, rng.multinomial(32, np.ones(k) / k, n) / 32, rng.random(n)


@pytest.mark.cases(5)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", OF_PROBABILITIES)
def test_two_classes(name, seed):
    codes, p, weights = rows(seed, 2)
    for labels in (codes, codes.astype(bool), codes.astype(float), 2 * codes - 1, codes + 4, codes[:, np.newaxis]):
        beside(name, labels, p[:, 1])
        beside(name, labels, p, sample_weight=weights)
        beside(name, labels, p[:, 1:], sample_weight=weights)
    for labels in (TEXT[codes], TEXT[codes].astype(object), TEXT[codes].tolist(), pd.Series(TEXT[codes])):
        beside(name, labels, p)
    beside("log_loss", codes, p[:, 1], normalize=False)
    beside("log_loss", codes, p[:, 1], normalize=False, sample_weight=weights)
    beside("log_loss", np.ones(50, dtype=int), p[:, 1], labels=[0, 1])


@pytest.mark.cases(10)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", OF_PROBABILITIES)
def test_many_classes(name, seed):
    codes, p, weights = rows(seed, 4)
    weights[3] = 0
    for labels in (codes, codes * 10**15, codes.astype(np.uint8), TEXT[codes], np.eye(4, dtype=int)[codes]):
        beside(name, labels, p)
        beside(name, labels, p, sample_weight=weights)
    beside(name, codes[codes != 1], p[codes != 1], labels=range(4))
    beside(name, TEXT[codes], np.asfortranarray(p), labels=sorted(TEXT[:4]))
    both = (np.eye(4, dtype=int)[codes] + np.eye(4, dtype=int)[codes[::-1]]).clip(max=1)
    beside(name, both, p)


def test_an_indicator_of_two_labels_beside_one_column():
    assert log_loss([[0, 1], [1, 0]], [0.9, 0.2]) == pytest.approx(-(math.log(0.9) + math.log(0.8)) / 2, rel=1e-15)
    codes, p, weights = rows(9, 2)
    marks = np.eye(2, dtype=int)[codes]
    for column in (p[:, 1], p[:, 1:]):
        for name in OF_PROBABILITIES:
            if "brier" in name:
                complaint(name, marks, column)
                continue
            beside(name, marks, column)
            beside(name, marks.astype(bool), column, sample_weight=weights)
    beside("log_loss", [[1, 1], [0, 1], [0, 0], [0, 1]], [0.2, 0.7, 0.5, 1.0])
    assert "3 vs 2" in complaint("log_loss", np.eye(3, dtype=int), [0.2, 0.3, 0.4])


@pytest.mark.parametrize("positive", [None, 0, 1, 7])
def test_positive_label_of_the_brier_score(positive):
    codes, p, weights = rows(1, 2)
    beside("brier_score_loss", codes, p[:, 1], pos_label=positive, sample_weight=weights)
    beside("brier_score_loss", np.zeros(50), p[:, 1], pos_label=positive)
    beside("brier_score_loss", TEXT[codes], p[:, 1], pos_label="d")
    beside("brier_score_loss", ["d"] * 50, p[:, 1], pos_label="x")


@pytest.mark.parametrize("scale", [True, False, "auto"])
def test_half_of_the_brier_score(scale):
    for k in (2, 3):
        codes, p, _ = rows(2, k)
        beside("brier_score_loss", codes, p, scale_by_half=scale)
    beside("brier_score_loss", codes > 0, p[:, 0], scale_by_half=scale)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i8", "?", ">f8", "u1"])
@pytest.mark.parametrize("name", OF_PROBABILITIES)
def test_probabilities_of_all_types(name, dtype):
    codes, p, _ = rows(3, 2)
    p = p[:, 1].round(0 if dtype in ("i8", "?", "u1") else 3).astype(dtype)
    mine = getattr(metrics, name)(codes, p)
    theirs = getattr(sklearn.metrics, name)(codes, p)
    tolerance = {"f2": 2e-2, "f4": 1e-5}.get(dtype, 1e-12)
    assert mine == pytest.approx(theirs, rel=tolerance)
    assert type(mine) is float


def test_single_precision_is_summed_in_double():
    p = np.full(1_000_000, 0.1, dtype=np.float32)
    labels = np.zeros(p.size, dtype=np.int8)
    labels[0] = 1
    share = 1 / p.size
    exact = -(1 - share) * math.log(np.float32(1) - np.float32(0.1)) - share * math.log(np.float32(0.1))
    assert log_loss(labels, p) == pytest.approx(exact, rel=1e-12)


def test_perfect_probabilities():
    for k in (2, 5):
        codes, _, _ = rows(4, k)
        assert brier_score_loss(codes, np.eye(k)[codes]) == 0.0
        assert 0 <= log_loss(codes, np.eye(k)[codes]) < 1e-15


def test_many_rows():
    codes, p, weights = rows(5, 3, n=150_000)
    for name in OF_PROBABILITIES:
        beside(name, codes, p, sample_weight=weights)
        beside(name, codes > 0, p[:, 1:].sum(axis=1))


def test_warnings():
    codes, p, _ = rows(6, 3)
    for name in OF_PROBABILITIES:
        beside(name, codes, p * 0.9)
        beside(name, TEXT[codes], p, labels=["d", "aa", "c"])
    with pytest.warns(FutureWarning, match="`y_pred` was renamed to `y_proba`"):
        assert log_loss(codes, y_pred=p) == log_loss(codes, p)
    with pytest.raises(ValueError, match="Cannot use both"):
        log_loss(codes, p, y_pred=p)


@pytest.mark.parametrize("name", SKILLS)
def test_skill_of_one_row(name):
    assert math.isnan(beside(name, [1], [0.5]))
    assert math.isnan(beside(name, ["a"], [[0.5, 0.5]], sample_weight=[2.0]))
    assert complaint(name, [1, 0], [0.5]).count("inconsistent numbers of samples") == 2


@pytest.mark.parametrize("name", SKILLS)
def test_skill_beside_shares(name):
    codes, _, weights = rows(7, 3)
    shares = np.bincount(codes, weights) / weights.sum()
    assert getattr(metrics, name)(codes, np.tile(shares, (50, 1)), sample_weight=weights) == pytest.approx(0, abs=1e-12)
    assert getattr(metrics, name)(codes, np.eye(3)[codes]) == pytest.approx(1, abs=1e-12)
    scaled = [getattr(metrics, name)(codes, rows(8, 3)[1], sample_weight=weights * scale) for scale in (1, 1e-300)]
    assert scaled[0] == pytest.approx(scaled[1], rel=1e-12)


def test_skill_where_one_class_has_all():
    beside("d2_log_loss_score", [0, 0], [[0.5, 0.5], [0.75, 0.25]], labels=[0, 1])
    assert d2_brier_score([0, 0], [0.5, 0.25]) == -math.inf
    assert math.isnan(d2_brier_score([0, 0], [0.0, 0.0]))
    with pytest.warns(FutureWarning, match="`y_pred` was renamed to `y_proba`"):
        assert d2_log_loss_score([0, 1], y_pred=[0.2, 0.7]) == d2_log_loss_score([0, 1], [0.2, 0.7])


def test_positive_label_of_the_brier_skill():
    codes, p, weights = rows(1, 2)
    for positive in (None, 0, 1):
        beside("d2_brier_score", codes, p[:, 1], pos_label=positive, sample_weight=weights)
    beside("d2_brier_score", codes, p[:, 1], pos_label=7)
    assert d2_brier_score(codes, p[:, 1], pos_label=7, sample_weight=weights) == -math.inf
    beside("d2_brier_score", TEXT[codes], p[:, 1], pos_label="d")


def test_a_class_of_hardly_any_weight_has_its_share_of_the_brier_score():
    assert d2_brier_score([0, 1], [0.0, 0.0], sample_weight=[1, 1e-20]) == 0.0


P2 = [[0.2, 0.8], [0.6, 0.4], [0.5, 0.5]]


@pytest.mark.parametrize(
    ("args", "options", "words"),
    [
        (([0, 1], [0.5, 1.5]), {}, "y_prob contains values greater than 1: 1.5"),
        (([0, 1, 1], [[-0.5, 1], [0, 1], [0, 1]]), {}, "y_prob contains values lower than 0: -0.5"),
        (([0, 1], [0.5, np.nan]), {}, "contains NaN"),
        (([0, 1], [0.5, np.inf]), {}, "contains infinity"),
        (([0, 1], [0.5, 0.5, 0.1]), {}, "inconsistent numbers of samples"),
        (([2, 2, 2], P2), {}, "y_true contains only one label (2)"),
        (([2, 2, 2], P2), {"labels": [2]}, "The labels array needs to contain at least two labels, got [2]"),
        (([0, 1, 2], P2), {}, "y_true and y_prob contain different number of classes: 3 vs 2"),
        (([0, 1, 1], P2), {"labels": [0, 1, 2]}, "The number of classes in labels is different from that in y_prob"),
        (([0, 1, 2], P2), {"labels": [0, 1]}, "y_true contains values {"),
        (([0, 1, 1], P2), {"sample_weight": [1, 1]}, "inconsistent numbers of samples"),
        (([0, 1, 1], P2), {"sample_weight": [0, 0, 0]}, "at least one non-zero number"),
        (([0, 1, 1], P2), {"labels": 3}, "The 'labels' parameter of"),
    ],
)
@pytest.mark.parametrize("name", OF_PROBABILITIES)
def test_errors(name, args, options, words):
    assert complaint(name, *args, **options).count(words) >= 2


def test_errors_of_the_brier_score():
    said = complaint("brier_score_loss", [0, 1, 2], [0.1, 0.2, 0.3])
    assert said.count("The type of the target inferred from y_true is multiclass but should be binary") == 2
    assert complaint("brier_score_loss", ["a", "b"], [0.1, 0.2]).count("y_true takes value in {'a', 'b'}") == 2
    assert complaint("brier_score_loss", [0, 1], [0.1, -0.2]).count("y_prob contains values less than 0") == 2
    said = complaint("brier_score_loss", [0, 1], [0.1, 0.2], scale_by_half="half")
    assert said.count("The 'scale_by_half' parameter of brier_score_loss must be") == 2


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_certain_and_wrong_costs_what_the_type_can_tell(dtype):
    rtol = max(float(np.finfo(dtype).eps), 1e-12)  # scikit-learn rounds to the type, fastevals sums in float64
    beside("log_loss", [0, 1], np.array([1, 0], dtype=dtype), rtol=rtol)
