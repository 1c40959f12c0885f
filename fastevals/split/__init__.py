"""Splits of rows into training and test parts, and error estimates of a learner or of fixed predictions.

How data go through the room:

1. A splitter (`splitters/`) lays out rows, or whole groups, in a `SamplingFrame`; an `Assignment` gives each unit a
   code in each repetition. A `SplitPlan` draws the codes when they are needed and turns them into `Pair`s of row
   numbers. Splits of other origin get the same form (`designs`), along with what their test sets have in common.
2. A learner (`learners`) is fitted to the training rows of each split and predicts the test rows (`estimates/fits`).
   Fixed predictions skip this step: all test sets are counted in one pass (`estimates/fixed_predictions`).
3. Only counts are kept of each test set, of as few kinds as the metrics need: cells, sums of errors, threshold counts
   (`estimates/split_metrics`, `estimates/score_metrics`). Metrics are computed per split, and from the pooled counts.
4. The mean over splits is the estimate. Its interval combines the variance between test sets with the variance that the
   design holds fixed (`estimates/results`). `estimates/corrections` corrects for the bootstrap's fewer distinct rows.
5. `trials` runs steps 2 to 4 for many candidates in one pass; `selection` chooses among them, and `error_curves` draws
   curves. `training_sets` draws training sets, for the bias and variance of a learner.
"""
