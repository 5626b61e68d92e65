"""Small files, one place that knows Blender's version, nothing swallowed."""

import ast
from collections import Counter

import pytest

from tests.house.source import ROOT, addon_files, name_of, tree_of

LONGEST_FILE = 300
LARGEST_FOLDER = 12
VERSION_ROOM = "twobone_addon/scene/versions.py"
OURS = ("twobone_addon", "tests", "tools", "examples")

each_file = pytest.mark.parametrize("path", addon_files(), ids=name_of)


def all_files():
    return [*ROOT.glob("*.py"), *(path for folder in OURS for path in sorted((ROOT / folder).rglob("*.py")))]


@pytest.mark.parametrize("path", all_files(), ids=name_of)
def test_no_file_is_longer_than_a_reader_keeps_in_mind(path):
    lines = path.read_text(encoding="utf-8").count("\n")
    assert lines <= LONGEST_FILE, f"{name_of(path)} has {lines} lines"


def test_no_folder_has_more_modules_than_a_reader_keeps_in_mind():
    folders = Counter(name_of(path.parent) for path in addon_files() if path.name != "__init__.py")
    assert not {folder: modules for folder, modules in folders.items() if modules > LARGEST_FOLDER}


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
