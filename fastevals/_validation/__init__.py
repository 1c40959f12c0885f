"""Turn array-likes into clean arrays; no other package raises errors about input.

Problems that would need a pass over the data (a NaN, a third label) are found by the pass that reads the data anyway.
That pass then calls `raise_not_finite` or `raise_not_binary`, which search again to say what is wrong and where.
"""
