"""Bootstraps in many threads, forked workers and joblib; with a progress bar; stopped by Ctrl-C."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from fastevals import Ranking, bootstrap, compare_rankings, metric, num_threads

N = 5000
Y = np.arange(N) % 10 == 0
S = np.random.default_rng(0).normal(size=N) + Y
METRICS = ["roc_auc", "average_precision", metric("recall", fpr=0.1), metric("f1", threshold=1.0)]


def low_ends(seed: int) -> list[float]:
    """Return the lower ends of intervals for a ranking, for rows in groups, and for a difference."""
    found = bootstrap(Ranking(Y, S), METRICS, n_resamples=100, rng=seed)
    grouped = bootstrap((Y, S), "roc_auc", groups=np.arange(N) // 5, n_resamples=100, rng=seed)
    compared = compare_rankings(Y, [S, np.round(S)], n_resamples=100, rng=seed)["roc_auc"].differences
    return [
        *(each.confidence_interval.low for each in (*found.values(), *grouped.values())),
        compared[0].confidence_interval.low,
    ]


def test_many_threads_at_once():
    expected = list(map(low_ends, range(6)))
    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(low_ends, range(6))) == expected


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_worker_forked_after_use_in_the_parent():
    expected = list(map(low_ends, range(3)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of any fork with threads
        with multiprocessing.get_context("fork").Pool(2) as pool:
            assert pool.map_async(low_ends, range(3)).get(timeout=60) == expected


@pytest.mark.parametrize(
    "backend", ["threading", *(pytest.param(each, marks=pytest.mark.slow) for each in ("loky", "multiprocessing"))]
)
def test_inside_joblib(backend):
    joblib = pytest.importorskip("joblib")
    expected = list(map(low_ends, range(2)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        assert joblib.Parallel(2, backend=backend)(joblib.delayed(low_ends)(seed) for seed in range(2)) == expected


@pytest.mark.parametrize("threads", [1, 2])
def test_progress(threads, capsys):
    with num_threads(threads):
        bootstrap(Ranking(Y, S), "roc_auc", n_resamples=500, rng=0, progress=True)
        compare_rankings(Y, [S, -S], n_resamples=500, rng=0, progress=True)
    bars = capsys.readouterr().err.split("\n")[:-1]  # each is redrawn several times, more often on a slow machine
    assert ["100%" in bar.rsplit("\r", 1)[-1] for bar in bars] == [True, True]


CODE = """
    import sys, threading
    import numpy as np
    import fastevals
    n = int(sys.argv[1])
    y, s = np.arange(n) % 10 == 0, np.random.default_rng(0).normal(size=n)
    make = {make}
    make(2)  # compiled now
    print("ready", flush=True)
    try:
        make(10**6)
    except KeyboardInterrupt:
        threads = [each.name for each in threading.enumerate()]
        print("stopped", [name for name in threads if "fastevals" not in name], flush=True)
"""
RUNS = {
    "bootstrap": "lambda n_resamples: fastevals.bootstrap(fastevals.Ranking(y, s), 'roc_auc', n_resamples=n_resamples)",
    "groups": "lambda n: fastevals.bootstrap((y, s), 'roc_auc', groups=np.arange(len(y)) // 3, n_resamples=n)",
    "models": "lambda n_resamples: fastevals.compare_rankings(y, [s, -s], n_resamples=n_resamples)",
}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT here")
@pytest.mark.parametrize("kind", RUNS)
def test_ctrl_c_stops_within_a_second(kind):
    code = textwrap.dedent(CODE.format(make=RUNS[kind]))
    arguments = [sys.executable, "-W", "ignore", "-c", code, "1000000"]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(1.5)
        process.send_signal(signal.SIGINT)
        start = time.perf_counter()
        output, errors = process.communicate(timeout=30)
        seconds = time.perf_counter() - start
    assert output == "stopped ['MainThread']\n", errors
    assert errors == ""
    assert seconds < 1.5  # including the end of the process
