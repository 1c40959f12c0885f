"""Any number of rows: summaries of cells that are counted anywhere, merged in any order, and read as one ranking."""

from fastevals.scale.certified import Certified, CertifiedCurve, CertifiedRanking
from fastevals.scale.grid import ScoreGrid
from fastevals.scale.probabilities import ProbabilitySummary
from fastevals.scale.summary import RankingSummary

__all__ = ["Certified", "CertifiedCurve", "CertifiedRanking", "ProbabilitySummary", "RankingSummary", "ScoreGrid"]
