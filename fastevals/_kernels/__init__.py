"""Compiled loops over plain arrays and scalars, without strings, options or error messages for users."""

import numpy as np

UNIT_64 = np.uint64(1)  # a uint64 combined with a plain 1 would become a float
