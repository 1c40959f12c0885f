"""Which signatures kernels were compiled or loaded for, in this process and in those that it started."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

# Python runs a module of this name, if it is on the path, when it starts.
SITE = "import atexit\nfrom tests import compiled_kernels\natexit.register(compiled_kernels.keep, {!r})\n"


def here() -> set[str]:
    """Return the signatures of this process."""
    modules = [module for name, module in sys.modules.items() if name.startswith("fastevals._kernels.")]
    kernels = {value for module in modules for value in vars(module).values() if hasattr(value, "py_func")}
    return {
        f"{kernel.__module__.rpartition('.')[2]}.{kernel.__name__}{signature}"
        for kernel in kernels
        for signature in kernel.signatures
    }


def keep(folder: str) -> None:
    """Write the signatures of this process into a folder."""
    Path(folder, f"{os.getpid()}.json").write_text(json.dumps(sorted(here())))


def follow(folder: Path, root: Path) -> dict[str, str]:
    """Return the environment in which processes keep their signatures in a folder."""
    (folder / "sitecustomize.py").write_text(SITE.format(str(folder)))
    return {"PYTHONPATH": os.pathsep.join([str(folder), str(root), os.environ.get("PYTHONPATH", "")])}


def kept(folder: Path) -> set[str]:
    """Return the signatures that processes kept in a folder."""
    return {each for path in folder.glob("*.json") for each in json.loads(path.read_text())}
