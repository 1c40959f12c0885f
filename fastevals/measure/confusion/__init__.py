"""Confusion matrices: what can be asked of them, by topic; `matrix.py` has the class."""

from fastevals.measure.confusion.matrix import ConfusionMatrix

__all__ = ["ConfusionMatrix"]
