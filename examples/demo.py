"""The main jobs on a real rig: `nox -s demo`.

Rigify's human walks and waves: its legs and arms follow targets, baked to FK keys by the add-on of this checkout. Then the body
of another one goes too far for its steps, so that the feet slide; its limbs are found and its feet planted. Leaves Blender files,
the reports of both as JSON and pictures, and says where they are.
"""

import argparse
import sys
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parent))
import planted_walk
import rigify_walk
import stage

STEP = 35
"""Frame of the second picture: one foot lands, the other leaves the ground."""


def main(arguments: argparse.Namespace) -> None:
    """Make, bake, save, show."""
    print(f"Blender {bpy.app.version_string}: generating the Rigify human, its motion and its targets ...")
    human, targets = rigify_walk.make_scene()
    rigify_walk.bake(human, targets)
    rigify_walk.show_paths(targets)
    stage.save(arguments, "demo")
    write_report(arguments, "report")
    rigify_walk.look_at_frame(STEP, (2.5, -1.3, 0.35), height=0.42, lens=46.0)
    stage.picture(arguments, "step", STEP)
    rigify_walk.show_walk(arguments, human, "walk")
    bpy.ops.wm.read_factory_settings(use_empty=True)
    planted_walk.main(arguments)
    write_report(arguments, "planted_report")


def write_report(arguments: argparse.Namespace, name: str) -> None:
    """Leave the last report as a file."""
    path = arguments.output / f"{name}.json"
    path.write_text(bpy.context.window_manager.twobone_report, encoding="utf-8")
    print(f"Report: {path}")


if __name__ == "__main__":
    stage.run(main, "demo")
