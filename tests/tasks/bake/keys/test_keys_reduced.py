"""Reduced keys, as Blender evaluates them: the tip stays within the tolerance of the full-rate motion, between frames too."""

import bpy
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.blank import empty
from tests.tasks.checks.checking import RIG
from tests.tasks.checks.file_dump import differences, dump_file
from tests.tasks.checks.measuring import evaluate
from tests.tasks.checks.targets import curves_of
from tests.tasks.scenes import BoneShape, add_empty, bake, build_armature, key_places, set_range

FRAMES = (1, 30)
MOMENTS = 8
"""Per frame, at which Blender evaluates both."""

LEG = (
    BoneShape("parent", (0, 0, 0), (0, 0, 1)),
    BoneShape("upper", (0, 0, 0), (0, 0, -1), "parent"),
    BoneShape("lower", (0, 0, -1), (0, 0, -1.75), "upper", connected=True),
)
BAKED = {"plane": "YZ", "bend": "POSITIVE"}


@pytest.fixture(scope="module")
def file(registered_addon):
    empty()


def make_leg(mode):
    empty()
    set_range(*FRAMES)
    rig = build_armature(LEG)
    for bone in rig.pose.bones:
        bone.rotation_mode = mode
    return rig


def follow(places, interpolation):
    """A target that is at these places on evenly spread frames."""
    target = add_empty()
    frames = np.linspace(*FRAMES, len(places))
    for frame, (angle, distance) in zip(frames, places, strict=True):
        target.location = (0.0, distance * np.sin(angle), -distance * np.cos(angle))
        target.keyframe_insert("location", frame=float(frame))
    for curve in curves_of(target):
        for key in curve.keyframe_points:
            key.interpolation = interpolation
    return target


def tips(rig, frames):
    return evaluate(rig, RIG, frames).joints[:, 2]


PLACES = st.lists(st.tuples(st.floats(-2.0, 2.0), st.floats(0.4, 1.72)), min_size=2, max_size=9)


ZIGZAG = [(0, 1.17), (0, 1.07), (-2, 0.7), (1.02, 0.62), (-1.39, 0.4), (0, 1.61), (0, 0.77), (-1.65, 1.22), (0, 1.4)]
"""Corners so sharp that a key at every frame does not hold the knee."""


@pytest.mark.parametrize("mode", ["XYZ", "QUATERNION"])
@example(places=ZIGZAG, corners=True, tolerance=0.01)
@given(places=PLACES, corners=st.booleans(), tolerance=st.sampled_from([0.001, 0.01, 0.05]))
@settings(max_examples=8)
def test_the_tip_stays_within_the_tolerance_between_frames(file, mode, places, corners, tolerance):
    rig = make_leg(mode)
    target = follow(places, "LINEAR" if corners else "BEZIER")
    moments = np.linspace(*FRAMES, (FRAMES[1] - FRAMES[0]) * MOMENTS + 1)
    # Full rate for every moment that is looked at: one key each.
    bake(RIG, target=target.name, step=1 / MOMENTS, **BAKED)
    joints = evaluate(rig, RIG, moments).joints[:, 1:]
    motion = joints[:, -1]
    bake(RIG, target=target.name, interpolation="BEZIER", **BAKED)
    full_rate_drift = np.linalg.norm(evaluate(rig, RIG, moments).joints[:, 1:] - joints, axis=-1)
    report = bake(RIG, target=target.name, keys="REDUCE", tolerance=tolerance, **BAKED)
    drift = np.linalg.norm(tips(rig, moments) - motion, axis=-1)
    assert drift.max() <= tolerance, f"frame {moments[drift.argmax()]:g}"
    assert report["max_drift"] <= tolerance
    # More keys than one a frame are needed only where one a frame is not enough for the tip and the knee.
    assert report["keys"] <= report["full_rate_keys"] or full_rate_drift.max() > tolerance


@pytest.mark.parametrize("mode", ["XYZ", "QUATERNION"])
def test_all_channels_are_keyed_on_the_same_frames_in_order(file, mode):
    rig = make_leg(mode)
    bake(RIG, target=follow([(-1, 1), (0, 1.6), (1.2, 0.7)], "BEZIER").name, keys="REDUCE", tolerance=0.005, **BAKED)
    frames = [[key.co.x for key in curve.keyframe_points] for curve in curves_of(rig)]
    assert all(each == frames[0] for each in frames)
    assert np.all(np.diff(frames[0]) > 0.01)
    assert (frames[0][0], frames[0][-1]) == FRAMES
    assert {key.interpolation for curve in curves_of(rig) for key in curve.keyframe_points} == {"BEZIER"}
    assert {key.type for curve in curves_of(rig) for key in curve.keyframe_points} == {"GENERATED"}


def test_the_sentence_grants_reduced_keys_their_tolerance_and_says_how_far_off_they_are(file):
    rig, tolerance = make_leg("XYZ"), 0.05
    target = follow([(-1, 1), (0, 1.6), (1.2, 0.7), (0, 1.2)], "BEZIER")
    report = bake(RIG, target=target.name, keys="REDUCE", tolerance=tolerance, **BAKED)
    frames = range(FRAMES[0], FRAMES[1] + 1)
    places = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        places.append(tuple(target.matrix_world.translation))
    farthest = np.linalg.norm(tips(rig, frames) - places, axis=-1).max()
    assert 1e-3 < farthest <= tolerance
    assert f"on target in all {len(frames)} frames" not in report["sentence"]
    assert f"of the target in all {len(frames)} frames" in report["sentence"]


def test_a_contact_stays_exactly_still(file):
    rig = make_leg("XYZ")
    key_places(
        add_empty(), [(0, 0.1 * n, -1.2) for n in range(8)] + [(0, 0.7, -1.2)] * 12 + [(0, 0.7 - 0.1 * n, -1) for n in range(10)]
    )
    for curve in curves_of(bpy.data.objects["Target"]):
        for key in curve.keyframe_points:
            key.interpolation = "LINEAR"
    bake(RIG, target="Target", keys="REDUCE", tolerance=0.01, **BAKED)
    still = tips(rig, np.arange(8, 20.01, 1 / MOMENTS))
    assert np.ptp(still, axis=0).max() <= 1e-6


@pytest.mark.parametrize(
    "more",
    [
        {"keys": "REDUCE", "tolerance": 0.005},
        {"keys": "REDUCE", "tolerance": 0.005, "key_before": True, "key_after": True},
        {"keys": "FRAMES", "step": 2.5},
        {"interpolation": "BEZIER"},
        {"interpolation": "CONSTANT", "key_before": True, "key_after": True},
        {"keys": "TARGET_KEYS"},
        {"keys": "CHAIN_KEYS"},
        {"reach": "STRETCH"},
        {"reach": "STRETCH", "keys": "REDUCE", "tolerance": 0.005},
        {"destination": "NLA", "key_before": True},
    ],
    ids=str,
)
@pytest.mark.parametrize("mode", ["XYZ", "QUATERNION", "AXIS_ANGLE"])
def test_a_second_bake_changes_nothing(file, mode, more):
    rig = make_leg(mode)
    if more.get("destination") != "NLA":
        for frame, angle in ((-4, 0.3), (6, 0.2), (11, 0.1), (44, -0.5)):
            for name in ("upper", "lower"):
                bone = rig.pose.bones[name]
                channel = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}.get(mode, "rotation_euler")
                setattr(bone, channel, (angle, 0, 0) if channel == "rotation_euler" else (1, angle, 0, 0))
                bone.keyframe_insert(channel, frame=frame)
    target = follow([(-1, 1), (0, 2.0), (1.2, 0.7), (0.3, 1.4)], "BEZIER")
    settings_ = {"target": target.name, **BAKED, **more}
    bake(RIG, **settings_)
    before = dump_file()
    bake(RIG, **settings_)
    paths = [path for path in differences(before, dump_file()) if "fcurves" in path or "nla" in path or "actions" in path]
    assert paths == []


def test_the_knee_stays_within_the_tolerance_as_well_and_both_are_told(file):
    """A leg that is nearly straight: the tip hardly feels what the knee does."""
    rig = make_leg("XYZ")
    target = follow([(-0.3, 1.74), (0.0, 1.6), (0.2, 1.745), (0.4, 1.7), (0.1, 1.74)], "BEZIER")
    moments = np.linspace(*FRAMES, (FRAMES[1] - FRAMES[0]) * MOMENTS + 1)
    bake(RIG, target=target.name, step=1 / MOMENTS, **BAKED)
    motion = evaluate(rig, RIG, moments).joints
    report = bake(RIG, target=target.name, keys="REDUCE", tolerance=0.01, **BAKED)
    drift = np.linalg.norm(evaluate(rig, RIG, moments).joints - motion, axis=-1).max(axis=0)
    assert drift.max() <= 0.01
    assert report["max_drift_middle"] == pytest.approx(drift[1], rel=0.05)
    assert report["max_drift"] == pytest.approx(drift[2], rel=0.05)


def key_frames(thing):
    return {key.co.x for curve in curves_of(thing) for key in curve.keyframe_points}


@pytest.mark.parametrize("keep", ["NONE", "TARGET", "EXTREMES", "BOTH"])
def test_keys_that_are_to_be_kept_are_kept(file, keep):
    rig = make_leg("XYZ")
    target = add_empty()
    for frame, place in ((1, -0.6), (7.3, -0.3), (12, 0.6), (20, 0.2), (26, -0.4), (40, 0.0)):
        target.location = (0.0, place, -1.2 - 0.1 * place)
        target.keyframe_insert("location", frame=frame)
    report = bake(RIG, target=target.name, keys="REDUCE", tolerance=0.3, keep_keys=keep, **BAKED)
    found = key_frames(rig)
    own = {1.0, 12.0, 20.0, 26.0}
    has_own = own <= found and any(abs(frame - 7.3) < 1e-4 for frame in found)
    # The target turns back at its keys at 12 and 26, and in between goes one way.
    has_extremes = {12.0, 26.0} <= found
    assert has_own == (keep in {"TARGET", "BOTH"}), sorted(found)
    assert has_extremes == (keep != "NONE"), sorted(found)
    assert report["max_drift"] <= 0.3
