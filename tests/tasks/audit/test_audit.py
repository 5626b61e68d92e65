"""Audits of characters whose faults are known, and of recordings: what is fine, what is not, and that nothing is changed."""

import json
import math
import re

import bpy
import numpy as np
import pytest
from mathutils import Euler, Vector

import twobone_addon as twobone
from tests.blank import empty
from tests.tasks.checks.beside import ways_to_the_foot
from tests.tasks.checks.file_dump import differences, dump_file
from tests.tasks.rigs.robot import LAST, robot
from tests.tasks.rigs.walker import Walk, build_walker
from tests.tasks.scenes import key_channel

PAIRS = ("comp_3d_1", "comp_video_1", "demo_3d_1", "demo_video_1")


@pytest.fixture(autouse=True)
def _empty(registered_addon):
    empty()


def walker(**how):
    armature, _ = build_walker(Walk(frames=72, **how))
    bpy.context.view_layer.objects.active = armature
    return armature


def audit(**how):
    assert bpy.ops.twobone.audit(**how) == {"FINISHED"}
    return json.loads(bpy.context.window_manager.twobone_report)


def recording(path):
    bpy.ops.import_anim.bvh(filepath=str(path), update_scene_fps=True)
    armature = bpy.context.object
    first, last = armature.animation_data.action.frame_range
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = int(first), int(last)
    return armature


def test_a_clean_walk_is_fine():
    walker()
    report = audit()
    assert report["is_fine"], report["sentence"]
    assert report["sentence"] == "Fine"
    assert report["slide"] < 0.005


def test_feet_that_slide_are_found():
    armature = walker()
    armature.animation_data.action.name = "slides"
    location = {frame: (0.0, 0.012 * frame, 0.0) for frame in (1, 72)}
    key_channel(armature, "location", location)
    report = audit()
    assert not report["is_fine"]
    assert "slide by" in report["sentence"]
    assert "of the leg" not in report["sentence"]
    assert report["slide"] > 0.02
    # Both feet slide: one number says it, not one more for each leg.
    assert report["sentence"].count("slide") == 1


def test_a_foot_that_slides_alone_is_named():
    armature = walker()
    location = {frame: (0.0, 0.012 * frame, 0.0) for frame in (1, 72)}
    key_channel(armature, "location", location)
    right = armature.twobone.chains["leg.R"]
    right.enabled = False
    assert bpy.ops.twobone.plant() == {"FINISHED"}
    right.enabled = True
    report = audit()
    assert "feet slide" not in report["sentence"]
    assert "leg.R slides by" in report["sentence"]


@pytest.mark.parametrize("height, measure", [(0.04, "floating"), (-0.04, "sinking")])
def test_feet_over_the_floor_and_in_it_are_found(height, measure):
    walker().location.z = height
    assert audit()["is_fine"], "nobody has said where the floor is"
    report = audit(ground="HEIGHT")
    assert not report["is_fine"]
    for leg in report["chains"]:
        assert leg[measure] == pytest.approx(0.04, abs=0.01)


def test_a_leg_that_pops_is_found_at_its_frame():
    armature = walker()
    thigh = armature.pose.bones["thigh.R"]
    bpy.context.scene.frame_set(31)
    thigh.rotation_quaternion.rotate(Euler((1.2, 0.0, 0.0)))
    thigh.keyframe_insert("rotation_quaternion", frame=31)
    report = audit()
    assert not report["is_fine"]
    assert report["worst_frame"] == pytest.approx(31, abs=1)
    assert "leg.R" in report["sentence"]
    assert "pops" in report["sentence"]


def test_a_seam_is_found_where_the_action_is_cyclic():
    armature = walker()
    action = armature.animation_data.action
    bpy.context.scene.frame_end = 35
    assert audit()["is_fine"]
    action.use_frame_range = action.use_cyclic = True
    action.frame_start, action.frame_end = 1, 35
    report = audit()
    assert "the cycle's ends" in report["sentence"]
    assert audit(cycles="NONE")["is_fine"]


def test_nothing_is_changed_whatever_is_asked_for(tmp_path):
    armature = walker(slide=0.02)
    action = armature.animation_data.action
    other = action.copy()
    other.name, other.use_fake_user = "Other", True
    armature.twobone.chains.clear()
    armature.pose.bones["chest"].location.x = 0.3
    bpy.context.scene.frame_set(7)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "clip.blend"))
    content, before = (tmp_path / "clip.blend").read_bytes(), dump_file()
    audit()
    assert differences(before, dump_file()) == []
    report = audit(actions="ALL", picture=str(tmp_path / "{shot} {action}.svg"))
    assert differences(before, dump_file()) == []
    assert {clip["action"] for clip in report["clips"]} == {"Other", action.name}
    assert sorted(path.name for path in tmp_path.glob("*.svg")) == [f"clip {name}.svg" for name in sorted(("Other", action.name))]
    assert (tmp_path / "clip.blend").read_bytes() == content


def test_a_linked_character_can_be_audited(tmp_path):
    walker()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "clip.blend"))
    empty()
    with bpy.data.libraries.load(str(tmp_path / "clip.blend"), link=True) as (_, wanted):
        wanted.objects = ["Walker"]
    bpy.context.scene.collection.objects.link(bpy.data.objects["Walker"])
    bpy.context.scene.frame_end, bpy.context.scene.render.fps = 72, 24
    assert audit(armature="Walker")["is_fine"]


def test_arms_alone_are_audited_without_feet():
    from tests.tasks.scenes import LEG, build_armature

    rig = build_armature(LEG)
    chain = rig.twobone.chains.add()
    chain.name, chain.upper, chain.lower, chain.limb = "arm", "upper", "lower", "ARM"
    key_channel(rig.pose.bones["lower"], "rotation_quaternion", {1: (1.0, 0.2, 0.0, 0.0), 40: (1.0, 0.5, 0.0, 0.0)})
    bpy.context.view_layer.objects.active = rig
    report = audit()
    assert report["is_fine"]
    assert report["skating"] is None
    assert report["chains"][0]["slide"] is None


def test_limits_are_settings():
    walker()
    assert not audit(max_knee_pop=0.01)["is_fine"]
    assert math.isclose(audit()["chains"][0]["length"], 0.82, rel_tol=0.01)


def test_earlier_measures_stand_beside_those_of_now(tmp_path):
    walker(slide=0.03)
    (tmp_path / "before.json").write_text(json.dumps(audit()))
    empty()
    walker()
    notes = audit(compare=str(tmp_path / "before.json"))["notes"]
    (slide,) = [said for said in notes if said.startswith("leg.L: slide ")]
    assert "before" in slide
    assert "after" in slide
    with pytest.raises(RuntimeError, match="cannot be read"):
        bpy.ops.twobone.audit(compare=str(tmp_path / "gone.json"))


@pytest.mark.parametrize("pair", PAIRS)
def test_skating_clips_are_found_and_their_repairs_are_fine(data_folder, pair):
    reports = {}
    for which in ("raw", "fixed"):
        empty()
        recording(data_folder / "motion" / f"skate_{pair}_{which}.bvh")
        reports[which] = audit()
    raw, fixed = reports["raw"], reports["fixed"]
    assert not raw["is_fine"]
    assert any("skates" in reason for reason in raw["reasons"])
    for reason in filter(None, (re.search(r"slide by .* (a contact, farthest.*)", str(reason)) for reason in raw["reasons"])):
        # A figure in centimetres in a scene in metres: its size is told by its leg.
        part = re.search(r"m \(([\d.]+) % of the leg\) a contact", reason[0])
        assert float(part[1]) == pytest.approx(100.0 * raw["slide"], rel=0.05)
    assert fixed["is_fine"], fixed["sentence"]
    assert fixed["slide"] < 0.4 * raw["slide"]
    assert fixed["skating"]["foot_skate_from_contacts"] < 0.4 * raw["skating"]["foot_skate_from_contacts"]


@pytest.mark.parametrize("name", ["cmu_02_01_walk.bvh", "motion/cmu_131_01_walk.bvh"])
def test_recorded_walks_are_fine(data_folder, name):
    recording(data_folder / name)
    report = audit()
    assert report["is_fine"], report["sentence"]


@pytest.mark.parametrize("fps", [24, 30, 60, None])
def test_a_walk_over_force_plates_is_fine(data_folder, monkeypatch, fps):
    monkeypatch.syspath_prepend(str(data_folder.parent / "tools"))
    from motion_rigs import force_plate_walk, rig_from_joints, thinned

    joints, rate, _, _ = force_plate_walk()
    rig_from_joints(thinned(joints, rate, fps)[0] if fps else joints, fps or rate)
    report = audit()
    assert report["is_fine"], report["sentence"]
    assert np.isfinite(report["badness"])


def test_the_panel_lists_the_worst_clip_first_and_a_click_goes_to_it():
    from tests.interface.recording import drawn
    from twobone_addon.interface.sidebar.audit_panel import TWOBONE_PT_audit

    armature = walker()
    armature.animation_data.action.name = "clean"
    other = armature.animation_data.action.copy()
    other.name, other.use_fake_user = "slides", True
    armature.animation_data.action.use_fake_user = True
    armature.animation_data.action = other
    if hasattr(other, "slots"):
        armature.animation_data.action_slot = other.slots[0]
    key_channel(armature, "location", {1: (0.0, 0.0, 0.0), 72: (0.0, 0.9, 0.0)})
    armature.animation_data.action = bpy.data.actions["clean"]
    if hasattr(other, "slots"):
        armature.animation_data.action_slot = bpy.data.actions["clean"].slots[0]
    worst = audit(actions="ALL")["clips"][0]
    assert (worst["action"], worst["is_fine"]) == ("slides", False)
    calls = drawn(TWOBONE_PT_audit).calls
    rows = [named["text"] for name, given, named in calls if name == "operator" and given[0] == "twobone.audit_show"]
    assert rows == ["slides", "clean"]
    shown = {"armature": "Walker", "action": worst["action"], "frame": worst["worst_frame"]}
    assert bpy.ops.twobone.audit_show(**shown) == {"FINISHED"}
    assert armature.animation_data.action == other
    assert bpy.context.scene.frame_current == int(worst["worst_frame"])


@pytest.fixture
def robot_on_fk():
    """The robot after *Switch to FK*, with its left leg baked to a target that moves: its foot is keyed along."""
    armature = robot()
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, LAST
    bpy.context.view_layer.objects.active = armature
    twobone.find_limbs(targets=True)
    twobone.switch(to="FK", scope="ACTIVE")
    target = next(chain for chain in armature.twobone.chains if chain.upper == "UpperLegL").target
    bpy.context.scene.frame_set(6)
    target.location.z += 0.3
    target.keyframe_insert("location", frame=6)
    twobone.bake_all(scope="ACTIVE")
    return armature


def of_left_leg(report):
    return next(chain for chain in report["chains"] if chain["chain"] == "Left Leg")


def test_a_foot_that_goes_along_with_its_leg_is_not_torn(robot_on_fk):
    before = dump_file()
    report = audit()
    assert differences(before, dump_file()) == []
    assert of_left_leg(report)["torn"] < 1e-4
    assert "farther from it" not in report["sentence"]


@pytest.mark.parametrize("share", [0.007, 0.02])
def test_a_foot_that_is_torn_off_its_leg_is_named_with_its_frame(robot_on_fk, share):
    """Its keys are edited, as by somebody who works on the feet alone; from a hundredth of the leg on it is seen."""
    frame = 9
    shown, before = ways_to_the_foot(robot_on_fk, "LowerLegL", "FootL", [frame])
    leg = of_left_leg(audit())["length"]
    foot = robot_on_fk.pose.bones["FootL"]
    away = (shown[0] / np.linalg.norm(shown[0]) if np.linalg.norm(shown[0]) > 1e-3 else np.array([0.0, 0.0, 1.0])) * share * leg
    bpy.context.scene.frame_set(frame)
    # Its bone stands in a root without rotation, so its location is that in the bone's own axes.
    foot.location += foot.bone.matrix_local.to_3x3().inverted() @ Vector(away)
    foot.keyframe_insert("location", frame=frame)
    assert np.linalg.norm(ways_to_the_foot(robot_on_fk, "LowerLegL", "FootL", [frame])[1] - before) == pytest.approx(
        share * leg, rel=1e-3
    )
    report = audit()
    assert of_left_leg(report)["torn"] == pytest.approx(share, rel=0.02)
    assert of_left_leg(report)["torn_frame"] == frame
    sentence = f"Left Leg: the foot is {share:.1%} of the limb farther from it than before it was keyed (frame {frame})"
    assert (sentence in report["sentence"]) == (share > 0.01)


def test_a_foot_that_no_task_has_keyed_has_no_earlier_place():
    bpy.context.view_layer.objects.active = robot()
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, LAST
    twobone.find_limbs()
    assert of_left_leg(audit())["torn"] is None
