"""Collect files once: each worker of a parallel run collects and runs its own files.

pytest-xdist lets every worker collect all tests, which takes as long as a quarter of the tests. Here the process that
starts the workers divides the files among them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from _pytest.doctest import DoctestModule

EXAMPLE = re.compile(rb"^ *>>> ", re.MULTILINE)


class Elsewhere(pytest.File):
    """A file whose tests another worker runs."""

    def collect(self) -> Iterable[pytest.Item]:
        return ()


def has_examples(file: Path) -> bool:
    """Return whether a Python file has lines like those of an interactive session."""
    return EXAMPLE.search(file.read_bytes()) is not None


def has_tests(file: Path) -> bool:
    """Return whether pytest would find tests or examples in a Python file."""
    return file.name.startswith("test_") or has_examples(file)


def work_of(file: Path) -> float:
    """Estimate how long the tests of a file take, from its size."""
    return file.stat().st_size / (1 if file.name.startswith("test_") else 6)  # examples take less of their file


def shares(places: Sequence[Path], n: int) -> list[list[str]]:
    """Divide the files with tests in some places into `n` shares of like size.

    Neighbours share kernels, so workers that run other folders compile fewer of them twice.
    """
    listed = (filter(has_tests, sorted(place.rglob("*.py"))) if place.is_dir() else [place] for place in places)
    sizes = {file: work_of(file) for files in listed for file in files}
    found: list[list[str]] = [[] for _ in range(n)]
    before = 0
    for file, size in sizes.items():
        found[int((before + size / 2) / sum(sizes.values()) * n)].append(str(file))
        before += size
    return found


def send_news(send: Callable[..., None], name: str, **content: Any) -> None:
    """Send what the end of a run tells: no starts, and no set-up that went well."""
    data = content.get("data") or {}
    went_well = name == "testreport" and data["when"] != "call" and data["outcome"] == "passed"
    if not went_well and name not in ("logstart", "logfinish"):
        send(name, **content)


class Workers:
    """The plugin, in each process of a run."""

    def __init__(self, config: pytest.Config) -> None:
        own = getattr(config, "workerinput", {}).get("own_files")
        self.own = own if own is None else set(own)
        self.shares: list[list[str]] = []  # of workers that have not started
        self.divided = False
        self.session: Any = None

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Let a worker send less, which takes longer than a short test."""
        self.session = session
        for each in session.config.pluginmanager.get_plugins():
            if type(each).__name__ == "WorkerInteractor" and session.config.option.durations is None:
                each.sendevent = partial(send_news, each.sendevent)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell a worker its files, before it starts."""
        config = node.config
        places = [Path(os.path.abspath(config.invocation_params.dir / name)) for name in config.args]  # as pytest's
        usual = config.option.dist == "loadfile" and config.option.markexpr == "not slow"
        if usual and all(place.exists() for place in places):  # no single tests
            if not self.divided:
                self.shares, self.divided = shares(places, node.workerinput["workercount"]), True
            node.workerinput["own_files"] = self.shares.pop(0)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """Leave the files of a worker that crashed to the next one."""
        if error and self.divided:
            self.shares.append(node.workerinput["own_files"])

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Any) -> Any:
        """Let each worker run what it has collected if it has files of its own."""
        from xdist.scheduler import EachScheduling

        session = self.session

        class OwnFiles(EachScheduling):
            def schedule(self) -> None:
                super().schedule()
                session.testscollected = sum(map(len, self.node2collection.values()))

        return OwnFiles(config, log) if self.divided else None

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> Any:
        """Collect own files; look for examples only where there are some."""
        found = yield
        if found and self.own is not None and str(file_path) not in self.own:
            return [Elsewhere.from_parent(parent, path=file_path)]
        if file_path.suffix == ".py" and not has_examples(file_path):
            return [each for each in found if not isinstance(each, DoctestModule)]
        return found
