"""How many rows a decision or an interval needs.

`sizes.py` has the arithmetic of power and sample sizes, `pilots.py` reads from a pilot how much a metric varies, and
`planning.py` checks the goal and gives the answer.
"""
