"""Bootstrap: `samples/` draws rows and measures the draws, `intervals.py` makes intervals of those."""
