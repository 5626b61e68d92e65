"""Two IK constraints on the same two bones: one limb to the animator, and both are off afterwards."""

import bpy
import pytest

from tests.tasks.rigs.legs_with_ik import RESIDUAL, add_ik, assert_nothing_moved, convert, poses
from tests.tasks.scenes import add_empty, key_channel


@pytest.fixture(params=["on the same bone", "on the foot", "one after the other"])
def twice(request, ik_leg):
    """The leg with a second constraint: which of them poses it depends on where they are, and on their influence."""
    second = add_ik(ik_leg, "foot" if request.param == "on the foot" else "lower", use_tail=request.param != "on the foot")
    second.name = "Second"
    if request.param == "one after the other":
        first, other = ik_leg.pose.bones["lower"].constraints["IK"], add_empty("Other")
        second.target, other.location = other, (0.1, 0.6, -0.4)
        key_channel(first, "influence", {1: 1.0, 8: 1.0, 9: 0.0, 24: 0.0})
    return ik_leg, ik_leg.pose.bones["lower"].constraints["IK"], second


@pytest.mark.parametrize("switch_off", ["MUTE", "INFLUENCE"])
def test_two_constraints_are_one_limb_and_nothing_moves(twice, switch_off):
    rig, *both = twice
    before = poses(rig)
    report = convert(rig, switch_off=switch_off)
    assert report["sentence"].startswith("upper to lower move as on IK (within ")
    assert len(report["chains"]) == 1
    (other,) = {"IK", "Second"} - {report["constraint"]}
    assert any(f'constraint "{other}"' in note and "same bones" in note for note in report["notes"])
    assert_nothing_moved(before, poses(rig), RESIDUAL)
    for frame in (1, 12, 24):
        bpy.context.scene.frame_set(frame)
        assert all(each.mute if switch_off == "MUTE" else each.influence == 0.0 for each in both)


def test_the_other_one_goes_too_where_one_is_meant(twice):
    rig, first, second = twice
    before = poses(rig)
    carrier = "foot" if "Second" in rig.pose.bones["foot"].constraints else "lower"
    report = convert(rig, bone=carrier)
    assert len(report["chains"]) == 1
    assert first.mute
    assert second.mute
    assert_nothing_moved(before, poses(rig))
    assert report["max_moved"] < RESIDUAL
