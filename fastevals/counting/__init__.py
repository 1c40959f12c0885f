"""From arrays to counts: keys, sorting, labels and pairs of them, groups, columns of scores, placements."""
