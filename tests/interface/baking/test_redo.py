"""The redo panel, the overlay, live and the next bake show one and the same solution."""

import bpy
import numpy as np
import pytest

from tests.interface.acting import joints_world
from tests.tasks.scenes import add_empty, leg_with_chain
from twobone_addon.interface import watching
from twobone_addon.interface.overlay import data as overlay_data
from twobone_addon.interface.stored.storing import keyed_settings
from twobone_addon.scene.live.marks import can_go_live
from twobone_addon.settings import OPTIONS
from twobone_addon.settings.options import OptionKind


def leg_in_reach():
    """A leg with a stored chain, whose target is in reach from any plane."""
    return leg_with_chain(plane="YZ", place=(0.1, 0.4, 0.1))


def baked_again(rig, operator="bake", **changes):
    """What the redo panel does: back to before, then the same bake with all of its settings given, some of them changed."""
    chain = rig.twobone.chains[0]
    shown = {option.name: getattr(chain, option.name) for option in OPTIONS if option.name != "armature"}
    shown |= {
        option.name: getattr(shown[option.name], "name", "")
        for option in OPTIONS
        if option.kind is OptionKind.OBJECT and option.name in shown
    }
    getattr(bpy.ops.twobone, operator)(**{**shown, "armature": rig.name, "stored": chain.name, **changes})
    return chain


@pytest.mark.parametrize(
    "changes", [{"bend": "NEGATIVE"}, {"plane": "REST"}, {"plane": "XZ", "reach": "SOFTEN", "softness": 0.25}], ids=str
)
def test_what_is_changed_in_the_redo_panel_goes_back_to_the_chain_and_the_overlay_shows_what_was_baked(empty_file, changes):
    rig = leg_in_reach()
    bpy.context.scene.frame_end = 3
    chain = baked_again(rig, **changes)
    assert {name: getattr(chain, name) for name in changes} == changes
    picture = overlay_data.update(bpy.context, rig).picture
    assert np.allclose(picture.joints, joints_world(rig, "upper", "lower"), atol=1e-5)
    before = joints_world(rig, "upper", "lower")
    bpy.ops.twobone.bake()
    assert np.allclose(joints_world(rig, "upper", "lower"), before, atol=1e-6), "the next bake takes it back"
    overlay_data.forget()
    watching.unregister()


@pytest.mark.parametrize("changes", [{"step": 2.0}, {"plane": "XZ", "bend": "NEGATIVE"}, {"frame_range": "PREVIEW"}], ids=str)
def test_what_is_changed_in_the_redo_panel_of_bake_target_goes_back_to_the_chain(empty_file, changes):
    rig = leg_in_reach()
    bpy.context.scene.frame_end = 3
    target = rig.twobone.chains[0].target
    chain = baked_again(rig, "bake_target", **changes)
    assert {name: getattr(chain, name) for name in changes} == changes
    assert chain.target == target


def test_a_target_and_a_pole_that_bake_target_makes_stay_those_of_the_chain_when_it_is_redone(empty_file):
    rig = leg_in_reach()
    bpy.context.scene.frame_end = 3
    rig.twobone.chains[0].target = None
    chain = baked_again(rig, "bake_target", plane="POLE", bend="NEGATIVE")
    assert (chain.plane, chain.bend) == ("POLE", "NEGATIVE")
    assert chain.target.animation_data.action is not None
    assert chain.pole.animation_data.action is not None


def test_a_redo_of_bake_target_leaves_a_keyed_setting_to_its_keys(empty_file):
    rig = leg_in_reach()
    chain = rig.twobone.chains[0]
    chain.keyframe_insert("bend", frame=1)
    baked_again(rig, "bake_target", bend="NEGATIVE", step=2.0)
    assert (chain.bend, chain.step) == ("POSITIVE", 2.0)


def test_a_script_that_overrides_the_stored_chain_leaves_it_as_it_is(empty_file):
    rig = leg_in_reach()
    bpy.context.scene.frame_end = 3
    bpy.ops.twobone.bake(bend="NEGATIVE")
    assert rig.twobone.chains[0].bend == "POSITIVE"


def test_a_redo_leaves_a_keyed_setting_to_its_keys(empty_file):
    rig = leg_in_reach()
    chain = rig.twobone.chains[0]
    chain.influence = 0.5
    chain.keyframe_insert("influence", frame=1)
    assert keyed_settings(chain) == {"influence"}
    baked_again(rig, influence=1.0)
    assert chain.influence == 0.5


PLANES = ["XZ", "YZ", "REST", "POLE", "POSE"]


@pytest.mark.parametrize("bend", ["POSITIVE", "NEGATIVE", "KEEP"])
@pytest.mark.parametrize("plane", PLANES)
def test_live_overlay_and_bake_show_one_solution(empty_file, plane, bend):
    rig = leg_in_reach()
    chain = rig.twobone.chains[0]
    chain.pole = add_empty("Pole")
    chain.pole.location = (0.3, -2, 0.6)
    chain.plane, chain.bend = plane, bend
    bpy.context.scene.frame_end = 1
    overlay_data.forget()
    bpy.context.view_layer.update()
    foreseen = overlay_data.update(bpy.context, rig).picture.joints
    live = {}
    # A side that is kept frame by frame is not for nodes.
    if can_go_live() and (bend != "KEEP" or plane == "POSE"):
        bpy.ops.twobone.live(state="ON")
        bpy.context.view_layer.update()
        live = {"live": joints_world(rig, "upper", "lower")}
        live["overlay while live"] = overlay_data.update(bpy.context, rig).picture.joints
        bpy.ops.twobone.live(state="OFF")
    bpy.ops.twobone.bake()
    baked = joints_world(rig, "upper", "lower")
    bpy.context.view_layer.update()
    afterwards = overlay_data.update(bpy.context, rig).picture.joints
    overlay_data.forget()
    watching.unregister()
    for name, joints in {
        "overlay": foreseen,
        **live,
        "overlay after": afterwards,
    }.items():
        assert np.allclose(joints, baked, atol=2e-5), name


def test_in_the_plane_of_the_pose_a_second_bake_does_not_flip_back(empty_file):
    rig = leg_in_reach()
    chain = rig.twobone.chains[0]
    chain.plane, chain.bend = "POSE", "NEGATIVE"
    bpy.context.scene.frame_end = 2
    bpy.ops.twobone.bake()
    first = joints_world(rig, "upper", "lower")
    assert chain.bend == "POSITIVE"
    bpy.ops.twobone.bake()
    assert np.allclose(joints_world(rig, "upper", "lower"), first, atol=1e-5)
