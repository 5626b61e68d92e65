"""What switches and influences hold over time, by curves or as Blender evaluates it, is what is there at each frame."""

import bpy
import numpy as np
import pytest

from tests.tasks.scenes import build_armature
from twobone_addon.scene.sampling.evaluate import values_over
from twobone_addon.scene.versions import curve_bag

FRAMES = np.array([-2.0, 1.0, 3.5, 5.0, 6.0, 9.0, 12.0])


def plain(rig):
    """Curves alone."""


def in_the_nla(rig):
    data = rig.animation_data
    track = data.nla_tracks.new()
    strip = track.strips.new("Switches", 1, data.action)
    strip.extrapolation = "HOLD"
    data.action = None


@pytest.mark.parametrize("prepare", [plain, in_the_nla], ids=lambda prepare: prepare.__name__)
def test_numbers_and_switches_are_those_that_blender_shows(empty_file, prepare):
    rig = build_armature()
    upper, held = rig.pose.bones["upper"], rig.pose.bones["lower"].constraints.new("COPY_ROTATION")
    upper["whole"], upper["part"], upper["still"] = 0, 0.0, 0.25
    for frame, whole, part, muted in ((1, 0, 0.0, True), (5, 1, 1.0, False), (9, 3, 0.2, True)):
        upper["whole"], upper["part"], held.mute = whole, part, muted
        for owner, path in ((upper, '["whole"]'), (upper, '["part"]'), (held, "mute")):
            owner.keyframe_insert(path, frame=frame)
    for fcurve in curve_bag(rig).fcurves:
        for point in fcurve.keyframe_points:
            point.interpolation = "LINEAR"
    prepare(rig)
    own = 'pose.bones["upper"]'
    paths = [f'{own}["whole"]', f'{own}["part"]', f'{own}["still"]', 'pose.bones["lower"].constraints["Copy Rotation"].mute']
    found = values_over(bpy.context.scene, [(rig, path) for path in paths], FRAMES)
    shown = []
    for frame in FRAMES:
        whole = int(np.floor(frame))
        bpy.context.scene.frame_set(whole, subframe=frame - whole)
        shown.append([float(rig.path_resolve(path)) for path in paths])
    np.testing.assert_allclose(found, np.array(shown).T, atol=1e-6)
    assert len(np.unique(found[1])) > 3
