"""What every task needs stands once: keys that hold a channel beside a range, how keys are reduced, and a name in a room."""

import ast

import pytest

from tests.house.source import PACKAGE, ROOT, addon_files, name_of, room_of, tree_of

ONLY_IN = {
    # The values of a curve beside a range: read, and held there.
    "frame_beside": {"scene/keys/reading.py", "scene/keys/tables.py", "pipeline/keys_beside.py", "pipeline/pose/solving.py"},
    "reduce_keys": {"core/curves/reduction.py", "pipeline/keying.py"},
}
"""Files that may use a name. Plant alone looks at what is beside a range, since its pieces lie inside one."""


def uses(path, name):
    return any(getattr(node, "id", getattr(node, "attr", None)) == name for node in ast.walk(tree_of(path)))


@pytest.mark.parametrize("name", ONLY_IN)
def test_one_file_does_it_for_all_tasks(name):
    users = {path.relative_to(ROOT / PACKAGE).as_posix() for path in addon_files() if uses(path, name)}
    assert users - {"tasks/plant/keys/curves.py"} <= ONLY_IN[name]
    assert users & ONLY_IN[name], f"{name} is used nowhere any more"


MANY_HAVE_ONE = {"register", "unregister", "draw", "draw_labels", "forget", "main"}
"""What the parts of the window and of the program are called alike, since each is asked the same by the one who starts it."""


@pytest.mark.parametrize("room", sorted({room_of(path) for path in addon_files() if path.parent.name != PACKAGE}))
def test_a_public_function_is_the_only_one_of_its_name_in_its_room(room):
    homes = {}
    for path in addon_files():
        if room_of(path) == room:
            for node in tree_of(path).body:
                if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                    homes.setdefault(node.name, []).append(name_of(path))
    assert homes or room == "settings"
    assert {name: files for name, files in homes.items() if len(files) > 1 and name not in MANY_HAVE_ONE} == {}
