"""Of m trials of chance 1/2, b to one side and c to the other: McNemar's tests and the sign test."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals.infer.results import Null, tail_of

__all__ = ["least_kept", "null_of", "pvalues"]

Floats = NDArray[np.float64]


def null_of(m: Any) -> Null:
    """Give the distribution of b."""
    return Null("binom", (m, 0.5))


def pvalues(b: Any, c: Any, alternative: str, *, mid: bool = False) -> Floats:
    """Give p-values of counts, arrays or numbers; with `mid` the counts seen have half their chance."""
    null = null_of(np.add(b, c))
    fewer = {"two-sided": np.minimum(b, c), "less": b, "greater": c}[alternative]
    pvalue = null.cdf(fewer)
    if mid:
        pvalue = (pvalue + null.cdf(fewer - 1)) / 2
    if alternative == "two-sided":
        pvalue = np.minimum(2 * pvalue, 1.0)
    return np.where(np.add(b, c) == 0, 1.0, pvalue)


def least_kept(m: int, alternative: str, alpha: float, *, mid: bool = False) -> int:
    """Give the least b of m that is not rejected, by a test against smaller ones; or, two-sided, by one against both.

    With `mid` a small m may have none: it is more than m / 2 then.
    """
    side = "two-sided" if alternative == "two-sided" else "less"
    # The quantile is the least count without mid; with it that may be the next. One more to allow for rounding.
    guess = int(null_of(m).ppf(tail_of(alpha, alternative)))
    counts = np.arange(max(guess - 1, 0), guess + 3)
    counts = counts[counts <= (m // 2 if side == "two-sided" else m)]
    kept = pvalues(counts, m - counts, side, mid=mid) >= alpha
    return int(counts[np.argmax(kept)] if kept.any() else counts[-1] + 1)
