"""A live chain poses as a bake would, leaves no keys, and lets go of everything."""

import bpy
import numpy as np
import pytest
from mathutils import Vector

from tests.interface.acting import joints_world
from tests.interface.live.live_leg import channels, close, go_live, handlers
from tests.tasks.rigs.tail import TAIL
from tests.tasks.scenes import add_empty, build_armature
from twobone_addon.interface.live import following as live
from twobone_addon.pipeline.pose import present


def pose_of_bake(rig):
    """Channels that a bake of this frame gives, with everything put back afterwards."""
    bpy.ops.ed.undo_push(message="before")
    chain = rig.twobone.chains[0]
    frame = bpy.context.scene.frame_current
    chain.frame_range, chain.frame_start, chain.frame_end = "CUSTOM", frame, frame
    bpy.ops.twobone.bake(armature=rig.name)
    bpy.context.view_layer.update()
    found = channels(rig)
    rig.animation_data_clear()
    return found


def test_moving_the_target_moves_the_chain_without_keys(leg):
    chain = leg.twobone.chains[0]
    go_live()
    for place in ((0.1, 0.6, 0.2), (0.1, -0.4, 0.5), (0.1, 0.0, 9.0)):
        chain.target.location = place
        bpy.context.view_layer.update()
        root, _, tip = joints_world(leg, "upper", "lower")
        aim = Vector((root.x, *place[1:]))
        assert (tip - aim).length < 1e-5 or (aim - root).length > (tip - root).length
    assert leg.animation_data is None


def test_every_joint_of_a_longer_chain_is_live(empty_file):
    rig = build_armature(TAIL)
    chain = rig.twobone.chains.add()
    chain.upper, chain.lower, chain.target, chain.plane, chain.joints = "a", "d", add_empty(), "YZ", "ALL"
    go_live()
    bends = []
    for place in ((0.1, 0.8, 0.1), (0.1, -0.6, 0.4), (0.1, 0.1, -0.7)):
        chain.target.location = place
        bpy.context.view_layer.update()
        assert (joints_world(rig, "a", "d")[2] - Vector(place)).length < 1e-5
        bones = rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
        bends.append([bones[name].vector.angle(bones[name].parent.vector) for name in "bcd"])
    live.stop_all()
    assert np.all(np.ptp(bends, axis=0) > 0.01)
    assert rig.animation_data is None


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"bend": "NEGATIVE"},
        {"plane": "XZ", "plane_space": "WORLD"},
        {"plane": "REST"},
        {"depth": "FLATTEN"},
        {"reach": "SOFTEN", "softness": 0.3},
        {"reach": "STRETCH", "stretch_start": 0.8},
        {"influence": 0.4},
        {"use_limits": True, "lower_min": 0.2, "lower_max": 0.6},
    ],
    ids=str,
)
def test_the_live_pose_is_the_baked_pose(leg, settings):
    chain = leg.twobone.chains[0]
    for name, value in settings.items():
        setattr(chain, name, value)
    chain.target.location = (0.3, 0.9, -0.8)
    bpy.context.view_layer.update()
    before = channels(leg)
    baked = pose_of_bake(leg)
    for name, values in before.items():
        leg.pose.bones[name].rotation_quaternion, leg.pose.bones[name].scale = values[:4], values[4:]
    chain.target.location = (0.2, 0.3, 0.2)
    bpy.context.view_layer.update()
    go_live()
    chain.target.location = (0.3, 0.9, -0.8)
    for _ in range(3):  # looking again must not carry the pose any farther
        bpy.context.view_layer.update()
    assert close(channels(leg), baked)


def test_one_evaluation_shows_target_and_limb_together(leg):
    tips = []

    def listen(_scene, depsgraph):
        tips.append(leg.evaluated_get(depsgraph).pose.bones["lower"].tail.copy())

    bpy.app.handlers.depsgraph_update_post.insert(0, listen)
    go_live()
    bpy.context.view_layer.update()
    tips.clear()
    leg.twobone.chains[0].target.location = (0.1, 0.3, 0.2)
    bpy.context.view_layer.update()
    bpy.app.handlers.depsgraph_update_post.remove(listen)
    assert (leg.matrix_world @ tips[0] - Vector((0.1, 0.3, 0.2))).yz.length < 1e-5


def move_armature(leg):
    leg.location.z += 0.3


def turn_bone(leg):
    leg.pose.bones["upper"].rotation_quaternion = (0.8, 0.6, 0.0, 0.0)


def hold_target(leg):
    holder = add_empty("Holder")
    holder.location = (0.1, 0.2, 0.3)
    leg.twobone.chains[0].target.constraints.new("COPY_LOCATION").target = holder


def bend_other_side(leg):
    leg.twobone.chains[0].bend = "NEGATIVE"


@pytest.mark.parametrize("also", [move_armature, turn_bone, hold_target, bend_other_side])
@pytest.mark.parametrize("plane", ["YZ", "POSE"])
def test_what_changes_together_with_the_target_is_followed_too(leg, also, plane):
    chain = leg.twobone.chains[0]
    chain.plane = plane
    go_live()
    bpy.context.view_layer.update()
    side = knee_side(leg)
    chain.target.location = (0.1, 0.4, 0.2)
    also(leg)
    bpy.context.view_layer.update()
    off = joints_world(leg, "upper", "lower")[2] - chain.target.matrix_world.translation
    assert (off.yz if plane == "YZ" else off).length < 1e-5
    assert (knee_side(leg) == side) == (also is not bend_other_side)


def knee_side(leg):
    root, knee, tip = joints_world(leg, "upper", "lower")
    return (knee - root).cross(tip - knee).x > 0.0


def test_scrubbing_moves_the_chain(leg):
    chain = leg.twobone.chains[0]
    for frame, place in ((1, (0.1, 0.5, 0.1)), (11, (0.1, -0.5, 0.1))):
        chain.target.location = place
        chain.target.keyframe_insert("location", frame=frame)
    go_live()
    for frame in (1, 6, 11):
        bpy.context.scene.frame_set(frame)
        tip = joints_world(leg, "upper", "lower")[2]
        assert (tip.yz - chain.target.matrix_world.translation.yz).length < 1e-5


def test_handlers_are_there_only_while_a_chain_is_live(leg):
    assert not any(handlers().values())
    go_live()
    assert all(len(functions) == 1 for functions in handlers().values())
    bpy.ops.twobone.live(state="OFF")
    assert not any(handlers().values())


def test_loading_a_file_ends_it(leg):
    go_live()
    bpy.ops.wm.read_factory_settings(use_empty=True)
    assert not live.following
    assert not any(handlers().values())


def test_disabling_the_addon_ends_it(leg, registered_addon):
    go_live()
    registered_addon.unregister()
    assert not live.following
    assert not any(handlers().values())
    registered_addon.register()


@pytest.mark.parametrize("disaster", ["delete armature", "delete chain", "clear target"])
def test_what_disappears_ends_it_without_an_error(leg, disaster, capfd):
    chain = leg.twobone.chains[0]
    go_live()
    mover = add_empty("Mover")
    if disaster == "delete armature":
        bpy.data.objects.remove(leg)
    elif disaster == "delete chain":
        leg.twobone.chains.remove(0)
    else:
        chain.target = None
    mover.location = (1, 2, 3)
    bpy.context.view_layer.update()
    assert not live.following
    assert not any(handlers().values())
    assert "Traceback" not in "".join(capfd.readouterr())


def test_a_bone_that_is_renamed_is_followed_on(leg):
    go_live()
    mover = add_empty("Mover")
    leg.data.bones["lower"].name = "other"
    mover.location = (1, 2, 3)
    bpy.context.view_layer.update()
    assert leg.twobone.chains[0].lower == "other"
    assert [following.present.settings.lower for following in live.following.values()] == ["other"]


def test_what_a_bake_refuses_does_not_go_live_and_says_why(leg):
    chain = leg.twobone.chains[0]
    chain.target = None
    with pytest.raises(RuntimeError, match="No target"):
        go_live()
    assert not live.following


def test_undo_in_the_middle_brings_target_and_pose_back_together(leg):
    chain = leg.twobone.chains[0]
    go_live()
    bpy.context.view_layer.update()
    bpy.ops.ed.undo_push(message="live")
    before = channels(leg)
    chain.target.location = (0.1, -0.4, 0.4)
    bpy.context.view_layer.update()
    bpy.ops.ed.undo_push(message="moved")
    bpy.ops.ed.undo()
    rig = bpy.data.objects["Rig"]
    bpy.context.view_layer.update()
    assert close(channels(rig), before)
    assert live.is_live(rig.twobone.chains[0])
    rig.twobone.chains[0].target.location = (0.1, 0.3, 0.3)
    bpy.context.view_layer.update()
    tip = joints_world(rig, "upper", "lower")[2]
    assert (tip.yz - Vector((0.3, 0.3))).length < 1e-5


@pytest.mark.parametrize("automatic", [False, True])
def test_auto_keying_keys_the_rotations_when_the_move_is_over(leg, automatic):
    chain = leg.twobone.chains[0]
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = automatic
    go_live()
    bpy.ops.ed.undo_push(message="live")
    chain.target.location = (0.1, 0.3, 0.3)
    bpy.context.view_layer.update()
    live.key_when_let_go()
    assert (leg.animation_data is not None) == automatic


KEPT = Vector((0.0, 0.2, 0.3))


@pytest.fixture
def led(leg):
    """The leg, live, its tip kept at some way from a target that moves."""
    chain = leg.twobone.chains[0]
    chain.target.location = joints_world(leg, "upper", "lower")[2] - KEPT
    chain.target_offset = "KEEP"
    bpy.context.view_layer.update()
    go_live()
    return leg


def offset_seen(rig):
    bpy.context.view_layer.update()
    return joints_world(rig, "upper", "lower")[2] - rig.twobone.chains[0].target.matrix_world.translation


@pytest.mark.parametrize("settings", [{"bend": "NEGATIVE"}, {"depth": "FLATTEN"}, {"softness": 0.1}], ids=str)
def test_a_kept_offset_outlives_changes_of_other_settings(led, settings):
    chain = led.twobone.chains[0]
    for name, value in settings.items():
        setattr(chain, name, value)
    chain.target.location.z += 0.4
    assert (offset_seen(led) - KEPT).length < 1e-5
    assert live.is_live(chain)


def test_an_offset_that_is_to_be_kept_from_another_target_is_found_anew(led):
    chain = led.twobone.chains[0]
    chain.target = add_empty("Other")
    chain.target.location = joints_world(led, "upper", "lower")[2] + KEPT
    bpy.context.view_layer.update()
    assert (offset_seen(led) + KEPT).length < 1e-5, "the limb jumped"
    live.look_again()
    chain.target.location.z += 0.3
    assert (offset_seen(led) + KEPT).length < 1e-5
    assert live.is_live(chain)


def test_an_offset_that_is_not_to_be_kept_any_more_ends_at_once(led):
    chain = led.twobone.chains[0]
    chain.target_offset = "NONE"
    chain.target.location.z += 0.3
    assert offset_seen(led).length < 1e-5


def test_an_offset_that_is_to_be_kept_from_now_on_is_the_one_there_is(leg):
    chain = leg.twobone.chains[0]
    chain.target.location = (0.1, 0.3, -0.2)
    go_live()
    before = offset_seen(leg)
    chain.target_offset = "KEEP"
    bpy.context.view_layer.update()
    live.look_again()
    chain.target.location = (0.1, 0.4, -0.1)
    assert (offset_seen(leg) - before).length < 1e-5


def test_only_the_chain_whose_target_moved_is_solved_and_the_others_stay_as_they_were_left(leg, monkeypatch):
    second = build_armature(TAIL)
    chain = second.twobone.chains.add()
    names = [bone.name for bone in second.pose.bones]
    chain.name, chain.upper, chain.lower, chain.target, chain.plane = "Tail", names[0], names[1], add_empty(), "YZ"
    chain.target.location = (0.0, 0.3, 0.4)
    for rig in (leg, second):
        bpy.context.view_layer.objects.active = rig
        go_live()
    solved, solve = [], present.aimed_poses
    monkeypatch.setattr(
        present,
        "aimed_poses",
        lambda limbs, *given, **named: solved.extend(limb.plan.names.armature for limb in limbs) or solve(limbs, *given, **named),
    )
    bpy.context.view_layer.update()
    solved.clear()
    leg.twobone.chains[0].target.location.z += 0.05
    bpy.context.view_layer.update()
    assert set(solved) == {leg.name}
    before = second.pose.bones[names[0]].matrix.copy()
    second.pose.bones[names[0]].rotation_quaternion = (0.8, 0.6, 0.0, 0.0)
    bpy.context.view_layer.update()
    assert second.name in solved
    assert np.abs(np.array(second.pose.bones[names[0]].matrix) - np.array(before)).max() < 1e-5


def test_limbs_that_move_at_once_are_each_posed_as_alone(leg):
    second = build_armature(TAIL)
    chain = second.twobone.chains.add()
    names = [bone.name for bone in second.pose.bones]
    chain.name, chain.upper, chain.lower, chain.target, chain.plane = "Tail", names[0], names[1], add_empty(), "POSE"
    chain.target.location = (0.0, 0.3, 0.4)
    places = leg.twobone.chains[0].target.location, chain.target.location
    bpy.context.view_layer.objects.active = leg
    go_live()
    places[0].z += 0.05
    bpy.context.view_layer.update()
    alone = rotations(leg)
    places[0].z -= 0.05
    bpy.context.view_layer.update()
    bpy.context.view_layer.objects.active = second
    go_live()
    before = rotations(second)
    places[0].z, places[1].z = places[0].z + 0.05, places[1].z - 0.02
    bpy.context.view_layer.update()
    assert np.abs(rotations(leg) - alone).max() < 1e-6
    assert np.abs(rotations(second) - before).max() > 1e-3


def rotations(armature):
    return np.array([bone.rotation_quaternion for bone in armature.pose.bones])
