"""Documents out: what results say, as plain data, and how it is written."""
