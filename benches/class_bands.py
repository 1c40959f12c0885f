"""Coverage of bands of macro and micro curves; ``python -m benches.class_bands`` prints the table.

A row of class j has a normal score for each class k, with mean M[j, k] and a part that all scores of the row share, so
classes differ in size and difficulty, and the columns of a row are related. The true curves follow from the means. Rows
are drawn from all classes, and bands are at 95 %, with the default rows of each replicate.
"""

from __future__ import annotations

import sys
import warnings
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from fastevals import ClassRankings, confidence_band

Floats = NDArray[np.float64]
Line = tuple[Floats, Floats]  # false and true positive rates
Average = Literal["macro", "micro"]

SEED = 20261127
SHARED = 0.7  # standard deviation of the part that all scores of a row share
SPREAD = float(np.hypot(1.0, SHARED))
THRESHOLDS = np.linspace(11.0, -9.0, 8001)


class Design(NamedTuple):
    """The classes and rows of a setting; `last` is the share of the last class relative to the others."""

    n_classes: int
    n_rows: int
    last: float
    own: float  # mean score of a class's own rows, on average

    @property
    def shares(self) -> Floats:
        """Share of each class."""
        relative = np.append(np.ones(self.n_classes - 1), self.last)
        return np.asarray(relative / relative.sum())

    @property
    def means(self) -> Floats:
        """Mean score of each true class (row) for each class (column)."""
        rng, k = np.random.default_rng(self.n_classes), self.n_classes
        means = rng.normal(0.0, 0.5, (k, k))
        means[np.diag_indices(k)] = self.own + rng.uniform(-0.7, 0.7, k)
        return means


DESIGNS = [
    Design(3, 300, 1.0, 1.5), Design(3, 300, 1.0, 3.5), Design(3, 2500, 0.04, 1.5), Design(3, 2500, 0.04, 3.5),
    Design(10, 2500, 0.18, 1.5), Design(10, 2500, 0.18, 3.5),
]  # fmt: skip


def drawn(design: Design, number: int) -> ClassRankings:
    """Return a numbered data set."""
    rng = np.random.default_rng([SEED, *map(int, (design.n_classes, design.n_rows, 10 * design.own, number))])
    y = rng.choice(design.n_classes, design.n_rows, p=design.shares)
    noise = rng.normal(size=(design.n_rows, design.n_classes)) + SHARED * rng.normal(size=(design.n_rows, 1))
    return ClassRankings(y, design.means[y] + noise, labels=range(design.n_classes))


def true_lines(design: Design, average: str) -> list[Line]:
    """Return the true ROC curve of each class, or of all columns together."""
    above = ndtr((design.means - THRESHOLDS[:, np.newaxis, np.newaxis]) / SPREAD)  # by threshold, true class, column
    shares, own = design.shares, np.diagonal(above, axis1=1, axis2=2)
    if average == "micro":
        fpr, tpr = (above.sum(axis=2) - own) @ shares / (design.n_classes - 1), own @ shares
        return [_closed(fpr, tpr)]
    others = [np.where(np.arange(shares.size) == k, 0.0, shares) / (1 - shares[k]) for k in range(shares.size)]
    return [_closed(above[:, :, k] @ others[k], own[:, k]) for k in range(shares.size)]


def _closed(fpr: Floats, tpr: Floats) -> Line:
    return np.concatenate(([0.0], fpr, [1.0])), np.concatenate(([0.0], tpr, [1.0]))


def covers(design: Design, number: int, average: Average, n_resamples: int) -> tuple[bool, bool, float]:
    """Return whether the bands of the ROC and the P-R curve (micro only) contain the true curve, and ROC's width."""
    classes, lines = drawn(design, number), true_lines(design, average)
    x, low, high = confidence_band(classes, average=average, n_resamples=n_resamples, rng=number)
    true = np.mean([np.interp(x, *line) for line in lines], axis=0)
    inside = bool(((low <= true + 1e-9) & (true <= high + 1e-9)).all())
    width, also = float(np.trapezoid(high - low, x)), True
    if average == "micro":
        recall, low, high = (
            each[1:]
            for each in confidence_band(
                classes, "precision_recall", average=average, n_resamples=n_resamples, rng=number
            )
        )
        false = np.interp(recall, *lines[0][::-1]) * (design.n_classes - 1)
        true = recall / (recall + false)
        also = bool(((low <= true + 1e-9) & (true <= high + 1e-9)).all())
    return inside, also, width


def main(n_data_sets: int, n_resamples: int) -> None:
    """Print the table."""
    print("| classes | rows | of the last class | macro AUC | macro ROC | micro ROC | micro P-R | width, macro ROC |")
    print("|---|---|---|---|---|---|---|---|")
    for design in DESIGNS:
        found = {}
        for average in ("macro", "micro"):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found[average] = np.array(
                    [covers(design, number, average, n_resamples) for number in range(n_data_sets)], dtype=np.float64
                ).mean(axis=0)
        auc = np.mean([np.trapezoid(tpr, fpr) for fpr, tpr in true_lines(design, "macro")])
        cells = [f"{100 * share:.1f}" for share in (found["macro"][0], *found["micro"][:2])]
        last = design.n_rows * design.shares[-1]
        rows = [f"{design.n_classes}", f"{design.n_rows:,}", f"{last:.0f}", f"{auc:.3f}", *cells]
        print("| " + " | ".join([*rows, f"{found['macro'][2]:.3f}"]) + " |", flush=True)


if __name__ == "__main__":
    main(*(int(each) for each in sys.argv[1:] or ("500", "499")))
