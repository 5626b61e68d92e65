"""A loop that is played again takes one evaluation a frame, and shows nothing that no longer holds."""

import bpy
import numpy as np
import pytest

from tests.interface.acting import joints_world
from tests.interface.live.live_leg import go_live
from tests.tasks.scenes import key_channel, key_places
from twobone_addon.interface.live import follower
from twobone_addon.interface.live import following as live

PLACES = ((0.1, 0.5, 0.1), (0.1, 0.3, 0.3), (0.1, -0.1, 0.2), (0.1, -0.5, 0.1))
TURNS = {1: (1.0, 0.0, 0.0, 0.0), 4: (0.9, 0.3, 0.2, 0.1)}
FRAMES = (1.0, 2.0, 2.5, 4.0)


def shown(frame):
    """What the window shows of the leg after a change of frame: its joints, evaluated."""
    bpy.context.scene.frame_set(int(frame), subframe=frame % 1)
    return np.array(joints_world(bpy.data.objects["Rig"], "upper", "lower"))


def shown_afresh(frame):
    """The same if the leg goes live at that frame."""
    bpy.ops.twobone.live(state="OFF")
    shown(frame)
    go_live()
    bpy.context.view_layer.update()
    return shown(frame)


def key_bones(rig, turns):
    for name in ("upper", "lower"):
        key_channel(rig.pose.bones[name], "rotation_quaternion", turns)


def off_target():
    """How far the tip is from its target, as evaluated."""
    rig = bpy.data.objects["Rig"]
    tip = joints_world(rig, "upper", "lower")[2]
    return (tip - rig.twobone.chains[0].target.matrix_world.translation).yz.length


@pytest.fixture(params=["free", "keyed"])
def played_leg(leg, request):
    """A live leg that was played twice, with a moving target; its own bones may be keyed, and then follow to a part."""
    key_places(leg.twobone.chains[0].target, PLACES, first=1)
    if request.param == "keyed":
        leg.twobone.chains[0].influence = 0.5
        key_bones(leg, TURNS)
    go_live()
    for frame in FRAMES * 2:
        shown(frame)
    return leg


def assert_shown_as_afresh():
    found = [[shown(frame) for frame in FRAMES] for _ in range(2)]
    afresh = [shown_afresh(frame) for frame in FRAMES]
    assert np.abs(np.array(found) - afresh).max() < 1e-5
    assert np.ptp(afresh, axis=0).max() > 0.1


def test_a_frame_that_is_shown_again_takes_one_evaluation(leg):
    key_places(leg.twobone.chains[0].target, PLACES, first=1)
    go_live()
    off = []
    bpy.app.handlers.frame_change_post.insert(0, lambda *_: off.append(off_target()))
    for frame in FRAMES * 2:
        shown(frame)
    del bpy.app.handlers.frame_change_post[0]
    first, again = np.split(np.array(off), 2)
    assert first.max() > 0.1
    assert again.max() < 1e-5


def move_target(rig):
    key_places(rig.twobone.chains[0].target, PLACES[::-1], first=1)


def turn_by_keys(rig):
    rig.twobone.chains[0].influence = 0.5
    key_bones(rig, {1: TURNS[4], 4: TURNS[1]})


def move_rig(rig):
    rig.location.z += 0.1


def bend_other_side(rig):
    rig.twobone.chains[0].bend = "NEGATIVE"


@pytest.mark.parametrize("change", [move_target, turn_by_keys, move_rig, bend_other_side])
def test_what_changed_between_two_loops_is_shown_in_the_second(played_leg, change):
    before = [shown(frame) for frame in FRAMES]
    change(played_leg)
    after = [shown(frame) for frame in FRAMES]
    assert np.abs(np.subtract(after, before)).max() > 0.05
    assert_shown_as_afresh()


def test_undo_of_keys_is_shown_in_the_next_loop(played_leg):
    bpy.ops.ed.undo_push(message="played")
    before = [shown(frame) for frame in FRAMES]
    move_target(played_leg)
    bpy.ops.ed.undo_push(message="keyed")
    for frame in FRAMES * 2:
        shown(frame)
    bpy.ops.ed.undo()
    assert np.abs(np.subtract([shown(frame) for frame in FRAMES], before)).max() < 1e-5
    assert_shown_as_afresh()


def test_a_render_shows_the_pose_as_it_is_and_not_that_of_another_loop(leg, tmp_path):
    target = leg.twobone.chains[0].target
    key_places(target, PLACES, first=1)
    go_live()
    for frame in FRAMES * 2:
        shown(frame)
    scene = bpy.context.scene
    scene.camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    scene.collection.objects.link(scene.camera)
    scene.render.engine, scene.cycles.samples = "CYCLES", 1
    scene.render.resolution_x = scene.render.resolution_y = 4
    scene.frame_start, scene.frame_end, scene.render.filepath = 1, 2, str(tmp_path / "shot")
    tips = []

    def listen(_scene, depsgraph):
        if depsgraph.mode == "RENDER":
            tips.append(np.array(leg.evaluated_get(depsgraph).pose.bones["lower"].tail))

    bpy.app.handlers.frame_change_post.append(listen)
    held = np.array(leg.pose.bones["lower"].tail)
    bpy.ops.render.render(animation=True)
    bpy.app.handlers.frame_change_post.remove(listen)
    assert len(tips) == 2
    assert np.abs(np.array(tips) - held).max() < 1e-5


def test_a_loop_longer_than_what_is_remembered_is_followed_too(leg, monkeypatch):
    monkeypatch.setattr(live, "MOST_FRAMES", 2)
    key_places(leg.twobone.chains[0].target, PLACES, first=1)
    go_live()
    for frame in FRAMES * 3:
        shown(frame)
        assert off_target() < 1e-5
    assert [len(each.frames) for each in follower.following.values()] == [2]


def test_a_target_that_was_dragged_is_followed_at_the_same_frame_and_at_others(leg):
    go_live()
    for frame in FRAMES * 2:
        shown(frame)
    leg.twobone.chains[0].target.location.y -= 0.3
    bpy.context.view_layer.update()
    for frame in FRAMES[::-1]:
        shown(frame)
        assert off_target() < 1e-5


def test_a_bone_that_is_turned_just_before_another_frame_is_followed_from(leg):
    key_places(leg.twobone.chains[0].target, PLACES, first=1)
    leg.twobone.chains[0].influence = 0.5
    go_live()
    upper, found = leg.pose.bones["upper"], []
    for turn, is_updated in ((TURNS[4], True), (TURNS[1], True), (TURNS[4], False)):
        upper.rotation_quaternion = turn
        if is_updated:
            bpy.context.view_layer.update()
        found.append([shown(frame) for frame in FRAMES])
    assert np.abs(np.subtract(found[0], found[1])).max() > 0.05
    assert np.abs(np.subtract(found[0], found[2])).max() < 1e-5
