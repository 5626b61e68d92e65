"""Letters and signs of planes, and what maps do to them."""

import numpy as np
import pytest

from tests.core.rig.matrices import affine
from twobone_addon.core.rig.plane_frames import (
    carried_frames,
    flat_letters,
    from_plane,
    has_plane,
    in_plane,
    letter_axes,
    nearest_letters,
    out_of_plane,
    thin_letters,
)

EXACT = 1e-12
LETTERS = {"XY": (0, 0, 1), "XZ": (0, -1, 0), "YZ": (1, 0, 0)}
"""Each plane's normal: towards who looks at it in Blender's Top, Front and Right view."""


@pytest.mark.parametrize("letters, normal", LETTERS.items())
def test_letters_name_u_and_v_and_the_normal_looks_at_the_viewer(letters, normal):
    frame = carried_frames(letter_axes(letters), np.eye(3)[None])[0]
    assert frame[:, 0].tolist() == [float(axis == letters[0]) for axis in "XYZ"]
    assert frame[:, 1].tolist() == [float(axis == letters[1]) for axis in "XYZ"]
    assert frame[:, 2].tolist() == list(map(float, normal))


@pytest.mark.parametrize("kind", ["rotated", "scaled", "uneven", "mirrored", "sheared"])
@pytest.mark.parametrize("letters", LETTERS)
def test_a_carried_frame_is_orthonormal_spans_the_carried_plane_and_swaps_no_side(rng, letters, kind):
    maps = affine(rng, 50, kind=kind)[:, :3, :3]
    axes = letter_axes(letters)
    frames = carried_frames(axes, maps)
    assert np.abs(np.swapaxes(frames, -1, -2) @ frames - np.eye(3)).max() <= EXACT
    assert np.abs(np.linalg.det(frames) - 1).max() <= EXACT
    carried = maps @ axes
    assert np.abs(np.einsum("fi,fij->fj", frames[..., 2], carried)).max() <= EXACT * 10
    # Counter-clockwise in the plane's own space, from its u to its v, is counter-clockwise in the frame.
    u, v = (in_plane(frames, carried[..., column]) for column in (0, 1))
    assert np.all(u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0] > 0)


def test_coordinates_in_and_out_of_the_plane_make_up_the_vector(rng):
    frames = affine(rng, 20)[:, :3, :3]
    vectors = rng.normal(size=(20, 3))
    put_together = from_plane(frames, in_plane(frames, vectors)) + frames[..., 2] * out_of_plane(frames, vectors)[:, None]
    assert np.abs(put_together - vectors).max() <= EXACT


def test_a_map_that_flattens_the_plane_is_noticed():
    flat = np.diag([1.0, 0.0, 1.0])
    frames = carried_frames(letter_axes("YZ"), np.stack([np.eye(3), flat, np.zeros((3, 3))]))
    assert has_plane(frames).tolist() == [True, False, False]


@pytest.mark.parametrize(
    "joints, letters, side",
    [
        # A knee bent forwards (Blender's characters look along -Y), from the right: the shin turns counter-clockwise.
        ([(0, 0, 1), (0, -0.1, 0.5), (0, 0, 0)], "YZ", 1),
        ([(0, 0, 1), (0, 0.1, 0.5), (0, 0, 0)], "YZ", -1),
        ([(0, 0, 1), (0.5, 0, 1.2), (1, 0, 1)], "XZ", -1),
        ([(0, 0, 1), (0.5, 0.2, 1), (1, 0, 1)], "XY", -1),
        ([(0, 0, 1), (0.5, -0.2, 1), (1, 0, 1)], "XY", 1),
        # A hind leg, zigzag, whose bends make no area: the side of its knee.
        ([(0, 0, 1), (0, -0.3, 0.7), (0, 0.1, 0.3), (0, -0.1, 0)], "YZ", 1),
        ([(0, 0, 1), (0, 0.3, 0.7), (0, -0.1, 0.3), (0, 0.1, 0)], "YZ", -1),
        ([(0, 0, 1), (0, -0.2, 0.75), (0, 0.2, 0.25), (0, 0, 0)], "YZ", 1),
        # Straight: the plane that holds its length, limbs mostly swing forwards and backwards.
        ([(0, 0, 1), (0, 0, 0.5), (0, 0, 0)], "YZ", 1),
        ([(0, 0, 1), (0.5, 0, 1), (1, 0, 1)], "XZ", 1),
    ],
)
def test_the_letter_plane_of_a_rest_bend(joints, letters, side):
    assert nearest_letters(np.array(joints, dtype=float)) == (letters, side)


@pytest.mark.parametrize(
    "extents, letters",
    [
        ((1.0, 0.8, 0.6), ()),
        ((1.0, 0.8, 0.01), ("XY",)),
        ((1.0, 0.01, 0.8), ("XZ",)),
        ((0.01, 1.0, 0.8), ("YZ",)),
        ((0.01, 1.0, 0.01), ("XY", "YZ")),
        ((0.01, 0.01, 0.01), ("XY", "XZ", "YZ")),
    ],
)
def test_what_is_thin_lies_in_the_planes_across_which_it_is_thin(extents, letters):
    assert set(thin_letters(np.array(extents), 0.1)) == set(letters)
    assert set(thin_letters(100.0 * np.array(extents), 10.0)) == set(letters)


@pytest.mark.parametrize("letters", LETTERS)
def test_points_lie_flat_in_one_plane_or_along_an_axis_in_two_or_in_none(rng, letters):
    points = 3.0 + rng.uniform(-1.0, 1.0, (40, 3))
    assert flat_letters(points) == ()
    normal = np.array(LETTERS[letters])
    flat = points - (points @ normal)[:, None] * normal
    assert flat_letters(flat) == (letters,)
    along = np.array([float(axis == letters[0]) for axis in "XYZ"])
    assert letters in flat_letters(flat * along)
    assert len(flat_letters(flat * along)) == 2
