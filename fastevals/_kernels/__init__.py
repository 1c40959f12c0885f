"""Compiled loops over plain arrays and scalars: no strings, no options, no user errors."""
