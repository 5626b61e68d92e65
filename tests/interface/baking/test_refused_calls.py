"""Operators called from scripts with what makes no sense: one sentence, and nothing changed."""

import math

import bpy
import pytest

from tests.faults.attacking import make_leg, store_leg


@pytest.fixture
def rig(empty_file):
    rig, target = make_leg()
    store_leg(rig, target)
    return rig


def sentence_of(operator, **settings):
    with pytest.raises(RuntimeError) as caught:
        operator(**settings)
    return str(caught.value).strip().removeprefix("Error: ")


@pytest.mark.parametrize("given", [{"stored": "leg"}, {"stored": "leg", "armature": "Rig"}], ids=str)
def test_a_stored_chain_is_baked_by_its_name(rig, given):
    assert bpy.ops.twobone.bake(**given) == {"FINISHED"}
    assert rig.twobone.chains["leg"].report


@pytest.mark.parametrize("given", [{}, {"upper": "upper", "lower": "lower", "target": "Target"}], ids=str)
def test_a_stored_chain_that_is_not_there_is_refused_with_those_that_are(rig, given):
    sentence = sentence_of(bpy.ops.twobone.bake, stored="arm", armature="Rig", **given)
    assert sentence == 'Armature "Rig" has no stored chain "arm". Use the name of one that it has ("leg").'


@pytest.mark.parametrize("frame", [math.nan, math.inf, -math.inf, 1e30])
def test_a_frame_outside_of_time_is_refused(rig, frame):
    bpy.context.scene.frame_set(4)
    assert "outside Blender's frame range" in sentence_of(bpy.ops.twobone.jump_to_frame, frame=frame)
    assert bpy.context.scene.frame_current == 4


@pytest.mark.parametrize("operator", ["bake", "bake_all"])
def test_a_refused_bake_leaves_chains_their_names(rig, operator):
    store_leg(rig, bpy.data.objects["Target"])
    for chain in rig.twobone.chains:
        chain.name = "leg"
    rig.data.pose_position = "REST"
    sentence_of(getattr(bpy.ops.twobone, operator))
    assert [chain.name for chain in rig.twobone.chains] == ["leg", "leg"]


def test_a_second_copy_of_the_add_on_is_refused_and_the_first_goes_on(rig, registered_addon):
    with pytest.raises(ValueError, match=r'Two-Bone IK is enabled twice. Disable the copy ".*" first'):
        registered_addon.register()
    assert bpy.ops.twobone.bake(stored="leg") == {"FINISHED"}
