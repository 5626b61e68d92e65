"""`--actions`: several actions in one command, each over its own range."""

import json

import bpy
import pytest

from tests.command_line.shots import make_shot, save, store_chain


@pytest.fixture
def library(tmp_path, registered_addon):
    """A shot whose leg follows by IK a bone that three actions move."""
    rig, target = make_shot()
    target.animation_data_clear()
    with_control(rig)
    constraint = rig.pose.bones["lower"].constraints.new("IK")
    constraint.target, constraint.subtarget, constraint.chain_count = rig, "control", 2
    for number, name in enumerate(("Idle", "Run", "Walk")):
        rig.animation_data_create().action = None
        for frame in (1 + number, 5 + number):
            rig.pose.bones["control"].location.y = 0.1 * frame
            rig.pose.bones["control"].keyframe_insert("location", frame=frame)
        rig.animation_data.action.name = name
        rig.animation_data.action.use_fake_user = True
    save(tmp_path / "shot.blend")
    return tmp_path / "shot.blend"


def with_control(rig):
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    bone = rig.data.edit_bones.new("control")
    bone.head, bone.tail = (0.6, 0, 0.6), (0.6, 0.2, 0.6)
    bpy.ops.object.mode_set(mode="OBJECT")


def report_of(path):
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("asked, found", [("all", {"Idle", "Run", "Walk"}), ("Run;Idle", {"Idle", "Run"}), ("active", {"Walk"})])
def test_convert_goes_through_the_actions_that_are_asked_for(twobone, library, tmp_path, asked, found):
    report, saved = tmp_path / "report.json", tmp_path / "fk.blend"
    words = ["convert", "--file", library, "--armature", "Rig", "--actions", asked]
    assert twobone(*words, "--report", report, "--save", saved).code == 0
    document = report_of(report)
    assert {entry["action"] for entry in document["chains"]} == found
    assert document["refused"] == []
    bpy.ops.wm.open_mainfile(filepath=str(saved))
    constraint = bpy.data.objects["Rig"].pose.bones["lower"].constraints["IK"]
    assert constraint.mute == (asked == "all")


def test_a_job_converts_all_actions(twobone, library, tmp_path):
    job = tmp_path / "job.json"
    job.write_text(json.dumps({"use": "convert", "armature": "Rig", "actions": "ALL"}), encoding="utf-8")
    report = tmp_path / "report.json"
    assert twobone("convert", "--file", library, "--job", job, "--report", report).code == 0
    assert len(report_of(report)["chains"]) == 3


def test_stored_chains_are_baked_and_cleared_in_all_actions(twobone, library, tmp_path):
    bpy.ops.wm.open_mainfile(filepath=str(library))
    rig, target = bpy.data.objects["Rig"], bpy.data.objects["Target"]
    carrier = rig.pose.bones["lower"]
    carrier.constraints.remove(carrier.constraints["IK"])
    store_chain(rig, target)
    save(library)
    report, saved = tmp_path / "report.json", tmp_path / "baked.blend"
    words = ["--stored", "--actions", "ALL", "--report", report]
    assert twobone("bake", "--file", library, *words, "--save", saved).code == 0
    assert [(entry["action"], entry["frame_start"]) for entry in report_of(report)["chains"]] == [
        ("Idle", 1),
        ("Run", 2),
        ("Walk", 3),
    ]
    keys = sum(entry["keys"] for entry in report_of(report)["chains"])
    assert twobone("clear", "--file", saved, *words).code == 0
    assert report_of(report)["keys_removed"] == keys


def test_a_dry_run_tells_of_every_action_what_a_bake_writes_and_changes_nothing(twobone, library, tmp_path):
    """The actions are played one after another for it; afterwards even the pose is what it was."""
    bpy.ops.wm.open_mainfile(filepath=str(library))
    rig, target = bpy.data.objects["Rig"], bpy.data.objects["Target"]
    rig.pose.bones["lower"].constraints.remove(rig.pose.bones["lower"].constraints["IK"])
    store_chain(rig, target)
    empty = bpy.data.actions.new("Empty")
    empty.use_fake_user = True
    rig.pose.bones["upper"].rotation_quaternion = (0.9, 0.1, 0.2, 0.3)
    save(library)
    before, report = library.read_bytes(), tmp_path / "report.json"
    words = ["bake", "--file", library, "--stored", "--actions", "ALL", "--report", report]
    ended = twobone(*words, "--dry-run", "--save")
    assert ended.code == 0, ended.complained
    planned = report_of(report)
    assert library.read_bytes() == before
    rig = bpy.data.objects["Rig"]
    assert rig.animation_data.action.name == "Walk"
    assert [round(value, 5) for value in rig.pose.bones["upper"].rotation_quaternion] == [0.9, 0.1, 0.2, 0.3]
    assert all(f'Action "{name}", ' in ended.said for name in ("Idle", "Run", "Walk"))
    assert twobone(*words).code == 0
    done = report_of(report)
    parts = ("action", "frame_start", "frame_end", "reached")
    told, became = ([[entry[part] for part in parts] for entry in each["chains"]] for each in (planned, done))
    assert told == became
    keys = [sum(curve["keys"] for curve in entry["curves"]) for entry in planned["chains"]]
    assert keys == [entry["keys"] for entry in done["chains"]]
    assert planned["refused"] == done["refused"] == []
    assert twobone(*words[:-4], "--actions", "Run;Empty", "--dry-run").code == 1


def test_a_batch_converts_all_actions_of_every_shot(twobone, library, tmp_path):
    job = {"use": "convert", "shots": [library.name], "output": "fk/{shot}.blend", "armature": "Rig", "actions": "ALL"}
    (tmp_path / "job.json").write_text(json.dumps(job), encoding="utf-8")
    ended = twobone("batch", tmp_path / "job.json")
    assert ended.code == 0, ended.complained
    (record,) = report_of(tmp_path / "job.json.summary.json")["shots"]
    assert {entry["action"] for entry in record["report"]["chains"]} == {"Idle", "Run", "Walk"}
