"""Summaries of scores in groups, for the exact AUC of each user, query or site."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._kernels.cells import join_cells
from fastevals._options import check_choice, check_integer, named_by_base, show
from fastevals._validation.arrays import EXACT_INTEGER, check_same_length, refuse_weighted, text_array
from fastevals._validation.labels import Classes, as_groups, both_classes
from fastevals._validation.text import is_text, unique_inverse
from fastevals.counting.ordering import FLOATS, count_by_score
from fastevals.counts import check_total
from fastevals.many.group_values import GroupValues
from fastevals.many.groups import GroupedMetric, group_results
from fastevals.measure.ranking.ranking import Ranking
from fastevals.results import check_confidence_level
from fastevals.scale.fields import Fields
from fastevals.scale.payload import Summary, weighted_head
from fastevals.scale.summary import joint_labels, read_rows

MergedInterval = Literal[None, "delong"]
SHARDS = 64  # parts that groups are divided into; a merge needs extra memory for only one
SHORT_ROWS = 2**31  # counts of fewer rows are kept in 32 bits
BETWEEN = b"\xff"  # separates names; UTF-8 never contains this byte
NAME = 64  # bytes of a name as a Python object
WAITING = 1 << 20  # rows wait until there are this many, and are then merged


class GroupSummary(Summary):
    """Summary of any number of rows in small groups: AUC by group, with DeLong's intervals, and the mean AUC.

    For each group it keeps every distinct score with its number of rows in each class, at 20 bytes per score. Results
    are exact, and do not depend on the order of rows or their division into parts.

    Parameters
    ----------
    pos_label : label, optional
        The positive class: by default 1 for labels 0/1, -1/1 and booleans; required for other labels.
    most_scores : int
        Largest total number of distinct scores over all groups; more raise an error. A score takes at most 60 bytes
        during a merge. The default of 20 million, enough for a million groups of 20 rows, takes at most 1.2 GB.

    Examples
    --------
    >>> from fastevals.scale import GroupSummary
    >>> summary = GroupSummary()
    >>> summary.update([0, 1, 1], [0.1, 0.8, 0.3], ["b", "b", "b"])
    >>> summary.update([0, 1, 0], [0.4, 0.2, 0.3], ["a", "a", "a"])
    >>> summary.auc()["b"], summary.auc().mean
    (1.0, 0.5)
    """

    KIND = "group"

    __slots__ = ("_labels", "_most", "_names", "_numbers", "_shards", "_waiting", "is_weighted")

    def __init__(self, *, pos_label: Any = None, most_scores: int = 20_000_000) -> None:
        self._labels: tuple[Any, Any] = (pos_label, None)
        self.is_weighted = False  # whether rows have weights, of which only sums are known
        self._most = check_integer("most_scores", most_scores, low=1)
        self._names, self._numbers = _Names.none()  # names of groups, ascending, and their numbers in order of arrival
        self._shards = [_Atoms.none() for _ in range(SHARDS)]
        self._waiting: list[_Atoms] = []

    def update(
        self,
        y_true: ArrayLike,
        y_score: ArrayLike,
        groups: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        frequency_weight: ArrayLike | None = None,
    ) -> None:
        """Count more rows. If a row can't be counted, raise an error and count none of them.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels of the same two classes in all updates.
        y_score : array-like of shape (n_samples,)
            Finite scores that float64 can hold exactly.
        groups : array-like of shape (n_samples,)
            The group of each row: numbers in all updates, or text in all updates.
        sample_weight : array-like of shape (n_samples,), optional
            Row weights: non-negative integers. Intervals are not available for weighted rows.
        frequency_weight : array-like of shape (n_samples,), optional
            Number of copies of each row: integers. A row with n copies counts like n equal rows. Not allowed with
            `sample_weight`.

        Raises
        ------
        ValueError
            If an argument is not as described, or there are more scores than `most_scores`.
        """
        read = read_rows(self._labels, y_true, y_score, sample_weight, None, frequency_weight, groups=groups)
        if read is None:
            return
        labels, flags, scores, units = read
        names, codes = unique_inverse(as_groups("groups", groups))
        check_same_length(y_score=scores, groups=codes)
        before, names = self._alike(as_names(names))
        times = np.ones(flags.size, dtype=np.int64) if units is None else units.counts
        kept = times > 0
        known = _Names(before, self._numbers).with_more(names)
        numbers = known.numbers_of(names)
        counts = np.zeros((flags.size, 2), dtype=np.int64)
        counts[np.arange(flags.size), flags] = times
        atoms = _Atoms(
            numbers[codes][kept], FLOATS.encode(scores.astype(np.float64) + 0.0)[kept], counts[kept]
        ).joined()
        n_scores = sum(each.size for each in (*self._shards, *self._waiting)) + atoms.size
        if n_scores > self._most:  # unless some are equal
            shards = self._joined_shards(self._shards, [*self._waiting, atoms])
            self._check_size(shards)
            self._shards, self._waiting, atoms = shards, [], _Atoms.none()
        self._labels = labels
        self.is_weighted = self.is_weighted or (units is not None and units.are_weights)
        self._names, self._numbers = known
        self._waiting.append(atoms)
        if sum(each.size for each in self._waiting) >= max(WAITING, sum(each.size for each in self._shards) // 5):
            self._consolidate()

    def _alike(self, names: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the names of known and new groups, in one type that holds both exactly."""
        own = self._names
        if not own.size or own.dtype.kind == names.dtype.kind or (is_text(own) and is_text(names)):
            return own, names
        if is_text(own) or is_text(names):
            raise ValueError(f"groups must be like {show(own[0])}, as before, got {show(names[0])}")
        for whole in (each for each in (own, names) if each.dtype.kind == "i"):
            largest = max(int(whole[0]), int(whole[-1]), key=abs)
            if abs(largest) > EXACT_INTEGER:
                raise ValueError(f"groups must be at most 2**53 where some have a fraction, got {largest}")
        return own.astype(np.float64), names.astype(np.float64)

    def _consolidate(self) -> None:
        """Merge the waiting atoms."""
        parts, self._waiting = [part.of_shards() for part in self._waiting], []
        for k in range(SHARDS):
            for part in parts:
                self._shards[k] = self._shards[k].merged(part[k])

    def _joined_shards(self, shards: list[_Atoms], parts: list[_Atoms]) -> list[_Atoms]:
        """Merge more atoms into the shards, one shard after another, so that little is in memory twice."""
        of_parts = [part.of_shards() for part in parts]
        joined = []
        for k in range(SHARDS):
            shard = shards[k]
            for part in of_parts:
                shard = shard.merged(part[k])
            joined.append(shard)
        return joined

    def _check_size(self, shards: list[_Atoms]) -> None:
        n_scores = sum(each.size for each in shards)
        if n_scores > self._most:
            raise ValueError(f"groups must have at most most_scores = {self._most} distinct scores, got {n_scores}")

    # Reading ----------------------------------------------------------------------------------------------------------

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return self._names.size

    def __repr__(self) -> str:
        return f"GroupSummary({self.n_groups} groups)"

    def auc(self, *, interval: MergedInterval = None, confidence_level: float = 0.95) -> GroupedMetric:
        """Return the AUC of each group, like `fastevals.grouped_auc` on all rows.

        Parameters
        ----------
        interval : {None, "delong"}
            Whether to compute DeLong's intervals for the groups' AUCs and their mean; not available for weighted rows.
        confidence_level : float in (0, 1)
            Level of the intervals.

        Returns
        -------
        GroupedMetric
            The groups are in ascending order.
        """
        check_choice("interval", interval, MergedInterval)
        if interval is not None and self.is_weighted:
            refuse_weighted("the summary", self)
        _, alpha = check_confidence_level(confidence_level)
        self._consolidate()
        n = self.n_groups
        totals, aucs, variances = np.zeros((n, 2), dtype=np.int64), np.full(n, np.nan), np.full(n, np.nan)
        for shard in self._shards:
            if shard.size:
                shard.measure(totals, aucs, variances)
        order = self._numbers
        totals, aucs, variances = totals[order], aucs[order], variances[order]
        sizes = totals.sum(axis=1)
        weights = sizes.astype(np.float64)
        known = None if interval is None else variances
        found = GroupValues(self._names, [aucs], sizes, weights, totals[:, 1], totals[:, 0], known)
        positive = 1 if self._labels[0] is None else self._labels[0]
        return group_results(["roc_auc"], found, alpha=alpha, pos_label=positive)["roc_auc"]

    def rankings(self) -> Mapping[Any, Ranking]:
        """Return a mapping from groups, in ascending order, to rankings; each is made when it is looked up."""
        self._consolidate()
        positive, negative = self._labels
        positive = 1 if positive is None else positive
        classes = Classes(both_classes(positive, negative), positive)
        return _Rankings(self._names, self._numbers, self._shards, classes, self.is_weighted)

    # Merging and storing ----------------------------------------------------------------------------------------------

    def _merged(self, others: Sequence[GroupSummary]) -> GroupSummary:
        merged = GroupSummary(most_scores=max(each._most for each in (self, *others)))
        merged._labels = self._labels
        for other in (self, *others):
            merged._labels = joint_labels(merged._labels, other._labels)
            merged.is_weighted = merged.is_weighted or other.is_weighted
            if not other._names.size:
                continue
            before, names = merged._alike(other._names)
            known = _Names(before, merged._numbers).with_more(names)
            numbers = np.empty(names.size, dtype=np.int32)
            numbers[other._numbers] = known.numbers_of(names)
            merged._names, merged._numbers = known
            for part in (*other._shards, *other._waiting):
                if part.size:  # groups have other numbers in the result, and so another order
                    merged._waiting.append(_Atoms(numbers[part.groups], part.keys, part.counts).joined())
        merged._consolidate()
        merged._check_size(merged._shards)
        return merged

    def _payload(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        self._consolidate()
        atoms = _Atoms.concatenated(self._shards)
        text = is_text(self._names)
        head: dict[str, Any] = {"labels": list(self._labels), "most": self._most, "text": text}
        head |= weighted_head(self.is_weighted)
        if text:
            packed = BETWEEN.join(name.encode(errors="surrogatepass") for name in self._names.tolist())
            head["size"], head["n"] = len(packed), self._names.size
            stored = np.frombuffer(packed + bytes(-len(packed) % 8), np.uint64)
        else:
            head["dtype"] = "i8" if self._names.dtype.kind == "i" else "f8"
            stored = self._names.view(np.uint64)
        negatives, positives = atoms.counts.T
        return head, {
            "names": stored,
            "numbers": self._numbers.astype(np.uint64),
            "groups": atoms.groups.astype(np.uint64),
            "keys": atoms.keys,
            "negatives": np.ascontiguousarray(negatives).astype(np.uint64),
            "positives": np.ascontiguousarray(positives).astype(np.uint64),
        }

    @classmethod
    def _from_payload(cls, fields: Fields) -> Self:
        """Check every field that was read, and build the summary."""
        summary = cls(most_scores=fields.integer("most", 1))
        summary._labels, summary.is_weighted = fields.labels(), fields.is_weighted()
        names = _text_names(fields) if fields.flag("text") else _number_names(fields)
        if (names[1:] <= names[:-1]).any():
            raise ValueError("its groups are not in order")
        numbers = fields.counts("numbers", names.size, high=max(names.size - 1, 0))
        if np.bincount(numbers, minlength=names.size).max(initial=0) > 1:
            raise ValueError("its groups must have different numbers")
        groups = fields.counts("groups", high=max(names.size - 1, 0))
        keys = fields.keys("keys", groups.size)
        counts = np.stack([fields.counts(name, groups.size) for name in ("negatives", "positives")], axis=1)
        if not counts.any(axis=1).all() or (groups.size and not names.size):
            raise ValueError("its scores must have rows and a group")
        check_total("its rows", counts.sum(dtype=np.float64))
        atoms = _Atoms(groups, keys, counts).joined()
        if atoms.size > summary._most:
            raise ValueError(f"its scores must be at most {summary._most}, got {atoms.size}")
        summary._names, summary._numbers = names.copy(), numbers.astype(np.int32)
        summary._waiting = [atoms]
        summary._consolidate()
        return summary


def _text_names(fields: Fields) -> NDArray[Any]:
    """Read group names that are text."""
    n, packed = fields.integer("n"), fields.content("names", fields.integer("size"))
    if (packed.count(BETWEEN) + 1 if n else len(packed)) != n:
        raise ValueError(f"names must be {n}, got {packed.count(BETWEEN) + 1}")
    fields.room.take(NAME * n)
    try:
        return text_array([part.decode(errors="surrogatepass") for part in (packed.split(BETWEEN) if n else [])])
    except UnicodeError:
        raise ValueError("names must be UTF-8") from None


def _number_names(fields: Fields) -> NDArray[Any]:
    """Read group names that are numbers."""
    if fields.item("dtype", "'i8' or 'f8'", lambda value: value in ("i8", "f8")) == "i8":
        return fields.array("names").view(np.int64)
    return fields.floats("names")


def as_names(groups: NDArray[Any]) -> NDArray[Any]:
    """Return distinct ascending groups as text, 64-bit integers or floats."""
    if groups.dtype.kind == "u" and groups[-1] >= 2**63:
        raise ValueError(f"groups must fit 64-bit signed integers, got {groups[-1]}")
    if is_text(groups):
        return groups
    return groups.astype(np.float64 if groups.dtype.kind == "f" else np.int64) + 0  # no -0.0


@named_by_base
class _Rankings(Mapping[Any, Ranking]):
    """The rankings of groups, each made when it is looked up."""

    def __init__(
        self,
        names: NDArray[Any],
        numbers: NDArray[np.int32],
        shards: Sequence[_Atoms],
        classes: Classes,
        are_weighted: bool,
    ) -> None:
        self._names, self._numbers, self._shards, self._classes = names, numbers, list(shards), classes
        self._are_weighted = are_weighted

    def __len__(self) -> int:
        return self._names.size

    def __iter__(self) -> Iterator[Any]:
        return iter(self._names.tolist())

    def __getitem__(self, group: Any) -> Ranking:
        place = int(np.searchsorted(self._names, group)) if self._is_alike(group) else self._names.size
        if place == self._names.size or self._names[place] != group:
            raise KeyError(group)
        number = int(self._numbers[place])
        shard = self._shards[number % SHARDS]
        rows = slice(*np.searchsorted(shard.groups, [number, number + 1]))
        negatives, positives = shard.counts[rows].astype(np.int64).T
        counts = count_by_score(FLOATS.decode(shard.keys[rows]), positives, negatives)
        counts = counts.in_weight() if self._are_weighted else counts
        return Ranking._of_classes(counts, self._classes)

    def _is_alike(self, group: Any) -> bool:
        return isinstance(group, str) == is_text(self._names)

    def __repr__(self) -> str:
        return f"rankings of {len(self)} groups"


class _Names(NamedTuple):
    """Names of groups, ascending, and the number that stands for each name."""

    names: NDArray[Any]
    numbers: NDArray[np.int32]

    @classmethod
    def none(cls) -> _Names:
        return cls(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int32))

    def with_more(self, names: NDArray[Any]) -> _Names:
        """Return these names and the new names among ascending `names`; the new names get the next numbers."""
        if not self.names.size:
            return _Names(names, np.arange(names.size, dtype=np.int32))
        new = names[self.names[np.minimum(np.searchsorted(self.names, names), self.names.size - 1)] != names]
        if not new.size:
            return self
        joined = np.concatenate((self.names, new))
        numbers = np.concatenate((self.numbers, self.names.size + np.arange(new.size, dtype=np.int32)))
        order = np.argsort(joined, kind="stable")
        return _Names(joined[order], numbers[order])

    def numbers_of(self, names: NDArray[Any]) -> NDArray[np.int32]:
        """Return the number that stands for each of `names`; all names must be known."""
        return self.numbers[np.searchsorted(self.names, names)]


class _Atoms:
    """Distinct scores of groups, with the numbers of negative and positive rows at each score."""

    __slots__ = ("counts", "groups", "keys")

    def __init__(self, groups: NDArray[Any], keys: NDArray[np.uint64], counts: NDArray[Any]) -> None:
        self.groups, self.keys, self.counts = groups, keys, counts

    @classmethod
    def none(cls) -> _Atoms:
        return cls(np.empty(0, np.int64), np.empty(0, np.uint64), np.empty((0, 2), np.int64))

    @classmethod
    def concatenated(cls, parts: Sequence[_Atoms]) -> _Atoms:
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in ("groups", "keys", "counts")))

    @property
    def size(self) -> int:
        return self.keys.size

    @property
    def order(self) -> NDArray[np.int64]:
        """A sort key for each atom: by shard, and within a shard by group."""
        groups = self.groups.astype(np.int64)
        return ((groups % SHARDS) << 32) | groups

    def of_shards(self) -> list[_Atoms]:
        """Divide sorted atoms into shards."""
        edges = np.searchsorted(self.groups % SHARDS, np.arange(SHARDS + 1))
        rows = [slice(start, stop) for start, stop in pairwise(edges.tolist())]
        return [_Atoms(self.groups[part], self.keys[part], self.counts[part]) for part in rows]

    def merged(self, other: _Atoms) -> _Atoms:
        """Merge two sorted sets of atoms, adding up equal atoms."""
        if not other.size or not self.size:
            return self if self.size else other
        most = self.size + other.size
        groups, keys, counts = np.empty(most, np.uint64), np.empty(most, np.uint64), np.empty((most, 2), np.int64)
        both = [
            array for each in (self, other)
            for array in (each.groups.astype(np.uint64), each.keys, each.counts.astype(np.int64))
        ]  # fmt: skip
        n = join_cells(*both, groups, keys, counts)
        return _Atoms(groups[:n], keys[:n].copy(), counts[:n]).short()

    def short(self) -> _Atoms:
        """Return the same atoms in the smallest types that hold them."""
        kind = np.int32 if self.counts.max(initial=0) < SHORT_ROWS else np.int64
        return _Atoms(self.groups.astype(np.int32), self.keys, self.counts.astype(kind))

    def joined(self) -> _Atoms:
        """Sort the atoms and add up equal atoms."""
        order = np.lexsort((self.keys, self.order))
        groups, keys, counts = self.groups[order], self.keys[order], self.counts[order]
        new = np.append(True, (groups[1:] != groups[:-1]) | (keys[1:] != keys[:-1]))[: keys.size]
        first = np.flatnonzero(new)
        if first.size < keys.size:
            groups, keys = groups[first], keys[first]
            counts = np.add.reduceat(counts, first, axis=0, dtype=np.int64)
        return _Atoms(groups, keys, counts).short()

    def measure(self, totals: NDArray[np.int64], aucs: NDArray[Any], variances: NDArray[Any]) -> None:
        """Write each group's numbers of rows, AUC and DeLong variance into the given arrays."""
        first = np.flatnonzero(np.append(True, self.groups[1:] != self.groups[:-1]))
        numbers = self.groups[first]
        sums = np.add.reduceat(self.counts, first, axis=0, dtype=np.int64)
        totals[numbers] = sums
        lengths = np.diff(first, append=self.size)
        kind = np.int64 if sums.max() < SHORT_ROWS else np.float64  # type for numbers of pairs
        before = np.cumsum(self.counts, axis=0, dtype=np.int64) - self.counts
        below = (before - np.repeat(before[first], lengths, axis=0)).astype(kind)
        total = np.repeat(sums, lengths, axis=0)
        negatives, positives = self.counts.astype(kind).T
        placed = 2 * below[:, 0] + negatives  # twice the negatives below each positive, with ties counted as half
        placed_negatives = 2 * (total[:, 1] - below[:, 1]) - positives  # twice the positives above each negative
        wins = np.add.reduceat(placed * positives, first)
        n_neg, n_pos = sums.T.astype(np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            found = wins / (2 * n_neg * n_pos)
            spread = []
            for place, rows, own, other in (
                (placed, positives, n_pos, n_neg), (placed_negatives, negatives, n_neg, n_pos)
            ):  # fmt: skip
                deviation = place / np.repeat(2 * other, lengths) - np.repeat(found, lengths)
                spread.append(np.add.reduceat(rows * deviation**2, first) / ((own - 1) * own))
            variance = spread[0] + spread[1]
        aucs[numbers] = np.where((n_neg > 0) & (n_pos > 0), found, np.nan)
        variances[numbers] = np.where((n_neg > 1) & (n_pos > 1), variance, np.nan)
