"""Rigify's basic human, generated, walking by its IK controls, converted to FK: run as a program of its own."""

import json
import math
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).absolute().parents[2]))

import bpy
import numpy as np

from tests.real.generated_rigs import generated_rig, run_and_leave
from tests.tasks.checks.orientations import target_on
from tests.tasks.scenes import key_channel, set_range
from twobone_addon import registration

FIRST, LAST = 3, 14
AROUND = (-2, 2, *range(FIRST, LAST + 1), LAST + 1, 20)
MOVED = 2.5e-4
"""World units: what Blender's IK leaves while it stretches, a two-thousandth of the shortest limb, an arm half a unit long."""
STAYS = 5e-6
"""World units: a hundred-thousandth of that limb."""


def walk_on_ik(rig):
    """Feet and hands go round on their IK controls, feet and toes turn, the body turns above them."""
    for side, phase in (("L", 0.0), ("R", math.pi)):
        foot, hand, toe = (rig.pose.bones[f"{name}_ik.{side}"] for name in ("foot", "hand", "toe"))
        for bone in (foot, toe):
            bone.rotation_mode = "XYZ"
        for frame in range(-5, 26, 3):
            angle = 0.4 * frame + phase
            key_channel(foot, "location", {frame: (0.02, 0.15 * math.sin(angle), 0.1 + 0.08 * math.cos(angle))})
            key_channel(foot, "rotation_euler", {frame: (0.3 * math.sin(angle), 0.1, 0.2)})
            key_channel(toe, "rotation_euler", {frame: (0.2 * math.cos(angle), 0.0, 0.0)})
            key_channel(hand, "location", {frame: (0.05 * math.cos(angle), -0.2 + 0.05 * math.sin(angle), 0.1)})
    torso = rig.pose.bones["torso"]
    torso.rotation_mode = "XYZ"
    key_channel(torso, "rotation_euler", {1: (0, 0, 0), 8: (0.1, 0.1, 0.2), 20: (0, 0, -0.2)})
    key_channel(torso, "location", {1: (0, 0, 0), 8: (0, 0.05, -0.08), 20: (0, 0, -0.02)})


def places(rig):
    """Both ends of what deforms the mesh, on frames in and around the range: `(F, B, 2, 3)`."""
    found = []
    for frame in AROUND:
        bpy.context.scene.frame_set(frame)
        seen = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        found.append([(bone.head[:], bone.tail[:]) for bone in seen.pose.bones if bone.name.startswith("DEF-")])
    return np.array(found)


def switches(rig):
    names = [f"{limb}_parent.{side}" for limb in ("thigh", "upper_arm") for side in "LR"]
    return [rig.pose.bones[name]["IK_FK"] for name in names]


def assert_baked_onto_tips(rig, chains):
    """A bake onto targets on the tips moves nothing: it is solved with the stretch that became keys."""
    before = places(rig)
    for chain in chains:
        names = {"armature": rig.name, "upper": chain["upper"], "lower": chain["lower"]}
        target = target_on(rig, AROUND, lambda bones, end=chain["lower"]: bones[end].tail, f"Target {chain['lower']}")
        assert bpy.ops.twobone.bake(**names, target=target.name, plane="POSE") == {"FINISHED"}
    moved = np.abs(places(rig) - before).max(axis=(1, 2, 3))
    print("baked onto the tips, moved at most", moved.max())
    assert moved.max() < STAYS, dict(zip(AROUND, moved, strict=True))


def main():
    registration.register()
    rig = generated_rig("basic_human")
    set_range(FIRST, LAST)
    walk_on_ik(rig)
    before = places(rig)
    assert bpy.ops.twobone.convert_ik(armature=rig.name) == {"FINISHED"}
    report = json.loads(bpy.context.window_manager.twobone_report)
    assert {chain["upper"] for chain in report["chains"]} == {"thigh_fk.L", "thigh_fk.R", "upper_arm_fk.L", "upper_arm_fk.R"}
    assert all("Stretching keyed the scale" in note for chain in report["chains"] for note in chain["notes"]), report
    after = places(rig)
    moved = np.abs(after - before).max(axis=(1, 2, 3))
    print("moved at most", moved.max(), "reported", [chain["max_moved"] for chain in report["chains"]])
    assert moved.max() < MOVED, dict(zip(AROUND, moved, strict=True))
    assert all(chain["max_moved"] < MOVED for chain in report["chains"])
    for frame, shown in ((FIRST - 1, 0.0), (FIRST, 1.0), (LAST, 1.0), (LAST + 1, 0.0)):
        bpy.context.scene.frame_set(frame)
        assert switches(rig) == [shown] * 4, frame
    assert_baked_onto_tips(rig, report["chains"])
    print("Rigify's limbs are keyed forwards as their IK moves them")


if __name__ == "__main__":
    run_and_leave(main)
