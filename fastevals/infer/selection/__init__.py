"""What a choice among many models costs: the best of many configurations, and repeated looks at one test set."""
