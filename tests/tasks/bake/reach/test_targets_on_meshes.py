"""A target that is held by a mesh whose nodes read a bone: where it is at the first frame is where Blender shows it there."""

import bpy
import numpy as np
import pytest

from tests.interface.acting import joints_world
from tests.tasks.scenes import LEG, add_empty, bake, build_armature, key_places, set_range

FRAMES = range(1, 21)


def mesh_on_bone(armature, bone):
    """A vertex that nodes carry to where a bone is, seen from the mesh."""
    mesh = bpy.data.meshes.new("Spot")
    mesh.from_pydata([(0.1, 0.2, -0.4)], [], [])
    thing = bpy.data.objects.new("Spot", mesh)
    bpy.context.scene.collection.objects.link(thing)
    tree = bpy.data.node_groups.new("Spot", "GeometryNodeTree")
    for side in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=side, socket_type="NodeSocketGeometry")
    start, end, info, split, move = map(
        tree.nodes.new,
        ("NodeGroupInput", "NodeGroupOutput", "GeometryNodeBoneInfo", "FunctionNodeSeparateTransform", "GeometryNodeSetPosition"),
    )
    info.inputs["Armature"].default_value, info.inputs["Bone Name"].default_value = armature, bone
    info.transform_space = "RELATIVE"
    for out, into in ((start.outputs[0], move.inputs[0]), (info.outputs["Transform Pose"], split.inputs[0])):
        tree.links.new(out, into)
    tree.links.new(split.outputs[0], move.inputs["Offset"])
    tree.links.new(move.outputs[0], end.inputs[0])
    thing.modifiers.new("Spot", "NODES").node_group = tree
    return thing


@pytest.mark.skipif(not hasattr(bpy.types, "GeometryNodeBoneInfo"), reason="this Blender has no Bone Info")
def test_a_target_on_a_mesh_that_reads_a_bone_is_reached_at_the_first_frame_too(empty_file):
    set_range(FRAMES[0], FRAMES[-1])
    rig, carrier = build_armature(LEG), build_armature(LEG, "Carrier")
    key_places(carrier.pose.bones["upper"], [(0.0, 0.01 * frame, 0.02 * frame) for frame in FRAMES], FRAMES[0])
    target = add_empty("Target")
    held = target.constraints.new("GEOMETRY_ATTRIBUTE")
    held.target, held.attribute_name, held.data_type = mesh_on_bone(carrier, "upper"), "position", "VECTOR"
    bpy.context.scene.frame_set(17)
    bake(armature="Rig", upper="upper", lower="lower", target="Target", plane="YZ")
    missed = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        seen = target.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world.translation
        missed.append(np.array(joints_world(rig, "upper", "lower")[2] - seen)[1:])
    assert np.abs(missed).max() < 1e-5
