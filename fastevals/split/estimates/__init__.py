"""The error of a learner, or of fixed predictions, over splits of the data."""
