"""Other add-ons that listen: they raise, change the frame, move, rename or delete things while a bake walks through time."""

import bpy
import pytest

from tests.faults.attacking import bake_all, make_leg, store_leg
from tests.tasks.checks.checking import RIG
from tests.tasks.checks.measuring import evaluate
from tests.tasks.scenes import add_empty
from twobone_addon.scene.sampling.probes import PROBE_NAME

NOW = (4, 0.25)
FRAME_HANDLERS = ("frame_change_pre", "frame_change_post")


def fail(*_):
    raise ValueError("another add-on's mistake")


def go_on(scene, *_):
    scene.frame_current += 1


def stay(*_):
    if bpy.context.scene.frame_current != 7:
        bpy.context.scene.frame_current = 7


def move(*_):
    bpy.data.objects["Target"].location.x += 0.01


def rename(*_):
    bpy.data.objects["Target"].name = "Stolen"


def delete(*_):
    bpy.data.objects.remove(bpy.data.objects["Target"])


def delete_probes(*_):
    for thing in [thing for thing in bpy.data.objects if thing.name.startswith(PROBE_NAME)]:
        bpy.data.objects.remove(thing)


def add(*_):
    bpy.data.objects.new("Junk", None)


@pytest.fixture
def listening(empty_file):
    """Let a function listen to one kind of event; nobody listens any more afterwards."""
    added = []

    def listen(kind, function):
        getattr(bpy.app.handlers, kind).append(function)
        added.append((kind, function))

    yield listen
    for kind, function in added:
        getattr(bpy.app.handlers, kind).remove(function)


def make_shot(evaluation):
    """The leg, stored; its target hangs from something constrained, so that Blender has to walk through time."""
    rig, target = make_leg()
    target.constraints.new("LIMIT_LOCATION").influence = 0.0
    store_leg(rig, target, evaluation=evaluation)
    bpy.context.scene.frame_set(NOW[0], subframe=NOW[1])
    return rig, target


def on_target(rig, target):
    return evaluate(rig, RIG, range(1, 7), target=target).errors.max() < 1e-5


@pytest.mark.parametrize("evaluation", ["AUTO", "PROBES"])
@pytest.mark.parametrize("kind", FRAME_HANDLERS)
@pytest.mark.parametrize("attack", [fail, go_on, stay, move, rename, delete, delete_probes, add])
def test_a_walk_through_time_of_our_own_concerns_nobody_else(listening, attack, kind, evaluation):
    rig, target = make_shot(evaluation)
    before = {thing.name for thing in bpy.data.objects}, tuple(target.location)
    listening(kind, attack)
    assert bake_all() == {"FINISHED"}
    assert ({thing.name for thing in bpy.data.objects}, tuple(target.location)) == before
    assert (bpy.context.scene.frame_current, bpy.context.scene.frame_subframe) == NOW
    assert attack in getattr(bpy.app.handlers, kind)
    getattr(bpy.app.handlers, kind)[:] = []
    assert on_target(rig, target)
    getattr(bpy.app.handlers, kind).append(attack)


@pytest.mark.parametrize("kind", FRAME_HANDLERS)
@pytest.mark.parametrize("attack", [fail, go_on, stay])
def test_a_walk_in_the_users_scene_calls_them_and_comes_back_to_the_frame(listening, attack, kind):
    make_shot("SCENE")
    listening(kind, attack)
    assert bake_all() == {"FINISHED"}
    assert (bpy.context.scene.frame_current, bpy.context.scene.frame_subframe) == NOW


def test_in_the_users_scene_motion_that_another_addon_makes_is_followed(listening):
    rig, target = make_leg()
    target.animation_data_clear()
    store_leg(rig, target, evaluation="SCENE")

    def steer(scene, *_):
        target.location = (0.1, 0.8 - 0.1 * scene.frame_current, 0.4)

    listening("frame_change_pre", steer)
    assert bake_all() == {"FINISHED"}
    assert on_target(rig, target)


@pytest.mark.parametrize("attack", [fail, add])
@pytest.mark.parametrize("kind", ["depsgraph_update_pre", "depsgraph_update_post"])
def test_who_listens_to_updates_cannot_spoil_a_bake(listening, attack, kind):
    rig, target = make_shot("AUTO")
    add_empty("Other")
    listening(kind, attack)
    assert bake_all() == {"FINISHED"}
    assert on_target(rig, target)
