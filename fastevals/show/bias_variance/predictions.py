"""Bias and variance of models' predictions, as text and as JSON."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastevals import __version__
from fastevals._text import (
    LOSSES,
    format_column,
    format_label,
    format_numbers,
    format_tables,
    printable,
    shorten_names,
    wrap_text,
)
from fastevals._validation.arrays import as_weights
from fastevals._validation.labels import as_true_labels, check_class_number, check_comparable_labels
from fastevals.measure.bias_variance.bias_variance import decompose, parse_problem
from fastevals.measure.bias_variance.decomposition import Decomposition
from fastevals.measure.bias_variance.squared import as_targets
from fastevals.measure.bias_variance.zero_one import distinct
from fastevals.results import as_json
from fastevals.show.bias_variance.reading import PredictionData
from fastevals.show.commands import TextResult

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
    """Return which part is more than half of the expected loss, unless other parts cancel it, and what that means."""
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


MOST_ROWS = 5  # samples of the largest loss that are shown
MOST_NAMES = 8
LONGEST_NAME = 30
AUTHORS = {"domingos": "Domingos", "kohavi-wolpert": "Kohavi and Wolpert", "james": "James"}


@dataclass(frozen=True, slots=True, repr=False)
class DecomposedPredictions(TextResult):
    """What is found of models' predictions.

    Attributes
    ----------
    result : Decomposition
        With the numbers of each sample.
    truth : ndarray of shape (n_samples,)
        What is true.
    names : list of str or None
        Of the models.
    left_out : list of str
        Columns that were taken for no model's.
    shown : dict of str to str
        What the options --truth, --observed and --weight were.
    data : str
        The file.
    """

    result: Decomposition
    truth: NDArray[Any]
    names: list[str] | None
    left_out: list[str]
    shown: dict[str, str]
    data: str

    def to_dict(self) -> dict[str, Any]:
        """Return the decomposition as strict JSON."""
        found = self.result
        values = {
            "fastevals": __version__,
            "data": self.data,
            "decomposed": "predictions",
            "loss": found.loss,
            "decomposition": found.decomposition,
            "models": self.names,
            "left_out": self.left_out,
            "n_models": found.n_models,
            "n_samples": found.n_samples,
            "expected_loss": found.expected_loss,
            "parts": found.parts(),
            "beside": found.beside(),
            "largest_losses": [self._sample(int(row)) for row in self._largest()],
        }
        return {name: as_json(value) for name, value in values.items()}

    def to_text(self) -> str:
        """Return the decomposition as text to read, the last line with a line end."""
        found = self.result
        whose = f", parts of {AUTHORS[found.decomposition]}" if found.decomposition else ""
        given = ", ".join(printable(each) for each in self.shown.values())
        lines = [
            f"fastevals bias-variance: {printable(self.data)}",
            *wrap_text(
                f"{_count(found.n_models, 'model')}{self._named()}, {_count(found.n_samples, 'sample')}; {given}"
            ),
            *(wrap_text(f"left out, no numbers: {_some(self.left_out)}") if self.left_out else ()),
            *wrap_text(f"expected {LOSSES[found.loss]}{whose}"),
            "",
            *format_tables([self._rows()])[0],
            "",
            *wrap_text(what_dominates(found)),
            "",
            f"samples of the largest expected loss, of {found.n_samples}, counted from 0",
            *format_tables([self._sample_rows()])[0],
        ]
        return "\n".join(lines) + "\n"

    def _named(self) -> str:
        if self.names is None:
            return ""
        return f" ({_some(self.names)}{'; --pred chooses' if len(self.names) > MOST_NAMES else ''})"

    def _rows(self) -> list[list[str]]:
        loss, parts, beside = self.result.expected_loss, self.result.parts(), self.result.beside()
        names = ["expected loss", *(f"  {name}" for name in parts), *(f"({name})" for name in beside)]
        shares = [f"{100 * value / loss:.1f} %" if loss and np.isfinite(loss) else "-" for value in parts.values()]
        cells = zip(
            (name.replace("_", " ") for name in names),
            format_column([loss, *parts.values(), *beside.values()]),
            ["", *shares, *("" for _ in beside)],
            strict=True,
        )
        return [["", "value", "share"], *map(list, cells)]

    def _largest(self) -> NDArray[np.intp]:
        loss = self.result.per_sample.expected_loss
        if loss.size > 2 * MOST_ROWS:  # a sort of all takes longer than all else
            least = np.partition(loss, loss.size - MOST_ROWS)[loss.size - MOST_ROWS]
            above, equal = np.flatnonzero(loss > least), np.flatnonzero(loss == least)
            rows = np.concatenate([above, equal[: MOST_ROWS - above.size]])
        else:
            rows = np.arange(loss.size)
        return rows[np.argsort(-loss[rows], kind="stable")][:MOST_ROWS]

    def _sample(self, row: int) -> dict[str, Any]:
        each = self.result.per_sample
        parts = {name: values[row] for name, values in each.parts().items()}
        return {
            "sample": row,
            "truth": self.truth[row].item(),
            "main_prediction": self.result.main_prediction[row].item(),
            "expected_loss": each.expected_loss[row],
            **parts,
        }

    def _sample_rows(self) -> list[list[str]]:
        samples = [self._sample(int(row)) for row in self._largest()]
        heads = [[str(row), _value(truth), _value(main)] for row, truth, main, *_ in map(dict.values, samples)]
        numbers = format_numbers([list(sample.values())[3:] for sample in samples])
        rows = [head + row for head, row in zip(heads, numbers, strict=True)]
        return [[name.replace("_", " ") for name in samples[0]], *rows]


def decompose_predictions(given: PredictionData, loss: str, decomposition: str) -> DecomposedPredictions:
    """Decompose the loss of predictions that were read.

    Parameters
    ----------
    given : Given
        Predictions, and what goes with them.
    loss : {"squared", "zero_one"}
    decomposition : {"domingos", "kohavi-wolpert", "james"}
        Of 0-1 loss.

    Returns
    -------
    DecomposedPredictions
        Which gives itself as text and JSON.

    Raises
    ------
    ValueError
        If predictions or what goes with them are not numbers, or classes, or don't fit.
    """
    read = as_true_labels if loss == "zero_one" else as_targets
    found: dict[str, Any] = {"--observed": None, "--weight": None, **given.beside}
    for option, values in found.items():
        if option == "--weight" and values is not None:
            found[option] = as_weights(given.shown[option], values)
        elif values is not None and values.ndim == 1:
            found[option] = read(given.shown[option], values)
    truth = found["--truth"]
    labels = _classes(given, truth) if loss == "zero_one" else None
    problem, own = parse_problem(truth, found["--observed"], loss, decomposition, found["--weight"], labels)
    models = problem.loss.as_tables(repr(given.file), given.predictions)._replace(names=list(given.models()))
    pairs = None
    if own is not None:
        pairs = problem.loss.as_tables(given.shown["--observed"], own)._replace(names=list(given.observations()))
    result = decompose(problem, models, pairs, per_sample=True)
    return DecomposedPredictions(result, truth, given.names, given.left_out, given.shown, given.file)


def _classes(given: PredictionData, truth: NDArray[Any]) -> NDArray[Any]:
    """Return all classes that occur: a model may predict one that no sample is of."""
    shown = {option: shown for option, shown in given.shown.items() if option != "--weight"}
    where = " and ".join([repr(given.file), *shown.values()])
    classes = distinct(truth)
    for name, row in {**given.models(), **given.observations()}.items():
        labels = as_true_labels(name, row)
        check_comparable_labels(**{shown["--truth"]: truth, name: labels})
        classes = np.union1d(classes, distinct(labels))
        check_class_number(where, classes)
    return classes


def _some(names: list[str]) -> str:
    """List the first names."""
    return ", ".join(shorten_names(names[:MOST_NAMES], LONGEST_NAME)) + (", ..." if len(names) > MOST_NAMES else "")


def _count(n: int, what: str) -> str:
    return f"{n} {what}{'s' * (n != 1)}"


def _value(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else format_label(value)
