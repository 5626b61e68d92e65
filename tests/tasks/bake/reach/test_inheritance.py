"""Scale and flags of the bones above: whatever a bone takes over from its parent, the tip is on the target."""

import pytest

from tests.tasks.checks.checking import RIG, assert_bake_reaches
from tests.tasks.checks.targets import posed_target
from tests.tasks.scenes import build_armature, key_channel, set_range

INHERIT_SCALE = ("FULL", "FIX_SHEAR", "ALIGNED", "AVERAGE", "NONE", "NONE_LEGACY")
FLAGS = [(rotation, location) for rotation in (True, False) for location in (True, False)]
UNEVEN = {"uneven": (1.5, 0.7, 1.1), "mirrored": (-1.2, 0.8, 1.0), "turned inside out": (-1.1, -0.9, -1.3)}

each_mode = pytest.mark.parametrize("mode", INHERIT_SCALE)
each_flags = pytest.mark.parametrize("flags", FLAGS, ids=lambda flags: f"rotation={flags[0]}-location={flags[1]}")


@pytest.fixture
def rig(empty_file):
    set_range(1, 12)
    return build_armature()


def moving_parent(rig, scales):
    """Turn, move and scale the parent over the range."""
    parent = rig.pose.bones["parent"]
    parent.rotation_mode = "XYZ"
    key_channel(parent, "rotation_euler", {1: (0.4, 0.2, 0), 12: (-0.5, 0.3, 2)})
    key_channel(parent, "location", {1: (0, 0, 0), 12: (0.3, 0.2, 0.5)})
    key_channel(parent, "scale", scales)


def set_flags(rig, mode, flags):
    for name in ("upper", "lower"):
        bone = rig.data.bones[name]
        bone.inherit_scale = mode
        bone.use_inherit_rotation, bone.use_local_location = flags
    key_channel(rig.pose.bones["upper"], "location", {1: (0.1, 0, 0.2), 12: (-0.1, 0.3, 0)})


@each_flags
@each_mode
def test_every_flag_under_a_parent_scaled_evenly(rig, mode, flags):
    set_flags(rig, mode, flags)
    moving_parent(rig, {1: (1.5, 1.5, 1.5), 12: (0.5, 0.5, 0.5)})
    assert_bake_reaches(rig, posed_target(rig, RIG), plane="YZ")


@pytest.mark.parametrize("flags", [(True, False), (False, True)], ids=["rotation", "location"])
@each_mode
@pytest.mark.parametrize("scale", UNEVEN.values(), ids=UNEVEN.keys())
def test_every_flag_under_a_parent_scaled_unevenly(rig, mode, flags, scale):
    set_flags(rig, mode, flags)
    moving_parent(rig, {1: scale, 12: tuple(1.2 * part for part in scale)})
    assert_bake_reaches(rig, posed_target(rig, RIG))
