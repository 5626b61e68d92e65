"""Contacts on a mesh: raised, tilted, stepped, moving, and where there is none."""

import json
from dataclasses import replace

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from tests.core.contacts.gait import WALK, feet_of
from tests.tasks.find_contacts.found import f1, find, frames_of, states_in
from tests.tasks.find_contacts.walker import make_walker
from tests.tasks.scenes import add_empty, key_channel, key_places

pytestmark = pytest.mark.usefixtures("empty_file")


def plane(name="Ground", *, heights=((0.0, -50.0), (0.0, 50.0))):
    """A mesh 100 units wide, as a profile of heights at places along Y."""
    vertices = [(x, y, z) for z, y in heights for x in (-50.0, 50.0)]
    faces = [(2 * i, 2 * i + 1, 2 * i + 3, 2 * i + 2) for i in range(len(heights) - 1)]
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(vertices, [], faces)
    thing = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(thing)
    return thing


def moved(feet, matrix):
    """The same motion, all of it moved by a matrix."""
    turn, shift = np.array(matrix)[:3, :3], np.array(matrix)[:3, 3]
    return replace(feet, points=feet.points @ turn.T + shift, hips=feet.hips @ turn.T + shift)


def score(report, feet):
    frames = frames_of(feet)
    pairs = [(states_in(report, side, frames) > 0, feet.states[side] > 0) for side in (0, 1)]
    return f1(*(np.concatenate([pair[which] for pair in pairs]) for which in (0, 1)))


def test_on_a_mesh_the_contacts_are_those_on_flat_ground():
    make_walker(rate=60)
    flat = find(keep=False)
    plane()
    report = find(ground="OBJECT", ground_object="Ground", keep=False)
    assert [chain["contacts"] for chain in report["chains"]] == [chain["contacts"] for chain in flat["chains"]]
    assert report["ground_height"] is None


def test_on_stairs_every_step_counts():
    """Each landing of a foot is on a step of its own: the motion is raised step by step while the foot is in the air."""
    base = feet_of(WALK, rate=60, seconds=4.0)
    rise, points = 0.15, base.points.copy()
    stride = WALK.stride * base.leg_length
    for side in (0, 1):
        landings = np.concatenate([[0], np.cumsum(np.diff((base.states[side] > 0).astype(int)) == 1)])
        first = base.points[side, 0, 0, 1] // stride
        wanted = np.where(base.states[side] > 0, (landings + first) * rise, np.nan)
        known = ~np.isnan(wanted)
        points[side, :, :, 2] += np.interp(np.arange(len(wanted)), np.flatnonzero(known), wanted[known])
    climbing = replace(base, points=points)
    make_walker(rate=60, feet=climbing)
    # Steps as high as each foot stands, as wide as a stride, one staircase for each foot.
    for side, x in ((0, 0.0), (1, -1.0)):
        stairs(f"Stairs {side}", climbing, side, x)
    bpy.context.view_layer.objects.active = bpy.data.objects["Stairs 0"]
    with bpy.context.temp_override(
        selected_editable_objects=[bpy.data.objects["Stairs 0"], bpy.data.objects["Stairs 1"]],
        active_object=bpy.data.objects["Stairs 0"],
    ):
        bpy.ops.object.join()
    report = find(armature="Walker", ground="OBJECT", ground_object="Stairs 0")
    assert score(report, climbing) >= 0.95


def stairs(name, feet, side, x):
    """A level face under each contact of one foot."""
    states, vertices, faces = feet.states[side] > 0, [], []
    edges = np.flatnonzero(np.diff(np.concatenate([[0], states, [0]]).astype(int)))
    for first, end in edges.reshape(-1, 2):
        points = feet.points[side, :, first:end]
        low, high, z = points[..., 1].min() - 0.1, points[..., 1].max() + 0.1, points[..., 2].min()
        start = len(vertices)
        vertices += [(x, low, z), (x + 1, low, z), (x + 1, high, z), (x, high, z)]
        faces.append(tuple(range(start, start + 4)))
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(vertices, [], faces)
    bpy.context.scene.collection.objects.link(bpy.data.objects.new(name, mesh))


def test_on_a_slope():
    slope = Matrix.Rotation(np.radians(20.0), 4, "X")
    feet = moved(feet_of(WALK, rate=60, seconds=3.0), slope)
    make_walker(rate=60, feet=feet)
    plane().matrix_world = slope
    assert score(find(armature="Walker", ground="OBJECT", ground_object="Ground"), feet) >= 0.95


def test_a_platform_carries_the_feet_that_stand_on_it():
    """A character walks on a platform that moves up and sideways, faster than a foot may slide."""
    base = feet_of(WALK, rate=30, seconds=3.0)
    seconds = np.arange(base.points.shape[-2]) / base.rate
    ways = np.stack([1.5 * seconds, np.zeros_like(seconds), 0.8 * np.sin(2 * seconds)], axis=-1)
    feet = replace(base, points=base.points + ways, hips=base.hips + ways)
    make_walker(rate=30, feet=feet)
    platform = plane("Platform")
    for frame, way in enumerate(ways, start=1):
        platform.location = way
        platform.keyframe_insert("location", frame=frame)
    assert score(find(armature="Walker", ground="OBJECT", ground_object="Platform"), feet) >= 0.95
    assert score(find(armature="Walker", keep=False), feet) < 0.9


def test_a_ground_with_modifiers_counts_as_it_is_seen():
    _, feet = make_walker(rate=60)
    ground = plane()
    ground.location.z = -3.0
    solid = ground.modifiers.new("Solid", "SOLIDIFY")
    solid.thickness, solid.offset = 3.0, 1.0
    assert score(find(armature="Walker", ground="OBJECT", ground_object="Ground"), feet) >= 0.95


def wave_shape_key(ground):
    ground.shape_key_add(name="Flat")
    key = ground.shape_key_add(name="Wave")
    key_channel(key, "value", {1: 0.0, 20: 1.0})


def wave_empty(ground):
    hook = ground.modifiers.new("Hook", "HOOK")
    hook.object = add_empty("Hand")
    key_places(hook.object, [(0, 0, 0), (0, 0, 1)])


def wave_nodes(ground):
    """The time of the scene, in a group within the group."""
    inner, outer = (bpy.data.node_groups.new(name, "GeometryNodeTree") for name in ("Inner", "Outer"))
    inner.nodes.new("GeometryNodeInputSceneTime")
    outer.nodes.new("GeometryNodeGroup").node_tree = inner
    follow_nodes(ground, outer)


def wave_nodes_of_empty(ground):
    tree = bpy.data.node_groups.new("Follow", "GeometryNodeTree")
    hand = add_empty("Hand")
    tree.nodes.new("GeometryNodeObjectInfo").inputs["Object"].default_value = hand
    key_places(hand, [(0, 0, 0), (0, 0, 1)])
    follow_nodes(ground, tree)


def wave_nodes_of_collection(ground):
    tree, things = bpy.data.node_groups.new("Follow", "GeometryNodeTree"), bpy.data.collections.new("Hands")
    tree.nodes.new("GeometryNodeCollectionInfo").inputs["Collection"].default_value = things
    things.objects.link(add_empty("Hand"))
    key_places(things.objects["Hand"], [(0, 0, 0), (0, 0, 1)])
    follow_nodes(ground, tree)


def wave_nodes_of_input(ground):
    """The object that the nodes follow is chosen on the modifier."""
    tree = bpy.data.node_groups.new("Follow", "GeometryNodeTree")
    follow_nodes(ground, tree)
    socket, hand = tree.interface.new_socket("Hand", in_out="INPUT", socket_type="NodeSocketObject"), add_empty("Hand")
    nodes = ground.modifiers["Nodes"]
    if bpy.app.version >= (5, 2):
        getattr(nodes.properties.inputs, socket.identifier).value = hand
    else:
        nodes[socket.identifier] = hand
    key_places(hand, [(0, 0, 0), (0, 0, 1)])


def follow_nodes(ground, tree):
    """The mesh goes through the nodes unchanged: what counts is what they hold."""
    for way in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=way, socket_type="NodeSocketGeometry")
    start, end = (tree.nodes.new(f"NodeGroup{way}") for way in ("Input", "Output"))
    tree.links.new(start.outputs[0], end.inputs[0])
    ground.modifiers.new("Nodes", "NODES").node_group = tree


WAVES = [
    wave_shape_key,
    wave_empty,
    wave_nodes,
    wave_nodes_of_empty,
    wave_nodes_of_collection,
    wave_nodes_of_input,
    lambda ground: ground.modifiers.new("Sea", "OCEAN"),
]


@pytest.mark.parametrize("deform", WAVES)
def test_a_ground_that_changes_its_shape_is_named(deform):
    make_walker(rate=30, seconds=0.5)
    ground = plane()
    key_places(ground, [(0, 0, 0), (0, 0, 0.001)])
    still = find(armature="Walker", ground="OBJECT", ground_object="Ground")
    assert still["held_ground"] == ""
    assert "shape" not in still["sentence"]
    deform(ground)
    changing = find(armature="Walker", ground="OBJECT", ground_object="Ground")
    assert changing["held_ground"] == "Ground"


def test_beside_the_ground_nothing_stands_and_that_is_said():
    _, feet = make_walker(rate=60)
    whole = plane("Whole")
    report = find(armature="Walker", ground="OBJECT", ground_object="Whole")
    assert not any("ends under" in note for note in report["notes"])
    bpy.data.objects.remove(whole)
    plane(heights=((0.0, -50.0), (0.0, 1.5)))
    report = find(armature="Walker", ground="OBJECT", ground_object="Ground")
    beyond = frames_of(feet)[feet.points[0, 0, :, 1] > 1.6]
    assert len(beyond) > 30
    assert not states_in(report, 0, beyond).any()
    assert states_in(report, 0, frames_of(feet)).any()
    assert any(note.startswith('Ground "Ground" ends under ') for note in report["notes"])


@pytest.mark.parametrize(
    "name, found",
    [
        ("", "No ground object is chosen"),
        ("Nowhere", "is not in this file"),
        ("Empty", "has no surface"),
        ("Far", "is not below"),
    ],
)
def test_a_wrong_ground_is_refused_with_a_sentence(name, found):
    make_walker(rate=30, seconds=0.5)
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("Empty", None))
    plane("Far").location.x = 500.0
    with pytest.raises(RuntimeError, match=found):
        bpy.ops.twobone.find_contacts(armature="Walker", ground="OBJECT", ground_object=name)
    assert not json.loads(bpy.context.window_manager.twobone_report or "{}")
