"""What all tests of live chains, dragging and progress begin with."""

import bpy
import pytest

from tests.tasks.scenes import leg_with_chain


@pytest.fixture
def leg(empty_file):
    """A leg with one stored chain in the plane YZ and a target."""
    return leg_with_chain(plane="YZ", place=(0.1, 0.5, 0.1))


@pytest.fixture
def leg_in_scene(leg):
    """The same, evaluated in its scene over forty frames."""
    leg.twobone.chains[0].evaluation = "SCENE"
    bpy.context.scene.frame_end = 40
    return leg
