"""A stretch of the IK that became keys is motion: bakes leave it and solve with it, Clear Baked Keys takes it."""

import bpy
import numpy as np
import pytest

from tests.tasks.checks.targets import curves_of
from tests.tasks.rigs.legs_with_ik import LAST, LENGTH, convert, poses
from tests.tasks.scenes import Limb, add_empty, bake, key_places

LEG = Limb("Rig")
STAYS = 1e-5 * LENGTH
FRAMES = range(1, LAST + 1)


def joints(rig, frames=FRAMES):
    """Heads of thigh, shin and foot, `(F, 3, 3)`, as Blender evaluates them."""
    names = [bone.name for bone in rig.pose.bones]
    return poses(rig, frames)[..., :3, 3][:, [names.index(name) for name in ("upper", "lower", "foot")]]


def target_at_the_tip(places):
    target = add_empty("At the Tip")
    key_places(target, places)
    return target.name


def scales_of(rig):
    return {curve.data_path for curve in curves_of(rig) if curve.data_path.endswith("scale")}


@pytest.fixture(params=["FULL", "NONE"])
def converted(ik_leg, request):
    """The leg on keys, stretched by its IK at most frames, with the positions of its joints."""
    for name, stretch in (("upper", 0.3), ("lower", 0.1)):
        ik_leg.pose.bones[name].ik_stretch = stretch
        ik_leg.data.bones[name].inherit_scale = request.param
    key_places(bpy.data.objects["Target"], [(0.1, 0.9, 0.3 - 0.03 * frame) for frame in range(LAST)])
    convert(ik_leg, bone="lower")
    assert len(scales_of(ik_leg)) == 2
    return ik_leg, joints(ik_leg)


@pytest.mark.parametrize("settings", [{}, {"interpolation": "BEZIER"}, {"destination": "NEW_ACTION"}], ids=str)
def test_a_bake_onto_the_tip_moves_no_joint(converted, settings):
    rig, before = converted
    report = bake(LEG, target=target_at_the_tip(before[:, 2]), plane="POSE", **settings)
    assert np.abs(joints(rig) - before).max() < STAYS
    assert report["max_goal_error"] < STAYS


def test_nor_does_one_over_a_part_of_the_frames(converted):
    rig, before = converted
    part = {"frame_range": "CUSTOM", "frame_start": 5, "frame_end": 12}
    bake(LEG, target=target_at_the_tip(before[:, 2]), plane="POSE", **part)
    assert np.abs(joints(rig) - before).max() < STAYS


def test_a_target_baked_from_the_chain_and_back_moves_no_joint(converted):
    rig, before = converted
    chain = rig.twobone.chains.add()
    chain.name, chain.upper, chain.lower = "Leg", "upper", "lower"
    chain.target, chain.pole = add_empty("Own Target"), add_empty("Own Pole")
    assert bpy.ops.twobone.bake_target(scope="ACTIVE") == {"FINISHED"}
    assert bpy.ops.twobone.bake_all(scope="ACTIVE") == {"FINISHED"}
    assert np.abs(joints(rig) - before).max() < STAYS


def test_clearing_takes_the_stretch_of_both_bones_with_the_rotations(converted):
    rig, _ = converted
    assert bpy.ops.twobone.clear_baked(**LEG.names()) == {"FINISHED"}
    assert {curve.data_path for curve in curves_of(rig)} == set()
    assert all(tuple(rig.pose.bones[name].scale) == (1, 1, 1) for name in ("upper", "lower"))


@pytest.mark.parametrize("seed", range(8))
def test_a_limb_stretched_to_several_times_its_length_keeps_the_foots_tail_and_names_no_culprit(ik_leg, seed):
    """Nearly straight, a limb that moves by less than is seen may twist by what is."""
    dice = np.random.default_rng(seed)
    for name in ("upper", "lower"):
        ik_leg.pose.bones[name].ik_stretch = 0.1
    ik_leg.pose.bones["lower"].constraints[0].use_stretch = True
    corners = np.array((0.1, 0.2, 1.1)) + dice.uniform((-2, -4, -9), (2, 4, -1), (3, 3))
    key_places(bpy.data.objects["Target"], [[np.interp(f, (1, 12, LAST), axis) for axis in corners.T] for f in FRAMES])
    tails = lambda: (poses(ik_leg)[:, -1] @ (0, ik_leg.data.bones["foot"].length, 0, 1))[:, :3]  # noqa: E731
    before = tails()
    report = convert(ik_leg, bone="lower")
    assert np.abs(tails() - before).max() < 2e-4 * LENGTH
    assert "something else" not in report["sentence"]


def test_a_conversion_leaves_what_a_bake_has_stretched(ik_leg):
    """The IK poses the bones with the scales that a Stretch bake keyed."""
    constraint = ik_leg.pose.bones["lower"].constraints[0]
    constraint.mute, constraint.use_stretch = True, False
    far = target_at_the_tip([(0.1, 0.2, -0.8 - 0.03 * frame) for frame in range(LAST)])
    bake(LEG, target=far, plane="POSE", reach="STRETCH")
    constraint.mute = False
    before = joints(ik_leg)
    convert(ik_leg, bone="lower")
    assert np.abs(joints(ik_leg) - before).max() < 2e-4 * LENGTH
