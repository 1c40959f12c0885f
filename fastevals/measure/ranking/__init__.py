"""Rankings: `base.py` has the methods, which read counts of two classes; `ranking.py` makes rankings from rows."""
