"""Break the add-on in one small place at a time, and see whether its tests notice.

    python tools/mutants.py                              150 mutants of core and pipeline
    python tools/mutants.py --rooms core/solver --count 20 --seed 7
    python tools/mutants.py --vacuous                    functions that return what they are given, nothing else

Mutants are drawn at random, the same ones for the same seed and code: an inverted comparison or mask, a changed sign or number,
`minimum` for `maximum`, swapped branches, or a function that returns its first argument. Each is made in a copy of the
checkout and runs the tests of its room, those that name its function or file first. A survivor is a gap in the tests, unless
tools/mutants.json lists it as equivalent, with the reason. The rooms under pipeline need a Python with bpy.
"""

from __future__ import annotations

import argparse
import ast
import functools
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "twobone_addon"
EQUIVALENTS = Path(__file__).with_suffix(".json")
TESTS_OF_ROOM = {
    **{f"core/{room}": [f"tests/core/{room}"] for room in ("solver", "rig", "curves", "contacts", "planting")},
    "pipeline": [
        *("tests/pipeline", "tests/tasks/bake", "tests/tasks/convert", "tests/tasks/give"),
        *("tests/scene", "tests/interface/chains", "tests/interface/drawn"),
    ],
}
PATIENCE = 3.0
"""Time limit for the tests of a room with a mutant, as a multiple of their time without one; a mutant may hang them."""

COMPARISONS = {
    ast.Lt: ("<", ">="),
    ast.LtE: ("<=", ">"),
    ast.Gt: (">", "<="),
    ast.GtE: (">=", "<"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.In: ("in", "not in"),
    ast.Is: ("is", "is not"),
}
OPERATORS = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.Pow: ("**", "*"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
    ast.And: ("and", "or"),
    ast.Or: ("or", "and"),
}
PAIRS = [
    ("minimum", "maximum"),
    ("min", "max"),
    ("any", "all"),
    ("argmin", "argmax"),
    ("sin", "cos"),
    ("ones", "zeros"),
    ("floor", "ceil"),
]
CALLS = {one: other for pair in PAIRS for one, other in (pair, pair[::-1])}


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of a file."""

    path: str
    """Path relative to the add-on's folder."""
    function: str
    start: int
    end: int
    """Range of bytes that are replaced."""
    text: str
    """The replacement."""
    kind: str

    def applied(self, source: bytes) -> bytes:
        """The file with the change."""
        return source[: self.start] + self.text.encode() + source[self.end :]

    def told(self, source: bytes) -> tuple[str, str]:
        """The lines that change, before and after, as one line each."""
        first = source.rfind(b"\n", 0, self.start) + 1
        last = source.find(b"\n", self.end)
        before = source[first:last].decode()
        after = (source[first : self.start] + self.text.encode() + source[self.end : last]).decode()
        return " ".join(before.split()), " ".join(after.split())


class _Sites(ast.NodeVisitor):
    """Collects all mutants of a file."""

    def __init__(self, path: str, source: bytes) -> None:
        self.path, self.source, self.found, self.function = path, source, list[Mutant](), ""
        lengths = [len(line) for line in source.split(b"\n")]
        self.offsets = [0]
        for length in lengths:
            self.offsets.append(self.offsets[-1] + length + 1)

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
        return self.offsets[node.lineno - 1] + node.col_offset, self.offsets[end_line - 1] + end_column

    def add(self, start: int, end: int, text: str, kind: str) -> None:
        self.found.append(Mutant(self.path, self.function, start, end, text, kind))

    def swap_between(self, left: ast.expr, right: ast.expr, names: tuple[str, str], kind: str) -> None:
        start, end = self.span(left)[1], self.span(right)[0]
        between = self.source[start:end].decode()
        self.add(start, end, between.replace(*names, 1), kind)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        outer, self.function = self.function, node.name
        given = [argument.arg for argument in node.args.posonlyargs + node.args.args if argument.arg not in {"self", "cls"}]
        returns = any(isinstance(each, ast.Return) and each.value is not None for each in ast.walk(node))
        body = node.body[1:] if ast.get_docstring(node) else node.body
        if given and returns and body and self.source[slice(*self.span(body[0]))].decode() != f"return {given[0]}":
            self.add(self.span(body[0])[0], self.span(body[-1])[1], f"return {given[0]}", "vacuous")
        for statement in body:
            self.visit(statement)
        self.function = outer

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for statement in node.body:  # Skip the decorator: its options for records have no visible effect.
            self.visit(statement)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_Compare(self, node: ast.Compare) -> None:
        for left, operator, right in zip([node.left, *node.comparators], node.ops, node.comparators, strict=False):
            if type(operator) in COMPARISONS:
                self.swap_between(left, right, COMPARISONS[type(operator)], "comparison")
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if type(node.op) in OPERATORS:
            self.swap_between(node.left, node.right, OPERATORS[type(node.op)], "operator")
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        for left, right in zip(node.values, node.values[1:], strict=False):
            self.swap_between(left, right, OPERATORS[type(node.op)], "operator")
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        start, end = self.span(node)
        self.add(start, end, self.source[slice(*self.span(node.operand))].decode(), "sign")
        self.generic_visit(node)

    def visit_keyword(self, node: ast.keyword) -> None:
        # Of two axes, -1 and 1 are the same one.
        is_last_axis = (node.arg or "").startswith("axis") and isinstance(node.value, ast.UnaryOp)
        self.visit(node.value.operand if is_last_axis and isinstance(node.value, ast.UnaryOp) else node.value)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self.add(*self.span(node), str(not node.value), "number")
        elif isinstance(node.value, (int, float)):
            other = node.value + 1 if isinstance(node.value, int) or node.value == 0 else 2 * node.value
            self.add(*self.span(node), repr(other), "number")

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        end = self.span(node.func)[1]
        if name in CALLS:
            self.add(end - len(name), end, CALLS[name], "call")
        if name == "where" and len(node.args) == 3:  # noqa: PLR2004 - condition, yes, no
            (yes, after_yes), (no, after_no) = self.span(node.args[1]), self.span(node.args[2])
            between = self.source[after_yes:no]
            self.add(yes, after_no, (self.source[no:after_no] + between + self.source[yes:after_yes]).decode(), "branch")
        self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        start, end = self.span(node.test)
        self.add(start, end, f"not ({self.source[start:end].decode()})", "branch")
        self.generic_visit(node)


def mutants_of(rooms: list[str]) -> Iterator[Mutant]:
    """All mutants of the files of some rooms, in order."""
    for room in rooms:
        for file in sorted((ROOT / PACKAGE / room).rglob("*.py")):
            source = file.read_bytes()
            sites = _Sites(file.relative_to(ROOT / PACKAGE).as_posix(), source)
            sites.visit(ast.parse(source))
            yield from sites.found


def room_of(path: str) -> str:
    """The room of `TESTS_OF_ROOM` that contains a file."""
    return next(room for room in TESTS_OF_ROOM if path.startswith(f"{room}/"))


def tests_of(mutant: Mutant) -> list[str]:
    """The test files of a mutant's room: first those that name its function, then those that name its file."""
    names = [re.compile(rf"\b{name}\b") for name in (mutant.function, Path(mutant.path).stem) if name]
    files = [file for folder in TESTS_OF_ROOM[room_of(mutant.path)] for file in sorted((ROOT / folder).rglob("test_*.py"))]
    files.sort(key=lambda file: [name.search(f"{file.stem} {file.read_text('utf-8')}") is None for name in names])
    return [file.relative_to(ROOT).as_posix() for file in files]


@functools.cache
def longest_run(room: str, copy: Path) -> float:
    """Seconds after which a mutant of a room counts as hanging; the tests have to pass without one."""
    begin = time.monotonic()
    if run_tests(sorted(TESTS_OF_ROOM[room]), copy, None):
        sys.exit(f"The tests of {room} fail without a mutant. Mend them first.")
    return PATIENCE * (time.monotonic() - begin)


def run_tests(tests: list[str], copy: Path, longest: float | None) -> bool:
    """Whether any of the tests fails, or they take too long together."""
    command = [sys.executable, "-B", "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    try:
        return subprocess.run(command, cwd=copy, capture_output=True, timeout=longest, check=False).returncode != 0
    except subprocess.TimeoutExpired:
        return True


def survives(mutant: Mutant, copy: Path) -> bool:
    """Whether no test of the room fails with the mutant in a copy of the checkout."""
    longest = longest_run(room_of(mutant.path), copy)
    target = copy / PACKAGE / mutant.path
    source = target.read_bytes()
    target.write_bytes(mutant.applied(source))
    try:
        return not run_tests(tests_of(mutant), copy, longest)
    finally:
        target.write_bytes(source)


def reason_of(mutant: Mutant, equivalents: list[dict[str, str]]) -> str | None:
    """The reason why a mutant is equivalent, if the table has one."""
    before, after = mutant.told((ROOT / PACKAGE / mutant.path).read_bytes())
    wanted = {"path": mutant.path, "function": mutant.function, "before": before, "after": after}
    return next((each["why"] for each in equivalents if {key: each[key] for key in wanted} == wanted), None)


def main() -> None:
    """Draw mutants, run their tests, and print the outcomes; exits with 1 if any survives without a reason."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rooms", nargs="+", default=list(TESTS_OF_ROOM), choices=TESTS_OF_ROOM, metavar="ROOM")
    parser.add_argument("--count", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--vacuous", action="store_true", help="functions that return what they are given, nothing else")
    parser.add_argument("--only", default="", help="files whose path holds this")
    given = parser.parse_args()
    os.nice(10) if hasattr(os, "nice") else None
    equivalents = json.loads(EQUIVALENTS.read_text("utf-8"))
    drawable = [each for each in mutants_of(given.rooms) if given.only in each.path and (each.kind == "vacuous") >= given.vacuous]
    drawn = random.Random(given.seed).sample(drawable, min(given.count, len(drawable)))  # noqa: S311 - the same ones every time
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "checkout"
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".git", "build", "__pycache__", ".hypothesis", "*.zip"))
        for number, mutant in enumerate(drawn, start=1):
            source = (ROOT / PACKAGE / mutant.path).read_bytes()
            reason = reason_of(mutant, equivalents)
            outcome = "equivalent" if reason else "survived" if survives(mutant, copy) else "killed"
            counts[outcome] += 1
            line = source.count(b"\n", 0, mutant.start) + 1
            before, after = mutant.told(source)
            print(f"{number:4} {outcome:10} {mutant.path}:{line} {mutant.function} [{mutant.kind}]", flush=True)
            if outcome != "killed":
                print(f"       {before}\n    -> {after}" + (f"\n       {reason}" if reason else ""), flush=True)
    print(
        f"seed {given.seed}, {len(drawn)} of {len(drawable)} mutants: " + ", ".join(f"{n} {what}" for what, n in counts.items())
    )
    sys.exit(1 if counts["survived"] else 0)


if __name__ == "__main__":
    main()
