"""Two takes in one range, joined by a cut: each is planted as if it were alone, and nothing is eased across."""

import bpy
import numpy as np
import pytest

from tests.tasks.checks.seen_walk import SIDES, Seen, plant, whole_frames
from tests.tasks.rigs.walker import Walk, build_walker, key_contacts

LAST, CUT = 48, 25
"""Last frame, and first frame of the second take."""


def two_takes(jump, *, on_root=False):
    """A walker that is somewhere else from a frame on: its object, or its root, jumps."""
    armature, states = build_walker(Walk(frames=LAST, slide=0.02, raised=0.02))
    key_contacts(armature, states)
    mover = armature.pose.bones["root"] if on_root else armature
    for frame, place in ((1, (0, 0, 0)), (CUT - 1, (0, 0, 0)), (CUT, jump), (LAST, jump)):
        mover.location = place
        mover.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(1)
    return armature


def feet(armature):
    seen = Seen(armature, whole_frames())
    return np.array([[seen.heels[side], seen.balls[side]] for side in SIDES] + [[seen.hips, seen.hips]])


@pytest.mark.parametrize("jump, on_root", [((3, 0, 0), False), ((0, -2, 0), False), ((0, 5, 0), True)])
def test_takes_are_planted_as_if_each_were_alone(empty_file, jump, on_root):
    armature = two_takes(jump, on_root=on_root)
    for first, last in ((1, CUT - 1), (CUT, LAST)):
        plant(frame_range="CUSTOM", frame_start=first, frame_end=last, ground_moves="NO")
    alone = feet(armature)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    armature = two_takes(jump, on_root=on_root)
    before = feet(armature)
    plant(ground_moves="NO")
    together = feet(armature)
    assert np.abs(together - before).max() > 0.005, "nothing was planted"
    assert np.abs(together - alone).max() < 1e-3


def test_no_contact_goes_on_across_a_cut(empty_file):
    armature = two_takes((3, 0, 0))
    report = plant(ground_moves="NO")
    for chain in report["chains"]:
        assert not any(each["first"] < CUT <= each["last"] for each in chain["contacts"])
    assert "cycle" not in report["sentence"]
    assert armature.animation_data.action is not None
