"""Collect every message with which the add-on refuses something, from its source.

Inserted values, such as a bone's name, are written as "…". docs/messages.md lists all of them.
"""

import ast
import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "twobone_addon"
BASE = "TwoBoneError"
GAP = "…"
VALUE = r"\{\w+[^{}]*\}"
HINDRANCE = "hindrance"
"""Name of the methods that return why an operator cannot run."""


@dataclass(frozen=True, slots=True, order=True)
class Message:
    """One message, its kind, and the file that it comes from."""

    kind: str
    """Name of the error's class, or `Poll` for the message of a greyed-out button."""
    text: str
    path: str


@functools.cache
def messages() -> tuple[Message, ...]:
    """All messages, each once, sorted by kind and text."""
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(PACKAGE.rglob("*.py"))}
    kinds = error_classes(trees.values())
    found = {}
    named = constants(trees.values())
    for path, tree in trees.items():
        for kind, text in sentences(tree, kinds, named):
            found.setdefault((kind, text), Message(kind, text, path.relative_to(ROOT).as_posix()))
    return tuple(sorted(found.values()))


def error_classes(trees: object) -> set[str]:
    """Names of `TwoBoneError` and all its subclasses."""
    bases = {
        node.name: {name_of(base) for base in node.bases}
        for tree in trees  # type: ignore[attr-defined]
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }
    kinds = {BASE}
    while more := {name for name, above in bases.items() if above & kinds} - kinds:
        kinds |= more
    return kinds


def constants(trees: object) -> dict[str, ast.expr]:
    """Values of the constants of all files, for sentences that are constants."""
    assigned = [node for tree in trees for node in tree.body if isinstance(node, ast.Assign)]  # type: ignore[attr-defined]
    named = [node for node in assigned if isinstance(node.targets[0], ast.Name) and isinstance(node.value, ast.Constant)]
    return {name_of(node.targets[0]): node.value for node in named}


def sentences(tree: ast.AST, kinds: set[str], named: dict[str, ast.expr]) -> Iterator[tuple[str, str]]:
    """Kind and text of each message of a file."""
    local: dict[ast.AST, dict[str, list[ast.expr]]] = {}
    for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
        local |= dict.fromkeys(ast.walk(function), locals_of(function))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == HINDRANCE:
            yield from (("Poll", text) for text in returned_texts(node))
        if not isinstance(node, ast.Call):
            continue
        called = name_of(node.func)
        if called in kinds and node.args:
            said, has_values = node.args[0], bool(node.keywords)
            if isinstance(said, ast.Call) and name_of(said.func) == "Sentence":
                said, has_values = said.args[0], len(said.args) > 1
            name = name_of(said)
            for argument in [named[name]] if name in named else local.get(node, {}).get(name, [said]):
                yield from ((called, re.sub(VALUE, GAP, text) if has_values else text) for text in texts_of(argument))
        elif called == "report" and len(node.args) > 1 and is_error(node.args[0]):
            yield from (("TwoBoneError", text) for text in texts_of(node.args[1]))


def locals_of(function: ast.FunctionDef) -> dict[str, list[ast.expr]]:
    """Texts that a function gives to names: a sentence is chosen among them before it is raised."""
    found: dict[str, list[ast.expr]] = {}
    for node in ast.walk(function):
        match node:
            case ast.Assign(targets=[ast.Name(id=name), *_], value=ast.Constant(value=str())):
                found.setdefault(name, []).append(node.value)
    return found


def returned_texts(function: ast.FunctionDef) -> Iterator[str]:
    """The texts that a function returns, including both branches of a conditional expression."""
    for node in ast.walk(function):
        if isinstance(node, ast.Return) and node.value is not None:
            for value in ast.walk(node.value):
                if isinstance(value, ast.Constant) and isinstance(value.value, str) and value.value:
                    yield value.value


def is_error(levels: ast.expr) -> bool:
    """Whether the levels of an operator's `report` include `ERROR`."""
    return isinstance(levels, ast.Set) and any(
        isinstance(level, ast.Constant) and level.value == "ERROR" for level in levels.elts
    )


def texts_of(argument: ast.expr) -> Iterator[str]:
    """The text of an argument; nothing if it only passes on another error's sentence or consists of a gap."""
    text = re.sub(f"{GAP}+", GAP, template(argument))
    if text.replace(GAP, "").strip(" :.") and not text.endswith(f": {GAP}"):
        yield text


def template(node: ast.expr) -> str:
    """A text expression with gaps for the inserted values."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(template(part) for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return template(node.left) + template(node.right)
    return GAP


def name_of(node: ast.expr) -> str:
    """The last part of a name."""
    return getattr(node, "id", getattr(node, "attr", ""))
