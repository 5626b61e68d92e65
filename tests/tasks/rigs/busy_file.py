"""A file in which much is going on: keys of every kind, edits that are not keyed, several scenes, actions and slots."""

import math

import bpy

from tests.tasks.checks.targets import curves_of
from tests.tasks.scenes import LEG, BoneShape, add_empty, build_armature, key_channel, set_range

INTERPOLATIONS = ("BEZIER", "LINEAR", "CONSTANT", "BACK", "ELASTIC", "BEZIER")
HANDLES = ("FREE", "AUTO", "VECTOR", "ALIGNED", "AUTO_CLAMPED", "ALIGNED")
KEY_FRAMES = (-20, -3.25, 4, 9.5, 17, 30, 41.75)
RANGE = (5, 14)
"""Inside the keys, so that there are keys before, in and after it."""

NOW = (7, 0.25)
"""Frame and subframe at which the user stands."""


def make_busy_file():
    """Build it and return armature and target; the current frame is in the middle of everything."""
    rig = build_armature(
        (*LEG, BoneShape("toe", LEG[2].tail, (0.1, 0.6, -0.7), "lower"), BoneShape("tail", (1, 0, 0), (2, 0, 0)))
    )
    for number, bone in enumerate(rig.pose.bones):
        bone.rotation_mode = ("QUATERNION", "XYZ", "ZXY", "AXIS_ANGLE", "QUATERNION")[number]
        _key_all(bone, number)
    _vary(curves_of(rig))
    target = add_empty()
    for number, frame in enumerate(KEY_FRAMES):
        target.location = (0.3, 0.9 * math.cos(number), 1 + 0.9 * math.sin(number))
        target.keyframe_insert("location", frame=frame)
    _other_things(rig)
    set_range(*RANGE)
    scene = bpy.context.scene
    scene.use_preview_range, scene.frame_preview_start, scene.frame_preview_end = True, -3, 99
    scene.timeline_markers.new("here", frame=6)
    scene.frame_set(NOW[0], subframe=NOW[1])
    return rig, target


def edit_without_keys(rig, target):
    """Change animated values without keying them, as a user does while trying a pose."""
    bones = rig.pose.bones
    bones["parent"].location.x += 0.5
    bones["parent"].rotation_quaternion = (0.5, 0.5, 0.5, 0.5)
    bones["upper"].location = (0.1, 0.2, 0.3)
    bones["lower"].scale = (1.5, 0.5, 1)
    bones["toe"].rotation_axis_angle = (2, 0, 0.6, 0.8)
    bones["tail"].rotation_quaternion.x += 0.25
    bones["tail"]["wag"] = 0.75
    target.location.x = 5
    bpy.data.objects["Other"].rotation_euler.z = 1.25
    bpy.data.objects["Other"].hide_render = True
    bpy.data.objects["Strips"].location.y = -4
    bpy.data.shape_keys[0].key_blocks["smile"].value = 0.625
    bpy.data.materials["Paint"].diffuse_color = (0.1, 0.2, 0.3, 0.4)
    bpy.data.worlds["Sky"].color.r = 0.125
    bpy.context.scene["mood"] = 3.5


def _key_all(bone, number):
    rotation = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}.get(
        bone.rotation_mode, "rotation_euler"
    )
    for index, frame in enumerate(KEY_FRAMES):
        wave = math.sin(index + number)
        bone.location = (0.1 * wave, 0.05 * index, 0)
        bone.scale = (1 + 0.1 * wave,) * 3
        values = (1, 0.3 * wave, 0.2, 0.1 * index) if rotation != "rotation_euler" else (wave, 0.3, 0.2 * index)
        setattr(bone, rotation, values)
        for channel in ("location", "scale", rotation):
            bone.keyframe_insert(channel, frame=frame)
    bone["wag"] = 0.5
    bone.keyframe_insert('["wag"]', frame=1)


def _vary(curves):
    """Give keys all kinds of interpolation and handles, and some curves modifiers and odd settings."""
    for number, fcurve in enumerate(curves):
        for index, key in enumerate(fcurve.keyframe_points):
            kind = (index + number) % len(INTERPOLATIONS)
            key.interpolation, key.easing = INTERPOLATIONS[kind], "EASE_OUT"
            key.handle_left_type = key.handle_right_type = HANDLES[kind]
            key.select_control_point = bool(kind % 2)
            key.type = ("KEYFRAME", "BREAKDOWN", "EXTREME")[kind % 3]
        fcurve.extrapolation = ("CONSTANT", "LINEAR")[number % 2]
        fcurve.hide = number % 5 == 0
        fcurve.update()


def _other_things(rig):
    other, strips = add_empty("Other"), add_empty("Strips")
    key_channel(other, "rotation_euler", {1: (0, 0, 0), 20: (1, 2, 3)})
    key_channel(other, "hide_render", {1: False})
    key_channel(strips, "location", {1: (0, 0, 0), 20: (1, 2, 3)})
    data = strips.animation_data
    track = data.nla_tracks.new()
    track.strips.new("strip", 3, data.action)
    data.action = None
    mesh = bpy.data.objects.new("Mesh", bpy.data.meshes.new("Mesh"))
    bpy.context.scene.collection.objects.link(mesh)
    mesh.data.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
    mesh.shape_key_add(name="Basis")
    key_channel(mesh.shape_key_add(name="smile"), "value", {1: 0, 20: 1})
    mesh.modifiers.new("Armature", "ARMATURE").object = rig
    paint, sky = bpy.data.materials.new("Paint"), bpy.data.worlds.new("Sky")
    key_channel(paint, "diffuse_color", {1: (0, 0, 0, 1), 20: (1, 1, 1, 1)})
    key_channel(sky, "color", {1: (0, 0, 0), 20: (1, 1, 1)})
    bpy.context.scene.world = sky
    bpy.context.scene["mood"] = 1.0
    key_channel_of_scene(bpy.context.scene)
    second = bpy.data.scenes.new("Second")
    second.collection.objects.link(other)
    second.frame_set(33)


def key_channel_of_scene(scene):
    for frame, value in ((1, 1.0), (20, 2.0)):
        scene["mood"] = value
        scene.keyframe_insert('["mood"]', frame=frame)
