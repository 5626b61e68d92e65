"""What the panel says beforehand: how many curves a bake will write. It is what the bake then writes."""

import math

import bpy
import pytest

from tests.tasks.checks.checking import RIG
from tests.tasks.checks.targets import circling_target, curves_of
from tests.tasks.rigs.hinge_legs import forecast, rolled_leg
from tests.tasks.scenes import add_empty, bake, build_armature, key_channel, set_range


@pytest.fixture
def scene(empty_file):
    set_range()
    return bpy.context.scene


def test_without_a_target_the_forecast_is_there_already(scene):
    build_armature(rolled_leg())
    assert forecast()[0] == 8


@pytest.mark.parametrize("plane", ["XY", "XZ", "YZ", "REST", "POLE", "OBJECT"])
@pytest.mark.parametrize("plane_space", ["WORLD", "ARMATURE", "PARENT"])
@pytest.mark.parametrize("moved", ["nothing", "parent", "armature"])
def test_the_forecast_is_what_the_bake_writes(scene, plane, plane_space, moved):
    rig = build_armature(rolled_leg())
    for bone in rig.pose.bones:
        bone.rotation_mode = "XYZ"
    target = circling_target(rig, RIG)
    pole, across = add_empty("Pole"), add_empty("Across")
    pole.location, across.rotation_euler = (0.2, 3, 0.1), (0, math.pi / 2, 0)
    if moved == "parent":
        key_channel(rig.pose.bones["parent"], "rotation_euler", {1: (0, 0, 0), 24: (0.3, 0.4, 0.5)})
    if moved == "armature":
        key_channel(rig, "rotation_euler", {1: (0, 0, 0), 24: (0.3, 0.4, 0.5)})
    bpy.context.view_layer.update()
    settings = {"plane": plane, "plane_space": plane_space, "pole": "Pole", "plane_object": "Across"}
    count, reasons = forecast(**settings)
    report = bake(RIG, target=target.name, **settings)
    assert report["channels"] == count, reasons
    assert (count == 2) == (not reasons)


@pytest.mark.parametrize("reach", ["CLAMP", "STRETCH"])
@pytest.mark.parametrize("reference", ["REST", "POSE"])
@pytest.mark.parametrize("depth", ["KEEP", "FLATTEN"])
@pytest.mark.parametrize("twist", [0.0, 0.3])
def test_the_forecast_knows_references_depths_and_scales(scene, reach, reference, depth, twist):
    rig = build_armature(rolled_leg())
    for bone in rig.pose.bones:
        bone.rotation_mode = "YZX"
    rig.pose.bones["upper"].rotation_euler.y = twist
    bpy.context.view_layer.update()
    target = circling_target(rig, RIG)
    settings = {"plane": "YZ", "reach": reach, "reference": reference, "depth": depth}
    count, reasons = forecast(**settings)
    assert bake(RIG, target=target.name, **settings)["channels"] == count, reasons


def test_locked_rotations_are_keyed_and_said(scene):
    rig = build_armature(rolled_leg())
    target = circling_target(rig, RIG)
    rig.pose.bones["lower"].lock_rotation = (False, True, True)
    (note,) = bake(RIG, target=target.name, plane="YZ")["notes"]
    assert 'Bone "lower" has its rotation locked about Y, Z' in note


def test_a_limb_that_hangs_from_nothing_has_a_forecast_too(scene):
    rig = build_armature(tuple(shape for shape in rolled_leg() if shape.name != "parent"))
    for bone in rig.pose.bones:
        bone.rotation_mode = "XYZ"
    circling_target(rig, RIG)
    count, _ = forecast(target="Target", plane="YZ")
    assert count == bake(RIG, target="Target", plane="YZ")["channels"]


@pytest.mark.parametrize("mode", ["XYZ", "QUATERNION"])
@pytest.mark.parametrize("swing", [(0.3, 0, 0), (0, 0.3, 0)], ids=["about the hinge", "beside it"])
def test_the_forecast_knows_a_pose_that_is_animated_already(scene, swing, mode):
    rig = build_armature(rolled_leg())
    for bone in rig.pose.bones:
        bone.rotation_mode = "XYZ"
    target = circling_target(rig, RIG)
    key_channel(rig.pose.bones["upper"], "rotation_euler", {1: (0, 0, 0), 24: swing})
    rig.pose.bones["upper"].rotation_mode = mode
    settings = {"plane": "YZ", "reference": "POSE"}
    count, reasons = forecast(**settings)
    assert bake(RIG, target=target.name, **settings)["channels"] <= count, reasons


@pytest.mark.parametrize("end_rotation", ["KEEP", "TARGET"])
def test_a_turning_end_bone_is_forecast_with_all_its_curves(scene, end_rotation):
    rig = build_armature(rolled_leg())
    for bone in rig.pose.bones:
        bone.rotation_mode = "XYZ"
    target = circling_target(rig, RIG)
    settings = {"plane": "YZ", "tip": "foot", "end_rotation": end_rotation}
    count, reasons = forecast(**settings)
    assert 'Bone "foot" takes up to 3 curves: it can rotate freely.' in reasons
    assert bake(RIG, target=target.name, **settings)["channels"] <= count


def test_without_a_plane_object_the_forecast_says_so(scene):
    for bone in build_armature(rolled_leg()).pose.bones:
        bone.rotation_mode = "XYZ"
    count, reasons = forecast(plane="OBJECT")
    assert count == 6
    assert all(reason.endswith("takes 3 curves: no plane object is chosen.") for reason in reasons)


def test_a_coarser_second_bake_leaves_no_key_of_the_first_between_its_own(scene):
    rig = build_armature(rolled_leg())
    for name in ("upper", "lower"):
        rig.pose.bones[name].rotation_mode = "XYZ"
        key_channel(rig.pose.bones[name], "rotation_euler", {1: (0, 0.1, 0), 24: (0, 0.3, 0.2)})
    target = circling_target(rig, RIG)
    bake(RIG, target=target.name, plane="YZ", bend="POSITIVE", step=0.125)
    count, reasons = forecast(plane="YZ", bend="POSITIVE")
    report = bake(RIG, target=target.name, plane="YZ", bend="POSITIVE")
    assert (report["channels"], report["keys"]) == (count, 24 * count)
    assert sum("an earlier bake has keyed its other rotation channels" in reason for reason in reasons) == 2
    turning = [curve for curve in curves_of(rig) if "rotation" in curve.data_path]
    assert sum(len(curve.keyframe_points) for curve in turning) == report["keys"]


@pytest.mark.parametrize("knee", [None, (0.7, 0, 0), (0.7, 0.3, 0.2)], ids=["at rest", "on its hinge", "beside it"])
@pytest.mark.parametrize("plane, reference", [("POSE", "POSE"), ("POLE", "POSE"), ("REST", "REST")])
def test_the_forecast_knows_the_plane_of_the_pose(scene, plane, reference, knee):
    """Also after a bake, which is a pose as well."""
    rig = build_armature(rolled_leg())
    for bone in rig.pose.bones:
        bone.rotation_mode = "YZX"
    if knee is not None:
        rig.pose.bones["lower"].rotation_euler = knee
        rig.pose.bones["upper"].rotation_euler = (0.2, 0.1, -0.3)
    add_empty("Pole").location = (0.1, -4, 0.5)
    bpy.context.view_layer.update()
    target = circling_target(rig, RIG)
    settings = {"plane": plane, "reference": reference, "pole": "Pole"}
    for _ in range(2):
        count, reasons = forecast(**settings)
        assert bake(RIG, target=target.name, **settings)["channels"] == count, reasons
