"""A chain as matrices: it turns without leaving its depth, and follows its target whatever scales and shears it."""

from dataclasses import replace

import numpy as np
import pytest

from tests.core.rig.following_tasks import FLATTEN, KEEP, follow_targets, task_for
from tests.core.rig.matrices import affine, limb, motion_under, plane_frames, resting, single_precision
from twobone_addon.core.rig.bones import ChainMotion, RestBone, RestChain
from twobone_addon.core.rig.plane_frames import in_plane, out_of_plane
from twobone_addon.core.rig.posing import by_angles, hinge_axis, link_vectors, rest_reference, towards, turn_bones
from twobone_addon.core.rig.rotations import about_axis
from twobone_addon.core.solver import Reach

COUNT = 40
EXACT = 1e-9
"""Of limbs a few units long, in double precision."""

FOLLOWED = 1e-8
"""Relative to the limb's length: all that a bake promises beyond it is for Blender's single precision."""

KINDS = ("rotated", "scaled", "uneven", "mirrored", "sheared")
FLAGS = ({}, {"inherit_scale": "ALIGNED"}, {"inherit_scale": "FIX_SHEAR", "inherit_rotation": False})
each_kind = pytest.mark.parametrize("kind", KINDS)


def posed_targets(rng, chain, motion, frames, bend):
    """Tips of random poses bent to one side, moved off the plane: in reach by construction. Also which frames have one."""
    reference = rest_reference(chain, motion)
    angles = rng.uniform(-np.pi, np.pi, (len(frames), 2))
    turned = turn_bones(chain, motion, reference, by_angles(frames, angles))
    first, last = np.moveaxis(link_vectors(frames, turned.joints), -2, 0)
    across = first[:, 0] * last[:, 1] - first[:, 1] * last[:, 0]
    aside = frames[..., 2] * rng.normal(size=(len(frames), 1))
    return turned.joints[:, 2] + aside, across * bend > 0


@each_kind
def test_a_turn_keeps_every_bone_at_its_depth(rng, kind):
    chain, frames = limb(rng), plane_frames(rng, COUNT)
    motion = motion_under(affine(rng, COUNT, kind=kind))
    reference = rest_reference(chain, motion)
    turned = turn_bones(chain, motion, reference, by_angles(frames, rng.uniform(-3, 3, (COUNT, 2)) * [1, 0]))
    before, after = (out_of_plane(frames, joints[:, 1] - joints[:, 0]) for joints in (reference.joints, turned.joints))
    assert np.abs(after - before).max() <= EXACT


@each_kind
def test_the_hinge_turns_counter_clockwise_as_seen_from_the_normal(rng, kind):
    inherited = affine(rng, COUNT, kind=kind)[:, :3, :3]
    frames = plane_frames(rng, COUNT)
    axis = hinge_axis(inherited, frames[..., 2])
    links = rng.normal(size=(COUNT, 3))
    links -= axis * np.sum(axis * links, axis=-1, keepdims=True)
    turns = [about_axis(axis, np.full(COUNT, angle)) for angle in (0, 0.01)]
    steps = [in_plane(frames, (inherited @ turn @ links[..., None])[..., 0]) for turn in turns]
    assert np.all(steps[0][:, 0] * steps[1][:, 1] - steps[0][:, 1] * steps[1][:, 0] > 0)


@pytest.mark.parametrize(
    "laying, kind", [*((KEEP, kind) for kind in ("rotated", "scaled")), *((FLATTEN, kind) for kind in KINDS)]
)
def test_links_point_where_they_are_told_and_flattened_ones_lie_in_the_plane(rng, kind, laying):
    """Not those at their depth under parents of uneven scale, which do not reach all directions."""
    chain, frames = limb(rng), plane_frames(rng, COUNT)
    motion = motion_under(affine(rng, COUNT, kind=kind))
    reference = rest_reference(chain, motion)
    directions = rng.uniform(-np.pi, np.pi, (COUNT, 2))
    turned = turn_bones(chain, motion, reference, towards(reference, frames, laying)(directions))
    links = link_vectors(frames, turned.joints)
    wanted = np.stack([np.cos(directions), np.sin(directions)], axis=-1)
    across = links[..., 0] * wanted[..., 1] - links[..., 1] * wanted[..., 0]
    assert np.abs(across).max() <= EXACT
    assert np.all(np.sum(links * wanted, axis=-1) > 0)
    if laying.flatten:
        depths = out_of_plane(frames[:, None], np.diff(turned.joints, axis=1))
        assert np.abs(depths).max() <= EXACT


@pytest.mark.parametrize("bend", [1.0, -1.0])
@pytest.mark.parametrize("flags", FLAGS, ids=str)
@each_kind
def test_the_tip_is_on_every_target_that_can_be_reached(rng, kind, flags, bend):
    chain, frames = limb(rng, **flags), plane_frames(rng, COUNT)
    motion = motion_under(affine(rng, COUNT, kind=kind))
    targets, possible = posed_targets(rng, chain, motion, frames, bend)
    reference = rest_reference(chain, motion)
    pose = follow_targets(chain, motion, reference, task_for(frames, targets, bend=bend))
    links = link_vectors(frames, pose.turned.joints)
    missed = np.linalg.norm(links.sum(axis=-2) - in_plane(frames, targets - reference.joints[:, 0]), axis=-1)
    size = np.linalg.norm(np.diff(pose.turned.joints, axis=1), axis=-1).sum(axis=-1)
    across = links[:, 0, 0] * links[:, 1, 1] - links[:, 0, 1] * links[:, 1, 0]
    assert np.all(pose.reach[possible] == Reach.REACHED)
    assert (missed / size)[possible].max() <= FOLLOWED
    assert np.all(across[possible] * bend > 0)


def farther_targets(rng, chain, motion, frames):
    """Around the root joint in the plane, farther than the links go whatever scales them."""
    joints = rest_reference(chain, motion).joints
    size = np.linalg.norm(np.diff(joints, axis=1), axis=-1).sum(axis=-1, keepdims=True)
    turns = rng.uniform(-np.pi, np.pi, COUNT)
    heading = np.stack([np.cos(turns), np.sin(turns)], axis=-1)
    return joints[:, 0] + rng.uniform(4, 12, (COUNT, 1)) * size * (frames[..., :2] @ heading[..., None])[..., 0]


@pytest.mark.parametrize("laying", [KEEP, FLATTEN], ids=["keep", "flatten"])
@pytest.mark.parametrize("kind", ["uneven", "sheared"])
def test_out_of_reach_no_pose_of_that_side_is_nearer_to_the_target(rng, kind, laying):
    chain, frames = limb(rng), plane_frames(rng, COUNT)
    motion = motion_under(affine(rng, COUNT, kind=kind))
    reference, targets = rest_reference(chain, motion), farther_targets(rng, chain, motion, frames)
    pose = follow_targets(chain, motion, reference, task_for(frames, targets, laying=laying))
    goals = in_plane(frames, targets - reference.joints[:, 0])

    def missed(links):
        return np.linalg.norm(links.sum(axis=-2) - goals, axis=-1)

    steps = np.radians(np.arange(0.0, 360.0, 3.0))
    angles = np.stack(np.meshgrid(steps, steps, indexing="ij"), axis=-1).reshape(-1, 1, 2)
    nearest = np.full(COUNT, np.inf)
    for part in np.array_split(angles, 60):
        turn = towards(reference, frames, laying)(part) if laying.flatten else by_angles(frames, part)
        links = link_vectors(frames, turn_bones(chain, motion, reference, turn).joints)
        across = links[..., 0, 0] * links[..., 1, 1] - links[..., 0, 1] * links[..., 1, 0]
        nearest = np.minimum(nearest, np.where(across >= 0, missed(links), np.inf).min(axis=0))
    size = np.linalg.norm(np.diff(reference.joints, axis=1), axis=-1).sum(axis=-1)
    links = link_vectors(frames, pose.turned.joints)
    across = links[:, 0, 0] * links[:, 1, 1] - links[:, 0, 1] * links[:, 1, 0]
    assert np.all(pose.reach != Reach.REACHED)
    assert ((missed(links) - nearest) / size).max() <= FOLLOWED
    assert (across / size**2).min() >= -1e-6


def test_a_target_that_moves_smoothly_out_of_reach_is_pointed_at_smoothly(rng):
    chain, frame = limb(rng), plane_frames(rng, 1)
    motion = motion_under(np.repeat(affine(rng, 1, kind="uneven"), COUNT, axis=0))
    reference = rest_reference(chain, motion)
    size = np.linalg.norm(np.diff(reference.joints[0], axis=0), axis=-1).sum()
    turns = np.linspace(0.0, 1.0, COUNT)
    heading = np.stack([np.cos(turns), np.sin(turns)], axis=-1) @ frame[0, :, :2].T
    targets = reference.joints[:, 0] + 2.5 * size * heading
    frames = np.repeat(frame, COUNT, axis=0)
    # Laid into the plane such a chain reaches an ellipse, of which one place is nearest to a target.
    pose = follow_targets(chain, motion, reference, task_for(frames, targets, laying=FLATTEN))
    steps = np.linalg.norm(np.diff(pose.turned.joints, axis=0), axis=-1)
    assert steps.max() <= 4 * size * (turns[1] - turns[0])


@pytest.mark.parametrize("laying", [KEEP, FLATTEN], ids=["keep", "flatten"])
@pytest.mark.parametrize("inherit_scale", ["ALIGNED", "NONE_LEGACY"])
def test_nothing_is_searched_where_nothing_is_scaled(rng, monkeypatch, inherit_scale, laying):
    monkeypatch.setattr("twobone_addon.core.rig.inverse.search_angles", None)
    frames = plane_frames(rng, COUNT)
    for _ in range(20):
        upper, lower = limb(rng).bones
        flags = {"inherit_scale": inherit_scale}
        twist = RestBone("twist", affine(rng), upper.rest, 0.5, "QUATERNION", **flags)
        lower = replace(lower, parent_rest=twist.rest, inherit_scale=inherit_scale)
        chain = single_precision(RestChain((upper, twist, lower), (0, 2), np.array([0.0, 1.3, 0.0])))
        motion = ChainMotion(affine(rng, COUNT), (resting(COUNT),) * 3)
        reference = rest_reference(chain, motion)
        targets = reference.joints[:, 0] + 2 * rng.normal(size=(COUNT, 3))
        pose = follow_targets(chain, motion, reference, task_for(frames, targets, laying=laying))
        assert {Reach.REACHED} < set(map(Reach, pose.reach))


@pytest.mark.parametrize("laying", [KEEP, FLATTEN], ids=["keep", "flatten"])
def test_one_side_for_all_frames_does_where_the_chain_is_searched(rng, laying):
    chain, frames = limb(rng), plane_frames(rng, COUNT)
    motion = motion_under(affine(rng, COUNT, kind="sheared"))
    reference, targets = rest_reference(chain, motion), farther_targets(rng, chain, motion, frames)
    task = task_for(frames, targets, laying=laying)
    each, one = (follow_targets(chain, motion, reference, replace(task, bend=np.ones(count))) for count in (COUNT, 1))
    np.testing.assert_array_equal(one.turned.joints, each.turned.joints)


@pytest.mark.parametrize("laying", [KEEP, FLATTEN], ids=["keep", "flatten"])
@pytest.mark.parametrize("parent", ["nothing", "flat", "line"])
def test_parents_without_extent_leave_finite_numbers(rng, parent, laying):
    scale = {"nothing": (0, 0, 0), "flat": (1, 0, 1), "line": (0, 0, 1)}[parent]
    parents = affine(rng, COUNT)
    parents[:, :3, :3] *= np.array(scale, dtype=float)
    chain, frames = limb(rng), plane_frames(rng, COUNT)
    motion = motion_under(parents)
    pose = follow_targets(
        chain, motion, rest_reference(chain, motion), task_for(frames, rng.normal(size=(COUNT, 3)), laying=laying)
    )
    assert np.all(np.isfinite(pose.turned.joints))
    assert all(np.all(np.isfinite(rotation.matrices)) for rotation in pose.turned.rotations)
