"""Arms and legs of drawn skeletons, and nothing else of them."""

import dataclasses

import numpy as np
import pytest

from tests.core.limbs.builder import (
    FOUR_LEGGED,
    PERSON,
    Builder,
    arms,
    both_sides,
    found,
    four_legged,
    legs,
    moved,
    person,
    renamed,
    spine,
)
from tests.core.limbs.poses import TURNS, posed
from twobone_addon.core.limbs.finding import find_limbs
from twobone_addon.core.limbs.skeleton import Skeleton


def test_a_persons_four_limbs_with_their_toes():
    limbs = find_limbs(person().skeleton()).limbs
    assert found(person().skeleton()) == PERSON
    assert {limb.upper: limb.toe for limb in limbs} == {
        "thigh.L": "toe.L", "thigh.R": "toe.R", "upper_arm.L": "", "upper_arm.R": ""
    }  # fmt: skip
    assert not any(limb.tip_at_tail for limb in limbs)


@pytest.mark.parametrize("make, limbs", [(person, PERSON), (four_legged, FOUR_LEGGED)])
@pytest.mark.parametrize("size", [0.01, 1.0, 139.0])
@pytest.mark.parametrize("turn", TURNS, ids=str)
def test_axes_and_units_make_no_difference(make, limbs, turn, size):
    linear = np.array(TURNS[turn], dtype=float)
    linear *= size * np.sign(np.linalg.det(linear))
    assert found(moved(make().skeleton(), linear, offset=(3.0 * size, -size, size))) == limbs


@pytest.mark.parametrize("make, limbs", [(person, PERSON), (four_legged, FOUR_LEGGED)])
@pytest.mark.parametrize("seed", range(5))
def test_names_make_no_difference_and_sides_are_seen(make, limbs, seed):
    skeleton, before = renamed(make().skeleton(), seed)
    again = {(kind, side, *(before[name] for name in bones)) for kind, side, *bones in found(skeleton)}
    assert again == limbs


def test_a_mirrored_object_swaps_the_sides_that_are_seen_not_those_that_are_named():
    mirrored = dataclasses.replace(person().skeleton(), mirrored=True)
    assert found(mirrored) == PERSON
    nameless, before = renamed(mirrored, 1)
    assert {side for _, side, upper, *_ in found(nameless) if before[upper].endswith(".L")} == {"RIGHT"}


def test_front_legs_come_before_hind_legs():
    limbs = [limb for limb in find_limbs(four_legged().skeleton()).limbs if limb.side.value == "LEFT"]
    assert [(limb.upper, limb.place.number, limb.place.count) for limb in limbs] == [("front_thigh.L", 0, 2), ("thigh.L", 1, 2)]


def test_names_say_which_legs_are_in_front_where_the_body_does_not():
    """A giant lizard that stands on its hind legs carries its head behind its front."""
    skeleton = four_legged().skeleton()
    words = [("front_", "back_"), ("thigh", "front_thigh"), ("shin", "front_shin")]

    def called(name):
        return next((name.replace(old, new) for old, new in words if name.startswith(old)), name)

    limbs = find_limbs(dataclasses.replace(skeleton, names=tuple(map(called, skeleton.names)))).limbs
    numbers = {limb.upper: limb.place.number for limb in limbs if limb.side.value == "LEFT"}
    assert numbers == {"front_thigh.L": 0, "back_thigh.L": 1}


@pytest.mark.parametrize("seed", range(6))
def test_a_posed_rest_makes_no_difference(seed):
    """Every joint of a person is turned a little, so that no side mirrors the other any more."""
    skeleton, random = person().skeleton(), np.random.default_rng(seed)
    assert found(posed(skeleton, random, 0.35)) == PERSON


def test_two_characters_in_one_armature():
    builder = Builder()
    builder.bone("root", "", (0, 0, 0))
    for who, x in (("a", 0.0), ("b", 2.0)):
        own = person()
        for number, name in enumerate(own.names):
            above = own.names[own.parents[number]] if own.parents[number] >= 0 else None
            head = (own.heads[number][0] + x, *own.heads[number][1:])
            parent = f"{who}_{above}" if above else "root"
            builder.bone(f"{who}_{name}", parent, head)
    expected = {(kind, side, *(f"{who}_{name}" for name in names)) for who in "ab" for kind, side, *names in PERSON}
    assert found(builder.skeleton()) == expected


@pytest.mark.parametrize("make, limbs", [(person, PERSON), (four_legged, FOUR_LEGGED)])
@pytest.mark.parametrize("size", [0.1, 0.3, 5.0])
def test_each_of_two_characters_is_judged_by_its_own_size(make, limbs, size):
    """A person and a much smaller or larger person or animal at its side."""
    builder = Builder()
    builder.bone("root", "", (0, 0, 0))
    for who, own, x, scale in (("a", person(), 0.0, 1.0), ("b", make(), 3.0, size)):
        for number, name in enumerate(own.names):
            above = f"{who}_{own.names[own.parents[number]]}" if own.parents[number] >= 0 else "root"
            across, *place = own.heads[number]
            builder.bone(f"{who}_{name}", above, (x + scale * across, *(scale * each for each in place)))
    expected = {
        (kind, side, *(f"{who}_{name}" for name in names))
        for who, own in (("a", PERSON), ("b", limbs))
        for kind, side, *names in own
    }
    assert found(builder.skeleton()) == expected


def test_a_thigh_that_begins_where_the_hips_do():
    builder = Builder()
    spine(builder)
    arms(builder, clavicle=False)
    builder.both("hips", ("thigh.{}", (0, 0, 1.0)), ("shin.{}", (0.05, -0.02, 0.5)), ("foot.{}", (0.1, 0.02, 0.08)))
    assert found(builder.skeleton()) == PERSON


def test_no_bones_no_limbs():
    nothing = Skeleton((), (), np.zeros((0, 3)), np.zeros((0, 3)), ())
    assert find_limbs(nothing).limbs == ()


def test_bones_that_deform_hang_loose_and_copy_controls():
    """As rig generators make it: a control layer with the hierarchy, and loose halves of bones that deform."""
    builder = Builder()
    builder.bone("root", "", (0, 0, 0), deform=False)
    plain = person()
    for number, name in enumerate(plain.names):
        above = plain.names[plain.parents[number]] if plain.parents[number] >= 0 else "root"
        builder.bone(name, above, plain.heads[number], plain.tails[number], deform=False)
    for number, name in enumerate(plain.names):
        builder.bone(f"DEF-{name}", "root", plain.heads[number], plain.tails[number])
        builder.follow(f"DEF-{name}", name)
    assert found(builder.skeleton()) == PERSON


def test_twist_bones_between_the_joints_are_passed_over():
    builder = Builder()
    spine(builder)
    builder.both(
        "hips", ("thigh.{}", (0.1, 0, 0.95)), ("thigh_twist.{}", (0.1, -0.02, 0.725)), ("shin.{}", (0.1, -0.04, 0.5)),
        ("shin_twist.{}", (0.1, -0.01, 0.29)), ("foot.{}", (0.1, 0.02, 0.08)), ("toe.{}", (0.1, -0.12, 0.02)),
    )  # fmt: skip
    builder.both(
        "chest", ("clavicle.{}", (0.03, 0, 1.45)), ("upper_arm.{}", (0.18, 0, 1.45)), ("upper_twist.{}", (0.31, 0.02, 1.45)),
        ("forearm.{}", (0.44, 0.04, 1.45)), ("fore_twist.{}", (0.57, 0.02, 1.45)), ("hand.{}", (0.7, 0, 1.45)),
    )  # fmt: skip
    assert found(builder.skeleton()) == PERSON


def test_limbs_without_hands_and_feet_end_at_their_lower_bones_tails():
    builder = Builder()
    spine(builder)
    for side, sign in (("L", 1.0), ("R", -1.0)):
        builder.bone(f"thigh.{side}", "hips", (0.1 * sign, 0, 0.95))
        builder.bone(f"shin.{side}", f"thigh.{side}", (0.1 * sign, -0.02, 0.5), (0.1 * sign, 0.02, 0.08))
        builder.bone(f"upper_arm.{side}", "chest", (0.18 * sign, 0, 1.45))
        builder.bone(f"forearm.{side}", f"upper_arm.{side}", (0.45 * sign, 0.02, 1.45), (0.7 * sign, 0, 1.45))
    skeleton = builder.skeleton()
    ends = both_sides("LEG", "thigh.{}", "shin.{}", "shin.{}") | both_sides("ARM", "upper_arm.{}", "forearm.{}", "forearm.{}")
    assert found(skeleton) == ends
    assert all(limb.tip_at_tail for limb in find_limbs(skeleton).limbs)
    assert {limb.toe for limb in find_limbs(skeleton).limbs} == {""}


@pytest.mark.parametrize("deforming", [(), ("hips", "spine", "head"), ("clavicle.L", "clavicle.R")])
def test_where_hardly_any_bones_deform_all_are_looked_at(deforming):
    """Figures of rigid parts that hang from bones."""
    skeleton = person().skeleton()
    assert found(dataclasses.replace(skeleton, deforms=tuple(name in deforming for name in skeleton.names))) == PERSON


def test_helpers_that_all_begin_at_one_place_are_no_limbs():
    builder = person()
    builder.both(
        "head", ("eye.{}", (0.03, -0.08, 1.65)), ("eye_turn.{}", (0.03, -0.08, 1.65)), ("eye_aim.{}", (0.03, -0.08, 1.65))
    )
    assert found(builder.skeleton()) == PERSON


def test_legs_alone():
    builder = Builder()
    builder.bone("hips", "", (0, 0, 1.0))
    legs(builder)
    assert found(builder.skeleton()) == both_sides("LEG", "thigh.{}", "shin.{}", "foot.{}")
