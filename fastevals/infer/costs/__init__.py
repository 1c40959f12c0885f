"""Costs by row: the call in `row_costs.py`, sums in `measured.py`, results and words in `decisions.py`."""
