"""Sampling leaves no trace: not the frame, not unkeyed edits, not a datablock more or less."""

import bpy
import numpy as np
import pytest

from tests.scene.movers import add_driver, add_empty, animated_armature, animated_empty
from tests.scene.sampled import CHANNELS, POSES, THING
from twobone_addon.pipeline.motion.sampling import sample
from twobone_addon.scene.sampling.evaluate import Quantity

QUANTITIES = [THING, *POSES, *CHANNELS, Quantity("VALUE", "Thing", path="empty_display_size")]


def state(scene):
    """All that a user could miss."""
    counts = {name: len(getattr(bpy.data, name)) for name in ("objects", "scenes", "actions", "collections", "armatures")}
    users = {(kind, block.name): block.users for kind in ("objects", "actions", "armatures") for block in getattr(bpy.data, kind)}
    values = [
        tuple(thing.location) + tuple(thing.rotation_euler) + tuple(component for row in thing.matrix_world for component in row)
        for thing in bpy.data.objects
    ]
    bones = [tuple(component for row in bone.matrix for component in row) for bone in bpy.data.objects["Rig"].pose.bones]
    return scene.frame_current_final, counts, users, values, bones, bpy.context.mode, [thing.name for thing in bpy.data.objects]


@pytest.mark.parametrize("way", ["AUTO", "PROBES", "SCENE"])
def test_nothing_is_left_behind(scene, way):
    rig, thing, driven = animated_armature(), animated_empty(), add_empty("Driven")
    add_driver(driven, "location", 0, "frame")
    scene.frame_set(7, subframe=0.25)
    thing.location, thing.rotation_euler.z = (9, 8, 7), 0.123
    rig.pose.bones["upper"].location = (1, 2, 3)
    bpy.context.view_layer.update()
    before = state(scene)
    sample(scene, [*QUANTITIES, Quantity("WORLD", "Driven")], np.array([-3.0, 2.5, 40.0]), evaluation=way)
    bpy.context.view_layer.update()
    assert state(scene) == before


def test_probes_go_even_if_reading_fails(scene):
    animated_armature()
    animated_empty()
    before = state(scene)
    with pytest.raises(ValueError, match="path_resolve"):
        sample(scene, [Quantity("VALUE", "Thing", path="no.such")], np.array([1.0]), evaluation="PROBES")
    assert state(scene) == before


def test_an_unkeyed_choice_is_put_back(scene):
    animated_armature()
    thing = animated_empty()
    for frame, mode in ((0, "XYZ"), (12, "ZYX")):
        thing.rotation_mode = mode
        thing.keyframe_insert("rotation_mode", frame=frame)
    thing.rotation_mode = "YXZ"
    sample(scene, QUANTITIES, np.array([-3.0, 2.5, 40.0]), evaluation="SCENE")
    assert thing.rotation_mode == "YXZ"
