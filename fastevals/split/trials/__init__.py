"""Candidates and their trials: the fits of many learners on many splits in one pass."""
