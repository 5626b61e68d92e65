"""Sides as names tell them, and as they do not."""

import dataclasses

import pytest

from tests.limbs.builder import PERSON, found, person
from twobone_addon.limbs.finding import find_limbs
from twobone_addon.limbs.sides import Side, side_by_names


@pytest.mark.parametrize(
    "names, others, side",
    [
        (["thigh.L"], ["thigh.R"], Side.LEFT),
        (["thigh.R"], ["thigh.L"], Side.RIGHT),
        (["LeftArm", "LeftHand"], ["RightArm", "RightHand"], Side.LEFT),
        (["腕.右", "手"], ["腕.左", "手"], Side.RIGHT),
        (["arm_r", "hand_r", "L_fist"], ["arm_l", "hand_l", "R_fist"], Side.RIGHT),
        (["arm.L", "hand.R"], ["arm.R", "hand.L"], Side.CENTER),
        (["arm.L"], ["arm"], Side.CENTER),
        (["arm"], ["arm.L"], Side.CENTER),
        (["arm.R"], ["arm"], Side.CENTER),
        (["arm"], ["arm.R"], Side.CENTER),
        (["arm.L"], ["arm.L.001"], Side.CENTER),
        (["arm.R"], ["arm.R.001"], Side.CENTER),
        (["left_arm_r"], ["right_arm_l"], Side.CENTER),
        ([], [], Side.CENTER),
    ],
)
def test_a_side_is_what_most_names_of_both_sides_agree_on(names, others, side):
    assert side_by_names(names, others) is side
    assert side_by_names(others, names) is side.other


@pytest.mark.parametrize("mirrored", [False, True])
def test_names_outweigh_what_is_seen_whichever_side_they_are_on(mirrored):
    """A rig drawn facing backwards: its left is named right."""
    skeleton = person().skeleton()
    swapped = tuple(name[:-1] + {"L": "R", "R": "L"}[name[-1]] if name[-2] == "." else name for name in skeleton.names)
    assert found(dataclasses.replace(skeleton, names=swapped, mirrored=mirrored)) == PERSON


def test_the_left_limb_of_a_pair_comes_first():
    limbs = find_limbs(person().skeleton()).limbs
    assert [limb.side for limb in limbs] == [Side.LEFT, Side.RIGHT] * 2
