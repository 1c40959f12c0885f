"""Array-likes into clean arrays; the only place that raises about input.

What would cost a pass over the data (a NaN, a third label) is found by the pass that needs the data anyway; the
finder then calls `raise_not_finite` or `raise_not_binary`, which look again to say what is wrong and where.
"""
