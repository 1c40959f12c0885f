"""Distances between the distributions of scores of two classes."""

from fastevals._compile.jit import kernel


@kernel
def area_between(thresholds, tps, fps, sums):
    """Write the sums for the Wasserstein distance and its standard error; thresholds descend.

    sums[0] becomes the area between the two distribution functions. Each score has a signed distance from the lowest
    score: a stretch between two scores counts as negative if a higher share of the negatives than of the positives is
    above it. sums[1] and sums[2] become its means over positives and negatives, and sums[3] and sums[4] the means of
    its squares.
    """
    n_pos, n_neg = float(tps[tps.size - 1]), float(fps[fps.size - 1])
    area, signed = 0.0, 0.0
    positives, negatives, positive_squares, negative_squares = 0.0, 0.0, 0.0, 0.0
    for row in range(tps.size - 2, 0, -1):
        length = thresholds[row] - thresholds[row + 1]
        distance = tps[row] / n_pos - fps[row] / n_neg
        area += abs(distance) * length
        signed += length if distance > 0 else -length if distance < 0 else 0.0
        up, down = float(tps[row] - tps[row - 1]), float(fps[row] - fps[row - 1])
        positives += up * signed
        negatives += down * signed
        positive_squares += up * signed * signed
        negative_squares += down * signed * signed
    sums[0] = area
    sums[1], sums[2] = positives / n_pos, negatives / n_neg
    sums[3], sums[4] = positive_squares / n_pos, negative_squares / n_neg
