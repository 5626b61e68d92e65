"""The add-on's source as the house tests read it: files, syntax trees and what they import."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "twobone_addon"


def addon_files() -> list[Path]:
    return sorted((ROOT / PACKAGE).rglob("*.py"))


def name_of(path: Path) -> str:
    """Path as people write it: ``twobone_addon/core/rig/bones.py``."""
    return path.relative_to(ROOT).as_posix()


def room_of(path: Path) -> str:
    """First name below the package: ``core`` for a file in that room, ``errors`` for the module beside the rooms."""
    return path.relative_to(ROOT / PACKAGE).parts[0].removesuffix(".py")


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def imports_of(tree: ast.Module, package: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    """Line and full dotted name of everything imported, relative imports resolved, inside functions too.

    `package` is the package that holds the module, ``("twobone_addon", "core", "rig")``.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            origin = [*base, *(node.module or "").split(".")]
            for alias in node.names:
                yield node.lineno, ".".join(part for part in [*origin, alias.name] if part)


def package_of(path: Path) -> tuple[str, ...]:
    return path.relative_to(ROOT).parts[:-1]
