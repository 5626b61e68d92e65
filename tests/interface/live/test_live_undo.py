"""Live and undo: a move and its keys are one step, and where undo leads, chains are live if they were live then."""

import bpy
import pytest
from mathutils import Vector

from tests.interface.acting import joints_world
from tests.interface.live.live_leg import channels, close, go_live, handlers
from twobone_addon.interface.live import following as live
from twobone_addon.scene.versions import curve_bag


def move_and_key(place, name="Move"):
    """One move of the target as Blender makes it: followed, its undo step taken, and only then keyed."""
    bpy.data.objects["Rig"].twobone.chains[0].target.location = place
    bpy.context.view_layer.update()
    for follower in live.following.values():
        follower.move = name
    bpy.ops.ed.undo_push(message=name)
    live.key_when_let_go()


def key_count():
    bag = curve_bag(bpy.data.objects["Rig"])
    return sum(len(curve.keyframe_points) for curve in bag.fcurves) if bag else 0


def there_again():
    """What undo or redo has led to, evaluated."""
    bpy.context.view_layer.update()
    rig = bpy.data.objects["Rig"]
    return (*rig.twobone.chains[0].target.location,), key_count(), channels(rig)


@pytest.mark.parametrize("name", ["Move", "Rotate"])
def test_a_move_and_its_keys_are_one_undo_step_both_ways(leg, name, monkeypatch):
    for option in ("use_keyframe_insert_available", "use_auto_keyframe_insert_needed"):
        monkeypatch.setattr(bpy.context.preferences.edit, option, False)
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    go_live()
    bpy.ops.ed.undo_push(message="live")
    moments = [there_again()]
    for frame, place in ((1, (0.1, 0.3, 0.3)), (5, (0.1, -0.4, 0.4))):
        bpy.context.scene.frame_set(frame)
        bpy.ops.ed.undo_push(message="Change Frame")
        move_and_key(place, name)
        moments.append(there_again())
    assert [keys for _, keys, _ in moments] == [0, 8, 16]
    for undone in (1, 0):
        for _ in range(2):
            bpy.ops.ed.undo()
        place, keys, pose = there_again()
        assert (place, keys) == moments[undone][:2]
        assert close(pose, moments[undone][2]), undone
    for redone in (1, 2):
        for _ in range(2):
            bpy.ops.ed.redo()
        place, keys, pose = there_again()
        assert (place, keys) == moments[redone][:2]
        assert close(pose, moments[redone][2])
        live.key_when_let_go()
        assert key_count() == keys, "what redo brings back is keyed again"


def test_a_cancelled_move_leaves_no_keys(leg):
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    go_live()
    bpy.ops.ed.undo_push(message="live")
    bpy.context.view_layer.update()
    target = leg.twobone.chains[0].target
    before = target.location.copy()
    for place in ((0.1, 0.3, 0.3), before):
        target.location = place
        bpy.context.view_layer.update()
    live.key_when_let_go()
    assert key_count() == 0


def test_undo_of_live_on_gives_the_pose_from_before_and_redo_follows_again(leg):
    before = channels(leg)
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.twobone.live("EXEC_DEFAULT", True, state="ON")  # noqa: FBT003 - asks for an undo step, as a click would
    on = channels(leg)
    assert not close(on, before)
    bpy.ops.ed.undo()
    bpy.context.view_layer.update()
    rig = bpy.data.objects["Rig"]
    assert close(channels(rig), before)
    assert not live.is_live(rig.twobone.chains[0])
    bpy.ops.ed.redo()
    bpy.context.view_layer.update()
    rig = bpy.data.objects["Rig"]
    assert close(channels(rig), on)
    rig.twobone.chains[0].target.location = (0.1, 0.3, 0.3)
    bpy.context.view_layer.update()
    assert (joints_world(rig, "upper", "lower")[2].yz - Vector((0.3, 0.3))).length < 1e-5


def test_undo_of_live_off_follows_again(leg):
    go_live()
    bpy.ops.ed.undo_push(message="on")
    bpy.ops.twobone.live("EXEC_DEFAULT", True, state="OFF")  # noqa: FBT003 - asks for an undo step, as a click would
    assert not any(handlers().values())
    bpy.ops.ed.undo()
    rig = bpy.data.objects["Rig"]
    assert live.is_live(rig.twobone.chains[0])
    rig.twobone.chains[0].target.location = (0.1, 0.3, 0.3)
    bpy.context.view_layer.update()
    assert (joints_world(rig, "upper", "lower")[2].yz - Vector((0.3, 0.3))).length < 1e-5


def test_a_file_that_was_saved_while_a_chain_was_live_does_not_go_live(leg, tmp_path):
    go_live()
    path = str(tmp_path / "live.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    bpy.ops.ed.undo_push(message="something")
    bpy.ops.ed.undo_push(message="something else")
    bpy.ops.ed.undo()
    assert not live.following
    assert not any(handlers().values())
