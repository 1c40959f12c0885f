"""Steps of a ranking, from the highest threshold down. Bootstrap draws are counted by step.

Step s has positives[s] and negatives[s], as numbers of rows or sums of weights. If tied[s] is set, all rows of the step
share one threshold; otherwise its positives come first, then its negatives, whatever their thresholds are.
"""

from fastevals._compile.jit import kernel, spared_kernel

STEPS_PER_STRETCH = 64  # steps whose sums bound the values in between, so that most stretches are skipped


@spared_kernel
def fill_steps(tps, fps, merge_negatives, merge_positives, cuts, cut_steps, step_of_row, sizes, tied):
    """Write steps from cumulative counts, merging rows that no metric distinguishes.

    Returns the number of steps and the largest count of a step.

    Negatives between two thresholds with positives may be merged, and so may positives between two thresholds with
    negatives, but never across a cut. cuts[k] is the last row of the counts above cut k, and cut_steps[k] becomes the
    number of steps above it. Nothing is written to arrays of size 0.
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
    """Return a count as a 64-bit integer, so that products of two counts fit; floats are unchanged."""
    return count + 0


@kernel
def totals(positives, negatives):
    """Return the total positives and negatives."""
    n_pos, n_neg = wide(positives[0]) * 0, wide(negatives[0]) * 0
    for step in range(positives.size):
        n_pos += positives[step]
        n_neg += negatives[step]
    return n_pos, n_neg


@kernel
def sum_of(counts, start, stop):
    """Return the sum of counts[start:stop]; integers are added in vector registers."""
    total = wide(counts[0]) * 0
    part = counts[start:stop]
    for i in range(part.size):
        total += part[i]
    return total


@kernel
def largest_step(positives, negatives):
    """Return the number of rows of the largest step."""
    largest = wide(positives[0]) * 0
    for step in range(positives.size):
        largest = max(largest, wide(positives[step]) + negatives[step])
    return largest


@kernel
def above_cut(positives, negatives, cut):
    """Return the positives and negatives of the steps above a cut."""
    tp, fp = wide(positives[0]) * 0, wide(negatives[0]) * 0
    for step in range(cut):
        tp += positives[step]
        fp += negatives[step]
    return tp, fp


@kernel
def add_counts(thresholds, tps, fps, other_thresholds, other_tps, other_fps, joint, joint_tps, joint_fps):
    """Add two parts' cumulative counts at each threshold of either part; return the number of thresholds.

    Thresholds descend from inf.
    """
    i, j, n = 0, 0, 0
    last, other_last = thresholds.size - 1, other_thresholds.size - 1
    while True:
        joint[n] = min(thresholds[i], other_thresholds[j])
        joint_tps[n], joint_fps[n] = tps[i] + other_tps[j], fps[i] + other_fps[j]
        n += 1
        if i == last or j == other_last:
            break
        # Advance the part with the higher next threshold, or both; a branch would be unpredictable.
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
    """For each of the descending `places`, write the row of its counts: the last row whose threshold is not lower."""
    row = 0
    for k in range(places.size):
        while row + 1 < thresholds.size and thresholds[row + 1] >= places[k]:
            row += 1
        rows[k] = row
