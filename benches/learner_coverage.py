"""Coverage of intervals for a learner's error; ``python -m benches.learner_coverage results.json 100 200`` measures it.

Its arguments are a file, the number of rows, and the number of data sets per distribution. Results are added to the
file; data sets that are in it are not measured again. With only a file, the tables in the documentation are printed.

The simulated distributions are those of Schulz-Kümpel et al. (2024), arXiv 2409.18836. Rows of breast cancers and of
diabetes are drawn from scikit-learn's data sets with replacement, and blurred with normal noise, so that the
distribution is known. An interval is judged by two errors: the error of the fit to all n rows, and its mean over data
sets. Both are measured on `N_TRUTH` new rows per data set.

A learner makes all fits of a data set at once, from weights of rows. Standard errors are those of `estimate_error`;
a test checks that the intervals are the same.
"""

from __future__ import annotations

import itertools
import json
import math
import sys
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_diabetes

from fastevals import BootstrapSplit, HoldOut, KFold, LeaveOneOut
from fastevals._compile.jit import kernel
from fastevals.infer.significance.t_tests import corrected_t_margin
from fastevals.split.estimates.corrections import correct_bootstrap_errors
from fastevals.split.estimates.intervals import (
    HALVINGS,
    Data,
    _design_half,
    _halvings,
    halves_error,
    jackknife_errors,
    nested_error,
    wald_errors,
)
from fastevals.split.splitters.base import Pair

SEED, ALPHA, Z = 20261127, 0.05, 1.959963984540054
N_TRUTH = 10_000
K, N_REPEATS, N_HOLD_OUTS, N_REPLICATES = 10, 10, 15, 200
BLUR = 0.3  # standard deviation of the noise added to a real data set's standardised columns

Floats = NDArray[np.float64]
Pairs = list[Pair]


# Distributions --------------------------------------------------------------------------------------------------------


def _bates(rng: np.random.Generator, n: int, labels: bool) -> tuple[Floats, Floats]:
    X = rng.standard_normal((n, 20))
    centre = X[:, :5].sum(axis=1)
    return X, (rng.logistic(size=n) < centre).astype(float) if labels else centre + rng.standard_normal(n)


def _friedman1(rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
    X = rng.random((n, 10))
    y = 10 * np.sin(math.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    return X, y + rng.standard_normal(n)


def _from_rows(load: Callable[..., Any]) -> Callable[[np.random.Generator, int], tuple[Floats, Floats]]:
    X, y = load(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = y.astype(float) if set(y) == {0, 1} else (y - y.mean()) / y.std()

    def draw(rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
        rows = rng.integers(len(y), size=n)
        return X[rows] + BLUR * rng.standard_normal((n, X.shape[1])), y[rows]

    return draw


DISTRIBUTIONS: dict[str, Callable[[np.random.Generator, int], tuple[Floats, Floats]]] = {
    "logistic, 20 features": lambda rng, n: _bates(rng, n, True),
    "breast cancer": _from_rows(load_breast_cancer),
    "linear, 20 features": lambda rng, n: _bates(rng, n, False),
    "Friedman 1": _friedman1,
    "diabetes": _from_rows(load_diabetes),
}


# Learners: from rows, targets, weights (n_fits, n) and new rows to predictions of all rows (n_fits, n + n_new) --------


def linear(X: Floats, y: Floats, weights: Floats, new: Floats) -> Floats:
    """Predict by ridge regression, or by logistic regression with a ridge penalty; the penalty is 1."""
    n, every = len(y), np.column_stack([np.concatenate((X, new)), np.ones(len(X) + len(new))])
    A = every[:n]
    p = A.shape[1]
    products = (A[:, :, None] * A[:, None]).reshape(n, p * p)
    penalty = np.diag([1.0] * (p - 1) + [1e-9])
    if not is_labels(y):
        normal = (weights @ products).reshape(-1, p, p) + penalty
        return _solve(normal, (weights * y) @ A) @ every.T
    b = np.zeros((len(weights), p))
    for _ in range(6):
        chance = 1 / (1 + np.exp(-np.clip(b @ A.T, -30, 30)))
        hessian = ((weights * chance * (1 - chance)) @ products).reshape(-1, p, p) + penalty
        b = b + _solve(hessian, (weights * (y - chance)) @ A - b @ penalty)
    return np.asarray(1 / (1 + np.exp(-np.clip(b @ every.T, -30, 30))))


def _solve(matrices: Floats, vectors: Floats) -> Floats:
    return np.asarray(np.linalg.solve(matrices, vectors[..., None])[..., 0])


def nearest(X: Floats, y: Floats, weights: Floats, new: Floats, k: int = 10) -> Floats:
    """Predict by the mean of the 10 nearest neighbours; a chance is (positives + 1) / (neighbours + 2)."""
    every = np.concatenate((X, new))
    scale = X.std(axis=0)
    every = every / scale
    distances = (every**2).sum(axis=1)[:, None] - 2 * every @ every[: len(y)].T + (every[: len(y)] ** 2).sum(axis=1)
    first = min(len(y), 12 * k)
    order = np.argpartition(distances, min(first, len(y) - 1), axis=1)[:, :first]
    order = np.take_along_axis(order, np.take_along_axis(distances, order, axis=1).argsort(axis=1), axis=1)
    out = np.empty((len(weights), len(every)))
    _mean_of_nearest(order, y, weights, float(k), float(is_labels(y)), out)
    return out


@kernel
def _mean_of_nearest(order: Any, y: Any, weights: Any, k: float, smooth: float, out: Any) -> None:
    for b in range(len(weights)):
        for i in range(len(order)):
            left, total = k, 0.0
            for r in order[i]:
                take = min(left, weights[b, r])
                total += take * y[r]
                left -= take
                if left <= 0:
                    break
            out[b, i] = (total + smooth) / (k - left + 2 * smooth)


def tree(X: Floats, y: Floats, weights: Floats, new: Floats, depth: int = 3) -> Floats:
    """Predict by a tree of depth 3 with 5 rows or more in a leaf; a chance is (positives + 1) / (rows + 2)."""
    every = np.concatenate((X, new))
    rows = np.argsort(X, axis=0, kind="stable").T.copy()
    out = np.empty((len(weights), len(every)))
    _grow(rows, every, y, weights, depth, 5.0, float(is_labels(y)), out)
    return out


@kernel
def _grow(order: Any, X: Any, y: Any, weights: Any, depth: int, least: float, smooth: float, out: Any) -> None:
    n, p = len(y), X.shape[1]
    node = np.zeros(len(X), dtype=np.int64)
    for b in range(len(weights)):
        node[:] = 0
        for level in range(depth):
            m = 1 << level
            size, total = np.zeros(m), np.zeros(m)
            for r in range(n):
                size[node[r]] += weights[b, r]
                total[node[r]] += weights[b, r] * y[r]
            best, feature, cut = np.full(m, 1e-9), np.full(m, -1), np.zeros(m)
            left, below, last = np.zeros(m), np.zeros(m), np.zeros(m)
            for f in range(p):
                left[:] = 0
                below[:] = 0
                for place in range(n):
                    r = order[f, place]
                    w = weights[b, r]
                    if w == 0:
                        continue
                    j, x = node[r], X[r, f]
                    if left[j] >= least and size[j] - left[j] >= least and x > last[j]:
                        right, above = size[j] - left[j], total[j] - below[j]
                        gain = below[j] ** 2 / left[j] + above**2 / right - total[j] ** 2 / size[j]
                        if gain > best[j]:
                            best[j], feature[j], cut[j] = gain, f, (x + last[j]) / 2
                    left[j] += w
                    below[j] += w * y[r]
                    last[j] = x
            for r in range(len(X)):
                j = node[r]
                node[r] = 2 * j + (feature[j] >= 0 and X[r, feature[j]] > cut[j])
        size, total = np.zeros(1 << depth), np.zeros(1 << depth)
        for r in range(n):
            size[node[r]] += weights[b, r]
            total[node[r]] += weights[b, r] * y[r]
        for r in range(len(X)):
            out[b, r] = (total[node[r]] + smooth) / (size[node[r]] + 2 * smooth)


METHODS = (
    "10-fold, corrected t",
    "10 x 10-fold, corrected t",
    "15 hold-outs, corrected t",
    "15 hold-outs, conservative z",
    "10-fold, Wald",
    "10 x 10-fold, Wald",
    "leave-one-out, Wald",
    "10 x 10-fold, nested",
    "200 out-of-bag, corrected t",
    "200 out-of-bag, jackknife",
    ".632+, corrected t",
    ".632+, jackknife",
)
LEARNERS = {"linear": linear, "10 nearest": nearest, "tree": tree}


# Losses ---------------------------------------------------------------------------------------------------------------


def is_labels(y: Floats) -> bool:
    """Return whether targets are labels."""
    return bool(((y == 0) | (y == 1)).all())


def losses_of(y: Floats, predicted: Floats) -> dict[str, Floats]:
    """Return the losses of rows, of the shape of the predictions."""
    if not is_labels(y):
        return {"squared error": (predicted - y) ** 2, "absolute error": np.abs(predicted - y)}
    return {
        "error rate": ((predicted > 0.5) != (y == 1)).astype(float),
        "Brier score": (predicted - y) ** 2,
        "log loss": -np.where(y == 1, np.log(predicted), np.log1p(-predicted)),
    }


# Intervals ------------------------------------------------------------------------------------------------------------


class Splits(NamedTuple):
    """The splits of all methods on one data set."""

    folds: Pairs
    single: Pairs
    hold_outs: Pairs
    halves: Pairs
    replicates: Pairs

    @classmethod
    def draw(cls, n: int, seed: int) -> Splits:
        """Draw the splits."""
        rows = np.arange(n)
        hold_out, data = HoldOut(0.1, n_repeats=N_HOLD_OUTS, rng=seed), Data(rows, None, n)
        halves = [half for both in _halvings(hold_out, data) for half in both]
        return cls(
            list(KFold(K, n_repeats=N_REPEATS, rng=seed).split(rows)),
            list(LeaveOneOut().split(rows)),
            list(hold_out.split(rows)),
            [pair for k, half in enumerate(halves) for pair in _design_half(hold_out, half, data, k).pairs()],
            list(BootstrapSplit(N_REPLICATES, rng=seed).split(rows)),
        )

    def inner(self) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        """Yield the rows of two folds, for each pair of folds of each repetition."""
        for repeat in range(N_REPEATS):
            yield from combinations([test for _, test in self.folds[K * repeat : K * (repeat + 1)]], 2)

    def weights(self, n: int) -> Floats:
        """Return the weights of rows in all fits; the first fit is to all rows."""
        trained = [train for pairs in self for train, _ in pairs]
        outer = [np.bincount(rows, minlength=n) for rows in (np.arange(n), *trained)]
        return np.array([*outer, *(1 - np.bincount(np.concatenate(both), minlength=n) for both in self.inner())], float)

    def tested(self, n: int) -> list[Floats]:
        """Return 1 for test rows and 0 for others, for the fits of each method; the last two are for pairs of folds."""
        tests = [[test for _, test in pairs] for pairs in self] + [
            list(each) for each in zip(*self.inner(), strict=True)
        ]
        return [np.array([np.bincount(test, minlength=n) for test in each], float) for each in tests]


def tested_moments(losses: Floats, tested: Floats) -> Floats:
    """Return the moments of the losses of each fit's test rows, as `moments` does."""
    n = tested.sum(axis=1)
    means = np.sum(losses * tested, axis=1) / n
    return np.stack([n, means, np.sum((losses - means[:, None]) ** 2 * tested, axis=1)], axis=1)


class Ends(NamedTuple):
    """An interval by its middle and half its width."""

    value: float
    margin: float


def intervals(splits: Splits, tested: list[Floats], losses: Floats, no_information: float) -> dict[str, Ends]:
    """Return each method's interval from the losses of all fits, of shape (n_fits, n)."""
    n = losses.shape[1]
    whole, *parts, inner = np.split(losses, np.cumsum([1, *map(len, splits)]))
    folds, single, hold_outs, halves, replicates = itertools.starmap(tested_moments, zip(parts, tested, strict=False))
    by_fold, nested = folds.reshape(N_REPEATS, K, 3), np.empty((N_REPEATS, K, K - 1, 3))
    one, other = np.transpose(list(combinations(range(K), 2)))
    nested[:, other, one] = tested_moments(inner, tested[-2]).reshape(N_REPEATS, -1, 3)
    nested[:, one, other - 1] = tested_moments(inner, tested[-1]).reshape(N_REPEATS, -1, 3)
    values = {"folds": folds[:, 1], "hold-outs": hold_outs[:, 1], "replicates": replicates[:, 1]}
    bates = nested_error(by_fold, nested, n)
    out = values["replicates"].mean()
    plus = correct_bootstrap_errors(float(whole.mean()), float(out), no_information, None).error_632_plus
    distinct = sum(n - test.size for _, test in splits.replicates)
    of_test = [row[None, test] for row, (_, test) in zip(parts[-1], splits.replicates, strict=True)]
    margins = {
        "t": corrected_t_margin(values["replicates"], replicates[:, 0].sum() / distinct, ALPHA),
        "jackknife": Z * jackknife_errors(lambda: iter(splits.replicates), of_test, n)[0],
    }
    z_error = halves_error(halves[:, 1].reshape(HALVINGS, 2, N_HOLD_OUTS))
    first = values["folds"][:K]
    ends = (
        Ends(first.mean(), corrected_t_margin(first, 1 / (K - 1), ALPHA)),
        Ends(values["folds"].mean(), corrected_t_margin(values["folds"], 1 / (K - 1), ALPHA)),
        Ends(values["hold-outs"].mean(), corrected_t_margin(values["hold-outs"], 1 / (K - 1), ALPHA)),
        Ends(values["hold-outs"].mean(), Z * z_error),
        Ends(first.mean(), Z * wald_errors(by_fold[None, :1])[0]),
        Ends(values["folds"].mean(), Z * wald_errors(by_fold[None])[0]),
        Ends(single[:, 1].mean(), Z * wald_errors(single[None, None])[0]),
        Ends(float(bates.value or 0), Z * bates.standard_error),
        Ends(out, margins["t"]),
        Ends(out, margins["jackknife"]),
        Ends(plus, margins["t"] * plus / out),
        Ends(plus, margins["jackknife"] * plus / out),
    )
    return dict(zip(METHODS, ends, strict=True))


def no_information(y: Floats, predicted: Floats) -> dict[str, float]:
    """Return each mean loss over all pairs of a target and a prediction."""
    pairs = losses_of(np.repeat(y, len(y)), np.tile(predicted, len(y)))
    return {name: float(each.mean()) for name, each in pairs.items()}


def measure(distribution: str, n: int, number: int) -> Iterator[tuple[str, str, float, dict[str, Ends]]]:
    """Yield, for each learner and loss on a numbered data set, the true error of its fit and the intervals."""
    rng = np.random.default_rng([SEED, list(DISTRIBUTIONS).index(distribution), n, number])
    X, y = DISTRIBUTIONS[distribution](rng, n)
    new, y_new = DISTRIBUTIONS[distribution](rng, N_TRUTH)
    splits = Splits.draw(n, number)
    weights, tested = splits.weights(n), splits.tested(n)
    for learner, predict in LEARNERS.items():
        true = predict(X, y, weights[:1], new)[0, n:]
        predicted = predict(X, y, weights, new[:0])
        none = no_information(y, predicted[0])
        truths = losses_of(y_new, true)
        for loss, losses in losses_of(y, predicted).items():
            yield learner, loss, float(truths[loss].mean()), intervals(splits, tested, losses, none[loss])


# Tables ---------------------------------------------------------------------------------------------------------------

Found = dict[str, list[list[float]]]  # by distribution, rows, learner and loss: the true error, then values and margins


def add(path: Path, n: int, n_sets: int) -> None:
    """Measure data sets, and write the results after every fifth."""
    found: Found = json.loads(path.read_text()) if path.exists() else {}
    for number in range(n_sets):
        for distribution in DISTRIBUTIONS:
            if any(key.startswith(f"{distribution}; {n}; ") and len(each) > number for key, each in found.items()):
                continue
            for learner, loss, truth, ends in measure(distribution, n, number):
                row = [truth, *(float(part) for each in ends.values() for part in each)]
                found.setdefault(f"{distribution}; {n}; {learner}; {loss}", []).append([float(f"{x:.5g}") for x in row])
        if number % 5 == 4:
            path.write_text(json.dumps(found))
            print(number + 1, flush=True)


class Counts(NamedTuple):
    """How often intervals contain an error, and their mean width, for one distribution, learner and loss."""

    of_mean: Floats  # covers the mean error over training sets, of shape (n_methods, n_sets)
    of_fit: Floats  # covers the error of the fit to these rows
    width: Floats

    @classmethod
    def of(cls, rows: list[list[float]]) -> Counts:
        """Count the results of one distribution, learner and loss."""
        table = np.array(rows)
        truth, values, margins = table[:, 0], table[:, 1::2].T, table[:, 2::2].T
        of_mean, of_fit = (np.abs(values - each) <= margins for each in (truth.mean(), truth))
        return cls(of_mean.mean(axis=1), of_fit.mean(axis=1), 2 * margins.mean(axis=1))


def print_table(found: Found, n: int) -> None:
    """Print the coverage of each method in %, for the mean error and for the fit's error, over all and by part."""
    cells = {tuple(key.split("; ")): Counts.of(each) for key, each in found.items()}
    cells = {key: each for key, each in cells.items() if key[1] == str(n)}
    n_sets = len(found[next(key for key in found if f"; {n}; " in key)])
    losses = dict.fromkeys(key[3] for key in cells)
    print(f"{n} rows, {n_sets} data sets of each distribution:\n")
    print(f"| splits and interval | all | {' | '.join([*LEARNERS, *losses])} | lowest | width |")
    print(f"|---|{'---|' * (len(LEARNERS) + len(losses) + 3)}")
    for k, method in enumerate(METHODS):
        parts: list[Callable[[tuple[str, ...]], bool]] = [lambda key: True]
        parts += [lambda key, name=name: name in key for name in (*LEARNERS, *losses)]  # type: ignore[misc]
        shown = []
        for part in parts:
            both = [[each[j][k] for key, each in cells.items() if part(key)] for j in (0, 1)]
            shown.append(" / ".join(f"{100 * np.mean(each):.0f}" for each in both))
        lowest = min(each.of_mean[k] for each in cells.values())
        widths = [each.width[k] / each.width[0] for each in cells.values()]
        print(f"| {method} | {' | '.join(shown)} | {100 * lowest:.0f} | {np.mean(widths):.2f} |")
    print()


if __name__ == "__main__":
    path = Path(sys.argv[1])
    if len(sys.argv) > 2:
        add(path, *map(int, sys.argv[2:]))
    else:
        found = json.loads(path.read_text())
        for n in sorted({int(key.split("; ")[1]) for key in found}):
            print_table(found, n)
