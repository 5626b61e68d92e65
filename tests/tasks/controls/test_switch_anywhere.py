"""What switches a limb may be any property with any range, wherever it is: to FK and back to IK, and nothing is seen to move."""

import json
import math

import bpy
import numpy as np
import pytest
from mathutils import Euler

from tests.promises.promises import changed
from tests.tasks.checks.file_dump import dump_file
from tests.tasks.rigs.legs_with_ik import poses
from tests.tasks.scenes import BoneShape, add_empty, build_armature, key_channel, sentence_of, set_range

LAST = 12
SEEN = ("def_thigh", "def_shin", "def_foot")
ON_FK = {"armature": "Rig", "upper": "fk_thigh", "lower": "fk_shin", "tip": "fk_foot"}
STILL = 5e-4
"""Distance of a visible bone that Blender's own IK may leave, of a leg a metre long."""


def leg_of(prefix):
    return (
        BoneShape(prefix + "thigh", (0.1, 0, 1), (0.1, -0.05, 0.55), "hips"),
        BoneShape(prefix + "shin", (0.1, -0.05, 0.55), (0.1, 0, 0.1), prefix + "thigh", connected=True),
        BoneShape(prefix + "foot", (0.1, 0, 0.1), (0.1, -0.12, 0.02), prefix + "shin", connected=True),
    )


def leg_of_three():
    """A visible leg that copies one on FK and, on top of that, one on IK, whose influences have no driver yet."""
    set_range(1, LAST)
    rig = build_armature(
        (
            BoneShape("root", (0, 0, 0), (0, 0.3, 0)),
            BoneShape("hips", (0, 0, 1), (0, 0, 1.2), "root"),
            *leg_of("def_"),
            *leg_of("fk_"),
            *leg_of("ik_"),
            BoneShape("foot_ik", (0.1, 0, 0.1), (0.1, -0.12, 0.02), "root"),
            BoneShape("pole", (0.1, -0.8, 0.55), (0.1, -0.9, 0.55), "root"),
            BoneShape("slider", (1, 0, 0), (1, 0, 0.2)),
        )
    )
    bones = rig.pose.bones
    for bone in rig.data.bones:
        bone.use_deform = bone.name.startswith("def_")
    ik = bones["ik_shin"].constraints.new("IK")
    ik.chain_count, ik.iterations, ik.target, ik.subtarget = 2, 500, rig, "foot_ik"
    ik.pole_target, ik.pole_subtarget, ik.pole_angle = rig, "pole", -math.pi / 2
    turned = bones["ik_foot"].constraints.new("COPY_ROTATION")
    turned.target, turned.subtarget = rig, "foot_ik"
    for bone in ("thigh", "shin", "foot"):
        for prefix in ("fk_", "ik_"):
            copy = bones["def_" + bone].constraints.new("COPY_TRANSFORMS")
            copy.target, copy.subtarget = rig, prefix + bone
    key_channel(bones["hips"], "location", {1: (0, 0, 0), 6: (0.03, 0.04, -0.06), LAST: (-0.02, 0.02, -0.03)})
    key_channel(bones["foot_ik"], "location", {1: (0, -0.2, 0.05), 5: (0.03, 0.1, 0.25), LAST: (0, 0.3, 0.02)})
    for frame in (1, LAST):
        for bone, angles in (("thigh", (-0.5 + frame * 0.03, 0.1, 0)), ("shin", (0.7, 0, 0)), ("foot", (0.2, 0, 0.3))):
            key_channel(bones["fk_" + bone], "rotation_quaternion", {frame: Euler(angles).to_quaternion()})
    return rig


def read(driver, owner, path, *, kind="SINGLE_PROP"):
    variable = driver.variables.new()
    variable.name, variable.type = "p", kind
    target = variable.targets[0]
    if kind == "SINGLE_PROP":
        target.id_type = owner.id_type
    target.id = owner
    if kind == "SINGLE_PROP":
        target.data_path = path
    else:
        target.bone_target, target.transform_type, target.transform_space = path, "LOC_Y", "LOCAL_SPACE"


def drive(rig, owner, path, expression, *, kind="SINGLE_PROP"):
    """Let a property decide the influence of the copies of the leg on IK."""
    for bone in SEEN:
        driver = rig.pose.bones[bone].constraints[1].driver_add("influence").driver
        driver.type, driver.expression = "SCRIPTED", expression
        read(driver, owner, path, kind=kind)


def on_data(rig):
    rig.data["leg"] = 0.0
    drive(rig, rig.data, '["leg"]', "1-p")


def on_other_object(rig):
    settings = add_empty("Settings")
    settings["leg"] = 0.0
    drive(rig, settings, '["leg"]', "1-p")


def on_scene(rig):
    bpy.context.scene["leg"] = 0.0
    drive(rig, bpy.context.scene, '["leg"]', "1-p")


def slider(rig):
    drive(rig, rig, 'pose.bones["slider"].location[1]', "1-p")


def slider_as_transform(rig):
    drive(rig, rig, "slider", "1-p*5", kind="TRANSFORMS")


def driven_in_turn(rig):
    rig.data["inner"], rig["leg"] = 1.0, 0.0
    driver = rig.data.driver_add('["inner"]').driver
    driver.type, driver.expression = "SCRIPTED", "1-p"
    read(driver, rig, '["leg"]')
    drive(rig, rig.data, '["inner"]', "p")


def driven_by_two_ways_many_times(rig):
    """Each property is driven by the next one along two ways: a million ways in all, and twenty properties."""
    rig["level20"] = 0.0
    for level in reversed(range(20)):
        rig[f"level{level}"] = 0.0
        driver = rig.driver_add(f'["level{level}"]').driver
        driver.type = "AVERAGE"
        for name in "pq":
            variable = driver.variables.new()
            variable.name = name
            variable.targets[0].id, variable.targets[0].data_path = rig, f'["level{level + 1}"]'
    drive(rig, rig, '["level0"]', "1-p")


def to_ten(rig):
    rig.pose.bones["root"]["leg"] = 0.0
    drive(rig, rig, 'pose.bones["root"]["leg"]', "1-p/10")


def per_cent_of_ik(rig):
    rig.pose.bones["root"]["leg"] = 100.0
    drive(rig, rig, 'pose.bones["root"]["leg"]', "p/100")


def from_minus_one(rig):
    rig.pose.bones["root"]["leg"] = -1.0
    drive(rig, rig, 'pose.bones["root"]["leg"]', "(1-p)/2")


def whole_number(rig):
    rig.pose.bones["root"]["leg"] = 0
    drive(rig, rig, 'pose.bones["root"]["leg"]', "1-p/3")


SWITCHES = (
    on_data, on_other_object, on_scene, slider, slider_as_transform, driven_in_turn, driven_by_two_ways_many_times, to_ten,
    per_cent_of_ik, from_minus_one, whole_number,
)  # fmt: skip


def influence_at(rig, frame):
    bpy.context.scene.frame_set(frame)
    seen = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return [seen.pose.bones[bone].constraints[1].influence for bone in SEEN]


def visible(rig):
    columns = [number for number, bone in enumerate(rig.pose.bones) if bone.name in SEEN]
    return poses(rig, range(1, LAST + 1))[:, columns]


def settle(rig):
    rig.update_tag()
    for frame in (2, 1):
        bpy.context.scene.frame_set(frame)


@pytest.mark.parametrize("make", SWITCHES, ids=lambda make: make.__name__)
def test_a_limb_is_switched_to_fk_and_back_wherever_its_switch_is(registered_addon, empty_file, make):
    rig = leg_of_three()
    make(rig)
    settle(rig)
    before = visible(rig)
    np.testing.assert_allclose(influence_at(rig, 1), 1.0, atol=1e-5)
    settle(rig)
    for side, influence in (("FK", 0.0), ("IK", 1.0)):
        assert bpy.ops.twobone.switch(**ON_FK, to=side) == {"FINISHED"}
        np.testing.assert_allclose(visible(rig), before, atol=STILL, err_msg=side)
        for frame in (1, 6, LAST):
            np.testing.assert_allclose(influence_at(rig, frame), influence, atol=1e-5, err_msg=f"{side} at {frame}")
        settle(rig)


def test_a_limb_whose_switch_is_not_found_is_never_on_ik_already(registered_addon, empty_file):
    rig = leg_of_three()
    rig.pose.bones["root"]["leg"] = 1.0
    # Only in between is it on IK, which is no end of any range.
    drive(rig, rig, 'pose.bones["root"]["leg"]', "1 if 0.42 < p < 0.44 else 0")
    settle(rig)
    with pytest.raises(RuntimeError) as refused:
        bpy.ops.twobone.switch(**ON_FK, to="IK")
    assert "Found no switch that puts the limb" in sentence_of(refused.value)
    assert '"def_thigh" does not follow "ik_thigh"' in sentence_of(refused.value)


def test_half_way_the_message_names_the_ends_of_the_range(registered_addon, empty_file):
    rig = leg_of_three()
    to_ten(rig)
    rig.pose.bones["root"]["leg"] = 5.0
    settle(rig)
    with pytest.raises(RuntimeError) as refused:
        bpy.ops.twobone.switch(**ON_FK, to="IK")
    assert 'Key pose.bones["root"]["leg"] to 10 or 0 there first.' in sentence_of(refused.value)


@pytest.mark.parametrize(
    "size, apart", [(1.0, 0.0), (1.0, 2.0), (0.01, 0.0), (0.01, 2.0), (0.001, 0.2), (100.0, 200.0), (1.0, 200.0)]
)
def test_a_rig_of_any_size_away_from_the_origin_is_steered_by_its_pole_alone(registered_addon, empty_file, size, apart):
    """What single precision cannot show there is no reason to key the first bone of the IK as well."""
    rig = leg_of_three()
    rig.scale, rig.location = (size, size, size), (apart, apart, 0.0)
    rig.data["leg"] = 1.0
    drive(rig, rig.data, '["leg"]', "1-p")
    settle(rig)
    before = visible(rig)
    assert bpy.ops.twobone.switch(**ON_FK, to="IK") == {"FINISHED"}
    np.testing.assert_allclose(visible(rig)[..., :3, 3], before[..., :3, 3], atol=STILL * size)
    report = json.loads(bpy.context.window_manager.twobone_report)
    assert [said for said in report["notes"] if "keyed as well" in said] == []


@pytest.mark.parametrize("destination", ["ACTION", "NEW_ACTION", "NLA"])
@pytest.mark.parametrize("make", [on_data, on_other_object, on_scene, slider], ids=lambda make: make.__name__)
def test_clear_takes_a_switch_back_wherever_it_is(registered_addon, empty_file, make, destination):
    rig = leg_of_three()
    make(rig)
    if destination == "NLA":
        data = rig.animation_data
        data.nla_tracks.new().strips.new("own", 1, data.action)
        data.action = None
    settle(rig)
    before = dump_file()
    assert bpy.ops.twobone.switch(**ON_FK, to="FK", destination=destination) == {"FINISHED"}
    assert bpy.ops.twobone.clear_baked(**ON_FK, all_frames=True) == {"FINISHED"}
    settle(rig)
    # Blender 4.2 goes on counting users that it had for a while.
    assert [path for path in changed(before, dump_file()) if not path.endswith(".users")] == []
