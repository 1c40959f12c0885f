"""Rankings of any number of rows: summaries count parts of the rows, merge in any order, and return one ranking."""

from fastevals.scale.certified import Certified, CertifiedCurve, CertifiedRanking, CertifiedValues
from fastevals.scale.class_scores import ClassScoresSummary
from fastevals.scale.classes import ConfusionSummary
from fastevals.scale.grid import ScoreGrid
from fastevals.scale.grouped import GroupSummary
from fastevals.scale.identity import cached_summary
from fastevals.scale.probabilities import ProbabilitySummary
from fastevals.scale.scores import ScoresSummary
from fastevals.scale.summarized_classes import SummarizedClasses as _  # noqa: F401 (files may hold one)
from fastevals.scale.summary import RankingSummary
from fastevals.scale.targets import TargetSummary

__all__ = [
    "Certified",
    "CertifiedCurve",
    "CertifiedRanking",
    "CertifiedValues",
    "ClassScoresSummary",
    "ConfusionSummary",
    "GroupSummary",
    "ProbabilitySummary",
    "RankingSummary",
    "ScoreGrid",
    "ScoresSummary",
    "TargetSummary",
    "cached_summary",
]
