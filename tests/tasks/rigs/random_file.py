"""Busy files with more going on, differently in each: modifiers, strips, constraints, drivers, slots, other armatures."""

import bpy

from tests.tasks.checks.targets import curves_of
from tests.tasks.rigs.busy_file import make_busy_file
from tests.tasks.scenes import add_empty, build_armature, key_channel

BYSTANDERS = ("parent", "toe", "tail")
"""Bones of the armature that no bake keys."""


def make_random_file(chance):
    """Build one by the dice of `chance`, a `random.Random`; returns armature and target."""
    rig, target = make_busy_file()
    for happen in (modify_curves, stack_strips, share_action, constrain, drive, crowd, mark):
        if chance.random() < 0.6:
            happen(rig, target, chance)
    scene = bpy.context.scene
    scene.frame_set(chance.randrange(-10, 30), subframe=chance.choice((0.0, 0.25)))
    return rig, target


def modify_curves(rig, _target, chance):
    """Modifiers on curves of bones beside the chain."""
    for curve in curves_of(rig):
        if chance.random() < 0.3 and any(f'"{bone}"' in curve.data_path for bone in BYSTANDERS):
            modifier = curve.modifiers.new(chance.choice(("CYCLES", "NOISE", "LIMITS", "STEPPED")))
            modifier.mute = chance.random() < 0.5


def stack_strips(rig, _target, chance):
    """Tracks below the action."""
    data = rig.animation_data
    for number in range(chance.randrange(1, 4)):
        track = data.nla_tracks.new()
        strip = track.strips.new(f"strip {number}", chance.randrange(-40, 40), data.action.copy())
        strip.blend_type = chance.choice(("REPLACE", "ADD"))
        track.mute = chance.random() < 0.3


def share_action(rig, _target, chance):
    """A neighbour in the armature's action: in a slot of its own where there are slots."""
    neighbour, action = add_empty("Neighbour"), rig.animation_data.action
    if not hasattr(action, "slots"):
        return
    data = neighbour.animation_data_create()
    data.action = action
    data.action_slot = action.slots.new(id_type="OBJECT", name="Neighbour")
    for frame in range(1, chance.randrange(3, 9)):
        neighbour.location.x = chance.uniform(-1, 1)
        neighbour.keyframe_insert("location", frame=frame)


def constrain(rig, target, chance):
    """Constraints beside the chain and on the target."""
    copying = rig.pose.bones["tail"].constraints.new("COPY_ROTATION")
    copying.target, copying.influence = target, chance.random()
    limit = target.constraints.new("LIMIT_DISTANCE")
    limit.target, limit.distance, limit.mute = bpy.data.objects["Other"], 50.0, chance.random() < 0.5


def drive(rig, target, chance):
    """A driver from the target to a bone beside the chain."""
    driver = rig.pose.bones["tail"].driver_add("location", chance.randrange(3)).driver
    variable = driver.variables.new()
    variable.type = "TRANSFORMS"
    variable.targets[0].id = target
    driver.expression = f"{variable.name} * {chance.uniform(-2, 2):.3f}"


def crowd(_rig, _target, chance):
    """Other armatures, some of them with motion of their own."""
    for number in range(chance.randrange(1, 4)):
        other = build_armature(name=f"Other Rig {number}")
        key_channel(other.pose.bones["upper"], "rotation_quaternion", {1: (1, 0, 0, 0), 30: (0.6, 0.8, 0, 0)})


def mark(_rig, _target, chance):
    """Markers, and custom properties of many kinds."""
    scene = bpy.context.scene
    for _ in range(chance.randrange(1, 6)):
        scene.timeline_markers.new("mark", frame=chance.randrange(-20, 60))
    scene["text"], scene["numbers"] = "plain", [chance.random() for _ in range(3)]
