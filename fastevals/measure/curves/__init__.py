"""Curves over thresholds: points, thresholds, and the geometry of polylines."""
