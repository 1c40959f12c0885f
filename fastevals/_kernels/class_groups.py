"""How a class's areas change with the mass of rows, added up by groups of rows.

Rows are in descending order of scores. `positive` tells the rows of the class, `classes` the class of each row, and
`groups` its group. `mass` has the mass of each row; if it is empty, each row has mass 1. `class_mass` has the mass of
each class, or is empty if the sum over pairs of classes isn't wanted.
"""

from fastevals._compile.jit import kernel


@kernel
def count_area_sums(scores, positive, classes, mass, won):
    """Return the sums that `add_area_changes` needs; write the mass of pairs won against the rows of each class.

    These sums are the mass of positives and negatives, and over positives the sums of the precision, of the negatives
    above, and of the positives above, the last two divided by the square of all rows above.
    """
    won[:] = 0.0
    precisions, negatives_above, positives_above = 0.0, 0.0, 0.0
    above, rows_above = 0.0, 0.0
    start, n = 0, scores.size
    while start < n:
        score, stop = scores[start], start
        level, rows = 0.0, 0.0
        while stop < n and scores[stop] == score:
            weight = mass[stop] if mass.size else 1.0
            rows += weight
            level += weight if positive[stop] else 0.0
            stop += 1
        for place in range(start, stop):
            if not positive[place]:
                won[classes[place]] += (mass[place] if mass.size else 1.0) * (above + level / 2)
        above += level
        rows_above += rows
        if level > 0:
            precisions += level * above / rows_above
            negatives_above += level * (rows_above - above) / rows_above**2
            positives_above += level * above / rows_above**2
        start = stop
    return above, rows_above - above, precisions, negatives_above, positives_above


@kernel
def add_area_changes(scores, positive, classes, mass, won, class_mass, sums, groups, auc, precision, pairs):
    """Add each row's mass, times the derivative of an area by that mass, to the row's group.

    The areas are the AUC, the average precision and, with `class_mass`, the sum of the AUCs against each other class;
    they are returned. `won` and `sums` come from `count_area_sums`. Classes without rows are left out of the sum.
    """
    n_pos, n_neg = sums[0], sums[1]
    area, average = won.sum() / (n_pos * n_neg), sums[2] / n_pos
    negatives_below, positives_below = sums[3], sums[4]
    n_others, all_pairs = 0.0, 0.0
    for k in range(class_mass.size):
        if won[k] > 0:
            won[k] /= n_pos * class_mass[k]
            all_pairs += won[k]
    above, rows_above, others_above = 0.0, 0.0, 0.0
    if class_mass.size:
        for place in range(scores.size):
            if not positive[place]:
                n_others += (mass[place] if mass.size else 1.0) / class_mass[classes[place]]
    start, n = 0, scores.size
    while start < n:
        score, stop = scores[start], start
        level, rows, others = 0.0, 0.0, 0.0
        while stop < n and scores[stop] == score:
            weight = mass[stop] if mass.size else 1.0
            rows += weight
            if positive[stop]:
                level += weight
            elif class_mass.size:
                others += weight / class_mass[classes[stop]]
            stop += 1
        placed = (above + level / 2) / n_pos  # share of positives above; ties count half
        below = 1.0 - (rows_above - above + (rows - level) / 2) / n_neg  # share of negatives below
        others_below = n_others - others_above - others / 2
        ratio = (above + level) / (rows_above + rows)
        for place in range(start, stop):
            weight, group = mass[place] if mass.size else 1.0, groups[place]
            if positive[place]:
                auc[group] += weight * (below - area) / n_pos
                precision[group] += weight * (ratio - average + negatives_below) / n_pos
                if class_mass.size:
                    pairs[group] += weight * (others_below - all_pairs) / n_pos
            else:
                auc[group] += weight * (placed - area) / n_neg
                precision[group] -= weight * positives_below / n_pos
                if class_mass.size:
                    k = classes[place]
                    pairs[group] += weight * (placed - won[k]) / class_mass[k]
        above += level
        rows_above += rows
        others_above += others
        if level > 0:
            negatives_below -= level * (rows_above - above) / rows_above**2
            positives_below -= level * above / rows_above**2
        start = stop
    return area, average, all_pairs
