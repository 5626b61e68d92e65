"""What is selected is what the list shows and what is baked: bones, controls, targets, poles and plane objects."""

import json

import bpy
import pytest

from tests.interface.acting import select_bones
from tests.tasks.scenes import BoneShape, add_empty, build_armature
from twobone_addon.interface.stored.where import active_armature, chain_in
from twobone_addon.scene.versions import curve_bag

SIDES = {"L": 1.0, "R": -1.0}


def legs(name="Rig", *, chains="LR"):
    """Two legs with toes, each with a chain, a target, a pole and a plane object of its own."""
    shapes = [BoneShape("hip", (0, 0.1, 1), (0, 0.1, 1.2))]
    for side, sign in SIDES.items():
        x = 0.2 * sign
        shapes += [
            BoneShape(f"thigh.{side}", (x, 0, 1), (x, -0.1, 0.5), "hip"),
            BoneShape(f"shin.{side}", (x, -0.1, 0.5), (x, 0, 0), f"thigh.{side}", connected=True),
            BoneShape(f"foot.{side}", (x, 0, 0), (x, -0.2, 0), f"shin.{side}"),
            BoneShape(f"toe.{side}", (x, -0.2, 0), (x, -0.3, 0), f"foot.{side}"),
        ]
    rig = build_armature(shapes, name)
    bpy.context.scene.frame_end = 2
    for side in chains:
        chain = rig.twobone.chains.add()
        chain.name, chain.upper, chain.lower, chain.plane = f"leg.{side}", f"thigh.{side}", f"shin.{side}", "YZ"
        for role in ("target", "pole", "plane_object"):
            setattr(chain, role, add_empty(f"{name} {role}.{side}"))
        chain.target.location = (0.2 * SIDES[side], 0.1, 0.3)
    return rig


def make_object_active(thing):
    if bpy.context.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    for other in bpy.context.view_layer.objects:
        other.select_set(other == thing)
    bpy.context.view_layer.objects.active = thing


def baked():
    """Armature and upper bone of every chain of the last bake."""
    report = json.loads(bpy.context.window_manager.twobone_report)
    return [(chain["armature"], chain["upper"]) for chain in report.get("chains", [report])]


@pytest.mark.parametrize("bone", ["thigh.L", "shin.L", "foot.L", "toe.L"])
def test_the_limb_of_the_selected_bone_is_baked_whatever_row_of_the_list_is_active(empty_file, bone):
    rig = legs()
    rig.twobone.active_index = 1
    select_bones(rig, bone)
    bpy.ops.twobone.bake()
    assert baked() == [("Rig", "thigh.L")]
    assert rig.twobone.active_index == 0


@pytest.mark.parametrize("role", ["target", "pole", "plane_object"])
@pytest.mark.parametrize("side", SIDES)
def test_what_a_chain_follows_makes_it_active_in_the_list_and_bakes_it(empty_file, role, side):
    rig = legs()
    rig.twobone.active_index = "RL".index(side)
    make_object_active(getattr(rig.twobone.chains[f"leg.{side}"], role))
    bpy.context.view_layer.update()
    assert active_armature(bpy.context) == rig
    assert chain_in(bpy.context).name == f"leg.{side}"
    bpy.ops.twobone.bake()
    assert baked() == [("Rig", f"thigh.{side}")]


def test_a_bone_that_a_chain_follows_makes_it_active(empty_file):
    rig = legs()
    chain = rig.twobone.chains["leg.R"]
    chain.target, chain.target_bone = rig, "hip"
    select_bones(rig, "hip")
    bpy.context.view_layer.update()
    assert chain_in(bpy.context) == chain


def test_the_list_follows_the_selection_and_a_clicked_row_stays_until_something_else_is_selected(empty_file):
    rig = legs()
    seen = []
    for act in ("shin.R", 0, "shin.R", "foot.R", "shin.L"):
        if isinstance(act, int):
            rig.twobone.active_index = act
        else:
            select_bones(rig, act)
        bpy.context.view_layer.update()
        seen.append(rig.twobone.active_index)
    assert seen == [1, 0, 0, 1, 0]


def test_a_row_that_was_clicked_is_what_is_baked(empty_file):
    rig = legs()
    select_bones(rig, "shin.R")
    bpy.context.view_layer.update()
    rig.twobone.active_index = 0
    bpy.ops.twobone.bake()
    assert baked() == [("Rig", "thigh.L")]


@pytest.mark.parametrize("selected", [("shin.L", "shin.R"), ("thigh.L", "shin.L", "foot.R", "toe.R")], ids=len)
def test_several_selected_limbs_are_baked_together(empty_file, selected):
    rig = legs()
    select_bones(rig, *selected)
    bpy.ops.twobone.bake()
    assert sorted(baked()) == [("Rig", "thigh.L"), ("Rig", "thigh.R")]
    assert all(json.loads(chain.report)["frames"] == 2 for chain in rig.twobone.chains)


def test_of_several_selected_limbs_each_keeps_its_own_settings(empty_file):
    rig = legs()
    rig.twobone.chains["leg.L"].influence = 0.5
    select_bones(rig, "shin.L", "shin.R")
    bpy.ops.twobone.bake(keys="FRAMES", step=0.5)
    assert [chain.influence for chain in rig.twobone.chains] == [0.5, 1.0]
    assert [json.loads(chain.report)["frames"] for chain in rig.twobone.chains] == [3, 3]


def test_a_refused_bake_of_several_limbs_says_which_it_was_and_bakes_none(empty_file):
    rig = legs()
    lost = rig.twobone.chains["leg.R"].target
    name = lost.name
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.objects.active = lost
    bpy.ops.object.select_all(action="DESELECT")
    lost.select_set(state=True)
    bpy.ops.object.delete()
    bpy.context.view_layer.update()
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="POSE")
    select_bones(rig, "shin.L", "shin.R")
    with pytest.raises(RuntimeError, match=rf'Chain "leg.R" of "Rig": Target "{name}" is in no scene'):
        bpy.ops.twobone.bake()
    assert rig.animation_data is None


def test_of_several_selected_limbs_one_that_never_had_a_target_is_skipped_and_named_as_in_any_batch(empty_file, capfd):
    rig = legs()
    rig.twobone.chains["leg.R"].target = None
    select_bones(rig, "shin.L", "shin.R")
    bpy.ops.twobone.bake()
    assert baked() == [("Rig", "thigh.L")]
    assert "leg.R has no target and was skipped" in capfd.readouterr().out


def test_a_chain_that_is_switched_off_is_baked_alone_but_not_among_others(empty_file):
    rig = legs()
    rig.twobone.chains["leg.R"].enabled = False
    select_bones(rig, "shin.L", "shin.R")
    bpy.ops.twobone.bake()
    assert baked() == [("Rig", "thigh.L")]
    select_bones(rig, "shin.R")
    bpy.ops.twobone.bake()
    assert baked() == [("Rig", "thigh.R")]


def test_both_targets_selected_bake_both_chains(empty_file):
    rig = legs()
    make_object_active(rig.twobone.chains["leg.R"].target)
    rig.twobone.chains["leg.L"].target.select_set(state=True)
    bpy.ops.twobone.bake()
    assert sorted(baked()) == [("Rig", "thigh.L"), ("Rig", "thigh.R")]


def test_bones_of_two_armatures_that_are_posed_together(empty_file):
    rigs = [legs("A"), legs("B")]
    for rig in rigs:
        rig.select_set(state=True)
    bpy.context.view_layer.objects.active = rigs[0]
    bpy.ops.object.mode_set(mode="POSE")
    select_bones(rigs[1], "shin.R")
    select_bones(rigs[0], "shin.L")
    bpy.ops.twobone.bake()
    assert sorted(baked()) == [("A", "thigh.L"), ("B", "thigh.R")]


def test_a_target_leads_to_its_own_of_two_armatures(empty_file):
    rigs = {name: legs(name) for name in "AB"}
    for name, side in (("B", "L"), ("A", "R"), ("B", "R")):
        make_object_active(rigs[name].twobone.chains[f"leg.{side}"].target)
        bpy.ops.twobone.bake()
        assert baked() == [(name, f"thigh.{side}")]


def test_a_limb_that_is_not_in_the_list_is_not_mistaken_for_the_active_one(empty_file):
    rig = legs(chains="R")
    select_bones(rig, "shin.L")
    with pytest.raises(RuntimeError, match=r'The selected limb "shin.L" has no chain yet'):
        bpy.ops.twobone.bake()
    assert rig.animation_data is None
    bpy.ops.twobone.bake(target="Rig target.R")
    assert baked() == [("Rig", "thigh.L")]


@pytest.mark.parametrize("selected", [(), ("hip",)], ids=str)
def test_what_is_no_limb_leaves_the_active_chain(empty_file, selected):
    rig = legs()
    rig.twobone.active_index = 1
    select_bones(rig, *selected)
    bpy.ops.twobone.bake()
    assert baked() == [("Rig", "thigh.R")]


def test_undo_brings_back_the_row_that_goes_with_the_selection(empty_file):
    rig = legs()
    for bone in ("shin.R", "shin.L"):
        select_bones(bpy.data.objects["Rig"], bone)
        bpy.ops.ed.undo_push(message=bone)
        bpy.context.view_layer.update()
    assert rig.twobone.active_index == 0
    bpy.ops.ed.undo()
    bpy.context.view_layer.update()
    assert bpy.data.objects["Rig"].twobone.active_index == 1


def test_two_chains_of_one_limb_do_not_take_turns(empty_file):
    rig = legs()
    select_bones(rig, "shin.L")
    bpy.ops.twobone.chain_duplicate()
    assert rig.twobone.active_index == 2
    select_bones(rig, "foot.L")
    bpy.context.view_layer.update()
    assert rig.twobone.active_index == 2


def test_clear_baked_keys_takes_the_selected_limbs(empty_file):
    rig = legs()
    bpy.ops.twobone.bake_all()
    rig.twobone.active_index = 0
    select_bones(rig, "shin.R")
    bpy.ops.twobone.clear_baked()
    paths = {curve.data_path for curve in curve_bag(rig).fcurves}
    assert paths
    assert all(".R" not in path for path in paths)
