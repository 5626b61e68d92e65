"""Who may import whom: the table of rooms, checked on every import statement, also those inside functions."""

import ast
import subprocess
import sys

import pytest

from tests.house.source import PACKAGE, ROOT, addon_files, imports_of, name_of, package_of, room_of, tree_of

BLENDER_INTERFACE = {"bpy", "mathutils", "bpy_extras", "bl_ui", "bl_operators", "rna_prop_ui"}
DRAWING = {"gpu", "gpu_extras", "blf"}

# Beside the standard library and its own files, a room may import these. The table of the contributing page, as a test.
MAY_IMPORT = {
    "__init__": {"calls", "errors", "settings", "version"},
    "__main__": {"bpy", "registration", "command_line"},
    "said": set(),
    "records": set(),
    "version": set(),
    "errors": {"said"},
    "files": {"errors", "said", "records"},
    "settings": {"errors", "said", "records"},
    "core": {"numpy", "files", "errors", "said", "records"},
    "scene": {"bpy", "mathutils", "numpy", "settings", "core", "files", "errors", "said", "records"},
    "pipeline": {"numpy", "scene", "settings", "core", "errors", "said", "records"},
    "tasks": {"numpy", "pipeline", "scene", "settings", "core", "files", "errors", "said", "records"},
    "desk": {"tasks", "pipeline", "scene", "settings", "errors", "said", "records"},
    "interface": BLENDER_INTERFACE
    | DRAWING
    | {"numpy", "desk", "tasks", "pipeline", "scene", "settings", "core", "errors", "said", "records"},
    "command_line": {"bpy", "desk", "tasks", "pipeline", "settings", "files", "errors", "said", "records", "version"},
    "registration": {"bpy", "interface", "command_line", "scene"},
    "calls": {"bpy", "desk", "tasks", "pipeline", "scene", "settings", "errors"},
}
# An extension that does not ask for the network opens no connection, and one that is self-contained fetches nothing.
CONNECTIONS = {"asyncio", "ensurepip", "ftplib", "http", "imaplib", "pip", "smtplib", "socket", "ssl", "urllib", "xmlrpc"}
# The interface reads the scene; what writes to it goes through a use-case.
WRITES_TO_THE_SCENE = f"{PACKAGE}.scene.keys.writing"

each_file = pytest.mark.parametrize("path", addon_files(), ids=name_of)


def imports_in(path):
    return list(imports_of(tree_of(path), package_of(path)))


def supplier(name):
    """The room, or the package outside, that an import reaches."""
    parts = name.split(".")
    return parts[1] if parts[0] == PACKAGE and len(parts) > 1 else parts[0]


@each_file
def test_a_room_imports_only_what_its_row_allows(path):
    room = room_of(path)
    allowed = MAY_IMPORT[room] | {room}
    strangers = [
        f"line {line}: {name}"
        for line, name in imports_in(path)
        if supplier(name) not in allowed and supplier(name) not in sys.stdlib_module_names
    ]
    assert not strangers, f"{name_of(path)} imports {strangers}; {room} may import {sorted(allowed)}"


# Inside these rooms the folders are floors: each may import from those before it, and from the files beside the folders.
FLOORS = {
    "core": ("solver", "rig", "curves", "limbs", "contacts", "planting"),
    "core/limbs": ("tree", "body"),
    "scene": ("keys", "graph", "sampling", "rig", "visible", "live"),
    "pipeline": ("plan", "motion", "pose", "report"),
    "tasks": (
        "convert",
        "give",
        "switch",
        "find_contacts",
        "plant",
        "finish_retarget",
        "nudge",
    ),
    "tasks/give": ("controls",),
    "tasks/plant": ("plan", "pose", "keys", "report"),
    "interface": ("stored", "live", "overlay", "running", "operators", "sidebar"),
    "command_line": ("batch",),
}


def parts_of(room):
    """The files of a room, each with the part that it is in: a folder, or itself beside the folders."""
    folder = ROOT / PACKAGE / room
    return [(path, path.relative_to(folder).with_suffix("").parts[0]) for path in addon_files() if folder in path.parents]


def parts_reached(path, room):
    """Line and full name of what a file imports from its room, and the part that it is in."""
    prefix = f"{PACKAGE}.{room.replace('/', '.')}."
    return [(line, name, name.removeprefix(prefix).split(".")[0]) for line, name in imports_in(path) if name.startswith(prefix)]


@pytest.mark.parametrize("room", FLOORS)
def test_no_arrow_between_the_folders_of_a_room_runs_up(room):
    floors = FLOORS[room]
    up = [
        f"{name_of(path)}, line {line}: {name}"
        for path, part in parts_of(room)
        if part in floors
        for line, name, other in parts_reached(path, room)
        if other in floors and floors.index(other) > floors.index(part)
    ]
    assert not up


def test_every_folder_of_a_room_has_its_floor():
    packages = [path.parent for path in addon_files() if path.name == "__init__.py" and len(path.relative_to(ROOT).parts) > 3]
    found = {(folder.parent.relative_to(ROOT / PACKAGE).as_posix(), folder.name) for folder in packages}
    assert found == {(room, floor) for room, floors in FLOORS.items() for floor in floors}


@pytest.mark.parametrize("room", FLOORS)
def test_no_two_parts_of_a_room_import_each_other_not_even_round_about(room):
    """A part is a folder, or a file beside the folders."""
    arrows: dict[str, set[str]] = {}
    for path, part in parts_of(room):
        others = {other for _, _, other in parts_reached(path, room)}
        arrows.setdefault(part, set()).update(others - {part})
    while ends := [part for part, others in arrows.items() if not others & arrows.keys()]:
        for part in ends:
            del arrows[part]
    assert not arrows, f"{room} goes round in circles among {sorted(arrows)}"


def modules_without_blender():
    """What solves takes arrays and records: all that the scene tells is read while planning, or sampled."""
    core = (ROOT / PACKAGE / "core").rglob("*.py")
    keying = [ROOT / PACKAGE / "pipeline" / name for name in ("motion/plan_motion.py", "pose/solving.py", "keying.py")]
    solving = (ROOT / PACKAGE / "tasks").glob("*/**/solv*.py")
    return sorted({".".join(path.relative_to(ROOT).with_suffix("").parts) for path in (*core, *keying, *solving)})


def test_core_and_solving_import_where_there_is_no_blender():
    modules = modules_without_blender()
    without = "import sys, importlib; sys.modules.update(bpy=None, mathutils=None)"
    code = f"{without}; [importlib.import_module(name) for name in {modules!r}]"
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert not ended.returncode, ended.stderr
    assert {"twobone_addon.core.solver.two_bone", "twobone_addon.tasks.plant.solve"} <= set(modules)


@each_file
def test_the_addon_opens_no_connection_and_leaves_the_module_path_alone(path):
    assert not [name for _, name in imports_in(path) if supplier(name) in CONNECTIONS]
    assert "sys.path" not in {ast.unparse(node) for node in ast.walk(tree_of(path)) if isinstance(node, ast.Attribute)}


@each_file
def test_the_addon_reaches_its_own_files_relatively(path):
    """Blender gives an extension a name of its own, so `import twobone_addon` would find nothing, or another copy."""
    absolute = [line for line, name in imports_of(tree_of(path), ()) if name.split(".")[0] == PACKAGE]
    assert not absolute, f"{name_of(path)}, lines {absolute}"


@pytest.mark.parametrize("path", [path for path in addon_files() if room_of(path) == "scene"], ids=name_of)
def test_the_scene_takes_records_and_constants_from_rig_and_curves_not_their_computations(path):
    computations = [
        f"line {line}: {name}"
        for line, name in imports_in(path)
        if name.startswith((f"{PACKAGE}.core.rig.", f"{PACKAGE}.core.curves.")) and not name.rsplit(".", 1)[-1][0].isupper()
    ]
    assert not computations


@pytest.mark.parametrize("path", [path for path in addon_files() if room_of(path) == "interface"], ids=name_of)
def test_the_interface_draws_only_where_its_file_says_so_and_never_writes_to_the_scene(path):
    names = [name for _, name in imports_in(path)]
    assert "draw" in path.stem or not [name for name in names if supplier(name) in DRAWING]
    assert not [name for name in names if name.startswith(WRITES_TO_THE_SCENE)]


# The list of tasks: each is imported from the place it names there, when it is first used.
LIST_OF_PLACES = f"{PACKAGE}/tasks/all_tasks.py"


@pytest.mark.parametrize("path", [path for path in addon_files() if name_of(path) != LIST_OF_PLACES], ids=name_of)
def test_nothing_is_imported_by_a_computed_name(path):
    called = {node.func.id for node in ast.walk(tree_of(path)) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    assert "__import__" not in called
    assert "importlib" not in {supplier(name) for _, name in imports_in(path)}


@pytest.mark.parametrize(
    "statement, found",
    [
        ("import bpy.types", "bpy.types"),
        ("from bpy import types", "bpy.types"),
        ("from ...errors import TwoBoneError", "twobone_addon.errors.TwoBoneError"),
        ("from ... import scene", "twobone_addon.scene"),
        ("from . import bones", "twobone_addon.core.rig.bones"),
        ("def later():\n    from ...scene import sampling", "twobone_addon.scene.sampling"),
    ],
)
def test_every_form_of_import_is_seen(statement, found):
    tree = ast.parse(statement)
    assert [name for _, name in imports_of(tree, ("twobone_addon", "core", "rig"))] == [found]
