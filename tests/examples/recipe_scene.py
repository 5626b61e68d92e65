"""The shot that the recipes speak of: characters and targets, in the bpy of the caller."""

import itertools
import math

import bpy

from tests.real.generated_rigs import generated_rig
from tests.tasks.rigs.walker import Walk, build_walker
from tests.tasks.scenes import set_range

LAST = 96
STEP_DEPTH, STEP_HEIGHT, FIRST_EDGE = 0.605, 0.12, 0.05
"""Metres: the Climber's feet come down on the middle of each step."""
BOARD_THICKNESS = 0.025
ACTIONS, ACTION_LENGTH = 30, 8
ARM = (("upper_arm", (0.0, 1.5), (0.02, 1.2)), ("forearm", (0.02, 1.2), (-0.05, 0.92)), ("hand", (-0.05, 0.92), (-0.08, 0.8)))
LEG = (("thigh", (0.0, 1.0), (-0.04, 0.55)), ("shin", (-0.04, 0.55), (0.0, 0.1)), ("foot", (0.0, 0.1), (-0.15, 0.0)))


def make_recipe_shot():
    make_hero("Hero", Walk(frames=LAST, slide=0.05))
    climb(make_hero("Climber", Walk(frames=LAST)))
    set_range(1, LAST)
    make_stairs()
    for name in ("Rig", "Walker"):
        make_biped(name)
    walk(bpy.data.objects["Walker"])
    make_fighter()
    key_path(
        add("Skateboard"),
        [
            (frame, (across("L"), 0.1 * math.sin(frame / 9.0), 0.15 + 0.1 * math.sin(frame / 9.0) ** 2))
            for frame in range(1, LAST + 1, 5)
        ],
    )
    make_board(bpy.data.objects["Skateboard"])
    key_path(add("Pedal"), circle(across("L"), 0.0, 0.25, 0.12))
    make_chain("Cut-out", {"arm": ((0, 0, 1.5), (0.3, 0, 1.4)), "forearm": ((0.3, 0, 1.4), (0.6, 0, 1.5))})
    key_path(add("Ball"), [(1, (0.4, 0.0, 1.6)), (LAST, (0.35, 0.0, 1.3))])
    joints = [(0, 0, 0.9), (0, -0.15, 0.6), (0, 0.12, 0.35), (0, 0.0, 0.05)]
    make_chain("Dog", dict(zip(("thigh", "shin", "metatarsus"), itertools.pairwise(joints), strict=True)))
    key_path(add("Paw"), [(1, (0, 0.0, 0.05)), (48, (0, 0.15, 0.25)), (LAST, (0, -0.15, 0.15))])


def make_board(skateboard):
    """What the left foot stands on at the first frame: its sole is there where the foot bone ends."""
    sole = bpy.data.objects["Rig"].data.bones["foot.L"].tail_local.z - 0.15
    board = bpy.data.meshes.new("Board")
    points = [(x, y, z) for x in (-0.07, 0.07) for y in (-0.28, 0.16) for z in (sole - BOARD_THICKNESS, sole)]
    board.from_pydata(points, [], [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)])
    add("Board", board).parent = skateboard


def make_rigify_shot():
    """Rigify's basic human on IK, its left foot going round. Blender 4.2 does not survive a tidy exit after that."""
    rig = generated_rig("basic_human")
    set_range(1, LAST)
    foot = rig.pose.bones["foot_ik.L"]
    for number in range(25):
        turn = math.tau * number / 24
        foot.location = (0.0, 0.18 * math.sin(turn), 0.15 - 0.15 * math.cos(turn))
        foot.keyframe_insert("location", frame=1 + (LAST - 1) * number / 24)
    return rig


def make_hero(name, steps):
    hero, _ = build_walker(steps)
    hero.name = name
    hero.twobone.chains.clear()
    return hero


def climb(climber):
    """Go up as steeply as the stairs, but evenly, so that no foot stands on a step."""
    root = climber.pose.bones["root"]
    upward = max(range(3), key=lambda axis: abs(root.bone.matrix_local.col[axis].z))
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)
        way = climber.pose.bones["hips"].head.y
        root.location[upward] = STEP_HEIGHT * (way / STEP_DEPTH + 0.3) * math.copysign(1.0, root.bone.matrix_local.col[upward].z)
        root.keyframe_insert("location", frame=frame)


def step_height(way):
    """How high the stairs are at a place along them."""
    return STEP_HEIGHT * math.floor((way - FIRST_EDGE) / STEP_DEPTH + 1)


def make_stairs():
    points = []
    for step in range(-2, 10):
        for edge in (step, step + 1):
            y, z = FIRST_EDGE + (edge - 1) * STEP_DEPTH, STEP_HEIGHT * step
            points += [(-0.6, y, z), (0.6, y, z)]
    faces = [(first, first + 1, first + 3, first + 2) for first in range(0, len(points) - 2, 2)]
    stairs = bpy.data.meshes.new("Stairs")
    stairs.from_pydata(points, [], faces)
    add("Stairs", stairs)


def make_fighter():
    """Legs that follow control bones by IK, in thirty short actions."""
    fighter = make_biped("Fighter", controls=True)
    for side in "LR":
        constraint = fighter.pose.bones[f"shin.{side}"].constraints.new("IK")
        constraint.target, constraint.subtarget, constraint.chain_count = fighter, f"foot_ik.{side}", 2
    fighter.animation_data_create()
    for number in range(ACTIONS):
        action = bpy.data.actions.new(f"Kick {number + 1}")
        action.use_fake_user = True
        fighter.animation_data.action = action
        for side, sign in (("L", 1.0), ("R", -1.0)):
            control = fighter.pose.bones[f"foot_ik.{side}"]
            for frame, part in ((1, 0.0), (ACTION_LENGTH / 2, 1.0), (ACTION_LENGTH, 0.0)):
                control.location = (0.0, 0.1 * part * sign * math.cos(number), 0.05 + 0.1 * part * math.sin(number) ** 2)
                control.keyframe_insert("location", frame=frame)


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


def make_biped(name, *, controls=False):
    bones = {}
    for side in "LR":
        for limb, away in ((LEG, 1.0), (ARM, 2.0)):
            for part, head, tail in limb:
                bones[f"{part}.{side}"] = ((away * across(side), *head), (away * across(side), *tail))
    if controls:
        for side in "LR":
            bones[f"foot_ik.{side}"] = ((across(side), 0.0, 0.1), (across(side), 0.1, 0.1))
    return make_chain(name, bones, parts=len(LEG), single=("foot_ik.L", "foot_ik.R"))


def make_chain(name, bones, parts=99, single=()):
    character = add(name, bpy.data.armatures.new(name))
    bpy.context.view_layer.objects.active = character
    bpy.ops.object.mode_set(mode="EDIT")
    above = None
    for number, (bone_name, (head, tail)) in enumerate(bones.items()):
        bone = character.data.edit_bones.new(bone_name)
        bone.head, bone.tail, bone.parent = head, tail, above if number % parts and bone_name not in single else None
        above = bone
    bpy.ops.object.mode_set(mode="OBJECT")
    return character


def walk(character):
    """Thighs and arms swing, knees and elbows bend: keys on the bones themselves."""
    for side, phase in (("L", 0.0), ("R", math.pi)):
        for frame in range(1, LAST + 1, 6):
            swing = frame / 8.0 + phase
            for part, angle in (
                ("thigh", 0.4 * math.sin(swing)),
                ("shin", 0.5 + 0.3 * math.cos(swing)),
                ("upper_arm", -0.4 * math.sin(swing)),
                ("forearm", -0.4),
            ):
                bone = character.pose.bones[f"{part}.{side}"]
                bone.rotation_mode = "XYZ"
                bone.rotation_euler.x = angle
                bone.keyframe_insert("rotation_euler", frame=frame)
