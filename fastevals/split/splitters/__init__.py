"""Splitters choose training rows and test rows, as indices or as one code per row and repetition."""
