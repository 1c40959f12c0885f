"""Kappa and the correlation with too many labels for a table of all pairs."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from fastevals import metrics
from fastevals.metrics import _labels, agreement

POWERS = {None: 0, "linear": 1, "quadratic": 2}


def sums(first, second, weights):
    """Return the weights of all rows, of each pair of places, and of each place on both sides."""
    place = {label: Fraction(at) for at, label in enumerate(sorted({*first, *second}))}
    pairs: Counter[tuple[Fraction, Fraction]] = Counter()
    for a, b, w in zip(first, second, weights, strict=True):
        pairs[place[a], place[b]] += Fraction(w)
    margins = [Counter(), Counter()]
    for pair, w in pairs.items():
        for at, margin in zip(pair, margins, strict=True):
            margin[at] += w
    return sum(pairs.values()), pairs, *margins


def kappa(total, pairs, first, second, power):
    observed = sum(w * abs(a - b) ** power * (a != b) for (a, b), w in pairs.items())
    by_chance = sum(v * w * abs(a - b) ** power * (a != b) for a, v in first.items() for b, w in second.items())
    return float(1 - observed * total / by_chance)


def matthews(total, pairs, first, second):
    right = sum(w for (a, b), w in pairs.items() if a == b)
    covariance = right * total - sum(first[at] * second[at] for at in first)
    variances = [1 - sum((w / total) ** 2 for w in margin.values()) for margin in (first, second)]
    return float(covariance / total**2) / math.sqrt(variances[0] * variances[1])


@pytest.mark.parametrize("weights", [None, [1, 2, 0], [0.25, 1e-9, 3e4], [1e300, 2e306], [1e-320, 1e-310]])
def test_labels_agree_as_fractions_say(monkeypatch, weights):
    for module in (_labels, agreement):
        monkeypatch.setattr(module, "DENSE", 3)  # only one label gets a table
    rng = np.random.default_rng(3)
    for k, n in ((2, 9), (5, 30), (30, 60)):
        first = np.concatenate([np.arange(k), rng.integers(0, 3, n)])
        second = np.where(rng.random(first.size) < 0.6, first, first[::-1])
        w = np.ones(first.size) if weights is None else rng.choice(weights, first.size)
        counted = sums(first.tolist(), second.tolist(), w.tolist())
        options = {} if weights is None else {"sample_weight": w}
        for name, power in POWERS.items():
            found = metrics.cohen_kappa_score(first * 7, second * 7, weights=name, **options)
            assert found == pytest.approx(kappa(*counted, power), rel=1e-13, abs=1e-15)
        found = metrics.matthews_corrcoef(first, second, **options)
        assert found == pytest.approx(matthews(*counted), rel=1e-13, abs=1e-15)


def test_more_labels_than_a_matrix_holds():
    first = np.arange(36_000)
    second = first.copy()
    second[0] = 5  # chance agreement: 36,000 pairs minus the one for 0, plus one for 5
    n = Fraction(first.size)
    chance = n / n**2
    expected = float((Fraction(35_999) / n - chance) / (1 - chance))
    assert metrics.cohen_kappa_score(first, second) == expected
    assert metrics.cohen_kappa_score(first.astype(str), second.astype(str)) == expected
    some = metrics.cohen_kappa_score(first, second, labels=first[:12_000])
    assert some == float((Fraction(11_999, 12_000) - Fraction(1, 12_000)) / (1 - Fraction(1, 12_000)))
    n = 300_000  # a matrix of this many labels would take 720 GB
    first = np.arange(n)
    second = np.append(5, first[1:])  # margins are 1, except 0 for label 0 and 2 for label 5
    expected = (n * (n - 1) - n) / math.sqrt((n * n - n) * (n * n - (n + 2)))
    assert metrics.matthews_corrcoef(first, second) == pytest.approx(expected, rel=1e-14)
