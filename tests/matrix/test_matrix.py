"""Every setting's every value, by every entry, in every state: no traceback, the same keys, again the same, all back by Clear.

`TWOBONE_MATRIX_DRAWS=2000 TWOBONE_MATRIX_SEED=2` draws more cells, and others; `TWOBONE_MATRIX_CELL=17` tries that one alone.
With `-s` each batch says how many of its cells were done, and how much of the matrix has been drawn.
"""

import json
import os
from collections.abc import Iterable
from typing import Any

import bpy
import pytest

from tests.matrix.cells import Cell, drawn_cells, open_options
from tests.matrix.states import STATES
from tests.promises.promises import Bench, changed, is_close, settle
from tests.promises.refused_calls import armature
from tests.promises.ways import Ended, operator, ways_of
from tests.tasks.checks.file_dump import differences, dump_file
from tests.tasks.checks.targets import curves_of
from twobone_addon.settings.options import OptionKind

DRAWS = int(os.environ.get("TWOBONE_MATRIX_DRAWS", "320"))
SEED = int(os.environ.get("TWOBONE_MATRIX_SEED", "1"))
ONLY = os.environ.get("TWOBONE_MATRIX_CELL")
BATCHES = 16
CELLS, DRAW = drawn_cells(SEED, DRAWS)

NO_CLEAR = "Clear gives back"


@pytest.fixture(scope="module")
def bench(registered_addon, tmp_path_factory):
    return Bench(tmp_path_factory.mktemp("matrix"))


def test_everything_is_drawn():
    """Each value of each setting of each task, and each task in each state by each entry."""
    coverage = DRAW.coverage()
    for what, (tried, all_of_them) in coverage.items():
        print(f"matrix, seed {SEED}, {DRAWS} cells: {what} {tried} of {all_of_them}")
    if ONLY is None:
        for what in ("two of task, state and entry", "values"):
            assert coverage[what][0] == coverage[what][1], what


@pytest.mark.parametrize("batch", range(BATCHES))
def test_every_cell_keeps_what_is_promised(bench, batch):
    cells = [CELLS[int(ONLY)]] if ONLY and not batch else [] if ONLY else CELLS[batch::BATCHES]
    outcomes = [outcome(cell, bench) for cell in cells]
    wrong = [f"{cell}\n    {found}" for cell, (_, found) in zip(cells, outcomes, strict=True) if found]
    done = sum(is_done for is_done, _ in outcomes)
    print(f"matrix, batch {batch}: {done} of {len(cells)} cells done, the others refused; {len(wrong)} wrong")
    assert not wrong, "\n".join(wrong)


def outcome(cell: Cell, bench: Bench) -> tuple[bool, str]:
    """Whether the task was done, and what was wrong with it."""
    prepare(cell, bench)
    settle()
    before = dump_file()
    ended = ask(cell, bench, {})
    if "Traceback" in ended.said:
        return False, last_line(ended.said)
    if not ended.done:
        left = [path for path in differences(before, dump_file()) if not path.endswith(".users")]
        return False, f"refused, but changed {len(left)}: {left[:3]}" if left else ""
    once = seen_keys()
    for check in (again_is_the_same, clear_gives_back, other_entry_is_the_same):
        found = check(cell, bench, before=before, once=once)
        if found:
            return True, found
    return True, ""


def prepare(cell: Cell, bench: Bench) -> None:
    bench.open(cell.task)
    if cell.entry in {"stored", "all"}:
        store(cell)
    STATES[cell.state].make(lambda **more: ask(cell, bench, more))


def ask(cell: Cell, bench: Bench, more: dict[str, Any]) -> Ended:
    """Call the task by the entry of the cell."""
    if cell.entry in {"stored", "all"}:
        return operator(stored_task(cell), more if cell.entry == "stored" else {})
    return ways_of(cell.task)[cell.entry](cell.task, {**cell.given, **more}, bench.folder)


def stored_task(cell: Cell) -> Any:
    """The task by its stored chain: the operator takes only what chains do not store."""
    from dataclasses import replace

    rig = armature()
    known = set(getattr(bpy.ops.twobone, "bake_all" if cell.entry == "all" else cell.task.name).get_rna_type().properties.keys())
    beside = {name: value for name, value in cell.given.items() if not hasattr(rig.twobone.chains[0], name) and name in known}
    if cell.entry == "all":
        return replace(cell.task, name="bake_all", call=beside)
    return replace(cell.task, call={"armature": rig.name, "stored": rig.twobone.chains[0].name, **beside})


def store(cell: Cell) -> None:
    """Give the stored chain the settings that the operator has."""
    chain = armature().twobone.chains[0]
    settings = {option.name: option.default for option in open_options(cell.task).values() if hasattr(chain, option.name)}
    kinds = {option.name: option.kind for option in cell.task.options}
    for name, value in {**settings, **cell.task.call, **cell.given}.items():
        if hasattr(chain, name):
            is_object = kinds[name] is OptionKind.OBJECT
            setattr(chain, name, (bpy.data.objects.get(value) if value else None) if is_object else value)


def last_line(said: str) -> str:
    lines = [line for line in said.splitlines() if "Error: " in line or "Error " in line]
    return f"TRACEBACK {lines[-1] if lines else said[-300:]}"


def seen_keys() -> dict[Any, Any]:
    """All keys that play, of every object: in its own action, and in its strips."""
    found: dict[Any, Any] = {}
    for thing in bpy.data.objects:
        data = thing.animation_data
        add_keys(found, (thing.name, "own"), curves_of(thing) if data and data.action else ())
        for number, strip in enumerate(strip for track in (data.nla_tracks if data else ()) for strip in track.strips):
            add_keys(found, (thing.name, number), strip_curves(strip))
    return found


def strip_curves(strip: Any) -> Iterable[Any]:
    from twobone_addon.scene.versions import strip_bag

    bag = strip_bag(strip)
    return bag.fcurves if bag else ()


def add_keys(found: dict[Any, Any], place: tuple[Any, ...], curves: Iterable[Any]) -> None:
    for curve in curves:
        if not curve.data_path.startswith("twobone"):
            found[(*place, curve.data_path, curve.array_index)] = [
                (key.co.x, key.co.y, key.handle_left.y, key.handle_right.y, key.type, key.interpolation)
                for key in curve.keyframe_points
            ]


def other_keys(first: dict[Any, Any], second: dict[Any, Any]) -> str:
    """What differs between two files' keys; empty where nothing does."""
    lost, more = first.keys() - second.keys(), second.keys() - first.keys()
    if lost or more:
        return f"curves only before {sorted(lost)[:2]}, only after {sorted(more)[:2]}"
    apart = [place for place, keys in first.items() if not is_close(keys, second[place])]
    if not apart:
        return ""
    one, other = first[apart[0]], second[apart[0]]
    row = next((row for row, (a, b) in enumerate(zip(one, other, strict=False)) if not is_close(a, b)), None)
    detail = f"{len(one)} and {len(other)} keys" if row is None else f"{one[row]} and {other[row]}"
    return f"{len(apart)} curves, such as {apart[0]}: {detail}"


def again_is_the_same(cell: Cell, bench: Bench, *, before: Any, once: Any) -> str:
    """A second run leaves the keys of the first; in a further action or strip as well."""
    del before
    ended = ask(cell, bench, {})
    if "Traceback" in ended.said:
        return f"again: {last_line(ended.said)}"
    if cell.task.name in NOT_AGAIN or "a baked key" in cell.state:
        return ""
    found = other_keys(once, seen_keys())
    # Root motion is added or removed once: a second run plants what it finds then, and says so.
    if cell.given.get("root_motion", "KEEP") != "KEEP" and "no root motion to" in ended.said:
        return ""
    return f"again: {found}" if found else ""


NOT_AGAIN = {"nudge", "clear_baked", "align_hinge", "switch"}
"""What a second run of is about another thing: adds to the first, or has nothing more to do."""


def clear_gives_back(cell: Cell, bench: Bench, *, before: Any, once: Any) -> str:
    """Clear leaves the file that was there before the task was first done."""
    del once
    if NO_CLEAR in cell.task.without or not STATES[cell.state].is_given_back or cell.state == "override":
        return ""
    if cell.state in {"again", "two characters of one rig"}:
        return ""  # The file before is not one without baked keys.
    rig, chains = armature(), armature().twobone.chains
    for upper, lower, tip in [(chain.upper, chain.lower, chain.tip) for chain in chains] or [("upper", "lower", "")]:
        call: dict[str, Any] = {"armature": rig.name, "upper": upper, "lower": lower, "tip": tip, "all_frames": True}
        if cell.given.get("actions") == "ALL":
            call["actions"] = "ALL"
        try:
            bpy.ops.twobone.clear_baked(**call, end_rotation=cell.given.get("end_rotation", "NONE"))
        except RuntimeError as error:
            if "Traceback" in str(error):
                return f"Clear: {last_line(str(error))}"
            return "" if cell.state == "muted and locked" else f"Clear: refused, {error}"
    settle()
    if "actions" in call and cell.given.get("destination") == "NEW_ACTION":
        # Actions that play one after another cannot give way to those they were copied from: that is said.
        copies = {action.name for action in bpy.data.actions} - set(before["actions.names"])
        said = str(json.loads(bpy.context.window_manager.twobone_report)["notes"])
        return "" if not copies or "Copies that New Action made stay" in said else f"Clear left {sorted(copies)}, but said {said}"
    left = changed(before, dump_file())
    if cell.given.get("keep_targets"):
        # The targets and poles that it made stay, without a key, and the chains follow them: Clear takes keys away.
        made = {f"objects[{thing.name}]" for thing in bpy.data.objects} - {f"objects[{name}]" for name in before["objects.names"]}
        lists = ("collection", "objects", "view_layers")
        stays = ("objects.names", "collections[", *(f"scenes[Scene].{each}" for each in lists), *made)
        left = [path for path in left if not path.startswith(stays) and ".twobone.chains[" not in path]
    return f"Clear left {len(left)}: {left[:3]}" if left else ""


def other_entry_is_the_same(cell: Cell, bench: Bench, *, before: Any, once: Any) -> str:
    """By names and by the entry of the cell the keys are the same."""
    del before
    if cell.entry == "operator" or cell.state == "keyed chain settings":
        return ""
    plain = Cell(cell.number, cell.task, "operator", cell.state, cell.given)
    prepare(plain, bench)
    settle()
    ended = ask(plain, bench, {})
    if cell.entry in {"stored", "all"} and "so it has no bone" in ended.said:
        return ""  # In a stored chain the bone is left over from an earlier pole or target; in a call it is a mistake.
    found = other_keys(seen_keys(), once)
    return f"operator and {cell.entry}: {found}; by the operator {ended.said[-150:]}" if found else ""
