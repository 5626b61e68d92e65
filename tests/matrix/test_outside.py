"""What is seen outside the frames that a task keys stays, wherever that motion comes from: any task, destination and source.

`TWOBONE_MATRIX_DRAWS=2000 TWOBONE_MATRIX_SEED=2` draws all cells, over other frames; `TWOBONE_MATRIX_PLACE=17` tries one alone.
"""

import json
import os
from itertools import product

import bpy
import numpy as np
import pytest

from tests.matrix.outside import LAST, PLACES_OF, STATES, WHERE, Place, chosen_curves, drawn_places, key_more, seen
from tests.promises.promises import Bench, changed, settle
from tests.promises.refused_calls import armature
from tests.promises.tasks_under_test import TASKS, TaskUnderTest
from tests.tasks.checks.file_dump import differences, dump_file

DRAWS = int(os.environ.get("TWOBONE_MATRIX_DRAWS", "77"))
SEED = int(os.environ.get("TWOBONE_MATRIX_SEED", "1"))
ONLY = os.environ.get("TWOBONE_MATRIX_PLACE")
BATCHES = 7

SAME = 2e-4
"""Distance, of a limb about 1.8 units long, that single precision and linear keys at whole frames leave."""

TRIED = {
    task.name: task
    for task in TASKS
    if task.name in {"bake", "bake_target", "convert_ik", "switch", "nudge", "plant", "fit_root"}
}
DESTINED = {name: any(option.name == "destination" for option in task.options) for name, task in TRIED.items()}
PLACES = drawn_places(SEED, DRAWS, DESTINED)


@pytest.fixture(scope="module")
def bench(registered_addon, tmp_path_factory):
    return Bench(tmp_path_factory.mktemp("outside"))


def test_every_task_is_tried_in_every_state():
    assert {(place.task, place.state) for place in PLACES} == {(task, state) for task in TRIED for state in STATES}


def test_each_place_and_destination_of_every_task_is_drawn_in_every_state_at_last():
    cells = [(place.task, place.state, place.where, place.destination) for place in drawn_places(SEED, 10_000, DESTINED)]
    destinations = {name: ("ACTION", "NEW_ACTION", "NLA") if has else ("ACTION",) for name, has in DESTINED.items()}
    assert set(cells) == {cell for name in TRIED for cell in product((name,), STATES, PLACES_OF[name], destinations[name])}
    assert len(cells) == len(set(cells))
    assert set(WHERE) == {where for _, _, where, _ in cells}


@pytest.mark.parametrize("batch", range(BATCHES))
def test_nothing_outside_changes(bench, batch):
    cells = [PLACES[int(ONLY)]] if ONLY and not batch else [] if ONLY else PLACES[batch::BATCHES]
    outcomes = [outcome(place, bench) for place in cells]
    done = sum(is_done for is_done, _ in outcomes)
    print(f"outside, batch {batch}: {done} of {len(cells)} cells done, the others refused")
    for place, (is_done, said) in zip(cells, outcomes, strict=True):
        print("   ", "done   " if is_done else "refused", place, said)
    wrong = [
        f"{PLACES.index(place)}: {place}\n    {said}" for place, (_, said) in zip(cells, outcomes, strict=True) if "WRONG" in said
    ]
    assert not wrong, "\n".join(wrong)


def tried(place: Place) -> TaskUnderTest:
    task = TRIED[place.task]
    return task.in_actions if place.onto_controls else task


def prepare(place: Place, bench: Bench) -> None:
    bench.open(tried(place))
    key_more()
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, LAST
    assert any(chosen_curves(WHERE[place.where])), f"{place}: nothing moves there"
    STATES[place.state](WHERE[place.where])
    bpy.context.view_layer.objects.active = armature()
    settle()


def ask(place: Place) -> str:
    """Call the task; its refusal, or nothing."""
    task = tried(place)
    options = {option.name for option in task.options}
    call = dict(task.call)
    if place.task == "nudge":
        middle = (place.start + place.end) / 2.0
        call |= {"frame": middle, "before": middle - place.start, "after": place.end - middle, "loop": "OFF"}
    else:
        call |= {"frame_range": "CUSTOM", "frame_start": place.start, "frame_end": place.end}
    call |= {name: True for name in ("key_before", "key_after") if name in options}
    if place.task == "convert_ik":
        call["switch_off"] = "INFLUENCE"  # As a mute does where the IK also poses the limb outside.
    if "destination" in options:
        call["destination"] = place.destination
    try:
        getattr(bpy.ops.twobone, place.task)(**call)
    except RuntimeError as error:
        return str(error)
    return ""


def outcome(place: Place, bench: Bench) -> tuple[bool, str]:
    """Whether the task was done, and what was wrong with it."""
    prepare(place, bench)
    frames = np.arange(1.0, LAST + 1.0)
    frames = frames[(frames < place.start - 1.0) | (frames > place.end + 1.0)]
    file, before = dump_file(), seen(frames)
    bpy.context.scene.frame_set(1)
    settle()
    file = dump_file()
    refused = ask(place)
    if "Traceback" in refused:
        return False, f"WRONG {refused.strip().splitlines()[-2]}"
    if refused:
        left = [path for path in differences(file, dump_file()) if not path.endswith(".users")]
        return False, f"WRONG changed {left[:3]}, but {refused}" if left else refused.strip()
    found = moved_outside(before, seen(frames), frames)
    if found:
        return True, found
    bpy.context.scene.frame_set(1)
    report = json.loads(bpy.context.window_manager.twobone_report)
    return True, again_and_back(place, file) or str(report.get("sentence"))


def moved_outside(before: dict[str, np.ndarray], after: dict[str, np.ndarray], frames: np.ndarray) -> str:
    """What is seen to move outside; empty where nothing is."""
    worst = {name: np.abs(after[name] - before[name]).max(axis=(1, 2)) for name in before if name in after}
    name = max(worst, key=lambda known: worst[known].max())
    if worst[name].max() <= SAME:
        return ""
    apart = frames[worst[name] > SAME]
    return f"WRONG {name} moved by {worst[name].max():.3g} at frames {apart[:3].tolist()}-{apart[-1]:g}"


def again_and_back(place: Place, file: dict) -> str:
    """A second run leaves what is seen as the first left it, and Clear gives back the file."""
    every = np.arange(1.0, LAST + 1.0)
    if place.task not in {"nudge", "switch"}:
        once = seen(every)
        bpy.context.scene.frame_set(1)
        refused = ask(place)
        if "Traceback" in refused:
            return f"WRONG again: {refused.strip().splitlines()[-2]}"
        moved = moved_outside(once, seen(every), every)
        if moved:
            return f"again: {moved}"
    bpy.context.scene.frame_set(1)
    rig = armature()
    limbs = [(chain.upper, chain.lower, chain.tip) for chain in rig.twobone.chains] or [("upper", "lower", "")]
    for upper, lower, tip in limbs:
        try:
            bpy.ops.twobone.clear_baked(armature=rig.name, upper=upper, lower=lower, tip=tip, all_frames=True)
        except RuntimeError as error:
            return f"WRONG Clear: {error}" if "Traceback" in str(error) else ""
    settle()
    left = changed(file, dump_file())
    return f"WRONG Clear left {len(left)}: {left[:3]}" if left else ""


SHORT = 5, 12
"""A scene's first and last frame, in the midst of the motion of each file."""


@pytest.mark.parametrize("task", TRIED.values(), ids=TRIED)
def test_nothing_changes_outside_a_scene_that_is_shorter_than_the_motion(bench, task):
    bench.open(task)
    scene = bpy.context.scene
    if task.name == "fit_root":  # Its walker stands still, and would go on to do so.
        armature().pose.bones["thigh.R"].keyframe_insert("rotation_quaternion", frame=LAST)
    scene.frame_start, scene.frame_end = SHORT
    bpy.context.view_layer.objects.active = armature()
    settle()
    frames = np.array([frame for frame in range(-4, LAST + 1) if not SHORT[0] - 1 <= frame <= SHORT[1] + 1], dtype=float)
    file, before = dump_file(), seen(frames)
    bpy.context.scene.frame_set(6)
    call = {**task.call, **({"frame": 9.0, "before": 2.0, "after": 2.0} if task.name == "nudge" else {})}
    call |= {name: True for name in ("key_before", "key_after") if any(option.name == name for option in task.options)}
    assert getattr(bpy.ops.twobone, task.name)(**call) == {"FINISHED"}
    assert not moved_outside(before, seen(frames), frames)
    assert changed(file, dump_file())
