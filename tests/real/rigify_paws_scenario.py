"""Rigify's cat, generated: the front legs, whose heels a second IK turns, go from FK to IK. A program of its own."""

import json
import math
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).absolute().parents[2]))

import bpy
import numpy as np

from tests.real.generated_rigs import generated_rig, run_and_leave, turn_forwards
from tests.tasks.rigs.control_rig import limb_over_time, widest
from tests.tasks.scenes import key_channel, set_range
from twobone_addon import registration

LAST = 6
MOVED = 5e-3
"""Of the leg's length: its IK stretches, and stops where it is near enough."""
TURNED = 0.05
LEG = ("upper_arm", "forearm", "hand")


def main():
    registration.register()
    rig = generated_rig("cat")
    turn_forwards(rig)
    set_range(1, LAST)
    for name, swing in zip(LEG, (0.3, 0.2, 0.2), strict=True):
        bone = rig.pose.bones[f"{name}_fk.L"]
        bone.rotation_mode = "XYZ"
        for frame in range(1, LAST + 1):
            key_channel(bone, "rotation_euler", {frame: (swing * math.sin(0.6 * frame), 0, 0)})
    shown = [f"ORG-{name}.L" for name in LEG]
    places, turns = limb_over_time(rig, shown, range(1, LAST + 1))
    assert bpy.ops.twobone.switch(armature=rig.name, upper="upper_arm_fk.L", lower="forearm_fk.L", to="IK") == {"FINISHED"}
    assert rig.pose.bones["upper_arm_parent.L"]["IK_FK"] == 0.0
    now, turned = limb_over_time(rig, shown, range(1, LAST + 1))
    moved = np.linalg.norm(now - places, axis=-1).max()
    length = np.linalg.norm(np.diff(places[0], axis=0), axis=-1).sum()
    told = json.loads(bpy.context.window_manager.twobone_report)["chains"][0]["max_moved"]
    print(f"joints {moved:.2e} of {length:.2f}, {told:.2e} as told, end {widest(turns, turned):.1e} degrees")
    assert moved < MOVED * length
    assert abs(told - moved) < 0.1 * moved + 1e-5, "what is told is not what is seen"
    assert widest(turns, turned) < TURNED
    print("The cat's paws are on IK")


if __name__ == "__main__":
    run_and_leave(main)
