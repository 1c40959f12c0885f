"""Compiled loops over plain arrays and scalars: no strings, no options, no user errors."""

import numpy as np

UNIT_64 = np.uint64(1)  # a plain 1 and 64 bits without a sign make a float
