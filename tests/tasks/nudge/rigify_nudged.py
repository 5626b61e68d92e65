"""Nudge an arm of a Rigify human on FK, and tell how exact that is. A program of its own: python rigify_nudged.py."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).absolute().parents[3]))

import bpy

from tests.real.generated_rigs import generated_rig, run_and_leave, turn_forwards
from tests.tasks.nudge.nudging import refusal, sums_are_exact
from tests.tasks.scenes import key_channel, set_range
from twobone_addon import registration

LIMB = {"armature": "rig", "upper": "upper_arm_fk.L", "lower": "forearm_fk.L"}


def main():
    registration.register()
    rig = generated_rig("human")
    rig.name = "rig"
    set_range(1, 60)
    for name, angles in (("upper_arm_fk.L", (0.2, 0.1, -0.3)), ("forearm_fk.L", (0.5, 0.0, 0.1)), ("torso", (0.1, 0.2, 0.3))):
        bone = rig.pose.bones[name]
        bone.rotation_mode = "XYZ"
        key_channel(bone, "rotation_euler", {1: (0.3, 0.0, 0.0), 30: angles, 60: (0.4, 0.1, 0.0)})
    on_ik = refusal(**LIMB, frame=30, offset=(0.0, 0.0, 0.05))
    turn_forwards(rig)
    rig.update_tag()
    bpy.context.view_layer.update()
    bones = rig.data.bones
    length = bones["upper_arm_fk.L"].length + bones["forearm_fk.L"].length
    told = sums_are_exact(rig, ["hand_fk.L", "DEF-hand.L"], LIMB, (26, 30, 37), length)
    print(json.dumps({**{name: float(value) for name, value in told.items()}, "on_ik": on_ik}))


if __name__ == "__main__":
    run_and_leave(main)
