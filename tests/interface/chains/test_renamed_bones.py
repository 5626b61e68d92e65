"""A bone is renamed: stored chains that use it follow, and nothing else changes."""

import bpy
import pytest

from tests.tasks.scenes import LEG, build_armature


@pytest.fixture
def chain(empty_file):
    rig = build_armature(LEG)
    chain = rig.twobone.chains.add()
    chain.name, chain.upper, chain.lower, chain.toe = "Leg", "upper", "lower", "lower"
    bpy.context.view_layer.update()
    return chain


def rename(old, new):
    bpy.data.objects["Rig"].data.bones[old].name = new
    bpy.context.view_layer.update()


def test_a_chain_follows_a_bone_that_is_renamed(chain):
    rename("lower", "shin")
    assert (chain.upper, chain.lower, chain.toe) == ("upper", "shin", "shin")
    rename("shin", "calf")
    assert chain.lower == "calf"


def test_a_bone_in_another_armature_that_a_chain_follows_is_followed_too(chain):
    other = build_armature(LEG, "Other")
    chain.target, chain.target_bone = other, "upper"
    bpy.context.view_layer.update()
    other.data.bones["upper"].name = "thigh"
    bpy.context.view_layer.update()
    assert (chain.target_bone, chain.upper) == ("thigh", "upper")


def test_bones_renamed_in_edit_mode_are_followed_when_it_is_left(chain):
    bpy.ops.object.mode_set(mode="EDIT")
    bones = chain.id_data.data.edit_bones
    bones["upper"].name, bones["lower"].name = "thigh", "shin"
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.update()
    assert (chain.upper, chain.lower, chain.toe) == ("thigh", "shin", "shin")
