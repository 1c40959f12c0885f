"""Permutation tests that compare two models by their outputs on the same rows.

If two models are alike, either of a row's two outputs could as well have come from the other model. A test has three
steps:

1. Reduce the data to the part that a permutation changes. Predicted labels become counts of rows, and a permutation
   draws one binomial number for each true class and pair of different predictions (`labels`). Scores are ranked once,
   and a permutation draws one bit per row, which assigns the two scores to the models (`scores`). For mean losses and
   for paired measurements, a permutation flips the signs of differences (`targets`, `signs`).
2. Enumerate all permutations if they are few; otherwise draw a sample. The differences in the metric form the
   `PermutationDistribution` (`distribution`).
3. The p-value is the share of permutations at least as extreme as the data. If k of n sampled permutations are so
   extreme, the p-value is (1 + k) / (1 + n). The module `permutation` has the public functions and their result.
"""
