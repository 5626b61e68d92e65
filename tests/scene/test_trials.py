"""A trial of a switch on a copy of few bones finds what one on a copy of the whole rig does, and leaves nothing in the file."""

import bpy
import pytest

from tests.tasks.checks.file_dump import dump_file
from tests.tasks.rigs.switched_leg import switched_leg
from twobone_addon.scene.bones import ChainNames
from twobone_addon.scene.visible import trials
from twobone_addon.scene.visible.rig_ik import RigReader
from twobone_addon.scene.visible.skin import Skins
from twobone_addon.scene.visible.switches import fk_settings, ik_settings, opposite, switched_bones
from twobone_addon.scene.visible.trials import trial

NAMES = ChainNames("Rig", "thigh_fk", "shin_fk", "foot_fk", tip_at_tail=False)
SHOWN = ("thigh_def", "shin_def", "foot_def")


@pytest.fixture
def always_reduced(monkeypatch):
    """Copies with few bones also of a rig that is too small for them to pay."""
    monkeypatch.setattr(trials, "pays", lambda *_: True)


def found(rig):
    """The settings and bones of both sides, as a switch finds them."""
    to_fk = fk_settings(rig, NAMES)
    for setting in to_fk:
        rig.pose.bones["hip"]["FK_IK"] = setting.value
    rig.update_tag()
    bpy.context.view_layer.update()
    reader = RigReader(rig, NAMES)
    ik = reader.steered_by(None)
    to_ik = ik_settings(rig, reader, ik, SHOWN, ik.target)
    moved = [switched_bones(rig, settings, ("thigh_fk", "shin_fk")) for settings in (to_fk, to_ik, opposite(to_fk))]
    return (
        to_fk,
        to_ik,
        [(bone.shown, bone.control, bone.is_copy, bone.control_from_shown.tolist()) for of in moved for bone in of],
    )


def test_few_bones_tell_the_same_as_all(empty_file, request):
    rig = switched_leg()
    whole = found(rig)
    rig.pose.bones["hip"]["FK_IK"] = 1.0
    rig.update_tag()
    bpy.context.view_layer.update()
    before = dump_file()
    request.getfixturevalue("always_reduced")
    assert found(rig) == whole
    assert {shown for shown, *_ in whole[2]} == set(SHOWN)
    rig.pose.bones["hip"]["FK_IK"] = 1.0
    rig.update_tag()
    bpy.context.view_layer.update()
    assert dump_file() == before


def test_the_copy_has_the_bones_asked_about_and_those_above(empty_file, always_reduced):
    rig = switched_leg()
    with trial(rig, [rig], bones={"shin_def"}) as tried:
        tried.layer.update()
        bones = {bone.name for bone in tried.evaluated(tried.thing).pose.bones}
        assert bones == {"hip", "thigh_def", "shin_def", "thigh_fk", "shin_fk", "thigh_ik", "shin_ik"}


@pytest.mark.parametrize("reads", ["its data", "another armature follows it"])
def test_what_a_copy_of_few_bones_could_not_answer_is_asked_of_the_whole_rig(empty_file, always_reduced, reads):
    rig = switched_leg()
    if reads == "its data":
        steering = [rig.data]
    else:
        steering, other = [], rig.copy()
        bpy.context.collection.objects.link(other)
        other.pose.bones["thigh_def"].constraints["fk"].target = rig
    with trial(rig, steering, skins=Skins(), bones={"shin_def"}) as tried:
        assert len(tried.thing.pose.bones) == len(rig.pose.bones)
