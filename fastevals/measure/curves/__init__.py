"""Curves over thresholds: points with their thresholds, and the geometry of each."""

from fastevals.measure.curves.calibration import CalibrationCurve
from fastevals.measure.curves.cost import CostCurve
from fastevals.measure.curves.cost_difference import CostDifference
from fastevals.measure.curves.cost_envelope import CostEnvelope
from fastevals.measure.curves.cost_over_prior import CostOverPrior
from fastevals.measure.curves.decision import DecisionCurve
from fastevals.measure.curves.gain import GainCurve, LiftCurve
from fastevals.measure.curves.precision_recall import PrecisionRecallCurve
from fastevals.measure.curves.roc import DetCurve, RocCurve

__all__ = [
    "CalibrationCurve",
    "CostCurve",
    "CostDifference",
    "CostEnvelope",
    "CostOverPrior",
    "DecisionCurve",
    "DetCurve",
    "GainCurve",
    "LiftCurve",
    "PrecisionRecallCurve",
    "RocCurve",
]
