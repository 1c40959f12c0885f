"""Metrics of many groups of rows, models, classes or folds, in one call."""
