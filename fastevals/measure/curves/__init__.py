"""Curves over thresholds: their points with thresholds, and their geometry."""
