"""Two calls are checked to agree, warmed up, and timed in turns."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from statistics import median
from typing import Any

from benches.bias_variance import BIAS_VARIANCE
from benches.classes import CLASSES
from benches.data import Data, can_make
from benches.drop_in import DROP_IN
from benches.engines import ENGINES
from benches.estimates import ESTIMATES
from benches.figures import Figure
from benches.labels import LABEL_CASES
from benches.many import MANY
from benches.peers import COMPARISONS, YARDSTICKS, Call, assert_agree
from benches.processes import PROCESSES
from benches.queries import QUERIES
from benches.resampling import RESAMPLING
from benches.scale import SCALE
from benches.significance import SIGNIFICANCE
from benches.splits import SPLITS

CASES = (
    COMPARISONS | RESAMPLING | SIGNIFICANCE | SPLITS | ESTIMATES | BIAS_VARIANCE | DROP_IN | MANY | LABEL_CASES
    | CLASSES | QUERIES | PROCESSES | SCALE | ENGINES
)  # fmt: skip
LARGE = os.environ.get("FASTEVALS_BENCH_LARGE") == "1"
SECONDS = 15.0  # per figure, about
FEWEST, MOST = 3, 31  # rounds


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a figure.

    Attributes
    ----------
    ours, theirs : float
        Median over the rounds, in seconds (bytes per row for memory); `theirs` is None without a peer.
    value : float
        Median over the rounds of ours / theirs, timed one after the other; without a peer, `ours`.
    bar : float
        Upper bound of `value`; None if there is no bar.
    met : bool
        Whether `value` meets the bar; None if there is no bar.
    rounds, threads : int
        Number of rounds, and of fastevals' threads.
    """

    ours: float
    theirs: float | None
    value: float
    bar: float | None
    met: bool | None
    rounds: int
    threads: int

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dict."""
        return asdict(self)


def can_run(figure: Figure) -> bool:
    """Return whether this machine has the libraries that the figure needs, and the run has time for it."""
    libraries = CASES[figure.case]
    sides = "fastevals" in libraries and (figure.peer is None or figure.peer in libraries | YARDSTICKS)
    return sides and can_make(figure.kind) and (LARGE or not figure.is_large)


@lru_cache(maxsize=1)
def data_of(rows: int, kind: str = "") -> Data:
    """Return the data, kept while consecutive figures have the same size and kind."""
    return Data(rows, kind)


@lru_cache(maxsize=1)
def _expected(case: str, library: str, data: Data) -> Any:
    return CASES[case][library](data)()


def checked_sides(figure: Figure, scale: float) -> tuple[Call, Call | None]:
    """Set both sides up; raise unless ours agrees with the peer or, if that is a yardstick, with any library.

    In figures of memory the sides return bytes, which are not compared.
    """
    data = data_of(max(int(figure.rows * scale), min(figure.rows, 1000)), figure.kind)
    entries = CASES[figure.case]
    ours = entries["fastevals"](data)
    theirs = (entries | YARDSTICKS)[figure.peer](data) if figure.peer else None
    others = [library for library in entries if library != "fastevals"]
    if others and figure.unit != "B/row":
        library = figure.peer if figure.peer in others else others[0]
        assert_agree(ours(), _expected(figure.case, library, data), library)
    return ours, theirs


def measured(figure: Figure, call: Call, data_rows: float) -> float:
    """Return the seconds that a call takes, or the bytes per row that it returns."""
    return timed(call) if figure.unit != "B/row" else call() / data_rows


def timed(call: Call) -> float:
    """Return the seconds that a call takes; its result is freed afterwards."""
    start = time.perf_counter()
    result = call()
    seconds = time.perf_counter() - start
    del result
    return seconds


def warm_up(ours: Call, theirs: Call | None) -> int:
    """Call both sides once and return the number of rounds; without a peer call nothing: ours may have to be cold."""
    if theirs is None:
        return FEWEST
    return max(FEWEST, min(MOST, int(SECONDS / (timed(ours) + timed(theirs)))))


def judged(figure: Figure, ours: Sequence[float], theirs: Sequence[float], threads: int) -> Result:
    """Return the result of the rounds."""
    theirs = [figure.times * other for other in theirs]
    ratios = [mine / other for mine, other in zip(ours, theirs, strict=True)] if theirs else ours
    value, bar = median(ratios), figure.limit
    met = None if bar is None else value <= bar
    return Result(median(ours), median(theirs) if theirs else None, value, bar, met, len(ours), threads)
