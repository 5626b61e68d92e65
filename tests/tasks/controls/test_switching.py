"""A limb switched to IK and back to FK over a range: nothing is seen to move, in the range or outside."""

import json

import bpy
import numpy as np
import pytest

from tests.tasks.checks.file_dump import differences, dump_file
from tests.tasks.rigs.control_rig import LAST, LENGTH, control_rig, drive_by_property, limb_over_time, widest
from tests.tasks.rigs.switched_leg import switched_leg
from tests.tasks.scenes import add_empty, key_channel, set_range

BACK = 1e-4 * LENGTH
TURNED = 0.05
FIRST_IN, LAST_IN = 6, 14
AROUND = range(-3, LAST + 6)
INSIDE = np.array([FIRST_IN <= frame <= LAST_IN for frame in AROUND])


def switch(to, **settings):
    names = {"armature": "Rig", "upper": "upper", "lower": "lower", "tip": "foot"}
    within = {"frame_range": "CUSTOM", "frame_start": FIRST_IN, "frame_end": LAST_IN}
    assert bpy.ops.twobone.switch(**{**names, **within, "to": to, **settings}) == {"FINISHED"}
    return json.loads(bpy.context.window_manager.twobone_report)["chains"][0]


def switch_by_influence(rig):
    for bone in ("lower", "foot"):
        constraint = rig.pose.bones[bone].constraints[0]
        constraint.mute, constraint.influence = False, 0.0


def stay_muted(rig):
    """The constraints are muted as the rig is made."""


def assert_unmoved(rig, before):
    after = limb_over_time(rig, frames=AROUND)
    moved = np.linalg.norm(after[0] - before[0], axis=-1).max(axis=1)
    assert moved[INSIDE].max() < BACK
    np.testing.assert_array_equal(after[0][~INSIDE], before[0][~INSIDE])
    assert widest(before[1], after[1]) < TURNED


@pytest.mark.parametrize("prepare", [drive_by_property, switch_by_influence, stay_muted], ids=lambda prepare: prepare.__name__)
def test_to_ik_and_back_nothing_is_seen_to_move(empty_file, prepare):
    rig = control_rig()
    prepare(rig)
    before = limb_over_time(rig, frames=AROUND)
    to_ik = switch("IK")
    assert to_ik["baked"]
    assert to_ik["properties"]
    assert to_ik["max_moved"] < BACK
    assert_unmoved(rig, before)
    to_fk = switch("FK")
    assert to_fk["baked"]
    assert_unmoved(rig, before)


def add_ik_that_leads(rig):
    """As a paw has it: an IK of its own over the same joints, by which the rig turns the heel beforehand."""
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    bones = rig.data.edit_bones
    for name, like, parent in (("lead", "upper", "parent"), ("lead_end", "lower", "lead"), ("socket", "goal", "Foot.L")):
        bone = bones.new(name)
        bone.head, bone.tail, bone.parent = bones[like].head, bones[like].tail, bones[parent]
    bpy.ops.object.mode_set(mode="OBJECT")
    ik = rig.pose.bones["lead_end"].constraints.new("IK")
    ik.target, ik.subtarget, ik.chain_count, ik.mute = rig, "socket", 2, True


def test_a_second_ik_over_the_same_joints_is_not_taken_for_another_limbs(empty_file):
    rig = control_rig()
    add_ik_that_leads(rig)
    drive_by_property(rig)
    before = limb_over_time(rig, frames=AROUND)
    switch("IK")
    assert_unmoved(rig, before)


def test_a_twist_that_the_ik_does_not_keep_is_said_with_bone_angle_and_frames(empty_file):
    rig = switched_leg(on_ik=0.0, control=True)
    set_range(1, 12)
    for bone, bend in (("thigh_fk", -0.3), ("shin_fk", 0.6)):
        rig.pose.bones[bone].rotation_mode = "YXZ"
        turns = {frame: (bend, 1.0 if bone == "shin_fk" and frame in (9, 10) else 0.0, 0.0) for frame in range(1, 13)}
        key_channel(rig.pose.bones[bone], "rotation_euler", turns)
    assert bpy.ops.twobone.switch(armature="Rig", upper="thigh_fk", lower="shin_fk", to="IK") == {"FINISHED"}
    told = json.loads(bpy.context.window_manager.twobone_report)["chains"][0]
    (lost,) = [remark for remark in told["remarks"] if remark["kind"] == "TWIST_LOST"]
    assert lost["values"]["bone"] == "shin_def"
    assert float(lost["values"]["angle"]) == pytest.approx(np.degrees(1.0), abs=1.0)
    assert lost["ranges"] == [[9, 10]]
    assert "shin_def loses its twist, up to 57 degrees at frame" in told["sentence"]


def test_all_limbs_of_a_character_are_switched_in_one_press(empty_file):
    rig = switched_leg(on_ik=0.0, control=True)
    set_range(1, 6)
    key_channel(rig.pose.bones["thigh_fk"], "rotation_quaternion", {1: (1.0, 0.1, 0.0, 0.0), 6: (1.0, -0.2, 0.0, 0.0)})
    chain = rig.twobone.chains.add()
    chain.name, chain.upper, chain.lower = "Leg", "thigh_fk", "shin_fk"
    assert bpy.ops.twobone.switch(to="IK", scope="ACTIVE") == {"FINISHED"}
    assert [each["upper"] for each in json.loads(bpy.context.window_manager.twobone_report)["chains"]] == ["thigh_fk"]
    bpy.context.scene.frame_set(3)
    assert rig.pose.bones["hip"]["FK_IK"] == 1.0


@pytest.mark.parametrize("to", ["IK", "FK"])
def test_what_moves_between_keys_that_are_far_apart_is_said(empty_file, to):
    rig = control_rig(on_ik=to == "FK")
    drive_by_property(rig)
    rig.pose.bones["root"]["ik"] = float(to == "FK")
    key_channel(rig.pose.bones["Foot.L"], "location", {frame: (0.0, 0.1 * (frame % 4), 0.0) for frame in AROUND})
    before = limb_over_time(rig, frames=AROUND)[0]
    told = switch(to, step=4.0)
    moved = np.linalg.norm(limb_over_time(rig, frames=AROUND)[0] - before, axis=-1).max(axis=1)[INSIDE].max()
    assert moved > BACK
    assert told["max_moved"] == pytest.approx(moved, rel=0.05)
    assert "joints visibly move by up to" in told["sentence"]


def soft(chain):
    chain.reach, chain.softness = "SOFTEN", 0.5


def limited(chain):
    chain.use_limits, chain.upper_min, chain.upper_max = True, -0.01, 0.01


def held_back(chain):
    chain.max_distance = 0.5 * LENGTH


def turned_pole(chain):
    chain.plane, chain.pole, chain.pole_angle = "POLE", add_empty("Pole"), 1.0


def keyed_to_the_other_side(chain):
    chain.bend, chain.influence = "NEGATIVE", 0.5
    chain.keyframe_insert("bend", frame=FIRST_IN)
    chain.keyframe_insert("influence", frame=FIRST_IN)


def on_the_targets_keys(chain):
    chain.target, chain.keys = add_empty("Target"), "TARGET_KEYS"


CHANGES = (soft, limited, held_back, turned_pole, keyed_to_the_other_side, on_the_targets_keys)


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_what_a_chain_is_to_do_in_a_bake_moves_nothing_in_a_switch(empty_file, change):
    rig = control_rig()
    drive_by_property(rig)
    chain = rig.twobone.chains.add()
    chain.name, chain.upper, chain.lower, chain.tip = "Leg", "upper", "lower", "foot"
    chain.frame_range, chain.frame_start, chain.frame_end = "CUSTOM", FIRST_IN, LAST_IN
    change(chain)
    before = limb_over_time(rig, frames=AROUND)
    for to in ("IK", "FK"):
        assert bpy.ops.twobone.switch(chain="Leg", to=to) == {"FINISHED"}
        assert_unmoved(rig, before)


def test_the_switch_is_keyed_at_the_ends_and_its_old_value_is_held_outside(empty_file):
    rig = control_rig()
    drive_by_property(rig)
    assert switch("IK")["properties"] == ['pose.bones["root"]["ik"]']
    for frame, value in ((FIRST_IN - 1, 0.0), (FIRST_IN, 1.0), (LAST_IN, 1.0), (LAST_IN + 1, 0.0)):
        bpy.context.scene.frame_set(frame)
        assert rig.pose.bones["root"]["ik"] == value, frame


def test_after_the_controls_were_edited_the_fk_bones_get_what_is_seen(empty_file):
    rig = control_rig()
    drive_by_property(rig)
    switch("IK")
    control = rig.pose.bones["Foot.L"]
    for frame in range(FIRST_IN, LAST_IN + 1):
        bpy.context.scene.frame_set(frame)
        control.location.z += 0.1
        control.keyframe_insert("location", frame=frame)
    edited = limb_over_time(rig, frames=AROUND)
    switch("FK")
    assert_unmoved(rig, edited)


def test_keeping_the_fk_keys_only_switches(empty_file):
    rig = control_rig()
    drive_by_property(rig)
    before = limb_over_time(rig, frames=AROUND)
    switch("IK")
    told = switch("FK", motion="KEEP")
    assert not told["baked"]
    np.testing.assert_array_equal(limb_over_time(rig, frames=AROUND)[0], before[0])


def test_a_limb_on_ik_already_and_one_without_ik_are_said_and_nothing_changes(empty_file):
    control_rig(on_ik=True)
    names = {"armature": "Rig", "upper": "upper", "lower": "lower", "tip": "foot"}
    before = dump_file()
    assert bpy.ops.twobone.switch(**names, to="IK") == {"CANCELLED"}
    with pytest.raises(RuntimeError, match="has no IK constraint over its two bones"):
        bpy.ops.twobone.switch(armature="Rig", upper="lower", lower="foot", to="IK")
    assert differences(before, dump_file()) == []


def on_ik(rig):
    """Let the limb follow its IK control, which moves, while its FK bones have keys of another pose."""
    for holder in (rig, *rig.pose.bones):
        for name in list(holder.keys()):
            if isinstance(holder[name], float):
                holder[name] = 1.0
    key_channel(rig.pose.bones["Foot.L"], "location", {FIRST_IN: (0, 0, 0), LAST_IN: (0, 0.05, 0.05)})
    for name in ("upper", "lower"):
        key_channel(rig.pose.bones[name], "rotation_quaternion", {FIRST_IN: (1, 0.5, 0, 0), LAST_IN: (1, 0.5, 0, 0)})
    return rig


def twin_of(rig):
    """A second character with the same bones, and an action of its own."""
    twin = rig.copy()
    twin.name, twin.animation_data.action = "Second", rig.animation_data.action.copy()
    bpy.context.scene.collection.objects.link(twin)
    for driver in twin.animation_data.drivers:
        for target in (target for variable in driver.driver.variables for target in variable.targets):
            target.id = twin
    for constraint in (constraint for bone in twin.pose.bones for constraint in bone.constraints):
        for role in ("target", "pole_target"):
            if getattr(constraint, role, None) == rig:
                setattr(constraint, role, twin)
    return twin


def bake_leg(**settings):
    within = {"frame_range": "CUSTOM", "frame_start": FIRST_IN, "frame_end": LAST_IN, **settings}
    names = {"armature": "Rig", "upper": "upper", "lower": "lower", "tip": "foot", "target": "Goal"}
    iks = [each for bone in bpy.data.objects["Rig"].pose.bones for each in bone.constraints if each.type == "IK"]
    for ik in iks:  # Else nobody would see these keys, and the bake is refused.
        ik.mute = True
    assert bpy.ops.twobone.bake(**names, **within) == {"FINISHED"}
    for ik in iks:
        ik.mute = False


@pytest.fixture
def baked_leg(empty_file):
    rig = control_rig()
    drive_by_property(rig)
    add_empty("Goal").location = (0.1, 0.3, -0.3)
    return on_ik(rig)


def test_a_limb_that_was_just_baked_stays_where_its_ik_has_taken_it_since(baked_leg):
    bake_leg(influence=0.0)
    before = limb_over_time(baked_leg, frames=AROUND)
    assert switch("FK")["baked"]
    assert_unmoved(baked_leg, before)


def test_a_bake_of_another_character_is_not_ones_own(baked_leg):
    twin = twin_of(baked_leg)
    bake_leg()
    bpy.context.view_layer.objects.active = twin
    before = limb_over_time(twin, frames=AROUND)
    assert switch("FK", armature="Second")["baked"]
    assert_unmoved(twin, before)


def test_a_bake_in_another_action_is_not_this_ones(baked_leg):
    data, slots = baked_leg.animation_data, hasattr(bpy.types.Action, "slots")
    other = data.action.copy()
    bake_leg()
    data.action = other
    if slots:
        data.action_slot = other.slots[0]
    before = limb_over_time(baked_leg, frames=AROUND)
    assert switch("FK")["baked"]
    assert_unmoved(baked_leg, before)


def test_a_bake_of_a_part_of_the_range_is_not_all_of_it(baked_leg):
    bake_leg(frame_start=FIRST_IN + 3)
    before = limb_over_time(baked_leg, frames=AROUND)
    assert switch("FK")["baked"]
    assert_unmoved(baked_leg, before)


def test_a_bake_from_before_the_limb_went_to_ik_is_not_the_last_task(baked_leg):
    bake_leg(influence=0.0)
    switch("FK")
    switch("IK")
    before = limb_over_time(baked_leg, frames=AROUND)
    assert switch("FK")["baked"]
    assert_unmoved(baked_leg, before)
