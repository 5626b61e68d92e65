"""Two characters, the second with a copy of the first's rotations, as simple retargeting tools leave it."""

from dataclasses import replace

import bpy

from tests.tasks.rigs.walker import SHAPES, Walk, build_walker
from tests.tasks.scenes import build_armature

SCALE = 0.7
LEG = 0.82 * SCALE
"""Length of Hero's leg."""
FRAMES = 36


def made_pair(walk=None, *, wider=1.4, size=1.0, facing=0.0):
    """A walker that is turned by `facing`, and Hero: smaller, with wide hips that move `size` times as far as the walker's."""
    source, states = build_walker(walk or Walk(frames=FRAMES))
    source.name = "Source"
    source.twobone.chains.clear()
    source.rotation_euler.z = facing
    hero = build_armature(_scaled(SHAPES, SCALE, wider), "Hero")
    _copy(source, hero, "hips", size)
    _stand_beside(hero)
    return source, hero, states


def recorded_pair(recording, *, first, last, stretched=1.25):
    """A recorded walk as a BVH file has it, over some of its frames, and Hero: the same skeleton with longer shins."""
    bpy.ops.import_anim.bvh(filepath=str(recording), global_scale=0.0564)
    source, scene = bpy.context.object, bpy.context.scene
    scene.frame_start, scene.frame_end = first, last
    hero = source.copy()
    hero.data = source.data.copy()
    hero.animation_data_clear()
    hero.name = "Hero"
    scene.collection.objects.link(hero)
    bpy.context.view_layer.objects.active = hero
    bpy.ops.object.mode_set(mode="EDIT")
    for side in ("Left", "Right"):
        shin = hero.data.edit_bones[f"{side}Leg"]
        longer = (shin.tail - shin.head) * (stretched - 1.0)
        for bone in shin.children_recursive:
            bone.head, bone.tail = bone.head + longer, bone.tail + longer
        shin.tail += longer
    bpy.ops.object.mode_set(mode="OBJECT")
    _copy(source, hero, "Hips", 1.0)
    _stand_beside(hero)
    return source, hero


def _scaled(shapes, size, wider=1.0):
    def at(place):
        return (place[0] * size * wider, place[1] * size, place[2] * size)

    return [replace(shape, head=at(shape.head), tail=at(shape.tail)) for shape in shapes]


def _copy(source, hero, hips, size):
    """Key the source's rotations on the hero, and the hips' location scaled by `size`."""
    scene = bpy.context.scene
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        for bone in source.pose.bones:
            own = hero.pose.bones[bone.name]
            own.rotation_mode = "QUATERNION"
            own.rotation_quaternion = bone.matrix_basis.to_quaternion()
            own.keyframe_insert("rotation_quaternion", frame=frame)
            if bone.name == hips:
                own.location = size * bone.matrix_basis.translation
                own.keyframe_insert("location", frame=frame)


def _stand_beside(hero):
    hero.location.x = 3.0
    bpy.context.view_layer.objects.active = hero
    bpy.context.scene.frame_set(bpy.context.scene.frame_start)
