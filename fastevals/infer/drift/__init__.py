"""Drift of scores: the call in `drift.py`, samples in `samples.py`, PSI and distances in `measures.py`, p-values."""
