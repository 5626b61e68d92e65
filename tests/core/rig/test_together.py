"""Chains that are posed together are posed as each would be alone, whatever the others do."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from tests.core.rig.following_tasks import FLATTEN, KEEP, follow_targets, task_for
from tests.core.rig.matrices import affine, limb, motion_under, plane_frames, single_precision
from twobone_addon.core.arrays import path_length
from twobone_addon.core.rig.following import FollowingChain, alike
from twobone_addon.core.rig.inverse import UNEVEN_SETTLED, follow_together
from twobone_addon.core.rig.posing import rest_reference
from twobone_addon.core.solver import ReachOptions

COUNT = 12
EXACT = 1e-12
"""Of limbs a few units long: rounding only."""


def following(rng, *, kind="scaled", rows=1, laying=KEEP, options=None, limits=None, near=False, **flags):
    """A limb under a parent that is still or moves, with targets on all sides of what it reaches."""
    chain, frames = single_precision(limb(rng, **flags)), plane_frames(rng, rows)
    motion = motion_under(affine(rng, rows, kind=kind))
    reference = rest_reference(chain, motion)
    size = np.linalg.norm(np.diff(reference.joints[0], axis=0), axis=-1).sum()
    spread = 0.2 if near else 1.5
    targets = reference.joints[:, 0] + size * rng.uniform(-spread, spread, (COUNT, 3))
    tolerance = float(rng.uniform(1e-9, 1e-6))
    task = task_for(np.repeat(frames, COUNT // rows, axis=0), targets, laying=laying)
    options = replace(options or ReachOptions(), tolerance=tolerance)
    return FollowingChain(chain, motion, reference, replace(task, frames=frames, options=options, limits=limits))


def crowd(rng, count=2):
    """Still and moving chains of many shapes, among each shape some that need another way than the rest; `count` of each."""
    limits = np.radians([[-40.0, 50.0], [5.0, 120.0]])
    ways = [
        {},
        {"kind": "uneven"},
        {"kind": "sheared"},
        {"rows": COUNT},
        {"rows": COUNT, "kind": "uneven"},
        {"laying": FLATTEN},
        {"limits": limits},
        {"near": True},
        {"inherit_scale": "ALIGNED"},
        {"inherit_scale": "FIX_SHEAR", "inherit_rotation": False},
        {"options": ReachOptions(mode="SOFTEN", softness=0.1)},
        {"options": ReachOptions(mode="STRETCH", stretch_max=2.0)},
    ]
    return [following(rng, **way) for _ in range(count) for way in ways]


def test_each_of_many_is_posed_as_it_is_alone(rng):
    several = crowd(rng)
    together = follow_together(several)
    for one, pose in zip(several, together, strict=True):
        alone = follow_targets(one.chain, one.motion, one.reference, one.task)
        assert np.array_equal(pose.reach, alone.reach)
        pairs = [(pose.ratio, alone.ratio), (pose.goals, alone.goals), *zip(pose.turned.poses, alone.turned.poses, strict=True)]
        pairs += [
            (getattr(found, form), getattr(expected, form))
            for found, expected in zip(pose.turned.rotations, alone.turned.rotations, strict=True)
            for form in ("matrices", "quaternions")
        ]
        for found, expected in pairs:
            np.testing.assert_allclose(found, expected, rtol=0, atol=EXACT)


FREE = (0, 1, 2, 3, 4, 5, 6), (4, 5, 6, 7, 8), (9, 10, 11)
"""Frames whose targets leave the pose free: from the first on, amid others, to the last."""


@pytest.mark.parametrize("free, lost", [((), 0.0), *product(FREE, [np.nan, 0.0])], ids=str)
def test_a_long_take_is_posed_in_parts_as_it_is_at_once(rng, monkeypatch, free, lost):
    """Also where a part begins, or is filled, with targets that leave the pose free."""
    several = [with_free_targets(one, list(free), lost) for one in crowd(rng, count=1)]
    whole = [follow_targets(one.chain, one.motion, one.reference, one.task) for one in several]
    monkeypatch.setattr("twobone_addon.core.rig.inverse.ROWS_AT_ONCE", 5)
    for one, expected in zip(several, whole, strict=True):
        found = follow_targets(one.chain, one.motion, one.reference, one.task)
        assert np.array_equal(found.reach, expected.reach)
        assert found.turned.joints.shape == expected.turned.joints.shape
        settled = UNEVEN_SETTLED * path_length(expected.turned.joints).max()
        # A search goes on until all its frames have settled: those of the whole take, or of a part of it.
        np.testing.assert_allclose(found.turned.joints, expected.turned.joints, rtol=0, atol=settled)
        for own, other in zip(found.turned.rotations, expected.turned.rotations, strict=True):
            np.testing.assert_allclose(own.matrices, other.matrices, rtol=0, atol=settled)


def with_free_targets(one, rows, lost):
    targets, roots = one.task.targets.copy(), np.broadcast_to(one.reference.joints[..., 0, :], one.task.targets.shape)
    targets[rows] = roots[rows] + lost
    return replace(one, task=replace(one.task, targets=targets))


def test_targets_that_are_nowhere_do_not_reach_other_chains(rng):
    well, ill = following(rng), following(rng)
    lost = replace(ill, task=replace(ill.task, targets=np.full_like(ill.task.targets, np.nan)))
    alone, beside = follow_together([well])[0], follow_together([lost, well])[1]
    assert np.array_equal(alone.turned.joints, beside.turned.joints)


def test_chains_of_one_shape_share_a_stack_and_no_stack_is_too_large(rng):
    several = [following(rng) for _ in range(5)] + [following(rng, laying=FLATTEN)]
    assert sorted(map(sorted, alike(several))) == [[0, 1, 2, 3, 4], [5]]
    long = [replace(one, task=replace(one.task, targets=np.zeros((10_000, 3)))) for one in several[:3]]
    assert sorted(map(sorted, alike(long))) == [[0], [1], [2]]
