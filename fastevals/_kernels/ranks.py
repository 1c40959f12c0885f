"""Ranks of columns within each row of a table, and ranks of the sizes of differences; doubled, to be integers."""

import numpy as np

from fastevals._compile.jit import kernel
from fastevals._kernels import UNIT_64

FLOATS_PER_VECTOR = 8  # float64 in the widest vector register


@kernel
def add_ranks(table, sums):
    """Add to each column's sum its doubled midranks within rows (2 for the smallest); return the sum of t**3 - t.

    This sum is over groups of t tied values. Without ties the squares of a row's doubled ranks add up to 2 k (k + 1)(2
    k + 1) / 3, and each group reduces this by (t**3 - t) / 3. Ranks are counted with k vectorised comparisons for each
    of k values; at k = 50 this is four times as fast as argsort. Smaller values are counted first; equal values are
    counted only if ties have reduced the number of smaller values. Rows are padded to whole vectors.
    """
    n, k = table.shape
    padded = -(-k // FLOATS_PER_VECTOR) * FLOATS_PER_VECTOR
    values, doubled = np.full(padded, np.inf), np.empty(padded, dtype=np.int64)
    squares = 0
    for row in range(n):
        for j in range(k):
            values[j] = table[row, j]
        for j in range(padded):
            doubled[j] = 0
        for i in range(k):
            other = values[i]
            for j in range(padded):  # the inner loop, so that no sum over lanes is needed
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
    """From ascending differences, write the doubled midranks of the non-zero sizes; return their number and twice W+.

    W+ is the sum of the ranks of positive differences. With `keep_zeros`, zeros use up the lowest ranks. Sizes are read
    in order, outwards from the change of sign, so that nothing is sorted again.
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
    """Return the probabilities of the sums 0, 1, 2, ... of positive ranks, if both signs are equally likely.

    The probabilities are exact for up to 53 ranks. `scratch` has two rows, each with more entries
    than the sum of the ranks; the result is one of these rows.
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


# The sums of two values in order -----------------------------------------------------------------------------------
# Johnson, D. B. and Mizoguchi, T. (1978), "Selecting the Kth Element in X + Y and X1 + X2 + ... + Xm", SIAM Journal on
# Computing 7, 147-153, doi:10.1137/0207013: n steps count how many sums of two of n sorted values are within a limit.
# The first limits come from a sample of the values, later ones from interpolation: a million values need three passes
# instead of 15. Equal values are stored once: ends[k] rows are below value k, and ends[k + 1] rows are not above it.

FEW_SUMS = 64  # up to this many sums are listed in one go, even with few values
SAMPLED_VALUES = 4096  # size of the sample, which is drawn from 16 times as many values or more


@kernel
def distinct_values(ascending, values, ends):
    """Write the distinct values and, after a 0, the number of rows up to each; return the number of distinct values."""
    n = 0
    ends[0] = 0
    for row in range(ascending.size):
        n += row == 0 or ascending[row] != values[n - 1]
        values[n - 1], ends[n] = ascending[row], row + 1
    return n


@kernel
def count_sums(values, ends, first, second):
    """For each of two limits, count the sums of two rows' values up to it; a row is also paired with itself.

    Returns for each limit the count, the largest sum up to it and the smallest sum beyond it, infinite if there is
    none. Each step drops the smallest or the largest value left. It does so without a branch, because a branch would be
    unpredictable. The limits share a loop because each step waits for the one before; this halves the time per limit.
    """
    inf, zero, last = np.inf, UNIT_64 - UNIT_64, np.uint64(values.size - 1)
    count, below, above, i, j = 0, -inf, inf, zero, last
    other_count, other_below, other_above, other_i, other_j = 0, -inf, inf, zero, last
    for _ in range(values.size):
        total = values[i] + values[j]
        within = total <= first
        rows = ends[i + UNIT_64] - ends[i]
        count += (rows * (ends[j + UNIT_64] - ends[i]) - (rows * (rows - 1) >> 1)) * within
        below = max(below, total if within else -inf)
        above = min(above, inf if within else total)
        i, j = i + np.uint64(within), j - (UNIT_64 - np.uint64(within))
        total = values[other_i] + values[other_j]
        within = total <= second
        rows = ends[other_i + UNIT_64] - ends[other_i]
        other_count += (rows * (ends[other_j + UNIT_64] - ends[other_i]) - (rows * (rows - 1) >> 1)) * within
        other_below = max(other_below, total if within else -inf)
        other_above = min(other_above, inf if within else total)
        other_i, other_j = other_i + np.uint64(within), other_j - (UNIT_64 - np.uint64(within))
    return (count, below, above), (other_count, other_below, other_above)


@kernel
def list_sums(values, ends, low, high, sums):
    """Write the sums of two rows' values from `low` to `high`; `sums` has room for exactly these."""
    found = 0
    i, j = 0, values.size - 1
    for _ in range(values.size):
        if values[i] + values[j] > high:
            j -= 1
            continue
        rows = ends[i + 1] - ends[i]
        k = j
        while k >= i and values[i] + values[k] >= low:
            times = rows * (ends[k + 1] - ends[k]) if k > i else rows * (rows + 1) // 2
            for _ in range(times):
                sums[found] = values[i] + values[k]
                found += 1
            k -= 1
        i += 1


@kernel
def select(values, place):
    """Return the value at a place (from 0) in sorted order.

    Reorders `values` (Hoare 1961, doi:10.1145/366622.366647).
    """
    first, last = 0, values.size - 1
    while first < last:
        pivot = values[(first + last) // 2]
        i, j = first, last
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if place <= j:
            last = j
        elif place >= i:
            first = i
        else:
            break
    return values[place]


@kernel
def narrow(place, bracket, counted):
    """Narrow the bracket of the sum at `place` by a count.

    A bracket is (low, high, number of sums before low, number of sums up to high).
    """
    low, high, before, up_to = bracket
    count, below, above = counted
    if count > place:
        return (low, below, before, count) if below < high else bracket
    return (above, high, count, up_to) if above > low else bracket


@kernel
def sum_within(values, ends, place, bracket):
    """Return the sum at a place within a bracket, which interpolated limits narrow until few sums are left to list.

    If limits exclude little, as with outliers, the next limits cut the bracket into thirds.
    """
    few = max(values.size // 8, FEW_SUMS)
    thirds = False
    while True:
        low, high, before, up_to = bracket
        left = up_to - before
        if low >= high or left <= few:
            break
        share, margin = (place - before + 0.5) / left, few / 4 / left
        if thirds:
            share, margin = 0.5, 1 / 6
        first, second = low + (high - low) * max(share - margin, 0.0), low + (high - low) * min(share + margin, 1.0)
        counted = count_sums(values, ends, first, second if second < high else low)
        bracket = narrow(place, narrow(place, bracket, counted[0]), counted[1])
        thirds = not thirds and bracket[3] - bracket[2] > left // 4
    if low >= high:
        return low
    sums = np.empty(left)
    list_sums(values, ends, low, high, sums)
    return select(sums, place - before)


@kernel
def sum_at(values, ends, place):
    """Return the sum of two rows' values at a place (from 0) in the sorted order of all n (n + 1) / 2 pairs of rows.

    A row is also paired with itself. The first limits are sums of a sample, whose values stand for their neighbours.
    """
    n, rows = values.size, ends[-1]
    bracket = 2 * values[0], 2 * values[n - 1], 0, rows * (rows + 1) // 2
    if n >= 16 * SAMPLED_VALUES:
        stride = n // SAMPLED_VALUES
        sample, up_to = np.empty(n // stride), np.empty(n // stride + 1, dtype=np.int64)
        for k in range(sample.size):  # copying a slice took 4 s to compile
            sample[k], up_to[k] = values[k * stride + stride // 2], ends[k * stride]
        up_to[sample.size] = rows
        whole = 2 * sample[0], 2 * sample[-1], 0, bracket[3]
        margin = bracket[3] // (2 * sample.size)
        first = sum_within(sample, up_to, max(place - margin, 0), whole)
        second = sum_within(sample, up_to, min(place + margin, whole[3] - 1), whole)
        counted = count_sums(values, ends, first, second)
        bracket = narrow(place, narrow(place, bracket, counted[0]), counted[1])
    return sum_within(values, ends, place, bracket)


@kernel
def pseudomedian(values, ends):
    """Return twice the median of the means of all pairs of rows; a row is also paired with itself. 0 without rows."""
    if ends[-1] == 0:
        return 0.0
    sums = ends[-1] * (ends[-1] + 1) // 2
    upper = sum_at(values, ends, sums // 2)
    if sums % 2:
        return upper
    limit = np.nextafter(upper, -np.inf)
    (count, below, _), _ = count_sums(values, ends, limit, limit)
    lower = below if count == sums // 2 else upper
    return lower / 2 + upper / 2


@kernel
def walsh_ends(differences, keep_zeros, places, out):
    """Write the sums of two differences at `places` from the end and from the start, for each row of differences.

    Differences ascend; zeros are left out unless `keep_zeros`. The sums are infinite for a place below 0.
    """
    n = differences.shape[1]
    others, values, ends = np.empty(n), np.empty(n), np.empty(n + 1, dtype=np.int64)
    for row in range(differences.shape[0]):
        out[row, 0], out[row, 1] = -np.inf, np.inf
        if places[row] < 0:
            continue
        kept = 0
        for value in differences[row]:
            if keep_zeros or value != 0:
                others[kept] = value
                kept += 1
        m = distinct_values(others[:kept], values, ends)
        last = kept * (kept + 1) // 2 - 1
        out[row, 0] = sum_at(values[:m], ends[: m + 1], last - places[row])
        out[row, 1] = sum_at(values[:m], ends[: m + 1], places[row])


@kernel
def rank_balances(differences, out):
    """Write (W+ - W-) / (W+ + W-) for each row of ascending differences, zeros dropped; 0 without other differences."""
    ranks = np.empty(differences.shape[1], dtype=np.int64)
    for row in range(differences.shape[0]):
        count, plus = rank_sizes(differences[row], False, ranks)
        total = count * (count + 1)  # of doubled ranks
        out[row] = (2 * plus - total) / total if count else 0.0


@kernel
def signed_rank_tests(differences, keep_zeros, most_exact, largest_sum, out):
    """Write the parts of Wilcoxon's test for each row of ascending differences.

    The parts are twice W+, twice the largest possible W+, the variance of W+, the probability that W+ is at most the
    observed W+, the probability that it is at least the observed W+, and twice the pseudomedian. The probabilities are
    exact for up to `most_exact` non-zero differences whose doubled ranks add up to at most `largest_sum`; otherwise
    they are NaN. The pseudomedian takes most of the time; with only five columns in `out` it is left out.
    """
    n = differences.shape[1]
    ranks, spread = np.empty(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    others, values, ends = np.empty(n), np.empty(n), np.empty(n + 1, dtype=np.int64)
    n_zeros = max(n - most_exact, 0)  # the fewest zeros of a row with exact probabilities
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
            if not same:  # rows without ties and zeros all have the same ranks
                for k in range(count):
                    spread[k] = ranks[k]
                n_spread = count
                chances = spread_signs(spread[:count], scratch)
            lower = upper = 0.0
            for s in range(plus + 1):
                lower += chances[s]
            for s in range(total - plus + 1):
                upper += chances[s]
        out[row, 0], out[row, 1], out[row, 2], out[row, 3], out[row, 4] = plus, total, variance / 16, lower, upper
        if out.shape[1] == 5:
            continue
        kept = 0
        for value in differences[row]:
            if keep_zeros or value != 0:
                others[kept] = value
                kept += 1
        n_values = distinct_values(others[:kept], values, ends)
        out[row, 5] = pseudomedian(values[:n_values], ends[: n_values + 1])
