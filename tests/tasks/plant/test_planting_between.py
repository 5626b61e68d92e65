"""Feet that stand still between frames as well, where the motion has kinks between frames: a cycle imported at another rate."""

import bpy
import numpy as np
import pytest

from tests.tasks.checks.seen_walk import SLIDE, SLIDE_BETWEEN, Seen, key_values, plant, quarters, whole_frames, worst_slide
from tests.tasks.rigs.walker import Walk, build_walker, key_contacts

STEP = 0.8
"""Frames from key to key: 15 a second, played at 12."""
EIGHTHS = 0.125


@pytest.fixture
def imported(empty_file):
    """A fast walk of straight keys between frames, and what stands at each frame."""
    armature, states = build_walker(Walk(frames=46, rate=15.0, step_time=0.8, speed=1.2, slide=0.02))
    for curve in curves(armature):
        for key in curve.keyframe_points:
            key.co.x, key.interpolation = 1.0 + (key.co.x - 1.0) * STEP, "LINEAR"
        curve.update()
    scene = bpy.context.scene
    scene.render.fps, scene.frame_end = 12, 37
    states = {side: values[np.round((whole_frames() - 1.0) / STEP).astype(int)] for side, values in states.items()}
    key_contacts(armature, states)
    return armature, states


def curves(armature):
    from twobone_addon.scene.versions import curve_bag

    return [curve for curve in curve_bag(armature).fcurves if curve.data_path.startswith("pose.")]


def keyed_frames(armature, name):
    curve = next(curve for curve in curves(armature) if f'"{name}"' in curve.data_path and curve.array_index == 1)
    return np.array([key.co.x for key in curve.keyframe_points])


@pytest.mark.parametrize("keys", ["FRAMES", "REDUCE"])
def test_what_stands_does_not_slide_between_frames(imported, keys):
    armature, states = imported
    report = plant(keys=keys)
    assert worst_slide(Seen(armature, whole_frames()), states) < SLIDE
    assert worst_slide(Seen(armature, quarters()), states) < SLIDE_BETWEEN
    between = np.arange(whole_frames()[0], whole_frames()[-1] + EIGHTHS, EIGHTHS)
    assert worst_slide(Seen(armature, between), states) < 2.0 * SLIDE_BETWEEN
    for chain in report["chains"]:
        assert max(contact["slide_between"] for contact in chain["contacts"]) < SLIDE_BETWEEN


def test_keys_between_frames_are_only_where_a_foot_stands(imported):
    armature, states = imported
    plant()
    for side in "LR":
        frames = keyed_frames(armature, f"foot.{side}")
        between = frames[(frames % 1.0 == 0.5) | (frames % 1.0 == 0.25) | (frames % 1.0 == 0.75)]
        assert len(between)
        before, after = (states[side][rounded(between).astype(int) - 1] for rounded in (np.floor, np.ceil))
        assert np.all((before > 0) & (after > 0))


def test_a_second_run_changes_nothing_and_clearing_puts_back_what_was_there(imported):
    armature, _ = imported
    before, keys_before = key_values(armature), [len(curve.keyframe_points) for curve in curves(armature)]
    plant()
    planted = [np.array([key.co for key in curve.keyframe_points]) for curve in curves(armature)]
    plant()
    again = [np.array([key.co for key in curve.keyframe_points]) for curve in curves(armature)]
    assert all(np.array_equal(old, new) for old, new in zip(planted, again, strict=True))
    chain = armature.twobone.chains[0]
    assert bpy.ops.twobone.clear_baked(armature=armature.name, upper=chain.upper, lower=chain.lower) == {"FINISHED"}
    after = key_values(armature)
    assert all(np.array_equal(values, after[path]) for path, values in before.items())
    assert [len(curve.keyframe_points) for curve in curves(armature)] == keys_before
