"""The characters of table.txt: all their limbs by their names, and nothing wrong without."""

import dataclasses
import random

import pytest

from tests.core.limbs.builder import found, renamed
from tests.core.limbs.table import read_table
from twobone_addon.core.limbs.body.shapes import Reason
from twobone_addon.core.limbs.finding import find_limbs
from twobone_addon.core.limbs.tree.candidates import Anatomy
from twobone_addon.core.limbs.tree.joints import joint_tree

TABLE = read_table()


@pytest.mark.parametrize("name", TABLE)
def test_all_limbs_and_no_others_by_their_names(name):
    skeleton, limbs = TABLE[name]
    assert found(skeleton) == limbs
    ends = {limb.upper: limb.tip_at_tail for limb in find_limbs(skeleton).limbs}
    assert ends == {upper: lower == tip for _, _, upper, lower, tip in limbs}


@pytest.mark.parametrize("name", TABLE)
def test_without_names_nothing_wrong_is_listed(name):
    skeleton, limbs = TABLE[name]
    nameless, before = renamed(skeleton, 1)
    seen = {(limb.kind.value, before[limb.upper], before[limb.lower], before[limb.tip]) for limb in find_limbs(nameless).limbs}
    assert seen <= {(kind, *bones) for kind, _, *bones in limbs}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", TABLE)
def test_permuted_names_give_exactly_what_no_names_give(name, seed):
    skeleton, _ = TABLE[name]
    names = list(skeleton.names)
    random.Random(seed).shuffle(names)  # noqa: S311 - no secret
    permuted = dataclasses.replace(skeleton, names=tuple(names))
    nameless, _ = renamed(skeleton, seed)
    meant = dict(zip(nameless.names, names, strict=True))
    expected = {(kind, side, *(meant[bone] for bone in bones)) for kind, side, *bones in found(nameless)}
    assert found(permuted) == expected


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("name", TABLE)
def test_each_pair_of_branches_is_a_limb_or_is_left_out_for_a_reason(name, named):
    skeleton, _ = TABLE[name]
    skeleton = skeleton if named else renamed(skeleton, 1)[0]
    findings, tree = find_limbs(skeleton), joint_tree(skeleton, skeleton.deforms)
    listed = {bone for limb in findings.limbs for bone in skeleton.way_up(skeleton.names.index(limb.upper))}
    left_out = [bone for entry in findings.left_out for bone in entry.bones]
    assert len(set(left_out)) == len(left_out)
    for pair in Anatomy(tree).pairs:
        for first in (tree.bones[joint][0] for joint in (pair.match.first, pair.match.second)):
            assert (first in listed) != (skeleton.names[first] in left_out)


def test_what_names_decide_against_the_shape_is_told():
    """A robot's broad fingers fan out like a wing, and its legs are plain."""
    skeleton, _ = TABLE["robot"]
    against = {limb.upper: limb.against for limb in find_limbs(skeleton).limbs}
    assert against == {"UpperLegL": None, "UpperLegR": None, "UpperArmL": Reason.FAN, "UpperArmR": Reason.FAN}


def imported_robot():
    """The robot as importers make it: bones without children have tails that mean nothing, so nothing tells where shins end."""
    skeleton, limbs = TABLE["robot"]
    tails = skeleton.tails.copy()
    for bone in (skeleton.names.index("LowerLegL"), skeleton.names.index("LowerLegR")):
        tails[bone] = skeleton.heads[bone] + (0, 0, 1e-4)
    return dataclasses.replace(skeleton, tails=tails), limbs


def test_of_imported_legs_whose_feet_hang_from_elsewhere_the_feet_are_the_tips():
    skeleton, limbs = imported_robot()
    feet = {(*limb[:4], limb[2].replace("UpperLeg", "Foot") if limb[0] == "LEG" else limb[4]) for limb in limbs}
    assert found(skeleton) == feet
    assert {limb.against for limb in find_limbs(skeleton).limbs if limb.kind.value == "LEG"} == {Reason.LOOSE}


def test_where_no_name_tells_the_foot_either_such_legs_are_left_out_for_that_reason():
    skeleton, _ = imported_robot()
    names = tuple(name.replace("Foot", "Thing") for name in skeleton.names)
    findings = find_limbs(dataclasses.replace(skeleton, names=names))
    assert {limb.upper for limb in findings.limbs} == {"UpperArmL", "UpperArmR"}
    assert {entry.bones: entry.reason for entry in findings.left_out} == {("UpperLegL", "UpperLegR"): Reason.LOOSE}


@pytest.mark.parametrize("far", ["near", "far"])
def test_a_foot_by_its_name_that_is_no_link_away_is_none(far):
    """A control of the foot that is parked at the knee, or far from the character."""
    skeleton, _ = imported_robot()
    heads = skeleton.heads.copy()
    for side in "LR":
        foot, shin = (skeleton.names.index(f"{part}{side}") for part in ("Foot", "LowerLeg"))
        heads[foot] = heads[shin] + ((0, 0, -0.01) if far == "near" else (0, 9, 0))
    findings = find_limbs(dataclasses.replace(skeleton, heads=heads))
    assert {limb.upper for limb in findings.limbs} == {"UpperArmL", "UpperArmR"}
    assert Reason.LOOSE in {entry.reason for entry in findings.left_out}
