"""Legs whose Reach is Stretch grow by up to 1.5 % before the hips go down; feet keep their size and their place."""

import bpy
import numpy as np
import pytest

from tests.tasks.checks.seen_walk import (
    LEG,
    SIDES,
    SLIDE,
    SLIDE_BETWEEN,
    Seen,
    key_values,
    plant,
    quarters,
    whole_frames,
    worst_slide,
)
from tests.tasks.rigs.walker import Walk, build_walker, key_contacts
from twobone_addon.scene.versions import curve_bag

MOST = 0.015
LITTLE, MUCH = Walk(slide=0.02, raised=-0.008), Walk(slide=0.04, raised=0.04)
"""Hips that are too high by less, and by more, than legs may stretch."""


def walker(walk, *, reach="STRETCH"):
    armature, states = build_walker(walk)
    key_contacts(armature, states)
    for chain in armature.twobone.chains:
        chain.reach = reach
    return armature, states


def growth(armature, frames):
    """Largest and smallest length of the links and of the feet over the frames, over those at rest."""
    found = {"leg": [], "foot": []}
    scene, rest = bpy.context.scene, armature.data.bones
    for frame in frames:
        scene.frame_set(int(frame), subframe=frame - int(frame))
        for side in SIDES:
            for name, part in (("thigh", "leg"), ("shin", "leg"), ("foot", "foot")):
                bone = armature.pose.bones[f"{name}.{side}"]
                found[part].append((bone.tail - bone.head).length / rest[bone.name].length)
    return {part: (min(values), max(values)) for part, values in found.items()}


def lowered(before, after):
    return (np.array(before.hips) - np.array(after.hips))[:, 2].max()


def scale_curves(armature):
    return [curve.data_path for curve in curve_bag(armature).fcurves if curve.data_path.endswith(".scale")]


def test_a_leg_that_may_stretch_reaches_without_lower_hips(empty_file):
    armature, states = walker(LITTLE, reach="CLAMP")
    before = Seen(armature, whole_frames())
    plant()
    assert lowered(before, Seen(armature, whole_frames())) > 0.003
    bpy.ops.wm.read_factory_settings(use_empty=True)
    armature, states = walker(LITTLE)
    scales = len(scale_curves(armature))
    before = Seen(armature, whole_frames())
    report = plant()
    after = Seen(armature, quarters())
    assert lowered(before, Seen(armature, whole_frames())) < 1e-6
    assert worst_slide(Seen(armature, whole_frames()), states) < SLIDE
    assert worst_slide(after, states) < SLIDE_BETWEEN
    assert not any(chain["out_of_reach"] for chain in report["chains"])
    sizes = growth(armature, quarters())
    assert 1.003 < sizes["leg"][1] <= 1.0 + MOST + 1e-6
    assert sizes["leg"][0] == pytest.approx(1.0, abs=1e-6)
    assert sizes["foot"] == pytest.approx((1.0, 1.0), abs=1e-5)
    assert max(chain["max_stretch"] for chain in report["chains"]) == pytest.approx(sizes["leg"][1], abs=1e-4)
    assert report["sentence"].endswith(f"; legs stretched by up to {100.0 * (sizes['leg'][1] - 1.0):.2g} %")
    assert len(scale_curves(armature)) > scales


def test_beyond_that_the_hips_make_up_for_the_rest(empty_file):
    moves = {}
    for reach in ("CLAMP", "STRETCH"):
        bpy.ops.wm.read_factory_settings(use_empty=True)
        armature, states = walker(MUCH, reach=reach)
        before = Seen(armature, whole_frames())
        report = plant()
        after = Seen(armature, whole_frames())
        moves[reach] = lowered(before, after)
        assert worst_slide(after, states) < SLIDE
        assert not any(chain["out_of_reach"] for chain in report["chains"])
    assert growth(armature, quarters())["leg"][1] == pytest.approx(1.0 + MOST, abs=1e-4)
    assert moves["CLAMP"] - MOST * LEG * 1.2 < moves["STRETCH"] < moves["CLAMP"] - MOST * LEG * 0.9


def test_planting_again_changes_nothing_and_clear_restores_everything(empty_file):
    armature, _ = walker(MUCH)
    original, curves = key_values(armature), {curve.data_path for curve in curve_bag(armature).fcurves}
    plant()
    once = key_values(armature)
    plant()
    for channel, values in key_values(armature).items():
        assert values == pytest.approx(once[channel], abs=2e-6)
    assert bpy.ops.twobone.clear_baked(armature="Walker", upper="thigh.L", lower="shin.L") == {"FINISHED"}
    assert {curve.data_path for curve in curve_bag(armature).fcurves} <= curves
    for channel, values in key_values(armature).items():
        assert values == pytest.approx(original[channel], abs=1e-6)
    assert all(bone.scale[:] == (1.0, 1.0, 1.0) for bone in armature.pose.bones)


@pytest.mark.parametrize("priority", ["BODY", "HEIGHTS"])
def test_only_exact_feet_stretch_legs(empty_file, priority):
    armature, _ = walker(MUCH)
    scales = scale_curves(armature)
    plant(priority=priority)
    assert scale_curves(armature) == scales


@pytest.mark.parametrize("bone", ["shin.L", "foot.L"])
def test_links_and_feet_that_inherit_no_scale_do_the_same(empty_file, bone):
    armature, states = walker(MUCH)
    armature.data.bones[bone].inherit_scale = "NONE"
    plant()
    assert worst_slide(Seen(armature, whole_frames()), states) < SLIDE
    sizes = growth(armature, quarters())
    assert sizes["leg"][1] == pytest.approx(1.0 + MOST, abs=1e-4)
    assert sizes["foot"] == pytest.approx((1.0, 1.0), abs=1e-5)


def test_a_leg_that_cannot_stretch_says_so_and_is_planted(empty_file):
    armature, states = walker(MUCH)
    bpy.ops.object.mode_set(mode="EDIT")
    bones = armature.data.edit_bones
    twist = bones.new("twist.L")
    twist.head, twist.tail = bones["thigh.L"].head, bones["thigh.L"].center
    twist.parent, twist.inherit_scale = bones["thigh.L"], "NONE"
    bones["shin.L"].use_connect, bones["shin.L"].parent = False, twist
    bpy.ops.object.mode_set(mode="OBJECT")
    report = plant()
    assert worst_slide(Seen(armature, whole_frames()), states) < SLIDE
    (notes,) = (chain["notes"] for chain in report["chains"] if chain["chain"] == "leg.L")
    assert 'Bone "twist.L" does not inherit scale, so "leg.L" cannot stretch.' in notes
    assert not any('"thigh.L"' in path for path in scale_curves(armature))
