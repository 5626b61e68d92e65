"""A limb's tip nudged at a frame: exactly as far as asked, fading out beside, and nothing else."""

import json
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import bpy
import numpy as np
import pytest

from tests.blender_program import PATIENCE_IN_SECONDS
from tests.tasks.checks.all_keys import all_keys
from tests.tasks.checks.file_dump import differences, dump_file
from tests.tasks.checks.targets import curves_of
from tests.tasks.nudge.nudging import nudge, refusal, seen, sums_are_exact
from tests.tasks.rigs.legs_with_ik import add_ik
from tests.tasks.rigs.walker import Walk, build_walker, key_contacts
from tests.tasks.scenes import BoneShape, add_empty, build_armature, key_channel, sentence_of, set_range

ARM = (
    BoneShape("chest", (0, 0, 1), (0, 0, 1.4)),
    BoneShape("upper_arm", (0.2, 0, 1.4), (0.45, 0.15, 1.4), "chest"),
    BoneShape("forearm", (0.45, 0.15, 1.4), (0.7, 0, 1.4), "upper_arm", connected=True),
    BoneShape("hand", (0.7, 0, 1.4), (0.8, 0, 1.4), "forearm", connected=True),
)
LIMB = {"armature": "Rig", "upper": "upper_arm", "lower": "forearm"}
LENGTH = 2 * float(np.hypot(0.25, 0.15))
OFFSET = np.array((-0.02, -0.04, 0.04))
BONES = [shape.name for shape in ARM]
HAND = BONES.index("hand")
SINGLE = 1e-6
"""Of the limb's length: what single precision leaves."""

ROUNDED = 2.5e-7
"""What is left of a Bezier curve that is cut between two keys: its new handles are single precision, as all handles are."""

KEYS = {
    "chest": {1: 0.0, 15: 0.2, 30: -0.1},
    "upper_arm": {1: 0.1, 9.5: 0.3, 18: -0.2, 30: 0.1},
    "forearm": {1: 0.1, 8: -0.2, 20: 0.05, 30: 0.1},
    "hand": {1: 0.0, 12: 0.3, 30: 0.0},
}


def keyed_arm(mode="QUATERNION"):
    set_range(1, 30)
    rig = build_armature(ARM)
    for bone, keys in KEYS.items():
        pose = rig.pose.bones[bone]
        pose.rotation_mode = mode
        if mode == "QUATERNION":
            key_channel(pose, "rotation_quaternion", {frame: (1.0, 0.3 * angle, 0.1, angle) for frame, angle in keys.items()})
        else:
            key_channel(pose, "rotation_euler", {frame: (0.3 * angle, 0.1, angle) for frame, angle in keys.items()})
    bpy.context.scene.frame_set(1)
    return rig


def share(away, range_, falloff):
    """How much of a nudge is left so many frames away."""
    if away >= range_:
        return float(falloff == "CONSTANT" and away <= range_)
    left = 1.0 - away / range_
    return {"SMOOTH": 3.0 * left**2 - 2.0 * left**3, "LINEAR": left, "CONSTANT": 1.0}[falloff]


@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ", "YZX"])
@pytest.mark.parametrize("falloff", ["SMOOTH", "LINEAR", "CONSTANT"])
def test_the_tip_moves_by_the_offset_and_by_less_of_it_beside(empty_file, mode, falloff):
    rig = keyed_arm(mode)
    frames = np.arange(-3, 36)
    before = seen(rig, frames)
    report = nudge(**LIMB, frame=14, offset=OFFSET, before=5, after=7, falloff=falloff)
    moved = seen(rig, frames) - before
    shares = np.array([share(14 - frame, 5, falloff) if frame < 14 else share(frame - 14, 7, falloff) for frame in frames])
    np.testing.assert_allclose(moved[:, HAND, :3, 3], shares[:, None] * OFFSET, atol=SINGLE * LENGTH)
    np.testing.assert_allclose(report["nudged_by"], OFFSET, atol=SINGLE * LENGTH)
    assert [(limb["upper"], limb["nudged_by"]) for limb in report["chains"]] == [("upper_arm", report["nudged_by"])]
    assert report["max_error"] <= SINGLE * LENGTH
    # The hand keeps its rotation in the world, and what the arm hangs from does not move at all.
    assert np.abs(moved[:, HAND, :3, :3]).max() < 2e-6
    assert not moved[:, BONES.index("chest")].any()
    assert np.abs(moved[shares == 0.0]).max() <= ROUNDED


@pytest.mark.parametrize("falloff", ["SMOOTH", "CONSTANT"])
def test_outside_the_range_curves_are_as_they_were_between_frames_too(empty_file, falloff):
    rig = keyed_arm("XYZ")
    more = 1.0 if falloff == "CONSTANT" else 0.0
    moments = np.arange(-3, 36, 0.125)
    before = {(curve.data_path, curve.array_index): [curve.evaluate(each) for each in moments] for curve in curves_of(rig)}
    keys = {place: keys_outside(curve) for place, curve in by_place(rig).items()}
    nudge(**LIMB, frame=14, offset=OFFSET, before=4.25, after=3, falloff=falloff)
    outside = (moments <= 9.75 - more) | (moments >= 17 + more)
    for place, curve in by_place(rig).items():
        now = np.array([curve.evaluate(each) for each in moments])
        # A split Bezier curve is the same one; single precision rounds its new handles.
        np.testing.assert_allclose(now[outside], np.array(before[place])[outside], atol=1e-6)
        assert keys_outside(curve) == keys[place]


def by_place(rig):
    return {(curve.data_path, curve.array_index): curve for curve in curves_of(rig)}


def keys_outside(curve):
    outside = [key for key in curve.keyframe_points if not 8 < key.co.x < 19]
    return [(*key.co, key.interpolation, key.easing, key.type) for key in outside]


def test_keys_of_an_animator_stay_where_they_are_in_time(empty_file):
    rig = keyed_arm()
    nudge(**LIMB, frame=9, offset=OFFSET, before=4, after=4)
    frames = {round(key.co.x, 3) for curve in curves_of(rig) if "upper_arm" in curve.data_path for key in curve.keyframe_points}
    assert {1.0, 9.5, 18.0, 30.0} <= frames


def test_nudges_add_up_and_each_can_be_removed_without_the_others(empty_file):
    rig = keyed_arm()
    off = sums_are_exact(rig, ["hand"], LIMB, (10, 14, 20), LENGTH)
    assert max(off["sum"], off["exact"]) <= SINGLE
    assert off["back"] == 0.0
    assert off["outside"] <= ROUNDED
    assert off["turned"] <= 2e-6


def test_a_nudge_at_the_same_frame_replaces_the_one_there(empty_file):
    rig = keyed_arm()
    frames = np.arange(1, 31)
    nudge(**LIMB, frame=14, offset=OFFSET)
    nudge(**LIMB, frame=14, offset=2 * OFFSET, before=3, after=9)
    twice = seen(rig, frames)
    nudge(**LIMB, frame=14, remove=True)
    nudge(**LIMB, frame=14, offset=2 * OFFSET, before=3, after=9)
    np.testing.assert_array_equal(seen(rig, frames), twice)


def test_the_last_one_removed_gives_back_the_file(empty_file):
    rig = keyed_arm("XYZ")
    rig.pose.bones["hand"].keyframe_delete("rotation_euler", frame=1)
    bpy.context.scene.frame_set(1)
    before = dump_file()
    for frame in (5, 14, 25):
        nudge(**LIMB, frame=frame, offset=OFFSET)
    for frame in (14, 5, 25):
        nudge(**LIMB, frame=frame, remove=True)
    bpy.context.scene.frame_set(1)
    assert differences(before, dump_file()) == []


def test_an_arm_without_keys_is_nudged_and_given_back(empty_file):
    rig = build_armature(ARM)
    set_range(1, 30)
    bpy.context.scene.frame_set(10)
    before = dump_file()
    report = nudge(**LIMB, offset=(0.0, -0.05, 0.0))
    assert (report["frame"], report["ranges"]) == (10.0, [[5.0, 15.0]])
    moved = seen(rig, [10])[0, HAND, :3, 3] - np.array((0.7, 0.0, 1.4))
    np.testing.assert_allclose(moved, (0.0, -0.05, 0.0), atol=SINGLE * LENGTH)
    nudge(**LIMB, frame=10, remove=True)
    assert differences(before, dump_file()) == []


def test_a_nudge_takes_a_quarter_of_a_second_each_way(empty_file):
    keyed_arm()
    bpy.context.scene.render.fps = 60
    entry = nudge(**LIMB, frame=14, offset=OFFSET)["nudges"][0]
    assert (entry["before"], entry["after"]) == (15.0, 15.0)


@pytest.mark.parametrize("frame", [29.0, 30.0, 2.0])
def test_a_nudge_near_the_end_of_a_cycle_goes_on_at_its_beginning(empty_file, frame):
    rig = keyed_arm()
    for curve in curves_of(rig):
        curve.modifiers.new("CYCLES")
    for bone, keys in KEYS.items():
        path = f'pose.bones["{bone}"].rotation_quaternion'
        for curve in (each for each in curves_of(rig) if each.data_path == path):
            curve.keyframe_points[-1].co.y = curve.keyframe_points[0].co.y
            curve.update()
        assert keys
    frames = np.arange(1, 88)
    before = seen(rig, frames)
    nudge(**LIMB, frame=frame, offset=OFFSET, before=4, after=6)
    after = seen(rig, frames)
    moved = (after - before)[:, HAND, :3, 3]
    away = (frames - frame) % 29.0
    shares = np.array([max(share(each, 6, "SMOOTH"), share(29.0 - each, 4, "SMOOTH")) for each in away])
    np.testing.assert_allclose(moved, shares[:, None] * OFFSET, atol=SINGLE * LENGTH)
    assert all((curve.range()[0], curve.range()[1]) == (1.0, 30.0) for curve in curves_of(rig))


def test_a_cycle_is_the_range_that_its_action_says(empty_file):
    """Its keys go on beyond, as those of a run-up do; what is nudged at the end of the round is so at its beginning."""
    rig = keyed_arm()
    action = rig.animation_data.action
    action.use_frame_range = action.use_cyclic = True
    action.frame_start, action.frame_end = 8, 20
    frames = np.arange(1, 31)
    before = seen(rig, frames)
    nudge(**LIMB, frame=20, offset=OFFSET, before=3, after=3)
    moved = (seen(rig, frames) - before)[:, HAND, :3, 3]
    np.testing.assert_allclose(moved[[7, 19]], np.tile(OFFSET, (2, 1)), atol=SINGLE * LENGTH)
    assert np.abs(moved[12]).max() < SINGLE * LENGTH


def test_what_is_out_of_reach_gets_the_closest_pose_and_is_said(empty_file):
    rig = keyed_arm()
    root = seen(rig, [14], ["upper_arm"])[0, 0, :3, 3]
    tip = seen(rig, [14], ["hand"])[0, 0, :3, 3]
    outwards = (tip - root) / np.linalg.norm(tip - root)
    report = nudge(**LIMB, frame=14, offset=0.6 * outwards, before=5, after=5)
    (first, last), *others = report["out_of_reach"]
    assert first <= 14 <= last
    assert not others
    assert f"out of reach at frames {first:g}-{last:g}" in report["sentence"]
    now = seen(rig, [14], ["hand"])[0, 0, :3, 3]
    length = np.linalg.norm(np.diff([bone.head_local for bone in list(rig.data.bones)[1:]], axis=0), axis=1).sum()
    np.testing.assert_allclose(now, root + length * outwards, atol=1e-5)
    assert report["max_missed"] == pytest.approx(np.linalg.norm(tip + 0.6 * outwards - now), abs=1e-5)


def test_a_limb_on_ik_is_refused_with_the_remedy(empty_file):
    rig = keyed_arm()
    add_empty("Target")
    add_ik(rig, "forearm")
    before = dump_file()
    said = refusal(**LIMB, frame=14, offset=OFFSET)
    assert "forearm" in said or "upper_arm" in said
    assert "Switch All Limbs to FK" in said
    assert differences(before, dump_file()) == []


def test_nothing_to_move_or_to_remove_is_refused(empty_file):
    keyed_arm()
    assert "Offset is 0" in refusal(**LIMB, frame=14)
    assert "no nudge at frame 14" in refusal(**LIMB, frame=14, remove=True)
    nudge(**LIMB, frame=10, offset=OFFSET)
    assert refusal(**LIMB, frame=14, remove=True).endswith("It has nudges at: 10.")


def test_what_somebody_has_edited_stays_and_is_said(empty_file):
    rig = keyed_arm()
    nudge(**LIMB, frame=14, offset=OFFSET)
    curve = next(each for each in curves_of(rig) if "forearm" in each.data_path and each.array_index == 3)
    key = next(each for each in curve.keyframe_points if each.co.x == 13.0)
    key.co.y += 0.1
    curve.update()
    before = seen(rig, [14, 16], ["hand"])[:, 0, :3, 3]
    assert "edited" in refusal(**LIMB, frame=14, remove=True)
    report = nudge(**LIMB, frame=16, offset=OFFSET)
    assert report["on_edited_keys"]
    assert [entry["frame"] for entry in report["nudges"]] == [16.0]
    assert any("edited" in note for note in report["notes"])
    after = seen(rig, [14, 16], ["hand"])[:, 0, :3, 3]
    np.testing.assert_allclose(after - before, [share(2, 6, "SMOOTH") * OFFSET, OFFSET], atol=SINGLE * LENGTH)


def test_planted_feet_stay_unless_one_of_them_is_nudged_and_that_is_said(empty_file):
    rig, _ = build_walker(Walk(frames=48))
    bpy.context.view_layer.objects.active = rig
    assert bpy.ops.twobone.plant(armature=rig.name) == {"FINISHED"}
    contacts = json.loads(bpy.context.window_manager.twobone_report)["chains"][0]["contacts"]
    stance = contacts[1]
    middle = round((stance["first"] + stance["last"]) / 2)
    frames = np.arange(1, 49)
    feet = seen(rig, frames, ["foot.L", "toe.L", "foot.R", "toe.R"])
    report = nudge(armature=rig.name, chain="leg.R", frame=middle, offset=(0.0, 0.0, 0.05))
    now = seen(rig, frames, ["foot.L", "toe.L", "foot.R", "toe.R"])
    np.testing.assert_array_equal(now[:, :2], feet[:, :2])
    assert np.abs((now - feet)[:, 2:]).max() > 0.04
    report = nudge(armature=rig.name, chain="leg.L", frame=middle, offset=(0.0, 0.0, 0.02))
    assert any('"leg.L" stands on the ground at frames' in note for note in report["notes"])


def test_frames_of_a_stance_from_frame_zero_have_no_sign(empty_file):
    rig, states = build_walker(Walk(frames=24))
    key_contacts(rig, {side: np.ones_like(values) for side, values in states.items()})
    report = nudge(armature=rig.name, chain="leg.L", frame=5, before=5.3, after=5, offset=(0.0, 0.0, 0.02))
    assert any("at frames 0-9," in note for note in report["notes"])


def test_a_nudge_goes_with_its_keys_and_clear_takes_all(empty_file):
    rig = keyed_arm()
    chain = rig.twobone.chains.add()
    chain.name, chain.upper, chain.lower = "arm", "upper_arm", "forearm"
    nudge(armature="Rig", chain="arm", frame=14, offset=OFFSET)
    copied = rig.animation_data.action.copy()
    assert copied.twobone_nudges == rig.animation_data.action.twobone_nudges
    assert bpy.ops.twobone.clear_baked(**LIMB, all_frames=True) == {"FINISHED"}
    assert rig.animation_data.action.twobone_nudges == ""


def test_clear_takes_keys_where_two_bones_have_theirs_nearly_at_one_frame(empty_file):
    """Clips made at another frame rate have keys so near to whole frames that Blender would make one key of both."""
    rig = keyed_arm()
    near = {"upper_arm": 11.995, "forearm": 12.0}
    for curve in curves_of(rig):
        for frame in (frame for bone, frame in near.items() if f'"{bone}"' in curve.data_path):
            curve.keyframe_points.insert(frame, curve.evaluate(frame))
    before = all_keys(rig)
    nudge(**LIMB, frame=14, offset=OFFSET)
    assert all_keys(rig) != before
    assert bpy.ops.twobone.clear_baked(**LIMB) == {"FINISHED"}
    assert all_keys(rig) == before
    assert "edited" not in str(json.loads(bpy.context.window_manager.twobone_report)["notes"])


@pytest.mark.parametrize("falloff", ["SMOOTH", "CONSTANT"])
def test_clear_takes_a_nudge_beyond_the_keys_of_the_target(empty_file, falloff):
    rig, target = keyed_arm(), add_empty()
    key_channel(target, "location", {1: (0, 0, 0), 10: (0, 0, 0.1)})
    chain = rig.twobone.chains.add()
    chain.name, chain.upper, chain.lower, chain.target = "arm", "upper_arm", "forearm", target
    chain.frame_range = "AUTO"
    bpy.context.view_layer.objects.active = rig
    before = all_keys(rig)
    nudge(armature="Rig", chain="arm", frame=14, offset=OFFSET, falloff=falloff)
    assert all_keys(rig) != before
    assert bpy.ops.twobone.clear_baked(scope="ACTIVE") == {"FINISHED"}
    assert all_keys(rig) == before


@pytest.fixture
def walk(empty_file, data_folder):
    bpy.ops.import_anim.bvh(filepath=str(data_folder / "motion" / "cmu_131_01_walk.bvh"), update_scene_duration=True)
    rig = bpy.context.object
    assert bpy.ops.twobone.find_limbs(armature=rig.name) == {"FINISHED"}
    return rig


@pytest.mark.parametrize("limb", ["Left Arm", "Right Leg"])
def test_nudges_of_a_recorded_walk_add_up(walk, limb):
    chain = walk.twobone.chains[limb]
    end = chain.tip or walk.pose.bones[chain.lower].children[0].name
    bones = walk.data.bones
    joints = [walk.matrix_world @ bones[name].head_local for name in (chain.upper, chain.lower, end)]
    length = sum((after - before).length for before, after in pairwise(joints))
    off = sums_are_exact(walk, [end], {"armature": walk.name, "chain": limb}, (100, 104, 111), length)
    assert max(off["sum"], off["exact"]) <= SINGLE
    assert off["back"] == off["outside"] == 0.0


def test_nudges_of_a_rigify_human_on_fk_add_up():
    program = [sys.executable, str(Path(__file__).with_name("rigify_nudged.py"))]
    ended = subprocess.run(program, capture_output=True, text=True, encoding="utf-8", timeout=PATIENCE_IN_SECONDS, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    told = json.loads(next(line for line in reversed(ended.stdout.splitlines()) if line.startswith("{")))
    assert told["sum"] <= SINGLE, told
    assert told["exact"] <= SINGLE, told
    assert told["back"] == 0.0, told
    assert told["outside"] <= ROUNDED, told
    assert "Switch All Limbs to FK" in told["on_ik"]


SAID = re.compile(r"nudged by ([0-9.]+) (mm|cm|m) at frame")
METERS = {"mm": 1e-3, "cm": 1e-2, "m": 1.0}


def said_distance(sentence):
    """Distance that the sentence says, and half of its last digit, world units."""
    number, unit = SAID.search(sentence).groups()
    digits = len(number.partition(".")[2])
    return float(number) * METERS[unit], 0.5 * 10.0**-digits * METERS[unit]


def stretched_arm(rig, kind):
    """Keyed scales as a switch leaves them; the keys beside the range are marked as baked and nothing more."""
    scales = {
        "stretched": ((1, 1.3, 1), (1, 1.1, 1)),
        "thicker": ((1.3, 1.3, 1.3), (0.9, 0.9, 0.9)),
        "not at all": ((1, 1, 1),) * 2,
    }
    for name, scale in zip(("upper_arm", "forearm"), scales[kind], strict=True):
        key_channel(rig.pose.bones[name], "scale", {0: (1, 1, 1), 1: scale, 60: scale, 61: (1, 1, 1)})
    for curve in curves_of(rig):
        if curve.data_path.endswith("scale"):
            for key in curve.keyframe_points:
                key.type, key.period = "GENERATED", 4.2 if 1 <= key.co.x <= 60 else 4.1


@pytest.mark.parametrize("verify", [True, False])
@pytest.mark.parametrize("far", [0.05, 0.4, 5.0])
@pytest.mark.parametrize("kind", ["stretched", "thicker", "not at all"])
@pytest.mark.parametrize("held", [False, True])
def test_the_sentence_says_what_blender_shows_of_the_nudge_alone(empty_file, kind, far, held, verify):
    rig = keyed_arm()
    stretched_arm(rig, kind)
    if held:
        for curve in curves_of(rig):
            for key in curve.keyframe_points:
                key.interpolation = "CONSTANT"
    nudge(**LIMB, frame=16, offset=(0.0, 0.02, 0.0), before=5, after=5)
    before = seen(rig, [14], ["hand"])[0, 0, :3, 3]
    report = nudge(**LIMB, frame=14, offset=(0.0, far, 0.3 * far), before=5, after=5, verify=verify)
    moved = np.linalg.norm(seen(rig, [14], ["hand"])[0, 0, :3, 3] - before)
    said, rounding = said_distance(report["sentence"])
    assert said == pytest.approx(moved, abs=rounding + 1e-4)
    if verify:
        assert report["max_error"] < 1e-5
        assert bool(report["out_of_reach"]) == (report["max_missed"] > 0.0)


@pytest.mark.parametrize("frame", [13, 14, 15, 16])
def test_a_nudge_ends_at_a_cut(empty_file, frame):
    rig = keyed_arm()
    for at, place in ((1, (0, 0, 0)), (14, (0, 0, 0)), (15, (3, 1, 0)), (30, (3, 1, 0))):
        rig.location = place
        rig.keyframe_insert("location", frame=at)
    frames = np.arange(1, 31)
    before = seen(rig, frames, ["hand"])[:, 0, :3, 3]
    nudge(**LIMB, frame=frame, offset=OFFSET, before=8, after=8)
    moved = np.linalg.norm(seen(rig, frames, ["hand"])[:, 0, :3, 3] - before, axis=-1)
    other = frames < 15 if frame >= 15 else frames >= 15
    assert moved[frames == frame] == pytest.approx(np.linalg.norm(OFFSET), abs=1e-5)
    assert moved[other].max() < 1e-5
    assert np.count_nonzero(moved[~other] > 1e-4) >= 5


@pytest.mark.parametrize("last, frames", [(30, ["at frames 12, 22."]), (16, ["at frames 12.", "at frames 22."])])
def test_a_bake_over_nudges_names_them_and_leaves_nothing_of_them(empty_file, last, frames):
    """The tip goes to its target again, the hand turns back with it, and the list does not show what is gone."""
    rig = keyed_arm()
    target = add_empty("Target")
    key_channel(target, "location", {1: (0.5, -0.1, 1.5), 30: (0.55, 0.1, 1.3)})
    chain = rig.twobone.chains.add()
    chain.name, chain.upper, chain.lower, chain.target, chain.plane = "Arm", "upper_arm", "forearm", target, "POSE"
    bpy.ops.twobone.bake(stored="Arm")
    baked = seen(rig, range(1, 31))
    for frame in (12, 22):
        nudge(**LIMB, frame=frame, offset=tuple(OFFSET), before=3, after=3)
    chain.frame_range, chain.frame_start, chain.frame_end = "CUSTOM", 1, last
    nudged = seen(rig, range(1, 31))
    bpy.ops.twobone.bake(stored="Arm")
    report = json.loads(bpy.context.window_manager.twobone_report)
    said = [entry["text"] if isinstance(entry, dict) else entry for entry in report["notes"]]
    said = [text for text in map(str, said) if "Nudges of Arm" in text]
    assert len(said) == len(frames)
    assert all(ending in text for ending, text in zip(frames, said, strict=True))
    again = seen(rig, range(1, 31))
    assert np.abs(again - baked)[:last, HAND, :3, 3].max() < 1e-5
    if last == 30:
        assert np.abs(again - baked).max() < 1e-5
    assert np.abs(again - nudged)[last + 1 :].max(initial=0.0) < 1e-5
    assert "It has nudges at: -." in refusal(**LIMB, frame=12, remove=True)


def test_an_unknown_stored_chain_is_named_and_so_is_the_armature(empty_file):
    keyed_arm()
    before = dump_file()
    said = refusal(armature="Rig", chain="arm of nobody", frame=14, offset=OFFSET)
    assert "arm of nobody" in said
    assert '"Rig"' in said
    assert differences(before, dump_file()) == []


def test_switching_an_unknown_stored_chain_is_refused_in_the_same_words(empty_file):
    keyed_arm()
    with pytest.raises(RuntimeError) as caught:
        bpy.ops.twobone.switch(armature="Rig", chain="arm of nobody", to="FK")
    assert sentence_of(caught.value) == refusal(armature="Rig", chain="arm of nobody", frame=14, offset=OFFSET)
