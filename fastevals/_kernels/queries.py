"""Sums over the ranked documents of each query, averaged over all orders of documents with tied scores.

McSherry and Najork (2008), "Computing Information Retrieval Performance Measures Efficiently in the Presence of Tied
Scores", doi:10.1007/978-3-540-78646-7_38. Three numbers of a tie are stored at its first rank: how many documents have
this score, how many of them are relevant, and the sum of their gains.
"""

import numpy as np

from fastevals._compile.jit import inline_kernel, kernel
from fastevals._kernels import UNIT_64
from fastevals._kernels.partition import key_of
from fastevals._kernels.sorting import sort_keys, sort_pairs

COUNTED = 192  # relevant documents up to which counting the documents above each is faster than sorting
GRADES = 64  # integer gains below this are counted instead of sorted
DCG, IDEAL, HITS, RECIPROCAL, FOUND, PRECISIONS, FULL_HITS = range(7)
QUERY_SUMS = 7
SHIFT = np.uint64(6)
DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)  # its 64 windows of 6 bits differ, so a shift by n bits reveals n
BIT = np.zeros(64, dtype=np.int64)
for _place in range(64):
    BIT[(0x03F79D71B4CB0A89 << _place & (1 << 64) - 1) >> 58] = _place


@kernel
def scatter_rows(codes, scores, gains, places, scores_out, gains_out):
    """Write rows to their queries; places[code] is where the next row of a query goes."""
    for i in range(codes.size):
        code = np.uintp(codes[i])
        place = np.uintp(places[code])
        scores_out[place] = scores[i]
        gains_out[place] = gains[i]
        places[code] += 1


@inline_kernel
def find_relevant(gains, relevant, own_gains):
    """Write the positions of documents whose gain is not 0, and their gains; return how many there are."""
    n = np.uintp(0)  # unsigned, as negative indices need checks
    for i in range(gains.size):
        relevant[n] = i
        n += np.uintp(gains[i] != 0.0)
    for k in range(n):
        own_gains[k] = gains[relevant[k]]
    return np.int64(n)


@inline_kernel
def note_rank(rank, size, gain, marks, sizes, counts, totals):
    """Add a relevant document to the tie at a rank, and mark that rank."""
    word, bit = np.uintp(rank) >> SHIFT, UNIT_64 << np.uint64(rank & 63)
    if marks[word] & bit:
        counts[rank] += 1
        totals[rank] += gain
    else:
        marks[word] |= bit
        sizes[rank], counts[rank], totals[rank] = size, 1, gain


@inline_kernel
def count_above(n, relevant, gains, scores, split, marks, sizes, counts, totals):
    """Store the ties of n relevant documents; with `split`, the later of two tied documents ranks first."""
    for k in range(n):
        score, above, level = scores[relevant[k]], 0, 0
        for j in range(scores.size):
            above += scores[j] > score
            level += scores[j] == score
        if split and level > 1:
            for j in range(relevant[k] + 1, scores.size):
                above += scores[j] == score
            level = 1
        note_rank(above, level, gains[k], marks, sizes, counts, totals)


@kernel
def sort_ranks(gains, scores, split, keys, rows, scratch, row_scratch, cells, marks, sizes, counts, totals):
    """Store the ties as `count_above` does, by sorting all documents; `keys` to `cells` are working memory."""
    n = scores.size
    bits = scores.view(np.int64)
    for i in range(n):
        keys[i] = key_of(bits[i], np.int64(2**63 - 1), np.int64(-(2**63)))
        rows[i] = i
    sort_pairs(keys[:n], rows[:n], scratch, row_scratch, cells)
    stop = n
    while stop > 0:
        start = stop - 1
        while start > 0 and keys[start - 1] == keys[stop - 1]:
            start -= 1
        for i in range(start, stop):
            gain = gains[np.int64(rows[i])]
            if gain != 0.0 and split:
                note_rank(n - 1 - i, 1, gain, marks, sizes, counts, totals)
            elif gain != 0.0:
                note_rank(n - stop, stop - start, gain, marks, sizes, counts, totals)
        stop = start


@inline_kernel
def sum_ranked(n, n_relevant, cuts, discounts, marks, sizes, counts, totals, out):
    """Write the sums over the first cuts[c] ranks to out[c]; cuts ascend. FULL_HITS are the hits in n_relevant ranks.

    If r of the m documents of a tie are relevant, the document at each of the tie's ranks is relevant with
    probability r / m. If it is, each higher-ranked document of the tie is relevant with probability (r - 1) / (m - 1).
    """
    c = 0
    dcg, precisions, reciprocal, missed, seen, full = 0.0, 0.0, 0.0, 1.0, 0, 0.0
    for word in range((n >> 6) + 1):
        left = marks[word]
        while left and c < cuts.size:
            lowest = left & (~left + UNIT_64)
            left ^= lowest
            rank = 64 * word + BIT[(lowest * DE_BRUIJN) >> np.uint64(58)]
            while c < cuts.size and cuts[c] <= rank:
                write_sums(out, c, dcg, np.float64(seen), reciprocal, missed, precisions, full)
                c += 1
            r, m = counts[rank], sizes[rank]
            if m == 1:  # same as below, without divisions by 1
                full += rank < n_relevant
                dcg += totals[rank] * discounts[rank]
                precisions += (seen + 1) / (rank + 1)
                if seen == 0:
                    reciprocal, missed = 1.0 / (rank + 1), 0.0
                seen += 1
                continue
            chance, gain = r / m, totals[rank] / m
            others = (r - 1) / (m - 1)
            full += chance * min(max(n_relevant - rank, 0), m)
            for j in range(m):
                dcg += gain * discounts[rank]
                precisions += chance * (seen + 1 + j * others) / (rank + 1)
                if seen == 0 and missed > 0.0:
                    reciprocal += missed * r / (m - j) / (rank + 1)
                    missed *= max(m - j - r, 0) / (m - j)
                rank += 1
                while c < cuts.size and cuts[c] <= rank:
                    write_sums(out, c, dcg, seen + r * (j + 1) / m, reciprocal, missed, precisions, full)
                    c += 1
            seen += r
    for rest in range(c, cuts.size):
        write_sums(out, rest, dcg, np.float64(seen), reciprocal, missed, precisions, full)


@inline_kernel
def write_sums(out, c, dcg, hits, reciprocal, missed, precisions, full):
    """Write all sums of a cut except the ideal DCG."""
    out[c, DCG] = dcg
    out[c, HITS] = hits
    out[c, RECIPROCAL] = reciprocal
    out[c, FOUND] = 1.0 - missed
    out[c, PRECISIONS] = precisions
    out[c, FULL_HITS] = full  # complete at a cut past n_relevant


@inline_kernel
def sort_grades(n, gains, grades):
    """If n positive gains are all equal, or are integers below GRADES, sort them in ascending order and return True."""
    low, high, whole = np.inf, 0.0, True
    for i in range(n):
        low, high = min(low, gains[i]), max(high, gains[i])
        whole &= gains[i] == np.floor(gains[i])
    whole &= high < GRADES
    if whole and low < high:
        most = np.int64(high)
        for grade in range(most + 1):
            grades[grade] = 0
        for i in range(n):
            grades[np.int64(gains[i])] += 1
        place = 0
        for grade in range(most + 1):
            for _ in range(grades[grade]):
                gains[place] = grade
                place += 1
    return whole or low >= high


@inline_kernel
def sum_ideal(n, gains, cuts, discounts, sums, out):
    """Write the largest DCG of n ascending gains, at each cut, to `out`."""
    total = 0.0
    for rank in range(n):
        total += gains[n - 1 - rank] * discounts[rank]
        sums[rank] = total
    for c in range(cuts.size):
        out[c, IDEAL] = sums[min(cuts[c], n) - 1] if n > 0 else 0.0


@kernel
def sum_queries(
    gains, scores, starts, split, ranks_ideal, cuts, discounts, keys, own_gains, scratch, cells, floats, integers,
    marks, n_relevant, out,
):  # fmt: skip
    """Write each query's sums at each cut (shape: n_cuts, QUERY_SUMS, n_queries).

    If n_relevant[q] is below 0, it becomes the number of relevant documents among the query's own. Query q has the
    documents from starts[q] up to starts[q + 1]. `keys` to `marks` are working memory for the longest query and for
    GRADES counts; `own_gains` is a view of `keys`.
    """
    rows, row_scratch, totals = floats
    relevant, sizes, counts = integers
    for q in range(starts.size - 1):
        query_gains, query_scores = gains[starts[q] : starts[q + 1]], scores[starts[q] : starts[q + 1]]
        size = query_scores.size
        marks[: (size >> 6) + 1] = 0
        n = find_relevant(query_gains, relevant, own_gains)
        if n_relevant[q] < 0:
            n_relevant[q] = n
        if n <= COUNTED:
            count_above(n, relevant, own_gains, query_scores, split, marks, sizes, counts, totals)
        else:
            sort_ranks(query_gains, query_scores, split, keys, rows, scratch, row_scratch, cells, marks, sizes, counts,
                       totals)  # fmt: skip
            if ranks_ideal:
                find_relevant(query_gains, relevant, own_gains)  # overwritten by the sort of keys
        sum_ranked(size, n_relevant[q], cuts, discounts, marks, sizes, counts, totals, out[:, :, q])
        if ranks_ideal:
            if not sort_grades(n, own_gains, counts):
                sort_keys(keys[:n], scratch, cells)  # positive floats are ordered like their bits
            sum_ideal(n, own_gains, cuts, discounts, totals, out[:, :, q])
