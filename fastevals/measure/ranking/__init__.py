"""Rankings: what can be asked of labels and scores, by topic; `ranking.py` has the class."""
