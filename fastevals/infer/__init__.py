"""Decide from measurements: confidence intervals, the bootstrap, and significance tests."""
