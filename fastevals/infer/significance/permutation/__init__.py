"""Permutation tests: two models' outputs on the same rows are swapped at random, or differences change their signs."""

from fastevals.infer.significance.permutation.calls import paired_permutation_test, permutation_test
from fastevals.infer.significance.permutation.result import PermutationResult
from fastevals.infer.significance.permutation.signs import permutation_of_pairs, permutation_plan

__all__ = [
    "PermutationResult",
    "paired_permutation_test",
    "permutation_of_pairs",
    "permutation_plan",
    "permutation_test",
]
