"""Errors of predicted numbers in each group: sums in the order of the rows, medians from errors sorted by group."""

from fastevals._compile.jit import kernel
from fastevals._kernels.compensated import accumulate
from fastevals._kernels.groups_metrics import sum_of
from fastevals._kernels.median import find_half
from fastevals._kernels.regression import EPSILON


@kernel
def add_errors(groups, targets, predictions, weights, sums, targets_so_far):
    """Add each row to the pairs sums[group, 5, 2]: weight, squared error, over- and underprediction, relative error.

    targets_so_far[group] holds the targets' mean, their squared deviations from it, the first target, and how many
    targets differ from the first. Welford's algorithm makes equal targets deviate by exactly 0 (West 1979,
    doi:10.1145/359146.359153).
    """
    for i in range(groups.size):
        g, y = groups[i], targets[i]
        weight = 1.0 if weights is None else weights[i]
        here, seen = sums[g], targets_so_far[g]
        before = here[0, 0]
        if before == 0.0:
            seen[2] = y
        error = y - predictions[i]
        accumulate(here[0], weight)
        accumulate(here[1], error * error * weight)
        accumulate(here[2], -min(error, 0.0) * weight)
        accumulate(here[3], max(error, 0.0) * weight)
        accumulate(here[4], abs(error) / max(abs(y), EPSILON) * weight)
        deviation = y - seen[0]
        share = weight / here[0, 0]
        seen[0] += deviation * share
        seen[1] += before * share * deviation * deviation
        seen[3] += y != seen[2]


@kernel
def middle_rows(weights, errors, starts, first, last, rows):
    """Write the two rows (or one twice) whose errors give each group's weighted median; errors ascend within groups."""
    for g in range(first, last):
        start, stop = starts[g], starts[g + 1]
        low, high = find_half(errors[start:stop], weights[start:stop], *sum_of(weights[start:stop]))
        rows[g, 0], rows[g, 1] = start + low, start + high
