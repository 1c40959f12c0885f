"""Splits of rows into training and test parts, and error estimates of a learner or of fixed predictions.

How data pass through this package:

1. A splitter (`splitters/`) puts rows, or whole groups, into a `SamplingFrame`. An `Assignment` gives each unit (row or
   group) a code in each repetition. A `SplitPlan` draws the codes when they are needed and turns them into `Pair`s of
   row numbers. `designs` converts splits from other sources to the same form, and finds what all their test sets share.
2. A learner (`learners`) is fitted to the training rows of each split and predicts the test rows (`estimates/fits`).
   Fixed predictions skip this step: all test sets are counted in one pass (`estimates/fixed_predictions`).
3. Only counts of each test set are kept, and only the kinds that the metrics need: cells, sums of errors, threshold
   counts (`estimates/split_metrics`, `estimates/score_metrics`). Metrics are computed per split, and from the pooled
   counts.
4. The mean over splits is the estimate. Its interval combines the variance between test sets with the variance that the
   splits hide by design (`estimates/results`). `estimates/corrections` corrects for the bootstrap's fewer distinct
   rows.
5. `trials` runs steps 2 to 4 for many candidates in one pass. `selection` chooses among candidates, and `error_curves`
   computes curves. `training_sets` draws training sets to estimate a learner's bias and variance.
"""
