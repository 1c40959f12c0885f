"""What can be resampled: rankings, rows, tables and targets, each with its draws and its metrics of a draw."""
