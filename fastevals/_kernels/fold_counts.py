"""Counts and sums over the rows of each test set, from the number of the fold that tests each row.

`folds[n_repeats, n_samples]` are unsigned; a row whose number is `n_folds` or higher is in no test set.
"""

from fastevals._compile.jit import kernel


@kernel
def count_cells(folds, cells, counts):
    """Count the rows of each cell into counts[n_repeats, n_folds, n_cells]."""
    n_folds = counts.shape[1]
    for repeat in range(folds.shape[0]):
        of_repeat = counts[repeat]
        for row in range(cells.size):
            fold = folds[repeat, row]
            if fold < n_folds:
                of_repeat[fold, cells[row]] += 1


@kernel
def add_terms(folds, terms, totals):
    """Add each row's terms to the totals of the test sets that have the row, and 1 to the first total.

    Shapes are terms[n_samples, n_terms] and totals[n_repeats, n_folds, at least 1 + n_terms].
    """
    n_folds, n_terms = totals.shape[1], terms.shape[1]
    for repeat in range(folds.shape[0]):
        of_repeat = totals[repeat]
        for row in range(terms.shape[0]):
            fold = folds[repeat, row]
            if fold < n_folds:
                of_repeat[fold, 0] += 1.0
                for k in range(n_terms):
                    of_repeat[fold, k + 1] += terms[row, k]


@kernel
def add_deviations(folds, values, sizes, totals):
    """Write the mean of the values, and the sum of squared deviations from the mean, to the last two totals.

    Uses Welford's algorithm, in which equal values deviate by exactly 0. `sizes` is scratch with n_folds elements.
    """
    n_folds, mean, scatter = totals.shape[1], totals.shape[2] - 2, totals.shape[2] - 1
    for repeat in range(folds.shape[0]):
        of_repeat = totals[repeat]
        sizes[:] = 0.0
        for row in range(values.size):
            fold = folds[repeat, row]
            if fold < n_folds:
                sizes[fold] += 1.0
                deviation = values[row] - of_repeat[fold, mean]
                of_repeat[fold, mean] += deviation / sizes[fold]
                of_repeat[fold, scatter] += deviation * (values[row] - of_repeat[fold, mean])
