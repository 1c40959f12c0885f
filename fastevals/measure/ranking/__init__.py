"""Rankings: `base.py` has the methods, functions of counts of two classes; `ranking.py` makes rankings from rows."""
