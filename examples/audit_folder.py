"""Audit a folder of clips with one command, the worst first.

    python examples/audit_folder.py

Three clips of one character: feet that stand, feet that slide, and one whose knee pops at a frame.
"""

import argparse
import json
import math
import sys
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parent))
import batch
import stage
import walker

JOB = """# Audited by: blender --command twobone batch job.toml
shots = ["clips/*.blend"]
use = "audit"
armature = "Walker"
"""
POP = 40
"""Frame at which a knee pops."""


def make_clips(folder: Path) -> None:
    """Save the three clips."""
    folder.mkdir(exist_ok=True)
    for name, too_far in (("clean", 1.0), ("slides", 1.35), ("pops", 1.0)):
        bpy.ops.wm.read_factory_settings(use_empty=True)
        character = walker.make_walker(too_far=too_far)
        if name == "pops":
            bone = character.pose.bones["shin.L"]
            bpy.context.scene.frame_set(POP)
            turn = bone.matrix_basis.to_quaternion() @ bone.bone.matrix_local.to_quaternion().inverted()
            axis = bone.bone.matrix_local.to_3x3().inverted().col[0]
            bone.rotation_quaternion = type(turn)(axis, math.radians(60.0)) @ bone.rotation_quaternion
            bone.keyframe_insert("rotation_quaternion", frame=POP)
        bpy.ops.wm.save_as_mainfile(filepath=str(folder / f"{name}.blend"))


def main(arguments: argparse.Namespace) -> None:
    """Make the clips and the job, run it, and print what the summary says of each clip."""
    make_clips(arguments.output / "clips")
    job = arguments.output / "job.toml"
    job.write_text(JOB, encoding="utf-8")
    batch.run_batch(job)
    shots = json.loads(job.with_name(f"{job.name}.summary.json").read_text(encoding="utf-8"))["shots"]
    for shot in sorted(shots, key=lambda each: -each["report"]["badness"]):
        clip = shot["report"]
        print(f"{Path(shot['shot']).stem}: {'; '.join(clip['reasons']) or 'fine'} ({clip['badness']:.1f} times the limit)")


if __name__ == "__main__":
    stage.run(main, "audit_folder")
