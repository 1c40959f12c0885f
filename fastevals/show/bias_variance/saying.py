"""What is said of a decomposition: which part of the loss is the largest, and what that may mean."""

from __future__ import annotations

import math

from fastevals.measure.bias_variance import Decomposition

__all__ = ["what_dominates"]

HALF = 0.5
WHOLE = 1 + 1e-9  # more than rounding makes of the only term

NEVER = "No model is ever wrong."
AS_OBSERVED = "Every prediction is what was observed with it."
BIAS = (
    "Most of the loss is bias: what the models miss together, whatever they were trained on. More complex models may "
    "lose less (underfitting), more training rows hardly."
)
VARIANCE = (
    "Most of the loss is variance: the models depend on what they happened to be trained on (overfitting). Simpler "
    "models, more training rows or an average of several models may lose less."
)
NOISE = "Most of the loss is noise of the observed labels, which no model can foresee."
NEITHER = "Neither bias nor variance is most of the loss."
CANCEL = "Terms of the loss cancel, so that none is most of it, however large its share."
HELPS = "Variance lowers the loss here: where most models are wrong, some are right."
ONE_MODEL = "Of one model the variance is not known: what counts as bias here may be variance."
INFINITE = "The loss is not finite: errors are so large that their squares overflow, and no part is the largest."
ONE_LABEL = (
    "The noise is 0 because each sample has one observed label: Kohavi and Wolpert's parts know no truth beside it, so "
    "its noise counts as bias."
)
UNKNOWN = "Noise in the truth, if there is some, counts as bias: without observed labels it is not known apart."


def what_dominates(found: Decomposition) -> str:
    """Say which part is more than half of the expected loss, unless other parts cancel it, and what to make of it."""
    parts, loss = found.parts(), found.expected_loss
    if loss == 0:
        return AS_OBSERVED if found.observed else NEVER
    if not math.isfinite(loss):
        return INFINITE
    if found.n_models == 1:
        return ONE_MODEL
    bias, variance = parts[found.OF_BIAS], parts[found.OF_VARIANCE]
    large = [name for name, value in parts.items() if value > HALF * loss]
    if len(large) > 1 or (max(parts.values()) > WHOLE * loss and variance >= 0):
        said = [CANCEL]
    else:
        sentences = {found.OF_BIAS: BIAS, found.OF_VARIANCE: VARIANCE, "noise": NOISE, "noise_effect": NOISE}
        said = [sentences.get("".join(large), NEITHER)]
    if variance < 0:
        said.append(HELPS)
    if found.observed and found.decomposition == "kohavi-wolpert" and parts["noise"] == 0:
        said.append(ONE_LABEL)
    if not found.observed and bias > HALF * loss:
        said.append(UNKNOWN)
    return " ".join(said)
