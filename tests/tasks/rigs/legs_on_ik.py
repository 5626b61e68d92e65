"""A character of two legs, and what its actions do."""

import bpy

from tests.tasks.scenes import BoneShape, add_empty, build_armature, key_places, set_range

LAST = 12
SIDES = {"L": 0.2, "R": -0.2}


def two_legs():
    """The shapes of two legs that hang from hips, with knees bent a little."""
    shapes = [BoneShape("hips", (0, 0, 2), (0, 0, 2.3))]
    for side, x in SIDES.items():
        shapes.append(BoneShape(f"thigh.{side}", (x, 0, 2), (x, -0.05, 1), "hips"))
        shapes.append(BoneShape(f"shin.{side}", (x, -0.05, 1), (x, 0, 0), f"thigh.{side}", connected=True))
    return tuple(shapes)


def stepping_targets():
    """An empty for each leg that moves up and down, and to and fro."""
    set_range(1, LAST)
    for number, (side, x) in enumerate(SIDES.items()):
        steps = [(frame + 3 * number) % LAST for frame in range(LAST)]
        key_places(add_empty(f"Target.{side}"), [(x, 0.3 * (step / LAST - 0.5), 0.3 + 0.02 * step) for step in steps])


def legs_with_targets():
    """The rig and its targets, and hips that have an action."""
    rig = build_armature(two_legs())
    stepping_targets()
    rig.pose.bones["hips"].keyframe_insert("location", frame=1)
    rig.animation_data.action.name = "Walk"
    return rig


def add_ik(rig, side, target=None):
    """An IK constraint over a leg."""
    constraint = rig.pose.bones[f"shin.{side}"].constraints.new("IK")
    constraint.target, constraint.chain_count = target or bpy.data.objects[f"Target.{side}"], 2
    return constraint


def store_chain(rig, side, **settings):
    """A stored chain of a leg."""
    chain = rig.twobone.chains.add()
    chain.name, chain.upper, chain.lower = f"Leg {side}", f"thigh.{side}", f"shin.{side}"
    chain.target, chain.plane = bpy.data.objects[f"Target.{side}"], "YZ"
    for name, value in settings.items():
        setattr(chain, name, value)
    return chain
