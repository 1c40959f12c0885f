"""Closed choices of calls that the commands offer too: importable without NumPy, as a command's help is shown."""

from typing import Literal

DecompositionName = Literal["domingos", "kohavi-wolpert", "james"]
LossName = Literal["squared", "zero_one"]
McNemarMethod = Literal["exact", "mid-p", "corrected", "uncorrected"]
OnInvalid = Literal["raise", "drop"]
PostHoc = Literal["nemenyi", "bonferroni-dunn", "holm", "hochberg", "benjamini-hochberg", "wilcoxon"]
