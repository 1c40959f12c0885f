"""Rankings: what can be asked of labels and scores, by topic; `ranking.py` has the class."""

from fastevals.measure.ranking.ranking import Ranking

__all__ = ["Ranking"]
