"""A robot as model libraries have them: feet and poles that hang from the root and are what the legs' IK follows, arms that
are turned by keys, and a head whose shape keys play the same actions.
"""

import bpy

from tests.tasks.rigs.followed_rig import deformed_mesh
from tests.tasks.rigs.many_actions import clear_pose, play
from tests.tasks.scenes import BoneShape, build_armature, key_channel

LAST = 12
ACTIONS = {"Walk": 0.15, "Sneak": 0.12}
"""Names, and how far the feet go, always in reach."""
LEGS = tuple((f"UpperLeg{side}", f"LowerLeg{side}", f"Foot{side}") for side in "LR")
ARMS = tuple((f"UpperArm{side}", f"LowerArm{side}", f"Palm{side}") for side in "LR")


def _side(side, x):
    return (
        BoneShape(f"UpperLeg{side}", (0.2 * x, 0, 1.0), (0.2 * x, -0.06, 0.55), "Body"),
        BoneShape(f"LowerLeg{side}", (0.2 * x, -0.06, 0.55), (0.2 * x, 0, 0.1), f"UpperLeg{side}", connected=True),
        BoneShape(f"Foot{side}", (0.2 * x, 0, 0.1), (0.2 * x, -0.25, 0.05), "Bone"),
        BoneShape(f"PoleTarget{side}", (0.2 * x, -0.9, 0.55), (0.2 * x, -1.1, 0.55), "Bone"),
        BoneShape(f"UpperArm{side}", (0.3 * x, 0, 1.6), (0.6 * x, 0.05, 1.5), "Body"),
        BoneShape(f"LowerArm{side}", (0.6 * x, 0.05, 1.5), (0.9 * x, 0, 1.4), f"UpperArm{side}", connected=True),
        BoneShape(f"Palm{side}", (0.9 * x, 0, 1.4), (1.0 * x, 0, 1.35), f"LowerArm{side}", connected=True),
    )


def robot(farther=1.0):
    """The rig on IK, which plays the first of its actions; its feet go so many times as far."""
    trunk = BoneShape("Bone", (0, 0, 0), (0, 0.3, 0)), BoneShape("Body", (0, 0, 1.0), (0, 0, 1.7), "Bone")
    rig = build_armature((*trunk, *_side("L", 1), *_side("R", -1)), "Robot")
    for side in "LR":
        ik = rig.pose.bones[f"LowerLeg{side}"].constraints.new("IK")
        ik.target, ik.subtarget, ik.chain_count, ik.use_stretch = rig, f"Foot{side}", 2, False
        ik.pole_target, ik.pole_subtarget = rig, f"PoleTarget{side}"
    for name, way in ACTIONS.items():
        _key(rig, name, way * farther)
    _with_a_head(rig)
    for side in "LR":
        deformed_mesh(rig, f"Foot{side}")
    clear_pose(rig)
    play(rig, "Walk")
    return rig


def _key(rig, name, way):
    clear_pose(rig)
    rig.animation_data_create().action = None
    bones = rig.pose.bones
    key_channel(bones["Body"], "location", {1: (0, -0.1, 0), 6: (0.02, -0.14, 0), LAST: (0, -0.1, 0)})
    for side, turn in (("L", 1), ("R", -1)):
        key_channel(bones[f"Foot{side}"], "location", {1: (0, way * turn, 0), 6: (0, -way * turn, 0.1), LAST: (0, way * turn, 0)})
        key_channel(
            bones[f"UpperArm{side}"],
            "rotation_quaternion",
            {1: (1, 0, 0.3 * turn, 0.2), 6: (1, 0.2, -0.3 * turn, 0), LAST: (1, 0, 0.3 * turn, 0.2)},
        )
    rig.animation_data.action.name = name
    rig.animation_data.action.use_fake_user = True


def _with_a_head(rig):
    """A mesh whose shape key plays the first action, by a slot of its own; before 4.4 an action is of one object alone."""
    data = bpy.data.meshes.new("Head")
    data.from_pydata([(0, 0, 1.8), (0.1, 0, 1.8), (0, 0, 2)], [], [(0, 1, 2)])
    head = bpy.data.objects.new("Head", data)
    bpy.context.scene.collection.objects.link(head)
    head.parent = rig
    head.shape_key_add(name="Basis")
    head.shape_key_add(name="Smile")
    smile = data.shape_keys
    action = bpy.data.actions["Walk"]
    if hasattr(action, "slots"):
        smile.animation_data_create().action = action
        smile.animation_data.action_slot = action.slots.new("KEY", "Head")
    for frame, value in ((1, 0.0), (LAST, 1.0)):
        smile.key_blocks["Smile"].value = value
        smile.key_blocks["Smile"].keyframe_insert("value", frame=frame)
