"""The plane that a chain gets where nobody has chosen one: the pose's, in a flat rig the letter plane that it lies in."""

import math
from dataclasses import replace

import bpy
import numpy as np
import pytest

from tests.interface.acting import select_bones
from tests.tasks.checks.orientations import UNSEEN, degrees_between, posed
from tests.tasks.scenes import BoneShape, Limb, add_empty, bake, build_armature, key_channel, set_range
from twobone_addon.pipeline.plan.found_chain import find_chain
from twobone_addon.pipeline.plan.planes_of_rig import fitting_letters
from twobone_addon.settings import BakeSettings

RIG = Limb("Rig")


def cut_out(*, knee=0.05, side=1.0, layer=0.0):
    """A flat puppet in the plane XZ: a spine, an arm that is spread, a leg that hangs down."""
    at = lambda x, z, y=0.0: (x, y, z)  # noqa: E731 - a plane's coordinates
    return build_armature(
        (
            BoneShape("spine", at(0, 1), at(0, 1.6)),
            BoneShape("arm", at(0, 1.5, layer), at(0.4, 1.5, layer), "spine"),
            BoneShape("upper", at(0, 1, -layer), at(knee * side, 0.5, -layer), "spine"),
            BoneShape("lower", at(knee * side, 0.5, -layer), at(0, 0, -layer), "upper", connected=True),
        )
    )


def chosen_for(rig):
    select_bones(rig, "lower")
    bpy.ops.twobone.add_target()
    chain = rig.twobone.chains[0]
    return chain.plane, chain.bend, chain.reference


@pytest.mark.parametrize("layer", [0.0, 0.004])
@pytest.mark.parametrize("side, bend", [(1.0, "NEGATIVE"), (-1.0, "POSITIVE")])
def test_a_cut_out_keeps_to_its_plane_and_to_the_side_of_its_rest_bend(empty_file, layer, side, bend):
    """Seen from the front, X to the right and Z up: a knee to the right is a shin that turns clockwise."""
    assert chosen_for(cut_out(side=side, layer=layer)) == ("XZ", bend, "REST")


def test_a_straight_limb_of_a_cut_out_has_the_cut_outs_plane(empty_file):
    assert chosen_for(cut_out(knee=0.0))[0] == "XZ"


def test_a_flat_rig_that_is_posed_in_space_is_none(empty_file):
    """A skeleton in a T-pose may be flat and still be a person."""
    rig = cut_out()
    rig.pose.bones["arm"].rotation_mode = "XYZ"
    rig.pose.bones["arm"].rotation_euler = (0.4, 0, 0.7)
    bpy.context.view_layer.update()
    assert chosen_for(rig) == ("POSE", "POSITIVE", "POSE")


@pytest.mark.parametrize("depth, plane", [(0.0, "XZ"), (0.02, "XZ"), (0.4, "POSE")])
def test_meshes_tell_a_cut_out_from_a_person_with_flat_bones(empty_file, depth, plane):
    rig = cut_out()
    bpy.ops.mesh.primitive_cube_add()
    body = bpy.context.object
    body.parent, body.location = rig, (0, 0, 1.3)
    bpy.context.view_layer.update()
    body.dimensions = (0.4, max(depth, 1e-6), 0.5)
    bpy.context.view_layer.objects.active = rig
    bpy.context.view_layer.update()
    assert chosen_for(rig)[0] == plane


LONE_LEG = (
    BoneShape("upper", (0, 0, 1), (0, -0.05, 0.55)),
    BoneShape("lower", (0, -0.05, 0.55), (0, 0, 0.1), "upper", connected=True),
    BoneShape("foot", (0, 0, 0.1), (0, -0.15, 0), "lower", connected=True),
    BoneShape("heel", (0, 0, 0.1), (0, 0.05, 0), "lower"),
)
CONTROL = BoneShape("control", (0, 0, 0.1), (0, 0.2, 0.1), "hips")
HIPS = BoneShape("hips", (0, 0, 1), (0, 0, 1.2))


@pytest.mark.parametrize("above", [(), (HIPS, CONTROL)], ids=["alone", "under hips with a control"])
def test_a_lone_leg_in_a_letter_plane_reaches_targets_beside_it(empty_file, above):
    hung = tuple(replace(shape, parent=shape.parent or "hips") if above else shape for shape in LONE_LEG)
    rig = build_armature((*above, *hung))
    if above:
        rig.data.bones["control"].use_deform = False
    target = add_empty()
    for frame, place in {1: (0.2, 0.1, 0.25), 10: (-0.2, -0.3, 0.4), 20: (0.1, 0.2, 0.3)}.items():
        key_channel(target, "location", {frame: place})
    set_range(1, 20)
    bake(Limb("Rig", carrier="foot"), tip="foot", target="Target")
    off = []
    for frame in range(1, 21):
        bpy.context.scene.frame_set(frame)
        off.append((rig.pose.bones["foot"].head - target.matrix_world.translation).length)
    assert max(off) < 1e-5


def test_a_lone_limb_with_a_flat_mesh_is_a_cut_out(empty_file):
    rig = build_armature(LONE_LEG)
    bpy.ops.mesh.primitive_plane_add(size=0.3, rotation=(0, math.pi / 2, 0))
    bpy.context.object.parent = rig
    bpy.context.view_layer.objects.active = rig
    bpy.context.view_layer.update()
    assert chosen_for(rig)[0] == "YZ"


def leg_under_hip(**more):
    return build_armature(
        (
            BoneShape("hip", (0, 0.1, 1), (0, 0.1, 1.2)),
            BoneShape("upper", (0.1, 0, 1), (0.1, -0.05, 0.5), "hip", **more),
            BoneShape("lower", (0.1, -0.05, 0.5), (0.1, 0, 0), "upper", connected=True),
        )
    )


def test_the_letter_plane_that_fits_is_the_one_of_the_rest_bend(empty_file):
    rig = leg_under_hip()
    settings = BakeSettings(upper="upper", lower="lower")
    assert fitting_letters(find_chain(settings, rig)) == {"plane": "YZ", "plane_space": "ARMATURE", "bend": "POSITIVE"}
    flat = cut_out(knee=0.0)
    assert fitting_letters(find_chain(settings, flat))["plane"] == "XZ"


@pytest.fixture
def twisted_leg(empty_file):
    """A leg that is posed out of every letter plane, and a target on its tip."""
    set_range(1, 5)
    rig = leg_under_hip(roll=0.7)
    for name, turn in (("upper", (0.4, 0.5, 0.3)), ("lower", (-0.7, 0.2, 0.1))):
        rig.pose.bones[name].rotation_mode = "XYZ"
        key_channel(rig.pose.bones[name], "rotation_euler", {1: turn})
    bpy.context.view_layer.update()
    add_empty().location = rig.pose.bones["lower"].tail
    return rig


def turned(rig, **chosen):
    before = posed(rig, ["upper", "lower"], range(1, 6))
    bake(RIG, target="Target", **chosen)
    return degrees_between(before, posed(rig, ["upper", "lower"], range(1, 6))).max()


def test_a_script_that_names_no_plane_leaves_alone_what_is_right(twisted_leg):
    assert turned(twisted_leg) < UNSEEN


@pytest.mark.parametrize(
    "named",
    [{"plane": "YZ"}, {"plane_space": "WORLD"}, {"depth": "FLATTEN"}],
    ids=lambda named: next(iter(named)),
)
def test_what_a_script_names_of_a_letter_plane_means_one(twisted_leg, named):
    assert turned(twisted_leg, **named) > 5


def test_a_reference_that_is_named_is_used(twisted_leg):
    """From the rest pose the twist of the pose is gone, its joints are not."""
    tip = np.array(twisted_leg.pose.bones["lower"].tail)
    assert turned(twisted_leg, reference="REST") > 1
    assert np.abs(np.array(twisted_leg.pose.bones["lower"].tail) - tip).max() < 1e-5


def test_a_stored_chain_of_older_files_keeps_its_plane(empty_file):
    """Files hold the number of a choice; these are the ones that were there first."""
    numbers = {"XY": 0, "XZ": 1, "YZ": 2, "REST": 3, "POLE": 4, "OBJECT": 5}
    items = type(leg_under_hip().twobone.chains.add()).bl_rna.properties["plane"].enum_items
    assert {name: items[name].value for name in numbers} == numbers
    chain = bpy.data.objects["Rig"].twobone.chains[0]
    assert (chain.plane, chain.bend, chain.reference) == ("YZ", "POSITIVE", "REST")
    chain.upper, chain.lower, chain.target = "upper", "lower", add_empty()
    chain.target.location = (0.3, 0.1, 0.4)
    set_range(1, 2)
    bpy.ops.twobone.bake_all(scope="ACTIVE")
    # In the plane YZ, which the target has left, so the limb is where it always was.
    assert abs(bpy.data.objects["Rig"].pose.bones["lower"].tail.x - 0.1) < 1e-6
    assert math.isclose(bpy.data.objects["Rig"].pose.bones["lower"].tail.z, 0.4, abs_tol=1e-5)
