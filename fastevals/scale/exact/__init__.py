"""Exact counts of rows that don't fit in memory: at the distinct scores of the positives, and between them.

The order of negatives between two adjacent positive scores affects no curve and no metric of a ranking. So a first scan
gathers the scores of the positives, and a second counts the negatives at and between them, at 28 bytes per distinct
score. If that takes too much memory, ranges of scores are gathered and counted one after another. A threshold that
lies between two adjacent positive scores, such as the one for `n_predicted`, needs further scans.
"""
