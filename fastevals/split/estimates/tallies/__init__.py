"""What is counted of a test set, and metrics of the counts: one file a kind."""
