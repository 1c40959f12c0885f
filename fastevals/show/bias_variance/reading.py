"""Predictions of many models, and what goes with them, from arrays or from a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastevals.show.columns import SUFFIXES, check_file, columns_by_role, first_text, read_columns, read_numbers
from fastevals.show.commands import CsvForm


class PredictionData(NamedTuple):
    """What is decomposed.

    Attributes
    ----------
    predictions : ndarray of shape (n_models, n_samples), or mapping of str to ndarray
        Of each model.
    beside : dict of str to ndarray
        By option, those that are given: --truth, --observed, --weight.
    shown : dict of str to str
        What messages call these.
    file : str
        Of the predictions.
    left_out : list of str
        Columns of a table that have no part in it.
    line : function of int
        What messages call a row.
    """

    predictions: NDArray[Any] | dict[str, NDArray[Any]]
    beside: dict[str, NDArray[Any]]
    shown: dict[str, str]
    file: str
    left_out: list[str]
    line: Callable[[int], str] = "row {}".format

    @property
    def names(self) -> list[str] | None:
        """Names of the models, if they have some."""
        return list(self.predictions) if isinstance(self.predictions, dict) else None

    def models(self) -> dict[str, NDArray[Any]]:
        """Return each model's predictions by what messages call it."""
        if isinstance(self.predictions, dict):
            return {f"column {name!r}": column for name, column in self.predictions.items()}
        return numbered(repr(self.file), self.predictions)

    def observations(self) -> dict[str, NDArray[Any]]:
        """Return what was observed, with each model or once for all, by what messages call it."""
        if "--observed" not in self.beside:
            return {}
        observed, shown = self.beside["--observed"], self.shown["--observed"]
        return {shown: observed} if observed.ndim == 1 else numbered(shown, observed)


def numbered(what: str, rows: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """Return rows by what messages call the models they are of."""
    return {f"model {k} of {what}": row for k, row in enumerate(rows)}


def read_arrays(file: str, beside: Mapping[str, str | None], models_are: str) -> PredictionData:
    """Open a .npy array of predictions, which stays on disk, and read those beside it.

    Parameters
    ----------
    file : str
        Of the predictions.
    beside : mapping of str to str or None
        Files by option.
    models_are : {"rows", "columns"}
        Which axis the models are.

    Raises
    ------
    ValueError
        If a file is no array of the right shape.
    OSError
        If a file can't be read.
    """
    predictions = _array(repr(file), file)
    if predictions.ndim != 2:
        raise ValueError(f"{file!r} must be an array of shape (models x samples), got shape {predictions.shape}")
    if models_are == "columns":
        predictions = predictions.T
    found, shown = {}, {}
    for option, path in beside.items():
        if path is None:
            continue
        shown[option] = f"{option} {path!r}"
        if not path.lower().endswith(".npy"):
            raise ValueError(f"{shown[option]} must be a .npy file, as {file!r} is")
        found[option] = _array(shown[option], path)
        _check_shape(shown[option], found[option].shape, predictions.shape, models_are, option == "--observed")
    return PredictionData(predictions, found, shown, file, [])


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
        f"{shown} must have shape {legal} beside predictions of {n_models} models and {n_samples} samples, "
        f"got {shape}{hint}"
    )


def _array(shown: str, path: str) -> NDArray[Any]:
    """Open a .npy file as a memory map."""
    check_file(Path(path))
    try:
        array = np.lib.format.open_memmap(path, mode="r")
    except (ValueError, EOFError, TypeError, OverflowError) as error:  # the header may say anything
        with open(path, "rb") as file:
            if file.read(2) == b"PK":
                raise ValueError(f"{shown} holds several arrays (.npz): save one as .npy") from None
        what = "it is damaged, of another kind, or holds Python objects"
        raise ValueError(f"{shown} can't be read as NumPy's .npy: {what}") from error
    if not array.size:
        raise ValueError(f"{shown} is empty, of shape {array.shape}")
    return array


def read_table(
    file: str, beside: Mapping[str, str | None], pred: Sequence[str] | None, form: CsvForm, *, numbers: bool
) -> PredictionData:
    """Read a table, whose columns are models' predictions and what goes with them.

    Parameters
    ----------
    file : str
        CSV, Parquet or Arrow.
    beside : mapping of str to str or None
        Columns by option.
    pred : sequence of str, optional
        Columns of predictions; by default all others, if `numbers` those that hold some.
    form : CsvForm
        What is known of a CSV file.
    numbers : bool
        Whether predictions are numbers.

    Raises
    ------
    ValueError
        If a column is missing, given twice or has missing values, or there is none of predictions; if the file is of no
        known format.
    """
    if not file.lower().endswith(tuple(SUFFIXES)):
        raise ValueError(f"{file!r} is of no known format: its name must end with .npy, {', '.join(SUFFIXES)}")
    wanted = columns_by_role([*beside.items(), *(("--pred", name) for name in pred or ())])
    numeric = wanted if numbers else {beside["--weight"] or ""}
    if pred is None:
        columns, left_out = (
            read_numbers(file, wanted, form) if numbers else (read_columns(file, None, beside=wanted, form=form), [])
        )
        pred = [name for name in columns if name not in wanted]
        for name in wanted:
            if name in numeric and columns[name].dtype.kind == "O":
                hint = "; classes go with --loss zero-one" if numbers else ""
                row = first_text(columns[name])
                value, where = columns[name][row], columns.line(row)
                raise ValueError(f"{wanted[name]} must hold numbers, but has {value!r} at {where}{hint}")
    else:
        left_out = []
        columns = read_columns(file, wanted, numeric=list(numeric), form=form)
    if not pred:
        what = " of numbers" if numbers else ""
        raise ValueError(f"{file!r} has no column{what} for a model's predictions beside {', '.join(wanted.values())}")
    given = {option: columns[name] for option, name in beside.items() if name is not None}
    shown = {option: wanted[name] for option, name in beside.items() if name is not None}
    return PredictionData({name: columns[name] for name in pred}, given, shown, file, left_out, columns.line)
