"""Rest poses and builds of people that differ from a T-pose with a slight bend."""

import dataclasses

import numpy as np
import pytest

from tests.core.limbs.builder import FOUR_LEGGED, PERSON, Builder, both_sides, fingers, found, four_legged, legs, person, spine
from tests.core.limbs.poses import ARMS, with_arms


@pytest.mark.parametrize("pose", ARMS)
def test_arms_may_rest_anywhere(pose):
    builder = Builder()
    spine(builder)
    legs(builder)
    assert found(with_arms(builder, ARMS[pose]).skeleton()) == PERSON


def test_legs_of_a_cut_out_seen_from_the_side_begin_in_one_place():
    builder = Builder()
    spine(builder)
    for side in "LR":
        builder.chain(
            "hips", (f"thigh.{side}", (0, 0, 1.0)), (f"shin.{side}", (-0.03, 0, 0.5)), (f"foot.{side}", (0.02, 0, 0.08)),
            (f"toe.{side}", (-0.12, 0, 0.02)),
        )  # fmt: skip
        builder.chain(
            "chest", (f"upper_arm.{side}", (0, 0, 1.45)), (f"forearm.{side}", (0.02, 0, 1.15)), (f"hand.{side}", (-0.03, 0, 0.9))
        )
    assert found(builder.skeleton()) == PERSON


def test_a_bust_has_arms_and_no_legs():
    builder = Builder()
    builder.bone("waist", "", (0, 0, 1.0))
    builder.chain("waist", ("chest", (0, 0, 1.25)), ("neck", (0, 0, 1.5)), ("head", (0, 0, 1.6)))
    with_arms(builder, ARMS["down"])
    for number in range(4):
        joints = ((f"finger{number}{n}.{{}}", (0.24, -0.06 + 0.02 * number, 0.79 - 0.03 * n)) for n in range(3))
        builder.both("hand.{}", *joints)
    assert found(builder.skeleton()) == both_sides("ARM", "upper_arm.{}", "forearm.{}", "hand.{}")


def test_limbs_cut_into_halves_that_are_exactly_straight():
    builder = Builder()
    spine(builder)
    builder.both(
        "hips", ("thigh.{}", (0.1, 0, 0.95)), ("thigh2.{}", (0.1, 0, 0.725)), ("shin.{}", (0.1, 0, 0.5)),
        ("shin2.{}", (0.1, 0, 0.29)), ("foot.{}", (0.1, 0, 0.08)), ("toe.{}", (0.1, -0.14, 0.02)),
    )  # fmt: skip
    builder.both(
        "chest", ("clavicle.{}", (0.05, 0, 1.4)), ("upper_arm.{}", (0.18, 0, 1.45)), ("upper_arm2.{}", (0.31, 0, 1.45)),
        ("forearm.{}", (0.44, 0, 1.45)), ("forearm2.{}", (0.57, 0, 1.45)), ("hand.{}", (0.7, 0, 1.45)),
    )  # fmt: skip
    fingers(builder)
    assert found(builder.skeleton()) == PERSON


def test_helpers_at_the_hips_and_several_roots_are_passed_over():
    builder = Builder()
    builder.bone("origin", "", (0, 0, 0))
    builder.bone("control", "origin", (0, 0, 0))
    builder.bone("hips", "control", (0, 0, 1.0))
    builder.chain("hips", ("chest", (0, 0.02, 1.25)), ("neck", (0, 0.01, 1.5)), ("head", (0, 0, 1.6)))
    builder.both(
        "hips", ("helper.{}", (0.05, 0, 1.0)), ("thigh.{}", (0.1, 0, 0.95)), ("shin.{}", (0.1, -0.02, 0.5)),
        ("foot.{}", (0.1, 0.02, 0.08)), ("toe.{}", (0.1, -0.12, 0.02)),
    )  # fmt: skip
    assert found(with_arms(builder, ARMS["straight out"]).skeleton()) == PERSON


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("make, limbs", [(person, PERSON), (four_legged, FOUR_LEGGED)])
def test_sides_need_not_be_exactly_alike(make, limbs, seed):
    """Scans and motion capture: every joint is off by some millimetres, and tails point anywhere."""
    skeleton, random = make().skeleton(), np.random.default_rng(seed)
    off = random.normal(size=skeleton.heads.shape)
    assert found(dataclasses.replace(skeleton, heads=skeleton.heads + 0.004 * off, tails=skeleton.heads + 0.1 * off)) == limbs
