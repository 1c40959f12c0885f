"""The bootstrap: train on rows drawn with replacement, test on the rows that were not drawn."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._kernels.draws import ROW_TABLE
from fastevals._kernels.splits import draw_with_replacement
from fastevals._options import as_flag, check_integer
from fastevals._random import seed_key
from fastevals.infer.bootstrap.row_samples import row_limits
from fastevals.split.checks import check_split_units
from fastevals.split.splitters.assignments import Codes, SamplingFrame
from fastevals.split.splitters.base import SplitPlan, Splitter, set_fields


@dataclass(frozen=True, slots=True)
class BootstrapSplit(Splitter):
    """Train on n of n rows, drawn with replacement, and test on the rows that were not drawn, about 36.8 %.

    Parameters
    ----------
    n_repeats : int
        Number of replicates.
    stratified : bool
        Whether to draw from each class separately, as many rows as the class has.
    rng : None, int, sequence of int, SeedSequence, BitGenerator or Generator
        Seed, read when the splitter is made. Each call gives the same splits, even if `rng` is None.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Notes
    -----
    Training rows are repeated as often as they were drawn. With groups, whole groups are drawn, as many as there are;
    if stratified, each group must contain only one class. A replicate that leaves no test rows is drawn again; with n
    rows, this has probability n! / n^n, 1 in 2756 for ten rows.

    References
    ----------
    Efron, B. (1983), "Estimating the Error Rate of a Prediction Rule", JASA 78, 316-331, doi:10.2307/2288636.

    Examples
    --------
    >>> from fastevals import BootstrapSplit
    >>> train, test = next(BootstrapSplit(rng=1).split(range(1000)))
    >>> train.size, abs(test.size - 368) < 40
    (1000, True)
    """

    n_repeats: int = 200
    _: KW_ONLY
    stratified: bool = False
    rng: Any = field(default=None, compare=False)
    _key: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        set_fields(
            self,
            n_repeats=check_integer("n_repeats", self.n_repeats, low=1),
            stratified=as_flag("stratified", self.stratified),
            _key=int(seed_key("rng", self.rng)),
        )

    def get_n_splits(self, X: Any = None, y: Any = None, groups: ArrayLike | None = None) -> int:
        """Return the number of splits; the data are ignored."""
        return self.n_repeats

    def _plan(self, n_samples: int, y: Any, groups: Any) -> SplitPlan:
        frame = SamplingFrame.from_rows(n_samples, groups, y, stratified=self.stratified)
        check_split_units(int(frame.sizes.max()), frame.unit, 2, self._needs(frame))
        assignment = BootstrapDraw.from_frame(frame, self._key)
        return SplitPlan(frame, assignment, np.dtype(np.uint8), self.n_repeats, first=0, training="times")

    @staticmethod
    def _needs(frame: SamplingFrame) -> str:
        return "at least one class of a stratified BootstrapSplit" if frame.labels.size else "BootstrapSplit"


@dataclass(frozen=True, slots=True, eq=False)
class BootstrapDraw:
    """Draws units with replacement, as many from each stratum as it contains; draws again if no unit is left out."""

    frame: SamplingFrame
    limits: NDArray[np.uint64]  # table limits of Poisson counts, of shape (n_strata, ROW_TABLE)
    n_limits: NDArray[np.int64]  # number of limits per stratum; 0 if its units are drawn one by one
    key: int  # key of the random stream

    @classmethod
    def from_frame(cls, frame: SamplingFrame, key: int) -> BootstrapDraw:
        """Return an object that draws from a frame."""
        by_size = {size: row_limits(size) for size in set(frame.sizes.tolist())}
        by_stratum = [by_size[size] for size in frame.sizes.tolist()]
        limits = np.zeros((len(by_stratum), ROW_TABLE), dtype=np.uint64)
        for row, stratum_limits in zip(limits, by_stratum, strict=True):
            row[: stratum_limits.size] = stratum_limits
        return cls(frame, limits, np.array([each.size for each in by_stratum]), key)

    @property
    def compiles(self) -> Hashable:
        """The kernel."""
        return draw_with_replacement

    def fill(self, first: int, out: Codes) -> None:
        """Write how often each unit is drawn in consecutive replicates, starting at `first`."""
        strata = self.frame.order, self.frame.starts, self.frame.sizes
        draw_with_replacement(self.limits, self.n_limits, *strata, np.uint64(self.key), first, out)
