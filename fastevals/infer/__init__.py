"""From measures to decisions: intervals, bootstrap, tests between learners."""
