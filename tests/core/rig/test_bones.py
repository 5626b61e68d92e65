"""The plane in which joints bend, and where they are at rest."""

import numpy as np
import pytest

from tests.core.rig.matrices import affine, limb, rotations
from twobone_addon.core.rig.bones import RestBone, RestChain, bend_area


def zigzag(turns, lengths):
    """Joints in the XY plane whose links turn by these angles one after the other."""
    angles = np.cumsum([0.4, *turns])
    links = np.array(lengths)[:, np.newaxis] * np.stack([np.cos(angles), np.sin(angles), 0.0 * angles], axis=-1)
    return np.concatenate([np.zeros((1, 3)), np.cumsum(links, axis=0)])


@pytest.mark.parametrize(
    "turns, lengths",
    [
        ([0.3], [1.0, 2.0]),
        ([-0.3], [1.0, 2.0]),
        ([0.5, 0.4, 0.3], [1.0, 0.5, 2.0, 1.0]),
        ([0.5, -0.4, 0.3], [1.0, 0.5, 2.0, 1.0]),
        ([-0.5, 0.4, 0.3], [1.0, 0.5, 2.0, 1.0]),
        ([0.0, -0.4, 0.3], [1.0, 0.5, 2.0, 1.0]),
        ([1e-9, -0.4, 0.3], [1.0, 0.5, 2.0, 1.0]),
        ([1e-12, -1e-5], [1.0, 1.0, 1.0]),
        ([0.5, -0.4], [1.0, 1e-5, 10.0]),
        ([0.0, 0.0], [1.0, 2.0, 3.0]),
    ],
)
def test_bends_count_to_the_side_of_the_first_clear_one_by_the_areas_that_they_span(turns, lengths):
    areas = [first * second * np.sin(turn) for first, second, turn in zip(lengths, lengths[1:], turns, strict=False)]
    first = next((turn for turn in turns if abs(turn) > 1e-6), 0.0)
    wanted = np.sign(first) * sum(abs(area) for area in areas)
    rng = np.random.default_rng(4)
    for size in (1e-4, 1.0, 1e4):
        turn, offset = rotations(rng), rng.normal(size=3)
        joints = size * (zigzag(turns, lengths) @ turn.T + offset)
        assert bend_area(joints) == pytest.approx(size**2 * wanted * turn[:, 2], abs=1e-7 * size**2)


def test_each_frame_bends_as_it_does_alone(rng):
    joints = rng.normal(size=(3, 20, 5, 3))
    alone = np.array([[bend_area(each) for each in row] for row in joints])
    assert bend_area(joints) == pytest.approx(alone)


def test_a_link_without_length_spans_nothing():
    joints = np.array([[0.0, 0, 0], [1, 0, 0], [1, 0, 0], [2, 1, 0]])
    assert bend_area(joints).tolist() == [0.0, 0.0, 0.0]
    longer = np.concatenate([joints, [[2.0, 2.0, 0.0]]])
    assert bend_area(longer).tolist() == [0.0, 0.0, 1.0]


def test_joints_at_rest_are_heads_and_the_tip_in_its_bones_space(rng):
    chain = limb(rng)
    upper, lower = (bone.rest for bone in chain.bones)
    assert chain.rest_joints() == pytest.approx(np.stack([upper[:3, 3], lower[:3, 3], (lower @ [0.0, 1.3, 0.0, 1.0])[:3]]))
    twist = affine(rng)
    between = RestChain((chain.bones[0], RestBone("twist", twist, upper, 0.5, "XYZ"), chain.bones[1]), (0, 2), np.zeros(3))
    assert between.rest_joints() == pytest.approx(np.stack([upper[:3, 3], lower[:3, 3], lower[:3, 3]]))
    assert (between.upper.name, between.lower.name) == ("upper", "lower")
