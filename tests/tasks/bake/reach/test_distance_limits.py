"""Bounds of the distance between root joint and tip are world units, however the armature is scaled."""

import bpy
import numpy as np
import pytest

from tests.interface.acting import joints_world
from tests.tasks.scenes import LEG, Limb, add_empty, bake, build_armature, key_places, set_range

COUNT = 12
SCALES = {
    "as it is": (1, 1, 1),
    "centimetres": (0.01, 0.01, 0.01),
    "big": (30, 30, 30),
    "mirrored": (-2, 2, 2),
    "uneven": (1.0, 2.0, 0.5),
}


@pytest.fixture(params=SCALES)
def scaled(empty_file, request):
    """The leg on a scaled, turned armature, its root in world space, and how long it is there."""
    rig = build_armature(LEG)
    rig.scale = SCALES[request.param]
    rig.rotation_euler = (0.3, -0.2, 0.9)
    rig.location = (1.0, -2.0, 3.0)
    set_range(1, COUNT)
    bpy.context.view_layer.update()
    root, knee, tip = (np.array(place) for place in joints_world(rig, "upper", "lower"))
    return rig, root, np.linalg.norm(knee - root) + np.linalg.norm(tip - knee)


def outward(rig, root, *, near, far):
    """A target that goes away from the root in the limb's plane, turning meanwhile."""
    parts, turns = np.linspace(near, far, COUNT), np.linspace(-0.4, 0.4, COUNT)
    local = np.stack([np.zeros(COUNT), np.sin(turns), -np.cos(turns)], axis=-1)
    ways = local @ np.array(rig.matrix_world.to_3x3()).T
    ways /= np.linalg.norm(ways, axis=-1)[:, None]
    key_places(add_empty(), root + ways * parts[:, None])
    return parts


def distances(rig):
    found = []
    for frame in range(1, COUNT + 1):
        bpy.context.scene.frame_set(frame)
        root, _, tip = joints_world(rig, "upper", "lower")
        found.append((tip - root).length)
    return np.array(found)


@pytest.mark.parametrize("plane", ["YZ", "POSE"])
def test_a_tip_goes_no_farther_than_it_may_in_world_units(scaled, plane):
    rig, root, length = scaled
    wanted = outward(rig, root, near=0.3 * length, far=0.6 * length)
    most = 0.45 * length
    bake(Limb("Rig"), target="Target", plane=plane, max_distance=most)
    assert distances(rig) == pytest.approx(np.minimum(wanted, most), rel=1e-4)


@pytest.mark.parametrize("plane", ["YZ", "POSE"])
def test_a_tip_comes_no_nearer_than_it_may_in_world_units(scaled, plane):
    rig, root, length = scaled
    wanted = outward(rig, root, near=0.3 * length, far=0.6 * length)
    least = 0.45 * length
    bake(Limb("Rig"), target="Target", plane=plane, min_distance=least)
    assert distances(rig) == pytest.approx(np.maximum(wanted, least), rel=1e-4)


def test_the_box_in_the_panel_starts_at_the_limbs_length_in_the_world(scaled):
    rig, _, length = scaled
    chain = rig.twobone.chains.add()
    chain.name, chain.upper, chain.lower = "Leg", "upper", "lower"
    bpy.ops.twobone.switch_setting(setting="max_distance")
    assert chain.max_distance == pytest.approx(length, rel=1e-4)
    bpy.ops.twobone.switch_setting(setting="min_distance")
    assert 0.0 < chain.min_distance < length
