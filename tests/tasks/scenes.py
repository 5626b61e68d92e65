"""Small rigs and targets for the tests, made with Blender's own calls, and the bake as a script calls it."""

import contextlib
import json
import math
from dataclasses import dataclass, replace

import bpy
from mathutils import Matrix

FRAMES = (1, 24)
"""The range that most tests bake: long enough to go all the way round a joint."""


@dataclass(frozen=True)
class Limb:
    """A chain by the names that a test gives to `twobone.bake`, with the end that its tip really is."""

    armature: str
    upper: str = "upper"
    lower: str = "lower"
    carrier: str = "lower"
    """Bone that carries the tip."""
    at_tail: bool = True

    def names(self):
        return {"armature": self.armature, "upper": self.upper, "lower": self.lower}


@dataclass(frozen=True)
class BoneShape:
    """One bone in edit mode."""

    name: str
    head: tuple
    tail: tuple
    parent: str = ""
    connected: bool = False
    roll: float = 0.0


PARENT = BoneShape("parent", (0, 0, 0), (0, 0, 1))
UPPER = BoneShape("upper", (0.1, 0.2, 1.1), (0.1, 0.1, 0.1), "parent")
LOWER = BoneShape("lower", (0.1, 0.1, 0.1), (0.1, 0.3, -0.7), "upper")
LEG = (PARENT, UPPER, LOWER)
"""A leg that hangs from a parent and lies in the plane YZ, with a knee bent a little at rest."""

STRAIGHT_LEG = (
    PARENT,
    BoneShape("upper", (0, 0, 0), (0, 0, -1), "parent"),
    BoneShape("lower", (0, 0, -1), (0, 0, -1.75), "upper", connected=True),
)


def build_armature(shapes=LEG, name="Rig"):
    """A new armature object, active, in Object Mode, its pose bones in Blender's default quaternion mode."""
    data = bpy.data.armatures.new(name)
    thing = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(thing)
    bpy.context.view_layer.objects.active = thing
    bpy.ops.object.mode_set(mode="EDIT")
    for shape in shapes:
        bone = data.edit_bones.new(shape.name)
        bone.head, bone.tail, bone.roll = shape.head, shape.tail, shape.roll
        bone.parent = data.edit_bones.get(shape.parent)
        bone.use_connect = shape.connected
    bpy.ops.object.mode_set(mode="OBJECT")
    return thing


def bent(shapes, name, **changes):
    """The shapes with one of them changed."""
    return tuple(replace(shape, **changes) if shape.name == name else shape for shape in shapes)


def add_empty(name="Target", parent=None):
    thing = bpy.data.objects.new(name, None)
    bpy.context.scene.collection.objects.link(thing)
    thing.parent = parent
    return thing


def leg_with_chain(shapes=LEG, *, plane="", place=(0, 0, 0)):
    """A leg with a chain in its list and a target at a place, both evaluated; without a plane, that of a fresh chain."""
    rig = build_armature(shapes)
    chain = rig.twobone.chains.add()
    chain.name, chain.upper, chain.lower, chain.target = "Leg", "upper", "lower", add_empty()
    if plane:
        chain.plane = plane
    chain.target.location = place
    bpy.context.view_layer.update()
    return rig


def key_places(thing, places, first=FRAMES[0]):
    """Key the object's location on successive frames."""
    for frame, place in enumerate(places, start=first):
        thing.location = place
        thing.keyframe_insert("location", frame=frame)


def key_channel(owner, channel, values_of_frames):
    """Key a channel of an object or a pose bone: ``{frame: value}``."""
    for frame, value in values_of_frames.items():
        setattr(owner, channel, value)
        owner.keyframe_insert(channel, frame=frame)


def set_range(first=FRAMES[0], last=FRAMES[1]):
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = first, last


def bake(limb=None, **settings):
    """Call the operator as a script does and return its report."""
    names = limb.names() if limb else {}
    assert bpy.ops.twobone.bake(**{**names, **settings}) == {"FINISHED"}
    return json.loads(bpy.context.window_manager.twobone_report)


def refusal(limb=None, **settings):
    """The sentence with which the operator refuses; fails if it does not."""
    names = limb.names() if limb else {}
    try:
        bpy.ops.twobone.bake(**{**names, **settings})
    except RuntimeError as error:
        return sentence_of(error)
    raise AssertionError("the bake was not refused")


def sentence_of(error):
    """The sentence of a refusal; a traceback is none."""
    if "Traceback" in str(error):
        raise AssertionError(str(error)) from error
    return str(error).removeprefix("Error: ").strip()


@contextlib.contextmanager
def pose_mode(armature):
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="POSE")
    yield
    bpy.ops.object.mode_set(mode="OBJECT")


def turned(x=0.0, y=0.0, z=0.0):
    """A rotation matrix, from degrees."""
    return (
        Matrix.Rotation(math.radians(z), 4, "Z")
        @ Matrix.Rotation(math.radians(y), 4, "Y")
        @ Matrix.Rotation(math.radians(x), 4, "X")
    )
