"""Rigify's basic human, generated: FK motion given to its IK controls, seen on IK, and taken back. A program of its own."""

import json
import math
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).absolute().parents[2]))

import bpy
import numpy as np

from tests.real.generated_rigs import generated_rig, run_and_leave, turn_forwards
from tests.tasks.rigs.control_rig import limb_over_time, widest
from tests.tasks.scenes import add_empty, key_channel, set_range
from twobone_addon import registration

LAST = 10
BACK = 1e-4
"""Of a limb's length, as the page says."""
TURNED = 0.05
LIMBS = {
    f"{parts[0]}.{side}": [f"{part}_fk.{side}" for part in parts]
    for parts in (("thigh", "shin", "foot"), ("upper_arm", "forearm", "hand"))
    for side in "LR"
}


def walk_forwards(rig):
    for number, bones in enumerate(LIMBS.values()):
        for name, start, swing in zip(bones, (0.0, 0.9, 0.0), (0.5, 0.3, 0.3), strict=True):
            rig.pose.bones[name].rotation_mode = "XYZ"
            for frame in range(1, LAST + 1):
                t = 0.5 * frame + number
                aside = 0.0 if start else 0.3 * math.cos(t)
                key_channel(rig.pose.bones[name], "rotation_euler", {frame: (start + swing * math.sin(t), aside, aside)})
    rig.pose.bones["toe_fk.L"].rotation_mode = "XYZ"
    key_channel(rig.pose.bones["toe_fk.L"], "rotation_euler", {1: (0, 0, 0), LAST: (0.4, 0, 0)})
    key_channel(rig.pose.bones["torso"], "location", {1: (0, 0, 0), 5: (0.1, 0.2, -0.1), LAST: (0, 0.1, 0)})


def shown(limb):
    part, side = limb.split(".")
    return [f"ORG-{name}.{side}" for name in (("thigh", "shin", "foot") if part == "thigh" else ("upper_arm", "forearm", "hand"))]


def assert_alike(rig, before, what):
    for limb, (places, turns) in before.items():
        now, turned = limb_over_time(rig, shown(limb), range(1, LAST + 1))
        length = np.linalg.norm(np.diff(places[0], axis=0), axis=-1).sum()
        off = np.linalg.norm(now - places, axis=-1).max() / length
        print(f"{what} {limb}: joints {off:.1e} of the length, end {widest(turns, turned):.1e} degrees")
        assert off < BACK, limb
        assert widest(turns, turned) < TURNED, limb


def assert_copied_rotation(rig):
    """A foot that copies its target's rotation is turned by its own control, also where the chain names no foot."""
    target = add_empty("Target")
    target.matrix_world = rig.matrix_world @ rig.pose.bones["ORG-foot.R"].matrix
    key_channel(target, "rotation_euler", {1: target.rotation_euler[:], LAST: (0.5, -0.3, 1.0)})
    names = {"armature": rig.name, "upper": "thigh_fk.R", "lower": "shin_fk.R", "target": "Target"}
    assert bpy.ops.twobone.bake(**names, plane="POSE", end_rotation="TARGET") == {"FINISHED"}
    apart = []
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)
        foot = (rig.matrix_world @ rig.pose.bones["ORG-foot.R"].matrix).to_quaternion()
        apart.append(target.matrix_world.to_quaternion().inverted() @ foot)
    assert widest(apart[:1] * LAST, apart) < TURNED


def main():
    registration.register()
    rig = generated_rig("basic_human")
    turn_forwards(rig)
    set_range(1, LAST)
    walk_forwards(rig)
    before = {limb: limb_over_time(rig, shown(limb), range(1, LAST + 1)) for limb in LIMBS}
    for limb, (upper, lower, tip) in LIMBS.items():
        part, side = limb.split(".")
        control = f"{'foot' if part == 'thigh' else 'hand'}_ik.{side}"
        # On the right as the chain of a button has it, which names no foot, on the left as a script names it.
        end = {} if side == "R" else {"tip": tip}
        names = {"armature": rig.name, "upper": upper, "lower": lower, **end, "target": rig.name, "target_bone": control}
        pole = {"plane": "POLE", "pole": rig.name, "pole_bone": f"{part}_ik_target.{side}"}
        assert bpy.ops.twobone.bake_target(**names, **pole, rotate=True) == {"FINISHED"}
        report = json.loads(bpy.context.window_manager.twobone_report)["chains"][0]
        assert report["base_bone"] == f"{part}_ik.{side}"
        told = f'IK toes follow bone "toe_ik.{side}", which was not keyed. Switch to IK also keys it.' in report["notes"]
        assert told == (limb == "thigh.L"), "only there toes move"
    assert_alike(rig, before, "on FK still")
    for bone in rig.pose.bones:
        if "IK_FK" in bone:
            bone["IK_FK"] = 0.0
    rig.update_tag()
    assert_alike(rig, before, "on IK")
    assert bpy.ops.twobone.convert_ik(armature=rig.name) == {"FINISHED"}
    assert_alike(rig, before, "back on FK")
    assert_copied_rotation(rig)
    print("The rig's own IK does what its FK did")


if __name__ == "__main__":
    run_and_leave(main)
