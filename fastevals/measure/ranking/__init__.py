"""Rankings: `base.py` has what can be asked of counts of two classes, `ranking.py` the class made of rows."""
