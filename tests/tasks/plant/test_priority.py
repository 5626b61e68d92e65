"""What gives way: the body, the feet, or nothing but heights; and what the report says of it, against an own measurement."""

import bpy
import numpy as np
import pytest

from tests.tasks.checks.seen_walk import LEG, SIDES, SLIDE, Seen, plant, whole_frames, worst_slide
from tests.tasks.rigs.walker import Walk, build_walker, key_contacts
from twobone_addon.scene.versions import curve_bag


def walker(walk):
    armature, states = build_walker(walk)
    key_contacts(armature, states)
    return armature, states, Seen(armature, whole_frames())


def moved(before, after):
    return np.linalg.norm(np.array(after) - np.array(before), axis=-1).max()


def test_with_the_body_first_it_stays_and_small_slides_stay(empty_file):
    armature, states, before = walker(Walk(slide=0.008))
    plant(priority="BODY")
    after = Seen(armature, whole_frames())
    assert moved(before.hips, after.hips) == 0.0
    assert worst_slide(after, states) == pytest.approx(worst_slide(before, states), abs=1e-6)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    armature, states, before = walker(Walk(slide=0.08, raised=-0.05))
    plant(priority="BODY")
    after = Seen(armature, whole_frames())
    assert moved(before.hips, after.hips) == 0.0
    assert worst_slide(after, states) < 0.02 < worst_slide(before, states)


def test_with_heights_first_feet_come_to_the_ground_and_glide_on(empty_file):
    armature, states, before = walker(Walk(slide=0.08))
    for curve in curve_bag(armature).fcurves:
        if curve.data_path == 'pose.bones["hips"].location' and curve.array_index == 1:
            for key in curve.keyframe_points:
                key.co.y += 0.02
            curve.update()
    floating = Seen(armature, whole_frames())
    plant(priority="HEIGHTS", ground="HEIGHT", ground_height=0.0)
    after = Seen(armature, whole_frames())
    for side in SIDES:
        for places, bit, height in (("heels", 1, 0.0), ("balls", 2, 0.02)):
            stands = states[side] & bit != 0
            then, now = (np.array(getattr(seen, places)[side])[stands] for seen in (floating, after))
            assert now[:, 2] == pytest.approx(height, abs=SLIDE)
            assert np.abs(then[:, 2] - height).max() > 0.015
            assert np.abs(now[:, :2] - then[:, :2]).max() < 0.01, "it glides as before"
    assert worst_slide(before, states) > 0.02


@pytest.mark.parametrize("walk", [Walk(slide=0.15), Walk(slide=0.03, raised=0.03)], ids=["slides", "too high"])
def test_the_report_sees_all_low_feet_and_what_the_hips_had_to_do(empty_file, walk):
    armature, _, before = walker(walk)
    report = plant(reserve=0.0)
    after = Seen(armature, whole_frames())
    for when, seen in (("before", before), ("after", after)):
        counts = []
        for side, chain in zip(SIDES, report["chains"], strict=True):
            balls = np.array(seen.balls[side])
            low = balls[:, 2] <= np.quantile(balls[:, 2], 0.02) + 0.056 * LEG
            speeds = np.linalg.norm(np.gradient(balls[:, :2], 1.0 / walk.rate, axis=0), axis=1)
            counts.append((np.count_nonzero(low & (speeds > 0.56 * LEG)), np.count_nonzero(low)))
            assert chain[f"skate_share_{when}"] == pytest.approx(counts[-1][0] / counts[-1][1])
        assert report[f"skate_share_{when}"] == pytest.approx(sum(c[0] for c in counts) / sum(c[1] for c in counts))
    root = report["root"]
    assert root["max_move"] == pytest.approx(moved(before.hips, after.hips), abs=2e-5)
    assert root["least_move"] <= root["max_move"] + 1e-6
    assert root["max_move"] <= 1.2 * root["least_move"] + 0.001
