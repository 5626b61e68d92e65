"""Plane and bend that nobody chose: each default, given by its name, does what leaving it out does."""

import json

import bpy
import numpy as np
import pytest

from tests.promises.promises import all_poses
from tests.promises.tasks_under_test import LIMB, keyed_leg

ON_TARGET = 1e-4
SAME = 1e-5


@pytest.fixture
def leg_without_chain(registered_addon):
    """A keyed leg without a chain in its list; the target is beside every letter plane."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    rig = keyed_leg()
    rig.twobone.chains.clear()
    bpy.data.objects["Target"].delta_location.x = 0.15
    bpy.context.view_layer.update()
    return rig


def baked(**given) -> tuple[np.ndarray, float]:
    """Poses after a bake that is undone by the next file, and the largest distance to the target."""
    assert bpy.ops.twobone.bake(**LIMB, target="Target", **given) == {"FINISHED"}
    report = json.loads(bpy.context.window_manager.twobone_report)
    return all_poses(), report["max_distance_to_target"]


NAMED = [
    {name: value}
    for name, value in {"plane": "AUTO", "plane_space": "AUTO", "bend": "AUTO", "depth": "AUTO", "reference": "AUTO"}.items()
]


@pytest.mark.parametrize("given", [*NAMED, {"bend": "POSITIVE"}, {"bend": "KEEP"}, {"reference": "POSE"}], ids=str)
def test_a_named_default_keeps_the_limb_on_its_target(leg_without_chain, given, tmp_path):
    path = str(tmp_path / "leg.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path, check_existing=False)
    expected, distance = baked()
    assert distance < ON_TARGET, "the pose's own plane reaches it"
    bpy.ops.wm.open_mainfile(filepath=path)
    poses, distance = baked(**given)
    assert distance < ON_TARGET
    assert np.abs(poses - expected).max() < SAME


@pytest.mark.parametrize("given", [{"plane": "YZ"}, {"plane": "YZ", "bend": "AUTO", "reference": "AUTO"}], ids=str)
def test_a_named_plane_leaves_the_rest_as_it_was_before_there_was_automatic(leg_without_chain, given, tmp_path):
    path = str(tmp_path / "leg.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path, check_existing=False)
    expected, _ = baked(plane="YZ", plane_space="ARMATURE", bend="POSITIVE", depth="KEEP", reference="REST")
    bpy.ops.wm.open_mainfile(filepath=path)
    poses, _ = baked(**given)
    assert np.abs(poses - expected).max() < SAME


def test_a_stored_chain_with_an_automatic_plane_bakes_as_one_that_is_not_stored(leg_without_chain, tmp_path):
    path = str(tmp_path / "leg.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path, check_existing=False)
    expected, _ = baked()
    bpy.ops.wm.open_mainfile(filepath=path)
    chain = bpy.data.objects["Rig"].twobone.chains.add()
    chain.name, chain.upper, chain.lower, chain.target = "leg", "upper", "lower", bpy.data.objects["Target"]
    chain.plane = chain.plane_space = chain.bend = chain.depth = chain.reference = "AUTO"
    chain.frame_range = "SCENE"
    assert bpy.ops.twobone.bake() == {"FINISHED"}
    assert np.abs(all_poses() - expected).max() < SAME


def test_a_nudge_without_a_frame_is_at_the_current_one_also_if_the_default_is_named(leg_without_chain):
    frame = bpy.ops.twobone.nudge.get_rna_type().properties["frame"].default
    bpy.context.scene.frame_set(5)
    assert bpy.ops.twobone.nudge(upper="upper", lower="lower", offset=(0.0, 0.02, 0.0), frame=frame) == {"FINISHED"}
    assert json.loads(bpy.context.window_manager.twobone_report)["frame"] == 5.0
