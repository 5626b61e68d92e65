"""What keys on a target give back: the foot's rotation, and the way back as the keys were really written."""

import json
import math

import bpy
import numpy as np
import pytest

from tests.tasks.give.swinging_leg import BACK, LAST, joints, operator, refusal, sway
from tests.tasks.scenes import LEG, BoneShape, add_empty, build_armature, key_channel, set_range

FOOT = BoneShape("foot", (0.1, 0.3, -0.7), (0.15, -0.1, -0.8), "lower")


@pytest.fixture
def footed(empty_file):
    """A leg with a foot, all of which turn about all axes; the armature stands turned."""
    rig = build_armature((*LEG, FOOT))
    rig.rotation_euler = (0.2, -0.4, 1.1)
    sway(rig)
    foot = rig.pose.bones["foot"]
    foot.rotation_mode = "XYZ"
    turns = {frame: (math.sin(0.3 * frame), 2.0 * math.cos(0.2 * frame), 0.1 * frame) for frame in range(1, LAST + 1)}
    key_channel(foot, "rotation_euler", turns)
    add_empty("Target").location = (3, 3, 3)
    add_empty("Pole").location = (-3, 3, 3)
    set_range(1, LAST)
    return rig


def turns_of(rig, bone):
    """World rotations of a bone, as quaternions."""
    found = []
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)
        seen = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        found.append((seen.matrix_world @ seen.pose.bones[bone].matrix).to_quaternion())
    return found


def widest(before, after):
    """Largest angle between two lists of quaternions, degrees."""
    return max(math.degrees(first.rotation_difference(second).angle) for first, second in zip(before, after, strict=True))


def parent_it(target):
    parent = add_empty("Parent")
    key_channel(parent, "rotation_euler", {1: (0, 0, 0), LAST: (1, 2, 3)})
    parent.scale = (2, 2, 2)
    target.parent = parent


@pytest.mark.parametrize("mode", ["XYZ", "ZXY", "QUATERNION", "AXIS_ANGLE"])
@pytest.mark.parametrize("prepare", [None, parent_it, lambda target: setattr(target, "delta_rotation_euler", (1, 0.5, 0))])
def test_the_foot_comes_back_where_the_target_is_turned_as_well(footed, mode, prepare):
    target = bpy.data.objects["Target"]
    target.rotation_mode = mode
    if prepare:
        prepare(target)
    before, feet = joints(footed), turns_of(footed, "foot")
    names = {"tip": "foot", "plane": "POLE"}
    report = operator("bake_target", **names, rotate=True)
    assert report["max_end_turn"] < 0.01
    operator("bake", **names, end_rotation="TARGET")
    np.testing.assert_allclose(joints(footed), before, atol=BACK)
    assert widest(feet, turns_of(footed, "foot")) < 0.05


def test_copy_target_as_the_end_rotation_turns_the_target_too_and_its_own_rotation_keys_are_replaced(footed):
    target = bpy.data.objects["Target"]
    key_channel(target, "rotation_euler", {-10: (1, 2, 3), 5: (1, 1, 1), 40: (4, 5, 6)})
    feet = turns_of(footed, "foot")
    names = {"tip": "foot", "plane": "POLE", "end_rotation": "TARGET"}
    report = operator("bake_target", **names)
    assert report["keys"] == 9 * LAST
    for frame, turn in ((-10, (1, 2, 3)), (40, (4, 5, 6))):
        bpy.context.scene.frame_set(frame)
        assert target.rotation_euler[:] == pytest.approx(turn)
    operator("bake", **names)
    assert widest(feet, turns_of(footed, "foot")) < 0.05


def test_reduced_keys_turn_the_foot_no_farther_than_the_tolerance_and_the_report_says_how_far(footed):
    feet = turns_of(footed, "foot")
    names = {"tip": "foot", "plane": "POLE", "end_rotation": "TARGET"}
    report = operator("bake_target", **names, keys="REDUCE", tolerance=0.01)
    assert report["keys"] < report["full_rate_keys"]
    operator("bake", **names)
    turned = widest(feet, turns_of(footed, "foot"))
    assert math.radians(turned) * 1.6 < 0.0101
    assert report["max_end_turn"] == pytest.approx(turned, abs=0.02)


def test_a_target_whose_rotation_is_driven_is_refused_only_where_it_is_to_be_turned(footed):
    bpy.data.objects["Target"].driver_add("rotation_euler", 1)
    operator("bake_target", tip="foot", plane="POLE")
    assert "rotation_euler[1] is driven" in refusal(tip="foot", plane="POLE", rotate=True)


@pytest.mark.parametrize("tolerance", [0.003, 0.03])
def test_the_round_trip_is_that_of_the_keys_that_were_written(leg, tolerance):
    sway(leg)
    before = joints(leg)
    report = operator("bake_target", plane="POLE", keys="REDUCE", tolerance=tolerance)
    operator("bake", plane="POLE")
    back = np.linalg.norm(joints(leg) - before, axis=-1).max()
    assert back > tolerance / 4
    assert report["max_round_trip"] == pytest.approx(back, rel=0.05)


def test_motion_that_leaves_the_plane_is_said(leg):
    sway(leg)
    report = operator("bake_target", plane="YZ", bend="KEEP")
    assert [note for note in report["notes"] if note.startswith("The motion leaves the plane: a bake with it moves joints by")]


def test_all_chains_of_the_armature_at_once(empty_file):
    other = tuple(BoneShape(f"{each.name}2", each.head, each.tail, f"{each.parent}2" if each.parent else "") for each in LEG)
    rig = build_armature((*LEG, *other))
    set_range(1, LAST)
    for name in ("", "2"):
        rig.pose.bones[f"upper{name}"].rotation_mode = "XYZ"
        key_channel(rig.pose.bones[f"upper{name}"], "rotation_euler", {1: (0, 0, 0), LAST: (0.5, 0.2, 0.1)})
        chain = rig.twobone.chains.add()
        chain.name, chain.upper, chain.lower, chain.plane = f"Leg{name}", f"upper{name}", f"lower{name}", "POLE"
    assert bpy.ops.twobone.bake_target(scope="ACTIVE", keys="REDUCE") == {"FINISHED"}
    report = json.loads(bpy.context.window_manager.twobone_report)
    assert [chain["upper"] for chain in report["chains"]] == ["upper", "upper2"]
    assert all(chain["keys"] < chain["full_rate_keys"] for chain in report["chains"])
    assert report["sentence"] == f"{sum(chain['keys'] for chain in report['chains'])} keys on the targets of 2 chains"
    assert all(chain.target is not None for chain in rig.twobone.chains)
