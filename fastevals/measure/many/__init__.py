"""Many at once: groups, models, classes."""
