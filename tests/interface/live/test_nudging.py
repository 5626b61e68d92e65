"""A nudge is held to an axis or a plane as it is seen from the viewer."""

import numpy as np
import pytest

from twobone_addon.interface.live.nudging import constrained, length

FRONT = np.array((0.0, 1.0, 0.0))
SLANTED = np.array((0.6, 0.64, 0.48))


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_along_an_axis_it_stays_as_near_to_the_mouse_as_that_axis_is_seen(axis):
    moved = np.cross(SLANTED, (0.3, -0.2, 0.5))
    found = constrained(moved, SLANTED, axis, is_plane=False)
    assert not np.delete(found, axis).any()
    left = moved - found
    seen = np.eye(3)[axis] - SLANTED * SLANTED[axis]
    assert left @ seen == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_in_a_plane_it_stays_under_the_mouse(axis):
    moved = np.cross(SLANTED, (0.3, -0.2, 0.5))
    found = constrained(moved, SLANTED, axis, is_plane=True)
    assert found[axis] == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(np.cross(found - moved, SLANTED), 0.0, atol=1e-12)


def test_an_axis_that_points_at_the_viewer_and_a_plane_seen_from_its_edge_take_what_lies_in_them():
    moved = np.array((0.2, 0.0, 0.3))
    np.testing.assert_allclose(constrained(moved, FRONT, 1, is_plane=False), 0.0)
    np.testing.assert_allclose(constrained(moved, FRONT, 0, is_plane=True), (0.0, 0.0, 0.3))


@pytest.mark.parametrize(
    "units, scale, said",
    [("METRIC", 1.0, "-25 cm"), ("METRIC", 0.01, "-2.5 mm"), ("IMPERIAL", 0.3048, '-3"'), ("NONE", 1.0, "-0.25")],
)
def test_the_header_tells_lengths_in_the_scenes_units(empty_file, units, scale, said):
    scene = empty_file.scene
    scene.unit_settings.system, scene.unit_settings.scale_length = units, scale
    assert length(scene, -0.25) == said
