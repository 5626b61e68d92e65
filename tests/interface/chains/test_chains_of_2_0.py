"""What version 2.0 has stored is there as it was, and is baked as it was; what it has keyed counts as one's own.

The file was saved by 2.0 in Blender 4.2: a leg for each kind of setting that 1.0 did not have, the action that 2.0 baked from it,
and a walker whose sliding feet 2.0 has planted, beside the walk as it was before.
"""

import json
from pathlib import Path

import bpy
import numpy as np
import pytest

from tests.interface.chains.test_chains_of_1_0 import SAME, played
from twobone_addon.scene.versions import curve_bag

FILE = Path(__file__).with_name("chains_of_2_0.blend")
STORED = {
    "pose": {"plane": "POSE", "reference": "POSE"},
    "spring": {"plane": "REST", "joints": "ALL", "method": "SPRING"},
    "reduce": {"keys": "REDUCE", "keep_keys": "EXTREMES"},
    "loop": {"plane": "YZ", "loop": "ON"},
    "own range": {"frame_range": "CUSTOM", "frame_start": 5.0, "frame_end": 15.0},
}
CONTACTS_OF_A_LEG = 3


@pytest.fixture
def opened(registered_addon):
    bpy.ops.wm.open_mainfile(filepath=str(FILE))
    return bpy.context.scene


def test_stored_chains_keep_their_settings_contacts_and_reports(opened):
    for name, values in STORED.items():
        chain = bpy.data.objects[name].twobone.chains["Leg"]
        assert {key: getattr(chain, key) for key in values} == values, name
        assert chain.target.name == f"{name} target"
        assert json.loads(chain.report)["frames"] in {11, 60}
    for side in "LR":
        chain = bpy.data.objects["Walker"].twobone.chains[f"leg.{side}"]
        assert (chain.limb, chain.toe) == ("LEG", f"toe.{side}")
        assert len(contact_keys(side)) > CONTACTS_OF_A_LEG


def test_stored_chains_bake_what_2_0_baked(opened):
    before = {name: played(bpy.data.objects[name], bpy.data.actions[f"{name} by 2.0"]) for name in STORED}
    for name in STORED:
        bpy.context.view_layer.objects.active = bpy.data.objects[name]
        assert bpy.ops.twobone.bake_all(scope="ACTIVE") == {"FINISHED"}
    for name in STORED:
        rig = bpy.data.objects[name]
        assert np.ptp(before[name], axis=0).max() > 0.1, "2.0 has moved it"
        tolerance = rig.twobone.chains["Leg"].tolerance if name == "reduce" else SAME
        assert np.abs(played(rig, rig.animation_data.action) - before[name]).max() < tolerance, name


def test_feet_that_2_0_has_planted_are_planted_and_come_back_as_2_0_has_left_them(opened):
    """Nothing tells any more which keys are 2.0's, so these count as the walk's own."""
    walker = bpy.data.objects["Walker"]
    planted = played(walker, bpy.data.actions["Walker by 2.0"])
    bpy.context.view_layer.objects.active = walker
    assert bpy.ops.twobone.plant(armature="Walker") == {"FINISHED"}
    report = json.loads(bpy.context.window_manager.twobone_report)
    assert max(chain["skating_after"] for chain in report["chains"]) == 0.0
    assert np.abs(played(walker, walker.animation_data.action) - planted).max() > 0.01, "it was planted anew"
    for side in "LR":
        bones = {"upper": f"thigh.{side}", "lower": f"shin.{side}", "tip": f"foot.{side}"}
        assert bpy.ops.twobone.clear_baked(armature="Walker", **bones) == {"FINISHED"}
    assert np.abs(played(walker, walker.animation_data.action) - planted).max() < SAME


def contact_keys(side):
    """Frames at which the walker's contacts have keys."""
    paths = {curve.data_path: curve for curve in curve_bag(bpy.data.objects["Walker"]).fcurves}
    return [key.co.x for key in paths[f"twobone.chains[{'LR'.index(side)}].contact"].keyframe_points]
