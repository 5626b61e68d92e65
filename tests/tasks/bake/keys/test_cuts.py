"""Where two takes follow each other in one action, no reduced span and no loop leads across the cut."""

import math

import bpy
import pytest

from tests.tasks.scenes import BoneShape, Limb, add_empty, bake, build_armature, set_range

LAST, CUT = 60, 31
"""The second take begins at the cut, with the jump of a body."""
LEG = Limb("Rig", "upper", "lower")
SHAPES = (
    BoneShape("hips", (0, 0, 2), (0, 0, 2.3)),
    BoneShape("upper", (0, 0, 2), (0.1, 0, 1), "hips"),
    BoneShape("lower", (0.1, 0, 1), (0, 0, 0.1), "upper", connected=True),
)


def two_takes(jump, *, loops=False):
    """A leg that swings, and its hips and target that jump as far at the cut."""
    set_range(1, LAST)
    rig, target = build_armature(SHAPES), add_empty()
    for frame in range(1, LAST + 1):
        turn = 2.0 * math.pi * (frame - 1) / (LAST - 1)
        second = frame >= CUT
        away = jump if second else 0.0
        if loops and frame == LAST:
            away = 0.0  # Only a range that ends where it begins can be a loop.
        rig.pose.bones["hips"].location = (away, 0, 0)
        rig.pose.bones["hips"].keyframe_insert("location", frame=frame)
        target.location = (away + 0.3 * math.sin(turn), 0, 0.4 + 0.1 * math.cos(turn))
        target.keyframe_insert("location", frame=frame)
    bpy.context.view_layer.objects.active = rig
    return rig, target


def frames_of(thing, path):
    from twobone_addon.scene.versions import curve_bag

    return [[key.co[0] for key in curve.keyframe_points] for curve in curve_bag(thing).fcurves if path in curve.data_path]


@pytest.mark.parametrize("jump", [0.0, 1.5, -3.0])
def test_reduced_keys_stand_on_both_sides_of_a_cut(empty_file, jump):
    rig, _ = two_takes(jump)
    bake(LEG, target="Target", plane="POSE", keys="REDUCE", tolerance=0.02)
    for frames in frames_of(rig, '"lower"'):
        assert ({CUT - 1, CUT} <= set(frames)) == bool(jump), frames
        assert len(frames) < LAST / 2


@pytest.mark.parametrize("jump", [0.0, 1.5, -3.0])
def test_reduced_keys_of_a_target_stand_there_as_well(empty_file, jump):
    _, target = two_takes(jump)
    bake(LEG, target="Target", plane="POSE")
    target.animation_data_clear()
    settings = {"target": "Target", "plane": "POSE", "keys": "REDUCE", "tolerance": 0.02}
    assert bpy.ops.twobone.bake_target(**LEG.names(), **settings) == {"FINISHED"}
    for frames in frames_of(target, "location"):
        assert not jump or {CUT - 1, CUT} <= set(frames), frames


@pytest.mark.parametrize("jump, loop, is_loop", [(0.0, "AUTO", True), (3.0, "AUTO", False), (3.0, "ON", True)])
def test_a_range_with_a_cut_is_no_loop_unless_it_is_asked_for(empty_file, jump, loop, is_loop):
    """A loop leaves its first key with the slope at which it arrives at its last."""
    from twobone_addon.scene.versions import curve_bag

    rig, _ = two_takes(jump)
    for curve in curve_bag(bpy.data.objects["Target"]).fcurves:
        for key in curve.keyframe_points[:3]:  # The beginning is a little faster than the end.
            key.co[1] += 0.0002 * (key.co[0] - 1.0)
    bake(LEG, target="Target", plane="POSE", interpolation="BEZIER", loop=loop)
    slopes = []
    for curve in curve_bag(rig).fcurves:
        if '"lower"' in curve.data_path:
            first, last = curve.keyframe_points[0], curve.keyframe_points[-1]
            leaves, arrives = first.handle_right - first.co, last.co - last.handle_left
            slopes.append(abs(leaves[1] / leaves[0] - arrives[1] / arrives[0]))
    assert (max(slopes) < 1e-5) == is_loop, slopes
