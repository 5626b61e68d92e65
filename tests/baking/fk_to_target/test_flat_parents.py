"""Targets that a parent of no size would put elsewhere: nothing is keyed."""

import bpy
import numpy as np
import pytest
from mathutils import Euler

from tests.baking.fk_to_target.test_bake_target import joints, leg, operator, places, refusal
from tests.baking.ik_to_fk.test_convert_ik import poses
from tests.baking.scenes import add_empty, key_channel

__all__ = ["leg"]


@pytest.mark.parametrize("role", ["Target", "Pole"])
@pytest.mark.parametrize("scale", [(1, 0, 1), (0, 0, 0)])
def test_a_parent_that_is_scaled_to_nothing_is_refused_before_anything_is_changed(leg, role, scale):
    group, thing = add_empty("Group"), bpy.data.objects[role]
    group.rotation_euler = (0.3, 0.5, 0.7)
    key_channel(group, "scale", {7: (1, 1, 1), 8: scale})
    thing.parent = group
    # Such as Ctrl P leaves it: what is flat is then no more along an axis of its own.
    thing.matrix_parent_inverse = Euler((0.2, 0.9, 0.4)).to_matrix().to_4x4()
    before = poses(leg)
    said = refusal(plane="POLE")
    assert f'Object "{role}" inherits a scale of 0 from its parent at frame 8, so keys would not place it' in said
    assert [bpy.data.objects[name].animation_data for name in ("Target", "Pole")] == [None, None]
    np.testing.assert_array_equal(poses(leg), before)
    key_channel(group, "scale", {7: (1, 1, 1), 8: (1, 1e-3, 1)})
    operator("bake_target", plane="POLE")
    np.testing.assert_allclose(places("Target"), joints(leg)[:, 2], atol=1e-4)
