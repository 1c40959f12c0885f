"""Slow, obvious twins of the bias-variance decompositions, in exact arithmetic, from the definitions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

Rows = Sequence[Sequence[Any]]


def mean(values: Sequence[Any]) -> Fraction:
    """The plain mean."""
    return sum(map(Fraction, values), Fraction(0)) / len(values)


def _columns(y: Sequence[Any], predictions: Rows, observed: Rows | None) -> list[tuple[Any, list[Any], list[Any]]]:
    """Return each sample's true label, predictions, and observed label for each model."""
    rows = [y] * len(predictions) if observed is None else observed
    return [(y[i], [p[i] for p in predictions], [o[i] for o in rows]) for i in range(len(y))]


def _with_totals(samples: list[dict[str, Any]], weights: Sequence[float] | None) -> dict[str, Any]:
    weight = [Fraction(w) for w in (weights or [1] * len(samples))]
    names = [name for name in samples[0] if name != "main_prediction"]
    totals = {name: sum(w * s[name] for w, s in zip(weight, samples, strict=True)) / sum(weight) for name in names}
    return totals | {
        "main_prediction": [s["main_prediction"] for s in samples],
        "per_sample": {name: [s[name] for s in samples] for name in names},
    }


def squared(
    y: Sequence[float], predictions: Rows, observed: Rows | None = None, weights: Sequence[float] | None = None
) -> dict[str, Any]:
    """Compute (2.37) to (2.41), with the cross term as the expectation that (2.41) drops."""
    samples = []
    for label, column, seen in _columns(y, predictions, observed):
        true, predicted, beside = Fraction(label), list(map(Fraction, column)), list(map(Fraction, seen))
        pairs = list(zip(predicted, beside, strict=True))
        main = mean(predicted)
        samples.append(
            {
                "main_prediction": main,
                "expected_loss": mean([(f - o) ** 2 for f, o in pairs]),
                "bias_squared": (main - true) ** 2,
                "variance": mean([(f - main) ** 2 for f in predicted]),
                "noise": mean([(o - true) ** 2 for o in beside]),
                "cross_term": mean([2 * (f - true) * (true - o) for f, o in pairs]),
            }
        )
    return _with_totals(samples, weights)


def zero_one(
    decomposition: str,
    y: Sequence[Any],
    predictions: Rows,
    observed: Rows | None = None,
    weights: Sequence[float] | None = None,
    labels: Sequence[Any] | None = None,
) -> dict[str, Any]:
    """Decompose by name; the main prediction is the first of the most frequent classes, in order."""
    classes = sorted(set(y) if labels is None else labels)
    samples = []
    for true, predicted, seen in _columns(y, predictions, observed):
        main = max(classes, key=predicted.count)
        loss = mean([f != o for f, o in zip(predicted, seen, strict=True)])
        bias, variance = Fraction(main != true), mean([f != main for f in predicted])
        noise = mean([o != true for o in seen])
        parts: dict[str, Any] = {"main_prediction": main, "expected_loss": loss}
        if decomposition == "domingos":
            unbiased = variance if not bias else Fraction(0)
            biased = mean([f == true for f in predicted]) if bias else Fraction(0)
            net = unbiased - biased
            parts |= {"bias": bias, "variance": variance, "unbiased_variance": unbiased, "biased_variance": biased}
            parts |= {"net_variance": net, "noise": noise, "noise_effect": loss - bias - net}
        elif decomposition == "kohavi-wolpert":
            shares = [(mean([o == k for o in seen]), mean([f == k for f in predicted])) for k in classes]
            bias_squared = sum((o - f) ** 2 for o, f in shares) / 2
            variance, noise = (1 - sum(f**2 for _, f in shares)) / 2, (1 - sum(o**2 for o, _ in shares)) / 2
            parts |= {"bias_squared": bias_squared, "variance": variance, "noise": noise}
            parts["cross_term"] = loss - bias_squared - variance - noise
        else:
            of_main = mean([o != main for o in seen])
            parts |= {"bias": bias, "variance": variance, "noise": noise}
            parts |= {"systematic_effect": of_main - noise, "variance_effect": loss - of_main}
        samples.append(parts)
    return _with_totals(samples, weights)
