"""Counts, the metrics and curves that are functions of them, and what makes counts from data."""
