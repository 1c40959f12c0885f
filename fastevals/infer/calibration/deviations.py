"""How estimates change without one row or one cluster: the one-step jackknife, from which standard errors follow.

The ratio is recomputed from the sums without the unit (a row, or a cluster). The recalibration takes one Newton step
from the fit of all units, which is the sandwich estimator known as HC3 for rows and as CR3 for clusters. With few
clusters its intervals contain the true value more often than intervals from sums of squared influences (CR1).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals.infer.calibration.forecasts import Block, Forecasts
from fastevals.infer.calibration.recalibration import RecalibrationLine, Totals, chance_of, logits_of

Floats = NDArray[np.float64]

# In the order of the first axis of covariances.
PARAMETERS = ("log_ratio", "intercept", "slope_intercept", "slope")


class Model(NamedTuple):
    """The sums and fits of one model."""

    totals: Totals
    with_slope_1: RecalibrationLine
    line: RecalibrationLine

    def values(self) -> Floats:
        """Return the values of `PARAMETERS`; NaN where undefined."""
        line, observed = self.line, self.totals.weight[1]
        intercept = self.with_slope_1.intercept - self.with_slope_1.center
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            log_ratio = np.log(self.totals.predicted / observed) if observed and self.totals.predicted else np.nan
        return np.array([log_ratio, intercept, line.intercept - line.slope * line.center, line.slope])


class Spread(NamedTuple):
    """The sampling distribution of the estimates.

    Attributes
    ----------
    covariance : ndarray of shape (4, n_models, n_models)
        Covariance between models of each of `PARAMETERS`.
    n_units : float
        Number of rows or clusters.
    null_variances : ndarray of shape (n_models, 2)
        Variances of the predicted minus the observed sum, and of the excess of the squared error, if the probabilities
        are true.
    """

    covariance: Floats
    n_units: float
    null_variances: Floats


N_SUMS = 10  # of a unit: see `_sums`


def spread_of(forecasts: Forecasts, models: list[Model]) -> Spread:
    """Return the covariance of the estimates."""
    n_models = len(models)
    if forecasts.n_clusters is None:
        products = np.sum(forecasts.sweep(lambda block: _products_of_rows(block, models)), axis=0)
        n_units = float(models[0].totals.rows.sum())
        null_variances = np.stack([model.totals.null_variances for model in models])
    else:
        n_units = float(forecasts.n_clusters)
        sums = np.zeros((n_models, N_SUMS, forecasts.n_clusters))
        for block in forecasts.blocks(forecasts.n_clusters):
            assert block.clusters is not None
            for k, model in enumerate(models):
                for total, values in zip(sums[k], _sums(block, k, model, *block.weights), strict=True):
                    total += np.bincount(block.clusters, values, total.size)
        off = np.stack([sums[:, 0] - sums[:, 1], sums[:, 2]], axis=1)
        null_variances = np.square(off).sum(axis=2) if n_units > 1 else np.full((n_models, 2), np.nan)
        moved = np.stack([_without(each, model) for each, model in zip(sums, models, strict=True)])
        products = _products(moved, np.ones(moved.shape[-1]))
    with np.errstate(invalid="ignore"):  # a single unit
        return Spread(products * ((n_units - 1) / n_units), n_units, null_variances)


def _products_of_rows(block: Block, models: list[Model]) -> Floats:
    """Return the sums over rows of products of changes; rows of one entry and class have equal weights."""
    rows, (negatives, positives) = block.rows(), block.weights
    weight = (block.weights > 0).astype(np.float64)
    if block.squares is not block.weights:
        weight = np.divide(block.squares, block.weights, out=weight, where=weight > 0)
    nothing = np.zeros_like(negatives)
    sides = [((weight[0], nothing), rows[0]), ((nothing, weight[1]), rows[1])]
    if not ((negatives > 0) & (positives > 0)).any():  # each entry has rows of one class
        sides = [((weight[0], weight[1]), rows[0] + rows[1])]
    total = np.zeros((len(PARAMETERS), len(models), len(models)))
    for unit, times in sides:
        moved = np.stack([_without(_sums(block, k, model, *unit), model) for k, model in enumerate(models)])
        total += _products(moved, times)
    return total


def _sums(block: Block, k: int, model: Model, negatives: Floats, positives: Floats) -> list[Floats]:
    """Return what each entry of a block adds to the sums that the estimates of a model are computed from.

    These are the predicted and the observed sum, the excess of the squared error, the first and second derivative for
    the line of slope 1, and two first and three second derivatives for the line.
    """
    p, total = block.p[k], negatives + positives
    x, inner = logits_of(block, k)
    predicted = total * p
    is_inner = inner is block.weights
    inside, seen = (
        (total, positives) if is_inner else (np.where(each := inner.any(axis=0), total, 0.0), positives * each)
    )
    x = x - model.line.center
    first = chance_of(x + (model.with_slope_1.intercept - model.with_slope_1.center + model.line.center))
    fitted = chance_of(model.line.intercept + model.line.slope * x)
    chances, residual = inside * fitted, seen - inside * fitted
    steepness = chances * (1 - fitted)
    of_x = steepness * x
    return [
        predicted, positives, (positives - predicted) * (1 - 2 * p),
        seen - inside * first, inside * first * (1 - first),
        residual, residual * x, steepness, of_x, of_x * x,
    ]  # fmt: skip


def _without(sums: list[Floats] | Floats, model: Model) -> Floats:
    """Return how each of `PARAMETERS` changes without each unit, of shape (4, n_units)."""
    predicted, observed, _, first, second, one, of_x, flat, tilted, curved = sums
    information, center = model.line.information, model.line.center
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.log1p(-predicted / model.totals.predicted) - np.log1p(-observed / model.totals.weight[1])
        intercept = -first / (model.with_slope_1.information[0, 0] - second)
        flat, tilted, curved = information[0, 0] - flat, information[0, 1] - tilted, information[1, 1] - curved
        determinant = flat * curved - tilted * tilted
        level = (tilted * of_x - curved * one) / determinant
        slope = (tilted * one - flat * of_x) / determinant
        return np.stack([ratio, intercept, level - slope * center, slope])


def _products(moved: Floats, times: Floats) -> Floats:
    """Return the sums of products between models, (4, n_models, n_models), of changes (n_models, 4, n_units)."""
    with np.errstate(invalid="ignore"):  # changes are infinite if there is no estimate without the unit
        return np.asarray(np.einsum("aqn,bqn,n->qab", moved, moved, times))
