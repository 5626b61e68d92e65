"""Limbs from poses of an action, where the rest tells nothing or little."""

import dataclasses

import numpy as np
import pytest

from tests.core.limbs.builder import FOUR_LEGGED, PERSON, Builder, found, four_legged, person, renamed, spine
from tests.core.limbs.poses import posed
from twobone_addon.core.limbs.body.shapes import Reason
from twobone_addon.core.limbs.finding import find_limbs
from twobone_addon.core.limbs.offsets import steadied

POSES = 9
LINKS = ("thigh.L", "shin.L"), ("shin.L", "foot.L")
PARTS = "{}UpperLeg", "{}LowerLeg", "IK{}Leg"


def in_motion(skeleton, amount=0.35, poses=POSES):
    """The skeleton with poses in which every joint is turned a little."""
    random = np.random.default_rng(1)
    several = [posed(skeleton, random, amount) for _ in range(poses)]
    return dataclasses.replace(skeleton, poses=np.stack([np.stack([each.heads, each.tails], axis=1) for each in several]))


def laid_out(skeleton):
    """The skeleton at rest with all offsets along one axis, as exporters of motion write it; its poses stay."""
    heads = np.zeros_like(skeleton.heads)
    for bone, above in enumerate(skeleton.parents):
        if above >= 0:
            heads[bone] = heads[above] + (np.linalg.norm(skeleton.heads[bone] - skeleton.heads[above]), 0.0, 0.0)
    lengths = np.linalg.norm(skeleton.tails - skeleton.heads, axis=1)
    return dataclasses.replace(skeleton, heads=heads, tails=heads + lengths[:, None] * (1.0, 0.0, 0.0))


@pytest.mark.parametrize("make, limbs", [(person, PERSON), (four_legged, FOUR_LEGGED)])
@pytest.mark.parametrize("poses", [1, 3, POSES])
def test_the_motion_tells_what_a_rest_along_one_axis_does_not(make, limbs, poses):
    skeleton = laid_out(in_motion(make().skeleton(), poses=poses))
    assert found(skeleton) == limbs
    assert find_limbs(skeleton).limbs_from == "MOTION"
    nameless, before = renamed(skeleton, 3)
    seen = {(limb.kind.value, before[limb.upper], before[limb.lower], before[limb.tip]) for limb in find_limbs(nameless).limbs}
    assert seen == {(kind, *bones) for kind, _, *bones in limbs}


def test_sides_are_told_over_time_though_feet_point_anywhere_in_single_poses():
    """Feet are turned by up to 100 degrees either way; on the whole they point forwards."""
    skeleton = person().skeleton()
    moving = laid_out(in_motion(skeleton, amount=0.1))
    poses = moving.poses.copy()
    for number, turn in enumerate(np.linspace(-1.75, 1.75, POSES)):
        cos, sin = np.cos(turn), np.sin(turn)
        for side in "LR":
            foot, toe = (skeleton.names.index(f"{part}.{side}") for part in ("foot", "toe"))
            about = poses[number, foot, 0].copy()
            for bone in (foot, toe):
                x, y, z = (poses[number, bone] - about).T
                poses[number, bone] = about + np.stack([cos * x - sin * y, sin * x + cos * y, z], axis=1)
    nameless, before = renamed(dataclasses.replace(moving, poses=poses), 2)
    assert {(kind, side, *(before[bone] for bone in bones)) for kind, side, *bones in found(nameless)} == PERSON


def test_a_rest_that_stands_goes_first_where_poses_confirm_it():
    skeleton = in_motion(person().skeleton())
    assert found(skeleton) == PERSON
    assert find_limbs(skeleton).limbs_from == "REST"


def test_without_motion_such_a_rest_is_said_to_be_none_unless_names_tell():
    skeleton = laid_out(person().skeleton())
    nameless, _ = renamed(skeleton, 1)
    findings = find_limbs(nameless)
    assert not findings.limbs
    assert findings.laid_out
    assert {limb[2:] for limb in found(skeleton)} == {limb[2:] for limb in PERSON}


@pytest.mark.parametrize("number", [1, 20])
def test_a_rope_along_one_axis_is_a_rope(number):
    builder = Builder()
    builder.bone("rope0", "", (0, 0, 0))
    builder.chain("rope0", *((f"rope{each}", (0.1 * each, 0, 0)) for each in range(1, number)))
    assert not find_limbs(builder.skeleton()).laid_out


def test_feet_that_hang_from_the_root_but_follow_the_shins_are_feet():
    builder = Builder()
    builder.bone("root", "", (0, 0, 0))
    builder.bone("hips", "root", (0, 0, 1.0))
    builder.chain("hips", ("spine", (0, 0.01, 1.1)), ("neck", (0, 0.01, 1.5)), ("head", (0, 0, 1.6)))
    for side, sign in (("L", 1.0), ("R", -1.0)):
        builder.chain("hips", (f"thigh.{side}", (0.1 * sign, 0, 0.95)))
        builder.bone(f"shin.{side}", f"thigh.{side}", (0.1 * sign, -0.02, 0.5), (0.1 * sign, 0.02, 0.08))
        builder.bone(f"foot.{side}", "root", (0.1 * sign, 0.02, 0.08))
        builder.bone(f"toe.{side}", f"foot.{side}", (0.1 * sign, -0.12, 0.02))
    nameless, before = renamed(builder.skeleton(), 1)
    limbs = find_limbs(nameless).limbs
    assert {(before[limb.upper], before[limb.lower], limb.tip_at_tail) for limb in limbs} == {
        ("thigh.L", "shin.L", True), ("thigh.R", "shin.R", True)
    }  # fmt: skip


def loose_feet(*, rest, follow=True):
    """A person in motion whose feet hang from the root and go with the shins by keys, or stay; shins have made-up tails."""
    whole = Builder()
    whole.bone("root", "", (0, 0, 0))
    own = person()
    for number, name in enumerate(own.names):
        above = own.names[own.parents[number]] if own.parents[number] >= 0 else "root"
        x, y, z = own.heads[number]
        whole.bone(name, above, (x, y, z), (x, y + 0.02, z + 0.02) if name.startswith("shin") else own.tails[number])
    moving = in_motion(whole.skeleton(), 0.5)
    feet = [moving.names.index(f"foot.{side}") for side in "LR"]
    parents = tuple(0 if bone in feet else above for bone, above in enumerate(moving.parents))
    poses = moving.poses.copy()
    if not follow:
        poses[:, feet] = poses[0, feet]
    moving = dataclasses.replace(moving, parents=parents, poses=poses)
    return laid_out(moving) if rest == "along one axis" else moving


def test_the_motion_tells_which_feet_follow_where_tails_do_not():
    nameless, before = renamed(loose_feet(rest="standing"), 1)
    seen = {(kind, side, *(before[bone] for bone in bones)) for kind, side, *bones in found(nameless)}
    assert seen == PERSON


def test_legs_that_bend_alike_keep_their_own_feet():
    """In a squat the left foot keeps its distances from the right shin too."""
    skeleton = loose_feet(rest="standing")
    poses = np.repeat(np.stack([skeleton.heads, skeleton.tails], axis=1)[None], POSES, axis=0)
    bones = {name: number for number, name in enumerate(skeleton.names)}
    for side in "LR":
        knee, ankle = (skeleton.heads[bones[f"{name}.{side}"]] for name in ("shin", "foot"))
        skeleton.tails[bones[f"shin.{side}"]] = knee + 0.1 * (ankle - knee)
    thigh, shin = (np.linalg.norm(np.diff(skeleton.heads[[bones[pair[0]], bones[pair[1]]]], axis=0)) for pair in LINKS)
    for pose, depth in zip(poses, np.linspace(0.0, 0.3, POSES), strict=True):
        for name, bone in bones.items():
            if not name.startswith(("root", "shin", "foot", "toe")):
                pose[bone, :, 2] -= depth
        for side in "LR":
            hip, ankle = pose[bones[f"thigh.{side}"], 0], pose[bones[f"foot.{side}"], 0]
            apart = np.linalg.norm(hip - ankle)
            along = (thigh**2 - shin**2 + apart**2) / (2.0 * apart)
            down = (ankle - hip) / apart
            knee = hip + along * down + np.sqrt(max(thigh**2 - along**2, 0.0)) * np.array([0.0, down[2], -down[1]])
            pose[bones[f"shin.{side}"]] = knee, knee + 0.1 * (ankle - knee)
    nameless, before = renamed(dataclasses.replace(skeleton, poses=poses), 1)
    legs = {(before[limb.upper], before[limb.lower], before[limb.tip]) for limb in find_limbs(nameless).limbs}
    assert {(f"thigh.{side}", f"shin.{side}", f"foot.{side}") for side in "LR"} <= legs


def test_a_baked_control_that_is_named_as_its_leg_is_its_foot():
    """Nothing moves; of four legs without feet the names of the loose bones say to which each belongs."""
    builder, limbs = Builder(), set()
    own = four_legged()
    names = {"foot": "IKBackLeg", "front_foot": "IKFrontLeg", "thigh": "BackUpperLeg", "shin": "BackLowerLeg"}
    names |= {"front_thigh": "FrontUpperLeg", "front_shin": "FrontLowerLeg", "toe": "B", "front_toe": "F"}
    for number, name in enumerate(own.names):
        part, _, side = name.partition(".")
        above = "" if own.parents[number] < 0 or part.endswith("foot") else builder.names[own.parents[number]]
        x, y, z = own.heads[number]
        builder.bone(f"{names.get(part, part)}.{side}".rstrip("."), above, (x, y, z), (x, y, z + 0.01))
    for word, side in (("LEFT", "L"), ("RIGHT", "R")):
        limbs |= {("LEG", word, *(f"{part.format(at)}.{side}" for part in PARTS)) for at in ("Front", "Back")}
    assert found(builder.skeleton()) == limbs


@pytest.mark.parametrize("rest", ["standing", "along one axis"])
def test_feet_that_do_not_follow_are_none(rest):
    """Where the shins end is then not known, nor is it where neither the rest nor a tail shows the place."""
    nameless, before = renamed(loose_feet(rest=rest, follow=False), 1)
    assert not {before[limb.upper] for limb in find_limbs(nameless).limbs} & {"thigh.L", "thigh.R"}


def test_a_tip_that_the_rest_does_not_show_is_none():
    """Feet follow in all poses, but the rest, along one axis, does not say where on the shin they are."""
    skeleton = loose_feet(rest="along one axis")
    for case in (skeleton, renamed(skeleton, 1)[0]):
        findings = find_limbs(case)
        assert {limb.kind.value for limb in findings.limbs} <= {"ARM"}
        reasons = [
            entry.reason for entry in findings.left_out if set(entry.bones) & {case.names[skeleton.names.index("thigh.L")]}
        ]
        assert reasons == [Reason.LOOSE]


def test_thousand_bones_of_cloth_change_nothing():
    builder = Builder()
    spine(builder)
    own = person()
    for number, name in enumerate(own.names):
        if name not in builder.names:
            builder.bone(name, own.names[own.parents[number]], own.heads[number], own.tails[number])
    for strand in range(150):
        angle = 0.04 * strand
        places = [(0.2 * np.cos(angle), 0.2 * np.sin(angle), 1.0 - 0.1 * each) for each in range(6)]
        builder.chain("hips", *((f"cloth{strand}_{each}", place) for each, place in enumerate(places)))
    nameless, before = renamed(builder.skeleton(), 1)
    assert {(before[limb.upper], before[limb.lower]) for limb in find_limbs(nameless).limbs} == {limb[2:4] for limb in PERSON}


def test_limbs_that_few_poses_show_are_left_out_for_that_reason():
    """In two of nine poses a person stands; in the others all joints are in one place, which shows nothing."""
    nameless, before = renamed(laid_out(in_motion(person().skeleton())), 1)
    poses = nameless.poses.copy()
    poses[2:] = nameless.heads[0]
    findings = find_limbs(dataclasses.replace(nameless, poses=poses))
    assert not findings.limbs
    reasons = {tuple(sorted(before[bone] for bone in entry.bones)): entry.reason for entry in findings.left_out}
    assert reasons[("thigh.L", "thigh.R")] is Reason.SELDOM


def lengths_of(skeleton, poses):
    """Length `(P, B)` of each bone's offset from its parent; that of a root is 0."""
    above = [parent if parent >= 0 else bone for bone, parent in enumerate(skeleton.parents)]
    return np.linalg.norm(poses[:, :, 0] - poses[:, above, 0], axis=-1)


LONGER_AND_SHORTER = np.array([1.0, -1.0] * (POSES // 2) + [1.0])


def shaken(skeleton, share):
    """Poses in which the skeleton's bones change their lengths by a `share`, as markers on cloth do."""
    random, poses = np.random.default_rng(4), in_motion(skeleton).poses
    longer = poses.copy()
    for bone, above in sorted(enumerate(skeleton.parents), key=lambda pair: len(skeleton.way_up(pair[0]))):
        if above >= 0:
            offset = (poses[:, bone, 0] - poses[:, above, 0]) * (1.0 + share * random.permutation(LONGER_AND_SHORTER)[:, None])
            longer[:, bone, 0] = longer[:, above, 0] + offset
            longer[:, bone, 1] = longer[:, bone, 0] + poses[:, bone, 1] - poses[:, bone, 0]
    return longer


def test_bones_of_a_shaky_recording_keep_their_usual_lengths_and_directions():
    skeleton = person().skeleton()
    poses = shaken(skeleton, 0.05)
    before, steady = lengths_of(skeleton, poses), steadied(skeleton, poses)
    usual = np.median(before, axis=0)
    assert (before.std(axis=0) > 0.01 * usual)[usual > 0.0].all()
    assert np.allclose(lengths_of(skeleton, steady), usual, rtol=1e-9)
    above = [parent if parent >= 0 else bone for bone, parent in enumerate(skeleton.parents)]
    offsets, steady_offsets = (moved[:, :, 0] - moved[:, above, 0] for moved in (poses, steady))
    assert np.allclose(np.cross(offsets, steady_offsets), 0.0, atol=1e-12)
    assert np.allclose(np.diff(steady, axis=2), np.diff(poses, axis=2))


def test_what_is_meant_to_change_its_length_does_so():
    skeleton = person().skeleton()
    poses = shaken(skeleton, 0.5)
    assert np.allclose(lengths_of(skeleton, steadied(skeleton, poses)), lengths_of(skeleton, poses))
    few = shaken(skeleton, 0.05)[:2]
    assert np.array_equal(steadied(skeleton, few), few)
