"""What comes after a bake: keys taken back, markers, and panels, overlay and evaluation that know what has changed."""

import bpy
import numpy as np
import pytest

from tests.interface.recording import drawn
from tests.tasks.scenes import key_places, leg_with_chain
from twobone_addon.interface import watching
from twobone_addon.interface.overlay import data as overlay_data
from twobone_addon.interface.sidebar import forecasting
from twobone_addon.interface.sidebar.setting_panels import TWOBONE_PT_keys
from twobone_addon.scene.versions import curve_bag
from twobone_addon.tasks import align as hinges


@pytest.fixture
def baked_leg(empty_file):
    rig = leg_with_chain(plane="YZ")
    for bone in rig.pose.bones:
        bone.rotation_mode = "XYZ"
    chain = rig.twobone.chains[0]
    key_places(chain.target, [(0.1, 0.5, 0.1 * frame) for frame in range(10)])
    chain.frame_range, chain.frame_start, chain.frame_end = "CUSTOM", 1, 10
    bpy.ops.twobone.bake()
    yield rig
    overlay_data.forget()
    watching.unregister()


def baked_frames(rig):
    bag = curve_bag(rig)
    return sorted({round(key.co.x) for curve in (bag.fcurves if bag else ()) for key in curve.keyframe_points})


def test_a_shortened_range_leaves_keys_outside_and_offers_them(baked_leg):
    chain = baked_leg.twobone.chains[0]
    chain.frame_end = 4
    assert bpy.ops.twobone.clear_baked() == {"FINISHED"}
    assert baked_frames(baked_leg) == [5, 6, 7, 8, 9, 10]
    assert chain.report
    assert bpy.ops.twobone.clear_baked() == {"FINISHED"}, "nothing in the range is no end: the redo panel offers the rest"
    bpy.ops.twobone.clear_baked(all_frames=True)
    assert baked_frames(baked_leg) == []
    assert not chain.report, "the result of a bake outlives its keys"


def test_cleared_completely_nothing_is_left_to_say(baked_leg):
    bpy.ops.twobone.clear_baked()
    assert baked_frames(baked_leg) == []
    assert not baked_leg.twobone.chains[0].report
    assert bpy.ops.twobone.clear_baked() == {"CANCELLED"}


def test_keys_that_people_made_stay_at_all_frames(baked_leg):
    bone = baked_leg.pose.bones["upper"]
    bone.keyframe_insert("rotation_euler", index=0, frame=20)
    bpy.ops.twobone.clear_baked(all_frames=True)
    assert baked_frames(baked_leg) == [20]


@pytest.mark.parametrize("keys, step", [("TARGET_KEYS", 1.0), ("FRAMES", 3.0)])
def test_the_path_is_a_curve_however_few_keys_are_made(baked_leg, keys, step):
    chain = baked_leg.twobone.chains[0]
    chain.keys, chain.step = keys, step
    chain.target.animation_data_clear()
    for frame, place in ((1, (0.1, 0.5, 0.1)), (5, (0.1, 0.6, 0.9)), (10, (0.1, -0.2, 0.5))):
        chain.target.location = place
        chain.target.keyframe_insert("location", frame=frame)
    overlay_data.forget()
    overlay_data.update(bpy.context, baked_leg)
    assert np.array_equal(overlay_data.shown.path.frames, np.arange(1.0, 11.0))


@pytest.mark.parametrize("act", ["chain_duplicate", "chain_move", "chain_remove", "chain_add"])
def test_blender_is_told_of_every_change_of_the_list(baked_leg, act):
    """Else viewports go on showing the chain from before, and the evaluated armature lacks the new one."""
    bpy.ops.twobone.chain_duplicate()
    bpy.context.view_layer.update()
    changed = []

    def notice(_scene, depsgraph):
        changed.extend(update.id.name for update in depsgraph.updates)

    bpy.app.handlers.depsgraph_update_post.append(notice)
    if act == "chain_add":
        bpy.ops.object.mode_set(mode="POSE")
        for bone in baked_leg.pose.bones:
            (bone if hasattr(bone, "select") else bone.bone).select = bone.name == "lower"
        changed.clear()
    getattr(bpy.ops.twobone, act)(**({"direction": "UP"} if act == "chain_move" else {}))
    bpy.context.view_layer.update()
    bpy.app.handlers.depsgraph_update_post.remove(notice)
    assert "Rig" in changed
    evaluated = baked_leg.evaluated_get(bpy.context.evaluated_depsgraph_get())
    assert len(evaluated.twobone.chains) == len(baked_leg.twobone.chains)


def test_the_forecast_is_found_once_until_something_changes(baked_leg, monkeypatch):
    found = []

    def counting(*arguments):
        found.append(arguments)
        return forecast(*arguments)

    forecast = hinges.curve_forecast
    monkeypatch.setattr(hinges, "curve_forecast", counting)
    forecasting.forecasts.forget()
    texts = [drawn(TWOBONE_PT_keys).texts() for _ in range(3)]
    assert len(found) == 1
    assert texts[0] == texts[1] == texts[2]
    baked_leg.pose.bones["upper"].rotation_mode = "QUATERNION"
    bpy.context.view_layer.update()
    assert drawn(TWOBONE_PT_keys).texts() != texts[0]
    baked_leg.twobone.chains[0].plane = "REST"
    drawn(TWOBONE_PT_keys)
    assert len(found) == 3
