"""Permutation tests: outcomes of labels, scores, targets or differences that are swapped at random."""
