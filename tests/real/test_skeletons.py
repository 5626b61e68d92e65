"""Find Limbs on skeletons of game characters: right limbs or none, whichever clip is active and whatever bones are called."""

import json
import math
import random

import bpy
import pytest

from tests.real.skeletons import CHARACTERS, judged, load, play

LYING = ((math.pi / 2.0, 0.0, 0.0), (0.0, math.pi / 2.0, 0.0))
"""Rotations of the armature with which it lies on its back, and on its side."""

NOT_FOUND = {"Vol2Eagle": 2}
"""By character, how many limbs are not found: nothing but numbers names the eagle's bones, and its poses differ."""

SEEDS = 3

each_character = pytest.mark.parametrize("character", CHARACTERS)


@pytest.fixture(scope="module")
def folder(there, data_folder):
    return there(data_folder / "skeletons")


def found(armature):
    bpy.ops.twobone.find_limbs(armature=armature.name)
    report = json.loads(bpy.context.window_manager.twobone_report)
    armature.twobone.chains.clear()
    return [tuple(limb[part] for part in ("kind", "side", "upper", "lower", "tip")) for limb in report["limbs"]]


@each_character
def test_each_clip_gives_the_same_right_limbs(empty_file, folder, character):
    armature, clips = load(folder, character)
    answers = []
    for action, slot in clips.values():
        play(armature, action, slot)
        answers.append(found(armature))
    assert answers == [answers[0]] * len(answers)
    assert judged(folder, character, answers[0]) == ([], NOT_FOUND.get(character, 0))


@each_character
def test_a_character_that_lies_has_no_wrong_limb(empty_file, folder, character):
    armature, _ = load(folder, character)
    armature.rotation_mode = "XYZ"
    for rotation in LYING:
        armature.rotation_euler = rotation
        bpy.context.view_layer.update()
        assert judged(folder, character, found(armature))[0] == []


def test_legs_of_one_pair_are_namesakes_and_have_one_number(empty_file, folder):
    """Two right legs of a wasp are as long as one another; each is nearer to its namesake by name."""
    armature, _ = load(folder, "Wasp")
    bpy.ops.twobone.find_limbs(armature=armature.name)
    report = json.loads(bpy.context.window_manager.twobone_report)
    uppers = {limb["chain"]: limb["upper"] for limb in report["limbs"]}
    assert sorted(uppers) == [f"{side} Leg {number}" for side in ("Left", "Right") for number in (1, 2, 3)]
    assert all(uppers[f"Left Leg {number}"][:-1] == uppers[f"Right Leg {number}"][:-1] for number in (1, 2, 3))


@pytest.mark.parametrize("seed", range(SEEDS))
@each_character
def test_shuffled_names_make_nothing_wrong(empty_file, folder, character, seed):
    armature, _ = load(folder, character)
    bones = list(armature.data.bones)
    before = [bone.name for bone in bones]
    names = list(before)
    random.Random(seed).shuffle(names)  # noqa: S311 - no secret
    for number, bone in enumerate(bones):
        bone.name = f"{number} of all"
    for bone, name in zip(bones, names, strict=True):
        bone.name = name
    meant = dict(zip(names, before, strict=True))
    limbs = [(kind, side, *(meant[bone] for bone in bones)) for kind, side, *bones in found(armature)]
    assert judged(folder, character, limbs)[0] == []


@pytest.mark.parametrize(
    "rename", [lambda name: f"rig:{name}", lambda name: name.replace(".", "_"), lambda name: f"Bip_{name.replace('.', ' ')}"]
)
@pytest.mark.parametrize("character", ["Cowboy", "Frog", "Triceratops", "Wasp"])
def test_prefixes_and_separators_make_no_difference(empty_file, folder, character, rename):
    armature, _ = load(folder, character)
    before = {}
    for bone in armature.data.bones:
        name, bone.name = bone.name, rename(bone.name)
        before[bone.name] = name
    limbs = [(kind, side, *(before[bone] for bone in bones)) for kind, side, *bones in found(armature)]
    assert judged(folder, character, limbs) == ([], 0)


def planted_and_audited(folder, character, clip):
    """Reports of planting a clip as long as it is, and of the audit of the result."""
    armature, clips = load(folder, character)
    play(armature, *clips[clip])
    scene, (first, last) = bpy.context.scene, clips[clip][0].frame_range
    scene.render.fps = round(json.loads((folder / f"{character}.json").read_text())["fps"])
    scene.frame_start, scene.frame_end = int(first), int(last)
    reports = []
    bpy.ops.twobone.find_limbs(armature=armature.name)
    for task in (bpy.ops.twobone.plant, bpy.ops.twobone.audit):
        task(armature=armature.name)
        reports.append(json.loads(bpy.context.window_manager.twobone_report))
    return reports


@pytest.mark.parametrize("character, clip", [("Rat", "Rat_Walk"), ("FarmLlama", "Jump"), ("Skeleton", "Skeleton_Running")])
def test_what_planting_leaves_of_a_contact_slides_as_far_as_audit_says(empty_file, folder, character, clip):
    planted, audit = planted_and_audited(folder, character, clip)
    audited = {limb["chain"]: limb for limb in audit["chains"]}
    partly = [(chain["chain"], contact) for chain in planted["chains"] for contact in chain["partly"]]
    assert partly, "planting holds every contact as a whole"
    for chain, contact in partly:
        of_audit = {(row["first"], row["last"]): row["slide"] for row in audited[chain]["contacts"]}
        assert contact["slide"] == pytest.approx(of_audit[contact["first"], contact["last"]], rel=1e-3)
    assert f"contacts planted only in part: {len(partly)}; " in planted["sentence"]


@pytest.mark.parametrize("character, clip", [("Male", "Man_Walk"), ("FarmCow", "WalkSlow"), ("Trex", "TRex_Walk")])
def test_no_contact_is_partly_planted_where_audit_finds_no_slide(empty_file, folder, character, clip):
    planted, audit = planted_and_audited(folder, character, clip)
    assert not any(chain["partly"] for chain in planted["chains"])
    assert "slide" not in audit["sentence"]


@pytest.mark.parametrize("character, clip", [("Spider", "Spider_Walk"), ("Rat", "Rat_Walk"), ("FarmLlama", "Jump")])
def test_plant_says_of_each_contact_once_what_is_not_held_and_speaks_of_skating_as_audit_does(
    empty_file, folder, character, clip
):
    """The spider's walk is a cycle, in which a contact that is left begins with the end of one that is held."""
    planted, audit = planted_and_audited(folder, character, clip)
    for chain in planted["chains"]:
        for contact in chain["partly"]:
            assert not any(left["first"] <= contact["last"] and contact["first"] <= left["last"] for left in chain["left"])
    assert ("of low frames still move" in planted["sentence"]) == ("skates at" in audit["sentence"])
