"""IK switched off by keys in a new action, and held on in the one it was made from: Clear leaves the latter as it was."""

import bpy
import pytest

from tests.tasks.checks.file_dump import differences, dump_file
from tests.tasks.checks.targets import curves_of


def animation(rig):
    """The actions of the file with their fake users, the one that plays, and its curves' keys."""
    keys = {(curve.data_path, curve.array_index): [tuple(key.co) for key in curve.keyframe_points] for curve in curves_of(rig)}
    return {(action.name, action.use_fake_user) for action in bpy.data.actions}, rig.animation_data.action.name, keys


@pytest.mark.parametrize("switch_off", ["MUTE", "INFLUENCE"])
@pytest.mark.parametrize("times", [1, 2, 3])
def test_clear_gives_the_old_action_back(ik_leg, switch_off, times):
    ik_leg.pose.bones["upper"].keyframe_insert("location", frame=1)
    before = animation(ik_leg)
    for _ in range(times):
        bpy.ops.twobone.convert_ik(armature="Rig", switch_off=switch_off, destination="NEW_ACTION")
        if switch_off == "MUTE":
            break  # Then nothing is on IK any more.
    assert animation(ik_leg) != before
    bpy.ops.twobone.clear_baked(armature="Rig", upper="upper", lower="lower", all_frames=True)
    assert animation(ik_leg) == before


@pytest.mark.parametrize("times", [1, 2, 3])
def test_so_it_does_where_the_old_action_is_not_played(ik_leg, times):
    ik_leg.pose.bones["upper"].keyframe_insert("location", frame=1)
    ik_leg.animation_data.action = None
    before = dump_file()
    for _ in range(times):
        bpy.ops.twobone.convert_ik(armature="Rig", switch_off="INFLUENCE", destination="NEW_ACTION")
    bpy.ops.twobone.clear_baked(armature="Rig", upper="upper", lower="lower", all_frames=True)
    left = [path for path in differences(before, dump_file()) if "last_slot" not in path and ".users" not in path]
    assert not left
