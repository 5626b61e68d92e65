"""Every bone bends: chains of three and more links, baked and evaluated by Blender."""

import json

import bpy
import numpy as np
import pytest

from tests.tasks.rigs.tail import LAST, LENGTH, TAIL, circle
from tests.tasks.scenes import BoneShape, Limb, add_empty, bake, build_armature, key_channel, key_places, refusal, set_range
from twobone_addon.pipeline.plan.stored import stored_settings
from twobone_addon.pipeline.pose.pictures import chain_picture, path_picture
from twobone_addon.pipeline.pose.present import present_plan

CURLED = Limb("Rig", "a", "d", "d")
NAMES = ("a", "b", "c", "d")

CONVERGED = 1e-6
"""Part of the chain's length within which the solver of many links brings the tip."""


def joints_over_time(rig, names=NAMES, last=LAST):
    """Evaluated joints in armature space, `(F, n + 1, 3)`."""
    rows = []
    for frame in range(1, last + 1):
        bpy.context.scene.frame_set(frame)
        bones = rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
        rows.append([bones[name].head[:] for name in names] + [bones[names[-1]].tail[:]])
    return np.array(rows)


@pytest.fixture
def tail(empty_file):
    rig = build_armature(TAIL)
    target = add_empty()
    key_places(target, circle(0.6))
    set_range(1, LAST)
    return rig


def signed_area(joints):
    """Twice the area of root, joints, tip as seen in the plane YZ."""
    spokes = joints[:, 1:, 1:] - joints[:, :1, 1:]
    return (spokes[:, :-1, 0] * spokes[:, 1:, 1] - spokes[:, :-1, 1] * spokes[:, 1:, 0]).sum(axis=1)


@pytest.mark.parametrize("method", ["AUTO", "SPRING", "CCD"])
@pytest.mark.parametrize("bend", ["POSITIVE", "NEGATIVE"])
def test_the_tip_is_on_its_target_and_every_link_keeps_its_length(tail, bend, method):
    rest = np.linalg.norm(np.diff(joints_over_time(tail, last=1), axis=1), axis=-1)
    report = bake(CURLED, target="Target", joints="ALL", plane="YZ", bend=bend, method=method)
    joints = joints_over_time(tail)
    assert (report["reached"], report["channels"]) == (LAST, 16)
    np.testing.assert_allclose(joints[:, -1], circle(0.6), atol=3 * CONVERGED * LENGTH)
    np.testing.assert_allclose(np.linalg.norm(np.diff(joints, axis=1), axis=-1), np.broadcast_to(rest, (LAST, 4)), atol=1e-5)
    assert report["max_off_plane"] < 1e-5
    if method != "CCD":
        assert np.all(signed_area(joints) * (1 if bend == "POSITIVE" else -1) > 0)


def test_all_joints_share_the_bend(tail):
    bake(CURLED, target="Target", joints="ALL", plane="YZ", bend="POSITIVE")
    links = np.diff(joints_over_time(tail), axis=1)[..., 1:]
    directions = np.unwrap(np.arctan2(links[..., 1], links[..., 0]), axis=1)
    assert np.all(np.abs(np.diff(directions, axis=1)) > 0.02)


@pytest.mark.parametrize("plane", ["REST", "POLE", "OBJECT"])
def test_other_planes_hold_every_joint(tail, plane):
    places = np.array(circle(0.6)) + np.stack([np.linspace(-0.5, 0.5, LAST), *np.zeros((2, LAST))], axis=-1)
    key_places(bpy.data.objects["Target"], places)
    pole = add_empty("Pole")
    pole.location = (6.0, 0.5, 0.0)
    spanning = add_empty("Spanning")
    spanning.rotation_euler = (0.3, 1.2, 0.4)
    report = bake(
        CURLED, target="Target", joints="ALL", plane=plane, pole="Pole", plane_object="Spanning", bend="POSITIVE", depth="FLATTEN"
    )
    joints = joints_over_time(tail)
    assert report["reached"] == LAST
    assert report["max_error"] < 3 * CONVERGED * LENGTH
    assert report["max_off_plane"] < 1e-5
    if plane != "OBJECT":
        np.testing.assert_allclose(joints[:, -1], places, atol=3 * CONVERGED * LENGTH)
    if plane == "POLE":
        line = joints[:, -1] - joints[:, 0]
        normal = np.cross(line, np.array(pole.location) - joints[:, 0])
        normal /= np.linalg.norm(normal, axis=-1, keepdims=True)
        assert np.abs(np.einsum("fk,fjk->fj", normal, joints - joints[:, :1])).max() < 1e-5
        middle = joints[:, 1:-1].mean(axis=1) - 0.5 * (joints[:, 0] + joints[:, -1])
        assert np.all(np.einsum("fk,fk->f", middle, np.array(pole.location) - joints[:, 0]) > 0)


HIND_LEG = (
    BoneShape("hips", (0, 0, 1), (0, 0, 1.3)),
    BoneShape("thigh", (0, 0, 1), (0, -0.25, 0.7), "hips"),
    BoneShape("shin", (0, -0.25, 0.7), (0, 0.15, 0.35), "thigh", connected=True),
    BoneShape("foot", (0, 0.15, 0.35), (0, 0, 0.1), "shin", connected=True),
)
ZIGZAG = ("thigh", "shin", "foot")


def bends_of(joints):
    """Bends after the first link, radians, as seen in the plane YZ, `(F, n - 1)`."""
    links = np.diff(joints, axis=1)[..., 1:]
    across = links[:, :-1, 0] * links[:, 1:, 1] - links[:, :-1, 1] * links[:, 1:, 0]
    return np.unwrap(np.arctan2(across, np.sum(links[:, :-1] * links[:, 1:], axis=-1)), axis=0)


@pytest.fixture
def walking(empty_file):
    """A zigzag leg that walks in its own keys, and an empty that goes where its tip goes; the joints of the walk."""
    rig = build_armature(HIND_LEG)
    turn = 2.0 * np.pi * np.arange(LAST) / LAST
    swings = (0.5 * np.sin(turn), 0.4 * np.sin(turn + 1.0), 0.35 * np.sin(turn + 2.0))
    for name, swing in zip(ZIGZAG, swings, strict=True):
        bone = rig.pose.bones[name]
        bone.rotation_mode = "XYZ"
        key_channel(bone, "rotation_euler", {frame + 1: (angle, 0, 0) for frame, angle in enumerate(swing)})
    joints = joints_over_time(rig, ZIGZAG)
    key_places(add_empty(), joints[:, -1])
    set_range(1, LAST)
    return joints


@pytest.mark.parametrize("reference", ["REST", "POSE"])
@pytest.mark.parametrize("bend", ["POSITIVE", "NEGATIVE", "KEEP"])
@pytest.mark.parametrize("plane", ["YZ", "REST", "POSE"])
def test_a_zigzag_leg_stays_one_and_never_jumps(walking, plane, bend, reference):
    limb = Limb("Rig", "thigh", "foot", "foot")
    report = bake(limb, target="Target", joints="ALL", plane=plane, bend=bend, reference=reference)
    before, after = bends_of(walking), bends_of(joints_over_time(bpy.data.objects["Rig"], ZIGZAG))
    sign = -1.0 if bend == "NEGATIVE" else 1.0
    assert report["reached"] == LAST
    assert np.all(np.sign(after) == sign * np.sign(before))
    assert np.abs(np.diff(after, axis=0)).max() <= 1.2 * np.abs(np.diff(before, axis=0)).max()
    if reference == "POSE":
        np.testing.assert_allclose(after, sign * before, atol=1e-4)


@pytest.mark.parametrize("plane", ["YZ", "POLE", "POSE"])
def test_a_target_made_of_a_zigzags_motion_gives_it_back_or_says_that_it_cannot(walking, plane):
    chain = {**Limb("Rig", "thigh", "foot", "foot").names(), "target": "Target", "joints": "ALL", "plane": plane}
    if plane == "POLE":
        chain["pole"] = add_empty("Pole").name
    for reference in ("REST", "POSE"):
        bpy.ops.twobone.bake_target(**chain, reference=reference)
        report = json.loads(bpy.context.window_manager.twobone_report)["chains"][0]
        moved = report["max_round_trip"]
        if reference == "REST":
            said = "A target does not determine how 3 links bend: a bake with it moves joints by up to "
            assert report["notes"] == [f"{said}{moved:.2g}. With the reference Current Pose they keep the shape they have."]
            continue
        assert report["notes"] == []
        bake(**chain, reference=reference)
        after = joints_over_time(bpy.data.objects["Rig"], ZIGZAG)
        assert moved <= 1e-5
        np.testing.assert_allclose(after, walking, atol=1e-5)


def test_softness_and_stretch_work_as_with_two_bones(tail):
    key_places(bpy.data.objects["Target"], circle(1.1))
    stretched = bake(CURLED, target="Target", joints="ALL", plane="YZ", bend="POSITIVE", reach="STRETCH", stretch_max=3.0)
    assert stretched["reached"] == LAST
    np.testing.assert_allclose(joints_over_time(tail)[:, -1], circle(1.1), atol=3 * CONVERGED * 2 * LENGTH)
    key_channel(tail.pose.bones["a"], "scale", dict.fromkeys(range(1, LAST + 1), (1, 1, 1)))
    softened = bake(CURLED, target="Target", joints="ALL", plane="YZ", bend="POSITIVE", reach="SOFTEN", softness=0.1)
    assert softened["too_far"] > 0
    assert softened["max_goal_error"] < 3 * CONVERGED * LENGTH


def test_a_parent_that_turns_and_grows_carries_the_chain(tail):
    parent = tail.pose.bones["parent"]
    parent.rotation_mode = "XYZ"
    key_channel(parent, "rotation_euler", {1: (0, 0, 0), LAST: (0.5, 0, 0)})
    key_channel(parent, "scale", {1: (1, 1, 1), LAST: (1.2, 1.2, 1.2)})
    tail.scale = (2, 2, 2)
    key_places(bpy.data.objects["Target"], np.array(circle(0.6)) * 2)
    report = bake(CURLED, target="Target", joints="ALL", plane="YZ", bend="POSITIVE")
    assert report["reached"] == LAST
    np.testing.assert_allclose(joints_over_time(tail)[:, -1, 1:], np.array(circle(0.6))[:, 1:], atol=6 * CONVERGED * LENGTH)


def test_limits_of_each_joint_are_kept(tail):
    limits = [(-1.0, 1.0), (0.0, 0.5), (-0.2, 0.9), (0.1, 1.4)]
    pairs = [{"name": "", "minimum": low, "maximum": high} for low, high in limits]
    rest = joints_over_time(tail, last=1)[0]
    report = bake(CURLED, target="Target", joints="ALL", plane="YZ", bend="POSITIVE", use_limits=True, limits=pairs)
    joints = joints_over_time(tail)
    links = np.diff(joints, axis=1)[..., 1:]
    directions = np.arctan2(links[..., 1], links[..., 0])
    at_rest = np.arctan2(*(rest[1] - rest[0])[[2, 1]])
    angles = np.concatenate([directions[:, :1] - at_rest, np.diff(directions, axis=1)], axis=1)
    angles = (angles + np.pi) % (2 * np.pi) - np.pi
    assert np.all(angles >= np.array(limits)[:, 0] - 1e-5)
    assert np.all(angles <= np.array(limits)[:, 1] + 1e-5)
    misses = np.linalg.norm(joints[:, -1] - circle(0.6), axis=-1)
    assert 0 < report["reached"] == np.count_nonzero(misses < 5e-6) < LAST


def test_limits_for_another_number_of_joints_are_refused(tail):
    said = refusal(
        CURLED, target="Target", joints="ALL", plane="YZ", use_limits=True, limits=[{"name": "", "minimum": -1.0, "maximum": 1.0}]
    )
    assert said == 'The chain from "a" to "d" has 4 joints, but limits for 1. Read the limits again, or remove them.'


def test_two_links_with_all_joints_are_the_same_as_two_bones(tail):
    limb = Limb("Rig", "c", "d", "d")
    key_places(bpy.data.objects["Target"], [(0.1, 0.4 + 0.02 * f, -0.5) for f in range(LAST)])
    bake(limb, target="Target", plane="YZ", bend="NEGATIVE")
    two = joints_over_time(tail)
    bake(limb, target="Target", plane="YZ", bend="NEGATIVE", joints="ALL")
    np.testing.assert_array_equal(joints_over_time(tail), two)


def test_keeping_the_side_keeps_that_of_the_pose_there_is(tail):
    for bone in NAMES[1:]:
        key_channel(tail.pose.bones[bone], "rotation_quaternion", {1: (1, 0, 0, 0), LAST: (0.7, 0.71, 0, 0)})
    before = np.sign(signed_area(joints_over_time(tail)))
    assert {-1.0, 1.0} == set(before.tolist())
    bake(CURLED, target="Target", joints="ALL", plane="YZ", bend="KEEP")
    after = np.sign(signed_area(joints_over_time(tail)))
    assert np.count_nonzero(before != after) <= 1


def stored(rig, **settings):
    chain = rig.twobone.chains.add()
    chain.name, chain.upper, chain.lower, chain.target = "Tail", "a", "d", bpy.data.objects["Target"]
    chain.joints, chain.plane = "ALL", "YZ"
    for name, value in settings.items():
        setattr(chain, name, value)
    return chain


def test_a_stored_chain_bakes_with_its_own_limits_and_repeats_them(tail):
    chain = stored(tail, use_limits=True)
    for low, high in ((-3.0, 3.0), (0.0, 0.3), (0.0, 0.3), (0.0, 0.3)):
        limit = chain.limits.add()
        limit.minimum, limit.maximum = low, high
    assert stored_settings(tail, chain, {}).limits[1] == pytest.approx((0.0, 0.3))
    bpy.ops.twobone.bake()
    links = np.diff(joints_over_time(tail), axis=1)
    folds = np.arccos(np.clip(np.einsum("fjk,fjk->fj", links[:, 1:], links[:, :-1]) / _products(links), -1, 1))
    assert folds.max() <= 0.3 + 1e-3
    bpy.ops.twobone.chain_duplicate()
    assert [limit.maximum for limit in tail.twobone.chains[1].limits] == pytest.approx([3.0, 0.3, 0.3, 0.3])


def _products(links):
    lengths = np.linalg.norm(links, axis=-1)
    return lengths[:, 1:] * lengths[:, :-1]


def test_the_overlay_draws_all_links_and_the_ring_they_reach(tail):
    chain = stored(tail)
    settings = stored_settings(tail, chain, {})
    picture = chain_picture(present_plan(bpy.context.scene, settings), bpy.context.scene, bpy.context.evaluated_depsgraph_get())
    assert picture.joints.shape == (5, 3)
    assert np.linalg.norm(picture.joints[-1] - picture.target) < 1e-5
    assert np.linalg.norm(picture.other_joints[-1] - picture.target) < 1e-5
    path = path_picture(bpy.context.scene, settings)
    np.testing.assert_allclose(path.tips, path.targets, atol=1e-5)


def test_reports_count_the_keys_of_every_bone(tail):
    report = bake(CURLED, target="Target", joints="ALL", plane="YZ", bend="POSITIVE")
    assert report["keys"] == 16 * LAST
    assert json.loads(bpy.context.window_manager.twobone_report)["lower"] == "d"
