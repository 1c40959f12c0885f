"""A real Spark cluster on this machine, and sessions on it."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

ROOT = Path(__file__).parents[2]


def session(master: str, **options: str) -> Any:
    from pyspark.sql import SparkSession

    settings = {
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "4",
        "spark.executor.memory": "700m",
        "spark.executorEnv.PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
        "spark.speculation": "true",
        "spark.speculation.interval": "100ms",
        "spark.speculation.quantile": "0.5",
        "spark.speculation.minTaskRuntime": "1s",
    }
    builder = SparkSession.builder.master(master)
    for name, value in (settings | options).items():
        builder = builder.config(name, value)
    made = builder.getOrCreate()
    made.sparkContext.setLogLevel("OFF")
    return made


@contextmanager
def standalone(n_workers: int) -> Iterator[str]:
    """Yield the address of a cluster's master; each worker process has its own host."""
    import pyspark

    home = Path(pyspark.__file__).parent
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    address = f"spark://127.0.0.1:{port}"
    master = ["master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0"]
    workers = [
        ["worker.Worker", "--host", f"127.0.0.{k + 2}", "-c", "1", "-m", "1g", "--webui-port", "0", address]
        for k in range(n_workers)
    ]
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        stack.enter_context(mock.patch.dict(os.environ, PYSPARK_PYTHON=sys.executable, SPARK_HOME=str(home)))
        for name, *options in (master, *workers):
            command = [home / "bin" / "spark-class", f"org.apache.spark.deploy.{name}", *options]
            process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            stack.callback(process.wait)
            stack.callback(process.terminate)
            if name.startswith("master"):
                wait_for(port)
        yield address


def wait_for(port: int) -> None:
    """Wait until a process listens at the port."""
    for _ in range(600):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.1)
    raise TimeoutError(port)
