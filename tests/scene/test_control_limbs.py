"""Controls, mechanism and deform bones lead to the limb's forward chain: by constraints, drivers and parents, then by names."""

import bpy
import pytest

from tests.interface.acting import select_bones
from tests.tasks.scenes import BoneShape, build_armature
from twobone_addon.errors import SelectionError
from twobone_addon.pipeline.plan.found_chain import find_chain
from twobone_addon.scene.rig.chain_finding import chain_from_selection, plain_name
from twobone_addon.settings import BakeSettings
from twobone_addon.tasks.give.guides import guide_name

JOINTS = ((0, 0, 1), (0, -0.1, 0.5), (0, 0, 0), (0, -0.2, 0))
PARTS = ("alpha", "beta", "gamma")


def strand(kind, side, x, parent):
    """Three bones along a leg."""
    names = [f"{part}{kind}.{side}" for part in PARTS]
    return [
        BoneShape(name, (x, *JOINTS[i][1:]), (x, *JOINTS[i + 1][1:]), [parent, *names][i], connected=i == 1)
        for i, name in enumerate(names)
    ]


def copy(rig, bone, source, influence=1.0):
    constraint = rig.pose.bones[bone].constraints.new("COPY_TRANSFORMS")
    constraint.target, constraint.subtarget, constraint.influence = rig, source, influence


def switched_legs():
    """Legs as rig builders make them, under names that say nothing: forward `F`, turned by IK `K`, shown `S`, deforming `D`."""
    shapes = [BoneShape("base", (0, 0, 0), (0, 0.3, 0)), BoneShape("trunk", (0, 0.1, 1), (0, 0.1, 1.4), "base")]
    for side, x in (("L", 0.2), ("R", -0.2)):
        for kind in "FKSD":
            shapes += strand(kind, side, x, "trunk")
        shapes += [
            BoneShape(f"grip.{side}", (x, 0.1, 0), (x, 0.3, 0), "base"),
            BoneShape(f"rocker.{side}", (x, 0, 0), (x, 0.1, 0), f"grip.{side}"),
            BoneShape(f"aim.{side}", (x, -1, 0.5), (x, -1.2, 0.5), "base"),
            BoneShape(f"lever.{side}", (x + 0.3, 0, 1), (x + 0.3, 0.2, 1), "trunk"),
        ]
    rig = build_armature(shapes)
    for side in "LR":
        ik = rig.pose.bones[f"betaK.{side}"].constraints.new("IK")
        ik.target, ik.subtarget, ik.pole_target, ik.pole_subtarget = rig, f"rocker.{side}", rig, f"aim.{side}"
        ik.chain_count = 2
        rig.pose.bones[f"lever.{side}"]["IK_FK"] = 0.0
        for part in PARTS:
            copy(rig, f"{part}S.{side}", f"{part}F.{side}")
            copy(rig, f"{part}S.{side}", f"{part}K.{side}" if part != "gamma" else f"rocker.{side}")
            copy(rig, f"{part}D.{side}", f"{part}S.{side}")
            driver = rig.pose.bones[f"{part}S.{side}"].constraints[1].driver_add("influence").driver
            variable = driver.variables.new()
            variable.targets[0].id = rig
            variable.targets[0].data_path = f'pose.bones["lever.{side}"]["IK_FK"]'
    return rig


def limb(rig, *names):
    select_bones(rig, *names)
    found = chain_from_selection(rig)
    return found.upper, found.lower


@pytest.mark.parametrize(
    "bone",
    ["grip", "rocker", "aim", "lever", "alphaF", "betaF", "gammaF", "alphaK", "betaK", "alphaS", "gammaS", "alphaD", "gammaD"],
)
@pytest.mark.parametrize("side", "LR")
def test_every_bone_that_serves_a_limb_leads_to_its_forward_chain(empty_file, bone, side):
    assert limb(switched_legs(), f"{bone}.{side}") == (f"alphaF.{side}", f"betaF.{side}")


def test_all_controls_of_one_limb_together_mean_it(empty_file):
    assert limb(switched_legs(), "grip.L", "rocker.L", "aim.L", "alphaD.L") == ("alphaF.L", "betaF.L")


@pytest.mark.parametrize("side", "LR")
def test_a_limb_that_is_to_turn_its_end_has_the_foot_of_its_own_side(empty_file, side):
    switched_legs()
    settings = BakeSettings(armature="Rig", upper=f"alphaF.{side}", lower=f"betaF.{side}", end_rotation="TARGET")
    names = find_chain(settings, None).names
    assert (names.tip, names.tip_at_tail) == (f"gammaF.{side}", False)


def test_bones_of_the_forward_chain_say_themselves_which_are_meant(empty_file):
    assert limb(switched_legs(), "betaF.L", "gammaF.L") == ("betaF.L", "gammaF.L")


def means_a_leg(rig, bone):
    select_bones(rig, bone)
    try:
        return chain_from_selection(rig).lower.startswith("beta")
    except SelectionError:
        return False


def test_a_control_of_several_limbs_means_none_of_them(empty_file):
    rig = switched_legs()
    assert not means_a_leg(rig, "base")
    assert means_a_leg(rig, "grip.L")
    copy(rig, "rocker.R", "grip.L")
    assert not means_a_leg(rig, "grip.L")


def test_a_deform_bone_without_ik_leads_to_what_it_copies(empty_file):
    shapes = [shape for kind in ("", "_def") for shape in strand(kind, "L", 0.2, "")]
    rig = build_armature(shapes)
    for part in PARTS:
        copy(rig, f"{part}_def.L", f"{part}.L")
    assert limb(rig, "beta_def.L") == ("alpha.L", "beta.L")


@pytest.mark.parametrize("control", ["MCH-beta_ik.L", "ctrl_beta.L", "beta_target.L", "beta_ik.L"])
def test_where_nothing_is_connected_names_tell(empty_file, control):
    rig = build_armature([*strand("", "L", 0.2, ""), BoneShape(control, (1, 1, 0), (1, 1.2, 0))])
    assert limb(rig, control) == ("alpha.L", "beta.L")


def test_bones_that_are_selected_but_hidden_do_not_count(empty_file):
    rig = build_armature(strand("", "L", 0.2, "") + strand("_x", "L", 0.4, "") + strand("_y", "L", 0.6, ""))
    hidden = rig.data.collections.new("Hidden")
    for part in PARTS:
        hidden.assign(rig.data.bones[f"{part}_x.L"])
        holder = rig.pose.bones[f"{part}_y.L"]
        (holder if hasattr(holder, "hide") else holder.bone).hide = True
    hidden.is_visible = False
    assert limb(rig, *(bone.name for bone in rig.pose.bones if bone.name not in {"alpha.L", "gamma.L"})) == (
        "alpha.L",
        "beta.L",
    )


def test_targets_and_poles_are_called_after_what_people_see(empty_file):
    shapes = strand("_fk", "L", 0.2, "")
    shapes[2:] = [
        BoneShape("MCH-gamma_fk.L", (0.2, 0, 0), (0.2, 0.1, 0), "beta_fk.L"),
        BoneShape("gamma_fk.L", (0.2, 0, 0), (0.2, -0.2, 0), "MCH-gamma_fk.L"),
    ]
    rig = build_armature(shapes)
    select_bones(rig, "alpha_fk.L", "beta_fk.L")
    names = chain_from_selection(rig)
    assert guide_name("Target", rig, names) == "Target gamma.L"
    assert guide_name("Pole", rig, names) == "Pole beta.L"


@pytest.mark.parametrize(
    "name, plain",
    [
        ("MCH-foot_fk.L", "foot.L"),
        ("shin_fk.L", "shin.L"),
        ("DEF-hand.R", "hand.R"),
        ("mixamorig:LeftFoot", "mixamorig:LeftFoot"),
        ("ORG-ik", "ik"),
        ("forearm_tweak.L.001", "forearm.L.001"),
        ("sikh.L", "sikh.L"),
    ],
)
def test_plain_names(name, plain):
    assert plain_name(name) == plain


def test_a_pole_is_called_after_the_joint_it_guides(empty_file):
    rig = build_armature(strand("_fk", "L", 0.2, ""))
    select_bones(rig, "alpha_fk.L")
    bpy.ops.twobone.add_target()
    bpy.ops.twobone.add_pole()
    assert (rig.twobone.chains[0].target.name, rig.twobone.chains[0].pole.name) == ("Target gamma.L", "Pole beta.L")
