"""What the other tasks say of limbs that are live: those that key them name Bake, with its button; those that read go on."""

import bpy
import numpy as np
import pytest

import twobone_addon
from tests.interface.recording import Layout
from tests.pipeline.live.live_scene import needs_nodes
from tests.pipeline.live.test_removed import everything
from tests.tasks.rigs.walker import Walk, build_walker
from twobone_addon.errors import DependencyError
from twobone_addon.interface.rows import draw_remedy
from twobone_addon.scene.live.limbs import live_limbs

pytestmark = needs_nodes

BONES = ("thigh.L", "shin.L", "foot.L")


@pytest.fixture
def walker(empty_file):
    """A walking character whose legs are live, at the places where they walked."""
    rig, _ = build_walker(Walk(slide=0.02, raised=0.03))
    bpy.context.view_layer.objects.active = rig
    bpy.ops.twobone.find_limbs(targets=True, live=True)
    assert len(live_limbs(rig)) == 2
    return rig


KEYING = {
    "nudge": {"offset": (0.0, 0.1, 0.0)},
    "plant": {},
    "fit_root": {},
    "switch": {"to": "FK"},
    "convert_ik": {},
}


@pytest.mark.parametrize("task", KEYING)
def test_a_task_that_keys_the_limb_refuses_with_the_same_button(walker, task):
    bpy.ops.twobone.find_contacts()
    before = everything()
    with pytest.raises(DependencyError, match=r"Live poses bone .* Use Bake, or switch Live off") as refused:
        getattr(twobone_addon, task)(**KEYING[task])
    assert everything() == before
    layout = Layout()
    assert draw_remedy(layout, refused.value.sentence)
    assert layout.buttons() == ["twobone.bake"]


def test_switch_to_ik_finds_live_in_its_way_as_well(walker):
    with pytest.raises(DependencyError, match="Live poses bone"):
        twobone_addon.switch(to="IK")


def seen(rig):
    """Joints of a leg at each frame, `(F, 3, 3)`."""
    rows = []
    for frame in range(bpy.context.scene.frame_start, bpy.context.scene.frame_end + 1):
        bpy.context.scene.frame_set(frame)
        rows.append([rig.matrix_world @ rig.pose.bones[bone].head for bone in BONES])
    return np.array(rows)


def test_audit_and_bake_target_read_the_motion_that_is_seen_and_leave_it_live(walker):
    before = seen(walker)
    assert bpy.ops.twobone.audit() == {"FINISHED"}
    assert bpy.ops.twobone.bake_target() == {"FINISHED"}
    assert len(live_limbs(walker)) == 2
    assert np.abs(seen(walker) - before).max() < 1e-4


def test_bake_helps_and_then_the_task_runs(walker):
    before = seen(walker)
    assert bpy.ops.twobone.bake_all() == {"FINISHED"}
    assert not live_limbs(walker)
    assert np.abs(seen(walker) - before).max() < 1e-5
    assert bpy.ops.twobone.find_contacts() == {"FINISHED"}
    assert bpy.ops.twobone.plant() == {"FINISHED"}
