"""Two characters, the second with a copy of the first's rotations: both are clicked, one button finishes the retarget.

One undo takes all of it back.

Started by test_window.py inside a Blender with a window; the zip and the folder for pictures follow ``--``.
"""

import sys
from pathlib import Path

import bpy
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.gui.driver import install_zip, play
from tests.gui.noticing import differences, state
from tests.tasks.rigs.retargeted import LEG, made_pair
from tests.tasks.rigs.walker import BOTH, Walk

FRAMES = 24
STOOD = 3
"""Least number of frames of a contact that is looked at."""
SOLE = 0.02 * LEG / 0.82
"""Height of a ball that stands."""


def prepare():
    bpy.data.batch_remove(list(bpy.data.objects))
    _, hero, states = made_pair(Walk(frames=FRAMES), size=1.0)
    hero.location.x = 0.9
    for thing in bpy.data.objects:
        thing.select_set(state=False)
    bpy.context.view_layer.objects.active = None
    bpy.context.scene.frame_set(middle(states))
    bpy.ops.ed.undo_push(message="Characters made")
    return states


def spans(states):
    """Side, first and last row of the times that a foot lies flat."""
    found = []
    for side, codes in states.items():
        on = (codes == BOTH).astype(int)
        edges = np.flatnonzero(np.diff([0, *on, 0])).reshape(-1, 2)
        found += [(side, first + 1, end - 1) for first, end in edges if end - first - 2 >= STOOD]
    return found


def middle(states):
    _, first, end = spans(states)[0]
    return int(first + end) // 2 + 1


def worst(states):
    """How far the balls of Hero move, and are off the floor, in the source's contacts: leg lengths."""
    hero, scene, found = bpy.data.objects["Hero"], bpy.context.scene, []
    shown = scene.frame_current
    for side, first, end in spans(states):
        places = []
        for row in range(first, end):
            scene.frame_set(row + 1)
            posed = hero.evaluated_get(bpy.context.evaluated_depsgraph_get())
            places.append((posed.matrix_world @ posed.pose.bones[f"toe.{side}"].head)[:])
        places = np.array(places)
        found.append((np.ptp(places, axis=0).max() / LEG, np.abs(places[:, 2] - SOLE).max() / LEG))
    scene.frame_set(shown)
    return np.max(found, axis=0)


def scenario(user):
    yield from user.look_from("FRONT")
    yield from user.open_sidebar("Two-Bone IK")
    for number, name in enumerate(("Source", "Hero")):
        character = bpy.data.objects[name]
        chest = character.matrix_world @ character.pose.bones["chest"].center
        yield from user.move(*user.place_of(chest))
        yield from user.press("LEFTMOUSE", shift=bool(number))
        yield from user.wait(5)
    selected = {thing.name for thing in bpy.context.view_layer.objects if thing.select_get()}
    assert (selected, bpy.context.view_layer.objects.active.name) == ({"Source", "Hero"}, "Hero")
    yield from user.picture("retarget_before")
    before, slid = state(), worst(STATES)
    assert slid.max() > 0.02, "there is nothing to finish"
    yield from user.click(*(yield from user.find_button("bpy.ops.twobone.finish_retarget(")))
    for _ in range(2000):
        yield
        at_work = any(operator.bl_idname.startswith("TWOBONE_OT") for operator in user.window.modal_operators)
        if not at_work and "finish_retarget" in bpy.context.window_manager.twobone_report:
            break
    yield from user.wait(10)
    yield from user.picture("retarget_finished")
    assert "Hero follows Source" in bpy.data.objects["Hero"].twobone.said, "the panel shows no result"
    assert worst(STATES).max() <= 0.01, worst(STATES)
    yield from user.hover("WINDOW")
    yield from user.press("Z", ctrl=True)
    yield from user.wait(10)
    yield from user.picture("retarget_undone")
    assert not differences(before), differences(before)


install_zip()
STATES = prepare()
play(scenario)
