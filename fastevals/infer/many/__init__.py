"""Intervals of many at once: groups and models."""
