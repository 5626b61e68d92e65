"""Limits of bones about their own axes are those angles of the chain that bones turned to them make."""

import numpy as np
import pytest

from tests.core.rig.matrices import rotations
from tests.core.rig.turns import about, placed
from twobone_addon.core.rig.bones import RestBone, RestChain
from twobone_addon.core.rig.hinges import joint_limits_in_plane


@pytest.mark.parametrize("axis", [0, 2])
@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("rest_bend", [0.4, -0.9])
def test_a_bone_turned_to_its_limit_makes_the_angle_of_the_limit(rng, axis, sign, rest_bend):
    world = rotations(rng)
    normal, turns = world[:, 2], rng.uniform(0.1, 0.8, (2, 3, 2)) * [-1.0, 1.0]
    directions = [world @ [np.cos(angle), np.sin(angle), 0.0] for angle in (0.3, 0.3 + rest_bend)]
    bones, head = [], rng.normal(size=3)
    for direction, name in zip(directions, ("upper", "lower"), strict=True):
        own = np.empty((3, 3))
        own[:, 1], own[:, axis] = direction, sign * normal
        own[:, 2 - axis] = np.cross(own[:, 1], own[:, 2]) if axis == 2 else np.cross(own[:, 0], own[:, 1])
        bones.append(RestBone(name, placed(own, head), None, 1.0, "XYZ"))
        head = head + direction
    chain = RestChain(tuple(bones), (0, 1), np.array([0.0, 1.0, 0.0]))

    def angle_after(turn):
        """Counter-clockwise around the normal, from the upper link to the lower one after its bone's turn."""
        turned = about(sign * normal, turn) @ directions[1]
        return np.arctan2(np.cross(directions[0], turned) @ normal, directions[0] @ turned)

    limits = joint_limits_in_plane(chain, normal, turns)
    assert limits[0] == pytest.approx(np.sort(sign * turns[0, axis]))
    assert limits[1] == pytest.approx(np.sort([angle_after(turn) for turn in turns[1, axis]]))


def test_a_whole_turn_is_no_limit():
    bones = (RestBone("upper", np.eye(4), None, 1.0, "XYZ"), RestBone("lower", placed(np.eye(3), (0, 1, 0)), None, 1.0, "XYZ"))
    chain = RestChain(bones, (0, 1), np.array([0.0, 1.0, 0.0]))
    turns = np.full((2, 3, 2), [-np.pi, np.pi])
    turns[0] = [-np.inf, np.inf]
    wide = joint_limits_in_plane(chain, np.array([1.0, 0.0, 0.0]), turns)
    assert wide.tolist() == [[-np.pi, np.pi], [-np.pi, np.pi]]
    turns[1, 0] = [-3.0, 3.2]
    assert joint_limits_in_plane(chain, np.array([1.0, 0.0, 0.0]), turns)[1].tolist() == [-3.0, 3.2]
