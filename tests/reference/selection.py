"""Slow, obvious twins of selection and error curves: loops over candidates and splits."""

import itertools
import math

import numpy as np


def combinations(grid):
    """List all combinations of a grid's values; the last parameter varies fastest."""
    return [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]


def means(learner, X, y, pairs, loss, all_params):
    """Return the mean validation loss of each candidate; NaN if a fit raises."""
    found = []
    for params in all_params:
        try:
            losses = [loss(y[test], learner(X[train], y[train], X[test], **params)) for train, test in pairs]
            found.append(sum(losses) / len(losses))
        except ArithmeticError:
            found.append(math.nan)
    return found


def select(learner, X, y, pairs, loss, grid, test):
    """Return the parameters with the least mean loss on splits of the training part, and their test loss."""
    params = combinations(grid)
    rows = np.setdiff1d(np.arange(len(y)), test)
    losses = means(learner, X[rows], y[rows], pairs, loss, params)
    best = params[min((k for k in range(len(params)) if losses[k] == losses[k]), key=lambda k: losses[k])]
    return best, losses, loss(y[test], learner(X[rows], y[rows], X[test], **best))


def curve(learner, X, y, pairs, loss, parameter, values):
    """Return training and test losses, shape (n_values, n_splits)."""
    test, training = [], []
    for value in values:
        fits = [(train, part, {parameter: value}) for train, part in pairs]
        test.append([loss(y[part], learner(X[train], y[train], X[part], **given)) for train, part, given in fits])
        training.append([loss(y[train], learner(X[train], y[train], X[train], **given)) for train, _, given in fits])
    return np.array(training), np.array(test)
