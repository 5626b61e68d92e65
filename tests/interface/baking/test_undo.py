"""One undo brings back all that an operator has changed, values that its keys animate too; so the redo panel starts from there.

Blender rereads from an undo step only what differs from the step after. So nothing but the operator may differ here: what the
sidebar stores of its own the first time it looks at an armature is there before.
"""

import json

import bpy
import numpy as np
import pytest

from tests.tasks.rigs.control_rig import control_rig, drive_by_property
from tests.tasks.rigs.two_actions import LAST, LEG, leg_with_two_actions
from tests.tasks.scenes import build_armature, key_channel, set_range

UNDO_STEP = True
"""What makes a call from a script an undo step, as one from the interface is."""

CHAIN = {"armature": "Rig", "upper": "upper", "lower": "lower", "tip": "foot"}


def leg_with_switch():
    """A leg whose IK a property switches on; its bones are keyed."""
    drive_by_property(control_rig())


def leg_with_target():
    """A leg that has not been keyed, and a target that moves."""
    build_armature(LEG)
    target = bpy.data.objects.new("Target", None)
    bpy.context.scene.collection.objects.link(target)
    key_channel(target, "location", {1: (0, -0.1, 0.3), LAST: (0, -0.2, 0.4)})


def switch(to):
    return lambda: bpy.ops.twobone.switch("EXEC_DEFAULT", UNDO_STEP, **CHAIN, to=to)


def convert(**settings):
    return lambda: bpy.ops.twobone.convert_ik("EXEC_DEFAULT", UNDO_STEP, armature="Rig", **settings)


def bake():
    return bpy.ops.twobone.bake("EXEC_DEFAULT", UNDO_STEP, armature="Rig", upper="thigh", lower="shin", target="Target")


def onto_controls():
    guides = {"target": "Rig", "target_bone": "Foot.L", "plane": "POLE", "pole": "Rig", "pole_bone": "PoleTarget.L"}
    return bpy.ops.twobone.bake_target("EXEC_DEFAULT", UNDO_STEP, **CHAIN, **guides, rotate=True)


CASES = {
    "convert, the IK keyed off": (leg_with_two_actions, convert()),
    "convert, all actions": (leg_with_two_actions, convert(actions="ALL")),
    "bake": (leg_with_target, bake),
    "switch to IK": (leg_with_switch, switch("IK")),
    "bake onto controls": (leg_with_switch, onto_controls),
}


def curves():
    """All keys of the file: `{(action, path, index): keys}`."""
    found = {}
    for action in bpy.data.actions:
        bags = [action] if hasattr(action, "fcurves") else action.layers[0].strips[0].channelbags
        for curve in (curve for bag in bags for curve in bag.fcurves):
            found[action.name, curve.data_path, curve.array_index] = [tuple(key.co) for key in curve.keyframe_points]
    return found


def values():
    """What objects, bones and constraints hold now: `{(owner, property): value}`."""
    found = {}
    for thing in bpy.data.objects:
        found[thing.name, "location"] = tuple(thing.location)
        for bone in thing.pose.bones if thing.pose else ():
            own = {name: tuple(getattr(bone, name)) for name in ("location", "rotation_quaternion", "rotation_euler", "scale")}
            own |= {name: value for name, value in bone.items() if isinstance(value, float)}
            own |= {each.name: (each.influence, each.mute) for each in bone.constraints}
            found |= {(bone.name, name): value for name, value in own.items()}
    return found


def motion():
    """World matrices of all bones at every frame, as Blender evaluates them; the frame stays."""
    scene, found = bpy.context.scene, []
    kept = scene.frame_current
    for frame in range(1, LAST + 1):
        scene.frame_set(frame)
        rig = bpy.data.objects["Rig"].evaluated_get(bpy.context.evaluated_depsgraph_get())
        found.append([np.array(rig.matrix_world @ bone.matrix) for bone in rig.pose.bones])
    scene.frame_set(kept)
    return np.array(found)


def ready(make):
    """The scene, seen by the sidebar, on a frame to which somebody has gone after the last step."""
    make()
    set_range(1, LAST)
    assert not bpy.data.objects["Rig"].twobone.chains
    bpy.ops.ed.undo_push(message="made")
    bpy.context.scene.frame_set(1)
    bpy.ops.ed.undo_push(message="first frame")


@pytest.mark.parametrize("case", CASES)
def test_after_undo_all_is_as_before(empty_file, case):
    make, run = CASES[case]
    ready(make)
    before = motion(), curves(), values()
    bpy.ops.ed.undo_push(message="measured")
    assert run() == {"FINISHED"}
    after = curves(), values()
    assert after[0] != before[1]
    bpy.ops.ed.undo()
    assert curves() == before[1]
    assert values() == before[2]
    np.testing.assert_array_equal(motion(), before[0])
    bpy.ops.ed.redo()
    assert (curves(), values()) == after


def test_the_redo_panel_converts_all_actions_as_they_were(empty_file):
    ready(leg_with_two_actions)
    moving = motion()
    bpy.ops.ed.undo_push(message="measured")
    convert()()
    bpy.ops.ed.undo()
    convert(actions="ALL")()
    report = json.loads(bpy.context.window_manager.twobone_report)
    assert {chain["action"] for chain in report["chains"]} == {"Step", "Kick"}
    assert np.ptp(moving, axis=0).max() > 0.05
    np.testing.assert_allclose(motion(), moving, atol=3e-4)
