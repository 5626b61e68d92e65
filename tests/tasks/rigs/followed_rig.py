"""Rigs whose skin is not the chain's own: a deforming armature that copies a control rig, and bones that drivers turn."""

import bpy

from tests.tasks.rigs.switched_leg import ANKLE, HIP, KNEE, drive, switched_leg
from tests.tasks.scenes import BoneShape, build_armature

PARTS = ("thigh", "shin", "foot")


def deformed_mesh(armature, *bones):
    """A mesh that these bones of an armature deform."""
    mesh = bpy.data.objects.new("Body", bpy.data.meshes.new("Body"))
    bpy.context.scene.collection.objects.link(mesh)
    for bone in bones:
        mesh.vertex_groups.new(name=bone)
    mesh.modifiers.new("Skin", "ARMATURE").object = armature
    return mesh


def deforming_armature(control, *, prefix="game_", location=(0, 0, 0)):
    """Another armature, with a mesh, whose bones copy the control rig's `..._def` bones."""
    joints = (HIP, KNEE, ANKLE, (0, -0.3, 0))
    shapes = [
        BoneShape(prefix + part, joints[number], joints[number + 1], prefix + PARTS[number - 1] if number else "")
        for number, part in enumerate(PARTS)
    ]
    other = build_armature(shapes, "Game")
    other.location = location
    for part in PARTS:
        copy = other.pose.bones[prefix + part].constraints.new("COPY_TRANSFORMS")
        copy.target, copy.subtarget = control, f"{part}_def"
    deformed_mesh(other, *(prefix + part for part in PARTS))
    bpy.context.view_layer.update()
    return other


def switch_elsewhere(rig, owner):
    """The switched leg with its switch on another datablock."""
    owner["IK"] = 1.0
    for fcurve in rig.animation_data.drivers:
        target = fcurve.driver.variables[0].targets[0]
        target.id_type = owner.id_type
        target.id, target.data_path = owner, '["IK"]'
    rig.update_tag()
    bpy.context.view_layer.update()


def driven_leg(on_ik=1.0):
    """The switched leg, whose deforming bones have no constraints: drivers turn them after FK, and after IK where it is on.

    The property "IK" of the hip mixes.
    """
    rig = switched_leg("")
    hip = rig.pose.bones["hip"]
    hip["IK"] = on_ik
    for part in PARTS:
        bone = rig.pose.bones[f"{part}_def"]
        for constraint in list(bone.constraints):
            bone.constraints.remove(constraint)
        rig.pose.bones[f"{part}_fk"].rotation_mode = bone.rotation_mode = "XYZ"
        for axis in range(3):
            driver = bone.driver_add("rotation_euler", axis).driver
            driver.expression = "fk * (1 - mix) + 0.4 * mix"
            for name, path in (("fk", f'pose.bones["{part}_fk"].rotation_euler[{axis}]'), ("mix", 'pose.bones["hip"]["IK"]')):
                variable = driver.variables.new()
                variable.name = name
                variable.targets[0].id, variable.targets[0].data_path = rig, path
    bpy.context.view_layer.update()
    return rig


__all__ = ["PARTS", "deformed_mesh", "deforming_armature", "drive", "driven_leg", "switch_elsewhere"]
