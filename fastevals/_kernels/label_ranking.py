"""Ranks of true labels in rows of finite scores, one score per label (C-contiguous float64[n_rows, n_labels])."""

import numpy as np

from fastevals._compile.jit import kernel
from fastevals._kernels.partition import key_of
from fastevals._kernels.sorting import sort_keys

DIRECT = 128  # true labels of a row, up to which comparing each with all labels is faster than sorting
CELLS = 1 << 12  # cells for sorting keys
MAGNITUDE, SIGN = np.int64(2**63 - 1), np.int64(-(2**63))  # bits of a float


@kernel
def cover_true(scores, true, out):
    """Write how many labels score at least as high as the lowest-scoring true label; 0 if no label is true."""
    for i in range(scores.shape[0]):
        lowest, covered = np.inf, 0
        for j in range(scores.shape[1]):
            score = scores[i, j]  # always read, so that there is no branch to mispredict
            lowest = min(lowest, score if true[i, j] else np.inf)
        for j in range(scores.shape[1]):
            covered += scores[i, j] >= lowest
        out[i] = covered


@kernel
def mean_precision(scores, true, out):
    """For each true label, find the share of true labels among all labels that score at least as high; write the mean.

    The mean is 1 if all labels or none are true.
    """
    space, passed, cells = working_memory(scores.shape[1])
    for i in range(scores.shape[0]):
        n_true = count_as_high(scores[i], true[i], space, passed, cells)
        total = 0.0
        for a in range(n_true):
            total += passed[0, a] / (passed[0, a] + passed[1, a])
        out[i] = total / n_true if 0 < n_true < scores.shape[1] else 1.0


@kernel
def share_misordered(scores, true, out):
    """Write the share of pairs (true label, other label) with the other label at least as high; 0 without pairs."""
    space, passed, cells = working_memory(scores.shape[1])
    for i in range(scores.shape[0]):
        n_true = count_as_high(scores[i], true[i], space, passed, cells)
        n_pairs = n_true * (scores.shape[1] - n_true)
        wrong = 0
        for a in range(n_true):
            wrong += passed[1, a]
        out[i] = wrong / n_pairs if n_pairs else 0.0


@kernel
def working_memory(n_labels):
    """Allocate working memory for `count_as_high`."""
    return np.empty((3, n_labels)), np.empty((2, n_labels), dtype=np.int64), np.empty(CELLS, dtype=np.int32)


@kernel
def count_as_high(row, true, space, passed, cells):
    """Write how many true labels (passed[0]) and others (passed[1]) score at least as high as each true label.

    Returns the number of true labels. The columns of `passed` are in no particular order.
    """
    yes, no = space[0], space[1]
    n_true, n_other = 0, 0
    for j in range(row.size):  # always written, so that there is no branch to mispredict
        yes[n_true] = no[n_other] = row[j]
        n_true += true[j]
        n_other += not true[j]
    if n_true > DIRECT:
        yes, no, scratch = as_keys(yes[:n_true]), as_keys(no[:n_other]), space[2].view(np.uint64)
        sort_keys(yes, scratch, cells)
        sort_keys(no, scratch, cells)
        count_above_sorted(yes, no, passed)
        return n_true
    for a in range(n_true):
        as_high, others = 0, 0
        for b in range(n_true):
            as_high += yes[b] >= yes[a]
        for b in range(n_other):
            others += no[b] >= yes[a]
        passed[0, a], passed[1, a] = as_high, others
    return n_true


@kernel
def as_keys(values):
    """Turn floats into unsigned integers of the same order, in place."""
    bits, keys = values.view(np.int64), values.view(np.uint64)
    for i in range(values.size):
        keys[i] = key_of(bits[i], MAGNITUDE, SIGN)
    return keys


@kernel
def count_above_sorted(yes, no, passed):
    """Do what `count_as_high` does, from the ascending keys of true and of other labels."""
    below = 0
    for a in range(yes.size):
        while below < no.size and no[below] < yes[a]:
            below += 1
        passed[0, a] = passed[0, a - 1] if a and yes[a] == yes[a - 1] else yes.size - a
        passed[1, a] = no.size - below


@kernel
def count_ahead(scores, codes, out):
    """Write how many labels rank ahead of each row's own label, whose number is in `codes`; later labels win ties."""
    for i in range(scores.shape[0]):
        row, code = scores[i], codes[i]
        own = row[code]
        ahead = 0
        for j in range(row.size):  # one loop without a branch is three times as fast as two loops
            ahead += (row[j] > own) | ((row[j] == own) & (j > code))
        out[i] = ahead


@kernel
def hinge_losses(scores, codes, out):
    """Write each row's hinge loss, max(1 - own score + highest other score, 0); codes[i] is the own label."""
    others = np.empty(scores.shape[1])
    for i in range(scores.shape[0]):
        for j in range(others.size):
            others[j] = scores[i, j]
        others[np.int64(codes[i])] = -np.inf  # no branch to mispredict
        highest = others[0]
        for j in range(1, others.size):
            highest = max(highest, others[j])
        out[i] = max(1.0 - (scores[i, np.int64(codes[i])] - highest), 0.0)


@kernel
def squared_errors(scores, codes, out):
    """Write each row's sum of squared errors; the target is 1 for the row's own label codes[i] and 0 for all others."""
    for i in range(scores.shape[0]):
        own = np.int64(codes[i])
        total = 0.0
        for j in range(scores.shape[1]):
            off = scores[i, j] - (1.0 if j == own else 0.0)
            total += off * off
        out[i] = total


@kernel
def farthest_from_one(scores):
    """Return the largest distance between a row's sum and 1."""
    farthest = 0.0
    for i in range(scores.shape[0]):
        total = 0.0
        for j in range(scores.shape[1]):
            total += scores[i, j]
        farthest = max(farthest, abs(total - 1.0))
    return farthest


@kernel
def share_in_order(scores, true, out):
    """Write the share of pairs (true label, other label) with the true label higher, ties half; NaN without pairs."""
    for i in range(scores.shape[0]):
        right, n_true = 0.0, 0
        for j in range(scores.shape[1]):
            n_true += true[i, j]
            if true[i, j]:
                for k in range(scores.shape[1]):
                    if not true[i, k]:
                        right += 1.0 if scores[i, j] > scores[i, k] else 0.5 * (scores[i, j] == scores[i, k])
        n_pairs = n_true * (scores.shape[1] - n_true)
        out[i] = right / n_pairs if n_pairs else np.nan
