"""A leg and a moving target, made inside Blender by the scripts that try the installed extension."""

import bpy

UPPER_LENGTH, LOWER_LENGTH, ROOT_HEIGHT = 1.0, 0.8, 2.0
FIRST, LAST = 1, 24
# Bones and poses are 32-bit floats in Blender: a few units in the last place, per unit of length and of distance.
TIP_TOLERANCE = 2e-6 * (UPPER_LENGTH + LOWER_LENGTH + ROOT_HEIGHT)


def leg_with_target():
    """A leg in the XZ plane that is bent at rest, and an empty that moves within its reach from FIRST to LAST."""
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = FIRST, LAST
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    target = bpy.data.objects.new("Target", None)
    for item in (rig, target):
        scene.collection.objects.link(item)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    upper = rig.data.edit_bones.new("upper")
    upper.head, upper.tail = (0, 0, ROOT_HEIGHT), (0.6 * UPPER_LENGTH, 0, ROOT_HEIGHT - 0.8 * UPPER_LENGTH)
    lower = rig.data.edit_bones.new("lower")
    lower.parent, lower.use_connect = upper, True
    lower.head, lower.tail = upper.tail, (upper.tail[0], 0, upper.tail[2] - LOWER_LENGTH)
    bpy.ops.object.mode_set(mode="OBJECT")
    for frame, place in ((FIRST, (1.2, 0, 1.0)), ((FIRST + LAST) // 2, (0.1, 0, 0.5)), (LAST, (-1.0, 0, 1.6))):
        target.location = place
        target.keyframe_insert("location", frame=frame)
    return rig, target


def worst_miss(rig, target) -> float:
    """Farthest that the tip is from the target on any frame, as Blender evaluates the animation. Keeps the frame."""
    scene = bpy.context.scene
    misses, frame_before = [], scene.frame_current
    for frame in range(FIRST, LAST + 1):
        scene.frame_set(frame)
        posed = rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones["lower"]
        misses.append((rig.matrix_world @ posed.tail - target.matrix_world.translation).length)
    scene.frame_set(frame_before)
    return max(misses)
