"""What every task needs stands once: keys that hold a channel beside a range, and how keys are reduced."""

import ast

import pytest

from tests.house.source import PACKAGE, ROOT, addon_files, tree_of

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
