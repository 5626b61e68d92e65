"""From keyed bones to a keyed target and pole, and back again: the joints come back."""

import json
import math

import bpy
import numpy as np
import pytest
from mathutils import Euler

from tests.tasks.checks.file_dump import differences, dump_file
from tests.tasks.give.swinging_leg import BACK, LAST, LENGTH, joints, operator, refusal, sway
from tests.tasks.rigs.legs_with_ik import add_ik, poses
from tests.tasks.scenes import LEG, add_empty, build_armature, key_channel
from twobone_addon.scene.versions import curve_bag


def places(name, frames=range(1, LAST + 1)):
    """World places of an object `(F, 3)`."""
    found = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        thing = bpy.data.objects[name].evaluated_get(bpy.context.evaluated_depsgraph_get())
        found.append(thing.matrix_world.translation[:])
    return np.array(found)


def forget(rig):
    """Take the keys off the bones, and leave them in some other pose."""
    rig.animation_data_clear()
    for bone in ("upper", "lower"):
        rig.pose.bones[bone].rotation_mode = "QUATERNION"
        rig.pose.bones[bone].rotation_quaternion = (1, 0, 0, 0)


@pytest.mark.parametrize("plane", ["YZ", "REST", "POLE", "OBJECT"])
def test_planar_motion_goes_to_the_target_and_back(leg, plane):
    spanning = add_empty("Spanning")
    spanning.rotation_euler = (math.pi / 2, 0, math.pi / 2)
    before = joints(leg)
    report = operator("bake_target", plane=plane, plane_object="Spanning")
    np.testing.assert_allclose(places("Target"), before[:, 2], atol=1e-6)
    assert report["max_off_plane"] < BACK
    assert report["max_round_trip"] < BACK
    assert report["max_error"] < 1e-6
    forget(leg)
    operator("bake", plane=plane, plane_object="Spanning")
    np.testing.assert_allclose(joints(leg), before, atol=BACK)


@pytest.mark.parametrize("bend, angle", [("POSITIVE", 0.0), ("NEGATIVE", 0.0), ("POSITIVE", 0.8), ("NEGATIVE", -2.0)])
def test_any_motion_goes_to_target_and_pole_and_back(leg, bend, angle):
    sway(leg)
    before = joints(leg)
    settings = {"plane": "POLE", "bend": bend, "pole_angle": angle}
    report = operator("bake_target", **settings)
    assert (report["pole"], report["keys"]) == ("Pole", 6 * LAST)
    assert report["max_round_trip"] < BACK
    forget(leg)
    operator("bake", **settings)
    np.testing.assert_allclose(joints(leg), before, atol=BACK)


def test_motion_off_the_plane_is_measured(leg):
    sway(leg)
    before = joints(leg)
    report = operator("bake_target", plane="YZ")
    off = np.abs(before[:, 1:, 0] - before[:, :1, 0]).max()
    assert report["max_off_plane"] == pytest.approx(off, rel=1e-4)
    forget(leg)
    operator("bake", plane="YZ")
    back = np.linalg.norm(joints(leg) - before, axis=-1).max()
    assert report["max_round_trip"] == pytest.approx(back, rel=1e-3)
    assert back > 0.1


def test_a_leg_that_bends_to_the_other_side_is_said(leg):
    report = operator("bake_target", bend="NEGATIVE")
    assert any("bends to the other side" in note for note in report["notes"])
    assert not any("bends to the other side" in note for note in operator("bake_target", bend="POSITIVE")["notes"])


def test_a_straight_leg_keeps_the_poles_direction(leg):
    for bone, angle in (("upper", 0.0), ("lower", -0.34467)):
        key_channel(leg.pose.bones[bone], "rotation_euler", dict.fromkeys(range(8, 16), (angle, 0, 0)))
    before = joints(leg)
    bends = np.cross(before[8:14, 1] - before[8:14, 0], before[8:14, 2] - before[8:14, 1])
    assert np.abs(bends).max() < 1e-3, "the leg is meant to be straight here"
    operator("bake_target", plane="POLE")
    poles = places("Pole")
    assert np.all(np.isfinite(poles))
    assert np.all(np.linalg.norm(poles - before[:, 1], axis=-1) < 1.01 * LENGTH)


@pytest.mark.parametrize("kind", ["object", "bone", "delta"])
def test_a_parented_target_comes_to_lie_in_the_same_place(leg, kind):
    target = bpy.data.objects["Target"]
    if kind == "delta":
        target.delta_location = (1, 2, 3)
    else:
        holder = build_armature(LEG, "Holder")
        holder.scale = (2, 2, 2)
        key_channel(holder, "rotation_euler", {1: (0, 0, 0), LAST: (1, 2, 3)})
        key_channel(holder, "location", {1: (0, 0, 0), LAST: (1, 2, 3)})
        target.parent = holder
        if kind == "bone":
            target.parent_type, target.parent_bone = "BONE", "lower"
            key_channel(holder.pose.bones["upper"], "rotation_quaternion", {1: (1, 0, 0, 0), LAST: (0.7, 0.7, 0, 0)})
        target.matrix_parent_inverse = ((1, 0, 0, 1), (0, 0, -1, 2), (0, 1, 0, 3), (0, 0, 0, 1))
    before = joints(leg)
    count = len(bpy.data.objects)
    report = operator("bake_target")
    np.testing.assert_allclose(places("Target"), before[:, 2], atol=1e-5)
    assert report["max_error"] < 1e-5
    assert len(bpy.data.objects) == count


def test_a_moving_character_leaves_its_target_in_the_world(leg):
    key_channel(leg, "location", {1: (0, 0, 0), LAST: (5, 2, 1)})
    key_channel(leg, "rotation_euler", {1: (0, 0, 0), LAST: (0, 0, 2)})
    leg.scale = (0.01, 0.01, 0.01)
    before = joints(leg)
    operator("bake_target", plane="POLE")
    np.testing.assert_allclose(places("Target"), before[:, 2], atol=2e-6)
    operator("bake", plane="POLE", reference="REST")
    np.testing.assert_allclose(joints(leg), before, atol=5e-6)


def test_a_chain_posed_by_ik_gives_its_target_the_way_of_its_tip(leg):
    leg.animation_data_clear()
    mover = add_empty("Mover")
    key_channel(mover, "location", {1: (0.1, 0.5, -0.4), LAST: (0.3, -0.4, -0.2)})
    add_ik(leg, "lower").target = mover
    before = poses(leg)
    tips = joints(leg)[:, 2]
    operator("bake_target", plane="POLE")
    np.testing.assert_allclose(places("Target"), tips, atol=1e-5)
    np.testing.assert_array_equal(before, poses(leg))


def test_reduced_keys_keep_the_target_within_the_tolerance(leg):
    before = joints(leg)
    report = operator("bake_target", keys="REDUCE", tolerance=0.005)
    assert report["keys"] < report["full_rate_keys"] / 2
    assert report["max_drift"] <= 0.005
    assert np.linalg.norm(places("Target") - before[:, 2], axis=-1).max() <= 0.005


def test_keys_outside_the_range_and_other_channels_stay(leg):
    target = bpy.data.objects["Target"]
    key_channel(target, "location", {-10: (1, 2, 3), 5: (9, 9, 9), 40: (4, 5, 6)})
    key_channel(target, "rotation_euler", {1: (0, 0, 0), 20: (1, 1, 1)})
    bones_before = poses(leg, range(1, 25))
    operator("bake_target", frame_range="CUSTOM", frame_start=3, frame_end=10)
    np.testing.assert_allclose(places("Target", [-10, 40]), [(1, 2, 3), (4, 5, 6)])
    bpy.context.scene.frame_set(20)
    assert target.rotation_euler[:] == pytest.approx((1, 1, 1))
    np.testing.assert_array_equal(bones_before, poses(leg, range(1, 25)))


def test_the_stored_chain_is_enough(leg):
    chain = leg.twobone.chains.add()
    chain.upper, chain.lower, chain.target, chain.plane = "upper", "lower", bpy.data.objects["Target"], "YZ"
    bpy.context.view_layer.objects.active = leg
    assert bpy.ops.twobone.bake_target() == {"FINISHED"}
    np.testing.assert_allclose(places("Target"), joints(leg)[:, 2], atol=1e-6)


def constrain(target):
    target.constraints.new("COPY_LOCATION").name = "Stuck"


def drive(target):
    target.driver_add("location", 0)


def mute(target):
    target.keyframe_insert("location", index=0)
    curve_bag(target).fcurves.find("location", index=0).mute = True


def fade(target):
    target.keyframe_insert("location", index=0)
    target.animation_data.action_influence = 0.5


def hang(target):
    target.parent, target.parent_type, target.parent_bone = bpy.data.objects["Rig"], "BONE", "lower"


@pytest.mark.parametrize(
    "change, settings, sentence",
    [
        (constrain, {}, 'Object "Target" has constraint "Stuck", so keys would not place it.'),
        (drive, {}, 'Object "Target": Channel location[0] is driven, so keys would have no effect.'),
        (mute, {}, 'Object "Target": Curve location[0] is muted, so keys would have no effect.'),
        (fade, {}, 'Object "Target": The action\'s influence is 0.5, so keys would be mixed with what is below.'),
        (hang, {}, 'depends on bone "lower" of the chain'),
        (None, {"target": "Nothing"}, 'Target "Nothing" is not in this file'),
        (None, {"plane": "POLE", "pole": "Target"}, '"Target" cannot be target and pole at once'),
        (None, {"plane": "POLE", "pole": "Other", "pole_bone": "upper"}, 'Pole "Other" is a bone, "upper"'),
    ],
    ids=["constrained", "driven", "muted", "faded", "hanging", "missing", "same", "bone"],
)
def test_what_cannot_be_done_is_said_and_nothing_changes(leg, change, settings, sentence):
    build_armature(LEG, "Other")
    target = bpy.data.objects["Target"]
    if change:
        change(target)
    before = dump_file()
    assert sentence in refusal(**settings)
    assert differences(before, dump_file()) == []


def empties():
    return {thing.name for thing in bpy.data.objects if thing.type == "EMPTY"}


def test_a_target_and_a_pole_that_are_left_out_are_made(leg):
    before, wanted = empties(), joints(leg)
    report = operator("bake_target", target="", pole="", plane="POLE")
    made = {"target": report["target"], "pole": report["pole"]}
    assert empties() - before == set(made.values())
    operator("bake", **made, plane="POLE")
    assert np.abs(joints(leg) - wanted).max() <= BACK


def test_what_is_made_for_a_stored_chain_becomes_its_own(leg):
    chain = leg.twobone.chains.add()
    chain.name, chain.upper, chain.lower, chain.plane = "Leg", "upper", "lower", "POLE"
    bpy.context.view_layer.objects.active = leg
    assert bpy.ops.twobone.bake_target() == {"FINISHED"}
    report = json.loads(bpy.context.window_manager.twobone_report)
    assert (chain.target.name, chain.pole.name) == (report["target"], report["pole"])
    assert report["sentence"].startswith(f"{chain.target.name}, {chain.pole.name} (Leg): {report['keys']} keys on 6 curves")


def test_nothing_is_made_where_the_motion_cannot_be_given(leg):
    before = empties()
    refusal(target="", frame_range="CUSTOM", frame_start=9, frame_end=2)
    refusal(target="", plane="OBJECT")
    refusal(target="", upper="nobody")
    assert empties() == before


@pytest.mark.parametrize("role", ["Target", "Pole"])
@pytest.mark.parametrize("scale", [(1, 0, 1), (0, 0, 0)])
def test_a_parent_that_is_scaled_to_nothing_is_refused_before_anything_is_changed(leg, role, scale):
    group, thing = add_empty("Group"), bpy.data.objects[role]
    group.rotation_euler = (0.3, 0.5, 0.7)
    key_channel(group, "scale", {7: (1, 1, 1), 8: scale})
    thing.parent = group
    # Such as Ctrl P leaves it: what is flat is then no more along an axis of its own.
    thing.matrix_parent_inverse = Euler((0.2, 0.9, 0.4)).to_matrix().to_4x4()
    before = poses(leg)
    said = refusal(plane="POLE")
    assert f'Object "{role}" inherits a scale of 0 from its parent at frame 8, so keys would not place it' in said
    assert [bpy.data.objects[name].animation_data for name in ("Target", "Pole")] == [None, None]
    np.testing.assert_array_equal(poses(leg), before)
    key_channel(group, "scale", {7: (1, 1, 1), 8: (1, 1e-3, 1)})
    operator("bake_target", plane="POLE")
    np.testing.assert_allclose(places("Target"), joints(leg)[:, 2], atol=1e-4)


def test_a_constraint_without_influence_is_not_in_the_way_and_an_animated_one_is(leg):
    target = bpy.data.objects["Target"]
    follow = target.constraints.new("COPY_LOCATION")
    follow.target, follow.influence = bpy.data.objects["Pole"], 0.0
    operator("bake_target")
    np.testing.assert_allclose(places("Target"), joints(leg)[:, 2], atol=1e-6)
    key_channel(follow, "influence", {1: 0.0, LAST: 1.0})
    bpy.context.scene.frame_set(1)
    assert 'has constraint "Copy Location", so keys would not place it' in refusal()


def key_frames_of(name):
    return sorted({point.co.x for curve in curve_bag(bpy.data.objects[name]).fcurves for point in curve.keyframe_points})


@pytest.mark.parametrize("keys", [{}, {"keys": "REDUCE"}, {"keys": "TARGET_KEYS"}, {"keys": "REDUCE", "keep_keys": "TARGET"}])
@pytest.mark.parametrize("beside", [("key_before",), ("key_after",), ("key_before", "key_after")])
def test_a_range_from_the_target_does_not_grow_by_the_keys_that_hold_it_there(leg, keys, beside):
    key_channel(bpy.data.objects["Target"], "location", {3: (3, 3, 3), 12: (3, 2, 3), 15: (2, 3, 2)})
    settings = {"frame_range": "TARGET", **keys, **dict.fromkeys(beside, True)}
    operator("bake_target", **settings)
    once = dump_file()
    frames = key_frames_of("Target")
    assert (frames[0], frames[-1]) == (3 - ("key_before" in beside), 15 + ("key_after" in beside))
    for _ in range(2):
        operator("bake_target", **settings)
        assert not [path for path in differences(once, dump_file()) if "keyframe_points" in path]
    report = operator("bake", frame_range="TARGET")
    assert (report["frame_start"], report["frame_end"]) == (3, 15)


def test_a_key_beside_the_range_that_somebody_has_moved_belongs_to_the_motion(leg):
    key_channel(bpy.data.objects["Target"], "location", {3: (3, 3, 3), 15: (2, 3, 2)})
    operator("bake_target", frame_range="TARGET", key_after=True)
    curve = curve_bag(bpy.data.objects["Target"]).fcurves[0]
    curve.keyframe_points[-1].co.y += 1.0
    curve.update()
    assert operator("bake", frame_range="TARGET")["frame_end"] == 16


@pytest.mark.parametrize("tracks", [0, 1])
@pytest.mark.parametrize("destination", ["ACTION", "NEW_ACTION", "NLA"])
def test_clear_takes_target_and_pole_back_wherever_their_keys_are(leg, destination, tracks):
    """Also where these play strips of their own."""
    for name in ("Target", "Pole") if tracks else ():
        thing = bpy.data.objects.get(name) or add_empty(name)
        key_channel(thing, "location", {1: (0, 0, 0), 5: (0.1, 0.2, 0.3)})
        track = thing.animation_data.nla_tracks.new()
        track.strips.new("own", 1, thing.animation_data.action)
        thing.animation_data.action = None
    bpy.context.scene.frame_set(1)
    before = dump_file()
    operator("bake_target", plane="POLE", pole="Pole", destination=destination)
    assert bpy.ops.twobone.clear_baked(armature="Rig", upper="upper", lower="lower", all_frames=True) == {"FINISHED"}
    bpy.context.scene.frame_set(1)
    assert [path for path in differences(before, dump_file()) if "Pole" not in path or tracks] == []


def test_clear_of_a_limb_without_keys_names_whose_motion_is_gone(leg):
    """The limb would follow what stands still from then on."""
    operator("bake_target", plane="POLE", pole="Pole")
    assert bpy.ops.twobone.clear_baked(armature="Rig", upper="upper", lower="lower", all_frames=True) == {"FINISHED"}
    said = str(json.loads(bpy.context.window_manager.twobone_report)["notes"])
    assert all(word in said for word in ("The limbs had no baked keys", "Target", "Pole")), said


def test_clear_of_a_baked_limb_leaves_the_motion_of_its_target(leg):
    operator("bake_target")
    operator("bake")
    assert bpy.ops.twobone.clear_baked(armature="Rig", upper="upper", lower="lower", all_frames=True) == {"FINISHED"}
    assert json.loads(bpy.context.window_manager.twobone_report)["notes"] == []
    assert len(curve_bag(bpy.data.objects["Target"]).fcurves) == 3
