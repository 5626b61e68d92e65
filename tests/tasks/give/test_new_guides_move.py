"""A new target or pole of a limb that moves has the limb's motion: a bake at once leaves every joint where it was."""

import bpy
import numpy as np
import pytest

from tests.interface.acting import joints_world
from tests.tasks.checks.targets import curves_of
from tests.tasks.rigs.walker import Walk, build_walker
from tests.tasks.scenes import LEG, build_armature

LEGS = (("thigh.L", "shin.L"), ("thigh.R", "shin.R"))
FRAMES = range(1, 41)


def seen(armature, limbs=LEGS):
    places = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        places.append([joints_world(armature, *limb) for limb in limbs])
    return np.array(places)


def location_keys(thing):
    return [tuple(key.co) for curve in curves_of(thing) for key in curve.keyframe_points]


def last_key(thing):
    return max(key.co[0] for curve in curves_of(thing) for key in curve.keyframe_points)


@pytest.fixture
def walker(empty_file):
    armature, _ = build_walker(Walk())
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = FRAMES[0], FRAMES[-1]
    bpy.context.view_layer.objects.active = armature
    bpy.context.scene.frame_set(7)
    return armature


def test_targets_of_found_limbs_are_baked_at_once_without_a_change(walker):
    while walker.twobone.chains:
        walker.twobone.chains.remove(0)
    before = seen(walker)
    bpy.ops.twobone.find_limbs(targets=True)
    bpy.ops.twobone.bake_all()
    assert np.abs(seen(walker) - before).max() < 1e-4


def test_a_target_and_a_pole_that_are_added_to_a_moving_limb_change_nothing(walker):
    before = seen(walker)
    bpy.ops.twobone.add_target(stored="leg.L")
    target = walker.twobone.chains["leg.L"].target
    keys = location_keys(target)
    bpy.ops.twobone.add_pole(stored="leg.L")
    assert walker.twobone.chains["leg.L"].target == target
    assert location_keys(target) == keys
    walker.twobone.active_index = walker.twobone.chains.find("leg.L")
    bpy.ops.twobone.bake(verify=False)
    assert np.abs(seen(walker) - before).max() < 1e-4
    assert sum(thing.type == "EMPTY" for thing in bpy.data.objects) == 2
    assert len(bpy.data.actions) == 3


def test_a_target_and_a_pole_of_a_limb_that_holds_still_have_no_keys(empty_file):
    bpy.context.view_layer.objects.active = armature = build_armature(LEG)
    chain = armature.twobone.chains.add()
    chain.name, chain.upper, chain.lower = "leg", "upper", "lower"
    bpy.ops.twobone.add_target(stored="leg")
    bpy.ops.twobone.add_pole(stored="leg")
    assert (chain.target.animation_data, chain.pole.animation_data) == (None, None)


def test_a_stored_chain_that_is_named_by_its_bones_gives_its_motion_to_its_own_target(walker):
    bpy.ops.twobone.add_target(stored="leg.L")
    target = walker.twobone.chains["leg.L"].target
    count = len(bpy.data.objects)
    bpy.ops.twobone.bake_target(armature="Walker", upper="thigh.L", lower="shin.L")
    assert walker.twobone.chains["leg.L"].target == target
    assert len(bpy.data.objects) == count


def test_a_new_target_has_keys_as_long_as_its_limb_moves_in_a_longer_scene(walker):
    """An import leaves the scene as long as it was; what holds still behind the clip is not animation."""
    while walker.twobone.chains:
        walker.twobone.chains.remove(0)
    bpy.context.scene.frame_end, last = 250, last_key(walker)
    before = seen(walker)
    bpy.ops.twobone.find_limbs(targets=True)
    assert {last_key(chain.target) for chain in walker.twobone.chains} == {last}
    assert last < 250
    bpy.ops.twobone.bake_all()
    assert np.abs(seen(walker) - before).max() < 1e-4
    assert last_key(walker) == last


@pytest.mark.parametrize("longer", [0, 1, 190])
def test_baked_limbs_are_planted_as_in_a_scene_that_ends_with_the_clip(empty_file, longer):
    """A bake that moves nothing changes no later task, in however long a scene."""
    planted = []
    for is_baked in (False, True):
        walker, _ = build_walker(Walk(slide=0.03))
        for curve in curves_of(walker):  # As a bake writes them: else the motion between frames is another one.
            for point in curve.keyframe_points:
                point.interpolation = "LINEAR"
        bpy.context.view_layer.objects.active = walker
        while walker.twobone.chains:
            walker.twobone.chains.remove(0)
        if is_baked:
            bpy.context.scene.frame_end += longer
            bpy.ops.twobone.find_limbs(targets=True)
            bpy.ops.twobone.bake_all()
        bpy.ops.twobone.plant()
        planted.append(seen(walker))
        bpy.data.objects.remove(walker)
    assert np.abs(planted[1] - planted[0]).max() < 3e-4
