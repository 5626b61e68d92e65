"""One of Rigify's rigs, generated, its body moving, each limb baked everywhere: run as a program of its own.

Says what it measured as JSON in its last line.
"""

import json
import sys
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).absolute().parents[2]))

import bpy

from tests.real.everywhere import bake_everywhere
from tests.real.generated_rigs import generated_rig, limbs_of, move_body, run_and_leave, shown_by, turn_forwards
from tests.tasks.scenes import set_range
from twobone_addon import registration

FRAMES = (1, 8)
SAME_PLACE = 1e-4
"""Of what deforms the mesh and what is turned."""


def main():
    registration.register()
    rig = generated_rig(sys.argv[1])
    set_range(*FRAMES)
    move_body(rig, FRAMES[1])
    turn_forwards(rig)
    measured = []
    for number, limb in enumerate(limbs_of(rig)):
        measured += bake_everywhere(rig, limb, FRAMES, number)
        bpy.context.scene.frame_set(FRAMES[1] // 2)
        shown = shown_by(rig, limb)
        if shown is not None:
            assert (shown.head - rig.pose.bones[limb.lower].head).length < SAME_PLACE, f"{limb.lower} does not show"
    print(json.dumps([asdict(each) for each in measured]))


if __name__ == "__main__":
    run_and_leave(main)
