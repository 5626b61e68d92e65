"""A task beside the frames of another leaves the other's keys: while it is done, edited, done again, and cleared."""

import bpy
import numpy as np
import pytest

from tests.promises.tasks_under_test import IN_PLANE, LIMB, keyed_leg
from tests.tasks.checks.targets import curves_of
from tests.tasks.rigs.legs_with_ik import add_ik
from tests.tasks.scenes import sentence_of

EARLY = {"frame_range": "CUSTOM", "frame_start": 1.0, "frame_end": 4.0}
LATE = {"frame_range": "CUSTOM", "frame_start": 4.0, "frame_end": 8.0}
BORDER = 4.0
ON_TARGET = {**LIMB, "target": "Target", **IN_PLANE}


def bake(within, **more):
    return bpy.ops.twobone.bake(**{**ON_TARGET, **within, **more})


def bake_sparsely(within, **more):
    return bake(within, keys="TARGET_KEYS", interpolation="BEZIER", **more)


def bake_reduced(within, **more):
    return bake(within, keys="REDUCE", tolerance=0.02, **more)


def convert(within, **more):
    rig = bpy.data.objects["Rig"]
    ik = rig.pose.bones["lower"].constraints.get("IK") or add_ik(rig, "lower")
    ik.mute, ik.influence = False, 1.0
    return bpy.ops.twobone.convert_ik(armature="Rig", **{**within, **more})


def nudge(within, **more):
    middle = 0.5 * (within["frame_start"] + within["frame_end"])
    reach = {"before": middle - within["frame_start"], "after": within["frame_end"] - middle}
    given = {"offset": (0.0, 0.03, 0.05), **reach}
    if more:
        given["offset"] = (0.0, -0.02, 0.04)
    return bpy.ops.twobone.nudge(armature="Rig", chain="leg", frame=middle, **given)


TASKS = {"bake": bake, "bake sparsely": bake_sparsely, "bake reduced": bake_reduced, "convert": convert, "nudge": nudge}
OTHERWISE = {"bend": "NEGATIVE"}


def keys_on(side):
    """All keys of the limb on one side of the border, curve by curve."""
    found = {}
    for curve in curves_of(bpy.data.objects["Rig"]):
        if "rotation" in curve.data_path:
            keys = [(key.co.x, key.co.y, key.type) for key in curve.keyframe_points if side * (key.co.x - BORDER) > 0.01]
            found[curve.data_path, curve.array_index] = keys
    return found


def assert_same(before, now, what, held_at=None):
    """All keys are as before; at one frame beside a range there may be a new one, which holds what was there."""
    for place, keys in before.items():
        own = {key[0] for key in keys}
        present = [key for key in now.get(place, []) if key[0] in own or key[0] != held_at]
        assert [key[::2] for key in keys] == [key[::2] for key in present], (what, place)
        np.testing.assert_allclose([key[1] for key in keys], [key[1] for key in present], atol=1e-6, err_msg=str((what, place)))


@pytest.mark.parametrize("order", ["early first", "late first"])
@pytest.mark.parametrize("second", TASKS)
@pytest.mark.parametrize("first", TASKS)
def test_keys_beside_stay_through_a_task_its_edit_and_its_clear(registered_addon, empty_file, first, second, order):
    keyed_leg()
    ranges = (EARLY, LATE) if order == "early first" else (LATE, EARLY)
    side = -1.0 if order == "early first" else 1.0
    assert TASKS[first](ranges[0]) == {"FINISHED"}
    before = keys_on(side)
    more = {} if second == "convert" else OTHERWISE
    # A conversion over a part leaves the IK on beside it, and the bones below as they were up to the next frame.
    held_at = BORDER + side if second == "convert" else None
    for what, given in (("done", {}), ("edited", more), ("again", more)):
        try:
            TASKS[second](ranges[1], **given)
        except RuntimeError as error:
            sentence_of(error)
        assert_same(before, keys_on(side), what, held_at)
    bpy.ops.twobone.clear_baked(**LIMB, **ranges[1])
    # Clear says that it leaves what is outside its range.
    assert_same(before, keys_on(side), "cleared", held_at)
