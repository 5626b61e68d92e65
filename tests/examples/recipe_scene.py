"""The shot that the recipes speak of: characters and targets, in the bpy of the caller."""

import itertools
import math

import bpy

from tests.baking.walker import Walk, build_walker

LAST = 96
LEG = (("thigh", (0.0, 1.0), (-0.04, 0.55)), ("shin", (-0.04, 0.55), (0.0, 0.1)), ("foot", (0.0, 0.1), (-0.15, 0.0)))


def make_recipe_shot():
    scene = bpy.context.scene
    hero, _ = build_walker(Walk(frames=LAST, slide=0.05))
    hero.name = "Hero"
    hero.twobone.chains.clear()
    scene.frame_start, scene.frame_end = 1, LAST
    for name in ("Rig", "Walker", "Puppet"):
        make_biped(name)
    walk(bpy.data.objects["Walker"])
    for side in "LR":
        key_path(add(f"Puppet foot.{side}"), circle(across(side), 0.0, 0.25, 0.12))
        constraint = bpy.data.objects["Puppet"].pose.bones[f"shin.{side}"].constraints.new("IK")
        constraint.target, constraint.chain_count = bpy.data.objects[f"Puppet foot.{side}"], 2
    key_path(
        add("Skateboard"),
        [
            (frame, (across("L"), 0.1 * math.sin(frame / 9.0), 0.15 + 0.1 * math.sin(frame / 9.0) ** 2))
            for frame in range(1, LAST + 1, 5)
        ],
    )
    key_path(add("Pedal"), circle(across("L"), 0.0, 0.25, 0.12))
    make_chain("Cut-out", {"arm": ((0, 0, 1.5), (0.3, 0, 1.4)), "forearm": ((0.3, 0, 1.4), (0.6, 0, 1.5))})
    key_path(add("Ball"), [(1, (0.4, 0.0, 1.6)), (LAST, (0.35, 0.0, 1.3))])
    joints = [(0, 0, 0.9), (0, -0.15, 0.6), (0, 0.12, 0.35), (0, 0.0, 0.05)]
    make_chain("Dog", dict(zip(("thigh", "shin", "metatarsus"), itertools.pairwise(joints), strict=True)))
    key_path(add("Paw"), [(1, (0, 0.0, 0.05)), (48, (0, 0.15, 0.25)), (LAST, (0, -0.15, 0.15))])


def across(side):
    return 0.1 if side == "L" else -0.1


def add(name, data=None):
    thing = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(thing)
    return thing


def circle(x, y, z, radius):
    places = [(x, y + radius * math.sin(turn), z + radius * math.cos(turn)) for turn in (math.tau * k / 24 for k in range(25))]
    return [(1 + (LAST - 1) * number / 24, place) for number, place in enumerate(places)]


def key_path(thing, places):
    for frame, place in places:
        thing.location = place
        thing.keyframe_insert("location", frame=frame)


def make_biped(name):
    bones = {}
    for side in "LR":
        for part, head, tail in LEG:
            bones[f"{part}.{side}"] = ((across(side), *head), (across(side), *tail))
    make_chain(name, bones, parts=len(LEG))


def make_chain(name, bones, parts=99):
    character = add(name, bpy.data.armatures.new(name))
    bpy.context.view_layer.objects.active = character
    bpy.ops.object.mode_set(mode="EDIT")
    above = None
    for number, (bone_name, (head, tail)) in enumerate(bones.items()):
        bone = character.data.edit_bones.new(bone_name)
        bone.head, bone.tail, bone.parent = head, tail, above if number % parts else None
        above = bone
    bpy.ops.object.mode_set(mode="OBJECT")


def walk(character):
    """Thighs swing, knees bend: keys on the bones themselves."""
    for side, phase in (("L", 0.0), ("R", math.pi)):
        for frame in range(1, LAST + 1, 6):
            swing = frame / 8.0 + phase
            for part, angle in (("thigh", 0.4 * math.sin(swing)), ("shin", 0.5 + 0.3 * math.cos(swing))):
                bone = character.pose.bones[f"{part}.{side}"]
                bone.rotation_mode = "XYZ"
                bone.rotation_euler.x = angle
                bone.keyframe_insert("rotation_euler", frame=frame)
