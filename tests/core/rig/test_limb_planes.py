"""Planes of limbs, as numbers: at rest, carried by sheared parents, through poles, and of the pose over time."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.core.rig.matrices import affine, rotations
from twobone_addon.core.rig.bones import RestBone, RestChain
from twobone_addon.core.rig.limb_normals import limb_hinges, limb_normals
from twobone_addon.core.rig.limb_planes import carried_normal, plane_through_pole, plane_with_normal, rest_normal
from twobone_addon.core.rig.rotations import about_axis, least_turn, twists_about

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
    assume(np.linalg.norm(np.cross(axis, direction)) > 1e-3)
    across = unit(np.cross(axis, direction))
    turn = about_axis(across, np.array(swing)) @ about_axis(axis, np.array(twist))
    assert twists_about(axis, turn) == pytest.approx(abs(twist), abs=1e-6)


LINK = np.array([0.0, 1.0, 0.0])
"""Of both bones, in their own space."""


def leg_chain(bend=0.0):
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
    normals, told = limb_normals(leg_chain(), joints, thighs)
    assert told
    assert np.abs(normals - thighs[:, :, 0]).max() < 1e-6
    assert np.abs(np.sum(normals * (joints[:, -1] - joints[:, 0]), axis=-1)).max() < 1e-9


@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize("degrees", [0.25, 0.4, 0.65, 0.8, 0.95])
def test_the_less_a_bend_tells_the_more_its_hinge_is_that_of_the_frames_around(degrees, side):
    """From one degree down to three tenths of it the axis goes over in even steps, on whatever side the knee is overstretched."""
    twist, own = np.radians([0.0, 50.0, 0.0]), np.radians(50.0)
    thighs = np.broadcast_to(np.eye(3), (3, 3, 3))
    shins = about_axis(np.array([0.0, 1.0, 0.0]), twist) @ about_axis(
        np.array([1.0, 0, 0]), side * np.radians([60.0, degrees, 60.0])
    )
    joints = np.stack([np.zeros((3, 3)), thighs @ LINK, thighs @ LINK + shins @ LINK], axis=1)
    normal = limb_normals(leg_chain(), joints, thighs)[0][1]
    share = np.clip((np.sin(np.radians(degrees)) / np.sin(np.radians(1.0)) - 0.3) / 0.7, 0.0, 1.0)
    halfway = (1 - share) * np.array([1.0, 0.0, 0.0]) + share * np.array([np.cos(own), 0.0, -np.sin(own)])
    assert np.abs(np.cross(normal, halfway / np.linalg.norm(halfway))).max() < 0.01


def test_between_the_frames_that_were_looked_at_a_clear_bend_has_its_own_hinge():
    own = np.radians(20.0)
    thighs = np.broadcast_to(np.eye(3), (3, 3, 3))
    shins = about_axis(np.array([0.0, 1.0, 0.0]), np.array([0.0, own, 0.0])) @ about_axis(np.array([1.0, 0, 0]), np.ones(3))
    joints = np.stack([np.zeros((3, 3)), thighs @ LINK, thighs @ LINK + shins @ LINK], axis=1)
    looked_at = limb_hinges(leg_chain(), joints[::2], thighs[::2])
    normals, _ = limb_normals(leg_chain(), joints, thighs, looked_at.at(np.array([0.0, 2.0]), np.arange(3.0)))
    np.testing.assert_allclose(normals[1], [np.cos(own), 0.0, -np.sin(own)], atol=1e-12)


@pytest.mark.parametrize(
    "knees, sides",
    [
        ([0.9, 0.05, -0.1, -0.1, 0.5], [1, 1, 1, 1, 1]),
        ([0.9, 0.05, -0.1, -0.4, -0.1, 0.1, 0.5], [1, 1, 1, -1, -1, -1, 1]),
        ([0.1, 0.12, -0.05], [1, 1, 1]),
    ],
)
def test_a_limb_has_the_side_of_the_frames_around_until_it_is_clearly_bent_to_the_other_one(rng, knees, sides):
    """Ten degrees are clear. One that is never clear bends to the side of most of its frames."""
    thighs = rotations(rng, len(knees))
    hinges = limb_hinges(leg_chain(), posed(thighs, np.array(knees)), thighs)
    assert hinges.sides.tolist() == sides
    frames = np.arange(1.0, len(knees) + 1.0)
    assert hinges.at(frames, frames[1:3] + 0.5).sides.tolist() == sides[1:3]
    part = hinges.on(slice(1, 3))
    assert part.sides.tolist() == sides[1:3]
    assert np.array_equal(part.axes, hinges.axes[1:3])


@pytest.mark.parametrize("gap", [0.0, 1e-9, 1e-5, 1e-4, 1e-2])
def test_the_plane_of_a_limb_that_is_folded_onto_itself_holds_both_links(rng, gap):
    """Nothing bends it clearly, and the line from root to tip stands across the links, or is none."""
    thighs = rotations(rng, 20)
    folded = np.full(20, np.pi - gap)
    shins = thighs @ about_axis(np.array([0.0, 1.0, 0.0]), rng.uniform(-3.0, 3.0, 20)) @ about_axis(np.array([1.0, 0, 0]), folded)
    joints = np.stack([np.zeros((20, 3)), thighs @ LINK, thighs @ LINK + shins @ LINK], axis=1)
    normals, _ = limb_normals(leg_chain(), joints, thighs)
    assert np.linalg.norm(normals, axis=-1) == pytest.approx(1.0)
    assert np.abs(np.sum(normals * joints[:, 1], axis=-1)).max() < 1e-9
    assert np.abs(np.sum(normals * joints[:, 2], axis=-1)).max() < 1e-8


@pytest.mark.parametrize("rest", [0.3, -0.3])
def test_a_limb_that_is_bent_at_rest_tells_the_side_of_its_hinge(rest, rng):
    knees = np.array([-0.2, -0.1, 0.0, 0.1])
    thighs = rotations(rng, len(knees))
    normals, _ = limb_normals(leg_chain(rest), posed(thighs, knees), thighs)
    assert np.abs(normals - np.sign(rest) * thighs[:, :, 0]).max() < 1e-9


def test_a_limb_that_nothing_bends_has_the_hinge_of_its_rest_pose(rng):
    """Straight at rest as well: the one about which people's knees bend, to the front."""
    thighs = rotations(rng, 5)
    normals, told = limb_normals(leg_chain(), posed(thighs, np.zeros(5)), thighs)
    assert not told
    hinges = np.sum(normals * thighs[:, :, 0], axis=-1)
    assert np.abs(hinges - np.sign(hinges[0])).max() < 1e-9, "it goes along with the thigh"


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("angle", [0.0, 0.8, -2.5])
def test_a_pole_is_on_the_side_to_which_a_limb_bends_wherever_it_stands(rng, size, angle):
    """The line is u, and a positive bend puts the middle joint at negative v; the angle turns all of it about the line."""
    lines, poles = rng.normal(size=(2, 40, 3))
    found = plane_through_pole(lines, size * poles, angle, rng.normal(size=(40, 3)))
    assert not found.held.any()
    for frame, line, pole in zip(found.frames, unit(lines), poles, strict=True):
        towards = about_axis(line, np.array(angle)) @ unit(pole - line * (pole @ line))
        assert frame == pytest.approx(np.stack([line, -towards, np.cross(line, -towards)], axis=-1))


def test_the_normal_of_a_plane_through_a_line_is_as_near_as_can_be_to_the_one_asked_for(rng):
    lines, normals = rng.normal(size=(2, 40, 3))
    normals = unit(normals)
    found = plane_with_normal(normals, lines)
    assert not found.held.any()
    assert found.frames[..., 0] == pytest.approx(unit(lines))
    assert found.frames[..., 1] == pytest.approx(np.cross(found.frames[..., 2], found.frames[..., 0]))
    around = np.linspace(0.0, 2.0 * np.pi, 721)
    for frame, normal in zip(found.frames, normals, strict=True):
        others = np.outer(np.cos(around), frame[:, 1]) + np.outer(np.sin(around), frame[:, 2])
        assert frame[:, 2] @ normal >= (others @ normal).max() - EXACT


@pytest.mark.parametrize("through_pole", [True, False])
def test_frames_that_do_not_decide_keep_the_side_of_the_last_one_that_did(through_pole):
    """The line runs at the pole, or along the normal, in frames 0, 2 and 3; then it is gone altogether in frame 4."""
    x, y, z = np.eye(3)
    lines = np.stack([z, x, z, unit(z - 1e-10 * x), 0.0 * z])
    asked = np.tile(z, (5, 1))
    otherwise = np.tile(unit(y + z), (5, 1))
    found = plane_through_pole(lines, 3.0 * asked, 0.0, otherwise) if through_pole else plane_with_normal(asked, lines)
    assert found.held.tolist() == [True, False, True, True, True]
    assert found.frames[:, :, 0] == pytest.approx(np.stack([z, x, z, z, z]), abs=1e-9)
    normals = found.frames[:, :, 2]
    if through_pole:
        assert normals == pytest.approx(np.stack([normals[1]] * 5), abs=1e-9)
        assert np.abs(normals[1]) == pytest.approx(y)
    else:
        assert normals[1] == pytest.approx(z)
    assert np.swapaxes(found.frames, -1, -2) @ found.frames == pytest.approx(np.stack([np.eye(3)] * 5))
    assert np.linalg.det(found.frames) == pytest.approx(np.ones(5))


def test_where_no_frame_decides_the_other_normals_do_square_to_the_line(rng):
    line = unit(np.array([1.0, 2.0, -2.0]))
    lines, otherwise = np.tile(2.0 * line, (6, 1)), rng.normal(size=(6, 3))
    otherwise[-1] = line
    found = plane_through_pole(lines, 5.0 * lines, 0.0, otherwise)
    assert found.held.all()
    assert found.frames[:-1, :, 2] == pytest.approx(unit(otherwise[:-1] - np.outer(otherwise[:-1] @ line, line)))
    assert found.frames[-1].T @ found.frames[-1] == pytest.approx(np.eye(3))


@pytest.mark.parametrize("turned", [False, True])
def test_a_straight_chain_is_hinged_about_its_upper_bones_x_or_where_that_runs_along_it_z(rng, turned):
    """A bone's own X may lean a little, and be the axis along which a chain of unaligned bones runs."""
    own = rotations(rng)
    along = own @ ([1.0, 0.0, 0.0] if turned else [0.1, 0.9, 0.2])
    upper, lower = np.eye(4), np.eye(4)
    upper[:3, :3] = lower[:3, :3] = own
    lower[:3, 3] = along
    bones = (RestBone("upper", upper, None, 1.0, "XYZ"), RestBone("lower", lower, upper, 1.0, "XYZ"))
    found = rest_normal(RestChain(bones, (0, 1), own.T @ along))
    hinge = own[:, 2] if turned else own[:, 0]
    assert found == pytest.approx(unit(hinge - unit(along) * (hinge @ unit(along))))


@pytest.mark.parametrize("bend", [0.3, -0.3, 1e-3])
def test_a_bent_chain_is_hinged_so_that_its_bend_is_counter_clockwise(bend):
    chain = leg_chain(bend)
    first, second = np.diff(chain.rest_joints(), axis=0)
    assert rest_normal(chain) == pytest.approx(unit(np.cross(first, second)))
