"""A character with a copy of another's motion gets feet, hips and hands where the other has them, as Blender evaluates it."""

import json
import math
from dataclasses import replace

import bpy
import numpy as np
import pytest
from mathutils import Quaternion, Vector

import twobone_addon
from tests.tasks.checks.targets import curves_of
from tests.tasks.rigs.person import person
from tests.tasks.rigs.retargeted import FRAMES, LEG, SCALE, made_pair
from tests.tasks.rigs.walker import BALL, BALL_OFFSET, BOTH, SHAPES, Walk
from tests.tasks.scenes import build_armature, key_channel
from twobone_addon.errors import TwoBoneError
from twobone_addon.tasks.finish_retarget.similarity import shift_that_fits, without_lifts

pytestmark = pytest.mark.usefixtures("empty_file")


def heads(rig, bone):
    """World positions `(F, 3)` of a bone's head."""
    return carried(rig, bone, Vector())


def keys(rig):
    return {
        (curve.data_path, curve.array_index): [(*key.co, *key.handle_left, *key.handle_right) for key in curve.keyframe_points]
        for curve in curves_of(rig)
    }


def stances(states, side, standing=(BALL, BOTH)):
    """First and last row of each time that the ball of a foot stands, as the walker was made."""
    on = np.isin(states[side], standing).astype(int)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], on, [0]])))
    return [(first, end) for first, end in edges.reshape(-1, 2) if end - first > 4]


def assert_stands(hero, states, *, floor=0.0, leg=LEG, balls=None):
    """Balls stand still in all but the edges of the source's contacts, on the floor, and sink at no frame."""
    ball = (BALL_OFFSET[1] + 0.08) * leg / 0.82 if balls is None else 0.0
    for side in "LR":
        places = heads(hero, f"toe.{side}") if balls is None else balls[side]
        for first, end in stances(states, side):
            stood = places[first + 1 : end - 1]
            assert np.ptp(stood, axis=0).max() <= 0.01 * leg, (side, first)
            assert np.abs(stood[:, 2] - floor - ball).max() <= 0.01 * leg, (side, first)
        assert places[:, 2].min() >= floor + ball - 0.01 * leg


@pytest.mark.parametrize("degrees", [0, 90, 180])
def test_feet_stand_on_the_floor_where_the_source_has_them_whichever_way_it_faces(degrees):
    source, hero, states = made_pair(facing=math.radians(degrees))
    report = twobone_addon.finish_retarget(armature="Hero", source="Source")
    assert abs(report.scale - SCALE) <= 1e-3
    assert abs(abs(report.angle) - degrees) <= 1.0
    assert_stands(hero, states)
    # Hips go as far as the source's, scaled, in the direction in which the character faces.
    theirs, own = (heads(rig, "hips") for rig in (source, hero))
    turn = -math.radians(degrees)
    back = np.array([[math.cos(turn), -math.sin(turn)], [math.sin(turn), math.cos(turn)]])
    path = SCALE * (theirs - theirs[0])[:, :2] @ back.T
    assert np.abs(own[:, :2] - own[0, :2] - path).max() <= 0.02 * LEG
    knees, hips, ankles = (heads(hero, f"{bone}.L") for bone in ("shin", "thigh", "foot"))
    assert ((knees - (hips + ankles) / 2)[:, 1] > 0.0).all(), "knees bend to where they did"


def test_a_second_run_ends_where_the_first_did_and_clear_gives_every_key_back():
    _, hero, _ = made_pair()
    before, objects, actions = keys(hero), len(bpy.data.objects), len(bpy.data.actions)
    twobone_addon.finish_retarget(armature="Hero", source="Source")
    once = heads(hero, "foot.L")
    twobone_addon.finish_retarget(armature="Hero", source="Source")
    assert np.abs(heads(hero, "foot.L") - once).max() <= 1e-4 * LEG
    bpy.ops.twobone.clear_baked(armature="Hero", upper="thigh.L", lower="shin.L", tip="foot.L", tip_end="HEAD", all_frames=True)
    assert keys(hero) == before
    assert (len(bpy.data.objects), len(bpy.data.actions)) == (objects, actions)


@pytest.mark.parametrize("late", [1, 5, 12])
def test_a_source_that_is_late_is_refused_with_the_shift_that_fits(late):
    source, hero, _ = made_pair(Walk(frames=60))
    for curve in curves_of(source):
        for key in curve.keyframe_points:
            key.co.x += late
        curve.update()
    before = keys(hero)
    with pytest.raises(TwoBoneError, match=f"{late} frames later. Move the keys of the source by -{late} frames"):
        twobone_addon.finish_retarget(armature="Hero", source="Source", frame_start=15, frame_end=58)
    assert keys(hero) == before


def test_palms_meet_as_they_do_in_the_source():
    """Both swing their bent arms forward until the palms nearly touch; the hero's shoulders are broader."""
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 20
    palms = []
    for name, broader in (("Source", 0.0), ("Hero", 0.06)):
        rig = person()
        rig.name = name
        bpy.context.view_layer.objects.active = rig
        bpy.ops.object.mode_set(mode="EDIT")
        for bone in rig.data.edit_bones:
            if bone.name[:-2] in {"upper_arm", "forearm", "hand"}:
                for end in (bone.head, bone.tail):
                    end.x += math.copysign(broader, end.x)
        bpy.ops.object.mode_set(mode="OBJECT")
        for side, sign in (("L", -1.0), ("R", 1.0)):
            for name_of_bone, angles in (("upper_arm", (0.2, 1.5, 0.2)), ("forearm", (0.6, 0.6, 0.6))):
                arm = rig.pose.bones[f"{name_of_bone}.{side}"]
                arm.rotation_mode = "QUATERNION"
                up = arm.bone.matrix_local.to_3x3().inverted() @ Vector((0.0, 0.0, sign))
                values = {frame: Quaternion(up, angle)[:] for frame, angle in zip((1, 10, 20), angles, strict=True)}
                key_channel(arm, "rotation_quaternion", values)
    report = twobone_addon.finish_retarget(armature="Hero", source="Source")
    for name in ("Source", "Hero"):
        rig, sides = bpy.data.objects[name], []
        for side in "LR":
            hand, forearm = (rig.data.bones[f"{bone}.{side}"] for bone in ("hand", "forearm"))
            # The middle of the hand, which goes on as the forearm does at rest.
            palm = hand.head_local + 0.12 * 0.52 * (hand.head_local - forearm.head_local).normalized()
            sides.append(carried(rig, hand.name, hand.matrix_local.inverted() @ palm))
        palms.append(sides)
    theirs, own = (left - right for left, right in palms)
    near = np.linalg.norm(theirs, axis=1) < 0.15
    assert near.any()
    assert np.linalg.norm(own - theirs, axis=1)[near].max() <= 0.005 * 0.52
    assert report.meeting >= near.sum()


def carried(rig, bone, offset):
    """World positions `(F, 3)` of a point in the space of a bone."""
    scene, found = bpy.context.scene, []
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        posed = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        found.append((posed.matrix_world @ posed.pose.bones[bone].matrix @ offset)[:])
    return np.array(found)


def test_what_cannot_be_finished_is_refused_in_a_sentence_and_a_dry_run_changes_nothing():
    source, hero, _ = made_pair()
    before = keys(hero)
    for given, said in (
        ({}, "No source of the motion"),
        ({"source": "Hero"}, "cannot be its own source"),
        ({"source": "Nobody"}, "is not in this file"),
    ):
        with pytest.raises(TwoBoneError, match=said):
            twobone_addon.finish_retarget(armature="Hero", **given)
    for curve in curves_of(source):
        for key in curve.keyframe_points:
            key.co.x *= 0.5
        curve.update()
    with pytest.raises(TwoBoneError, match=r"moves from frame 0\.5 to 18"):
        twobone_addon.finish_retarget(armature="Hero", source="Source")
    assert keys(hero) == before


@pytest.mark.parametrize("rate", [24, 120])
def test_scaled_objects_and_other_rates_are_the_same_motion(rate):
    source, hero, states = made_pair(Walk(frames=FRAMES * rate // 24, rate=float(rate)))
    source.scale = (3.0, 3.0, 3.0)
    hero.scale = (2.0, 2.0, 2.0)
    report = twobone_addon.finish_retarget(armature="Hero", source="Source")
    assert abs(report.scale - SCALE * 2.0 / 3.0) <= 1e-3
    assert_stands(hero, states, leg=2.0 * LEG)


def test_the_other_selected_armature_is_the_source_of_the_button():
    source, hero, states = made_pair()
    for thing in (source, hero):
        thing.select_set(state=True)
    assert bpy.ops.twobone.finish_retarget() == {"FINISHED"}
    report = json.loads(bpy.context.window_manager.twobone_report)
    assert (report["kind"], report["armature"], report["source"]) == ("finish_retarget", "Hero", "Source")
    assert_stands(hero, states)


@pytest.mark.parametrize("settings", [{"hips": "KEEP"}, {"hands": "KEEP"}, {"ground": "HEIGHT", "ground_height": 0.2}])
def test_options_say_what_is_put_right(settings):
    _, hero, states = made_pair(size=SCALE)
    hips = heads(hero, "hips")
    twobone_addon.finish_retarget(armature="Hero", source="Source", **settings)
    assert_stands(hero, states, floor=settings.get("ground_height", 0.0))
    if settings.get("hips") == "KEEP":
        assert np.abs(heads(hero, "hips") - hips)[:, :2].max() <= 1e-4


def test_feet_that_the_copy_tilts_throughout_lie_as_the_source_has_them():
    """Another rest pose of the feet tilts each copied rotation by as much."""
    source, hero, states = made_pair()
    tilt = Quaternion((1.0, 0.0, 0.0), math.radians(14.0))
    for side in "LR":
        foot = hero.pose.bones[f"foot.{side}"]
        for frame in range(1, FRAMES + 1):
            bpy.context.scene.frame_set(frame)
            foot.rotation_quaternion = foot.rotation_quaternion @ tilt
            foot.keyframe_insert("rotation_quaternion", frame=frame)
    twobone_addon.finish_retarget(armature="Hero", source="Source")
    assert_stands(hero, states)
    for side in "LR":
        ways = [carried(rig, f"foot.{side}", Vector((0.0, 1.0, 0.0))) - heads(rig, f"foot.{side}") for rig in (source, hero)]
        assert np.degrees(np.arccos(np.clip(np.sum(ways[0] * ways[1], axis=1), -1.0, 1.0))).max() <= 2.0


def test_a_foot_that_shows_no_ball_rolls_over_one_where_the_source_has_it():
    """Feet of some exports have no toes and point straight down to the floor."""
    _, hero, states = made_pair()
    bpy.ops.object.mode_set(mode="EDIT")
    bones, turns = hero.data.edit_bones, {}
    for side in "LR":
        bones.remove(bones[f"toe.{side}"])
        foot = bones[f"foot.{side}"]
        before = foot.matrix.to_quaternion()
        foot.tail = (foot.head.x, foot.head.y, 0.0)
        turns[foot.name] = foot.matrix.to_quaternion().inverted() @ before
    bpy.ops.object.mode_set(mode="OBJECT")
    for name, turn in turns.items():
        for frame in range(1, FRAMES + 1):
            bpy.context.scene.frame_set(frame)
            foot = hero.pose.bones[name]
            foot.rotation_quaternion = turn @ foot.rotation_quaternion @ turn.inverted()
            foot.keyframe_insert("rotation_quaternion", frame=frame)
    twobone_addon.finish_retarget(armature="Hero", source="Source")
    ahead = Vector((0.0, BALL_OFFSET[0] * SCALE, -0.08 * SCALE))
    rests = {side: hero.data.bones[f"foot.{side}"].matrix_local for side in "LR"}
    balls = {side: carried(hero, f"foot.{side}", rest.to_3x3().inverted() @ ahead) for side, rest in rests.items()}
    assert_stands(hero, states, balls=balls)


def test_limbs_that_fit_tell_of_a_late_source_where_others_never_fit():
    """Arms of another rest pose turn by more than a shift of some frames does."""
    times = np.arange(200) / 120.0
    angles = np.stack([0.5 * np.sin(6.0 * times + phase) for phase in range(4)])
    legs, arms = (
        np.stack([np.zeros_like(each), np.sin(each), -np.cos(each)], axis=-1) for each in (angles, 2.0 * angles[::-1] + 0.3)
    )
    source, own = np.concatenate([legs, legs]), np.concatenate([legs, arms])
    assert shift_that_fits(own, source, 120.0)[0] == 0
    for late in (1, 5, 15):
        assert shift_that_fits(own[:, late:], source[:, :-late], 120.0)[0] == late


def test_no_ball_stands_while_its_foot_is_on_the_tips_of_its_toes():
    """What rises in the middle of a contact, as on a bump of the recording, stays one."""
    heights = np.array([0.05, 0.03, 0.001, 0.0, 0.04, 0.0, 0.002, 0.03, 0.06])
    standing = np.array([False, True, True, True, True, True, True, True, True])
    assert without_lifts(heights, standing, 0.02).tolist() == [False, False, True, True, True, True, True, False, False]
    assert without_lifts(heights + 0.1, standing, 0.02).tolist() == without_lifts(heights, standing, 0.02).tolist()
    assert without_lifts(heights, standing, 0.02, least=0.02).sum() == 7  # A floor that is higher shows less of a lift.


def test_mirrored_characters_stand_as_others_do():
    source, hero, states = made_pair()
    for rig in (source, hero):
        rig.scale.x = -1.0
    twobone_addon.finish_retarget(armature="Hero", source="Source")
    assert_stands(hero, states)


def test_stairs_that_the_source_goes_up_are_scaled():
    source, hero, states = made_pair(Walk(frames=FRAMES, climb=0.12))
    twobone_addon.finish_retarget(armature="Hero", source="Source")
    climbed = []
    for side in "LR":
        theirs, own = heads(source, f"toe.{side}"), heads(hero, f"toe.{side}")
        for first, end in stances(states, side, (BOTH,)):
            rows = slice(first + 1, end - 1)
            assert np.ptp(own[rows], axis=0).max() <= 0.01 * LEG
            assert np.abs(own[rows, 2] - SCALE * theirs[rows, 2]).max() <= 0.01 * LEG
            climbed.append(float(own[rows, 2].mean()))
    assert np.ptp(climbed) >= 0.12 * SCALE


def test_a_source_with_keys_between_frames_is_followed():
    """A recording at 60 frames a second in a scene of 24."""
    source, hero, states = made_pair()
    for curve in curves_of(source):
        places = [(frame, curve.evaluate(frame)) for frame in np.arange(1.0, FRAMES + 0.01, 0.4).tolist()]
        while curve.keyframe_points:
            curve.keyframe_points.remove(curve.keyframe_points[0], fast=True)
        for frame, value in places:
            curve.keyframe_points.insert(frame, value, options={"FAST"}).interpolation = "LINEAR"
        curve.update()
    twobone_addon.finish_retarget(armature="Hero", source="Source")
    assert_stands(hero, states)


def test_four_legs_are_refused():
    made_pair()
    behind = [
        replace(
            shape,
            name=shape.name.replace(".", "_front."),
            parent="chest" if shape.parent == "hips" else shape.parent.replace(".", "_front."),
            **{end: (getattr(shape, end)[0], getattr(shape, end)[1] + 0.8, getattr(shape, end)[2]) for end in ("head", "tail")},
        )
        for shape in SHAPES
        if shape.name.endswith((".L", ".R"))
    ]
    beast = build_armature([*SHAPES, *behind], "Beast")
    key_channel(beast.pose.bones["hips"], "location", {1: (0.0, 0.0, 0.0), FRAMES: (0.0, 0.1, 0.0)})
    before = keys(beast)
    with pytest.raises(TwoBoneError, match="legs"):
        twobone_addon.finish_retarget(armature="Beast", source="Source")
    assert keys(beast) == before
