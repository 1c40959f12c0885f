"""What is said of a decomposition: which part of the loss is the largest, and what that may mean."""

from __future__ import annotations

from fastevals.measure.bias_variance import Decomposition

__all__ = ["LOSSES", "OF_BIAS", "OF_VARIANCE", "what_dominates"]

LOSSES = {"squared": "squared loss", "zero_one": "0-1 loss"}
OF_BIAS = ("bias_squared", "bias", "systematic_effect")
OF_VARIANCE = ("variance", "net_variance", "variance_effect")
HALF = 0.5

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
HELPS = "Variance lowers the loss here: where most models are wrong, some are right."
UNKNOWN = "Noise in the truth, if there is some, counts as bias: without observed labels it is not known apart."


def what_dominates(found: Decomposition) -> str:
    """Say which part is more than half of the expected loss, and what to make of it."""
    parts, loss = found.parts(), found.expected_loss
    if loss == 0:
        return "No model is ever wrong."
    bias, variance = (sum(parts[name] for name in names if name in parts) for names in (OF_BIAS, OF_VARIANCE))
    if bias > HALF * loss:
        said = [BIAS]
    elif variance > HALF * loss:
        said = [VARIANCE]
    else:
        said = [NOISE if parts.get("noise", parts.get("noise_effect", 0.0)) > HALF * loss else NEITHER]
    if variance < 0:
        said.append(HELPS)
    if not found.observed and bias > HALF * loss:
        said.append(UNKNOWN)
    return " ".join(said)
