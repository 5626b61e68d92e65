"""One-armed figures: the arm that is left is found by its names, and nothing else is taken for one."""

import dataclasses

import numpy as np
import pytest

from tests.core.limbs.builder import PERSON, Builder, found, legs, person, renamed, spine
from tests.core.limbs.characters import ALL
from tests.core.limbs.poses import ARMS, lying_anyhow, posed, ways_up, with_arms

LEGS = {limb for limb in PERSON if limb[0] == "LEG"}
LEFT_OVER = LEGS | {limb for limb in PERSON if limb[:2] == ("ARM", "LEFT")}
BONES = {"mixamo": "mixamorig:RightShoulder", "mannequin": "upperarm_r", "body_model": "collar.R", "chibi": "clavicle.R",
         "centaur": "upper_arm.R", "gown": "clavicle.R"}  # fmt: skip
"""By character, the bone with which its right arm goes."""


def without(skeleton, name):
    """The skeleton without a bone and all that hangs from it; none of these copy others."""
    cut = skeleton.names.index(name)
    left = [bone for bone in range(len(skeleton.names)) if cut not in ways_up(skeleton, bone)]
    parents = tuple(left.index(skeleton.parents[bone]) if skeleton.parents[bone] >= 0 else -1 for bone in left)
    return dataclasses.replace(
        skeleton, names=tuple(skeleton.names[bone] for bone in left), parents=parents, heads=skeleton.heads[left],
        tails=skeleton.tails[left], deforms=tuple(skeleton.deforms[bone] for bone in left),
    )  # fmt: skip


@pytest.mark.parametrize("name", BONES)
def test_the_arm_that_is_left_is_found(name):
    make, limbs = ALL[name]
    skeleton = without(make().skeleton(), BONES[name])
    assert found(skeleton) == {limb for limb in limbs if limb[2] in skeleton.names}


@pytest.mark.parametrize("pose", ARMS)
def test_it_may_rest_anywhere_and_have_no_fingers(pose):
    builder = Builder()
    spine(builder)
    legs(builder)
    assert found(without(with_arms(builder, ARMS[pose]).skeleton(), "clavicle.R")) == LEFT_OVER


@pytest.mark.parametrize("seed", range(6))
def test_a_posed_rest_makes_no_difference_and_without_names_there_are_its_legs(seed):
    skeleton = without(posed(person().skeleton(), np.random.default_rng(seed), 0.35), "clavicle.R")
    assert found(skeleton) == LEFT_OVER
    nameless, before = renamed(skeleton, seed)
    assert {(kind, *(before[name] for name in bones)) for kind, _, *bones in found(nameless)} == {
        (kind, *bones) for kind, _, *bones in LEGS
    }


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["mixamo", "centaur", "gown"])
def test_lying_anyhow_at_any_size_changes_nothing(name, seed):
    make, limbs = ALL[name]
    skeleton = without(make().skeleton(), BONES[name])
    assert found(lying_anyhow(skeleton, seed)) == {limb for limb in limbs if limb[2] in skeleton.names}


def test_its_name_outweighs_a_mirrored_objects_sides():
    skeleton = without(person().skeleton(), "clavicle.R")
    assert found(dataclasses.replace(skeleton, mirrored=True)) == LEFT_OVER


@pytest.mark.parametrize("depth", [0.0, 0.02])
def test_hips_of_a_flat_figure_may_be_one_place(depth):
    """A paper doll seen from the front."""
    builder = Builder()
    spine(builder)
    for side, x in (("L", 1.0), ("R", -1.0)):
        builder.chain(
            "hips", (f"thigh.{side}", (0.0, 0, 0.95)), (f"shin.{side}", (0.1 * x, -depth, 0.5)),
            (f"foot.{side}", (0.15 * x, 0, 0.08)), (f"toe.{side}", (0.22 * x, -0.05, 0.02)),
        )  # fmt: skip
    assert found(without(with_arms(builder, ARMS["down and out"]).skeleton(), "clavicle.R")) == LEFT_OVER


ASIDE = {
    "scabbard": ("hips", ((0.15, 0, 0.95), (0.2, 0.1, 0.7), (0.22, 0.2, 0.4))),
    "ponytail": ("head", ((0.1, 0.05, 1.7), (0.13, 0.05, 1.45), (0.16, 0.05, 1.2))),
    "cape": ("chest", tuple((0.15 + 0.02 * n, 0.1, 1.4 - 0.2 * n) for n in range(5))),
    "cannon": ("chest", ((0.15, 0.1, 1.5), (0.2, 0, 1.6), (0.2, -0.5, 1.6))),
}
"""By name: the bone that it hangs from, and its joints."""


@pytest.mark.parametrize("thing", ASIDE)
def test_what_else_hangs_on_one_side_is_no_arm(thing):
    parent, joints = ASIDE[thing]
    builder = Builder()
    spine(builder)
    legs(builder)
    builder.chain(parent, *((f"{thing}{number}", place) for number, place in enumerate(joints)))
    assert found(builder.skeleton()) == LEGS
