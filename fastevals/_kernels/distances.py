"""Distances between the distribution functions of two samples."""

import numpy as np

from fastevals._compile.jit import kernel


@kernel
def sweep_distances(x, x_rows, y, y_rows, places, rows, totals, previous, sums):
    """Merge a part of two ascending samples, and sum up the distances between their distribution functions.

    `x_rows` has the rows of each score, or is empty if each score is one row. `places` is where the part starts and
    stops in x and in y. `rows` are the numbers of rows of x and of y below the part, and `totals` the numbers of all
    rows. `previous` is the score before the part. sums[0] becomes the largest distance times both totals, sums[1] the
    highest score at which it is attained (infinite if the distance is 0), and sums[2] the area between the distribution
    functions.

    Each score has a signed distance from `previous`, in which stretches count as negative where the distribution
    function of y is higher. sums[3] becomes the signed distance of the last score, sums[4] and sums[5] the sums of
    signed distances and of their squares over the rows of x, and sums[6] and sums[7] over the rows of y.
    """
    i, x_stop, j, y_stop = places[0], places[1], places[2], places[3]
    below_x, below_y, n, m = rows[0], rows[1], totals[0], totals[1]
    largest, at, area, signed, scale = 0.0, np.inf, 0.0, 0.0, 1 / (n * m)
    x_sum, x_square, y_sum, y_square = 0.0, 0.0, 0.0, 0.0
    while i < x_stop or j < y_stop:
        a = x[i] if i < x_stop else np.inf
        b = y[j] if j < y_stop else np.inf
        score = min(a, b)
        if score > previous:
            distance, length = below_x * m - below_y * n, score - previous
            if abs(distance) >= largest and distance != 0:
                largest, at = abs(distance), score
            area += abs(distance) * scale * length
            signed += length if distance > 0 else -length if distance < 0 else 0.0
            previous = score
        of_x = 1 if a <= b else 0  # multiplied: a branch on it would be predicted wrong half of the time
        of_y = 1 - of_x
        x_row, y_row = float(of_x), float(of_y)
        if x_rows.size and of_x:
            x_row = x_rows[i]
        if y_rows.size and of_y:
            y_row = y_rows[j]
        i, j, below_x, below_y = i + of_x, j + of_y, below_x + x_row, below_y + y_row
        x_sum, x_square = x_sum + x_row * signed, x_square + x_row * signed * signed
        y_sum, y_square = y_sum + y_row * signed, y_square + y_row * signed * signed
    sums[0], sums[1], sums[2], sums[3] = largest, at, area, signed
    sums[4], sums[5], sums[6], sums[7] = x_sum, x_square, y_sum, y_square
