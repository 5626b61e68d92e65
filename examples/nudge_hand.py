"""Move a wrist by five centimetres for twenty frames, on top of a walk.

python examples/nudge_hand.py

"""

import argparse
import sys
from pathlib import Path

import bpy
from mathutils import Vector

sys.path.insert(0, str(Path(__file__).resolve().parent))
import stage
import walker

FRAME, BEFORE, AFTER = 30, 10, 10
OFFSET = (0.0, -0.03, 0.04)


def main(arguments: argparse.Namespace) -> None:
    """Walk, nudge, measure, save."""
    character = walker.make_walker(too_far=1.0)
    frames = range(1, walker.LAST + 1)
    before = stage.world_places(character, "hand.L", frames)
    bpy.ops.twobone.nudge(
        armature=character.name,
        upper="upper_arm.L",
        lower="forearm.L",
        tip="hand.L",
        frame=FRAME,
        offset=OFFSET,
        before=BEFORE,
        after=AFTER,
    )
    moved = [after - place for place, after in zip(before, stage.world_places(character, "hand.L", frames), strict=True)]
    outside = [way.length for frame, way in zip(frames, moved, strict=True) if not FRAME - BEFORE < frame < FRAME + AFTER]
    off = (moved[FRAME - 1] - Vector(OFFSET)).length
    print(f"At frame {FRAME} the wrist is {1000.0 * off:.3f} mm from where it was sent; outside the range nothing moves by more")
    print(f"than {1000.0 * max(outside):.3f} mm.")
    walker.dress(character)
    stage.save(arguments, "nudge_hand")


if __name__ == "__main__":
    stage.run(main, "nudge_hand")
