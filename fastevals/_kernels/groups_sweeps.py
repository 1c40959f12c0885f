"""Metrics of each group by the kernels of bootstrap replicates, which take the steps of a ranking (see `steps`).

A group is to them a replicate in which each row was drawn as often as its weight says. How rows lie: `groups_metrics`.
"""

import numpy as np

from fastevals._kernels.compensated import add
from fastevals._kernels.jit import kernel, kernel_maker


@kernel
def fill_group_steps(keys, weights, starts, first, last, positives, negatives, step_keys, ends, totals):
    """Write the steps of the groups from `first` up to `last`, a step a distinct key, where each group's end, and sums.

    What a step has of a class is the difference of two sums, each rounded once: roundings don't add up.
    """
    step = 0
    for g in range(first, last):
        start, middle = starts[2 * g], starts[2 * g + 1]
        negative, positive = middle - 1, starts[2 * g + 2] - 1  # the highest that are not yet counted
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
def none_of(arrays, rows):
    """Return no arrays."""
    return ()


@kernel
def part_of_one(arrays, rows):
    """Return a part of the array."""
    return (arrays[0][rows],)


@kernel
def part_of_two(arrays, rows):
    """Return the same part of both arrays."""
    return arrays[0][rows], arrays[1][rows]


@kernel
def write_value(out, g, value):
    """Write the value of a group."""
    out[g, 0] = value


@kernel
def write_counts(out, g, counts):
    """Write the two counts of a group."""
    out[g, 0], out[g, 1] = counts


PARTS = none_of, part_of_one, part_of_two


@kernel_maker
def sweep_of_groups(metric, n_arrays, gives_counts):
    """Make the kernel that sweeps a metric of groups. Of each step the metric may take numbers from some arrays."""
    parts, write = PARTS[n_arrays], write_counts if gives_counts else write_value

    @kernel
    def sweep(positives, negatives, tied, ends, totals, parameters, arrays, scratch, out):
        """Write what the metric gives for each group to out[g], NaN where it has no steps; they end at ends[g]."""
        start = 0
        for g in range(ends.size):
            rows = slice(start, ends[g])
            start = ends[g]
            if rows.start == rows.stop:
                out[g] = np.nan
                continue
            more = parameters + parts(arrays, rows) + scratch
            write(out, g, metric(positives[rows], negatives[rows], tied[rows], totals[g, 0], totals[g, 1], *more))

    return sweep
