"""Chapter 2 of Zhou's *Machine Learning*, "Model evaluation and selection": its examples, tables and exercises.

``python -m fastevals.chapter`` answers them all, ``python -m fastevals.chapter NAME`` one. Each is a function of a file
by the chapter's sections: `splits`, `measures`, `costs`, `tests`, `ranks`, `bias_variance`. `solve` gives them as data.
"""

from fastevals.chapter.chapter import Chapter, solve
from fastevals.chapter.example import Answer, Comparison, Example, Solved, examples

__all__ = ["Answer", "Chapter", "Comparison", "Example", "Solved", "examples", "solve"]
