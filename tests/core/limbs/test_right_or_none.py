"""What makes Find Limbs sure: weights, names that both sides share, ends that are no bones; and what it then leaves out."""

import dataclasses
import random

import numpy as np
import pytest

from tests.core.limbs.builder import PERSON, Builder, both_sides, found, legs, person, spine
from twobone_addon.core.limbs.body.shapes import Reason
from twobone_addon.core.limbs.finding import find_limbs
from twobone_addon.core.limbs.names import NameReading

LEG = ("thigh.{}", (0.1, 0, 0.95)), ("shin.{}", (0.1, -0.02, 0.5))
ANKLE = (0.1, 0.02, 0.08)


def weighted(builder, *without):
    """The skeleton of a builder with a mesh on all bones but those whose names have one of some words."""
    carries = tuple(not any(word in name for word in without) for name in builder.names)
    return builder.skeleton(weighted=carries)


def with_feet_beside():
    """A person whose shins end in an exporter's leaf, and whose feet hang from the root beside them."""
    builder = Builder()
    builder.bone("root", "", (0, 0, 0))
    spine(builder)
    builder.parents[builder.names.index("hips")] = 0
    builder.both("hips", *LEG, ("shin_end.{}", ANKLE))
    builder.both("root", ("foot.{}", ANKLE), ("foot_end.{}", (0.1, -0.12, 0.02)))
    return builder


def test_the_named_foot_beside_its_leg_is_the_tip_and_not_the_leaf():
    assert found(weighted(with_feet_beside(), "end")) == both_sides("LEG", "thigh.{}", "shin.{}", "foot.{}")


def test_a_foot_that_carries_nothing_is_a_control_and_the_leaf_is_the_tip():
    ends = found(weighted(with_feet_beside(), "end", "foot"))
    assert ends == both_sides("LEG", "thigh.{}", "shin.{}", "shin_end.{}")


def test_copies_of_limbs_that_carry_nothing_are_none():
    """A layer of bones for IK beside the one that carries the mesh, as a rig exported with its controls has."""
    builder = person()
    builder.both("hips", ("ik_thigh.{}", (0.14, 0, 0.95)), ("ik_shin.{}", (0.14, -0.02, 0.5)), ("ik_foot.{}", (0.14, 0.02, 0.08)))
    assert found(weighted(builder, "ik_")) == PERSON


def raptor(height):
    """Two pairs of legs by their names, of which one ends at a height above the ground."""
    builder = Builder()
    builder.bone("hips", "", (0, 0.3, 1.0))
    builder.chain("hips", ("chest", (0, -0.3, 1.0)), ("neck", (0, -0.5, 1.2)), ("head", (0, -0.7, 1.4)))
    builder.both(
        "hips", ("BackUpLeg.{}", (0.12, 0.3, 0.95)), ("BackLowLeg.{}", (0.12, 0.22, 0.5)), ("BackFoot.{}", (0.12, 0.32, 0.05)),
        ("BackToe.{}", (0.12, 0.2, 0.0)),
    )  # fmt: skip
    root = 0.95
    builder.both(
        "chest", ("FrontUpLeg.{}", (0.12, -0.3, root)), ("FrontLowLeg.{}", (0.12, -0.24, (root + height) / 2.0)),
        ("FrontFoot.{}", (0.12, -0.3, height)), ("FrontToe.{}", (0.12, -0.4, height - 0.02)),
    )  # fmt: skip
    return builder


@pytest.mark.parametrize("height, kind", [(0.05, "LEG"), (0.2, "LEG"), (0.5, "ARM"), (0.7, "ARM")])
def test_of_two_pairs_named_legs_one_that_ends_high_is_arms(height, kind):
    expected = both_sides("LEG", "BackUpLeg.{}", "BackLowLeg.{}", "BackFoot.{}") | both_sides(
        kind, "FrontUpLeg.{}", "FrontLowLeg.{}", "FrontFoot.{}"
    )
    assert found(raptor(height).skeleton()) == expected


def test_hind_legs_are_legs_however_high_they_end():
    """A beetle that carries something between them."""
    builder = raptor(0.05)
    back = {name: number for number, name in enumerate(builder.names) if name.startswith("Back")}
    skeleton = builder.skeleton()
    heads, tails = skeleton.heads.copy(), skeleton.tails.copy()
    for name, number in back.items():
        up = 0.0 if "UpLeg" in name else 0.5
        heads[number] += (0, up, up)
        tails[number] += (0, 0.5, 0.5)
    raised = dataclasses.replace(skeleton, heads=heads, tails=tails)
    assert {limb[:3] for limb in found(raised)} >= {("LEG", "LEFT", "BackUpLeg.L"), ("LEG", "RIGHT", "BackUpLeg.R")}


def test_of_bones_that_numbers_tell_apart_the_first_is_the_upper_one():
    builder = Builder()
    builder.bone("thorax", "", (0, 0, 0.4))
    for word, y in (("Front", -0.2), ("Mid", 0.0), ("Back", 0.2)):
        builder.both(
            "thorax", (f"{word}Leg1.{{}}", (0.1, y, 0.4)), (f"{word}Leg2.{{}}", (0.3, 1.5 * y, 0.5)),
            (f"{word}Leg3.{{}}", (0.5, 2.0 * y, 0.25)), (f"{word}Leg4.{{}}", (0.6, 2.2 * y, 0.0)),
        )  # fmt: skip
    limbs = find_limbs(builder.skeleton()).limbs
    words = "Front", "Mid", "Back"
    assert {(limb.upper, limb.lower, limb.tip) for limb in limbs} == {
        tuple(f"{word}Leg{number}.{side}" for number in (1, 2, 3)) for word in words for side in "LR"
    }
    order = sorted((limb.place.number, limb.upper) for limb in limbs if limb.side.value == "LEFT")
    assert [upper for _, upper in order] == [f"{word}Leg1.L" for word in words]


def test_a_leg_with_a_joint_more_is_left_out_as_one_of_three_links():
    builder = Builder()
    spine(builder)
    builder.both(
        "hips", ("thigh.{}", (0.1, 0, 0.95)), ("leg.{}", (0.1, -0.15, 0.65)), ("shin.{}", (0.1, 0.1, 0.35)),
        ("foot.{}", (0.1, 0.02, 0.08)), ("toe.{}", (0.1, -0.12, 0.02)),
    )  # fmt: skip
    findings = find_limbs(builder.skeleton())
    assert not findings.limbs
    assert {frozenset(entry.bones): entry.reason for entry in findings.left_out}[
        frozenset({"thigh.L", "thigh.R"})
    ] is Reason.LINKS  # fmt: skip


def test_a_copys_name_says_nothing_though_its_side_is_read():
    """A bone that was duplicated and kept its name but for a number: it may be anything."""
    reading = NameReading(("hips", "thigh.L", "thigh.R", "thigh.L.001", "shin.L.001"), (-1, 0, 0, 0, 3))
    assert reading.meanings[3].ranks == {}
    assert reading.meanings[4].ranks != {}


def test_an_exporters_count_and_bones_in_pieces_leave_names_what_they_are():
    """`DEF-shin.R_017` hangs from `DEF-thigh.R.001_016`, which is a piece of `DEF-thigh.R_015`, as its namesake does."""
    builder = Builder()
    spine(builder)
    builder.both(
        "hips", ("DEF-thigh.{}", (0.1, 0, 0.95)), ("DEF-thigh.{}.001", (0.1, -0.01, 0.725)), ("DEF-shin.{}", (0.1, -0.02, 0.5)),
        ("DEF-shin.{}.001", (0.1, 0, 0.29)), ("DEF-foot.{}", ANKLE), ("DEF-toe.{}", (0.1, -0.12, 0.02)),
    )  # fmt: skip
    skeleton = builder.skeleton()
    assert NameReading(skeleton.names, skeleton.parents).is_trusted
    counted = dataclasses.replace(skeleton, names=tuple(f"{name}_{number:03}" for number, name in enumerate(skeleton.names)))
    before = dict(zip(counted.names, skeleton.names, strict=True))
    limbs = both_sides("LEG", "DEF-thigh.{}", "DEF-shin.{}", "DEF-foot.{}")
    assert found(skeleton) == limbs
    assert {(kind, side, *(before[bone] for bone in bones)) for kind, side, *bones in found(counted)} == limbs


@pytest.mark.parametrize("word", ["wing", "fin", "antenna"])
def test_a_pair_of_which_one_bone_is_named_so_is_no_limb(word):
    builder = Builder()
    spine(builder)
    legs(builder)
    builder.both("chest", (f"{word}.{{}}", (0.18, 0, 1.45)), ("part1.{}", (0.45, 0.01, 1.45)), ("part2.{}", (0.7, 0, 1.45)))
    assert found(builder.skeleton()) == both_sides("LEG", "thigh.{}", "shin.{}", "foot.{}")


@pytest.mark.parametrize("seed", range(3))
def test_names_of_others_with_poses_that_differ_give_nothing_and_say_so(seed):
    """Names that hang otherwise than their namesakes say nothing; and where poses do not agree either, nothing is listed."""
    skeleton = weighted(with_feet_beside(), "end")
    names = list(skeleton.names)
    random.Random(seed).shuffle(names)  # noqa: S311 - no secret
    poses = np.repeat(np.stack([skeleton.heads, skeleton.tails], axis=1)[None], 3, axis=0)
    for side in "LR":
        knee = skeleton.names.index(f"shin.{side}")
        below = [bone for bone in range(len(skeleton.names)) if knee in skeleton.way_up(bone)]
        poses[2][below] += (0.0, 0.4, 0.5)
    findings = find_limbs(dataclasses.replace(skeleton, names=tuple(names), poses=poses))
    assert not findings.limbs


def test_the_order_of_poses_makes_no_difference():
    skeleton = weighted(with_feet_beside(), "end")
    noise = np.random.default_rng(1).normal(scale=0.02, size=(6, len(skeleton.names), 1, 3))
    poses = np.stack([skeleton.heads, skeleton.tails], axis=1)[None] + noise
    answers = [find_limbs(dataclasses.replace(skeleton, poses=each)).limbs for each in (poses, poses[::-1], poses[:3])]
    assert answers[0] == answers[1] == answers[2] != ()
