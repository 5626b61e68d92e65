"""Find Limbs on rigs made by others: all arms and legs and nothing else, whatever the bones are called."""

import json
import os
import random

import bpy
import pytest

from tests.real.limbs_of_rigs import ANIMALS, FILES, METARIGS, of_animal, of_file
from tests.real.own_python import ALL_VARIABLE, run
from tests.real.rigs import FOX, RealLimb, open_rig

AS_GENERATED = {"human", "cat"}


def found(armature, **given):
    bpy.ops.twobone.find_limbs(armature=armature.name, **given)
    report = json.loads(bpy.context.window_manager.twobone_report)
    return {(limb["kind"], limb["side"], limb["upper"], limb["lower"], limb["tip"]) for limb in report["limbs"]}


def opened(data_folder, file):
    armature, _ = open_rig(data_folder, RealLimb(file, "", "", "", (1, 2)))
    return armature


@pytest.mark.parametrize("file", [*FILES, FOX])
def test_all_limbs_and_nothing_else(empty_file, data_folder, file):
    armature = opened(data_folder, file)
    assert found(armature) == of_file(file)


@pytest.mark.parametrize("file", ANIMALS)
def test_all_limbs_of_animals_whose_importer_leaves_an_action_beside_strips(empty_file, data_folder, there, file):
    armature = opened(there(data_folder / "motion" / "animals"), file)
    assert found(armature) == of_animal(file)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("file", [*FILES, FOX])
def test_random_names_change_nothing_but_names_and_side(empty_file, data_folder, file, seed):
    armature = opened(data_folder, file)
    numbers = list(range(len(armature.data.bones)))
    random.Random(seed).shuffle(numbers)  # noqa: S311 - no secret
    before = {}
    for number, bone in zip(numbers, list(armature.data.bones), strict=True):
        before[f"x{number:04}"] = bone.name
        bone.name = f"x{number:04}"
    again = {(kind, *(before[name] for name in bones)) for kind, _, *bones in found(armature)}
    assert again == {(kind, *bones) for kind, _, *bones in of_file(file)}


@pytest.mark.parametrize("file, arm", [("cmu_02_01_walk.bvh", "RightArm"), ("ozz_pab_run.fbx", "RightShoulder")])
def test_the_only_arm_of_a_one_armed_figure_is_found(empty_file, data_folder, file, arm):
    armature = opened(data_folder, file)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    bones = armature.data.edit_bones
    for bone in [*bones[arm].children_recursive, bones[arm]]:
        bones.remove(bone)
    bpy.ops.object.mode_set(mode="OBJECT")
    assert found(armature) == {limb for limb in of_file(file) if limb[:2] != ("ARM", "RIGHT")}


@pytest.mark.parametrize("file", [*FILES, FOX])
def test_a_target_at_every_tip_leaves_every_limb_as_it_is(empty_file, data_folder, file):
    """What the chains were made for: the tips that were found are those that a bake puts on the targets."""
    armature = opened(data_folder, file)
    found(armature, targets=True)
    assert len(armature.twobone.chains) == len(of_file(file))
    for chain in armature.twobone.chains:
        tip = armature.matrix_world @ armature.pose.bones[chain.tip].head
        assert (chain.target.location - tip).length <= 1e-5 * armature.dimensions.length + 1e-5


def test_metarigs_and_generated_rigs(tmp_path):
    everything = bool(os.environ.get(ALL_VARIABLE))
    generated = METARIGS if everything else AS_GENERATED
    output = run("limbs_scenario.py", tmp_path, *(name + ("+" if name in generated else "") for name in METARIGS))
    assert "As anybody would name them" in output
