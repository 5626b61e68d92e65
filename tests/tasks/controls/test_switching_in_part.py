"""A limb that is on FK at some frames and on IK at others: switched where it has to be, and seen to stay as it is everywhere."""

import json
import math

import bpy
import numpy as np
import pytest

from tests.tasks.rigs.switched_leg import switched_leg
from tests.tasks.scenes import key_channel, set_range
from twobone_addon.scene.versions import curve_bag

LAST = 24
LENGTH = 2.0
SWITCH = 'pose.bones["hip"]["FK_IK"]'
NAMES = {"armature": "Rig", "upper": "thigh_fk", "lower": "shin_fk", "tip": "foot_fk", "tip_end": "HEAD"}
APART = 0.1
"""Units by which FK and IK differ, so that either is seen to be lost."""


def leg_on_both(switched, interpolation="CONSTANT"):
    """The leg with a control for its IK, walking differently on FK and on IK; `switched` has the switch by frame, 1 for IK."""
    rig = switched_leg()
    bpy.ops.object.mode_set(mode="EDIT")
    control = rig.data.edit_bones.new("ankle")
    control.head, control.tail, control.use_deform = (0, 0, 0), (0, 0.3, 0), False
    bpy.ops.object.mode_set(mode="OBJECT")
    bones = rig.pose.bones
    ik = bones["shin_ik"].constraints["IK"]
    ik.target, ik.subtarget = rig, "ankle"
    turned = bones["foot_ik"].constraints.new("COPY_ROTATION")
    turned.target, turned.subtarget = rig, "ankle"
    for bone in bones:
        bone.rotation_mode = "XYZ"
    set_range(1, LAST)
    for frame in range(1, LAST + 1):
        for bone, start, turn in (("thigh_fk", -0.4, 0.3), ("shin_fk", 0.6, 0.3), ("foot_fk", 0.1, 0.2)):
            key_channel(bones[bone], "rotation_euler", {frame: (start + turn * math.sin(frame / 4), 0, 0)})
    for frame in (1, 9, 17, LAST):
        key_channel(bones["ankle"], "location", {frame: (0, 0.2 + 0.01 * frame, 0.3 * math.cos(frame))})
    for frame, value in switched.items():
        bones["hip"]["FK_IK"] = float(value)
        bones["hip"].keyframe_insert('["FK_IK"]', frame=frame)
    for point in curve_bag(rig).fcurves.find(SWITCH).keyframe_points:
        point.interpolation = interpolation
    return rig


def seen(rig):
    """World places `(F, 3, 3)` of the joints that deform, and directions of the foot."""
    found = []
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)
        bones = rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
        found.append([bones["shin_def"].head[:], bones["foot_def"].head[:], bones["foot_def"].tail[:]])
    return np.array(found)


def switch(to, motion="BAKE", **settings):
    assert bpy.ops.twobone.switch(**NAMES, to=to, motion=motion, **settings) == {"FINISHED"}
    return json.loads(bpy.context.window_manager.twobone_report)["chains"][0]


def side_at(rig, frame):
    bpy.context.scene.frame_set(frame)
    return rig.pose.bones["hip"]["FK_IK"]


def frames_keyed(rig, path):
    return {
        round(point.co[0]) for fcurve in curve_bag(rig).fcurves if path in fcurve.data_path for point in fcurve.keyframe_points
    }


def test_fk_and_ik_differ_in_these_scenes(empty_file):
    rig = leg_on_both({1: 0})
    on_fk = seen(rig)
    curve_bag(rig).fcurves.find(SWITCH).keyframe_points[0].co[1] = 1.0
    assert np.linalg.norm(seen(rig) - on_fk, axis=-1).max(axis=1).min() > APART


@pytest.mark.parametrize(
    "switched, parts",
    [({1: 1, 6: 0, 13: 1}, [[6, 12]]), ({1: 0, 4: 1, 10: 0, 15: 1}, [[1, 3], [10, 14]])],
    ids=["once", "twice"],
)
@pytest.mark.parametrize("to, keyed", [("IK", "ankle"), ("FK", "thigh_fk")])
def test_only_what_is_on_the_other_side_is_switched_and_all_is_seen_to_stay(empty_file, to, keyed, switched, parts):
    rig = leg_on_both(switched if to == "IK" else {frame: 1 - value for frame, value in switched.items()})
    control = rig.pose.bones["ankle"]
    outside = [frame for frame in range(1, LAST + 1) if not any(first <= frame <= last for first, last in parts)]
    before, held = seen(rig), [place_at(control, frame) for frame in outside]
    report = switch(to)
    assert np.linalg.norm(seen(rig) - before, axis=-1).max() < 1e-4 * LENGTH
    assert report["ranges"] == parts
    assert (report["frame_start"], report["frame_end"]) == (parts[0][0], parts[-1][1])
    assert report["max_moved"] < 1e-4 * LENGTH
    assert {side_at(rig, frame) for frame in range(1, LAST + 1)} == {1.0 if to == "IK" else 0.0}
    np.testing.assert_allclose([place_at(control, frame) for frame in outside], held, atol=1e-5)
    if to == "IK":
        inside = {frame for first, last in parts for frame in range(first - 1, last + 2)}
        assert frames_keyed(rig, '"ankle"].location') - inside <= {1, 9, 17, LAST}, "its own keys stay as they are"


def place_at(bone, frame):
    bpy.context.scene.frame_set(frame)
    return bone.location[:]


def test_a_range_that_somebody_gives_is_switched_where_it_is_on_the_other_side(empty_file):
    rig = leg_on_both({1: 1, 6: 0, 13: 1})
    before = seen(rig)
    assert switch("IK", frame_range="CUSTOM", frame_start=9, frame_end=20)["ranges"] == [[9, 12]]
    assert np.linalg.norm(seen(rig) - before, axis=-1).max() < 1e-4 * LENGTH
    assert [side_at(rig, frame) for frame in (8, 9, 12, 13)] == [0.0, 1.0, 1.0, 1.0]


@pytest.mark.parametrize("to", ["IK", "FK"])
def test_frames_between_the_sides_are_left_and_said(empty_file, to, capfd):
    rig = leg_on_both(
        {frame: value if to == "IK" else 1 - value for frame, value in {4: 1, 8: 0, 14: 0, 18: 1}.items()}, "BEZIER"
    )
    before = seen(rig)
    report = switch(to)
    assert np.linalg.norm(seen(rig) - before, axis=-1).max() < 1e-4 * LENGTH
    assert report["ranges"] == [[8, 14]]
    assert "Skipped frames 5-7, 15-17: the limb is blended between FK and IK there." in report["notes"]
    assert f"Switched to {to}, keyed from 8 to 14; skipped frames 5-7, 15-17: blended between FK and IK" in capfd.readouterr().out


def test_where_ik_does_not_move_fk_keeps_its_keys_and_that_is_said(empty_file, capfd):
    rig = leg_on_both({1: 1, 6: 0, 13: 1})
    for fcurve in [each for each in curve_bag(rig).fcurves if '"ankle"' in each.data_path]:
        curve_bag(rig).fcurves.remove(fcurve)
    keys = frames_keyed(rig, '"thigh_fk"')
    assert not switch("FK", motion="AUTO")["baked"]
    assert frames_keyed(rig, '"thigh_fk"') == keys
    assert f"Info: Switched to FK, keyed from 1 to {LAST}; shows the existing FK keys" in capfd.readouterr().out


def test_a_limb_that_is_never_on_either_side_is_refused(empty_file):
    leg_on_both({1: 0.5})
    with pytest.raises(RuntimeError, match=r"is blended between FK and IK at frames 1-24. Key pose"):
        switch("FK")


def test_what_cannot_be_switched_in_a_later_part_is_said_before_anything_changes(empty_file):
    rig = leg_on_both({1: 0, 4: 1, 10: 0, 15: 1})
    held = rig.pose.bones["ankle"].constraints.new("LIMIT_LOCATION")
    held.use_max_y, held.max_y, held.owner_space, held.influence = True, -3.0, "LOCAL", 0.0
    held.keyframe_insert("influence", frame=9)
    held.influence = 1.0
    held.keyframe_insert("influence", frame=10)
    keys = frames_keyed(rig, "pose")
    with pytest.raises(RuntimeError, match="cannot reach the tip at frame 1"):
        switch("IK")
    assert frames_keyed(rig, '"ankle"].location') == {1, 9, 17, LAST}
    assert frames_keyed(rig, "pose") == keys
