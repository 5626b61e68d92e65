"""What a person does before pressing a button, and what they compare afterwards."""

import bpy

from twobone_addon.pipeline.plan.stored import stored_values


def select_bones(rig, *names):
    """Pose Mode on the rig, with exactly these bones selected."""
    bpy.context.view_layer.objects.active = rig
    if rig.mode != "POSE":
        bpy.ops.object.mode_set(mode="POSE")
    for bone in rig.pose.bones:
        holder = bone if hasattr(bone, "select") else bone.bone
        holder.select = bone.name in names


def chain_values(chain):
    """All settings of a stored chain, objects by name."""
    return stored_values(chain.id_data, chain)


def joints_world(rig, upper, lower, tip=None):
    """Evaluated root, middle joint and tip; the tip is the lower bone's tail, or the head of the bone named."""
    evaluated = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
    bones = evaluated.pose.bones
    end = bones[tip].head if tip else bones[lower].tail
    return [evaluated.matrix_world @ place for place in (bones[upper].head, bones[lower].head, end)]
