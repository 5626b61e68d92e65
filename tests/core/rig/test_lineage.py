"""Objects and bones are where the product of their matrices puts them."""

import numpy as np
import pytest

from tests.core.rig.matrices import affine
from tests.core.rig.turns import about, about_axes, placed
from twobone_addon.core.rig.bones import RestBone
from twobone_addon.core.rig.inheritance import (
    BoneLink,
    Carrier,
    ChannelValues,
    ObjectLink,
    carried_matrices,
    placed_object,
    posed_bone,
)

FRAMES = 5


def values_of(rng, *, rotation_width=3, rows=FRAMES):
    rotation = np.zeros((rows, 4))
    rotation[:, :rotation_width] = rng.uniform(-2.0, 2.0, (rows, rotation_width))
    return ChannelValues(rng.normal(size=(rows, 3)), rotation, rng.uniform(0.5, 2.0, (rows, 3)))


@pytest.mark.parametrize("order", ["XYZ", "ZXY", "YXZ"])
@pytest.mark.parametrize("rows", [(FRAMES, FRAMES), (1, FRAMES), (FRAMES, 1)])
@pytest.mark.parametrize("has_parent", [False, True])
def test_an_object_is_where_its_parents_its_own_and_its_delta_transforms_put_it(rng, order, rows, has_parent):
    own, deltas = (values_of(rng, rows=count) for count in rows)
    link = ObjectLink(order, own, deltas, affine(rng, kind="sheared"))
    parent = affine(rng, FRAMES, kind="uneven") if has_parent else None
    world = np.broadcast_to(placed_object(link, parent), (FRAMES, 4, 4))
    for frame in range(FRAMES):
        one, other = frame % rows[0], frame % rows[1]
        turn = about_axes(deltas.rotation[other], order) @ about_axes(own.rotation[one], order)
        local = placed(turn @ np.diag(own.scale[one] * deltas.scale[other]), own.location[one] + deltas.location[other])
        wanted = local if parent is None else parent[frame] @ link.parent_inverse @ local
        assert world[frame] == pytest.approx(wanted)


def test_an_object_that_hangs_from_a_bone_begins_at_its_tail(rng):
    rest, armature, pose = affine(rng), affine(rng, FRAMES, kind="scaled"), affine(rng, FRAMES, kind="uneven")
    before = pose.copy()
    carrier = Carrier(RestBone("bone", rest, None, 0.7, "XYZ"), relative=False)
    wanted = armature @ pose @ placed(np.eye(3), (0.0, 0.7, 0.0))
    assert carried_matrices(carrier, armature, pose) == pytest.approx(wanted)
    assert np.array_equal(pose, before)


def test_an_object_that_follows_a_bones_motion_stays_put_while_the_bone_rests(rng):
    rest, armature, pose = affine(rng), affine(rng, FRAMES, kind="scaled"), affine(rng, FRAMES)
    carrier = Carrier(RestBone("bone", rest, None, 0.7, "XYZ"), relative=True)
    assert carried_matrices(carrier, armature, np.broadcast_to(rest, (FRAMES, 4, 4))) == pytest.approx(armature)
    in_bone = np.array([0.2, -0.3, 0.4, 1.0])
    assert carried_matrices(carrier, armature, pose) @ (rest @ in_bone) == pytest.approx(armature @ pose @ in_bone)


def test_a_bone_without_parent_is_its_rest_pose_times_its_channels(rng):
    channels = values_of(rng, rotation_width=4)
    link = BoneLink(RestBone("bone", affine(rng), None, 1.0, "AXIS_ANGLE"), channels)
    for frame, pose in enumerate(posed_bone(link, None)):
        angle, *axis = channels.rotation[frame]
        turn = about(np.array(axis) / np.linalg.norm(axis), angle)
        assert pose == pytest.approx(link.rest.rest @ placed(turn @ np.diag(channels.scale[frame]), channels.location[frame]))
