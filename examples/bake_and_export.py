"""Bake, export to glTF and FBX, and check the result: `python examples/bake_and_export.py`.

A skinned leg follows a target; the baked animation is exported, imported again into an empty file, and the distance from
the ankle to the target is measured frame by frame. Fails if an export moves the ankle.
"""

import argparse
import math
import sys
from collections.abc import Callable
from pathlib import Path

import bpy
from mathutils import Vector

sys.path.insert(0, str(Path(__file__).resolve().parent))
import stage

FIRST, LAST, FRAMES_PER_SECOND = 1, 48, 24
JOINTS = {"thigh": (0.0, 0.0, 1.0), "shin": (0.0, -0.06, 0.55), "foot": (0.0, 0.0, 0.1), "": (0.0, -0.18, 0.02)}
"""Head of each bone; the last entry is the tail of the foot."""
ALLOWED = 1e-5
"""Largest error of the ankle after an export, in metres: both formats and Blender's bones are single precision, so values
are rounded several times to some 1e-7 of the leg."""

EXPORTERS: dict[str, Callable[[str], object]] = {
    ".glb": lambda path: bpy.ops.export_scene.gltf(filepath=path, use_selection=True, export_animation_mode="ACTIVE_ACTIONS"),
    ".fbx": lambda path: bpy.ops.export_scene.fbx(
        filepath=path,
        use_selection=True,
        add_leaf_bones=False,
        bake_anim_use_all_actions=False,
        bake_anim_use_nla_strips=False,
        bake_anim_simplify_factor=0.0,
    ),
}
"""Export only the selected objects and their active actions: by default both formats export every action of the file."""
IMPORTERS: dict[str, Callable[[str], object]] = {
    ".glb": lambda path: bpy.ops.import_scene.gltf(filepath=path),
    ".fbx": lambda path: bpy.ops.import_scene.fbx(filepath=path, anim_offset=0.0),
}
"""By default the FBX importer moves all keys by one frame."""


def main(arguments: argparse.Namespace) -> None:
    """Make, bake, export, import, measure."""
    rig, target = make_leg(), make_target()
    bpy.ops.twobone.bake(
        armature=rig.name, upper="thigh", lower="shin", tip="foot", target=target.name, plane="YZ", bend="POSITIVE"
    )
    wanted = places(lambda: target.matrix_world.translation)
    print(f"Baked: max distance from ankle to target {distance(wanted, ankle_places(rig)):.1e} m")
    for thing in bpy.data.objects:
        thing.select_set(thing.name in {"Leg", "Skin"})
    for suffix, export in EXPORTERS.items():
        export(str(arguments.output / f"leg{suffix}"))
    for suffix, bring_in in IMPORTERS.items():
        path = arguments.output / f"leg{suffix}"
        empty_scene()
        bring_in(str(path))
        imported = next(thing for thing in bpy.data.objects if thing.type == "ARMATURE")
        off = distance(wanted, ankle_places(imported))
        print(f"{path}: imported again, max distance from ankle to target {off:.1e} m")
        if off > ALLOWED:
            raise SystemExit(f"{path.name} moves the ankle by {off:.1e} m, more than {ALLOWED:.0e} m.")


def empty_scene() -> None:
    """Begin an empty file with the same frame rate, by which importers convert seconds into frames."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.render.fps, scene.frame_start, scene.frame_end = FRAMES_PER_SECOND, FIRST, LAST


def make_leg() -> bpy.types.Object:
    """An armature of three bones with a skinned mesh: game formats hold skinned meshes, not bare bones."""
    empty_scene()
    rig = bpy.data.objects.new("Leg", bpy.data.armatures.new("Leg"))
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    names, heads = list(JOINTS), list(JOINTS.values())
    above = None
    for name, head, tail in zip(names, heads, heads[1:], strict=False):
        bone = rig.data.edit_bones.new(name)
        bone.head, bone.tail = head, tail
        if above:
            bone.parent, bone.use_connect = above, True
        above = bone
    bpy.ops.object.mode_set(mode="OBJECT")
    add_skin(rig)
    return rig


def add_skin(rig: bpy.types.Object) -> None:
    """Add a mesh with one triangle along each bone, moved by that bone alone."""
    mesh = bpy.data.meshes.new("Skin")
    skin = bpy.data.objects.new("Skin", mesh)
    bpy.context.scene.collection.objects.link(skin)
    corners = [(bone.head_local, bone.tail_local, bone.head_local + Vector((0.05, 0.0, 0.0))) for bone in rig.data.bones]
    faces = [tuple(range(3 * number, 3 * number + 3)) for number in range(len(corners))]
    mesh.from_pydata([tuple(corner) for face in corners for corner in face], [], faces)
    for bone, face in zip(rig.data.bones, faces, strict=True):
        skin.vertex_groups.new(name=bone.name).add(face, 1.0, "REPLACE")
    skin.parent = rig
    skin.modifiers.new("Armature", "ARMATURE").object = rig


def make_target() -> bpy.types.Object:
    """An empty that moves as a stepping foot does, on an oval within the leg's reach."""
    target = bpy.data.objects.new("Ankle Target", None)
    bpy.context.scene.collection.objects.link(target)
    for frame in range(FIRST, LAST + 1):
        turn = math.tau * (frame - FIRST) / (LAST - FIRST)
        target.location = (0.0, 0.3 * math.cos(turn), 0.25 + 0.1 * math.sin(turn))
        target.keyframe_insert("location", frame=frame)
    return target


def ankle_places(rig: bpy.types.Object) -> list[Vector]:
    """World position of the ankle, the head of the foot, at each frame."""
    return places(lambda: rig.matrix_world @ rig.pose.bones["foot"].head)


def places(read: Callable[[], Vector]) -> list[Vector]:
    """The value of `read` at each frame."""
    found = []
    for frame in range(FIRST, LAST + 1):
        bpy.context.scene.frame_set(frame)
        found.append(read().copy())
    return found


def distance(first: list[Vector], second: list[Vector]) -> float:
    """The largest distance between two paths at any frame."""
    return max((one - other).length for one, other in zip(first, second, strict=True))


if __name__ == "__main__":
    stage.run(main, "bake_and_export")
