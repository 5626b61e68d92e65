"""The list of chains on the armature: add, remove, move, duplicate, mirror; kept in the file."""

import math

import bpy
import pytest

from tests.interface.acting import chain_values, select_bones
from tests.tasks.rigs.two_legs import SIDES, legs
from tests.tasks.scenes import add_empty, build_armature


def test_a_chain_added_from_one_bone_is_the_limb_as_it_is_posed(empty_file):
    rig = legs()
    select_bones(rig, "thigh.L")
    bpy.ops.twobone.chain_add()
    chain = rig.twobone.chains[0]
    assert (chain.upper, chain.lower, chain.tip, chain.name) == ("thigh.L", "shin.L", "", "foot.L")
    assert (chain.plane, chain.reference, chain.bend) == ("POSE", "POSE", "POSITIVE")


def test_a_third_bone_is_the_tip(empty_file):
    rig = legs()
    select_bones(rig, "thigh.L", "shin.L", "foot.L")
    bpy.ops.twobone.chain_add()
    assert rig.twobone.chains[0].tip == "foot.L"


def test_without_a_selection_one_sentence_says_what_to_select(empty_file):
    rig = legs()
    select_bones(rig)
    with pytest.raises(RuntimeError, match="Select the upper and the lower bone"):
        bpy.ops.twobone.chain_add()
    assert not rig.twobone.chains


def test_names_stay_apart(empty_file):
    rig = legs()
    select_bones(rig, "thigh.L")
    for _ in range(3):
        bpy.ops.twobone.chain_add()
    assert [chain.name for chain in rig.twobone.chains] == ["foot.L", "foot.L.001", "foot.L.002"]
    rig.twobone.chains[2].name = "foot.L"  # as the list lets a user do
    bpy.ops.twobone.chain_duplicate()
    assert [chain.name for chain in rig.twobone.chains] == ["foot.L", "foot.L.001", "foot.L.002", "foot.L.003"]


def test_chains_are_moved_duplicated_and_removed(empty_file):
    rig = legs()
    for bone in ("thigh.L", "thigh.R"):
        select_bones(rig, bone)
        bpy.ops.twobone.chain_add()
    bpy.ops.twobone.chain_move(direction="UP")
    assert [chain.upper for chain in rig.twobone.chains] == ["thigh.R", "thigh.L"]
    assert rig.twobone.active_index == 0
    rig.twobone.chains[0].softness = 0.25
    rig.twobone.chains[0].target = add_empty()
    bpy.ops.twobone.chain_duplicate()
    assert chain_values(rig.twobone.chains[2]) == chain_values(rig.twobone.chains[0])
    bpy.ops.twobone.chain_remove()
    assert len(rig.twobone.chains) == 2
    assert rig.twobone.active_index == 1


def test_moving_past_the_end_does_nothing(empty_file):
    rig = legs()
    select_bones(rig, "thigh.L")
    bpy.ops.twobone.chain_add()
    assert bpy.ops.twobone.chain_move(direction="DOWN") == {"CANCELLED"}


def test_mirroring_flips_bones_target_pole_and_name(empty_file):
    rig = legs()
    targets = {side: add_empty(f"Target foot.{side}") for side in SIDES}
    pole = add_empty("Pole")
    select_bones(rig, "thigh.L")
    bpy.ops.twobone.chain_add()
    chain = rig.twobone.chains[0]
    chain.target, chain.pole, chain.softness, chain.tip = targets["L"], pole, 0.1, "foot.L"
    bpy.ops.twobone.chain_mirror()
    other = rig.twobone.chains[1]
    assert (other.upper, other.lower, other.tip, other.name) == ("thigh.R", "shin.R", "foot.R", "foot.R")
    assert other.target == targets["R"]
    assert other.pole == pole
    assert other.softness == pytest.approx(0.1)


def test_bones_that_are_followed_are_mirrored_as_well(empty_file):
    rig, guide = legs(), legs()
    select_bones(rig, "thigh.L")
    bpy.ops.twobone.chain_add()
    chain = rig.twobone.chains[0]
    chain.target, chain.target_bone = guide, "foot.L"
    chain.pole, chain.pole_bone = guide, "hip"
    bpy.ops.twobone.chain_mirror()
    other = rig.twobone.chains[1]
    assert (other.target, other.target_bone, other.pole, other.pole_bone) == (guide, "foot.R", guide, "hip")


def test_what_the_limb_is_goes_with_a_copy_and_over_to_the_other_side(empty_file):
    rig = legs()
    select_bones(rig, "thigh.L")
    bpy.ops.twobone.chain_add()
    chain = rig.twobone.chains[0]
    assert (chain.limb, chain.side, chain.toe) == ("NONE", "CENTER", "")
    chain.limb, chain.side, chain.toe = "LEG", "LEFT", "foot.L"
    bpy.ops.twobone.chain_duplicate()
    rig.twobone.active_index = 0
    bpy.ops.twobone.chain_mirror()
    copy, other = rig.twobone.chains[1:]
    assert (copy.limb, copy.side, copy.toe) == ("LEG", "LEFT", "foot.L")
    assert (other.limb, other.side, other.toe) == ("LEG", "RIGHT", "foot.R")


def test_a_toe_that_the_other_side_lacks_is_not_made_up(empty_file):
    rig = legs()
    rig.data.bones["foot.R"].name = "hoof"
    select_bones(rig, "thigh.L")
    bpy.ops.twobone.chain_add()
    rig.twobone.chains[0].toe = "foot.L"
    bpy.ops.twobone.chain_mirror()
    assert rig.twobone.chains[1].toe == ""


@pytest.mark.parametrize(
    "renamed, sentence",
    [({"thigh.L": "thigh"}, 'The name of bone "thigh" has no side'), ({"shin.R": "calf.R"}, 'has no bone "shin.R" to mirror')],
    ids=["no side", "no other side"],
)
def test_a_limb_without_another_side_is_not_mirrored(empty_file, renamed, sentence):
    rig = legs()
    for name, new in renamed.items():
        rig.data.bones[name].name = new
    select_bones(rig, renamed.get("thigh.L", "thigh.L"))
    bpy.ops.twobone.chain_add()
    with pytest.raises(RuntimeError, match=sentence):
        bpy.ops.twobone.chain_mirror()
    assert len(rig.twobone.chains) == 1


def test_mirroring_again_changes_the_other_sides_chain_instead_of_adding_one(empty_file):
    rig = legs()
    select_bones(rig, "thigh.L")
    bpy.ops.twobone.chain_add()
    bpy.ops.twobone.chain_mirror()
    rig.twobone.chains[1].softness = 0.3
    bpy.ops.twobone.chain_mirror()
    assert len(rig.twobone.chains) == 2
    assert rig.twobone.chains[0].softness == pytest.approx(0.3)


@pytest.mark.parametrize("space", ["ARMATURE", "WORLD", "PARENT"])
@pytest.mark.parametrize("plane", ["XY", "XZ", "YZ"])
@pytest.mark.parametrize("bend", ["POSITIVE", "NEGATIVE"])
def test_a_mirrored_chain_moves_as_the_mirror_image(empty_file, plane, space, bend):
    rig = legs(straight=True)
    targets = {side: add_empty(f"Target.{side}") for side in SIDES}
    for side, sign in SIDES.items():
        targets[side].location = (0.1 * sign + 0.15 * sign, 0.3, 0.35)
    select_bones(rig, "thigh.L")
    bpy.ops.twobone.chain_add()
    chain = rig.twobone.chains[0]
    chain.target, chain.plane, chain.plane_space, chain.bend = targets["L"], plane, space, bend
    bpy.ops.twobone.chain_mirror()
    bpy.context.scene.frame_end = 1
    bpy.ops.twobone.bake_all()
    knees = {side: rig.pose.bones[f"shin.{side}"].head for side in SIDES}
    assert (knees["R"].x, knees["R"].y, knees["R"].z) == pytest.approx((-knees["L"].x, knees["L"].y, knees["L"].z), abs=1e-5)


@pytest.mark.parametrize("bend", ["POSITIVE", "NEGATIVE"])
def test_limbs_on_both_sides_that_share_a_plane_object_move_as_mirror_images(empty_file, bend):
    rig, board = legs(straight=True), add_empty("Board")
    board.rotation_euler.x = -math.pi / 2  # It stands across the mirror, so the other limb bends the other way about its normal.
    targets = {side: add_empty(f"Target.{side}") for side in SIDES}
    for side, sign in SIDES.items():
        targets[side].location = (0.25 * sign, 0.0, 0.35)
    select_bones(rig, "thigh.L")
    bpy.ops.twobone.chain_add()
    chain = rig.twobone.chains[0]
    chain.target, chain.plane, chain.plane_object, chain.bend = targets["L"], "OBJECT", board, bend
    bpy.ops.twobone.chain_mirror()
    bpy.context.scene.frame_end = 1
    bpy.ops.twobone.bake_all()
    knees = {side: rig.pose.bones[f"shin.{side}"].head for side in SIDES}
    assert (knees["R"].x, knees["R"].y, knees["R"].z) == pytest.approx((-knees["L"].x, knees["L"].y, knees["L"].z), abs=1e-5)


def test_joint_limits_are_mirrored_with_the_seen_side(empty_file):
    rig = legs()
    select_bones(rig, "thigh.L")
    bpy.ops.twobone.chain_add()
    chain = rig.twobone.chains[0]
    chain.plane, chain.lower_min, chain.lower_max = "XZ", 0.1, 2.0
    bpy.ops.twobone.chain_mirror()
    other = rig.twobone.chains[1]
    assert (other.lower_min, other.lower_max) == pytest.approx((-2.0, -0.1))


def test_a_bone_without_a_side_cannot_be_mirrored(empty_file):
    rig = build_armature()
    select_bones(rig, "upper", "lower")
    bpy.ops.twobone.chain_add()
    with pytest.raises(RuntimeError, match="has no side"):
        bpy.ops.twobone.chain_mirror()
    assert len(rig.twobone.chains) == 1


def test_chains_are_kept_in_the_file(empty_file, tmp_path):
    rig = legs()
    select_bones(rig, "thigh.L")
    bpy.ops.twobone.chain_add()
    chain = rig.twobone.chains[0]
    chain.target, chain.bend, chain.keys = add_empty(), "NEGATIVE", "REDUCE"
    bpy.ops.twobone.chain_duplicate()
    before = [chain_values(chain) for chain in rig.twobone.chains]
    path = str(tmp_path / "chains.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.wm.open_mainfile(filepath=path)
    assert [chain_values(chain) for chain in bpy.data.objects["Rig"].twobone.chains] == before


def test_a_keyed_bend_is_a_number_that_steps_at_zero(empty_file):
    rig = legs()
    chain = rig.twobone.chains.add()
    chain.bend = "NEGATIVE"
    chain.keyframe_insert("bend", frame=1)
    chain.bend = "POSITIVE"
    chain.keyframe_insert("bend", frame=11)
    seen = []
    for frame in (1, 10, 11):
        bpy.context.scene.frame_set(frame)
        seen.append(chain.bend)
    assert seen == ["NEGATIVE", "NEGATIVE", "POSITIVE"]
