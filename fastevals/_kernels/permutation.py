"""Permutations of two models' outputs on the same rows: which rows are swapped, and the resulting statistics."""

import numpy as np

from fastevals._compile.jit import kernel
from fastevals._kernels.random import bits, fill_bits, stream_key

GROUP = 8  # differences whose signs come from one byte of random bits
WORD = 8  # groups per word of random bits
LOW_BYTE = np.uint64(255)
SIXTH, LAST_PLACE, ONE_BIT = np.uint32(6), np.uint32(63), np.uint32(1)


@kernel
def fill_keys(key, first, out):
    """Write the keys of consecutive streams; the first is stream number `first`."""
    for i in range(out.size):
        out[i] = stream_key(key, np.uint64(first + i))


# Labels -----------------------------------------------------------------------------------------------------------


@kernel
def draw_fair_binomials(tables, lows, limits, guides, shifts, limit_starts, guide_starts, keys, drawn):
    """Write drawn[cell, i], a binomial count with chance 1/2 from stream i, by inversion.

    The count is the cell's lowest count plus the smallest j for which the random number is at most limits[start + j];
    `guides` maps the number's first bits to the j at which the search starts.
    """
    for cell in range(drawn.shape[0]):
        table = tables[cell]
        shift, low = np.uint64(shifts[table]), lows[table]
        guide, limit = guides[guide_starts[table] :], limits[limit_starts[table] :]
        for i in range(keys.size):
            random = bits(keys[i], np.uint64(cell))
            j = np.uint64(guide[random >> shift])
            while random > limit[j]:
                j += np.uint64(1)
            drawn[cell, i] = low + np.int64(j)


@kernel
def place_kept(drawn, sizes, first, second, counts):
    """Add drawn[cell, i] to counts[first[cell], i], and the cell's other rows to counts[second[cell], i]."""
    for cell in range(drawn.shape[0]):
        one, other, size = first[cell], second[cell], sizes[cell]
        for i in range(drawn.shape[1]):
            counts[one, i] += drawn[cell, i]
            counts[other, i] += size - drawn[cell, i]


# Scores -----------------------------------------------------------------------------------------------------------


@kernel
def fill_words(key, number, words):
    """Write the random bits of permutation `number`."""
    fill_bits(stream_key(key, number), 0, words)


@kernel
def mark_first(words, places, marks):
    """Mark the pooled outputs that the first model gets: a row's first output if the row's bit is set, else its second.

    places[i] is twice the position of the row's bit in `words`, plus one for a second output.
    """
    for i in range(places.size):
        place = places[i]
        row = place >> ONE_BIT
        marks[i] = np.uint8((np.uint32(words[row >> SIXTH] >> np.uint64(row & LAST_PLACE)) ^ place) & ONE_BIT)


# Signs ------------------------------------------------------------------------------------------------------------


@kernel
def fill_sums(differences, sums):
    """Write each group's sum for every byte of signs, where a set bit is a plus; opposite signs give opposite sums."""
    for group in range(sums.shape[0]):
        table = sums[group]
        table[0] = 0.0
        for i in range(GROUP):
            d = differences[group * GROUP + i]
            for j in range(1 << i):
                table[j + (1 << i)] = table[j] + d
                table[j] -= d


@kernel
def flip_signs(differences, keys, words, sums, totals):
    """For each stream, write the sum of all differences with the stream's random signs; sums of 8 are looked up.

    The number of differences is a multiple of 64. `words` is scratch for one random word per stream, `sums` for the
    tables of a word. All streams use a word's tables while these are in the nearest cache; this is 2.5 x as fast as
    finishing one stream after another.
    """
    totals[:] = 0.0
    flat = sums.reshape(sums.size)
    for word in range(differences.size // (GROUP * WORD)):
        fill_sums(differences[word * GROUP * WORD : (word + 1) * GROUP * WORD], sums)
        for i in range(keys.size):
            words[i] = bits(keys[i], np.uint64(word))
        for i in range(keys.size):
            random = words[i]
            a = flat[random & LOW_BYTE] + flat[np.uint64(256) + (random >> np.uint64(8) & LOW_BYTE)]
            b = flat[np.uint64(512) + (random >> np.uint64(16) & LOW_BYTE)]
            b += flat[np.uint64(768) + (random >> np.uint64(24) & LOW_BYTE)]
            c = flat[np.uint64(1024) + (random >> np.uint64(32) & LOW_BYTE)]
            c += flat[np.uint64(1280) + (random >> np.uint64(40) & LOW_BYTE)]
            d = flat[np.uint64(1536) + (random >> np.uint64(48) & LOW_BYTE)]
            d += flat[np.uint64(1792) + (random >> np.uint64(56))]
            totals[i] += (a + b) + (c + d)


@kernel
def count_reached(sums, pairs, bounds, two_sided, counts):
    """Add to counts[pair] how many differences of two rows of `sums` reach each of the pair's two bounds."""
    for pair in range(pairs.shape[0]):
        first, second = sums[pairs[pair, 0]], sums[pairs[pair, 1]]
        low, high = bounds[pair, 0], bounds[pair, 1]
        reached_low, reached_high = 0, 0
        if two_sided:
            for i in range(first.size):
                difference = abs(first[i] - second[i])
                reached_low += difference >= low
                reached_high += difference >= high
        else:
            for i in range(first.size):
                difference = first[i] - second[i]
                reached_low += difference >= low
                reached_high += difference >= high
        counts[pair, 0] += reached_low
        counts[pair, 1] += reached_high
