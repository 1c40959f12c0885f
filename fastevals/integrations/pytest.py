"""Assertions on models, for tests: a model is good enough, or not worse than another one.

They judge as `fastevals.gate` does, and need no pytest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from fastevals.show.gate.document import GateResult

Predicted = Literal["scores", "classes", "numbers", "probabilities"]
NAMED = ("sample_weight", "frequency_weight", "groups")  # options that name a column, and here take its values too
MODEL, OTHER, TRUTH = "y_pred", "reference", "y_true"
ROLES = ("label", "target", "score", "pred", "probabilities", "reference")  # options that the arrays' roles decide


def assert_gate(data: Any, rules: str | Sequence[str], **options: Any) -> GateResult:
    """Raise AssertionError with the gate's text unless all rules pass.

    Parameters
    ----------
    data, rules, **options
        As for `fastevals.gate`: files, a frame or counts; rules; columns and settings. An undecided gate fails unless
        ``undecided="pass"``.

    Returns
    -------
    GateResult
        The gate's result, if it passes.

    Raises
    ------
    AssertionError
        If a rule fails or is undecided. The message has each rule's verdict, interval and margin, and what would decide
        an undecided rule.
    ValueError
        If an argument or a rule is not as `fastevals.gate` describes.
    """
    __tracebackhide__ = True
    import fastevals

    if options.get("plan"):
        raise ValueError("plan must be False: a plan decides nothing")
    found: Any = fastevals.gate(data, rules, **options)
    if found.exit_status:
        raise AssertionError(f"\n{found.to_text()}")
    return found  # type: ignore[no-any-return]


def assert_metric(
    y_true: Any, y_pred: Any, rules: str | Sequence[str], *, predicted: Predicted | None = None, **options: Any
) -> GateResult:
    """Raise AssertionError unless rules such as ``"roc_auc >= 0.9"`` pass.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels, or true numbers.
    y_pred : array-like of shape (n_samples,) or (n_samples, n_classes)
        Predictions.
    rules : str or sequence of str
        Rules for `fastevals.gate`, such as ``"recall at threshold=0.5 >= 0.8"``.
    predicted : {"scores", "classes", "numbers", "probabilities"}, optional
        What is predicted; by default class probabilities if `y_pred` has two dimensions, and scores if it has one.
    **options
        Further arguments of `fastevals.gate`. `sample_weight`, `frequency_weight` and `groups` are array-like. An
        undecided rule fails unless ``undecided="pass"``.

    Returns
    -------
    GateResult
        The gate's result, if it passes.

    Raises
    ------
    AssertionError
        If a rule fails or is undecided; the message is the gate's text.
    ValueError
        If an argument or a rule is not as described.

    Examples
    --------
    >>> from fastevals.integrations.pytest import assert_metric
    >>> y_true, y_pred = [0, 1] * 200, [0.2, 0.8, 0.1, 0.9, 0.4, 0.6, 0.7, 0.5] * 50
    >>> assert_metric(y_true, y_pred, "roc_auc >= 0.7").outcome
    'pass'
    """
    __tracebackhide__ = True
    return _assert_arrays(y_true, {MODEL: y_pred}, rules, predicted, options)


def assert_not_worse(
    y_true: Any,
    y_pred: Any,
    reference: Any,
    *,
    metric: Any,
    by: float | str,
    predicted: Predicted | None = None,
    **options: Any,
) -> GateResult:
    """Raise AssertionError unless a model is not worse than another one on the same rows, by more than a margin.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels, or true numbers.
    y_pred, reference : array-like of shape (n_samples,) or (n_samples, n_classes)
        Predictions of the model, and of the one that it is compared with.
    metric : str or `metric(...)`
        The metric, as in a rule: "roc_auc", or "recall at fpr=0.01".
    by : float or str
        The margin, at least 0, whether higher or lower values are better; ``"2%"`` is a share of the metric of
        `reference`.
    predicted, **options
        As for `assert_metric`.

    Returns
    -------
    GateResult
        The gate's result, if it passes.

    Raises
    ------
    AssertionError
        If the model is worse by more than the margin, or if that is undecided; the message is the gate's text.
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> from fastevals.integrations.pytest import assert_not_worse
    >>> y_true, old = [0, 1] * 200, [0.2, 0.8, 0.1, 0.9, 0.4, 0.6, 0.7, 0.5] * 50
    >>> new = [0.1, 0.8, 0.1, 0.9, 0.4, 0.7, 0.6, 0.5] * 50
    >>> assert_not_worse(y_true, new, old, metric="roc_auc", by=0.01).outcome
    'pass'
    """
    __tracebackhide__ = True
    rule = f"{metric} not worse than {OTHER} by {by}"
    models = {MODEL: y_pred, OTHER: reference}
    return _assert_arrays(y_true, models, rule, predicted, options)


def _assert_arrays(
    y_true: Any, models: dict[str, Any], rules: Any, predicted: Predicted | None, options: dict[str, Any]
) -> GateResult:
    """Judge arrays, as columns of a mapping."""
    __tracebackhide__ = True
    import numpy as np

    from fastevals._options import check_choice, show

    if predicted is None:
        predicted = "probabilities" if np.ndim(models[MODEL]) == 2 else "scores"
    check_choice("predicted", predicted, Predicted)
    for name in ROLES:
        if name in options:
            raise ValueError(f"{name} must be left out: {TRUTH} and {MODEL} are the columns; got {show(options[name])}")
    columns = {TRUTH: y_true, **models}
    for name in NAMED:
        if options.get(name) is not None:
            columns[name], options[name] = options[name], name
    options |= {
        "target" if predicted == "numbers" else "label": TRUTH,
        {"scores": "score", "probabilities": "probabilities"}.get(predicted, "pred"): [*models],
    }
    return assert_gate(columns, rules, **options, reference=OTHER if OTHER in models else None)
