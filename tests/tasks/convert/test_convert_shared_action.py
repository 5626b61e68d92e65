"""An action that another object plays by the same slot is refused with that name, all others are done; the advice helps."""

import json

import bpy
import pytest

from tests.tasks.convert.test_what_ik_had_overridden import limb
from twobone_addon.scene.versions import action_bag_of, assign_slot, own_slot


@pytest.mark.parametrize("count", [2, 4])
def test_only_the_action_that_is_really_shared_is_refused(empty_file, count):
    rig = limb()
    data = rig.animation_data
    shared = data.action
    copies = [shared.copy() for _ in range(count - 1)]
    for action in copies:
        action.use_fake_user = True
    head = bpy.data.objects.new("Head", bpy.data.meshes.new("Head"))
    bpy.context.scene.collection.objects.link(head)
    head.animation_data_create().action = shared
    assign_slot(head.animation_data, own_slot(data))
    assert bpy.ops.twobone.convert_ik(actions="ALL") == {"FINISHED"}
    report = json.loads(bpy.context.window_manager.twobone_report)
    (refused,) = report["refused"]
    assert refused["action"] == shared.name
    assert f'Other users of action "{shared.name}": "Head"' in refused["reason"]
    assert {chain["action"] for chain in report["chains"]} == {action.name for action in copies}
    assert head.animation_data.action == shared
    assert data.action == shared


@pytest.mark.parametrize("renewed", ["Head", "Armature"])
def test_once_either_is_made_its_single_user_nothing_is_refused(empty_file, renewed):
    rig = limb()
    shared = rig.animation_data.action
    head = bpy.data.objects.new("Head", bpy.data.meshes.new("Head"))
    bpy.context.scene.collection.objects.link(head)
    head.animation_data_create().action = shared
    assign_slot(head.animation_data, own_slot(rig.animation_data))
    with pytest.raises(RuntimeError, match="Make it single-user first"):
        bpy.ops.twobone.convert_ik(actions="ALL")
    # As the button beside an action's name does it.
    data = head.animation_data if renewed == "Head" else rig.animation_data
    slot = own_slot(data)
    data.action = shared.copy()
    assign_slot(data, slot)
    before = curves(head.animation_data)
    assert bpy.ops.twobone.convert_ik(actions="ALL") == {"FINISHED"}
    report = json.loads(bpy.context.window_manager.twobone_report)
    assert report["refused"] == []
    assert {chain["action"] for chain in report["chains"]} == {rig.animation_data.action.name}
    assert curves(head.animation_data) == before


def curves(data):
    bag = action_bag_of(data.action, own_slot(data))
    return {(curve.data_path, curve.array_index): [key.co[:] for key in curve.keyframe_points] for curve in bag.fcurves}
