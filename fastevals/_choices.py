"""The legal values of options that calls and commands share.

This module does not import NumPy, so that `--help` is fast.
"""

from typing import Literal

DecompositionName = Literal["domingos", "kohavi-wolpert", "james"]
LossName = Literal["squared", "zero_one"]
McNemarMethod = Literal["exact", "mid-p", "corrected", "uncorrected"]
OnInvalid = Literal["raise", "drop"]
OnError = Literal["missing", "raise"]
MissingResults = Literal["raise", "drop-dataset", "worst", "keep"]
PostHoc = Literal[
    "nemenyi", "bonferroni-dunn", "holm", "hochberg", "shaffer", "finner", "benjamini-hochberg", "wilcoxon"
]
Undecided = Literal["undecided", "pass", "fail"]  # what an undecided gate counts as
