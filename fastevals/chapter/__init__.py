"""Chapter 2 of Zhou's *Machine Learning*, "Model evaluation and selection": its examples, tables and exercises.

``python -m fastevals.chapter`` answers all of them, ``python -m fastevals.chapter NAME`` answers one. `solve` returns
them as data. Each example is a function. The examples of each section of the text are in a file of their own: `splits`,
`measures`, `costs`, `tests`, `ranks`, `bias_variance`. The book's exercises are in `exercises`, and two from *An
Introduction to Statistical Learning* are in `regressions`. `formulas` maps the book's formulas and Chinese terms to
calls, and lists misprints.
"""

from fastevals.chapter.chapter import Chapter, solve
from fastevals.chapter.example import Answer, Comparison, Example, Solved, examples

__all__ = ["Answer", "Chapter", "Comparison", "Example", "Solved", "examples", "solve"]
