"""What a calibration means, in sentences that report, page and results share."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from fastevals._text import count_of, printable
from fastevals.infer.bootstrap.bootstrap import FEW_ROWS
from fastevals.infer.significance.decision import pvalue_text

if TYPE_CHECKING:
    from fastevals.infer.calibration.calibrations import Calibration

FEW_CLUSTERS = 50
MOST_DIGITS = 1e15  # sums of weights from here on are written with an exponent
TWICE = 2.0  # a ratio from here on, or below its inverse, is said as a multiple


def conclude(found: Calibration) -> str:
    """Return the conclusion: which of ratio, slope and Spiegelhalter's test show miscalibration.

    p-values are adjusted for these three tests by Holm's method.
    """
    adjusted, off = found._adjusted_pvalues(), found.miscalibrated
    who = _who(found)
    sums = describe_sums(found)
    if not off:
        if all(math.isnan(p) for p in adjusted.values()):
            return f"{sums}. Nothing follows about the calibration{_of(found)}, because no test is defined."
        smallest = min(p for p in adjusted.values() if not math.isnan(p))
        n_tests = sum(not math.isnan(p) for p in adjusted.values())
        return (
            f"No significant miscalibration{_of(found)}: {_lower(sums, who)} ({_numbers(found)}; "
            f"smallest {_p(smallest)}, adjusted for {count_of(n_tests, 'test')})."
        )
    sentences = [f"{sums} ({describe_ratio(found)})." if "ratio" in off else ""]
    if "slope" in off:
        way = "extreme" if found.slope.value < 1 else "moderate"
        sentences.append(
            f"The probabilities{_of(found)} are too {way}: calibration slope {_estimate(found, found.slope)}."
        )
    if "spiegelhalter" in off:
        z = found.spiegelhalter
        way = "worse" if z.statistic > 0 else "better"
        sentences.append(
            f"The Brier score{_of(found)} is {way} than its probabilities imply (Spiegelhalter's z = "
            f"{z.statistic:.1f}, {_p(z.pvalue)})."
        )
    if "ratio" not in off:
        sentences.append(f"{sums} ({describe_ratio(found)}).")
    return " ".join(filter(None, sentences))


def describe_sums(found: Calibration) -> str:
    """Return how many positives are expected and how many happened: "credit expects 7 positives; 9 happened"."""
    predicted, observed = describe_count(found.predicted), describe_count(found.observed)
    if found.is_weighted:
        return f"{_who(found)} expects positives of weight {predicted}; weight {observed} happened"
    return f"{_who(found)} expects {predicted} positives; {observed} happened"


def describe_ratio(found: Calibration) -> str:
    """Return how far the sum is off, and the ratio with its interval: "18 % too few; ratio 0.818, ..."."""
    ratio = found.ratio.value
    if math.isnan(ratio):
        return pvalue_text(found.ratio.pvalue, "two-sided")
    if 1 / TWICE < ratio < TWICE:
        share = 100 * abs(ratio - 1)
        off = f"{share:.2g} % too {'few' if ratio < 1 else 'many'}" if share >= 0.05 else "as many as happened"
    else:
        off = f"{ratio:.3g} times as many as happened"
    return f"{off}; ratio {_estimate(found, found.ratio)}"


def cautions_of(found: Calibration) -> tuple[str, ...]:
    """Return the cautions, each as one sentence that says what to do."""
    sentences = []
    rarer, n = min(("positive", found.n_positives), ("negative", found.n_negatives), key=lambda side: side[1])
    if n < FEW_ROWS:
        sentences.append(
            f"Only {count_of(n, f'{rarer} row')}: intervals and tests of calibration are rough below "
            f"{FEW_ROWS}; collect more."
        )
    if found.n_clusters is not None and found.n_clusters < FEW_CLUSTERS:
        few = count_of(found.n_clusters, "cluster")
        sentences.append(
            f"Only {few}: Spiegelhalter's test rejects too often below {FEW_CLUSTERS}; rely on the intervals."
        )
    reasons: dict[tuple[str, tuple[str, str, str]], list[str]] = {}
    for name in ("ratio", "intercept", "slope"):
        each = getattr(found, name)
        if each.caution:
            lacking = ("is", "are", "undefined") if math.isnan(each.value) else ("has", "have", "no interval")
            reasons.setdefault((each.caution, lacking), []).append(name)
    for (reason, (one, many, what)), names in reasons.items():
        *others, last = names
        subject = f"{', '.join(others)} and {last}" if others else last
        sentences.append(f"The {subject} {many if others else one} {what}: {reason}.")
    return tuple(sentences)


def _numbers(found: Calibration) -> str:
    """Return the three numbers that the conclusion weighs."""
    z = found.spiegelhalter
    return (
        f"ratio {_estimate(found, found.ratio)}; slope {_estimate(found, found.slope)}; Spiegelhalter's z = "
        f"{z.statistic:.2f}"
    )


def _estimate(found: Calibration, estimate: Any) -> str:
    if math.isnan(estimate.value):
        return "undefined"
    low, high = estimate.confidence_interval
    interval = "" if math.isnan(low) else f", {100 * found.confidence_level:.6g} % interval {low:.3f} to {high:.3f}"
    return f"{estimate.value:.3f}{interval}"


def describe_count(value: float) -> str:
    """Return a number of positives: whole, or with three digits if it is small."""
    is_whole = value >= 100 or value == round(value)
    return f"{value:,.0f}" if is_whole and value < MOST_DIGITS else f"{value:.3g}"


def _p(value: float) -> str:
    return pvalue_text(value, "two-sided")


def _who(found: Calibration) -> str:
    return "The model" if found.name is None else printable(str(found.name))


def _of(found: Calibration) -> str:
    return "" if found.name is None else f" of {printable(str(found.name))}"


def _lower(sentence: str, who: str) -> str:
    return sentence[0].lower() + sentence[1:] if who == "The model" else sentence
