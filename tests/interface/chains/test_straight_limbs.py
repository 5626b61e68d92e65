"""A limb that is straight at the present frame bends in the overlay as a bake bends it: as at the frames around."""

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from tests.interface.acting import joints_world
from tests.pipeline.live.live_scene import needs_nodes
from tests.tasks.scenes import BoneShape, leg_with_chain, set_range
from twobone_addon.interface import watching
from twobone_addon.interface.overlay import data as overlay_data

STRAIGHT = (BoneShape("upper", (0, 0, 2), (0, 0, 1)), BoneShape("lower", (0, 0, 1), (0, 0, 0), "upper", connected=True))
PRESENT = 10


@pytest.fixture
def straight_leg(empty_file):
    """Straight at rest, bent sideways at frames 1 and 20, straight at the present frame, where its target is nearer."""
    rig = leg_with_chain(STRAIGHT)
    set_range(1, 20)
    upper, lower = (rig.pose.bones[name] for name in ("upper", "lower"))
    for frame, bend in ((1, 0.6), (PRESENT, 0.0), (20, 0.8)):
        upper.rotation_quaternion = Matrix.Rotation(0.7, 3, "Y").to_quaternion()
        lower.rotation_quaternion = Matrix.Rotation(bend, 3, (0.6, 0.0, 0.8)).to_quaternion()
        for bone in (upper, lower):
            bone.keyframe_insert("rotation_quaternion", frame=frame)
    chain = rig.twobone.chains[0]
    chain.plane, chain.reference = "POSE", "POSE"
    chain.target.location = (0.0, 0.0, 0.4)
    bpy.context.scene.frame_set(PRESENT)
    bpy.context.view_layer.update()
    yield rig
    overlay_data.forget()
    watching.unregister()


def knee(rig):
    return np.array(joints_world(rig, "upper", "lower")[1])


def baked_knee(rig):
    bpy.ops.twobone.bake()
    bpy.context.scene.frame_set(PRESENT)
    return knee(rig)


def test_the_overlay_shows_the_plane_of_the_frames_around(straight_leg):
    overlay_data.update(bpy.context, straight_leg)
    shown = overlay_data.update(bpy.context, straight_leg).picture.joints[1]
    assert np.linalg.norm(shown - baked_knee(straight_leg)) < 1e-4


@needs_nodes
def test_its_live_is_refused_since_its_plane_depends_on_the_frames_around(straight_leg):
    with pytest.raises(RuntimeError, match="Use Bake"):
        bpy.ops.twobone.live(state="ON")


@pytest.mark.parametrize("plane, across", [("YZ", 0), ("XZ", 1)])
def test_the_new_pole_of_a_limb_that_is_straight_lies_in_the_chains_letter_plane(empty_file, plane, across):
    rig = leg_with_chain(STRAIGHT)
    chain = rig.twobone.chains[0]
    chain.plane = plane
    bpy.ops.twobone.add_pole()
    from_knee = np.array(chain.pole.matrix_world.translation) - (0.0, 0.0, 1.0)
    assert np.linalg.norm(from_knee) > 1.0
    assert abs(from_knee[across]) < 1e-5
