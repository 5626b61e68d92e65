"""Bake many shots with one command: make eight small shots and a job file, and bake each in a separate Blender.

    python examples/batch.py

The job holds what all shots have in common: which bones follow which targets. Two shots are wrong on purpose, to show that
they are reported with their reasons while the others are baked.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parent))
import quickstart_leg
import stage

SHOTS = 8
WITHOUT_TARGET, CORRUPT = 3, 6
JOB = """# Baked by: blender --command twobone batch job.toml
shots = ["shots/*.blend"]
output = "baked/{shot}.blend"

armature = "Leg"
target = "Foot"
plane = "YZ"

[[chains]]
name = "leg"
upper = "thigh"
lower = "shin"
bend = "POSITIVE"
"""


def make_shots(folder: Path) -> None:
    """Make shots of kicking legs, each with a longer range; one has no target, and one is not a Blender file."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(1, SHOTS + 1):
        bpy.ops.wm.read_factory_settings(use_empty=True)
        bpy.context.scene.frame_end = quickstart_leg.LAST + 4 * number
        quickstart_leg.make_leg()
        if number != WITHOUT_TARGET:
            quickstart_leg.make_target()
        path = folder / f"shot_{number:02}.blend"
        if number == CORRUPT:
            path.write_bytes(b"not a Blender file")
        else:
            bpy.ops.wm.save_as_mainfile(filepath=str(path))


def bake_shots(job: Path) -> int:
    """Run the batch as from a terminal, and return its exit code. With Blender's program this uses the installed extension."""
    if bpy.app.binary_path:
        command, folder = [bpy.app.binary_path, "--command", "twobone"], None
    else:
        command, folder = [sys.executable, "-m", "twobone_addon"], stage.ROOT
    return subprocess.run([*command, "batch", str(job)], cwd=folder, check=False).returncode


def main(arguments: argparse.Namespace) -> None:
    """Make the shots and the job, run it, read its summary."""
    make_shots(arguments.output / "shots")
    job = arguments.output / "job.toml"
    job.write_text(JOB, encoding="utf-8")
    code = bake_shots(job)
    summary = json.loads(job.with_suffix(".summary.json").read_text(encoding="utf-8"))
    states = [shot["state"] for shot in summary["shots"]]
    print(f"Exit code {code}: {states.count('done')} of {len(states)} shots done, in {arguments.output / 'baked'}")


if __name__ == "__main__":
    stage.run(main, "batch")
