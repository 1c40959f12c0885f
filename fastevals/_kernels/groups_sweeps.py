"""Metrics of each group, from kernels for bootstrap replicates, which sweep the steps of a ranking (see `steps`).

A group is treated as a replicate in which the weight of a row is the number of its draws. Rows are stored as
in `groups_metrics`.
"""

import numpy as np

from fastevals._compile.jit import kernel, kernel_maker
from fastevals._kernels.compensated import add


@kernel
def fill_group_steps(keys, weights, starts, first, last, positives, negatives, step_keys, ends, totals):
    """For each group from `first` up to `last`, write its steps (one per distinct key), where they end, and its totals.

    A class's weight in a step is the running total after the step minus the total before it. Each total is rounded
    once, so rounding errors don't add up.
    """
    step = 0
    for g in range(first, last):
        start, middle = starts[2 * g], starts[2 * g + 1]
        negative, positive = middle - 1, starts[2 * g + 2] - 1  # the highest not yet counted
        tp, tp_low, fp, fp_low = 0.0, 0.0, 0.0, 0.0
        while negative >= start or positive >= middle:
            if positive < middle or (negative >= start and keys[negative] > keys[positive]):
                key = keys[negative]
            else:
                key = keys[positive]
            tp_before, fp_before = tp, fp
            while positive >= middle and keys[positive] == key:
                tp, tp_low = add(tp, tp_low, weights[positive])
                positive -= 1
            while negative >= start and keys[negative] == key:
                fp, fp_low = add(fp, fp_low, weights[negative])
                negative -= 1
            positives[step], negatives[step], step_keys[step] = tp - tp_before, fp - fp_before, key
            step += 1
        ends[g - first] = step
        totals[g - first, 0], totals[g - first, 1] = tp, fp


@kernel
def sum_over_rows(positives, negatives, of_positive, of_negative, bins, ends, totals, out):
    """Write one mean per group: every positive and every negative row contributes the term given for its step.

    Terms are summed within each bin of steps, and the absolute values of these sums are added up. NaN without steps.
    """
    start = 0
    for g in range(ends.size):
        total, off = 0.0, 0.0
        for step in range(start, ends[g]):
            if step > start and bins[step] != bins[step - 1]:
                total += abs(off)
                off = 0.0
            off += positives[step] * of_positive[step] if positives[step] > 0 else 0.0
            off += negatives[step] * of_negative[step] if negatives[step] > 0 else 0.0
        out[g, 0] = (total + abs(off)) / (totals[g, 0] + totals[g, 1]) if ends[g] > start else np.nan
        start = ends[g]


@kernel
def write_value(out, g, value):
    """Write the value of a group."""
    out[g, 0] = value


@kernel
def write_counts(out, g, counts):
    """Write the two counts of a group."""
    out[g, 0], out[g, 1] = counts


@kernel_maker
def sweep_of_groups(metric, gives_counts):
    """Make the kernel that sweeps a metric over groups."""
    write = write_counts if gives_counts else write_value

    @kernel
    def sweep(positives, negatives, tied, ends, totals, parameters, scratch, out):
        """Write each group's metric to out[g], NaN for a group without steps; the steps of group g end at ends[g]."""
        start = 0
        for g in range(ends.size):
            rows = slice(start, ends[g])
            start = ends[g]
            if rows.start == rows.stop:
                out[g] = np.nan
                continue
            more = parameters + scratch
            write(out, g, metric(positives[rows], negatives[rows], tied[rows], totals[g, 0], totals[g, 1], *more))

    return sweep
