"""Compiled loops over plain arrays and scalars: no strings, no options, no user errors."""

import numpy as np

UNIT_64 = np.uint64(1)  # a uint64 combined with a plain 1 would become a float
