"""Rigify's basic human as it is generated, on IK: what a bake says, and after Switch to FK what is seen. A program of its own."""

import json
import math
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).absolute().parents[2]))

import bpy

from tests.baking.scenes import add_empty, key_places, set_range
from tests.real.generated_rigs import generated_rig, run_and_leave
from twobone_addon import registration

FIRST, LAST = 1, 40
ON_TARGET = 1e-5
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


def main():
    registration.register()
    rig = generated_rig("basic_human")
    set_range(FIRST, LAST)
    for upper, lower, tip, shown, plane in LIMBS:
        names = {"armature": rig.name, "upper": upper, "lower": lower}
        target = add_target(rig, tip, plane)
        report = baked(names, target)
        before = farthest(rig, target, shown)
        assert report["statements"][0]["kind"] == "NOT_SHOWN", report["sentence"]
        assert not report["visible"]["follows"]
        assert abs(report["visible"]["max_distance"] - before) < 0.05 * before, (report["visible"], before)
        assert bpy.ops.twobone.switch(**names, to="FK") == {"FINISHED"}
        report = baked(names, target)
        after = farthest(rig, target, shown)
        print(f"{shown}: {before:.3f} off on IK, {after:.1e} after Switch to FK")
        assert report["visible"]["follows"]
        assert "NOT_SHOWN" not in report["sentence"]
        assert after < max(ON_TARGET, report["max_distance_to_target"] + ON_TARGET), report["sentence"]
        bpy.context.scene.frame_set(LAST + 1)
        assert all(rig.path_resolve(path) == 0.0 for path in switched(rig)), "outside the range it is on IK as before"
    print("What is seen is on target")


def switched(rig):
    return [f'pose.bones["{bone.name}"]["IK_FK"]' for bone in rig.pose.bones if "IK_FK" in bone]


if __name__ == "__main__":
    run_and_leave(main)
