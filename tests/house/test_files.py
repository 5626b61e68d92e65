"""One place that knows Blender's version, nothing swallowed; lists of lines name lines that are there."""

import ast
import json

import pytest

from tests.house.source import PACKAGE, ROOT, addon_files, name_of, tree_of

VERSION_ROOM = "twobone_addon/scene/versions.py"

each_file = pytest.mark.parametrize("path", addon_files(), ids=name_of)


@each_file
def test_only_the_version_room_asks_for_blenders_version(path):
    asked = [node.lineno for node in ast.walk(tree_of(path)) if is_blender_version(node)]
    assert not asked or name_of(path) == VERSION_ROOM, f"{name_of(path)}, lines {asked}"


def is_blender_version(node):
    """``bpy.app.version`` and ``app.version``; the version as a text for people, ``version_string``, is free to all."""
    if not (isinstance(node, ast.Attribute) and node.attr in {"version", "version_file"}):
        return False
    owner = node.value
    return getattr(owner, "attr", getattr(owner, "id", None)) == "app"


@each_file
def test_no_except_catches_everything(path):
    handlers = [node for node in ast.walk(tree_of(path)) if isinstance(node, ast.ExceptHandler)]
    wide = [handler.lineno for handler in handlers if catches_everything(handler)]
    assert not wide, f"{name_of(path)}, lines {wide}"


def catches_everything(handler):
    if handler.type is None:
        return True
    return bool({"Exception", "BaseException"} & {node.id for node in ast.walk(handler.type) if isinstance(node, ast.Name)})


def test_a_mutant_that_changes_nothing_is_of_a_line_that_is_there():
    for mutant in json.loads((ROOT / "tools" / "mutants.json").read_text(encoding="utf-8")):
        assert mutant["before"] in (ROOT / PACKAGE / mutant["path"]).read_text(encoding="utf-8"), mutant
