"""Chains that key the same bones: refused before anything is changed, unless the last is to win."""

import json

import bpy
import pytest
from mathutils import Vector

from tests.tasks.checks.file_dump import dump_file
from tests.tasks.scenes import LEG, add_empty, build_armature
from twobone_addon.errors import ChainError
from twobone_addon.pipeline.run import run
from twobone_addon.settings import BakeSettings
from twobone_addon.settings.tasks import BakeAllSettings
from twobone_addon.tasks.bake import BAKE


@pytest.fixture
def two_targets(empty_file):
    rig = build_armature(LEG)
    foot = rig.data.bones["lower"].tail_local
    for name, forwards in (("First", -0.2), ("Second", 0.2)):
        add_empty(name).location = foot + Vector((0.0, forwards, 0.3))
    return rig


def chain(rig, target, start, end):
    return BakeSettings(
        armature=rig.name, upper="upper", lower="lower", target=target, frame_range="CUSTOM", frame_start=start, frame_end=end
    )


def test_two_chains_on_the_same_bones_and_frames_are_refused_and_nothing_is_changed(two_targets):
    before = dump_file()
    with pytest.raises(ChainError, match=r'"upper to lower \(1\)" and "upper to lower \(2\)".*same frames'):
        run(
            bpy.context.scene,
            BAKE,
            BakeAllSettings(chains=(chain(two_targets, "First", 1, 10), chain(two_targets, "Second", 5, 20))),
        )
    assert dump_file() == before


def test_one_after_the_other_they_are_baked(two_targets):
    report = run(
        bpy.context.scene,
        BAKE,
        BakeAllSettings(chains=(chain(two_targets, "First", 1, 10), chain(two_targets, "Second", 10, 20))),
    )
    assert [found.frames for found in report.chains] == [10, 11]
    told = json.loads(report.to_json())
    assert told["sentence"] == report.sentence
    assert told["notes"] == [note for found in report.chains for note in found.notes]


def test_the_last_wins_where_that_is_said(two_targets):
    wanted = [chain(two_targets, "First", 1, 10), chain(two_targets, "Second", 1, 10)]
    report = run(bpy.context.scene, BAKE, BakeAllSettings(chains=tuple(wanted), last_wins=True))
    assert report.chains[0].max_error > 0.1
    assert report.chains[1].max_error < 1e-5
