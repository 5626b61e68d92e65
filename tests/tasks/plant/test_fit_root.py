"""The root is moved as little as needed for chains to reach their targets; all that is asserted is evaluated by Blender."""

import json

import bpy
import numpy as np
import pytest
from mathutils import Vector

from tests.tasks.rigs.walker import Walk, build_walker
from tests.tasks.scenes import add_empty, key_places

FRAMES = 40
LEG = 0.4004997 + 0.4204759


@pytest.fixture
def reaching(empty_file):
    """A walker that stands still; its left foot has a target that goes out of reach for a while."""
    armature, _ = build_walker(Walk(frames=1))
    scene = bpy.context.scene
    scene.frame_end = FRAMES
    target = add_empty("Target.L")
    below = [0.04 * max(0.0, 1.0 - abs(frame - 20) / 6.0) for frame in range(1, FRAMES + 1)]
    key_places(target, [(0.1, 0.0, 0.09 - depth) for depth in below])
    armature.twobone.chains["leg.L"].target = target
    return armature, target


def fit_root(**settings):
    assert bpy.ops.twobone.fit_root(**settings) == {"FINISHED"}
    return json.loads(bpy.context.window_manager.twobone_report)


def distances(armature, target):
    """From the left hip to the target, frame by frame."""
    found = []
    for frame in range(1, FRAMES + 1):
        bpy.context.scene.frame_set(frame)
        hip = armature.matrix_world @ armature.pose.bones["thigh.L"].head
        found.append((hip - target.matrix_world.translation).length)
    return np.array(found)


def hip_places(armature):
    places = []
    for frame in range(1, FRAMES + 1):
        bpy.context.scene.frame_set(frame)
        places.append(armature.matrix_world @ armature.pose.bones["hips"].head)
    return np.array(places)


def test_all_frames_are_in_reach_and_the_root_moved_by_what_was_missing(reaching):
    armature, target = reaching
    before, places = distances(armature, target), hip_places(armature)
    assert before.max() > LEG
    report = fit_root(reserve=0.01)
    after, moved = distances(armature, target), hip_places(armature) - places
    assert after.max() <= 0.99 * LEG + 1e-5
    assert report["chains"][0]["out_of_reach"] == []
    assert report["chains"][0]["reached_before"] < report["chains"][0]["reached"] == FRAMES
    assert np.abs(moved[:, :2]).max() < 1e-6
    assert report["root"]["bone"] == "hips"
    assert report["root"]["max_move"] == pytest.approx(-moved[:, 2].min(), abs=1e-6)
    missing = before.max() - 0.99 * LEG
    assert missing - 1e-5 <= report["root"]["max_move"] < missing + 1e-3


def test_it_is_smooth_and_nothing_else_has_changed(reaching):
    armature, _ = reaching
    places = hip_places(armature)
    curves = {(curve.data_path, curve.array_index) for curve in _curves(armature)}
    fit_root(window=0.5)
    moved = hip_places(armature) - places
    assert np.abs(np.diff(moved, 2, axis=0)).max() < 0.25 * np.abs(moved).max()
    assert {(curve.data_path, curve.array_index) for curve in _curves(armature)} == curves


def test_a_second_run_changes_nothing(reaching):
    armature, _ = reaching
    fit_root()
    places = hip_places(armature)
    fit_root()
    assert np.array_equal(hip_places(armature), places)


def test_targets_that_have_come_nearer_let_the_root_come_up_again(reaching):
    armature, target = reaching
    before = hip_places(armature)
    fit_root()
    assert not np.array_equal(hip_places(armature), before)
    target.animation_data_clear()
    target.location = armature.matrix_world @ armature.pose.bones["hips"].head - Vector((0.0, 0.0, 0.5 * LEG))
    fit_root()
    assert np.abs(hip_places(armature) - before).max() < 1e-6


def test_what_cannot_be_met_is_named(reaching):
    armature, _ = reaching
    places = hip_places(armature)
    report = fit_root(max_lower=0.01)
    assert np.abs(hip_places(armature) - places).max() <= 0.01 + 1e-6
    ((first, last),) = report["chains"][0]["out_of_reach"]
    assert first <= 20 <= last


@pytest.mark.parametrize("root, reason", [("nobody", "is not in armature"), ("chest", "connected"), ("toe.L", "connected")])
def test_a_root_that_cannot_move_the_legs_is_refused(reaching, root, reason):
    with pytest.raises(RuntimeError, match=reason):
        bpy.ops.twobone.fit_root(root=root)


def test_without_targets_there_is_nothing_to_fit(empty_file):
    build_walker(Walk(frames=1))
    with pytest.raises(RuntimeError, match="no enabled chain with a target"):
        bpy.ops.twobone.fit_root()


def _curves(armature):
    from twobone_addon.scene.versions import curve_bag

    return curve_bag(armature).fcurves


def test_where_no_bone_carries_the_legs_their_object_is_moved(reaching):
    armature, target = reaching
    bpy.ops.object.mode_set(mode="EDIT")
    for side in "LR":
        armature.data.edit_bones[f"thigh.{side}"].parent = None
    bpy.ops.object.mode_set(mode="OBJECT")
    carrier = add_empty("Carrier")
    carrier.rotation_euler, carrier.scale = (0.3, 0.0, 0.5), (2.0, 2.0, 2.0)
    armature.parent = carrier
    bpy.context.view_layer.update()
    armature.matrix_parent_inverse = carrier.matrix_world.inverted()
    before = distances(armature, target)
    report = fit_root(reserve=0.01)
    assert before.max() > LEG
    assert distances(armature, target).max() <= 0.99 * LEG + 1e-5
    assert report["root"]["bone"] == armature.name
    places = distances(armature, target)
    fit_root(reserve=0.01)
    assert np.array_equal(distances(armature, target), places)


@pytest.mark.parametrize("axis", ["X", "Y", "FREE"])
def test_the_root_moves_along_another_axis_or_freely(reaching, axis):
    armature, target = reaching
    key_places(target, [(-0.3, 0.45, 0.25 - 0.02 * (10 < frame < 25)) for frame in range(1, FRAMES + 1)])
    wide = {"axis": axis, "reserve": 0.005, "max_lower": 0.5, "max_raise": 0.5}
    before, places = distances(armature, target), hip_places(armature)
    assert before.max() > 0.995 * LEG
    report = fit_root(**wide)
    after, moved = distances(armature, target), hip_places(armature) - places
    assert after.max() <= 0.995 * LEG + 1e-5
    assert report["chains"][0]["out_of_reach"] == []
    if axis == "FREE":
        missing = before.max() - 0.995 * LEG
        assert missing - 1e-5 <= np.linalg.norm(moved, axis=1).max() < 1.1 * missing
        assert report["root"]["max_move"] == pytest.approx(np.linalg.norm(moved, axis=1).max(), abs=1e-5)
    else:
        others = [number for number, name in enumerate("XYZ") if name != axis]
        assert np.abs(moved[:, others]).max() < 1e-6
    places = hip_places(armature)
    fit_root(**wide)
    assert np.array_equal(hip_places(armature), places)


def test_limits_may_be_as_wide_as_one_likes(reaching):
    """A character in centimetres may be lowered by more than ten units; frames that need no move have none."""
    armature, _ = reaching
    places = hip_places(armature)
    assert fit_root(axis="FREE", max_lower=1e6, max_raise=1e6)["chains"][0]["out_of_reach"] == []
    assert not (hip_places(armature) - places)[0].any()


def test_free_moves_stay_within_the_limits(reaching):
    armature, _ = reaching
    places = hip_places(armature)
    report = fit_root(axis="FREE", max_lower=0.01)
    assert np.linalg.norm(hip_places(armature) - places, axis=1).max() <= 0.01 + 1e-6
    assert report["chains"][0]["out_of_reach"]


def test_under_an_uneven_scale_it_says_of_as_many_frames_as_a_bake_that_they_are_reached(reaching):
    armature, target = reaching
    carrier = add_empty("Carrier")
    carrier.rotation_euler, carrier.scale = (0.2, 0.1, 0.4), (1.0, 2.0, 0.7)
    armature.parent = carrier
    bpy.context.view_layer.update()
    hip, ankle = (armature.matrix_world @ armature.pose.bones[name].head for name in ("thigh.L", "foot.L"))
    key_places(target, [hip + (ankle - hip) * (0.9 + 0.01 * frame) for frame in range(FRAMES)])
    armature.twobone.chains["leg.L"].plane = "POSE"
    reached = fit_root(max_lower=0.05, max_raise=0.05)["chains"][0]["reached"]
    assert bpy.ops.twobone.bake_all() == {"FINISHED"}
    assert json.loads(bpy.context.window_manager.twobone_report)["reached"] == reached
    assert 0 < reached < FRAMES


def held_up(armature):
    """Something that nobody foresees keeps the hips from coming down by more than a centimetre."""
    limit = armature.pose.bones["hips"].constraints.new("LIMIT_LOCATION")
    limit.owner_space, limit.use_min_z = "WORLD", True
    limit.min_z = (armature.matrix_world @ armature.pose.bones["hips"].head).z - 0.01


def test_what_is_reached_is_what_blender_shows_with_the_keys_unless_nobody_asks(reaching):
    armature, target = reaching
    held_up(armature)
    solved = fit_root(verify=False)["chains"][0]
    assert solved["out_of_reach"] == []
    measured = fit_root()["chains"][0]
    beyond = distances(armature, target) > LEG + 1e-4
    assert beyond.any()
    ((first, last),) = measured["out_of_reach"]
    assert np.flatnonzero(beyond)[[0, -1]] + 1 == pytest.approx([first, last])
    assert measured["reached"] == FRAMES - np.count_nonzero(beyond)
