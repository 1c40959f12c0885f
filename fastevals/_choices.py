"""Closed choices that calls share with the commands; importable without NumPy, so that a command's help is fast."""

from typing import Literal

DecompositionName = Literal["domingos", "kohavi-wolpert", "james"]
LossName = Literal["squared", "zero_one"]
McNemarMethod = Literal["exact", "mid-p", "corrected", "uncorrected"]
OnInvalid = Literal["raise", "drop"]
PostHoc = Literal["nemenyi", "bonferroni-dunn", "holm", "hochberg", "benjamini-hochberg", "wilcoxon"]
