"""Splitters: which rows to train on and which to test on, as indices or as one code per row and repetition."""
