"""Ranks: of the columns within each row of a table, and of the sizes of differences. All are doubled: integers."""

import numpy as np

from fastevals._kernels.jit import kernel

LANES = 8  # float64 in the widest vector


@kernel
def add_ranks(table, sums):
    """Add to each column's sum twice its midranks within rows, from 2 for the smallest; give the sum of t**3 - t.

    That is over groups of t tied values: without ties the squares of a row's doubled ranks add up to
    2 k (k + 1)(2 k + 1) / 3, and each group takes (t**3 - t) / 3 away. Ranks are counted, k comparisons for each of k
    values in vectors: at k = 50 four times as fast as argsort. Smaller values are counted first: only if they are
    fewer than they would be without ties, equal ones too. Rows are padded to whole vectors.
    """
    n, k = table.shape
    padded = -(-k // LANES) * LANES
    values, doubled = np.full(padded, np.inf), np.empty(padded, dtype=np.int64)
    squares = 0
    for row in range(n):
        for j in range(k):
            values[j] = table[row, j]
        for j in range(padded):
            doubled[j] = 0
        for i in range(k):
            other = values[i]
            for j in range(padded):  # inside, so that no sum over lanes is needed
                doubled[j] += np.int64(other < values[j])
        smaller = 0
        for j in range(k):
            smaller += doubled[j]
            doubled[j] = 2 * doubled[j] + 2
        if smaller < k * (k - 1) // 2:
            for j in range(k):
                doubled[j] -= 1
            for i in range(k):
                other = values[i]
                for j in range(padded):
                    doubled[j] += np.int64(other == values[j])
        for j in range(k):
            sums[j] += doubled[j]
            squares += doubled[j] * doubled[j]
    return n * 2 * k * (k + 1) * (2 * k + 1) - 3 * squares


@kernel
def rank_sizes(ascending, keep_zeros, ranks):
    """Write twice the midranks of the sizes of ascending differences other than 0; give their number and twice W+.

    W+ is the sum of the ranks of positive differences. With `keep_zeros` the zeros take the first ranks. The sizes come
    in order from the sign's change outwards, so that nothing is sorted again.
    """
    after = 0
    while after < ascending.size and ascending[after] < 0:
        after += 1
    before = after - 1
    while after < ascending.size and ascending[after] == 0:
        after += 1
    first = 2 * (after - before - 1) if keep_zeros else 0
    count = 0
    plus = 0
    while before >= 0 or after < ascending.size:
        size = np.inf
        if before >= 0:
            size = -ascending[before]
        if after < ascending.size:
            size = min(size, ascending[after])
        start = count
        while before >= 0 and -ascending[before] == size:
            before -= 1
            count += 1
        positive = 0
        while after < ascending.size and ascending[after] == size:
            after += 1
            positive += 1
        count += positive
        rank = first + start + count + 1
        for k in range(start, count):
            ranks[k] = rank
        plus += positive * rank
    return count, plus


@kernel
def spread_signs(ranks, scratch):
    """Chance of each sum, from 0 on, of the positive ones among these ranks if each sign is as likely as the other.

    Exact for up to 53 ranks. `scratch` has two rows, longer than the sum of the ranks; the result is in one of them.
    """
    total = 0
    for rank in ranks:
        total += rank
    chances, wider = scratch[0, : total + 1], scratch[1, : total + 1]
    chances[:] = 0.0
    wider[:] = 0.0
    chances[0] = 1.0
    reached = 0
    for rank in ranks:
        reached += rank
        for s in range(rank):
            wider[s] = chances[s] / 2
        for s in range(rank, reached + 1):
            wider[s] = (chances[s] + chances[s - rank]) / 2
        chances, wider = wider, chances
    return chances


@kernel
def count_sums(ascending, limit):
    """Count sums of two ascending values, each with itself among them, up to a limit; give the two next to it too.

    Those are the largest of them and the smallest beyond, infinite where there is none.
    """
    n = ascending.size
    count = 0
    below, above = -np.inf, np.inf
    j = n - 1
    for i in range(n):
        while j >= i and ascending[i] + ascending[j] > limit:
            j -= 1
        if j + 1 < n:
            above = min(above, ascending[i] + ascending[j + 1])
        if j < i:
            break
        count += j - i + 1
        below = max(below, ascending[i] + ascending[j])
    return count, below, above


@kernel
def sum_at(ascending, place):
    """Sum of two ascending values at a place (from 0) among all n (n + 1) / 2, each with itself among them, in order.

    Each guess takes O(n), and what is left ends at sums that occur. Guesses by share of the places left and in the
    middle take turns: with the former alone outliers would make for many, with the latter alone it takes twice as long.
    """
    n = ascending.size
    low, high = 2 * ascending[0], 2 * ascending[n - 1]
    before, up_to = 0, n * (n + 1) // 2
    share = 0.5
    while low < high:
        limit = min(low + (high - low) * share, high)
        if limit == high:
            limit = low
        count, below, above = count_sums(ascending, limit)
        if count > place:
            high, up_to = below, count
        else:
            low, before = above, count
        share = (place + 0.5 - before) / (up_to - before) if share == 0.5 else 0.5
    return low


@kernel
def pseudomedian(ascending):
    """Twice the median of the means of two values, each with itself among them; 0 without values."""
    if ascending.size == 0:
        return 0.0
    sums = ascending.size * (ascending.size + 1) // 2
    upper = sum_at(ascending, sums // 2)
    if sums % 2:
        return upper
    count, below, _ = count_sums(ascending, np.nextafter(upper, -np.inf))
    lower = below if count == sums // 2 else upper
    return lower / 2 + upper / 2


@kernel
def signed_rank_tests(differences, keep_zeros, most_exact, largest_sum, out):
    """Write for each row of ascending differences what Wilcoxon's test is made of.

    That is: twice W+ and twice its largest value, the variance of W+, the chances of one so small and of one so large,
    and twice the pseudomedian. The chances are exact for up to `most_exact` differences other than 0 whose doubled
    ranks add up to at most `largest_sum`, else NaN.
    """
    n = differences.shape[1]
    ranks, spread = np.empty(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    others = np.empty(n)
    n_zeros = max(n - most_exact, 0)  # at least, of a row that is exact
    largest = n * (n + 1) - n_zeros * (n_zeros + 1) if keep_zeros else (n - n_zeros) * (n - n_zeros + 1)
    scratch = np.empty((2, min(largest, largest_sum) + 1))
    chances = spread_signs(spread[:0], scratch)
    n_spread = 0
    for row in range(differences.shape[0]):
        count, plus = rank_sizes(differences[row], keep_zeros, ranks)
        total = 0
        variance = 0.0
        same = count == n_spread
        for k in range(count):
            total += ranks[k]
            variance += np.float64(ranks[k]) * np.float64(ranks[k])
            same = same and ranks[k] == spread[k]
        lower = upper = np.nan
        if count <= most_exact and total <= largest_sum:
            if not same:  # without ties and zeros all rows have the same ranks
                for k in range(count):
                    spread[k] = ranks[k]
                n_spread = count
                chances = spread_signs(spread[:count], scratch)
            lower = upper = 0.0
            for s in range(plus + 1):
                lower += chances[s]
            for s in range(total - plus + 1):
                upper += chances[s]
        kept = 0
        for value in differences[row]:
            if keep_zeros or value != 0:
                others[kept] = value
                kept += 1
        out[row, 0], out[row, 1], out[row, 2] = plus, total, variance / 16
        out[row, 3], out[row, 4], out[row, 5] = lower, upper, pseudomedian(others[:kept])
