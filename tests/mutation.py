"""Sample one-line mutants of the package and count how many of them the tests notice.

    python -m tests.mutation                          # 100 mutants of the whole package, seed 0
    python -m tests.mutation fastevals/infer --sample 30 --seed 4
    python -m tests.mutation fastevals/measure/regression.py:63   # every mutant of a line

A mutant runs in a copy of the tree, never in place. The tests of its room come first, nearest imports first (the folder
under `tests` with its folder's name, or the folders of the rooms that use it); if it survives, all other tests follow.
A failing test kills it if the test passes without the mutant. A crash, or a test that needs more than `SECONDS` of
processor time, kills it, too. Mutants that no public output can show are listed with the reason in
`mutation_equivalents.toml` and are not run. Prints one line per mutant and the score of each room; the exit status is 1
below `LEAST` or `LEAST_NOT_EQUIVALENT`.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import fcntl
import io
import json
import math
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
import tokenize
import tomllib
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import fastevals

ROOT = Path(__file__).parents[1]
EQUIVALENTS = Path(__file__).with_name("mutation_equivalents.toml")
PACKAGE = "fastevals"
LEAST, LEAST_NOT_EQUIVALENT = 0.90, 0.97
SECONDS = 40  # processor time for one test, including the compilation of its kernels
FEW = 4  # test files that are run first
WALL_SECONDS = 900  # for a run of tests, because a test that hangs takes no processor time
IMPORTED = (
    "joblib",
    "matplotlib.pyplot",
    "numba",
    "pandas",
    "polars",
    "pyarrow",
    "scipy.stats",
    "sklearn.linear_model",
)
IN_RUN = "FASTEVALS_MUTATION_SECONDS"

OPERATORS = {
    ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "/"), ast.Div: ("/", "*"), ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "//"), ast.Pow: ("**", "*"), ast.LShift: ("<<", ">>"), ast.RShift: (">>", "<<"),
    ast.BitAnd: ("&", "|"), ast.BitOr: ("|", "&"), ast.BitXor: ("^", "&"), ast.MatMult: ("@", "*"),
    ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="), ast.NotEq: ("!=", "=="), ast.Is: ("is", "is not"), ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"), ast.NotIn: ("not in", "in"), ast.And: ("and", "or"), ast.Or: ("or", "and"),
}  # fmt: skip
NAMES = ("min max", "minimum maximum", "any all", "floor ceil", "argmin argmax", "cumsum cumprod", "zeros ones")
SWAPPED = {one: other for pair in NAMES for one, other in (pair.split(), pair.split()[::-1])}
SIDES = {"left": "right", "right": "left"}


class Word(NamedTuple):
    """A token; `start` and `end` are positions in its line's UTF-8 bytes."""

    text: str
    start: int
    end: int


class Change(NamedTuple):
    """New text for a part of a line; `start` and `end` are positions in its UTF-8 bytes."""

    line: int
    start: int
    end: int
    new: str


class Mutant(NamedTuple):
    """A change to a file."""

    file: str
    change: Change
    before: str  # the line
    name: str  # name of the enclosing function or class

    @property
    def after(self) -> str:
        line = self.before.encode()
        return (line[: self.change.start] + self.change.new.encode() + line[self.change.end :]).decode()

    @property
    def room(self) -> str:
        return room_of(self.file)

    def applied(self, source: str) -> str:
        lines = source.split("\n")
        lines[self.change.line - 1] = self.after
        return "\n".join(lines)

    def __str__(self) -> str:
        return f"{self.file}:{self.change.line}  {self.before.strip()}  ->  {self.after.strip()}"


def room_of(file: str) -> str:
    """Return the package's folder that contains a file; files at the top belong to the package itself."""
    parts = Path(file).parts
    return parts[1] if len(parts) > 2 else PACKAGE


# Mutants ----------------------------------------------------------------------------------------------------------


def mutants_of(file: str, source: str) -> list[Mutant]:
    """List all changes to a file by position, without annotations, formatted text and imports."""
    tree, lines, words = ast.parse(source), source.split("\n"), _words(source)
    found = {
        Mutant(file, change, lines[change.line - 1], name)
        for node, name in _nodes(tree)
        for change in _changes(node, words)
    }
    return sorted(found)


def _nodes(tree: ast.Module) -> Iterator[tuple[ast.AST, str]]:
    """Walk the nodes that run, each with the name of the innermost function or class around it."""
    todo: list[tuple[ast.AST, str]] = [(tree, "")]
    while todo:
        node, name = todo.pop()
        # Positions in formatted text differ between versions of Python, and it is mostly messages; strict= of zip is a
        # check that never fails.
        if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.keyword) and node.arg == "strict"):
            continue
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        yield node, name
        name = node.name if isinstance(node, (ast.FunctionDef, ast.ClassDef)) else name
        for field, value in ast.iter_fields(node):
            if field not in ("annotation", "returns"):
                todo += [(child, name) for child in (value if isinstance(value, list) else [value]) if child]
        todo = [pair for pair in todo if isinstance(pair[0], ast.AST)]


def _changes(node: ast.AST, words: Mapping[int, Sequence[Word]]) -> Iterator[Change]:
    """Return the changes at a node."""

    def whole(of: Any, *new: str) -> Iterator[Change]:
        if of.lineno == of.end_lineno:
            yield from (Change(of.lineno, of.col_offset, of.end_col_offset, text) for text in new)

    def between(left: Any, right: Any, kind: ast.AST, suffix: str = "") -> Iterator[Change]:
        old, new = (operator + suffix for operator in OPERATORS[type(kind)])
        for line in range(left.end_lineno, right.lineno + 1):
            first = left.end_col_offset if line == left.end_lineno else 0
            last = right.col_offset if line == right.lineno else math.inf
            inside = [word for word in words.get(line, []) if first <= word.start and word.end <= last]
            for at in range(len(inside)):
                found = inside[at : at + len(old.split())]
                if [word.text for word in found] == old.split():
                    yield Change(line, found[0].start, found[-1].end, new)

    match node:
        case ast.BinOp(left, op, right):
            yield from between(left, right, op)
        case ast.AugAssign(target, op, value):
            yield from between(target, value, op, "=")
        case ast.BoolOp(op, values):
            for left, right in pairwise(values):
                yield from between(left, right, op)
        case ast.Compare(left, ops, comparators):
            for op, (before, after) in zip(ops, pairwise([left, *comparators]), strict=True):
                yield from between(before, after, op)
        case ast.UnaryOp(ast.Not() | ast.USub(), operand):
            yield from whole(node, ast.unparse(operand))
        case ast.Constant(bool(value)):
            yield from whole(node, str(not value))
        case ast.Constant(int(value)):
            yield from whole(node, str(value + 1), *([str(value - 1)] if value > 0 else []))
        case ast.Constant(float(value)):
            yield from whole(node, repr(2 * value if value else 1.0))
        case ast.Constant("left" | "right" as side):
            yield from whole(node, repr(SIDES[side]))
        case ast.Call(func=ast.Name(name) | ast.Attribute(attr=name)) if name in SWAPPED:
            function: Any = node.func
            end = function.end_col_offset
            yield Change(function.end_lineno, end - len(name), end, SWAPPED[name])
        case ast.Expr(ast.Call()):
            yield from whole(node, "pass")
        case ast.Continue():
            yield from whole(node, "break")
        case ast.Break():
            yield from whole(node, "continue")
        case ast.If(test) | ast.IfExp(test):
            yield from whole(test, f"(not ({ast.unparse(test)}))")


def _words(source: str) -> dict[int, list[Word]]:
    """Return the tokens of each line, with their start and end in its bytes."""
    words: dict[int, list[Word]] = {}
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        (line, start), (_, end) = token.start, token.end
        if token.string.strip():
            start, end = (len(token.line[:column].encode()) for column in (start, end))
            words.setdefault(line, []).append(Word(token.string, start, end))
    return words


def mutants_at(places: Sequence[str], root: Path = ROOT) -> list[Mutant]:
    """List all mutants of files, folders and lines (`file:line`), relative to the root."""
    found = []
    for place in places:
        name, _, line = place.partition(":")
        path = root / name
        files = sorted(path.rglob("*.py")) if path.is_dir() else [path]
        for file in files:
            all_there = mutants_of(str(file.relative_to(root)), file.read_text())
            found += [mutant for mutant in all_there if not line or mutant.change.line == int(line)]
    return found


def equivalents() -> dict[tuple[str, str, str], str]:
    """Read the reasons why mutants are equivalent, by file, line and mutated line."""
    entries = tomllib.loads(EQUIVALENTS.read_text())["equivalent"]
    return {(entry["file"], entry["line"], entry["mutant"]): entry["reason"] for entry in entries}


def stale() -> list[str]:
    """List the equivalents whose lines no longer exist."""
    files = {file: ROOT / file for file, _, _ in equivalents()}
    lines = {
        file: [*map(str.strip, path.read_text().split("\n"))] if path.exists() else [] for file, path in files.items()
    }
    return [f"{file}: {line}" for file, line, _ in equivalents() if line not in lines[file]]


# Which tests ------------------------------------------------------------------------------------------------------


class Suite:
    """The test files of a tree, ordered by the distance of their imports from a file."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.files = sorted(str(path.relative_to(root)) for path in (root / "tests").rglob("test_*.py"))
        homes = fastevals._HOMES
        self.importers: dict[str, set[str]] = {}
        for path in [*(root / PACKAGE).rglob("*.py"), *(root / "tests").rglob("*.py")]:
            name = str(path.relative_to(root))
            if name != f"{PACKAGE}/__init__.py":
                for imported in _imports(root, path, homes):
                    self.importers.setdefault(imported, set()).add(name)

    def near(self, mutant: Mutant) -> tuple[list[str], list[str], list[str]]:
        """Return a file's examples with the nearest tests of its room, the room's other tests, and all others."""
        distance, todo = {mutant.file: 0}, deque([mutant.file])
        while todo:
            file = todo.popleft()
            for importer in self.importers.get(file, ()):
                if importer not in distance:
                    distance[importer] = distance[file] + 1
                    todo.append(importer)

        near = [mutant.file, *self._users(mutant.file, distance)]
        stems = [Path(file).stem.strip("_") for file in near]
        folders = tuple(f"tests/{room_of(file)}/" for file in near)

        def place(file: str) -> tuple[int, float, int, str]:
            mentions = len(re.findall(rf"\b{mutant.name}\b", (self.root / file).read_text())) if mutant.name else 0
            of = next((rank for rank, stem in enumerate(stems) if stem in Path(file).stem), len(stems))
            return of, distance.get(file, math.inf), -mentions, file

        ranked = sorted(self.files, key=place)
        own = [file for file in ranked if file in distance and (file.startswith(folders) or distance[file] == 1)]
        examples = [mutant.file] if ">>>" in (self.root / mutant.file).read_text() else []
        return examples + own[:FEW], own[FEW:], [*(file for file in ranked if file not in own), PACKAGE]

    def _users(self, file: str, distance: Mapping[str, int]) -> list[str]:
        """Return the nearest files of other rooms that use a file, if its room has no tests."""
        if (self.root / "tests" / room_of(file)).is_dir():
            return []
        body = ast.parse((self.root / file).read_text()).body
        names = "|".join(node.name for node in body if isinstance(node, (ast.FunctionDef, ast.ClassDef)))
        others = [
            each for each in distance if each.startswith(PACKAGE) and room_of(each) not in (room_of(file), PACKAGE)
        ]
        users = [each for each in others if distance[each] == 1] or [  # if the room's __init__ exports it
            each for each in others if re.search(rf"\b({names})\b", (self.root / each).read_text())
        ]
        return [user for user in users if distance[user] == min(distance[each] for each in users)]


def _imports(root: Path, path: Path, homes: dict[str, str]) -> set[str]:
    """List the files of this tree that a file imports anywhere or names as `fastevals.name`."""
    modules: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.Import(names):
                modules |= {alias.name for alias in names}
            case ast.ImportFrom(str(module), names):
                modules |= {module, *(f"{module}.{alias.name}" for alias in names)}
            case ast.Attribute(ast.Name("fastevals"), name):
                modules.add(f"{PACKAGE}.{name}")
    public = {f"{PACKAGE}.{name}": home for name, home in homes.items()}
    found = set()
    for module in modules:
        module = public.get(module, module)
        stem = root / module.replace(".", "/")
        for file in (stem.with_suffix(".py"), stem / "__init__.py"):
            if file.is_file():
                found.add(str(file.relative_to(root)))
    return found


# Trials -----------------------------------------------------------------------------------------------------------


class Verdict(NamedTuple):
    """The fate of a mutant: killed (by a test), or "survived"."""

    killed: bool
    by: str


class Copy:
    """A copy of the tree where mutants run; kernels are compiled once per source."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.tree, self._cache, self._clock = folder / "tree", folder / "cache", int(time.time()) - 10**8
        self._known: dict[str, bool] = {}  # which tests pass without a mutant
        listed = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        names = subprocess.run(listed, check=True, capture_output=True, text=True).stdout.split("\0")
        wanted = {name for name in names if name and (root / name).is_file()}
        for path in self.tree.rglob("*"):
            if path.is_file() and path.suffix != ".pyc" and str(path.relative_to(self.tree)) not in wanted:
                path.unlink()
        for name in wanted:
            content, path = (root / name).read_bytes(), self.tree / name
            if not path.is_file() or path.read_bytes() != content:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)

    def try_(self, mutant: Mutant, stages: Sequence[Sequence[str]], markers: str) -> Verdict:
        """Run stages of tests until one kills the mutant."""
        path = self.tree / mutant.file
        source = path.read_text()
        failing: list[str] = []  # fails without the mutant, too
        try:
            for tests in stages:
                self._write(path, mutant.applied(source))
                while (verdict := self.run(tests, markers, failing)).killed:
                    if verdict.by not in tests and "::" not in verdict.by:  # it crashed or took too long
                        return verdict
                    self._write(path, source)
                    if self._passes(verdict.by, markers):
                        return verdict
                    failing.append(verdict.by)
                    self._write(path, mutant.applied(source))
        finally:
            self._write(path, source)
        return Verdict(False, "survived")

    def _write(self, path: Path, source: str) -> None:
        """Write a file with a unique time, because Python identifies compiled files by second and size."""
        path.write_text(source)
        self._clock += 2
        os.utime(path, (self._clock, self._clock))

    def _passes(self, test: str, markers: str) -> bool:
        if test not in self._known:
            self._known[test] = not self.run([test], markers).killed
        return self._known[test]

    def run(self, tests: Sequence[str], markers: str, deselected: Sequence[str] = ()) -> Verdict:
        """Run tests in the copy until one fails."""
        arguments = ["-p", "no:cacheprovider", "-n", "0", "-x", "-q", "--tb=no", "-rfE"]
        tests = [test for test in tests if test not in deselected]
        if not tests:
            return Verdict(False, "survived")
        arguments += ["-m", markers, *(f"--deselect={test}" for test in deselected), *tests]
        print(json.dumps(arguments), file=self._server.stdin, flush=True)
        assert self._server.stdout is not None
        status, said = json.loads(self._server.stdout.readline())
        if status in (0, 5):  # all passed, or there were none
            return Verdict(False, "survived")
        if failed := re.search(r"^(?:FAILED|ERROR) (.*?)(?: - .*)?$", said, re.MULTILINE):
            return Verdict(True, failed[1])
        slow = status in (-signal.SIGPROF, -signal.SIGKILL)
        return Verdict(True, "too slow" if slow else f"ended with {status}: {' '.join(said.split())[-200:]}")

    def __enter__(self) -> Copy:
        given = {"PYTHONPATH": str(self.tree), "NUMBA_CACHE_DIR": str(self._cache), IN_RUN: str(SECONDS)}
        command = [sys.executable, "-c", f"from tests.mutation import serve; serve({IMPORTED})"]
        self._server = subprocess.Popen(
            command, cwd=self.tree, env=os.environ | given, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        return self

    def __exit__(self, *error: object) -> None:
        with self._server:
            self._server.terminate()


def serve(imported: Sequence[str]) -> None:
    """Run pytest in a fork for each line of arguments, and answer with its status and output.

    Importing other packages takes longest in a run of few tests, so it is done once.
    """
    for name in imported:
        with contextlib.suppress(ImportError):
            import_module(name)
    children: list[int] = []

    def stop(*_: object) -> None:
        for child in children:
            os.killpg(child, signal.SIGKILL)
        os._exit(1)

    signal.signal(signal.SIGTERM, stop)
    for line in sys.stdin:
        with tempfile.TemporaryFile("w+") as said:
            child = os.fork()
            if not child:
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
                os.setsid()
                for source, stream in ((os.open(os.devnull, os.O_RDONLY), 0), (said.fileno(), 1), (said.fileno(), 2)):
                    os.dup2(source, stream)
                import pytest

                status = int(pytest.main(json.loads(line), plugins=[sys.modules[__name__]]))
                sys.stdout.flush()
                os._exit(status)
            children[:] = [child]
            end = time.monotonic() + WALL_SECONDS
            while not (ended := os.waitpid(child, os.WNOHANG))[0]:
                time.sleep(0.02)
                if time.monotonic() > end:
                    os.kill(child, signal.SIGKILL)
            children.clear()
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)  # processes that its tests started
            said.seek(0)
            print(json.dumps([os.waitstatus_to_exitcode(ended[1]), said.read()]), flush=True)


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[Path]:
    """Make a folder if needed, and lock it against other runs."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SystemExit(f"{folder} is in use by another run") from None
        yield folder


def pytest_runtest_logstart() -> None:
    """End this test run (as a pytest plugin) if it takes too much processor time, even in compiled code."""
    if IN_RUN in os.environ:
        signal.setitimer(signal.ITIMER_PROF, float(os.environ[IN_RUN]))


# Scores -----------------------------------------------------------------------------------------------------------


def score(verdicts: Sequence[tuple[str, str]]) -> tuple[str, bool]:
    """Tabulate rooms and verdicts ("killed", "equivalent", "survived"); return whether enough were killed."""
    lines = [f"{'room':14}{'mutants':>8}{'killed':>8}{'equivalent':>12}{'survived':>10}{'score':>8}{'of others':>11}"]
    enough = True
    for room in [*sorted({room for room, _ in verdicts}), "all"]:
        count = Counter(verdict for its, verdict in verdicts if room in (its, "all"))
        n, killed, equivalent = count.total(), count["killed"], count["equivalent"]
        shares = killed / max(n, 1), killed / max(n - equivalent, 1)
        lines.append(f"{room:14}{n:8}{killed:8}{equivalent:12}{count['survived']:10}{shares[0]:8.0%}{shares[1]:11.0%}")
        enough = shares[0] >= LEAST and shares[1] >= LEAST_NOT_EQUIVALENT
    return "\n".join(lines), enough


def survivors(printed: str) -> set[str]:
    """Read the mutants that survived a run from its output, without their line numbers."""
    return {without_line(each) for each in re.findall(r"^survived +(.*)  \[.*\]$", printed, re.MULTILINE)}


def without_line(mutant: str) -> str:
    """Remove the line number, which edits above the line change."""
    return re.sub(r":\d+  ", "  ", mutant, count=1)


def chosen(given: argparse.Namespace, root: Path) -> list[Mutant]:
    """List the chosen mutants."""
    mutants = mutants_at(given.places, root)
    if given.again is not None:
        wanted = survivors(given.again.read_text())
        return [mutant for mutant in mutants if without_line(str(mutant)) in wanted]
    if all(":" in place for place in given.places):
        return mutants
    return random.Random(given.seed).sample(mutants, min(given.sample, len(mutants)))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__.split("\n")[0])
    parser.add_argument(
        "places", nargs="*", default=[PACKAGE], help="files, folders or lines (all mutants of file:line)"
    )
    parser.add_argument("--sample", type=int, default=100, help="how many mutants (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the sample (default: %(default)s)")
    parser.add_argument("--again", type=Path, metavar="FILE", help="the survivors among what an earlier run printed")
    parser.add_argument("--quick", action="store_true", help="run the nearest few test files alone")
    parser.add_argument("--slow", action="store_true", help="survivors also run the slow tests")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="for the copy and its kernels, used again")
    given = parser.parse_args(arguments)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs may ignore it, tests do not
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))  # also ends the processes it started
    known, verdicts = equivalents(), []
    with (
        tempfile.TemporaryDirectory(prefix="fastevals-mutation-") as temporary,
        locked(given.keep or Path(temporary)) as folder,
        Copy(ROOT, folder) as copy,
    ):
        tests, mutants = Suite(copy.tree), chosen(given, copy.tree)
        if (without := copy.run(tests.files[:1], "not slow")).killed:
            raise SystemExit(f"tests fail without a mutant: {without.by}")
        for mutant in mutants:
            start = time.monotonic()
            stages = [stage for stage in tests.near(mutant)[: 1 if given.quick else 3] if stage]
            reason = known.get((mutant.file, mutant.before.strip(), mutant.after.strip()))
            if reason is not None:
                verdict, by = "equivalent", reason
            else:
                killed, by = copy.try_(mutant, stages, "not slow")
                if not killed and given.slow:
                    killed, by = copy.try_(mutant, stages, "slow")
                verdict = "killed" if killed else "survived"
            verdicts.append((mutant.room, verdict))
            print(f"{verdict:10} {mutant}  [{by}; {time.monotonic() - start:.0f} s]", flush=True)
    table, enough = score(verdicts)
    print(f"\n{table}")
    if gone := stale():
        print("\nof mutation_equivalents.toml no longer there:", *gone, sep="\n")
    return 0 if enough else 1


if __name__ == "__main__":
    sys.exit(main())
