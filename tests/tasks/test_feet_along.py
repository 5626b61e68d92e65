"""Feet that their legs only meet go along, whatever task keys the leg, and come back when its keys are cleared."""

import re

import bpy
import numpy as np
import pytest

import twobone_addon as twobone
from tests.tasks.checks.all_keys import all_keys
from tests.tasks.checks.beside import ways_to_the_foot
from tests.tasks.rigs.robot import LAST, robot
from tests.tasks.scenes import set_range

LEG = 0.9
FRAMES = np.arange(1.0, LAST + 1)
TOGETHER = 1e-5 * LEG
"""Single precision, at frames; between them leg and foot are interpolated each by itself."""


@pytest.fixture
def rig(empty_file):
    """The robot on FK, as Switch leaves it: its feet hang from the root, and are what the muted IK follows."""
    armature = robot()
    set_range(1, LAST)
    bpy.context.view_layer.objects.active = armature
    twobone.find_limbs(targets=True)
    twobone.switch(to="FK", scope="ACTIVE")
    return armature


def left_leg(rig):
    return next(chain for chain in rig.twobone.chains if chain.upper == "UpperLegL")


def foot(rig):
    return ways_to_the_foot(rig, "LowerLegL", "FootL", FRAMES)


def lifted_target(rig):
    """The target of the left leg goes up by 30 cm in the middle of the range."""
    target = left_leg(rig).target
    bpy.context.scene.frame_set(6)
    target.location.z += 0.3
    target.keyframe_insert("location", frame=6)


def without_ik(rig):
    for constraint in list(rig.pose.bones["LowerLegL"].constraints):
        rig.pose.bones["LowerLegL"].constraints.remove(constraint)


def bake(rig):
    lifted_target(rig)
    return twobone.bake_all(scope="ACTIVE")


def reduced(rig):
    lifted_target(rig)
    left_leg(rig).keys, left_leg(rig).tolerance = "REDUCE", 1e-4
    return twobone.bake_all(scope="ACTIVE")


def nudge(rig):
    without_ik(rig)  # which is on before and after the range
    return twobone.nudge(chain=left_leg(rig).name, frame=6, offset=(0.0, 0.05, 0.2), before=4, after=4)


def plant(rig):
    return twobone.plant()


@pytest.mark.parametrize("task", [bake, nudge, plant, reduced])
def test_the_foot_goes_along_is_said_and_comes_back(rig, task):
    before, moves_before = all_keys(rig), foot(rig)
    report = task(rig)
    ways, places = foot(rig)
    assert np.linalg.norm(places - moves_before[1], axis=1).max() > 0.01
    assert np.abs(ways - moves_before[0]).max() < (2e-3 if task is reduced else TOGETHER)
    notes = [note for part in (report, *report.chains) for note in getattr(part, "notes", ())]
    assert [note.values["bones"] for note in notes if note.template == "Foot bones keyed along: {bones}."][:1] == ["FootL"]
    rig.twobone.active_index = rig.twobone.chains.find(left_leg(rig).name)
    assert bpy.ops.twobone.clear_baked() == {"FINISHED"}
    after = all_keys(rig)
    assert {path: keys for path, keys in after.items() if "FootL" in path[0]} == {
        path: keys for path, keys in before.items() if "FootL" in path[0]
    }


REFUSED = 'Foot "FootL" is not parented to the leg and does not follow it, and its location cannot be keyed along: '


def locked(foot):
    foot.lock_location[2] = True


def driven(foot):
    curve = foot.driver_add("location", 0)
    curve.driver.expression = "0.1"


def constrained(foot):
    foot.constraints.new("LIMIT_LOCATION").use_min_z = True


def connected(foot):
    bpy.ops.object.mode_set(mode="EDIT")
    bones = foot.id_data.data.edit_bones
    root, of_foot = bones["Bone"], bones["FootL"]
    between = bones.new("Between")
    between.head, between.tail, between.parent = root.tail, of_foot.head, root
    of_foot.parent, of_foot.use_connect = between, True
    bpy.ops.object.mode_set(mode="OBJECT")


@pytest.mark.parametrize("hinder", [locked, driven, constrained, connected])
def test_a_foot_that_cannot_be_keyed_along_is_refused_by_one_sentence_in_all_tasks(rig, hinder):
    without_ik(rig)
    hinder(rig.pose.bones["FootL"])
    for chain in list(rig.twobone.chains):
        if chain != left_leg(rig):
            chain.enabled = False
    before, said = None, set()
    for task in (bake, nudge, plant):
        with pytest.raises(twobone.TwoBoneError, match=re.escape(REFUSED)) as refused:
            task(rig)
        said.add(str(refused.value)[str(refused.value).index(REFUSED) :])  # Several chains are named before it.
        before = before or all_keys(rig)
        assert all_keys(rig) == before
    assert len(said) == 1


def test_feet_that_the_root_does_not_carry_go_along_with_it_and_come_back(rig):
    """`Body` carries the legs, not their feet; the target of the left leg goes where the leg reaches only with the root."""
    before, shown = all_keys(rig), foot(rig)
    target = left_leg(rig).target
    bpy.context.scene.frame_set(6)
    target.location.z -= 0.3
    target.keyframe_insert("location", frame=6)
    report = twobone.fit_root(reserve=0.01)
    ways, places = foot(rig)
    assert np.linalg.norm(places - shown[1], axis=1).max() > 0.05
    assert np.abs(ways - shown[0]).max() < TOGETHER
    (along,) = (said for said in report.notes if said.template == "Foot bones keyed along: {bones}.")
    assert along.values["bones"] == "FootL, FootR"
    twobone.clear_baked(armature=rig.name, scope="ACTIVE")
    moved = {path: keys for path, keys in all_keys(rig).items() if "Foot" in path[0] or "Body" in path[0]}
    assert moved == {path: keys for path, keys in before.items() if path in moved}


def weigh(rig, *bones):
    """A mesh with one vertex for each bone, which carries it."""
    data = bpy.data.meshes.new("Shoes")
    data.from_pydata([rig.data.bones[bone].head_local for bone in bones], [], [])
    mesh = bpy.data.objects.new("Shoes", data)
    bpy.context.scene.collection.objects.link(mesh)
    mesh.modifiers.new("Skin", "ARMATURE").object = rig
    for number, bone in enumerate(bones):
        mesh.vertex_groups.new(name=bone).add([number], 1.0, "REPLACE")


@pytest.mark.parametrize("shoe", [None, "FootL"])
def test_a_control_at_the_ankle_that_deforms_nothing_stays_where_it_is(rig, shoe):
    """Bones deform by default, so a control does, though no mesh has a weight for it."""
    left_leg(rig).tip, left_leg(rig).tip_end = "LowerLegL", "TAIL"
    weigh(rig, "UpperLegL", "LowerLegL", *filter(None, [shoe]))
    before = foot(rig)[1]
    report = bake(rig)
    moved = np.linalg.norm(foot(rig)[1] - before, axis=1).max()
    said = [note for chain in report.chains for note in chain.notes if "along" in note.template]
    assert (moved > 0.1, bool(said)) == ((True, True) if shoe else (False, False))
