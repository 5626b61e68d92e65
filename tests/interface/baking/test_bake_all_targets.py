"""Bake All where only some of the listed limbs have a target, as after Find Limbs."""

import json

import bpy
import pytest

from tests.tasks.checks.targets import curves_of
from tests.tasks.rigs.walker import SHAPES
from tests.tasks.scenes import add_empty, build_armature


@pytest.fixture
def legs(empty_file):
    rig = build_armature(SHAPES, "Rig")
    for side in "LR":
        chain = rig.twobone.chains.add()
        chain.name, chain.upper, chain.lower = f"Leg {side}", f"thigh.{side}", f"shin.{side}"
    bpy.context.view_layer.objects.active = rig
    bpy.context.scene.frame_end = 3
    return rig.twobone.chains


def report():
    return json.loads(bpy.context.window_manager.twobone_report)


def test_a_limb_that_never_had_a_target_is_skipped_and_named(legs, capfd):
    legs[0].target = add_empty()
    assert bpy.ops.twobone.bake_all() == {"FINISHED"}
    assert {curve.data_path.split('"')[1] for curve in curves_of(legs[0].id_data)} == {"thigh.L", "shin.L"}
    assert report()["skipped"] == ["Leg R"]
    assert report()["sentence"].endswith("; Leg R has no target and was skipped")
    assert "Leg R has no target and was skipped" in capfd.readouterr().out


def test_where_all_have_one_nothing_is_said_of_it(legs):
    legs[0].target, legs[1].target = add_empty(), add_empty()
    assert bpy.ops.twobone.bake_all() == {"FINISHED"}
    assert "skipped" not in report()["sentence"]


def test_without_any_target_it_is_refused_for_all_and_a_single_one_by_its_name(legs):
    with pytest.raises(RuntimeError, match=r"^Error: None of the enabled chains has a target\."):
        bpy.ops.twobone.bake_all()
    legs[0].enabled = False
    with pytest.raises(RuntimeError, match='Chain "Leg R" of "Rig": No target is chosen'):
        bpy.ops.twobone.bake_all()


def test_a_target_that_was_lost_after_a_bake_is_refused(legs):
    legs[0].target, legs[1].target = add_empty(), add_empty()
    bpy.ops.twobone.bake_all()
    bpy.data.objects.remove(legs[1].target)
    with pytest.raises(RuntimeError, match=r'Chain "Leg R" of "Rig": Target "Target\.001" is in no scene'):
        bpy.ops.twobone.bake_all()


def test_what_is_wrong_is_said_of_a_chain_that_is_meant(legs):
    legs[1].target, legs[1].lower = add_empty(), "nowhere"
    with pytest.raises(RuntimeError, match=r'Chain "Leg R" of "Rig": .*nowhere'):
        bpy.ops.twobone.bake_all()


@pytest.mark.parametrize("active", ["nothing", "a cube"])
def test_without_an_active_armature_the_sentence_does_not_speak_of_one(legs, active):
    cube = bpy.data.objects.new("Cube", bpy.data.meshes.new("Cube"))
    bpy.context.scene.collection.objects.link(cube)
    bpy.context.view_layer.objects.active = cube if active == "a cube" else None
    with pytest.raises(RuntimeError, match=r"No armature is active\. Choose the armature that holds the chain\."):
        bpy.ops.twobone.bake_all(scope="ACTIVE")
