"""Rankings by class: many labels a row may have, each with a column of scores; `rankings.py` has the class."""

from fastevals.measure.many.classes.rankings import ClassRankings

__all__ = ["ClassRankings"]
