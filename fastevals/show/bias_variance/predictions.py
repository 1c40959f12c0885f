"""Decompose the loss of many models' predictions, read from arrays or a table."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals._distinct import sorted_union
from fastevals._options import show
from fastevals._text import LOSSES, count_of, format_column, format_label, format_numbers, printable, shorten_names
from fastevals._validation.arrays import as_weights, first_text
from fastevals._validation.labels import as_true_labels, check_class_number, check_comparable_labels
from fastevals._validation.text import is_text
from fastevals.document.document import (
    GAP,
    RICH,
    TEXT,
    Cell,
    Document,
    Fact,
    Figures,
    Number,
    Part,
    Row,
    Section,
    Sentence,
    Table,
)
from fastevals.document.frames import Columns
from fastevals.document.result import Result
from fastevals.measure.bias_variance.bias_variance import decompose, parse_problem
from fastevals.measure.bias_variance.decomposition import Decomposition
from fastevals.measure.bias_variance.squared import as_targets
from fastevals.measure.bias_variance.zero_one import distinct
from fastevals.reading.columns import columns_by_role, read_columns, read_numbers
from fastevals.reading.csv import CsvForm
from fastevals.reading.files import SUFFIXES, check_file
from fastevals.reading.values import class_columns
from fastevals.results import as_json
from fastevals.show.bias_variance.pictures import bias_variance_panels, bias_variance_pictures
from fastevals.show.output import BlockPictures
from fastevals.show.pictures import CAPTIONS
from fastevals.show.schema import json_head

MOST_ROWS = 5  # samples of the largest loss in the output
MOST_NAMES = 8
LONGEST_NAME = 30
AUTHORS = {"domingos": "Domingos", "kohavi-wolpert": "Kohavi and Wolpert", "james": "James"}

HALF_LOSS = 0.5  # share of the loss above which a part dominates it
WHOLE_LOSS = 1 + 1e-9  # share of the loss that rounding can't exceed

NEVER = "No model is ever wrong."
AS_OBSERVED = "Every prediction equals its observed label."
BIAS = (
    "Most of the loss is bias: the models share the error, whatever their training set (underfitting). More complex "
    "models may reduce it; more training rows hardly will."
)
VARIANCE = (
    "Most of the loss is variance: the models depend on their training set (overfitting). Simpler models, more "
    "training rows or an average of several models may reduce it."
)
NOISE = "Most of the loss is noise in the observed labels, which no model can predict."
NEITHER = "Neither bias nor variance is most of the loss."
CANCEL = "Terms of the loss cancel each other, so a large share of one term does not mean that it dominates."
HELPS = "Variance lowers the loss here: where most models are wrong, some are right."
ONE_MODEL = "One model has no known variance: the bias here may be variance. Give predictions of several models."
INFINITE = "The loss is not finite: errors are so large that their squares overflow, and no part is the largest."
ONE_LABEL = (
    "The noise is 0 because each sample has one observed label: Kohavi and Wolpert's parts don't use the truth, so the "
    "label's noise counts as bias."
)
UNKNOWN = "Noise in the truth counts as bias: without observed labels the two can't be separated."


@dataclass(frozen=True, slots=True, repr=False)
class DecomposedPredictions(Result):
    """The decomposition of models' predictions, and the name of the data."""

    result: Decomposition  # with the numbers of each sample
    truth: NDArray[Any]
    names: list[str] | None  # of the models
    left_out: list[str]  # columns that are not models
    shown: dict[str, str]  # values of the options --truth, --observed and --weight
    data: str  # the file

    def to_dict(self) -> dict[str, Any]:
        """Return the decomposition as strict JSON."""
        result = self.result
        values = {
            **json_head(),
            "data": self.data,
            "decomposed": "predictions",
            "loss": result.loss,
            "decomposition": result.decomposition,
            "models": self.names,
            "left_out": self.left_out,
            "n_models": result.n_models,
            "n_samples": result.n_samples,
            "expected_loss": result.expected_loss,
            "parts": result.parts(),
            "beside": result.beside(),
            "largest_losses": self.largest_losses(),
        }
        return {name: as_json(value) for name, value in values.items()}

    def _columns(self) -> Columns:
        return self.result._columns()

    def _document(self) -> Document:
        result = self.result
        size = f"{count_of(result.n_models, 'model')}, {count_of(result.n_samples, 'sample')}"
        facts = {
            "models": "" if self.names is None else list_first(self.names),
            **{name.lstrip("-"): printable(shown) for name, shown in self.shown.items()},
            "left out": list_first(self.left_out),
            "loss": LOSSES[result.loss],
            "parts of": AUTHORS.get(str(result.decomposition), ""),
        }
        return Document(
            "bias-variance",
            self.data,
            [Fact(name, text, RICH) for name, text in facts.items()],
            [Section(self._parts(), size=size)],
            [Sentence(each, only=TEXT) for each in self._head()],
            numbers=self.to_dict,
        )

    def pictures(self) -> BlockPictures:
        """Return the pictures for `--out`."""
        return bias_variance_pictures(self.result)

    def _head(self) -> Iterator[str]:
        result = self.result
        given = ", ".join(printable(each) for each in self.shown.values())
        models = f"{count_of(result.n_models, 'model')}{self._model_names()}"
        yield f"{models}, {count_of(result.n_samples, 'sample')}; {given}"
        if self.left_out:
            yield f"columns without numbers, left out: {list_first(self.left_out)}"
        whose = f", parts of {AUTHORS[result.decomposition]}" if result.decomposition else ""
        yield f"expected {LOSSES[result.loss]}{whose}"

    def _parts(self) -> Iterator[Part]:
        said = what_dominates(self.result)
        yield from (Sentence(f"{each}.", "verdict", RICH) for each in said.rstrip(".").split(". "))
        yield from (_part_table(self.result), GAP, Sentence(said, only=TEXT), GAP)
        title = f"samples with the largest expected loss, of {self.result.n_samples}, numbered from 0"
        yield from (Sentence(title, "line", TEXT), _sample_table(self.largest_losses()))
        yield Figures(lambda: bias_variance_panels(self.result), CAPTIONS)

    def _model_names(self) -> str:
        if self.names is None:
            return ""
        return f" ({list_first(self.names)}{'; --pred chooses' if len(self.names) > MOST_NAMES else ''})"

    @property
    def _each(self) -> Decomposition[NDArray[np.float64]]:
        assert self.result.per_sample is not None
        return self.result.per_sample

    def _largest(self) -> NDArray[np.intp]:
        loss = self._each.expected_loss
        if loss.size > 2 * MOST_ROWS:  # a full sort would take most of the time
            least = np.partition(loss, loss.size - MOST_ROWS)[loss.size - MOST_ROWS]
            above, equal = np.flatnonzero(loss > least), np.flatnonzero(loss == least)
            rows = np.concatenate([above, equal[: MOST_ROWS - above.size]])
        else:
            rows = np.arange(loss.size)
        return rows[np.argsort(-loss[rows], kind="stable")][:MOST_ROWS]

    def largest_losses(self) -> list[dict[str, Any]]:
        """Return the samples with the largest losses, each with its row, truth, main prediction, loss and parts."""
        return [self._sample(int(row)) for row in self._largest()]

    def _sample(self, row: int) -> dict[str, Any]:
        each = self._each
        parts = {name: values[row] for name, values in each.parts().items()}
        return {
            "sample": row,
            "truth": self.truth[row].item(),
            "main_prediction": self.result.main_prediction[row].item(),
            "expected_loss": each.expected_loss[row],
            **parts,
        }


def _part_table(result: Decomposition) -> Table:
    def rows() -> Iterator[Row]:
        loss, parts, beside = result.expected_loss, result.parts(), result.beside()
        written = iter(format_column([loss, *parts.values(), *beside.values()]))
        yield Row("expected loss", [Number(loss, written=next(written)), ""])
        for name, value in parts.items():
            share = value / loss if loss and math.isfinite(loss) else math.nan
            cell = Cell("-") if math.isnan(share) else Cell(f"{100 * share:.1f} %", repr(share))
            title = name.replace("_", " ")
            yield Row(title, [Number(value, written=next(written)), cell], short=f"  {title}")
        for name, value in beside.items():
            yield Row(f"({name.replace('_', ' ')})", [Number(value, written=next(written)), ""])

    columns = ["Part", "value", "share"]
    return Table("parts", "Parts of the loss", columns, rows, heads=["", *columns[1:]])


def _sample_table(samples: Sequence[Mapping[str, Any]]) -> Table:
    def rows() -> Iterator[Row]:
        texts = format_numbers([list(sample.values())[3:] for sample in samples])
        for sample, written in zip(samples, texts, strict=True):
            row, truth, main, *values = sample.values()
            numbers = [Number(float(value), written=text) for value, text in zip(values, written, strict=True)]
            yield Row(str(row), [format_entry(truth), format_entry(main), *numbers])

    columns = [name.replace("_", " ") for name in samples[0]]
    return Table("samples", "Samples with the largest expected loss, numbered from 0", columns, rows)


def list_first(names: list[str]) -> str:
    """List the first names."""
    return ", ".join(shorten_names(names[:MOST_NAMES], LONGEST_NAME)) + (", ..." if len(names) > MOST_NAMES else "")


def format_entry(value: Any) -> str:
    """Return a truth or a prediction as text."""
    return f"{value:.6g}" if isinstance(value, float) else format_label(value)


def what_dominates(result: Decomposition) -> str:
    """Say which part is more than half of the expected loss, unless other parts cancel it, and what to do."""
    parts, loss = result.parts(), result.expected_loss
    if loss == 0:
        return AS_OBSERVED if result.observed else NEVER
    if not math.isfinite(loss):
        return INFINITE
    if result.n_models == 1:
        return ONE_MODEL
    bias, variance = parts[result.OF_BIAS], parts[result.OF_VARIANCE]
    large = [name for name, value in parts.items() if value > HALF_LOSS * loss]
    if len(large) > 1 or (max(parts.values()) > WHOLE_LOSS * loss and variance >= 0):
        sentences = [CANCEL]
    else:
        meanings = {result.OF_BIAS: BIAS, result.OF_VARIANCE: VARIANCE, "noise": NOISE, "noise_effect": NOISE}
        sentences = [meanings.get("".join(large), NEITHER)]
    if variance < 0:
        sentences.append(HELPS)
    if result.observed and result.decomposition == "kohavi-wolpert" and parts["noise"] == 0:
        sentences.append(ONE_LABEL)
    if not result.observed and bias > HALF_LOSS * loss:
        sentences.append(UNKNOWN)
    return " ".join(sentences)


def decompose_predictions(data: PredictionData, loss: str, decomposition: str) -> DecomposedPredictions:
    """Decompose the loss of predictions that were read; messages name the options and the file's columns or rows."""
    read = as_true_labels if loss == "zero_one" else as_targets
    beside: dict[str, Any] = {"--observed": None, "--weight": None, **data.beside}
    for option, values in beside.items():
        if option == "--weight" and values is not None:
            beside[option] = as_weights(data.shown[option], values)
        elif values is not None and values.ndim == 1:
            beside[option] = read(data.shown[option], values)
    truth = beside["--truth"]
    labels = _classes(data, truth) if loss == "zero_one" else None
    problem, each_observed = parse_problem(truth, beside["--observed"], loss, decomposition, beside["--weight"], labels)
    models = problem.loss.as_tables(repr(data.file), data.predictions)._replace(names=list(data.models()))
    observed = None
    if each_observed is not None:
        observed = problem.loss.as_tables(data.shown["--observed"], each_observed)
        observed = observed._replace(names=list(data.observations()))
    result = decompose(problem, models, observed, per_sample=True)
    return DecomposedPredictions(result, truth, data.names, data.left_out, data.shown, data.file)


def _classes(data: PredictionData, truth: NDArray[Any]) -> NDArray[Any]:
    """Return all classes that occur, including predicted classes that no sample belongs to."""
    shown = {option: shown for option, shown in data.shown.items() if option != "--weight"}
    where = " and ".join([repr(data.file), *shown.values()])
    classes = distinct(truth)
    for name, row in {**data.models(), **data.observations()}.items():
        labels = as_true_labels(name, row)
        check_comparable_labels(**{shown["--truth"]: truth, name: labels})
        classes = sorted_union(classes, distinct(labels))
        check_class_number(where, classes)
    return classes


# Reading --------------------------------------------------------------------------------------------------------------


class PredictionData(NamedTuple):
    """Predictions, with their truth, observed labels and weights."""

    predictions: NDArray[Any] | dict[str, NDArray[Any]]  # of shape (n_models, n_samples), or by the models' names
    beside: dict[str, NDArray[Any]]  # by option, if given: --truth, --observed, --weight
    shown: dict[str, str]  # their names in messages
    file: str  # of the predictions
    left_out: list[str]  # columns of a table that are not used
    line: Callable[[int], str] = "row {}".format  # name of a row in messages

    @property
    def names(self) -> list[str] | None:
        """Names of the models, if they have names."""
        return list(self.predictions) if isinstance(self.predictions, dict) else None

    def models(self) -> dict[str, NDArray[Any]]:
        """Return a mapping of the models' names in messages to their predictions."""
        if isinstance(self.predictions, dict):
            return {f"column {name!r}": column for name, column in self.predictions.items()}
        return numbered(repr(self.file), self.predictions)

    def observations(self) -> dict[str, NDArray[Any]]:
        """Return a mapping of names in messages to observed labels: one per model, or one for all."""
        if "--observed" not in self.beside:
            return {}
        observed, shown = self.beside["--observed"], self.shown["--observed"]
        return {shown: observed} if observed.ndim == 1 else numbered(shown, observed)


def numbered(what: str, rows: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """Return a mapping of the models' names in messages to the rows."""
    return {f"model {k} of {what}": row for k, row in enumerate(rows)}


def read_arrays(file: str, beside: Mapping[str, str | None], models_are: str) -> PredictionData:
    """Open a .npy array of predictions, which stays on disk, and the files of other options.

    `models_are` says whether "rows" or "columns" are models.
    """
    predictions = _open_array(repr(file), file)
    if predictions.ndim != 2:
        raise ValueError(f"{file!r} must be an array of shape (models x samples), got shape {predictions.shape}")
    if models_are == "columns":
        predictions = predictions.T
    arrays, shown = {}, {}
    for option, path in beside.items():
        if path is None:
            continue
        shown[option] = f"{option} {path!r}"
        if not path.lower().endswith(".npy"):
            raise ValueError(f"{shown[option]} must be a .npy file, as {file!r} is")
        arrays[option] = _open_array(shown[option], path)
        _check_shape(shown[option], arrays[option].shape, predictions.shape, models_are, option == "--observed")
    return PredictionData(predictions, arrays, shown, file, [])


def _open_array(shown: str, path: str) -> NDArray[Any]:
    """Open a .npy file as a memory map."""
    check_file(path)
    try:
        array = np.lib.format.open_memmap(path, mode="r")
    except OSError:
        raise
    except Exception as error:  # the header is Python source, which may be anything
        with open(path, "rb") as file:
            if file.read(2) == b"PK":
                raise ValueError(f"{shown} holds several arrays (.npz): save one as .npy") from None
        what = "it is damaged, of another kind, or holds Python objects"
        raise ValueError(f"{shown} can't be read as NumPy's .npy: {what}") from error
    if not array.size:
        raise ValueError(f"{shown} is empty, of shape {array.shape}")
    return array


def _check_shape(
    shown: str, shape: tuple[int, ...], predicted: tuple[int, ...], models_are: str, each_model: bool
) -> None:
    n_models, n_samples = predicted
    if shape == (n_samples,) or (each_model and shape == predicted):
        return
    other = "rows" if models_are == "columns" else "columns"
    hint = f"; --models-are {other} takes the other axis for models" if shape == (n_models,) else ""
    legal = f"({n_samples},)" + (f" or {predicted}" if each_model else "")
    raise ValueError(
        f"{shown} must have shape {legal} to match predictions of {n_models} models and {n_samples} samples, "
        f"got {shape}{hint}"
    )


def read_table(
    file: str, beside: Mapping[str, str | None], pred: Sequence[str] | None, form: CsvForm, *, numbers: bool
) -> PredictionData:
    """Read models' predictions, and the columns that other options name, from a CSV, Parquet or Arrow table.

    By default all other columns are predictions; with `numbers`, all other columns that hold numbers.
    """
    if not file.lower().endswith(tuple(SUFFIXES)):
        raise ValueError(f"{file!r} is of no known format: its name must end with .npy, {', '.join(SUFFIXES)}")
    wanted = columns_by_role([*beside.items(), *(("--pred", name) for name in pred or ())])
    numeric = wanted if numbers else {beside["--weight"] or ""}
    names = () if numbers else None
    left_out: list[str] = []
    if pred is not None:
        columns = read_columns(file, wanted, numeric=numeric, names=names, form=form)
    elif numbers:
        columns, left_out = read_numbers(file, wanted, form)
        for name in wanted:
            if is_text(columns[name]):
                row = first_text(columns[name]) or 0
                value, where = show(columns[name][row]), columns.line(row)
                raise ValueError(
                    f"{wanted[name]} must hold numbers, but has {value} at {where}; classes go with --loss zero-one"
                )
    else:
        columns = read_columns(file, None, numeric=numeric, names=names, beside=wanted, form=form)
    pred = [name for name in columns if name not in wanted] if pred is None else pred
    if not pred:
        what = " of numbers" if numbers else ""
        raise ValueError(f"{file!r} has no column{what} for a model's predictions besides {', '.join(wanted.values())}")
    if columns.as_written:
        called = {wanted.get(name, f"column {name!r}"): name for name in columns if name not in numeric}
        written: dict[str, Any] = {each: columns[name] for each, name in called.items()}
        columns.update({called[each]: values for each, values in class_columns(written).items()})
    given = {option: columns[name] for option, name in beside.items() if name is not None}
    shown = {option: wanted[name] for option, name in beside.items() if name is not None}
    return PredictionData({name: columns[name] for name in pred}, given, shown, file, left_out, columns.line)
