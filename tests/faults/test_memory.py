"""Ranges that the memory which is free has no room for, and what a run lets go of before it checks."""

import tracemalloc
import weakref

import pytest

from tests.promises.tasks_under_test import TASKS
from tests.promises.ways import operator
from tests.tasks.checks.file_dump import differences, dump_file
from tests.tasks.scenes import LEG, Limb, add_empty, bake, build_armature, key_places, refusal, set_range
from twobone_addon.pipeline import machine, run
from twobone_addon.scene.writer import Transaction

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


def at_the_check(monkeypatch, look):
    """Call `look` with the samples taken so far before the first that check what was written, which are held in no forecast."""
    taken, real = [], run.sample_steps

    def spied(*given, **how):
        if how["held"] == 0 and taken:
            look(taken)
        samples = yield from real(*given, **how)
        taken.extend((quantity, weakref.ref(values), values.nbytes) for quantity, values in samples.values.items())
        return samples

    monkeypatch.setattr(run, "sample_steps", spied)


MOST_HELD = {"convert_ik": 0.3, "plant": 0.75}
"""Largest share of the sampled bytes that a check waits beside: Plant Feet compares with the poses from before."""


@pytest.mark.parametrize("task", [task for task in TASKS if task.name in MOST_HELD], ids=lambda task: task.name)
def test_a_check_does_not_wait_beside_all_samples_of_the_motion_before(empty_file, monkeypatch, task):
    shares = []

    def look(taken):
        held = sum(size for _, values, size in taken if values() is not None)
        shares.append(held / sum(size for _, _, size in taken))

    at_the_check(monkeypatch, look)
    task.build()
    set_range(1, 200)  # The frames outside that are compared are as few for a long range as for a short one.
    assert operator(task, {}).done
    assert shares[0] < MOST_HELD[task.name]


def test_a_check_does_not_wait_beside_the_records_of_what_was_replaced(empty_file, monkeypatch):
    set_range(1, 1000)
    rig = build_armature(LEG)
    key_places(add_empty(), [(0.1, 0.9, 0.5), (0.1, 0.2, 0.5)])
    held = []

    def look(_taken):
        files = [tracemalloc.Filter(inclusive=True, filename_pattern=f"*/scene/{name}.py") for name in ("writer", "keys/ledger")]
        found = tracemalloc.take_snapshot().filter_traces(files)
        held.append(sum(trace.size for trace in found.traces))

    bake(Limb(rig.name), target="Target", frame_range="SCENE")
    at_the_check(monkeypatch, look)
    tracemalloc.start()
    try:
        bake(Limb(rig.name), target="Target", frame_range="SCENE")
    finally:
        tracemalloc.stop()
    assert held[0] < 0.5 * len(rig.animation_data.action.twobone_replaced)


def test_a_run_that_is_over_keeps_nothing_of_what_would_have_been_put_back():
    class Keys:
        pass

    keys = Keys()
    kept = weakref.ref(keys)
    with Transaction() as changes:
        changes.note(lambda keys=keys: keys)
        del keys
        assert kept() is not None
    assert kept() is None
