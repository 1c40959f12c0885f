"""Permutation tests: from two models' outputs on the same rows to a p-value.

If two models are alike, whose output is whose is a matter of chance on each row. A test goes three steps:

1. Data become what a permutation changes. Of predicted labels these are counts of rows (`labels`): a permutation is a
   binomial number for each true class and pair of different predictions. Of scores it is a bit a row that says who has
   which (`scores`), and all scores are ranked once, together. Of targets, where a metric is a mean loss, and of paired
   measurements it is the sign of each difference (`targets`, `signs`).
2. All permutations are gone through where these are few, else a sample is drawn: the statistic in each, the difference
   of the metric, is its `PermutationDistribution` (`distribution`).
3. The p-value is the share of permutations as extreme as the data, of a sample (1 + k) / (1 + n); with it goes the
   result that users see (`permutation`, where the public functions are).
"""
