"""NumPy's fastest sort on this machine: a yardstick that is slow by accident is useless.

NumPy picks its AVX-512 sort wherever the processor has these instructions. On AMD's Zen 4 one instruction (compress
to memory) is microcoded: the sort takes 60 ns per value, and the AVX2 sort 10 ns (numpy/x86-simd-sort issue 6).
"""

from __future__ import annotations

import os
import subprocess
import sys

AVX512 = "X86_V4 AVX512_ICL AVX512_SPR"  # as NumPy 2.4 and later name them
PROBE = """
import timeit
import numpy as np
scores = np.random.default_rng(0).standard_normal(1_000_000)
print(min(timeit.repeat(lambda: np.sort(scores), number=1, repeat=5)))
"""


def disabled_features() -> str:
    """Return a value for NPY_DISABLE_CPU_FEATURES: AVX-512 if NumPy sorts much faster without it, else nothing."""
    seconds = {}
    for features in ("", AVX512):
        environment = {**os.environ, "NPY_DISABLE_CPU_FEATURES": features}
        command = [sys.executable, "-c", PROBE]
        made = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        seconds[features] = float(made.stdout)
    return AVX512 if seconds[AVX512] < 0.7 * seconds[""] else ""
