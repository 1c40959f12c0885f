"""The legal values of options that calls and commands share; importable without NumPy, for a command's fast help."""

from typing import Literal

DecompositionName = Literal["domingos", "kohavi-wolpert", "james"]
LossName = Literal["squared", "zero_one"]
McNemarMethod = Literal["exact", "mid-p", "corrected", "uncorrected"]
OnInvalid = Literal["raise", "drop"]
PostHoc = Literal["nemenyi", "bonferroni-dunn", "holm", "hochberg", "benjamini-hochberg", "wilcoxon"]
