"""Things that move, or do not, in every way that sampling tells apart."""

import math

import bpy
from mathutils import Euler, Matrix, Quaternion, Vector


def add_empty(name="Thing"):
    thing = bpy.data.objects.new(name, None)
    bpy.context.scene.collection.objects.link(thing)
    return thing


def animate(holder, name, values, frames=(-5, 8, 17, 30)):
    """Key a property; components move differently, in long and short handles, so that no two frames are alike."""
    for number, frame in enumerate(frames):
        setattr(holder, name, [value + 0.7 * math.sin(2.1 * number + 1.3 * k) for k, value in enumerate(values)])
        holder.keyframe_insert(name, frame=frame)


def animated_empty(name="Thing"):
    thing = add_empty(name)
    animate(thing, "location", (1, 2, 3))
    animate(thing, "rotation_euler", (0.3, -0.8, 1.9))
    animate(thing, "scale", (1.5, 0.8, -2))
    return thing


def add_armature(name="Rig", bones=("root", "upper", "lower", "toe"), *, connected=True):
    """A path of bones, none of them along an axis, each with a roll of its own."""
    data = bpy.data.armatures.new(name)
    rig = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    parent, head = None, Vector((0.2, 0.1, 0.4))
    for number, bone_name in enumerate(bones):
        bone = data.edit_bones.new(bone_name)
        bone.head = head
        bone.tail = head = head + Vector((math.sin(number), 0.6, math.cos(2 * number))).normalized()
        bone.roll = 0.4 * number
        bone.parent = parent
        bone.use_connect = parent is not None and connected
        parent = bone
    bpy.ops.object.mode_set(mode="OBJECT")
    return rig


def animated_armature(name="Rig", modes=("QUATERNION", "XYZ", "ZXY", "AXIS_ANGLE"), *, connected=False):
    """The same, every bone moving in all of its channels, one rotation mode each."""
    rig = add_armature(name, connected=connected)
    for bone, mode in zip(rig.pose.bones, modes, strict=True):
        bone.rotation_mode = mode
        animate_bone(bone)
    return rig


def animate_bone(bone):
    animate(bone, "location", (0.1, -0.2, 0.3))
    animate(bone, "scale", (1.2, 0.9, 1.1))
    animate_rotation(bone, "")


def animate_rotation(holder, prefix):
    """Key the rotation channel that the holder's mode uses; quaternions are not normalised, as in edited curves."""
    if holder.rotation_mode == "QUATERNION":
        animate(holder, f"{prefix}rotation_quaternion", (0.9, 0.2, -0.4, 0.3))
    elif holder.rotation_mode == "AXIS_ANGLE":
        if not prefix:
            animate(holder, "rotation_axis_angle", (1.1, 0.3, 0.9, -0.2))
    else:
        animate(holder, f"{prefix}rotation_euler", (0.5, 1.4, -2.2))


def curves_of(thing):
    """The F-curves of its action, wherever this Blender keeps them."""
    action = thing.animation_data.action
    if not hasattr(action, "layers"):
        return action.fcurves
    return action.layers[0].strips[0].channelbag(thing.animation_data.action_slot).fcurves


def group_curves(thing, name):
    """All curves of an object in one new group, which is returned."""
    action = thing.animation_data.action
    bag = action.layers[0].strips[0].channelbag(thing.animation_data.action_slot) if hasattr(action, "layers") else action
    group = bag.groups.new(name)
    for fcurve in bag.fcurves:
        fcurve.group = group
    return group


def add_driver(holder, name, index, expression, reads=None):
    """Drive a component by an expression of `v`, what `reads` (datablock, data path) holds."""
    driver = holder.driver_add(name, index).driver
    driver.type = "SCRIPTED"
    if reads is not None:
        variable = driver.variables.new()
        variable.name = "v"
        variable.targets[0].id_type = "SCENE" if isinstance(reads[0], bpy.types.Scene) else "OBJECT"
        variable.targets[0].id = reads[0]
        variable.targets[0].data_path = reads[1]
    driver.expression = expression
    return driver


SKEWED = Matrix.LocRotScale((0.4, -1.1, 0.7), Euler((0.2, 0.9, -0.5)), (1.4, 0.6, 1.1))
TURNED = Quaternion((0.6, -0.3, 0.7, 0.2)).normalized()
