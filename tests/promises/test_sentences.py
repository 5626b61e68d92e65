"""Each distance in each sentence is what Blender shows: compared with the evaluated bones, whatever carries the rig.

Tasks and their settings come from the table of tasks. A sentence with a distance that nobody compares fails.
"""

import json
import math
import re

import bpy
import numpy as np
import pytest

from tests.promises.measured import points_around
from tests.promises.refused_calls import armature
from tests.promises.tasks_under_test import TASKS
from tests.promises.ways import operator
from tests.tasks.checks.targets import curves_of
from tests.tasks.scenes import add_empty, key_channel
from twobone_addon.pipeline.report.reports import STATEMENTS

UNITS = {"km": 1e3, "m": 1.0, "cm": 1e-2, "mm": 1e-3}
DISTANCE = re.compile(r"(<\s*)?(\d+(?:\.\d+)?(?:e-?\d+)?) (km|m|cm|mm)\b")
ROUNDED = 0.06
"""Two digits are shown."""

CLOSE = 2e-5
"""Metres; below that, single precision is measured."""

LOOSE, SEEN = 1.5, 1.5e-4
"""A bound holds, and is not more than this beyond what it bounds, unless that is too small to be seen."""

TOLERANT = {"keys": "REDUCE", "tolerance": 0.02}
GIVEN = [{}, TOLERANT]


def frames():
    return np.arange(bpy.context.scene.frame_start, bpy.context.scene.frame_end + 1, dtype=float)


def carried_by_a_strip():
    """An empty that carries and scales the rig, its action in a strip that is slower and runs backwards."""
    carrier = add_empty("Carrier")
    last = bpy.context.scene.frame_end
    key_channel(carrier, "location", {0: (0, 0, 0), last: (0.4, 0.3, 0.1)})
    key_channel(carrier, "scale", {0: (1, 1, 1), last: (1.3, 1.3, 1.3)})
    data = carrier.animation_data
    action, slot = data.action, getattr(data, "action_slot", None)
    data.action = None
    strip = data.nla_tracks.new().strips.new("slow", 0, action)
    if slot is not None:
        strip.action_slot = slot
    strip.use_reverse, strip.scale = True, 1.7
    for thing in [each for each in bpy.data.objects if each.parent is None and each != carrier]:
        thing.parent = carrier


def scaled_by_keys():
    """The bone that all others hang from changes its size, and so does the object."""
    rig = armature()
    root = next(bone for bone in rig.pose.bones if bone.parent is None)
    last = bpy.context.scene.frame_end
    key_channel(root, "scale", {1: (1, 1, 1), last: (1.25, 1.25, 1.25)})
    key_channel(rig, "scale", {1: (1, 1, 1), last: (0.9, 0.9, 0.9)})


def held():
    """Every key holds until the next."""
    for thing in bpy.data.objects:
        if thing.animation_data and thing.animation_data.action:
            for curve in curves_of(thing):
                for key in curve.keyframe_points:
                    key.interpolation = "CONSTANT"


SCENES = {"as it is": lambda: None, "scaled by keys": scaled_by_keys, "held keys": held, "in a strip": carried_by_a_strip}


def at(frame):
    whole = math.floor(frame)
    bpy.context.scene.frame_set(whole, subframe=frame - whole)
    return armature().evaluated_get(bpy.context.evaluated_depsgraph_get())


def ends(bones, moments):
    """World places `(F, 2 B, 3)` of the heads and tails of bones."""
    found = []
    for frame in moments:
        rig = at(frame)
        places = [getattr(rig.pose.bones[name], end) for name in bones for end in ("head", "tail")]
        found.append([(rig.matrix_world @ place)[:] for place in places])
    return np.array(found)


def off_target(report, moments):
    """Distances `(F,)` of the tip from the target."""
    chain, found = report["chains"][0], []
    for frame in moments:
        rig = at(frame)
        target = bpy.data.objects[chain["target"]].matrix_world.translation
        found.append((rig.matrix_world @ rig.pose.bones[chain["lower"]].tail - target).length)
    return np.array(found)


def moved(before, bones):
    return float(np.linalg.norm(ends(bones, frames()) - before[bones], axis=-1).max())


def told(text):
    """Distances of a text in metres, each with whether it is only a bound."""
    return [(float(number) * UNITS[unit], bool(bound)) for bound, number, unit in DISTANCE.findall(text)]


def agrees(said, is_bound, measured):
    if is_bound:
        return said / LOOSE - SEEN <= measured <= (1.0 + ROUNDED) * said + CLOSE
    return abs(said - measured) <= ROUNDED * said + CLOSE


LIMB_BONES = ("upper", "lower")
ON_TARGET = {"ALL_ON_TARGET", "ALL_WITHIN"}
AT_FRAME = {
    "OUT_OF_REACH", "BESIDE_PLANE", "BESIDE_LETTER_PLANE", "HELD_BACK", "INFLUENCE", "OTHERWISE", "OFF", "OVERRIDDEN", "BETWEEN",
}  # fmt: skip
MOVED = {"AS_ON_IK", "SEEN_TO_MOVE", "UNMOVED"}
ELSEWHERE = {"MOVED", "MOVED_IN_STRIP", "NOT_SHOWN"}
"""Kinds of which tests/tasks have files of their own."""


def test_every_statement_with_a_distance_is_compared():
    """A new kind of statement needs its comparison here."""
    with_distance = {kind for kind, text in STATEMENTS.items() if "{distance}" in text}
    assert with_distance == ON_TARGET | AT_FRAME | MOVED | ELSEWHERE


def compared(report, before):
    """What each statement of the report's chains says, beside what was measured: text, metres."""
    for chain in report["chains"]:
        for each in chain.get("statements", chain.get("remarks", [])):
            kind, values = each["kind"], each["values"]
            if kind in ON_TARGET:
                yield values["distance"], off_target(report, frames()).max(), kind == "ALL_ON_TARGET"
            elif kind in AT_FRAME:
                yield values["distance"], off_target(report, [float(values["frame"])])[0], False
            elif kind == "AS_ON_IK":  # Beside the bones as well, since skin is there.
                yield values["distance"], np.linalg.norm(points_around(LIMB_BONES) - before["around"], axis=-1).max(), True
            elif kind in MOVED:
                yield values["distance"], moved(before, LIMB_BONES), kind != "SEEN_TO_MOVE"


@pytest.mark.parametrize("given", GIVEN, ids=["every frame", "reduced"])
@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize("task", ["bake", "bake_all", "convert_ik", "switch"])
def test_distances_of_limbs_are_those_of_the_evaluated_bones(empty_file, task, scene, given):
    task = next(each for each in TASKS if each.name == task)
    task.build()
    SCENES[scene]()
    if task.name == "bake_all":
        for name, value in given.items():
            setattr(armature().twobone.chains[0], name, value)
        given = {}
    before = {LIMB_BONES: ends(LIMB_BONES, frames()), "around": points_around(LIMB_BONES)}
    ended = operator(task, given)
    if not ended.done:
        assert not DISTANCE.search(ended.said) or "would move" in ended.said, ended.said
        pytest.skip(ended.said)
    found = list(compared(ended.report, before))
    for text, measured, is_bound in found:
        ((said, _),) = told(text)
        assert agrees(said, is_bound, measured), f"{text} said, {measured} measured: {ended.report['sentence']}"
    said = [text for text, *_ in found]
    for bound, number, unit in DISTANCE.findall(ended.report["sentence"]):
        assert f"{number} {unit}" in said, f"nobody compares {bound}{number} {unit} of: {ended.report['sentence']}"


@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize("offset", [(0.0, 0.0, 0.05), (0.02, 0.03, 0.05), (0.0, 0.0, -3.0)])
def test_a_nudge_says_how_far_the_tip_has_moved(empty_file, scene, offset):
    task = next(each for each in TASKS if each.name == "nudge")
    task.build()
    SCENES[scene]()
    frame = task.call["frame"]
    before = ends(("lower",), [frame])[0, 1]
    report = operator(task, {"offset": offset}).report
    ((said, is_bound),) = told(report["sentence"])
    assert agrees(said, is_bound, np.linalg.norm(ends(("lower",), [frame])[0, 1] - before)), report["sentence"]


@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize("task", ["plant", "fit_root"])
def test_roots_say_how_far_they_have_moved(empty_file, task, scene):
    task = next(each for each in TASKS if each.name == task)
    task.build()
    SCENES[scene]()
    bones = ("hips",)
    before = {bones: ends(bones, frames())}
    ended = operator(task, {})
    if not ended.done:
        pytest.skip(ended.said)
    said = re.search(r"[Hh]ips moved by up to (.*?)(?:;|$)", ended.report["sentence"])
    if said is None:
        assert moved(before, bones) < 1e-3, ended.report["sentence"]
        return
    ((distance, is_bound),) = told(said[1])
    assert agrees(distance, is_bound, moved(before, bones)), ended.report["sentence"]


def test_of_many_limbs_those_that_only_bend_the_other_way_are_not_called_off_target(empty_file):
    """They are on target: a person should look at them for another reason."""
    next(each for each in TASKS if each.name == "bake_all").build()
    rig = armature()
    second = rig.twobone.chains.add()
    second.name, second.upper, second.lower, second.target = "again", "upper", "lower", bpy.data.objects["Target"]
    first = rig.twobone.chains[0]
    for chain, start, end in ((first, 1, 4), (second, 5, 8)):
        chain.plane, chain.bend, chain.frame_range = "YZ", "AUTO", "CUSTOM"
        chain.frame_start, chain.frame_end = start, end
    assert bpy.ops.twobone.bake_all(scope="ACTIVE") == {"FINISHED"}
    report = json.loads(bpy.context.window_manager.twobone_report)
    flipped = [chain for chain in report["chains"] if any(each["kind"] == "FLIPPED" for each in chain["statements"])]
    off = [chain for chain in report["chains"] if not any(each["kind"] in ON_TARGET for each in chain["statements"])]
    counted = re.search(r"(\d+) off target", report["sentence"])
    assert (int(counted[1]) if counted else 0) == len(off), report["sentence"]
    looked = re.search(r"(\d+) on target with a warning", report["sentence"])
    assert (int(looked[1]) if looked else 0) == len([chain for chain in flipped if chain not in off]), report["sentence"]
