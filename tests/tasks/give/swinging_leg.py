"""A leg that swings by keys, whose motion a target takes over."""

import json
import math

import bpy
import numpy as np
import pytest

from tests.tasks.scenes import LEG, Limb, add_empty, build_armature, key_channel, set_range

LAST = 24
LIMB = Limb("Rig")
LENGTH = 1.83
BACK = 1e-5 * LENGTH


def swinging_leg():
    """A leg that swings and bends in the plane YZ, by keys on its bones; a target and a pole somewhere."""
    rig = build_armature(LEG)
    for bone, swing, rest in (("upper", 0.6, 0.1), ("lower", 0.5, 0.7)):
        pose = rig.pose.bones[bone]
        pose.rotation_mode = "XYZ"
        key_channel(pose, "rotation_euler", {frame: (rest + swing * math.sin(0.4 * frame), 0, 0) for frame in range(1, LAST + 1)})
    add_empty("Target").location = (3, 3, 3)
    add_empty("Pole").location = (-3, 3, 3)
    set_range(1, LAST)
    return rig


def sway(rig):
    """Motion out of the plane as well."""
    for bone in ("upper", "lower"):
        key_channel(
            rig.pose.bones[bone],
            "rotation_euler",
            {
                frame: (0.3 + 0.3 * math.sin(0.4 * frame), 0.3 * math.cos(0.3 * frame), 0.4 * math.sin(0.2 * frame))
                for frame in range(1, 25)
            },
        )


def operator(name, **settings):
    names = LIMB.names()
    defaults = {"target": "Target", "pole": "Pole", "plane": "YZ", "bend": "POSITIVE"}
    assert getattr(bpy.ops.twobone, name)(**{**names, **defaults, **settings}) == {"FINISHED"}
    return json.loads(bpy.context.window_manager.twobone_report)


def refusal(**settings):
    with pytest.raises(RuntimeError) as error:
        operator("bake_target", **settings)
    return str(error.value)


def joints(rig, frames=range(1, LAST + 1)):
    """World joints `(F, 3, 3)`."""
    found = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        seen = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        bones = seen.pose.bones
        places = (bones["upper"].head, bones["lower"].head, bones["lower"].tail)
        found.append([seen.matrix_world @ place for place in places])
    return np.array(found)
