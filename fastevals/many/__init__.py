"""Many at once: groups of rows, models, classes and folds, each in one call."""
