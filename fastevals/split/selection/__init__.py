"""Selection of a model: candidates compared on validation splits, and an honest estimate of the one chosen."""

from fastevals.split.selection.calls import select_model
from fastevals.split.selection.nested import NestedEstimate
from fastevals.split.selection.result import CandidateResult, ModelSelection
from fastevals.split.selection.sensitivity import Sensitivity

__all__ = ["CandidateResult", "ModelSelection", "NestedEstimate", "Sensitivity", "select_model"]
