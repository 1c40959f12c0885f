"""What each row of class probabilities adds to a metric: one column of scores per class, one class per row."""

import numpy as np

from fastevals._compile.jit import kernel
from fastevals._kernels.draws import ROW_BLOCK


@kernel
def scores_of_true(columns, codes, start, out):
    """Write each row's score of its own class; out[0] is of row `start`."""
    for i in range(out.size):
        out[i] = columns[codes[start + i], start + i]


@kernel
def squared_distances(columns, codes, start, out):
    """Write the squared distance of each row's scores from 1 for its class and 0 for others."""
    for first in range(0, out.size, ROW_BLOCK):
        block = out[first : first + ROW_BLOCK]
        block[:] = 0.0
        for k in range(columns.shape[0]):
            column, code = columns[k, start + first :], codes[start + first :]
            for i in range(block.size):
                distance = np.float64(column[i]) - (code[i] == k)
                block[i] += distance * distance


@kernel
def squared_distances_of_sums(columns, codes, start, out):
    """Write the sum over classes of the squared distance between the sums of scores and of truths up to the class."""
    sums = np.empty(ROW_BLOCK)
    for first in range(0, out.size, ROW_BLOCK):
        block = out[first : first + ROW_BLOCK]
        block[:] = 0.0
        sums[:] = 0.0
        for k in range(columns.shape[0] - 1):
            column, code = columns[k, start + first :], codes[start + first :]
            for i in range(block.size):
                sums[i] += column[i]
                distance = sums[i] - (code[i] <= k)
                block[i] += distance * distance


@kernel
def ranks_of_true(columns, codes, start, own, out):
    """Write how many classes come before a row's class: with a score above `own`, or equal to it and a lower number."""
    for first in range(0, out.size, ROW_BLOCK):
        block, mine = out[first : first + ROW_BLOCK], own[first : first + ROW_BLOCK]
        block[:] = 0
        for k in range(columns.shape[0]):
            column, code = columns[k, start + first :], codes[start + first :]
            for i in range(block.size):
                block[i] += (column[i] > mine[i]) | ((column[i] == mine[i]) & (k < code[i]))


@kernel
def most_probable(columns, start, best, out):
    """Write the number of the class with the highest score, the first one of equal scores, and that score."""
    for first in range(0, out.size, ROW_BLOCK):
        block, top = out[first : first + ROW_BLOCK], best[first : first + ROW_BLOCK]
        for i in range(block.size):
            block[i] = 0
            top[i] = columns[0, start + first + i]
        for k in range(1, columns.shape[0]):
            column = columns[k, start + first :]
            for i in range(block.size):
                higher = column[i] > top[i]
                block[i] = k if higher else block[i]
                top[i] = column[i] if higher else top[i]
