"""Ranges that the memory which is free has no room for."""

import pytest

from tests.promises.tasks_under_test import TASKS
from tests.promises.ways import operator
from tests.tasks.checks.file_dump import differences, dump_file
from tests.tasks.scenes import LEG, Limb, add_empty, bake, build_armature, key_places, refusal, set_range
from twobone_addon.pipeline import machine

LOOKING = ("bake", "bake_all", "bake_target", "convert_ik", "switch", "find_contacts", "plant", "fit_root", "audit")


@pytest.mark.parametrize("task", [task for task in TASKS if task.name in LOOKING], ids=lambda task: task.name)
def test_what_memory_has_no_room_for_is_refused_and_leaves_the_file_as_it_was(empty_file, monkeypatch, task):
    monkeypatch.setattr(machine, "NEVER_MUCH", 0)
    monkeypatch.setattr(machine, "free_memory", lambda: 5000)
    task.build()
    before = dump_file()
    ended = operator(task, {})
    assert not ended.done
    assert "GB of memory, and 0.0 GB are free" in ended.said
    assert not differences(before, dump_file())


@pytest.mark.parametrize("keys", ["FRAMES", "REDUCE"])
@pytest.mark.parametrize("free, refused", [(100_000_000, True), (20_000_000_000, False)])
def test_the_same_range_is_refused_or_not_by_what_is_free(empty_file, monkeypatch, keys, free, refused):
    set_range(1, 30_000)
    rig = build_armature(LEG)
    key_places(add_empty(), [(0.1, 0.9, 0.5), (0.1, 0.2, 0.5)])
    monkeypatch.setattr(machine, "free_memory", lambda: free)
    asked = {"target": "Target", "keys": keys, "frame_range": "SCENE"}
    if refused:
        said = refusal(Limb(rig.name), **asked)
        assert "Frames 1 to 30000 need about 0." in said
        assert "0.1 GB are free" in said
    else:
        bake(Limb(rig.name), **asked, verify=False)
    assert (rig.animation_data is None) == refused
