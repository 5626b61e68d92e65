"""Live from the panel: Blender poses the limb; settings, edits, undo, files and copies leave nothing behind and are said."""

import json
from contextlib import suppress

import bpy
import numpy as np
import pytest
from mathutils import Quaternion, Vector

from tests.interface.acting import joints_world
from tests.interface.recording import drawn
from tests.pipeline.live.live_scene import needs_nodes
from tests.pipeline.live.test_removed import blocks, everything
from tests.tasks.scenes import add_empty
from twobone_addon.errors import TwoBoneError
from twobone_addon.interface.sidebar.panels import TWOBONE_PT_chains
from twobone_addon.interface.stored import live_limbs
from twobone_addon.interface.stored.live_limbs import is_live, live_limb_of, reasons, state_of
from twobone_addon.scene.live.marks import can_go_live
from twobone_addon.scene.writer import Transaction, assign

ROUGH = 3e-5
"""Of a limb that is upright at rest: there rest matrices are rotations only to some 1e-5, which Bake reckons with."""

PLACES = ((0.1, 0.6, 0.2), (0.1, -0.4, 0.5), (0.1, 0.3, 0.9))


def chain_of(rig):
    return rig.twobone.chains[0]


def move(rig, place):
    chain_of(rig).target.location = place
    bpy.context.view_layer.update()
    return [np.array(joint) for joint in joints_world(rig, "upper", "lower")]


def miss(rig):
    bpy.context.view_layer.update()
    tip, target = joints_world(rig, "upper", "lower")[2], chain_of(rig).target.matrix_world.translation
    return float((tip.yz - target.yz).length)


def go_live(rig):
    assert bpy.ops.twobone.live(state="ON") == {"FINISHED"}
    assert is_live(chain_of(rig))


@pytest.mark.skipif(can_go_live(), reason="this Blender can pose a limb by nodes")
def test_an_older_blender_says_which_one_it_takes(leg):
    with pytest.raises(RuntimeError, match=r"Blender 5\.0"):
        bpy.ops.twobone.live(state="ON")


@needs_nodes
def test_the_limb_follows_its_target_without_keys_and_bake_sets_it_the_same(leg):
    go_live(leg)
    assert leg.animation_data is None
    seen = [move(leg, place) for place in PLACES]
    assert miss(leg) < ROUGH
    for place, joints in zip(PLACES, seen, strict=True):
        bpy.ops.twobone.live(state="OFF")
        chain_of(leg).target.location = place
        chain_of(leg).frame_range, chain_of(leg).frame_start, chain_of(leg).frame_end = "CUSTOM", 1, 1
        bpy.ops.twobone.bake()
        assert np.abs(np.array(joints_world(leg, "upper", "lower")) - joints).max() < ROUGH
        bpy.ops.twobone.clear_baked()


@needs_nodes
def test_a_bake_and_its_clear_leave_the_file_as_if_the_limb_had_not_been_live(leg, tmp_path):
    found = {}
    for is_live_first in (False, True):
        if is_live_first:
            go_live(leg)
        bpy.ops.twobone.bake()
        found[is_live_first, "baked"] = everything(), blocks(tmp_path)
        bpy.ops.twobone.clear_baked()
        found[is_live_first, "cleared"] = everything(), blocks(tmp_path)
    assert found[True, "baked"] == found[False, "baked"]
    assert found[True, "cleared"] == found[False, "cleared"]


@needs_nodes
def test_off_leaves_the_file_as_it_was(leg, tmp_path):
    before, posed = (everything(), blocks(tmp_path)), np.array(joints_world(leg, "upper", "lower"))
    go_live(leg)
    assert everything() != before[0]
    bpy.ops.twobone.live()
    assert (everything(), blocks(tmp_path)) == before
    bpy.context.view_layer.update()
    assert np.array_equal(np.array(joints_world(leg, "upper", "lower")), posed)


@needs_nodes
@pytest.mark.parametrize(
    "setting, value",
    [("bend", "NEGATIVE"), ("plane", "REST"), ("reach", "STRETCH"), ("influence", 0.4), ("reference", "POSE"), ("target", None)],
)
def test_a_changed_setting_is_seen_at_once_as_if_it_had_been_so_from_the_start(leg, setting, value):
    other = add_empty("Other")
    other.location = (0.1, 0.2, 0.7)
    value = other if setting == "target" else value
    go_live(leg)
    before = move(leg, (0.1, 0.3, -0.9) if setting == "reach" else PLACES[0])
    setattr(chain_of(leg), setting, value)
    bpy.context.view_layer.update()
    changed = np.array(joints_world(leg, "upper", "lower"))
    bpy.ops.twobone.live(state="OFF")
    bpy.ops.twobone.live(state="ON")
    bpy.context.view_layer.update()
    assert np.abs(np.array(joints_world(leg, "upper", "lower")) - changed).max() < 1e-6
    if setting not in {"plane", "reference"}:
        assert np.abs(changed - before).max() > 1e-3


@needs_nodes
@pytest.mark.parametrize(
    "setting, first, then, others",
    [
        ("influence", 0.4, 0.8, {"distance": 1.4}),
        ("softness", 0.05, 0.2, {"reach": "SOFTEN", "distance": 1.7}),
        ("softness_near", 0.05, 0.3, {"reach": "SOFTEN", "distance": 0.4}),
        ("stretch_max", 1.1, 1.4, {"reach": "STRETCH", "distance": 2.4}),
        ("compress_min", 0.9, 0.5, {"reach": "STRETCH", "distance": 0.1}),
        ("stretch_start", 1.0, 0.9, {"reach": "STRETCH", "distance": 1.7}),
        ("pole_angle", 0.1, 0.7, {"plane": "POLE", "distance": 1.4}),
    ],
)
def test_a_number_is_written_to_the_nodes_that_are_there_and_does_what_it_would_have_done(leg, setting, first, then, others):
    others = dict(others)
    place = (0.1, 0.2, 1.1 - others.pop("distance"))
    chain = chain_of(leg)
    chain.pole = add_empty("Pole")
    chain.pole.location = (1.0, -2.0, 1.0)
    for name, value in {**others, setting: first}.items():
        setattr(chain, name, value)
    go_live(leg)
    before, helper = move(leg, place), live_limb_of(chain).helper
    setattr(chain, setting, then)
    bpy.context.view_layer.update()
    changed = np.array(joints_world(leg, "upper", "lower"))
    assert live_limb_of(chain).helper == helper
    bpy.ops.twobone.live(state="OFF")
    bpy.ops.twobone.live(state="ON")
    bpy.context.view_layer.update()
    assert np.abs(np.array(joints_world(leg, "upper", "lower")) - changed).max() < 1e-6
    assert np.abs(changed - before).max() > 1e-3


@needs_nodes
def test_a_number_that_a_bake_refuses_ends_it(leg):
    chain_of(leg).reach = "SOFTEN"
    go_live(leg)
    chain_of(leg).softness = 1.5
    assert not is_live(chain_of(leg))
    assert "Softness" in str(state_of(chain_of(leg)))


@needs_nodes
@pytest.mark.parametrize("setting, values", [("influence", (1.0, 0.0)), ("bend", ("POSITIVE", "NEGATIVE"))])
def test_keys_put_on_a_setting_after_going_live_play(leg, setting, values):
    go_live(leg)
    move(leg, PLACES[1])
    for frame, value in zip((1, 10), values, strict=True):
        setattr(chain_of(leg), setting, value)
        chain_of(leg).keyframe_insert(setting, frame=frame)
    bpy.context.view_layer.update()
    seen = []
    for frame in (10, 1):
        bpy.context.scene.frame_set(frame)
        seen.append(np.array(joints_world(leg, "upper", "lower")))
    assert np.abs(seen[0] - seen[1]).max() > 1e-2
    assert is_live(chain_of(leg))


@needs_nodes
def test_a_limb_that_is_keyed_after_going_live_bends_in_the_plane_of_its_keys(leg):
    chain_of(leg).plane = "POSE"
    go_live(leg)
    before = move(leg, PLACES[1])
    bone = leg.pose.bones["upper"]
    for frame in (1, 10):
        bone.rotation_quaternion = Quaternion((0.0, 1.0, 0.0), 1.2)
        bone.keyframe_insert("rotation_quaternion", frame=frame)
    bpy.context.view_layer.update()
    keyed = np.array(joints_world(leg, "upper", "lower"))
    assert miss(leg) < ROUGH
    bpy.ops.twobone.live(state="OFF")
    bpy.ops.twobone.live(state="ON")
    bpy.context.view_layer.update()
    assert np.abs(np.array(joints_world(leg, "upper", "lower")) - keyed).max() < 1e-6
    assert np.abs(keyed - before).max() > 1e-2


@needs_nodes
def test_a_setting_that_is_not_exact_ends_it_and_the_panel_says_why(leg):
    before = everything()
    go_live(leg)
    chain_of(leg).use_limits, chain_of(leg).lower_max = True, 1.0
    assert not is_live(chain_of(leg))
    assert everything() == before
    assert "Joint Limits" in str(state_of(chain_of(leg)))
    assert any("Joint Limits" in text for text in drawn(TWOBONE_PT_chains).texts())


@needs_nodes
def test_several_settings_changed_in_one_step_make_it_anew_once_all_are_changed(leg):
    other = add_empty("Other")
    other.location = (0.1, 0.2, 0.7)
    go_live(leg)
    with Transaction() as changes, changes.noting():
        assign(chain_of(leg), "target", None)  # In between the limb has nothing to follow.
        assign(chain_of(leg), "target", other)
        assign(chain_of(leg), "bend", "NEGATIVE")
        assert live_limb_of(chain_of(leg)).helper is not None
    assert is_live(chain_of(leg))
    assert miss(leg) < ROUGH
    assert state_of(chain_of(leg)) is None


@needs_nodes
def test_settings_that_are_put_back_leave_it_as_it_was(leg):
    other = add_empty("Other")
    other.location = (0.1, 0.2, 0.7)
    go_live(leg)
    before, helper = everything(), live_limb_of(chain_of(leg)).helper.as_pointer()
    with suppress(TwoBoneError), Transaction() as changes, changes.noting():
        assign(chain_of(leg), "target", other)
        assign(chain_of(leg), "use_limits", value=True)
        raise TwoBoneError("No.")
    assert chain_of(leg).target != other
    assert live_limb_of(chain_of(leg)).helper.as_pointer() == helper
    assert everything() == before
    assert miss(leg) < ROUGH


@needs_nodes
def test_what_a_bake_refuses_does_not_go_live(leg):
    before = everything()
    chain_of(leg).lower = "nothing"
    with pytest.raises(RuntimeError, match="nothing"):
        bpy.ops.twobone.live(state="ON")
    assert everything() == before


@needs_nodes
def test_bake_keys_what_is_seen_and_takes_the_nodes_away(leg):
    scene = bpy.context.scene
    scene.frame_end = 5
    target = chain_of(leg).target
    for frame, place in ((1, PLACES[0]), (5, PLACES[1])):
        target.location = place
        target.keyframe_insert("location", frame=frame)
    before = {key for key in everything() if key[0] != "actions"}
    go_live(leg)

    def seen():
        found = []
        for frame in range(1, 6):
            scene.frame_set(frame)
            found.append(np.array(joints_world(leg, "upper", "lower")))
        return np.array(found)

    live = seen()
    bpy.ops.twobone.bake()
    report = json.loads(bpy.context.window_manager.twobone_report)
    assert report["chains"][0]["reached"] == 5
    assert not is_live(chain_of(leg))
    assert {key for key in everything() if key[0] != "actions"} == before
    assert np.abs(seen() - live).max() < ROUGH


@needs_nodes
def test_a_bake_that_only_tries_leaves_it_live(leg):
    from twobone_addon.pipeline.plan.stored import stored_settings
    from twobone_addon.pipeline.run import run
    from twobone_addon.settings.tasks import BakeAllSettings
    from twobone_addon.tasks.all_tasks import task_named

    go_live(leg)
    before = everything()
    settings = BakeAllSettings(chains=(stored_settings(leg, chain_of(leg), {}),))
    run(bpy.context.scene, task_named("bake"), settings, leg, dry_run=True)
    assert everything() == before
    assert miss(leg) < ROUGH


@needs_nodes
def test_a_nudge_says_that_the_limb_is_live_and_what_helps(leg):
    go_live(leg)
    with pytest.raises(RuntimeError, match=r"Live poses bone .* Use Bake, or switch Live off"):
        bpy.ops.twobone.nudge("EXEC_DEFAULT", offset=(0, 0.1, 0))


@needs_nodes
def test_switching_first_does_not_take_a_live_limb_for_one_on_ik(leg):
    """There is no FK and IK to switch between: the refusal names what helps, and nothing is changed."""
    import twobone_addon
    from twobone_addon.errors import DependencyError

    go_live(leg)
    before = everything()
    with pytest.raises(DependencyError, match=r"Live poses bone .* Use Bake, or switch Live off"):
        twobone_addon.nudge(armature="Rig", chain=chain_of(leg).name, offset=(0, 0.1, 0), switch_first=True)
    assert everything() == before


@needs_nodes
def test_undo_and_redo_go_over_it(leg):
    # The state that is undone to has to be one that Blender's undo knows.
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.twobone.live("EXEC_DEFAULT", True, state="ON")  # noqa: FBT003 - asks for an undo step, as a click would
    bpy.ops.ed.undo()
    rig = bpy.data.objects["Rig"]
    assert not is_live(chain_of(rig))
    assert not bpy.data.node_groups
    bpy.ops.ed.redo()
    rig = bpy.data.objects["Rig"]
    assert is_live(chain_of(rig))
    assert miss(rig) < ROUGH


def lengthen(rig):
    bpy.ops.object.mode_set(mode="EDIT")
    lower = rig.data.edit_bones["lower"]
    lower.tail = lower.head + 1.2 * (lower.tail - lower.head)
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.update()


@needs_nodes
def test_undo_to_a_step_from_before_it_was_made_anew_makes_it_anew_again(leg, monkeypatch):
    go_live(leg)
    with monkeypatch.context() as window:
        window.setattr(live_limbs, "_look_soon", lambda: None)  # There it is made anew in a pause, after the step.
        lengthen(leg)
        bpy.ops.ed.undo_push(message="Edited")
        assert miss(leg) > 0.01
    live_limbs._look()
    move(leg, PLACES[1])
    assert miss(leg) < ROUGH
    bpy.ops.ed.undo_push(message="Moved")
    for step in (bpy.ops.ed.undo, bpy.ops.ed.redo):
        step()
        assert miss(bpy.data.objects["Rig"]) < ROUGH


@needs_nodes
def test_a_longer_bone_at_rest_is_noticed_and_said(leg):
    go_live(leg)
    lengthen(leg)
    assert miss(leg) < ROUGH
    assert "made anew" in str(state_of(chain_of(leg)))


@needs_nodes
def test_a_turned_roll_is_noticed(leg):
    go_live(leg)
    bpy.ops.object.mode_set(mode="EDIT")
    leg.data.edit_bones["upper"].roll += 0.8
    bpy.ops.object.mode_set(mode="OBJECT")
    assert miss(leg) < ROUGH


@needs_nodes
def test_renamed_bones_targets_and_armatures_are_followed_on(leg):
    go_live(leg)
    leg.pose.bones["lower"].name, leg.name, chain_of(leg).target.name = "shin", "Rig of another name", "Goal"
    chain_of(leg).target.location = PLACES[1]
    bpy.context.view_layer.update()
    tip = leg.matrix_world @ leg.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones["shin"].tail
    assert (tip.yz - Vector(PLACES[1]).yz).length < ROUGH


@needs_nodes
def test_a_duplicate_is_named_and_gets_nodes_of_its_own(leg):
    go_live(leg)
    copy = leg.copy()
    copy.location = (1, 0, 0)
    bpy.context.collection.objects.link(copy)
    bpy.context.view_layer.objects.active = copy
    assert "the original" in str(state_of(chain_of(copy)))
    assert "Make Its Own" in [given.get("text") for kind, _, given in drawn(TWOBONE_PT_chains).calls if kind == "operator"]
    bpy.ops.twobone.live()
    assert state_of(chain_of(copy)) is None
    assert live_limb_of(chain_of(copy)).helper != live_limb_of(chain_of(leg)).helper
    chain_of(copy).target = add_empty("Another")
    chain_of(copy).target.location = (1.1, 0.5, 0.2)
    chain_of(leg).target.location = PLACES[1]
    assert miss(copy) < ROUGH
    assert miss(leg) < ROUGH


@needs_nodes
def test_a_deleted_helper_is_said(leg):
    go_live(leg)
    bpy.data.objects.remove(live_limb_of(chain_of(leg)).helper)
    assert "helper of Live was deleted" in str(state_of(chain_of(leg)))
    bpy.ops.twobone.live(state="ON")
    assert state_of(chain_of(leg)) is None
    assert miss(leg) < ROUGH


def deleted(target):
    for thing in bpy.context.view_layer.objects:
        thing.select_set(thing == target)
    bpy.ops.object.delete()


def removed(target):
    bpy.data.objects.remove(target)


@needs_nodes
@pytest.mark.parametrize("delete", [deleted, removed])
def test_without_its_target_the_limb_has_its_own_pose_again_and_it_is_said(leg, delete):
    chain, posed = chain_of(leg), np.array(joints_world(leg, "upper", "lower"))
    go_live(leg)
    delete(chain.target)
    bpy.context.view_layer.update()
    bpy.context.view_layer.update()
    assert not is_live(chain)
    assert not bpy.data.node_groups
    assert np.array_equal(np.array(joints_world(leg, "upper", "lower")), posed)
    assert "lost its target" in str(state_of(chain))
    chain.target = add_empty("Other")
    assert state_of(chain) is None


@needs_nodes
def test_undo_of_a_deletion_makes_the_limb_live_again(leg):
    go_live(leg)
    bpy.ops.ed.undo_push(message="Live")
    deleted(chain_of(leg).target)
    bpy.ops.ed.undo_push(message="Deleted")
    assert not is_live(chain_of(leg))
    bpy.ops.ed.undo()
    rig = bpy.data.objects["Rig"]
    assert is_live(chain_of(rig))
    assert miss(rig) < ROUGH


@needs_nodes
def test_it_is_there_when_the_file_is_opened_again(leg, tmp_path):
    go_live(leg)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "leg.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "leg.blend"))
    rig = bpy.data.objects["Rig"]
    assert is_live(chain_of(rig))
    for place in PLACES:
        move(rig, place)
        assert miss(rig) < ROUGH


@needs_nodes
def test_an_appended_rig_follows_on(leg, tmp_path):
    go_live(leg)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "leg.blend"))
    bpy.ops.wm.read_factory_settings(use_empty=True)
    with bpy.data.libraries.load(str(tmp_path / "leg.blend")) as (_, wanted):
        wanted.objects = ["Rig"]
    rig = bpy.data.objects["Rig"]
    for thing in (rig, chain_of(rig).target):
        bpy.context.collection.objects.link(thing)
    move(rig, PLACES[1])
    assert miss(rig) < ROUGH


@pytest.mark.parametrize("is_wrong", [False, True])
def test_a_file_of_an_earlier_version_goes_on_live_or_says_why_not(leg, tmp_path, is_wrong):
    chain_of(leg).live = True
    chain_of(leg).use_limits = is_wrong
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "old.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "old.blend"))
    rig = bpy.data.objects["Rig"]
    assert not chain_of(rig).live
    assert is_live(chain_of(rig)) == (can_go_live() and not is_wrong)
    assert bool(reasons) != is_live(chain_of(rig))


@needs_nodes
def test_a_whole_character_goes_live_in_one_step_and_back(leg):
    bpy.ops.twobone.live(scope="ARMATURE")
    assert is_live(chain_of(leg))
    bpy.ops.twobone.live(scope="ARMATURE")
    assert not is_live(chain_of(leg))


@needs_nodes
def test_a_chain_that_is_removed_from_the_list_takes_its_nodes_along(leg):
    before = {key for key in everything() if key[0] != "objects"}
    go_live(leg)
    bpy.ops.twobone.chain_remove()
    assert {key for key in everything() if key[0] != "objects"} == before
