"""Stored chains baked in several actions, each over its own range, and taken back."""

import json

import bpy
import pytest

from tests.tasks.checks.file_dump import differences, dump_file
from tests.tasks.rigs.legs_on_ik import SIDES, legs_with_targets, store_chain
from tests.tasks.rigs.many_actions import curves_in, make_action, play
from twobone_addon.pipeline.plan.stored import stored_settings
from twobone_addon.pipeline.run import run_steps
from twobone_addon.scene.sampling.stepping import Verifying
from twobone_addon.settings.tasks import BakeAllSettings
from twobone_addon.tasks.bake import BAKE

SPANS = {"Idle": (2, 6), "Jump": (4, 12)}
NEAR = 1e-5


@pytest.fixture
def rig(empty_file):
    """Two stored legs with targets, and three actions of the hips, of which "Walk" has one key and is played."""
    made = legs_with_targets()
    walk = made.animation_data.action
    for name, span in SPANS.items():
        make_action(made, name, bone="hips", frames=span)
    made.animation_data.action = walk
    for side in SIDES:
        store_chain(made, side)
    return made


def bake_all(**settings):
    assert bpy.ops.twobone.bake_all(**settings) == {"FINISHED"}
    return json.loads(bpy.context.window_manager.twobone_report)


def farthest_from_targets(rig, name):
    """How far the tips are from their targets, at worst, over an action's own range."""
    play(rig, name)
    found = []
    for frame in range(SPANS[name][0], SPANS[name][1] + 1):
        bpy.context.scene.frame_set(frame)
        graph = bpy.context.evaluated_depsgraph_get()
        posed = rig.evaluated_get(graph)
        for side in SIDES:
            tip = posed.matrix_world @ posed.pose.bones[f"shin.{side}"].tail
            found.append((tip - bpy.data.objects[f"Target.{side}"].evaluated_get(graph).matrix_world.translation).length)
    return max(found)


def keyed_frames(rig, name):
    play(rig, name)
    curves = [curve for curve in curves_in(rig) if "rotation" in curve.data_path]
    return {tuple(sorted({point.co[0] for point in curve.keyframe_points})) for curve in curves}


def test_each_action_is_baked_over_its_own_range(rig):
    report = bake_all(actions="ALL")
    assert {(entry["action"], entry["upper"], entry["frame_start"], entry["frame_end"]) for entry in report["chains"]} == {
        (name, f"thigh.{side}", *span) for name, span in {**SPANS, "Walk": (1, 1)}.items() for side in SIDES
    }
    assert report["refused"] == []
    assert rig.animation_data.action.name == "Walk"
    for name, span in SPANS.items():
        assert farthest_from_targets(rig, name) <= NEAR
        assert keyed_frames(rig, name) == {tuple(range(span[0], span[1] + 1))}


def test_the_progress_over_several_actions_never_goes_back(rig):
    chains = tuple(stored_settings(rig, chain, {}) for chain in rig.twobone.chains)
    parts = list(run_steps(bpy.context.scene, BAKE, BakeAllSettings(chains=chains), actions="ALL"))
    assert parts == sorted(parts)
    solving = [part for part in parts if not isinstance(part, Verifying)]
    assert solving[-1] <= parts[len(solving)] < parts[-1] <= 1.0


def test_named_actions_only(rig):
    bake_all(actions="Jump; Idle")
    assert {name for name in (*SPANS, "Walk") if keyed_frames(rig, name)} == set(SPANS)


def test_an_action_that_takes_no_keys_is_named_and_the_others_are_baked(rig):
    play(rig, "Idle")
    rig.pose.bones["shin.L"].keyframe_insert("rotation_quaternion", frame=2)
    for curve in curves_in(rig):
        curve.lock = "shin.L" in curve.data_path
    play(rig, "Walk")
    report = bake_all(actions="ALL")
    assert [(entry["action"], entry["armature"]) for entry in report["refused"]] == [("Idle", rig.name)]
    assert "locked" in report["refused"][0]["reason"]
    assert {(entry["action"], entry["upper"]) for entry in report["chains"] if entry["action"] == "Idle"} == {("Idle", "thigh.R")}
    assert [note for note in report["chains"][0]["notes"] if note.startswith('"Idle": ') and "locked" in note]


def test_clearing_takes_every_action_back(rig):
    for name, span in SPANS.items():
        action = bpy.data.actions[name]
        action.use_frame_range, action.frame_start, action.frame_end = True, *span
    before = dump_file()
    bake_all(actions="Idle;Jump")
    assert bpy.ops.twobone.clear_baked(armature=rig.name, upper="thigh.L", lower="shin.L", actions="Idle;Jump") == {"FINISHED"}
    assert {curve.data_path.split('"')[1] for name in SPANS for curve in (play(rig, name), *curves_in(rig))[1:]} == {
        "hips",
        "thigh.R",
        "shin.R",
    }
    bpy.ops.twobone.clear_baked(armature=rig.name, upper="thigh.R", lower="shin.R", actions="Idle;Jump")
    play(rig, "Walk")
    bpy.context.view_layer.update()
    changed = [path for path in differences(before, dump_file()) if "twobone" not in path and "actions" in path]
    assert not changed


def test_armatures_in_scope_each_have_their_own_actions(rig):
    bpy.ops.object.mode_set(mode="OBJECT")
    twin = rig.copy()
    twin.data, twin.name = rig.data.copy(), "Twin"
    bpy.context.scene.collection.objects.link(twin)
    twin.animation_data.action = None
    own = make_action(twin, "Twin's", bone="hips", frames=(3, 5))
    twin.animation_data.action = own
    rig.animation_data.nla_tracks.new().strips.new("Idle", 1, bpy.data.actions["Idle"])
    rig.animation_data.nla_tracks.new().strips.new("Jump", 1, bpy.data.actions["Jump"])
    report = bake_all(actions="ALL", scope="SCENE")
    assert {(entry["armature"], entry["action"]) for entry in report["chains"]} == {
        ("Twin", "Twin's"),
        *((rig.name, name) for name in (*SPANS, "Walk")),
    }


def test_the_sentence_counts_limbs_once_and_names_the_actions_that_miss(rig):
    target = bpy.data.objects["Target.L"]
    target.animation_data_clear()
    target.location = (0.0, 0.0, 9.0)
    report = bake_all(actions="Idle;Jump")
    assert report["sentence"].startswith(f"2 chains in 2 actions baked, {report['keys']} keys; ")
    assert "; 1 off target at some frames; 1 on target with a warning; Idle: " in report["sentence"], (
        "the other leg is on its target"
    )
    assert "; Jump: " in report["sentence"]
    rig.twobone.chains.remove(rig.twobone.chains.find("Leg L"))
    assert bake_all(actions="Idle;Jump")["sentence"].startswith("1 chain in 2 actions baked, ")
