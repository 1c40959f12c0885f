"""For each sample: mean and squared deviations of the models' predictions, and votes for each class."""

import numpy as np

from fastevals._compile.jit import kernel, sum_kernel
from fastevals._kernels.compensated import accumulate, add, two_sum

SAMPLES_PER_STRIP = 2048  # samples whose three sums stay in cache while the models' rows are read
SAMPLES_PER_SUM = 2048  # samples that are summed without compensation
ROWS_PER_BYTE = 252  # rows that are counted in one byte


# Squared loss -----------------------------------------------------------------------------------------------------


@kernel
def add_one(row, shift, first, second):
    """Add a row's differences from the shift to `first`, and their squares to `second`."""
    for j in range(row.size):
        d = row[j] - shift[j]
        first[j] += d
        second[j] += d * d


@kernel
def add_eight(table, i, start, shift, first, second):
    """Add eight rows, starting at row i; adding four at a time takes 1.4 x as long, and one at a time 3 x as long."""
    a, b, c, d = table[i], table[i + 1], table[i + 2], table[i + 3]
    e, f, g, h = table[i + 4], table[i + 5], table[i + 6], table[i + 7]
    for k in range(shift.size):
        j, s = np.uint64(start + k), shift[k]
        p, q, r, t = a[j] - s, b[j] - s, c[j] - s, d[j] - s
        u, v, w, x = e[j] - s, f[j] - s, g[j] - s, h[j] - s
        first[k] += ((p + q) + (r + t)) + ((u + v) + (w + x))
        second[k] += ((p * p + q * q) + (r * r + t * t)) + ((u * u + v * v) + (w * w + x * x))


@kernel
def merge_one(n, m, high, low, squares, delta, within):
    """Merge m models, whose mean is `delta` higher and whose squared deviations sum to `within`, with n others.

    Chan, Golub and LeVeque (1983), The American Statistician 37, 242-247, doi:10.1080/00031305.1983.10483115.
    """
    share = m / (n + m)
    high, low = add(high, low, delta * share)
    return high, low, squares + within + delta * (delta * (n * share))


@kernel
def merge_sums(n, m, shift, first, second, high, low, squares):
    """Merge m models with n others.

    `first` has the sums of the m models' differences from a shift, `second` the sums of the squared differences.
    """
    for j in range(shift.size):
        distance = first[j] / m
        within = second[j] - first[j] * distance
        within = 0.0 if within < 0.0 else within  # keeps NaN
        if n == 0:
            high[j], low[j] = two_sum(shift[j], distance)
            squares[j] = within
        else:
            delta = ((shift[j] - high[j]) - low[j]) + distance
            high[j], low[j], squares[j] = merge_one(n, m, high[j], low[j], squares[j], delta, within)


@kernel
def merge_moments(n, high, low, squares, m, other_high, other_low, other_squares):
    """Merge the moments of m models with the moments of n others."""
    for j in range(high.size):
        delta = (other_high[j] - high[j]) + (other_low[j] - low[j])
        high[j], low[j], squares[j] = merge_one(n, m, high[j], low[j], squares[j], delta, other_squares[j])


@kernel
def add_models(p, start, n, high, low, squares, scratch):
    """Merge the rows of p[m, start : start + high.size] with n models' means (high, low) and squared deviations.

    Differences from the first row are summed. These sums lose at most log2(m) bits of the variance, however far the
    predictions are from zero; m should be below a hundred. Summing deviations from the mean instead, in a second loop
    over cached rows, takes 1.5 x as long in total. `scratch` has shape (3, SAMPLES_PER_STRIP).
    """
    m = p.shape[0]
    for a in range(0, high.size, SAMPLES_PER_STRIP):
        b = min(a + SAMPLES_PER_STRIP, high.size)
        shift, first, second = scratch[0, : b - a], scratch[1, : b - a], scratch[2, : b - a]
        row = p[0, start + a : start + b]
        for j in range(row.size):
            shift[j] = row[j]
            first[j] = 0.0
            second[j] = 0.0
        done = m - m % 8
        for i in range(0, done, 8):
            add_eight(p, i, start + a, shift, first, second)
        for i in range(done, m):
            add_one(p[i, start + a : start + b], shift, first, second)
        merge_sums(n, m, shift, first, second, high[a:b], low[a:b], squares[a:b])


@kernel
def add_pairs(p, o, y, noise, loss, cross):
    """For each row of predictions p and observed targets o, add (o - y)**2, (p - o)**2 and (p - y) * (y - o)."""
    for i in range(p.shape[0]):
        predicted, observed = p[i], o[i]
        for j in range(y.size):
            gap, error = y[j] - observed[j], predicted[j] - observed[j]
            noise[j] += gap * gap
            loss[j] += error * error
            cross[j] += (predicted[j] - y[j]) * gap


# 0-1 loss ---------------------------------------------------------------------------------------------------------


@kernel
def match_one(row, byte, small):
    """Add 1 to the counter of each position at which the row has the value `byte`."""
    for j in range(row.size):
        small[j] += np.uint8(row[j] == byte)


@kernel
def match_four(table, i, start, byte, small):
    """Apply `match_one` to four rows at a time, starting at row i and column `start`."""
    a, b, c, d = table[i], table[i + 1], table[i + 2], table[i + 3]
    for k in range(small.size):
        j = np.uint64(start + k)
        small[k] += np.uint8(a[j] == byte) + np.uint8(b[j] == byte) + np.uint8(c[j] == byte) + np.uint8(d[j] == byte)


@kernel
def match_rows(p, start, byte, small):
    """For each column from `start` on, write the number of rows (at most 255) that have the value `byte`."""
    for j in range(small.size):
        small[j] = 0
    done = p.shape[0] - p.shape[0] % 4
    for i in range(0, done, 4):
        match_four(p, i, start, byte, small)
    for i in range(done, p.shape[0]):
        match_one(p[i, start : start + small.size], byte, small)


@kernel
def count_bytes(values, start, bytes_, codes, counts, small):
    """Do what `count_classes` does, for 8-bit values: bytes_[k] stands for class codes[k].

    Whole rows are compared with one byte at a time, in vector registers. For 10 classes this takes less than a third of
    the time of looking up each value; for 50 classes it takes about as long. `small` has SAMPLES_PER_STRIP elements.
    """
    found = 0
    for first in range(0, counts.shape[0], SAMPLES_PER_STRIP):
        of_strip = counts[first : first + SAMPLES_PER_STRIP]
        n = of_strip.shape[0]
        part = small[:n]
        for i in range(0, values.shape[0], ROWS_PER_BYTE):
            rows = values[i : i + ROWS_PER_BYTE]
            for k in range(codes.size):
                match_rows(rows, start + first, bytes_[k], part)
                code = codes[k]
                for j in range(n):
                    of_strip[j, code] += part[j]
                    found += np.int64(part[j])
    return values.shape[0] * counts.shape[0] - found


@kernel
def count_classes(values, start, low, table, counts):
    """Add one to counts[j, class of values[i, start + j]] for each row i; return the number of values without a class.

    The class of a value is table[value - low]; values outside the table, or with the entry -1, have no class.
    """
    unknown, n_classes = 0, np.uint64(counts.shape[1])
    flat = counts.reshape(-1)
    for i in range(values.shape[0]):
        row = values[i, start : start + counts.shape[0]]
        for j in range(row.size):
            at = np.uint64(row[j] - low)
            code = np.uint64(table[at]) if at < np.uint64(table.size) else n_classes
            if code < n_classes:
                flat[np.uint64(j) * n_classes + code] += np.int32(1)
            else:
                unknown += 1
    return unknown


@kernel
def count_unknown(values, low, table):
    """Return the number of values without a class, as `count_classes` does."""
    unknown = 0
    for i in range(values.shape[0]):
        row = values[i]
        for j in range(row.size):
            at = np.uint64(row[j] - low)
            unknown += at >= np.uint64(table.size) or table[at] < 0
    return unknown


@kernel
def most_frequent(counts, y, main, of_main, of_true, squared):
    """Write each sample's most frequent class (first if tied), its count, y's count, and the sum of squared counts."""
    for j in range(y.size):
        row = counts[j]
        best, total = 0, 0
        for k in range(row.size):
            total += np.int64(row[k]) * row[k]
            if row[k] > row[best]:
                best = k
        main[j] = best
        of_main[j] = row[best]
        of_true[j] = row[y[j]]
        squared[j] = total


# Totals -----------------------------------------------------------------------------------------------------------


@sum_kernel
def sum_stretch(values, w):
    """Return the sum of values times weights; values of weight zero are ignored, even if infinite."""
    total = 0.0
    for i in range(values.size):
        if w is None:
            total += values[i]
        else:
            total += values[i] * w[i] if w[i] != 0.0 else 0.0
    return total


@kernel
def add_up(values, w, pair):
    """Add the weighted sum of all samples' values to the pair."""
    for start in range(0, values.size, SAMPLES_PER_SUM):
        part = values[start : start + SAMPLES_PER_SUM]
        accumulate(pair, sum_stretch(part, None if w is None else w[start : start + SAMPLES_PER_SUM]))
