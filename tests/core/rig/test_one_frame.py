"""A limb in plain numbers is posed at one frame as arrays pose it."""

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.rig.following_tasks import task_for
from tests.core.rig.matrices import affine, limb, motion_under, rotations, single_precision
from twobone_addon.core.rig.following import FollowingChain
from twobone_addon.core.rig.inverse import follow_together
from twobone_addon.core.rig.limb_planes import plane_with_normal
from twobone_addon.core.rig.one_frame import one_frame_limb, pose_at
from twobone_addon.core.rig.posing import Laying, rest_reference

SCALES = ("FULL", "FIX_SHEAR", "ALIGNED", "AVERAGE", "NONE", "NONE_LEGACY")
EXACT = 1e-9


def drawn(rng, kind, **flags):
    """A limb with channels of its own, its plane's normal, its normal at rest, and the reference it is turned from."""
    chain = single_precision(limb(rng, **flags))
    motion = motion_under(affine(rng, 1, kind=kind))
    channels = tuple(replace(each, location=0.1 * rng.normal(size=(1, 3))) for each in motion.channels)
    motion = replace(motion, channels=channels)
    return chain, motion, rest_reference(chain, motion), *rotations(rng, 2)[:, :1]


def posed_by_arrays(chain, motion, reference, *, normal, laid, side, target):
    frames = plane_with_normal(normal, target - reference.joints[:, 0]).frames
    task = task_for(frames, target, bend=side, laying=Laying(flatten=True, normal=laid))
    return follow_together([FollowingChain(chain, motion, reference, task)], quickly=True)[0].turned


@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    kind=st.sampled_from(["rotated", "scaled", "uneven", "mirrored", "sheared"]),
    scale=st.sampled_from(SCALES),
    side=st.sampled_from([-1.0, 1.0]),
    far=st.sampled_from([0.05, 0.6, 1.5]),
    local=st.booleans(),
    connected=st.booleans(),
)
def test_the_pose_is_that_of_arrays(*, seed, kind, scale, side, far, local, connected):
    rng = np.random.default_rng(seed)
    chain, motion, reference, normal, laid = drawn(rng, kind, inherit_scale=scale, local_location=local, connected=connected)
    target = (
        reference.joints[:, 0] + far * np.linalg.norm(np.diff(reference.joints[0], axis=0), axis=-1).sum() * rotations(rng)[:1]
    )
    plain = one_frame_limb(chain, motion, reference, normal=normal, laid=laid, side=side)
    assert plain is not None or kind not in {"rotated", "scaled"}
    pose = plain and pose_at(plain, target[0].tolist())
    assert pose is not None or kind not in {"rotated", "scaled"}
    if pose is None:
        return
    turned = posed_by_arrays(chain, motion, reference, normal=normal, laid=laid, side=side, target=target)
    for mine, theirs in zip(pose.rotations, turned.rotations, strict=True):
        assert np.abs(mine.matrices - theirs.matrices).max() < EXACT
        assert np.abs(np.abs(np.sum(mine.quaternions * theirs.quaternions)) - 1.0) < EXACT
    for mine, theirs in zip(pose.poses, turned.poses, strict=True):
        assert np.abs(mine - theirs).max() < EXACT * (1.0 + np.abs(theirs).max())


def test_it_gives_up_where_the_target_says_nothing(rng):
    chain, motion, reference, normal, laid = drawn(rng, "scaled")
    plain = one_frame_limb(chain, motion, reference, normal=normal, laid=laid, side=1.0)
    root = reference.joints[0, 0]
    for target in (root, root + normal[0], [np.nan] * 3, [np.inf, 0.0, 0.0]):
        assert pose_at(plain, list(target)) is None
