"""The motion of a leg given to the controls of its rig, whose own IK then does the same, as Blender evaluates it."""

import json

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from tests.tasks.checks.file_dump import differences, dump_file
from tests.tasks.rigs.control_rig import LAST, LENGTH, control_rig, drive_by_property, let_ik_act, limb_over_time, widest
from tests.tasks.scenes import add_empty, key_channel

BACK = 1e-4 * LENGTH
TURNED = 0.05

NAMES = {"armature": "Rig", "upper": "upper", "lower": "lower", "tip": "foot", "target": "Rig", "target_bone": "Foot.L"}
POLE = {"plane": "POLE", "pole": "Rig", "pole_bone": "PoleTarget.L"}


def given(**settings):
    assert bpy.ops.twobone.bake_target(**{**NAMES, **POLE, "rotate": True, **settings}) == {"FINISHED"}
    return json.loads(bpy.context.window_manager.twobone_report)["chains"][0]


def refusal(**settings):
    with pytest.raises(RuntimeError) as error:
        given(**settings)
    return str(error.value)


def assert_ik_does_the_same(rig, before):
    let_ik_act(rig)
    after = limb_over_time(rig)
    assert np.linalg.norm(after[0] - before[0], axis=-1).max() < BACK
    assert widest(before[1], after[1]) < TURNED


@pytest.mark.parametrize("mode", ["XYZ", "QUATERNION", "AXIS_ANGLE", "YZX"])
def test_the_rigs_own_ik_does_what_the_keys_do_and_nothing_moves_before_it_acts(empty_file, mode):
    rig = control_rig()
    rig.pose.bones["Foot.L"].rotation_mode = mode
    before = limb_over_time(rig)
    report = given()
    np.testing.assert_array_equal(limb_over_time(rig)[0], before[0])
    assert (report["target_bone"], report["pole_bone"], report["constraint"]) == ("Foot.L", "PoleTarget.L", "IK")
    assert report["max_round_trip"] < BACK
    assert report["max_end_turn"] < TURNED
    assert report["notes"] == []
    assert_ik_does_the_same(rig, before)


@pytest.mark.parametrize("pole", [True, False])
def test_an_ik_that_stretches_does_what_scaled_bones_do(empty_file, pole):
    """A limb a quarter longer at its longest, on an IK whose bones may stretch."""
    rig = control_rig(pole=pole)
    for name in ("upper", "lower"):
        rig.pose.bones[name].ik_stretch = 0.3
        key_channel(rig.pose.bones[name], "scale", {1: (1, 1, 1), LAST // 2: (1, 1.25, 1), LAST: (1, 1, 1)})
        rig.data.bones[name].inherit_scale = "NONE"
    rig.data.bones["foot"].inherit_scale = "NONE"
    before = limb_over_time(rig)
    given(**{} if pole else {"plane": "POSE", "pole": "", "pole_bone": ""})
    assert_ik_does_the_same(rig, before)


def test_fk_to_controls_to_fk(empty_file):
    rig = control_rig()
    before = limb_over_time(rig)
    given()
    let_ik_act(rig)
    assert bpy.ops.twobone.convert_ik(armature="Rig", bone="lower") == {"FINISHED"}
    after = limb_over_time(rig)
    assert np.linalg.norm(after[0] - before[0], axis=-1).max() < BACK


def child_of(rig, control):
    mover = add_empty("Mover")
    key_channel(mover, "rotation_euler", {1: (0, 0, 0), LAST: (0.4, 1.0, 0.2)})
    key_channel(mover, "location", {1: (0, 0, 0), LAST: (1, 0, 2)})
    held = control.constraints.new("CHILD_OF")
    held.target = mover
    held.inverse_matrix = Matrix(((0, 1, 0, 1), (-1, 0, 0, 0), (0, 0, 1, 2), (0, 0, 0, 1)))


def half_child_of(rig, control):
    child_of(rig, control)
    control.constraints[0].influence = 0.5


def copies_place(rig, control):
    held = control.constraints.new("COPY_LOCATION")
    held.target, held.subtarget, held.use_offset = rig, "parent", True


def inherits_nothing(rig, control):
    control.bone.use_inherit_rotation = False
    control.bone.inherit_scale = "NONE"
    control.bone.use_local_location = False


def scaled_parents(rig, control):
    rig.scale = (0.02, 0.02, 0.02)
    rig.pose.bones["holder"].scale = (3, 3, 3)


def scaled_unevenly(rig, control):
    rig.pose.bones["holder"].scale = (1, 2, 0.7)


def elsewhere(rig, control):
    key_channel(control, "location", {1: (3, 4, 5), 9: (-3, 1, 0)})
    key_channel(control, "rotation_euler", {1: (3, 4, 5), 9: (-3, 1, 0)})


@pytest.mark.parametrize(
    "prepare",
    [child_of, half_child_of, copies_place, inherits_nothing, scaled_parents, scaled_unevenly, elsewhere],
    ids=lambda prepare: prepare.__name__,
)
def test_what_moves_the_control_beside_its_keys_is_made_up_for(empty_file, prepare):
    rig = control_rig()
    prepare(rig, rig.pose.bones["Foot.L"])
    before = limb_over_time(rig)
    report = given()
    let_ik_act(rig)
    after = limb_over_time(rig)
    size = rig.scale[0]
    assert report["max_round_trip"] < BACK * size
    assert np.linalg.norm(after[0] - before[0], axis=-1).max() < BACK * size
    assert widest(before[1], after[1]) < TURNED


def test_without_a_pole_or_a_copied_rotation_the_control_alone_is_keyed(empty_file):
    rig = control_rig(pole=False, copies_rotation=False)
    before = limb_over_time(rig)
    report = given(plane="POSE", pole="", pole_bone="", rotate=False)
    assert report["channels"] == 3
    assert report["sentence"].startswith(f"{report['target_bone']}: {report['keys']} keys on 3 curves")
    assert_ik_does_the_same(rig, before)


def test_a_control_whose_rotation_nothing_copies_is_turned_like_the_foot(empty_file):
    rig = control_rig(copies_rotation=False)
    feet = limb_over_time(rig)[1]
    given()
    assert widest(feet, limb_over_time(rig, ("Foot.L",))[1]) < TURNED


def test_a_pole_that_is_left_out_is_the_rigs_own(empty_file):
    rig = control_rig()
    before = limb_over_time(rig)
    assert given(pole="", pole_bone="")["pole_bone"] == "PoleTarget.L"
    assert_ik_does_the_same(rig, before)


def test_an_influence_that_a_property_drives_is_switched_for_the_measurement_only(empty_file):
    rig = control_rig()
    drive_by_property(rig)
    before = limb_over_time(rig)
    assert given()["max_round_trip"] < BACK
    assert rig.pose.bones["root"]["ik"] == 0.0
    np.testing.assert_array_equal(limb_over_time(rig)[0], before[0])
    rig.pose.bones["root"]["ik"] = 1.0
    after = limb_over_time(rig)
    assert np.linalg.norm(after[0] - before[0], axis=-1).max() < BACK


def test_keys_outside_the_range_stay_to_the_last_bit_and_nothing_else_changes(empty_file):
    rig = control_rig()
    for bone in ("Foot.L", "PoleTarget.L"):
        key_channel(rig.pose.bones[bone], "location", {-10: (1, 2, 3), 7: (0, 0, 1), 40: (4, 5, 6)})
    outside = poses_outside(rig)
    before = dump_file()
    given(frame_range="CUSTOM", frame_start=5, frame_end=12, key_before=True, key_after=True)
    changed = differences(before, dump_file())
    assert changed
    assert all(path.startswith("actions[RigAction]") for path in changed), changed
    np.testing.assert_allclose(poses_outside(rig), outside, atol=1e-6)


def poses_outside(rig):
    return limb_over_time(rig, ("Foot.L", "PoleTarget.L", "foot"), (-10, -3, 1, 4, 13, 25, 40))[0]


def test_reduced_keys_keep_the_control_within_the_tolerance_and_the_report_measures_them(empty_file):
    rig = control_rig()
    before = limb_over_time(rig)
    report = given(keys="REDUCE", tolerance=0.01)
    assert report["keys"] < report["full_rate_keys"]
    let_ik_act(rig)
    off = np.linalg.norm(limb_over_time(rig)[0] - before[0], axis=-1)
    assert off[:, 2].max() < 0.0101
    assert report["max_round_trip"] == pytest.approx(off.max(), rel=0.02)


def lock(rig, control):
    control.lock_location[1] = True


def drive(rig, control):
    control.driver_add("location", 2)


def limit(rig, control):
    held = control.constraints.new("LIMIT_LOCATION")
    held.name, held.use_max_z, held.max_z = "Floor", True, -2.0


def stop_turning(rig, control):
    held = control.constraints.new("LIMIT_ROTATION")
    held.name, held.use_limit_x, held.use_limit_y, held.use_limit_z = "Stiff", True, True, True


def connect(rig, control):
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones["Foot.L"].use_connect = True
    bpy.ops.object.mode_set(mode="OBJECT")


@pytest.mark.parametrize(
    "change, settings, sentence",
    [
        (lock, {}, 'Target bone "Foot.L" has its location locked in Y, but would have to move there by up to'),
        (drive, {}, "is driven"),
        (limit, {}, 'Target bone "Foot.L" cannot reach the tip at frame'),
        (limit, {}, 'Mute its constraint "Floor" first.'),
        (stop_turning, {}, "cannot match the rotation of the bone at the tip at frame"),
        (connect, {}, 'Target bone "Foot.L" is connected to its parent'),
        (None, {"target_bone": "nothing"}, 'Target bone "nothing" is not in armature "Rig"'),
        (None, {"pole_bone": "Foot.L"}, '"Foot.L" cannot be target and pole at once'),
        (None, {"pole": "Loose", "pole_bone": ""}, 'Pole "Loose" is an object, but the target is a bone.'),
    ],
    ids=["locked", "driven", "limited", "remedy", "stiff", "connected", "missing", "same", "mixed"],
)  # fmt: skip
def test_what_cannot_be_done_is_said_and_nothing_changes(empty_file, change, settings, sentence):
    rig = control_rig()
    add_empty("Loose")
    if change:
        change(rig, rig.pose.bones["Foot.L"])
    bpy.context.view_layer.update()
    before = dump_file()
    assert sentence in refusal(**settings)
    assert differences(before, dump_file()) == []
