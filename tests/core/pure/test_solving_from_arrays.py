"""Solving and keying a chain from arrays alone, in a Python without Blender."""

from dataclasses import replace

import numpy as np
import pytest

from twobone_addon.core.rig.bones import BoneChannels, ChainMotion, RestBone, RestChain
from twobone_addon.pipeline.keying import keyed_chain
from twobone_addon.pipeline.motion.plan_motion import PlanMotion, aimed
from twobone_addon.pipeline.plan.chain_plan import ChainPlan
from twobone_addon.pipeline.pose.solving import solve_curves
from twobone_addon.scene.bones import ChainNames
from twobone_addon.scene.keys.tables import Keyed
from twobone_addon.settings import BakeSettings

UPPER, LOWER = 1.25, 0.75
FRAMES = np.arange(1.0, 25.0)
# Bones lie along Y, and turn about their Z in the plane XY.
ELBOW = np.eye(4)
ELBOW[1, 3] = UPPER
REST = RestChain(
    (RestBone("upper", np.eye(4), None, UPPER, "QUATERNION"), RestBone("lower", ELBOW, np.eye(4), LOWER, "QUATERNION")),
    (0, 1),
    np.array([0.0, LOWER, 0.0]),
)


def flat_plan(**settings):
    wanted = BakeSettings(armature="Rig", upper="upper", lower="lower", plane="XY", bend="POSITIVE", **settings)
    return ChainPlan(
        settings=wanted, names=ChainNames("Rig", "upper", "lower", "lower", tip_at_tail=True), rest=REST, frames=FRAMES,
        report_rows=np.arange(len(FRAMES)), kept_frames=np.empty(0), reads_scene=False, parent=None, constrained=(),
        stretched_before={}, end_bone=None, end_parent=0, repeats=False, animated_settings={}, notes=(),
        keyed={
            (f'pose.bones["{bone}"].rotation_quaternion', index): Keyed(None, (None, None), (None, None), baked=False)
            for bone in ("upper", "lower") for index in range(4)
        },
    )  # fmt: skip


def followed(places):
    """What moves a chain that stands still, its tip to be at `places` `(F, 3)`."""
    still = BoneChannels(np.zeros((1, 3)), np.eye(3)[None], np.ones((1, 3)))
    unturned = np.array([[1.0, 0.0, 0.0, 0.0]])
    motion = PlanMotion(
        frames=FRAMES, chain=ChainMotion(None, (still, still)), rotation_values=(unturned, unturned),
        world_from_armature=np.eye(4)[None], armature_from_world=np.eye(4)[None], pole_world=None, plane_world=None,
        influence=np.ones(1), bend=None, end_pose=None, end_rotation_values=None, along=(),
    )  # fmt: skip
    matrices = np.tile(np.eye(4), (len(places), 1, 1))
    matrices[:, :3, 3] = places
    return aimed(motion, matrices)


def spiral():
    """Places `(F, 3)` around the root joint between the inner and the outer circle of the reach."""
    angle = np.linspace(0.3, 5.0, len(FRAMES))
    distance = np.linspace(UPPER - LOWER + 0.1, UPPER + LOWER - 0.1, len(FRAMES))
    return np.stack([np.cos(angle) * distance, np.sin(angle) * distance, np.zeros_like(angle)], axis=-1)


def tips_of(quaternions):
    """Forward kinematics of turns about Z alone: places of the tip, for `(2, F, 4)`."""
    (first, second) = (2.0 * np.arctan2(turn[:, 3], turn[:, 0]) for turn in quaternions)
    angles = np.stack([first, first + second]) + np.pi / 2
    lengths = np.array([[UPPER], [LOWER]])
    return np.stack([(np.cos(angles) * lengths).sum(axis=0), (np.sin(angles) * lengths).sum(axis=0)], axis=-1)


def quaternions_of(keys):
    bones = [[key for key in keys if f'"{bone}"' in key.path] for bone in ("upper", "lower")]
    return np.array([[key.values for key in sorted(four, key=lambda key: key.index)] for four in bones]).swapaxes(1, 2)


def test_keys_bring_the_tip_to_its_target():
    places = spiral()
    keyed = keyed_chain(solve_curves(flat_plan(), followed(places)))
    turns = quaternions_of(keyed.keys)
    assert np.abs(turns[:, :, 1:3]).max() == 0.0  # about the plane's normal only
    assert np.abs(tips_of(turns) - places[:, :2]).max() < 1e-12


@pytest.mark.parametrize("bend, sign", [("POSITIVE", 1.0), ("NEGATIVE", -1.0)])
def test_the_middle_joint_goes_to_the_chosen_side(bend, sign):
    plan = flat_plan()
    keyed = keyed_chain(solve_curves(replace(plan, settings=replace(plan.settings, bend=bend)), followed(spiral())))
    lower = quaternions_of(keyed.keys)[1]
    assert np.all(sign * np.arctan2(lower[:, 3], lower[:, 0]) > 0.0)


def test_reduced_keys_are_fewer_and_keep_the_tip_within_the_tolerance():
    plan = flat_plan(keys="REDUCE", tolerance=0.01)
    solved = solve_curves(plan, followed(spiral()))
    keyed = keyed_chain(solved)
    assert len(keyed.keys[0].frames) < len(FRAMES) // 2
    assert 0.0 < keyed.drift.tip <= 0.01
    at_keys = np.isin(FRAMES, keyed.keys[0].frames)
    assert np.abs(tips_of(quaternions_of(keyed.keys)) - spiral()[at_keys, :2]).max() <= 0.01
