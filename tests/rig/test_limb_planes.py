"""Planes of limbs, as numbers: at rest, carried by sheared parents, through poles, and of the pose over time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.rig.matrices import affine, rotations
from twobone_addon.rig.bones import RestBone, RestChain
from twobone_addon.rig.planes.limb_normals import limb_normals
from twobone_addon.rig.planes.limb_planes import carried_normal, plane_through_pole, plane_with_normal
from twobone_addon.rig.rotations import about_axis, least_turn, twists_about

EXACT = 1e-12


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


@pytest.mark.parametrize("kind", ["rotated", "scaled", "uneven", "mirrored", "sheared"])
def test_a_carried_normal_is_perpendicular_to_what_was_in_the_plane_and_swaps_no_side(rng, kind):
    maps = affine(rng, 40, kind=kind)[:, :3, :3]
    u, v = rng.normal(size=(2, 3))
    carried = carried_normal(unit(np.cross(u, v)), maps)
    images = [maps @ vector for vector in (u, v)]
    for image in images:
        assert np.abs(np.sum(carried * unit(image), axis=-1)).max() < 1e-10
    assert np.sum(carried * np.cross(*images), axis=-1).min() > 0, "counter-clockwise stays so"
    assert np.abs(np.linalg.norm(carried, axis=-1) - 1).max() < EXACT


def test_a_plane_that_a_map_flattens_keeps_the_normal_of_what_is_left(rng):
    flat = np.diag([1.0, 1.0, 0.0]) @ rotations(rng)
    normal = unit(rng.normal(size=3))
    assert np.abs(np.abs(carried_normal(normal, flat[None])) - [0, 0, 1]).max() < 1e-10


@pytest.mark.parametrize("degrees, held", [(0.0, True), (1e-6, True), (0.01, False), (2.0, False), (40.0, False)])
def test_a_plane_is_undecided_only_where_single_precision_cannot_tell_it(degrees, held):
    """A line two degrees from the normal, or from the pole, still says where the plane is."""
    lines = np.array([[1.0, 0.0, 0.0], [np.sin(np.radians(degrees)), 0.0, np.cos(np.radians(degrees))]])
    normals = np.tile([0.0, 0.0, 1.0], (2, 1))
    found = plane_with_normal(normals, lines)
    assert found.held.tolist() == [False, held]
    if not held:
        assert np.abs(found.frames[1, :, 2] - [-np.cos(np.radians(degrees)), 0, np.sin(np.radians(degrees))]).max() < 1e-9
    poles = np.array([[0.0, 0.0, 3.0], [0.0, 0.0, 3.0]])
    through = plane_through_pole(lines, poles, 0.0, normals)
    assert through.held.tolist() == [False, held]
    if not held:
        assert np.abs(np.abs(through.frames[1, :, 2]) - [0, 1, 0]).max() < 1e-9


vectors = st.tuples(*[st.floats(-1, 1)] * 3).map(np.array).filter(lambda vector: np.linalg.norm(vector) > 0.1).map(unit)


@given(vectors, vectors)
def test_the_least_turn_is_as_far_as_the_vectors_are_apart(first, second):
    turn = least_turn(first, second)
    assert np.abs(turn @ first - second).max() < 1e-7
    assert np.abs(turn @ turn.T - np.eye(3)).max() < 1e-9
    apart = np.arctan2(np.linalg.norm(np.cross(first, second)), first @ second)
    assert np.arccos(np.clip((np.trace(turn) - 1) / 2, -1, 1)) == pytest.approx(apart, abs=1e-6)


def test_the_least_turn_of_opposite_vectors_is_a_half_turn():
    axes = np.eye(3)
    turns = least_turn(axes, -axes)
    assert np.abs((turns @ axes[..., None])[..., 0] + axes).max() < EXACT
    assert np.abs(np.linalg.det(turns) - 1).max() < EXACT


@given(vectors, st.floats(-3.1, 3.1), vectors, st.floats(0, 3.0))
def test_a_twist_is_what_is_left_beside_the_swing(axis, twist, direction, swing):
    across = unit(np.cross(axis, direction + 0.5 * axis[[1, 2, 0]])) if np.linalg.norm(np.cross(axis, direction)) > 1e-3 else None
    if across is None:
        return
    across = unit(across - axis * (across @ axis))
    turn = about_axis(across, np.array(swing)) @ about_axis(axis, np.array(twist))
    assert twists_about(axis, turn) == pytest.approx(abs(twist), abs=1e-6)


LINK = np.array([0.0, 1.0, 0.0])
"""Of both bones, in their own space."""


def leg(bend=0.0):
    """Two bones, one above the other, with a bend at rest about X."""
    upper, lower = np.eye(4), np.eye(4)
    upper[:3, :3] = lower[:3, :3] = np.diag([1.0, -1.0, -1.0])
    lower[:3, :3] = lower[:3, :3] @ about_axis(np.array([1.0, 0, 0]), np.array(bend))
    lower[2, 3] = 0.0
    lower[:3, 3] = upper[:3, :3] @ LINK
    bones = (RestBone("upper", upper, None, 1.0, "XYZ"), RestBone("lower", lower, upper, 1.0, "XYZ"))
    return RestChain(bones, (0, 1), LINK)


def posed(thighs, knees):
    """Joints `(F, 3, 3)` of thighs `(F, 3, 3)` whose knees bend about their own X by `(F,)` radians."""
    shins = thighs @ about_axis(np.array([1.0, 0, 0]), knees)
    links = np.stack([thighs @ LINK, shins @ LINK], axis=-2)
    return np.concatenate([np.zeros((len(knees), 1, 3)), np.cumsum(links, axis=-2)], axis=-2)


@given(st.integers(0, 10**6), st.lists(st.sampled_from((0.0, 1e-5, 0.01, 0.05, 0.8, 1.5, -0.02, -1e-5)), min_size=2, max_size=30))
def test_the_normals_are_the_knees_hinge_through_straight_and_overstretched_frames(seed, knees):
    """The thigh may do what it likes meanwhile: the hinge goes along, and never turns over."""
    knees = np.array([0.9, *knees])
    thighs = rotations(np.random.default_rng(seed), len(knees))
    joints = posed(thighs, knees)
    normals, told = limb_normals(leg(), joints, thighs)
    assert told
    assert np.abs(normals - thighs[:, :, 0]).max() < 1e-6
    assert np.abs(np.sum(normals * (joints[:, -1] - joints[:, 0]), axis=-1)).max() < 1e-9


@pytest.mark.parametrize("rest", [0.3, -0.3])
def test_a_limb_that_is_bent_at_rest_tells_the_side_of_its_hinge(rest, rng):
    knees = np.array([-0.2, -0.1, 0.0, 0.1])
    thighs = rotations(rng, len(knees))
    normals, _ = limb_normals(leg(rest), posed(thighs, knees), thighs)
    assert np.abs(normals - np.sign(rest) * thighs[:, :, 0]).max() < 1e-9


def test_a_limb_that_nothing_bends_has_the_hinge_of_its_rest_pose(rng):
    """Straight at rest as well: the one about which people's knees bend, to the front."""
    thighs = rotations(rng, 5)
    normals, told = limb_normals(leg(), posed(thighs, np.zeros(5)), thighs)
    assert not told
    hinges = np.sum(normals * thighs[:, :, 0], axis=-1)
    assert np.abs(hinges - np.sign(hinges[0])).max() < 1e-9, "it goes along with the thigh"
