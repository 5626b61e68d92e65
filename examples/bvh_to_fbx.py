"""A recording in, planted, a file for a game engine out: BVH -> Find Limbs, Plant Feet -> FBX.

    python examples/bvh_to_fbx.py

The recording is made here, with sliding feet; put your own in place of it. The FBX file is imported again, and its feet are
measured.
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parent))
import stage
import walker

AXES = {"axis_forward": "Y", "axis_up": "Z"}
"""Blender writes recordings with Z up. Leave this out for those of others, most of which have Y up."""
EXPORT = {"add_leaf_bones": False, "bake_anim_use_all_actions": False, "bake_anim_use_nla_strips": False}
"""Only the active action, and no bones that are not in the file."""


def main(arguments: argparse.Namespace) -> None:
    """Record, import, plant, export, import again, measure."""
    recording, handed_over = (arguments.output / f"walk.{suffix}" for suffix in ("bvh", "fbx"))
    walker.make_walker()
    bpy.ops.export_anim.bvh(filepath=str(recording), frame_start=1, frame_end=walker.LAST, root_transform_only=True)

    character = fresh(lambda: bpy.ops.import_anim.bvh(filepath=str(recording), **AXES))
    before = walker.slid(character)
    bpy.ops.twobone.find_limbs(armature=character.name)
    bpy.ops.twobone.plant(armature=character.name)
    print(stage.last_report()["sentence"])
    stage.save(arguments, "planted")
    bpy.ops.export_scene.fbx(filepath=str(handed_over), bake_anim_simplify_factor=0.0, **EXPORT)

    character = fresh(lambda: bpy.ops.import_scene.fbx(filepath=str(handed_over), anim_offset=0.0))
    print(f"{recording}: feet slide by up to {1000.0 * before:.1f} mm")
    print(f"{handed_over}: feet slide by up to {1000.0 * walker.slid(character):.1f} mm")


def fresh(bring_in: Callable[[], object]) -> bpy.types.Object:
    """The armature that an importer brings into an empty file."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, walker.LAST
    bring_in()
    return next(thing for thing in bpy.data.objects if thing.type == "ARMATURE")


if __name__ == "__main__":
    stage.run(main, "bvh_to_fbx")
