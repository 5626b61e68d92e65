"""Bake many shots with one command: make eight small shots and a job file, and bake each in a separate Blender.

    python examples/batch.py

The job, examples/job/job.toml, holds what all shots have in common: which bones follow which targets. Two shots are wrong on
purpose, to show that they are reported with their reasons while the others are baked. The expected summary is beside the job.
"""

import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parent))
import quickstart_leg
import stage

SHOTS = 8
WITHOUT_TARGET, CORRUPT = 3, 6
JOB = Path(__file__).resolve().parent / "job" / "job.toml"
EXPECTED = JOB.with_name("expected_summary.json")
"""For each shot of the summary its state, and the frames of each chain that are on target."""


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


def run_batch(job: Path) -> int:
    """Run the batch as from a terminal, and return its exit code. With Blender's program this uses the installed extension."""
    if bpy.app.binary_path:
        command, folder = [bpy.app.binary_path, "--command", "twobone"], None
    else:
        command, folder = [sys.executable, "-m", "twobone_addon"], stage.ROOT
    return subprocess.run([*command, "batch", str(job)], cwd=folder, check=False).returncode


def main(arguments: argparse.Namespace) -> None:
    """Make the shots, run the job on them, and compare its summary with the expected one."""
    make_shots(arguments.output / "shots")
    job = arguments.output / JOB.name
    shutil.copy(JOB, job)
    code = run_batch(job)
    shots = json.loads(job.with_name(f"{job.name}.summary.json").read_text(encoding="utf-8"))["shots"]
    found = {
        Path(shot["shot"]).stem: {
            "state": shot["state"],
            "reached": [chain["reached"] for chain in (shot["report"] or {}).get("chains", [])],
        }
        for shot in shots
    }
    states = [shot["state"] for shot in found.values()]
    print(f"Exit code {code}: {states.count('done')} of {len(states)} shots done, in {arguments.output / 'baked'}")
    if found != json.loads(EXPECTED.read_text(encoding="utf-8")):
        raise SystemExit(f"The summary is not as expected: {json.dumps(found)}")


if __name__ == "__main__":
    stage.run(main, "batch")
