"""Scripts press no button: with `switch_first` limbs on IK are switched in one run with the task, or nothing is done at all."""

from dataclasses import replace

import bpy
import numpy as np
import pytest

import twobone_addon
from tests.blank import empty
from tests.interface.acting import select_bones
from tests.promises.tasks_under_test import TASKS
from tests.promises.ways import command, job, typed
from tests.tasks.checks.file_dump import differences, dump_file
from tests.tasks.rigs.switched_leg import switched_leg
from tests.tasks.scenes import add_empty, key_places, set_range
from twobone_addon.tasks.all_tasks import KEYS_LIMBS

LAST = 4
CLOSE = 1e-4
NAMED = {"armature": "Rig", "upper": "thigh_fk", "lower": "shin_fk"}
WAYS = {"typed": typed, "command": command, "job": job}


def leg_on_ik():
    """A stored leg that its IK moves, and a target elsewhere."""
    rig = switched_leg()
    set_range(1, LAST)
    key_places(bpy.data.objects["IK goal"], [(0, -0.2, 0.2), (0, -0.1, 0.3), (0, 0, 0.4), (0, 0.1, 0.3)])
    key_places(add_empty("Goal"), [(0, -0.3, 0.3 + 0.05 * frame) for frame in range(LAST)])
    select_bones(rig, "shin_fk")
    bpy.ops.twobone.chain_add()
    chain = rig.twobone.chains[0]
    chain.target, chain.limb = bpy.data.objects["Goal"], "LEG"
    return rig


def ankles(rig):
    """Where the ankle is seen at each frame, `(F, 3)`."""
    found = []
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)
        found.append((rig.matrix_world @ rig.pose.bones["foot_def"].head)[:])
    return np.array(found)


def goals():
    return np.array([(0, -0.3, 0.3 + 0.05 * frame) for frame in range(LAST)])


def asked(name, **more):
    """The task as the ways call it, of the leg."""
    task = next(each for each in TASKS if each.name == name)
    return replace(task, call={**NAMED, **more}, words=("--switch-first",), job={"switch_first": True})


def switching(way):
    return {"switch_first": True} if way is typed else {}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_bake_is_seen_on_a_limb_that_was_on_ik(empty_file, tmp_path, way):
    rig = leg_on_ik()
    ended = way(asked("bake", target="Goal"), switching(way), tmp_path)
    assert ended.done, ended.said
    assert np.abs(ankles(rig) - goals()).max() < CLOSE
    assert "Switched to FK" in " ".join(ended.report["notes"])


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_nudge_starts_from_the_motion_that_was_seen(empty_file, tmp_path, way):
    rig = leg_on_ik()
    before = ankles(rig)
    ended = way(asked("nudge", frame=2.0, offset=(0.0, 0.05, 0.0), before=1.0, after=1.0), switching(way), tmp_path)
    assert ended.done, ended.said
    moved = ankles(rig) - before
    assert np.abs(moved[1] - (0.0, 0.05, 0.0)).max() < CLOSE
    assert np.abs(moved[[0, 2, 3]]).max() < CLOSE


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_refused_task_puts_the_switch_back_as_well(empty_file, tmp_path, way):
    leg_on_ik()
    before = dump_file()
    ended = way(asked("bake", target="Goal", plane="OBJECT", plane_object="Nothing"), switching(way), tmp_path)
    assert not ended.done
    assert "Nothing" in ended.said
    assert not differences(before, dump_file())


def test_a_rehearsal_switches_nothing_and_says_what_would_be_done(empty_file, tmp_path):
    leg_on_ik()
    before = dump_file()
    task = replace(asked("bake", target="Goal"), words=("--switch-first", "--dry-run"))
    ended = command(task, {}, tmp_path)
    assert ended.done, ended.said
    assert ended.report["chains"][0]["curves"]
    assert not differences(before, dump_file())


def test_one_run_writes_what_two_write_one_after_the_other(empty_file):
    leg_on_ik()
    twobone_addon.switch(**NAMED, to="FK")
    twobone_addon.bake(**NAMED, target="Goal")
    one_after_the_other = dump_file()
    empty()
    leg_on_ik()
    twobone_addon.bake(**NAMED, target="Goal", switch_first=True)
    ours = ("session_uid", "report")
    assert not [path for path in differences(one_after_the_other, dump_file()) if not any(each in path for each in ours)]


@pytest.mark.parametrize("way", [typed, command], ids=["typed", "command"])
def test_limbs_on_fk_are_left_as_they_are(empty_file, tmp_path, way):
    leg_on_ik()
    twobone_addon.switch(**NAMED, to="FK")
    before = dump_file()
    ended = way(asked("bake", target="Goal"), switching(way), tmp_path)
    assert ended.done, ended.said
    assert ended.report["notes"] == []
    assert not [path for path in differences(before, dump_file()) if "IK" in path]


def test_every_task_that_is_refused_on_ik_names_the_remedy_or_takes_it(empty_file):
    """A task that is not in the list is not refused for IK; one that is has the setting."""
    for task in TASKS:
        has = "switch_first" in getattr(twobone_addon, task.name).__signature__.parameters
        of_table = {"bake": "bake", "bake_all": "bake", "bake_target": "give", "align_hinge": "align"}.get(task.name, task.name)
        assert has == (of_table in KEYS_LIMBS), task.name
