"""Sides as names tell them, and as they do not."""

import dataclasses

import pytest

from tests.core.limbs.builder import PERSON, found, person
from twobone_addon.core.limbs.finding import find_limbs
from twobone_addon.core.limbs.names import Side, meaning_of


@pytest.mark.parametrize(
    "name, side",
    [
        ("thigh.L", Side.LEFT),
        ("thigh_r", Side.RIGHT),
        ("LeftArm", Side.LEFT),
        ("mixamorig:RightHand", Side.RIGHT),
        ("Bip001 L Thigh", Side.LEFT),
        ("RThumb", Side.RIGHT),
        ("Lefthand", Side.LEFT),
        ("lthigh", Side.LEFT),
        ("rhand", Side.RIGHT),
        ("UpperArmL", Side.LEFT),
        ("左ひじ", Side.LEFT),
        ("右足首", Side.RIGHT),
        ("arm", Side.CENTER),
        ("lower_arm", Side.CENTER),
        ("rear_leg", Side.CENTER),
        ("left_arm_r", Side.CENTER),
        ("", Side.CENTER),
    ],
)
def test_the_side_that_one_name_tells(name, side):
    assert meaning_of(name).side is side


@pytest.mark.parametrize("mirrored", [False, True])
def test_names_outweigh_what_is_seen_whichever_side_they_are_on(mirrored):
    """A rig drawn facing backwards: its left is named right."""
    skeleton = person().skeleton()
    swapped = tuple(name[:-1] + {"L": "R", "R": "L"}[name[-1]] if name[-2] == "." else name for name in skeleton.names)
    assert found(dataclasses.replace(skeleton, names=swapped, mirrored=mirrored)) == PERSON


def test_the_left_limb_of_a_pair_comes_first():
    limbs = find_limbs(person().skeleton()).limbs
    assert [limb.side for limb in limbs] == [Side.LEFT, Side.RIGHT] * 2
