"""Metrics and curves as functions of counts, and the rankings and matrices that make counts from data."""
