"""A mirrored chain follows a mirrored target: made where there is none, in motion the mirror image on every frame."""

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix, Vector

from tests.interface.acting import select_bones
from tests.tasks.rigs.two_legs import legs
from tests.tasks.scenes import add_empty
from twobone_addon.scene.keys.reading import key_frames

LAST = 8


def plain(_rig, target):
    target.rotation_mode = "XYZ"
    for frame, place, turn in (
        (1, (0.2, 0.1, 0.2), (0, 0, 0)),
        (4, (0.4, -0.3, 0.5), (0.5, 0.7, 1.9)),
        (8, (0.1, 0.4, 0.3), (0.1, 0.2, -0.6)),
    ):
        target.location, target.rotation_euler = place, turn
        target.keyframe_insert("location", frame=frame)
        target.keyframe_insert("rotation_euler", frame=frame)


def turned(rig, target):
    """The armature stands elsewhere and is turned: the mirror is no plane of the world."""
    rig.matrix_world = Matrix.Translation((1, 2, 0)) @ Euler((0.2, 0.3, 0.7)).to_matrix().to_4x4()
    plain(rig, target)


def turned_by_a_quarter(rig, target):
    rig.matrix_world = Matrix.Translation((1, 2, 0)) @ Euler((0, 0, np.pi / 2)).to_matrix().to_4x4()
    plain(rig, target)


def moving_armature(rig, target):
    plain(rig, target)
    for frame, place in ((1, (0, 0, 0)), (8, (3, 1, 0))):
        rig.location = place
        rig.keyframe_insert("location", frame=frame)


def on_the_armature(rig, target):
    moving_armature(rig, target)
    target.parent = rig


def on_a_bone(rig, target):
    """The bones on both sides move as mirror images, so what hangs from them does."""
    plain(rig, target)
    target.parent, target.parent_type, target.parent_bone = rig, "BONE", "hip"
    target.matrix_parent_inverse = Matrix.Translation((0.3, 0, -1))


def constrained(_rig, target):
    leader = add_empty("Leader")
    plain(None, leader)
    target.constraints.new("COPY_LOCATION").target = leader


def driven(_rig, target):
    target.driver_add("location", 1).driver.expression = "frame * 0.05"
    target.location = (0.3, 0, 0.2)


def carried(_rig, target):
    cart = add_empty("Cart")
    plain(None, cart)
    target.parent = cart
    target.location = (0.1, 0.2, 0.3)


WAYS = [plain, turned, turned_by_a_quarter, moving_armature, on_the_armature, on_a_bone, constrained, driven, carried]


def mirrored_leg(rig):
    select_bones(rig, "thigh.L")
    if not rig.twobone.chains:
        bpy.ops.twobone.chain_add()
    bpy.ops.twobone.chain_mirror()
    return rig.twobone.chains[-1]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("name", ["Target foot.L", "Empty"])
def test_the_other_target_is_the_mirror_image_on_every_frame(empty_file, way, name):
    rig = legs()
    bpy.context.scene.frame_end = LAST
    select_bones(rig, "thigh.L")
    bpy.ops.twobone.chain_add()
    target = rig.twobone.chains[0].target = add_empty(name)
    way(rig, target)
    bpy.context.view_layer.update()
    other = mirrored_leg(rig).target
    assert other != target
    assert other.name == "Target foot.R"
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)
        inverse = rig.matrix_world.inverted()
        left, right = ((inverse @ thing.matrix_world).translation for thing in (target, other))
        assert tuple(right) == pytest.approx((-left.x, left.y, left.z), abs=2e-5), frame


def test_orientations_are_mirrored_as_well(empty_file):
    rig = legs()
    select_bones(rig, "thigh.L")
    bpy.ops.twobone.chain_add()
    target = rig.twobone.chains[0].target = add_empty("Target.L")
    plain(rig, target)
    other = mirrored_leg(rig).target
    for frame in (1, 3, 6, 8):
        bpy.context.scene.frame_set(frame)
        across = np.diag([-1.0, 1.0, 1.0])
        expected = across @ np.array(target.matrix_world.to_3x3()) @ across
        assert np.allclose(other.matrix_world.to_3x3(), expected, atol=1e-5)


def test_keys_stay_as_few_as_they_were(empty_file):
    rig = legs()
    select_bones(rig, "thigh.L")
    bpy.ops.twobone.chain_add()
    target = rig.twobone.chains[0].target = add_empty("Target.L")
    plain(rig, target)
    other = mirrored_leg(rig).target
    assert other.animation_data.action != target.animation_data.action
    assert [round(frame) for frame in key_frames(other)] == [1, 4, 8]


def test_a_target_that_is_there_is_taken_and_one_that_the_other_side_has_is_kept(empty_file):
    rig = legs()
    select_bones(rig, "thigh.L")
    bpy.ops.twobone.chain_add()
    rig.twobone.chains[0].target = add_empty("Here")
    other = mirrored_leg(rig)
    own = other.target = add_empty("Elsewhere")
    rig.twobone.active_index = 0
    bpy.ops.twobone.chain_mirror()
    assert rig.twobone.chains[1].target == own
    assert len(rig.twobone.chains) == 2


def test_a_pole_in_the_middle_is_shared_and_one_at_the_side_is_not(empty_file):
    rig = legs()
    select_bones(rig, "thigh.L")
    bpy.ops.twobone.chain_add()
    chain = rig.twobone.chains[0]
    chain.pole, chain.plane_object = add_empty("Pole"), add_empty("Plane")
    chain.pole.location, chain.plane_object.location = (0, -2, 0.5), (0.5, 0, 0)
    bpy.context.view_layer.update()
    other = mirrored_leg(rig)
    assert other.pole == chain.pole
    assert tuple(other.plane_object.location) == pytest.approx((-0.5, 0, 0))


def test_a_bone_without_another_side_is_followed_by_a_new_target(empty_file):
    rig, guide = legs(), legs()
    guide.data.bones["foot.L"].name = "guide"
    select_bones(rig, "thigh.L")
    bpy.ops.twobone.chain_add()
    chain = rig.twobone.chains[0]
    chain.target, chain.target_bone = guide, "guide"
    other = mirrored_leg(rig)
    assert (other.target.type, other.target_bone) == ("EMPTY", "")
    bpy.context.view_layer.update()
    assert other.target.matrix_world.translation.x == pytest.approx(-0.1, abs=1e-5)


def test_the_mirrored_leg_stands_as_the_mirror_image_after_the_bake(empty_file):
    rig = legs()
    select_bones(rig, "thigh.L")
    bpy.ops.twobone.add_target()
    target = rig.twobone.chains[0].target
    target.location = (0.15, 0.1, 0.3)
    mirrored_leg(rig)
    bpy.context.scene.frame_end = 1
    bpy.ops.twobone.bake_all()
    knees = {side: rig.pose.bones[f"shin.{side}"].head for side in "LR"}
    assert tuple(knees["R"]) == pytest.approx((-knees["L"].x, knees["L"].y, knees["L"].z), abs=1e-5)


def test_one_undo_takes_chain_and_target_back(empty_file):
    rig = legs()
    select_bones(rig, "thigh.L")
    bpy.ops.twobone.add_target()
    bpy.ops.ed.undo_push(message="target")
    bpy.ops.twobone.chain_mirror("EXEC_DEFAULT", True)  # noqa: FBT003 - asks for an undo step, as a click would
    assert "Target foot.R" in bpy.data.objects
    bpy.ops.ed.undo()
    assert "Target foot.R" not in bpy.data.objects
    assert len(bpy.data.objects["Rig"].twobone.chains) == 1


def test_the_other_side_is_where_the_character_has_walked_to(empty_file):
    rig = legs()
    rig.pose.bones["hip"].location = rig.data.bones["hip"].matrix_local.to_3x3().inverted() @ Vector((5.0, 2.0, 0.0))
    bpy.context.view_layer.update()
    target = add_empty("Target.L")
    target.location = (5.3, 2.1, 0.2)
    chain = rig.twobone.chains.add()
    chain.name, chain.upper, chain.lower, chain.target = "Leg.L", "thigh.L", "shin.L", target
    assert bpy.ops.twobone.chain_mirror() == {"FINISHED"}
    middle = (rig.matrix_world @ rig.pose.bones["hip"].head).x
    assert rig.twobone.chains["Leg.R"].target.location.x == pytest.approx(2 * middle - 5.3, abs=1e-5)
