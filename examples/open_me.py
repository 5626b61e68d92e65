"""Make a file to open with the mouse: a character whose feet slide, ready for the pages of the documentation.

    python examples/open_me.py

Open build/open_me/open_me.blend in Blender with the extension installed. Press N, open the tab Two-Bone IK, and press Find Limbs,
then Plant Feet; or select a shin and press Add Target, then Bake.
"""

import argparse
import sys
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parent))
import stage
import walker


def main(arguments: argparse.Namespace) -> None:
    """Make, select, save."""
    character = walker.make_walker()
    walker.dress(character)
    stage.light_and_ground()
    character.show_in_front = True
    bpy.context.view_layer.objects.active = character
    character.select_set(state=True)
    bpy.ops.object.mode_set(mode="POSE")
    print(f"Its feet slide by up to {100.0 * walker.slid(character):.1f} cm.")
    bpy.context.scene.frame_set(1)
    stage.save(arguments, "open_me")


if __name__ == "__main__":
    stage.run(main, "open_me")
