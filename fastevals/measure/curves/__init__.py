"""Curves over thresholds: points with their thresholds, and the geometry of each."""
