"""Steps of a ranking, from the highest threshold down: what bootstrap draws are counted by.

Step s has positives[s] and negatives[s], numbers of rows or sums of weights: at one threshold where they are tied, else
the positives first and the negatives, of whatever thresholds, after them.
"""

from fastevals._compile.jit import kernel

STEPS_PER_STRETCH = 64  # steps whose sums bound what can be among them, so that most need no look


@kernel
def fill_steps(tps, fps, merge_negatives, merge_positives, cuts, cut_steps, step_of_row, sizes, tied):
    """Write the steps of cumulative counts, merging what no metric tells apart; give their number and largest cell.

    Negatives between two thresholds with positives may be one, and positives between two with negatives, but nothing
    across a cut: cuts[k] is the last row of the counts above it, cut_steps[k] then the number of steps above it.
    Nothing is written to arrays without room.
    """
    steps, cut = 0, 0
    largest, up, down, open_ = tps[0] * 0, tps[0] * 0, tps[0] * 0, False  # of the step so far
    for row in range(1, tps.size):
        while cut < cuts.size and cuts[cut] < row:
            cut_steps[cut] = steps
            cut += 1
            open_ = False
        positives, negatives = tps[row] - tps[row - 1], fps[row] - fps[row - 1]
        if open_ and ((merge_negatives and positives == 0) or (merge_positives and negatives == 0 and down == 0)):
            up, down = up + positives, down + negatives
        else:
            up, down, open_ = positives, negatives, positives == 0 or negatives == 0
            steps += 1
        largest = max(largest, up, down)
        if step_of_row.size:
            step_of_row[row] = steps - 1
        if tied.size:
            sizes[0, steps - 1], sizes[1, steps - 1], tied[steps - 1] = up, down, not open_
    cut_steps[cut:] = steps
    return steps, largest


@kernel
def wide(count):
    """Return a count as 64 bits: products of two of them then fit; a float stays one."""
    return count + 0


@kernel
def totals(positives, negatives):
    """Positives and negatives in all."""
    n_pos, n_neg = wide(positives[0]) * 0, wide(negatives[0]) * 0
    for step in range(positives.size):
        n_pos += positives[step]
        n_neg += negatives[step]
    return n_pos, n_neg


@kernel
def sum_of(counts, start, stop):
    """Sum of some counts: integers in vector registers."""
    total = wide(counts[0]) * 0
    part = counts[start:stop]
    for i in range(part.size):
        total += part[i]
    return total


@kernel
def largest_step(positives, negatives):
    """Rows of the largest of some steps."""
    largest = wide(positives[0]) * 0
    for step in range(positives.size):
        largest = max(largest, wide(positives[step]) + negatives[step])
    return largest


@kernel
def above_cut(positives, negatives, cut):
    """Positives and negatives of the steps above a cut."""
    tp, fp = wide(positives[0]) * 0, wide(negatives[0]) * 0
    for step in range(cut):
        tp += positives[step]
        fp += negatives[step]
    return tp, fp


@kernel
def add_counts(thresholds, tps, fps, other_thresholds, other_tps, other_fps, joint, joint_tps, joint_fps):
    """Add cumulative counts of two parts at each threshold of either, descending from inf; give the number of them."""
    i, j, n = 0, 0, 0
    last, other_last = thresholds.size - 1, other_thresholds.size - 1
    while True:
        joint[n] = min(thresholds[i], other_thresholds[j])
        joint_tps[n], joint_fps[n] = tps[i] + other_tps[j], fps[i] + other_fps[j]
        n += 1
        if i == last or j == other_last:
            break
        # Whichever has the higher threshold next goes on, or both: no branch, for which it is can't be guessed.
        mine, other = thresholds[i + 1], other_thresholds[j + 1]
        i += mine >= other
        j += other >= mine
    while i < last:
        i += 1
        joint[n], joint_tps[n], joint_fps[n] = thresholds[i], tps[i] + other_tps[j], fps[i] + other_fps[j]
        n += 1
    while j < other_last:
        j += 1
        joint[n], joint_tps[n], joint_fps[n] = other_thresholds[j], tps[i] + other_tps[j], fps[i] + other_fps[j]
        n += 1
    return n


@kernel
def rows_at(thresholds, places, rows):
    """Write the row of counts at each of some descending thresholds: the last one that is not below it."""
    row = 0
    for k in range(places.size):
        while row + 1 < thresholds.size and thresholds[row + 1] >= places[k]:
            row += 1
        rows[k] = row
