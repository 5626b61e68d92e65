"""Where baked keys go: the armature's own action, a copy of it, or a strip that plays exactly the range."""

import math

import bpy
import numpy as np
import pytest

from tests.blank import empty
from tests.tasks.checks.checking import RIG
from tests.tasks.checks.file_dump import differences, dump_file
from tests.tasks.checks.targets import circling_target, curves_of
from tests.tasks.rigs.legs_on_ik import SIDES, add_ik, legs_with_targets, store_chain
from tests.tasks.scenes import bake, build_armature, key_channel, refusal, set_range

SETTINGS = {"plane": "YZ", "bend": "POSITIVE"}
RANGES = ((5, 14), (4.25, 13.75), (-6.5, 3), (0.1, 0.9))
ROTATION = 'pose.bones["upper"].rotation_quaternion'


@pytest.fixture
def limb(empty_file):
    set_range(5, 14)
    rig = build_armature()
    target = circling_target(rig, RIG, frames=(-10, 20))
    return rig, target


def rotation_at(rig, frame, bone="upper"):
    bpy.context.scene.frame_set(math.floor(frame), subframe=frame % 1)
    posed = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array(posed.pose.bones[bone].matrix_basis)


def hold_below(rig):
    """A strip that holds another rotation of the upper bone for ever."""
    key_channel(rig.pose.bones["upper"], "rotation_quaternion", {1: (0.6, 0.8, 0, 0)})
    data = rig.animation_data
    data.nla_tracks.new().strips.new("below", 1, data.action)
    data.action = None


def own_range(frames):
    return {"frame_range": "CUSTOM", "frame_start": frames[0], "frame_end": frames[1]}


@pytest.mark.parametrize("frames", RANGES)
def test_a_strip_plays_what_the_action_would_and_nothing_outside(limb, frames):
    rig, target = limb
    inside = np.linspace(*frames, 9)
    outside = (frames[0] - 0.5, frames[0] - 0.01, frames[1] + 0.01, frames[1] + 3)
    key_channel(rig.pose.bones["parent"], "location", {-20: (0, 0, 0), 30: (0, 0, 0)})
    bake(RIG, target=target.name, interpolation="BEZIER", **own_range(frames), **SETTINGS)
    wanted = [rotation_at(rig, frame) for frame in inside]
    bpy.ops.twobone.clear_baked(**RIG.names(), **own_range(frames))
    hold_below(rig)
    resting = rotation_at(rig, frames[0] - 50)
    bake(RIG, target=target.name, interpolation="BEZIER", destination="NLA", **own_range(frames), **SETTINGS)
    track = rig.animation_data.nla_tracks[-1]
    (strip,) = track.strips
    assert (strip.frame_start, strip.frame_end) == pytest.approx(frames, abs=1e-4)
    assert (strip.scale, strip.repeat, strip.blend_type, strip.extrapolation) == (1, 1, "REPLACE", "NOTHING")
    assert (strip.name, track.name) == ("upper", "upper")
    for frame, matrix in zip(inside, wanted, strict=True):
        assert rotation_at(rig, frame) == pytest.approx(matrix, abs=2e-5), frame
    for frame in outside:
        assert rotation_at(rig, frame) == pytest.approx(resting, abs=1e-6), frame


def test_a_second_bake_into_the_nla_fills_the_same_strip(limb):
    _, target = limb
    settings = {"target": target.name, "destination": "NLA", **SETTINGS}
    bake(RIG, **settings)
    before = dump_file()
    bake(RIG, **settings)
    assert [path for path in differences(before, dump_file()) if not path.startswith("objects[Rig].pose")] == []


def test_a_second_bake_with_another_range_moves_the_strip(limb):
    rig, target = limb
    bake(RIG, target=target.name, destination="NLA", **SETTINGS)
    bake(RIG, target=target.name, destination="NLA", **own_range((-3.5, 8.25)), **SETTINGS)
    (strip,) = rig.animation_data.nla_tracks[0].strips
    assert (strip.frame_start, strip.frame_end) == pytest.approx((-3.5, 8.25), abs=1e-4)
    assert len(rig.animation_data.nla_tracks) == 1
    assert (strip.scale, strip.repeat) == (1, 1)


def test_a_new_action_is_a_copy_and_the_old_one_is_kept(limb):
    rig, target = limb
    key_channel(rig.pose.bones["parent"], "location", {1: (0, 0, 0), 9: (1, 0, 0)})
    key_channel(rig.pose.bones["upper"], "rotation_quaternion", {0: (1, 0, 0, 0), 30: (0.8, 0.6, 0, 0)})
    old = rig.animation_data.action
    before = dump_file()
    bake(RIG, target=target.name, destination="NEW_ACTION", **SETTINGS)
    new = rig.animation_data.action
    assert new != old
    assert (old.use_fake_user, new.use_fake_user) == (True, False)
    changed = [path for path in differences(before, dump_file()) if path.startswith(f"actions[{old.name}]")]
    assert [path for path in changed if not path.endswith((".users", ".use_fake_user"))] == []
    kept = [curve for curve in curves_of(rig) if curve.data_path.endswith("location")]
    assert [tuple(key.co) for key in kept[0].keyframe_points] == [(1, 0), (9, 1)]
    bones = {curve.data_path for curve in curves_of(rig)}
    assert 'pose.bones["lower"].rotation_quaternion' in bones


def test_without_an_action_a_new_one_is_simply_made(limb):
    rig, target = limb
    bake(RIG, target=target.name, destination="NEW_ACTION", **SETTINGS)
    assert rig.animation_data.action.users == 1


def test_a_shared_action_is_refused_but_copied_on_request(limb):
    rig, target = limb
    key_channel(rig.pose.bones["parent"], "location", {1: (0, 0, 0), 9: (1, 0, 0)})
    twin = rig.copy()
    bpy.context.scene.collection.objects.link(twin)
    if hasattr(twin.animation_data, "action_slot"):
        twin.animation_data.action_slot = rig.animation_data.action_slot
    assert "Other users of action" in refusal(RIG, target=target.name, **SETTINGS)
    shared = rig.animation_data.action
    bake(RIG, target=target.name, destination="NEW_ACTION", **SETTINGS)
    assert twin.animation_data.action == shared
    assert {curve.data_path for curve in curves_of(twin)} == {'pose.bones["parent"].location'}
    assert len(curves_of(rig)) == 3 + 8


@pytest.mark.skipif(bpy.app.version < (4, 4), reason="actions have no slots yet")
def test_another_objects_slot_in_the_same_action_is_left_alone(limb):
    rig, target = limb
    other = build_armature(name="Other")
    key_channel(other.pose.bones["upper"], "rotation_quaternion", {1: (1, 0, 0, 0), 9: (0.8, 0.6, 0, 0)})
    rig.animation_data_create().action = other.animation_data.action
    slot = other.animation_data.action_slot
    rig.animation_data.action_slot = None
    bake(RIG, target=target.name, **SETTINGS)
    assert rig.animation_data.action == other.animation_data.action
    assert rig.animation_data.action_slot not in {None, slot}
    assert other.animation_data.action_slot == slot
    assert [[key.co.x for key in curve.keyframe_points] for curve in curves_of(other)] == [[1, 9]] * 4
    assert len(curves_of(rig)) == 8


def test_an_overridden_armature_with_a_linked_action_takes_a_new_one(empty_file, tmp_path):
    rig = build_armature()
    key_channel(rig.pose.bones["parent"], "location", {1: (0, 0, 0), 9: (1, 0, 0)})
    library = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=library)
    empty()
    set_range(5, 14)
    with bpy.data.libraries.load(library, link=True) as (_, wanted):
        wanted.objects = ["Rig"]
    bpy.context.scene.collection.objects.link(bpy.data.objects["Rig"])
    rig = bpy.data.objects["Rig"].override_create(remap_local_usages=True)
    target = circling_target(rig, RIG, frames=(-10, 20))
    assert "is linked from another file" in refusal(RIG, target=target.name, **SETTINGS)
    linked = rig.animation_data.action
    report = bake(RIG, target=target.name, destination="NEW_ACTION", **SETTINGS)
    assert report["max_error"] < 1e-5
    assert rig.animation_data.action.is_editable
    assert linked.library is not None
    assert {curve.data_path for curve in curves_of(rig)} >= {'pose.bones["parent"].location', ROTATION}


@pytest.mark.parametrize("way", ["bake_all", "convert_ik"])
def test_several_chains_share_one_new_action(empty_file, way):
    rig = legs_with_targets()
    for side in SIDES:
        if way == "bake_all":
            store_chain(rig, side, destination="NEW_ACTION")
        else:
            add_ik(rig, side)
    before = {action.name for action in bpy.data.actions}
    if way == "bake_all":
        bpy.ops.twobone.bake_all(scope="ACTIVE")
    else:
        bpy.ops.twobone.convert_ik(armature=rig.name, destination="NEW_ACTION")
    (new,) = {action.name for action in bpy.data.actions} - before
    assert rig.animation_data.action.name == new
    keyed = {curve.data_path.split('"')[1] for curve in curves_of(rig) if "rotation" in curve.data_path}
    assert keyed == {f"{bone}.{side}" for bone in ("thigh", "shin") for side in SIDES}
