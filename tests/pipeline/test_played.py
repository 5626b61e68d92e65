"""What is played beside new keys: which way was taken is said, too much is refused, and what is seen there is proved."""

import json
import re

import bpy
import numpy as np
import pytest
from mathutils import Euler, Vector

from tests.tasks.checks.targets import curves_of
from tests.tasks.scenes import BoneShape, add_empty, bake, build_armature, key_places, refusal, set_range
from twobone_addon.pipeline import outside, played, run
from twobone_addon.scene.versions import curve_bag

LAST = 60
PART = {"frame_range": "CUSTOM", "frame_start": 30.0, "frame_end": 34.0, "key_before": True, "key_after": True}
ON_TARGET = {"armature": "Rig", "upper": "upper", "lower": "lower", "target": "Target"}


@pytest.fixture
def walking(registered_addon, empty_file):
    """A leg that swings with a period of 12 frames, keyed once, and repeats; its target moves elsewhere."""
    set_range(1, LAST)
    rig = build_armature()
    for frame in range(1, 14, 2):
        angle = 2.0 * np.pi * (frame - 1) / 12.0
        for bone, angles in (("upper", (0.4 * np.sin(angle), 0, 0.1)), ("lower", (0.5 + 0.3 * np.cos(angle), 0, 0))):
            rig.pose.bones[bone].rotation_quaternion = Euler(angles).to_quaternion()
            rig.pose.bones[bone].keyframe_insert("rotation_quaternion", frame=frame)
    for curve in curves_of(rig):
        curve.modifiers.new("CYCLES")
    key_places(add_empty(), [(0.1, 0.3 - 0.05 * step, -0.5) for step in range(5)], first=30)
    return rig


def push_down(rig, name="Walks"):
    data = rig.animation_data
    action, track = data.action, data.nla_tracks.new()
    track.name = name
    strip = track.strips.new("clip", 1, action)
    if hasattr(strip, "action_slot"):
        strip.action_slot = action.slots[0]
    data.action = None
    return strip


def tails(rig, frames):
    found = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        seen = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        found.append(np.array(seen.matrix_world @ seen.pose.bones["lower"].tail))
    return np.array(found)


BESIDE = [*range(1, 29), *range(36, LAST + 1)]


def test_a_cycle_goes_on_outside_and_the_report_says_how(walking):
    before = tails(walking, BESIDE)
    report = bake(**ON_TARGET, **PART)
    np.testing.assert_allclose(tails(walking, BESIDE), before, atol=1e-5)
    said = (
        'The cycle of "upper", "lower" was keyed from frame 14 to 61, so nothing changes outside the new keys there. '
        "Farther away its Cycles modifier repeats all of that."
    )
    assert said in report["notes"] or said in report["chains"][0]["notes"]


def test_keys_on_a_part_of_the_only_cycle_that_is_looked_at_repeat_beyond_it_and_that_is_said(walking):
    set_range(1, 13)
    report = json.dumps(bake(**ON_TARGET, **{**PART, "frame_start": 4.0, "frame_end": 7.0})).replace('\\"', '"')
    np.testing.assert_allclose(tails(walking, range(16, 20)), tails(walking, range(4, 8)), atol=1e-5)
    assert 'The Cycles modifier of "upper", "lower" repeats the new keys before and after its cycle, frames 1 to 13.' in report
    set_range(1, 13)
    whole = {"frame_range": "CUSTOM", "frame_start": 1.0, "frame_end": 13.0}
    assert "repeats the new keys" not in json.dumps(bake(**ON_TARGET, **whole))


def test_a_cycle_over_too_many_frames_is_refused_and_its_whole_cycle_is_not(walking):
    set_range(1, 30_000)
    said = refusal(**ON_TARGET, **PART)
    assert said.startswith('A Cycles modifier plays pose.bones["upper"].rotation_quaternion[0] over 29,983 frames')
    assert "Choose the frames of the cycle, 1 to 13, so that all repeats change" in said
    bake(**ON_TARGET, frame_range="CUSTOM", frame_start=1.0, frame_end=13.0)


WHOLE = {"frame_range": "CUSTOM", "frame_start": 1.0}


def give_lower(rig, *, first, period):
    """Let the lower bone's cycle begin at another frame and have another length."""
    for curve in (curve for curve in curves_of(rig) if '"lower"' in curve.data_path):
        for key in curve.keyframe_points:
            key.co.x = first + (key.co.x - 1.0) * period / 12.0
        curve.update()


@pytest.mark.parametrize("first, period, last", [(1.0, 8.0, 25), (3.0, 8.0, 25), (1.0, 6.0, 13), (5.0, 12.0, 25), (1.0, 5.0, 61)])
def test_of_cycles_of_different_lengths_the_frames_that_both_repeat_after_are_named_and_help(walking, first, period, last):
    give_lower(walking, first=first, period=period)
    set_range(1, 30_000)
    said = refusal(**ON_TARGET, **PART)
    assert f"Choose the frames of the cycle, 1 to {last}, so that all repeats change, or shorten the scene's range." in said
    bake(**ON_TARGET, **WHOLE, frame_end=float(last))
    assert {curve.keyframe_points[-1].co.x for curve in curves_of(walking)} == {last}
    once = tails(walking, range(2, last))  # At their ends, which differ, the one or the other key is seen.
    np.testing.assert_allclose(tails(walking, range(2 * last, 3 * last - 2)), once, atol=1e-5)


def test_of_cycles_that_never_repeat_together_no_frames_are_named(walking):
    give_lower(walking, first=1.0, period=7.5)
    set_range(1, 30_000)
    said = refusal(**ON_TARGET, **PART)
    assert said.endswith("which is too many to key. Shorten the scene's range.")
    set_range(1, LAST)
    before = tails(walking, BESIDE)
    bake(**ON_TARGET, **PART)
    np.testing.assert_allclose(tails(walking, BESIDE), before, atol=1e-5)


def test_a_preview_range_is_named_only_where_it_is_on_and_a_shorter_one_helps(walking):
    scene = bpy.context.scene
    scene.use_preview_range = True
    scene.frame_preview_start, scene.frame_preview_end = 1, 30_000
    said = refusal(**ON_TARGET, **PART)
    assert "1 to 13, so that all repeats change, or shorten the scene's range or its preview range." in said
    before = tails(walking, BESIDE)
    scene.frame_preview_end = 40
    bake(**ON_TARGET, **PART)
    np.testing.assert_allclose(tails(walking, BESIDE), before, atol=1e-5)


def test_a_cycle_that_is_baked_as_a_whole_still_repeats(walking):
    bake(**ON_TARGET, frame_range="CUSTOM", frame_start=1.0, frame_end=13.0)
    assert {curve.keyframe_points[-1].co.x for curve in curves_of(walking)} == {13.0}
    once = tails(walking, range(1, 13))
    np.testing.assert_allclose(tails(walking, range(25, 37)), once, atol=1e-5)


def test_a_nudge_of_a_cycle_shows_in_each_repeat(walking):
    before = tails(walking, range(1, 13))
    call = {"armature": "Rig", "upper": "upper", "lower": "lower", "frame": 30.0, "offset": (0, 0.05, 0.05)}
    assert bpy.ops.twobone.nudge(**call, before=2.0, after=2.0) == {"FINISHED"}
    after = tails(walking, range(1, 13))
    assert np.abs(after - before).max() > 0.02
    np.testing.assert_allclose(tails(walking, range(25, 37)), after, atol=1e-5)


def test_two_bakes_of_a_cycle_each_start_again_from_what_it_plays(walking):
    first = {**ON_TARGET, **PART}
    second = {**first, "frame_start": 45.0, "frame_end": 47.0}
    bake(**first)
    bake(**second)
    every = list(range(1, LAST + 1))
    once = tails(walking, every)
    bake(**second)
    np.testing.assert_allclose(tails(walking, every), once, atol=1e-5)


def test_clear_of_the_range_alone_gives_the_cycle_back(walking):
    before = tails(walking, range(1, LAST + 1))
    keys = [len(curve.keyframe_points) for curve in curves_of(walking)]
    bake(**ON_TARGET, **PART)
    call = {name: value for name, value in ON_TARGET.items() if name != "target"}
    assert bpy.ops.twobone.clear_baked(**call, **PART) == {"FINISHED"}
    assert [len(curve.keyframe_points) for curve in curves_of(walking)] == keys
    np.testing.assert_allclose(tails(walking, range(1, LAST + 1)), before, atol=1e-6)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0)])
def test_clear_of_one_of_several_ranges_leaves_the_others_and_what_is_between(walking, order):
    """What was keyed for the cycle serves all ranges that are baked on it, until the last is cleared."""
    every = [*range(1, LAST + 1)]
    cycle, keys = tails(walking, every), [len(curve.keyframe_points) for curve in curves_of(walking)]
    ranges = [
        {"frame_start": 20.0, "frame_end": 22.0},
        {"frame_start": 30.0, "frame_end": 34.0},
        {"frame_start": 46.0, "frame_end": 49.0},
    ]
    for part in ranges:
        bake(**ON_TARGET, **{**PART, **part})
    baked = tails(walking, every)
    limb = {name: value for name, value in ON_TARGET.items() if name != "target"}
    for count, number in enumerate(order, 1):
        part = ranges[number]
        assert bpy.ops.twobone.clear_baked(**limb, **{**PART, **part}) == {"FINISHED"}
        now = tails(walking, every)
        left = [ranges[other] for other in order[count:]]
        # Beside a range that is still baked, its keys before and after stand where the cycle was.
        for frame in every:
            is_baked = any(other["frame_start"] <= frame <= other["frame_end"] for other in left)
            np.testing.assert_allclose(now[frame - 1], (baked if is_baked else cycle)[frame - 1], atol=1e-5, err_msg=f"{frame}")
    assert [len(curve.keyframe_points) for curve in curves_of(walking)] == keys


def test_a_strip_below_is_named(walking):
    push_down(walking).repeat = 4.0
    before = tails(walking, BESIDE)
    report = bake(**ON_TARGET, **PART)
    np.testing.assert_allclose(tails(walking, BESIDE), before, atol=1e-5)
    assert 'NLA track \\"Walks\\" plays below \\"upper\\", \\"lower\\".' in json.dumps(report)


def test_too_long_a_strip_is_refused_with_the_track_and_a_remedy(walking):
    strip = push_down(walking)
    strip.repeat, strip.scale = 1000.0, 3.0
    before = [tuple(bone.rotation_quaternion) for bone in walking.pose.bones]
    said = refusal(**ON_TARGET, **PART)
    assert said.startswith('NLA track "Walks" plays pose.bones["upper"].rotation_quaternion[0] over 35,99')
    assert "Choose the destination NLA Strip" in said
    assert walking.animation_data.action is None
    now = [tuple(bone.rotation_quaternion) for bone in walking.pose.bones]
    np.testing.assert_allclose(now, before, atol=1e-6)
    assert bpy.ops.twobone.bake(**ON_TARGET, **PART, destination="NLA") == {"FINISHED"}


def corners(rig, bone, frames):
    """World places `(F, 4, 3)` of a bone's head and of points a bone's length along its axes."""
    length = rig.data.bones[bone].length
    found = []
    for frame in frames:
        bpy.context.scene.frame_set(int(frame))
        seen = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        matrix = seen.matrix_world @ seen.pose.bones[bone].matrix
        found.append([matrix @ Vector(point) for point in ((0, 0, 0), (length, 0, 0), (0, length, 0), (0, 0, length))])
    return np.array(found)


class Measured:
    """How far the limb is, beside the keys, from where it was when this was made: what a report should say of that."""

    def __init__(self, rig, monkeypatch):
        self.rig, self.looked, choose = rig, [], outside._frames_to_look_at
        monkeypatch.setattr(outside, "_frames_to_look_at", lambda *given: self.looked.append(choose(*given)) or self.looked[-1])
        self.places = {bone: corners(rig, bone, self.frames) for bone in ("upper", "lower")}

    frames = BESIDE

    def check(self, report):
        """Measure at the frames that were looked at, and compare with what is said."""
        (moved,) = report["moved_outside"]
        ways = {
            bone: np.linalg.norm(corners(self.rig, bone, self.frames) - before, axis=-1).max(axis=-1)
            for bone, before in self.places.items()
        }
        at = np.isin(self.frames, self.looked[-1])
        lengths = {bone: self.rig.data.bones[bone].length for bone in ways}
        most = max(ways, key=lambda bone: ways[bone][at].max() / lengths[bone])
        far = np.array(self.frames)[(ways[most] > outside.ELSEWHERE * lengths[most]) & at]
        assert (moved["name"], moved["action"]) == (most, "")
        assert moved["max_moved_outside"] == pytest.approx(ways[most][at].max(), rel=1e-4)
        assert (moved["frame_start"], moved["frame_end"]) == (far.min(), far.max())
        # At the frames between those that were looked at it is no more than a little farther.
        assert ways[most].max() < 1.5 * moved["max_moved_outside"]
        said = re.escape(f"from where it was, from frame {moved['frame_start']:g} to {moved['frame_end']:g}.")
        text = rf'Outside the new keys "{most}" is up to \S+ \S+ {said}'
        assert [note for note in report["notes"] if re.fullmatch(text, note)]


def test_the_proof_looks_outside(walking, monkeypatch):
    """With the keys beside left out, as if they had been forgotten, the report says where the limb moved, and how far.

    What is played in between, to measure that, leaves nothing behind.
    """
    monkeypatch.setattr(played, "_with_played", lambda _owner, entry, *_, **__: entry)
    walking.keyframe_insert("location", index=0, frame=1)
    walking.location.x = 0.25
    measured, actions = Measured(walking, monkeypatch), len(bpy.data.actions)
    walking.location.x = 0.25
    report = bake(**ON_TARGET, **PART)
    assert (walking.location.x, len(bpy.data.actions)) == (0.25, actions)
    measured.check(report)
    assert len(measured.looked[-1]) >= 10


def test_where_curves_are_all_that_plays_nothing_is_evaluated_to_look_outside(walking, monkeypatch):
    """What was measured takes Blender as long as much of a short bake: only where a curve differs it is asked how far."""
    asked, ask = [], run._Telling._answered

    def heard(telling, asking, progress, **how):
        def listening():
            answer = None
            while True:
                try:
                    request = asking.send(answer)
                except StopIteration as end:
                    return end.value
                asked.append(request)
                answer = yield request

        return ask(telling, listening(), progress, **how)

    monkeypatch.setattr(run._Telling, "_answered", heard)
    bake(**ON_TARGET, **PART)
    assert not asked
    push_down(walking).repeat = 4.0
    bake(**ON_TARGET, **PART)
    assert len(asked) >= 2


def put_and(spoil, monkeypatch):
    """Let something go wrong beside the keys, as if a run had written more than these."""
    written = run.put

    def put(*given):
        written(*given)
        spoil()

    monkeypatch.setattr(run, "put", put)


@pytest.fixture
def keyed_once(walking):
    """The same leg without its cycle."""
    for curve in curves_of(walking):
        curve.modifiers.remove(curve.modifiers[0])
    return walking


FIRST_FRAMES = {**PART, "frame_start": 6.0, "frame_end": 8.0}


def lower_curve(rig):
    return next(curve for curve in curves_of(rig) if '"lower"' in curve.data_path)


def test_the_proof_looks_outside_where_plain_keys_are_all_that_plays(keyed_once, monkeypatch):
    def spoil():
        lower_curve(keyed_once).keyframe_points[0].co.y -= 0.2

    assert bake(**ON_TARGET, **FIRST_FRAMES)["moved_outside"] == []
    put_and(spoil, monkeypatch)
    monkeypatch.setattr(Measured, "frames", [1, 2, 3, 4, *range(10, 14)])
    measured = Measured(keyed_once, monkeypatch)
    report = bake(**ON_TARGET, **FIRST_FRAMES)
    measured.check(report)
    assert report["moved_outside"][0]["frame_start"] == 1.0


def test_the_proof_sees_that_a_curve_is_gone(keyed_once, monkeypatch):
    def spoil():
        curve_bag(keyed_once).fcurves.remove(lower_curve(keyed_once))

    put_and(spoil, monkeypatch)
    (moved,) = bake(**ON_TARGET, **FIRST_FRAMES)["moved_outside"]
    assert moved["name"] == "lower"
    assert moved["max_moved_outside"] > 0.01


def test_the_proof_sees_what_shows_nowhere(keyed_once, monkeypatch):
    """Euler angles of a bone that turns by quaternions have no effect, and are somebody's all the same."""
    for frame in (1, 13):
        keyed_once.pose.bones["lower"].keyframe_insert("rotation_euler", index=0, frame=frame)

    def spoil():
        next(curve for curve in curves_of(keyed_once) if "euler" in curve.data_path).keyframe_points[0].co.y += 1.0

    put_and(spoil, monkeypatch)
    report = bake(**ON_TARGET, **FIRST_FRAMES)
    (moved,) = report["moved_outside"]
    assert (moved["name"], moved["max_moved_outside"], moved["frame_start"]) == ("lower", None, 1.0)
    assert any(
        note.startswith('Outside the new keys "lower" moves otherwise than before, from frame 1 to ') for note in report["notes"]
    )


def test_the_proof_sees_small_motion_of_a_small_rig(registered_addon, empty_file, monkeypatch):
    set_range(1, 13)
    shapes = (BoneShape("upper", (0, 0, 0.02), (0, -0.001, 0.01)), BoneShape("lower", (0, -0.001, 0.01), (0, 0, 0), "upper"))
    rig = build_armature(shapes)
    for frame in (1, 13):
        for bone, path in (("upper", "location"), ("upper", "rotation_quaternion"), ("lower", "rotation_quaternion")):
            rig.pose.bones[bone].keyframe_insert(path, frame=frame)
    key_places(add_empty(), [(0.001, 0.003, 0.005)] * 3, first=6)

    def spoil():
        next(curve for curve in curves_of(rig) if "location" in curve.data_path).keyframe_points[0].co.y += 5e-5

    assert bake(**ON_TARGET, **FIRST_FRAMES)["moved_outside"] == []
    put_and(spoil, monkeypatch)
    (moved,) = bake(**ON_TARGET, **FIRST_FRAMES)["moved_outside"]
    assert moved["max_moved_outside"] == pytest.approx(5e-5, rel=1e-2)


def test_the_proof_looks_outside_a_strip(walking, monkeypatch):
    push_down(walking).repeat = 4.0

    def spoil():
        strip = walking.animation_data.nla_tracks[-1].strips[0]
        strip.extrapolation = "HOLD"

    unspoilt = bake(**ON_TARGET, **PART, destination="NLA")
    assert unspoilt["moved_outside"] == []
    assert "Outside the new keys" not in json.dumps(unspoilt)
    put_and(spoil, monkeypatch)
    report = json.dumps(bake(**ON_TARGET, **PART, destination="NLA")).replace('\\"', '"')
    assert re.search(r'Outside the new keys "lower" is up to \S+ \S+ from where it was, from frame 1 to 60', report)


def follow_thigh(bones, rig):
    for kind in ("LOCATION", "ROTATION"):
        copy = bones["def_calf"].constraints.new(f"COPY_{kind}")
        copy.target, copy.subtarget = rig, "def_thigh"
        if kind == "LOCATION":
            copy.head_tail = 1.0


def child_of_thigh(bones, rig):
    child = bones["def_calf"].constraints.new("CHILD_OF")
    child.target, child.subtarget = rig, "def_thigh"
    child.inverse_matrix = rig.data.bones["def_thigh"].matrix_local.inverted()


def armature_of_thigh(bones, rig):
    followed = bones["def_calf"].constraints.new("ARMATURE").targets.new()
    followed.target, followed.subtarget = rig, "def_thigh"


def copy_of_another(bones, rig):
    copy = bones["def_calf"].constraints.new("COPY_TRANSFORMS")
    copy.target, copy.subtarget = rig, "prop"


def driven_by_a_property(bones, rig):
    child_of_thigh(bones, rig)
    rig["bend"] = 0.3
    bones["def_calf"].rotation_mode = "XYZ"
    driver = bones["def_calf"].driver_add("rotation_euler", 0).driver
    variable = driver.variables.new()
    variable.targets[0].id, variable.targets[0].data_path = rig, '["bend"]'
    driver.type, driver.expression = "SCRIPTED", variable.name


@pytest.mark.parametrize("joined", [follow_thigh, child_of_thigh, armature_of_thigh, copy_of_another, driven_by_a_property])
def test_a_bone_that_deforms_where_the_limb_is_and_never_follows_is_named(registered_addon, empty_file, joined):
    """The visible calf hangs on the visible thigh alone, or on nothing of the limb: keys of the calf below it reach nobody."""
    set_range(1, 5)
    limb = lambda prefix, lower_parent: (  # noqa: E731 - two limbs of one shape
        BoneShape(prefix + "thigh", (0, 0, 1), (0, -0.05, 0.5), "hips"),
        BoneShape(prefix + "calf", (0, -0.05, 0.5), (0, 0, 0), lower_parent),
    )
    prop = BoneShape("prop", (0, -0.05, 0.5), (0, 0, 0), "hips")
    rig = build_armature((BoneShape("hips", (0, 0, 1), (0, 0, 1.2)), *limb("fk_", "fk_thigh"), *limb("def_", ""), prop))
    for bone in rig.data.bones:
        bone.use_deform = bone.name.startswith("def_")
    copy = rig.pose.bones["def_thigh"].constraints.new("COPY_ROTATION")
    copy.target, copy.subtarget = rig, "fk_thigh"
    joined(rig.pose.bones, rig)
    key_places(add_empty(), [(0, 0.3, 0.3 + 0.02 * step) for step in range(5)])
    report = bake(armature="Rig", upper="fk_thigh", lower="fk_calf", target="Target")
    visible = report["chains"][0]["visible"]
    assert (visible["bone"], visible["follows"]) == ("def_calf", False)
    assert visible["max_distance"] > 0.1
    assert "def_calf" in report["sentence"]


def test_without_anything_visible_there_is_nothing_to_say(registered_addon, empty_file):
    set_range(1, 3)
    rig = build_armature()
    for bone in rig.data.bones:
        bone.use_deform = False
    key_places(add_empty(), [(0.1, 0.3, -0.5)] * 3)
    assert bake(**ON_TARGET)["chains"][0]["visible"] is None


@pytest.mark.parametrize(
    "bone, modes",
    [
        ("upper", ("QUATERNION", "XYZ")),
        ("lower", ("QUATERNION", "AXIS_ANGLE")),
        ("lower", ("XYZ", "ZYX")),
        ("upper", ("AXIS_ANGLE", "QUATERNION")),
    ],
)
def test_a_keyed_rotation_mode_is_named(registered_addon, empty_file, bone, modes):
    """From frame 3 on the bone reads other channels, or the same in another order, than those that a bake keys."""
    set_range(1, 4)
    rig = build_armature()
    turned = rig.pose.bones[bone]
    for frame, mode in zip((1, 3), modes, strict=True):
        turned.rotation_mode = mode
        turned.keyframe_insert("rotation_mode", frame=frame)
    bpy.context.scene.frame_set(1)
    key_places(add_empty(), [(0.1, 0.3, -0.5 + 0.05 * step) for step in range(4)])
    report = json.dumps(bake(**ON_TARGET), ensure_ascii=False).replace('\\"', '"')
    first, then = (turned.bl_rna.properties["rotation_mode"].enum_items[mode].name for mode in modes)
    said = f'The rotation mode of bone "{bone}" is keyed: where it is {then}, the keys do not act, for they are for {first}. '
    assert said in report
