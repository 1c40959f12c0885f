"""From arrays to counts: keys, sorting, labels and their pairs, groups, columns of scores, placements."""
