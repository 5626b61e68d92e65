"""Planted feet taken back: what was there before is there again, of all that was planted together."""

import bpy
import numpy as np
import pytest

from tests.tasks.checks.all_keys import all_keys
from tests.tasks.checks.seen_walk import key_values, plant
from tests.tasks.checks.targets import curves_of
from tests.tasks.rigs.walker import Walk, build_walker, key_contacts

LEFT = {"armature": "Walker", "upper": "thigh.L", "lower": "shin.L"}
RIGHT = {"armature": "Walker", "upper": "thigh.R", "lower": "shin.R"}
SAID = "Planting removed from all legs; previous keys restored on leg.L, leg.R, hips."


def walker(**faults):
    armature, states = build_walker(Walk(slide=0.02, **faults))
    key_contacts(armature, states)
    return armature


def differing(armature, before):
    after = key_values(armature)
    assert before.keys() == after.keys()
    return {path.split('"')[1] for path, index in before if not np.array_equal(before[path, index], after[path, index])}


@pytest.mark.parametrize("leg", [LEFT, RIGHT, {**LEFT, "all_frames": True}], ids=["left", "right", "all frames"])
def test_one_leg_takes_back_the_hips_and_the_leg_that_stands_on_them(empty_file, leg, capfd):
    armature = walker(raised=0.03)
    before = key_values(armature)
    plant()
    assert {"hips", "shin.L", "shin.R", "foot.L", "foot.R"} <= differing(armature, before)
    capfd.readouterr()
    assert bpy.ops.twobone.clear_baked(**leg) == {"FINISHED"}
    assert differing(armature, before) == set()
    assert not [key for curve in curves_of(armature) for key in curve.keyframe_points if key.type == "GENERATED"]
    assert SAID in capfd.readouterr().out
    assert bpy.ops.twobone.clear_baked(**RIGHT) == {"CANCELLED"}


def test_a_leg_alone_comes_back_where_the_hips_have_stayed(empty_file, capfd):
    armature = walker()
    before = key_values(armature)
    plant(use_root=False)
    capfd.readouterr()
    assert bpy.ops.twobone.clear_baked(**LEFT) == {"FINISHED"}
    assert "undone" not in capfd.readouterr().out
    assert differing(armature, before) == {"thigh.R", "shin.R", "foot.R"}


def test_a_limb_that_was_not_planted_leaves_the_feet_where_they_are(empty_file):
    armature = walker(raised=0.03)
    plant()
    planted = key_values(armature)
    assert bpy.ops.twobone.clear_baked(armature="Walker", upper="hips", lower="chest") == {"CANCELLED"}
    assert differing(armature, planted) == set()


def thin_out(armature):
    """Leave every third key, a bit beside its frame."""
    for curve in curves_of(armature):
        if curve.data_path.startswith("pose."):
            for number in reversed(range(len(curve.keyframe_points))):
                if number % 3:
                    curve.keyframe_points.remove(curve.keyframe_points[number])
            for key in curve.keyframe_points:
                key.co[0] += 0.3
            curve.update()


def forget_left_leg(armature):
    from twobone_addon.scene.versions import curve_bag

    fcurves = curve_bag(armature).fcurves
    for curve in [curve for curve in fcurves if ".L" in curve.data_path]:
        fcurves.remove(curve)


PART = {"frame_range": "CUSTOM", "frame_start": 6, "frame_end": 21}


@pytest.mark.parametrize("change", [thin_out, forget_left_leg])
@pytest.mark.parametrize("root, part", [("hips", PART), ("root", {}), ("Walker", PART)], ids=str)
def test_keys_beside_what_was_planted_and_channels_without_keys_are_as_before(empty_file, change, root, part):
    armature, states = build_walker(Walk(frames=30, slide=0.02, raised=0.03))
    key_contacts(armature, states)
    change(armature)
    before = all_keys(armature)
    plant(root=root, ground_moves="NO", **part)
    assert all_keys(armature) != before
    assert bpy.ops.twobone.clear_baked(**RIGHT, **part) == {"FINISHED"}
    assert all_keys(armature) == before
