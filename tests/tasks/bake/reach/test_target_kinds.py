"""Whatever the target is and however it moves, the tip goes along."""

import math

import bpy
import pytest

from tests.tasks.checks.checking import RIG, assert_bake_reaches, assert_within_promise, bake_and_evaluate
from tests.tasks.checks.measuring import evaluate
from tests.tasks.checks.targets import circling_target
from tests.tasks.scenes import LEG, BoneShape, Limb, add_empty, build_armature, key_channel, key_places, set_range, turned

ROOT = (0.1, 0.2, 1.1)
"""Root joint of the standing leg."""


@pytest.fixture
def rig(empty_file):
    set_range()
    return build_armature()


def carrier_around_the_root(name="Carrier"):
    """An empty at the root joint that turns about X once; what hangs 0.9 in front of it circles in reach."""
    carrier = add_empty(name)
    carrier.location = ROOT
    key_channel(carrier, "rotation_euler", {1: (0, 0, 0), 24: (6, 0.3, 0)})
    return carrier


def test_a_target_parented_to_something_that_turns(rig):
    target = add_empty("Target", parent=carrier_around_the_root())
    target.location = (0.2, 0.9, 0)
    assert_bake_reaches(rig, target)


def test_a_target_with_constraints(rig):
    path = carrier_around_the_root()
    hook = add_empty("Hook", parent=path)
    hook.location = (0, 1, 0.3)
    target = add_empty()
    target.location = ROOT
    constraint = target.constraints.new("COPY_LOCATION")
    constraint.target, constraint.influence = hook, 0.8
    assert_bake_reaches(rig, target)


@pytest.mark.parametrize("reads", ["frame", "object", "scene property"])
def test_a_target_with_a_driver(rig, reads):
    target = add_empty()
    target.location = (0.1, 0.2, 0.2)
    driver = target.driver_add("location", 1).driver
    if reads == "frame":
        driver.expression = "0.2 + 0.5 * sin(frame / 5)"
    else:
        variable = driver.variables.new()
        variable.name = "value"
        if reads == "object":
            other = add_empty("Other")
            key_places(other, [(math.sin(frame / 5), 0, 0) for frame in range(24)])
            variable.type = "TRANSFORMS"
            variable.targets[0].id, variable.targets[0].transform_type = other, "LOC_X"
        else:
            scene = bpy.context.scene
            scene["sway"] = 0.0
            for frame in range(1, 25):
                scene["sway"] = math.sin(frame / 5)
                scene.keyframe_insert('["sway"]', frame=frame)
            variable.targets[0].id_type = "SCENE"
            variable.targets[0].id, variable.targets[0].data_path = scene, '["sway"]'
        driver.expression = "0.2 + 0.5 * value"
    assert_bake_reaches(rig, target)


def test_a_bone_of_another_armature(rig):
    other = build_armature((BoneShape("arm", (0, 0, 0), (0, 0, 1)), BoneShape("hand", (0, 0.9, 0), (0, 1, 0), "arm")), "Other")
    other.location = ROOT
    other.scale = (1, -1, 1)
    key_channel(other.pose.bones["arm"], "rotation_quaternion", {1: (1, 0, 0, 0), 24: (0.1, 0.99, 0.1, 0)})
    assert_bake_reaches(rig, other, target_bone="hand")


def test_a_bone_of_the_same_armature(rig):
    rig = build_armature((*LEG, BoneShape("control", (0.1, 0.3, -0.5), (0.1, 0.5, -0.5), "parent")), "Second")
    control = rig.pose.bones["control"]
    key_channel(control, "location", {1: (0, 0, 0), 12: (0.3, -0.4, 0.7), 24: (0, 0.5, 0.2)})
    assert_bake_reaches(rig, rig, limb=Limb("Second"), target_bone="control")


def test_a_hidden_target(rig):
    target = circling_target(rig, RIG, name="hidden")
    bpy.context.view_layer.update()
    target.hide_viewport = True
    report, _ = bake_and_evaluate(rig, target)
    target.hide_viewport = False
    assert report["reached"] == 24
    assert_within_promise(evaluate(rig, RIG, range(1, 25), target=target))


def test_a_target_that_is_in_no_scene_is_refused(rig):
    target = circling_target(rig, RIG, name="unlinked")
    bpy.context.scene.collection.objects.unlink(target)
    with pytest.raises(RuntimeError, match="in no scene"):
        bake_and_evaluate(rig, target)


def test_a_mesh_under_a_moving_parent_with_an_inverse_matrix(rig):
    carrier = carrier_around_the_root()
    target = bpy.data.objects.new("Ball", bpy.data.meshes.new("Ball"))
    bpy.context.scene.collection.objects.link(target)
    target.parent, target.matrix_parent_inverse = carrier, turned(0, 10, 5)
    key_channel(target, "location", {1: (0, 0.8, 0), 24: (0, 0.5, 0.5)})
    assert_bake_reaches(rig, target)


def test_fractional_frames_of_a_target_keyed_between_frames(rig):
    target = circling_target(rig, RIG)
    report, baked = bake_and_evaluate(rig, target, step=0.5, frame_range="CUSTOM", frame_start=2.5, frame_end=9.5)
    assert report["frames"] == 15
    assert_within_promise(baked)
