"""What people see of a limb where another armature deforms, where drivers turn bones, and where switches are kept elsewhere."""

import json

import bpy
import pytest

from tests.interface.recording import drawn
from tests.tasks.bake.report.seen_feet import LEG, ON_TARGET, add_target, kinds, names, visible_misses
from tests.tasks.rigs.followed_rig import deformed_mesh, deforming_armature, driven_leg, switch_elsewhere
from tests.tasks.rigs.switched_leg import switched_leg
from tests.tasks.scenes import Limb, bake
from twobone_addon.interface.sidebar.panels import TWOBONE_PT_chains
from twobone_addon.scene.versions import curve_bag
from twobone_addon.scene.visible.skin import Skins
from twobone_addon.scene.visible.visible_bone import shown_bone


def switch():
    result = bpy.ops.twobone.switch(**LEG.names(), to="FK")
    bpy.context.view_layer.update()
    return result


@pytest.mark.parametrize("location", [(0, 0, 0), (3, -2, 1)])
def test_an_armature_that_deforms_in_the_control_rigs_stead_is_what_is_seen(empty_file, location):
    rig, target = switched_leg(), add_target()
    rig.location = location
    game = deforming_armature(rig, location=location)
    shown = shown_bone(rig, names(rig))
    assert (shown.armature, shown.bone, shown.follows) == ("Game", "game_shin", False)
    with pytest.raises(RuntimeError, match=r'The visible limb \("game_shin"\) does not follow bone "shin_fk"'):
        bake(LEG, target="Target", plane="YZ", bend="NEGATIVE")
    assert switch() == {"FINISHED"}
    if location == (0, 0, 0):
        report = bake(LEG, target="Target", plane="YZ", bend="NEGATIVE")
        assert kinds(report)[0] != "NOT_SHOWN"
        assert max(visible_misses(game, target, "game_foot").values()) < ON_TARGET


def test_a_copy_that_is_muted_on_the_deforming_armature_is_found_and_switched_on(empty_file):
    rig, target = switched_leg(on_ik=0.0), add_target()
    game = deforming_armature(rig)
    for bone in game.pose.bones:
        bone.constraints[0].mute = True
    bpy.context.view_layer.update()
    assert not shown_bone(rig, names(rig)).follows
    assert switch() == {"FINISHED"}
    told = json.loads(bpy.context.window_manager.twobone_report)
    assert set(told["owners"]) == {"Game"}
    bake(LEG, target="Target", plane="YZ", bend="NEGATIVE")
    assert max(visible_misses(game, target, "game_foot").values()) < ON_TARGET


def test_a_rig_with_a_mesh_of_its_own_is_seen_itself(empty_file):
    rig = switched_leg(on_ik=0.0)
    deformed_mesh(rig, "shin_def")
    deforming_armature(rig)
    assert shown_bone(rig, names(rig)).armature == rig.name


@pytest.mark.parametrize("make", [switched_leg, driven_leg], ids=["constraints", "drivers"])
def test_what_was_traced_before_is_traced_again_when_a_switch_has_another_value(empty_file, make):
    rig, skins, followed = make(on_ik=0.0), Skins(), []
    for on_ik in (0.0, 0.0, 1.0, 1.0, 0.5, 0.0):
        for name in ("IK", "FK_IK"):
            if name in rig.pose.bones["hip"]:
                rig.pose.bones["hip"][name] = on_ik
        rig.update_tag()
        bpy.context.view_layer.update()
        shown = shown_bone(rig, names(rig), skins)
        assert shown == shown_bone(rig, names(rig)), on_ik
        followed.append(shown.follows)
    assert followed == [True, True, False, False, False, True]


def test_what_was_traced_before_is_traced_again_when_a_constraint_is_muted(empty_file):
    rig, skins = switched_leg(on_ik=1.0), Skins()
    assert not shown_bone(rig, names(rig), skins).follows
    for part in ("thigh", "shin"):
        rig.pose.bones[f"{part}_def"].constraints["ik"].mute = True
    bpy.context.view_layer.update()
    assert shown_bone(rig, names(rig), skins).follows


def control_object():
    thing = bpy.data.objects.new("Controls", None)
    bpy.context.scene.collection.objects.link(thing)
    return thing


@pytest.mark.parametrize("where", ["another object", "the armature's data"])
@pytest.mark.parametrize("keyed", [False, True])
def test_a_switch_that_is_not_on_the_armature_object_is_found_and_switched(empty_file, where, keyed):
    rig, target = switched_leg(), add_target()
    owner = control_object() if where == "another object" else rig.data
    switch_elsewhere(rig, owner)
    if keyed:
        rig.pose.bones["thigh_fk"].keyframe_insert("rotation_quaternion", frame=1)
    with pytest.raises(RuntimeError, match=r'The visible limb \("shin_def"\) does not follow bone "shin_fk"'):
        bake(LEG, target="Target", plane="YZ", bend="NEGATIVE")
    assert switch() == {"FINISHED"}
    told = json.loads(bpy.context.window_manager.twobone_report)
    assert (told["properties"], told["owners"], told["values"]) == (['["IK"]'], [owner.name], [0.0])
    assert bool(told["keys"]) == (curve_bag(owner) is not None) == keyed
    bake(LEG, target="Target", plane="YZ", bend="NEGATIVE")
    assert max(visible_misses(rig, target).values()) < ON_TARGET
    assert not [
        thing for thing in (*bpy.data.objects, *bpy.data.scenes, *bpy.data.armatures) if thing.name.startswith(".twobone")
    ]
    assert len(bpy.data.armatures) == 1


def test_bones_that_drivers_turn_after_the_chain_are_known_to_follow_it(empty_file):
    rig, target = driven_leg(on_ik=0.0), add_target()
    assert shown_bone(rig, names(rig)).bone == "shin_def"
    assert shown_bone(rig, names(rig)).follows
    report = bake(LEG, target="Target", plane="YZ", bend="NEGATIVE")
    assert kinds(report)[0] != "NOT_SHOWN"
    assert max(visible_misses(rig, target).values()) < ON_TARGET


def test_drivers_that_mix_in_something_else_are_named_and_switched(empty_file):
    rig, target = driven_leg(on_ik=1.0), add_target()
    assert not shown_bone(rig, names(rig)).follows
    with pytest.raises(RuntimeError, match=r'The visible limb \("shin_def"\) does not follow bone "shin_fk"'):
        bake(LEG, target="Target", plane="YZ", bend="NEGATIVE")
    assert switch() == {"FINISHED"}
    bake(LEG, target="Target", plane="YZ", bend="NEGATIVE")
    assert max(visible_misses(rig, target).values()) < ON_TARGET


@pytest.mark.parametrize("other", [False, True])
def test_a_hidden_armature_modifier_is_named_before_the_bake_as_well(empty_file, other):
    rig = switched_leg(on_ik=0.0)
    add_target()
    deforming = deforming_armature(rig) if other else rig
    mesh = bpy.data.objects["Body"] if other else deformed_mesh(rig, "shin_def")
    chain = rig.twobone.chains.add()
    chain.name, chain.upper, chain.lower, chain.target = "Leg", "thigh_fk", "shin_fk", bpy.data.objects["Target"]
    bpy.context.view_layer.objects.active = rig
    bpy.context.view_layer.update()
    assert "Skin" not in " ".join(drawn(TWOBONE_PT_chains).texts())
    mesh.modifiers["Skin"].show_viewport = False
    bpy.context.view_layer.update()
    assert 'Modifier "Skin" of "Body" is hidden in the viewport' in " ".join(drawn(TWOBONE_PT_chains).texts())
    assert deforming in {rig, bpy.data.objects.get("Game")}
    report = bake(Limb("Rig", "thigh_fk", "shin_fk"), target="Target", plane="YZ")
    assert 'Modifier "Skin" of "Body" is hidden' in " ".join(report["notes"])


@pytest.mark.parametrize("linked", [False, True])
def test_an_armature_that_was_never_evaluated_is_passed_over(empty_file, linked):
    rig, _ = switched_leg(), add_target()
    kept = bpy.data.objects.new("Kept for later", bpy.data.armatures.new("Kept for later"))
    if linked:
        bpy.context.scene.collection.objects.link(kept)
    assert kept.pose is None
    assert shown_bone(rig, names(rig)).armature == rig.name
    with pytest.raises(RuntimeError, match=r'The visible limb \("shin_def"\) does not follow bone "shin_fk"'):
        bake(LEG, target="Target", plane="YZ", bend="NEGATIVE")


def test_guides_and_armatures_that_were_never_evaluated_are_known_by_their_bones(empty_file):
    rig, _ = switched_leg(), add_target()
    kept = bpy.data.objects.new("Kept for later", rig.data)
    with pytest.raises(RuntimeError, match='Target bone "no such" is not in armature "Kept for later"'):
        bake(LEG, target=kept.name, target_bone="no such", plane="YZ", bend="NEGATIVE")
    assert kept.pose is None
    with pytest.raises(RuntimeError, match='"Kept for later" has no pose until'):
        bpy.ops.twobone.bake(**{**LEG.names(), "armature": kept.name}, target="Target", plane="YZ")
