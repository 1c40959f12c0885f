"""Splitters: which rows to train on and which to test on, as indices or as one code for each row and repetition."""
