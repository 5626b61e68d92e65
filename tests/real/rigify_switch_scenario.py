"""Rigify's basic human as it is generated, on IK: what a bake says, and after Switch to FK what is seen. A program of its own."""

import json
import math
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).absolute().parents[2]))

import bpy
import numpy as np

from tests.real.generated_rigs import generated_rig, run_and_leave
from tests.tasks.checks.all_keys import all_keys
from tests.tasks.scenes import add_empty, key_channel, key_places, refusal, set_range
from twobone_addon import registration

FIRST, LAST = 1, 40
ON_TARGET = 1e-5
FAR = 0.05
"""World units: the target circles by more."""
TOE_RANGE = 4, 9
TOES_STAY = 5e-5
"""Entries of matrices: nearer than Rigify's own snapping, which leaves 8e-5 of the leg."""
LIMBS = (
    ("thigh_fk.L", "shin_fk.L", "MCH-foot_fk.L", "DEF-foot.L", "YZ"),
    ("upper_arm_fk.R", "forearm_fk.R", "MCH-hand_fk.R", "DEF-hand.R", "XZ"),
)


def add_target(rig, tip, plane):
    """A target that goes round near the tip in the plane, in reach."""
    target = add_empty(f"Target {tip}")
    start = rig.matrix_world @ rig.pose.bones[tip].head
    root = rig.matrix_world @ rig.pose.bones[tip].parent.parent.head
    place = start.lerp(root, 0.3)
    first, second = ("XYZ".index(letter) for letter in plane)
    places = []
    for frame in range(FIRST, LAST + 1):
        at = place.copy()
        at[first] += 0.08 * math.sin(frame / 5)
        at[second] += 0.08 * math.cos(frame / 5)
        places.append(at)
    key_places(target, places, first=FIRST)
    return target


def farthest(rig, target, bone):
    """Largest distance of a deforming bone's head from the target, as the scene shows it."""
    found = []
    for frame in range(FIRST, LAST + 1):
        bpy.context.scene.frame_set(frame)
        seen = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        found.append((seen.matrix_world @ seen.pose.bones[bone].head - target.matrix_world.translation).length)
    return max(found)


def baked(names, target):
    assert bpy.ops.twobone.bake(**names, target=target.name, plane="REST") == {"FINISHED"}
    return json.loads(bpy.context.window_manager.twobone_report)


def check_toes(rig):
    """From FK to IK and back over some frames: toes with a control of their own on each side go on as they are."""
    for bone, start, turn in (("thigh_fk.R", 0, 0.3), ("shin_fk.R", 0.7, 0.3), ("foot_fk.R", 0, 0.2), ("toe_fk.R", 0, 0.6)):
        rig.pose.bones[bone].rotation_mode = "XYZ"
        for frame in range(FIRST, 13, 3):
            key_channel(rig.pose.bones[bone], "rotation_euler", {frame: (start + turn * math.sin(frame), 0.0, 0)})
    rig.pose.bones["thigh_parent.R"]["IK_FK"] = 1.0
    rig.pose.bones["thigh_parent.R"].keyframe_insert('["IK_FK"]', frame=FIRST)
    before = seen_toes(rig)
    # As the chain of a button has it, which names no foot, and as a script names it.
    for foot in ({}, {"tip": "foot_fk.R", "tip_end": "HEAD"}):
        for to in ("IK", "FK"):
            switch_toes(rig, to, foot, before)


def switch_toes(rig, to, foot, before):
    """Switch over some frames; the toes stay where they were at all frames, and what was said is so."""
    first, last = TOE_RANGE
    names = {"armature": rig.name, "upper": "thigh_fk.R", "lower": "shin_fk.R", **foot}
    whole = {"frame_range": "CUSTOM", "frame_start": first, "frame_end": last}
    assert bpy.ops.twobone.switch(**names, to=to, **whole) == {"FINISHED"}
    notes = json.loads(bpy.context.window_manager.twobone_report)["notes"]
    assert to == "FK" or 'Bone "toe_ik.R" was keyed as well, because it poses the toes on IK.' in notes
    away = np.abs(seen_toes(rig) - before).max(axis=(1, 2))
    print(f"toes after the switch to {to}: {away[first - 1 : last].max():.1e}, at other frames {away.max():.1e}")
    assert away.max() <= TOES_STAY, (to, foot)
    bpy.context.scene.frame_set(first)
    assert rig.pose.bones["thigh_parent.R"]["IK_FK"] == (to == "FK")


def seen_toes(rig):
    """Poses of the toes over a few frames, `(F, 4, 4)`."""
    found = []
    for frame in range(FIRST, 13):
        bpy.context.scene.frame_set(frame)
        found.append(rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones["DEF-toe.R"].matrix.copy())
    return np.array(found)


def main():
    registration.register()
    rig = generated_rig("basic_human")
    set_range(FIRST, LAST)
    for path in switched(rig):
        rig.keyframe_insert(path, frame=FIRST)
    for upper, lower, tip, shown, plane in LIMBS:
        names = {"armature": rig.name, "upper": upper, "lower": lower}
        target = add_target(rig, tip, plane)
        keys = all_keys(rig)
        said = refusal(**names, target=target.name, plane="REST")
        ending = f'does not follow bone "{lower}", so keys on it would be invisible. Use Switch All Limbs to FK first.'
        assert re.fullmatch(rf'The visible limb \("DEF-.+"\) {re.escape(ending)}', said), said
        assert all_keys(rig) == keys
        before = farthest(rig, target, shown)
        assert before > FAR, "the refusal would be for nothing"
        assert bpy.ops.twobone.switch(**names, to="FK") == {"FINISHED"}
        report = baked(names, target)
        after = farthest(rig, target, shown)
        print(f"{shown}: {before:.3f} off on IK, {after:.1e} after Switch to FK")
        assert report["visible"]["follows"]
        assert "NOT_SHOWN" not in [statement["kind"] for statement in report["statements"]]
        assert after < max(ON_TARGET, report["max_distance_to_target"] + ON_TARGET), report["sentence"]
        bpy.context.scene.frame_set(LAST + 1)
        assert all(rig.path_resolve(path) == 0.0 for path in switched(rig)), "outside the range it is on IK as before"
    check_toes(rig)
    print("What is seen is on target")


def switched(rig):
    return [f'pose.bones["{bone.name}"]["IK_FK"]' for bone in rig.pose.bones if "IK_FK" in bone]


if __name__ == "__main__":
    run_and_leave(main)
