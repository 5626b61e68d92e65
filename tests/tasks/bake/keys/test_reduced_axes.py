"""Reduced keys keep their tolerance where no key can lie, also of bones with an axis and an angle near no rotation."""

import random

import numpy as np
import pytest

from tests.blank import empty
from tests.tasks.checks.checking import RIG
from tests.tasks.checks.measuring import evaluate
from tests.tasks.scenes import BoneShape, add_empty, bake, build_armature, key_channel

LEG = (
    BoneShape("hips", (0, 0, 2), (0, 0, 2.3)),
    BoneShape("upper", (0, 0, 2), (0.02, -0.3, 1), "hips"),
    BoneShape("lower", (0.02, -0.3, 1), (0, 0, 0), "upper", connected=True),
)
LAST = 21
MOMENTS = np.arange(1, LAST + 0.01, 1 / 32)


def swaying_leg(seed, mode):
    """A leg below hips that sway, and a target that its tip follows past the rest pose."""
    chance = random.Random(seed)  # noqa: S311 - dice, not secrets
    empty()
    rig = build_armature(LEG)
    for name in ("upper", "lower"):
        rig.pose.bones[name].rotation_mode = mode
    hips = rig.pose.bones["hips"]
    for frame in range(1, LAST + 1, 4):
        key_channel(hips, "location", {frame: [chance.uniform(-0.15, 0.15) for _ in range(3)]})
        key_channel(hips, "rotation_quaternion", {frame: (1, *[chance.uniform(-0.15, 0.15) for _ in range(3)])})
    target = add_empty()
    for frame in range(1, LAST + 1, chance.choice([2, 4, 5])):
        place = (chance.uniform(-0.3, 0.3), chance.uniform(-0.7, 0.7), chance.uniform(0.1, 1.0))
        key_channel(target, "location", {frame: place})
    return rig


@pytest.mark.parametrize("tolerance", [0.01, 0.001])
@pytest.mark.parametrize("seed, mode", [(5, "AXIS_ANGLE"), (6, "AXIS_ANGLE"), (11, "AXIS_ANGLE"), (5, "QUATERNION"), (5, "XYZ")])
def test_joints_stay_within_the_tolerance_between_all_keys(registered_addon, seed, mode, tolerance):
    call = {"target": "Target", "plane": "POSE", "reference": "POSE", "bend": "POSITIVE"}
    call |= {"frame_range": "CUSTOM", "frame_start": 1, "frame_end": LAST}
    rig = swaying_leg(seed, mode)
    bake(RIG, **call, step=1 / 32)
    exact = evaluate(rig, RIG, MOMENTS).joints
    rig = swaying_leg(seed, mode)
    report = bake(RIG, **call, keys="REDUCE", tolerance=tolerance)
    drift = np.linalg.norm(evaluate(rig, RIG, MOMENTS).joints - exact, axis=-1).max()
    assert drift <= tolerance
    assert max(report["max_drift"], report["max_drift_middle"]) <= tolerance
