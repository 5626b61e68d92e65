"""Rigify's cat, generated: front legs, whose heels a second IK turns, stay where they are seen. A program of its own."""

import math
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).absolute().parents[2]))

import bpy
import numpy as np
import pytest

from tests.real.generated_rigs import generated_rig, run_and_leave, turn_forwards
from tests.tasks.rigs.control_rig import limb_over_time, widest
from tests.tasks.scenes import key_channel, set_range
from twobone_addon import registration

LAST = 6
MOVED = 5e-4
"""Of the leg's length, whether the switch is done or refused."""
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
    # Its IK stretches, and stops where it is near enough: farther from the pose than is allowed.
    with pytest.raises(RuntimeError, match="the rig's own IK cannot match this pose more closely"):
        bpy.ops.twobone.switch(armature=rig.name, upper="upper_arm_fk.L", lower="forearm_fk.L", to="IK")
    now, turned = limb_over_time(rig, shown, range(1, LAST + 1))
    moved = np.linalg.norm(now - places, axis=-1).max()
    length = np.linalg.norm(np.diff(places[0], axis=0), axis=-1).sum()
    print(f"joints {moved:.2e} of {length:.2f}, end {widest(turns, turned):.1e} degrees")
    assert moved < MOVED * length
    assert widest(turns, turned) < TURNED
    print("The cat's paws stay where they are seen")


if __name__ == "__main__":
    run_and_leave(main)
