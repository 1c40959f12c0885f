"""Permutation tests: from the outputs of two models on the same rows to a p-value.

If two models are alike, it is a matter of chance which output of a row belongs to which model. A test has three steps:

1. Convert the data to what a permutation changes. Predicted labels become counts of rows (`labels`): a permutation is
   one binomial number for each true class and pair of different predictions. Scores get one bit per row that says which
   model has which score (`scores`); all scores are ranked once. Targets with a metric that is a mean loss, and paired
   measurements, become differences whose signs are flipped (`targets`, `signs`).
2. Go through all permutations if they are few, else draw a sample. The difference of the metric in each of them is the
   `PermutationDistribution` (`distribution`).
3. The p-value is the share of permutations at least as extreme as the data; in a sample it is (1 + k) / (1 + n). The
   public functions and their result are in `permutation`.
"""
