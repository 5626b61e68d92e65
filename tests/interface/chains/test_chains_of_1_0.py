"""Chains that version 1.0 has stored are there as they were, and bake as they did.

The file was saved by 1.0 in Blender 4.2: a leg for each kind of setting, its stored chain, and the action that 1.0 baked from it.
"""

from pathlib import Path

import bpy
import numpy as np
import pytest

from tests.interface.recording import drawn
from twobone_addon.interface.sidebar import result_panel

FILE = Path(__file__).with_name("chains_of_1_0.blend")
STORED = {
    "letter plane": {"plane": "YZ", "bend": "POSITIVE", "plane_space": "ARMATURE", "keys": "FRAMES", "frame_range": "SCENE"},
    "other side": {"plane": "YZ", "bend": "NEGATIVE", "plane_space": "WORLD", "depth": "FLATTEN"},
    "pole": {"plane": "POLE"},
    "rest": {"plane": "REST", "reference": "POSE", "end_rotation": "KEEP"},
    "object": {"plane": "OBJECT"},
    "ccd": {"joints": "ALL", "method": "CCD"},
    "many links": {"joints": "ALL", "method": "AUTO"},
    "stretch": {"reach": "STRETCH"},
    "soften": {"reach": "SOFTEN"},
    "limits": {"use_limits": True},
    "half": {"target_offset": "KEEP", "end_rotation": "TARGET"},
    "own range": {"frame_range": "CUSTOM", "frame_start": 5.0, "frame_end": 15.0, "interpolation": "LINEAR"},
    "keyed bend": {"plane": "YZ"},
    "own limits": {"joints": "ALL", "use_limits": True},
}
SAME = 2e-6
"""Of matrices whose lengths are about 1, in single precision."""


@pytest.fixture(scope="module")
def opened(registered_addon):
    bpy.ops.wm.open_mainfile(filepath=str(FILE))
    return bpy.context.scene


def test_stored_chains_keep_their_settings(opened):
    rigs = {thing.name: thing.twobone.chains[0] for thing in bpy.data.objects if thing.type == "ARMATURE"}
    assert set(rigs) == set(STORED)
    for name, values in STORED.items():
        chain = rigs[name]
        assert {key: getattr(chain, key) for key in values} == values, name
        assert chain.target.name == f"{name} target"
    assert rigs["pole"].pole.name == "Knee"
    assert rigs["object"].plane_object.name == "Plane"
    assert len(rigs["own limits"].limits) == 3


def test_what_1_0_has_reported_is_still_shown(opened):
    bpy.context.view_layer.objects.active = bpy.data.objects["letter plane"]
    assert "192" in drawn(result_panel.TWOBONE_PT_result).texts()


def test_stored_chains_bake_what_1_0_baked(opened):
    before = {name: played(bpy.data.objects[name], bpy.data.actions[f"{name} by 1.0"]) for name in STORED}
    assert bpy.ops.twobone.bake_all(scope="SCENE") == {"FINISHED"}
    for name in STORED:
        rig = bpy.data.objects[name]
        assert np.ptp(before[name], axis=0).max() > 0.1, "1.0 has moved it"
        assert np.abs(played(rig, rig.animation_data.action) - before[name]).max() < SAME, name


def played(rig, action):
    """The matrices of the bones at each frame with an action; afterwards the rig has what it had."""
    data = rig.animation_data or rig.animation_data_create()
    own, data.action = data.action, action
    if hasattr(action, "slots"):
        data.action_slot = action.slots[0]
    matrices = []
    for frame in range(bpy.context.scene.frame_start, bpy.context.scene.frame_end + 1):
        bpy.context.scene.frame_set(frame)
        matrices.append([np.array(bone.matrix) for bone in rig.pose.bones])
    data.action = own
    if own is not None and hasattr(own, "slots"):
        data.action_slot = own.slots[0]
    for bone in rig.pose.bones:
        bone.rotation_quaternion, bone.scale = (1, 0, 0, 0), (1, 1, 1)
    return np.array(matrices)
