"""Whether people see what is baked: found before the bake, measured after it, and put right with one button."""

import json
import math

import bpy
import pytest

from tests.tasks.bake.report.seen_feet import FIRST, LAST, LEG, ON_TARGET, add_target, kinds, names, visible_misses
from tests.tasks.checks.file_dump import differences, dump_file
from tests.tasks.rigs.switched_leg import switched_leg
from tests.tasks.scenes import Limb, add_empty, bake, key_channel, key_places, set_range
from twobone_addon.scene.keys.reading import key_frames
from twobone_addon.scene.versions import curve_bag
from twobone_addon.scene.visible.visible_bone import shown_bone


@pytest.mark.parametrize("on_ik, share", [(1.0, 0.0), (0.0, 1.0), (0.25, 0.75)])
def test_the_share_of_the_fk_bones_in_what_is_seen_is_read_off_the_influences(empty_file, on_ik, share):
    rig = switched_leg(on_ik=on_ik)
    shown = shown_bone(rig, names(rig))
    assert shown.bone == "shin_def"
    assert shown.share == pytest.approx(share)
    assert shown.follows == (share == 1.0)


def refused(limb=LEG, **settings):
    """What a bake of the limb is refused with; it must change nothing."""
    before = dump_file()
    with pytest.raises(RuntimeError) as error:
        bake(limb, target="Target", plane="YZ", bend="NEGATIVE", **settings)
    assert differences(before, dump_file()) == []
    return str(error.value)


def test_a_limb_on_ik_is_not_keyed_where_nobody_sees_it(empty_file):
    switched_leg()
    add_target()
    said = refused()
    assert 'The visible limb ("shin_def") does not follow bone "shin_fk", so keys on it would be invisible' in said
    assert "Use Switch All Limbs to FK first" in said


@pytest.mark.parametrize("keyed", [False, True])
def test_keys_that_nobody_sees_are_refused_though_the_visible_foot_is_on_the_target(empty_file, keyed):
    """A new target has the visible motion, so that the IK that is shown would be on it as well as the keys."""
    rig = switched_leg()
    set_range(FIRST, LAST)
    key_places(bpy.data.objects["IK goal"], [(0, -0.01 * frame, 0.2) for frame in range(LAST)])
    for frame in (FIRST, 9, LAST) if keyed else ():
        rig.pose.bones["hip"].keyframe_insert('["FK_IK"]', frame=frame)
    for name in ("Leg", "Same leg"):
        chain = rig.twobone.chains.add()
        chain.name, chain.upper, chain.lower = name, "thigh_fk", "shin_fk"
    bpy.context.view_layer.objects.active = rig
    bpy.ops.twobone.add_target(stored="Leg")
    rig.twobone.chains[1].target = rig.twobone.chains[0].target
    bpy.context.view_layer.update()
    with pytest.raises(RuntimeError, match=r"does not follow.*Use Switch All Limbs to FK first"):
        bpy.ops.twobone.bake_all(last_wins=True)
    assert bpy.ops.twobone.switch(scope="ACTIVE", to="FK") == {"FINISHED"}
    assert bpy.ops.twobone.bake_all(last_wins=True) == {"FINISHED"}
    assert "all on target" in json.loads(bpy.context.window_manager.twobone_report)["sentence"]
    assert max(visible_misses(rig, rig.twobone.chains[0].target).values()) < 1e-4


@pytest.mark.parametrize("bare", [True, False])
def test_switch_to_fk_sets_what_is_not_animated_and_the_visible_foot_is_on_target(empty_file, bare):
    rig, target = switched_leg("" if bare else "FK_IK"), add_target()
    assert bpy.ops.twobone.switch(**LEG.names(), to="FK") == {"FINISHED"}
    told = json.loads(bpy.context.window_manager.twobone_report)
    assert told["keys"] == 0
    assert curve_bag(rig) is None
    report = bake(LEG, target="Target", plane="YZ", bend="NEGATIVE")
    assert kinds(report) == ["ALL_ON_TARGET"]
    assert report["visible"] == {"bone": "shin_def", "follows": True, "max_distance": None}
    assert max(visible_misses(rig, target).values()) < ON_TARGET
    assert bpy.ops.twobone.switch(**LEG.names(), to="FK") == {"CANCELLED"}


@pytest.mark.parametrize("bare", [True, False])
def test_a_switch_keeps_what_is_seen_whatever_was_baked_before(empty_file, bare):
    """The keys of a bake that is not shown any more are no reason for the visible limb to move."""
    rig, target = switched_leg("" if bare else "FK_IK", on_ik=0.0), add_target()
    bake(LEG, target="Target", plane="YZ", bend="NEGATIVE")
    assert max(visible_misses(rig, target).values()) < ON_TARGET
    goal = bpy.data.objects["IK goal"]
    key_places(goal, [(0, -0.01 * frame, 0.2) for frame in range(LAST)])
    if bare:
        for part in ("thigh", "shin", "foot"):
            rig.pose.bones[f"{part}_def"].constraints["ik"].influence = 1.0
    else:
        rig.pose.bones["hip"]["FK_IK"] = 1.0
        rig.update_tag()
    bpy.context.view_layer.update()
    before = visible_misses(rig, goal)
    assert bpy.ops.twobone.switch(**LEG.names(), to="FK") == {"FINISHED"}
    after = visible_misses(rig, goal)
    assert max(abs(after[frame] - before[frame]) for frame in before) < 1e-4
    told = json.loads(bpy.context.window_manager.twobone_report)["chains"][0]
    for frame, on_ik in ((FIRST - 1, 1.0), (FIRST, 0.0), (LAST, 0.0), (LAST + 1, 1.0)):
        bpy.context.scene.frame_set(frame)
        assert rig.path_resolve(told["properties"][0]) == on_ik, frame
    assert not [thing for thing in (*bpy.data.objects, *bpy.data.scenes) if thing.name.startswith(".twobone")]


def test_a_switch_that_somebody_has_keyed_to_ik_is_keyed_to_fk_in_the_range_only(empty_file):
    rig, target = switched_leg(), add_target()
    hip = rig.pose.bones["hip"]
    for frame in (-10, 10, 40):
        hip["FK_IK"] = 1.0
        hip.keyframe_insert('["FK_IK"]', frame=frame)
    bpy.context.scene.frame_set(10)
    assert bpy.ops.twobone.switch(**LEG.names(), to="FK") == {"FINISHED"}
    bake(LEG, target="Target", plane="YZ", bend="NEGATIVE")
    assert max(visible_misses(rig, target).values()) < ON_TARGET
    bpy.context.scene.frame_set(30)
    assert hip["FK_IK"] == 1.0


def test_a_switch_that_goes_to_ik_in_the_middle_of_the_range_is_refused_with_the_frame(empty_file):
    rig, target = switched_leg(), add_target()
    hip = rig.pose.bones["hip"]
    for frame, value in ((1, 0.0), (15, 1.0)):
        hip["FK_IK"] = value
        hip.keyframe_insert('["FK_IK"]', frame=frame)
    for fcurve in curve_bag(rig).fcurves:
        for point in fcurve.keyframe_points:
            point.interpolation = "CONSTANT"
    bpy.context.scene.frame_set(1)
    assert 'does not follow bone "shin_fk" at frame 15,' in refused()
    report = bake(LEG, target="Target", plane="YZ", bend="NEGATIVE", frame_end=14)
    assert kinds(report)[0] == "ALL_ON_TARGET"
    assert list(key_frames(target)) == list(range(FIRST, LAST + 1))


def test_fk_copies_that_are_muted_are_what_hinders(empty_file):
    rig, target = switched_leg("", on_ik=0.0), add_target()
    for part in ("thigh", "shin", "foot"):
        rig.pose.bones[f"{part}_def"].constraints["fk"].mute = True
    bpy.context.view_layer.update()
    assert not shown_bone(rig, names(rig)).follows
    assert bpy.ops.twobone.switch(**LEG.names(), to="FK") == {"FINISHED"}
    bake(LEG, target="Target", plane="YZ", bend="NEGATIVE")
    assert max(visible_misses(rig, target).values()) < ON_TARGET


@pytest.mark.parametrize("shared", [True, False])
def test_a_visible_limb_that_nothing_joins_to_the_keys_is_said_with_how_far_off_its_target_it_is(empty_file, shared):
    """Where an IK of its own has it on the target, within the tolerance, there is nothing to measure."""
    rig, target = switched_leg(""), add_target()
    for part in ("thigh", "shin", "foot"):
        bone = rig.pose.bones[f"{part}_def"]
        bone.constraints.remove(bone.constraints["fk"])
    if shared:
        rig.pose.bones["shin_ik"].constraints["IK"].target = target
    report = bake(LEG, target="Target", plane="YZ", bend="NEGATIVE", influence=0.5, keys="REDUCE", tolerance=1e-3)
    said = report["statements"][0]
    assert said["kind"] == "NOT_SHOWN"
    if shared:
        assert said["values"] == {"bone": "shin_def"}
        assert report["sentence"].startswith("Visible bone shin_def does not follow. Use Switch to FK; ")
    else:
        away = visible_misses(rig, target)[int(said["values"]["frame"])]
        assert said["values"]["distance"] == f"{100 * away:.0f} cm"
        assert report["visible"]["max_distance"] == pytest.approx(away, rel=1e-5)


def test_ik_on_the_chain_itself_is_switched_off(empty_file):
    from tests.tasks.scenes import LEG as PLAIN
    from tests.tasks.scenes import build_armature

    rig, target = build_armature(PLAIN), add_empty()
    key_places(target, [(0.1, 0.2 + 0.3 * math.sin(frame / 4), -0.3) for frame in range(FIRST, LAST + 1)], first=FIRST)
    set_range(FIRST, LAST)
    ik = rig.pose.bones["lower"].constraints.new("IK")
    ik.target, ik.chain_count = add_empty("Elsewhere"), 2
    bpy.context.view_layer.update()
    limb = Limb("Rig")
    with pytest.raises(RuntimeError, match=r'IK \("IK"\) poses bone "upper".* Use Switch All Limbs to FK'):
        bake(limb, target="Target", plane="YZ")
    assert bpy.ops.twobone.switch(**limb.names(), to="FK") == {"FINISHED"}
    assert kinds(bake(limb, target="Target", plane="YZ"))[0] == "ALL_ON_TARGET"


def test_what_hangs_from_the_limb_loosely_is_none_of_its_skin(empty_file):
    rig = switched_leg(on_ik=0.0)
    bpy.ops.object.mode_set(mode="EDIT")
    prop = rig.data.edit_bones.new("prop")
    prop.head, prop.tail = (1, 0, 1), (1, 0, 0)
    bpy.ops.object.mode_set(mode="OBJECT")
    held = rig.pose.bones["prop"].constraints.new("CHILD_OF")
    held.target, held.subtarget, held.influence = rig, "shin_fk", 0.0
    bpy.context.view_layer.update()
    assert shown_bone(rig, names(rig)).follows
    assert bpy.ops.twobone.switch(**LEG.names(), to="FK") == {"CANCELLED"}
    assert held.influence == 0.0


def test_a_mesh_whose_armature_modifier_is_hidden_is_named(empty_file):
    rig, _ = switched_leg(on_ik=0.0), add_target()
    body = bpy.data.objects.new("Body", bpy.data.meshes.new("Body"))
    bpy.context.scene.collection.objects.link(body)
    body.parent = rig
    modifier = body.modifiers.new("Skin", "ARMATURE")
    modifier.object = rig
    assert not bake(LEG, target="Target", plane="YZ", bend="NEGATIVE")["notes"]
    modifier.show_viewport = False
    assert 'Modifier "Skin" of "Body" is hidden' in " ".join(bake(LEG, target="Target", plane="YZ", bend="NEGATIVE")["notes"])


def test_a_limb_that_nothing_switches_is_refused_with_what_to_do(empty_file):
    rig = switched_leg()
    for fcurve in rig.animation_data.drivers:
        fcurve.driver.variables[0].targets[0].data_path = "location[0]"
        fcurve.driver.type, fcurve.driver.expression = "SCRIPTED", "1.0 + 0 * var"
    bpy.context.view_layer.update()
    with pytest.raises(RuntimeError, match="by hand"):
        bpy.ops.twobone.switch(**LEG.names(), to="FK")


def test_keyed_fk_bones_stay_as_they_are(empty_file):
    rig = switched_leg()
    key_channel(rig.pose.bones["thigh_fk"], "rotation_quaternion", {1: (1, 0, 0, 0), 24: (0.9, 0.4, 0, 0)})
    set_range(FIRST, LAST)
    bpy.ops.twobone.switch(**LEG.names(), to="FK")
    told = json.loads(bpy.context.window_manager.twobone_report)
    assert (told["frame_start"], told["frame_end"], told["keys"]) == (FIRST, LAST, 2)
    assert list(key_frames(rig, "thigh_fk")) == [1, 24]
