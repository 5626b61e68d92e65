"""A limb under a parent that stands still: posed by products of waves, and the same as by the arithmetic of bones."""

from dataclasses import replace

import numpy as np
import pytest

from tests.core.rig.following_tasks import follow_targets, task_for
from tests.core.rig.matrices import affine, limb, motion_under, plane_frames, rotations, single_precision
from twobone_addon.core.rig.bones import RestBone
from twobone_addon.core.rig.inverse import still_hinges
from twobone_addon.core.rig.plane_frames import in_plane, out_of_plane
from twobone_addon.core.rig.posing import (
    by_angles,
    link_vectors,
    pose_with_rotations,
    present_reference,
    rest_reference,
    turn_bones,
    with_rotations,
)
from twobone_addon.core.rig.rotations import from_quaternion
from twobone_addon.core.solver import Reach

COUNT = 200
SETTLED = 1e-7
"""Of the limb's length; Blender's single precision makes as much."""

SCALES = ("FULL", "FIX_SHEAR", "ALIGNED", "AVERAGE", "NONE", "NONE_LEGACY")


def still_limb(rng, kind="scaled", **flags):
    return single_precision(limb(rng, **flags)), motion_under(affine(rng, 1, kind=kind).astype(np.float32).astype(float))


def still_task(frame, targets):
    return replace(task_for(np.broadcast_to(frame, (COUNT, 3, 3)), targets), frames=frame)


def targets_around(rng, reference):
    """Some in reach, some too far."""
    size = np.linalg.norm(np.diff(reference.joints[0], axis=0), axis=-1).sum()
    return reference.joints[:, 0] + size * rng.uniform(-0.8, 0.8, (COUNT, 3))


@pytest.mark.parametrize("start", ["rest", "pose"])
@pytest.mark.parametrize("scale", SCALES)
def test_the_tip_is_on_its_targets_and_no_bone_leaves_its_depth(rng, scale, start):
    chain, motion = still_limb(rng, inherit_scale=scale)
    if start == "pose":
        motion = with_rotations(chain, motion, tuple(rotations(rng, 2, 1)))
    reference = (rest_reference if start == "rest" else present_reference)(chain, motion)
    frame = plane_frames(rng, 1)
    targets = targets_around(rng, reference)
    assert still_hinges(chain, motion, reference, frame)[0] is not None
    pose = follow_targets(chain, motion, reference, still_task(frame, targets))
    posed = pose_with_rotations(chain, motion, tuple(from_quaternion(each.quaternions) for each in pose.turned.rotations))
    size = np.linalg.norm(np.diff(reference.joints[0], axis=0), axis=-1).sum()
    tips = link_vectors(frame, posed.joints).sum(axis=-2)
    missed = np.linalg.norm(tips - in_plane(frame, targets - posed.joints[:, 0]), axis=-1)
    reached = pose.reach == Reach.REACHED
    assert reached.any()
    assert missed[reached].max() <= SETTLED * size
    depths = [out_of_plane(frame, np.diff(joints, axis=1)) for joints in (posed.joints, reference.joints)]
    assert np.abs(depths[0] - depths[1]).max() <= 5 * SETTLED * size


@pytest.mark.parametrize("stays", ["lower", "foot"])
def test_a_bone_that_does_not_turn_with_its_parent_leaves_no_target_missed(rng, stays):
    chain, motion = still_limb(rng, kind="rotated")
    upper, lower = chain.bones
    if stays == "lower":
        chain = replace(chain, bones=(upper, replace(lower, inherit_rotation=False)))
    else:
        foot = RestBone("foot", lower.rest @ affine(rng), lower.rest, 0.4, "QUATERNION", inherit_rotation=False)
        chain = replace(chain, bones=(upper, lower, foot), tip=np.array([0.0, 0.4, 0.0]))
        motion = replace(motion, channels=(*motion.channels, motion.channels[0]))
    reference, frame = rest_reference(chain, motion), plane_frames(rng, 1)
    # Places where the tip gets by turning about the plane's normal are in reach.
    turned = turn_bones(chain, motion, reference, by_angles(frame, rng.uniform(-np.pi, np.pi, (COUNT, 2))))
    links = link_vectors(frame, turned.joints)
    across = links[:, 0, 0] * links[:, 1, 1] - links[:, 0, 1] * links[:, 1, 0]
    possible = across > 0
    pose = follow_targets(chain, motion, reference, still_task(frame, turned.joints[:, -1]))
    tips = link_vectors(frame, pose.turned.joints).sum(axis=-2)
    missed = np.linalg.norm(tips - in_plane(frame, turned.joints[:, -1] - reference.joints[:, 0]), axis=-1)
    size = np.linalg.norm(np.diff(reference.joints[0], axis=0), axis=-1).sum()
    assert possible.any()
    assert np.all(pose.reach[possible] == Reach.REACHED)
    assert missed[possible].max() <= SETTLED * size


@pytest.mark.parametrize("scale", SCALES)
def test_it_is_posed_like_one_whose_parent_is_given_frame_by_frame(rng, scale):
    chain, motion = still_limb(rng, inherit_scale=scale)
    reference, frame = rest_reference(chain, motion), plane_frames(rng, 1)
    targets = targets_around(rng, reference)
    still = follow_targets(chain, motion, reference, still_task(frame, targets))
    written = motion_under(np.repeat(motion.parent_pose, COUNT, axis=0))
    task = task_for(np.repeat(frame, COUNT, axis=0), targets)
    moving = follow_targets(chain, written, rest_reference(chain, written), task)
    assert np.array_equal(still.reach, moving.reach)
    size = np.linalg.norm(np.diff(reference.joints[0], axis=0), axis=-1).sum()
    tips = [link_vectors(frame, pose.turned.joints).sum(axis=-2) for pose in (still, moving)]
    assert np.abs(tips[0] - tips[1]).max() <= 2 * SETTLED * size
    # Next to straight the middle joint moves by the root of what the tip moves.
    assert np.abs(still.turned.joints - moving.turned.joints).max() <= np.sqrt(2 * SETTLED) * size


def test_quaternions_and_matrices_are_the_same_rotations(rng):
    chain, motion = still_limb(rng)
    motion = with_rotations(chain, motion, tuple(rotations(rng, 2, 1)))
    reference, frame = present_reference(chain, motion), plane_frames(rng, 1)
    task = still_task(frame, targets_around(rng, reference))
    for each in follow_targets(chain, motion, reference, task).turned.rotations:
        np.testing.assert_allclose(from_quaternion(each.quaternions), each.matrices, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", ["uneven", "sheared"])
def test_uneven_parents_are_left_to_the_arithmetic_of_bones(rng, kind):
    chain, motion = still_limb(rng, kind)
    assert still_hinges(chain, motion, rest_reference(chain, motion), plane_frames(rng, 1))[0] is None


def test_whatever_moves_is_left_to_it_as_well(rng):
    chain, motion = still_limb(rng)
    reference = rest_reference(chain, motion)
    assert still_hinges(chain, motion, reference, plane_frames(rng, 3))[0] is None
    moving = motion_under(affine(rng, 3))
    assert still_hinges(chain, moving, rest_reference(chain, moving), plane_frames(rng, 1))[0] is None


def test_turns_that_the_limb_has_already_do_not_matter_from_rest(rng):
    chain, motion = still_limb(rng)
    turning = with_rotations(chain, motion, tuple(rotations(rng, 2, 3)))
    assert still_hinges(chain, turning, rest_reference(chain, turning), plane_frames(rng, 1))[0] is not None
