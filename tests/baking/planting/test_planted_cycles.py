"""Cycles that are planted: whether first and last pose still fit is measured and said."""

import bpy
import numpy as np
import pytest

from tests.baking.checks.seen_walk import SIDES, Seen, plant
from tests.baking.rigs.walker import Walk, build_walker, key_contacts

CYCLE = 24
"""Frames of a walk with a step time of one second."""


def gone(armature):
    """How far each point of the legs is at the last frame from where it is at the first, as Blender evaluates it."""
    scene, ends = bpy.context.scene, []
    for frame in (scene.frame_start, scene.frame_end):
        scene.frame_set(frame)
        heads = [armature.pose.bones[f"{name}.{side}"].head for name in ("thigh", "shin", "foot", "toe") for side in SIDES]
        seen = Seen(armature, [frame])
        ends.append([np.array(armature.matrix_world @ head) for head in heads] + [seen.heels[side][0] for side in SIDES])
    return np.array(ends[1]) - ends[0]


def make_cycle():
    """A walk of two rounds through the world that ends in the pose in which it began; what stands, and how far it goes."""
    armature, states = build_walker(Walk(frames=2 * CYCLE + 1, step_time=1.0))
    before = gone(armature)
    assert np.abs(before - before.mean(axis=0)).max() < 1e-6
    return armature, states, before


@pytest.mark.parametrize("root_motion", ["KEEP", "REMOVE"])
def test_a_cycle_that_opens_is_said_so_by_as_much_as_is_seen(empty_file, root_motion):
    armature, states, before = make_cycle()
    key_contacts(armature, states)
    report = plant(root_motion=root_motion)
    left = gone(armature) - before - report["root"]["travel"]
    gap = np.linalg.norm(left, axis=1).max()
    assert gap > 0.01
    assert report["cycle_gap"] == pytest.approx(gap, abs=1e-6)
    assert f"first and last pose differ by up to {100 * gap:.2g} cm" in report["sentence"]


def test_a_cycle_whose_ends_are_left_alone_stays_closed(empty_file):
    armature, states, before = make_cycle()
    middle = np.abs(np.arange(2 * CYCLE + 1) - CYCLE) < CYCLE // 4
    key_contacts(armature, {side: np.where(middle, each, 0) for side, each in states.items()})
    report = plant()
    assert np.abs(gone(armature) - before).max() < 1e-4
    assert report["cycle_gap"] < 1e-4
    assert "cycle" not in report["sentence"]


def test_a_walk_that_ends_in_another_pose_is_no_cycle(empty_file):
    armature, states = build_walker(Walk(frames=2 * CYCLE + 9, step_time=1.0))
    key_contacts(armature, states)
    report = plant()
    assert report["cycle_gap"] is None
    assert "cycle" not in report["sentence"]
