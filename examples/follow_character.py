"""A small character takes over the leg motion of a large one, scaled by the ratio of their legs.

    python examples/follow_character.py

Foot and shin of the large one are target and pole of each leg; both are followed relative to the head of its thigh. The hips
are keyed in proportion.
"""

import argparse
import sys
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parent))
import stage
import walker

SIZE = 0.7
"""Of the small one."""


def main(arguments: argparse.Namespace) -> None:
    """Make both, bake both legs, measure, save."""
    large = walker.make_walker("Large", too_far=1.0)
    small = walker.make_skeleton("Small", SIZE)
    small.location.x = 1.0
    frames = range(1, walker.LAST + 1)
    for frame, hips in zip(frames, stage.world_places(large, "hips", frames), strict=True):
        bone = small.pose.bones["hips"]
        bone.location = bone.bone.matrix_local.to_3x3().inverted() @ (SIZE * hips - bone.bone.head_local)
        bone.keyframe_insert("location", frame=frame)
    for side in "LR":
        chain = small.twobone.chains.add()
        chain.name, chain.upper, chain.lower, chain.tip = f"Leg {side}", f"thigh.{side}", f"shin.{side}", f"foot.{side}"
        chain.target, chain.target_bone, chain.target_root_bone = large, f"foot.{side}", f"thigh.{side}"
        chain.plane, chain.pole, chain.pole_bone = "POLE", large, f"shin.{side}"
        chain.target_scale = 0.0  # automatic: the ratio of leg lengths
        chain.end_rotation = "TARGET"
    bpy.context.view_layer.objects.active = small
    bpy.ops.twobone.bake_all(scope="ACTIVE")
    stage.report()
    off = max(farthest(large, small, bone, side) for bone in ("shin", "foot") for side in "LR")
    print(f"Scaled, its knees and ankles are at most {1000.0 * off:.3f} mm from those of the large one.")
    for character, colour in ((large, stage.SAND), (small, stage.BLUE)):
        walker.dress(character, colour)
    stage.save(arguments, "follow_character")


def farthest(large: bpy.types.Object, small: bpy.types.Object, bone: str, side: str) -> float:
    """Largest difference of a joint's place about the hip, between the small one and the large one scaled, at any frame."""
    frames = range(1, walker.LAST + 1)
    ways = [
        [
            joint - hip
            for joint, hip in zip(*(stage.world_places(rig, f"{name}.{side}", frames) for name in (bone, "thigh")), strict=True)
        ]
        for rig in (large, small)
    ]
    return max((SIZE * first - second).length for first, second in zip(*ways, strict=True))


if __name__ == "__main__":
    stage.run(main, "follow_character")
