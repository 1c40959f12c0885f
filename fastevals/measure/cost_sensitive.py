"""Turn probabilities into decisions of least expected cost."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._execution import ROWS_PER_BLOCK, run
from fastevals._kernels.cost_sensitive import cheapest_actions
from fastevals._options import check_costs, check_number, show
from fastevals._validation.arrays import as_array, as_texts, frame_names, is_frame, row_labels
from fastevals._validation.class_order import without_ends
from fastevals._validation.curves import _as_finite, as_class_shares, as_cost_matrix, costs_by_name, sum_tolerance
from fastevals._validation.labels import as_class_names

FEWEST_ROWS = 256  # rows in a block, so that costs are read from memory rarely


def minimum_cost_predictions(
    y_prob: ArrayLike,
    cost_matrix: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    prior: ArrayLike | None = None,
    fitted_prior: ArrayLike | None = None,
) -> NDArray[Any]:
    """Choose for each row the action with the least expected cost, ``sum over classes of probability * cost``.

    This is Elkan's (2001) equation 1. Among equal costs the first action is chosen. Sums are float64 in the order of
    the classes, so a row's decision does not depend on other rows. Memory beyond input and result is a few MB.

    Parameters
    ----------
    y_prob : array-like of shape (n_samples, K) or (n_samples,)
        Calibrated probabilities of the classes; a single column is the probability of the second of two classes. Rows
        must sum to 1 within 1e-6 (float32: 3.5e-4, float16: 0.03).
    cost_matrix : array-like of shape (K, A)
        Cost of each action: one row per true class, one column per action; gains are negative. The actions may be the
        classes (A = K) or others: an extra column can mean passing the row to a person. The index of a frame is matched
        by name with the columns of `y_prob`, or else with the first K labels; its columns are matched with `labels`.
    labels : sequence of A labels, optional
        Names of the actions; 0 to A - 1, the numbers of the matrix's columns, by default.
    prior, fitted_prior : array-like of shape (K,), optional
        Shares of the classes in the population on which the decisions are used, and in the data on which the
        probabilities were fitted; give both or neither. Each probability is first multiplied by prior / fitted_prior.

    Returns
    -------
    ndarray of shape (n_samples,)
        A label for each row.

    Raises
    ------
    ValueError
        If a row is not a probability distribution, an argument has another shape or a value out of range, one prior is
        given without the other, or all classes that are possible for a row have prior 0.

    References
    ----------
    Elkan (2001), The foundations of cost-sensitive learning, IJCAI, equation 1 and theorem 2. For many classes:
    Saerens, Latinne and Decaestecker (2002), doi:10.1162/089976602753284446.

    Examples
    --------
    >>> import fastevals
    >>> costs = [[0, 1, 0.2], [10, 0, 0.2]]  # a miss costs 10, a false alarm 1, a look by hand 0.2
    >>> fastevals.minimum_cost_predictions([0.01, 0.1, 0.9], costs, labels=["pass", "stop", "look"])
    array(['pass', 'look', 'stop'], dtype='<U4')
    """
    array = _as_probabilities("y_prob", y_prob)
    n_samples, n_classes = array.shape[0], 2 if array.ndim == 1 else array.shape[1]
    if is_frame(cost_matrix):
        cost_matrix = _named_costs(cost_matrix, y_prob, labels, n_classes)
    costs = as_action_costs("cost_matrix", cost_matrix, n_classes)
    names = as_class_names("labels", labels, costs.shape[1])
    costs = np.ldexp(costs, -int(np.frexp(np.abs(costs).max())[1]))  # exact, and no sum overflows afterwards
    possible = None
    if _check_prior_pair(prior, fitted_prior):
        ratios = _as_prior_ratios(prior, fitted_prior, n_classes)
        costs = costs * ratios[:, None]
        possible = None if ratios.all() else ratios > 0
    by_action = np.ascontiguousarray(costs.T)
    tolerance = sum_tolerance(array.dtype)
    size = max(FEWEST_ROWS, ROWS_PER_BLOCK // n_classes)
    decisions = np.empty(n_samples, dtype=names.dtype)

    def decide(rows: slice, space: tuple[NDArray[np.float64], NDArray[np.int64]]) -> tuple[bool, int | None]:
        """Decide a block of rows; return whether all are distributions, and the first row without a possible class."""
        n = rows.stop - rows.start
        probabilities, chosen = space[0][:, :n], space[1][:n]
        with np.errstate(over="ignore"):  # longer floats may overflow
            probabilities[-1 if array.ndim == 1 else slice(None)] = array[rows].T
        if array.ndim == 1:
            np.subtract(1.0, probabilities[1], out=probabilities[0])
        if not (probabilities.min() >= 0 and (np.abs(probabilities.sum(axis=0) - 1) <= tolerance).all()):
            return False, None
        if possible is not None:
            left = probabilities[possible].any(axis=0)
            if not left.all():
                return True, rows.start + int(np.argmin(left))
        cheapest_actions(probabilities, by_action, chosen)
        np.take(names, chosen, out=decisions[rows])
        return True, None

    blocks = [slice(start, min(start + size, n_samples)) for start in range(0, n_samples, size)]
    results = run(decide, blocks, workspace=lambda: (np.empty((n_classes, size)), np.empty(size, dtype=np.int64)))
    if not all(valid for valid, _ in results):
        _raise_not_probabilities("y_prob", array)
    stranded = [row for _, row in results if row is not None]
    if stranded:
        _raise_no_class_left("y_prob", stranded[0])
    return decisions


def choose_actions(columns: NDArray[Any], costs: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the number of each row's action of least expected cost, the first if tied.

    Probabilities have shape (n_classes, n_rows), costs (n_classes, n_actions).
    """
    by_action = np.ascontiguousarray(np.ldexp(costs, -int(np.frexp(np.abs(costs).max())[1])).T)
    found: NDArray[np.int64] = np.empty(columns.shape[1], dtype=np.int64)
    size = max(FEWEST_ROWS, ROWS_PER_BLOCK // len(columns))

    def decide(start: int) -> None:
        rows = slice(start, min(start + size, found.size))
        cheapest_actions(np.ascontiguousarray(columns[:, rows], dtype=np.float64), by_action, found[rows])

    run(decide, range(0, found.size, size), compiles=cheapest_actions)
    return found


def cost_threshold(
    *,
    cost_fp: float = 1.0,
    cost_fn: float = 1.0,
    cost_matrix: ArrayLike | None = None,
    prior: float | None = None,
    fitted_prior: float | None = None,
) -> float:
    """Probability of the positive class at or above which predicting positive costs least.

    For calibrated probabilities it is ``cost_fp / (cost_fp + cost_fn)`` if right predictions cost nothing. With a cost
    matrix it is ``(c01 - c00) / (c01 - c00 + c10 - c11)``, where c01 is the cost of a negative predicted positive. If
    the prior p differs from the share f in the data on which the probabilities were fitted, ``cost_fp`` is multiplied
    by ``(1 - p) f`` and ``cost_fn`` by ``p (1 - f)``, so that the threshold applies to unadjusted probabilities.

    Parameters
    ----------
    cost_fp, cost_fn : float
        Cost of a false positive and of a false negative; at least 0, and not both 0.
    cost_matrix : array-like of shape (2, 2), optional
        Costs indexed [true, predicted], the positive class second; gains are negative. Cannot be combined with the
        other two.
    prior, fitted_prior : float in [0, 1], optional
        Share of positives in the population on which the threshold is used, and in the data on which the probabilities
        were fitted (strictly between 0 and 1). Give both or neither.

    Returns
    -------
    float
        In [0, 1]: 0.0 if false positives cost nothing or all rows will be positive, 1.0 if false negatives cost nothing
        or no row will be positive.

    Raises
    ------
    ValueError
        If an argument is out of range, only one prior is given, a wrong prediction is cheaper than a right one, or no
        decision costs anything.

    References
    ----------
    Elkan (2001), The foundations of cost-sensitive learning, IJCAI, equation 2 and theorem 2.

    Examples
    --------
    >>> import fastevals
    >>> fastevals.cost_threshold(cost_fn=9.0)
    0.1
    >>> fastevals.cost_threshold(cost_fn=9.0, prior=0.25, fitted_prior=0.5)
    0.25
    """
    on_negative, on_positive = _as_wrong_costs(cost_matrix, cost_fp, cost_fn)
    if _check_prior_pair(prior, fitted_prior):
        new, fitted = _as_shares_of_positives(prior, fitted_prior)
        on_negative, on_positive = on_negative * (1 - new) * fitted, on_positive * new * (1 - fitted)
        _check_some_cost(on_negative + on_positive, prior)
    return float(on_negative / (on_negative + on_positive))  # computed from fractions, so nothing overflows


# Checks ---------------------------------------------------------------------------------------------------------------


def _named_costs(frame: Any, y_prob: Any, labels: Any, n_classes: int) -> NDArray[Any]:
    """Return a frame's costs: rows ordered like the classes of the probabilities, columns like the labels.

    Rows stay where they are if the index has none of the names of classes.
    """
    actions = None if labels is None else np.asarray(labels).tolist()
    columns, index = frame_names(y_prob) if is_frame(y_prob) else [], set(as_texts(list(row_labels(frame) or ())))
    for classes in (columns, without_ends(columns) if columns else [], (actions or [])[:n_classes]):
        if index & set(as_texts(classes)):
            return costs_by_name("cost_matrix", frame, classes, actions)[0]
    return costs_by_name("cost_matrix", frame, None, actions)[0]


def as_action_costs(name: str, values: Any, n_classes: int) -> NDArray[np.float64]:
    """Return the costs of one or more actions for each class as finite float64 of shape (K, A)."""
    array = as_array(name, values)
    if array.dtype.kind not in "fiub" or array.ndim != 2 or array.shape[0] != n_classes or not array.shape[1]:
        raise ValueError(
            f"{name} must hold numbers of shape ({n_classes}, actions), got {array.dtype} of shape {array.shape}"
        )
    return _as_finite(name, array)


def _as_wrong_costs(cost_matrix: Any, cost_fp: Any, cost_fn: Any) -> tuple[Fraction, Fraction]:
    """Return how much more a wrong prediction costs than a right one, for a negative and for a positive row."""
    fp, fn, _ = check_costs(cost_fp, cost_fn)
    if cost_matrix is None:
        return Fraction(fp), Fraction(fn)
    if (fp, fn) != (1.0, 1.0):
        raise ValueError(f"cost_matrix excludes cost_fp and cost_fn, got {show(cost_fp)} and {show(cost_fn)}")
    costs = as_cost_matrix("cost_matrix", cost_matrix, 2)
    wrong = []
    for true in (0, 1):
        right, other = (Fraction(float(costs[true, predicted])) for predicted in (true, 1 - true))
        if other < right:
            raise ValueError(
                "cost_matrix must not make a wrong prediction cheaper than a right one, but a row of class "
                f"{true} costs {float(other):g} if predicted as {1 - true} and {float(right):g} if predicted as {true}"
            )
        wrong.append(other - right)
    if not any(wrong):
        raise ValueError("cost_matrix must make a wrong prediction cost more than a right one for some class")
    return wrong[0], wrong[1]


def _check_prior_pair(prior: Any, fitted_prior: Any) -> bool:
    """Return whether priors are given; raise if only one of the two is."""
    if (prior is None) != (fitted_prior is None):
        given, missing = ("fitted_prior", "prior") if prior is None else ("prior", "fitted_prior")
        raise ValueError(f"prior and fitted_prior must be given together, got {given} without {missing}")
    return prior is not None


def _as_prior_ratios(prior: Any, fitted_prior: Any, n_classes: int) -> NDArray[np.float64]:
    """Return the factor for each class's probability when its share changes; 0 if the new share is 0."""
    new, fitted = as_class_shares("prior", prior, n_classes), as_class_shares("fitted_prior", fitted_prior, n_classes)
    # Below 1e-300 the ratio would overflow; such a share counts as missing.
    missing = (new > 0) & (fitted < 1e-300)
    if missing.any():
        k = int(np.argmax(missing))
        raise ValueError(
            f"fitted_prior must be above zero where prior is, but for class {k} it is {show(fitted[k])}, "
            f"with prior {show(new[k])}"
        )
    return np.divide(new, fitted, out=np.zeros(n_classes), where=new > 0)


def _as_shares_of_positives(prior: Any, fitted_prior: Any) -> tuple[Fraction, Fraction]:
    """Return the shares of positives in use and in the fitted data; in the latter both classes must occur."""
    new = check_number("prior", prior, low=0, high=1)
    fitted = check_number("fitted_prior", fitted_prior, low=0, high=1, open_low=True, open_high=True)
    return Fraction(new), Fraction(fitted)


def _check_some_cost(total: Fraction, prior: Any) -> None:
    """Raise if the only errors that cost anything are on a class that does not occur."""
    if not total:
        raise ValueError(f"prior must be above zero for some class whose errors cost anything, got {show(prior)}")


def _as_probabilities(name: str, values: Any) -> NDArray[Any]:
    """Return probabilities of shape (rows, K), or (rows,) for the positive class; values are not checked."""
    array = as_array(name, values)
    if array.dtype.kind not in "fiub":
        raise ValueError(f"{name} must hold numbers, got dtype {array.dtype}")
    if array.ndim not in (1, 2) or array.size == 0:
        raise ValueError(f"{name} must have shape (rows,) or (rows, classes), none of them 0, got {array.shape}")
    return array


def _raise_not_probabilities(name: str, array: NDArray[Any]) -> NoReturn:
    """Raise an error on the first row with NaN; if there is none, with a value out of range; else with a wrong sum."""
    rows = array.astype(np.float64).reshape(array.shape[0], -1)
    nan = np.isnan(rows).any(axis=1)
    if nan.any():
        count = int(np.count_nonzero(nan))
        rows_with_nan = f"{count} row{'s' * (count > 1)} with NaN"
        raise ValueError(f"{name} must not be NaN, but has {rows_with_nan}, the first at row {int(np.argmax(nan))}")
    outside = (rows < 0) | (rows > 1 + sum_tolerance(array.dtype) * (array.ndim > 1))
    if outside.any():
        row, column = divmod(int(np.argmax(outside)), rows.shape[1])
        where = f"row {row}" if array.ndim == 1 else f"row {row}, column {column}"
        raise ValueError(f"{name} must be in [0, 1], got {show(rows[row, column])} at {where}")
    sums = rows.sum(axis=1)
    off = np.abs(sums - 1)
    row = int(np.argmax(off >= min(sum_tolerance(array.dtype), off.max())))  # another order may give no wrong sum
    raise ValueError(f"each row of {name} must sum to 1, but row {row} sums to {show(sums[row])}")


def _raise_no_class_left(name: str, row: int) -> NoReturn:
    """Raise an error about a row whose probability is all on classes that the prior excludes."""
    raise ValueError(
        f"{name} must not be 0 for all classes whose prior is above zero, but it is 0 for all of them in row {row}"
    )
