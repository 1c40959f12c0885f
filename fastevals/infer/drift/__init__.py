"""Drift of scores: `drift.py` has the call, `samples.py` samples, `measures.py` distances, `significance.py` p."""
