"""Where the target cannot be reached, and where nothing is well defined: the nearest pose, said in the report, no NaN."""

import bpy
import numpy as np
import pytest

from tests.tasks.checks.checking import BENDS, RIG, assert_within_promise, bake_and_evaluate
from tests.tasks.checks.measuring import unit
from tests.tasks.checks.targets import curves_of
from tests.tasks.scenes import LEG, STRAIGHT_LEG, BoneShape, Limb, add_empty, bake, bent, build_armature, key_places, set_range

ROOT = np.array(LEG[1].head)
STRAIGHT = 1e-3
"""Radians: a limb that Blender poses straight in single precision is bent by the square root of its rounding."""


@pytest.fixture
def rig(empty_file):
    set_range(1, 8)
    return build_armature()


def target_at(places):
    target = add_empty()
    key_places(target, [tuple(place) for place in places])
    return target


def ring(distances):
    angles = np.linspace(0, 6, len(distances))
    directions = np.stack([0 * angles, np.cos(angles), np.sin(angles)], axis=-1)
    return ROOT + directions * np.array(distances)[:, None]


def assert_all_keys_are_finite(rig):
    for fcurve in curves_of(rig):
        assert np.all(np.isfinite([key.co for key in fcurve.keyframe_points])), fcurve.data_path


@pytest.mark.parametrize("bend", BENDS)
def test_too_far_points_straight_at_the_target_and_the_frames_are_named(rig, bend):
    report, baked = bake_and_evaluate(rig, target_at(ring([1, 5, 50, 1, 1, 2e4, 1, 3])), bend=bend)
    assert report["out_of_reach"] == [[2, 3], [6, 6], [8, 8]]
    assert (report["reached"], report["too_far"], report["too_near"]) == (4, 4, 0)
    far = [1, 2, 5, 7]
    towards = unit(baked.targets_plane[far])
    for link in (0, 1):
        assert np.abs(unit(baked.links_plane[far, link]) - towards).max() < STRAIGHT
    assert_within_promise(baked, [0, 3, 4, 6])


def test_too_near_folds_and_the_frames_are_named(rig):
    report, baked = bake_and_evaluate(rig, target_at(ring([1, 0.1, 0.05, 1, 1, 0.15, 1, 1])))
    assert report["out_of_reach"] == [[2, 3], [6, 6]]
    assert (report["reached"], report["too_far"], report["too_near"]) == (5, 0, 3)
    near = [1, 2, 5]
    towards = unit(baked.targets_plane[near])
    assert np.abs(unit(baked.links_plane[near, 0]) - towards).max() < STRAIGHT  # the upper link is the longer one
    assert np.abs(unit(baked.links_plane[near, 1]) + towards).max() < STRAIGHT


def test_a_target_at_the_very_end_of_the_reach_is_reached(rig):
    length = np.linalg.norm(np.diff([LEG[1].head, LEG[2].head, LEG[2].tail], axis=0), axis=1).sum()
    report, baked = bake_and_evaluate(rig, target_at(ring([length] * 8)))
    assert report["reached"] == 8
    assert_within_promise(baked)


def test_a_target_on_the_root_joint(rig):
    report, _ = bake_and_evaluate(rig, target_at(ring([0.0] * 8)))
    assert report["out_of_reach"] == [[1, 8]]
    assert_all_keys_are_finite(rig)


def test_equal_links_reach_the_root_joint_itself_and_do_not_spin_there(empty_file):
    set_range(1, 8)
    equal = bent(bent(LEG, "upper", head=(0, 0, 1), tail=(0, 0.1, 0)), "lower", head=(0, 0.1, 0), tail=(0, 0, -1))
    rig = build_armature(equal)
    target = add_empty()
    key_places(target, [(0, y, 1) for y in (0.9, 0.6, 0.3, 0, 0, 0, 0.3, 0.6)])
    report, baked = bake_and_evaluate(rig, target)
    assert report["reached"] + report["degenerate"] == 8
    assert np.abs(np.diff(unit(baked.links_plane[3:6, 0]), axis=0)).max() < STRAIGHT
    assert_all_keys_are_finite(rig)


def test_a_target_off_the_plane_is_followed_by_its_projection(rig):
    places = ring([1.0] * 8) + np.array([[x, 0, 0] for x in (-100, -3, -1, 0, 1, 3, 10, 100)])
    report, baked = bake_and_evaluate(rig, target_at(places))
    assert report["reached"] == 8
    assert_within_promise(baked)


@pytest.mark.parametrize("short", ["upper", "lower", "both"])
def test_links_without_length(empty_file, short):
    set_range(1, 8)
    shapes = LEG
    if short in {"upper", "both"}:  # the lower bone starts where the upper one does
        shapes = bent(shapes, "lower", head=LEG[1].head)
    shapes = (*shapes, BoneShape("end", shapes[2].head, (0, 0, 3), "lower"))
    rig = build_armature(shapes)
    at_tail = short == "upper"
    carrier, end = ("lower", "TAIL") if at_tail else ("end", "HEAD")
    limb = Limb("Rig", carrier=carrier, at_tail=at_tail)
    target = target_at(ring([1.0] * 8))
    report, _ = bake_and_evaluate(rig, target, limb, tip=carrier, tip_end=end)
    assert report["frames"] == 8
    assert report["reached"] < 8
    assert_all_keys_are_finite(rig)


@pytest.mark.parametrize("upright", ["upper", "lower", "both"])
def test_a_plane_whose_normal_runs_along_a_bone(empty_file, upright):
    set_range(1, 8)
    out = (0.9, 0, 0)
    upper_tail = tuple(ROOT + out) if upright in {"upper", "both"} else LEG[1].tail
    lower_tail = tuple(np.array(upper_tail) + (out if upright in {"lower", "both"} else (0, 0.3, -0.7)))
    rig = build_armature(bent(bent(LEG, "upper", tail=upper_tail), "lower", head=upper_tail, tail=lower_tail))
    report, baked = bake_and_evaluate(rig, target_at(ring([0.5] * 8)))
    assert report["degenerate"] + report["too_far"] + report["too_near"] == 8
    assert_all_keys_are_finite(rig)
    assert np.all(np.isfinite(baked.joints))


def test_a_parent_scaled_to_nothing_is_survived(rig):
    rig.pose.bones["parent"].scale = (0, 0, 0)
    bake_and_evaluate_safely(rig)


def bake_and_evaluate_safely(rig):
    report, _ = bake_and_evaluate(rig, target_at(ring([1.0] * 8)))
    assert report["reached"] < 8
    assert_all_keys_are_finite(rig)


def test_an_armature_object_scaled_to_nothing_is_refused_or_survived(rig):
    from tests.tasks.scenes import refusal

    rig.scale = (0, 0, 0)
    bpy.context.view_layer.update()
    assert "scale" in refusal(RIG, target=target_at(ring([1.0] * 8)).name, plane="YZ", bend="POSITIVE")


def test_a_leg_that_its_parent_carries_far_away_reaches_just_as_far(empty_file):
    set_range()
    rig = build_armature(STRAIGHT_LEG)
    rig.pose.bones["parent"].location = (130.7, 411.3, 702.9)
    bpy.context.view_layer.update()
    hip, length = np.array(rig.pose.bones["upper"].head), 1.75
    angles = 0.3 * np.arange(24)
    target_at(hip + length * np.stack([0 * angles, np.cos(angles), np.sin(angles)], axis=-1))
    report = bake(Limb("Rig"), target="Target", plane="YZ")
    assert (report["too_far"], report["reached"]) == (0, 24)


@pytest.mark.parametrize("bone", ["parent", "upper", "lower"])
def test_what_a_limb_without_length_cannot_reach_is_called_out_of_reach(rig, bone):
    rig.pose.bones[bone].scale = (0, 0, 0)
    target_at(ring([0.6] * 8))
    sentence = bake(Limb("Rig"), target="Target", plane="YZ")["sentence"]
    assert "on target in none of 8 frames; 8 out of reach, up to" in sentence
    assert "reach settings" not in sentence
