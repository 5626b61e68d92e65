"""An action that another object plays by the same slot: it is refused with that name, all other actions are done."""

import json

import bpy
import pytest

from tests.tasks.convert.test_what_ik_had_overridden import limb
from twobone_addon.scene.versions import assign_slot, own_slot


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
