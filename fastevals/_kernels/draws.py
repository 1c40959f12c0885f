"""Bootstrap draws: how often each row, or cell of rows, is drawn when n of n rows are drawn with replacement."""

import math

import numpy as np

from fastevals._compile.jit import kernel
from fastevals._kernels import UNIT_64
from fastevals._kernels.random import bits, fill_bits, stream_key, uniform_below

LARGEST_PIECE = 32  # largest number of rows whose count is drawn from one random number
ROW_BLOCK = 1024  # rows whose random bits and counts stay in the nearest cache
ROW_LIMITS = 8  # 16-bit limits between a row's counts; counts of 8 or more have probability below 2**-16 in total
ROW_TABLE = 32  # these limits, followed by the cumulative probabilities of larger counts
WORD_BLOCK = 512  # words of 8 rows; their running totals stay in the nearest cache
EACH_BYTE, LAST_BYTE = np.uint64(0x0101010101010101), np.uint64(56)
BYTE, THIRD = np.uint64(8), np.uint32(3)
FRACTION, BELOW = 2.0**-53, np.uint64(11)  # a float holds 53 of 64 bits
FEW_EXPECTED = 10.0  # expected successes, below which a binomial is drawn by adding up probabilities
GUIDE_SHIFT = np.uint64(56)  # the first 8 bits of a random number choose where the search in a table starts


@kernel
def poisson(random, size, tables, guides):
    """Return the count of a cell with `size` rows: the lowest j with random <= tables[size, j]; 0 for no rows.

    Each table ascends to the largest integer; for a random number whose first 8 bits are b, the search starts at
    guides[size, b]. Indices are unsigned, because compiled loops check signed ones for negative values.
    """
    table = np.uint64(size)
    j = np.uint64(guides[table, random >> GUIDE_SHIFT])
    while random > tables[table, j]:
        j += UNIT_64
    return np.int64(j)


@kernel
def draw_poisson(sizes, tables, guides, key, counts):
    """Draw each cell's Poisson count, with a mean proportional to its size; return the total and the next counter."""
    counter = np.uint64(0)
    total = 0
    for cell in range(sizes.size):
        size = np.int64(sizes[cell])
        count = 0
        while size > LARGEST_PIECE:
            count += poisson(bits(key, counter), LARGEST_PIECE, tables, guides)
            counter += UNIT_64
            size -= LARGEST_PIECE
        count += poisson(bits(key, counter), size, tables, guides)
        counter += UNIT_64
        counts[cell] = count
        total += count
    return total, counter


@kernel
def draw_cells(sizes, n, cell_of_block, start_of_block, shift, tables, guides, key, counts):
    """Draw n of the n rows in all cells, with replacement; write each cell's count. Counts are exactly multinomial.

    Independent Poisson counts are multinomial given their sum, and remain so when the missing rows are drawn one by
    one. If the sum exceeds n, all counts are drawn again; this depends only on the sum. Row `row` is in the cell
    `cell_of_block[row >> shift]`, whose rows start at `start_of_block[...]`, or in one of the next cells. Without
    tables all rows are drawn one by one.
    """
    total = n + 1
    attempt = np.uint64(0)
    while total > n:
        stream = stream_key(key, attempt)
        attempt += np.uint64(1)
        if tables.shape[0] == 0:
            counts[:] = 0
            total, counter = 0, np.uint64(0)
        else:
            total, counter = draw_poisson(sizes, tables, guides, stream, counts)
    for _ in range(n - total):
        row = np.int64(uniform_below(n, bits(stream, counter)))
        counter += np.uint64(1)
        block = row >> shift
        cell, stop = cell_of_block[block], start_of_block[block] + sizes[cell_of_block[block]]
        while stop <= row:
            cell += 1
            stop += sizes[cell]
        counts[cell] += 1


@kernel
def uniform(key, counter):
    """Return a number strictly between 0 and 1."""
    return (float(bits(key, counter) >> BELOW) + 0.5) * FRACTION


@kernel
def stirling(k):
    """Return the error of Stirling's formula for log k!."""
    if k < 10:
        return math.lgamma(k + 1.0) - (0.9189385332046728 + (k + 0.5) * math.log(k + 1.0) - (k + 1.0))
    square = (k + 1.0) * (k + 1.0)
    return (1 / 12 - (1 / 360 - 1 / 1260 / square) / square) / (k + 1.0)


@kernel
def binomial(n, chance, key, counter):
    """Draw how many of n trials succeed, each with probability `chance` (at most 1/2); also return the next counter.

    Uses transformed rejection, with 1.2 pairs of random numbers on average: Hoermann (1993), "The Generation of
    Binomial Random Variates", Journal of Statistical Computation and Simulation 46, 101-110,
    doi:10.1080/00949659308811496.
    """
    if n * chance < FEW_EXPECTED:
        odds = chance / (1 - chance)
        left, term, k = uniform(key, counter), math.exp(n * math.log1p(-chance)), 0
        while left > term and k < n:
            left -= term
            k += 1
            term *= odds * (n - k + 1) / k
        return k, counter + UNIT_64
    spread = math.sqrt(n * chance * (1 - chance))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * chance
    centre, surely = n * chance + 0.5, 0.92 - 4.2 / b
    while True:
        u, v = uniform(key, counter) - 0.5, uniform(key, counter + UNIT_64)
        counter += UNIT_64 + UNIT_64
        near = 0.5 - abs(u)
        at = math.floor((2 * a / near + b) * u + centre)
        if near >= 0.07 and v <= surely:
            return np.int64(at), counter
        if at < 0 or at > n:
            continue
        odds, mode = chance / (1 - chance), math.floor((n + 1) * chance)
        v *= (2.83 + 5.1 / b) * spread / (a / (near * near) + b)
        most = (mode + 0.5) * math.log((mode + 1) / (odds * (n - mode + 1)))
        most += (n + 1) * math.log((n - mode + 1) / (n - at + 1))
        most += (at + 0.5) * math.log(odds * (n - at + 1) / (at + 1))
        if math.log(v) <= most + stirling(mode) + stirling(n - mode) - stirling(at) - stirling(n - at):
            return np.int64(at), counter


@kernel
def draw_binomials(sizes, n, key, counts):
    """Do what `draw_cells` does, with one binomial per cell: the cell's count among the rows still to be drawn."""
    missing, left = n, n
    counter = np.uint64(0)
    for cell in range(sizes.size):
        size = np.int64(sizes[cell])
        count = missing
        if 2 * size <= left:
            count = np.int64(0)
            if size > 0:
                count, counter = binomial(missing, size / left, key, counter)
        elif size < left:
            others, counter = binomial(missing, (left - size) / left, key, counter)
            count = missing - others
        counts[cell] = count
        missing -= count
        left -= size


@kernel
def tally(random, limits, counts):
    """Write how many of the limits each 16-bit random number exceeds; return the largest random number.

    The eight comparisons are vectorised; twelve 32-bit limits, with half as many numbers per vector, take 6 x as long.
    """
    l0, l1, l2, l3 = np.uint16(limits[0]), np.uint16(limits[1]), np.uint16(limits[2]), np.uint16(limits[3])
    l4, l5, l6, l7 = np.uint16(limits[4]), np.uint16(limits[5]), np.uint16(limits[6]), np.uint16(limits[7])
    largest = np.uint16(0)
    for i in range(counts.size):
        x = random[i]
        count = np.uint8(x > l0) + np.uint8(x > l1) + np.uint8(x > l2) + np.uint8(x > l3)
        count += np.uint8(x > l4) + np.uint8(x > l5) + np.uint8(x > l6) + np.uint8(x > l7)
        counts[i] = count
        largest = max(largest, x)
    return largest


@kernel
def draw_row_poisson(limits, key, words, parts, counts):
    """Draw each row's Poisson count; return their sum. Counts of ROW_LIMITS or more need further random bits."""
    n, total = counts.size, 0
    for start in range(0, n, ROW_BLOCK):
        fill_bits(key, start // 4, words)
        block = counts[start : start + ROW_BLOCK]
        if tally(parts, limits, block) > limits[ROW_LIMITS - 1]:
            for i in range(block.size):
                if block[i] == ROW_LIMITS:
                    random, count = bits(key, np.uint64(2 * n + start + i)), 0
                    while random > limits[ROW_LIMITS + count]:
                        count += 1
                    block[i] = count
        for i in range(block.size):
            total += block[i]
    return total


@kernel
def draw_rows(limits, key, words, parts, counts):
    """Do what `draw_cells` does for cells of one row, 20 x as fast.

    `words` is scratch for ROW_BLOCK / 4 random numbers, and `parts` is a view of it as 16-bit numbers (making the view
    in this kernel would take 0.1 s to compile). Without limits all rows are drawn one by one.
    """
    n = counts.size
    total = n + 1
    attempt = np.uint64(0)
    while total > n:
        stream = stream_key(key, attempt)
        attempt += np.uint64(1)
        if limits.size == 0:
            counts[:] = 0
            total = 0
        else:
            total = draw_row_poisson(limits, stream, words, parts, counts)
    counter = np.uint64(n)
    for _ in range(n - total):
        counts[uniform_below(n, bits(stream, counter))] += 1
        counter += np.uint64(1)


@kernel
def take_drawn(times, units, drawn):
    """Write how often each row's unit was drawn."""
    for row in range(units.size):
        drawn[row] = times[units[row]]


@kernel
def count_drawn(drawn, ends, cells_before, within, sums, before, counts):
    """Write how many rows of each cell were drawn; cell k has the rows from ends[k - 1] up to ends[k].

    Running totals are read at the ends, because a loop over each cell's rows would mispredict one branch per cell.
    `drawn` holds 8 rows per word, one byte each, padded with zeros; cells_before[b] is the number of cells that end
    within the first b blocks of words. Multiplying a word by 0x0101010101010101 turns each byte into the sum of the
    bytes up to it. The 8 rows of a word must be drawn fewer than 256 times in total; the probability of more is below
    1e-200. `within` and `before` are scratch, one element longer than a block of words; `sums` is a view of `within` as
    bytes.
    """
    total, last = np.int32(0), np.int32(0)
    for block in range(cells_before.size - 1):
        words = drawn[block * WORD_BLOCK : (block + 1) * WORD_BLOCK]
        for i in range(words.size):
            within[i] = words[i] * EACH_BYTE
        for i in range(words.size):
            before[i] = total
            total += np.int32(within[i] >> LAST_BYTE)
        before[words.size] = total
        for i in range(words.size):
            within[i] <<= BYTE
        within[words.size] = 0
        first = np.uint32(block * WORD_BLOCK * 8)
        cells = slice(cells_before[block], cells_before[block + 1])
        here, out = ends[cells], counts[cells]
        for i in range(here.size):
            row = here[i] - first
            reached = before[row >> THIRD] + np.int32(sums[row])
            out[i] = reached - last
            last = reached


@kernel
def sum_drawn(drawn, weights, ends, counts):
    """For each cell, write the sum of its rows' weights, each times the row's number of draws.

    `drawn` has a byte per row. Rounding errors of one cell do not affect another.
    """
    row = np.uint64(0)
    for cell in range(ends.size):
        total = 0.0
        while row < ends[cell]:
            total += drawn[row] * weights[row]
            row += np.uint64(1)
        counts[cell] = total
