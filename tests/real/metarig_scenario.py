"""One of Rigify's rigs, generated, its body moving, each limb baked everywhere: run as a program of its own.

Says what it measured as JSON in its last line.
"""

import json
import math
import sys
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).absolute().parents[2]))

import bpy

from tests.real.everywhere import bake_everywhere
from tests.real.generated_rigs import generated_rig, limbs_of, move_body, run_and_leave, shown_by, turn_forwards
from tests.tasks.checks.all_keys import all_keys
from tests.tasks.checks.targets import circling_target
from tests.tasks.scenes import refusal, set_range
from twobone_addon import registration

FRAMES = (1, 8)
SAME_PLACE = 1e-4
"""Of what deforms the mesh and what is turned."""

SIDE_FINS = {"side_fin.L", "side_fin.R"}
"""Limbs whose lower bone turns by what the upper one does besides its keys, so that no keys bring it to a target."""


def main():
    registration.register()
    rig = generated_rig(sys.argv[1])
    set_range(*FRAMES)
    move_body(rig, FRAMES[1])
    turn_forwards(rig)
    measured = []
    for number, limb in enumerate(limbs_of(rig)):
        if limb.upper in SIDE_FINS:
            mute_once_refused(rig, limb)
        measured += bake_everywhere(rig, limb, FRAMES, number)
        bpy.context.scene.frame_set(FRAMES[1] // 2)
        shown = shown_by(rig, limb)
        if shown is not None:
            assert (shown.head - rig.pose.bones[limb.lower].head).length < SAME_PLACE, f"{limb.lower} does not show"
    print(json.dumps([asdict(each) for each in measured]))


def mute_once_refused(rig, limb):
    """A bake names the constraint that would take the limb off its target, changes nothing, and goes on once it is muted."""
    added = rig.pose.bones[limb.lower].constraints["Copy Rotation"]
    target = circling_target(rig, limb, plane="XY", frames=FRAMES)
    # It adds nothing before anything has turned the upper bone, and much after that.
    for angle in (0.0, 0.4):
        rig.pose.bones[limb.upper].rotation_quaternion = (math.cos(angle), math.sin(angle), 0, 0)
        before = all_keys(rig)
        for plane in ("XY", "XZ", "YZ", "REST"):
            said = refusal(limb, target=target.name, plane=plane)
            assert said.startswith(f'Constraint "{added.name}" poses bone "{limb.lower}", so it would not be'), said
            assert "Mute it" in said
        assert all_keys(rig) == before
    rig.pose.bones[limb.upper].rotation_quaternion = (1, 0, 0, 0)
    bpy.data.objects.remove(target)
    added.mute = True


if __name__ == "__main__":
    run_and_leave(main)
