"""A walk in place that is sent through the world by its root, and comes back; all that is asserted is evaluated by Blender."""

import numpy as np
import pytest

from tests.tasks.checks.seen_walk import SLIDE, SLIDE_BETWEEN, Seen, plant, quarters, whole_frames, worst_slide
from tests.tasks.rigs.walker import Walk, build_walker, key_contacts
from twobone_addon.scene.versions import curve_bag


def in_place(**walk):
    """The walker on a belt: its object goes back as fast as it walks."""
    settings = Walk(frames=60, rate=30.0, slide=0.01, **walk)
    armature, states = build_walker(settings)
    key_contacts(armature, states)
    for frame in (1, settings.frames):
        armature.location = (0.0, -settings.speed * (frame - 1) / settings.rate, 0.0)
        armature.keyframe_insert("location", frame=frame)
    for fcurve in curve_bag(armature).fcurves:
        for key in fcurve.keyframe_points if fcurve.data_path == "location" else ():
            key.interpolation = "LINEAR"
    return armature, states


@pytest.mark.parametrize("root", ["", "root", "Walker"])
def test_a_walk_in_place_goes_through_the_world_and_back(empty_file, root):
    armature, states = in_place()
    hips = np.array(Seen(armature, whole_frames()).hips)
    report = plant(root_motion="ADD", root=root)
    walked = Seen(armature, whole_frames())
    assert worst_slide(walked, states) < SLIDE
    assert worst_slide(Seen(armature, quarters()), states) < SLIDE_BETWEEN
    assert report["root"]["travel"] == pytest.approx([0.0, 1.1 * 59 / 30, 0.0], abs=1e-2)
    assert np.array(walked.hips)[-1, 1] - hips[-1, 1] == pytest.approx(1.1 * 59 / 30, abs=1e-2)
    assert f"root motion of 2.2 m added to {report['root']['bone']}" in report["sentence"]
    again = plant(root_motion="ADD", root=root)
    assert again["root"]["keys"] == 0
    assert "no root motion to add" in again["sentence"]
    assert any("The ground does not move under the feet" in said for said in again["notes"])
    back = plant(root_motion="REMOVE", root=root)
    assert f"root motion of 2.2 m removed from {back['root']['bone']}" in back["sentence"]
    assert np.abs(np.array(Seen(armature, whole_frames()).hips) - hips)[:, :2].max() < 1e-3
    again = plant(root_motion="REMOVE", root=root)
    assert again["root"]["keys"] == 0
    assert any("The character stays in place" in said for said in again["notes"])
