"""Real rigs with their own motion on everything but the baked bones: imports in centimetres, sideways bones, odd frames."""

import numpy as np
import pytest

from tests.real.rigs import FOX, LIMBS, RUN, WALKING_LIMBS, open_rig, plane_that_shows
from tests.tasks.checks.checking import BENDS, assert_bake_reaches
from tests.tasks.checks.measuring import evaluate
from tests.tasks.checks.targets import circling_target, in_world
from tests.tasks.scenes import add_empty, bake, key_places

MOCAP_COMES_BACK = 1e-5
"""Joint positions, relative to the chain's length."""


@pytest.mark.parametrize("real", LIMBS, ids=str)
def test_a_limb_follows_a_target_that_circles_while_the_body_moves(empty_file, data_folder, real):
    armature, limb = open_rig(data_folder, real)
    number = LIMBS.index(real)
    where = {"plane": plane_that_shows(armature, limb), "plane_space": ("ARMATURE", "WORLD", "PARENT")[number % 3]}
    last = min(real.frames[1], real.frames[0] + 60)
    target = circling_target(armature, limb, frames=(real.frames[0], last), **where)
    assert_bake_reaches(
        armature, target, limb, tip=limb.carrier, bend=BENDS[number % 2],
        frame_range="CUSTOM", frame_start=real.frames[0], frame_end=last, **where,
    )  # fmt: skip


BENT_LIMBS = (*WALKING_LIMBS, *(real for real in LIMBS if real.file in {FOX, RUN}))
"""Not the others, which stand straight at times: there the knee's place is the square root of a target's rounding."""


@pytest.mark.parametrize("real", BENT_LIMBS, ids=str)
def test_following_its_own_end_joint_with_its_own_middle_joint_as_pole_gives_the_motion_back(empty_file, data_folder, real):
    armature, limb = open_rig(data_folder, real)
    frames = range(real.frames[0], real.frames[1] + 1)
    before = evaluate(armature, limb, frames)
    for name, joint in (("Target", 2), ("Pole", 1)):
        key_places(add_empty(name), in_world(before.worlds, before.joints[:, joint]), real.frames[0])
    report = bake(limb, tip=limb.carrier, target="Target", plane="POLE", pole="Pole", bend="POSITIVE")
    after = evaluate(armature, limb, frames)
    lengths = np.linalg.norm(before.links, axis=-1).sum(axis=-1)
    moved = np.linalg.norm(after.joints - before.joints, axis=-1).max(axis=-1) / lengths
    assert moved.max() <= MOCAP_COMES_BACK, f"frame {frames[int(moved.argmax())]}"
    assert report["reached"] + report["degenerate"] == len(frames)
