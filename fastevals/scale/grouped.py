"""Summaries of scores in groups: the AUC of each user, query or site, exact."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastevals._options import check_choice, check_integer, show
from fastevals._validation.arrays import check_same_length
from fastevals._validation.labels import as_groups
from fastevals._validation.text import unique_inverse
from fastevals.counting.ordering import FLOATS
from fastevals.many.groups import GroupedMetric, delong_intervals, mean_over_groups, warn_undefined_groups
from fastevals.results import check_confidence_level
from fastevals.scale.payload import Summary
from fastevals.scale.summary import joint_labels, read_rows

ATOM_BYTES = 60  # of each distinct score of a group, while groups are merged: 20 are kept
SHARDS = 64  # of groups: what a merge takes beside is for one of them
SHORT = 2**31  # rows, below which they are kept in 32 bits
WAITING = 1 << 20  # rows that wait, at least, before they are merged


class GroupSummary(Summary):
    """Rows of any number in groups of few: AUC by group, with DeLong's intervals, and their mean.

    Of each group every distinct score is kept, with the rows of each class: 20 bytes each. All is exact, and the same
    in whatever order rows come, and however they are parted.

    Parameters
    ----------
    pos_label : label, optional
        The positive class; 1 among 0/1, -1/1 and booleans, and must be given for other labels.
    most_scores : int
        Distinct scores of all groups together, of which more are an error: each takes 60 bytes at most while they are
        merged. By default 20 million: 1 GB at most, for a million groups of 20 rows.

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

    __slots__ = ("_groups", "_labels", "_most", "_shards", "_waiting")

    def __init__(self, *, pos_label: Any = None, most_scores: int = 20_000_000) -> None:
        self._labels: tuple[Any, Any] = (pos_label, None)
        self._most = check_integer("most_scores", most_scores, low=1)
        self._groups: dict[Any, int] = {}  # numbers in the order in which they came
        self._shards = [_Atoms.none() for _ in range(SHARDS)]
        self._waiting: list[_Atoms] = []

    def update(
        self, y_true: ArrayLike, y_score: ArrayLike, groups: ArrayLike, *, sample_weight: ArrayLike | None = None
    ) -> None:
        """Count more rows. One that can't be counted raises an error, and none of them is.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels of the two classes of all updates.
        y_score : array-like of shape (n_samples,)
            Finite scores that float64 holds exactly.
        groups : array-like of shape (n_samples,)
            Which group each row is of: numbers, or text, in all updates.
        sample_weight : array-like of shape (n_samples,), optional
            Row weights: whole numbers, not negative.

        Raises
        ------
        ValueError
            If an argument is not as described, or there are more scores than `most_scores`.
        """
        read = read_rows(self._labels, y_true, y_score, sample_weight, None)
        if read is None:
            return
        labels, flags, scores, units = read
        names, codes = unique_inverse(as_groups("groups", groups))
        check_same_length(y_score=scores, groups=codes)
        keys = list(names.tolist())
        first = next(iter(self._groups), None)
        if first is not None and isinstance(first, str) != isinstance(keys[0], str):
            raise ValueError(f"groups must be like {show(first)}, as before, got {show(keys[0])}")
        times = np.ones(flags.size, dtype=np.int64) if units is None else units
        kept = times > 0
        known = {key: self._groups.get(key, -1) for key in keys}
        added = [key for key, number in known.items() if number < 0]
        fresh = dict(zip(added, range(len(self._groups), len(self._groups) + len(added)), strict=True))
        numbers = np.array([fresh.get(key, known[key]) for key in keys], dtype=np.int64)
        counts = np.zeros((flags.size, 2), dtype=np.int64)
        counts[np.arange(flags.size), flags] = times
        atoms = _Atoms(
            numbers[codes][kept], FLOATS.encode(scores.astype(np.float64) + 0.0)[kept], counts[kept]
        ).joined()
        n_scores = sum(each.size for each in (*self._shards, *self._waiting)) + atoms.size
        if n_scores > self._most:  # unless some are the same
            shards = self._joined_shards([*self._waiting, atoms])
            self._check_size(shards)
            self._shards, self._waiting, atoms = shards, [], _Atoms.none()
        self._labels = labels
        self._groups.update(fresh)
        self._waiting.append(atoms)
        if sum(each.size for each in self._waiting) >= max(WAITING, sum(each.size for each in self._shards) // 5):
            self._consolidate()

    def _consolidate(self) -> None:
        """Merge what waits."""
        self._shards, self._waiting = self._joined_shards(self._waiting), []

    def _joined_shards(self, parts: list[_Atoms]) -> list[_Atoms]:
        """Return the shards with more atoms: one shard after the other, so that little is held twice."""
        return [
            _Atoms.concatenated([shard, *(part.of_shard(k) for part in parts)]).joined()
            for k, shard in enumerate(self._shards)
        ]

    def _check_size(self, shards: list[_Atoms]) -> None:
        n_scores = sum(each.size for each in shards)
        if n_scores > self._most:
            raise ValueError(f"groups must have at most most_scores = {self._most} distinct scores, got {n_scores}")

    # Reading ----------------------------------------------------------------------------------------------------------

    @property
    def n_groups(self) -> int:
        """Groups."""
        return len(self._groups)

    def __repr__(self) -> str:
        return f"GroupSummary({self.n_groups} groups)"

    def auc(self, *, interval: str | None = None, confidence_level: float = 0.95) -> GroupedMetric:
        """Return the AUC of each group, as `fastevals.grouped_auc` of all rows.

        Parameters
        ----------
        interval : {None, "delong"}
            DeLong's intervals of the groups, and of their mean.
        confidence_level : float in (0, 1)
            Of the intervals.

        Returns
        -------
        GroupedMetric
            Groups in ascending order.
        """
        check_choice("interval", interval, (None, "delong"))
        _, alpha = check_confidence_level(confidence_level)
        self._consolidate()
        n = self.n_groups
        totals, aucs, variances = np.zeros((n, 2), dtype=np.int64), np.full(n, np.nan), np.full(n, np.nan)
        for shard in self._shards:
            if shard.size:
                shard.measure(totals, aucs, variances)
        names = np.array(list(self._groups))
        order = np.argsort(names, kind="stable") if n else np.empty(0, dtype=np.intp)
        totals, aucs, variances = totals[order], aucs[order], variances[order]
        sizes = totals.sum(axis=1)
        warn_undefined_groups("roc_auc", aucs)
        intervals = {} if interval is None else delong_intervals(aucs, variances, sizes.astype(np.float64), alpha)
        positive = self._labels[0]
        return GroupedMetric(
            "roc_auc", names[order], aucs, sizes, totals[:, 1], totals[:, 0], sizes.astype(np.float64),
            mean_over_groups(aucs, sizes.astype(np.float64)), mean_over_groups(aucs, np.ones(n)),
            pos_label=1 if positive is None else positive, **intervals,
        )  # fmt: skip

    # Merging and storing ----------------------------------------------------------------------------------------------

    def _merged(self, others: Sequence[GroupSummary]) -> GroupSummary:
        merged = GroupSummary(most_scores=max(each._most for each in (self, *others)))
        merged._labels = self._labels
        for other in (self, *others):
            merged._labels = joint_labels(merged._labels, other._labels)
            kinds = {isinstance(key, str) for each in (merged, other) for key in list(each._groups)[:1]}
            if len(kinds) > 1:
                raise ValueError("summaries must have groups of one type, got text and numbers")
            numbers = np.array([merged._groups.setdefault(key, len(merged._groups)) for key in other._groups], np.int64)
            for part in (*other._shards, *other._waiting):
                if part.size:
                    merged._waiting.append(_Atoms(numbers[part.groups], part.keys, part.counts))
        merged._consolidate()
        merged._check_size(merged._shards)
        return merged

    def _payload(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        self._consolidate()
        atoms = _Atoms.concatenated(self._shards)
        text = not self._groups or isinstance(next(iter(self._groups)), str)
        names = list(self._groups)
        head: dict[str, Any] = {"labels": list(self._labels), "most": self._most, "text": text}
        if text:
            packed = "\0".join(names).encode()
            head["size"], head["n"] = len(packed), len(names)
            stored = np.frombuffer(packed + bytes(-len(packed) % 8), np.uint64)
        else:
            numbers = np.array(names)
            head["dtype"] = "i8" if numbers.dtype.kind in "iub" else "f8"
            stored = numbers.astype(head["dtype"]).view(np.uint64)
        negatives, positives = atoms.counts.T
        return head, {
            "names": stored,
            "groups": atoms.groups.astype(np.uint64),
            "keys": atoms.keys,
            "negatives": np.ascontiguousarray(negatives).astype(np.uint64),
            "positives": np.ascontiguousarray(positives).astype(np.uint64),
        }

    @classmethod
    def _from_payload(cls, head: dict[str, Any], arrays: dict[str, NDArray[np.uint64]]) -> Self:
        positive, negative = head["labels"]
        if not all(label is None or isinstance(label, (str, int, float)) for label in (positive, negative)):
            raise ValueError("it has no labels")
        summary = cls(most_scores=head["most"])
        summary._labels = (positive, negative)
        if head["text"]:
            packed = arrays["names"].tobytes()[: head["size"]]
            names: list[Any] = packed.decode().split("\0") if head["n"] else []
            if len(names) != head["n"]:
                raise ValueError("its groups are not as many as it says")
        else:
            if head["dtype"] not in ("i8", "f8"):
                raise ValueError("its groups are neither text nor numbers")
            names = arrays["names"].view(head["dtype"]).tolist()
        summary._groups = {name: k for k, name in enumerate(names)}
        groups, keys = arrays["groups"], arrays["keys"]
        counts = [arrays["negatives"], arrays["positives"]]
        sizes = {groups.size, keys.size, counts[0].size, counts[1].size}
        if len(sizes) > 1 or len(summary._groups) != len(names) or any((each >= 2**40).any() for each in counts):
            raise ValueError("its groups and scores don't fit")
        if groups.size and groups.max() >= len(names):
            raise ValueError("its scores are of groups that it has not")
        atoms = _Atoms(groups.astype(np.int64), keys, np.stack(counts, axis=1).astype(np.int64))
        summary._waiting = [atoms]
        summary._consolidate()
        return summary


class _Atoms:
    """Distinct scores of groups, with the negative and positive rows of each."""

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

    def of_shard(self, k: int) -> _Atoms:
        mine = self.groups % SHARDS == k
        return _Atoms(self.groups[mine], self.keys[mine], self.counts[mine])

    def joined(self) -> _Atoms:
        """Return the same in order, equal ones added up."""
        order = np.lexsort((self.keys, self.groups))
        groups, keys, counts = self.groups[order], self.keys[order], self.counts[order]
        new = np.append(True, (groups[1:] != groups[:-1]) | (keys[1:] != keys[:-1]))[: keys.size]
        first = np.flatnonzero(new)
        if first.size < keys.size:
            groups, keys = groups[first], keys[first]
            counts = np.add.reduceat(counts, first, axis=0, dtype=np.int64)
        kind = np.int32 if counts.max(initial=0) < SHORT else np.int64
        return _Atoms(groups.astype(np.int32), keys, counts.astype(kind))

    def measure(self, totals: NDArray[np.int64], aucs: NDArray[Any], variances: NDArray[Any]) -> None:
        """Write each group's rows, AUC and DeLong's variance."""
        first = np.flatnonzero(np.append(True, self.groups[1:] != self.groups[:-1]))
        numbers = self.groups[first]
        sums = np.add.reduceat(self.counts, first, axis=0, dtype=np.int64)
        totals[numbers] = sums
        lengths = np.diff(first, append=self.size)
        before = np.cumsum(self.counts, axis=0, dtype=np.int64) - self.counts
        below = before - np.repeat(before[first], lengths, axis=0)
        total = np.repeat(sums, lengths, axis=0)
        negatives, positives = self.counts.astype(np.int64).T
        placed = 2 * below[:, 0] + negatives  # twice the negatives below each positive, ties half
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
