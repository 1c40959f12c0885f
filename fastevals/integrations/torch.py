"""A torchmetrics metric that counts predictions batch by batch and certifies AUC, average precision and others.

Importing this file imports torch and torchmetrics.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fastevals._options import UndefinedMetricWarning, check_choice, check_integer, row_at, show
from fastevals._validation.arrays import as_array, check_finite, exact_floats, refuse_devices
from fastevals.counting.ordering import FLOATS
from fastevals.integrations._packages import load
from fastevals.measure.metric_specs import MetricSpec, is_greater_better, parse_metrics
from fastevals.scale.cells import ScoreCells
from fastevals.scale.certified import Certified, CertifiedRanking
from fastevals.scale.fixed_grid import BINARY, NOTHING_SEEN, GridCounts, any_scores_grid
from fastevals.scale.grid import Flags, ScoreGrid, atoms_of_rows
from fastevals.scale.summary import RankingSummary

load("torch", "fastevals.integrations.torch")
load("torchmetrics", "fastevals.integrations.torch")

import torch  # noqa: E402
from torchmetrics import Metric  # noqa: E402
from torchmetrics.utilities.distributed import gather_all_tensors  # noqa: E402

CELLS_OF_ALL_LABELS = 2**18
STATES = "counts", "ends"
Found = Certified | list[Certified]


class CertifiedMetric(Metric):  # type: ignore[misc]
    """A torchmetrics metric that needs constant memory, adds up exactly over processes, and has certified bounds.

    Predictions are counted by class in the cells of a grid that is fixed beforehand (`any_scores_grid`), so an update
    takes the same time however many rows there are, and all processes count in the same cells however their
    predictions differ. The states are two int64 tensors: `counts`, which are added up over processes, and
    `ends`, the extreme predictions of each cell, whose maximum is taken. Processes exchange them once, in `compute`,
    and each returns the same number. `certified` returns it with bounds that always contain the exact value, and
    `summary` returns the counts, from which `fastevals.delong` computes an interval.

    Parameters
    ----------
    metrics : str, metric(...), sequence or mapping of these
        Metrics of rankings and of decisions at a threshold: "roc_auc", "average_precision", "ks_statistic",
        `metric("recall", fpr=0.01)`, `metric("f1", threshold=0.5)`. A string or `metric(...)` makes `compute` return
        one tensor; a sequence or mapping, a dict of tensors.
    n_cells : int, optional
        Approximate number of cells; by default 2**18, shared by all labels. Bounds of an AUC of probabilities or
        logits are usually at most 5 / n_cells apart. The states take about 45 bytes per cell.
    num_labels : int, optional
        Number of labels, for predictions and targets of shape (N, num_labels, ...). Each label has counts of its own.
    average : {"macro", "micro", None}
        With `num_labels`: the mean over labels (NaN if a label lacks a class), the metric of all labels' pairs of
        prediction and target together, or one number for each label.
    ignore_index : int, optional
        Target of rows that are left out, whatever their predictions; neither 0 nor 1.
    **kwargs
        Arguments of `torchmetrics.Metric`.

    Attributes
    ----------
    higher_is_better : bool or None
        Direction; None of several metrics, or of a metric without one.

    Raises
    ------
    ValueError
        If a metric can't be certified from counts, such as the log loss, or an argument is not as described.

    Examples
    --------
    >>> import torch
    >>> from fastevals.integrations.torch import CertifiedMetric
    >>> auc = CertifiedMetric("roc_auc")
    >>> auc.update(torch.tensor([0.1, 0.4, 0.4]), torch.tensor([0, 1, 1]))
    >>> auc.update(torch.tensor([0.3, 0.6, 0.5]), torch.tensor([0, 1, 0]))
    >>> auc.compute()
    tensor(0.7778)

    Notes
    -----
    Predictions are never transformed: logits give the same AUC as their probabilities, and numbers outside [0, 1] are
    not squashed. Predictions of float16 and bfloat16 are compared by their values.

    Tensors and arrays with `__dlpack__` in the memory of the CPU are read without a copy. Tensors on an accelerator
    (CUDA, MPS, XPU) are copied to the CPU, each in one call, which waits for the accelerator; the states stay on the
    CPU, also where the module is moved. NCCL sums copies of them on the GPU. Other packages' arrays on a device are
    refused: copy them to the CPU.

    `forward` returns the exact metric of the batch, or NaN, without a warning, if it is undefined. Metrics of a
    MetricCollection with equal `n_cells` and thresholds share one pair of states.

    `torch.compile` can't compile it: call it from a function that is decorated with `torch.compiler.disable`.

    Several classes are not counted: see `fastevals.scale.ClassScoresSummary` and `ScoresSummary`.
    """

    full_state_update = False
    is_differentiable = False
    counts: torch.Tensor
    ends: torch.Tensor

    def __init__(
        self,
        metrics: Any = "roc_auc",
        *,
        n_cells: int | None = None,
        num_labels: int | None = None,
        average: Literal["macro", "micro"] | None = "macro",
        ignore_index: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._specs = _checked_specs(metrics)
        self._is_one = isinstance(metrics, (str, MetricSpec))
        if num_labels is not None:
            num_labels = check_integer("num_labels", num_labels, low=2, high=2**16)
        if average is not None:
            check_choice("average", average, ("macro", "micro"))
        if ignore_index is not None and check_integer("ignore_index", ignore_index, low=-(2**63)) in (0, 1):
            raise ValueError(f"ignore_index must be neither 0 nor 1, which are classes, got {show(ignore_index)}")
        self.num_labels, self.average, self.ignore_index = num_labels, average, ignore_index
        self.n_cells = max(CELLS_OF_ALL_LABELS // (num_labels or 1), 2**12) if n_cells is None else n_cells
        self._thresholds = tuple(
            spec.options["threshold"] for spec in self._specs.values() if "threshold" in spec.options
        )
        self._found: dict[str, Found] = {}
        shape = (2, self._grid.n_cells) if num_labels is None else (num_labels, 2, self._grid.n_cells)
        self.add_state("counts", torch.zeros(shape, dtype=torch.int64), dist_reduce_fx="sum")
        self.add_state("ends", torch.full(shape, NOTHING_SEEN, dtype=torch.int64), dist_reduce_fx="max")

    @property
    def higher_is_better(self) -> bool | None:
        """Whether higher values are better; None of several metrics, or of a metric without a direction."""
        return is_greater_better(*self._specs.values()) if len(self._specs) == 1 else None

    @property
    def _grid(self) -> ScoreGrid:
        return any_scores_grid(self.n_cells, self._thresholds)

    # Counting ---------------------------------------------------------------------------------------------------------

    def update(self, preds: Any, target: Any) -> None:
        """Count a batch. If a row can't be counted, raise an error and count none of them.

        Parameters
        ----------
        preds : tensor of shape (N, ...), or (N, num_labels, ...)
            Predictions: probabilities, logits or any other finite scores.
        target : tensor of the same shape
            1 for a positive row, 0 for a negative one, or `ignore_index`.
        """
        for (scores, flags), counts in zip(self._rows(preds, target), self._counts(), strict=True):
            counts.add_flags(flags, scores)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Count a batch, and return the exact metric of the batch."""
        if self._is_synced or self.dist_sync_on_step:
            return super().forward(*args, **kwargs)
        for name in STATES:
            if _references(self.__dict__, name) > ALONE:  # a MetricCollection has given it to other metrics, too
                setattr(self, name, getattr(self, name).clone())
        self.update(*args, **kwargs)
        rows = self._rows(*args, **kwargs)
        if self.average == "micro" and self.num_labels is not None:
            rows = [tuple(np.concatenate(each) for each in zip(*rows, strict=True))]  # type: ignore[list-item]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            found = self._read([atoms_of_rows(*each) if each[0].size else ScoreCells.none() for each in rows])
        self._forward_cache = self._tensors(found)
        return self._forward_cache

    def _rows(self, preds: Any, target: Any) -> list[tuple[NDArray[Any], Flags]]:
        """Return the scores and the flags of each label's rows: contiguous if possible, checked, and flat."""
        scores, labels = _as_array("preds", preds), _as_array("target", target)
        n = self.num_labels
        if scores.shape != labels.shape:
            hint = ": several classes are not counted, see fastevals.scale.ClassScoresSummary"
            raise ValueError(
                f"preds and target must have the same shape, got {scores.shape} and {labels.shape}"
                f"{hint * (scores.ndim > labels.ndim)}"
            )
        if n is not None and (scores.ndim < 2 or scores.shape[1] != n):
            raise ValueError(f"preds must have shape (N, {n}, ...) for num_labels={n}, got {scores.shape}")
        flags = labels == 1
        known = flags | (labels == 0)
        kept = None
        if not known.all():
            kept = np.ones(labels.shape, np.bool_) if self.ignore_index is None else labels != self.ignore_index
            wrong = ~known & kept
            if wrong.any():
                place = tuple(int(each[0]) for each in np.nonzero(wrong))
                seen = f"got {show(labels[place])} at {row_at(place[0])}"
                raise ValueError(f"target must hold 0 and 1{self._or_ignored()}, {seen}")
        check_finite("preds", scores if kept is None else np.where(kept, scores, 0))
        columns = [scores, flags] if kept is None else [scores, flags, kept]
        flat = [each.reshape(1, -1) if n is None else np.moveaxis(each, 1, 0).reshape(n, -1) for each in columns]
        if kept is None:
            return list(zip(flat[0], flat[1].view(np.uint8), strict=True))
        return [(score[row], flag[row].view(np.uint8)) for score, flag, row in zip(*flat, strict=True)]

    def _or_ignored(self) -> str:
        return "" if self.ignore_index is None else f", or ignore_index={self.ignore_index}"

    def _counts(self) -> list[GridCounts]:
        """Return the counts of each label, which share the memory of the states."""
        grid = self._grid
        for name in STATES:  # a checkpoint may have put them on a GPU
            if getattr(self, name).device.type != "cpu":
                setattr(self, name, getattr(self, name).cpu())
        counts, ends = (getattr(self, name).detach().numpy().reshape(self.num_labels or 1, 2, -1) for name in STATES)
        return [GridCounts(grid, pos_label=1, arrays=arrays) for arrays in zip(counts, ends, strict=True)]

    # Reading ----------------------------------------------------------------------------------------------------------

    def compute(self) -> torch.Tensor | dict[str, torch.Tensor]:
        """Return the metric of all rows of all processes; see `certified` for its bounds."""
        counts = self._counts()
        if self.average == "micro":
            counts = [reduce(GridCounts.join, counts)]
        self._found = self._read([each.cells() for each in counts])
        return self._tensors(self._found)

    def certified(self) -> Any:
        """Return what `compute` returns with bounds that always contain the exact value; all processes must call it.

        Returns
        -------
        Certified, list of Certified or dict of these
            One for each label with `average=None`; a dict by metric for several metrics.
        """
        self.compute()
        return next(iter(self._found.values())) if self._is_one else dict(self._found)

    def summary(self) -> RankingSummary | list[RankingSummary]:
        """Return the counts of all rows, for intervals, curves and reports; all processes must call it.

        Returns
        -------
        RankingSummary or list of RankingSummary
            One for each label with `num_labels`. `fastevals.delong` takes one, as every call that takes a ranking does.
        """
        with self.sync_context(dist_sync_fn=self.dist_sync_fn, should_sync=self.sync_on_compute):
            summaries = [each.summary() for each in self._counts()]
        return summaries[0] if self.num_labels is None else summaries

    def _read(self, labels: list[ScoreCells]) -> dict[str, Found]:
        """Return all metrics of the cells of each label, or of all labels together."""
        rankings = [CertifiedRanking(cells, BINARY) for cells in labels]
        found: dict[str, Found] = {}
        for name, spec in self._specs.items():
            each = [_with_bounds(ranking.metric(spec)) for ranking in rankings]
            if self.num_labels is not None and self.average is None:
                found[name] = each
            elif len(each) == 1:
                found[name] = each[0]
            else:
                found[name] = Certified(*np.mean([[one.value, one.low, one.high] for one in each], axis=0).tolist())
        return found

    def _tensors(self, found: Mapping[str, Found]) -> torch.Tensor | dict[str, torch.Tensor]:
        values = {
            name: [one.value for one in each] if isinstance(each, list) else each.value for name, each in found.items()
        }
        tensors = {name: torch.tensor(value, device=self.device) for name, value in values.items()}
        return next(iter(tensors.values())) if self._is_one else tensors

    # Devices and processes --------------------------------------------------------------------------------------------

    def _apply(self, fn: Callable[..., Any], exclude_state: Any = "") -> Any:
        """Move everything but the states, which stay on the CPU."""
        return super()._apply(fn, exclude_state=[*exclude_state, *STATES])

    def _sync_dist(self, dist_sync_fn: Any = gather_all_tensors, process_group: Any = None) -> None:
        """Make the states count the rows of all processes: one sum and one maximum, without gathering the states."""
        if dist_sync_fn is not gather_all_tensors:
            super()._sync_dist(dist_sync_fn, process_group=process_group)
            return
        group = process_group or self.process_group
        device = "cuda" if torch.distributed.get_backend(group) == "nccl" else "cpu"
        operations = torch.distributed.ReduceOp.SUM, torch.distributed.ReduceOp.MAX
        for name, operation in zip(STATES, operations, strict=True):
            state = getattr(self, name).to(device, copy=True)
            torch.distributed.all_reduce(state, operation, group=group)
            setattr(self, name, state.cpu())


def _references(states: dict[str, Any], name: str) -> int:
    """Return the number of references to a state, including one or more of this call."""
    return sys.getrefcount(states[name])


ALONE = _references({"state": object()}, "state")  # of a state that nothing else holds


def _checked_specs(metrics: Any) -> dict[str, MetricSpec]:
    """Return the metrics by name; raise if counts of cells can't bound one."""
    specs: dict[str, MetricSpec] = {}
    keys = FLOATS.encode(np.array([0.25, 0.5, 0.75]))
    cells = CertifiedRanking(ScoreCells(keys[:2], keys[1:] - np.uint64(1), np.full((2, 2), 9)), BINARY)
    for name, spec in parse_metrics(metrics).items():
        if not isinstance(spec, MetricSpec):
            raise ValueError(f"metrics must hold names or metric(...), got {show(spec)}")
        cells.metric(spec)
        specs[name] = spec
    return specs


def _with_bounds(found: float | Certified) -> Certified:
    return found if isinstance(found, Certified) else Certified(found, found, found)


def _as_array(name: str, values: Any) -> NDArray[Any]:
    """Return a tensor, or another array, as an array of numbers in memory, without a copy if it is there."""
    if isinstance(values, torch.Tensor):
        if values.device.type == "meta":
            raise ValueError(f"{name} is on the device meta, which has no values: pass a tensor with values")
        values = values.detach().cpu().resolve_neg()
        if values.is_floating_point() and values.element_size() < 4:
            values = values.float()
        if values.layout is torch.strided and not values.is_quantized:
            values = values.numpy()
    elif hasattr(values, "__dlpack_device__"):
        refuse_devices(name, values)
    array = as_array(name, values)
    if array.dtype.kind not in "fiub":
        raise ValueError(f"{name} must hold numbers, got dtype {array.dtype}")
    return exact_floats(name, array)
