"""How many rows a decision or an interval needs.

`sizes.py` has the arithmetic of power and sample sizes, `pilots.py` reads from a pilot how much a metric varies, and
`planning.py` checks the goal and gives the answer. `comparisons.py` is about the number of data sets, or repeats of
folds, to compare two learners.
"""
