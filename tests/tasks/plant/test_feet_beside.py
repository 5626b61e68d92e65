"""Feet that stand beside their leg, parented elsewhere: planted only where they go along, as Blender evaluates them."""

import re

import bpy
import numpy as np
import pytest

import twobone_addon as twobone
from tests.tasks.checks.all_keys import all_keys
from tests.tasks.checks.beside import ways_to_the_foot
from tests.tasks.rigs.robot import LAST, robot
from tests.tasks.scenes import add_empty, set_range
from twobone_addon.scene.versions import curve_bag

FOLLOWS = re.compile(r'^Constraint "(.+?)" of bone "(.+?)" follows foot "(.+?)", .* Delete that constraint, and give the foot ')
REMEDY = re.compile(r'[fF]oot "(.+?)".* a Copy Location constraint to the tail of bone "(.+?)"\.$')


def beside(rig, name, parents):
    """A bone for each leg where its foot is, below `parents` of it, moved to by nothing."""
    bpy.ops.object.mode_set(mode="EDIT")
    bones = rig.data.edit_bones
    for side in "LR":
        foot, bone = bones[f"Foot{side}"], bones.new(f"{name}{side}")
        bone.head, bone.tail, bone.roll, bone.use_deform = foot.head, foot.tail, foot.roll, False
        bone.parent = bones[parents if parents in bones else f"{parents}{side}"]
    bpy.ops.object.mode_set(mode="OBJECT")


def parented(rig, name, parents):
    bpy.ops.object.mode_set(mode="EDIT")
    for side in "LR":
        rig.data.edit_bones[f"{name}{side}"].parent = rig.data.edit_bones[f"{parents}{side}"]
    bpy.ops.object.mode_set(mode="OBJECT")


def iks(rig):
    return ((side, rig.pose.bones[f"LowerLeg{side}"].constraints["IK"]) for side in "LR")


def the_foot_itself(rig):
    """The robot as it is."""


def a_child_of_the_foot(rig):
    beside(rig, "Ankle", "Foot")
    for side, ik in iks(rig):
        ik.subtarget = f"Ankle{side}"


def an_empty_on_the_foot(rig):
    for side, ik in iks(rig):
        goal = add_empty(f"Goal{side}", rig)
        goal.parent_type, goal.parent_bone = "BONE", f"Foot{side}"
        goal.location.y = -rig.data.bones[f"Foot{side}"].length
        ik.target = goal


def controls(rig, *, keep_keys):
    """Controls that the IK follows in place of the feet, with their keys."""
    beside(rig, "Control", "Bone")
    for side, ik in iks(rig):
        ik.subtarget = f"Control{side}"
        foot = rig.pose.bones[f"Foot{side}"]
        bag = curve_bag(rig)
        path, control = foot.path_from_id("location"), rig.pose.bones[f"Control{side}"].path_from_id("location")
        for curve in [curve for curve in bag.fcurves if curve.data_path == path]:
            points = [tuple(point.co) for point in curve.keyframe_points]
            moved = bag.fcurves.new(control, index=curve.array_index)
            for frame, value in points:
                moved.keyframe_points.insert(frame, value)
            if not keep_keys:
                bag.fcurves.remove(curve)
        if not keep_keys:
            foot.location = (0, 0, 0)


def a_pole_below_the_foot(rig):
    controls(rig, keep_keys=True)
    parented(rig, "PoleTarget", "Foot")


def a_control_above_the_foot(rig):
    controls(rig, keep_keys=False)
    parented(rig, "Foot", "Control")


def a_control_that_the_foot_copies(rig):
    controls(rig, keep_keys=False)
    for side in "LR":
        copying = rig.pose.bones[f"Foot{side}"].constraints.new("COPY_TRANSFORMS")
        copying.target, copying.subtarget = rig, f"Control{side}"


def copy_the_tail(rig, bone, lower):
    copying = rig.pose.bones[bone].constraints.new("COPY_LOCATION")
    copying.target, copying.subtarget, copying.head_tail = rig, lower, 1.0


def feet_on_the_tails(rig):
    for side in "LR":
        copy_the_tail(rig, f"Foot{side}", f"LowerLeg{side}")


def on_ik(kind):
    rig = robot()
    set_range(1, LAST)
    bpy.context.view_layer.objects.active = rig
    kind(rig)
    twobone.find_limbs()
    return rig


def on_fk(kind):
    rig = on_ik(kind)
    twobone.switch(to="FK", scope="ACTIVE")
    return rig


def places(rig, of):
    """A point of the evaluated pose at every frame: `(F, 3)`."""
    found = []
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)
        found.append(np.array(of(rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones)))
    return np.array(found)


def assert_feet_stand_on_their_legs(rig, report):
    for side, chain in zip("LR", report.chains, strict=True):
        foot = places(rig, lambda shown, side=side: shown[f"Foot{side}"].head)
        assert np.abs(foot - places(rig, lambda shown, side=side: shown[f"LowerLeg{side}"].tail)).max() < 1e-6
        assert chain.contacts
        for contact in chain.contacts:
            assert np.ptp(foot[int(contact.first) - 1 : int(contact.last)], axis=0).max() < 1e-4


@pytest.mark.parametrize(
    "kind",
    [the_foot_itself, a_child_of_the_foot, an_empty_on_the_foot, a_pole_below_the_foot, a_control_above_the_foot],
)
def test_a_robots_feet_go_along_with_their_legs(empty_file, capfd, kind):
    """Whatever the muted IK of the legs follows: keys on the feet are no cycle."""
    rig = on_fk(kind)
    frames = np.arange(1.0, LAST + 1)
    before = [ways_to_the_foot(rig, f"LowerLeg{side}", f"Foot{side}", frames)[0] for side in "LR"]
    report = twobone.plant()
    for side, way, chain in zip("LR", before, report.chains, strict=True):
        new_way, foot = ways_to_the_foot(rig, f"LowerLeg{side}", f"Foot{side}", frames)
        assert np.abs(new_way - way).max() < 1e-5
        assert chain.contacts
        for contact in chain.contacts:
            assert np.ptp(foot[int(contact.first) - 1 : int(contact.last)], axis=0).max() < 1e-4
    assert "ependency cycle" not in "".join(capfd.readouterr())


@pytest.mark.parametrize("kind", [a_control_that_the_foot_copies])
def test_a_robots_feet_stand_by_what_the_refusals_say(empty_file, capfd, kind):
    """One press for each foot, and one that plants: no foot is left behind, and following a refusal leads to no cycle."""
    rig = on_fk(kind)
    before = all_keys(rig)
    for _ in "LR":
        with pytest.raises(twobone.TwoBoneError) as refused:
            twobone.plant()
        assert all_keys(rig) == before
        said = str(refused.value)
        if follows := FOLLOWS.search(said):
            carrier = rig.pose.bones[follows[2]]
            carrier.constraints.remove(carrier.constraints[follows[1]])
        copy_the_tail(rig, *REMEDY.search(said).groups())
    report = twobone.plant()
    assert report.is_as_asked
    assert_feet_stand_on_their_legs(rig, report)
    assert "ependency cycle" not in "".join(capfd.readouterr())


@pytest.mark.parametrize("kind", [the_foot_itself, a_child_of_the_foot, an_empty_on_the_foot, a_pole_below_the_foot])
def test_a_foot_on_its_leg_that_the_legs_ik_still_follows_is_refused(empty_file, kind):
    """A dependency cycle, which muting does not break: of what Blender shows of it, nothing is sure."""
    feet_on_the_tails(on_fk(kind))
    with pytest.raises(twobone.TwoBoneError, match='Constraint "IK" of bone "LowerLegL" follows foot "FootL", even if muted'):
        twobone.plant()


def a_holder_above_the_foot(rig):
    """One that follows the leg."""
    controls(rig, keep_keys=False)
    beside(rig, "Holder", "Bone")
    parented(rig, "Foot", "Holder")
    for side in "LR":
        copy_the_tail(rig, f"Holder{side}", f"LowerLeg{side}")
        rig.pose.bones[f"Foot{side}"].keyframe_insert("location", frame=1)


def test_a_foot_below_a_bone_that_follows_the_leg_goes_along(empty_file):
    rig = on_fk(a_holder_above_the_foot)
    assert_feet_stand_on_their_legs(rig, twobone.plant())


def halfway(copying):
    copying.influence = 0.5


def nearly(copying):
    """The foot would slide by a sixth of a millimetre."""
    copying.influence = 0.9995


def not_up(copying):
    copying.use_z = False


def below_another(copying):
    """The control, which the constraint is on top of at first, is copied last."""
    foot = copying.id_data.pose.bones[f"Foot{copying.subtarget[-1]}"]
    foot.constraints.move(len(foot.constraints) - 1, 0)


@pytest.mark.parametrize("kind", [halfway, nearly, not_up, below_another])
def test_a_foot_that_follows_its_leg_in_part_is_refused(empty_file, kind):
    rig = on_fk(a_control_that_the_foot_copies)
    feet_on_the_tails(rig)
    for side in "LR":
        kind(rig.pose.bones[f"Foot{side}"].constraints[-1])
    with pytest.raises(twobone.TwoBoneError, match='Foot "FootL" is not parented to the leg and does not follow it'):
        twobone.plant()


def test_feet_are_looked_at_once_the_legs_are_on_fk(empty_file):
    """On IK, feet stay with what the legs follow."""
    on_ik(a_control_that_the_foot_copies)
    with pytest.raises(twobone.TwoBoneError, match="Use Switch All Limbs to FK"):
        twobone.plant()
