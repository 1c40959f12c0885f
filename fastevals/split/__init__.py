"""Splits of rows into training and test parts, and what they say of a learner or of fixed predictions.

How data go through the room:

1. A splitter (`splitters/`) lays out the rows, or whole groups, in a `SamplingFrame`; an `Assignment` gives each unit a
   code in each repetition. A `SplitPlan` draws the codes when they are needed, and turns them into `Pair`s of row
   numbers. Splits of other origin get the same form (`designs`), with what their test sets have in common.
2. A learner (`learners`) is fitted to the training rows of each split and predicts the test rows (`estimates/fits`).
   Fixed predictions skip this step: all test sets are counted in one pass (`estimates/fixed_predictions`).
3. Of each test set only counts are kept, of as few kinds as the metrics need: cells, sums of errors, threshold counts
   (`estimates/split_metrics`, `estimates/score_metrics`). Metrics are computed from them, and from all pooled.
4. The mean over splits becomes an estimate, with an interval from how test sets vary and from what the design keeps
   them from varying by (`estimates/results`), corrected for the bootstrap's fewer rows (`estimates/corrections`).
5. `trials` runs 2 to 4 for many candidates at once, which `selection` chooses from and `error_curves` draws a curve of.
   `training_sets` draws sets to learn from, for the bias and variance of a learner.
"""
