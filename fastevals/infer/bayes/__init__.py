"""How probable it is that one learner is better than another: posteriors instead of p-values.

`folds.py` compares two learners on one data set, `signed_ranks.py` and `hierarchical.py` over several data sets, and
`bradley_terry.py` many learners at once. `error_rate.py` has the posterior of one error rate. `comparison.py` has the
result that they share, `pairs.py` reads two learners' results, and `chains.py` runs and judges Markov chains.
"""
