"""What all tests of live chains, dragging and progress begin with."""

import bpy
import pytest

from tests.tasks.scenes import LEG, add_empty, build_armature
from twobone_addon.interface.live import following as live


@pytest.fixture
def leg(empty_file):
    """A leg with one stored chain in the plane YZ and a target; nothing is live afterwards."""
    rig = build_armature(LEG)
    chain = rig.twobone.chains.add()
    chain.name, chain.upper, chain.lower, chain.target, chain.plane = "Leg", "upper", "lower", add_empty(), "YZ"
    chain.target.location = (0.1, 0.5, 0.1)
    bpy.context.view_layer.update()
    yield rig
    live.stop_all()


@pytest.fixture
def leg_in_scene(leg):
    """The same, evaluated in its scene over forty frames."""
    leg.twobone.chains[0].evaluation = "SCENE"
    bpy.context.scene.frame_end = 40
    return leg
